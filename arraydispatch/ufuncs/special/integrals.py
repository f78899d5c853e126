"""Exponential integrals, and complete elliptic integrals."""

from __future__ import annotations

import math

from . import expansions
from .formula import (  # fmt: skip
    INF,
    NAN,
    Real,
    Truth,
    choose,
    exp,
    formula,
    isnan,
    log,
    pieces,
    polynomial,
    repeat,
    series,
    sqrt,
    where,
)

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


# -- complete elliptic integrals -------------------------------------------------------------------------------------------


_STEPS = 40


def _complete(p: Real) -> Real:
    """Compute K of the complementary parameter, by the arithmetic-geometric mean of one and its root."""

    def step(x: Real, y: Real) -> tuple[Real, Real]:
        return (x + y) * 0.5, sqrt(x) * sqrt(y)

    def going(x: Real, y: Real) -> Truth:
        return abs(x - y) > x * 1e-15

    return (math.pi / 2) / repeat(step, going, (p * 0.0 + 1.0, sqrt(p)), _STEPS)[0]


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
