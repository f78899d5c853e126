"""Thin path of NumPy's functions and ufuncs, whether the user calls them or NumPy dispatches them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
from numpy import ndarray

from .._core import handles, machine
from .._core.handles import Handle, shortened
from ..backends.kinds import Kind
from ..common.arguments import PLAIN, SCALARS, SEQUENCES
from ..common.members import MEMBERS
from ..common.process_state import process
from ..common.sentinels import DECLINED, UNSET
from ..dispatch import host_values, wrapping
from ..engine.recording import call_nodes, tape, writes
from ..functions.registry import Written, spec_of
from ..functions.specs import Parallel
from ..ufuncs import lanes
from ..ufuncs.facts import INSTRUCTIONS
from .creation import wrapped_all
from .results import (
    DEEPEST,
    any_large,
    array_of,
    at,
    before_write,
    computed_onto,
    into,
    into_its_memory,
    is_computed,
    is_numpys,
    is_ours,
    is_plain,
    is_read,
    keywords_of,
    made_of,
    may_go_by_lanes,
    of_one,
    of_two,
    onto,
    path,
    plain_sequence,
    ufunc,
    value_of,
    values_of,
    waiting,
    written,
)  # fmt: skip

__all__ = ["array_function", "callers", "of_answer", "of_at", "of_function", "of_large", "of_ufunc", "with_twins"]

__warningregistry__ = None  # NumPy warns here, for a line of the user's: see arraydispatch.launcher.numpy_warnings


# -- functions ---------------------------------------------------------------------------------------------------------


def _not_at_once(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return DECLINED


def _caller(func: Any, spec: Any, large: bool = False) -> Any:
    """Make the thin call of a function. ``spec``: None for a method of a ufunc, which writes only ``out``.

    ``large``: make it for large arrays, when fused execution has not recorded the call.
    """
    run = getattr(func, "_implementation", func)  # without dispatch: all arguments are ndarrays
    written = (Written("out", 4 if func.__name__ == "reduceat" else 3, None),) if spec is None else spec.written
    places = [parameter.at for parameter in written]
    names = frozenset([parameter.name for parameter in written])
    before, lends = min(places, default=sys.maxsize), spec is not None and spec.mode == "function"
    place_of_out = next((parameter.at for parameter in written if parameter.name == "out"), None)
    computes_alone = spec is None or lends or spec.mode in ("arrays", "like")
    alone, tables = before > 0, () if spec is None else spec.tables
    of_any_size = 0 in tables
    views = spec is not None and spec.mode in ("view", "attribute", "meta") and spec.views.part is None
    answers = spec is not None and spec.mode == "meta"
    any_size = views or large
    recordable = not large and spec is not None and spec.recorded
    light = large and spec is not None and spec.parallel.light
    with_others = before > 2 and not answers
    run_one, run_two, run_three, by_axis, holds = _methods(func, run)
    by_lanes, first = lanes.name_of(func), 0 if spec is None else None  # NumPy's default axis
    adds = by_lanes in lanes.ADDED

    def with_one(x: Any) -> Any:
        value: ndarray | None = handles.held(x, path.array_class)
        if alone and value is not None and value.size < path.least:
            kind: Kind = handles.kind_of(x)
            if not kind.standard and not (waiting and lends and _are_read([x])):
                if adds and value.size >= lanes.MANY and value.dtype in lanes.SMALL:
                    reduced = lanes.reduced(by_lanes, value, first)
                    if reduced is not None:
                        return _finished(reduced, value, x, kind)
                return _finished((run_one if _may_stand(value, holds) else run)(value), value, x, kind)
        elif alone and path.least and not tables and (type(x) is tuple or type(x) is list):
            found: list[Any] = []
            inner = values_of(x, found, DEEPEST, any_size)
            if inner is not None and found and not any_size and not (waiting and lends and _are_read(found)):
                return _told_as_one(run(tuple(inner) if type(x) is tuple else inner), found)
        return call((x,), {})

    def with_two(x: Any, y: Any) -> Any:
        value: ndarray | None = handles.held(x, path.array_class) if before > 1 else None
        few = path.recorded if recordable else path.least
        if value is not None and few and (value.size < few or of_any_size or answers):
            kind: Kind = handles.kind_of(x)
            second: ndarray | None = handles.held(y, path.array_class)
            if kind.standard or (waiting and lends and _are_read([x] if second is None else [x, y])):
                pass
            elif second is None:
                if by_lanes and by_axis and may_go_by_lanes(value, adds):
                    reduced = lanes.reduced(by_lanes, value, y)
                    if reduced is not None:
                        return _finished(reduced, value, x, kind)
                if type(y) in PLAIN or (type(y) is tuple and is_plain(y, None)):
                    if answers:
                        return run(value, y)
                    return _finished((run_two if _may_stand(value, holds) else run)(value, y), value, x, kind)
            elif answers or second.size < path.least > value.size:
                theirs: Kind = handles.kind_of(y)
                if theirs is kind or (theirs.backend is kind.backend and not theirs.standard):
                    if answers:
                        return run(value, second)
                    made = (run_two if _may_stand(value, holds) else run)(value, second)
                    return _finished(made, second, x, kind, y)
        return call((x, y), {})

    def with_three(x: Any, y: Any, z: Any) -> Any:
        few = path.recorded if recordable else path.least
        if with_others and few:
            found: list[Any] = []
            first, second = value_of(x, found, few, False), value_of(y, found, few, False)
            third = value_of(z, found, few, False)
            given = first is not DECLINED and second is not DECLINED and third is not DECLINED
            if given and found and not (waiting and lends and _are_read(found)):
                stands = type(first) is ndarray and _may_stand(first, holds)
                result = (run_three if stands else run)(first, second, third)
                a: Handle = found[0]
                if type(result) is ndarray and len(found) == 1:
                    return _finished(result, a._v, a, a._kind)
                return _told_as_one(result, found)
        return call((x, y, z), {})

    def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not path.least or (recordable and call_nodes.least and _are_recorded(args)):
            return DECLINED
        if len(args) > before:
            if len(args) != before + 1 or before != place_of_out or "out" in kwargs:
                return DECLINED
            args, kwargs = args[:before], {**kwargs, "out": args[before]}
        found: list[Any] = []
        looked_into = spec.looks_into(args, kwargs) if tables else ()
        hosts = (
            _beside_tables(args, found, looked_into, large)
            if looked_into
            else values_of(args, found, DEEPEST, any_size)
        )
        if hosts is None:
            return DECLINED
        options = keywords_of(kwargs, found, names) if kwargs else kwargs
        if options is None:
            return DECLINED
        if not found:
            fresh = computes_alone or is_plain(args, kwargs) or _is_plain_sequence(args, kwargs)
            return wrapped_all(func, args, kwargs) if fresh else DECLINED
        if waiting and lends and _are_read(found):
            return DECLINED  # the general call protects their memory
        if options and (out := kwargs.get("out")) is not None:
            return computed_onto(run, hosts, options, out, found)
        if light and type(hosts[0]) is ndarray and hosts[0].size >= 2 * tape.IN_THREADS:
            return DECLINED  # threads share the work
        is_told = any_large(hosts)
        start = perf_counter() if is_told else 0.0
        result = None
        if by_lanes and type(hosts[0]) is ndarray and may_go_by_lanes(hosts[0], adds):
            result = lanes.called(by_lanes, hosts[0], tuple(hosts[1:]), options, first)
        if result is None:
            result = run(*hosts, **options) if options else run(*hosts)
        if answers:
            return result
        made = result if type(result) in PLAIN else made_of(result, found)
        if is_computed(made):
            if is_told:
                host_values.tell(func, found, result, hosts, perf_counter() - start)
            else:
                path.calls += 1
        return made

    if not large:
        shorter[call] = with_one, with_two, with_three, by_axis
    return call


_ALL, _NONEMPTY, _INTEGERS, _NONE = range(4)


def _methods(func: Any, run: Any) -> tuple[Any, Any, Any, bool, int]:
    """Return the functions to call with one, two and three arguments: ndarray's method of that name if it takes them, else ``run``.

    Also return whether the second argument is the axis, and for which arrays the method may be called (``_ALL`` to ``_NONE``).
    """
    code = getattr(run, "__code__", None)
    name = func.__name__
    row = MEMBERS.get(name) if func is getattr(np, name, None) else None
    if code is None:
        by_axis = isinstance(getattr(func, "__self__", None), np.ufunc) and func.__name__ in ("reduce", "accumulate")
    else:
        by_axis = code.co_argcount > 1 and code.co_varnames[1] == "axis"
    if row is None or not row.replaces or code is None:
        return run, run, run, by_axis, _NONE
    defaults = run.__defaults__ or ()
    required = code.co_argcount - len(defaults)
    # np.clip's bounds have to be given, although they have a default.
    required += next((i for i, x in enumerate(defaults) if x is not np._NoValue), len(defaults))
    # x.reshape(2, 3) is not np.reshape(x, 2, 3).
    method, most = getattr(np.ndarray, row.name), 3 if row.operand or required == 3 else 2
    taken = [method if required <= count <= min(code.co_argcount, most) else run for count in (1, 2, 3)]
    return *taken, by_axis, ("all", "nonempty", "integers").index(row.replaces)


_WHOLE, _BOOL = np.dtype(np.int64), np.dtype(bool)


def _may_stand(value: ndarray, holds: Any) -> bool:
    """Whether ndarray's method may be called in place of NumPy's function of the same name for ``value``. ``holds``: for which arrays that
    is so (:attr:`Member.replaces`).
    """
    if holds == _INTEGERS:
        return value.dtype is _WHOLE or value.dtype is _BOOL
    return holds == _ALL or (holds == _NONEMPTY and bool(value.size))


def _are_recorded(args: tuple[Any, ...]) -> bool:
    """Whether an argument is so large that fused execution may record the call."""
    for x in args:
        value: ndarray | None = handles.held(x, path.array_class)
        if value is not None and value.size >= path.recorded:
            return True
    return False


def _updater(func: Any) -> Any:
    """Make the thin call of a function that writes into its first argument. NumPy runs it at any size."""
    run = getattr(func, "_implementation", func)

    def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not path.least or not args or type(args[0]) is not path.array_class or not is_plain((), kwargs):
            return DECLINED
        found: list[Any] = []
        hosts = values_of(args, found, DEEPEST, True)
        if hosts is None:
            return DECLINED
        start = perf_counter()
        before_write(args[0], hosts[0])
        try:
            result = run(*hosts, **kwargs)
        finally:  # np.put writes the elements before the index that it refuses
            written(args[0])
        if any_large(hosts):
            path.calls -= 1
            host_values.tell(func, found, result, hosts, perf_counter() - start)
        return result

    return call


shorter: dict[Any, tuple[Any, Any, Any, bool]] = {}
"""Thin call of a function -> its versions for one, two and three positional arguments; and whether the second is the axis."""


def _finished(result: Any, value: ndarray, a: Handle, kind: Kind, b: Any = None) -> Any:
    """Wrap NumPy's result for the values of one array or two, and count the call if it computed. ``value``: the last array's value."""
    if type(result) is ndarray:
        new: ndarray = result
        given = new is value or new is a._v  # np.squeeze may return its argument, which may be such a view
        if not given and (new.base is None or machine.is_only_view(new, 0)):
            path.calls += 1
            return array_of(new, kind)
    elif type(result) in PLAIN:
        path.calls += 1
        return result
    made = made_of(result, [a] if b is None else [a, b])
    if is_computed(made):
        path.calls += 1
    return made


def _told_as_one(result: Any, found: list[Any]) -> Any:
    """Wrap NumPy's result for the values of the arrays ``found``, and count the call if it computed."""
    made = result if type(result) in PLAIN else made_of(result, found)
    if is_computed(made):
        path.calls += 1
    return made


_UFUNC_METHODS = frozenset({"reduce", "accumulate", "reduceat", "outer"})


_KNOWN = frozenset({"function", "like", "view", "attribute", "meta"})
"""Modes of functions that have a thin call. Those of mode "arrays" have one too if NumPy implements them."""


class _Callers(dict[Any, Callable[[tuple[Any, ...], dict[str, Any]], Any]]):
    """Thin calls of NumPy functions, made on first use. The call of a function whose body is unknown always declines.

    ``large``: for large arrays; then calls of functions whose work several threads share also decline.
    """

    def __init__(self, large: bool = False) -> None:
        self._large = large

    def __missing__(self, func: Any) -> Any:
        spec = None if isinstance(func, np.ufunc) else spec_of(func)
        if spec is not None:
            known = spec.mode in _KNOWN or (spec.mode == "arrays" and hasattr(func, "_implementation"))
        else:
            known = isinstance(getattr(func, "__self__", None), np.ufunc) and func.__name__ in _UFUNC_METHODS
        if self._large and spec is not None and not spec.parallel.light and spec.parallel != Parallel():
            known = False
        made = _updater(func) if spec is not None and spec.mode == "update" else _not_at_once
        self[func] = found = _caller(func, spec, self._large) if known else made
        return found


def _is_plain_sequence(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the only argument is a list or tuple of numbers, which NumPy converts to an array."""
    return len(args) == 1 and not kwargs and type(args[0]) in SEQUENCES and plain_sequence(args[0])


callers = _Callers()
"""NumPy function -> its thin call, for small host values and plain arguments.

It takes ``(args, kwargs)`` and returns the result, or :data:`DECLINED` if it made no call.
"""
of_large = _Callers(True)
"""The same for large arrays under fused execution, for calls that were not recorded."""


def _are_read(found: list[Any]) -> bool:
    """Whether a pending call may read one of the arrays ``found``."""
    for x in found:
        a: Handle = x
        value: ndarray = a._v
        if is_read(value.base) if value.base is not None else id(value) in waiting:
            return True
    return False


def _beside_tables(args: Any, found: list[Any], tables: Any, large: bool) -> list[Any] | None:
    """Return a list of the arguments with ndarrays in place of small arrays, which are appended to ``found``; None if one is not such a
    value (see :func:`values_of`). Arguments at the positions ``tables`` may be large arrays; all arguments if ``large``.
    """
    hosts: list[Any] = []
    for i, x in enumerate(args):
        inside = values_of((x,), found, DEEPEST, large or i in tables)
        if inside is None:
            return None
        hosts.append(inside[0])
    return hosts


def _of_numpys(func: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """Compute a ufunc of small ndarrays and numbers; return :data:`DECLINED` for other operands."""
    for x in inputs:  # usually the first is an array of ours, if any
        if not is_numpys(x) and type(x) not in SCALARS and not (type(x) in SEQUENCES and plain_sequence(x)):
            return DECLINED
    return wrapped_all(func, inputs, {})


_OPTIONS = frozenset({"casting", "dtype", "order", "out", "where"})


def _with_options(func: np.ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Compute a ufunc of small arrays with keywords; return :data:`DECLINED` if the general path must."""
    if not path.least or func.nout > 1 or not _OPTIONS.issuperset(kwargs):
        return DECLINED
    found: list[Any] = []
    hosts = values_of(args, found)
    options = None if hosts is None else keywords_of(kwargs, found, _OUT)
    if hosts is None or options is None or not found or found[0]._kind.standard:
        return DECLINED
    if (out := kwargs.get("out")) is not None:
        return computed_onto(func, hosts, options, out, found)
    path.calls += 1
    result = func(*hosts, **options)
    return result if type(result) in PLAIN else made_of(result, found)


_OUT = frozenset({"out"})


def _into_any(func: Any, x: Any, y: Any, out: Any, by_position: Any) -> bool:
    """Compute a ufunc of two operands, or of one, into an array of any size; return whether it was done."""
    if into(func, x, y, out, by_position):
        return True
    place: ndarray | None = handles.held(out, path.array_class) if call_nodes.least else None
    if place is None or place.size >= call_nodes.most:
        return False
    inputs = (x,) if y is DECLINED else (x, y)
    return writes.onto(func, inputs, out) or into_its_memory(func, x, y, out, by_position)


def of_function(func: Any, general: Callable[[tuple[Any, ...], dict[str, Any]], Any]) -> Callable[..., Any]:
    """Make the function that a user calls as ``func``; it calls ``general`` if the thin path declines."""
    at_once = callers[func]

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            made = at_once(args, kwargs)
        except RecursionError:
            if not wrapping.circular((*args, *kwargs.values())):
                raise
            made = DECLINED
        return general(args, kwargs) if made is DECLINED else made

    if at_once not in shorter:
        return call
    at_once_one, at_once_two, at_once_three, by_axis = shorter[at_once]

    def with_one(x: Any) -> Any:
        if type(x) is not path.array_class and type(x) is not tuple and type(x) is not list:
            return call(x)
        made = at_once_one(x)
        return general((x,), {}) if made is DECLINED else made

    def with_two(x: Any, y: Any) -> Any:
        if type(x) is not path.array_class:
            return call(x, y)
        made = at_once_two(x, y)
        return general((x, y), {}) if made is DECLINED else made

    def with_three(x: Any, y: Any, z: Any) -> Any:
        if type(x) is not path.array_class:
            return call(x, y, z)
        made = at_once_three(x, y, z)
        return general((x, y, z), {}) if made is DECLINED else made

    def with_axis(x: Any, axis: Any) -> Any:
        simple = type(x) is path.array_class and (type(axis) is int or type(axis) is tuple)
        made = at_once_two(x, axis) if simple else DECLINED
        return call(x, axis=axis) if made is DECLINED else made

    return shortened(call, with_one, with_two, with_three, axis=(with_axis,) if by_axis else ())


def with_twins(method: Any, twins: Any, seen: Any) -> Any:
    """Wrap a user's ``__array_ufunc__`` or ``__array_function__``, so that it gets the function that user files see, not NumPy's own.

    ``twins``: NumPy's function -> the one that user files see. ``seen`` converts the other arguments, including ndarrays. The wrapper is
    compiled, so that there is no frame between NumPy's caller and the method: warnings count frames.
    """

    def answer(self: Any, func: Any, *more: Any, **kwargs: Any) -> Any:
        if process.users is None:
            return method(self, func, *more, **kwargs)
        if kwargs:
            kwargs = seen(kwargs)
        return method(self, twins[func], *seen(more), **kwargs)

    return answer


def of_ufunc(func: np.ufunc, general: Callable[[tuple[Any, ...], dict[str, Any]], Any]) -> Callable[..., Any]:
    """Make the function that a user calls as the ufunc ``func``: it runs the thin path on small arrays, and ``general`` on
    other operands.
    """

    def alone(inputs: tuple[Any, ...]) -> Any:
        made = _of_numpys(func, inputs)
        return general(inputs, {}) if made is DECLINED else made

    if func.nin == func.nout == 1:

        def unary(x: Any = UNSET, /, *more: Any, **kwargs: Any) -> Any:
            if x is not UNSET and not more and not kwargs:
                return one(x)
            if len(kwargs) == 1 and x is not UNSET and not more and (out := kwargs.get("out")) is not None:
                made = onto(func, (x,), out)
                if made is not DECLINED:
                    return made
            if kwargs and x is not UNSET and not more:
                made = _with_options(func, (x,), kwargs)
                if made is not DECLINED:
                    return made
            return general(more if x is UNSET else (x, *more), kwargs)

        def one(x: Any) -> Any:
            if type(x) is path.array_class:
                made = of_one(func, x)
                if made is not DECLINED:
                    return made
                if call_nodes.least:
                    made = call_nodes.record(func, (x,))
                    if made is not None:
                        return made
                    made = of_one(func, x, True)
                    if made is not DECLINED:
                        return made
            elif type(x) in SCALARS:
                return func(x)
            elif type(x) is ndarray or type(x) in SEQUENCES:
                return alone((x,))
            return general((x,), {})

        def one_onto(x: Any, out: Any) -> Any:
            if type(out) is path.array_class and _into_any(func, x, DECLINED, out, False):
                return out
            return unary(x, out=out)

        return shortened(unary, one, out=(one_onto,))

    nin, two, recorded = func.nin, func.nin == 2, func.nin == 2 and func.nout == 1
    by_rows = func in INSTRUCTIONS

    def call(*args: Any, **kwargs: Any) -> Any:
        if len(args) != nin:  # too few operands, or `out` by position
            if len(args) == nin + 1 and not kwargs:
                made = onto(func, args[:nin], args[nin], True)  # np.maximum warns of it
                if made is not DECLINED:
                    return made
            return general(args, kwargs)
        if not kwargs:
            if two:
                return pair(args[0], args[1])
            made = ufunc(func, args)
            return alone(args) if made is DECLINED else made
        elif len(kwargs) == 1 and ((out := kwargs.get("out")) is not None):
            made = onto(func, args, out)
            if made is not DECLINED:
                return made
        made = _with_options(func, args, kwargs)
        return general(args, kwargs) if made is DECLINED else made

    if not two:
        return call

    def pair(x: Any, y: Any) -> Any:
        made = of_two(func, x, y, by_rows)
        if made is not DECLINED:
            return made
        if recorded and call_nodes.least and is_ours(x) and is_ours(y):
            made = call_nodes.record(func, (x, y))
            if made is not None:
                return made
            made = of_two(func, x, y, by_rows, True)
            if made is not DECLINED:
                return made
        return alone((x, y))

    def pair_onto(x: Any, y: Any, out: Any) -> Any:
        if type(out) is path.array_class and func.nout == 1 and _into_any(func, x, y, out, False):
            return out
        return call(x, y, out=out)

    def with_three(x: Any, y: Any, out: Any) -> Any:
        by_position = True  # np.maximum warns of it
        if type(out) is path.array_class and func.nout == 1 and _into_any(func, x, y, out, by_position):
            return out
        return call(x, y, out)

    return shortened(call, None, pair, with_three, out=(None, pair_onto))


def of_answer(func: Any) -> Callable[..., Any]:
    """Make the function that a user calls as ``func``, which computes only from shapes, dtypes and memory."""
    at_once_two = shorter[callers[func]][1]

    def call(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    def with_two(x: Any, y: Any) -> Any:
        made = at_once_two(x, y) if type(x) is path.array_class else DECLINED
        return func(x, y) if made is DECLINED else made

    return shortened(call, None, with_two)


def of_at(func: np.ufunc) -> Callable[..., Any]:
    """Make the function that a user calls as ``func.at``, which writes its first argument."""
    general = func.at

    def call(*args: Any, **kwargs: Any) -> Any:
        if not kwargs and len(args) > 1 and at(func, *args):
            return None
        return general(*args, **kwargs)

    def with_two(a: Any, indices: Any) -> Any:
        return None if at(func, a, indices) else general(a, indices)

    def with_three(a: Any, indices: Any, b: Any) -> Any:
        return None if at(func, a, indices, b) else general(a, indices, b)

    return shortened(call, None, with_two, with_three)


def array_function(general: Any) -> Any:
    """Make the thin form of ``__array_function__`` from the general one."""

    def __array_function__(self: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        for cls in types:
            if cls is not path.array_class and cls is not ndarray:
                return general(self, func, types, args, kwargs)
        made = callers[func](args, kwargs)
        return general(self, func, types, args, kwargs) if made is DECLINED else made

    return __array_function__
