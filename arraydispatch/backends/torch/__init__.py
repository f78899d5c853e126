"""PyTorch backend."""

from __future__ import annotations

from .backend import TorchBackend, TracedTorch

BACKEND = TorchBackend()
BACKEND.traced = TracedTorch(BACKEND)
