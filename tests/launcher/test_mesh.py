"""Scripts on a mesh of devices that a CPU passes for: ``arraydispatch run --mesh``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAT = """
import numpy as np
n = 512
u = np.zeros((n, n))
u[0, :] = 100.0
u[:, -1] = np.linspace(100, 0, n)
for _ in range(30):
    u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
print("%.10g %.10g %.10g" % (u.mean(), u[n // 2, n // 2], np.abs(np.diff(u, axis=0)).max()))
print(len(u[u > 50]))
"""


def _run(*argv: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name not in ("XLA_FLAGS", "JAX_NUM_CPU_DEVICES")}
    return subprocess.run(
        [sys.executable, *argv], cwd=cwd, env={**env, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=300, check=False
    )  # fmt: skip


@pytest.fixture(autouse=True)
def _jax() -> None:
    pytest.importorskip("jax")


@pytest.mark.parametrize("mesh", ["8", "2x4"])
def test_a_stencil_is_split(mesh: str, tmp_path: Path) -> None:
    (tmp_path / "heat.py").write_text(HEAT)
    plain = _run("heat.py", cwd=tmp_path)
    run = _run("-m", "arraydispatch", "run", "--mesh", mesh, "--simulated", "--report", "r.json", "heat.py", cwd=tmp_path)  # fmt: skip
    assert (run.returncode, run.stdout) == (0, plain.stdout), run.stderr[-2000:]
    assert f"on mesh:{mesh}" in run.stderr
    assert "gathered from all devices" in run.stderr
    assert "heat.py:10" in run.stderr
    data = json.loads((tmp_path / "r.json").read_text())
    assert (data["device"], data["execution"]) == (f"mesh:{mesh}", "compiled")
    steps = [row for row in data["programs_on_mesh"] if row["line"].endswith("heat.py:8")]
    assert steps
    halos = [each for row in steps for each in row["collectives"]]
    assert halos
    assert all(each["kind"] in ("collective-permute", "all-reduce") for each in halos), halos
    assert max(each["bytes"] for each in halos) <= 2 * 512 * 8
    split = [each for row in steps for each in row["operands"] if each["shape"] == [512, 512]]
    assert split
    assert all(each["split"] == ([0] if mesh == "8" else [0, 1]) for each in split)
    assert max(row["bytes_per_device"] for row in steps) < 512 * 512 * 8


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--mesh", "9", "--backend", "torch"), "does not split arrays"),
        (("--mesh", "2x"), "a mesh is 'auto', a number of devices"),
        (("--mesh", "3"), "needs 3 devices, and backend 'jax' has 1 (cpu); for a trial on a CPU, start it by arraydispatch run --simulated"),
        (("--mesh", "2", "--device", "cpu"), "--device and --mesh exclude each other"),
        (("--mesh", "2", "--execution", "fused"), "exclude each other"),
        (("--simulated",), "--simulated needs a --mesh with a number"),
        (("--mesh", "auto", "--simulated"), "--simulated needs a --mesh with a number"),
        (("--mesh", "2", "--backend", "torch", "--simulated"), "does not simulate devices"),
    ],
)  # fmt: skip
def test_what_is_no_mesh(options: tuple[str, ...], said: str, tmp_path: Path) -> None:
    if "torch" in options:
        pytest.importorskip("torch")
    (tmp_path / "script.py").write_text("raise SystemExit(7)\n")
    run = _run("-m", "arraydispatch", "run", *options, "script.py", cwd=tmp_path)
    assert run.returncode == 2, run.stderr
    assert said in run.stderr
    assert len(run.stderr.splitlines()) == 1


DELEGATE = """
import numpy as np
class Delegate:
    def __init__(self, data): self.data = data
    def __getattr__(self, name): return getattr(self.data, name)
    def __array__(self, dtype=None, copy=None): return np.asarray(self.data, dtype)
print(np.ones(3) + Delegate(np.arange(3.0)))
"""


def test_a_result_that_a_foreign_object_wraps(tmp_path: Path) -> None:
    """Its host array is on no device of the library."""
    (tmp_path / "script.py").write_text(DELEGATE)
    run = _run("-m", "arraydispatch", "run", "--mesh", "2", "--simulated", "--min-size", "16", "script.py", cwd=tmp_path)  # fmt: skip
    assert (run.returncode, run.stdout) == (0, "[1. 2. 3.]\n"), run.stderr[-2000:]


CORPUS = ROOT / "tests" / "launcher" / "corpus"
EXAMPLES = ROOT / "docs" / "examples"
ALIKE = (
    "heat exit_none star_import patched file_warnings warnings_error testing_module lists small_things strict_library/main pool"
).split()
"""Scripts of the corpus that compile few programs, whose arrays have a few elements to split."""


def _prints_the_same(script: str, folder: Path, *options: str) -> None:
    plain = _run(script, cwd=folder)
    run = _run("-m", "arraydispatch", "run", *options, script, cwd=folder)
    assert (run.returncode, run.stdout) == (plain.returncode, plain.stdout), run.stderr[-2000:]


def test_a_script_of_the_corpus_prints_the_same(seed: int) -> None:
    _prints_the_same(f"{ALIKE[seed % len(ALIKE)]}.py", CORPUS, "--mesh", "8", "--simulated", "--min-size", "16")


@pytest.mark.long
@pytest.mark.parametrize("name", ALIKE)
def test_the_corpus_prints_the_same(name: str) -> None:
    _prints_the_same(f"{name}.py", CORPUS, "--mesh", "8", "--simulated", "--min-size", "16")


@pytest.mark.long
@pytest.mark.parametrize("name", "heat file_warnings doors_bytes/4 doors_joblib save_load writes file_relative".split())
def test_scripts_of_the_corpus_with_files_print_the_same_in_processes(name: str) -> None:
    name, _, count = name.partition("/")  # of four, some exchange with one other alone
    if name == "doors_joblib":
        pytest.importorskip("joblib")
        pytest.importorskip("cloudpickle")
    _prints_the_same(f"{name}.py", CORPUS, "--processes", count or "2", "--min-size", "16")


@pytest.mark.long
@pytest.mark.parametrize(
    "options", [("--mesh", "8", "--simulated"), ("--processes", "2")], ids=["devices", "processes"]
)
@pytest.mark.parametrize("script", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_examples_print_the_same(script: str, options: tuple[str, ...]) -> None:
    _prints_the_same(script, EXAMPLES, *options, "--min-size", "10000")


WHOLE = ROOT / "tests" / "benchmarks" / "whole"
PROGRAMS = (
    "black_scholes fft_filter finite_volume game_of_life image_filter jacobi_until logistic_regression mandelbrot monte_carlo "
    "moving_statistics n_body neural_network ray_casting"
).split()
"""Benchmark programs that take a few seconds on devices that a CPU passes for."""


def _gives_the_same_digest(name: str, folder: Path, *options: str) -> None:
    text = (WHOLE / f"{name}.py").read_text(encoding="utf-8")
    (folder / "program.py").write_text(f"{text}\nprint(repr(float(run())))\n")
    plain = _run("program.py", cwd=folder)
    run = _run("-m", "arraydispatch", "run", *options, "program.py", cwd=folder)
    assert run.returncode == 0, run.stderr[-2000:]
    assert float(run.stdout) == pytest.approx(float(plain.stdout), rel=1e-9)


def test_a_benchmark_program_gives_the_same_digest(seed: int, tmp_path: Path) -> None:
    _gives_the_same_digest(PROGRAMS[seed % len(PROGRAMS)], tmp_path, "--mesh", "8", "--simulated")


@pytest.mark.long
@pytest.mark.parametrize(
    "options", [("--mesh", "8", "--simulated"), ("--processes", "2")], ids=["devices", "processes"]
)
@pytest.mark.parametrize("name", PROGRAMS)
def test_benchmark_programs_give_the_same_digest(name: str, options: tuple[str, ...], tmp_path: Path) -> None:
    _gives_the_same_digest(name, tmp_path, *options)
