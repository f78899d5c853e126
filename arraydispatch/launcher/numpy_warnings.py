"""NumPy's own warnings at the line where plain Python gives them; none of any kind names a line of ours.

Where NumPy itself computes (small arrays, the NumPy backend), it warns of a division by zero at the line that called it, which
is one of ours, and of an empty slice at a line of its own where a method of ndarray warns at the user's. Every warning that is
due, shown or recorded, passes through ``warnings._showwarnmsg``: such a one is issued again there, for the line of the user's
file, so that the user's filters and the record of what was shown are asked for that line. Modules that Python would otherwise
remember as having warned keep no record of it (``__warningregistry__ = None``).
"""

from __future__ import annotations

import importlib
import sys
import warnings
from types import CodeType, FrameType
from typing import Any

import numpy as np

from .._core.handles import general
from ..array import Array
from ..common import callers
from ..common.patching import Exchange, Exchanges

__all__ = ["at_user_lines"]

_CATEGORIES = (RuntimeWarning, np.exceptions.ComplexWarning, np.exceptions.VisibleDeprecationWarning)
"""What NumPy warns of; what libraries say of themselves stays where they say it."""

_BEHIND_METHODS = importlib.import_module("numpy._core._methods").__file__


def at_user_lines(exchanges: Exchanges) -> None:
    """Exchange Python's way to show and record warnings."""
    exchanges.put("warnings:_showwarnmsg", _showing)


def _showing(exchange: Exchange) -> Any:
    before, methods = exchange.real, _method_codes()

    def show(message: warnings.WarningMessage) -> None:
        frame = None
        numpys = issubclass(message.category, _CATEGORIES) and callers.is_core(message.filename)
        if exchange.on and (numpys or callers.is_ours(message.filename)):
            frame = _user_frame(message, sys._getframe(1), methods)
        if frame is None:
            before(message)
            return
        names = frame.f_globals
        registry = names.setdefault("__warningregistry__", {})
        place = frame.f_code.co_filename, frame.f_lineno, names.get("__name__", "<string>")
        warnings.warn_explicit(message.message, message.category, *place, registry)

    return show


def _method_codes() -> frozenset[CodeType]:
    """The methods and operators of arrays that the user calls by name, not the protocols that NumPy calls."""
    named = {name: value for name, value in {**vars(Array), **general}.items() if not name.startswith("__array_")}
    return frozenset(value.__code__ for value in named.values() if hasattr(value, "__code__"))


def _user_frame(
    message: warnings.WarningMessage, frame: FrameType | None, methods: frozenset[CodeType]
) -> FrameType | None:
    """The user's frame to which a warning belongs; None where it is at its place."""
    while frame is not None and (frame.f_code.co_filename, frame.f_lineno) != (message.filename, message.lineno):
        frame = frame.f_back
    if frame is None:
        return None
    ours = callers.is_ours(message.filename)
    if ours:
        frame.f_globals["__warningregistry__"] = None
    elif frame.f_back is None or not callers.is_ours(frame.f_back.f_code.co_filename):
        return None
    elif message.filename == _BEHIND_METHODS:
        return None  # where plain Python gives it too: the methods of ndarrays are implemented there
    by_method = False
    found: FrameType | None = frame
    while found is not None and callers.is_core(found.f_code.co_filename):
        by_method = by_method or found.f_code in methods
        found = found.f_back
    if not ours:
        # What an array's method does, NumPy's function of that name does for us, and was warned of where the user would be:
        # it must not be remembered there, or the next line would be silent.
        if not by_method:
            return None
        registry = frame.f_globals.get("__warningregistry__") or {}
        said = str(message.message), message.category
        for key in (said, (*said, 0), (*said, message.lineno)):
            registry.pop(key, None)
    return found
