"""How many threads libraries compute with on the CPU: all of them no more than this process may use.

By themselves they go by the number of processors they see. That is wrong in a container with a quota, where the system stops
the whole process when its time is up, and where two libraries' pools are at work at one time.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from ..backends import loader
from ..backends.base import Backend
from ..backends.devices import processors
from ..common.errors import OptionError, SettingError
from ..common.process_state import process

__all__ = ["VARIABLES", "available", "check", "fit", "kept", "use"]

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables that libraries take a number of threads from when they are loaded."""

_V2, _V1 = "/sys/fs/cgroup", "/sys/fs/cgroup/cpu"
"""Where the two versions of Linux's control groups are."""


def available() -> int:
    """How many threads of this process can run at one time: by its CPU affinity and by the quota of its container."""
    quota = _quota()
    return processors() if quota is None else max(1, min(processors(), math.ceil(quota)))


def _quota() -> float | None:
    """Processors' worth of time that the control groups of this process allow, None where there is no limit."""
    found = []
    for line in _read("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:  # the one group of version 2
            found += [_quota_of(*_read(f"{folder}/cpu.max").split()) for folder in _folders(_V2, path)]
        elif "cpu" in controllers.split(","):
            names = "cpu.cfs_quota_us", "cpu.cfs_period_us"
            found += [_quota_of(*[_read(f"{folder}/{name}") for name in names]) for folder in _folders(_V1, path)]
    return min((quota for quota in found if quota is not None), default=None)


def _folders(root: str, path: str) -> list[str]:
    """The folder of a group and those of the groups it is in; in a container its own may be the root."""
    found, here = [], os.path.normpath(root + path)
    while here.startswith(root):
        found.append(here)
        here = os.path.dirname(here)
    return found


def _quota_of(quota: str = "", period: str = "", *_: str) -> float | None:
    try:
        given, each = float(quota), float(period)
    except ValueError:  # no such file, or "max"
        return None
    return given / each if given > 0 and each > 0 else None


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:  # pathlib takes 4 ms to import
            return file.read()
    except (OSError, ValueError):
        return ""


def check(n: Any) -> int:
    """A number of threads; None means as many as are :func:`available`."""
    if n is None:
        return available()
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise OptionError(f"threads must be a whole number, not {n!r}.")
    if operator.index(n) < 1:
        raise SettingError(f"threads must be at least 1, not {n}.")
    return operator.index(n)


def use(n: int, chosen: Backend | None = None) -> None:
    """Compute with so many threads, in all libraries that are loaded or will be.

    Raises
    ------
    RuntimeError
        If the chosen backend can no longer change; nothing is changed then. (Of others, each does what it can.)
    """
    if chosen is not None:
        chosen.use_threads(n)
    for each in _loaded() - {chosen}:
        with suppress(RuntimeError):
            each.use_threads(n)
    process.threads = n


def _loaded() -> set[Backend]:
    return {loader.load("numpy"), *loader.loaded()}


def fit() -> None:
    """Where a quota allows less than libraries take by themselves, no more than that; unless somebody has chosen a number."""
    if available() < processors() and not any(name in os.environ for name in VARIABLES):
        for each in _loaded():
            if each.threads > available():
                with suppress(RuntimeError):
                    each.use_threads(available())
        process.threads = available()


@contextmanager
def kept() -> Iterator[None]:
    """What the block does to the numbers is undone at its end, where libraries let it be undone."""
    held, later = {each: each.threads for each in loader.loaded()}, process.threads
    try:
        yield
    finally:
        process.threads = later
        for each, n in held.items():
            if each.threads != n:
                with suppress(RuntimeError):
                    each.use_threads(n)
