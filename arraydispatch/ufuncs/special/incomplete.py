"""Incomplete gamma and beta functions, and distributions expressed by them."""

from __future__ import annotations

import math
from collections.abc import Callable

from numpy import exp, expm1, floor, hypot, isnan, log, log1p, sqrt

from . import expansions
from .formula import (
    INF,
    NAN,
    Real,
    broadcast,
    choose,
    constant,
    formula,
    maximum,
    minimum,
    pieces,
    polynomial,
    repeat,
    series,
    special,
    where,
)
from .gammas import _LARGE, _LOG_ROOT, _STIRLING, log_gamma_positive, log_scaled

_EPS = 2.0**-53
_MOST = 3000
_NOTHING = 45.0
"""Number x for which exp(-x) is negligible beside 1."""
_SLOW = 1e5
"""Parameter from which the sum and the fraction of the incomplete gamma functions need more than :data:`_MOST` terms near the middle."""
_BOTH_LARGE = 5000.0
_SHIFT = 16
_HUGE, _TINY = 2.0**100, 2.0**-100


def log1pmx(u: Real) -> Real:
    """Compute log(1 + u) - u."""
    near = (u >= expansions.LOG1PMX.low) & (u <= expansions.LOG1PMX.high)
    x = where(near, u, 0.0)
    return where(near, x * x * series(expansions.LOG1PMX, x), log1p(u) - u)


# -- gamma -----------------------------------------------------------------------------------------------------------------


def _prefix(a: Real, x: Real) -> Real:
    """Compute x**a exp(-x) / gamma(a)."""

    def small(b: Real, y: Real) -> Real:
        return exp(b * log(y) - y - log_gamma_positive(b))

    def large(b: Real, y: Real) -> Real:
        return exp(b * log1pmx((y - b) / b) - log_scaled(b)) * sqrt(b * (0.5 / math.pi))

    near = (a >= _LARGE) & (abs(x - a) <= a * 0.5)

    def middle(b: Real, y: Real) -> Real:
        # a log(x / a) + a - x, of terms of similar size; exp needs the result to be small
        return exp(b * log(y / b) + (b - y) - log_scaled(b)) * sqrt(b * (0.5 / math.pi))

    return pieces(
        (a, x), [(near, large, (20.0, 20.0)), (a >= _LARGE, middle, (20.0, 5.0)), (a == a, small, (1.0, 1.0))]
    )


def _lower_sum(a: Real, x: Real) -> Real:
    """Compute the series of P(a, x) without its prefix (DLMF 8.11.4)."""

    def step(r: Real, c: Real, total: Real, z: Real) -> tuple[Real, Real, Real, Real]:
        r = r + 1.0
        c = c * (z / r)
        return r, c, total + c, z

    def going(r: Real, c: Real, total: Real, z: Real) -> Real:
        return c > total * _EPS

    one = a * 0.0 + 1.0
    return repeat(step, going, (a, one, one, x), _MOST)[2] / a


def _upper_fraction(a: Real, x: Real) -> Real:
    """Compute Q divided by its prefix, by Lentz's method for the continued fraction of DLMF 8.9.2."""

    def step(i: Real, b: Real, c: Real, d: Real, h: Real, s: Real) -> tuple[Real, ...]:
        i = i + 1.0
        numerator = -i * (i - s)
        b = b + 2.0
        d = 1.0 / _away(numerator * d + b)
        c = _away(b + numerator / c)
        return i, b, c, d, h * _settled(d * c), s

    def going(i: Real, b: Real, c: Real, d: Real, h: Real, s: Real) -> Real:
        return abs(d * c - 1.0) > _EPS * 4

    b = x + 1.0 - a
    d = 1.0 / _away(b)
    return repeat(step, going, (a * 0.0, b, b * 0.0 + _HUGE, d, d, a), _MOST)[4]


def _settled(factor: Real) -> Real:
    """Replace a factor that equals one up to rounding by one: other elements may need many more steps."""
    return where(abs(factor - 1.0) <= _EPS * 4, 1.0, factor)


def _away(x: Real) -> Real:
    """Return the number, or a tiny one in place of zero, as a divisor."""
    return where(abs(x) < _TINY, _TINY, x)


def _upper_series(a: Real, x: Real) -> Real:
    """Evaluate DLMF 8.7.3, without the cancellation of its first terms."""

    def step(n: Real, fac: Real, total: Real, term: Real, s: Real, z: Real) -> tuple[Real, ...]:
        n = n + 1.0
        fac = fac * (-z / n)
        term = fac / (s + n)
        return n, fac, total + term, term, s, z

    def going(n: Real, fac: Real, total: Real, term: Real, s: Real, z: Real) -> Real:
        return abs(term) > abs(total) * _EPS

    zero = a * 0.0
    total = repeat(step, going, (zero, zero + 1.0, zero, zero + 1.0, a, x), _MOST)[2]
    logarithm = a * log(x)
    up = a + 1.0
    lead = -expm1(logarithm - _log_gamma1p(a, up))
    return lead - exp(logarithm - log_gamma_positive(a)) * total


def _log_gamma1p(a: Real, up: Real) -> Real:
    small = a <= 0.5
    t = where(small, a, 0.0)
    return where(small, t * series(expansions.LOG_GAMMA_2, t) - log1p(t), log_gamma_positive(where(small, 2.5, up)))


def _asymptotic(sign: float) -> Callable[[Real, Real], Real]:
    """Return the expansion of Q (``sign`` 1, DLMF 8.12.4) or P (-1, 8.12.3), which is uniform in x near a large a."""

    def formula_(a: Real, x: Real) -> Real:
        mu = (x - a) / a
        half = sqrt(maximum(-log1pmx(mu), 0.0))
        eta = where(mu < 0.0, -half, half) * math.sqrt(2.0)
        lead = special("erfc", sqrt(a * 0.5) * eta * sign) * 0.5
        over = 1.0 / a
        total = polynomial(eta, expansions.TEMME[-1])
        for row in reversed(expansions.TEMME[:-1]):
            total = total * over + polynomial(eta, row)
        return lead + exp(a * eta * eta * -0.5) * total / sqrt(a * (2 * math.pi)) * sign

    return formula_


def _near(a: Real, x: Real) -> Real:
    distance = abs(x - a) / a
    wide = (a > 25.0) & (a < 200.0) | (a > _SLOW)
    return wide & (distance < 0.3) | (a >= 200.0) & (distance < 4.5 / sqrt(a))


def _upper_is_series(a: Real, x: Real) -> Real:
    """Whether 1 - P loses digits and the continued fraction is slow."""
    small = where(x < 0.5, x, 0.5)
    return (x <= 1.1) & ((x <= 0.5) & (log(small) * a >= -0.4) | (x > 0.5) & (x * 1.1 >= a))


def _incomplete(a: Real, x: Real, upper: bool) -> Real:
    a, x = broadcast(a, x)
    inside = (a > 0.0) & (x > 0.0) & (a < INF) & (x < INF)
    b, y = where(inside, a, 1.0), where(inside, x, 1.0)
    near = inside & _near(b, y)
    short = inside & ~near & (_upper_is_series(b, y) if upper else (y > 1.0) & (y <= 1.1) & (y > b))
    above = inside & ~near & ~short & (y > 1.1) & (y >= b)
    below = inside & ~near & ~short & ~above
    parts = pieces((b, y), [(above, _upper_fraction, (2.0, 3.0)), (below, _lower_sum, (2.0, 1.0))], 0.0)
    usual = above | below
    part = parts * _prefix(where(usual, b, 1.0), where(usual, y, 1.0))
    value = where(above, part if upper else 1.0 - part, 1.0 - part if upper else part)
    other = pieces(
        (b, y),
        [
            (near, _asymptotic(1.0 if upper else -1.0), (100.0, 100.0)),
            (short, _upper_series, (0.5, 0.5)),
        ],
    )
    value = choose(value, (near, other), (short, other if upper else 1.0 - other))
    none, whole = (1.0, 0.0) if upper else (0.0, 1.0)
    undefined = isnan(a) | isnan(x) | (a < 0.0) | (x < 0.0) | (a == 0.0) & (x == 0.0) | (a == INF) & (x == INF)
    return choose(value, (undefined, NAN), (a == 0.0, whole), (x == 0.0, none), (a == INF, none), (x == INF, whole))


@formula("gammainc")
def gammainc(a: Real, x: Real) -> Real:
    return _incomplete(a, x, False)


@formula("gammaincc")
def gammaincc(a: Real, x: Real) -> Real:
    return _incomplete(a, x, True)


# -- beta ------------------------------------------------------------------------------------------------------------------


def _log_complement(x: Real, y: Real) -> Real:
    small = x < 0.5
    return where(small, log1p(-where(small, x, 0.0)), log(where(small, 0.5, y)))


def _beta_fraction(a: Real, b: Real, x: Real, y: Real) -> Real:
    """Evaluate the continued fraction of Didonato and Morris; the caller multiplies it by a prefix."""

    def step(m: Real, c: Real, d: Real, h: Real, p: Real, q: Real, u: Real, v: Real) -> tuple[Real, ...]:
        m = m + 1.0
        base = p + m * 2.0
        numerator = (p + m - 1.0) / (base - 1.0) * ((p + q + m - 1.0) / (base - 1.0)) * m * (q - m) * u * u
        beta_m = m + m * (q - m) * u / (base - 1.0) + (p + m) * (p * v - q * u + 1.0 + m * (2.0 - u)) / (base + 1.0)
        d = 1.0 / _away(beta_m + numerator * d)
        c = _away(beta_m + numerator / c)
        return m, c, d, h * _settled(c * d), p, q, u, v

    def going(m: Real, c: Real, d: Real, h: Real, p: Real, q: Real, u: Real, v: Real) -> Real:
        return abs(c * d - 1.0) > _EPS * 4

    first = a * (a * y - b * x + 1.0) / (a + 1.0)
    start = where(first == 0.0, _TINY, first)  # as small as the least first parameter
    return 1.0 / repeat(step, going, (a * 0.0, start, a * 0.0, start, a, b, x, y), _MOST)[3]


def _beta_integral(a: Real, b: Real, x: Real, y: Real) -> Real:
    """Compute the value of :func:`_beta_fraction` for two large parameters, where the fraction needs many terms: integrate a bell or its
    tail by Gauss's rule.

    The integrand decreases from 1 at x to a negligible value; its logarithm is a line plus :func:`log1pmx`.
    """
    less_a, less_b, odds = a - 1.0, b - 1.0, x / y
    slope = (less_b * x - less_a * y) / y
    bend = hypot(sqrt(less_a), sqrt(less_b) * odds)
    far = (2 * _NOTHING) / (hypot(slope, bend * math.sqrt(2 * _NOTHING)) + maximum(-slope, 0.0))
    total = constant(a, 0.0)
    for node, weight in zip(*expansions.GAUSS):
        u = far * node
        total = total + exp(u * slope + less_a * log1pmx(-u) + less_b * log1pmx(u * odds)) * weight
    return total * far / y


def _beta_series(a: Real, b: Real, x: Real, y: Real) -> Real:
    """Compute I_x(a, b) divided by x**a / beta(a, b), by the power series, for small b x."""
    return _beta_sum(a, b, x, 1.0 / a)


def _beta_sum(a: Real, b: Real, x: Real, first: Real) -> Real:
    """Evaluate the power series of :func:`_beta_series` with the first term ``first``."""

    def step(n: Real, t: Real, total: Real, p: Real, q: Real, u: Real) -> tuple[Real, ...]:
        n = n + 1.0
        t = t * ((n - q) / n * u)
        return n, t, total + t / (p + n), p, q, u

    def going(n: Real, t: Real, total: Real, p: Real, q: Real, u: Real) -> Real:
        return abs(t) > abs(total) * p * _EPS

    zero = a * 0.0
    return repeat(step, going, (zero, zero + 1.0, first, a, b, x), _MOST)[2]


def _is_short(b: Real, x: Real) -> Real:
    return (b * x <= 0.7) & (x <= 0.7) | (b <= 1.0) & (x <= 0.7)


def _rise(a: Real, b: Real) -> Real:
    """Compute log(gamma(a + b) / gamma(b)) / a for a <= 0.5: by Stirling's series beyond 16, in differences that do not
    cancel for small a.
    """
    total = a * 0.0
    for i in range(_SHIFT):
        total = total + log1p(a / (b + float(i)))
    z = b + float(_SHIFT)
    small = a < 1e-4
    difference = where(small, a * _slope(z + a * 0.5), log_scaled(z + a) - log_scaled(z))
    ratio = a / z
    found = z * log1pmx(ratio) - 0.5 * log1p(ratio) + difference
    return log(z + a) + (found - total) / a


def _slope(z: Real) -> Real:
    """Compute the derivative of log_scaled."""
    w = 1.0 / (z * z)
    return polynomial(w, [c * (1 - 2 * k) for k, c in enumerate(_STIRLING, 1)]) * w


def _beta_rest(a: Real, b: Real, x: Real, y: Real) -> Real:
    """Compute 1 - I_x(a, b) by the power series, for a <= 0.5; the value tends to 0 as a does."""
    total = _beta_sum(a, b, x, a * 0.0)
    scale = _log_gamma1p(a, a + 1.0) / a - _rise(a, b)
    return -expm1(a * (log(x) - scale) + log1p(a * total))


def _tail(a: Real, b: Real, x: Real, y: Real) -> Real:
    """Compute the lower tail, for x below about the mean: a sum or a fraction times x**a y**b / beta(a, b)."""
    s = a + b
    large = (a >= 5.0) & (b >= 5.0)
    scaled_a, scaled_b, scaled_s = (log_scaled(z) for z in (a, b, s))
    correction = scaled_a + scaled_b - scaled_s
    # For large a and b, take the prefactor from x - a / (a + b), which does not cancel.
    p, q = where(large, a, 6.0), where(large, b, 6.0)
    t = p + q
    off = p * log1pmx((x * q - y * p) / p) + q * log1pmx((y * p - x * q) / q)
    prefix_large = exp(off - correction) * sqrt(p * (q / t) * (0.5 / math.pi))
    low, high = minimum(a, b), maximum(a, b)
    logarithm = high * log1p(-low / s) + low * log(low / s) + 0.5 * log(s / a / b) + (_LOG_ROOT + correction)
    short = _is_short(b, x)
    complement = where(short, 0.0, b * _log_complement(x, y))
    prefix_small = exp(a * _log_complement(y, x) + complement - logarithm)
    part = pieces(
        (a, b, x, y),
        [
            (short, _beta_series, (1.0, 1.0, 0.3, 0.7)),
            ((a > _BOTH_LARGE) & (b > _BOTH_LARGE), _beta_integral, (1e4, 1e4, 0.4, 0.6)),
            (a == a, _beta_fraction, (2.0, 2.0, 0.4, 0.6)),
        ],
    )
    prefix = where(large & ~short, prefix_large, prefix_small)
    # The terms overflow for parameters beyond the square root of the largest float.
    return where(prefix == 0.0, 0.0, prefix * part)


def regularized_beta(a: Real, b: Real, x: Real, y: Real, upper: bool) -> Real:
    """Compute I_x(a, b), or its complement, given x and y = 1 - x in [0, 1]."""
    a, b, x, y = broadcast(a, b, x, y)
    inside = (a > 0.0) & (b > 0.0) & (a < INF) & (b < INF) & (x > 0.0) & (y > 0.0)
    p, q, u, v = (where(inside, z, s) for z, s in zip((a, b, x, y), (1.0, 1.0, 0.5, 0.5)))
    swapped = (u < 0.5) & (u * (p + q + 2.0) > p + 1.0) | (u >= 0.5) & (q + 1.0 > v * (p + q + 2.0))
    # for a small first parameter the tail may be close to one: then its complement is computed
    swapped = swapped ^ ((where(swapped, q, p) <= 0.5) & ~_is_short(where(swapped, p, q), where(swapped, v, u)))
    first, second, less, more = where(swapped, q, p), where(swapped, p, q), where(swapped, v, u), where(swapped, u, v)
    rest = (swapped if not upper else ~swapped) & (first <= 0.5) & _is_short(second, less)
    tail = pieces(
        (first, second, less, more), [(rest, _beta_rest, (0.3, 1.0, 0.3, 0.7)), (p == p, _tail, (1.0, 1.0, 0.3, 0.7))]
    )
    tail = minimum(tail, 1.0)
    value = where(swapped, tail if upper else 1.0 - tail, 1.0 - tail if upper else tail)
    value = where(rest, tail, value)
    none, whole = (1.0, 0.0) if upper else (0.0, 1.0)
    undefined = isnan(a) | isnan(b) | isnan(x) | isnan(y) | (a < 0.0) | (b < 0.0) | (x < 0.0) | (x > 1.0)
    undefined = undefined | ((a == 0.0) & (b == 0.0)) | ((a == INF) & (b == INF))
    return choose(
        value,
        (undefined, NAN),
        ((a == 0.0) | (b == INF), where(x > 0.0, whole, constant(x, none))),
        ((b == 0.0) | (a == INF), where(x < 1.0, none, constant(x, whole))),
        (x == 0.0, none),
        (y == 0.0, whole),
    )


@formula("betainc")
def betainc(a: Real, b: Real, x: Real) -> Real:
    return regularized_beta(a, b, x, 1.0 - x, False)


@formula("betaincc")
def betaincc(a: Real, b: Real, x: Real) -> Real:
    return regularized_beta(a, b, x, 1.0 - x, True)


# -- distributions ---------------------------------------------------------------------------------------------------------


@formula("chdtr")
def chdtr(v: Real, x: Real) -> Real:
    return special("gammainc", v * 0.5, x * 0.5)


@formula("chdtrc")
def chdtrc(v: Real, x: Real) -> Real:
    return special("gammaincc", v * 0.5, x * 0.5)


@formula("gdtr")
def gdtr(a: Real, b: Real, x: Real) -> Real:
    return where(x < 0.0, NAN, special("gammainc", b, a * x))


@formula("gdtrc")
def gdtrc(a: Real, b: Real, x: Real) -> Real:
    return where(x < 0.0, NAN, special("gammaincc", b, a * x))


@formula("pdtr")
def pdtr(k: Real, m: Real) -> Real:
    undefined = (k < 0.0) | (m < 0.0)
    return choose(special("gammaincc", where(undefined, 1.0, floor(k) + 1.0), m), (undefined, NAN), (m == 0.0, 1.0))


@formula("pdtrc")
def pdtrc(k: Real, m: Real) -> Real:
    undefined = (k < 0.0) | (m < 0.0)
    return choose(special("gammainc", where(undefined, 1.0, floor(k) + 1.0), m), (undefined, NAN), (m == 0.0, 0.0))


def _f_tail(a: Real, b: Real, x: Real, upper: bool) -> Real:
    undefined = (a <= 0.0) | (b <= 0.0) | (x < 0.0)
    w = a * x
    s = b + w
    value = regularized_beta(a * 0.5, b * 0.5, w / s, b / s, upper)
    return choose(value, (undefined, NAN), ((x == INF) & (a > 0.0) & (b > 0.0), 0.0 if upper else 1.0))


@formula("fdtr")
def fdtr(a: Real, b: Real, x: Real) -> Real:
    return _f_tail(a, b, x, False)


@formula("fdtrc")
def fdtrc(a: Real, b: Real, x: Real) -> Real:
    return _f_tail(a, b, x, True)


@formula("stdtr")
def stdtr(df: Real, t: Real) -> Real:
    df, t = broadcast(df, t)
    square = t * t
    s = df + square
    finite = (df > 0.0) & (df < INF) & (s < INF)
    small = finite & (square < df) & (square < 0.36)
    rest = where(small, square / s, 0.5)
    # near the middle from the part above it, in the tails from the tail itself
    near = regularized_beta(constant(t, 0.5), where(small, df * 0.5, 1.0), rest, 1.0 - rest, False) * 0.5
    tail_x = where(finite & ~small, df / s, 0.5)
    tail_y = where(finite & ~small, square / s, 0.5)
    tail = regularized_beta(where(finite, df * 0.5, 1.0), constant(t, 0.5), tail_x, tail_y, False) * 0.5
    up = where(small, near + 0.5, 1.0 - tail)
    down = where(small, 0.5 - near, tail)
    return choose(
        where(t < 0.0, down, up),
        (isnan(df) | isnan(t) | (df <= 0.0), NAN),
        (df == INF, special("ndtr", t)),
        (~finite & (t > 0.0), 1.0),
        (~finite & (t < 0.0), 0.0),
    )
