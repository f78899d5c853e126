"""Options and fixtures that every test shares."""

from __future__ import annotations

import gc
import importlib
import os
import random
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch import interop
from arraydispatch.backends.base import Backend
from arraydispatch.common.process_state import process
from arraydispatch.engine.recording import block_reports
from arraydispatch.ufuncs import plans
from tests import compiled, drawing, rows
from tests.launched import zygotes

__all__ = ["zygotes"]

interop.install()  # before test modules import SciPy's functions by name; test_foreign.py has what holds without it

_DRAWN = pytest.StashKey[tuple[int, int]]()
_BACKENDS = ["numpy", "jax", "torch", "tensorflow"]

# Before JAX is imported, which nothing has done yet: arraydispatch imports libraries on first use.
compiled.begin(Path(__file__).parents[1] / ".pytest_cache" / "jax")


# Kernels are kept in the user's own folder, which tests are not to fill.
os.environ.setdefault("ARRAYDISPATCH_CACHE", "")

# A shell that runs tests in the background has them ignore Ctrl-C (nohup: the end of the terminal), and what they start too,
# which tests of signals start.
for _signal, _usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(_signal) is signal.SIG_IGN:
        signal.signal(_signal, _usual)


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--all``, ``--whole``, ``--seed``, ``--row``, ``--no-skips``."""
    parser.addoption("--all", action="store_true", help="long tests too, and every row of every table on JAX (hours)")
    parser.addoption("--seed", type=int, help="draw what is left to chance as the run did that printed this number")
    parser.addoption("--whole", action="store_true", help="every row of every table, but no long tests")
    parser.addoption("--row", default="", help="of the tests that run a table, only rows that contain this text")
    parser.addoption(
        "--no-skips",
        action="store_true",
        help="a skip for want of a program or a package fails; all but 'inapplicable: …' is one",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Draw a seed. What a person chose to run is run whole."""
    if hasattr(config, "workerinput"):
        config.option.seed, config.option.whole = config.workerinput["drawn"]
        return
    if config.option.seed is None:
        config.option.seed = random.SystemRandom().randrange(2**32)
        if config.option.all:
            os.environ.setdefault("ARRAYDISPATCH_SEED", str(config.option.seed))
    else:
        os.environ.setdefault("ARRAYDISPATCH_SEED", str(config.option.seed))
    chosen = config.option.keyword or config.args_source is not pytest.Config.ArgsSource.TESTPATHS
    config.option.whole = config.option.whole or config.option.all or bool(chosen)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker of pytest-xdist, which has the command line alone, what was drawn."""
    node.workerinput["drawn"] = node.config.option.seed, node.config.option.whole


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Each library's tests to one worker, where nobody asks for another way."""
    if config.getvalue("dist") != "load":
        return None
    from tests.workers import ByLibrary

    return ByLibrary(config, log)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Come to the end."""
    compiled.end()


def _seed_of(config: pytest.Config) -> str:
    return f"seed: {config.option.seed} (to draw the same again: --seed {config.option.seed})"


def pytest_report_header(config: pytest.Config) -> str:
    """The seed, before."""
    return _seed_of(config)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """How many tests were drawn; and the seed, where something failed, at the end too."""
    if _DRAWN in config.stash:
        terminalreporter.write_line(_told(config.stash[_DRAWN]))
    if terminalreporter.stats.keys() & {"failed", "error"}:
        terminalreporter.write_line(_seed_of(config))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Long tests are for runs of everything, and for whoever names their file."""
    if config.option.whole:
        return
    left = drawing.left_out(items, config.option.seed)
    config.stash[_DRAWN] = len(items) - len(left), len(items)
    if left:
        config.hook.pytest_deselected(items=[item for item in items if item in left])
        items[:] = [item for item in items if item not in left]


def _told(drawn: tuple[int, int]) -> str:
    return f"{drawn[0]} of {drawn[1]} tests are drawn by the seed, see CONTRIBUTING.md (all: --all)"


def pytest_report_collectionfinish(config: pytest.Config) -> list[str]:
    """How many tests were drawn of how many."""
    return [_told(config.stash[_DRAWN])] if _DRAWN in config.stash else []


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Tell the process that started this worker of pytest-xdist, if it is one, how many tests were drawn."""
    if hasattr(session.config, "workeroutput") and _DRAWN in session.config.stash:
        session.config.workeroutput["drawn"] = session.config.stash[_DRAWN]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Keep what a worker told for the summary: only workers collect tests."""
    if drawn := getattr(node, "workeroutput", {}).get("drawn"):
        node.config.stash[_DRAWN] = tuple(drawn)


def pytest_collection(session: pytest.Session) -> None:
    """Importing the libraries makes millions of objects that stay: no search for garbage walks them meanwhile."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    """Nor later; and what is made is walked less often than every 700 objects: tracing a program makes tens of thousands."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


def _fails_for_want(report: Any, config: pytest.Config) -> Any:
    """Turn a skip into a failure under ``--no-skips``, unless its reason says that the test does not apply."""
    if report.skipped and config.option.no_skips and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if not reason.startswith(rows.INAPPLICABLE):
            report.outcome = "failed"
            report.longrepr = f"skipped for want of what it needs, which --no-skips forbids: {reason}"
    return report


@contextmanager
def _skips_for_want_of_a_library() -> Iterator[None]:
    """Skip a test that asks for a library which is not installed, whether a parameter or its body names that."""
    try:
        yield
    except (ad.BackendNotInstalledError, ModuleNotFoundError) as error:
        for name in set(_BACKENDS) - set(ad.available_backends()):
            if f"'{name}'" in str(error):
                pytest.skip(f"{name} is not installed")
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """Look at what a fixture asks for."""
    with _skips_for_want_of_a_library():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Look at what a test asks for."""
    with _skips_for_want_of_a_library():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Look at the reason of a test's skip."""
    return _fails_for_want((yield), item.config)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Look at the reason of a file's skip."""
    return _fails_for_want((yield), collector.config)


@pytest.fixture(scope="session")
def seed(request: pytest.FixtureRequest) -> int:
    """What this run draws by; another in each run, and printed."""
    return int(request.config.option.seed)


@pytest.fixture
def drawn(request: pytest.FixtureRequest) -> Callable[..., list[Any]]:
    """``drawn(values, backend, one_of)``: what of a table this run takes on JAX; see :func:`tests.rows.drawn`."""
    return partial(rows.drawn, request)


@pytest.fixture(scope="session")
def effort(request: pytest.FixtureRequest) -> int:
    """How many times as much work a run of everything does, where a test may do more or less."""
    return 20 if request.config.option.all else 1


@pytest.fixture(params=_BACKENDS)
def backend(request: pytest.FixtureRequest) -> str:
    """Each backend by name; skipped where its library is missing."""
    if request.param not in ad.available_backends():
        pytest.skip(f"{request.param} is not installed")
    return str(request.param)


@pytest.fixture
def nobody_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recorded calls may warn later: in tests, where warnings are errors, they would run at once."""
    monkeypatch.setattr(block_reports, "heeded", False)


@pytest.fixture
def break_kernel(
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Callable[[Backend, np.ufunc, Callable[[Any], Any]], None]]:
    """``break_kernel(backend, ufunc, wrong)``: until the test ends, a library's kernel gives what ``wrong`` makes of its result."""
    tables: list[dict[Any, Any]] = []

    def broken(backend: Backend, ufunc: np.ufunc, wrong: Callable[[Any], Any]) -> None:
        right = backend.UFUNCS[ufunc]
        monkeypatch.setitem(backend.UFUNCS, ufunc, lambda *args: wrong(right(*args)))
        monkeypatch.setattr(backend, "kernel", lambda u, *rest: backend.UFUNCS[u])
        tables.append(plans.PLANS.setdefault(ufunc, {}))
        tables[-1].clear()  # not replaced: what calls are made by holds it

    yield broken
    for table in tables:
        table.clear()


@pytest.fixture(autouse=True)
def how_jax_compiles(request: pytest.FixtureRequest) -> None:
    """Quickly, in a run of the whole suite, but for tests of last bits. It is imported as we import it, whoever needs it first.

    Otherwise a call that a test of signals interrupts may leave every later call of the same program waiting (backends/jax/importing.py).
    """
    named = {part for part in re.split(r"[-\[\]]", request.node.nodeid) if part in _BACKENDS}
    if "jax" not in sys.modules and "jax" in request.node.nodeid and "jax" in ad.available_backends():
        importlib.import_module("arraydispatch.backends.jax.importing")
    if "jax" in sys.modules and named <= {"jax"}:
        compiled.quickly(not (request.config.option.whole or compiled.looks_at_last_bits(request.node.nodeid)))


@pytest.fixture(autouse=True, scope="module")
def programs_are_let_go(request: pytest.FixtureRequest) -> Iterator[None]:
    """In a run of everything, after each file: what JAX compiled for all rows of all tables takes 15 GiB."""
    yield
    if request.config.option.all and "jax" in sys.modules:
        compiled.let_go()


@pytest.fixture(autouse=True)
def process_state_is_kept() -> Iterator[None]:
    """No test may leave the process otherwise than it found it: what runs after it would test something else."""
    assert ad.Array is not None  # loaded, with what makes arrays
    before = process.held()
    wide = getattr(sys.modules.get("jax"), "enable_x64", None)
    held = None if wide is None else wide.get_local()
    yield
    if wide is not None:  # which an exception of a test of signals may leave on, between a line of JAX's and the next
        wide.set_local(held)
    now = process.held()
    before["blocks_entered"] = now["blocks_entered"]  # which stays so, once it is
    before |= {name: now[name] for name in ("rules", "wrapper") if before[name] is None}  # made on first use
    assert now == before
