"""The standard's functions on whole arrays: NumPy's, in the standard's signatures."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import elementwise

# -- manipulation and indexing -----------------------------------------------------------------------------------------


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """The array in another dtype; complex to real raises TypeError."""
    if x.dtype.kind == "c" and np.dtype(dtype).kind != "c":
        raise TypeError(f"an array of {x.dtype} is not cast to {np.dtype(dtype)}; take its real part first.")
    made = x.astype(dtype, copy=copy)
    return made if device is None else made.to_device(device)


def broadcast_arrays(*arrays: Any) -> Any:
    """The arrays in their common shape."""
    return np.broadcast_arrays(*arrays)


def broadcast_shapes(*shapes: Any) -> Any:
    """The shape that shapes broadcast to."""
    return np.broadcast_shapes(*shapes)


def broadcast_to(x: Any, /, shape: Any) -> Any:
    """The array in another shape that it broadcasts to."""
    return np.broadcast_to(x, shape)


def concat(arrays: Any, /, *, axis: int | None = 0) -> Any:
    """Arrays joined along an axis; None: all of them flat."""
    elementwise.check(*arrays)
    return np.concatenate(tuple(arrays), axis)


def diff(x: Any, /, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The differences of neighbours, ``n`` times over. (By position as NumPy has them: scikit-learn 1.9 gives ``n`` so.)"""
    ends = {key: value for key, value in (("prepend", prepend), ("append", append)) if value is not None}
    return np.diff(x, n, axis, **ends)


def expand_dims(x: Any, /, axis: Any) -> Any:
    """The array with a new axis of length one."""
    return np.expand_dims(x, axis)


def flip(x: Any, /, *, axis: Any = None) -> Any:
    """The elements in reverse order."""
    return np.flip(x, axis)


def moveaxis(x: Any, source: Any, destination: Any, /) -> Any:
    """The array with axes in other places."""
    return np.moveaxis(x, source, destination)


def permute_dims(x: Any, /, axes: Any) -> Any:
    """The array with its axes in another order."""
    return np.transpose(x, axes)


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Any:
    """Each element several times."""
    return np.repeat(x, repeats, axis)


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Any:
    """The elements in another shape."""
    return np.reshape(x, shape, copy=copy)


def roll(x: Any, /, shift: Any, *, axis: Any = None) -> Any:
    """The elements moved around an axis."""
    return np.roll(x, shift, axis)


def squeeze(x: Any, /, axis: Any) -> Any:
    """The array without axes of length one."""
    return np.squeeze(x, axis)


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """Arrays joined along a new axis."""
    elementwise.check(*arrays)
    return np.stack(tuple(arrays), axis)


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """The elements at indices along an axis, which only a vector can leave out."""
    if axis is None and x.ndim != 1:
        raise ValueError("axis must be given unless the array has one dimension")
    return np.take(x, indices, 0 if axis is None else axis)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
    """The elements at indices of their own along an axis."""
    return np.take_along_axis(x, indices, axis)


def tile(x: Any, repetitions: Any, /) -> Any:
    """The array repeated along its axes."""
    return np.tile(x, repetitions)


def _matrices(x: Any, name: str) -> None:
    if np.ndim(x) < 2:
        raise ValueError(f"{name}: a matrix or a stack of them is expected, not an array of {np.ndim(x)} dimensions")


def tril(x: Any, /, *, k: int = 0) -> Any:
    """The lower triangles of matrices."""
    _matrices(x, "tril")
    return np.tril(x, k)


def triu(x: Any, /, *, k: int = 0) -> Any:
    """The upper triangles of matrices."""
    _matrices(x, "triu")
    return np.triu(x, k)


def unstack(x: Any, /, *, axis: int = 0) -> Any:
    """The arrays that an axis counts."""
    return np.unstack(x, axis=axis)


# -- searching, sets, sorting ------------------------------------------------------------------------------------------


def argmax(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The index of the first largest element."""
    return np.argmax(x, axis, keepdims=keepdims)


def argmin(x: Any, /, *, axis: int | None = None, keepdims: bool = False) -> Any:
    """The index of the first smallest element."""
    return np.argmin(x, axis, keepdims=keepdims)


def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The number of elements that are not zero."""
    return np.sum(np.not_equal(x, 0), axis, keepdims=keepdims)


def nonzero(x: Any, /) -> Any:
    """The indices of the elements that are not zero."""
    return np.nonzero(x)


def searchsorted(x1: Any, x2: Any, /, *, side: Any = "left", sorter: Any = None) -> Any:
    """Where elements of ``x2`` belong in the sorted vector ``x1``."""
    return np.searchsorted(x1, x2, side, sorter)


def where(condition: Any, x1: Any = None, x2: Any = None, /) -> Any:
    """Elements of ``x1`` where the condition holds, of ``x2`` elsewhere; without them, as :func:`nonzero`, NumPy's too."""
    if x1 is None and x2 is None:
        return np.nonzero(condition)
    elementwise.check(x1, x2)
    return np.where(condition, x1, x2)


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Any:
    """Whether elements of ``x1`` are among those of ``x2``."""
    return np.isin(x1, x2, invert=invert)


def unique_all(x: Any, /) -> Any:
    """The distinct values, where each first is, which each element has, and how many have it."""
    return np.unique_all(x)


def unique_counts(x: Any, /) -> Any:
    """The distinct values, and how many elements have each."""
    return np.unique_counts(x)


def unique_inverse(x: Any, /) -> Any:
    """The distinct values, and which each element has."""
    return np.unique_inverse(x)


def unique_values(x: Any, /) -> Any:
    """The distinct values."""
    return np.unique_values(x)


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The elements in order."""
    if descending:
        return np.flip(np.sort(np.flip(x, axis), axis, stable=stable), axis)
    return np.sort(x, axis, stable=stable)


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """The indices that put the elements in order; equal ones keep theirs."""
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
    """The products of the elements up to each."""
    return np.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
    """The sums of the elements up to each."""
    return np.cumulative_sum(x, axis=axis, dtype=dtype, include_initial=include_initial)


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The largest element."""
    return np.max(x, axis, keepdims=keepdims)


def mean(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The arithmetic mean."""
    return np.mean(x, axis, keepdims=keepdims)


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The smallest element."""
    return np.min(x, axis, keepdims=keepdims)


def prod(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The product."""
    return np.prod(x, axis, dtype=dtype, keepdims=keepdims)


def std(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The standard deviation, over the number of elements less ``correction``."""
    return np.std(x, axis, ddof=correction, keepdims=keepdims)


def sum(x: Any, /, *, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The sum."""
    return np.sum(x, axis, dtype=dtype, keepdims=keepdims)


def var(x: Any, /, *, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
    """The variance, over the number of elements less ``correction``."""
    return np.var(x, axis, ddof=correction, keepdims=keepdims)


FUNCTIONS = (
    astype, broadcast_arrays, broadcast_shapes, broadcast_to, concat, diff, expand_dims, flip, moveaxis, permute_dims, repeat,
    reshape, roll, squeeze, stack, take, take_along_axis, tile, tril, triu, unstack,
    argmax, argmin, count_nonzero, nonzero, searchsorted, where, isin, unique_all, unique_counts, unique_inverse,
    unique_values, sort, argsort,
    all, any, cumulative_prod, cumulative_sum, max, mean, min, prod, std, sum, var,
)  # fmt: skip
