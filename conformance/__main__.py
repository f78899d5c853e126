"""``python -m conformance``: other projects' tests on a backend, and the tables of what they found."""

from __future__ import annotations

import argparse
import importlib.util
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from . import array_api_suite, expected, page, results, scipy_suite
from .array_api_suite import ArrayApiSuite
from .expected import Expectations
from .numpy_suite import MODULES, NumpySuite
from .runs import ModuleResult, run_module
from .suites import EXECUTIONS, HERE, PLAIN, Settings, Suite, Usage

_EPILOG = """\
Exit codes: 0, all as expected; 1, a failure that the backend's data file does not list, or one that it lists and that
passed; 2, the command line or a data file is wrong, or the suite is not there."""

_WIDTH = 160  # of a table that goes into a file


class _Parser(argparse.ArgumentParser):
    def __init__(self, **options: Any) -> None:
        super().__init__(
            allow_abbrev=False, epilog=_EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter, **options
        )

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


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number")
    return int(text)


def _count(text: str) -> int:
    value = _whole(text)
    if value == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return value


def _parser() -> _Parser:
    parser = _Parser(prog="python -m conformance", description="Run other projects' own tests on a backend.")
    suites = parser.add_subparsers(dest="suite", required=True, metavar="SUITE")

    numpy = suites.add_parser("numpy", help="NumPy's own test modules, under the launcher")
    numpy.add_argument("--backend", metavar="B", required=True, help=f"a backend, or {PLAIN}: NumPy without us")
    numpy.add_argument("--device", metavar="D", help="a device of the backend")
    numpy.add_argument("--execution", choices=list(EXECUTIONS), default="eager",
        help="have the library run every call, record all that can be, compile it, or do as a run without options (eager)")  # fmt: skip
    _add_common(numpy, f"modules ({MODULES[0]}, …) or groups (lib, …)", seconds=120.0)

    scipy = suites.add_parser("scipy", help="SciPy's own test modules, under the launcher")
    scipy.add_argument("--backend", metavar="B", required=True, help=f"a backend, or {PLAIN}: SciPy without us")
    scipy.add_argument("--device", metavar="D", help="a device of the backend")
    _add_common(scipy, f"modules ({scipy_suite.MODULES[0]}, …) or groups (fft, …)", seconds=600.0)

    array_api = suites.add_parser("array-api", help="the array-API standard's tests on our namespaces")
    which = array_api.add_mutually_exclusive_group(required=True)
    which.add_argument("--backend", metavar="B", help="a backend")
    which.add_argument("--namespace", metavar="M", help="another project's namespace, to compare: array_api_strict, …")
    add = array_api.add_argument
    add("--suite", dest="path", metavar="PATH", help="a checkout of array-api-tests; fetched with git if not given")
    add("--max-examples", metavar="N", type=_count, default=array_api_suite.MAX_EXAMPLES,
        help=f"examples of each test ({array_api_suite.MAX_EXAMPLES})")  # fmt: skip
    add("--seed", metavar="N", type=_whole, default=0, help="what the examples follow from (0)")
    _add_common(array_api, "files (test_linalg, …)", seconds=900.0)

    suites.add_parser("page", help="write the tables of conformance/results/ into the documentation and the README")
    return parser


def _add_common(parser: argparse.ArgumentParser, modules: str, seconds: float) -> None:
    add = parser.add_argument
    add("--module", metavar="M", nargs="+", action="extend", default=[], help=f"{modules}; all if not given")
    add("-k", dest="select", metavar="EXPR", help="only tests that match, as for pytest")
    add("--json", metavar="FILE", help="write the results there")
    add("--html", metavar="FILE", help="write the results there as a page, with every failure")
    add("--keep", action="store_true", help="write the results to conformance/results/ and into the documentation")
    add("--workers", metavar="N", type=_positive, default=1, help="modules at one time (1)")
    add("--timeout", metavar="S", type=_positive, default=7200.0, help="seconds for a module (7200)")
    add("--test-timeout", metavar="S", type=_positive, default=seconds, help=f"seconds for a test ({seconds:.0f})")
    add("--write-xfails", action="store_true",
        help="write this run's failures to the data file, with the reasons that are known")  # fmt: skip


# -- what is asked for -------------------------------------------------------------------------------------------------


def _check_backend(name: str, others: tuple[str, ...] = ()) -> None:
    from arraydispatch.backends import loader
    from arraydispatch.common.errors import ArrayDispatchError

    if name in others:
        return
    if name not in loader.KNOWN:
        raise Usage(f"--backend: there is no {name!r}; choose one of: {', '.join([*others, *loader.KNOWN])}.")
    try:
        loader.load(name)
    except (ArrayDispatchError, ImportError) as error:
        raise Usage(f"--backend: {error}") from None


def _say(text: str) -> None:
    print(f"conformance: {text}", file=sys.stderr)


def _suite(options: argparse.Namespace) -> tuple[Suite, Settings]:
    """The suite that the command line names, and how to run it."""
    device, execution = None, getattr(options, "execution", "eager")
    if options.suite in ("numpy", "scipy"):
        _check_backend(options.backend, (PLAIN,))
        device = options.device
        if device is not None and options.backend == PLAIN:
            raise Usage(f"--device: {PLAIN} has none; leave it out.")
        if execution != "eager" and options.backend == PLAIN:
            raise Usage(f"--execution: {PLAIN} has one way; leave it out.")
        suite: Suite = NumpySuite() if options.suite == "numpy" else scipy_suite.ScipySuite()
    else:
        if options.namespace is None:
            _check_backend(options.backend)
            namespace = array_api_suite.namespace_of(options.backend)
        else:
            namespace = options.namespace
            if importlib.util.find_spec(namespace.partition(".")[0]) is None:
                raise Usage(f"--namespace: there is no module {namespace!r}; check the spelling, or install it.")
        folder = array_api_suite.checkout(options.path, _say)
        suite = ArrayApiSuite(folder, namespace, options.max_examples, options.seed)
        for departure in suite.departures():
            _say(departure)
    needed = [name.replace("_", "-") for name in suite.packages if importlib.util.find_spec(name) is None]
    if needed:
        raise Usage(f"the tests need {', '.join(needed)}; install with: pip install {' '.join(needed)}")
    name = options.backend or options.namespace
    return suite, Settings(name, device, options.select, options.timeout, options.test_timeout, execution)


def _target(option: str, name: str | None) -> Path | None:
    """A file of results, known to be writable before an hour of tests."""
    if name is None:
        return None
    path = Path(name)
    existed = path.exists()
    try:
        with path.open("a", encoding="utf-8"):
            pass
    except OSError as error:
        raise Usage(f"{option}: {name!r} cannot be written ({error.strerror}); choose another path.") from None
    if not existed:
        path.unlink()
    return path


# -- running -----------------------------------------------------------------------------------------------------------


@contextmanager
def _progress(console: Console) -> Iterator[Progress]:
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[note]}"),
        TimeElapsedColumn(),
    )  # fmt: skip
    with Progress(*columns, console=console, transient=True) as progress:
        yield progress


def _run(
    suite: Suite, modules: list[str], settings: Settings, left_out: Expectations, workers: int, console: Console
) -> list[ModuleResult]:
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
            found = run_module(suite, module, settings, mine, tell, stop)
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


def _plain_passes(
    found: list[ModuleResult], suite: Suite, settings: Settings, workers: int, console: Console
) -> dict[str, int]:
    """What plain NumPy passes of the same tests: from the kept figures where they fit, else by running it."""
    if not isinstance(suite, NumpySuite):
        return {}
    if settings.backend == PLAIN:
        return {result.module: result.count("passed") for result in found}
    kept = results.baseline(suite.name) if settings.select is None else None
    modules = [result.module for result in found]
    if kept is not None and all(module in kept for module in modules):
        return kept
    plain = Settings(PLAIN, None, settings.select, settings.timeout, settings.test_timeout)
    return {r.module: r.count("passed") for r in _run(suite, modules, plain, Expectations(), workers, console)}


def _write_xfails(found: list[ModuleResult], path: Path, known: Expectations) -> Expectations:
    """Write the failures of this run, and what is known of the modules that were not run; give what was written."""
    ran = {result.module for result in found}
    reasons = {test: reason for test, reason in known.exact.items() if test.partition("::")[0] not in ran}
    reasons |= {f"{test}[*]": why for test, why in known.families.items() if test.partition("::")[0] not in ran}
    for test, error in results.failed_tests(found).items():
        reason = known.reason(test) or expected.UNTRIAGED + error[:100]
        reasons[test] = " ".join(reason.replace("  # ", " ").split())
    heading = f"Tests that fail on this backend, by reason. See {HERE.name}/README.md."
    expected.write(path, heading, reasons)
    return Expectations(reasons)


def main(argv: list[str] | None = None) -> int:
    """Run, print and write; the exit code says whether all was as expected."""
    try:
        options = _parser().parse_args(argv)
        if options.suite == "page":
            page.write()
            return 0
        return _main(options)
    except Usage as error:
        _say(str(error))
        return 2
    except KeyboardInterrupt:
        return 130


def _main(options: argparse.Namespace) -> int:
    suite, settings = _suite(options)
    modules = suite.chosen(options.module)
    in_part = options.select is not None or bool(options.module)
    if options.write_xfails and (
        options.select is not None or settings.backend == PLAIN or settings.execution != "eager"
    ):
        raise Usage("--write-xfails needs whole modules, each call the library's; leave out -k and --execution.")
    if options.keep and (in_part or not suite.pinned):
        raise Usage("--keep needs a full run of the pinned suite; leave out --module and -k.")
    targets = [_target("--json", options.json), _target("--html", options.html)]
    known = expected.read(suite.xfails_file(settings.backend), suite)
    left_out = Expectations() if settings.backend == PLAIN else expected.read(suite.left_out, suite)
    if left_out.families:
        raise Usage(f"{suite.left_out}: tests are left out one by one; name each instead of '[*]'.")
    workers = int(max(1, options.workers))

    bars, console = Console(stderr=True), Console(emoji=False)
    if not console.is_terminal:
        console = Console(width=_WIDTH, emoji=False)
    found = _run(suite, modules, settings, left_out, workers, bars)
    plain = _plain_passes(found, suite, settings, workers, bars)
    if options.write_xfails:
        known = _write_xfails(found, suite.xfails_file(settings.backend), known)
    verdict = results.judge(found, known, whole=options.select is None, computes=settings.execution == "eager")
    if not any(result.tests for result in found) and not verdict.broken:
        raise Usage("-k: no test matches; check the expression.")
    data = results.as_json(found, suite, settings, known, plain)
    how = "" if settings.execution == "eager" else f", {settings.execution}"
    results.show(console, f"{suite.title()} on {settings.backend}{how}", data, verdict)
    for target, text in zip(targets, (results.dump(data), results.as_html(data)), strict=True):
        if target is not None:
            target.write_text(text, encoding="utf-8")
    if options.keep:
        results.keep(data)
        page.write()
    return 0 if verdict.as_expected else 1


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C, so that no process is left behind
    sys.exit(main())
