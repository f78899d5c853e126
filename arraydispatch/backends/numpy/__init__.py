"""NumPy itself as a backend: the reference the others are held against, and the one that is always there."""

from __future__ import annotations

from arraydispatch.backends.numpy.backend import NumpyBackend
from arraydispatch.backends.numpy.small import SmallBackend

__all__ = ["BACKEND", "SMALL"]

BACKEND = NumpyBackend()
SMALL = SmallBackend()
