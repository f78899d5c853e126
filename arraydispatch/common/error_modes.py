"""Calls in which NumPy raises each floating-point error, whatever the user has set, and which change nothing of that.

``with np.errstate(all="raise")`` is written in Python: what the handler of a signal raises in the middle of its end (Ctrl-C, an alarm) would leave
that mode behind. And the handler would compute in it.
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
"""Modes that the user has set, in a call of :func:`raising`; None outside one."""


def raising(f: Callable[..., Any], *args: Any) -> Any:
    """Return ``f(*args)``, in which NumPy raises each error."""
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
    """Return ``f(*args)``, code of the user's that comes in the middle of a call, in the modes that the user has set."""
    return f(*args) if _users.get() is None else copy_context().run(_as_users, f, args)


def _as_users(f: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    _modes.set(_users.get())
    _users.set(None)
    return f(*args)
