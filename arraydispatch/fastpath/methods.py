"""Thin forms of ``Array``'s members, each made from a general form, which it calls where its test fails."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from numpy import ndarray

from .._core import handles
from .._core.handles import Handle
from ..array import exports
from ..backends.kinds import Kind
from ..common.sentinels import DECLINED
from ..dispatch import host_values
from .results import (
    array_of,
    before_write,
    into,
    is_computed,
    is_plain,
    of_one,
    of_two,
    path,
    result_of,
    view_of,
    written,
)  # fmt: skip

__all__ = [
    "binary", "getitem", "inplace", "iterating", "method_of", "of_value", "property_of_value", "reflected", "setitem", "unary", "view_property", "writer",
]  # fmt: skip

__warningregistry__ = None  # NumPy warns here, for a line of the user's: see arraydispatch.launcher.numpy_warnings

_compiled = handles.compiled


# -- operators ---------------------------------------------------------------------------------------------------------


def binary(op: Callable[[Any, Any], Any], general: Any) -> Any:
    """Make the thin form of ``x + y``."""

    def method(self: Handle, other: Any) -> Any:
        made = of_two(op, self, other)
        return general(self, other) if made is DECLINED else made

    return method


def reflected(op: Callable[[Any, Any], Any], general: Any) -> Any:
    """Make the thin form of ``2 + x``."""

    def method(self: Handle, other: Any) -> Any:
        made = of_two(op, other, self)
        return general(self, other) if made is DECLINED else made

    return method


def inplace(op: Callable[[Any, Any, Any], Any], general: Any) -> Any:
    """Make the thin form of ``x += y``."""

    def method(self: Handle, other: Any) -> Any:
        return self if into(op, self, other, self, True) else general(self, other)

    return method


def unary(op: Callable[[Any], Any], general: Any) -> Any:
    """Make the thin form of ``-x``."""

    def method(self: Handle) -> Any:
        made = of_one(op, self)
        return general(self) if made is DECLINED else made

    return method


# -- elements ----------------------------------------------------------------------------------------------------------


def _holds_arrays(key: tuple[Any, ...]) -> bool:
    for part in key:  # noqa: SIM110 -- compiled, a loop takes no generator
        if type(part) is path.array_class:
            return True
    return False


def _of_values(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Replace arrays in a key by ndarrays.

    Compiled code has no frame by which :func:`arraydispatch.array.exports.array_struct` would know the caller.
    """
    parts = []
    for part in key:
        if type(part) is path.array_class and type(part._v) is ndarray:
            parts.append(part._v)
        else:
            parts.append(part)
    return tuple(parts)


def getitem(general: Any) -> Any:
    """Make the thin form of ``x[key]``."""

    def method(self: Handle, key: Any) -> Any:
        x = self._v
        if type(x) is ndarray:
            if type(key) is path.array_class:
                index: Handle = key
                if type(index._v) is not ndarray:
                    return general(self, key)
                key = index._v
            elif _compiled and type(key) is tuple and _holds_arrays(key):
                key = _of_values(key)
            try:
                result = x[key]
            except IndexError:
                if type(key) is not tuple or not _holds_arrays(key):  # NumPy's message would name the wrong type
                    raise
            else:
                kind: Kind = self._kind
                if type(result) is not ndarray:
                    if kind.standard:
                        return general(self, key)
                    path.calls += 1
                    return result
                new: ndarray = result
                owner = new.base
                if owner is x or (owner is not None and owner is x.base):
                    base = self._base
                    return handles.new_array(
                        path.array_class, new, kind, False, self if base is None else base
                    )  # a view: no call
                path.calls += 1
                return array_of(new, kind) if owner is None else host_values.dressed(result, [self])
        return general(self, key)

    exports.indexing.append(method.__code__)
    return method


def setitem(general: Any) -> Any:
    """Make the thin form of ``x[key] = value``."""

    def method(self: Handle, key: Any, value: Any) -> None:
        x = self._v
        if type(x) is ndarray:
            if type(key) is path.array_class:
                index: Handle = key
                if type(index._v) is not ndarray:
                    return general(self, key, value)
                key = index._v
            elif _compiled and type(key) is tuple and _holds_arrays(key):
                key = _of_values(key)
            if type(value) is path.array_class:
                their: Handle = value
                if type(their._v) is not ndarray:
                    return general(self, key, value)
                value = their._v
            before_write(self, x)
            try:
                x[key] = value
            except IndexError:
                if type(key) is not tuple or not _holds_arrays(key):
                    raise
            else:
                written(self)
                return None
        return general(self, key, value)

    exports.indexing.append(method.__code__)
    return method


def iterating(general: Any) -> Any:
    """Make the thin form of ``iter(x)``."""

    def method(self: Handle) -> Any:
        x = self._v
        if type(x) is ndarray and x.ndim and not self._kind.standard:
            return iter(x) if x.ndim == 1 else map(view_of, itertools.repeat(self), x)
        return general(self)

    return method


def of_value(op: Callable[[Any], Any], general: Any) -> Any:
    """Make the thin form of a member that reads the value, as ``float(x)`` and ``len(x)`` do."""

    def method(self: Handle) -> Any:
        x = self._v
        return op(x) if type(x) is ndarray else general(self)

    return method


def property_of_value(get: Callable[[Any], Any], general: Any) -> Any:
    """Make the thin form of ``x.shape``, as :func:`of_value` does."""
    return property(of_value(get, general.fget), general.fset, doc=general.__doc__)


# -- methods -----------------------------------------------------------------------------------------------------------


def method_of(numpys: Any, general: Any, computes: bool = True, operand: bool = False) -> Any:
    """Make the thin form of a method.

    ``computes``: whether the library computes it on large values; ``operand``: whether its first argument may be an array.
    """

    def method(self: Handle, *args: Any, **kwargs: Any) -> Any:
        value = self._v
        if type(value) is ndarray:
            x: ndarray = value
            kind: Kind = self._kind
            if kind.standard or (computes and x.size >= path.least):
                return general(self, *args, **kwargs)
            if not args and not kwargs:
                result = numpys(x)
                if type(result) is ndarray:
                    new: ndarray = result
                    if new.base is None and new.dtype is kind.dtype and new is not x:
                        path.calls += 1
                        return handles.new_array(path.array_class, new, kind, True, None)
            elif operand and args and type(args[0]) is path.array_class:
                their: Handle = args[0]
                value = their._v
                if type(value) is not ndarray or value.size >= path.least or their._kind.backend is not kind.backend:
                    return general(self, *args, **kwargs)
                if (len(args) > 1 or kwargs) and not is_plain(args[1:], kwargs):
                    return general(self, *args, **kwargs)
                result = numpys(x, value, *args[1:], **kwargs)
            elif is_plain(args, kwargs):
                if kwargs:
                    result = numpys(x, *args, **kwargs)
                elif len(args) == 1:
                    result = numpys(x, args[0])
                else:
                    result = numpys(x, *args)
            else:
                return general(self, *args, **kwargs)
            answer = result_of(self, result, kind)
            if is_computed(answer):
                path.calls += 1
            return answer
        return general(self, *args, **kwargs)

    method.__doc__ = general.__doc__
    return method


def writer(numpys: Any, general: Any, computes: bool = False) -> Any:
    """Make the thin form of a method that writes its array and returns None."""

    def method(self: Handle, *args: Any, **kwargs: Any) -> None:
        x = self._v
        if type(x) is ndarray and (x.size < path.least or not computes) and is_plain(args, kwargs):
            before_write(self, x)
            numpys(x, *args, **kwargs)
            written(self)
            return None
        return general(self, *args, **kwargs)

    method.__doc__ = general.__doc__
    return method


def view_property(get: Callable[[Any], Any], general: Any) -> Any:
    """Make the thin form of an attribute that is a view, as ``x.T`` and ``z.real`` are."""

    def of(self: Handle) -> Any:
        if type(self._v) is ndarray:
            x: ndarray = self._v
            part = get(x)
            if part is x:
                return self
            new: ndarray = part
            kind: Any = self._kind
            if new.dtype is not kind.dtype:
                kind = kind.backend._kinds.get(new.dtype)
            if kind is not None and new.base is not None and not kind.standard:
                base = self._base
                return handles.new_array(path.array_class, new, kind, False, self if base is None else base)
        return general.fget(self)

    return property(of, general.fset, doc=general.__doc__)
