"""``__array_namespace_info__``: capabilities, dtypes and devices of a namespace."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backends.base import Backend
from ..backends.devices import Device
from ..runtime import conversion, dtypes, placement, settings
from .data_types import DTYPES, isdtype

_DEFAULTS = {"real floating": "float64", "complex floating": "complex128", "integral": "int64", "indexing": "int64"}


class Info:
    """Capabilities of a namespace.

    Parameters
    ----------
    backend : Backend
        Backend of the namespace.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend

    def capabilities(self) -> dict[str, Any]:
        """Return the optional capabilities, all of which are supported, and the largest number of dimensions, NumPy's."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> Device:
        """Return the device of new arrays."""
        own = conversion.default_device(self._backend)
        return self._backend.devices()[0] if own is None else placement.find(self._backend, own)

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the dtypes of arrays created without one; the precision in force applies to them."""
        precision = settings.current_precision()
        return {kind: dtypes.apply_precision(np.dtype(name), precision) for kind, name in _DEFAULTS.items()}

    def devices(self) -> tuple[Device, ...]:
        """Return the devices of the backend."""
        return tuple(self._backend.devices())

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype[Any]]:
        """Return the dtypes of a kind, or of several: all, if none is given."""
        return {name: np.dtype(name) for name in DTYPES if kind is None or isdtype(np.dtype(name), kind)}
