"""Heap of the process: freed memory that the C library, and NumPy's allocator, keep for the next array."""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os

__all__ = ["KEPT", "LARGEST", "LARGE_KEPT", "LARGE_PAGES", "VARIABLES", "keep_memory"]

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -3, -4, -8
"""Parameters of ``mallopt``, as malloc.h has them."""
KEPT = 1 << 30
"""Number of free bytes at the end of the heap above which memory is returned to the system."""
LARGEST = 1 << 25
"""Bytes of a block from which on it is the system's all the same: the C library takes no more. Of arrays, NumPy's allocator keeps these
(``_allocator.c``), where it is compiled."""
LARGE_KEPT = 1 << 29
"""Bytes of these together."""
_AROUND = 4096
"""Number of bytes that the C library may add to a block."""
VARIABLES = (
    "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_MAX_", "GLIBC_TUNABLES",
)  # fmt: skip
LARGE_PAGES = "glibc.malloc.hugetlb=1"
"""Setting under which all the same freed memory is kept: large blocks in large pages, as docs/explanation/limits.md advises."""


def keep_memory(all_blocks: bool = False) -> bool:
    """Make the C library keep freed memory for the next array, unless the user has configured it; return whether it does.

    The C library of GNU systems returns large blocks to the system when they are freed, and the next array of that size consists of
    pages that the system first fills with zeros. In a chain of NumPy calls on 400 kB to 24 MB that takes three to eight times as long
    as the arithmetic.

    ``all_blocks``: also that of blocks of :data:`LARGEST` bytes and more, in one arena for all threads. A library whose
    arrays are made by the C library gets each large result in new pages otherwise: of 128 MB, in four times the time.
    """
    if any(os.environ.get(name, LARGE_PAGES) != LARGE_PAGES for name in VARIABLES):
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
        importlib.import_module("arraydispatch._core._allocator").keep(LARGEST - _AROUND, LARGE_KEPT)
        # The allocator is a value of this context. In a context with values ufuncs search for the state of errors at each call, unless it
        # is one of them: the very object that was in force, which tells the short paths that the program has set nothing.
        state = importlib.import_module("numpy._core.umath")._extobj_contextvar
        state.set(state.get())
    return done
