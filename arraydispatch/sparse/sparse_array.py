"""``SparseArray``: values in a library, their positions on the host."""

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
from ..common.members import OPERATORS, reflected_name
from ..scipy_support import MATRICES
from ..transforms.flattening import is_array
from . import native_products, structure
from .structure import Structure

Shape = tuple[int, ...]


def is_sparse(x: Any) -> bool:
    """Whether an object is a :class:`SparseArray`."""
    return isinstance(x, SparseArray)


class SparseArray:
    """Sparse matrix of an array library, or a batch of them with the same positions.

    Created by :func:`coo_array`, :func:`csr_array`, :func:`csc_array` and by operations on other sparse arrays. The stored values
    are in :attr:`data`, an ordinary array of a library; derivatives are taken with respect to it. Their positions are always concrete
    and do not change.

    Attributes
    ----------
    format : {"coo", "csr", "csc"}
        Order of the elements: row by row, for ``"csc"`` column by column; each position occurs once.
    shape : tuple of int
        ``(rows, columns)``, for a batch after the shape of the batch.
    data : Array
        The values, of shape ``(..., nnz)``.
    row, col : ndarray of int
        Position of each value.
    indices, indptr : ndarray of int
        As in ``scipy.sparse``.

    Notes
    -----
    Operators are those of ``scipy.sparse.csr_array``: ``*`` is elementwise and ``@`` the matrix product. A sparse array is a
    pytree: transforms take it as an argument, and a derivative with respect to it is a sparse array.
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

    # -- attributes --------------------------------------------------------------------------------------------------

    @property
    def format(self) -> str:
        """Storage format: ``"coo"``, ``"csr"`` or ``"csc"``."""
        return self._places.format

    @property
    def shape(self) -> Shape:
        """The batch's shape, then rows and columns."""
        return (*self.data.shape[:-1], *self._places.shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions: 2, and more for a batch."""
        return len(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Dtype of the values."""
        return self.data.dtype

    @property
    def nnz(self) -> int:
        """Number of stored positions."""
        return self._places.nnz

    size = nnz

    @property
    def row(self) -> np.ndarray[Any, Any]:
        """Row of each value."""
        return self._places.row

    @property
    def col(self) -> np.ndarray[Any, Any]:
        """Column of each value."""
        return self._places.col

    @property
    def indices(self) -> np.ndarray[Any, Any]:
        """Column of each value; for ``"csc"`` its row."""
        return self._places.indices

    @property
    def indptr(self) -> np.ndarray[Any, Any]:
        """Index into the data at which each row begins; for ``"csc"`` each column."""
        return self._places.indptr

    @property
    def backend(self) -> Backend:
        """Backend that holds the values."""
        return self.data.backend

    @property
    def device(self) -> Device:
        """Device of the values."""
        return self.data.device

    @property
    def native(self) -> Native:
        """Return the library's sparse matrix: JAX's ``BCOO``, ``BCSR``, ``CSC``, a torch sparse tensor,
        ``tf.sparse.SparseTensor``, SciPy's.

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
            "a SparseArray is not converted to a dense array implicitly; call toarray(), or to_scipy() for SciPy functions that take sparse matrices."
        )

    def __bool__(self) -> NoReturn:
        raise ValueError("the truth value of a matrix is ambiguous; compare its values.")

    def __eq__(self, other: object) -> Any:
        if other is None or isinstance(other, str):
            return NotImplemented
        raise TypeError(
            "sparse matrices are not compared, because elements that are not stored would have a result too: compare toarray(), or data with equal positions."
        )

    __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __eq__
    __hash__ = None  # type: ignore[assignment]  # as SciPy's

    def __len__(self) -> NoReturn:
        raise TypeError("the length of a sparse matrix is ambiguous; use its nnz or shape[0].")

    # -- conversions -----------------------------------------------------------------------------------------------------

    def asformat(self, format: str | None, copy: bool = False) -> SparseArray:
        """Convert to another format."""
        if format is None or format == self.format:
            return self.copy() if copy else self
        if format not in structure.FORMATS:
            raise ValueError(f"unknown format {format!r}; choose one of: {', '.join(structure.FORMATS)}.")
        made, order, _ = Structure.sorted(format, self._places.shape, self.row, self.col)
        return SparseArray(made, self.data if order is None else self.data[..., order])

    def tocoo(self) -> SparseArray:
        """Convert to coordinate format."""
        return self.asformat("coo")

    def tocsr(self) -> SparseArray:
        """Convert to compressed row format."""
        return self.asformat("csr")

    def tocsc(self) -> SparseArray:
        """Convert to compressed column format."""
        return self.asformat("csc")

    def toarray(self) -> Any:
        """Return a dense array of the library that holds the values."""
        out = np.zeros_like(self.data, shape=self.shape)
        out[..., self.row, self.col] = self.data
        return out

    todense = toarray

    def to_scipy(self) -> Any:
        """Return a SciPy matrix; raise TypeError for a batch."""
        if self.data.ndim > 1:
            raise TypeError(f"SciPy has no batches of sparse matrices; this is one of shape {self.shape[:-2]}.")
        return self._places.scipy(np.array(public.to_numpy(self.data)))

    def convert(self, target: Any = None) -> SparseArray:
        """Move the values to another backend; None stands for the default backend."""
        return SparseArray(self._places, public.convert(self.data, target))

    def copy(self) -> SparseArray:
        """Return a copy with its own values."""
        return SparseArray(self._places, self.data.copy())

    def astype(self, dtype: Any) -> SparseArray:
        """Cast the values to another dtype."""
        return SparseArray(self._places, self.data.astype(dtype))

    def with_data(self, data: Any) -> SparseArray:
        """Return a matrix with the same positions and other values, of shape ``(..., nnz)``."""
        return SparseArray(self._places, data if isinstance(data, Array) else public.asarray(data))

    # -- parts and rearrangements ----------------------------------------------------------------------------------------

    def _moved(self, matrix: Any) -> SparseArray:
        """Return the matrix that SciPy's operation on the positions describes."""
        made, order = self._places.moved(matrix)
        return SparseArray(made, self.data[..., order])

    def transpose(self) -> SparseArray:
        """Exchange rows and columns, in a batch those of each matrix; row format becomes column format."""
        place = self._places
        format = {"csr": "csc", "csc": "csr"}.get(self.format, "coo")
        made, order, _ = Structure.sorted(format, place.shape[::-1], place.col, place.row)
        return SparseArray(made, self.data if order is None else self.data[..., order])

    @property
    def T(self) -> SparseArray:
        """Transposed matrix, as :meth:`transpose`."""
        return self.transpose()

    mT = T  # noqa: N815 -- its name in the standard

    def __getitem__(self, key: Any) -> Any:
        """Index rows and columns as ``scipy.sparse.csr_array`` does; return a matrix, one element, or one row or column (dense)."""
        if self.data.ndim > 1:
            raise IndexError("a batch of sparse matrices cannot be indexed; index the data, or use toarray().")
        found = (self._places.places if self.format != "coo" else self._places.places.tocsr())[key]
        if np.ndim(found) == 2:
            return self._moved(found)
        if np.ndim(found) == 0:
            return self.data[int(found) - 1] if found else self.data.dtype.type(0)
        return self._line(found.toarray())

    def _line(self, numbers: np.ndarray[Any, Any]) -> Any:
        """Return the values of a row or column of the matrix, 0 where it has none. ``numbers``: for each element 1 + the index of its
        value, or 0.
        """
        there = np.flatnonzero(numbers)
        out = np.zeros_like(self.data, shape=(*self.data.shape[:-1], len(numbers)))
        out[..., there] = self.data[..., numbers[there] - 1]
        return out

    def diagonal(self, k: int = 0) -> Any:
        """Return a diagonal, dense."""
        return self._line(self._places.places.diagonal(k))

    def trace(self) -> Any:
        """Return the sum of the diagonal."""
        return self.diagonal().sum(axis=-1)

    def sum(self, axis: int | None = None, dtype: Any = None, out: None = None) -> Any:
        """Return the sum of all elements, or along an axis, dense; the axes of a batch are not summed."""
        if out is not None:
            raise ValueError("sums of a sparse matrix do not support out=.")
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
        """Return the mean of all elements, or along an axis, dense."""
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
        """Return the complex conjugate."""
        return self._with(np.conj(self.data))

    @property
    def real(self) -> SparseArray:
        """Real part."""
        return self._with(np.real(self.data))

    @property
    def imag(self) -> SparseArray:
        """Imaginary part."""
        return self._with(np.imag(self.data))

    def power(self, n: float) -> SparseArray:
        """Raise to a power elementwise; ``n`` is positive, so that elements that are not stored stay 0."""
        if not n > 0:
            raise ValueError(f"power {n} of the elements that are not stored is not 0; use toarray().")
        return self._with(self.data**n)

    __pow__ = power

    def __add__(self, other: Any) -> Any:
        return self._sum(other, np.add)

    __radd__ = __add__

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
            made, to = structure.union(self.format, self._places, other._places)
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
        """Multiply elementwise by a number, a dense array or a sparse one; the result is sparse."""
        made = self * other
        if made is NotImplemented:
            raise TypeError(f"a sparse matrix cannot be multiplied by a {type(other).__name__}.")
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
            raise ValueError("a scalar is not an operand of @; use * instead.")
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
            raise ValueError("a scalar is not an operand of @; use * instead.")
        if np.ndim(other) == 1:
            return self.transpose() @ other
        return np.swapaxes(self.transpose() @ np.swapaxes(other, -1, -2), -1, -2)

    @staticmethod
    def _check_product(a: Shape, b: Shape) -> None:
        if a[1] != b[0]:
            raise ValueError(f"matmul: dimension mismatch of {a} and {b}.")

    def dot(self, other: Any) -> Any:
        """Return ``self @ other``, for a number ``self * other``."""
        return self * other if np.ndim(other) == 0 and not isinstance(other, SparseArray) else self @ other

    def matvec(self, x: Any) -> Any:
        """Return ``self @ x``; ``scipy.sparse.linalg`` calls it on linear operators."""
        return self @ x

    def rmatvec(self, x: Any) -> Any:
        """Return the product of the conjugate transpose with ``x``."""
        return self.transpose().conj() @ x

    matmat, rmatmat = matvec, rmatvec

    def __array_function__(self, func: Any, types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return MATRICES[SparseArray](func, args, kwargs, self)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs:
            return NotImplemented
        row = OPERATORS.get(ufunc)
        if row is not None and row.form == "binary":
            a, b = inputs
            first = isinstance(a, SparseArray)
            found = getattr(SparseArray, row.name if first else reflected_name(ufunc), None)
            return NotImplemented if found is None else found(a, b) if first else found(b, a)
        if ufunc.nin == ufunc.nout == 1 and _keeps_zero(ufunc, self.dtype):
            return self._with(ufunc(self.data))
        return NotImplemented


def _keeps_zero(ufunc: np.ufunc, dtype: np.dtype[Any]) -> bool:
    with np.errstate(all="ignore"):
        return not ufunc(dtype.type(0))


def operand(x: Any, like: Any) -> Any:
    """Convert ``x``, the other operand of ``like``, to a sparse array, an array or a number; return NotImplemented for any other object."""
    if isinstance(x, SparseArray) or is_array(x) or isinstance(x, int | float | complex):
        return x
    if sp.issparse(x):
        coo = x.tocoo(copy=True)
        coo.sum_duplicates()
        made, order, _ = Structure.sorted(x.format if x.format in structure.FORMATS else "csr", x.shape, *coo.coords)
        data = coo.data if order is None else coo.data[order]
        return SparseArray(made, public.asarray(data, backend=like.backend))
    if isinstance(x, list | tuple):
        return np.asarray(x)
    return NotImplemented


def together(a: Any, b: Any) -> tuple[Any, Any]:
    """Return two arrays in their common dtype, on one backend: an array of NumPy's is converted to the library of the other."""
    dtype = np.result_type(a, b)
    b = b if isinstance(b, Array) else public.asarray(b, backend=a.backend)
    if a.backend is not b.backend and a.backend.native_is_ndarray:
        a = public.convert(a, b.backend)
    elif a.backend is not b.backend and b.backend.native_is_ndarray:
        b = public.convert(b, a.backend)
    return a.astype(dtype, copy=False), b.astype(dtype, copy=False)


pytrees.register(SparseArray, lambda x: ([x.data], x._places), lambda places, children: _rebuilt(places, children[0]))


def _rebuilt(places: Structure, data: Any) -> SparseArray:
    """Rebuild a sparse array with these places and any object as data: transforms put placeholders in place of arrays."""
    made = object.__new__(SparseArray)
    made._places, made.data = places, data
    return made
