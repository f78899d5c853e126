"""Array manipulation: shapes, axes, tiling, rolling, triangles, and functions that depend only on shapes and dtypes.

For functions that may return views, the dispatch calls NumPy on ghosts; their bodies run if NumPy copies, and inside other
bodies. Joining and splitting are in ``joining``, which is loaded with this topic.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from ..common import arguments
from ..common.errors import listed
from ..memory.views import native
from ..ufuncs.ufunc_methods import mask_of
from . import joining, layouts
from .ghost_views import answered, viewed, viewed_each
from .operands import (
    along,
    counting,
    filled,
    filling,
    fits,
    flat,
    lined,
    to_host,
    truth,
    unshared,
)
from .registry import family, implements

__all__ = ["joining"]

Native = Any
Shape = tuple[int, ...]

viewing = family(mode="view")
answering = family(mode="meta", returns="any")
moving = family(moves=True)


# -- copies ----------------------------------------------------------------------------------------------------------


@implements(np.copy, kind="native", mode="like")
def copy(xp: Any, a: Any, order: str = "K", subok: bool = False) -> Native:
    arguments.order_of(order)
    return xp.prim.copy(xp.asarray(a))


def _as_method(xp: Any, x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Call ``x.astype``, which with ``copy=False`` returns ``x`` itself if it has the dtype already."""
    if device not in (None, "cpu"):
        raise ValueError(f"Device not understood. Only 'cpu' is allowed, but received: {device}")
    return x.astype(dtype, copy=copy)


@viewing(np.astype, part=_as_method, view_if=lambda args, kwargs: kwargs.get("copy") is False, jumps="exact")  # fmt: skip
def astype(xp: Any, x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Native:
    to = np.dtype(dtype)
    if to == xp.dtype_of(x):
        return xp.prim.copy(x) if copy else x
    return xp.prim.astype(x, to)


@implements(np.copyto, mode="update", returns="any")
def copyto(xp: Any, dst: Native, src: Any, casting: Any = "same_kind", where: Any = True) -> Native:
    shape = xp.shape_of(dst)
    value = filling(xp, src, xp.dtype_of(dst), shape, dst, casting)
    if where is True:
        return value
    mask = mask_of(where, xp.backend, dst)
    given = xp.shape_of(mask)
    if not fits(given, shape):
        raise ValueError(f"could not broadcast where mask from shape {listed(given)} into shape {listed(shape)}")
    return xp.prim.where(mask, value, dst)


# -- shape -----------------------------------------------------------------------------------------------------------


_func: Any
for _func in (
    np.broadcast_to, np.diagonal, np.expand_dims, np.flip, np.fliplr, np.flipud, np.matrix_transpose, np.moveaxis, np.rollaxis, np.rot90,
    np.lib.stride_tricks.sliding_window_view,
):  # fmt: skip
    viewing(_func)(viewed(_func))
for _func in (np.squeeze, np.swapaxes, np.transpose):
    viewing(_func, scalars=True)(viewed(_func))
for _func in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    viewing(_func, many=True)(viewed_each(_func))
viewing(np.broadcast_arrays, many=True, sequence=True)(viewed_each(np.broadcast_arrays))


@viewing(np.reshape, scalars=True)
def reshape(xp: Any, a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Native:
    a = xp.asarray(a)
    to = np.broadcast_to(0, xp.shape_of(a)).reshape(shape).shape  # or NumPy's own error
    if copy:
        a = unshared(xp, a)
    if order in "Ff":
        return _reversed(xp, xp.prim.reshape(_reversed(xp, a), to[::-1]))
    return xp.prim.reshape(a, to)


def _reversed(xp: Any, a: Native) -> Native:
    return xp.prim.transpose(a, tuple(range(len(xp.shape_of(a))))[::-1])


@viewing(np.ravel)
def ravel(xp: Any, a: Any, order: str | None = "C") -> Native:
    a = xp.asarray(a)
    return flat(xp, _reversed(xp, a) if order in ("F", "f") else a)


# -- order of elements -----------------------------------------------------------------------------------------------


@moving(np.roll, recorded=True, layout=layouts.rolled)
def roll(xp: Any, a: Any, shift: Any, axis: Any = None) -> Native:
    a = xp.asarray(a)
    shape = xp.shape_of(a)
    if axis is None:
        return xp.prim.reshape(roll(xp, flat(xp, a), shift, 0), shape)
    axes = normalize_axis_tuple(axis, len(shape), allow_duplicate=True)
    pairs = np.broadcast(to_host(xp, shift), axes)
    if pairs.ndim > 1:
        raise ValueError("'shift' and 'axis' should be scalars or 1D sequences")
    shifts: dict[int, int] = {}
    for by, i in pairs:
        shifts[i] = shifts.get(i, 0) + int(by)
    result = a
    for i, by in shifts.items():
        n = shape[i]
        by = by % n if n else 0
        if by:
            result = xp.prim.concatenate([along(xp, result, i, n - by, n), along(xp, result, i, 0, n - by)], i)
    return unshared(xp, a) if result is a else result


# -- tiling ----------------------------------------------------------------------------------------------------------


@moving(np.tile, layout=layouts.tiled)
def tile(xp: Any, A: Any, reps: Any) -> Native:
    a = xp.asarray(A)
    counts = to_host(xp, reps).reshape(-1).tolist() if not isinstance(reps, tuple) else list(reps)
    counts = [operator.index(r) for r in counts]
    shape = xp.shape_of(a)
    ndim = max(len(shape), len(counts))
    shape = (1,) * (ndim - len(shape)) + shape
    counts = [1] * (ndim - len(counts)) + counts
    if any(r < 0 for r in counts):
        raise ValueError("negative dimensions are not allowed")
    if all(r == 1 for r in counts):
        return xp.prim.reshape(unshared(xp, a), shape)
    return _repeated(xp, a, [x for n in shape for x in (1, n)], [x for r, n in zip(counts, shape) for x in (r, n)],
                     tuple(r * n for r, n in zip(counts, shape)))  # fmt: skip


def _repeated(xp: Any, a: Native, apart: list[int], wide: list[int], final: Shape) -> Native:
    """Insert axes of length 1 into ``a``, repeat along them, and merge all axes into the shape ``final``."""
    if 0 in final:
        return filled(xp, final, 0, xp.dtype_of(a), a)
    spread = xp.prim.broadcast_to(xp.prim.reshape(a, tuple(apart)), tuple(wide))
    # Merging axes can leave a broadcast view where arrays are strided, so the copy comes first.
    return xp.prim.reshape(unshared(xp, spread), final)


@moving(np.repeat, pure=False)
def repeat(xp: Any, a: Any, repeats: Any, axis: Any = None) -> Native:
    a = xp.asarray(a)
    a, axis = lined(xp, a, axis)
    shape = xp.shape_of(a)
    n = shape[axis]
    counts = to_host(xp, repeats)
    if counts.size == 1 and counts.dtype.kind in "iub" and counts.ndim <= 1:
        r = int(counts.reshape(()))
        if r < 0:
            raise ValueError("negative dimensions are not allowed")
        final = (*shape[:axis], n * r, *shape[axis + 1 :])
        apart = [*shape[: axis + 1], 1, *shape[axis + 1 :]]
        wide = [*shape[: axis + 1], r, *shape[axis + 1 :]]
        return _repeated(xp, a, apart, wide, final)
    rows = np.repeat(np.arange(n), repeats if not xp.is_array(repeats) else counts)
    if not n:
        return unshared(xp, a)
    return xp.prim.take(a, xp.asarray(rows, like=a), axis)


@moving(np.resize)
def resize(xp: Any, a: Any, new_shape: Any) -> Native:
    to = tuple([operator.index(n) for n in ((new_shape,) if isinstance(new_shape, int | np.integer) else new_shape)])
    if any(n < 0 for n in to):
        raise ValueError("all elements of `new_shape` must be non-negative")
    a = flat(xp, xp.asarray(a))
    size, have = math.prod(to), xp.shape_of(a)[0]
    if not have or not size:
        return filled(xp, to, 0, xp.dtype_of(a), a)
    if size <= have:
        return xp.prim.reshape(unshared(xp, along(xp, a, 0, 0, size)), to)
    return xp.prim.reshape(along(xp, tile(xp, a, -(-size // have)), 0, 0, size), to)


def _left_by_trim(xp: Any, filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    return filt if axis == () else filt[trimmed(xp, native(filt), trim, axis) or ...]  # a 0-d array stays one


@viewing(np.trim_zeros, pure=False, part=_left_by_trim)
def trim_zeros(xp: Any, filt: Any, trim: str = "fb", axis: Any = None) -> Native:
    a = xp.asarray(filt)
    return unshared(xp, xp.prim.slice(a, trimmed(xp, a, trim, axis)))


def trimmed(xp: Any, a: Native, trim: str = "fb", axis: Any = None) -> tuple[slice, ...]:
    """Return the key of the part that ``trim_zeros`` keeps."""
    trim = trim.lower()
    if trim not in {"fb", "bf", "f", "b"}:
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    shape = xp.shape_of(a)
    axes = tuple(range(len(shape))) if axis is None else normalize_axis_tuple(axis, len(shape), "axis")
    used: Any = to_host(xp, truth(xp, a)) if axes else None
    key = []
    for i, n in enumerate(shape):
        start, stop = 0, n
        if i in axes:
            if not used.any():
                stop = 0
            else:
                where = np.flatnonzero(used.any(axis=tuple(j for j in range(len(shape)) if j != i)))
                start, stop = (int(where[0]) if "f" in trim else 0), (int(where[-1]) + 1 if "b" in trim else n)
        key.append(slice(start, stop, 1))
    return tuple(key)


# -- diagonals and triangles -----------------------------------------------------------------------------------------


@moving(np.diagflat)
def diagflat(xp: Any, v: Any, k: int = 0) -> Native:
    v = flat(xp, xp.asarray(v))
    count = xp.shape_of(v)[0]
    n = count + abs(k)
    square = filled(xp, (n * n,), 0, xp.dtype_of(v), v)
    if count:
        start = k if k >= 0 else -k * n
        square = xp.prim.slice_update(square, (slice(start, start + (count - 1) * (n + 1) + 1, n + 1),), v)
    return xp.prim.reshape(square, (n, n))


@viewing(np.diag)
def diag(xp: Any, v: Any, k: int = 0) -> Native:
    v = xp.asarray(v)
    ndim = len(xp.shape_of(v))
    if ndim == 1:
        return diagflat(xp, v, k)
    if ndim == 2:
        return xp.diagonal(v, k)
    raise ValueError("Input must be 1- or 2-d.")


def triangle(xp: Any, rows: int, columns: int, k: int, like: Native) -> Native:
    """Return the mask of elements at and below the k-th diagonal, on the device of ``like``."""
    i = xp.prim.reshape(counting(xp, rows, like), (rows, 1))
    return xp.greater_equal(i, xp.subtract(counting(xp, columns, like), k))


def _masked_triangle(xp: Any, m: Any, k: int, lower: bool) -> Native:
    m = xp.asarray(m)
    shape = xp.shape_of(m)
    if not shape:
        raise TypeError("tri() missing 1 required positional argument: 'N'")
    rows, columns = shape[-2:] if len(shape) > 1 else (shape[0], shape[0])
    zero = filled(xp, (), 0, xp.dtype_of(m), m)
    if lower:
        return xp.prim.where(triangle(xp, rows, columns, k, m), m, zero)
    return xp.prim.where(triangle(xp, rows, columns, k - 1, m), zero, m)


@moving(np.tril, layout=layouts.triangular)
def tril(xp: Any, m: Any, k: int = 0) -> Native:
    return _masked_triangle(xp, m, k, True)


@moving(np.triu, layout=layouts.triangular)
def triu(xp: Any, m: Any, k: int = 0) -> Native:
    return _masked_triangle(xp, m, k, False)


@moving(np.vander, layout=layouts.c)
def vander(xp: Any, x: Any, N: Any = None, increasing: bool = False) -> Native:
    x = xp.asarray(x)
    shape = xp.shape_of(x)
    if len(shape) != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    columns = shape[0] if N is None else N
    to = np.promote_types(xp.dtype_of(x), int)
    if columns < 0:
        raise ValueError("negative dimensions are not allowed")
    ones = filled(xp, (shape[0], min(columns, 1)), 1, to, x)
    if columns <= 1 or not shape[0]:
        return filled(xp, (shape[0], columns), 1, to, x)
    column = xp.prim.reshape(xp.prim.astype(x, to), (shape[0], 1))
    powers = xp.multiply.accumulate(xp.prim.broadcast_to(column, (shape[0], columns - 1)), axis=1, dtype=to)
    made = xp.prim.concatenate([ones, powers], 1)
    return made if increasing else xp.prim.flip(made, (1,))


# -- known from shapes and dtypes ------------------------------------------------------------------------------------


@moving(np.min_scalar_type, returns="any", pure=False, looks=True)
def min_scalar_type(xp: Any, a: Any, /) -> np.dtype[Any]:
    if xp.is_array(a):
        a = np.empty(1, xp.dtype_of(a)) if xp.ndim_of(a) else to_host(xp, a)
    return np.min_scalar_type(a)


for _func in (np.can_cast, np.common_type, np.iscomplexobj, np.isrealobj, np.ndim, np.result_type, np.shape, np.size):
    answering(_func)(answered(_func))
for _func in (np.may_share_memory, np.shares_memory):
    answering(_func, memory=True)(answered(_func))
