"""The threads that run blocks: as many as this process may use, started when the first large block comes.

The thread that asks for a block waits for it and does none of the work: Ctrl-C comes to the main thread alone, between any two
of its steps, and a block that writes over dead values cannot be begun again.
"""

from __future__ import annotations

import _thread
import os
import threading
from queue import SimpleQueue
from typing import Any, Protocol

from ...common.process_state import process
from ...common.signal_safety import Done, aside
from ...runtime import threads as numbers

__all__ = ["Done", "aside", "count", "run"]


class Work(Protocol):
    """What threads do together: each calls ``help``, which returns when nothing is left to begin."""

    done: Done

    def help(self, kept: list[Any] | None = None) -> None:
        """Take part; ``kept``: the thread's memory."""


_queue: SimpleQueue[Work] = SimpleQueue()
_started: list[int] = []
_starting = threading.RLock()
_here: int | None = None


def count() -> int:
    """How many threads a block gets."""
    global _here
    if process.threads is not None:
        return process.threads
    if _here is None:
        _here = numbers.available()
    return _here


def run(work: Work, helpers: int) -> None:
    """Have the threads begin; whoever needs the results waits for ``work.done``. More than once does no harm."""
    if len(_started) < helpers:
        _start(helpers)
    for _ in range(helpers):
        _queue.put(work)


def _start(helpers: int) -> None:
    with _starting:
        while len(_started) < helpers:
            # Not a `threading.Thread`, whose start makes a KeyError of what a signal's handler raises in it.
            _started.append(_thread.start_new_thread(_serve, (_queue,)))


def _serve(queue: SimpleQueue[Any]) -> None:
    kept: list[Any] = []
    while True:
        work = queue.get()
        work.help(kept)
        del work


def _forget() -> None:
    """In a fork: the threads are the parent's."""
    global _queue, _starting, _here
    _queue, _starting, _here = SimpleQueue(), threading.RLock(), None
    _started.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
