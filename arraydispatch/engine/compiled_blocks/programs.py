"""Blocks of recorded calls: run call by call while they are rare, and compiled when they have come often enough.

The key of a block is its calls, their operands, and the numbers of the wanted results; never a value. A block is compiled when it
has come often enough; no clock decides.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from math import prod
from time import perf_counter
from typing import Any, NamedTuple
from weakref import ref as weak

import numpy as np

from ...backends.base import Backend
from ...common.signal_safety import of_handler, without_finalizers
from ...runtime import settings
from ...runtime.execution_policy import shapes
from .counters import counters
from .units import Form
from .values import Aval, Deferred

__all__ = ["MOST_OF_A_PLACE", "MOST_PROGRAMS", "Block", "Failure", "Run", "block_of", "forget", "programs"]

MOST_OF_A_PLACE = 8
"""Maximum number of programs for blocks that differ only in shapes, dtypes and static arguments, which may change each time."""
MOST_PROGRAMS = 512
_DEAD_FOR = 10
"""Minimum number of runs before a program is compiled again to overwrite operands that were dead in each run."""
_REPAYS = 1 << 29
"""Minimum bytes of operands that were dead in each run, in all runs together: for a short loop the compiler takes longer than all
iterations."""
_WORTH_DONATING = 1 << 19
"""Minimum bytes of an operand for which a program that overwrites it is compiled."""
_WORD = 8
"""Bytes of a number in the unit of work: NumPy adds or moves several shorter numbers in the time of one."""
_MOST_BLOCKS = 2048

_blocks: dict[Any, Block] = {}
_of_tape: dict[Any, tuple[Any, list[int]]] = {}
"""Contents of a tape and its wanted results -> their block, and the positions of the block's inputs among the tape's inputs."""
_of_place: dict[Any, int] = {}
_lock = threading.RLock()


class Failure:
    """Stand-in for a result that could not be computed: it holds the error."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Block:
    """Recorded calls that are run together, as a program of the library's compiler or, until that pays, one by one. Equal tapes share a block
    (:func:`block_of`).

    Parameters
    ----------
    forms, refs : sequence
        The calls, and their operands.
    wanted : sequence of int
        Numbers of the results to return.
    avals : sequence of Aval
        Abstract values of the inputs.
    hosts : sequence of bool
        Whether each input is a number on the host.
    backend : Backend
        Library that runs the calls.
    """

    def __init__(
        self,
        forms: Sequence[Form],
        refs: Sequence[tuple[int, ...]],
        wanted: Sequence[int],
        avals: Sequence[Aval],
        hosts: Sequence[bool],
        backend: Backend,
    ) -> None:
        self.forms, self.refs, self.wanted, self.avals, self.backend = forms, refs, wanted, avals, backend
        self.hosts = hosts
        self.count = self.runs = 0
        self.elements = sum(prod(out.shape) for form in forms for out in form.outs)
        self.program: _Program | None = None
        self.gives_up = False
        self._always_spare: set[int] | None = None
        """Inputs that were spare in every run of the program."""
        self._is_settled = False
        """Whether it is decided which operands the program overwrites."""
        self._numbers = [i for i, is_host in enumerate(hosts) if is_host]
        self._equals = [0] * len(self._numbers)
        """For each host number, the position of the first input that equalled it every time the block came, else its own."""
        reads: dict[int, int] = {}
        for at, ref in enumerate(refs):
            for number in ref:
                reads[number] = at
        kept = set(wanted)
        self.dead: list[list[int]] = [[] for _ in forms]
        """For each call, the numbers of the values that no later call reads."""
        for number, at in reads.items():
            if number not in kept:
                self.dead[at].append(number)
        self.work = 0
        """NumPy's time for the calls, in additions of 64-bit numbers; used to decide whether copying arrays to the library pays."""
        self.large = self._large() if settings.default.min_size and settings.on_cpu(backend.name) else []

    def _large(self) -> list[tuple[tuple[int, ...], int]]:
        """Return the shapes of large arrays, each with the number of calls that read or make them; add the calls' work to :attr:`work`."""
        least = settings.default.min_size
        found: dict[tuple[int, ...], int] = {}
        made = [out for form in self.forms for out in form.outs]
        for form, ref in zip(self.forms, self.refs):
            met = [*[made[n] if n >= 0 else self.avals[-1 - n] for n in ref], *form.outs]
            for shape in {x.shape for x in met}:
                if prod(shape) >= least:
                    found[shape] = found.get(shape, 0) + (form.unit.weight > 0)
            self.work += form.unit.weight * max([x.nbytes for x in met]) // _WORD
        return list(found.items())

    def run(self, inputs: list[Any], spare: list[int], made: list[list[Any]]) -> bool:
        """Append the list of the wanted results, in their order, to ``made``; return whether a program computed them.

        ``inputs``: native arrays, and numbers on the host. ``spare``: positions of native arrays that a program may overwrite.
        """
        self.count += 1
        counters.blocks += 1
        can = not any(type(x) is Failure for x in inputs)
        if can and not self.gives_up and self.count >= self.backend.block_comes:
            start, known = perf_counter(), self.program is not None and self.program.is_for(inputs)
            try:
                with self.backend.within():
                    if not known:
                        self.program = without_finalizers(self._compiled, inputs)
                    elif dead := self._dead_each_time(spare):
                        known = False
                        self.program = without_finalizers(self._compiled, inputs, dead) or self.program
                        self.gives_up = False  # without room for another program, this one goes on
                    if self.program is not None and known:
                        self.program.run(self, inputs, spare, made)
                    elif (
                        self.program is not None
                    ):  # the library may trace it now; a finalizer that computes would be traced, too
                        without_finalizers(self.program.run, self, inputs, spare, made)
            except Exception as error:  # too much for memory or compiler: call by call it may work, or raise
                if of_handler(error):
                    raise
                self.program, self.gives_up = None, True
            if made:
                if not known:
                    counters.seconds += perf_counter() - start
                self.runs += 1
                counters.elements["program"] += self.elements
                shapes.computed(self.large, self.work)
                return True
        if can:
            self._compare(inputs)
        counters.interpreted += 1
        counters.elements["call"] += self.elements
        made.append(self._one_by_one(inputs))
        return False

    def _dead_each_time(self, spare: list[int]) -> list[int]:
        """Return the inputs that were spare in every run, if the block should be compiled again to overwrite them; else an empty list.

        ``spare``: inputs that nothing needs after this run.
        A single run is not enough to decide: a loop's first block reads arrays from before the loop. In stencils, which read an operand
        at other places than they write, the compiler copies the operand first; :meth:`_compiled` compares the two programs.
        """
        if self.program is None or self._is_settled:
            return []
        self._always_spare = set(spare) if self._always_spare is None else self._always_spare & set(spare)
        if self.runs < _DEAD_FOR:
            return []
        found = self._donated(sorted(self._always_spare))
        if found and self.runs * sum([self.avals[i].nbytes for i in found]) < _REPAYS:
            return []
        self._is_settled = True
        return found

    def _donated(self, spare: list[int]) -> list[int]:
        """Return those of ``spare`` (inputs that nothing needs after the run) that a program can overwrite, each with a different result of
        the same shape and dtype.
        """
        if not self.backend.donates:
            return []
        made = [out for form in self.forms for out in form.outs]
        free = [(made[i].shape, made[i].dtype) for i in self.wanted]
        donated = []
        for i in spare:
            spec = shape, dtype = self.avals[i].shape, self.avals[i].dtype
            if spec in free and prod(shape) * dtype.itemsize >= _WORTH_DONATING:
                free.remove(spec)
                donated.append(i)
        return donated

    def _compare(self, inputs: list[Any]) -> None:
        """Note which host numbers are equal in these inputs, and were equal in all earlier ones."""
        firsts: dict[Any, int] = {}
        for at, (i, before) in enumerate(zip(self._numbers, self._equals)):
            self._equals[at] = firsts.setdefault((before, self.avals[i].dtype, inputs[i].tobytes()), i)

    def given(self, x: Any, at: int) -> Any:
        """Return ``x``, input ``at`` of the block, as an argument of a program: a host number becomes a number of the library's; an array is
        returned unchanged.
        """
        if not self.hosts[at]:
            return x
        device = self.avals[at].device
        return self.backend.transforms.number(np.asarray(x), lambda _: self.backend.from_numpy(np.asarray(x), device))

    def _one_by_one(self, inputs: list[Any]) -> list[Any]:
        """Run the calls one by one and return the wanted results. If a call fails, its results are :class:`Failure`, and so are those that
        depend on them.
        """
        backend = self.backend
        values: dict[int, Any] = {}
        made = 0
        with backend.within():
            for i, x in enumerate(inputs):
                values[-1 - i] = backend.from_numpy(np.asarray(x), self.avals[i].device) if self.hosts[i] else x
            for form, ref, dead in zip(self.forms, self.refs, self.dead):
                given = [values[number] for number in ref]
                failed = next((x for x in given if type(x) is Failure), None)
                try:
                    results = (
                        [failed] * len(form.outs) if failed is not None else [*map(backend.placed, form.run(*given))]
                    )
                except Exception as error:  # raised when the value is read
                    if of_handler(error):
                        raise
                    results = [Failure(error)] * len(form.outs)
                for value in results:
                    values[made] = value
                    made += 1
                del given, results
                for number in dead:
                    del values[number]
        return [values[number] for number in self.wanted]

    def _may_compile(self) -> bool:
        """Count one more program, for this place and in the process; if there are too many, give up compiling it and return False."""
        place = self.backend, tuple([form.unit for form in self.forms]), tuple(self.refs)
        with _lock:
            count = _of_place.get(place, 0)
            if count >= MOST_OF_A_PLACE or counters.programs >= MOST_PROGRAMS:
                self.gives_up = True
                counters.refused += 1
                shapes.refused(x.shape for each in (self.avals, *[form.outs for form in self.forms]) for x in each)
                return False
            _of_place[place] = count + 1
            counters.programs += 1
        return True

    def _compiled(self, inputs: list[Any], donated: Sequence[int] = ()) -> _Program | None:
        """Compile the block; return None if no more programs may be compiled. Numbers that were always equal are passed as one operand,
        so that the compiler knows that they are equal.

        ``donated``: inputs that the program overwrites. If the program accesses more memory than the present one, None is returned.
        """
        if not self._may_compile():
            return None
        if self.program is None:
            self._compare(inputs)
        elif not donated:  # the numbers differ now
            self._equals = list(self._numbers)
        same = self._equals
        takes = [i for i, is_host in enumerate(self.hosts) if not is_host or i in same]
        place = {i: at for at, i in enumerate(takes)}
        places = [place.get(i, -1) for i in range(len(inputs))]
        for i, first in zip(self._numbers, same):
            places[i] = place[first]
        avals = [self.avals[i] for i in takes]
        run = self.backend.transforms.program(
            lambda natives: self._all([natives[at] for at in places]),
            [(x.shape, x.dtype) for x in avals],
            avals[0].device if avals else None,
            [place[i] for i in donated],
        )
        made = _Program(run, takes, [(i, first) for i, first in zip(self._numbers, same) if i != first], list(donated))
        return made if not donated or made.bytes() <= self.program.bytes() else None  # type: ignore[union-attr]

    def _all(self, natives: list[Any]) -> list[Any]:
        """Run all calls on native arrays and return the wanted results: the block as one function, for the compiler."""
        values = {-1 - i: x for i, x in enumerate(natives)}
        made = 0
        for form, ref in zip(self.forms, self.refs):
            given = [values[number] for number in ref]
            for x in form.run(*given):
                values[made] = self.backend.placed(x, given)
                made += 1
        return [values[number] for number in self.wanted]

    def cost(self) -> dict[str, float]:
        """Return the bytes accessed and operations by the compiler's own analysis, or the number of kernels; empty if it gives nothing."""
        if self.program is None:
            return {}
        with self.backend.within():
            return self.program.cost()


class _Program(NamedTuple):
    """Compiled block.

    Attributes
    ----------
    call : callable
        The library's program: takes native arrays, and a list to which it appends the list of its results.
    takes : list of int
        Inputs of the block that are operands of the program.
    same : list of pairs of int
        Inputs that must be equal, because the program takes only the second.
    donated : list of int
        Inputs that the program overwrites.
    """

    call: Any
    takes: list[int]
    same: list[tuple[int, int]]
    donated: list[int]

    def is_for(self, inputs: list[Any]) -> bool:
        """Whether the program is valid for these inputs: numbers that it takes as one are equal."""
        return all(inputs[i].tobytes() == inputs[first].tobytes() for i, first in self.same)

    def cost(self) -> dict[str, float]:
        """Return the result of the compiler's analysis; empty if there is none."""
        ask = getattr(self.call, "cost", None)
        return {} if ask is None else ask()

    def bytes(self) -> float:
        """Return the bytes accessed, including copies of operands that the compiler makes before it overwrites them."""
        return self.cost().get("bytes", 0.0)

    def run(self, block: Block, inputs: list[Any], spare: list[int], made: list[list[Any]]) -> None:
        """Run the program and append the list of its results to ``made``. Inputs that it overwrites are copied first, except ``spare``."""
        given = [block.given(inputs[i], i) if block.hosts[i] else inputs[i] for i in self.takes]
        for i in self.donated:
            if i not in spare:
                at = self.takes.index(i)
                given[at] = block.backend.prim.copy(given[at])
        self.call(given, made)


class Run:
    """Run of a tape, given as in :func:`block_of`. It keeps the block and its inputs, so an interrupted run can be repeated.

    Attributes
    ----------
    by_program : bool
        Whether a program computed the results.
    made : list
        Contains the list of results, once they are computed. The library appends it, so that no signal comes in between.
    """

    __slots__ = ("_block", "_candidates", "_inputs", "_wanted", "by_program", "made")

    def __init__(
        self,
        forms: list[Form],
        refs: list[tuple[int, ...]],
        wanted: list[tuple[int, Deferred]],
        inputs: list[Deferred],
        backend: Backend,
    ) -> None:
        self._block, given, self._wanted = block_of(forms, refs, wanted, inputs, backend)
        self._inputs = [_value(x) for x in given]
        self._candidates = [(i, weak(x)) for i, x in enumerate(given) if x.spare]
        self.by_program = False
        self.made: list[list[Any]] = []

    def results(self) -> list[tuple[Deferred, Any, bool]]:
        """Run the block unless it has run. Return for each wanted result its deferred value, its native value or :class:`Failure`, and
        whether nothing else uses its memory.
        """
        if self._block is None:
            return []
        if not self.made:
            spare = [i for i, look in self._candidates if look() is None]
            self.by_program = self._block.program is not None
            self.by_program = self._block.run(self._inputs, spare, self.made)
        return [(x, value, self.by_program) for x, value in zip(self._wanted, self.made[0])]


def _value(x: Deferred) -> Any:
    if x.failure is not None:
        return Failure(x.failure)
    return x.value if x.host is None else x.host


def forget() -> None:
    """Forget all blocks, and their programs."""
    with _lock:
        _of_tape.clear()
        _blocks.clear()


def programs() -> list[Block]:
    """Return the blocks that have a program."""
    return [block for block in _blocks.values() if block.program is not None]


def block_of(
    forms: list[Form],
    refs: list[tuple[int, ...]],
    wanted: list[tuple[int, Deferred]],
    inputs: list[Deferred],
    backend: Backend,
) -> tuple[Block | None, list[Deferred], list[Deferred]]:
    """Return the block of a tape's wanted results, the block's inputs, and the deferred values of the results. The block is None if no
    result is wanted.

    ``forms``, ``refs``: form of each recorded call, and the numbers of its operands; ``wanted``: number and value of each wanted result.
    """
    if not wanted:
        return None, [], []
    tape = (
        backend,
        tuple([form.number for form in forms]),
        tuple(refs),
        tuple([number for number, _ in wanted]),
        tuple([x.host is not None for x in inputs]),
    )
    known = _of_tape.get(tape)
    if known is None:
        known = _found(forms, refs, [number for number, _ in wanted], inputs, backend)
        with _lock:
            if len(_of_tape) >= _MOST_BLOCKS:
                _of_tape.clear()
            _of_tape[tape] = known
    block, places = known
    return block, [inputs[i] for i in places], [x for _, x in wanted]


def _found(
    forms: list[Form], refs: list[tuple[int, ...]], wanted: list[int], inputs: list[Deferred], backend: Backend
) -> tuple[Block, list[int]]:
    """Find or make the block of the calls that the wanted results depend on. Return it, and the positions of its inputs among the tape's
    inputs.
    """
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
    places: list[int] = []
    used: list[tuple[int, ...]] = []
    made = 0
    for at in kept:
        for number in refs[at]:
            if number < 0 and number not in numbers:
                places.append(-1 - number)
                numbers[number] = -len(places)
        used.append(tuple([numbers[number] for number in refs[at]]))
        first = firsts[at]
        for i in range(len(forms[at].outs)):
            numbers[first + i] = made
            made += 1
    chosen = [forms[at] for at in kept]
    ends = [numbers[number] for number in wanted]
    given = [inputs[i] for i in places]
    hosts = tuple([x.host is not None for x in given])
    key = (
        backend,
        tuple([form.number for form in chosen]),
        tuple(used),
        tuple(ends),
        hosts,
    )
    found = _blocks.get(key)
    if found is None:
        with _lock:
            if len(_blocks) >= _MOST_BLOCKS:
                _of_tape.clear()
                for old in [each for each, block in _blocks.items() if block.program is None]:
                    del _blocks[old]
            found = _blocks.setdefault(key, Block(chosen, used, ends, [x.aval for x in given], hosts, backend))
    return found, places
