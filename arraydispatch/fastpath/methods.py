"""Thin forms of ``Array``'s members. Each wraps the general form, and falls back to it if its test of types and sizes fails."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import numpy as np
from numpy import ndarray

from .._core import handles, machine
from .._core.handles import Handle, shortened
from ..array import exports
from ..backends.kinds import Kind
from ..common.arguments import PLAIN, SEQUENCES, with_scalar
from ..common.process_state import process
from ..common.sentinels import DECLINED
from ..common.signal_safety import of_handler
from ..dispatch import host_values
from ..ufuncs import lanes
from ..ufuncs.facts import INSTRUCTIONS
from .results import (
    array_of,
    at,
    before_write,
    computed_onto,
    into,
    is_computed,
    is_numpys,
    is_plain,
    keywords_of,
    may_go_by_lanes,
    of_kept,
    of_one,
    of_two,
    onto,
    part_of,
    path,
    plain_sequence,
    result_of,
    ufunc,
    values_of,
    view_of,
    written,
)  # fmt: skip

__all__ = [
    "array_ufunc", "binary", "class_shown", "dtype", "getitem", "inplace", "iterating", "length", "method_of", "of_value", "property_of_value", "reflected", "setitem", "unary", "view", "view_property", "writer",
]  # fmt: skip

__warningregistry__ = None  # NumPy warns here, for a line of the user's: see arraydispatch.launcher.numpy_warnings

_compiled = handles.compiled
_square = np.square


# -- operators ---------------------------------------------------------------------------------------------------------


def binary(op: Callable[[Any, Any], Any], general: Any, recorded: bool) -> Any:
    """Make the thin form of ``x + y``; ``recorded``: whether fused execution may record it."""
    by_rows, never = op in INSTRUCTIONS, not recorded

    def method(self: Handle, other: Any) -> Any:
        made = of_two(op, self, other, by_rows, never) if type(self._v) is ndarray else DECLINED
        return general(self, other) if made is DECLINED else made

    def power(self: Any, other: Any, modulo: Any = None) -> Any:
        made: Any = DECLINED
        if modulo is None:  # NumPy's operator takes the square, too, after a longer look at the exponent
            squared = type(other) is int and other == 2
            made = of_one(_square, self, never) if squared else of_two(op, self, other, by_rows, never)
        return general(self, other, modulo) if made is DECLINED else made

    return power if op is operator.pow else method


def reflected(op: Callable[[Any, Any], Any], general: Any) -> Any:
    """Make the thin form of ``2 + x``."""
    by_rows = op in INSTRUCTIONS

    def method(self: Handle, other: Any) -> Any:
        made = of_two(op, other, self, by_rows) if type(self._v) is ndarray else DECLINED
        return general(self, other) if made is DECLINED else made

    return method


def inplace(op: Callable[[Any, Any, Any], Any], general: Any) -> Any:
    """Make the thin form of ``x += y``."""

    def method(self: Any, other: Any) -> Any:
        return self if into(op, self, other, self, True) else general(self, other)

    return method


def unary(op: Callable[[Any], Any], general: Any) -> Any:
    """Make the thin form of ``-x``."""

    def method(self: Handle) -> Any:
        made = of_one(op, self) if type(self._v) is ndarray else DECLINED
        return general(self) if made is DECLINED else made

    return method


# -- elements ----------------------------------------------------------------------------------------------------------


def _holds_arrays(key: tuple[Any, ...]) -> bool:
    for part in key:  # noqa: SIM110 -- compiled, a loop takes no generator
        if type(part) is path.array_class:
            return True
    return False


def _of_values(key: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a key with ndarrays in place of arrays.

    NumPy treats an empty array of another class as an empty index, whatever its dtype; and compiled code has no frame by which
    :func:`arraydispatch.array.exports.array_struct` could identify the caller.
    """
    parts = []
    for part in key:
        value = handles.held(part, path.array_class)
        parts.append(part if value is None else value)
    return tuple(parts)


def getitem(general: Any) -> Any:
    """Make the thin form of ``x[key]``."""

    def method(self: Any, key: Any) -> Any:
        x: ndarray | None = handles.held(self, path.array_class)
        if x is None:
            return general(self, key)
        if type(key) is path.array_class:
            index: ndarray | None = handles.held(key, path.array_class)
            if index is None:
                return general(self, key)
            key = index
            if machine.is_in_c_order(x):
                picked = _picked(x, index)
                if picked is not None:
                    path.calls += 1
                    return array_of(picked, handles.kind_of(self))
        elif type(key) is tuple and _holds_arrays(key):
            key = _of_values(key)
        try:
            result = x[key]
        except IndexError:
            if type(key) is not tuple or not _holds_arrays(key):  # NumPy's message would name the wrong type
                raise
        else:
            kind: Kind = handles.kind_of(self)
            if type(result) is not ndarray:
                if kind.standard:
                    return general(self, key)
                path.calls += 1
                return result
            new: ndarray = result
            owner = new.base
            if owner is not None and (owner is x or owner is x.base):
                # a view, not counted as a call
                return handles.new_array(path.array_class, new, kind, False, handles.root_of(self))
            path.calls += 1
            fresh = owner is None or machine.is_only_view(new, 1)
            return array_of(new, kind) if fresh else host_values.dressed(result, [self])
        return general(self, key)

    exports.indexing.append(method.__code__)
    return method


_PLACES, _MASK = np.dtype(np.intp), np.dtype(np.bool_)
_MANY = 1 << 16
"""Number of elements from which a mask is sampled."""
_WINDOW = 64
"""Number of elements of each sampled window."""


def _picked(x: ndarray, index: ndarray) -> Any:
    """Return ``x[index]`` by ``take`` or ``compress``, which copy whole rows: for indices or a mask of rows, or a scattered mask; else None."""
    try:
        if index.dtype is _PLACES:
            return x.take(index, 0) if index.ndim == 1 and x.ndim > 1 else None
        if index.dtype is not _MASK or index.ndim == 0 or x.ndim == 0:
            return None
        if machine.same_shape(x, index):
            return x.reshape(-1).compress(index.reshape(-1)) if _is_scattered(index) else None
        return x.compress(index, 0) if index.ndim == 1 and index.shape[0] == x.shape[0] else None
    except IndexError:
        return None  # NumPy's error for a subscript is different


def _is_scattered(mask: ndarray) -> bool:
    """Whether a large mask changes so often that finding its positions first is faster than NumPy's subscript, which copies runs of
    elements.

    The subscript takes 1.4 ms for a random mask of 360,000 elements, and 0.1 ms for half of an array; by positions it is 0.34 and 0.26 ms.
    """
    size = mask.size
    if size < _MANY or not machine.is_in_c_order(mask):
        return False
    windows = mask.reshape(-1)[: size // _WINDOW * _WINDOW].reshape(-1, _WINDOW)[:: size // _WINDOW >> 6]
    changes = np.count_nonzero(windows[:, 1:] != windows[:, :-1])
    return bool(8 * changes > windows.size)


def _put(x: ndarray, mask: ndarray, value: Any) -> bool:
    """Write to the elements that a mask selects; return whether it was done. If not, NumPy raises its own error for masks."""
    if (
        mask.dtype is not _MASK
        or not machine.same_shape(x, mask)
        or not (machine.is_in_c_order(x) and _is_scattered(mask))
    ):
        return False
    if type(value) is ndarray and (np.may_share_memory(value, x) or np.may_share_memory(mask, x)):
        return False
    try:
        x.reshape(-1)[mask.reshape(-1).nonzero()[0]] = value
    except Exception as error:
        if of_handler(error):
            raise
        return False
    return True


def setitem(general: Any) -> Any:
    """Make the thin form of ``x[key] = value``."""

    def method(self: Any, key: Any, value: Any) -> None:
        x: ndarray | None = handles.held(self, path.array_class)
        if x is None:
            return general(self, key, value)
        mask: ndarray | None = None
        if type(key) is path.array_class:
            mask = handles.held(key, path.array_class)
            if mask is None:
                return general(self, key, value)
            key = mask
        elif type(key) is tuple and _holds_arrays(key):
            key = _of_values(key)
        if type(value) is path.array_class:
            their = handles.held(value, path.array_class)
            if their is None:
                return general(self, key, value)
            value = their
        before_write(self, x)
        try:
            if mask is None or mask.size < _MANY or not _put(x, mask, value):
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
            return iter(x) if x.ndim == 1 else _Rows(self, x)
        return general(self)

    return method


class _Rows:
    """Iterator over ``of``, an array of two or more dimensions. ``rows``: its ndarray, whose rows are wrapped."""

    def __init__(self, of: Handle, rows: Any) -> None:
        self._of, self._rows = of, iter(rows)

    def __iter__(self) -> _Rows:
        return self

    def __next__(self) -> Any:
        row: ndarray = next(self._rows)
        return view_of(self._of, row)


def of_value(op: Callable[[Any], Any], general: Any) -> Any:
    """Make the thin form of a member that reads the value, as ``float(x)`` and ``len(x)`` do."""

    def method(self: Handle) -> Any:
        x = self._v
        return op(x) if type(x) is ndarray else general(self)

    return method


def length(general: Any) -> Any:
    """Make the thin form of ``len(x)``."""

    def method(self: Handle) -> Any:
        x = self._v
        return len(x) if type(x) is ndarray else general(self)

    return method


def dtype(general: Any) -> Any:
    """Make the thin form of ``x.dtype``."""

    def of(self: Handle) -> Any:
        if type(self._v) is ndarray:
            kind: Kind = self._kind
            return kind.dtype
        return general.fget(self)

    return property(of, general.fset, doc=general.__doc__)


def property_of_value(name: str, general: Any) -> Any:
    """Make the thin form of a property such as ``x.shape``: read it from the value if that is an ndarray, else by ``general``."""

    def of(self: Handle) -> Any:
        x = self._v
        return getattr(x, name) if type(x) is ndarray else general.fget(self)

    return property(of, general.fset, doc=general.__doc__)


# -- methods -----------------------------------------------------------------------------------------------------------


def method_of(numpys: Any, general: Any, computes: bool = True, operand: bool = False, by_axis: bool = False) -> Any:
    """Make the thin form of a method.

    ``computes``: whether the library runs the method on large values. ``operand``: whether its first argument may be an array.
    ``by_axis``: whether the first argument is the axis.
    """
    by_lanes = lanes.name_of(numpys)
    adds = by_lanes in lanes.ADDED

    def method(self: Handle, *args: Any, **kwargs: Any) -> Any:
        value = self._v
        if type(value) is ndarray:
            x: ndarray = value
            kind: Kind = self._kind
            if kind.standard:
                return general(self, *args, **kwargs)
            if computes and x.size >= path.least:
                made = of_kept(numpys, (self, *args)) if not kwargs and is_plain(args, kwargs) else DECLINED
                return general(self, *args, **kwargs) if made is DECLINED else made
            if is_plain(args, kwargs):
                if by_lanes and may_go_by_lanes(x, adds):
                    reduced = lanes.called(by_lanes, x, args, kwargs)
                    if reduced is not None:
                        return _answered(self, reduced, kind)
                return _answered(self, numpys(x, *args, **kwargs) if kwargs else numpys(x, *args), kind)
            made = with_arrays(self, args, kwargs)
            if made is not DECLINED:
                return made
        return general(self, *args, **kwargs)

    def with_arrays(self: Handle, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call NumPy's method if the first argument or keywords are small arrays; return :data:`DECLINED` otherwise. (NumPy may write to
        arrays among other arguments.)
        """
        first = 1 if operand and args else 0
        found: list[Any] = [self]
        hosts = values_of(args[:first], found)
        if hosts is None or not is_plain(args[first:], None):
            return DECLINED
        options = keywords_of(kwargs, found, _WRITTEN) if kwargs else {}
        if options is None:
            return DECLINED
        given = [self._v, *hosts, *args[first:]]
        if options and (out := kwargs.get("out")) is not None:
            return computed_onto(numpys, given, options, out, found)
        return _answered(self, numpys(*given, **options), self._kind)

    def without(self: Handle) -> Any:
        if type(self._v) is ndarray:
            x: ndarray = self._v
            kind: Kind = self._kind
            if not (kind.standard or (computes and x.size >= path.least)):
                if adds and x.size >= lanes.MANY and x.dtype in lanes.SMALL:
                    reduced = lanes.called(by_lanes, x, (), {})
                    if reduced is not None:
                        return _answered(self, reduced, kind)
                return _answered(self, numpys(x), kind)
            made = of_kept(numpys, (self,))
            if made is not DECLINED:
                return made
        return general(self)  # not by another function of ours, because recording counts references to the array

    def with_one(self: Handle, given: Any) -> Any:
        if type(self._v) is ndarray:
            x: ndarray = self._v
            kind: Kind = self._kind
            if not (kind.standard or (computes and x.size >= path.least)):
                if by_lanes and may_go_by_lanes(x, adds):
                    reduced = lanes.reduced(by_lanes, x, given)
                    if reduced is not None:
                        return _answered(self, reduced, kind)
                if _is_plain(given) or (type(given) in SEQUENCES and plain_sequence(given)):
                    return _answered(self, numpys(x, given), kind)
                if operand and is_numpys(given):
                    return _answered(self, numpys(x, given), kind)
                their: ndarray | None = handles.held(given, path.array_class) if operand else None
                if their is not None and their.size < path.least:
                    other: Kind = handles.kind_of(given)
                    if other.backend is kind.backend:
                        return _answered(self, numpys(x, their), kind)
        return method(self, given)

    def with_two(self: Handle, given: Any, second: Any) -> Any:
        if type(self._v) is ndarray and _is_plain(given) and _is_plain(second):
            x: ndarray = self._v
            kind: Kind = self._kind
            if not (kind.standard or (computes and x.size >= path.least)):
                return _answered(self, numpys(x, given, second), kind)
        return method(self, given, second)

    def with_three(self: Handle, given: Any, second: Any, third: Any) -> Any:
        if type(self._v) is ndarray and _is_plain(given) and _is_plain(second) and _is_plain(third):
            x: ndarray = self._v
            kind: Kind = self._kind
            if not (kind.standard or (computes and x.size >= path.least)):
                return _answered(self, numpys(x, given, second, third), kind)
        return method(self, given, second, third)

    def with_axis(self: Handle, axis: Any) -> Any:
        return with_one(self, axis) if type(axis) is int or type(axis) is tuple else method(self, axis=axis)

    method.__doc__ = general.__doc__
    return handles.shortened(method, without, with_one, with_two, with_three, axis=(with_axis,) if by_axis else ())


_WRITTEN = frozenset({"out"})


def _is_plain(x: Any) -> bool:
    """Whether an argument neither is nor contains an array; :func:`is_plain` for a single one."""
    return type(x) in PLAIN or (type(x) is tuple and is_plain(x, None))


def _answered(self: Handle, result: Any, kind: Kind) -> Any:
    """Wrap the result of NumPy's method for the value of an array, and count the call if it computed."""
    if type(result) is ndarray:
        new: ndarray = result
        x: ndarray = self._v
        owner = new.base
        if new is x:
            return self
        if owner is None:
            path.calls += 1
            return array_of(new, kind)
        if (owner is x or owner is x.base) and new.dtype is x.dtype:
            return view_of(self, new)
    answer = result_of(self, result, kind)
    if is_computed(answer):
        path.calls += 1
    return answer


def writer(numpys: Any, general: Any, computes: bool = False) -> Any:
    """Make the thin form of a method that writes its array and returns None."""

    def method(self: Handle, *args: Any, **kwargs: Any) -> None:
        x: ndarray | None = handles.held(self, path.array_class)
        if x is not None and (x.size < path.least or not computes) and is_plain(args, kwargs):
            before_write(self, x)
            numpys(x, *args, **kwargs)
            written(self)
            return None
        return general(self, *args, **kwargs)

    def with_one(self: Handle, given: Any) -> None:
        if type(self._v) is ndarray and _is_plain(given):
            x: ndarray = self._v
            if x.size < path.least or not computes:
                before_write(self, x)
                numpys(x, given)
                written(self)
                return None
        return general(self, given)

    method.__doc__ = general.__doc__
    return handles.shortened(method, None, with_one)


def view_property(name: str, general: Any) -> Any:
    """Make the thin form of an attribute that is a view, such as ``x.T`` and ``z.real``."""

    def of(self: Handle) -> Any:
        if type(self._v) is ndarray:
            x: ndarray = self._v
            part: ndarray = getattr(x, name)
            if part is x:
                return self
            made = DECLINED if part.base is None else part_of(self, part)
            if made is not DECLINED:
                return made
        return general.fget(self)

    return property(of, general.fset, doc=general.__doc__)


def view(general: Any) -> Any:
    """Make the thin form of ``x.view()`` and ``x.view(dtype)``.

    The general form runs if the argument is a class of arrays (``x.view(np.matrix)``), or while the thin path is off.
    """

    def method(self: Handle, *args: Any, **kwargs: Any) -> Any:
        return general(self, *args, **kwargs)

    def without(self: Handle) -> Any:
        if path.least and type(self) is path.array_class and type(self._v) is ndarray:
            x: ndarray = self._v
            return view_of(self, _viewed(x))
        return general(self)

    def with_one(self: Handle, given: Any) -> Any:
        if path.least and type(self._v) is ndarray:
            dtype = _DTYPES.get(given) if type(given) is type else given
            if type(dtype) is str or isinstance(dtype, _DTYPE):
                x: ndarray = self._v
                made = part_of(self, _viewed(x, dtype))
                if made is not DECLINED:
                    return made
        return general(self, given)

    method.__doc__ = general.__doc__
    return handles.shortened(method, without, with_one)


_DTYPE, _viewed = np.dtype, ndarray.view
_NUMBERS: Any = (bool, int, float, complex, *np.sctypeDict.values())
_DTYPES: dict[Any, np.dtype[Any]] = {cls: np.dtype(cls) for cls in _NUMBERS}
"""Class of numbers -> its dtype."""


# -- the class that is shown --------------------------------------------------------------------------------------------


def class_shown(general: Callable[[Any, FrameType], type]) -> Any:
    """Make ``__class__``, which ``isinstance`` uses: user files see an array's own class; ``general`` decides for other code."""

    def of(self: Any) -> Any:
        frame: Any = machine.current_frame()
        if not _compiled:
            frame = frame.f_back
        asking: FrameType = frame
        code: CodeType = asking.f_code
        users: Any = process.users
        if users is not None and users.known.get(code.co_filename) is True:
            return type(self)
        return general(self, asking)

    return property(of, lambda self, cls: setattr(np.empty(0), "__class__", cls))  # NumPy's arrays refuse it


# -- protocols ---------------------------------------------------------------------------------------------------------

_NUMPYS = {x: x in INSTRUCTIONS for x in vars(np).values() if type(x) is np.ufunc}
"""NumPy's ufunc -> whether :func:`arraydispatch.ufuncs.rows.call` may compute it differently."""


def array_ufunc(general: Any) -> Any:
    """Make the thin form of ``__array_ufunc__``."""

    def __array_ufunc__(self: Handle, func: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            return (
                None
                if method == "at" and not kwargs and at(func, *inputs)
                else general(self, func, method, *inputs, **kwargs)
            )
        made = DECLINED
        if func.signature is not None and func not in _NUMPYS:
            pass  # its loop may write its operands, as numba's `writable_args` do
        elif not kwargs:
            if type(inputs[0]) is ndarray:
                inputs = with_scalar(inputs)
            if type(self._v) is ndarray:  # `self` is one of the inputs
                made = ufunc(func, inputs)
        elif len(kwargs) == 1 and len(out := kwargs.get("out", ())) == 1:
            made = onto(func, inputs, out[0])
        return general(self, func, method, *inputs, **kwargs) if made is DECLINED else made

    def with_one(self: Any, func: np.ufunc, method: str, x: Any) -> Any:
        made = of_one(func, x) if func in _NUMPYS and method == "__call__" else DECLINED
        return __array_ufunc__(self, func, method, x) if made is DECLINED else made

    def with_two(self: Any, func: np.ufunc, method: str, x: Any, y: Any) -> Any:
        by_rows = _NUMPYS.get(func)
        made = DECLINED
        if by_rows is not None and type(x) is not ndarray and method == "__call__":
            made = of_two(func, x, y, by_rows)
        return __array_ufunc__(self, func, method, x, y) if made is DECLINED else made

    return shortened(__array_ufunc__, None, None, None, with_one, with_two)
