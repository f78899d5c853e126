"""NumPy's warnings under the launcher: shown, recorded and raised as plain Python does, at the same file and line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from arraydispatch.backends import loader
from tests.launched import Done, Zygotes

every_backend = pytest.mark.parametrize("backend", loader.available())
WORK = """\
import sys
import warnings

import numpy as np


def work():
    x = np.arange(3.0)
    x / 0
    1 / x
    np.log(x)
    for _ in range(3):
        x % 0
    x[:0].mean()
    x[:0].mean()
    x[:1].std(ddof=1)
    x.astype(complex).astype(float)
    x[:] = np.ones(3, complex)
    (x * np.inf).astype(int)
    np.float64(1) / x[0]
    x[0] / 0
    x /= 0
    np.add.reduce(np.array([np.inf, -np.inf]))
    np.mean(x[:0])


def by_name(caught):
    for w in caught:
        print(w.category.__name__, w.message, w.filename.rpartition("/")[2], w.lineno)


def raised(work):
    try:
        work()
    except Exception as error:
        print(type(error).__name__, error)


"""
USES = {
    "shown": "for _ in range(2):\n    work()\n",
    "always": "warnings.simplefilter('always')\nwork()\n",
    "recorded": "with warnings.catch_warnings(record=True) as caught:\n    warnings.simplefilter('always')\n    work()\nby_name(caught)\n",
    "recorded_by_default": "with warnings.catch_warnings(record=True) as caught:\n    work()\n    work()\nby_name(caught)\n",
    "once": "warnings.simplefilter('once')\nwork()\nwork()\n",
    "module": "warnings.simplefilter('module')\nwork()\nwork()\n",
    "ignored": "warnings.simplefilter('ignore')\nwork()\n",
    "ignored_here": "warnings.filterwarnings('ignore', module='__main__')\nwork()\n",
    "own_way": "warnings.showwarning = lambda m, c, f, line, *rest: print(m, f.rpartition('/')[2], line)\nwork()\n",
    "error": "warnings.simplefilter('error')\nx = np.zeros(3)\n"
    "for f in (lambda: x / 0, lambda: np.log(x), lambda: x[:0].mean(), lambda: x.astype(complex).astype(float)):\n    raised(f)\n",
    "error_here": "warnings.filterwarnings('error', module='__main__')\nx = np.zeros(3)\n"
    "for f in (lambda: x / 0, lambda: np.log(x), lambda: x[:0].mean(), lambda: x.astype(complex).astype(float)):\n    raised(f)\n",
}


AS_EVER = ("--on-fallback", "warn")
"""The default, said, so that a fork does not take the library's modules apart at its end."""


def _said(done: Done) -> tuple[int, str, list[str]]:
    return done.code, done.stdout, [line for line in done.stderr.splitlines() if "Warning: " in line]


@pytest.fixture(scope="module", params=USES)
def program(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, zygotes: Zygotes
) -> tuple[Path, Any]:
    """A folder with a program, and what plain Python says of it."""
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "main.py").write_text(WORK + USES[request.param])
    plain = _said(zygotes.plain.run("main.py", cwd=folder))
    assert plain[0] == 0
    assert (plain[1] + "".join(plain[2]) == "") is (request.param == "ignored")
    return folder, plain


@every_backend
def test_warnings_are_plain_pythons(backend: str, program: tuple[Path, Any], zygotes: Zygotes) -> None:
    folder, plain = program
    assert _said(zygotes.of(backend).run("main.py", cwd=folder, options=AS_EVER)) == plain


@every_backend
@pytest.mark.parametrize("options", [("--verify",), ("--precision", "16", "--verify")])
def test_a_line_warns_once_beside_numpy_too(
    backend: str, options: tuple[str, ...], tmp_path: Path, zygotes: Zygotes
) -> None:
    (tmp_path / "main.py").write_text(
        "import numpy as np\nx = np.zeros(3000)\nfor _ in range(3):\n    1 / x\n    x[:5] / 0\n"
    )
    plain = _said(zygotes.plain.run("main.py", cwd=tmp_path))
    assert len(plain[2]) == 2
    assert _said(zygotes.of(backend).run("main.py", cwd=tmp_path, options=options)) == plain


@every_backend
@pytest.mark.parametrize("options", [(), ("--execution", "eager", "--min-size", "0")], ids=" ".join)
def test_where_without_out_warns_unless_none_was_said(
    backend: str, options: tuple[str, ...], tmp_path: Path, zygotes: Zygotes
) -> None:
    (tmp_path / "main.py").write_text(
        "import warnings\n"
        "import numpy as np\n"
        "warnings.simplefilter('always')\n"
        "for n in (3, 300000):\n"
        "    a = np.arange(float(n))\n"
        "    np.add(a, 1, where=a > 1)\n"
        "    np.add(a, 1, None, where=a > 1)\n"
        "    np.add([1, 2], 1, where=[True, False])\n"
        "    np.divmod(a, 2, where=a > 1)\n"
        "    np.add(a, 1, where=True)\n"
        "    np.add(a, 1, where=a > 1, out=None)\n"
        "    np.divmod(a, 2, out=(None, None), where=a > 1)\n"
        "    np.add(a, 1, a, where=a > 1)\n"
        "    print(np.add(a, 1, out=a, where=a > 1)[:4])\n"
        "    np.add.reduce(a, where=a > 1)\n"
    )
    plain = _said(zygotes.plain.run("main.py", cwd=tmp_path))
    assert len(plain[2]) == 8
    assert _said(zygotes.of(backend).run("main.py", cwd=tmp_path, options=(*AS_EVER, *options))) == plain


@every_backend
@pytest.mark.parametrize("options", [(), ("--execution", "eager", "--min-size", "0")], ids=" ".join)
@pytest.mark.parametrize(
    "use", ["", "warnings.simplefilter('error', DeprecationWarning)\n", "warnings.resetwarnings()\n"]
)
def test_deprecations_are_shown_for_the_lines_of_main_alone(
    use: str, backend: str, options: tuple[str, ...], tmp_path: Path, zygotes: Zygotes
) -> None:
    lines = (
        "x = np.arange(4.0)\n"
        "def t(f):\n"
        "    try:\n"
        "        f()\n"
        "    except DeprecationWarning as error:\n"
        "        print(error)\n"
        "for _ in range(2):\n"
        "    t(lambda: np.row_stack([x, x]))\n"
        "    t(lambda: np.cross(x[:2], x[2:]))\n"
        "    t(lambda: np.maximum(x, x, np.empty(4)))\n"
        "    t(lambda: np.random.random_integers(3, size=2))\n"
        "    t(lambda: np.finfo(None))\n"
    )
    (tmp_path / "other.py").write_text("import numpy as np\n" + lines)
    (tmp_path / "main.py").write_text("import warnings\nimport numpy as np\n" + use + "import other\n" + lines)
    plain = _said(zygotes.plain.run("main.py", cwd=tmp_path))
    assert len(plain[2]) == {"": 5, "warnings.resetwarnings()\n": 10}.get(use, 0)
    assert _said(zygotes.of(backend).run("main.py", cwd=tmp_path, options=(*AS_EVER, *options))) == plain


@every_backend
def test_what_a_program_keeps_to_the_end_does_not_speak(backend: str, tmp_path: Path, zygotes: Zygotes) -> None:
    (tmp_path / "main.py").write_text(
        "import atexit\n"
        "import numpy as np\n"
        "try:\n"
        "    1 / 0\n"
        "except ZeroDivisionError as error:\n"
        "    tb = error.__traceback__\n"
        "np.seterrcall(lambda *a: print(a))\n"
        "atexit.register(lambda: print(type(np.zeros(3)) is np.ndarray))\n"
    )
    done = zygotes.of(backend).run("main.py", cwd=tmp_path)
    assert (done.code, done.stdout) == (0, "True\n")
    assert "Exception ignored" not in done.stderr
    assert "Traceback" not in done.stderr
    assert "\narraydispatch: " in f"\n{done.stderr}"


@every_backend
@pytest.mark.parametrize("options", [AS_EVER, ("--min-size", "1"), ("--execution", "compiled")], ids=" ".join)
def test_a_call_without_arrays_is_made_once(
    backend: str, options: tuple[str, ...], tmp_path: Path, zygotes: Zygotes
) -> None:
    (tmp_path / "main.py").write_text(
        "import warnings\n"
        "import numpy as np\n"
        "warnings.simplefilter('always')\n"
        "said = []\n"
        "many = [1e200] * 300000\n"
        "with np.errstate(all='call', call=lambda kind, flag: said.append(kind)):\n"
        "    for x in [0.0], [0.0] * 300000:\n"
        "        print(np.log(x).size, np.divmod(x, [0.0])[1].size, np.square(many).size)\n"
        "    print(np.kron(many[:600], many[:600]).shape, np.cumsum(many, out=None)[:2])\n"
        "    print(np.linalg.slogdet([[1e200, 0.0], [0.0, 1e200]]), np.cross([[1e200, 1, 1]], [[1, 1e200, 3]])[:, :2])\n"
        "print(said)\n"
        "print(np.polyfit([1.0, 1], [1.0, 1], 2).flags.writeable)\n"
        "print(np.full((2, 3), 1e300).astype('f4').T, np.tensordot([1e200] * 600, [1e200] * 600, 0).shape)\n"
    )
    plain = _said(zygotes.plain.run("main.py", cwd=tmp_path))
    assert len(plain[2]) == 3
    assert _said(zygotes.of(backend).run("main.py", cwd=tmp_path, options=options)) == plain


@every_backend
def test_a_number_beyond_the_dtype_is_reported_once_in_compiled_execution(
    backend: str, tmp_path: Path, zygotes: Zygotes
) -> None:
    (tmp_path / "main.py").write_text(
        "import numpy as np\n"
        "x, said = np.ones(300, 'f4'), []\n"
        "with np.errstate(all='call', call=lambda kind, flag: said.append(kind)):\n"
        "    for f in lambda: np.where(x > 1, x, 1e300), lambda: np.clip(x, 1e300, None), lambda: np.full_like(x, 1e300):\n"
        "        print(f()[0], said)\n"
        "        said.clear()\n"
    )
    plain = _said(zygotes.plain.run("main.py", cwd=tmp_path))
    options = ("--execution", "compiled", "--min-size", "0")
    assert _said(zygotes.of(backend).run("main.py", cwd=tmp_path, options=options)) == plain
