"""JAX as a backend. Importing this imports JAX, but starts none of its devices."""

from __future__ import annotations

from arraydispatch.backends.jax.backend import JaxBackend

__all__ = ["BACKEND"]

BACKEND = JaxBackend()
