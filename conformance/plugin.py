"""The pytest plugin inside each run: reports every test as a line of JSON, so that a crash loses none.

It is named by ``-p conformance.plugin`` and reads two environment variables: where to write the events, and which
tests to leave out.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import time
import traceback
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

EVENTS = "CONFORMANCE_EVENTS"
"""Environment variable: the file to which the events are appended."""
SKIP = "CONFORMANCE_SKIP"
"""Environment variable: a JSON file with the tests not to run, by what follows the file in their node id."""

PRIVATE = (
    "numpy._core",
    "numpy._core.multiarray",
    "numpy._core.numeric",
    "numpy.lib._function_base_impl",
    "numpy.lib._index_tricks_impl",
    "numpy.lib._nanfunctions_impl",
    "numpy.lib._stride_tricks_impl",
    "numpy.linalg._linalg",
)
"""NumPy's tests import public functions from these too; users do not, so the launcher has no facade for them."""

_MESSAGE = 500  # characters of an error
_EXAMPLE = re.compile(r"(?:Failing test case|Falsifying example): ")  # how Hypothesis' note begins, now and before
_FRAMES = 4
_RUNNER = ("_pytest/", "pluggy/")
_SITE = f"{os.sep}site-packages{os.sep}"
_HERE = Path(__file__).parents[1].name
# What comes before a package in a path, where a message quotes a traceback.
_PATHS = re.compile(rf"[^\s\"']*(?:{re.escape(_SITE)}|{os.sep}{re.escape(_HERE)}{os.sep}(?=arraydispatch{os.sep}))")


def test_name(nodeid: str) -> str:
    """A node id without its file, which is the same for all tests of a run."""
    return nodeid.partition("::")[2] or nodeid


class Reporter:
    """Writes what happens as it happens.

    Parameters
    ----------
    path : str
        File of the events.
    skip : frozenset of str
        Tests to deselect.
    """

    def __init__(self, path: str, skip: frozenset[str]) -> None:
        self._path = Path(path)
        self._skip = skip
        self._state: dict[str, str] = {}
        self._failures: dict[str, dict[str, Any]] = {}
        self.large: Any = None

    def _tell(self, **event: Any) -> None:
        # Opened for each line: a test may close file descriptors, fork or kill the process.
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(event) + "\n")

    # -- collecting ------------------------------------------------------------------------------------------------

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out what the run is told to leave out."""
        kept = [item for item in items if test_name(item.nodeid) not in self._skip]
        if len(kept) < len(items):
            config.hook.pytest_deselected(items=[item for item in items if test_name(item.nodeid) in self._skip])
            items[:] = kept

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Say how many tests there are."""
        self._tell(event="collected", tests=[test_name(item.nodeid) for item in session.items])

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module that does not import is a failure of its own."""
        if report.failed:
            lines = str(report.longrepr).strip().splitlines() or ["collection failed"]
            self._tell(event="uncollected", error=lines[-1][:_MESSAGE], place="")

    # -- running ---------------------------------------------------------------------------------------------------

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Say which test begins: a crash is charged to it."""
        self._state[nodeid] = ""
        self._tell(event="start", test=test_name(nodeid), at=time.time())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """Note the error of a failing phase, and where in our code it happened."""
        report: Any = yield
        if report.failed and call.excinfo is not None and item.nodeid not in self._failures:
            error = call.excinfo.value
            while isinstance(error, BaseExceptionGroup):  # Hypothesis found several
                error = error.exceptions[0]
            notes = [note for note in getattr(error, "__notes__", ()) if _EXAMPLE.match(note)]
            self._failures[item.nodeid] = {
                "error": _line(f"{type(error).__name__}: {error}"),
                "place": _place(error),
                "example": _line(_EXAMPLE.sub("", notes[0])) if notes else "",
            }
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up the three phases of a test."""
        before = self._state.get(report.nodeid, "")
        expected = hasattr(report, "wasxfail")
        if report.failed:
            self._state[report.nodeid] = "failed"
        elif not before:
            if report.skipped or (expected and report.when == "call"):
                self._state[report.nodeid] = "skipped"
            elif report.when == "call":
                self._state[report.nodeid] = "passed"

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Say how the test ended."""
        outcome = self._state.pop(nodeid, "") or "skipped"
        self._tell(event="end", test=test_name(nodeid), outcome=outcome, **self._failures.pop(nodeid, {}))

    def pytest_sessionfinish(self) -> None:
        """Add up what ran where."""
        events = sys.modules.get("arraydispatch.common.events")
        profile = events.tap if events is not None else None
        classes: dict[str, int] = {}
        host: dict[str, int] = {}
        for call in profile.calls() if profile is not None else ():
            classes[call.kind] = classes.get(call.kind, 0) + call.count
            if call.kind == "host":
                key = f"{call.function}: {call.reason}"
                host[key] = host.get(key, 0) + call.count
        large = self.large
        counted = {} if large is None else {"large": large.calls, "large_host": large.host}
        self._tell(event="finish", calls=classes, host=host, **counted)


def _short(path: str) -> str:
    """A path from its package on: where this machine keeps the package tells nobody anything."""
    for root in (_SITE, f"{os.sep}{_HERE}{os.sep}"):
        _, found, rest = path.rpartition(root)
        if found:
            return rest.replace(os.sep, "/")
    return path.rpartition(os.sep)[2]


def _line(text: str) -> str:
    return _PATHS.sub("", " ".join(text.split()))[:_MESSAGE]


def _place(error: BaseException) -> str:
    """The innermost frames, which tell one cause from another."""
    stack = traceback.extract_tb(error.__traceback__)
    frames = [f"{_short(entry.filename)}:{entry.lineno}:{entry.name}" for entry in stack]
    frames = [frame for frame in frames if not frame.startswith(_RUNNER)]
    return " < ".join(reversed(frames[-_FRAMES:]))


LARGE = 1000
"""Elements that a call of SciPy's moves to the host, or that the library makes, to count as a large one."""


def counter_of_large_calls() -> Any:
    """A listener that counts the large calls of SciPy's functions, by who computed them."""
    from arraydispatch.common import events, names

    class Counter(events.Listener):
        each = False

        def __init__(self) -> None:
            self.calls: dict[str, int] = {}
            self.host: dict[str, int] = {}
            self._moved = 0

        def transfer(self, direction: str, nbytes: int, why: str, host: Any = None) -> None:
            if direction == "to_host":
                self._moved = max(self._moved, math.prod(getattr(host, "shape", (nbytes // 8,))))

        def call(
            self, func: Any, backend: str, kind: str, reason: str, seconds: float, result: Any = None, doors: int = 1
        ) -> None:
            moved, self._moved = self._moved, 0
            name = names.name_of(func)
            if not name.startswith("scipy."):
                return
            made = result[0] if isinstance(result, tuple | list) and result else result
            if max(moved, math.prod(getattr(made, "shape", ()))) < LARGE:
                return
            self.calls[kind] = self.calls.get(kind, 0) + 1
            if kind == "host":
                self.host[f"{name}: {reason}"] = self.host.get(f"{name}: {reason}", 0) + 1

    return Counter()


def _counting() -> Any:
    """A counter of large calls that listens behind the launcher's profile."""
    from arraydispatch.common import events

    profile: Any = events.tap
    if profile is None:
        return None
    counter = counter_of_large_calls()
    profile.stop()
    events.begin(counter)
    profile.start()
    return counter


class _OfStandIns(dict[Any, Any]):
    """SciPy's table of what its functions can do, which its tests look up by function: by what stands in for one, too."""

    def __missing__(self, func: Any) -> Any:
        return self[func.__wrapped__]


def _namespace() -> Any:
    """The facade, as the namespace that SciPy's tests take NumPy's arrays to be of: they ask whether it is equal to that."""
    import numpy as np

    from arraydispatch.launcher.facade import Facade

    class Namespace(Facade):
        def __eq__(self, other: object) -> bool:
            return getattr(other, "__name__", "").rpartition(".")[2] == "numpy"

        def __hash__(self) -> int:
            return hash("numpy")

    return Namespace(np)


class FacadeAsNamespace:
    """SciPy's tests make their arrays by a fixture, ``xp``: NumPy, which under a launcher is what user files import as it."""

    def __init__(self) -> None:
        self._facade = _namespace()

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Generator[None, Any, Any]:
        """Hand out the facade."""
        made = yield
        if fixturedef.argname != "xp" or "numpy" not in getattr(made, "__name__", ""):
            return made
        fixturedef.cached_result = (self._facade, fixturedef.cache_key(request), None)
        return self._facade


def pytest_configure(config: pytest.Config) -> None:
    """Begin reporting; under a launcher, also show the tests the facade of NumPy's private modules."""
    path = os.environ.get(EVENTS)
    if path is None:
        return
    skip = json.loads(Path(os.environ[SKIP]).read_text(encoding="utf-8")) if SKIP in os.environ else []
    reporter = Reporter(path, frozenset(skip))
    config.pluginmanager.register(reporter, "conformance-reporter")
    if "arraydispatch.launcher.adoption" in sys.modules:
        from arraydispatch.launcher import facade

        facade.SUBMODULES = facade.SUBMODULES.union(PRIVATE)
        if config.inipath is not None and config.inipath.stem == "scipy":
            import scipy._lib._array_api as said

            said.xp_capabilities_table = _OfStandIns(said.xp_capabilities_table)
            config.pluginmanager.register(FacadeAsNamespace(), "conformance-namespace")
            reporter.large = _counting()
