"""Representation of arrays in library use: NumPy's text, marked with the library and the device that hold the values."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from ..memory import views

__all__ = ["corners", "marked"]

_MOST_AXES = 6


def corners(a: Any) -> np.ndarray[Any, Any] | None:
    """Return an ndarray of which only the corners that NumPy prints are filled in; None if the values are on the host, if NumPy prints all
    elements, or if the array has too many axes or elements for this.

    The rest of the ndarray's memory is never touched, so the system does not allocate it.
    """
    options = np.get_printoptions()
    edge, backend = options["edgeitems"], a._kind.backend
    if a.size <= options["threshold"] or a.ndim > _MOST_AXES or backend.native_is_ndarray:
        return None
    if backend.home.on_cpu(backend.settled(views.native(views.owner(a)))):
        return None
    parts = [[slice(None)] if n <= 2 * edge else [slice(edge), slice(n - edge, n)] for n in a.shape]
    try:
        shown = np.empty(a.shape, a.dtype)
    except MemoryError:
        return None
    for key in product(*parts):
        shown[key] = a[key]._host("printing")
    return shown


def marked(a: Any, text: str) -> str:
    """Add the backend and the device to NumPy's representation of an array, unless they are NumPy and the CPU."""
    kind, value = views.held(a)
    marks = [] if a.backend.name == "numpy" else [f"backend={a.backend.name!r}"]
    if not kind.backend.on_cpu(value):
        marks.append(f"device={a.device.name!r}")
    if not marks:
        return text
    head, said = text.removesuffix(")").replace("array(", "Array(", 1), ", ".join(marks)
    last = head.rpartition("\n")[2]
    fits = len(last) + len(said) + 3 <= np.get_printoptions()["linewidth"]
    return f"{head}, {said})" if fits else f"{head},\n{' ' * len('Array(')}{said})"
