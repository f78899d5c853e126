"""A program that uses JAX itself, under the launcher: to JAX its arrays are what NumPy's are.

In library use an array is a pytree of its native array, and comes back as one. A program written for NumPy and JAX relies on
what JAX does with ndarrays: they are leaves, functions that it traces see tracers, and what NumPy makes there is a constant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax._src import core

from arraydispatch.exchanges import NEEDS, Exchanges, Need

__all__ = ["is_tracing", "receive"]

ROWS = {
    "jax._src.core:trace_state_clean": Need("()", "JAX 0.4.36 to 0.10", "(called, not exchanged) whether JAX traces"),
}
NEEDS.update(ROWS)

_received: set[type] = set()


def receive(cls: Any, own: Callable[[Any], Any] | None = None, exchanges: Exchanges | None = None) -> None:
    """Teach JAX the class of arrays under the launcher; nothing needs to be exchanged for it."""
    if cls in _received:
        return
    _received.add(cls)
    cls.__jax_array__ = _leaf
    jax.tree_util.register_pytree_node(cls, lambda a: ((_leaf(a),), None), lambda _, leaves: leaves[0])


def _leaf(a: Any) -> Any:
    """What JAX gets: what is not on the host as it is."""
    backend, value = a._kind.backend, a.native
    if isinstance(value, jax.Array) and not (backend.is_concrete(value) and backend.on_cpu(value)):
        return value
    return a.to_numpy()


def is_tracing() -> bool:
    """Whether JAX is tracing a function in this thread."""
    return not core.trace_state_clean()
