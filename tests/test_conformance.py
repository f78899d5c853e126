"""The conformance runner: what it reads, how it judges, and one small module run for real."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT))  # the runner is not installed: it lies beside the package

from conformance import expected, results, runs  # noqa: E402
from conformance.__main__ import _write_xfails, main  # noqa: E402
from conformance.modules import MODULES, Usage, chosen, file_of  # noqa: E402

MODULE = "lib.test_ufunclike"


def _result(**outcomes: str) -> runs.ModuleResult:
    tests = {
        name: runs.Test(outcome, "ValueError: no" if outcome == "failed" else "") for name, outcome in outcomes.items()
    }
    return runs.ModuleResult(MODULE, tests, len(tests))


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "numpy-x-xfails.txt"
    path.write_text(text, encoding="utf-8")
    return path


# -- modules -----------------------------------------------------------------------------------------------------------


def test_every_module_is_in_this_numpy() -> None:
    assert len(MODULES) == 24
    for module in MODULES:
        assert file_of(module).is_file()


def test_choosing_modules() -> None:
    assert chosen([]) == list(MODULES)
    assert chosen(["fft", MODULE, "fft.test_helper"]) == ["fft.test_pocketfft", "fft.test_helper", MODULE]
    with pytest.raises(Usage, match="there is no 'li'"):
        chosen(["li"])


# -- data files --------------------------------------------------------------------------------------------------------


def test_reading_expectations(tmp_path: Path) -> None:
    path = _file(
        tmp_path, f"# a reason (2)\n\n{MODULE}::A::test_x[a  # b-1]  # a reason\n{MODULE}::test_y[*]  # another\n"
    )
    found = expected.read(path)
    assert found.reason(f"{MODULE}::A::test_x[a  # b-1]") == "a reason"
    assert found.reason(f"{MODULE}::test_y[3-c]") == "another"
    assert found.reason(f"{MODULE}::test_z") is None
    assert found.stale(MODULE, {f"{MODULE}::test_y[0]"}) == [f"{MODULE}::A::test_x[a  # b-1]"]
    assert found.stale("fft.test_helper", set()) == []
    assert expected.read(tmp_path / "none.txt") == expected.Expectations()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (f"{MODULE}::test_x", "line 2: a line must read"),
        (f"{MODULE}::test_x  # ", "line 2: a line must read"),
        (f"{MODULE}::test_x # one space", "line 2: a line must read"),
        ("lib.test_nope::test_x  # why", "line 2: 'lib.test_nope' is none of the modules"),
        (f"{MODULE}::test_a  # again", "line 2: .* is there twice"),
    ],
)
def test_faulty_lines(tmp_path: Path, line: str, says: str) -> None:
    path = _file(tmp_path, f"{MODULE}::test_a  # why\n{line}\n")
    with pytest.raises(Usage, match=says):
        expected.read(path)


def test_writing_keeps_known_reasons(tmp_path: Path) -> None:
    path = _file(
        tmp_path, f"{MODULE}::test_a  # known\nfft.test_helper::test_o  # elsewhere\n{MODULE}::test_gone  # old\n"
    )
    _write_xfails([_result(test_a="failed", test_b="failed", test_c="passed")], path, expected.read(path))
    found = expected.read(path)
    assert found.exact == {
        f"{MODULE}::test_a": "known",
        f"{MODULE}::test_b": f"{expected.UNTRIAGED}ValueError: no",
        "fft.test_helper::test_o": "elsewhere",
    }


def test_the_kept_files_can_be_read() -> None:
    for path in sorted(expected.HERE.glob("numpy-*.txt")):
        found = expected.read(path)
        assert found.exact or found.families, path.name


# -- judging -----------------------------------------------------------------------------------------------------------


def test_judging() -> None:
    known = expected.Expectations(
        {f"{MODULE}::a": "why", f"{MODULE}::b": "why", f"{MODULE}::gone": "why", f"{MODULE}::s": "why"}
    )
    verdict = results.judge(
        [_result(a="failed", b="passed", c="failed", d="crashed", e="passed", s="skipped")], known, True
    )
    assert list(verdict.failures) == [f"{MODULE}::c", f"{MODULE}::d"]
    assert verdict.passes == [f"{MODULE}::b"]
    assert verdict.stale == [f"{MODULE}::gone"]
    assert not verdict.as_expected
    assert results.judge([_result(a="failed", e="passed")], known, False).as_expected
    broken = runs.ModuleResult(MODULE, error="does not import")
    assert results.judge([broken], known, True).broken == {MODULE: "does not import"}


def test_reading_events() -> None:
    result, attempt = runs.ModuleResult(MODULE), runs._Attempt()
    lines = [
        {"event": "collected", "tests": ["a", "b", "c"]},
        {"event": "start", "test": "a"},
        {"event": "end", "test": "a", "outcome": "failed", "error": "E: x", "place": "f.py:1:g"},
        {"event": "start", "test": "b"},
    ]
    runs.read_events("\n".join(json.dumps(line) for line in lines) + "\n", result, attempt)
    assert (result.total, attempt.current, attempt.finished) == (3, "b", False)
    assert result.tests == {"a": runs.Test("failed", "E: x", "f.py:1:g")}
    finish = {"event": "finish", "calls": {"native": 3, "host": 1}, "host": {"np.f: why": 1}}
    for _ in range(2):  # a second process, behind a crash
        runs.read_events(json.dumps(finish), result, attempt)
    assert attempt.finished
    assert result.calls == {"native": 6, "host": 2}
    assert result.on_backend == 0.75


def test_causes_are_counted_over_numbers() -> None:
    errors = {"a": "ValueError: axis 3 of 0x1f", "b": "ValueError: axis 12 of 0x2e", "c": "TypeError: no"}
    assert results.causes(errors) == [(2, "ValueError: axis 3 of 0x1f", "a"), (1, "TypeError: no", "c")]


# -- crashes -----------------------------------------------------------------------------------------------------------

_CRASHING = """
import os, time
def test_first(): pass
def test_dies(): os.kill(os.getpid(), 9)
def test_between(): pass
def test_hangs(): time.sleep(60)
def test_fails(): assert 1 == 2
"""


def test_a_crash_and_a_hang_lose_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "test_crashing.py"
    path.write_text(_CRASHING, encoding="utf-8")
    monkeypatch.setattr(runs, "file_of", lambda module: path)
    seen: list[int] = []
    result = runs.run_module(
        MODULE,
        runs.Settings(runs.PLAIN, test_timeout=2.0),
        frozenset(),
        lambda r: seen.append(r.total),
        threading.Event(),
    )
    outcomes = {name: test.outcome for name, test in result.tests.items()}
    assert outcomes == {
        "test_first": "passed", "test_dies": "crashed", "test_between": "passed", "test_hangs": "crashed",
        "test_fails": "failed",
    }  # fmt: skip
    assert result.tests["test_dies"].error == "the process died of SIGKILL"
    assert result.tests["test_hangs"].error == "no end within 2 s"
    assert result.tests["test_fails"].error == "AssertionError: assert 1 == 2"
    assert result.tests["test_fails"].place == "test_crashing.py:7:test_fails"
    assert result.error == ""
    assert max(seen) == 5


def test_a_module_that_does_not_import(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "test_broken.py"
    path.write_text("import numpy as np\nraise ValueError('not here')\n", encoding="utf-8")
    monkeypatch.setattr(runs, "file_of", lambda module: path)
    result = runs.run_module(MODULE, runs.Settings(runs.PLAIN), frozenset(), lambda r: None, threading.Event())
    assert result.tests == {}
    assert result.error.endswith("ValueError: not here")


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["numpy"], "required: --backend"),
        (["scipy", "--backend", "numpy"], "invalid choice: 'scipy'"),
        (["numpy", "--backend", "nope"], "--backend: there is no 'nope'; choose one of: plain, numpy"),
        (["numpy", "--backend", "numpy", "--module", "lib.test_nope"], "--module: there is no 'lib.test_nope'"),
        (["numpy", "--backend", "numpy", "--json", "/no/such/folder/x.json"], "cannot be written"),
        (["numpy", "--backend", "numpy", "--workers", "0"], "'0' is not a positive number"),
        (["numpy", "--backend", "numpy", "--timeout", "soon"], "'soon' is not a positive number"),
        (["numpy", "--backend", "plain", "--device", "cpu"], "--device: plain has none"),
        (["numpy", "--backend", "numpy", "-k", "x", "--write-xfails"], "needs whole modules"),
        (["numpy", "--backend", "plain", "--module", MODULE, "-k", "a and"], "-k"),
        (["numpy", "--backend", "plain", "--module", MODULE, "-k", "nothing_like_it"], "-k: no test matches"),
    ],
)
def test_wrong_usage(argv: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    error = capsys.readouterr().err.strip()
    assert says in error
    assert error.splitlines()[-1].startswith("conformance: ")


def test_a_module_on_the_numpy_backend(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    command = [
        sys.executable,
        "-m",
        "conformance",
        "numpy",
        "--backend",
        "numpy",
        "--module",
        MODULE,
        "--json",
        str(out),
    ]
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert MODULE in done.stdout
    data = json.loads(out.read_text(encoding="utf-8"))
    row = data["modules"][MODULE]
    assert row["passed"] == row["plain_passes"] > 0
    assert row["failures"] == []
    # The arrays were on the backend: a run that the facade never reached would pass everything and count nothing.
    assert row["calls"]["composed"] >= 5
    assert data["backend"] == "numpy"
    assert {"python", "numpy", "arraydispatch"} <= set(data["versions"])
