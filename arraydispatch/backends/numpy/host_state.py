"""The host state: ndarrays that are the values of arrays of another library, in memory which NumPy reads and writes at once.

There is one :class:`HostState` for each library, whose arrays it holds until the library is wanted. It is NumPy in all but
name: a user sees the library (:attr:`Backend.home`), whose import waits until it is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import Backend
from .backend import NumpyBackend

_HELD = frozenset("?bhilqBHILQefdFD")
"""Codes of the dtypes that all libraries know, and in which NumPy computes."""


class HostState(NumpyBackend):
    """NumPy, for arrays whose library is another.

    Parameters
    ----------
    name : str
        The library's.
    load : callable
        Gives its backend, by name.
    """

    hosted = True
    native_views = True

    def __init__(self, name: str, load: Any) -> None:
        super().__init__()
        self.name = name  # type: ignore[misc]
        self._load = load

    @property
    def home(self) -> Backend:
        """The backend that users see."""
        found: Backend = self._load(self.name)
        return found

    def holds(self, dtype: np.dtype[Any]) -> bool:
        """Whether the library may hold it: numbers and booleans of the sizes that all of them know."""
        return dtype.char in _HELD
