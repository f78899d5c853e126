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


def test_autograd_among_the_users_files(backend: str, tmp_path: Path, zygotes: Zygotes) -> None:
    """It registers the launcher's ndarray itself, and its modules take over all of NumPy's names, ``__getattr__`` too."""
    pytest.importorskip("autograd")
    (tmp_path / "slopes.py").write_text(
        "import numpy as np\nimport autograd.numpy as anp\nfrom autograd import grad\n"
        "print(grad(lambda x: anp.sum(anp.sin(x) ** 2))(np.arange(3.0)).round(6))\n"
        "print(grad(lambda x: anp.sum(anp.abs(anp.fft.fft(x))))(np.arange(4.0)).round(6))\n"
    )
    expected = zygotes.plain.run("slopes.py", cwd=tmp_path)
    got = zygotes.of(backend).run("slopes.py", cwd=tmp_path, options=("--include", "autograd", "--min-size", "0"))
    assert expected.code == 0
    assert got.stdout == expected.stdout, got.stderr


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a script and an extension module that its user has compiled."""
    pytest.importorskip("Cython")
    compiler = shutil.which("cc") or pytest.skip("there is no C compiler")
    folder = tmp_path_factory.mktemp("compiled")
    for file in (CORPUS / "compiled").iterdir():
        shutil.copy(file, folder)
    headers = [f"-I{sysconfig.get_paths()['include']}", f"-I{np.get_include()}"]
    for source in folder.glob("*.pyx"):
        command = [sys.executable, "-m", "cython", "-3", source.name]
        subprocess.run(command, cwd=folder, check=True, env={**os.environ, "PYTHONPATH": ""})
        library = f"{source.stem}{sysconfig.get_config_var('EXT_SUFFIX')}"
        command = [compiler, "-shared", "-fPIC", "-O0", *headers, f"{source.stem}.c", "-o", library]
        subprocess.run(command, cwd=folder, check=True)
    return folder


@pytest.mark.parametrize("backend", [name for name in ("jax", "torch") if name in loader.available()])
@pytest.mark.parametrize("script", ["main.py", "cimports.py"])
def test_extension_modules_of_the_user(backend: str, script: str, compiled: Path, zygotes: Zygotes) -> None:
    """Those that take C code from each other (``cimport``) find the classes themselves, also where one imports the other."""
    expected = zygotes.plain.run(script, cwd=compiled)
    got = zygotes.of(backend).run(script, cwd=compiled, options=("--min-size", "0"))
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
