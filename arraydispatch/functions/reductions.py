"""Sums, products and differences; extrema (NumPy's reference topics "Sums, products, differences", "Extrema").

These functions call the methods ``reduce`` and ``accumulate`` of ufuncs. For the most frequent call, a reduction of a
whole array without keywords, the dispatch makes a plan that calls the backend's kernel (``whole=``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backends.base import Native
from ..common import arguments
from ..runtime import dtypes
from . import layouts, operands
from .registry import XP, family

NoValue: Any = np._NoValue

ALL_AXES = tuple(tuple(range(ndim)) for ndim in range(65))
"""Tuple of all axes for each number of dimensions, as the reduction kernels take them."""

_INFINITE = {np.maximum: -np.inf, np.minimum: np.inf}

reduction = family(returns="scalar", layout=layouts.reduced)
accumulation = family(into=("accumulates",), layout=layouts.walked)


# -- what other topics share -------------------------------------------------------------------------------------------


def known_any(xp: XP, condition: Any, *, wait: bool = True) -> bool:
    """Whether a condition is concrete and true for an element (under a trace it is not concrete).

    ``wait``: whether to wait for an accelerator or a recorded block if that is necessary. Callers that raise an error wait; those that only
    warn pass False, and then the function waits only while the program listens to warnings.
    """
    backend = xp.backend
    if not backend.is_native(condition):
        return bool(np.any(condition))
    if not backend.is_concrete(condition):
        return False
    if not backend.on_cpu(condition):
        if not (wait or operands.listened()):
            return False
        condition = xp.logical_or.reduce(condition, axis=None)
    return bool(backend.to_numpy(condition).any())


def reduced(
    xp: XP, ufunc: Any, a: Any, axis: Any, dtype: Any = None, keepdims: Any = NoValue, initial: Any = NoValue,
    where: Any = NoValue,
) -> Native:  # fmt: skip
    """Run ``ufunc.reduce`` with the defaults of NumPy's functions."""
    return ufunc.reduce(
        xp.asarray(a),
        axis=axis,
        dtype=dtype,
        keepdims=False if keepdims is NoValue else arguments.flag(keepdims),
        initial=initial,
        where=True if where is NoValue else where,
    )


# -- sums and products -------------------------------------------------------------------------------------------------


@reduction(
    np.sum, kind="native", whole=np.add, into=("accumulates",), reported=True, error="sum", apart=True, light=True
)
def sum(
    xp: XP, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = NoValue, initial: Any = NoValue,
    where: Any = NoValue,
) -> Native:  # fmt: skip
    """`numpy.sum`."""
    return reduced(xp, xp.add, a, axis, dtype, keepdims, initial, where)


@reduction(np.prod, kind="native", whole=np.multiply, into=("accumulates",), reported=True, apart=True, light=True)
def prod(
    xp: XP, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = NoValue, initial: Any = NoValue,
    where: Any = NoValue,
) -> Native:  # fmt: skip
    """`numpy.prod`."""
    return reduced(xp, xp.multiply, a, axis, dtype, keepdims, initial, where)


@reduction(np.max, np.amax, kind="native", whole=np.maximum, into=("casts",), apart=True, light=True)
def max(
    xp: XP, a: Any, axis: Any = None, keepdims: Any = NoValue, initial: Any = NoValue, where: Any = NoValue
) -> Native:
    """`numpy.max`."""
    return reduced(xp, xp.maximum, a, axis, None, keepdims, initial, where)


@reduction(np.min, np.amin, kind="native", whole=np.minimum, into=("casts",), apart=True, light=True)
def min(
    xp: XP, a: Any, axis: Any = None, keepdims: Any = NoValue, initial: Any = NoValue, where: Any = NoValue
) -> Native:
    """`numpy.min`."""
    return reduced(xp, xp.minimum, a, axis, None, keepdims, initial, where)


def _running(xp: XP, ufunc: Any, a: Any, axis: Any, dtype: Any) -> Native:
    a = xp.asarray(a)
    shape = xp.shape_of(a)
    if axis is None or not shape:
        a, shape = xp.prim.reshape(a, (int(np.prod(shape)),)), (1,)
    axis = operands.axis_of(0 if axis is None else axis, len(shape))
    return ufunc.accumulate(a, axis=axis, dtype=dtype)


@accumulation(np.cumsum, kind="native", error="sum", apart="same", light=True)
def cumsum(xp: XP, a: Any, axis: Any = None, dtype: Any = None) -> Native:
    """`numpy.cumsum`."""
    return _running(xp, xp.add, a, axis, dtype)


@accumulation(np.cumprod, kind="native", apart="same", light=True)
def cumprod(xp: XP, a: Any, axis: Any = None, dtype: Any = None) -> Native:
    """`numpy.cumprod`."""
    return _running(xp, xp.multiply, a, axis, dtype)


# -- without NaNs ------------------------------------------------------------------------------------------------------


def nans_replaced(xp: XP, a: Any, value: float) -> tuple[Native, Native | None]:
    """Return the array with NaNs replaced by ``value``, and the mask of the NaNs (None for dtypes without NaN)."""
    a = xp.asarray(a)
    dtype = xp.dtype_of(a)
    if not dtypes.is_floating(dtype):
        return a, None
    nans = xp.isnan(a)
    other = xp.prim.full(
        (), complex(value, value) if dtype.kind == "c" and value else value, dtype, xp.backend.device_of(a)
    )
    return xp.prim.where(nans, other, a), nans


@reduction(np.nansum, into=("accumulates",), layout=layouts.copied, error="sum")
def nansum(
    xp: XP, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = NoValue, initial: Any = NoValue,
    where: Any = NoValue,
) -> Native:  # fmt: skip
    """`numpy.nansum`."""
    return sum(xp, nans_replaced(xp, a, 0.0)[0], axis, dtype, keepdims, initial, where)


@reduction(np.nanprod, into=("accumulates",), layout=layouts.copied)
def nanprod(
    xp: XP, a: Any, axis: Any = None, dtype: Any = None, keepdims: Any = NoValue, initial: Any = NoValue,
    where: Any = NoValue,
) -> Native:  # fmt: skip
    """`numpy.nanprod`."""
    return prod(xp, _ones_for_nans(xp, a), axis, dtype, keepdims, initial, where)


@accumulation(np.nancumsum, layout=layouts.first, error="sum")
def nancumsum(xp: XP, a: Any, axis: Any = None, dtype: Any = None) -> Native:
    """`numpy.nancumsum`."""
    return _running(xp, xp.add, nans_replaced(xp, a, 0.0)[0], axis, dtype)


@accumulation(np.nancumprod, layout=layouts.first)
def nancumprod(xp: XP, a: Any, axis: Any = None, dtype: Any = None) -> Native:
    """`numpy.nancumprod`."""
    return _running(xp, xp.multiply, _ones_for_nans(xp, a), axis, dtype)


def _ones_for_nans(xp: XP, a: Any) -> Native:
    a = xp.asarray(a)
    dtype = xp.dtype_of(a)
    if not dtypes.is_floating(dtype):
        return a
    return xp.prim.where(xp.isnan(a), xp.prim.full((), 1, dtype, xp.backend.device_of(a)), a)


def _nan_extremum(xp: XP, ufunc: Any, a: Any, axis: Any, keepdims: Any, initial: Any, where: Any) -> Native:
    """Compute as NumPy's ``fmax.reduce`` or ``fmin.reduce``: a result is NaN only if its slice contains nothing but NaN."""
    given, (a, nans) = a, nans_replaced(xp, a, _INFINITE[ufunc.ufunc])
    if 0 in xp.shape_of(a):  # NumPy's error names the ufunc
        return reduced(xp, xp.fmax if ufunc is xp.maximum else xp.fmin, a, axis, None, keepdims, initial, where)
    if nans is None:
        return reduced(xp, ufunc, a, axis, None, keepdims, initial, where)
    if initial is not NoValue and initial is not None:
        if not np.isnan(initial):  # a number as the initial value takes precedence over every NaN
            return reduced(xp, ufunc, a, axis, None, keepdims, initial, where)
        initial = NoValue if where is NoValue else _INFINITE[ufunc.ufunc]
    result = reduced(xp, ufunc, a, axis, None, keepdims, initial, where)
    if where is not NoValue and where is not True:
        nans = xp.logical_or(nans, xp.logical_not(xp.asarray(where, like=a)))
    lost = reduced(xp, xp.logical_and, nans, axis, None, keepdims)
    if known_any(xp, lost, wait=False):
        operands.warn_of_nan(xp, "All-NaN slice encountered")
    if xp.dtype_of(result).kind == "c" and where is NoValue:  # the real part of a NaN may be a number
        nan = reduced(xp, ufunc, given, axis, None, keepdims)
    else:
        nan = xp.prim.full((), np.nan, xp.dtype_of(result), xp.backend.device_of(a))
    return xp.prim.where(lost, nan, result)


@reduction(np.nanmax, into=("casts",))
def nanmax(
    xp: XP, a: Any, axis: Any = None, keepdims: Any = NoValue, initial: Any = NoValue, where: Any = NoValue
) -> Native:
    """`numpy.nanmax`."""
    return _nan_extremum(xp, xp.maximum, a, axis, keepdims, initial, where)


@reduction(np.nanmin, into=("casts",))
def nanmin(
    xp: XP, a: Any, axis: Any = None, keepdims: Any = NoValue, initial: Any = NoValue, where: Any = NoValue
) -> Native:
    """`numpy.nanmin`."""
    return _nan_extremum(xp, xp.minimum, a, axis, keepdims, initial, where)
