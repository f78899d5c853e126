"""Large pages for the arrays of a library that takes its memory from the C library.

GNU's C library gets blocks of 32 MiB and more from the system each time, in pages of 4 kB, which the system fills with zeros one by one: a result of
that size takes XLA three to four times as long as the arithmetic (154 MB: 69 ms of processor time, 21 with large pages). NumPy asks for
large pages itself. The C library does so for all, if a variable of the environment says so when a process starts, and by no call later: so the
command starts once more, in the same process, before it has imported anything but itself (25 ms).
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping, Sequence

VARIABLE = "GLIBC_TUNABLES"
SETTING = "glibc.malloc.hugetlb=1"
_OURS = "_ARRAYDISPATCH_STARTED_AGAIN"
CONFIGURED = (VARIABLE, "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TOP_PAD_", "MALLOC_MMAP_MAX_")
"""Variables by which users configure the C library's allocator."""
_ON_REQUEST = "/sys/kernel/mm/transparent_hugepage/enabled"
_VALUED = ("-X", "-W", "--check-hash-based-pycs")
_BACKEND = "--backend"


def ask() -> None:
    """Start the command once more with the variable, where that helps and nothing is lost; the program does not see the variable."""
    if os.environ.pop(_OURS, None) is not None:
        os.environ.pop(VARIABLE, None)
        return
    again = command(sys.orig_argv, sys.argv) if _helps(sys.argv[1:], os.environ) else None
    if again is None or not sys.executable or sys.gettrace() or sys.getprofile() or threading.active_count() > 1:
        return
    try:
        os.execve(sys.executable, again, {**os.environ, VARIABLE: SETTING, _OURS: "1"})  # noqa: S606 -- this command, by this interpreter
    except OSError:
        return


def _helps(arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether a library is named, the user has configured nothing, and the system gives them on request."""
    if arguments[:1] != ["run"] or any(name in environment for name in CONFIGURED):
        return False
    if named(arguments[1:], environment) in ("", "numpy"):
        return False
    try:
        with open(_ON_REQUEST, encoding="ascii") as file:
            return "[madvise]" in file.read() and os.confstr("CS_GNU_LIBC_VERSION") is not None
    except (OSError, ValueError, AttributeError):
        return False


def named(words: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the backend that the options of ``run``, or the environment, name; "" if none.

    Words after the script are the script's: one that follows ``--backend`` there costs a start, and changes nothing.
    """
    for word, following in zip(words, [*words[1:], ""]):
        if word == _BACKEND:
            return following
        if word.startswith(f"{_BACKEND}="):
            return word[len(_BACKEND) + 1 :]
    return environment.get("ARRAYDISPATCH_BACKEND", "")


def command(original: Sequence[str], given: Sequence[str]) -> list[str] | None:
    """Return the words that start this process once more; None if another program, such as a debugger, has started the command.

    Parameters
    ----------
    original, given : sequence of str
        ``sys.orig_argv`` and ``sys.argv``.
    """
    count = len(given) - 1
    words, theirs = list(original[: len(original) - count]), list(original[len(original) - count :])
    if theirs != list(given[1:]) or not words:
        return None
    if words[-2:] == ["-m", "arraydispatch"]:
        options = words[1:-2]
    elif len(words) > 1 and os.path.basename(words[-1]) == "arraydispatch" and words[-1] == given[0]:
        options = words[1:-1]
    else:
        return None
    before = ""
    for word in options:
        if not word.startswith("-") and before not in _VALUED:
            return None
        before = word
    return list(original)
