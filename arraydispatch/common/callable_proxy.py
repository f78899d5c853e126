"""What stands for a function or a module of somebody else's, at the cost of nearly nothing: in C, where the core is compiled."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

__all__ = ["Called", "names_first"]


class _Called:
    """What is called by calling its ``target``, which a call reaches without a frame between.

    Attributes
    ----------
    target : callable
        May be exchanged at any time.
    """

    __slots__ = ("__call__",)
    __call__: Callable[..., Any]

    @property
    def target(self) -> Callable[..., Any]:
        """As above."""
        return self.__call__

    @target.setter
    def target(self, target: Callable[..., Any]) -> None:
        self.__call__ = target


def names_first(cls: type) -> type:
    """Decorates a class of modules: what is among a module's own names is found there, without a look at its class."""
    if _fields is not None:
        _fields.names_first(cls)
    return cls


try:
    _fields: Any = import_module("arraydispatch._fields")
except ImportError:
    _fields = None
Called: Any = _Called if _fields is None else _fields.Called
