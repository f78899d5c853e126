"""Products, factorizations and Fourier transforms of TensorFlow."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

import numpy as np
import tensorflow as tf

from ...common import tracing
from ..base import Unsupported
from . import host_kernels
from .core import BOOL, COMPLEX, HALVES, EagerTensor, axes_of, derived, dims, ints, raw

Tensor = Any

_cast, _bitcast, _reshape, _transpose, _broadcast_to, _matmul, _batch_matmul, _multiply, _sum = map(
    raw, "Cast Bitcast Reshape Transpose BroadcastTo MatMul BatchMatMulV2 Mul Sum".split()
)
_conj, _real, _cholesky, _qr, _svd, _eigh, _eig, _solve = map(
    raw, "Conj Real Cholesky Qr Svd SelfAdjointEigV2 Eig MatrixSolve".split()
)
_inverse, _determinant, _log_determinant = map(raw, "MatrixInverse MatrixDeterminant LogMatrixDeterminant".split())
_FFT = {1: raw("FFT"), 2: raw("FFT2D"), 3: raw("FFT3D")}
_IFFT = {1: raw("IFFT"), 2: raw("IFFT2D"), 3: raw("IFFT3D")}
_rfft, _irfft = raw("RFFT"), raw("IRFFT")

_WIDER: dict[Any, Any] = dict.fromkeys((tf.int8, tf.int16, tf.uint8, tf.uint16), tf.int32) | {tf.uint32: tf.int64}
"""Integer types without a product -> a type with one, whose low bits are those of the narrow product."""


def _product(a: Tensor, b: Tensor) -> Tensor:
    ra, rb = a.shape.rank, b.shape.rank
    if a.dtype in COMPLEX and (made := host_kernels.product(a, b)) is not None:
        return made
    if ra == 2 and rb == 2:
        return _matmul(a, b)
    if ra > 1 and rb > 1:
        return _batch_matmul(a, b)
    if ra == 1 and rb == 1:  # the matrix product adds sequentially, which also takes four times as long
        return _sum(_multiply(a, b), axes_of((0,)), False)
    sa, sb = dims(a), dims(b)
    if ra == 1:
        a = _reshape(a, ints((1, *sa)))
    if rb == 1:
        b = _reshape(b, ints((*sb, 1)))
    shape = sb[:-2] + sb[-1:] if ra == 1 else sa[:-1]
    return _reshape((_matmul if ra <= 2 and rb <= 2 else _batch_matmul)(a, b), ints(shape))


def matmul(a: Tensor, b: Tensor) -> Tensor:
    """Multiply matrices: 16-bit floats accumulate in float32, as NumPy's do; integers for which TensorFlow has no product are widened."""
    dtype = a.dtype
    if dtype in HALVES:
        return _cast(_product(_cast(a, tf.float32), _cast(b, tf.float32)), dtype)
    if dtype is BOOL:  # a sum of ones and zeros in float32 is zero only if all are
        return _cast(_product(_cast(a, tf.float32), _cast(b, tf.float32)), dtype)
    if dtype is tf.uint64:
        return _bitcast(_product(_bitcast(a, tf.int64), _bitcast(b, tf.int64)), dtype)
    wide = _WIDER.get(dtype)
    if wide is not None:
        return _cast(_product(_cast(a, wide), _cast(b, wide)), dtype)
    return _product(a, b)


# -- factorizations --------------------------------------------------------------------------------------------------


def _checked(message: str, ranks: tuple[int, ...] = (2,)) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Wrap a function to raise NumPy's LinAlgError for TensorFlow's InvalidArgumentError. For matrices with a NaN or infinity, the error
    is not raised, and their results are NaN.

    ``ranks``: number of dimensions of each result, without those of the stack.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def run(a: Tensor, *others: Any) -> Any:
            if type(a) is not EagerTensor:
                tracing.looked()
            try:
                return function(a, *others)
            except tf.errors.InvalidArgumentError:
                error = np.linalg.LinAlgError(message)
            if type(a) is not EagerTensor:
                raise error
            unknown = np.asarray(~np.isfinite(a.numpy()).all(axis=(-2, -1)))
            if not unknown.any():
                raise error
            made = None
            with suppress(tf.errors.InvalidArgumentError):
                made = function(tf.where(unknown[..., None, None], tf.eye(a.shape[-1], dtype=a.dtype), a), *others)
            if made is None:
                raise error
            results = made if isinstance(made, tuple) else (made,)
            filled = [
                tf.where(unknown.reshape(unknown.shape + (1,) * rank), tf.constant(np.nan, result.dtype), result)
                for rank, result in zip(ranks, results, strict=True)
            ]
            return tuple(filled) if isinstance(made, tuple) else filled[0]

        return run

    return decorate


def _adjoint(a: Tensor) -> Tensor:
    rank = a.shape.rank
    swapped = _transpose(a, ints((*range(rank - 2), rank - 1, rank - 2)))
    return _conj(swapped) if a.dtype in COMPLEX else swapped


def _parts(a: Tensor) -> Tensor:
    """Return the real part of a result that is real but has a complex dtype in TensorFlow."""
    if a.dtype not in COMPLEX:
        return a
    return _real(a, tf.float64 if a.dtype is tf.complex128 else tf.float32)


def _refuse(a: Tensor, message: str) -> None:
    """Raise LinAlgError for infinities and NaN, as LAPACK or NumPy does; do nothing while tracing, when values are not concrete."""
    if type(a) is not EagerTensor:
        tracing.looked()
    elif not np.isfinite(a.numpy()).all():
        raise np.linalg.LinAlgError(message)


_SVD = "SVD did not converge"
_EIG = "Array must not contain infs or NaNs"


def cholesky(a: Tensor) -> Tensor:
    """Return the lower factor; raise LinAlgError if a matrix without NaN is not positive definite. TensorFlow returns NaN for such a
    matrix, and so does this function in a graph.
    """
    if not tf.executing_eagerly():
        tracing.looked()
        return _differentiable_cholesky(a)
    out = _cholesky(a)
    if type(out) is EagerTensor:
        failed = ~(np.diagonal(out.numpy(), axis1=-2, axis2=-1).real > 0).all(axis=-1)
        if failed.any() and (failed & ~np.isnan(a.numpy()).any(axis=(-2, -1))).any():
            raise np.linalg.LinAlgError("Matrix is not positive definite")
    return out


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _differentiable_cholesky(a: Tensor) -> Any:
    """Factorize with a derivative that can itself be differentiated in graphs, unlike TensorFlow's, which takes a diagonal of unknown
    length.
    """

    def back(cotangent: Tensor) -> Tensor:
        factor, n = _differentiable_cholesky(a), dims(a)[-1]
        halved = tf.constant(np.tril(np.ones((n, n))) - np.eye(n) / 2, a.dtype)
        middle = tf.linalg.matmul(factor, cotangent, adjoint_a=True) * halved
        middle = tf.linalg.triangular_solve(factor, middle, adjoint=True)
        made = tf.linalg.triangular_solve(factor, _adjoint(middle), adjoint=True)
        return (made + _adjoint(made)) / 2

    return _cholesky(a), back


def qr(a: Tensor, complete: bool) -> tuple[Tensor, Tensor]:
    """Return q and r. The matrix is scaled first, because TensorFlow's squares overflow. TensorFlow is not called for an empty matrix,
    because it leaves the complete q unset.
    """
    shape = dims(a)
    if 0 in shape[-2:]:
        m, n = shape[-2:]
        k = m if complete else min(m, n)
        eye = tf.eye(m, k, shape[:-2], a.dtype)
        return eye, tf.zeros((*shape[:-2], k, n), a.dtype)
    if (made := host_kernels.decomposed(np.linalg.qr, a, "complete" if complete else "reduced")) is not None:
        return made[0], made[1]
    scale = _cast(_power_of_two(tf.reduce_max(tf.abs(a), (-2, -1), True)), a.dtype)
    # Otherwise complete and reduced are the same, and the reduced one has a derivative.
    q, r = _qr(a / scale, complete and shape[-2] > shape[-1])
    return q, r * scale


def _power_of_two(size: Tensor) -> Tensor:
    """Return the largest power of two up to each number, by which a division is exact; 1 for zero, subnormal and non-finite numbers."""
    integer, exponent = (tf.int64, 0x7FF << 52) if size.dtype is tf.float64 else (tf.int32, 0xFF << 23)
    power = _bitcast(tf.bitwise.bitwise_and(_bitcast(size, integer), exponent), size.dtype)
    return tf.where((power > 0) & tf.math.is_finite(power), power, tf.ones_like(power))


def svd(a: Tensor, full_matrices: bool) -> tuple[Tensor, Tensor, Tensor]:
    shape = dims(a)
    if 0 in shape[-2:]:
        m, n = shape[-2:]
        ku, kv = (m, n) if full_matrices else (0, 0)
        kind = tf.float64 if a.dtype in (tf.complex128, tf.float64) else tf.float32
        lead = shape[:-2]
        return tf.eye(m, ku, lead, a.dtype), tf.zeros((*lead, 0), kind), tf.eye(kv, n, lead, a.dtype)
    if (made := host_kernels.decomposed(np.linalg.svd, a, full_matrices)) is not None:
        return made[0], made[1], made[2]
    _refuse(a, _SVD)
    s, u, v = _svd(a, True, full_matrices)
    return u, _parts(s), _adjoint(v)


def svdvals(a: Tensor) -> Tensor:
    if (made := host_kernels.decomposed(np.linalg.svdvals, a)) is not None:
        return made[0]
    _refuse(a, _SVD)
    return _parts(_differentiable_svdvals(a) if derived() else _svd(a, False, False)[0])


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _differentiable_svdvals(a: Tensor) -> Any:
    """Return singular values with a derivative that works in vectorized graphs, where TensorFlow's own fails on empty singular vectors."""

    def back(cotangent: Tensor) -> Tensor:
        _, u, v = _svd(a, True, False)
        return tf.linalg.matmul(u * _cast(cotangent, a.dtype)[..., None, :], v, adjoint_b=True)

    return _svd(a, False, False)[0], back


def _triangle(a: Tensor, lower: bool) -> Tensor:
    """Return the matrix whose lower triangle, the one that TensorFlow reads, is the triangle asked for: ``a``, or its adjoint."""
    return a if lower else _adjoint(a)


@_checked("Eigenvalues did not converge", (1, 2))
def eigh(a: Tensor, lower: bool) -> tuple[Tensor, Tensor]:
    if (made := host_kernels.decomposed(np.linalg.eigh, a, "L" if lower else "U")) is not None:
        return made[0], made[1]
    w, v = _eigh(_triangle(a, lower), True)
    return _parts(w), v


@_checked("Eigenvalues did not converge", (1,))
def eigvalsh(a: Tensor, lower: bool) -> Tensor:
    if (made := host_kernels.decomposed(np.linalg.eigvalsh, a, "L" if lower else "U")) is not None:
        return made[0]
    a = _triangle(a, lower)
    return _parts(_differentiable_eigvalsh(a) if derived() else _eigh(a, False)[0])


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _differentiable_eigvalsh(a: Tensor) -> Any:
    """Return eigenvalues with a derivative as in :func:`_differentiable_svdvals`; only the lower triangle is read."""

    def back(cotangent: Tensor) -> Tensor:
        _, v = _eigh(a, True)
        whole = tf.linalg.matmul(v * _cast(cotangent, a.dtype)[..., None, :], v, adjoint_b=True)
        n = dims(a)[-1]
        twice = tf.constant(2 * np.tril(np.ones((n, n)), -1) + np.eye(n), a.dtype)
        return whole * twice

    return _eigh(a, False)[0], back


def _complex_of(a: Tensor) -> Any:
    return tf.complex128 if a.dtype in (tf.float64, tf.complex128) else tf.complex64


@_checked("Eigenvalues did not converge", (1, 2))
def eig(a: Tensor) -> tuple[Tensor, Tensor]:
    _refuse(a, _EIG)
    w, v = _eig(a, _complex_of(a), True)
    return w, v


@_checked("Eigenvalues did not converge", (1,))
def eigvals(a: Tensor) -> Tensor:
    _refuse(a, _EIG)
    return _eig(a, _complex_of(a), False)[0]


@_checked("Singular matrix")
def solve(a: Tensor, b: Tensor) -> Tensor:
    """Solve equations, broadcasting the stacks, which TensorFlow does not."""
    sa, sb = dims(a), dims(b)
    lead = np.broadcast_shapes(sa[:-2], sb[:-2])
    if sa[:-2] != lead:
        a = _broadcast_to(a, ints(lead + sa[-2:]))
    if sb[:-2] != lead:
        b = _broadcast_to(b, ints(lead + sb[-2:]))
    return _solve(a, b)


def solve_triangular(a: Tensor, b: Tensor, lower: bool) -> Tensor:
    return tf.linalg.triangular_solve(a, b, lower=lower)


def lu(a: Tensor) -> tuple[Tensor, Tensor]:
    """Return both factors in one matrix and the order of the rows; raise Unsupported for a singular matrix, which TensorFlow refuses."""
    try:
        return tuple(tf.linalg.lu(a, output_idx_type=tf.int64))
    except tf.errors.InvalidArgumentError:
        raise Unsupported("TensorFlow does not factorize singular matrices") from None


@_checked("Singular matrix")
def inv(a: Tensor) -> Tensor:
    return _inverse(a)


def slogdet(a: Tensor) -> tuple[Tensor, Tensor]:
    sign, logabsdet = _log_determinant(a)
    return sign, _parts(logabsdet)


def det(a: Tensor) -> Tensor:
    if a.dtype not in COMPLEX or not derived():
        return _determinant(a)
    return _differentiable_determinant(a)


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _differentiable_determinant(a: Tensor) -> Any:
    """Compute complex determinants with a correct derivative: TensorFlow's derivative omits a conjugate."""

    def back(cotangent: Tensor) -> Tensor:
        factor = cotangent * tf.math.conj(_differentiable_determinant(a))
        return factor[..., None, None] * tf.linalg.adjoint(tf.linalg.inv(a))

    return _determinant(a), back


# -- Fourier transforms ----------------------------------------------------------------------------------------------


def _transform(table: dict[int, Callable[..., Any]], a: Tensor, axes: tuple[int, ...]) -> Tensor:
    """Transform along ``axes``, up to three at a time. ``table``: number of axes -> TensorFlow's function, which transforms the last axes,
    so the axes are moved there.
    """
    if math.prod(dims(a)) == 0:
        return a
    together = 3 if len(set(axes)) == len(axes) else 1  # NumPy transforms along a repeated axis again
    while axes:
        now, axes = axes[-together:], axes[:-together]
        a = _at_end(table[len(now)], a, now)
    return a


def _at_end(function: Callable[[Tensor], Tensor], a: Tensor, axes: tuple[int, ...]) -> Tensor:
    rank = a.shape.rank
    axes = tuple([axis % rank for axis in axes])
    perm = (*(axis for axis in range(rank) if axis not in axes), *axes)
    if perm == tuple(range(rank)):
        return function(a)
    back = tuple([perm.index(axis) for axis in range(rank)])
    return _transpose(function(_transpose(a, ints(perm))), ints(back))


def fftn(a: Tensor, axes: tuple[int, ...]) -> Tensor:
    return _transform(_FFT, a, tuple(axes))


def ifftn(a: Tensor, axes: tuple[int, ...]) -> Tensor:
    return _transform(_IFFT, a, tuple(axes))


def _length(n: int) -> Tensor:
    return tf.constant((n,), tf.int32)


def rfft(a: Tensor, axis: int) -> Tensor:
    n, kind = dims(a)[axis], _complex_of(a)
    return _at_end(lambda x: _rfft(x, _length(n), kind), a, (axis,))


def irfft(a: Tensor, n: int, axis: int) -> Tensor:
    kind = tf.float64 if a.dtype is tf.complex128 else tf.float32
    return _at_end(lambda x: _irfft(x, _length(n), kind), a, (axis,))
