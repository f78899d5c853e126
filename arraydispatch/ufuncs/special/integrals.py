"""Exponential, trigonometric, Fresnel and elliptic integrals, and the dilogarithm."""

from __future__ import annotations

import math

from . import expansions
from .exponentials import agm_of
from .formula import (  # fmt: skip
    INF,
    NAN,
    Real,
    choose,
    constant,
    copysign,
    cos,
    exp,
    formula,
    isinf,
    isnan,
    log,
    log1p,
    pieces,
    polynomial,
    series,
    sin,
    sqrt,
    where,
)
from .gammas import cos_pi, sin_pi

_EULER = 0.5772156649015329

_EIN = tuple(-((-1.0) ** k) / (k * math.factorial(k)) for k in range(1, 22))


def _exp1_small(x: Real) -> Real:
    return x * polynomial(x, _EIN) - log(x) - _EULER


def _exp1_large(x: Real) -> Real:
    return exp(-x) * series(expansions.EXP1_LARGE, 1.0 / x) / x


@formula("exp1")
def exp1(x: Real) -> Real:
    inside = x > 0.0
    value = pieces((x,), [(inside & (x <= 1.0), _exp1_small, (0.5,)), (inside & (x < INF), _exp1_large, (2.0,))])
    return choose(value, (x == 0.0, INF), (x == INF, 0.0))


def _expi_small(x: Real) -> Real:
    return x * series(expansions.EXPI_SMALL, x) + log(x) + _EULER


def _expi_by(table: expansions.Series) -> object:
    def large(x: Real) -> Real:
        half = exp(x * 0.5)  # the product stays finite longer than exp(x)
        return half * (series(table, 1.0 / x) / x) * half

    return large


@formula("expi")
def expi(x: Real) -> Real:
    inside = x > 0.0
    value = pieces(
        (x,),
        [
            (inside & (x <= 6.0), _expi_small, (1.0,)),
            (inside & (x <= 12.0), _expi_by(expansions.EXPI_6), (8.0,)),  # type: ignore[list-item]
            (inside & (x <= 24.0), _expi_by(expansions.EXPI_12), (20.0,)),  # type: ignore[list-item]
            (inside & (x < INF), _expi_by(expansions.EXPI_24), (30.0,)),  # type: ignore[list-item]
            ((x < 0.0) & (x > -INF), lambda z: -exp1(-z), (-1.0,)),
        ],
    )
    return choose(value, (x == 0.0, -INF), (x > 720.0, INF), (x == -INF, -0.0))


# -- sine and cosine integrals ---------------------------------------------------------------------------------------------


def _auxiliary(x: Real) -> tuple[Real, Real]:
    """Compute f and g (DLMF 6.2.17), for x >= 4."""
    u = 4.0 / x
    u = u * u
    return series(expansions.SICI_F, u) / x, series(expansions.SICI_G, u) * u * (1 / 16.0)


def _si_large(x: Real) -> Real:
    f, g = _auxiliary(x)
    return math.pi / 2 - f * cos(x) - g * sin(x)


def _ci_large(x: Real) -> Real:
    f, g = _auxiliary(x)
    return f * sin(x) - g * cos(x)


@formula("sici")
def sici(x: Real) -> tuple[Real, Real]:
    size = abs(x)
    small, large = size <= 4.0, size < INF
    si = pieces(
        (size,), [(small, lambda z: z * series(expansions.SI_SMALL, z * z), (1.0,)), (large, _si_large, (5.0,))]
    )
    ci = pieces(
        (size,),
        [
            (small & (size > 0.0), lambda z: z * z * series(expansions.CI_SMALL, z * z) + log(z) + _EULER, (1.0,)),
            (large & (size > 0.0), _ci_large, (5.0,)),
        ],
    )
    si = choose(si, (isinf(x), constant(x, math.pi / 2)))
    return copysign(si, x), choose(ci, (size == 0.0, -INF), (x == INF, 0.0))


# -- Fresnel ---------------------------------------------------------------------------------------------------------------

_NEAR = 1.6
_FAR = 36974.0


def _waves(x: Real) -> tuple[Real, Real]:
    """Compute sine and cosine of pi x**2 / 2; for a large x, from its square modulo 4."""
    half = x * x * 0.5
    return sin_pi(half), cos_pi(half)


def _fresnel_large(x: Real, cosine: bool) -> Real:
    u = 6.5 / (x * x * x * x)
    t = x * math.pi
    f = series(expansions.FRESNEL_F, u) / t
    g = series(expansions.FRESNEL_G, u) / (t * t * x)
    s, c = _waves(x)
    return f * s - g * c + 0.5 if cosine else 0.5 - (f * c + g * s)


def _fresnel_far(x: Real, cosine: bool) -> Real:
    s, c = _waves(x)
    t = x * math.pi
    return s / t + 0.5 if cosine else 0.5 - c / t


@formula("fresnel")
def fresnel(x: Real) -> tuple[Real, Real]:
    size = abs(x)
    parts = []
    for cosine, table in ((False, expansions.FRESNEL_S), (True, expansions.FRESNEL_C)):

        def small(z: Real, cosine: bool = cosine, table: expansions.Series = table) -> Real:
            square = z * z
            value = z * series(table, square * square)
            return value if cosine else value * square

        value = pieces(
            (size,),
            [
                (size < _NEAR, small, (1.0,)),
                (size < _FAR, lambda z, cosine=cosine: _fresnel_large(z, cosine), (2.0,)),
                (size < INF, lambda z, cosine=cosine: _fresnel_far(z, cosine), (1e5,)),
            ],
        )
        value = choose(value, (isinf(x), constant(x, 0.5)))
        parts.append(where(x < 0.0, -value, value))
    return parts[0], parts[1]


# -- dilogarithm -----------------------------------------------------------------------------------------------------------


@formula("spence")
def spence(x: Real) -> Real:
    """Compute Li2(1 - x), by the relations of DLMF 25.12 from |w| <= 1 / 2."""
    inside = (x > 0.0) & (x < INF)
    z = where(inside, x, 1.0)
    large = z > 2.0
    z = where(large, 1.0 / z, z)
    low = z < 0.5
    high = z > 1.5
    w = choose(1.0 - z, (low, z), (high, 1.0 - 1.0 / where(high, z, 2.0)))
    y = w * series(expansions.DILOGARITHM, w)
    logarithm = where(large, -log(where(large, x, 1.0)), log(z))
    value = choose(
        y,
        (low, math.pi**2 / 6 - logarithm * log1p(-where(low, z, 0.0)) - y),
        (high, logarithm * logarithm * -0.5 - y),
    )
    value = where(large, logarithm * logarithm * -0.5 - value, value)
    return choose(value, (x == 0.0, math.pi**2 / 6), (inside, value), (x == x, NAN), (isnan(x), x))


# -- complete elliptic integrals -------------------------------------------------------------------------------------------


def _complete(p: Real) -> Real:
    """Compute K of the complementary parameter."""
    return (math.pi / 2) / agm_of(constant(p, 1.0) + p * 0.0, sqrt(p))


@formula("ellipkm1")
def ellipkm1(p: Real) -> Real:
    inside = (p > 0.0) & (p < INF)
    return choose(NAN, (inside, _complete(where(inside, p, 1.0))), (p == 0.0, INF), (p == INF, 0.0))


@formula("ellipk")
def ellipk(m: Real) -> Real:
    return ellipkm1(1.0 - m)


_ELLIPE_STEPS = 15


@formula("ellipe")
def ellipe(m: Real) -> Real:
    inside = (m < 1.0) & (m > -INF)
    # a negative parameter is reduced to one between 0 and 1 (DLMF 19.7.2)
    negative = inside & (m < 0.0)
    scale = where(negative, 1.0 - m, 1.0)
    k = where(inside, m, 0.0)
    k = where(negative, -k / scale, k)
    rest = where(inside, 1.0 - m, 1.0)
    rest = where(negative, 1.0 / scale, rest)
    a, b = rest * 0.0 + 1.0, sqrt(rest)
    total, factor = k * 0.5, 0.5
    for _ in range(_ELLIPE_STEPS):
        c = (a - b) * 0.5
        a, b = (a + b) * 0.5, sqrt(a * b)
        factor *= 2.0
        total = total + c * c * factor
    value = (1.0 - total) * (math.pi / 2) / a * sqrt(scale)
    return choose(value, (isnan(m), m), (m == 1.0, 1.0), (m == -INF, INF), (m > 1.0, NAN))
