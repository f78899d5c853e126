"""Ufuncs that are an instruction or two of a processor, of which the result of each element is determined to the bit."""

from __future__ import annotations

import numpy as np

__all__ = ["INSTRUCTIONS"]

INSTRUCTIONS: dict[np.ufunc, str] = {
    np.add: "add", np.subtract: "sub", np.multiply: "mul", np.divide: "div", np.negative: "neg", np.positive: "same",
    np.absolute: "abs", np.fabs: "abs", np.square: "square", np.reciprocal: "reciprocal", np.sqrt: "sqrt",
    np.floor: "floor", np.ceil: "ceil", np.trunc: "trunc", np.rint: "rint", np.sign: "sign", np.copysign: "copysign",
    np.less: "lt", np.less_equal: "le", np.greater: "gt", np.greater_equal: "ge", np.equal: "eq", np.not_equal: "ne",
    np.logical_and: "both", np.logical_or: "either", np.logical_xor: "one", np.logical_not: "none",
    np.bitwise_and: "and", np.bitwise_or: "or", np.bitwise_xor: "xor", np.invert: "invert",
    np.isnan: "isnan", np.isinf: "isinf", np.isfinite: "isfinite", np.signbit: "signbit",
}  # fmt: skip
"""What :mod:`arraydispatch.engine.source` calls them. Not here: what NumPy's loops compute with more than one rounding, and what of
two zeros gives one or the other."""
