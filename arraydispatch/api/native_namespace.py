"""``ad.active_backend``: the default backend's native functions. These functions follow later calls of ``ad.use``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..common.signal_safety import imported
from ..runtime import conversion, dtypes, settings
from .public import to_numpy as _to_numpy


class _Active:
    """Live namespace of the default backend's native functions. They return native results."""

    def __getattr__(self, name: str) -> Any:
        module = settings.current_backend().module
        try:
            return getattr(module, name)
        except AttributeError:
            raise AttributeError(
                f"{module.__name__!r}, the library of the active backend {settings.current_backend().name!r}, has no {name!r}"
            ) from None

    def __repr__(self) -> str:
        return f"<active backend: {settings.current_backend().name}>"

    def tensor(self, obj: Any, dtype: Any = None) -> Any:
        """Return a native array with the values of ``obj`` on the active backend."""
        imported("arraydispatch.api.public")
        from .public import asarray

        return asarray(obj, dtype=dtype).native

    def to_numpy(self, x: Any) -> np.ndarray[Any, Any]:
        """Return the values of a native array (or an ``Array``) as an ndarray."""
        return _to_numpy(x)

    def normal(self, mean: Any = 0.0, std: Any = 1.0, *shape: Any, dtype: Any = None) -> Any:
        """Draw a native array of normal numbers from the library's own generator; ``shape`` is given as ints or one tuple."""
        return self._random("normal", shape, dtype, lambda z: z * std + mean)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, *shape: Any, dtype: Any = None) -> Any:
        """Draw a native array of numbers in [low, high) from the library's own generator; ``shape`` is given as ints or one tuple."""
        return self._random("uniform", shape, dtype, lambda u: u * (high - low) + low)

    def _random(self, kind: str, shape: tuple[Any, ...], dtype: Any, scaled: Callable[[Any], Any]) -> Any:
        backend = settings.current_backend()
        size = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        wanted = dtypes.apply_precision(np.dtype(dtype or float), settings.current_precision())
        with backend.within():
            return scaled(backend.random(kind, tuple(int(n) for n in size), wanted, conversion.default_device(backend)))


active_backend = _Active()
