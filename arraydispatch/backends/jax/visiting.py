"""A program that uses JAX itself, under the launcher: to JAX its arrays are what NumPy's are.

In library use an array is a pytree of its native array, and comes back as one. A program written for NumPy and JAX relies on
what JAX does with ndarrays: they are leaves, functions that it traces see tracers, and what NumPy makes there is a constant.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import jax
from jax._src import core

from arraydispatch.exchanges import NEEDS, Exchanges, Need

__all__ = ["is_tracing", "receive", "traces_no_more"]

ROWS = {
    "jax._src.core:trace_state_clean": Need("()", "JAX 0.4.36 to 0.10", "(called, not exchanged) whether JAX traces"),
    "jax._src.core:reset_trace_state": Need("()", "JAX 0.10", "(called, not exchanged) that JAX traces no more"),
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


_JAX = os.path.join(os.path.dirname(jax.__file__), "")


def traces_no_more() -> bool:
    """Whether JAX had been left tracing, with none of its functions running in this thread, and now is not.

    A signal's handler can do that where JAX had been imported before: see :mod:`arraydispatch.backends.jax.importing`.
    """
    if not is_tracing():
        return False
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename.startswith(_JAX):
            return False
        frame = frame.f_back
    core.reset_trace_state()
    return True
