"""``--exact``: what a library compiles has NumPy's bits, also where a processor could multiply and add with one rounding."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arraydispatch.backends import loader
from arraydispatch.common import errors

CONTRACTING = [name for name in loader.available() if loader.KNOWN[name].exact]

SCRIPT = """\
import hashlib
import os
import sys

import numpy as np

import arraydispatch as ad


def step(u, c, k):
    v = u * c + k
    w = (u - c * k) / (k + 2.5) + np.sqrt(abs(v))
    w[1:-1] += 0.25 * (w[2:] + w[:-2] - 2 * w[1:-1]) - u[1:-1] / 3
    return v, w, w > v, np.where(w > v, w * u - c, v / 3), np.square(c) - k


rng = np.random.default_rng(4)
for dtype in "f4", "f8":
    u, c, k = (rng.standard_normal((300, 41)).astype(dtype) for _ in range(3))
    for run in step, *([ad.jit(step)] if "compiled" in sys.argv else []):
        for made in run(u, c, k):
            print(hashlib.sha256(np.asarray(made).tobytes()).hexdigest())
"""


def _run(script: Path, *options: str, flags: str = "", arguments: tuple[str, ...] = ()) -> str:
    command = [sys.executable, "-m", "arraydispatch", "run", *options, str(script), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "XLA_FLAGS": flags}, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.one_backend
@pytest.mark.parametrize("library", CONTRACTING)
def test_what_is_compiled_has_numpys_bits(library: str, tmp_path: Path) -> None:
    script = tmp_path / "steps.py"
    script.write_text(SCRIPT)
    expected = _run(script, "--backend", "numpy").splitlines()
    flags = "--xla_cpu_enable_fast_math=false"  # what the user says is kept
    exact = ("--exact", "--backend", library, "--execution", "eager", "--min-size", "0")
    got = _run(script, *exact, flags=flags, arguments=("compiled",)).splitlines()
    each = len(expected) // 2
    assert got == [*expected[:each] * 2, *expected[each:] * 2]


@pytest.mark.parametrize("library", CONTRACTING)
def test_too_late(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", "")
    monkeypatch.delitem(sys.modules, loader.KNOWN[library].library, raising=False)
    loader.prepare_exact(library)
    assert os.environ["XLA_FLAGS"].split() == ["--xla_cpu_max_isa=AVX"]
    loader.prepare_exact(library)  # as in a child process, which has it from its parent
    monkeypatch.setenv("XLA_FLAGS", "")
    monkeypatch.setitem(sys.modules, loader.KNOWN[library].library, sys)
    with pytest.raises(errors.ArrayDispatchError, match=r"before .* is imported"):
        loader.prepare_exact(library)
    assert os.environ["XLA_FLAGS"] == ""
