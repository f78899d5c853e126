"""Class statements in user files: NumPy's classes as bases, and the methods that NumPy's C code calls: ``__array__``, ``__array_wrap__``, ``__array_ufunc__`` and ``__array_function__``.

A user's ``__array__`` may return an `Array`, but C code accepts only an ndarray. So if a class statement in a user file defines such a
method, it is replaced by one that inspects its caller: code that calls the method by name gets the user's result,
and C code (of ``np.asarray`` and the like) gets that result as an ndarray. The other methods get the function that the user file has under
NumPy's name, so that ``is`` and ``isinstance`` hold there. Not covered are methods added to a class later, classes made by a function
(``types.new_class``), and an ``__array__`` that is not a function, such as a property.

A stand-in for one of NumPy's classes has its own metaclass, which would conflict with a class's ``metaclass=`` and with those of
its other bases. In these cases a class inherits from NumPy's own class.
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

from .. import fastpath
from .._core.handles import Handle
from ..common import buffers
from ..common.patching import Exchange, Exchanges
from ..common.process_state import process
from ..common.pytrees import mapped, tree_leaves
from ..dispatch import host_fallback, host_values
from ..memory.roots import memory_of
from .user_files import UserFiles

_NAME = "__array__"
_NESTS = frozenset({tuple, list, dict})
_HANDED = ("__array_ufunc__", "__array_function__")
_WRAPS = "__array_wrap__"
_copies: weakref.WeakValueDictionary[int, np.ndarray[Any, Any]] = weakref.WeakValueDictionary()


def is_copy(seen: Any) -> bool:
    """Whether the memory of ``seen``, an ndarray, is a copy of an `Array` that was made for C code."""
    memory = memory_of(seen)
    return _copies.get(id(memory)) is memory


def for_c_code(users: UserFiles, exchanges: Exchanges, twins: dict[Any, Any]) -> None:
    """Replace the methods that NumPy's C code calls in classes that class statements in user files make from now on.

    ``twins``: NumPy's function -> the one that user files have under its name.
    """
    exchanges.put("builtins:__build_class__", partial(_building, users, twins))


def _building(users: UserFiles, twins: dict[Any, Any], exchange: Exchange) -> Any:
    real = exchange.real

    def __build_class__(body: Callable[[], Any], name: str, /, *bases: Any, **keywords: Any) -> Any:
        if exchange.on:
            bases, inherited = _of_numpy(bases, keywords.get("metaclass"))
        made = real(body, name, *bases, **keywords)
        if exchange.on:
            _made(users, twins, made, inherited, sys._getframe(1))
        return made

    return __build_class__


class StandInType(type):
    """Metaclass of stand-ins for NumPy's classes. It determines the base from which class statements inherit."""

    inherits_always = False
    """Whether every subclass inherits from NumPy's own class, not only if metaclasses conflict."""

    def numpys(cls) -> type | None:
        """Return the class for which this one stands; None for a user's subclass of it."""
        raise NotImplementedError

    def inherited(cls, made: Any) -> None:
        """Handle a new class (``made``): its bases named this stand-in, and NumPy's class has taken the stand-in's place."""


def _of_numpy(bases: tuple[Any, ...], metaclass: Any) -> tuple[tuple[Any, ...], list[Any]]:
    """Return the bases of a new class, with NumPy's own class in place of each stand-in that must not be inherited; and these stand-ins."""
    inherited: list[Any] = []
    if any(isinstance(base, type) and issubclass(type(base), StandInType) for base in bases):
        kinds = [type(base) for base in bases if isinstance(base, type)]
        if isinstance(metaclass, type):
            kinds.append(metaclass)
        found = []
        for base in bases:
            own, numpys = type(base), None
            if issubclass(own, StandInType):
                fits = all(issubclass(kind, own) or issubclass(own, kind) for kind in kinds)
                numpys = base.numpys() if own.inherits_always or not fits else None
            if numpys is not None:
                inherited.append(base)
            found.append(base if numpys is None else numpys)
        bases = tuple(found)
    return bases, inherited


def _made(users: UserFiles, twins: dict[Any, Any], made: Any, inherited: list[Any], frame: FrameType) -> None:
    """Notify the stand-ins ``inherited`` of the new class ``made``, which has NumPy's own classes as bases in their place, and replace its
    protocol methods. ``twins``: NumPy's function -> the user files' function; ``frame``: frame of the class statement.
    """
    for stand_in in inherited:
        type(stand_in).inherited(stand_in, made)
    if not isinstance(made, type):
        return
    found = vars(made).get(_NAME)
    if type(found) is FunctionType and users.owns_globals(found.__globals__, frame):
        with suppress(AttributeError, TypeError):  # the metaclass does not allow changes of its classes
            setattr(made, _NAME, _asked_by(found))
    hand_twins(made, twins, lambda method: users.owns_globals(method.__globals__, frame))


def _seen(value: Any) -> Any:
    """Return an argument from NumPy with arrays that share memory in place of ndarrays, and arrays' class in place of ``np.ndarray``."""
    kind = type(value)
    if kind is np.ndarray:
        shared = host_values.sharing(value)
        return value if shared is None else shared
    if value is np.ndarray:
        return getattr(process.wrapper, "cls", value)
    return mapped(_seen, value) if kind in _NESTS else value


def _itself(value: Any) -> Any:
    return value


def _beside_ndarrays(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a protocol method of a subclass of ndarray so that it returns NotImplemented if an ``Array`` is among the arguments, as ndarray's
    method does. NumPy then calls the method of that array, which passes ndarrays.
    """

    def answer(self: Any, func: Any, *more: Any, **kwargs: Any) -> Any:
        if any(isinstance(x, Handle) for x in tree_leaves((more, kwargs))):
            return NotImplemented
        return method(self, func, *more, **kwargs)

    return answer


def _wrapping(method: Callable[..., Any], twins: dict[Any, Any], seen: Callable[[Any], Any]) -> Callable[..., Any]:
    """Wrap a user's ``__array_wrap__``: it gets arguments converted by ``seen``, and in the context the program's ufunc, which is the value
    of NumPy's in ``twins``.
    """

    def given(value: Any) -> Any:
        if type(value) is tuple:
            return tuple(map(given, value))
        return twins[value] if isinstance(value, np.ufunc) else seen(value)

    @wraps(method)
    def __array_wrap__(*args: Any, **kwargs: Any) -> Any:
        return method(*map(given, args), **{name: given(value) for name, value in kwargs.items()})

    return __array_wrap__


def hand_twins(made: type, twins: dict[Any, Any], is_users: Callable[[FunctionType], bool]) -> None:
    """Wrap the protocol methods that the user wrote in the class ``made``, so that they get the user file's functions in
    place of NumPy's.
    """
    for name in (*_HANDED, _WRAPS):
        found = vars(made).get(name)
        if type(found) is FunctionType and not hasattr(found, host_fallback.OF_THE_PROGRAM) and is_users(found):
            # A subclass of ndarray passes its arguments on to ndarray's own method, which takes only ndarrays.
            is_ndarray = issubclass(made, np.ndarray)
            seen = _itself if is_ndarray else _seen
            if name == _WRAPS:
                method = _wrapping(found, twins, seen)
            else:
                handed = fastpath.with_twins(found, twins, seen)
                method = wraps(found)(_beside_ndarrays(handed) if is_ndarray else handed)
            setattr(method, host_fallback.OF_THE_PROGRAM, True)
            with suppress(AttributeError, TypeError):
                setattr(made, name, method)


def _asked_by(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def __array__(*args: Any, **kwargs: Any) -> Any:
        made = method(*args, **kwargs)
        if not isinstance(made, Handle) or _NAME in sys._getframe(1).f_code.co_names:
            return made
        host = np.asarray(made)
        if not buffers.is_writeable(host):
            host = host.copy("K")
            _copies[id(host)] = host
        return host

    return __array__
