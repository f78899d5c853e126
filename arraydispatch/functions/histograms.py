"""Histograms and counting (NumPy's reference topic "Histograms").

Edges of bins of equal width depend on two numbers, the smallest and the largest element. These are fetched to the host, where
they are checked to be finite and NumPy computes the edges. The elements stay on the device. Elements out of range are counted
in an extra bin, which is dropped, so shapes do not depend on values.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends.base import Native, Unsupported
from ..common import events, tracing
from ..common.user_warnings import warn, warn_of_cast
from ..runtime import dtypes
from .operands import first_native, itself, sequence, wrapped
from .reductions import known_any, reduced
from .registry import XP, implements

_UNSIGNED = {np.dtype(f"i{size}"): np.dtype(f"u{size}") for size in (1, 2, 4, 8)}

# -- counting ----------------------------------------------------------------------------------------------------------


@implements(np.bincount, pure=False)
def bincount(xp: XP, x: Any, /, weights: Any = None, minlength: Any = 0) -> Native:
    """`numpy.bincount`."""
    if minlength is None:
        raise TypeError("use 0 instead of None for minlength")
    minlength = operator.index(minlength)
    known = _concrete(xp, x)
    x = _places(xp, x, weights)
    ndim = xp.ndim_of(x)
    if ndim != 1:
        raise ValueError(
            "object too deep for desired array" if ndim > 1 else "object of too small depth for desired array"
        )
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if not xp.shape_of(x)[0]:
        # NumPy ignores the weights here, so the result has the dtype of counts.
        return xp.prim.full((minlength,), 0, dtypes.INTP, xp.backend.device_of(x))
    if known is None:
        known = xp.backend.awaited(x)  # two extrema would be waited for one by one
    if known is not None:
        low, high = known.min(), known.max()
    elif xp.backend.is_concrete(x):
        low, high = _fetched(xp, reduced(xp, xp.minimum, x, None)), _fetched(xp, reduced(xp, xp.maximum, x, None))
    else:
        raise Unsupported("the length of its result depends on values")
    if low < 0:
        raise ValueError("'list' argument must have no negative elements")
    if weights is not None:
        weights = _as_weights(xp, weights, x)
        if xp.shape_of(weights) != xp.shape_of(x):
            raise ValueError("The weights and list don't have the same length.")
        return _summed(xp, x, weights, max(int(high) + 1, minlength))
    return xp.prim.bincount(x, None, max(int(high) + 1, minlength))


def _concrete(xp: XP, x: Any) -> np.ndarray[Any, Any] | None:
    """Return the values of ``x`` if a trace is running, and they are concrete or the trace remembers them; else None."""
    if not tracing.entered():
        return None
    if xp.is_array(x):
        found = tracing.known(x)
        return np.asarray(xp.backend.to_numpy(x)) if found is None and xp.backend.is_concrete(x) else found
    return np.asarray(x) if first_native(xp, (x,)) is None else None


def _summed(xp: XP, places: Native, weights: Native, length: int) -> Native:
    """Compute ``np.bincount(places, weights)``, with a result of the given length."""
    if not xp.backend.recorded(weights):
        return xp.prim.bincount(places, weights, length)
    # No library's `bincount` has a derivative, but `scatter` has.
    empty = xp.prim.full((length,), 0, xp.dtype_of(weights), xp.backend.device_of(places))
    return xp.prim.scatter(empty, (places,), weights, "add")


def _places(xp: XP, x: Any, weights: Any) -> Native:
    if xp.is_array(x):
        dtype = xp.dtype_of(x)
        if dtype.kind not in "iub" and xp.ndim_of(x) == 1:
            dtypes.check_cast(dtype, dtypes.INTP)
        return xp.prim.astype(x, dtypes.INTP)
    # NumPy does not apply the casting rule 'safe' to lists.
    return xp.prim.astype(xp.asarray(x, like=weights if xp.is_array(weights) else None), dtypes.INTP)


def _as_weights(xp: XP, weights: Any, x: Native) -> Native:
    weights = xp.asarray(weights, like=x)
    dtypes.check_cast(xp.dtype_of(weights), dtypes.FLOAT64)
    return xp.prim.astype(weights, dtypes.FLOAT64)


def _counted(xp: XP, places: Native, weights: Native | None, length: int) -> Native:
    """Compute ``np.bincount(places, weights)``, with a result of the given length and of the dtype of the weights."""
    if weights is None:
        return xp.prim.bincount(places, None, length)
    dtype = xp.dtype_of(weights)
    if dtype.kind == "c":
        parts = [xp.prim.astype(part, dtypes.FLOAT64) for part in (xp.prim.real(weights), xp.prim.imag(weights))]
        re, im = [_summed(xp, places, part, length) for part in parts]
        return xp.prim.astype(xp.prim.complex(re, im), dtype)
    return xp.prim.astype(_summed(xp, places, xp.prim.astype(weights, dtypes.FLOAT64), length), dtype)


# -- edges -------------------------------------------------------------------------------------------------------------


def _fetched(xp: XP, x: Any) -> Any:
    """Return a 0-d native array as a NumPy scalar; Python and NumPy scalars unchanged."""
    return xp.backend.to_numpy(x)[()] if xp.is_array(x) else x


def _difference(xp: XP, a: Any, b: Any) -> Any:
    """Compute ``a - b`` of NumPy scalars or native arrays. For signed integers the result is unsigned, so that it fits."""
    native = xp.is_array(a) or xp.is_array(b)
    kinds = [xp.dtype_of(x) if xp.is_array(x) else dtypes.operand_type(x) for x in (a, b)]
    to = dtypes.promote(*kinds)
    unsigned = _UNSIGNED.get(to)
    subtract = xp.subtract if native else np.subtract
    if unsigned is None:
        return subtract(a, b, dtype=to)
    if not native:
        return subtract(np.asarray(a, dtype=to), np.asarray(b, dtype=to), casting="unsafe", dtype=unsigned)
    like = a if xp.is_array(a) else b
    return subtract(*(xp.prim.astype(xp.asarray(x, like=like), unsigned) for x in (a, b)))


def _raveled(xp: XP, a: Any, weights: Any) -> tuple[Native, Native | None]:
    a = xp.asarray(a)
    shape = xp.shape_of(a)
    flat = (math.prod(shape),)
    if xp.dtype_of(a) == dtypes.BOOL:
        warn(f"Converting input from {dtypes.BOOL} to {np.uint8} for compatibility.")
        a = xp.prim.astype(a, np.dtype(np.uint8))
    if weights is not None:
        weights = xp.asarray(weights, like=a)
        if xp.shape_of(weights) != shape:
            raise ValueError("weights should have the same shape as a.")
        weights = xp.prim.reshape(weights, flat)
    return xp.prim.reshape(a, flat), weights


def _outer_edges(xp: XP, a: Native, limits: Any) -> tuple[Any, Any]:
    """Return the first and the last edge, as scalars if the data is concrete, otherwise as 0-d arrays."""
    first: Any
    last: Any
    if limits is not None:
        first, last = (_fetched(xp, x) for x in limits)
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"supplied range of [{first}, {last}] is not finite")
    elif 0 in xp.shape_of(a):
        first, last = 0, 1
    else:
        first, last = reduced(xp, xp.minimum, a, None), reduced(xp, xp.maximum, a, None)
        if not xp.backend.is_concrete(a):
            half = xp.prim.astype(xp.equal(first, last), dtypes.inexact(xp.dtype_of(a)))
            half = xp.multiply(half, 0.5)
            return xp.subtract(first, half), xp.add(last, half)
        first, last = _fetched(xp, first), _fetched(xp, last)
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"autodetected range of [{first}, {last}] is not finite")
    if first == last:
        first, last = first - 0.5, last + 0.5
    return first, last


def _even_edges(xp: XP, first: Any, last: Any, bins: int, dtype: Any, like: Native) -> Native:
    """Compute ``linspace(first, last, bins + 1)`` on the device of ``like``."""
    if not xp.is_array(first):
        edges = np.linspace(first, last, bins + 1, endpoint=True, dtype=dtype)
        if dtype is not None and (edges[:-1] >= edges[1:]).any():
            raise ValueError(f"Too many bins for data range. Cannot create {bins} finite-sized bins.")
        return xp.asarray(edges, like=like)
    wide = dtypes.inexact(xp.dtype_of(first)) if dtype is None else dtype
    first, last = xp.prim.astype(first, wide), xp.prim.astype(last, wide)
    steps = xp.prim.iota(bins, wide, xp.backend.device_of(like))
    inner = xp.add(xp.multiply(steps, xp.true_divide(xp.subtract(last, first), bins)), first)
    return xp.prim.concatenate([inner, xp.prim.reshape(last, (1,))], 0)


def _given_edges(xp: XP, bins: Any, like: Native, message: str) -> Native:
    """Return ``bins``, the caller's edges, as a native array, on the device of ``like`` if it was not one. Raise ValueError if the edges are
    concrete and decrease somewhere.
    """
    edges = xp.asarray(bins, like=like)
    n = xp.shape_of(edges)[0]
    if n > 1:
        left, right = xp.prim.slice(edges, (slice(0, n - 1, 1),)), xp.prim.slice(edges, (slice(1, n, 1),))
        if known_any(xp, xp.greater(left, right)):
            raise ValueError(message)
    return edges


def _dimensions(xp: XP, x: Any) -> int:
    if xp.is_array(x):
        return xp.ndim_of(x)
    if isinstance(x, list | tuple):
        return 1 + max((_dimensions(xp, y) for y in x), default=0)
    return np.ndim(x)


def _ndim(x: Any) -> int:
    """Return the number of dimensions of an array; -1 for anything else."""
    return len(x.shape) if isinstance(x, Handle | np.ndarray) else -1  # type: ignore[union-attr]


def _kept(edges: Any, bins: Any) -> Any:
    """Return the caller's own array of edges if ``bins`` is one, as NumPy does, else ``edges``."""
    return itself(_ndim(bins) == 1, edges, bins)


def _all_kept(edges: list[Any], bins: Any) -> list[Any]:
    given: Any = bins if isinstance(bins, list | tuple) or _ndim(bins) > 0 else ()
    return [_kept(mine, theirs) for mine, theirs in zip(edges, given)] if len(given) == len(edges) else edges


def _bin_edges(xp: XP, a: Native, bins: Any, limits: Any, weights: Any) -> tuple[Native, tuple[Any, Any, int] | None]:
    """Return the edges, and (first edge, last edge, number of bins) if all bins have the same width, else None."""
    if isinstance(bins, str):
        if bins not in _ESTIMATORS:
            raise ValueError(f"{bins!r} is not a valid estimator for `bins`")
        if weights is not None:
            raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
        first, last = _outer_edges(xp, a, limits)
        count = _estimated(xp, a, bins, limits, first, last)
    elif _dimensions(xp, bins) == 0:
        try:
            count = operator.index(_fetched(xp, bins))
        except TypeError as error:
            raise TypeError("`bins` must be an integer, a string, or an array") from error
        if count < 1:
            raise ValueError("`bins` must be positive, when an integer")
        first, last = _outer_edges(xp, a, limits)
    elif _dimensions(xp, bins) == 1:
        return _given_edges(xp, bins, a, "`bins` must increase monotonically, when an array"), None
    else:
        raise ValueError("`bins` must be 1d, when an array")
    kinds = [xp.dtype_of(x) if xp.is_array(x) else dtypes.operand_type(x) for x in (first, last)]
    dtype = dtypes.inexact(dtypes.promote(*kinds, xp.dtype_of(a)))
    return _even_edges(xp, first, last, count, dtype, a), (first, last, count)


@implements(np.histogram_bin_edges, pure=False, keeps=lambda edges, a, bins=10, *_, **__: _kept(edges, bins))
def histogram_bin_edges(xp: XP, a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Native:
    """`numpy.histogram_bin_edges`."""
    a, weights = _raveled(xp, a, weights)
    return _bin_edges(xp, a, bins, range, weights)[0]


# -- estimators of the number of bins ----------------------------------------------------------------------------------


def _estimated(xp: XP, a: Native, name: str, limits: Any, first: Any, last: Any) -> int:
    if not xp.backend.is_concrete(a):
        raise Unsupported(f"the number of bins that {name!r} gives depends on values")
    if limits is not None:
        inside = xp.logical_and(xp.greater_equal(a, first), xp.less_equal(a, last))
        a = xp.prim.mask(a, inside)
    if 0 in xp.shape_of(a):
        return 1
    if name == "stone":
        width = _stone(xp, a, first, last)
    else:
        with events.Body():  # NumPy's own code takes any array
            width = _ESTIMATORS[name](wrapped(xp, a), (first, last))
    if not width:
        return 1
    if xp.dtype_of(a).kind in "iu" and width < 1:
        width = 1
    return int(np.ceil(_difference(xp, last, first) / width))


_ESTIMATORS: dict[str, Any] = np.lib._histograms_impl._hist_bin_selectors  # type: ignore[attr-defined]
"""Name -> NumPy's estimator of the width of bins, a function of the array and its range."""


def _stone(xp: XP, x: Native, first: Any, last: Any) -> Any:
    """Estimate the width of bins between ``first`` and ``last`` by NumPy's rule "stone". All arrays of counts have one shape, for libraries
    that compile per shape.
    """
    n = xp.shape_of(x)[0]
    extent = _difference(xp, *(_fetched(xp, reduced(xp, ufunc, x, None)) for ufunc in (xp.maximum, xp.minimum)))
    if n <= 1 or extent == 0:
        return 0
    bound = max(100, int(np.sqrt(n)))
    dtype = dtypes.inexact(dtypes.promote(*map(dtypes.operand_type, (first, last)), xp.dtype_of(x)))

    def loss(bins: int) -> Any:
        edges = np.full(bound + 2, np.inf, dtype)
        edges[: bins + 1] = np.linspace(first, last, bins + 1, dtype=dtype)
        places = _even_places(xp, x, xp.asarray(edges, like=x), first, last, bins)
        share = xp.backend.to_numpy(xp.prim.bincount(places, None, bound + 2))[:bins] / n
        return (2 - (n + 1) * share.dot(share)) / (extent / bins)

    bins = min(range(1, bound + 1), key=loss)
    if bins == bound:
        warn("The number of bins estimated may be suboptimal.")
    return extent / bins


# -- histograms --------------------------------------------------------------------------------------------------------


def _even_places(xp: XP, a: Native, edges: Native, first: Any, last: Any, bins: int) -> Native:
    """Compute the index of each element's bin between ``first`` and ``last`` (``bins`` if it is out of range) by a division, corrected by
    comparison with the edges.
    """
    keep = xp.logical_and(xp.greater_equal(a, first), xp.less_equal(a, last))
    a = xp.prim.astype(a, xp.dtype_of(edges))
    position = xp.multiply(xp.true_divide(_difference(xp, a, first), _difference(xp, last, first)), bins)
    if warn_of_cast(xp.dtype_of(position), dtypes.INTP):
        position = xp.prim.real(position)
    nothing = xp.prim.full((), 0, xp.dtype_of(position), xp.backend.device_of(a))
    places = xp.prim.astype(xp.prim.where(keep, position, nothing), dtypes.INTP)
    places = xp.minimum(xp.maximum(places, 0), bins - 1)
    places = xp.subtract(places, xp.less(a, xp.prim.take(edges, places, 0)))
    places = xp.maximum(places, 0)
    beyond = xp.logical_and(
        xp.greater_equal(a, xp.prim.take(edges, xp.add(places, 1), 0)), xp.not_equal(places, bins - 1)
    )
    return _or_outside(xp, keep, xp.add(places, beyond), bins)


def _or_outside(xp: XP, keep: Native, places: Native, outside: int) -> Native:
    other = xp.prim.full((), outside, dtypes.INTP, xp.backend.device_of(places))
    return xp.prim.where(keep, xp.prim.astype(places, dtypes.INTP), other)


def _searched(xp: XP, edges: Native, a: Native) -> tuple[Native, Native]:
    """Return for each element the number of edges that are not greater than it, and whether it equals the last edge."""
    to = dtypes.promote(xp.dtype_of(edges), xp.dtype_of(a))
    edges, a = xp.prim.astype(edges, to), xp.prim.astype(a, to)
    n = xp.shape_of(edges)[0]
    last = xp.prim.slice(edges, (slice(n - 1, n, 1),))
    return xp.prim.searchsorted(edges, a, "right"), xp.equal(a, last)


def _uneven_places(xp: XP, a: Native, edges: Native, bins: int) -> Native:
    after, at_end = _searched(xp, edges, a)
    places = xp.prim.where(
        at_end, xp.prim.full((), bins - 1, dtypes.INTP, xp.backend.device_of(a)), xp.subtract(after, 1)
    )
    return _or_outside(xp, xp.logical_and(xp.greater_equal(places, 0), xp.less(places, bins)), places, bins)


@implements(np.histogram, pure=False, keeps=lambda made, a, bins=10, *_, **__: (made[0], _kept(made[1], bins)))
def histogram(
    xp: XP, a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Native, Native]:
    """`numpy.histogram`."""
    a, weights = _raveled(xp, a, weights)
    edges, even = _bin_edges(xp, a, bins, range, weights)
    count = xp.shape_of(edges)[0] - 1
    if count < 1:  # fewer than two edges
        dtype = dtypes.INTP if weights is None else xp.dtype_of(weights)
        return xp.prim.full((0,), 0, dtype, xp.backend.device_of(a)), edges
    if even is None:
        if weights is not None and xp.dtype_of(weights) == dtypes.BOOL:
            raise TypeError(
                "Cannot cast ufunc 'add' output from dtype('int64') to dtype('bool') with casting rule 'same_kind'"
            )
        places = _uneven_places(xp, a, edges, count)
    else:
        places = _even_places(xp, a, edges, *even)
    n = xp.prim.slice(_counted(xp, places, weights, count + 1), (slice(0, count, 1),))
    if not density:
        return n, edges
    if not count:
        return xp.prim.astype(n, dtypes.FLOAT64), edges
    widths = xp.prim.astype(_steps(xp, edges), dtypes.FLOAT64)
    return xp.true_divide(xp.true_divide(n, widths), reduced(xp, xp.add, n, None)), edges


def _steps(xp: XP, edges: Native) -> Native:
    n = xp.shape_of(edges)[0]
    return xp.subtract(xp.prim.slice(edges, (slice(1, n, 1),)), xp.prim.slice(edges, (slice(0, n - 1, 1),)))


def _sample(xp: XP, sample: Any) -> list[Native]:
    """Return the 1-d coordinates of an (N, D) array or of D sequences."""
    if xp.is_array(sample) and xp.ndim_of(sample) == 2:
        n, d = xp.shape_of(sample)
        columns = [xp.prim.slice(sample, (slice(0, n, 1), slice(i, i + 1, 1))) for i in range(d)]
        return [xp.prim.reshape(column, (n,)) for column in columns]
    rows = xp.asarray(sample)
    ndim = xp.ndim_of(rows)
    if ndim > 2:
        raise ValueError(f"too many values to unpack (expected 2, got {ndim})")
    if ndim < 2:
        return [xp.prim.reshape(rows, (math.prod(xp.shape_of(rows)),))]
    return sequence(xp, rows)


def _edges_of_dimension(xp: XP, x: Native, bins: Any, limits: Any, i: int) -> Native:
    ndim = _dimensions(xp, bins)
    if ndim == 1:
        return _given_edges(xp, bins, x, f"`bins[{i}]` must be monotonically increasing, when an array")
    if ndim:
        raise ValueError(f"`bins[{i}]` must be a scalar or 1d array")
    bins = _fetched(xp, bins)
    if bins < 1:
        raise ValueError(f"`bins[{i}]` must be positive, when an integer")
    first, last = _outer_edges(xp, x, limits)
    try:
        count = operator.index(bins)
    except TypeError as error:
        raise TypeError(f"`bins[{i}]` must be an integer, when a scalar") from error
    return _even_edges(xp, first, last, count, None, x)


@implements(
    np.histogramdd, keeps=lambda made, sample, bins=10, *_, **__: (made[0], _all_kept(made[1], bins)), sequence=True
)
def histogramdd(
    xp: XP, sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Native, list[Native]]:
    """`numpy.histogramdd`."""
    columns = _sample(xp, sample)
    ndim = len(columns)
    if _dimensions(xp, bins) == 0 and not isinstance(bins, str):
        bins = [bins] * ndim
    else:
        bins = sequence(xp, bins)
        if len(bins) != ndim:
            raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    if range is None:
        range = [None] * ndim
    elif _length(xp, range) != ndim:
        raise ValueError("range argument must have one entry per dimension")
    edges = [_edges_of_dimension(xp, x, b, limits, i) for i, (x, b, limits) in enumerate(zip(columns, bins, range))]
    shape = tuple(xp.shape_of(e)[0] + 1 for e in edges)  # with a bin for outliers on each side
    places: Any = 0
    for n, e, x in zip(shape, edges, columns):
        after, at_end = _searched(xp, e, x)
        places = xp.add(xp.multiply(places, n), xp.subtract(after, at_end))
    if weights is not None:
        weights = _as_weights(xp, weights, columns[0])
        if xp.shape_of(weights) != xp.shape_of(columns[0]):
            raise ValueError("The weights and list don't have the same length.")
    made = (
        xp.prim.bincount(places, None, math.prod(shape))
        if weights is None
        else _summed(xp, places, weights, math.prod(shape))
    )
    counts = xp.prim.astype(made, dtypes.FLOAT64)
    counts = xp.prim.slice(xp.prim.reshape(counts, shape), tuple(slice(1, n - 1, 1) for n in shape))
    if density:
        total = reduced(xp, xp.add, counts, None)
        for i, e in enumerate(edges):
            width = _steps(xp, e)
            ones = [1] * ndim
            ones[i] = shape[i] - 2
            counts = xp.true_divide(counts, xp.prim.reshape(width, tuple(ones)))
        counts = xp.true_divide(counts, total)
    return counts, edges


def _length(xp: XP, x: Any) -> int:
    """Return ``len(x)``, also of native arrays."""
    if not xp.is_array(x):
        return len(x)
    if not xp.ndim_of(x):
        raise TypeError("len() of unsized object")
    return xp.shape_of(x)[0]


def _both_kept(made: Any, x: Any, y: Any, bins: Any = 10, *_args: Any, **_kwargs: Any) -> Any:
    count, *edges = made
    return (count, *_all_kept(edges, [bins] * 2 if _ndim(bins) == 1 and bins.shape[0] != 2 else bins))


@implements(np.histogram2d, keeps=_both_kept)
def histogram2d(
    xp: XP, x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Native, Native, Native]:
    """`numpy.histogram2d`."""
    if _length(xp, x) != _length(xp, y):
        raise ValueError("x and y must have the same length.")
    try:
        parts = _length(xp, bins)
    except TypeError:
        parts = 1
    if parts not in {1, 2}:
        bins = [xp.asarray(bins, like=x if xp.is_array(x) else None)] * 2
    counts, edges = histogramdd(xp, [x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]
