"""Whose code a file is."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

import arraydispatch
from arraydispatch.launcher import package_patches, runner, user_files
from arraydispatch.launcher.user_files import UserFiles

ROOT = Path(__file__).parents[2]


def _write(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    return str(path)


def test_folder_and_below(tmp_path: Path) -> None:
    users = UserFiles([str(tmp_path / "project")])
    assert users.has_file(_write(tmp_path / "project" / "main.py"))
    assert users.has_file(_write(tmp_path / "project" / "deep" / "er" / "module.py"))
    assert not users.has_file(_write(tmp_path / "projects" / "main.py"))
    assert not users.has_file(_write(tmp_path / "other.py"))


def test_installed_code_is_not_the_users(tmp_path: Path) -> None:
    users = UserFiles([str(tmp_path), "/"])
    assert not users.has_file(_write(tmp_path / ".venv" / "lib" / "site-packages" / "thing" / "a.py"))
    _write(tmp_path / "env" / "pyvenv.cfg")
    assert not users.has_file(_write(tmp_path / "env" / "a.py"))
    assert not users.has_file(str(Path(sys.prefix) / "anything.py"))
    assert not users.has_file(numpy.__file__)
    assert not users.has_file(arraydispatch.__file__)
    assert not users.has_file(_write(tmp_path / "fast.cpython-311-x86_64-linux-gnu.so"))
    assert not users.has_file("<string>")


def _installed(folder: Path, distribution: str, *files: str) -> Path:
    """Have a folder hold what an installer says it has put there."""
    lists = folder / f"{distribution}-1.0.dist-info"
    lists.mkdir(parents=True)
    (lists / "RECORD").write_text("".join(f"{file},sha256=x,0\n" for file in files))
    return lists


def test_packages_beside_the_program_are_not_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``pip install --target`` puts them into any folder, as for a function in a cloud, with lists of what it has put there."""
    (tmp_path / "a-1.0.dist-info").mkdir()  # without a list, as a Debian package
    (_installed(tmp_path, "b") / "RECORD").write_bytes(b"caf\xe9/x.py,,\n")
    _installed(tmp_path, "thing", "thing/__init__.py", "single.py", "../../bin/thing")
    own = _installed(tmp_path, "own", "own/__init__.py")
    (own / "direct_url.json").write_text("{}")  # installed from a folder
    monkeypatch.syspath_prepend(tmp_path)
    users = UserFiles([str(tmp_path)])
    assert users.has_file(_write(tmp_path / "main.py"))
    assert users.has_file(_write(tmp_path / "own" / "thing" / "a.py"))
    for file in (tmp_path / "thing" / "deep" / "a.py", tmp_path / "single.py"):
        assert not users.has_file(_write(file))
        assert users.is_installed(str(file))
        assert UserFiles([str(tmp_path), str(file)]).has_file(str(file))  # the script that is run
    assert not users.is_installed(str(tmp_path / "main.py"))
    assert UserFiles([str(tmp_path / "thing")]).has_file(str(tmp_path / "thing" / "deep" / "a.py"))


def test_only_folders_of_imports_hold_packages(tmp_path: Path) -> None:
    """A package in the folder above may bring a folder `tests` along, which is none of the program's."""
    _installed(tmp_path, "thing", "thing/__init__.py", "tests/test_thing.py")
    users = UserFiles([str(tmp_path / "tests")])
    assert not users.is_installed(_write(tmp_path / "tests" / "fast.so"))
    assert users.has_file(_write(tmp_path / "tests" / "main.py"))


_ELSEWHERE = """
import numpy as np
import scipy.linalg, scipy.signal, scipy.sparse.linalg
print("site-packages" in scipy.__file__)
rng = np.random.default_rng(1)
print(type(rng.random(3)).__name__, scipy.linalg.inv(np.eye(2) * 2).tolist(), scipy.signal.fftconvolve(np.ones(2), np.ones(2)).tolist())
print(scipy.sparse.linalg.spsolve(scipy.sparse.eye(2, format="csc"), np.ones(2)).tolist())
"""


@pytest.mark.slow
@pytest.mark.one_backend
@pytest.mark.parametrize("beside", [False, True])
def test_numpy_and_scipy_in_a_folder_of_any_name(backend: str, beside: bool, tmp_path: Path) -> None:
    """They were taken for the program's: classes of NumPy's own extension modules were exchanged, and an import waited for itself."""
    scipy = pytest.importorskip("scipy")
    folder = tmp_path if beside else tmp_path / "libraries"
    for module in (numpy, scipy):
        package = Path(module.__file__).parent
        for place in (package, package.with_name(f"{package.name}.libs")):
            if place.exists():
                shutil.copytree(
                    place,
                    folder / place.name,
                    copy_function=_linked,
                    ignore=shutil.ignore_patterns("tests", "__pycache__"),
                )
    script = tmp_path / "script" / "main.py" if not beside else tmp_path / "main.py"
    script.parent.mkdir(exist_ok=True)
    script.write_text(_ELSEWHERE)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)]), "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-m", "arraydispatch", "run", "--backend", backend, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=env, cwd=tmp_path)
    assert (done.returncode, done.stdout.splitlines()) == (
        0, ["False", "ndarray [[0.5, 0.0], [0.0, 0.5]] [1.0, 2.0, 1.0]", "[1.0, 1.0]"]
    ), done.stdout + done.stderr  # fmt: skip
    assert "not under the script's folder" not in done.stderr


def _linked(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def test_include_beats_installed(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "thing"
    users = UserFiles([str(package)])
    assert users.has_file(_write(package / "a.py"))
    assert not users.has_file(_write(tmp_path / "site-packages" / "other" / "a.py"))
    assert Path(runner.include_root("numpy")) == Path(numpy.__file__).parent
    assert runner.include_root("numpy.linalg").endswith("linalg")
    with pytest.raises(runner.NotFound, match="neither a path nor"):
        runner.include_root("no_such_package_here")


def test_symbolic_link(tmp_path: Path) -> None:
    _write(tmp_path / "real" / "main.py")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert UserFiles([str(tmp_path / "link")]).has_file(str(tmp_path / "real" / "main.py"))


def test_code_without_a_file_belongs_to_whoever_runs_it() -> None:
    users = UserFiles([str(Path(__file__).parent)])
    space: dict[str, Any] = {"users": users, "sys": sys}
    exec("answer = users.owns_frame(sys._getframe())", space)
    assert space["answer"]
    space["__file__"] = numpy.__file__
    exec("answer = users.owns_frame(sys._getframe())", space)
    assert not space["answer"]
    assert users.owns_globals({}, sys._getframe())


def test_libraries_with_a_door_see_an_array_as_what_it_is() -> None:
    others = {"multiprocessing", "shelve"}  # which nobody takes for a library
    libraries = {name for name in package_patches.LIBRARIES if name.partition(".")[0] != "numpy"}
    # A few functions of skimage have a door, and autograd asks whether an array is an ndarray.
    assert libraries - user_files.TAKE_ARRAYS - others == {"autograd", "skimage"}
