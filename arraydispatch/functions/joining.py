"""Joining, splitting, inserting and deleting: part of the topic ``manipulation``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..common import arguments
from ..common.user_warnings import warn_of_cast
from ..runtime import dtypes
from . import layouts
from .ghost_views import viewed
from .operands import (
    along,
    arrays,
    axis_of,
    cast_into,
    first_native,
    flat,
    raise_for_shapes,
    sequence,
    to_host,
    unshared,
    upload,
)
from .registry import describe, family

Native = Any

joining = family(moves=True, sequence=True)
viewing = family(mode="view")
moving = family(moves=True)


def at_least(xp: Any, a: Native, ndim: int) -> Native:
    """Implement ``np.atleast_1d``, ``_2d`` and ``_3d`` for one native array."""
    shape = xp.shape_of(a)
    if len(shape) >= ndim:
        return a
    if ndim == 3 and len(shape) == 2:
        to = (*shape, 1)
    elif ndim == 3 and len(shape) == 1:
        to = (1, *shape, 1)
    else:
        to = (1,) * (ndim - len(shape)) + shape
    return xp.prim.reshape(a, to)


def rows_of(xp: Any, xs: Any) -> list[Any]:
    """Return the arrays to join as a list; one array stands for its subarrays along the first axis. Raise TypeError for anything else."""
    if not xp.is_array(xs):
        if not hasattr(xs, "__getitem__"):
            raise TypeError('arrays to stack must be passed as a "sequence" type such as list or tuple.')
        return list(xs)
    if not xp.shape_of(xs):
        raise TypeError("iteration over a 0-d array")
    return sequence(xp, xs)


# -- joining ---------------------------------------------------------------------------------------------------------


@joining(np.concatenate, into=("made",), layout=layouts.joined, grows=True)
def concatenate(xp: Any, arrays: Any, /, axis: Any = 0, *, dtype: Any = None, casting: Any = "same_kind") -> Native:
    given = arrays if type(arrays) in (list, tuple) else rows_of(xp, arrays)
    if not given:
        raise ValueError("need at least one array to concatenate")
    arguments.casting_of(casting)
    if dtype is None and axis is not None and len(given) > 1 and _alike(xp, given):
        return xp.prim.concatenate(given, _check_shapes([xp.shape_of(x) for x in given], axis))
    like = first_native(xp, given)
    natives, keys = [], []
    for x in given:
        native = x if xp.is_array(x) else xp.asarray(x, like=like)
        natives.append(native)
        scalar = axis is None and isinstance(x, int | float | complex) and not isinstance(x, bool | np.generic)
        keys.append(dtypes.operand_type(x) if scalar else xp.dtype_of(native))
    if axis is None:
        natives, axis = [flat(xp, x) for x in natives], 0
    else:
        axis = _check_shapes([xp.shape_of(x) for x in natives], axis)
    to = np.dtype(dtype) if dtype is not None else _common(keys)
    if dtype is not None:
        for x in natives:
            dtypes.check_cast(xp.dtype_of(x), to, casting)
            warn_of_cast(xp.dtype_of(x), to)
    natives = [x if xp.dtype_of(x) == to else xp.prim.astype(x, to) for x in natives]
    if len(natives) == 1:
        return unshared(xp, natives[0])
    return xp.prim.concatenate(natives, axis)


def _alike(xp: Any, given: Any) -> bool:
    """Whether all items are native arrays of one dtype, by far the most frequent case."""
    is_array, dtype_of = xp.is_array, xp.dtype_of
    if not is_array(given[0]):
        return False
    first = dtype_of(given[0])
    return all(is_array(x) and dtype_of(x) is first for x in given)


def _common(keys: list[Any]) -> np.dtype[Any]:
    first = keys[0]
    if isinstance(first, np.dtype) and all(k == first for k in keys):
        return first
    return dtypes.promote(*keys)


def _check_shapes(shapes: list[tuple[int, ...]], axis: Any) -> int:
    """Return the normalized axis, or raise NumPy's error for arrays of these shapes."""
    first = shapes[0]
    at = axis_of(axis, len(first)) if first else 0
    alike = {(len(shape), *shape[:at], *shape[at + 1 :]) for shape in shapes}
    if not first or len(alike) > 1:
        raise_for_shapes(lambda *xs: np.concatenate(xs, at), *shapes)
    return at


@joining(np.stack, layout=layouts.stacked, into=("made",))
def stack(xp: Any, arrays: Any, axis: Any = 0, *, dtype: Any = None, casting: Any = "same_kind") -> Native:
    natives = _natives(xp, arrays)
    if not natives:
        raise ValueError("need at least one array to stack")
    shape = xp.shape_of(natives[0])
    if any(xp.shape_of(x) != shape for x in natives):
        raise ValueError("all input arrays must have the same shape")
    axis = normalize_axis_index(axis, len(shape) + 1)
    wide = (*shape[:axis], 1, *shape[axis:])
    return concatenate(xp, [xp.prim.reshape(x, wide) for x in natives], axis, dtype=dtype, casting=casting)


def _natives(xp: Any, xs: Any) -> list[Native]:
    return arrays(xp, *rows_of(xp, xs))


if hasattr(np, "row_stack"):  # deprecated since NumPy 2.0
    describe(np.row_stack, sequence=True)  # noqa: NPY201


@joining(np.vstack, layout=layouts.joined, grows=True)
def vstack(xp: Any, tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Native:
    return concatenate(xp, [at_least(xp, x, 2) for x in _natives(xp, tup)], 0, dtype=dtype, casting=casting)


@joining(np.hstack, layout=layouts.joined, grows=True)
def hstack(xp: Any, tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Native:
    natives = [at_least(xp, x, 1) for x in _natives(xp, tup)]
    axis = 0 if natives and len(xp.shape_of(natives[0])) == 1 else 1
    return concatenate(xp, natives, axis, dtype=dtype, casting=casting)


@joining(np.dstack, layout=layouts.deep, grows=True)
def dstack(xp: Any, tup: Any) -> Native:
    return concatenate(xp, [at_least(xp, x, 3) for x in _natives(xp, tup)], 2)


@joining(np.column_stack, layout=layouts.joined, grows=True)
def column_stack(xp: Any, tup: Any) -> Native:
    columns = []
    for x in _natives(xp, tup):
        shape = xp.shape_of(x)
        columns.append(x if len(shape) >= 2 else xp.prim.reshape(x, (shape[0] if shape else 1, 1)))
    return concatenate(xp, columns, 1)


@joining(np.block, layout=layouts.blocks)
def block(xp: Any, arrays: Any) -> Native:
    like = first_native(xp, (arrays,))
    try:
        depth, ndim = _block_depth(xp, arrays)
    except ValueError:
        np.block(xp.ghosts(arrays))  # raises NumPy's error
        raise
    return unshared(xp, _joined(xp, arrays, depth, max(depth, ndim), 0, like))


def _block_depth(xp: Any, item: Any) -> tuple[int, int]:
    """Return the depth of the nested lists, which must be uniform, and the largest number of dimensions of an array in them."""
    if not isinstance(item, list | tuple):
        return 0, len(xp.shape_of(item)) if xp.is_array(item) else np.ndim(item)
    if isinstance(item, tuple) or not item:
        raise ValueError("not a list of blocks")
    depths, ndims = zip(*(_block_depth(xp, x) for x in item))
    if len(set(depths)) > 1:
        raise ValueError("depths of lists differ")
    return depths[0] + 1, max(ndims)


def _joined(xp: Any, item: Any, depth: int, ndim: int, level: int, like: Native) -> Native:
    if level < depth:
        parts = [_joined(xp, x, depth, ndim, level + 1, like) for x in item]
        return concatenate(xp, parts, ndim - depth + level)
    a = xp.asarray(item, like=like)
    shape = xp.shape_of(a)
    return a if len(shape) >= ndim else xp.prim.reshape(a, (1,) * (ndim - len(shape)) + shape)


@moving(np.append, layout=layouts.appended, grows=True)
def append(xp: Any, arr: Any, values: Any, axis: Any = None) -> Native:
    arr, values = arrays(xp, arr, values)
    if axis is None:
        return concatenate(xp, (flat(xp, arr), flat(xp, values)), 0)
    return concatenate(xp, (arr, values), axis)


# -- splitting -------------------------------------------------------------------------------------------------------


for _func in (np.array_split, np.dsplit, np.hsplit, np.split, np.vsplit):
    viewing(_func)(viewed(_func))


@viewing(np.unstack, returns="scalar")
def unstack(xp: Any, x: Any, /, *, axis: int = 0) -> tuple[Native, ...]:
    x = xp.asarray(x)
    shape = xp.shape_of(x)
    if not shape:
        raise ValueError("Input array must be at least 1-d.")
    axis = normalize_axis_index(axis, len(shape))
    rest = shape[:axis] + shape[axis + 1 :]
    return tuple(xp.prim.reshape(along(xp, x, axis, i, i + 1), rest) for i in range(shape[axis]))


# -- deleting and inserting ------------------------------------------------------------------------------------------


def _host_index(xp: Any, obj: Any) -> Any:
    """Return positions with native arrays fetched to the host, because positions decide the shape of the result."""
    if xp.is_array(obj):
        return to_host(xp, obj)
    if isinstance(obj, list | tuple) and first_native(xp, obj) is not None:
        return [to_host(xp, x)[()] for x in obj]
    return obj


@moving(np.delete, pure=False, layout=layouts.fortran)
def delete(xp: Any, arr: Any, obj: Any, axis: Any = None) -> Native:
    arr = xp.asarray(arr)
    if axis is None:
        arr, axis = flat(xp, arr), 0
    axis = normalize_axis_index(axis, len(xp.shape_of(arr)))
    n = xp.shape_of(arr)[axis]
    kept = np.delete(np.arange(n), _host_index(xp, obj))
    if not n:
        return unshared(xp, arr)
    return xp.prim.take(arr, upload(xp, kept, arr), axis)


@moving(np.insert, pure=False, layout=layouts.fortran, grows=True)
def insert(xp: Any, arr: Any, obj: Any, values: Any, axis: Any = None) -> Native:
    arr = arrays(xp, arr, *([values] if xp.is_array(values) else []))[0]
    if axis is None:
        arr, axis = flat(xp, arr), 0
    shape = xp.shape_of(arr)
    axis = normalize_axis_index(axis, len(shape))
    obj = _host_index(xp, obj)
    to = xp.dtype_of(arr)
    if first_native(xp, [values]) is None:
        values = np.array(values, to)  # NumPy itself converts them, and warns
    values = cast_into(xp, xp.asarray(values, like=arr), to)
    its_shape = xp.shape_of(values)
    if len(its_shape) < len(shape):
        its_shape = (1,) * (len(shape) - len(its_shape)) + its_shape
        values = xp.prim.reshape(values, its_shape)
    n = shape[axis]
    single = not isinstance(obj, slice) and np.size(obj) == 1 and np.asarray(obj).dtype.kind != "b"
    if single and np.ndim(obj) == 0:  # a plain position: the first axis of the values goes along `axis`
        perm = list(range(1, len(its_shape)))
        perm.insert(axis, 0)
        values = xp.prim.transpose(values, tuple(perm))
    count = xp.shape_of(values)[axis] if single else None
    order = _insertion_order(n, obj, count)
    added = len(order) - n
    wide = (*shape[:axis], added, *shape[axis + 1 :])
    have = xp.shape_of(values)
    if len(have) > len(wide) and set(have[: len(have) - len(wide)]) == {1}:
        # An assignment ignores leading axes of length 1.
        have = have[len(have) - len(wide) :]
        values = xp.prim.reshape(values, have)
    if len(have) > len(wide) or any(m not in (1, k) for m, k in zip(have[::-1], wide[::-1])):
        raise ValueError(
            f"shape mismatch: value array of shape {have} could not be broadcast to indexing result of shape {wide}"
        )
    if not added:
        return unshared(xp, arr)
    both = xp.prim.concatenate([arr, xp.prim.broadcast_to(values, wide)], axis)
    return xp.prim.take(both, upload(xp, order, arr), axis)


def _insertion_order(n: int, obj: Any, count: int | None) -> np.ndarray[Any, Any]:
    """Return the source of each element of the result: ``i`` below ``n`` is element ``i`` of the array, ``n + j`` is value ``j``.

    ``np.insert`` itself computes it, on indices. ``count``: the number of values if ``obj`` is a single position, else None.
    """
    if count is not None:
        position = np.asarray(obj).reshape(-1)
        if position.dtype.kind not in "iu":
            raise TypeError("slice indices must be integers or None or have an __index__ method")
        return np.insert(np.arange(n), int(position[0]), np.arange(n, n + count))
    marks = np.insert(np.arange(n), obj, -1)
    added = np.flatnonzero(marks == -1)
    if isinstance(obj, slice):
        given = np.arange(*obj.indices(n))
    else:
        host = np.asarray(obj)
        given = np.flatnonzero(host) if host.dtype == bool else host.astype(np.intp)
    given = np.where(given < 0, given + n, given)
    marks[added] = n + np.argsort(given, kind="stable")
    return marks
