"""Recording of calls: the decision which calls are recorded, the arrays of their results, and the places for reports of errors."""

from __future__ import annotations

import sys
import warnings
from functools import cache
from math import prod
from sys import maxsize
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np
from numpy import ndarray

from ..._core import handles, machine
from ..._core.handles import Handle
from ..._core.machine import layout_of, owns_memory
from ...common import events
from ...common.arguments import HELD, SCALARS
from ...common.callers import is_core
from ...common.process_state import process
from ...common.sentinels import DECLINED
from ...memory import views
from ...memory.roots import memory_of
from ...memory.views import NEVER
from ...runtime import settings
from ...runtime.execution_policy import CPU_FROM, RECORDED_FROM
from ..loops import PYTHON, cast, loop_of, select
from ..nodes import Buffer, Form, Node, PendingView, Place, Shift, laid
from . import block_reports
from .result_order import order_of
from .tape import MOST_BYTES, Tape, adjust, mine

__all__ = [
    "are_of_any_size",
    "array_of",
    "astype",
    "blank",
    "declines",
    "fits",
    "least",
    "listened",
    "most",
    "node_of",
    "now",
    "operand",
    "pass_by",
    "record",
    "where",
]

least = 0
"""Number of elements from which a call is recorded; 0 while no call is recorded."""
most = maxsize
"""Number of elements from which a library computes and calls are not recorded; ``sys.maxsize`` if NumPy computes at any size."""

_ndarray = np.ndarray
_DECLINED = DECLINED
_cls: Any = None
"""Class of every new array."""
_every: Any = None
_told: Any = True, None
"""Settings last passed to :func:`~arraydispatch.engine.recording.tape.adjust`."""


def are_of_any_size() -> bool:
    """Whether calls are recorded and NumPy computes on arrays of any size, so that no library is used."""
    return least > 0 and most == maxsize


def follow() -> None:
    """Switch recording on or off according to the state of the process."""
    global _cls, _every, _told, least, most
    _every = events.every
    _cls = getattr(process.wrapper, "__self__", _cls)
    usual, fused = process.min_size == CPU_FROM, process.execution == "fused"
    records = (fused or (usual and process.execution != "eager")) and settings.only_values_decide()
    least = 0 if not records or not settings.on_cpu(process.backend) else RECORDED_FROM if usual else process.min_size
    most = maxsize if fused else process.min_size
    if (told := (usual, _every)) != _told:
        adjust(*told)
        _told = told


def where(condition: Any, x: Any, y: Any) -> Any:
    """Record ``np.where(condition, x, y)``; return None if that is not possible."""
    if not isinstance(condition, Handle) or condition._kind.dtype.char != "?":
        return None
    if not all(isinstance(z, Handle) or type(z) in SCALARS for z in (x, y)):
        return None  # result_type would take a string or a sequence for a dtype
    try:
        dtype = np.result_type(*[z._kind.dtype if isinstance(z, Handle) else z for z in (x, y)])
    except (TypeError, OverflowError):
        return None
    for z in (x, y):
        if type(z) in (int, float, complex) and not fits(z, dtype):
            return None
    return record(select, (condition, x, y), dtype, func_seen=np.where)


def astype(a: Handle, dtype: np.dtype[Any]) -> Any:
    """Record ``a.astype(dtype)`` for another dtype; return None if that is not possible."""
    if dtype.char not in HELD or not dtype.isnative or (a._kind.dtype.kind == "c" and dtype.kind not in "cb"):
        return None
    return record(cast, (a,), dtype, func_seen="astype")


def fits(value: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a Python scalar, as a weak operand (NEP 50), leaves a dtype as it is and converts to it without an error or a warning.

    False for a bool beside integers, although NumPy converts it.
    """
    kind = dtype.kind
    if type(value) is int and -_SMALL <= value <= _SMALL and kind in "fc":
        return True
    if kind == "b":
        return type(value) is bool
    if kind in "iu":
        lowest, highest = _range(dtype)
        return type(value) is int and bool(lowest <= value <= highest)
    if isinstance(value, complex):
        return kind == "c" and fits(value.real, dtype) and fits(value.imag, dtype)
    return not abs(value) > _largest(dtype) or abs(value) == _INF


_INF = float("inf")
_SMALL = 1 << 15
"""Bound of the integers that are finite in every floating dtype."""


@cache
def _range(dtype: np.dtype[Any]) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


@cache
def _largest(dtype: np.dtype[Any]) -> float:
    return float(np.finfo(dtype).max)


def operand(x: Handle, tape: Tape) -> tuple[Any, Any, bool]:
    """Return an array's node or ndarray, its kind (None if calls on it are not recorded), and whether other code may see its memory.

    A pending view, and a value that is pending on another tape, are computed first.
    """
    v = x._v
    if type(v) is PendingView or (type(v) is Node and v.tape is not tape):
        v.run(block_reports.LOOKED if type(v) is PendingView else block_reports.ANOTHER)
        v = x._v
    if type(v) is Node:
        return v, v.form.held, False
    kind = x._kind
    if type(v) is _ndarray and kind.backend.hosted and not kind.standard:
        return v, kind, _is_shared(x, v)
    return v, None, False


def _is_shared(x: Handle, v: ndarray) -> bool:
    base = x._base
    if base is None:
        return not (x._owned and (v.base is None or owns_memory(memory_of(v))))
    root: Handle = base
    return not (root._owned and owns_memory(memory_of(v)))


def node_of(form: Form, place: Any = None) -> Node:
    """Make a node of this form without operands and array. ``place``: place in the user's code, with the error modes, for reports; None: no
    reports.
    """
    made: Node = Node.__new__(Node)
    made.form, made.dtype, made.shape, made.size, made.ndim = form, form.dtype, form.shape, form.size, form.ndim
    made.told = made.place = made.value = made.target = made.handle = made.tape = None
    if place is not None:
        at: Place = place
        made.told, made.place = at.modes, at
    return made


def array_of(node: Node) -> Any:
    """Return an array whose value is the pending ``node``."""
    made: Handle = handles.new_array(_cls, node, node, True, None)
    made._root = node  # type: ignore[assignment]
    made._seen = NEVER
    node.handle = machine.reference_to(made)
    return made


def blank() -> Any:
    """Return a new array without a value."""
    return handles.new_array(_cls, None, None, True, None)


_forms: dict[Any, Form | None] = {}
"""Key of a call, made of the function and facts about the operands -> its form; None for calls that are not recorded."""
_known_forms = _forms
"""``_forms``, as a C value if this module is compiled."""
_MOST_FORMS = 1 << 14


def record(
    func: Any,
    inputs: tuple[Any, ...],
    dtype: np.dtype[Any] | None = None,
    into: Handle | None = None,
    like: Any = None,
    runs: bool = True,
    func_seen: Any = None,
) -> Any:
    """Record a call of a ufunc, or of a function called like one, as a new node in a new array or in ``into``; return None
    if that is not possible.

    ``dtype``: dtype of the result, if ``func`` is not a ufunc. ``like``: object with the dtype and shape that the result must have.
    ``runs``: whether the tape runs at once if other code may write an operand, or if the tape is full.
    ``func_seen``: function that the program has called, if not ``func``.
    """
    if not least:
        return None
    tape = mine()
    buffers = tape.buffers
    values: list[Any] = [*inputs]
    known: Any = None
    first: Any = None
    second: Any = None
    more: tuple[Any, ...] = ()
    shared = pending = False
    before: Any = None
    for i in range(len(values)):
        x = values[i]
        if type(x) is _cls or isinstance(x, Handle):
            a: Handle = x
            v = a._v
            if type(v) is Node:
                node: Node = v
                if node.tape is not tape:
                    node.run(block_reports.ANOTHER)
                    v = a._v
            elif type(v) is PendingView:
                v.run()
                return record(func, inputs, dtype, into, like, runs, func_seen)
            if type(v) is Node:
                node = v
                operand: Form = node.form
                known = operand.laid
                pending = True
            elif x is before:  # as in x * x
                pass
            elif type(v) is _ndarray:
                buffer: Buffer | None = buffers.get(machine.identity(v))
                known = laid(a._kind, layout_of(v), None) if buffer is None else buffer.laid_as(a._kind)
                shared = shared or _is_shared(a, v)
            else:
                return None
            values[i] = v
            before = x
        elif type(x) in SCALARS:
            known = type(x)
            before = None
        else:
            return None
        if i == 0:
            first = known
        elif i == 1:
            second = known
        else:
            more = (*more, known)
    key = (func, dtype, first, second, more)
    form: Form | None = _known_forms.get(key)
    if form is None:
        if key in _known_forms:
            return None
        if len(_known_forms) >= _MOST_FORMS:
            _known_forms.clear()
        form = _known_forms[key] = _form(func, inputs, values, dtype)
        if form is None:
            return None
    if form.least < least and not (pending and form.size >= least):  # a cheap call should not end a block
        return None
    if form.size >= most:
        return None
    for i in form.weak:
        if not fits(inputs[i], form.ins[i]):  # type: ignore[index]
            return None
    if like is not None and (form.dtype, form.shape) != like:
        return None
    place = now()
    if place is _DECLINED:
        if form.reports:
            return None
        place = None
    elif not pending:
        at: Place = place
        if at.largest and at.declines(form.size):
            return None

    if into is not None and into._v is not values[0]:  # a signal handler has written to it
        return None

    node = node_of(form, place)
    if not form.reports:
        node.told = None
    if into is None:
        made = array_of(node)
        tape.add(node, values)
    else:
        made = into
        made._writes += 1
        tape.become(made, node, values)
    if _every is not None:
        _every.call(func_seen or func, form.held.backend.name, "fused", "", 0.0, None, 2 * views.frames)
    if runs and (why := block_reports.SHARED if shared else tape.full()):
        tape.run(why)
    return made


def _form(func: Any, inputs: tuple[Any, ...], values: list[Any], dtype: np.dtype[Any] | None) -> Form | None:
    """Return the form of a call on these arrays and scalars; None if it is not recorded."""
    home: Any = None
    keys: list[Any] = []
    for x, v in zip(inputs, values):
        if not isinstance(x, Handle):
            keys.append(type(x))
            continue
        kind = v.form.held if type(v) is Node else x._kind
        if not kind.backend.hosted or kind.standard or (home is not None and home is not kind.backend):
            return None
        home = kind.backend
        keys.append(kind.dtype)
    try:
        shape = np.broadcast_shapes(*[v.shape for v in values if type(v) is Node or type(v) is _ndarray])
    except ValueError:
        return None  # NumPy raises the error when it runs the call
    if home is None or not shape:
        return None
    size = prod(shape)
    weak: tuple[int, ...] = ()
    work: float
    if dtype is None:
        loop = loop_of(func, tuple(keys))
        if loop is None:
            return None
        dtype, reports, pinned, ins, weak = loop.out, loop.reports, loop.pinned, loop.ins, loop.weak
        work = size * loop.weight
    else:
        work = size * max(dtype.itemsize, values[-1].dtype.itemsize if func is cast else 1) >> 3
        half = dtype.char == "e" and keys[0] not in PYTHON and keys[0].kind in "iu"  # 65,520 becomes infinity
        reports, pinned = func is cast and (keys[0].kind in "fc" or half), False
        ins = tuple([dtype if key in PYTHON else np.dtype(key) for key in keys])
    shifts = isinstance(func, Shift)
    if size * dtype.itemsize > MOST_BYTES:
        return None  # memory may not suffice: NumPy raises that at the call
    order = order_of(values, shape, func is cast or shifts)
    if order is None or (shifts and order[1]) or (pinned and (order[0] or size == 1)):
        return None
    return Form(
        func, home.kind(dtype), shape, work, row=order[0] or shifts, fortran=order[1], pinned=pinned, ins=ins, weak=weak, reports=reports
    )  # fmt: skip


# -- places of floating-point errors -------------------------------------------------------------------------------------

_errors_in_force: Any = np._core.umath._extobj_contextvar
_warnings = vars(warnings)
_FUNCTION = FunctionType


class _State:
    """Cache of the error modes and warning filters that were last in force.

    Attributes
    ----------
    errors : object
        NumPy's own error state.
    modes : dict or None
        The modes of ``np.errstate``, the same object for equal modes; None if all errors are ignored, ``DECLINED`` if a mode is neither
        "ignore" nor "warn".
    filters : list
        The warning filters.
    as_tuple : tuple
        The filters as a tuple.
    raises : bool
        Whether a filter turns a warning into an error.
    """

    __slots__ = ("as_tuple", "errors", "filters", "modes", "raises")

    def __init__(self, errors: Any, modes: Any, filters: list[Any], as_tuple: tuple[Any, ...], raises: bool) -> None:
        self.errors, self.modes, self.filters, self.as_tuple, self.raises = errors, modes, filters, as_tuple, raises


_state = _State(None, None, [], (), False)
_every_modes: dict[tuple[Any, ...], dict[str, Any]] = {}
_places: dict[int, Place] = {}
"""Address of the code object plus position of the instruction -> place, which keeps the code alive."""
_MOST_PLACES = 4096
_passing: dict[int, set[int]] = {}
"""Identity of a globals dict that belongs to no module -> keys of its places. The places keep the dict and its contents alive."""
_MOST_PASSING = 4
"""Maximum number of globals dicts whose places are kept, although they belong to no module."""


def now() -> Any:
    """Return the :class:`~arraydispatch.engine.nodes.Place` of the running user line, with the modes of ``np.errstate`` in force.

    Return ``DECLINED`` if a mode is neither "ignore" nor "warn", or if warnings must be issued at their call (:func:`listened`).
    """
    state: _State = _state
    errors = machine.value_of(_errors_in_force)
    if errors is not state.errors:
        state = _learn_modes(errors)
    modes = state.modes
    if modes is _DECLINED:
        return modes
    if modes is not None and listened():
        return _DECLINED
    state = _state
    frame: FrameType = _user_frame()
    code: CodeType = frame.f_code
    at = frame.f_lasti
    key = machine.identity(code) + at
    place: Place | None = _places.get(key)
    if place is not None:
        if place.code is not code or place.instruction != at:
            place = None
        elif place.modes is modes and place.filters is state.as_tuple and place.names is frame.f_globals:
            return place
    made = Place(code, at, frame.f_globals, state.as_tuple, modes, place)
    _keep(key, made)
    return made


def _keep(key: Any, place: Place) -> None:
    """Cache a :class:`Place` of the user's code under ``key``, for the next call from it."""
    if len(_places) >= _MOST_PLACES:
        _places.clear()
        _passing.clear()
    _places[key] = place
    names = place.names
    module = sys.modules.get(str(names.get("__name__")))
    if getattr(module, "__dict__", None) is not names:
        keys = _passing.get(id(names))
        if keys is None:
            if len(_passing) >= _MOST_PASSING:
                for old in _passing.pop(next(iter(_passing)), ()):
                    _places.pop(old, None)
            keys = _passing[id(names)] = set()
        keys.add(key)


def _user_frame() -> FrameType:
    """Return the innermost running frame that is neither this package's nor NumPy's, or the outermost frame if there is no such frame."""
    frame: FrameType = machine.current_frame()
    code: CodeType = frame.f_code
    if machine.identity(code) + frame.f_lasti not in _places:  # may be code of this package or of NumPy
        while _is_inside[code.co_filename] and frame.f_back is not None:
            frame = frame.f_back
            code = frame.f_code
    return frame


def declines(size: Any) -> bool:
    """Count a call of this size at the running user line. Return True if it should not be recorded, because that has not paid there."""
    frame: FrameType = machine.current_frame()
    code: CodeType = frame.f_code
    found = _places.get(machine.identity(code) + frame.f_lasti)
    if found is None:
        if not _is_inside[code.co_filename]:
            return False
        frame = _user_frame()
        code = frame.f_code
        found = _places.get(machine.identity(code) + frame.f_lasti)
        if found is None:
            return False
    place: Place = found
    return place.largest > 0 and place.code is code and place.declines(size)


def pass_by(size: Any) -> None:
    """Note that a call of this size at the running user line could not be recorded."""
    place = now()
    if place is not _DECLINED:
        at: Place = place
        if at.is_open(size):
            at.learn(size, False)


def listened() -> bool:
    """Whether warnings must be issued at their call: a filter turns them into errors, or the program collects or shows them itself."""
    state: _State = _state
    filters = _warnings["filters"]
    if filters != state.filters:
        state = _learn_filters(filters)
    if (
        state.raises
        or type(_warnings.get("_showwarnmsg_impl")) is not _FUNCTION
        or _warnings["showwarning"] is not _warnings.get("_showwarning_orig")
    ):
        return block_reports.heeded
    return False


def _learn_modes(errors: Any) -> _State:
    global _state
    modes: dict[str, Any] = {**np.geterr()}
    said = set(modes.values())
    found: Any = DECLINED if not said <= {"ignore", "warn"} else None if said == {"ignore"} else modes
    if found is modes:
        found = _every_modes.setdefault(tuple(modes.items()), modes)
    before: _State = _state
    made = _state = _State(errors, found, before.filters, before.as_tuple, before.raises)
    return made


def _learn_filters(filters: Any) -> _State:
    global _state
    before: _State = _state
    raises = any(each[0] == "error" for each in filters)
    made = _state = _State(before.errors, before.modes, list(filters), tuple(filters), raises)
    return made


class _Inside(dict[str, bool]):
    """File -> whether it belongs to this package or to NumPy."""

    def __missing__(self, file: str) -> bool:
        if len(self) >= 4096:  # many files, such as the cells of a notebook
            self.clear()
        found = self[file] = is_core(file)
        return found


_is_inside = _Inside()
