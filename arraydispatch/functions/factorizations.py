"""``np.linalg``: dtype rules and checks, and the factorizations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from ..common.user_warnings import warn
from ..runtime import dtypes
from ..ufuncs.composed import is_followed
from . import layouts
from .contractions import conjugate
from .operands import along, filled, swapped, valued
from .registry import XP, family

# The classes of NumPy's named results have no public name.
EigResult: Any = type(np.linalg.eig(np.eye(1)))
EighResult: Any = type(np.linalg.eigh(np.eye(1)))
QRResult: Any = type(np.linalg.qr(np.eye(1)))
SVDResult: Any = type(np.linalg.svd(np.eye(1)))

Shape = tuple[int, ...]
DType = np.dtype[Any]

factorization = family(min_bits=32, layout=layouts.c)


# -- shared ------------------------------------------------------------------------------------------------------------


def result_dtype(*given: DType) -> DType:
    """Return NumPy's dtype of a linear algebra result: integers count as float64; raise TypeError for float16 and non-numbers."""
    for dtype in given:
        if dtypes.category(dtype) == "other" or dtype == dtypes.FLOAT16:
            raise TypeError(f"array type {dtype.name} is unsupported in linalg")
    return dtypes.promote(*(dtypes.inexact(dtype) for dtype in given))


def computable(xp: XP, a: Any) -> tuple[Any, DType]:
    """Return the array in the dtype of the computation, and the dtype of the result (they differ for bfloat16)."""
    given = xp.dtype_of(a)
    if given in (dtypes.FLOAT64, dtypes.FLOAT32):
        return a, given
    to = result_dtype(given)
    return xp.prim.astype(a, dtypes.widen_half(to)), to


def real_of(dtype: DType) -> DType:
    """Return the real dtype of the same precision."""
    if dtype.kind != "c":
        return dtype
    return dtypes.FLOAT32 if dtype.itemsize == 8 else dtypes.FLOAT64


def complex_of(dtype: DType) -> DType:
    """Return the complex dtype of the same precision."""
    if dtype.kind == "c":
        return dtype
    return dtypes.COMPLEX128 if dtype == dtypes.FLOAT64 else dtypes.COMPLEX64


def check_stacked(shape: Shape) -> None:
    """Raise NumPy's error unless there are at least two axes."""
    if len(shape) < 2:
        raise LinAlgError(f"{len(shape)}-dimensional array given. Array must be at least two-dimensional")


def check_square(shape: Shape) -> None:
    """Raise NumPy's error unless these are square matrices."""
    check_stacked(shape)
    if shape[-1] != shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")


def square(xp: XP, a: Any) -> tuple[Any, DType, Shape]:
    """Return square matrices in a dtype in which the library factorizes, the dtype of the result (both as of :func:`computable`), and their
    shape; raise NumPy's error for other arrays.
    """
    a = xp.asarray(a)
    shape = xp.shape_of(a)
    check_square(shape)
    return (*computable(xp, a), shape)


def check_2d(*shapes: Shape) -> None:
    """Raise NumPy's LinAlgError unless every shape has two dimensions."""
    for shape in shapes:
        if len(shape) != 2:
            raise LinAlgError(f"{len(shape)}-dimensional array given. Array must be two-dimensional")


def identity(xp: XP, shape: Shape, dtype: DType, like: Any) -> Any:
    """Return a stack of identity matrices of this shape, on the device of ``like``."""
    n = shape[-1]
    eye = xp.backend.from_numpy(np.eye(n, dtype=dtype), xp.backend.device_of(like))
    return xp.prim.broadcast_to(eye, shape) if len(shape) > 2 else eye


def adjoint(xp: XP, a: Any) -> Any:
    """Transpose and conjugate the matrices."""
    return conjugate(xp, swapped(xp, a))


def is_true(xp: XP, condition: Any) -> bool:
    """Return the value of a 0-d condition."""
    return bool(xp.backend.to_numpy(condition))


# -- factorizations ----------------------------------------------------------------------------------------------------


@factorization(np.linalg.cholesky, defined="conditioned")
def cholesky(xp: XP, a: Any, /, *, upper: bool = False) -> Any:
    """`numpy.linalg.cholesky`."""
    a, to, shape = square(xp, a)
    if 0 in shape:
        return filled(xp, shape, 0, to, a)
    # NumPy reads one triangle only: the lower factor of the adjoint is computed from the upper triangle.
    factor = xp.prim.cholesky(adjoint(xp, a) if upper else a)
    return xp.prim.astype(adjoint(xp, factor) if upper else factor, to)


@factorization(np.linalg.qr, layout=layouts.factors, defined="qr")
def qr(xp: XP, a: Any, mode: str = "reduced") -> Any:
    """`numpy.linalg.qr`."""
    if mode in ("f", "full"):
        warn(
            "The 'full' option is deprecated in favor of 'reduced'.\nFor backward compatibility let mode default.",
            DeprecationWarning,
        )
        mode = "reduced"
    elif mode in ("e", "economic"):
        warn("The 'economic' option is deprecated.", DeprecationWarning)
        mode = "economic"
    elif mode not in ("reduced", "complete", "r", "raw"):
        raise ValueError(f"Unrecognized mode '{mode}'")
    a = xp.asarray(a)
    shape = xp.shape_of(a)
    check_stacked(shape)
    a, to = computable(xp, a)
    if mode in ("raw", "economic"):
        reflectors, scales = _householder(xp, a)
        reflectors = xp.prim.astype(reflectors, to)
        return reflectors if mode == "economic" else (swapped(xp, reflectors), xp.prim.astype(scales, to))
    m, n = shape[-2:]
    k = m if mode == "complete" else min(m, n)
    if 0 in shape:
        r = filled(xp, (*shape[:-2], k, n), 0, to, a)
        return r if mode == "r" else QRResult(_identity_columns(xp, (*shape[:-1], k), to, a), r)
    q, r = (
        _complete_qr(xp, a)
        if mode == "complete" and m > n and is_followed(xp, a)
        else xp.prim.qr(a, mode == "complete")
    )
    return xp.prim.astype(r, to) if mode == "r" else QRResult(xp.prim.astype(q, to), xp.prim.astype(r, to))


def _complete_qr(xp: XP, a: Any) -> tuple[Any, Any]:
    """Compute the complete factors of a tall matrix so that they can be differentiated: libraries have no derivative for them."""
    q, r = xp.prim.qr(a, False)
    whole, zeros = xp.prim.qr(xp.backend.transforms.stop_gradient(a), True)
    return _completed(xp, q, whole), xp.prim.concatenate([r, _beyond(xp, zeros, -2, r)], xp.ndim_of(r) - 2)


def _full_svd(xp: XP, a: Any) -> tuple[Any, Any, Any]:
    """Compute the full factors of a non-square matrix so that they can be differentiated: libraries have no derivative for them."""
    u, s, vh = xp.prim.svd(a, False)
    all_u, _, all_vh = xp.prim.svd(xp.backend.transforms.stop_gradient(a), True)
    if xp.shape_of(a)[-2] > xp.shape_of(a)[-1]:
        return _completed(xp, u, all_u), s, vh
    return u, s, adjoint(xp, _completed(xp, adjoint(xp, vh), adjoint(xp, all_vh)))


def _completed(xp: XP, q: Any, whole: Any) -> Any:
    """Complete orthonormal columns ``q`` by the later columns of ``whole``; the derivatives are those of an orthonormal basis.

    The basis of the complement is arbitrary; functions that depend only on its span have unique derivatives of any order.
    """
    prim, rest = xp.prim, _beyond(xp, whole, -1, q)
    beside = xp.subtract(rest, prim.matmul(q, prim.matmul(adjoint(xp, q), rest)))
    factor = prim.cholesky(prim.matmul(adjoint(xp, beside), beside))
    made = adjoint(xp, prim.solve(factor, adjoint(xp, beside)))
    return prim.concatenate([q, valued(xp, rest, made)], xp.ndim_of(q) - 1)


def _beyond(xp: XP, whole: Any, axis: int, first: Any) -> Any:
    """Return the rows (``axis`` -2) or columns (-1) of ``whole`` after as many as ``first`` has."""
    return along(xp, whole, xp.ndim_of(whole) + axis, xp.shape_of(first)[axis], xp.shape_of(whole)[axis])


def _householder(xp: XP, a: Any) -> tuple[Any, Any]:
    """Compute LAPACK's ``geqrf``, which libraries do not offer: R with the reflectors below it, and their scales."""
    prim, kind = xp.prim, xp.dtype_of(a).kind
    *stack, m, n = xp.shape_of(a)
    rows = prim.reshape(xp.asarray(np.arange(m), like=a), (m, 1))
    last = len(stack) + 1
    columns, scales = [], []
    for k in range(n):
        column = along(xp, a, last, k, k + 1)
        if k >= min(m, n) or 0 in stack:
            columns.append(column)
            continue
        below, here = xp.greater(rows, k), xp.equal(rows, k)
        rest = prim.where(below, column, filled(xp, (), 0, xp.dtype_of(a), a))
        size = xp.sum(xp.square(xp.absolute(rest)), axis=-2, keepdims=True)
        head = along(xp, column, last - 1, k, k + 1)
        real, squares = xp.real(head), xp.square(xp.absolute(head))
        plain = xp.equal(size, 0) if kind == "f" else xp.logical_and(xp.equal(size, 0), xp.equal(xp.imag(head), 0))
        norm = xp.copysign(xp.sqrt(xp.add(squares, size)), real)
        beta = prim.where(plain, head, prim.astype(xp.negative(norm), xp.dtype_of(a)))
        safe = prim.where(plain, filled(xp, (), 1, xp.dtype_of(a), a), beta)
        tau = xp.true_divide(xp.subtract(safe, head), safe)
        tau = prim.where(plain, filled(xp, (), 0, xp.dtype_of(a), a), tau)
        pivot = prim.where(plain, filled(xp, (), 1, xp.dtype_of(a), a), xp.subtract(head, beta))
        v = xp.add(xp.true_divide(rest, pivot), prim.astype(here, xp.dtype_of(a)))
        a = xp.subtract(a, xp.multiply(xp.conjugate(tau), xp.multiply(v, prim.matmul(adjoint(xp, v), a))))
        column = prim.where(below, v, along(xp, a, last, k, k + 1))
        columns.append(prim.where(here, beta, column))
        scales.append(prim.reshape(tau, (*stack, 1)))
    empty = filled(xp, (*stack, 0 if 0 not in stack else min(m, n)), 0, xp.dtype_of(a), a)
    return (
        prim.concatenate(columns, last) if columns else a,
        prim.concatenate(scales, last - 1) if scales else empty,
    )


def _identity_columns(xp: XP, shape: Shape, dtype: DType, like: Any) -> Any:
    """Return the orthogonal factor of an empty matrix: the first columns of identity matrices, on the device of ``like``."""
    square = identity(xp, (*shape[:-1], shape[-2]), dtype, like)
    return xp.prim.slice(square, tuple(slice(0, n, 1) for n in shape))


@factorization(np.linalg.svd, layout=layouts.singular, defined="svd")
def svd(xp: XP, a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """`numpy.linalg.svd`."""
    a = xp.asarray(a)
    if hermitian:
        return _svd_hermitian(xp, a, compute_uv)
    shape = xp.shape_of(a)
    check_stacked(shape)
    a, to = computable(xp, a)
    real = real_of(to)
    m, n = shape[-2:]
    k = min(m, n)
    if 0 in shape:
        s = filled(xp, (*shape[:-2], k), 0, real, a)
        if not compute_uv:
            return s
        u = _identity_columns(xp, (*shape[:-1], m if full_matrices else k), to, a)
        vh = swapped(xp, _identity_columns(xp, (*shape[:-2], n, n if full_matrices else k), to, a))
        return SVDResult(u, s, vh)
    if not compute_uv:
        return xp.prim.astype(xp.prim.svdvals(a), real)
    u, s, vh = (
        _full_svd(xp, a) if full_matrices and m != n and is_followed(xp, a) else xp.prim.svd(a, bool(full_matrices))
    )
    return SVDResult(xp.prim.astype(u, to), xp.prim.astype(s, real), xp.prim.astype(vh, to))


def _svd_hermitian(xp: XP, a: Any, compute_uv: bool) -> Any:
    prim = xp.prim
    if not compute_uv:
        s = xp.absolute(eigvalsh(xp, a))
        last = xp.ndim_of(s) - 1
        return prim.flip(prim.sort(s, last), (last,))
    w, u = eigh(xp, a)
    last = xp.ndim_of(w) - 1
    order = prim.argsort(prim.flip(xp.absolute(w), (last,)), last)
    order = prim.flip(xp.subtract(xp.shape_of(w)[last] - 1, order), (last,)) if xp.shape_of(w)[last] else order
    w = prim.take_along_axis(w, order, last)
    n = xp.shape_of(w)[-1]
    columns = prim.broadcast_to(prim.reshape(order, (*xp.shape_of(order)[:-1], 1, n)), xp.shape_of(u))
    u = prim.take_along_axis(u, columns, last + 1)
    sign = xp.copysign(xp.prim.full((), 1.0, xp.dtype_of(w), xp.backend.device_of(w)), w)
    signed = xp.multiply(u, prim.reshape(sign, (*xp.shape_of(w)[:-1], 1, n)))
    return SVDResult(u, xp.absolute(w), adjoint(xp, signed))


@factorization(np.linalg.svdvals)
def svdvals(xp: XP, x: Any, /) -> Any:
    """`numpy.linalg.svdvals`."""
    return svd(xp, x, compute_uv=False)


def _triangle(UPLO: Any) -> bool:
    """Whether ``UPLO`` selects the lower triangle."""
    UPLO = UPLO.upper()
    if UPLO not in ("L", "U"):
        raise ValueError("UPLO argument must be 'L' or 'U'")
    return bool(UPLO == "L")


@factorization(np.linalg.eigh, defined="eigh")
def eigh(xp: XP, a: Any, UPLO: str = "L") -> Any:
    """`numpy.linalg.eigh`."""
    lower = _triangle(UPLO)
    a, to, shape = square(xp, a)
    if 0 in shape:
        return EighResult(filled(xp, shape[:-1], 0, real_of(to), a), filled(xp, shape, 0, to, a))
    w, v = xp.prim.eigh(a, lower)
    return EighResult(xp.prim.astype(w, real_of(to)), xp.prim.astype(v, to))


@factorization(np.linalg.eigvalsh, error="spread")
def eigvalsh(xp: XP, a: Any, UPLO: str = "L") -> Any:
    """`numpy.linalg.eigvalsh`."""
    lower = _triangle(UPLO)
    a, to, shape = square(xp, a)
    if 0 in shape:
        return filled(xp, shape[:-1], 0, real_of(to), a)
    return xp.prim.astype(xp.prim.eigvalsh(a, lower), real_of(to))


def _finite_square(xp: XP, a: Any) -> tuple[Any, DType]:
    a = xp.asarray(a)
    check_square(xp.shape_of(a))
    if dtypes.is_floating(xp.dtype_of(a)) and not is_true(xp, xp.logical_and.reduce(xp.isfinite(a), axis=None)):
        raise LinAlgError("Array must not contain infs or NaNs")
    return computable(xp, a)


def _all_real(xp: XP, to: DType, w: Any) -> bool:
    """Whether the eigenvalues ``w`` of a matrix of dtype ``to`` are returned as a real array: the dtype is real, and so are all of them."""
    return to.kind != "c" and not is_true(xp, xp.logical_or.reduce(xp.prim.imag(w), axis=None))


@factorization(np.linalg.eig, pure=False, defined="eig")
def eig(xp: XP, a: Any) -> Any:
    """`numpy.linalg.eig`."""
    a, to = _finite_square(xp, a)
    shape = xp.shape_of(a)
    if 0 in shape:
        return EigResult(filled(xp, shape[:-1], 0, to, a), filled(xp, shape, 0, to, a))
    w, v = xp.prim.eig(a)
    if _all_real(xp, to, w):
        w, v = xp.prim.real(w), xp.prim.real(v)
    else:
        to = complex_of(to)
    return EigResult(xp.prim.astype(w, to), xp.prim.astype(v, to))


@factorization(np.linalg.eigvals, pure=False, error="spread", defined="eigenvalues")
def eigvals(xp: XP, a: Any) -> Any:
    """`numpy.linalg.eigvals`."""
    a, to = _finite_square(xp, a)
    shape = xp.shape_of(a)
    if 0 in shape:
        return filled(xp, shape[:-1], 0, to, a)
    w = xp.prim.eigvals(a)
    if _all_real(xp, to, w):
        return xp.prim.astype(xp.prim.real(w), to)
    return xp.prim.astype(w, complex_of(to))
