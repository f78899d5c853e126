"""Wright's generalized Bessel function for nonnegative parameters and arguments: a sum of positive terms (DLMF 10.46.1)."""

from __future__ import annotations

import math

from .formula import (
    Real,
    Truth,
    broadcast,
    choose,
    exp,
    floor,
    formula,
    isnan,
    log,
    maximum,
    pieces,
    power,
    repeat,
    special,
    sqrt,
    where,
)
from .gammas import log_scaled

_INF, _NAN = math.inf, math.nan
_MOST = 250
_WIDE = 9.5
"""Number of standard deviations beyond which terms are negligible in double precision."""
_SMOOTH = 60.0
"""Variance from which the sum is that of a smooth function."""
_SHORT = 12.0


def _log_gamma(z: Real) -> Real:
    """Compute log(gamma(z)): from 12 by Stirling's series, below by shifting."""
    small = z < _SHORT
    w = where(small, z + _SHORT, z)
    less = where(small, z, 1.0)
    product = less
    for i in range(1, int(_SHORT)):
        product = product * (less + float(i))
    return (w - 0.5) * log(w) - w + 0.5 * math.log(2 * math.pi) + log_scaled(w) - where(small, log(product), 0.0)


def _term(k: Real, a: Real, b: Real, x: Real) -> Real:
    """Compute x**k / (k! gamma(a k + b)), by logarithms where factors may be out of range."""

    def direct(k: Real, z: Real, x: Real) -> Real:
        return power(x, k) * special("rgamma", k + 1.0) * special("rgamma", z)

    def large(k: Real, z: Real, x: Real) -> Real:
        return exp(k * log(x) - _log_gamma(k + 1.0) - _log_gamma(z))

    z = a * k + b
    plain = (k <= _SHORT) & (z <= _SHORT) & (x < 1e20)
    return pieces((k, z, x), [(plain, direct, (1.0, 1.0, 1.0)), (k >= 0.0, large, (20.0, 20.0, 1.0))], 0.0)


def _top(a: Real, b: Real, x: Real) -> tuple[Real, Real]:
    """Return the approximate index of the largest term, and the variance of the terms around it."""
    log_ = log(x)
    u = maximum(log_, 0.0)
    for _ in range(12):  # Newton's method in log(k + 1): the logarithm of a ratio of terms is nearly linear in it
        e = exp(u)
        z = a * (e - 1.0) + b + 1.0
        u = maximum(u - (u + a * log(z) - log_) / (1.0 + a * a * (e / z)), 0.0)
    e = exp(u)
    return e - 1.0, 1.0 / (1.0 / e + a * a / (a * (e - 1.0) + b + 1.0))


def _few(a: Real, b: Real, x: Real) -> Real:
    top, variance = _top(a, b, x)
    width = _WIDE * sqrt(variance)
    first, last = maximum(floor(top - width) - 8.0, 0.0), top + width + 35.0

    def step(k: Real, total: Real, last: Real, a: Real, b: Real, x: Real) -> tuple[Real, ...]:
        return k + 1.0, where(k <= last, total + _term(k, a, b, x), total), last, a, b, x

    def going(k: Real, total: Real, last: Real, a: Real, b: Real, x: Real) -> Truth:
        return k <= last

    return repeat(step, going, (first, x * 0.0, last, a, b, x), _MOST)[1]


def _many(a: Real, b: Real, x: Real) -> Real:
    """Sum every so many-th term: the trapezoidal rule is exact to rounding if its step is below two thirds of the deviation."""
    top, variance = _top(a, b, x)
    deviation = sqrt(variance)
    total = x * 0.0
    for i in range(-15, 19):
        total = total + _term(top + deviation * (i * 0.63), a, b, x)
    return total * deviation * 0.63


@formula("wright_bessel")
def wright_bessel(a: Real, b: Real, x: Real) -> Real:
    a, b, x = broadcast(a, b, x)
    fine = (a >= 0.0) & (b >= 0.0) & (x >= 0.0) & (a < _INF) & (b < _INF)
    inside = fine & (a > 0.0) & (x > 0.0) & (x < _INF)
    a_, b_, x_ = where(inside, a, 1.0), where(inside, b, 1.0), where(inside, x, 1.0)
    many = _top(a_, b_, x_)[1] > _SMOOTH
    value = pieces((a_, b_, x_), [(many, _many, (0.5, 1.0, 1e5)), (~many, _few, (1.0, 1.0, 1.0))])
    scale = special("rgamma", b)
    half = exp(x * 0.5)
    return choose(
        value,
        (~fine | isnan(x), _NAN),
        (x == _INF, _INF),
        (x == 0.0, scale),
        (a == 0.0, where(b == 0.0, 0.0, half * scale * half)),
    )
