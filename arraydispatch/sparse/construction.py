"""Construction of sparse matrices."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..api import public
from ..array import Array
from ..backends import loader
from ..transforms.flattening import is_array
from . import native_products
from .sparse_array import SparseArray, operand, together
from .structure import FORMATS, Structure, union

Given = Any
Shape = tuple[int, int]


def coo_array(obj: Given, shape: Shape | None = None, *, dtype: Any = None, backend: Any = None) -> SparseArray:
    """Create a sparse matrix in coordinate format.

    Parameters
    ----------
    obj : object
        A :class:`SparseArray`, a sparse matrix of SciPy or of a library, a dense array; ``(data, (row, col))``; or
        ``(rows, columns)`` for a matrix without elements. ``data`` may have leading batch axes. Values for the same
        position are summed.
    shape : tuple of int, optional
        Rows and columns; by default the smallest shape for the indices.
    dtype : dtype_like, optional
        Dtype of the values.
    backend : str, Backend or module, optional
        Backend of the values; by default arrays stay on their backend and other values go to the default one.

    Returns
    -------
    SparseArray

    Raises
    ------
    ValueError
        If an index is outside of the shape, or lengths do not match.
    TypeError
        If ``obj`` is none of these.
    """
    return _made("coo", obj, shape, dtype, backend)


def csr_array(obj: Given, shape: Shape | None = None, *, dtype: Any = None, backend: Any = None) -> SparseArray:
    """Create a sparse matrix in compressed row format: as :func:`coo_array`, and from ``(data, indices, indptr)``."""
    return _made("csr", obj, shape, dtype, backend)


def csc_array(obj: Given, shape: Shape | None = None, *, dtype: Any = None, backend: Any = None) -> SparseArray:
    """Create a sparse matrix in compressed column format; see :func:`csr_array`."""
    return _made("csc", obj, shape, dtype, backend)


def from_scipy(matrix: Any, backend: Any = None) -> SparseArray:
    """Create a sparse matrix from one of SciPy's, in its format (``"csr"`` for formats that are not supported here).

    Parameters
    ----------
    matrix : scipy.sparse array or matrix
        The matrix to convert.
    backend : str, Backend or module, optional
        Backend of the values; the default backend, if not given.

    Returns
    -------
    SparseArray
    """
    if not sp.issparse(matrix):
        raise TypeError(f"a {type(matrix).__name__} is not a SciPy sparse matrix.")
    return _made(matrix.format if matrix.format in FORMATS else "csr", matrix, None, None, backend)


def from_native(matrix: Any) -> SparseArray:
    """Create a sparse matrix from one of a library's own type, in its format, without moving its values.

    Raises
    ------
    TypeError
        If it is not a sparse type of a loaded library.
    """
    found = _parts(matrix)
    if found is None:
        if sp.issparse(matrix):
            return from_scipy(matrix, "numpy")
        raise TypeError(f"a {type(matrix).__name__} is not a sparse matrix of a loaded library.")
    return _of(*found)


def _parts(matrix: Any) -> tuple[str, Shape, Any, Any, Array] | None:
    for name, row in loader.KNOWN.items():
        if row.library in sys.modules:
            backend = loader.load(name)
            with backend.within():
                found = backend.sparse.parts(matrix)
            if found is not None:
                format, shape, rows, columns, values = found
                return format, tuple(shape), rows, columns, public.wrap(values)
    return None


def _of(format: str, shape: Shape, row: Any, col: Any, data: Any) -> SparseArray:
    """Create a matrix from values and their positions, in any order; sum values with the same position."""
    if data.ndim == 0 or data.shape[-1] != len(row):
        raise ValueError(f"data of shape {data.shape} do not fit {len(row)} places.")
    made, order, number = Structure.sorted(format, shape, row, col)
    if order is not None:
        data = data[..., order]
    return SparseArray(made, data if number is None else native_products.summed(data, number, made.nnz))


def _made(format: str, obj: Any, shape: Any, dtype: Any, backend: Any) -> SparseArray:
    made = _from(format, obj, shape, backend).asformat(format)
    if dtype is not None and made.dtype != np.dtype(dtype):
        made = made.astype(dtype)
    return made if backend is None else made.convert(backend)


def _from(format: str, obj: Any, shape: Any, backend: Any) -> SparseArray:
    if isinstance(obj, SparseArray):
        return obj
    if sp.issparse(obj):
        coo = obj.tocoo()
        row, col = coo.coords
        return _of(format, coo.shape, row, col, _values(coo.data, backend))
    if isinstance(obj, tuple):
        return _from_tuple(format, obj, shape, backend)
    found = _parts(obj)
    if found is not None:
        return _of(*found)
    dense = (
        obj
        if isinstance(obj, Array)
        else public.wrap(obj)
        if is_array(obj) and not isinstance(obj, np.ndarray)
        else np.asarray(obj)
    )
    if dense.ndim != 2 or dense.dtype == object:
        raise TypeError(f"no sparse matrix is made of an {type(obj).__name__} of {dense.ndim} dimensions.")
    row, col = (np.asarray(x) for x in np.nonzero(dense))
    return _of(format, (dense.shape[0], dense.shape[1]), row, col, _values(dense[row, col], backend))


def _values(data: Any, backend: Any) -> Array:
    return data if isinstance(data, Array) else public.asarray(data, backend=backend)


def _from_tuple(format: str, obj: tuple[Any, ...], shape: Any, backend: Any) -> SparseArray:
    if len(obj) == 2 and all(isinstance(n, int | np.integer) for n in obj):
        return _of(
            format, (int(obj[0]), int(obj[1])), np.zeros(0, int), np.zeros(0, int), _values(np.zeros(0), backend)
        )
    if len(obj) == 2 and isinstance(obj[1], tuple) and len(obj[1]) == 2:
        row, col = (np.asarray(x) for x in obj[1])
    elif len(obj) == 3 and format != "coo":
        indices, starts = np.asarray(obj[1]), np.asarray(obj[2])
        if starts.ndim != 1 or (np.diff(starts) < 0).any() or starts[0] != 0 or starts[-1] != len(indices):
            raise ValueError("indptr must begin with 0, never decrease, and end with the number of indices.")
        along = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        row, col = (along, indices) if format == "csr" else (indices, along)
        if shape is None:
            other = int(indices.max(initial=-1)) + 1
            shape = (len(starts) - 1, other) if format == "csr" else (other, len(starts) - 1)
        elif len(starts) != shape[format == "csc"] + 1:
            raise ValueError(f"indptr has {len(starts)} entries for a matrix of shape {tuple(shape)}.")
    else:
        raise TypeError(
            "a tuple is (data, (row, col)), (rows, columns) or, by rows or columns, (data, indices, indptr)."
        )
    if shape is None:
        shape = (int(row.max(initial=-1)) + 1, int(col.max(initial=-1)) + 1)
    return _of(format, (int(shape[0]), int(shape[1])), row, col, _values(obj[0], backend))


# -- special and composed matrices -----------------------------------------------------------------------------------


def eye_array(
    m: int, n: int | None = None, *, k: int = 0, dtype: Any = float, format: str = "csr", backend: Any = None
) -> SparseArray:
    """Create a matrix with ones on a diagonal, as ``scipy.sparse.eye_array``."""
    return _made(format, sp.eye_array(m, n, k=k, dtype=dtype), None, None, backend)


def diags_array(
    diagonals: Sequence[Any], *, offsets: Any = 0, shape: Shape | None = None, format: str = "csr"
) -> SparseArray:
    """Create a matrix from diagonals, as ``scipy.sparse.diags_array``; it is differentiable with respect to them.

    Parameters
    ----------
    diagonals : sequence of array_like
        Each of the length of its diagonal, or of one element.
    offsets : int or sequence of int
        Numbers of the diagonals: 0 is the main one, positive ones are above it.
    shape : tuple of int, optional
        By default a square matrix for the first diagonal.
    format : {"csr", "csc", "coo"}
        Format of the matrix.

    Returns
    -------
    SparseArray

    Raises
    ------
    ValueError
        As SciPy's function.
    """
    given = [diagonals] if np.ndim(offsets) == 0 and np.ndim(diagonals[0]) == 0 else diagonals
    values = [_values(x, None) for x in given]
    ends = np.cumsum([1, *map(len, values)])  # the elements are numbered from 1, because SciPy drops zeros
    numbers = [np.arange(start, end) for start, end in pairwise(ends)]
    made = sp.diags_array(numbers, offsets=np.atleast_1d(offsets), shape=shape, dtype=np.int64).tocoo()
    return _of(format, made.shape, made.row, made.col, np.concatenate(values)[made.data - 1])


def _several(blocks: Sequence[Any]) -> list[SparseArray]:
    first = next((x.data for x in blocks if isinstance(x, SparseArray)), None)
    made = []
    for x in blocks:
        found = _made("coo", x, None, None, None) if first is None else operand(x, first)
        made.append(found if isinstance(found, SparseArray) else _made("coo", x, None, None, None))
    return made


def _joined(blocks: Sequence[Any], format: str | None, join: Any) -> SparseArray:
    """Join matrices with a SciPy function, by applying it to matrices that hold the numbers of the elements in place of values."""
    found = _several(blocks)
    if not found:
        raise ValueError("at least one matrix is needed to join.")
    data, numbered = found[0].data[..., :0], []
    for x in found:
        numbers = np.arange(data.shape[-1], data.shape[-1] + x.nnz)
        numbered.append(sp.coo_array((numbers, (x.row, x.col)), x._places.shape))
        data = np.concatenate(together(data, x.data), axis=-1)
    made = join(numbered, format="coo")
    return _of(format or found[0].format, made.shape, made.row, made.col, data[..., made.data])


def vstack(blocks: Sequence[Any], format: str | None = None) -> SparseArray:
    """Stack matrices vertically, as ``scipy.sparse.vstack``."""
    return _joined(blocks, format, sp.vstack)


def hstack(blocks: Sequence[Any], format: str | None = None) -> SparseArray:
    """Stack matrices horizontally, as ``scipy.sparse.hstack``."""
    return _joined(blocks, format, sp.hstack)


def block_diag(mats: Sequence[Any], format: str | None = None) -> SparseArray:
    """Place matrices along the diagonal, as ``scipy.sparse.block_diag``."""
    return _joined(mats, format, sp.block_diag)


def stack(matrices: Sequence[Any], format: str | None = None) -> SparseArray:
    """Create a batch of matrices of one shape; each stores the union of all positions.

    Parameters
    ----------
    matrices : sequence
        :class:`SparseArray` objects, or objects that :func:`coo_array` takes.
    format : {"coo", "csr", "csc"}, optional
        Format of the batch; that of the first matrix by default.

    Returns
    -------
    SparseArray
        Of shape ``(len(matrices), rows, columns)``.

    Raises
    ------
    ValueError
        If there are no matrices, or they differ in shape.
    """
    found = _several(matrices)
    if not found or len({x.shape for x in found}) > 1:
        raise ValueError(f"the matrices of a batch must have one shape, not {[x.shape for x in found]}.")
    places, to = union(format or found[0].format, *[x._places for x in found])
    starts = np.cumsum([0, *(x.nnz for x in found)])
    data = []
    for x, start in zip(found, starts):
        line = np.zeros_like(x.data, shape=(places.nnz,))
        line[to[start : start + x.nnz]] = x.data
        data.append(line)
    return SparseArray(places, np.stack(data))
