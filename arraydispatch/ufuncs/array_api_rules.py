"""Ufunc bodies for arrays of an array-API namespace, where the standard's values differ from NumPy's.

The bodies follow the conventions of :mod:`arraydispatch.ufuncs.composed`. A plan uses them if an operand's kind belongs
to the standard, so operators, in-place operators and the namespace's functions agree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def floor_divide(xp: Any, a: Any, b: Any) -> Any:
    """Divide and round down; with an infinity, return the quotient of :func:`numpy.divide` where NumPy returns NaN or
    -1.

    https://github.com/numpy/numpy/issues/23860
    """
    infinite = xp.logical_or(xp.isinf(a), xp.isinf(b))
    one = xp.prim.full((), 1, xp.dtype_of(a), xp.backend.device_of(a))

    def only(where: Any, x: Any) -> Any:
        return xp.prim.where(where, x, one)

    finite = xp.logical_not(infinite)
    rounded = xp.floor_divide(only(finite, a), only(finite, b))
    return xp.prim.where(infinite, xp.divide(only(infinite, a), only(infinite, b)), rounded)


STANDARD: dict[np.ufunc, Callable[..., Any]] = {np.floor_divide: floor_divide}
"""Ufunc -> body for floating loops."""
