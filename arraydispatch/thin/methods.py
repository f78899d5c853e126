"""The thin path's operators and methods of ``Array``, each made from a general one, which it calls wherever its test fails."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import exports, views
from ..dispatch import hosted
from ..engine import tape
from ..state import process
from . import results
from .results import (
    FOLLOWED,
    SCALARS,
    array_of,
    before_write,
    is_plain,
    is_read,
    result_of,
    ticks,
    view_of,
    waiting,
)

__all__ = [
    "binary", "getitem", "inplace", "iterating", "method_of", "of_value", "property_of_value", "reflected", "setitem", "unary", "view_property", "writer",
]  # fmt: skip

__warningregistry__ = None  # NumPy warns here, for a line of the user's: see arraydispatch.launcher.warned

_ndarray = np.ndarray
_cls: Any = None
_bare: Any = None
least = 0


@process.follows("wrapper", *FOLLOWED)
def _follow() -> None:
    global _bare, _cls, least
    _bare, _cls, least = results.bare, results.array_class, results.least


_follow()


def _is_large(x: Any, y: Any) -> bool:
    """Whether the second operand is large, or both are together: each repeated along axes of the other."""
    if y.size >= least or x.shape == y.shape:
        return bool(y.size >= least)
    try:
        return np.broadcast(x, y).size >= least
    except ValueError:
        return False


# -- operators ---------------------------------------------------------------------------------------------------------


def binary(op: Callable[[Any, Any], Any], general: Any) -> Any:
    """``x + y``."""

    def method(self: Any, other: Any) -> Any:
        x = self._v
        if type(x) is _ndarray and (size := x.size) < least:
            kind = self._kind
            if type(other) is _cls:
                y = other._v
                if type(y) is not _ndarray or (size * y.size >= least and _is_large(x, y)):
                    return general(self, other)
                if other._kind is not kind and other._kind.backend is not kind.backend:
                    return general(self, other)
                result = op(x, y)
            elif type(other) in SCALARS:
                result = op(x, other)
            else:
                return general(self, other)
            next(ticks)
            if type(result) is _ndarray:
                if result.dtype is not kind.dtype:
                    return array_of(result, kind)
                made = _bare()
                made._v = result
                made._kind = kind
                made._owned = True
                made._root = made._ghost = made._base = None
                made._writes = 0
                return made
            if not kind.standard:
                return result
        return general(self, other)

    return method


def reflected(op: Callable[[Any, Any], Any], general: Any) -> Any:
    """``2 + x``."""

    def method(self: Any, other: Any) -> Any:
        x = self._v
        if type(x) is _ndarray and x.size < least and type(other) in SCALARS:
            next(ticks)
            result = op(other, x)
            if type(result) is _ndarray:
                return array_of(result, self._kind)
            if not self._kind.standard:
                return result
        return general(self, other)

    return method


def inplace(op: Callable[[Any, Any, Any], Any], general: Any) -> Any:
    """``x += y``."""

    def method(self: Any, other: Any) -> Any:
        x = self._v
        if type(x) is _ndarray and (x.size < least or not tape.least):  # both are --min-size, where both are in force
            if waiting and ((memory := x.base) is not None or id(x) in waiting) and is_read(memory):
                views.run_readers(self)
            if type(other) is _cls:
                y = other._v
                if type(y) is not _ndarray:
                    return general(self, other)
                op(x, y, x)
            elif type(other) in SCALARS:
                op(x, other, x)
            else:
                return general(self, other)
            next(ticks)
            base = self._base
            if base is None:
                self._writes += 1
            else:
                base._writes += 1
            return self
        del x  # of which there may be one reference alone, then
        return general(self, other)

    return method


def unary(op: Callable[[Any], Any], general: Any) -> Any:
    """``-x``."""

    def method(self: Any) -> Any:
        x = self._v
        if type(x) is _ndarray and x.size < least:
            next(ticks)
            result = op(x)
            if type(result) is _ndarray:
                return array_of(result, self._kind)
            if not self._kind.standard:
                return result
        return general(self)

    return method


# -- elements ----------------------------------------------------------------------------------------------------------


def _holds_arrays(key: Any) -> bool:
    return type(key) is tuple and _cls in map(type, key)


def getitem(general: Any) -> Any:
    """``x[key]``."""

    def method(self: Any, key: Any) -> Any:
        x = self._v
        if type(x) is _ndarray:
            if type(key) is _cls:
                if type(key._v) is not _ndarray:
                    return general(self, key)
                key = key._v
            try:
                result = x[key]
            except IndexError:
                if not _holds_arrays(key):  # of which NumPy says less than of ndarrays
                    raise
            else:
                next(ticks)
                if type(result) is not _ndarray:
                    return result if not self._kind.standard else general(self, key)
                owner = result.base
                if owner is x or (owner is not None and owner is x.base):
                    made = _bare()
                    base = self._base
                    made._v = result
                    made._kind = self._kind
                    made._owned = False
                    made._root = made._ghost = None
                    made._base = self if base is None else base
                    made._writes = 0
                    return made
                return array_of(result, self._kind) if owner is None else hosted.dressed(result, [self])
        return general(self, key)

    exports.indexing.append(method.__code__)
    return method


def setitem(general: Any) -> Any:
    """``x[key] = value``."""

    def method(self: Any, key: Any, value: Any) -> None:
        x = self._v
        if type(x) is _ndarray:
            if type(key) is _cls:
                if type(key._v) is not _ndarray:
                    return general(self, key, value)
                key = key._v
            if type(value) is _cls:
                if type(value._v) is not _ndarray:
                    return general(self, key, value)
                value = value._v
            if waiting and ((memory := x.base) is not None or id(x) in waiting) and is_read(memory):
                views.run_readers(self)
            try:
                x[key] = value
            except IndexError:
                if not _holds_arrays(key):
                    raise
            else:
                next(ticks)
                base = self._base
                if base is None:
                    self._writes += 1
                else:
                    base._writes += 1
                return None
        return general(self, key, value)

    exports.indexing.append(method.__code__)
    return method


def iterating(general: Any) -> Any:
    """``iter(x)``."""

    def method(self: Any) -> Any:
        x = self._v
        if type(x) is _ndarray and x.ndim and not self._kind.standard:
            next(ticks)
            return iter(x) if x.ndim == 1 else map(view_of, itertools.repeat(self), x)
        return general(self)

    return method


def of_value(op: Callable[[Any], Any], general: Any) -> Any:
    """What Python asks of a value: ``float(x)``, ``len(x)``, ``x.shape``."""

    def method(self: Any) -> Any:
        x = self._v
        return op(x) if type(x) is _ndarray else general(self)

    return method


def property_of_value(get: Callable[[Any], Any], general: Any) -> Any:
    """``x.shape``, as :func:`of_value`."""
    return property(of_value(get, general.fget), general.fset, doc=general.__doc__)


# -- methods -----------------------------------------------------------------------------------------------------------


def method_of(numpys: Any, general: Any, computes: bool = True, operand: bool = False) -> Any:
    """``computes``: whether the library does it on large values; ``operand``: whether its first argument may be an array."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        x = self._v
        if type(x) is _ndarray and (x.size < least or not computes) and not self._kind.standard:
            if not args and not kwargs:
                result = numpys(x)
                kind = self._kind
                if type(result) is _ndarray and result.base is None and result.dtype is kind.dtype and result is not x:
                    next(ticks)
                    made = _bare()
                    made._v = result
                    made._kind = kind
                    made._owned = True
                    made._root = made._ghost = made._base = None
                    made._writes = 0
                    return made
            elif operand and args and type(y := args[0]) is _cls:
                value = y._v
                if type(value) is not _ndarray or value.size >= least or y._kind.backend is not self._kind.backend:
                    return general(self, *args, **kwargs)
                if (len(args) > 1 or kwargs) and not is_plain(args[1:], kwargs):
                    return general(self, *args, **kwargs)
                result = numpys(x, value, *args[1:], **kwargs)
            elif is_plain(args, kwargs):
                result = numpys(x, *args, **kwargs)
            else:
                return general(self, *args, **kwargs)
            next(ticks)
            return result_of(self, result, self._kind)
        return general(self, *args, **kwargs)

    return _named(method, general)


def _named(method: Any, general: Any) -> Any:
    method.__name__, method.__doc__ = general.__name__, general.__doc__
    method.__qualname__ = general.__qualname__
    return method


def writer(numpys: Any, general: Any, computes: bool = False) -> Any:
    """A method that writes its array and returns nothing."""

    def method(self: Any, *args: Any, **kwargs: Any) -> None:
        x = self._v
        if type(x) is _ndarray and (x.size < least or not computes) and is_plain(args, kwargs):
            before_write(self, x)
            numpys(x, *args, **kwargs)
            next(ticks)
            views.owner(self)._writes += 1
            return None
        return general(self, *args, **kwargs)

    return _named(method, general)


def view_property(get: Callable[[Any], Any], general: Any) -> Any:
    """``x.T``."""

    def of(self: Any) -> Any:
        x = self._v
        return view_of(self, get(x)) if type(x) is _ndarray else general.fget(self)

    return property(of, general.fset, doc=general.__doc__)
