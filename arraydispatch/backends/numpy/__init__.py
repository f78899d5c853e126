"""NumPy itself as a backend: the reference the others are held against, and the one that is always there."""

from __future__ import annotations

from .backend import NumpyBackend
from .host_state import HostState

__all__ = ["BACKEND", "HostState"]

BACKEND = NumpyBackend()
