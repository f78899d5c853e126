"""The standard's functions on whole arrays: NumPy's, with the standard's signatures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import elementwise


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    """Cast to another dtype; complex to real raises TypeError."""
    if x.dtype.kind == "c" and np.dtype(dtype).kind != "c":
        raise TypeError(f"an array of {x.dtype} cannot be cast to {np.dtype(dtype)}; take its real part first.")
    made = x.astype(dtype, copy=copy)
    return made if device is None else made.to_device(device)


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


def stack(arrays: Any, /, *, axis: int = 0) -> Any:
    """Join arrays along a new axis."""
    elementwise.check(*arrays)
    return np.stack(tuple(arrays), axis)


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Any:
    """Select elements by indices along an axis; raise ValueError if ``axis`` is omitted and the array is not a vector."""
    if axis is None and x.ndim != 1:
        raise ValueError("axis must be given unless the array has one dimension")
    return np.take(x, indices, 0 if axis is None else axis)


def _triangle(name: str) -> Callable[..., Any]:
    of_matrices = getattr(np, name)

    def triangle(x: Any, /, *, k: int = 0) -> Any:
        if np.ndim(x) < 2:
            raise ValueError(
                f"{name}: a matrix or a stack of them is expected, not an array of {np.ndim(x)} dimensions"
            )
        return of_matrices(x, k)

    return triangle


def where(condition: Any, x1: Any = None, x2: Any = None, /) -> Any:
    """Select elements of ``x1`` where the condition holds, of ``x2`` elsewhere; without them, as :func:`nonzero`, as in
    NumPy.
    """
    if x1 is None and x2 is None:
        return np.nonzero(condition)
    elementwise.check(x1, x2)
    return np.where(condition, x1, x2)


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return the elements sorted along an axis."""
    if descending:
        return np.flip(np.sort(np.flip(x, axis), axis, stable=stable), axis)
    return np.sort(x, axis, stable=stable)


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Any:
    """Return the indices that sort the elements; equal ones keep their order."""
    if descending:
        backwards = np.argsort(np.flip(x, axis), axis, stable=True)
        return x.shape[axis] - 1 - np.flip(backwards, axis)
    return np.argsort(x, axis, stable=True)


_ROWS: dict[str, Callable[..., Any]] = {
    "broadcast_arrays": lambda *arrays: np.broadcast_arrays(*arrays),  # noqa: PLW0108 -- the row gets a name, which NumPy's keeps
    "broadcast_shapes": lambda *shapes: np.broadcast_shapes(*shapes),  # noqa: PLW0108
    "broadcast_to": lambda x, /, shape: np.broadcast_to(x, shape),
    "expand_dims": lambda x, /, axis: np.expand_dims(x, axis),
    "flip": lambda x, /, *, axis=None: np.flip(x, axis),
    "moveaxis": lambda x, source, destination, /: np.moveaxis(x, source, destination),
    "permute_dims": lambda x, /, axes: np.transpose(x, axes),
    "repeat": lambda x, repeats, /, *, axis=None: np.repeat(x, repeats, axis),
    "reshape": lambda x, /, shape, *, copy=None: np.reshape(x, shape, copy=copy),
    "roll": lambda x, /, shift, *, axis=None: np.roll(x, shift, axis),
    "squeeze": lambda x, /, axis: np.squeeze(x, axis),
    "take_along_axis": lambda x, indices, /, *, axis=-1: np.take_along_axis(x, indices, axis),
    "tile": lambda x, repetitions, /: np.tile(x, repetitions),
    "tril": _triangle("tril"),
    "triu": _triangle("triu"),
    "unstack": lambda x, /, *, axis=0: np.unstack(x, axis=axis),
    "argmax": lambda x, /, *, axis=None, keepdims=False: np.argmax(x, axis, keepdims=keepdims),
    "argmin": lambda x, /, *, axis=None, keepdims=False: np.argmin(x, axis, keepdims=keepdims),
    "count_nonzero": lambda x, /, *, axis=None, keepdims=False: np.sum(np.not_equal(x, 0), axis, keepdims=keepdims),
    "nonzero": lambda x, /: np.nonzero(x),
    "searchsorted": lambda x1, x2, /, *, side="left", sorter=None: np.searchsorted(x1, x2, side, sorter),
    "isin": lambda x1, x2, /, *, invert=False: np.isin(x1, x2, invert=invert),
    "unique_all": lambda x, /: np.unique_all(x),
    "unique_counts": lambda x, /: np.unique_counts(x),
    "unique_inverse": lambda x, /: np.unique_inverse(x),
    "unique_values": lambda x, /: np.unique_values(x),
    "all": lambda x, /, *, axis=None, keepdims=False: np.all(x, axis, keepdims=keepdims),
    "any": lambda x, /, *, axis=None, keepdims=False: np.any(x, axis, keepdims=keepdims),
    "cumulative_prod": lambda x, /, *, axis=None, dtype=None, include_initial=False: np.cumulative_prod(
        x, axis=axis, dtype=dtype, include_initial=include_initial
    ),
    "cumulative_sum": lambda x, /, *, axis=None, dtype=None, include_initial=False: np.cumulative_sum(
        x, axis=axis, dtype=dtype, include_initial=include_initial
    ),
    "max": lambda x, /, *, axis=None, keepdims=False: np.max(x, axis, keepdims=keepdims),
    "mean": lambda x, /, *, axis=None, keepdims=False: np.mean(x, axis, keepdims=keepdims),
    "min": lambda x, /, *, axis=None, keepdims=False: np.min(x, axis, keepdims=keepdims),
    "prod": lambda x, /, *, axis=None, dtype=None, keepdims=False: np.prod(x, axis, dtype=dtype, keepdims=keepdims),
    "std": lambda x, /, *, axis=None, correction=0.0, keepdims=False: np.std(
        x, axis, ddof=correction, keepdims=keepdims
    ),
    "sum": lambda x, /, *, axis=None, dtype=None, keepdims=False: np.sum(x, axis, dtype=dtype, keepdims=keepdims),
    "var": lambda x, /, *, axis=None, correction=0.0, keepdims=False: np.var(
        x, axis, ddof=correction, keepdims=keepdims
    ),
}
"""Name in the standard -> its signature, and NumPy's function."""

FUNCTIONS = (
    astype, concat, diff, stack, take, where, sort, argsort,
    *[elementwise.named(function, name, f"As :func:`numpy.{name}`.") for name, function in _ROWS.items()],
)  # fmt: skip
