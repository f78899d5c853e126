"""Which backends there are, which are installed, and loading one at most once.

This is the one place outside ``backends/<library>/`` that knows the libraries by name.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import threading
from typing import Any, NamedTuple

from ..errors import BackendNotInstalledError, NoBackendFoundError, did_you_mean
from .base import Backend


class _Row(NamedTuple):
    library: str
    roots: tuple[str, ...]  # top-level modules whose types are this library's arrays
    install: str


KNOWN: dict[str, _Row] = {
    "numpy": _Row("numpy", ("numpy",), "pip install numpy"),
    "jax": _Row("jax", ("jax", "jaxlib"), "pip install 'arraydispatch[jax]'"),
    "torch": _Row("torch", ("torch",), "pip install 'arraydispatch[torch]'"),
    "tensorflow": _Row("tensorflow", ("tensorflow",), "pip install 'arraydispatch[tensorflow]'"),
}
_ROOT_TO_NAME = {root: name for name, row in KNOWN.items() for root in row.roots}

_loaded: dict[str, Backend] = {}
_by_type: dict[type, Backend | None] = {}
_lock = threading.RLock()
_wrapper: type | None = None


def installed(name: str) -> bool:
    """Whether the library of a known backend can be imported (without importing it)."""
    library = KNOWN[name].library
    if library in sys.modules:
        return sys.modules[library] is not None
    return importlib.util.find_spec(library) is not None


def available() -> list[str]:
    """Names of the backends whose library is installed."""
    return [name for name in KNOWN if installed(name)]


def load(name: str) -> Backend:
    """The backend of that name; its library is imported now if it was not.

    Raises
    ------
    NoBackendFoundError
        For an unknown name.
    BackendNotInstalledError
        If the library is missing.
    """
    backend = _loaded.get(name)
    if backend is not None:
        return backend
    if name not in KNOWN:
        known = ", ".join(KNOWN)
        raise NoBackendFoundError(
            f"there is no backend named {name!r}{did_you_mean(name, KNOWN)}; choose one of: {known}."
        )
    if not installed(name):
        row = KNOWN[name]
        raise BackendNotInstalledError(
            f"backend {name!r} needs the library {row.library!r}, which is not installed; run: {row.install}"
        )
    with _lock:
        backend = _loaded.get(name)
        if backend is None:
            backend = importlib.import_module(f"{__package__}.{name}").BACKEND
            if _wrapper is not None:
                backend.adopt_wrapper(_wrapper)
            _loaded[name] = backend
    return backend


def small() -> Backend:
    """What holds small arrays on the host (:attr:`Backend.small`)."""
    held: Backend = importlib.import_module(f"{__package__}.numpy").SMALL
    return held


def loaded() -> list[Backend]:
    """The backends loaded so far."""
    return list(_loaded.values())


def stand_in(lost: Backend, by: Backend) -> None:
    """From now on whoever loads one backend gets another: a forked process has lost its library."""
    _loaded[lost.name] = by
    for cls, found in list(_by_type.items()):
        if found is lost:
            _by_type[cls] = None


def set_wrapper(wrapper: type) -> None:
    """Hand in the class that wraps native arrays, so that every library learns to take it."""
    global _wrapper
    _wrapper = wrapper
    for backend in _loaded.values():
        backend.adopt_wrapper(wrapper)


def backend_of(value: Any) -> Backend | None:
    """The backend whose native array ``value`` is, or None. Loads a backend only if its library made ``value``."""
    cls = type(value)
    try:
        return _by_type[cls]
    except KeyError:
        pass
    found: Backend | None = None
    for base in cls.__mro__:
        name = _ROOT_TO_NAME.get(base.__module__.partition(".")[0])
        if name is not None:
            candidate = load(name)
            if candidate.is_native(value):
                found = candidate
                break
    _by_type[cls] = found
    return found
