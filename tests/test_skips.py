"""Skips: all are allowed where people run the tests, and under ``--no-skips`` only those that say why the test does not apply."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = """\
import pytest
from tests.rows import each

@pytest.mark.skipif(True, reason="no browser here")
def test_marked(): pass

def test_calls():
    pytest.skip("needs a library")

def test_imports():
    pytest.importorskip("no_such_package")

@pytest.fixture
def missing():
    pytest.skip("thing is not installed")

def test_asks(missing): pass

def test_asks_for_a_library(monkeypatch):
    import sys
    import arraydispatch as ad

    monkeypatch.setitem(sys.modules, "torch", None)
    ad.backend("torch")

@each("x", [1, 2])
def test_rows(x):
    if x == 2:
        pytest.importorskip("no_such_package")

@pytest.mark.skipif(True, reason="inapplicable: of another system")
def test_of_another_system(): pass

@each("x", [1, 2])
def test_rows_that_do_not_apply(x):
    if x == 2:
        pytest.skip("inapplicable: two is even")

@pytest.mark.xfail(reason="known")
def test_fails(): assert False
"""
FILE = "import pytest\npytest.importorskip('no_such_package')\ndef test_one(): pass\n"


def _outcomes(folder: Path, *options: str) -> dict[str, int]:
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "tests.conftest",
        "-p",
        "no:cacheprovider",
        f"--rootdir={folder}",
    ]
    done = subprocess.run(
        [*command, *options, "test_a.py", "test_b.py"], cwd=folder, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    last = done.stdout.splitlines()[-1]
    return {word: int(count) for count, word in re.findall(r"(\d+) ([a-z]+)", last) if word != "in"}


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_only_what_does_not_apply_is_skipped(tmp_path: Path, workers: tuple[str, ...]) -> None:
    if workers:
        pytest.importorskip("xdist")
    (tmp_path / "test_a.py").write_text(TESTS)
    (tmp_path / "test_b.py").write_text(FILE)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n    compiles: rows\n")
    assert _outcomes(tmp_path, *workers) == {"passed": 2, "skipped": 7, "xfailed": 1}
    more = ("--continue-on-collection-errors",)
    # A skip before the test begins is an error, as of a file.
    assert _outcomes(tmp_path, "--no-skips", *more, *workers) == {
        "failed": 4, "errors": 3, "passed": 1, "skipped": 1, "xfailed": 1
    }  # fmt: skip
