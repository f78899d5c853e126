"""The standard's linear algebra: NumPy's, with the standard's signatures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg._linalg import EigResult

from . import elementwise


def cholesky(x: Any, /, *, upper: bool = False) -> Any:
    """Compute the Cholesky factor of positive definite matrices."""
    return np.linalg.cholesky(x, upper=upper)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Compute the cross product of vectors of three elements."""
    elementwise.check(x1, x2)
    return np.linalg.cross(x1, x2, axis=axis)


def det(x: Any, /) -> Any:
    """Compute the determinant."""
    return np.linalg.det(x)


def diagonal(x: Any, /, *, offset: int = 0) -> Any:
    """Return the diagonals of matrices."""
    return np.linalg.diagonal(x, offset=offset)


def eig(x: Any, /) -> Any:
    """Compute eigenvalues and eigenvectors, which are complex."""
    values, vectors = np.linalg.eig(x)
    complex_ = np.result_type(values.dtype, np.complex64)
    return EigResult(np.astype(values, complex_, copy=False), np.astype(vectors, complex_, copy=False))


def eigvals(x: Any, /) -> Any:
    """Compute eigenvalues, which are complex."""
    values = np.linalg.eigvals(x)
    return np.astype(values, np.result_type(values.dtype, np.complex64), copy=False)


def eigh(x: Any, /) -> Any:
    """Compute eigenvalues and eigenvectors of symmetric matrices."""
    return np.linalg.eigh(x)


def eigvalsh(x: Any, /) -> Any:
    """Compute eigenvalues of symmetric matrices."""
    return np.linalg.eigvalsh(x)


def inv(x: Any, /) -> Any:
    """Compute the inverse."""
    return np.linalg.inv(x)


def matmul(x1: Any, x2: Any, /) -> Any:
    """Compute the matrix product."""
    elementwise.check(x1, x2)
    return np.matmul(x1, x2)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """Compute the norm of matrices."""
    return np.linalg.matrix_norm(x, keepdims=keepdims, ord=ord)


def matrix_power(x: Any, n: int, /) -> Any:
    """Raise matrices to an integer power."""
    return np.linalg.matrix_power(x, n)


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """Count the singular values above ``rtol`` times the largest."""
    if x.ndim < 2:  # NumPy also accepts vectors
        raise np.linalg.LinAlgError(f"{x.ndim}-dimensional array given. Array must be at least two-dimensional")
    return np.linalg.matrix_rank(x, rtol=rtol)


def matrix_transpose(x: Any, /) -> Any:
    """Swap the last two axes."""
    return np.linalg.matrix_transpose(x)


def outer(x1: Any, x2: Any, /) -> Any:
    """Compute the outer product of two vectors."""
    elementwise.check(x1, x2)
    return np.linalg.outer(x1, x2)


def pinv(x: Any, /, *, rtol: Any = None) -> Any:
    """Compute the pseudo-inverse from singular values above ``rtol`` times the largest."""
    return np.linalg.pinv(x, rtol=rtol)


def qr(x: Any, /, *, mode: Any = "reduced") -> Any:
    """Compute the QR decomposition."""
    return np.linalg.qr(x, mode)


def slogdet(x: Any, /) -> Any:
    """Compute the sign and the logarithm of the determinant."""
    return np.linalg.slogdet(x)


def solve(x1: Any, x2: Any, /) -> Any:
    """Solve linear equations."""
    elementwise.check(x1, x2)
    return np.linalg.solve(x1, x2)


def svd(x: Any, /, *, full_matrices: bool = True) -> Any:
    """Compute the singular value decomposition."""
    return np.linalg.svd(x, full_matrices=full_matrices)


def svdvals(x: Any, /) -> Any:
    """Compute the singular values."""
    return np.linalg.svdvals(x)


def tensordot(x1: Any, x2: Any, /, *, axes: Any = 2) -> Any:
    """Compute the sum of products over the given axes."""
    elementwise.check(x1, x2)
    return np.tensordot(x1, x2, axes=axes)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Any:
    """Sum along the diagonals of matrices."""
    return np.linalg.trace(x, offset=offset, dtype=dtype)


def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Any:
    """Compute the dot product of vectors along an axis."""
    elementwise.check(x1, x2)
    product: Any = np.linalg.vecdot
    return product(x1, x2, axis=axis)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    """Compute the norm of vectors."""
    return np.linalg.vector_norm(x, axis=axis, keepdims=keepdims, ord=ord)


FUNCTIONS = (
    cholesky, cross, det, diagonal, eig, eigh, eigvals, eigvalsh, inv, matmul, matrix_norm, matrix_power, matrix_rank, matrix_transpose,
    outer, pinv, qr, slogdet, solve, svd, svdvals, tensordot, trace, vecdot, vector_norm,
)  # fmt: skip
MAIN = (matmul, matrix_transpose, tensordot, vecdot)
"""Functions that the standard has in its main namespace too."""
