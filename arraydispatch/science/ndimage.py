"""``scipy.ndimage``: filters as sums over shifted copies, computed in float64 and in the order in which SciPy adds.

SciPy computes in double precision whatever it is given, and casts to the dtype of the output after each axis; so do these.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from .. import dtypes
from ..registry import XP
from . import implements
from .operands import array, only, plain, row_of

_PADDED = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "nearest": "edge", "mirror": "reflect", "wrap": "wrap",
    "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant",
}  # fmt: skip
"""SciPy's name of how an array goes on beyond its edges -> NumPy's."""

_MOST_TAPS = 400


def _input(xp: XP, input: Any, output: Any) -> tuple[Any, np.dtype[Any]]:
    """The array as float64, and the dtype of the output."""
    x = array(xp, input)
    have = xp.dtype_of(x)
    to = have
    if output is not None:
        only(isinstance(output, type | np.dtype | str), "an array takes the output")
        to = np.dtype(output)
    for dtype in (have, to):
        known = dtype.kind in "iu" or dtype in (dtypes.FLOAT32, dtypes.FLOAT64)
        only(known, f"it is of dtype {dtype}")
    only(0 not in xp.shape_of(x), "an empty array")
    return xp.prim.astype(x, dtypes.FLOAT64), to


def _stored(xp: XP, x: Any, to: np.dtype[Any]) -> Any:
    """Cast as C casts; of a negative number to an unsigned integer, modulo."""
    return xp.prim.astype(xp.prim.astype(x, dtypes.INTP) if to.kind == "u" else x, to)


def _through(xp: XP, x: Any, to: np.dtype[Any]) -> Any:
    return x if to == dtypes.FLOAT64 else xp.prim.astype(_stored(xp, x, to), dtypes.FLOAT64)


def _mode(mode: Any) -> str:
    only(isinstance(mode, str), "several modes, or none that has a name")
    if mode not in _PADDED:
        raise RuntimeError("boundary mode not supported")
    return _PADDED[mode]


def _beyond(xp: XP, x: Any, axis: int, before: int, after: int, mode: str, cval: Any) -> Any:
    """The array and what is beyond its edges along an axis."""
    shape = xp.shape_of(x)
    if before < 0 or after < 0:
        raise ValueError("Invalid origin; origin must satisfy -(len(weights) // 2) <= origin <= (len(weights)-1) // 2")
    if not before and not after:
        return x
    if mode == "constant":
        pads = [(before, after) if i == axis else (0, 0) for i in range(len(shape))]
        return xp.prim.pad(x, pads, float(cval))
    places = np.pad(np.arange(shape[axis]), (before, after), mode=mode)  # type: ignore[call-overload]
    return xp.prim.take(x, xp.backend.from_numpy(places.astype(np.int64), xp.backend.device_of(x)), axis)


def _each(xp: XP, value: Any, count: int) -> list[Any]:
    value = plain(xp, value)
    if isinstance(value, str) or not np.iterable(value):
        return [value] * count
    values = list(value)
    if len(values) != count:
        raise RuntimeError("sequence argument must have length equal to input rank")
    return values


def _axes(axes: Any, ndim: int) -> list[int]:
    if axes is None:
        return list(range(ndim))
    axes = [operator.index(a) for a in (axes if np.iterable(axes) else (axes,))]
    for a in axes:
        if not -ndim <= a < ndim:
            raise ValueError(f"specified axis: {a} is out of range")
    axes = [a % ndim for a in axes]
    if len(set(axes)) != len(axes):
        raise ValueError("axes must be unique")
    return axes


# -- linear ----------------------------------------------------------------------------------------------------------------


def _along(xp: XP, x: Any, weights: Any, axis: int, mode: str, cval: Any, origin: int) -> Any:
    """A correlation along one axis of float64s; symmetric weights multiply sums of two elements, as SciPy has it."""
    weights = np.asarray(xp.backend.to_numpy(weights) if xp.is_array(weights) else weights, dtype=np.float64)
    if weights.ndim != 1 or not weights.size:
        raise RuntimeError("no filter weights given")
    size, n = weights.size, xp.shape_of(x)[axis]
    only(size <= _MOST_TAPS, "so many weights")
    half = size // 2
    padded = _beyond(xp, x, axis, half + origin, size - half - 1 - origin, mode, cval)

    def at(k: int) -> Any:
        return row_of(xp, padded, axis, k, k + n)

    eps = np.finfo(np.float64).eps
    left, right = weights[:half][::-1], weights[half + 1 :]
    sign = 0
    if size % 2 and size > 1:
        sign = 1 if np.all(np.abs(left - right) <= eps) else -1 if np.all(np.abs(left + right) <= eps) else 0
    if sign:
        total = xp.multiply(at(half), float(weights[half]))
        for k in range(half):
            pair = (xp.add if sign > 0 else xp.subtract)(at(k), at(size - 1 - k))
            total = xp.add(total, xp.multiply(pair, float(weights[k])))
        return total
    # SciPy begins with the last one
    total = xp.multiply(at(size - 1), float(weights[size - 1]))
    for k in range(size - 1):
        total = xp.add(total, xp.multiply(at(k), float(weights[k])))
    return total


@implements("scipy.ndimage.correlate1d", returns="array")
def correlate1d(
    xp: XP, input: Any, weights: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:  # fmt: skip
    x, to = _input(xp, input, output)
    axis = normalize_axis_index(axis, xp.ndim_of(x))
    return _stored(xp, _along(xp, x, _real(xp, weights), axis, _mode(mode), cval, origin), to)


def _real(xp: XP, weights: Any) -> Any:
    weights = xp.backend.to_numpy(weights) if xp.is_array(weights) else np.asarray(weights)
    only(weights.dtype.kind != "c", "complex weights")
    return weights.astype(np.float64)


@implements("scipy.ndimage.convolve1d", returns="array")
def convolve1d(
    xp: XP, input: Any, weights: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:  # fmt: skip
    weights = _real(xp, weights)[::-1]
    return correlate1d(xp, input, weights, axis, output, mode, cval, -origin - (not weights.size % 2))


def _windows(
    xp: XP, x: Any, sizes: Sequence[int], origins: Sequence[int], modes: Sequence[str], cval: Any
) -> Callable[..., Any]:
    """What gives the array moved by an offset in a window, one for each axis."""
    shape = xp.shape_of(x)
    for axis, (size, origin, mode) in enumerate(zip(sizes, origins, modes)):
        x = _beyond(xp, x, axis, size // 2 + origin, size - size // 2 - 1 - origin, mode, cval)

    def at(place: Sequence[int]) -> Any:
        return xp.prim.slice(x, tuple(slice(p, p + n, 1) for p, n in zip(place, shape)))

    return at


def _weighted(
    xp: XP, input: Any, weights: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any, convolution: bool
) -> Any:
    x, to = _input(xp, input, output)
    ndim = xp.ndim_of(x)
    weights = _real(xp, weights)
    only(axes is None or len(_axes(axes, ndim)) == ndim, "some of the axes")
    origins = [operator.index(o) for o in _each(xp, origin, ndim)]
    if weights.ndim != ndim:
        raise RuntimeError(f"weights.ndim ({weights.ndim}) must match len(axes) ({ndim})")
    only(0 < weights.size <= _MOST_TAPS, "so many weights")
    if convolution:
        weights = weights[(slice(None, None, -1),) * ndim]
        origins = [-o - (not n % 2) for o, n in zip(origins, weights.shape)]
    at = _windows(xp, x, weights.shape, origins, [_mode(mode)] * ndim, cval)
    total = None
    for place in np.ndindex(weights.shape):
        if abs(weights[place]) > np.finfo(np.float64).eps:  # what SciPy takes for its footprint
            term = xp.multiply(at(place), float(weights[place]))
            total = term if total is None else xp.add(total, term)
    return _stored(xp, xp.zeros_like(x) if total is None else total, to)


@implements("scipy.ndimage.correlate", returns="array")
def correlate(
    xp: XP, input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    return _weighted(xp, input, weights, output, mode, cval, origin, axes, False)


@implements("scipy.ndimage.convolve", returns="array")
def convolve(
    xp: XP, input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    return _weighted(xp, input, weights, output, mode, cval, origin, axes, True)


def _gaussian(sigma: Any, order: Any, truncate: float, radius: Any) -> np.ndarray[Any, Any]:
    """SciPy's weights of a Gaussian, or of a derivative of one, reversed for a correlation."""
    if not isinstance(order, int | np.integer) or order < 0:
        raise ValueError("order must be non-negative")
    reach = int(truncate * float(sigma) + 0.5) if radius is None else radius
    if not isinstance(reach, int | np.integer) or reach < 0:
        raise ValueError("Radius must be a nonnegative integer.")
    x = np.arange(-reach, reach + 1)
    phi = np.exp(-0.5 / (sigma * sigma) * x**2)
    phi = phi / phi.sum()
    if order:
        powers = np.arange(order + 1)
        q = np.zeros(order + 1)
        q[0] = 1
        step = np.diag(powers[1:], 1) + np.diag(np.ones(order) / -(sigma * sigma), -1)
        for _ in range(order):
            q = step.dot(q)
        phi = (x[:, None] ** powers).dot(q) * phi
    return phi[::-1]


@implements("scipy.ndimage.gaussian_filter1d", returns="array")
def gaussian_filter1d(
    xp: XP, input: Any, sigma: Any, axis: Any = -1, order: Any = 0, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, truncate: Any = 4.0, *, radius: Any = None,
) -> Any:  # fmt: skip
    sigma, order, radius = (plain(xp, value) for value in (sigma, order, radius))
    return correlate1d(xp, input, _gaussian(sigma, order, truncate, radius), axis, output, mode, cval, 0)


def _smoothed(
    xp: XP,
    x: Any,
    to: np.dtype[Any],
    sigma: Any,
    order: Any,
    mode: Any,
    cval: Any,
    truncate: Any,
    radius: Any,
    axes: Any,
) -> Any:
    axes = _axes(axes, xp.ndim_of(x))
    count = len(axes)
    options = zip(
        axes, _each(xp, sigma, count), _each(xp, order, count), _each(xp, mode, count), _each(xp, radius, count)
    )
    for axis, s, o, m, r in options:
        if s > 1e-15:
            x = _through(xp, _along(xp, x, _gaussian(s, o, truncate, r), axis, _mode(m), cval, 0), to)
    return x


@implements("scipy.ndimage.gaussian_filter", returns="array")
def gaussian_filter(
    xp: XP, input: Any, sigma: Any, order: Any = 0, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    truncate: Any = 4.0, *, radius: Any = None, axes: Any = None,
) -> Any:  # fmt: skip
    x, to = _input(xp, input, output)
    return _stored(xp, _smoothed(xp, x, to, sigma, order, mode, cval, truncate, radius, axes), to)


def _edges(xp: XP, input: Any, axis: Any, output: Any, mode: Any, cval: Any, across: list[int]) -> Any:
    x, to = _input(xp, input, output)
    axis = normalize_axis_index(axis, xp.ndim_of(x))
    modes = [_mode(m) for m in _each(xp, mode, xp.ndim_of(x))]
    x = _through(xp, _along(xp, x, [-1, 0, 1], axis, modes[axis], cval, 0), to)
    for i in range(xp.ndim_of(x)):
        if i != axis:
            x = _through(xp, _along(xp, x, across, i, modes[i], cval, 0), to)
    return _stored(xp, x, to)


@implements("scipy.ndimage.sobel", returns="array")
def sobel(xp: XP, input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    return _edges(xp, input, axis, output, mode, cval, [1, 2, 1])


@implements("scipy.ndimage.prewitt", returns="array")
def prewitt(xp: XP, input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    return _edges(xp, input, axis, output, mode, cval, [1, 1, 1])


@implements("scipy.ndimage.laplace", returns="array")
def laplace(xp: XP, input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None) -> Any:
    x, to = _input(xp, input, output)
    axes = _axes(axes, xp.ndim_of(x))
    only(bool(axes), "no axes")
    total = None
    for axis, m in zip(axes, _each(xp, mode, len(axes))):
        term = _through(xp, _along(xp, x, [1, -2, 1], axis, _mode(m), cval, 0), to)
        total = term if total is None else _through(xp, xp.add(total, term), to)
    return _stored(xp, total, to)


@implements("scipy.ndimage.gaussian_laplace", returns="array")
def gaussian_laplace(
    xp: XP, input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None,
    truncate: Any = 4.0, radius: Any = None,
) -> Any:  # fmt: skip
    return _derivatives(xp, input, sigma, output, mode, cval, axes, truncate, radius, 2)


@implements("scipy.ndimage.gaussian_gradient_magnitude", returns="array")
def gaussian_gradient_magnitude(
    xp: XP, input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None,
    truncate: Any = 4.0, radius: Any = None,
) -> Any:  # fmt: skip
    return _derivatives(xp, input, sigma, output, mode, cval, axes, truncate, radius, 1)


def _derivatives(
    xp: XP, input: Any, sigma: Any, output: Any, mode: Any, cval: Any, axes: Any, truncate: Any, radius: Any, order: int
) -> Any:
    x, to = _input(xp, input, output)
    only(to.kind == "f", "it rounds to integers")
    axes = _axes(axes, xp.ndim_of(x))
    only(bool(axes), "no axes")
    total = None
    modes = _each(xp, mode, len(axes))  # that of an axis is the one of the whole derivative along it
    for axis, m in zip(axes, modes):
        orders = [order if a == axis else 0 for a in axes]
        term = _smoothed(xp, x, to, sigma, orders, m, cval, truncate, radius, axes)
        term = _through(xp, xp.multiply(term, term), to) if order == 1 else term
        total = term if total is None else _through(xp, xp.add(total, term), to)
    return _stored(xp, xp.sqrt(total) if order == 1 else total, to)


def _steps_along(xp: XP, x: Any, size: int, axis: int, mode: str, cval: Any, origin: int) -> list[Any]:
    """The elements of each window along an axis, the first of all of them first."""
    if size < 1:
        raise RuntimeError("incorrect filter size")
    if not -(size // 2) <= origin <= (size - 1) // 2:
        raise ValueError("invalid origin")
    only(size <= _MOST_TAPS, "so wide a window")
    n = xp.shape_of(x)[axis]
    padded = _beyond(xp, x, axis, size // 2 + origin, size - size // 2 - 1 - origin, mode, cval)
    return [row_of(xp, padded, axis, k, k + n) for k in range(size)]


def _mean_along(xp: XP, x: Any, size: int, axis: int, mode: str, cval: Any, origin: int) -> Any:
    total = functools.reduce(xp.add, _steps_along(xp, x, size, axis, mode, cval, origin))
    return xp.divide(total, float(size))


@implements("scipy.ndimage.uniform_filter1d", returns="array")
def uniform_filter1d(
    xp: XP, input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:  # fmt: skip
    x, to = _input(xp, input, output)
    axis = normalize_axis_index(axis, xp.ndim_of(x))
    return _stored(xp, _mean_along(xp, x, size, axis, _mode(mode), cval, origin), to)


@implements("scipy.ndimage.uniform_filter", returns="array")
def uniform_filter(
    xp: XP, input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    x, to = _input(xp, input, output)
    axes = _axes(axes, xp.ndim_of(x))
    count = len(axes)
    for axis, n, o, m in zip(axes, _each(xp, size, count), _each(xp, origin, count), _each(xp, mode, count)):
        if n > 1:
            x = _through(xp, _mean_along(xp, x, int(n), axis, _mode(m), cval, o), to)
    return _stored(xp, x, to)


# -- by order ----------------------------------------------------------------------------------------------------------------


def _extreme_along(xp: XP, x: Any, size: int, axis: int, mode: str, cval: Any, origin: int, most: bool) -> Any:
    return functools.reduce(xp.maximum if most else xp.minimum, _steps_along(xp, x, size, axis, mode, cval, origin))


def _extremes(name: str, most: bool) -> None:
    @implements(f"scipy.ndimage.{name}_filter1d", returns="array")
    def of_one(
        xp: XP, input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
        origin: Any = 0,
    ) -> Any:  # fmt: skip
        x, to = _input(xp, input, output)
        axis = normalize_axis_index(axis, xp.ndim_of(x))
        return _stored(xp, _extreme_along(xp, x, size, axis, _mode(mode), cval, origin, most), to)

    @implements(f"scipy.ndimage.{name}_filter", returns="array")
    def of_several(
        xp: XP, input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
        cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
    ) -> Any:  # fmt: skip
        only(footprint is None and size is not None, "a footprint")
        x, to = _input(xp, input, output)
        axes = _axes(axes, xp.ndim_of(x))
        count = len(axes)
        for axis, n, o, m in zip(axes, _each(xp, size, count), _each(xp, origin, count), _each(xp, mode, count)):
            if n > 1:
                x = _extreme_along(xp, x, int(n), axis, _mode(m), cval, o, most)
        return _stored(xp, x, to)


_extremes("maximum", True)
_extremes("minimum", False)


def _ranked(
    xp: XP, input: Any, size: Any, footprint: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any, rank: Any
) -> Any:
    x, to = _input(xp, input, output)
    ndim = xp.ndim_of(x)
    only(footprint is None and size is not None, "a footprint")
    only(axes is None or len(_axes(axes, ndim)) == ndim, "some of the axes")
    sizes = [operator.index(n) for n in _each(xp, size, ndim)]
    count = math.prod(sizes)
    only(0 < count <= 81 and min(sizes) > 0, "so large a window")
    origins = [operator.index(o) for o in _each(xp, origin, ndim)]
    at = _windows(xp, x, sizes, origins, [_mode(mode)] * ndim, cval)
    shape = xp.shape_of(x)
    parts = [xp.prim.reshape(at(p), (1, *shape)) for p in itertools.product(*map(range, sizes))]
    ordered = xp.prim.sort(xp.prim.concatenate(parts, 0), 0)
    k = rank(count)
    return _stored(xp, xp.prim.reshape(row_of(xp, ordered, 0, k, k + 1), shape), to)


@implements("scipy.ndimage.median_filter", returns="array")
def median_filter(
    xp: XP, input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    return _ranked(xp, input, size, footprint, output, mode, cval, origin, axes, lambda n: n // 2)


@implements("scipy.ndimage.rank_filter", returns="array")
def rank_filter(
    xp: XP, input: Any, rank: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
) -> Any:  # fmt: skip
    def place(n: int) -> int:
        k = operator.index(rank) + (n if rank < 0 else 0)
        if not 0 <= k < n:
            raise RuntimeError("rank not within filter footprint size")
        return k

    return _ranked(xp, input, size, footprint, output, mode, cval, origin, axes, place)


# -- between the elements ----------------------------------------------------------------------------------------------------


@implements("scipy.ndimage.map_coordinates", returns="array")
def map_coordinates(
    xp: XP, input: Any, coordinates: Any, output: Any = None, order: Any = 3, mode: Any = "constant", cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:  # fmt: skip
    only(order in (0, 1), "a spline of that order")
    only(mode in ("constant", "nearest"), f"the mode {mode!r}")
    x, to = _input(xp, input, output)
    ndim, shape = xp.ndim_of(x), xp.shape_of(x)
    places = xp.prim.astype(array(xp, coordinates, x), dtypes.FLOAT64)
    if xp.ndim_of(places) < 1 or xp.shape_of(places)[0] != ndim:
        raise RuntimeError("invalid shape for coordinate array")
    wanted = xp.shape_of(places)[1:]
    only(0 not in wanted, "nothing is asked for")
    lower, upper, parts = [], [], []
    inside: Any = None
    for axis, n in enumerate(shape):
        c = xp.prim.reshape(row_of(xp, places, 0, axis, axis + 1), wanted)
        ok = xp.logical_and(xp.greater_equal(c, 0), xp.less_equal(c, n - 1))
        inside = ok if inside is None else xp.logical_and(inside, ok)
        c = xp.minimum(xp.maximum(c, 0.0), float(n - 1))
        first = xp.floor(xp.add(c, 0.5)) if order == 0 else xp.floor(c)
        first = xp.minimum(first, float(n - 1))
        lower.append(xp.prim.astype(first, dtypes.INTP))
        upper.append(xp.prim.astype(xp.minimum(xp.add(first, 1), float(n - 1)), dtypes.INTP))
        parts.append(xp.subtract(c, first))
    total: Any = None
    for corner in itertools.product((0, 1), repeat=ndim if order else 0):
        value, weight = None, None
        for axis, up in enumerate(corner):
            part = parts[axis] if up else xp.subtract(1.0, parts[axis])
            weight = part if weight is None else xp.multiply(weight, part)
        value = xp.prim.gather(x, tuple(upper[i] if up else lower[i] for i, up in enumerate(corner)) or tuple(lower))
        term = value if weight is None else xp.multiply(value, weight)
        total = term if total is None else xp.add(total, term)
    if mode == "constant":
        total = xp.where(inside, total, float(cval))
    return _stored(xp, total, to)
