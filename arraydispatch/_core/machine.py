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
    """Return the number of elements that two ndarrays have when broadcast together; 0 if their shapes do not broadcast."""
    if x.shape == y.shape:
        return int(x.size)
    try:
        return broadcast(x, y).size
    except ValueError:
        return 0


def are_laid_out_alike(x: Any, y: Any) -> bool:
    """Whether two ndarrays have the same shape and are contiguous in the same order."""
    left, right = x.flags, y.flags
    alike = (left.c_contiguous and right.c_contiguous) or (left.f_contiguous and right.f_contiguous)
    return bool(x.shape == y.shape and alike)


def same_shape(x: Any, y: Any) -> bool:
    """Whether two ndarrays have the same shape."""
    return bool(x.shape == y.shape)


def is_in_c_order(x: Any) -> bool:
    """Whether an ndarray is contiguous in C's order."""
    return bool(x.flags.c_contiguous)


def lane_length(x: Any) -> int:
    """Return the number of elements along an ndarray's last axis, 0 without an axis."""
    return x.shape[-1] if x.ndim else 0


SHORT_LANE = 8
"""Length of a lane (the elements along the last axis) up to which NumPy's time goes mostly into the overhead for each lane."""
MANY_LANES = 1500
"""Number of lanes from which a function for short lanes is faster than NumPy."""


def short_lanes(x: Any, y: Any, longest: int, many: int) -> int:
    """Return how ``y`` broadcasts over many short lanes of ``x``: 1 for one lane that all lanes of ``x`` share, 2 for one number for each
    lane of at most three elements. Return 0 otherwise, also if the dtypes differ or one of the ndarrays is not C-contiguous.

    Callers pass :data:`SHORT_LANE` as ``longest`` and :data:`MANY_LANES` as ``many``: the C version cannot read module constants.
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
    """Whether an ndarray is a view (a reshaped result, say) whose base owns its memory and is referred to by this view and the caller only.
    The pure-Python version returns False.

    ``others``: the number of references to the base that the caller holds.
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
"""Returns the number of this thread. No earlier, concurrent or later thread of the process has the same number."""
address_of: Callable[[Any], int] = attrgetter("ctypes.data")
"""Returns the address of the first element of an ndarray."""
layout_of: Callable[[Any], Any] = attrgetter("shape", "strides")
"""Returns an object that is equal for two ndarrays if their shapes and strides are equal."""
owns_memory: Callable[[Any], bool] = attrgetter("flags.owndata")
"""Returns whether the memory of an ndarray is its own, not another object's."""


def put(words: bytearray, i: int, how: str, number: Any) -> None:
    """Write a number into word ``i`` (words have eight bytes). ``how``: format of :mod:`struct`, ``d``, ``f``, ``q`` or ``Q``."""
    pack_into(how, words, 8 * i, float(number) if how in "df" else int(number))


def put_addresses(words: bytearray, starts: list[tuple[int, int, int]], addresses: list[int]) -> None:
    """Write addresses into words. Each triple of ``starts`` is: the index of a word, the index in ``addresses`` of the address to write,
    and the number of bytes to add to that address.
    """
    for i, number, start in starts:
        pack_into("q", words, 8 * i, addresses[number] + start)


def run(function: Callable[[int, int], int], address: int, boxes: int, words: bytearray) -> int:
    """Call ``function``, which lies at ``address``, with two addresses: ``boxes`` and the address of ``words``. Return its result."""
    return function(boxes, addressof(c_char.from_buffer(words)))


def add_rows(x: Any, out: Any) -> bool:
    """Compute ``np.add.reduce(x, axis=1, out=out)`` for a contiguous stack of matrices of 2 to 64 columns of float64 or float32. Return
    whether ``out`` holds the result.

    Rows are added one after the other, in NumPy's order. False is returned for other arrays, and if a sum is infinite or NaN, for which
    NumPy may have to report an error. The pure-Python version returns False.
    """
    return False


def add_integers(x: Any, out: Any, along: bool) -> bool:
    """Compute the sum of each row of a contiguous matrix, or of each column. Return whether ``out`` holds the sums.

    The elements are booleans or integers of at most four bytes, the sums integers of eight. The pure-Python version returns False.

    ``along``: True for one sum per row, False for one sum per column.
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
