"""Fused execution as a user has it: the launcher, threads, and no library before it is needed."""

from __future__ import annotations

import json
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
rng = np.random.default_rng(2)
drawn = [rng.integers(5), rng.normal(1, 3, 500_000), rng.random((700, 500)), rng.gamma(2, size=300_000), rng.integers(5)]
drawn[1] += drawn[3].max()
print([repr(float(x.sum())) for x in drawn], rng.bit_generator.state)
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


LINES = """\
import numpy as np

def compute(a, b):
    x = a + b
    x = -x
    y = np.sin(x)
    z = np.add(y, x)
    w = np.sqrt(b)
    w += z
    w = np.where(x > 1, b, w)
    w = np.clip(w, 0, 2)
    return w.astype(np.float32)

def around():
    a, b = np.ones(300_000), np.arange(300_000.0)
    return compute(a, b)

around()[3]
"""


def test_each_recorded_call_is_told_by_its_line(tmp_path: Path) -> None:
    """Not by that of its caller's caller: how many frames are ours differs between ways to record, and where they are compiled."""
    script, report = tmp_path / "script.py", tmp_path / "report.json"
    script.write_text(LINES)
    _run(script, "--backend", "numpy", "--execution", "fused", "--report", str(report))
    lines = {line["line"]: line["functions"] for line in json.loads(report.read_text())["lines"]}
    single = ("np.add", "np.negative", "np.sin", "np.add", "np.sqrt", "np.add", "np.where", "np.clip", "astype")
    expected = {n: {name: 1} for n, name in enumerate(single, 4)}
    expected[10] |= {"np.greater": 1}
    assert {n: lines[n] for n in expected} == expected
    assert lines[15] == {"np.ones": 1, "np.arange": 1}
    assert 16 not in lines


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


RECORDS = """\
import warnings
import numpy as np

x = np.linspace(0, 1, 400_000)
made = x / np.zeros(400_000)  # told of here, whoever listens when it is looked at
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    print(made[1])
    warnings.warn("ours")
print([str(w.message) for w in caught])
"""


def test_who_records_warnings_gets_none_of_what_was_called_before(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(RECORDS, encoding="utf-8")
    plain, ours = _run(script), _run(script, "--backend", "numpy")
    assert ours.stdout == plain.stdout
    assert plain.stderr.count("RuntimeWarning") == 2
    assert ours.stderr.startswith(plain.stderr)
