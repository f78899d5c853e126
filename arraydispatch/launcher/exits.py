"""Notification of the end of a process: by its last line, an exception, ``SIGTERM``, ``SIGHUP``, ``os._exit``, ``os.abort``."""

from __future__ import annotations

import atexit
import os
import signal
import threading
from collections.abc import Callable
from functools import wraps
from signal import getsignal, signal as set_handler  # imported by name, before a run exchanges them for the program
from types import FrameType
from typing import Any

from ..common import signal_safety
from ..common.patching import Exchange, Exchanges

INTERRUPTED = 130
"""Exit code of a program ended by Ctrl-C, as shells report it."""


class Interrupted(KeyboardInterrupt):
    """Raised after Ctrl-C has ended the program and its traceback was printed. The process then dies of the signal, so that a shell's loop
    ends.
    """


exit_code: int | None = None
"""Exit code of the program, once its last line has run."""


def ended_with(code: int) -> None:
    """Record the exit code when the last line of the program has run."""
    global exit_code
    exit_code = code


class Endings:
    """Listener that calls ``finish(flush, complete)`` before the process ends, and in its forks before these end.

    ``flush``: whether Python flushes its streams now; ``complete``: whether the program ended by itself.
    """

    def __init__(self, finish: Callable[[bool, bool], None]) -> None:
        self._finish = finish
        self._heard = self._finishing = False
        self._asked: int | None = None
        self._put_back: list[Callable[[], None]] = []
        self._exchanges = Exchanges()

    def listen(self, termination: bool = True) -> None:
        """Begin to listen; with ``termination`` also for ``SIGTERM``.

        Python runs a handler when its main thread returns to the interpreter loop, and a thread that waits for a lock does not
        return. So processes that are ended by ``SIGTERM`` and then waited for, as in pools, cannot listen for it.
        """
        # Python waits for the program's threads and runs its exit handlers after its last line. All of this is part of the
        # program's run. So the run ends in the exit handler that was registered first, which runs last.
        atexit.register(self._at_exit)
        for name in ("_exit", "abort"):
            self._before(name)
        if termination:
            for name in ("SIGTERM", "SIGHUP"):
                if hasattr(signal, name):
                    self._on_signal(getattr(signal, name))

    def stop(self) -> None:
        """Stop listening."""
        self._heard = True
        atexit.unregister(self._at_exit)
        for back in self._put_back:
            back()
        self._put_back.clear()
        self._exchanges.undo()

    def _at_exit(self) -> None:
        self._end(True, True)

    def _end(self, flush: bool, complete: bool) -> None:
        """Call ``finish(flush, complete)``. A signal that arrives meanwhile to end the process, for example from a pool, takes effect
        afterwards.
        """
        self._finishing = True
        try:
            self._finish(flush, complete)
        finally:
            self._finishing = False
            if self._asked is not None:
                set_handler(self._asked, signal.SIG_DFL)
                signal.raise_signal(self._asked)

    def _before(self, name: str) -> None:
        """Wrap a function of ``os`` that ends the process so that ``finish`` is called first. Streams are not flushed."""

        def make(exchange: Exchange) -> Any:
            @wraps(exchange.real)
            def ending(*args: Any, **kwargs: Any) -> Any:
                if exchange.on:
                    self._end(False, True)
                return exchange.real(*args, **kwargs)

            return ending

        self._exchanges.put(f"os:{name}", make)

    def _on_signal(self, asking: int) -> None:
        """Call ``finish`` when a signal asks the process to end, then end as usual. Do nothing if the signal has a handler."""
        if threading.current_thread() is not threading.main_thread():
            return
        if getsignal(asking) is not signal.SIG_DFL:
            return

        def terminated(number: int, _frame: FrameType | None) -> None:
            if signal_safety.is_aside():
                signal_safety.postpone(number)
                return
            signal_safety.waiting.discard(number)
            self._asked = number
            if not self._finishing:
                self._end(False, False)

        terminated.waits = True  # type: ignore[attr-defined]

        def switch(have: Any, want: Any) -> None:
            if threading.current_thread() is threading.main_thread() and getsignal(asking) is have:
                set_handler(asking, want)

        def default() -> None:
            switch(terminated, signal.SIG_DFL)

        def listen() -> None:
            if not self._heard:
                switch(signal.SIG_DFL, terminated)

        listen()
        if hasattr(os, "register_at_fork"):
            # A child has no pending signal: Python drops one that a handler caught before the fork. A child that another
            # thread of the parent made inherits the handler, and removes it here.
            os.register_at_fork(before=default, after_in_parent=listen, after_in_child=default)
        self._put_back.append(default)
