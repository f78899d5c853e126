"""NumPy's functions in compiled programs and of many examples at once: NumPy's values, wherever no value decides a shape or is asked for."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.backends import loader
from tests import oracle
from tests.functions import grid

_EACH = 3  # calls of a function
_DRAWN = {"jax": 120, "tensorflow": 120, "torch": 30}  # torch compiles C++ for each
_UNKNOWN = re.compile(
    r"np\.(trim_zeros|delete\(a, k|poly\(a\)|extract|nonzero|flatnonzero|argwhere|where\(m\)|unique|intersect1d|setxor1d|union1d|setdiff1d|allclose|array_equ|"
    r"histogram_bin_edges|real_if_close|piecewise|linalg\.eig|linalg\.lstsq|polyfit\(.*(full|cov)|lib\.scimath|einsum_path)|tolist|nonzero|tobytes"
)
"""What is a Python value, or of a shape or dtype that values decide."""


def _cases() -> list[grid.Case]:
    """Of each function the first calls, of float64 of two axes where there are any."""
    found: dict[str, dict[str, grid.Case]] = {}
    for case in grid.cases():
        if case.layout != "contiguous" or len(case.shape) != 2 or 0 in case.shape or case.dtype not in "dl":
            continue
        if "out" in case.call or ".at(" in case.call or _UNKNOWN.search(case.call):
            continue
        calls = found.setdefault(case.function, {})
        if case.call not in calls or case.dtype == "d":
            calls[case.call] = case
    return [calls[call] for calls in found.values() for call in sorted(calls)[:_EACH]]


def _function(case: grid.Case, names: list[str]) -> Callable[..., Any]:
    made: Callable[..., Any] = eval(f"lambda {', '.join(names)}: {case.call}", {"np": np})
    return made


def _compiled(f: Callable[..., Any], arrays: list[Any]) -> Any:
    return ad.jit(f)(*arrays)


def _first_of_two(f: Callable[..., Any], arrays: list[Any]) -> Any:
    def first(made: Any) -> Any:
        if isinstance(made, np.ndarray | ad.Array):
            return made[:1].reshape(made.shape[1:])
        parts = [first(x) for x in made]
        return type(made)(*parts) if hasattr(made, "_fields") else type(made)(parts)

    return first(ad.vmap(f)(*[np.stack([x, x]) for x in arrays]))


def _has_arrays_only(made: Any) -> bool:
    if isinstance(made, tuple | list):
        return all(map(_has_arrays_only, made))
    return isinstance(made, np.ndarray)


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
@pytest.mark.parametrize("way", [_compiled, _first_of_two])
def test_values(way: Callable[..., Any], backend: str, seed: int, request: pytest.FixtureRequest) -> None:
    loader.check(backend)  # conftest.py skips the test
    cases = sorted(_cases())
    if not request.config.option.all:
        cases = random.Random(seed).sample(cases, 120 if way is _first_of_two else _DRAWN[backend])
    wrong, compared = [], 0
    for case in cases:
        hosts = {name: x for name, x in grid.operands(case).items() if re.search(rf"\b{name}\b", case.call)}
        f = _function(case, [*hosts])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                theirs = f(*[x.copy() for x in hosts.values()])
            except Exception:  # the grid has calls that NumPy refuses
                continue
            if way is _first_of_two and not (hosts and _has_arrays_only(theirs)):
                continue
            try:
                ours = way(f, [ad.asarray(x, backend=backend) for x in hosts.values()])
                call = oracle.Call(case.call, hosts)
                pairs = oracle.parts(ours, theirs)
                said = oracle.within(pairs, theirs, call, backend, elementwise=case.elementwise)
            except Exception as error:  # of compilers, of any type
                said = f"{type(error).__name__}: {str(error)[:200]}"
            if said:
                wrong.append(f"{case}: {said}")
        compared += 1
    assert not wrong, "\n".join(wrong)
    assert compared > len(cases) / 2
