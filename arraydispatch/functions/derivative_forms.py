"""Expressions for results of linear algebra that use only products: they have the same value and can always be differentiated.

The derivative of a factorization divides by differences of singular values, and that of an inverse by the singular values. So these
derivatives do not exist if two singular values are equal, as for an identity matrix, or if one is zero. The derivatives of a
determinant and of a pseudo-inverse do.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .contractions import conjugate
from .factorizations import adjoint
from .operands import upload
from .registry import XP

_SMALL = 1e-10
"""Largest tolerance (a fraction of the largest singular value) of a pseudo-inverse for which :func:`pseudo_inverse` holds."""

_LARGEST_DETERMINANT = 32
"""Largest number n of rows of a matrix for :func:`determinant`, which takes n matrix products."""


def determinant(xp: XP, a: Any) -> Any | None:
    """Compute the determinant of square matrices (Bird, Information Processing Letters 111, 2011); return None for large ones.

    The singular vectors are taken as constants. In their basis the matrix is diagonal with its singular values, whose products have
    one sign, so nothing cancels.
    """
    n = xp.shape_of(a)[-1]
    if n > _LARGEST_DETERMINANT:
        return None
    held = xp.backend.transforms.stop_gradient(a)
    finite = xp.logical_and.reduce(xp.isfinite(held), axis=(-2, -1), keepdims=True)
    eye, above = (upload(xp, x.astype(xp.dtype_of(a)), a) for x in (np.eye(n), np.triu(np.ones((n, n)), 1)))
    u, _, vh = xp.prim.svd(xp.prim.where(finite, held, eye), False)
    inner = xp.prim.matmul(xp.prim.matmul(adjoint(xp, u), a), adjoint(xp, vh))
    x = inner
    for _ in range(n - 1):
        diagonal = xp.add.reduce(xp.multiply(x, eye), axis=-1, keepdims=True)
        below = xp.multiply(eye, xp.prim.matmul(above, diagonal))
        x = xp.prim.matmul(xp.subtract(below, xp.multiply(x, above)), inner)
    total = xp.prim.reshape(xp.prim.slice(x, (*_all(xp, x), slice(0, 1, 1), slice(0, 1, 1))), xp.shape_of(x)[:-2])
    return xp.divide(total, conjugate(xp, xp.multiply(xp.prim.det(u), xp.prim.det(vh))))


def _all(xp: XP, a: Any) -> tuple[slice, ...]:
    return tuple(slice(0, n, 1) for n in xp.shape_of(a)[:-2])


def pseudo_inverse(xp: XP, a: Any, inverse: Any) -> Any:
    """Compute the pseudo-inverse of a matrix of constant rank from its pseudo-inverse ``inverse``, a constant.

    The iteration starts from a matrix with the same row and column spaces; three Newton steps make seven derivatives right.
    """
    back = adjoint(xp, inverse)
    x = xp.prim.matmul(xp.prim.matmul(back, inverse), back)
    x = xp.prim.matmul(xp.prim.matmul(adjoint(xp, a), x), adjoint(xp, a))
    for _ in range(3):
        x = xp.subtract(xp.add(x, x), xp.prim.matmul(xp.prim.matmul(x, a), x))
    return x


def leaves_nothing_out(rcond: Any) -> bool:
    """Whether a tolerance drops only singular values that are zero up to rounding."""
    return isinstance(rcond, int | float | np.floating) and 0.0 <= float(rcond) <= _SMALL


def from_triangle(xp: XP, a: Any) -> Any:
    """Return the Hermitian matrix that the lower triangle of ``a`` describes; like NumPy, read nothing above it."""
    n = xp.shape_of(a)[-1]
    kind = xp.dtype_of(a)
    low, half = (upload(xp, x.astype(kind), a) for x in (np.tril(np.ones((n, n)), -1), np.eye(n) / 2))
    lower = xp.add(xp.multiply(a, low), xp.multiply(a, half))
    return xp.add(lower, adjoint(xp, lower))
