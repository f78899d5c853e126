"""Representation of arrays in library use: NumPy's text, marked with the library and the device that hold the values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..memory import views

__all__ = ["marked"]


def marked(a: Any, text: str) -> str:
    """Add the backend and the device to NumPy's representation of an array, where they are not NumPy and the CPU."""
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
