"""``Array.flat``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import views
from .dispatch import indexing, wrapping
from .views import Handle, ghost

__all__ = ["Flat"]


class Flat:
    """``Array.flat``: a flat iterator over the elements in C order."""

    __slots__ = ("base",)

    def __init__(self, base: Any) -> None:
        self.base = base

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self) -> Iterator[Any]:
        return iter(self.base.ravel())

    def __getitem__(self, key: Any) -> Any:
        found: Any = self.base.ravel()[_flat_key(key)]
        return found.copy() if np.ndim(found) else found

    def __setitem__(self, key: Any, value: Any) -> None:
        wrapping.check_writeable(self.base)
        key, line = _flat_key(key), self.base.ravel()
        if isinstance(key, int | np.integer):
            ghost(line)[key]  # out of bounds is said first
            element = np.empty(1, self.base.dtype)
            try:
                element[0] = np.asarray(value) if isinstance(value, Handle) else value
            except (TypeError, ValueError, OverflowError):
                raise ValueError("Error setting single item of array.") from None
            value = element[0]
        elif np.ndim(value):  # NumPy repeats the values as often as needed
            if not np.size(value):
                return
            count = len(ghost(line)[np.asarray(key) if isinstance(key, Handle) else key])
            value = np.resize(value, count) if count else 0
        line[key] = value
        if line._base is not views.owner(self.base):  # a copy: the elements do not stand in C order
            indexing.setitem(self.base, ..., line.reshape(self.base.shape))

    def copy(self) -> Any:
        """The elements in an array of their own."""
        return self.base.flatten()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self.base.ravel(), dtype=dtype)

    def __eq__(self, other: object) -> Any:
        return self.base.ravel() == other

    def __ne__(self, other: object) -> Any:
        return self.base.ravel() != other

    __hash__ = None  # type: ignore[assignment]


def _flat_key(key: Any) -> Any:
    """A key of a flat iterator, which takes one index along its one axis."""
    if isinstance(key, tuple):
        if len(key) > 1:
            raise IndexError(
                f"too many indices for flat iterator: flat iterator is 1-dimensional, but {len(key)} were indexed"
            )
        key = key[0] if key else ...
    if key is None or isinstance(key, bool | np.bool_):
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`) and integer or boolean arrays are valid indices"
        )
    return key
