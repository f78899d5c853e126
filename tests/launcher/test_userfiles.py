"""Whose code a file is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy
import pytest

import arraydispatch
from arraydispatch.launcher import package_patches, runner, user_files
from arraydispatch.launcher.user_files import UserFiles


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
    assert libraries - user_files.TAKE_ARRAYS - others == {"skimage"}  # a few functions of which have a door
