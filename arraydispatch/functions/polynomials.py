"""Polynomials as arrays of coefficients, highest power first: ``np.polyfit`` and similar functions.

A ``np.poly1d`` is an object on the host. NumPy runs these functions if an argument is a ``poly1d``, because the result is one too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backends.base import Unsupported
from ..common.user_warnings import warn
from ..runtime import dtypes
from . import layouts
from .operands import along, arrays, filled, is_concrete, is_recorded, itself, to_host
from .registry import XP, implements

Native = Any


def _coefficients(xp: XP, *xs: Any) -> list[Native]:
    """Convert operands to native arrays; raise :class:`Unsupported`, so that NumPy runs the call, if one is a ``np.poly1d``."""
    if any(isinstance(x, np.poly1d) for x in xs):
        raise Unsupported("a np.poly1d is an object on the host")
    return arrays(xp, *xs)


def _lines(xp: XP, *xs: Any) -> list[Native]:
    return [xp.atleast_1d(x) for x in _coefficients(xp, *xs)]


def _with_zeros(xp: XP, a: Native, n: int) -> Native:
    """Prepend ``n`` zeros along the first axis."""
    return xp.prim.pad(a, [(n, 0)] + [(0, 0)] * (xp.ndim_of(a) - 1), 0) if n > 0 else a


def _sum(xp: XP, ufunc: np.ufunc, a1: Any, a2: Any) -> Native:
    a1, a2 = _lines(xp, a1, a2)
    longer = xp.shape_of(a2)[0] - xp.shape_of(a1)[0]
    if longer and (xp.ndim_of(a1) > 1 or xp.ndim_of(a2) > 1):
        raise ValueError(
            "all the input array dimensions except for the concatenation axis must match exactly: "
            "polynomials of unequal length are one-dimensional"
        )
    return xp.call(ufunc, _with_zeros(xp, a1, longer), _with_zeros(xp, a2, -longer))


@implements(np.polyadd)
def polyadd(xp: XP, a1: Any, a2: Any) -> Native:
    return _sum(xp, np.add, a1, a2)


@implements(np.polysub)
def polysub(xp: XP, a1: Any, a2: Any) -> Native:
    return _sum(xp, np.subtract, a1, a2)


def _trimmed(xp: XP, a: Native) -> Native:
    """Remove leading zeros, as ``np.poly1d`` does; the shape of the result depends on values."""
    a = xp.atleast_1d(a)
    if xp.ndim_of(a) > 1:
        raise ValueError("Polynomial must be 1d only.")
    a = xp.trim_zeros(a, "f")
    return a if xp.shape_of(a)[0] else filled(xp, (1,), 0, xp.dtype_of(a), a)


@implements(np.polymul, pure=False)
def polymul(xp: XP, a1: Any, a2: Any) -> Native:
    a1, a2 = _coefficients(xp, a1, a2)
    return xp.convolve(_trimmed(xp, a1), _trimmed(xp, a2))


@implements(np.polydiv, pure=False)
def polydiv(xp: XP, u: Any, v: Any) -> tuple[Native, Native]:
    u, v = (xp.add(x, 0.0) for x in _lines(xp, u, v))
    m, n = xp.shape_of(u)[0] - 1, xp.shape_of(v)[0] - 1
    if m < 0 or n < 0:
        raise IndexError("index 0 is out of bounds for axis 0 with size 0")
    u = xp.prim.astype(u, np.result_type(xp.dtype_of(u), xp.dtype_of(v)))
    scale = xp.true_divide(1.0, along(xp, v, 0, 0, 1))
    quotient = []
    for k in range(m - n + 1):
        quotient.append(xp.multiply(scale, along(xp, u, 0, k, k + 1)))
        # The leading coefficient of this difference is zero up to rounding; like NumPy, keep it.
        part = xp.subtract(along(xp, u, 0, k, k + n + 1), xp.multiply(quotient[-1], v))
        u = xp.prim.concatenate([along(xp, u, 0, 0, k), part, along(xp, u, 0, k + n + 1, m + 1)], 0)
    whole = xp.prim.concatenate(quotient, 0) if quotient else filled(xp, (1,), 0, xp.dtype_of(u), u)
    if not is_concrete(xp, u):
        raise Unsupported("the length of the remainder depends on values")
    while xp.shape_of(u)[0] > 1 and xp.allclose(along(xp, u, 0, 0, 1), 0, rtol=1e-14):
        u = along(xp, u, 0, 1, xp.shape_of(u)[0])
    return whole, u


@implements(np.polyder, keeps=lambda made, p, m=1, *_, **__: itself(int(m) == 0, made, p))
def polyder(xp: XP, p: Any, m: Any = 1) -> Native:
    m = int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    (p,) = _coefficients(xp, p)
    for _ in range(m):
        n = _length(xp, p) - 1
        p = xp.multiply(along(xp, p, 0, 0, max(n, 0)), np.arange(n, 0, -1))
    _length(xp, p)
    return p


def _length(xp: XP, p: Native) -> int:
    if not xp.ndim_of(p):
        raise TypeError("len() of unsized object")
    return xp.shape_of(p)[0]


@implements(np.polyint, keeps=lambda made, p, m=1, *_, **__: itself(int(m) == 0, made, p))
def polyint(xp: XP, p: Any, m: Any = 1, k: Any = None) -> Native:
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    p, *given = _coefficients(xp, p, *(() if k is None else (k,)))
    constants = xp.atleast_1d(given[0]) if given else filled(xp, (m,), 0, dtypes.FLOAT64, p)
    if xp.shape_of(constants)[0] == 1 and m > 1:
        constants = xp.multiply(along(xp, constants, 0, 0, 1), np.ones(m))
    if xp.shape_of(constants)[0] < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for i in range(m):
        p = xp.true_divide(p, np.arange(_length(xp, p), 0, -1))
        p = xp.concatenate((p, along(xp, constants, 0, i, i + 1)))
    return p


@implements(np.polyval, layout=layouts.second, returns="scalar")
def polyval(xp: XP, p: Any, x: Any) -> Native:
    if isinstance(x, np.poly1d):
        raise Unsupported("a np.poly1d is an object on the host")
    p, x = arrays(xp, p, x)
    shape = xp.shape_of(p)
    if not shape:
        raise TypeError("iteration over a 0-d array")
    y = xp.zeros_like(x)
    for i in range(shape[0]):
        y = xp.add(xp.multiply(y, x), xp.prim.reshape(along(xp, p, 0, i, i + 1), shape[1:]))
    return y


@implements(np.poly, pure=False, min_bits=32, of_elements=True)
def poly(xp: XP, seq_of_zeros: Any) -> Any:
    (zeros,) = _lines(xp, seq_of_zeros)
    shape = xp.shape_of(zeros)
    if len(shape) == 2 and shape[0] == shape[1] and shape[0]:
        zeros = xp.linalg.eigvals(zeros)
    elif len(shape) == 1:
        zeros = xp.prim.astype(zeros, np.dtype(np.mintypecode(xp.dtype_of(zeros).char)))
    else:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    n = xp.shape_of(zeros)[0]
    if not n:
        return 1.0
    dtype = xp.dtype_of(zeros)
    one = filled(xp, (1,), 1, dtype, zeros)
    a = one
    for i in range(n):
        a = xp.convolve(a, xp.prim.concatenate([one, xp.negative(along(xp, zeros, 0, i, i + 1))], 0))
    if dtype.kind == "c":
        if not is_concrete(xp, zeros):
            raise Unsupported("whether the coefficients are real depends on values")
        host = to_host(xp, zeros)
        if np.all(np.sort(host) == np.sort(host.conjugate())):  # complex roots in conjugate pairs
            a = xp.prim.real(a)
    return a


@implements(np.roots, pure=False, min_bits=32, of_elements=True, defined="roots")
def roots(xp: XP, p: Any) -> Native:
    p = xp.atleast_1d(xp.asarray(p))
    if xp.ndim_of(p) != 1:
        raise ValueError("Input must be a rank-1 array.")
    if not is_concrete(xp, p):
        raise Unsupported("how many roots there are depends on values")
    (places,) = np.nonzero(to_host(xp, p))
    if not len(places):
        return filled(xp, (0,), 0, dtypes.FLOAT64, p)
    zeros = xp.shape_of(p)[0] - int(places[-1]) - 1
    p = along(xp, p, 0, int(places[0]), int(places[-1]) + 1)
    p = xp.prim.astype(p, dtypes.inexact(xp.dtype_of(p)))
    n = xp.shape_of(p)[0]
    found = filled(xp, (0,), 0, dtypes.FLOAT64, p)
    if n > 1:
        first = xp.negative(xp.true_divide(along(xp, p, 0, 1, n), along(xp, p, 0, 0, 1)))
        below = xp.asarray(np.eye(n - 2, n - 1, dtype=xp.dtype_of(p)), like=p)
        found = xp.linalg.eigvals(xp.prim.concatenate([xp.prim.reshape(first, (1, n - 1)), below], 0))
    return xp.prim.pad(found, [(0, zeros)], 0)


# -- least squares -------------------------------------------------------------------------------------------------------


@implements(np.polyfit, pure=False, min_bits=32, defined="conditioned", layout=layouts.c, returns="scalar")
def polyfit(
    xp: XP, x: Any, y: Any, deg: Any, rcond: Any = None, full: bool = False, w: Any = None, cov: Any = False
) -> Any:
    order = int(deg) + 1
    x, y = (xp.add(v, 0.0) for v in arrays(xp, x, y))
    shape = xp.shape_of(y)
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if xp.ndim_of(x) != 1:
        raise TypeError("expected 1D vector for x")
    n = xp.shape_of(x)[0]
    if not n:
        raise TypeError("expected non-empty vector for x")
    if len(shape) not in (1, 2):
        raise TypeError("expected 1D or 2D array for y")
    if n != shape[0]:
        raise TypeError("expected x and y to have same length")
    if rcond is None:
        rcond = n * np.finfo(xp.dtype_of(x)).eps
    lhs, rhs = xp.vander(x, order), y
    if w is not None:
        w = xp.add(xp.asarray(w, like=x), 0.0)
        if xp.ndim_of(w) != 1:
            raise TypeError("expected a 1-d array for weights")
        if xp.shape_of(w)[0] != n:
            raise TypeError("expected w and y to have the same length")
        column = xp.prim.reshape(w, (n, 1))
        # NumPy multiplies in place, so the dtype stays.
        lhs = xp.prim.astype(xp.multiply(lhs, column), xp.dtype_of(lhs))
        rhs = xp.prim.astype(xp.multiply(rhs, column if len(shape) == 2 else w), xp.dtype_of(rhs))
    scale = xp.sqrt(xp.sum(xp.multiply(lhs, lhs), axis=0))
    lhs = xp.prim.astype(xp.true_divide(lhs, scale), xp.dtype_of(lhs))
    if full or cov or is_recorded(xp, lhs):
        c, residuals, rank, s = xp.linalg.lstsq(lhs, rhs, rcond)
    else:  # the rank is not known in a trace; it only decides whether to warn
        c, rank = xp.matmul(xp.linalg.pinv(lhs, rcond), rhs), order
    c = xp.transpose(xp.true_divide(xp.transpose(c), scale))
    if rank != order and not full:
        warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning)
    if full:
        return c, residuals, rank, s, rcond
    if not cov:
        return c
    base = xp.linalg.inv(xp.dot(xp.transpose(lhs), lhs))
    base = xp.true_divide(base, xp.outer(scale, scale))
    factor: Any = 1
    if cov != "unscaled":
        if n <= order:
            raise ValueError("the number of data points must exceed order to scale the covariance matrix")
        factor = xp.true_divide(residuals, n - order)
    if len(shape) == 2:
        base = xp.prim.reshape(base, (*xp.shape_of(base), 1))
    return c, xp.multiply(base, factor)
