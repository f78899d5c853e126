"""Elementwise functions that are not ufuncs, choices by condition, and functions applied along axes.

Differences, integrals and interpolation are in ``calculus``, which is loaded with this topic.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..memory.views import native
from ..runtime import dtypes
from ..ufuncs.composed import is_followed
from ..ufuncs.ufunc_methods import casting_error
from . import calculus, layouts
from .operands import (
    BOOL,
    check_broadcast,
    filled,
    first_native,
    scalar,
    sequence,
    to_host,
    truth,
    unshared,
    valued,
)
from .registry import family, implements

__all__ = ["calculus"]

Native = Any
NoValue: Any = np._NoValue

elementwise = family(layout=layouts.broadcast, returns="scalar")


# -- limits and rounding ---------------------------------------------------------------------------------------------


@elementwise(np.clip, recorded=True, into=("fills",), writer=np._core.umath.clip)  # type: ignore[attr-defined]
def clip(
    xp: Any, a: Any, a_min: Any = NoValue, a_max: Any = NoValue, *, min: Any = NoValue, max: Any = NoValue,
    **kwargs: Any,
) -> Native:  # fmt: skip
    if a_min is NoValue and a_max is NoValue:
        low = None if min is NoValue else min
        high = None if max is NoValue else max
    elif a_min is NoValue:
        raise TypeError("clip() missing 1 required positional argument: 'a_min'")
    elif a_max is NoValue:
        raise TypeError("clip() missing 1 required positional argument: 'a_max'")
    elif min is not NoValue or max is not NoValue:
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    else:
        low, high = a_min, a_max
    options = {}
    for name, value in kwargs.items():
        if name in ("dtype", "casting"):
            options[name] = value
        elif name != "where":
            # The dispatch applies `where` when it writes to out=; without out=, the other elements are undefined.
            raise TypeError(f"clip() got an unexpected keyword argument '{name}'")
    a = xp.asarray(a, like=first_native(xp, (low, high)))
    dtype = xp.dtype_of(a)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        low = None if type(low) is int and low <= limits.min else low
        high = None if type(high) is int and high >= limits.max else high
    if low is None and high is None:
        return unshared(xp, xp.positive(a, **options))
    if low is not None and high is not None and type(low) is int and type(high) is int and dtype.kind != "b":
        # Both bounds have to be representable before either is applied.
        dtypes.cast_scalar(low, dtypes.promote(dtype, int)), dtypes.cast_scalar(high, dtypes.promote(dtype, int))
    check_broadcast(xp, a, low, high)
    result = a
    if low is not None:
        result = xp.maximum(result, low, **options)
    if high is not None:
        result = xp.minimum(result, high, **options)
    return result


@implements(np.round, np.around, writer=np.rint, layout=layouts.rounded, jumps="unit", returns="scalar")
def round(xp: Any, a: Any, decimals: Any = 0) -> Native:
    a = xp.asarray(a)
    decimals = operator.index(decimals)
    kind = dtypes.category(xp.dtype_of(a))
    if kind == "complex":
        return xp.prim.complex(round(xp, xp.prim.real(a), decimals), round(xp, xp.prim.imag(a), decimals))
    if kind in ("int", "uint"):
        if decimals >= 0:
            return unshared(xp, a)
        factor = 10.0**-decimals
        return xp.prim.astype(xp.multiply(xp.rint(xp.true_divide(a, factor)), factor), xp.dtype_of(a))
    if decimals == 0:
        return xp.rint(a)
    if kind == "bool":
        raise casting_error(np.multiply if decimals > 0 else np.divide, dtypes.FLOAT64, dtypes.BOOL)
    factor = 10.0 ** abs(decimals) if abs(decimals) < 309 else math.inf
    if decimals > 0:
        return xp.true_divide(xp.rint(xp.multiply(a, factor)), factor)
    return xp.multiply(xp.rint(xp.true_divide(a, factor)), factor)


@elementwise(np.fix, into=("fills",), writer=np.trunc, jumps="unit")
def fix(xp: Any, x: Any) -> Native:
    x = xp.asarray(x)
    result = xp.trunc(x)
    return unshared(xp, result) if result is x or not dtypes.is_floating(xp.dtype_of(x)) else result


def _finite_range(dtype: np.dtype[Any]) -> tuple[float, float]:
    if dtypes.is_bfloat16(dtype):
        return -3.3895313892515355e38, 3.3895313892515355e38
    limits = np.finfo(dtype)
    return float(limits.min), float(limits.max)


@implements(np.nan_to_num, layout=layouts.first, uncopied=True, returns="scalar")
def nan_to_num(xp: Any, x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Native:
    x = xp.asarray(x)
    kind = dtypes.category(xp.dtype_of(x))
    if kind == "complex":
        real, imag = (nan_to_num(xp, part(x), copy, nan, posinf, neginf) for part in (xp.prim.real, xp.prim.imag))
        return xp.prim.complex(real, imag)
    if kind != "float":
        return unshared(xp, x)
    dtype = xp.dtype_of(x)
    low, high = _finite_range(dtype)

    def like(value: Any) -> Native:
        if xp.is_array(value) or isinstance(value, list | tuple):
            return xp.prim.astype(xp.asarray(value, like=x), dtype)
        return scalar(xp, value, dtype, x)

    result = xp.prim.where(xp.isnan(x), like(nan), x)
    result = xp.prim.where(xp.equal(x, math.inf), like(high if posinf is None else posinf), result)
    return xp.prim.where(xp.equal(x, -math.inf), like(low if neginf is None else neginf), result)


# -- complex ---------------------------------------------------------------------------------------------------------


@implements(np.real, mode="attribute")
def real(xp: Any, val: Any) -> Native:
    val = xp.asarray(val)
    complex_ = dtypes.category(xp.dtype_of(val)) == "complex"
    return xp.prim.real(val) if complex_ else unshared(xp, val)


@implements(np.imag, mode="attribute")
def imag(xp: Any, val: Any) -> Native:
    val = xp.asarray(val)
    complex_ = dtypes.category(xp.dtype_of(val)) == "complex"
    return xp.prim.imag(val) if complex_ else filled(xp, xp.shape_of(val), 0, xp.dtype_of(val), val)


def _real_part(xp: Any, a: Any, tol: Any = 100) -> Any:
    return a.real if nearly_real(xp, native(a), tol) else a


@implements(np.real_if_close, mode="view", part=_real_part, pure=False)
def real_if_close(xp: Any, a: Any, tol: Any = 100) -> Native:
    a = xp.asarray(a)
    return xp.prim.real(a) if nearly_real(xp, a, tol) else unshared(xp, a)


def nearly_real(xp: Any, a: Native, tol: Any = 100) -> bool:
    """Whether the imaginary parts of a complex array are negligible."""
    dtype = xp.dtype_of(a)
    if dtypes.category(dtype) != "complex":
        return False
    if tol > 1:
        tol = float(np.finfo(dtype).eps) * tol
    return bool(to_host(xp, xp.less(xp.absolute(xp.prim.imag(a)), tol)).all())


@elementwise(np.angle, jumps="unit")
def angle(xp: Any, z: Any, deg: bool = False) -> Native:
    z = xp.asarray(z)
    if dtypes.category(xp.dtype_of(z)) == "complex":
        result = xp.arctan2(xp.prim.imag(z), xp.prim.real(z))
    else:
        result = xp.arctan2(0, z)
    return xp.multiply(result, 180 / math.pi) if deg else result


# -- special functions -----------------------------------------------------------------------------------------------


@elementwise(np.sinc)
def sinc(xp: Any, x: Any) -> Native:
    x = xp.multiply(math.pi, xp.asarray(x))
    if not is_followed(xp, x):
        return _sine_by(xp, x)
    near, square = _square_near(xp, x)
    series = _power_series(xp, square, [(-1) ** k / math.factorial(2 * k + 1) for k in range(12)])
    far = _sine_by(xp, xp.prim.where(near, scalar(xp, 1, xp.dtype_of(x), x), x))
    return xp.prim.where(near, valued(xp, _sine_by(xp, xp.backend.transforms.stop_gradient(x)), series), far)


def _sine_by(xp: Any, x: Native) -> Native:
    dtype = xp.dtype_of(x)
    eps = 1e-20
    if dtypes.category(dtype) == "float":
        eps = 2.0**-7 if dtypes.is_bfloat16(dtype) else float(np.finfo(dtype).eps)
    y = xp.prim.where(truth(xp, x), x, scalar(xp, eps, dtype, x))
    return xp.true_divide(xp.sin(y), y)


def _square_near(xp: Any, x: Native) -> tuple[Native, Native]:
    """Return the mask of numbers near zero, and their squares (0 for the other numbers).

    Quotients and absolute values have no second derivative at zero, but squares have.
    """
    near = xp.less(xp.absolute(x), 1.0)
    x = xp.prim.where(near, x, scalar(xp, 0, xp.dtype_of(x), x))
    return near, xp.multiply(x, x)


def _power_series(xp: Any, x: Native, coefficients: list[float]) -> Native:
    total: Any = coefficients[-1]
    for c in coefficients[-2::-1]:
        total = xp.add(xp.multiply(x, total), c)
    return total


_I0_NEAR, _I0_FAR = (getattr(np.lib._function_base_impl, name) for name in ("_i0A", "_i0B"))
"""NumPy's Chebyshev coefficients of exp(-x) I0(x) on [0, 8], and of exp(-x) sqrt(x) I0(x) on [8, inf]."""


def _chebyshev(xp: Any, x: Native, coefficients: list[float]) -> Native:
    b0: Any = coefficients[0]
    b1: Any = 0.0
    b2: Any = 0.0
    for c in coefficients[1:]:
        b2, b1 = b1, b0
        b0 = xp.add(xp.subtract(xp.multiply(x, b1), b2), c)
    return xp.multiply(0.5, xp.subtract(b0, b2))


@implements(np.i0, layout=layouts.broadcast)
def i0(xp: Any, x: Any) -> Native:
    x = xp.asarray(x)
    kind = dtypes.category(xp.dtype_of(x))
    if kind == "complex":
        raise TypeError("i0 not supported for complex values")
    x = x if kind == "float" else xp.prim.astype(x, dtypes.FLOAT64)
    if not is_followed(xp, x):
        return _i0(xp, x)
    near, square = _square_near(xp, x)
    series = _power_series(xp, square, [0.25**k / math.factorial(k) ** 2 for k in range(14)])
    return xp.prim.where(near, valued(xp, _i0(xp, xp.backend.transforms.stop_gradient(x)), series), _i0(xp, x))


def _i0(xp: Any, x: Native) -> Native:
    x = xp.absolute(x)
    near = xp.less_equal(x, 8.0)
    limit = scalar(xp, 8, xp.dtype_of(x), x)
    inside = xp.prim.where(near, x, limit)  # values of the branch that is not selected must stay finite
    outside = xp.prim.where(near, limit, x)
    small = xp.multiply(xp.exp(inside), _chebyshev(xp, xp.subtract(xp.true_divide(inside, 2.0), 2), _I0_NEAR))
    ratio = xp.subtract(xp.true_divide(32.0, outside), 2.0)
    large = xp.true_divide(xp.multiply(xp.exp(outside), _chebyshev(xp, ratio, _I0_FAR)), xp.sqrt(outside))
    return xp.prim.where(near, small, large)


# -- choices ---------------------------------------------------------------------------------------------------------


@implements(np.select, layout=layouts.c, sequence=True)
def select(xp: Any, condlist: Any, choicelist: Any, default: Any = 0) -> Native:
    conditions, choices = sequence(xp, condlist), sequence(xp, choicelist)
    if len(conditions) != len(choices):
        raise ValueError("list of cases must be same length as list of conditions")
    if not conditions:
        raise ValueError("select with an empty condition list is not possible")
    like = first_native(xp, (conditions, choices, default))
    values = [
        z if type(z) in (int, float, complex) or xp.is_array(z) else xp.asarray(z, like=like)
        for z in (*choices, default)
    ]
    to = dtypes.promote(*[xp.dtype_of(z) if xp.is_array(z) else dtypes.operand_type(z) for z in values])
    values = [  # cast like an array: a default that does not fit wraps around
        xp.prim.astype(z, to) if xp.is_array(z) else xp.asarray(np.asarray(z).astype(to), like=like) for z in values
    ]
    conditions = [c if xp.is_array(c) else xp.asarray(c, like=like) for c in conditions]
    for i, condition in enumerate(conditions):
        if xp.dtype_of(condition) != BOOL:
            raise TypeError(f"invalid entry {i} in condlist: should be boolean ndarray")
    shape = np.broadcast_shapes(*[xp.shape_of(z) for z in (*conditions, *values)])
    result = values[-1]
    for condition, value in zip(conditions[::-1], values[-2::-1]):
        result = xp.prim.where(condition, value, result)
    return result if xp.shape_of(result) == shape else unshared(xp, xp.prim.broadcast_to(result, shape))
