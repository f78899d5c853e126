"""Functions that NumPy computes in host memory because TensorFlow takes many times as long: sorts, positions of extrema, running sums and
products, counts, products of complex matrices, decompositions.

TensorFlow sorts by ``TopKV2``, in one thread, and XLA by comparing single elements. TensorFlow itself runs these functions in a graph, while a
gradient is recorded, on an accelerator, and if the user wants the library to run everything. On a CPU compiled execution does not record
them, so they arrive here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from ...common import events, tracing
from ...common.process_state import process
from ..host_kernels import COUNTED_FROM, LEFT_FROM, LEFT_ON_CPUS, SORTED_FROM, multiplies_faster, places, uncopied
from .core import COMPLEX, EagerTensor, dims, host, on_host, taped

Tensor = Any

_DECOMPOSED_FASTER = 1 << 12
"""Number of elements of a matrix from which LAPACK decomposes it faster (measured, 300 x 300: eigenvectors in 9 ms against 23, QR in 5 to 23)."""
_LAPACK = "in host memory NumPy's LAPACK decomposes in blocks, TensorFlow's Eigen does not"
_PICKS = "in host memory NumPy picks elements ten times as fast as TensorFlow"
_SORTS = "in host memory NumPy sorts many times as fast as TensorFlow"
HOST_KERNELS: dict[Any, str] = {
    **dict.fromkeys((np.sort, np.argsort, np.lexsort, np.sort_complex), _SORTS),
    **dict.fromkeys((np.linalg.eigh, np.linalg.eigvalsh, np.linalg.svd, np.linalg.svdvals, np.linalg.qr), _LAPACK),
    **dict.fromkeys((np.nonzero, np.flatnonzero, np.argwhere), _PICKS),
    np.bincount: "in host memory NumPy counts and adds at places faster than TensorFlow",
    np.cumsum: "in host memory NumPy adds faster than XLA, and keeps the sign of -0.0",
    np.cumprod: "in host memory NumPy multiplies several times as fast as XLA",
}
"""NumPy function -> reason why NumPy runs it in host memory. Products of complex matrices are not listed."""


LEFT_TO_NUMPY: dict[Any, str] = {
    **LEFT_ON_CPUS,
    **dict.fromkeys((np.compress, np.extract), _PICKS),
}
"""NumPy function -> reason why NumPy runs the whole function on large arrays in host memory."""


def memory_of(a: Tensor) -> np.ndarray[Any, Any]:
    """Return the values of a tensor in host memory, without a copy."""
    # A memoryview has no format for bfloat16.
    return np.asarray(memoryview(a)) if a.dtype is not tf.bfloat16 else a.numpy()


def in_host_memory(a: Tensor) -> bool:
    """Whether NumPy can read the values, and may compute with them."""
    return on_host(a) and process.execution != "eager" and not taped()


def _are_concrete(*tensors: Tensor) -> bool:
    """Return whether the values are concrete. If not, count the call as one that NumPy would run faster
    (:func:`arraydispatch.common.tracing.is_quicker_on_host`).
    """
    if all(type(x) is EagerTensor for x in tensors):
        return True
    tracing.is_quicker_on_host()
    return False


def _computed(function: Callable[..., Any], a: Tensor, *args: Any, **kwargs: Any) -> Any:
    """Return a NumPy function's result for a tensor in host memory, as an ndarray; None for other tensors."""
    if not in_host_memory(a):
        return None
    if events.tap is not None:
        events.tap.host_kernel()
    with np.errstate(all="ignore"):  # the dispatch reports errors by the result
        return function(uncopied(function, memory_of(a)), *args, **kwargs)


def on_numpy(function: Callable[..., Any], a: Tensor, *args: Any, **kwargs: Any) -> Tensor | None:
    """Run a NumPy function on a tensor in host memory; return None for other tensors."""
    made = _computed(function, a, *args, **kwargs)
    return None if made is None else EagerTensor(np.asarray(made), host(), None)


def decomposed(function: Callable[..., Any], a: Tensor, *args: Any, **kwargs: Any) -> tuple[Tensor, ...] | None:
    """Decompose large matrices in host memory by LAPACK; return None for others, and if TensorFlow must decompose them."""
    shape = dims(a)
    if None in shape or math.prod(shape[-2:]) < _DECOMPOSED_FASTER or not _are_concrete(a):
        return None
    made = _computed(function, a, *args, **kwargs)
    if made is None:
        return None
    return tuple(
        [EagerTensor(np.ascontiguousarray(x), host(), None) for x in (made if isinstance(made, tuple) else (made,))]
    )


def product(a: Tensor, b: Tensor) -> Tensor | None:
    """Multiply large complex matrices in host memory; return None for others."""
    sa, sb = dims(a), dims(b)
    if a.dtype not in COMPLEX or None in (*sa, *sb) or not multiplies_faster(sa, sb) or not _are_concrete(a, b):
        return None
    return on_numpy(np.matmul, a, memory_of(b)) if in_host_memory(b) else None


def counts(x: Tensor, weights: Tensor | None, length: int) -> Tensor | None:
    """Count many indices in host memory, or add up their weights; return None for few, and if TensorFlow must count them."""
    given = (x,) if weights is None else (x, weights)
    if None in (shape := dims(x)) or math.prod(shape) < COUNTED_FROM or not _are_concrete(*given):
        return None
    if weights is not None and not in_host_memory(weights):
        return None
    return on_numpy(np.bincount, x, None if weights is None else uncopied(np.bincount, memory_of(weights)), length)


def if_large(function: Callable[..., Any], a: Tensor, *args: Any, **kwargs: Any) -> Tensor | None:
    """Run a NumPy function on a tensor's memory (:func:`on_numpy`) if the tensor is so large that NumPy is faster; return
    None for others.
    """
    if a.dtype is tf.bfloat16 or None in (shape := dims(a)) or math.prod(shape) < SORTED_FROM or not _are_concrete(a):
        return None
    return on_numpy(function, a, *args, **kwargs)


def of_reals(ufunc: np.ufunc, plain: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Make a kernel that calls NumPy's ufunc for many real numbers in host memory, and ``plain`` for all other operands."""

    def kernel(*operands: Tensor) -> Tensor:
        shapes = [dims(x) for x in operands]
        made = None
        if (
            {x.dtype for x in operands} in ({tf.float64}, {tf.float32})
            and not any(None in shape for shape in shapes)
            and max(map(math.prod, shapes)) >= LEFT_FROM
            and _are_concrete(*operands)
            and all(map(in_host_memory, operands))
        ):
            made = on_numpy(ufunc, operands[0], *map(memory_of, operands[1:]))
        return plain(*operands) if made is None else made

    return kernel


def sort(a: Tensor, axis: int) -> Tensor | None:
    return if_large(np.sort, a, axis)


def argsort(a: Tensor, axis: int, stable: bool) -> Tensor | None:
    return if_large(np.argsort, a, axis, kind="stable" if stable else None)


def positions(a: Tensor) -> Tensor | None:
    """Return the indices of the nonzero elements as one tensor, with a row for each axis; None if TensorFlow must find them."""
    return if_large(places, a)
