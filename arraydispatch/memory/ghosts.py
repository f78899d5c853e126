"""Ghosts: ndarrays that stand for arrays in NumPy's own functions. Their memory is never touched.

An array of ``np.empty`` uses no memory until it is written, but the system may refuse to reserve that much. In that case a
ghost is a range of read-only addresses, which no system counts as memory, so a ghost of 64 GiB fits on the smallest host.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..common.buffers import axes_by_stride

Ghost = np.ndarray[Any, Any]


def stand_in(shape: tuple[int, ...], dtype: Any, order: Any = "C") -> Ghost:
    """Return an ndarray whose memory is never touched.

    If the system refuses that much memory, the ndarray lies on a range of addresses that read as zeros.
    """
    try:
        return np.empty(shape, dtype, order)
    except MemoryError:
        pass
    axes = range(len(shape))
    return _addresses(shape, np.dtype(dtype), axes[::-1] if order == "F" else axes)


def stand_in_like(given: Ghost, dtype: Any = None, order: Any = "K", shape: tuple[int, ...] | None = None) -> Ghost:
    """Return an ndarray whose memory is never touched, as of :func:`stand_in`, with the layout of ``np.empty_like(given, …)``."""
    try:
        return np.empty_like(given, dtype, order, shape=shape)
    except MemoryError:
        whole = given.shape if shape is None else shape
    small = np.empty_like(given, bool, order, shape=tuple(min(n, 2) for n in whole))
    return _addresses(whole, given.dtype if dtype is None else np.dtype(dtype), axes_by_stride(small.strides))


def _addresses(shape: tuple[int, ...], dtype: np.dtype[Any], axes: Sequence[int]) -> Ghost:
    """Return an ndarray on a range of addresses; ``axes`` lists the axes from the slowest to the fastest.

    Raise MemoryError if the system refuses. The ndarray's flags say that it is writeable, like the memory that it stands for, but its pages
    are read-only, because the system counts no memory for read-only pages.
    """
    strides, size = [0] * len(shape), dtype.itemsize
    for axis in reversed(axes):
        strides[axis] = size
        size *= shape[axis]
    try:
        start = np.frombuffer(mmap.mmap(-1, size, **_UNWRITTEN), np.uint8)
    except (OSError, OverflowError, ValueError) as error:
        raise MemoryError(
            f"Unable to reserve addresses for an array with shape {shape} and data type {dtype}"
        ) from error
    buffer: Any = (ctypes.c_char * size).from_address(start.__array_interface__["data"][0])
    buffer.kept = start
    return np.ndarray(shape, dtype, buffer, 0, strides)


_UNWRITTEN: dict[str, Any] = (
    {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, "prot": mmap.PROT_READ}
    if hasattr(mmap, "PROT_READ")
    else {"access": mmap.ACCESS_READ}
)


_LARGE = 1 << 16
"""Size of a ghost in bytes above which :func:`shown` checks whether NumPy would copy it, before NumPy is called."""


def shown(func: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Apply a function that returns views to ghosts; if the function would copy a large ghost, return a stand-in for the copy."""
    if args and (func is np.reshape or func is np.ravel):
        a = args[0]
        if isinstance(a, np.ndarray) and a.nbytes > _LARGE:
            return _reshaped(func, a, args, kwargs)
    return func(*args, **kwargs)


def _reshaped(func: Callable[..., Any], a: Ghost, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    at = 1 if func is np.ravel else 2
    order = args[at] if len(args) > at else kwargs.get("order", "C")
    if order in ("K", "k") or kwargs.get("copy") is False:
        return func(*args, **kwargs)
    options = {key: x for key, x in kwargs.items() if key != "copy"}
    if func is np.ravel:  # copies arrays that are not contiguous, and those with zero strides
        func(np.empty(0), *args[1:], **options)  # raises NumPy's own error
        shape: tuple[int, ...] = (a.size,)
    else:
        shape = func(np.broadcast_to(np.empty((), a.dtype), a.shape), *args[1:], **options).shape
    fortran = order in ("F", "f") or (order in ("A", "a") and a.flags.fnc)
    if func is np.ravel:  # views that ravel returns are contiguous; those of reshape need not be
        if a.flags.f_contiguous if fortran else a.flags.c_contiguous:
            return func(*args, **kwargs)
    elif not kwargs.get("copy"):
        try:
            return np.reshape(a, shape, order, copy=False)
        except ValueError:
            pass
    return stand_in(shape, a.dtype, "F" if fortran else "C")
