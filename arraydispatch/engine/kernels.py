"""Kernels: chains of elementwise calls, compiled by LLVM where llvmlite is installed, to loops that keep what lies between in registers.

A chain is compiled when it has been computed often enough, by the count of elements, never by a clock; until then, and where
there is no llvmlite, NumPy's own loops compute it. The bits are the same either way.
"""

from __future__ import annotations

import os
import platform
import threading
from collections.abc import Callable, Sequence
from functools import cache, partial
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ..ufuncs.elementary import INSTRUCTIONS
from .compiler import Compiler, is_there
from .loops import cast, select
from .nodes import Bound, Buffer, Node
from .source import Call, Chain, Pointer, has, source, table

__all__ = ["Fused", "Group", "Kernel", "Part", "grouped", "numbers_of"]

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
    arrays: list[Any]
    """Buffers, and nodes that are no part of it, which it reads."""
    scalars: list[Any]


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


def _op(node: Node) -> str | None:
    """What a node's call is for a kernel; None where it is none."""
    if node.span is not node.shape or node.halved is not None or node.pinned or node.ins is None:
        return None
    func = node.func
    op = "cast" if func is cast else "select" if func is select else INSTRUCTIONS.get(func)  # type: ignore[call-overload]
    if op is None or not has(op, node.ins, node.dtype):
        return None
    for x in node.args:
        if type(x) is Buffer and not (x.array.flags.aligned and x.array.dtype.isnative):
            return None
    return op


def grouped(nodes: list[Node], numbers: list[int]) -> list[Group | int]:
    """The nodes of a stretch, in an order in which they can be computed: each by itself, or those of a kernel together.

    ``numbers``: which of the nodes.
    """
    ops = {i: _op(nodes[i]) for i in numbers} if _can_compile() else {}
    if sum(op is not None for op in ops.values()) < 2:
        return list(numbers)
    order: list[Group | int] = []
    open_: list[int] = []
    members: set[int] = set()

    def close() -> None:
        order.extend(_made(nodes, open_, ops))
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


def _made(nodes: list[Node], numbers: list[int], ops: dict[int, str | None]) -> list[Group | int]:
    """A group of these nodes, where it is worth a kernel; else the nodes."""
    if len(numbers) < 2:
        return list(numbers)
    at = {id(nodes[i]): k for k, i in enumerate(numbers)}
    arrays: dict[int, tuple[int, Any]] = {}
    scalars: list[Any] = []
    of_scalars: list[str] = []
    calls: list[Call] = []
    for i in numbers:
        node = nodes[i]
        args = []
        ins: Any = node.ins
        for x, to in zip(node.args, ins):
            if (k := at.get(id(x))) is not None:
                args.append(("call", k, calls[k].out))
            elif isinstance(x, Buffer | Node):
                number, _ = arrays.setdefault(id(x), (len(arrays), x))
                args.append(("pointer", number, _name((x.array if isinstance(x, Buffer) else x).dtype)))
            else:
                args.append(("scalar", len(scalars), _name(to)))
                scalars.append(np.asarray(x).astype(to))
                of_scalars.append(_name(to))
        calls.append(Call(str(ops[i]), tuple(map(_name, ins)), _name(node.dtype), tuple(args)))
    chain = Chain(tuple(calls), tuple(of_scalars))
    work = _work.get(chain, 0)
    if work < HOT:
        if len(_work) > 4096:
            _work.clear()
        _work[chain] = work + nodes[numbers[0]].size * len(numbers)
        return list(numbers)
    if len(arrays) > POINTERS or chain in _refused:
        return list(numbers)
    return [Group(list(numbers), chain, [x for _, x in arrays.values()], scalars)]


# -- compiling -----------------------------------------------------------------------------------------------------------


@cache
def _can_compile() -> bool:
    """Whether there is a compiler, and we know the processor's floating-point status."""
    return _MACHINE in _FLAGS and os.environ.get("ARRAYDISPATCH_KERNELS") != "0" and is_there()


@cache
def _compiler() -> Compiler:
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


# -- in a block ----------------------------------------------------------------------------------------------------------


class Part(NamedTuple):
    """What is in a register, for all pieces."""

    array: np.ndarray[Any, Any] | None
    """None for scratch memory."""
    dtype: np.dtype[Any]
    moves: bool
    """Whether a piece has its part of it, along the first axis."""


class Fused(Bound):
    """A group in its stretch.

    Parameters
    ----------
    group : Group
    nodes : list of Node
        Of the block.
    ins, outs : list of int, dict of int to int
        Registers of the arrays that it reads; number in the group -> register of a result that somebody else wants.
    saved : dict of int to int
        Register of what a result goes over -> register of a copy, by which an error can be looked for.
    """

    def __init__(
        self, group: Group, nodes: list[Node], ins: list[int], outs: dict[int, int], saved: dict[int, int]
    ) -> None:
        self.group, self.ins, self.outs, self.saved = group, ins, outs, saved
        self.nodes = [nodes[i] for i in group.numbers]
        self.kernel: Kernel | None = None

    def settle(self, parts: dict[int, Part], shape: tuple[int, ...], row: bool) -> None:
        """Choose the kernel, when it is known what is in the registers. ``shape``: that of the stretch."""
        if not row:
            shape = (prod(shape),)
        slots: list[int] = []  # registers, each on memory of its own
        strides: list[tuple[int, ...]] = []
        places: dict[Any, int] = {}
        slot_of = []
        for register in (*self.ins, *self.outs.values()):
            part = parts[register]
            steps = _strides(part, shape)
            where = register if part.array is None else (part.array.__array_interface__["data"][0], steps, part.dtype)
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
        told = [node.told for node in self.nodes if node.told is not None]
        mask = sum(flag for mode, flag in _FLAGS[_MACHINE].items() if any(modes[mode] == "warn" for modes in told))
        chain = Chain(calls, self.group.chain.scalars)
        kernel = _compiled(chain, len(lengths), pointers, results, mask)
        if kernel is None or kernel.flagged > OFTEN:
            _refused.add(self.group.chain)
            return
        self.kernel = kernel
        numbers = table(len(lengths), pointers, lengths, merged)
        words = np.zeros(len(numbers) + len(self.group.scalars), np.int64)
        words[: len(numbers)] = numbers
        for i, scalar in enumerate(self.group.scalars):
            words[len(numbers) + i :][:1].view(scalar.dtype)[0] = scalar
        self._table = words
        self._begins = np.zeros(len(slots), np.int64)
        self._steps = np.zeros(len(slots), np.int64)
        self._scratch = []
        for i, register in enumerate(slots):
            part = parts[register]
            if part.array is None:
                self._scratch.append((i, register))
            else:
                self._begins[i] = part.array.__array_interface__["data"][0]
                self._steps[i] = part.array.strides[0] if part.moves else 0

    def worker(self, values: list[Any], scratch: dict[int, int]) -> Callable[[int, int, list[int]], None]:
        """What a thread does for each piece. ``values``: of the registers; ``scratch``: the addresses of its own memory."""
        kernel = self.kernel
        if kernel is None:
            return partial(self._one_by_one, values)
        begins = self._begins.copy()
        for i, register in self._scratch:
            begins[i] = scratch[register]
        addresses = np.empty(1 + len(begins), np.int64)
        pointers, steps, factor = addresses[1:], self._steps, self._factor
        words, at = self._table.__array_interface__["data"][0], addresses.__array_interface__["data"][0]
        function, saved = kernel.function, self.saved if kernel.mask else {}

        def work(begin: int, end: int, now: list[int]) -> None:
            addresses[0] = (end - begin) * factor
            np.multiply(steps, begin, out=pointers)
            np.add(pointers, begins, out=pointers)
            for register, copy in saved.items():
                np.copyto(values[copy], values[register])
            if function(words, at):
                kernel.flagged += 1
                self._call_by_call(values, now)

        return work

    def _one_by_one(self, values: list[Any], _begin: int, _end: int, now: list[int]) -> None:
        for register, copy in self.saved.items():
            np.copyto(values[copy], values[register])
        self._call_by_call(values, now)

    def _call_by_call(self, values: list[Any], now: list[int]) -> None:
        """NumPy's own calls on a piece, which say what error it is and whose."""
        made: list[Any] = []
        shape = np.broadcast_shapes(*[values[register].shape for register in (*self.ins, *self.outs.values())])
        for k, (node, number, call) in enumerate(zip(self.nodes, self.group.numbers, self.group.chain.calls)):
            ins = []
            for x, (what, i, _) in zip(node.args, call.args):
                if what == "pointer":
                    register = self.ins[i]
                    ins.append(values[self.saved.get(register, register)])
                else:
                    ins.append(made[i] if what == "call" else x)
            made.append(values[self.outs[k]] if k in self.outs else np.empty(shape, node.dtype))
            now[0] = number
            node.func(*ins, out=made[-1])


def _inner(stride: int, dtype: np.dtype[Any]) -> str:
    return "one" if stride == dtype.itemsize else "stride" if stride else "stay"


def _strides(part: Part, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Those of a register, in the shape of the stretch; 0 where it is broadcast."""
    x = part.array
    if x is None:
        return tuple(part.dtype.itemsize * prod(shape[axis + 1 :]) for axis in range(len(shape)))
    missing = len(shape) - x.ndim
    return (0,) * missing + tuple(step if n != 1 else 0 for n, step in zip(x.shape, x.strides))


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
