"""Counts of the other processes of a run: each writes a file to a folder that the session makes and reads."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

from ..backends import loader
from ..common.patching import Exchange, Exchanges
from ..profiling.recorder import Profile
from .exits import Endings

_SPARING = 20
"""Inverse of the maximum share of a busy process's time that saving may take."""


class Saver:
    """Writer of the counts of a process that does not report itself: a child of the reporting one, or a fork.

    It writes before the process ends, and before the process returns a result, because a pool kills its processes when it
    has the last result.
    """

    def __init__(self, profile: Profile, folder: str) -> None:
        self._profile, self._folder = profile, folder
        self._name = ""
        self._next = 0.0
        self._before_results = False

    def begin(self) -> None:
        """Begin counting from zero in a new process, under a new name."""
        self._profile.forget()
        self._name = f"{os.getpid()}-{time.time_ns()}"
        if self._before_results or "multiprocessing" not in sys.modules:
            return
        import multiprocessing.queues  # noqa: F401 -- whose queues these are

        self._before_results = True
        exchanges = Exchanges()  # never removed: the process ends with its program
        tasks: Any = None
        due = False

        def taking(exchange: Exchange) -> Any:
            def get(queue: Any) -> Any:
                nonlocal tasks, due
                tasks = queue
                if due and queue.empty():
                    due = False
                    self.save()
                return exchange.real(queue)

            return get

        def handing_over(exchange: Exchange) -> Any:
            def put(queue: Any, result: Any) -> None:
                nonlocal due
                due = time.monotonic() < self._next and not (tasks is not None and tasks.empty())
                if not due:
                    self.save()
                exchange.real(queue, result)

            return put

        exchanges.put("multiprocessing.queues:SimpleQueue.get", taking)
        exchanges.put("multiprocessing.queues:SimpleQueue.put", handing_over)

    def save(self) -> None:
        """Write all counts so far, if there are any, atomically."""
        start = time.monotonic()
        tally = self._profile.tally()
        if loader.homeless:
            tally.ran_on_host("a forked process computes with NumPy")
        counted = tally.to_json()
        if any(counted.values()):
            path = os.path.join(self._folder, self._name)
            with contextlib.suppress(OSError):  # the run has ended, and its folder was removed
                with open(f"{path}.part", "w", encoding="utf-8") as stream:
                    json.dump(counted, stream)
                os.replace(f"{path}.part", f"{path}.json")
        now = time.monotonic()
        self._next = now + _SPARING * (now - start)


def count_here(folder: str, owns: Callable[[str], bool], each: bool) -> None:
    """Count in this process, a child of the process that reports, and in its forks; write the counts to ``folder``.

    ``owns``: whether a file is the user's. ``each``: whether each call is counted by its line.
    """
    profile = Profile(owns=owns)
    profile.each = each
    saver = Saver(profile, folder)
    profile.start()
    saver.begin()
    os.register_at_fork(after_in_child=saver.begin)
    Endings(lambda flush, complete: saver.save()).listen(termination=False)
