"""Run of the program with plain Python for ``--compare``, and the times of whole processes."""

from __future__ import annotations

import os
import subprocess
import sys
import time

_BEGAN = time.perf_counter()


def seconds_since_start() -> float:
    """Return the seconds since this process began, or since this module was imported if the system does not tell."""
    try:
        with open("/proc/self/stat", encoding="utf-8") as stream:
            ticks = int(stream.read().rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError):
        return time.perf_counter() - _BEGAN


def seconds_by_plain_python(program: list[str]) -> float | None:
    """Run a script or a module with plain Python and discard its output; return the seconds of the process, None if it fails.

    Parameters
    ----------
    program : list of str
        What follows ``python`` on the command line.
    """
    start = time.perf_counter()
    command = [sys.executable, *program]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)  # noqa: S603 -- the user's program
    if done.returncode:
        print(
            f"arraydispatch: --compare: plain Python ended with exit code {done.returncode}; there is nothing to compare.",
            file=sys.stderr,
        )
        return None
    return time.perf_counter() - start
