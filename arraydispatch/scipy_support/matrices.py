"""``scipy.linalg``: structured matrices built from vectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..functions.contractions import conjugate
from ..functions.registry import XP
from . import implements
from .operand_checks import array, every, only


def _vector(xp: XP, a: Any) -> Any:
    a = array(xp, a)
    if not xp.shape_of(a):
        a = xp.prim.reshape(a, (1,))
    only(xp.ndim_of(a) == 1 and 0 not in xp.shape_of(a), "a batch of this function, or nothing")
    return a


def _picked(xp: XP, values: Any, places: np.ndarray[Any, Any]) -> Any:
    places = xp.backend.from_numpy(np.ascontiguousarray(places, dtype=np.int64), xp.backend.device_of(values))
    return xp.prim.take(values, places, 0)


def _offsets(rows: int, columns: int) -> np.ndarray[Any, Any]:
    return np.arange(rows)[:, None] - np.arange(columns)[None, :]


@implements("scipy.linalg.toeplitz")
def toeplitz(xp: XP, c: Any, r: Any = None) -> Any:
    c = array(xp, c, r)
    c = _vector(xp, c)
    r = conjugate(xp, c) if r is None else _vector(xp, array(xp, r, c))
    rows, columns = xp.shape_of(c)[0], xp.shape_of(r)[0]
    values = xp.concatenate([xp.prim.flip(c, (0,)), xp.prim.slice(r, (slice(1, columns, 1),))])
    return _picked(xp, values, rows - 1 - _offsets(rows, columns))


@implements("scipy.linalg.circulant")
def circulant(xp: XP, c: Any) -> Any:
    c = _vector(xp, c)
    n = xp.shape_of(c)[0]
    return _picked(xp, c, _offsets(n, n) % n)


@implements("scipy.linalg.hankel")
def hankel(xp: XP, c: Any, r: Any = None) -> Any:
    c = _vector(xp, array(xp, c, r))
    rows = xp.shape_of(c)[0]
    r = xp.zeros_like(c) if r is None else _vector(xp, array(xp, r, c))
    columns = xp.shape_of(r)[0]
    values = xp.concatenate([c, xp.prim.slice(r, (slice(1, columns, 1),))])
    return _picked(xp, values, np.arange(rows)[:, None] + np.arange(columns)[None, :])


@implements("scipy.linalg.companion", pure=False)
def companion(xp: XP, a: Any) -> Any:
    a = _vector(xp, a)
    n = xp.shape_of(a)[0]
    if n < 2:
        raise ValueError("The length of `a` along the last axis must be at least 2.")
    first = xp.prim.slice(a, (slice(0, 1, 1),))
    if not every(xp, xp.not_equal(first, 0)):
        raise ValueError("The first coefficient(s) of `a` (i.e. elements of `a[..., 0]`) must not be zero.")
    row = xp.divide(xp.negative(xp.prim.slice(a, (slice(1, n, 1),))), xp.multiply(first, 1.0))
    below = xp.backend.from_numpy(np.eye(n - 2, n - 1, dtype=xp.dtype_of(row)), xp.backend.device_of(row))
    return xp.prim.concatenate([xp.prim.reshape(row, (1, n - 1)), below], 0)


@implements("scipy.linalg.leslie")
def leslie(xp: XP, f: Any, s: Any) -> Any:
    f = _vector(xp, array(xp, f, s))
    s = _vector(xp, array(xp, s, f))
    n = xp.shape_of(f)[0]
    if n != xp.shape_of(s)[0] + 1:
        raise ValueError(
            "Incorrect lengths for f and s. The length of s along the last axis must be one less than the length of f."
        )
    to = np.result_type(xp.dtype_of(f), xp.dtype_of(s))
    f, s = xp.prim.astype(f, to), xp.prim.astype(s, to)
    below = xp.prim.slice(xp.diag(s, -1), (slice(1, n, 1), slice(0, n, 1)))
    return xp.prim.concatenate([xp.prim.reshape(f, (1, n)), below], 0)


@implements("scipy.linalg.convolution_matrix")
def convolution_matrix(xp: XP, a: Any, n: Any, mode: Any = "full") -> Any:
    if n <= 0:
        raise ValueError("n must be a positive integer.")
    a = array(xp, a)
    only(xp.ndim_of(a) == 1, "a batch of this function")
    m = xp.shape_of(a)[0]
    if not m:
        raise ValueError("len(a) must be at least 1.")
    if mode not in ("full", "valid", "same"):
        raise ValueError("'mode' argument must be one of ('full', 'valid', 'same')")
    cut = 0 if mode == "full" else min(n, m) - 1
    begin = cut // 2 if mode == "same" else cut
    rows = m + n - 1 - (cut if mode == "same" else 2 * cut)
    places = _offsets(rows, n) + begin
    # beyond the ends there are zeros
    padded = xp.prim.pad(a, [(1, 0)], xp.dtype_of(a).type(0).item())
    return _picked(xp, padded, np.where((places >= 0) & (places < m), places + 1, 0))


@implements("scipy.linalg.diagsvd")
def diagsvd(xp: XP, s: Any, M: Any, N: Any) -> Any:
    s = array(xp, s)
    only(xp.ndim_of(s) == 1, "a batch of this function")
    k = xp.shape_of(s)[0]
    if k not in (M, N):
        raise ValueError("Length of s must be M or N.")
    return xp.prim.pad(xp.diag(s), [(0, M - k), (0, N - k)], xp.dtype_of(s).type(0).item())


@implements("scipy.linalg.khatri_rao")
def khatri_rao(xp: XP, a: Any, b: Any) -> Any:
    a, b = array(xp, a, b), array(xp, b, a)
    left, right = xp.shape_of(a), xp.shape_of(b)
    only(max(len(left), len(right)) < 3, "a batch of this function")
    if len(left) != 2 or len(right) != 2:
        raise ValueError("The both arrays should be 2-dimensional.")
    if left[1] != right[1]:
        raise ValueError("The number of columns for both arrays should be equal.")
    only(0 not in left and 0 not in right, "an empty matrix")
    c = xp.multiply(xp.prim.reshape(a, (left[0], 1, left[1])), xp.prim.reshape(b, (1, *right)))
    return xp.prim.reshape(c, (left[0] * right[0], left[1]))


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
