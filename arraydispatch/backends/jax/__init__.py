"""JAX as a backend. Importing this imports JAX, but starts none of its devices."""

from __future__ import annotations

from . import importing  # isort: skip -- before anything of JAX
from .backend import JaxBackend

__all__ = ["BACKEND", "importing"]

BACKEND = JaxBackend()
