"""State that decides how calls run in this process: settings, the array constructor, listeners, and counts of open
``with`` blocks.

Changes are made here only: permanently (:meth:`Process.change`), for a ``with`` block (:meth:`Process.kept`), or by counting
open ``with`` blocks (:meth:`Process.add`). No module sets a global of another one. A module that runs too often to read this object,
or that derives something from it, registers a follower: a function that updates the module's own globals on a change
(``events.tap``, ``views.watch``, ``call_nodes.least``).
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from itertools import repeat
from operator import call
from typing import Any

SETTINGS = (
    "allowing", "backend", "by_policy", "devices", "draws_on_device", "execution", "fallback", "lent", "min_size", "rules",
    "threads", "usual_execution",
)  # fmt: skip
"""Settings that a user chooses, by ``arraydispatch.use`` or on the launcher's command line."""

Follower = Callable[[], None]
_set = object.__setattr__
_followers: list[tuple[frozenset[str], Follower]] = []
lock = threading.RLock()
"""Lock held while the state changes, and while it is read in order to be changed."""


@cache
def _followers_of(*names: str) -> tuple[Follower, ...]:
    """Return the functions that follow at least one of these attributes."""
    return tuple(follower for followed, follower in _followers if not followed.isdisjoint(names))


def _forget_lock() -> None:
    """Replace the lock after a fork: no other thread holds it."""
    global lock
    lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)


class Process:
    """State of the process; the single instance is :data:`process`.

    Assigning an attribute changes it permanently, as :meth:`change` does.

    Attributes
    ----------
    backend : str
        Name of the default backend; its library may not be imported yet.
    by_policy : bool
        Whether the launcher chose execution and ``min_size`` by :mod:`arraydispatch.runtime.execution_policy`. If so, both are chosen
        anew when the default backend changes.
    devices : mapping of str to Device
        Name of a backend -> the device on which new arrays are placed.
    execution : {"eager", "fused", "compiled", None}
        How calls run. ``"eager"``: by the library alone. None: also by NumPy where it is faster on the library's own
        memory. ``"fused"``: calls on large CPU values are recorded and run as blocks. ``"compiled"``: calls on the library's
        arrays are recorded and run as programs of its compiler.
    usual_execution : {"eager", "fused", "compiled", None}
        How calls run outside of all blocks that set it.
    executions : tuple of arraydispatch.runtime.settings.execution
        Open blocks that set how calls run, in any thread, the innermost last.
    min_size : int
        The launcher's ``--min-size``: number of elements from which calls on values in the host state are run by the
        library; 0 if there is no host state.
    lent : bool
        Whether the host state exists only for fused execution.
    rules : arraydispatch.runtime.settings.Rules
        Precision rules that every result obeys.
    fallback : {"warn", "error", "silent"}
        Effect of a host fallback.
    allowing : str
        Remedy named by the error of a refused host fallback.
    threads : int or None
        Threads for libraries imported from now on; see :mod:`arraydispatch.runtime.resources`.
    draws_on_device : bool
        Whether ``np.random`` draws with the library's generator: the launcher's ``--rng device``.
    wrapper : callable
        Constructor of every array: ``wrapper(value, kind, owned=False)``.
    natives_first : bool
        Whether an operator between an `Array` and a library's array runs as the library's operator, as it does for an ndarray.
    watch : callable or None
        While a transform runs: called with a root and the value about to be written to it; raises if the write is not allowed.
    admit : callable or None
        While a transform runs: called with the value about to be written.
    born : callable or None
        While a transform runs: called with each new scalar on a device.
    tap : arraydispatch.common.events.Listener or None
        Receiver of events.
    users : arraydispatch.launcher.user_files.UserFiles or None
        Rule for which files are user code; None while no launcher runs, when nothing is adopted.
    observer : callable or None
        Called with each adopted ndarray.
    around : callable or None
        Wraps each SciPy stand-in that users get; called with the stand-in and its name. The launcher's wrapper returns arrays.
    visited : callable or None
        Returns whether a library that the program uses directly is tracing one of the program's functions. Arrays that NumPy
        creates in such a function are constants.
    interop : int
        Number of requests in force to make SciPy's functions, and those of some other packages, take arrays.
    cells : dict or None
        Namespace of a notebook in which cells see the facade or NumPy, depending on the mode.
    overrides : int
        Number of open blocks with their own rules, in any thread.
    blocks_entered : bool
        Whether any thread has entered a block with its own backend: programs without one skip that look-up.
    suspended : int
        Number of open blocks that suspend the fast path and recording.
    traces : int
        Number of running traces, in all threads together.
    """

    __slots__ = (
        *SETTINGS,
        "wrapper", "natives_first", "watch", "admit", "born", "tap",
        "users", "observer", "around", "visited", "interop", "cells",
        "executions", "overrides", "blocks_entered", "suspended", "traces",
    )  # fmt: skip

    backend: str
    by_policy: bool
    devices: Mapping[str, Any]
    execution: Any
    usual_execution: Any
    executions: tuple[Any, ...]
    min_size: int
    lent: bool
    rules: Any
    fallback: Any
    allowing: str
    threads: int | None
    draws_on_device: bool
    wrapper: Callable[..., Any]
    natives_first: bool
    watch: Callable[..., None] | None
    admit: Callable[..., None] | None
    born: Callable[[Any], None] | None
    tap: Any
    users: Any
    observer: Callable[[Any], None] | None
    around: Callable[[Any, str], Any] | None
    visited: Callable[[], bool] | None
    interop: int
    cells: dict[str, Any] | None
    overrides: int
    blocks_entered: bool
    suspended: int
    traces: int

    def __init__(self) -> None:
        start: dict[str, Any] = dict.fromkeys(self.__slots__)
        start |= dict.fromkeys(("by_policy", "draws_on_device", "lent", "natives_first", "blocks_entered"), False)
        start |= dict.fromkeys(("min_size", "interop", "overrides", "suspended", "traces"), 0)
        start |= {"backend": "numpy", "devices": {}, "executions": (), "fallback": "warn"}
        start["allowing"] = (
            "To allow it, say arraydispatch.use(fallback='warn'), or arraydispatch.fallback('warn') for a block."
        )
        self.change(**start)

    def __setattr__(self, name: str, value: Any) -> None:
        self.change(**{name: value})

    def held(self, *names: str) -> dict[str, Any]:
        """Return a dict of these attributes, or of all if none is named: name -> value."""
        with lock:
            return {name: getattr(self, name) for name in names or self.__slots__}

    def change(self, **values: Any) -> None:
        """Set attributes in one step, and call the followers of each, in the order of their registration."""
        with lock:  # twice in each call of a transformed function: no Python loops
            deque(map(_set, repeat(self), values, values.values()), 0)
            deque(map(call, _followers_of(*values)), 0)

    def add(self, name: str, count: int) -> None:
        """Add ``count`` to the attribute ``name``, a number of open blocks or the like, and call its followers."""
        with lock:
            _set(self, name, getattr(self, name) + count)
            for follower in _followers_of(name):
                follower()

    @contextmanager
    def kept(self, *names: str) -> Iterator[None]:
        """Restore these attributes (all, if none is named) at the end of the ``with`` block."""
        before = self.held(*names)
        try:
            yield
        finally:
            self.change(**before)

    def follows(self, *names: str) -> Callable[[Follower], Follower]:
        """Register the decorated function to be called whenever one of these attributes has been set."""

        def decorate(follower: Follower) -> Follower:
            _followers.append((frozenset(names), follower))
            _followers_of.cache_clear()
            return follower

        return decorate


process = Process()
