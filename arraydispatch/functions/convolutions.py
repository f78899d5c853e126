"""``np.convolve`` and ``np.correlate``: all products at once if they are few, otherwise blocks of a Toeplitz matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from .contractions import common_operands, conjugate, sum_in_dtype
from .registry import XP, implements


@implements(np.convolve, error="sum")
def convolve(xp: XP, a: Any, v: Any, mode: Any = "full") -> Any:
    """`numpy.convolve`."""
    a, v = common_operands(xp, a, v)
    a, v = (xp.prim.reshape(x, (1,)) if not xp.shape_of(x) else x for x in (a, v))
    for name, x in (("a", a), ("v", v)):
        if not xp.shape_of(x)[0]:
            raise ValueError(f"{name} cannot be empty")
    _check_depth(xp, a, v)
    if xp.shape_of(v)[0] > xp.shape_of(a)[0]:
        a, v = v, a
    begin, end = _wanted(xp.shape_of(a)[0], xp.shape_of(v)[0], mode)
    return _full_convolution(xp, a, v, begin, end)


@implements(np.correlate, error="sum")
def correlate(xp: XP, a: Any, v: Any, mode: Any = "valid") -> Any:
    """`numpy.correlate`."""
    a, v = common_operands(xp, a, v)
    _check_depth(xp, a, v)
    n, m = xp.shape_of(a)[0], xp.shape_of(v)[0]
    if not n or not m:
        raise ValueError(f"{'second' if n else 'first'} array argument cannot be empty")
    begin, end = _wanted(max(n, m), min(n, m), mode)
    v = xp.prim.flip(conjugate(xp, v), (0,))
    if m > n:  # NumPy correlates the other way round and reverses the result
        total = n + m - 1
        return _full_convolution(xp, v, a, total - end, total - begin)
    return _full_convolution(xp, a, v, begin, end)


def _check_depth(xp: XP, *arrays: Any) -> None:
    for x in arrays:
        if xp.ndim_of(x) != 1:
            raise ValueError(f"object {'too deep' if xp.ndim_of(x) else 'of too small depth'} for desired array")


def _wanted(n: int, m: int, mode: Any) -> tuple[int, int]:
    """Return begin and end of the part that the mode selects from the full convolution of n elements with m, where n >= m."""
    number = mode if isinstance(mode, int) else {"valid": 0, "same": 1, "full": 2}.get(mode)
    if number not in (0, 1, 2):
        np.correlate([0], [0], mode)  # raises NumPy's own error
        raise ValueError(f"mode {mode!r} is not understood")
    if number == 0:
        return m - 1, n
    if number == 1:
        begin = m - 1 - m // 2
        return begin, begin + n
    return 0, n + m - 1


_FEW = 1 << 14
"""Number of products up to which computing all of them in a few calls is faster than taps or blocks."""

_TAPS = 8
"""Number of taps up to which shifted sums are faster than a matrix product."""

_AT_ONCE = 1 << 22
"""Products held in memory at a time."""


def _full_convolution(xp: XP, a: Any, v: Any, begin: int, end: int) -> Any:
    """Compute elements ``begin`` to ``end`` of the full convolution; ``v`` is the shorter operand."""
    n, m = xp.shape_of(a)[0], xp.shape_of(v)[0]
    if n * m > _FEW and _all_finite(xp, a, v):
        return (_by_taps if m <= _TAPS else _by_blocks)(xp, a, v, begin, end)
    full = None
    step = max(1, _AT_ONCE // (n + m))
    for first in range(0, m, step):
        taps = xp.prim.slice(v, (slice(first, min(first + step, m), 1),)) if step < m else v
        part = _skewed_sum(xp, a, taps)
        if step < m:
            k = xp.shape_of(taps)[0]
            part = xp.prim.pad(part, [(first, m - first - k)], xp.dtype_of(part).type(0).item())
        full = part if full is None else xp.add(full, part)
    return full if (begin, end) == (0, n + m - 1) else xp.prim.slice(full, (slice(begin, end, 1),))


def _skewed_sum(xp: XP, a: Any, v: Any) -> Any:
    """Compute all products, shift each row one place to the right of the one above (by a reshape), and sum the columns."""
    n, m = xp.shape_of(a)[0], xp.shape_of(v)[0]
    products = xp.multiply(xp.prim.reshape(v, (m, 1)), xp.prim.reshape(a, (1, n)))
    zero = xp.dtype_of(products).type(0).item()
    flat = xp.prim.reshape(xp.prim.pad(products, [(0, 0), (0, m)], zero), (m * (n + m),))
    skewed = xp.prim.reshape(xp.prim.slice(flat, (slice(0, m * (n + m - 1), 1),)), (m, n + m - 1))
    return sum_in_dtype(xp, skewed, 0)


def _all_finite(xp: XP, *arrays: Any) -> bool:
    """Whether all elements are finite, so that a product with zero is zero; False under a trace, or if their sum overflows."""
    for x in arrays:
        if xp.dtype_of(x).kind in "biu":
            continue
        if not xp.backend.is_concrete(x) or not bool(xp.backend.to_numpy(xp.isfinite(xp.add.reduce(x)))):
            return False
    return True


def _by_taps(xp: XP, a: Any, v: Any, begin: int, end: int) -> Any:
    """Compute elements ``begin`` to ``end`` by one multiplication and one addition of arrays for each element of ``v``."""
    prim, n, m, length = xp.prim, xp.shape_of(a)[0], xp.shape_of(v)[0], end - begin
    # The inputs of output `begin` start at begin - m + 1.
    before, after = m - 1 - begin, end - n
    if before > 0 or after > 0:
        a = prim.pad(a, [(max(before, 0), max(after, 0))], xp.dtype_of(a).type(0).item())
    start = max(-before, 0)
    total = None
    for k in range(m):
        tap = prim.slice(v, (slice(m - 1 - k, m - k, 1),))
        term = xp.multiply(prim.slice(a, (slice(start + k, start + k + length, 1),)), tap)
        total = term if total is None else xp.add(total, term)
    return total


def _by_blocks(xp: XP, a: Any, v: Any, begin: int, end: int) -> Any:
    """Compute elements ``begin`` to ``end`` by one matrix product: blocks of ``a``, which overlap, times the Toeplitz matrix of ``v``."""
    prim, n, m, length = xp.prim, xp.shape_of(a)[0], xp.shape_of(v)[0], end - begin
    zero = xp.dtype_of(a).type(0).item()
    width = min(length, 1024, max(m, 32))
    blocks, extra = -(-length // width), -(-(m - 1) // width)
    size = (blocks + extra) * width
    # The inputs of output `begin` start at begin - m + 1.
    before = m - 1 - begin
    if before < 0:
        a, n, before = prim.slice(a, (slice(-before, n, 1),)), n + before, 0
    if before + n > size:
        a, n = prim.slice(a, (slice(0, size - before, 1),)), size - before
    a = prim.pad(a, [(before, size - before - n)], zero)
    rows = prim.reshape(a, (blocks + extra, width))
    parts = [prim.slice(rows, (slice(s, s + blocks, 1), slice(0, width, 1))) for s in range(extra + 1)]
    inputs = prim.concatenate(parts, 1) if extra else parts[0]
    # Row i of the transposed Toeplitz matrix is the reversed v, moved i places to the right; it is skewed as above.
    columns = (extra + 1) * width
    taps = prim.pad(prim.flip(v, (0,)), [(0, columns + 1 - m)], zero)
    tiled = prim.reshape(prim.broadcast_to(taps, (width, columns + 1)), (width * (columns + 1),))
    toeplitz = prim.reshape(prim.slice(tiled, (slice(0, width * columns, 1),)), (width, columns))
    result = prim.matmul(inputs, prim.transpose(toeplitz, (1, 0)))
    return prim.slice(prim.reshape(result, (blocks * width,)), (slice(0, length, 1),))
