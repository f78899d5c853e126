"""Notebook cells on a backend: ``%load_ext arraydispatch``, then ``%arraydispatch --backend jax`` or ``%%arraydispatch``.

``%arraydispatch`` holds for all later cells until ``%arraydispatch off``; ``%%arraydispatch`` holds for its own cell. In such a
cell, ``np`` is the facade that a script under ``arraydispatch run`` imports, even if an earlier cell has imported NumPy. After the
cell NumPy is itself again; arrays that the cell made stay on the backend.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import shlex
import sys
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from types import FrameType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class

from ...backends import loader
from ...common.callers import number_cells
from ...common.errors import ArrayDispatchError
from ...common.patching import Exchange, Exchanges
from ...common.process_state import process
from ...profiling.report import WRITERS, Run, print_report, print_verification, write
from ...profiling.verification import Verification
from .. import facade, numpy_classes, package_patches, processes, runner, tracebacks
from ..activation import Activation
from ..options import Choices
from ..session import Spoken
from ..user_files import UserFiles
from . import UsageError as CommandError
from .parsers import cell_parser


@magics_class
class _ArrayDispatch(Magics):  # type: ignore[misc]
    later: _Later | None = None
    """Mode of later cells, set by ``%arraydispatch``; None if there is none."""

    @line_cell_magic  # type: ignore[untyped-decorator]
    def arraydispatch(self, line: str, cell: str | None = None) -> None:
        """Run NumPy code on a backend: ``%%`` for this cell, ``%`` for all later ones. ``%arraydispatch --help`` lists the options."""
        shell: Any = self.shell
        if cell is None and line.split() == ["off"]:
            print("arraydispatch: off" if self.later is not None else "arraydispatch: off (no backend was on)")
            if self.later is not None:
                self.later.end()
            self.later = None
            return
        try:
            options = _options(line)
            if options is None:
                return
            mode = _Mode(shell, options)
            with mode.choices.applied():  # raises now if an option cannot be applied
                pass
        except (CommandError, ArrayDispatchError, ImportError, runner.NotFound) as error:
            raise UsageError(str(error)) from None
        if cell is None:
            if self.later is not None:
                self.later.end()
            self.later = _Later(shell, mode)
            print(f"arraydispatch: later cells run on {mode.place()}; %arraydispatch off ends it")
        else:
            beside = nullcontext() if self.later is None else self.later.mode.silent(mode)
            with beside, mode.held():
                result = _run(shell, cell)
            _raise(result)


class _Mode:
    """Mode in which cells run, from the options of a magic."""

    def __init__(self, shell: Any, options: Any) -> None:
        self._shell, self._options = shell, options
        self.choices = Choices.of(options)
        self._users = UserFiles([root for name in options.include for root in runner.include_roots(name)])
        self._users.add_namespace(shell.user_ns)
        self._listeners: tuple[Spoken, Verification | None] | None = None
        """Profiles and verification of all cells so far, if the report goes to a file."""
        self._seconds = 0.0
        self._running: tuple[Spoken, Verification | None] | None = None

    def place(self) -> str:
        """Return the backend, its version and device, and the reason for the choice if no option names the backend."""
        chosen = self.choices.settled()
        name = str(chosen.backend)
        device = "" if chosen.device is None else f", device {chosen.device}"
        return f"{name} {loader.version(name)}{device}{f' ({chosen.why})' if chosen.why else ''}"

    def _listening(self) -> tuple[Spoken, Verification | None]:
        owns = self._users.has_file
        verification = Verification(sys.stderr, owns) if self._options.verify else None
        return Spoken(self._options.on_fallback == "warn", owns=owns), verification

    @contextmanager
    def silent(self, other: _Mode) -> Iterator[None]:
        """Suppress messages while a nested cell has its own mode, which prints them."""
        if self._running is None:
            yield
            return
        profile, verification = self._running
        with ExitStack() as stack:
            stack.enter_context(profile.silent())
            if verification is not None and other._options.verify:
                verification.stop()
                stack.callback(facade.renew)
                stack.callback(verification.start)
                facade.renew()
            yield

    @contextmanager
    def held(self, later: bool = False) -> Iterator[None]:
        """Keep the mode in force while a cell runs, and print its report afterwards."""
        profile, verification = self._running = self._listeners or self._listening()
        if self._options.report:
            self._listeners = profile, verification
        with self.choices.applied():
            with ExitStack() as stack:
                stack.enter_context(Activation(self._users, profile.adopted))
                stack.enter_context(profile)
                stack.callback(setattr, self, "_running", None)
                if verification is not None:
                    stack.callback(facade.renew)
                    stack.enter_context(verification)
                    facade.renew()
                stack.callback(facade.give_back, names := self._shell.user_ns)
                facade.take(names)
                yield
            # Results that other cells compute with this cell's arrays must look like ndarrays to them.
            process.change(wrapper=numpy_classes.make)
            self._seconds += profile.wall
            if later and not (
                profile.calls_by_class() or profile.transfers() or (verification and verification.checked)
            ):
                return  # nothing was computed, as in the cell that ends the mode
            self._report(profile, verification)

    def _report(self, profile: Spoken, verification: Verification | None) -> None:
        options, found = self._options, None if verification is None else verification.as_dict()
        run = Run.of(profile)._replace(seconds=self._seconds if options.report else profile.wall, verification=found)
        sys.stdout.flush()
        if options.report:
            write(WRITERS[os.path.splitext(options.report)[1]], options.report, profile, run)
        elif options.report is not None:
            print_report(profile, run, sys.stdout, full=True)
        if found is not None and options.report != "":
            print_verification(found, sys.stdout)


class _Later:
    """Mode of all later cells, until :meth:`end`."""

    def __init__(self, shell: Any, mode: _Mode) -> None:
        self._shell, self.mode = shell, mode
        self._cell: ExitStack | None = None
        self._depth = 0
        shell.events.register("pre_run_cell", self._before)
        shell.events.register("post_run_cell", self._after)

    def end(self) -> None:
        """End the mode, from the next cell on."""
        self._shell.events.unregister("pre_run_cell", self._before)
        if self._cell is None:
            self._shell.events.unregister("post_run_cell", self._after)

    def _before(self, _info: Any) -> None:
        self._depth += 1
        if self._depth == 1:
            with ExitStack() as stack:
                stack.enter_context(self.mode.held(later=True))
                self._cell = stack.pop_all()

    def _after(self, _result: Any) -> None:
        if self._cell is None:  # this is the cell that began the mode
            return
        self._depth -= 1
        if self._depth == 0:
            cell, self._cell = self._cell, None
            if self._before not in self._shell.events.callbacks["pre_run_cell"]:
                self._shell.events.unregister("post_run_cell", self._after)
            cell.close()


def _options(line: str) -> Any:
    """Return the options in the words after the magic; if these ask for help, print the help and return None. Raise the command's
    UsageError for wrong options.
    """
    parser = cell_parser()
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise CommandError(f"{error} in: {line}") from None
    if {"-h", "--help"} & set(words):
        parser.print_help()
        return None
    options = parser.parse_args(words)
    if options.report and os.path.splitext(options.report)[1] not in WRITERS:
        raise CommandError(f"--report: {options.report!r} must end in one of: {', '.join(WRITERS)}.")
    return options


def _run(shell: Any, cell: str) -> Any:
    """Run a cell and return IPython's result. An error of the cell is not shown here, but when :func:`_raise` raises it."""
    with ExitStack() as stack:
        exchanges = stack.enter_context(Exchanges())
        for name in ("showtraceback", "showsyntaxerror"):
            exchanges.put(f"IPython.core.interactiveshell:InteractiveShell.{name}", _silent, shell)
        if asyncio._get_running_loop() is not None:
            stack.enter_context(_set(shell, "loop_runner", _run_beside))
        stack.enter_context(_set(shell, "execution_count", _running(shell)))
        # Readers see the magic as the first line of the cell; another cell magic has to come first.
        above = "" if cell.lstrip().startswith("%%") else "# %%arraydispatch\n"
        return shell.run_cell(above + cell, store_history=False)


def _silent(_: Exchange) -> Any:
    return lambda *_args, **_kwargs: None


def _running(shell: Any) -> int:
    """Return the number of the cell that calls a magic: IPython 9 increments its counter before it runs a cell."""
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if (number := _number(shell, frame.f_code.co_filename)) is not None:
            return int(number)
        frame = frame.f_back
    return int(shell.execution_count)


def _number(shell: Any, file: str) -> str | None:
    """Return the number of the cell with a file name."""
    named = shell.compile.format_code_name(file)
    return None if named is None else str(named[1]).strip("In[]")


@contextmanager
def _set(owner: Any, name: str, value: Any) -> Iterator[None]:
    """Replace an attribute while the block runs."""
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _run_beside(cell: Coroutine[Any, Any, Any]) -> Any:
    """Run a cell that uses ``await`` in its own event loop: the notebook's loop is busy with the cell around this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(contextvars.copy_context().run, asyncio.run, cell).result()


def _raise(result: Any) -> None:
    """Raise the error that ended a cell, if there is one, so that its traceback shows only frames of the cell."""
    error = result.error_before_exec or result.error_in_exec
    if error is not None:
        _came_through[id(error)] = error.__traceback__
    result.raise_error()


_came_through: dict[int, Any] = {}
"""id of an error that ended a cell -> its traceback, with the frames of the cell only."""


_of_the_shell = Exchanges()


def _see_to(shell: Any) -> None:
    """Make the shell hide this package's frames in errors, and treat arrays of cells that ran on a backend as ndarrays in its functions.

    This happens once, however often the extension is loaded.
    """
    _of_the_shell.undo()
    _of_the_shell.put("IPython.core.ultratb:AutoFormattedTB.structured_traceback", _showing, shell.InteractiveTB)
    _of_the_shell.put("functools:_find_impl", package_patches.finding)
    _of_the_shell.put("IPython.core.ultratb:SyntaxTB.structured_traceback", _showing_syntax, shell.SyntaxTB)


def _showing(exchange: Exchange) -> Any:
    def structured_traceback(etype: Any = None, value: Any = None, tb: Any = None, *args: Any, **kwargs: Any) -> Any:
        tb = _came_through.pop(id(value), tb)
        if value is None or tb is None:
            return exchange.real(etype, value, tb, *args, **kwargs)
        value.__traceback__ = tb
        tracebacks.strip(value)
        return exchange.real(etype, value, value.__traceback__, *args, **kwargs)

    return structured_traceback


def _showing_syntax(exchange: Exchange) -> Any:
    def structured_traceback(etype: Any, value: Any, frames: Any = None, *args: Any, **kwargs: Any) -> Any:
        if id(value) in _came_through:  # a syntax error of the cell itself: none of it ran
            del _came_through[id(value)]
            frames = []
        return exchange.real(etype, value, frames, *args, **kwargs)

    return structured_traceback


def load(shell: Any) -> None:
    """Register the magics, and make forks work."""
    shell.register_magics(_ArrayDispatch)
    processes.survive_forks()
    number_cells(partial(_number, shell))
    process.cells = shell.user_ns
    _see_to(shell)
