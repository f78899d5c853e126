"""Common parts of the functions of ``scipy.ndimage``: dtypes of input and output, extension beyond the edges, sums
along an axis.

SciPy computes in double precision for every dtype, and casts to the output's dtype after each axis; so do these
functions.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..functions.operands import along
from ..functions.registry import XP
from ..runtime import dtypes
from .operand_checks import array, only, plain

PADDED = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "nearest": "edge", "mirror": "reflect", "wrap": "wrap",
    "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant",
}  # fmt: skip
"""SciPy's name of an extension mode -> NumPy's."""

MOST_TAPS = 400


def checked_dtype(xp: XP, x: Any, output: Any) -> np.dtype[Any]:
    """Return the dtype of the output; raise :class:`Unsupported` if SciPy has to compute the call, or the array is empty."""
    have = xp.dtype_of(x)
    to = have
    if output is not None:
        only(isinstance(output, type | np.dtype | str), "an array takes the output")
        to = np.dtype(output)
    for dtype in (have, to):
        known = dtype.kind in "iu" or dtype in (dtypes.FLOAT32, dtypes.FLOAT64)
        only(known, f"it is of dtype {dtype}")
    only(0 not in xp.shape_of(x), "an empty array")
    return to


def taken(xp: XP, input: Any, output: Any) -> tuple[Any, np.dtype[Any]]:
    """Return the array as float64, and the dtype of the output."""
    x = array(xp, input)
    to = checked_dtype(xp, x, output)
    return xp.prim.astype(x, dtypes.FLOAT64), to


def stored(xp: XP, x: Any, to: np.dtype[Any], given: Any = None) -> Any:
    """Cast to the dtype ``to`` as C does; a negative number to an unsigned integer is taken modulo.

    ``given``: array that may share memory with ``x``. If it does, ``x`` is copied, because SciPy's results never share memory.
    """
    made = xp.prim.astype(xp.prim.astype(x, dtypes.INTP) if to.kind == "u" else x, to)
    shared = given is not None and xp.backend.mutable and xp.is_array(given) and xp.backend.may_share(made, given)
    return xp.prim.copy(made) if shared else made


def through(xp: XP, x: Any, to: np.dtype[Any]) -> Any:
    return x if to == dtypes.FLOAT64 else xp.prim.astype(stored(xp, x, to), dtypes.FLOAT64)


def padding(mode: Any) -> str:
    only(isinstance(mode, str), "several modes, or none that has a name")
    if mode not in PADDED:
        raise RuntimeError("boundary mode not supported")
    return PADDED[mode]


def beyond(xp: XP, x: Any, axis: int, before: int, after: int, mode: str, cval: Any) -> Any:
    """Extend the array beyond its edges along an axis, by ``before`` and ``after`` elements, with values by ``mode`` (as of ``np.pad``)."""
    shape = xp.shape_of(x)
    if before < 0 or after < 0:
        raise ValueError("Invalid origin; origin must satisfy -(len(weights) // 2) <= origin <= (len(weights)-1) // 2")
    if not before and not after:
        return x
    if mode == "constant":
        pads = [(before, after) if i == axis else (0, 0) for i in range(len(shape))]
        return xp.prim.pad(x, pads, float(cval))
    places = np.pad(np.arange(shape[axis]), (before, after), mode=mode)  # type: ignore[call-overload]
    return xp.prim.take(x, xp.backend.from_numpy(places.astype(np.int64), xp.backend.device_of(x)), axis)


def each(xp: XP, value: Any, count: int) -> list[Any]:
    value = plain(xp, value)
    if isinstance(value, str) or not np.iterable(value):
        return [value] * count
    values = list(value)
    if len(values) != count:
        raise RuntimeError("sequence argument must have length equal to input rank")
    return values


def axes_of(axes: Any, ndim: int) -> list[int]:
    if axes is None:
        return list(range(ndim))
    axes = [operator.index(a) for a in (axes if np.iterable(axes) else (axes,))]
    for a in axes:
        if not -ndim <= a < ndim:
            raise ValueError(f"specified axis: {a} is out of range")
    axes = [a % ndim for a in axes]
    if len(set(axes)) != len(axes):
        raise ValueError("axes must be unique")
    return axes


def correlated(xp: XP, x: Any, weights: Any, axis: int, mode: str, cval: Any, origin: int) -> Any:
    """Correlate along one axis of float64s; symmetric weights multiply sums of two elements, as in SciPy."""
    weights = np.asarray(xp.backend.to_numpy(weights) if xp.is_array(weights) else weights, dtype=np.float64)
    if weights.ndim != 1 or not weights.size:
        raise RuntimeError("no filter weights given")
    size, n = weights.size, xp.shape_of(x)[axis]
    only(size <= MOST_TAPS, "so many weights")
    half = size // 2
    padded = beyond(xp, x, axis, half + origin, size - half - 1 - origin, mode, cval)

    def at(k: int) -> Any:
        return along(xp, padded, axis, k, k + n)

    eps = np.finfo(np.float64).eps
    left, right = weights[:half][::-1], weights[half + 1 :]
    sign = 0
    if size % 2 and size > 1:
        sign = 1 if np.all(np.abs(left - right) <= eps) else -1 if np.all(np.abs(left + right) <= eps) else 0
    if sign:
        total = xp.multiply(at(half), float(weights[half]))
        for k in range(half):
            pair = (xp.add if sign > 0 else xp.subtract)(at(k), at(size - 1 - k))
            total = xp.add(total, xp.multiply(pair, float(weights[k])))
        return total
    # SciPy begins with the last weight
    total = xp.multiply(at(size - 1), float(weights[size - 1]))
    for k in range(size - 1):
        total = xp.add(total, xp.multiply(at(k), float(weights[k])))
    return total
