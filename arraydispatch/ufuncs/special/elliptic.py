"""Carlson's elliptic integrals, by his duplication algorithm (1995), and Legendre's incomplete integrals in terms of these."""

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
    isfinite,
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
_NEAR = 0.008
"""Relative difference up to which the series are used; its eighth power is negligible beside 1."""
_FAR = 1e100
"""Numbers beyond it, or below its inverse, are scaled where their powers would be out of range."""
_MOST = 600
"""Largest number of steps, each of which quarters the differences: enough from one end of the floats to the other."""


def _nothing(x: Real) -> Truth:
    return abs(x) < _TINY


def _mean_root(x: Real, y: Real, z: Real) -> Real:
    a, b, c = sqrt(x), sqrt(y), sqrt(z)
    return a * b + a * c + b * c


def _apart(x: Real, y: Real, z: Real) -> Truth:
    """Return the elements for which another step is needed: each further step adds rounding errors."""
    return maximum(maximum(x, y), z) > minimum(minimum(x, y), z) * (1.0 + _NEAR)


def _rf(x: Real, y: Real, z: Real) -> Real:
    """Compute R_F for positive numbers, one of which may be 0."""

    def step(x: Real, y: Real, z: Real) -> tuple[Real, ...]:
        by, more = _mean_root(x, y, z), _apart(x, y, z)
        return tuple(where(more, (t + by) * 0.25, t) for t in (x, y, z))

    x, y, z = repeat(step, _apart, (x, y, z), _MOST)
    mean = (x + y + z) * (1 / 3)
    p, q = 1.0 - x / mean, 1.0 - y / mean
    r = -(p + q)
    second, third = p * q - r * r, p * q * r
    series = second * (third * (-3 / 44) + second * (1 / 24 - second * (5 / 208) + third * (1 / 16)) - 1 / 10)
    return (series + third * (third * (3 / 104) + 1 / 14) + 1.0) / sqrt(mean)


def _rd(x: Real, y: Real, z: Real) -> Real:
    """Compute R_D for positive numbers, one of the first two of which may be 0."""

    def step(x: Real, y: Real, z: Real, total: Real, by: Real) -> tuple[Real, ...]:
        shift = _mean_root(x, y, z)
        new = (
            (x + shift) * 0.25,
            (y + shift) * 0.25,
            (z + shift) * 0.25,
            total + by / (sqrt(z) * (z + shift)),
            by * 0.25,
        )
        more = _apart(x, y, z)
        return tuple(where(more, a, b) for a, b in zip(new, (x, y, z, total, by)))

    def going(x: Real, y: Real, z: Real, total: Real, by: Real) -> Truth:
        return _apart(x, y, z)

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
    """Return the number of quarter turns, an even number, and the remaining angle."""
    count = floor(phi * (2 / math.pi))
    count = count + (count - floor(count * 0.5) * 2.0)
    return count, phi - count * (math.pi / 2)


def _of_angle(phi: Real, m: Real) -> tuple[Real, Real, Real, Real, Truth]:
    """Return the angle, its sine, the operands of Carlson's integrals, and where these exist."""
    fine = (m <= 1.0) & ~isinf(m) & ~isinf(phi) & ~isnan(phi)
    count, angle = _periods(where(fine, phi, 0.0))
    s, c = sin(angle), cos(angle)
    inside = 1.0 - where(fine, m, 0.0) * s * s
    return count, s, c * c, maximum(inside, 0.0), fine


@formula("ellipkinc")
def ellipkinc(phi: Real, m: Real) -> Real:
    phi, m = broadcast(phi, m)
    count, s, c, inside, fine = _of_angle(phi, m)
    pole = fine & (m == 1.0) & (abs(phi) >= math.pi / 2)  # SciPy has the same infinity for negative angles
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


# -- Carlson's own integrals, with SciPy's values where they do not exist
# ----------------------------------------------------


@formula("elliprc")
def elliprc(x: Real, y: Real) -> Real:
    """Compute R_C; for a negative second number its principal value."""
    x, y = broadcast(x, y)
    fine = (x >= 0.0) & ~_nothing(y) & ~isinf(x) & ~isinf(y) & ~isnan(y)
    below = fine & (y < 0.0)
    a, b = where(fine, x, 1.0), where(fine, y, 1.0)
    a, b = where(below, a - b, a), abs(b)
    value = _rf(a, b, b)
    value = where(below, value * sqrt(where(below, x, 1.0) / a), value)
    return choose(
        value,
        (isfinite(x) & (y == -_INF), 0.0),  # for negative first numbers too
        (isinf(x) & (x > 0.0) & ~(y <= 0.0), 0.0),  # also together with NaN
        (isnan(x) | isnan(y) | isinf(x) | (x < 0.0) | _nothing(y), _NAN),
        (isinf(y), 0.0),
    )


@formula("elliprf")
def elliprf(x: Real, y: Real, z: Real) -> Real:
    x, y, z = broadcast(x, y, z)
    nowhere = isnan(x) | isnan(y) | isnan(z) | (x < 0.0) | (y < 0.0) | (z < 0.0)
    far = isinf(x) | isinf(y) | isinf(z)
    pole = (_nothing(x) & _nothing(y)) | (_nothing(x) & _nothing(z)) | (_nothing(y) & _nothing(z))
    fine = ~(nowhere | far | pole)
    value = _rf(*(where(fine, t, 1.0) for t in (x, y, z)))
    return choose(value, (nowhere, _NAN), (far, 0.0), (pole, _INF))


@formula("elliprd")
def elliprd(x: Real, y: Real, z: Real) -> Real:
    x, y, z = broadcast(x, y, z)
    nowhere = isnan(x) | isnan(y) | isnan(z) | (x < 0.0) | (y < 0.0) | (z < 0.0)
    far = isinf(x) | isinf(y) | isinf(z)
    pole = _nothing(x) & _nothing(y)
    fine = ~(nowhere | far | pole | _nothing(z))
    value = _rd(*(where(fine, t, 1.0) for t in (x, y, z)))
    return choose(value, (nowhere, _NAN), (_nothing(z), _INF), (far, 0.0), (pole, _INF))


@formula("elliprg")
def elliprg(x: Real, y: Real, z: Real) -> Real:
    """Compute R_G from the other two, whose terms have one sign if the middle number comes last."""
    x, y, z = broadcast(x, y, z)
    nowhere = isnan(x) | isnan(y) | isnan(z) | (x < 0.0) | (y < 0.0) | (z < 0.0)
    far = isinf(x) | isinf(y) | isinf(z)
    fine = ~(nowhere | far)
    x, y, z = (where(fine, t, 1.0) for t in (x, y, z))
    least, most = minimum(minimum(x, y), z), maximum(maximum(x, y), z)
    middle = maximum(minimum(x, y), minimum(maximum(x, y), z))
    size = where(~_nothing(most) & ((most > _FAR) | (middle < 1 / _FAR)), most, 1.0)  # its powers would be out of range
    a, b, c = least / size, middle / size, most / size
    single = _nothing(b)  # one number and zeros
    a, b, d = (where(single, 1.0, t) for t in (a, b, c))
    value = b * _rf(a, d, b) + (b - a) * _rd(a, d, b) * (d - b) * (1 / 3) + sqrt(a / b) * sqrt(d)
    value = where(single, sqrt(c), value) * sqrt(size) * 0.5
    return choose(value, (nowhere, _NAN), (far, _INF))
