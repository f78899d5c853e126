"""Calls of NumPy's loops on arrays that are contiguous only in each row, without the copies that NumPy would make.

NumPy's iterator gathers operands like ``a[1:-1, 1:-1]``, or a row that is broadcast along a column, in buffers of 8192
elements, to call a loop less often. For rows of more than a hundred elements that costs more than it saves, up to
three times the cost of the call without buffers. With buffers shorter than a row or two, the iterator leaves the operands
in place. The bits are the same for functions that are one processor instruction, and only those run here. Reductions do not,
because their order depends on the buffers, nor do loops that NumPy has in separate versions for contiguous and other data.
"""

from __future__ import annotations

import functools
from contextvars import copy_context
from typing import Any

import numpy as np

from .._core import machine
from .._core.machine import MANY_LANES, SHORT_LANE
from ..common.error_modes import raising
from ..common.members import MEMBERS
from ..common.signal_safety import of_handler
from .facts import INSTRUCTIONS

__warningregistry__ = None  # NumPy warns here, on behalf of a user's line: see arraydispatch.launcher.numpy_warnings

LEAST = 1 << 15
"""Number of elements of a result from which the check of :func:`lie_in_rows` is worthwhile."""
_LENGTH = 512
"""Buffer size in elements; sizes of 64 to 512 perform alike for rows of hundreds of elements, and for rows of three or four a
longer buffer is better.
"""
_USUAL = 8192
"""NumPy's default buffer size."""
_OF_OPERATORS = frozenset({row.func for row in MEMBERS.values() if row.form == "inplace"})
"""Ufuncs to which NumPy's operators pass ``out`` by position. For some other ufuncs NumPy deprecates that."""
_NARROW = 4
"""Item size in bytes below which NumPy's copies cost less than its calls."""

try:
    from numpy._core.umath import _extobj_contextvar, _get_extobj_dict, _make_extobj

    _context: Any = _extobj_contextvar
except ImportError:  # np.setbufsize does the same, but costs more than a small call
    _context = None

_last: tuple[Any, Any] = (None, None)
"""The thread's settings of buffers and error handling when last seen, and the same with short buffers (None: the user has set a size)."""


def lie_in_rows(x: Any, y: Any) -> bool:
    """Whether NumPy would gather these operands (ndarrays or numbers) in buffers, and the result is so large that :func:`call` pays."""
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
    """Return :func:`call` of ``func`` as a function, or ``func`` itself if it is not an instruction."""
    return functools.partial(call, func) if func in INSTRUCTIONS else func


def call(func: Any, *args: Any, **kwargs: Any) -> Any:
    """Return ``func(*args, **kwargs)``: with short buffers, for operands that are contiguous only in each row, or lane by lane if short."""
    global _last
    two = len(args) > 1 and func in INSTRUCTIONS and func.nin == 2 and type(args[0]) is type(args[1]) is np.ndarray
    if two and (len(args) == 2 or func in _OF_OPERATORS):
        made = _by_lanes(func, args[0], args[1], kwargs.get("out") if len(args) == 2 else args[2])
        if made is not None:
            return made
    if func not in INSTRUCTIONS or _context is None:
        return func(*args, **kwargs)
    if not _have_rows(args):
        if two and len(args) == 2 and not kwargs and args[0].size >= _CROSSED:
            made = _in_strips(func, args[0], args[1])
            if made is not None:
                return made
        if _needs_rows(func, args):
            return func(*args, **kwargs)
    usual = _context.get()
    of, short = _last
    if of is not usual:
        modes = _get_extobj_dict()
        # The user's function that errors call may set variables of its context.
        short = _make_extobj(bufsize=_LENGTH) if modes["bufsize"] == _USUAL and modes["call"] is None else None
        _last = usual, short
    if short is None:
        return func(*args, **kwargs)
    # In Python 3.11 the garbage collector may run inside of `set`. A finalizer that set a variable of the same context would free what `set` uses.
    return copy_context().run(_with_buffers, short, func, args, kwargs)


def _needs_rows(func: Any, args: tuple[Any, ...]) -> bool:
    """Whether NumPy's loop takes longer than the copies to contiguous memory if the elements are apart: one that compares, or a narrow dtype."""
    if func in _COMPARING:
        return True
    for x in args:
        if type(x) is np.ndarray:
            return bool(x.itemsize < _NARROW)
    return False


def _have_rows(args: tuple[Any, ...]) -> bool:
    """Whether the arrays have an axis along which all are contiguous, or constant; a matrix and its transpose have none."""
    arrays = [x for x in args if type(x) is np.ndarray and x.ndim]
    for axis in range(1, 1 + max([x.ndim for x in arrays], default=0)):
        if all(axis > x.ndim or x.shape[-axis] == 1 or x.strides[-axis] in (0, x.itemsize) for x in arrays):
            return True
    return not arrays


_COMPARING = frozenset({func for func in INSTRUCTIONS if "dd->?" in func.types})


def _with_buffers(short: Any, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    _context.set(short)
    return func(*args, **kwargs)


# -- a matrix and one that lies across it ------------------------------------------------------------------------------

_CROSSED = 1 << 18
"""Number of elements from which strips are considered."""
_PAGE = 4096
_PAGES = 1536
"""Number of pages whose addresses a processor keeps at hand."""
_STRIP, _NARROW_STRIP = 512, 256
"""Columns of a strip, and if its columns are whole pages apart, so that they share a few places of the cache."""


def _in_strips(func: Any, x: Any, y: Any) -> Any:
    """Compute a ufunc of a matrix and a transposed one strip by strip; return None if NumPy takes as long or must report an error.

    NumPy goes along the rows of the result. The other matrix has each of these elements in a line of its own, and a row of 2,000 of them
    is more than a processor keeps at hand, so each element comes from memory. A strip has short rows: with 3,600 columns ``x + x.T`` takes
    55 ms, not 135.
    """
    if x.ndim != 2 or x.shape != y.shape or min(x.shape) < 2:
        return None
    try:
        return raising(_by_strips, func, x, y)
    except FloatingPointError as error:
        if of_handler(error):
            raise
        return None


def _by_strips(func: Any, x: Any, y: Any) -> Any:
    corner = func(x[:2, :2], y[:2, :2])
    made = np.empty(x.shape, corner.dtype, "C" if corner.flags.c_contiguous else "F")
    out = made
    if made.strides[0] < made.strides[1]:
        x, y, out = x.T, y.T, made.T
    length, apart = x.shape[1], max(abs(x.strides[1]), abs(y.strides[1]))
    width = _STRIP if apart % _PAGE else _NARROW_STRIP
    if length < 2 * width or (apart % _PAGE and length * min(apart, _PAGE) <= _PAGES * _PAGE):
        return None
    for begin in range(0, length, width):
        part = slice(begin, begin + width)
        call(func, x[:, part], y[:, part], out=out[:, part])
    return made


_STRETCH = 512
"""Length to which a short row is repeated, so that NumPy's loops are that long."""
PIECE = 1 << 16
"""Number of elements of a piece: all its columns are computed while it is in the cache."""


def _by_lanes(func: Any, x: Any, y: Any, out: Any) -> Any:
    """Compute a ufunc of an array with many short lanes and a row or column that broadcasts with them; return None if NumPy must do it.

    NumPy calls its loop for each lane: subtracting one point from 30,000, of three coordinates, takes 160 µs, and 40 with rows of 170
    points. If there is a floating-point error, NumPy runs the whole call to report it.
    """
    how = machine.short_lanes(x, y, SHORT_LANE, MANY_LANES)
    first = how != 0
    if not first:
        how = machine.short_lanes(y, x, SHORT_LANE, MANY_LANES)
    if how == 0:
        return None
    whole, other = (x, y) if first else (y, x)
    if out is not None and not (type(out) is np.ndarray and out.shape == whole.shape and out.flags.writeable):
        return None  # NumPy raises its own error
    try:
        made = raising(_made, func, whole, other, how == 1, first, None if out is None else out.dtype)
    except FloatingPointError as error:
        if of_handler(error):
            raise
        return None
    if made is None:
        return None
    if out is None:
        return made
    out[...] = made
    return out


def _made(func: Any, whole: Any, other: Any, is_row: bool, first: bool, wanted: Any) -> Any:
    """Compute as :func:`_by_lanes` into a new array; return None if its dtype is not ``wanted``. ``first``: whether ``whole`` is the first
    operand.
    """
    n = whole.shape[-1]
    dtype = func(whole[tuple([slice(1)] * whole.ndim)], other.reshape(-1)[:1]).dtype
    if wanted is not None and wanted is not dtype:
        return None
    made = np.empty(whole.shape, dtype)
    lanes, results = whole.reshape(-1, n), made.reshape(-1, n)
    if is_row:
        _with_row(func, lanes, other.reshape(n), results, first)
    else:
        _with_column(func, lanes, other.reshape(-1), results, first)
    return made


def _with_row(func: Any, lanes: Any, row: Any, results: Any, first: bool) -> None:
    """Compute ``results`` with one row for all lanes: repeat the row, and join as many lanes to a long row. ``first``: whether the lanes are
    the first operand.
    """
    count, n = lanes.shape
    times = _STRETCH // n
    whole = count - count % times
    stretch = np.empty((times, n), row.dtype)
    stretch[...] = row
    x, y, out = lanes[:whole].reshape(-1, times * n), stretch.reshape(-1), results[:whole].reshape(-1, times * n)
    func(*((x, y) if first else (y, x)), out=out)
    if whole < count:
        x, out = lanes[whole:], results[whole:]
        func(*((x, row) if first else (row, x)), out=out)


def _with_column(func: Any, lanes: Any, column: Any, results: Any, first: bool) -> None:
    """Compute ``results`` with one number for each lane, column by column. ``first``: whether the lanes are the first operand."""
    count, n = lanes.shape
    step = PIECE // n
    for begin in range(0, count, step):
        part = slice(begin, begin + step)
        y = column[part]
        for i in range(n):
            x = lanes[part, i]
            func(*((x, y) if first else (y, x)), out=results[part, i])
