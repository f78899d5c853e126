"""Blocks of recorded calls: run call by call while they are rare, and compiled when they have come often enough.

A block is known by its calls, by what each reads, and by which results somebody wants; by no value. How often it has come
decides, never a clock.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from math import prod
from time import perf_counter
from typing import Any

import numpy as np

from ...backends.base import Backend
from .counters import counters
from .units import Form
from .values import Aval, Deferred

__all__ = ["COMES", "MOST_OF_A_PLACE", "MOST_PROGRAMS", "Block", "Failure", "block_of", "programs"]

COMES = 3
"""How often a block comes before it is compiled, the last time included."""
MOST_OF_A_PLACE = 8
"""Programs at most of blocks that differ in shapes, dtypes and static arguments alone: where these change each time, no more are compiled."""
MOST_PROGRAMS = 512
_MOST_BLOCKS = 2048

_blocks: dict[Any, Block] = {}
_of_place: dict[Any, int] = {}
_lock = threading.RLock()


class Failure:
    """In place of a result: what kept it from being computed."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Block:
    """Calls that are run together.

    Parameters
    ----------
    forms, refs : sequence
        As of a tape, of those calls that somebody wants.
    wanted : sequence of int
        Which results are.
    avals : sequence of Aval
        Of the inputs.
    backend : Backend
        Whose natives they take.
    """

    def __init__(
        self,
        forms: Sequence[Form],
        refs: Sequence[tuple[int, ...]],
        wanted: Sequence[int],
        avals: Sequence[Aval],
        backend: Backend,
    ) -> None:
        self.forms, self.refs, self.wanted, self.avals, self.backend = forms, refs, wanted, avals, backend
        self.count = 0
        self.elements = sum(prod(out.shape) for form in forms for out in form.outs)
        self.program: Any = None
        self.gives_up = False
        reads: dict[int, int] = {}
        for at, ref in enumerate(refs):
            for number in ref:
                reads[number] = at
        kept = set(wanted)
        self.dead: list[list[int]] = [[] for _ in forms]
        """For each call, what nobody reads after it."""
        for number, at in reads.items():
            if number not in kept:
                self.dead[at].append(number)

    def run(self, inputs: list[Deferred]) -> dict[int, Any]:
        """Return the wanted results by their numbers."""
        self.count += 1
        counters.blocks += 1
        start, first = perf_counter(), self.program is None
        if (self.count >= COMES and not self.gives_up) if first else True:
            try:
                with self.backend.within():
                    if self.program is None and self._may_compile():
                        self.program = self._compiled()
                    made = None if self.program is None else self.program([self._given(x) for x in inputs])
            except Exception:  # noqa: BLE001 -- too much for the device's memory or for its compiler: call by call it may do, or says why
                self.program, self.gives_up, made = None, True, None
                counters.failed += 1
            if made is not None:
                if first:
                    counters.seconds += perf_counter() - start
                else:
                    counters.hits += 1
                counters.elements["program"] += self.elements
                return dict(zip(self.wanted, made))
        counters.interpreted += 1
        counters.elements["call"] += self.elements
        return self._one_by_one(inputs)

    def _given(self, x: Deferred) -> Any:
        """An input as a program takes it."""
        if x.host is None:
            return x.value
        return self.backend.transforms.number(np.asarray(x.host), lambda _: _there(x, self.backend))

    def _one_by_one(self, inputs: list[Deferred]) -> dict[int, Any]:
        """As eager execution does. Only those results fail that a call which failed is part of."""
        backend = self.backend
        values: dict[int, Any] = {}
        made = 0
        with backend.within():
            for i, x in enumerate(inputs):
                values[-1 - i] = x.value if x.host is None else _there(x, backend)
            for form, ref, dead in zip(self.forms, self.refs, self.dead):
                given = [values[number] for number in ref]
                failed = next((x for x in given if type(x) is Failure), None)
                try:
                    results = (
                        [failed] * len(form.outs) if failed is not None else [*map(backend.placed, form.run(*given))]
                    )
                except Exception as error:  # noqa: BLE001 -- whoever looks at the value hears of it
                    results = [Failure(error)] * len(form.outs)
                for value in results:
                    values[made] = value
                    made += 1
                del given, results
                for number in dead:
                    del values[number]
        return {number: values[number] for number in self.wanted}

    def _may_compile(self) -> bool:
        """Whether there is room for one more program, of this place and of the process."""
        place = self.backend, tuple([form.unit for form in self.forms]), tuple(self.refs)
        with _lock:
            count = _of_place.get(place, 0)
            if count >= MOST_OF_A_PLACE or counters.programs >= MOST_PROGRAMS:
                self.gives_up = True
                counters.refused += 1
                return False
            _of_place[place] = count + 1
            counters.programs += 1
        return True

    def _compiled(self) -> Any:
        specs = [(x.shape, x.dtype) for x in self.avals]
        device = self.avals[0].device if self.avals else None
        return self.backend.transforms.program(self._all, specs, device, ())

    def _all(self, natives: list[Any]) -> list[Any]:
        """The block as one function of native arrays."""
        values = {-1 - i: x for i, x in enumerate(natives)}
        made = 0
        for form, ref in zip(self.forms, self.refs):
            for x in form.run(*[values[number] for number in ref]):
                values[made] = x
                made += 1
        return [values[number] for number in self.wanted]

    def cost(self) -> dict[str, float]:
        """Return bytes accessed and operations, by the compiler's own analysis; empty where it has none."""
        ask = getattr(self.program, "cost", None)
        if ask is None:
            return {}
        with self.backend.within():
            found: dict[str, float] = ask()
        return found


def _there(x: Deferred, backend: Backend) -> Any:
    """A number of the host's as an array of the library; it is kept."""
    if x.value is None:
        x.value = backend.from_numpy(np.asarray(x.host), x.aval.device)
    return x.value


def programs() -> list[Block]:
    """Return the blocks that have a program."""
    return [block for block in _blocks.values() if block.program is not None]


def block_of(
    forms: list[Form], refs: list[tuple[int, ...]], wanted: list[int], inputs: list[Deferred], backend: Backend
) -> tuple[Block | None, list[Deferred], dict[int, int]]:
    """Return the block of a tape, its inputs, and the numbers that wanted results have in it. None if nothing is wanted."""
    if not wanted:
        return None, [], {}
    firsts: list[int] = []
    total = 0
    for form in forms:
        firsts.append(total)
        total += len(form.outs)
    needed = set(wanted)
    kept: list[int] = []
    for at in range(len(forms) - 1, -1, -1):
        first = firsts[at]
        if not needed.isdisjoint(range(first, first + len(forms[at].outs))):
            kept.append(at)
            needed.update(refs[at])
    kept.reverse()
    numbers: dict[int, int] = {}
    given: list[Deferred] = []
    used: list[tuple[int, ...]] = []
    made = 0
    for at in kept:
        for number in refs[at]:
            if number < 0 and number not in numbers:
                given.append(inputs[-1 - number])
                numbers[number] = -len(given)
        used.append(tuple([numbers[number] for number in refs[at]]))
        first = firsts[at]
        for i in range(len(forms[at].outs)):
            numbers[first + i] = made
            made += 1
    chosen = [forms[at] for at in kept]
    ends = [numbers[number] for number in wanted]
    key = (
        backend,
        tuple([form.number for form in chosen]),
        tuple(used),
        tuple(ends),
        tuple([x.host is None for x in given]),
    )
    found = _blocks.get(key)
    if found is None:
        with _lock:
            if len(_blocks) >= _MOST_BLOCKS:
                for old in [each for each, block in _blocks.items() if block.program is None]:
                    del _blocks[old]
            found = _blocks.setdefault(key, Block(chosen, used, ends, [x.aval for x in given], backend))
    return found, given, numbers
