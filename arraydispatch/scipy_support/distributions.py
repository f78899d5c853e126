"""``scipy.stats``: densities, probabilities and quantiles of distributions. SciPy's own code computes the standard forms on arrays."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats

from .._core.handles import Handle
from ..common import events
from ..functions import registry
from ..functions.operands import native_of, wrapped
from ..functions.registry import XP
from ..runtime import dtypes
from .operand_checks import array, only

Formula = Callable[..., Any]
_INF = math.inf
_LARGEST = float(np.finfo(np.float64).max)


def _laplace(xp: XP, x: Any) -> Any:
    tail = xp.multiply(0.5, xp.exp(xp.negative(xp.absolute(x))))
    return xp.where(xp.greater(x, 0), xp.subtract(1.0, tail), tail)


def _cotangent(xp: XP, q: Any) -> Any:
    """Compute the cotangent of pi times a probability, accurate next to both poles, infinite at them and 0 at a half."""
    turned = xp.where(xp.greater(q, 0.5), xp.subtract(q, 1.0), q)
    known = xp.logical_or(xp.equal(turned, 0.0), xp.equal(turned, 0.5))
    value = xp.divide(1.0, xp.tan(xp.multiply(math.pi, xp.where(known, 0.25, turned))))
    return xp.where(known, xp.where(xp.equal(q, 0.5), 0.0, xp.where(xp.less(q, 0.5), _INF, -_INF)), value)


def _rayleigh(xp: XP, x: Any) -> Any:
    x = xp.minimum(x, 1e3)  # the density is 0 well before; avoids infinity times 0
    return xp.multiply(x, xp.exp(xp.multiply(-0.5, xp.multiply(x, x))))


_RUN = {
    "norm": "pdf logpdf cdf logcdf sf logsf ppf isf",
    "expon": "pdf logpdf cdf sf logsf ppf isf",
    "uniform": "pdf logpdf cdf sf ppf isf",
    "logistic": "pdf logpdf cdf logcdf sf logsf ppf isf",
    "laplace": "pdf",
    "cauchy": "pdf cdf sf",
    "rayleigh": "cdf sf",
    "gumbel_r": "pdf logpdf cdf",
    "gamma": "pdf logpdf cdf sf",
    "chi2": "pdf logpdf cdf sf",
}
"""Distribution -> methods with a standard form that SciPy's own code computes on arrays."""
_FORMULAS: dict[tuple[str, str], Formula] = {
    ("laplace", "cdf"): _laplace,
    ("laplace", "sf"): lambda xp, x: _laplace(xp, xp.negative(x)),
    ("cauchy", "ppf"): lambda xp, q: xp.negative(_cotangent(xp, q)),
    ("cauchy", "isf"): _cotangent,
    ("rayleigh", "pdf"): _rayleigh,
}
"""(distribution, method) -> formula in place of SciPy's code, which is a loop in C or lacks a derivative at some places."""


def _standard(xp: XP, owner: Any, name: str, x: Any, shapes: list[Any]) -> Any:
    """Compute the method ``name`` of the distribution ``owner`` in its standard form (location 0, scale 1)."""
    formula = _FORMULAS.get((owner.name, name))
    if formula is not None:
        return formula(xp, x)
    with events.Body():
        found = getattr(owner, f"_{name}")(*(wrapped(xp, v) if xp.is_array(v) else v for v in (x, *shapes)))
    return native_of(xp, found) if isinstance(found, Handle) else xp.asarray(found, like=x)


_BELOW = {"pdf": 0.0, "logpdf": -_INF, "cdf": 0.0, "logcdf": -_INF, "sf": 1.0, "logsf": 0.0}
_ABOVE = {"pdf": 0.0, "logpdf": -_INF, "cdf": 1.0, "logcdf": 0.0, "sf": 0.0, "logsf": -_INF}


def _parameters(owner: Any, args: tuple[Any, ...], kwds: dict[str, Any]) -> list[Any]:
    """Return the shape parameters, the location and the scale from the arguments of a method of the distribution ``owner``."""
    names = [*(owner.shapes.split(", ") if owner.shapes else ()), "loc", "scale"]
    only(len(args) <= len(names) and set(kwds) <= set(names), "arguments of another kind")
    given = dict(zip(names, args))
    only(not set(given) & set(kwds), "an argument twice")
    given |= kwds
    only(all(n in given for n in names[:-2]), "parameters are missing")
    return [given.get(n, 0.0 if n == "loc" else 1.0) for n in names]


def _of_float64(xp: XP, x: Any, like: Any) -> Any:
    if isinstance(x, int | float | np.floating | np.integer):
        return float(x)
    x = array(xp, x, like)
    dtype = xp.dtype_of(x)
    only(dtype.kind in "iu" or (dtype.kind == "f" and dtype.itemsize >= 4), "no real numbers")
    return xp.prim.astype(x, dtypes.FLOAT64)


def _method(name: str) -> None:
    func = vars(scipy.stats.rv_continuous).get(name)
    if func is None or func not in registry.METHODS:
        return
    inverse = name in ("ppf", "isf")

    @registry.implements(func, pure=True, returns="scalar")
    def body(xp: XP, owner: Any, x: Any, /, *args: Any, **kwds: Any) -> Any:
        distribution = getattr(owner, "name", type(owner).__name__)
        only(distribution in _RUN and type(owner).__module__ == "scipy.stats._continuous_distns", distribution)
        only(
            name in _RUN[distribution].split() or (distribution, name) in _FORMULAS,
            f"{distribution}.{name} is not known by a formula",
        )
        like = next((v for v in (x, *args, *kwds.values()) if xp.is_array(v)), None)
        x = _of_float64(xp, x, like)
        *shapes, loc, scale = (_of_float64(xp, p, like) for p in _parameters(owner, args, kwds))
        if not xp.is_array(x):
            x = xp.asarray(x, dtypes.FLOAT64, like=like)
        with np.errstate(all="ignore"):
            y = x if inverse else xp.divide(xp.subtract(x, loc), scale)
            low, high = (0.0, 1.0) if inverse else (owner.a, owner.b)
            if not inverse and not name.endswith("pdf"):
                high = min(high, _LARGEST)  # at infinity the probability does not depend on the shapes
            inside = xp.logical_and(xp.greater_equal(y, low), xp.less_equal(y, high))
            valid = xp.greater(scale, 0.0)
            for shape in shapes:
                valid = xp.logical_and(valid, xp.greater(shape, 0.0))
            safe = xp.where(inside, y, 0.5)
            value = _standard(xp, owner, name, safe, shapes)
            if inverse:
                value = xp.where(inside, xp.add(xp.multiply(value, scale), loc), math.nan)
            else:
                if name == "pdf":
                    value = xp.divide(value, scale)
                elif name == "logpdf":
                    value = xp.subtract(value, xp.log(scale))
                outside = xp.where(xp.less(y, low), _BELOW[name], _ABOVE[name])
                value = xp.where(inside, value, xp.where(xp.isnan(y), math.nan, outside))
            return xp.where(valid, value, math.nan)


for _name in ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"):
    _method(_name)
