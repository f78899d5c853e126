"""Arrays that a program loads from pickles and with other libraries: they become instances of the program's ``np.ndarray``.

No other code holds the memory of such an array. If a library calls these functions for itself, they return ndarrays.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.callable_proxy import StandIn
from ..common.patching import Exchange
from ..common.process_state import process
from ..common.pytrees import mapped
from .adoption import move, on_memory

METHODS: dict[str, tuple[str, ...]] = {
    "h5py._hl.dataset": ("Dataset.__getitem__", "AstypeWrapper.__getitem__"),
    "joblib": ("load",),
}
"""Module -> its functions and methods that load arrays."""


def function(exchange: Exchange) -> StandIn:
    """Return the stand-in for a function that loads."""
    made = StandIn(exchange.real, exchange.holder.__name__, exchange.name)
    made.target = method(exchange)
    return made


def method(exchange: Exchange) -> Callable[..., Any]:
    """Return the replacement of a method that loads."""
    real = exchange.real

    def load(*args: Any, **kwargs: Any) -> Any:
        found = real(*args, **kwargs)
        users = process.users
        if not exchange.on or users is None or type(found) in _ATOMS or not users.owns_frame(sys._getframe(1)):
            return found
        return _brought(found, {}, f"{exchange.holder.__name__}.{exchange.name}")

    return load


_ATOMS = frozenset({int, float, complex, bool, str, bytes, type(None)})


def _brought(value: Any, known: dict[int, Any], what: str) -> Any:
    """Replace ndarrays by arrays, each once, also in containers and in objects of the program's classes, which are changed in place."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if id(value) in known:
        return known[id(value)][0]
    if kind is np.ndarray:
        shared = on_memory(value) if value.base is not None and value.flags.writeable else None
        made = move(value, what) if shared is None else shared
        known[id(value)] = made, value
        return made
    known[id(value)] = value, value
    if kind is tuple:
        made = mapped(lambda part: _brought(part, known, what), value)
        known[id(value)] = made, value
        return made
    if kind is list:
        value[:] = [_brought(part, known, what) for part in value]
    elif kind is dict:
        _fill(value, known, what)
    elif _is_programs(kind) and isinstance(held := getattr(value, "__dict__", None), dict):
        _fill(held, known, what)
    return value


def _fill(held: dict[Any, Any], known: dict[int, Any], what: str) -> None:
    for name, part in held.items():
        held[name] = _brought(part, known, what)


def _is_programs(kind: type) -> bool:
    """Whether a class is one of the program's own."""
    module = sys.modules.get(kind.__module__)
    return (
        process.users is not None and module is not None and process.users.owns_globals(vars(module), sys._getframe())
    )
