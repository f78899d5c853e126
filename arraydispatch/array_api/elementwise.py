"""The standard's elementwise functions: NumPy's ufuncs under its names, with strict promotion."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from . import data_types

UFUNCS: dict[str, np.ufunc] = {
    name: getattr(np, name)
    for name in (
        "abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp floor isfinite isinf isnan log "
        "log10 log1p log2 logical_not negative positive reciprocal sign signbit sin sinh sqrt square tan trunc add "
        "atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal "
        "floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor "
        "maximum minimum multiply nextafter not_equal pow remainder subtract"
    ).split()
}
"""Name in the standard -> ufunc."""


def _of(ufunc: np.ufunc) -> Callable[..., Any]:
    def binary(x1: Any, x2: Any, /) -> Any:
        check(x1, x2)
        return ufunc(x1, x2)

    return binary if ufunc.nin == 2 else lambda x, /: ufunc(x)


def named(function: Any, name: str, doc: str) -> Any:
    """Give a function its name in the standard and a docstring, and return it."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def check(*operands: Any) -> None:
    """Raise TypeError unless the operands promote by the standard's rules."""
    data_types.promote(*[data_types.dtype_of(x) for x in operands])


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of two arrays to raise TypeError unless the arrays promote by the standard's rules."""

    @wraps(function)
    def run(x1: Any, x2: Any, /, **kwargs: Any) -> Any:
        check(x1, x2)
        return function(x1, x2, **kwargs)

    return run


def clip(x: Any, /, min: Any = None, max: Any = None) -> Any:
    """Limit each element to the range from ``min`` to ``max``, in the dtype of ``x``."""
    check(*[v for v in (x, min, max) if v is not None])
    if min is None and max is None:
        return np.positive(x)
    return np.astype(np.clip(x, min, max), x.dtype, copy=False)


def expm1(x: Any, /) -> Any:
    """Compute exp(x) - 1, accurately near 0."""
    result = np.expm1(x)
    if x.dtype.kind != "c":
        return result
    # Special values of the standard; NumPy has C's, which differ for infinities and for zeros.
    result = np.where(np.isfinite(x), result, np.exp(x) - 1)
    return np.where(np.equal(x, 0), np.sqrt(x), result)  # also +0 for -0, and the sign of the imaginary zero


def tanh(x: Any, /) -> Any:
    """Compute the hyperbolic tangent."""
    result = np.tanh(x)
    if x.dtype.kind != "c":
        return result
    # For an infinite real part, C gives the imaginary zero the sign of sin(2 y), the standard that of y.
    other = np.isinf(x.real) & np.isfinite(x.imag) & (np.signbit(x.imag) != np.signbit(result.imag))
    return np.where(other, np.conjugate(result), result)


FUNCTIONS = (
    *[
        named(_of(ufunc), name, f"As :func:`numpy.{ufunc.__name__}`, element by element.")
        for name, ufunc in UFUNCS.items()
    ],
    clip, expm1, tanh,
    named(lambda x, /: np.imag(x), "imag", "Return the imaginary part."),
    named(lambda x, /: np.real(x), "real", "Return the real part."),
    named(lambda x, /: np.round(x), "round", "Round each element to the nearest integer, halves to even."),
)  # fmt: skip
