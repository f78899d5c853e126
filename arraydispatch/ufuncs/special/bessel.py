"""Bessel functions of orders 0 and 1."""

from __future__ import annotations

import math

from numpy import cos, exp, isinf, isnan, log, signbit, sin, sqrt

from . import expansions
from .formula import INF, Real, choose, formula, pieces, series, special, where

_ROOT = math.sqrt(1 / math.pi)


def _without_zeros(x: Real, table: expansions.Series, zeros: tuple[tuple[float, float], ...]) -> Real:
    z = x * x
    value = series(table, z)
    for high, low in zeros:
        value = value * (z - high - low)
    return value


def _hankel(x: Real, p: expansions.Series, q: expansions.Series) -> tuple[Real, Real, Real, Real, Real]:
    """Return the terms of Hankel's expansion: amplitude, phase, sin x + cos x, sin x - cos x, and 1 / sqrt(pi x)."""
    w = 5.0 / x
    u = w * w
    c, s = cos(x), sin(x)
    return series(p, u), series(q, u) * w, s + c, s - c, _ROOT / sqrt(x)


def _j0_small(x: Real) -> Real:
    return _without_zeros(x, expansions.J0_SMALL, expansions.J0_ZEROS)


def _j1_small(x: Real) -> Real:
    return x * _without_zeros(x, expansions.J1_SMALL, expansions.J1_ZEROS)


def _j0_large(x: Real) -> Real:
    p, q, add, less, scale = _hankel(x, expansions.P0, expansions.Q0)
    return (p * add - q * less) * scale


def _y0_large(x: Real) -> Real:
    p, q, add, less, scale = _hankel(x, expansions.P0, expansions.Q0)
    return (p * less + q * add) * scale


def _j1_large(x: Real) -> Real:
    p, q, add, less, scale = _hankel(x, expansions.P1, expansions.Q1)
    return (p * less + q * add) * scale


def _y1_large(x: Real) -> Real:
    p, q, add, less, scale = _hankel(x, expansions.P1, expansions.Q1)
    return (q * less - p * add) * scale


def _y0_small(x: Real) -> Real:
    return series(expansions.Y0_SMALL, x * x) + log(x) * (2 / math.pi) * _j0_small(x)


def _y1_small(x: Real) -> Real:
    return x * series(expansions.Y1_SMALL, x * x) + (log(x) * _j1_small(x) - 1.0 / x) * (2 / math.pi)


@formula("j0")
def j0(x: Real) -> Real:
    size = abs(x)
    return pieces((size,), [(size <= 5.0, _j0_small, (1.0,)), (size < INF, _j0_large, (6.0,))])


@formula("j1")
def j1(x: Real) -> Real:
    size = abs(x)
    value = pieces((size,), [(size <= 5.0, _j1_small, (1.0,)), (size < INF, _j1_large, (6.0,))])
    return where(signbit(x), -value, value)


@formula("y0")
def y0(x: Real) -> Real:
    inside = x > 0.0
    value = pieces((x,), [(inside & (x <= 5.0), _y0_small, (1.0,)), (inside & (x < INF), _y0_large, (6.0,))])
    return where(x == 0.0, -INF, value)


@formula("y1")
def y1(x: Real) -> Real:
    inside = x > 0.0
    value = pieces((x,), [(inside & (x <= 5.0), _y1_small, (1.0,)), (inside & (x < INF), _y1_large, (6.0,))])
    return where(x == 0.0, -INF, value)


def _k0_small(x: Real) -> Real:
    return series(expansions.K0_SMALL, x * x) - log(x * 0.5) * special("i0", x)


def _k1_small(x: Real) -> Real:
    return log(x * 0.5) * special("i1", x) + series(expansions.K1_SMALL, x * x) / x


def _k0_large(x: Real) -> Real:
    return series(expansions.K0_LARGE, 2.0 / x) / sqrt(x)


def _k1_large(x: Real) -> Real:
    return series(expansions.K1_LARGE, 2.0 / x) / sqrt(x)


def _modified(x: Real, small: object, large: object, scaled: bool) -> Real:
    def below(z: Real) -> Real:
        value: Real = small(z)  # type: ignore[operator]
        return value * exp(z) if scaled else value

    def above(z: Real) -> Real:
        value: Real = large(z)  # type: ignore[operator]
        return value if scaled else value * exp(-z)

    value = pieces((x,), [((x > 0.0) & (x <= 2.0), below, (1.0,)), ((x > 2.0) & (x < INF), above, (3.0,))])
    return choose(value, (x == 0.0, INF), (isinf(x) & (x > 0.0), 0.0), (isnan(x), x))


@formula("k0")
def k0(x: Real) -> Real:
    return _modified(x, _k0_small, _k0_large, False)


@formula("k1")
def k1(x: Real) -> Real:
    return _modified(x, _k1_small, _k1_large, False)


@formula("k0e")
def k0e(x: Real) -> Real:
    return _modified(x, _k0_small, _k0_large, True)


@formula("k1e")
def k1e(x: Real) -> Real:
    return _modified(x, _k1_small, _k1_large, True)
