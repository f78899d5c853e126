"""``ad.random``: random arrays from a library's own generator. (``np.random`` under the launcher returns NumPy's own bits.)"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..array import Array
from ..common.process_state import process
from ..runtime import conversion, dtypes, placement, settings
from . import public

__all__ = ["integers", "normal", "permutation", "seed", "uniform"]

seed = public.seed

_EXACT = 2**53
"""Number of different integers that a uniform float64 can represent."""


def _drawn(kind: str, size: Any, dtype: Any, device: Any, like: tuple[Any, ...] = ()) -> Array:
    backend = public.default_backend()
    if size is None:
        shape = np.broadcast_shapes(*(np.shape(x) for x in like))
    else:
        shape = tuple(operator.index(n) for n in size) if isinstance(size, tuple | list) else (operator.index(size),)
    if any(n < 0 for n in shape):
        raise ValueError("negative dimensions are not allowed")
    wanted = np.dtype(dtype)
    if wanted.kind != "f" and not dtypes.is_bfloat16(wanted):
        raise TypeError(f"random numbers of this distribution are floating, not {wanted}.")
    wanted = conversion.precise(wanted)
    place = conversion.default_device(backend) if device is None else placement.find(backend, device).native
    with backend.within():
        return process.wrapper(backend.random(kind, shape, wanted, place), backend.kind(wanted))


def normal(loc: Any = 0.0, scale: Any = 1.0, size: Any = None, *, dtype: Any = float, device: Any = None) -> Any:
    """Draw normal numbers from the generator of the default backend's library.

    Parameters
    ----------
    loc, scale : float or array
        Mean and non-negative standard deviation.
    size : int or tuple of int, optional
        Shape; default: that of ``loc`` and ``scale``.
    dtype : dtype_like
        Floating dtype.
    device : str or Device, optional
        Where; if not given, the default device.

    Returns
    -------
    Array
        Random array, differentiable with respect to ``loc`` and ``scale``.

    Raises
    ------
    ValueError
        If ``scale`` or the size is negative.
    """
    if not isinstance(scale, Array) and np.any(np.asarray(scale) < 0):
        raise ValueError("scale < 0")
    drawn = _drawn("normal", size, dtype, device, (loc, scale))
    return _moved(drawn, scale, loc)


def uniform(low: Any = 0.0, high: Any = 1.0, size: Any = None, *, dtype: Any = float, device: Any = None) -> Any:
    """Draw uniform numbers in ``[low, high)`` from the generator of the default backend's library.

    Parameters
    ----------
    low, high : float or array
        Bounds of the interval.
    size, dtype, device
        See :func:`normal`.

    Returns
    -------
    Array
    """
    drawn = _drawn("uniform", size, dtype, device, (low, high))
    return _moved(drawn, high - low, low)


def _moved(drawn: Array, factor: Any, start: Any) -> Any:
    """Return ``drawn * factor + start`` in the dtype of ``drawn``; ``drawn`` itself if ``factor`` is the number 1 and ``start`` 0."""
    plain = isinstance(factor, int | float) and isinstance(start, int | float)
    if plain and factor == 1 and start == 0:
        return drawn
    return (drawn * factor + start).astype(drawn.dtype, copy=False)


def integers(
    low: int, high: int | None = None, size: Any = None, *, dtype: Any = np.int64, endpoint: bool = False,
    device: Any = None,
) -> Any:  # fmt: skip
    """Draw uniform integers from the generator of the default backend's library.

    Parameters
    ----------
    low, high : int
        Bounds of the interval ``[low, high)``; with one number ``[0, low)``.
    size : int or tuple of int, optional
        Shape; default: ``()``.
    dtype : dtype_like
        Integer dtype.
    endpoint : bool
        Whether ``high`` is included.
    device : str or Device, optional
        Where; if not given, the default device.

    Returns
    -------
    Array

    Raises
    ------
    ValueError
        If the interval is empty, if the dtype cannot represent it, or if it has more than 2**53 integers.
    TypeError
        If the dtype is not one of integers.
    """
    first, last = (0, operator.index(low)) if high is None else (operator.index(low), operator.index(high))
    last -= not endpoint
    kind = np.dtype(dtype)
    if kind.kind not in "iu":
        raise TypeError(f"random integers are of an integer dtype, not {kind}.")
    limits = np.iinfo(kind)
    if first > last:
        raise ValueError("low >= high")
    if first < limits.min or last > limits.max:
        raise ValueError(f"{first} to {last} is out of bounds for {kind}")
    count = last - first + 1
    if count > _EXACT:
        raise ValueError(f"{count} different integers are more than the 2**53 that are drawn here.")
    with settings.precision_context(None):
        drawn = np.floor(_drawn("uniform", () if size is None else size, np.float64, device) * float(count))
        return (
            (drawn.astype(np.int64) + first).astype(kind, copy=False)
            if kind != np.uint64
            else drawn.astype(kind) + kind.type(first)
        )


def permutation(x: Any, axis: int = 0) -> Any:
    """Return the integers below ``x``, or the slices of an array along an axis, in random order.

    Parameters
    ----------
    x : int or array
        Array to permute, which is not changed, or a number of integers.
    axis : int
        Axis of the slices.

    Returns
    -------
    Array
    """
    whole = not isinstance(x, Array | np.ndarray | list | tuple)
    array = None if whole else public.asarray(x)
    count = operator.index(x) if array is None else array.shape[axis]
    with settings.precision_context(None):
        order = np.argsort(_drawn("uniform", (count,), np.float64, None), kind="stable")
    return order if array is None else np.take(array, order, axis=axis)
