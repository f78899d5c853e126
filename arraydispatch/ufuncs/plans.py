# cython: annotation_typing=False
"""Plans of ufunc calls: everything that does not depend on values is decided once and cached.

NumPy resolves the loop (``ufunc.resolve_dtypes`` with weak Python scalars), the precision policy narrows or widens
floats, operands are cast, the backend's kernel runs, and the result is cast to NumPy's dtype if the kernel computed in
a wider one. In the most common case, two arrays of the loop's own dtype, ``plan.run`` *is* the library's function.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from ..backends import loader
from ..backends.base import Backend, Unsupported
from ..backends.kinds import Kind
from ..common.errors import broadcast_error
from ..common.process_state import process
from ..common.user_warnings import warn_of_cast
from ..runtime import dtypes
from ..runtime.settings import Precision
from . import special
from .composed import BY_KIND, COMPOSED, STANDARD, compare_signs
from .facts import ufunc_facts

Key = Kind | type
"""Key of an operand: the Kind of an array, the Python or NumPy type of a scalar."""

_UINT64 = np.dtype(np.uint64)  # libraries do not accept its upper half as Python scalars
_COMPLEX = np.dtype(np.complex128)

Run = Callable[..., Any]

__warningregistry__ = None  # NumPy warns here, on behalf of a user's line: see arraydispatch.launcher.numpy_warnings


class Plan:
    """Plan of a ufunc call.

    Attributes
    ----------
    run : callable
        Takes one native array or scalar for each input, returns a native array (a tuple of them for several outputs).
        Raises :class:`Unsupported` with ``reason`` if the backend cannot.
    kinds : tuple of Kind
        Kind of each output.
    out : Kind
        Kind of the first output (None if the plan is a host plan).
    kind : {"native", "composed", "host"}
        Class of the call.
    kernel : callable or None
        The backend's own kernel, if it runs; ``run`` is this object if no operand or result needs a cast.
    loops : tuple of dtype
        NumPy's loop: the dtypes of its inputs and outputs.
    reported : bool
        Whether the result is checked for floating-point errors if these are warnings.
    one_float : bool
        Whether the only result is float32, float64, complex64 or complex128, so that a quick check of it can rule out errors.
    infinities : bool
        Whether elements with an infinite operand are left out of the check for floating-point errors, although NumPy may report one there
        (formulas of the array-API standard).
    laid_out : bool
        Whether the library's arrays have no memory order of their own, so that this package chooses the result's.
    keeps_order : callable or None
        Tells whether the library gives the result of given operands NumPy's memory order; None: it always does.
    cast : tuple of dtype or None
        The result's dtype by NumPy's rules and by the precision policy, if they differ.
    """

    __slots__ = (
        "cast",
        "infinities",
        "keeps_order",
        "kernel",
        "kind",
        "kinds",
        "laid_out",
        "loops",
        "one_float",
        "out",
        "reason",
        "reported",
        "run",
    )

    def __init__(
        self, run: Run, kinds: tuple[Kind, ...], kind: Literal["native", "composed", "host"], reason: str
    ) -> None:
        self.cast: tuple[np.dtype[Any], np.dtype[Any]] | None = None
        self.kernel: Run | None = None
        self.run = run
        self.kinds = kinds
        self.out: Any = kinds[0] if kinds else None
        self.kind = kind
        self.reason = reason
        self.loops: tuple[np.dtype[Any], ...] = ()
        self.reported = self.one_float = self.infinities = False
        self.laid_out = bool(kinds) and not kinds[0].backend.mutable
        self.keeps_order = kinds[0].backend.keeps_order if kinds else None


PLANS: dict[Any, dict[tuple[Any, ...], Plan]] = {}
"""ufunc -> (operand keys …, precision) -> plan."""


def plan_for(
    ufunc: np.ufunc,
    backend: Backend,
    keys: tuple[Key, ...],
    precision: Precision,
    signature: tuple[Any, ...] | None = None,
    casting: str = "same_kind",
) -> Plan:
    """Return the plan for operands of these keys (kinds, or types of Python numbers); raise NumPy's ``UFuncTypeError`` if NumPy has no
    loop.
    """
    plans = PLANS.setdefault(ufunc, {})
    full_key = (
        (*keys, precision) if signature is None and casting == "same_kind" else (keys, precision, signature, casting)
    )
    plan = plans.get(full_key)
    if plan is None:
        plan = plans.setdefault(full_key, _build(ufunc, backend, keys, precision, signature, casting))
    return plan


_records = _is_following = False
"""Whether calls are recorded, under compiled execution while no library traces; whether that has been followed so far."""


@process.follows("execution")
def _begin() -> None:
    """Follow the state from the first compiled execution on: before, transformations need not tell this module of their traces."""
    global _is_following
    if process.execution == "compiled" and not _is_following:
        _is_following = True
        process.follows("execution", "traces")(_follow)
        _follow()


def _follow() -> None:
    """Drop the plans for the libraries' own arrays when recording begins: a call that finds such a plan is not recorded."""
    global _records
    before, _records = _records, process.execution == "compiled" and not process.traces
    if before or not _records:
        return
    for backend in loader.loaded():
        for kind in backend.kinds():
            kind.whole.clear()
    for plans in list(PLANS.values()):
        for keys in list(plans):
            for key in keys:
                if isinstance(key, Kind) and not (key.backend.hosted or key.backend.defers):
                    plans.pop(keys, None)
                    break


_begin()


def _operand(key: Key, precision: Precision) -> Any:
    if isinstance(key, Kind):
        return dtypes.apply_precision(key.dtype, precision)
    if issubclass(key, np.generic):
        return dtypes.apply_precision(np.dtype(key), precision)
    if issubclass(key, bool):
        return dtypes.BOOL
    for weak in (int, float, complex):
        if issubclass(key, weak):
            return weak
    return np.dtype(object)


def _host(reason: str) -> Plan:
    def run(*_operands: Any) -> Any:
        raise Unsupported(reason)

    return Plan(run, (), "host", reason)


def _build(
    ufunc: np.ufunc,
    backend: Backend,
    keys: tuple[Key, ...],
    precision: Precision,
    signature: tuple[Any, ...] | None,
    casting: str,
) -> Plan:
    operands = tuple(_operand(key, precision) for key in keys)
    for t in operands:
        if isinstance(t, np.dtype) and dtypes.category(t) == "other":
            return _host(dtypes.only_on_host(t))
    scipys = special.learn(ufunc, backend)
    if ufunc not in backend.UFUNCS and ufunc not in COMPOSED:
        return _host(_without_kernel(ufunc))
    loops = dtypes.loop_dtypes(ufunc, operands, signature, casting)
    if any(dtypes.category(t) == "other" for t in loops):
        return _host(dtypes.OnlyOnHost("NumPy computes it in a dtype that exists only on the host"))
    if scipys and (reason := special.refusal(ufunc, loops, backend)):
        return _host(reason)
    ins, outs = loops[: ufunc.nin], loops[ufunc.nin :]
    kind: Literal["native", "composed"] = "native"
    if scipys and special.lacks_kernel(ufunc, loops, backend):
        kind, computed, kernel = "composed", ins, special.kernel(ufunc, loops, backend)
    elif (body := BY_KIND.get((ufunc, ins[0].kind))) is not None and not backend.native_is_ndarray:
        kind, computed, kernel = "composed", ins, backend.fused(body)
    elif ufunc in backend.UFUNCS:
        try:
            computed = tuple(backend.compute_dtype(ufunc, t) for t in ins)
        except Unsupported as unsupported:
            return _host(unsupported.args[0])
        if scipys:  # SciPy's half-precision loops are those for single precision
            computed = tuple(map(dtypes.widen_half, computed))
        kernel = backend.kernel(ufunc, computed[0], any(not isinstance(key, Kind) for key in keys))
    else:
        kind, computed, kernel = "composed", ins, backend.fused(COMPOSED[ufunc])
    facts = ufunc_facts(ufunc)
    if facts.comparison and ins[0] != ins[1]:  # NumPy's loops of uint64 against int64
        kind, computed = "composed", ins
        kernel = partial(compare_signs, backend.xp, ufunc)
    elif ufunc is np.power and ins[1].kind == "i" and not backend.native_is_ndarray:
        kernel = _refusing_negative_powers(kernel, backend)
    standard = any(isinstance(key, Kind) and key.standard for key in keys)
    of_standard = standard and ins[0].kind == "f" and ufunc in STANDARD
    if of_standard:
        kind, computed = "composed", ins
        kernel = partial(STANDARD[ufunc], backend.xp)
    kind_of = backend.standard_kind if standard else backend.kind
    kinds = tuple(kind_of(dtypes.apply_precision(t, precision)) for t in outs)
    scalars = kind == "native" and ufunc in backend.SCALARS
    converters = [_converter(backend, key, loop, to, scalars) for key, loop, to in zip(keys, ins, computed)]
    plan = Plan(kernel, kinds, kind, "")
    plan.kernel, plan.loops, plan.infinities = kernel if kind == "native" else None, loops, of_standard
    if precision is not None:
        plan.cast = _changed(ufunc, keys, kinds, signature, casting)
    plan.reported = facts.reported and not backend.native_is_ndarray  # NumPy reports by itself
    plan.one_float = ufunc.nout == 1 and kinds[0].dtype.char in "fdFD"
    if kernel is ufunc and precision is None and signature is None:
        plan.run = kernel  # NumPy casts by itself, and warns at the calling line
    else:
        convert = _composed_conversion(converters, kernel, keys)
        plan.run = _first_run(plan, backend, convert, ufunc, keys)
    return plan


def _changed(
    ufunc: np.ufunc, keys: tuple[Key, ...], kinds: tuple[Kind, ...], signature: tuple[Any, ...] | None, casting: str
) -> tuple[np.dtype[Any], np.dtype[Any]] | None:
    """Return NumPy's dtype of the result and the precision policy's, if they differ."""
    try:
        by_numpy = dtypes.loop_dtypes(ufunc, tuple(_operand(key, None) for key in keys), signature, casting)[ufunc.nin]
    except TypeError:  # NumPy has no loop for dtypes that the policy makes possible
        return None
    return None if by_numpy == kinds[0].dtype else (by_numpy, kinds[0].dtype)


def _refusing_negative_powers(kernel: Run, backend: Backend) -> Run:
    """Wrap an integer power kernel so that it raises NumPy's error for negative exponents if these are concrete."""

    def power(x: Any, y: Any) -> Any:
        if backend.is_native(y):
            negative = backend.is_concrete(y) and bool(
                (backend.to_numpy(y) < 0).any()
                if backend.on_cpu(y)
                else backend.item(backend.xp.logical_or.reduce(backend.xp.less(y, 0), axis=None))
            )
        else:
            negative = y < 0
        if negative and not any(0 in backend.shape_of(z) for z in (x, y) if backend.is_native(z)):
            raise ValueError("Integers to negative integer powers are not allowed.")
        return kernel(x, y)

    return power


# -- operands ----------------------------------------------------------------------------------------------------------


def _converter(backend: Backend, key: Key, loop: np.dtype[Any], to: np.dtype[Any], python_scalars: bool) -> Run | None:
    """Return ``convert(operand, another operand)``, which casts to the dtype of the loop, then to ``to``; None if the kernel takes the
    operand unchanged.
    """
    prim = backend.prim
    if isinstance(key, Kind):
        if not np.can_cast(key.dtype, loop) and (loop != to or key.dtype.kind == "c"):
            return lambda x, _other: prim.astype(prim.astype(_real(x, key.dtype, loop, prim), loop), to)
        if key.dtype == to:
            return None
        return lambda x, _other: prim.astype(x, to)
    if key is complex and loop.kind in "fiu":
        convert = _converter(backend, float, loop, to, False)
        assert convert is not None
        return lambda x, other: convert(x.real if warn_of_cast(_COMPLEX, loop) else x, other)
    if python_scalars and to != _UINT64 and to.itemsize >= (8 if to.kind == "c" else 4) and loop == to:
        if key is float and to.kind == "f":
            return None
        return lambda x, _other: dtypes.cast_scalar(x, loop)

    def make(x: Any, other: Any) -> Any:
        made = prim.full((), dtypes.cast_scalar(x, loop), loop, backend.device_of(other))
        return made if loop == to else prim.astype(made, to)

    return make


def _real(x: Any, have: np.dtype[Any], loop: np.dtype[Any], prim: Any) -> Any:
    """Return the real part, with NumPy's warning, of numbers of dtype ``have`` if that is complex and the loop is real; other numbers
    unchanged.
    """
    return prim.real(x) if warn_of_cast(have, loop) else x


def _first_run(plan: Plan, backend: Backend, convert: Run, ufunc: np.ufunc, keys: tuple[Key, ...]) -> Run:
    """Return the ``run`` of a plan's first call: it runs ``convert``, checks the dtypes of the results, and sets ``plan.run`` to code
    without this check.
    """
    any_int = (
        ufunc_facts(ufunc).comparison and int in keys and all(k.dtype.kind in "iu" for k in keys if isinstance(k, Kind))
    )

    def run(*operands: Any) -> Any:
        result = convert(*operands)
        results = result if ufunc.nout > 1 else (result,)
        exact = all(backend.dtype_of(r) == k.dtype for r, k in zip(results, plan.kinds))
        final = convert if exact else _casting(convert, backend, plan.kinds, ufunc.nout)
        if any_int:
            final = _compare_with_any_int(final, backend, ufunc, keys)
        plan.run = backend.in_scope(final) if backend.scoped else final
        return result if exact else _cast(result, backend, plan.kinds, ufunc.nout)

    first = run
    if any_int:  # the first value may be out of range
        first = _compare_with_any_int(run, backend, ufunc, keys)
    return backend.in_scope(first) if backend.scoped else first


def _composed_conversion(converters: list[Run | None], kernel: Run, keys: tuple[Key, ...]) -> Run:
    if not any(converters):
        return kernel
    if len(converters) == 1:
        only = converters[0]
        assert only is not None
        return lambda x: kernel(only(x, x))
    if len(converters) == 2:
        left, right = converters
        if left is None:
            assert right is not None
            return lambda x, y: kernel(x, right(y, x))
        if right is None:
            return lambda x, y: kernel(left(x, y), y)
        return lambda x, y: kernel(left(x, y), right(y, x))
    array = next(i for i, key in enumerate(keys) if isinstance(key, Kind))

    def many(*operands: Any) -> Any:
        other = operands[array]
        return kernel(*[x if c is None else c(x, other) for x, c in zip(operands, converters)])

    return many


def _cast(result: Any, backend: Backend, kinds: tuple[Kind, ...], nout: int) -> Any:
    if nout == 1:
        return backend.prim.astype(result, kinds[0].dtype)
    return tuple(backend.prim.astype(r, k.dtype) for r, k in zip(result, kinds))


def _casting(run: Run, backend: Backend, kinds: tuple[Kind, ...], nout: int) -> Run:
    return lambda *operands: _cast(run(*operands), backend, kinds, nout)


def _compare_with_any_int(run: Run, backend: Backend, ufunc: np.ufunc, keys: tuple[Key, ...]) -> Run:
    """Wrap ``run`` to compare integer arrays with Python ints of any size.

    An int outside the dtype's range compares alike with every element, so the result is filled with one value.
    """
    side = keys.index(int)

    def compare(*operands: Any) -> Any:
        try:
            return run(*operands)
        except OverflowError:
            array = operands[1 - side]
            sample = [0, 0]
            sample[side] = operands[side]
            verdict = bool(ufunc(*(np.array(s, dtype=object) for s in sample)))
            return backend.prim.full(backend.shape_of(array), verdict, dtypes.BOOL, backend.device_of(array))

    return compare


# -- full reductions -------------------------------------------------------------------------------------------------


class WholePlan(NamedTuple):
    """Plan of a full reduction: ``np.sum(a)`` and the like with only an array."""

    run: Run
    """Kernel, with the cast to the dtype it accumulates in; returns None if there is more to decide."""
    out: Kind
    finite: Callable[[Any], bool] | None
    """Return whether a result is finite; if it is not, there may have been a floating-point error. None if there cannot be one."""


def whole_plan(ufunc: np.ufunc, kind: Kind) -> WholePlan | None:
    """Return the plan of a full reduction of an array of this kind; None if the backend has no kernel, or
    more than a cast is needed (bfloat16, complex extrema).
    """
    backend, dtype = kind.backend, kind.dtype
    if ufunc not in backend.REDUCE or dtypes.is_bfloat16(dtype) or (dtype.kind == "c" and ufunc.identity is None):
        return None
    to = dtypes.default_accumulator(dtype) if ufunc in (np.add, np.multiply) else dtype
    kernel, astype, shape_of = backend.whole(ufunc, to), backend.prim.astype, backend.shape_of
    run = kernel if to == dtype else lambda a: kernel(astype(a, to))
    if to != dtype and ufunc is np.add:

        def run(a: Any) -> Any:
            made = backend.total(a)
            return kernel(astype(a, to)) if made is None else made

    if ufunc.identity is None:

        def run(a: Any) -> Any:
            if 0 in shape_of(a):
                raise ValueError(f"zero-size array to reduction operation {ufunc.__name__} which has no identity")
            return kernel(a)

    finite: dict[str, Any] = {"f": math.isfinite, "c": cmath.isfinite}
    return WholePlan(backend.in_scope(run) if backend.scoped else run, kind.of(to), finite.get(to.kind))


def shape_error(operands: tuple[Any, ...], backend: Backend, *others: tuple[int, ...]) -> ValueError | None:
    """Return NumPy's broadcasting error if the shapes of ``operands``, followed by ``others``, do not broadcast.

    Called after the library has refused a call.
    """
    shapes = [backend.shape_of(x) if backend.is_native(x) else np.shape(x) for x in operands]
    return broadcast_error([*shapes, *others])


def describe(ufunc: np.ufunc, backend: Backend) -> tuple[str, str]:
    """Return how a ufunc runs on a backend, and the reason for the host: ``("native" | "composed" | "host", reason)``."""
    special.learn(ufunc, backend)
    if ufunc in backend.UFUNCS or ufunc.signature is not None:
        return "native", ""
    if ufunc in COMPOSED:
        return "composed", ""
    return "host", _without_kernel(ufunc)


def describe_method(ufunc: np.ufunc, method: str, backend: Backend) -> tuple[str, str] | None:
    """Return how a method of a ufunc, such as ``reduce``, runs on a backend, and the reason for the host, as in :func:`describe`; None if
    NumPy does not offer the method for this ufunc.
    """
    if ufunc.signature is not None or ufunc.nin > 2 or ufunc.nout > 1:
        return None
    if (ufunc.nin == 1) != (method == "at") and method != "at":
        return None
    kind, reason = describe(ufunc, backend)
    kernels = {"reduce": backend.REDUCE, "accumulate": backend.ACCUMULATE, "outer": backend.UFUNCS}.get(method, {})
    return ("native" if ufunc in kernels else "composed", "") if kind != "host" else (kind, reason)


def _without_kernel(ufunc: np.ufunc) -> str:
    """Return the reason why a ufunc has no kernel."""
    if reason := special.reason_of(ufunc):
        return reason
    letters = set("".join(ufunc.types)) - set("->")
    if letters & set("bilefdFD"):
        return "it has no kernel on devices yet"
    what = "dates" if "M" in letters else "Python objects" if letters == {"O"} else "strings"
    return dtypes.OnlyOnHost(f"arrays of {what} exist only on the host")
