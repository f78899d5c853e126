"""Settings of the C library's allocator that make the process keep freed memory.

The C library of GNU systems returns large blocks to the system when they are freed, and the next array of that size consists of
pages that the system first fills with zeros. In a chain of NumPy calls on 400 kB to 24 MB that takes three to eight times as long
as the arithmetic. Under the launcher, whose process belongs to the script alone, freed memory is kept for the next array.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os

from . import large_pages

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
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
_VARIABLES = large_pages.CONFIGURED
_LARGE_PAGES = large_pages.SETTING
"""Setting under which all the same freed memory is kept: large blocks in large pages (:mod:`.large_pages`)."""


def keep() -> bool:
    """Make the C library keep freed memory, unless the user has configured it; return whether it does."""
    if any(os.environ.get(name, _LARGE_PAGES) != _LARGE_PAGES for name in _VARIABLES):
        return False
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018 -- others know a mallopt that does nothing
        done = bool(library.mallopt(_MMAP_THRESHOLD, LARGEST) and library.mallopt(_TRIM_THRESHOLD, KEPT))
    except (OSError, AttributeError, TypeError):
        return False
    with contextlib.suppress(ImportError):
        importlib.import_module("arraydispatch._core._allocator").keep(LARGEST - _AROUND, LARGE_KEPT)
    return done
