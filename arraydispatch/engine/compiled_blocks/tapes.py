"""Tapes: the calls that a thread has recorded under compiled execution, and the rules by which they run.

A tape holds forms and, of each, which earlier results or inputs it reads. It keeps no result alive: what nobody has any more when
it runs, and nothing that is wanted reads, is not computed.

A tape ends before a call, where the fewest bytes are held: what an expression keeps in its middle would be a result of the program.
Where it holds rounds of a loop that is known by then, they are blocks of their own, and so is what comes before them: a second run of
the same loop, which is known from its first round on, then has the same blocks.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any, NamedTuple
from weakref import ref

from ...backends.base import Backend
from ...common import events
from ...common.process_state import process
from .counters import counters, synchronised
from .programs import Failure, Run
from .units import Form, rebuilt
from .values import Deferred, pending

__all__ = ["LONGEST", "ROUNDS", "Tape", "is_in_between", "mine", "run_all", "settled"]

LONGEST = 256
"""Calls of a tape at most."""
ROUNDS = 48
"""Calls after which it is asked whether they are those of a loop, of which whole rounds are run."""
ENOUGH_BYTES = 1 << 25
"""Bytes made by a round of a loop from which the round is a block by itself: the compiler then sees what one would write by hand."""
MOST_BYTES = 1 << 34
"""Bytes at most that the calls of a tape make; they are not all held at one time."""

_Call = tuple[Form, tuple[int, ...], list[Any], int]

_live: set[Tape] = set()


class Tape:
    """Calls in the order in which they were recorded.

    Attributes
    ----------
    calls : list of tuple
        The calls. Each is recorded by one step, so that none is there in part after an exception such as Ctrl-C: its `Form`; the numbers
        of its operands, of results from the `first` on, and of inputs from -1 down; a list of weak references to its results, which
        are deferred values; and the number of the next call's first result.
    first : int
        Number of the first result.
    inputs : list of Deferred
        Known values that are read.
    limit : int
        Number of calls from which the tape may end before the next call.
    """

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._begin()

    def _begin(self) -> None:
        self.backend: Backend | None = None
        self.calls: list[_Call] = []
        self.inputs: list[Deferred] = []
        self.first = 0
        self._places: dict[int, int] = {}
        self.made = 0
        self.limit = ROUNDS
        self._next = self._end = 0
        self._watch: _Watch | None = None
        self._run: tuple[Run, _Rest] | None = None

    def add(self, form: Form, operands: list[Deferred], backend: Backend) -> Any:
        """Record a call; return its result, whose arrays are deferred values."""
        for x in operands:
            if (other := x.tape) is not None and other is not self:
                other.run("another thread")  # before the lock is taken: that thread may want a value of this one
        with self.lock:
            _local.turns += 1
            try:
                made = self._added(form, operands, backend)
            finally:
                _local.turns -= 1
        return made[0] if form.structure is None else rebuilt(form.structure, made)

    def _added(self, form: Form, operands: list[Deferred], backend: Backend) -> list[Deferred]:
        """Record a call; return its results."""
        if self._run is not None:
            self.run("an exception had interrupted it")
        if self.backend is not backend:
            if self.calls:
                self.run("another library")
            self.backend = backend
        elif (count := len(self.calls)) >= self.limit and (calls := self._over(count)):
            self.run("a round of a loop had ended" if count < LONGEST else "it was long", calls)
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
        if self.calls:
            first = self.calls[-1][3]
        else:
            first = self.first
            _live.add(self)
        made = [pending(aval, self, first + i) for i, aval in enumerate(form.outs)]
        self.calls.append((form, tuple(refs), [*map(ref, made)], first + len(made)))
        self.made += form.nbytes
        if self.made > ENOUGH_BYTES:
            self.limit = 0
        counters.calls += 1
        return made

    def _over(self, count: int) -> int:
        """Return how many calls run before the next one: in a loop up to where the fewest bytes are held; 0: none yet."""
        if count >= LONGEST or self.made > MOST_BYTES or count == self._end:
            return count
        if self.made > ENOUGH_BYTES and _rounds:
            units = self._units(count)
            if any(tuple(units[-length:]) in _rounds for length in _lengths):
                return count
        if count < ROUNDS or self._end > count or count < self._next:
            return 0
        if self._watch is None:
            units = self._units(count)
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
        held.append(sum([x.nbytes for call in self.calls for look in call[2] if (x := look()) is not None]))
        period = len(held)
        if period < len(self._watch.units):
            return 0
        read = self._read_later(count, self._watch.begun, period)
        _learn(self._watch.units, min(range(period), key=lambda i: (held[i], read[i])))
        if self.made > ENOUGH_BYTES:
            return max(_ends(self._units(count)), default=count)
        return self._watch.begun + _waits[self._watch.units]

    def _read_later(self, count: int, begun: int, period: int) -> list[int]:
        """Return, for each place of a round, the bytes that calls behind it read of calls before it.

        Where as many bytes are held, a program that ends where fewer are read later computes less: names keep what
        nothing reads, and a value that is read on both sides is computed for its result and for each of its readers.
        """
        makers = [(i, out) for i, call in enumerate(self.calls) for out in range(len(call[2]))]
        lags: dict[tuple[int, int], int] = {}
        sizes: dict[tuple[int, int], int] = {}
        for at in range(count - period, count):
            for n in self.calls[at][1]:
                if n >= self.first:
                    maker, out = makers[n - self.first]
                    value = (maker - begun) % period, out
                    lags[value] = max(lags.get(value, 0), min(at - maker, period))
                    sizes[value] = self.calls[maker][0].outs[out].nbytes
        read = [0] * period
        for (maker, out), lag in lags.items():
            for place in range(maker + 1, maker + 1 + lag):
                read[place % period] += sizes[maker, out]
        return read

    def _units(self, most: int) -> list[Any]:
        """Return what the first ``most`` calls are calls of."""
        return [call[0].unit for call in self.calls[:most]]

    def run(self, why: str, calls: int | None = None) -> None:
        """Have all values computed, or those of the first ``calls``. Whoever looks next completes a run that a signal interrupted."""
        start = perf_counter()
        with self.lock:
            backend, total = self.backend, len(self.calls)
            left = total if calls is None else calls
            if self._run is not None:
                left = total
            programs = 0
            _local.turns += 1
            try:
                while self.calls and left > 0:
                    calls, is_program = self._run_first(left)
                    left -= calls
                    programs += is_program
            finally:
                _local.turns -= 1
        if events.tap is not None and backend is not None and total:
            events.tap.tape_ran(backend.name, programs, perf_counter() - start)

    def _run_first(self, most: int) -> tuple[int, bool]:
        """Run the first block of the first ``most`` calls; return the number of its calls, and whether a program ran them."""
        assert self.backend is not None
        if self._run is None:
            calls = self._cut(most)
            rest, done = self._rest(calls), self.calls[:calls]
            looks = [look for call in done for look in call[2]]
            wanted = [(i, x) for i, look in enumerate(looks) if (x := look()) is not None]
            refs = [call[1] for call in done]
            if self.first:
                refs = [tuple([n - self.first if n >= 0 else n for n in ref]) for ref in refs]
            self._run = Run([call[0] for call in done], refs, wanted, self.inputs, self.backend), rest
            self.inputs = []
            del wanted
        current = run, rest = self._run
        calls = len(self.calls) - len(rest.calls)
        for x, value, is_fresh in run.results():
            if isinstance(value, Failure):
                x.failure = value.error
            else:
                x.value, x.spare = value, is_fresh
            x.tape = None
        places = {id(x): -1 - i for i, x in enumerate(rest.inputs)}
        made = sum([call[0].nbytes for call in rest.calls])
        if self._run is not current:  # the handler of a signal has completed it, and may have recorded since
            return calls, run.by_program
        if not rest.calls:
            self._begin()
            _live.discard(self)
            return calls, run.by_program
        # Nothing is called from here on, so that no signal comes in between.
        self.calls, self.inputs, self.first = rest
        self._places, self.made, self._run = places, made, None
        self.limit, self._next, self._end, self._watch = 0 if made > ENOUGH_BYTES else ROUNDS, 0, 0, None
        return calls, run.by_program

    def _cut(self, most: int) -> int:
        """Return the number of calls before the first round of a known loop, or of this round, or all."""
        if not _rounds or sum([call[0].nbytes for call in self.calls[:most]]) <= ENOUGH_BYTES:
            return most
        return min(_ends(self._units(most)), default=most)

    def _rest(self, calls: int) -> _Rest:
        """Return what is on the tape after its first calls; results of these that it reads are inputs of it."""
        done, later = self.calls[:calls], self.calls[calls:]
        first = done[-1][3]
        if not later:
            return _Rest([], [], first)
        results = [(call[2], i, aval) for call in done for i, aval in enumerate(call[0].outs)]
        inputs: list[Deferred] = []
        places: dict[int, int] = {}

        def place(n: int) -> int:
            if n >= first:
                return n
            if n not in places:
                if n < 0:
                    x = self.inputs[-1 - n]
                else:
                    looks, i, aval = results[n - self.first]
                    x = looks[i]()
                    if x is None:
                        x = pending(aval, self, n)
                        looks[i] = ref(x)
                inputs.append(x)
                places[n] = -len(inputs)
            return places[n]

        moved = [(form, tuple([place(n) for n in refs]), looks, end) for form, refs, looks, end in later]
        return _Rest(moved, inputs, first)


class _Rest(NamedTuple):
    """Remainder of a tape after its first calls have run: its `calls`, `inputs` and `first`."""

    calls: list[_Call]
    inputs: list[Deferred]
    first: int


def _ends(units: list[Any]) -> Iterator[int]:
    """Yield the numbers of calls, above 0, at which a known round of a loop begins or ends."""
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
    """Note a round of a loop, which begins after the calls of ``units``, and its place where the fewest bytes are held."""
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
    """Bytes held at each call of a round of a loop, which begins after the calls of ``units``, the last of ``begun`` calls."""

    begun: int
    units: tuple[Any, ...]
    held: list[int]


_waits: dict[tuple[Any, ...], int] = {}
"""Last round of a loop -> number of calls from its end to the place where the fewest bytes are held."""

_rounds: set[tuple[Any, ...]] = set()
"""Rounds of loops, from the place where the fewest bytes are held."""

_lengths: list[int] = []
"""Their lengths."""


def _period(units: Sequence[Any]) -> int:
    """Return the number of calls in a round of the loop that the last two rounds belong to; 0 if there is none."""
    count = len(units)
    for period in range(1, count // 2 + 1):
        first = count - max(2 * period, ROUNDS // 2)  # two slices, one after the other, are no loop
        if all(units[i] is units[i - period] for i in range(count - 1, first + period - 1, -1)):
            return period
    return 0


def run_all() -> None:
    """Run what all threads have recorded."""
    for tape in list(_live):
        tape.run("the end of the process, or a fork")


def settled(x: Deferred, why: str = "") -> Any:
    """Return the library's array of a deferred value; ``why``: a look at it, which is counted.

    Others may keep that array, or share its memory, so no program writes over it from now on.
    """
    while (tape := x.tape) is not None:
        if why:
            synchronised(why)
        tape.run(why or "a value was handed out")
    if x.failure is not None:
        raise x.failure
    x.spare = False
    return x.value


class _Local(threading.local):
    """State of a thread: its `tape`, and how many turns it has begun at tapes, of which it may have those of others."""

    turns = 0


_local = _Local()


def is_in_between() -> bool:
    """Whether this thread is in the middle of a turn at a tape: what it holds is between two states, and nothing may be recorded."""
    return _local.turns > 0


def mine() -> Tape:
    """Return the tape of this thread."""
    try:
        found: Tape = _local.tape
    except AttributeError:
        found = _local.tape = Tape()
    return found


@process.follows("execution", "traces")
def _follow() -> None:
    """Run everything where recording ends: a library that traces would take it for part of its program."""
    if process.execution != "compiled" or process.traces:
        run_all()


atexit.register(run_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=run_all, after_in_child=_live.clear)
