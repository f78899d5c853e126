"""Proxies for functions and modules of other packages, written in C where the core is compiled, so that a call costs little."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .handles import _compiled

__all__ = ["Called"]


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


Called: Any = _Called if _compiled is None else _compiled.Called
