"""JAX's sparse matrices: BCOO, BCSR and CSC. See :attr:`arraydispatch.backends.base.Backend.sparse`."""

from __future__ import annotations

import sys
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...common.signal_safety import imported
from ..base import Unsupported

Array = Any

TRACES = True


def native(places: Any, index: Any, values: Array) -> Any:
    imported("jax.experimental.sparse")
    from jax.experimental.sparse import BCOO, BCSR, CSC

    batch = values.shape[:-1]
    if places.format == "coo":
        indices = jnp.broadcast_to(jnp.stack([index("row"), index("col")], 1), (*batch, places.nnz, 2))
        return BCOO((values, indices), shape=(*batch, *places.shape), indices_sorted=True, unique_indices=True)
    if places.format == "csr":
        indices = jnp.broadcast_to(index("indices"), values.shape)
        starts = jnp.broadcast_to(index("indptr"), (*batch, places.shape[0] + 1))
        return BCSR((values, indices, starts), shape=(*batch, *places.shape), indices_sorted=True, unique_indices=True)
    if batch:
        raise Unsupported("JAX's CSC type has no batches; tocsr() and tocoo() have")
    return CSC((values, index("indices"), index("indptr")), shape=places.shape)


def parts(matrix: Any) -> Any:
    """Return format, shape, rows, columns and values of a JAX sparse matrix; None for other objects. Raise ValueError unless the matrix
    has two dimensions.
    """
    module = sys.modules.get("jax.experimental.sparse")
    if module is None or not isinstance(matrix, module.JAXSparse):
        return None
    format = {module.BCOO: "coo", module.COO: "coo", module.BCSR: "csr", module.CSR: "csr", module.CSC: "csc"}[
        type(matrix)
    ]
    if len(matrix.shape) != 2:
        raise ValueError(f"a JAX sparse array of shape {matrix.shape} is not a matrix; pass its batches one by one.")
    if isinstance(matrix, module.BCSR | module.CSR | module.CSC):
        starts, indices = np.asarray(matrix.indptr), np.asarray(matrix.indices)
        along = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        row, col = (indices, along) if format == "csc" else (along, indices)
        return format, matrix.shape, row, col, matrix.data
    if isinstance(matrix, module.BCOO):
        places = np.asarray(matrix.indices)
        inside = (places < np.asarray(matrix.shape)).all(axis=1)  # positions outside are padding
        if not inside.all():
            return format, matrix.shape, *places[inside].T, matrix.data[np.flatnonzero(inside)]
        return format, matrix.shape, *places.T, matrix.data
    return format, matrix.shape, np.asarray(matrix.row), np.asarray(matrix.col), matrix.data


def matmul(places: Any, index: Any, values: Array, dense: Array) -> Array:
    imported("jax.experimental.sparse")
    from jax.experimental.sparse import BCOO

    indices = jnp.stack([index("row"), index("col")], 1)
    matrix = BCOO((values, indices), shape=places.shape, indices_sorted=places.format != "csc", unique_indices=True)
    return matrix @ dense
