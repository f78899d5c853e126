"""PyTorch backend."""

from __future__ import annotations

from .backend import TorchBackend
from .traced import TracedTorch

BACKEND = TorchBackend()
BACKEND.traced = TracedTorch(BACKEND)
