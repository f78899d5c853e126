"""What the launcher writes to standard error is of use to whoever reads it, and of nothing else."""

from __future__ import annotations

import gc
import itertools
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import arraydispatch as ad
from arraydispatch._core import handles
from arraydispatch.backends import loader
from arraydispatch.profiling.recorder import Profile
from tests.launched import Zygotes

ROOT = Path(__file__).parents[2]


NUL = ["x = 1\0\n"] if sys.version_info >= (3, 11, 4) else []
"""Which Python before that runs up to it."""


@pytest.mark.parametrize("named", [False, True], ids=["script", "module"])
@pytest.mark.parametrize("source", ["x = (1\n", "import numpy as np\nprint(1\n", *NUL])
def test_a_program_that_does_not_compile_has_no_report(
    tmp_path: Path, zygotes: Zygotes, source: str, named: bool
) -> None:
    (tmp_path / "broken.py").write_text(source)
    argv = ("-m", "broken") if named else ("broken.py",)
    plain = zygotes.plain.run(*argv, cwd=tmp_path)
    done = zygotes.of("numpy").run(*argv, cwd=tmp_path)
    assert (done.code, done.stdout, done.report) == (1, "", None)
    assert "arraydispatch" not in done.stderr
    assert done.stderr.splitlines()[-1].partition(":")[0] == plain.stderr.splitlines()[-1].partition(":")[0]


def test_a_module_of_a_program_that_does_not_compile_brings_the_report(tmp_path: Path, zygotes: Zygotes) -> None:
    (tmp_path / "part.py").write_text("x = (1\n")
    (tmp_path / "main.py").write_text("import numpy as np\nnp.ones(3)\nimport part\n")
    done = zygotes.of("numpy").run("main.py", cwd=tmp_path)
    assert done.code == 1
    assert "\narraydispatch: NumPy computed" in done.stderr


# On processors with AVX-512 it says that oneDNN is on, whatever it is told, and before that where it says so.
_ALWAYS = re.compile("WARNING: All log messages before absl::InitializeLog|.* oneDNN custom operations are on")


def _told(stderr: str) -> list[str]:
    """What a program, or a library, has written to standard error."""
    lines = [line for line in stderr.splitlines() if not line.startswith(("arraydispatch", "  "))]
    return [line for line in lines if not _ALWAYS.match(line)]


def test_a_library_that_the_program_imports_first_is_as_quiet(tmp_path: Path) -> None:
    if not loader.installed("tensorflow"):
        pytest.skip("needs TensorFlow")
    script = tmp_path / "main.py"
    script.write_text("import tensorflow\n")
    env = {key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"} | {"PYTHONPATH": str(ROOT)}

    command = [sys.executable, "-m", "arraydispatch", "run", "--backend", "tensorflow", str(script)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=True)
    assert _told(done.stderr) == []


def test_of_a_library_that_is_loaded_meanwhile_only_the_program_is_heard(tmp_path: Path) -> None:
    if not loader.installed("tensorflow"):
        pytest.skip("needs TensorFlow")
    script = tmp_path / "main.py"
    script.write_text(
        "import os, sys, threading\nimport numpy as np\n"
        "def watch():\n    while 'tensorflow' not in sys.modules:\n        pass\n    os.write(2, b'meanwhile\\n')\n"
        "thread = threading.Thread(target=watch)\nthread.start()\n"
        "print('before', file=sys.stderr)\nx = np.ones(3) + 1\nthread.join()\nprint('after', file=sys.stderr)\n"
    )
    env = {key: value for key, value in os.environ.items() if key != "TF_CPP_MIN_LOG_LEVEL"} | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "arraydispatch", "run", "--backend", "tensorflow", "--min-size", "0", str(script)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=True)
    assert _told(done.stderr) == ["before", "meanwhile", "after"]


@pytest.mark.parametrize("library", ["jax", "tensorflow", "torch"])
def test_filters_of_a_library_that_is_loaded_meanwhile_come_after_the_programs(tmp_path: Path, library: str) -> None:
    if not loader.installed(library):
        pytest.skip(f"needs {library}")
    script = tmp_path / "main.py"
    script.write_text(
        "import sys, warnings\nimport numpy as np\n"
        "with warnings.catch_warnings(record=True) as told:\n"
        "    warnings.simplefilter('always')\n    first = warnings.filters[0]\n    x = np.ones(3) + 1\n"
        f"    assert {library!r} in sys.modules and warnings.filters[0] is first\n    np.matrix([1.0])\n"
        "print(*(w.category.__name__ for w in told))\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "arraydispatch", "run", "--backend", library, "--min-size", "0", str(script)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "PendingDeprecationWarning\n", done.stderr


def test_a_report_is_made_while_other_threads_count() -> None:
    """Looking for garbage, which a new tuple may begin, runs code; so a thread of the program's may count on meanwhile."""
    profile, rows = Profile(), itertools.count()
    asked, answered = threading.Semaphore(0), threading.Semaphore(0)

    def count_when_asked() -> None:
        for _ in range(5000):  # more than the tuples that Python keeps for the next to make
            profile.call(f"function {next(rows)}", "numpy", "native", "", 0.0)
        answered.release()
        while asked.acquire():
            profile.call(f"function {next(rows)}", "numpy", "native", "", 0.0)
            answered.release()

    def let_it_count(phase: str, _info: object) -> None:
        if phase == "start" and threading.current_thread() is threading.main_thread():
            asked.release()
            answered.acquire()

    threading.Thread(target=count_when_asked, daemon=True).start()
    answered.acquire()
    threshold = gc.get_threshold()  # the suite's own is higher than what is made here
    gc.callbacks.append(let_it_count)
    gc.set_threshold(100)
    try:
        counted = profile.tally().calls(), profile.totals()
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(let_it_count)
    assert len(counted[0]) >= 5000
    assert counted[1]["native"] > 5000


def test_making_text_of_an_array_is_no_fallback(backend: str) -> None:
    import numpy as np

    x = ad.asarray(np.linspace(0.0, 1.0, 3), backend=backend)
    with ad.profile() as p, ad.fallback("error"):
        text = np.array2string(x)
    assert text == "[0.  0.5 1. ]"
    assert p.host_fallbacks() == []
    assert p.calls_by_class() == ({"native": 1} if backend == "numpy" else {"hosted": 1})


@pytest.mark.parametrize(
    "does",
    [
        "memoryview(x)", "pickle.PickleBuffer(x)", "io.BytesIO().write(x)", "zlib.compress(x)", "hashlib.sha256(x)", "b''.join([x])",
        "struct.unpack_from('d', x)", "base64.b64encode(x)",
    ],
)  # fmt: skip
def test_who_wants_a_buffer_hears_of_tobytes(tmp_path: Path, zygotes: Zygotes, does: str) -> None:
    imports = "import base64, hashlib, io, pickle, struct, zlib\nimport numpy as np\nx = np.arange(3.0)\n"
    way_out = does.replace("x)", "x.tobytes())").replace("[x]", "[x.tobytes()]")
    (tmp_path / "main.py").write_text(f"{imports}{way_out}\n{does}\n")
    done = zygotes.of("numpy").run("main.py", cwd=tmp_path)
    if handles.compiled:  # then they are lent the memory
        assert done.code == 0, done.stderr
        return
    assert done.code == 1
    assert "line 5" in done.stderr
    assert "x.tobytes()" in done.stderr.partition("TypeError: ")[2]


@pytest.mark.parametrize("least", ["0", "262144"])
def test_bytes_of_an_array_are_numpys(tmp_path: Path, zygotes: Zygotes, backend: str, least: str) -> None:
    (tmp_path / "main.py").write_text(
        "import numpy as np\n"
        "for x in (np.arange(4, dtype=np.int8), np.arange(6.0).reshape(2, 3).T, np.arange(9)[::-2], np.float32(2) * np.ones(()),\n"
        "          np.zeros((0, 3)), np.array([True, False]), np.arange(3) * 1j, np.asfortranarray(np.eye(2, dtype=np.uint8))):\n"
        "    print(bytes(x), bytes(x) == x.tobytes(), bytes(x[...]))\n"
    )
    plain = zygotes.plain.run("main.py", cwd=tmp_path)
    done = zygotes.of(backend).run("main.py", cwd=tmp_path, options=("--min-size", least))
    assert (done.code, done.stdout) == (0, plain.stdout), done.stderr
