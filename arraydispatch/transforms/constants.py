"""``stop_gradient`` and ``is_traced``: functions for values inside a running transform."""

from __future__ import annotations

from typing import Any

from .._core.handles import Handle
from ..array.scalar import Scalar
from ..backends import loader
from ..common.process_state import process
from ..common.pytrees import tree_leaves, tree_map
from ..memory import views


def stop_gradient(x: Any) -> Any:
    """Return the same values as constants with a derivative of zero.

    Parameters
    ----------
    x : pytree
        Arrays and numbers.

    Returns
    -------
    pytree
        A pytree like ``x``; its arrays may share memory with those of ``x``. Inside :func:`arraydispatch.grad` their values
        can be read (``float(ad.stop_gradient(x))``).
    """
    return tree_map(_stopped, x)


def _stopped(x: Any) -> Any:
    if isinstance(x, Handle):
        backend = x._kind.backend
        with backend.within():
            value = backend.transforms.stop_gradient(views.expose(x))
        return Scalar._holding(value, x._kind) if isinstance(x, Scalar) else process.wrapper(value, x._kind)
    backend_of_x = loader.backend_of(x)
    return x if backend_of_x is None else backend_of_x.transforms.stop_gradient(x)


def is_traced(x: Any) -> bool:
    """Whether a transform traces a value, so that the value is not concrete or must not be read.

    Parameters
    ----------
    x : pytree
        Arrays and numbers.

    Returns
    -------
    bool
        True if any of its arrays is traced: an argument of a function under :func:`arraydispatch.jit`,
        :func:`arraydispatch.vmap` or a derivative, or a result computed from such an argument.
    """
    for leaf in tree_leaves(x):
        if isinstance(leaf, Handle):
            if leaf._kind.backend.recorded(views.native(leaf)):
                return True
        else:
            backend = loader.backend_of(leaf)
            if backend is not None and backend.recorded(leaf):
                return True
    return False
