"""Inverses of the incomplete beta function, in its argument and in its parameters, by root finding.

Each is found in the smaller of the two tails, whose logarithm is nearly linear in that of the unknown, and as the
smaller of a number and its complement to one: so neither a small probability nor a small result loses digits.
"""

from __future__ import annotations

import math

from .formula import Real, Truth, broadcast, choose, constant, formula, isnan, log, where
from .incomplete import regularized_beta
from .root_finding import root

_INF, _NAN = math.inf, math.nan
_LEAST, _LARGEST = 2.0**-1022, 2.0**1023


def _lower(a: Real, b: Real, x: Real, y: Real, turned: Truth) -> Real:
    """Compute the logarithm of I_x(a, b), or of its complement."""
    tail = regularized_beta(where(turned, b, a), where(turned, a, b), where(turned, y, x), where(turned, x, y), False)
    return log(tail)


def _of_probability(a: Real, b: Real, p: Real, upper: bool) -> Real:
    """Solve I_x(a, b) = p, or the same for its complement, for x."""
    a, b, p = broadcast(a, b, p)
    inside = (a > 0.0) & (b > 0.0) & (a < _INF) & (b < _INF) & (p > 0.0) & (p < 1.0)
    a_, b_, p_ = where(inside, a, 1.0), where(inside, b, 1.0), where(inside, p, 0.5)
    large = p_ > 0.5
    turned = ~large if upper else large
    first, second = where(turned, b_, a_), where(turned, a_, b_)
    goal = log(where(large, 1.0 - p_, p_))
    half = constant(p, 0.5) + p_ * 0.0
    short = log(regularized_beta(first, second, half, half, False)) >= goal

    def off(z: Real, first: Real, second: Real, goal: Real, one_if_short: Real) -> Real:
        below = one_if_short > 0.5
        rest = 1.0 - z
        found = log(regularized_beta(first, second, where(below, z, rest), where(below, rest, z), False)) - goal
        return where(below, found, -found)

    low = half * 0.0 + _LEAST
    z = root(off, low, half, first, second, goal, where(short, 1.0, half * 0.0))
    straight = (short & ~turned) | (turned & ~short)
    value = where(straight, z, 1.0 - z)
    none, whole = (1.0, 0.0) if upper else (0.0, 1.0)
    fine = (a > 0.0) & (b > 0.0)
    within = (p > 0.0) & (p < 1.0)
    return choose(
        _NAN + value,
        (inside & (a == 1.0) & (b == 1.0), 1.0 - p if upper else p),
        (inside, value),
        (fine & (p == 0.0), none),
        (fine & (p == 1.0), whole),
        (within & (a == 1.0) & (b == _INF), 0.0),
        (within & (b == 1.0) & (a == _INF), 1.0),
    )


@formula("betaincinv")
def betaincinv(a: Real, b: Real, p: Real) -> Real:
    return _of_probability(a, b, p, False)


@formula("betainccinv")
def betainccinv(a: Real, b: Real, p: Real) -> Real:
    return _of_probability(a, b, p, True)


def _parameter(b: Real, x: Real, y: Real, p: Real, q: Real) -> Real:
    """Solve I_x(a, b) = p for a, given y = 1 - x and q = 1 - p."""
    large = p > 0.5
    goal = log(where(large, q, p))

    def off(a: Real, b: Real, x: Real, y: Real, p: Real, goal: Real) -> Real:
        turned = p > 0.5
        found = _lower(a, b, x, y, turned) - goal
        found = where(turned, found, -found)
        return where(
            isnan(found), where(a > 1.0, _INF, constant(a, -_INF)), found
        )  # beyond the range that the ends determine

    low = p * 0.0 + _LEAST
    return root(off, low, low * 0.0 + _LARGEST, b, x, y, p, goal)


@formula("btdtria")
def btdtria(p: Real, b: Real, x: Real) -> Real:
    p, b, x = broadcast(p, b, x)
    fine = (b > 0.0) & (p >= 0.0) & (p <= 1.0) & (x > 0.0)
    inside = fine & (b < _INF) & (p > 0.0) & (p < 1.0) & (x < 1.0)
    p_, x_ = where(inside, p, 0.5), where(inside, x, 0.5)
    value = _parameter(where(inside, b, 1.0), x_, 1.0 - x_, p_, 1.0 - p_)
    return choose(value, (~fine, _NAN), (p == 0.0, _INF), (p == 1.0, _LEAST), (~inside, _NAN))


@formula("btdtrib")
def btdtrib(a: Real, p: Real, x: Real) -> Real:
    """Solve for b through the complement, I_(1 - x)(b, a) = 1 - p."""
    a, p, x = broadcast(a, p, x)
    fine = (a > 0.0) & (p >= 0.0) & (p <= 1.0) & (x > 0.0)
    inside = fine & (a < _INF) & (p > 0.0) & (p < 1.0) & (x < 1.0)
    p_, x_ = where(inside, p, 0.5), where(inside, x, 0.5)
    value = _parameter(where(inside, a, 1.0), 1.0 - x_, x_, 1.0 - p_, p_)
    return choose(value, (~fine, _NAN), (p == 0.0, _LEAST), (p == 1.0, _INF), (~inside, _NAN))


@formula("bdtrik")
def bdtrik(y: Real, n: Real, p: Real) -> Real:
    """Compute the count, a real number, up to which a binomial distribution has the probability y."""
    y, n, p = broadcast(y, n, p)
    fine = (n > 0.0) & (n < _INF) & (y >= 0.0) & (y <= 1.0) & (p > 0.0) & (p <= 1.0)
    inside = fine & (y > 0.0) & (y < 1.0) & (p < 1.0)
    y_, n_, p_ = where(inside, y, 0.5), where(inside, n, 1.0), where(inside, p, 0.5)
    rest = 1.0 - p_
    least = regularized_beta(n_, n_ * 0.0 + 1.0, rest, p_, False)
    none = y_ <= least
    goal = log(where(y_ > 0.5, 1.0 - y_, y_))

    def off(k: Real, n: Real, p: Real, rest: Real, y: Real, goal: Real) -> Real:
        turned = y > 0.5
        found = _lower(n - k, k + 1.0, rest, p, turned) - goal
        return where(turned, -found, found)

    k = root(off, n_ * 0.0 + _LEAST, n_, n_, p_, rest, y_, goal)
    return choose(where(none, 0.0, k), (~fine, _NAN), (y == 0.0, 0.0), (~inside, n))
