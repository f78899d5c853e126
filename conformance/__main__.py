"""``python -m conformance numpy --backend B``: NumPy's own test modules on a backend."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from . import expected, results
from .expected import Expectations
from .modules import MODULES, Usage, chosen
from .runs import PLAIN, ModuleResult, Settings, run_module

_EPILOG = """\
Exit codes: 0, all as expected; 1, a failure that numpy-B-xfails.txt does not list, or one that it lists and that
passed; 2, the command line or a data file is wrong."""

_WIDTH = 160  # of a table that goes into a file


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Usage(f"{message}; see: {self.prog} --help")


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def _parser() -> _Parser:
    parser = _Parser(
        prog="python -m conformance", allow_abbrev=False, epilog=_EPILOG,
        description="Run NumPy's own test modules on a backend.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("suite", choices=["numpy"], help="whose tests")
    add("--backend", metavar="B", required=True, help=f"a backend, or {PLAIN}: NumPy without us")
    add("--device", metavar="D", help="a device of the backend")
    add("--module", metavar="M", nargs="+", action="extend", default=[],
        help=f"modules ({MODULES[0]}, …) or groups (lib, …); all if not given")  # fmt: skip
    add("-k", dest="select", metavar="EXPR", help="only tests that match, as for pytest")
    add("--json", metavar="FILE", help="write the results there")
    add("--workers", metavar="N", type=_positive, default=1, help="modules at one time (1)")
    add("--timeout", metavar="S", type=_positive, default=3600.0, help="seconds for a module (3600)")
    add("--test-timeout", metavar="S", type=_positive, default=120.0, help="seconds for a test (120)")
    add("--write-xfails", action="store_true",
        help="write this run's failures to the data file, with the reasons that are known")  # fmt: skip
    return parser


def _check_backend(name: str) -> None:
    from arraydispatch.backends import loader
    from arraydispatch.errors import ArrayDispatchError

    if name == PLAIN:
        return
    if name not in loader.KNOWN:
        raise Usage(f"--backend: there is no {name!r}; choose one of: {', '.join([PLAIN, *loader.KNOWN])}.")
    try:
        loader.load(name)
    except (ArrayDispatchError, ImportError) as error:
        raise Usage(f"--backend: {error}") from None


def _json_target(name: str | None) -> Path | None:
    """The results' file, known to be writable before an hour of tests."""
    if name is None:
        return None
    path = Path(name)
    existed = path.exists()
    try:
        with path.open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise Usage(f"--json: {name!r} cannot be written ({error.strerror}); choose another path.") from None
    if not existed:
        path.unlink()
    return path


@contextmanager
def _progress(console: Console) -> Iterator[Progress]:
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as progress:
        yield progress


def _run(modules: list[str], settings: Settings, left_out: Expectations, workers: int, console: Console) -> list[Any]:
    """Run the modules, each in its own process, in the order given."""
    stop = threading.Event()
    with _progress(console) as progress, ThreadPoolExecutor(workers) as pool:
        whole = progress.add_task(f"{settings.backend}: modules", total=len(modules), note="")

        def one(module: str) -> ModuleResult:
            task = progress.add_task(module, total=None, note="")

            def tell(result: ModuleResult) -> None:
                bad = result.count("failed") + result.count("crashed")
                note = f"{bad} failed" if bad else ""
                progress.update(task, completed=len(result.tests), total=result.total or None, note=note)

            mine = frozenset(test.partition("::")[2] for test in left_out.exact if test.startswith(f"{module}::"))
            found = run_module(module, settings, mine, tell, stop)
            progress.remove_task(task)
            progress.advance(whole)
            return found

        futures = [pool.submit(one, module) for module in modules]
        try:
            return [future.result() for future in futures]
        except BaseException:
            stop.set()  # the processes are in sessions of their own, where Ctrl-C does not reach them
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _plain_passes(modules: list[str], settings: Settings, workers: int, console: Console) -> dict[str, int]:
    """What plain NumPy passes of the same tests: from the kept figures where they fit, else by running it."""
    kept = results.baseline() if settings.select is None else None
    if kept is not None and all(module in kept for module in modules):
        return kept
    plain = Settings(PLAIN, None, settings.select, settings.timeout, settings.test_timeout)
    return {r.module: r.count("passed") for r in _run(modules, plain, Expectations(), workers, console)}


def _write_xfails(found: list[ModuleResult], path: Path, known: Expectations) -> None:
    """Failures of this run, and what is known of the modules that were not run."""
    ran = {result.module for result in found}
    reasons = {test: reason for test, reason in known.exact.items() if test.partition("::")[0] not in ran}
    reasons |= {f"{test}[*]": why for test, why in known.families.items() if test.partition("::")[0] not in ran}
    for test, error in results.failed_tests(found).items():
        reason = known.reason(test) or expected.UNTRIAGED + error[:100]
        reasons[test] = " ".join(reason.replace("  # ", " ").split())
    heading = f"Tests of NumPy's own that fail on this backend, by reason. See {Path(__file__).parent.name}/README.md."
    expected.write(path, heading, reasons)


def main(argv: list[str] | None = None) -> int:
    """Run, print and write; the exit code says whether all was as expected."""
    try:
        return _main(argv)
    except Usage as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _main(argv: list[str] | None) -> int:
    options = _parser().parse_args(argv)
    modules = chosen(options.module)
    _check_backend(options.backend)
    for needed in ("pytest", "hypothesis"):
        if importlib.util.find_spec(needed) is None:
            raise Usage(f"NumPy's tests need {needed}; install it with: pip install {needed}")
    if options.device is not None and options.backend == PLAIN:
        raise Usage(f"--device: {PLAIN} has none; leave it out.")
    if options.write_xfails and (options.select is not None or options.backend == PLAIN):
        raise Usage("--write-xfails needs whole modules on a backend; leave out -k.")
    target = _json_target(options.json)
    known = expected.read(expected.xfails_file(options.backend))
    left_out = Expectations() if options.backend == PLAIN else expected.read(expected.LEFT_OUT)
    if left_out.families:
        raise Usage(f"{expected.LEFT_OUT.name}: tests are left out one by one; name each instead of '[*]'.")
    settings = Settings(options.backend, options.device, options.select, options.timeout, options.test_timeout)
    workers = int(max(1, options.workers))

    bars, console = Console(stderr=True), Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    found = _run(modules, settings, left_out, workers, bars)
    if options.backend == PLAIN:
        plain = {result.module: result.count("passed") for result in found}
    else:
        plain = _plain_passes(modules, settings, workers, bars)
    if target is not None:
        data = results.as_json(found, settings, known, plain)
        target.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if options.write_xfails:
        _write_xfails(found, expected.xfails_file(options.backend), known)
        known = expected.read(expected.xfails_file(options.backend))
    verdict = results.judge(found, known, whole=options.select is None)
    results.show(console, found, settings, plain, verdict)
    if not any(result.tests for result in found) and not verdict.broken:
        raise Usage("-k: no test matches; check the expression.")
    return 0 if verdict.as_expected else 1


if __name__ == "__main__":
    sys.exit(main())
