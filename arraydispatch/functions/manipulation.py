"""Array manipulation: shapes, axes, tiling, rolling, triangles, and functions of shapes and dtypes alone.

For functions that may return views, NumPy itself is called on ghosts; their bodies run if NumPy copies, and inside other
bodies. Joining and splitting are in ``joining``, which is loaded with this topic.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ..common import arguments
from ..common.buffers import axes_by_stride
from ..common.errors import listed
from ..common.user_warnings import real_of
from ..memory.views import native
from ..runtime import dtypes
from ..ufuncs.ufunc_methods import mask_of
from . import joining, layouts
from .operands import (
    along,
    arrays,
    cast_into,
    counting,
    filled,
    flat,
    lined,
    moved,
    size_of,
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


def _ghost(shape: Shape) -> np.ndarray[Any, Any]:
    """Return an ndarray of any shape that costs no memory; NumPy checks arguments on it and raises its own errors."""
    return np.broadcast_to(np.empty(()), shape)


# -- copies ----------------------------------------------------------------------------------------------------------


@implements(np.copy, kind="native", mode="like")
def copy(xp: Any, a: Any, order: str = "K", subok: bool = False) -> Native:
    arguments.order_of(order)
    return xp.prim.copy(xp.asarray(a))


def _as_method(xp: Any, x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Call the method of the same name, which with ``copy=False`` returns the array itself if nothing changes."""
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
    shape, to = xp.shape_of(dst), xp.dtype_of(dst)
    if xp.is_array(src):
        have = xp.dtype_of(src)
        if not np.can_cast(have, to, casting):
            raise TypeError(f"Cannot cast array data from {have!r} to {to!r} according to the rule '{casting}'")
        value = cast_into(xp, src, to)
    elif isinstance(src, list | tuple):
        return copyto(xp, dst, xp.asarray(src, like=dst), casting, where)
    else:
        element = np.empty(np.shape(src), to)
        if isinstance(src, complex) and casting == "unsafe":
            src = real_of(np.asarray(src), to)
        np.copyto(element, src, casting=casting)
        value = xp.asarray(element, like=dst)
    value_shape = xp.shape_of(value)
    while len(value_shape) > len(shape) and value_shape[0] == 1:
        value_shape = value_shape[1:]
    if not (len(value_shape) <= len(shape) and all(n in (1, m) for n, m in zip(value_shape[::-1], shape[::-1]))):
        raise ValueError(
            f"could not broadcast input array from shape {listed(xp.shape_of(value))} into shape {listed(shape)}"
        )
    value = xp.prim.broadcast_to(xp.prim.reshape(value, value_shape), shape)
    if where is True:
        return value
    mask = mask_of(where, xp.backend, dst)
    given = xp.shape_of(mask)
    if not (len(given) <= len(shape) and all(n in (1, m) for n, m in zip(given[::-1], shape[::-1]))):
        raise ValueError(f"could not broadcast where mask from shape {listed(given)} into shape {listed(shape)}")
    return xp.prim.where(mask, value, dst)


# -- shape -----------------------------------------------------------------------------------------------------------


@viewing(np.reshape, scalars=True)
def reshape(xp: Any, a: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Native:
    a = xp.asarray(a)
    have = xp.shape_of(a)
    to = _ghost(have).reshape(shape).shape
    if copy:
        a = unshared(xp, a)
    if order == "A":
        order = "F" if _is_fortran(xp, a) else "C"
    if order == "C":
        return xp.prim.reshape(a, to)
    if order != "F":
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    return _reversed(xp, xp.prim.reshape(_reversed(xp, a), to[::-1]))


def _reversed(xp: Any, a: Native) -> Native:
    return xp.prim.transpose(a, tuple(range(len(xp.shape_of(a))))[::-1])


def _is_fortran(xp: Any, a: Native) -> bool:
    """Whether the array is in Fortran order and not in C order."""
    strides = xp.backend.strides_of(a)
    if strides is None:
        return False
    shape = xp.shape_of(a)
    live = [(n, s) for n, s in zip(shape, strides) if n > 1]
    expected = 1
    for n, s in live:
        if s != expected:
            return False
        expected *= n
    return len(live) > 1


@viewing(np.ravel)
def ravel(xp: Any, a: Any, order: str | None = "C") -> Native:
    a, order = xp.asarray(a), (order or "C").upper()
    if order in ("A", "F"):
        fortran = order == "F" or _is_fortran(xp, a)
        return flat(xp, _reversed(xp, a) if fortran else a)
    if order == "K":
        strides = xp.backend.strides_of(a)
        if strides is not None and len(strides) > 1:
            return flat(xp, xp.prim.transpose(a, axes_by_stride([abs(s) for s in strides])))
    elif order != "C":
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got '{order}')")
    return flat(xp, a)


@viewing(np.transpose, scalars=True)
def transpose(xp: Any, a: Any, axes: Any = None) -> Native:
    a = xp.asarray(a)
    ndim = len(xp.shape_of(a))
    if axes is None:
        return xp.prim.transpose(a, tuple(range(ndim))[::-1])
    axes = tuple(axes) if isinstance(axes, list | tuple) else (axes,)
    if len(axes) != ndim:
        raise ValueError("axes don't match array")
    return xp.prim.transpose(a, normalize_axis_tuple(axes, ndim))


@viewing(np.matrix_transpose)
def matrix_transpose(xp: Any, x: Any, /) -> Native:
    x = xp.asarray(x)
    ndim = len(xp.shape_of(x))
    if ndim < 2:
        raise ValueError(f"Input array must be at least 2-dimensional, but it is {ndim}")
    return moved(xp, x, ndim - 1, ndim - 2)


@viewing(np.swapaxes, scalars=True)
def swapaxes(xp: Any, a: Any, axis1: Any, axis2: Any) -> Native:
    a = xp.asarray(a)
    perm = list(range(len(xp.shape_of(a))))
    i, j = normalize_axis_index(axis1, len(perm)), normalize_axis_index(axis2, len(perm))
    perm[i], perm[j] = perm[j], perm[i]
    return xp.prim.transpose(a, tuple(perm))


@viewing(np.moveaxis)
def moveaxis(xp: Any, a: Any, source: Any, destination: Any) -> Native:
    a = xp.asarray(a)
    ndim = len(xp.shape_of(a))
    source = normalize_axis_tuple(source, ndim, "source")
    destination = normalize_axis_tuple(destination, ndim, "destination")
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    order = [n for n in range(ndim) if n not in source]
    for to, axis in sorted(zip(destination, source)):
        order.insert(to, axis)
    return xp.prim.transpose(a, tuple(order))


@viewing(np.rollaxis)
def rollaxis(xp: Any, a: Any, axis: Any, start: int = 0) -> Native:
    a = xp.asarray(a)
    n = len(xp.shape_of(a))
    axis = normalize_axis_index(axis, n)
    if start < 0:
        start += n
    if not 0 <= start < n + 1:
        raise np.exceptions.AxisError(f"'start' arg requires {-n} <= start < {n + 1}, but {start} was passed in")
    if axis < start:
        start -= 1
    return moved(xp, a, axis, start)


@viewing(np.expand_dims)
def expand_dims(xp: Any, a: Any, axis: Any) -> Native:
    a = xp.asarray(a)
    axes = axis if isinstance(axis, tuple | list) else (axis,)
    lengths = iter(xp.shape_of(a))
    ndim = len(axes) + len(xp.shape_of(a))
    axes = normalize_axis_tuple(axes, ndim)
    return xp.prim.reshape(a, tuple(1 if i in axes else next(lengths) for i in range(ndim)))


@viewing(np.squeeze, scalars=True)
def squeeze(xp: Any, a: Any, axis: Any = None) -> Native:
    a = xp.asarray(a)
    return xp.prim.reshape(a, _ghost(xp.shape_of(a)).squeeze(axis).shape)


def _one_or_many(found: list[Native]) -> Any:
    return found[0] if len(found) == 1 else tuple(found)


@viewing(np.atleast_1d, many=True)
def atleast_1d(xp: Any, *arys: Any) -> Any:
    return _one_or_many([joining.at_least(xp, a, 1) for a in arrays(xp, *arys)])


@viewing(np.atleast_2d, many=True)
def atleast_2d(xp: Any, *arys: Any) -> Any:
    return _one_or_many([joining.at_least(xp, a, 2) for a in arrays(xp, *arys)])


@viewing(np.atleast_3d, many=True)
def atleast_3d(xp: Any, *arys: Any) -> Any:
    return _one_or_many([joining.at_least(xp, a, 3) for a in arrays(xp, *arys)])


@viewing(np.broadcast_to)
def broadcast_to(xp: Any, array: Any, shape: Any, subok: bool = False) -> Native:
    array = xp.asarray(array)
    to = np.broadcast_to(_ghost(xp.shape_of(array)), shape).shape
    return xp.prim.broadcast_to(array, to)


@viewing(np.broadcast_arrays, many=True, sequence=True)
def broadcast_arrays(xp: Any, *args: Any, subok: bool = False) -> tuple[Native, ...]:
    given = arrays(xp, *args)
    shape = np.broadcast_shapes(*[xp.shape_of(a) for a in given])
    return tuple(xp.prim.broadcast_to(a, shape) for a in given)


# -- order of elements -----------------------------------------------------------------------------------------------


@viewing(np.flip)
def flip(xp: Any, m: Any, axis: Any = None) -> Native:
    m = xp.asarray(m)
    ndim = len(xp.shape_of(m))
    return xp.prim.flip(m, tuple(range(ndim)) if axis is None else normalize_axis_tuple(axis, ndim))


@viewing(np.fliplr)
def fliplr(xp: Any, m: Any) -> Native:
    m = xp.asarray(m)
    if len(xp.shape_of(m)) < 2:
        raise ValueError("Input must be >= 2-d.")
    return xp.prim.flip(m, (1,))


@viewing(np.flipud)
def flipud(xp: Any, m: Any) -> Native:
    m = xp.asarray(m)
    if len(xp.shape_of(m)) < 1:
        raise ValueError("Input must be >= 1-d.")
    return xp.prim.flip(m, (0,))


@viewing(np.rot90)
def rot90(xp: Any, m: Any, k: Any = 1, axes: Any = (0, 1)) -> Native:
    axes = tuple(axes)
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    m = xp.asarray(m)
    ndim = len(xp.shape_of(m))
    if axes[0] == axes[1] or abs(axes[0] - axes[1]) == ndim:
        raise ValueError("Axes must be different.")
    if any(not -ndim <= axis < ndim for axis in axes):
        raise ValueError(f"Axes={axes} out of range for array of ndim={ndim}.")
    i, j = (axis % ndim for axis in axes)
    k = (k if isinstance(k, int | float) else int(k)) % 4
    perm = list(range(ndim))
    perm[i], perm[j] = perm[j], perm[i]
    if k == 0:
        return m
    if k == 2:
        return xp.prim.flip(m, (i, j))
    if k == 1:
        return xp.prim.transpose(xp.prim.flip(m, (j,)), tuple(perm))
    return xp.prim.flip(xp.prim.transpose(m, tuple(perm)), (j,))


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


@viewing(np.diagonal)
def diagonal(xp: Any, a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Native:
    a = xp.asarray(a)
    shape = xp.shape_of(a)
    if len(shape) < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    i, j = normalize_axis_index(axis1, len(shape)), normalize_axis_index(axis2, len(shape))
    if i == j:
        raise ValueError("axis1 and axis2 cannot be the same")
    rest = tuple(k for k in range(len(shape)) if k not in (i, j))
    rows, columns = shape[i], shape[j]
    lead = tuple(shape[k] for k in rest)
    start = offset if offset >= 0 else -offset * columns
    count = max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)
    if not count or 0 in lead:
        return filled(xp, (*lead, count), 0, xp.dtype_of(a), a)
    a = xp.prim.reshape(xp.prim.transpose(a, (*rest, i, j)), (*lead, rows * columns))
    return along(xp, a, len(lead), start, start + (count - 1) * (columns + 1) + 1, columns + 1)


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
        return diagonal(xp, v, k)
    raise ValueError("Input must be 1- or 2-d.")


def triangle(xp: Any, rows: int, columns: int, k: int, like: Native) -> Native:
    """Return the mask of elements at and below the k-th diagonal."""
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


@answering(np.shape)
def shape(xp: Any, a: Any) -> Shape:
    return tuple(xp.shape_of(xp.asarray(a)))


@answering(np.ndim)
def ndim(xp: Any, a: Any) -> int:
    return len(xp.shape_of(xp.asarray(a)))


@answering(np.size)
def size(xp: Any, a: Any, axis: Any = None) -> int:
    a = xp.asarray(a)
    return size_of(xp, a) if axis is None else int(np.size(_ghost(xp.shape_of(a)), axis))


def _dtype_or_scalar(xp: Any, x: Any) -> Any:
    return xp.dtype_of(x) if xp.is_array(x) else x


@answering(np.result_type)
def result_type(xp: Any, *arrays_and_dtypes: Any) -> np.dtype[Any]:
    return np.result_type(*[_dtype_or_scalar(xp, x) for x in arrays_and_dtypes])


@answering(np.can_cast)
def can_cast(xp: Any, from_: Any, to: Any, casting: Any = "safe") -> bool:
    return np.can_cast(_dtype_or_scalar(xp, from_), to, casting)


@moving(np.min_scalar_type, returns="any", pure=False, looks=True)
def min_scalar_type(xp: Any, a: Any, /) -> np.dtype[Any]:
    if xp.is_array(a):
        a = np.empty(1, xp.dtype_of(a)) if xp.ndim_of(a) else to_host(xp, a)
    return np.min_scalar_type(a)


@answering(np.common_type)
def common_type(xp: Any, *arrays: Any) -> Any:
    return np.common_type(*[np.empty(0, xp.dtype_of(xp.asarray(a))) for a in arrays])


@answering(np.iscomplexobj)
def iscomplexobj(xp: Any, x: Any) -> bool:
    return dtypes.category(xp.dtype_of(xp.asarray(x))) == "complex"


@answering(np.isrealobj)
def isrealobj(xp: Any, x: Any) -> bool:
    return not iscomplexobj(xp, x)


@answering(np.shares_memory, memory=True)
def shares_memory(xp: Any, a: Any, b: Any, /, max_work: int = -1) -> bool:
    return bool(xp.is_array(a) and xp.is_array(b) and (a is b or xp.backend.may_share(a, b)))


@answering(np.may_share_memory, memory=True)
def may_share_memory(xp: Any, a: Any, b: Any, /, max_work: int = 0) -> bool:
    return shares_memory(xp, a, b)
