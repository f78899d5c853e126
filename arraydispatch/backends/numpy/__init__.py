"""NumPy itself as a backend: the reference the others are held against, and the one that is always there."""

from __future__ import annotations

from arraydispatch.backends.numpy.backend import NumpyBackend
from arraydispatch.backends.numpy.hosted import HostState

__all__ = ["BACKEND", "HostState"]

BACKEND = NumpyBackend()
