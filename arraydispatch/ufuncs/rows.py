"""Calls of NumPy's loops on arrays of which only the rows lie together: without the copies that NumPy makes of them.

NumPy's iterator gathers operands like ``a[1:-1, 1:-1]``, or a row that is repeated for each of a column, in buffers of 8192 elements, to
call a loop less often; for rows of more than a hundred elements that costs more than the calls, up to three times what the call costs
without. Where the buffers are shorter than a row or two it leaves the operands where they lie. The bits are the same for what is an
instruction of a processor, and only that is done here: not reductions, whose order the buffers decide, nor loops of which NumPy has one
for what lies together and one for the rest.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from .elementary import INSTRUCTIONS

__all__ = ["LEAST", "call", "called", "lie_in_rows"]

__warningregistry__ = None  # NumPy warns here, for a line of the user's: see arraydispatch.launcher.numpy_warnings

LEAST = 1 << 15
"""Elements of a result from which on it is worth looking."""
_LENGTH = 512
"""Elements of a buffer; from 64 to 512 comes to the same for rows of hundreds, and of rows of three or four a longer one is better."""
_USUAL = 8192
"""What NumPy has where nobody has asked for another number."""
_NARROW = 4
"""Bytes of an element under which NumPy's copies cost less than its calls."""

try:
    from numpy._core.umath import _extobj_contextvar, _get_extobj_dict, _make_extobj

    _context: Any = _extobj_contextvar
except ImportError:  # np.setbufsize says the same, for more than a small call takes
    _context = None

_last: tuple[Any, Any] = (None, None)
"""What the buffers and the handling of errors were set to, and the same with short buffers; None where they are the user's own."""


def lie_in_rows(x: Any, y: Any) -> bool:
    """Whether NumPy would gather these operands, ndarrays or numbers, of which the result has so many elements."""
    if type(y) is not np.ndarray:
        x, y = y, x
    if type(x) is not np.ndarray:
        flags = y.flags
        return y.size >= LEAST and y.itemsize >= _NARROW and not (flags.c_contiguous or flags.f_contiguous)
    if x.dtype is not y.dtype or x.itemsize < _NARROW:
        return False
    left, right = x.flags, y.flags
    if x.shape == y.shape:
        if x.size < LEAST:
            return False
        return not ((left.c_contiguous and right.c_contiguous) or (left.f_contiguous and right.f_contiguous))
    if x.size <= 1 or y.size <= 1:
        return False
    try:
        size = np.broadcast(x, y).size
    except ValueError:
        return False
    large, flags = (x, left) if x.size >= y.size else (y, right)
    return bool(size >= (2 * LEAST if large.size == size and flags.c_contiguous else LEAST))


@functools.cache
def called(func: Any) -> Any:
    """``func``, or what calls it so."""
    return functools.partial(call, func) if func in INSTRUCTIONS else func


def call(func: Any, *args: Any, **kwargs: Any) -> Any:
    """``func(*args, **kwargs)`` of operands that lie so."""
    global _last
    if func not in INSTRUCTIONS or _context is None:
        return func(*args, **kwargs)
    usual = _context.get()
    of, short = _last
    if of is not usual:
        short = _make_extobj(bufsize=_LENGTH) if _get_extobj_dict()["bufsize"] == _USUAL else None
        _last = usual, short
    if short is None:
        return func(*args, **kwargs)
    token = _context.set(short)
    try:
        return func(*args, **kwargs)
    finally:
        _context.reset(token)
