"""Setting of the C library's allocator by which the process keeps freed memory.

The C library of GNU systems gives large blocks back to the system when they are freed, and the next array of that size begins with
pages that the system fills with zeros one by one: in a chain of NumPy calls on 400 kB to 24 MB that takes three to eight times as
long as the arithmetic. Under the launcher the process, which is the script's alone, keeps what it has freed for the next array.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Parameters of ``mallopt``, as malloc.h has them."""
KEPT = 1 << 30
"""Bytes at the end of the heap from which on some are given back."""
LARGEST = 1 << 25
"""Bytes of a block from which on it is the system's all the same: the C library takes no more. Of arrays, NumPy's allocator keeps these
(``_allocator.c``), where it is compiled."""
LARGE_KEPT = 1 << 29
"""Bytes of these together."""
_AROUND = 4096
"""Bytes that the C library may add to a block."""
_VARIABLES = (
    "MALLOC_TRIM_THRESHOLD_",
    "MALLOC_MMAP_THRESHOLD_",
    "MALLOC_TOP_PAD_",
    "MALLOC_MMAP_MAX_",
    "GLIBC_TUNABLES",
)


def keep() -> bool:
    """Make the C library keep freed memory, unless the user has configured it; return whether it does."""
    if any(name in os.environ for name in _VARIABLES):
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
