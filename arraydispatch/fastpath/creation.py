"""Thin path of creation functions: NumPy makes the array, which stays in the host state."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from time import perf_counter
from types import FrameType
from typing import Any

import numpy as np
from numpy import ndarray

from .._core import handles, machine
from .._core.handles import Handle
from ..array import Array
from ..backends import loader
from ..backends.kinds import Kind
from ..common import events
from ..common.arguments import PLAIN, SCALARS, SEQUENCES
from ..common.buffers import is_writeable
from ..common.process_state import process
from ..common.sentinels import DECLINED, UNSET
from ..dispatch import host_results, wrapping
from ..memory import views
from ..memory.roots import memory_of
from ..runtime import settings
from .methods import method_of
from .results import array_of, before_write, is_numpys, is_plain, made_of, path, plain_sequence, values_of, written

__all__ = [
    "at_once",
    "drawn_at_once",
    "filled_at_once",
    "follow",
    "fresh",
    "meets_foreign",
    "new",
    "of_data_at_once",
    "of_values",
    "takes",
    "unless_foreign",
    "wrapped",
    "wrapped_all",
]

__warningregistry__ = None  # NumPy warns here, for a line of the user's: see arraydispatch.launcher.numpy_warnings
_compiled = handles.compiled


# -- new arrays --------------------------------------------------------------------------------------------------------


_blocks = settings.blocks_here
_float_kind: Any = None
"""Kind of float64 arrays; None while the thin path is not in force, or a block may name a backend."""
_any_size = False
"""Whether new arrays of any size are in the host state."""
_kinds: dict[Any, Any] = {}
"""Dtype -> kind of new arrays, outside of blocks that name a backend."""
_last: Any = None
"""The kind that was used last: hashing a dtype takes longer than comparing it."""


def follow() -> None:
    """Choose the kinds of new arrays by the state of the process. Called once there is a host state."""
    global _any_size, _float_kind, _kinds, _last
    held = loader.hosted(process.backend)
    _kinds, _last, _any_size = held._kinds, None, settings.begins_on_host(process.backend)
    _float_kind = held.kind(np.dtype(float)) if path.least and not process.blocks_entered else None


def _kind_of(dtype: Any) -> Any:
    """Return the kind of new arrays of a dtype; None if the general path must find it."""
    global _last
    last: Kind | None = _last
    if last is None or last.dtype is not dtype:
        last = _kinds.get(dtype)
        if last is not None:
            _last = last
    return last


def new(value: Any) -> Any:
    """Wrap an ndarray that NumPy has just made, or a copy of it if it is a view, and count the call."""
    path.calls += 1
    kind = _kind_of(value.dtype) if _float_kind is not None or not _blocks() else None
    if kind is None or value.base is not None:
        held = loader.hosted(settings.current_name())
        return host_results.placed(value if value.base is None else value.copy("K"), held)
    return array_of(value, kind)


def takes(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the thin path is in force, and no argument is or contains an array."""
    return bool(path.least) and (not args or is_plain(args, {})) and (not kwargs or is_plain((), kwargs))


def fresh(value: ndarray) -> Any:
    """Wrap a small new ndarray of a known dtype; return None if the general path must decide."""
    kind = _kind_of(value.dtype) if _float_kind is not None and value.size < path.least else None
    return None if kind is None or value.base is not None else array_of(value, kind)


_SINGLE = SCALARS | {range, str, bytes, type(None)}
"""Types of data, without sequences, that contain no array."""


def meets_foreign(real: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether an argument of a creation function has a foreign class's ``__array_function__``, which gets the arguments unchanged."""
    if kwargs and _answers(kwargs.get("like")):
        return True
    return hasattr(real, "_implementation") and (any(map(_answers, args)) or any(map(_answers, kwargs.values())))


def _answers(x: Any) -> bool:
    cls = type(x)
    return cls not in PLAIN and hasattr(cls, "__array_function__") and not isinstance(x, Handle | ndarray | np.generic)


def unless_foreign(real: Any) -> Callable[[Any], Any]:
    """Return a decorator for a creation function without :func:`at_once`: NumPy's ``real`` runs if :func:`meets_foreign`."""

    def decorate(general: Any) -> Any:
        @wraps(general)
        def made(*args: Any, **kwargs: Any) -> Any:
            return (real if meets_foreign(real, args, kwargs) else general)(*args, **kwargs)

        return made

    return decorate


def at_once(real: Any, itself: bool | None = None, square: bool = False) -> Callable[[Any], Any]:
    """Decorate a creation function: NumPy makes the array of plain arguments, in the host state, while the thin path is in force.

    ``itself``: whether the function returns an array unchanged if it is the only argument; None for a function that takes no array.
    ``square``: whether one integer may be the length of both axes.
    """
    most = 2 if square else 1  # number of axes of length n for an integer n
    spans = real is np.arange

    def decorate(general: Any) -> Any:
        of_array = method_of(real, general, computes=False) if itself is not None else None

        @wraps(general)
        def made(*args: Any, **kwargs: Any) -> Any:
            try:
                if path.least:
                    if of_array is not None and args and type(args[0]) is path.array_class:
                        if itself and len(args) == 1 and not kwargs and not args[0]._kind.standard:
                            return args[0]
                        if type(args[0]._v) is ndarray:
                            return of_array(*args, **kwargs)
                    for x in args:
                        if type(x) not in PLAIN and not (type(x) in SEQUENCES and plain_sequence(x)):
                            break
                        if _are_many(x, None, most) or (of_array is None and _is_large_shape(x)):
                            break
                    else:
                        many = [x for x in kwargs.values() if _are_many(x, None, most)] if kwargs else None
                        if not many and not (spans and _is_long(args)) and (not kwargs or is_plain((), kwargs)):
                            found = wrapped(real(*args, **kwargs))
                            if found is not None:
                                return found
                like = kwargs.get("like")
                if not meets_foreign(real, args, kwargs) and (
                    like is None or hasattr(type(like), "__array_function__")
                ):
                    if events.tap is None:
                        return general(*args, **kwargs)
                    return _told(real, general, args, kwargs)
            except RecursionError:
                if not wrapping.circular((*args, *kwargs.values())):
                    raise
            return real(*args, **kwargs)  # outside `except`: NumPy's error has no context of ours

        def of_one(x: Any) -> Any:
            if path.least:
                if type(x) in PLAIN and not (_are_many(x, None, most) or (spans and _is_long((x,)))):
                    found = wrapped(real(x))
                    if found is not None:
                        return found
                elif itself and type(x) is path.array_class and not x._kind.standard:
                    return x
            return made(x)

        def of_two(x: Any, y: Any) -> Any:
            few = path.least and type(x) in PLAIN and type(y) in PLAIN and not _are_many(x, y, most)
            if few and not (spans and _is_long((x, y))):
                found = wrapped(real(x, y))
                if found is not None:
                    return found
            return made(x, y)

        def of_three(x: Any, y: Any, z: Any) -> Any:
            plain = path.least and type(x) in PLAIN and type(y) in PLAIN and type(z) in PLAIN
            if plain and not (_are_many(y, z, most) or (spans and _is_long((x, y, z)))):
                found = wrapped(real(x, y, z))
                if found is not None:
                    return found
            return made(x, y, z)

        return handles.shortened(made, of_one, of_two, of_three)

    return decorate


def _are_many(x: Any, y: Any, axes: Any) -> bool:
    """Whether an argument is an integer, probably a number of elements, for which NumPy would make a large array in vain."""
    if _any_size:
        return False
    if axes == 2:
        return (type(x) is int and path.least <= x * x < _MOST) or (type(y) is int and path.least <= y * y < _MOST)
    return (type(x) is int and path.least <= x < _MOST) or (type(y) is int and path.least <= y < _MOST)


def _is_large_shape(x: Any) -> bool:
    """Whether an argument is the shape of a large array that NumPy would make in vain."""
    if _any_size or type(x) not in SEQUENCES or len(x) > _MOST_AXES:
        return False
    total = 1
    for n in x:
        if type(n) is not int:
            return False
        total *= n
    return bool(path.least <= total < _MOST)


_MOST_AXES = 64


def _is_long(ends: Any) -> bool:
    """Whether ``np.arange`` of one, two or three numbers, including floats, would make a long array in vain."""
    if _any_size or not [x for x in ends if isinstance(x, float)]:
        return False
    try:
        start, stop, step = (0, ends[0], 1) if len(ends) == 1 else (*ends, 1)[:3]
        return bool(path.least <= (stop - start) / step < _MOST)
    except (ArithmeticError, TypeError, ValueError):  # NumPy raises its own error
        return False


_MOST = 1 << 40
"""Integers from this one on are not numbers of elements that fit into memory."""


def wrapped(value: Any) -> Any:
    """Wrap NumPy's result for plain arguments, and count the call; return None if the general function must make it."""
    if type(value) is not ndarray:
        if type(value) not in PLAIN and type(value) not in SCALARS:
            return None
        path.calls += 1
        return value
    found = fresh(value)
    if found is not None:
        path.calls += 1
        return found
    if value.size < path.least or settings.begins_on_host(settings.current_name()):
        return new(value)
    return None


def wrapped_all(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a NumPy function with numbers and ndarrays, and wrap its result; return :data:`DECLINED` if the general function must call it.

    The general function must call it if a result is an argument or a view of one. A call that has computed is not repeated, because it
    may warn or call ``np.seterrcall``'s function.
    """
    if _float_kind is None:
        return DECLINED
    result = func(*args, **kwargs) if kwargs else func(*args)
    cls = type(result)
    if cls is not tuple and cls is not list and not (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        return _wrapped_part(result, args, kwargs)
    before, parts = path.calls, []
    for x in result:
        part = _wrapped_part(x, args, kwargs)
        if part is DECLINED:
            return DECLINED
        parts.append(part)
    path.calls = before + 1
    return cls(parts) if cls is tuple or cls is list else cls(*parts)


def _wrapped_part(value: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if type(value) is not ndarray:
        made = wrapped(value)
        return DECLINED if made is None else made
    result: ndarray = value
    memory = result if result.base is None else memory_of(result)
    if _lends(memory, args) or (kwargs and _lends(memory, kwargs.values())) or not is_writeable(result):
        return DECLINED
    kind = _kind_of(result.dtype) if result.size < path.least else None
    if kind is None:
        return new(result)
    path.calls += 1
    return array_of(result, kind)  # also for np.nonzero, whose results are views of one array


def _lends(memory: Any, args: Any) -> bool:
    """Whether an ndarray among the arguments has this memory."""
    for x in args:
        if type(x) is ndarray:
            if x is memory or memory_of(x) is memory:
                return True
        elif (type(x) is tuple or type(x) is list) and _lends(memory, x):
            return True
    return False


def of_data_at_once(real: Any, general: Callable[..., Any]) -> Callable[..., Any]:
    """Make ``np.array`` or a similar function: NumPy converts a sequence of numbers, ``general`` any other argument."""
    itself, copies = real in (np.asarray, np.asanyarray), real is np.array

    def made(x: Any = UNSET, dtype: Any = None, *more: Any, **options: Any) -> Any:
        if copies and len(options) == 1 and options.get("copy") is True:  # the default
            options = {}
        if _float_kind is not None and not options and not more:
            inside = x if type(x) in _SINGLE or (type(x) in SEQUENCES and plain_sequence(x)) else _values_of(x)
            if inside is not None:
                value: ndarray = real(inside) if dtype is None else real(inside, dtype)
                if value is inside and type(x) is not ndarray:
                    return x
                kind = _kind_of(value.dtype)
                if kind is not None and value.size < path.least and value.base is None and value is not x:
                    path.calls += 1
                    return array_of(value, kind)
                if kind is None and inside is x and type(x) is not ndarray and type(value) is ndarray:
                    return new(value)  # arrays of text or objects stay ndarrays
        if more:
            return general(x, dtype, *more, **options)
        if dtype is not None:
            options["dtype"] = dtype
        return general(**options) if x is UNSET else general(x, **options)

    def of_one(x: Any) -> Any:
        if _float_kind is not None and type(x) is path.array_class:
            if itself and not x._kind.standard:
                return x
            value: ndarray | None = handles.held(x, path.array_class) if copies else None
            if value is not None and value.size < path.least:
                kind: Kind = handles.kind_of(x)
                if _kinds.get(kind.dtype) is kind:
                    path.calls += 1
                    return array_of(real(value), kind)
        return made(x)

    return handles.shortened(made, of_one)


def of_values(func: Any, items: tuple[Any, ...]) -> Any:
    """Call a function with the values of small arrays in a tuple, and wrap the new array; return :data:`DECLINED` if there are none."""
    found: list[Any] = []
    hosts = values_of(items, found)
    if hosts is None or not found:
        return DECLINED
    path.calls += 1
    return made_of(func(tuple(hosts)), found)


def _values_of(x: Any) -> Any:
    """Replace an array, or the arrays in a sequence, by ndarrays; return None if the general function must convert them."""
    if type(x) is path.array_class:
        value: ndarray | None = handles.held(x, path.array_class)
        if value is None or value.size >= path.least:
            return None
        kind: Kind = handles.kind_of(x)
        return value if _kinds.get(kind.dtype) is kind else None
    if type(x) not in SEQUENCES and type(x) is not ndarray:
        return None
    if is_numpys(x):
        return x
    found: list[Any] = []
    inside = values_of((x,), found)
    if inside is None:
        return None
    if not found:
        return x
    first: Handle = found[0]
    return inside[0] if _kinds.get(first._kind.dtype) is first._kind else None


_PLACED = frozenset({"dtype", "order"})


def filled_at_once(real: Any) -> Callable[[Any], Any]:
    """Decorate ``zeros`` or a similar function like :func:`at_once`, with a shorter path for plain arguments: no loop over them."""
    fills = real is np.ones
    # memory is reserved immediately, and written only if the array stays on the host
    make: Any = np.empty if fills else real

    def decorate(general: Any) -> Any:
        told = at_once(real)(general)

        @wraps(general)
        def made(*args: Any, **options: Any) -> Any:  # unchanged, for a class that implements `like`
            if _float_kind is not None and args and (not options or _PLACED.issuperset(options)):
                value: ndarray = make(*args, **options)
                kind = _kind_of(value.dtype)
                if kind is not None and (_any_size or value.size < path.least):
                    if fills:
                        value.fill(1)
                    path.calls += 1
                    return handles.new_array(path.array_class, value, kind, True, None)
            return told(*args, **options) if args or options else real()

        def of_one(shape: Any) -> Any:
            kind = _float_kind
            if kind is not None:
                value: ndarray = make(shape)
                if _any_size or value.size < path.least:
                    if fills:
                        value.fill(1)
                    path.calls += 1
                    return handles.new_array(path.array_class, value, kind, True, None)
            return told(shape)

        return handles.shortened(made, of_one)

    return decorate


# -- random numbers ----------------------------------------------------------------------------------------------------


def drawn_at_once(draw: Any, general: Any, moved: Any, least: int, method: bool) -> Any:
    """Make a method (with the generator as first argument) or function for random draws: NumPy's ``draw`` runs small ones.

    ``general`` runs the other calls, including those with an integer from ``least`` on, which may request a large draw. ``moved`` converts
    an ndarray that the thin path cannot wrap. If the core is not compiled, return ``general`` itself.
    """
    if not _compiled:
        return general
    reads, shuffles = draw.__name__ not in _WRITING, method and draw.__name__ == "shuffle"

    def drawn(*args: Any, **kwargs: Any) -> Any:
        if _is_within():
            return draw(*args, **kwargs)
        hosts = _few_of(args, least, int(method), reads) if _draws() else None
        if hosts is None:
            return general(*args, **kwargs)
        options = kwargs
        if kwargs and not _are_few(kwargs, least):
            values = _few_of(tuple(kwargs.values()), least, 0, reads and "out" not in kwargs)
            if values is None:
                return general(*args, **kwargs)
            options = dict(zip(kwargs, values, strict=True))
        return _drawn(draw, hosts, options, moved)

    def by_one(a: Any) -> Any:
        if _is_within():
            return draw(a)
        return _drawn(draw, (a,), None, moved) if _draws() and (method or _is_few(a, least)) else drawn(a)

    def by_two(a: Any, b: Any) -> Any:
        if _is_within():
            return draw(a, b)
        few = _draws() and (method or _is_few(a, least)) and _is_few(b, least)
        if shuffles and not few and _draws() and handles.held(b, path.array_class) is not None:
            x: Handle = b
            if x._kind.backend.hosted:
                before_write(x, x._v)
                try:
                    draw(a, x._v)
                finally:
                    written(x)
                return None
        return _drawn(draw, (a, b), None, moved) if few else drawn(a, b)

    def by_three(a: Any, b: Any, c: Any) -> Any:
        if _is_within():
            return draw(a, b, c)
        few = _draws() and (method or _is_few(a, least)) and _is_few(b, least) and _is_few(c, least)
        return _drawn(draw, (a, b, c), None, moved) if few else drawn(a, b, c)

    def by_four(a: Any, b: Any, c: Any, d: Any) -> Any:
        if _is_within():
            return draw(a, b, c, d)
        few = (
            _draws() and (method or _is_few(a, least)) and _is_few(b, least) and _is_few(c, least) and _is_few(d, least)
        )
        return _drawn(draw, (a, b, c, d), None, moved) if few else drawn(a, b, c, d)

    return handles.shortened(drawn, by_one, by_two, by_three, by_four)


def _draws() -> bool:
    """Whether the thin path runs draws of random numbers."""
    return bool(path.least) and not _draws_on_device


_WRITING = frozenset({
    "permuted", "random", "seed", "set_state", "shuffle", "standard_exponential", "standard_gamma", "standard_normal",
})  # fmt: skip
"""Draws that may write an argument, such as ``out``, which may be passed by position."""


def _few_of(args: tuple[Any, ...], least: Any, first: Any, reads: Any) -> tuple[Any, ...] | None:
    """Replace small arrays from position ``first`` on by ndarrays; return None if an argument may request a large draw, or be written."""
    hosts = []
    for i, x in enumerate(args):
        if i < first or _is_few(x, least):
            hosts.append(x)
            continue
        known = reads and (type(x) is path.array_class or type(x) is ndarray or type(x) is list)
        inside = values_of((x,), []) if known else None
        if inside is None:
            return None
        hosts.append(inside[0])
    return tuple(hosts)


def _are_few(kwargs: dict[str, Any], least: Any) -> bool:
    for x in kwargs.values():  # noqa: SIM110 -- compiled, a loop takes no generator
        if not _is_few(x, least):
            return False
    return True


def _is_few(x: Any, least: Any) -> bool:
    """Whether an argument does not request a large draw."""
    if type(x) is int:
        return bool(x < least)
    if type(x) is not tuple:
        return type(x) in PLAIN
    total = 1
    for n in x:
        if type(n) is not int:
            return False
        total *= n
    return bool(total < least)


_draws_on_device: Any = False
_users: Any = None
_known: dict[Any, bool] = {}
"""File -> whether it is a user file: the cache of the rule in ``process.users``."""
_visited: Any = None


@process.follows("draws_on_device", "users", "visited")
def _follow_users() -> None:
    global _draws_on_device, _users, _known, _visited
    _draws_on_device, _users, _visited = process.draws_on_device, process.users, process.visited
    _known = {} if _users is None else _users.known


_follow_users()


_drawing: set[Any] = set()
"""Frames for which :func:`_drawn` is running. NumPy's ``choice`` calls ``integers`` of the generator, whose class is ours."""


def _is_within() -> bool:
    """Whether a draw is called by NumPy's code for another draw. That code has no frame, so the frame found is one in :data:`_drawing`."""
    return bool(_drawing) and machine.current_frame() in _drawing


def _drawn(draw: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None, moved: Any) -> Any:
    """Let NumPy draw, and wrap the result if user code called."""
    frame: FrameType = machine.current_frame()  # the caller's: no frame is in between
    _drawing.add(frame)
    try:
        value = draw(*args, **kwargs) if kwargs else draw(*args)
    finally:
        _drawing.discard(frame)
    if type(value) is not ndarray or not _is_by_user(frame):
        return value
    found = fresh(value) if _visited is None else None
    return moved(value) if found is None else found


def _is_by_user(first: FrameType) -> bool:
    users, known, frame = _users, _known, first
    if users is None:
        return False
    names: dict[str, Any] = frame.f_globals
    while known.get(names.get("__file__")) is not True:
        back: FrameType | None = frame.f_back
        if back is None or "__file__" in names or "__spec__" in names or users.namespaces:
            return bool(users.owns_frame(first))
        frame = back  # code that was executed in a separate dict
        names = frame.f_globals
    return True


def _told(real: Any, general: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run the general call, and report it unless the functions that it calls do."""
    outer, _telling.inside = getattr(_telling, "inside", False), True
    if not outer:
        _telling.told = False
    start = perf_counter()
    try:
        result = general(*args, **kwargs)
    finally:
        _telling.inside = outer
    made = result[0] if type(result) is tuple and result else result
    if isinstance(made, Array) and not (outer or _telling.told) and events.tap is not None:
        backend = made._kind.backend
        kind = "native" if backend.name == "numpy" or not backend.hosted else "hosted"
        events.tap.call(real, backend.name, kind, "", perf_counter() - start, made._v, 2 * views.frames)
    return result


def is_told() -> None:
    """Note that the running creation has been reported by the library's function."""
    _telling.told = True


_telling = threading.local()
