"""``scipy.linalg``: structured matrices built from vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..functions.contractions import conjugate
from ..functions.registry import XP
from . import implements
from .operand_checks import array, only


def _vector(xp: XP, a: Any) -> Any:
    a = array(xp, a)
    if not xp.shape_of(a):
        a = xp.prim.reshape(a, (1,))
    only(xp.ndim_of(a) == 1 and 0 not in xp.shape_of(a), "a batch of this function, or nothing")
    return a


@implements("scipy.linalg.toeplitz")
def toeplitz(xp: XP, c: Any, r: Any = None) -> Any:
    c = array(xp, c, r)
    c = _vector(xp, c)
    r = conjugate(xp, c) if r is None else _vector(xp, array(xp, r, c))
    rows, columns = xp.shape_of(c)[0], xp.shape_of(r)[0]
    values = xp.concatenate([xp.prim.flip(c, (0,)), xp.prim.slice(r, (slice(1, columns, 1),))])
    places = (rows - 1) - np.arange(rows)[:, None] + np.arange(columns)[None, :]
    return xp.prim.take(values, xp.backend.from_numpy(places, xp.backend.device_of(values)), 0)


@implements("scipy.linalg.block_diag")
def block_diag(xp: XP, *arrs: Any) -> Any:
    like = next((x for x in arrs if xp.is_array(x)), None)
    blocks = [xp.atleast_2d(array(xp, x, like)) for x in arrs]
    only(all(xp.ndim_of(b) == 2 for b in blocks), "a batch of this function")
    to = np.result_type(*[xp.dtype_of(b) for b in blocks])
    width = sum(xp.shape_of(b)[1] for b in blocks)
    rows, at = [], 0
    for b in blocks:
        columns = xp.shape_of(b)[1]
        zero = to.type(0).item()
        rows.append(xp.prim.pad(xp.prim.astype(b, to), [(0, 0), (at, width - at - columns)], zero))
        at += columns
    return xp.prim.concatenate(rows, 0)
