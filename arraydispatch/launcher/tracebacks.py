"""Tracebacks without this package's frames: the exception that ends a program, and what the program prints of others.

Python's own hook shows an exception's frames as they are, so they are taken out of it; all that :mod:`traceback` shows (and
:mod:`logging` through it) passes through one method of ``StackSummary``, which is exchanged while a program runs.
"""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType, TracebackType
from typing import Any

__all__ = ["FULL", "hide_callers", "hide_ours", "hide_ours_for_good", "strip"]

FULL = "ARRAYDISPATCH_TRACEBACK"
"""Environment variable: when set to ``full``, tracebacks keep this package's own frames."""
_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_callers: set[CodeType] = set()


def _full() -> bool:
    return os.environ.get(FULL) == "full"


def _ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith((_PACKAGE, "<frozen ")) or frame.f_code in _callers


def strip(error: BaseException | None) -> None:
    """Take this package's frames out of the tracebacks of an exception and of those it came from."""
    if not _full():
        _strip(error, set())


def _strip(error: BaseException | None, seen: set[int]) -> None:
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    kept: TracebackType | None = None
    for part in reversed(list(_parts(error.__traceback__))):
        if not _ours(part.tb_frame):
            kept = TracebackType(kept, part.tb_frame, part.tb_lasti, part.tb_lineno)
    error.__traceback__ = kept
    _strip(error.__cause__, seen)
    _strip(error.__context__, seen)
    if isinstance(error, BaseExceptionGroup):
        for member in error.exceptions:
            _strip(member, seen)


def _parts(tb: TracebackType | None) -> Iterator[TracebackType]:
    while tb is not None:
        yield tb
        tb = tb.tb_next


def hide_callers() -> None:
    """Count what called us among our own: the command that starts the launcher is no part of the program."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        _callers.add(frame.f_code)
        frame = frame.f_back


@contextmanager
def hide_ours() -> Iterator[None]:
    """What :mod:`traceback` shows, without our frames for as long as the block runs; of threads that end by an exception too."""
    summary: Any = traceback.StackSummary
    before = vars(summary).get("_extract_from_extended_frame_gen")  # of Python 3.11 to 3.14 at least
    if before is None or _full():
        yield
        return

    def extract(cls: Any, frames: Any, /, **kwargs: Any) -> Any:
        return before.__func__(cls, (each for each in frames if not _ours(each[0])), **kwargs)

    ours, hook = classmethod(extract), threading.excepthook

    def shown(args: Any) -> None:
        strip(args.exc_value)
        kind, value, _, thread = args
        tb = None if value is None else value.__traceback__
        hook(threading.ExceptHookArgs((kind, value, tb, thread)))

    summary._extract_from_extended_frame_gen = ours
    if hook is threading.__excepthook__:
        threading.excepthook = shown
    try:
        yield
    finally:
        if vars(summary)["_extract_from_extended_frame_gen"] is ours:
            summary._extract_from_extended_frame_gen = before
        if threading.excepthook is shown:
            threading.excepthook = hook


def hide_ours_for_good() -> None:
    """In a child process, whose program Python runs by itself."""
    hide_ours().__enter__()
    if sys.excepthook is not sys.__excepthook__ or _full():
        return

    def shown(kind: type[BaseException], error: BaseException, tb: TracebackType | None) -> None:
        strip(error)
        sys.__excepthook__(kind, error, error.__traceback__)

    sys.excepthook = shown
