"""Fused execution as a user has it: the launcher, threads, and no library before it is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arraydispatch.backends import loader

ROOT = Path(__file__).parents[2]
SCRIPT = """\
import sys
import numpy as np

def wave(t):
    return np.sin(2.5 * t) + 0.5 * np.cos(7 * t + 1) ** 2

t = np.linspace(0, 20, 400_000)
both = np.concatenate((wave(t), wave(t + 1)))
grid = np.zeros((600, 600))
grid[1:-1, 1:-1] = 1.0
for _ in range(3):
    inside = (grid[:-2, 1:-1] + grid[2:, 1:-1] + grid[1:-1, :-2] + grid[1:-1, 2:]) / 4
    grid[1:-1, 1:-1] = inside
both += 1
both *= np.where(both > 1, 2.0, 0.5)
ratio = t[:200_000] / np.zeros(200_000)
print(type(both) is np.ndarray, repr(float(both.sum())), repr(float(grid.sum())), ratio[-1], inside[0, 0])
print([name for name in {libraries!r} if name in sys.modules])
"""


def _run(path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *(("-m", "arraydispatch", "run", *options) if options else ()), str(path)]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, capture_output=True, text=True, env=env, check=True)


@pytest.mark.parametrize("backend", loader.available())
def test_a_script_gives_what_it_gives_plainly_and_needs_no_library(backend: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        SCRIPT.replace("{libraries!r}", repr(sorted({row.library for row in loader.KNOWN.values()} - {"numpy"})))
    )
    plain, fused = _run(script), _run(script, "--backend", backend, "--execution", "fused", "--threads", "2")
    assert fused.stdout == plain.stdout
    assert plain.stdout.endswith("[]\n")
    warned = plain.stderr.splitlines()[0]
    assert "script.py:18: RuntimeWarning: invalid value" in plain.stderr or "divide by zero" in plain.stderr
    assert warned in fused.stderr
    assert "fused calls in" in fused.stderr


LIBRARY = """\
import numpy as np
import arraydispatch as ad
with ad.execution("fused"):
    x = ad.asarray(np.linspace(0, 1, 300_000))
    y = np.sqrt(x * 2 + 1)
    pending = type(y._v).__name__
    print(pending, y[7] == np.sqrt(np.linspace(0, 1, 300_000)[7] * 2 + 1), y.backend.name)
z = y * 2
print(type(z._v).__name__, z[7] == y[7] * 2)
ad.use(execution="fused")
w = ad.asarray(np.ones(300_000))
print(type((w + 1)._v).__name__, type((w + 1 - w)._v).__name__, type(((w + 1) * 2)._v).__name__, type((w[:9] + 1)._v).__name__)
"""


def test_a_program_that_uses_the_library_asks_for_it(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(LIBRARY)
    assert _run(script).stdout.splitlines() == [
        "Node True numpy",
        "ndarray True",
        "ndarray ndarray Node ndarray",
    ]  # who gave w has its memory
