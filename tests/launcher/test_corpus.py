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


def _run_all(backend: str, folder: Path, *options: str) -> dict[str, dict[str, Any]]:
    jobs = [
        {"argv": case.argv, "cwd": str(CORPUS), "stdin": case.stdin, "out": str(folder / case.name)} for case in CASES
    ]
    listing = folder / "jobs.json"
    listing.write_text(json.dumps(jobs))
    env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    subprocess.run([sys.executable, str(ZYGOTE), backend, str(listing), *options], env=env, check=True, timeout=600)
    results = {}
    for case in CASES:
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


@pytest.fixture(scope="module", params=loader.available())
def launched_small(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[str, Any]]:
    """Arrays where they are by default: the corpus has small ones mostly, which stay on the host."""
    return _run_all(request.param, tmp_path_factory.mktemp(request.param))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_same_as_plain(case: Case, plain: dict[str, Any], launched: dict[str, Any]) -> None:
    expected, got = plain[case.name], launched[case.name]
    assert got["stdout"] == expected["stdout"], got["stderr"]
    assert got["code"] == expected["code"], got["stderr"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_same_with_small_arrays_on_the_host(
    case: Case, plain: dict[str, Any], launched_small: dict[str, Any]
) -> None:
    expected, got = plain[case.name], launched_small[case.name]
    assert got["stdout"] == expected["stdout"], got["stderr"]
    assert got["code"] == expected["code"], got["stderr"]


@pytest.mark.parametrize("case", [case for case in CASES if case.computes], ids=lambda case: case.name)
def test_ran_on_the_backend(case: Case, launched: dict[str, Any]) -> None:
    assert launched[case.name]["report"]["calls_on_backend"] > 0


def test_plain_python_is_the_oracle(plain: dict[str, Any]) -> None:
    """The scripts that mean to end well do, so that equal failure cannot pass for agreement."""
    failing = {"app", "package", "exit_text", "syntax_error", "exception", "exception_hook", "exit_int", "exit_late"}
    assert {name: run["code"] for name, run in plain.items() if run["code"]}.keys() <= failing


@pytest.mark.parametrize("name", ["exception", "syntax_error", "exit_text"])
def test_stderr_is_the_scripts_own(name: str, plain: dict[str, Any], launched: dict[str, Any]) -> None:
    assert launched[name]["stderr"].startswith(plain[name]["stderr"])
    assert "arraydispatch/" not in launched[name]["stderr"].replace(str(CORPUS), "")
