"""Sparse matrices of the NumPy backend: SciPy's. See :attr:`arraydispatch.backends.base.Backend.sparse`."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

TRACES = True


def native(places: Any, index: Any, values: Array) -> Any:
    return places.scipy(values)


def parts(matrix: Any) -> None:
    """Return None: every backend handles SciPy's matrices itself."""
    return


def matmul(places: Any, index: Any, values: Array, dense: Array) -> Array:
    return np.asarray(places.scipy(values) @ dense)
