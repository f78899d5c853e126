"""Primitives in terms of the standard; what it has no function for goes through the host, or is left to it."""

from __future__ import annotations

from typing import Any

import array_api_strict as xp
import numpy as np

from arraydispatch.backends.base import Unsupported

from ..by_host import remaining
from .dtypes import BACK, DTYPES, Array


def native(x: Any) -> Any:
    """Return an array of the library's with the values of an ndarray."""
    if x.dtype not in DTYPES:
        raise Unsupported(f"the standard has no dtype {x.dtype}")
    return xp.asarray(np.ascontiguousarray(x).reshape(x.shape))


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
    if BACK[a.dtype].kind == "c" and dtype.kind != "c":  # the standard does not drop imaginary parts
        a = xp.astype(a, xp.bool) if dtype.kind == "b" else xp.real(a)
    return xp.astype(a, DTYPES[dtype])


def copy(a: Any) -> Any:
    return xp.asarray(a, copy=True)


def reshape(a: Any, shape: Any) -> Any:
    return xp.reshape(a, shape)


def transpose(a: Any, perm: Any) -> Any:
    return xp.permute_dims(a, tuple(perm))


def broadcast_to(a: Any, shape: Any) -> Any:
    return xp.broadcast_to(a, shape)


def flip(a: Any, axes: Any) -> Any:
    return xp.flip(a, axis=tuple(axes))


def concatenate(arrays: Any, axis: int) -> Any:
    return xp.concat(list(arrays), axis=axis)


def slice(a: Any, key: Any) -> Any:
    return a[tuple(key)] if key else a


def take(a: Any, indices: Any, axis: int) -> Any:
    shape = tuple(a.shape)
    taken = xp.take(a, xp.reshape(indices, (-1,)), axis=axis)
    return xp.reshape(taken, (*shape[:axis], *indices.shape, *shape[axis:][1:]))


def where(condition: Any, x: Any, y: Any) -> Any:
    return xp.where(condition, x, y)


def nonzero(a: Any) -> Any:
    return tuple(xp.astype(part, xp.int64) for part in xp.nonzero(a))


def mask(a: Any, mask: Any) -> Any:
    return a[mask]


def real(a: Any) -> Any:
    return xp.real(a)


def imag(a: Any) -> Any:
    return xp.imag(a)


def matmul(a: Any, b: Any) -> Any:
    return xp.matmul(a, b)


def searchsorted(a: Any, v: Any, side: str) -> Any:
    return xp.searchsorted(a, v, side=side)


globals().update(remaining(globals(), Array, host, native))
