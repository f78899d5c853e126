"""Proxies for functions and modules of other packages, written in C where the core is compiled, so that a call costs little."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["Called", "names_first"]


class _Called:
    """Proxy that forwards calls to its ``target`` without a Python frame in between.

    Attributes
    ----------
    target : callable
        May be replaced at any time.
    """

    __slots__ = ("__call__",)
    __call__: Callable[..., Any]

    @property
    def target(self) -> Callable[..., Any]:
        """The callable that calls are forwarded to."""
        return self.__call__

    @target.setter
    def target(self, target: Callable[..., Any]) -> None:
        self.__call__ = target


def names_first(cls: type) -> type:
    """Make a module class look attributes up in the module's own namespace first, before the class."""
    if _fields is not None:
        _fields.names_first(cls)
    return cls


try:
    _fields: Any = import_module("arraydispatch._fields")
except ImportError:
    _fields = None
Called: Any = _Called if _fields is None else _fields.Called
