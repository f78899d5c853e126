"""Progress line at the bottom of the terminal for long runs.

The line is outside the scrolling region of the screen (as apt's is), so the output of the program, from
Python or from C, continues above it unchanged.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from typing import Any

from ..common import callers
from ..profiling.recorder import Profile

_AFTER = 5.0
"""Seconds that a program runs before the line appears."""
_SAVE, _RESTORE, _ERASE = "\x1b7", "\x1b8", "\x1b[2K"


class Progress:
    """Progress line; :meth:`show` redraws it, :meth:`end` removes it.

    Parameters
    ----------
    profile : Profile
        Source of the figures.
    """

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._began = time.monotonic()
        self._main = threading.main_thread().ident
        self._rows = 0
        self._lock = threading.RLock()
        self._over = False

    @staticmethod
    def possible() -> bool:
        """Whether standard error is a terminal that supports it."""
        try:
            terminal = sys.stderr is not None and sys.stderr.isatty()
        except ValueError:  # the stream is closed
            return False
        return terminal and os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "") and os.name == "posix"

    def show(self) -> None:
        """Draw the line, if the program has run for long enough."""
        seconds = time.monotonic() - self._began
        if seconds < _AFTER:
            return
        with self._lock, contextlib.suppress(OSError, ValueError):
            if self._over:
                return
            size = os.get_terminal_size(sys.stderr.fileno())
            if size.lines < 3 or size.columns < 20:
                return
            out = ""
            if size.lines != self._rows:  # make room below what was printed, then let the rest scroll above
                # Move up before the cursor is saved: some terminals restore it relative to the scrolling region, others to where it was.
                out = f"\n\x1b[1A{_SAVE}\x1b[1;{size.lines - 1}r{_RESTORE}"
                self._rows = size.lines
            line = self._render(self._text(seconds), size.columns)
            self._write(f"{out}{_SAVE}\x1b[{size.lines};1H{_ERASE}{line}{_RESTORE}")

    def end(self) -> None:
        """Restore the terminal."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._over = True
            if self._rows:
                self._write(f"{_SAVE}\x1b[r\x1b[{self._rows};1H{_ERASE}{_RESTORE}")
                self._rows = 0

    def _write(self, text: str) -> None:
        # Write past Python's buffers, so that the program's unfinished line is not flushed.
        os.write(sys.stderr.fileno(), text.encode(errors="replace"))

    def _text(self, seconds: float) -> str:
        totals = self._profile.totals()
        minutes, rest = divmod(int(seconds), 60)
        parts = [f"{minutes}:{rest:02d}", f"{sum(totals.values()):,} array calls"]
        if totals.get("host"):
            parts.append(f"{totals['host']:,} on the host")
        place = self._place()
        if place:
            parts.append(f"at {place}")
        return " · ".join(parts)

    def _place(self) -> str:
        found = callers.line_of_thread(self._main or 0)
        return "" if found is None else f"{os.path.basename(found[0])}:{found[1]}"

    @staticmethod
    def _render(text: str, columns: int) -> str:
        """Return the line in the terminal's colours, cut to its width."""
        from rich.console import Console
        from rich.text import Text

        console: Any = Console(stderr=True, width=columns, highlight=False, emoji=False)
        line = Text.assemble(
            ("arraydispatch", "bold reverse"), (f" {text}", "reverse"), no_wrap=True, overflow="ellipsis"
        )
        line.truncate(columns, overflow="ellipsis", pad=True)
        with console.capture() as captured:
            console.print(line, end="")
        return captured.get()
