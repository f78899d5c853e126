"""PyTorch backend."""

from __future__ import annotations

from .backend import TorchBackend
from .traced import TracedTorch

__all__ = ["BACKEND"]

BACKEND = TorchBackend()
BACKEND.variant = TracedTorch(BACKEND)
