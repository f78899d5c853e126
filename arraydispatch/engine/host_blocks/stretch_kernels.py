"""Kernels in a stretch: the memory that a kernel gets for each piece, and the parts that NumPy computes."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from contextvars import copy_context
from functools import lru_cache, partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..._core.machine import address_of, put, put_addresses, run
from ...common.sentinels import DECLINED
from ...ufuncs.facts import neutral
from ..loops import cast
from ..nodes import Bound, Box, Elsewhere, Form, Node, Update, strides_of
from .cells import boxes, offset
from .kernel_source import Chain, Pointer, entry
from .kernels import DEEPEST, Group, Kernel, compiled, mask_of, refuse

__all__ = ["Fused", "Part"]


class Part(NamedTuple):
    """Memory of a register, an array or scratch memory, and the part of it that each piece uses."""

    slot: int | None
    """Slot of the array; None for scratch memory."""
    memory: int
    """First slot that begins at the same address."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    moves: bool
    """Whether each piece has its own part, along the first axis."""
    start: int = 0
    """Offset from the beginning of the array in bytes."""


class _At(NamedTuple):
    """Part of a piece: the part of a region that lies in one cell."""

    cell: Box
    region: Box
    """Box of the piece's memory that contains the cell."""
    begin: int
    """Position of the region's first element within the piece."""


class _Piece:
    """Computation of a piece.

    Attributes
    ----------
    words, address
        Arguments of the kernel, and their address.
    usual : list
        Parts that the kernel computes; NumPy recomputes them if there is an error.
    others : list
        Parts that NumPy computes.
    """

    __slots__ = ("address", "others", "usual", "words")

    def __init__(self, words: array[int], usual: list[_At | None], others: list[_At]) -> None:
        self.words, self.address, self.usual, self.others = words, words.buffer_info()[0], usual, others


class Fused(Bound):
    """Group of nodes computed by one kernel in its stretch.

    Parameters
    ----------
    group : Group
    forms : list of Form
        Forms of the group's nodes.
    ins, outs : list of int, dict of int to int
        Registers of the arrays that the group reads; number in the group -> register of a result that is needed outside.
    saved : dict of int to int
        Register that a result overwrites -> register of a copy, from which NumPy computes again to locate an error.
    far : dict of int to int
        Register of an array that is read at other places, not in pieces -> slot.
    """

    def __init__(
        self, group: Group, forms: list[Form], ins: list[int], outs: dict[int, int], saved: dict[int, int], far: dict[int, int]
    ) -> None:  # fmt: skip
        self.group, self.forms, self.ins, self.outs, self.saved, self.far = group, forms, ins, outs, saved, far
        self.kernel: Kernel | None = None
        self._pieces: dict[int, _Piece] = {}
        """Number of a piece's first element -> the piece."""

    def settle(
        self, parts: dict[int, Part], shape: tuple[int, ...], row: bool, longest: int, told: list[Any], arrays: list[Any]
    ) -> None:  # fmt: skip
        """Choose the kernel, now that the contents of the registers are known. ``kernel`` stays None if it is not compiled yet or is
        refused.

        ``parts``: register -> its memory; parts of arrays are added. ``shape``: shape of the stretch; ``longest``: elements of its longest
        piece; ``told``: modes of ``np.errstate`` for each node of the block; ``arrays``: arrays in the slots.
        """
        cells, seen = self.group.cells, [func for _, _, func in self.group.arrays]
        self._shape, self._row = shape, row
        flat = not row and cells is None
        if flat:
            shape = (prod(shape),)
        slots: list[int] = []  # registers, each on memory of its own
        strides: list[tuple[int, ...]] = []
        places: dict[Any, int] = {}
        slot_of = []
        moved: list[Elsewhere | None] = []
        mask = mask_of([told[i] for i in self.group.numbers])
        copies = self.saved if mask else {}
        for k, register in enumerate((*self.ins, *self.outs.values(), *copies.values())):
            if register in self.far:
                parts[register] = self._part(seen[k], self.far[register], arrays)
            part, func = parts[register], seen[k] if k < len(seen) else None
            if not row and not flat and register not in self.far:
                part = part._replace(shape=shape if part.moves else ())
                part = part._replace(strides=strides_of(part.shape, part.dtype.itemsize, False))
            steps = _strides(part, shape)
            where = (register, func) if part.slot is None or func is not None else (part.memory, steps, part.dtype)
            slot_of.append(places.setdefault(where, len(slots)))
            if slot_of[-1] == len(slots):
                slots.append(register)
                strides.append(steps)
                moved.append(func)
        self._slots, self._parts, self._moved = slots, [parts[register] for register in slots], moved
        self._strides = strides
        calls = tuple(call.reading(slot_of) for call in self.group.chain.calls)
        results = tuple(zip(self.outs, slot_of[len(self.ins) :]))
        kept = tuple(
            (slot_of[self.ins.index(register)], slot)
            for register, slot in zip(copies, slot_of[len(self.ins) + len(self.outs) :])
        )
        if cells is None:
            self._lengths, self._walked, self._factor = _merged(shape, strides)
        else:
            self._axes = _axes(shape, strides, cells.uncut if row else [False] * len(shape))
            self._lengths = tuple(prod(shape[axis] for axis in axes) for axes in self._axes)
            self._walked = [tuple(steps[axes[-1]] for axes in self._axes) for steps in strides]
        if len(self._lengths) > DEEPEST:
            refuse(self.group.chain)
            return
        self._pointers = tuple(
            Pointer(_name(part.dtype), _inner(steps[-1], part.dtype)) for part, steps in zip(self._parts, self._walked)
        )
        chain = Chain(calls, self.group.chain.scalars)
        kernel = compiled(chain, len(self._lengths), self._pointers, results, mask, kept)
        if kernel is None:
            return
        if kernel is DECLINED or kernel.errs_often():
            refuse(self.group.chain)
            return
        self.kernel = kernel
        self._scalars = [(len(slots) + k, i, j, how) for k, (i, j, how) in enumerate(self.group.scalars)]
        self._starts = [(i, part.slot, part.start) for i, part in enumerate(self._parts) if part.slot is not None]
        self._in_scratch = [(i, slots[i]) for i, part in enumerate(self._parts) if part.slot is None]
        of = {form.func: form.dtype for form in self.forms}
        self._neutral = [
            None if not isinstance(func, Update) or (value := neutral(func.func, of[func], part.dtype)) is None
            else _full(value, part.dtype, min(self._lengths[-1], longest).bit_length())
            for func, part in zip(moved, self._parts)
        ]  # fmt: skip

    @staticmethod
    def _part(func: Any, slot: int, arrays: list[Any]) -> Part:
        whole = arrays[slot]
        x = func.laid(whole) if isinstance(func, Update) else whole
        start = address_of(x) - address_of(whole)
        return Part(slot, slot, x.shape, x.strides, x.dtype, True, start)

    def looked(self) -> set[int]:
        """Return the registers that NumPy's loops use for every piece, not only for pieces recomputed after a floating-point error."""
        saved = {*self.saved, *self.saved.values()}
        if self.kernel is None or self.group.cells is not None:
            return {*self.ins, *self.outs.values(), *saved} - self.far.keys()
        return saved if self.kernel.mask else set()

    def is_refused(self) -> bool:
        """Whether the chain is left to NumPy from now on, because errors are frequent."""
        if self.kernel is not None and self.kernel.errs_often():
            refuse(self.group.chain)
            return True
        return False

    def worker(
        self, block: Any, stretch: Any, values: list[Any], scratch: dict[int, int]
    ) -> Callable[[int, int, list[int]], None]:
        """See :class:`arraydispatch.engine.nodes.Bound`."""
        if self.kernel is None:
            return partial(self._one_by_one, block, values)
        operands = bytearray(8 * (len(self._slots) + len(self._scalars)))
        put_addresses(operands, self._starts, block.addresses)
        for at, register in self._in_scratch:
            put(operands, at, "q", scratch[register])
        for at, i, j, how in self._scalars:
            node: Node = block.nodes[i]
            put(operands, at, how, node.args[j])
        return _Launch(self, block, stretch, values, operands)

    def computed_again(
        self, block: Any, stretch: Any, values: list[Any], begin: int, end: int, now: list[int], piece: _Piece
    ) -> None:
        """Compute a piece with an error again by NumPy, to locate the error."""
        assert self.kernel is not None
        self.kernel.flagged += 1
        block.plan.is_refused = self.is_refused() or block.plan.is_refused
        saved = self.saved if self.kernel.mask else {}
        stretch.look(block.arrays, values, begin, end, {*self.ins, *self.outs.values()})
        with block.listening(now):
            for part in piece.usual:
                self._call_by_call(block, values, now, part, saved)

    def _cut(self, begin: int, end: int) -> _Piece:
        """Divide a piece into parts for the kernel and parts for NumPy; store and return the resulting :class:`_Piece`."""
        usual: list[_At | None] = []
        others: list[_At] = []
        boxes_of_all: list[int] = []
        cells = self.group.cells
        if cells is None:
            usual.append(None)
            if self.kernel is not None:
                at = [
                    (1, begin * part.strides[0] if part.slot is not None and part.moves else 0) for part in self._parts
                ]
                lengths = ((end - begin) * self._factor, *self._lengths[1:])
                boxes_of_all += entry(len(lengths), self._pointers, lengths, self._walked, at)
        else:
            regions = [(begin, ((begin, end), *[(0, n) for n in self._shape[1:]]))]
            for first, region in regions if self._row else boxes(begin, end, self._shape):
                for cell in cells.parts(region):
                    part = _At(cell, region, first - begin)
                    if self.kernel is None or not cells.is_usual(cell):
                        others.append(part)
                    else:
                        usual.append(part)
                        boxes_of_all += self._entry(cell, begin)
        made = self._pieces[begin] = _Piece(array("q", [len(usual), *boxes_of_all]), usual, others)
        return made

    def _entry(self, cell: Box, begin: int) -> list[int]:
        """Return the kernel's arguments for a cell."""
        at = []
        walked = [*self._walked]
        for i, (part, steps, func) in enumerate(zip(self._parts, self._strides, self._moved)):
            moved = None if func is None else func.distance(cell)
            if func is not None and moved is None:
                nothing = self._neutral[i]  # None if the kernel omits the call
                at.append((1, 0) if nothing is None else (0, address_of(nothing)))
                walked[i] = (0,) * len(self._lengths)
                continue
            bytes_ = offset([first + (moved[axis] if moved else 0) for axis, (first, _) in enumerate(cell)], steps)
            if part.slot is None:  # scratch memory holds just the piece
                bytes_ -= begin * (steps[0] if self._row else part.dtype.itemsize)
            at.append((1, bytes_))
        lengths = [prod(cell[axis][1] - cell[axis][0] for axis in axes) for axes in self._axes]
        return entry(len(lengths), self._pointers, lengths, walked, at)

    def _one_by_one(self, block: Any, values: list[Any], begin: int, end: int, now: list[int]) -> None:
        for register, copy in self.saved.items():
            np.copyto(values[copy], values[register])
        piece = self._pieces.get(begin) or self._cut(begin, end)
        with block.listening(now):
            for at in (*piece.usual, *piece.others):
                self._call_by_call(block, values, now, at, self.saved)

    def _call_by_call(
        self, block: Any, values: list[Any], now: list[int], at: _At | None, saved: dict[int, int]
    ) -> None:
        """Run NumPy's own calls on a piece, or on the part ``at`` of it. ``now[0]`` is the number of the node that runs, to which errors
        belong.
        """
        made: list[Any] = []
        if at is None:
            shape = np.broadcast_shapes(*[values[register].shape for register in (*self.ins, *self.outs.values())])
        else:
            shape = tuple(end - begin for begin, end in at.cell)
        for n, (form, number) in enumerate(zip(self.forms, self.group.numbers)):
            ins = []
            for what, k in self.group.operands[n]:
                if what == "pointer":
                    ins.append(self._operand(block, values, k, at, saved))
                else:
                    ins.append(made[k] if what == "call" else block.nodes[number].args[k])
            now[0] = number
            func: Any = form.func
            if isinstance(func, Elsewhere):
                assert at is not None
                func = self._elsewhere(func, at, ins)
                if func is None:  # from the copy, if another result may have overwritten it
                    made.append(ins[0].copy())
                    continue
            made.append(values[self.outs[n]] if at is None and n in self.outs else np.empty(shape, form.dtype))
            func(*ins, out=made[-1])
        if at is not None:
            for n, register in self.outs.items():
                self._piece(values[register], at)[...] = made[n]

    def _elsewhere(self, func: Any, at: _At, ins: list[Any]) -> Any:
        """Return the function to call for ``func``, an :class:`Elsewhere`, in the part ``at`` of a piece; None if the result is ``ins[0]``.
        Remove operands that the function does not take from ``ins``.
        """
        if not isinstance(func, Update) or func.distance(at.cell) is None:
            return None
        if func.func is None:
            del ins[0]
            return cast
        return func.func

    def _operand(self, block: Any, values: list[Any], k: int, at: _At | None, saved: dict[int, int]) -> Any:
        """Return an array that the group reads, or the part of it for ``at``; None if the call does not read it there."""
        register = self.ins[k]
        if at is None:
            return values[saved.get(register, register)]
        _, _, func = self.group.arrays[k]
        if register not in self.far:
            return self._piece(values[saved.get(register, register)], at, func)
        assert func is not None
        x, moved = block.arrays[self.far[register]], func.distance(at.cell)
        if isinstance(func, Update):
            if moved is None:
                return None  # not used there
            x = func.laid(x)
        assert moved is not None
        return x[_index(x.shape, at.cell, moved)]

    def _piece(self, x: Any, at: _At, func: Elsewhere | None = None) -> Any:
        """Return the part ``at`` of a piece. ``func``: call that reads the piece at other places."""
        moved = None if func is None else func.distance(at.cell)
        if self._row:
            first = [at.region[0][0], *[0] * (len(at.cell) - 1)]
        elif not x.ndim:
            return x
        else:
            lengths = [end - begin for begin, end in at.region]
            x = x[at.begin : at.begin + prod(lengths)].reshape(lengths)
            first = [begin for begin, _ in at.region]
        return x[_index(x.shape, at.cell, [(moved[axis] if moved else 0) - i for axis, i in enumerate(first)])]


class _Launch:
    """Kernel with the operands of a block; a thread calls it for each piece."""

    def __init__(self, fused: Fused, block: Any, stretch: Any, values: list[Any], operands: bytearray) -> None:
        assert fused.kernel is not None
        self._fused, self._block, self._stretch, self._values = fused, block, stretch, values
        self._operands, self._function, self._address = operands, fused.kernel.function, fused.kernel.address

    def __call__(self, begin: int, end: int, now: list[int]) -> None:
        fused = self._fused
        piece: _Piece | None = fused._pieces.get(begin)
        if piece is None:
            piece = fused._cut(begin, end)
        if piece.usual and run(self._function, self._address, piece.address, self._operands):
            # In a context of its own: see `Tape.run`.
            copy_context().run(fused.computed_again, self._block, self._stretch, self._values, begin, end, now, piece)
        for part in piece.others:
            fused._call_by_call(self._block, self._values, now, part, {})


def _index(shape: tuple[int, ...], cell: Box, moved: Sequence[int]) -> tuple[slice, ...]:
    """Return the index of the elements of an array, possibly broadcast, at a distance from those of a cell."""
    missing = len(cell) - len(shape)
    return tuple([
        slice(None) if n == 1 else slice(begin + d, end + d)
        for n, (begin, end), d in zip(shape, cell[missing:], moved[missing:])
    ])  # fmt: skip


@lru_cache(64, typed=True)  # 0 and -0.0 are equal
def _full(value: float, dtype: np.dtype[Any], bits: int) -> np.ndarray[Any, Any]:
    """Return one value repeated up to the largest number of this many bits."""
    return np.full(1 << bits, value, dtype)


def _name(dtype: Any) -> str:
    return dtype.str[1:]


def _inner(stride: int, dtype: np.dtype[Any]) -> str:
    return "one" if stride == dtype.itemsize else "stride" if stride else "stay"


def _strides(part: Part, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides of a register in the shape of the stretch; 0 where it is broadcast."""
    if part.slot is None:
        return strides_of(shape, part.dtype.itemsize, False)
    missing = len(shape) - len(part.shape)
    return (0,) * missing + tuple(step if n != 1 else 0 for n, step in zip(part.shape, part.strides))


def _merged(
    shape: tuple[int, ...], strides: list[tuple[int, ...]]
) -> tuple[tuple[int, ...], list[tuple[int, ...]], int]:
    """Merge the axes that are one axis for every array. Return the lengths of the axes that are left, the strides of each array along them,
    and how many elements of the first of them belong to one index of ``shape``'s first axis.
    """
    lengths, axes, factor = [shape[-1]], [len(shape) - 1], 1
    for axis in range(len(shape) - 2, -1, -1):
        if shape[axis] == 1 and axis:
            continue
        inner = axes[0]
        if all(steps[axis] == steps[inner] * lengths[0] for steps in strides):
            if axis == 0:
                factor = lengths[0]
            lengths[0] *= shape[axis]
        elif lengths[0] == 1:
            lengths[0], axes[0] = shape[axis], axis
        else:
            lengths.insert(0, shape[axis])
            axes.insert(0, axis)
    return tuple(lengths), [tuple(steps[axis] for axis in axes) for steps in strides], factor


def _axes(shape: tuple[int, ...], strides: list[tuple[int, ...]], uncut: list[bool]) -> list[list[int]]:
    """Return the axes of an array computed by cells, with axes merged that are one axis for every array."""
    found = [[0]]
    for axis in range(1, len(shape)):
        before = found[-1][-1]
        if uncut[axis] and all(steps[before] == steps[axis] * shape[axis] for steps in strides):
            found[-1].append(axis)
        else:
            found.append([axis])
    return found
