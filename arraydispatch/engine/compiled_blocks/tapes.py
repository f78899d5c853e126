"""What a thread has recorded under compiled execution, and when it runs.

A tape holds forms and, of each, which earlier results or inputs it reads. It keeps no result alive: what nobody has any more when
it runs, and nothing that is wanted reads, is not computed.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Sequence
from time import perf_counter
from typing import Any
from weakref import ref

from ...backends.base import Backend
from ...common import events
from ...common.process_state import process
from .counters import counters, synchronised
from .programs import block_of
from .units import Form, rebuilt
from .values import Deferred, pending

__all__ = ["LONGEST", "ROUNDS", "Tape", "mine", "run_all", "settled"]

LONGEST = 256
"""Calls of a tape at most."""
ROUNDS = 48
"""Calls after which it is asked whether they are those of a loop, of which whole rounds are run."""
MOST_BYTES = 1 << 31
"""Bytes at most of what the calls of a tape make."""

_live: set[Tape] = set()


class Tape:
    """Calls in the order in which they were recorded.

    Attributes
    ----------
    forms : list of Form
        The calls.
    refs : list of tuple of int
        What each reads: numbers of results, from 0 on, and of inputs, from -1 down.
    outs : list of weak references
        To the deferred values of all results, in their order.
    inputs : list of Deferred
        Known values that are read.
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

    def add(self, form: Form, operands: list[Deferred], backend: Backend) -> Any:
        """Record a call; return its result, whose arrays are deferred values."""
        with self.lock:
            if self.backend is not backend:
                if self.forms:
                    self.run("another library")
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
            counters.calls += 1
            count = len(self.forms)
            if count >= self.limit or self.made > MOST_BYTES:
                self._full(count)
        return made[0] if form.structure is None else rebuilt(form.structure, made)

    def _full(self, count: int) -> None:
        if count < LONGEST and self.made <= MOST_BYTES:
            self.limit = _whole_rounds([form.unit for form in self.forms])
            if count < self.limit:
                return
        self.run("a round of a loop had ended" if count < LONGEST else "it was long")

    def run(self, why: str) -> None:
        """Have all values there. What a signal interrupts is begun again by the next who looks."""
        with self.lock:
            forms, refs, outs, inputs, backend = self.forms, self.refs, self.outs, self.inputs, self.backend
            if not forms:
                return
            assert backend is not None
            start = perf_counter()
            wanted = [(i, x) for i, look in enumerate(outs) if (x := look()) is not None]
            block, given, places = block_of(forms, refs, [i for i, _ in wanted], inputs, backend)
            made = block.run(given) if block is not None else {}
            for i, x in wanted:
                value = made[places[i]]
                if isinstance(value, _Failure):
                    x.failure = value.error
                else:
                    x.value = value
                x.tape = None
            if self.forms is forms:
                self._begin()
                _live.discard(self)
        if events.tap is not None:
            events.tap.program_ran(backend.name, len(forms), perf_counter() - start)


def _whole_rounds(units: Sequence[Any]) -> int:
    """How many calls the tape has when the round of the loop that its last calls are of ends; more than there are now."""
    count = len(units)
    for period in range(1, count // 2 + 1):
        start = count - period
        while start and units[start - 1] is units[start - 1 + period]:
            start -= 1
        if count - start >= 2 * period:
            rest = (count - start) % period
            return count + (period - rest if rest else 0)
    return min(2 * count, LONGEST)


def run_all() -> None:
    """Run what all threads have recorded."""
    for tape in list(_live):
        tape.run("the end of the process, or a fork")


def settled(x: Deferred, why: str = "") -> Any:
    """Return the library's array of a deferred value; ``why``: a look at it, which is counted."""
    while (tape := x.tape) is not None:
        if why:
            synchronised(why)
        tape.run(why or "a value was handed out")
    if x.failure is not None:
        raise x.failure
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

from .programs import Failure as _Failure  # noqa: E402
