"""Ways in for code that runs already: ``arraydispatch.numpy``, ``ad.install``, ``ad.accelerated``, ``@ad.accelerate``."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from arraydispatch.backends import loader
from tests.launched import Done, Zygotes

from .test_corpus import CORPUS

SCRIPTS = sorted(
    path.stem for path in CORPUS.glob("*.py") if not path.stem.startswith(("compiled", "visits", "syntax", "stdin"))
)
"""The corpus but for what Python does not run as a script by itself, and for what other tests run with compilers and libraries."""


# -- the same bytes ------------------------------------------------------------------------------------------------------


def _renamed(source: str) -> str:
    """A script whose imports of NumPy are of ``arraydispatch.numpy``."""
    source = re.sub(r"(?m)^(\s*)from numpy\b", r"\1from arraydispatch.numpy", source)
    source = re.sub(r"(?m)^(\s*)import numpy((?:\.\w+)*) as", r"\1import arraydispatch.numpy\2 as", source)
    return re.sub(r"(?m)^(\s*)import numpy$", r"\1import arraydispatch.numpy as numpy", source)


@pytest.fixture(scope="session")
def renamed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The corpus with its imports changed."""
    folder = tmp_path_factory.mktemp("renamed") / "corpus"
    shutil.copytree(CORPUS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    for path in folder.rglob("*.py"):
        path.write_text(_renamed(path.read_text()))
    return folder


def _same(done: Done, plain: Done) -> None:
    assert done.stdout == plain.stdout, done.stderr
    assert done.code == plain.code, done.stderr


@pytest.mark.parametrize("backend", loader.available())
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.one_backend(name)) for name in (*SCRIPTS, "project/main")]
)
def test_install_gives_the_same_bytes(name: str, backend: str, zygotes: Zygotes) -> None:
    plain = zygotes.plain.run(f"{name}.py", cwd=CORPUS)
    _same(zygotes.of(backend).run(f"{name}.py", cwd=CORPUS, way="install"), plain)


@pytest.mark.parametrize("backend", loader.available())
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.one_backend(name)) for name in (*SCRIPTS, "project/main")]
)
def test_the_changed_import_gives_the_same_bytes(name: str, backend: str, renamed: Path, zygotes: Zygotes) -> None:
    plain = zygotes.plain.run(f"{name}.py", cwd=CORPUS)
    _same(zygotes.of(backend).run(f"{name}.py", cwd=renamed, way="import"), plain)
