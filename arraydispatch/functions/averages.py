"""Averages and variances (NumPy's reference topic of that name), with and without NaNs."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ..backends.base import Native
from ..backends.kinds import Kind
from ..common.user_warnings import reporting
from ..runtime import dtypes
from ..ufuncs.plans import WholePlan
from . import layouts, operands
from .operands import unshared, warn_of_nan
from .reductions import ALL_AXES, NoValue, known_any, nans_replaced, reduced, reduction
from .registry import XP

Shape = tuple[int, ...]

# -- counting and dividing ---------------------------------------------------------------------------------------------


def _count(xp: XP, a: Native, axis: Any, keepdims: bool, where: Any) -> Any:
    """Count the elements that each result averages: an int, or an int64 array with ``where``."""
    shape = xp.shape_of(a)
    if where is not NoValue and where is not True:
        mask = xp.prim.broadcast_to(xp.asarray(where, like=a), shape)  # NumPy counts a single bool too
        return xp.add.reduce(mask, axis=axis, dtype=dtypes.INTP, keepdims=keepdims)
    if axis is None:
        return math.prod(shape)
    axes = axis if isinstance(axis, tuple) else (axis,)
    return math.prod([shape[normalize_axis_index(i, len(shape))] for i in axes])


def _divided(xp: XP, total: Native, count: Any) -> Native:
    """Divide a sum by a count; the result has the sum's dtype. Like NumPy, divide by an array of counts in float64, then round."""
    dtype = xp.dtype_of(total)
    _report(xp, total, count)
    if dtype.kind in "fc" and dtype.itemsize > 2:
        if isinstance(count, int | float | np.generic):
            return xp.true_divide(total, float(count))
        return xp.prim.astype(xp.true_divide(total, count), dtype)
    wide = total if dtype.kind in "iub" else xp.prim.astype(total, dtypes.FLOAT32)
    return xp.prim.astype(xp.true_divide(wide, float(count) if isinstance(count, int | float) else count), dtype)


def _report(xp: XP, total: Native, count: Any) -> None:
    """If a count is 0, report the division of the sum by it as NumPy does, because libraries do not."""
    backend = xp.backend
    none = known_any(xp, xp.equal(count, 0), wait=False) if backend.is_native(count) else not count
    if none:
        report(xp, np.true_divide, "divide" if backend.shape_of(total) else "scalar divide", total, count)


def report(xp: XP, ufunc: np.ufunc, name: str, *given: Any) -> None:
    """Run a step in NumPy, which reports its floating-point errors; do nothing under a trace. Called only for steps with errors."""
    backend = xp.backend
    if operands.strict() or backend.native_is_ndarray:
        return  # under strict rules NumPy runs the whole function again
    if all(backend.is_concrete(x) for x in given if backend.is_native(x)):
        hosts = [backend.to_numpy(x) if backend.is_native(x) else x for x in given]
        reporting(lambda: ufunc(*hosts), name)


def warn_if(xp: XP, condition: Any, message: str) -> None:
    """Warn if an element of the condition is true; do nothing where reading the condition would mean waiting for a device."""
    if known_any(xp, condition, wait=False):
        warn_of_nan(xp, message)


def warn_all_nan(xp: XP, lost: Any) -> None:
    """Warn once for each true element of ``lost`` (a slice of NaN only), as NumPy does in functions that work slice by slice."""
    if known_any(xp, lost, wait=False):
        for _ in range(int(np.count_nonzero(xp.backend.to_numpy(lost)))):
            warn_of_nan(xp, "All-NaN slice encountered")


# -- mean, variance ----------------------------------------------------------------------------------------------------


def _mean_of_all(xp: XP, a: Any) -> Native | None:
    """Compute the mean of all elements of a non-empty float32 or float64 array by the backend's kernels; return None for other operands."""
    backend = xp.backend
    if not backend.is_native(a):
        return None
    dtype = backend.dtype_of(a)
    if dtype.char not in "fd":
        return None
    shape = backend.shape_of(a)
    if 0 in shape:
        return None
    if backend.MEAN is not None:
        return backend.MEAN(a)
    total = backend.REDUCE[np.add](a, ALL_AXES[len(shape)], False)
    count: Any = float(math.prod(shape))
    if np.true_divide not in backend.SCALARS:
        count = backend.prim.full((), count, dtype, backend.device_of(a))
    return backend.UFUNCS[np.true_divide](total, count)


def _mean_plan(kind: Kind) -> WholePlan | None:
    """Return the fast path of ``np.mean`` of all elements for arrays of this kind, or None."""
    backend = kind.backend
    if kind.dtype.char not in "fd" or backend.hosted:
        return None

    def run(a: Native) -> Native | None:
        return _mean_of_all(backend.xp, a)

    return WholePlan(backend.in_scope(run) if backend.scoped else run, kind, None)


@reduction(np.mean, whole=_mean_plan, into=("accumulates", "divides"), error="sum", apart=True, light=True)
def mean(
    xp: XP, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = NoValue, *, where: Any = NoValue
) -> Native:
    """`numpy.mean`."""
    if axis is None and dtype is None and keepdims is NoValue and where is NoValue:
        result = _mean_of_all(xp, a)
        if result is not None:
            return result
    a = xp.asarray(a)
    count = _count(xp, a, axis, keepdims is not NoValue and bool(keepdims), where)
    if isinstance(count, int):
        if not count:
            warn_of_nan(xp, "Mean of empty slice")
    else:
        warn_if(xp, xp.equal(count, 0), "Mean of empty slice")
    given = xp.dtype_of(a)
    to = dtypes.widen_half(dtypes.inexact(given)) if dtype is None else np.dtype(dtype)
    result = _divided(xp, reduced(xp, xp.add, a, axis, to, keepdims, where=where), count)
    return xp.prim.astype(result, given) if dtype is None and given.itemsize == 2 and given.kind not in "iu" else result


def _ddof(ddof: Any, correction: Any) -> Any:
    if correction is NoValue:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


def squared(xp: XP, x: Native) -> Native:
    """Compute the square of the absolute value, which is real."""
    if xp.dtype_of(x).kind != "c":
        return xp.multiply(x, x)
    re, im = xp.prim.real(x), xp.prim.imag(x)
    return xp.add(xp.multiply(re, re), xp.multiply(im, im))


def _rooted(xp: XP, variance: Native) -> Native:
    """Compute the square root in the dtype of its operand; raise NumPy's error if an array's root has another dtype."""
    root, dtype = xp.sqrt(variance), xp.dtype_of(variance)
    if xp.dtype_of(root) == dtype:
        return root
    if xp.shape_of(variance):
        raise TypeError(
            f"Cannot cast ufunc 'sqrt' output from {xp.dtype_of(root)!r} to {dtype!r} with casting rule 'same_kind'"
        )
    return xp.prim.astype(root, dtype)


@reduction(np.var, into=("divides",), error="square", apart=True, light=True)
def var(
    xp: XP, a: Any, axis: Any = None, dtype: Any = None, ddof: Any = 0, keepdims: Any = NoValue, *,
    where: Any = NoValue, mean: Any = NoValue, correction: Any = NoValue,
) -> Native:  # fmt: skip
    """`numpy.var`."""
    ddof = _ddof(ddof, correction)
    a = xp.asarray(a)
    if dtype is None:
        to = dtypes.FLOAT64 if xp.dtype_of(a).kind in "iub" else None
    else:
        to = np.dtype(dtype)
    count = _count(xp, a, axis, True, where)
    if isinstance(count, int):
        if ddof >= count:
            warn_of_nan(xp, "Degrees of freedom <= 0 for slice")
    else:
        warn_if(xp, xp.less_equal(count, ddof), "Degrees of freedom <= 0 for slice")
    if mean is NoValue or mean is None:
        mean = _divided(xp, reduced(xp, xp.add, a, axis, to, True, where=where), count)
    total = reduced(xp, xp.add, squared(xp, xp.subtract(a, mean)), axis, to, keepdims, where=where)
    if isinstance(count, int):
        return _divided(xp, total, count - ddof if count > ddof else 0)
    return _divided(xp, total, xp.prim.reshape(xp.maximum(xp.subtract(count, ddof), 0), xp.shape_of(total)))


@reduction(np.std, into=("divides",), error="spread", apart=True, light=True)
def std(
    xp: XP, a: Any, axis: Any = None, dtype: Any = None, ddof: Any = 0, keepdims: Any = NoValue, *,
    where: Any = NoValue, mean: Any = NoValue, correction: Any = NoValue,
) -> Native:  # fmt: skip
    """`numpy.std`."""
    ddof = _ddof(ddof, correction)
    return _rooted(xp, var(xp, a, axis, dtype, ddof, keepdims, where=where, mean=mean))


def checked_weights(xp: XP, weights: Any, a: Native, axis: Shape | None) -> Native:
    """Return the weights in a shape that broadcasts with ``a``, or raise NumPy's error if their shape does not fit."""
    weights = xp.asarray(weights, like=a)
    shape, have = xp.shape_of(a), xp.shape_of(weights)
    if have == shape:
        return weights
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    if have != tuple(shape[i] for i in axis):
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    order = tuple(sorted(range(len(axis)), key=lambda i: axis[i]))
    return xp.prim.reshape(xp.prim.transpose(weights, order), tuple(n if i in axis else 1 for i, n in enumerate(shape)))


@reduction(np.average, error="sum")
def average(
    xp: XP, a: Any, axis: Any = None, weights: Any = None, returned: Any = False, *, keepdims: Any = NoValue
) -> Any:
    """`numpy.average`."""
    a = xp.asarray(a)
    if axis is not None:
        axis = normalize_axis_tuple(axis, xp.ndim_of(a), argname="axis")
    if weights is None:
        result = mean(xp, a, axis, keepdims=keepdims)
        shape, dtype = xp.shape_of(result), xp.dtype_of(result)
        each = math.prod(xp.shape_of(a)) / math.prod(shape)
        return (result, xp.prim.full(shape, each, dtype, xp.backend.device_of(a))) if returned else result
    wide = checked_weights(xp, weights, a, axis)
    given = xp.dtype_of(a)
    to = dtypes.promote(given, xp.dtype_of(wide), *(() if dtypes.is_floating(given) else (dtypes.FLOAT64,)))
    scale = reduced(xp, xp.add, wide, axis, to, keepdims)
    if known_any(xp, xp.equal(scale, 0)):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    total = reduced(xp, xp.add, xp.multiply(a, wide, dtype=to), axis, None, keepdims)
    result = xp.true_divide(total, scale)
    if not returned:
        return result
    shape = xp.shape_of(result)
    return result, scale if xp.shape_of(scale) == shape else unshared(xp, xp.prim.broadcast_to(scale, shape))


# -- mean and variance without NaNs ------------------------------------------------------------------------------------


def _inexact_only(dtype: Any) -> Any:
    if dtype is None:
        return None
    dtype = np.dtype(dtype)
    if not dtypes.is_floating(dtype):
        raise TypeError("If a is inexact, then dtype must be inexact")
    return dtype


@reduction(np.nanmean, into=("divides",), layout=layouts.copied, error="sum")
def nanmean(
    xp: XP, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = NoValue, *, where: Any = NoValue
) -> Native:
    """`numpy.nanmean`."""
    a, nans = nans_replaced(xp, a, 0.0)
    if nans is None:
        return mean(xp, a, axis, dtype, keepdims, where=where)
    dtype = _inexact_only(dtype)
    count = reduced(xp, xp.add, xp.logical_not(nans), axis, dtypes.INTP, keepdims, where=where)
    total = reduced(xp, xp.add, a, axis, dtype, keepdims, where=where)
    warn_if(xp, xp.equal(count, 0), "Mean of empty slice")
    return _quietly_divided(xp, total, count)


def _quietly_divided(xp: XP, total: Native, count: Native) -> Native:
    """Divide without a warning for a count of 0, which has been reported already."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return _divided(xp, total, count)


@reduction(np.nanvar, into=("divides",), layout=layouts.copied, error="square")
def nanvar(
    xp: XP, a: Any, axis: Any = None, dtype: Any = None, ddof: Any = 0, keepdims: Any = NoValue, *,
    where: Any = NoValue, mean: Any = NoValue, correction: Any = NoValue,
) -> Native:  # fmt: skip
    """`numpy.nanvar`."""
    a, nans = nans_replaced(xp, a, 0.0)
    if nans is None:
        return var(xp, a, axis, dtype, ddof, keepdims, where=where, mean=mean, correction=correction)
    dtype = _inexact_only(dtype)
    ddof = _ddof(ddof, correction)
    count = reduced(xp, xp.add, xp.logical_not(nans), axis, dtypes.INTP, True, where=where)
    if mean is NoValue:
        mean = _quietly_divided(xp, reduced(xp, xp.add, a, axis, dtype, True, where=where), count)
    given = xp.dtype_of(a)
    zero = xp.prim.full((), 0.0, given, xp.backend.device_of(a))
    deviation = xp.prim.where(nans, zero, xp.prim.astype(xp.subtract(a, mean), given))
    total = reduced(xp, xp.add, squared(xp, deviation), axis, dtype, keepdims, where=where)
    free = xp.prim.reshape(xp.subtract(count, ddof), xp.shape_of(total))
    lacking = xp.less_equal(free, 0)
    warn_if(xp, lacking, "Degrees of freedom <= 0 for slice.")
    nan = xp.prim.full((), np.nan, xp.dtype_of(total), xp.backend.device_of(a))
    return xp.prim.where(lacking, nan, _quietly_divided(xp, total, free))


@reduction(np.nanstd, into=("divides",), layout=layouts.copied, error="spread")
def nanstd(
    xp: XP, a: Any, axis: Any = None, dtype: Any = None, ddof: Any = 0, keepdims: Any = NoValue, *,
    where: Any = NoValue, mean: Any = NoValue, correction: Any = NoValue,
) -> Native:  # fmt: skip
    """`numpy.nanstd`."""
    return _rooted(xp, nanvar(xp, a, axis, dtype, ddof, keepdims, where=where, mean=mean, correction=correction))
