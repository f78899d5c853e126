"""Triangular systems: SciPy's solver on the host, since no library has one on all its devices; derivatives by the
implicit rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..common.signal_safety import imported
from ..dispatch import host_results
from ..transforms.control_flow import host_call
from ..transforms.custom_derivatives import custom_gradient
from .sparse_array import SparseArray, together
from .structure import Structure

WHY = "no library solves sparse triangular systems on all its devices"


def solve_triangular(A: SparseArray, b: Any, lower: bool = True, unit_diagonal: bool = False) -> Any:
    """Solve ``A @ x = b`` for a triangular matrix.

    Parameters
    ----------
    A : SparseArray
        Square and not a batch; elements on the other side of the diagonal are ignored.
    b : array
        Of shape ``(n,)`` or ``(n, k)``.
    lower : bool
        Whether ``A`` is lower triangular, else upper.
    unit_diagonal : bool
        Whether to assume ones on the diagonal, regardless of the stored values.

    Returns
    -------
    Array
        Of the shape of ``b``, differentiable with respect to ``A.data`` and ``b``.

    Raises
    ------
    numpy.linalg.LinAlgError
        If there is a zero on the diagonal.
    ValueError
        If shapes do not fit.

    Notes
    -----
    SciPy solves on the host, subject to ``ad.fallback``.
    """
    rows, columns = A._places.shape
    if rows != columns or A.data.ndim > 1:
        raise ValueError(f"a triangular system has one square matrix, not one of shape {A.shape}.")
    if np.ndim(b) not in (1, 2) or np.shape(b)[0] != rows:
        raise ValueError(f"b of shape {np.shape(b)} does not fit a matrix of shape {A.shape}.")
    data, right = together(A.data, b)
    kind = np.result_type(data.dtype, np.float32)
    host_results.allow("ad.sparse.solve_triangular", data.backend, WHY)
    return _solve(A._places, lower, unit_diagonal)(data.astype(kind, copy=False), right.astype(kind, copy=False))


def _solve(places: Structure, lower: bool, unit: bool) -> Any:
    def on_host(data: Any, b: Any) -> Any:
        imported("scipy.sparse.linalg")
        from scipy.sparse.linalg import spsolve_triangular  # loaded with LAPACK, when first used

        matrix = places.scipy(data).tocsr()
        there = matrix.diagonal() if not unit else np.ones(1)
        if not there.all():
            raise np.linalg.LinAlgError(
                f"A is singular: there is a zero at {int(np.argmin(there != 0))} of its diagonal."
            )
        matrix = sp.csr_array(sp.tril(matrix) if lower else sp.triu(matrix))
        return spsolve_triangular(matrix, b, lower=lower, unit_diagonal=unit).astype(b.dtype, copy=False)

    def solve(data: Any, b: Any) -> Any:
        return host_call(on_host, np.empty(b.shape, b.dtype), data, b)

    turned, order, _ = Structure.sorted("csr", places.shape, places.col, places.row)
    outside = places.row < places.col if lower else places.row > places.col
    if unit:
        outside = outside | (places.row == places.col)

    def gradient(args: Any, x: Any, ct: Any) -> Any:
        values = np.conj(args[0])
        adjoint = _solve(turned, not lower, unit)(values if order is None else values[order], ct)
        terms = -adjoint[places.row] * np.conj(x)[places.col]
        by_values = terms if terms.ndim == 1 else terms.sum(axis=1)
        return by_values * ~outside, adjoint

    return custom_gradient(solve, gradient)
