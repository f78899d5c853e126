"""``scipy.integrate``: Simpson's rule, as a single sum of weighted samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..functions.registry import XP
from ..runtime import dtypes
from . import implements
from .operand_checks import array, only


@implements("scipy.integrate.simpson", error="sum", returns="scalar")
def simpson(xp: XP, y: Any, x: Any = None, *, dx: Any = 1.0, axis: Any = -1) -> Any:
    only(x is None and isinstance(dx, int | float), "the samples are not evenly spaced")
    y = array(xp, y)
    only(
        xp.ndim_of(y) > 0 and xp.dtype_of(y).kind in "fciu" and xp.dtype_of(y).itemsize > 2,
        "no samples of 32 bits or more",
    )
    axis = normalize_axis_index(axis, xp.ndim_of(y))
    n = xp.shape_of(y)[axis]
    only(n > 1, "too few samples")
    weights = np.zeros(n)
    if n == 2:
        weights[:] = 0.5 * dx
    else:
        last = n if n % 2 else n - 1  # for an even number, the last interval has its own parabola
        weights[0:last:2] += 2.0
        weights[1:last:2] = 4.0
        weights[0] = weights[last - 1] = 1.0
        weights *= dx / 3.0
        if not n % 2:
            weights[-1] += 5 / 12 * dx
            weights[-2] += 2 / 3 * dx
            weights[-3] -= dx / 12
    to = dtypes.inexact(xp.dtype_of(y))
    if not n % 2 and n > 2 and xp.ndim_of(y) == 1:  # a scalar takes the dtype of the correction, an array keeps its own
        to = np.result_type(to, dtypes.FLOAT64)
    shape = [n if i == axis else 1 for i in range(xp.ndim_of(y))]
    factors = xp.backend.from_numpy(weights.astype(to).reshape(shape), xp.backend.device_of(y))
    return xp.add.reduce(xp.multiply(xp.prim.astype(y, to), factors), axis=axis)
