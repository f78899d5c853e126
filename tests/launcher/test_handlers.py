"""Handlers of signals that compute, whatever they interrupt; in processes of their own, where one that waits for ever is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.common import signal_safety
from arraydispatch.launcher import package_patches, signal_handlers

ROOT = Path(__file__).parents[2]
ALARMS = Path(__file__).parent / "alarms.py"
MANY = 1000

pytestmark = pytest.mark.skipif(os.name != "posix", reason="alarms are POSIX's")


@pytest.mark.one_backend("handlers")
@pytest.mark.parametrize(
    ("options", "alarms"),
    [
        pytest.param((), 40, id="default, 40"),
        pytest.param(("--min-size", "0"), 40, id="all in the library, 40"),
        pytest.param((), MANY, id="default", marks=pytest.mark.long),
        pytest.param(("--min-size", "0"), MANY, id="all in the library", marks=pytest.mark.long),
        pytest.param(("--execution", "compiled"), MANY, id="compiled", marks=pytest.mark.long),
    ],
)
def test_a_handler_computes_and_nothing_is_lost(
    backend: str, options: tuple[str, ...], alarms: int, tmp_path: Path
) -> None:
    pytest.importorskip("scipy")
    if backend == "numpy" and "compiled" in options:
        pytest.skip("inapplicable: NumPy has no compiler")
    seconds = 120 + alarms // 2
    env = {**os.environ, "PYTHONPATH": str(ROOT), "ARRAYDISPATCH_CACHE": str(tmp_path), "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [
        sys.executable,
        "-m",
        "arraydispatch",
        "run",
        "--backend",
        backend,
        "--on-fallback",
        "silent",
        *options,
        str(ALARMS),
        str(alarms),
        str(seconds),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60, env=env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 wrong" in done.stdout


def _run(code: str, *path: Path) -> str:
    """What a program prints, whose alarm comes after 0.2 s."""
    before = "import signal, sys, threading, time\nfrom arraydispatch.common.signal_safety import *\n"
    after = "signal.setitimer(signal.ITIMER_REAL, 0.2)\nmain()\n"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, *path)))}
    command = [sys.executable, "-X", "faulthandler", "-c", before + code + after]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, env=env)
    assert not done.returncode, done.stderr
    return done.stdout


_ENDED = """
import signal, time
import numpy as np
class Stop(Exception): pass
def stop(*_):
    raise Stop
signal.signal(signal.SIGALRM, stop)
rng, x, until = np.random.default_rng(1), np.zeros(300_000), time.time() + 3
while time.time() < until:
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0003 + rng.random() * 0.006)
        while True:
            z = x + 1
            w = z * 2
            x += 1
            q = w - z
            x -= 1
            s = np.sum(q)
    except Stop:
        pass
z = x + 1
print((z * 2 - z).max() - x.max())
"""


def test_what_reads_a_run_that_an_exception_has_ended_finds_its_values(tmp_path: Path) -> None:
    """The block of such a run knows of nobody who has begun to read what it computes since, and left those values out."""
    (tmp_path / "script.py").write_text(_ENDED)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "arraydispatch", "run", "--backend", "numpy", "script.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "1.0\n"), done.stderr


def test_a_wait_within_a_wait_takes_no_release_of_it() -> None:
    code = """
from arraydispatch.engine.host_blocks.blocks import Done
done = Done()
signal.signal(signal.SIGALRM, lambda *_: (done.wait(), print("handler")))
def main():
    threading.Timer(0.6, done.set).start()
    done.wait()
    print("main")
"""
    assert _run(code).split() == ["handler", "main"]


def test_a_wait_that_a_handler_ends_can_be_begun_again() -> None:
    code = """
from arraydispatch.engine.host_blocks.blocks import Done
done = Done()
def handler(*_):
    raise TimeoutError
signal.signal(signal.SIGALRM, handler)
def main():
    threading.Timer(0.6, done.set).start()
    try:
        done.wait()
    except TimeoutError:
        print("raised")
    done.wait()
    print("main")
"""
    assert _run(code).split() == ["raised", "main"]


def test_a_handler_meets_no_module_half_made(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\nfor _ in range(60):\n    time.sleep(0.01)\nvalue = 1\n")
    code = """
def main():
    print(imported("slow").value)
signal.signal(signal.SIGALRM, lambda *_: main())
"""
    assert _run(code, tmp_path).split() == ["1", "1"]


def test_what_is_being_imported_is_not_waited_for(tmp_path: Path) -> None:
    """A library's module that has another one imported, which needs it."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "outer.py").write_text(
        "from arraydispatch.common.signal_safety import imported\nvalue = imported('inner').value\n"
    )
    (folder / "inner.py").write_text("import outer\nvalue = 3\n")
    code = """
def main():
    print(imported("outer").value)
signal.signal(signal.SIGALRM, signal.SIG_IGN)
"""
    assert _run(code, folder).split() == ["3"]


_HANDLERS = """
import os, signal, sys, time
import arraydispatch.launcher.signal_handlers as ours

def print(*values):  # in one write, which no handler interrupts
    os.write(1, (" ".join(map(str, values)) + "\\n").encode())

def handler(number, frame):
    global calls
    calls += 1
    print("handled", number == signal.SIGALRM, frame.f_code.co_name in ("<module>", "called"))

busy, calls = False, 0
ours._within_a_call = lambda frame: busy
print(signal.signal(signal.SIGALRM, handler) is signal.SIG_DFL, signal.getsignal(signal.SIGALRM) is handler)
signal.raise_signal(signal.SIGALRM)

def waits():
    global busy
    busy = True
    signal.raise_signal(signal.SIGALRM)
    signal.raise_signal(signal.SIGALRM)
    print("not yet", calls)

def called(times):
    global busy
    busy = False
    while calls < times:
        time.sleep(0.001)

waits()
called(2)
waits()
busy = False
print(signal.signal(signal.SIGALRM, signal.SIG_DFL) is handler, signal.getsignal(signal.SIGALRM) is signal.SIG_DFL)
time.sleep(0.05)
signal.signal(signal.SIGALRM, handler)
waits()
child = os.fork()
if child == 0:
    waits()
called(4)
if child == 0:
    os._exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_handler_that_waits_is_called_once_and_is_the_programs_own(tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text(_HANDLERS)
    command = [sys.executable, "-m", "arraydispatch", "run", "--backend", "numpy", str(script)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert sorted(done.stdout.splitlines()) == sorted(
        [
            "True True", "not yet 1", "not yet 2", "True True", "not yet 3", "not yet 3", "3", *["handled True True"] * 5
        ]
    )  # fmt: skip


def test_a_handler_waits_for_code_that_runs_without_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """PyTorch gives shapes to code of ours between two of its own steps, and what a handler computed there had no values."""
    torch = ad.backend("torch")
    staging: list[bool] = []

    def given_shapes(natives: list[Any]) -> list[Any]:
        staging.append(torch.is_staging())
        return natives

    torch.transforms.abstract(given_shapes, [((2,), np.dtype(float))], None)
    assert staging == [True]
    assert not torch.is_staging()

    def frame(file: str, back: Any) -> Any:
        return SimpleNamespace(f_code=SimpleNamespace(co_filename=file), f_back=back, f_globals={})

    users = frame("/home/somebody/main.py", None)
    body = frame(str(Path(ad.__file__).parent / "functions" / "linalg.py"), users)
    assert not signal_handlers._within_a_call(body)
    monkeypatch.setattr(type(torch), "is_staging", lambda self: True)
    assert signal_handlers._within_a_call(body)
    assert not signal_handlers._within_a_call(users)


_EVERY_THIRD = """
import os
import sys
import threading
import numpy as np
import arraydispatch
from arraydispatch.common.signal_safety import is_aside

OURS = os.path.dirname(arraydispatch.__file__) + os.sep
small, large, raised, moments = np.arange(1000.0), np.arange(300_000.0), set(), 0

def work(length):
    y = large
    for _ in range(length):
        y = y * 0.5 + 1
    float(y[4])
    np.median(small)
    import scipy.fft, scipy.linalg, scipy.special
    scipy.special.erf(small)
    scipy.linalg.inv(np.eye(3))
    scipy.fft.fft(small)

def handle(frame, event, arg):
    global moments
    while frame is not None and not (frame.f_code.co_name == "<module>" and frame.f_code.co_filename.startswith(OURS)):
        frame = frame.f_back
    if event == "call" and frame is not None and "__main__" not in frame.f_code.co_filename and not is_aside():
        moments += 1
        if moments % 3 == 1:
            sys.setprofile(None)
            try:
                work(4)
            except (AttributeError, ImportError, TypeError) as error:
                raised.add(repr(error))
            except NotImplementedError:  # SciPy itself is half imported: scipy.fft has no backend yet
                pass
            sys.setprofile(handle)

sys.setprofile(handle)  # of this thread alone, as handlers are
work(40)
sys.setprofile(None)
print(sorted(raised))
"""


@pytest.mark.one_backend
def test_a_handler_is_called_in_no_import_of_ours(backend: str, tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    script = tmp_path / "main.py"
    script.write_text(_EVERY_THIRD)
    command = [sys.executable, "-m", "arraydispatch", "run", "--backend", backend, str(script)]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=env)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr


_BRIEF = """
import _thread, signal, sys, threading, time
import numpy as np
from arraydispatch.common import signal_safety

seen = []

def handler(number, frame):
    seen.append((signal_safety.is_aside(), float((np.arange(9.0) * 2).sum())))
    if number == signal.SIGUSR2:
        raise TimeoutError("of a handler")

def work(number):
    def f():
        signal.raise_signal(number)
        sum(range(1000))
        threads.add(_thread.get_ident())
        ended.append(number)
    return f

ended, threads = [], set()
for number in (signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT):
    if number != signal.SIGINT:
        signal.signal(number, handler)
    try:
        signal_safety.briefly(work(number))
        for _ in range(1000):
            pass  # steps, between which Python calls handlers
        print(*seen[len(ended):])
    except (KeyboardInterrupt, TimeoutError) as error:
        print(type(error).__name__, len(ended))
print(seen, ended == [signal.SIGUSR1, signal.SIGUSR2, signal.SIGINT], threads == {_thread.get_ident()})
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="inapplicable: no signals can be sent to a thread")
def test_handlers_wait_for_brief_work(tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text(_BRIEF)
    command = [sys.executable, "-m", "arraydispatch", "run", str(script)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    told = "[(False, 72.0), (False, 72.0)] True True"
    assert done.stdout.splitlines() == ["", "TimeoutError 2", "KeyboardInterrupt 3", told, "True"], done.stderr


_BETWEEN = """
import os, signal, sys, threading, time
import numpy as np

def alarm(number, frame):
    raise TimeoutError

signal.signal(signal.SIGALRM, alarm)
number = int(sys.argv[1])
x = np.linspace(0.1, 1, 300_000)
threading.Thread(target=lambda: (time.sleep(0.3), os.kill(os.getpid(), number)), daemon=True).start()
try:
    for i in range(20_000):  # minutes of blocks, without a gap
        y = np.sin(x) + np.cos(x) * np.exp(-x)
        y[5]
    print("never")
except (KeyboardInterrupt, TimeoutError) as error:
    print(type(error).__name__)
"""


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="inapplicable: no signals can be sent to a thread")
@pytest.mark.parametrize(("number", "told"), [(signal.SIGINT, "KeyboardInterrupt"), (14, "TimeoutError")])
def test_handlers_are_called_between_blocks(number: int, told: str, tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text(_BETWEEN)
    command = [sys.executable, "-m", "arraydispatch", "run", str(script), str(int(number))]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.stdout.split() == [told], done.stderr


_PERIODIC = """
import signal
import numpy as np

small, large, calls, wrong = np.linspace(0, 1, 4000), np.linspace(0, 1, 300_000), 0, []

def handler(number, frame):
    global calls
    calls += 1
    wrong.extend(x for x in [float((small * 2).sum())] if abs(x - 4000) > 1e-6)
    if calls % 7 == 0:
        float(np.where(large > 0.5, large, 0.0)[-1]), np.linalg.det(np.eye(3) * 2)

signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
x = np.ones(300_000)
for k in range(250):
    x = x * 0.5 + 1
    if k % 20 == 0:
        x[::3] += 1
        x.reshape(600, 500)[:, 3] = k
    x[1:-1] += np.sin(large[1:-1]) - np.sin(large[1:-1])
    if k % 60 == 0:
        np.sort(x)
signal.setitimer(signal.ITIMER_REAL, 0)
print(calls > 3, wrong, round(x.sum(), 6))
"""


@pytest.mark.one_backend("handlers")
@pytest.mark.parametrize(
    "options",
    [(), ("--execution", "fused", "--min-size", "1"), ("--min-size", "0")],
    ids=["default", "all fused", "all in the library"],
)
def test_alarms_come_faster_than_first_calls_end(backend: str, options: tuple[str, ...], tmp_path: Path) -> None:
    """A handler that computes is due again while it waits for an import or a compiler, time after time."""
    script = tmp_path / "main.py"
    script.write_text(_PERIODIC)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "ARRAYDISPATCH_CACHE": str(tmp_path), "TF_CPP_MIN_LOG_LEVEL": "3"}
    plain = [sys.executable, str(script)]
    expected = subprocess.run(plain, capture_output=True, text=True, timeout=120, env=env, check=True).stdout
    launched = ["-m", "arraydispatch", "run", "--backend", backend, "--on-fallback", "silent", *options, str(script)]
    done = subprocess.run([sys.executable, *launched], capture_output=True, text=True, timeout=240, env=env)
    assert done.stdout == expected, done.stdout + done.stderr


def test_what_notices_an_import_imports_no_library() -> None:
    """Under the launcher: it is imported while the main thread is within the import of a library."""
    code = """
import numpy, arraydispatch.fastpath.recorded, arraydispatch.array, arraydispatch.api.creation
def main():
    before = set(sys.modules)
    imported("arraydispatch.interop.scipy_stand_ins", alone=True)
    print([name for name in set(sys.modules) - before if not name.startswith("arraydispatch.")])
signal.signal(signal.SIGALRM, signal.SIG_IGN)
"""
    assert _run(code).strip() == "[]"


_AMID = """
import os, signal, sys
import numpy as np
from arraydispatch.backends import loader

library = os.environ["LIBRARY"]
found, there = [], set()

def handler(number, frame):
    large = np.arange(300_000.0)
    x = np.sqrt(large * 2) + np.sort(large)[::-1]
    x[:2] += np.dot(large, large) * 0 + np.linalg.det(np.eye(3))
    found.append((float(x[0]), float(np.cumsum(x)[0])))
    there.add(library in loader._loaded)

signal.signal(signal.SIGALRM, handler)

BODY
print(len(found) > 0, set(found), there)
large = np.arange(300_000.0)
print((large * 2).sum(), np.sort(large)[-1], np.cumsum(large)[3])
print(library in loader._loaded)
"""

_MOMENTS = {
    "the program's own import of it": """
class Finder:
    def find_spec(name, path=None, target=None):
        if name.startswith(library + ".") and name.count(".") == 1:
            signal.raise_signal(signal.SIGALRM)

sys.meta_path.insert(0, Finder)
__import__(library)
sys.meta_path.remove(Finder)
""",
    "its import on first use": """
import time

class Finder:
    def find_spec(name, path=None, target=None):
        if name.startswith(library + ".") and name.count(".") == 1:
            signal.raise_signal(signal.SIGALRM)  # in another thread: Python calls the handler in the main one
            time.sleep(0.02)

sys.meta_path.insert(0, Finder)
np.sort(np.arange(300_000.0))
sys.meta_path.remove(Finder)
""",
    "an import of something else": "import half_made",
    "code that holds a lock": """
import holds_lock
holds_lock.call(lambda: signal.raise_signal(signal.SIGALRM))
""",
}


@pytest.mark.one_backend
@pytest.mark.parametrize("moment", _MOMENTS)
def test_a_handler_imports_no_library_amid(backend: str, moment: str, tmp_path: Path) -> None:
    """What it interrupts may be half made, and PyTorch is not imported twice; or holds locks that the import of the library takes."""
    if backend == "numpy":
        pytest.skip("inapplicable: NumPy is imported first")
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "half_made.py").write_text("import signal\nsignal.raise_signal(signal.SIGALRM)\n")
    (folder / "holds_lock.py").write_text(
        "from arraydispatch.common import patching\ndef call(f):\n    with patching._changing:\n        f()\n"
    )
    script = tmp_path / "main.py"
    script.write_text(_AMID.replace("BODY", _MOMENTS[moment]))
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(folder)]),
        "LIBRARY": backend,
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }
    options = ["--backend", backend, "--on-fallback", "silent"]
    command = [sys.executable, "-m", "arraydispatch", "run", *options, str(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, env=env)
    assert done.stdout.splitlines() == [
        "True {(300000.0, 300000.0)} {False}",
        f"{300_000 * 299_999.0} 299999.0 6.0",
        "True",
    ], done.stderr


def test_a_thread_waits_for_no_doors_that_a_handler_keeps_from_opening(monkeypatch: pytest.MonkeyPatch) -> None:
    """Import in a thread, as inductor does while it compiles, while a handler interrupts the thread that opens doors, and waits for this one."""
    doors = package_patches.Doors.__new__(package_patches.Doors)
    doors._opening = threading.RLock()  # type: ignore[attr-defined]
    ended = threading.Event()
    monkeypatch.setattr(signal_safety, "_interrupting", 1)
    with doors._opening:  # type: ignore[attr-defined]
        thread = threading.Thread(target=lambda: (doors.open_all("json", False), ended.set()))
        thread.start()
        assert ended.wait(20)
    thread.join()
