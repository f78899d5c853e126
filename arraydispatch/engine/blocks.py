"""The plan of a block, and its run on the host: NumPy's loops over pieces that stay in the cache, in several threads.

Consecutive nodes of one shape are a *stretch*. A piece of it is computed from the first node to the last before the next piece
begins, so what lies between stays in the cache and is never written to memory, unless an array still holds it. NumPy's
elementwise loops give the same bits for an element wherever a piece begins, or wherever one that is a multiple of
:data:`STEP` long does (tests/engine/test_pieces.py), so the result is NumPy's own.
"""

from __future__ import annotations

import functools
import itertools
import math
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .kernels import Fused, Group, Part, grouped, numbers_of
from .loops import in_place
from .nodes import Bound, Buffer, Node, Shift, shifts
from .pool import Done

__all__ = ["Block", "needed", "plan"]

PIECE = 1 << 19
"""Bytes of one array's share of a piece, in a stretch of several nodes: two or three of them fit into the cache of a core. Smaller
ones fit better, but of 128 KiB a fourth of the time of a sum went into calling it, and threads waited for each other's calls."""
LONGEST = 1 << 17
"""Elements of a piece of one node alone, which gains nothing by the cache."""
_KEPT = 1 << 23
"""Bytes of scratch memory that a thread keeps from one block to the next."""
LEAST_SUMMED = 128
"""Numbers that NumPy's pairwise sum does not divide."""
STEP = 8192
"""Elements of which a piece is a multiple: that of NumPy's buffers, and of any width of vector code."""


class _Stretch:
    """Nodes of one shape, and their pieces."""

    def __init__(self, shape: tuple[int, ...], fortran: bool, row: bool) -> None:
        self.shape, self.fortran, self.row = shape, fortran, row
        self.steps: list[tuple[Any, tuple[int, ...], int, int]] = []
        """Function, registers of its operands, register of its result, number of the node; of what is bound no registers."""
        self.full: list[tuple[int, np.ndarray[Any, Any]]] = []
        """Registers that are pieces of whole arrays."""
        self.same: list[tuple[int, Any]] = []
        """Registers that are the same for each piece."""
        self.scratch: list[tuple[int, int, np.dtype[Any]]] = []
        """Registers in memory of the thread's own: register, place, dtype."""
        self.parts: list[tuple[int, Node, np.ndarray[Any, Any]]] = []
        """Registers of one element for each piece, of a reduction to one: register, node, where that goes."""
        self.partial: list[np.ndarray[Any, Any]] = []
        """The elements of each piece."""
        self.places: list[int] = []
        """Bytes of an element at each such place."""
        self.registers = 0
        self.bounds: list[int] = []
        self.pieces = self.longest = 0
        self.ended = threading.Event()

    def cut(self, threads: int) -> None:
        """Choose the pieces."""
        inner = math.prod(self.shape[1:]) if self.row else 1
        length = self.shape[0] if self.row else math.prod(self.shape)
        sizes = [x.itemsize for _, x in self.full] + self.places
        elements = LONGEST if len(self.steps) == 1 else PIECE // max(sizes)
        share = -(-length * inner // threads)
        longest = max(1, min(elements, share) // max(inner, 1))
        unit = max((node.halved.unit for _, node, _ in self.parts if node.halved is not None), default=0)
        if unit:
            self.bounds = [0, *itertools.accumulate(halves(length, unit, longest))]
        else:
            if not self.row:
                longest = -(-longest // STEP) * STEP
            # No piece is of a single element, which NumPy computes by another loop where it goes over an operand.
            self.bounds = [*range(0, max(length - 1, 1), max(longest, 2 if inner == 1 else 1)), length]
        self.pieces = len(self.bounds) - 1
        self.longest = max(end - begin for begin, end in itertools.pairwise(self.bounds))
        self.partial = [np.empty(self.pieces, into.dtype) for _, _, into in self.parts]
        self.next = itertools.count().__next__
        self.done = itertools.count(1).__next__
        kernels = [step[0] for step in self.steps if type(step[0]) is Fused]
        if kernels:
            parts = {register: Part(x, x.dtype, True) for register, x in self.full}
            parts |= {register: Part(x, x.dtype, False) for register, x in self.same if type(x) is np.ndarray}
            parts |= {register: Part(None, dtype, False) for register, _, dtype in self.scratch}
            for kernel in kernels:
                kernel.settle(parts, self.shape, self.row)

    def run(self, now: list[int], kept_memory: list[np.ndarray[Any, Any]] | None) -> None:
        """Do pieces until none is left to begin; ``now`` is told the number of each node."""
        taken = self.next()
        if taken >= self.pieces:
            return
        shape = (self.longest, *(self.shape[1:] if self.row else ()))
        size = math.prod(shape)
        memory = _scratch([size * width for width in self.places], kept_memory)
        kept = [
            (register, memory[place][: size * dtype.itemsize].view(dtype).reshape(shape))
            for register, place, dtype in self.scratch
        ]
        values: list[Any] = [None] * self.registers
        for register, x in self.same:
            values[register] = x
        steps = self.steps
        if any(isinstance(step[0], Bound) for step in steps):
            addresses = {register: x.__array_interface__["data"][0] for register, x in kept}
            steps = [
                (step[0].worker(values, addresses), *step[1:]) if isinstance(step[0], Bound) else step for step in steps
            ]
        while taken < self.pieces:
            begin, end = self.bounds[taken], self.bounds[taken + 1]
            for register, x in self.full:
                values[register] = x[begin:end]
            for register, x in kept:
                values[register] = x[: end - begin]
            for (register, _, _), x in zip(self.parts, self.partial):
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
            if self.done() == self.pieces:
                self._put_together(now)
                self.ended.set()
            taken = self.next()

    def _put_together(self, now: list[int]) -> None:
        """The elements that reductions of all are, of those of the pieces."""
        numbers = {out: number for _, _, out, number in self.steps}
        length = self.bounds[-1]
        for (register, node, into), partial in zip(self.parts, self.partial):
            assert node.halved is not None
            now[0] = numbers[register]
            unit, join = node.halved
            into[...] = (
                joined(iter(partial), length, unit, self.longest, join) if unit else functools.reduce(join, partial)
            )


def halves(length: int, unit: int, longest: int) -> Iterator[int]:
    """How many elements NumPy's pairwise sum takes together, in parts of at most ``longest``, each a node of its tree.

    The tree is that of ``pairwise_sum`` in NumPy's numpy/_core/src/umath/loops_utils.h.src: what is longer than 128 numbers falls
    into halves, of which the first is a multiple of 8.
    """
    if length <= max(longest, LEAST_SUMMED // unit):
        yield length
        return
    left = _left_half(length, unit)
    yield from halves(left, unit, longest)
    yield from halves(length - left, unit, longest)


def _left_half(length: int, unit: int) -> int:
    half = length * unit // 2
    return (half - half % 8) // unit


def joined(parts: Iterator[Any], length: int, unit: int, longest: int, join: Callable[[Any, Any], Any]) -> Any:
    """The sums of :func:`halves`, put together as they fell apart."""
    if length <= max(longest, LEAST_SUMMED // unit):
        return next(parts)
    left = _left_half(length, unit)
    first = joined(parts, left, unit, longest, join)
    return join(first, joined(parts, length - left, unit, longest, join))


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


class Block:
    """Stretches, one after the other, and what comes of them."""

    def __init__(self, nodes: list[Node], under: bool) -> None:
        self.nodes = nodes
        self.stretches: list[_Stretch] = []
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
        self.is_due: Callable[[], bool] = lambda: True
        """Whether it is still to be computed: a signal's handler may have looked at the values before it was begun."""
        self._under: Any = "call" if under else "ignore"

    def help(self, kept: list[np.ndarray[Any, Any]] | None = None) -> None:
        """Compute what others have not begun; for several threads at one time.

        ``kept``: the scratch memory of a thread, of which a block is all there is to do.
        """
        if not self.is_due():
            self.done.set()
            return
        now = [0]

        def call(kind: str, _flag: int) -> None:
            self.errors.add((now[0], kind))

        try:
            with np.errstate(divide="call", over="call", invalid="call", under=self._under, call=call):
                for stretch in self.stretches:
                    stretch.run(now, kept)
                    stretch.ended.wait()
                    if self.failure is not None:
                        return
        except BaseException as failure:  # noqa: BLE001 -- whoever waits for the block hears of it
            self.failure = failure
            for stretch in self.stretches:
                stretch.ended.set()
        finally:
            self.done.set()


def needed(nodes: list[Node]) -> list[Node]:
    """The nodes without those that nobody holds, that write nowhere and of which no error is to be told."""
    wanted: set[int] = set()
    for node in reversed(nodes):
        held = node.handle is not None and node.handle() is not None
        if held or node.target is not None or node.told is not None or id(node) in wanted:
            wanted.add(id(node))
            wanted.update(map(id, node.args))
    return [node for node in nodes if id(node) in wanted]


class _Kinds:
    """The nodes that one stretch can take."""

    def __init__(self) -> None:
        self.stretches = 0
        self.first: Node | None = None
        self.begin()

    def begin(self) -> None:
        self.first = None
        self.nodes: set[int] = set()
        self.rows = self.pinned = False
        self.unit = 0
        self.reduced: list[Node] = []

    def takes(self, node: Node) -> bool:
        """Whether the pieces of the stretch are pieces of a node too."""
        first = self.first
        if first is None or first.span != node.span or first.fortran != node.fortran:
            return first is None
        rows, unit = self.rows or node.row, node.halved.unit if node.halved is not None else 0
        if (rows and (self.pinned or node.pinned)) or (unit and self.unit and unit != self.unit):
            return False
        if (unit or self.unit) and (rows or self.pinned or node.pinned):
            return False
        if node.span is not node.shape and node.halved is None and _is_wide(node):
            return False
        if shifts(node) and any(id(x) in self.nodes for x in node.args):
            return False
        # What is reduced in a piece is there for the same piece alone.
        return all(
            len(x.shape) == len(node.span) and x.shape[0] == node.span[0] and x.halved is None and rows
            for x in self.reduced
            if any(x is y for y in node.args)
        )

    def add(self, node: Node) -> None:
        if self.first is None:
            self.first = node
            self.stretches += 1
        self.nodes.add(id(node))
        self.rows, self.pinned = self.rows or node.row, self.pinned or node.pinned
        if node.span is not node.shape:
            self.reduced.append(node)
            if node.halved is not None:
                self.unit = self.unit or node.halved.unit


def _is_wide(node: Node) -> bool:
    """Whether a row of what it goes over is longer than a piece should be."""
    return math.prod(node.span[1:]) * node.dtype.itemsize > PIECE


class Short(Block):
    """Calls that are not worth a plan: one after the other, by whoever asks.

    Interrupted, it can be begun again: what it writes is its own until all is there.
    """

    def __init__(self, nodes: list[Node]) -> None:
        super().__init__(nodes, any(node.told is not None and node.told.get("under") != "ignore" for node in nodes))
        self._made: list[Any] | None = None

    def help(self, kept: list[np.ndarray[Any, Any]] | None = None) -> None:
        """Compute all; ``kept`` is for those that threads compute."""
        nodes, self.failure = self.nodes, None
        try:
            if self._made is None:
                self._made = self._values()
            for node, value in zip(nodes, self._made):
                if node.target is not None and self.is_due():
                    node.target[...] = value
            self.results = {i: value for i, value in enumerate(self._made) if nodes[i].handle is not None}
            for i, node in enumerate(nodes):
                if node.target is not None:
                    self.results[i] = node.target
        except BaseException as failure:  # noqa: BLE001 -- whoever looks at a value hears of it
            self.failure = failure
        finally:
            self.done.set()

    def _values(self) -> list[Any]:
        self.errors.clear()
        now = 0
        made: list[Any] = []
        at = {id(node): i for i, node in enumerate(self.nodes)}
        last = {id(x): i for i, node in enumerate(self.nodes) for x in node.args}

        def call(kind: str, _flag: int) -> None:
            self.errors.add((now, kind))

        with np.errstate(divide="call", over="call", invalid="call", under=self._under, call=call):
            for now, node in enumerate(self.nodes):
                ins: list[Any] = []
                for x in node.args:
                    if type(x) is Buffer:
                        ins.append(x.array)
                    elif type(x) is Node:
                        i = at.get(id(x))
                        ins.append(made[i] if i is not None else x.value)
                    else:
                        ins.append(x)
                # What goes to memory of others goes there when all is computed.
                out = _memory(node, now, []) if node.target is None else np.empty(node.shape, node.dtype)
                node.func(*ins, out=out)
                made.append(out)
                for x in node.args:  # what nobody wants any more leaves its memory to the next
                    i = at.get(id(x))
                    if i is None or last[id(x)] != now or x.target is not None:
                        continue
                    if x.handle is None or x.handle() is None:
                        made[i] = None
        return made


def plan(nodes: list[Node], buffers: list[Buffer], threads: int) -> Block:
    """What is to be done for the nodes, in their order.

    Parameters
    ----------
    nodes : list of Node
        Those that have no value yet.
    buffers : list of Buffer
        All that they read.
    threads : int
        How many will compute.
    """
    block = Block(nodes, any(node.told is not None and node.told.get("under") != "ignore" for node in nodes))
    number = {id(node): i for i, node in enumerate(nodes)}
    stretch_of: list[int] = []
    kinds = _Kinds()
    for node in nodes:
        if not kinds.takes(node):
            kinds.begin()
        kinds.add(node)
        stretch_of.append(kinds.stretches)
    order = [
        grouped(nodes, list(group)) for _, group in itertools.groupby(range(len(nodes)), key=stretch_of.__getitem__)
    ]
    at = [0] * len(nodes)  # when a node is computed: what one kernel computes, at one time
    for time, step in enumerate(itertools.chain.from_iterable(order)):
        for i in numbers_of(step):
            at[i] = time
    ended = dict(zip(dict.fromkeys(stretch_of), itertools.accumulate(map(_count, order))))
    last, beyond = [-1] * len(nodes), [False] * len(nodes)
    for buffer in buffers:
        buffer.last = -1
    for i, node in enumerate(nodes):
        for x in node.args:
            if type(x) is Buffer:  # of which other pieces may be read later, where rows are shifted
                x.last = max(x.last, ended[stretch_of[i]] if shifts(node) else at[i])
            elif (read := number.get(id(x))) is not None:
                last[read] = max(last[read], at[i])
                beyond[read] = beyond[read] or stretch_of[i] != stretch_of[read]
    kept = [
        (node.handle is not None and node.handle() is not None)
        or node.target is not None
        or node.span is not node.shape
        or beyond[i]
        for i, node in enumerate(nodes)
    ]
    dead = [(buffer.array, buffer.last) for buffer in buffers if buffer.is_dead()]
    registers = _Registers(nodes, number, at, last, kept, dead)
    for steps in order:
        numbers = [i for step in steps for i in numbers_of(step)]
        first = nodes[numbers[0]]
        stretch = _Stretch(first.span, first.fortran, any(nodes[i].row for i in numbers))
        registers.assign(stretch, steps)
        stretch.cut(threads)
        block.stretches.append(stretch)
    held = registers.held
    block.results = {i: held[i] for i in held if nodes[i].handle is not None or nodes[i].target is not None}
    return block


def _count(steps: list[Group | int]) -> int:
    return len(steps)


class _Shifted(Bound):
    """A node of shifted rows, in its stretch."""

    def __init__(self, how: Shift, source: np.ndarray[Any, Any], out: int) -> None:
        self._how, self._source, self._out = how, source, out

    def worker(self, values: list[Any], scratch: dict[int, int]) -> Callable[[int, int, list[int]], None]:
        def work(begin: int, end: int, now: list[int]) -> None:
            self._how.rows(self._source, begin, end, values[self._out])

        return work


class _Registers:
    """Gives each value of a stretch a register, and memory.

    Attributes
    ----------
    at, last : list of int
        When each node is computed, and when it is needed for the last time.
    kept : list of bool
        Whether its value is wanted whole.
    dead : list
        Memory that nobody will look at, and when it is read for the last time.
    held : dict
        Number of a node -> its value, where that is wanted whole.
    """

    def __init__(
        self,
        nodes: list[Node],
        number: dict[int, int],
        at: list[int],
        last: list[int],
        kept: list[bool],
        dead: list[tuple[np.ndarray[Any, Any], int]],
    ) -> None:
        self.nodes, self.number, self.at, self.last, self.kept, self.dead = nodes, number, at, last, kept, dead
        self.held: dict[int, np.ndarray[Any, Any]] = {}

    def assign(self, stretch: _Stretch, steps: list[Group | int]) -> None:
        """Those of one stretch."""
        self._stretch = stretch
        self._registers: dict[Any, int] = {}
        self._places: dict[int, int] = {}
        """Number of a node that is still needed -> place of its scratch memory."""
        self._free: list[int] = []
        for step in steps:
            if isinstance(step, Group):
                self._group(step)
            else:
                self._single(step)

    def _new(self, key: Any) -> int:
        found = self._registers[key] = self._stretch.registers
        self._stretch.registers += 1
        return found

    def _whole(self, x: np.ndarray[Any, Any]) -> int:
        """The register of an array that is there already, or will be when the stretch begins."""
        key = id(x)
        if key in self._registers:
            return self._registers[key]
        made = self._new(key)
        seen, aligned = _flat(x, self._stretch)
        (self._stretch.full if aligned else self._stretch.same).append((made, seen))
        return made

    def _operand(self, x: Any) -> int:
        """The register of a buffer, or of a node's value."""
        if type(x) is Buffer:
            return self._whole(x.array)
        i = self.number.get(id(x))
        if i is None:
            assert x.value is not None
            return self._whole(x.value)
        return self._whole(self.held[i]) if i in self.held else self._registers[i, "scratch"]

    def _array(self, x: Any) -> Any:
        """A buffer's array, or the whole value of a node of an earlier stretch."""
        if type(x) is Buffer:
            return x.array
        i = self.number.get(id(x))
        return x.value if i is None else self.held[i]

    def _result(self, i: int) -> int:
        """The register of a value that is wanted whole."""
        node, stretch = self.nodes[i], self._stretch
        self.held[i] = _memory(node, self.at[i], self.dead if node.span is node.shape else [])
        if node.span is node.shape:
            return self._whole(self.held[i])
        out = self._new(id(self.held[i]))
        if node.halved is None:
            stretch.full.append((out, self.held[i]))
        else:
            stretch.parts.append((out, node, self.held[i]))
        return out

    def _scratch(self, key: Any, dtype: np.dtype[Any], place: int | None = None) -> tuple[int, int]:
        """A register of scratch memory: at this place, or at a free or new one."""
        places = self._stretch.places
        if place is None:
            fitting = [free for free in self._free if places[free] == dtype.itemsize]
            if fitting:
                place = fitting[-1]
                self._free.remove(place)
            else:
                place = len(places)
                places.append(dtype.itemsize)
        register = self._new(key)
        self._stretch.scratch.append((register, place, dtype))
        return register, place

    def _let_go(self, numbers: list[int], now: int) -> list[int]:
        """Of the nodes that are read now the places of those that are read for the last time."""
        ending = [i for i in dict.fromkeys(numbers) if i in self._places and self.last[i] == now]
        return [self._places.pop(i) for i in ending]

    def _single(self, i: int) -> None:
        node, now = self.nodes[i], self.at[i]
        shifted = shifts(node)
        ins = []
        for x in () if shifted else node.args:
            if type(x) is Buffer or type(x) is Node:
                ins.append(self._operand(x))
            else:
                made = self._new((i, len(ins), "scalar"))
                self._stretch.same.append((made, x))
                ins.append(made)
        read = [k for x in node.args if (k := self.number.get(id(x))) is not None]
        # The places of values that this node is the last to need: the first of its own dtype it may write over.
        alike = [k for k in read if k in self._places and self.last[k] == now and self.nodes[k].dtype == node.dtype]
        over = self._places[alike[0]] if alike and in_place(node.func) and not self.kept[i] else None
        ending = self._let_go(read, now)
        if self.kept[i]:
            out = self._result(i)
        else:
            out, taken = self._scratch((i, "scratch"), node.dtype, over)
            if taken in ending:
                ending.remove(taken)
            if self.last[i] >= 0:
                self._places[i] = taken
            else:
                ending.append(taken)
        self._free.extend(ending)
        func = _Shifted(node.func, self._array(node.args[0]), out) if shifted else node.func  # type: ignore[arg-type]
        self._stretch.steps.append((func, tuple(ins), out, i))

    def _group(self, group: Group) -> None:
        now = self.at[group.numbers[0]]
        ins = [self._operand(x) for x in group.arrays]
        outs: dict[int, int] = {}
        saved: dict[int, int] = {}
        unread: list[int] = []
        for k, i in enumerate(group.numbers):
            if self.kept[i]:
                outs[k] = out = self._result(i)
                if any(self._on_one_memory(register, out) for register in ins):
                    for register in ins:
                        if self._on_one_memory(register, out) and register not in saved:
                            saved[register], copied = self._scratch((i, register, "saved"), self.nodes[i].dtype)
                            unread.append(copied)
            elif self.last[i] != now:  # somebody else reads it, or it is computed for an error that is to be told
                outs[k], own = self._scratch((i, "scratch"), self.nodes[i].dtype)
                if self.last[i] >= 0:
                    self._places[i] = own
                else:
                    unread.append(own)
        read = [j for x in group.arrays if (j := self.number.get(id(x))) is not None]
        self._free.extend([*self._let_go(read, now), *unread])
        self._stretch.steps.append((Fused(group, self.nodes, ins, outs, saved), (), 0, group.numbers[0]))

    def _on_one_memory(self, one: int, other: int) -> bool:
        """Whether two registers are pieces of the same memory."""
        if one == other:
            return True
        arrays = dict(self._stretch.full)
        if one not in arrays or other not in arrays:
            return False
        return arrays[one].__array_interface__["data"] == arrays[other].__array_interface__["data"]


def _memory(node: Node, now: int, dead: list[tuple[np.ndarray[Any, Any], int]]) -> np.ndarray[Any, Any]:
    """Memory for a result: where it is wanted, that of a dead value, or new."""
    if node.target is not None:
        return node.target
    for at, (x, last) in enumerate(dead):
        fits = (
            x.shape == node.shape
            and x.dtype == node.dtype
            and (x.flags.f_contiguous if node.fortran else x.flags.c_contiguous)
        )
        if fits and (last < now or (last == now and in_place(node.func))):
            del dead[at]
            return x
    return np.empty(node.shape, node.dtype, "F" if node.fortran else "C")


def _flat(x: np.ndarray[Any, Any], stretch: _Stretch) -> tuple[np.ndarray[Any, Any], bool]:
    """An array as the pieces of a stretch take it, and whether each takes its part."""
    if not stretch.row:
        if x.shape != stretch.shape:  # of one element
            return x.reshape(()), False
        return (x.T if stretch.fortran else x).reshape(-1), True
    return x, x.ndim == len(stretch.shape) and (
        x.shape[0] == stretch.shape[0] and (x.shape[0] > 1 or stretch.shape[0] == 1)
    )
