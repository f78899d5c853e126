"""Ufuncs that take one or two processor instructions, so that each element's result is determined to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["INSTRUCTIONS", "neutral"]

INSTRUCTIONS: dict[np.ufunc, str] = {
    np.add: "add", np.subtract: "sub", np.multiply: "mul", np.divide: "div", np.negative: "neg", np.positive: "same",
    np.absolute: "abs", np.fabs: "abs", np.square: "square", np.reciprocal: "reciprocal", np.sqrt: "sqrt",
    np.floor: "floor", np.ceil: "ceil", np.trunc: "trunc", np.rint: "rint", np.sign: "sign", np.copysign: "copysign",
    np.less: "lt", np.less_equal: "le", np.greater: "gt", np.greater_equal: "ge", np.equal: "eq", np.not_equal: "ne",
    np.logical_and: "both", np.logical_or: "either", np.logical_xor: "one", np.logical_not: "none",
    np.bitwise_and: "and", np.bitwise_or: "or", np.bitwise_xor: "xor", np.invert: "invert",
    np.isnan: "isnan", np.isinf: "isinf", np.isfinite: "isfinite", np.signbit: "signbit",
}  # fmt: skip
"""Names of these ufuncs in :mod:`arraydispatch.engine.host_blocks.kernel_source`. Ufuncs whose NumPy loops round more
than once, or return either of two zeros, are not included.
"""

_NEUTRAL: dict[Any, float] = {
    np.add: -0.0,
    np.subtract: 0,
    np.multiply: 1,
    np.divide: 1,
    np.bitwise_or: 0,
    np.bitwise_xor: 0,
}


def neutral(ufunc: np.ufunc | None, x: np.dtype[Any], y: np.dtype[Any]) -> float | None:
    """Return the second operand, of dtype ``y``, that leaves every first one, of ``x``, unchanged; None if there is none."""
    if ufunc is np.add and x.kind == "f" and y.kind != "f":
        return None  # -0.0 + integer 0 is +0.0
    return _NEUTRAL.get(ufunc)
