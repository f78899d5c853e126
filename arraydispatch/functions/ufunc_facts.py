"""What is true of single ufuncs for those who check or report them; their loops are in :mod:`arraydispatch.ufuncs`."""

from __future__ import annotations

import numpy as np

from .registry import describe

describe(np.add, error="sum", sign=1.0)
describe(np.subtract, error="sum", sign=-1.0)
describe(np.matmul, np.vecdot, error="sum")
describe(np.remainder, np.fmod, error="remainder", jumps="operand")
describe(np.sin, np.cos, np.tan, error="period")
describe(
    np.arctan2, np.sign, np.copysign, np.heaviside, np.floor, np.ceil, np.trunc, np.rint, np.floor_divide, jumps="unit"
)
describe(
    np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal, np.signbit, np.logical_not, np.isfinite,
    np.isnan, np.isinf, jumps="exact",
)  # fmt: skip
describe(np.nextafter, np.spacing, raw=True)
