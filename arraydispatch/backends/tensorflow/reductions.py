"""NumPy's ``ufunc.reduce`` and ``ufunc.accumulate`` -> TensorFlow kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from ..base import Unsupported
from . import host_kernels, primitives
from .core import (
    BITS,
    BOOL,
    COMPLEX,
    HALVES,
    axes_of,
    derived,
    dims,
    fresh,
    integer,
    raw,
)

Tensor = Any
Axes = tuple[int, ...]
Kernel = Callable[..., Tensor]

_cast, _not_equal, _sum, _prod, _max, _min, _all, _any, _cumsum = map(
    raw, "Cast NotEqual Sum Prod Max Min All Any Cumsum".split()
)
_cumprod = raw("Cumprod")


def _apart(out: Tensor, a: Tensor, axes: Axes) -> Tensor:
    """Return a result, copied if it shares the operand's buffer: TensorFlow returns that buffer if only axes of length 1 are reduced."""
    shape = dims(a)
    for axis in axes:
        if shape[axis] != 1:
            return out
    return fresh(out)


def _arithmetic(op: Kernel, of_bool: Kernel) -> Kernel:
    """Make a kernel for sums or products: booleans by ``of_bool``; 16-bit floats in float32, which TensorFlow does for some axes only."""

    def kernel(a: Tensor, axes: Axes, keepdims: bool) -> Tensor:
        dtype = a.dtype
        if dtype in HALVES:
            return _cast(op(_cast(a, tf.float32), axes_of(axes), keepdims), dtype)
        return _apart((of_bool if dtype is BOOL else op)(a, axes_of(axes), keepdims), a, axes)

    return kernel


def _with_nan(op: Kernel) -> Kernel:
    """Wrap an extremum to keep NaN in a graph: TensorFlow makes XLA ignore NaN on the CPU (``xla_cpu_enable_fast_min_max``)."""

    def kernel(a: Tensor, axes: Any, keepdims: bool) -> Tensor:
        made = op(a, axes, keepdims)
        if tf.executing_eagerly() or a.dtype not in BITS:
            return made
        return tf.where(_any(_not_equal(a, a), axes, keepdims), tf.constant(np.nan, a.dtype), made)

    return kernel


_UNORDERED = "TensorFlow does not order complex numbers"


def _extremum(op: Kernel, of_bool: Kernel, find: Kernel) -> Kernel:
    op = _with_nan(op)

    def kernel(a: Tensor, axes: Axes, keepdims: bool) -> Tensor:
        dtype = a.dtype
        if dtype in COMPLEX:
            raise Unsupported(_UNORDERED)
        if axes and dtype in BITS and derived():
            return _derived_by_place(op, a, axes, keepdims, find)
        return _apart((of_bool if dtype is BOOL else op)(a, axes_of(axes), keepdims), a, axes)

    return kernel


def _derived_by_place(op: Kernel, a: Tensor, axes: Axes, keepdims: bool, find: Kernel) -> Tensor:
    """Compute an extremum by ``op``, whose derivative goes to the first element that equals the extremum (``find``: argmax or argmin). In
    TensorFlow all such elements share the derivative.
    """

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def run(a: Tensor) -> Any:
        shape = dims(a)
        kept = tuple(axis for axis in range(len(shape)) if axis not in axes)
        order = kept + tuple(axes)
        moved = tuple(shape[axis] for axis in order)

        def back(dy: Tensor) -> Tensor:
            rows = primitives.reshape(primitives.transpose(tf.stop_gradient(a), order), (*moved[: len(kept)], -1))
            here = tf.one_hot(find(rows, len(kept)), dims(rows)[-1], dtype=a.dtype)
            here = primitives.transpose(primitives.reshape(here, moved), tuple(np.argsort(order).tolist()))
            return here * primitives.reshape(dy, tuple(1 if axis in axes else n for axis, n in enumerate(shape)))

        return op(a, axes_of(axes), keepdims), back

    return run(a)


def _truth(op: Kernel) -> Kernel:
    def kernel(a: Tensor, axes: Axes, keepdims: bool) -> Tensor:
        if a.dtype is not BOOL:
            return op(_not_equal(a, 0), axes_of(axes), keepdims)
        return _apart(op(a, axes_of(axes), keepdims), a, axes)

    return kernel


def _product(a: Tensor, axes: Any, keepdims: bool) -> Tensor:
    """Compute the product so that second derivatives are finite: TensorFlow's derivative divides by the factors, which may be zero."""
    if not (a.dtype in BITS or a.dtype in COMPLEX) or not derived():
        return _prod(a, axes, keepdims)
    whole = a
    for axis in np.atleast_1d(axes).tolist():
        while (n := dims(whole)[axis]) > 1:
            first, second, rest = tf.split(whole, [n // 2, n // 2, n % 2], axis)
            whole = tf.concat([first * second, rest], axis)
    value = _prod(tf.stop_gradient(a), axes, keepdims)
    if 0 in dims(whole):
        return value
    # The derivative must not be a Prod either, which XLA lacks for complex numbers.
    whole = primitives.reshape(whole, dims(value))
    nothing = tf.stop_gradient(whole) - whole
    return tf.where(_not_equal(nothing, nothing), value, value - nothing)


REDUCE: dict[Any, Kernel] = {
    np.add: _arithmetic(_sum, _any),
    np.multiply: _arithmetic(_product, _all),
    np.maximum: _extremum(_max, _any, primitives.argmax),
    np.minimum: _extremum(_min, _all, primitives.argmin),
    np.logical_and: _truth(_all),
    np.logical_or: _truth(_any),
}


def _running(ufunc: np.ufunc, op: Kernel) -> Kernel:
    """Make a kernel for running sums or products; for booleans, a running or and a running and."""

    def kernel(a: Tensor, axis: int) -> Tensor:
        if a.dtype is BOOL:
            return _not_equal(op(_cast(a, tf.int64), integer(axis)), 0)
        exact = op is _cumsum and _begins_with_zero(a, axis)
        run = host_kernels.on_numpy if exact else host_kernels.if_large
        made = run(ufunc.accumulate, a, axis, dtype=a.dtype.as_numpy_dtype)
        if made is not None:
            return made
        if op is _cumprod and (a.dtype in BITS or a.dtype in COMPLEX) and derived():
            return _differentiable_product(a, axis)
        return op(a, integer(axis))

    return kernel


def _differentiable_product(a: Tensor, axis: int) -> Tensor:
    """Compute the running product with the derivative of products of 2, 4, 8 ... neighbours.

    TensorFlow's own divides by the factors, which may be zero, and omits the conjugates of complex numbers.
    """
    whole = _doubled(tf.multiply, a, axis, tf.ones([], a.dtype))
    value, nothing = _cumprod(tf.stop_gradient(a), integer(axis)), tf.stop_gradient(whole) - whole
    return tf.where(_not_equal(nothing, nothing), value, value - nothing)


def _begins_with_zero(a: Tensor, axis: int) -> bool:
    """Whether a slice along ``axis`` of an array in host memory begins with a zero. Then NumPy should add, because a sum in TensorFlow
    starts with 0.0, so that -0.0 loses its sign.
    """
    if not (a.dtype.is_floating or a.dtype.is_complex) or not host_kernels.in_host_memory(a):
        return False
    return bool(a.shape[axis]) and not np.all(host_kernels.memory_of(a).take(0, axis))


def _doubled(op: Kernel, a: Tensor, axis: int, neutral: Tensor | None = None) -> Tensor:
    """Combine each element with all before it in log2(n) steps; each step doubles the number of elements that a result covers.

    ``neutral``: neutral element of ``op``; without it ``op`` of an element with itself must be the element. The steps are a TensorFlow
    loop: XLA would fuse separate steps and compute each step again for every later one, so that
    compiling a running maximum of 70,000 elements took 40 seconds (TensorFlow 2.21; no issue is filed).
    """
    n = dims(a)[axis]
    if n < 2:
        return fresh(a)
    place = tf.reshape(tf.range(n), [-1 if i == axis else 1 for i in range(len(dims(a)))])

    def step(out: Tensor, covered: Tensor) -> tuple[Tensor, Tensor]:
        before = tf.where(place < covered, out if neutral is None else neutral, tf.roll(out, covered, axis))
        return op(before, out), covered * 2

    state = a, tf.constant(1)
    return tf.while_loop(lambda out, covered: covered < n, step, state, maximum_iterations=(n - 1).bit_length())[0]


def running_extremum(ufunc: np.ufunc, choose: Kernel) -> Kernel:
    """Make a kernel for running maxima or minima, for which TensorFlow has no operation."""

    def kernel(a: Tensor, axis: int) -> Tensor:
        if a.dtype is BOOL:
            return _cast(kernel(_cast(a, tf.uint8), axis), tf.bool)
        if a.dtype in COMPLEX:
            raise Unsupported(_UNORDERED)
        made = host_kernels.if_large(ufunc.accumulate, a, axis)
        return _doubled(choose, a, axis) if made is None else made

    return kernel


ACCUMULATE: dict[Any, Kernel] = {
    np.add: _running(np.add, _cumsum),
    np.multiply: _running(np.multiply, _cumprod),
}
