"""However a program ends, there is a report of what ran; a live line shows on a terminal, and nowhere else."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arraydispatch.backends import loader
from arraydispatch.launcher import session
from arraydispatch.launcher.commands.cli import main
from arraydispatch.profiling.line_counts import Tally
from arraydispatch.profiling.recorder import Profile
from tests.launched import Done, Zygotes

ROOT = Path(__file__).parents[2]
ENV = {**os.environ, "PYTHONPATH": str(ROOT), "ARRAYDISPATCH_BACKEND": "numpy", "OMP_NUM_THREADS": "1"}
WORK = "import numpy as np\nx = np.linspace(0.0, 1.0, 1000)\ny = np.sin(x) + 1\n"
POSIX = pytest.mark.skipif(os.name != "posix", reason="inapplicable: signals and terminals of POSIX")


def _command(*args: str) -> list[str]:
    return [sys.executable, "-m", "arraydispatch", "run", *args]


def _run(script: Path, *args: str, **kwargs: Any) -> subprocess.CompletedProcess[str]:
    command = _command(*args, str(script))
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **{"env": ENV, **kwargs})


def _script(tmp_path: Path, more: str) -> Path:
    script = tmp_path / "main.py"
    script.write_text(WORK + more)
    return script


# -- ways to end -------------------------------------------------------------------------------------------------------


def test_a_library_is_not_imported_for_the_report(backend: str, tmp_path: Path) -> None:
    """TensorFlow, imported while Python ends, ended the process."""
    script = tmp_path / "script.py"
    script.write_text("import numpy as np\nheld = np.ma.array([1, 2]).data\n")
    done = _run(script, "--backend", backend, "--min-size", "0", env={**ENV, "TF_CPP_MIN_LOG_LEVEL": "3"})
    assert (done.returncode, done.stdout) == (0, "")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("more", "code"),
    [
        ("", 0),
        ("raise SystemExit(3)\n", 3),
        ("raise ValueError\n", 1),
        ("raise KeyboardInterrupt\n", -signal.SIGINT),
        ("import os\nos._exit(4)\n", 4),
        ("import os, atexit\natexit.register(os._exit, 5)\n", 5),
        ("import threading, os\nthreading.Thread(target=os._exit, args=(6,)).start()\nimport time; time.sleep(9)\n", 6),
    ],
)
def test_every_end_brings_the_report(tmp_path: Path, more: str, code: int) -> None:
    script, path = _script(tmp_path, more), tmp_path / "report.json"
    done = _run(script, "--report", str(path))
    assert done.returncode == code, done.stderr
    assert done.stderr.count("calls on the backend") == 1
    data = json.loads(path.read_text())
    assert data["complete"] is (code >= 0)
    assert ("was cut short" in done.stderr) is (code < 0)
    assert data["calls_on_backend"] == 3
    assert data["program"] == "main.py"


@POSIX
@pytest.mark.parametrize(
    "how",
    [
        "import os\nos.abort()\n",
        "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\n",
        "import os, signal\nos.kill(os.getpid(), signal.SIGHUP)\n",
    ],
)
def test_signals_end_the_process_as_ever(tmp_path: Path, how: str) -> None:
    script, path = _script(tmp_path, how), tmp_path / "report.json"
    plain = subprocess.run([sys.executable, str(script)], capture_output=True, env=ENV)
    done = _run(script, "--report", str(path))
    assert done.returncode == plain.returncode < 0
    data = json.loads(path.read_text())
    assert data["calls_on_backend"] == 3
    assert data["complete"] is ("abort" in how)


@POSIX
def test_a_program_with_a_handler_of_its_own_keeps_it(tmp_path: Path) -> None:
    more = (
        "import os, signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
        "os.kill(os.getpid(), signal.SIGTERM)\nimport time\ntime.sleep(9)\n"
    )
    done = _run(_script(tmp_path, more))
    assert done.returncode == 7
    assert done.stderr.count("calls on the backend") == 1


@POSIX
def test_forks_report_nothing_and_die_by_the_signal(tmp_path: Path) -> None:
    more = (
        "import os, signal, time\npid = os.fork()\nif pid == 0:\n    time.sleep(30)\n    os._exit(9)\nos.kill(pid, signal.SIGTERM)\n"
        "print(os.waitpid(pid, 0)[1])\npid = os.fork()\nif pid == 0:\n    os._exit(3)\nprint(os.waitpid(pid, 0)[1] >> 8)\n"
    )
    done = _run(_script(tmp_path, more))
    assert done.stdout.split() == [str(int(signal.SIGTERM)), "3"]
    assert done.stderr.count("calls on the backend") == 1


_USES_CUDA = """
import os
import re
import numpy as np
import torch
torch.cuda.is_initialized = lambda: True  # as where it is used
x = np.arange(400_000.0)
y = x[::2]
reader, writer = os.pipe()
if os.fork() == 0:
    y[0] = 5
    os.write(writer, repr([float(x.sum()), float(x[0]), float(np.sqrt(y).sum()), len(np.fft.fft(x))]).encode())
    os._exit(0)
os.wait()
print(os.read(reader, 1000).decode(), float(x.sum()), float(x[0]))
"""


@POSIX
def test_a_fork_beside_a_gpu_that_is_used_computes_with_numpy(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "main.py"
    script.write_text(_USES_CUDA)
    plain = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120)
    ours = _run(script, "--backend", "torch", "--execution", "eager", "--min-size", "0")
    assert ours.stdout == plain.stdout, ours.stderr
    assert "a forked process computes with NumPy" in ours.stderr


_POOL = """
import multiprocessing, subprocess, sys, time

def work(n):
    time.sleep(0.1)  # longer than it takes to save the counts
    return float(np.cos(np.full(1000, n)).sum())

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(2) as pool:
        print(pool.map(work, range(8), chunksize=1))
    code = "import numpy as np; print(np.arctan(np.zeros(1000)).sum())"
    subprocess.run([sys.executable, "-c", code], check=True)
"""


@POSIX
@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_what_other_processes_ran_is_counted(tmp_path: Path, method: str) -> None:
    script, path = _script(tmp_path, _POOL), tmp_path / "report.json"
    done = subprocess.run(
        _command("--report", str(path), str(script), method), capture_output=True, text=True, timeout=120, env=ENV
    )
    assert done.returncode == 0, done.stderr
    data = json.loads(path.read_text())
    counts = {row["function"]: row["count"] for row in data["functions"]}
    assert (counts["np.cos"], counts["np.sum"], counts["np.arctan"]) == (8, 9, 1), data["functions"]
    assert counts["np.sin"] == (1 if method == "fork" else 1 + data["processes"] - 2)  # a spawned child runs the module
    assert data["processes"] in (3, 4)  # two workers, if both were quick enough to take a task
    assert f"in {data['processes']} processes" in done.stderr


@POSIX
@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_calls_of_other_processes_are_counted_without_their_lines_too(tmp_path: Path, method: str) -> None:
    name = next((b for b in ("torch", "tensorflow", "jax") if _installed(b)), None)
    if name is None:
        pytest.skip("needs a library that is not NumPy")
    script = tmp_path / "main.py"
    script.write_text(
        "import multiprocessing, sys\nimport numpy as np\n"
        "def work(n):\n    for _ in range(1000):\n        n = np.sin(np.ones(3) * n)[0]\n    return float(n)\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:\n        pool.map(work, [1])\n"
    )
    done = subprocess.run(
        _command("--backend", name, str(script), method), capture_output=True, text=True, timeout=120, env=ENV
    )
    assert done.returncode == 0, done.stderr
    assert " 4,000 calls by NumPy on the host (not timed: --report does)" in done.stderr


def test_what_was_not_timed_is_not_said_to_take_no_time(tmp_path: Path) -> None:
    """Calls on small arrays are the backend's where that is NumPy."""
    script = tmp_path / "main.py"
    script.write_text("import numpy as np\nfor _ in range(99):\n    np.ones(3) + 1\n")
    done = _run(script, "--backend", "numpy")
    assert " 198 calls on the backend (not timed: --report does)\n" in done.stderr


_VIEWS = """\
import numpy as np
x = np.arange(6.0)
for _ in range(10):
    x[1:], x.reshape(2, 3), x.T, np.transpose(x), np.ravel(x), np.split(x, 2), [row for row in x.reshape(2, 3)]
    x[[0, 1]], x[x > 2], x[2], x.reshape(2, 3)[:, [0, 1]], x.reshape(2, 3).T.copy()
    x[1:] = 2
"""


@pytest.mark.parametrize("options", [(), ("--report",), ("--min-size", "0"), ("--min-size", "0", "--report")])
def test_views_are_no_calls_wherever_values_are(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Counted at once, timed, or by the library: the same script makes the same number of calls."""
    (tmp_path / "main.py").write_text(_VIEWS)
    done = _run(tmp_path / "main.py", "--backend", "numpy", *options)
    assert " 71 calls on the backend " in done.stderr, done.stderr


def test_what_was_timed_is_said_of_each_class(tmp_path: Path, backend: str, zygotes: Zygotes) -> None:
    """Also of what NumPy does for a library: on small arrays, and on the library's own memory."""
    (tmp_path / "main.py").write_text(
        "import numpy as np\nx = np.arange(3000.0) % 7 * np.ones(3000)\nnp.sqrt(x), np.sort(x)\n"
        "for _ in range(500):\n    np.ones(3) + 1\n"
    )
    done = zygotes.of(backend).run("main.py", cwd=tmp_path, options=("--min-size", "1000"), reported=True)
    figures, report = f"{done.stderr.splitlines()[1]} · ", done.report
    counts, seconds = report["calls_by_class"], report["seconds_by_class"]
    assert counts.get("host kernel", 0) == len({np.sqrt, np.sort} & loader.load(backend).HOST_KERNELS.keys())
    assert counts.get("hosted", 0) == (1002 if backend != "numpy" else 0)
    kernels = "host kernel" if counts.get("host kernel") == 1 else "host kernels"
    for kind, words in (("hosted", "calls by NumPy on the host"), ("host kernel", kernels)):
        told = f" · {counts.get(kind, 0):,} {words} ({seconds.get(kind, 0.0):.2f} s) · "
        assert (told in figures) == (kind in counts), figures
        assert kind not in counts or 1e-5 < seconds[kind] < report["seconds"]
    library = sum(seconds.values()) - seconds.get("hosted", 0.0) - seconds.get("host kernel", 0.0)
    assert f" calls on the backend ({library:.2f} s) · " in figures


@POSIX
def test_folders_of_runs_that_were_killed_are_removed(tmp_path: Path) -> None:
    env = {**ENV, "TMPDIR": str(tmp_path)}
    killed = _run(_script(tmp_path, "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n"), env=env)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(tmp_path.glob("arraydispatch-*"))) == 1
    assert _run(_script(tmp_path, ""), env=env).returncode == 0
    assert not list(tmp_path.glob("arraydispatch-*"))


@POSIX
def test_a_child_shows_its_own_lines_and_needs_no_folder(tmp_path: Path) -> None:
    program = "import os, subprocess, sys\nos.chdir(sys.argv[1])\nos.rmdir(sys.argv[1])\n"
    child = '"import numpy as np; np.zeros(3) + np.zeros(4)"'
    script, folder = _script(tmp_path, f"{program}subprocess.run([sys.executable, '-c', {child}])\n"), tmp_path / "gone"
    folder.mkdir()
    done = subprocess.run(_command(str(script), str(folder)), capture_output=True, text=True, timeout=120, env=ENV)
    assert "operands could not be broadcast together" in done.stderr
    assert str(ROOT / "arraydispatch") not in done.stderr and "sitecustomize" not in done.stderr, done.stderr


def test_counts_add_up() -> None:
    one, other = Tally(processes=1), Tally(processes=1)
    one.count("calls", ("np.sin", "torch", "native", "", "a.py", 3, "<module>"), 2, 0.5, 0)
    other.count("calls", ("np.sin", "torch", "native", "", "a.py", 3, "<module>"), 1, 0.25, 0)
    other.count("transfers", ("to_host", "printing", "a.py", 4, "<module>"), 1, 80)
    other.counted = 5
    one.add(Tally.from_json(json.loads(json.dumps(other.to_json()))))
    assert (one.processes, one.counted) == (2, 5)
    assert [(call.count, call.seconds) for call in one.calls()] == [(3, 0.75)]
    assert [row.nbytes for row in one.transfers()] == [80]
    one.ran_on_host("because")
    assert [(call.kind, call.reason, call.count) for call in one.calls()] == [("host", "because", 3)]


def test_what_is_not_flushed_stays_unflushed(tmp_path: Path) -> None:
    script = _script(tmp_path, "import os\nprint('lost', end='')\nos._exit(0)\n")
    env = {key: value for key, value in ENV.items() if key != "PYTHONUNBUFFERED"}
    plain = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, env=env)
    assert plain.stdout == _run(script, env=env).stdout == ""


@POSIX
@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".json", ".html"])
def test_death_in_native_code_leaves_the_last_report(tmp_path: Path, quick: dict[str, str], suffix: str) -> None:
    if suffix == ".html":
        pytest.importorskip("plotly")
    path = tmp_path / f"report{suffix}"
    more = (
        f"import os, signal, time\nwhile not os.path.exists({str(path)!r}):\n    time.sleep(0.02)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    script = _script(tmp_path, more)
    done = _run(script, "--report", str(path), env=quick)
    assert done.returncode == -signal.SIGKILL
    text = path.read_text()
    if suffix == ".html":
        assert "the program was cut short, or still running" in text
    else:
        assert json.loads(text)["complete"] is False
        assert json.loads(text)["calls_on_backend"] == 3
    assert {p.name for p in tmp_path.iterdir()} - {"__pycache__"} == {"main.py", path.name, "sitecustomize.py"}


@POSIX
def test_interrupted(tmp_path: Path) -> None:
    script, path = (
        _script(tmp_path, "print('ready', flush=True)\nimport time\ntime.sleep(60)\n"),
        tmp_path / "report.csv",
    )
    command = _command("--report", str(path), str(script))
    with subprocess.Popen(command, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == -signal.SIGINT
        assert "calls on the backend" in process.stderr.read()
    with path.open() as stream:
        assert {row["what"] for row in csv.DictReader(stream)} >= {"np.sin", "np.add"}


# -- before the program runs -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--report", "/no/such/folder/out.html"], "cannot be written"),
        (["--report=."], "must end in one of: .html, .json, .csv"),
        (["--trace", "/no/such/folder/out.json"], "--trace: '/no/such/folder/out.json' cannot be written"),
        (["--trace", "out.txt"], "--trace: 'out.txt' must end in one of: .json"),
    ],
)
def test_told_before_it_runs(
    argv: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "main.py").write_text("open('ran', 'w')\n")
    assert main(["run", *argv, "main.py"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["main.py"]


def test_html_without_plotly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = _script(tmp_path, "")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["run", "--report", str(tmp_path / "out.html"), str(script)]) == 2
    assert "pip install jinja2 'plotly>=6'" in capsys.readouterr().err


def test_trace(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    done = _run(_script(tmp_path, ""), "--trace", str(path))
    assert done.returncode == 0, done.stderr
    events = json.loads(path.read_text())["traceEvents"]
    assert [event["name"] for event in events if event["ph"] == "X"] == ["np.linspace", "np.sin", "np.add"]
    assert [event["args"]["line"][-2:] for event in events if event["ph"] == "X"] == [":2", ":3", ":3"]


def test_fallbacks_are_said_once_a_line(tmp_path: Path, zygotes: Zygotes) -> None:
    name = next((b for b in ("torch", "tensorflow", "jax") if _installed(b)), None)
    if name is None:
        pytest.skip("needs a library that is not NumPy")
    pytest.importorskip("scipy")
    more = "from scipy.special import struve\nfor _ in range(3):\n    struve(1, x)\n    struve(2, x)\nprint('done')\n"
    script = _script(tmp_path, more)

    def run(policy: str) -> Done:
        options = ("--min-size", "0", "--on-fallback", policy)
        return zygotes.of(name).run(script.name, cwd=tmp_path, options=options)

    warned = run("warn")
    said = [line for line in warned.stderr.splitlines() if " ran on the host: " in line]
    assert [line.split(":")[2] for line in said] == ["6", "7"]
    stopped = run("error")
    assert (stopped.code, stopped.stdout) == (1, "")
    assert "line 6" in stopped.stderr
    assert "HostFallbackError" in stopped.stderr
    assert "--on-fallback warn" in stopped.stderr
    assert run("silent").stderr.count("ran on the host") <= 1


@pytest.mark.parametrize("length", [20_000, 50_000])
def test_the_advice_on_repeated_uploads_helps(tmp_path: Path, length: int, zygotes: Zygotes) -> None:
    name = next((b for b in ("torch", "tensorflow") if _installed(b)), None)
    if name is None:
        pytest.skip("needs a library that is not NumPy")
    windows = "numpy.lib.stride_tricks.as_strided(numpy.ones(1), ({n},), (0,)).copy()"
    (tmp_path / "site-packages").mkdir()
    (tmp_path / "site-packages" / "visitor.py").write_text(
        f"import numpy\ndef make(n): return {windows.format(n='n')}\n"
    )
    found = f"import sys\nsys.path.append({str(tmp_path / 'site-packages')!r})\n"
    before = f"{found}import visitor\nx = np.ones((20, {length}))\nw = visitor.make({length})\n"
    loop = "for i in range(8):\n    x = x + w\nprint(x.sum())\n"

    def uploads(folder: str, more: str) -> list[str]:
        (tmp_path / folder).mkdir()
        script = _script(tmp_path / folder, more)
        done = zygotes.of(name).run(script.name, cwd=script.parent, options=("--min-size", "200000"), reported=True)
        assert done.stdout == f"{9 * 20 * length}.0\n", done.stderr
        return [row["text"] for row in done.report["advice"] if row["kind"] == "repeated uploads"]

    (advice,) = uploads("before", before + loop)
    assert "with np.asarray" in advice
    assert uploads("followed", before + "w = np.asarray(w)\n" + loop) == []


def test_modules_that_are_neither_the_users_nor_installed_are_named(tmp_path: Path, zygotes: Zygotes) -> None:
    """A folder that a script puts on ``sys.path`` may be anybody's: it is not redirected, and nobody is left to wonder why."""
    for folder in ("work", "lib", "site-packages"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / f"of_{folder[:4]}.py").write_text(
            "import numpy as np\ndef make(n): return np.ones(n) * 2\n"
        )
    (tmp_path / "lib" / "plain.py").write_text("import math\n")
    script = tmp_path / "work" / "main.py"
    script.write_text(
        f"import sys; sys.path += [{str(tmp_path / 'lib')!r}, {str(tmp_path / 'site-packages')!r}]\n"
        "import of_work, of_lib, of_site, plain\nprint(of_work.make(3).sum(), of_lib.make(3).sum(), of_site.make(3).sum())\n"
    )
    done = zygotes.of("numpy").run(str(script), cwd=tmp_path, options=(), reported=True)
    (advice,) = [row for row in done.report["advice"] if row["kind"] == "module"]
    lib = tmp_path / "lib"
    assert (advice["file"], advice["count"]) == (str(lib / "of_lib.py"), 1)
    assert f"of_lib.py in {lib} is not under the script's folder" in advice["text"]
    assert f"--include {lib} takes it along" in advice["text"]
    done = zygotes.of("numpy").run(str(script), cwd=tmp_path, options=("--include", str(lib)), reported=True)
    assert not [row for row in done.report["advice"] if row["kind"] == "module"]


_UNSEEN = """\
import numpy as np
import visitor
X, y, small = visitor.make(9000), visitor.make(9000), visitor.make(9)
met = visitor.make(9000)
total = np.sum(met) + met.sum()
Y = X * 2 - X.mean(0)
print((small + 1).size, y.shape, total, -Y[:2])
Y += 1
"""


def test_lines_where_ndarrays_do_the_work_are_named(tmp_path: Path, zygotes: Zygotes) -> None:
    name = next((b for b in ("torch", "tensorflow") if _installed(b)), None)
    if name is None:
        pytest.skip("needs a library that is not NumPy")
    package = tmp_path / "site-packages"
    package.mkdir()
    (package / "visitor.py").write_text("import numpy\nmake = numpy.ones\n")
    script = tmp_path / "main.py"
    begin = f"import sys; sys.path.append({str(package)!r})\n"
    script.write_text(begin + _UNSEEN)
    few = ("--min-size", "4096")
    done = zygotes.of(name).run(str(script), cwd=tmp_path, options=few, reported=True)
    (advice,) = [row for row in done.report["advice"] if row["kind"] == "ndarray"]
    assert (advice["file"], advice["line"], advice["count"]) == (str(script), 7, 2), done.stderr
    assert advice["text"].startswith("X never came to the backend, so here and in line 9 NumPy itself works.")
    script = tmp_path / "followed.py"
    script.write_text(begin + _UNSEEN.replace("Y = X", "X = np.asarray(X); Y = X"))
    followed = zygotes.of(name).run(str(script), cwd=tmp_path, options=few, reported=True)
    assert [row for row in followed.report["advice"] if row["kind"] == "ndarray"] == []
    assert followed.stdout == done.stdout


_WINDOWS = """
import array, ctypes, sys, tempfile
import numpy as np
n = 9000
buf, arr = np.frombuffer(bytearray(8 * n)), np.asarray(array.array("d", bytes(8 * n)))
ct, field = np.ctypeslib.as_array((ctypes.c_double * n)()), np.zeros(n, "i4,f8")["f1"]
file = tempfile.NamedTemporaryFile(suffix=".npy")
np.save(file.name, np.ones(n))
mapped = np.asarray(np.load(file.name, mmap_mode="r+"))
if "follow" in sys.argv:
    buf, arr, ct, field, mapped = np.array(buf), np.array(arr), np.array(ct), np.array(field), np.array(mapped)
elif "asarray" in sys.argv:
    buf, arr, ct, field, mapped = map(np.asarray, (buf, arr, ct, field, mapped))
print((buf + 1).sum(), (arr + 1).sum(), (ct + 1).sum(), (field + 1).sum(), (mapped + 1).sum())
"""


def test_of_windows_it_is_said_what_makes_arrays_of_them(tmp_path: Path, zygotes: Zygotes) -> None:
    """``np.asarray`` leaves them where they are, so that is no advice."""
    name = next((b for b in ("torch", "tensorflow") if _installed(b)), None)
    if name is None:
        pytest.skip("needs a library that is not NumPy")
    script = tmp_path / "main.py"
    script.write_text(_WINDOWS)
    told = {}
    for word in ("none", "asarray", "follow"):
        done = zygotes.of(name).run(str(script), word, cwd=tmp_path, options=("--min-size", "4096"), reported=True)
        told[word] = [row["text"] for row in done.report["advice"] if row["kind"] == "ndarray"]
        assert done.stdout.split() == ["9000.0"] * 4 + ["18000.0"]
    (text,) = told["none"]
    assert text.startswith("field, mapped never came to the backend, so here NumPy itself works.")
    assert text.endswith("x = np.array(x).")
    assert (told["asarray"], told["follow"]) == ([text], [])


def test_a_program_that_met_no_array_hears_why(tmp_path: Path, zygotes: Zygotes) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "main.py").write_text("import numpy\nprint(numpy.pi)\n")
    done = zygotes.of("numpy").run("../main.py", cwd=tmp_path / "sub", options=("--rng", "device"), reported=True)
    assert "no NumPy call met an array" in done.stderr
    assert "np.asarray" not in done.stderr  # there is no ndarray to make an array of
    assert "random arrays, where the program draws any" in done.stderr


def test_what_compiled_code_asks_for_is_counted_and_stops_nothing(tmp_path: Path, zygotes: Zygotes) -> None:
    """An ndarray that a library made, indexed with an array of the backend's, reaches nothing but ``__array__``."""
    name = next((b for b in ("torch", "tensorflow", "jax") if _installed(b)), None)
    if name is None:
        pytest.skip("needs a library that is not NumPy")
    libraries = tmp_path / "site-packages"
    libraries.mkdir()
    (libraries / "maker.py").write_text("import numpy\nnumbers = numpy.arange(4)\n")
    more = (
        f"np.testing.assert_equal(x, x)\nimport sys; sys.path.append({str(libraries)!r}); from maker import numbers\n"
        "key = x.astype(int)[:2]\n"
    )
    for i, does in enumerate(("numbers[key]", "numbers.take(key)")):
        script = tmp_path / f"main{i}.py"
        script.write_text(f"{WORK}{more}print({does})\n")

        options = ("--min-size", "0", "--on-fallback", "error")
        done = zygotes.of(name).run(str(script), cwd=tmp_path, options=options, reported=True)
        assert (done.code, done.stdout) == (0, "[0 0]\n")
        told = [row["why"] for row in done.report["transfers"] if row["line"] == 7]
        # Arrays of JAX and TensorFlow, which are immutable, go to the host with all views of their memory.
        known = "asked for an ndarray", "its memory is shared on the host"
        assert any(why.endswith(known) for why in told), done.report["transfers"]


def _installed(name: str) -> bool:
    from arraydispatch.backends import loader

    return name in loader.available()


# -- the live line -----------------------------------------------------------------------------------------------------


LONG = "import sys, time\nfor i in range(30):\n    y = y + 1\n    print(f'row {i}', flush=True)\n    time.sleep(0.06)\nprint('end')\n"


@pytest.fixture
def quick(tmp_path: Path) -> dict[str, str]:
    """The line after a quarter of a second instead of five, and the first report after a half instead of two."""
    (tmp_path / "sitecustomize.py").write_text(
        "from arraydispatch.launcher import session\nsession._AFTER, session._FIRST_SAVE = 0.25, 0.5\n"
    )
    return {**ENV, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]), "TERM": "xterm-256color"}


@POSIX
@pytest.mark.slow
def test_a_line_at_the_bottom_of_a_terminal(tmp_path: Path, quick: dict[str, str]) -> None:
    """The program's rows scroll above the line, which is gone at the end, as if it had never been."""
    import fcntl
    import pty
    import struct
    import termios

    pyte = pytest.importorskip("pyte")
    rows, columns = 12, 70
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    process = subprocess.Popen(
        _command(str(_script(tmp_path, LONG))), env=quick, stdout=slave, stderr=slave, stdin=slave
    )
    os.close(slave)
    screen = pyte.HistoryScreen(columns, rows, history=500)
    stream = pyte.ByteStream(screen)
    lines = []
    while True:
        try:
            data = os.read(master, 4096)
        except OSError:  # the other side is closed
            break
        if not data:
            break
        stream.feed(data)
        lines.append(screen.display[-1].rstrip())
    os.close(master)
    assert process.wait(timeout=60) == 0
    live = [line for line in lines if line.startswith("arraydispatch 0:0")]
    assert live
    assert "array calls" in live[-1]
    assert "at main.py:" in live[-1]
    left = ["".join(cell.data for _, cell in sorted(row.items())).rstrip() for row in screen.history.top]
    left += [line.rstrip() for line in screen.display]
    printed = [line for line in left if line]
    assert printed[:31] == [*(f"row {i}" for i in range(30)), "end"]
    assert all(line.startswith("arraydispatch: ") or "arraydispatch 0:" not in line for line in printed)


@POSIX
def test_no_row_is_lost_wherever_the_cursor_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    pyte = pytest.importorskip("pyte")
    monkeypatch.setattr(session, "_AFTER", 0.0)
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((70, 12)))
    rows = [f"row {i}" for i in range(30)]
    written = [part for row in rows for part in (row, "\n")]
    for before in range(len(written)):  # this many writes, the line, the other writes
        screen = pyte.HistoryScreen(70, 12, history=500)
        stream = pyte.Stream(screen)
        monkeypatch.setattr(session.Progress, "_write", lambda _, text, to=stream: to.feed(text.replace("\n", "\r\n")))
        line = session.Progress(Profile())
        for part in [*written[:before], None, *written[before:]]:
            line.show() if part is None else stream.feed(part.replace("\n", "\r\n"))
        assert screen.display[-1].startswith("arraydispatch 0:00")
        line.end()
        left = ["".join(cell.data for _, cell in sorted(row.items())).rstrip() for row in screen.history.top]
        assert [text for text in [*left, *(text.rstrip() for text in screen.display)] if text] == rows, before


@pytest.mark.slow
def test_none_in_a_pipe(tmp_path: Path, quick: dict[str, str]) -> None:
    done = _run(_script(tmp_path, LONG), env=quick)
    assert "\x1b" not in done.stdout + done.stderr
    assert done.stderr.count("arraydispatch") == 1
    assert done.stdout.splitlines() == [*(f"row {i}" for i in range(30)), "end"]


def test_a_dumb_terminal_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal:
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stderr", Terminal())
    for term, possible in (("dumb", False), ("", False), ("xterm", os.name == "posix")):
        monkeypatch.setenv("TERM", term)
        assert session.Progress.possible() is possible


# -- what it costs in time ---------------------------------------------------------------------------------------------


def test_the_report_waits_for_no_thread_of_its_own(tmp_path: Path) -> None:
    start = time.monotonic()
    done = _run(_script(tmp_path, "import threading\nprint(threading.active_count())\n"))
    assert done.stdout == "1\n"
    assert time.monotonic() - start < 60


def test_compare_runs_plain_python_first(tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text(
        "import sys\nimport numpy as np\nprint(np.ones(3).sum(), sys.argv[1:])\n"
        "with open('ran', 'a') as stream:\n    stream.write('x')\n"
    )
    command = _command("--backend", "numpy", "--compare", str(script), "a")
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=ENV, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "3.0 ['a']\n"
    assert (tmp_path / "ran").read_text() == "xx"
    assert re.search(r" s, \d+\.\d\d times as fast as plain Python \(whole processes: ", done.stderr.splitlines()[0])


def test_compare_says_where_there_is_nothing_to_compare(tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text("raise SystemExit(3)\n")
    command = _command("--backend", "numpy", "--compare")
    done = subprocess.run([*command, str(script)], capture_output=True, text=True, timeout=120, env=ENV)
    assert done.returncode == 3
    assert "plain Python ended with exit code 3; there is nothing to compare" in done.stderr
    done = subprocess.run([*command, "-"], capture_output=True, text=True, input="1", timeout=120, env=ENV)
    assert done.returncode == 2
    assert "--compare runs the program twice" in done.stderr


def test_a_reduction_in_a_block_has_the_elements_of_what_it_reduces(tmp_path: Path, zygotes: Zygotes) -> None:
    work = "import numpy as np\na = np.ones((50_000, 2))\nfor i in range(5):\n    (a * 2).sum()\n"
    (tmp_path / "main.py").write_text(work)
    (tmp_path / "larger.py").write_text(work + "large = np.ones(1_000_000)\nlarge *= 2\n")
    done = zygotes.of("numpy").run("main.py", cwd=tmp_path, reported=True)
    assert [(row["calls"], row["elements"]) for row in done.report["computed"] if row["how"] == "block"] == [
        (10, 1_000_000)
    ]
    if not loader.installed("torch"):
        pytest.skip("needs PyTorch")
    small = "calls on arrays of fewer than 262,144 elements"
    done = zygotes.of("torch").run("main.py", cwd=tmp_path)
    assert f"NumPy computed everything: 10 {small}, in 5 fused blocks" in done.stderr
    assert "; --min-size 0 has torch compute" in done.stderr
    done = zygotes.of("torch").run("larger.py", cwd=tmp_path)
    of = "elements in arrays of 262,144 or more and in fused blocks"
    assert f"torch computed 50 % of the {of}; NumPy computed 10 {small}, in 5 fused blocks" in done.stderr
