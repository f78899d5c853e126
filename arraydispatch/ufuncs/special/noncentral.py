"""Distribution function of the noncentral chi-squared distribution."""

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
    maximum,
    minimum,
    pieces,
    power,
    repeat,
    special,
    sqrt,
    where,
)
from .gammas import log_scaled
from .incomplete import log1pmx

_INF, _NAN = math.inf, math.nan
_MOST = 450
_WIDE = 9.5
"""Number of standard deviations beyond which terms are negligible in double precision."""
_SMOOTH = 400.0
"""Index of the largest term from which all terms are far from the first one."""


def _poisson(j: Real, rate: Real) -> Real:
    """Compute rate**j exp(-rate) / gamma(j + 1); large numbers through the difference of both (C. Loader 2000)."""
    large = j > 10.0
    k = where(large, j, 20.0)
    bell = exp(k * log1pmx((rate - k) / k) - log_scaled(k)) / sqrt(k * (2 * math.pi))
    i = where(large, 1.0, j)
    return where(large, bell, power(rate, i) * exp(-rate) / special("gamma", i + 1.0))


def _top(x: Real, a: Real, rate: Real) -> Real:
    """Return the index of the largest terms of the sum, or a larger one."""
    return minimum(rate, 2.0 * rate * x / (sqrt(a * a + 4.0 * rate * x) + a))


def _few(x: Real, a: Real, rate: Real) -> Real:
    """Sum Poisson probabilities times P(a + j, x) over j (Johnson, Kotz and Balakrishnan 1995, 29.2), downwards.

    Downwards P grows by terms of one sign (DLMF 8.8.5).
    """
    top = _top(x, a, rate)
    width = _WIDE * sqrt(top)
    first = floor(top + width) + 30.0
    last = maximum(floor(top - width) - 5.0, 0.0)

    def step(j: Real, part: Real, total: Real, last: Real, x: Real, a: Real, rate: Real) -> tuple[Real, ...]:
        more = j >= last
        total = where(more, total + _poisson(j, rate) * part, total)
        below = maximum(j - 1.0, 0.0)
        return j - 1.0, part + _poisson(a + below, x), total, last, x, a, rate

    def going(j: Real, part: Real, total: Real, last: Real, x: Real, a: Real, rate: Real) -> Truth:
        return j >= last

    return repeat(step, going, (first, special("gammainc", a + first, x), x * 0.0, last, x, a, rate), _MOST)[2]


def _many(x: Real, a: Real, rate: Real) -> Real:
    """Sum a smooth function in the same way, with every so many-th term only.

    The trapezoidal rule is exact to rounding if its step is less than two thirds of the standard deviation.
    """
    top = _top(x, a, rate)
    width = _WIDE * sqrt(top)
    stride = sqrt(top / (1.0 + top / (a + top))) * (2 / 3)

    def step(j: Real, total: Real, end: Real, by: Real, x: Real, a: Real, rate: Real) -> tuple[Real, ...]:
        term = _poisson(j, rate) * special("gammainc", a + j, x)
        return j + by, where(j <= end, total + term, total), end, by, x, a, rate

    def going(j: Real, total: Real, end: Real, by: Real, x: Real, a: Real, rate: Real) -> Truth:
        return j <= end

    return repeat(step, going, (top - width, x * 0.0, top + width * 1.2, stride, x, a, rate), _MOST)[1] * stride


def _sum(x: Real, a: Real, rate: Real) -> Real:
    few = _top(x, a, rate) <= _SMOOTH
    return pieces((x, a, rate), [(few, _few, (1.0, 1.0, 1.0)), (~few, _many, (400.0, 10.0, 400.0))])


@formula("chndtr")
def chndtr(x: Real, df: Real, nc: Real) -> Real:
    x, df, nc = broadcast(x, df, nc)
    fine = (x >= 0.0) & (df > 0.0) & (nc >= 0.0) & (df < _INF) & (nc < _INF)
    inside = fine & (x > 0.0) & (x < _INF)
    value = _sum(where(inside, x, 1.0) * 0.5, where(inside, df, 1.0) * 0.5, where(inside, nc, 1.0) * 0.5)
    value = minimum(value, 1.0)
    ended = (df > 0.0) & (nc == _INF)  # SciPy returns zero for all finite numbers
    only = (df == 0.0) & (nc == 0.0)
    undefined = isnan(x) | isnan(df) | isnan(nc) | (x < 0.0)
    return choose(
        value,
        (undefined, _NAN),
        (ended, where(x == _INF, _NAN, x * 0.0)),
        ((df == _INF) & (nc == 0.0), where(x == _INF, 1.0, x * 0.0)),
        (only, 1.0),
        (~fine, _NAN),
        (x == 0.0, 0.0),
        (x == _INF, 1.0),
    )
