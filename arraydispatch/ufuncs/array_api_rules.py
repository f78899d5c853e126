"""Ufuncs of arrays made by an array-API namespace, where the standard's values are not NumPy's.

Bodies as in :mod:`arraydispatch.ufuncs.composed`. The plan takes them where an operand's kind is of the standard, so operators, in-place
operators and the namespace's functions agree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def floor_divide(xp: Any, a: Any, b: Any) -> Any:
    """The quotient rounded down; one with an infinity is that of :func:`numpy.divide`, where NumPy's is NaN or -1.

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
