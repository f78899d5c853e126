"""Scripts whose functions a compiler reads: it sees NumPy's own module there, and is handed NumPy's own arrays."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import numpy as np
import pytest

from arraydispatch.backends import loader
from tests.launched import Zygotes
from tests.launcher.test_corpus import CORPUS


@pytest.mark.one_backend
@pytest.mark.parametrize("backend", [name for name in ("jax", "torch") if name in loader.available()])
@pytest.mark.parametrize("name", ["numba", "numexpr"])
def test_same_as_plain(name: str, backend: str, zygotes: Zygotes) -> None:
    """Memory that the host cannot write, and memory that it can."""
    pytest.importorskip(name)
    script = f"compiled_{name}.py"
    expected = zygotes.plain.run(script, cwd=CORPUS)
    got = zygotes.of(backend).run(script, cwd=CORPUS, options=("--min-size", "0"))
    assert expected.code == 0
    assert got.stdout == expected.stdout, got.stderr
    assert got.code == 0


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a script and an extension module that its user has compiled."""
    pytest.importorskip("Cython")
    compiler = shutil.which("cc") or pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("compiled")
    for file in (CORPUS / "compiled").iterdir():
        shutil.copy(file, folder)
    command = [sys.executable, "-m", "cython", "-3", "kernels.pyx", "derived.pyx", "later.pyx"]
    subprocess.run(command, cwd=folder, check=True, env={**os.environ, "PYTHONPATH": ""})
    headers = [f"-I{sysconfig.get_paths()['include']}", f"-I{np.get_include()}"]
    for name in ("kernels", "derived", "later"):  # two have a class that inherits from one of the first
        library = f"{name}{sysconfig.get_config_var('EXT_SUFFIX')}"
        subprocess.run(
            [compiler, "-shared", "-fPIC", "-O0", *headers, f"{name}.c", "-o", library], cwd=folder, check=True
        )
    return folder


@pytest.mark.parametrize("backend", [name for name in ("jax", "torch") if name in loader.available()])
def test_extension_modules_of_the_user(backend: str, compiled: Path, zygotes: Zygotes) -> None:
    expected = zygotes.plain.run("main.py", cwd=compiled)
    got = zygotes.of(backend).run("main.py", cwd=compiled, options=("--min-size", "0"))
    assert expected.code == 0
    assert got.stdout == expected.stdout, got.stderr
    assert got.code == 0


VISITS = [
    ("jax", "jax"),
    ("jax", "torch"),
    ("torch", "jax"),
    ("torch", "torch"),
    ("tensorflow", "torch"),
    ("tensorflow", "tensorflow"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("library", "backend"),
    [pytest.param(*visit, marks=pytest.mark.one_backend(f"visits of {visit[0]}")) for visit in VISITS],
    ids=["-on-".join(visit) for visit in VISITS],
)
def test_programs_that_use_a_library_by_themselves(library: str, backend: str, zygotes: Zygotes) -> None:
    """What they compile, trace and mix with arrays is what plain NumPy gives them, whichever library holds the arrays."""
    if not {library, backend} <= set(loader.available()):
        pytest.skip(f"{library} or {backend} is not installed")
    script = f"visits_{library}.py"
    expected = zygotes.with_library(library).run(script, cwd=CORPUS)
    got = zygotes.of(backend).run(script, cwd=CORPUS, options=("--min-size", "0"))
    assert expected.code == 0
    assert got.stdout == expected.stdout, got.stderr
    assert got.code == 0
