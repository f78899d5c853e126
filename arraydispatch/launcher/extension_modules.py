"""Exchanges for extension modules that user files call directly: their C code accepts only ndarrays.

C code of installed libraries is mostly called by their Python code, which calls ``np.asarray`` first. But user files call their own
extension modules directly, and some libraries have a public interface in C. The functions of these modules get ndarrays that share
the memory of arrays, so that writes reach the arrays; so do the methods of their classes, if Python can inherit from these.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from types import BuiltinFunctionType, MethodDescriptorType, ModuleType
from typing import Any

from ..common.patching import Exchange
from ..common.process_state import process
from .user_compilers import numpys_own

LIBRARIES = frozenset({"cv2"})
"""Libraries whose public interface is in C."""

_CYTHON = "cython_function_or_method"
_SPECIAL = frozenset({"__call__", "__contains__", "__getitem__", "__setitem__"})


def _in_c(value: Any) -> bool:
    return isinstance(value, BuiltinFunctionType | MethodDescriptorType) or type(value).__name__ == _CYTHON


def _handing(exchange: Exchange) -> Any:
    """Wrap the function so that it gets ndarrays."""
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
        made = _Standing(real.__name__, (real,), {**body, **about, "__slots__": (), "_real": real})
    except TypeError:  # the class cannot be inherited from, or has its own metaclass
        return real
    _stand_ins[exchange.holder, exchange.name] = made
    return made


_stand_ins: dict[tuple[ModuleType, str], _Standing] = {}
"""(Module, name) -> stand-in for a class written in C."""


@contextmanager
def classes_shown() -> Iterator[None]:
    """Show the classes themselves while another extension module is loaded: its C code inherits from the class that it finds in a module.

    A class in C that inherits from a subclass written in Python ends in an endless recursion of the garbage collector.
    """
    hidden = [at for at, made in _stand_ins.items() if vars(at[0]).get(at[1]) is made]
    for at in hidden:
        setattr(*at, _stand_ins[at]._real)
    try:
        yield
    finally:
        for at in hidden:
            if vars(at[0]).get(at[1]) is _stand_ins[at]._real:
                setattr(*at, _stand_ins[at])


def doors(module: ModuleType, _about: Any = None) -> Iterator[Exchange]:
    """Make the exchanges for one extension module."""
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
