"""Functions that select or replace elements by position; the engine of ``a[key]`` is in ``advanced_index``.

Bodies with ``mode="update"`` return the new value of their first argument. On a backend with mutable arrays they may have
written the argument in place.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from .._core import handles
from ..backends.base import Unsupported
from ..common import tracing
from ..common.user_warnings import warn_of_cast
from ..runtime import dtypes
from ..ufuncs.ufunc_methods import Bound
from . import layouts
from .advanced_index import element_value, getitem, in_bounds, setitem
from .operands import (
    BOOL,
    INTP,
    arrays,
    chosen,
    counting,
    filled,
    first_native,
    flat,
    is_concrete,
    lined,
    native_of,
    size_of,
    to_host,
    truth,
    unshared,
    upload,
    wrapped,
)
from .registry import XP, family, implements

__all__ = ["element_value", "getitem", "in_bounds", "setitem", "ufunc_at"]

Native = Any

updating = family(mode="update", returns="any")
moving = family(moves=True)


# -- selecting -------------------------------------------------------------------------------------------------------


def _check_clipmode(mode: Any) -> None:
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got '{mode}')")


def _folded(xp: Any, index: Native, n: int, mode: str) -> Native:
    return xp.remainder(index, n) if mode == "wrap" else xp.minimum(xp.maximum(index, 0), n - 1)


def _brought(xp: Any, index: Native, n: int, mode: str, what: str) -> Native:
    """Bring positions into ``[0, n)`` by ``mode``. For "raise", return them unchanged; raise ValueError, which calls them ``what``, if they
    are concrete and one is outside.
    """
    _check_clipmode(mode)
    if mode != "raise":
        return _folded(xp, index, n, mode)
    if is_concrete(xp, index):
        host = to_host(xp, index)
        if host.size and (host.min() < 0 or host.max() >= n):
            raise ValueError(f"invalid entry in {what} array")
    return index


def positions(xp: Any, index: Any, n: int, mode: str, axis: int | None, like: Native) -> Native:
    """Return the index argument of ``take`` and ``put`` as native int64 in ``[0, n)``, by mode, on the device of ``like``."""
    _check_clipmode(mode)
    if xp.is_array(index) or isinstance(index, np.ndarray):  # NumPy converts numbers and sequences item by item
        dtypes.check_cast(xp.dtype_of(index) if xp.is_array(index) else index.dtype, INTP, "same_kind")
    if not xp.is_array(index):
        index = np.asarray(to_host(xp, index), np.int64)
        if mode == "raise":
            return upload(xp, np.asarray(in_bounds(xp, index, n, axis)), like)
        index = upload(xp, index, like)
    index = xp.prim.astype(index, INTP)
    return in_bounds(xp, index, n, axis) if mode == "raise" else _folded(xp, index, n, mode)


@moving(np.take, tables=(0,), into=("casts",), returns="scalar")
def take(xp: Any, a: Any, indices: Any, axis: Any = None, mode: str = "raise") -> Native:
    if not xp.is_array(a):
        a = xp.asarray(a, like=indices if xp.is_array(indices) else None)
    a, axis = lined(xp, a, axis)
    shape = xp.shape_of(a)
    n = shape[axis]
    if not n:
        host_or_native = indices if xp.is_array(indices) else np.asarray(indices)
        wanted = tuple(host_or_native.shape)
        if hasattr(indices, "dtype"):
            dtypes.check_cast(xp.dtype_of(host_or_native), INTP, "same_kind")
        if 0 not in wanted and 0 not in shape[:axis] + shape[axis + 1 :]:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        return filled(xp, (*shape[:axis], *wanted, *shape[axis + 1 :]), 0, xp.dtype_of(a), a)
    return xp.prim.take(a, positions(xp, indices, n, mode, axis, a), axis)


def _along_axis_key(xp: Any, shape: tuple[int, ...], indices: Any, axis: int) -> tuple[Any, ...]:
    """Return the key for which ``a[key]`` equals ``take_along_axis``; raise NumPy's errors for the indices."""
    if not hasattr(indices, "dtype"):
        raise AttributeError(f"'{type(indices).__name__}' object has no attribute 'dtype'")
    if xp.dtype_of(indices).kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if len(shape) != len(xp.shape_of(indices)):
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    key: list[Any] = []
    for i, n in enumerate(shape):
        if i == axis:
            key.append(indices)
        else:
            key.append(np.arange(n).reshape((1,) * i + (n,) + (1,) * (len(shape) - i - 1)))
    return tuple(key)


@moving(np.take_along_axis)
def take_along_axis(xp: Any, arr: Any, indices: Any, axis: Any = -1) -> Native:
    arr = arrays(xp, arr, *([indices] if xp.is_array(indices) else []))[0]
    if isinstance(indices, np.ndarray):
        indices = upload(xp, indices, arr) if not xp.is_array(indices) else indices
    if axis is None:
        if len(xp.shape_of(indices)) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, axis = flat(xp, arr), 0
    shape = xp.shape_of(arr)
    axis = normalize_axis_index(axis, len(shape))
    key = _along_axis_key(xp, shape, indices, axis)
    its_shape = xp.shape_of(indices)
    if all(n == m for i, (n, m) in enumerate(zip(shape, its_shape)) if i != axis) and shape[axis]:
        return xp.prim.take_along_axis(arr, in_bounds(xp, indices, shape[axis], axis), axis)
    return getitem(xp, arr, key)


@moving(np.compress, pure=False, into=("casts",))
def compress(xp: Any, condition: Any, a: Any, axis: Any = None) -> Native:
    a = arrays(xp, a, condition)[0]
    shape = xp.shape_of(condition) if xp.is_array(condition) else np.shape(condition)
    if len(shape) != 1:
        raise ValueError("condition must be a 1-d array")
    a, axis = lined(xp, a, axis)
    rows = chosen(xp, condition, a)
    n = xp.shape_of(a)[axis]
    if shape[0] > n:
        if not n and xp.shape_of(rows)[0]:
            raise IndexError("cannot do a non-empty take from an empty axes.")
        rows = in_bounds(xp, rows, n, axis)
    if not n:
        return unshared(xp, a)
    return xp.prim.take(a, rows, axis)


@moving(np.extract, pure=False)
def extract(xp: Any, condition: Any, arr: Any) -> Native:
    arr = arrays(xp, arr, condition)[0]
    return take(xp, flat(xp, arr), chosen(xp, condition, arr))


@moving(np.choose, into=("casts",), layout=layouts.c, returns="scalar")
def choose(xp: Any, a: Any, choices: Any, mode: str = "raise") -> Native:
    _check_clipmode(mode)
    like = first_native(xp, (a, choices))
    a = xp.asarray(a, like=like)
    dtypes.check_cast(xp.dtype_of(a), INTP)
    if xp.is_array(choices):
        options = [getitem(xp, choices, i) for i in range(xp.shape_of(choices)[0])]
    else:
        options = [xp.asarray(c, like=like) if isinstance(c, list | tuple) else c for c in choices]
    if not options:
        raise ValueError("0-length sequence.")
    keys = [xp.dtype_of(c) if xp.is_array(c) else dtypes.operand_type(c) for c in options]
    to = dtypes.promote(*keys)
    options = [xp.asarray(c, like=a) for c in options]
    shape = np.broadcast_shapes(*[xp.shape_of(c) for c in options], xp.shape_of(a))
    n = len(options)
    index = _brought(xp, xp.prim.astype(a, INTP), n, mode, "choice")
    result = xp.prim.broadcast_to(xp.prim.astype(options[0], to), shape)
    for i in range(1, n):
        result = xp.prim.where(xp.equal(index, i), xp.prim.astype(options[i], to), result)
    return unshared(xp, result) if n == 1 else result


# -- replacing -------------------------------------------------------------------------------------------------------


def _cycled(xp: Any, values: Native, n: int) -> Native:
    """Repeat values cyclically, or cut them, to length ``n``."""
    have = xp.shape_of(values)[0]
    if have == n:
        return values
    if have == 1:
        return xp.prim.broadcast_to(values, (n,))
    if have > n:
        return xp.prim.slice(values, (slice(0, n, 1),))
    return xp.prim.take(values, xp.remainder(counting(xp, n, values), have), 0)


@updating(np.put, refusal="put: output array is read-only")
def put(xp: Any, a: Native, ind: Any, v: Any, mode: str = "raise") -> Native:
    shape = xp.shape_of(a)
    values = flat(xp, element_value(xp, v, xp.dtype_of(a), a))
    if 0 in shape and size_of(xp, xp.asarray(ind, like=a)):
        raise IndexError("cannot replace elements of an empty array")
    index = flat(xp, positions(xp, ind, size_of(xp, a), mode, 0, a))
    count = xp.shape_of(index)[0]
    if not count or not xp.shape_of(values)[0]:
        return a
    return xp.prim.reshape(xp.prim.scatter(flat(xp, a), (index,), _cycled(xp, values, count), "set"), shape)


@updating(np.put_along_axis)
def put_along_axis(xp: Any, arr: Native, indices: Any, values: Any, axis: Any) -> Native:
    shape = xp.shape_of(arr)
    if isinstance(indices, np.ndarray) and not xp.is_array(indices):
        indices = upload(xp, indices, arr)
    if axis is None:
        if len(xp.shape_of(indices)) != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        line = flat(xp, arr)
        return xp.prim.reshape(setitem(xp, line, _along_axis_key(xp, xp.shape_of(line), indices, 0), values), shape)
    axis = normalize_axis_index(axis, len(shape))
    return setitem(xp, arr, _along_axis_key(xp, shape, indices, axis), values)


def _check_safe(xp: Any, values: Any, target: Native) -> None:
    """Check the cast of ``putmask`` and ``place``: sequences and scalars may be cast freely, arrays only without loss."""
    if xp.is_array(values) or isinstance(values, np.ndarray):
        dtypes.check_cast(xp.dtype_of(values) if xp.is_array(values) else values.dtype, xp.dtype_of(target))


@updating(np.putmask, refusal="putmask: output array is read-only")
def putmask(xp: Any, a: Native, /, mask: Any, values: Any) -> Native:
    shape = xp.shape_of(a)
    mask = truth(xp, xp.asarray(mask, like=a))
    if size_of(xp, mask) != size_of(xp, a):
        raise ValueError("putmask: mask and data must be the same size")
    _check_safe(xp, values, a)
    values = flat(xp, element_value(xp, values, xp.dtype_of(a), a))
    if not xp.shape_of(values)[0] or 0 in shape:
        return a
    if xp.shape_of(values)[0] == 1:
        values = xp.prim.reshape(values, ())
    else:
        values = xp.prim.reshape(_cycled(xp, values, size_of(xp, a)), shape)
    return xp.prim.where(xp.prim.reshape(mask, shape), values, a)


@updating(np.place, refusal="WRITEBACKIFCOPY base is read-only")
def place(xp: Any, arr: Native, mask: Any, vals: Any) -> Native:
    shape = xp.shape_of(arr)
    mask = truth(xp, xp.asarray(mask, like=arr))
    if size_of(xp, mask) != size_of(xp, arr):
        raise ValueError("place: mask and data must be the same size")
    _check_safe(xp, vals, arr)
    values = flat(xp, element_value(xp, vals, xp.dtype_of(arr), arr))
    n = xp.shape_of(values)[0]
    if not n:
        if is_concrete(xp, mask) and bool(to_host(xp, mask).any()):
            raise ValueError("Cannot insert from an empty array!")
        return arr
    if 0 in shape:
        return arr
    if n == 1:
        values = xp.prim.reshape(values, ())
    else:
        rank = xp.subtract(xp.add.accumulate(xp.prim.astype(flat(xp, mask), INTP), axis=0), 1)
        values = xp.prim.reshape(xp.prim.take(values, xp.remainder(rank, n), 0), shape)
    return xp.prim.where(xp.prim.reshape(mask, shape), values, arr)


@updating(np.fill_diagonal, refusal="underlying array is read-only")
def fill_diagonal(xp: Any, a: Native, val: Any, wrap: bool = False) -> Native:
    shape = xp.shape_of(a)
    if len(shape) < 2:
        raise ValueError("array must be at least 2-d")
    size = size_of(xp, a)
    end = size
    if len(shape) == 2:
        step = shape[1] + 1
        if not wrap:
            end = min(size, shape[1] * shape[1])
    else:
        if any(n != shape[0] for n in shape):
            raise ValueError("All dimensions of input must be of equal length")
        step = 1 + sum(math.prod(shape[:i]) for i in range(1, len(shape)))
    count = len(range(0, end, step))
    values = flat(xp, element_value(xp, val, xp.dtype_of(a), a))
    if not count or not xp.shape_of(values)[0]:
        return a
    key = (slice(0, (count - 1) * step + 1, step),)
    return xp.prim.reshape(xp.prim.slice_update(flat(xp, a), key, _cycled(xp, values, count)), shape)


# -- making indices --------------------------------------------------------------------------------------------------


@moving(np.diag_indices_from, keeps=lambda made, arr: made[:1] * len(made))
def diag_indices_from(xp: Any, arr: Native) -> tuple[Native, ...]:
    shape = xp.shape_of(xp.asarray(arr))
    if len(shape) < 2:
        raise ValueError("input array must be at least 2-d")
    if any(n != shape[0] for n in shape):
        raise ValueError("All dimensions of input must be of equal length")
    return (counting(xp, shape[0], arr),) * len(shape)


def _triangle_from(xp: Any, arr: Native, k: int, indices: Any) -> tuple[Native, ...]:
    shape = xp.shape_of(xp.asarray(arr))
    if len(shape) != 2:
        raise ValueError("input array must be 2-d")
    return tuple(upload(xp, x, arr) for x in indices(shape[0], k=k, m=shape[1]))


@moving(np.tril_indices_from)
def tril_indices_from(xp: Any, arr: Native, k: int = 0) -> tuple[Native, ...]:
    return _triangle_from(xp, arr, k, np.tril_indices)


@moving(np.triu_indices_from)
def triu_indices_from(xp: Any, arr: Native, k: int = 0) -> tuple[Native, ...]:
    return _triangle_from(xp, arr, k, np.triu_indices)


@implements(np.ix_, pure=False, mode="arrays", sequence=True)
def ix_(xp: Any, *args: Any) -> tuple[Any, ...]:
    like = native_of(xp, next(x for x in args if isinstance(x, handles.Handle)))
    found = []
    for i, x in enumerate(args):
        empty = not isinstance(x, handles.Handle | np.ndarray) and not np.size(x)
        x = wrapped(xp, np.zeros(np.shape(x), INTP) if empty else x, like)
        if x.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if x.dtype == BOOL:
            x = np.nonzero(x)[0]
        found.append(np.reshape(x, (1,) * i + (-1 if x.size else 0,) + (1,) * (len(args) - i - 1)))
    return tuple(found)


def _radices(dims: tuple[int, ...], order: str) -> list[int]:
    if order not in ("C", "F"):
        if order in ("A", "K"):
            raise TypeError("only 'C' or 'F' order is permitted")
        raise ValueError(f"order must be one of 'C', 'F', 'A', or 'K' (got {order!r})")
    if order == "C":
        return [math.prod(dims[i + 1 :]) for i in range(len(dims))]
    return [math.prod(dims[:i]) for i in range(len(dims))]


@moving(np.unravel_index, returns="scalar")
def unravel_index(xp: Any, indices: Any, shape: Any, order: str = "C") -> tuple[Native, ...]:
    index = xp.asarray(indices)
    dims = (operator.index(shape),) if isinstance(shape, int | np.integer) else tuple(operator.index(n) for n in shape)
    if xp.dtype_of(index).kind not in "biu":
        raise TypeError("only int indices permitted")
    index = xp.prim.astype(index, INTP)
    size = math.prod(dims)
    if is_concrete(xp, index):
        host = to_host(xp, index)
        if host.size and (host.min() < 0 or host.max() >= size):
            bad = host[(host < 0) | (host >= size)].flat[0] if host.ndim else host
            raise ValueError(f"index {bad} is out of bounds for array with size {size}")
    found = []
    for n, radix in zip(dims, _radices(dims, order)):
        digit = xp.floor_divide(index, radix) if radix != 1 else index
        found.append(xp.remainder(digit, n))
    return tuple(found)


@moving(np.ravel_multi_index, sequence=True, returns="scalar")
def ravel_multi_index(xp: Any, multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Native:
    dims = (operator.index(dims),) if isinstance(dims, int | np.integer) else tuple(operator.index(n) for n in dims)
    if xp.is_array(multi_index):
        columns = [getitem(xp, multi_index, i) for i in range(xp.shape_of(multi_index)[0])]
    else:
        columns = arrays(xp, *multi_index)
    if len(columns) != len(dims):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(dims)}")
    modes = (mode,) * len(dims) if isinstance(mode, str) else tuple(mode)
    if len(modes) != len(dims):
        raise ValueError(
            f"parameter mode must be a sequence of length {len(dims)}" if modes else "clipmode not understood"
        )
    if 0 in dims and all(0 not in xp.shape_of(index) for index in columns):
        raise ValueError("cannot unravel if shape has zero entries (is empty).")
    given, total = columns, None
    for index, n, how, radix in zip(columns, dims, modes, _radices(dims, order)):
        if xp.dtype_of(index).kind not in "biu":
            raise TypeError("only int indices permitted")
        index = _brought(xp, xp.prim.astype(index, INTP), n, how, "coordinates")
        part = xp.multiply(index, radix) if radix != 1 else index
        total = part if total is None else xp.add(total, part)
    return unshared(xp, total) if any(total is x for x in given) else total


# -- ufunc.at ----------------------------------------------------------------------------------------------------------

_SCATTER: dict[np.ufunc, str] = {
    np.add: "add", np.subtract: "add", np.multiply: "multiply", np.maximum: "maximum", np.minimum: "minimum",
}  # fmt: skip


def ufunc_at(xp: XP, ufunc: np.ufunc, a: Native, indices: Any, b: Any = None, known: Any = None) -> Native:
    """Return the array after ``ufunc.at(a, indices, b)``: repeated indices accumulate, casts are unsafe.

    ``known``: the selected positions in the flattened array, an ndarray of the selection's shape. It takes the place of ``indices`` in a
    trace, where the library does not know their values.
    """
    prim, backend = xp.prim, xp.backend
    shape, dtype = xp.shape_of(a), xp.dtype_of(a)
    size = int(np.prod(shape))
    if known is None:
        places = getitem(xp, prim.reshape(prim.iota(size, dtypes.INTP, backend.device_of(a)), shape), indices)
        spread = xp.shape_of(places)
        places = flat(xp, places)
        known = to_host(xp, places) if is_concrete(xp, places) else None
    else:
        places, spread, known = xp.asarray(known.ravel(), like=a), known.shape, known.ravel()
    line = prim.reshape(prim.copy(a) if backend.mutable else a, (size,))
    if ufunc.nin == 1:
        return prim.reshape(_in_rounds(xp, ufunc, line, known), shape)
    b = xp.asarray(b, like=a)
    loop = dtypes.loop_dtypes(ufunc, (dtype, xp.dtype_of(b)))
    warn_of_cast(loop[-1], dtype)
    have = xp.shape_of(b)
    if len(have) > len(spread) or any(n not in (1, m) for n, m in zip(have[::-1], spread[::-1])):
        raise ValueError("array is not broadcastable to correct shape")
    value = flat(xp, prim.broadcast_to(b, spread))
    how, to = _SCATTER.get(ufunc, ""), loop[-1]
    wraps = dtype.kind in "iu" and to.kind in "iu" and how in ("add", "multiply")
    # Libraries cannot scatter with maximum or minimum of complex numbers.
    ordered = how in ("maximum", "minimum") and to.kind == "c"
    # Few libraries have a derivative of the product of all values that go to one place.
    traced = how == "multiply" and known is not None and bool(tracing.entered())
    if not how or ordered or traced or not (wraps or (dtype.kind == to.kind and dtype.kind in "fc") or to == dtype):
        return prim.reshape(_in_rounds(xp, ufunc, line, known, value), shape)
    if wraps:
        to = dtype
    value = prim.astype(value, to)
    if ufunc is np.subtract:
        value = xp.negative(value)
    return prim.reshape(prim.astype(prim.scatter(prim.astype(line, to), (places,), value, how), dtype), shape)


def _in_rounds(xp: XP, ufunc: np.ufunc, line: Native, places: Any, value: Native | None = None) -> Native:
    """Apply a ufunc at ``places`` of a 1-d array, some of which repeat: at once to all first occurrences, then to all second ones, and so
    on.

    ``places``: an ndarray, or None if their values are traced; then Unsupported is raised.
    """
    prim, dtype = xp.prim, xp.dtype_of(line)
    call = Bound(ufunc, xp.backend)
    if places is None:
        raise Unsupported(f"how often an index repeats decides what {ufunc.__name__}.at does")
    if not places.size:
        empty = prim.slice(line, (slice(0, 0, 1),))
        call(empty) if value is None else call(empty, value)
        return line
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    count = np.arange(places.size)
    visit = count - np.maximum.accumulate(np.where(np.diff(ordered, prepend=-1) != 0, count, 0))
    for round_ in range(int(visit.max()) + 1):
        now = visit == round_
        at = xp.asarray(ordered[now], like=line)
        operand = prim.take(line, at, 0)
        made = call(operand) if value is None else call(operand, prim.take(value, xp.asarray(order[now], like=line), 0))
        line = prim.scatter(line, (at,), prim.astype(made, dtype), "set")
    return line
