"""Runs a test suite on a backend: ``pytest -p arraydispatch.pytest_plugin --arraydispatch=torch``.

The tests, their ``conftest.py`` files and everything else under pytest's root are user code: they see the facade
of NumPy, as a script under ``arraydispatch run`` does. So is the package under test if it is under this root; an installed package
is named with ``--arraydispatch-include``.
"""

from __future__ import annotations

import io
import json
import os
from contextlib import ExitStack
from typing import Any

import pytest

from .common.errors import ArrayDispatchError
from .launcher import processes, runner
from .launcher.activation import Activation
from .launcher.options import PRECISIONS, Choices
from .launcher.user_files import UserFiles
from .profiling.line_counts import Tally
from .profiling.recorder import Profile
from .profiling.report import Run, print_report

__all__ = [
    "pytest_addoption", "pytest_load_initial_conftests", "pytest_sessionfinish", "pytest_terminal_summary", "pytest_testnodedown",
    "pytest_unconfigure",
]  # fmt: skip

_running: list[tuple[ExitStack, Profile]] = []
_COUNTS = "arraydispatch_counts"
"""Name under which a worker of pytest-xdist passes its counts on."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options, named as those of ``arraydispatch run``."""
    group = parser.getgroup("arraydispatch", "NumPy code on another array library")
    group.addoption("--arraydispatch", metavar="B", default=None, help="the backend to run the tests on")
    group.addoption("--arraydispatch-device", metavar="D", default=None, help="a device of the backend")
    group.addoption(
        "--arraydispatch-precision", metavar="P", default=None, choices=PRECISIONS, help="bits of floating results"
    )
    group.addoption("--arraydispatch-min-size", metavar="N", type=int, default=None,
                    help="arrays of fewer elements stay on the host until they meet one on the device")  # fmt: skip
    group.addoption("--arraydispatch-include", metavar="PATH_OR_PACKAGE", action="append", default=[],
                    help="more user code: a file, a folder, a glob or an installed package (repeatable)")  # fmt: skip
    group.addoption("--arraydispatch-report", action="store_true", help="the long report at the end")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Put the facade in place before the first ``conftest.py`` imports NumPy."""
    options = early_config.known_args_namespace
    if options.arraydispatch is None:
        return
    choices = Choices(
        options.arraydispatch, options.arraydispatch_device, options.arraydispatch_precision,
        min_size=options.arraydispatch_min_size, on_fallback="silent",
    )  # fmt: skip
    try:
        choices.apply()
        included = [root for name in options.arraydispatch_include for root in runner.include_roots(name)]
    except (ArrayDispatchError, ImportError, runner.NotFound) as error:
        raise pytest.UsageError(f"--arraydispatch: {error}") from None
    users = UserFiles([str(early_config.rootpath), os.getcwd(), *included])
    stack, profile = ExitStack(), Profile()
    stack.enter_context(Activation(users, profile.adopted))
    stack.enter_context(profile)
    processes.survive_forks()
    _running.append((stack, profile))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In a worker of pytest-xdist, pass the counts to the process that reports."""
    handed_over = getattr(session.config, "workeroutput", None)
    if _running and handed_over is not None:
        handed_over[_COUNTS] = json.dumps(_running[-1][1].tally().to_json())


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take the counts of a worker of pytest-xdist that has ended; a worker that was killed has left no counts."""
    counts = getattr(node, "workeroutput", {}).get(_COUNTS)
    if _running and counts is not None:
        _running[-1][1].children.append(Tally.from_json(json.loads(counts)))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print where calls ran."""
    if _running:
        _, profile = _running[-1]
        text = io.StringIO()
        print_report(profile, Run.of(profile), text, full=config.getoption("--arraydispatch-report"))
        terminalreporter.ensure_newline()
        terminalreporter.write(text.getvalue())


def pytest_unconfigure() -> None:
    """Remove the facade."""
    if _running:
        _running.pop()[0].close()
