"""Tricomi's confluent hypergeometric function U(a, b, x) of positive arguments.

If a, or by Kummer's transformation a - b + 1, is about zero or more, it is computed by its integral (DLMF 13.4.4),
whose integrand is written so that it is positive. Otherwise by the downward recurrence in a from there (13.3.7), of
which U is not a minimal solution if b is about one or the argument is not less than b, and by the upward recurrence in
b (13.3.8). The trapezoidal rule in the variable's logarithm takes hundreds of terms.
"""

from __future__ import annotations

import math

from .formula import (
    Real,
    Truth,
    broadcast,
    choose,
    exp,
    expm1,
    floor,
    formula,
    hypot,
    isnan,
    log,
    log1p,
    maximum,
    minimum,
    pieces,
    power,
    repeat,
    rint,
    special,
    sqrt,
    where,
)

_INF, _NAN = math.inf, math.nan
_STEP = 0.14
"""Step of the trapezoidal rule, in the logarithm of the variable: the integrand is analytic that far from the line."""
_MOST = 5200
_EPS = 2.0**-60
_STEPS = 2000
"""Largest number of steps of a recurrence; most values overflow long before."""
_LARGE = 1e200


def _integral(a: Real, b: Real, x: Real, over: Real) -> Real:
    """Compute U for a > -1, times x**over: below one by parts, or without the integrand's value at zero."""
    less = a < 1.0
    rest = b - a - 1.0
    apart = less & (rest > 0.0)
    by_parts = less & ~apart
    first = where(less, a + 1.0, a)
    second = where(by_parts, rest - 1.0, rest)
    both = where(apart, b, b - 1.0)  # the sum of both
    # the maximum of t**first (1 + t)**second exp(-x t), and its width
    gap = x - both
    root = hypot(gap, sqrt(x) * sqrt(first) * 2.0)
    ahead = gap > 0.0
    top = where(ahead, first * 2.0 / where(ahead, gap + root, 1.0), (root - gap) / (x * 2.0))
    part = top / (top + 1.0)
    y = x * top
    bend = y - second * part / (top + 1.0)
    by = minimum(_STEP / (1.0 + sqrt(maximum(bend, 0.0)) * 0.24), 1.0)

    def term(u: Real, first: Real, second: Real, x: Real, rest: Real, top: Real, y: Real, kind: Real) -> Real:
        t = top * exp(u)
        far = log1p(t)
        bell = exp(first * u - y * expm1(u) + second * (far - log1p(top)))
        more = choose(-expm1(-rest * far) / t, (kind == 0.0, 1.0), (kind == 1.0, x * (t + 1.0) - rest))
        return where(bell > 0.0, bell * more, 0.0)  # avoids zero times infinity

    def step(k: Real, total: Real, last: Real, by: Real, *given: Real) -> tuple[Real, ...]:
        more = going(k, total, last, by, *given)
        right, left = term(k * by, *given), term(-k * by, *given)
        new = total + (right + left), maximum(right, left)
        return k + 1.0, *(where(more, n, o) for n, o in zip(new, (total, last))), by, *given

    def going(k: Real, total: Real, last: Real, by: Real, *given: Real) -> Truth:
        return last > total * _EPS

    kind = where(apart, 2.0, where(by_parts, 1.0, x * 0.0))
    given = (first, second, x, rest, top, y, kind)
    start = term(x * 0.0, *given)
    total = repeat(step, going, (x * 0.0 + 1.0, start, start, by, *given), _MOST)[1] * by
    argument = where(by_parts, first, a)

    def direct(a: Real, c: Real, d: Real, t: Real, w: Real, y: Real, total: Real) -> Real:
        return power(w, c) * power(t, d) * exp(-y) * special("rgamma", a) * total

    def logarithms(a: Real, c: Real, d: Real, t: Real, w: Real, y: Real, total: Real) -> Real:
        size = exp(c * log(w) + d * log(t) - y - special("gammaln", a) + log(total))
        return where(a < 0.0, -size, size)

    base = where(over == 0.0, top + 1.0, x + y)
    total = where((over == 0.0) | ~apart, total, total / x)
    moderate = (first < 100.0) & (abs(both) < 100.0) & (abs(both * log(base)) < 500.0)
    value = pieces(
        (argument, first, both, base, part, y, total),
        [(moderate, direct, (1.0,) * 7), (~moderate, logarithms, (1.0,) * 7)],
    )
    return where(apart, value + power(x, where(apart, over - a, 0.0)), value)


def _logarithmic(a: Real, x: Real) -> Real:
    """Compute U for b = 1 and |a| < 1 next to zero (DLMF 13.2.9)."""

    def step(k: Real, factor: Real, psi: Real, total: Real, a: Real, x: Real) -> tuple[Real, ...]:
        total = total + factor * psi
        factor = factor * ((a + k) * x / ((k + 1.0) * (k + 1.0)))
        return k + 1.0, factor, psi + 1.0 / (a + k) - 2.0 / (k + 1.0), total, a, x

    def going(k: Real, factor: Real, psi: Real, total: Real, a: Real, x: Real) -> Truth:
        return k < 18.0

    zero = x * 0.0
    start = special("psi", a) + (log(x) + 2.0 * 0.5772156649015329)
    return -repeat(step, going, (zero, special("rgamma", a), start, zero, a, x), 18)[3]


def _scaled(now: Real, before: Real, size: Real) -> tuple[Real, Real, Real]:
    """Scale two numbers down if they are large, and count these divisions."""
    far = (abs(now) > _LARGE) | (abs(before) > _LARGE)
    scale = where(far, 1 / _LARGE, 1.0)
    return now * scale, before * scale, where(far, size + 1.0, size)


def _lowered(a: Real, b: Real, x: Real) -> Real:
    """Compute U for a < 0 and b >= 1: down in a from within a half of zero, and for b beyond the argument up in b from
    below two (13.3.8).
    """
    count = -rint(a)
    top = a + count
    whole = top == 0.0
    up = where(whole | (b < x + 1.5), 0.0, floor(b - 1.0))
    low = b - up
    at = where(whole, 0.5, top)

    def in_a(
        k: Real, now: Real, before: Real, size: Real, top: Real, count: Real, b: Real, x: Real
    ) -> tuple[Real, ...]:
        w = top - k
        new = _scaled((w * 2.0 - b + x) * now - w * (w - b + 1.0) * before, now, size)
        more = k < count
        return k + 1.0, *(where(more, n, o) for n, o in zip(new, (now, before, size))), top, count, b, x

    zero = x * 0.0
    start = (where(whole, 1.0, _integral(at, low, x, zero)), where(whole, 0.0, _integral(at + 1.0, low, x, zero)))
    found = repeat(in_a, lambda *z: z[0] < z[5], (zero, *start, zero, top, count, low, x), _STEPS)

    def in_b(k: Real, now: Real, before: Real, size: Real, up: Real, a: Real, b: Real, x: Real) -> tuple[Real, ...]:
        c = b + k
        new = _scaled(((c - 1.0 + x) * now - (c - a - 1.0) * before) / x, now, size)
        more = k < up
        return k + 1.0, *(where(more, n, o) for n, o in zip(new, (now, before, size))), up, a, b, x

    now, size = found[1], found[3]
    next_ = ((a + x) * now - a * (a - low + 1.0) * found[2]) / x
    first = _scaled(next_, now, size)
    some = up > 0.0
    state = (zero + 1.0, *(where(some, n, o) for n, o in zip(first, (now, now, size))), up, a, low, x)
    found = repeat(in_b, lambda *z: z[0] < z[4], state, _STEPS)
    big = where(found[3] > 0.0, _LARGE, 1.0)
    return found[1] * big * where(found[3] > 1.0, _INF, 1.0)


def _known(a: Real, b: Real, x: Real) -> Real:
    """Compute U for finite numbers, and an argument above zero."""
    other = a - b + 1.0
    near = (b == 1.0) & (abs(a) < 1.0) & (x <= 0.25) & (a != 0.0)
    turned = (a <= -0.75) & ((other > 0.0) | (b < 1.0))
    c, d = where(turned, other, a), where(turned, 2.0 - b, b)

    def by_series(a: Real, b: Real, x: Real, over: Real) -> Real:
        return _logarithmic(a, x)

    def lowered(a: Real, b: Real, x: Real, over: Real) -> Real:
        return _lowered(a, b, x) * power(x, over)

    return pieces(
        (c, d, x, where(turned, 1.0 - b, 0.0)),
        [
            (near, by_series, (0.5, 1.0, 0.1, 0.0)),
            (c > -0.75, _integral, (1.5, 1.0, 1.0, 0.0)),
            ((c >= -_STEPS) & (d <= maximum(x + 1.5, _STEPS)), lowered, (-0.9, 1.5, 1.0, 0.0)),
        ],
    )


def _at_zero(a: Real, b: Real) -> Real:
    return special("poch", 1.0 - b + a, -a)


@formula("hyperu")
def hyperu(a: Real, b: Real, x: Real) -> Real:
    a, b, x = broadcast(a, b, x)
    fine = (abs(a) < _INF) & (abs(b) < _INF) & (x > 0.0) & (x < _INF)
    value = _known(where(fine, a, 1.0), where(fine, b, 1.0), where(fine, x, 1.0))
    start = pieces((a, b), [((x == 0.0) & (b <= 1.0), _at_zero, (1.0, 0.5))], _INF)
    return choose(
        value,
        (isnan(a) | isnan(b) | isnan(x) | (x < 0.0), _NAN),
        (x == 0.0, start),
        (a == 0.0, 1.0),
        ((x == _INF) & (abs(a) < _INF), where(a < 0.0, _INF, 0.0)),
        (~fine, _NAN),
    )
