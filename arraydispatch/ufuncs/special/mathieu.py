"""Mathieu functions of integer orders, by their Fourier series (DLMF 28.4).

The coefficients are the eigenvector of a tridiagonal matrix. Its eigenvalue is located by Sturm counts of the
eigenvalues below a number, then refined by Rayleigh quotients of vectors computed from both ends to the place where
they begin to decay, where neither is small.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from .formula import Real, Truth, broadcast, cos, floor, formula, minimum, repeat, rint, sin, sqrt, where

_NAN = math.nan
_COUNTED = 18
"""Number of bisections: from four times the parameter to less than a hundredth of the distance of eigenvalues."""
_MOST = 420
_LEAST = 1e-18


class _Matrix(NamedTuple):
    """Tridiagonal matrix of each element, less the square of the order, and the number of rows used."""

    m: Real
    q: Real
    lowest: Real
    """Frequency of the first row."""
    end: Real
    """Addition to the first diagonal element."""
    beside: Real
    """Factor of the first off-diagonal element, squared: two if the first row is the constant."""
    place: Real
    last: Real

    def diagonal(self, k: Real) -> Real:
        f = k * 2.0 + self.lowest
        return (f - self.m) * (f + self.m) + where(k == 0.0, self.end, 0.0)

    def off(self, k: Real) -> Real:
        """Return the off-diagonal element between a row and the next."""
        return self.q * where(k == 0.0, self.beside, 1.0)

    def away(self, pivot: Real) -> Real:
        """Return a pivot, replacing zero."""
        least = (abs(self.q) + self.m + 1.0) * _LEAST
        return where(abs(pivot) < least, least, pivot)


def _below(a: Real, held: _Matrix) -> Real:
    """Count the eigenvalues below ``a``."""

    def step(k: Real, pivot: Real, count: Real, a: Real, *rest: Real) -> tuple[Real, ...]:
        h = _Matrix(*rest)
        more = k <= h.last
        count = where(more & (pivot < 0.0), count + 1.0, count)
        off = h.off(k)
        return k + 1.0, h.away(h.diagonal(k + 1.0) - a - off / pivot * off), count, a, *rest

    def going(k: Real, pivot: Real, count: Real, a: Real, *rest: Real) -> Truth:
        return k <= _Matrix(*rest).last

    zero = a * 0.0
    return repeat(step, going, (zero, held.away(held.diagonal(zero) - a), zero, a, *held), _MOST)[2]


def _searched(held: _Matrix) -> Real:
    """Locate the eigenvalue: for the parameter zero eigenvalues are squares, and none moves by more than twice the
    parameter.
    """

    def step(low: Real, high: Real, *rest: Real) -> tuple[Real, ...]:
        h = _Matrix(*rest)
        middle = (low + high) * 0.5
        above = _below(middle, h) > h.place
        return where(above, low, middle), where(above, middle, high), *rest

    def going(low: Real, high: Real, *rest: Real) -> Truth:
        return low < high

    size = abs(held.q) * 2.0
    low, high = repeat(step, going, (-size, size, *held), _COUNTED)[:2]
    return (low + high) * 0.5


class _Vector(NamedTuple):
    """Eigenvector in units of its element at the row where the two parts are joined."""

    gap: Real
    """Residual of the eigenvalue equation at that row."""
    square: Real
    sum: Real
    slope: Real
    turned: Real
    """Sign of its first element."""


def _wave(k: Real, held: _Matrix, angle: Real, even: bool) -> tuple[Real, Real]:
    """Return a term of the series, for an angle in degrees, and its derivative."""
    f = k * 2.0 + held.lowest
    y = (f * angle % 360.0) * (math.pi / 180)
    c, s = cos(y), sin(y)
    if not even:
        return s, f * c
    return c * where(f == 0.0, math.sqrt(0.5), 1.0), -f * s


def _vector(a: Real, join: Real, held: _Matrix, angle: Real, even: bool, summed: bool) -> _Vector:
    def wave(k: Real, h: _Matrix, x: Real) -> tuple[Real, Real]:
        return _wave(k, h, x, even) if summed else (k, k)

    def up(
        k: Real,
        pivot: Real,
        square: Real,
        total: Real,
        slope: Real,
        turned: Real,
        a: Real,
        join: Real,
        x: Real,
        *rest: Real,
    ) -> tuple[Real, ...]:
        h = _Matrix(*rest)
        more = k < join
        off = h.off(k)
        ratio = -off / pivot
        one, other = wave(k + 1.0, h, x)
        new = (
            k + 1.0,
            h.away(h.diagonal(k + 1.0) - a + off * ratio),
            square * ratio * ratio + 1.0,
            total * ratio + one,
            slope * ratio + other,
            where((h.q < 0.0) ^ (pivot < 0.0), turned, -turned),
        )
        old = (k, pivot, square, total, slope, turned)
        return *(where(more, n, o) for n, o in zip(new, old)), a, join, x, *rest

    def down(
        k: Real, pivot: Real, square: Real, total: Real, slope: Real, a: Real, join: Real, x: Real, *rest: Real
    ) -> tuple[Real, ...]:
        h = _Matrix(*rest)
        more = k > join
        off = h.off(k - 1.0)
        ratio = -off / pivot
        one, other = wave(k, h, x)
        new = (
            k - 1.0,
            h.away(h.diagonal(k - 1.0) - a + off * ratio),
            (square + 1.0) * ratio * ratio,
            (total + one) * ratio,
            (slope + other) * ratio,
        )
        return *(where(more, n, o) for n, o in zip(new, (k, pivot, square, total, slope))), a, join, x, *rest

    zero = a * 0.0
    given = (a, join, angle, *held)
    first = held.away(held.diagonal(zero) - a)
    state = (zero, first, zero + 1.0, *(z + zero for z in wave(zero, held, angle)), zero + 1.0)
    ahead = repeat(up, lambda *z: z[0] < z[7], (*state, *given), _MOST)
    state = (held.last + zero, held.away(held.diagonal(held.last) - a), zero, zero, zero)
    behind = repeat(down, lambda *z: z[0] > z[6], (*state, *given), _MOST)
    return _Vector(
        ahead[1] + behind[1] - (held.diagonal(join) - a),
        ahead[2] + behind[2],
        ahead[3] + behind[3],
        ahead[4] + behind[4],
        ahead[5],
    )


def _refined(a: Real, join: Real, held: _Matrix) -> Real:
    def step(a: Real, join: Real, *rest: Real) -> tuple[Real, ...]:
        found = _vector(a, join, _Matrix(*rest), a, True, False)
        return a + found.gap / found.square, join, *rest

    return repeat(step, lambda a, join, *rest: a == a, (a, join, *held), 4)[0]


def _known(m: Real, q: Real) -> Truth:
    """Whether SciPy's table of coefficients is long enough."""
    root = sqrt(q)
    few = root * 56.1 + 7.5 - q * 134.7 + root * q * 90.7
    many = root * 3.1 + 17.0 - q * 0.126 + root * q * 0.0037
    return (m >= 0.0) & (floor(m) == m) & (where(q <= 1.0, few, many) + m * 0.5 < 252.0)


def _angular(m: Real, q: Real, x: Real, even: bool) -> tuple[Real, Real]:
    m, q, x = broadcast(m, q, x)
    known = _known(m, abs(q)) & (abs(q) < 1e4)
    if not even:
        known = known & (m > 0.0)
    m, q = where(known, m, 1.0), where(known, q, 0.0)
    zero = m * 0.0
    odd = floor(m * 0.5) * 2.0 != m
    lowest = where(odd, 1.0, zero + (0.0 if even else 2.0))
    end = where(odd, q if even else -q, 0.0)
    beside = where(odd, 1.0, zero + math.sqrt(2.0)) if even else zero + 1.0
    size = abs(q)
    last = floor(sqrt(m * m + size * 4.0) * 0.5 + sqrt(sqrt(size)) * 4.0) + 14.0
    held = _Matrix(m, q, lowest, end, beside, rint((m - lowest) * 0.5), last)
    near = _searched(held)
    edge = m * m + near + size * 2.0
    join = rint((sqrt(where(edge > 0.0, edge, 0.0)) - lowest) * 0.5)
    join = minimum(where(join > 0.0, join, 0.0), last)
    exact = _refined(near, join, held)
    angle = abs(x) % 360.0
    found = _vector(exact, join, held, angle, even, True)
    sign = where((q < 0.0) & (floor(held.place * 0.5) * 2.0 != held.place), -found.turned, found.turned)
    scale = sign / sqrt(found.square)
    value, slope = found.sum * scale, found.slope * scale
    back = x < 0.0
    if even:
        slope = where(back, -slope, slope)
    else:
        value = where(back, -value, value)
    none = where(known, zero, _NAN)
    return value + none, slope + none


@formula("mathieu_cem")
def mathieu_cem(m: Real, q: Real, x: Real) -> tuple[Real, Real]:
    return _angular(m, q, x, True)


@formula("mathieu_sem")
def mathieu_sem(m: Real, q: Real, x: Real) -> tuple[Real, Real]:
    value, slope = _angular(m, q, x, False)
    none = m == 0.0
    return where(none, 0.0, value), where(none, 0.0, slope)
