"""Programs that libraries keep between processes of the launcher: a second process compiles nothing, and computes the same."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arraydispatch.backends import loader
from arraydispatch.common import cache_folders

LIBRARIES = ["jax", "torch", "tensorflow"]
ROOT = Path(__file__).parents[2]

QUICK = """
    import numpy as np
    x = np.ones((60, 50))
    for i in range(4):
        x = x * 2.0 + np.roll(x, 1, axis=0)
        print(float(x[7, i]))
"""


_FEW = {"TORCHINDUCTOR_CPP_CACHE_PRECOMPILE_HEADERS": "0", "TORCHINDUCTOR_VEC_ISA_OK": "1"}
"""What takes longer than it saves where an empty folder gets a few programs: headers, and trying each kind of vectors."""


class Process:
    """Run of a script: its output, and how many programs were compiled and how many read."""

    def __init__(self, library: str, script: str, where: Path, *arguments: str, **environment: str) -> None:
        where.mkdir(exist_ok=True)
        path, report = where / "script.py", where / "report.json"
        path.write_text(textwrap.dedent(script))
        theirs = {name for row in loader.KNOWN.values() for name in row.keeps}
        env = {name: value for name, value in os.environ.items() if name not in theirs}
        env |= {"PYTHONPATH": str(ROOT), "ARRAYDISPATCH_CACHE": str(where / "cache"), **_FEW, **environment}
        options = "--backend", library, "--execution", "compiled", "--min-size", "0", "--report", str(report)
        command = [sys.executable, "-m", "arraydispatch", "run", *options, str(path), *arguments]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert not done.returncode, done.stderr
        self.output, self.said = done.stdout, done.stderr
        data: dict[str, Any] = json.loads(report.read_text())
        self.compiled = sum(row["count"] for row in data["compilations"])
        self.kept = sum(row["kept"] for row in data["compilations"])


def _files(folder: Path) -> dict[Path, int]:
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.one_backend("kept programs")
@pytest.mark.parametrize("library", LIBRARIES)
def test_a_second_process_compiles_nothing(library: str, tmp_path: Path) -> None:
    first = Process(library, QUICK, tmp_path)
    assert first.compiled
    assert not first.kept
    files = _files(tmp_path / "cache" / "programs")
    assert files
    second = Process(library, QUICK, tmp_path)
    assert (second.compiled, second.kept) == (0, first.compiled)
    assert second.output == first.output
    assert f"{second.kept} program" in second.said
    assert _files(tmp_path / "cache" / "programs") == files


NOT_THE_SAME = """
    import sys
    import numpy as np
    import arraydispatch as ad
    k = int(sys.argv[1])
    table = np.arange(5.0) * k

    @ad.jit
    def f(x):
        return x * table + k

    @ad.jit
    def g(x):
        return ad.host_call(lambda y: np.full(4 + k, y[0] + k), np.zeros(4 + k), x) * 2

    x = ad.asarray(np.arange(1.0, 6.0))
    for func in (f, g):
        print(np.asarray(func(x)).tolist())
"""


@pytest.mark.slow
@pytest.mark.one_backend("kept programs")
@pytest.mark.parametrize("library", LIBRARIES)
def test_constants_and_host_functions_are_those_of_each_process(library: str, tmp_path: Path) -> None:
    x = np.arange(1.0, 6.0)
    for k in (1, 2):
        expected = (x * (np.arange(5.0) * k) + k).tolist(), np.full(4 + k, (1.0 + k) * 2).tolist()
        assert Process(library, NOT_THE_SAME, tmp_path, str(k)).output.splitlines() == [*map(str, expected)]


def test_what_cannot_be_kept_or_read_is_compiled(tmp_path: Path) -> None:
    first = Process("jax", QUICK, tmp_path)
    for name in _files(tmp_path / "cache" / "programs"):
        name.write_bytes(name.read_bytes()[:-7])  # broken off
    again = Process("jax", QUICK, tmp_path)
    assert again.output == first.output
    assert again.compiled == first.compiled
    (tmp_path / "file").write_text("")
    without = Process("jax", QUICK, tmp_path, ARRAYDISPATCH_CACHE=str(tmp_path / "file"))
    assert without.output == first.output
    assert "cache" not in without.said


def test_the_users_own_folder_is_kept(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    Process(
        "jax", QUICK, tmp_path, JAX_COMPILATION_CACHE_DIR=str(theirs), JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0"
    )
    assert _files(theirs)
    assert not (tmp_path / "cache").exists()


@pytest.mark.skipif(os.name == "nt", reason="inapplicable: no permissions of this kind")
def test_nobody_else_reads_or_writes_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARRAYDISPATCH_CACHE", str(tmp_path))
    made = tmp_path / "programs" / "library"
    assert cache_folders.folder("programs", "library") == str(made)
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    made.chmod(0o777)
    assert cache_folders.folder("programs", "library") == str(made)
    assert stat.S_IMODE(made.stat().st_mode) == 0o700
    monkeypatch.setattr(os, "getuid", lambda: made.stat().st_uid + 1)
    assert cache_folders.folder("programs", "library") is None


def test_an_empty_variable_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARRAYDISPATCH_CACHE", "")
    assert cache_folders.folder("programs") is None


def test_files_not_used_for_longest_are_removed_first(tmp_path: Path) -> None:
    for i in range(10):
        path = tmp_path / str(i % 3) / str(i)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * 100)
        os.utime(path, (1000 + i, 1000))
    cache_folders.prune(tmp_path, 450)
    assert sorted(path.name for path in _files(tmp_path)) == ["6", "7", "8", "9"]
