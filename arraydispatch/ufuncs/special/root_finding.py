"""Roots of functions of positive numbers, one for each element, between two points of opposite sign."""

from __future__ import annotations

import math
from collections.abc import Callable

from .formula import Real, Truth, broadcast, exp, isfinite, log, log1p, maximum, minimum, repeat, where

_TOLERANCE = 2.0**-52
_MOST = 160
"""Largest number of steps: one and a half times what bisection needs in the logarithms of all floats."""


def _apart(x: Real, y: Real) -> Real:
    """Compute log(x / y)."""
    off = (x - y) / y
    near = abs(off) < 0.5
    return where(near, log1p(where(near, off, 0.0)), log(x) - log(y))


def _between(x: Real, y: Real, share: Real) -> Real:
    """Interpolate from x to y by ratios."""
    half = exp(_apart(y, x) * share * 0.5)
    return x * half * half


def root(function: Callable[..., Real], low: Real, high: Real, *operands: Real) -> Real:
    """Find the zero of a function that is negative at ``low`` and positive at ``high``, to the last place or the one
    before.

    Chandrupatla's method (1997): inverse quadratic interpolation where it is safe, else the midpoint, all in the
    logarithms of the numbers. The function takes the number and the operands; it may be infinite.
    """
    low, high, *rest = broadcast(low, high, *operands)

    def step(*state: Real) -> tuple[Real, ...]:
        a, b, fa, fb, share, *given = state
        more = going(*state)
        x = _between(a, b, share)
        fx = function(x, *given)
        same = ~((fx > 0.0) ^ (fa > 0.0))
        c_, fc_ = where(same, a, b), where(same, fa, fb)
        b_, fb_ = where(same, b, a), where(same, fb, fa)
        width = _apart(b_, x)
        least = _TOLERANCE / maximum(abs(width), _TOLERANCE)
        ratio, rise = _apart(x, b_) / _apart(c_, b_), (fx - fb_) / (fc_ - fb_)
        inner = (rise * rise < ratio) & ((1.0 - rise) * (1.0 - rise) < 1.0 - ratio)
        guess = fx / (fb_ - fx) * (fc_ / (fb_ - fc_))
        guess = guess + _apart(c_, x) / width * (fx / (fc_ - fx)) * (fb_ / (fc_ - fb_))
        guess = where(inner & isfinite(guess), guess, 0.5)
        guess = minimum(maximum(guess, least), 1.0 - least)
        guess = where((least > 0.5) | (fx == 0.0), 2.0, guess)  # found
        new = (x, b_, fx, fb_, guess)
        return *(where(more, n, o) for n, o in zip(new, state)), *given

    def going(*state: Real) -> Truth:
        return state[4] < 1.5

    one = low * 0.0 + 1.0
    start = (low, high, one * -math.inf, one * math.inf, one * 0.5)
    found = repeat(step, going, (*start, *rest), _MOST)
    a, b, fa, fb = found[:4]
    return where(abs(fa) < abs(fb), a, b)
