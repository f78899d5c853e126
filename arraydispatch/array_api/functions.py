"""The standard's functions on whole arrays: NumPy's, with the standard's signatures."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import elementwise

# -- manipulation and indexing -----------------------------------------------------------------------------------------


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Cast to another dtype; complex to real raises TypeError."""
    if x.dtype.kind == "c" and np.dtype(dtype).kind != "c":
        raise TypeError(f"an array of {x.dtype} cannot be cast to {np.dtype(dtype)}; take its real part first.")
    made = x.astype(dtype, copy=copy)
    return made if device is None else made.to_device(device)


def broadcast_arrays(*arrays: Any) -> Any:
    """Broadcast arrays to their common shape."""
    return np.broadcast_arrays(*arrays)


def broadcast_shapes(*shapes: Any) -> Any:
    """Return the shape that shapes broadcast to."""
    return np.broadcast_shapes(*shapes)


def broadcast_to(x: Any, /, shape: Any) -> Any:
    """Broadcast an array to a shape."""
    return np.broadcast_to(x, shape)


def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """Join arrays along an axis; with None, all of them flattened."""
    elementwise.check(*arrays)
    return np.concatenate(tuple(arrays), axis)


def diff(x: Any, /, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """Compute the differences of neighbours, ``n`` times. (Arguments are positional as in NumPy: scikit-learn 1.9
    passes ``n`` so.)
    """
    ends = {key: value for key, value in (("prepend", prepend), ("append", append)) if value is not None}
    return np.diff(x, n, axis, **ends)


def expand_dims(x: Any, /, axis: Any) -> Any:
    """Insert a new axis of length one."""
    return np.expand_dims(x, axis)


def flip(x: Any, /, *, axis: Any = None) -> Any:
    """Reverse the order of the elements along axes."""
    return np.flip(x, axis)


def moveaxis(x: Any, source: Any, destination: Any, /) -> Any:
    """Move axes to other positions."""
    return np.moveaxis(x, source, destination)


def permute_dims(x: Any, /, axes: Any) -> Any:
    """Permute the axes."""
    return np.transpose(x, axes)


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Any:
    """Repeat each element."""
    return np.repeat(x, repeats, axis)


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Any:
    """Reshape the array."""
    return np.reshape(x, shape, copy=copy)


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    """Shift the elements cyclically along an axis."""
    return np.roll(x, shift, axis)


def squeeze(x: Any, /, axis: Any) -> Any:
    """Remove axes of length one."""
    return np.squeeze(x, axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """Join arrays along a new axis."""
    elementwise.check(*arrays)
    return np.stack(tuple(arrays), axis)


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """Select elements by indices along an axis, which only a vector may omit."""
    if axis is None and x.ndim != 1:
        raise ValueError("axis must be given unless the array has one dimension")
    return np.take(x, indices, 0 if axis is None else axis)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """Select elements along an axis by an array of indices for each line."""
    return np.take_along_axis(x, indices, axis)


def tile(x: Any, repetitions: Any, /) -> Any:
    """Repeat the array along its axes."""
    return np.tile(x, repetitions)


def _matrices(x: Any, name: str) -> None:
    if np.ndim(x) < 2:
        raise ValueError(f"{name}: a matrix or a stack of them is expected, not an array of {np.ndim(x)} dimensions")


def tril(x: Any, /, *, k: int = 0) -> Any:
    """Return the lower triangles of matrices."""
    _matrices(x, "tril")
    return np.tril(x, k)


def triu(x: Any, /, *, k: int = 0) -> Any:
    """Return the upper triangles of matrices."""
    _matrices(x, "triu")
    return np.triu(x, k)


def unstack(x: Any, /, *, axis: int = 0) -> Any:
    """Split the array along an axis into arrays without that axis."""
    return np.unstack(x, axis=axis)


# -- searching, sets, sorting ------------------------------------------------------------------------------------------


def argmax(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """Return the index of the first largest element."""
    return np.argmax(x, axis, keepdims=keepdims)


def argmin(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """Return the index of the first smallest element."""
    return np.argmin(x, axis, keepdims=keepdims)


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Count the elements that are not zero."""
    return np.sum(np.not_equal(x, 0), axis, keepdims=keepdims)


def nonzero(x: Any, /) -> Any:
    """Return the indices of the elements that are not zero."""
    return np.nonzero(x)


def searchsorted(x1: Any, x2: Any, /, *, side: Any = "left", sorter: Any = None) -> Any:
    """Return the indices at which elements of ``x2`` belong in the sorted vector ``x1``."""
    return np.searchsorted(x1, x2, side, sorter)


def where(condition: Any, x1: Any = None, x2: Any = None, /) -> Any:
    """Select elements of ``x1`` where the condition holds, of ``x2`` elsewhere; without them, as :func:`nonzero`, as in
    NumPy.
    """
    if x1 is None and x2 is None:
        return np.nonzero(condition)
    elementwise.check(x1, x2)
    return np.where(condition, x1, x2)


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """Whether elements of ``x1`` are among those of ``x2``."""
    return np.isin(x1, x2, invert=invert)


def unique_all(x: Any, /) -> Any:
    """Return the distinct values, the first index of each, the index of each element's value, and the counts."""
    return np.unique_all(x)


def unique_counts(x: Any, /) -> Any:
    """Return the distinct values, and the number of elements of each."""
    return np.unique_counts(x)


def unique_inverse(x: Any, /) -> Any:
    """Return the distinct values, and the index of each element's value."""
    return np.unique_inverse(x)


def unique_values(x: Any, /) -> Any:
    """Return the distinct values."""
    return np.unique_values(x)


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Sort the elements."""
    if descending:
        return np.flip(np.sort(np.flip(x, axis), axis, stable=stable), axis)
    return np.sort(x, axis, stable=stable)


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return the indices that sort the elements; equal ones keep their order."""
    if descending:
        backwards = np.argsort(np.flip(x, axis), axis, stable=True)
        return x.shape[axis] - 1 - np.flip(backwards, axis)
    return np.argsort(x, axis, stable=True)


# -- statistics --------------------------------------------------------------------------------------------------------


def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether all elements are true."""
    return np.all(x, axis, keepdims=keepdims)


def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Whether any element is true."""
    return np.any(x, axis, keepdims=keepdims)


def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """Compute the cumulative product."""
    return np.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """Compute the cumulative sum."""
    return np.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial)


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the largest element."""
    return np.max(x, axis, keepdims=keepdims)


def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Compute the arithmetic mean."""
    return np.mean(x, axis, keepdims=keepdims)


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the smallest element."""
    return np.min(x, axis, keepdims=keepdims)


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Compute the product."""
    return np.prod(x, axis, dtype=dtype, keepdims=keepdims)


def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Compute the standard deviation, dividing by the number of elements less ``correction``."""
    return np.std(x, axis, ddof=correction, keepdims=keepdims)


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """Compute the sum."""
    return np.sum(x, axis, dtype=dtype, keepdims=keepdims)


def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """Compute the variance, dividing by the number of elements less ``correction``."""
    return np.var(x, axis, ddof=correction, keepdims=keepdims)


FUNCTIONS = (
    astype, broadcast_arrays, broadcast_shapes, broadcast_to, concat, diff, expand_dims, flip, moveaxis, permute_dims, repeat,
    reshape, roll, squeeze, stack, take, take_along_axis, tile, tril, triu, unstack,
    argmax, argmin, count_nonzero, nonzero, searchsorted, where, isin, unique_all, unique_counts, unique_inverse,
    unique_values, sort, argsort,
    all, any, cumulative_prod, cumulative_sum, max, mean, min, prod, std, sum, var,
)  # fmt: skip
