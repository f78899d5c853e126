"""``scipy.signal``: digital filters. A recursive filter is computed in blocks, all at once, by matrix products.

The response of a filter to an impulse decays, so each output is a sum over the inputs of its block and of the preceding block. SciPy's own
filter computes the matrices in long double, because each result is a sum over their elements, and errors would add up.
SciPy itself filters if a response outlasts the longest block, or if initial states grow.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..functions.operands import along
from ..functions.registry import XP
from ..runtime import dtypes
from . import implements, stand_in
from .operand_checks import array, every, only

_BLOCK = 128
_TAPS = 64
"""Number of taps up to which taps are added one by one; above it, a matrix of windows is multiplied."""
_MOST = 1 << 27
_FADED = 2048
"""Number of elements within which a response must decay to count as decaying."""
_GAINS = 100.0
"""Factor by which initial states may grow; their rounding errors grow as much."""
_LARGEST = 1e300
_FEW = 16
"""Signals up to this length are filtered element by element."""
_KEPT = 32
"""Number of cached filter designs: pieces of a signal, or many signals, go through the same filter."""


def _coefficients(xp: XP, x: Any) -> np.ndarray[Any, Any]:
    if xp.is_array(x):
        only(xp.backend.is_concrete(x), "a filter that is not known yet")
        x = xp.backend.to_numpy(x)
    return np.atleast_1d(np.asarray(x))


def _normalized(b: Any, a: Any, to: np.dtype[Any]) -> tuple[Any, Any]:
    wide = dtypes.COMPLEX128 if to.kind == "c" else dtypes.FLOAT64
    b, a = b.astype(wide), a.astype(wide)
    if a[0] == 0:
        raise ValueError("The first element of a must be nonzero.")
    size = max(len(a), len(b))
    return np.pad(b / a[0], (0, size - len(b))), np.pad(a / a[0], (0, size - len(a)))


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which the matrices of a filter are computed."""
    return np.dtype(np.clongdouble if dtype.kind == "c" else np.longdouble)


def _faded(response: np.ndarray[Any, Any]) -> int:
    """Return the number of elements after which a response has decayed; its whole length if it has not."""
    seen = np.flatnonzero(np.abs(response) > np.abs(response).max(initial=0.0) * 1e-18)
    return int(seen[-1]) + 1 if seen.size else 1


class _Design(NamedTuple):
    """Responses of a filter, in long double: to an impulse, and to each of its initial states without input."""

    response: Any
    free: Any
    left: Any
    """States that remain of the initial states."""
    length: int
    """Number of elements after which everything has decayed."""
    states: Any
    """States after an impulse."""


def _real() -> Any:
    """Return SciPy's own filter."""
    return stand_in("scipy.signal.lfilter").__wrapped__


def _in_full(weights: bytes, char: str) -> tuple[Any, Any]:
    """Return the coefficients of numerator and denominator in long double."""
    b, a = np.frombuffer(weights, char).reshape(2, -1)
    return b.astype(_wide(b.dtype)), a.astype(_wide(a.dtype))


@functools.lru_cache(_KEPT)
def _designed(weights: bytes, char: str, n: int) -> _Design:
    """Compute the responses over ``n`` elements."""
    b, a = _in_full(weights, char)
    real, order = _real(), len(b) - 1
    impulse = np.zeros(n, b.dtype)
    impulse[0] = 1
    with np.errstate(all="ignore"):
        response = np.asarray(real(b, a, impulse))
        free, left = real(b, a, np.zeros((order, n), b.dtype), -1, np.eye(order, dtype=b.dtype))
        only(all((np.abs(v) < _LARGEST).all() for v in (response, free)), "a filter that grows without bound")
    return _Design(response, free, left, max(map(_faded, (response, *free))), _states_of(b, a, response))


def _by_steps(xp: XP, b: Any, a: Any, x: Any, zi: Any) -> tuple[Any, Any]:
    """Filter element by element as SciPy's loop does, for few elements: a matrix product would not reproduce the rounding of its states."""
    order, (rows, n), device = len(b) - 1, xp.shape_of(x), xp.backend.device_of(x)
    states = xp.prim.full((rows, order), 0, b.dtype, device) if zi is None else zi
    forward, back = (xp.backend.from_numpy(np.ascontiguousarray(v[None, 1:]), device) for v in (b, a))
    zero, made = b.dtype.type(0).item(), []
    for k in range(n):
        new = along(xp, x, 1, k, k + 1)
        out = xp.add(xp.multiply(new, b[0].item()), along(xp, states, 1, 0, 1))
        moved = xp.prim.pad(along(xp, states, 1, 1, order), [(0, 0), (0, 1)], zero)
        states = xp.subtract(xp.add(moved, xp.multiply(new, forward)), xp.multiply(out, back))
        made.append(out)
    return xp.prim.concatenate(made, 1), states


def _run(xp: XP, b: Any, a: Any, x: Any, zi: Any) -> tuple[Any, Any]:
    """Filter rows (r, n) in double precision from states (r, order) or zeros; return the outputs and the final states."""
    order, n = len(b) - 1, xp.shape_of(x)[1]
    if order == 0:
        return xp.multiply(x, b.dtype.type(b[0]).item()), zi
    if n <= _FEW and zi is not None:
        return _by_steps(xp, b, a, x, zi)
    zero, device = b.dtype.type(0).item(), xp.backend.device_of(x)

    def matrix(values: Any) -> Any:
        return xp.backend.from_numpy(np.ascontiguousarray(values.astype(b.dtype)), device)

    size = min(n, _FADED)
    made = _designed(np.stack([b, a]).tobytes(), b.dtype.char, size)
    only(made.length < _FADED or n <= _FADED, "a filter whose response does not fade")
    out = _by_responses(xp, made.response, x, min(n, max(_BLOCK, made.length)), matrix)
    reach = min(n, made.length)
    after = xp.prim.matmul(along(xp, x, 1, n - reach, n), matrix(made.states[:reach][::-1]))
    if zi is not None:
        out = xp.add(out, xp.prim.pad(xp.prim.matmul(zi, matrix(made.free)), [(0, 0), (0, n - size)], zero))
        if made.length >= n:
            only(bool(np.abs(made.left).max() <= _GAINS), "a filter whose states grow")
            after = xp.add(after, xp.prim.matmul(zi, matrix(made.left)))
    return out, after


def _states_of(b: Any, a: Any, response: Any) -> Any:
    """Return a filter's states after an impulse: at each element, sums over the inputs and outputs still to come."""
    order, n = len(b) - 1, len(response)
    states = np.zeros((n, order), response.dtype)
    for k in range(order):
        for j in range(k + 1, min(order, n + k) + 1):
            late = j - k - 1
            states[late, k] += b[j]
            states[late:, k] -= a[j] * response[: n - late]
    return states


def _split(xp: XP, x: Any, length: int) -> Any:
    """Split rows into blocks of this length, the last block padded with zeros."""
    rows, n = xp.shape_of(x)
    blocks = -(-n // length)
    padded = xp.prim.pad(x, [(0, 0), (0, blocks * length - n)], xp.dtype_of(x).type(0).item())
    return xp.prim.reshape(padded, (rows, blocks, length))


def _joined(xp: XP, parts: Any, n: int) -> Any:
    rows, blocks, length = xp.shape_of(parts)
    return along(xp, xp.prim.reshape(parts, (rows, blocks * length)), 1, 0, n)


def _by_responses(xp: XP, response: Any, x: Any, length: int, matrix: Any) -> Any:
    known = np.zeros(3 * length - 1, xp.dtype_of(x))
    count = min(len(response), length)
    known[length - 1 : length - 1 + count] = response[:count]
    apart = np.lib.stride_tricks.sliding_window_view(known, length)[::-1]  # by distance from an input to an output
    parts = _split(xp, x, length)
    out = xp.prim.matmul(parts, matrix(apart[-length:]))
    blocks = xp.shape_of(parts)[1]
    if blocks > 1:
        before = xp.prim.matmul(along(xp, parts, 1, 0, blocks - 1), matrix(apart[-2 * length : -length]))
        out = xp.add(out, xp.prim.pad(before, [(0, 0), (1, 0), (0, 0)], xp.dtype_of(x).type(0).item()))
    return _joined(xp, out, xp.shape_of(x)[1])


def _rows(xp: XP, x: Any, axis: int) -> Any:
    """Return the lines along an axis as rows."""
    n = xp.shape_of(x)[axis]
    return xp.prim.reshape(xp.moveaxis(x, axis, -1), (-1, n))


def _lines(xp: XP, rows: Any, shape: tuple[int, ...], axis: int) -> Any:
    """Return rows as lines along an axis: the inverse of :func:`_rows` for the other axes of ``shape``."""
    rest = (*shape[:axis], *shape[axis + 1 :], xp.shape_of(rows)[1])
    return xp.moveaxis(xp.prim.reshape(rows, rest), -1, axis)


def _signal(xp: XP, x: Any, to: np.dtype[Any]) -> Any:
    """Return the signal in double precision, complex if the dtype ``to`` is. Leave signals with NaN or infinity to SciPy's own loop, which
    decides how far these spread.
    """
    x = xp.prim.astype(x, dtypes.COMPLEX128 if to.kind == "c" else dtypes.FLOAT64)
    only(not xp.backend.is_concrete(x) or every(xp, xp.isfinite(x)), "the signal is not finite")
    return x


def _of_weights(xp: XP, name: str, *weights: Any) -> Any:
    """Apply a SciPy function to the few coefficients of a filter, on the host, where filters are designed."""
    like = next(w for w in weights if xp.is_array(w))
    made = stand_in(f"scipy.signal.{name}").__wrapped__(*(_coefficients(xp, w) for w in weights))
    return xp.backend.from_numpy(np.asarray(made), xp.backend.device_of(like))


@implements("scipy.signal.lfilter_zi", pure=False)
def lfilter_zi(xp: XP, b: Any, a: Any) -> Any:
    return _of_weights(xp, "lfilter_zi", b, a)


@implements("scipy.signal.sosfilt_zi", pure=False)
def sosfilt_zi(xp: XP, sos: Any) -> Any:
    return _of_weights(xp, "sosfilt_zi", sos)


@implements("scipy.signal.lfilter", error="sum")
def lfilter(xp: XP, b: Any, a: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    like = next((v for v in (x, zi, b, a) if xp.is_array(v)), None)
    x = array(xp, x, like)
    b, a = _coefficients(xp, b), _coefficients(xp, a)
    for name, given in (("b", b), ("a", a)):
        if given.ndim != 1 or not given.size:
            raise ValueError(f"Parameter {name} is not a non-empty 1d array, since {name}.shape={given.shape!r}!")
    shape = xp.shape_of(x)
    if not shape:
        raise ValueError("x must be at least 1-D")
    axis = normalize_axis_index(axis, len(shape))
    zi = None if zi is None else array(xp, zi, x)
    given = [b.dtype, a.dtype, xp.dtype_of(x), *([] if zi is None else [xp.dtype_of(zi)])]
    to = np.result_type(*given)
    if to.char not in "fdFD":
        only(to.char in "gGO" or to.kind == "V" or dtypes.is_bfloat16(to), f"it is of dtype {to}")
        raise NotImplementedError(f"input type '{to}' not supported")
    only(0 not in shape, "no data")
    b, a = _normalized(b, a, to)
    order = len(b) - 1
    rows = _rows(xp, _signal(xp, x, to), axis)
    first = None
    if zi is not None:
        wanted = tuple(order if i == axis else n for i, n in enumerate(shape))
        have = xp.shape_of(zi)
        if len(have) != len(wanted) or any(
            h != w and (h != 1 or i == axis) for i, (h, w) in enumerate(zip(have, wanted))
        ):
            raise ValueError(f"Unexpected shape for parameter zi: expected {wanted}, found {have}.")
        first = _rows(xp, xp.prim.astype(xp.prim.broadcast_to(zi, wanted), b.dtype), axis) if order else None
    made, after = _run(xp, b, a, rows, first)
    out = xp.prim.astype(_lines(xp, made, shape, axis), to)
    if zi is None:
        return out
    left = _lines(xp, after, shape, axis) if order else xp.prim.broadcast_to(zi, wanted)
    return out, xp.prim.astype(left, to)


@implements("scipy.signal.sosfilt", error="sum")
def sosfilt(xp: XP, sos: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    like = next((v for v in (x, zi, sos) if xp.is_array(v)), None)
    x = array(xp, x, like)
    shape = xp.shape_of(x)
    if not shape:
        raise ValueError("x must be at least 1-D")
    sections = _coefficients(xp, sos)
    sections = np.atleast_2d(sections)
    if sections.ndim > 2:
        raise ValueError("sos array must be 2D")
    if sections.shape[1] != 6:
        raise ValueError("sos array must be shape (n_sections, 6)")
    if not (sections[:, 3] == 1).all():
        raise ValueError("sos[:, 3] should be all ones")
    zi = None if zi is None else array(xp, zi, x)
    to = np.result_type(sections, xp.dtype_of(x), *([] if zi is None else [xp.dtype_of(zi)]))
    if to.char not in "fdFD":
        only(to.char in "gGO" or to.kind == "V" or dtypes.is_bfloat16(to), f"it is of dtype {to}")
        raise NotImplementedError(f"input type '{to}' not supported")
    axis = normalize_axis_index(axis, len(shape))
    wanted = (len(sections), *(2 if i == axis else n for i, n in enumerate(shape)))
    if zi is not None and xp.shape_of(zi) != wanted:
        raise ValueError(
            f"Invalid zi shape. With axis={axis!r}, an input with shape {shape!r}, and an sos array with {len(sections)} "
            f"sections, zi must have shape {wanted!r}, got {xp.shape_of(zi)!r}."
        )
    only(0 not in shape, "no data")
    rows = _rows(xp, _signal(xp, x, to), axis)
    kind = xp.dtype_of(rows)
    ends = []
    for k, section in enumerate(sections):
        b, a = _normalized(section[:3], section[3:], to)
        first = None
        if zi is not None:
            one = xp.prim.reshape(along(xp, zi, 0, k, k + 1), wanted[1:])
            first = _rows(xp, xp.prim.astype(one, kind), axis)
        rows, after = _run(xp, b, a, rows, first)
        ends.append(xp.prim.reshape(_lines(xp, after, shape, axis), (1, *wanted[1:])))
    out = xp.prim.astype(_lines(xp, rows, shape, axis), to)
    return out if zi is None else (out, xp.prim.astype(xp.prim.concatenate(ends, 0), to))


_EXTENDED = {"wrap": "wrap", "symmetric": "symmetric", "reflect": "reflect", "edge": "edge"}


@implements("scipy.signal.upfirdn", error="sum")
def upfirdn(
    xp: XP, h: Any, x: Any, up: Any = 1, down: Any = 1, axis: Any = -1, mode: Any = "constant", cval: Any = 0
) -> Any:
    x = array(xp, x, h)
    weights = np.asarray(xp.backend.to_numpy(h)) if xp.is_array(h) and xp.backend.is_concrete(h) else h
    only(not xp.is_array(weights), "a filter that is not known yet")
    weights = np.asarray(weights)
    if weights.ndim != 1 or weights.size == 0:
        raise ValueError("h must be 1-D with non-zero length")
    to = np.result_type(weights.dtype, xp.dtype_of(x), np.float32)
    up, down = int(up), int(down)
    if up < 1 or down < 1:
        raise ValueError("Both up and down must be >= 1")
    shape = xp.shape_of(x)
    only(bool(shape) and 0 not in shape and to.char in "fdFD", "no data, or of another dtype")
    mode = mode.lower() if isinstance(mode, str) else mode
    only(mode == "constant" or mode in _EXTENDED, f"mode={mode!r}")
    axis = normalize_axis_index(axis, len(shape))
    n, size = shape[axis], len(weights)
    length = ((n - 1) * up + size - 1) // down + 1
    taps = -(-size // up)
    places = np.arange(length) * down
    newest, phase = places // up, places % up
    grid = np.pad(weights, (0, taps * up - size)).astype(to)
    device = xp.backend.device_of(x)
    rows = _rows(xp, xp.prim.astype(x, to), axis)
    if mode == "constant":
        rows = xp.prim.pad(rows, [(0, 0), (taps, taps)], to.type(cval).item())
    else:
        known = np.pad(np.arange(n), taps, mode=_EXTENDED[mode])  # type: ignore[call-overload]
        rows = xp.prim.take(rows, xp.backend.from_numpy(known.astype(np.int64), device), 1)
    which = newest[:, None] - np.arange(taps)[None, :] + taps  # the element that each coefficient applies to
    factor = grid[phase[:, None] + up * np.arange(taps)[None, :]]
    total: Any = None
    if taps <= _TAPS:
        for k in range(taps):
            part = xp.prim.take(rows, xp.backend.from_numpy(np.ascontiguousarray(which[:, k]), device), 1)
            term = xp.multiply(part, xp.backend.from_numpy(np.ascontiguousarray(factor[:, k])[None, :], device))
            total = term if total is None else xp.add(total, term)
    else:
        only(which.size * xp.shape_of(rows)[0] <= _MOST, "so long a filter")
        part = xp.prim.take(rows, xp.backend.from_numpy(which, device), 1)
        total = xp.add.reduce(xp.multiply(part, xp.backend.from_numpy(factor[None], device)), axis=-1)
    return _lines(xp, total, shape, axis)
