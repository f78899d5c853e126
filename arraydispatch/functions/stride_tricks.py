"""Views that repeat memory (``numpy.lib.stride_tricks``): ghosts describe their strides, and the bodies gather the elements."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple
from numpy.lib.stride_tricks import sliding_window_view as _numpy_windows

from .operands import counting
from .registry import XP, implements


@implements(_numpy_windows, mode="view")
def sliding_window_view(
    xp: XP, x: Any, window_shape: Any, axis: Any = None, *, subok: bool = False, writeable: bool = False
) -> Any:
    """`numpy.lib.stride_tricks.sliding_window_view`."""
    x = xp.asarray(x)
    shape = xp.shape_of(x)
    _numpy_windows(np.broadcast_to(np.empty(()), shape), window_shape, axis)  # raises NumPy's own errors
    windows = tuple(window_shape) if np.iterable(window_shape) else (window_shape,)
    axes = range(len(shape)) if axis is None else normalize_axis_tuple(axis, len(shape), allow_duplicate=True)
    for at, n in zip(axes, windows):
        starts = counting(xp, xp.shape_of(x)[at] - n + 1, x)
        places = xp.add(xp.prim.reshape(starts, (-1, 1)), counting(xp, n, x))
        # The axis of the windows is moved to the end, so that the next axis is still at its place.
        x = xp.moveaxis(xp.take(x, places, axis=at), at + 1, -1)
    return x
