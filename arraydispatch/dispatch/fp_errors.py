"""Floating-point errors as NumPy reports them: ``np.errstate``, ``np.seterr`` and ``np.seterrcall`` on every backend.

No library reports that an element divided by zero or overflowed, and the processor's own flags are lost in thread pools
and vector code. But an error leaves a trace: a result that is not finite (for integers: a divisor of 0 or -1). So each
result is checked once. If it has such elements, NumPy computes these elements again, and NumPy's own report reaches the user.

On a CPU device, results of ufuncs with ``plan.reported`` are checked, unless the user ignores all errors. Sums and
products, reductions, functions, and all results on other devices are checked only if an error mode is more than
a warning (``"raise"``, ``"call"``, ``"print"``, ``"log"``): the check costs a pass over the result, and on other devices
it waits for the device. On other devices the ``reported`` ufuncs are also checked while the program itself collects warnings.
Values under a trace are never checked.
"""

from __future__ import annotations

import cmath
import contextvars
from typing import Any, NamedTuple

import numpy as np

from ..backends.base import Backend
from ..common.user_warnings import reporting
from ..engine.recording.call_nodes import fits, listened
from ..functions import operands
from ..functions.registry import SPECS
from ..ufuncs.facts import ufunc_facts
from ..ufuncs.plans import Plan
from .handover import handed, peek

STATE: contextvars.ContextVar[Any] = np._core.umath._extobj_contextvar
in_force = STATE.get
"""Return the state object that ``np.errstate`` sets. A call takes 10 ns, ``np.geterr()`` 2 µs."""
UNTOUCHED = contextvars.Context().run(in_force)
"""The default of NumPy's error state: errors warn, underflow is ignored."""


class Rule(NamedTuple):
    """Floating-point errors that the user wants reported, by the ``np.errstate`` in force; :func:`rule` makes it."""

    warned: bool
    """Whether at least one of the errors divide, over and invalid is not ignored."""
    strict: bool
    """Whether the mode of at least one error is more than a warning (raise, call, print or log)."""
    under: bool
    """Whether underflow is not ignored."""


_known: tuple[Any, Rule] = (UNTOUCHED, Rule(True, False, False))


def rule() -> Rule:
    """Return the rule in force."""
    global _known
    now, (seen, found) = in_force(), _known
    if now is not seen:
        modes: dict[str, str] = {**np.geterr()}  # type: ignore[dict-item]
        strict = not {"ignore", "warn"}.issuperset(modes.values())
        under = modes.pop("under") != "ignore"
        found = Rule(any(mode != "ignore" for mode in modes.values()), strict, under)
        _known = now, found
    return found


# -- traces --------------------------------------------------------------------------------------------------------------


def _finite(values: np.ndarray[Any, Any]) -> bool:
    """Whether all elements are finite; False also if the sum of their squares overflows."""
    if values.dtype.char in "fdFD":
        return cmath.isfinite(_square(values))  # takes half the time of `isfinite`, and reports nothing
    return bool(np.isfinite(values).all())


_BY_ONE_THREAD, _WORTH_MORE = 10_000, 1 << 17
"""Number of elements that OpenBLAS multiplies in one thread, and number from which waiting for further threads is worthwhile."""


def _square(values: np.ndarray[Any, Any]) -> Any:
    """Return the sum of the elements' squared absolute values. It is not finite if an element is not, or if the sum overflows.

    Arrays of medium size are multiplied piece by piece: waiting for a thread that is not scheduled at once would take longer than
    all of the work.
    """
    if not _BY_ONE_THREAD < values.size <= _WORTH_MORE or not values.flags.c_contiguous:
        return _vdot(values, values)
    flat = values.reshape(-1)
    total = 0.0
    for start in range(0, flat.size, _BY_ONE_THREAD):
        piece = flat[start : start + _BY_ONE_THREAD]
        total += _vdot(piece, piece)
    return total


def _suspects(values: np.ndarray[Any, Any], under: bool) -> Any:
    """Return a mask of the elements that are not finite (with ``under``, also of zeros and subnormal numbers); None if there are none."""
    kind = values.dtype.kind
    if kind in "biu" or (kind not in "fc" and values.dtype.name != "bfloat16"):  # NumPy makes a name in 10 µs
        return None
    if not under and _finite(values):
        return None
    mask = ~np.isfinite(values)
    if under:
        for part in (values.real, values.imag) if values.dtype.kind == "c" else (values,):
            mask |= np.abs(part) < np.finfo(part.dtype).tiny
    return mask if mask.any() else None


def _bad_divisors(divisor: np.ndarray[Any, Any]) -> Any:
    """Return a mask of the divisors 0 and -1 (the lowest integer over -1 overflows); None if there are none."""
    if divisor.size == 0 or divisor.min() > 0:
        return None
    mask = (divisor == 0) | (divisor == -1)
    return mask if mask.any() else None


def _divides_integers(ufunc: np.ufunc, dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "iu" and ufunc_facts(ufunc).reports == "divisors"


def _may_look(values: tuple[Any, ...], backend: Backend, strict: bool) -> bool:
    """Whether native values may be checked: on the CPU, or on any device if the program wants more than warnings or collects warnings."""
    return all(map(backend.on_cpu, values)) or ((strict or listened()) and all(map(backend.is_concrete, values)))


def _on_host(x: Any, backend: Backend) -> Any:
    return backend.to_numpy(x) if backend.is_native(x) else x


def _tuple(x: Any) -> tuple[Any, ...]:
    return x if isinstance(x, tuple) else (x,)


# -- calls ---------------------------------------------------------------------------------------------------------------


def look(
    ufunc: np.ufunc, plan: Plan, operands: tuple[Any, ...], result: Any, where: Any = True, scalar: bool = False
) -> None:
    """Report the errors of one elementwise call, given its native operands and result.

    ``where``: mask of the elements that were computed. ``scalar``: whether the result is a scalar, which costs nothing to check.
    """
    now, told = _known
    if in_force() is not now:
        told = rule()
    if not (told.strict or ((plan.reported or scalar) and told.warned)):
        return
    if plan.one_float and not told.under:  # the short path: a view of the result, one product of it with itself
        if divides_without_error(ufunc, operands[-1], plan.out.dtype):
            return
        backend = plan.out.backend
        values = backend.peek(result)
        if values is None:
            if not (told.strict or listened()):
                return
        elif _isfinite(
            _square(values)
            if backend.ADDS is None or values.size <= _WORTH_MORE
            else backend.item(backend.ADDS(result))
        ):
            return
    _examine(ufunc, plan, operands, result, where, told)


_isfinite, _vdot = cmath.isfinite, np.vdot


def divides_without_error(ufunc: np.ufunc, divisor: Any, dtype: np.dtype[Any]) -> bool:
    """Whether a ufunc divides floats by a number of absolute value 1 or more, which causes no error except underflow."""
    if ufunc is not np.divide or dtype.kind != "f" or type(divisor) not in (float, int):
        return False
    return 1 <= abs(divisor) < np.inf and fits(divisor, dtype)


def _examine(ufunc: np.ufunc, plan: Plan, operands: tuple[Any, ...], result: Any, where: Any, told: Rule) -> None:
    backend = plan.out.backend
    results = _tuple(result)
    if backend.native_is_ndarray or not _may_look(results, backend, told.strict):
        return
    divides = _divides_integers(ufunc, plan.loops[0])
    if divides:
        masks = [_bad_divisors(np.asarray(_on_host(operands[-1], backend)))]
    else:
        masks = [_suspects(backend.to_numpy(r), told.under) for r in results]
    masks = [m for m in masks if m is not None]
    if not masks:
        return
    if where is not True:
        masks = [m & _on_host(where, backend) for m in masks]
    shape = np.broadcast_shapes(backend.shape_of(results[0]), *[m.shape for m in masks])
    mask = np.zeros(shape, bool)
    for m in masks:
        mask |= m
    hosts = [_on_host(x, backend) for x in operands]
    picked = [np.broadcast_to(x, shape)[mask] if isinstance(x, np.ndarray) else x for x in hosts]
    if not divides:  # NaN from NaN is not an error
        known = np.ones(int(mask.sum()), bool)
        for x in picked:
            known &= np.isfinite(x) if plan.infinities else x == x
        if not known.any():
            return
        picked = [x[known] if isinstance(x, np.ndarray) else x for x in picked]
    with np.errstate(all="ignore"):  # a number beyond the loop's dtype was reported when it was converted
        picked = [x if isinstance(x, np.ndarray) else np.asarray(x).astype(t) for x, t in zip(picked, plan.loops)]
    reporting(lambda: ufunc(*picked, signature=plan.loops, casting="unsafe"), ufunc.__name__)


def look_at_method(
    ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any], result: Any, backend: Backend
) -> None:
    """Report the errors of a ufunc's method, such as ``reduce``: NumPy runs the method again if the result shows signs of an error.

    ``inputs`` and ``kwargs`` are the user's, not yet written to.
    """
    told = rule()
    results = _tuple(result)
    if not _may_look(results, backend, told.strict):
        return
    divides = any(_divides_integers(ufunc, backend.dtype_of(r)) for r in results)
    if divides or any(_suspects(backend.to_numpy(r), told.under) is not None for r in results):
        again = {key: handed(x, peek) for key, x in kwargs.items() if key != "out"}
        name = method if method in ("reduce", "accumulate", "reduceat") else ufunc.__name__
        hosts = [handed(x, peek) for x in inputs]
        if not ufunc_facts(ufunc).reported and not told.strict and _holds_nan(hosts[0]):
            return
        if method == "at":
            hosts[0] = hosts[0].copy()
            if len(hosts) == 3 and np.asarray(hosts[2]).dtype != hosts[0].dtype:  # values that need a cast
                name = method
        reporting(lambda: getattr(ufunc, method)(*hosts, **again), name)


def look_at_function(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any, backend: Backend) -> None:
    """Report the errors of a function: NumPy runs the function again if the result shows signs of an error."""
    told = rule()
    if backend.native_is_ndarray or (backend.defers and not (told.strict or listened())):
        return
    spec = SPECS.get(func)
    if not (told.strict or (told.warned and spec is not None and spec.reported)):
        return
    results = tuple(
        [
            r
            for r in (result if isinstance(result, list | tuple) else (result,))
            if backend.is_native(r) and backend.dtype_of(r).kind not in "biu"
        ]
    )
    if not results or not _may_look(results, backend, told.strict):
        return
    if all(_suspects(backend.to_numpy(r), told.under) is None for r in results):
        return
    hosts = [handed(x, peek) for x in args]
    options = {key: handed(x, peek) for key, x in kwargs.items() if key != "out"}
    if told.strict:
        func(*hosts, **options)
    elif not _holds_nan(hosts[0]):
        reporting(lambda: func(*hosts, **options), "reduce")


def _holds_nan(x: Any) -> bool:
    return bool(np.isnan(x).any())


def look_at_cast(value: Any, wanted: np.dtype[Any], backend: Backend, name: str = "cast") -> None:
    """Report the errors of a cast: floats beyond an integer dtype, unless such errors are ignored; floats beyond a narrower float dtype
    only under strict rules.
    """
    told = rule()
    if backend.native_is_ndarray or not (told.strict or (told.warned and wanted.kind in "iu")):
        return
    if not _may_look((value,), backend, told.strict):
        return
    values = backend.to_numpy(value)
    limit = 2.0 ** (8 * wanted.itemsize - (wanted.kind == "i")) if wanted.kind in "iu" else float(np.finfo(wanted).max)
    if values.dtype.char in "fdFD" and float(abs(_square(values))) < limit * limit:
        return
    beyond = values[~(np.abs(values) < np.float64(limit))]  # NumPy reports numbers that a narrow dtype cannot hold
    if beyond.size:
        reporting(lambda: beyond.astype(wanted), name)


operands.look_at_cast, operands.listened = look_at_cast, listened
operands.strict = lambda: rule().strict


def heard_of(ufunc: np.ufunc, method: str, backend: Backend) -> bool:
    """Whether results of this method of a ufunc are checked for errors under the rule in force."""
    if backend.native_is_ndarray:
        return False
    told, facts = rule(), ufunc_facts(ufunc)
    return told.strict or (told.warned and (facts.reported or (facts.reports == "methods" and method != "outer")))
