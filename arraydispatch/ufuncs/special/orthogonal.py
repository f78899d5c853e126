"""Orthogonal polynomials of whole orders, by their recurrences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...backends.base import Unsupported
from .formula import Real, broadcast, constant, floor, formula, is_known, isnan, special, where

_MOST = 200
_WHOLE = f"orders that are not whole, negative or beyond {_MOST} are SciPy's alone"
_TRACED = "the order is not known under a trace"

Next = Callable[[float, Real, Real, Real], Real]


def _orders(n: Real) -> tuple[Real, int]:
    """The orders and the largest of them."""
    if not is_known(n):
        raise Unsupported(_TRACED)
    values = n.xp.backend.to_numpy(n.v)
    if values.size == 0:
        return n, 0
    if not np.all((values == np.floor(values)) & (values >= 0) & (values <= _MOST)):
        raise Unsupported(_WHOLE)
    return floor(n), int(values.max())


def _by_recurrence(n: Real, x: Real, first: Real, following: Next) -> Real:
    """The polynomial of each order: 1, ``first``, and ``following(k, x, p_k, p_(k-1))`` as p_(k+1)."""
    n, most = _orders(n)
    n, x, first = broadcast(n, x, first)
    before, now = constant(x, 1.0) + x * 0.0, first
    value = where(n == 0.0, constant(x, 1.0), now)
    for k in range(1, most):
        before, now = now, following(float(k), x, now, before)
        value = where(n == k + 1.0, now, value)
    return where(isnan(x), x, value)


def _legendre(k: float, x: Real, p: Real, q: Real) -> Real:
    return (x * p * (2 * k + 1) - q * k) * (1 / (k + 1))


def _chebyshev(k: float, x: Real, p: Real, q: Real) -> Real:
    return x * p * 2.0 - q


@formula("eval_legendre", looks=True)
def eval_legendre(n: Real, x: Real) -> Real:
    return _by_recurrence(n, x, x, _legendre)


@formula("eval_sh_legendre", looks=True)
def eval_sh_legendre(n: Real, x: Real) -> Real:
    return eval_legendre(n, x * 2.0 - 1.0)


@formula("eval_chebyt", looks=True)
def eval_chebyt(n: Real, x: Real) -> Real:
    return _by_recurrence(n, x, x, _chebyshev)


@formula("eval_chebyu", looks=True)
def eval_chebyu(n: Real, x: Real) -> Real:
    return _by_recurrence(n, x, x * 2.0, _chebyshev)


@formula("eval_sh_chebyt", looks=True)
def eval_sh_chebyt(n: Real, x: Real) -> Real:
    return eval_chebyt(n, x * 2.0 - 1.0)


@formula("eval_sh_chebyu", looks=True)
def eval_sh_chebyu(n: Real, x: Real) -> Real:
    return eval_chebyu(n, x * 2.0 - 1.0)


@formula("eval_chebyc", looks=True)
def eval_chebyc(n: Real, x: Real) -> Real:
    return eval_chebyt(n, x * 0.5) * 2.0


@formula("eval_chebys", looks=True)
def eval_chebys(n: Real, x: Real) -> Real:
    return eval_chebyu(n, x * 0.5)


@formula("eval_hermite", looks=True)
def eval_hermite(n: Real, x: Real) -> Real:
    return _by_recurrence(n, x, x * 2.0, lambda k, y, p, q: y * p * 2.0 - q * (2 * k))


@formula("eval_hermitenorm", looks=True)
def eval_hermitenorm(n: Real, x: Real) -> Real:
    return _by_recurrence(n, x, x, lambda k, y, p, q: y * p - q * k)


@formula("eval_laguerre", looks=True)
def eval_laguerre(n: Real, x: Real) -> Real:
    return _by_recurrence(n, x, 1.0 - x, lambda k, y, p, q: ((2 * k + 1 - y) * p - q * k) * (1 / (k + 1)))


@formula("eval_genlaguerre", looks=True)
def eval_genlaguerre(n: Real, alpha: Real, x: Real) -> Real:
    alpha, x = broadcast(alpha, x)
    return _by_recurrence(
        n, x, alpha + 1.0 - x, lambda k, y, p, q: ((alpha + (2 * k + 1) - y) * p - (alpha + k) * q) * (1 / (k + 1))
    )


@formula("eval_gegenbauer", looks=True)
def eval_gegenbauer(n: Real, alpha: Real, x: Real) -> Real:
    alpha, x = broadcast(alpha, x)
    return _by_recurrence(
        n,
        x,
        alpha * x * 2.0,
        lambda k, y, p, q: (y * p * (alpha + k) * 2.0 - (alpha * 2.0 + (k - 1)) * q) * (1 / (k + 1)),
    )


@formula("eval_jacobi", looks=True)
def eval_jacobi(n: Real, alpha: Real, beta: Real, x: Real) -> Real:
    alpha, beta, x = broadcast(alpha, beta, x)
    both, apart = alpha + beta, alpha * alpha - beta * beta

    def following(k: float, x: Real, p: Real, q: Real) -> Real:
        t = both + 2 * k
        ahead = (t + 1.0) * (t * (t + 2.0) * x + apart) * p
        return (ahead - (alpha + k) * (beta + k) * (t + 2.0) * q * 2.0) / ((both + (k + 1)) * t * (2 * (k + 1)))

    value = _by_recurrence(n, x, ((both + 2.0) * x + (alpha - beta)) * 0.5, following)
    return where(isnan(both), both, value)


@formula("eval_sh_jacobi", looks=True)
def eval_sh_jacobi(n: Real, p: Real, q: Real, x: Real) -> Real:
    count, _ = _orders(n)
    return eval_jacobi(n, p - q, q - 1.0, x * 2.0 - 1.0) / special("binom", count * 2.0 + p - 1.0, count)
