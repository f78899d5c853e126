"""Attribution of NumPy's warnings to the line at which plain Python would report them, not to a line of this package.

If NumPy itself computes (small arrays, the NumPy backend), it reports a division by zero at the calling line, which is in this
package. It reports an empty slice at a line in NumPy, where a method of ndarray would report the user's line. Every warning that
is shown or recorded passes through ``warnings._showwarnmsg``. Its replacement issues such a warning again for the line of the user's file,
so that the user's filters and registry apply to that line. Modules in which Python would otherwise remember the warning have no
registry (``__warningregistry__ = None``).
"""

from __future__ import annotations

import functools
import importlib
import sys
import warnings
from contextlib import suppress
from types import CodeType, FrameType
from typing import Any, cast

import numpy as np

from .._core.handles import general
from ..array import Array
from ..common import callers
from ..common.patching import Exchange, Exchanges

_CATEGORIES = (RuntimeWarning, np.exceptions.ComplexWarning, np.exceptions.VisibleDeprecationWarning)
"""Categories of NumPy's warnings; warnings of libraries about themselves keep their line."""

_BEHIND_METHODS = importlib.import_module("numpy._core._methods").__file__


def at_user_lines(exchanges: Exchanges) -> None:
    """Exchange Python's function that shows and records warnings."""
    exchanges.put("warnings:_showwarnmsg", _showing)
    # By default Python shows a DeprecationWarning for lines of __main__ alone; for a line of this package it has to come as far as the
    # function above.
    warnings.filterwarnings("always", category=DeprecationWarning, module=r"arraydispatch\.")
    added, filters = warnings.filters[0], cast("list[Any]", warnings.filters)

    def remove() -> None:
        with suppress(ValueError):  # the program has reset the filters
            filters.remove(added)

    exchanges.until(remove)


def _showing(exchange: Exchange) -> Any:
    before = exchange.real

    def show(message: warnings.WarningMessage) -> None:
        frame = None
        numpys = issubclass(message.category, _CATEGORIES) and callers.is_core(message.filename)
        ours = callers.is_ours(message.filename)
        if exchange.on and (numpys or ours):
            frame = _user_frame(message, sys._getframe(1))
        if frame is None:
            if not (ours and issubclass(message.category, DeprecationWarning)):  # not shown for our own filter
                before(message)
            return
        names = frame.f_globals
        registry = names.setdefault("__warningregistry__", {})
        place = frame.f_code.co_filename, frame.f_lineno, names.get("__name__", "<string>")
        warnings.warn_explicit(message.message, message.category, *place, registry)

    return show


@functools.cache
def _method_codes() -> frozenset[CodeType]:
    """Return the code objects of the methods and operators of arrays that users call, without those of the protocols that NumPy calls."""
    named = {name: value for name, value in {**vars(Array), **general}.items() if not name.startswith("__array_")}
    return frozenset(value.__code__ for value in named.values() if hasattr(value, "__code__"))


def _user_frame(message: warnings.WarningMessage, frame: FrameType | None) -> FrameType | None:
    """Return the user's frame to which a warning belongs; None if its line is right already."""
    foreign = False
    while frame is not None and (frame.f_code.co_filename, frame.f_lineno) != (message.filename, message.lineno):
        foreign = foreign or not callers.is_core(frame.f_code.co_filename)
        frame = frame.f_back
    if frame is None or (
        foreign and issubclass(message.category, DeprecationWarning)
    ):  # a library's warning about our use of it
        return None
    ours = callers.is_ours(message.filename)
    if ours:
        frame.f_globals["__warningregistry__"] = None
    elif frame.f_back is None or not callers.is_ours(frame.f_back.f_code.co_filename):
        return None
    elif message.filename == _BEHIND_METHODS:
        return None  # plain Python reports this line too, because the methods of ndarrays are implemented there
    by_method, methods = False, _method_codes()
    found: FrameType | None = frame
    while found is not None and callers.is_core(found.f_code.co_filename):
        by_method = by_method or found.f_code in methods
        found = found.f_back
    if not ours:
        # A method of an array calls NumPy's function of that name, which warns in the place of the user's line. Python must
        # not remember the warning for that place, or the next line of the user would not warn.
        if not by_method:
            return None
        registry = frame.f_globals.get("__warningregistry__") or {}
        said = str(message.message), message.category
        for key in (said, (*said, 0), (*said, message.lineno)):
            registry.pop(key, None)
    return found
