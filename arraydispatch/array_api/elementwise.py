"""The standard's elementwise functions: NumPy's ufuncs under its names, with strict promotion."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from . import data_types

UFUNCS: dict[str, np.ufunc] = {
    "abs": np.absolute, "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atanh": np.arctanh, "bitwise_invert": np.invert, "ceil": np.ceil, "conj": np.conjugate, "cos": np.cos, "cosh": np.cosh,
    "exp": np.exp, "floor": np.floor, "isfinite": np.isfinite, "isinf": np.isinf, "isnan": np.isnan, "log": np.log,
    "log10": np.log10, "log1p": np.log1p, "log2": np.log2, "logical_not": np.logical_not, "negative": np.negative,
    "positive": np.positive, "reciprocal": np.reciprocal, "sign": np.sign, "signbit": np.signbit, "sin": np.sin,
    "sinh": np.sinh, "sqrt": np.sqrt, "square": np.square, "tan": np.tan, "trunc": np.trunc,
    "add": np.add, "atan2": np.arctan2, "bitwise_and": np.bitwise_and, "bitwise_left_shift": np.left_shift,
    "bitwise_or": np.bitwise_or, "bitwise_right_shift": np.right_shift, "bitwise_xor": np.bitwise_xor,
    "copysign": np.copysign, "divide": np.divide, "equal": np.equal, "floor_divide": np.floor_divide, "greater": np.greater,
    "greater_equal": np.greater_equal, "hypot": np.hypot, "less": np.less, "less_equal": np.less_equal,
    "logaddexp": np.logaddexp, "logical_and": np.logical_and, "logical_or": np.logical_or, "logical_xor": np.logical_xor,
    "maximum": np.maximum, "minimum": np.minimum, "multiply": np.multiply, "nextafter": np.nextafter,
    "not_equal": np.not_equal, "pow": np.power, "remainder": np.remainder, "subtract": np.subtract,
}  # fmt: skip
"""Name in the standard -> ufunc."""


def _of(ufunc: np.ufunc) -> Callable[..., Any]:
    def binary(x1: Any, x2: Any, /) -> Any:
        check(x1, x2)
        return ufunc(x1, x2)

    return binary if ufunc.nin == 2 else lambda x, /: ufunc(x)


def named(function: Any, name: str, doc: str) -> Any:
    """Give a function its name in the standard, and a docstring."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def check(*operands: Any) -> None:
    """Raise TypeError unless the operands promote by the standard's rules."""
    data_types.promote(*[data_types.dtype_of(x) for x in operands])


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of two arrays raise TypeError unless these promote by the standard's rules."""

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
