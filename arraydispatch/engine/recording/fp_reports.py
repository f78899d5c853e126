"""Floating-point errors of recorded calls: whether they are reported, for which line, and the report."""

from __future__ import annotations

import warnings
from sys import _getframe
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ...common.callers import is_core
from ...common.sentinels import DECLINED
from ...common.user_warnings import FLOATING_ERRORS
from ..host_blocks.blocks import Block
from ..nodes import Place

__all__ = ["NOTHING", "begin", "now", "tell"]

_errors_in_force: Any = np._core.umath._extobj_contextvar.get
_warnings = vars(warnings)
_filters: Any = None
"""The list of warning filters outside of any ``warnings.catch_warnings``."""
_shown: Any = None
"""Function that shows warnings outside of any ``warnings.catch_warnings``; None if Python has none."""


def begin() -> None:
    """Prepare for calls that are recorded from now on."""
    global _filters, _shown
    _filters, _shown = warnings.filters, _warnings.get("_showwarnmsg_impl")


_ORDER = {kind: i for i, kind in enumerate(("divide by zero", "overflow", "underflow", "invalid value"))}
"""Kind of error -> place in the order in which NumPy reports the errors of one call."""
NOTHING = None, None
"""Result of :func:`now` if no error is to be reported."""
_heeded = True
"""Whether a warning must come immediately: inside ``catch_warnings``, which waits for it, and if it is turned into an error."""
_modes_known: tuple[Any, dict[str, Any] | None] = (None, None)
_every_modes: dict[tuple[Any, ...], dict[str, Any]] = {}
_filters_known: tuple[list[Any], tuple[Any, ...], bool] = [], (), False
_places: dict[int, Place] = {}
"""By where the instruction lies, in the memory of the code that a place keeps alive."""
_MOST_PLACES = 4096


def now() -> tuple[Any, Place | None]:
    """Return the modes of ``np.errstate`` in force, and the user's line that is running.

    The modes are the same object each time. They are None if all errors are ignored, ``DECLINED`` if an error does more than warn.
    """
    seen, found = _modes_known
    errors = _errors_in_force()
    if errors is not seen or seen is None:
        found = _learn_modes(errors)
    if found is None:
        return NOTHING
    if found is DECLINED:
        return DECLINED, None
    filters, known = _warnings["filters"], _filters_known
    if filters != known[0]:
        known = _learn_filters(filters)
    if (filters is not _filters or known[2]) and _heeded:
        return DECLINED, None
    frame: FrameType = _getframe(0)
    code: CodeType = frame.f_code
    while _inside(code.co_filename) and frame.f_back is not None:
        frame = frame.f_back
        code = frame.f_code
    at = frame.f_lasti
    key = id(code) + at
    place: Place | None = _places.get(key)
    if (
        place is None
        or place.code is not code
        or place.instruction != at
        or place.names is not frame.f_globals
        or place.filters is not known[1]
    ):
        if len(_places) >= _MOST_PLACES:
            _places.clear()
        place = _places[key] = Place(code, at, frame.f_globals, known[1])
    return found, place


def _learn_modes(errors: Any) -> Any:
    global _modes_known
    modes: dict[str, Any] = {**np.geterr()}
    said = set(modes.values())
    found: Any = DECLINED if not said <= {"ignore", "warn"} else None if said == {"ignore"} else modes
    if found is modes:
        found = _every_modes.setdefault(tuple(modes.items()), modes)
    _modes_known = errors, found
    return found


def _learn_filters(filters: Any) -> tuple[list[Any], tuple[Any, ...], bool]:
    global _filters_known
    _filters_known = list(filters), tuple(filters), any(each[0] == "error" for each in filters)
    return _filters_known


_is_inside: dict[str, bool] = {}


def _inside(file: str) -> bool:
    """Whether a file belongs to this package or to NumPy."""
    found = _is_inside.get(file)
    if found is None:
        if len(_is_inside) >= 4096:  # many files, such as the cells of a notebook
            _is_inside.clear()
        found = _is_inside[file] = is_core(file)
    return found


def tell(block: Block) -> None:
    """Warn of each error as NumPy would have at the recorded line, by the filters that were in force then.

    If ``warnings.catch_warnings(record=True)`` has begun since, it does not get these warnings, which are from before.
    """
    later = _heeded and warnings.filters is not _filters and _shown is not None
    for i, kind in sorted(block.errors, key=lambda error: (error[0], _ORDER[error[1]])):
        node = block.nodes[i]
        if node.told is None or node.place is None or node.told[FLOATING_ERRORS[kind]] != "warn":
            continue
        text = f"{kind} encountered in {getattr(node.form.func, '__name__', 'reduce')}"
        file, line, names, filters = node.place.code.co_filename, node.place.line, node.place.names, node.place.filters
        said = (
            text,
            RuntimeWarning,
            file,
            line,
            names.get("__name__", "<string>"),
            names.setdefault("__warningregistry__", {}),
        )
        if tuple(warnings.filters) == filters and not later:
            warnings.warn_explicit(*said)
        else:
            with warnings.catch_warnings():
                warnings.filters[:] = filters  # type: ignore[index]
                if later:
                    _warnings["_showwarnmsg_impl"] = _shown
                warnings.warn_explicit(*said)
