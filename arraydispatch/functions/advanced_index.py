"""Advanced indexing on native arrays.

:func:`getitem` and :func:`setitem` take every key that ``ndarray`` takes and order the result's dimensions as NumPy does.
A key is parsed once: its integers and slices become one ``slice`` of the array. Elements at its index arrays are read by ``take``
(one array) or ``gather`` (several) and written by ``scatter``. The bounds of an index
are checked if its values are concrete; under a tracer negative indices are wrapped, and bounds are not checked.

:func:`setitem` returns the new value of the array. On a backend with mutable arrays this may be the array itself, written in place.
"""

from __future__ import annotations

import math
import operator
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from ..common.errors import listed
from ..common.user_warnings import real_of
from .operands import INTP, cast_into, filled, first_native, flat, scalar, to_host, unshared, upload

Native = Any

_BAD_INDEX = "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices"
_BAD_ARRAY = "arrays used as indices must be of integer (or boolean) type"

# -- the parts of a key ----------------------------------------------------------------------------------------------

_SMALL = 32
"""Number of indices up to which ``min`` and ``max`` of Python integers are faster than two reductions of the array."""

_NEW, _SLICE, _INT, _ARRAY = range(4)


class _Parsed(NamedTuple):
    """Key parsed for an array's shape, as three steps: slice the array, index the result, move its dimensions into place."""

    key: tuple[slice, ...]  # one per axis of the array, positive steps; whole for an index array
    whole: bool  # every slice covers its whole axis, and the key has no integers
    flips: tuple[int, ...]  # axes of `shape` whose slice has a negative step
    shape: tuple[int, ...]  # shape after slicing, less the axes removed by integer indices
    indexed: tuple[int, ...]  # axes of `shape` that have an index array
    indices: tuple[Any, ...]  # one native int64 array for each of these axes, in bounds, >= 0, all of one shape
    broadcast: tuple[int, ...]  # the shape that index arrays broadcast to
    place: int  # number of sliced axes before the index arrays' dimensions in the result
    newaxes: tuple[int, ...]  # axes of the result that newaxis inserts
    integers: tuple[int, ...]  # axes of the array that integers remove

    def kept(self) -> tuple[int, ...]:
        """Lengths of the axes without an index array."""
        return tuple(n for i, n in enumerate(self.shape) if i not in self.indexed)

    def result(self) -> tuple[int, ...]:
        """Shape of the result without new axes."""
        kept = self.kept()
        return kept[: self.place] + self.broadcast + kept[self.place :]

    def full(self) -> tuple[int, ...]:
        """Shape of the result."""
        lengths = iter(self.result())
        total = len(self.newaxes) + len(self.result())
        return tuple(1 if i in self.newaxes else next(lengths) for i in range(total))


def _is_integer(item: Any) -> bool:
    return isinstance(item, int | np.integer) and not isinstance(item, bool | np.bool_)


def _is_bool(item: Any) -> bool:
    return isinstance(item, bool | np.bool_)


def _index_array(xp: Any, item: Any) -> tuple[Any, np.dtype[Any], tuple[int, ...]]:
    """Return an index other than a plain integer as a native array or an ndarray, with its dtype and shape."""
    if xp.is_array(item):
        return item, xp.dtype_of(item), xp.shape_of(item)
    if isinstance(item, str | bytes):
        raise IndexError(_BAD_INDEX)
    if isinstance(item, np.ndarray):
        host = item
    elif hasattr(type(item), "__array__"):
        host = np.asarray(item)
    else:
        try:
            host = np.asarray(operator.index(item))
        except TypeError:
            host = to_host(xp, item)  # lists, and any other sequence or buffer
            if host.size == 0 and host.dtype.kind == "f":
                host = host.astype(np.int64)
    return host, host.dtype, host.shape


_MOST = 63
"""NumPy's limit on index arrays in one key; each True or False counts as one."""


def _parse(xp: Any, a: Native, shape: tuple[int, ...], key: Any) -> _Parsed:
    items: list[tuple[int, Any, int]] = []  # kind, value, number of axes consumed
    consumed = 0
    ellipsis = -1
    fancy = False
    for item in key if isinstance(key, tuple) else (key,):
        if item is None:
            items.append((_NEW, None, 0))
        elif item is Ellipsis:
            if ellipsis >= 0:
                raise IndexError("an index can only have a single ellipsis ('...')")
            ellipsis = len(items)
        elif isinstance(item, slice):
            items.append((_SLICE, item, 1))
            consumed += 1
        elif _is_integer(item):
            items.append((_INT, int(item), 1))
            consumed += 1
        elif _is_bool(item):
            items.append((_ARRAY, bool(item), 0))
            fancy = True
        else:
            array, dtype, its_shape = _index_array(xp, item)
            if dtype.kind == "b":
                taken = len(its_shape)
                if not taken:
                    array = bool(to_host(xp, array))
            elif dtype.kind in "iu":
                taken = 1
                if not its_shape and (not xp.is_array(array) or xp.backend.on_cpu(array)):
                    items.append((_INT, int(to_host(xp, array)), 1))
                    consumed += 1
                    continue
            else:
                raise IndexError(_BAD_ARRAY if xp.is_array(item) or isinstance(item, np.ndarray) else _BAD_INDEX)
            items.append((_ARRAY, array, taken))
            consumed += taken
            fancy = True
    ndim = len(shape)
    if consumed > ndim:
        raise IndexError(f"too many indices for array: array is {ndim}-dimensional, but {consumed} were indexed")
    if len(items) > _MOST and sum(kind == _ARRAY for kind, _, _ in items) > _MOST:
        raise IndexError(f"too many advanced (array) indices: there cannot be more than {_MOST}")
    whole_slices: list[tuple[int, Any, int]] = [(_SLICE, slice(None), 1)] * (ndim - consumed)
    adjacent = _adjacent(items, ellipsis) if fancy else True
    at = len(items) if ellipsis < 0 else ellipsis
    items[at:at] = whole_slices
    return _lay_out(xp, a, shape, items, adjacent)


def _adjacent(items: list[tuple[int, Any, int]], ellipsis: int) -> bool:
    """Whether the integers and index arrays of a key are adjacent; if so, their dimensions stay in place.

    As in NumPy, an ellipsis between two of them separates them even if the ellipsis covers no axis.
    """
    found = [i for i, (kind, _, _) in enumerate(items) if kind in (_INT, _ARRAY)]
    first, last = found[0], found[-1]
    return last - first + 1 == len(found) and not first < ellipsis <= last


def _lay_out(xp: Any, a: Native, shape: tuple[int, ...], items: list[tuple[int, Any, int]], adjacent: bool) -> _Parsed:
    key: list[slice] = []
    flips: list[int] = []
    integers: list[int] = []
    sliced: list[int] = []  # lengths of the axes that stay after the slice
    indexed: list[int] = []
    given: list[tuple[Any, int, int]] = []  # index array, length of its axis, the axis
    lone: list[tuple[int, ...]] = []  # shapes that True and False stand for: (1,) and (0,), along no axis
    whole = True
    axis = kept = 0
    place = -1
    layout: list[int] = []  # kinds of the result's axes: _SLICE, _NEW, and _ARRAY once for all index arrays
    for kind, value, taken in items:
        if kind == _NEW:
            layout.append(_NEW)
        elif kind == _SLICE:
            n = shape[axis]
            begin, length, step = _positive(value, n)
            if step < 0:
                flips.append(len(sliced))
            whole = whole and length == n
            key.append(slice(begin, begin + (length - 1) * abs(step) + 1 if length else begin, abs(step)))
            sliced.append(length)
            layout.append(_SLICE)
            kept += 1
            axis += 1
        else:
            if place < 0:
                place = kept
                layout.append(_ARRAY)
            if kind == _INT:
                n = shape[axis]
                if not -n <= value < n:
                    raise IndexError(f"index {value} is out of bounds for axis {axis} with size {n}")
                begin = value % n
                integers.append(axis)
                key.append(slice(begin, begin + 1, 1))
                whole = False
                axis += 1
            elif taken == 0:
                lone.append((int(value),))
            else:
                for index in _columns(xp, value, shape, axis):
                    n = shape[axis]
                    key.append(slice(0, n, 1))
                    indexed.append(len(sliced))
                    sliced.append(n)
                    given.append((index, n, axis))
                    axis += 1
    if not adjacent:
        layout.remove(_ARRAY)
        layout.insert(0, _ARRAY)
        place = 0
    indices, broadcast = _same_shape(xp, given, lone, a)
    newaxes = []
    position = 0
    for kind in layout:
        if kind == _NEW:
            newaxes.append(position)
        position += len(broadcast) if kind == _ARRAY else 1
    return _Parsed(
        tuple(key),
        whole,
        tuple(flips),
        tuple(sliced),
        tuple(indexed),
        indices,
        broadcast,
        max(place, 0),
        tuple(newaxes),
        tuple(integers),
    )


def _positive(item: slice, n: int) -> tuple[int, int, int]:
    """Return the lowest index that a slice of an axis of length n selects, the number of indices, and the step (1 for fewer than two)."""
    start, stop, step = item.indices(n)
    length = len(range(start, stop, step))
    if length == 0:
        return 0, 0, 1
    if length == 1:
        return start, 1, 1
    return (start if step > 0 else start + (length - 1) * step), length, step


def _columns(xp: Any, index: Any, shape: tuple[int, ...], axis: int) -> list[Any]:
    """Return the integer arrays that an index array stands for: ``[index]``, or one array of coordinates for each axis of a mask."""
    native = xp.is_array(index)
    dtype = xp.dtype_of(index) if native else index.dtype
    if dtype.kind != "b":
        return [index]
    its_shape = xp.shape_of(index) if native else index.shape
    for i, n in enumerate(its_shape):
        if n and n != shape[axis + i]:  # NumPy accepts an empty mask for an axis of any length: it selects nothing
            raise IndexError(
                f"boolean index did not match indexed array along axis {axis + i}; size of axis is {shape[axis + i]} "
                f"but size of corresponding boolean axis is {n}"
            )
    return list(xp.prim.nonzero(index) if native else np.nonzero(index))


def in_bounds(xp: Any, index: Any, n: int, axis: int | None = None) -> Any:
    """Return an integer array as int64 with negative entries wrapped; raise IndexError if one is out of bounds.

    ``index`` is a native array or an ndarray, and so is the result. Values of a tracer are wrapped and not checked.
    """
    backend, prim = xp.backend, xp.prim
    native = xp.is_array(index)
    if not native or backend.on_cpu(index):
        host = np.asarray(backend.to_numpy(index)) if native else index
        if host.size == 0:
            return prim.astype(index, INTP) if native else host.astype(np.int64)
        if host.size <= _SMALL:
            values = host.reshape(-1).tolist()
            low, high = min(values), max(values)
        else:
            low, high = int(host.min()), int(host.max())
    else:
        index = prim.astype(index, INTP)
        if 0 in xp.shape_of(index):
            return index
        if backend.is_concrete(index):
            ends = (
                prim.reshape(xp.minimum.reduce(index, axis=None), (1,)),
                prim.reshape(xp.maximum.reduce(index, axis=None), (1,)),
            )
            low, high = (int(x) for x in backend.to_numpy(prim.concatenate(list(ends), 0)))
        else:
            low, high = -1, -1
    if (low < -n or high >= n) and (not native or backend.is_concrete(index)):
        host = np.asarray(backend.to_numpy(index)) if native else index
        bad = host[(host < -n) | (host >= n)].flat[0]  # the first one, as NumPy does
        where = "" if axis is None else f"axis {axis} with "
        raise IndexError(f"index {bad} is out of bounds for {where}size {n}")
    if native:
        index = prim.astype(index, INTP)
        return prim.where(xp.less(index, 0), xp.add(index, n), index) if low < 0 else index
    index = index.astype(np.int64, copy=False)
    return np.where(index < 0, index + n, index) if low < 0 else index


def _same_shape(
    xp: Any, given: list[tuple[Any, int, int]], lone: list[tuple[int, ...]], a: Native
) -> tuple[tuple[Native, ...], tuple[int, ...]]:
    """Check the bounds of the index arrays ``given``; return them as native arrays, broadcast against each other and the shapes ``lone``,
    and their common shape.
    """
    shapes = [tuple(xp.shape_of(x) if xp.is_array(x) else x.shape) for x, _, _ in given] + lone
    if not shapes:
        return (), ()
    broadcast: Any = shapes[0]
    if any(shape != broadcast for shape in shapes):
        broadcast = None
        with suppress(ValueError):
            broadcast = np.broadcast_shapes(*shapes)
        if broadcast is None:
            said = " ".join(map(listed, shapes))
            raise IndexError(f"shape mismatch: indexing arrays could not be broadcast together with shapes {said} ")
    found = []
    for (x, n, axis), shape in zip(given, shapes):
        # If the broadcast index arrays are empty, NumPy does not check their values.
        index = x if 0 in broadcast else in_bounds(xp, x, n, axis)
        native = index if xp.is_array(index) else upload(xp, np.ascontiguousarray(index).reshape(shape), a)
        found.append(native if shape == broadcast else xp.prim.broadcast_to(native, broadcast))
    return tuple(found), broadcast


# -- reading ---------------------------------------------------------------------------------------------------------


def getitem(xp: Any, a: Native, key: Any) -> Native:
    """Return ``a[key]`` for every key that ``ndarray`` takes; the result may alias ``a`` where NumPy's is a view."""
    prim = xp.prim
    key = _mask_alone(xp, key, a)
    if xp.is_array(key):
        shape, dtype = xp.shape_of(a), xp.dtype_of(key)
        if dtype.kind == "b":
            its_shape = xp.shape_of(key)
            if its_shape and its_shape == shape:
                return prim.mask(a, key)
            if its_shape and its_shape == shape[: len(its_shape)] and 0 not in shape:
                rows = prim.nonzero(flat(xp, key))[0]
                return prim.take(prim.reshape(a, (-1, *shape[len(its_shape) :])), rows, 0)
        elif dtype.kind in "iu" and shape and shape[0]:
            return prim.take(a, in_bounds(xp, key, shape[0], 0), 0)
    elif type(key) is tuple and key and all(xp.is_array(k) and xp.dtype_of(k).kind in "iu" for k in key):
        shape, its_shape = xp.shape_of(a), xp.shape_of(key[0])
        alike = all(xp.shape_of(k) == its_shape for k in key[1:])
        if alike and len(key) <= len(shape) and 0 not in shape + its_shape:
            return prim.gather(a, tuple(in_bounds(xp, k, n, i) for i, (k, n) in enumerate(zip(key, shape))))
    parsed = _parse(xp, a, xp.shape_of(a), key)
    if 0 in parsed.result():
        return filled(xp, parsed.full(), 0, xp.dtype_of(a), a)
    x = _sliced(xp, a, parsed)
    if parsed.broadcast and not parsed.indices:  # a lone True: a copy, as for every advanced index
        x = unshared(xp, x)
    if parsed.flips:
        x = prim.flip(x, parsed.flips)
    place = parsed.place
    if len(parsed.indices) == 1:
        axis = parsed.indexed[0]
        if xp.backend.mutable:  # the result's memory order: the index array's axes vary slowest, as in NumPy
            x, axis = _front(xp, x, (axis,)), 0
        x = prim.take(x, parsed.indices[0], axis)
        x = _block_moved(xp, x, axis, len(parsed.broadcast), place)
    elif parsed.indices:
        x = prim.gather(_front(xp, x, parsed.indexed), parsed.indices)
        x = _block_moved(xp, x, 0, len(parsed.broadcast), place)
    shape = parsed.full()
    return x if xp.shape_of(x) == shape else prim.reshape(x, shape)


def _mask_alone(xp: Any, key: Any, a: Native) -> Any:
    """Return the key: unpacked if it is a tuple of one array or list, and as a native array if it is a mask on the host."""
    if type(key) is tuple and len(key) == 1 and (xp.is_array(key[0]) or isinstance(key[0], np.ndarray | list)):
        key = key[0]
    if isinstance(key, list) and key and first_native(xp, key) is None:
        host = np.asarray(key)
        return upload(xp, host, a) if host.dtype.kind == "b" else key
    if isinstance(key, np.ndarray) and key.ndim and key.dtype.kind == "b" and not xp.is_array(key):
        return xp.asarray(key, like=a)
    return key


def _sliced(xp: Any, a: Native, parsed: _Parsed) -> Native:
    """Apply the slices and integers of a key, without its flips."""
    x = a if parsed.whole else xp.prim.slice(a, parsed.key)
    return x if xp.shape_of(x) == parsed.shape else xp.prim.reshape(x, parsed.shape)


def _front(xp: Any, x: Native, axes: tuple[int, ...]) -> Native:
    """Move these axes to the front, in this order."""
    if axes == tuple(range(len(axes))):
        return x
    rest = tuple(i for i in range(len(xp.shape_of(x))) if i not in axes)
    return xp.prim.transpose(x, axes + rest)


def _block_moved(xp: Any, x: Native, source: int, width: int, destination: int) -> Native:
    """Move ``width`` adjacent axes, the first of which is at ``source``, so that the first is at ``destination``."""
    if source == destination or not width:
        return x
    ndim = len(xp.shape_of(x))
    rest = [i for i in range(ndim) if not source <= i < source + width]
    perm = rest[:destination] + list(range(source, source + width)) + rest[destination:]
    return xp.prim.transpose(x, tuple(perm))


# -- writing ---------------------------------------------------------------------------------------------------------


def setitem(xp: Any, a: Native, key: Any, value: Any, donate: bool = False) -> Native:
    """Return the value of ``a`` after ``a[key] = value``; a mutable native array may be written in place and returned.

    ``donate``: nothing else refers to the buffer of ``a``, so it may be reused. The result is ``a`` itself if there was
    nothing to write, and otherwise shares no buffer with ``value``.
    """
    prim = xp.prim
    shape, dtype = xp.shape_of(a), xp.dtype_of(a)
    value = element_value(xp, value, dtype, a)
    key = _mask_alone(xp, key, a)
    if not shape and xp.shape_of(value):
        _check_masked_element(xp, key, xp.shape_of(value))
    if xp.is_array(key):
        kind, its_shape = xp.dtype_of(key).kind, xp.shape_of(key)
        if kind == "b" and its_shape and its_shape == shape[: len(its_shape)]:
            return _set_where(xp, a, key, value)
        if kind in "iu" and shape and 0 not in shape:
            index = in_bounds(xp, key, shape[0], 0)
            target = its_shape + shape[1:]
            value = _fitted(xp, value, target)
            return _scatter(xp, a, (index,), value, donate) if 0 not in target else a
    parsed = _parse(xp, a, shape, key)
    value = _fitted(xp, value, parsed.full())
    result = parsed.result()
    if 0 in result:
        return a
    if xp.shape_of(value) != result:
        value = prim.reshape(value, result)
    place, width = parsed.place, len(parsed.broadcast)
    if parsed.indices and not xp.backend.mutable and _FEW * math.prod(result) <= math.prod(shape):
        return _scatter(xp, a, _everywhere(xp, a, parsed, result), value, donate)
    if parsed.indices:
        kept = parsed.kept()
        value = _block_moved(xp, value, place, width, 0)
        for axis in parsed.flips:
            if axis not in parsed.indexed:
                behind = sum(i < axis for i in range(len(parsed.shape)) if i not in parsed.indexed)
                value = prim.flip(value, (width + behind,))
        assert len(kept) + width == len(xp.shape_of(value))
        part = _front(xp, _sliced(xp, a, parsed), parsed.indexed)
        value = _scatter(xp, part, parsed.indices, value, donate and part is a)
        order = parsed.indexed + tuple(i for i in range(len(parsed.shape)) if i not in parsed.indexed)
        if order != tuple(range(len(order))):
            value = prim.transpose(value, tuple(int(i) for i in np.argsort(order)))
    else:
        if parsed.broadcast:  # a lone True
            value = prim.reshape(value, parsed.shape)
        if parsed.flips:
            value = prim.flip(value, parsed.flips)
    if parsed.whole:
        return value if parsed.indices else xp.backend.slice_update(a, parsed.key, value, donate)
    lengths = tuple(len(range(s.start, s.stop, s.step)) for s in parsed.key)
    if lengths != parsed.shape:
        value = prim.reshape(value, lengths)
    return xp.backend.slice_update(a, parsed.key, value, donate)


def _scatter(xp: Any, a: Native, indices: tuple[Any, ...], value: Native, donate: bool) -> Native:
    """Return ``a`` after ``a[indices] = value``. ``donate``: use the primitive that may reuse the buffer of ``a``, if there is one."""
    scatter = getattr(xp.prim, "scatter_donated", xp.prim.scatter) if donate else xp.prim.scatter
    return scatter(a, indices, value, "set")


_FEW = 16
"""Ratio: if index arrays select at most 1/16 of an immutable array, its elements are scattered one by one, and it is not sliced first."""


def _everywhere(xp: Any, a: Native, parsed: _Parsed, result: tuple[int, ...]) -> tuple[Native, ...]:
    """Return index arrays, one for each axis of ``a`` and of the result's shape, that select the same elements as the key."""
    prim, ndim, width, place = xp.prim, len(result), len(parsed.broadcast), parsed.place
    found: list[Native] = []
    # Axes so far that no integer removes; and how many of these have their own dimension in the result.
    stays = dims = 0
    for axis, part in enumerate(parsed.key):
        if axis in parsed.integers:
            found.append(filled(xp, result, part.start, INTP, a))
            continue
        if stays in parsed.indexed:
            index = parsed.indices[parsed.indexed.index(stays)]
            index = prim.reshape(index, (*parsed.broadcast, *(1,) * (ndim - place - width)))
        else:
            line = np.arange(part.start, part.stop, part.step)
            line = line[::-1].copy() if stays in parsed.flips else line
            before = dims if dims < place else dims + width
            index = upload(xp, line.reshape(-1, *(1,) * (ndim - before - 1)), a)
            dims += 1
        stays += 1
        found.append(prim.broadcast_to(index, result))
    return tuple(found)


def element_value(xp: Any, value: Any, dtype: np.dtype[Any], like: Native) -> Native:
    """Return a value as a native array of ``dtype``, that of the array it is assigned to; any cast is allowed, as in ``a[...] = value``.

    ``like``: native array on whose device the result is.
    """
    if isinstance(value, list | tuple) and first_native(xp, value) is not None:
        value = xp.asarray(value, like=like)
    if xp.is_array(value):
        return cast_into(xp, value, dtype)
    if isinstance(value, list | tuple):
        host = np.asarray(value, dtype)
    elif hasattr(value, "__array__") or isinstance(value, range):
        host = real_of(np.asarray(value), dtype).astype(dtype)
    else:
        host = np.empty((), dtype)
        host[()] = real_of(value, dtype)
        return scalar(xp, host[()], dtype, like)
    return upload(xp, host, like)


def _fitted(xp: Any, value: Native, target: tuple[int, ...]) -> Native:
    """Broadcast a value to the shape it is assigned to.

    As in NumPy, surplus leading axes are dropped if they have length 1, or if the value stays empty without them.
    """
    shape = xp.shape_of(value)
    if shape == target:
        return value
    short = shape[max(len(shape) - len(target), 0) :]
    if math.prod(short) != math.prod(shape):
        short = shape
    fits = len(short) <= len(target) and all(n in (1, m) for n, m in zip(short[::-1], target[::-1]))
    if not fits:
        raise ValueError(
            f"shape mismatch: value array of shape {listed(shape)} could not be broadcast to indexing result of shape "
            f"{listed(target)}"
        )
    if short != shape:
        value = xp.prim.reshape(value, short)
    return value if short == target else xp.prim.broadcast_to(value, target)


def _check_masked_element(xp: Any, key: Any, shape: tuple[int, ...]) -> None:
    """Raise NumPy's errors for a mask of rank 0 on an array of rank 0."""
    lone = key[0] if type(key) is tuple and len(key) == 1 else key
    if _is_bool(lone) or (isinstance(lone, np.ndarray) and lone.dtype.kind == "b" and not lone.ndim):
        _check_masked(shape, int(bool(lone)))
    elif xp.is_array(lone) and xp.dtype_of(lone).kind == "b" and not xp.shape_of(lone):
        _check_masked(shape, int(bool(to_host(xp, lone))))


def _check_masked(shape: tuple[int, ...], count: int) -> None:
    """Raise NumPy's errors for values of this shape assigned to the ``count`` elements of a mask."""
    if len(shape) > 1:
        raise TypeError(
            "NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, "
            f"input has {len(shape)} dimensions"
        )
    if shape and shape[0] not in (1, count):
        raise ValueError(
            f"NumPy boolean array indexing assignment cannot assign {shape[0]} input values "
            f"to the {count} output values where the mask is true"
        )


def _set_where(xp: Any, a: Native, mask: Native, value: Native) -> Native:
    """Return ``a`` after ``a[mask] = value``, for a mask over the leading axes."""
    prim = xp.prim
    shape, its_shape, value_shape = xp.shape_of(a), xp.shape_of(mask), xp.shape_of(value)
    rest = shape[len(its_shape) :]
    if not rest and len(value_shape) > 1:
        _check_masked(value_shape, 0)
    lead = len(value_shape) - len(rest)
    if lead <= 0 or all(n == 1 for n in value_shape[:lead]):  # every place where the mask is true gets the same values
        over = mask if not rest else prim.reshape(mask, its_shape + (1,) * len(rest))
        if lead > 0:
            value = prim.reshape(value, value_shape[lead:])
        if lead <= 0 or len(value_shape) > 1 or value_shape == (1,):
            _fitted(xp, value, rest)
        return prim.where(over, value, a)
    rows = prim.nonzero(flat(xp, mask))[0]
    count = xp.shape_of(rows)[0]
    if not rest:
        _check_masked(value_shape, count)
    value = _fitted(xp, value, (count, *rest))
    if not count or 0 in shape:
        return a
    lines = prim.reshape(a, (-1, *rest))
    return prim.reshape(prim.scatter(lines, (rows,), value, "set"), shape)
