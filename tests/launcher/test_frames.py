"""Whoever looks at the frames of an error finds some: hiding ours leaves at least one, and who asks for one gets that one."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

from arraydispatch._core import handles
from arraydispatch.launcher import tracebacks
from tests.launched import Done, Zygotes

FAILS = """
import numpy as np

def inner(a):
    return a @ np.ones((3, 4))

def fails():
    return inner(np.ones((2, 2)))
"""
PACKAGE = str(Path(tracebacks.__file__).parents[1])
ROOT = Path(__file__).parents[2]


def _run(zygotes: Zygotes, folder: Path, code: str, *argv: str, stdin: str = "") -> Done:
    (folder / "main.py").write_text(FAILS + code)
    return zygotes.of("numpy").run(*(argv or ("main.py",)), cwd=folder, options=("--min-size", "0"), stdin=stdin)


# -- who asks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", ["auto", "long", "short", "line", "native"])
def test_pytest(style: str, tmp_path: Path, zygotes: Zygotes) -> None:
    code = """
def test_first():
    fails()
def test_handled():
    try:
        fails()
    except ValueError as error:
        raise KeyError from error
def test_passes():
    pass
"""
    done = _run(zygotes, tmp_path, code, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--tb={style}", "main.py")
    assert "INTERNALERROR" not in done.stdout
    assert "2 failed, 1 passed" in done.stdout, done.stdout
    assert "mismatch in its core dimension" in done.stdout
    assert done.code == 1


def test_tests_of_numpys_own_fail_in_their_usual_way(tmp_path: Path, zygotes: Zygotes) -> None:
    if not handles.compiled:
        pytest.skip(
            "inapplicable: only the compiled core lends an array's memory to a memoryview, which one of them makes"
        )
    found = importlib.util.find_spec("numpy._core.tests.test_indexing")
    if found is None or found.origin is None:
        pytest.skip("this NumPy comes without its tests")
    text = Path(found.origin).read_text(encoding="utf-8")
    argv = (
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--assert=plain",
        "main.py",
        "-k",
        "TestIndexing or TestFlat",
    )
    (tmp_path / "main.py").write_text(text, encoding="utf-8")
    done = zygotes.of("numpy").run(*argv, cwd=tmp_path, options=("--on-fallback", "warn"))
    assert "INTERNALERROR" not in done.stdout
    failed = set(re.findall(r"^FAILED main\.py::(\S+)", done.stdout, re.MULTILINE))
    passed = re.search(r"(\d+) passed", done.stdout)
    assert failed and passed and int(passed[1]) > 50, done.stdout
    expected = (ROOT / "conformance" / "numpy-numpy-xfails.txt").read_text(encoding="utf-8")
    assert failed <= set(re.findall(r"^_core\.test_indexing::(\S+)", expected, re.MULTILINE))


def test_unittest(tmp_path: Path, zygotes: Zygotes) -> None:
    code = """
import unittest
class Tests(unittest.TestCase):
    def test_fails(self):
        fails()
    def test_sub(self):
        with self.subTest(i=1):
            fails()
if __name__ == "__main__":
    unittest.main()
"""
    done = _run(zygotes, tmp_path, code)
    assert done.code == 1
    assert "errors=2" in done.stderr
    assert done.stderr.count("in inner") == 2
    assert PACKAGE not in done.stderr


def test_logging(tmp_path: Path, zygotes: Zygotes) -> None:
    code = """
import logging
logging.basicConfig(format="%(funcName)s %(message)s")
try:
    fails()
except ValueError:
    logging.exception("caught", stack_info=True)
"""
    done = _run(zygotes, tmp_path, code)
    assert "in inner" in done.stderr
    assert "Stack (most recent call last)" in done.stderr
    assert "Logging error" not in done.stderr
    assert PACKAGE not in done.stderr


def test_debuggers(tmp_path: Path, zygotes: Zygotes) -> None:
    code = """
import pdb, sys
try:
    fails()
except ValueError:
    pdb.post_mortem(sys.exc_info()[2])
def hook(kind, error, tb):
    pdb.post_mortem(tb)
sys.excepthook = hook
fails()
"""
    done = _run(zygotes, tmp_path, code, stdin="where\nup\nquit\nwhere\nquit\n")
    assert done.stdout.count("inner()") + done.stdout.count("in inner") + done.stdout.count("inner(np.ones") >= 2
    assert done.code == 1


@pytest.mark.skipif(importlib.util.find_spec("IPython") is None, reason="needs IPython")
@pytest.mark.parametrize("mode", ["Plain", "Context", "Verbose", "Minimal"])
def test_ipython(mode: str, tmp_path: Path, zygotes: Zygotes) -> None:
    code = f"""
import os
os.environ["IPYTHONDIR"] = {str(tmp_path)!r}
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="NoColor")
shell.run_line_magic("xmode", {mode!r})
shell.push(dict(fails=fails, np=np))
shell.run_cell("fails()")
shell.run_cell("np.ones((2, 2)) @ np.ones((3, 4))")
shell.run_cell("try:\\n    fails()\\nexcept ValueError as error:\\n    raise KeyError from error")
"""
    done = _run(zygotes, tmp_path, code)
    assert done.code == 0, done.stderr
    assert (done.stdout + done.stderr).count("ValueError") >= 2
    for trouble in ("Unexpected exception formatting", "IndexError", "Internal Python error"):
        assert trouble not in done.stdout + done.stderr


def test_pools_and_tasks(tmp_path: Path, zygotes: Zygotes) -> None:
    code = """
import asyncio, traceback
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(1) as pool:
    for work in (fails, lambda: np.linalg.inv(np.ones((2, 3))), (np.ones(3) + np.ones(3)).__getitem__):
        done = pool.submit(work, *[9] * (work.__class__.__name__ == "method"))
        print("File" in "".join(traceback.format_exception(done.exception())))
async def main():
    task = asyncio.get_running_loop().create_task(fail())
    try:
        await task
    except ValueError:
        traceback.print_exc()
async def fail():
    fails()
asyncio.run(main())
"""
    done = _run(zygotes, tmp_path, code)
    assert done.stdout == "True\nTrue\nTrue\n", done.stderr
    assert "in inner" in done.stderr
    assert PACKAGE not in done.stderr


# -- what they get --------------------------------------------------------------------------------------------------------


def test_one_frame_is_the_one_asked_for(tmp_path: Path, zygotes: Zygotes) -> None:
    code = """
import traceback
try:
    fails()
except ValueError as error:
    first = tb = error.__traceback__
while tb is not None:
    summary, = traceback.extract_tb(tb, limit=1)
    assert (summary.filename, summary.lineno) == (tb.tb_frame.f_code.co_filename, tb.tb_lineno)
    assert traceback.extract_tb(tb, limit=-1) and traceback.extract_tb(tb) and traceback.format_tb(tb)
    tb = tb.tb_next
assert traceback.extract_tb(None) == []
assert traceback.extract_tb(first, limit=0) == []
assert traceback.extract_tb(first, limit=-1)[0].name == "inner"
assert traceback.extract_tb(first, limit=2)[1].name == "fails"
"""
    assert _run(zygotes, tmp_path, code).code == 0


def test_stacks_begin_where_they_do_without_us(tmp_path: Path, zygotes: Zygotes) -> None:
    code = """
import traceback
def where(limit):
    found = [traceback.StackSummary.extract(traceback.walk_stack(None), limit=limit)]
    found += [traceback.extract_stack(limit=limit), traceback.StackSummary.extract(traceback.walk_stack(None))[:2]]
    print([[(frame.name, frame.lineno) for frame in stack] for stack in found])
where(1)
where(2)
"""
    done = _run(zygotes, tmp_path, code)
    assert (done.code, done.stdout) == (0, zygotes.plain.run("main.py", cwd=tmp_path).stdout)


def test_an_error_that_never_left_us_shows_one_frame(tmp_path: Path, zygotes: Zygotes) -> None:
    """Before the user's, where somebody raises on: an exception without any frame would not tell where it came from."""
    code = """
import traceback
try:
    fails()
except ValueError as error:
    tb = error.__traceback__
    while "arraydispatch" not in tb.tb_frame.f_code.co_filename:
        tb = tb.tb_next
    ours = RuntimeError("kept").with_traceback(tb)
    kept = KeyError("theirs")
    kept.__cause__ = ours
print(len(traceback.TracebackException.from_exception(ours).stack))
raise kept
"""
    done = _run(zygotes, tmp_path, code)
    assert done.stdout == "1\n"
    assert done.stderr.count("Traceback (most recent call last)") == 2
    assert done.stderr.count(PACKAGE) == 1


@pytest.mark.parametrize(
    "text", ["x = = 1\n", "return\n", *(["\x00\n"] if sys.version_info >= (3, 11, 4) else [])]
)  # which Python before that runs up to it
def test_a_program_that_does_not_compile_has_no_frames(text: str, tmp_path: Path, zygotes: Zygotes) -> None:
    (tmp_path / "main.py").write_text(text)
    plain = zygotes.plain.run("main.py", cwd=tmp_path)
    done = zygotes.of("numpy").run("main.py", cwd=tmp_path)
    assert done.code == plain.code == 1
    if "\x00" not in text:  # Python's own message names another error
        assert done.stderr.startswith(plain.stderr)
    assert "runner.py" not in done.stderr
