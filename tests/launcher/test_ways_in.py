"""The other ways in: a test suite under pytest, a notebook, ``python -m arraydispatch``."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import nbclient
import nbformat
import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import arraydispatch as ad
from arraydispatch.backends import loader
from arraydispatch.common import callers
from arraydispatch.common.process_state import SETTINGS, process
from arraydispatch.launcher.commands import notebook as magics
from arraydispatch.runtime import settings

ROOT = Path(__file__).parents[2]
ENV = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "OMP_NUM_THREADS": "1",
}
every_backend = pytest.mark.parametrize("backend", loader.available())


def _python(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *args], cwd=cwd, env=ENV, capture_output=True, text=True, timeout=300)


# -- a process that ends ---------------------------------------------------------------------------------------------

STANDING_IN = """\
import scipy.fft

import arraydispatch as ad
import arraydispatch.numpy as np

ad.use("{backend}")
print(np.arange(3))
"""
SUSPENDED = """\
import numpy as np

import arraydispatch as ad


def held():
    with ad.accelerated("{backend}", execution="eager", precision=32):
        yield np.arange(3)


values = held()
print(next(values))
"""


@every_backend
@pytest.mark.parametrize("script", [STANDING_IN, SUSPENDED], ids=["import", "accelerated"])
def test_what_is_never_undone_ends_silently(backend: str, script: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(script.format(backend=backend))
    done = _python("script.py", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "[0 1 2]\n")
    assert "Exception ignored" not in done.stderr, done.stderr  # TensorFlow writes there too


# -- pytest ----------------------------------------------------------------------------------------------------------

CONFTEST = """\
import numpy as np
import pytest


@pytest.fixture
def data():
    return np.linspace(0, 1, 5000)
"""
SUITE = """\
import numpy as np

from mine import total


def test_values(data):
    assert isinstance(data, np.ndarray)
    assert type(data) is np.ndarray
    np.testing.assert_allclose(total(data), 2500)


def test_backend(data):
    assert np.exp(data).backend.name == "{backend}"


def test_that_fails(data):
    assert (data < 0).any()
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "mine.py").write_text("import numpy as np\n\n\ndef total(x):\n    return np.sum(x)\n")
    return tmp_path


@pytest.mark.one_backend
@every_backend
def test_a_suite_runs_on_the_backend(suite: Path, backend: str) -> None:
    (suite / "test_it.py").write_text(SUITE.format(backend=backend))
    done = _python(
        "-m", "pytest", "-q", "-p", "arraydispatch.pytest_plugin", "-p", "no:cacheprovider", f"--arraydispatch={backend}",
        cwd=suite,
    )  # fmt: skip
    assert "1 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "arraydispatch: NumPy computed everything: " in done.stdout
    assert (f"--min-size 0 has {backend} compute" in done.stdout) is (backend != "numpy")
    assert done.returncode == pytest.ExitCode.TESTS_FAILED


def test_the_figures_of_workers_are_added_up(suite: Path) -> None:
    pytest.importorskip("xdist")
    code = "import numpy as np\nimport pytest\n\n\n@pytest.mark.parametrize('n', range(4))\ndef test_it(n):\n    assert np.ones(3)[0] + n\n"
    (suite / "test_it.py").write_text(code + "    np.sqrt(np.ones(3))\n")
    options = ("-p", "arraydispatch.pytest_plugin", "-p", "no:cacheprovider", "--arraydispatch=numpy")
    alone, shared = (_python("-m", "pytest", "-q", *options, "-n", count, cwd=suite) for count in ("0", "2"))
    found = [re.search(r"NumPy computed everything: (\d+) calls", done.stdout) for done in (alone, shared)]
    assert found[0] is not None, alone.stdout + alone.stderr
    assert found[1] is not None, shared.stdout + shared.stderr
    assert found[0][1] == found[1][1]


def test_the_plugin_alone_changes_nothing(suite: Path) -> None:
    (suite / "test_it.py").write_text(
        "import numpy as np\n\n\ndef test_it(data):\n    assert not hasattr(data, 'native')\n"
    )
    done = _python("-m", "pytest", "-q", "-p", "arraydispatch.pytest_plugin", "-p", "no:cacheprovider", cwd=suite)
    assert "1 passed" in done.stdout, done.stdout + done.stderr
    assert "arraydispatch" not in done.stdout


def test_an_unknown_backend_is_a_usage_error(suite: Path) -> None:
    done = _python("-m", "pytest", "-p", "arraydispatch.pytest_plugin", "--arraydispatch=nothing", cwd=suite)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "there is no backend named 'nothing'" in done.stderr


# -- notebooks -------------------------------------------------------------------------------------------------------


def _executed(*cells: str, errors: bool = False) -> list[str]:
    """What each cell shows, as text."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", allow_errors=errors)
    client.execute(env=ENV)
    return ["".join(map(_text, cell.outputs)) for cell in notebook.cells]


def _text(output: nbformat.NotebookNode) -> str:
    if output.output_type == "stream":
        return str(output.text)
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}\n"
    return str(output.data["text/plain"]) + "\n"


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """What runs the cells of a notebook, in this process."""
    config = Config()
    config.HistoryManager.enabled = False
    monkeypatch.setenv("ARRAYDISPATCH_BACKEND", "numpy")
    monkeypatch.setitem(sys.modules, "cells", None)
    made = InteractiveShell(config=config, user_module=ModuleType("cells"), colors="nocolor")
    monkeypatch.setattr(callers, "_number", callers._number)
    monkeypatch.setattr(process, "cells", None)
    magics.load(made)
    with settings.kept(), process.kept("wrapper"):
        made.run_cell("import numpy as np, arraydispatch as ad").raise_error()
        yield made


def _settings() -> dict[str, Any]:
    return process.held(*SETTINGS)


@pytest.mark.parametrize("end", ["", "\n1 / 0", "\nad.use('numpy', precision=16)", "\nx = = 1"])
def test_a_cell_leaves_the_settings_as_they_were(shell: Any, end: str) -> None:
    name = loader.available()[-1]
    ad.use(name, precision=32, execution="eager", fallback="error")
    before = _settings()
    options = "--backend numpy --precision 64 --min-size 7 --on-fallback silent --rng device --device cpu"
    done = shell.run_cell(f"%%arraydispatch {options}\nfound = np.ones(9) / 3, ad.default_backend().name{end}")
    assert done.success is (not end or "use" in end)
    if "= =" not in end:
        assert shell.user_ns["found"][0].dtype == "f8"
        assert shell.user_ns["found"][1] == "numpy"
    assert _settings() == before
    shell.run_cell(
        "%%arraydispatch\nfound = np.ones(9) / 3, ad.default_backend().name, ad.get_precision()"
    ).raise_error()
    assert shell.user_ns["found"][1:] == (name, 32)
    assert shell.user_ns["found"][0].dtype == "f4"
    assert _settings() == before


def test_a_cell_that_cannot_start_changes_nothing(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    before = _settings()
    for options, says in (
        ("--precision 8", "invalid choice: '8'"),
        ("--backend nothing", "no backend named"),
        ("--include no_such", "--include"),
    ):
        shell.run_cell(f"%%arraydispatch --min-size 7 {options}\n1")
        shown = capsys.readouterr()
        assert says in shown.out + shown.err
    assert _settings() == before


@pytest.mark.parametrize("cell", ["x = = 1", "  x = 1\n y = 2", "1 / 0", "%nothing", "'unfinished"])
def test_an_error_in_a_cell_is_shown_once(shell: Any, capsys: pytest.CaptureFixture[str], cell: str) -> None:
    plain = shell.run_cell(cell)
    error = plain.error_before_exec or plain.error_in_exec
    capsys.readouterr()
    shell.run_cell(f"%%arraydispatch --backend numpy\n{cell}")
    shown = capsys.readouterr()
    name = type(error).__name__ if cell != "%nothing" else "not found"
    assert (shown.out + shown.err).count(f"{name}:" if name != "not found" else name) == 1, shown


def test_a_cell_says_what_ran_on_the_host(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    struve = pytest.importorskip("scipy.special").struve  # which no library has
    shell.user_ns["struve"] = struve
    name = next(name for name in loader.available() if name != "numpy")
    for policy, count in (("warn", 1), ("silent", 0)):
        shell.run_cell(
            f"%%arraydispatch --backend {name} --min-size 0 --on-fallback {policy}\nfor _ in range(3): struve(1, np.ones(3))"
        ).raise_error()
        assert capsys.readouterr().err.count("struve ran on the host") == count


def _shown(shell: Any, capsys: pytest.CaptureFixture[str], cell: str) -> str:
    capsys.readouterr()
    shell.run_cell(cell, store_history=True)
    shown = capsys.readouterr()
    return shown.out + shown.err


def test_a_line_holds_for_all_later_cells(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    name = next(name for name in loader.available() if name != "numpy")
    before = _settings()
    shell.run_cell(f"%arraydispatch --backend {name} --min-size 0\nhere = hasattr(np.ones(2), 'backend')").raise_error()
    assert (shell.user_ns["here"], _settings()) == (False, before)
    for _ in range(2):
        assert _shown(shell, capsys, "x = np.ones(2)\nprint(x.backend, type(x) is np.ndarray)") == f"{name} True\n"
        assert _settings() == before  # between two cells
        assert "ZeroDivisionError" in _shown(shell, capsys, "1 / 0")
    assert _shown(shell, capsys, "%%arraydispatch --backend numpy\nprint(np.ones(2).backend)") == "numpy\n"
    assert _shown(shell, capsys, "print(np.ones(2).backend)") == f"{name}\n"
    shell.run_cell("%arraydispatch --backend numpy --precision 32").raise_error()  # in place of the one before
    assert _shown(shell, capsys, "y = np.ones(2)\nprint(y.backend, y.dtype)") == "numpy float32\n"
    assert "no backend named" in _shown(shell, capsys, "%arraydispatch --backend nothing")
    assert _shown(shell, capsys, "print(np.ones(2).dtype)") == "float32\n"
    assert (
        _shown(shell, capsys, "%arraydispatch off\nprint(np.ones(2).backend)") == "arraydispatch: off\nnumpy\n"
    )  # later cells
    assert _shown(shell, capsys, "print(hasattr(np.ones(2), 'backend'), np)") == f"False {np}\n"
    assert _shown(shell, capsys, "%arraydispatch off") == "arraydispatch: off (no backend was on)\n"
    assert not shell.events.callbacks["pre_run_cell"]
    assert _settings() == before


def test_the_line_says_which_backend_is_on(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    on = f"arraydispatch: later cells run on numpy {np.__version__}, device cpu; %arraydispatch off ends it\n"
    assert _shown(shell, capsys, "%arraydispatch --backend numpy --device cpu") == on
    shell.run_cell("%arraydispatch off")


@pytest.mark.parametrize("magic", ["%arraydispatch -h", "%arraydispatch --help", "%%arraydispatch --help\nx = 1"])
def test_help_of_the_magic(shell: Any, capsys: pytest.CaptureFixture[str], magic: str) -> None:
    shown = _shown(shell, capsys, magic)
    assert shown.startswith("usage: %arraydispatch [options]")
    assert "%%arraydispatch [options]" in shown and "--verify" in shown and "--trace" not in shown
    assert "x" not in shell.user_ns


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("--min-size a", "argument --min-size: must be a non-negative integer, got 'a'; see: %arraydispatch --help"),
        ("--bakend jax", "(did you mean '--backend'?); see: %arraydispatch --help"),
        ("--trace x.json", "unrecognized arguments: --trace x.json"),
        ("--backend cupy", "there is no backend named 'cupy'"),
        ("--backend 'torch", "No closing quotation in: --backend 'torch"),
    ],
)
def test_wrong_options_are_one_line_without_a_traceback(
    shell: Any, capsys: pytest.CaptureFixture[str], options: str, says: str
) -> None:
    done = shell.run_cell(f"%arraydispatch {options}")
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("UsageError: ") and err.count("\n") == 1 and says in err
    assert not done.success  # so that "run all" stops here


@pytest.mark.parametrize("magic", ["%arraydispatch", "%%arraydispatch"])
def test_reports_of_cells_name_cells_and_lines(
    shell: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path, break_kernel: Any, magic: str
) -> None:
    name = next(name for name in loader.available() if name != "numpy")
    held = loader.load(name)
    break_kernel(held, np.sqrt, lambda x: x * 1.001)
    code = "\nx = np.ones(3)\ny = np.sqrt(x)\nz = np.cos(y)"

    def run(options: str) -> str:
        line = f"{magic} --backend {name} --min-size 0 {options}"
        if magic == "%%arraydispatch":
            return _shown(shell, capsys, line + code)
        shell.run_cell(line, store_history=True)
        shown = _shown(shell, capsys, code[1:])
        shell.run_cell("%arraydispatch off", store_history=True)
        return shown

    shell.execution_count = 6 if magic == "%arraydispatch" else 7
    line = 3 if magic == "%%arraydispatch" else 2
    said = run("--report --verify")
    assert f"cell 7, line {line + 1} " in said
    assert f"arraydispatch: cell 7, line {line}: np.sqrt differs from NumPy: " in said
    assert f"differs cell 7, line {line}: np.sqrt" in said
    assert "1 difference beyond the tolerance" in said
    path = tmp_path / "report.json"
    run(f"--report {path}")
    data = json.loads(path.read_text())
    assert {row["function"] for row in data["functions"]} == {"np.ones", "np.sqrt", "np.cos"}
    assert "1 difference" in run("--verify")


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("%%time\nx = 1\n{}", "<timed exec>:2"), ("x = 1\n%timeit -n 1 -r 1 {}", "<magic-timeit>:1"),
        ("%%arraydispatch {options}\n\n\n{}", "cell 6, line 4"), ("%time late()", "cell 5, line 1"),
    ],
)  # fmt: skip
def test_code_that_magics_run_is_told_of(
    shell: Any, capsys: pytest.CaptureFixture[str], break_kernel: Any, source: str, place: str
) -> None:
    name = next(name for name in loader.available() if name != "numpy")
    break_kernel(loader.load(name), np.sqrt, lambda x: x * 1.001)
    options = f"--backend {name} --min-size 0 --on-fallback warn --verify"
    shell.run_cell(f"from scipy.special import struve\n%arraydispatch {options}").raise_error()
    shell.execution_count = 5
    call = "struve(1, np.sqrt(np.ones(3)))"
    assert "differs" not in _shown(shell, capsys, f"def late(): return {call}")
    shell.execution_count = 6
    said = _shown(shell, capsys, source.replace("{options}", options).replace("{}", call))
    assert said.count(f"arraydispatch: {place}: np.sqrt differs from NumPy: ") == 1, said
    assert said.count(f"arraydispatch: {place}: scipy.special.struve ran on the host") == 1, said
    shell.run_cell("%arraydispatch off")


def test_a_report_file_is_of_all_cells(shell: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    shell.run_cell(f"%arraydispatch --backend numpy --min-size 0 --report {path} --verify").raise_error()
    for cell in ("a = np.ones(3)", "b = np.sin(a)", "c = np.sin(b)", "%arraydispatch off", "d = np.cos(c)"):
        shell.run_cell(cell).raise_error()
    data = json.loads(path.read_text())
    assert {row["function"]: row["count"] for row in data["functions"]} == {"np.ones": 1, "np.sin": 2}
    assert data["verification"]["checked"] == 3


def test_types_and_isinstance_agree_in_every_cell(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    name = next(name for name in loader.available() if name != "numpy")
    look = (
        "print(*(f'{type(v)} {isinstance(v, np.ndarray)} {isinstance(v, ndarray)}' for v in (before, made)), "
        "isinstance(made, (list, np.generic)), [isinstance(v, np.ndarray) for v in (before, made)])"
    )
    agree = "<class 'numpy.ndarray'> True True <class 'numpy.ndarray'> True True False [True, True]\n"
    shell.run_cell("from numpy import ndarray\nbefore = np.arange(3)").raise_error()
    assert _shown(shell, capsys, f"%%arraydispatch --backend {name}\nmade = np.ones(3)\n{look}") == agree
    assert _shown(shell, capsys, look) == agree
    assert _shown(shell, capsys, f"def f():\n    {look}\nf()") == agree
    shell.run_cell(f"%arraydispatch --backend {name}")
    assert _shown(shell, capsys, look) == agree
    assert _shown(shell, capsys, "f()") == agree
    shell.run_cell("%arraydispatch off")
    assert _shown(shell, capsys, look) == agree
    assert not isinstance(shell.user_ns["made"], np.ndarray)  # to everybody else it is what it is


@pytest.mark.parametrize("magic", ["%arraydispatch", "%%arraydispatch"])
def test_what_other_cells_compute_are_ndarrays_to_them(
    shell: Any, capsys: pytest.CaptureFixture[str], magic: str
) -> None:
    name = next(name for name in loader.available() if name != "numpy")
    first, made = f"{magic} --backend {name} --min-size 0", "made = np.ones(3)"
    for cell in (first, made, "%arraydispatch off") if magic == "%arraydispatch" else (f"{first}\n{made}",):
        shell.run_cell(cell).raise_error()
    shell.run_cell(
        "import functools\n"
        "@functools.singledispatch\ndef kind(x): return 'something'\n"
        "@kind.register(np.ndarray)\ndef _(x): return 'array'\n"
        "def matched(x):\n    match x:\n        case np.ndarray(): return 'array'\n    return 'something'"
    ).raise_error()
    for text in ("made", "made * 2", "made[1:]", "np.sin(made)", "(made + 1).reshape(3, 1).T"):
        look = f"x = {text}\nprint(x.backend, type(x), isinstance(x, np.ndarray), kind(x), matched(x))"
        assert _shown(shell, capsys, look) == f"{name} <class 'numpy.ndarray'> True array array\n"
        assert not isinstance(shell.user_ns["x"], np.ndarray)  # to everybody else it is what it is
    assert _shown(shell, capsys, "print(hasattr(np.ones(3), 'backend'))") == "False\n"


@pytest.mark.parametrize("magic", ["", "%arraydispatch", "%%arraydispatch"])
def test_errors_of_cells_are_shown_without_our_frames(
    shell: Any, capsys: pytest.CaptureFixture[str], magic: str
) -> None:
    name = next(name for name in loader.available() if name != "numpy")
    shell.run_cell(f"%%arraydispatch --backend {name} --min-size 0\nx = np.ones(3)").raise_error()
    shell.run_cell("def f(a):\n    return a @ np.zeros(2)").raise_error()
    options = f" --backend {name} --min-size 0"
    for cell, line, frames in (
        ("f(x)", 1, 2),
        ("1\nx @ np.zeros(2)", 2, 1),
        ("x = = 1", 1, 1),
        ("int(x[0]) / 0", 1, 1),
    ):
        if magic == "%arraydispatch":
            shell.run_cell(magic + options)
        first = magic == "%%arraydispatch"
        said = _shown(shell, capsys, f"{magic}{options}\n{cell}" if first else cell)
        shell.run_cell("%arraydispatch off")
        assert "arraydispatch/" not in said, said
        assert "site-packages" not in said, said
        assert said.count("Traceback") == ("=" not in cell), said
        shown = [text for text in said.splitlines() if text.lstrip().startswith("File ")]
        assert len(shown) == frames, said
        assert shown[0].split(",")[0].endswith(f":{line + first}"), said


@pytest.mark.one_backend
@every_backend
@pytest.mark.slow
def test_a_notebook_uses_the_line_magic(backend: str) -> None:
    shown = _executed(
        "import numpy as np",
        "%load_ext arraydispatch",
        f"%arraydispatch --backend {backend} --report --min-size 0",
        "x = np.linspace(0, 1, 5)\ny = np.exp(x)",
        "import asyncio\nawait asyncio.sleep(0)\nprint(type(y) is np.ndarray, (y + 1).backend.name)",
        "y @ np.zeros(2)",
        "%arraydispatch off",
        "print(isinstance(y, np.ndarray), hasattr(np.ones(1), 'backend'))",
        errors=True,
    )
    assert "cell 4, line 2 " in shown[3]
    assert shown[4].startswith(f"True {backend}\n")
    assert shown[5].count("ValueError: matmul") == 1
    assert shown[6] == "arraydispatch: off\n"
    assert shown[7] == "True False\n"


@pytest.mark.one_backend
@every_backend
@pytest.mark.slow
def test_a_notebook_uses_the_magic(backend: str) -> None:
    shown = _executed(
        "import numpy as np\nfrom numpy import sqrt\ntable = np.arange(6.0)",
        "%load_ext arraydispatch",
        f"%%arraydispatch --backend {backend} --report --min-size 0\n"
        "import numpy.linalg as la\n"
        "y = sqrt(np.ones(4)) * 3\n"
        "print(type(y).__name__, type(y) is np.ndarray, y.backend)\n"
        "np.add(table, 1).backend, la.norm(y)",
        "print(type(np.ones(1)).__name__, hasattr(np.ones(1), 'backend'), la is np.linalg, sqrt is np.sqrt)\n"
        "np.exp(y - 3).backend, float(y.sum())",
        f"%%arraydispatch --backend {backend}\nnp.zeros(2) @ np.zeros(3)",
        "%%arraydispatch --backend nothing\n1",
        f"%%arraydispatch --backend {backend} --min-size 0\n"
        "import asyncio\n"
        "async def later(a):\n"
        "    await asyncio.sleep(0)\n"
        "    return a + np.ones(2)\n"
        "z = await later(np.ones(2))\n"
        "print(type(z) is np.ndarray, z.backend.name, *await asyncio.gather(later(z[:1]), later(z[1:])))",
        "print(await later(z))",
        errors=True,
    )
    assert f"ndarray True {backend}" in shown[2]
    assert f"(<Backend {backend}>, np.float64(6.0))" in shown[2]
    assert "np.sqrt" in shown[2] and "calls on the backend" in shown[2]
    assert shown[3].splitlines() == ["ndarray False True True", f"(<Backend {backend}>, 12.0)"]
    assert shown[4].startswith("ValueError: matmul")
    assert "UsageError: there is no backend named 'nothing'" in shown[5] or "there is no backend" in shown[5]
    assert shown[6] == f"True {backend} [3. 3.] [3. 3.]\n"
    assert shown[7] == "[3. 3.]\n"
