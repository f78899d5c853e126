"""Plan of a block: the order of its calls, the stretches that are computed together, and the memory of results.

Consecutive nodes of one shape are a *stretch*. A piece of it is computed from the first node to the last before the next piece
begins, so intermediate values stay in the cache and are never written to memory, unless an array still holds them. NumPy's
elementwise loops give an element the same bits wherever a piece begins; some do so only if the length of the pieces is
a multiple of :data:`STEP` (tests/engine/test_pieces.py). So the result is NumPy's own.

A plan refers to numbered *slots*, not to arrays, so a loop that records the same calls again uses
the same plan for its next block. :mod:`arraydispatch.engine.host_blocks.blocks` looks plans up and runs them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...ufuncs import rows
from ...ufuncs.facts import INSTRUCTIONS
from ..loops import in_place
from ..nodes import Bound, Buffer, Form, Node, Shift, Update, elsewhere, like
from .kernels import Group, Work, grouped, numbers_of
from .stretch_kernels import Fused, Part
from .stretches import Reads, Shifted, Written, divided

__all__ = ["Plan", "Stretch", "halves", "joined", "plan"]

PIECE = 1 << 19
"""Bytes of one array in a piece, in a stretch of several nodes: two or three such pieces fit into the cache of a core. Smaller pieces
fit better, but with 128 KiB a fourth of the time of a sum went into the calls, and threads waited for each other's calls."""
LONGEST = 1 << 17
"""Number of elements in a piece of a single node, which does not profit from the cache; only threads need its pieces."""
LEAST_SUMMED = 128
"""Largest count of numbers that NumPy's pairwise sum adds without dividing them into halves."""
BRIEF = 1 << 18
"""Average work of a call on a piece from which another thread saves time: threads take turns to begin calls, and a thread that waits
for its turn sleeps."""
STEP = 8192
"""Lengths of pieces are multiples of this number of elements, itself a multiple of NumPy's buffers and of any vector width."""


class Stretch:
    """Nodes of one shape that are computed together, and their pieces.

    Attributes
    ----------
    steps : list of tuple
        Function, registers of its operands, register of its result, number of the node. A :class:`Bound` has no registers here.
    full, same : list of tuple
        Registers that are pieces of whole arrays, and registers that are the same for each piece: register, slot, reading of the array
        (see :func:`viewed`).
    scalars : list of tuple
        Registers of scalars: register, number of the node, position of the operand.
    scratch : list of tuple
        Registers in a thread's own memory: register, place, dtype; after :meth:`cut` also the bytes.
    sizes : list of int
        Bytes at each place.
    largest : tuple of int
        Shape of the longest piece.
    parts : list of tuple
        Registers with one element for each piece of a reduction to one element: register, number of the node, slot.
    places : list of int
        Bytes of an element at each place of scratch memory.
    looked_full, looked_same : list of tuple
        The entries of ``full`` and ``same`` that NumPy's own loops use.
    """

    def __init__(self, shape: tuple[int, ...], fortran: bool, row: bool) -> None:
        self.shape, self.fortran, self.row = shape, fortran, row
        self.steps: list[tuple[Any, tuple[int, ...], int, int]] = []
        self.full: list[tuple[int, int, int]] = []
        self.same: list[tuple[int, int, int]] = []
        self.scalars: list[tuple[int, int, int]] = []
        self.scratch: list[Any] = []
        self.parts: list[tuple[int, int, int]] = []
        self.places: list[int] = []
        self.registers = 0
        self.bounds: list[int] = []
        self.pieces = self.longest = 0
        self.bound: list[Bound] = []
        self.looked_full: list[tuple[int, int, int]] = []
        self.looked_same: list[tuple[int, int, int]] = []

    def cut(self, threads: int, forms: list[Form], arrays: list[Any], same_memory: list[int], told: list[Any]) -> None:
        """Choose the pieces and the kernels. ``forms``, ``told``: form and ``np.errstate`` modes of each node; ``arrays``,
        ``same_memory``: array in each slot, and first slot with the same memory.
        """
        inner = math.prod(self.shape[1:]) if self.row else 1
        length = self.shape[0] if self.row else math.prod(self.shape)
        sizes = [arrays[slot].itemsize for _, slot, _ in self.full] + self.places
        elements = PIECE // max(sizes)
        if len(self.steps) == 1:
            elements = LONGEST if threads else length * inner
        share = -(-length * inner // max(threads, 1))
        longest = max(1, min(elements, share) // max(inner, 1))
        halved = [forms[i].halved for _, i, _ in self.parts]
        unit = max((whole.unit for whole in halved if whole is not None), default=0)
        if unit:
            self.bounds = [0, *itertools.accumulate(halves(length, unit, longest))]
        else:
            if not self.row:
                longest = self._in_whole_rows(-(-longest // STEP) * STEP)
            # No piece has a single element: NumPy uses another loop for that if it overwrites an operand.
            self.bounds = [*range(0, max(length - 1, 1), max(longest, 2 if inner == 1 else 1)), length]
        self.pieces = len(self.bounds) - 1
        self.longest = max(end - begin for begin, end in itertools.pairwise(self.bounds))
        seen: dict[int, Part] = {}
        for moves, registers in ((True, self.full), (False, self.same)):
            for register, slot, how in registers:
                x = viewed(arrays[slot], how)
                seen[register] = Part(slot, same_memory[slot], x.shape, x.strides, x.dtype, moves)
        for register, _, dtype in self.scratch:
            seen[register] = Part(None, 0, (), (), dtype, False)
        looked: set[int] = set()
        for func, ins, out, _ in self.steps:
            if type(func) is Fused:
                func.settle(seen, self.shape, self.row, self.longest * inner, told, arrays)
            if isinstance(func, Bound):
                looked.update(func.looked())
            else:
                looked.update(ins, (out,))
        self.looked_full = [each for each in self.full if each[0] in looked]
        self.looked_same = [each for each in self.same if each[0] in looked]
        self.scalars = [each for each in self.scalars if each[0] in looked]
        self.largest = (self.longest, *(self.shape[1:] if self.row else ()))
        elements = math.prod(self.largest)
        self.sizes = [elements * width for width in self.places]
        self.scratch = [(register, place, dtype, elements * dtype.itemsize) for register, place, dtype in self.scratch]
        self.bound = [func for func, _, _, _ in self.steps if isinstance(func, Bound)]
        if self.row:
            self.steps = [
                (rows.called(step[0]) if type(step[0]) is np.ufunc else step[0], *step[1:]) for step in self.steps
            ]

    def _in_whole_rows(self, longest: int) -> int:
        """Round a piece's length down to whole rows, so that a write to parts of rows is a rectangle in the piece. Return the length
        unchanged if that is not needed, or if a call depends on where pieces end.
        """
        row = math.prod(self.shape[1:])
        funcs = [func for func, _, _, _ in self.steps]
        if row > longest or not any(isinstance(func, Written) or _is_cut(func) for func in funcs):
            return longest
        if not all(isinstance(func, Bound) or type(func) is Fused or func in INSTRUCTIONS for func in funcs):
            return longest
        return longest // row * row

    def look(self, arrays: list[Any], values: list[Any], begin: int, end: int, registers: set[int]) -> None:
        """Set these registers to a piece of their arrays, or to the whole array if it is the same for each piece."""
        for register, slot, how in self.full:
            if register in registers:
                values[register] = viewed(arrays[slot], how)[begin:end]
        for register, slot, how in self.same:
            if register in registers:
                values[register] = viewed(arrays[slot], how)


def _is_cut(func: Any) -> bool:
    return type(func) is Fused and func.group.cells is not None


def viewed(x: np.ndarray[Any, Any], how: int) -> np.ndarray[Any, Any]:
    """Return an array as a stretch reads it: itself (``how`` 0), flat in C order (1) or Fortran order (2), or its single element (3)."""
    return x if how == 0 else x.reshape(-1) if how == 1 else x.T.reshape(-1) if how == 2 else x.reshape(())


def halves(length: int, unit: int, longest: int) -> Iterator[int]:
    """Yield the lengths of parts of at most ``longest`` elements; each is a node in the tree of NumPy's pairwise sum.

    That tree is the one of ``pairwise_sum`` in NumPy's numpy/_core/src/umath/loops_utils.h.src: more than 128 numbers are divided
    into halves, and the first half is a multiple of 8.
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
    """Combine ``parts``, the sums of :func:`halves` in order, by ``join``, in the order in which they were divided. The other arguments are
    those of :func:`halves`.
    """
    if length <= max(longest, LEAST_SUMMED // unit):
        return next(parts)
    left = _left_half(length, unit)
    first = joined(parts, left, unit, longest, join)
    return join(first, joined(parts, length - left, unit, longest, join))


class Plan:
    """Plan for a sequence of calls, valid for any arrays.

    Attributes
    ----------
    stretches : list of Stretch
    threads : int
        Number of threads that save time.
    made : list of Form
        Forms of the results that get new memory, in the slots after those of the given arrays.
    results : list of tuple
        Number of a node whose value may be wanted, slot of its value.
    copied : list of tuple
        Pairs of slots: memory that is written at the end, and the value written.
    cold : list of tuple
        Counts of the chains that have no kernel yet, and the work that a block adds to each.
    kernels : list of Fused
        Kernels of all stretches.
    numpys : bool
        Whether NumPy's own loops compute some of the calls.
    settled : bool
        Whether the plan has all its kernels.
    is_refused : bool
        Whether a chain of the plan is left to NumPy from now on.
    by_numpy : list of float
        Seconds that NumPy took for the calls one by one, for each measurement.
    """

    def __init__(self) -> None:
        self.stretches: list[Stretch] = []
        self.threads = 0
        self.made: list[Form] = []
        self.results: list[tuple[int, int]] = []
        self.copied: list[tuple[int, int]] = []
        self.cold: list[tuple[Work, int]] = []
        self.kernels: list[Fused] = []
        self.numpys = self.settled = True
        self.is_refused = False
        self.by_numpy: list[float] = []


_ARRAYS = (Buffer, Node)


def plan(
    nodes: list[Node], arrays: list[Any], at: dict[Any, int], dead: list[bool], same_memory: list[int], held: list[bool], threads: int
) -> Plan:  # fmt: skip
    """Make the plan for nodes, in their order.

    Parameters
    ----------
    nodes : list of Node
        Nodes that have no value yet.
    arrays : list of ndarray
        Arrays that the nodes read or write. New memory for results is not among them.
    at : dict
        Buffer, computed node or node with a target -> slot.
    dead : list of bool
        Whether each array may be overwritten.
    same_memory : list of int
        For each array, the number of the first one that begins at the same address.
    held : list of bool
        Whether the array of each node is still referenced.
    threads : int
        Number of threads that compute; 0 for the calling thread, where a run may be interrupted and repeated.
    """
    number = {id(node): i for i, node in enumerate(nodes)}
    forms = [node.form for node in nodes]
    reads: list[Reads] = [
        [
            ("node", number[id(x)]) if id(x) in number else ("slot", at[x]) if type(x) in _ARRAYS else ("scalar", j)
            for j, x in enumerate(node.args)
        ]
        for node in nodes
    ]
    stretch_of = divided(nodes, reads, held, PIECE)
    made = Plan()
    order = [
        grouped(nodes, list(group), reads, arrays, made.cold)
        for _, group in itertools.groupby(range(len(nodes)), key=stretch_of.__getitem__)
    ]
    when = [0] * len(nodes)  # time at which a node is computed; all nodes of a kernel have the same
    for time, step in enumerate(itertools.chain.from_iterable(order)):
        for i in numbers_of(step):
            when[i] = time
    ended = dict(zip(dict.fromkeys(stretch_of), itertools.accumulate([len(steps) for steps in order])))
    last, beyond, read_last = [-1] * len(nodes), [False] * len(nodes), [-1] * len(arrays)
    for i, form in enumerate(forms):
        for j, (what, k) in enumerate(reads[i]):
            if what == "slot":  # other pieces of it may be read later
                far = j >= elsewhere(form.func) or isinstance(form.func, Shift)
                read_last[k] = max(read_last[k], ended[stretch_of[i]] if far else when[i])
            elif what == "node":
                last[k] = max(last[k], when[i])
                beyond[k] = beyond[k] or stretch_of[i] != stretch_of[k]
    registers = _Registers(made, forms, reads, arrays, same_memory)
    registers.when, registers.last = when, last
    registers.kept = [
        held[i] or node.target is not None or forms[i].reduces() or beyond[i] for i, node in enumerate(nodes)
    ]
    registers.targets = {i: at[node] for i, node in enumerate(nodes) if node.target is not None}
    registers.becomes = _overwritten(nodes, reads, stretch_of, when, last, registers)
    registers.dead = [(slot, read_last[slot]) for slot, is_dead in enumerate(dead) if is_dead and threads]
    registers.again = not threads
    told = [node.told for node in nodes]
    pieces = 0
    for steps in order:
        numbers = [i for step in steps for i in numbers_of(step)]
        first = forms[numbers[0]]
        stretch = Stretch(first.span, first.fortran, any(forms[i].row for i in numbers))
        registers.assign(stretch, steps)
        stretch.cut(threads, forms, registers.arrays, registers.same_memory, told)
        made.stretches.append(stretch)
        pieces = max(pieces, stretch.pieces)
    steps_of_all = [step[0] for stretch in made.stretches for step in stretch.steps]
    made.kernels = [func for func in steps_of_all if type(func) is Fused]
    is_brief = sum(form.work for form in forms) < BRIEF * threads * len(steps_of_all)
    made.threads = 1 if is_brief and threads else min(threads, pieces)
    made.settled = all(func.kernel is not None for func in made.kernels)
    made.numpys = not made.settled or len(made.kernels) < len(steps_of_all) or any(map(_is_cut, steps_of_all))
    slots = registers.held | registers.targets
    made.results = [(i, slot) for i, slot in slots.items() if held[i] or nodes[i].target is not None]
    return made


def _overwritten(
    nodes: list[Node], reads: list[Reads], stretch_of: list[int], when: list[int], last: list[int],
    registers: _Registers,
) -> dict[int, int]:  # fmt: skip
    """Return a dict from each node whose value a write changes in place to the last node of that chain of writes. The memory of these nodes
    then holds the last node's value.
    """
    kept, targets = registers.kept, registers.targets
    shifted = {
        k for i, node in enumerate(nodes) if isinstance(node.form.func, Shift) for what, k in reads[i] if what == "node"
    }
    found: dict[int, int] = {}
    for i in range(len(nodes) - 1, -1, -1):
        if isinstance(nodes[i].form.func, Update) and i not in targets:
            what, k = reads[i][0]
            if (
                what == "node"
                and k not in shifted
                and not kept[k]
                and last[k] == when[i]
                and stretch_of[k] == stretch_of[i]
            ):
                found[k] = found.get(i, i)
    return found


class _Registers:
    """Allocator of a register and memory for each value of a stretch.

    Attributes
    ----------
    when, last : list of int
        Time at which each node is computed, and at which it is needed for the last time.
    kept : list of bool
        Whether each node's value is needed as a whole array.
    targets : dict
        Number of a node -> slot of the memory to which its value is written.
    dead : list
        Slots of memory that nothing else refers to, and the time at which each is read for the last time.
    again : bool
        Whether the run may be repeated: then memory that is read is not written.
    becomes : dict
        Number of a node -> last node of the writes that turn its value into theirs (see :func:`_overwritten`).
    held : dict
        Number of a node -> slot of its value, if it is needed as a whole array.
    """

    when: list[int]
    last: list[int]
    kept: list[bool]
    targets: dict[int, int]
    dead: list[tuple[int, int]]
    becomes: dict[int, int]
    again: bool

    def __init__(
        self, plan: Plan, forms: list[Form], reads: list[Reads], arrays: list[Any], same_memory: list[int]
    ) -> None:
        self._plan, self.forms, self.reads = plan, forms, reads
        self.arrays, self.same_memory = [*arrays], [*same_memory]
        self._sources = len(arrays)
        self.held: dict[int, int] = {}

    def assign(self, stretch: Stretch, steps: list[Group | int]) -> None:
        """Assign the registers of one stretch."""
        self._stretch = stretch
        self._registers: dict[Any, int] = {}
        self._slot_of: dict[int, int] = {}
        """Register -> slot, for whole arrays."""
        self._places: dict[int, int] = {}
        """Number of a node still needed -> place of its scratch memory."""
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

    def _whole(self, slot: int) -> int:
        """Return the register of a whole array, which exists when the stretch begins."""
        key = "slot", slot
        if key in self._registers:
            return self._registers[key]
        made = self._new(key)
        how, moves = _seen(self.arrays[slot], self._stretch)
        (self._stretch.full if moves else self._stretch.same).append((made, slot, how))
        self._slot_of[made] = slot
        return made

    def _operand(self, what: str, k: int) -> int:
        """Return the register of an operand: of the array in slot ``k`` if ``what`` is ``"slot"``, else of the value of node ``k``."""
        if what == "slot":
            return self._whole(k)
        return self._whole(self.held[k]) if k in self.held else self._registers[k, "scratch"]

    def _memory(self, i: int, first: int) -> int:
        """Return the slot for a result: its target's, one of dead memory, or a new one. ``first``: the first node that writes to it."""
        form = self.forms[i]
        target = self.targets.get(i)
        if target is not None and not (self.again and self._is_read(target)):
            return target
        if target is None and not form.reduces():
            for place, (slot, last) in enumerate(self.dead):
                x, now = self.arrays[slot], self.when[first]
                fits = (
                    x.shape == form.shape
                    and x.dtype == form.dtype
                    and (x.flags.f_contiguous if form.fortran else x.flags.c_contiguous)
                )
                if fits and (last < now or (last == now and in_place(self.forms[first].func))):
                    del self.dead[place]
                    return slot
        slot = len(self.arrays)
        self.arrays.append(like(form))
        self.same_memory.append(slot)
        self._plan.made.append(form)
        if target is not None:
            self._plan.copied.append((target, slot))
        return slot

    def _is_read(self, target: int) -> bool:
        memory = self.same_memory[target]
        return any(slot != target and same == memory for slot, same in enumerate(self.same_memory[: self._sources]))

    def _is_whole(self, i: int) -> bool:
        """Whether the value of node ``i`` is computed in the memory of a value that is needed as a whole array."""
        return self.kept[self.becomes.get(i, i)]

    def _result(self, i: int) -> int:
        """Return the register of the value of node ``i``, which is needed as a whole array, or is turned into such a value by a write."""
        final = self.becomes.get(i, i)
        form, stretch = self.forms[final], self._stretch
        if final not in self.held:
            self.held[final] = self._memory(final, i)
        slot = self.held[i] = self.held[final]
        if not form.reduces():
            return self._whole(slot)
        out = self._new(("slot", slot))
        self._slot_of[out] = slot
        if form.halved is None:
            stretch.full.append((out, slot, 0))
        else:
            stretch.parts.append((out, i, slot))
        return out

    def _scratch(self, key: Any, dtype: np.dtype[Any], place: int | None = None) -> tuple[int, int]:
        """Return a new register of scratch memory, and its place: the given one, or a free or new one."""
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
        """Release the places of the nodes that are read for the last time now; return these places."""
        ending = [i for i in dict.fromkeys(numbers) if i in self._places and self.last[i] == now]
        return [self._places.pop(i) for i in ending]

    def _single(self, i: int) -> None:
        form, now = self.forms[i], self.when[i]
        func, reads = form.func, self.reads[i]
        own = elsewhere(func)
        ins = []
        for what, k in reads[:own]:
            if what == "scalar":
                ins.append(self._new((i, k, "scalar")))
                self._stretch.scalars.append((ins[-1], i, k))
            else:
                ins.append(self._operand(what, k))
        read = [k for what, k in reads if what == "node"]
        # Nodes that are read for the last time here: the result may overwrite the first one of its own dtype.
        alike = [k for k in read if k in self._places and self.last[k] == now and self.forms[k].dtype == form.dtype]
        over = self._places[alike[0]] if alike and in_place(func) and not self._is_whole(i) else None
        ending = self._let_go(read, now)
        if self._is_whole(i):
            out = self._result(i)
        else:
            out, taken = self._scratch((i, "scratch"), form.dtype, over)
            if taken in ending:
                ending.remove(taken)
            if self.last[i] >= 0:
                self._places[i] = taken
            else:
                ending.append(taken)
        self._free.extend(ending)
        bound: Bound | None = None
        if own < len(reads):  # the operand is read outside the piece too
            what, k = reads[own]
            slot = None if what == "scalar" else k if what == "slot" else self.held[k]
            if isinstance(func, Update):
                bound = Written(func, i, slot, ins[0], out)
            elif isinstance(func, Shift) and slot is not None:
                bound = Shifted(func, slot, out)
        self._stretch.steps.append((func, tuple(ins), out, i) if bound is None else (bound, (), out, i))

    def _group(self, group: Group) -> None:
        now = self.when[group.numbers[0]]
        ins: list[int] = []
        far: dict[int, int] = {}
        for what, k, func in group.arrays:
            slot = None if func is None else k if what == "slot" else self.held.get(k)
            if slot is None:
                ins.append(self._operand(what, k))
            else:
                ins.append(self._new(("far", what, k, func)))
                far[ins[-1]] = slot
        outs: dict[int, int] = {}
        saved: dict[int, int] = {}
        unread: list[int] = []
        unread_of: dict[Any, int] = {}
        for k, i in enumerate(group.numbers):
            if i in self.becomes and self.last[i] == now:
                continue  # overwritten by another node of the group
            if self._is_whole(i):
                outs[k] = out = self._result(i)
                for register in ins:
                    if self._on_one_memory(register, out) and register not in saved:
                        saved[register], copied = self._scratch((i, register, "saved"), self.forms[i].dtype)
                        unread.append(copied)
            elif self.last[i] > now:  # read by another node
                outs[k], self._places[i] = self._scratch((i, "scratch"), self.forms[i].dtype)
            elif self.last[i] < 0:  # computed only for an error that must be reported: one place for all
                dtype = self.forms[i].dtype
                if dtype not in unread_of:
                    unread_of[dtype], own = self._scratch((i, "scratch"), dtype)
                    unread.append(own)
                outs[k] = unread_of[dtype]
        read = [k for what, k, _ in group.arrays if what == "node"]
        self._free.extend([*self._let_go(read, now), *unread])
        fused = Fused(group, [self.forms[i] for i in group.numbers], ins, outs, saved, far)
        self._stretch.steps.append((fused, (), 0, group.numbers[0]))

    def _on_one_memory(self, one: int, other: int) -> bool:
        """Whether the registers ``one`` and ``other`` are pieces of the same memory."""
        if one == other:
            return True
        moving = {register for register, _, _ in self._stretch.full}
        if one not in moving or other not in moving:
            return False
        return self.same_memory[self._slot_of[one]] == self.same_memory[self._slot_of[other]]


def _seen(x: Any, stretch: Stretch) -> tuple[int, bool]:
    """Return how the pieces of a stretch read an array (see :func:`viewed`), and whether each piece reads its own part."""
    if not stretch.row:
        if x.shape != stretch.shape:  # one element
            return 3, False
        return 2 if stretch.fortran else 1, True
    return 0, x.ndim == len(stretch.shape) and (
        x.shape[0] == stretch.shape[0] and (x.shape[0] > 1 or stretch.shape[0] == 1)
    )
