"""Notebook cells on a backend: ``%load_ext arraydispatch``, then ``%%arraydispatch --backend jax --report``.

In such a cell, NumPy is the facade that a script under ``arraydispatch run`` sees, also where an earlier cell imported it;
after the cell everything is as before. Arrays that the cell made stay on the backend.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import shlex
import sys
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any, cast

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, magics_class

from .cli import UsageError as CommandError, run_parser
from .errors import ArrayDispatchError
from .launcher import facade, processes, runner, tracebacks
from .launcher.choices import Choices
from .launcher.session import Spoken
from .launcher.userfiles import UserFiles
from .report import WRITERS, Run, print_report, write

__all__ = ["load"]


@magics_class
class _ArrayDispatch(Magics):  # type: ignore[misc]
    @cell_magic  # type: ignore[untyped-decorator]
    def arraydispatch(self, line: str, cell: str) -> None:
        """Run a cell's NumPy code on a backend; the options are those of ``arraydispatch run``."""
        with ExitStack() as stack:
            try:
                options = _options(line)
                users = UserFiles([root for name in options.include for root in runner.include_roots(name)])
                stack.enter_context(Choices.of(options).applied())
            except (CommandError, ArrayDispatchError, ImportError, runner.NotFound) as error:
                raise UsageError(str(error)) from None
            _accelerated(cast("Any", self.shell), cell, users, options).raise_error()


def _accelerated(shell: Any, cell: str, users: UserFiles, options: Any) -> Any:
    """Run a cell and report it; its result."""
    users.add_namespace(shell.user_ns)
    profile = Spoken(options.on_fallback == "warn", owns=users.has_file)
    with runner.accelerated(users, profile.adopted), profile:
        exchanged = _exchange(shell.user_ns)
        try:
            result = _run(shell, cell)
        finally:
            for name, (ours, theirs) in exchanged.items():
                if shell.user_ns.get(name) is ours:
                    shell.user_ns[name] = theirs
            _restore(shell.user_ns)
    tracebacks.strip(result.error_in_exec)
    if options.report:
        write(WRITERS[os.path.splitext(options.report)[1]], options.report, profile, Run.of(profile))
    elif options.report is not None:
        sys.stdout.flush()
        print_report(profile, Run.of(profile), sys.stdout, full=True)
    return result


def _options(line: str) -> Any:
    options = run_parser().parse_args(shlex.split(line))
    if options.module or options.trace or options.verify:
        raise CommandError("-m, --trace and --verify are for scripts, not for cells.")
    if options.report and os.path.splitext(options.report)[1] not in WRITERS:
        raise CommandError(f"--report: {options.report!r} must end in one of: {', '.join(WRITERS)}.")
    return options


def _run(shell: Any, cell: str) -> Any:
    """The cell's result; its error is shown once, by whoever raises it."""
    before = {name: getattr(shell, name) for name in ("showtraceback", "showsyntaxerror", "loop_runner")}
    shell.showtraceback = shell.showsyntaxerror = lambda *_args, **_kwargs: None
    if asyncio._get_running_loop() is not None:
        shell.loop_runner = _run_beside
    try:
        return shell.run_cell(cell, store_history=False)
    finally:
        for name, value in before.items():
            setattr(shell, name, value)


def _run_beside(cell: Coroutine[Any, Any, Any]) -> Any:
    """Run a cell that awaits in a loop of its own: a notebook's is busy with the cell that this one is in."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(contextvars.copy_context().run, asyncio.run, cell).result()


def _exchange(namespace: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Put the facade's in place of NumPy's modules and functions: name -> (ours, NumPy's)."""
    exchanged = {}
    for name, value in list(namespace.items()):
        ours = facade.counterpart(value)
        if ours is not value:
            exchanged[name] = ours, value
            namespace[name] = ours
    return exchanged


def _restore(namespace: dict[str, Any]) -> None:
    """Give what the cell itself imported its real self."""
    for name, value in list(namespace.items()):
        namespace[name] = facade.original(value)


def load(shell: Any) -> None:
    """Register the magics, and see to it that forks work."""
    shell.register_magics(_ArrayDispatch)
    processes.survive_forks()
