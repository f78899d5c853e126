"""Sparse matrices on array libraries: ``ad.sparse``.

The functions have the names of those of ``scipy.sparse``, and return :class:`SparseArray`.
"""

from . import scipy_arguments
from .construction import (
    block_diag,
    coo_array,
    csc_array,
    csr_array,
    diags_array,
    eye_array,
    from_native,
    from_scipy,
    hstack,
    stack,
    vstack,
)
from .sparse_array import SparseArray, is_sparse
from .triangular import solve_triangular

__all__ = [
    "SparseArray", "block_diag", "coo_array", "csc_array", "csr_array", "diags_array", "eye_array", "from_native",
    "from_scipy", "hstack", "is_sparse", "solve_triangular", "stack", "vstack",
]  # fmt: skip

scipy_arguments.open_all()
