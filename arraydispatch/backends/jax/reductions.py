"""Reductions and accumulations of the JAX backend: the tables ``REDUCE`` and ``ACCUMULATE``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..base import Unsupported
from . import host_kernels
from .jitted_kernels import is_float16, kernel
from .staged_reductions import FEW, neighbours, of_integers

Array = Any
Kernel = Callable[..., Any]


def _reduction(function: Callable[[Array, tuple[int, ...], bool], Array]) -> Kernel:
    return kernel(function, static=(1, 2))


def _wide(function: Kernel) -> Kernel:
    """Wrap a reduction to compute 16-bit floats in float32, as `jax.numpy` does only if it is given no dtype."""

    def reduce(a: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
        dtype = jnp.dtype(jnp.float32) if is_float16(a.dtype) else a.dtype
        return function(a, axes, dtype=dtype, keepdims=keepdims).astype(a.dtype)

    return reduce


def _sum(a: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    if a.dtype == np.bool_:
        return _any(a, axes, keepdims)
    return _wide(jnp.sum)(of_integers(a, axes, lax.add), axes, keepdims)


def _product(a: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    if a.dtype == np.bool_:
        return _all(a, axes, keepdims)
    return _wide(jnp.prod)(of_integers(a, axes, lax.mul), axes, keepdims)


def _all(a: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    # Of complex numbers `jnp.all` and `jnp.any` read the real part only.
    return jnp.all(of_integers(a != 0, axes, lax.bitwise_and), axes, keepdims=keepdims)


def _any(a: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
    return jnp.any(of_integers(a != 0, axes, lax.bitwise_or), axes, keepdims=keepdims)


def _with_nan(real: Kernel, operator: Kernel) -> Kernel:
    """Wrap a reduction to keep NaN on a CPU, where JAX loses it if there are some thousand floats or more (0.10.2, by YNNPACK)."""

    def reduce(a: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
        if not jnp.issubdtype(a.dtype, jnp.floating) or jax.default_backend() != "cpu" or not a.size:
            return real(a, axes, keepdims=keepdims)
        if axes:
            a = neighbours(a, axes, operator, jax.device_count())
        return jnp.where(jnp.any(a != a, axes, keepdims=keepdims), jnp.nan, real(a, axes, keepdims=keepdims))

    return reduce


def _extremum_of(real: Kernel, operator: Kernel, place: Kernel) -> Callable[[Array, tuple[int, ...], bool], Array]:
    real = _with_nan(real, operator)

    def reduce(a: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
        _check_ordered(a)
        if not axes or not jnp.issubdtype(a.dtype, np.inexact):
            if a.dtype.itemsize > 1:
                a = of_integers(a, axes, operator, FEW)
            return real(a, axes, keepdims=keepdims)
        return _derived_by_place(real, place, axes, keepdims)(a)

    return reduce


def _check_ordered(a: Array) -> None:
    if a.dtype.kind == "c":
        raise Unsupported("XLA does not reduce by the order of complex numbers")


def _derived_by_place(real: Kernel, place: Kernel, axes: tuple[int, ...], keepdims: bool) -> Kernel:
    """Return ``real``, a reduction to an extremum, with another derivative: that of the element at the extremum's position, which ``place``
    (argmax or argmin) finds.

    JAX's own derivative goes to all elements that equal the extremum. In a program for the CPU, XLA computes the elements again
    in each loop, and may contract sums and products in only one loop; then no element equals the extremum, and the derivative is lost.
    """

    @jax.custom_jvp  # type: ignore[untyped-decorator]
    def reduce(a: Array) -> Array:
        return real(a, axes, keepdims=keepdims)

    @reduce.defjvp  # type: ignore[untyped-decorator]
    def _(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
        (a,), (tangent,) = primals, tangents
        kept = [axis for axis in range(a.ndim) if axis not in axes]
        shape = *(a.shape[axis] for axis in kept), -1

        def lines(x: Array) -> Array:
            return jnp.transpose(x, (*kept, *axes)).reshape(shape)

        rows, out = lines(a), reduce(a)
        here = jnp.arange(rows.shape[-1]) == place(rows, -1)[..., None]
        found = jnp.sum(jnp.where(here, lines(tangent), 0), -1)
        return out, found.reshape(out.shape)

    return reduce


def _bitwise(operator: Kernel, identity: int) -> Callable[[Array, tuple[int, ...], bool], Array]:
    def reduce(a: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
        start = np.array(bool(identity)) if a.dtype == np.bool_ else np.array(identity).astype(a.dtype)
        out = lax.reduce(a, start, operator, axes)
        return jnp.expand_dims(out, axes) if keepdims else out

    return reduce


REDUCE: dict[Any, Kernel] = {
    np.add: _reduction(_sum),
    np.multiply: _reduction(_product),
    np.maximum: _reduction(_extremum_of(jnp.max, lax.max, jnp.argmax)),
    np.minimum: _reduction(_extremum_of(jnp.min, lax.min, jnp.argmin)),
    np.logical_and: _reduction(_all),
    np.logical_or: _reduction(_any),
    np.bitwise_and: _reduction(_bitwise(lax.bitwise_and, -1)),
    np.bitwise_or: _reduction(_bitwise(lax.bitwise_or, 0)),
    np.bitwise_xor: _reduction(_bitwise(lax.bitwise_xor, 0)),
}


def _running(ufunc: np.ufunc, numeric: Kernel, boolean: Kernel, operator: Kernel, identity: float) -> Kernel:
    """Return a kernel that accumulates by ``operator`` from ``identity`` on, element by element on the CPU, rounding at each step as NumPy
    does, which is faster than XLA's doubling windows. In host memory NumPy's ``ufunc`` accumulates integers and rows of real numbers.

    On an accelerator, and for integers, XLA's function ``numeric`` is used, with 16-bit floats in float32; for bools ``boolean``.
    """

    def accumulate(a: Array, axis: int) -> Array:
        if a.dtype == np.bool_:
            return boolean(a.astype(np.uint8), axis).astype(bool)
        if not jnp.issubdtype(a.dtype, np.inexact):
            return numeric(a, axis)
        if jax.default_backend() != "cpu":
            return numeric(a.astype(jnp.float32), axis).astype(a.dtype) if is_float16(a.dtype) else numeric(a, axis)

        def step(before: Array, x: Array) -> tuple[Array, Array]:
            now = operator(before, x)
            return now, now

        rows = jnp.moveaxis(a, axis, 0)
        start = jnp.full(rows.shape[1:], identity, a.dtype)
        if start.dtype.kind == "c" and identity == 0:
            start = lax.complex(*[jnp.full(rows.shape[1:], identity, lax.real(a).dtype)] * 2)
        return jnp.moveaxis(lax.scan(step, start, rows)[1], 0, axis)

    compiled = kernel(accumulate, static=(1,))
    return host_kernels.or_numpy(host_kernels.accumulating(ufunc), compiled, host_kernels.are_added_one_by_one)


def _running_extremum(ufunc: np.ufunc, numeric: Kernel) -> Kernel:
    def accumulate(a: Array, axis: int) -> Array:
        _check_ordered(a)
        if a.dtype == np.bool_:
            return numeric(a.astype(np.uint8), axis).astype(bool)
        if is_float16(a.dtype):
            return numeric(a.astype(jnp.float32), axis).astype(a.dtype)
        return numeric(a, axis)

    compiled = kernel(accumulate, static=(1,))
    return host_kernels.or_numpy(host_kernels.accumulating(ufunc), compiled, host_kernels.are_many_in_order)


ACCUMULATE: dict[Any, Kernel] = {
    np.add: _running(np.add, lax.cumsum, lax.cummax, lax.add, -0.0),
    np.multiply: _running(np.multiply, lax.cumprod, lax.cummin, lax.mul, 1.0),
    np.maximum: _running_extremum(np.maximum, lax.cummax),
    np.minimum: _running_extremum(np.minimum, lax.cummin),
}
