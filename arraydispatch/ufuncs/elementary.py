"""Ufuncs that are an instruction or two of a processor, of which the result of each element is determined to the bit."""

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
"""What :mod:`arraydispatch.engine.host_blocks.kernel_source` calls them. Not here: what NumPy's loops compute with more than one rounding, and what of
two zeros gives one or the other."""

_NEUTRAL: dict[Any, float] = {
    np.add: -0.0,
    np.subtract: 0,
    np.multiply: 1,
    np.divide: 1,
    np.bitwise_or: 0,
    np.bitwise_xor: 0,
}


def neutral(ufunc: np.ufunc | None, x: np.dtype[Any], y: np.dtype[Any]) -> float | None:
    """The second operand, of dtype ``y``, that leaves each first one, of ``x``, what it is; None where there is none."""
    if ufunc is np.add and x.kind == "f" and y.kind != "f":
        return None  # of minus zero a whole zero makes another one
    return _NEUTRAL.get(ufunc)
