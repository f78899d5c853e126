"""``scipy.special``: derivatives of modified Bessel functions, from those of neighbouring orders (DLMF 10.29.5)."""

from __future__ import annotations

import math
import operator
from typing import Any

import scipy.special

from ..functions.registry import XP
from . import implements
from .operand_checks import array


def _count(n: Any) -> int:
    error = "n must be a non-negative integer"
    try:
        count = operator.index(n)
    except TypeError:
        raise TypeError(error) from None
    if count < 0:
        raise ValueError(error)
    return count


def _derivative(xp: XP, kernel: Any, v: Any, z: Any, n: Any) -> Any:
    """Evaluate SciPy's sum, in its order."""
    n = _count(n)
    if n == 0:
        return xp.call(kernel, v, z)
    v = array(xp, v)
    total = xp.call(kernel, xp.subtract(v, n), z)
    for i in range(1, n + 1):
        total = xp.add(total, xp.multiply(float(math.comb(n, i)), xp.call(kernel, xp.add(v, 2 * i - n), z)))
    return xp.divide(total, 2.0**n)


@implements("scipy.special.ivp", returns="scalar")
def ivp(xp: XP, v: Any, z: Any, n: Any = 1) -> Any:
    return _derivative(xp, scipy.special.iv, v, z, n)


@implements("scipy.special.kvp", returns="scalar")
def kvp(xp: XP, v: Any, z: Any, n: Any = 1) -> Any:
    value = _derivative(xp, scipy.special.kv, v, z, n)
    return xp.multiply((-1) ** _count(n), value)
