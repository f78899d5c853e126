"""``__array_ufunc__`` and the operators.

The path of the operators is short on purpose: two dict look-ups, the plan's own kernel, a wrapper. Everything unusual (``out=``,
``where=``, other types, no plan yet, an error to translate) goes through :func:`array_ufunc`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from time import perf_counter
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends import loader
from ..backends.base import Backend
from ..common import arguments, events
from ..common.arguments import PLAIN
from ..common.errors import TraceError
from ..common.members import operator_of, reflected_name
from ..common.process_state import process
from ..common.sentinels import DECLINED
from ..common.signal_safety import imported
from ..functions.registry import Returns
from ..memory import views, writing
from ..memory.views import native
from ..runtime import conversion, dtypes, settings
from ..ufuncs.composed import STANDARD
from ..ufuncs.facts import ufunc_facts
from ..ufuncs.plans import PLANS
from . import (
    fp_errors,
    host_fallback,
    host_results,
    host_values,
    in_place,
    memory_order,
    outputs,
    parts,
    repeating_views,
    shortcuts,
    ufunc_calls,
    wrapping,
)
from .fp_errors import UNTOUCHED, divides_without_error, in_force
from .handover import handed

_HANDLED = ("out", "where", "order", "subok")
_METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")
_defaults = settings.default
__warningregistry__ = None  # NumPy warns here, for a line of the user's: see arraydispatch.launcher.numpy_warnings


# -- operators ---------------------------------------------------------------------------------------------------------


def binary_operator(
    ufunc: np.ufunc, slow: Callable[[np.ufunc, Any, Any], Any] | None = None
) -> Callable[[Any, Any], Any]:
    """Make ``__add__`` for a ufunc of two operands; ``slow`` handles calls without a plan."""
    return shortcuts.operator(ufunc, _binary if slow is None else slow)


def reflected_operator(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    """Make ``__radd__`` for a ufunc."""
    operator = binary_operator(ufunc)
    return lambda self, other: operator(other, self)


def _binary(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    other = b if isinstance(a, Handle) else a
    if wrapping.is_guest(other):
        return with_guest(ufunc, a, b)
    if not isinstance(other, Handle) and type(other) not in PLAIN and _defers(other):
        if wrapping.is_sparse_of_scipys(other):
            # Its sums and comparisons accept only ndarrays; its other operators call np.asarray.
            by_ndarrays = ufunc in (np.add, np.subtract) or ufunc_facts(ufunc).comparison
            return _with_sparse(ufunc, a, b, other) if by_ndarrays else NotImplemented
        if other is b or loader.backend_of(other) is not None:
            return NotImplemented  # a reflected operator that the other side lacks is NumPy's to compute
    return asking(ufunc, (a, b), other)


def asking(ufunc: np.ufunc, operands: tuple[Any, Any], other: Any) -> Any:
    """Call a ufunc on an array and ``other``, its other operand. If that has ``__array_ufunc__``, NumPy runs the call, and asks both."""
    return ufunc(*operands) if _speaks(other) else array_ufunc(ufunc, "__call__", operands, {})


def with_guest(ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """Run an operator of an array and a guest. A guest on the left, or one whose reflected operator declines (matrix), gets an ndarray.

    Return NotImplemented for a guest on the right without a reflected operator of its own: Python calls the inherited one.
    """
    if isinstance(b, Handle):
        return operator_of(ufunc)(a, conversion.download(b._kind.backend, views.expose(b), wrapping.GUEST))
    reflected = reflected_name(ufunc)
    ask = getattr(type(b), reflected)
    if ask is getattr(np.ndarray, reflected):
        return NotImplemented  # Python asks the guest
    made = ask(b, a)
    if made is NotImplemented:
        made = operator_of(ufunc)(conversion.download(a._kind.backend, views.expose(a), wrapping.GUEST), b)
    return made


def _with_sparse(ufunc: np.ufunc, a: Any, b: Any, other: Any) -> Any:
    imported("arraydispatch.dispatch.scipy_calls")
    from . import scipy_calls

    backend = (b if other is a else a)._kind.backend
    return scipy_calls.call(
        operator_of(ufunc), ufunc, (a, b), {}, backend, f"it meets a {type(other).__name__} of SciPy's"
    )


def _defers(other: Any) -> bool:
    """Whether a binary operator defers to ``other``, its other operand, by NumPy's rule (scipy.sparse, pandas …)."""
    protocol = getattr(type(other), "__array_ufunc__", _defers)
    if protocol is None:
        return True
    if protocol is not _defers or (not _defaults.natives_first and loader.backend_of(other) is not None):
        return False
    # NumPy reads the priority of the object alone. The class must have one too: an object that delegates attributes to an ndarray
    # has its priority 0, but one that delegates to an Array has 100.
    return hasattr(type(other), "__array_priority__") and other.__array_priority__ > 0


def _speaks(other: Any) -> bool:
    if isinstance(other, Handle | np.ndarray | np.generic) or type(other) in PLAIN:
        return False
    return getattr(type(other), "__array_ufunc__", None) is not None


def inplace_operator(ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
    """Make ``__iadd__`` for a ufunc: the method writes into the array's own memory, so that every view sees the change."""
    plans = PLANS.setdefault(ufunc, {})
    update = shortcuts.updater(ufunc)

    def operator(self: Any, other: Any) -> Any:
        kind = self._kind
        backend = kind.backend
        if backend.defers and update(self, other):
            return self
        if ufunc in backend.INPLACE and self._root is None:
            key: Any = other._kind if isinstance(other, Handle) else type(other)
            plan = plans.get((kind, key, None))
            if (
                plan is not None
                and (kernel := plan.kernel) is not None
                and plan.run is kernel
                and plan.out is kind
                and self._writeable()
                and not writing.repeats(self)
                and (not plan.reported or divides_without_error(ufunc, other, kind.dtype))
                and in_force() is UNTOUCHED
            ):
                x, y = self._v, native(other) if isinstance(other, Handle) else other
                fits = (
                    key is float
                    or key is int
                    or (backend.shape_of(y) == backend.shape_of(x) and (y is x or not backend.may_share(x, y)))
                )
                if fits:
                    if events.tap is None:
                        with views.exchange:
                            kernel(x, y, out=x)
                    else:
                        start = perf_counter()
                        with views.exchange:
                            kernel(x, y, out=x)
                        events.tap.call(ufunc, backend.name, plan.kind, "", perf_counter() - start, x)
                    return self
        if not isinstance(other, Handle) and type(other) not in PLAIN and _defers(other):
            return refused_in_place(ufunc, self, other)
        if _speaks(other):
            return ufunc(self, other, out=(self,))
        return array_ufunc(ufunc, "__call__", (self, other), {"out": (self,)})

    return operator


def refused_in_place(ufunc: np.ufunc, a: Any, other: Any) -> Any:
    """Return the result of ``a += other`` if ``a`` defers to ``other``: NotImplemented, or NumPy's error if ``other`` refuses ufuncs."""
    return ufunc(a, other, out=(a,)) if getattr(type(other), "__array_ufunc__", a) is None else NotImplemented


# -- the protocol ------------------------------------------------------------------------------------------------------


def _known(x: Any) -> bool:
    cls = type(x)
    if cls in PLAIN or isinstance(x, Handle):
        return True
    if isinstance(x, np.ndarray):
        return cls.__array_ufunc__ is np.ndarray.__array_ufunc__
    return isinstance(x, np.generic | int | float | complex | list | tuple) or not hasattr(cls, "__array_ufunc__")


def array_ufunc(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Implement ``Array.__array_ufunc__`` (NEP 13)."""
    if "out" in kwargs or method == "at":  # no other thread may read between reading and writing
        with views.exchange:
            try:
                return _slow(ufunc, method, inputs, kwargs)
            except (RecursionError, TraceError) as error:
                if not loader.mended(error):
                    raise
            return _slow(ufunc, method, inputs, kwargs)
    return wrapping.beside_writers(_slow, ufunc, method, inputs, kwargs)


class _Fast(dict[np.ufunc, Callable[[Any, Any], Any]]):
    """Ufunc of two operands -> its short path, made on first use."""

    def __missing__(self, ufunc: np.ufunc) -> Callable[[Any, Any], Any]:
        made = self[ufunc] = binary_operator(ufunc, lambda u, x, y: _slow(u, "__call__", (x, y), {}))
        return made


class _FastOfOne(dict[np.ufunc, Callable[[Any], Any]]):
    """Ufunc of one operand -> its short path, made on first use."""

    def __missing__(self, ufunc: np.ufunc) -> Callable[[Any], Any]:
        made = self[ufunc] = shortcuts.unary(ufunc, lambda u, args, kwargs: array_ufunc(u, "__call__", args, kwargs))
        return made


FAST = _Fast()
FAST_OF_ONE = _FastOfOne()


def _slow(ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if not isinstance(ufunc, np.ufunc):
        return host_fallback.compiled_ufunc(ufunc, method, inputs, kwargs)  # type: ignore[unreachable]
    if "array" in kwargs:  # for a method: NumPy has it among the inputs too
        kwargs = {key: x for key, x in kwargs.items() if key != "array"}
    outs = outputs.given(ufunc, kwargs.get("out"), method)
    where = kwargs.get("where", True)
    for out in outs:
        if isinstance(out, Handle) and parts.is_given_back(out):
            parts.settle(out, "arrays of its shape are the host's")
    shortcuts.bring((*inputs, *outs, where))
    for x in (*inputs, *outs, where):
        if not _known(x):
            return host_fallback.with_strangers(ufunc, method, inputs, kwargs)
    backend = wrapping.find_backend((*inputs, *outs, where))
    if backend is None:
        return NotImplemented
    inputs = wrapping.asked(inputs)
    if method == "at" and process.admit is not None and isinstance(inputs[0], Handle):
        process.admit(inputs[0], inputs[1:])
    if backend.hosted or (method == "at" and isinstance(inputs[0], Handle) and inputs[0]._kind.backend.hosted):
        spread = method in ("__call__", "outer") and host_values.spreads(inputs, method == "outer")
        alone = len(kwargs) == len(outs) == 1 and method == "__call__" and host_values.large(outs)
        if alone and backend.writes_at_home and in_place.computed(ufunc, inputs, outs[0], backend.home):
            return outs[0]
        host = outs or method == "at" or not (spread or host_values.large((*inputs, where)))
        home = backend if host else backend.home
        if host or home.hosted:
            if not kwargs and method == "__call__":
                made = host_values.computed(ufunc, inputs)
                if made is not DECLINED:
                    return made
            return host_values.call(ufunc if method == "__call__" else getattr(ufunc, method), inputs, kwargs)
        if backend.writes_at_home and not kwargs and method == "__call__":
            made = in_place.made(ufunc, inputs, home)
            if made is not DECLINED:
                return made
        backend = home
    backend = settings.computing(backend)
    if kwargs and not arguments.ASKED.isdisjoint(kwargs):
        arguments.check_call(method, kwargs)
    if len(inputs) == 2 and ufunc.nout == 1 and not kwargs and method == "__call__":
        lifted = host_values.lifted(inputs, backend)
        if lifted is not inputs:
            return FAST[ufunc](*lifted)
    if method == "reduce" and isinstance(inputs[0], Handle) and inputs[0]._root is not None:
        made = repeating_views.computed(ufunc.reduce, inputs, kwargs, backend)
        if made is not DECLINED:
            return made
    try:
        unusual = method != "__call__" or (kwargs and not (ufunc in STANDARD and wrapping.is_standard(inputs)))
        if unusual and backend.native_is_ndarray and settings.current_precision() is None:
            return _by_numpy(ufunc, method, inputs, kwargs, outs, backend)
        # With a mask the old elements of ``out`` are read and written back: no other thread may write them in between.
        with views.exchange if outs and where is not True else nullcontext():
            if backend.scope is None:
                made = _general(ufunc, method, inputs, kwargs, outs, where, backend)
            else:
                with backend.within():
                    made = _general(ufunc, method, inputs, kwargs, outs, where, backend)
        if backend.deferred:
            wrapping.obtained(made, backend)
        return made
    except backend.REFUSALS as refused:
        reason = host_results.refusal(refused)
    except Exception as error:
        loader.check_memory(error)
        raise
    bound = ufunc if method == "__call__" else getattr(ufunc, method)
    # Outside `except`, so that NumPy's errors have no context of ours.
    return host_fallback.call(bound, inputs, kwargs, backend, reason)


def _by_numpy(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any], outs: tuple[Any, ...],
    backend: Backend,
) -> Any:  # fmt: skip
    """Run a call on arrays of the numpy backend with NumPy itself; return wrapped results, or the objects passed as ``out=``."""
    for x in (*outs, *inputs[: method == "at"]):
        if isinstance(x, Handle):
            wrapping.check_writeable(x, "output array is read-only")
    start = perf_counter()
    run = ufunc if method == "__call__" else getattr(ufunc, method)
    if "where" in kwargs and not outs:
        # NumPy removes a user's out=None, and would now warn of where= without out=.
        kwargs = {"out": None if ufunc.nout == 1 else (None,) * ufunc.nout, **kwargs}
    result = run(*[handed(x, native) for x in inputs], **{key: handed(x, native) for key, x in kwargs.items()})
    if events.tap is not None:
        events.tap.call(ufunc, backend.name, "native", "", perf_counter() - start, result, 1, inputs)
    results = result if isinstance(result, tuple) else (result,)
    given = outs or (None,) * len(results)
    standard = wrapping.is_standard(inputs)
    made = [_dressed(r, backend, standard) if out is None else out for r, out in zip(results, given)]
    return tuple(made) if isinstance(result, tuple) else made[0]


def _dressed(result: Any, backend: Backend, standard: bool) -> Any:
    if standard and isinstance(result, np.generic):
        result = np.asarray(result)
    if type(result) is not np.ndarray or dtypes.category(result.dtype) == "other":
        return result
    return process.wrapper(result, backend.standard_kind(result.dtype) if standard else backend.kind(result.dtype))


def _general(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any], outs: tuple[Any, ...], where: Any,
    backend: Backend,
) -> Any:  # fmt: skip
    options = {k: v for k, v in kwargs.items() if k not in _HANDLED and (v is not None or k == "axis")}
    tap = events.tap
    start = perf_counter() if tap is not None else 0.0
    outer = method == "outer"
    casting = options.get("casting", "same_kind") if method == "__call__" or outer else "unsafe"
    precision = settings.current_precision() if not any(o is not None for o in outs) else None
    for out in outs:
        if isinstance(out, Handle):
            wrapping.check_writeable(out, "output array is read-only")
    operands = inputs
    if outer:
        method, operands = "__call__", ufunc_calls.spread(ufunc, inputs, backend)
    if method in _METHODS:
        result, kind = ufunc_calls.of_method(ufunc, method, inputs, options, where, outs, backend, precision)
    elif ufunc.signature is not None:
        result, kind = ufunc_calls.generalized(ufunc, inputs, options, backend, precision)
        if in_force() is not UNTOUCHED:
            fp_errors.look_at_function(ufunc, inputs, kwargs, result, backend)
        if outs and outs[0] is not None and outs[0].shape != backend.shape_of(result):
            outputs.check_core(ufunc, inputs, outs[0], backend.shape_of(result), options)
            result = outputs.masked(result, True, outs, backend)  # the loop's dimensions of out= may be larger
    else:
        result, kind = ufunc_calls.elementwise(ufunc, operands, options, where, outs, backend, precision)
    if tap is not None:
        tap.call(ufunc, backend.name, kind, "", perf_counter() - start, result, 1, inputs)
    if method == "at":
        return None
    if any(out is not None for out in outs):
        return outputs.into(ufunc, outs, result, backend, casting, precision)
    returns: Returns = "array" if kwargs.get("out") is Ellipsis else "scalar"
    made = wrapping.wrap_result(result, backend, returns, precision, wrapping.is_standard(inputs))
    if method != "__call__" or outer:
        return (
            made
            if backend.native_is_ndarray
            else memory_order.of_method("outer" if outer else method, inputs, kwargs, made)
        )
    if kwargs.get("order", "K") != "K":
        return memory_order.ordered(made, (made,) if ufunc.signature else (*inputs, where), kwargs["order"])
    return made if ufunc.signature else memory_order.of_ufunc(made, (*inputs, where))
