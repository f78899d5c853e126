"""Deferred values: under compiled execution an array holds one in place of the library's own array."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

__all__ = ["Aval", "Deferred", "aval_of", "known", "number", "pending", "read_by"]


class Aval:
    """Abstract value: the properties of a value that are known before it is computed. Compared by value.

    Attributes
    ----------
    shape, dtype, device
        Shape, dtype and device of the value.
    ndim : int
        Number of dimensions.
    size : int
        Number of elements.
    nbytes : int
        Bytes of all elements.
    """

    __slots__ = ("_hash", "device", "dtype", "nbytes", "ndim", "shape", "size")

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    device: Any
    ndim: int
    size: int
    nbytes: int

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> None:
        self.shape, self.dtype, self.device, self.ndim, self.size = shape, dtype, device, len(shape), prod(shape)
        self.nbytes = self.size * dtype.itemsize
        self._hash = hash((shape, dtype, device))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Aval)
            and self.shape == other.shape
            and self.dtype == other.dtype
            and self.device == other.device
        )

    def __hash__(self) -> int:
        return self._hash


_avals: dict[Any, Aval] = {}
_MOST = 1 << 14


def aval_of(shape: Any, dtype: np.dtype[Any], device: Any) -> Aval:
    """Return the abstract value of this shape, dtype and device: always the same object, so that look-ups by it are cheap."""
    key = shape, dtype, device
    found = _avals.get(key)
    if found is None:
        if len(_avals) >= _MOST:
            _avals.clear()
        found = _avals.setdefault(key, Aval(shape, dtype, device))
    return found


class Deferred:
    """Deferred value: computed, pending on a tape, or a number on the host.

    It never changes: a write makes a new one. Like the library's own arrays, it has a shape, dtype and number of
    dimensions, and Python's protocols (``iter``, ``bool``, ``int``, …) read the value. So a function that uses an array as a sequence
    of axes or as a number is found to depend on values.

    Attributes
    ----------
    aval : Aval
        Shape, dtype and device.
    shape, dtype, ndim
        Shape, dtype and number of dimensions of the value.
    tape : Tape or None
        Tape on which the value is pending; None once it is computed or has failed.
    number : int
        Position among the results of the tape.
    value : native array or None
        The value, if it is computed.
    host : NumPy scalar or None
        A number that the library does not have yet: always an operand of programs, never a constant in them.
    failure : Exception or None
        Error that prevented the value.
    spare : bool
        Whether a program made the value and only this object refers to its memory, so that a program may overwrite it.
    """

    __slots__ = ("__weakref__", "aval", "dtype", "failure", "host", "ndim", "number", "shape", "spare", "tape", "value")

    aval: Aval
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    ndim: int
    tape: Any
    number: int
    value: Any
    host: Any
    failure: BaseException | None
    spare: bool

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.aval.size

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.aval.nbytes

    def __iter__(self) -> Iterator[Any]:
        return iter(_read(self))

    def __bool__(self) -> bool:
        return bool(_read(self))

    def __hash__(self) -> int:
        return object.__hash__(self)  # a compiled class with comparisons has none otherwise

    def __lt__(self, other: Any) -> Any:
        return _read(self) < other

    def __le__(self, other: Any) -> Any:
        return _read(self) <= other

    def __gt__(self, other: Any) -> Any:
        return _read(self) > other

    def __ge__(self, other: Any) -> Any:
        return _read(self) >= other

    def __index__(self) -> int:
        return operator.index(_read(self))

    def __int__(self) -> int:
        return int(_read(self))

    def __float__(self) -> float:
        return float(_read(self))

    def __complex__(self) -> complex:
        return complex(_read(self))


_read_by: Callable[[Deferred], Any]


def read_by(read: Callable[[Deferred], Any]) -> None:
    """Install the function that returns a deferred value as an ndarray."""
    global _read_by
    _read_by = read


def _read(x: Deferred) -> Any:
    """Return the number on the host, or the value as an ndarray: the library's own operators would need its settings in force."""
    return x.host if x.host is not None else _read_by(x)


def _made(aval: Aval) -> Deferred:
    made: Deferred = Deferred.__new__(Deferred)
    made.aval, made.shape, made.dtype, made.ndim = aval, aval.shape, aval.dtype, aval.ndim
    made.tape = made.value = made.host = made.failure = None
    made.number, made.spare = 0, False
    return made


def known(value: Any, aval: Aval) -> Deferred:
    """Make a deferred value of a native array."""
    made = _made(aval)
    made.value = value
    return made


def number(host: Any, aval: Aval) -> Deferred:
    """Make a deferred value of a number on the host."""
    made = _made(aval)
    made.host = host
    return made


def pending(aval: Aval, tape: Any, place: Any) -> Deferred:
    """Make a deferred value that a tape will compute; ``place``: the value's number on it."""
    made = _made(aval)
    made.tape, made.number = tape, place
    return made
