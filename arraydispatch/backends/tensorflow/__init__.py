"""TensorFlow."""

from __future__ import annotations

import os

# TensorFlow's C++ code writes to stderr what it finds while it is imported, and that a CPU lacks some instruction.
# What goes wrong it raises as well; what ends the process is still written. A value that is set already is kept.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from arraydispatch.backends.tensorflow.backend import TensorFlowBackend

__all__ = ["BACKEND"]

BACKEND = TensorFlowBackend()
