"""TensorFlow backend."""

from __future__ import annotations

from .backend import TensorFlowBackend

BACKEND = TensorFlowBackend()
