"""``Array`` and ``Scalar``: identity, operators and methods, no numerics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..common.signal_safety import imported

if TYPE_CHECKING:
    from .array import Array, _rebuild_array, ndarray
    from .scalar import Scalar

__all__ = ["Array", "Scalar", "_rebuild_array", "ndarray"]


def __getattr__(name: str) -> Any:
    # On first use: threads that import a package whose own import takes in its modules may wait for each other.
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    array, scalar = f"{__name__}.array", f"{__name__}.scalar"
    imported(array)
    holder: Any = imported(scalar) if name == "Scalar" else None
    imported(scalar)  # loaded with Array, because results of arrays need it
    globals()[name] = value = getattr(holder or imported(array), name)
    return value
