"""Gamma function and related functions: beta, binomials, zeta.

``scaled`` is the gamma function over its Stirling approximation, ``gamma(x) = sqrt(2 pi / x) (x / e)**x scaled(x)``:
ratios of large gamma functions are ratios of powers and of these, which are near 1, so nothing cancels.
"""

from __future__ import annotations

import math

from . import expansions
from .formula import (  # fmt: skip
    INF,
    NAN,
    Real,
    Truth,
    broadcast,
    choose,
    constant,
    cos,
    exp,
    floor,
    formula,
    isinf,
    isnan,
    log,
    log1p,
    maximum,
    minimum,
    pieces,
    polynomial,
    power,
    repeat,
    rint,
    series,
    signbit,
    sin,
    special,
    where,
)

_LOG_ROOT = 0.5 * math.log(2 * math.pi)
_ROOT = math.sqrt(2 * math.pi)

_STIRLING = tuple(b * math.factorial(2 * k) / (2 * k * (2 * k - 1)) for k, b in enumerate(expansions.BERNOULLI[:9], 1))
"""Coefficients of log(scaled(x)): their sum over x**(2 k - 1)."""
_LARGE = 11.0
"""Argument from which Stirling's series is exact to double precision."""


def _correction(x: Real) -> Real:
    """Compute log(scaled(x)) for large x."""
    z = 1.0 / x
    return polynomial(z * z, _STIRLING) * z


def sin_pi(x: Real) -> Real:
    """Compute sin(pi x), exact at multiples of a half."""
    size = abs(x)  # numbers just below zero would lose digits when reduced modulo two
    turn = size - floor(size * 0.5) * 2.0
    half = rint(turn * 2.0)
    rest = (turn - half * 0.5) * math.pi
    half = half % 4.0
    odd = (half == 1.0) | (half == 3.0)
    value = where(odd, cos(rest), sin(rest))
    return where(half >= 2.0, -value, value) * where(x < 0.0, -1.0, constant(x, 1.0))


def _is_whole(x: Real) -> Truth:
    return floor(x) == x


# -- gamma -----------------------------------------------------------------------------------------------------------------


def _shifted(x: Real, base: Real) -> tuple[Real, Real]:
    """Return numerator and denominator of gamma(x) / gamma(base), for base + n = x and -2 <= n <= 9."""
    n = x - base
    above, below = constant(x, 1.0), constant(x, 1.0)
    for i in range(9):
        above = above * where(n > i + 0.5, base + float(i), 1.0)
    for i in range(2):
        below = below * where(n < -i - 0.5, x + float(i), 1.0)
    return above, below


def _gamma_small(x: Real) -> Real:
    base = x - floor(x) + 2.0  # in [2, 3)
    above, below = _shifted(x, base)
    return series(expansions.GAMMA_2_3, base) * above / below


def _gamma_large(x: Real) -> Real:
    half = power(x, x * 0.5 - 0.25)
    return half * exp(-x) * half * _ROOT * exp(_correction(x))


def _gamma_of_half(x: Real) -> Real:
    """Compute gamma(x) for x >= 0.5."""
    return pieces((x,), [(x < _LARGE, _gamma_small, (2.0,)), (x < 171.7, _gamma_large, (20.0,))], INF)


def _mirrored(x: Real) -> tuple[Truth, Real, Real]:
    """Return where the reflection formula holds, gamma of the mirrored argument there and of ``x`` elsewhere, and sin(pi x)."""
    mirrored = x < 0.5
    return mirrored, _gamma_of_half(where(mirrored, 1.0 - x, x)), sin_pi(where(mirrored & (abs(x) < 1e16), x, 0.25))


@formula("gamma")
def gamma(x: Real) -> Real:
    mirrored, value, sine = _mirrored(x)
    result = where(mirrored, math.pi / (where(sine == 0.0, 1.0, sine) * value), value)
    zero = x == 0.0
    return choose(
        result,
        (isnan(x), x),
        (zero & signbit(x), -INF),
        (zero, INF),
        ((x < 0.0) & _is_whole(x), NAN),
    )


def _log_gamma_middle(x: Real) -> Real:
    base = x - rint(x) + 2.0  # in [1.5, 2.5]
    above, below = _shifted(x, base)
    t = base - 2.0
    return t * series(expansions.LOG_GAMMA_2, t) + log(above / below)


def _log_gamma_large(x: Real) -> Real:
    return (x - 0.5) * log(x) - x + (_LOG_ROOT + _correction(x))


def log_gamma(x: Real) -> Real:
    """Compute log |gamma(x)| for x >= 0.5."""
    return pieces((x,), [(x < _LARGE, _log_gamma_middle, (2.5,)), (x < 2.5e305, _log_gamma_large, (20.0,))], INF)


@formula("gammaln")
def gammaln(x: Real) -> Real:
    mirrored = x < 0.5
    value = log_gamma(where(mirrored, 1.0 - x, x))
    sine = abs(sin_pi(where(mirrored & (abs(x) < 1e16), x, 0.25)))
    result = where(mirrored, log(math.pi / where(sine == 0.0, 1.0, sine)) - value, value)
    return choose(result, (isnan(x) | isinf(x), x), ((x <= 0.0) & _is_whole(x), INF))


@formula("loggamma")
def loggamma(x: Real) -> Real:
    return choose(special("gammaln", abs(x)), (x < 0.0, NAN))


@formula("gammasgn")
def gammasgn(x: Real) -> Real:
    whole = floor(x)
    odd = whole - floor(whole * 0.5) * 2.0 == 1.0
    sign = where((x < 0.0) & odd, -1.0, constant(x, 1.0))
    zero = where(signbit(x), -1.0, constant(x, 1.0))
    return choose(sign, (isnan(x), x), (x == 0.0, zero), ((x < 0.0) & _is_whole(x), NAN))


@formula("rgamma")
def rgamma(x: Real) -> Real:
    mirrored, value, sine = _mirrored(x)
    below = where(isinf(value), sine * INF, sine * value * (1 / math.pi))
    pole = (x <= 0.0) & _is_whole(x)
    return choose(where(mirrored, below, 1.0 / value), (isnan(x), x), (x == 0.0, x), (pole, 0.0))


# -- ratios ----------------------------------------------------------------------------------------------------------------


def log_scaled(x: Real) -> Real:
    """Compute log(scaled(x)) for x > 0."""

    def small(y: Real) -> Real:
        return log_gamma_positive(y) - ((y - 0.5) * log(y) - y + _LOG_ROOT)

    return pieces((x,), [(x < _LARGE, small, (2.5,)), (x < INF, _correction, (20.0,))], 0.0)


def log_gamma_positive(x: Real) -> Real:
    """Compute log(gamma(x)) for x > 0."""
    small = x < 0.5
    value = log_gamma(where(small, x + 1.0, x))
    return where(small, value - log(where(small, x, 1.0)), value)


def log_beta(a: Real, b: Real) -> Real:
    """Compute log(beta(a, b)) for positive a and b."""
    s = a + b
    low, high = minimum(a, b), maximum(a, b)
    powers = high * log1p(-low / s) + low * log(low / s)
    return powers + 0.5 * log(s / a / b) + (_LOG_ROOT + (log_scaled(a) + log_scaled(b) - log_scaled(s)))


def _beta_small(a: Real, b: Real) -> Real:
    """Compute beta by gamma functions, in the order that keeps intermediate products near one."""
    y, ga, gb = special("rgamma", a + b), special("gamma", a), special("gamma", b)
    first = abs(abs(ga * y) - 1.0) > abs(abs(gb * y) - 1.0)
    return where(first, gb * y * ga, ga * y * gb)


def _signed(a: Real, b: Real) -> tuple[Real, Real]:
    """Compute log |beta| and its sign, for any a and b that are not poles."""
    value = gammaln(a) + gammaln(b) - gammaln(a + b)
    return value, gammasgn(a) * gammasgn(b) * gammasgn(a + b)


def _beta_far(a: Real, b: Real) -> Real:
    value, sign = _signed(a, b)
    return exp(value) * sign


def _much_larger(a: Real, b: Real) -> Truth:
    """Whether one is positive and so much larger than the other that their sum has the same gamma function."""
    high, low = maximum(a, b), minimum(a, b)
    return (high > 1e6) & (high > 1e6 * abs(low)) & (low < 171.0)


def _log_beta_apart(a: Real, b: Real) -> Real:
    """Compute log |beta| of a large and a much smaller number, from an expansion (https://dlmf.nist.gov/5.11.E13)."""
    high, low = maximum(a, b), minimum(a, b)
    rest = 1.0 - low
    first = low / high * rest
    steps = 0.5 + (1.0 - 2.0 * low - first) / (12.0 * high)
    return gammaln(low) - low * log(high) + first * steps


_INT = 2.0**31


def _pole(a: Real, b: Real) -> tuple[Truth, Truth, Real, Real]:
    """Return whether a is zero or a negative integer, whether beta(a, b) is finite then, and arguments of equal value there."""
    pole = (a <= 0.0) & _is_whole(a)
    other = 1.0 - a - b
    finite = pole & _is_whole(b) & (other > 0.0) & (abs(a) < _INT) & (abs(b) < _INT)
    return pole, finite, where(finite, other, 1.0), where(finite, b, 1.0)


def _beta(a: Real, b: Real, small: bool) -> Real:
    """Compute beta, or log |beta|, for numbers that are not poles."""
    positive = (a > 0.0) & (b > 0.0)
    near = (abs(a) < 171.0) & (abs(b) < 171.0) & (abs(a + b) < 171.0)
    apart = _much_larger(a, b)
    tiny = positive & (minimum(a, b) < 1e-200)
    if small:
        far: Real = pieces(
            (a, b),
            [
                (near, _beta_small, (1.0, 1.0)),
                (apart, lambda x, y: exp(_log_beta_apart(x, y)) * gammasgn(minimum(x, y)), (1.0, 1e7)),
                (tiny, lambda x, y: 1.0 / x + 1.0 / y, (1.0, 1.0)),
                (positive, lambda x, y: exp(log_beta(x, y)), (1.0, 1.0)),
                (a == a, _beta_far, (1.0, 1.0)),
            ],
        )
        return far
    return pieces(
        (a, b),
        [
            (apart, _log_beta_apart, (1.0, 1e7)),
            (tiny, lambda x, y: log1p(minimum(x, y) / maximum(x, y)) - log(minimum(x, y)), (1.0, 1.0)),
            (positive, log_beta, (1.0, 1.0)),
            (near, lambda x, y: log(abs(_beta_small(x, y))), (1.0, 1.0)),
            (a == a, lambda x, y: _signed(x, y)[0], (1.0, 1.0)),
        ],
    )


def _beta_anywhere(a: Real, b: Real, small: bool) -> Real:
    a, b = broadcast(a, b)
    pa, fa, xa, ya = _pole(a, b)
    pb, fb, xb, yb = _pole(b, a)
    pole, finite = pa | pb, fa | fb
    first, second = where(fa, xa, xb), where(fa, ya, yb)
    good = finite & (second > 0.0)
    value = at_pole = _beta(choose(a, (good, first), (pole, 1.0)), choose(b, (good, second), (pole, 1.0)), small)
    at_pole = where(second <= 0.0, INF, at_pole)
    if small:
        at_pole = where(floor(second * 0.5) * 2.0 == second, at_pole, -at_pole)
    # one of them infinite: zero, or an infinity with the sign of the other's gamma function
    high, low = maximum(a, b), minimum(a, b)
    endless = (high == INF) & (low < INF) & (low > -INF)
    mirrored = where(low < 0.0, gammasgn(where(endless, low, 1.0)) * INF if small else INF, 0.0 if small else -INF)
    return choose(
        value,
        (fa, at_pole),
        (pa, INF),
        (fb, at_pole),
        (pb, INF),
        (isnan(a) | isnan(b), NAN),
        (endless, mirrored),
    )


@formula("beta")
def beta(a: Real, b: Real) -> Real:
    return _beta_anywhere(a, b, True)


@formula("betaln")
def betaln(a: Real, b: Real) -> Real:
    return _beta_anywhere(a, b, False)


_PRODUCT = 20


def _binomial_product(n: Real, k: Real) -> Real:
    """Compute n (n - 1) … / k! for a small integer k, with as few roundings as possible."""
    above, below = constant(n, 1.0), constant(n, 1.0)
    for i in range(1, _PRODUCT):
        inside = k >= float(i)
        above = where(inside, above * (n - k + float(i)), above)
        below = where(inside, below * float(i), below)
        large = abs(above) > 1e50
        above, below = where(large, above / below, above), where(large, 1.0, below)
    return above / below


def _binomial_far(n: Real, k: Real) -> Real:
    """Compute the binomial for k far beyond n."""
    g = special("gamma", n + 1.0)
    size = abs(k)
    lead = (g / size + g * n / (k * k * 2.0)) / (power(size, n) * math.pi)
    whole = floor(k)
    even = floor(whole * 0.5) * 2.0 == whole
    up = sin_pi(k - whole - n) * where(even, 1.0, constant(k, -1.0))
    return lead * where(k > 0.0, up, sin_pi(k))


@formula("binom")
def binom(n: Real, k: Real) -> Real:
    n, k = broadcast(n, k)
    whole = _is_whole(n)
    mirrored = whole & (n > 0.0) & (k > floor(n * 0.5)) & _is_whole(k)
    few = where(mirrored, n - k, k)
    product = _is_whole(k) & ((abs(n) > 1e-8) | (n == 0.0)) & (few >= 0.0) & (few < float(_PRODUCT))
    undefined = (n < 0.0) & whole | isnan(n) | isnan(k)
    good = ~undefined
    return pieces(
        (n, where(product, few, k)),
        [
            (good & product, _binomial_product, (1.0, 1.0)),
            (
                good & (n >= 1e10 * k) & (k > 0.0),
                lambda x, y: exp(-betaln(x + 1.0 - y, y + 1.0) - log(x + 1.0)),
                (2.0, 1.0),
            ),
            (good & (k > 1e8 * abs(n)), _binomial_far, (1.0, 3.0)),
            (good, lambda x, y: 1.0 / (x + 1.0) / beta(x + 1.0 - y, y + 1.0), (2.0, 1.0)),
        ],
    )


# -- zeta ------------------------------------------------------------------------------------------------------------------

_DIRECT = 10


def _euler_maclaurin(x: Real, q: Real) -> Real:
    """Compute the sum of (q + k)**-x from k = 0, for x > 1, or its continuation, for q > 0 (DLMF 2.10.1)."""
    total = power(q, -x)
    for k in range(1, _DIRECT):
        total = total + power(q + float(k), -x)
    w = q + float(_DIRECT)
    last = power(w, -x)
    total = total + last * w / (x - 1.0) + last * 0.5
    factor, down = x, last / w
    for k, b in enumerate(expansions.BERNOULLI[:12]):
        total = total + down * factor * b
        factor = factor * (x + float(2 * k + 1)) * (x + float(2 * k + 2))
        down = down / (w * w)
    return total


@formula("_zeta")
def hurwitz(x: Real, q: Real) -> Real:
    x, q = broadcast(x, q)
    pole = (x == 1.0) | (q <= 0.0) & _is_whole(q) & ~(x < 1.0)
    fine = (x > 1.0) & ~pole & ((q > 0.0) | _is_whole(x)) & (x < INF) & (abs(q) < INF)

    def step(s: Real, a: Real, b: Real) -> tuple[Real, Real, Real]:
        below = a <= 0.0
        return where(below, s + power(where(below, a, 1.0), -b), s), where(below, a + 1.0, a), b

    def going(s: Real, a: Real, b: Real) -> Truth:
        return a <= 0.0

    exponent, start = where(fine, x, 2.0), where(fine, q, 1.0)
    added, start, exponent = repeat(step, going, (start * 0.0, start, exponent), 100000)
    far = start > 1e8
    value = added + _euler_maclaurin(exponent, where(far, 1.0, start))
    distant = (1.0 / (exponent - 1.0) + 1.0 / (start * 2.0)) * power(start, 1.0 - exponent)
    at_infinity = choose(NAN, (q == 1.0, constant(q, 1.0)), (q < 1.0, INF))
    return choose(
        NAN,
        (pole, INF),
        (isnan(x) | isnan(q) | (x < 1.0), NAN),
        (fine & far, distant),
        (fine, value),
        (q == INF, 0.0),
        (x == INF, at_infinity),
    )
