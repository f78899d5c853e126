"""TensorFlow."""

from __future__ import annotations

from arraydispatch.backends.tensorflow.backend import TensorFlowBackend

__all__ = ["BACKEND"]

BACKEND = TensorFlowBackend()
