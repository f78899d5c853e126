"""The run of a block on the host: NumPy's loops and kernels over pieces that stay in the cache, in several threads.

What is computed in which piece and memory is a matter of the :mod:`plan <arraydispatch.engine.host_blocks.block_plans>`, which is kept for the next block
of the same calls.
"""

from __future__ import annotations

import functools
import itertools
import math
import threading
from typing import Any

import numpy as np

from ...common.signal_safety import Done
from ...ufuncs import rows
from ..nodes import Bound, Buffer, Form, Node, Update
from . import block_plans
from .block_plans import Plan, Stretch, joined, viewed
from .kernels import computed

__all__ = ["Block", "Short", "needed", "planned", "whole_rounds"]

MOST_PLANS = 512
"""Plans that a process keeps."""
_KEPT = 1 << 23
"""Bytes of scratch memory that a thread keeps from one block to the next."""
_plans: dict[Any, Plan | None] = {}
"""By what there is to be computed; None where that has come once."""


class _Run:
    """A stretch, of the arrays of a block."""

    def __init__(self, stretch: Stretch, arrays: list[Any], in_threads: bool) -> None:
        self.stretch = stretch
        self.partial = [np.empty(stretch.pieces, arrays[slot].dtype) for _, _, slot in stretch.parts]
        """The elements of each piece, of reductions to one."""
        self.next = itertools.count().__next__
        self.done = itertools.count(1).__next__
        self.ended = threading.Event() if in_threads else None

    def go(self, block: Planned, now: list[int], kept_memory: list[np.ndarray[Any, Any]] | None) -> None:
        """Do pieces until none is left to begin; ``now`` is told the number of each node."""
        taken = self.next()
        stretch = self.stretch
        pieces, bounds = stretch.pieces, stretch.bounds
        if taken >= pieces:
            return
        values: list[Any] = [None] * stretch.registers
        kept: list[tuple[int, np.ndarray[Any, Any]]] = []
        if stretch.scratch:
            shape = (stretch.longest, *(stretch.shape[1:] if stretch.row else ()))
            size = math.prod(shape)
            memory = _scratch([size * width for width in stretch.places], kept_memory)
            kept = [
                (register, memory[place][: size * dtype.itemsize].view(dtype).reshape(shape))
                for register, place, dtype in stretch.scratch
            ]
        for register, i, j in stretch.scalars:
            values[register] = block.nodes[i].args[j]
        looked, arrays = stretch.looked, block.arrays
        for register, slot, how in stretch.same:
            if register in looked:
                values[register] = viewed(arrays[slot], how)
        full = [(register, viewed(arrays[slot], how)) for register, slot, how in stretch.full if register in looked]
        steps = stretch.steps
        if stretch.bound:
            addresses = {register: x.__array_interface__["data"][0] for register, x in kept}
            steps = [
                (step[0].worker(block, stretch, values, addresses), *step[1:]) if isinstance(step[0], Bound) else step
                for step in steps
            ]
        parts = [(register, x) for (register, _, _), x in zip(stretch.parts, self.partial)]
        here = not block.helpers
        while taken < pieces:
            if here and not block.is_due():
                return
            begin, end = bounds[taken], bounds[taken + 1]
            for register, x in full:
                values[register] = x[begin:end]
            for register, x in kept:
                values[register] = x[: end - begin]
            for register, x in parts:
                values[register] = x[taken, ...]
            for func, ins, out, number in steps:
                now[0] = number
                if len(ins) == 2:
                    func(values[ins[0]], values[ins[1]], out=values[out])
                elif len(ins) == 1:
                    func(values[ins[0]], out=values[out])
                elif not ins:
                    func(begin, end, now)
                else:
                    func(*[values[i] for i in ins], out=values[out])
            if self.done() == pieces:
                if parts:
                    self._put_together(block, now)
                if self.ended is not None:
                    self.ended.set()
            taken = self.next()

    def _put_together(self, block: Planned, now: list[int]) -> None:
        """The elements that reductions of all are, of those of the pieces."""
        stretch = self.stretch
        numbers = {out: number for _, _, out, number in stretch.steps}
        length = stretch.bounds[-1]
        for (register, i, slot), partial in zip(stretch.parts, self.partial):
            whole = block.nodes[i].form.halved
            assert whole is not None
            now[0] = numbers[register]
            unit, join = whole
            block.arrays[slot][...] = (
                joined(iter(partial), length, unit, stretch.longest, join) if unit else functools.reduce(join, partial)
            )


def _scratch(sizes: list[int], kept: list[np.ndarray[Any, Any]] | None) -> list[np.ndarray[Any, Any]]:
    """Memory of these sizes: what a thread has kept, or new."""
    if kept is None:
        return [np.empty(size, np.uint8) for size in sizes]
    for i, size in enumerate(sizes):
        if i == len(kept):
            kept.append(np.empty(size, np.uint8))
        elif kept[i].size < size:
            kept[i] = np.empty(size, np.uint8)
    found = kept[: len(sizes)]
    while sum(x.size for x in kept) > _KEPT:
        kept.pop()
    return found


def _address(x: np.ndarray[Any, Any]) -> int:
    found: int = x.__array_interface__["data"][0]
    return found


def _memory(form: Form) -> np.ndarray[Any, Any]:
    """Memory for a result."""
    return np.empty(form.shape, form.dtype, "F" if form.fortran else "C")


class Block:
    """What is computed together, and what comes of it.

    Parameters
    ----------
    nodes : list of Node
    """

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.results: dict[int, np.ndarray[Any, Any]] = {}
        """Number of a node -> its value, of those that somebody holds."""
        self.errors: set[tuple[int, str]] = set()
        """Floating-point errors: number of the node, and what NumPy calls it."""
        self.done = Done()
        self.failure: BaseException | None = None
        self.helpers = 0
        """How many threads are to run it; 0: whoever asks does."""
        self.group: Any = None
        """The list of nodes that it was planned for."""
        self.tape: Any = None
        """The tape that runs it, unless a signal's handler has run it meanwhile."""

    def is_due(self) -> bool:
        """Whether it is still to be computed: a signal's handler may have looked at the values before it was begun.

        Whoever writes by it to memory of others compares the two for himself: as a call returns, a handler may run.
        """
        return self.tape is None or self.tape.running is self.group

    def listening(self, now: list[int]) -> Any:
        """Where NumPy's errors are noted, as those of the node of which ``now`` is told the number."""
        under: Any = (
            "call" if any(n.told is not None and n.told.get("under") != "ignore" for n in self.nodes) else "ignore"
        )
        errors = self.errors

        # Kept beyond the block where error states are remembered: without its arrays.
        def call(kind: str, _flag: int) -> None:
            errors.add((now[0], kind))

        return np.errstate(divide="call", over="call", invalid="call", under=under, call=call)

    def help(self, kept: list[np.ndarray[Any, Any]] | None = None) -> None:
        """Compute what others have not begun; for several threads at one time.

        ``kept``: the scratch memory of a thread, of which a block is all there is to do.
        """
        raise NotImplementedError

    def let_go(self) -> None:
        """Forget the arrays: a thread that comes late may hold the block for some time, and they are others' now."""
        self.results = {}


class Planned(Block):
    """Nodes by a plan, one stretch after the other."""

    def __init__(self, nodes: list[Node], plan: Plan, arrays: list[Any], addresses: list[int], threads: int) -> None:
        super().__init__(nodes)
        self.plan = plan
        self._sources, self._addresses = arrays, addresses
        if threads:
            self.helpers = min(threads, max(stretch.pieces for stretch in plan.stretches))
        self._inside, self._counting = 0, threading.Lock()
        """How many threads take part at the moment."""
        self._begin()

    def _begin(self) -> None:
        """Anew, each time: what has been begun before may be another's by now, if a signal's handler has looked at it."""
        made = [_memory(form) for form in self.plan.made]
        self.arrays = [*self._sources, *made]
        self.addresses = [*self._addresses, *map(_address, made)]
        self.results = {i: self.arrays[slot] for i, slot in self.plan.results}
        self.runs = [_Run(stretch, self.arrays, self.helpers > 0) for stretch in self.plan.stretches]
        self._is_begun = False

    def help(self, kept: list[np.ndarray[Any, Any]] | None = None) -> None:
        """As of every block. Where the thread that asks computes, nothing is written that is read: it can be begun again."""
        if not self.is_due():
            self.done.set()
            return
        if not self.helpers:
            try:
                self._help(kept)
            finally:
                self.done.set()
            return
        with self._counting:
            self._inside += 1
        try:
            self._help(kept)
        finally:  # it is done when no thread holds its arrays any more: references to them are counted
            with self._counting:
                self._inside -= 1
                if not self._inside:
                    self.done.set()

    def _help(self, kept: list[np.ndarray[Any, Any]] | None) -> None:
        now = [0]
        try:
            if not self.helpers:
                if self._is_begun:
                    self.failure = None
                    self.errors.clear()
                    self._begin()
                self._is_begun = True
            if self.plan.numpys:
                with self.listening(now):
                    self._go(now, kept)
            else:
                self._go(now, kept)
        except BaseException as failure:  # noqa: BLE001 -- whoever waits for the block hears of it
            self.failure = failure
            for run in self.runs:
                if run.ended is not None:
                    run.ended.set()

    def _go(self, now: list[int], kept: list[np.ndarray[Any, Any]] | None) -> None:
        for run in self.runs:
            run.go(self, now, kept)
            if run.ended is not None:
                run.ended.wait()
                if self.failure is not None:
                    return
        if not self.helpers:
            for target, made in self.plan.copied:
                if self.tape is None or self.tape.running is self.group:
                    self.arrays[target][...] = self.arrays[made]

    def let_go(self) -> None:
        """As of every block."""
        self.results, self.arrays, self._sources = {}, [], []


def planned(nodes: list[Node], threads: int) -> Block:
    """The block of nodes that have no value yet; ``threads`` compute it, or the one that asks where there are to be none."""
    arrays: list[Any] = []
    at: dict[int, int] = {}
    dead: list[bool] = []
    held = [node.handle is not None and node.handle() is not None for node in nodes]
    calls: list[tuple[Any, ...]] = []
    for node, is_held in zip(nodes, held):
        target = node.target
        for x in node.args:
            if type(x) is Buffer:
                if id(x) not in at:
                    at[id(x)] = len(arrays)
                    dead.append(threads > 0 and x.is_dead())
                    arrays.append(x.array)
            elif type(x) is Node and x.value is not None and id(x) not in at:
                at[id(x)] = len(arrays)
                dead.append(False)
                arrays.append(x.value)
        if target is not None:
            at[id(node)] = len(arrays)
            dead.append(False)
            arrays.append(target)
            calls.append((node.number, node.form, node.refs, is_held, id(node.told), target.shape, target.strides))
        else:
            calls.append((node.number, node.form, node.refs, is_held, id(node.told)))
    addresses = [x.__array_interface__["data"][0] for x in arrays]
    first: dict[int, int] = {}
    same_memory = [first.setdefault(address, slot) for slot, address in enumerate(addresses)]
    aligned = [address & 15 for address in addresses]
    key = (
        tuple(calls),
        tuple(same_memory),
        tuple(aligned),
        tuple(dead),
        threads,
        block_plans.PIECE,
        block_plans.LONGEST,
        block_plans.STEP,
    )
    plan = _plans.get(key)
    if plan is not None and any(func.is_refused() for func in plan.kernels):
        plan = None
    if plan is None:
        if not threads and key not in _plans:  # what does not come again is not worth a plan
            _keep(key, None)
            return Short(nodes)
        plan = block_plans.plan(nodes, arrays, at, dead, same_memory, held, threads)
        if plan.settled:
            _keep(key, plan)
    if plan.cold and computed(plan.cold):
        _plans.pop(key, None)
    return Planned(nodes, plan, arrays, addresses, threads)


def _keep(key: Any, plan: Plan | None) -> None:
    if len(_plans) >= MOST_PLANS:
        _plans.clear()
    _plans[key] = plan


def needed(nodes: list[Node]) -> list[Node]:
    """The nodes without those that nobody holds, that write nowhere and of which no error is to be told."""
    wanted: set[int] = set()
    found: list[Node] = []
    for node in reversed(nodes):
        if node.told is not None or node.target is not None or id(node) in wanted or node.is_held:
            found.append(node)
            wanted.update(map(id, node.args))
    found.reverse()
    return found


def whole_rounds(forms: list[Form], longest: int) -> int:
    """How many nodes a block has at most, by those that there are: a loop's next block is like this one if it ends where a round does."""
    count = len(forms)
    known: dict[Any, int] = {}
    # A form says of operands too what they are, and in a block's first round they are others.
    calls = [known.setdefault((form.func, form.span, form.dtype), len(known)) for form in forms]
    begins: dict[int, int] = {}
    for period in range(1, count // 2 + 1):
        start = count - period
        while start and calls[start - 1] == calls[start - 1 + period]:
            start -= 1
        if count - start >= 2 * period:
            begins[period] = start
    if not begins:
        return longest
    period = min(begins, key=begins.__getitem__)
    return max(longest - (longest - begins[period]) % period, count)


class Short(Block):
    """Calls that are not worth a plan: one after the other, by whoever asks.

    Interrupted, it can be begun again: what it writes is its own until all is there.
    """

    def __init__(self, nodes: list[Node]) -> None:
        super().__init__(nodes)
        self._made: list[Any] | None = None

    def help(self, kept: list[np.ndarray[Any, Any]] | None = None) -> None:
        """Compute all; ``kept`` is for those that threads compute."""
        nodes, self.failure = self.nodes, None
        try:
            if self._made is None:
                self._made = self.values()
            for node, value in zip(nodes, self._made):
                if node.target is not None and (self.tape is None or self.tape.running is self.group):
                    node.target[...] = value
            self.results = {i: value for i, value in enumerate(self._made) if nodes[i].handle is not None}
            for i, node in enumerate(nodes):
                if node.target is not None:
                    self.results[i] = node.target
        except BaseException as failure:  # noqa: BLE001 -- whoever looks at a value hears of it
            self.failure = failure
        finally:
            self.done.set()

    def values(self) -> list[Any]:
        """What the calls make, in new memory."""
        self.errors.clear()
        now = [0]
        made: list[Any] = []
        at = {id(node): i for i, node in enumerate(self.nodes)}
        last = {id(x): i for i, node in enumerate(self.nodes) for x in node.args}
        with self.listening(now):
            for i, node in enumerate(self.nodes):
                now[0] = i
                ins: list[Any] = []
                for x in node.args:
                    if type(x) is Buffer:
                        ins.append(x.array)
                    elif type(x) is Node:
                        k = at.get(id(x))
                        ins.append(made[k] if k is not None else x.value)
                    else:
                        ins.append(x)
                # What goes to memory of others goes there when all is computed.
                out = _memory(node.form) if node.target is None else np.empty(node.shape, node.dtype)
                if isinstance(node.form.func, Update) and type(x := node.args[0]) is Node:
                    k = at.get(id(x))
                    if k is not None and last[id(x)] == i and x.target is None and not x.is_held:
                        out = ins[0]
                func = node.form.func
                (rows.called(func) if node.form.row and type(func) is np.ufunc else func)(*ins, out=out)
                made.append(out)
                for x in node.args:  # what nobody wants any more leaves its memory to the next
                    k = at.get(id(x))
                    if k is not None and last[id(x)] == i and x.target is None and not x.is_held:
                        made[k] = None
        return made
