"""Legendre's incomplete elliptic integrals, by Carlson's duplication (1995)."""

from __future__ import annotations

import math

from .formula import (
    Real,
    Truth,
    broadcast,
    choose,
    cos,
    floor,
    formula,
    isinf,
    isnan,
    maximum,
    minimum,
    repeat,
    sin,
    special,
    sqrt,
    where,
)

_INF, _NAN = math.inf, math.nan
_TINY = 2.0**-1022
_NEAR = 0.002
"""Relative differences whose eighth power is nothing beside 1, up to which the series go."""
_MOST = 600
"""Steps, each of which makes differences a quarter: enough from one end of the floats to the other."""


def _nothing(x: Real) -> Truth:
    return abs(x) < _TINY


def _mean_root(x: Real, y: Real, z: Real) -> Real:
    a, b, c = sqrt(x), sqrt(y), sqrt(z)
    return a * b + a * c + b * c


def _rf(x: Real, y: Real, z: Real) -> Real:
    """Of positive numbers, one of which may be 0."""

    def step(x: Real, y: Real, z: Real) -> tuple[Real, ...]:
        by = _mean_root(x, y, z)
        return (x + by) * 0.25, (y + by) * 0.25, (z + by) * 0.25

    def going(x: Real, y: Real, z: Real) -> Truth:
        return maximum(maximum(x, y), z) > minimum(minimum(x, y), z) * (1.0 + _NEAR)

    x, y, z = repeat(step, going, (x, y, z), _MOST)
    mean = (x + y + z) * (1 / 3)
    p, q = 1.0 - x / mean, 1.0 - y / mean
    r = -(p + q)
    second, third = p * q - r * r, p * q * r
    series = second * (third * (-3 / 44) + second * (1 / 24 - second * (5 / 208) + third * (1 / 16)) - 1 / 10)
    return (series + third * (third * (3 / 104) + 1 / 14) + 1.0) / sqrt(mean)


def _rd(x: Real, y: Real, z: Real) -> Real:
    """Of positive numbers, one of the first two of which may be 0."""

    def step(x: Real, y: Real, z: Real, total: Real, by: Real) -> tuple[Real, ...]:
        shift = _mean_root(x, y, z)
        total = total + by / (sqrt(z) * (z + shift))
        return (x + shift) * 0.25, (y + shift) * 0.25, (z + shift) * 0.25, total, by * 0.25

    def going(x: Real, y: Real, z: Real, total: Real, by: Real) -> Truth:
        return maximum(maximum(x, y), z) > minimum(minimum(x, y), z) * (1.0 + _NEAR)

    x, y, z, total, by = repeat(step, going, (x, y, z, x * 0.0, x * 0.0 + 1.0), _MOST)
    mean = (x + y + z * 3.0) * 0.2
    p, q = 1.0 - x / mean, 1.0 - y / mean
    r = (p + q) * (-1 / 3)
    pq, rr = p * q, r * r
    e2, e3, e4, e5 = pq - rr * 6.0, (pq * 3.0 - rr * 8.0) * r, (pq - rr) * rr * 3.0, pq * rr * r
    series = e2 * (e2 * (9 / 88) - e3 * (9 / 52) - e2 * e2 * (1 / 16) + e4 * (3 / 20) + e2 * e3 * (45 / 272) - 3 / 14)
    series = series + e3 * (e3 * (3 / 40) + 1 / 6) - e4 * (3 / 22) + e5 * (3 / 26) - (e3 * e4 + e2 * e5) * (9 / 68)
    return by * (series + 1.0) / (mean * sqrt(mean)) + total * 3.0


def _periods(phi: Real) -> tuple[Real, Real]:
    """How many quarters of a turn, an even number, and the angle that is left."""
    count = floor(phi * (2 / math.pi))
    count = count + (count - floor(count * 0.5) * 2.0)
    return count, phi - count * (math.pi / 2)


def _of_angle(phi: Real, m: Real) -> tuple[Real, Real, Real, Real, Truth]:
    """The angle, its sine, and the operands of Carlson's integrals; where there are such."""
    fine = (m <= 1.0) & ~isinf(m) & ~isinf(phi) & ~isnan(phi)
    count, angle = _periods(where(fine, phi, 0.0))
    s, c = sin(angle), cos(angle)
    inside = 1.0 - where(fine, m, 0.0) * s * s
    return count, s, c * c, maximum(inside, 0.0), fine


@formula("ellipkinc")
def ellipkinc(phi: Real, m: Real) -> Real:
    phi, m = broadcast(phi, m)
    count, s, c, inside, fine = _of_angle(phi, m)
    pole = fine & (m == 1.0) & (abs(phi) >= math.pi / 2)  # of negative angles SciPy has the same infinity
    known = fine & ~pole
    whole = special("ellipkm1", where(known & (count != 0.0), 1.0 - m, 0.5))
    value = s * _rf(where(known, c, 1.0), where(known, inside, 1.0), c * 0.0 + 1.0)
    value = where(count == 0.0, value, value + count * whole)
    nowhere = isnan(phi) | isnan(m) | (m > 1.0) | (isinf(m) & isinf(phi))
    return choose(value, (nowhere, _NAN), (isinf(m), 0.0), (isinf(phi), phi), (pole, _INF))


@formula("ellipeinc")
def ellipeinc(phi: Real, m: Real) -> Real:
    phi, m = broadcast(phi, m)
    count, s, c, inside, fine = _of_angle(phi, m)
    edge = _nothing(c) & _nothing(inside)
    a, b = where(edge, 1.0, c), where(edge, 1.0, inside)
    one = c * 0.0 + 1.0
    held = where(fine, m, 0.0)
    value = s * (_rf(a, b, one) - held * s * s * _rd(a, b, one) * (1 / 3))
    value = where(fine & (m == 1.0), s, value)
    whole = special("ellipe", where(fine, m, 0.0))
    value = where(count == 0.0, value, value + count * whole)
    nowhere = isnan(phi) | isnan(m) | (m > 1.0)
    return choose(value, (nowhere, _NAN), (isinf(phi), phi), (isinf(m), -m))
