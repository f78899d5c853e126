"""Run of a block on the host: NumPy's loops and kernels over pieces that stay in the cache, in several threads.

The :mod:`plan <arraydispatch.engine.host_blocks.block_plans>` decides pieces and memory; it is kept for the next block
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
"""Maximum number of plans that a process keeps."""
_KEPT = 1 << 23
"""Bytes of scratch memory that a thread keeps from one block to the next."""
_plans: dict[Any, Plan | None] = {}
"""Calls of a block -> their plan; None if they have come only once."""


class _Run:
    """Run of a stretch on the arrays of a block."""

    def __init__(self, stretch: Stretch, arrays: list[Any], in_threads: bool) -> None:
        self.stretch = stretch
        self.partial = [np.empty(stretch.pieces, arrays[slot].dtype) for _, _, slot in stretch.parts]
        """Elements of each piece, for reductions to one."""
        self.next = itertools.count().__next__
        self.done = itertools.count(1).__next__
        self.ended = threading.Event() if in_threads else None

    def go(self, block: Planned, now: list[int], kept_memory: list[np.ndarray[Any, Any]] | None) -> None:
        """Compute pieces until none is left to begin; ``now`` gets the number of each node."""
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
        """Combine the elements of the pieces to the results of whole reductions."""
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
    """Return memory of these sizes: that kept by a thread, or new."""
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
    """Allocate memory for a result."""
    return np.empty(form.shape, form.dtype, "F" if form.fortran else "C")


class Block:
    """Block: nodes that are computed together, and their results.

    Parameters
    ----------
    nodes : list of Node
    """

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.results: dict[int, np.ndarray[Any, Any]] = {}
        """Number of a node -> its value, if an array still holds it."""
        self.errors: set[tuple[int, str]] = set()
        """Floating-point errors: number of the node, and NumPy's name of the error."""
        self.done = Done()
        self.failure: BaseException | None = None
        self.helpers = 0
        """Number of threads that run it; 0: the calling thread."""
        self.group: Any = None
        """List of nodes that it was planned for."""
        self.tape: Any = None
        """Tape that runs it, unless a signal handler has run it in the meantime."""

    def is_due(self) -> bool:
        """Whether it is still to be computed: a signal handler may have read the values before it was begun.

        Code that writes to memory of others by it compares the two directly, because a handler may run as a call returns.
        """
        return self.tape is None or self.tape.running is self.group

    def listening(self, now: list[int]) -> Any:
        """Context in which NumPy's errors are recorded for the node whose number ``now`` holds."""
        under: Any = (
            "call" if any(n.told is not None and n.told.get("under") != "ignore" for n in self.nodes) else "ignore"
        )
        errors = self.errors

        # May outlive the block where error states are kept, so it must not refer to its arrays.
        def call(kind: str, _flag: int) -> None:
            errors.add((now[0], kind))

        return np.errstate(divide="call", over="call", invalid="call", under=under, call=call)

    def help(self, kept: list[np.ndarray[Any, Any]] | None = None) -> None:
        """Compute the pieces that others have not begun; several threads call this at once.

        ``kept``: scratch memory of a thread that only runs blocks.
        """
        raise NotImplementedError

    def let_go(self) -> None:
        """Drop the arrays: a late thread may hold the block for some time, and others own the arrays now."""
        self.results = {}


class Planned(Block):
    """Block computed by a plan, one stretch after the other."""

    def __init__(self, nodes: list[Node], plan: Plan, arrays: list[Any], addresses: list[int], threads: int) -> None:
        super().__init__(nodes)
        self.plan = plan
        self._sources, self._addresses = arrays, addresses
        if threads:
            self.helpers = min(threads, max(stretch.pieces for stretch in plan.stretches))
        self._inside, self._counting = 0, threading.Lock()
        """Number of threads that take part at the moment."""
        self._begin()

    def _begin(self) -> None:
        """Begin anew each time: memory of an earlier begin may belong to others, if a signal handler has read its values."""
        made = [_memory(form) for form in self.plan.made]
        self.arrays = [*self._sources, *made]
        self.addresses = [*self._addresses, *map(_address, made)]
        self.results = {i: self.arrays[slot] for i, slot in self.plan.results}
        self.runs = [_Run(stretch, self.arrays, self.helpers > 0) for stretch in self.plan.stretches]
        self._is_begun = False

    def help(self, kept: list[np.ndarray[Any, Any]] | None = None) -> None:
        """Compute as for every block. If the calling thread computes, no memory is both read and written, so it can be restarted."""
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
        finally:  # done only when no thread holds its arrays any more, because references to them are counted
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
        """Drop the arrays as for every block."""
        self.results, self.arrays, self._sources = {}, [], []


def planned(nodes: list[Node], threads: int) -> Block:
    """Make the block of nodes that have no value yet; ``threads`` compute it, or the calling thread if that is 0."""
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
        if not threads and key not in _plans:  # a plan pays only for calls that come again
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
    """Return the nodes without those that no array holds, that write no memory and report no error."""
    wanted: set[int] = set()
    found: list[Node] = []
    for node in reversed(nodes):
        if node.told is not None or node.target is not None or id(node) in wanted or node.is_held:
            found.append(node)
            wanted.update(map(id, node.args))
    found.reverse()
    return found


def whole_rounds(forms: list[Form], longest: int) -> int:
    """Return the maximum number of nodes of a block, in whole rounds of a loop, so that the loop's next block is alike."""
    count = len(forms)
    known: dict[Any, int] = {}
    # A form also describes operands, and these differ in a block's first round.
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
    """Block of calls that are not worth a plan, computed one after the other by the calling thread.

    It can be restarted after an interruption: it writes only its own memory until everything is computed.
    """

    def __init__(self, nodes: list[Node]) -> None:
        super().__init__(nodes)
        self._made: list[Any] | None = None

    def help(self, kept: list[np.ndarray[Any, Any]] | None = None) -> None:
        """Compute everything; ``kept`` is for blocks that threads compute."""
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
        """Compute the values of the calls in new memory."""
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
                # Memory of others is written when everything is computed.
                out = _memory(node.form) if node.target is None else np.empty(node.shape, node.dtype)
                if isinstance(node.form.func, Update) and type(x := node.args[0]) is Node:
                    k = at.get(id(x))
                    if k is not None and last[id(x)] == i and x.target is None and not x.is_held:
                        out = ins[0]
                func = node.form.func
                (rows.called(func) if node.form.row and type(func) is np.ufunc else func)(*ins, out=out)
                made.append(out)
                for x in node.args:  # memory of a value that is not needed any more is reused by the next
                    k = at.get(id(x))
                    if k is not None and last[id(x)] == i and x.target is None and not x.is_held:
                        made[k] = None
        return made
