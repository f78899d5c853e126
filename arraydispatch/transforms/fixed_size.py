"""``nonzero``, ``masked`` and ``unique`` with results of a fixed length, for use in programs, where values are not concrete."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np


def nonzero(x: Any, *, size: int, fill_value: int = 0) -> tuple[Any, ...]:
    """Return the indices of the first ``size`` nonzero elements, in C order: ``np.nonzero`` with a fixed length.

    Parameters
    ----------
    x : array
        Array of at least one dimension.
    size : int
        Length of each result. Further elements are left out.
    fill_value : int
        Padding after the last index, if there are fewer.

    Returns
    -------
    tuple of array
        int64 indices of shape ``(size,)`` for each dimension of ``x``.

    Raises
    ------
    ValueError
        If ``size`` is negative, or ``x`` has no dimension.
    """
    size = _checked(size)
    if np.ndim(x) == 0:
        raise ValueError("nonzero is for arrays of at least one dimension.")
    places, there = _first(np.ravel(x != 0), size)
    shape = np.shape(x)
    indices = np.unravel_index(places, shape) if math.prod(shape) else (places,) * len(shape)
    return tuple(np.where(there, i, fill_value) for i in indices)


def masked(x: Any, mask: Any, *, size: int, fill_value: Any = 0) -> Any:
    """Return the first ``size`` elements that a mask selects: ``x[mask]`` with a fixed length.

    Parameters
    ----------
    x : array
        Array of shape ``(..., *rest)``.
    mask : array of bool
        Mask with the shape of the leading dimensions of ``x``.
    size : int
        Length of the result. Further elements are left out.
    fill_value : number
        Padding after the last element, if there are fewer.

    Returns
    -------
    array
        Array of shape ``(size, *rest)`` and the dtype of ``x``.

    Raises
    ------
    ValueError
        If ``size`` is negative.
    IndexError
        If the mask has no dimension, or its shape is not that of the leading dimensions of ``x``.
    """
    size = _checked(size)
    shape, ndim = np.shape(x), np.ndim(mask)
    if np.shape(mask) != shape[:ndim] or ndim == 0:
        raise IndexError(
            f"a mask of shape {np.shape(mask)} does not fit the leading dimensions of an array of shape {shape}."
        )
    rest = shape[ndim:]
    lines = np.reshape(x, (math.prod(shape[:ndim]), *rest))
    places, there = _first(np.ravel(mask), size)
    if not math.prod(shape[:ndim]):
        return np.full((size, *rest), fill_value, dtype=lines.dtype, like=lines)
    there = np.reshape(there, (size,) + (1,) * len(rest))
    return np.where(there, lines[places], np.asarray(fill_value).astype(lines.dtype))


def unique(x: Any, *, size: int, fill_value: Any = None) -> Any:
    """Return the ``size`` smallest distinct values, sorted: ``np.unique`` with a fixed length.

    Parameters
    ----------
    x : array
        Array of any shape, with at least one element.
    size : int
        Length of the result. Larger values are left out.
    fill_value : number, optional
        Padding after the last value, if there are fewer; default: the smallest value.

    Returns
    -------
    array
        Array of shape ``(size,)`` and the dtype of ``x``. All NaNs count as one value, as in ``np.unique``.

    Raises
    ------
    ValueError
        If ``size`` is negative, or ``x`` has no element.
    """
    size = _checked(size)
    values = np.sort(np.ravel(x))
    if values.size == 0:
        raise ValueError("unique of a fixed length is for arrays with at least one element.")
    again = values[1:] == values[:-1]
    if values.dtype.kind in "fc":
        again = again | (np.isnan(values[1:]) & np.isnan(values[:-1]))
    new = np.concatenate([np.ones_like(again, shape=1), ~again])
    places, there = _first(new, size)
    fill = values[0] if fill_value is None else np.asarray(fill_value).astype(values.dtype)
    return np.where(there, values[places], fill)


def _checked(size: int) -> int:
    size = operator.index(size)
    if size < 0:
        raise ValueError(f"size is {size}; a length cannot be negative.")
    return size


def _first(mask: Any, size: int) -> tuple[Any, Any]:
    """Return ``size`` indices, first those at which a 1-d array of bools is true, and a mask of the indices at which it is true."""
    order = np.argsort(~mask, kind="stable")[:size]
    short = size - order.shape[0]
    if short:
        order = np.concatenate([order, np.zeros_like(order, shape=short)])
    return order, np.arange(size) < np.count_nonzero(mask)
