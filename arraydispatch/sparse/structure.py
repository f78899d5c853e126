"""Where the elements of a sparse matrix are: index arithmetic, on the host, by NumPy and ``scipy.sparse``."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

Index = np.ndarray[Any, Any]

FORMATS = ("coo", "csr", "csc")
_SCIPY: dict[str, Any] = {"coo": sp.coo_array, "csr": sp.csr_array, "csc": sp.csc_array}


class Structure:
    """The places of the elements of a matrix: sorted as the format stores them, each once.

    Parameters
    ----------
    format : {"coo", "csr", "csc"}
        Elements are stored row by row, or of ``"csc"`` column by column.
    shape : tuple of int
        Of the matrix.
    row, col : ndarray of int64
        In order. :meth:`sorted` puts them in order.
    """

    def __init__(self, format: str, shape: tuple[int, int], row: Index, col: Index) -> None:
        self.format, self.shape, self.row, self.col = format, shape, row, col
        self.kept: dict[Any, Any] = {}
        """Index arrays of the libraries' own, by library and device."""
        row.flags.writeable = col.flags.writeable = False

    @classmethod
    def sorted(
        cls, format: str, shape: tuple[int, int], row: Any, col: Any
    ) -> tuple[Structure, Index | None, Index | None]:
        """The structure; which element comes where (None: as they are); and, if places come twice, the number of each one's.

        Raises
        ------
        ValueError
            If an index is not inside of the shape.
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
        """How many places there are."""
        return len(self.row)

    @property
    def indices(self) -> Index:
        """The indices along the other axis than the one that :attr:`indptr` counts."""
        return self.row if self.format == "csc" else self.col

    @cached_property
    def indptr(self) -> Index:
        """Where each row, or column, begins."""
        along, size = (self.col, self.shape[1]) if self.format == "csc" else (self.row, self.shape[0])
        return np.searchsorted(along, np.arange(size + 1))

    @cached_property
    def places(self) -> Any:
        """A matrix of SciPy's that has at each place its number, counted from 1."""
        return self.scipy(np.arange(1, self.nnz + 1))

    def scipy(self, values: Any) -> Any:
        """The matrix of SciPy's with these values."""
        if self.format == "coo":
            made = sp.coo_array((values, (self.row, self.col)), shape=self.shape)
            made.has_canonical_format = True
            return made
        made = _SCIPY[self.format]((values, self.indices, self.indptr), shape=self.shape)
        made.has_sorted_indices = made.has_canonical_format = True
        return made

    def moved(self, matrix: Any) -> tuple[Structure, Index]:
        """What SciPy made of :attr:`places`: its structure, and which element comes where."""
        format = matrix.format if matrix.format in FORMATS else "csr"
        coo = matrix.tocoo()
        made, order, _ = Structure.sorted(format, matrix.shape, *coo.coords)
        return made, (coo.data if order is None else coo.data[order]) - 1

    @cached_property
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


def union(a: Structure, b: Structure) -> tuple[Structure, Index]:
    """The places of either, and where the elements of one after the other go."""
    made, order, number = Structure.sorted(
        a.format, a.shape, np.concatenate([a.row, b.row]), np.concatenate([a.col, b.col])
    )
    count = a.nnz + b.nnz
    order = np.arange(count) if order is None else order
    number = np.arange(count) if number is None else number
    to = np.empty(count, np.int64)
    to[order] = number
    return made, to


def common(a: Structure, b: Structure) -> tuple[Structure, Index, Index]:
    """The places of both, and which elements of each are there."""
    one, other = (x.row * x.shape[1] + x.col for x in (a, b))
    _, first, second = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    made, order, _ = Structure.sorted(a.format, a.shape, a.row[first], a.col[first])
    return (made, first, second) if order is None else (made, first[order], second[order])


def product(a: Structure, b: Structure) -> tuple[Structure, Index, Index, Index]:
    """The places of a product, which elements of the two are multiplied, and where the products are added. ``b`` is by rows."""
    counts = np.diff(b.indptr)[a.col]
    first = np.repeat(np.arange(a.nnz), counts)
    within = np.arange(len(first)) - np.repeat(np.cumsum(counts) - counts, counts)
    second = b.indptr[a.col][first] + within
    format = "csc" if a.format == "csc" else "csr"
    made, order, number = Structure.sorted(format, (a.shape[0], b.shape[1]), a.row[first], b.col[second])
    if order is not None:
        first, second = first[order], second[order]
    return made, first, second, np.arange(len(first)) if number is None else number
