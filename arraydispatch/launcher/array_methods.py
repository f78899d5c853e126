"""``__array__`` methods of user classes, which return an `Array` where C code accepts only an ndarray.

A class made with such a method by a class statement in a user file, or by ``types.new_class``, gets a method that inspects its caller:
code that names the method gets the user's result, and C code, which calls it from ``np.asarray`` and the like, gets that as
an ndarray. A class that gets the method later, or from ``type(name, bases, names)``, is not noticed.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial, wraps
from types import FrameType, FunctionType
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..common.patching import Exchange, Exchanges
from ..memory.roots import memory_of
from .user_files import UserFiles

__all__ = ["for_c_code", "is_copy"]

_NAME = "__array__"
_copies: weakref.WeakValueDictionary[int, np.ndarray[Any, Any]] = weakref.WeakValueDictionary()


def is_copy(seen: Any) -> bool:
    """Whether an ndarray lies in the copy of an `Array` that C code got."""
    memory = memory_of(seen)
    return _copies.get(id(memory)) is memory


def for_c_code(users: UserFiles, exchanges: Exchanges) -> None:
    """Give classes that are made in user files the method."""
    exchanges.put("builtins:__build_class__", partial(_building, users))
    exchanges.put("types:new_class", partial(_new_class, users))


def _building(users: UserFiles, exchange: Exchange) -> Any:
    real = exchange.real

    def __build_class__(body: Callable[[], Any], name: str, /, *bases: Any, **keywords: Any) -> Any:
        made = real(body, name, *bases, **keywords)
        if exchange.on:
            _have_method(users, made, body, sys._getframe(1))
        return made

    return __build_class__


def _new_class(users: UserFiles, exchange: Exchange) -> Any:
    real = exchange.real

    @wraps(real)
    def new_class(name: str, bases: Any = (), kwds: Any = None, exec_body: Any = None) -> Any:
        made = real(name, bases, kwds, exec_body)
        if exchange.on:
            _have_method(users, made, exec_body, sys._getframe(1))
        return made

    return new_class


def _have_method(users: UserFiles, made: Any, body: Any, frame: FrameType) -> None:
    """Give a new class the method; the class was made from a frame, by a function that fills it."""
    found = vars(made).get(_NAME) if isinstance(made, type) else None
    writer = found if type(found) is FunctionType else body
    if found is not None and users.owns_globals(getattr(writer, "__globals__", None), frame):
        with suppress(AttributeError, TypeError):  # a metaclass that lets nobody change its classes
            setattr(made, _NAME, _in_place_of(found))


def _in_place_of(found: Any) -> Any:
    """Return the replacement of a class's ``__array__``."""
    if type(found) is FunctionType:
        return _asked_by(found)
    if type(found) is property and found.fget is not None:
        get = found.fget
        return property(wraps(get)(lambda self: _asked_by(get(self))), found.fset, found.fdel, found.__doc__)
    return found if hasattr(type(found), "__set__") else _Asked(found)


class _Asked:
    """Replacement for an ``__array__`` that is not a function: a static method, a cached one, a callable object."""

    def __init__(self, found: Any) -> None:
        self._found = found

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        bind = getattr(type(self._found), "__get__", None)
        given = self._found if bind is None else bind(self._found, instance, owner)
        return given if instance is None or _NAME in sys._getframe(1).f_code.co_names else _asked_by(given)


def _asked_by(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def __array__(*args: Any, **kwargs: Any) -> Any:
        made = method(*args, **kwargs)
        if not isinstance(made, Handle) or _NAME in sys._getframe(1).f_code.co_names:
            return made
        host = np.asarray(made)
        if not host.flags.writeable:
            host = host.copy("K")
            _copies[id(host)] = host
        return host

    return __array__
