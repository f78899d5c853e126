"""Tracebacks without this package's frames, for the exception that ends a program and for those that the program prints.

Python's own hook shows all frames of an exception, so they are removed from it. Everything that :mod:`traceback` shows (and
:mod:`logging` through it) passes through one method of ``StackSummary``, which is exchanged while a program runs.

At least one frame is always kept, and a request for a single frame returns that frame.
"""

from __future__ import annotations

import os
import re
import sys
import threading
import traceback  # noqa: F401 -- what is exchanged has to be there
from collections.abc import Iterator
from itertools import islice
from types import CodeType, FrameType, TracebackType
from typing import Any, TypeVar

from ..common import callers
from ..common.patching import Exchange, Exchanges

FULL = "ARRAYDISPATCH_TRACEBACK"
"""Environment variable: when set to ``full``, tracebacks keep this package's own frames."""
_RUNNER = os.path.join(callers.OURS, "launcher", "runner.py")
_callers: set[CodeType] = set()
_WANTS_BUFFER = re.compile(r"(?=.*bytes)(?=.*\bndarray)|supporting the buffer API", re.DOTALL)
"""Messages of Python and its modules about an object without the buffer protocol."""
_BUFFER = "An array of a library's shows no buffer to code in C: hand it x.tobytes(), or x.data, a memoryview."

T = TypeVar("T")


def _full() -> bool:
    return os.environ.get(FULL) == "full"


def _ours(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return callers.is_ours(file) or file.startswith("<frozen ") or frame.f_code in _callers


def _shown(parts: list[tuple[FrameType, T]]) -> list[tuple[FrameType, T]]:
    """Return the entries of a traceback outside of this package, or the last one if all are inside, because callers expect an entry.

    Python shows no entries for a program that does not compile, and neither does this.
    """
    kept = [part for part in parts if not _ours(part[0])]
    return kept or [part for part in parts[-1:] if part[0].f_code.co_filename != _RUNNER]


def strip(error: BaseException | None) -> None:
    """Remove this package's frames from the tracebacks of an exception and of its causes.

    An exception that NumPy's arrays would not raise gets a note with a remedy.
    """
    if type(error) is TypeError and _WANTS_BUFFER.search(str(error)) and _BUFFER not in getattr(error, "__notes__", ()):
        error.add_note(_BUFFER)
    if not _full():
        _strip(error, set())


def _strip(error: BaseException | None, seen: set[int]) -> None:
    if error is None or id(error) in seen:
        return
    seen.add(id(error))
    kept: TracebackType | None = None
    for frame, part in reversed(_shown([(part.tb_frame, part) for part in _parts(error.__traceback__)])):
        kept = TracebackType(kept, frame, part.tb_lasti, part.tb_lineno)
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
    """Hide also the frames that called the launcher, because the command is not part of the program."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        _callers.add(frame.f_code)
        frame = frame.f_back


def hide_ours(exchanges: Exchanges) -> None:
    """Make :mod:`traceback` hide this package's frames, also for threads that end by an exception."""
    if _full():
        return
    exchanges.put("traceback:StackSummary._extract_from_extended_frame_gen", _extracting)
    if threading.excepthook is threading.__excepthook__:
        exchanges.put("threading:excepthook", _ending_a_thread)


def _extracting(exchange: Exchange) -> Any:
    def extract(cls: Any, frames: Any, /, **kwargs: Any) -> Any:
        # A caller that asks for one frame, as pytest does for each entry, gets that frame. Filter here, because
        # `walk_stack` counts the frames between itself and its caller.
        if exchange.on:
            frames = list(islice(frames, 1)) if kwargs.get("limit") == 1 else _shown(list(frames))
        return exchange.real(cls, frames, **kwargs)

    return extract


def _ending_a_thread(exchange: Exchange) -> Any:
    def shown(args: Any) -> None:
        if not exchange.on:
            exchange.real(args)
            return
        strip(args.exc_value)
        kind, value, _, thread = args
        tb = None if value is None else value.__traceback__
        exchange.real(threading.ExceptHookArgs((kind, value, tb, thread)))

    return shown


def hide_ours_at_the_end(exchanges: Exchanges) -> None:
    """Show the error that ends the process without our frames, if Python itself runs the program."""
    if sys.excepthook is sys.__excepthook__ and not _full():
        exchanges.put("sys:excepthook", _ending_the_process)


def _ending_the_process(exchange: Exchange) -> Any:
    def shown(kind: type[BaseException], error: BaseException, tb: TracebackType | None) -> None:
        strip(error)
        exchange.real(kind, error, error.__traceback__)

    return shown
