"""Floating-point errors of what is recorded: whether they are to be told, of which line, and the telling."""

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
"""What shows warnings there; None where Python has no such thing."""


def begin() -> None:
    """From now on calls are recorded."""
    global _filters, _shown
    _filters, _shown = warnings.filters, _warnings.get("_showwarnmsg_impl")


_ORDER = {kind: i for i, kind in enumerate(("divide by zero", "overflow", "underflow", "invalid value"))}
"""In which order NumPy tells of the errors of one call."""
NOTHING = None, None
"""What :func:`now` says where no error is to be told."""
_heeded = True
"""A warning must come at once in ``catch_warnings``, where it is waited for, or forgotten, and where it is an error, which ends the line."""
_modes_known: tuple[Any, dict[str, Any] | None] = (None, None)
_every_modes: dict[tuple[Any, ...], dict[str, Any]] = {}
_filters_known: tuple[list[Any], tuple[Any, ...], bool] = [], (), False
_places: dict[int, Place] = {}
"""By where the instruction lies, in the memory of the code that a place keeps alive."""
_MOST_PLACES = 4096


def now() -> tuple[Any, Place | None]:
    """The modes of ``np.errstate`` in force, and the line of the user's that is being run.

    The modes are the same object each time; None where all is ignored, ``DECLINED`` where an error is more than a warning.
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
    """Whether a file is this package's or NumPy's."""
    found = _is_inside.get(file)
    if found is None:
        if len(_is_inside) >= 4096:  # as of cells of a notebook
            _is_inside.clear()
        found = _is_inside[file] = is_core(file)
    return found


def tell(block: Block) -> None:
    """Warn as NumPy had, of each error at the line that was recorded, by the filters of then.

    Where warnings are recorded by now (``warnings.catch_warnings(record=True)``), not to whoever records them: he came later.
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
