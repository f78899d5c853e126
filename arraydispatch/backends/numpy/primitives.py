"""The primitives of `arraydispatch.backends.base.PRIMITIVES` in NumPy: each returns an ndarray, never a scalar."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...common.signal_safety import imported

Array = Any  # an ndarray
DType = np.dtype[Any]

_SCATTER: dict[str, np.ufunc] = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}
_COMPLEX: dict[DType, DType] = {
    np.dtype(np.float32): np.dtype(np.complex64),
    np.dtype(np.float64): np.dtype(np.complex128),
    np.dtype(np.longdouble): np.dtype(np.clongdouble),
    np.dtype(np.complex64): np.dtype(np.complex64),
    np.dtype(np.complex128): np.dtype(np.complex128),
    np.dtype(np.clongdouble): np.dtype(np.clongdouble),
}

# -- creation and conversion ------------------------------------------------------------------------------------------


def full(shape: tuple[int, ...], value: Any, dtype: DType, device: Any) -> Array:
    return np.full(shape, value, dtype)


def iota(n: int, dtype: DType, device: Any) -> Array:
    return np.arange(n, dtype=dtype)


def astype(a: Array, dtype: DType) -> Array:
    if a.dtype.kind == "c" and dtype.kind in "fiu":
        # NumPy's warning is issued where a user casts: see arraydispatch.common.user_warnings.
        return a.real.astype(dtype)
    return a.astype(dtype, copy=False)


def copy(a: Array) -> Array:
    return a.copy()


def view_dtype(a: Array, dtype: DType) -> Array:
    return a.view(dtype)


# -- shape -----------------------------------------------------------------------------------------------------------


def reshape(a: Array, shape: tuple[int, ...]) -> Array:
    return a.reshape(shape)


def transpose(a: Array, perm: tuple[int, ...]) -> Array:
    return a.transpose(perm)


def broadcast_to(a: Array, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(a, shape)


def flip(a: Array, axes: tuple[int, ...]) -> Array:
    reverse = builtins.slice(None, None, -1)
    whole = builtins.slice(None)
    # The ellipsis keeps a 0-d array an array.
    key = tuple(reverse if axis in axes else whole for axis in range(a.ndim))
    return a[(*key, ...)]


def concatenate(arrays: Sequence[Array], axis: int) -> Array:
    return np.concatenate(arrays, axis)


def pad(a: Array, widths: Sequence[tuple[int, int]], value: Any) -> Array:
    out = np.full([before + n + after for n, (before, after) in zip(a.shape, widths)], value, a.dtype)
    key: list[Any] = [builtins.slice(before, before + n) for n, (before, _) in zip(a.shape, widths)]
    out[(*key, ...)] = a
    return out


# -- elements --------------------------------------------------------------------------------------------------------


def slice(a: Array, key: tuple[builtins.slice, ...]) -> Array:
    return a[key] if key else a


def slice_update(a: Array, key: tuple[builtins.slice, ...], value: Array) -> Array:
    a[key] = value
    return a


def gather(a: Array, indices: Sequence[Array]) -> Array:
    out = a[(*indices, ...)]
    # 0-d index arrays count as integers in NumPy, and those give a view.
    return out if indices[0].ndim else out.copy()


def scatter(a: Array, indices: Sequence[Array], value: Array, how: str) -> Array:
    if how == "set":
        a[tuple(indices)] = value
    else:
        _SCATTER[how].at(a, tuple(indices), value)
    return a


def take(a: Array, indices: Array, axis: int) -> Array:
    return np.asarray(a.take(indices, axis))


def take_along_axis(a: Array, indices: Array, axis: int) -> Array:
    return np.take_along_axis(a, indices, axis)


def nonzero(a: Array) -> tuple[Array, ...]:
    return np.nonzero(a)


def mask(a: Array, mask: Array) -> Array:
    return a[mask]


def where(condition: Array, x: Array, y: Array) -> Array:
    return np.where(condition, x, y)


# -- order -----------------------------------------------------------------------------------------------------------


def sort(a: Array, axis: int) -> Array:
    return np.sort(a, axis)  # the order of equal values is not visible, and NumPy's default is 15 times faster


def argsort(a: Array, axis: int, stable: bool = True) -> Array:
    return a.argsort(axis, kind="stable" if stable else None)


def argmax(a: Array, axis: int) -> Array:
    return np.asarray(a.argmax(axis))


def argmin(a: Array, axis: int) -> Array:
    return np.asarray(a.argmin(axis))


def searchsorted(a: Array, values: Array, side: str) -> Array:
    return np.asarray(a.searchsorted(values, side))


def bincount(x: Array, weights: Array | None, length: int) -> Array:
    counts = np.bincount(x, weights, length)
    # For empty input NumPy counts in int64, with or without weights.
    return counts if weights is None else counts.astype(np.float64, copy=False)


# -- complex ---------------------------------------------------------------------------------------------------------


def real(a: Array) -> Array:
    return a.real.copy()


def imag(a: Array) -> Array:
    return a.imag.copy()


def complex(re: Array, im: Array) -> Array:
    out = np.empty(np.broadcast(re, im).shape, _COMPLEX[re.dtype])
    out.real = re
    out.imag = im
    return out


# -- linear algebra --------------------------------------------------------------------------------------------------


def matmul(a: Array, b: Array) -> Array:
    return np.asarray(np.matmul(a, b))


def cholesky(a: Array) -> Array:
    return np.linalg.cholesky(a)


def qr(a: Array, complete: bool) -> tuple[Array, Array]:
    q, r = np.linalg.qr(a, "complete" if complete else "reduced")
    return q, r


def svd(a: Array, full_matrices: bool) -> tuple[Array, Array, Array]:
    u, s, vh = np.linalg.svd(a, full_matrices)
    return u, s, vh


def svdvals(a: Array) -> Array:
    return np.linalg.svd(a, compute_uv=False)


def eigh(a: Array, lower: bool) -> tuple[Array, Array]:
    w, v = np.linalg.eigh(a, "L" if lower else "U")
    return w, v


def eigvalsh(a: Array, lower: bool) -> Array:
    return np.linalg.eigvalsh(a, "L" if lower else "U")


def eig(a: Array) -> tuple[Array, Array]:
    # NumPy returns real arrays if every imaginary part is zero; the contract does not depend on values.
    w, v = np.linalg.eig(a)
    dtype = _COMPLEX[a.dtype]
    return w.astype(dtype, copy=False), v.astype(dtype, copy=False)


def eigvals(a: Array) -> Array:
    return np.linalg.eigvals(a).astype(_COMPLEX[a.dtype], copy=False)


def solve(a: Array, b: Array) -> Array:
    return np.linalg.solve(a, b)


def solve_triangular(a: Array, b: Array, lower: bool) -> Array:
    return np.linalg.solve(np.tril(a) if lower else np.triu(a), b)


def lu(a: Array) -> tuple[Array, Array]:
    imported("scipy.linalg")
    from scipy import linalg

    places, lower, upper = linalg.lu(a, p_indices=True, check_finite=False)
    return np.tril(lower, -1) + upper, np.argsort(places, -1)


def inv(a: Array) -> Array:
    return np.linalg.inv(a)


def slogdet(a: Array) -> tuple[Array, Array]:
    sign, logabsdet = np.linalg.slogdet(a)
    return np.asarray(sign), np.asarray(logabsdet)


def det(a: Array) -> Array:
    return np.asarray(np.linalg.det(a))


# -- FFT -------------------------------------------------------------------------------------------------------------


def fftn(a: Array, axes: tuple[int, ...]) -> Array:
    return np.fft.fftn(a, axes=axes)


def ifftn(a: Array, axes: tuple[int, ...]) -> Array:
    return np.fft.ifftn(a, axes=axes)


def rfft(a: Array, axis: int) -> Array:
    return np.fft.rfft(a, axis=axis)


def irfft(a: Array, n: int, axis: int) -> Array:
    return np.fft.irfft(a, n, axis)
