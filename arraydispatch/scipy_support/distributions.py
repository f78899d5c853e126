"""``scipy.stats``: densities, probabilities and quantiles of distributions, by their formulas over ``scipy.special``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.special
import scipy.stats

from ..functions import registry
from ..functions.registry import XP
from ..runtime import dtypes
from .operand_checks import array, only

Formula = Callable[..., Any]
_INF = math.inf
_LARGEST = float(np.finfo(np.float64).max)
_ROOT = math.sqrt(2 * math.pi)


def _call(xp: XP, name: str, *operands: Any) -> Any:
    return xp.call(getattr(scipy.special, name), *operands)


class _Distribution:
    """Formulas of a continuous distribution in its standard form, named after SciPy's methods."""

    def __init__(self, shapes: int, lower: float, upper: float, **formulas: Formula) -> None:
        self.shapes, self.lower, self.upper, self.formulas = shapes, lower, upper, formulas


def _logistic(xp: XP, x: Any) -> Any:
    y = xp.negative(xp.absolute(x))
    return xp.subtract(y, xp.multiply(2.0, xp.log1p(xp.exp(y))))


def _laplace(xp: XP, x: Any) -> Any:
    tail = xp.multiply(0.5, xp.exp(xp.negative(xp.absolute(x))))
    return xp.where(xp.greater(x, 0), xp.subtract(1.0, tail), tail)


def _cotangent(xp: XP, q: Any) -> Any:
    """Cotangent of pi times a probability, with all digits next to both poles, infinite at them and 0 at a half."""
    turned = xp.where(xp.greater(q, 0.5), xp.subtract(q, 1.0), q)
    known = xp.logical_or(xp.equal(turned, 0.0), xp.equal(turned, 0.5))
    value = xp.divide(1.0, xp.tan(xp.multiply(math.pi, xp.where(known, 0.25, turned))))
    return xp.where(known, xp.where(xp.equal(q, 0.5), 0.0, xp.where(xp.less(q, 0.5), _INF, -_INF)), value)


def _rayleigh(xp: XP, x: Any) -> Any:
    x = xp.minimum(x, 1e3)  # the density is 0 well before; avoids infinity times 0
    return xp.multiply(x, xp.exp(xp.multiply(-0.5, xp.multiply(x, x))))


def _gamma(xp: XP, x: Any, a: Any) -> Any:
    return xp.subtract(xp.subtract(_call(xp, "xlogy", xp.subtract(a, 1.0), x), x), _call(xp, "gammaln", a))


def _chi2(xp: XP, x: Any, df: Any) -> Any:
    half = xp.divide(df, 2.0)
    first = xp.subtract(_call(xp, "xlogy", xp.subtract(half, 1.0), x), xp.divide(x, 2.0))
    return xp.subtract(xp.subtract(first, _call(xp, "gammaln", half)), xp.divide(xp.multiply(math.log(2), df), 2.0))


_KNOWN: dict[str, _Distribution] = {
    "norm": _Distribution(
        0, -_INF, _INF,
        pdf=lambda xp, x: xp.divide(xp.exp(xp.divide(xp.negative(xp.multiply(x, x)), 2.0)), _ROOT),
        logpdf=lambda xp, x: xp.subtract(xp.divide(xp.negative(xp.multiply(x, x)), 2.0), math.log(_ROOT)),
        cdf=lambda xp, x: _call(xp, "ndtr", x), logcdf=lambda xp, x: _call(xp, "log_ndtr", x),
        sf=lambda xp, x: _call(xp, "ndtr", xp.negative(x)), logsf=lambda xp, x: _call(xp, "log_ndtr", xp.negative(x)),
        ppf=lambda xp, q: _call(xp, "ndtri", q), isf=lambda xp, q: xp.negative(_call(xp, "ndtri", q)),
    ),
    "expon": _Distribution(
        0, 0.0, _INF,
        pdf=lambda xp, x: xp.exp(xp.negative(x)), logpdf=lambda xp, x: xp.negative(x),
        cdf=lambda xp, x: xp.negative(xp.expm1(xp.negative(x))), sf=lambda xp, x: xp.exp(xp.negative(x)),
        logsf=lambda xp, x: xp.negative(x), ppf=lambda xp, q: xp.negative(xp.log1p(xp.negative(q))),
        isf=lambda xp, q: xp.negative(xp.log(q)),
    ),
    "uniform": _Distribution(
        0, 0.0, 1.0,
        pdf=lambda xp, x: xp.ones_like(x), logpdf=lambda xp, x: xp.zeros_like(x), cdf=lambda xp, x: x,
        sf=lambda xp, x: xp.subtract(1.0, x), ppf=lambda xp, q: q, isf=lambda xp, q: xp.subtract(1.0, q),
    ),
    "logistic": _Distribution(
        0, -_INF, _INF,
        pdf=lambda xp, x: xp.exp(_logistic(xp, x)), logpdf=_logistic,
        cdf=lambda xp, x: _call(xp, "expit", x), sf=lambda xp, x: _call(xp, "expit", xp.negative(x)),
        logcdf=lambda xp, x: _call(xp, "log_expit", x), logsf=lambda xp, x: _call(xp, "log_expit", xp.negative(x)),
        ppf=lambda xp, q: _call(xp, "logit", q), isf=lambda xp, q: xp.negative(_call(xp, "logit", q)),
    ),
    "laplace": _Distribution(
        0, -_INF, _INF,
        pdf=lambda xp, x: xp.multiply(0.5, xp.exp(xp.negative(xp.absolute(x)))),
        cdf=_laplace, sf=lambda xp, x: _laplace(xp, xp.negative(x)),
    ),
    "cauchy": _Distribution(
        0, -_INF, _INF,
        pdf=lambda xp, x: xp.divide(1.0 / math.pi, xp.add(1.0, xp.multiply(x, x))),
        cdf=lambda xp, x: xp.divide(xp.arctan2(xp.ones_like(x), xp.negative(x)), math.pi),
        sf=lambda xp, x: xp.divide(xp.arctan2(xp.ones_like(x), x), math.pi),
        ppf=lambda xp, q: xp.negative(_cotangent(xp, q)), isf=_cotangent,
    ),
    "rayleigh": _Distribution(
        0, 0.0, _INF,
        pdf=_rayleigh,
        cdf=lambda xp, x: xp.negative(xp.expm1(xp.multiply(-0.5, xp.multiply(x, x)))),
        sf=lambda xp, x: xp.exp(xp.multiply(-0.5, xp.multiply(x, x))),
    ),
    "gumbel_r": _Distribution(
        0, -_INF, _INF,
        pdf=lambda xp, x: xp.exp(xp.subtract(xp.negative(x), xp.exp(xp.negative(x)))),
        logpdf=lambda xp, x: xp.subtract(xp.negative(x), xp.exp(xp.negative(x))),
        cdf=lambda xp, x: xp.exp(xp.negative(xp.exp(xp.negative(x)))),
    ),
    "gamma": _Distribution(
        1, 0.0, _INF,
        pdf=lambda xp, x, a: xp.exp(_gamma(xp, x, a)), logpdf=_gamma,
        cdf=lambda xp, x, a: _call(xp, "gammainc", a, x), sf=lambda xp, x, a: _call(xp, "gammaincc", a, x),
    ),
    "chi2": _Distribution(
        1, 0.0, _INF,
        pdf=lambda xp, x, df: xp.exp(_chi2(xp, x, df)), logpdf=_chi2,
        cdf=lambda xp, x, df: _call(xp, "chdtr", df, x), sf=lambda xp, x, df: _call(xp, "chdtrc", df, x),
    ),
}  # fmt: skip


_BELOW = {"pdf": 0.0, "logpdf": -_INF, "cdf": 0.0, "logcdf": -_INF, "sf": 1.0, "logsf": 0.0}
_ABOVE = {"pdf": 0.0, "logpdf": -_INF, "cdf": 1.0, "logcdf": 0.0, "sf": 0.0, "logsf": -_INF}


def _parameters(owner: Any, known: _Distribution, args: tuple[Any, ...], kwds: dict[str, Any]) -> list[Any]:
    """Return the shape parameters, the location and the scale."""
    names = [*(owner.shapes.split(", ") if owner.shapes else ()), "loc", "scale"]
    only(len(args) <= len(names) and set(kwds) <= set(names), "arguments of another kind")
    given = dict(zip(names, args))
    only(not set(given) & set(kwds), "an argument twice")
    given |= kwds
    only(len(names) == known.shapes + 2 and all(n in given for n in names[: known.shapes]), "parameters are missing")
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
        kind = type(owner)
        known = _KNOWN.get(getattr(owner, "name", ""))
        only(
            known is not None and kind.__module__ == "scipy.stats._continuous_distns",
            f"{getattr(owner, 'name', kind.__name__)}",
        )
        assert known is not None
        only(name in known.formulas, f"{owner.name}.{name} is not known by a formula")
        like = next((v for v in (x, *args, *kwds.values()) if xp.is_array(v)), None)
        x = _of_float64(xp, x, like)
        *shapes, loc, scale = (_of_float64(xp, p, like) for p in _parameters(owner, known, args, kwds))
        if not xp.is_array(x):
            x = xp.asarray(x, dtypes.FLOAT64, like=like)
        with np.errstate(all="ignore"):
            y = x if inverse else xp.divide(xp.subtract(x, loc), scale)
            low, high = (0.0, 1.0) if inverse else (known.lower, known.upper)
            if not inverse and not name.endswith("pdf"):
                high = min(high, _LARGEST)  # at infinity the probability does not depend on the shapes
            inside = xp.logical_and(xp.greater_equal(y, low), xp.less_equal(y, high))
            valid = xp.greater(scale, 0.0)
            for shape in shapes:
                valid = xp.logical_and(valid, xp.greater(shape, 0.0))
            safe = xp.where(inside, y, 0.5)
            value = known.formulas[name](xp, safe, *shapes)
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
