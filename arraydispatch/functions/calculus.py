"""Differences, gradients, integrals, running sums, unwrapping, interpolation: part of the topic ``elementwise``."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from ..common.user_warnings import warn_of_cast
from ..runtime import dtypes
from . import layouts
from .averages import report
from .joining import concatenate
from .operands import (
    BOOL,
    INTP,
    along,
    arrays,
    check_broadcast,
    filled,
    first_native,
    flat,
    is_concrete,
    itself,
    raise_for_shapes,
    scalar,
    to_host,
    unshared,
)
from .reductions import known_any
from .registry import implements

Native = Any
NoValue: Any = np._NoValue


# -- differences -----------------------------------------------------------------------------------------------------


@implements(np.diff, keeps=lambda made, a, n=1, *_, **__: itself(n == 0, made, a), layout=layouts.walked, error="sum")
def diff(xp: Any, a: Any, n: Any = 1, axis: Any = -1, prepend: Any = NoValue, append: Any = NoValue) -> Native:
    a = arrays(xp, a, *(x for x in (prepend, append) if xp.is_array(x)))[0]
    if n == 0:
        return unshared(xp, a)
    if n < 0:
        raise ValueError("order must be non-negative but got " + repr(n))
    shape = xp.shape_of(a)
    if not shape:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = normalize_axis_index(axis, len(shape))
    combined = []
    for extra in (prepend, a, append):
        if extra is a:
            combined.append(a)
        elif extra is not NoValue:
            extra = xp.asarray(extra, like=a)
            if not xp.shape_of(extra):
                extra = xp.prim.broadcast_to(extra, (*shape[:axis], 1, *shape[axis + 1 :]))
            combined.append(extra)
    if len(combined) > 1:
        a = concatenate(xp, combined, axis)
    op = xp.not_equal if xp.dtype_of(a) == BOOL else xp.subtract
    for _ in range(operator.index(n)):
        length = xp.shape_of(a)[axis]
        a = op(along(xp, a, axis, min(1, length), length), along(xp, a, axis, 0, max(length - 1, 0)))
    return a


def _spacing(xp: Any, f: Native, varargs: tuple[Any, ...], axes: tuple[int, ...]) -> list[Any]:
    """Return the spacing for each axis: a scalar, or the differences between coordinates."""
    n = len(varargs)
    if n == 0:
        return [1.0] * len(axes)
    if n == 1 and not _ndim(xp, varargs[0]):
        return [varargs[0]] * len(axes)
    if n != len(axes):
        raise TypeError("invalid number of arguments")
    found = []
    for distances, axis in zip(varargs, axes):
        ndim = _ndim(xp, distances)
        if ndim == 0:
            found.append(distances)
            continue
        if ndim != 1:
            raise ValueError("distances must be either scalars or 1d")
        distances = xp.asarray(distances, like=f)
        if xp.shape_of(distances)[0] != xp.shape_of(f)[axis]:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        if xp.dtype_of(distances).kind in "iu":
            distances = xp.prim.astype(distances, dtypes.FLOAT64)
        found.append(_uniform(xp, diff(xp, distances)))
    return found


def _uniform(xp: Any, steps: Native) -> Any:
    """Return the steps, or one scalar if they are concrete and all equal: NumPy then uses plain differences, which avoids 0 * inf."""
    backend = xp.backend
    if not xp.shape_of(steps)[0] or not backend.is_concrete(steps):
        return steps
    first = along(xp, steps, 0, 0, 1)
    return steps if known_any(xp, xp.not_equal(steps, first)) else backend.item(xp.prim.reshape(first, ()))


def _ndim(xp: Any, x: Any) -> int:
    return len(xp.shape_of(x)) if xp.is_array(x) else np.ndim(x)


@implements(np.gradient, layout=layouts.first, error="sum")
def gradient(xp: Any, f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    f = arrays(xp, f, *(v for v in varargs if xp.is_array(v)))[0]
    shape = xp.shape_of(f)
    axes = tuple(range(len(shape))) if axis is None else normalize_axis_tuple(axis, len(shape))
    spacings = _spacing(xp, f, varargs, axes)
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    to = dtypes.inexact(xp.dtype_of(f))
    if xp.dtype_of(f).kind in "iu":
        f = xp.prim.astype(f, dtypes.FLOAT64)
    found = []
    for i, dx in zip(axes, spacings):
        if shape[i] < edge_order + 1:
            raise_for_shapes(np.gradient, shape[i : i + 1], edge_order=edge_order)
        found.append(_gradient_along(xp, f, i, dx, edge_order, to))
    return found[0] if len(axes) == 1 else tuple(found)


def _gradient_along(xp: Any, f: Native, axis: int, dx: Any, edge_order: int, to: np.dtype[Any]) -> Native:
    n = xp.shape_of(f)[axis]
    ndim = len(xp.shape_of(f))
    uniform = _ndim(xp, dx) == 0

    def row(i: int) -> Native:
        return along(xp, f, axis, i, i + 1)

    def step(i: int) -> Native:
        """Return the i-th difference of coordinates: a scalar if they are equally spaced, else an array of one element."""
        return dx if uniform else xp.prim.reshape(along(xp, dx, 0, i, i + 1), (1,) * ndim)

    def combined(a: Any, b: Any, c: Any, x: Native, y: Native, z: Native) -> Native:
        return xp.add(xp.add(xp.multiply(a, x), xp.multiply(b, y)), xp.multiply(c, z))

    def over(number: float) -> Any:
        """Divide a number by the step. The quotient of a Python number is a Python number, which takes the array's dtype."""
        return xp.true_divide(number, dx) if xp.is_array(dx) else number / dx

    parts = []
    if edge_order == 1:
        parts.append(xp.true_divide(xp.subtract(row(1), row(0)), step(0)))
    elif uniform:
        parts.append(combined(over(-1.5), over(2.0), over(-0.5), row(0), row(1), row(2)))
    else:
        d1, d2 = step(0), step(1)
        both = xp.add(d1, d2)
        a = xp.negative(xp.true_divide(xp.add(xp.multiply(2.0, d1), d2), xp.multiply(d1, both)))
        b = xp.true_divide(both, xp.multiply(d1, d2))
        c = xp.negative(xp.true_divide(d1, xp.multiply(d2, both)))
        parts.append(combined(a, b, c, row(0), row(1), row(2)))
    if n > 2:
        before, here, after = along(xp, f, axis, 0, n - 2), along(xp, f, axis, 1, n - 1), along(xp, f, axis, 2, n)
        if uniform:
            twice = xp.multiply(2.0, dx) if xp.is_array(dx) else 2.0 * dx
            parts.append(xp.true_divide(xp.subtract(after, before), twice))
        else:
            wide = (1,) * axis + (n - 2,) + (1,) * (ndim - axis - 1)
            d1 = xp.prim.reshape(along(xp, dx, 0, 0, n - 2), wide)
            d2 = xp.prim.reshape(along(xp, dx, 0, 1, n - 1), wide)
            both = xp.add(d1, d2)
            a = xp.true_divide(xp.negative(d2), xp.multiply(d1, both))
            b = xp.true_divide(xp.subtract(d2, d1), xp.multiply(d1, d2))
            c = xp.true_divide(d1, xp.multiply(d2, both))
            parts.append(combined(a, b, c, before, here, after))
    if edge_order == 1:
        parts.append(xp.true_divide(xp.subtract(row(n - 1), row(n - 2)), step(n - 2)))
    elif uniform:
        parts.append(combined(over(0.5), over(-2.0), over(1.5), row(n - 3), row(n - 2), row(n - 1)))
    else:
        d1, d2 = step(n - 3), step(n - 2)
        both = xp.add(d1, d2)
        a = xp.true_divide(d2, xp.multiply(d1, both))
        b = xp.negative(xp.true_divide(both, xp.multiply(d1, d2)))
        c = xp.true_divide(xp.add(xp.multiply(2.0, d2), d1), xp.multiply(d2, both))
        parts.append(combined(a, b, c, row(n - 3), row(n - 2), row(n - 1)))
    return xp.prim.concatenate([xp.prim.astype(p, to) for p in parts], axis)


# -- sums ------------------------------------------------------------------------------------------------------------


@implements(np.trapezoid, error="sum", layout=layouts.trapezoid, returns="scalar")
def trapezoid(xp: Any, y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Native:
    y = arrays(xp, y, *(z for z in (x, dx) if xp.is_array(z)))[0]
    shape = xp.shape_of(y)
    if x is not None:
        x = xp.asarray(x, like=y)
        if not xp.shape_of(x):
            raise ValueError("diff requires input that is at least one dimensional")
    axis = operator.index(axis)
    if not shape or not -len(shape) <= axis < len(shape):
        raise IndexError("list assignment index out of range")
    at = axis % len(shape)
    width = dx if xp.is_array(dx) or not isinstance(dx, list | tuple) else xp.asarray(dx, like=y)
    if x is not None:
        if len(xp.shape_of(x)) == 1:
            width = diff(xp, x)
            width = xp.prim.reshape(width, (1,) * at + (-1,) + (1,) * (len(shape) - at - 1))
        else:
            width = diff(xp, x, axis=axis)
    n = shape[at]
    pairs = xp.add(along(xp, y, at, min(1, n), n), along(xp, y, at, 0, max(n - 1, 0)))
    check_broadcast(xp, width, pairs)
    areas = xp.true_divide(xp.multiply(width, pairs), 2.0)
    return xp.add.reduce(areas, axis=axis)


def _cumulative(xp: Any, x: Any, ufunc: Any, axis: Any, dtype: Any, include_initial: bool) -> Native:
    x = xp.asarray(x)
    if not xp.shape_of(x):
        x = xp.prim.reshape(x, (1,))
    if axis is None:
        if len(xp.shape_of(x)) >= 2:
            raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
        axis = 0
    if isinstance(axis, tuple):
        if len(axis) != 1:
            raise ValueError("accumulate does not allow multiple axes")
        (axis,) = axis
    result = ufunc.accumulate(x, axis=axis, dtype=dtype)
    if include_initial:
        shape = xp.shape_of(result)
        axis = normalize_axis_index(axis, len(shape))
        start = filled(
            xp, (*shape[:axis], 1, *shape[axis + 1 :]), 0 if ufunc is xp.add else 1, xp.dtype_of(result), result
        )
        result = xp.prim.concatenate([start, result], axis)
    return result


@implements(np.cumulative_sum, into=("accumulates",), layout=layouts.walked)
def cumulative_sum(xp: Any, x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Native:
    return _cumulative(xp, x, xp.add, axis, dtype, include_initial)


@implements(np.cumulative_prod, into=("accumulates",), layout=layouts.walked)
def cumulative_prod(
    xp: Any, x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: bool = False
) -> Native:
    return _cumulative(xp, x, xp.multiply, axis, dtype, include_initial)


@implements(np.unwrap, layout=layouts.first)
def unwrap(xp: Any, p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 2 * math.pi) -> Native:
    p = xp.asarray(p)
    shape = xp.shape_of(p)
    if xp.is_array(period) and xp.backend.is_concrete(period):
        period = to_host(xp, period)[()]
    steps = diff(xp, p, axis=axis)
    axis = normalize_axis_index(axis, len(shape))
    if discont is None:
        discont = period / 2
    to = dtypes.promote(xp.dtype_of(steps), dtypes.operand_type(period))
    if to.kind in "iu":
        high, rest = divmod(period, 2)
        ambiguous = rest == 0
    else:
        high, ambiguous = period / 2, True
    low = -high
    if to.kind == "f" and known_any(xp, xp.isinf(steps), wait=False):
        report(xp, np.remainder, "remainder", steps, period)
    wrapped = xp.add(xp.remainder(xp.subtract(steps, low), period), low)
    if ambiguous:
        # A step of exactly half a period keeps its sign.
        edge = xp.logical_and(xp.equal(wrapped, low), xp.greater(steps, 0))
        wrapped = xp.prim.where(edge, scalar(xp, high, xp.dtype_of(wrapped), p), wrapped)
    correction = xp.subtract(wrapped, steps)
    small = xp.less(xp.absolute(steps), discont)
    correction = xp.prim.where(small, filled(xp, (), 0, xp.dtype_of(correction), p), correction)
    n = shape[axis]
    first = xp.prim.astype(along(xp, p, axis, 0, min(1, n)), to)
    later = xp.add(along(xp, p, axis, min(1, n), n), xp.add.accumulate(correction, axis=axis))
    return xp.prim.concatenate([first, xp.prim.astype(later, to)], axis)


# -- tables ----------------------------------------------------------------------------------------------------------


def _float(xp: Any, x: Any, to: np.dtype[Any], like: Native | None) -> Native:
    x = xp.asarray(x, like=like)
    dtypes.check_cast(xp.dtype_of(x), to)
    return xp.prim.astype(x, to)


def _real(xp: Any, x: Native) -> Native:
    return xp.prim.real(x) if warn_of_cast(xp.dtype_of(x), dtypes.FLOAT64) else x


@implements(np.interp, error="sum", tables=(1, 2), each=0, returns="scalar")
def interp(ns: Any, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Native:
    like = first_native(ns, (x, xp, fp))
    if period is not None:
        x, xp = (_real(ns, ns.asarray(y, like=like)) for y in (x, xp))
    fp = ns.asarray(fp, like=like)
    if dtypes.category(ns.dtype_of(fp)) == "complex":
        return _interp_complex(ns, x, xp, fp, left, right, period)
    x, xp, fp = (_float(ns, y, dtypes.FLOAT64, like) for y in (x, xp, fp))
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period, left, right = abs(period), None, None
    for y in (fp, xp):
        if (ndim := len(ns.shape_of(y))) != 1:
            given = f"object {'too deep' if ndim else 'of too small depth'} for desired array"
            raise ValueError(given if period is None else "Data points must be 1-D sequences")
    n = ns.shape_of(xp)[0]
    if ns.shape_of(fp)[0] != n:
        raise ValueError("fp and xp are not of the same length.")
    if not n:
        raise ValueError("array of sample points is empty")
    if period is not None:
        x, xp = ns.remainder(x, period), ns.remainder(xp, period)
        order = ns.prim.argsort(xp, 0)
        xp, fp = ns.prim.take(xp, order, 0), ns.prim.take(fp, order, 0)
        ends = ns.subtract(along(ns, xp, 0, n - 1, n), period), ns.add(along(ns, xp, 0, 0, 1), period)
        xp = ns.prim.concatenate([ends[0], xp, ends[1]], 0)
        fp = ns.prim.concatenate([along(ns, fp, 0, n - 1, n), fp, along(ns, fp, 0, 0, 1)], 0)
        n += 2
    shape = ns.shape_of(x)
    x = flat(ns, x)
    first, last = along(ns, xp, 0, 0, 1), along(ns, xp, 0, n - 1, n)
    below = along(ns, fp, 0, 0, 1) if left is None else _float(ns, left, dtypes.FLOAT64, x)
    above = along(ns, fp, 0, n - 1, n) if right is None else _float(ns, right, dtypes.FLOAT64, x)
    if n == 1:
        result = ns.prim.broadcast_to(fp, ns.shape_of(x))
    else:
        found = ns.subtract(ns.prim.searchsorted(xp, x, "right"), 1)
        j = ns.minimum(ns.maximum(found, 0), n - 2)
        k = ns.add(j, 1)
        x0, x1, f0, f1 = ns.prim.take(xp, j, 0), ns.prim.take(xp, k, 0), ns.prim.take(fp, j, 0), ns.prim.take(fp, k, 0)
        with np.errstate(all="ignore"):  # NumPy reports none of these steps
            slope = ns.true_divide(ns.subtract(f1, f0), ns.subtract(x1, x0))
            result = ns.add(ns.multiply(slope, ns.subtract(x, x0)), f0)
            # As in NumPy: if infinities cancelled, compute from the other end; if both ends are equal, take their value.
            other = ns.add(ns.multiply(slope, ns.subtract(x, x1)), f1)
        bad = ns.isnan(result)
        result = ns.prim.where(bad, other, result)
        result = ns.prim.where(ns.logical_and(ns.isnan(result), ns.equal(f0, f1)), f0, result)
        ends = ns.equal(x, x0), ns.equal(x, last)
        at_start, at_last = f0, along(ns, fp, 0, n - 1, n)
        if any(ns.backend.recorded(y) for y in (x, xp, fp)):  # the derivative at a knot is the slope beside it
            steady = ns.isfinite(slope)
            at_start = ns.prim.where(steady, _moving(ns, ns.multiply(slope, ns.subtract(x, x0)), f0), f0)
            at_last = ns.prim.where(steady, _moving(ns, ns.multiply(slope, ns.subtract(x, x1)), f1), at_last)
        result = ns.prim.where(ends[0], at_start, result)
        result = ns.prim.where(ends[1], at_last, result)
    result = ns.prim.where(ns.less(x, first), below, result)
    result = ns.prim.where(ns.greater(x, last), above, result)
    return ns.prim.reshape(ns.prim.where(ns.isnan(x), x, result), shape)


def _moving(ns: Any, step: Native, f: Native) -> Native:
    """Add a step of value zero to ``f``: the result has the values of ``f``, with the signs of zeros, and the derivative of the step."""
    mirrored = ns.negative(ns.subtract(ns.negative(f), step))
    return ns.prim.where(ns.signbit(f), mirrored, ns.add(step, f))


def _interp_complex(ns: Any, x: Any, xp: Any, fp: Native, left: Any, right: Any, period: Any) -> Native:
    """Compute ``np.interp`` for complex ``fp``: the real and the imaginary parts separately, so that an infinity in one part does not affect
    the other part.
    """

    def part(y: Any, name: str) -> Any:
        return y if y is None else getattr(ns.prim, name)(_float(ns, y, dtypes.COMPLEX128, fp))

    x = _float(ns, x, dtypes.FLOAT64, fp)
    real, imag = (
        interp(ns, x, xp, part(fp, name), part(left, name), part(right, name), period) for name in ("real", "imag")
    )
    zero = filled(ns, (), 0.0, dtypes.FLOAT64, fp)
    return ns.prim.complex(real, ns.prim.where(ns.isnan(x), zero, imag))


@implements(np.digitize, tables=(1,), returns="scalar")
def digitize(xp: Any, x: Any, bins: Any, right: bool = False) -> Native:
    x, bins = arrays(xp, x, bins)
    if dtypes.category(xp.dtype_of(x)) == "complex":
        raise TypeError("x may not be complex")
    dtypes.check_cast(xp.dtype_of(bins), dtypes.FLOAT64)
    shape = xp.shape_of(bins)
    if len(shape) != 1:
        raise ValueError(f"object {'of too small depth' if not shape else 'too deep'} for desired array")
    side = "left" if right else "right"
    n = shape[0]
    to = dtypes.promote(xp.dtype_of(bins), xp.dtype_of(x))
    if not n or 0 in xp.shape_of(x):
        return filled(xp, xp.shape_of(x), 0, INTP, x)
    if to == BOOL:
        to = np.dtype(np.uint8)
    bins, x = xp.prim.astype(bins, to), xp.prim.astype(x, to)
    if is_concrete(xp, bins):
        host = to_host(xp, bins).astype(np.float64)
        others = host[1:][host[1:] != host[0]]
        down = bool(others.size and not host[0] < others[0])
        if (host[:-1] < host[1:]).any() if down else (host[:-1] > host[1:]).any():
            raise ValueError("bins must be monotonically increasing or decreasing")
        if not down:
            return xp.prim.searchsorted(bins, x, side)
        return xp.subtract(n, xp.prim.searchsorted(xp.prim.flip(bins, (0,)), x, side))
    down_traced = xp.less(along(xp, bins, 0, n - 1, n), along(xp, bins, 0, 0, 1))
    rising = xp.prim.where(down_traced, xp.prim.flip(bins, (0,)), bins)
    at = xp.prim.searchsorted(rising, x, side)
    return xp.prim.where(xp.prim.reshape(down_traced, ()), xp.subtract(n, at), at)
