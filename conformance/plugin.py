"""The pytest plugin inside each run: reports every test as a line of JSON, so that a crash loses none.

It is named by ``-p conformance.plugin`` and reads two environment variables: where to write the events, and which
tests to leave out.
"""

from __future__ import annotations

import json
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
        events = sys.modules.get("arraydispatch.events")
        profile = events.tap if events is not None else None
        classes: dict[str, int] = {}
        host: dict[str, int] = {}
        for call in profile.calls() if profile is not None else ():
            classes[call.kind] = classes.get(call.kind, 0) + call.count
            if call.kind == "host":
                key = f"{call.function}: {call.reason}"
                host[key] = host.get(key, 0) + call.count
        self._tell(event="finish", calls=classes, host=host)


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


def pytest_configure(config: pytest.Config) -> None:
    """Begin reporting; under a launcher, also show the tests the facade of NumPy's private modules."""
    path = os.environ.get(EVENTS)
    if path is None:
        return
    skip = json.loads(Path(os.environ[SKIP]).read_text(encoding="utf-8")) if SKIP in os.environ else []
    config.pluginmanager.register(Reporter(path, frozenset(skip)), "conformance-reporter")
    if "arraydispatch.launcher.adoption" in sys.modules:
        from arraydispatch.launcher import tables

        tables.SUBMODULES = tables.SUBMODULES.union(PRIVATE)
