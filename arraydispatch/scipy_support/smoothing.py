"""``scipy.signal``: spline filters, which run forward and backward over a signal.

Such a filter is a linear function of the line: given by a matrix for short lines, and for long ones by the matrix of a
shorter line at the two ends, and the impulse response of its middle in between.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..functions.registry import XP
from ..runtime import dtypes
from . import implements, stand_in
from .images import MOST_TAPS, along
from .operand_checks import array, every, only, plain, row_of

_LONGEST = 512
_FADED = 1e-18


@lru_cache(maxsize=16)
def _matrix(name: str, n: int, *options: float) -> np.ndarray[Any, Any]:
    """Return the matrix of one of SciPy's filters for ``n`` elements, to be multiplied from the left."""
    real = stand_in(f"scipy.signal.{name}").__wrapped__
    return np.asarray(real(np.eye(n), *options))


def _filtered(xp: XP, x: Any, axis: int, name: str, *options: float) -> Any:
    """Apply one of SciPy's filters along an axis of float64s."""
    n = xp.shape_of(x)[axis]
    matrix = _matrix(name, min(n, _LONGEST), *options)
    if n <= _LONGEST:
        return _times(xp, x, matrix, axis)
    half = _LONGEST // 2
    middle = matrix[:, half]
    seen = np.flatnonzero(np.abs(middle) > _FADED * np.abs(middle).max())
    reach = int(max(half - seen[0], seen[-1] - half))
    only(2 * reach < half and 2 * reach < MOST_TAPS, "a filter that reaches far in a long signal")
    inner = along(xp, x, middle[half - reach : half + reach + 1], axis, "reflect", 0.0, 0)
    ends = 2 * reach + 1  # beyond it, the ends have no effect
    start = _times(xp, row_of(xp, x, axis, 0, half), matrix[:half, :ends], axis)
    stop = _times(xp, row_of(xp, x, axis, n - half, n), matrix[half:, _LONGEST - ends :], axis)
    return xp.concatenate([start, row_of(xp, inner, axis, ends, n - ends), stop], axis)


def _times(xp: XP, x: Any, matrix: np.ndarray[Any, Any], axis: int) -> Any:
    lines = xp.moveaxis(x, axis, -1)
    right = xp.backend.from_numpy(np.ascontiguousarray(matrix), xp.backend.device_of(x))
    return xp.moveaxis(xp.prim.matmul(lines, right), -1, axis)


def _signal(xp: XP, x: Any) -> tuple[Any, np.dtype[Any], float]:
    """Return a signal in double precision, its dtype, and the distance over which SciPy sums at its ends."""
    x = array(xp, x)
    have = xp.dtype_of(x)
    only(have.kind in "iu" or have.char in "fd", f"a signal of dtype {have}")
    only(0 not in xp.shape_of(x), "no data")
    only(not xp.backend.is_concrete(x) or every(xp, xp.isfinite(x)), "the signal is not finite")
    to = dtypes.FLOAT32 if have.char == "f" else dtypes.FLOAT64
    return xp.prim.astype(x, dtypes.FLOAT64), to, 1e-3 if have.char == "f" else 1e-6


def _on_both(xp: XP, x: Any, to: np.dtype[Any], name: str, *options: float) -> Any:
    ndim = xp.ndim_of(x)
    for axis in (-1, 0):
        x = _filtered(xp, x, normalize_axis_index(axis, ndim), name, *options)
        x = xp.prim.astype(xp.prim.astype(x, to), dtypes.FLOAT64)
    return xp.prim.astype(x, to)


def _precision(given: float, usual: float) -> float:
    return usual if given < 0.0 or given >= 1.0 else given


@implements("scipy.signal.cspline2d", error="sum")
def cspline2d(xp: XP, signal: Any, lamb: Any = 0.0, precision: Any = -1.0) -> Any:
    x, to, usual = _signal(xp, signal)
    lamb, precision = float(plain(xp, lamb)), _precision(float(plain(xp, precision)), usual)
    if lamb <= 1 / 144.0:
        pole = -2 + math.sqrt(3.0)
        return _on_both(xp, x, to, "symiirorder1", -pole * 6.0, pole, precision)
    root = math.sqrt(3 + 144 * lamb)
    xi = 1 - 96 * lamb + 24 * lamb * root
    omega = math.atan(math.sqrt((144 * lamb - 1.0) / xi))
    xi_root = math.sqrt(xi)
    r = (24 * lamb - 1 - xi_root) / (24 * lamb) * math.sqrt(48 * lamb + 24 * lamb * root) / xi_root
    return _on_both(xp, x, to, "symiirorder2", r, omega, precision)


@implements("scipy.signal.qspline2d", error="sum")
def qspline2d(xp: XP, signal: Any, lamb: Any = 0.0, precision: Any = -1.0) -> Any:
    x, to, usual = _signal(xp, signal)
    if plain(xp, lamb) > 0:
        raise ValueError("lambda must be negative or zero")
    pole = -3 + 2 * math.sqrt(2.0)
    return _on_both(xp, x, to, "symiirorder1", -pole * 8.0, pole, _precision(float(plain(xp, precision)), usual))


def _along_rows(xp: XP, signal: Any, name: str, precision: Any, *options: Any) -> Any:
    x, to, _ = _signal(xp, signal)
    if xp.ndim_of(x) > 2:
        raise ValueError("Input must be 1D or 2D")
    only(xp.ndim_of(x) > 0, "a signal without an axis")
    values = [plain(xp, value) for value in options]
    only(all(isinstance(v, int | float) for v in values), "coefficients that are not real")
    given = float(plain(xp, precision))
    if not 0.0 < given <= 1.0:
        given = 1e-6 if to == dtypes.FLOAT32 else 1e-11
    return xp.prim.astype(_filtered(xp, x, xp.ndim_of(x) - 1, name, *values, given), to)


@implements("scipy.signal.symiirorder1", error="sum")
def symiirorder1(xp: XP, signal: Any, c0: Any, z1: Any, precision: Any = -1.0) -> Any:
    return _along_rows(xp, signal, "symiirorder1", precision, c0, z1)


@implements("scipy.signal.symiirorder2", error="sum")
def symiirorder2(xp: XP, input: Any, r: Any, omega: Any, precision: Any = -1.0) -> Any:
    return _along_rows(xp, input, "symiirorder2", precision, r, omega)
