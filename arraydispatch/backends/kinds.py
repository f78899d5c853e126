"""``Kind``: a backend together with a dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .base import Backend


class Kind:
    """Pair of a backend and a dtype. :meth:`Backend.kind` makes one object for each pair, which every array of that kind refers to; so plans
    and entries are looked up by its identity.
    """

    __slots__ = ("backend", "dtype", "join", "last", "product", "scalar", "standard", "whole")

    def __init__(self, backend: Backend, dtype: np.dtype[Any], standard: bool = False) -> None:
        self.backend = backend
        self.dtype = dtype
        self.last: Kind = self
        """Kind of the last result of arrays of this kind that had another dtype: see :mod:`arraydispatch.fastpath.results`."""
        self.standard = standard
        """Whether 0-d results of arrays of this kind are arrays, as in the array-API standard, and never scalars."""
        self.scalar: Callable[[Any], Any] = (lambda _: None) if standard else backend.scalar_maker(dtype)
        """Function that returns a 0-d array of this kind as NumPy's scalar if it is concrete and in host memory, otherwise None."""
        self.whole: dict[Any, Callable[[Any], Any]] = {}
        """NumPy function -> function that reduces an array of this kind to one value; filled by the dispatch layer."""
        self.join: Callable[[list[Any]], Any] | None = None if backend.hosted else backend.join
        """Function that joins arrays of this kind and of compatible shapes; None if placement rules apply first."""
        plain = dtype.kind in "fc" and dtype.itemsize > 2 and not (backend.hosted or backend.scoped or backend.deferred)
        self.product: Callable[[Any, Any], Any] | None = backend.prim.matmul if plain else None
        """Function for matrix products of arrays of this kind; None if the general rules are needed."""

    @property
    def home(self) -> Kind:
        """Return this kind, or for a kind of the host state or of a deferring variant the library's kind with the same rule for 0-d
        results.
        """
        if not (self.backend.hosted or self.backend.defers):
            return self
        library = self.backend.home
        return library.standard_kind(self.dtype) if self.standard else library.kind(self.dtype)

    def of(self, dtype: np.dtype[Any]) -> Kind:
        """Return the kind of another dtype with the same rule for 0-d results."""
        return self.backend.standard_kind(dtype) if self.standard else self.backend.kind(dtype)

    def __repr__(self) -> str:
        return f"<{self.backend.name} {self.dtype}{' on the host' if self.backend.hosted else ''}>"
