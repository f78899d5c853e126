"""Stand-ins for NumPy's iterators and ``np.vectorize`` in user files. They iterate over the memory of arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np

import arraydispatch as ad

from ..common import events
from ..dispatch import parts
from ..memory import views
from .adoption import holds_array, move, to_host
from .array_methods import StandInType

__all__ = ["ITERATORS", "METACLASSES", "brought", "nested_iters"]

_real = np.ndarray


def brought(what: str, values: Any) -> Any:
    """Return ``values`` with ndarrays in place of arrays, and report that the function ``what`` processes these on the host."""
    if isinstance(values, ad.Array) or (type(values) in (list, tuple) and holds_array(values)):
        events.left(what, "it goes element by element, on the host")
    return to_host(values)


class ByName(StandInType, type):
    """Metaclass of stand-ins that are pickled by the name of NumPy's class."""

    def numpys(cls) -> type | None:
        """Return NumPy's class; None for a user's subclass of the stand-in."""
        return cls.__base__ if cls.__module__ == "numpy" else None


class vectorize(np.vectorize, metaclass=ByName):
    __module__ = "numpy"
    __doc__ = np.vectorize.__doc__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = tuple(brought("numpy.vectorize", value) for value in args)
        result = super().__call__(*args, **{key: brought("numpy.vectorize", kwargs[key]) for key in kwargs})
        return result if callable(result) and not isinstance(result, _real) else move(result, "numpy.vectorize")


def _memory(array: Any) -> Any:
    """Move an array to the host state if needed, and return the ndarray on its memory; None if the host cannot access the memory."""
    with views.exchange:
        backend, value = array._kind.backend, views.native(array)
        if not backend.native_is_ndarray:
            shares = backend.is_concrete(value) and backend.shows_scalars(value)
            if not shares or (backend.mutable and not backend.shares_with_host(value)):
                return None
            parts.settle(array, "its elements are walked one by one")
        views.expose(array)  # writes during iteration are not reported
        return array._v


class ndenumerate(np.ndenumerate, metaclass=ByName):
    __module__ = "numpy"
    __doc__ = np.ndenumerate.__doc__

    def __init__(self, arr: Any) -> None:
        memory = _memory(arr) if isinstance(arr, ad.Array) else None
        super().__init__(brought("numpy.ndenumerate", arr) if memory is None else memory)


_WRITING = frozenset({"readwrite", "writeonly"})


class _Iterator:
    """``np.nditer`` over the memory of arrays; if the host cannot access it, over copies that are written back at the end (``pairs``: array
    and copy).
    """

    __slots__ = ("__weakref__", "_iterator", "_pairs", "_walked")

    def __init__(
        self, iterator: np.nditer, pairs: list[tuple[Any, np.ndarray[Any, Any]]], walked: dict[int, Any]
    ) -> None:
        self._iterator = iterator
        self._pairs = pairs
        self._walked = walked

    def _write_back(self) -> None:
        for array, values in self._pairs:
            array[...] = values

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return next(self._iterator)
        except StopIteration:
            self._write_back()
            raise

    def iternext(self) -> bool:
        """Advance, as ``np.nditer.iternext`` does."""
        more = self._iterator.iternext()
        if not more:
            self._write_back()
        return more

    def close(self) -> None:
        """Write back and release, as ``np.nditer.close`` does."""
        self._iterator.close()
        self._write_back()

    def __enter__(self) -> Self:
        self._iterator.__enter__()
        return self

    def __exit__(self, *exc: Any) -> None:  # noqa: PYI036 -- passed on as they are
        self._iterator.__exit__(*exc)
        self._write_back()

    @property
    def operands(self) -> tuple[Any, ...]:
        """Return the operands, with the user's own ``Array`` objects among them."""
        mine = {**self._walked, **{id(host): array for array, host in self._pairs}}
        return tuple(mine.get(id(operand), operand) for operand in self._iterator.operands)

    def __getitem__(self, key: Any) -> Any:
        return self._iterator[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._iterator[key] = value

    def __len__(self) -> int:
        return len(self._iterator)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._iterator, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__slots__:
            super().__setattr__(name, value)
        else:  # setting `iterindex` and similar attributes moves the iterator
            setattr(self._iterator, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._iterator, name)


class NditerType(StandInType, type):
    inherits_always = True

    def numpys(cls) -> type | None:
        """Return NumPy's class, which lets no class inherit from it."""
        return np.nditer

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, (np.nditer, _Iterator))

    def __call__(cls, op: Any, flags: Any = None, op_flags: Any = None, *args: Any, **kwargs: Any) -> Any:
        operands = list(op) if type(op) in (list, tuple) else [op]
        each = list(op_flags) if op_flags else []
        if each and isinstance(each[0], str):
            each = [each] * len(operands)
        pairs = []
        walked: dict[int, Any] = {}
        for at, operand in enumerate(operands):
            if isinstance(operand, ad.Array):
                writes = at < len(each) and not _WRITING.isdisjoint(each[at])
                memory = _memory(operand)
                if memory is not None:
                    operands[at] = memory
                    walked[id(memory)] = operand
                    continue
                operands[at] = host = brought("numpy.nditer", operand)
                if writes:
                    operands[at] = host = host.copy()
                    pairs.append((operand, host))
        new: Any = operands if type(op) in (list, tuple) else operands[0]
        options = {} if op_flags is None else {"op_flags": op_flags}
        iterator = np.nditer(new, () if flags is None else flags, *options.values(), *args, **kwargs)
        return _Iterator(iterator, pairs, walked) if pairs or walked else iterator


class nditer(metaclass=NditerType):
    __module__ = "numpy"
    __doc__ = np.nditer.__doc__


def nested_iters(op: Any, *args: Any, **kwargs: Any) -> Any:
    """``np.nested_iters`` over the memory of arrays."""

    def walked(x: Any) -> Any:
        memory = _memory(x) if isinstance(x, ad.Array) else None
        return x if memory is None else memory

    return np.nested_iters(type(op)(map(walked, op)) if type(op) in (list, tuple) else walked(op), *args, **kwargs)


ITERATORS: dict[str, type] = {"vectorize": vectorize, "ndenumerate": ndenumerate, "nditer": nditer}
METACLASSES = (ByName, NditerType)
"""Metaclasses of the classes that are pickled by name."""
