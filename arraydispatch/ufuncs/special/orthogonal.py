"""Orthogonal polynomials of known integer orders, by their recurrences."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...backends.base import Unsupported
from ...runtime import dtypes
from .formula import (  # fmt: skip
    Real,
    Truth,
    any_of,
    broadcast,
    choose,
    constant,
    formula,
    is_known,
    isfinite,
    isnan,
    power,
    special,
    where,
)

_MOST = 200
_WHOLE = f"orders that are not whole, negative or beyond {_MOST} are SciPy's alone"
_TRACED = "the order is not known under a trace"
_LARGE_PARAMETER = 1e8
_HALF_OF_LARGEST = float(np.finfo(np.float64).max) / 2
_INFINITE = (
    "of orders of a floating dtype SciPy alone has what it has at infinities, NaN and beyond the largest numbers"
)

Next = Callable[[float, Real, Real, Real], Real]
Below = float | Callable[[Real], Real] | None
"""Value of a polynomial of a negative integer order: a number, or a function giving the equivalent order."""


def _is_whole(n: Real) -> bool:
    """Whether orders have an integer dtype: for these SciPy uses recurrences, for others series."""
    return bool(n.xp.dtype_of(n.v).kind in "iu")


def _wide(n: Real) -> Real:
    return Real(n.xp, n.xp.prim.astype(n.v, dtypes.FLOAT64))


def _orders(n: Real, below: Below = None) -> tuple[Real, Truth | None, int]:
    """Return the orders, a mask of negative ones that were replaced by another order, and the largest."""
    if not is_known(n):
        raise Unsupported(_TRACED)
    whole, n = _is_whole(n), _wide(n)
    negative = n < 0.0 if whole and below is not None else None
    if negative is not None:
        n = where(negative, below(n) if callable(below) else 0.0, n)
    most = _largest(n)
    if most is None:
        raise Unsupported(_WHOLE)
    return n, negative, most


def _largest(n: Real) -> int | None:
    """Return the largest of known orders; None if some are unsuitable for recurrences."""
    values = n.xp.backend.to_numpy(n.v)
    if values.size == 0:
        return 0
    whole = np.all((values == np.floor(values)) & (values >= 0) & (values <= _MOST))
    return int(values.max()) if whole else None


def _by_recurrence(
    n: Real, x: Real, first: Real, following: Next, scipys: Callable[[Real, int, Real], Real], below: Below,
    usual: Truth | None = None,
) -> Real:  # fmt: skip
    """Compute the polynomial of each order: 1, ``first``, and ``following(k, x, p_k, p_(k-1))`` as p_(k+1).

    Where that is not finite, or parameters are not the usual ones, the value depends on the terms of a recurrence:
    SciPy's own is used, ``scipys(n, the largest, x)``.
    """
    whole = _is_whole(n)
    n, negative, most = _orders(n, below)
    n, x, first = broadcast(n, x, first)
    before, now = constant(x, 1.0) + x * 0.0, first
    value = where(n == 0.0, constant(x, 1.0), now)
    for k in range(1, most):
        before, now = now, following(float(k), x, now, before)
        value = where(n == k + 1.0, now, value)
    good = isfinite(x) & isfinite(first) & isfinite(value)
    good = good if usual is None else good & usual
    if not is_known(good) or any_of(~good):
        if whole:
            value = where(good, value, scipys(n, most, x))
        elif is_known(good):
            raise Unsupported(_INFINITE)
    if negative is not None and not callable(below):
        value = where(negative, below, value)
    return value


def _by_differences(n: Real, most: int, first: Real, p: Real, d: Real, following: Next) -> Real:
    """Run SciPy's recurrence: 1, ``first``, and from ``p`` on each adds a difference, ``following(k, x, p_k, d_k)``."""
    n, first, p, d = broadcast(n, first, p, d)
    value = where(n == 0.0, constant(p, 1.0), first)
    for k in range(1, most):
        d = following(float(k), p, p, d)
        p = d + p
        value = where(n == k + 1.0, p, value)
    return value


def _of_chebyshev(n: Real, most: int, x: Real) -> tuple[Real, Real]:
    """Run SciPy's recurrence of Chebyshev polynomials, which begins before the first: U_n and U_(n-2)."""
    twice = x * 2.0
    earlier, before, now = constant(x, 0.0) * n, constant(x, -1.0) + n * 0.0, constant(x, 0.0) * n
    upper, lower = now, earlier
    for k in range(most + 1):
        earlier, before = before, now
        now = twice * before - earlier
        upper, lower = where(n == float(k), now, upper), where(n == float(k), earlier, lower)
    return upper, lower


def _legendre(k: float, x: Real, p: Real, q: Real) -> Real:
    return (x * p * (2 * k + 1) - q * k) * (1 / (k + 1))


def _chebyshev(k: float, x: Real, p: Real, q: Real) -> Real:
    return x * p * 2.0 - q


@formula("eval_legendre", looks=True)
def eval_legendre(n: Real, x: Real) -> Real:
    def scipys(n: Real, most: int, x: Real) -> Real:
        return _by_differences(
            n, most, x, x, x - 1.0, lambda k, _, p, d: (x - 1.0) * ((2 * k + 1) / (k + 1)) * p + d * (k / (k + 1))
        )

    return _by_recurrence(n, x, x, _legendre, scipys, lambda k: -k - 1.0)


@formula("eval_chebyt", looks=True)
def eval_chebyt(n: Real, x: Real) -> Real:
    def scipys(n: Real, most: int, x: Real) -> Real:
        upper, lower = _of_chebyshev(n, most, x)
        return (upper - lower) * 0.5

    return _by_recurrence(n, x, x, _chebyshev, scipys, abs, abs(x) < _HALF_OF_LARGEST)


@formula("eval_chebyu", looks=True)
def eval_chebyu(n: Real, x: Real) -> Real:
    def scipys(n: Real, most: int, x: Real) -> Real:
        return _of_chebyshev(n, most, x)[0]

    def mirrored(k: Real) -> Real:
        return where(k == -1.0, 0.0, -k - 2.0)

    value = _by_recurrence(n, x, x * 2.0, _chebyshev, scipys, mirrored)
    if not _is_whole(n):
        return value
    return choose(value, (_wide(n) == -1.0, 0.0), (_wide(n) < 0.0, -value))


def _hermites(n: Real, most: int, x: Real) -> Real:
    """Run SciPy's recurrence of Hermite polynomials, from the largest factor down."""
    earlier, now = constant(x, 0.0) * n, constant(x, 1.0) + n * 0.0
    for k in range(most - 1):
        going = n - float(k) > 1.0
        following = x * now - (n - float(k)) * earlier
        earlier, now = where(going, now, earlier), where(going, following, now)
    return choose(x * now - earlier, (isnan(x), x), (n == 0.0, 1.0), (n == 1.0, x))


@formula("eval_hermite", looks=True)
def eval_hermite(n: Real, x: Real) -> Real:
    def scipys(n: Real, most: int, x: Real) -> Real:
        return _hermites(n, most, x * math.sqrt(2.0)) * power(2.0, n * 0.5)

    return _by_recurrence(n, x, x * 2.0, lambda k, y, p, q: y * p * 2.0 - q * (2 * k), scipys, np.nan)


@formula("eval_hermitenorm", looks=True)
def eval_hermitenorm(n: Real, x: Real) -> Real:
    return _by_recurrence(n, x, x, lambda k, y, p, q: y * p - q * k, _hermites, np.nan)


@formula("eval_laguerre", looks=True)
def eval_laguerre(n: Real, x: Real) -> Real:
    return eval_genlaguerre(n, constant(x, 0.0), x)


@formula("eval_genlaguerre", looks=True)
def eval_genlaguerre(n: Real, alpha: Real, x: Real) -> Real:
    alpha, x = broadcast(alpha, x)

    def scipys(n: Real, most: int, x: Real) -> Real:
        first = x * -1.0 / (alpha + 1.0)
        value = _by_differences(
            n,
            most,
            x * -1.0 + alpha + 1.0,
            first + 1.0,
            first,
            lambda k, _, p, d: x * -1.0 / (alpha + (k + 1.0)) * p + k / (alpha + (k + 1.0)) * d,
        )
        return where(n > 1.0, special("binom", n + alpha, n) * value, value)

    value = _by_recurrence(
        n,
        x,
        alpha + 1.0 - x,
        lambda k, y, p, q: ((alpha + (2 * k + 1) - y) * p - (alpha + k) * q) * (1 / (k + 1)),
        scipys,
        0.0,
        (abs(alpha) < _LARGE_PARAMETER),
    )
    return where((alpha <= -1.0) | isnan(alpha) | isnan(x), np.nan, value)


@formula("eval_gegenbauer", looks=True)
def eval_gegenbauer(n: Real, alpha: Real, x: Real) -> Real:
    alpha, x = broadcast(alpha, x)

    def scipys(n: Real, most: int, x: Real) -> Real:
        twice = alpha * 2.0
        value = _by_differences(
            n,
            most,
            twice * x,
            x,
            x - 1.0,
            lambda k, _, p, d: (alpha + k) * 2.0 / (twice + k) * (x - 1.0) * p + k / (twice + k) * d,
        )
        small = abs(alpha / where(n > 0.0, n, 1.0)) < 1e-8
        scaled = where(small, twice / where(n > 0.0, n, 1.0), special("binom", n + twice - 1.0, n)) * value
        return where(n > 1.0, scaled, value)

    value = _by_recurrence(
        n,
        x,
        alpha * x * 2.0,
        lambda k, y, p, q: (y * p * (alpha + k) * 2.0 - (alpha * 2.0 + (k - 1)) * q) * (1 / (k + 1)),
        scipys,
        0.0,
        (alpha > -0.5) & (alpha < _LARGE_PARAMETER) | (abs(x) < 1e-5),
    )
    return where(isnan(alpha) | isnan(x), np.nan, value)


@formula("eval_jacobi", looks=True)
def eval_jacobi(n: Real, alpha: Real, beta: Real, x: Real) -> Real:
    alpha, beta, x = broadcast(alpha, beta, x)
    both, apart = alpha + beta, alpha * alpha - beta * beta

    def following(k: float, x: Real, p: Real, q: Real) -> Real:
        t = both + 2 * k
        ahead = (t + 1.0) * (t * (t + 2.0) * x + apart) * p
        return (ahead - (alpha + k) * (beta + k) * (t + 2.0) * q * 2.0) / ((both + (k + 1)) * t * (2 * (k + 1)))

    def scipys(n: Real, most: int, x: Real) -> Real:
        def later(k: float, _: Real, p: Real, d: Real) -> Real:
            t = alpha + 2 * k + beta
            ahead = t * (t + 1.0) * (t + 2.0) * (x - 1.0) * p + (beta + k) * (2 * k) * (t + 2.0) * d
            return ahead / ((alpha + (k + 1)) * 2.0 * (alpha + (k + 1) + beta) * t)

        first = ((alpha + 1.0) * 2.0 + (both + 2.0) * (x - 1.0)) * 0.5
        start = (both + 2.0) * (x - 1.0) / ((alpha + 1.0) * 2.0)
        value = _by_differences(n, most, first, start + 1.0, start, later)
        return where(n > 1.0, special("binom", n + alpha, n) * value, value)

    usual = (alpha > -1.0) & (beta > -1.0) & (alpha < _LARGE_PARAMETER) & (beta < _LARGE_PARAMETER)
    return _by_recurrence(n, x, ((both + 2.0) * x + (alpha - beta)) * 0.5, following, scipys, None, usual)
