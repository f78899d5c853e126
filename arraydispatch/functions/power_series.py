"""The bivariate functions of ``numpy.polynomial.polynomial``: coefficients of the lowest power first."""

from __future__ import annotations

from typing import Any

from numpy.polynomial import polynomial

from .operands import along, first_native
from .registry import XP, implements

Native = Any


def _series(xp: XP, x: Native, c: Native, tensor: bool = True) -> Native:
    """Evaluate as ``numpy.polynomial.polynomial.polyval``: in Clenshaw's order of operations, lowest power first."""
    if xp.dtype_of(c).kind in "biu":
        c = xp.add(c, 0.0)
    shape = xp.shape_of(c)
    if not shape:
        c, shape = xp.prim.reshape(c, (1,)), (1,)
    if tensor:
        c = xp.prim.reshape(c, shape + (1,) * xp.ndim_of(x))
        shape = xp.shape_of(c)
    if not shape[0]:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")

    def term(i: int) -> Native:
        return xp.prim.reshape(along(xp, c, 0, i, i + 1), shape[1:])

    value = xp.add(term(shape[0] - 1), xp.multiply(x, 0))
    for i in range(shape[0] - 2, -1, -1):
        value = xp.add(term(i), xp.multiply(value, x))
    return value


def _operands(xp: XP, x: Any, y: Any, c: Any) -> list[Native]:
    like = first_native(xp, (x, y, c))
    return [v if xp.is_array(v) else xp.asarray(v, like=like) for v in (x, y, c)]


@implements(polynomial.polyval2d, returns="scalar")
def polyval2d(xp: XP, x: Any, y: Any, c: Any) -> Native:
    x, y, c = _operands(xp, x, y, c)
    if xp.shape_of(x) != xp.shape_of(y):
        raise ValueError("x, y are incompatible")
    return _series(xp, y, _series(xp, x, c), tensor=False)


@implements(polynomial.polygrid2d, returns="scalar")
def polygrid2d(xp: XP, x: Any, y: Any, c: Any) -> Native:
    x, y, c = _operands(xp, x, y, c)
    return _series(xp, y, _series(xp, x, c))
