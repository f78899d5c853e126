"""The thin path's operators and methods of ``Array``, each made from a general one, which it calls wherever its test fails."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import ndarray

from .._core import handles
from .._core.handles import Handle
from ..array import exports
from ..backends.kinds import Kind
from ..dispatch import host_values
from ..engine.recording import tape
from ..memory import views
from ..ufuncs import rows
from . import results
from .results import (
    SCALARS,
    array_of,
    before_write,
    in_rows,
    is_computed,
    is_plain,
    is_read,
    result_of,
    view_of,
    waiting,
)

__all__ = [
    "binary", "getitem", "inplace", "iterating", "method_of", "of_value", "property_of_value", "reflected", "setitem", "unary", "view_property", "writer",
]  # fmt: skip

__warningregistry__ = None  # NumPy warns here, for a line of the user's: see arraydispatch.launcher.numpy_warnings

_compiled = handles.compiled
_cls: Any = None
least = 0
_calls = 0


def _counted() -> int:
    return _calls


results.counters.append(_counted)


@results.follows
def _follow() -> None:
    global _cls, least
    _cls, least = results.array_class, results.least


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

    def method(self: Handle, other: Any) -> Any:
        global _calls
        value = self._v
        if type(value) is ndarray:
            x: ndarray = value
            if x.size >= least:
                return general(self, other)
            kind: Kind = self._kind
            if type(other) is _cls:
                their: Handle = other
                value = their._v
                if type(value) is not ndarray:
                    return general(self, other)
                y: ndarray = value
                if x.size * y.size >= least and _is_large(x, y):
                    return general(self, other)
                theirs: Kind = their._kind
                if theirs is not kind and theirs.backend is not kind.backend:
                    return general(self, other)
                if in_rows(x, y):
                    result = rows.call(op, x, y)
                else:
                    result = op(x, y)
            elif type(other) in SCALARS:
                if in_rows(x, other):
                    result = rows.call(op, x, other)
                else:
                    result = op(x, other)
            else:
                return general(self, other)
            _calls += 1
            if type(result) is ndarray:
                new: ndarray = result
                if new.dtype is not kind.dtype:
                    return array_of(new, kind)
                return handles.new_array(_cls, new, kind, True, None)
            if not kind.standard:
                return result
        return general(self, other)

    return method


def reflected(op: Callable[[Any, Any], Any], general: Any) -> Any:
    """``2 + x``."""

    def method(self: Handle, other: Any) -> Any:
        global _calls
        value = self._v
        if type(value) is ndarray and type(other) in SCALARS:
            x: ndarray = value
            if x.size < least:
                _calls += 1
                kind: Kind = self._kind
                if in_rows(x, other):
                    result = rows.call(op, other, x)
                else:
                    result = op(other, x)
                if type(result) is ndarray:
                    return array_of(result, kind)
                if not kind.standard:
                    return result
        return general(self, other)

    return method


def inplace(op: Callable[[Any, Any, Any], Any], general: Any) -> Any:
    """``x += y``."""

    def method(self: Handle, other: Any) -> Any:
        global _calls
        x = self._v
        if type(x) is ndarray and (x.size < least or not tape.least):  # both are --min-size, where both are in force
            if waiting and ((memory := x.base) is not None or id(x) in waiting) and is_read(memory):
                views.run_readers(self)
            if type(other) is _cls:
                their: Handle = other
                y = their._v
                if type(y) is not ndarray:
                    return general(self, other)
                if in_rows(x, y):
                    rows.call(op, x, y, x)
                else:
                    op(x, y, x)
            elif type(other) in SCALARS:
                if in_rows(x, other):
                    rows.call(op, x, other, x)
                else:
                    op(x, other, x)
            else:
                return general(self, other)
            _calls += 1
            base: Handle | None = self._base
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

    def method(self: Handle) -> Any:
        global _calls
        value = self._v
        if type(value) is ndarray:
            x: ndarray = value
            if x.size < least:
                _calls += 1
                kind: Kind = self._kind
                if in_rows(x, 0):
                    result = rows.call(op, x)
                else:
                    result = op(x)
                if type(result) is ndarray:
                    return array_of(result, kind)
                if not kind.standard:
                    return result
        return general(self)

    return method


# -- elements ----------------------------------------------------------------------------------------------------------


def _holds_arrays(key: tuple[Any, ...]) -> bool:
    for part in key:  # noqa: SIM110 -- compiled, a loop takes no generator
        if type(part) is _cls:
            return True
    return False


def _of_values(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """A key with ndarrays in place of arrays: compiled, this has no frame by which :func:`arraydispatch.array.exports.array_struct` knows who asks."""
    parts = []
    for part in key:
        if type(part) is _cls and type(part._v) is ndarray:
            parts.append(part._v)
        else:
            parts.append(part)
    return tuple(parts)


def getitem(general: Any) -> Any:
    """``x[key]``."""

    def method(self: Handle, key: Any) -> Any:
        global _calls
        x = self._v
        if type(x) is ndarray:
            if type(key) is _cls:
                index: Handle = key
                if type(index._v) is not ndarray:
                    return general(self, key)
                key = index._v
            elif _compiled and type(key) is tuple and _holds_arrays(key):
                key = _of_values(key)
            try:
                result = x[key]
            except IndexError:
                if type(key) is not tuple or not _holds_arrays(key):  # of which NumPy says less than of ndarrays
                    raise
            else:
                kind: Kind = self._kind
                if type(result) is not ndarray:
                    if kind.standard:
                        return general(self, key)
                    _calls += 1
                    return result
                new: ndarray = result
                owner = new.base
                if owner is x or (owner is not None and owner is x.base):
                    base = self._base
                    return handles.new_array(_cls, new, kind, False, self if base is None else base)  # a view: no call
                _calls += 1
                return array_of(new, kind) if owner is None else host_values.dressed(result, [self])
        return general(self, key)

    exports.indexing.append(method.__code__)
    return method


def setitem(general: Any) -> Any:
    """``x[key] = value``."""

    def method(self: Handle, key: Any, value: Any) -> None:
        global _calls
        x = self._v
        if type(x) is ndarray:
            if type(key) is _cls:
                index: Handle = key
                if type(index._v) is not ndarray:
                    return general(self, key, value)
                key = index._v
            elif _compiled and type(key) is tuple and _holds_arrays(key):
                key = _of_values(key)
            if type(value) is _cls:
                their: Handle = value
                if type(their._v) is not ndarray:
                    return general(self, key, value)
                value = their._v
            if waiting and ((memory := x.base) is not None or id(x) in waiting) and is_read(memory):
                views.run_readers(self)
            try:
                x[key] = value
            except IndexError:
                if type(key) is not tuple or not _holds_arrays(key):
                    raise
            else:
                _calls += 1
                base: Handle | None = self._base
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

    def method(self: Handle) -> Any:
        x = self._v
        if type(x) is ndarray and x.ndim and not self._kind.standard:
            return iter(x) if x.ndim == 1 else map(view_of, itertools.repeat(self), x)
        return general(self)

    return method


def of_value(op: Callable[[Any], Any], general: Any) -> Any:
    """What Python asks of a value: ``float(x)``, ``len(x)``, ``x.shape``."""

    def method(self: Handle) -> Any:
        x = self._v
        return op(x) if type(x) is ndarray else general(self)

    return method


def property_of_value(get: Callable[[Any], Any], general: Any) -> Any:
    """``x.shape``, as :func:`of_value`."""
    return property(of_value(get, general.fget), general.fset, doc=general.__doc__)


# -- methods -----------------------------------------------------------------------------------------------------------


def method_of(numpys: Any, general: Any, computes: bool = True, operand: bool = False) -> Any:
    """``computes``: whether the library does it on large values; ``operand``: whether its first argument may be an array."""

    def method(self: Handle, *args: Any, **kwargs: Any) -> Any:
        global _calls
        value = self._v
        if type(value) is ndarray:
            x: ndarray = value
            kind: Kind = self._kind
            if kind.standard or (computes and x.size >= least):
                return general(self, *args, **kwargs)
            if not args and not kwargs:
                result = numpys(x)
                if type(result) is ndarray:
                    new: ndarray = result
                    if new.base is None and new.dtype is kind.dtype and new is not x:
                        _calls += 1
                        return handles.new_array(_cls, new, kind, True, None)
            elif operand and args and type(args[0]) is _cls:
                their: Handle = args[0]
                value = their._v
                if type(value) is not ndarray or value.size >= least or their._kind.backend is not kind.backend:
                    return general(self, *args, **kwargs)
                if (len(args) > 1 or kwargs) and not is_plain(args[1:], kwargs):
                    return general(self, *args, **kwargs)
                result = numpys(x, value, *args[1:], **kwargs)
            elif is_plain(args, kwargs):
                result = numpys(x, *args, **kwargs)
            else:
                return general(self, *args, **kwargs)
            answer = result_of(self, result, kind)  # `made` is an array's name, compiled
            if is_computed(answer):
                _calls += 1
            return answer
        return general(self, *args, **kwargs)

    method.__doc__ = general.__doc__
    return method


def writer(numpys: Any, general: Any, computes: bool = False) -> Any:
    """A method that writes its array and returns nothing."""

    def method(self: Handle, *args: Any, **kwargs: Any) -> None:
        global _calls
        x = self._v
        if type(x) is ndarray and (x.size < least or not computes) and is_plain(args, kwargs):
            before_write(self, x)
            numpys(x, *args, **kwargs)
            _calls += 1
            views.owner(self)._writes += 1
            return None
        return general(self, *args, **kwargs)

    method.__doc__ = general.__doc__
    return method


def view_property(get: Callable[[Any], Any], general: Any) -> Any:
    """``x.T``."""

    def of(self: Any) -> Any:
        x = self._v
        return view_of(self, get(x)) if type(x) is ndarray else general.fget(self)

    return property(of, general.fset, doc=general.__doc__)
