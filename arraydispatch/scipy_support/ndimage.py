"""``scipy.ndimage``: filters as sums over shifted copies, computed in float64 and in the order in which SciPy adds.

SciPy computes in double precision for every dtype, and casts to the output's dtype after each axis; so do these
functions.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..functions.operands import along
from ..functions.registry import XP, family
from . import implements
from .images import MOST_TAPS, axes_of, beyond, correlated, each, padding, stored, taken, through
from .neighbourhoods import extremes, windows
from .operand_checks import only, plain

filtering = family(implements, mode="output")


# -- linear ----------------------------------------------------------------------------------------------------------------


@filtering("scipy.ndimage.correlate1d")
def correlate1d(
    xp: XP, input: Any, weights: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:  # fmt: skip
    x, to = taken(xp, input, output)
    axis = normalize_axis_index(axis, xp.ndim_of(x))
    return stored(xp, correlated(xp, x, _real(xp, weights), axis, padding(mode), cval, origin), to)


def _real(xp: XP, weights: Any) -> Any:
    weights = xp.backend.to_numpy(weights) if xp.is_array(weights) else np.asarray(weights)
    only(weights.dtype.kind != "c", "complex weights")
    return weights.astype(np.float64)


@filtering("scipy.ndimage.convolve1d")
def convolve1d(
    xp: XP, input: Any, weights: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:  # fmt: skip
    weights = _real(xp, weights)[::-1]
    return correlate1d(xp, input, weights, axis, output, mode, cval, -origin - (not weights.size % 2))


def _weighted(
    xp: XP, input: Any, weights: Any, output: Any, mode: Any, cval: Any, origin: Any, axes: Any, convolution: bool
) -> Any:
    x, to = taken(xp, input, output)
    ndim = xp.ndim_of(x)
    weights = _real(xp, weights)
    only(axes is None or len(axes_of(axes, ndim)) == ndim, "some of the axes")
    origins = [operator.index(o) for o in each(xp, origin, ndim)]
    if weights.ndim != ndim:
        raise RuntimeError(f"weights.ndim ({weights.ndim}) must match len(axes) ({ndim})")
    only(0 < weights.size <= MOST_TAPS, "so many weights")
    if convolution:
        weights = weights[(slice(None, None, -1),) * ndim]
        origins = [-o - (not n % 2) for o, n in zip(origins, weights.shape)]
    at = windows(xp, x, weights.shape, origins, [padding(mode)] * ndim, cval)
    total = None
    for place in np.ndindex(weights.shape):
        if abs(weights[place]) > np.finfo(np.float64).eps:  # the weights that SciPy includes in its footprint
            term = xp.multiply(at(place), float(weights[place]))
            total = term if total is None else xp.add(total, term)
    return stored(xp, xp.zeros_like(x) if total is None else total, to)


@filtering("scipy.ndimage.correlate")
def correlate(
    xp: XP, input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    return _weighted(xp, input, weights, output, mode, cval, origin, axes, False)


@filtering("scipy.ndimage.convolve")
def convolve(
    xp: XP, input: Any, weights: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    return _weighted(xp, input, weights, output, mode, cval, origin, axes, True)


def _gaussian(sigma: Any, order: Any, truncate: float, radius: Any) -> np.ndarray[Any, Any]:
    """Return SciPy's weights of a Gaussian, or of a derivative of one, reversed for a correlation."""
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


@filtering("scipy.ndimage.gaussian_filter1d")
def gaussian_filter1d(
    xp: XP, input: Any, sigma: Any, axis: Any = -1, order: Any = 0, output: Any = None, mode: Any = "reflect",
    cval: Any = 0.0, truncate: Any = 4.0, *, radius: Any = None,
) -> Any:  # fmt: skip
    sigma, order, radius = (plain(xp, value) for value in (sigma, order, radius))
    return correlate1d(xp, input, _gaussian(sigma, order, truncate, radius), axis, output, mode, cval, 0)


def _smoothed(
    xp: XP, x: Any, to: np.dtype[Any], sigma: Any, order: Any, mode: Any, cval: Any, truncate: Any, radius: Any,
    axes: Any,
) -> Any:  # fmt: skip
    axes = axes_of(axes, xp.ndim_of(x))
    count = len(axes)
    options = zip(axes, each(xp, sigma, count), each(xp, order, count), each(xp, mode, count), each(xp, radius, count))
    for axis, s, o, m, r in options:
        if s > 1e-15:
            x = through(xp, correlated(xp, x, _gaussian(s, o, truncate, r), axis, padding(m), cval, 0), to)
    return x


@filtering("scipy.ndimage.gaussian_filter")
def gaussian_filter(
    xp: XP, input: Any, sigma: Any, order: Any = 0, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    truncate: Any = 4.0, *, radius: Any = None, axes: Any = None,
) -> Any:  # fmt: skip
    x, to = taken(xp, input, output)
    return stored(xp, _smoothed(xp, x, to, sigma, order, mode, cval, truncate, radius, axes), to, input)


def _edges(xp: XP, input: Any, axis: Any, output: Any, mode: Any, cval: Any, across: list[int]) -> Any:
    x, to = taken(xp, input, output)
    axis = normalize_axis_index(axis, xp.ndim_of(x))
    modes = [padding(m) for m in each(xp, mode, xp.ndim_of(x))]
    x = through(xp, correlated(xp, x, [-1, 0, 1], axis, modes[axis], cval, 0), to)
    for i in range(xp.ndim_of(x)):
        if i != axis:
            x = through(xp, correlated(xp, x, across, i, modes[i], cval, 0), to)
    return stored(xp, x, to)


@filtering("scipy.ndimage.sobel")
def sobel(xp: XP, input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    return _edges(xp, input, axis, output, mode, cval, [1, 2, 1])


@filtering("scipy.ndimage.prewitt")
def prewitt(xp: XP, input: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    return _edges(xp, input, axis, output, mode, cval, [1, 1, 1])


@filtering("scipy.ndimage.laplace")
def laplace(xp: XP, input: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None) -> Any:
    x, to = taken(xp, input, output)
    axes = axes_of(axes, xp.ndim_of(x))
    only(bool(axes), "no axes")
    total = None
    for axis, m in zip(axes, each(xp, mode, len(axes))):
        term = through(xp, correlated(xp, x, [1, -2, 1], axis, padding(m), cval, 0), to)
        total = term if total is None else through(xp, xp.add(total, term), to)
    return stored(xp, total, to)


@filtering("scipy.ndimage.gaussian_laplace")
def gaussian_laplace(
    xp: XP, input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None,
    truncate: Any = 4.0, radius: Any = None,
) -> Any:  # fmt: skip
    return _derivatives(xp, input, sigma, output, mode, cval, axes, truncate, radius, 2)


@filtering("scipy.ndimage.gaussian_gradient_magnitude")
def gaussian_gradient_magnitude(
    xp: XP, input: Any, sigma: Any, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, *, axes: Any = None,
    truncate: Any = 4.0, radius: Any = None,
) -> Any:  # fmt: skip
    return _derivatives(xp, input, sigma, output, mode, cval, axes, truncate, radius, 1)


def _derivatives(
    xp: XP, input: Any, sigma: Any, output: Any, mode: Any, cval: Any, axes: Any, truncate: Any, radius: Any, order: int
) -> Any:
    x, to = taken(xp, input, output)
    only(to.kind == "f", "it rounds to integers")
    axes = axes_of(axes, xp.ndim_of(x))
    only(bool(axes), "no axes")
    total = None
    modes = each(xp, mode, len(axes))  # each entry applies to the whole derivative along that axis
    for axis, m in zip(axes, modes):
        orders = [order if a == axis else 0 for a in axes]
        term = _smoothed(xp, x, to, sigma, orders, m, cval, truncate, radius, axes)
        term = through(xp, xp.multiply(term, term), to) if order == 1 else term
        total = term if total is None else through(xp, xp.add(total, term), to)
    return stored(xp, xp.sqrt(total) if order == 1 else total, to)


def _steps_along(xp: XP, x: Any, size: int, axis: int, mode: str, cval: Any, origin: int) -> list[Any]:
    """Return the shifted copies that hold the elements of each window along an axis, the first elements first."""
    if size < 1:
        raise RuntimeError("incorrect filter size")
    if not -(size // 2) <= origin <= (size - 1) // 2:
        raise ValueError("invalid origin")
    only(size <= MOST_TAPS, "so wide a window")
    n = xp.shape_of(x)[axis]
    padded = beyond(xp, x, axis, size // 2 + origin, size - size // 2 - 1 - origin, mode, cval)
    return [along(xp, padded, axis, k, k + n) for k in range(size)]


def _mean_along(xp: XP, x: Any, size: int, axis: int, mode: str, cval: Any, origin: int) -> Any:
    total = functools.reduce(xp.add, _steps_along(xp, x, size, axis, mode, cval, origin))
    return xp.divide(total, float(size))


@filtering("scipy.ndimage.uniform_filter1d")
def uniform_filter1d(
    xp: XP, input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
    origin: Any = 0,
) -> Any:  # fmt: skip
    x, to = taken(xp, input, output)
    axis = normalize_axis_index(axis, xp.ndim_of(x))
    return stored(xp, _mean_along(xp, x, size, axis, padding(mode), cval, origin), to)


def _along_each(
    filtered: Callable[..., Any],
    xp: XP,
    input: Any,
    size: Any,
    output: Any,
    mode: Any,
    cval: Any,
    origin: Any,
    axes: Any,
) -> Any:
    """Filter by ``filtered``, a filter along one axis, along one axis after the other. The other arguments are those of SciPy's function."""
    x, to = taken(xp, input, output)
    axes = axes_of(axes, xp.ndim_of(x))
    count = len(axes)
    for axis, n, o, m in zip(axes, each(xp, size, count), each(xp, origin, count), each(xp, mode, count)):
        if n > 1:
            x = through(xp, filtered(xp, x, int(n), axis, padding(m), cval, o), to)
    return stored(xp, x, to, input)


@filtering("scipy.ndimage.uniform_filter")
def uniform_filter(
    xp: XP, input: Any, size: Any = 3, output: Any = None, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0, *,
    axes: Any = None,
) -> Any:  # fmt: skip
    return _along_each(_mean_along, xp, input, size, output, mode, cval, origin, axes)


# -- rank filters ----------------------------------------------------------------------------------------------------


def _extreme_along(xp: XP, x: Any, size: int, axis: int, mode: str, cval: Any, origin: int, most: bool) -> Any:
    return functools.reduce(xp.maximum if most else xp.minimum, _steps_along(xp, x, size, axis, mode, cval, origin))


def _extremes(name: str, most: bool) -> None:
    @filtering(f"scipy.ndimage.{name}_filter1d")
    def of_one(
        xp: XP, input: Any, size: Any, axis: Any = -1, output: Any = None, mode: Any = "reflect", cval: Any = 0.0,
        origin: Any = 0,
    ) -> Any:  # fmt: skip
        x, to = taken(xp, input, output)
        axis = normalize_axis_index(axis, xp.ndim_of(x))
        return stored(xp, _extreme_along(xp, x, size, axis, padding(mode), cval, origin, most), to, input)

    @filtering(f"scipy.ndimage.{name}_filter")
    def of_several(
        xp: XP, input: Any, size: Any = None, footprint: Any = None, output: Any = None, mode: Any = "reflect",
        cval: Any = 0.0, origin: Any = 0, *, axes: Any = None,
    ) -> Any:  # fmt: skip
        if footprint is not None:
            wanted = np.asarray(plain(xp, footprint), dtype=bool)
            size, footprint = (wanted.shape, None) if wanted.all() else (size, wanted)
        if footprint is not None or size is None:
            return extremes(xp, input, size, footprint, output, mode, cval, origin, axes, most)
        filtered = functools.partial(_extreme_along, most=most)
        return _along_each(filtered, xp, input, size, output, mode, cval, origin, axes)


_extremes("maximum", True)
_extremes("minimum", False)
