"""Python array-API standard on every backend: ``arraydispatch.array_api.torch`` etc., or ``namespace(name)``.

A namespace is a module-like object with the standard's functions, the same for every backend. These functions call NumPy's
functions on arrays, which are dispatched to the backend, and differ from NumPy's where the standard does:

- arrays of a namespace stay arrays when they are 0-d: functions, operators and indexing never return NumPy scalars for them;
- creation functions create arrays of the backend; devices are given and returned as the backend's own;
- promotion is strict: kinds (boolean, integer, floating) do not mix;
- values are the standard's where these differ from NumPy's (``//`` of infinities, ``expm1`` of complex infinities).
"""

from __future__ import annotations

from typing import Any

from ..api.public import backend, default_backend
from ..backends.base import Backend
from ..common.signal_safety import imported
from .module import Namespace


def namespace(name: str | Backend | None = None) -> Namespace:
    """Return the array-API namespace of a backend.

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
        The message lists the backends that exist.
    """
    found = default_backend() if name is None else backend(name)
    module: Any = imported(f"{__name__}.{found.name}")
    return module
