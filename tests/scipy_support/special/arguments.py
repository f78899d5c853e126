"""What the tests of SciPy's ufuncs are run on: each function's whole domain, with its edges."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.special

from arraydispatch.backends.base import Backend
from arraydispatch.ufuncs import special

Values = np.ndarray[Any, Any]

special.name_of(scipy.special.erf)  # takes them all in
UFUNCS: dict[str, np.ufunc] = dict(special.UFUNCS)
"""Name -> ufunc, all that SciPy has."""

FORMULAS = frozenset(special.BODIES)
"""Names of those with a formula, which run on every backend."""


def on_devices(backend: Backend) -> list[str]:
    """Names of those that a backend runs by itself."""
    return sorted(FORMULAS | set(backend.special))


def line(dtype: str) -> Values:
    """One operand: the line from end to end, whole and half numbers, and what is near none."""
    limits = np.finfo(dtype)
    least = 1e-20 if dtype == "d" else 1e-12
    ends = [0.0, limits.tiny * 4, limits.eps, least, 1e-8, 1e-3, 1e4, 1e8, np.inf]
    known = [170.0, 171.5, 172.0, 35.0, 36.0, 88.0, 100.0, 500.0, 709.0, 745.0]
    parts = [ends, known, np.linspace(0.01, 5, 300), np.linspace(5, 60, 200), np.arange(1, 40), np.arange(1, 40) + 0.5]
    positive = np.concatenate([*parts, np.logspace(-10, 8, 150)]).astype(dtype)
    return np.concatenate([positive, -positive, [np.nan]]).astype(dtype)


def _few(dtype: str) -> Values:
    edges = [0, 1e-8, 1e-3, 0.3, 1, 2.5, 10, 33, 50, 100, 170, 200, 500, 1000, 1e4, np.inf]
    below = [-0.1, -0.5, -1, -1.5, -2, -3.3, -10, -33, -np.inf, np.nan]
    return np.unique(np.concatenate([edges, below, np.linspace(0.05, 20, 30)])).astype(dtype)


def _grid(*axes: Any) -> tuple[Values, ...]:
    return tuple(g.ravel() for g in np.meshgrid(*axes, indexing="ij"))


_OF_PARTS = frozenset({"betainc", "betaincc"})


def arguments(name: str, dtype: str) -> tuple[Values, ...]:
    """Operands of one function in one precision."""
    nin = UFUNCS[name].nin
    if nin == 1:
        return (line(dtype),)
    if nin == 2:
        return _grid(_few(dtype), _few(dtype))
    a = np.array([0, 0.1, 0.5, 1, 1.5, 2, 5, 10, 33, 100, 500, 1e4, -1, np.nan, np.inf], dtype)
    x = np.array([0, 1e-8, 0.01, 0.1, 0.3, 0.5, 0.75, 0.9, 0.999, 1, -0.1, 1.1, np.nan], dtype)
    if name not in _OF_PARTS:
        x = np.abs(x) * np.asarray(3, dtype)
    return _grid(a, a, x)


def reference(name: str, operands: tuple[Values, ...], dtype: str) -> tuple[Values, ...]:
    """SciPy's values in double precision, rounded once: its own loops for single do no better, and some do worse."""
    made = UFUNCS[name](*(x.astype("d") for x in operands))
    return tuple(np.asarray(x).astype(dtype) for x in (made if isinstance(made, tuple) else (made,)))


def unit(name: str, operands: tuple[Values, ...], want: tuple[Values, ...]) -> list[Values]:
    """For each output and element: the spacing of floats there, or what the last place of an operand makes, if that is more."""
    units = [np.spacing(np.abs(w)).astype("d") for w in want]
    here = reference(name, operands, "d")
    for i, x in enumerate(operands):
        for towards in (-math.inf, math.inf):
            moved = list(operands)
            moved[i] = np.nextafter(x, x.dtype.type(towards))
            for k, there in enumerate(reference(name, tuple(moved), "d")):
                change = np.abs(there - here[k])
                units[k] = np.maximum(units[k], np.where(np.isfinite(change), change, 0.0))
    return units


def distances(got: tuple[Values, ...], want: tuple[Values, ...], units: list[Values]) -> list[Values]:
    """For each output and element the distance in units; infinite where one is NaN or infinite and the other is not."""
    found = []
    for g, w, u in zip(got, want, units, strict=True):
        tiny = np.finfo(w.dtype).tiny
        # subnormal numbers are zeros to XLA and TensorFlow
        a, b = (np.where(np.abs(x) < tiny, 0.0, x).astype("d") for x in (g, w))
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        with np.errstate(all="ignore"):
            apart = np.abs(a - b) / np.maximum(u, tiny * np.finfo(w.dtype).eps)
        apart = np.where(np.isfinite(a) & np.isfinite(b), apart, np.inf)
        # and so are terms of sums that are small themselves
        least = 8 * tiny if w.dtype == "f" else 1e-290
        apart = np.where((np.maximum(np.abs(a), np.abs(b)) < least) & np.isfinite(apart), 0.0, apart)
        apart = np.where(same, 0.0, apart)
        found.append(apart)
    return found
