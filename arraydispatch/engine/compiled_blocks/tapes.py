"""Tapes: the recorded calls of a thread under compiled execution, and the rules for when they run.

A tape holds forms, and for each form the earlier results or inputs that it reads. The tape keeps no result alive: a result that has been
dropped when the tape runs is computed only if a wanted one depends on it.

A tape ends before a call, at a point of the loop where the arrays in use have the fewest bytes: intermediate values in use at the end
are results of the program. Iterations of a loop that is known by then (rounds) are blocks of their own, and so are the calls before
them. So a second run of the same loop, which is known from its first iteration on, has the same blocks.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any, NamedTuple

from ..._core import machine
from ...backends.base import Backend
from ...common import events
from ...common.process_state import process
from ...common.signal_safety import call_waiting, waiting
from ..recording.tape import collector
from .counters import counters, synchronised
from .programs import Failure, Run
from .units import Form, rebuilt
from .values import Deferred, pending

__all__ = ["LONGEST", "ROUNDS", "Tape", "is_in_between", "mine", "run_all", "settled"]

LONGEST = 256
"""Maximum number of calls of a tape."""
ROUNDS = 48
"""Number of calls after which the tape looks for a loop; if it finds one, it runs whole iterations (rounds)."""
ENOUGH_BYTES = 1 << 25
"""Bytes made by an iteration of a loop from which the iteration is a block by itself, as a function compiled by hand would be."""
MOST_BYTES = 1 << 34
"""Maximum bytes that the calls of a tape make; not all of them are in use at one time."""

_live: set[Tape] = set()
_collector = collector


class Call:
    """Recorded call.

    Attributes
    ----------
    form : Form
        The function and facts about its operands and results.
    refs : tuple of int
        The operands: numbers of results of the tape, or of inputs, from -1 down.
    first, end : int
        Number of its first result, and of the next call's first result.
    outs : list of weak references
        References to the deferred values of the results.
    """

    __slots__ = ("end", "first", "form", "outs", "refs")

    form: Form
    refs: tuple[int, ...]
    first: int
    end: int
    outs: list[Any]


def _call_of(form: Form, refs: Any, first: Any, outs: Any) -> Call:
    made: Call = Call.__new__(Call)
    made.form, made.refs, made.first, made.end, made.outs = form, refs, first, first + len(outs), outs
    return made


class Tape:
    """Recorded calls of a thread.

    A call is added in one step, so an interruption leaves either the whole call or nothing.

    Attributes
    ----------
    calls : list of Call
        The calls, in order.
    first : int
        Number of the first call's first result.
    inputs : list of Deferred
        Values from outside of the tape that the calls read: computed values, and numbers on the host.
    limit : int
        Number of calls from which the tape may end before the next call.
    turns, turner : int
        Number of nested operations on the tape that have begun and not ended, and the thread that performs them.
    """

    lock: threading.RLock
    backend: Backend | None
    calls: list[Call]
    inputs: list[Deferred]
    first: int
    made: int
    limit: int
    turns: int
    turner: int
    _places: dict[int, int]
    _next: int
    _end: int
    _watch: Any
    _run: Any

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.turns = self.turner = 0
        self._begin()

    def _begin(self) -> None:
        self.backend = None
        self.calls, self.inputs = [], []
        self.first = 0
        self._places = {}
        self.made = 0
        self.limit = ROUNDS
        self._next = self._end = 0
        self._watch = self._run = None

    @property
    def forms(self) -> list[Form]:
        """Forms of the calls, in order."""
        return [call.form for call in self.calls]

    @property
    def outs(self) -> list[Any]:
        """Weak references to the deferred values of all results, in order."""
        return [look for call in self.calls for look in call.outs]

    def add(self, form: Form, operands: Any, backend: Any) -> Any:
        """Record a call of this form; return its result, whose arrays are deferred values."""
        x: Deferred
        for x in operands:
            if x.tape is not None and x.tape is not self:
                x.tape.run()  # another thread's; before the lock is taken: that thread may want a value of this one
        with self.lock:
            self.turner, self.turns = machine.thread_number(), self.turns + 1
            _collector.hold()
            try:
                made = self._added(form, operands, backend)
            finally:
                _collector.let()
                self.turns -= 1
                if waiting and not self.turns:
                    call_waiting()
        return made[0] if form.structure is None else rebuilt(form.structure, made)

    def _added(self, form: Form, operands: Any, backend: Any) -> list[Deferred]:
        """Record a call of this form; return its results. Raise the error of an operand that could not be computed."""
        x: Deferred
        if self._run is not None:
            self.run()  # an exception had interrupted it
        count = len(self.calls)
        if self.backend is not backend:
            if count:
                self.run()
            self.backend = backend
        elif count >= self.limit and (over := self._over(count)):
            self.run(over)
            self.backend = backend
        refs = []
        for x in operands:
            if x.tape is self:
                refs.append(x.number)
                continue
            place = self._places.get(id(x))
            if place is None:
                if x.failure is not None:
                    raise x.failure
                self.inputs.append(x)
                place = self._places[id(x)] = -len(self.inputs)
            refs.append(place)
        first = self.first
        if self.calls:
            first = self.calls[-1].end
        else:
            _live.add(self)
        made: list[Deferred] = []
        outs = []
        for aval in form.outs:
            x = pending(aval, self, first + len(made))
            made.append(x)
            outs.append(machine.reference_to(x))
        self.calls.append(_call_of(form, tuple(refs), first, outs))
        self.made += form.nbytes
        if self.made > ENOUGH_BYTES:
            self.limit = 0
        counters.calls += 1
        return made

    def _over(self, count: int) -> int:
        """Return how many calls run before the next one is added; 0 for none. In a loop, they end where the fewest bytes are in use."""
        if count >= LONGEST or self.made > MOST_BYTES or count == self._end:
            return count
        if self.made > ENOUGH_BYTES and _rounds:
            units = [call.form.unit for call in self.calls]
            if any(tuple(units[-length:]) in _rounds for length in _lengths):
                return count
        if count < ROUNDS or self._end > count or count < self._next:
            return 0
        if self._watch is None:
            units = [call.form.unit for call in self.calls]
            period = _period(units)
            if not period:
                self.limit = self._next = min(2 * count, LONGEST)
                return 0
            last = tuple(units[-period:])
            wait = _waits.get(last)
            if wait is not None:
                self.limit = self._end = count + wait
                return 0 if wait else count
            self._watch = _Watch(count, last, [])
        held = self._watch.held
        held.append(sum([x.nbytes for look in self.outs if (x := look()) is not None]))
        period = len(held)
        if period < len(self._watch.units):
            return 0
        read = self._read_later(count, self._watch.begun, period)
        _learn(self._watch.units, min(range(period), key=lambda i: (held[i], read[i])))
        if self.made > ENOUGH_BYTES:
            units = [call.form.unit for call in self.calls]
            return max(_ends(units), default=count)
        return self._watch.begun + _waits[self._watch.units]

    def _read_later(self, count: int, begun: int, period: int) -> list[int]:
        """Return, for each position in an iteration of a loop, how many bytes later calls read from earlier ones.

        ``count``: number of recorded calls; ``begun``: call at which the first iteration begins; ``period``: calls in one iteration.
        Among positions with equally many bytes in use, a program should end where the fewest are read later: a value that is read on
        both sides is computed twice.
        """
        calls = self.calls
        makers = [(i, out) for i, call in enumerate(calls) for out in range(len(call.outs))]
        lags: dict[tuple[int, int], int] = {}
        sizes: dict[tuple[int, int], int] = {}
        for reader in range(count - period, count):
            for n in calls[reader].refs:
                if n >= self.first:
                    maker, out = makers[n - self.first]
                    value = (maker - begun) % period, out
                    lags[value] = max(lags.get(value, 0), min(reader - maker, period))
                    sizes[value] = calls[maker].form.outs[out].nbytes
        read = [0] * period
        for (maker, out), lag in lags.items():
            for place in range(maker + 1, maker + 1 + lag):
                read[place % period] += sizes[maker, out]
        return read

    def run(self, calls: int | None = None) -> None:
        """Run all recorded calls, or only the first ``calls``. If a signal interrupts the run, the next read of a value completes it."""
        start = perf_counter()
        if not self.turns:
            _collector.catch_up()
        with self.lock:
            backend, total = self.backend, len(self.calls)
            left = total if calls is None else calls
            if self._run is not None:
                left = total
            programs = 0
            self.turner, self.turns = machine.thread_number(), self.turns + 1
            _collector.hold()
            try:
                while True:  # no condition: see tests/common/test_signal_safety.py
                    if not self.calls or left <= 0:
                        break
                    done, is_program = self._run_first(left)
                    left -= done
                    programs += is_program
            finally:
                _collector.let()
                self.turns -= 1
                if waiting and not self.turns:
                    call_waiting()
        if events.tap is not None and backend is not None and total:
            events.tap.tape_ran(backend.name, programs, perf_counter() - start)

    def _run_first(self, most: int) -> tuple[int, bool]:
        """Run the first block within the first ``most`` calls; return the number of calls in it, and whether a program ran them."""
        assert self.backend is not None
        if self._run is None:
            count = self._cut(most)
            rest = self._rest(count)
            calls = self.calls[:count]
            wanted = [
                (i, x) for i, look in enumerate([y for each in calls for y in each.outs]) if (x := look()) is not None
            ]
            refs = [each.refs for each in calls]
            if self.first:
                refs = [tuple([n - self.first if n >= 0 else n for n in numbers]) for numbers in refs]
            self._run = Run([each.form for each in calls], refs, wanted, self.inputs, self.backend), rest
            self.inputs = []
            del wanted
        current = run, rest = self._run
        count = len(self.calls) - len(rest.calls)
        for x, value, is_fresh in run.results():
            if isinstance(value, Failure):
                x.failure = value.error
            else:
                x.value, x.spare = value, is_fresh
            x.tape = None
        places = {id(x): -1 - i for i, x in enumerate(rest.inputs)}
        made = sum([call.form.nbytes for call in rest.calls])
        if self._run is not current:  # a signal handler has completed this run, and may have recorded since
            return count, run.by_program
        if not rest.calls:
            self._begin()
            _live.discard(self)
            return count, run.by_program
        # Nothing is called from here on, so that no signal comes in between.
        self.calls, self.inputs, self.first = rest.calls, rest.inputs, rest.first
        self._places, self.made, self._run = places, made, None
        self.limit, self._next, self._end, self._watch = 0 if made > ENOUGH_BYTES else ROUNDS, 0, 0, None
        return count, run.by_program

    def _cut(self, most: int) -> int:
        """Return the number of calls in the next block: up to the first iteration of a known loop, that iteration, or all ``most``."""
        if not _rounds or sum([call.form.nbytes for call in self.calls[:most]]) <= ENOUGH_BYTES:
            return most
        units = [call.form.unit for call in self.calls[:most]]
        return min(_ends(units), default=most)

    def _rest(self, count: int) -> _Rest:
        """Return the tape without its first ``count`` calls; results of the first calls that later calls read become inputs."""
        before, left = self.calls[:count], self.calls[count:]
        first = before[-1].end
        if not left:
            return _Rest([], [], first)
        inputs: list[Deferred] = []
        places: dict[int, int] = {}
        makers = {call.first + i: (call, i) for call in before for i in range(len(call.outs))}

        def place(n: int) -> int:
            if n >= first:
                return n
            if n not in places:
                if n < 0:
                    x = self.inputs[-1 - n]
                else:
                    call, i = makers[n]
                    x = call.outs[i]()
                    if x is None:
                        x = pending(call.form.outs[i], self, n)
                        call.outs[i] = machine.reference_to(x)
                inputs.append(x)
                places[n] = -len(inputs)
            return places[n]

        calls = [_call_of(call.form, tuple([place(n) for n in call.refs]), call.first, call.outs) for call in left]
        return _Rest(calls, inputs, first)


class _Rest(NamedTuple):
    """Remaining contents of a tape after its first calls have run."""

    calls: list[Call]
    inputs: list[Deferred]
    first: int


def _ends(units: list[Any]) -> Iterator[int]:
    """Yield the positions in ``units`` (of successive calls), except 0, at which an iteration of a known loop begins or ends."""
    i, count = 0, len(units)
    while i < count:
        length = next((n for n in _lengths if i + n <= count and tuple(units[i : i + n]) in _rounds), 0)
        if length:
            if i:
                yield i
            i += length
            yield i
        else:
            i += 1


def _learn(units: tuple[Any, ...], best: int) -> None:
    """Remember a loop whose iteration is ``units``, and ``best``, the position in it where the fewest bytes are in use."""
    if len(_waits) > 4096:
        _waits.clear()
    if len(_rounds) > 4096:
        _rounds.clear()
        _lengths.clear()
    period = len(units)
    for turn in range(period):
        turned = units[turn:] + units[:turn]
        _waits[turned] = (best - turn) % period
        if turn == best:
            _rounds.add(turned)
            if period not in _lengths:
                _lengths.append(period)


class _Watch(NamedTuple):
    """Measurement of one iteration of a loop: the bytes in use at each call. It begins after ``begun`` calls, which end with an iteration,
    ``units``.
    """

    begun: int
    units: tuple[Any, ...]
    held: list[int]


_waits: dict[tuple[Any, ...], int] = {}
"""Last iteration of a loop -> number of calls from its end to the position where the fewest bytes are in use."""

_rounds: set[tuple[Any, ...]] = set()
"""Iterations of known loops, beginning where the fewest bytes are in use."""

_lengths: list[int] = []
"""Numbers of calls in the iterations of known loops."""


def _period(units: Sequence[Any]) -> int:
    """Return the number of calls in an iteration, if the last calls are iterations of a loop; else 0."""
    count = len(units)
    for period in range(1, count // 2 + 1):
        first = count - max(2 * period, ROUNDS // 2)  # two slices in a row are not a loop
        if all(units[i] is units[i - period] for i in range(count - 1, first + period - 1, -1)):
            return period
    return 0


def run_all() -> None:
    """Run the recorded calls of all threads: at the end of the process, and before a fork."""
    for tape in list(_live):
        tape.run()


def settled(x: Deferred, why: str = "") -> Any:
    """Return the library's array of a deferred value, or raise the error that prevented it. ``why``: reason for which a synchronisation is
    counted, if any.

    The caller may keep that array, or share its memory, so no program overwrites it from now on.
    """
    while (tape := x.tape) is not None:
        if why:
            synchronised(why)
        tape.run()
    if x.failure is not None:
        raise x.failure
    x.spare = False
    return x.value


_local = threading.local()


def is_in_between() -> bool:
    """Whether this thread is in the middle of an operation on a tape, its own or another thread's.

    That tape is between two states, so nothing may be recorded.
    """
    tape: Tape
    me = machine.thread_number()
    for tape in (mine(), *_live):  # noqa: SIM110 -- compiled, a loop knows the type of a tape
        if tape.turns and tape.turner == me:
            return True
    return False


def mine() -> Tape:
    """Return the tape of this thread."""
    try:
        found: Tape = _local.tape
    except AttributeError:
        found = _local.tape = Tape()
    return found


@process.follows("execution", "traces")
def _follow() -> None:
    """Run all tapes when recording ends: a library that traces would take the calls for part of its program."""
    if process.execution != "compiled" or process.traces:
        run_all()


atexit.register(run_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=run_all, after_in_child=_live.clear)
