"""Functions that a library's compiler writes by itself, at arguments where its own formulas end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

TOPS = [1, 1, 1, np.inf, -np.inf, 0, -0.0, 2.5, -2.5, 1, 6, 0.3, -0.3, 7, 1e30, 5, -0.0, -5, np.nan]
BOTTOMS = [-np.inf, np.inf, 0, 1, 2, 0, 2, -np.inf, np.inf, 0.1, 0.1, 0.1, 0.1, 0.7, 1e-10, -0.0, 3, np.inf, 1]
"""Their quotients are infinite, zeros of both signs, or just below an integer to which they are rounded."""
BASES = [np.inf, np.inf, -np.inf, 0, -0.0, 2, np.nan, 1, 0.5, 3]
EXPONENTS = [0, -0.0, 0, 0, 0, 0, 0, np.inf, -np.inf, 2.5]
FAR = [1, 1 + 1e-6, 1.5, 40, 2.0**28, 2.0**29, 1e19, 1e25, 3e38, np.inf, 0.5, -1, -3, -1e25, -np.inf, np.nan, 0]

CALLS: dict[str, tuple[Callable[..., Any], tuple[list[float], ...]]] = {
    "//": (lambda x, y: (x // y, np.divmod(x, y)[0], x // 0.1, 7.5 // y), (TOPS, BOTTOMS)),
    "**": (lambda x, y: (x**y, np.float_power(x, y)), (BASES, EXPONENTS)),
    "arccosh": (lambda x: (np.arccosh(x),), (FAR,)),
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", CALLS)
def test_values_of_programs(name: str, backend: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call, arguments = CALLS[name]
    chosen, given = ad.backend(backend), [np.array(values, dtype) for values in arguments]
    if backend == "torch":
        monkeypatch.setattr(chosen.transforms, "compiler", "inductor")
    limit = 0.0 if name == "//" else 1e-14 if dtype == "f8" else 1e-6
    with chosen, np.errstate(all="ignore"):
        for got, want in zip(ad.jit(call)(*map(ad.asarray, given)), call(*given)):
            assert got.dtype == want.dtype
            np.testing.assert_allclose(np.asarray(got), want, rtol=limit)
            zero = want == 0
            np.testing.assert_array_equal(np.signbit(np.asarray(got)[zero]), np.signbit(want[zero]))


@pytest.mark.parametrize("name", ["log", "log2", "log10", "log1p"])
def test_logarithms_of_programs_are_exact_to_digits(name: str, backend: str) -> None:
    """On JAX and TensorFlow a formula computes them, because XLA's own takes three times as long."""
    function, rng = getattr(np, name), np.random.default_rng(4)
    ends = [
        0.0,
        -0.0,
        -1.0,
        -2.0,
        np.inf,
        -np.inf,
        np.nan,
        1.0,
        1024.0,
        2.0**-52,
        -(2.0**-52),
        1e-20,
        1.7976931348623157e308,
    ]
    near = rng.uniform(0.4, 2.5, 20_000)
    parts = [ends, np.exp(rng.uniform(-700, 700, 20_000)), near, 1 + near * 1e-9, near - 1, -near * 1e-9]
    x = np.concatenate(parts)
    with ad.backend(backend), np.errstate(all="ignore"):
        want = function(x)
        first = [np.asarray(function(ad.asarray(x)))]
        for got in [*first, np.asarray(ad.jit(function)(ad.asarray(x)))]:
            there = np.isfinite(want) & (np.abs(want) > 1e-300)
            np.testing.assert_array_equal(got[~there & (x != 0)], want[~there & (x != 0)])
            np.testing.assert_array_equal(np.signbit(got[x == 0]), np.signbit(want[x == 0]))
            assert np.max(np.abs(got - want)[there] / np.spacing(np.abs(want[there]))) <= 4
        if backend == "numpy":  # which has no derivatives
            return
        slope = np.asarray(ad.grad(lambda v: np.sum(function(v)))(ad.asarray(np.array([0.5, 3.0]))))
    at = np.array([0.5, 3.0]) + (name == "log1p")
    np.testing.assert_allclose(slope, 1 / at / {"log2": np.log(2), "log10": np.log(10)}.get(name, 1.0), rtol=1e-15)


@pytest.mark.parametrize("execution", ["eager", "compiled"])
def test_digits_are_counted_by_log10(execution: str) -> None:
    """XLA divides by the product with the inverse, and that of ln(10) is not log10(e)."""
    powers = 10.0 ** np.arange(15)
    with ad.backend("jax"), ad.execution(execution):
        counted = np.floor(np.log10(ad.asarray(np.tile(powers, 100))))
        assert np.asarray(counted).tolist() == [*range(15)] * 100
