"""Thread pool that runs blocks: as many threads as this process may use, started for the first large block.

The thread that needs a block waits and does none of the work: Ctrl-C reaches the main thread alone, between any two
of its steps, and a block that overwrites dead values cannot be restarted.
"""

from __future__ import annotations

import _thread
import os
import threading
from queue import SimpleQueue
from typing import Any, Protocol

from ...common.process_state import process
from ...common.signal_safety import Done
from ...runtime import threads as numbers

__all__ = ["count", "run"]


class Work(Protocol):
    """Work shared by threads: each calls ``help``, which returns when nothing is left to begin."""

    done: Done

    def help(self, kept: list[Any] | None = None) -> None:
        """Take part in the work; ``kept``: the thread's scratch memory."""


_queue: SimpleQueue[Work] = SimpleQueue()
_started: list[int] = []
_starting = threading.RLock()
_here: int | None = None


def count() -> int:
    """Return the number of threads of a block."""
    global _here
    if process.threads is not None:
        return process.threads
    if _here is None:
        _here = numbers.available()
    return _here


def run(work: Work, helpers: int) -> None:
    """Start the threads on some work; callers that need the results wait for ``work.done``. Repeated calls are harmless."""
    if len(_started) < helpers:
        _start(helpers)
    for _ in range(helpers):
        _queue.put(work)


def _start(helpers: int) -> None:
    with _starting:
        # Not a `threading.Thread`, whose start turns an exception from a signal handler into a KeyError.
        _started.extend(_thread.start_new_thread(_serve, (_queue,)) for _ in range(helpers - len(_started)))


def _serve(queue: SimpleQueue[Any]) -> None:
    kept: list[Any] = []
    while True:
        work = queue.get()
        work.help(kept)
        del work


def _forget() -> None:
    """Reset the pool in a fork, whose parent owns the threads."""
    global _queue, _starting, _here
    _queue, _starting, _here = SimpleQueue(), threading.RLock(), None
    _started.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
