"""Host state: ndarrays that hold the values of another library's arrays, in memory that NumPy can read and write
directly.

There is one :class:`HostState` for each library. It holds arrays until the library is needed, which is imported only then.
It computes with NumPy, but users see the library as the backend (:attr:`Backend.home`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import Backend
from .backend import NumpyBackend

_HELD = frozenset("?bhilqBHILQefdFD")
"""Codes of the dtypes that all libraries have, and in which NumPy computes."""


class HostState(NumpyBackend):
    """NumPy for arrays of another library.

    Parameters
    ----------
    name : str
        Name of the library's backend.
    load : callable
        Function that returns a backend by its name.
    """

    hosted = True
    native_views = True

    def __init__(self, name: str, load: Any) -> None:
        super().__init__()
        self.name = name  # type: ignore[misc]
        self._load = load

    @property
    def home(self) -> Backend:
        """Backend that users see."""
        found: Backend = self._load(self.name)
        return found

    def holds(self, dtype: np.dtype[Any]) -> bool:
        """Whether the library may have a dtype: numbers and booleans of the sizes that all libraries have."""
        return dtype.char in _HELD
