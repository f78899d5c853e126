"""Kernels that NumPy runs on the zero-copy view of an array in host memory, because it is faster than XLA there.

XLA sorts on one core by comparing single elements, and compiles a program for each shape, which costs as much as thousands of
small sorts. The number of elements that a mask selects depends on the mask's values, so each number would be another shape. JAX
itself runs these functions under a trace, on an accelerator, and if the user wants the library to run everything. On a CPU compiled
execution does not record functions that sort, so calls of them arrive here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...common import events, tracing
from ...common.process_state import process
from ..host_kernels import COUNTED_FROM, LEFT_FROM, LEFT_ON_CPUS, REALS, SORTED_FROM, multiplies_faster, uncopied
from .jitted_kernels import is_concrete, kernel
from .shardings import aligned_empty, distributed, gathered_for, is_split, spread_of

Array = Any

_SORTS = "in host memory NumPy sorts faster than XLA"
_ADDS = "in host memory NumPy counts and adds at places faster than XLA, which computes an address for each"

_PICKS = "the shape of the result is a value, for which XLA would compile; in host memory NumPy need not"
HOST_KERNELS: dict[Any, str] = {
    **dict.fromkeys((np.sort, np.argsort, np.lexsort, np.sort_complex), _SORTS),
    **dict.fromkeys((np.nonzero, np.flatnonzero, np.argwhere), _PICKS),
    np.bincount: _ADDS,
}
"""NumPy function -> reason why NumPy runs it in host memory. Not listed: functions composed of these, products of complex matrices, and
accumulations.
"""

LEFT_TO_NUMPY: dict[Any, str] = {
    **LEFT_ON_CPUS,
    **dict.fromkeys((np.compress, np.extract), _PICKS),
    "scipy.special.gammaln": "in host memory SciPy needs less than half the time of XLA's operations one by one",
}
"""NumPy function -> reason why NumPy runs the whole function on large arrays in host memory."""

_COMPILE_AFTER = 32
"""Number of calls of a shape after which compiling a program for it pays."""

_seen: dict[tuple[Any, ...], int] = {}


def is_rare(*key: Any) -> bool:
    """Count a call of this key (a shape and more). Return whether the key has occurred only a few times, so that a program does not pay:
    compiling costs as much as thousands of calls.
    """
    count = _seen.get(key, 0)
    if count >= _COMPILE_AFTER:
        return False
    if len(_seen) > 4096:
        _seen.clear()
    _seen[key] = count + 1
    return True


def in_host_memory(a: Array) -> bool:
    """Whether NumPy can read the values without moving them, and may do so: not if execution is ``"eager"``."""
    if not (process.execution != "eager" and is_concrete(a) and a.is_fully_replicated):
        return False
    return all(d.platform == "cpu" for d in a.devices())


def _tell() -> None:
    if events.tap is not None:
        events.tap.host_kernel()


def or_numpy(
    on_host: Callable[..., np.ndarray[Any, Any]], compiled: Callable[..., Array], is_slow: Callable[..., bool]
) -> Callable[..., Array]:
    """Return a kernel that calls NumPy's ``on_host`` for operands in host memory for which ``is_slow`` is true: XLA's program would be
    slow. It calls ``compiled`` for all others.
    """

    @wraps(compiled)
    def run(a: Array, *args: Any) -> Array:
        if is_slow(a, *args):
            arrays = [x for x in (a, *args) if isinstance(x, jax.Array)]
            if any(isinstance(x, jax.core.Tracer) for x in arrays):
                tracing.is_quicker_on_host()
            elif all(map(in_host_memory, arrays)):
                _tell()
                given = [uncopied(on_host, np.asarray(x)) if isinstance(x, jax.Array) else x for x in (a, *args)]
                with np.errstate(all="ignore"):  # the dispatch reports errors from the result
                    return jax.device_put(on_host(*given), arrays[0].sharding)
        return compiled(a, *args)

    return run


def aligned_copy(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Copy to memory that JAX adopts without a second copy."""
    out = aligned_empty(x.shape, x.dtype)
    out[...] = x
    return out


# -- order -----------------------------------------------------------------------------------------------------------


def _order_key(a: Array) -> tuple[Array, ...]:
    """Return operands whose lexicographic order is NumPy's order: complex numbers with a NaN as real or imaginary part come last."""
    if not jnp.issubdtype(a.dtype, np.complexfloating):
        return (a,)
    re, im = lax.real(a), lax.imag(a)
    return jnp.isnan(re) | jnp.isnan(im), re, im


def _argsort(a: Array, axis: int) -> Array:
    keys = _order_key(a)
    positions = lax.broadcasted_iota(np.int64, a.shape, axis)
    return lax.sort((*keys, positions), dimension=axis, is_stable=True, num_keys=len(keys))[-1]


def _sort(a: Array, axis: int) -> Array:
    keys = _order_key(a)
    out = lax.sort(keys, dimension=axis, is_stable=True, num_keys=len(keys))
    return out[0] if len(out) == 1 else lax.complex(out[1], out[2])


def _sorting(on_host: Callable[..., np.ndarray[Any, Any]], on_device: Callable[..., Array]) -> Callable[..., Array]:
    compiled = kernel(on_device, static=(1,))

    @wraps(on_device)
    def run(a: Array, axis: int, *how: bool) -> Array:
        known = a.dtype.kind in "?biufc"  # not bfloat16: NumPy would call Python for each comparison
        if known and a.size >= SORTED_FROM and isinstance(a, jax.core.Tracer):
            tracing.is_quicker_on_host()
        if known and in_host_memory(a) and (a.size >= SORTED_FROM or is_rare(run, a.shape, a.dtype, axis)):
            _tell()
            return jax.device_put(on_host(np.asarray(a), axis, *how), a.sharding)
        return compiled(a, axis)

    return run


def _sorted(a: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
    made = aligned_copy(a)
    made.sort(axis)
    return made


sort = _sorting(_sorted, _sort)
_places_in_order = _sorting(lambda a, axis, stable: a.argsort(axis, kind="stable" if stable else None), _argsort)


def argsort(a: Array, axis: int, stable: bool = True) -> Array:
    return _places_in_order(a, axis, stable)


def _arg_extremum(find: Callable[..., Array], reduce: Callable[..., Array], worst: float) -> Callable[..., Array]:
    def body(a: Array, axis: int) -> Array:
        if a.dtype == np.bool_:
            a = a.astype(np.uint8)
        # Not the default index type, which a user's program may have set to 32 bits when it is lowered.
        index = np.int32 if a.shape[axis] < 2**31 else np.int64
        if not jnp.issubdtype(a.dtype, np.complexfloating):
            return find(a, axis, index).astype(np.int64)
        re, im = lax.real(a), lax.imag(a)
        nan = jnp.isnan(re) | jnp.isnan(im)
        best = re == reduce(jnp.where(nan, worst, re), axis, keepdims=True)
        best &= ~nan
        candidates = jnp.where(best, im, worst)
        best &= im == reduce(candidates, axis, keepdims=True)
        best = jnp.where(jnp.any(nan, axis, keepdims=True), nan, best)
        return lax.argmax(best.astype(np.uint8), axis, index).astype(np.int64)

    return body


argmax = kernel(_arg_extremum(lax.argmax, jnp.max, -np.inf), static=(1,))
argmin = kernel(_arg_extremum(lax.argmin, jnp.min, np.inf), static=(1,))


# -- products and sums -------------------------------------------------------------------------------------------------


def are_complex_matrices(a: Array, b: Array) -> bool:
    """Whether two arrays are complex matrices that NumPy multiplies faster than XLA."""
    return bool(a.dtype.kind == "c") and multiplies_faster(a.shape, b.shape)


def are_many_reals(a: Array, *others: Array) -> bool:
    """Whether operands are many real numbers, all of single or all of double precision."""
    arrays = [x for x in (a, *others) if isinstance(x, jax.Array)]
    dtypes = {x.dtype for x in arrays}
    return len(dtypes) == 1 and dtypes <= REALS and max(x.size for x in arrays) >= LEFT_FROM


def elementwise(ufunc: np.ufunc) -> Callable[..., np.ndarray[Any, Any]]:
    """Return a function that calls NumPy's; its results have the operands' dtype and lie in memory that JAX adopts."""

    def compute(*xs: Any) -> np.ndarray[Any, Any]:
        dtype = next(x.dtype for x in xs if isinstance(x, np.ndarray))
        made: np.ndarray[Any, Any] = ufunc(*xs, out=aligned_empty(np.broadcast_shapes(*map(np.shape, xs)), dtype))
        return made

    return compute


def are_divided_by_one(a: Array, b: Array) -> bool:
    """Whether many integers are divided by one number: NumPy multiplies by the number's inverse, XLA divides (measured: 0.2 ms against
    1.1).
    """
    many = isinstance(a, jax.Array) and a.dtype.kind in "iu" and a.size >= LEFT_FROM
    return bool(many and (not isinstance(b, jax.Array) or b.ndim == 0))


def accumulating(ufunc: np.ufunc) -> Callable[[np.ndarray[Any, Any], int], np.ndarray[Any, Any]]:
    """Return a function that accumulates by NumPy; its results have the operand's dtype and lie in memory that JAX adopts."""

    def compute(a: np.ndarray[Any, Any], axis: int) -> np.ndarray[Any, Any]:
        made: np.ndarray[Any, Any] = ufunc.accumulate(a, axis, a.dtype, aligned_empty(a.shape, a.dtype))
        return made

    return compute


def are_many_in_order(a: Array, axis: int) -> bool:
    """Whether there are so many elements that NumPy accumulates extrema faster (measured, 1.5 million elements: 5 to 12 ms against 20 to
    47).
    """
    return bool(a.size >= LEFT_FROM and (a.dtype.kind in "biu" or a.dtype in REALS))


def are_added_one_by_one(a: Array, axis: int) -> bool:
    """Whether NumPy accumulates sums or products faster (measured: integers in 1 ms against 10 to 18, rows of real numbers in 5 against 13).

    For a single row of real numbers XLA takes as long as NumPy, and along another axis than the last, where XLA adds line by line, a third.
    """
    return are_many_in_order(a, axis) and (a.dtype.kind != "f" or 1 < a.ndim == axis + 1)


def are_many_places(x: Array, weights: Array | None, length: int) -> bool:
    """Whether there are so many indices that NumPy counts them faster."""
    return bool(x.size >= COUNTED_FROM)


# -- positions of elements ---------------------------------------------------------------------------------------------


_GATHERED = f"{events.GATHERED}the shape of the result depends on values"


def nonzero(a: Array) -> tuple[Array, ...]:
    if not in_host_memory(a):
        _check_known(a)
        if is_split(a) and (spread := spread_of(a)) is not None:
            return tuple(distributed(i, spread) for i in np.nonzero(gathered_for(a, _GATHERED)))
        return tuple(i.astype(np.int64) for i in jnp.nonzero(a))
    _tell()
    return tuple(jax.device_put(i, a.sharding) for i in np.nonzero(np.asarray(a)))


def _check_known(a: Array) -> None:
    if isinstance(a, jax.core.Tracer):
        raise tracing.refusal(tracing.SHAPE)


def mask(a: Array, mask: Array) -> Array:
    if not (in_host_memory(a) and in_host_memory(mask)):
        _check_known(mask)
        if is_concrete(a) and (spread := spread_of(a) or spread_of(mask)) is not None:
            return distributed(gathered_for(a, _GATHERED)[gathered_for(mask, _GATHERED)], spread)
        return a[mask]
    _tell()
    return jax.device_put(np.asarray(a)[np.asarray(mask)], a.sharding)
