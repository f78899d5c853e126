"""Facts about an ndarray's memory and about the thread that runs, and calls of machine code: in C where the core is compiled.

``_machine.c`` holds functions for all modules; ``machine.pxd`` holds those that compiled modules inline.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from contextvars import ContextVar
from ctypes import addressof, c_char
from functools import partial
from importlib import import_module
from itertools import count
from operator import attrgetter
from struct import pack_into
from sys import _getframe as current_frame
from threading import local
from typing import Any
from weakref import ref as reference_to

from numpy import broadcast

__all__ = [
    "MANY_LANES", "SHORT_LANE", "add_integers", "add_rows", "address_of", "are_laid_out_alike", "current_frame", "identity", "is_alone", "is_collector_on", "is_in_c_order", "is_only_view", "lane_length", "layout_of", "owns_memory", "put", "put_addresses", "put_number", "reference_to", "run", "same_shape", "short_lanes", "size_together", "thread_number", "turn_collector_off", "turn_collector_on", "value_of",
]  # fmt: skip


identity = id
value_of: Callable[[ContextVar[Any]], Any] = ContextVar.get
"""Returns the value of a context variable."""


is_collector_on = gc.isenabled
turn_collector_off = gc.disable
turn_collector_on = gc.enable


def size_together(x: Any, y: Any) -> int:
    """Return the number of elements of a result of two ndarrays; 0 if their shapes do not fit."""
    if x.shape == y.shape:
        return int(x.size)
    try:
        return broadcast(x, y).size
    except ValueError:
        return 0


def are_laid_out_alike(x: Any, y: Any) -> bool:
    """Whether two ndarrays have one shape and are contiguous in the same order."""
    left, right = x.flags, y.flags
    alike = (left.c_contiguous and right.c_contiguous) or (left.f_contiguous and right.f_contiguous)
    return bool(x.shape == y.shape and alike)


def same_shape(x: Any, y: Any) -> bool:
    """Whether two ndarrays have one shape."""
    return bool(x.shape == y.shape)


def is_in_c_order(x: Any) -> bool:
    """Whether an ndarray is contiguous in C's order."""
    return bool(x.flags.c_contiguous)


def lane_length(x: Any) -> int:
    """Return the number of elements along an ndarray's last axis, 0 without an axis."""
    return x.shape[-1] if x.ndim else 0


SHORT_LANE = 8
"""Length of a lane up to which NumPy's time goes mostly into the overhead for each lane."""
MANY_LANES = 1500
"""Number of lanes from which a function for short lanes is faster."""


def short_lanes(x: Any, y: Any, longest: int, many: int) -> int:
    """Whether ``x`` has many short lanes, and how ``y`` broadcasts with them: 1 if as a row, 2 if as a column, else 0.

    Callers pass :data:`SHORT_LANE` and :data:`MANY_LANES`, because C does not see them.
    """
    if not (1 <= y.ndim <= x.ndim > 1 and 2 <= x.shape[-1] <= longest and x.dtype is y.dtype):
        return 0
    n, lanes = x.shape[-1], x.size // x.shape[-1]
    if lanes < many or not (x.flags.c_contiguous and y.flags.c_contiguous):
        return 0
    if y.size == n == y.shape[-1]:
        return 1
    return 2 if n < 4 and y.shape == (*x.shape[:-1], 1) else 0


def put_number(box: Any, x: Any) -> bool:
    """Write a number into an ndarray of one float64 or int64, if the number has that type; return whether it was written.

    A Python integer is written to float64 only if that is exact. The pure-Python version writes nothing.
    """
    return False


def is_only_view(x: Any, others: int) -> bool:
    """Whether nothing but this view, for example a reshaped result, refers to its base. The pure-Python version returns False.

    ``others``: the number of references that the caller holds.
    """
    return False


def is_alone(x: Any) -> bool:
    """Whether only the caller refers to an object. The pure-Python version returns False."""
    return False


_next = count(1).__next__


class _Numbered(local):
    def __init__(self) -> None:
        self.number = _next()


thread_number: Callable[[], int] = partial(getattr, _Numbered(), "number")
"""Returns a number of this thread that no other thread of the process has, before it or after."""
address_of: Callable[[Any], int] = attrgetter("ctypes.data")
"""Returns the address of the first element of an ndarray."""
layout_of: Callable[[Any], Any] = attrgetter("shape", "strides")
"""Returns an object that is equal for two ndarrays if their shapes and strides are."""
owns_memory: Callable[[Any], bool] = attrgetter("flags.owndata")
"""Returns whether the memory of an ndarray is its own, not another object's."""


def put(words: bytearray, i: int, how: str, number: Any) -> None:
    """Write a number into the word of eight bytes that ``i`` names, in a format of :mod:`struct`: ``d``, ``f``, ``q`` or ``Q``."""
    pack_into(how, words, 8 * i, float(number) if how in "df" else int(number))


def put_addresses(words: bytearray, starts: list[tuple[int, int, int]], addresses: list[int]) -> None:
    """Write addresses into words; ``starts``: the word, the number of the address, and the bytes to add to it."""
    for i, number, start in starts:
        pack_into("q", words, 8 * i, addresses[number] + start)


def run(function: Callable[[int, int], int], address: int, boxes: int, words: bytearray) -> int:
    """Call a function of two addresses; ``address`` is its own."""
    return function(boxes, addressof(c_char.from_buffer(words)))


def add_rows(x: Any, out: Any) -> bool:
    """Compute ``np.add.reduce(x, axis=1, out=out)`` of contiguous matrices of 2 to 64 columns of float64 or float32, and say whether it was done.

    NumPy's order is kept: one row after the other. It does not count as done where a sum is infinite or NaN, for which NumPy may have to
    report an error; and in Python it is not done.
    """
    return False


def add_integers(x: Any, out: Any, along: bool) -> bool:
    """Compute the sums of the rows of a contiguous matrix, or of its columns, and say whether it was done.

    The elements are booleans or integers of at most four bytes, the sums integers of eight. In Python it is not done.

    ``along``: whether the rows are summed, and not the columns.
    """
    return False


try:
    _compiled: Any = import_module("._machine", __package__)
except ImportError:
    pass
else:
    address_of, layout_of, owns_memory = _compiled.address_of, _compiled.layout_of, _compiled.owns_memory
    put, put_addresses, run = _compiled.put, _compiled.put_addresses, _compiled.run
    add_integers, add_rows = _compiled.add_integers, _compiled.add_rows
