"""The kit for authors of backends, on the backends here, on small ones of another distribution and on broken ones."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arraydispatch.backends import loader
from arraydispatch.testing import backend as kit

ROOT = Path(__file__).parents[2]


@pytest.mark.compiles(3)
@pytest.mark.parametrize("name", loader.available())
def test_the_backends_here_pass(name: str) -> None:
    assert [result for result in kit.check(loader.load(name)) if result.failed] == []


def _run(folder: Path, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    info = folder / "small_backends-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: small-backends\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[arraydispatch.backends]\n{name} = tests.backends.{name}:BACKEND\n")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(folder)])}
    return subprocess.run(
        [sys.executable, *arguments], env=env, capture_output=True, text=True, timeout=300, check=False
    )


SMALL = pytest.mark.parametrize(("name", "library"), [("strict", "array_api_strict"), ("mlx", "mlx.core")])


@SMALL
def test_a_small_backend_passes(tmp_path: Path, name: str, library: str) -> None:
    pytest.importorskip(library)
    done = _run(tmp_path, name, "-m", "arraydispatch.testing.backend", name)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 failed, " in done.stdout


@SMALL
def test_a_program_runs_on_a_small_backend(tmp_path: Path, name: str, library: str) -> None:
    pytest.importorskip(library)
    code = (
        "import arraydispatch as ad, arraydispatch.numpy as np\n"
        f"ad.use({name!r}, fallback='silent')\n"
        "x = np.linspace(0, 1, 5)\nx[1:3] += 1\n"
        "print(x.backend, type(x.native).__module__, float(np.sum(x)), (x @ x).dtype, np.sort(x)[-1], np.sin(x)[-1], np.fft.fft(x)[0])\n"
    )
    done = _run(tmp_path, name, "-c", code)
    x = np.linspace(0, 1, 5)
    x[1:3] += 1
    module, says = done.stdout.split(" ", 2)[1:] if done.stdout.count(" ") > 2 else ("", "")
    assert module.startswith(library), done.stderr
    assert says == f"4.5 float64 1.5 {np.sin(x)[-1]} {np.fft.fft(x)[0]}\n"


def test_the_kit_finds_what_is_wrong(break_kernel: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    other = loader.load(next(name for name in ("torch", "jax", "tensorflow") if name in loader.available()))
    break_kernel(other, np.add, lambda x, y: x)
    monkeypatch.setattr(other.prim, "flip", lambda a, axes: a)
    monkeypatch.delattr(other.prim, "imag")
    failed = {result.check for result in kit.check(other) if result.failed}
    assert {"ufunc add of float32", "primitive flip", "primitives are there", "call: arithmetic"} <= failed


def test_the_command_says_what_it_wants(capsys: pytest.CaptureFixture[str]) -> None:
    assert kit.main([]) == kit.main(["nothing"]) == 2
    said = capsys.readouterr().err
    assert "usage: python -m arraydispatch.testing.backend NAME" in said
    assert "there is no backend named 'nothing'" in said
