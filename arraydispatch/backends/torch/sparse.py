"""Sparse tensors of torch. See :attr:`arraydispatch.backends.base.Backend.sparse`."""

from __future__ import annotations

import warnings
from typing import Any

import torch

from ..base import Unsupported

Tensor = Any

TRACES = False
"""Whether :func:`matmul` works in programs and in ``vmap``."""

_COMPUTED = (torch.float32, torch.float64, torch.complex64, torch.complex128)


def native(places: Any, index: Any, values: Tensor) -> Tensor:
    batch = tuple(values.shape[:-1])
    shape = (*batch, *places.shape)
    with warnings.catch_warnings():
        # torch warns once per process that sparse tensors are in beta state.
        warnings.filterwarnings("ignore", "Sparse C")
        if places.format == "coo":
            indices = torch.stack([index("row"), index("col")])
            if batch:
                return _batched(values, indices, shape)
            return torch.sparse_coo_tensor(indices, values, shape, is_coalesced=True, check_invariants=False)
        make = torch.sparse_csr_tensor if places.format == "csr" else torch.sparse_csc_tensor
        starts, indices = index("indptr"), index("indices")
        starts, indices = (x.expand(*batch, *x.shape).contiguous() for x in (starts, indices))
        return make(starts, indices, values, shape, check_invariants=False)


def _batched(values: Tensor, indices: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Return a COO tensor with the batch's axes among its sparse ones."""
    batch, nnz = values.shape[:-1], values.shape[-1]
    lead = torch.cartesian_prod(*(torch.arange(n, device=values.device) for n in batch)).reshape(-1, len(batch))
    count = lead.shape[0]
    every = torch.cat([lead.T.repeat_interleave(nnz, 1), indices.repeat(1, count)])
    return torch.sparse_coo_tensor(every, values.reshape(-1), shape, is_coalesced=True, check_invariants=False)


def parts(matrix: Any) -> Any:
    """Return format, shape, rows, columns and values of a sparse tensor; None for other objects.

    Raise ValueError for a layout by blocks, and unless there are two dimensions, both sparse.
    """
    if not isinstance(matrix, torch.Tensor) or matrix.layout == torch.strided:
        return None
    names = {torch.sparse_coo: "coo", torch.sparse_csr: "csr", torch.sparse_csc: "csc"}
    if matrix.layout not in names or matrix.ndim != 2 or matrix.dense_dim():
        raise ValueError(
            f"a sparse tensor of layout {matrix.layout} and shape {tuple(matrix.shape)} is not a sparse matrix."
        )
    format = names[matrix.layout]
    if format == "coo":
        matrix = matrix.coalesce()
        row, col = matrix.indices().cpu().numpy()
        return format, tuple(matrix.shape), row, col, matrix.values()
    compressed = (
        (matrix.crow_indices(), matrix.col_indices())
        if format == "csr"
        else (matrix.ccol_indices(), matrix.row_indices())
    )
    starts, indices = (x.cpu() for x in compressed)
    along = torch.repeat_interleave(torch.arange(len(starts) - 1), starts.diff())
    row, col = (indices, along) if format == "csc" else (along, indices)
    return format, tuple(matrix.shape), row.numpy(), col.numpy(), matrix.values()


def matmul(places: Any, index: Any, values: Tensor, dense: Tensor) -> Tensor:
    if values.dtype not in _COMPUTED:
        raise Unsupported(f"torch cannot multiply sparse matrices of {values.dtype}")
    return native(places, index, values.detach()) @ dense.detach()
