"""Programs that use JAX directly, under the launcher: JAX treats their arrays as ndarrays.

In library use, an array is a pytree whose leaf is its native array, and JAX rebuilds the array from the leaf. A program written for NumPy
and JAX relies on JAX's treatment of ndarrays instead: they are leaves, functions traced by JAX get tracers, and arrays that NumPy
creates in such a function are constants.
"""

from __future__ import annotations

import os
import sys
from functools import partial, wraps
from types import FrameType
from typing import Any

import jax
from jax._src import core

from ...common.patching import NEEDS, Exchange, Exchanges, Need

_INDICES, _FORWARD = "jax._src.numpy.indexing:eliminate_deprecated_list_indexing", ("jax._src.api:jacfwd", "jax:jacfwd")
_JACFWD = Need(
    "(fun, argnums=0, has_aux=False, holomorphic=False)", "JAX 0.4 to 0.10", "what forward derivatives are taken at"
)
ROWS = {
    _INDICES: Need(
        "(idx)", "JAX 0.8 to 0.10", "the indices of JAX's own arrays, which it asks for their type before it takes them"
    ),
    **dict.fromkeys(_FORWARD, _JACFWD),
    "jaxlib._jax:make_gloo_tcp_collectives": Need(
        "",
        "jaxlib 0.10",
        "the sockets of several processes on one machine, which listen on its loopback interface alone",
    ),
    "jax._src.core:trace_state_clean": Need("()", "JAX 0.4.36 to 0.10", "(called, not exchanged) whether JAX traces"),
    "jax._src.core:reset_trace_state": Need("()", "JAX 0.10", "(called, not exchanged) that JAX traces no more"),
}
NEEDS.update(ROWS)

_received: set[type] = set()


def receive(cls: Any, exchanges: Exchanges | None = None) -> None:
    """Make JAX accept the class of arrays under the launcher; with ``exchanges``, also replace functions that take an array but not a
    pytree.
    """
    if exchanges is not None:
        exchanges.put(_INDICES, partial(_indexing, cls))
        for name in _FORWARD:
            exchanges.put(name, partial(_forward, cls))
    if cls in _received:
        return
    _received.add(cls)
    cls.__jax_array__ = _leaf
    jax.tree_util.register_pytree_node(cls, lambda a: ((_leaf(a),), None), lambda _, leaves: leaves[0])


def _leaves(cls: Any, tree: Any) -> Any:
    return jax.tree_util.tree_map(
        lambda x: _leaf(x) if isinstance(x, cls) else x, tree, is_leaf=lambda x: x is None or isinstance(x, cls)
    )


def _indexing(cls: Any, exchange: Exchange) -> Any:
    real = exchange.real

    @wraps(real)
    def eliminate_deprecated_list_indexing(idx: Any) -> Any:
        if not exchange.on:
            return real(idx)
        if type(idx) is tuple:
            return real(tuple(_leaf(x) if isinstance(x, cls) else x for x in idx))
        return real(_leaf(idx) if isinstance(idx, cls) else idx)

    return eliminate_deprecated_list_indexing


def _forward(cls: Any, exchange: Exchange) -> Any:
    """Make a ``jacfwd`` whose functions convert arrays among their arguments to leaves: tangents have the structure of the arguments, and
    arrays cannot be rebuilt from tangents.
    """
    real = exchange.real

    @wraps(real)
    def jacfwd(*args: Any, **options: Any) -> Any:
        made = real(*args, **options)

        @wraps(made)
        def jacfun(*values: Any, **keywords: Any) -> Any:
            return made(*_leaves(cls, values), **_leaves(cls, keywords))

        return jacfun if exchange.on else made

    return jacfwd


def _leaf(a: Any) -> Any:
    """Return the leaf of an array for JAX: its ndarray, or its native array if that is a tracer or not in host memory."""
    backend, value = a._kind.backend, a.native
    if isinstance(value, jax.Array) and not (backend.is_concrete(value) and backend.on_cpu(value)):
        return value
    return a.to_numpy()


def is_tracing() -> bool:
    """Whether JAX is tracing a function in this thread."""
    return not core.trace_state_clean()


_JAX = os.path.join(os.path.dirname(jax.__file__), "")


def traces_no_more() -> bool:
    """Reset JAX's trace state if it is still tracing although none of its functions is on this thread's stack. Return whether it was reset.

    A signal handler can leave JAX so if the program imported JAX before this package did: see
    :mod:`arraydispatch.backends.jax.importing`.
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
