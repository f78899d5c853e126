"""Run of the launcher, from its first line to its report, however it ends.

Every end of the program that :mod:`arraydispatch.launcher.exits` notices produces the report. It cannot notice a crash in native code
or a kill; for these the report file is rewritten regularly while the program runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ..api import public
from ..backends import loader
from ..common import callers
from ..common.callers import shown, straight
from ..common.names import name_of
from ..common.process_state import process
from ..profiling import report
from ..profiling.line_counts import Tally
from ..profiling.recorder import Profile
from ..runtime import settings
from . import exits, process_counts, uncounted_work
from .exits import Endings

_FIRST_SAVE, _LONGEST_WAIT = 2.0, 60.0
"""Seconds before the first report of a running program, and the largest number of seconds between two reports."""


class Spoken(Profile):
    """Profile of the launcher. It prints a message once for each line that falls back to the host, when that happens.

    It prints the message itself, not through ``warnings``: a script that turns warnings into errors must not see it.
    """

    def __init__(self, aloud: bool, **options: Any) -> None:
        super().__init__(**options)
        self._aloud = aloud
        self._said: set[tuple[str, int, str]] = set()

    @contextlib.contextmanager
    def silent(self) -> Iterator[None]:
        """Suppress the messages while another profile prints them."""
        aloud, self._aloud = self._aloud, False
        try:
            yield
        finally:
            self._aloud = aloud

    def first_call(self, func: Any, kind: str, reason: str, frame: FrameType) -> None:
        """Print a message if the call ran on the host, once for each line and function, unless messages are suppressed."""
        if kind != "host" or not self._aloud:
            return
        place = straight(frame.f_code.co_filename), frame.f_lineno, name_of(func)
        if place not in self._said:
            self._said.add(place)
            print(f"arraydispatch: {shown(*place[:2])}: {place[2]} ran on the host: {reason}", file=sys.stderr)


def _verification(owns: Any) -> Any:
    from ..profiling.verification import Verification

    return Verification(sys.stderr, owns)


class Session:
    """Profile, verification and report of one program.

    Parameters
    ----------
    program : str
        Name of the program in the report.
    device : str or None
        Name of the default device, if the user chose it.
    why : str
        Reason for the backend, if the user did not name it.
    rng : str
        Source of random numbers.
    report_to, trace_to : str or None
        Files, known to be writable.
    full : bool
        Whether the terminal gets the long report.
    aloud : bool
        Whether host fallbacks are printed when they happen, once for each line.
    verify : bool
        Whether every call is compared with NumPy.
    owns : callable
        ``owns(file)``: whether a file is user code.
    plain : float, optional
        Run time of the program under plain Python, measured before this run, while this process waited.
    quiet : bool
        Whether to print nothing, because another process of the run reports.
    """

    def __init__(
        self, program: str, device: str | None, *, why: str = "", rng: str = "numpy", report_to: str | None = None,
        trace_to: str | None = None, full: bool = False, aloud: bool = True, verify: bool = False, owns: Any = None,
        plain: float | None = None, quiet: bool = False,
    ) -> None:  # fmt: skip
        self._program, self._device, self._why, self._rng = program, device, why, rng
        self._plain, self._quiet = plain, quiet
        self._report_to, self._trace_to, self._full = report_to, trace_to, full
        timed = full or report_to is not None or trace_to is not None
        each = trace_to is not None or (report_to or "").endswith(".html")
        self.profile = Spoken(aloud, owns=owns, trace=each, synchronize=timed)
        self.profile.each = timed or verify
        self._verification = _verification(owns) if verify else None
        self._progress = Progress(self.profile) if Progress.possible() and not quiet else None
        self._process = os.getpid()
        self._over = threading.Event()
        self._ended = threading.Lock()
        self._keeper: threading.Thread | None = None
        self._endings = Endings(self._finish)
        self.folder = _made_folder()
        """Folder in which the other processes of the run write their counts."""
        self._saver: process_counts.Saver | None = None

    def start(self) -> None:
        """Begin: every end of the process now produces the report."""
        self.profile.start()
        if self._verification is not None:
            self._verification.start()
        os.register_at_fork(after_in_child=self._forked)
        self._endings.listen()
        if self._report_to is not None or self._progress is not None:
            self._keeper = threading.Thread(target=self._keep, name="arraydispatch", daemon=True)
            self._keeper.start()

    def cancel(self) -> None:
        """Cancel the report, because no program has run or can run."""
        self._end()
        _remove_folder(self.folder)

    def _forked(self) -> None:
        """Make a fork count for itself and write its counts when it ends."""
        if not self._over.is_set():
            if self._saver is None:
                self._saver = process_counts.Saver(self.profile, self.folder)
            self._saver.begin()

    # -- while it runs -----------------------------------------------------------------------------------------------

    def _keep(self) -> None:
        """Save the report at intervals, and show the progress of the program."""
        wait, saved = _FIRST_SAVE, time.monotonic()
        while not self._over.wait(0.5 if self._progress is not None else wait):
            if self._progress is not None:
                self._progress.show()
            if self._report_to is not None and time.monotonic() - saved >= wait:
                with self._ended, contextlib.suppress(OSError):
                    if not self._over.is_set():
                        self._write(self._report_to, complete=False)
                wait, saved = min(2 * wait, _LONGEST_WAIT), time.monotonic()

    def _run(self, complete: bool) -> report.Run:
        name = settings.current_name()
        backend = loader.loaded_one(name)  # do not load a library only for the report
        device = self._device or ("cpu" if backend is None else backend.devices()[0].name)
        place, programs = settings.default.devices.get(name), None
        meshes = None if backend is None or place is None or not place.mesh else backend.meshes
        if place is not None and meshes is not None:
            device = place.name
            if complete and (self._full or self._report_to is not None):  # listing them compiles them once more
                programs = meshes.programs()
        found = None if self._verification is None else self._verification.as_dict()
        process = None if self._plain is None else seconds_since_start() - self._plain
        return report.Run(
            name, loader.version(name), device, public.get_precision(), self.profile.wall, self._rng,
            self._program, complete, found, self._why, self._plain, process, programs,
        )  # fmt: skip

    def _write(self, path: str, complete: bool) -> None:
        self.profile.children = _collect(self.folder)
        writer = report.WRITERS[os.path.splitext(path)[1]]
        report.write(writer, path, self.profile, self._run(complete))

    # -- the end -----------------------------------------------------------------------------------------------------

    def _end(self) -> None:
        self._over.set()
        if self._progress is not None:
            self._progress.end()
        if self._verification is not None:
            self._verification.stop()
        self.profile.stop()
        self._endings.stop()

    def _finish(self, flush: bool, complete: bool) -> None:
        """Write and print the report, once; in a fork, write the counts for it. ``flush``, ``complete``: whether to flush streams, and
        whether the program has ended by itself.
        """
        if self._over.is_set():
            return
        if os.getpid() != self._process:
            if self._saver is not None:
                self._saver.save()
            return
        with self._ended:
            self._end()
            self.profile.children = _collect(self.folder)
            _remove_folder(self.folder)
            self.profile.ndarrays = uncounted_work.work_of_ndarrays(sys.modules["__main__"], self._stayed)
            if process.users is not None:
                self.profile.aside = uncounted_work.left_to_numpy(process.users)
            run = self._run(complete and exits.exit_code != exits.INTERRUPTED)
            if flush:
                with contextlib.suppress(OSError, ValueError):  # the reader has closed the pipe
                    sys.stdout.flush()
            said = []
            if self._report_to is not None:
                said.append(self._save(self._report_to, report.WRITERS[os.path.splitext(self._report_to)[1]], run))
            if self._trace_to is not None:
                said.append(self._save(self._trace_to, report.write_trace, run))
            with contextlib.suppress(OSError, ValueError):
                if self._quiet:
                    return
                report.print_report(self.profile, run, sys.stderr, full=self._full)
                print(*said, sep="", end="", file=sys.stderr)

    def _stayed(self, x: Any) -> bool:
        """Whether an ndarray is large enough for the backend and was never moved there."""
        apart = settings.current_name() != "numpy"
        return apart and x.size >= max(settings.default.min_size, 1) and not self.profile.met(x)

    def _save(self, path: str, writer: report.Writer, run: report.Run) -> str:
        """Write a file of the report and return the outcome."""
        try:
            report.write(writer, path, self.profile, run)
        except OSError as error:
            return f"arraydispatch: {path} could not be written: {error.strerror}\n"
        return f"  written: {report.short(path)}\n"


# -- counts of other processes ------------------------------------------------------------------------------------------

_PREFIX = "arraydispatch-counts-"


def _made_folder() -> str:
    """Make a folder as :func:`tempfile.mkdtemp` does; importing that module would take 3 ms of the start."""
    prefix = f"{_PREFIX}{os.getpid()}-"
    above = os.environ.get("TMPDIR") or "/tmp"  # noqa: S108 -- no name that others could know, and for this user alone
    made = os.path.join(os.path.abspath(above), prefix + os.urandom(6).hex())
    with contextlib.suppress(OSError):
        if os.name == "posix":
            os.mkdir(made, 0o700)
            return made
    import tempfile

    return tempfile.mkdtemp(prefix=prefix)


def _remove_folder(folder: str) -> None:
    """Remove the folder of this run, and those of runs that were killed; later counts of processes that are still alive are lost."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, name))
        os.rmdir(folder)
    above = os.path.dirname(folder)
    with contextlib.suppress(OSError):
        for name in os.listdir(above) if os.name == "posix" else ():
            process, dash, _ = name.removeprefix(_PREFIX).partition("-")
            if name.startswith(_PREFIX) and dash and process.isdecimal() and not _lives(int(process)):
                import shutil

                shutil.rmtree(os.path.join(above, name), ignore_errors=True)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # the process belongs to another user
        pass
    return True


def _collect(folder: str) -> list[Tally]:
    """Return the counts that each process has written so far."""
    found = []
    with contextlib.suppress(FileNotFoundError):
        for entry in os.scandir(folder):
            if entry.name.endswith(".json"):
                with open(entry.path, encoding="utf-8") as stream:
                    found.append(Tally.from_json(json.load(stream)))
    return found


# -- the progress line ------------------------------------------------------------------------------------------------


_AFTER = 5.0
"""Seconds that a program runs before the line appears."""
_SAVE, _RESTORE, _ERASE = "\x1b7", "\x1b8", "\x1b[2K"


class Progress:
    """Progress line with a profile's figures at the bottom of the terminal, for long runs. :meth:`show` redraws it, :meth:`end` removes it.

    The line is outside the scrolling region of the screen (as apt's is), so the output of the program, from
    Python or from C, continues above it unchanged.
    """

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._began = time.monotonic()
        self._main = threading.main_thread().ident
        self._rows = 0
        self._lock = threading.RLock()
        self._over = False

    @staticmethod
    def possible() -> bool:
        """Whether standard error is a terminal on which the line can be drawn."""
        try:
            terminal = sys.stderr is not None and sys.stderr.isatty()
        except ValueError:  # the stream is closed
            return False
        return terminal and os.environ.get("TERM", "dumb") not in ("dumb", "unknown", "") and os.name == "posix"

    def show(self) -> None:
        """Draw the line, if the program has run for long enough."""
        seconds = time.monotonic() - self._began
        if seconds < _AFTER:
            return
        with self._lock, contextlib.suppress(OSError, ValueError):
            if self._over:
                return
            size = os.get_terminal_size(sys.stderr.fileno())
            if size.lines < 3 or size.columns < 20:
                return
            out = ""
            if size.lines != self._rows:  # make room below what was printed, then let the rest scroll above
                # Move up before the cursor is saved: some terminals restore it relative to the scrolling region, others to where it was.
                out = f"\n\x1b[1A{_SAVE}\x1b[1;{size.lines - 1}r{_RESTORE}"
                self._rows = size.lines
            line = self._render(self._text(seconds), size.columns)
            self._write(f"{out}{_SAVE}\x1b[{size.lines};1H{_ERASE}{line}{_RESTORE}")

    def end(self) -> None:
        """Restore the terminal."""
        with self._lock, contextlib.suppress(OSError, ValueError):
            self._over = True
            if self._rows:
                self._write(f"{_SAVE}\x1b[r\x1b[{self._rows};1H{_ERASE}{_RESTORE}")
                self._rows = 0

    def _write(self, text: str) -> None:
        # Write past Python's buffers, so that the program's unfinished line is not flushed.
        os.write(sys.stderr.fileno(), text.encode(errors="replace"))

    def _text(self, seconds: float) -> str:
        totals = self._profile.totals()
        minutes, rest = divmod(int(seconds), 60)
        parts = [f"{minutes}:{rest:02d}", f"{sum(totals.values()):,} array calls"]
        if totals.get("host"):
            parts.append(f"{totals['host']:,} on the host")
        place = self._place()
        if place:
            parts.append(f"at {place}")
        return " · ".join(parts)

    def _place(self) -> str:
        found = callers.line_of_thread(self._main or 0)
        return "" if found is None else f"{os.path.basename(found[0])}:{found[1]}"

    @staticmethod
    def _render(text: str, columns: int) -> str:
        """Return the line in the terminal's colours, cut to its width."""
        from rich.console import Console
        from rich.text import Text

        console: Any = Console(stderr=True, width=columns, highlight=False, emoji=False)
        line = Text.assemble(
            ("arraydispatch", "bold reverse"), (f" {text}", "reverse"), no_wrap=True, overflow="ellipsis"
        )
        line.truncate(columns, overflow="ellipsis", pad=True)
        with console.capture() as captured:
            console.print(line, end="")
        return captured.get()


# -- times of whole processes, for --compare ----------------------------------------------------------------------------

_BEGAN = time.perf_counter()


def seconds_since_start() -> float:
    """Return the seconds since this process began, or since this module was imported if the system does not tell."""
    try:
        with open("/proc/self/stat", encoding="utf-8") as stream:
            ticks = int(stream.read().rpartition(")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, ValueError):
        return time.perf_counter() - _BEGAN


def seconds_by_plain_python(program: list[str]) -> float | None:
    """Run a script or a module with plain Python and discard its output; return the seconds of the process, None if it fails.

    Parameters
    ----------
    program : list of str
        Arguments of ``python``.
    """
    import subprocess

    start = time.perf_counter()
    command = [sys.executable, *program]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=False)  # noqa: S603 -- the user's program
    if done.returncode:
        print(
            f"arraydispatch: --compare: plain Python ended with exit code {done.returncode}; there is nothing to compare.",
            file=sys.stderr,
        )
        return None
    return time.perf_counter() - start
