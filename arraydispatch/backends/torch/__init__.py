"""PyTorch."""

from __future__ import annotations

from arraydispatch.backends.torch.backend import TorchBackend

__all__ = ["BACKEND"]

BACKEND = TorchBackend()
