"""``np.pad``: each axis is assembled from slices in NumPy's order, so that corners and repeats agree."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..backends.base import Unsupported
from ..runtime import dtypes
from . import layouts
from .operands import along, to_host
from .registry import XP, implements

Pair = tuple[int, int]

_KEYWORDS: dict[str, str | None] = {
    "constant": "constant_values", "edge": None, "empty": None, "linear_ramp": "end_values", "maximum": "stat_length",
    "mean": "stat_length", "median": "stat_length", "minimum": "stat_length", "reflect": "reflect_type",
    "symmetric": "reflect_type", "wrap": None,
}  # fmt: skip


@implements(np.pad, layout=layouts.fortran, moves=True)
def pad(xp: XP, array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Any:
    """`numpy.pad`."""
    a = xp.asarray(array)
    shape = xp.shape_of(a)
    widths = _widths(xp, pad_width, len(shape))
    if callable(mode):
        raise Unsupported("a Python function fills each row of an ndarray")
    if mode not in _KEYWORDS:
        raise ValueError(f"mode '{mode}' is not supported")
    if unsupported := kwargs.keys() - {_KEYWORDS[mode]}:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {set(unsupported)}")
    if mode == "empty":
        padded = xp.prim.pad(a, widths, _scalar(0, xp.dtype_of(a)))
    elif mode == "constant":
        padded = _constant(xp, a, widths, kwargs.get("constant_values", 0))
    elif 0 in shape:
        for axis, pair in enumerate(widths):
            if shape[axis] == 0 and any(pair):
                raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
        padded = xp.prim.pad(a, widths, _scalar(0, xp.dtype_of(a)))
    else:
        padded = _MODES[mode](xp, a, widths, mode, kwargs)
    return xp.prim.copy(a) if padded is a else padded


# -- arguments -----------------------------------------------------------------------------------------------------------


def _widths(xp: XP, pad_width: Any, ndim: int) -> list[Pair]:
    if type(pad_width) is int and pad_width >= 0:  # the most frequent case needs no conversion to an ndarray
        return [(pad_width, pad_width)] * ndim
    if isinstance(pad_width, dict):
        pairs = [(0, 0)] * ndim
        for axis, width in pad_width.items():
            if isinstance(width, int):
                pairs[axis] = (width, width)
            elif isinstance(width, tuple) and len(width) == 2 and all(isinstance(w, int) for w in width):
                pairs[axis] = width
            else:
                raise AssertionError(f"Expected code to be unreachable, but got: {width!r}")
        pad_width = pairs
    pad_width = to_host(xp, pad_width)
    if pad_width.dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    return [(int(before), int(after)) for before, after in _pairs(pad_width, ndim, index=True)]


def _pairs(x: Any, ndim: int, index: bool = False) -> Any:
    """Return a pair (before, after) for each axis, broadcast from ``x``. ``index``: round to integers, which must not be negative."""
    if x is None:
        return [(None, None)] * ndim
    x = np.asarray(x)
    if index:
        x = np.round(x).astype(np.intp)
        if x.size and x.min() < 0:
            raise ValueError("index can't contain negative values")
    return np.broadcast_to(x, (ndim, 2))


def _scalar(value: Any, dtype: np.dtype[Any]) -> Any:
    """Convert a value to an element of the array, with the cast and errors of an assignment."""
    slot = np.empty(1, dtype)
    slot[0] = value
    return float(slot[0]) if dtypes.is_bfloat16(dtype) else slot.item()


# -- blocks --------------------------------------------------------------------------------------------------------------


def _along(shape: tuple[int, ...], axis: int, n: int) -> tuple[int, ...]:
    return (*shape[:axis], n, *shape[axis + 1 :])


def _joined(xp: XP, before: Any, a: Any, after: Any, axis: int) -> Any:
    parts = [x for x in (before, a, after) if x is not None]
    return a if len(parts) == 1 else xp.prim.concatenate(parts, axis)


def _spread(xp: XP, a: Any, values: tuple[Any, Any], axis: int, pair: Pair) -> Any:
    """Pad both sides of an axis by broadcasting one slice per side. ``values``: the two slices, of length 1 along the axis."""
    shape = xp.shape_of(a)
    dtype = xp.dtype_of(a)
    sides = [
        xp.prim.broadcast_to(xp.prim.astype(value, dtype), _along(shape, axis, width)) if width else None
        for value, width in zip(values, pair)
    ]
    return _joined(xp, sides[0], a, sides[1], axis)


# -- modes ---------------------------------------------------------------------------------------------------------------


def _constant(xp: XP, a: Any, widths: list[Pair], values: Any) -> Any:
    dtype = xp.dtype_of(a)
    if type(values) in (int, float):
        value = _scalar(np.asarray(values)[()], dtype)  # unlike a Python int, a NumPy scalar wraps around
        return xp.prim.pad(a, widths, value) if any(map(any, widths)) else a
    if xp.is_array(values):
        if math.prod(xp.shape_of(values)) == 1:  # one element stays on its device, and may be traced
            value = xp.prim.reshape(values, (1,) * len(widths))
            for axis, pair in enumerate(widths):
                a = _spread(xp, a, (value, value), axis, pair)
            return a
        values = xp.backend.to_numpy(values)
    pairs = _pairs(values, len(widths))
    used = {_scalar(v, dtype): v for width, pair in zip(widths, pairs) for w, v in zip(width, pair) if w}
    if len(used) <= 1:
        value = next(iter(used), _scalar(0, dtype))
        return xp.prim.pad(a, widths, value) if used else a
    for axis, (width, pair) in enumerate(zip(widths, pairs)):
        for side in (0, 1):
            if width[side]:
                one = [(0, 0)] * len(widths)
                one[axis] = (width[0], 0) if side == 0 else (0, width[1])
                a = xp.prim.pad(a, one, _scalar(pair[side], dtype))
    return a


def _edges(xp: XP, a: Any, axis: int) -> tuple[Any, Any]:
    n = xp.shape_of(a)[axis]
    return along(xp, a, axis, 0, 1), along(xp, a, axis, n - 1, n)


def _edge(xp: XP, a: Any, widths: list[Pair], _mode: str, _kwargs: dict[str, Any]) -> Any:
    for axis, pair in enumerate(widths):
        if any(pair):
            a = _spread(xp, a, _edges(xp, a, axis), axis, pair)
    return a


def _linear_ramp(xp: XP, a: Any, widths: list[Pair], _mode: str, kwargs: dict[str, Any]) -> Any:
    ends = kwargs.get("end_values", 0)
    ends = _pairs(xp.backend.to_numpy(ends) if xp.is_array(ends) else ends, len(widths))
    for axis, (pair, end) in enumerate(zip(widths, ends)):
        if any(pair):
            edges = _edges(xp, a, axis)
            left, right = (_ramp(xp, e, x, w, axis) if w else None for e, x, w in zip(end, edges, pair))
            a = _joined(xp, left, a, None if right is None else xp.prim.flip(right, (axis,)), axis)
    return a


def _ramp(xp: XP, end: Any, edge: Any, width: int, axis: int) -> Any:
    """Compute ``np.linspace(end, edge, width, endpoint=False)`` along the axis, in NumPy's order of operations."""
    dtype = xp.dtype_of(edge)
    to = dtypes.promote((np.ones((), end.dtype) * 1.0).dtype, dtypes.inexact(dtype))
    stop = xp.prim.astype(edge, to)
    start = xp.asarray(np.asarray(end).astype(to), like=edge)
    places = xp.prim.astype(xp.prim.iota(width, dtypes.INTP, xp.backend.device_of(edge)), to)
    places = xp.prim.reshape(places, _along((1,) * xp.ndim_of(edge), axis, width))
    delta = xp.subtract(stop, start)
    step = xp.divide(delta, width)
    ramp = xp.add(xp.multiply(places, step), start)
    if dtype.kind not in "iu":
        return xp.prim.astype(ramp, dtype)
    # np.linspace has another formula if any step is zero; the last bit matters because `floor` follows.
    careful = xp.add(xp.multiply(xp.divide(places, width), delta), start)
    any_zero = xp.logical_or.reduce(xp.equal(step, 0), axis=None)
    return xp.prim.astype(xp.floor(xp.prim.where(any_zero, careful, ramp)), dtype)


def _statistic(xp: XP, a: Any, widths: list[Pair], mode: str, kwargs: dict[str, Any]) -> Any:
    lengths = _pairs(kwargs.get("stat_length"), len(widths), index=kwargs.get("stat_length") is not None)
    functions: dict[str, Callable[[Any, int], Any]] = {
        "maximum": lambda x, i: xp.maximum.reduce(x, axis=i, keepdims=True),
        "minimum": lambda x, i: xp.minimum.reduce(x, axis=i, keepdims=True),
        "mean": lambda x, i: xp.mean(x, axis=i, keepdims=True),
        "median": lambda x, i: xp.median(x, axis=i, keepdims=True),
    }
    function = functions[mode]
    for axis, (pair, length) in enumerate(zip(widths, lengths)):
        n = xp.shape_of(a)[axis]
        left, right = (n if k is None else min(int(k), n) for k in length)
        if 0 in (left, right) and mode in ("maximum", "minimum"):
            raise ValueError("stat_length of 0 yields no value for padding")
        if not any(pair):
            continue
        first = _rounded(xp, function(along(xp, a, axis, 0, left), axis), a)
        last = first if left == right == n else _rounded(xp, function(along(xp, a, axis, n - right, n), axis), a)
        a = _spread(xp, a, (first, last), axis, pair)
    return a


def _rounded(xp: XP, statistic: Any, a: Any) -> Any:
    if xp.dtype_of(a).kind in "iu" and xp.dtype_of(statistic).kind == "f":
        return xp.rint(statistic)
    return statistic


def _reflect(xp: XP, a: Any, widths: list[Pair], mode: str, kwargs: dict[str, Any]) -> Any:
    odd = kwargs.get("reflect_type", "even") == "odd"
    repeat_edge = mode == "symmetric"
    for axis, (left, right) in enumerate(widths):
        n = xp.shape_of(a)[axis]
        if n == 1 and (left or right):
            a = _spread(xp, a, _edges(xp, a, axis), axis, (left, right))
            continue
        # Padding longer than the array is added in whole periods of the array as padded so far.
        period = n if repeat_edge else n - 1
        skip = 0 if repeat_edge else 1
        while left > 0 or right > 0:
            now = xp.shape_of(a)[axis]
            most = (now - skip) // period * period
            first, last = min(most, left), min(most, right)
            before = _mirrored(xp, a, axis, skip, skip + first, 0, odd) if first else None
            after = _mirrored(xp, a, axis, now - skip - last, now - skip, now - 1, odd) if last else None
            a = _joined(xp, before, a, after, axis)
            left, right = left - first, right - last
    return a


def _mirrored(xp: XP, a: Any, axis: int, begin: int, end: int, edge: int, odd: bool) -> Any:
    chunk = xp.prim.flip(along(xp, a, axis, begin, end), (axis,))
    if not odd:
        return chunk
    return xp.prim.astype(xp.subtract(xp.multiply(along(xp, a, axis, edge, edge + 1), 2), chunk), xp.dtype_of(a))


def _wrap(xp: XP, a: Any, widths: list[Pair], _mode: str, _kwargs: dict[str, Any]) -> Any:
    for axis, (left, right) in enumerate(widths):
        n = xp.shape_of(a)[axis]
        while left > 0 or right > 0:
            now = xp.shape_of(a)[axis]
            period = now // n * n
            first, last = min(period, left), min(period, right)
            before = along(xp, a, axis, period - first, period) if first else None
            after = along(xp, a, axis, now - period, now - period + last) if last else None
            a = _joined(xp, before, a, after, axis)
            left, right = left - first, right - last
    return a


_MODES: dict[str, Callable[..., Any]] = {
    "edge": _edge, "linear_ramp": _linear_ramp, "maximum": _statistic, "mean": _statistic, "median": _statistic,
    "minimum": _statistic, "reflect": _reflect, "symmetric": _reflect, "wrap": _wrap,
}  # fmt: skip
