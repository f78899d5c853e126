"""Whose a line is: one rule for all who look at callers' frames."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.common import callers

OURS, NUMPYS = str(Path(str(ad.__file__)).parent), str(Path(np.__file__).parent)

FILES = [
    (f"{OURS}{os.sep}array/array.py", True), (f"{NUMPYS}{os.sep}linalg{os.sep}_linalg.py", True), (json.__file__, True),
    (pytest.__file__, True), ("/usr/lib/python3/dist-packages/x.py", True), ("<frozen importlib>", True),
    ("<__array_function__ internals>", True), (__file__, False), ("<stdin>", False), ("<string>", False),
    (OURS + "_of_mine/script.py", False), ("script.py", False), ("/tmp/ipykernel_7/1.py", False),
]  # fmt: skip


@pytest.mark.parametrize(("file", "library"), FILES, ids=[file[-24:] for file, _ in FILES])
def test_rule(file: str, library: bool) -> None:
    assert callers.is_library(file) is library
    assert callers.is_core(file) is file.startswith((OURS + os.sep, NUMPYS + os.sep))


def test_tests_of_numpys_own_are_programs_that_use_it() -> None:
    """Their views as subclasses share memory as a program's do, and warnings name their lines."""
    assert callers.is_core(f"{NUMPYS}{os.sep}testing{os.sep}overrides.py")
    assert not callers.is_core(f"{NUMPYS}{os.sep}_core{os.sep}tests{os.sep}test_indexing.py")
    assert callers.is_core(f"{OURS}{os.sep}tests{os.sep}a.py")


def _framed(files: list[str]) -> FrameType:
    """The innermost of frames of code of these files, the outermost first, in none but these."""
    names: dict[str, object] = {"sys": sys}
    for at, file in enumerate(reversed(files)):
        inner = "sys._getframe()" if at == 0 else f"f{at - 1}()"
        code: CodeType = compile(f"def f{at}():\n    return {inner}", file, "exec")
        exec(code, names)
    found = names[f"f{len(files) - 1}"]()  # type: ignore[operator]
    assert isinstance(found, FrameType)
    return found


def test_first_frame_outside() -> None:
    ours, numpys = f"{OURS}{os.sep}a.py", f"{NUMPYS}{os.sep}b.py"
    frame, count = callers.outside(_framed(["user.py", pytest.__file__, ours, numpys, ours]), callers.is_core)
    assert (frame.f_code.co_filename, count) == (pytest.__file__, 3)
    frame, count = callers.outside(_framed(["user.py", pytest.__file__, ours, numpys, ours]), callers.is_library)
    assert (frame.f_code.co_filename, count) == ("user.py", 4)


def test_rule_needs_no_numpy() -> None:
    """A process that a launcher's run starts may have no use for it."""
    code = "import sys; from arraydispatch.launcher import user_files; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_looking_at_a_thread_keeps_none_of_its_variables_alive(tmp_path: Path) -> None:
    """Whether a dropped array is gone decides what a block computes, and has to be the same in each run and each rank."""
    script = tmp_path / "prögram.py"
    script.write_text(
        "def inner(made):\n    kept = made()\n    return weakref.ref(kept)\n\n\n"
        "def work(made, kept_alive, stop):\n    while not stop:\n"
        "        if inner(made)() is not None:\n            kept_alive.append(True)\n"
    )
    names: dict[str, Any] = {"weakref": weakref}
    exec(compile(script.read_text(), str(script), "exec"), names)
    kept_alive: list[bool] = []
    stop: list[bool] = []
    thread = threading.Thread(target=names["work"], args=(type("Made", (), {}), kept_alive, stop))
    interval, seen = sys.getswitchinterval(), []
    sys.setswitchinterval(1e-6)
    try:
        thread.start()
        while sum(place is not None for place in seen) < 300:
            seen.append(callers.line_of_thread(thread.ident or 0))
    finally:
        stop.append(True)
        sys.setswitchinterval(interval)
    thread.join()
    assert set(seen) - {None} <= {(str(script), line) for line in range(1, 10)}
    assert not kept_alive
    assert callers.line_of_thread(thread.ident or 0) is None
