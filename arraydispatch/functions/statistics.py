"""Order statistics and correlations (NumPy's reference topic "Statistics"; its averages and variances: ``averages``).

If the requested quantiles are concrete, NumPy computes on the host which elements they lie between and with which weights
(a few numbers), and the device sorts, picks and interpolates. ``quantile_methods`` has the formulas.
"""

from __future__ import annotations

import math
from itertools import repeat
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from ..backends.base import Native
from ..common import tracing
from ..runtime import dtypes
from . import layouts
from .averages import average, checked_weights, mean, nanmean, report, warn_all_nan, warn_if
from .joining import concatenate
from .operands import element, warn_of_nan
from .quantile_methods import Method, method_named
from .reductions import NoValue, known_any, reduced
from .registry import XP, implements

Shape = tuple[int, ...]

# -- extent, median ------------------------------------------------------------------------------------------------------------


@implements(np.ptp, writer=np.subtract, layout=layouts.reduced, error="spread", returns="scalar")
def ptp(xp: XP, a: Any, axis: Any = None, keepdims: Any = NoValue) -> Native:
    """`numpy.ptp`."""
    a = xp.asarray(a)
    high = reduced(xp, xp.maximum, a, axis, None, keepdims)
    return xp.subtract(high, reduced(xp, xp.minimum, a, axis, None, keepdims))


def _lanes(xp: XP, a: Native, axis: Any, keepdims: Any) -> tuple[Native, Shape]:
    """Merge the axes to reduce and move them last; also return the shape of the result."""
    shape = xp.shape_of(a)
    kept = keepdims and keepdims is not NoValue
    if axis is None:
        return xp.prim.reshape(a, (math.prod(shape),)), (1,) * len(shape) if kept else ()
    axes = normalize_axis_tuple(axis, len(shape))
    rest = tuple(i for i in range(len(shape)) if i not in axes)
    lanes = a
    if axes != (len(shape) - 1,):
        lanes = xp.prim.transpose(a, rest + tuple(sorted(axes)))
        if len(axes) != 1:
            lanes = xp.prim.reshape(lanes, (*(shape[i] for i in rest), math.prod([shape[i] for i in axes])))
    if kept:
        return lanes, tuple(1 if i in axes else n for i, n in enumerate(shape))
    return lanes, tuple(shape[i] for i in rest)


def _kept(keepdims: Any) -> bool:
    return keepdims is not NoValue and bool(keepdims)


def _sorted(xp: XP, lanes: Native) -> Native:
    last = lanes.ndim - 1
    if xp.dtype_of(lanes) == dtypes.BOOL:
        return xp.prim.astype(xp.prim.sort(xp.prim.astype(lanes, np.dtype(np.uint8)), last), dtypes.BOOL)
    return xp.prim.sort(lanes, last)


def _or_nan(xp: XP, last: Native, result: Native) -> Native:
    """Return the result, or NaN where ``last``, the last element in sorted order, is NaN (NaNs sort last)."""
    if not dtypes.is_floating(xp.dtype_of(last)):
        return result
    return xp.prim.where(xp.isnan(last), xp.prim.astype(last, xp.dtype_of(result)), result)


def _of_nothing(xp: XP, a: Native, func: Any, *args: Any, **kwargs: Any) -> Native:
    """Return NumPy's result for an array without elements, or raise its error; both depend only on shape and dtype.

    NumPy may warn at each call, so the call must not be recorded: during abstract evaluation, return ``a``.
    """
    if tracing.looked():
        return a
    empty = np.empty(xp.shape_of(a), xp.dtype_of(a))
    return xp.asarray(np.asarray(func(empty, *args, **kwargs)), like=a)


@implements(np.median, into=("divides",), apart=True, layout=layouts.copied, returns="scalar")
def median(xp: XP, a: Any, axis: Any = None, overwrite_input: Any = False, keepdims: Any = False) -> Native:
    """`numpy.median`."""
    a = xp.asarray(a)
    lanes, shape = _lanes(xp, a, axis, keepdims)
    prim, given, held = xp.prim, xp.dtype_of(a), xp.shape_of(lanes)
    if 0 in held:
        return _of_nothing(xp, a, np.median, axis, keepdims=keepdims)
    lanes, n = _sorted(xp, lanes), held[-1]
    inexact = dtypes.inexact(given)
    wide = dtypes.widen_half(inexact)
    every = tuple(map(slice, repeat(0), held[:-1], repeat(1)))
    middle = prim.slice(lanes, (*every, slice(n // 2, n // 2 + 1, 1)))
    if given != wide:
        middle = prim.astype(middle, wide)
    if n % 2 == 0:
        below = prim.slice(lanes, (*every, slice(n // 2 - 1, n // 2, 1)))
        total = xp.add(below if given == wide else prim.astype(below, wide), middle)
        middle = xp.multiply(total, 0.5) if wide.kind == "f" else xp.true_divide(total, 2.0)
    if given == inexact:
        last = prim.slice(lanes, (*every, slice(n - 1, n, 1)))
        middle = _or_nan(xp, last, middle if given == wide else prim.astype(middle, given))
    return prim.reshape(middle, shape)


@implements(np.nanmedian, into=("casts", "fills"), returns="scalar")
def nanmedian(xp: XP, a: Any, axis: Any = None, overwrite_input: Any = False, keepdims: Any = NoValue) -> Native:
    """`numpy.nanmedian`."""
    a = xp.asarray(a)
    if 0 in xp.shape_of(a):
        return nanmean(xp, a, axis, keepdims=keepdims)
    given = xp.dtype_of(a)
    if not dtypes.is_floating(given):
        return median(xp, a, axis, overwrite_input, _kept(keepdims))
    lanes, shape = _lanes(xp, a, axis, keepdims)
    lanes, count = _without_nans(xp, lanes)
    low = xp.maximum(xp.floor_divide(xp.subtract(count, 1), 2), 0)
    high = xp.floor_divide(count, 2)
    # An all-NaN lane has `high` 0 and picks a NaN; an odd count picks one element twice, whose sum might overflow.
    axis = xp.ndim_of(lanes) - 1
    wide = dtypes.widen_half(given)
    left = xp.prim.astype(xp.prim.take_along_axis(lanes, low, axis), wide)
    right = xp.prim.astype(xp.prim.take_along_axis(lanes, high, axis), wide)
    with np.errstate(invalid="ignore"):  # the sum of two NaNs of float16
        middle = xp.prim.where(xp.equal(low, high), left, xp.true_divide(xp.add(left, right), 2.0))
    return xp.prim.reshape(xp.prim.astype(middle, given), shape)


def _without_nans(xp: XP, lanes: Native) -> tuple[Native, Native]:
    """Sort the lanes and count their elements that are not NaN, in a last axis of length 1; warn if a lane has only NaN."""
    lanes = _sorted(xp, lanes)
    real = xp.logical_not(xp.isnan(lanes))
    count = xp.add.reduce(real, axis=-1, dtype=dtypes.INTP, keepdims=True)
    warn_all_nan(xp, xp.equal(count, 0))
    return lanes, count


# -- quantiles ---------------------------------------------------------------------------------------------------------


def _concrete(xp: XP, q: Any) -> Any:
    """Return quantiles as an ndarray if they are concrete, else as a native array."""
    if isinstance(q, list | tuple):
        q = [_concrete(xp, x) for x in q]
        if any(xp.is_array(x) for x in q):
            q = xp.asarray(q)
    if xp.is_array(q):
        return xp.backend.to_numpy(q) if xp.backend.is_concrete(q) else q
    return np.asanyarray(q)


def _check_quantiles(q: Any, message: str) -> None:
    """Raise ValueError if a quantile is outside [0, 1]; a native array, whose values are traced, is not checked."""
    if not isinstance(q, np.ndarray):
        return
    if q.ndim == 1:
        valid = all(0.0 <= x <= 1.0 for x in q) if q.size < 10 else bool(q.min() >= 0 and q.max() <= 1)
    else:
        valid = bool(q.min() >= 0 and q.max() <= 1)
    if not valid:
        raise ValueError(message)


def _quantiles(
    xp: XP, a: Any, q: Any, axis: Any, method: Any, keepdims: Any, weights: Any, percent: bool, skip_nans: bool
) -> Native:
    """Implement quantile, percentile, nanquantile and nanpercentile."""
    a = xp.asarray(a)
    dtype = xp.dtype_of(a)
    if dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    weak = type(q) in (int, float)
    q = _concrete(xp, q)
    if percent:
        q = np.true_divide(q, 100, out=...) if isinstance(q, np.ndarray) else xp.true_divide(q, 100)
    _check_quantiles(
        q, "Percentiles must be in the range [0, 100]" if percent else "Quantiles must be in the range [0, 1]"
    )
    if weights is not None:
        if method != "inverted_cdf":
            raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
        if axis is not None:
            axis = normalize_axis_tuple(axis, xp.ndim_of(a), argname="axis")
        weights = checked_weights(xp, weights, a, axis)
        if known_any(xp, xp.less(weights, 0)):
            raise ValueError("Weights must be non-negative.")
    if 0 in xp.shape_of(a):
        if skip_nans:
            return nanmean(xp, a, axis, keepdims=keepdims)
        some: Any = q if isinstance(q, np.ndarray) else np.full(xp.shape_of(q), 0.5)
        some = float(some) if weak else some
        return _of_nothing(xp, a, np.quantile, some, axis, method=method, keepdims=keepdims)
    lanes, shape = _lanes(xp, a, axis, keepdims)
    asked = q.shape if isinstance(q, np.ndarray) else xp.shape_of(q)
    if len(asked) > 2:
        raise ValueError("q must be a scalar or 1d")
    size = (math.prod(asked),)
    flat = q.reshape(size) if isinstance(q, np.ndarray) else xp.prim.reshape(q, size)
    skip_nans = skip_nans and dtypes.is_floating(dtype)
    if weights is not None:
        weights, _ = _lanes(xp, xp.prim.broadcast_to(weights, xp.shape_of(a)), axis, keepdims)
        result = _weighted(xp, lanes, weights, flat, skip_nans)
    elif skip_nans:
        lanes, count = _without_nans(xp, lanes)
        result = _interpolated(
            xp, lanes, count, xp.asarray(flat, like=a), method_named(method), weak, method == "linear"
        )
    elif isinstance(flat, np.ndarray):
        result = _picked(xp, _sorted(xp, lanes), flat, method_named(method), weak, method == "linear")
    else:
        count = xp.shape_of(lanes)[-1]
        lanes = _sorted(xp, lanes)
        result = _interpolated(xp, lanes, count, flat, method_named(method), weak, method == "linear")
        result = _or_nan(xp, xp.prim.reshape(element(xp, lanes, count - 1), (*xp.shape_of(lanes)[:-1], 1)), result)
    return _quantiles_first(xp, result, asked, shape)


def _quantiles_first(xp: XP, result: Native, asked: Shape, shape: Shape) -> Native:
    """Move the axis of quantiles from the end to NumPy's position, the beginning."""
    if not asked:
        return xp.prim.reshape(result, shape)
    ndim = xp.ndim_of(result)
    if ndim > 1:
        result = xp.prim.transpose(result, (ndim - 1, *range(ndim - 1)))
    return xp.prim.reshape(result, asked + shape)


def _picked(xp: XP, lanes: Native, q: np.ndarray[Any, Any], method: Method, weak: bool, linear: bool) -> Native:
    """Compute concrete quantiles ``q`` of sorted lanes: NumPy computes the elements' indices and weights, the library interpolates.

    ``weak``: whether ``q`` was a Python number. ``linear``: whether the method's name is "linear".
    """
    n = xp.shape_of(lanes)[-1]
    index = method.place(np, n, q)
    last = element(xp, lanes, n - 1)
    column = xp.prim.reshape(last, (*xp.shape_of(last), 1))
    if method.weight is None or (linear and index.dtype.kind in "iu"):
        return _or_nan(xp, column, _columns(xp, lanes, np.maximum(index.astype(np.intp), 0)))
    left = np.floor(index)
    right = left + 1
    left[index >= n - 1] = right[index >= n - 1] = n - 1
    left[index < 0] = right[index < 0] = 0
    # NumPy replaces the index of the last element by -1, and computes the fraction from -1.
    fraction = index - np.where(index >= n - 1, -1, left).astype(np.intp)
    weight = np.asarray(method.weight(np, fraction, index), index.dtype)
    below = _columns(xp, lanes, left.astype(np.intp))
    above = _columns(xp, lanes, right.astype(np.intp))
    return _or_nan(xp, column, _blended(xp, below, above, float(weight[0]) if weak else weight))


def _columns(xp: XP, lanes: Native, index: np.ndarray[Any, Any]) -> Native:
    """Take the elements at positions ``index`` of each lane, along the last axis of the result."""
    if index.size == 1:
        shape, i = xp.shape_of(lanes), int(index[0])
        return xp.prim.slice(lanes, (*(slice(0, n, 1) for n in shape[:-1]), slice(i, i + 1, 1)))
    return xp.prim.take(lanes, xp.asarray(index, like=lanes), xp.ndim_of(lanes) - 1)


def _blended(xp: XP, below: Native, above: Native, weight: Any) -> Native:
    """Interpolate linearly between ``below`` and ``above`` from the nearer of the two, as NumPy does: exact at both ends."""
    step = xp.subtract(above, below)
    if isinstance(weight, float):
        if weight >= 0.5:
            return xp.subtract(above, xp.multiply(step, 1 - weight))
        return xp.add(below, xp.multiply(step, weight))
    near = weight >= 0.5 if isinstance(weight, np.ndarray) else xp.greater_equal(weight, 0.5)
    rest = 1 - weight if isinstance(weight, np.ndarray) else xp.subtract(1, weight)
    from_below = xp.add(below, xp.multiply(step, xp.asarray(weight, like=below)))
    from_above = xp.subtract(above, xp.multiply(step, xp.asarray(rest, like=below)))
    near = xp.prim.broadcast_to(xp.asarray(near, like=below), xp.shape_of(from_below))
    return xp.prim.where(near, from_above, from_below)


def _interpolated(xp: XP, lanes: Native, count: Any, q: Native, method: Method, weak: bool, linear: bool) -> Native:
    """Compute quantiles of sorted lanes on the device, if the counts of the lanes differ or the quantiles are not concrete.

    ``count`` is an int or, for each lane, an int64 in a last axis of length 1; ``q`` is 1-d.
    """
    n = count
    if not isinstance(count, int) and dtypes.is_floating(xp.dtype_of(q)):
        n = xp.prim.astype(count, xp.dtype_of(q))
    index = method.place(xp, n, q)
    last = count - 1 if isinstance(count, int) else xp.subtract(count, 1)
    if method.weight is None or (linear and xp.dtype_of(index).kind in "iu"):
        return _along(xp, lanes, index, last)
    left = xp.prim.astype(xp.floor(index), dtypes.INTP)
    fraction = xp.subtract(index, left)
    weight = xp.prim.astype(method.weight(xp, fraction, index), xp.dtype_of(index))
    below, above = _along(xp, lanes, left, last), _along(xp, lanes, xp.add(left, 1), last)
    if weak:  # a Python scalar does not affect the dtype of the result
        weight = xp.prim.astype(weight, dtypes.inexact(xp.dtype_of(lanes)))
    return _blended(xp, below, above, weight)


def _along(xp: XP, lanes: Native, index: Native, last: Any) -> Native:
    index = xp.maximum(xp.minimum(xp.prim.astype(index, dtypes.INTP), last), 0)
    shape = xp.shape_of(lanes)
    if xp.ndim_of(index) == 1 and len(shape) > 1:
        return xp.prim.take(lanes, index, len(shape) - 1)
    return xp.prim.take_along_axis(lanes, index, len(shape) - 1)


def _weighted(xp: XP, lanes: Native, weights: Native, q: Any, skip_nans: bool) -> Native:
    """Compute weighted quantiles by inverting the weighted distribution function of each lane."""
    prim = xp.prim
    axis = xp.ndim_of(lanes) - 1
    n = xp.shape_of(lanes)[-1]
    order = prim.argsort(lanes, axis)
    lanes, weights = prim.take_along_axis(lanes, order, axis), prim.take_along_axis(weights, order, axis)
    last: Any = n - 1
    weights = prim.astype(weights, dtypes.FLOAT64)
    lost: Any = None
    if skip_nans:
        nans = xp.isnan(lanes)
        count = xp.add.reduce(xp.logical_not(nans), axis=-1, dtype=dtypes.INTP, keepdims=True)
        lost = xp.equal(count, 0)
        warn_all_nan(xp, lost)
        weights = prim.where(nans, prim.full((), 0.0, dtypes.FLOAT64, xp.backend.device_of(lanes)), weights)
        last = xp.maximum(xp.subtract(count, 1), 0)
    cdf = xp.add.accumulate(weights, axis=axis)
    total = prim.reshape(element(xp, cdf, n - 1), (*xp.shape_of(lanes)[:-1], 1))
    undefined = xp.logical_not(xp.logical_and(xp.isfinite(total), xp.not_equal(total, 0)))
    if known_any(xp, undefined if lost is None else xp.logical_and(undefined, xp.logical_not(lost))):
        raise ValueError("Weights included NaN, inf or were all zero.")
    with np.errstate(invalid="ignore"):  # a lane without any weight gives 0/0
        cdf = xp.true_divide(cdf, total)
    kind = q.dtype if isinstance(q, np.ndarray) else xp.dtype_of(q)
    if kind.kind == "f":
        cdf = prim.astype(cdf, kind)
    # The quantile 0 is the first element with a weight, not the first element.
    cdf = prim.where(xp.equal(cdf, 0), prim.full((), -1, xp.dtype_of(cdf), xp.backend.device_of(cdf)), cdf)
    columns = []
    for i in range(q.shape[0] if isinstance(q, np.ndarray) else xp.shape_of(q)[0]):
        level = q[i] if isinstance(q, np.ndarray) else element(xp, q, i)
        below = xp.add.reduce(xp.less(cdf, level), axis=-1, dtype=dtypes.INTP, keepdims=True)
        columns.append(xp.minimum(below, last))
    if not columns:
        return prim.full((*xp.shape_of(lanes)[:-1], 0), 0, xp.dtype_of(lanes), xp.backend.device_of(lanes))
    result = prim.take_along_axis(lanes, prim.concatenate(columns, axis), axis)
    greatest = prim.reshape(element(xp, lanes, n - 1), xp.shape_of(total))
    return result if skip_nans else _or_nan(xp, greatest, result)


@implements(np.quantile, into=("fills",), writer=np.add, apart=True, layout=layouts.c, returns="scalar")
def quantile(
    xp: XP, a: Any, q: Any, axis: Any = None, overwrite_input: Any = False, method: Any = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Native:  # fmt: skip
    """`numpy.quantile`."""
    return _quantiles(xp, a, q, axis, method, keepdims, weights, percent=False, skip_nans=False)


@implements(np.percentile, into=("fills",), writer=np.add, apart=True, layout=layouts.c, returns="scalar")
def percentile(
    xp: XP, a: Any, q: Any, axis: Any = None, overwrite_input: Any = False, method: Any = "linear",
    keepdims: Any = False, *, weights: Any = None,
) -> Native:  # fmt: skip
    """`numpy.percentile`."""
    return _quantiles(xp, a, q, axis, method, keepdims, weights, percent=True, skip_nans=False)


@implements(np.nanquantile, into=("casts", "fills"), returns="scalar")
def nanquantile(
    xp: XP, a: Any, q: Any, axis: Any = None, overwrite_input: Any = False, method: Any = "linear",
    keepdims: Any = NoValue, *, weights: Any = None,
) -> Native:  # fmt: skip
    """`numpy.nanquantile`."""
    return _quantiles(xp, a, q, axis, method, keepdims, weights, percent=False, skip_nans=True)


@implements(np.nanpercentile, into=("casts", "fills"), returns="scalar")
def nanpercentile(
    xp: XP, a: Any, q: Any, axis: Any = None, overwrite_input: Any = False, method: Any = "linear",
    keepdims: Any = NoValue, *, weights: Any = None,
) -> Native:  # fmt: skip
    """`numpy.nanpercentile`."""
    return _quantiles(xp, a, q, axis, method, keepdims, weights, percent=True, skip_nans=True)


# -- correlation -------------------------------------------------------------------------------------------------------


def _observations(xp: XP, x: Any, dtype: np.dtype[Any]) -> Native:
    """Return the observations as a matrix with a variable in each row."""
    shape = xp.shape_of(x)
    return xp.prim.astype(xp.prim.reshape(x, shape if len(shape) == 2 else (1, math.prod(shape))), dtype)


def _sample_weights(xp: XP, weights: Any, samples: int, name: str, like: Native) -> Native:
    weights = xp.prim.astype(xp.asarray(weights, like=like), dtypes.FLOAT64)
    if name == "fweights" and known_any(xp, xp.not_equal(weights, xp.rint(weights))):
        raise TypeError("fweights must be integer")
    shape = xp.shape_of(weights)
    if len(shape) > 1:
        raise RuntimeError(f"cannot handle multidimensional {name}")
    if shape[0] != samples:
        raise RuntimeError(f"incompatible numbers of samples and {name}")
    if known_any(xp, xp.less(weights, 0)):
        raise ValueError(f"{name} cannot be negative")
    return weights


@implements(np.cov, error="square")
def cov(
    xp: XP, m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Native:  # fmt: skip
    """`numpy.cov`."""
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    m = xp.asarray(m)
    given = [xp.dtype_of(m)]
    if xp.ndim_of(m) > 2:
        raise ValueError("m has more than 2 dimensions")
    if y is not None:
        y = xp.asarray(y, like=m)
        given.append(xp.dtype_of(y))
        if xp.ndim_of(y) > 2:
            raise ValueError("y has more than 2 dimensions")
    to = dtypes.promote(*given, dtypes.FLOAT64) if dtype is None else np.dtype(dtype)
    x = _observations(xp, m, to)
    if not rowvar and xp.ndim_of(m) != 1:
        x = xp.prim.transpose(x, (1, 0))
    if xp.shape_of(x)[0] == 0:
        return xp.prim.full((0, 0), 0.0, dtypes.FLOAT64, xp.backend.device_of(m))
    if y is not None:
        other = _observations(xp, y, to)
        if not rowvar and xp.shape_of(other)[0] != 1:
            other = xp.prim.transpose(other, (1, 0))
        x = concatenate(xp, [x, other])
    samples = xp.shape_of(x)[1]
    if ddof is None:
        ddof = 1 if bias == 0 else 0
    w = None
    if fweights is not None:
        w = _sample_weights(xp, fweights, samples, "fweights", m)
    if aweights is not None:
        aweights = _sample_weights(xp, aweights, samples, "aweights", m)
        w = aweights if w is None else xp.multiply(w, aweights)
    if not dtypes.is_floating(to):
        raise TypeError(
            f"Cannot cast ufunc 'subtract' output from dtype('float64') to {to!r} with casting rule 'same_kind'"
        )
    centre, factor = _centre_and_factor(xp, x, w, aweights, ddof)
    x = xp.prim.astype(xp.subtract(x, xp.prim.reshape(centre, (*xp.shape_of(centre), 1))), to)
    right = x if w is None else xp.multiply(x, w)
    right = xp.prim.transpose(right, (1, 0))
    if xp.dtype_of(right).kind == "c":
        right = xp.conjugate(right)
    product = xp.prim.matmul(xp.prim.astype(x, xp.dtype_of(right)), right)
    if isinstance(factor, float) and math.isinf(factor):
        report(xp, np.true_divide, "divide", 1, 0.0)
        report(xp, np.multiply, "multiply", product, factor)
    dtype = xp.dtype_of(product)
    product = xp.prim.astype(xp.multiply(product, factor), dtype)
    return xp.prim.reshape(product, tuple(n for n in xp.shape_of(product) if n != 1))


def _centre_and_factor(xp: XP, x: Native, w: Native | None, aweights: Native | None, ddof: Any) -> tuple[Native, Any]:
    """Return the mean of each row, and one over the degrees of freedom."""
    if w is None:
        free = xp.shape_of(x)[1] - ddof
        if free <= 0:
            warn_of_nan(xp, "Degrees of freedom <= 0 for slice")
        return mean(xp, x, 1), 1 / free if free > 0 else math.inf
    centre, scale = average(xp, x, 1, w, returned=True)
    total = element(xp, scale, 0)
    if xp.dtype_of(total).kind == "c":
        total = xp.prim.real(total)
    if ddof == 0:
        free = total
    elif aweights is None:
        free = xp.subtract(total, ddof)
    else:
        free = xp.subtract(
            total, xp.true_divide(xp.multiply(reduced(xp, xp.add, xp.multiply(w, aweights), None), ddof), total)
        )
    warn_if(xp, xp.less_equal(free, 0), "Degrees of freedom <= 0 for slice")
    return centre, xp.true_divide(1.0, xp.maximum(free, 0.0))


@implements(np.corrcoef, error="spread", returns="scalar")
def corrcoef(xp: XP, x: Any, y: Any = None, rowvar: Any = True, *, dtype: Any = None) -> Native:
    """`numpy.corrcoef`."""
    c = cov(xp, x, y, rowvar, dtype=dtype)
    shape = xp.shape_of(c)
    if not shape:
        if known_any(xp, xp.equal(c, 0), wait=False):
            report(xp, np.true_divide, "divide", c, c)
        return xp.true_divide(c, c)
    n = shape[0]
    every = xp.prim.iota(n, dtypes.INTP, xp.backend.device_of(c))
    diagonal = xp.prim.gather(c, (every, every))
    is_complex = xp.dtype_of(c).kind == "c"
    deviation = xp.sqrt(xp.prim.real(diagonal) if is_complex else diagonal)
    if known_any(xp, xp.equal(deviation, 0), wait=False):
        report(xp, np.true_divide, "divide", c, xp.prim.reshape(deviation, (n, 1)))
    c = xp.true_divide(c, xp.prim.reshape(deviation, (n, 1)))
    c = xp.true_divide(c, xp.prim.reshape(deviation, (1, n)))
    if not is_complex:
        return _clipped(xp, c)
    return xp.prim.complex(_clipped(xp, xp.prim.real(c)), _clipped(xp, xp.prim.imag(c)))


def _clipped(xp: XP, x: Native) -> Native:
    """Clip to [-1, 1], which rounding may exceed."""
    return xp.minimum(xp.maximum(x, -1), 1)
