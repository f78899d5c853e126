"""``matrix_from_function``: the sparse matrix of a function that is linear, or affine, in its arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...backends import loader
from ...backends.base import Backend
from ...common.errors import TraceError
from ...common.pytrees import tree_flatten, tree_unflatten
from ...transforms.flattening import is_array, name_of
from ..construction import from_scipy
from . import compositions, functions, numerics  # noqa: F401 -- each registers the functions that it follows
from .affine import Affine, Run, Store


def matrix_from_function(f: Callable[..., Any], *args: Any, batch_dims: int = 0, **constants: Any) -> tuple[Any, Any]:
    """Return the matrix and the bias of a function that is linear, or affine, in its positional arguments.

    Parameters
    ----------
    f : callable
        Function of arrays, in pytrees, that returns one array. It uses plain ``np.`` calls: sums, differences, scaling and matrix
        products with constants, slices and other functions that move elements, sums and means.
    *args : pytree
        Arrays; only their shapes and dtypes matter. Their elements, one argument after another, are the columns of the matrix.
    batch_dims : int
        Number of leading axes of all arguments and of the result that are batch axes; each example has a matrix.
    **constants
        Passed to ``f`` unchanged.

    Returns
    -------
    matrix : scipy.sparse.csr_array or SparseArray
        Of shape ``(result.size, number of elements of args)``: ``matrix @ x.ravel() + bias`` is ``f(x).ravel()``. It is a
        ``scipy.sparse.csr_array``, or an :class:`arraydispatch.sparse.SparseArray` if a library's arrays are among the
        coefficients. With ``batch_dims`` it is an ndarray of such matrices, of the shape of the batch axes.
    bias : ndarray
        Array of shape ``(result.size,)``; with ``batch_dims`` of the shape of the batch axes and the size of one example's result.

    Raises
    ------
    TraceError
        If ``f`` applies a nonlinear operation to its arguments (the message names the line), writes them to a NumPy array, or
        mixes examples.
    TypeError
        If an argument is not an array, or the result is not a single array.
    ValueError
        If the leading axes of the arguments or the result do not agree with ``batch_dims``.

    Notes
    -----
    NumPy is the default backend while ``f`` runs: new arrays created inside are NumPy constants, so the matrix belongs to a
    library only if arrays of that library come from outside.
    """
    leaves, structure = tree_flatten(args)
    for x in leaves:
        if not is_array(x) and not isinstance(x, int | float | complex):
            raise TypeError(
                f"ad.matrix_from_function needs arrays for the arguments of {name_of(f)}; one is a {type(x).__name__}."
            )
    shapes = [np.shape(x) for x in leaves]
    batch = _batch_shape(shapes, batch_dims, f)
    sizes = [math.prod(shape) for shape in shapes]
    kinds = [np.result_type(getattr(x, "dtype", type(x)), np.float16) for x in leaves]
    trace = Run(f, sum(sizes), all(kind.kind != "c" for kind in kinds))
    inputs, start = [], 0
    for shape, size, kind in zip(shapes, sizes, kinds):
        rows = sp.csr_array(
            (np.ones(size, kind), (np.arange(size), np.arange(start, start + size))), shape=(size, trace.columns)
        )
        inputs.append(Affine(Store(rows, np.zeros(size, kind), trace), np.arange(size).reshape(shape)))
        start += size
    with loader.load("numpy"):
        made = f(*tree_unflatten(structure, inputs), **constants)
    if not isinstance(made, Affine):
        if not is_array(made) and not isinstance(made, int | float | complex):
            raise TypeError(
                f"{name_of(f)} must return one array for ad.matrix_from_function; it returned a {type(made).__name__}."
            )
        values = trace.constant(made)
        store = Store(sp.csr_array((values.size, trace.columns)), values.ravel(), trace)
        made = Affine(store, np.arange(values.size).reshape(values.shape))
    matrix = made.rows()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    if not batch_dims:
        return _sparse(matrix, trace.held), made.bias()
    if made.shape[:batch_dims] != batch:
        raise ValueError(
            f"{name_of(f)} returns an array of shape {made.shape} for {batch_dims} axes of examples, {batch}, of its arguments."
        )
    found = np.empty(math.prod(batch), object)
    for k, one in enumerate(_one_by_one(matrix, len(found), sizes, f)):
        found[k] = _sparse(one, trace.held)
    return found.reshape(batch), made.bias().reshape((*batch, -1))


def _sparse(matrix: Any, held: Backend | None) -> Any:
    """Return a SciPy matrix unchanged or, if a library held coefficients (``held``), as a sparse array of that library."""
    if held is None:
        return matrix
    return from_scipy(matrix, held)


def _batch_shape(shapes: list[tuple[int, ...]], batch_dims: int, f: Any) -> tuple[int, ...]:
    """Return the shape of the leading batch axes, which all arguments must share; raise ValueError if they do not."""
    found = {shape[:batch_dims] for shape in shapes}
    if batch_dims and (len(found) != 1 or len(min(found)) < batch_dims):
        raise ValueError(
            f"ad.matrix_from_function with batch_dims={batch_dims} needs arguments of {name_of(f)} with the same {batch_dims} leading "
            f"axes; their shapes are {', '.join(map(str, shapes))}."
        )
    return found.pop() if batch_dims else ()


def _one_by_one(matrix: Any, count: int, sizes: list[int], f: Any) -> Iterator[Any]:
    """Yield the matrix of each example from the joint one, and check that no row of an example uses a column of another."""
    lengths = [size // count if count else 0 for size in sizes]
    starts = np.cumsum([0, *lengths])
    whose = np.concatenate([np.repeat(np.arange(count), n) for n in lengths])
    place = np.concatenate([np.tile(np.arange(start, start + n), count) for start, n in zip(starts, lengths)])
    height = matrix.shape[0] // count if count else 0
    for k in range(count):
        rows = matrix[k * height : (k + 1) * height]
        if np.any(whose[rows.indices] != k):
            raise TraceError(
                f"{name_of(f)} mixes examples, which ad.matrix_from_function with batch_dims= keeps apart: result {k} depends on example "
                f"{whose[rows.indices][whose[rows.indices] != k][0]}."
            )
        yield sp.csr_array((rows.data, place[rows.indices], rows.indptr), shape=(height, int(starts[-1])))
