"""Runs one test module in a process of its own, and goes on behind a test that crashes or hangs."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from . import plugin
from .suites import HERE, Settings, Suite, Usage

__all__ = ["ModuleResult", "Test", "read_events", "run_module"]

_RESTARTS = 20
_POLL_SECONDS = 0.1
_USAGE_ERROR = 4  # pytest.ExitCode.USAGE_ERROR

# Reports short enough to be made ten thousand times.
_PYTEST = [
    "-p", "conformance.plugin", "-p", "no:cacheprovider", "-q", "--tb=native", "--show-capture=no", "--no-summary",
]  # fmt: skip


@dataclass
class Test:
    """How one test ended: ``passed``, ``failed``, ``skipped`` or ``crashed``."""

    __test__ = False  # not a class of tests, though pytest would take it for one

    outcome: str
    error: str = ""
    place: str = ""
    example: str = ""


@dataclass
class ModuleResult:
    """How one module ended.

    Attributes
    ----------
    module : str
        Its name.
    tests : dict
        Each test by its name within the module.
    total : int
        How many tests there are to run.
    error : str
        Why the module as a whole did not run (it does not import, or died outside any test); empty if it did.
    calls, host : dict
        Calls of NumPy functions by class of entry, and those on the host by function and reason.
    large, large_host : dict
        The same of SciPy's functions on large arrays.
    left_out : int
        Tests not run because a data file says so.
    seconds : float
        Wall time.
    """

    module: str
    tests: dict[str, Test] = field(default_factory=dict)
    total: int = 0
    error: str = ""
    calls: dict[str, int] = field(default_factory=dict)
    host: dict[str, int] = field(default_factory=dict)
    large: dict[str, int] = field(default_factory=dict)
    large_host: dict[str, int] = field(default_factory=dict)
    left_out: int = 0
    seconds: float = 0.0

    def count(self, outcome: str) -> int:
        """How many tests ended so."""
        return sum(test.outcome == outcome for test in self.tests.values())


_TEST = tuple(field.name for field in fields(Test))


@dataclass
class _Attempt:
    """What one process has told so far."""

    current: str | None = None
    since: float = 0.0
    finished: bool = False


def read_events(text: str, result: ModuleResult, attempt: _Attempt) -> None:
    """Enter the events of whole lines into the result."""
    for line in text.splitlines():
        event: dict[str, Any] = json.loads(line)
        kind = event["event"]
        if kind == "collected":
            result.total = max(result.total, len(result.tests) + len(event["tests"]))
        elif kind == "uncollected":
            result.error = event["error"]
        elif kind == "start":
            attempt.current, attempt.since = event["test"], time.monotonic()
        elif kind == "end":
            attempt.current = None
            result.tests[event["test"]] = Test(**{key: event[key] for key in _TEST if key in event})
        elif kind == "finish":
            attempt.finished = True
            for name in ("calls", "host", "large", "large_host"):
                counts = getattr(result, name)
                for key, count in event.get(name, {}).items():
                    counts[key] = counts.get(key, 0) + count


def _command(suite: Suite, module: str, settings: Settings) -> list[str]:
    path = suite.file_of(module)
    select = ["-k", settings.select] if settings.select else []
    return [
        *suite.python(path, settings),
        "-m",
        "pytest",
        *_PYTEST,
        *suite.pytest_options(settings),
        *select,
        str(path),
    ]


def _environment(suite: Suite, settings: Settings, events: Path, skip: Path) -> dict[str, str]:
    paths = [str(HERE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {
        # One process for each core is the better use of several, and sums then have one order.
        "OMP_NUM_THREADS": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        **os.environ,
        **suite.environment(settings),
        "PYTHONPATH": os.pathsep.join(paths),
        plugin.EVENTS: str(events),
        plugin.SKIP: str(skip),
    }


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and those it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _died(code: int) -> str:
    if code < 0:
        with contextlib.suppress(ValueError):
            return f"the process died of {signal.Signals(-code).name}"
    return f"the process ended with exit code {code}"


def _last_line(log: Path) -> str:
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    return lines[-1].strip() if lines else ""


def run_module(
    suite: Suite,
    module: str,
    settings: Settings,
    left_out: frozenset[str],
    progress: Callable[[ModuleResult], None],
    stop: threading.Event,
) -> ModuleResult:
    """Run a module's tests.

    Parameters
    ----------
    suite : Suite
        Whose tests.
    module : str
        Its name.
    settings : Settings
        How.
    left_out : frozenset of str
        Tests not to run, by their name within the module.
    progress : callable
        Told the result so far, now and then.
    stop : threading.Event
        Set when the run is given up.
    """
    result = ModuleResult(module, left_out=len(left_out))
    start = time.monotonic()
    for _ in range(_RESTARTS):
        with tempfile.TemporaryDirectory(prefix="conformance-") as folder:
            again = _attempt(suite, result, settings, left_out, progress, stop, Path(folder), start + settings.timeout)
        if not again:
            break
    else:
        result.error = f"{_RESTARTS} crashes; the tests behind the last one were not run"
    result.seconds = time.monotonic() - start
    return result


def _attempt(
    suite: Suite,
    result: ModuleResult,
    settings: Settings,
    left_out: frozenset[str],
    progress: Callable[[ModuleResult], None],
    stop: threading.Event,
    folder: Path,
    deadline: float,
) -> bool:
    """Run those tests that have no outcome yet; whether a crash makes another attempt worth while."""
    events, skip, log, work = (folder / name for name in ("events", "skip", "log", "work"))
    work.mkdir()  # the tests' files go here, and no module of ours lies beside them
    events.touch()
    skip.write_text(json.dumps([*left_out, *result.tests]), encoding="utf-8")
    attempt = _Attempt()
    with log.open("wb") as output:
        process = subprocess.Popen(
            _command(suite, result.module, settings), cwd=work, env=_environment(suite, settings, events, skip),
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    why = ""
    with events.open(encoding="utf-8") as stream:
        rest = ""
        try:
            while True:
                ended = process.poll() is not None
                whole, newline, rest = (rest + stream.read()).rpartition("\n")
                read_events(whole + newline, result, attempt)
                progress(result)
                if ended or stop.is_set():
                    break
                now = time.monotonic()
                if now > deadline:
                    why = f"no time left after {settings.timeout:.0f} s for the module"
                    break
                if attempt.current is not None and now - attempt.since > settings.test_timeout:
                    why = f"no end within {settings.test_timeout:.0f} s"
                    break
                time.sleep(_POLL_SECONDS)
        finally:
            _end(process)
    if stop.is_set() or (attempt.finished and not why):
        return False
    if process.returncode == _USAGE_ERROR and not result.tests:
        raise Usage(_last_line(log).removeprefix("ERROR: ").removeprefix("E ").strip())
    why = why or _died(process.returncode)
    if attempt.current is not None:
        result.tests[attempt.current] = Test("crashed", why)
    if attempt.current is None or time.monotonic() > deadline:
        result.error = result.error or f"{why}: {_last_line(log)}"[:300]
        return False
    return True
