"""Small scripts of every kind, run plainly and under the launcher on every backend: same stdout, same exit code."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from arraydispatch.backends import loader

CORPUS = Path(__file__).parent / "corpus"
ZYGOTE = Path(__file__).parent / "zygote.py"
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Case:
    """One way to start one script."""

    name: str
    argv: tuple[str, ...]
    stdin: str = ""
    computes: bool = True
    """Whether array work must have run on the backend."""


def _script(name: str, *args: str, computes: bool = True) -> Case:
    return Case(name, (f"{name}.py", *args), computes=computes)


CASES = [
    Case("project", ("project/main.py",)),
    Case("package", ("-m", "app", "x", "--backend", "y")),
    Case("module", ("-m", "app.tool", "1", "2.5", "-3")),
    Case("folder", ("folder_main", "a", "-b")),
    Case("stdin", ("-", "first", "--second"), stdin=(CORPUS / "stdin_script.py").read_text()),
    _script("arguments", "--backend", "tf", "--report", "r", "-m", "3", "2", "4.5"),
    _script("exit_none", computes=False),
    _script("exit_text", computes=False),
    _script("syntax_error", computes=False),
    _script("exception", computes=False),
    _script("odd_dtypes", computes=False),
    _script("printing", computes=False),
    _script("shape_error", computes=False),
    _script("spawn", computes=False),
    _script("subclass", computes=False),
    _script("patched", computes=False),
    _script("fork", computes=False),
    _script("pool", computes=False),
    _script("tracebacks", computes=False),
    _script("doors_bytes"),
    *([_script("doors_h5py")] if importlib.util.find_spec("h5py") else []),
    _script("doors_matplotlib"),
    _script("doors_pandas"),
    _script("doors_pillow"),
    _script("doors_scipy"),
    _script("doors_sklearn"),
    _script("doors_sparse"),
    _script("doors_xarray"),
    _script("kinds"),
    _script("subprocesses"),
    *(
        _script(name)
        for name in (
            "adoption array_method chunks containers exception_hook exec_code exit_int exit_late file_relative from_imports heat"
            " importlib_import index_objects isinstance_checks lists main_guard optimise pickles random_generator"
            " random_legacy regression save_load star_import testing_module ufunc_objects"
            " vectorize_iterate warnings_error writes"
        ).split()
    ),
]


BY_NAME = {case.name: case for case in CASES}


class Zygote:
    """A process that has imported a library and runs cases in forks of it; what a case did is kept."""

    def __init__(self, backend: str, folder: Path, *options: str) -> None:
        self.backend, self._folder = backend, folder
        self._done: dict[str, dict[str, Any]] = {}
        env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
        self._process = subprocess.Popen(
            [sys.executable, str(ZYGOTE), backend, *options], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip

    def __getitem__(self, name: str) -> dict[str, Any]:
        if name not in self._done:
            self._done[name] = self._run(BY_NAME[name])
        return self._done[name]

    def _run(self, case: Case) -> dict[str, Any]:
        out = self._folder / case.name
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        print(
            json.dumps({"argv": case.argv, "cwd": str(CORPUS), "stdin": case.stdin, "out": str(out)}),
            file=process.stdin, flush=True,
        )  # fmt: skip
        code = process.stdout.readline()
        assert code, f"the process for {self.backend} ended with {process.wait()}"
        report = Path(f"{out}.json")
        return {
            "code": int(code),
            "stdout": Path(f"{out}.stdout").read_text(),
            "stderr": Path(f"{out}.stderr").read_text(),
            "report": json.loads(report.read_text()) if report.exists() else None,
        }

    def end(self) -> None:
        """Let it go."""
        self._process.communicate()


Make = Callable[..., Zygote]


@pytest.fixture(scope="module")
def zygote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Make]:
    """What makes zygotes that live as long as the module."""
    made: list[Zygote] = []

    def make(backend: str, *options: str) -> Zygote:
        made.append(Zygote(backend, tmp_path_factory.mktemp(backend), *options))
        return made[-1]

    yield make
    for one in made:
        one.end()


@pytest.fixture(scope="module")
def plain(zygote: Make) -> Zygote:
    return zygote("plain")


@pytest.fixture(scope="module", params=loader.available())
def launched(request: pytest.FixtureRequest, zygote: Make) -> Zygote:
    """Everything on the device, however small."""
    return zygote(request.param, "--min-size", "0")


@pytest.fixture(scope="module", params=[name for name in ("jax", "torch") if name in loader.available()])
def launched_small(request: pytest.FixtureRequest, zygote: Make) -> Zygote:
    """Arrays where they are by default: the corpus has small ones mostly, which stay on the host.

    Two libraries, one with immutable arrays and one without: what NumPy holds is the same for all.
    """
    return zygote(request.param)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_same_as_plain_and_on_the_backend(case: Case, plain: Zygote, launched: Zygote) -> None:
    expected, got = plain[case.name], launched[case.name]
    assert got["stdout"] == expected["stdout"], got["stderr"]
    assert got["code"] == expected["code"], got["stderr"]
    if case.computes:
        assert got["report"]["calls_on_backend"] > 0


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_same_with_small_arrays_on_the_host(case: Case, plain: Zygote, launched_small: Zygote) -> None:
    expected, got = plain[case.name], launched_small[case.name]
    assert got["stdout"] == expected["stdout"], got["stderr"]
    assert got["code"] == expected["code"], got["stderr"]


NUMERIC = ("adoption", "from_imports", "heat", "lists", "optimise", "project", "regression", "writes")


@pytest.fixture(scope="module", params=loader.available())
def broken(request: pytest.FixtureRequest, zygote: Make) -> Zygote:
    """On a library whose sums and matrix products are wrong on purpose."""
    return zygote(request.param, "--min-size", "0", "broken")


@pytest.mark.parametrize("name", NUMERIC)
def test_a_broken_library_shows(name: str, plain: Zygote, broken: Zygote) -> None:
    """Proof from outside our counters: the numbers are the library's."""
    if name == "writes" and broken[name]["report"]["backend"] == "numpy":
        return  # its one sum is written into `out=`: NumPy's own call there, no kernel that could be broken
    assert broken[name]["stdout"] != plain[name]["stdout"]


# What the report names at the door of each library: (script, a line of it that hands an array over).
DOORS = {
    "doors_matplotlib": "axes[0, 0].plot(",
    "doors_pandas": "frame[w > 0]",
    "doors_pillow": "Image.fromarray(values)",
    "doors_scipy": "optimize.curve_fit(",
    "doors_sklearn": "KNeighborsClassifier(3).fit(",
    "doors_sparse": "print(s + z",
    "doors_xarray": "a = xr.DataArray(x",
}


@pytest.mark.parametrize("name", DOORS)
def test_the_report_says_what_was_converted_at_a_librarys_door(name: str, launched: Zygote) -> None:
    report = launched[name]["report"]
    if report["backend"] == "numpy":
        return  # its arrays are ndarrays: nothing is converted
    source = (CORPUS / f"{name}.py").read_text().splitlines()
    line = 1 + next(i for i, text in enumerate(source) if DOORS[name] in text)
    rows = [row for row in report["transfers"] if Path(row["file"]).name == f"{name}.py" and row["line"] == line]
    assert [
        row for row in rows if row["direction"] == "to_host" and ("ndarray" in row["why"] or "to_numpy" in row["why"])
    ]


def test_plain_python_is_the_oracle(plain: Zygote) -> None:
    """The scripts that mean to end well do, so that equal failure cannot pass for agreement."""
    failing = {"app", "package", "exit_text", "syntax_error", "exception", "exception_hook", "exit_int", "exit_late"}
    assert {name for name in BY_NAME if plain[name]["code"]} <= failing


@pytest.mark.parametrize("name", ["exception", "syntax_error", "exit_text"])
def test_stderr_is_the_scripts_own(name: str, plain: Zygote, launched: Zygote) -> None:
    assert launched[name]["stderr"].startswith(plain[name]["stderr"])
    assert "arraydispatch/" not in launched[name]["stderr"].replace(str(CORPUS), "")
