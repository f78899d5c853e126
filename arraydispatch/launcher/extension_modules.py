"""Extension modules whose functions the user calls: C code takes nothing but NumPy's own arrays.

C code of installed libraries is called by their Python code mostly, which asks ``np.asarray`` first. Modules that a user has
compiled from his own Cython or C are called by his files, and some libraries are C to their surface. Their functions get the
ndarrays that share the memory of arrays, so that what they write is written; of their classes, those that Python can inherit
from, the methods too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from types import BuiltinFunctionType, MethodDescriptorType, ModuleType
from typing import Any

from ..common.patching import Exchange, Exchanges
from ..common.process_state import process
from .user_compilers import numpys_own
from .user_files import UserFiles

__all__ = ["LIBRARIES", "doors", "open_compiled"]

LIBRARIES = frozenset({"cv2"})
"""Libraries whose surface is C."""

_LOADER = "importlib.machinery:ExtensionFileLoader.exec_module"
_CYTHON = "cython_function_or_method"
_SPECIAL = frozenset({"__call__", "__contains__", "__getitem__", "__setitem__"})


def _in_c(value: Any) -> bool:
    return isinstance(value, BuiltinFunctionType | MethodDescriptorType) or type(value).__name__ == _CYTHON


def _handing(exchange: Exchange) -> Any:
    """The function, handed ndarrays."""
    real = exchange.real

    @wraps(real)
    def answer(*args: Any, **kwargs: Any) -> Any:
        if not exchange.on or process.users is None:
            return real(*args, **kwargs)
        return real(*map(numpys_own, args), **{name: numpys_own(value) for name, value in kwargs.items()})

    return answer


class _Standing(type):
    """Type of what stands for a class written in C: all of that class's objects are instances."""

    _real: type

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        given = {name: numpys_own(value) for name, value in kwargs.items()}
        return super().__call__(*map(numpys_own, args), **given)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls._real)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls._real)


def _inheriting(exchange: Exchange) -> Any:
    """A class that inherits from one written in C, whose methods cannot be exchanged."""
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
    except TypeError:  # which nobody can inherit from, or has a metaclass of its own
        return real


def doors(module: ModuleType, _about: Any = None) -> Iterator[Exchange]:
    """The exchanges for one extension module."""
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


def open_compiled(users: UserFiles, exchanges: Exchanges, opened: Callable[[ModuleType], None]) -> None:
    """From now on, extension modules that are the user's own are handed to ``opened`` when they have been loaded."""

    def executing(exchange: Exchange) -> Any:
        real = exchange.real

        @wraps(real)
        def exec_module(self: Any, module: ModuleType) -> None:
            real(self, module)
            origin = getattr(module.__spec__, "origin", None)
            if exchange.on and origin and not users.is_installed(origin):
                opened(module)

        return exec_module

    exchanges.put(_LOADER, executing)
