"""What decides how calls run in this process, in one object: settings, who makes arrays and who is told, what is open.

A change is made here and nowhere else: for good (:meth:`Process.change`), for a block (:meth:`Process.kept`), or by counting what is
open (:meth:`Process.add`). No module fills in a name of another. Where code is too hot to ask, or something is to be derived, a
module *follows*: told of a change, it sets globals of its own (``events.tap``, ``views.wrapper``, ``thin.least``).
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

__all__ = ["SETTINGS", "Process", "process"]

SETTINGS = (
    "allowing", "backend", "devices", "draws_on_device", "execution", "fallback", "lent", "min_size", "rules", "threads",
    "usual_execution",
)  # fmt: skip
"""What a user chooses, by ``arraydispatch.use`` or on the launcher's command line."""

Follower = Callable[[], None]
_set = object.__setattr__
_followers: list[tuple[frozenset[str], Follower]] = []
lock = threading.RLock()
"""Held while the state changes, and by who looks at it to change it."""


@cache
def _followers_of(*names: str) -> tuple[Follower, ...]:
    """Those of one or more of these attributes."""
    return tuple(follower for followed, follower in _followers if not followed.isdisjoint(names))


def _forget_lock() -> None:
    """In a fork: no other thread has it."""
    global lock
    lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)


class Process:
    """The state of the process: there is one, :data:`process`.

    Assigning an attribute changes it for good, as :meth:`change` does.

    Attributes
    ----------
    backend : str
        Name of the default backend; its library may not be imported yet.
    devices : mapping of str to Device
        Name of a backend -> the device that new arrays go to.
    execution : {"eager", "fused", None}
        How calls run: ``"eager"`` by the library alone; None also where NumPy is faster on the library's own memory; ``"fused"``:
        calls on large values of a CPU's are recorded, and run as blocks.
    usual_execution : {"eager", "fused", None}
        How calls run outside of all blocks that say it.
    executions : tuple of arraydispatch.runtime.settings.execution
        The open blocks that say how calls run, in any thread, the innermost last.
    min_size : int
        The launcher's ``--min-size``: calls on values in the host state are the library's from so many elements on; 0 where there
        is no host state.
    lent : bool
        Whether there is a host state for the sake of fused execution alone.
    rules : arraydispatch.runtime.settings.Rules
        What every result obeys.
    fallback : {"warn", "error", "silent"}
        What a host fallback does.
    allowing : str
        The way out that a refused host fallback names.
    threads : int or None
        Threads that libraries are to use that are loaded from now on; see :mod:`arraydispatch.runtime.threads`.
    draws_on_device : bool
        Whether ``np.random`` draws by the library's generator: the launcher's ``--rng device``.
    wrapper : callable
        What makes every array: ``wrapper(value, kind, owned=False)``.
    natives_first : bool
        Whether an operator between an array of ours and one of a library's own is the library's, as between it and an ndarray.
    watch : callable or None
        While a transform runs: called with a root and what is about to be written to it, and raises if that may not be.
    admit : callable or None
        While a transform runs: called with what is about to be written.
    born : callable or None
        While a transform runs: called with each scalar on a device that is made.
    tap : arraydispatch.common.events.Listener or None
        Who is told of calls.
    users : arraydispatch.launcher.user_files.UserFiles or None
        Who counts as user code; None while no launcher runs, and then nothing is adopted.
    observer : callable or None
        Told each ndarray that is adopted.
    visited : callable or None
        Whether a library that the program uses by itself is tracing a function of its: what NumPy makes there is a constant.
    cells : dict or None
        The names of a notebook, whose cells see the facade or do not, by turns.
    overrides : int
        How many blocks with rules of their own are open, in any thread.
    blocks_entered : bool
        Whether there was a block with a backend of its own in any thread: a program without one need not ask what it is in.
    suspended : int
        How many times the thin path and recording have been taken out of force.
    traces : int
        How many traces are entered, in all threads together.
    """

    __slots__ = (
        *SETTINGS,
        "wrapper", "natives_first", "watch", "admit", "born", "tap",
        "users", "observer", "visited", "cells",
        "executions", "overrides", "blocks_entered", "suspended", "traces",
    )  # fmt: skip

    backend: str
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
    visited: Callable[[], bool] | None
    cells: dict[str, Any] | None
    overrides: int
    blocks_entered: bool
    suspended: int
    traces: int

    def __init__(self) -> None:
        start: dict[str, Any] = dict.fromkeys(self.__slots__)
        start |= dict.fromkeys(("draws_on_device", "lent", "natives_first", "blocks_entered"), False)
        start |= dict.fromkeys(("min_size", "overrides", "suspended", "traces"), 0)
        start |= {"backend": "numpy", "devices": {}, "executions": (), "fallback": "warn"}
        start["allowing"] = (
            "To allow it, say arraydispatch.use(fallback='warn'), or arraydispatch.fallback('warn') for a block."
        )
        self.change(**start)

    def __setattr__(self, name: str, value: Any) -> None:
        self.change(**{name: value})

    def held(self, *names: str) -> dict[str, Any]:
        """The values of these attributes, or of all."""
        with lock:
            return {name: getattr(self, name) for name in names or self.__slots__}

    def change(self, **values: Any) -> None:
        """Set attributes, all in one step, and tell those who follow one of them, in the order in which they began to."""
        with lock:  # twice in each call of a transformed function: the loops are not Python's
            deque(map(_set, repeat(self), values, values.values()), 0)
            deque(map(call, _followers_of(*values)), 0)

    def add(self, name: str, count: int) -> None:
        """Count what is open."""
        with lock:
            _set(self, name, getattr(self, name) + count)
            for follower in _followers_of(name):
                follower()

    @contextmanager
    def kept(self, *names: str) -> Iterator[None]:
        """What the block does to these attributes is undone at its end."""
        before = self.held(*names)
        try:
            yield
        finally:
            self.change(**before)

    def follows(self, *names: str) -> Callable[[Follower], Follower]:
        """Decorates what is called, from now on, whenever one of these attributes has been set."""

        def decorate(follower: Follower) -> Follower:
            _followers.append((frozenset(names), follower))
            _followers_of.cache_clear()
            return follower

        return decorate


process = Process()
