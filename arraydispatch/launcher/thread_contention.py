"""Fewer threads while others keep the processors busy.

The threads of OpenMP and of OpenBLAS share each operation and wait for each other without a pause. Where a neighbour takes a
processor, an operation of 50 µs lasts until the system lets the last thread run, some milliseconds later: measured, 24 times
longer than with one thread. Such a neighbour shows in how often the system takes the processor away from this process: a hundred
times a second where it has to share one, next to never where it has not. That is looked at ten times a second: the number of
threads is halved while it happens, and goes up again when it has stopped.
"""

from __future__ import annotations

import _thread
import ctypes
import os
import threading
from typing import Any

from ..backends import loader
from ..backends.base import Backend
from ..runtime.threads import VARIABLES, available

__all__ = ["Governor"]

_EVERY = 0.1
"""Seconds between two looks."""
_SHARED = 5
"""Times that the processor is taken away between two looks: 6 to 16 beside busy loops, 0 to 4 alone."""
_PATIENCE, _LONGEST = 10, 320
"""Looks in peace before the number goes up: the first time, and at most; it doubles each time."""


def _taken_away() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_nivcsw


class Governor:
    """Keeps libraries to as many threads as processors are free, in the thread that runs the program.

    Parameters
    ----------
    most : int
        How many threads may run at one time.
    """

    def __init__(self, most: int) -> None:
        self._backends: list[Backend] = []
        self._before: dict[Backend, int] = {}
        self._most = self.threads = self._wanted = most
        self._over = threading.Event()
        self._patience, self._peace, self._uneasy = _PATIENCE, 0, False
        # OpenMP's number is that of the thread that asks for operations, so it is that thread that has to change it.
        self._call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(self._apply)

    @classmethod
    def of(cls, *names: str) -> Governor | None:
        """One that looks, for backends of these names, loaded or not; None where there is nothing to do, or somebody has said how many threads there are to be."""
        try:
            import resource  # noqa: F401 -- not on Windows
        except ImportError:
            return None
        if available() < 2 or any(name in os.environ for name in VARIABLES) or not hasattr(ctypes, "pythonapi"):
            return None
        made = cls(available())
        for name in dict.fromkeys(names):
            loader.when_loaded(name, made.add)
        _thread.start_new_thread(made._look, ())  # of which the program's `threading` knows nothing
        return made

    def add(self, backend: Backend) -> None:
        """Keep this library too, if its threads wait busily."""
        if backend.waits_busily and not self._over.is_set():
            self._backends.append(backend)
            if self.threads < self._most:
                self._before[backend] = backend.threads
                backend.use_threads(min(backend.threads, self.threads))

    def stop(self) -> None:
        """Look no longer; the numbers are as they were in the beginning."""
        self._over.set()
        self.use(self._most)

    def _look(self) -> None:
        before = _taken_away()
        while not self._over.wait(_EVERY):
            now = _taken_away()
            self._wanted = self.next(now - before)
            before = now
            if self._wanted != self.threads:
                ctypes.pythonapi.Py_AddPendingCall(self._call, None)

    def next(self, taken: int) -> int:
        """How many threads there are to be, if the processor was taken away so often since the last look."""
        if taken >= _SHARED:
            again, self._uneasy, self._peace = self._uneasy, True, 0  # once may be chance
            return max(1, self.threads // 2) if again else self.threads
        self._uneasy = False
        self._peace += 1
        if self.threads < self._most and self._peace >= self._patience:
            self._peace, self._patience = 0, min(2 * self._patience, _LONGEST)
            return min(2 * self.threads, self._most)
        return self.threads

    def _apply(self, _: Any) -> int:
        """In the main thread, between two steps of the program."""
        if not self._over.is_set():
            self.use(self._wanted)
        return 0

    def use(self, n: int) -> None:
        """Use at most so many threads; not of libraries for which the program has chosen a number itself."""
        if n == self.threads:
            return
        for each in list(self._backends):
            chosen = self._before.setdefault(each, each.threads)
            if each.threads != min(chosen, self.threads) and self.threads < self._most:
                self._backends.remove(each)
            else:
                each.use_threads(min(chosen, n))
        self.threads = n
