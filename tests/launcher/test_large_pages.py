"""The command starts once more where a library takes its memory from the C library in small pages, and nowhere else."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from arraydispatch.launcher import large_pages

ROOT = Path(__file__).parents[2]
SCRIPT = """
import os, resource, sys
import numpy as np
print(sorted(name for name in os.environ if name in ("GLIBC_TUNABLES", "_ARRAYDISPATCH_STARTED_AGAIN")), sys.argv[1:])
a = np.ones(6_000_000)
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for i in range(10):
        b = a * 2.5 + i
        float(b[0])
        del b
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
faults()
print(faults())
"""
PYTHON, COMMAND = "/usr/bin/python", "/usr/bin/arraydispatch"


@pytest.mark.parametrize(
    ("words", "backend"),
    [
        (["--backend", "jax", "x.py"], "jax"),
        (["--report", "--backend=torch", "x.py", "--backend", "jax"], "torch"),
        (["x.py"], "tensorflow"),
        (["x.py", "--backend"], ""),
    ],
)
def test_the_backend_is_that_of_the_options_or_of_the_environment(words: list[str], backend: str) -> None:
    assert large_pages.named(words, {"ARRAYDISPATCH_BACKEND": "tensorflow"}) == backend
    assert large_pages.named(["x.py"], {}) == ""


@pytest.mark.parametrize(
    "original",
    [
        [PYTHON, "-m", "arraydispatch", "run", "-m", "x"],
        [PYTHON, "-X", "utf8", "-Wdefault", "-u", "-m", "arraydispatch", "run", "-m", "x"],
        [PYTHON, COMMAND, "run", "-m", "x"],
        [PYTHON, "-W", "error", COMMAND, "run", "-m", "x"],
    ],
)
def test_the_command_is_given_again_word_by_word(original: list[str]) -> None:
    assert large_pages.command(original, [COMMAND, "run", "-m", "x"]) == original


@pytest.mark.parametrize(
    "original",
    [
        [PYTHON, "-m", "pdb", "-m", "arraydispatch", "run", "x.py"],
        [PYTHON, "-m", "cProfile", "-o", "out", COMMAND, "run", "x.py"],
        [PYTHON, "debugger.py", "-m", "arraydispatch", "run", "x.py"],
        [PYTHON, "-c", "from arraydispatch.__main__ import main; main()", "run", "x.py"],
        [PYTHON, "-m", "arraydispatch", "run", "y.py"],
        ["run", "x.py"],
    ],
)
def test_a_command_that_another_program_started_goes_on(original: list[str]) -> None:
    assert large_pages.command(original, [COMMAND, "run", "x.py"]) is None


@pytest.mark.parametrize(
    ("arguments", "environment"),
    [
        (["info"], {}),
        (["run", "x.py"], {}),
        (["run", "--backend", "numpy", "x.py"], {"ARRAYDISPATCH_BACKEND": "jax"}),
        *[(["run", "--backend", "jax", "x.py"], {name: "1"}) for name in large_pages.CONFIGURED],
    ],
)
def test_a_run_that_would_gain_nothing_does_not_start_again(arguments: list[str], environment: dict[str, str]) -> None:
    assert not large_pages._helps(arguments, environment)


@pytest.mark.skipif(
    not large_pages._helps(["run", "--backend", "jax"], {}), reason="inapplicable: no large pages on request"
)
def test_results_of_a_library_lie_in_large_pages(tmp_path: Path) -> None:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, encoding="utf-8")
    env = {name: value for name, value in os.environ.items() if name not in large_pages.CONFIGURED}
    words = [sys.executable, "-m", "arraydispatch", "run", "--backend", "jax", str(path), "a", "b"]
    for more, given, few in (({}, "[]", True), ({"MALLOC_TOP_PAD_": "131072"}, "[]", False)):
        ran = subprocess.run(
            words, env=env | {"PYTHONPATH": str(ROOT)} | more, capture_output=True, text=True, check=True
        )
        variables, faults = ran.stdout.splitlines()
        assert variables == f"{given} ['a', 'b']"
        assert (int(faults) < 10 * 6_000_000 * 8 // 4096 / 4) == few
