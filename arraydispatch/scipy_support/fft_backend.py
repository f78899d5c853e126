"""Backend for ``scipy.fft``'s own dispatch mechanism (uarray), which handles calls with `Array` arguments."""

from __future__ import annotations

import importlib
from typing import Any

from . import arrays_among, load, stand_in


class Backend:
    """uarray backend that ``scipy.fft`` asks before SciPy's own functions; it declines calls without an `Array`."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_function__(method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        found: list[Any] = []
        arrays_among((*args, *kwargs.values()), found)
        if not found:
            return NotImplemented
        load("fft")
        func = stand_in(f"scipy.fft.{method.__name__}")
        return found[0].__array_function__(func, (), args, kwargs)


_registered: list[Any] = []


def register() -> None:
    """Register the backend, once for the process; calls without an `Array` are unaffected."""
    module: Any = importlib.import_module("scipy.fft")
    if not _registered:
        module.register_backend(Backend)
        _registered.append(Backend)
