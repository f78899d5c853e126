"""Two threads on one array: the second acts at one moment of what the first does, a moment that can be met again.

Eight threads that run as they like meet by chance what two do here at every line of ours.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import arraydispatch as ad
from arraydispatch.memory import views

__all__ = ["Moments"]

_PACKAGE = str(Path(ad.__file__).parent)
_FREE, _HELD = 0.3, 0.003  # seconds that the second thread has, where the first holds no lock or may hold one
_DEAD = 20.0


class Moments:
    """Runs ``call``, and ``act`` in another thread before the line of the package that has the number ``at``.

    Where ``act`` waits for a lock that ``call`` holds, it comes to pass when that is given back.

    Attributes
    ----------
    lines : int
        How many lines ``call`` has run: up to ``at``.
    """

    def __init__(self, call: Callable[[], Any], act: Callable[[], Any] | None = None, at: int = 0) -> None:
        self.lines, self._at, self._act = 0, at, act
        self._other: threading.Thread | None = None
        self._error: BaseException | None = None
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            self.made = call()
        finally:
            sys.settrace(before)
            if self._act is not None and self._other is None:  # what was planned or compiled before has fewer lines
                self._begin(_DEAD)
            if self._other is not None:
                self._other.join(_DEAD)
        if self._other is not None and self._other.is_alive():
            raise AssertionError("the other thread waits for ever")
        if self._error is not None:
            raise self._error

    def _trace(self, frame: Any, event: str, arg: Any) -> Any:
        return self._line if frame.f_code.co_filename.startswith(_PACKAGE) else None

    def _line(self, frame: Any, event: str, arg: Any) -> Any:
        if event == "line":
            self.lines += 1
            if self.lines == self._at and self._act is not None:
                sys.settrace(None)
                self._begin(_HELD if views.exchange_is_mine() else _FREE)
        return self._line

    def _begin(self, seconds: float) -> None:
        self._other = threading.Thread(target=self._acts, daemon=True)
        self._other.start()
        self._other.join(seconds)

    def _acts(self) -> None:
        assert self._act is not None
        try:
            self._act()
        except BaseException as error:
            error.add_note("in the other thread")
            self._error = error
