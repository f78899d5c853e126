"""Tapes: the calls that a thread has recorded under compiled execution, and the rules by which they run.

A tape holds forms and, of each, which earlier results or inputs it reads. It keeps no result alive: what nobody has any more when
it runs, and nothing that is wanted reads, is not computed.

A tape ends before a call, where the fewest bytes are held: what an expression keeps in its middle would be a result of the program.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Sequence
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

__all__ = ["LONGEST", "ROUNDS", "Tape", "mine", "run_all", "settled"]

LONGEST = 256
"""Calls of a tape at most."""
ROUNDS = 48
"""Calls after which it is asked whether they are those of a loop, of which whole rounds are run."""
ENOUGH_BYTES = 1 << 25
"""Bytes made by a round of a loop from which the round is a block by itself: the compiler then sees what one would write by hand."""
MOST_BYTES = 1 << 34
"""Bytes at most that the calls of a tape make; they are not all held at one time."""

_live: set[Tape] = set()


class Tape:
    """Calls in the order in which they were recorded.

    Attributes
    ----------
    forms : list of Form
        The calls.
    refs : list of tuple of int
        Operands of each call: numbers of results, from 0 on, and of inputs, from -1 down.
    outs : list of weak references
        To the deferred values of all results, in their order.
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
        self.forms: list[Form] = []
        self.refs: list[tuple[int, ...]] = []
        self.outs: list[Any] = []
        self.inputs: list[Deferred] = []
        self._places: dict[int, int] = {}
        self.made = 0
        self.limit = ROUNDS
        self._next = self._end = 0
        self._watch: _Watch | None = None
        self._run: Run | None = None

    def add(self, form: Form, operands: list[Deferred], backend: Backend) -> Any:
        """Record a call; return its result, whose arrays are deferred values."""
        with self.lock:
            if self.backend is not backend:
                if self.forms:
                    self.run("another library")
                self.backend = backend
            elif (count := len(self.forms)) >= self.limit and self._is_over(count):
                self.run("a round of a loop had ended" if count < LONGEST else "it was long")
                self.backend = backend
            refs = []
            for x in operands:
                if x.tape is self:
                    refs.append(x.number)
                    continue
                if x.tape is not None:
                    x.tape.run("another thread")
                place = self._places.get(id(x))
                if place is None:
                    if x.failure is not None:
                        raise x.failure
                    self.inputs.append(x)
                    place = self._places[id(x)] = -len(self.inputs)
                refs.append(place)
            if not self.forms:
                _live.add(self)
            first = len(self.outs)
            self.forms.append(form)
            self.refs.append(tuple(refs))
            made = [pending(aval, self, first + i) for i, aval in enumerate(form.outs)]
            self.outs += map(ref, made)
            self.made += form.nbytes
            if self.made > ENOUGH_BYTES:
                self.limit = 0
            counters.calls += 1
        return made[0] if form.structure is None else rebuilt(form.structure, made)

    def _is_over(self, count: int) -> bool:
        """Return whether the tape ends here, before the next call: in a loop, where the fewest bytes are held."""
        if count >= LONGEST or self.made > MOST_BYTES or count == self._end:
            return True
        if self.made > ENOUGH_BYTES and tuple([form.unit for form in self.forms]) in _rounds:
            return True
        if count < ROUNDS or self._end > count or count < self._next:
            return False
        if self._watch is None:
            units = tuple([form.unit for form in self.forms])
            period = _period(units)
            if not period:
                self.limit = self._next = min(2 * count, LONGEST)
                return False
            last = units[-period:]
            wait = _waits.get(last)
            if wait is not None:
                return self._end_after(wait, count)
            self._watch = _Watch(last, [])
        held = self._watch.held
        held.append(sum([x.nbytes for look in self.outs if (x := look()) is not None]))
        period = len(held)
        if period < len(self._watch.units):
            return False
        best = held.index(min(held))
        if len(_waits) > 4096:
            _waits.clear()
        if len(_rounds) > 4096:
            _rounds.clear()
        for turn in range(period):
            units = self._watch.units[turn:] + self._watch.units[:turn]
            _waits[units] = (best - turn) % period
            if turn == best:
                _rounds.add(units)
        return self._end_after((best + 1) % period, count)

    def _end_after(self, wait: int, count: int) -> bool:
        self.limit = self._end = count + wait
        return not wait

    def run(self, why: str) -> None:
        """Have all values computed. Whoever looks next completes a run that a signal interrupted."""
        with self.lock:
            forms, backend = self.forms, self.backend
            if not forms:
                return
            assert backend is not None
            start = perf_counter()
            run = self._run
            if run is None:
                wanted = [(i, x) for i, look in enumerate(self.outs) if (x := look()) is not None]
                run = self._run = Run(forms, self.refs, wanted, self.inputs, backend)
                self.inputs = []
            for x, value, is_fresh in run.results():
                if isinstance(value, Failure):
                    x.failure = value.error
                else:
                    x.value, x.spare = value, is_fresh
                x.tape = None
            if self.forms is forms:
                self._begin()
                _live.discard(self)
        if events.tap is not None:
            events.tap.program_ran(backend.name, len(forms), perf_counter() - start)


class _Watch(NamedTuple):
    """Bytes held at each call of a round of a loop, which begins after the calls of ``units``."""

    units: tuple[Any, ...]
    held: list[int]


_waits: dict[tuple[Any, ...], int] = {}
"""Last round of a loop -> number of calls from its end to the place where the fewest bytes are held."""

_rounds: set[tuple[Any, ...]] = set()
"""Rounds of loops, from the place where the fewest bytes are held."""


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


_local = threading.local()


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
