"""Scripts in several processes that share a mesh: ``arraydispatch run --processes``."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from arraydispatch.common.errors import OptionError
from arraydispatch.launcher import ranks
from arraydispatch.launcher.commands.cli import main

ROOT = Path(__file__).resolve().parents[2]
BEGIN = """
import os, sys, time
import numpy as np
me = int(os.environ.get("ARRAYDISPATCH_PROCESS", 0))
u = np.arange(512.0 * 512).reshape(512, 512)
print(u.sum())
"""
WHOLE = (
    BEGIN
    + """
for _ in range(10):
    u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
print("%.12g %.12g %.12g" % (u.sum(), u[256, 256], np.median(u)), len(u[u > 100]))
v = np.linspace(0, 1, 512) @ u
print("%.10g" % v.max())
os.mkdir("made")
np.save("made/u.npy", u)
with open("made/log.txt", "a") as log:
    log.write("one line\\n")
print(np.load("made/u.npy").shape, open("made/log.txt").read())
os.link("made/log.txt", "made/linked.txt")
print(open("made/linked.txt").read())
os.remove("made/linked.txt")
os.rename("made/log.txt", "made/kept.txt")
"""
)


def _environment(**more: str) -> dict[str, str]:
    ours = ("XLA_FLAGS", "JAX_NUM_CPU_DEVICES", "NPROC", "PJRT_NPROC")
    return {**{name: value for name, value in os.environ.items() if name not in ours}, "PYTHONPATH": str(ROOT), **more}


def _begun(folder: Path, code: str, *options: str, name: str = "script.py", **more: str) -> subprocess.Popen[str]:
    (folder / name).write_text(code)
    return subprocess.Popen(
        [sys.executable, "-m", "arraydispatch", "run", *options, name], cwd=folder, env=_environment(**more),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def _done(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        out, error = process.communicate(timeout=200)
    finally:
        process.kill()
    return process.returncode, out, error


def _run(folder: Path, code: str, *options: str, **more: str) -> tuple[int, str, str]:
    return _done(_begun(folder, code, *options, **more))


def _none_left(folder: Path) -> bool:
    """Whether no process runs a script of this folder any more."""
    for entry in Path("/proc").glob("[0-9]*/cwd"):
        try:
            if entry.resolve() == folder.resolve() and int(entry.parent.name) != os.getpid():
                return False
        except OSError:
            continue
    return True


@pytest.fixture
def _jax() -> None:
    pytest.importorskip("jax")


@pytest.mark.usefixtures("_jax")
@pytest.mark.parametrize("count", [2, pytest.param(4, marks=pytest.mark.long)])
def test_prints_and_writes_what_one_process_does(count: int, tmp_path: Path) -> None:
    plain, folder = tmp_path / "plain", tmp_path / "several"
    plain.mkdir(), folder.mkdir()
    (plain / "script.py").write_text(WHOLE)
    wanted = subprocess.run([sys.executable, "script.py"], cwd=plain, capture_output=True, text=True, check=True).stdout
    code, out, error = _run(folder, WHOLE, "--processes", str(count), "--report", "r.json")
    assert (code, out) == (0, wanted), error
    assert sorted(path.name for path in (folder / "made").iterdir()) == ["kept.txt", "u.npy"]
    assert (folder / "made" / "kept.txt").read_text() == "one line\n"
    assert (folder / "made" / "u.npy").read_bytes()[:100] == (plain / "made" / "u.npy").read_bytes()[:100]
    data = json.loads((folder / "r.json").read_text())
    assert data["device"] == f"mesh:{count}"
    assert any(each["kind"] == "collective-permute" for row in data["programs_on_mesh"] for each in row["collectives"])


MEMORY = """
import re
import numpy as np

def memory(field):
    return int(re.search(field + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) << 10

np.sin(np.ones(1 << 17)).sum().item()
before, n = memory("VmRSS"), 1 << 25
x = np.linspace(0.0, 1.0, n)
print("%.9g %.9g" % (np.sin(x).sum(), (np.cos(x) * 2 + x).mean()))
total = x.nbytes * 1.2  # the compiler takes some more
print("memory", LIMIT)
t, noise = np.arange(0.0, 0.5 * n, 0.5), np.random.default_rng(0).random(n)
y = np.sin(x) * 2 + noise
print("%.9g %.9g %.9g" % (y.sum(), (x * noise).mean(), np.sqrt(t).max()))
total = sum(a.nbytes for a in (x, t, noise, y))
print("memory", LIMIT)
"""


@pytest.mark.usefixtures("_jax")
def test_memory_of_a_process_is_that_of_its_part(tmp_path: Path) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("inapplicable: the system does not tell a process's peak memory")
    (tmp_path / "plain.py").write_text(MEMORY.replace("LIMIT", "True"))
    plain = subprocess.run([sys.executable, "plain.py"], cwd=tmp_path, capture_output=True, text=True, check=True)
    limit = "(more := memory('VmHWM') - before) < 1.3 * total / 2 or more / total"
    code, out, error = _run(tmp_path, MEMORY.replace("LIMIT", limit), "--processes", "2", "--all-ranks")
    assert code == 0, error
    for rank in (0, 1):
        said = [line.removeprefix(f"[{rank}] ") for line in out.splitlines() if line.startswith(f"[{rank}]")]
        assert said == plain.stdout.splitlines()


FILES = """
import glob, os, pathlib, shutil, tempfile
import numpy as np
x = np.linspace(0, 1, 300000)
np.save("x.npy", x)
print(os.path.exists("x.npy"), os.path.getsize("x.npy"), os.path.exists("y.npy"), os.stat("x.npy").st_size)
shutil.copy("x.npy", "y.npy")
os.replace("y.npy", "z.npy")
print(sorted(glob.glob("*.npy")), np.load("z.npy").shape, os.path.exists("y.npy"))
late()
print(os.path.exists("d"), open("old.txt").read())
pathlib.Path("d/e").mkdir(parents=True, exist_ok=True)
(pathlib.Path("d") / "e" / "f.txt").write_text("hello")
(pathlib.Path("d") / "g").touch()
print([sorted(names) for _, *rest in sorted(os.walk("d")) for names in rest], os.listdir("d/e"), os.path.isdir("d/e"))
try:
    os.mkdir("d")
except FileExistsError as error:
    print(error)
try:
    open("d/none/f.txt", "w")
except FileNotFoundError as error:
    print(error)
shutil.copytree("d", "copy")
shutil.rmtree("d")
print(os.path.exists("d"), sorted(os.listdir(".")))
os.makedirs("d")
print(os.listdir("d"), pathlib.Path("copy/e/f.txt").read_text())
with open("old.txt", "w") as file:
    file.write("first ")
with open("old.txt", "a") as file:
    file.write("second")
print(open("old.txt").read())
with tempfile.NamedTemporaryFile("w", dir=".", delete=False) as file:
    file.write("whole")
os.replace(file.name, "old.txt")
print(open("old.txt").read(), sorted(os.listdir(".")))
with tempfile.TemporaryDirectory() as folder:
    np.savetxt(os.path.join(folder, "t.txt"), x[:3])
    print(np.loadtxt(os.path.join(folder, "t.txt")).shape, os.listdir(folder))
print(os.path.exists(folder))
held = np.memmap("m.dat", float, "w+", shape=(1000, 100))
held[:] = 3
held.flush()
print(np.memmap("m.dat", float, "r", shape=(1000, 100)).sum())
os.remove("m.dat")
os.unlink("kept.txt")
try:
    os.remove("m.dat")
except FileNotFoundError as error:
    print(error)
os.chmod("x.npy", 0o600)
print(oct(os.stat("x.npy").st_mode), np.sin(np.load("x.npy")).sum() > 0, os.access("x.npy", os.R_OK))
"""


BY_MODULES = """
import bz2, concurrent.futures, importlib, logging.handlers, os, pathlib, shutil, sys, tarfile
import numpy as np
handler = logging.handlers.RotatingFileHandler("rot.log", maxBytes=40, backupCount=2)
log = logging.getLogger("rot")
log.addHandler(handler)
for step in range(12):
    log.warning("step %d", step)
handler.close()
print([(path.name, path.read_text()) for path in sorted(pathlib.Path(".").glob("rot.log*"))])
with bz2.open("z.bz2", "wt") as file:
    file.write("packed")
late()
os.makedirs("tree/branch")
np.save("tree/branch/leaf.npy", np.arange(3.0))
with tarfile.open("t.tar", "w") as archive:
    archive.add("tree")
os.rename("tree", "wood")
late()
print(bz2.open("z.bz2", "rt").read(), tarfile.open("t.tar").getnames(), os.path.exists("tree"), np.load("wood/branch/leaf.npy"))
shutil.move("wood", "moved")
print(sorted(str(path) for path in pathlib.Path("moved").rglob("*")), os.path.exists("wood"))
late()
os.symlink("old.txt", "named")
os.symlink("moved", "there")
os.link("old.txt", "same")
print(os.path.samefile("same", "old.txt"))
os.mkfifo("pipe")
for name in ("same", "pipe"):
    os.remove(name)
print(os.readlink("named"), os.path.islink("named"), open("named").read(), os.listdir("there"), os.path.islink("old.txt"))
for wrong in (lambda: os.rename("none", "other"), lambda: os.link("none", "other"), lambda: os.symlink("old.txt", "named"), lambda: os.link("old.txt", "named")):
    try:
        wrong()
    except OSError as error:
        print(type(error).__name__, error)
with open("written.py", "w") as file:
    file.write("import numpy as np\\nvalue = np.ones(3).sum()\\n")
sys.path.insert(0, os.getcwd())
importlib.invalidate_caches()
import written
print(written.value, os.path.relpath(written.__file__))
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    list(pool.map(os.remove, ["named", "there", "kept.txt"]))
    list(pool.map(shutil.copy, ["old.txt"] * 3, ["c1", "c2", "c3"]))
shutil.rmtree("__pycache__", ignore_errors=True)
print(sorted(set(os.listdir(".")) - {"__pycache__"}))
shutil.move("c1", "old.txt")
open("old.txt", "w").write("whole")
"""


@pytest.mark.usefixtures("_jax")
@pytest.mark.parametrize("files", [FILES, BY_MODULES], ids=["by program", "by modules"])
def test_each_rank_finds_the_files_that_it_wrote(files: str, tmp_path: Path) -> None:
    """Only the first rank's standard output is shown, so each compares what it would have printed; the second is late."""
    (tmp_path / "plain").mkdir()
    (tmp_path / "ranks").mkdir()
    wanted: list[str] = []
    for name in ("plain", "ranks"):
        folder = tmp_path / name
        for kept in ("old.txt", "kept.txt"):
            (folder / kept).write_text("first ")
        if name == "plain":
            (folder / "script.py").write_text("def late(): pass\n" + files)
            wanted = subprocess.run([sys.executable, "script.py"], cwd=folder, capture_output=True, text=True, check=True).stdout.splitlines()  # fmt: skip
        else:
            said = """import os, sys, time
said = []
def print(*what):
    said.append(' '.join(map(str, what)))

def late(): time.sleep(int(os.environ["ARRAYDISPATCH_PROCESS"]))
"""
            tell = f"assert said == {wanted!r}, [pair for pair in zip(said, {wanted!r}) if pair[0] != pair[1]]\n"
            code, _out, error = _run(folder, said + files + tell, "--processes", "2")
            assert code == 0, error
    both = [sorted(path.name for path in (tmp_path / name).iterdir()) for name in ("plain", "ranks")]
    assert both[0] == both[1]
    assert (tmp_path / "ranks" / "old.txt").read_text() == "whole"


INPUT = """
import sys
import numpy as np
print(sys.stdin.isatty(), sys.stdin.name, sys.stdin.fileno())
n = int(input("how many? "))
print(np.array([next(sys.stdin).split() for _ in range(n)], float).sum(), sys.stdin.readline())
print(len(sys.stdin.read(30000)), np.loadtxt(sys.stdin).sum())
try:
    input()
except EOFError as error:
    print(error)
print(repr(open(0).read()))
"""


@pytest.mark.usefixtures("_jax")
@pytest.mark.parametrize("script", ["script.py", "-"])
def test_standard_input_is_the_same_in_each_rank(script: str, tmp_path: Path) -> None:
    given = "3\n" + "1 2\n" * 3 + "next\n" + "15\n" * 20000
    if script == "-":
        given = "import sys\nprint(__name__, sys.argv, repr(sys.stdin.read()))\n"
    else:
        (tmp_path / script).write_text(INPUT)
    wanted = subprocess.run([sys.executable, script], cwd=tmp_path, input=given, capture_output=True, text=True, check=True).stdout  # fmt: skip
    run = subprocess.run(
        [sys.executable, "-m", "arraydispatch", "run", "--processes", "2", "--all-ranks", "--threads", "1", script],
        cwd=tmp_path, env=_environment(), input=given, capture_output=True, text=True, timeout=200, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    for rank in (0, 1):
        said = [line.removeprefix(f"[{rank}] ") for line in run.stdout.splitlines() if line.startswith(f"[{rank}]")]
        assert said == wanted.splitlines()


@pytest.mark.usefixtures("_jax")
@pytest.mark.long
def test_random_numbers_are_the_same_everywhere(tmp_path: Path) -> None:
    code = (
        BEGIN
        + """
import random
rng = np.random.default_rng()
np.random.seed()
print("drawn", np.random.random(), rng.integers(10**9), np.random.random(), np.random.RandomState().random(), random.random(), hash("word"))
print("drawn", np.random.Generator(np.random.PCG64()).random(), np.random.SeedSequence().entropy, rng.random((300, 300)).sum())
"""
    )
    done, out, error = _run(tmp_path, code, "--processes", "2", "--all-ranks", "--threads", "1")
    assert done == 0, error
    lines = [re.sub(r"^\[\d\] ", "", line) for line in out.splitlines() if "drawn" in line]
    assert len(lines) == 4
    assert len(set(lines)) == 2, out


@pytest.mark.usefixtures("_jax")
@pytest.mark.parametrize(
    ("code", "said", "ends"),
    [
        ("if me == 1: raise ValueError('bad value')", r"rank 1 of 2 ended with exit code 1 \(ValueError: bad value\) at .*script.py:8", 1),
        ("if me == 1: os.kill(os.getpid(), 9)", r"rank 1 of 2 was killed by SIGKILL, last seen at .*script.py", 137),
        ("print(np.sin(u).sum()) if me else None\nprint(np.cos(u).sum())", r"part ways: rank 0 is at .*script.py:9 and rank 1 is at .*script.py:8", 1),
        ("np.random.default_rng(time.time_ns())\ntime.sleep(5)", r"part ways: rank 0 is at .*script.py:8 and rank 1 is at .*script.py:8", 1),
        pytest.param("if me == 0: raise ValueError('bad value')", r"rank 0 of 2 ended with exit code 1 \(ValueError: bad value\) at .*:8", 1,
            marks=pytest.mark.long),
        pytest.param("time.sleep(2 * me)\nif me == 1: sys.exit(0)", r"part ways: rank 1 has ended and rank 0 is at .*script.py:10", 1,
            marks=pytest.mark.long),
        pytest.param("if me == 1: sys.exit(5)", r"rank 1 of 2 ended with exit code 5 at", 5, marks=pytest.mark.long),
    ],
)  # fmt: skip
def test_all_end_with_the_rank_and_its_line(code: str, said: str, ends: int, tmp_path: Path) -> None:
    start = time.monotonic()
    done, _out, error = _run(tmp_path, f"{BEGIN}\n{code}\nprint((u * 2).sum(), u.max())\n", "--processes", "2")
    assert done == ends, error
    assert re.search(said, error), error
    assert time.monotonic() - start < 60
    assert _none_left(tmp_path)


@pytest.mark.usefixtures("_jax")
@pytest.mark.parametrize("signalled", [signal.SIGTERM, signal.SIGKILL])
@pytest.mark.long
def test_the_command_itself_is_ended(signalled: signal.Signals, tmp_path: Path) -> None:
    process = _begun(tmp_path, f"{BEGIN}\nprint('up', flush=True)\ntime.sleep(100)\n", "--processes", "2")
    with process:
        assert process.stdout is not None
        for line in process.stdout:
            if line == "up\n":
                break
        process.send_signal(signalled)
        process.wait(20)
    limit = time.monotonic() + 20
    while not _none_left(tmp_path) and time.monotonic() < limit:
        time.sleep(0.2)
    assert _none_left(tmp_path)


@pytest.mark.usefixtures("_jax")
@pytest.mark.long
def test_one_of_four_is_killed_and_a_run_goes_on_from_its_file(tmp_path: Path) -> None:
    code = (
        BEGIN
        + """
start = 0
if os.path.exists("state.npz"):
    held = np.load("state.npz")
    u, start = held["u"], int(held["step"])
for step in range(start, 12):
    u = u * 0.5 + 1
    if step == 6 and me == int(os.environ["KILLED"]):
        os.kill(os.getpid(), 9)
    total = u.sum()
    np.savez("part.npz", u=u, step=step + 1)
    os.replace("part.npz", "state.npz")
print(total)
"""
    )
    for turn in range(20):
        folder = tmp_path / str(turn)
        folder.mkdir()
        start = time.monotonic()
        done, _out, error = _run(folder, code, "--processes", "4", KILLED=str(turn % 4))
        assert done == 137
        assert f"rank {turn % 4} of 4 was killed by SIGKILL" in error, error
        assert time.monotonic() - start < 60
        assert _none_left(folder)
        if turn % 10 == 0:
            one = _run(folder, code, "--processes", "4", KILLED="-1")
            (folder / "state.npz").unlink()
            other = _run(folder, code, "--processes", "4", KILLED="-1")
            assert one[0] == other[0] == 0
            assert one[1] == other[1]


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _variables(launcher: str, number: int, port: int) -> dict[str, str]:
    """What a launcher sets for one of two processes on this machine."""
    if launcher == "ours":
        return {ranks.NUMBER: str(number), ranks.COUNT: "2", ranks.ADDRESS: f"127.0.0.1:{port}"}
    if launcher == "torchrun":
        return {"RANK": str(number), "WORLD_SIZE": "2", "LOCAL_RANK": str(number), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}  # fmt: skip
    if launcher == "Kubernetes":
        return {"JOB_COMPLETION_INDEX": str(number), ranks.COUNT: "2", ranks.ADDRESS: f"127.0.0.1:{port}"}
    if launcher == "Open MPI":
        return {
            "OMPI_COMM_WORLD_RANK": str(number), "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_LOCAL_RANK": str(number),
            "OMPI_MCA_orte_hnp_uri": f"{4096 * port}.0;tcp://127.0.0.1:{port}",
        }  # fmt: skip
    return {
        "SLURM_JOB_ID": str(port), "SLURM_STEP_NODELIST": "localhost", "SLURM_NTASKS": "2", "SLURM_PROCID": str(number),
        "SLURM_LOCALID": str(number), "SLURM_STEP_NUM_NODES": "1",
    }  # fmt: skip


@pytest.mark.usefixtures("_jax")
@pytest.mark.parametrize(
    "launcher",
    ["ours", *[pytest.param(name, marks=pytest.mark.long) for name in ("torchrun", "Open MPI", "Slurm", "Kubernetes")]],
)
def test_processes_that_a_launcher_started(launcher: str, tmp_path: Path) -> None:
    port = _free_port()
    begun = [
        _begun(tmp_path, BEGIN, "--processes", "auto", "--threads", "1", **_variables(launcher, number, port))
        for number in range(2)
    ]
    (first, out, error), (second, silent, other) = [_done(process) for process in begun]
    assert (first, second) == (0, 0), error + other
    assert (out, silent) == ("34359607296.0\n", "")
    assert "on mesh:2" in error


@pytest.mark.usefixtures("_jax")
@pytest.mark.long
def test_ranks_of_different_scripts(tmp_path: Path) -> None:
    port = _free_port()
    begun = [
        _begun(tmp_path, f"{BEGIN}\nprint({number})", "--processes", "auto", name=f"script{number}.py", **_variables("ours", number, port))
        for number in range(2)
    ]  # fmt: skip
    for code, _out, error in map(_done, begun):
        assert code != 0
        assert (
            re.search(r"rank \d has the script script\d.py with checksum \w+, and rank \d has", error)
            or "UNAVAILABLE" in error
        ), error


@pytest.mark.usefixtures("_jax")
def test_a_coordinator_address_that_is_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _out, error = _run(tmp_path, BEGIN, "--processes", "auto", **_variables("ours", 0, port))
    assert code == 2
    assert f"the coordinator's address 127.0.0.1:{port} is taken by another program" in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (["--processes", "0", "heat.py"], "must be auto or a positive integer"),
        (["--processes", "two", "heat.py"], "must be auto or a positive integer"),
        (["--all-ranks", "heat.py"], "--all-ranks needs --processes"),
        (["--processes", "2", "nothere.py"], "there is no script"),
        (["--processes", "2", "--device", "cpu", "heat.py"], "exclude each other"),
        (["--processes", "auto", "heat.py"], "finds no launcher's variables; it knows"),
    ],
)
def test_wrong_usage(
    argv: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT / "tests" / "launcher" / "corpus")
    for name in (ranks.NUMBER, "RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", "JOB_COMPLETION_INDEX"):
        monkeypatch.delenv(name, raising=False)
    assert main(["run", *argv]) == 2
    out, error = capsys.readouterr()
    assert out == ""
    assert says in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        ({"RANK": "1", "WORLD_SIZE": "4", "MASTER_ADDR": "node0", "MASTER_PORT": "29500", "LOCAL_RANK": "1"}, (1, 4, "node0:29501", 1)),
        ({"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4"}, (3, 4, None, None)),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "2", "SLURM_JOB_ID": "7"}, (0, 2, None, None)),
        ({ranks.NUMBER: "0", ranks.COUNT: "1", ranks.ADDRESS: "h:1", "RANK": "9"}, (0, 1, "h:1", None)),
        (
            {"JOB_COMPLETION_INDEX": "2", ranks.COUNT: "4", ranks.ADDRESS: "heat-0.pods:2345", "KUBERNETES_SERVICE_HOST": "10.0.0.1"},
            (2, 4, "heat-0.pods:2345", None),
        ),
        ({"JOB_COMPLETION_INDEX": "2"}, "Kubernetes set JOB_COMPLETION_INDEX, but not ARRAYDISPATCH_PROCESSES; --processes auto needs both; set it in"),
        ({"RANK": "1"}, "torchrun set RANK, but not WORLD_SIZE"),
        ({"RANK": "4", "WORLD_SIZE": "4", "MASTER_ADDR": "a"}, "RANK=4 must be less than WORLD_SIZE=4"),
        ({"RANK": "x", "WORLD_SIZE": "4", "MASTER_ADDR": "a"}, "must be numbers of processes"),
        ({"RANK": "1", "WORLD_SIZE": "4", "MASTER_ADDR": "a", "MASTER_PORT": "p"}, "MASTER_PORT='p' is no port"),
        ({ranks.NUMBER: "0", ranks.COUNT: "1", ranks.ADDRESS: "h"}, "must be HOST:PORT"),
        ({}, "finds no launcher's variables"),
    ],
)  # fmt: skip
def test_variables_of_launchers(variables: dict[str, str], wanted: Any) -> None:
    if isinstance(wanted, str):
        with pytest.raises(OptionError, match=re.escape(wanted)):
            ranks.found(variables)
    else:
        rank = ranks.found(variables)
        assert (rank.number, rank.count, rank.address, rank.device) == wanted
        assert not rank.local
