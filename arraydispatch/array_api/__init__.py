"""The Python array-API standard on every backend: ``arraydispatch.array_api.torch`` and its like, or ``namespace(name)``.

A namespace is a module-like object with the standard's functions, the same ones for every backend. They stand on NumPy's
functions on arrays, which the dispatch runs on the backend, and add what the standard has otherwise:

- arrays of a namespace stay arrays when they are 0-d: what functions, operators and indexing make of them is never a
  NumPy scalar;
- creation functions make arrays of the backend; devices are given and told as its own;
- promotion is strict: kinds (boolean, integer, floating) do not mix;
- where values differ (``//`` of infinities, ``expm1`` of complex infinities) they are the standard's.
"""

from __future__ import annotations

import importlib
from typing import Any

from ..api.public import backend, default_backend
from ..backends.base import Backend
from .module import Namespace

__all__ = ["namespace"]


def namespace(name: str | Backend | None = None) -> Namespace:
    """The array-API namespace of a backend.

    Parameters
    ----------
    name : str, Backend or None
        The backend; None: the default backend.

    Returns
    -------
    Namespace
        A hashable, module-like object, one for each backend: ``arraydispatch.array_api.<name>``.

    Raises
    ------
    NoBackendFoundError, BackendNotInstalledError
        Each says what there is.
    """
    found = default_backend() if name is None else backend(name)
    module: Any = importlib.import_module(f"{__name__}.{found.name}")
    return module
