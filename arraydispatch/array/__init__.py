"""``Array`` and ``Scalar``: identity, operators and methods, no numerics."""

from __future__ import annotations

from .array import Array, _rebuild_array, ndarray
from .scalar import Scalar

__all__ = ["Array", "Scalar", "_rebuild_array", "ndarray"]
