"""Primitives that NumPy computes for a small backend, where its library has no function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from arraydispatch.backends import loader
from arraydispatch.backends.base import PRIMITIVES


def remaining(
    there: dict[str, Any],
    array: type,
    host: Callable[[Any], np.ndarray[Any, Any]],
    native: Callable[[np.ndarray[Any, Any]], Any],
) -> dict[str, Callable[..., Any]]:
    """Return the primitives that are not ``there``, for arrays of the type ``array``, which ``host`` reads and ``native`` makes."""

    def on(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(map(on, value))
        return np.array(host(value)) if isinstance(value, array) else value

    def back(value: Any) -> Any:
        return tuple(map(back, value)) if isinstance(value, tuple) else native(np.asarray(value))

    def made(name: str) -> Callable[..., Any]:
        def primitive(*args: Any) -> Any:
            return back(getattr(loader.load("numpy").prim, name)(*map(on, args)))

        primitive.__name__ = name
        return primitive

    return {name: made(name) for name in PRIMITIVES if name not in there}
