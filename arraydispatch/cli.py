"""The command line: ``arraydispatch run`` and ``arraydispatch info``."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import json
import os
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, NoReturn

import numpy as np

from . import __version__, api, events, settings
from .backends import loader
from .errors import ArrayDispatchError
from .profiling import Profile, function_name
from .report import WRITERS, Run, print_report

__all__ = ["main"]

_ENVIRONMENT = "ARRAYDISPATCH_BACKEND"
_USAGE = """\
arraydispatch run [options] [--] SCRIPT [ARGS...]
       arraydispatch run [options] -m MODULE [ARGS...]"""
_EPILOG = """\
Everything after the script (or - for standard input, or a folder with a __main__.py) belongs to the script.
Without --backend the environment variable ARRAYDISPATCH_BACKEND decides, else the first library that is installed.
Exit codes: the script's own; 2 when the command line is wrong. ARRAYDISPATCH_TRACEBACK=full keeps this program's own
frames in a script's traceback."""


class _UsageError(Exception):
    """The command line is wrong: one sentence with the way out."""


# -- arguments -------------------------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise _UsageError(f"{message}; see: {self.prog} --help")


def _run_parser() -> _Parser:
    parser = _Parser(
        prog="arraydispatch run", usage=_USAGE, epilog=_EPILOG, allow_abbrev=False,
        description="Run an unchanged NumPy script on an array library.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("--backend", metavar="B", help=f"one of: {', '.join(loader.KNOWN)}")
    add("--device", metavar="D", help="a device of the backend, such as cpu or cuda:0 (see: arraydispatch info)")
    add("--precision", metavar="P", help="bits of fresh floating results: 64, 32, 16, bf16, or none (NumPy's rules)")
    add("--execution", metavar="E", default="eager", help="eager: each call runs at once")
    add("--include", metavar="PATH_OR_PACKAGE", action="append", default=[],
        help="more user code: a file, a folder or an installed package (repeatable)")  # fmt: skip
    add("--on-fallback", metavar="POLICY", choices=("warn", "error", "silent"), default="warn",
        help="what a call that has to run on the host does: warn (once a line), error, or silent")  # fmt: skip
    add("--rng", metavar="WHERE", choices=("numpy", "device"), default="numpy",
        help="random numbers: numpy's own bits, or the library's generator on the device")  # fmt: skip
    add("--report", metavar="FILE", nargs="?", const="", default=None,
        help="the long report; with FILE.json or FILE.csv it is also written there")  # fmt: skip
    add("-m", dest="module", metavar="MODULE", help="run a module, as python -m does")
    return parser


_VALUED = frozenset({"--backend", "--device", "--precision", "--execution", "--include", "--on-fallback", "--rng"})


def _is_report_file(value: str, after: list[str]) -> bool:
    """Whether the word after ``--report`` is its file, not the script."""
    if value.startswith("-"):
        return False
    suffix = os.path.splitext(value)[1]
    if suffix in WRITERS or suffix == ".html":
        return True
    # Another suffix is a mistake that deserves its own message, unless this can only be the script.
    return bool(after) and suffix not in ("", ".py", ".pyc", ".pyw", ".pyz", ".zip") and not os.path.exists(value)


def _split(argv: list[str]) -> tuple[list[str], list[str]]:
    """Our own arguments, and those that begin with the script (empty after ``-m MODULE``) and belong to it."""
    ours: list[str] = []
    at = 0
    while at < len(argv):
        word = argv[at]
        if word == "--":
            return ours, argv[at + 1 :]
        if word == "-m":
            return [*ours, *argv[at : at + 2]], argv[at + 2 :]
        if word.startswith("-m") and not word.startswith("--"):
            return [*ours, word], argv[at + 1 :]
        if word == "--report":
            value = argv[at + 1] if at + 1 < len(argv) else "-"
            if _is_report_file(value, argv[at + 2 :]):
                ours.append(f"--report={value}")
                at += 2
            else:
                ours.append("--report=")
                at += 1
            continue
        if word == "-" or not word.startswith("-"):
            return ours, argv[at:]
        taken = 2 if word in _VALUED else 1
        ours.extend(argv[at : at + taken])
        at += taken
    return ours, []


# -- run -------------------------------------------------------------------------------------------------------------


class _Spoken(Profile):
    """The launcher's profile, which says each line that falls back to the host once, as it happens.

    It speaks for itself, not through ``warnings``: a script that turns warnings into errors must not see ours.
    """

    def __init__(self, aloud: bool) -> None:
        super().__init__()
        self._aloud = aloud
        self._said: set[tuple[str, int, str]] = set()

    def first_call(self, func: Any, kind: str, reason: str, frame: FrameType) -> None:
        if kind != "host" or not self._aloud:
            return
        place = frame.f_code.co_filename, frame.f_lineno, function_name(func)
        if place not in self._said:
            self._said.add(place)
            print(f"arraydispatch: {place[0]}:{place[1]}: {place[2]} ran on the host: {reason}", file=sys.stderr)


def _report_target(value: str | None) -> str | None:
    """The report's file, known to be writable before the script runs."""
    if not value:
        return None
    suffix = os.path.splitext(value)[1]
    if suffix not in WRITERS:
        raise _UsageError(f"--report: {value!r} must end in one of: {', '.join(WRITERS)}.")
    path = os.path.abspath(value)
    existed = os.path.exists(path)
    try:
        with open(path, "a", encoding="utf-8"):
            pass
    except OSError as error:
        raise _UsageError(f"--report: {value!r} cannot be written ({error.strerror}); choose another path.") from None
    if not existed:
        os.unlink(path)
    return path


def _precision(text: str | None) -> Any:
    if text is None:
        return ...
    return None if text.lower() == "none" else int(text) if text.isdigit() else text


def _default_backend() -> str:
    named = os.environ.get(_ENVIRONMENT)
    if named:
        return named
    installed = loader.available()
    return next((name for name in installed if name != "numpy"), "numpy")


def _use(options: argparse.Namespace) -> None:
    """Set the process defaults that the options ask for."""
    name = options.backend or _default_backend()
    backend = loader.load(name)
    # The whole process is the script's, so a library that hides 64-bit types shows them globally: no switch per call.
    extra = {"enable_x64": True} if "enable_x64" in backend.OPTIONS else {}
    given = {"precision": _precision(options.precision)} if options.precision is not None else {}
    api.use(name, device=options.device, **given, **extra)
    # In "warn" the launcher speaks (see _Spoken); the core keeps quiet.
    settings.fallback("error" if options.on_fallback == "error" else "silent")


def _check(options: argparse.Namespace, program: list[str]) -> None:
    if options.execution == "fused":
        raise _UsageError("--execution fused is not available yet; leave it out, or say eager.")
    if options.execution != "eager":
        raise _UsageError(f"--execution: {options.execution!r} is not a way to execute; say eager.")
    if options.module is None and not program:
        raise _UsageError("no script given; say: arraydispatch run SCRIPT, or -m MODULE.")


def _run(argv: list[str]) -> int:
    ours, theirs = _split(argv)
    options = _run_parser().parse_args(ours)
    _check(options, theirs)
    target = _report_target(options.report)

    from .launcher import runner
    from .launcher.userfiles import UserFiles

    try:
        program = None if options.module is not None else runner.locate_script(theirs[0])
        users = UserFiles([runner.include_root(name) for name in options.include])
        _use(options)
    except runner.NotFound as error:
        raise _UsageError(str(error)) from None
    except (ArrayDispatchError, ImportError) as error:
        raise _UsageError(str(error)) from None

    from .launcher import rng

    rng.use_device(options.rng == "device")
    path0 = os.getcwd() if program is None else program.path0
    if not sys.flags.safe_path:
        sys.path[:1] = [path0]
    for root in [path0] if program is None else program.roots:
        users.add_root(root)

    profile = _Spoken(options.on_fallback == "warn")
    scope = runner.accelerated(users, profile.adopted)
    events.install(profile)
    scope.__enter__()
    # Python waits for the script's threads and runs its exit handlers after its last line: all that is still the
    # script's run, so the report comes from the handler that was registered first and therefore runs last.
    finish = _finisher(profile, options, target)
    atexit.register(finish)
    if program is None:
        return _run_module(options.module, theirs, users, finish)
    return runner.run(program, theirs[1:], users)


def _run_module(name: str, arguments: list[str], users: Any, finish: Callable[[], None]) -> int:
    from .launcher import runner

    found: list[Any] = []
    root = runner.module_root(name)
    if root is not None and not users.is_installed(root):
        users.add_root(root)
    sys.argv[:] = ["-m", *arguments]
    try:
        code = runner.exit_code(lambda: found.append(runner.locate_module(name)), passing=runner.NotFound)
    except runner.NotFound as error:
        atexit.unregister(finish)
        raise _UsageError(str(error)) from None
    return runner.run(found[0], arguments, users) if found else code


def _finisher(profile: Profile, options: argparse.Namespace, target: str | None) -> Callable[[], None]:
    start = time.perf_counter()
    backend = api.default_backend()
    process = os.getpid()

    def finish() -> None:
        if os.getpid() != process:  # a fork of the script that ended in the ordinary way
            return
        events.install(None)
        run = Run(
            backend.name, backend.version, options.device or backend.devices()[0].name, api.get_precision(),
            time.perf_counter() - start, options.rng,
        )  # fmt: skip
        with contextlib.suppress(OSError, ValueError):  # the reader has gone: nobody waits for the rest of the output
            sys.stdout.flush()
        if target is not None:
            with open(target, "w", encoding="utf-8", newline="") as stream:
                WRITERS[os.path.splitext(target)[1]](stream, profile, run)
        print_report(profile, run, sys.stderr, full=options.report == "")

    return finish


# -- info ------------------------------------------------------------------------------------------------------------


def _backend_info(name: str) -> dict[str, Any]:
    row = loader.KNOWN[name]
    if not loader.installed(name):
        return {"backend": name, "installed": False, "install": row.install}
    try:
        backend = loader.load(name)
        devices = backend.devices()
    except (ArrayDispatchError, ImportError) as error:
        return {"backend": name, "installed": True, "error": str(error), "install": row.install}
    return {
        "backend": name,
        "installed": True,
        "version": backend.version,
        "devices": [
            {
                "name": device.name, "kind": device.kind, "memory": device.memory,
                "processor_count": device.processor_count, "description": device.description,
            }
            for device in devices
        ],
    }  # fmt: skip


def _info(argv: list[str]) -> int:
    parser = _Parser(prog="arraydispatch info", allow_abbrev=False, description="Backends, devices and defaults.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(argv)
    data: dict[str, Any] = {
        "arraydispatch": __version__,
        "python": sys.version.split()[0],
        "numpy": np.__version__,
        "default_backend": _default_backend(),
        "backends": [_backend_info(name) for name in loader.KNOWN],
    }
    if options.json:
        print(json.dumps(data, indent=2))
        return 0
    _print_info(data)
    return 0


def _print_info(data: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print(f"arraydispatch {data['arraydispatch']}, NumPy {data['numpy']}, Python {data['python']}")
    table = Table("backend", "version", "device", "kind", "memory", "cores", "description")
    for row in data["backends"]:
        if not row["installed"]:
            table.add_row(row["backend"], "not installed", "", "", "", "", row["install"])
        elif "error" in row:
            table.add_row(row["backend"], "does not load", "", "", "", "", row["error"])
        for at, device in enumerate(row.get("devices", ())):
            memory = f"{device['memory'] / 1e9:.1f} GB" if device["memory"] >= 0 else "unknown"
            cores = str(device["processor_count"]) if device["processor_count"] >= 0 else "unknown"
            name = (row["backend"], row["version"]) if at == 0 else ("", "")
            table.add_row(*name, device["name"], device["kind"], memory, cores, device["description"])
    console.print(table)
    console.print(
        f"default backend of 'arraydispatch run': {data['default_backend']} (to change it: --backend or {_ENVIRONMENT})"
    )


# -- the command -----------------------------------------------------------------------------------------------------

_COMMANDS: dict[str, tuple[Callable[[list[str]], int], str]] = {
    "run": (_run, "run an unchanged NumPy script on an array library"),
    "info": (_info, "show backends, versions, devices and defaults"),
}


def _help() -> str:
    lines = [f"  {name:6} {text}" for name, (_, text) in _COMMANDS.items()]
    return "\n".join(
        ["usage: arraydispatch COMMAND ...", "", *lines, "", "arraydispatch COMMAND --help says more; --version"]
    )


def _unknown(argv: list[str]) -> NoReturn:
    raise _UsageError(f"there is no command {argv[0]!r}; choose one of: {', '.join(_COMMANDS)}.")


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code; wrong usage is one sentence on stderr and 2."""
    argv = sys.argv[1:] if argv is None else argv
    if not argv or argv[0] in ("-h", "--help"):
        print(_help(), file=sys.stdout if argv else sys.stderr)
        return 0 if argv else 2
    if argv[0] == "--version":
        print(f"arraydispatch {__version__}")
        return 0
    command = _COMMANDS.get(argv[0], (_unknown, ""))[0]
    try:
        return command(argv if command is _unknown else argv[1:])
    except _UsageError as wrong:
        print(f"arraydispatch: {wrong}", file=sys.stderr)
        return 2
