"""``scipy.ndimage``: interpolation by splines: at coordinates, shifts, zooms, rotations.

A spline's coefficients are a linear function of the elements: given by a matrix for short lines, and for long ones by
the weights of its middle row, which are below rounding 50 elements away. The sums are SciPy's, in its order.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..common.signal_safety import imported
from ..common.user_warnings import warn
from ..functions.operands import along
from ..functions.registry import XP, family
from ..runtime import dtypes
from ..ufuncs.special.formula import Real
from . import implements, stand_in
from .images import beyond, checked_dtype, correlated, each, stored, taken, through
from .operand_checks import array, only, plain

_MODES = ("nearest", "wrap", "reflect", "grid-mirror", "mirror", "constant", "grid-wrap", "grid-constant")
_AROUND = {"reflect": "symmetric", "grid-mirror": "symmetric", "nearest": "symmetric", "grid-wrap": "wrap"}
"""Extension of an array for the computation of its coefficients; other modes reflect about the edge elements."""
_LONGEST = 512
_REACH = 50
_PADS = 12
"""Number of elements that SciPy pads with in modes whose splines have no boundary condition of their own."""

resampling = family(implements, mode="output")


def _known(mode: Any, order: Any) -> None:
    if not 0 <= order <= 5:
        raise RuntimeError("spline order not supported")
    if mode not in _MODES:
        raise RuntimeError("boundary mode not supported")


# -- coefficients ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _coefficients(n: int, order: int, mode: str) -> np.ndarray[Any, Any]:
    """Return the matrix that maps ``n`` elements to their spline coefficients."""
    real = stand_in("scipy.ndimage.spline_filter1d").__wrapped__
    return np.asarray(real(np.eye(n), order, 0, np.float64, mode))


def _filtered_along(xp: XP, x: Any, order: int, axis: int, mode: str) -> Any:
    n = xp.shape_of(x)[axis]
    if n == 1 or order < 2:
        return x
    if n > _LONGEST:
        middle = _coefficients(2 * _REACH + 1, order, "mirror")[_REACH]
        return correlated(xp, x, middle, axis, _AROUND.get(mode, "reflect"), 0.0, 0)
    matrix = xp.backend.from_numpy(_coefficients(n, order, mode), xp.backend.device_of(x))
    made = xp.prim.matmul(matrix, xp.prim.reshape(xp.moveaxis(x, axis, 0), (n, -1)))
    shape = xp.shape_of(x)
    return xp.moveaxis(xp.prim.reshape(made, (n, *shape[:axis], *shape[axis + 1 :])), 0, axis)


def _filtered(xp: XP, x: Any, order: int, mode: str, to: np.dtype[Any] = dtypes.FLOAT64) -> Any:
    for axis in range(xp.ndim_of(x)):
        x = through(xp, _filtered_along(xp, x, order, axis, mode), to)
    return x


def _of_parts(
    xp: XP, input: Any, output: Any, compute: Callable[[Any, float], Any], cval: Any = 0.0, few: bool = False
) -> Any:
    """Apply ``compute(real array, fill value)`` to ``input``, or to its real and imaginary parts. Return the result before the cast, and the
    dtype to cast it to (that of ``output``, if given).

    The numbers are converted to float64, unless only ``few`` of them are used; then they keep their dtype.
    """
    x = array(xp, input)
    if xp.dtype_of(x).kind != "c":
        to = checked_dtype(xp, x, output)
        return compute(x if few else xp.prim.astype(x, dtypes.FLOAT64), cval), to
    to = xp.dtype_of(x) if output is None or np.dtype(output).kind != "c" else np.dtype(output)
    only(output is None or to == np.dtype(output), "the output is not complex")
    only(to in (dtypes.COMPLEX64, dtypes.COMPLEX128) and 0 not in xp.shape_of(x), "an empty array, or another dtype")
    x = xp.prim.astype(x, dtypes.COMPLEX128)
    return xp.prim.complex(compute(xp.prim.real(x), np.real(cval)), compute(xp.prim.imag(x), np.imag(cval))), to


@resampling("scipy.ndimage.spline_filter1d")
def spline_filter1d(
    xp: XP, input: Any, order: Any = 3, axis: Any = -1, output: Any = np.float64, mode: Any = "mirror"
) -> Any:
    _known(mode, order)
    x = array(xp, input)
    if xp.dtype_of(x).kind == "c" and output is np.float64:
        output = np.complex128
    axis = normalize_axis_index(axis, xp.ndim_of(x))
    made, to = _of_parts(xp, x, output, lambda part, _: _filtered_along(xp, part, order, axis, mode))
    return stored(xp, made, to, x)


@resampling("scipy.ndimage.spline_filter")
def spline_filter(xp: XP, input: Any, order: Any = 3, output: Any = np.float64, mode: Any = "mirror") -> Any:
    if not 2 <= order <= 5:
        raise RuntimeError("spline order not supported")
    _known(mode, order)
    x = array(xp, input)
    if xp.dtype_of(x).kind == "c":
        output = np.complex128 if output is np.float64 else output
        made, to = _of_parts(xp, x, output, lambda part, _: _filtered(xp, part, order, mode))
        return stored(xp, made, to)
    x, to = taken(xp, x, output)
    return stored(xp, _filtered(xp, x, order, mode, to), to)


# -- at coordinates ------------------------------------------------------------------------------------------------------------


def _inward(xp: XP, c: Any, n: int, mode: str) -> Any:
    """Replace each coordinate beyond the edges by the coordinate inside at which the mode reads."""
    if mode == "nearest" or n == 1:
        return xp.minimum(xp.maximum(c, 0.0), float(n - 1))
    low, high = xp.less(c, 0), xp.greater(c, n - 1)
    outside = xp.logical_or(low, high)

    def whole(x: Any) -> Any:
        return xp.trunc(x)

    if mode == "mirror":
        period = float(2 * n - 2)
        left = xp.add(xp.multiply(whole(xp.divide(xp.negative(c), period)), period), c)
        left = xp.where(xp.less_equal(left, float(1 - n)), xp.add(left, period), xp.negative(left))
        right = xp.subtract(c, xp.multiply(whole(xp.divide(c, period)), period))
        right = xp.where(xp.greater_equal(right, float(n)), xp.subtract(period, right), right)
    elif mode in ("reflect", "grid-mirror"):
        period = float(2 * n)
        left = xp.add(xp.multiply(whole(xp.divide(xp.negative(c), period)), period), c)
        left = xp.where(xp.less(c, -period), left, c)
        near = xp.where(xp.greater(left, -1e-15), 1e-15, xp.negative(left))
        left = xp.where(xp.less(left, float(-n)), xp.add(left, period), xp.subtract(near, 1.0))
        right = xp.subtract(c, xp.multiply(whole(xp.divide(c, period)), period))
        right = xp.where(xp.greater_equal(right, float(n)), xp.subtract(xp.subtract(period, right), 1.0), right)
    elif mode == "wrap":
        period = float(n - 1)
        left = xp.add(c, xp.multiply(xp.add(whole(xp.divide(xp.negative(c), period)), 1.0), period))
        right = xp.subtract(c, xp.multiply(whole(xp.divide(c, period)), period))
    else:  # mode "grid-wrap"
        period = float(n)
        left = xp.add(c, xp.multiply(xp.add(whole(xp.divide(xp.subtract(-1.0, c), period)), 1.0), period))
        right = xp.subtract(c, xp.multiply(whole(xp.divide(c, period)), period))
    return xp.where(outside, xp.where(low, left, right), c)


def _weights(xp: XP, distance: Any, order: int) -> list[Any]:
    """Return the B-spline weights at a distance from the element before (for even orders, from the nearest element)."""
    x = Real(xp, distance)
    z = 1.0 - x
    if order == 1:
        found = [z]
    elif order == 2:
        y = 0.5 - x
        found = [0.5 * y * y, 0.75 - x * x]
    elif order == 3:
        found = [z * z * z / 6.0, *((v * v * (v - 2.0) * 3.0 + 4.0) / 6.0 for v in (x, z))]
    elif order == 4:
        t, y = x * x, 0.5 - x
        beside = [v * (v * (v * (5.0 - v) / 6.0 - 1.25) + 5.0 / 24.0) + 55.0 / 96.0 for v in (1.0 + x, z)]
        edge = y * y
        found = [edge * edge / 24.0, beside[0], t * (t * 0.25 - 0.625) + 115.0 / 192.0, beside[1]]
    else:
        squares = [(v * v, v) for v in (x, z)]
        inner = [t * (t * (0.25 - v / 12.0) - 0.5) + 0.55 for t, v in squares]
        outer = [v * (v * (v * (v * (v / 24.0 - 0.375) + 1.25) - 1.75) + 0.625) + 0.425 for v in (x + 1.0, z + 1.0)]
        t = z * z
        found = [z * t * t / 120.0, outer[0], *inner, outer[1]]
    last: Any = 1.0
    for part in found:
        last = last - part
    return [term.v for term in (*found, last)]


def _at(
    xp: XP, x: Any, places: Sequence[Any], shape: tuple[int, ...], order: int, mode: str, cval: float, filtered: bool,
    around_it: float,
) -> Any:  # fmt: skip
    """Evaluate the spline of float64s ``x`` at coordinates ``places``: one array for each axis of ``x``; together they broadcast to
    ``shape``.

    ``filtered``: whether ``x`` has yet to be filtered to spline coefficients (SciPy's ``prefilter``). ``cval``: value of coordinates outside
    of ``x``; ``around_it``: constant value of the elements around ``x``, for the filter.
    """
    pads = 0
    if filtered and order > 1:
        if mode in ("nearest", "grid-constant"):
            pads = _PADS
            for axis in range(xp.ndim_of(x)):
                x = beyond(xp, x, axis, pads, pads, "edge" if mode == "nearest" else "constant", around_it)
        x = _filtered(xp, x, order, mode)
    around = "mirror" if mode in ("constant", "wrap") else mode
    inside: Any = True
    index: list[list[Any]] = []
    weights: list[list[Any]] = []
    missing: list[list[Any]] = []
    for axis, n in enumerate(xp.shape_of(x)):
        c = xp.add(places[axis], float(pads)) if pads else places[axis]
        if mode == "constant":
            within = xp.logical_and(xp.greater_equal(c, 0), xp.less_equal(c, n - 1))
        else:
            c = c if mode in ("grid-constant", "nearest") else _inward(xp, c, n, mode)
            within = xp.isfinite(c)
        c = xp.where(within, c, 0.0)
        inside = within if inside is True else xp.logical_and(inside, within)
        base = xp.floor(c) if order % 2 else xp.floor(xp.add(c, 0.5))
        weights.append(_weights(xp, xp.subtract(c, base), order) if order else [])
        taps, beyonds = [], []
        for k in range(order + 1):
            at = xp.add(base, float(k - order // 2))
            if mode == "grid-constant":
                beyonds.append(xp.logical_or(xp.less(at, 0), xp.greater(at, n - 1)))
                at = xp.minimum(xp.maximum(at, 0.0), float(n - 1))
            else:
                at = _inward(xp, at, n, around)
            taps.append(xp.prim.broadcast_to(xp.prim.astype(at, dtypes.INTP), shape))
        index.append(taps)
        missing.append(beyonds)
    total: Any = None
    for corner in itertools.product(range(order + 1), repeat=len(index)):
        value = xp.prim.astype(xp.prim.gather(x, tuple(taps[k] for taps, k in zip(index, corner))), dtypes.FLOAT64)
        if mode == "grid-constant":
            for beyonds, k in zip(missing, corner):
                value = xp.where(beyonds[k], float(cval), value)
        for axis, k in enumerate(corner if order else ()):
            value = xp.multiply(value, weights[axis][k])
        total = value if total is None else xp.add(total, value)
    return total if mode == "grid-constant" else xp.where(inside, total, float(cval))


def _rounded(xp: XP, x: Any, to: np.dtype[Any]) -> Any:
    """Cast to the output's dtype ``to``: integers are rounded to nearest and clipped to its range."""
    if to.kind not in "iu":
        return xp.prim.astype(x, to)
    info = np.iinfo(to)
    away = xp.trunc(xp.add(x, xp.where(xp.greater(x, 0), 0.5, -0.5)))
    only(to.itemsize < 8, "it rounds to 64 bits")
    return stored(xp, xp.minimum(xp.maximum(away, float(info.min)), float(info.max)), to)


def _interpolated(
    xp: XP, input: Any, places: Any, shape: Any, output: Any, order: Any, mode: Any, cval: Any, prefilter: Any
) -> Any:
    only(0 not in shape, "nothing is asked for")
    order = operator.index(order)
    whole = xp.dtype_of(input).kind in "iu"

    def compute(part: Any, fill: float) -> Any:
        padded = float(np.trunc(fill)) if whole else float(fill)  # SciPy pads with values of the array's dtype
        return _at(xp, part, places, tuple(shape), order, mode, float(fill), bool(prefilter), padded)

    made, to = _of_parts(xp, input, output, compute, cval, few=order < 2)
    return _rounded(xp, made, to)


def _host_places(xp: XP, like: Any, lines: Sequence[np.ndarray[Any, Any]]) -> list[Any]:
    """Upload a line of coordinates for each axis to the device of ``like``, as arrays that broadcast against one another."""
    device, ndim = xp.backend.device_of(like), len(lines)
    shaped = [line.reshape([-1 if i == axis else 1 for i in range(ndim)]) for axis, line in enumerate(lines)]
    return [xp.backend.from_numpy(line.astype(np.float64), device) for line in shaped]


@resampling("scipy.ndimage.map_coordinates")
def map_coordinates(
    xp: XP, input: Any, coordinates: Any, output: Any = None, order: Any = 3, mode: Any = "constant", cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:  # fmt: skip
    _known(mode, order)
    x = array(xp, input)
    coordinates = array(xp, coordinates, x)
    if xp.dtype_of(coordinates).kind == "c":
        raise TypeError("Complex type not supported")
    coordinates = xp.prim.astype(coordinates, dtypes.FLOAT64)
    wanted = xp.shape_of(coordinates)[1:]
    if xp.ndim_of(x) < 1 or len(wanted) < 1:
        raise RuntimeError("input and output rank must be > 0")
    if xp.shape_of(coordinates)[0] != xp.ndim_of(x):
        raise RuntimeError("invalid shape for coordinate array")
    only(0 not in wanted, "nothing is asked for")
    rows = [xp.prim.reshape(along(xp, coordinates, 0, i, i + 1), wanted) for i in range(xp.ndim_of(x))]
    return _interpolated(xp, x, rows, wanted, output, order, mode, cval, prefilter)


def _checked(xp: XP, input: Any, mode: Any, order: Any) -> tuple[Any, tuple[int, ...]]:
    """Return the input, which must have an axis, and its shape."""
    _known(mode, order)
    x = array(xp, input)
    shape = xp.shape_of(x)
    if not shape:
        raise RuntimeError("input and output rank must be > 0")
    return x, shape


@resampling("scipy.ndimage.shift")
def shift(
    xp: XP, input: Any, shift: Any, output: Any = None, order: Any = 3, mode: Any = "constant", cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:  # fmt: skip
    x, shape = _checked(xp, input, mode, order)
    lines = [np.arange(n) - float(s) for n, s in zip(shape, each(xp, shift, len(shape)))]
    return _interpolated(xp, x, _host_places(xp, x, lines), shape, output, order, mode, cval, prefilter)


@resampling("scipy.ndimage.zoom")
def zoom(
    xp: XP, input: Any, zoom: Any, output: Any = None, order: Any = 3, mode: Any = "constant", cval: Any = 0.0,
    prefilter: Any = True, *, grid_mode: Any = False,
) -> Any:  # fmt: skip
    x, shape = _checked(xp, input, mode, order)
    factors = each(xp, zoom, len(shape))
    wanted = tuple(round(n * z) for n, z in zip(shape, factors))
    only(not (all(z == 1 for z in factors) and prefilter), "nothing is zoomed")
    if grid_mode and mode in ("constant", "wrap"):
        warn(f"It is recommended to use mode = grid-{mode} instead of {mode} when grid_mode is True.", UserWarning)
    lines = []
    for n, m in zip(shape, wanted):
        if grid_mode:
            lines.append((np.arange(m) + 0.5) * (n / m if m else 1.0) - 0.5)
        else:
            lines.append(np.arange(m) * ((n - 1) / (m - 1) if m != 1 else 1.0))
    return _interpolated(xp, x, _host_places(xp, x, lines), wanted, output, order, mode, cval, prefilter)


def _matrix(xp: XP, matrix: Any, offset: Any, ndim: int, out: int) -> tuple[Any, Any]:
    """Return the matrix and the offset of an affine map as ndarrays, or raise SciPy's errors."""
    matrix = np.asarray(plain(xp, matrix), dtype=np.float64)
    if matrix.ndim not in (1, 2) or matrix.shape[0] < 1:
        raise RuntimeError("no proper affine matrix provided")
    if matrix.ndim == 2 and matrix.shape[1] == ndim + 1 and matrix.shape[0] in (ndim, ndim + 1):
        if matrix.shape[0] == ndim + 1 and not np.all(matrix[ndim] == [0] * ndim + [1]):
            raise ValueError(
                f"Expected homogeneous transformation matrix with shape {matrix.shape}, whose bottom row is of zeros and a one"
            )
        offset, matrix = matrix[:ndim, ndim], matrix[:ndim, :ndim]
    if matrix.shape[0] != ndim:
        raise RuntimeError("affine matrix has wrong number of rows")
    if matrix.ndim == 2 and matrix.shape[1] != out:
        raise RuntimeError("affine matrix has wrong number of columns")
    return matrix, np.asarray(each(xp, offset, ndim), dtype=np.float64)


@resampling("scipy.ndimage.affine_transform")
def affine_transform(
    xp: XP, input: Any, matrix: Any, offset: Any = 0.0, output_shape: Any = None, output: Any = None, order: Any = 3,
    mode: Any = "constant", cval: Any = 0.0, prefilter: Any = True,
) -> Any:  # fmt: skip
    x, shape = _checked(xp, input, mode, order)
    ndim = len(shape)
    wanted = shape if output_shape is None else tuple(int(n) for n in plain(xp, output_shape))
    if not wanted:
        raise RuntimeError("input and output rank must be > 0")
    matrix, offset = _matrix(xp, matrix, offset, ndim, len(wanted))
    if matrix.ndim == 1:
        only(ndim == len(wanted), "another number of axes")
        lines = [(np.arange(n) + o / m) * m for n, m, o in zip(wanted, matrix, offset)]
        places = _host_places(xp, x, lines)
    else:
        steps = _host_places(xp, x, [np.arange(n) for n in wanted])
        places = []
        for row, start in zip(matrix.tolist(), offset.tolist()):
            total: Any = start
            for factor, step in zip(row, steps):
                total = xp.add(total, xp.multiply(step, factor))
            places.append(total)
    return _interpolated(xp, x, places, wanted, output, order, mode, cval, prefilter)


@resampling("scipy.ndimage.rotate")
def rotate(
    xp: XP, input: Any, angle: Any, axes: Any = (1, 0), reshape: Any = True, output: Any = None, order: Any = 3,
    mode: Any = "constant", cval: Any = 0.0, prefilter: Any = True,
) -> Any:  # fmt: skip
    imported("scipy.special")
    from scipy import special

    x = array(xp, input)
    ndim = xp.ndim_of(x)
    if ndim < 2:
        raise ValueError("input array should be at least 2D")
    axes = list(plain(xp, axes))
    if len(axes) != 2:
        raise ValueError("axes should contain exactly two values")
    if not all(float(a).is_integer() for a in axes):
        raise ValueError("axes should contain only integer values")
    axes = sorted(int(a) + ndim if a < 0 else int(a) for a in axes)
    if axes[0] < 0 or axes[1] >= ndim:
        raise ValueError("invalid rotation plane specified")
    _known(mode, order)
    angle = plain(xp, angle)
    c, s = special.cosdg(angle), special.sindg(angle)
    turned = np.array([[c, s], [-s, c]])
    shape = list(xp.shape_of(x))
    plane = np.array([shape[a] for a in axes])
    wanted = plane
    if reshape:
        rows, columns = plane
        wanted = (np.ptp(turned @ [[0, 0, rows, rows], [0, columns, 0, columns]], axis=1) + 0.5).astype(int)
    offset = (plane - 1) / 2 - turned @ ((wanted - 1) / 2)
    if ndim == 2:
        return affine_transform(xp, x, turned, offset, tuple(wanted.tolist()), output, order, mode, cval, prefilter)
    front = xp.moveaxis(x, axes, (0, 1))
    rest = xp.shape_of(front)[2:]
    stack = xp.prim.reshape(front, (*xp.shape_of(front)[:2], math.prod(rest)))
    made = []
    for k in range(math.prod(rest)):
        one = xp.prim.reshape(along(xp, stack, 2, k, k + 1), xp.shape_of(stack)[:2])
        one = affine_transform(xp, one, turned, offset, tuple(wanted.tolist()), output, order, mode, cval, prefilter)
        made.append(xp.prim.reshape(one, (*xp.shape_of(one), 1)))
    whole = xp.prim.reshape(xp.prim.concatenate(made, 2), (*wanted.tolist(), *rest))
    return xp.moveaxis(whole, (0, 1), axes)
