"""Functions that NumPy runs on the memory of several libraries' arrays because it is faster, and the sizes from which it is faster."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..common.buffers import is_writeable

LEFT_FROM = 1 << 14
"""Number of elements from which NumPy runs functions that a backend leaves to it."""

_SELECTS = "in host memory NumPy selects, where libraries sort"
_SETS = "in host memory NumPy finds unique elements in a table, or by a faster sort"
LEFT_ON_CPUS: dict[Any, str] = {
    **dict.fromkeys((np.median, np.percentile, np.quantile, np.nanmedian, np.nanpercentile, np.nanquantile), _SELECTS),
    **dict.fromkeys((np.partition, np.argpartition), _SELECTS),
    **dict.fromkeys((np.unique, np.unique_all, np.unique_counts, np.unique_inverse, np.unique_values), _SETS),
    **dict.fromkeys((np.intersect1d, np.setdiff1d, np.setxor1d, np.union1d), _SETS),
    **dict.fromkeys(
        (np.argmax, np.argmin, np.nanargmax, np.nanargmin), "in host memory NumPy finds extrema five times as fast"
    ),
    **dict.fromkeys((np.nanmax, np.nanmin), "in host memory NumPy finds extrema beside NaN in one pass"),
    **dict.fromkeys((np.packbits, np.unpackbits), "in host memory NumPy packs many bits at once"),
    **dict.fromkeys(
        (np.convolve, np.correlate),
        "in host memory NumPy adds up shifted products five times as fast as libraries convolve",
    ),
    np.array_equal: "in host memory NumPy compares many elements at once",
    **dict.fromkeys(
        (np.cov, np.corrcoef),
        "in host memory NumPy multiplies a matrix by its own transpose, of which it computes one half",
    ),
    **dict.fromkeys(
        [f"scipy.fft.{inverse}d{kind}t{many}" for inverse in ("", "i") for kind in "cs" for many in ("", "n")],
        "in host memory SciPy transforms real numbers, where libraries transform twice as many complex ones",
    ),
    **dict.fromkeys(
        ("scipy.signal.lfilter", "scipy.signal.sosfilt"),
        "in host memory SciPy goes from element to element in compiled code",
    ),
    **dict.fromkeys(
        [f"scipy.ndimage.{name}" for name in ("affine_transform", "map_coordinates", "rotate", "shift", "zoom")],
        "in host memory SciPy weighs neighbours in compiled code, where libraries gather them one by one",
    ),
    **dict.fromkeys(
        [f"scipy.ndimage.{name}" for name in ("uniform_filter", "uniform_filter1d", "gaussian_gradient_magnitude")],
        "in host memory SciPy needs half of a library's time",
    ),
    **dict.fromkeys(
        [f"scipy.special.{name}" for name in "betainc chdtr gdtr pdtr pdtrc stdtr".split()],
        "in host memory SciPy chooses a formula for each element, where libraries compute all of them",
    ),
}
"""NumPy function, or public name of a SciPy function or ufunc -> reason why NumPy or SciPy runs the whole function on large arrays in host
memory: JAX, PyTorch and TensorFlow take up to twenty times as long on a core, mostly at least twice (measured with 300,000 elements)."""

_BY_LANES = frozenset({np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.nanmax, np.nanmin})
_LONG = 64
"""Number of elements along an axis from which NumPy finds extrema faster: it starts a loop for each lane (24 ms for a million lanes of eight,
XLA 3, TensorFlow 12; for 100,000 of 64 NumPy and TensorFlow 4, JAX 13)."""


def goes_along_short_lanes(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call finds extrema along an axis so short that NumPy is not faster, contrary to its row in :data:`LEFT_ON_CPUS`."""
    if func not in _BY_LANES or not args:
        return False
    axis = args[1] if len(args) > 1 else kwargs.get("axis")
    shape: tuple[int, ...] = getattr(args[0], "shape", ())
    return type(axis) is int and -len(shape) <= axis < len(shape) and shape[axis] < _LONG


REALS = frozenset({np.dtype(np.float32), np.dtype(np.float64)})
"""Dtypes for which NumPy computes the functions below with vector instructions."""
SCALAR_CODE = (np.arccos, np.arcsin, np.arctan, np.arctan2, np.arctanh, np.cbrt, np.tan)
"""Functions of real numbers that XLA (of JAX 0.10.2 and TensorFlow 2.21) computes one element at a time on a CPU, with two threads in 2.7 to 10 times
the time of NumPy.

Logarithms, powers and hyperbolic functions, which take 1.3 to 4 times as long, stay in their block: ending it would cost more memory traffic.
"""


SORTED_FROM = 512
"""Number of elements from which NumPy sorts faster (measured: 512 in 12 µs, TensorFlow in 370; JAX's compiled sort takes 10, NumPy's with the
transfer back 60), and a sort ends a block."""
COUNTED_FROM = 1 << 17
"""Number of indices from which NumPy counts them faster (measured: 480,000 in 1.2 ms against 2.8 by TensorFlow and 3.3 by JAX)."""
_MULTIPLIED_FROM = 1 << 18
"""Number of products of elements from which NumPy multiplies complex matrices faster (measured: matrices of 600 x 800 in 17 ms against 55
by TensorFlow and 96 by JAX).
"""
_THICK = 64
"""Minimum number of rows and columns of matrices that NumPy multiplies; for smaller ones ending a block costs more."""


def multiplies_faster(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Whether NumPy multiplies complex matrices of these shapes faster."""
    return len(a) > 1 < len(b) and math.prod(a) * b[-1] >= _MULTIPLIED_FROM and min(*a[-2:], b[-1]) >= _THICK


COPIES = frozenset({
    np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.bincount, np.repeat, np.take, np.choose, np.convolve, np.correlate,
})  # fmt: skip
"""NumPy functions that copy a read-only operand, although they only read it (NumPy 2.4: ``argmax`` of 1.4 million numbers takes
0.8 ms then, else 0.2). The memory of JAX's and TensorFlow's arrays is read-only."""


class _Reading:
    """Operand of a function that only reads: the memory of a read-only array, shown as writable."""

    def __init__(self, x: np.ndarray[Any, Any]) -> None:
        self._of = x
        interface = x.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def uncopied(func: Any, x: Any) -> Any:
    """Return a large read-only operand of a function of :data:`COPIES` as a writable ndarray on the same memory, so that it is not copied;
    return any other operand itself.

    The result of these functions never shares memory with an operand.
    """
    if (
        type(x) is not np.ndarray
        or x.size < LEFT_FROM
        or func not in COPIES
        or x.dtype.kind not in "?biufc"
        or is_writeable(x)
    ):
        return x
    return np.asarray(_Reading(x))


def places(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the indices of the nonzero elements as one array, with a row for each axis of ``x``."""
    return np.array(np.nonzero(x), np.int64)
