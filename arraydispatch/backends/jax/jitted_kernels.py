"""Kernels made from Python functions by `jax.jit`; from the second call on only JAX's C++ fast path runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ...common.signal_safety import without_finalizers

Array = Any
Kernel = Callable[..., Any]


def is_float16(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is one of the two 16-bit floating types."""
    return dtype.itemsize == 2 and jnp.issubdtype(dtype, jnp.floating)


def kernel(function: Callable[..., Any], static: tuple[int, ...] = (), **options: Any) -> Callable[..., Any]:
    """Jit ``function`` so that no output is the buffer of an input.

    If a function returns an input unchanged (`positive`, a sum over no axes), JAX returns the same array. The layers above may
    donate the result of a kernel, which would delete the caller's array, so such outputs are copied. This is decided
    while tracing and costs nothing per call.
    """

    @wraps(function)
    def fresh(*args: Any) -> Any:
        inputs = {id(leaf) for leaf in jax.tree.leaves([a for i, a in enumerate(args) if i not in static])}
        made = without_finalizers(function, *args)  # a finalizer that computes would be traced, too
        return jax.tree.map(lambda out: jnp.copy(out) if id(out) in inputs else out, made)

    return jax.jit(fresh, static_argnums=static, **options)


def wide(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function to compute 16-bit floats in float32 and round once, as NumPy's half loops do."""

    @wraps(function)
    def widened(*args: Any) -> Any:
        dtype = args[0].dtype
        if not is_float16(dtype):
            return function(*args)
        out = function(*[a.astype(jnp.float32) if a.dtype == dtype else a for a in args])
        return jax.tree.map(lambda o: o.astype(dtype) if o.dtype == jnp.float32 else o, out)

    return widened


def derived_from(reference: Kernel) -> Callable[[Kernel], Kernel]:
    """Return a decorator that keeps the values of a body and takes derivatives from ``reference``, JAX's function: the body has no
    derivative where its branches or reflections meet.
    """

    def decorate(body: Kernel) -> Kernel:
        function = jax.custom_jvp(body)

        @function.defjvp  # type: ignore[untyped-decorator]
        def _(primals: tuple[Array, ...], tangents: tuple[Array, ...]) -> tuple[Array, Array]:
            return function(*primals), jax.jvp(reference, primals, tangents)[1]

        return function

    return decorate


def followed(function: Kernel) -> Kernel:
    """Wrap a function of floats or complex numbers so that its derivative is zero where JAX defines none.

    Under differentiation the result is then a tracer, which must not be stored in an array outside the trace.
    """
    run = jax.custom_jvp(function)

    @run.defjvp  # type: ignore[untyped-decorator]
    def _(primals: tuple[Array, ...], tangents: tuple[Array, ...]) -> tuple[Array, Array]:
        slope = jax.jvp(function, primals, tangents)[1]
        for tangent in tangents:
            slope += jnp.where(jnp.zeros(slope.shape, bool), tangent, jnp.zeros_like(slope))
        return run(*primals), slope

    return lambda *xs: run(*xs) if jnp.issubdtype(xs[0].dtype, jnp.inexact) else function(*xs)


@derived_from(lambda a: a)
def apart(a: Array) -> Array:
    """Return an array of real numbers with its origin hidden from XLA's simplifier on the CPU, at no cost at run time; else the array
    itself.

    On the CPU XLA otherwise multiplies by the reciprocal of a broadcast divisor instead of dividing by it, and combines
    two constants, ``(a / b) / c`` to ``a / (b * c)`` and ``a / sqrt(b)`` to ``a * rsqrt(b)``: each is wrong by a unit
    in the last place. On the CPU the barrier is removed before loops are fused; on a GPU it is not removed, and would cost a pass.
    """
    real = jnp.issubdtype(a.dtype, jnp.floating) and jax.default_backend() == "cpu"
    return lax.optimization_barrier(a) if real else a


@derived_from(lax.div)
def divided(a: Array, b: Array) -> Array:
    """Divide real numbers of one shape, correctly rounded on the CPU."""
    if jnp.issubdtype(b.dtype, jnp.floating):
        # Only because `vmap` broadcasts a common divisor here, and not beyond the barrier.
        b = lax.select(lax.eq(a, a), b, b)
    return lax.div(apart(a), apart(b))


def highest(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function to compute the matrix products inside it in full precision, unless the user asked JAX for another precision (no
    silent TF32).

    The setting is read while tracing: it is part of the key of JAX's own cache.
    """

    @wraps(function)
    def precise(*args: Any) -> Any:
        if jax.config.jax_default_matmul_precision is not None:
            return function(*args)
        with jax.default_matmul_precision("highest"):
            return function(*args)

    return precise


def is_concrete(a: Array) -> bool:
    """Whether the value can be read now."""
    return not isinstance(a, jax.core.Tracer)
