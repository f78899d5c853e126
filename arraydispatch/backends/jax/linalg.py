"""Linear algebra and FFT primitives of the JAX backend.

If LAPACK fails, JAX returns NaN or infinity, and NumPy raises `numpy.linalg.LinAlgError`. Each kernel of this module also computes
a flag, whether LAPACK failed. The error is raised if the flag is concrete; under a trace, the result has JAX's values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...common import tracing
from ..base import Unsupported
from .jitted_kernels import highest, is_concrete, kernel

Array = Any


def _checked(message: str, static: tuple[int, ...] = ()) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that jits a function which returns (result, failed), and wraps it to return the result or raise `LinAlgError`, as
    NumPy does. If ``failed`` is not concrete, under a trace, the result is returned.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        compiled = kernel(highest(function), static)

        @wraps(function)
        def call(*args: Any) -> Any:
            result, failed = compiled(*args)
            if not is_concrete(failed):
                tracing.looked()
            elif failed:
                raise np.linalg.LinAlgError(message)
            return result

        return call

    return decorate


def _finite(a: Array) -> Array:
    return jnp.all(jnp.isfinite(a))


# -- factorizations --------------------------------------------------------------------------------------------------


@_checked("Matrix is not positive definite")
def cholesky(a: Array) -> Any:
    factor = jnp.linalg.cholesky(a, symmetrize_input=False)
    return factor, jnp.any(jnp.isnan(jnp.diagonal(factor, axis1=-2, axis2=-1).real))


def _factored(a: Array, complete: bool) -> tuple[Array, Array]:
    """Return q and r; for a wide matrix from its first columns, because JAX has no derivative of a wide factorization."""
    m, n = a.shape[-2:]
    q, r = jnp.linalg.qr(a[..., :m] if m < n else a, "complete" if complete and m > n else "reduced")
    if m >= n:
        return q, r
    return q, jnp.concatenate([r, jnp.conj(jnp.swapaxes(q, -1, -2)) @ a[..., m:]], -1)


_qr_of_values = kernel(
    highest(lambda a, complete: tuple(jnp.linalg.qr(a, "complete" if complete else "reduced"))), (1,)
)
_qr_of_tracers = kernel(highest(_factored), (1,))


def qr(a: Array, complete: bool) -> Any:
    return (_qr_of_values if is_concrete(a) else _qr_of_tracers)(a, complete)


@_checked("SVD did not converge", (1,))
def svd(a: Array, full_matrices: bool) -> Any:
    return tuple(jnp.linalg.svd(a, full_matrices=full_matrices)), ~_finite(a)


@_checked("SVD did not converge")
def svdvals(a: Array) -> Any:
    return jnp.linalg.svd(a, compute_uv=False), ~_finite(a)


def _hermitian(a: Array, lower: bool) -> Array:
    """Return the Hermitian matrix that one triangle of ``a`` defines. JAX would average both triangles."""
    triangle = jnp.tril(a, -1) if lower else jnp.triu(a, 1)
    diagonal = jnp.real(jnp.diagonal(a, axis1=-2, axis2=-1)).astype(a.dtype)
    eye = jnp.eye(a.shape[-1], dtype=bool)
    return jnp.where(eye, diagonal[..., None, :], triangle + jnp.conj(jnp.swapaxes(triangle, -1, -2)))


@_checked("Eigenvalues did not converge", (1,))
def eigh(a: Array, lower: bool) -> Any:
    w, v = jnp.linalg.eigh(_hermitian(a, lower), symmetrize_input=False)
    return (w, v), ~_finite(w)


@_checked("Eigenvalues did not converge", (1,))
def eigvalsh(a: Array, lower: bool) -> Any:
    w = jnp.linalg.eigvalsh(_hermitian(a, lower), symmetrize_input=False)
    return w, ~_finite(w)


@jax.custom_jvp  # type: ignore[untyped-decorator]
def _eigenvectors(a: Array) -> tuple[Array, Array]:
    """Return eigenvalues and eigenvectors, both differentiable; JAX differentiates the eigenvalues only.

    The derivative keeps the length and phase of each eigenvector fixed.
    """
    w, v = jnp.linalg.eig(a)
    return w, v


@_eigenvectors.defjvp  # type: ignore[untyped-decorator]
def _(primals: Any, tangents: Any) -> Any:
    w, v = _eigenvectors(*primals)
    moved = jnp.linalg.solve(v, tangents[0].astype(v.dtype) @ v)
    eye = jnp.eye(v.shape[-1], dtype=bool)
    gaps = jnp.where(eye, 1, w[..., None, :] - w[..., :, None])
    slope = v @ jnp.where(eye, 0, moved / gaps)
    longer = jnp.sum(jnp.conj(v) * slope, -2, keepdims=True).real
    return (w, v), (jnp.diagonal(moved, axis1=-2, axis2=-1), slope - v * longer)


@_checked("Array must not contain infs or NaNs")
def _eig(a: Array) -> Any:
    return _eigenvectors(a), ~_finite(a)


@_checked("Array must not contain infs or NaNs")
def _eigvals(a: Array) -> Any:
    return jnp.linalg.eigvals(a), ~_finite(a)


def _cpu_only(a: Array) -> None:
    platforms = {d.platform for d in a.devices()} if is_concrete(a) else {jax.default_backend()}
    if platforms != {"cpu"}:
        raise Unsupported("JAX has the eigenvalues of a general matrix on the CPU only")


def eig(a: Array) -> Any:
    _cpu_only(a)
    return _eig(a)


def eigvals(a: Array) -> Array:
    _cpu_only(a)
    return _eigvals(a)


# -- equations -------------------------------------------------------------------------------------------------------


def _solve_lu(a: Array, b: Array) -> tuple[Array, Array]:
    batch = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    b = jnp.broadcast_to(b, (*batch, *b.shape[-2:]))
    if a.size == 0 or b.size == 0:
        return jnp.zeros_like(b), jnp.array(False)
    factors, _, permutation = lax.linalg.lu(a)
    singular = jnp.any(jnp.diagonal(factors, axis1=-2, axis2=-1) == 0)  # LAPACK's own test
    factors = jnp.broadcast_to(factors, (*batch, *a.shape[-2:]))
    permutation = jnp.broadcast_to(permutation, (*batch, a.shape[-1]))
    b = jnp.take_along_axis(b, permutation[..., None], -2)
    x = lax.linalg.triangular_solve(factors, b, left_side=True, lower=True, unit_diagonal=True)
    return lax.linalg.triangular_solve(factors, x, left_side=True, lower=False), singular


solve = _checked("Singular matrix")(_solve_lu)


@_checked("Singular matrix")
def inv(a: Array) -> Any:
    return _solve_lu(a, jnp.broadcast_to(jnp.eye(a.shape[-1], dtype=a.dtype), a.shape))


@partial(kernel, static=(2,))
@highest
def solve_triangular(a: Array, b: Array, lower: bool) -> Array:
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = (jnp.broadcast_to(x, lead + x.shape[-2:]) for x in (a, b))
    return lax.linalg.triangular_solve(a, b, left_side=True, lower=lower)


@kernel
@highest
def lu(a: Array) -> tuple[Array, Array]:
    factors, _, order = lax.linalg.lu(a)
    return factors, order.astype(jnp.int64)


slogdet = kernel(highest(lambda a: tuple(jnp.linalg.slogdet(a))))
det = kernel(highest(jnp.linalg.det))


# -- FFT -------------------------------------------------------------------------------------------------------------


def _along_all(transform: Callable[..., Array]) -> Callable[..., Array]:
    def body(a: Array, axes: tuple[int, ...]) -> Array:
        # One axis at a time where `jnp.fft` has no program: above three, or an axis named twice.
        if len(axes) > 3 or len(set(axes)) < len(axes):
            for axis in reversed(axes):
                a = transform(a, axes=(axis,))
            return a
        return transform(a, axes=axes) if axes else a

    return kernel(body, static=(1,))


fftn = _along_all(jnp.fft.fftn)
ifftn = _along_all(jnp.fft.ifftn)
rfft = kernel(lambda a, axis: jnp.fft.rfft(a, axis=axis), (1,))
irfft = kernel(lambda a, n, axis: jnp.fft.irfft(a, n=n, axis=axis), (1, 2))
