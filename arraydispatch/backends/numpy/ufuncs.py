"""Kernels of the NumPy backend: the ufuncs themselves (which return a NumPy scalar if all operands are 0-d)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Array = Any  # an ndarray

__warningregistry__ = None  # NumPy warns here, on behalf of a user's line: see arraydispatch.launcher.numpy_warnings

UFUNCS: dict[Any, Callable[..., Any]] = {
    # A signature marks a generalized ufunc (`matmul`, `vecdot`, …); `isnat` has datetime loops only.
    u: u
    for u in vars(np).values()
    if isinstance(u, np.ufunc) and u.signature is None and u is not np.isnat
}
"""Elementwise numeric ufuncs of NumPy's namespace."""


def _reduction(ufunc: Any) -> Callable[[Array, tuple[int, ...], bool], Array]:
    def reduce(a: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
        return np.asarray(ufunc.reduce(a, axes, a.dtype, None, keepdims))

    return reduce


def _logical_reduction(ufunc: Any) -> Callable[[Array, tuple[int, ...], bool], Array]:
    def reduce(a: Array, axes: tuple[int, ...], keepdims: bool) -> Array:
        return np.asarray(ufunc.reduce(a, axes, None, None, keepdims))

    return reduce


def _accumulation(ufunc: Any) -> Callable[[Array, int], Array]:
    def accumulate(a: Array, axis: int) -> Array:
        return ufunc.accumulate(a, axis, a.dtype)

    return accumulate


REDUCE: dict[Any, Callable[..., Any]] = {
    u: _reduction(u)
    for u in (np.add, np.multiply, np.maximum, np.minimum, np.bitwise_and, np.bitwise_or, np.bitwise_xor)
} | {u: _logical_reduction(u) for u in (np.logical_and, np.logical_or)}

ACCUMULATE: dict[Any, Callable[..., Any]] = {u: _accumulation(u) for u in (np.add, np.multiply, np.maximum, np.minimum)}

SCALARS: frozenset[Any] = frozenset(u for u in UFUNCS if u.nin == 2)
"""Ufuncs that accept Python scalars. These are weak in NumPy 2: they take the loop's dtype."""
