"""Gamma function, its logarithm, sign and reciprocal.

``scaled`` is the gamma function over its Stirling approximation, ``gamma(x) = sqrt(2 pi / x) (x / e)**x scaled(x)``:
ratios of large gamma functions are ratios of powers and of ``scaled``, which is near 1, so nothing cancels.
"""

from __future__ import annotations

import math

from numpy import cos, exp, floor, isinf, isnan, log, rint, signbit, sin

from . import expansions
from .formula import INF, NAN, Real, choose, constant, formula, pieces, polynomial, power, series, special, where

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


def _is_whole(x: Real) -> Real:
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


def _mirrored(x: Real) -> tuple[Real, Real, Real, Real]:
    """Return the mask where the reflection formula applies; gamma of the mirrored argument there, of ``x`` elsewhere; a factor of that
    gamma; and sin(pi x).

    The factor is not one if gamma of the mirrored argument overflows, although its product with the sine may not.
    """
    mirrored, far = x < 0.5, x < -160.0
    y = where(mirrored, where(far, -7.0 - x, 1.0 - x), x)
    factor = constant(x, 1.0)
    for i in range(8):
        factor = factor * where(far, y + float(i), 1.0)
    return mirrored, _gamma_of_half(y), factor, sin_pi(where(mirrored & (abs(x) < 1e16), x, 0.25))


@formula("gamma")
def gamma(x: Real) -> Real:
    mirrored, value, factor, sine = _mirrored(x)
    result = where(mirrored, math.pi / (where(sine == 0.0, 1.0, sine) * value) / factor, value)
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
    mirrored, value, factor, sine = _mirrored(x)
    below = sine * value * (1 / math.pi) * factor
    pole = (x <= 0.0) & _is_whole(x)
    return choose(where(mirrored, below, 1.0 / value), (isnan(x), x), (x == 0.0, x), (pole, 0.0))


# -- positive numbers ----------------------------------------------------------------------------------------------------------------


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
