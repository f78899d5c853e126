"""Recording of profiles: counts for each function and each source line, taken where calls are dispatched.

A :class:`Profile` is a listener on :mod:`arraydispatch.common.events`. A call is filed under the first frame outside
this package, NumPy and the installed packages, as (code object, bytecode instruction). Line numbers are looked up at the
end, because a look-up takes as long as all other work for a call. Each thread has its own tables, so no count is lost and no lock is
needed.
"""

from __future__ import annotations

import math
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from time import perf_counter
from types import CodeType, FrameType, TracebackType
from typing import Any, Self

import numpy as np

from .. import fastpath
from ..backends import loader
from ..common import callers, events
from ..common.names import name_of
from ..common.process_state import process
from ..functions.registry import SPECS
from ..runtime import settings
from . import records
from .line_counts import NOTES, Tables, Tally, items
from .records import Block, Call, Compilation, Event, Message, Note, Part, Transfer

__all__ = ["Block", "Call", "Compilation", "Event", "Message", "Note", "Part", "Profile", "Transfer"]

_TO_NUMPY = "to_numpy()"
"""Name of the method that Matplotlib and users call to request an ndarray."""
_IN_C = "an operation of an ndarray's, or an extension module,"
"""Name for a request for an ndarray from C code, which has no frame."""
_SMALL = 1024
"""Number of bytes below which moves are counted but give no advice."""
_MOST_EVENTS = 200_000
"""Number of events that a thread keeps for a trace; later events are counted, not kept."""
_SAMPLE = 8
"""Interval, in calls, at which the result size of functions that grow arrays in loops is checked."""


_getframe = sys._getframe  # bound once, because it runs in every recorded call


class Internal(dict[str, bool]):
    """File name -> whether it belongs to this package, NumPy, Python or an installed package, so that calls are not filed there."""

    def __init__(self, owns: Callable[[str], bool] | None) -> None:
        self._owns = owns

    def __missing__(self, file: str) -> bool:
        self[file] = found = callers.is_library(file) and not (self._owns is not None and self._owns(file))
        return found


class Profile(events.Listener):
    """Record of the calls that run while it is installed; ``with ad.profile() as p:``.

    Profiles nest: an inner one passes its events on to the outer one. Figures do not include the time that the profile itself takes.

    Parameters
    ----------
    trace : bool
        Keep each call with its time, for a trace and the time line of the HTML report.
    synchronize : bool
        Wait for the result of each call, so that its time is that of the work and not of the request. This matters
        on accelerators and for libraries that run asynchronously. It prevents calls from overlapping.
    backends : sequence of str, optional
        Report only calls on these backends.
    owns : callable, optional
        Function of a file name that returns whether calls are filed under this file although it belongs to an installed package.

    Examples
    --------
    >>> import numpy as np
    >>> import arraydispatch as ad
    >>> x = ad.asarray([1.0, 2.0])
    >>> with ad.profile() as p:
    ...     y = np.sin(x)
    >>> p.calls_on_backend
    1
    """

    def __init__(
        self, *, trace: bool = False, synchronize: bool = False, backends: Iterable[str] | None = None,
        owns: Callable[[str], bool] | None = None,
    ) -> None:  # fmt: skip
        self._local = threading.local()
        self._threads: list[Tables] = []
        self._up, self._down, self._taken = Known(), Known(), Known()
        self._internal = Internal(owns)
        self._tracing = trace
        self._waits = self._more = synchronize
        self._only = None if backends is None else frozenset(backends)
        self.began = perf_counter()
        self.ended: float | None = None
        self._counted, self._counting = 0, False
        self.runs = 1
        """Number of runs over which the figures are averaged."""
        self.children: list[Tally] = []
        """Counts of other processes in the same run."""
        self.ndarrays: list[Note] = []
        """Lines with operators and methods of ndarrays that do work; these report no events, so the launcher looks for
        them.
        """
        self.aside: list[Note] = []
        """Folders of modules that the launcher left to NumPy although they are not installed; the launcher looks for them."""
        self.retimed: float | None = None
        """Seconds of one run without the profile, as measured by :func:`profile_function`."""

    # -- listening ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start to listen."""
        events.begin(self)
        self.began, self.ended = perf_counter(), None
        self._counted, self._counting = self._counted - fastpath.calls(), True
        self._more = self._waits or self._outer is not None

    def stop(self) -> None:
        """Stop listening."""
        if self.ended is None:
            self.ended = perf_counter()
            self._counted, self._counting = self._counted + fastpath.calls(), False
            events.end(self)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.stop()

    def _tables(self) -> Tables:
        try:
            tables: Tables = self._local.tables
        except AttributeError:
            tables = self._local.tables = Tables()
            self._threads.append(tables)
        return tables

    def origin(self, frame: FrameType) -> FrameType:
        """Return the first frame, going outwards, that belongs neither to this package nor to a library, or the
        outermost one.
        """
        internal = self._internal
        while internal[frame.f_code.co_filename]:
            outer = frame.f_back
            if outer is None:
                break
            frame = outer
        return frame

    def _between(self, frame: FrameType) -> tuple[str, str]:
        """Return the name of the installed library between this frame and the user's line, and of the NumPy function there; an empty
        string in place of each that is missing.
        """
        internal, numpys = self._internal, ""
        while internal[file := frame.f_code.co_filename] and frame.f_back is not None:
            if file.startswith(callers.numpys()):
                numpys = f"NumPy's {frame.f_code.co_qualname}"
            elif callers.is_installed(file) and not callers.is_ours(file):
                return str(frame.f_globals.get("__name__", "a library")).partition(".")[0], numpys
            frame = frame.f_back
        return "", numpys

    def call(
        self, func: Any, backend: str, kind: str, reason: str, seconds: float, result: Any = None, doors: int = 1,
        operands: Any = (),
    ) -> None:  # fmt: skip
        """Count one call, unless the running body of another counted call makes it."""
        inside = events.inside
        if inside.body is not None:
            if kind != "host" and self._is_nested(_getframe(1), inside.body):
                return
            if events.tap is self:
                inside.seconds += seconds
        elif inside.seconds:
            seconds, inside.seconds = max(seconds - inside.seconds, 0.0), 0.0
        if self._more:
            seconds = self._more_of_call(func, backend, kind, reason, seconds, result, operands)
        try:
            frame = _getframe(1 + doors)
        except ValueError:  # Python itself called compiled code, as at the end of the process
            frame = _getframe()
        code = frame.f_code
        if code is events.entrance:
            frame = frame.f_back or frame
            code = frame.f_code
        try:
            tables = self._local.tables
        except AttributeError:
            tables = self._tables()
        if tables.loading is not None:
            seconds = tables.without_start(seconds)
        if tables.kernel:
            tables.kernel = False
            if kind in records.ON_BACKEND:
                kind = "host kernel"
        elements = operands if type(operands) is int else elements_of(result, *operands)
        if kind == "hosted" and elements >= process.min_size:
            reason = records.MOVED if _only_moves(func) else records.LARGE
        # id(), because hashing a code object hashes its bytecode; the row keeps the code object alive.
        key = (func, kind, id(code), frame.f_lasti, backend, reason)
        row = tables.calls.get(key)
        if row is None:  # the place is new, or the frame is not the user's: such frames have no rows
            frame = self.origin(frame)
            code = frame.f_code
            key = (func, kind, id(code), frame.f_lasti, backend, reason)
            row = tables.calls.get(key)
            if row is None:
                spec = SPECS.get(func)
                grows = spec is not None and spec.grows
                row = tables.calls[key] = [0, 0.0, code, [0, -1] if grows else None, 0]
                self.first_call(func, kind, reason, frame)
        row[0] += 1
        row[1] += seconds
        row[4] += elements
        if row[3] is not None and row[0] % _SAMPLE == 1 and result is not None:
            _watch_growth(row[3], backend, result)
        if self._tracing:
            if len(tables.events) < _MOST_EVENTS:
                tables.events.append((perf_counter(), seconds, key, code))
            else:
                tables.dropped += 1

    def _is_nested(self, frame: FrameType, body: FrameType) -> bool:
        """Whether a running body makes this call itself, not a function of the program that the body calls."""
        internal: Any = self._internal
        at: FrameType | None = frame
        while at is not None and at is not body and internal[at.f_code.co_filename]:
            at = at.f_back
        return at is body

    def host_kernel(self) -> None:
        """Record that NumPy, not the library, computed the call that ends next."""
        self._tables().kernel = True
        if self._outer is not None:
            self._outer.host_kernel()

    def _more_of_call(
        self, func: Any, backend: str, kind: str, reason: str, seconds: float, result: Any, operands: Any
    ) -> float:
        """Wait for a call's result if ``synchronize`` is set, and pass the call on to the outer profile. Return the call's seconds,
        including the wait.
        """
        if self._waits and result is not None:
            seconds += _wait(backend, result)
        if self._outer is not None:
            self._outer.call(func, backend, kind, reason, seconds, result, 1, operands)
        return seconds

    def first_call(self, func: Any, kind: str, reason: str, frame: FrameType) -> None:
        """Do nothing when a function is first called from a place in a class (``kind``). The launcher's subclass reports host fallbacks."""

    def _count(self, table: str, what: tuple[Any, ...], amount: int = 0) -> list[Any]:
        frame = self.origin(sys._getframe())
        code = frame.f_code
        row = getattr(self._tables(), table).setdefault((*what, id(code), frame.f_lasti), [0, 0, code])
        row[0] += 1
        row[1] += amount
        return row

    def transfer(self, direction: str, nbytes: int, why: str, host: Any = None) -> None:
        """Count bytes moved, by direction and reason (``why``), and notice arrays that move again. ``host``: the ndarray on
        the host side.
        """
        if why in (events.AT_A_DOOR, _TO_NUMPY):
            library, numpys = self._between(sys._getframe())
            if library or why != _TO_NUMPY:
                why = events.AT_A_DOOR.replace("a library", library or numpys or _IN_C)
        self._count("transfers", (direction, why), nbytes)
        if self._tracing and len(moves := self._tables().moves) < _MOST_EVENTS:
            moves.append((perf_counter(), direction, nbytes))
        if host is not None and nbytes >= _SMALL:
            tables = self._tables()
            # `arrays`: it is the program's own array, or a part of it.
            adopting, arrays = tables.adopting, why == events.HELD
            if direction == "to_device" and adopting is not None and not (arrays and adopting.shape != host.shape):
                host, tables.adopting, arrays = adopting, None, False  # a copy of the array is moved
            kept = host.base if isinstance(host.base, np.ndarray) else host
            if direction == "to_host":
                self._down.add(kept)
            elif arrays:  # the value is an array already, so no advice applies
                self._up.add(kept)
            elif kept in self._down:
                self._count("returns", ("ndarray", _describe(host)), nbytes)
            elif (again := self._up.again(kept, host)) is not None and not self._between(sys._getframe())[0]:
                # Only count what the user's code moves: the user cannot prevent repeated moves by a library.
                again.count(self._count("uploads", ("ndarray", _describe(host)), nbytes), nbytes)
        if self._outer is not None:
            self._outer.transfer(direction, nbytes, why, host)

    def met(self, x: np.ndarray[Any, Any]) -> bool:
        """Whether an ndarray or its base has been moved to or from the backend, or adopted; True for small ones, which are not noted."""
        return x.nbytes < _SMALL or any(
            part in known for known in (self._up, self._down, self._taken) for part in (x, x.base) if part is not None
        )

    def adopted(self, x: np.ndarray[Any, Any]) -> None:
        """Note an ndarray that the launcher is about to adopt: the next move to the device is that of a copy of the ndarray."""
        self._tables().adopting = x if x.nbytes >= _SMALL else None
        if x.nbytes >= _SMALL:
            self._taken.add(x)

    def cast(self, have: Any, want: Any) -> None:
        """Count a dtype that the precision policy changed from ``have`` to ``want``."""
        self._count("casts", (str(have), str(want)))
        if self._outer is not None:
            self._outer.cast(have, want)

    def sync(self, why: str) -> None:
        """Count a read of a value on an accelerator, by its reason ``why``."""
        self._count("syncs", ("sync", why))
        if self._outer is not None:
            self._outer.sync(why)

    def compiled(self, backend: str, count: int, seconds: float, kept: int = 0) -> None:
        """Count compilations, and the calls at a line that compile again after earlier calls there. ``kept``: number
        of programs that were read from the library's cache instead.
        """
        frame = self.origin(sys._getframe())
        place = id(frame.f_code), frame.f_lasti
        tables = self._tables()
        done = sum(row[0] for key, row in items(tables.calls) if key[2:4] == place)
        row = tables.compilations.setdefault((backend, *place), [0, 0.0, frame.f_code, 0, done, 0])
        row[0] += count
        row[1] += seconds
        row[5] += kept
        if done != row[4]:
            row[3] += 1
            row[4] = done
        if self._outer is not None:
            self._outer.compiled(backend, count, seconds, kept)

    def started(self, backend: str, begin: float, end: float, mine: bool) -> None:
        """Count the import of a library, if this thread made it (``mine``); its time is not included in the call that needed it."""
        tables = self._tables()
        tables.loading = begin, end
        if mine:
            tables.starts[backend,] = [1, end - begin]
        if self._outer is not None:
            self._outer.started(backend, begin, end, mine)

    def place(self) -> tuple[CodeType, int]:
        """Return the code object and bytecode instruction of the user's code to which calls are attributed now."""
        frame = self.origin(sys._getframe())
        return frame.f_code, frame.f_lasti

    def block_counted(self, backend: str, calls: int, seconds: float, elements: int = 0) -> None:
        """Count a block and its calls at the line where it ended."""
        frame = self.origin(sys._getframe())
        code, rows = frame.f_code, self._tables().calls
        at = frame.f_lasti
        block = rows.get((events.BLOCK, "block", id(code), at, backend, ""))
        if block is None:
            block = rows.setdefault((events.BLOCK, "block", id(code), at, backend, ""), [0, 0.0, code, None, 0])
        recorded = rows.get((events.RECORDED, "fused", id(code), at, backend, ""))
        if recorded is None:
            recorded = rows.setdefault((events.RECORDED, "fused", id(code), at, backend, ""), [0, 0.0, code, None, 0])
        block[0] += 1
        block[1] += seconds
        block[4] += elements
        recorded[0] += calls
        if self._outer is not None:
            self._outer.block_counted(backend, calls, seconds, elements)

    def tape_ran(self, backend: str, programs: int, seconds: float) -> None:
        """Count the programs of a tape at the line where its recording ended."""
        frame = self.origin(sys._getframe())
        name = events.PROGRAM if programs else events.ONE_BY_ONE
        row = self._tables().calls.setdefault(
            (name, "program", id(frame.f_code), frame.f_lasti, backend, ""), [0, 0.0, frame.f_code, None, 0]
        )
        row[:2] = row[0] + programs, row[1] + seconds
        if self._outer is not None:
            self._outer.tape_ran(backend, programs, seconds)

    def block(
        self, tier: str, why: str, seconds: float, by_numpy: float, parts: Sequence[tuple[tuple[CodeType, int], float]]
    ) -> None:
        """Count a block, and distribute its time over the lines that recorded it.

        ``tier``: how it ran; ``why``: reason why it ended; ``by_numpy``: seconds that NumPy's own calls would take; ``parts``: place and
        share of each line.
        """
        frame = self.origin(sys._getframe())
        code, tables = frame.f_code, self._tables()
        row = tables.blocks.setdefault((tier, why, id(code), frame.f_lasti), [0, 0, 0.0, 0.0, code])
        row[:4] = row[0] + 1, row[1] + len(parts), row[2] + seconds, row[3] + by_numpy
        for (code, at), share in parts:
            part = tables.parts.setdefault((id(code), at), [0, 0.0, 0.0, code])
            part[:3] = part[0] + 1, part[1] + share * seconds, part[2] + share * by_numpy
        if self._outer is not None:
            self._outer.block(tier, why, seconds, by_numpy, parts)

    def left(self, what: str, why: str) -> None:
        """Count an array from the function ``what`` that was kept on the host, by its reason ``why``."""
        self._count("left", (what, why))
        if self._outer is not None:
            self._outer.left(what, why)

    def message(self, text: str, **values: Any) -> None:
        """Add a message of the program to the profile: a phase that begins, a residual, a step size.

        Parameters
        ----------
        text : str
            The message.
        **values
            Numbers or words of the message.
        """
        frame = self.origin(sys._getframe())
        self._tables().messages.append(
            (perf_counter(), text, values, callers.straight(frame.f_code.co_filename), frame.f_lineno)
        )

    # -- reading -----------------------------------------------------------------------------------------------------

    def tally(self) -> Tally:
        """Return all counts so far of the calls on the backends that the profile is limited to, including those of :attr:`children`."""
        found = Tally(processes=1)
        found.counted = self._counted_here
        for tables in list(self._threads):
            for (func, kind, _, at, backend, reason), (count, seconds, code, growth, elements) in items(tables.calls):
                if self._only is None or backend in self._only:
                    key = name_of(func), backend, kind, reason, *callers.place_of(code, at)
                    found.count("calls", key, count, seconds, growth[0] if growth else 0, elements)
            for name in NOTES:
                for (what, why, _, at), (count, amount, code) in items(getattr(tables, name)):
                    if count:
                        found.count(name, (what, why, *callers.place_of(code, at)), count, amount)
            for (backend, _, at), (count, seconds, code, again, _, kept) in items(tables.compilations):
                found.count("compilations", (backend, *callers.place_of(code, at)), count, seconds, again, kept)
            for key, row in items(tables.starts):
                found.count("starts", key, *row)
            for (tier, why, _, at), (count, calls, seconds, by_numpy, code) in items(tables.blocks):
                found.count("blocks", (tier, why, *callers.place_of(code, at)), count, calls, seconds, by_numpy)
            for (_, at), (calls, seconds, by_numpy, code) in items(tables.parts):
                found.count("parts", callers.place_of(code, at), calls, seconds, by_numpy)
        for child in self.children:
            found.add(child)
        return found

    def forget(self) -> None:
        """Reset the counts to zero, in a process that is a copy of one that counted."""
        self._local = threading.local()
        self._threads, self.children = [], []
        self._counted = -fastpath.calls() if self._counting else 0
        self.began = perf_counter()

    def calls(self) -> list[Call]:
        """Return a record for each (function, line, class), most time first."""
        return self.tally().calls(self.runs)

    def transfers(self) -> list[Transfer]:
        """Return a record for each (direction, reason, line) of the bytes moved, most bytes first."""
        return self.tally().transfers(self.runs)

    def left_numpy(self) -> list[Note]:
        """Return the arrays kept on the host, by reason (such as a dtype that no library has) and line, most frequent first."""
        return self.tally().notes("left", self.runs)

    def syncs(self) -> list[Note]:
        """Return the reads of values on an accelerator, a record for each line and reason, most frequent first."""
        return self.tally().notes("syncs", self.runs)

    def repeated_uploads(self) -> list[Note]:
        """Return the lines that moved an ndarray to the backend although it had been moved there before."""
        return self.tally().notes("uploads", self.runs)

    def returns(self) -> list[Note]:
        """Return the lines that moved an ndarray to the backend although it had come from there."""
        return self.tally().notes("returns", self.runs)

    def casts(self) -> list[Note]:
        """Return the dtypes that the precision policy changed: ``what`` became ``why``."""
        return self.tally().notes("casts", self.runs)

    def compilations(self) -> list[Compilation]:
        """Return the compilations by libraries, a record for each line, most time first."""
        return self.tally().compilations(self.runs)

    def starts(self) -> dict[str, tuple[int, float]]:
        """Return for each backend the number of processes that loaded its library, and the seconds, which are not included in
        the calls' times.
        """
        return self.tally().starts()

    def blocks(self) -> list[Block]:
        """Return the blocks of recorded calls, by the line at which they ended, most time first."""
        return self.tally().blocks(self.runs)

    def parts(self) -> list[Part]:
        """Return the lines that recorded calls in blocks, each with its share of their time, most time first."""
        return self.tally().parts(self.runs)

    def messages(self) -> list[Message]:
        """Return the messages that the program added, in order."""
        found = [
            Message(when - self.began, text, values, file, line, tables.thread)
            for tables in list(self._threads)
            for when, text, values, file, line in list(tables.messages)
        ]
        return sorted(found, key=lambda message: message.seconds)

    def events(self) -> list[Event]:
        """Return each single call, in order; needs ``trace=True``."""
        found = []
        for tables in list(self._threads):
            known: dict[tuple[int, int], tuple[str, int, str]] = {}
            for end, seconds, (func, kind, at, instruction, backend, _), code in list(tables.events):
                place = known.get((at, instruction))
                if place is None:
                    place = known[at, instruction] = callers.place_of(code, instruction)
                start = end - seconds - self.began
                found.append(Event(start, seconds, name_of(func), backend, kind, place[0], place[1], tables.thread))
        return sorted(found, key=lambda event: event.start)

    def moves(self) -> list[tuple[float, str, int]]:
        """Return each single transfer, in order, as (seconds since the profile began, direction, bytes); needs
        ``trace=True``.
        """
        found = [move for tables in list(self._threads) for move in list(tables.moves)]
        return sorted((when - self.began, direction, nbytes) for when, direction, nbytes in found)

    @property
    def traced(self) -> bool:
        """Whether single calls are kept."""
        return self._tracing

    @property
    def dropped_events(self) -> int:
        """Number of calls that were not kept because the trace was full."""
        return sum(tables.dropped for tables in list(self._threads))

    @property
    def synchronized(self) -> bool:
        """Whether each call was waited for."""
        return self._waits

    def totals(self) -> Mapping[str, int]:
        """Return the number of calls so far of each class (``"hosted"``, ``"host"``, ``"fused"`` …). It is cheap, for a progress line."""
        found = {"hosted": self._counted_here}
        for tables in list(self._threads):
            for key, row in items(tables.calls):
                found[key[1]] = found.get(key[1], 0) + row[0]
        return found

    @property
    def calls_on_backend(self) -> int:
        """Number of calls that the backend's library ran."""
        by_line = sum(call.count for call in self.calls() if call.on_backend)
        return by_line + self.counted * (settings.default.backend == "numpy")

    def calls_by_class(self) -> dict[str, int]:
        """Return the number of calls of each class."""
        counts: dict[str, int] = {}
        for call in self.calls():
            counts[call.kind] = counts.get(call.kind, 0) + call.count
        if self.counted:
            kind = "native" if settings.default.backend == "numpy" else "hosted"
            counts[kind] = counts.get(kind, 0) + self.counted
        return counts

    def seconds_by_class(self) -> dict[str, float]:
        """Return the seconds of the calls of each class, without calls that were only counted."""
        found: dict[str, float] = {}
        for call in self.calls():
            found[call.kind] = found.get(call.kind, 0.0) + call.seconds
        return found

    @property
    def counted(self) -> int:
        """Number of NumPy calls on values in host memory that were counted without their lines
        (:mod:`arraydispatch.fastpath`).
        """
        return self._counted_here + sum(child.counted for child in self.children)

    @property
    def _counted_here(self) -> int:
        return self._counted + (fastpath.calls() if self._counting else 0)

    def host_fallbacks(self) -> list[Call]:
        """Return the calls that ran on the host, most frequent first."""
        return sorted((call for call in self.calls() if call.kind == "host"), key=lambda call: -call.count)

    def moved(self, direction: str) -> int:
        """Return the bytes moved in one direction."""
        return sum(row.nbytes for row in self.transfers() if row.direction == direction)

    @property
    def seconds(self) -> float:
        """Wall time inside dispatched calls."""
        return sum(call.seconds for call in self.calls())

    @property
    def wall(self) -> float:
        """Wall time from the beginning of the profile to now, or to its end; the mean of its runs if it has several."""
        if self.retimed is not None:
            return self.retimed
        return ((perf_counter() if self.ended is None else self.ended) - self.began) / self.runs


def _only_moves(func: Any) -> bool:
    """Whether a call computes nothing and only moves elements."""
    spec = SPECS.get(func)
    return func in ("__getitem__", "__setitem__") if spec is None else not spec.computes


def elements_of(*arrays: Any) -> int:
    """Return the number of elements of the largest of these values, which is an array, or a list or tuple with the sum of its arrays'
    elements; 0 if no value is either.
    """
    most = 0
    for x in arrays:
        shape = getattr(x, "shape", None)
        if shape is not None:
            try:
                size = math.prod(shape)
            except TypeError:  # a dimension is unknown while a library traces
                continue
        elif isinstance(x, list | tuple):
            size = sum(math.prod(part.shape) for part in x if isinstance(getattr(part, "shape", None), tuple))
        else:
            continue
        most = max(most, size)
    return most


def _describe(x: np.ndarray[Any, Any]) -> str:
    return f"{x.dtype}{list(x.shape)}"


def _watch_growth(growth: list[int], backend: str, result: Any) -> None:
    held = loader.loaded_one(backend)  # the library may not be loaded if all values are on the host
    native = held is not None and held.is_native(result)
    size = math.prod(held.shape_of(result) if held is not None and native else getattr(result, "shape", ()))
    if size > growth[1] >= 0:
        growth[0] += _SAMPLE
    growth[1] = size


def _wait(backend: str, result: Any) -> float:
    """Wait for native results and return the seconds it took."""
    start = perf_counter()
    held = loader.loaded_one(backend)
    if held is None:  # the library is not loaded, so no result belongs to it
        return 0.0
    for x in result if isinstance(result, list | tuple) else (result,):
        if held.is_native(x) and held.is_concrete(x):
            try:
                held.synchronize(x)
            except Exception as error:
                if not held.gone(error):  # another thread has overwritten it meanwhile, and waits for its own result
                    raise
    return perf_counter() - start


# -- ndarrays that are uploaded repeatedly -----------------------------------------------------------------------------


_MOST_PARTS = 512
"""Maximum number of parts of one ndarray that are remembered; then the oldest are forgotten."""
_LOOKED_AT = 64
"""Approximate number of elements that a fingerprint of an ndarray contains, besides their sum."""


class _Seen(weakref.ref[np.ndarray[Any, Any]]):
    """Weak reference to an ndarray, with a record of its parts that have been moved, and fingerprints of their contents."""

    __slots__ = ("changed", "counted", "covered", "parts")

    parts: dict[tuple[Any, ...], bytes]
    covered: int
    changed: bool
    counted: dict[int, tuple[list[Any], list[int]]]

    def count(self, row: list[Any], nbytes: int) -> None:
        """Remember that a move of ``nbytes`` was counted in this row of a table."""
        mine = self.counted.setdefault(id(row), (row, [0, 0]))[1]
        mine[0] += 1
        mine[1] += nbytes

    def take_back(self) -> None:
        """Withdraw the counts of the ndarray's moves: its values have changed, so that moving it once would not have been enough."""
        self.changed = True
        for row, (count, nbytes) in self.counted.values():
            row[0] -= count
            row[1] -= nbytes
        self.counted.clear()


class Known:
    """Records (:class:`_Seen`) of the ndarrays that a profile has seen move, to find those that move again."""

    def __init__(self) -> None:
        self._found: dict[int, _Seen] = {}
        self._lock = threading.RLock()

    def __contains__(self, x: Any) -> bool:
        found = self._found.get(id(x))
        return found is not None and found() is x

    def add(self, x: Any) -> _Seen:
        """Record an ndarray, unless it is recorded already, and return its record."""
        key = id(x)
        found = self._found.get(key)
        if found is None or found() is not x:
            found = self._found[key] = _Seen(x, lambda _: self._found.pop(key, None))
            found.parts, found.covered, found.changed, found.counted = {}, 0, False, {}
        return found

    def again(self, whole: np.ndarray[Any, Any], part: np.ndarray[Any, Any]) -> _Seen | None:
        """Record that ``part``, a part of the ndarray ``whole``, moves. Return the record of ``whole`` if moving it once would have been
        enough.

        A single move is not enough if values change in between. Parts that move only once need no advice.
        """
        key = part.__array_interface__["data"][0], part.shape, part.strides, part.dtype.str
        holds = _looked_at(part)
        with self._lock:
            seen = self.add(whole)
            before = seen.parts.pop(key, None)
            seen.parts[key] = holds  # move it to the end, so that it is forgotten last
            if len(seen.parts) > _MOST_PARTS:
                seen.parts.pop(next(iter(seen.parts)), None)
            if before is None:
                seen.covered += part.nbytes
            elif before != holds:
                seen.take_back()
            return seen if (before is not None or seen.covered > whole.nbytes) and not seen.changed else None


def _looked_at(x: np.ndarray[Any, Any]) -> bytes:
    """Return a fingerprint of the values: their sum, and some of them."""
    every = max(1, round(_LOOKED_AT ** (1 / max(x.ndim, 1))))
    some = x[tuple(slice(None, None, max(1, n // every)) for n in x.shape)]
    with np.errstate(all="ignore"):
        return bytes(np.asarray(np.add.reduce(x, axis=None)).tobytes() + some.tobytes())
