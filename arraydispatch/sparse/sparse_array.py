"""``SparseArray``: values on a library, their places on the host."""

from __future__ import annotations

import operator
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from ..api import public
from ..array import Array
from ..backends.base import Backend, Native
from ..backends.devices import Device
from ..common import pytrees
from ..scipy_support import MATRICES
from ..transforms.flattening import is_array
from . import native_products, structure
from .structure import Structure

__all__ = ["SparseArray", "is_sparse"]

Shape = tuple[int, ...]


def is_sparse(x: Any) -> bool:
    """Whether it is a :class:`SparseArray`."""
    return isinstance(x, SparseArray)


class SparseArray:
    """A sparse matrix, or a batch of them with the same places, of an array library.

    Made by :func:`coo_array`, :func:`csr_array`, :func:`csc_array` and by what is done with one. What is stored is in :attr:`data`,
    an array of a library as any other, by which is differentiated; where it is, is known to the program and does not change.

    Attributes
    ----------
    format : {"coo", "csr", "csc"}
        How elements are stored: row by row, of ``"csc"`` column by column; each place once.
    shape : tuple of int
        ``(rows, columns)``, of a batch after the shape of the batch.
    data : Array
        The values, of shape ``(..., nnz)``.
    row, col : ndarray of int
        Where each is.
    indices, indptr : ndarray of int
        As ``scipy.sparse`` has them.

    Notes
    -----
    Operators are those of ``scipy.sparse.csr_array``: ``*`` is by elements and ``@`` the matrix product. A pytree: transforms take it
    as an argument, and a derivative by one is one.
    """

    __array_priority__ = 10.1  # as SciPy's

    def __init__(self, places: Structure, data: Any) -> None:
        if (
            pytrees.tree_flatten(data)[1] is pytrees.LEAF
            and hasattr(data, "shape")
            and data.shape[-1:] != (places.nnz,)
        ):
            raise ValueError(f"{places.nnz} places take data of shape (..., {places.nnz}), not {data.shape}.")
        self._places, self.data = places, data

    # -- what it is ------------------------------------------------------------------------------------------------------

    @property
    def format(self) -> str:
        """``"coo"``, ``"csr"`` or ``"csc"``."""
        return self._places.format

    @property
    def shape(self) -> Shape:
        """The batch's shape, then rows and columns."""
        return (*self.data.shape[:-1], *self._places.shape)

    @property
    def ndim(self) -> int:
        """2, and more of a batch."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the values."""
        return self.data.dtype

    @property
    def nnz(self) -> int:
        """How many places are stored."""
        return self._places.nnz

    size = nnz

    @property
    def row(self) -> np.ndarray[Any, Any]:
        """The row of each value."""
        return self._places.row

    @property
    def col(self) -> np.ndarray[Any, Any]:
        """The column of each value."""
        return self._places.col

    @property
    def indices(self) -> np.ndarray[Any, Any]:
        """The column of each value; of ``"csc"`` the row."""
        return self._places.indices

    @property
    def indptr(self) -> np.ndarray[Any, Any]:
        """Where in the data each row begins; of ``"csc"`` each column."""
        return self._places.indptr

    @property
    def backend(self) -> Backend:
        """The backend that holds the values."""
        return self.data.backend

    @property
    def device(self) -> Device:
        """Where the values are."""
        return self.data.device

    @property
    def native(self) -> Native:
        """The library's own sparse matrix: JAX's ``BCOO``, ``BCSR``, ``CSC``, a sparse tensor of torch's, ``tf.sparse.SparseTensor``, SciPy's.

        Raises
        ------
        TypeError
            If the library has none in this format.
        """
        return native_products.native(self._places, self.data)

    def __repr__(self) -> str:
        what = "x".join(map(str, self.shape))
        return f"<SparseArray {what} {self.dtype} in the format {self.format!r} with {self.nnz} places, on {self.backend.name}>"

    def __array__(self, dtype: Any = None, copy: Any = None) -> NoReturn:
        raise TypeError(
            "a SparseArray is no dense array, and is not made one silently; say toarray(), or to_scipy() where SciPy takes sparse ones."
        )

    def __bool__(self) -> NoReturn:
        raise ValueError("the truth value of a matrix is ambiguous; compare its values.")

    def __eq__(self, other: object) -> Any:
        if other is None or isinstance(other, str):
            return NotImplemented
        raise TypeError(
            "a comparison has a value for what is not stored, too: compare toarray(), or data of equal places."
        )

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __hash__ = None  # type: ignore[assignment]  # as of SciPy's

    def __len__(self) -> NoReturn:
        raise TypeError("the length of a sparse matrix is ambiguous; use its nnz or shape[0].")

    # -- into other forms ------------------------------------------------------------------------------------------------

    def asformat(self, format: str | None, copy: bool = False) -> SparseArray:
        """In another format."""
        if format is None or format == self.format:
            return self.copy() if copy else self
        if format not in structure.FORMATS:
            raise ValueError(f"{format!r} is no format here; there are {', '.join(structure.FORMATS)}.")
        made, order, _ = Structure.sorted(format, self._places.shape, self.row, self.col)
        return SparseArray(made, self.data if order is None else self.data[..., order])

    def tocoo(self) -> SparseArray:
        """In coordinate format."""
        return self.asformat("coo")

    def tocsr(self) -> SparseArray:
        """By rows."""
        return self.asformat("csr")

    def tocsc(self) -> SparseArray:
        """By columns."""
        return self.asformat("csc")

    def toarray(self) -> Any:
        """Dense, as an array of the library that holds the values."""
        out = np.zeros_like(self.data, shape=self.shape)
        out[..., self.row, self.col] = self.data
        return out

    todense = toarray

    def to_scipy(self) -> Any:
        """As a matrix of SciPy's; of a batch TypeError."""
        if self.data.ndim > 1:
            raise TypeError(f"SciPy has no batches of sparse matrices; this is one of shape {self.shape[:-2]}.")
        return self._places.scipy(np.array(public.to_numpy(self.data)))

    def convert(self, target: Any = None) -> SparseArray:
        """With the values on another backend; None: the default."""
        return SparseArray(self._places, public.convert(self.data, target))

    def copy(self) -> SparseArray:
        """With values of its own."""
        return SparseArray(self._places, self.data.copy())

    def astype(self, dtype: Any) -> SparseArray:
        """With values of another dtype."""
        return SparseArray(self._places, self.data.astype(dtype))

    def with_data(self, data: Any) -> SparseArray:
        """The same places with other values, of shape ``(..., nnz)``."""
        return SparseArray(self._places, data if isinstance(data, Array) else public.asarray(data))

    # -- parts and rearrangements ----------------------------------------------------------------------------------------

    def _moved(self, matrix: Any) -> SparseArray:
        """What SciPy made of the places."""
        made, order = self._places.moved(matrix)
        return SparseArray(made, self.data[..., order])

    def transpose(self) -> SparseArray:
        """Rows and columns exchanged, of a batch of each of its matrices; by rows becomes by columns."""
        place = self._places
        format = {"csr": "csc", "csc": "csr"}.get(self.format, "coo")
        made, order, _ = Structure.sorted(format, place.shape[::-1], place.col, place.row)
        return SparseArray(made, self.data if order is None else self.data[..., order])

    @property
    def T(self) -> SparseArray:
        """:meth:`transpose`."""
        return self.transpose()

    @property
    def mT(self) -> SparseArray:
        """:meth:`transpose`."""
        return self.transpose()

    def __getitem__(self, key: Any) -> Any:
        """Rows and columns, as of ``scipy.sparse.csr_array``: a matrix; one element; one row or column, dense."""
        if self.data.ndim > 1:
            raise IndexError("a batch of sparse matrices is not indexed; index the data, or use toarray().")
        found = (self._places.places if self.format != "coo" else self._places.places.tocsr())[key]
        if np.ndim(found) == 2:
            return self._moved(found)
        if np.ndim(found) == 0:
            return self.data[int(found) - 1] if found else self.data.dtype.type(0)
        coo = found.tocoo()
        out = np.zeros_like(self.data, shape=found.shape)
        out[coo.coords[0]] = self.data[coo.data - 1]
        return out

    def diagonal(self, k: int = 0) -> Any:
        """A diagonal, dense."""
        rows, columns = self._places.shape
        there = np.flatnonzero(self.col - self.row == k)
        count = max(min(rows + min(k, 0), columns - max(k, 0)), 0)
        out = np.zeros_like(self.data, shape=(*self.data.shape[:-1], count))
        out[..., self.row[there] + min(k, 0)] = self.data[..., there]
        return out

    def trace(self) -> Any:
        """The sum of the diagonal."""
        return self.diagonal().sum(axis=-1)

    def sum(self, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
        """The sum of all elements, or dense along an axis; of a batch its own axes are not summed."""
        if out is not None:
            raise ValueError("sums of a sparse matrix are new arrays: there is no out=.")
        if dtype is not None:
            return self.astype(dtype).sum(axis).astype(dtype)
        if axis is None:
            return self.data.sum(axis=-1)
        axis = operator.index(axis)
        if not -2 <= axis < 2:
            raise ValueError(f"a sparse matrix has the axes 0 and 1, not {axis}.")
        kept, size = (self.col, self._places.shape[1]) if axis % 2 == 0 else (self.row, self._places.shape[0])
        wide = np.sum(np.empty(0, self.dtype)).dtype if self.dtype.kind in "biu" else self.dtype
        return native_products.summed(self.data.astype(wide, copy=False), kept, size)

    def mean(self, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
        """The mean of all elements, or dense along an axis."""
        rows, columns = self._places.shape
        return self.sum(axis, dtype, out) / (rows * columns if axis is None else (rows, columns)[axis])

    # -- arithmetic ------------------------------------------------------------------------------------------------------

    def _with(self, data: Any) -> SparseArray:
        return SparseArray(self._places, data)

    def __neg__(self) -> SparseArray:
        return self._with(-self.data)

    def __abs__(self) -> SparseArray:
        return self._with(abs(self.data))

    def conj(self) -> SparseArray:
        """Complex conjugates."""
        return self._with(np.conj(self.data))

    @property
    def real(self) -> SparseArray:
        """Real parts."""
        return self._with(np.real(self.data))

    @property
    def imag(self) -> SparseArray:
        """Imaginary parts."""
        return self._with(np.imag(self.data))

    def power(self, n: float) -> SparseArray:
        """By elements; ``n`` is positive, so that what is not stored stays 0."""
        if not n > 0:
            raise ValueError(f"power {n} of what is not stored is not 0; use toarray().")
        return self._with(self.data**n)

    def __pow__(self, n: Any) -> Any:
        return self.power(n)

    def __add__(self, other: Any) -> Any:
        return self._sum(other, np.add)

    def __radd__(self, other: Any) -> Any:
        return self._sum(other, np.add)

    def __sub__(self, other: Any) -> Any:
        return self._sum(other, np.subtract)

    def __rsub__(self, other: Any) -> Any:
        return (-self)._sum(other, np.add)

    def _sum(self, other: Any, ufunc: np.ufunc) -> Any:
        other = operand(other, self.data)
        if other is NotImplemented:
            return other
        if isinstance(other, SparseArray):
            self._check_shape(other)
            made, to = structure.union(self._places, other._places)
            a, b = together(self.data, ufunc(np.zeros_like(other.data, shape=()), other.data))
            batch = np.broadcast_shapes(a.shape[:-1], b.shape[:-1])
            a, b = (np.broadcast_to(x, (*batch, x.shape[-1])) for x in (a, b))
            return SparseArray(made, native_products.summed(np.concatenate([a, b], axis=-1), to, made.nnz))
        if np.ndim(other) == 0:
            if not is_array(other) and other == 0:
                return self.copy()
            raise NotImplementedError("adding a nonzero scalar to a sparse array is not supported; use toarray().")
        return ufunc(self.toarray(), other)

    def _check_shape(self, other: SparseArray) -> None:
        if self._places.shape != other._places.shape:
            raise ValueError(f"inconsistent shapes: {self.shape} and {other.shape}.")

    def multiply(self, other: Any) -> Any:
        """By elements, with a number, a dense array or a sparse one: sparse."""
        made = self * other
        if made is NotImplemented:
            raise TypeError(f"a sparse matrix is not multiplied with a {type(other).__name__}.")
        return made

    def __mul__(self, other: Any) -> Any:
        other = operand(other, self.data)
        if isinstance(other, SparseArray):
            self._check_shape(other)
            made, first, second = structure.common(self._places, other._places)
            return SparseArray(made, self.data[..., first] * other.data[..., second])
        return self._scaled(other, np.multiply)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        other = operand(other, self.data)
        if isinstance(other, SparseArray):
            return self.toarray() / other.toarray()
        return self._scaled(other, np.true_divide)

    def _scaled(self, other: Any, ufunc: np.ufunc) -> Any:
        if other is NotImplemented:
            return other
        if np.ndim(other) == 0:
            return self._with(ufunc(self.data, other))
        try:
            fits = np.broadcast_shapes(np.shape(other)[-2:], self._places.shape) == self._places.shape
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"inconsistent shapes: {self.shape} and {np.shape(other)}.")
        other = np.broadcast_to(other, (*np.shape(other)[:-2], *self._places.shape))
        return self._with(ufunc(self.data, other[..., self.row, self.col]))

    # -- products --------------------------------------------------------------------------------------------------------

    def __matmul__(self, other: Any) -> Any:
        other = operand(other, self.data)
        if other is NotImplemented:
            return other
        if isinstance(other, SparseArray):
            self._check_product(self._places.shape, other._places.shape)
            made, first, second, to = structure.product(self._places, other.tocsr()._places)
            a, b = self.data, other.tocsr().data
            return SparseArray(made, native_products.summed(a[..., first] * b[..., second], to, made.nnz))
        if np.ndim(other) == 0:
            raise ValueError("a scalar is no operand of @; use * instead.")
        rows = np.shape(other)[-1 if np.ndim(other) == 1 else -2]
        self._check_product(self._places.shape, (rows,))
        return native_products.matmul(self._places, *together(self.data, other))

    def __rmatmul__(self, other: Any) -> Any:
        other = operand(other, self.data)
        if other is NotImplemented:
            return other
        if isinstance(other, SparseArray):
            return other @ self
        if np.ndim(other) == 0:
            raise ValueError("a scalar is no operand of @; use * instead.")
        if np.ndim(other) == 1:
            return self.transpose() @ other
        return np.swapaxes(self.transpose() @ np.swapaxes(other, -1, -2), -1, -2)

    @staticmethod
    def _check_product(a: Shape, b: Shape) -> None:
        if a[1] != b[0]:
            raise ValueError(f"matmul: dimension mismatch of {a} and {b}.")

    def dot(self, other: Any) -> Any:
        """``self @ other``, of a number ``self * other``."""
        return self * other if np.ndim(other) == 0 and not isinstance(other, SparseArray) else self @ other

    def matvec(self, x: Any) -> Any:
        """``self @ x``: what ``scipy.sparse.linalg`` asks of a linear operator."""
        return self @ x

    def rmatvec(self, x: Any) -> Any:
        """The product of the conjugate transpose."""
        return self.transpose().conj() @ x

    matmat, rmatmat = matvec, rmatvec

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return MATRICES[SparseArray](func, args, kwargs, self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            return NotImplemented
        forward, backward = _OPERATORS.get(ufunc.__name__, ("", ""))
        if forward and len(inputs) == 2:
            a, b = inputs
            if isinstance(a, SparseArray):
                return getattr(a, forward)(b)
            return getattr(b, backward)(a) if backward else NotImplemented
        if ufunc.nin == ufunc.nout == 1 and _keeps_zero(ufunc, self.dtype):
            return self._with(ufunc(self.data))
        return NotImplemented


_OPERATORS = {
    "add": ("__add__", "__radd__"),
    "subtract": ("__sub__", "__rsub__"),
    "multiply": ("__mul__", "__rmul__"),
    "matmul": ("__matmul__", "__rmatmul__"),
    "divide": ("__truediv__", ""),
}
"""Name of a ufunc -> the methods that do it, if the matrix is the first operand or the second."""


def _keeps_zero(ufunc: np.ufunc, dtype: np.dtype[Any]) -> bool:
    with np.errstate(all="ignore"):
        return not ufunc(dtype.type(0))


def operand(x: Any, like: Any) -> Any:
    """The other operand: sparse, an array, a number; NotImplemented for anything else."""
    if isinstance(x, SparseArray) or is_array(x) or isinstance(x, int | float | complex):
        return x
    if sp.issparse(x):
        coo = x.tocoo()
        made, order, number = Structure.sorted(
            x.format if x.format in structure.FORMATS else "csr", x.shape, *coo.coords
        )
        data = coo.data if order is None else coo.data[order]
        if number is not None:
            data = np.bincount(number, data, made.nnz) if data.dtype.kind == "f" else _added(data, number, made.nnz)
        return SparseArray(made, public.asarray(data, backend=like.backend))
    if isinstance(x, list | tuple):
        return np.asarray(x)
    return NotImplemented


def _added(data: Any, number: Any, count: int) -> Any:
    out = np.zeros(count, data.dtype)
    np.add.at(out, number, data)
    return out


def together(a: Any, b: Any) -> tuple[Any, Any]:
    """Two arrays in the dtype of both, on the backend of either."""
    dtype = np.result_type(a, b)
    b = b if isinstance(b, Array) else public.asarray(b, backend=a.backend)
    if a.backend is not b.backend and a.backend.native_is_ndarray:
        a = public.convert(a, b.backend)
    elif a.backend is not b.backend and b.backend.native_is_ndarray:
        b = public.convert(b, a.backend)
    return a.astype(dtype, copy=False), b.astype(dtype, copy=False)


pytrees.register(SparseArray, lambda x: ([x.data], x._places), lambda places, children: _rebuilt(places, children[0]))


def _rebuilt(places: Structure, data: Any) -> SparseArray:
    """Around any object: transforms put marks in the place of arrays."""
    made = object.__new__(SparseArray)
    made._places, made.data = places, data
    return made
