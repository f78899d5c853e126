"""Recording forms of ``Array``'s members, for fused execution: between the thin forms and the general ones.

Each recording form wraps the general form, and falls back to it if the call is not recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import getrefcount, maxsize
from time import perf_counter
from typing import Any

import numpy as np
from numpy import ndarray

from .._core.handles import Handle
from .._core.machine import MANY_LANES
from ..array.general_forms import named, short_power
from ..common import events, process_state
from ..common.arguments import SCALARS, with_scalar
from ..common.members import REDUCTIONS, Form, Member
from ..common.sentinels import DECLINED
from ..dispatch import host_results, host_values
from ..engine.nodes import Node, PendingView
from ..engine.recording import call_nodes, reductions, shifts, tape, updates, writes
from ..engine.recording.call_nodes import record
from ..memory import views
from ..ufuncs import lanes, rows
from ..ufuncs.facts import CLIP, INSTRUCTIONS
from . import results
from .functions import of_large
from .results import array_of, of_one, of_two

__all__ = ["at_once", "calibrate_by", "over"]

__warningregistry__ = None  # NumPy warns here, for a line of the user's: see arraydispatch.launcher.numpy_warnings

_where, _clip, _roll = np.where, np.clip, np.roll


def _at_once(func: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """Compute an unrecorded ufunc of arrays and numbers by NumPy; return None if the general path must, as for 0-d results."""
    values: list[Any] = []
    kind: Any = None
    size = 0
    for x in inputs:
        if isinstance(x, Handle):
            a: Handle = x
            v = a._v
            if type(v) is not ndarray or (kind is not None and a._kind.backend is not kind.backend):
                return None
            value: ndarray = v
            if value.ndim:
                size = max(size, value.size)
            kind = a._kind
            values.append(value)
        elif type(x) in SCALARS:
            values.append(x)
        else:
            return None
    if size == 0 or size < call_nodes.least or call_nodes.most < maxsize or kind.standard or not kind.backend.hosted:
        return None
    tap = events.tap
    start = 0.0 if tap is None else perf_counter()
    result = rows.call(func, *values) if func in INSTRUCTIONS else func(*values)
    if tap is not None:
        name = kind.backend.name
        tap.call(func, name, host_values.CLASS[name == "numpy"], "", perf_counter() - start, result, 2 * views.frames)
    thin = results.path.least and kind.backend.native_is_ndarray and type(result) is ndarray
    return array_of(result, kind) if thin else host_results.placed(result, kind.backend)


def _computed(func: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """Record a ufunc of arrays and numbers, or compute it immediately; return None if the general path must."""
    if not call_nodes.least:
        return None
    below: Any = results.path.least
    if len(inputs) == 2 and _go_along_lanes(inputs[0], inputs[1]):
        below = maxsize
    else:
        made = record(func, inputs)
        if made is not None:
            return made
        _pass_by(inputs)
    _look(inputs, below)
    by_rows = func in INSTRUCTIONS
    made = of_two(func, inputs[0], inputs[1], by_rows, True) if len(inputs) == 2 else of_one(func, inputs[0], True)
    return _at_once(func, inputs) if made is DECLINED else made


def _pass_by(values: Any) -> None:
    """Note that a call could not be recorded, if none of its values is pending."""
    size = 0
    for x in values:
        if isinstance(x, Handle):
            v = x._v
            if type(v) is not ndarray:
                return
            size = max(size, v.size)
    if size >= call_nodes.least:
        call_nodes.pass_by(size)


def _is_numpys(x: Any) -> bool:
    """Whether a value is not too large for NumPy: it is not an array, or is smaller than ``call_nodes.most``."""
    v = x._v if isinstance(x, Handle) else None
    return type(v) is not ndarray or bool(v.size < call_nodes.most)


def _go_along_lanes(x: Any, y: Any) -> bool:
    """Whether one array has many short lanes and the other is a row or column for them: a kernel would need a loop for each lane."""
    if not (isinstance(x, Handle) and isinstance(y, Handle)):
        return False
    v, w = x._v, y._v
    if type(v) not in _WITH_SHAPE or type(w) not in _WITH_SHAPE or v.ndim < 2 > w.ndim or not v.ndim or not w.ndim:
        return False
    left, right = v.shape, w.shape
    if v.size < w.size:
        left, right = right, left
    n = left[-1]
    if not 2 <= n <= 4 or len(right) > len(left) or max(v.size, w.size) < MANY_LANES * n:
        return False
    if right[-1] == n:
        return all(size == 1 for size in right[:-1]) and not all(size == 1 for size in left[:-1])
    return n < 4 and right == (*left[:-1], 1)


_WITH_SHAPE = frozenset({ndarray, Node, PendingView})


def _look(values: Any, below: Any) -> bool:
    """Compute the pending arrays among some values, up to the first that has ``below`` elements or more. Return False if there is such an
    array, else whether an array was computed.

    ``below``: size below which the thin path takes calls (0: none).
    """
    found = False
    for x in values:
        if isinstance(x, Handle):
            v: Any = x._v
            if type(v) is Node or type(v) is PendingView:
                if v.size >= below:
                    return False
                v.run()
                found = True
    return found


def _binary(func: np.ufunc, general: Any) -> Any:
    def method(self: Any, other: Any) -> Any:
        made = _computed(func, (self, other))
        return general(self, other) if made is None else made

    return method


def _reflected(func: np.ufunc, general: Any) -> Any:
    def method(self: Any, other: Any) -> Any:
        made = _computed(func, (other, self))
        return general(self, other) if made is None else made

    return method


def _inplace(func: np.ufunc, general: Any) -> Any:
    def method(self: Any, other: Any) -> Any:
        made = writes.inplace(func, self, other) if call_nodes.least else None
        if made is None and call_nodes.least:
            _pass_by((self, other))
            _look((self, other), results.path.least)
            if _is_numpys(self) and results.into_its_memory(func, self, other, self, True):
                return self
        return general(self, other) if made is None else made

    return method


def _unary(func: np.ufunc, general: Any) -> Any:
    def method(self: Any) -> Any:
        made = _computed(func, (self,))
        return general(self) if made is None else made

    return method


def _power(general: Any) -> Any:
    def __pow__(self: Any, exponent: Any, modulo: None = None) -> Any:
        if call_nodes.least and modulo is None:
            short = short_power(self, exponent, True)
            made = _computed(np.power, (self, exponent)) if short is None else _computed(short, (self,))
            if made is not None:
                return made
        return general(self, exponent, modulo)

    return __pow__


def _array_ufunc(general: Any) -> Any:
    def __array_ufunc__(self: Any, func: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if call_nodes.least and method == "__call__":
            if not kwargs:
                if type(inputs[0]) is ndarray:
                    inputs = with_scalar(inputs)
                simple = len(inputs) <= 2 and func.nout == 1 and func.signature is None
                made = _computed(func, inputs) if simple else record(func, inputs)
                if made is not None:
                    return made
            elif len(kwargs) == 1 and "out" in kwargs:
                out = kwargs["out"]
                if len(out) == 1 and isinstance(out[0], Handle) and writes.onto(func, inputs, out[0]):
                    return out[0]
        return general(self, func, method, *inputs, **kwargs)

    return __array_ufunc__


def _clipped(a: Any, low: Any = None, high: Any = None) -> Any:
    if low is None:
        return None if high is None else record(np.minimum, (a, high), func_seen=_clip)
    func, operands = (np.maximum, (a, low)) if high is None else (CLIP, (a, low, high))
    return record(func, operands, func_seen=_clip)


def _array_function(general: Any) -> Any:
    def __array_function__(self: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if call_nodes.least and len(types) == 1:
            made = None
            name = func.__name__.removeprefix("a")  # np.amax calls the method max
            if name in REDUCTIONS:
                if args and isinstance(args[0], Handle) and func in (getattr(np, name), getattr(np, func.__name__)):
                    made = _reduced(name, args[0], args[1:], kwargs, getrefcount(args[0]), "function")
            elif func is _roll:
                made = shifts.rolled(*args, **kwargs)
            elif len(args) == 3 and not kwargs:
                made = call_nodes.where(*args) if func is _where else _clipped(*args) if func is _clip else None
            if made is not None:
                return made
            if call_nodes.most == maxsize or all(map(_is_numpys, args)):
                made = of_large[func](args, kwargs)
                if made is not DECLINED:
                    return made
        return general(self, func, types, args, kwargs)

    return __array_function__


# -- reductions --------------------------------------------------------------------------------------------------------

_known: dict[bool, dict[str, int | None]] = {}
"""Whether the thin forms are in force -> results of :func:`_count_of` for "method" and "function", the two ways to call."""
_counting: tuple[Any, list[int]] = object(), []
"""Memory of the arrays whose references are being counted, by which their calls are told from those of a finalizer or another thread; the numbers
found.
"""
_ask: Callable[[np.ndarray], Any] = id


def _work(name: str, value: ndarray) -> Any:
    """Return NumPy's time for a method, in sums of eight-byte numbers: that of reading the array for :data:`_READS`."""
    return value.nbytes >> 3 if name in _READS else value.size


_READS = frozenset({"max", "mean", "min", "sum"})
"""Reductions that take about as long as reading the array."""


def _reduced(name: str, a: Any, args: Any, kwargs: Any, references: int, how: str) -> Any:
    v = a._v
    if v is _counting[0]:
        _counting[1].append(references)
        return references  # `_count_of` ignores the result
    if type(v) is not Node and not (
        type(v) is ndarray and v.size < call_nodes.most and _work(name, v) >= tape.IN_THREADS
    ):
        return None
    found = _known.get(results.path.least > 0)
    alone = _count_of(how) if found is None else found[how]
    made = reductions.reduced(name, a, args, kwargs, references == alone)
    if made is not None and events.every is not None:  # the time is reported for the block
        events.every.call(
            getattr(np, name),
            (v.form.held if type(v) is Node else a._kind).backend.name,
            "fused",
            "",
            0.0,
            None,
            2 * views.frames,
        )
    return made


def _is_there(a: Any, value: ndarray, work: Any) -> bool:
    """Whether NumPy may compute with the value of a large array: no call is pending, and there is too little work for several threads."""
    if views.waiting or a._kind.standard or not a._kind.backend.hosted:
        return False
    return bool(call_nodes.least <= value.size < call_nodes.most and work < 2 * tape.IN_THREADS)


def _reduced_at_once(name: str, method: Any, a: Any, args: Any, kwargs: Any) -> Any:
    """Call NumPy's method of a large array that is computed; return None if the general path is needed, as for work that threads share."""
    if type(a._v) is not ndarray:
        return None
    value: ndarray = a._v
    if not _is_there(a, value, _work(name, value)) or not results.is_plain(args, kwargs):
        return None
    start = perf_counter()
    result = lanes.called(name, value, args, kwargs)
    if result is None:
        result = method(value, *args, **kwargs)
    host_values.tell(getattr(np, name), [a], result, (value,), perf_counter() - start)
    return results.made_of(result, [a])


def _reducer(name: str, general: Any) -> Any:
    reduce = getattr(ndarray, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if call_nodes.least:
            made = _reduced(name, self, args, kwargs, getrefcount(self), "method")
            if made is None:
                made = _reduced_at_once(name, reduce, self, args, kwargs)
            if made is not None:
                return made
        return general(self, *args, **kwargs)

    method.__doc__ = general.__doc__
    return method


def at_once(name: str, general: Any) -> Any:
    """Make the form of a method that is never recorded: NumPy computes large values too, unless threads share the work."""
    numpys = getattr(ndarray, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = _reduced_at_once(name, numpys, self, args, kwargs) if call_nodes.least else None
        return general(self, *args, **kwargs) if made is None else made

    method.__doc__ = general.__doc__
    return named(method, name)


def calibrate_by(ask: Callable[[np.ndarray], None]) -> None:
    """Set the function by which the references to an array that dies with a call are counted, when the count is first needed.

    ``ask(value)`` calls a method and a function of an array of this value that dies with the call, then of one that does not. It does so as user
    code does, in a module that is not compiled.
    """
    global _ask
    _ask = ask


def _count_of(how: str) -> int | None:
    """Return the number of references to an array that only the caller has, in a call of a method or function (``how``). Return None if the
    number does not tell such arrays from others.
    """
    global _counting
    with process_state.lock:  # no other forms may be put in force
        is_thin = results.path.least > 0
        if is_thin not in _known:
            counted: list[int] = []
            value = np.zeros(results.path.least + 1)
            before, _counting = _counting, (value, counted)
            try:
                _ask(value)
            finally:
                _counting = before
            if len(counted) != 4:  # a call did not come here, as where NumPy keeps arrays of that shape
                return None
            pairs = {"method": counted[::2], "function": counted[1::2]}
            _known[is_thin] = {how: dies if dies < stays else None for how, (dies, stays) in pairs.items()}
        return _known[is_thin][how]


def _setitem(general: Any) -> Any:
    def __setitem__(self: Any, key: Any, value: Any) -> None:
        if call_nodes.least:
            if isinstance(value, Handle) and type(value._v) is PendingView and updates.is_part(self, key, value):
                return
            if type(self._v) is Node and updates.assigned(self, key, value):
                return
            if isinstance(value, Handle):
                if type(value._v) is Node:
                    if writes.store(self, key, value):
                        return
                    if type(self._v) is ndarray and _look((value,), results.path.least):
                        self[key] = value  # calls the thin form
                        return
                elif writes.is_itself(self, key, value):
                    return
        general(self, key, value)

    return __setitem__


def _getitem(general: Any) -> Any:
    def __getitem__(self: Any, key: Any) -> Any:
        if call_nodes.least and type(self._v) is Node:
            made = updates.part_of(self, key)
            if made is not None:
                return made
            if _look((self,), results.path.least):
                return self[key]  # calls the thin form
        return general(self, key)

    return __getitem__


def _clip_method(general: Any) -> Any:
    def clip(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = _clipped(self, *args) if call_nodes.least and 0 < len(args) < 3 and not kwargs else None
        return general(self, *args, **kwargs) if made is None else made

    clip.__doc__ = general.__doc__
    return clip


_REAL = frozenset("?bhilqBHILQefd")
"""Dtypes to which real numbers are converted without a warning."""


def _astype(general: Any) -> Any:
    def astype(self: Any, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        if call_nodes.least and not args and not kwargs:
            wanted = np.dtype(dtype)
            made = call_nodes.astype(self, wanted) if wanted != self._kind.dtype else None
            v = self._v
            real = wanted.char in _REAL and self._kind.dtype.char in _REAL
            if made is None and type(v) is ndarray and real and results.path.least and _is_there(self, v, v.size):
                return results.made_of(v.astype(wanted), [self])
            if made is not None:
                return made
        return general(self, dtype, *args, **kwargs)

    astype.__doc__ = general.__doc__
    return astype


def _told(name: str, general: Any) -> Any:
    """Make the recording form of an attribute that is known before the value is computed."""

    def of(self: Any) -> Any:
        v = self._v
        return getattr(v, name) if type(v) is Node or type(v) is PendingView else general.fget(self)

    return property(of, general.fset, doc=general.__doc__)


def _length(general: Any) -> Any:
    def __len__(self: Any) -> int:
        v = self._v
        return v.shape[0] if type(v) is Node or type(v) is PendingView else general(self)

    return __len__


_BY_NAME: dict[str, Callable[[Any], Any]] = {
    "__array_ufunc__": _array_ufunc, "__array_function__": _array_function, "__pow__": _power, "astype": _astype,
    "clip": _clip_method, "__len__": _length, "__setitem__": _setitem, "__getitem__": _getitem,
}  # fmt: skip
_BY_FORM: dict[Form, Callable[[Member, Any], Any]] = {
    "binary": lambda row, form: _binary(row.func, form),
    "comparison": lambda row, form: _binary(row.func, form),
    "reflected": lambda row, form: _reflected(row.func, form),
    "inplace": lambda row, form: _inplace(row.func, form),
    "unary": lambda row, form: _unary(row.func, form),
    "reduction": lambda row, form: _reducer(row.name, form),
    "shape": lambda row, form: _told(row.name, form),
}


def over(row: Member, form: Any) -> Any:
    """Make the recording form of a member from the general one."""
    made = _BY_NAME[row.name](form) if row.name in _BY_NAME else _BY_FORM[row.form](row, form)
    return named(made, row.name)
