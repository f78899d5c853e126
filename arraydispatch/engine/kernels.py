"""Kernels: chains of elementwise calls, compiled by LLVM where llvmlite is installed, to loops that keep what lies between in registers.

A chain is compiled when it has been computed often enough, by the count of elements, never by a clock; until then, and where
there is no llvmlite, NumPy's own loops compute it. The bits are the same either way.
"""

from __future__ import annotations

import os
import platform
import threading
from array import array
from collections.abc import Callable, Sequence
from functools import cache, partial
from math import prod
from struct import pack_into
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..ufuncs.elementary import INSTRUCTIONS
from .loops import cast, select
from .nodes import Bound, Form, Node
from .source import Call, Chain, Pointer, has, source, table

if (
    TYPE_CHECKING
):  # what it needs of Python takes as long to import as a tenth of this package, and many programs compile nothing
    from .compiler import Compiler

__all__ = ["Fused", "Group", "Kernel", "Part", "computed", "function", "grouped", "numbers_of"]

HOT = 1 << 26
"""Elements, times calls, that a chain has computed before it is compiled: some 30 ms of NumPy's time, as long as compiling takes."""
MOST = 512
"""Kernels of a process."""
LONGEST = 40
"""Calls of a chain."""
DEEPEST = 3
"""Loops of a kernel."""
POINTERS = 24
"""Arrays of a kernel."""
OFTEN = 64
"""Pieces with an error after which NumPy computes a chain again: it is no exception."""

_FLAGS = {
    "x86_64": {"invalid": 1, "divide": 4, "over": 8, "under": 16},
    "aarch64": {"invalid": 1, "divide": 2, "over": 4, "under": 8},
}
"""Of the floating-point status, as fenv.h has them."""
_MACHINE = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
_lock = threading.Lock()
_work: dict[Chain, int] = {}
_kernels: dict[Any, Kernel | None] = {}
_refused: set[Chain] = set()
"""Chains that are left to NumPy's loops after all."""


def _forget() -> None:
    """In a fork: no other thread holds anything."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


class Group(NamedTuple):
    """Nodes of a stretch that one kernel computes."""

    numbers: list[int]
    chain: Chain
    arrays: list[tuple[str, int]]
    """What it reads: a ``node`` that is no part of it, or what is in a ``slot``."""
    scalars: list[tuple[int, int, str]]
    """Number of a node, the how-manieth operand, and as what it is packed."""


def numbers_of(step: Group | int) -> Sequence[int]:
    """Which nodes a step computes."""
    return step.numbers if isinstance(step, Group) else (step,)


class Kernel:
    """A compiled loop.

    Attributes
    ----------
    mask : int
        Of the floating-point status that it looks at.
    flagged : int
        Pieces in which an error came up, and NumPy had to say which.
    """

    def __init__(self, function: Callable[[int, int], int], mask: int) -> None:
        self.function, self.mask = function, mask
        self.flagged = 0


def _name(dtype: Any) -> str:
    return dtype.str[1:]


# -- which nodes ---------------------------------------------------------------------------------------------------------


def _op(node: Node, reads: list[tuple[str, int]], arrays: list[Any]) -> str | None:
    """What a node's call is for a kernel; None where it is none."""
    form = node.form
    if form.reduces() or form.halved is not None or form.pinned or form.ins is None:
        return None
    func = form.func
    op = "cast" if func is cast else "select" if func is select else INSTRUCTIONS.get(func)  # type: ignore[call-overload]
    if op is None or not has(op, form.ins, form.dtype):
        return None
    for what, k in reads:
        if what == "slot" and not (arrays[k].flags.aligned and arrays[k].dtype.isnative):
            return None
    return op


def grouped(
    nodes: list[Node], numbers: list[int], reads: list[list[tuple[str, int]]], arrays: list[Any], cold: list[tuple[Chain, int]]
) -> list[Group | int]:  # fmt: skip
    """The nodes of a stretch, in an order in which they can be computed: each by itself, or those of a kernel together.

    Parameters
    ----------
    nodes : list of Node
        Of the block.
    numbers : list of int
        Which of them.
    reads, arrays
        What the operands of each are, and what is in the slots.
    cold : list
        Is told the chains that are not worth a kernel yet, and their work.
    """
    ops = {i: _op(nodes[i], reads[i], arrays) for i in numbers} if _can_compile() else {}
    if sum(op is not None for op in ops.values()) < 2:
        return list(numbers)
    order: list[Group | int] = []
    open_: list[int] = []
    members: set[int] = set()

    def close() -> None:
        order.extend(_made(nodes, open_, ops, reads, arrays, cold))
        open_.clear()
        members.clear()

    for i in numbers:
        if ops[i] is None:
            if nodes[i].target is not None or any(id(x) in members for x in nodes[i].args):
                close()
            order.append(i)  # before the group, of which it needs nothing
            continue
        if len(open_) == LONGEST:
            close()
        open_.append(i)
        members.add(id(nodes[i]))
    close()
    return order


def _made(
    nodes: list[Node], numbers: list[int], ops: dict[int, str | None], reads: list[list[tuple[str, int]]], slots: list[Any],
    cold: list[tuple[Chain, int]],
) -> list[Group | int]:  # fmt: skip
    """A group of these nodes, where it is worth a kernel; else the nodes."""
    if len(numbers) < 2:
        return list(numbers)
    at = {i: k for k, i in enumerate(numbers)}
    arrays: dict[tuple[str, int], int] = {}
    scalars: list[tuple[int, int, str]] = []
    of_scalars: list[str] = []
    calls: list[Call] = []
    for i in numbers:
        form = nodes[i].form
        args = []
        ins: Any = form.ins
        for (what, k), to in zip(reads[i], ins):
            if what == "node" and k in at:
                args.append(("call", at[k], calls[at[k]].out))
            elif what == "scalar":
                args.append(("scalar", len(scalars), _name(to)))
                scalars.append((i, k, _PACKED.get((to.kind, to.itemsize), "Q" if to.kind == "u" else "q")))
                of_scalars.append(_name(to))
            else:
                dtype = slots[k].dtype if what == "slot" else nodes[k].dtype
                args.append(("pointer", arrays.setdefault((what, k), len(arrays)), _name(dtype)))
        calls.append(Call(str(ops[i]), tuple(map(_name, ins)), _name(form.dtype), tuple(args)))
    chain = Chain(tuple(calls), tuple(of_scalars))
    if _work.get(chain, 0) < HOT:
        cold.append((chain, nodes[numbers[0]].size * len(numbers)))
        return list(numbers)
    if len(arrays) > POINTERS or chain in _refused:
        return list(numbers)
    return [Group(list(numbers), chain, list(arrays), scalars)]


_PACKED = {("f", 8): "d", ("f", 4): "f"}
"""How a number is packed into eight bytes; what is no floating one as an integer."""


def computed(cold: list[tuple[Chain, int]]) -> bool:
    """Count what has been computed without kernels; whether some of it is worth one now."""
    is_hot = False
    for chain, work in cold:
        before = _work.get(chain, 0)
        if len(_work) > 4096:
            _work.clear()
        _work[chain] = before + work
        is_hot = is_hot or (before + work >= HOT and chain not in _refused)
    return is_hot


# -- compiling -----------------------------------------------------------------------------------------------------------


@cache
def _can_compile() -> bool:
    """Whether there is a compiler, and we know the processor's floating-point status."""
    from .compiler import is_there

    return _MACHINE in _FLAGS and os.environ.get("ARRAYDISPATCH_KERNELS") != "0" and is_there()


@cache
def _compiler() -> Compiler:
    from .compiler import Compiler

    return Compiler()


def _compiled(chain: Chain, depth: int, pointers: tuple[Pointer, ...], results: Any, mask: int) -> Kernel | None:
    """The kernel; None where there is no room for more, or LLVM does not take it."""
    key = chain, depth, pointers, results, mask
    with _lock:
        if key not in _kernels:
            if len(_kernels) >= MOST:
                return None
            try:
                _kernels[key] = Kernel(_compiler()(source(*key)), mask)
            except Exception:  # noqa: BLE001 -- whatever keeps LLVM from it: NumPy's loops do it
                _kernels[key] = None
        return _kernels[key]


def function(source_for: Callable[[int], str]) -> Callable[[int, int], int] | None:
    """A function of two addresses by a source of its own, which is told the mask of all errors; None where there is no compiler."""
    if not _can_compile():
        return None
    with _lock:
        try:
            return _compiler()(source_for(sum(_FLAGS[_MACHINE].values()) - _FLAGS[_MACHINE]["under"]))
        except Exception:  # noqa: BLE001 -- as of a chain
            return None


# -- in a block ----------------------------------------------------------------------------------------------------------


class Part(NamedTuple):
    """What is in a register, for all pieces."""

    slot: int | None
    """None for scratch memory."""
    memory: int
    """The first slot that begins where it does."""
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    moves: bool
    """Whether a piece has its part of it, along the first axis."""


class Fused(Bound):
    """A group in its stretch.

    Parameters
    ----------
    group : Group
    forms : list of Form
        Of its nodes.
    ins, outs : list of int, dict of int to int
        Registers of the arrays that it reads; number in the group -> register of a result that somebody else wants.
    saved : dict of int to int
        Register of what a result goes over -> register of a copy, by which an error can be looked for.
    """

    def __init__(
        self, group: Group, forms: list[Form], ins: list[int], outs: dict[int, int], saved: dict[int, int]
    ) -> None:
        self.group, self.forms, self.ins, self.outs, self.saved = group, forms, ins, outs, saved
        self.kernel: Kernel | None = None

    def settle(self, parts: dict[int, Part], shape: tuple[int, ...], row: bool, told: list[Any]) -> None:
        """Choose the kernel, when it is known what is in the registers.

        ``shape``: that of the stretch; ``told``: of each node of the block the modes of ``np.errstate``.
        """
        if not row:
            shape = (prod(shape),)
        slots: list[int] = []  # registers, each on memory of its own
        strides: list[tuple[int, ...]] = []
        places: dict[Any, int] = {}
        slot_of = []
        for register in (*self.ins, *self.outs.values()):
            part = parts[register]
            steps = _strides(part, shape)
            where = register if part.slot is None else (part.memory, steps, part.dtype)
            slot_of.append(places.setdefault(where, len(slots)))
            if slot_of[-1] == len(slots):
                slots.append(register)
                strides.append(steps)
        calls = tuple(call.reading(slot_of) for call in self.group.chain.calls)
        results = tuple(zip(self.outs, slot_of[len(self.ins) :]))
        lengths, merged, self._factor = _merged(shape, strides)
        if len(lengths) > DEEPEST:
            _refused.add(self.group.chain)
            return
        dtypes = [parts[register].dtype for register in slots]
        pointers = tuple(Pointer(_name(t), _inner(steps[-1], t)) for t, steps in zip(dtypes, merged))
        modes_told = [modes for i in self.group.numbers if (modes := told[i]) is not None]
        mask = sum(
            flag for mode, flag in _FLAGS[_MACHINE].items() if any(modes[mode] == "warn" for modes in modes_told)
        )
        chain = Chain(calls, self.group.chain.scalars)
        kernel = _compiled(chain, len(lengths), pointers, results, mask)
        if kernel is None or kernel.flagged > OFTEN:
            _refused.add(self.group.chain)
            return
        self.kernel = kernel
        self._table = array("q", [*table(len(lengths), pointers, lengths, merged), *(0 for _ in self.group.scalars)])
        first = len(self._table) - len(self.group.scalars)
        self._scalars = [
            (8 * (first + k), i, j, how, _NUMBER.get(how, int)) for k, (i, j, how) in enumerate(self.group.scalars)
        ]
        self._whole: list[tuple[int, int, int]] = []  # pointer, slot, bytes from one row to the next
        self._scratch: list[tuple[int, int]] = []
        for at, register in enumerate(slots, 1):
            part = parts[register]
            if part.slot is None:
                self._scratch.append((at, register))
            else:
                self._whole.append((at, part.slot, part.strides[0] if part.moves else 0))
        self._length = 1 + len(slots)

    def looked(self) -> set[int]:
        """Registers that NumPy's loops are handed, where there is no error."""
        if self.kernel is None:
            return {*self.ins, *self.outs.values(), *self.saved, *self.saved.values()}
        return {*self.saved, *self.saved.values()} if self.kernel.mask else set()

    def is_refused(self) -> bool:
        """Whether it is left to NumPy from now on: errors are no exception."""
        if self.kernel is not None and self.kernel.flagged > OFTEN:
            _refused.add(self.group.chain)
            return True
        return False

    def worker(
        self, block: Any, stretch: Any, values: list[Any], scratch: dict[int, int]
    ) -> Callable[[int, int, list[int]], None]:
        """As of all that is bound."""
        kernel = self.kernel
        if kernel is None:
            return partial(self._one_by_one, block, values)
        words = self._table[:]
        for at, i, j, how, number in self._scalars:
            pack_into(how, words, at, number(block.nodes[i].args[j]))
        addresses = array("q", bytes(8 * self._length))
        for at, register in self._scratch:
            addresses[at] = scratch[register]
        whole = [(at, block.addresses[slot], step) for at, slot, step in self._whole]
        table_at, addresses_at = words.buffer_info()[0], addresses.buffer_info()[0]
        function, factor, saved = kernel.function, self._factor, self.saved if kernel.mask else {}

        def work(begin: int, end: int, now: list[int], _words: Any = words) -> None:
            addresses[0] = (end - begin) * factor
            for at, first, step in whole:
                addresses[at] = first + begin * step
            for register, copy in saved.items():
                np.copyto(values[copy], values[register])
            if function(table_at, addresses_at):
                kernel.flagged += 1
                stretch.look(block.arrays, values, begin, end, {*self.ins, *self.outs.values()})
                self._call_by_call(block, values, now)

        return work

    def _one_by_one(self, block: Any, values: list[Any], _begin: int, _end: int, now: list[int]) -> None:
        for register, copy in self.saved.items():
            np.copyto(values[copy], values[register])
        self._call_by_call(block, values, now)

    def _call_by_call(self, block: Any, values: list[Any], now: list[int]) -> None:
        """NumPy's own calls on a piece, which say what error it is and whose."""
        made: list[Any] = []
        shape = np.broadcast_shapes(*[values[register].shape for register in (*self.ins, *self.outs.values())])
        with block.listening(now):
            for k, (form, number, call) in enumerate(zip(self.forms, self.group.numbers, self.group.chain.calls)):
                ins = []
                for x, (what, i, _) in zip(block.nodes[number].args, call.args):
                    if what == "pointer":
                        register = self.ins[i]
                        ins.append(values[self.saved.get(register, register)])
                    else:
                        ins.append(made[i] if what == "call" else x)
                made.append(values[self.outs[k]] if k in self.outs else np.empty(shape, form.dtype))
                now[0] = number
                form.func(*ins, out=made[-1])


_NUMBER: dict[str, Callable[[Any], Any]] = {"d": float, "f": float}


def _inner(stride: int, dtype: np.dtype[Any]) -> str:
    return "one" if stride == dtype.itemsize else "stride" if stride else "stay"


def _strides(part: Part, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Those of a register, in the shape of the stretch; 0 where it is broadcast."""
    if part.slot is None:
        return tuple(part.dtype.itemsize * prod(shape[axis + 1 :]) for axis in range(len(shape)))
    missing = len(shape) - len(part.shape)
    return (0,) * missing + tuple(step if n != 1 else 0 for n, step in zip(part.shape, part.strides))


def _merged(
    shape: tuple[int, ...], strides: list[tuple[int, ...]]
) -> tuple[tuple[int, ...], list[tuple[int, ...]], int]:
    """Axes of which each array takes several as one put together, and how many elements of the first a row has."""
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
