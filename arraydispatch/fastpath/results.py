"""State of the thin path, its calls of ufuncs, and wrapping of NumPy's results."""

from __future__ import annotations

from operator import eq, ne
from time import perf_counter
from typing import Any

import numpy as np
from numpy import ndarray

from .._core import handles, machine
from .._core.handles import Handle
from .._core.machine import MANY_LANES, SHORT_LANE
from ..backends.kinds import Kind
from ..common import events
from ..common.arguments import PLAIN, SCALARS, SEQUENCES
from ..common.members import MEMBERS
from ..common.process_state import process
from ..common.sentinels import DECLINED
from ..dispatch import host_results, host_values
from ..engine.recording import call_nodes
from ..engine.recording.call_nodes import declines
from ..memory import views
from ..memory.roots import memory_of
from ..runtime import settings
from ..runtime.execution_policy import are_few, shapes
from ..ufuncs import lanes, rows
from ..ufuncs.facts import INSTRUCTIONS

__all__ = [
    "DEEPEST", "any_large", "array_of", "at", "before_write", "calls", "computed_onto", "follow", "in_rows", "into", "into_its_memory", "is_computed", "is_numpys", "is_ours", "is_plain", "is_read", "keywords_of", "made_of", "may_go_by_lanes",
    "of_one", "of_two", "onto", "path", "plain_sequence", "result_of", "ufunc", "value_of", "values_of", "view_of", "waiting", "written",
]  # fmt: skip

__warningregistry__ = None  # NumPy warns here, on behalf of a user's line: see arraydispatch.launcher.numpy_warnings

waiting = views.waiting
_waiting: dict[int, tuple[Any, ...]] = waiting
"""``waiting``, as a C value if this module is compiled."""
_rows = rows.LEAST
_LANES = 4 * MANY_LANES
"""Minimum product of the sizes of an array with many short lanes and a row or column for them."""
_given_back = shapes.given_back
_UFUNCS = {row.operator: row.func for row in MEMBERS.values() if row.operator is not row.func}


DEEPEST = 64
"""Maximum depth of nested arguments, NumPy's maximum number of dimensions; deeper recursion of compiled code could end the process."""


class Path:
    """State of the thin path; compiled modules read its fields as C values.

    Attributes
    ----------
    array_class : type
        Class of every new array.
    calls : int
        Number of calls that took the thin path. No other thread runs while a call is counted.
    least : int
        Number of elements from which the library computes; 0 while the thin path is not in force.
    recorded : int
        Number of elements from which fused execution may record a call; ``least`` if it records none.
    """

    __slots__ = ("array_class", "calls", "least", "recorded")

    def __init__(self) -> None:
        made: Any = None
        self.array_class, self.calls, self.least, self.recorded = made, 0, 0, 0


path = Path()
_path = path
"""``path``, as a C value if this module is compiled."""


def follow() -> None:
    """Switch the thin path on or off according to the state of the process."""
    _path.array_class = getattr(process.wrapper, "__self__", _path.array_class)
    in_force = process.min_size and settings.only_values_decide() and not events.told_each()
    _path.least = process.min_size if in_force else 0
    _path.recorded = min(call_nodes.least, _path.least) if call_nodes.least else _path.least


follow()


def calls() -> int:
    """Return how many calls took the thin path so far."""
    return _path.calls


# -- ufuncs ------------------------------------------------------------------------------------------------------------


_HELD = frozenset(map(np.dtype, "?bhilqBHILQefdFD"))
"""Dtypes that every library has."""


def is_numpys(x: Any) -> bool:
    """Whether an operand is a small ndarray, so that NumPy computes with it as with the value of an array.

    A script gets ndarrays from code that is not dispatched: the data of a sparse matrix, a column of a table.
    """
    if type(x) is ndarray:
        value: ndarray = x
        return bool(value.size < _path.least and value.dtype in _HELD)
    return False


def plain_sequence(x: Any, depth: Any = DEEPEST) -> bool:
    """Whether a list or tuple holds nothing but numbers, and sequences of them."""
    last = None
    for part in x:
        cls = type(part)
        if cls is not last:
            if cls in SCALARS:
                last = cls
            elif cls not in SEQUENCES or not depth or not plain_sequence(part, depth - 1):
                return False
    return True


def _converted(x: Any) -> Any:
    """Return what NumPy gets for an operand that is neither an array nor a plain number; None if the general path must convert it.

    A list, tuple or range of numbers becomes a small ndarray; a number of another class stays unchanged.
    """
    cls = type(x)
    if (cls in SEQUENCES and plain_sequence(x)) or cls is range:
        try:
            made = np.array(x)
        except (ValueError, OverflowError):  # NumPy raises the error in the general path
            return None
        return made if is_numpys(made) else None
    if isinstance(x, _NUMBERS) and not any(hasattr(cls, name) for name in _ANSWERS):
        return x
    return None


_NUMBERS = int, float, complex
_ANSWERS = "__array_ufunc__", "__array_priority__"
"""Attributes that let an operand take over the call from NumPy."""


def is_kept(a: Handle, value: ndarray) -> bool:
    """Whether NumPy computes with a large array although a library is in force.

    It does if the shape of the array or its root was given back to the host, or if the array has few bytes (``are_few``).
    """
    if process.execution is None:
        return are_few(value, _path.least) and settings.on_cpu(a._kind.backend.name)
    if not _given_back or process.execution != "compiled" or not settings.on_cpu(a._kind.backend.name):
        return False
    base: Handle | None = a._base
    if base is not None and type(base._v) is ndarray:
        whole: ndarray = base._v
        if whole.shape in _given_back and (2 * value.size < whole.size or shapes.stays(whole.shape)):
            return True
    return shapes.stays(value.shape)


def any_large(values: Any) -> bool:
    """Whether an ndarray among some values is so large that calls on it are reported one by one."""
    for x in values:  # noqa: SIM110 -- compiled, a loop takes no generator
        if _has_many(x):
            return True
    return False


def of_kept(op: Any, inputs: tuple[Any, ...]) -> Any:
    """Compute a ufunc, or an operator, of large arrays for which :func:`is_kept` holds; return :data:`DECLINED` for others."""
    if waiting or not (_given_back or process.execution is None):
        return DECLINED
    found: list[Any] = []
    hosts = values_of(inputs, found)
    if hosts is None or not any_large(hosts):
        return DECLINED
    start = perf_counter()
    result = op(*hosts)
    host_values.tell(_UFUNCS.get(op, op), found, result, hosts, perf_counter() - start)
    return made_of(result, found)


def _is_large(x: Any, y: Any, least: Any) -> bool:
    """Whether the second operand is large, or the result is large because each operand is broadcast along axes of the other operand."""
    return bool(y.size >= least or machine.size_together(x, y) >= least)


def _computed(result: Any, kind: Kind) -> Any:
    """Count a call and wrap its result."""
    _path.calls += 1
    if type(result) is ndarray:
        new: ndarray = result
        if new.dtype is not kind.dtype:
            return array_of(new, kind)
        return handles.new_array(_path.array_class, new, kind, True, None)
    return _parts(result, kind) if type(result) is tuple else result


def _parts(result: tuple[Any, ...], kind: Kind) -> Any:
    """Wrap the results of a ufunc with several outputs."""
    parts = []
    for x in result:
        if type(x) is not ndarray:
            return host_values.dressed(result, [])
        parts.append(array_of(x, kind))
    return tuple(parts)


def _is_at_once(size: Any, tried: Any) -> bool:
    """Whether NumPy computes a call whose size could be recorded, because recording was tried, or has not paid at this user line."""
    return size < _path.least and (tried or bool(call_nodes.least and declines(size)))


def of_one(op: Any, x: Any, tried: bool = False) -> Any:
    """Compute a ufunc, or an operator, of one array; return :data:`DECLINED` if the general path must.

    ``tried``: whether recording has been tried.
    """
    value: ndarray | None = handles.held(x, _path.array_class)
    if value is None:
        return DECLINED
    kind: Kind = handles.kind_of(x)
    if value.size >= _path.recorded and not _is_at_once(value.size, tried):
        return of_kept(op, (x,))
    if kind.standard:
        return DECLINED
    return _computed(op(value) if value.ndim < 2 or not in_rows(value, 0) else rows.call(op, value), kind)


def of_two(op: Any, x: Any, y: Any, by_rows: bool, tried: bool = False) -> Any:
    """Compute a ufunc, or an operator, of two arrays or numbers; return :data:`DECLINED` if the general path must.

    ``by_rows``: whether :func:`arraydispatch.ufuncs.rows.call` may compute it differently. ``tried``: as in :func:`of_one`.
    """
    left: ndarray | None = handles.held(x, _path.array_class)
    right: ndarray | None = handles.held(y, _path.array_class)
    if left is None or right is None:
        return _of_mixed(op, x, y, left, right, by_rows, tried)
    kind: Kind = handles.kind_of(x)
    theirs: Kind = handles.kind_of(y)
    if theirs is not kind and (theirs.backend is not kind.backend or theirs.standard):
        return DECLINED
    least = _path.recorded
    large = left.size >= least or (left.size * right.size >= least and _is_large(left, right, least))
    if kind.standard or (large and not _is_at_once(machine.size_together(left, right), tried)):
        return of_kept(op, (x, y))
    straight = not by_rows or left.ndim < 2 > right.ndim or not in_rows(left, right)
    return _computed(op(left, right) if straight else rows.call(op, left, right), kind)


def _of_mixed(op: Any, x: Any, y: Any, left: ndarray | None, right: ndarray | None, by_rows: bool, tried: bool) -> Any:
    """Compute as :func:`of_two`, for an array and a number or small ndarray, or for two numbers. ``left``, ``right``: the ndarray in the
    array, None for the other operand.
    """
    other = y if right is None else x
    if type(other) is _path.array_class:  # first: the hash of that class is made in Python under a launcher
        return DECLINED
    plain = type(other) in SCALARS
    value: ndarray | None = left if right is None else right
    if value is None:
        return op(x, y) if plain and type(x) is not _path.array_class and type(x) in SCALARS else DECLINED
    if not plain and not is_numpys(other):
        if value.size >= _path.least:
            return DECLINED
        if not ((op is eq or op is ne) and type(other) in PLAIN):  # arrays may be compared with anything
            other = _converted(other)
            if other is None:
                return DECLINED
        if right is None:
            y = other
        else:
            x = other
    kind: Kind = handles.kind_of(x if right is None else y)
    least = _path.recorded
    is_array = type(other) is ndarray
    large = value.size >= least or (is_array and _is_large(other, value, least))
    size = machine.size_together(value, other) if large and is_array else value.size
    if kind.standard or (large and not _is_at_once(size, tried)):
        return of_kept(op, (x, y))
    if not by_rows or (value.ndim < 2 and not is_array) or not in_rows(value, other):
        if plain:
            return _computed(_with_number(op, value, other, right is not None, None), kind)
        return _computed(op(left, y) if right is None else op(x, right), kind)
    return _computed(rows.call(op, left, y) if right is None else rows.call(op, x, right), kind)


_REAL, _WHOLE = np.dtype(np.float64), np.dtype(np.int64)


def _of_one_dtype(dtype: np.dtype[Any]) -> frozenset[Any]:
    """Return NumPy's ufuncs and operators with a loop for two operands of this dtype."""
    loop = f"{dtype.char * 2}->"
    found = [func for func in vars(np).values() if type(func) is np.ufunc]
    return frozenset({eq, ne, *[func for func in found if any(each.startswith(loop) for each in func.types)]})


_OF_REALS, _OF_WHOLES = _of_one_dtype(_REAL), _of_one_dtype(_WHOLE)
_reals, _wholes = [np.zeros((), _REAL)], [np.zeros((), _WHOLE)]
"""0-d arrays for reuse. A call takes one out, so that no other thread and no signal handler writes it meanwhile."""


def _with_number(op: Any, value: ndarray, x: Any, before: bool, place: Any) -> Any:
    """Compute a ufunc, or an operator, of an ndarray and a number. ``before``: whether the number is the first operand; ``place``: ``out=``.

    NumPy converts the number to a 0-d array, which takes longer than a small sum. So it gets one of ours, if the number fits the
    array's dtype exactly and the function computes in that dtype.
    """
    dtype = value.dtype
    spare: list[Any] | None = None
    if dtype is _REAL:
        spare = _reals if op in _OF_REALS else None
    elif dtype is _WHOLE:
        spare = _wholes if op in _OF_WHOLES else None
    number = x
    if spare is not None:
        box: ndarray = spare.pop() if spare else np.empty((), dtype)
        if machine.put_number(box, x):
            number = box
        else:
            spare.append(box)
            spare = None
    if place is None:
        made = op(number, value) if before else op(value, number)
    else:
        made = op(number, value, place) if before else op(value, number, place)
    if spare is not None:
        del number
        if machine.is_alone(box):  # no other reference was kept
            spare.append(box)
    return made


def _operand(x: Any, kind: Kind) -> Any:
    """Return an operand's value for a call that writes to an array of this kind, or None if the general path must take the call."""
    value: ndarray | None = handles.held(x, _path.array_class)
    if value is not None:
        theirs: Kind = handles.kind_of(x)
        return value if theirs is kind or (theirs.backend is kind.backend and not theirs.standard) else None
    if type(x) is _path.array_class:
        return None
    return x if type(x) in SCALARS or is_numpys(x) else _converted(x)


def into(op: Any, x: Any, y: Any, out: Any, operator: bool) -> bool:
    """Compute a ufunc of two operands, or of one, into an array; return whether it was done.

    ``y``: ``DECLINED`` for a ufunc of one operand. ``operator``: whether to pass ``out`` by position, as for ``x += y``.
    """
    place: ndarray | None = handles.held(out, _path.array_class)
    if place is None:
        return False
    if _path.recorded <= place.size < call_nodes.most and call_nodes.least and not _is_at_once(place.size, False):
        return False  # it may be recorded
    if place.size >= _path.least and handles.kind_of(out).backend.writes_at_home and not is_kept(out, place):
        return False  # the library may write it
    return into_its_memory(op, x, y, out, operator)


def into_its_memory(op: Any, x: Any, y: Any, out: Any, operator: bool) -> bool:
    """Do :func:`into` without asking whether the call may be recorded or the library may write; return whether it was done."""
    place: ndarray | None = handles.held(out, _path.array_class)
    if place is None:
        return False
    kind: Kind = handles.kind_of(out)
    if kind.standard:
        return False
    left = place if x is out else _operand(x, kind)
    right = None if y is DECLINED else _operand(y, kind)
    if left is None or (right is None and y is not DECLINED):
        return False
    large = any_large((left, right))
    start = perf_counter() if large else 0.0
    before_write(out, place)
    if place.ndim > 1 and (in_rows(left, right) or in_rows(place, 0)):
        if right is None:
            rows.call(op, left, out=place)
        elif operator:
            rows.call(op, left, right, place)
        else:
            rows.call(op, left, right, out=place)
    elif right is None:
        op(left, place)
    elif operator:
        if type(left) is ndarray and type(right) in SCALARS:
            _with_number(op, left, right, False, place)
        else:
            op(left, right, place)
    else:  # by name: np.maximum deprecates a third operand
        op(left, right, out=place)
    written(out)
    if large:
        _path.calls -= 1
        host_values.tell(_UFUNCS.get(op, op), [out], None, (place,), perf_counter() - start)
    return True


def _has_many(x: Any) -> bool:
    if type(x) is ndarray:
        value: ndarray = x
        return bool(value.size >= _path.least)
    return False


def written(a: Any) -> None:
    """Count a call that wrote an array, and the write."""
    _path.calls += 1
    handles.count_write(a)


def may_go_by_lanes(x: ndarray, adds: Any) -> bool:
    """Whether :func:`arraydispatch.ufuncs.lanes.reduced` may take less time than NumPy for an array; ``adds``: for a reduction that adds integers."""
    if x.size < _fewest:
        return False
    if x.ndim > 1 and machine.lane_length(x) <= _widest:
        return True
    return bool(adds) and x.dtype in lanes.SMALL


_fewest, _widest = lanes.LEAST, lanes.WIDEST
"""``lanes.LEAST`` and ``lanes.WIDEST``, as C values if this module is compiled."""


def is_ours(x: Any) -> bool:
    """Whether an operand is an array or a number, so that no other protocol is called."""
    return type(x) is _path.array_class or type(x) in SCALARS


def ufunc(func: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """Compute a ufunc without keywords; return :data:`DECLINED` if the general path must."""
    if len(inputs) == 2:
        return of_two(func, inputs[0], inputs[1], func in INSTRUCTIONS)
    if len(inputs) == 1:
        return of_one(func, inputs[0])
    for x in inputs:
        if not is_ours(x):
            return DECLINED
    found: list[Any] = []
    hosts = values_of(inputs, found)
    if not found or hosts is None:
        return DECLINED
    _path.calls += 1
    return made_of(func(*hosts), found)


def at(func: np.ufunc, a: Any, *inputs: Any) -> bool:
    """Run ``func.at`` on an array; return whether it was done."""
    place: ndarray | None = handles.held(a, _path.array_class)
    if place is None or place.size >= _path.least or handles.kind_of(a).standard:
        return False
    hosts = values_of(inputs, [a])
    if hosts is None:
        return False
    before_write(a, place)
    func.at(place, *hosts)
    written(a)
    return True


def onto(func: np.ufunc, inputs: tuple[Any, ...], out: Any, by_position: bool = False) -> Any:
    """Compute a ufunc into an array and return ``out``; return :data:`DECLINED` if the general path must."""
    if len(inputs) != func.nin or func.nout != 1:
        return DECLINED
    if type(out) is not _path.array_class:
        return _onto_numpys(func, inputs, out)
    if len(inputs) == 2:
        return out if into(func, inputs[0], inputs[1], out, by_position) else DECLINED
    if len(inputs) == 1:
        return out if into(func, inputs[0], DECLINED, out, False) else DECLINED
    place: ndarray | None = handles.held(out, _path.array_class)
    if (
        place is None
        or handles.kind_of(out).standard
        or (call_nodes.least and _path.least <= place.size < call_nodes.most)
    ):
        return DECLINED
    hosts = values_of(inputs, [out])
    if hosts is None:
        return DECLINED
    before_write(out, place)
    func(*hosts, out=place)
    written(out)
    return out


def _onto_numpys(func: np.ufunc, inputs: tuple[Any, ...], out: Any) -> Any:
    """Compute a ufunc into a small ndarray while no call is pending; return :data:`DECLINED` otherwise."""
    if _waiting or not is_numpys(out):
        return DECLINED
    hosts = values_of(inputs, [])
    if hosts is None:
        return DECLINED
    _path.calls += 1
    return func(*hosts, out=out)


# -- results -----------------------------------------------------------------------------------------------------------


def array_of(value: ndarray, kind: Kind) -> Any:
    """Wrap a new ndarray. ``kind``: kind of an operand."""
    if _given_back and value.size >= _path.least and not kind.standard and not shapes.stays(value.shape):
        return host_results.placed(value, kind.backend)  # so large that it may belong to the library
    dtype = value.dtype
    if dtype is not kind.dtype:
        other = kind.last
        if other.dtype is not dtype:
            known = kind.backend._kinds.get(dtype)
            if known is None or kind.standard:
                return (
                    host_results.placed(value, kind.backend)
                    if not kind.standard
                    else process.wrapper(value, kind.of(dtype))
                )
            kind.last = other = known
        kind = other
    return handles.new_array(_path.array_class, value, kind, True, None)


def view_of(a: Any, value: ndarray) -> Any:
    """Wrap a view of an array's value."""
    return handles.new_array(_path.array_class, value, handles.kind_of(a), False, handles.root_of(a))


def part_of(a: Handle, value: ndarray) -> Any:
    """Wrap a view of an array's value, of the same or another dtype.

    Return :data:`DECLINED` if the backend has not made a kind of that dtype yet; the general path makes it.
    """
    kind: Kind = a._kind
    seen = value.dtype
    if seen is not kind.dtype:
        if kind.last.dtype is not seen and (known := kind.backend._kinds.get(seen)) is not None:
            kind.last = known
        kind = kind.last
    if kind.standard or kind.dtype is not seen:
        return DECLINED
    return handles.new_array(_path.array_class, value, kind, False, handles.root_of(a))


def result_of(a: Handle, result: Any, kind: Kind) -> Any:
    """Wrap the result of a method of the value of ``a``."""
    if type(result) is ndarray:
        value: ndarray = result
        x: ndarray = a._v
        if value is x:
            return a
        base = value.base
        if base is None or machine.is_only_view(value, 1):
            return array_of(value, kind)
        made = part_of(a, value) if base is x or base is x.base else DECLINED
        return host_values.dressed(value, [a]) if made is DECLINED else made
    return made_of(result, [a]) if type(result) is tuple else result


def made_of(result: Any, found: list[Any]) -> Any:
    """Wrap NumPy's result for the values of the arrays ``found``."""
    first: Handle = found[0]
    if type(result) is ndarray:
        new: ndarray = result
        if len(found) == 1:
            return result_of(first, result, first._kind)
        if new.base is not None and not machine.is_only_view(new, 0):
            return host_values.dressed(result, found)
        for a in found:
            if handles.held(a, _path.array_class) is new:
                return a
        return array_of(new, first._kind)
    if isinstance(result, tuple):
        parts = [_part(x, found, first) for x in result]
        return tuple(parts) if type(result) is tuple else type(result)._make(parts)  # type: ignore[attr-defined]
    if type(result) is list:
        return [_part(x, found, first) for x in result]
    return host_values.dressed(result, found)


def _part(result: Any, found: list[Any], first: Handle) -> Any:
    """Wrap one of several results of a call on the arrays ``found``; ``first`` is one of these."""
    if type(result) is not ndarray:
        return host_values.dressed(result, found)
    new: ndarray = result
    owner = new.base
    for a in found:
        value: ndarray | None = handles.held(a, path.array_class)
        if value is new:
            return a
        if (
            owner is not None
            and value is not None
            and new.dtype is value.dtype
            and (owner is value or owner is value.base)
        ):
            return view_of(a, new)
    if owner is not None and not machine.is_only_view(new, 1):
        memory = memory_of(result)
        for a in found:
            value = handles.held(a, path.array_class)
            if value is not None and memory_of(value) is memory:
                return host_values.dressed(result, found)
    return array_of(new, first._kind)


def is_computed(made: Any) -> bool:
    """Whether a call computed something: False if ``made``, its wrapped result, is a view, or a list or tuple of views."""
    if type(made) is _path.array_class:
        a: Handle = made
        return a._base is None
    if type(made) is not list and type(made) is not tuple:
        return True
    for part in made:  # noqa: SIM110 -- compiled, a loop takes no generator
        if is_computed(part):
            return True
    return False


def is_read(memory: Any) -> bool:
    """Whether a pending call may read this memory, the base of a value."""
    if type(memory) is not ndarray:
        return True
    value: ndarray = memory
    return value.base is not None or id(memory) in _waiting


def in_rows(x: Any, y: Any) -> bool:
    """Whether :func:`arraydispatch.ufuncs.rows.call` computes a ufunc of these ndarrays or numbers faster."""
    if type(x) is not ndarray:
        x, y = y, x
        if type(x) is not ndarray:
            return False
    a: ndarray = x
    if type(y) is ndarray:
        b: ndarray = y
        if a.size * b.size < _LANES or (a.ndim < 2 > b.ndim) or machine.are_laid_out_alike(a, b):
            return False
        if machine.short_lanes(a, b, SHORT_LANE, MANY_LANES) or machine.short_lanes(b, a, SHORT_LANE, MANY_LANES):
            return True
        return a.size * b.size >= _rows and machine.size_together(a, b) >= _rows and rows.lie_in_rows(a, b)
    return a.ndim > 1 and a.size >= _rows and rows.lie_in_rows(a, 0)


def is_plain(args: tuple[Any, ...], kwargs: dict[str, Any] | None, depth: Any = DEEPEST) -> bool:
    """Whether no argument is, or may contain, an array."""
    for x in args:
        cls = type(x)
        if cls is _path.array_class or (
            cls not in PLAIN and not (cls is tuple and depth and is_plain(x, None, depth - 1))
        ):
            return False
    return not kwargs or ("out" not in kwargs and is_plain(tuple(kwargs.values()), None))


def value_of(x: Any, found: list[Any], few: Any, of_any_size: Any) -> Any:
    """Return a plain argument, or the value of an array of fewer than ``few`` elements, and append the array to ``found``. Return
    :data:`DECLINED` for other arguments.
    """
    if type(x) is not _path.array_class:
        return x if type(x) in PLAIN else DECLINED
    value: ndarray | None = handles.held(x, _path.array_class)
    if value is None:
        return DECLINED
    kind: Kind = handles.kind_of(x)
    if (value.size >= few and not of_any_size and not is_kept(x, value)) or kind.standard:
        return DECLINED
    if found:
        first: Kind = handles.kind_of(found[0])
        if first is not kind and first.backend is not kind.backend:
            return DECLINED
    found.append(x)
    return value


def values_of(args: Any, found: list[Any], depth: Any = DEEPEST, of_any_size: Any = False) -> list[Any] | None:
    """Return arguments with ndarrays in place of arrays, and append the arrays to ``found``; return None if the general path is needed.

    ``depth``: number of levels of nested lists and tuples to search. ``of_any_size``: whether the arrays may be large.
    """
    if not depth:
        return None
    hosts = []
    for x in args:
        value = value_of(x, found, _path.least, of_any_size)
        cls = type(x)
        if value is not DECLINED:
            hosts.append(value)
        elif cls is ndarray:
            if _waiting or not is_numpys(x):
                return None
            hosts.append(x)
        elif cls is tuple or cls is list:
            inner = values_of(x, found, depth - 1, of_any_size)
            if inner is None:
                return None
            hosts.append(cls(inner))
        else:
            return None
    return hosts


def keywords_of(kwargs: dict[str, Any], found: list[Any], names: Any) -> dict[str, Any] | None:
    """Return keywords with ndarrays in place of arrays, and append the arrays to ``found``; return None if the general path is needed.

    ``names``: keywords that may be written; only ``out`` of them is accepted.
    """
    options = {}
    for name, x in kwargs.items():
        if name in names and (name != "out" or type(x) is not _path.array_class):
            return None
        if type(x) in PLAIN:
            options[name] = x
            continue
        inside = values_of((x,), found)
        if inside is None:
            return None
        options[name] = inside[0]
    return options


def computed_onto(run: Any, hosts: Any, options: dict[str, Any], out: Handle, found: list[Any]) -> Any:
    """Return ``out`` after ``run(*hosts, **options)`` has written to it, or the wrapped result of the call if that is another object.

    ``found``: arrays among the arguments.
    """
    before_write(out, out._v)
    try:
        result = run(*hosts, **options)
    finally:
        written(out)
    return out if result is out._v else made_of(result, found)


def before_write(a: Any, x: ndarray) -> None:
    """Run the pending calls that read the memory of an array. ``x``: the array's value."""
    if _waiting and ((memory := x.base) is not None or id(x) in _waiting) and is_read(memory):
        views.run_readers(a)
