"""Primitives in terms of MLX; what it has no function for, or has it in single precision only, NumPy computes."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np

from arraydispatch.backends.base import Unsupported

from ..by_host import remaining
from .dtypes import BACK, DTYPES


def native(x: Any) -> Any:
    """Return an array of MLX with the values of an ndarray."""
    if x.dtype not in DTYPES:
        raise Unsupported(f"MLX has no dtype {x.dtype}")
    return mx.array(np.ascontiguousarray(x).reshape(x.shape), dtype=DTYPES[x.dtype])


def host(a: Any) -> np.ndarray[Any, Any]:
    """Return the values as an ndarray that nobody writes."""
    seen = np.asarray(a).view()
    seen.flags.writeable = False
    return seen


def full(shape: Any, value: Any, dtype: Any, device: Any) -> Any:
    return native(np.full(shape, value, dtype))


def iota(n: int, dtype: Any, device: Any) -> Any:
    return native(np.arange(n, dtype=dtype))


def astype(a: Any, dtype: Any) -> Any:
    if BACK[a.dtype] == dtype:
        return a
    if dtype not in DTYPES:
        raise Unsupported(f"MLX has no dtype {dtype}")
    if dtype.kind in "iu" and BACK[a.dtype].kind == "f":  # what is out of range differs from C's cast
        return native(host(a).astype(dtype))
    return a.astype(DTYPES[dtype])


def copy(a: Any) -> Any:
    return mx.array(a)


def view_dtype(a: Any, dtype: Any) -> Any:
    return a.view(DTYPES[dtype])


def reshape(a: Any, shape: Any) -> Any:
    return mx.reshape(a, shape)


def transpose(a: Any, perm: Any) -> Any:
    return mx.transpose(a, list(perm))


def broadcast_to(a: Any, shape: Any) -> Any:
    return mx.broadcast_to(a, shape)


def flip(a: Any, axes: Any) -> Any:
    return mx.flip(a, tuple(axes)) if axes else a


def concatenate(arrays: Any, axis: int) -> Any:
    return mx.concatenate(list(arrays), axis)


def pad(a: Any, widths: Any, value: Any) -> Any:
    return mx.pad(a, list(widths), constant_values=mx.array(value, dtype=a.dtype))


def slice(a: Any, key: Any) -> Any:
    return a[tuple(key)] if key else a


def slice_update(a: Any, key: Any, value: Any) -> Any:
    written = mx.array(a)
    written[tuple(key)] = value
    return written


def gather(a: Any, indices: Any) -> Any:
    return a[tuple(indices)]


def scatter(a: Any, indices: Any, value: Any, how: str) -> Any:
    if how == "set":
        return slice_update(a, indices, value)
    return getattr(a.at[tuple(indices)], how)(value)


def take(a: Any, indices: Any, axis: int) -> Any:
    return mx.take(a, indices, axis)


def take_along_axis(a: Any, indices: Any, axis: int) -> Any:
    return mx.take_along_axis(a, indices, axis)


def where(condition: Any, x: Any, y: Any) -> Any:
    return mx.where(condition, x, y)


def sort(a: Any, axis: int) -> Any:
    return mx.sort(a, axis)


def argsort(a: Any, axis: int, stable: bool = True) -> Any:
    return mx.argsort(a, axis).astype(mx.int64)


def real(a: Any) -> Any:
    return mx.real(a)


def imag(a: Any) -> Any:
    return mx.imag(a)


def matmul(a: Any, b: Any) -> Any:
    if BACK[a.dtype].kind != "f":
        raise Unsupported("MLX multiplies matrices of floats only")
    return mx.matmul(a, b)


globals().update(remaining(globals(), mx.array, host, native))
