"""``Array.flat``."""

from __future__ import annotations

import functools
import math
import operator
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..dispatch import subscripts, wrapping
from ..memory import views, writing
from ..memory.views import ghost
from .general_forms import of_stranger

__all__ = ["Flat"]

_AXIS = " for axis 0 with size "


def _counting_elements(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method to remove "axis 0" from the message of NumPy's error for an index out of bounds: a flat iterator has no axes."""

    @functools.wraps(method)
    def run(*args: Any) -> Any:
        try:
            return method(*args)
        except IndexError as error:
            said = str(error)
            if type(error) is not IndexError or _AXIS not in said:
                raise
        raise IndexError(said.replace(_AXIS, " for size "))

    return run


def _compared(how: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: how(self._base.ravel(), other._base.ravel() if isinstance(other, Flat) else other)


class Flat:
    """``Array.flat``: a flat iterator over the elements in C order. It can be indexed; indexing restarts the iteration, as in NumPy."""

    __slots__ = ("_base", "_index", "_rest")

    def __init__(self, base: Any) -> None:
        self._base, self._index = base, 0
        self._rest: Iterator[Any] | None = None

    def _restart(self) -> None:
        self._index, self._rest = 0, None

    base = property(lambda self: self._base)
    index = property(lambda self: self._index)

    @property
    def coords(self) -> tuple[int, ...]:
        """The indices of the next element."""
        shape = self._base.shape
        if self._index >= self._base.size:  # one step beyond the last
            return (shape[0], *(0 for _ in shape[1:])) if shape else ()
        return tuple(int(i) for i in np.unravel_index(self._index, shape))

    def __len__(self) -> int:
        return self._base.size

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._rest is None:  # continue from the current index, over one copy on the host
            self._rest = iter(self._base.ravel()[self._index :])
        element = next(self._rest)
        self._index += 1
        return element

    def __getitem__(self, key: Any) -> Any:
        self._index, self._rest = 0, None
        base = self._base
        value = base._v
        if type(key) is int and type(value) is np.ndarray and value.ndim == 1:
            try:
                return base[key]
            except IndexError:
                pass  # NumPy's error of a flat iterator is another one
        place = self._place(key) if type(key) is int else ()
        return self._base[place] if place else self._found(key)

    @_counting_elements
    def _found(self, key: Any) -> Any:
        key = _flat_key(key)
        if isinstance(key, np.integer) and (place := self._place(int(key))):
            return self._base[place]
        found: Any = self._base.ravel()[key]
        return found.copy() if np.ndim(found) else found

    def _place(self, at: int) -> tuple[int, ...]:
        """Return the indices of the element at a flat position; an empty tuple if the position is out of bounds or the array has no axes.
        (Indexing ``ravel()`` may copy all elements.)
        """
        shape = self._base.shape
        size = math.prod(shape)
        if not -size <= at < size:
            return ()
        if len(shape) == 1:
            return (at,)
        places = []
        for n in reversed(shape):
            at, place = divmod(at, n)  # of a negative index too: the quotient counts from the end as well
            places.append(place)
        return tuple(reversed(places))

    def __delitem__(self, key: Any) -> None:
        raise TypeError("Cannot delete iterator elements")

    @_counting_elements
    def __setitem__(self, key: Any, value: Any) -> None:
        if not views.writeable(self._base):
            raise ValueError("underlying array is read-only")
        self._restart()
        value = of_stranger(value, self._base.dtype)
        if isinstance(key, tuple) and (not key or key == (...,)):
            raise IndexError("Assigning to a flat iterator with a 0-D index is not supported")
        key, line = _flat_key(key), self._base.ravel()
        if isinstance(key, int | np.integer):
            ghost(line)[key]  # errors for bounds come first
            value = self._element(value)
        elif np.ndim(value):  # NumPy repeats the values as often as needed
            if isinstance(value, list | tuple | range):
                value = np.array(value, self._base.dtype)  # NumPy itself converts each item
            if not np.size(value):
                return
            count = len(ghost(line)[np.asarray(key) if isinstance(key, Handle) else key])
            value = np.resize(value, count) if count else 0
        elif isinstance(value, np.generic):
            value = np.asarray(value)  # an array is cast; a NumPy scalar would have to fit the dtype
        elif issubclass(type(value), wrapping.scalar_class):
            value = wrapping.zero_d(value)
        if writing.repeats(self._base):
            places = np.unravel_index(np.arange(self._base.size)[key], self._base.shape)
            subscripts.setitem(self._base, places, value)
            return
        line[key] = value
        if line._base is not views.owner(self._base):  # a copy: the elements are not in C order
            subscripts.setitem(self.base, ..., line.reshape(self._base.shape))

    def _element(self, value: Any) -> Any:
        """Convert a value to one element of the array's dtype; return a 0-d array itself if its value is traced, also for a derivative.

        Raise ValueError if the value is not a single element of that dtype.
        """
        value = wrapping.numbers(value, self._base.dtype)
        if isinstance(value, Handle) and ghost(value).ndim == 0 and value._kind.backend.recorded(views.native(value)):
            return value  # not known, or part of a derivative
        element = np.empty(1, self._base.dtype)
        with suppress(TypeError, ValueError, OverflowError):  # outside it, NumPy's error has no context of ours
            element[0] = np.asarray(value) if isinstance(value, Handle) else value
            return element[0]
        raise ValueError("Error setting single item of array.")

    def copy(self) -> Any:
        """Return a copy of the elements as a one-dimensional array."""
        return self._base.flatten()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self._base.ravel(), dtype=dtype)  # the write-back of NumPy's own would not reach the array

    __hash__ = None  # type: ignore[assignment]
    __eq__, __ne__, __lt__, __le__, __gt__, __ge__ = map(
        _compared, (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
    )


def _flat_key(key: Any) -> Any:
    """Normalize the key of a flat iterator, which takes one index; raise IndexError for other keys."""
    if type(key) is bool:  # the element at which the iterator begins, or none
        return 0 if key else slice(0)
    if isinstance(key, tuple):
        if len(key) > 1:
            raise IndexError(
                f"too many indices for flat iterator: flat iterator is 1-dimensional, but {len(key)} were indexed"
            )
        key = key[0] if key else ...
    if key is None or isinstance(key, str | bytes):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`) and integer or boolean arrays are valid indices"
        )
    if isinstance(key, bool | np.bool_) or (isinstance(key, list) and key and isinstance(key[0], bool | np.bool_)):
        raise IndexError(
            "boolean indices for iterators are not supported because of previous behavior that was confusing "
            "(valid boolean indices are expected to work in the future)"
        )
    if key is not (known := of_stranger(key)):
        key = known.tolist() if known.dtype.kind == "f" else known
    if isinstance(key, float) or (isinstance(key, list) and key and isinstance(key[0], float)):
        warnings.warn(
            "Invalid non-array indices for iterator objects are deprecated.", DeprecationWarning, stacklevel=3
        )
        key = np.asarray(key).astype(int)[()]  # NumPy 2.4 still takes what counts as an integer
    return key
