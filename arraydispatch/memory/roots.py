"""Where the memory of a view is.

Compiled, because it is asked while a write is recorded, where no signal's handler may run.
"""

from __future__ import annotations

from typing import Any

from numpy import ndarray

__all__ = ["memory_of"]


def memory_of(g: Any) -> Any:
    """The ndarray that a chain of views begins with."""
    base: Any = g.base
    while base is not None:
        if isinstance(base, ndarray):
            g = base
        base = getattr(base, "base", None)  # as_strided puts an object between a view and its base
    return g
