"""Orthogonal polynomials of whole orders, by their recurrences; Chebyshev's of any order, by angles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...backends.base import Unsupported
from .formula import (
    Real,
    arctan2,
    broadcast,
    choose,
    constant,
    cos,
    cosh,
    floor,
    formula,
    is_known,
    isnan,
    log,
    log1p,
    sin,
    sinh,
    special,
    sqrt,
    where,
)  # fmt: skip
from .gammas import cos_pi, sin_pi

_MOST = 200
_WHOLE = f"orders that are not whole, negative or beyond {_MOST} are SciPy's alone"
_TRACED = "the order is not known under a trace"

Two = Callable[[Real, Real], Real]
Next = Callable[[float, Real, Real, Real], Real]


def _orders(n: Real) -> tuple[Real, int]:
    """The orders and the largest of them."""
    if not is_known(n):
        raise Unsupported(_TRACED)
    most = _largest(n)
    if most is None:
        raise Unsupported(_WHOLE)
    return floor(n), most


def _largest(n: Real) -> int | None:
    """The largest of known orders; None if some are not for recurrences."""
    values = n.xp.backend.to_numpy(n.v)
    if values.size == 0:
        return 0
    whole = np.all((values == np.floor(values)) & (values >= 0) & (values <= _MOST))
    return int(values.max()) if whole else None


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


def _few(n: Real) -> bool:
    return is_known(n) and _largest(n) is not None


def _waves(k: Real, x: Real) -> tuple[Real, Real]:
    """Cosine and sine of k arccos(x), |x| <= 1: by the nearest of the angles 0, a quarter and a half of a turn."""
    size = abs(x)
    middle = size <= 0.7
    root = sqrt((1.0 - size) * (1.0 + size))
    near = where(middle, arctan2(x, root), arctan2(root, size)) * k
    turns = choose(k * 0.0, (middle, k * 0.5), (x < 0.0, k))
    ahead = (x > 0.0) & ~middle
    c, s = cos_pi(turns), sin_pi(turns)
    wave, other = cos(near), sin(near)
    return c * wave + s * other, where(ahead, other, s * wave - c * other)


def _beyond(size: Real) -> Real:
    """arcosh."""
    over = (size - 1.0) + sqrt((size - 1.0) * (size + 1.0))
    return where(over < 1.0, log1p(where(over < 1.0, over, 0.0)), log(over + 1.0))


def _by_angle(n: Real, x: Real, inner: Two, outer: Two, low: Real) -> Real:
    """A polynomial of any order within [-1, 1], and beyond; of orders that are not whole ``low`` below."""
    n, x, low = broadcast(n, x, low)
    far = abs(x) > 1.0
    beyond = outer(n, _beyond(where(far, abs(x), 2.0)))
    beyond = where(x < 0.0, beyond * cos_pi(n), beyond)
    found = where(far, beyond, inner(n, where(far, 0.0, x)))
    return choose(found, (isnan(x), x), ((x <= -1.0) & (floor(n) != n), low))


@formula("eval_chebyt", looks=True)
def eval_chebyt(n: Real, x: Real) -> Real:
    if _few(n):
        return _by_recurrence(n, x, x, _chebyshev)
    low = where(x < -1.0, np.inf, cos_pi(n))
    return _by_angle(n, x, lambda k, y: _waves(k, y)[0], lambda k, over: cosh(k * over), low)


@formula("eval_chebyu", looks=True)
def eval_chebyu(n: Real, x: Real) -> Real:
    if _few(n):
        return _by_recurrence(n, x, x * 2.0, _chebyshev)

    def inner(k: Real, y: Real) -> Real:
        root = sqrt((1.0 - y) * (1.0 + y))
        end = root == 0.0
        up = k + 1.0
        return where(end, where(y < 0.0, up * cos_pi(k), up), _waves(up, y)[1] / where(end, 1.0, root))

    def outer(k: Real, over: Real) -> Real:
        half = (k + 1.0) * over * 0.5  # the sine of the whole may be infinite, and the quotient not
        found = sinh(half) / sinh(over) * cosh(half) * 2.0
        at_infinity = choose(
            constant(k, 0.0), (k > 0.0, np.inf), (k == 0.0, 1.0), (k < -2.0, -np.inf), (k == -2.0, -1.0)
        )
        return where(over == np.inf, at_infinity, found)

    return _by_angle(n, x, inner, outer, (n + 1.0) * np.inf)


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
