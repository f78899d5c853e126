"""TensorFlow."""

from __future__ import annotations

import os

# TensorFlow announces its CPU features on stderr while it is imported; errors still show, and a set value is kept.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from arraydispatch.backends.tensorflow.backend import TensorFlowBackend

__all__ = ["BACKEND"]

BACKEND = TensorFlowBackend()
