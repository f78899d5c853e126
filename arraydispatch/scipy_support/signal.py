"""``scipy.signal``: convolutions, and functions computed from them."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..common.signal_safety import imported
from ..common.user_warnings import warn
from ..functions import convolutions, fft as transforms
from ..functions.contractions import conjugate
from ..functions.operands import along
from ..functions.registry import XP
from ..runtime import dtypes
from . import implements
from .neighbourhoods import median_filter
from .operand_checks import array, only

_TAPS = 128
_MODES = ("valid", "same", "full")
_WINDOWS = 1 << 24
"""Maximum number of elements in the windows of a 2-d convolution."""


def _pair(xp: XP, in1: Any, in2: Any) -> tuple[Any, Any]:
    a, v = array(xp, in1, in2), array(xp, in2, in1)
    for x in (a, v):
        only(xp.dtype_of(x) != dtypes.FLOAT16 and not dtypes.is_bfloat16(xp.dtype_of(x)), "it is of 16 bits")
    return a, v


def _swaps(mode: str, left: tuple[int, ...], right: tuple[int, ...]) -> bool:
    """Whether SciPy swaps the arrays of shapes ``left`` and ``right``: in mode "valid" if the second is the larger in every dimension. Raise
    SciPy's error if neither array is.
    """
    if mode != "valid" or not left:
        return False
    first, second = (all(n >= m for n, m in zip(*pair)) for pair in ((left, right), (right, left)))
    if not first and not second:
        raise ValueError("For 'valid' mode, one must be at least as large as the other in every dimension")
    return not first


def _cut(xp: XP, full: Any, left: tuple[int, ...], right: tuple[int, ...], mode: str, axes: Any) -> Any:
    """Return the central part of a full convolution that the mode selects. ``left``, ``right``: shapes of the operands."""
    if mode == "full":
        return full
    shape = xp.shape_of(full)
    wanted = [n if mode == "same" or i not in axes else n - right[i] + 1 for i, n in enumerate(left)]
    if mode == "valid":
        wanted = [shape[i] if i not in axes else w for i, w in enumerate(wanted)]
    key = []
    for have, want in zip(shape, wanted):
        start = (have - want) // 2
        key.append(slice(start, start + want, 1))
    return xp.prim.slice(full, tuple(key))


def _by_spectrum(xp: XP, a: Any, v: Any, axes: list[int]) -> Any:
    """Compute the full convolution along axes, by Fourier transforms."""
    if not axes:
        return xp.multiply(a, v)
    imported("scipy.fft")
    from scipy.fft import next_fast_len

    left, right = xp.shape_of(a), xp.shape_of(v)
    is_complex = "c" in (xp.dtype_of(a).kind, xp.dtype_of(v).kind)
    to = np.result_type(dtypes.inexact(xp.dtype_of(a)), dtypes.inexact(xp.dtype_of(v)))
    a, v = xp.prim.astype(a, to), xp.prim.astype(v, to)
    sizes = [left[i] + right[i] - 1 for i in axes]
    fast = [next_fast_len(n, not is_complex) for n in sizes]
    forward, back = (transforms.fftn, transforms.ifftn) if is_complex else (transforms.rfftn, transforms.irfftn)
    made = back(xp, xp.multiply(forward(xp, a, fast, axes), forward(xp, v, fast, axes)), fast, axes)
    for i, n in zip(axes, sizes):
        made = along(xp, made, i, 0, n)
    return made


def _by_taps(xp: XP, a: Any, v: Any) -> Any:
    """Compute the full convolution, as a sum of shifted copies."""
    to = np.result_type(xp.dtype_of(a), xp.dtype_of(v))
    a, v = xp.prim.astype(a, to), xp.prim.astype(v, to)
    if math.prod(xp.shape_of(v)) > math.prod(xp.shape_of(a)):
        a, v = v, a
    left, right = xp.shape_of(a), xp.shape_of(v)
    shape = tuple(n + m - 1 for n, m in zip(left, right))
    padded = xp.prim.pad(a, [(m - 1, m - 1) for m in right], to.type(0).item())
    total: Any = None
    for place in np.ndindex(right):
        tap = xp.prim.slice(v, tuple(slice(p, p + 1, 1) for p in place))
        moved = xp.prim.slice(padded, tuple(slice(m - 1 - p, m - 1 - p + n, 1) for p, m, n in zip(place, right, shape)))
        term = xp.multiply(moved, tap)
        total = term if total is None else xp.add(total, term)
    return total


_NOT_FINITE = "Use of fft convolution on input with NAN or inf results in NAN or inf output. Consider using method='direct' instead."


def _convolved(xp: XP, a: Any, v: Any, mode: Any, method: Any) -> Any:
    left, right = xp.shape_of(a), xp.shape_of(v)
    if not left and not right:
        return xp.multiply(a, v)
    if len(left) != len(right):
        raise ValueError("volume and kernel should have the same dimensionality")
    if mode not in _MODES:
        raise ValueError("Acceptable mode flags are 'valid', 'same', or 'full'.")
    if method not in ("auto", "direct", "fft"):
        raise ValueError("Acceptable method flags are 'auto', 'direct', or 'fft'.")
    only(0 not in left and 0 not in right, "an empty array")
    if _swaps(mode, left, right):
        a, v, left, right = v, a, right, left
    to = np.result_type(xp.dtype_of(a), xp.dtype_of(v))
    only(to.kind in "fciu", f"it is of dtype {to}")
    few = min(math.prod(left), math.prod(right))
    every = list(range(len(left)))
    spectral = method == "fft" or (
        method == "auto" and to.kind in "fc" and few > _TAPS and math.prod(left) * few > 1 << 20
    )
    if spectral:
        full = _by_spectrum(xp, a, v, every)
        full = xp.prim.astype(xp.rint(full) if to.kind in "iu" else full, to)
    elif len(left) == 1:
        full = convolutions.convolve(xp, a, v, "full")
    else:
        only(few <= 4 * _TAPS, "so large a kernel, directly")
        full = _by_taps(xp, a, v)
    made = _cut(xp, full, left, right, mode, every)
    if spectral and xp.backend.on_cpu(made):
        first = xp.backend.to_numpy(along(xp, xp.prim.reshape(made, (-1,)), 0, 0, 1))
        if not np.isfinite(first).all():
            warn(_NOT_FINITE)
    return made


def _reversed(xp: XP, v: Any) -> Any:
    return xp.prim.flip(conjugate(xp, v), tuple(range(xp.ndim_of(v))))


@implements("scipy.signal.convolve", error="sum", returns="scalar")
def convolve(xp: XP, in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> Any:
    return _convolved(xp, *_pair(xp, in1, in2), mode, method)


@implements("scipy.signal.correlate", error="sum", returns="scalar")
def correlate(xp: XP, in1: Any, in2: Any, mode: Any = "full", method: Any = "auto") -> Any:
    a, v = _pair(xp, in1, in2)
    if xp.ndim_of(a) != xp.ndim_of(v):
        raise ValueError("in1 and in2 should have the same dimensionality")
    return _convolved(xp, a, _reversed(xp, v), mode, method)


_BOUNDARIES = {
    "fill": "constant", "pad": "constant", "wrap": "wrap", "circular": "wrap", "symm": "symmetric",
    "symmetric": "symmetric",
}  # fmt: skip


def _in_plane(xp: XP, in1: Any, in2: Any, mode: Any, boundary: Any, fillvalue: Any, correlates: bool) -> Any:
    a, v = _pair(xp, in1, in2)
    if xp.ndim_of(a) != 2 or xp.ndim_of(v) != 2:
        raise ValueError(
            "convolve2d inputs must both be 2-D arrays"
            if not correlates
            else "correlate2d inputs must both be 2-D arrays"
        )
    only(mode in _MODES and boundary in _BOUNDARIES, "another mode or boundary")
    only(0 not in xp.shape_of(a) and 0 not in xp.shape_of(v), "an empty array")
    swapped = _swaps(mode, xp.shape_of(a), xp.shape_of(v))
    if swapped:
        a, v = v, a
    to = np.result_type(xp.dtype_of(a), xp.dtype_of(v))
    only(to.kind in "fci", f"it is of dtype {to}")
    a, v = xp.prim.astype(a, to), xp.prim.astype(v, to)
    if not correlates:
        v = xp.prim.flip(v, (0, 1))
    elif to.kind == "c":
        v = conjugate(xp, v)
    left, right = xp.shape_of(a), xp.shape_of(v)
    if mode == "valid":
        shape = tuple(n - m + 1 for n, m in zip(left, right))
        pads = [(0, 0), (0, 0)]
    elif mode == "full":
        shape = tuple(n + m - 1 for n, m in zip(left, right))
        pads = [(m - 1, m - 1) for m in right]
    else:
        shape = left
        pads = [((m - 1) // 2, m // 2) if correlates else (m // 2, (m - 1) // 2) for m in right]
    if _BOUNDARIES[boundary] == "constant":
        only(np.ndim(fillvalue) == 0 and not xp.is_array(fillvalue), "an array of values to fill with")
        a = xp.prim.pad(a, pads, to.type(fillvalue).item())
    else:
        for axis, pad in enumerate(pads):
            places = np.pad(np.arange(left[axis]), pad, mode=_BOUNDARIES[boundary])  # type: ignore[call-overload]
            a = xp.prim.take(a, xp.backend.from_numpy(places.astype(np.int64), xp.backend.device_of(a)), axis)
    if math.prod(right) > 4 * _TAPS and math.prod(shape) * right[1] <= _WINDOWS:
        made = _by_windows(xp, a, v, shape)
        return xp.prim.flip(made, (0, 1)) if swapped and correlates else made
    if math.prod(right) > 4 * _TAPS:
        full = _by_spectrum(xp, a, xp.prim.flip(v, (0, 1)), [0, 1])
        made = xp.prim.slice(full, tuple(slice(m - 1, m - 1 + n, 1) for m, n in zip(right, shape)))
        made = xp.prim.astype(xp.rint(made) if to.kind == "i" else made, to)
        return xp.prim.flip(made, (0, 1)) if swapped and correlates else made
    total: Any = None
    for i, j in np.ndindex(right):
        tap = xp.prim.slice(v, (slice(i, i + 1, 1), slice(j, j + 1, 1)))
        term = xp.multiply(xp.prim.slice(a, (slice(i, i + shape[0], 1), slice(j, j + shape[1], 1))), tap)
        total = term if total is None else xp.add(total, term)
    return xp.prim.flip(total, (0, 1)) if swapped and correlates else total


def _by_windows(xp: XP, a: Any, v: Any, shape: tuple[int, ...]) -> Any:
    """Compute a sum of products for each place, for one row of the kernel at a time.

    Small results next to large elements keep their digits, unlike with a Fourier transform.
    """
    height, width = xp.shape_of(v)
    places = np.arange(shape[1])[:, None] + np.arange(width)
    columns = xp.prim.take(a, xp.backend.from_numpy(places.reshape(-1), xp.backend.device_of(a)), 1)
    windows = xp.prim.reshape(columns, (-1, shape[1], width))
    total: Any = None
    for i in range(height):
        row = xp.prim.reshape(along(xp, v, 0, i, i + 1), (width, 1))
        term = xp.prim.matmul(along(xp, windows, 0, i, i + shape[0]), row)
        total = term if total is None else xp.add(total, term)
    return xp.prim.reshape(total, shape)


@implements("scipy.signal.convolve2d", error="sum")
def convolve2d(xp: XP, in1: Any, in2: Any, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0) -> Any:
    return _in_plane(xp, in1, in2, mode, boundary, fillvalue, False)


@implements("scipy.signal.correlate2d", error="sum")
def correlate2d(xp: XP, in1: Any, in2: Any, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0) -> Any:
    return _in_plane(xp, in1, in2, mode, boundary, fillvalue, True)


@implements("scipy.signal.detrend", pure=False, in_place=True)
def detrend(xp: XP, data: Any, axis: Any = -1, type: Any = "linear", bp: Any = 0, overwrite_data: Any = False) -> Any:
    if type not in ("linear", "l", "constant", "c"):
        raise ValueError("Trend type must be 'linear' or 'constant'.")
    x = array(xp, data)
    only(not xp.is_array(bp) and xp.ndim_of(x) > 0 and 0 not in xp.shape_of(x), "breaks given as an array, or no data")
    if type in ("constant", "c"):
        return xp.subtract(x, xp.mean(x, axis, keepdims=True))
    if xp.dtype_of(x).char not in "dfDF":
        x = xp.prim.astype(x, dtypes.FLOAT64)
    dtype = xp.dtype_of(x)
    axis = normalize_axis_index(axis, xp.ndim_of(x))
    n = xp.shape_of(x)[axis]
    breaks = np.sort(np.unique(np.concatenate(np.atleast_1d(0, bp, n))))
    if np.any(breaks > n):
        raise ValueError("Breakpoints must be less than length of data along given axis.")
    order = [axis, *(i for i in range(xp.ndim_of(x)) if i != axis)]
    moved = xp.prim.transpose(x, tuple(order))
    rows = xp.prim.reshape(moved, (n, math.prod(xp.shape_of(moved)[1:])))
    parts = []
    for start, stop in zip(breaks[:-1].tolist(), breaks[1:].tolist()):
        part, count = along(xp, rows, 0, start, stop), stop - start
        line = np.stack([np.arange(1, count + 1) / count, np.ones(count)], 1)
        q = xp.backend.from_numpy(np.linalg.qr(line)[0].astype(dtype), xp.backend.device_of(x))
        parts.append(xp.subtract(part, xp.prim.matmul(q, xp.prim.matmul(xp.prim.transpose(q, (1, 0)), part))))
    made = xp.prim.reshape(xp.prim.concatenate(parts, 0), xp.shape_of(moved))
    return xp.prim.transpose(made, tuple(int(i) for i in np.argsort(order)))


@implements("scipy.signal.medfilt")
def medfilt(xp: XP, volume: Any, kernel_size: Any = None) -> Any:
    x = array(xp, volume)
    only(xp.ndim_of(x) > 0, "no axis")
    sizes = [3] * xp.ndim_of(x) if kernel_size is None else kernel_size
    only(not xp.is_array(sizes), "sizes given as an array")
    sizes = [operator.index(n) for n in (sizes if np.iterable(sizes) else [sizes] * xp.ndim_of(x))]
    if any(n % 2 != 1 for n in sizes):
        raise ValueError("Each element of kernel_size should be odd.")
    only(
        len(sizes) == xp.ndim_of(x) and all(n <= m for n, m in zip(sizes, xp.shape_of(x))),
        "a window larger than the data",
    )
    return median_filter(xp, x, sizes, mode="constant")
