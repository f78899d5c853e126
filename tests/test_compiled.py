"""What JAX compiled is kept where no half of it is ever read: see interop/scipy_compiled.py."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import compiled

pytest.importorskip("fcntl")
ROOT = Path(__file__).parents[1]
CODE = """
import os, sys
from pathlib import Path
from tests import compiled
compiled.begin(Path(sys.argv[1]))
entries = Path(os.environ["JAX_COMPILATION_CACHE_DIR"])
entries.mkdir(exist_ok=True)
print(entries, *entries.iterdir(), flush=True)
(entries / "half").touch()
"""


def _run(folder: Path, end: str = "compiled.end()", worker: str = "gw0") -> list[str]:
    env = {name: value for name, value in os.environ.items() if name != "JAX_COMPILATION_CACHE_DIR"}
    env |= {"PYTHONPATH": str(ROOT), "PYTEST_XDIST_WORKER": worker}
    command = [sys.executable, "-c", CODE + end, str(folder)]
    return subprocess.run(command, env=env, capture_output=True, text=True).stdout.split()


def test_what_a_run_that_was_killed_left_is_gone(tmp_path: Path) -> None:
    entries = str(tmp_path / "gw0" / "entries")
    assert _run(tmp_path) == [entries]
    assert _run(tmp_path, "os.kill(os.getpid(), 9)") == [entries, f"{entries}/half"]
    assert _run(tmp_path) == [entries]
    assert _run(tmp_path) == [entries, f"{entries}/half"]


def test_two_at_one_time_have_a_folder_each(tmp_path: Path) -> None:
    assert _run(tmp_path, worker="gw1") == [str(tmp_path / "gw1" / "entries")]
    again = f"import subprocess; os.environ.pop('JAX_COMPILATION_CACHE_DIR'); subprocess.run([sys.executable, '-c', {CODE!r}, sys.argv[1]])"
    first, second = _run(tmp_path, again)
    assert first == str(tmp_path / "gw0" / "entries")
    assert not second.startswith(str(tmp_path))


def test_what_looks_at_last_bits_is_compiled_as_for_users(monkeypatch: pytest.MonkeyPatch) -> None:
    jax = pytest.importorskip("jax")
    compiler = pytest.importorskip("jax._src.compiler")
    monkeypatch.setattr(compiled, "_quick", compiled._quick)
    assert all((ROOT / "tests" / place).exists() for place in compiled.LAST_BITS)
    assert compiled.looks_at_last_bits("tests/scipy_support/special/test_special.py::test_values[jax]")
    assert not compiled.looks_at_last_bits("tests/profiling/test_verification.py::test_special[jax]")
    told = {}
    for on in (True, False):
        compiled.quickly(on)
        told[on] = compiler.get_compile_options(1, 1).env_option_overrides
        assert jax.jit(lambda x: x * 2 + 1)(3) == 7  # XLA refuses a name that it does not know
    known = [
        option for option in compiled._QUICK.items() if option[0] != compiled._OLD or jax.__version_info__ < (0, 11)
    ]
    assert told == {True: known, False: []}
