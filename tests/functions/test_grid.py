"""A sample of the grid on every backend, to the figures that were measured; ``python -m tests.functions.grid`` runs all."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable

import numpy as np
import pytest

from . import accuracy, grid
from .grid_rows import DEPARTURES, ROWS

# JAX compiles a program for each new shape and dtype, at 20 to 100 ms.
SHARES = {"numpy": 0.004, "torch": 0.01, "tensorflow": 0.003, "jax": 0.0004}


@pytest.mark.slow
def test_a_sample_of_the_grid(backend: str, drawn: Callable[..., list[grid.Case]]) -> None:
    wrong = []
    for case in drawn(grid.cases(share=SHARES[backend]), backend, 2):
        outcome = grid.run(case, backend)
        if outcome.verdict and not grid.departs(case, backend):
            wrong.append(f"{case}: {outcome.verdict}")
    assert wrong == []


def test_a_difference_is_found() -> None:
    """The grid would see another value, another dtype and a fallback."""
    case = grid.Case("np.exp", "np.exp(a)", "d", (5,), "contiguous")
    assert grid.run(case, "numpy").verdict == ""
    assert "units" in grid.run(case._replace(call="np.exp(a + (1e-6 if hasattr(a, 'native') else 0))"), "numpy").verdict
    assert "dtype" in grid.run(case._replace(call="a.astype('f4' if hasattr(a, 'native') else 'f8')"), "numpy").verdict


def test_every_departure_names_a_function_of_the_grid() -> None:
    names = {name for row in ROWS for name in row.names.split()}
    assert {name for d in DEPARTURES for name in d.functions.split()} <= {*names, "*"}
    assert all(len(d.reason.split()) > 4 for d in DEPARTURES)


def test_the_grid_is_as_large_as_its_page_says() -> None:
    found = grid.cases()
    assert len(found) > 150_000
    assert {case.dtype for case in found} == set("?bhilBHILefdFD")
    assert {len(case.shape) for case in found} == {0, 1, 2, 3, 4}
    assert {case.layout for case in found} == {"contiguous", *grid.LAYOUTS}


def test_the_page_on_accuracy_is_made_from_the_figures() -> None:
    assert accuracy.PAGE.read_text(encoding="utf-8") == accuracy.page()


def test_figures_are_of_functions_that_there_are() -> None:
    held = json.loads(accuracy.DATA.read_text(encoding="utf-8"))["ulp"]
    for name in {name for by_function in held.values() for name in by_function} - {"operators"}:
        top, *path = name.split(".")
        assert callable(functools.reduce(getattr, path, {"np": np, "ndarray": np.ndarray}[top])), name
