"""SciPy's functions and methods on the host: they get ndarrays, and results go back to the backend of the arrays.

SciPy's compiled code requires writable memory, and writes into ``out=`` and ``output=``: arrays whose memory NumPy may not write are
copied. Copies that it fills, or that it may overwrite (``overwrite_a=True``), are written back. Callbacks get ndarrays.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np

from ..backends.base import Backend
from ..common import events, names
from ..common.pytrees import converted
from ..functions.registry import METHODS
from ..runtime import dtypes, settings
from . import host_results, wrapping
from .handover import Handover, handed

_OUTPUTS = frozenset({"out", "output"})
_FILLED = _OUTPUTS | {"distances", "indices"}
"""Names of parameters that functions fill."""


@lru_cache(maxsize=512)
def filled_by(func: Any) -> tuple[frozenset[int], frozenset[str]]:
    """Return the positions and names of the parameters that a function fills."""
    try:
        parameters = list(inspect.signature(func).parameters)
    except (TypeError, ValueError):
        return frozenset(), _OUTPUTS
    names = _FILLED.intersection(parameters)
    if "indices" in names and "distances" not in names:  # a flag, not an array to fill
        names -= {"indices"}
    return frozenset(i for i, name in enumerate(parameters) if name in names), names


@lru_cache(maxsize=512)
def _permissions(func: Any) -> tuple[tuple[int, str], ...]:
    """Return the positions and names of the parameters that permit a function to overwrite its arguments."""
    try:
        parameters = list(inspect.signature(func).parameters)
    except (TypeError, ValueError):
        return ()
    return tuple((i, name) for i, name in enumerate(parameters) if name.startswith("overwrite_"))


def may_overwrite(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether a call permits a function to overwrite arguments, as ``overwrite_a=True`` does."""
    return any(args[i] if i < len(args) else kwargs.get(name) for i, name in _permissions(func))


def kept(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the positional and the keyword arguments of a call without permissions to overwrite."""
    at = {i for i, _ in _permissions(func)}
    names = {name for _, name in _permissions(func)}
    positional = tuple(False if i in at else x for i, x in enumerate(args))
    return positional, {key: x for key, x in kwargs.items() if key not in names}


def _back(result: Any, hand: Handover, backend: Backend, device: Any) -> Any:
    """Convert one leaf of a result: an ndarray becomes an `Array`; other values stay, except that a precision policy applies to floats."""
    array = hand.target(result)
    if array is not None:
        return array
    if not isinstance(result, np.ndarray) and settings.current_precision() is None:
        return result
    if type(result) is np.ndarray and backend.hosted:
        return host_results.placed(result, backend)
    return host_results.to_device(result, backend, device)


def call(
    compute: Callable[..., Any], known: Any, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend,
    reason: str, overwrites: bool = False,
) -> Any:  # fmt: skip
    """Run ``compute``, a call of SciPy, on the host. ``known``: function that the report names. ``reason``: reason for the host fallback.
    ``overwrites``: whether the call may overwrite its arguments.
    """
    if not backend.hosted:
        host_results.allow(known, backend, reason)
    start = perf_counter()
    device = None if backend.hosted else wrapping.device_among([*args, *kwargs.values()], backend)
    hand = Handover(f"{names.name_of(known)} runs on the host")
    at, named = filled_by(known)
    read = hand.lend if overwrites else hand.share
    hosts = [handed(x, hand.fill if i in at else read, hand.other) for i, x in enumerate(args)]
    keywords = {key: handed(x, hand.fill if key in named else read, hand.other) for key, x in kwargs.items()}
    try:
        result = compute(*hosts, **keywords)
    except Exception:
        hand.bring_back()  # arguments may be overwritten before an error
        raise
    hand.store()
    if events.tap is not None:
        is_hosted = backend.hosted or isinstance(reason, dtypes.FasterOnHost)
        kind = "hosted" if is_hosted else "native" if backend.native_is_ndarray else "host"
        why = reason if kind == "host" else ""
        events.tap.call(known, backend.name, kind, why, perf_counter() - start, result, 1, hosts)
    return converted(lambda x: _back(x, hand, backend, device), result)


def run(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend, reason: str) -> Any:
    """Run a SciPy function or method that was dispatched by its stand-in."""
    if func in METHODS:
        return method(func, args[0], args[1:], kwargs, reason)
    return call(func, func, args, kwargs, backend, reason, may_overwrite(func, args, kwargs))


def known_as(func: Any, args: tuple[Any, ...]) -> Any:
    """Return a call's name in reports: a function itself, or for a method a string with its object's package, name and method name."""
    if func not in METHODS:
        return func
    owner, cls = args[0], type(args[0])
    package = ".".join(part for part in cls.__module__.split(".") if not part.startswith("_"))
    own = getattr(owner, "name", None) or getattr(owner, "__name__", None)
    name, called = f"{package}.{own or cls.__name__}", func.__name__
    return name if called == "__init__" or (own and called == "__call__") else f"{name}.{called}"


def method(real: Callable[..., Any], owner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], reason: str) -> Any:
    """Run ``real``, a method of the SciPy object ``owner`` that was called with arrays, on the host. ``reason``: reason for that."""
    backend = wrapping.find_backend((*args, *kwargs.values())) or settings.current_backend()
    known = known_as(real, (owner,))
    return call(lambda *hosts, **keywords: real(owner, *hosts, **keywords), known, args, kwargs, backend, reason)
