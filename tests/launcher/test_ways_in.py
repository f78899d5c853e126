"""The other ways in: a test suite under pytest, a notebook, ``python -m arraydispatch``."""

from __future__ import annotations

import copy
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import nbclient
import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import arraydispatch as ad
from arraydispatch import magics, settings
from arraydispatch.backends import loader
from arraydispatch.backends.base import Backend
from arraydispatch.launcher import rng

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


@every_backend
def test_a_suite_runs_on_the_backend(suite: Path, backend: str) -> None:
    (suite / "test_it.py").write_text(SUITE.format(backend=backend))
    done = _python(
        "-m", "pytest", "-q", "-p", "arraydispatch.pytest_plugin", "-p", "no:cacheprovider", f"--arraydispatch={backend}",
        cwd=suite,
    )  # fmt: skip
    assert "1 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "calls on the backend" in done.stdout
    assert done.returncode == pytest.ExitCode.TESTS_FAILED


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
    made.register_magics(magics._ArrayDispatch)
    with settings.kept():
        made.run_cell("import numpy as np, arraydispatch as ad").raise_error()
        yield made


def _settings() -> tuple[Any, ...]:
    kept = {name: copy.copy(getattr(settings.default, name)) for name in settings.default.__slots__}
    return kept, Backend.host_kernels, rng._on_device


@pytest.mark.parametrize("end", ["", "\n1 / 0", "\nad.use('numpy', precision=16)", "\nx = = 1"])
def test_a_cell_leaves_the_settings_as_they_were(shell: Any, end: str) -> None:
    name = loader.available()[-1]
    ad.use(name, precision=32, execution="eager")
    ad.fallback("error")
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
        ("--precision 8", "'none'"),
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
