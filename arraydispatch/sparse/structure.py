"""Positions of the elements of sparse matrices: index arithmetic on the host, by NumPy and ``scipy.sparse``."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..common.lazy_attributes import lazy

Index = np.ndarray[Any, Any]

FORMATS = ("coo", "csr", "csc")
_SCIPY: dict[str, Any] = {"coo": sp.coo_array, "csr": sp.csr_array, "csc": sp.csc_array}


class Structure:
    """Positions of the elements of a matrix, without repetitions, sorted by :meth:`sorted` in the order of the format: row by row, for
    ``"csc"`` column by column.
    """

    def __init__(self, format: str, shape: tuple[int, int], row: Index, col: Index) -> None:
        self.format, self.shape, self.row, self.col = format, shape, row, col
        self.kept: dict[Any, Any] = {}
        """Index arrays in the libraries' own types, by library and device."""
        row.flags.writeable = col.flags.writeable = False

    @classmethod
    def sorted(
        cls, format: str, shape: tuple[int, int], row: Any, col: Any
    ) -> tuple[Structure, Index | None, Index | None]:
        """Return the structure, the order that sorts the elements (None if they are sorted), and for each element, in
        this order, the index of its position (None if no position repeats).

        Raises
        ------
        ValueError
            If an index is outside of the shape.
        """
        row, col = np.array(row, np.int64), np.array(col, np.int64)
        if row.ndim != 1 or row.shape != col.shape:
            raise ValueError(
                f"row and column indices have shapes {row.shape} and {col.shape}; there is one of each element."
            )
        for what, found, size in (("row", row, shape[0]), ("column", col, shape[1])):
            if found.size and not 0 <= found.min() <= found.max() < size:
                raise ValueError(
                    f"a {what} index of {found.min()} or {found.max()} is outside of a matrix of shape {shape}."
                )
        key = row * shape[1] + col if format != "csc" else col * shape[0] + row
        steps = np.diff(key)
        if (steps > 0).all():
            return cls(format, shape, row, col), None, None
        order = np.argsort(key, kind="stable")
        steps = np.diff(key[order])
        row, col = row[order], col[order]
        if (steps > 0).all():
            return cls(format, shape, row, col), order, None
        first = np.concatenate([[True], steps > 0])
        return cls(format, shape, row[first], col[first]), order, np.cumsum(first) - 1

    @property
    def nnz(self) -> int:
        """Number of positions."""
        return len(self.row)

    @property
    def indices(self) -> Index:
        """Indices along the axis that :attr:`indptr` does not count."""
        return self.row if self.format == "csc" else self.col

    @lazy
    def indptr(self) -> Index:
        """Index of the first element of each row, or for ``"csc"`` column, then the number of elements."""
        along, size = (self.col, self.shape[1]) if self.format == "csc" else (self.row, self.shape[0])
        return np.searchsorted(along, np.arange(size + 1))

    @lazy
    def places(self) -> Any:
        """SciPy matrix that contains, at each position, its number counted from 1."""
        return self.scipy(np.arange(1, self.nnz + 1))

    def scipy(self, values: Any) -> Any:
        """Return the SciPy matrix with these values."""
        if self.format == "coo":
            made = sp.coo_array((values, (self.row, self.col)), shape=self.shape)
            made.has_canonical_format = True
            return made
        made = _SCIPY[self.format]((values, self.indices, self.indptr), shape=self.shape)
        made.has_sorted_indices = made.has_canonical_format = True
        return made

    def moved(self, matrix: Any) -> tuple[Structure, Index]:
        """Return the structure of SciPy's result for :attr:`places`, and the order of its elements."""
        format = matrix.format if matrix.format in FORMATS else "csr"
        coo = matrix.tocoo()
        made, order, _ = Structure.sorted(format, matrix.shape, *coo.coords)
        return made, (coo.data if order is None else coo.data[order]) - 1

    @lazy
    def _key(self) -> tuple[Any, ...]:
        digest = hashlib.blake2b(self.row.tobytes())
        digest.update(self.col.tobytes())
        return self.format, self.shape, digest.digest()

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Structure) and self._key == other._key)

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> Any:
        return Structure, (self.format, self.shape, self.row, self.col)


def union(format: str, *several: Structure) -> tuple[Structure, Index]:
    """Return the union of positions, and the index in it of each element of the first structure, then of the others."""
    row, col = (np.concatenate([getattr(each, name) for each in several]) for name in ("row", "col"))
    made, order, number = Structure.sorted(format, several[0].shape, row, col)
    count = len(row)
    order = np.arange(count) if order is None else order
    number = np.arange(count) if number is None else number
    to = np.empty(count, np.int64)
    to[order] = number
    return made, to


def common(a: Structure, b: Structure) -> tuple[Structure, Index, Index]:
    """Return the common positions, and the indices of their elements in ``a`` and in ``b``."""
    one, other = (x.row * x.shape[1] + x.col for x in (a, b))
    _, first, second = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    made, order, _ = Structure.sorted(a.format, a.shape, a.row[first], a.col[first])
    return (made, first, second) if order is None else (made, first[order], second[order])


def product(a: Structure, b: Structure) -> tuple[Structure, Index, Index, Index]:
    """Return the positions of a product, the indices of the factors that are multiplied, and the index each product is
    added to.

    ``b`` is in row format.
    """
    counts = np.diff(b.indptr)[a.col]
    first = np.repeat(np.arange(a.nnz), counts)
    within = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    second = b.indptr[a.col][first] + within
    format = "csc" if a.format == "csc" else "csr"
    made, order, number = Structure.sorted(format, (a.shape[0], b.shape[1]), a.row[first], b.col[second])
    if order is not None:
        first, second = first[order], second[order]
    return made, first, second, np.arange(len(first)) if number is None else number
