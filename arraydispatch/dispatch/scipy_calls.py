"""Functions and methods of SciPy's on the host: their arrays are exchanged, and results go back where the arrays were.

SciPy's compiled code asks for memory that it may write, and writes into ``out=`` and ``output=``: it is given copies of its own, and
what it was to fill is written back. Callbacks are called with ndarrays, as SciPy calls them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends.base import Backend
from ..common import events, names
from ..common.pytrees import converted, mapped
from ..functions.registry import METHODS
from ..memory import views
from ..runtime import conversion, settings
from . import host_results, wrapping

_OUTPUTS = frozenset({"out", "output"})
_FILLED = _OUTPUTS | {"distances", "indices"}
"""Parameters that name what is to be filled."""


@lru_cache(maxsize=512)
def filled_by(func: Any) -> tuple[frozenset[int], frozenset[str]]:
    """The positions of parameters of these names, and the names themselves."""
    try:
        parameters = list(inspect.signature(func).parameters)
    except (TypeError, ValueError):
        return frozenset(), _OUTPUTS
    names = _FILLED.intersection(parameters)
    if "indices" in names and "distances" not in names:  # what is asked for, not what is filled
        names -= {"indices"}
    return frozenset(i for i, name in enumerate(parameters) if name in names), names


class _Exchange:
    """The arrays of one call, as ndarrays of their own."""

    def __init__(self, why: str) -> None:
        self.why = why
        self.filled: list[tuple[Any, np.ndarray[Any, Any]]] = []
        self.read: dict[int, np.ndarray[Any, Any]] = {}

    def hosted(self, x: Any, filled: bool = False) -> Any:
        """An argument with ndarrays in place of arrays."""
        if isinstance(x, Handle):
            if not filled and id(x) in self.read:  # what is given twice is one object to SciPy too: csd(x, x) is real
                return self.read[id(x)]
            found = conversion.download(x._kind.backend, views.expose(x), self.why)
            if filled:
                wrapping.check_writeable(x)
                found = found.copy("K")
                self.filled.append((x, found))
            found = found if found.flags.writeable and found.flags.owndata else found.copy("K")
            if not filled:
                self.read[id(x)] = found
            return found
        return mapped(lambda y: self.hosted(y, filled), x) if isinstance(x, list | tuple | dict) else x

    def back(self, result: Any, backend: Backend, device: Any) -> Any:
        """A result with arrays in place of ndarrays."""
        for array, filled in self.filled:
            if result is filled:
                return array
        if not isinstance(result, np.ndarray) and settings.current_precision() is None:
            return result
        if type(result) is np.ndarray and backend.hosted:
            return host_results.placed(result, backend)
        return host_results.to_device(result, backend, device)


def call(
    compute: Callable[..., Any],
    known: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    backend: Backend,
    reason: str,
) -> Any:
    """Run a callable of SciPy's on the host; ``known`` is what it is reported as."""
    if not backend.hosted:
        host_results.allow(known, backend, reason)
    start = perf_counter()
    device = None if backend.hosted else wrapping.device_among([*args, *kwargs.values()], backend)
    exchange = _Exchange(f"{names.name_of(known)} runs on the host")
    at, named = filled_by(known)
    hosts = [exchange.hosted(x, i in at) for i, x in enumerate(args)]
    keywords = {key: exchange.hosted(x, key in named) for key, x in kwargs.items()}
    result = compute(*hosts, **keywords)
    for array, filled in exchange.filled:
        host_results.store(array, filled)
    if events.tap is not None:
        kind = "hosted" if backend.hosted else "native" if backend.native_is_ndarray else "host"
        why = reason if kind == "host" else ""
        events.tap.call(known, backend.name, kind, why, perf_counter() - start, result, 1, hosts)
    return converted(lambda x: exchange.back(x, backend, device), result)


def run(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend, reason: str) -> Any:
    """A function or method of SciPy's that NumPy's protocol has brought here, by its stand-in."""
    if func in METHODS:
        return method(func, args[0], args[1:], kwargs, reason)
    return call(func, func, args, kwargs, backend, reason)


def known_as(func: Any, args: tuple[Any, ...]) -> Any:
    """What a call is reported as: a function, or a method by the name of the object that it is of."""
    if func not in METHODS:
        return func
    owner, cls = args[0], type(args[0])
    package = ".".join(part for part in cls.__module__.split(".") if not part.startswith("_"))
    own = getattr(owner, "name", None) or getattr(owner, "__name__", None)
    name, called = f"{package}.{own or cls.__name__}", func.__name__
    return name if called == "__init__" or (own and called == "__call__") else f"{name}.{called}"


def method(real: Callable[..., Any], owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str) -> Any:
    """A method of an object of SciPy's that was called with arrays."""
    backend = wrapping.find_backend((*args, *kwargs.values())) or settings.current_backend()
    known = known_as(real, (owner,))
    return call(lambda *hosts, **keywords: real(owner, *hosts, **keywords), known, args, kwargs, backend, reason)
