"""NumPy's ``ufunc.reduce`` and ``ufunc.accumulate`` -> TensorFlow kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

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
    """Copy a result that shares the operand's buffer, which TensorFlow returns if only axes of length 1 are reduced."""
    shape = dims(a)
    for axis in axes:
        if shape[axis] != 1:
            return out
    return fresh(out)


def _arithmetic(op: Kernel, of_bool: Kernel) -> Kernel:
    """Make a sum or product: booleans by or, and; 16-bit floats in float32, which TensorFlow does for some axes only."""

    def kernel(a: Tensor, axes: Axes, keepdims: bool) -> Tensor:
        dtype = a.dtype
        if dtype in HALVES:
            return _cast(op(_cast(a, tf.float32), axes_of(axes), keepdims), dtype)
        return _apart((of_bool if dtype is BOOL else op)(a, axes_of(axes), keepdims), a, axes)

    return kernel


def _with_nan(op: Kernel) -> Kernel:
    """Restore NaN in a graph: TensorFlow makes XLA ignore it on the CPU (``xla_cpu_enable_fast_min_max``)."""

    def kernel(a: Tensor, axes: Any, keepdims: bool) -> Tensor:
        made = op(a, axes, keepdims)
        if tf.executing_eagerly() or a.dtype not in BITS:
            return made
        return tf.where(_any(_not_equal(a, a), axes, keepdims), tf.constant(np.nan, a.dtype), made)

    return kernel


def _extremum(op: Kernel, of_bool: Kernel, find: Kernel) -> Kernel:
    """Make a maximum or minimum; complex numbers in lexicographic order."""
    op = _with_nan(op)

    def kernel(a: Tensor, axes: Axes, keepdims: bool) -> Tensor:
        dtype = a.dtype
        if dtype in COMPLEX:
            return _complex_extremum(a, axes, keepdims, find) if axes else fresh(a)
        if axes and dtype in BITS and derived():
            return _derived_by_place(op, a, axes, keepdims, find)
        return _apart((of_bool if dtype is BOOL else op)(a, axes_of(axes), keepdims), a, axes)

    return kernel


def _derived_by_place(op: Kernel, a: Tensor, axes: Axes, keepdims: bool, find: Kernel) -> Tensor:
    """Give the derivative of an extremum to the first element that equals it; in TensorFlow all of these share it."""

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


def _complex_extremum(a: Tensor, axes: Axes, keepdims: bool, find: Kernel) -> Tensor:
    shape = dims(a)
    kept = tuple(axis for axis in range(len(shape)) if axis not in axes)
    lead = tuple(shape[axis] for axis in kept)
    rows = primitives.reshape(primitives.transpose(a, kept + axes), (*lead, -1))
    where = primitives.reshape(find(rows, len(lead)), (*lead, 1))
    out = primitives.take_along_axis(rows, where, len(lead))
    return primitives.reshape(out, tuple(1 if i in axes else n for i, n in enumerate(shape)) if keepdims else lead)


def _truth(op: Kernel) -> Kernel:
    def kernel(a: Tensor, axes: Axes, keepdims: bool) -> Tensor:
        if a.dtype is not BOOL:
            return op(_not_equal(a, 0), axes_of(axes), keepdims)
        return _apart(op(a, axes_of(axes), keepdims), a, axes)

    return kernel


def _product(a: Tensor, axes: Any, keepdims: bool) -> Tensor:
    """Compute the product so that second derivatives are finite: TensorFlow's divides by the factors, which may be zero."""
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


def _running(op: Kernel) -> Kernel:
    """Make a running sum or product; for booleans, or and and."""

    def kernel(a: Tensor, axis: int) -> Tensor:
        if a.dtype is BOOL:
            return _not_equal(op(_cast(a, tf.int64), integer(axis)), 0)
        if op is _cumsum:
            run = host_kernels.on_numpy if _begins_with_zero(a, axis) else host_kernels.if_large
            made = run(np.add.accumulate, a, axis, dtype=a.dtype.as_numpy_dtype)
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
    whole, n, span = a, dims(a)[axis], 1
    while span < n:
        head, rest = tf.split(whole, [span, n - span], axis)
        before, _ = tf.split(whole, [n - span, span], axis)
        whole, span = tf.concat([head, rest * before], axis), 2 * span
    value, nothing = _cumprod(tf.stop_gradient(a), integer(axis)), tf.stop_gradient(whole) - whole
    return tf.where(_not_equal(nothing, nothing), value, value - nothing)


def _begins_with_zero(a: Tensor, axis: int) -> bool:
    """Whether NumPy can and should add, because a sum in TensorFlow starts with 0.0 and so loses the sign of -0.0."""
    if not (a.dtype.is_floating or a.dtype.is_complex) or not host_kernels.in_host_memory(a):
        return False
    return bool(a.shape[axis]) and not np.all(host_kernels.memory_of(a).take(0, axis))


def running_extremum(choose: Kernel) -> Kernel:
    """Make a running maximum, which TensorFlow lacks, in log2(n) steps; each step doubles the number of elements that a result covers."""

    def kernel(a: Tensor, axis: int) -> Tensor:
        if a.dtype is BOOL:
            return _cast(kernel(_cast(a, tf.uint8), axis), tf.bool)
        shape = dims(a)
        n = shape[axis]
        key = [slice(0, size, 1) for size in shape]

        def part(x: Tensor, start: int, stop: int) -> Tensor:
            return primitives.slice(x, (*key[:axis], slice(start, stop, 1), *key[axis + 1 :]))

        out, step = a, 1
        while step < n:
            longer = choose(part(out, 0, n - step), part(out, step, n))
            out = primitives.concatenate([part(out, 0, step), longer], axis)
            step *= 2
        return fresh(a) if out is a else out

    return kernel


ACCUMULATE: dict[Any, Kernel] = {
    np.add: _running(_cumsum),
    np.multiply: _running(_cumprod),
}
