"""The conformance runner: what it reads, how it judges, and one small module run for real."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT))  # the runner is not installed: it lies beside the package

from conformance import array_api_suite, expected, page, results, runs  # noqa: E402
from conformance.__main__ import _write_xfails, main  # noqa: E402
from conformance.array_api_suite import ArrayApiSuite, Part, checkout, commit_of  # noqa: E402
from conformance.numpy_suite import MODULES, NumpySuite  # noqa: E402
from conformance.scipy_suite import ScipySuite  # noqa: E402
from conformance.suites import HERE, PLAIN, Settings, Suite, Usage  # noqa: E402

MODULE = "lib.test_ufunclike"
SUITE = NumpySuite()
BACKENDS = ("numpy", "jax", "torch", "tensorflow")


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _result(**outcomes: str) -> runs.ModuleResult:
    tests = {
        name: runs.Test(outcome, "ValueError: no" if outcome == "failed" else "") for name, outcome in outcomes.items()
    }
    return runs.ModuleResult(MODULE, tests, len(tests))


def _file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "numpy-x-xfails.txt"
    path.write_text(text, encoding="utf-8")
    return path


class _OneFile(Suite):
    """A suite of one file."""

    name = "one"
    modules = (MODULE,)

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        path.write_text(text, encoding="utf-8")

    def title(self) -> str:
        return "one file"

    def file_of(self, module: str) -> Path:
        return self.path

    def xfails_file(self, backend: str) -> Path:
        return self.path.with_name("xfails.txt")

    def run(self, **settings: float) -> runs.ModuleResult:
        """Run it on plain NumPy."""
        self.totals: list[int] = []
        return runs.run_module(
            self,
            MODULE,
            Settings(PLAIN, **settings),
            frozenset(),
            lambda r: self.totals.append(r.total),
            threading.Event(),
        )


# -- modules -----------------------------------------------------------------------------------------------------------


def test_the_modules_of_scipys_suite_are_there() -> None:
    suite = ScipySuite()
    assert {suite.file_of(module).name for module in suite.modules} >= {"test_filters.py", "test_real_transforms.py"}
    assert suite.chosen(["fft"]) == [module for module in suite.modules if module.startswith("fft.")]


def test_every_module_is_in_this_numpy() -> None:
    assert len(MODULES) == 24
    for module in MODULES:
        assert SUITE.file_of(module).is_file()


def test_choosing_modules() -> None:
    assert SUITE.chosen([]) == list(MODULES)
    assert SUITE.chosen(["fft", MODULE, "fft.test_helper"]) == ["fft.test_pocketfft", "fft.test_helper", MODULE]
    with pytest.raises(Usage, match=r"there is no 'li'; .* or a group: _core, lib, linalg, fft"):
        SUITE.chosen(["li"])


# -- data files --------------------------------------------------------------------------------------------------------


def test_reading_expectations(tmp_path: Path) -> None:
    path = _file(
        tmp_path, f"# a reason (2)\n\n{MODULE}::A::test_x[a  # b-1]  # a reason\n{MODULE}::test_y[*]  # another\n"
    )
    found = expected.read(path, SUITE)
    assert found.reason(f"{MODULE}::A::test_x[a  # b-1]") == "a reason"
    assert found.reason(f"{MODULE}::test_y[3-c]") == "another"
    assert found.reason(f"{MODULE}::test_z") is None
    assert found.stale(MODULE, {f"{MODULE}::test_y[0]"}) == [f"{MODULE}::A::test_x[a  # b-1]"]
    assert found.stale("fft.test_helper", set()) == []
    assert expected.read(tmp_path / "none.txt", SUITE) == expected.Expectations()


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
        expected.read(path, SUITE)


def test_writing_keeps_known_reasons(tmp_path: Path) -> None:
    path = _file(
        tmp_path, f"{MODULE}::test_a  # known\nfft.test_helper::test_o  # elsewhere\n{MODULE}::test_gone  # old\n"
    )
    found = [_result(test_a="failed", test_b="failed", test_c="passed")]
    written = _write_xfails(found, path, expected.read(path, SUITE))
    assert results.judge(found, written, True).as_expected
    found = expected.read(path, SUITE)
    assert found.exact == {
        f"{MODULE}::test_a": "known",
        f"{MODULE}::test_b": f"{expected.UNTRIAGED}ValueError: no",
        "fft.test_helper::test_o": "elsewhere",
    }


def test_the_kept_files_can_be_read() -> None:
    kept = [SUITE.left_out, *(SUITE.xfails_file(backend) for backend in BACKENDS)]
    scipy = ScipySuite()
    kept += [scipy.left_out, *(scipy.xfails_file(backend) for backend in BACKENDS)]
    for path in kept:
        expected.read(path, scipy if path.name.startswith("scipy") else SUITE)
    suite = ArrayApiSuite(Path(), "math")  # without the suite, all but the names of its modules is checked
    for backend in BACKENDS:
        kept.append(suite.xfails_file(backend))
        expected.read(kept[-1], suite)
    assert set(HERE.glob("*.txt")) <= set(kept)


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


def test_a_crash_and_a_hang_lose_nothing(tmp_path: Path) -> None:
    suite = _OneFile(tmp_path / "test_crashing.py", _CRASHING)
    result = suite.run(test_timeout=2.0)
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
    assert max(suite.totals) == 5


_HYPOTHESIS = """
from hypothesis import given, strategies as st
@given(st.integers())
def test_small(a): assert a < 10
@given(st.integers())
def test_two(a):
    assert a < 10
    int("x" if a < -10 else "0")
"""


def test_what_hypothesis_found_is_told(tmp_path: Path) -> None:
    tests = _OneFile(tmp_path / "test_found.py", _HYPOTHESIS).run().tests
    assert tests["test_small"].error.startswith("AssertionError: assert 10 < 10")
    assert tests["test_small"].example == "test_small( a=10, )"
    assert tests["test_two"].error.split(":")[0] in {"AssertionError", "ValueError"}  # not the group of both
    assert tests["test_two"].place.startswith("test_found.py:")


def test_a_module_that_does_not_import(tmp_path: Path) -> None:
    result = _OneFile(tmp_path / "test_broken.py", "import numpy as np\nraise ValueError('not here')\n").run()
    assert result.tests == {}
    assert result.error.endswith("ValueError: not here")


# -- the command -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ([], "required: SUITE"),
        (["numpy"], "required: --backend"),
        (["pandas", "--backend", "numpy"], "invalid choice: 'pandas'"),
        (["numpy", "--backend", "nope"], "--backend: there is no 'nope'; choose one of: plain, numpy"),
        (["numpy", "--backend", "numpy", "--module", "lib.test_nope"], "--module: there is no 'lib.test_nope'"),
        (["numpy", "--backend", "numpy", "--json", "/no/such/folder/x.json"], "cannot be written"),
        (
            ["numpy", "--backend", "numpy", "--html", "/no/such/folder/x.html"],
            "--html: '/no/such/folder/x.html' cannot",
        ),
        (["numpy", "--backend", "numpy", "--module", MODULE, "--keep"], "--keep needs a full run"),
        (["numpy", "--backend", "numpy", "--workers", "0"], "'0' is not a positive number"),
        (["numpy", "--backend", "numpy", "--timeout", "soon"], "'soon' is not a positive number"),
        (["numpy", "--backend", "plain", "--device", "cpu"], "--device: plain has none"),
        (["numpy", "--backend", "numpy", "-k", "x", "--write-xfails"], "needs whole modules"),
        (["numpy", "--backend", "plain", "--module", MODULE, "-k", "a and"], "-k"),
        (["numpy", "--backend", "plain", "--module", MODULE, "-k", "nothing_like_it"], "-k: no test matches"),
        (["array-api"], "one of the arguments --backend --namespace is required"),
        (["array-api", "--backend", "numpy", "--namespace", "math"], "not allowed with"),
        (["array-api", "--backend", "plain"], "--backend: there is no 'plain'; choose one of: numpy"),
        (["array-api", "--namespace", "no_such.thing"], "--namespace: there is no module 'no_such.thing'"),
        (["array-api", "--backend", "numpy", "--max-examples", "0"], "'0' is not a positive number"),
        (["array-api", "--backend", "numpy", "--max-examples", "2.5"], "'2.5' is not a whole number"),
        (["array-api", "--backend", "numpy", "--seed", "-1"], "'-1' is not a whole number"),
        (["array-api", "--backend", "numpy", "--suite", "/no/such"], "there is no 'array_api_tests' in '/no/such'"),
    ],
)
def test_wrong_usage(argv: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    error = capsys.readouterr().err.strip()
    assert says in error
    assert [line for line in error.splitlines() if line.startswith("conformance: ")]


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


# -- the array-API suite -----------------------------------------------------------------------------------------------

_LINK = "https://example.org/why"
_CONFTEST = """
import importlib, os
xp = importlib.import_module(os.environ["ARRAY_API_TESTS_MODULE"])
def pytest_addoption(parser):
    parser.addoption("--max-examples", type=int)
    parser.addoption("--disable-deadline", action="store_true")
"""
_TINY = """
import pytest
from conftest import xp
def test_floor(request):
    assert (xp.floor(2.5), request.config.getoption("--max-examples")) == (2, 7)
@pytest.mark.parametrize("case", ["floor(x is NaN) -> NaN", "b"])
def test_case(case): assert case == "b"
"""


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A suite of three tests, of which one fails; its data file lies in ``tmp_path``."""
    folder = tmp_path / "suite"
    for name, text in {
        "conftest.py": _CONFTEST, "pytest.ini": "[pytest]\n", "array_api_tests/test_tiny.py": _TINY,
        "array-api/src/stubs.txt": "",
    }.items():  # fmt: skip
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(array_api_suite, "HERE", tmp_path)
    return folder


def _tiny(suite: Path, *more: str) -> int:
    return main(["array-api", "--namespace", "math", "--suite", str(suite), "--max-examples", "7", *more])


def test_the_array_api_suite(tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, html = tmp_path / "out.json", tmp_path / "out.html"
    xfails = tmp_path / "math-xfails.txt"
    case = "test_tiny::test_case[floor(x is NaN) -> NaN]"
    assert _tiny(tiny, "--json", str(data), "--html", str(html), "--seed", "3") == 1
    out, error = capsys.readouterr()
    assert "array-api-tests is at unknown commit, not at 55fcc60" in error  # and it goes on
    assert "1 unexpected failures" in out
    assert " ".join(out.split()).count("│ test_tiny │ 2 │ 1 │ 0 │ 0 │") == 1
    kept = json.loads(_text(data))
    assert (kept["suite"], kept["backend"], kept["max_examples"], kept["seed"]) == ("array-api", "math", 7, 3)
    assert kept["modules"]["test_tiny"]["failures"][0]["error"].startswith("AssertionError: assert ")
    assert "floor(x is NaN) -&gt; NaN" in _text(html)

    xfails.write_text(f"{case}  # NumPy does so\n", encoding="utf-8")
    assert _tiny(tiny) == 2
    assert "line 1: the reason must end with a link" in capsys.readouterr().err
    xfails.write_text(f"{case}  # NumPy does so: {_LINK}\n", encoding="utf-8")
    assert _tiny(tiny, "--json", str(data), "--html", str(html)) == 0
    assert json.loads(_text(data))["expected_failures"] == {f"NumPy does so: {_LINK}": 1}
    assert f'expected: NumPy does so: <a href="{_LINK}"' in _text(html)
    xfails.write_text(f"{case}  # {_LINK}\ntest_tiny::test_floor  # {_LINK}\n", encoding="utf-8")
    assert _tiny(tiny) == 1
    assert "1 passed though expected to fail" in capsys.readouterr().out


def test_a_namespace_that_does_not_import(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["array-api", "--namespace", "json.nothing", "--suite", str(tiny)]) == 2
    assert "No module named 'json.nothing'" in capsys.readouterr().err


def test_another_suite_is_not_kept(tiny: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _tiny(tiny, "--keep") == 2
    assert "--keep needs a full run of the pinned suite" in capsys.readouterr().err


def _git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    done = subprocess.run(["git", *who, "-C", str(folder), *arguments], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _commit(folder: Path) -> str:
    _git(folder, "init", "--quiet")
    _git(folder, "add", "--all", "--", ":!array-api")
    _git(folder, "commit", "--quiet", "-m", "x")
    return _git(folder, "rev-parse", "HEAD")


def test_the_commit_of_a_checkout(tiny: Path) -> None:
    assert commit_of(tiny) is None
    commit = _commit(tiny)
    assert commit_of(tiny) == commit
    assert commit_of(tiny / "array-api") is None  # not its own, though a repository is around it
    (tiny / "conftest.py").write_text("", encoding="utf-8")
    assert commit_of(tiny) == f"{commit}+changes"
    suite = ArrayApiSuite(tiny, "math")
    assert suite.departures() == [
        f"array-api-tests is at {commit[:7]}+changes, not at 55fcc60, for which the expected failures are written",
        "array-api is at unknown commit, not at 5f847a3, for which the expected failures are written",
    ]
    assert not suite.pinned


def test_getting_the_suite(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A release of either repository is a commit of a branch here, fetched over git's file protocol.
    spec = tmp_path / "spec"
    (tiny / "array-api").rename(spec)
    parts = (Part(tiny.as_uri(), _commit(tiny), "."), Part(spec.as_uri(), _commit(spec), "array-api"))
    monkeypatch.setattr(array_api_suite, "PARTS", parts)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    said: list[str] = []
    folder = checkout(None, said.append)
    assert said == [f"getting {parts[0].url} at {parts[0].commit[:7]}"]
    assert ArrayApiSuite(folder, "math").modules == ("test_tiny",)
    assert (folder / "array-api/src/stubs.txt").exists()
    assert [commit_of(folder), commit_of(folder / "array-api")] == [part.commit for part in parts]
    assert checkout(None, said.append) == folder
    assert len(said) == 1
    assert list(folder.parent.iterdir()) == [folder]


@pytest.mark.parametrize("path", [os.environ.get("PATH", ""), "/no/such/folder"], ids=["no network", "no git"])
def test_no_suite_and_no_network(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = Part((tmp_path / "nowhere").as_uri(), "0" * 40, ".")
    monkeypatch.setattr(array_api_suite, "PARTS", (nowhere,))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", path)
    assert main(["array-api", "--backend", "numpy"]) == 2
    error = capsys.readouterr().err
    assert "are not here and cannot be fetched" in error
    assert "git submodule update --init" in error
    assert "--suite array-api-tests" in error
    assert list((tmp_path / "cache" / "arraydispatch").iterdir()) == []


# -- what is kept ------------------------------------------------------------------------------------------------------


def _data(suite: Suite, backend: str, **outcomes: str) -> dict[str, Any]:
    known = expected.Expectations({f"{MODULE}::known": "host only"})
    result = _result(**outcomes)
    result.calls, result.host = {"native": 3, "host": 1}, {"np.f: why": 1}
    plain = {MODULE: 4} if suite.name == "numpy" else {}
    return results.as_json([result], suite, Settings(backend), known, plain)


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Kept results of two suites."""
    for module in (results, page):
        monkeypatch.setattr(module, "RESULTS", tmp_path)
    results.keep(_data(SUITE, "torch", a="passed", known="failed", b="failed", c="passed", d="passed"))
    results.keep(_data(ArrayApiSuite(tmp_path, "math", 20, 5), "torch", a="passed", known="failed"))
    return tmp_path


def test_keeping_results(kept: Path) -> None:
    data = json.loads(_text(kept / "numpy-torch.json"))
    row = data["modules"][MODULE]
    assert [failure["test"] for failure in row["failures"]] == ["b"]  # the data file holds the other
    assert data["expected_failures"] == {"host only": 1}
    assert (row["passed"], row["failed"], row["plain_passes"]) == (3, 2, 4)


def test_the_tables_of_kept_results(kept: Path) -> None:
    made = page.page()
    assert f"| {MODULE} | 4 | 3 (75.0 %) |" in made
    assert f"| {MODULE} | 75.0 % |" in made
    assert f"| {MODULE} | 2 | 1 |" in made
    assert "| **all** | 2 | 1 |" in made
    assert "| host only | 1 |" in made
    assert "20 examples, seed 5" in made
    assert "| torch | 3 of 4 (75.0 %) | 75.0 % | 1 of 2 |" in page.summary()


def test_a_readme_without_its_marks() -> None:
    with pytest.raises(Usage, match="are missing"):
        page.updated("# arraydispatch\n")


def test_the_documentation_shows_what_is_kept() -> None:
    assert _text(page.PAGE) == page.page(), "type: python -m conformance page"
    readme = _text(page.README)
    assert readme == page.updated(readme), "type: python -m conformance page"


def test_the_share_of_the_backend_leaves_out_what_numpy_computed() -> None:
    row = {"calls": {"native": 5, "view": 1, "host kernel": 1, "host": 1}}
    assert results.share(row) == "75.0 %"
    assert results.share({"calls": {}}) == "–"
