"""Sparse matrices of TensorFlow: ``tf.sparse.SparseTensor``. See :attr:`arraydispatch.backends.base.Backend.sparse`."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from ..base import Unsupported

Tensor = Any

TRACES = False

_COMPUTED = (tf.float32, tf.float64, tf.complex64, tf.complex128)


def native(places: Any, index: Any, values: Tensor) -> Any:
    if places.format != "coo":
        raise Unsupported(f"TensorFlow has no sparse type in the format {places.format!r}; tocoo() has one")
    indices = tf.stack([index("row"), index("col")], 1)
    batch = tuple(values.shape[:-1])
    if batch:
        count = int(np.prod(batch))
        lead = np.stack(np.unravel_index(np.repeat(np.arange(count), places.nnz), batch), 1)
        indices = tf.concat([tf.constant(lead, tf.int64), tf.tile(indices, [count, 1])], 1)
        values = tf.reshape(values, [-1])
    return tf.sparse.SparseTensor(indices, values, (*batch, *places.shape))


def parts(matrix: Any) -> Any:
    """Return format, shape, rows, columns and values of a ``SparseTensor``; None for other objects. Raise ValueError unless the tensor has
    two dimensions.
    """
    if not isinstance(matrix, tf.sparse.SparseTensor):
        return None
    shape = tuple(int(n) for n in matrix.shape)
    if len(shape) != 2:
        raise ValueError(f"a SparseTensor of shape {shape} is not a sparse matrix.")
    row, col = matrix.indices.numpy().T
    return "coo", shape, row, col, matrix.values


def matmul(places: Any, index: Any, values: Tensor, dense: Tensor) -> Tensor:
    if values.dtype not in _COMPUTED:
        raise Unsupported(f"TensorFlow cannot multiply sparse matrices of {values.dtype.name}")
    flat = dense[:, None] if dense.ndim == 1 else dense
    matrix = tf.sparse.SparseTensor(tf.stack([index("row"), index("col")], 1), values, places.shape)
    made = tf.sparse.sparse_dense_matmul(matrix, flat)
    return made[:, 0] if dense.ndim == 1 else made
