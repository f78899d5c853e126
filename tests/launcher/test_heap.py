"""Under the launcher memory that arrays have left is used again, without new pages from the system."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from arraydispatch.launcher import heap

ROOT = Path(__file__).parents[2]
SCRIPT = """
import resource
import numpy as np
a = np.ones(500_000)
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        b = a * 2
        c = np.sort(b) + a
        del b, c
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults()
print(faults())
"""


def faults(path: Path, *command: str, **more: str) -> int:
    env = {name: value for name, value in os.environ.items() if name not in heap._VARIABLES}
    env |= {"PYTHONPATH": str(ROOT), **more}
    done = subprocess.run([sys.executable, *command, str(path)], env=env, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"), reason="another C library")
def test_freed_memory_is_used_again(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    launched = ["-m", "arraydispatch", "run", "--backend", "numpy"]
    pages = 20 * 500_000 * 8 // 4096
    assert faults(path, *launched) < pages / 10
    # What the user has told the C library stays.
    assert faults(path, *launched, MALLOC_TRIM_THRESHOLD_="131072", MALLOC_MMAP_THRESHOLD_="131072") > pages
