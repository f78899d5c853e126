"""The command line: what is wrong is said in one sentence with exit code 2, before anything runs."""

from __future__ import annotations

import csv
import json
import os
import pydoc
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

import arraydispatch
from arraydispatch._core import handles
from arraydispatch.backends import loader
from arraydispatch.launcher.commands import cli, environment, parsers
from arraydispatch.launcher.commands.cli import _split, main
from arraydispatch.launcher.options import Choices
from arraydispatch.runtime import hardware
from tests.launched import Done, Zygotes

CORPUS = Path(__file__).parent.parent / "launcher" / "corpus"
ROOT = Path(__file__).parents[2]
ENV = {**os.environ, "PYTHONPATH": str(ROOT), "ARRAYDISPATCH_BACKEND": "numpy"}


def _command(*args: str, **kwargs: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "arraydispatch", *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **{"env": ENV, "cwd": CORPUS, **kwargs})


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ([], "no script given"),
        (["nothere.py"], "there is no script 'nothere.py'"),
        (["data_dir"], "has no __main__.py"),
        (["--backend", "nope", "heat.py"], "choose one of: numpy"),
        (["--backend"], "expected one argument"),
        (["--device", "cuda:99", "heat.py"], "it has: cpu"),
        (["--precision", "17", "heat.py"], "none"),
        (["--precision", "half", "heat.py"], "argument --precision: invalid choice: 'half' (choose from"),
        (["--report=out.txt", "heat.py"], "must end in one of: .html, .json, .csv"),
        (["--report", "out.txt", "heat.py"], "must end in one of: .html, .json, .csv"),
        (["--report", "/no/such/folder/out.json", "heat.py"], "cannot be written"),
        (["--execution", "quick", "heat.py"], "must be one of: eager, fused, compiled"),
        (["--execution", "fused", "--min-size", "0", "heat.py"], "exclude each other"),
        (["--execution", "quick", "heat.py"], "must be one of: eager"),
        (["--on-fallback", "loud", "heat.py"], "invalid choice"),
        (["--unknown", "heat.py"], "unrecognized arguments: --unknown; see"),
        (["--bakend", "torch", "heat.py"], "unrecognized arguments: --bakend (did you mean '--backend'?)"),
        (["--precison=32", "heat.py"], "(did you mean '--precision'?)"),
        (
            ["--backend", "pytorch", "heat.py"],
            "no backend named 'pytorch' (did you mean 'torch'?); choose one of: numpy",
        ),
        (["--backend", "cupy", "heat.py"], "no backend named 'cupy'; choose one of: numpy"),
        (
            ["--report", "out", "heat.py"],
            "If 'out' is the file of --report, it must end in one of: .html, .json, .csv.",
        ),
        (["--include", "no_such_package", "heat.py"], "neither a path nor an installed package"),
    ],
)
def test_wrong_usage(
    argv: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(CORPUS)
    monkeypatch.setenv("ARRAYDISPATCH_BACKEND", "numpy")
    assert main(["run", *argv]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("arraydispatch: ")
    assert says in err
    assert err.count("\n") == 1


def test_missing_library(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    name = next(name for name in loader.KNOWN if name != "numpy")
    monkeypatch.setattr(loader, "_loaded", {})
    monkeypatch.setattr(loader, "installed", lambda _: False)
    assert main(["run", "--backend", name, str(CORPUS / "heat.py")]) == 2
    assert loader.KNOWN[name].install in capsys.readouterr().err


def test_no_and_unknown_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert main(["nonsense"]) == 2
    assert main(["rnu"]) == 2
    err = capsys.readouterr().err
    assert "no command 'nonsense'; choose one of: run, info, examples, coverage" in err
    assert "no command 'rnu' (did you mean 'run'?); choose one of" in err
    assert main(["--version"]) == 0
    assert arraydispatch.__version__ in capsys.readouterr().out
    assert main(["--help"]) == 0


@pytest.mark.parametrize("argv", [["-m", "no_such_module"], ["-m", "app.nothing"], ["-m", ".app"]])
def test_no_such_module(argv: list[str]) -> None:
    done = _command("run", *argv)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("arraydispatch: ")


@pytest.mark.parametrize(
    ("module", "stdin"), [(["timeit", "-n", "2", "-r", "3", "-s", "import numpy as np\nx = np.ones(9)", "np.sin(x)"], ""),
                          (["code"], "import numpy as np\nx = np.ones(9)\nfor _ in range(6): np.sin(x)\n\n")],
    ids=["timeit", "code"],
)  # fmt: skip
def test_code_that_a_module_of_pythons_runs_is_the_users(module: list[str], stdin: str, tmp_path: Path) -> None:
    done = _command("run", "--min-size", "0", "--report=r.json", "-m", *module, cwd=tmp_path, input=stdin)
    assert done.returncode == 0, done.stderr
    called = {row["function"]: row["count"] for row in json.loads((tmp_path / "r.json").read_text())["functions"]}
    assert called["np.sin"] == 6


@pytest.mark.parametrize(
    ("argv", "ours", "theirs"),
    [
        (["s.py", "--backend", "x"], [], ["s.py", "--backend", "x"]),
        (["--backend", "b", "s.py"], ["--backend", "b"], ["s.py"]),
        (["--backend=b", "--", "--s.py", "-x"], ["--backend=b"], ["--s.py", "-x"]),
        (["--report", "s.py", "a"], ["--report="], ["s.py", "a"]),
        (["--report", "r.json", "s.py"], ["--report=r.json"], ["s.py"]),
        (["--report", "--rng", "numpy", "-", "x"], ["--report=", "--rng", "numpy"], ["-", "x"]),
        (["--report", "-m", "mod", "-v"], ["--report=", "-m", "mod"], ["-v"]),
        (["-mmod", "--report", "r.json"], ["-mmod"], ["--report", "r.json"]),
    ],
)
def test_what_follows_the_script_is_the_scripts(argv: list[str], ours: list[str], theirs: list[str]) -> None:
    assert _split(argv) == (ours, theirs)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ([], ["--backend", "torch"], "--backend torch"),
        ([], ["x", "--backend=torch"], "--backend=torch"),
        ([], ["--verify", "x"], "--verify"),
        (["--backend", "numpy"], ["--backend", "torch"], None),
        ([], ["--device", "cuda"], None),  # the script names it
        ([], ["--other", "-m"], None),
    ],
)
def test_an_option_of_ours_after_the_script(
    before: list[str], after: list[str], said: str | None, tmp_path: Path
) -> None:
    script = tmp_path / "main.py"
    script.write_text("import sys\nprint(sys.argv[1:], '--device' in sys.argv)\n")
    done = _command("run", *before, str(script), *after)
    assert done.stdout == f"{after} {'--device' in after}\n"
    hint = "after the script belongs to the script; if it is meant for arraydispatch, put it before."
    hints = [line for line in done.stderr.splitlines() if hint in line]
    assert hints == ([f"arraydispatch: {said} {hint}"] if said else [])


@pytest.mark.parametrize("command", ["coverage --json", "coverage", "info", "info --json", "run --help", "--help"])
def test_a_reader_that_leaves_ends_it_quietly(command: str) -> None:
    code = (
        "import sys\nfrom arraydispatch.backends import loader\nloader.installed = lambda name: name == 'numpy'\n"
        "from arraydispatch.__main__ import main\nsys.exit(main())\n"
    )
    reader, writer = os.pipe()
    os.close(reader)
    arguments = [sys.executable, "-c", code, *command.split()]
    env = {key: value for key, value in ENV.items() if key != "PYTHONUNBUFFERED"}
    done = subprocess.run(arguments, stdout=writer, stderr=subprocess.PIPE, text=True, env=env, timeout=120)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.skipif(os.name != "posix", reason="inapplicable: signals of POSIX")
@pytest.mark.parametrize("where", ["numpy", "arraydispatch.launcher.runner"])
def test_interrupted_while_it_starts(where: str, tmp_path: Path) -> None:
    """Ctrl-C while a library is imported, before there is a script that it could belong to."""
    (tmp_path / "sitecustomize.py").write_text(
        "import importlib.abc, os, signal, sys\n"
        "class Finder(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == {where!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
    )
    env = {**ENV, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = _command("run", "heat.py", env=env)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "arraydispatch: interrupted\n")


def test_reports(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    done = _command("run", "--report", str(path), "heat.py")
    assert done.returncode == 0, done.stderr
    data = json.loads(path.read_text())
    assert data["backend"] == "numpy"
    assert data["calls_on_backend"] > 100
    assert {Path(row["file"]).name for row in data["lines"]} == {"heat.py"}
    assert "arraydispatch: NumPy computed everything: " in done.stderr
    assert "\n  numpy " in done.stderr
    table = tmp_path / "report.csv"
    assert _command("run", f"--report={table}", "heat.py").returncode == 0
    assert len(list(csv.DictReader(table.read_text().splitlines()))) > 3


def test_full_report_goes_to_stderr() -> None:
    plain = subprocess.run([sys.executable, "heat.py"], cwd=CORPUS, capture_output=True, text=True)
    done = _command("run", "--report", "heat.py")
    assert done.stdout == plain.stdout
    assert "np.multiply" in done.stderr


def test_including_a_package(tmp_path: Path) -> None:
    """A package outside the script's folder is the user's when it is named, and not otherwise."""
    (tmp_path / "site-packages" / "thing").mkdir(parents=True)
    (tmp_path / "site-packages" / "thing" / "__init__.py").write_text("import numpy\n")
    script = tmp_path / "project" / "main.py"
    script.parent.mkdir()
    script.write_text("import sys, thing\nprint(thing.numpy is sys.modules['numpy'])\n")
    env = {**ENV, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path / "site-packages")])}
    assert _command("run", str(script), env=env).stdout == "True\n"
    assert _command("run", "--include", "thing", str(script), env=env).stdout == "False\n"


def test_on_fallback(tmp_path: Path, zygotes: Zygotes) -> None:
    """``warn`` says each line once, ``error`` stops at the line, ``silent`` says nothing before the report."""
    script = tmp_path / "main.py"
    pytest.importorskip("scipy")
    script.write_text(
        "import numpy as np\nfrom scipy.special import mathieu_a\n"
        "for _ in range(3):\n    x = mathieu_a(1, np.ones(4))\nprint(x.dtype)\n"
    )
    name = next((name for name in loader.available() if name != "numpy"), None)
    if name is None:
        pytest.skip("needs a library other than NumPy")

    def run(policy: str) -> Done:
        return zygotes.of(name).run(str(script), cwd=tmp_path, options=("--min-size", "0", "--on-fallback", policy))

    stopped = run("error")
    assert stopped.code == 1
    assert "HostFallbackError" in stopped.stderr
    assert "line 4" in stopped.stderr
    for policy in ("warn", "silent"):
        done = run(policy)
        assert (done.code, done.stdout) == (0, "float64\n")


def test_interrupt_reports_what_ran(tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text("import time\nimport numpy as np\nnp.ones(3) + 1\nprint('ready', flush=True)\ntime.sleep(60)\n")
    path = tmp_path / "report.json"
    command = [sys.executable, "-m", "arraydispatch", "run", "--report", str(path), str(script)]
    with subprocess.Popen(command, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == -signal.SIGINT
        err = process.stderr.read()
    assert "KeyboardInterrupt" in err
    data = json.loads(path.read_text())
    assert data["calls_on_backend"] > 0
    assert data["complete"] is False


def test_full_traceback_on_request(tmp_path: Path) -> None:
    script = tmp_path / "main.py"
    script.write_text("import numpy as np\nnp.linalg.inv(np.ones((2, 3)))\n")
    package = str(Path(arraydispatch.__file__).parent)
    assert package not in _command("run", str(script)).stderr
    assert package in _command("run", str(script), env={**ENV, "ARRAYDISPATCH_TRACEBACK": "full"}).stderr


def test_info(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    """In a run of everything in a process of its own, which has to import all libraries."""
    if request.config.option.all:
        done = _command("info", "--json")
        assert done.returncode == 0, done.stderr
        told = done.stdout
    else:
        monkeypatch.setenv("ARRAYDISPATCH_BACKEND", "numpy")
        assert main(["info", "--json"]) == 0
        told = capsys.readouterr().out
    data = json.loads(told)
    assert data["default_backend"] == "numpy"
    rows = {row["backend"]: row for row in data["backends"]}
    assert rows.keys() == loader.KNOWN.keys()
    for name in loader.available():
        assert rows[name]["devices"][0].keys() >= {"name", "kind", "memory", "processor_count"}
        assert rows[name]["version"]
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["info"]) == 0
    table = capsys.readouterr().out
    assert all(name in table for name in loader.KNOWN)
    assert data["defaults"]["execution"] == Choices.of(None).execution  # that of a run without options
    assert (data["defaults"]["execution"] == "fused") is not bool(hardware.accelerators())
    assert data["compiled"] is handles.compiled
    for compiled in (True, False):
        monkeypatch.setattr(handles, "compiled", compiled)
        assert main(["info"]) == 0
        assert ("install a C compiler" in capsys.readouterr().out) is not compiled


def test_info_fits_80_columns_and_shows_every_install_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(loader, "installed", lambda name: name == "numpy")
    monkeypatch.setattr(environment.importlib.util, "find_spec", lambda name: None)  # type: ignore[attr-defined]
    assert main(["info"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    for name in ("jax", "torch", "tensorflow"):
        assert f"{name} not installed: {loader.KNOWN[name].install}\n" in out
    assert "HTML reports ([report]) not installed:\n  pip install jinja2 'plotly>=6'\n" in out


def test_info_shows_errors_as_they_are(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Square brackets are no markup."""
    data = environment.gather()
    data["backends"] = [{"backend": "jax", "installed": True, "error": "see arraydispatch[jax] [/]", "install": ""}]
    environment.show(data)
    assert "jax does not load: see arraydispatch[jax] [/]\n" in capsys.readouterr().out


def test_install_commands_are_those_of_the_extras() -> None:
    """They name the libraries themselves, so they work from a wheel, from a clone and where nothing is installed."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for name, library in {"jax": "jax", "torch": "torch", "tensorflow": "tensorflow"}.items():
        wanted = next(found for entry in extras[name] if (found := entry.partition(";")[0]).startswith(f"{library}>="))
        assert loader.KNOWN[name].install == f"pip install '{wanted}'"
        if loader.installed(name):
            assert loader.load(name).install == loader.KNOWN[name].install
    for name, (_, needs) in environment.EXTRAS.items():
        assert list(needs.values()) == extras[name]


def test_examples_are_listed_and_copied(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scripts = sorted(path.name for path in (ROOT / "docs" / "examples").glob("*.py"))
    assert main(["examples"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[: len(scripts)]] == scripts
    folder = tmp_path / "new" / "examples"
    assert main(["examples", str(folder)]) == 0
    assert f"arraydispatch run {folder / scripts[0]}" in capsys.readouterr().out
    for name in scripts:
        assert (folder / name).read_text("utf-8") == (ROOT / "docs" / "examples" / name).read_text("utf-8")
    (folder / scripts[0]).write_text("mine")
    assert main(["examples", str(folder)]) == 2
    assert f"{scripts[0]} exists (--force overwrites)." in capsys.readouterr().err
    assert (folder / scripts[0]).read_text() == "mine"
    assert main(["examples", str(folder), "--force"]) == 0
    assert (folder / scripts[0]).read_text() != "mine"
    (tmp_path / "file").write_text("")
    assert main(["examples", str(tmp_path / "file")]) == 2
    assert "cannot write the examples" in capsys.readouterr().err


def test_help_of_use_shows_no_bare_objects() -> None:
    for name in arraydispatch.__all__:
        value = getattr(arraydispatch, name)
        if callable(value):
            assert " object at 0x" not in pydoc.render_doc(value), name


_NOT_AT_THE_START = (
    "argparse bz2 csv hashlib logging lzma multiprocessing numpy.char numpy.fft numpy.lib.recfunctions numpy.ma numpy.polynomial numpy.random"
    " pkgutil random rich secrets shutil socket subprocess tempfile arraydispatch.functions.fft arraydispatch.launcher.numpy_random"
).split()


def test_a_start_imports_only_what_every_program_needs(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import gc, sys\nimport numpy as np\nprint(*sorted(set(sys.argv[1:]) & set(sys.modules)), gc.isenabled())\n"
        "x = np.fft.rfft(np.random.default_rng(0).random(8))\nprint(type(x) is np.ndarray, type(x) is type(np.ones(2)))\n"
        "print(np.fft.fftfreq(4).tolist(), np.polynomial.polynomial.polyval2d(np.ones(2), np.ones(2), np.ones((2, 2))).tolist())\n"
        "print(np.strings.upper(np.array(['a']))[0], np.char.lower(np.array(['B']))[0])\n"
    )
    run = [sys.executable, "-m", "arraydispatch", "run", str(script), *_NOT_AT_THE_START]
    # In a folder of its own, where no run that was killed has left counts to remove.
    done = subprocess.run(run, env={**ENV, "TMPDIR": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["True", "True True", "[0.0, 0.25, -0.5, -0.25] [4.0, 4.0]", "A b"]


def test_options_that_are_not_given_have_the_values_of_the_parser() -> None:
    assert vars(parsers.run_parser().parse_args([])) == cli._NOT_GIVEN


def test_import_loads_no_rich() -> None:
    code = "import sys, arraydispatch, arraydispatch.launcher.commands.cli; sys.exit('rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], env=ENV).returncode == 0
