"""Command line: ``arraydispatch run``, ``arraydispatch info``, ``arraydispatch coverage``."""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Callable, Iterable
from itertools import chain
from types import SimpleNamespace
from typing import Any, NoReturn

from ... import __version__
from ...common.errors import ArrayDispatchError, did_you_mean
from ...common.signal_safety import imported
from ...profiling.report import WRITERS
from ..options import Choices
from . import UsageError

_VALUED = frozenset(
    "--backend --device --mesh --precision --execution --min-size --include --on-fallback --rng --threads --trace --processes".split()
)


def _is_report_file(value: str, after: list[str]) -> bool:
    """Whether ``value``, the word after ``--report``, is the report's file, not the script. ``after``: the words that follow it."""
    if value.startswith("-"):
        return False
    suffix = os.path.splitext(value)[1]
    if suffix in WRITERS:
        return True
    # Any other suffix is an error with its own message, unless the word can only be the script.
    return bool(after) and suffix not in ("", ".py", ".pyc", ".pyw", ".pyz", ".zip") and not os.path.exists(value)


def _split(argv: list[str]) -> tuple[list[str], list[str]]:
    """Return the launcher's arguments, and the script (nothing after ``-m MODULE``) with its arguments."""
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


def _hint(ours: list[str], program: Any, theirs: list[str]) -> None:
    """Print a hint if an option of the launcher is among ``theirs``, the words after the script, but not among ``ours``, those before it,
    and the source of the script does not contain it.
    """
    given = {word.partition("=")[0] for word in ours}
    for at, word in enumerate(theirs):
        name, equals, _ = word.partition("=")
        if name in (_VALUED | {"--report", "--verify"}) - given and name.encode() not in program.source:
            said = " ".join(theirs[at : at + 2]) if name in _VALUED and not equals else word
            print(
                f"arraydispatch: {said} after the script belongs to the script; if it is meant for arraydispatch, put it before.",
                file=sys.stderr,
            )
            return


# -- run -------------------------------------------------------------------------------------------------------------


def _target(option: str, value: str | None, suffixes: Iterable[str]) -> str | None:
    """Return the absolute path of the file that an option names; None if there is none. Raise UsageError if it has another suffix, or
    cannot be written.
    """
    if not value:
        return None
    suffix = os.path.splitext(value)[1]
    if suffix not in suffixes:
        raise UsageError(f"{option}: {value!r} must end in one of: {', '.join(suffixes)}.")
    lacking = imported("arraydispatch.profiling.report.html").missing() if suffix == ".html" else None
    if lacking is not None:
        raise UsageError(f"{option}: {lacking}.")
    path = os.path.abspath(value)
    existed = os.path.exists(path)
    try:
        with open(path, "a", encoding="utf-8"):
            pass
    except OSError as error:
        raise UsageError(f"{option}: {value!r} cannot be written ({error.strerror}); choose another path.") from None
    if not existed:
        os.unlink(path)
    return path


_NOT_GIVEN: dict[str, Any] = {
    **dict.fromkeys(("backend", "device", "mesh", "precision", "execution", "min_size", "threads", "report", "trace", "processes", "module")),
    **dict.fromkeys(("exact", "verify", "compare", "simulated", "all_ranks"), False),
    "include": [], "on_fallback": "warn", "rng": "numpy",
}  # fmt: skip
"""The parser's defaults of all options, kept here because importing and making the parser takes a tenth of a short run."""


def _options(ours: list[str]) -> Any:
    if not ours:
        return SimpleNamespace(**_NOT_GIVEN)
    from .parsers import run_parser

    return run_parser().parse_args(ours)


def _check(options: Any, program: list[str]) -> None:
    if options.execution not in (None, "eager", "fused", "compiled"):
        raise UsageError(f"--execution: {options.execution!r} must be one of: eager, fused, compiled.")
    if options.execution == "fused" and options.min_size == 0:
        raise UsageError(
            "--execution fused and --min-size 0 exclude each other: fused calls are on values on the host."
        )
    if options.mesh is not None:
        if options.device is not None:
            raise UsageError("--device and --mesh exclude each other; a mesh is several devices.")
        if options.execution == "fused":
            raise UsageError("--execution fused and --mesh exclude each other: fused calls are on values on the host.")
    if options.processes not in (None, "auto") and not (options.processes.isdecimal() and int(options.processes)):
        raise UsageError(f"--processes must be auto or a positive integer, got {options.processes!r}.")
    if options.all_ranks and options.processes is None:
        raise UsageError("--all-ranks needs --processes.")
    if options.processes is not None and options.device is not None:
        raise UsageError("--device and --processes exclude each other; the processes share a mesh of their devices.")
    if options.simulated and (options.mesh is None or not options.mesh[:1].isdigit()):
        raise UsageError("--simulated needs a --mesh with a number of devices, such as --mesh 8 or --mesh 2x4.")
    if options.module is None and not program:
        raise UsageError("no script given; usage: arraydispatch run SCRIPT, or -m MODULE.")


def _run(argv: list[str]) -> int:
    ours, theirs = _split(argv)
    options = _options(ours)
    _check(options, theirs)
    if options.compare and options.module is None and theirs[0] == "-":
        raise UsageError("--compare runs the program twice, and standard input is read once; give a script.")
    if options.processes is not None and (code := _processes(options, ours, theirs)) is not None:
        return code
    report_to = _target("--report", options.report, WRITERS)
    trace_to = _target("--trace", options.trace, (".json",))

    from .. import runner
    from ..user_files import UserFiles

    try:
        program = None if options.module is not None else _script(theirs[0], ours)
        users = UserFiles(chain.from_iterable(map(runner.include_roots, options.include)))
        choices = Choices.of(options).settled()
        choices.apply()
    except runner.NotFound as error:
        raise UsageError(str(error)) from None
    except (ArrayDispatchError, ImportError) as error:
        raise UsageError(str(error)) from None

    plain = None
    if options.compare:
        from ..session import seconds_by_plain_python

        plain = seconds_by_plain_python(theirs if options.module is None else ["-m", options.module, *theirs])
    path0 = os.getcwd() if program is None else program.path0
    if not sys.flags.safe_path:
        sys.path[:1] = [path0]
    for root in [path0] if program is None else program.roots:
        users.add_root(root)
    package = runner.module_root(options.module) if program is None else None
    if package is not None and (os.path.isfile(package) or not users.is_installed(package)):
        users.add_root(package)

    from .. import processes, ranks
    from ..activation import Activation
    from ..session import Session

    session = Session(
        f"-m {options.module}" if program is None else os.path.basename(theirs[0]),
        choices.device,
        why=choices.why, rng=options.rng, report_to=report_to, trace_to=trace_to, full=options.report == "",
        aloud=options.on_fallback == "warn", verify=options.verify, owns=users.has_file, plain=plain,
        quiet=ranks.mine is not None and ranks.mine.number > 0,
    )  # fmt: skip
    scope = Activation(users, session.profile.adopted).begin()
    atexit.register(scope.end)  # registered first, so the last thing that Python does
    processes.survive_forks()
    if ranks.mine is not None:  # a program that the script starts is by itself
        choices = choices._replace(mesh=None, simulated=False)
    processes.inherit(choices, users.roots, session.folder, session.profile.each)
    session.start()
    if ranks.mine is not None:
        ranks.starts(f"-m {options.module}" if program is None else program.file)
    if program is None:
        return ranks.ended(_run_module(options.module, theirs, users, session.cancel))
    if isinstance(program.source, bytes):
        _hint(ours, program, theirs[1:])
    return ranks.ended(runner.run(program, theirs[1:], users, session.cancel))


def _processes(options: Any, ours: list[str], theirs: list[str]) -> int | None:
    """Run the script in several processes and return its exit code; return None in such a process, which must run the script.

    ``ours``, ``theirs``: the words of the command before the script, and from it on.
    """
    from .. import ranks

    if options.mesh is None:
        options.mesh = "auto"
    told = os.environ.get(ranks.ENVIRONMENT)
    if told is not None:
        import json

        ranks.begin(ranks.Rank(**json.loads(told)))
        return None
    if options.processes == "auto":
        try:
            ranks.begin(ranks.found(os.environ, options.all_ranks))
        except ArrayDispatchError as error:
            raise UsageError(str(error)) from None
        if ranks.mine is not None and ranks.mine.number:
            options.report = options.trace = None
        return None
    if options.module is None and theirs[0] != "-":
        from ..runner import NotFound

        try:
            _script(theirs[0], ours)  # a missing script is reported once
        except NotFound as error:
            raise UsageError(str(error)) from None
    from .process_group import run

    return run(
        int(options.processes), ours, [*([] if options.module is not None else ["--"]), *theirs],
        everywhere=options.all_ranks, threads=options.threads is not None,
    )  # fmt: skip


def _script(path: str, ours: list[str]) -> Any:
    from .. import runner

    try:
        return runner.locate_script(path)
    except runner.NotFound as error:
        if ours[-1:] != ["--report="]:
            raise
        raise UsageError(
            f"{error} If {path!r} is the file of --report, it must end in one of: {', '.join(WRITERS)}."
        ) from None


def _run_module(name: str, arguments: list[str], users: Any, cancel: Callable[[], None]) -> int:
    from .. import runner

    found: list[Any] = []
    sys.argv[:] = ["-m", *arguments]

    def locate() -> None:
        try:
            found.append(runner.locate_module(name))
        except SyntaxError:
            cancel()
            raise

    try:
        code = runner.exit_code(locate, passing=runner.NotFound)
    except runner.NotFound as error:
        cancel()
        raise UsageError(str(error)) from None
    return runner.run(found[0], arguments, users, cancel) if found else code


# -- info ------------------------------------------------------------------------------------------------------------


def _asks_for_json(argv: list[str], command: str, description: str) -> bool:
    """Parse the arguments of a command whose only option is ``--json``; return whether it is given."""
    from .parsers import Parser

    parser = Parser(prog=f"arraydispatch {command}", allow_abbrev=False, description=description)
    parser.add_argument("--json", action="store_true", help="print JSON")
    return bool(parser.parse_args(argv).json)


def _info(argv: list[str]) -> int:
    as_json = _asks_for_json(argv, "info", "Show backends, devices and defaults, and what would make runs faster here.")
    from . import environment

    data = environment.gather()
    if as_json:
        import json

        print(json.dumps(data, indent=2))
    else:
        environment.show(data)
    return 0


# -- coverage --------------------------------------------------------------------------------------------------------


def _coverage(argv: list[str]) -> int:
    said = "Show how each NumPy function, ufunc, method and creation function runs on each installed backend."
    as_json = _asks_for_json(argv, "coverage", said)
    from . import coverage

    table = coverage.rows()
    if as_json:
        import json

        print(json.dumps(coverage.as_dict(table), indent=1))
    else:
        _print_coverage(table)
    return 0


_STYLES = {"native": "green", "composed": "cyan", "host kernel": "blue", "host": "yellow", "refused": "red"}
_ENDLESS = 10_000
"""Width in columns of an output without a width."""


def _print_coverage(rows: list[Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    from . import coverage

    console = Console(
        highlight=False, emoji=False, width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else _ENDLESS
    )
    backends = list(rows[0].answers)

    def show(title: str, *columns: str, texts: list[list[str]]) -> None:
        table = Table(title, *columns, box=None, pad_edge=False, padding=(0, 2, 0, 0))
        table.columns[0].overflow = "fold"
        for cells in texts:
            table.add_row(*cells)
        console.print(table)
        console.print()

    def styled(answers: dict[str, tuple[str, str]]) -> str:
        """Return one answer if all backends have the same, otherwise one for each backend."""
        backends: dict[str, list[str]] = {}
        for backend, (cls, why) in answers.items():
            backends.setdefault(f"[{_STYLES[cls]}]{cls}[/]{': ' if why else ''}{why}", []).append(backend)
        if len(backends) == 1:
            return next(iter(backends))
        return "; ".join(f"{', '.join(names)}: {answer}" for answer, names in backends.items())

    for kind, title in coverage.KINDS.items():
        show(title, "where it runs", texts=[[row.name, styled(row.answers)] for row in rows if row.kind == kind])
    counts = coverage.counts(rows)
    numbers = [
        [f"{title}: [{_STYLES[cls]}]{cls}[/]", *(str(counts[kind][name].get(cls, 0)) for name in backends)]
        for kind, title in coverage.KINDS.items()
        for cls in coverage.CLASSES
    ]
    show("how many", *backends, texts=[cells for cells in numbers if any(number != "0" for number in cells[1:])])


# -- examples --------------------------------------------------------------------------------------------------------


def _examples(argv: list[str]) -> int:
    from .parsers import Parser

    parser = Parser(
        prog="arraydispatch examples", allow_abbrev=False,
        description="Copy the example scripts to a folder, or list them. They are plain NumPy, for arraydispatch run.",
    )  # fmt: skip
    parser.add_argument(
        "folder", metavar="FOLDER", nargs="?", help="where to copy the scripts; without FOLDER they are listed"
    )
    parser.add_argument("--force", action="store_true", help="overwrite files that exist")
    options = parser.parse_args(argv)

    from . import examples

    if options.folder is None:
        for name, summary in examples.summaries().items():
            print(f"{name:20} {summary}")
        print("\nCopy them with: arraydispatch examples FOLDER")
        return 0
    try:
        made = examples.copy(options.folder, options.force)
    except OSError as error:
        raise UsageError(f"cannot write the examples to {options.folder!r}: {error.strerror}.") from None
    for path in made:
        print(path)
    import shlex

    print(f"\nRun one with: arraydispatch run {shlex.quote(made[0])}")
    return 0


# -- the command -----------------------------------------------------------------------------------------------------

_COMMANDS: dict[str, tuple[Callable[[list[str]], int], str]] = {
    "run": (_run, "run an unchanged NumPy script on an array library"),
    "info": (_info, "show backends, versions, devices and defaults"),
    "examples": (_examples, "copy the example scripts to a folder"),
    "coverage": (_coverage, "show what of NumPy runs on which backend, and why the rest does not"),
}


def _help() -> str:
    lines = [f"  {name:9} {text}" for name, (_, text) in _COMMANDS.items()]
    return "\n".join(
        ["usage: arraydispatch COMMAND ...", "", *lines, "", "arraydispatch COMMAND --help says more; --version"]
    )


def _unknown(argv: list[str]) -> NoReturn:
    near = did_you_mean(argv[0], _COMMANDS)
    raise UsageError(f"there is no command {argv[0]!r}{near}; choose one of: {', '.join(_COMMANDS)}.")


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return the exit code; wrong usage is one sentence on stderr and 2."""
    try:
        return _main(sys.argv[1:] if argv is None else argv)
    except UsageError as wrong:
        print(f"arraydispatch: {wrong}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader has closed the pipe. Python flushes once more when it ends, which must go to the null device.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _main(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help"):
        print(_help(), file=sys.stdout if argv else sys.stderr, flush=True)
        return 0 if argv else 2
    if argv[0] == "--version":
        print(f"arraydispatch {__version__}", flush=True)
        return 0
    command = _COMMANDS.get(argv[0], (_unknown, ""))[0]
    if command is _run:
        return _run(argv[1:])  # a failure of the script's output is handled by Python
    code = command(argv if command is _unknown else argv[1:])
    sys.stdout.flush()
    return code
