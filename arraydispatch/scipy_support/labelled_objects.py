"""``scipy.ndimage``: connected components of an array, and positions of labelled objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..functions.registry import XP
from ..runtime import dtypes
from . import implements
from .neighbourhoods import windows
from .operand_checks import array, every, only, plain

_NEEDS_64_BITS = 2**31 - 2


def _real(xp: XP, input: Any) -> Any:
    x = array(xp, input)
    if xp.dtype_of(x).kind == "c":
        raise TypeError("Complex type not supported")
    only(bool(xp.shape_of(x)) and 0 not in xp.shape_of(x), "an array without axes or elements")
    only(xp.backend.is_concrete(x), "how many parts there are is not known yet")
    return x


def _structure(xp: XP, structure: Any, ndim: int) -> np.ndarray[Any, Any]:
    """Return the connectivity of neighbours."""
    if structure is None:
        return np.abs(np.indices((3,) * ndim) - 1).sum(axis=0) <= 1
    known = np.asarray(plain(xp, structure), dtype=bool)
    if known.ndim != ndim:
        raise RuntimeError("structure and input must have equal rank")
    if set(known.shape) != {3}:
        raise ValueError("structure dimensions must be equal to 3")
    only(bool(np.array_equal(known, np.flip(known))), "a structure that is not symmetric")
    return known


@implements("scipy.ndimage.label", pure=False)
def label(xp: XP, input: Any, structure: Any = None, output: Any = None) -> Any:
    """Label components by pointers: every element points to another of its component, and finally to the component's first.

    A round redirects the element pointed to, to the least target among the neighbours; then every element
    follows the pointer of its target. The number of rounds is at most the logarithm of the longest path through a
    component.
    """
    x = _real(xp, input)
    only(xp.dtype_of(x) != dtypes.FLOAT16, "it is of 16 bits")
    shape = xp.shape_of(x)
    known = _structure(xp, structure, len(shape))
    size = int(np.prod(shape))
    only(not xp.is_array(output) and not isinstance(output, np.ndarray), "an output to write to")
    to = np.dtype((np.int64 if size >= _NEEDS_64_BITS else np.int32) if output is None else output)
    only(to.kind in "iu", f"labels of dtype {to}")
    device = xp.backend.device_of(x)
    inside = xp.not_equal(x, 0)
    flat = xp.prim.reshape(inside, (size,))
    places = xp.backend.from_numpy(np.arange(size), device)
    outside = xp.prim.full((), size, dtypes.INTP, device)  # background: points beyond all elements
    points = xp.prim.where(flat, places, outside)
    while True:
        at = windows(
            xp, xp.prim.reshape(points, shape), (3,) * len(shape), (0,) * len(shape), ["constant"] * len(shape), size
        )
        least = points
        for place in map(tuple, np.argwhere(known)):
            if place != (1,) * len(shape):
                least = xp.minimum(least, xp.prim.reshape(at(place), (size,)))
        if every(xp, xp.logical_or(xp.equal(least, points), xp.logical_not(flat))):
            break
        least = xp.prim.where(flat, least, outside)
        ends = xp.prim.scatter(
            xp.concatenate([points, xp.prim.full((1,), size, dtypes.INTP, device)]), (points,), least, "minimum"
        )
        ends = xp.prim.take(ends, ends, 0)
        points = xp.prim.take(ends, xp.prim.take(ends, points, 0), 0)
    first = xp.logical_and(flat, xp.equal(points, places))
    numbers = xp.cumsum(xp.prim.astype(first, dtypes.INTP))
    count = int(xp.backend.to_numpy(numbers)[-1])
    if count > np.iinfo(to).max:
        raise RuntimeError("insufficient bit-depth in requested output type")
    made = xp.prim.take(numbers, xp.minimum(points, size - 1), 0)
    zero = xp.prim.full((), 0, dtypes.INTP, device)
    return xp.prim.astype(xp.prim.reshape(xp.prim.where(flat, made, zero), shape), to), count


@implements("scipy.ndimage.find_objects", returns="any", pure=False)
def find_objects(xp: XP, input: Any, max_label: Any = 0) -> Any:
    x = _real(xp, input)
    only(xp.dtype_of(x).kind in "iu", "labels that are no integers")
    shape = xp.shape_of(x)
    x = xp.prim.reshape(xp.prim.astype(x, dtypes.INTP), (-1,))
    count = int(plain(xp, max_label))
    if count < 1:
        count = int(xp.backend.to_numpy(xp.maximum.reduce(x)))
    if count < 1:
        return []
    device = xp.backend.device_of(x)
    counted = xp.logical_and(xp.greater(x, 0), xp.less_equal(x, count))
    number = xp.prim.where(counted, x, xp.prim.full((), 0, dtypes.INTP, device))
    ends = []
    for axis, n in enumerate(shape):
        line = np.arange(n).reshape([n if i == axis else 1 for i in range(len(shape))])
        place = xp.backend.from_numpy(np.ascontiguousarray(np.broadcast_to(line, shape)).reshape(-1), device)
        for how, start in (("minimum", n), ("maximum", -1)):
            made = xp.prim.scatter(xp.prim.full((count + 1,), start, dtypes.INTP, device), (number,), place, how)
            ends.append(xp.backend.to_numpy(made)[1:].tolist())
    return [
        tuple(slice(low, high + 1, None) for low, high in zip(of[::2], of[1::2])) if of[1] >= 0 else None
        for of in zip(*ends)
    ]
