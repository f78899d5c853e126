"""Calls in which NumPy raises every floating-point error. The user's own error modes stay as they are.

``with np.errstate(all="raise")`` is not safe here: ``errstate`` is written in Python, so an exception of a signal handler (Ctrl-C, an
alarm) in its ``__exit__`` would leave the mode set, and the handler's own calls of NumPy would run in that mode.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, copy_context
from typing import Any

import numpy as np

__all__ = ["as_users", "raising"]

try:
    from numpy._core.umath import _extobj_contextvar, _make_extobj

    _modes: Any = _extobj_contextvar
except ImportError:
    _modes = None

_users: ContextVar[Any] = ContextVar("users", default=None)
"""The user's error modes during a call of :func:`raising`; None outside one."""


def raising(f: Callable[..., Any], *args: Any) -> Any:
    """Return ``f(*args)``; NumPy raises every floating-point error in the call."""
    if _modes is None:
        with np.errstate(all="raise"):
            return f(*args)
    return copy_context().run(_raising, f, args)


def _raising(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    if _users.get() is None:
        _users.set(_modes.get())
    _modes.set(_make_extobj(all="raise"))
    return f(*args)


def as_users(f: Callable[..., Any], *args: Any) -> Any:
    """Return ``f(*args)``, run in the user's error modes: for user code that is called inside :func:`raising`."""
    return f(*args) if _users.get() is None else copy_context().run(_as_users, f, args)


def _as_users(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    _modes.set(_users.get())
    _users.set(None)
    return f(*args)
