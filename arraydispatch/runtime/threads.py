"""Thread counts of the libraries on the CPU, limited to the processors that this process may use.

By default, libraries use as many threads as they see processors. That is too many in a container with a quota, whose
system stops the whole process when the quota is used up, and it is too many if pools of two libraries work at the same time.
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

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Environment variables from which libraries take their number of threads when they are loaded."""

_V2, _V1 = "/sys/fs/cgroup", "/sys/fs/cgroup/cpu"
"""Mount points of the two versions of Linux's control groups."""


def available() -> int:
    """Return how many threads of this process can run at one time, by its CPU affinity and its container's quota."""
    quota = _quota()
    return processors() if quota is None else max(1, min(processors(), math.ceil(quota)))


def _quota() -> float | None:
    """Return the number of processors' worth of time that the control groups of this process allow, None without a limit."""
    found = []
    for line in _read("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:  # cgroups version 2 has a single group
            found += [_quota_of(*_read(f"{folder}/cpu.max").split()) for folder in _folders(_V2, path)]
        elif "cpu" in controllers.split(","):
            names = "cpu.cfs_quota_us", "cpu.cfs_period_us"
            found += [_quota_of(*[_read(f"{folder}/{name}") for name in names]) for folder in _folders(_V1, path)]
    return min((quota for quota in found if quota is not None), default=None)


def _folders(root: str, path: str) -> list[str]:
    """Return the folders of a group and of the groups that contain it; inside a container, its own may be the root."""
    found, here = [], os.path.normpath(root + path)
    while here.startswith(root):
        found.append(here)
        here = os.path.dirname(here)
    return found


def _quota_of(quota: str = "", period: str = "", *_: str) -> float | None:
    try:
        given, each = float(quota), float(period)
    except ValueError:  # the file is missing or says "max"
        return None
    return given / each if given > 0 and each > 0 else None


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:  # pathlib takes 4 ms to import
            return file.read()
    except (OSError, ValueError):
        return ""


def check(n: Any) -> int:
    """Check a number of threads; None means :func:`available`."""
    if n is None:
        return available()
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise OptionError(f"threads must be a positive integer, got {n!r}.")
    if operator.index(n) < 1:
        raise SettingError(f"threads must be a positive integer, got {n}.")
    return operator.index(n)


def use(n: int, chosen: Backend | None = None) -> None:
    """Set the number of threads of all libraries that are loaded now or later.

    Raises
    ------
    RuntimeError
        If the chosen backend can no longer change; nothing is changed then. (Of the others, each does what it can.)
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
    """Reduce the libraries' thread counts to the quota if it is lower, unless a number has been chosen."""
    if available() < processors() and not any(name in os.environ for name in VARIABLES):
        for each in _loaded():
            if each.threads > available():
                with suppress(RuntimeError):
                    each.use_threads(available())
        process.threads = available()


@contextmanager
def kept() -> Iterator[None]:
    """Restore the thread counts at the end of the block, where libraries allow it."""
    held, later = {each: each.threads for each in loader.loaded()}, process.threads
    try:
        yield
    finally:
        process.threads = later
        for each, n in held.items():
            if each.threads != n:
                with suppress(RuntimeError):
                    each.use_threads(n)
