"""Short paths of calls that need none of NumPy's special rules; all other calls take the general path.

Each short path is a function that one of the functions below makes. It calls the general path, with which it was made, for other calls.
"""

from __future__ import annotations

from cmath import isfinite
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

from .._core import machine
from .._core.handles import Handle
from .._core.machine import address_of
from ..backends import loader
from ..backends.base import LeftToNumPy
from ..backends.kinds import Kind
from ..common.arguments import PLAIN, SCALARS
from ..common.process_state import process
from ..common.signal_safety import of_handler
from ..memory import reshaping, views, writing
from ..memory.views import native
from ..runtime import dtypes, settings
from ..runtime.execution_policy import are_few
from ..runtime.settings import NO_POLICY, context_rules
from ..ufuncs.plans import PLANS, Plan, WholePlan
from . import fp_errors, host_fallback, host_results, memory_order, wrapping
from .fp_errors import STATE, UNTOUCHED
from .in_place import FRESH

ndarray = np.ndarray

__warningregistry__ = None  # NumPy warns here, for a line of the user's: see arraydispatch.launcher.numpy_warnings

General = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]
_make: Any = None
_min_size = 0
_brings = False
"""Whether :func:`bring` may move arrays that blocks have made to the host: execution is compiled, with a ``min_size``."""
_reads_host = False
"""Whether a library may compute on large arrays in the host state, call by call."""
_rules: Any = None
_tap: Any = None


@process.follows("execution", "min_size", "rules", "tap", "traces", "wrapper")
def _follow() -> None:
    global _brings, _make, _min_size, _reads_host, _rules, _tap
    _make, _min_size, _rules, _tap = process.wrapper, process.min_size, process.rules, process.tap
    _brings = process.execution == "compiled" and process.min_size > 0 and not process.traces
    _reads_host = process.execution is None and process.min_size > 0 and not process.traces


_follow()


def backend_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Return the backend if all arguments are plain values or arrays of a single backend; else None."""
    found: Any = None
    for values in (args, kwargs.values()) if kwargs else (args,):
        for x in values:
            if type(x) in PLAIN:
                continue
            if not isinstance(x, Handle):
                return None
            a: Handle = x
            kind: Any = a._kind
            if found is None:
                found = kind.backend
            elif kind.backend is not found:
                return None
    return found


def bring(values: Any) -> bool:
    """Move the arrays among ``values``, the arguments of a call, to the host if NumPy then computes the call in less time than a block of
    its own takes to start. Return whether an array was moved.

    That is so under compiled execution if all arrays are small and computed: the call would be alone in its block.
    """
    if not _brings:
        return False
    found: list[Any] = []
    if not _rest(values, found, 0) or not found:
        return False
    for x in found:
        if not x._kind.backend.hosted:
            reshaping.settle(x, "NumPy computes with a small array")
    return True


_DEEPEST = 8
"""Maximum depth of sequences that are searched for arrays."""


def _rest(values: Any, found: list[Any], depth: Any) -> bool:
    """Append the arrays among the values that must move to the host to ``found``. Return whether NumPy may compute with all arrays."""
    for x in values:
        if type(x) in PLAIN:
            continue
        if isinstance(x, Handle):
            a: Handle = x
            kind: Any = a._kind
            backend = kind.backend
            if backend.hosted:
                continue
            if not backend.defers or kind.standard:
                return False
            root: Handle = a if a._base is None else a._base
            if not backend.rests(root._v) or (root is not a and views.ghost(a).size >= _min_size):
                return False
            if not loader.hosted(backend.name).holds(kind.dtype):
                return False
            found.append(a)
        elif (type(x) is list or type(x) is tuple) and (depth >= _DEEPEST or not _rest(x, found, depth + 1)):
            return False
    return True


def _in_host_state(a: Handle) -> Any:
    """Return the ndarray inside an array in the host state; None for other arrays."""
    value = a._v if a._root is None else native(a)
    kind: Any = a._kind
    return value if kind.backend.hosted and not kind.standard and type(value) is ndarray else None


def _at_home(operands: Any) -> list[Any] | None:
    """For operands in the host state, return keys and values that let the home library compute in their memory.

    The list has a key for each operand (its kind at home, or the type of a number), then a value for each (native array or number).
    Return None if the general path is needed: the arrays are not all of one library that computes in host memory, none is large, one is
    very large (:func:`arraydispatch.dispatch.in_place.made`), or the library would copy an array.
    """
    held: Any = None
    kinds: list[Any] = []
    values: list[Any] = []
    large = False
    for x in operands:
        if not isinstance(x, Handle):
            kinds.append(type(x))
            values.append(x)
            continue
        a: Handle = x
        kind: Any = a._kind
        value = _in_host_state(a)
        if held is None:
            held = kind.backend
        if value is None or kind.backend is not held or value.size * 16 >= FRESH:
            return None
        large = large or (value.size >= _min_size and not are_few(value, _min_size))
        kinds.append(kind)
        values.append(value)
    # Only a large array may cause the library's import.
    if not large or not held.writes_at_home or not settings.on_cpu(held.name):
        return None
    home = held.home
    for i, kind in enumerate(kinds):
        if kind.__class__ is Kind:
            native_of = home.on_memory(values[i])
            if native_of is None:
                return None
            kinds[i], values[i] = home.kind(kind.dtype), native_of
    return kinds + values


def on_memory(args: tuple[Any, ...], backend: Any) -> tuple[Any, ...]:
    """Return the arguments with arrays of the library in place of arrays in the host state whose memory the library can read in place."""
    made: list[Any] = []
    for x in args:
        if isinstance(x, Handle):
            value = _in_host_state(x)
            native_of = None if value is None else backend.on_memory(value)
            if native_of is not None:
                made.append(_make(native_of, backend.kind(x._kind.dtype)))
                continue
        made.append(x)
    return tuple(made)


def operator(
    ufunc: np.ufunc, slow: Callable[[np.ufunc, Any, Any], Any], ordered: bool = True
) -> Callable[[Any, Any], Any]:
    """Make the short path of a ufunc of two operands; ``slow`` handles calls without a plan.

    ``ordered``: whether the result gets NumPy's memory order, which the result does not need if it is written to another array.
    """
    plans = PLANS.setdefault(ufunc, {})
    find = plans.get

    def call(a: Any, b: Any) -> Any:
        if _brings:
            bring((a, b))
        rules = machine.value_of(context_rules) or _rules
        if type(a) is type(b):  # one operand is an array, so both are
            first: Handle = a
            second: Handle = b
            left: Any = first._kind
            right: Any = second._kind
            x = first._v if first._root is None else native(first)
            y = second._v if second._root is None else native(second)
        else:
            left, x = (a._kind, native(a)) if isinstance(a, Handle) else (type(a), a)
            right, y = (b._kind, native(b)) if isinstance(b, Handle) else (type(b), b)
        plan: Plan | None = find((left, right, rules.precision))
        if plan is None and _reads_host and rules is NO_POLICY:
            shared = _at_home((a, b))
            if shared is not None:
                left, right, x, y = shared
                plan = find((left, right, None))
        if plan is None:
            return slow(ufunc, a, b)
        try:
            tap = _tap
            if tap is None:
                result = plan.run(x, y)
            else:
                start = perf_counter()
                result = plan.run(x, y)
                tap.call(ufunc, plan.out.backend.name, plan.kind, "", perf_counter() - start, result, views.frames)
                if plan.cast is not None:
                    tap.cast(*plan.cast)
        except LeftToNumPy as unsupported:
            reason, refused = unsupported.args[0], None
        except Exception as error:
            backend = left.backend if left.__class__ is Kind else right.backend
            if wrapping.overtaken(error):
                with views.exchange:
                    return call(a, b)
            reason, refused = "", wrapping.operand_error((x, y), backend)
            if refused is None:
                if not isinstance(error, backend.REFUSALS):
                    raise
                reason = host_results.refusal(error)
        else:
            if plan.reported or machine.value_of(STATE) is not UNTOUCHED:
                fp_errors.look(ufunc, plan, (x, y), result, scalar=not result.ndim)
            if result.ndim:
                if _min_size and not plan.out.standard:
                    made = wrapping.made_of(result, plan.out.backend)
                else:
                    made = _make(result, plan.out, True)
                if not ordered:
                    return made
                if plan.laid_out:
                    if (a._ghost is None if left.__class__ is Kind else left in PLAIN) and (
                        b._ghost is None if right.__class__ is Kind else right in PLAIN
                    ):
                        return made
                elif result.ndim < 2 or plan.keeps_order is None or plan.keeps_order(x, y):
                    return made
                return memory_order.of_ufunc(made, (a, b))
            made = wrapping.scalar(result, plan.out)
            if (
                issubclass(type(made), np.inexact)
                and not isfinite(made)
                and not plan.reported
                and machine.value_of(STATE) is UNTOUCHED
            ):
                fp_errors.look(ufunc, plan, (x, y), result, scalar=True)
            return made
        if refused is not None:  # outside `except`, so that NumPy's error has no context of ours
            raise refused
        backend = left.backend if left.__class__ is Kind else right.backend
        return host_fallback.call(ufunc, (a, b), {}, backend, reason)

    return call


def updater(ufunc: np.ufunc) -> Callable[[Any, Any], bool]:
    """Make the short path of ``a += b`` for an array whose calls are recorded; it returns whether it has written the result.

    It returns False if the result does not have the dtype and the shape of ``a``: the general path then raises the error.
    """
    plans = PLANS.setdefault(ufunc, {})
    forward = operator(ufunc, lambda *_: None, False)

    def update(a: Handle, b: Any) -> bool:
        if _brings and bring((a, b)):
            return False
        kind = a._kind
        if views.watch is not None or (machine.value_of(context_rules) or _rules).precision is not None:
            return False
        key: Any = type(b)
        if isinstance(b, Handle):
            other: Handle = b
            key = other._kind
        elif key not in SCALARS:
            return False
        plan: Plan | None = plans.get((kind, key, None))
        if plan is None or plan.out is not kind or plan.cast is not None:
            return False
        if not views.writeable(a) or (a._base is not None and writing.repeats(a)):
            return False
        with views.exchange:
            try:
                made = forward(a, b)
            except Exception as error:  # the general path raises it as NumPy's
                if of_handler(error):
                    raise
                return False
            if not isinstance(made, Handle):
                return False
            new: Handle = made
            shape_of = kind.backend.shape_of
            if new._kind is not kind or a._kind is not kind or shape_of(new._v) != shape_of(native(a)):
                return False
            writing.assign(a, new._v)
        return True

    return update


def unary(ufunc: np.ufunc, general: General) -> Callable[[Any], Any]:
    """Make the short path of a ufunc of one operand."""
    plans = PLANS.setdefault(ufunc, {})
    find = plans.get
    single = ufunc.nout == 1

    def call(a: Any) -> Any:
        if not isinstance(a, Handle):
            return general(ufunc, (a,), {})
        if _brings:
            bring((a,))
        left, x = views.held(a)
        rules = machine.value_of(context_rules) or _rules
        plan: Plan | None = find((left, rules.precision))
        if plan is None and single and _reads_host and rules is NO_POLICY:
            shared = _at_home((a,))
            if shared is not None:
                left, x = shared
                plan = find((left, None))
        if plan is None or plan.kind == "host":
            return general(ufunc, (a,), {})
        tap = _tap
        start = 0.0 if tap is None else perf_counter()
        try:
            result = plan.run(x)
        except Exception as error:  # the general path calls it again, and raises it as NumPy's
            if of_handler(error):
                raise
            result = None
        if result is None:
            return general(ufunc, (a,), {})
        if tap is not None:
            tap.call(ufunc, left.backend.name, plan.kind, "", perf_counter() - start, result, views.frames)
            if plan.cast is not None:
                tap.cast(*plan.cast)
        scalar = single and not result.ndim
        if plan.reported or scalar or machine.value_of(STATE) is not UNTOUCHED:
            fp_errors.look(ufunc, plan, (x,), result, scalar=scalar)
        if not single:
            made: Any = tuple(
                [_make(r, k, True) if r.ndim else wrapping.scalar(r, k) for r, k in zip(result, plan.kinds)]
            )
        elif scalar:
            return wrapping.scalar(result, plan.out)
        elif _min_size and not plan.out.standard:
            made = wrapping.made_of(result, plan.out.backend)
        else:
            made = _make(result, plan.out, True)
        if plan.laid_out:
            if left.__class__ is Kind and a._ghost is None:
                return made
        elif plan.keeps_order is None or (single and result.ndim < 2) or plan.keeps_order(x):
            return made
        return memory_order.of_ufunc(made, (a,))

    return call


def reducer(func: Any, plan: WholePlan, general: General) -> Callable[[Handle], Any]:
    """Make the short path of ``np.sum(a)`` and other full reductions, for arrays of the kind with this plan."""
    run, out, finite = plan
    backend, scalar = out.backend, out.scalar
    entry = backend.entries[func].kind

    def reduce_all(a: Handle) -> Any:
        rules = machine.value_of(context_rules) or _rules
        if (
            rules.precision is not None
            or machine.value_of(STATE) is not UNTOUCHED
            or (a._root is not None and views.outgrows(a))
        ):
            return general(func, (a,), {})
        tap = _tap
        start = 0.0 if tap is None else perf_counter()
        try:
            value = run(a._v if a._root is None else native(a))
        except Exception as error:
            if not (backend.gone(error) or wrapping.overtaken(error)):
                raise
            value = None
        if value is None:
            return general(func, (a,), {})
        if tap is not None:
            tap.call(func, backend.name, entry, "", perf_counter() - start, value, 2 * views.frames, (a,))
        made = scalar(value) if rules is NO_POLICY else None
        if made is None:
            return wrapping.device_scalar(value, out)
        if finite is not None and not finite(made):
            fp_errors.look_at_function(func, (a,), {}, value, backend)
        return made

    return reduce_all


def joiner(general: General) -> Callable[[Any], Any]:
    """Make the short path of ``np.concatenate`` for a list or tuple of arrays of one kind with matching shapes."""

    def join(arrays: Any) -> Any:
        if (type(arrays) is not tuple and type(arrays) is not list) or not arrays:
            return general(np.concatenate, (arrays,), {})
        cls = type(arrays[0])
        if not issubclass(cls, Handle) or (machine.value_of(context_rules) or _rules) is not NO_POLICY:
            return general(np.concatenate, (arrays,), {})
        kind = arrays[0]._kind
        run = kind.join
        tap = _tap
        start = 0.0 if tap is None else perf_counter()
        values: list[Any] = []
        ndim, rest = 0, ()
        for a in arrays:
            if type(a) is not cls:
                break
            x: Handle = a
            if x._kind is not kind:
                break
            value = x._v if x._root is None else native(x)
            if ndim == 0:
                ndim = value.ndim
                if ndim == 0 or run is None:
                    break
                rest = value.shape[1:] if ndim > 1 else ()
            elif value.ndim != ndim or (ndim > 1 and value.shape[1:] != rest):
                break
            values.append(value)
        else:
            try:
                made = run(values)
            except Exception as error:  # as in `beside_writers`, without its frame
                if not wrapping.overtaken(error):
                    raise
                with views.exchange:
                    made = run(values)
            if tap is not None:
                tap.call(
                    np.concatenate, kind.backend.name, "native", "", perf_counter() - start, made, 2 * views.frames
                )
            joined = _make(made, kind)
            if not kind.backend.mutable:
                views.keep_apart(arrays, made)
            elif ndim == 1 or kind.backend.native_is_ndarray or memory_order.all_in_c_order(arrays):
                return joined
            return memory_order.of_function(np.concatenate, (arrays,), {}, joined)
        return general(np.concatenate, (arrays,), {})

    return join


# -- slices ------------------------------------------------------------------------------------------------------------


def _is_of_slices(key: Any) -> bool:
    """Whether a key consists only of slices, integers, None and Ellipsis."""
    for k in key if type(key) is tuple else (key,):
        if type(k) is not slice and type(k) is not int and k is not None and k is not Ellipsis:
            return False
    return True


def part(a: Handle, key: Any) -> Any:
    """Return the view ``a[key]`` of an array of a library without views, for a key of slices; None if other rules apply."""
    kind = a._kind  # keep a reference: asking a pending array's kind for the backend computes it and replaces the kind
    backend = kind.backend
    if backend.native_views or backend.native_is_ndarray or not _is_of_slices(key):
        return None
    made = views.ghost(a)[key]
    return views.derive(a, made) if isinstance(made, np.ndarray) else None


def put(a: Handle, key: Any, value: Any) -> bool:
    """Write a value of the array's dtype to slices of a whole array whose calls are recorded; return False if other rules apply."""
    kind = a._kind
    backend = kind.backend
    if a._base is not None or not backend.defers or views.watch is not None or not _is_of_slices(key):
        return False
    if not views.writeable(a):  # the general path raises
        return False
    place = views.ghost(a)[key]
    if not isinstance(place, np.ndarray) or not place.size or place.size == a._ghost.size:
        return False
    if isinstance(value, Handle):
        given: Handle = value
        if given._kind is not kind:
            return False
        if given._base is a:  # `a[key] += b` ends in `a[key] = a[key]`
            seen = views.ghost(given)
            return seen.shape == place.shape and seen.strides == place.strides and address_of(seen) == address_of(place)
        x = given._v if given._root is None else native(given)
        if backend.shape_of(x) != place.shape:
            return False
    elif type(value) is float and kind.dtype == dtypes.FLOAT64:
        x = backend.prim.full(place.shape, value, kind.dtype, backend.device_of(a._v))
    else:
        return False
    if a._kind is not kind:  # another thread has moved it to the host meanwhile
        return False
    writing.put(a, place, x)
    return True
