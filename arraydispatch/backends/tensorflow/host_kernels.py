"""Functions that NumPy computes in host memory, where TensorFlow takes many times as long: sorts, places of extrema, running sums.

TensorFlow sorts by ``TopKV2``, in one thread, and XLA by comparing single elements. TensorFlow itself runs these functions in a graph, while a
gradient is recorded, on an accelerator, and if the user wants the library to run everything. Compiled execution records none of them on a CPU, so
that they come here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from ...common import events, tracing
from ...common.process_state import process
from .core import EagerTensor, dims, host, on_host, taped

Tensor = Any

_FASTER = 512
"""Number of elements from which NumPy is used (measured: it sorts 512 in 12 µs, TensorFlow in 370; running sums take 24 and 31), and ends a block."""
_LONG = 64
"""Number of elements of a row from which that of an extremum is found faster."""
_SORTS = "in host memory NumPy sorts many times as fast as TensorFlow"
HOST_KERNELS: dict[Any, str] = {
    **dict.fromkeys((np.sort, np.argsort, np.partition, np.argpartition, np.lexsort, np.sort_complex), _SORTS),
    **dict.fromkeys((np.argmax, np.argmin), "in host memory NumPy finds the place of a row's extremum faster"),
    np.cumsum: "in host memory NumPy adds faster than XLA, and keeps the sign of -0.0",
}
"""NumPy function -> reason why NumPy runs it in host memory."""


def memory_of(a: Tensor) -> np.ndarray[Any, Any]:
    """Return the values of a tensor in host memory, without a copy."""
    # A memoryview has no format for bfloat16.
    return np.asarray(memoryview(a)) if a.dtype is not tf.bfloat16 else a.numpy()


def in_host_memory(a: Tensor) -> bool:
    """Whether NumPy can read the values, and may compute with them."""
    return on_host(a) and process.execution != "eager" and not taped()


def on_numpy(function: Callable[..., Any], a: Tensor, *args: Any, **kwargs: Any) -> Tensor | None:
    """Run a function of NumPy's on a tensor in host memory; return None for any other, which TensorFlow computes."""
    if not in_host_memory(a):
        return None
    if events.tap is not None:
        events.tap.host_kernel()
    with np.errstate(all="ignore"):  # the dispatch reports errors by the result
        return EagerTensor(np.asarray(function(memory_of(a), *args, **kwargs)), host(), None)


def if_large(function: Callable[..., Any], a: Tensor, *args: Any, **kwargs: Any) -> Tensor | None:
    """Do what :func:`on_numpy` does for a tensor of a size at which NumPy is faster."""
    if a.dtype is tf.bfloat16 or None in (shape := dims(a)) or math.prod(shape) < _FASTER:
        return None
    if type(a) is not EagerTensor:
        tracing.is_quicker_on_host()
        return None
    return on_numpy(function, a, *args, **kwargs)


def sort(a: Tensor, axis: int) -> Tensor | None:
    return if_large(np.sort, a, axis)


def argsort(a: Tensor, axis: int, stable: bool) -> Tensor | None:
    return if_large(np.argsort, a, axis, kind="stable" if stable else None)


def place_of_extremum(find: Callable[..., Any], a: Tensor, axis: int) -> Tensor | None:
    """Return the places of the extrema of long rows; None for others, and if TensorFlow must find them."""
    shape = dims(a)
    return if_large(find, a, axis) if axis in (-1, len(shape) - 1) and (shape[-1] or 0) >= _LONG else None
