"""JAX backend. Importing this module imports JAX, but starts none of its devices."""

from __future__ import annotations

from . import importing  # isort: skip -- before any other JAX module
from .backend import JaxBackend

__all__ = ["BACKEND", "importing"]

BACKEND = JaxBackend()
