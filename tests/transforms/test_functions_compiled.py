"""NumPy's functions in compiled programs: the values of NumPy, or a TraceError where a value decides a shape or is asked for."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
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


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_values_in_compiled_programs(backend: str, seed: int, request: pytest.FixtureRequest) -> None:
    cases = sorted(_cases())
    if not request.config.option.all:
        cases = random.Random(seed).sample(cases, _DRAWN[backend])
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
            try:
                ours = ad.jit(f)(*[ad.asarray(x, backend=backend) for x in hosts.values()])
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
