"""``scipy.fft`` has a door of its own, SciPy's multiple dispatch (uarray): a backend there, which takes what has arrays of ours."""

from __future__ import annotations

import importlib
from typing import Any

from . import arrays_among, load, stand_in

__all__ = ["Backend", "register"]


class Backend:
    """What ``scipy.fft`` asks before SciPy's own functions: it leaves to the next what has no array of ours."""

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
    """Have ``scipy.fft`` ask, once for the process: without our arrays nothing is another."""
    module: Any = importlib.import_module("scipy.fft")
    if not _registered:
        module.register_backend(Backend)
        _registered.append(Backend)
