"""``nonzero``, ``masked`` and ``unique`` with results of a fixed length, which a program without values can have."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

__all__ = ["masked", "nonzero", "unique"]


def nonzero(x: Any, *, size: int, fill_value: int = 0) -> tuple[Any, ...]:
    """The first ``size`` places where an array is not zero, in C order: ``np.nonzero`` of a fixed length.

    Parameters
    ----------
    x : array
        Of at least one dimension.
    size : int
        Length of each result. Further places are left out.
    fill_value : int
        What stands behind the last place, where there are fewer.

    Returns
    -------
    tuple of array
        For each dimension of ``x`` int64 indices of shape ``(size,)``.

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
    """The first ``size`` of the elements that a mask chooses: ``x[mask]`` of a fixed length.

    Parameters
    ----------
    x : array
        Of shape ``(..., *rest)``.
    mask : array of bool
        Of the shape of the leading dimensions of ``x``.
    size : int
        Length of the result. Further elements are left out.
    fill_value : number
        What stands behind the last element, where there are fewer.

    Returns
    -------
    array
        Of shape ``(size, *rest)`` and the dtype of ``x``.

    Raises
    ------
    ValueError
        If ``size`` is negative.
    IndexError
        If the shape of the mask is not that of the leading dimensions of ``x``.
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
    """The ``size`` smallest different values, sorted: ``np.unique`` of a fixed length.

    Parameters
    ----------
    x : array
        Of any shape, with at least one element.
    size : int
        Length of the result. Larger values are left out.
    fill_value : number, optional
        What stands behind the last value, where there are fewer; the smallest one, if not given.

    Returns
    -------
    array
        Of shape ``(size,)`` and the dtype of ``x``. Many NaNs are one value, as in ``np.unique``.

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
    """The first places where a line of bools is true, then others; and which are true."""
    order = np.argsort(~mask, kind="stable")[:size]
    short = size - order.shape[0]
    if short:
        order = np.concatenate([order, np.zeros_like(order, shape=short)])
    return order, np.arange(size) < np.count_nonzero(mask)
