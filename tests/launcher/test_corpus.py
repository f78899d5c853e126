"""Small scripts of every kind, run plainly and under the launcher on every backend: same stdout, same exit code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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
    _script("doors_matplotlib"),
    _script("doors_pandas"),
    _script("doors_scipy"),
    _script("doors_sklearn"),
    _script("kinds"),
    _script("subprocesses"),
    *(
        _script(name)
        for name in (
            "adoption chunks containers exception_hook exec_code exit_int exit_late file_relative from_imports heat"
            " importlib_import index_objects isinstance_checks lists main_guard optimise random_generator"
            " random_legacy regression save_load star_import testing_module ufunc_objects"
            " vectorize_iterate warnings_error writes"
        ).split()
    ),
]


def _run_all(
    backend: str, folder: Path, *options: str, only: tuple[str, ...] | None = None
) -> dict[str, dict[str, Any]]:
    cases = [case for case in CASES if only is None or case.name in only]
    jobs = [
        {"argv": case.argv, "cwd": str(CORPUS), "stdin": case.stdin, "out": str(folder / case.name)} for case in cases
    ]
    listing = folder / "jobs.json"
    listing.write_text(json.dumps(jobs))
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    subprocess.run([sys.executable, str(ZYGOTE), backend, str(listing), *options], env=env, check=True, timeout=1800)
    results = {}
    for case in cases:
        out = folder / case.name
        report = Path(f"{out}.json")
        results[case.name] = {
            "code": int(Path(f"{out}.code").read_text()),
            "stdout": Path(f"{out}.stdout").read_text(),
            "stderr": Path(f"{out}.stderr").read_text(),
            "report": json.loads(report.read_text()) if report.exists() else None,
        }
    return results


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    return _run_all("plain", tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="module", params=loader.available())
def launched(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Everything on the device, however small."""
    return _run_all(request.param, tmp_path_factory.mktemp(request.param), "--min-size", "0")


@pytest.fixture(scope="module", params=[name for name in ("jax", "torch") if name in loader.available()])
def launched_small(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """Arrays where they are by default: the corpus has small ones mostly, which stay on the host.

    Two libraries, one with immutable arrays and one without: what NumPy holds is the same for all.
    """
    return _run_all(request.param, tmp_path_factory.mktemp(request.param))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_same_as_plain(case: Case, plain: dict[str, Any], launched: dict[str, Any]) -> None:
    expected, got = plain[case.name], launched[case.name]
    assert got["stdout"] == expected["stdout"], got["stderr"]
    assert got["code"] == expected["code"], got["stderr"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_same_with_small_arrays_on_the_host(case: Case, plain: dict[str, Any], launched_small: dict[str, Any]) -> None:
    expected, got = plain[case.name], launched_small[case.name]
    assert got["stdout"] == expected["stdout"], got["stderr"]
    assert got["code"] == expected["code"], got["stderr"]


@pytest.mark.parametrize("case", [case for case in CASES if case.computes], ids=lambda case: case.name)
def test_ran_on_the_backend(case: Case, launched: dict[str, Any]) -> None:
    assert launched[case.name]["report"]["calls_on_backend"] > 0


NUMERIC = ("adoption", "from_imports", "heat", "lists", "optimise", "project", "regression", "writes")


@pytest.fixture(scope="module", params=loader.available())
def broken(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """On a library whose sums and matrix products are wrong on purpose."""
    folder = tmp_path_factory.mktemp(f"{request.param}-broken")
    return _run_all(request.param, folder, "--min-size", "0", "broken", only=NUMERIC)


@pytest.mark.parametrize("name", NUMERIC)
def test_a_broken_library_shows(name: str, plain: dict[str, Any], broken: dict[str, Any]) -> None:
    """Proof from outside our counters: the numbers are the library's."""
    if name == "writes" and broken[name]["report"]["backend"] == "numpy":
        return  # its one sum is written into `out=`: NumPy's own call there, no kernel that could be broken
    assert broken[name]["stdout"] != plain[name]["stdout"]


# What the report names at the door of each library: (script, a line of it that hands an array over).
DOORS = {
    "doors_matplotlib": "axes[0, 0].plot(",
    "doors_pandas": "frame[w > 0]",
    "doors_scipy": "optimize.curve_fit(",
    "doors_sklearn": "KNeighborsClassifier(3).fit(",
}


@pytest.mark.parametrize("name", DOORS)
def test_the_report_says_what_was_converted_at_a_librarys_door(name: str, launched: dict[str, Any]) -> None:
    report = launched[name]["report"]
    if report["backend"] == "numpy":
        return  # its arrays are ndarrays: nothing is converted
    source = (CORPUS / f"{name}.py").read_text().splitlines()
    line = 1 + next(i for i, text in enumerate(source) if DOORS[name] in text)
    rows = [row for row in report["transfers"] if Path(row["file"]).name == f"{name}.py" and row["line"] == line]
    assert [
        row for row in rows if row["direction"] == "to_host" and ("ndarray" in row["why"] or "to_numpy" in row["why"])
    ]


def test_plain_python_is_the_oracle(plain: dict[str, Any]) -> None:
    """The scripts that mean to end well do, so that equal failure cannot pass for agreement."""
    failing = {"app", "package", "exit_text", "syntax_error", "exception", "exception_hook", "exit_int", "exit_late"}
    assert {name: run["code"] for name, run in plain.items() if run["code"]}.keys() <= failing


@pytest.mark.parametrize("name", ["exception", "syntax_error", "exit_text"])
def test_stderr_is_the_scripts_own(name: str, plain: dict[str, Any], launched: dict[str, Any]) -> None:
    assert launched[name]["stderr"].startswith(plain[name]["stderr"])
    assert "arraydispatch/" not in launched[name]["stderr"].replace(str(CORPUS), "")
