"""TensorFlow backend."""

from __future__ import annotations

from .backend import TensorFlowBackend

__all__ = ["BACKEND"]

BACKEND = TensorFlowBackend()
