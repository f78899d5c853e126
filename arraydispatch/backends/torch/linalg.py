"""Products, factorizations and Fourier transforms of torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...common import tracing
from . import host_kernels
from .dtype_tables import AS_IT_IS, UNSIGNED, WIDER, concrete, derived, out_of_transforms


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """Multiply by ``torch.matmul``, through another type for types that it lacks: booleans, unsigned integers, integers on a GPU.

    In host memory NumPy multiplies large matrices by vectors and by thin matrices.
    """
    dtype = a.dtype
    if dtype.is_floating_point or dtype.is_complex:
        made = host_kernels.product(a, b)
        if made is None and a.ndim + b.ndim == 3:
            made = _in_threads(a, b)
        return torch.matmul(a, b) if made is None else made
    if dtype is torch.bool:
        # counts up to 2**24 are exact in float32
        exact = torch.float32 if a.shape[-1] < 2**24 else torch.float64
        return torch.matmul(a.to(exact), b.to(exact)) != 0
    if a.device.type != "cpu":
        return _integer_product(a, b)
    if dtype in UNSIGNED:
        wide = WIDER.get(dtype)
        if wide is None:
            return torch.matmul(a.view(torch.int64), b.view(torch.int64)).view(dtype)
        return torch.matmul(a.to(wide), b.to(wide)).to(dtype)
    return torch.matmul(a, b)


_FOR_THREADS = 1 << 22
"""Bytes of a matrix from which its product with a vector is shared among torch's threads."""


def _in_threads(a: Tensor, b: Tensor) -> Tensor | None:
    """Multiply a large matrix by a vector as a batch of parts of its rows, one for each thread: ``torch.mv`` uses one thread on a CPU.

    Return None if torch must do it. Two threads take 0.6 of the time (PyTorch 2.13.0).
    """
    if not (a.is_cpu and b.is_cpu and concrete(a) and concrete(b)) or a.is_sparse or b.is_sparse:
        return None
    matrix, vector = (a, b) if b.ndim == 1 else (b, a)
    parts = torch.get_num_threads()
    if parts < 2 or matrix.nbytes < _FOR_THREADS or matrix.dtype not in host_kernels.REAL or a.dtype is not b.dtype:
        return None
    if derived(a, b) or out_of_transforms() is not AS_IT_IS:
        return None
    over_rows = matrix is b  # u @ matrix adds the rows
    if matrix.stride(1) != 1:
        matrix, over_rows = matrix.T, not over_rows
    rows, columns = matrix.shape
    each = rows // parts
    if (
        matrix.stride(1) != 1
        or matrix.stride(0) < columns
        or each < 2
        or vector.shape[0] != (rows if over_rows else columns)
    ):
        return None
    first, last = matrix[: parts * each].view(parts, each, columns), matrix[parts * each :]
    if over_rows:
        made = torch.bmm(vector[: parts * each].view(parts, 1, each), first).sum(0).view(columns)
        return made + torch.mv(last.T, vector[parts * each :]) if len(last) else made
    made = torch.bmm(vector.view(1, 1, columns).expand(parts, 1, columns), first.transpose(1, 2)).view(parts * each)
    return torch.cat((made, torch.mv(last, vector))) if len(last) else made


def _integer_product(a: Tensor, b: Tensor) -> Tensor:
    """Multiply modulo 2**64 by broadcasting: torch has no integer GEMM on a GPU.

    https://github.com/pytorch/pytorch/issues/44428
    """
    dtype = a.dtype
    a, b = (x.view(torch.int64) if dtype is torch.uint64 else x.to(torch.int64) for x in (a, b))
    left = a.unsqueeze(-2) if a.ndim == 1 else a
    right = b.unsqueeze(-1) if b.ndim == 1 else b
    out = torch.sum(left.unsqueeze(-2) * right.transpose(-1, -2).unsqueeze(-3), -1)
    if b.ndim == 1:
        out = out.squeeze(-1)
    if a.ndim == 1:
        out = out.squeeze(-1 if b.ndim == 1 else -2)
    return out.view(dtype) if dtype is torch.uint64 else out.to(dtype)


_SAID = {
    "inv": "Singular matrix", "solve": "Singular matrix", "cholesky": "Matrix is not positive definite",
    "eigh": "Eigenvalues did not converge", "eigvalsh": "Eigenvalues did not converge",
    "eig": "Eigenvalues did not converge", "eigvals": "Eigenvalues did not converge", "svd": "SVD did not converge",
    "svdvals": "SVD did not converge",
}  # fmt: skip
"""NumPy's own error messages, which programs print."""


def _numpy_errors(func: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function to raise NumPy's LinAlgError, with NumPy's message, in place of torch's."""

    @wraps(func)
    def wrapped(*args: Any) -> Any:
        if not concrete(args[0]):
            tracing.looked()
        try:
            return func(*args)
        except torch.linalg.LinAlgError as error:
            said = _SAID.get(func.__name__, str(error))
        raise np.linalg.LinAlgError(said)  # outside `except`, so that NumPy's error has no context of ours

    return wrapped


@_numpy_errors
def cholesky(a: Tensor) -> Tensor:
    return torch.linalg.cholesky(a)


@_numpy_errors
def qr(a: Tensor, complete: bool) -> tuple[Tensor, Tensor]:
    """Return q and r. On a CPU a complex64 matrix is converted to complex128: MKL's ``cgeqrf`` gives NaN for matrices of low rank, such
    as 8 x 8 ones.
    """
    wide = a.to(torch.complex128) if a.dtype is torch.complex64 and a.device.type == "cpu" else a
    q, r = torch.linalg.qr(wide, "complete" if complete else "reduced")
    return q.to(a.dtype), r.to(a.dtype)


@_numpy_errors
def svd(a: Tensor, full_matrices: bool) -> tuple[Tensor, Tensor, Tensor]:
    u, s, vh = torch.linalg.svd(a, full_matrices)
    return u, s, vh


@_numpy_errors
def svdvals(a: Tensor) -> Tensor:
    return torch.linalg.svdvals(a)


@_numpy_errors
def eigh(a: Tensor, lower: bool) -> tuple[Tensor, Tensor]:
    w, v = torch.linalg.eigh(a, "L" if lower else "U")
    return w, v


@_numpy_errors
def eigvalsh(a: Tensor, lower: bool) -> Tensor:
    return torch.linalg.eigvalsh(a, "L" if lower else "U")


def _check_finite(a: Tensor) -> None:
    """Raise LinAlgError for known infinities and NaN, for which torch's ``eig`` raises a bare RuntimeError and ``eigvals`` returns
    numbers.
    """
    if not concrete(a):
        return
    with out_of_transforms():
        finite = bool(torch.isfinite(a).all())
    if not finite:
        raise np.linalg.LinAlgError("Array must not contain infs or NaNs")


@_numpy_errors
def eig(a: Tensor) -> tuple[Tensor, Tensor]:
    _check_finite(a)
    w, v = torch.linalg.eig(a)
    return w, v


@_numpy_errors
def eigvals(a: Tensor) -> Tensor:
    _check_finite(a)
    return torch.linalg.eigvals(a)


@_numpy_errors
def solve(a: Tensor, b: Tensor) -> Tensor:
    return torch.linalg.solve(a, b)


def solve_triangular(a: Tensor, b: Tensor, lower: bool) -> Tensor:
    return torch.linalg.solve_triangular(a, b, upper=not lower)


def lu(a: Tensor) -> tuple[Tensor, Tensor]:
    factors, pivots, _ = torch.linalg.lu_factor_ex(a)
    order, _, _ = torch.lu_unpack(factors, pivots, unpack_data=False)
    rows = torch.arange(a.shape[-1], dtype=torch.float64, device=a.device)
    return factors, (order.real.to(rows.dtype).mT @ rows).to(torch.int64)


@_numpy_errors
def inv(a: Tensor) -> Tensor:
    return torch.linalg.inv(a)


def slogdet(a: Tensor) -> tuple[Tensor, Tensor]:
    sign, logabsdet = torch.linalg.slogdet(a)
    return sign, logabsdet


def det(a: Tensor) -> Tensor:
    return torch.linalg.det(a)


def fftn(a: Tensor, axes: Sequence[int]) -> Tensor:
    return torch.fft.fftn(a, dim=tuple(axes))


def ifftn(a: Tensor, axes: Sequence[int]) -> Tensor:
    return torch.fft.ifftn(a, dim=tuple(axes))


def rfft(a: Tensor, axis: int) -> Tensor:
    return torch.fft.rfft(a, dim=axis)


def irfft(a: Tensor, n: int, axis: int) -> Tensor:
    return torch.fft.irfft(a, n, dim=axis)
