"""The threads that run blocks: as many as this process may use, started when the first large block comes.

The thread that asks for a block waits for it and does none of the work: Ctrl-C comes to the main thread alone, between any two
of its steps, and a block that writes over dead values cannot be begun again.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Protocol

from ...common.process_state import process
from ...runtime import threads as numbers

__all__ = ["Done", "aside", "count", "run"]


class Done:
    """An event of which whoever waits may be interrupted by a signal at any point.

    In ``threading.Event`` an exception between two steps of ``wait`` leaves a lock held for ever. Here there is nothing to be
    left: what is waited for is a lock of C's, and who has it has seen the event.
    """

    __slots__ = ("_lock", "_set")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._lock.acquire()
        self._set = False

    def is_set(self) -> bool:
        """Whether it has come."""
        return self._set

    def set(self) -> None:
        """Let go on who waits; more than once does no harm."""
        self._set = True
        with contextlib.suppress(RuntimeError):  # another thread has
            self._lock.release()

    def wait(self) -> None:
        """Return when it has come. One thread waits."""
        while not self._set:
            self._lock.acquire()


class Work(Protocol):
    """What threads do together: each calls ``help``, which returns when nothing is left to begin."""

    done: Done

    def help(self, kept: list[Any] | None = None) -> None:
        """Take part; ``kept``: the thread's memory."""


_queue: SimpleQueue[Work] = SimpleQueue()
_started: list[int] = []
_starting = threading.Lock()
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


def aside(f: Callable[[], None]) -> None:
    """Run a function where no signal's handler is called: in another thread, if this is the main one.

    What a handler raises meanwhile is raised at once; the function comes to its end all the same.
    """
    if threading.current_thread() is not threading.main_thread():
        f()
        return
    done, failed = Done(), []

    def work() -> None:
        try:
            f()
        except BaseException as error:  # noqa: BLE001 -- raised below
            failed.append(error)
        finally:
            done.set()

    try:
        _thread.start_new_thread(work, ())
    except RuntimeError:  # no threads can be had, as at the end of the process
        f()
        return
    done.wait()
    if failed:
        raise failed[0]


def _serve(queue: SimpleQueue[Any]) -> None:
    kept: list[Any] = []
    while True:
        work = queue.get()
        work.help(kept)
        del work


def _forget() -> None:
    """In a fork: the threads are the parent's."""
    global _queue, _starting, _here
    _queue, _starting, _here = SimpleQueue(), threading.Lock(), None
    _started.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
