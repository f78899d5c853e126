"""Sorting, searching and counting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..backends.base import Unsupported
from ..common import arguments
from ..common.signal_safety import imported
from ..runtime import dtypes
from . import layouts
from .operands import (
    BOOL,
    INTP,
    along,
    arrays,
    axis_of,
    check_broadcast,
    filled,
    first_native,
    flat,
    is_concrete,
    raise_for_shapes,
    scalar,
    size_of,
    to_host,
    truth,
)
from .registry import family, implements

Native = Any
NoValue: Any = np._NoValue

position = family(into=("positions",), layout=layouts.c, returns="scalar")


# -- sorting ---------------------------------------------------------------------------------------------------------


def _check_kind(kind: Any, order: Any, stable: Any = None) -> None:
    if kind is not None and stable is not None:
        raise ValueError("`kind` and keyword parameters can't be provided at the same time. Use only one of them.")
    if kind is not None:
        if not isinstance(kind, str):
            raise TypeError(f"sort kind must be str, not {type(kind).__name__}")
        if kind[:1].lower() not in ("q", "h", "m", "s"):
            raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")


def _sortable(xp: Any, a: Native, axis: Any) -> tuple[Native, int]:
    if axis is None:
        return flat(xp, a), 0
    return a, normalize_axis_index(axis, len(xp.shape_of(a)))


def _rankable(xp: Any, a: Any, axis: Any) -> tuple[Native, int]:
    """Return array and axis for functions that return positions. These treat a 0-d array as one element."""
    a = xp.asarray(a)
    if axis is None or (not xp.shape_of(a) and axis in (0, -1)):
        return flat(xp, a), 0
    return a, axis_of(axis, len(xp.shape_of(a)))


@implements(np.sort, layout=layouts.first, apart=True)
def sort(xp: Any, a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Native:
    a, axis = _sortable(xp, xp.asarray(a), axis)
    _check_kind(kind, order, stable)
    return xp.prim.sort(a, axis)


@implements(np.argsort, defined="argsort", apart=True, layout=layouts.c)
def argsort(xp: Any, a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Native:
    a, axis = _rankable(xp, a, axis)
    _check_kind(kind, order, stable)
    return xp.prim.argsort(a, axis, bool(stable) or (kind is not None and kind[:1].lower() in "ms"))


def _check_kth(xp: Any, kth: Any, shape: tuple[int, ...], axis: int) -> None:
    n = shape[axis]
    for k in to_host(xp, kth).reshape(-1):
        if not isinstance(k, np.integer):
            raise TypeError("Partition index must be integer")
        if not -n <= k < n and 0 not in shape:
            raise ValueError(f"kth(={k + n if k < 0 else k}) out of bounds ({n})")


def _check_partition_kind(kind: Any, order: Any) -> None:
    if kind != "introselect":
        raise ValueError(f"select kind must be 'introselect' (got {kind!r})")
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")


@implements(np.partition, layout=layouts.first, defined="partition")
def partition(xp: Any, a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Native:
    a, axis = _sortable(xp, xp.asarray(a), axis)
    _check_partition_kind(kind, order)
    _check_kth(xp, kth, xp.shape_of(a), axis)
    return xp.prim.sort(a, axis)  # a sorted array is partitioned at every kth


@implements(np.argpartition, defined="argpartition", layout=layouts.c)
def argpartition(xp: Any, a: Any, kth: Any, axis: Any = -1, kind: str = "introselect", order: Any = None) -> Native:
    a, axis = _rankable(xp, a, axis)
    _check_partition_kind(kind, order)
    _check_kth(xp, kth, xp.shape_of(a), axis)
    return xp.prim.argsort(a, axis, False)


@implements(np.lexsort, sequence=True, returns="scalar")
def lexsort(xp: Any, keys: Any, axis: Any = -1) -> Native:
    if xp.is_array(keys):
        imported("arraydispatch.functions.joining")
        from .joining import rows_of

        if not xp.shape_of(keys):
            raise TypeError("need sequence of keys with len > 0 in lexsort")
        keys = rows_of(xp, keys)
    keys = arrays(xp, *keys)
    if not keys:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    shape = xp.shape_of(keys[0])
    if any(xp.shape_of(k) != shape for k in keys):
        raise ValueError("all keys need to be the same shape")
    if not shape:
        normalize_axis_index(axis, 1)
        return filled(xp, (), 0, INTP, keys[0])
    axis = normalize_axis_index(axis, len(shape))
    if 0 in shape:
        return filled(xp, shape, 0, INTP, keys[0])
    order = xp.prim.argsort(keys[0], axis)
    for key in keys[1:]:
        step = xp.prim.argsort(xp.prim.take_along_axis(key, order, axis), axis)
        order = xp.prim.take_along_axis(order, step, axis)
    return order


@implements(np.sort_complex)
def sort_complex(xp: Any, a: Any) -> Native:
    a, axis = _sortable(xp, xp.asarray(a), -1)
    made = xp.prim.sort(a, axis)
    dtype = xp.dtype_of(a)
    if dtypes.category(dtype) == "complex":
        return made
    narrow = dtype.kind in "iu" and dtype.itemsize <= 2
    return xp.prim.astype(made, dtypes.COMPLEX64 if narrow else dtypes.COMPLEX128)


@implements(np.searchsorted, tables=(0,), each=1, returns="scalar")
def searchsorted(xp: Any, a: Any, v: Any, side: str = "left", sorter: Any = None) -> Native:
    if not isinstance(side, str):
        raise TypeError(f"search side must be str, not {type(side).__name__}")
    if side not in ("left", "right"):
        raise ValueError(f"search side must be 'left' or 'right' (got {side!r})")
    a, v = arrays(xp, a, v)
    shape = xp.shape_of(a)
    if len(shape) != 1:
        raise ValueError(f"object {'of too small depth' if not shape else 'too deep'} for desired array")
    to = dtypes.promote(xp.dtype_of(a), xp.dtype_of(v))
    if sorter is not None:
        sorter = xp.asarray(sorter, like=a)
        if xp.dtype_of(sorter).kind not in "iu":
            raise TypeError("sorter must only contain integers")
        if xp.shape_of(sorter) != shape:
            raise ValueError("sorter.size must equal a.size")
        if is_concrete(xp, sorter):
            host = to_host(xp, sorter)
            if host.size and (host.min() < 0 or host.max() >= shape[0]):
                raise ValueError("Sorter index out of range.")
        if shape[0]:
            a = xp.prim.take(a, xp.prim.astype(sorter, INTP), 0)
    if to == BOOL:
        to = np.dtype(np.uint8)
    if not shape[0] or 0 in xp.shape_of(v):
        return filled(xp, xp.shape_of(v), 0, INTP, a)
    a, v = xp.prim.astype(a, to), xp.prim.astype(v, to)
    try:
        return xp.prim.searchsorted(a, v, side)
    except Unsupported:
        if to.kind != "c":
            raise
        n, line = shape[0], flat(xp, v)
        ranks = _ranks(xp, xp.prim.concatenate([a, line], 0))
        found = xp.prim.searchsorted(along(xp, ranks, 0, 0, n), along(xp, ranks, 0, n, n + size_of(xp, v)), side)
        return xp.prim.reshape(found, xp.shape_of(v))


def _ranks(xp: Any, a: Native) -> Native:
    """Return integer ranks of a line of complex numbers, equal for equal numbers, for libraries that can only sort them."""
    n = xp.shape_of(a)[0]
    order = xp.prim.argsort(a, 0)
    ordered = xp.prim.take(a, order, 0)
    rises: Any = False
    for part in (xp.prim.real(ordered), xp.prim.imag(ordered)):
        before, after = along(xp, part, 0, 0, n - 1), along(xp, part, 0, 1, n)
        both = xp.logical_and(xp.isnan(before), xp.isnan(after))
        rises = xp.logical_or(rises, xp.logical_and(xp.not_equal(before, after), xp.logical_not(both)))
    steps = xp.prim.astype(rises, INTP)
    ranks = xp.prim.concatenate([filled(xp, (1,), 0, INTP, a), xp.cumsum(steps)], 0)
    return xp.prim.take(ranks, xp.prim.argsort(order, 0), 0)


# -- extremes --------------------------------------------------------------------------------------------------------


def _arg(xp: Any, a: Any, axis: Any, keepdims: Any, name: str) -> Native:
    a = xp.asarray(a)
    shape = xp.shape_of(a)
    if axis is None:
        line, at, kept = flat(xp, a), 0, (1,) * len(shape)
    elif not shape:
        axis_of(axis, 1)
        line, at, kept = flat(xp, a), 0, ()
    else:
        line, at = a, axis_of(axis, len(shape))
        kept = (*shape[:at], 1, *shape[at + 1 :])
    if not xp.shape_of(line)[at]:
        raise ValueError(f"attempt to get {name} of an empty sequence")
    if 0 in shape:
        final = tuple(n for i, n in enumerate(shape) if i != at)
        return filled(xp, kept if keepdims and keepdims is not NoValue else final, 0, INTP, a)
    try:
        result = getattr(xp.prim, name)(line, at)
    except Unsupported:
        if dtypes.category(xp.dtype_of(line)) != "complex":
            raise
        result = _arg_complex(xp, line, at, name)
    return xp.prim.reshape(result, kept) if keepdims and keepdims is not NoValue else result


def _arg_complex(xp: Any, a: Native, axis: int, name: str) -> Native:
    """Compute ``argmax`` or ``argmin`` (``name``) of complex numbers, on libraries that can sort but not compare complex numbers."""
    order = xp.prim.argsort(a, axis)
    n = xp.shape_of(a)[axis]
    end = along(xp, order, axis, n - 1, n) if name == "argmax" else along(xp, order, axis, 0, 1)
    nan = xp.isnan(a)
    any_nan = xp.logical_or.reduce(nan, axis=axis, keepdims=True)
    wanted = xp.prim.where(any_nan, nan, xp.equal(a, xp.prim.take_along_axis(a, end, axis)))
    return xp.prim.argmax(xp.prim.astype(wanted, INTP), axis)


@position(np.argmax, apart=True, light=True)
def argmax(xp: Any, a: Any, axis: Any = None, *, keepdims: Any = NoValue) -> Native:
    return _arg(xp, a, axis, keepdims, "argmax")


@position(np.argmin, apart=True, light=True)
def argmin(xp: Any, a: Any, axis: Any = None, *, keepdims: Any = NoValue) -> Native:
    return _arg(xp, a, axis, keepdims, "argmin")


def _without_nan(xp: Any, a: Any, axis: Any, instead: float) -> Native:
    a = xp.asarray(a)
    if not dtypes.is_floating(xp.dtype_of(a)):
        return a
    mask = xp.isnan(a)
    looked_at = is_concrete(xp, mask) and 0 not in xp.shape_of(mask)
    if looked_at and to_host(xp, xp.logical_and.reduce(mask, axis=axis)).any():
        raise ValueError("All-NaN slice encountered")
    return xp.prim.where(mask, scalar(xp, instead, xp.dtype_of(a), a), a)


@position(np.nanargmax)
def nanargmax(xp: Any, a: Any, axis: Any = None, *, keepdims: Any = NoValue) -> Native:
    return _arg(xp, _without_nan(xp, a, axis, -np.inf), axis, keepdims, "argmax")


@position(np.nanargmin)
def nanargmin(xp: Any, a: Any, axis: Any = None, *, keepdims: Any = NoValue) -> Native:
    return _arg(xp, _without_nan(xp, a, axis, np.inf), axis, keepdims, "argmin")


# -- where elements are true -----------------------------------------------------------------------------------------


@implements(np.nonzero, pure=False, kind="native")
def nonzero(xp: Any, a: Any) -> tuple[Native, ...]:
    a = xp.asarray(a)
    if not xp.shape_of(a):
        raise_for_shapes(np.nonzero, ())
    return tuple(xp.prim.nonzero(a))


@implements(np.flatnonzero, pure=False)
def flatnonzero(xp: Any, a: Any) -> Native:
    return xp.prim.nonzero(flat(xp, xp.asarray(a)))[0]


@implements(np.argwhere, pure=False, layout=layouts.columns)
def argwhere(xp: Any, a: Any) -> Native:
    a = xp.asarray(a)
    ndim = len(xp.shape_of(a))
    columns = xp.prim.nonzero(a if ndim else flat(xp, a))
    count = xp.shape_of(columns[0])[0]
    if not ndim:
        return filled(xp, (count, 0), 0, INTP, a)
    return xp.prim.concatenate([xp.prim.reshape(c, (count, 1)) for c in columns], 1)


@implements(np.count_nonzero, layout=layouts.copied, returns="scalar")
def count_nonzero(xp: Any, a: Any, axis: Any = None, *, keepdims: bool = False) -> Native:
    return xp.add.reduce(
        truth(xp, xp.asarray(a)),
        axis=axis,
        dtype=INTP,
        keepdims=(axis is not None or bool(keepdims)) and arguments.flag(keepdims),
    )


def _weak(xp: Any, value: Any, to: np.dtype[Any], like: Native) -> Native:
    if like is not None and type(value) is float and to.kind == "f" and to.itemsize >= 4:
        return filled(xp, (), dtypes.cast_scalar(value, to), to, like)
    return scalar(xp, np.asarray(value).astype(to)[()], to, like)


def _is_like_array(z: Any) -> bool:
    return isinstance(z, list | tuple) or hasattr(z, "__array__")


def _check_held(z: Any) -> None:
    """Raise :class:`Unsupported` for values that only the host can hold: None, strings, other objects."""
    if not isinstance(z, list | tuple) and dtypes.category(dtype := np.asarray(z).dtype) == "other":
        raise Unsupported(dtypes.only_on_host(dtype))


@implements(np.where, recorded=True, layout=layouts.broadcast)
def where(xp: Any, condition: Any, x: Any = NoValue, y: Any = NoValue, /) -> Any:
    if x is NoValue and y is NoValue:
        return nonzero(xp, condition)
    if x is NoValue or y is NoValue:
        raise ValueError("either both or neither of x and y should be given")
    is_array, dtype_of = xp.is_array, xp.dtype_of
    if (
        is_array(condition)
        and is_array(x)
        and is_array(y)
        and dtype_of(condition) is BOOL
        and dtype_of(x) is dtype_of(y)
    ):
        check_broadcast(xp, condition, x, y)
        return xp.prim.where(condition, x, y)
    like = first_native(xp, (condition, x, y))
    for z in (x, y):
        if not xp.is_array(z) and not isinstance(z, int | float | complex):
            _check_held(z)
    operands = [z if isinstance(z, np.generic) or not _is_like_array(z) else xp.asarray(z, like=like) for z in (x, y)]
    keys = [xp.dtype_of(z) if xp.is_array(z) else dtypes.operand_type(z) for z in operands]
    to = keys[0] if keys[0] is keys[1] and isinstance(keys[0], np.dtype) else dtypes.promote(*keys)
    # A Python int out of range wraps around here, as in NumPy, which casts unsafely.
    x, y = (xp.prim.astype(z, to) if xp.is_array(z) else _weak(xp, z, to, like) for z in operands)
    condition = truth(xp, condition if xp.is_array(condition) else xp.asarray(condition, like=like))
    check_broadcast(xp, condition, x, y)
    return xp.prim.where(condition, x, y)
