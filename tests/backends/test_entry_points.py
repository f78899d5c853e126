"""Backends of other distributions, found by their entry points: they load, and what is wrong with one is said in one sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULE = """
from arraydispatch.backends.numpy.backend import NumpyBackend

class Mirror(NumpyBackend):
    name, library, install = "mirror", "mirror_arrays", "pip install mirror-arrays"

BACKEND = Mirror()
NO_BACKEND = 3

class Other(Mirror):
    name = "other"

OTHER = Other()
"""
SAY = (
    "import arraydispatch as ad\n"
    "try:\n    print(repr(ad.backend({name!r})), {name!r} in ad.available_backends())\n"
    "except Exception as error:\n    print(type(error).__name__ + ':', error)\n"
)


def _said(folder: Path, entry: str, module: str = MODULE, name: str = "mirror") -> str:
    """What a process says of a backend whose distribution has this line in its entry points."""
    info = folder / "mirror_arrays-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mirror-arrays\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[arraydispatch.backends]\n{entry}\n")
    (folder / "mirror_arrays.py").write_text(module)
    code = f"import sys; sys.path[:0] = [{str(ROOT)!r}, {str(folder)!r}]\n" + SAY.format(name=name)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_backend_of_another_distribution_loads(tmp_path: Path) -> None:
    assert _said(tmp_path, "mirror = mirror_arrays:BACKEND") == "<Backend mirror> True"


@pytest.mark.parametrize(
    ("entry", "module", "says"),
    [
        ("mirror = mirror_arrays:NOTHING", MODULE, "NoBackendFoundError: backend 'mirror', which the entry point 'mirror_arrays:NOTHING'"),
        ("mirror = mirror_arrays:NO_BACKEND", MODULE, "is not an instance of arraydispatch.Backend, but int."),
        ("mirror = mirror_arrays:OTHER", MODULE, "names itself 'other'."),
        ("mirror = mirror_arrays:BACKEND", "import no_such_library", "cannot be imported: No module named 'no_such_library'; install"),
        ("mirror = mirror_arrays:BACKEND", "1 / 0", "raised ZeroDivisionError while it was imported: division by zero"),
        ("mirror = not_there:BACKEND", MODULE, "needs the library 'not_there', which is not installed; run: pip install mirror-arrays"),
        ("mirror = not_there.inside:BACKEND", MODULE, "needs the library 'not_there.inside'"),
        ("other = mirror_arrays:OTHER", MODULE, "there is no backend named 'mirror'; choose one of: numpy, jax, torch, tensorflow, other."),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_entry_point_is_said(tmp_path: Path, entry: str, module: str, says: str) -> None:
    assert says in _said(tmp_path, entry, module)


def test_a_name_that_is_known_stays_what_it_is(tmp_path: Path) -> None:
    assert _said(tmp_path, "numpy = mirror_arrays:BACKEND", "1 / 0", name="numpy") == "<Backend numpy> True"
