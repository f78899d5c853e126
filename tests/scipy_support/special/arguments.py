"""What the tests of SciPy's ufuncs are run on: each function's whole domain, with its edges."""

from __future__ import annotations

import math
import warnings
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


COMPLEX = sorted(name for name in special.COMPLEX if UFUNCS[name].nin == 1)
"""Names of those that run on every backend over the complex plane too."""


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


_COUNTED = frozenset({"bdtr", "bdtrc", "nbdtr", "nbdtrc"})
_OF_PARTS = frozenset({"betainc", "betaincc"})


def arguments(name: str, dtype: str) -> tuple[Values, ...]:
    """Operands of one function in one precision."""
    nin = UFUNCS[name].nin
    if name.startswith("eval_"):
        orders, x = np.arange(0, 15), np.linspace(-2, 3, 41).astype(dtype)
        axes: list[Any] = [orders, *[np.array([0.5, 1, 2.5], dtype)] * (nin - 2), x]
        return tuple(a if a.dtype.kind == "i" else a.astype(dtype) for a in _grid(*axes))
    if nin == 1:
        return (line(dtype),)
    if nin == 2:
        return _grid(_few(dtype), _few(dtype))
    a = np.array([0, 0.1, 0.5, 1, 1.5, 2, 5, 10, 33, 100, 500, 1e4, -1, np.nan, np.inf], dtype)
    x = np.array([0, 1e-8, 0.01, 0.1, 0.3, 0.5, 0.75, 0.9, 0.999, 1, -0.1, 1.1, np.nan], dtype)
    if name in _COUNTED:
        a = np.array([0, 1, 2, 3, 5, 10, 20, 50, 100, 1000, -1], dtype)
    elif name not in _OF_PARTS:
        x = np.abs(x) * np.asarray(3, dtype)
    return _grid(a, a, x)


def plane() -> Values:
    """Complex numbers: every pair of parts from end to end, and random ones at all scales."""
    parts = [
        0, 1e-300, 1e-12, 1e-6, 4e-4, 1e-3, 4e-3, 7e-3, 0.05, 0.09, 0.3, 0.7, 1, 1.5, 2, 2.7, math.pi, 4.9, 5.1, 6.1, 6.9, 7.5,
        8.5, 9.9, 10.5, 15, 27, 29, 50, 100, 700, 720, 3000, 5000, 1e8, 1e160, 1e300, np.inf,
    ]  # fmt: skip
    line = np.array([*parts, *(-x for x in parts), np.nan])
    x, y = _grid(line, line)
    rng = np.random.default_rng(0)
    scales = [0.01, 0.3, 1.0, 4.0, 10.0, 30.0]
    sizes = _grid(scales, scales, np.ones(100))
    more = [size * rng.normal(size=size.shape) for size in sizes[:2]]
    z = np.empty(x.size + more[0].size, complex)
    z.real, z.imag = np.concatenate([x, more[0]]), np.concatenate([y, more[1]])
    return z


def _parts(z: Values) -> tuple[Values, Values]:
    return z.real.copy(), z.imag.copy()


def distances_in_plane(name: str, z: Values, got: Values) -> list[Values]:
    """For the real and the imaginary part the distance in units, which are as :func:`unit` has them of both parts."""
    ufunc = UFUNCS[name]
    want = _parts(ufunc(z))
    units = [np.spacing(np.abs(w)) for w in want]
    for direction in (math.inf, -math.inf):
        for part in ("real", "imag"):
            moved = z.copy()
            setattr(moved, part, np.nextafter(getattr(z, part), direction))
            for k, there in enumerate(_parts(ufunc(moved))):
                change = np.abs(there - want[k])
                units[k] = np.maximum(units[k], np.where(np.isfinite(change), change, 0.0))
    out_of_range = (z.imag - z.real) * (z.imag + z.real) * (-1 if name == "erfi" else 1) > 700
    found = distances(f"{name} of complex numbers", (z,), _parts(got), want, units)
    if name in INFINITE:  # the product of an infinity and of zero, in SciPy
        found = [np.where(out_of_range & ~np.isfinite(w), 0.0, apart) for apart, w in zip(found, want, strict=True)]
    return found


INFINITE = frozenset({"erf", "erfc", "erfi"})
"""Those of which SciPy has NaN or an infinity where one part of the value is."""


def reference(name: str, operands: tuple[Values, ...], dtype: str) -> tuple[Values, ...]:
    """SciPy's values in double precision, rounded once: its own loops for single do no better, and some do worse."""
    wide = [x if x.dtype.kind == "i" else x.astype("d") for x in operands]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # counts that are not whole
        made = UFUNCS[name](*wide)
    return tuple(np.asarray(x).astype(dtype) for x in (made if isinstance(made, tuple) else (made,)))


def unit(name: str, operands: tuple[Values, ...], want: tuple[Values, ...]) -> list[Values]:
    """For each output and element: the spacing of floats there, or what the last place of an operand makes, if that is more."""
    units = [np.spacing(np.abs(w)).astype("d") for w in want]
    here = reference(name, operands, "d")
    for i, x in enumerate(operands):
        if x.dtype.kind != "f":
            continue
        for towards in (-math.inf, math.inf):
            moved = list(operands)
            moved[i] = np.nextafter(x, x.dtype.type(towards))
            for k, there in enumerate(reference(name, tuple(moved), "d")):
                change = np.abs(there - here[k])
                units[k] = np.maximum(units[k], np.where(np.isfinite(change), change, 0.0))
    return units


DEPARTURES: dict[str, tuple[str, Any]] = {
    "eval_gegenbauer": (
        "SciPy has NaN or 0 for some polynomials of a parameter that is 0, or next to 0 of parameters of -1/2 and less or beyond 1e8",
        lambda n, a, x: (a == 0) | (np.abs(x) < 1e-5) & ((a <= -0.5) | (a > 1e8)),
    ),
    "eval_jacobi": (
        "SciPy has 1e-17 and the like where a polynomial is 0",
        lambda n, a, b, x: np.abs(scipy.special.eval_jacobi(n, a, b, x)) < 1e-14,
    ),
    "binom": ("SciPy has 0 out of infinity, of some numbers below none", lambda n, k: np.isinf(n) & (k < 0)),
}
"""Name -> why, and of which operands, the values are other than SciPy's."""


def distances(
    name: str, operands: tuple[Values, ...], got: tuple[Values, ...], want: tuple[Values, ...], units: list[Values]
) -> list[Values]:
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
        if name in DEPARTURES:
            apart = np.where(DEPARTURES[name][1](*operands), 0.0, apart)
        found.append(apart)
    return found
