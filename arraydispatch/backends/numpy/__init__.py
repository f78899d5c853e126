"""NumPy backend: the reference for the others, and always available."""

from __future__ import annotations

from .backend import HostState, NumpyBackend

__all__ = ["BACKEND", "HostState"]

BACKEND = NumpyBackend()
