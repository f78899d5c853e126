"""Error functions and the normal distribution."""

from __future__ import annotations

import math

from numpy import exp, isinf, isnan, log, log1p, rint

from . import expansions
from .formula import INF, Real, choose, formula, series, special, where

_ROOT_HALF = math.sqrt(0.5)


def exp_square(x: Real) -> Real:
    """Compute exp(x**2), with the square split into two parts, one of them exact."""
    head = rint(x * 128.0) * (1 / 128.0)
    return exp(head * head) * exp((x - head) * (x + head))


def _scaled_above(x: Real) -> Real:
    return series(expansions.ERFCX, (x - 3.75) / (x + 3.75)) / (x * 2.0 + 1.0)


@formula("erfcx")
def erfcx(x: Real) -> Real:
    size = abs(x)
    above = _scaled_above(where(isinf(x), 1e300, size))
    square = exp_square(where((x < 0.0) & (x >= -27.0), x, 0.0))
    return choose(above, (isnan(x), x), (x < -27.0, INF), (x < 0.0, square * 2.0 - above), (isinf(x), 0.0))


@formula("erfinv")
def erfinv(y: Real) -> Real:
    size = abs(y)
    inner = where(size < 0.5, y, 0.0)
    small = inner * series(expansions.ERFINV, inner * inner)
    outer = where(size < 0.5, 0.75, size)
    tail = special("ndtri", (1.0 - outer) * 0.5) * -_ROOT_HALF
    return choose(small, (isnan(y), y), (size >= 0.5, where(y < 0.0, -tail, tail)))


@formula("erfcinv")
def erfcinv(y: Real) -> Real:
    return special("ndtri", y * 0.5) * -_ROOT_HALF


@formula("ndtr")
def ndtr(x: Real) -> Real:
    return special("erfc", x * -_ROOT_HALF) * 0.5


@formula("log_ndtr")
def log_ndtr(x: Real) -> Real:
    t = x * _ROOT_HALF
    low = x < -1.0
    below = where(low & ~isinf(x), t, -1.0)
    tail = log(special("erfcx", -below) * 0.5) - below * below
    above = log1p(special("erfc", where(low, 1.0, t)) * -0.5)
    return choose(above, (isnan(x), x), (x == -INF, -INF), (low, tail))
