"""Modified Bessel functions of any real order.

For orders from 25: Debye's expansions, uniform in the argument (DLMF 10.41). Below, I is computed by its power series
(10.25.2), or for large arguments by the downward recurrence from these orders, whose terms have one sign. K is computed
by Temme's series (1975) and Steed's continued-fraction method (Temme; Thompson and Barnett 1987) for orders within a
half, and by the upward recurrence. I of negative order combines both.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from . import expansions
from .formula import (
    INF,
    NAN,
    Real,
    Truth,
    broadcast,
    choose,
    constant,
    cosh,
    exp,
    floor,
    formula,
    hypot,
    isinf,
    isnan,
    log,
    log1p,
    pieces,
    polynomial,
    power,
    repeat,
    rint,
    series,
    sinh,
    special,
    sqrt,
    where,
)
from .gammas import sin_pi

_EPS = 2.0**-53
_LARGE = 25.0
"""Order from which 13 terms of Debye's expansions are exact to double precision."""
_SHORT = 12.0
"""Argument up to which the power series is used; beyond, orders are less than Debye's or not much larger."""
_COUNTED = 165.0
"""Order up to which a gamma function is in range: the exponential of large logarithms has fewer digits than the powers."""
_FAST = 16.0
"""Square of the argument over the order, up to which the power series has no more than thirty terms."""
_MOST = 500


def _debye(count: int) -> list[list[float]]:
    """Return the coefficients of U_k(p) / p**k in p**2 (DLMF 10.41.9)."""
    now, found = [Fraction(1)], []
    for k in range(count):
        found.append([float(c) for c in now])
        after = [Fraction(0)] * (k + 2)
        for j, c in enumerate(now):
            e = k + 2 * j
            after[j] += c * e / 2 + c / (8 * (e + 1))
            after[j + 1] -= c * e / 2 + 5 * c / (8 * (e + 3))
        now = after
    return found


_U = _debye(13)


def _uniform(v: Real, x: Real) -> tuple[Real, Real, Real, Real]:
    """Return the exponent of I without its x, the root of the hypotenuse, p / v and p squared."""
    z = x / v
    r = hypot(z * 0.0 + 1.0, z)
    over = 1.0 / (z + r)
    p = 1.0 / r
    return v * (over - log1p((over + 1.0) / z)), sqrt(v) * sqrt(r), p / v, p * p


def _sum(ratio: Real, square: Real, rows: Sequence[Sequence[float]]) -> Real:
    total = polynomial(square, rows[-1])
    for row in reversed(rows[:-1]):
        total = total * ratio + polynomial(square, row)
    return total


def _i_uniform(v: Real, x: Real) -> Real:
    power_, root, ratio, square = _uniform(v, x)
    return exp(power_) * _sum(ratio, square, _U) / root * (1 / math.sqrt(2 * math.pi))


def _i_uniform_whole(v: Real, x: Real) -> Real:
    power_, root, ratio, square = _uniform(v, x)
    half = exp((power_ + x) * 0.5)
    return half * (_sum(ratio, square, _U) / root * (1 / math.sqrt(2 * math.pi))) * half


def _k_uniform(v: Real, x: Real, share: float) -> Real:
    """Compute K times exp(share x)."""
    power_, root, ratio, square = _uniform(v, x)
    half = exp((power_ + x * (1.0 - share)) * -0.5)
    return half * (_sum(-ratio, square, _U) / root * math.sqrt(math.pi / 2)) * half


def _i_series(v: Real, x: Real) -> Real:
    def step(k: Real, term: Real, total: Real, w: Real, q: Real) -> tuple[Real, ...]:
        k = k + 1.0
        term = term * (q / (k * (k + w)))
        return k, term, total + term, w, q

    def going(k: Real, term: Real, total: Real, w: Real, q: Real) -> Truth:
        return term > total * _EPS

    one = x * 0.0 + 1.0
    total = repeat(step, going, (x * 0.0, one, one, v, x * x * 0.25), _MOST)[2]
    return total * power(x * 0.5, v) / special("gamma", v + 1.0)


def _i_recurrence(v: Real, x: Real) -> Real:
    """Compute I for about v < 25 < x, over exp(x)."""

    def step(w: Real, later: Real, now: Real, low: Real, y: Real) -> tuple[Real, ...]:
        more = w > low + 0.5
        return (
            where(more, w - 1.0, w),
            where(more, now, later),
            where(more, later + now * (w * 2.0 / y), now),
            low,
            y,
        )

    def going(w: Real, later: Real, now: Real, low: Real, y: Real) -> Truth:
        return w > low + 0.5

    def start(w: Real, y: Real) -> Real:
        short = y * y <= (w + 1.0) * _FAST
        return pieces(
            (w, y),
            [(short, lambda w, y: _i_series(w, y) * exp(-y), (1.0, 1.0)), (~short, _i_uniform, (30.0, 30.0))],
        )

    top = v - floor(v) + _LARGE
    return repeat(step, going, (top, start(top + 1.0, x), start(top, x), v, x), int(_LARGE) + 8)[2]


def _i(v: Real, x: Real, scaled: bool) -> Real:
    """Compute I for positive numbers and orders from 0."""

    def by_series(w: Real, y: Real) -> Real:
        value = _i_series(w, y)
        return value * exp(-y) if scaled else value

    def by_recurrence(w: Real, y: Real) -> Real:
        value = _i_recurrence(w, y)
        if scaled:
            return value
        half = exp(y * 0.5)
        return half * value * half

    return pieces(
        (v, x),
        [
            ((x <= _SHORT) & (v < _LARGE) | (v <= _COUNTED) & (x * x <= (v + 1.0) * _FAST), by_series, (1.0, 1.0)),
            (v >= _LARGE, _i_uniform if scaled else _i_uniform_whole, (30.0, 1.0)),
            (x > _SHORT, by_recurrence, (1.0, 20.0)),
        ],
    )


def _k_temme(mu: Real, x: Real) -> tuple[Real, Real]:
    """Compute K of an order within a half of 0, and of the next order, for x <= 2."""

    def step(
        i: Real, f: Real, c: Real, p: Real, q: Real, total: Real, other: Real, m: Real, z: Real
    ) -> tuple[Real, ...]:
        i = i + 1.0
        f = (i * f + p + q) / (i * i - m * m)
        c = c * (z / i)
        p, q = p / (i - m), q / (i + m)
        return i, f, c, p, q, total + c * f, other + c * (p - i * f), m, z

    def going(i: Real, f: Real, c: Real, p: Real, q: Real, total: Real, other: Real, m: Real, z: Real) -> Truth:
        return abs(c * f) > abs(total) * _EPS

    one, two = series(expansions.TEMME_1, mu * mu), series(expansions.TEMME_2, mu * mu)
    up, down = two - mu * one, two + mu * one
    log_ = -log(x * 0.5)
    e = mu * log_
    none = e == 0.0
    ratio = where(none, 1.0, sinh(e) / where(none, 1.0, e))
    sine = sin_pi(mu)
    flat = sine == 0.0
    first = where(flat, 1.0, mu * math.pi / where(flat, 1.0, sine)) * (one * cosh(e) + two * ratio * log_)
    large = exp(e)
    p, q = large * 0.5 / up, 0.5 / (large * down)
    zero = x * 0.0
    found = repeat(step, going, (zero, first, zero + 1.0, p, q, first, p, mu, x * x * 0.25), 60)
    return found[5], found[6] * 2.0 / x


def _k_steed(mu: Real, x: Real) -> tuple[Real, Real]:
    """Compute the same over exp(-x), for x > 2."""

    def step(
        i: Real, a: Real, b: Real, c: Real, d: Real, h: Real, less: Real, q: Real, q1: Real, q2: Real, s: Real, ds: Real
    ) -> tuple[Real, ...]:
        more = going(i, a, b, c, d, h, less, q, q1, q2, s, ds)
        n = i + 1.0
        a_ = a - (n - 1.0) * 2.0
        c_ = -a_ * c / n
        next_ = (q1 - b * q2) / a_
        q_ = q + c_ * next_
        b_ = b + 2.0
        d_ = 1.0 / (b_ + a_ * d)
        less_ = (b_ * d_ - 1.0) * less
        ds_ = q_ * less_
        new = (n, a_, b_, c_, d_, h + less_, less_, q_, q2, next_, s + ds_, ds_)
        return tuple(where(more, y, z) for y, z in zip(new, (i, a, b, c, d, h, less, q, q1, q2, s, ds)))

    def going(
        i: Real, a: Real, b: Real, c: Real, d: Real, h: Real, less: Real, q: Real, q1: Real, q2: Real, s: Real, ds: Real
    ) -> Truth:
        return (abs(ds) > abs(s) * (_EPS * 0.5)) | (i < 2.5)

    b = x * 2.0 + 2.0
    d = 1.0 / b
    part = 0.25 - mu * mu
    zero = x * 0.0
    one = zero + 1.0
    s = part * d + 1.0
    found = repeat(step, going, (one, -part + zero, b, part + zero, d, d, d, part + zero, zero, one, s, s), _MOST)
    value = sqrt(0.5 * math.pi / x) / found[10]
    return value, value * ((mu + x + 0.5 - part * found[5]) / x)


def _k_small_order(v: Real, x: Real, share: float) -> Real:
    """Compute K for 0 <= v < 25, upwards from the order within a half of 0."""

    def raised(v: Real, mu: Real, x: Real, first: tuple[Real, Real]) -> Real:
        def step(w: Real, before: Real, now: Real, high: Real, y: Real) -> tuple[Real, ...]:
            more = w < high - 0.5
            return (
                where(more, w + 1.0, w),
                where(more, now, before),
                where(more, before + now * (w * 2.0 / y), now),
                high,
                y,
            )

        def going(w: Real, before: Real, now: Real, high: Real, y: Real) -> Truth:
            return w < high - 0.5

        found = repeat(step, going, (mu + 1.0, *first, v, x), int(_LARGE) + 8)
        return where(v - mu < 0.5, first[0], found[2])

    def near(w: Real, y: Real) -> Real:
        mu = w - rint(w)
        value = raised(w, mu, y, _k_temme(mu, y))
        return value * exp(y * share) if share else value

    def far(w: Real, y: Real) -> Real:
        mu = w - rint(w)
        value = raised(w, mu, y, _k_steed(mu, y))
        return value if share == 1.0 else value * exp(y * (share - 1.0))

    return pieces((v, x), [(x <= 2.0, near, (1.0, 1.0)), (x > 2.0, far, (1.0, 3.0))])


def _k(v: Real, x: Real, share: float) -> Real:
    """Compute K for positive numbers and orders from 0, times exp(share x)."""
    return pieces(
        (v, x),
        [
            (v >= _LARGE, lambda w, y: _k_uniform(w, y, share), (30.0, 1.0)),
            (v >= 0.0, lambda w, y: _k_small_order(w, y, share), (1.0, 1.0)),
        ],
    )


def _first_kind(v: Real, x: Real, scaled: bool) -> Real:
    v, x = broadcast(v, x)
    order, size = abs(v), abs(x)
    fine = (order < INF) & (size < INF) & (size > 0.0)
    w, y = where(fine, order, 1.0), where(fine, size, 1.0)
    value = _i(w, y, scaled)
    whole = floor(order) == order
    mirrored = fine & (v < 0.0) & ~whole
    a, b = where(mirrored, w, 0.5), where(mirrored, y, 1.0)
    other = _k(a, b, -1.0 if scaled else 0.0) * sin_pi(a) * (2 / math.pi)
    value = where(mirrored, value + other, value)
    odd = whole & (floor(order * 0.5) * 2.0 != order)
    value = where(odd & (x < 0.0), -value, value)
    least = where(v == 0.0, 1.0, where(whole | (v > 0.0), 0.0, constant(x, NAN if scaled else INF)))
    return choose(
        value,
        (isnan(v) | isnan(x) | isinf(x) | ((x < 0.0) & ~whole), NAN),
        (order == INF, NAN if scaled else 0.0),
        (x == 0.0, least),
    )


def _second_kind(v: Real, x: Real, scaled: bool) -> Real:
    v, x = broadcast(abs(v), x)
    fine = (v < INF) & (x < INF) & (x > 0.0)
    value = _k(where(fine, v, 1.0), where(fine, x, 1.0), 1.0 if scaled else 0.0)
    return choose(
        value,
        (x == 0.0, INF),
        (isnan(v) | isnan(x) | (x < 0.0) | (v == INF), NAN),
        (x == INF, NAN if scaled else 0.0),
    )


@formula("iv")
def iv(v: Real, x: Real) -> Real:
    return _first_kind(v, x, False)


@formula("ive")
def ive(v: Real, x: Real) -> Real:
    return _first_kind(v, x, True)


@formula("kv")
def kv(v: Real, x: Real) -> Real:
    return _second_kind(v, x, False)


@formula("kn")
def kn(n: Real, x: Real) -> Real:
    """Compute K for orders truncated to integers, NaN beyond the range of a C int."""
    size = floor(abs(n))
    counted = size < 2.0**31
    value = _second_kind(where(counted, size, 0.0), x, False)
    return where(counted | (isinf(n) & ((x == 0.0) | (x == INF))), value, NAN)


@formula("kve")
def kve(v: Real, x: Real) -> Real:
    return _second_kind(v, x, True)
