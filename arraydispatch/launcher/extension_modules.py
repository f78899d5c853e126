"""Exchanges for extension modules that user files call directly: their C code accepts only ndarrays.

C code of installed libraries is mostly called by their Python code, which calls ``np.asarray`` first. But user files call their own
extension modules directly, and some libraries have a public interface in C. The functions of these modules get ndarrays that share
the memory of arrays, so that writes reach the arrays. So do methods of their classes, if Python can inherit from the classes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import wraps
from types import BuiltinFunctionType, MethodDescriptorType, ModuleType
from typing import Any

from ..common.patching import Exchange, Exchanges
from ..common.process_state import process
from .user_compilers import numpys_own

LIBRARIES = frozenset({"cv2"})
"""Libraries with a public interface in C."""

_CYTHON = "cython_function_or_method"
_SPECIAL = frozenset({"__call__", "__contains__", "__getitem__", "__setitem__"})


def _in_c(value: Any) -> bool:
    return isinstance(value, BuiltinFunctionType | MethodDescriptorType) or type(value).__name__ == _CYTHON


def _handing(exchange: Exchange) -> Any:
    """Wrap the exchanged function so that it gets ndarrays."""
    real = exchange.real

    @wraps(real)
    def answer(*args: Any, **kwargs: Any) -> Any:
        if not exchange.on or process.users is None:
            return real(*args, **kwargs)
        return real(*map(numpys_own, args), **{name: numpys_own(value) for name, value in kwargs.items()})

    return answer


class _Standing(type):
    """Metaclass of the stand-in for a class written in C: instances of that class are instances of the stand-in."""

    _real: type

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        given = {name: numpys_own(value) for name, value in kwargs.items()}
        return super().__call__(*map(numpys_own, args), **given)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls._real)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls._real)


def _inheriting(exchange: Exchange) -> Any:
    """Make a subclass of a class written in C, because the methods of the class itself cannot be exchanged."""
    real: Any = exchange.real

    def method(name: str) -> Any:
        inner = getattr(real, name)

        @wraps(inner)
        def call(self: Any, *args: Any, **kwargs: Any) -> Any:
            return inner(self, *map(numpys_own, args), **{key: numpys_own(value) for key, value in kwargs.items()})

        return call

    names = [
        name
        for name, member in vars(real).items()
        if (_in_c(member) and not name.startswith("__")) or (name in _SPECIAL and callable(member))
    ]
    body = {name: method(name) for name in names}
    about = {"__module__": real.__module__, "__qualname__": real.__qualname__, "__doc__": real.__doc__}
    try:
        return _Standing(real.__name__, (real,), {**body, **about, "__slots__": (), "_real": real})
    except TypeError:  # the class cannot be inherited from, or has its own metaclass
        return real


def doors(module: ModuleType, _about: Any = None) -> Iterator[Exchange]:
    """Yield the exchanges for one extension module."""
    for name, member in vars(module).copy().items():
        if name.startswith("_"):
            continue
        if _in_c(member):
            yield Exchange(module, name, _handing, "extension modules")
        elif type(member) is type and member.__module__ == module.__name__ and not issubclass(member, BaseException):
            yield from _of_class(module, name, member)


def _of_class(module: ModuleType, name: str, cls: type) -> Iterator[Exchange]:
    if not any(_in_c(member) for member in vars(cls).values()):
        return
    if cls.__flags__ & _IMMUTABLE:
        yield Exchange(module, name, _inheriting, "extension modules")
        return
    for method, member in vars(cls).copy().items():
        inner = member.__func__ if isinstance(member, staticmethod | classmethod) else member
        if _in_c(inner) and (not method.startswith("_") or method in _SPECIAL or method == "__init__"):
            yield Exchange(cls, method, _handing, "extension modules")


_IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE


@dataclass(eq=False)
class Loads:
    """Loads the extension modules of a run, and opens their doors.

    While a module is loaded whose file contains the name of a class written in C, modules have the class itself under that name, no stand-in:
    Cython's ``cimport`` takes its C code from there, and a class in C can inherit from no other. Until the load ends, Python code that calls the
    class, in other threads too, passes arrays as they are.

    Parameters
    ----------
    exchanges : Exchanges
        Exchanges of the run, which close the doors.
    """

    exchanges: Exchanges
    _lock: Any = field(default_factory=threading.Lock)
    _running: list[bytes] = field(default_factory=list)
    """Contents of the files of the modules that are being loaded."""
    _classes: list[Exchange] = field(default_factory=list)

    @contextmanager
    def loading(self, module: ModuleType) -> Iterator[None]:
        """Load a module in this block, and open its doors."""
        content = b""
        with suppress(OSError), open(str(module.__spec__ and module.__spec__.origin), "rb") as file:
            content = file.read()
        with self._lock:
            self._running.append(content)
            for each in self._classes:
                if each.name.encode() in content:
                    each.undo()
        made: list[Exchange] = []
        try:
            yield
            made = list(doors(module))
        finally:
            with self._lock:
                self._running.remove(content)
                self._open(made)

    def _open(self, made: list[Exchange]) -> None:
        for each in made:
            if each.name in vars(each.holder) and isinstance(vars(each.holder)[each.name], type):
                self._classes.append(each)
            else:
                self.exchanges.add(each)
        for each in self._classes:
            name = each.name.encode()
            if not any(name in content for content in self._running):
                self.exchanges.add(each)
