"""The benchmark of accelerators, on the CPU and in small sizes: hand-written steps compute what the programs do; nothing is timed."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


accelerator, steps = _module("accelerator"), _module("accelerator_steps")


def test_twelve_programs_have_steps() -> None:
    assert accelerator.PROGRAMS.keys() == steps.CASES.keys()
    assert len(accelerator.PROGRAMS) == 12


def _plain(name: str) -> float:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(accelerator.source(name, accelerator.PROGRAMS[name].small), name, "exec"), {})
    found: float = json.loads(said.getvalue())["digest"]
    return found


@pytest.mark.compiles(2)
@pytest.mark.parametrize("library", ["jax", "torch"])
@pytest.mark.parametrize("name", accelerator.PROGRAMS)
def test_steps_by_hand_compute_what_the_program_does(name: str, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = pytest.importorskip(library)
    if library == "torch":  # a compilation of each takes some ten seconds; one is in the whole run
        monkeypatch.setattr(module, "compile", lambda step: step)
    found = steps.run_by_hand(
        steps.LIBRARIES[library]("cpu", "float64"), steps.CASES[name], accelerator.PROGRAMS[name].small
    )
    assert found["digest"] == pytest.approx(_plain(name), rel=1e-9)
    assert found["bytes"] > 0
    assert found["steps"] == steps.CASES[name].steps or steps.CASES[name].until


def test_a_wrong_digest_is_a_failure() -> None:
    plain = {"digest": 1.0}
    assert "error" not in accelerator._checked({"digest": 1.0 + 1e-9}, plain, 1e-6)
    assert "in plain NumPy" in accelerator._checked({"digest": 1.1}, plain, 1e-6)["error"]


@pytest.mark.slow
def test_the_command(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    options = ["--cpu", "--small", "--only", "stencil", "--libraries", "jax", "--dtypes", "float32"]
    files = ["--json", str(tmp_path / "found.json"), "--plot", str(tmp_path / "found.svg")]
    command = [sys.executable, str(HERE / "accelerator.py"), *options, *files]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads((tmp_path / "found.json").read_text())
    assert [row["way"] for row in rows if "way" in row] == list(accelerator.ways(["jax"], "float32", "cpu"))
    assert not [row for row in rows if "error" in row]
    assert all(row["limit"] > 0 for row in rows if "way" in row)
    assert (tmp_path / "found.svg").stat().st_size > 1000
    assert "× plain NumPy" in done.stdout
