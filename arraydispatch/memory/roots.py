"""Root of a chain of views.

This module is compiled, because its function runs while a write is recorded, when no signal handler may run.
"""

from __future__ import annotations

from typing import Any

from numpy import ndarray


def memory_of(g: Any) -> Any:
    """Return the ndarray at the root of a chain of views."""
    found: ndarray = g
    base: Any = found.base
    while base is not None:
        if isinstance(base, ndarray):
            found = base
            base = found.base
        else:
            base = getattr(base, "base", None)  # as_strided puts an object between a view and its base
    return found
