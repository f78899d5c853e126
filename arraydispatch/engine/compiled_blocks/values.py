"""Deferred values, which an array holds under compiled execution in place of the library's own array."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

__all__ = ["Aval", "Deferred", "aval_of", "known", "number", "pending", "read_by"]


class Aval:
    """Abstract value: the properties of a value that are known before it is computed. One that is alike is equal.

    Attributes
    ----------
    shape, dtype, device
        Of the value.
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
    """Return the single object of this shape, dtype and device, which makes look-ups by it cheap."""
    key = shape, dtype, device
    found = _avals.get(key)
    if found is None:
        if len(_avals) >= _MOST:
            _avals.clear()
        found = _avals.setdefault(key, Aval(shape, dtype, device))
    return found


class Deferred:
    """A value that is known, pending on a tape, or a number of the host's.

    It never changes: a write makes a new one. Code outside of the engine asks for its shape, dtype and number of
    dimensions as it asks the library's own arrays. Python's own protocols read the value, as they read those: a function that
    takes an array for a sequence of axes, or for a number that it computes with, does not go by shapes alone.

    Attributes
    ----------
    aval : Aval
        Shape, dtype and device.
    shape, dtype, ndim
        Of the value.
    tape : Tape or None
        Tape on which it is pending; None once it has a value, or has failed.
    number : int
        Position among the results of its tape.
    value : native array or None
        The value, where it is known.
    host : NumPy scalar or None
        A number that the library has not been handed yet: an operand of programs, and never part of them.
    failure : Exception or None
        Error that kept it from having a value.
    spare : bool
        Whether a program made the value, and nothing but this object can reach its memory, so that a program may write over it.
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
    """Return the number of the host's, or an ndarray: the library's own operators want its settings in force."""
    return x.host if x.host is not None else _read_by(x)


def _made(aval: Aval) -> Deferred:
    made: Deferred = Deferred.__new__(Deferred)
    made.aval, made.shape, made.dtype, made.ndim = aval, aval.shape, aval.dtype, aval.ndim
    made.tape = made.value = made.host = made.failure = None
    made.number, made.spare = 0, False
    return made


def known(value: Any, aval: Aval) -> Deferred:
    """Return a value that is there."""
    made = _made(aval)
    made.value = value
    return made


def number(host: Any, aval: Aval) -> Deferred:
    """Return a number of the host's."""
    made = _made(aval)
    made.host = host
    return made


def pending(aval: Aval, tape: Any, place: Any) -> Deferred:
    """Return a value that a tape will compute."""
    made = _made(aval)
    made.tape, made.number = tape, place
    return made
