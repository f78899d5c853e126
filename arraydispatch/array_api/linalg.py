"""The standard's linear algebra: NumPy's, with the standard's signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.linalg._linalg import EigResult

from . import elementwise


def eig(x: Any, /) -> Any:
    """Compute eigenvalues and eigenvectors; both are complex."""
    values, vectors = np.linalg.eig(x)
    complex_ = np.result_type(values.dtype, np.complex64)
    return EigResult(np.astype(values, complex_, copy=False), np.astype(vectors, complex_, copy=False))


def eigvals(x: Any, /) -> Any:
    """Compute eigenvalues; they are complex."""
    values = np.linalg.eigvals(x)
    return np.astype(values, np.result_type(values.dtype, np.complex64), copy=False)


def matrix_rank(x: Any, /, *, rtol: Any = None) -> Any:
    """Count the singular values above ``rtol`` times the largest one; raise LinAlgError for an array of less than two dimensions."""
    if x.ndim < 2:  # NumPy also accepts vectors
        raise np.linalg.LinAlgError(f"{x.ndim}-dimensional array given. Array must be at least two-dimensional")
    return np.linalg.matrix_rank(x, rtol=rtol)


_ROWS: dict[str, Callable[..., Any]] = {
    "cholesky": lambda x, /, *, upper=False: np.linalg.cholesky(x, upper=upper),
    "det": lambda x, /: np.linalg.det(x),
    "diagonal": lambda x, /, *, offset=0: np.linalg.diagonal(x, offset=offset),
    "eigh": lambda x, /: np.linalg.eigh(x),
    "eigvalsh": lambda x, /: np.linalg.eigvalsh(x),
    "inv": lambda x, /: np.linalg.inv(x),
    "matrix_norm": lambda x, /, *, keepdims=False, ord="fro": np.linalg.matrix_norm(x, keepdims=keepdims, ord=ord),  # noqa: A006
    "matrix_power": lambda x, n, /: np.linalg.matrix_power(x, n),
    "matrix_transpose": lambda x, /: np.linalg.matrix_transpose(x),
    "pinv": lambda x, /, *, rtol=None: np.linalg.pinv(x, rtol=rtol),
    "qr": lambda x, /, *, mode="reduced": np.linalg.qr(x, mode),
    "slogdet": lambda x, /: np.linalg.slogdet(x),
    "svd": lambda x, /, *, full_matrices=True: np.linalg.svd(x, full_matrices=full_matrices),
    "svdvals": lambda x, /: np.linalg.svdvals(x),
    "trace": lambda x, /, *, offset=0, dtype=None: np.linalg.trace(x, offset=offset, dtype=dtype),
    "vector_norm": lambda x, /, *, axis=None, keepdims=False, ord=2: np.linalg.vector_norm(  # noqa: A006
        x, axis=axis, keepdims=keepdims, ord=ord
    ),
}
"""Name in the standard -> its signature, and NumPy's function."""
_OF_TWO: dict[str, Callable[..., Any]] = {
    "cross": lambda x1, x2, /, *, axis=-1: np.linalg.cross(x1, x2, axis=axis),
    "matmul": lambda x1, x2, /: np.matmul(x1, x2),
    "outer": lambda x1, x2, /: np.linalg.outer(x1, x2),
    "solve": lambda x1, x2, /: np.linalg.solve(x1, x2),
    "tensordot": lambda x1, x2, /, *, axes=2: np.tensordot(x1, x2, axes=axes),
    "vecdot": lambda x1, x2, /, *, axis=-1: np.linalg.vecdot(x1, x2, axis=axis),  # type: ignore[call-overload]
}
"""The same for functions of two arrays, which must promote by the standard's rules."""

FUNCTIONS = (
    eig, eigvals, matrix_rank,
    *[
        elementwise.named(function, name, f"As :func:`numpy.linalg.{name}`.")
        for name, function in (_ROWS | {name: elementwise.checked(f) for name, f in _OF_TWO.items()}).items()
    ],
)  # fmt: skip
MAIN = ("matmul", "matrix_transpose", "tensordot", "vecdot")
"""Functions that the standard also has in its main namespace."""
