"""Kernels that are not the library's own function: each has a reason, and the issue upstream that would let it go."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arraydispatch.backends import loader
from arraydispatch.backends.departures import DEPARTURES, NONE_KNOWN, Departure, table

_LINK = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/[1-9]\d*")
NUMPYS = {ufunc for ufunc in vars(np).values() if isinstance(ufunc, np.ufunc)}
_TABLES = ("UFUNCS", "REDUCE", "ACCUMULATE")


@pytest.fixture(params=["jax", "torch", "tensorflow"])
def library(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(request.param)
    return str(request.param)


def rows_of(library: str) -> tuple[Departure, ...]:
    return DEPARTURES[library]


def is_ours(kernel: Any) -> bool:
    return (getattr(kernel, "__module__", None) or "").startswith("arraydispatch")


def departing(library: str, kind: str) -> set[str]:
    """Names of the ufuncs whose kernel is a function of the backend's."""
    kernels: dict[Any, Any] = getattr(loader.load(library), kind)
    if library == "jax" and kind == "UFUNCS":  # whose rows are wrapped, all of them
        module = importlib.import_module("arraydispatch.backends.jax.ufuncs")
        kernels = {**module._UNARY, **module._BINARY, np.ldexp: module._ldexp}
    return {ufunc.__name__ for ufunc, kernel in kernels.items() if is_ours(kernel) and ufunc in NUMPYS}


@pytest.mark.parametrize("kind", _TABLES)
def test_each_kernel_of_ours_has_a_reason(library: str, kind: str) -> None:
    named = {name for row in rows_of(library) if row.table == kind for name in row.ufuncs.split()}
    assert departing(library, kind) - named == set()
    known = {ufunc.__name__ for ufunc in getattr(loader.load(library), kind)}
    assert named - known == set(), "these have no kernel"


def test_each_reason_says_what_would_let_it_go(library: str) -> None:
    for row in rows_of(library):
        assert row.table in _TABLES
        assert row.why and not row.why.endswith("."), row
        assert row.upstream == NONE_KNOWN or _LINK.fullmatch(row.upstream), row


def test_addresses_are_of_the_library_itself(library: str) -> None:
    own = {"jax": "jax-ml/jax", "torch": "pytorch/pytorch", "tensorflow": "tensorflow/tensorflow"}[library]
    links = [row.upstream for row in rows_of(library) if row.upstream != NONE_KNOWN]
    elsewhere = [link for link in links if own not in link]
    assert len(links) >= 8
    assert len(elsewhere) <= 1, "XLA's are JAX's issues too"


def test_the_page_has_the_rows(library: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "departures.md").read_text(encoding="utf-8")
    assert table(rows_of(library)) in page
