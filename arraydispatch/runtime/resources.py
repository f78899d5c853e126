"""Processors and memory of the process: threads of the libraries on the CPU, and freed memory kept for the next array.

By default, libraries use as many threads as they see processors. These are too many in a container with a quota, whose
system stops the whole process when the quota is used up, and too many if pools of two libraries work at the same time.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import math
import operator
import os
import sys
from collections.abc import Iterator
from typing import Any

from ..backends import loader
from ..backends.base import Backend
from ..backends.devices import processors
from ..common.errors import OptionError, SettingError
from ..common.process_state import process

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
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
    """Return the folders of a group and of the groups that contain it. Inside a container, the container's own group may be the root."""
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
    """Return a number of threads, or :func:`available` for None; raise OptionError or SettingError if it is not a positive integer."""
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
        If the chosen backend can no longer change; nothing is changed then. (Other backends that can no longer change are skipped.)
    """
    if chosen is not None:
        chosen.use_threads(n)
    for each in _loaded() - {chosen}:
        with contextlib.suppress(RuntimeError):
            each.use_threads(n)
    process.threads = n


def _loaded() -> set[Backend]:
    return {loader.load("numpy"), *loader.loaded()}


def fit() -> None:
    """Reduce the libraries' thread counts to the quota if the quota is lower than the number of processors, unless the environment sets a
    number.
    """
    if not any(name in os.environ for name in THREADS) and _quota() is not None and (few := available()) < processors():
        for each in _loaded():
            if each.threads > few:
                with contextlib.suppress(RuntimeError):
                    each.use_threads(few)
        process.threads = few


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Restore the thread counts at the end of the block, where libraries allow it."""
    held, later = {each: each.threads for each in loader.loaded()}, process.threads
    try:
        yield
    finally:
        process.threads = later
        for each, n in held.items():
            if each.threads != n:
                with contextlib.suppress(RuntimeError):
                    each.use_threads(n)


# -- memory ----------------------------------------------------------------------------------------------------------


_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -3, -4, -8
"""Parameters of ``mallopt``, as malloc.h has them."""
KEPT = 1 << 30
"""Number of free bytes at the end of the heap above which memory is returned to the system."""
LARGEST = 1 << 25
"""Size of a block in bytes from which it is returned to the system all the same: the C library accepts no higher threshold. For arrays,
NumPy's allocator keeps these blocks (``_allocator.c``) if it is compiled."""
LARGE_KEPT = 1 << 29
"""Maximum bytes of these large blocks together."""
_AROUND = 4096
"""Number of bytes that the C library may add to a block."""
HEAP = (
    "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_MAX_", "GLIBC_TUNABLES",
)  # fmt: skip
LARGE_PAGES = "glibc.malloc.hugetlb=1"
"""User setting that does not prevent keeping freed memory: large blocks in large pages, as docs/explanation/limits.md advises."""


def keep_memory(all_blocks: bool = False) -> bool:
    """Make the C library keep freed memory for the next array, unless the user has configured it; return whether it does.

    The C library of GNU systems returns large blocks to the system when they are freed, and the next array of that size consists of
    pages that the system first fills with zeros. In a chain of NumPy calls on 400 kB to 24 MB that takes three to eight times as long
    as the arithmetic.

    ``all_blocks``: keep also blocks of :data:`LARGEST` bytes and more, in one arena for all threads. Otherwise a library that
    allocates its arrays with the C library gets new pages for each large result: for 128 MB that takes four times as long.
    """
    if any(os.environ.get(name, LARGE_PAGES) != LARGE_PAGES for name in HEAP):
        return False
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018 -- others know a mallopt that does nothing
        done = bool(library.mallopt(_MMAP_THRESHOLD, LARGEST) and library.mallopt(_TRIM_THRESHOLD, KEPT))
        if all_blocks:
            done = bool(done and library.mallopt(_ARENA_MAX, 1) and library.mallopt(_MMAP_MAX, 0))
    except (OSError, AttributeError, TypeError):
        return False
    with contextlib.suppress(ImportError):
        allocator = importlib.import_module("arraydispatch._core._allocator")
        allocator.keep(LARGEST - _AROUND, LARGE_KEPT)
        # NumPy keeps the allocator in a context variable. In a context with values, ufuncs search for the error state at each call
        # unless it is one of them. So set it to the same object, which tells the short paths that the program has set nothing.
        state = importlib.import_module("numpy._core.umath")._extobj_contextvar
        state.set(state.get())
        # A context that is never empty meets an error of Python before 3.12: see `hold_context`.
        if sys.version_info < (3, 12) and allocator.hold_context not in gc.callbacks:
            gc.callbacks.append(allocator.hold_context)
    return done
