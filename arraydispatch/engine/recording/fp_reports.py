"""Floating-point errors of recorded calls: whether they are reported, for which line, and the report."""

from __future__ import annotations

import warnings
from types import CodeType, FrameType, FunctionType
from typing import Any

import numpy as np

from ..._core import machine
from ...common.callers import is_core
from ...common.sentinels import DECLINED
from ...common.user_warnings import FLOATING_ERRORS
from ..host_blocks.blocks import Block
from ..nodes import Place

__all__ = ["listened", "now", "tell"]

_errors_in_force: Any = np._core.umath._extobj_contextvar
_warnings = vars(warnings)
_FUNCTION = FunctionType
_shown: Any = _warnings.get("_showwarnmsg_impl")
"""Function that shows warnings outside of any ``warnings.catch_warnings(record=True)``; None where that is not known."""
if type(_shown) is not FunctionType:
    _shown = None


_ORDER = {kind: i for i, kind in enumerate(("divide by zero", "overflow", "underflow", "invalid value"))}
"""Kind of error -> place in the order in which NumPy reports the errors of one call."""
_heeded = True
"""Whether :func:`listened` asks at all; tests turn it off."""


class _State:
    """State of errors and warnings that was found last.

    Attributes
    ----------
    errors : object
        NumPy's own state of errors.
    modes : dict or None
        The modes of ``np.errstate``, the same object each time; None if all errors are ignored, ``DECLINED`` if an error does more than warn.
    filters : list
        The warning filters.
    as_tuple : tuple
        The same.
    raises : bool
        Whether one of them makes an error of a warning.
    """

    __slots__ = ("as_tuple", "errors", "filters", "modes", "raises")

    def __init__(self, errors: Any, modes: Any, filters: list[Any], as_tuple: tuple[Any, ...], raises: bool) -> None:
        self.errors, self.modes, self.filters, self.as_tuple, self.raises = errors, modes, filters, as_tuple, raises


_state = _State(None, None, [], (), False)
_every_modes: dict[tuple[Any, ...], dict[str, Any]] = {}
_places: dict[int, Place] = {}
"""By where the instruction lies, in the memory of the code that a place keeps alive."""
_MOST_PLACES = 4096
_DECLINED = DECLINED


def now() -> Any:
    """Return the :class:`~arraydispatch.engine.nodes.Place` of the user's line that is running, with the modes of ``np.errstate`` in force.

    It is None if all errors are ignored, and ``DECLINED`` if an error does more than warn.
    """
    state: _State = _state
    errors = machine.value_of(_errors_in_force)
    if errors is not state.errors:
        state = _learn_modes(errors)
    modes = state.modes
    if modes is None or modes is _DECLINED:
        return modes
    if listened():
        return _DECLINED
    state = _state
    frame: FrameType = machine.current_frame()
    code: CodeType = frame.f_code
    at = frame.f_lasti
    key = machine.identity(code) + at
    found = _places.get(key)
    if found is None or found.code is not code:  # as in code of this package and of NumPy's
        while _is_inside[code.co_filename] and frame.f_back is not None:
            frame = frame.f_back
            code = frame.f_code
        at = frame.f_lasti
        key = machine.identity(code) + at
        found = _places.get(key)
    if found is not None:
        place: Place = found
        if (
            place.code is code
            and place.instruction == at
            and place.modes is modes
            and place.filters is state.as_tuple
            and place.names is frame.f_globals
        ):
            return place
    if len(_places) >= _MOST_PLACES:
        _places.clear()
    made = _places[key] = Place(code, at, frame.f_globals, state.as_tuple, modes)
    return made


def listened() -> bool:
    """Whether a warning must be issued at its call: a filter makes an error of it, or the program collects or shows warnings itself."""
    state: _State = _state
    filters = _warnings["filters"]
    if filters != state.filters:
        state = _learn_filters(filters)
    if not _heeded:
        return False
    return (
        state.raises
        or type(_warnings.get("_showwarnmsg_impl")) is not _FUNCTION
        or _warnings["showwarning"] is not _warnings.get("_showwarning_orig")
    )


def _learn_modes(errors: Any) -> _State:
    global _state
    modes: dict[str, Any] = {**np.geterr()}
    said = set(modes.values())
    found: Any = DECLINED if not said <= {"ignore", "warn"} else None if said == {"ignore"} else modes
    if found is modes:
        found = _every_modes.setdefault(tuple(modes.items()), modes)
    before: _State = _state
    made = _state = _State(errors, found, before.filters, before.as_tuple, before.raises)
    return made


def _learn_filters(filters: Any) -> _State:
    global _state
    before: _State = _state
    raises = any(each[0] == "error" for each in filters)
    made = _state = _State(before.errors, before.modes, list(filters), tuple(filters), raises)
    return made


class _Inside(dict[str, bool]):
    """File -> whether it belongs to this package or to NumPy."""

    def __missing__(self, file: str) -> bool:
        if len(self) >= 4096:  # many files, such as the cells of a notebook
            self.clear()
        found = self[file] = is_core(file)
        return found


_is_inside = _Inside()


def tell(block: Block) -> None:
    """Warn of each error as NumPy would have at the recorded line, by the filters that were in force then.

    If ``warnings.catch_warnings(record=True)`` has begun since, it does not get these warnings, which are from before.
    """
    later = _heeded and _shown is not None and _warnings.get("_showwarnmsg_impl") is not _shown
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
