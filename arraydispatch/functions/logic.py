"""Logic functions: truth of all or any elements, comparison, and tests for real, complex and infinite elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..common import arguments
from ..common.user_warnings import warn
from ..runtime import dtypes
from . import layouts
from .operands import BOOL, arrays, check_broadcast, filled, first_native, is_concrete, to_host
from .registry import implements

Native = Any
NoValue: Any = np._NoValue


def _reduction(xp: Any, ufunc: Any, a: Any, axis: Any, keepdims: Any, where: Any) -> Native:
    keep = False if keepdims is NoValue else arguments.flag(keepdims)
    if where is NoValue:
        return ufunc.reduce(xp.asarray(a), axis=axis, keepdims=keep)
    return ufunc.reduce(xp.asarray(a), axis=axis, keepdims=keep, where=where)


@implements(np.all, layout=layouts.reduced, apart=True, light=True, returns="scalar")
def all(xp: Any, a: Any, axis: Any = None, keepdims: Any = NoValue, *, where: Any = NoValue) -> Native:
    return _reduction(xp, xp.logical_and, a, axis, keepdims, where)


@implements(np.any, layout=layouts.reduced, apart=True, light=True, returns="scalar")
def any(xp: Any, a: Any, axis: Any = None, keepdims: Any = NoValue, *, where: Any = NoValue) -> Native:
    return _reduction(xp, xp.logical_or, a, axis, keepdims, where)


# -- comparison ------------------------------------------------------------------------------------------------------


@implements(np.isclose, layout=layouts.broadcast, returns="scalar")
def isclose(xp: Any, a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: bool = False) -> Native:
    like = first_native(xp, (a, b, rtol, atol))
    x, y, atol, rtol = (
        z if isinstance(z, int | float | complex) or xp.is_array(z) else xp.asarray(z, like=like)
        for z in (a, b, atol, rtol)
    )
    # y is made inexact, so that abs() of the smallest integer is right.
    if xp.is_array(y):
        y = xp.prim.astype(y, dtypes.promote(xp.dtype_of(y), float))
    elif isinstance(y, int):
        y = float(y)
    if not (xp.is_array(x) or xp.is_array(y)):
        x = xp.asarray(x, like=like)
    check_broadcast(xp, x, y, *(t for t in (rtol, atol) if xp.is_array(t)))
    _check_tolerances(xp, atol, rtol)
    with np.errstate(invalid="ignore"):  # as in NumPy; infinities are compared below
        # A result of only Python scalars stays a Python scalar, which is weak.
        size = xp.absolute(y) if xp.is_array(y) else abs(y)
        relative = xp.multiply(rtol, size) if xp.is_array(rtol) or xp.is_array(size) else rtol * size
        bound = xp.add(atol, relative) if xp.is_array(atol) or xp.is_array(relative) else atol + relative
        close = xp.less_equal(xp.absolute(xp.subtract(x, y)), bound)
    if xp.is_array(y):
        close = xp.logical_and(close, xp.isfinite(y))
    elif not np.isfinite(y):
        close = filled(xp, xp.shape_of(close), False, BOOL, close)
    close = xp.logical_or(close, xp.equal(x, y))
    if equal_nan:
        close = xp.logical_or(close, xp.logical_and(xp.isnan(x), xp.isnan(y)))
    return close


def _check_tolerances(xp: Any, atol: Any, rtol: Any) -> None:
    """Report a tolerance that is not finite as NumPy does under ``np.errstate``."""
    for z in (atol, rtol):
        if not np.isfinite(to_host(xp, z) if is_concrete(xp, z) else 0.0).all():
            break
    else:
        return
    said = f"One of rtol or atol is not valid, atol: {atol}, rtol: {rtol}"
    wanted = np.geterr()["invalid"]
    if wanted == "warn":
        warn(said)
    elif wanted == "raise":
        raise FloatingPointError(said)
    elif wanted == "print":
        print(said)


def _all_true(xp: Any, a: Native) -> bool:
    return bool(to_host(xp, xp.logical_and.reduce(a, axis=None)))


@implements(np.allclose, pure=False, returns="any")
def allclose(xp: Any, a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: bool = False) -> bool:
    return _all_true(xp, isclose(xp, a, b, rtol, atol, equal_nan))


@implements(np.array_equal, pure=False, returns="any")
def array_equal(xp: Any, a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    try:
        one, two = arrays(xp, a1, a2)
    except ValueError:  # a ragged list equals no array
        return False
    if xp.shape_of(one) != xp.shape_of(two):
        return False
    if 0 in xp.shape_of(one):
        return True
    same = xp.equal(one, two)
    if equal_nan and dtypes.is_floating(xp.dtype_of(one)) and dtypes.is_floating(xp.dtype_of(two)):
        same = xp.logical_or(same, xp.logical_and(xp.isnan(one), xp.isnan(two)))
    return _all_true(xp, same)


@implements(np.array_equiv, pure=False, returns="any")
def array_equiv(xp: Any, a1: Any, a2: Any) -> bool:
    try:
        one, two = arrays(xp, a1, a2)
        np.broadcast_shapes(xp.shape_of(one), xp.shape_of(two))
    except ValueError:
        return False
    return _all_true(xp, xp.equal(one, two))


# -- kinds of values -------------------------------------------------------------------------------------------------


@implements(np.iscomplex, returns="scalar")
def iscomplex(xp: Any, x: Any) -> Native:
    x = xp.asarray(x)
    if dtypes.category(xp.dtype_of(x)) == "complex":
        return xp.not_equal(xp.prim.imag(x), 0)
    return filled(xp, xp.shape_of(x), False, BOOL, x)


@implements(np.isreal, returns="scalar")
def isreal(xp: Any, x: Any) -> Native:
    x = xp.asarray(x)
    if dtypes.category(xp.dtype_of(x)) == "complex":
        return xp.equal(xp.prim.imag(x), 0)
    return filled(xp, xp.shape_of(x), True, BOOL, x)


def _is_infinity(xp: Any, x: Any, infinity: float) -> Native:
    x = xp.asarray(x)
    dtype = xp.dtype_of(x)
    if dtypes.category(dtype) == "complex":
        raise TypeError(f"This operation is not supported for {dtype} values because it would be ambiguous.")
    if dtypes.category(dtype) != "float":
        return filled(xp, xp.shape_of(x), False, BOOL, x)
    return xp.equal(x, infinity)


@implements(np.isposinf, into=("fills",), layout=layouts.broadcast, returns="scalar")
def isposinf(xp: Any, x: Any) -> Native:
    return _is_infinity(xp, x, math.inf)


@implements(np.isneginf, into=("fills",), layout=layouts.broadcast, returns="scalar")
def isneginf(xp: Any, x: Any) -> Native:
    return _is_infinity(xp, x, -math.inf)
