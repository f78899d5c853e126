"""Kernels: chains of elementwise calls, compiled by LLVM where llvmlite is installed, to loops that keep what lies between in registers.

A chain is compiled when it has been computed often enough, by the count of elements, never by a clock; until then, and where
there is no llvmlite, NumPy's own loops compute it. The bits are the same either way.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import platform
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...common.signal_safety import aside, imported, may_import
from ...ufuncs.facts import INSTRUCTIONS, neutral
from ..loops import cast, select
from ..nodes import Buffer, Elsewhere, Node, Shift, Update, far
from .cells import Cells
from .kernel_source import Call, Chain, Pointer, has, source

if (
    TYPE_CHECKING
):  # what it needs of Python takes as long to import as a tenth of this package, and many programs compile nothing
    from .kernel_compiler import Compiler

__all__ = [
    "DEEPEST",
    "Group",
    "Kernel",
    "compiled",
    "computed",
    "expected",
    "function",
    "grouped",
    "mask_of",
    "numbers_of",
    "refuse",
]

HOT = 1 << 26
"""Elements, times calls, that a chain has computed before it is compiled: some 30 ms of NumPy's time, as long as compiling takes."""
KNOWN = 1 << 23
"""The same, of a chain that another process has had compiled: its code is on disk, and the compiler, whose loading takes some 30 ms,
is loaded while NumPy's loops compute what comes to this."""
MOST = 512
"""Kernels of a process."""
LONGEST = 40
"""Calls of a chain."""
DEEPEST = 3
"""Loops of a kernel."""
POINTERS = 24
"""Arrays of a kernel."""
LEAST_SHARE = 0.5
"""Of an array that one kernel computes at least: with less of it, what is written to parts of an array is left to NumPy."""
OFTEN = 64
"""Pieces with an error after which NumPy computes a chain again: it is no exception."""

_FLAGS = {
    "x86_64": {"invalid": 1, "divide": 4, "over": 8, "under": 16},
    "aarch64": {"invalid": 1, "divide": 2, "over": 4, "under": 8},
}
"""Of the floating-point status, as fenv.h has them."""
_MACHINE = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
_lock = threading.Lock()
_work: dict[Chain, float] = {}
"""Elements, times calls, that each chain has computed; of one that is left to NumPy's loops after all, minus infinity."""
_MOST_CHAINS = 1 << 12
_kernels: dict[Any, Kernel | None] = {}
_on_disk: set[str] | None = None
"""The names of chains that another process has had compiled, when somebody has looked."""
_loading: threading.Thread | None = None
"""What loads the compiler, once that has been begun."""


def _wait() -> None:
    """Before a fork: what another thread imports halfway would stay so in it. Not for long: whoever forks may hold an import itself."""
    if _loading is not None:
        _loading.join(1.0)


def _forget() -> None:
    """In a fork: no other thread holds anything."""
    global _lock
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait, after_in_child=_forget)


class Group(NamedTuple):
    """Nodes of a stretch that one kernel computes."""

    numbers: list[int]
    chain: Chain
    arrays: list[tuple[str, int, Elsewhere | None]]
    """What it reads: a ``node`` that is no part of it, or what is in a ``slot``; and the call that reads other elements of it."""
    operands: list[list[tuple[str, int]]]
    """Of each node: another ``call`` of the group, one of the arrays (``pointer``), or the how-manieth operand, a ``scalar``."""
    cells: Cells | None
    """Where something is read elsewhere."""
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

    def errs_often(self) -> bool:
        """Whether errors are no exception."""
        return self.flagged > OFTEN


def _name(dtype: Any) -> str:
    return dtype.str[1:]


# -- which nodes ---------------------------------------------------------------------------------------------------------


def _op(node: Node, reads: list[tuple[str, int]], arrays: list[Any]) -> str | None:
    """What a node's call is for a kernel; None where it is none."""
    form = node.form
    if form.reduces() or form.halved is not None or form.pinned or form.ins is None:
        return None
    func: Any = form.func
    if isinstance(func, Update):
        if not func.is_dense():
            return None
        func = cast if func.func is None else func.func
    elif isinstance(func, Shift):
        func = cast
    op = "cast" if func is cast else "select" if func is select else INSTRUCTIONS.get(func)
    if op is None or not has(op, form.ins[-1:] if op == "cast" else form.ins, form.dtype):
        return None
    for what, k in reads:
        if what == "slot" and not (arrays[k].flags.aligned and arrays[k].dtype.isnative):
            return None
    return op


class _Of(NamedTuple):
    """The nodes of a block, and what is known of them."""

    nodes: list[Node]
    reads: list[list[tuple[str, int]]]
    arrays: list[Any]
    cold: list[tuple[Chain, int]]


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
    return _ordered(numbers, ops, _Of(nodes, reads, arrays, cold))


def _ordered(numbers: list[int], ops: dict[int, str | None], of: _Of) -> list[Group | int]:
    order: list[Group | int] = []
    open_: list[int] = []
    members: set[int] = set()
    pointers: set[Any] = set()
    shifted = False

    def close() -> None:
        nonlocal shifted
        made = _made(open_, ops, of)
        if made is None:  # once more, without what reads elsewhere
            others = {i: None if far(of.nodes[i]) else ops[i] for i in open_}
            made = _ordered([*open_], others, of)
        order.extend(made)
        open_.clear()
        members.clear()
        pointers.clear()
        shifted = False

    for i in numbers:
        node = of.nodes[i]
        inside = any(id(x) in members for x in node.args)
        if ops[i] is None:
            if inside or node.target is not None:
                close()
            order.append(i)  # before the group, of which it needs nothing
            continue
        shifts = isinstance(node.form.func, Shift)
        more = {each for each in _read(of, i) if each[0] == "slot" or (each[0] == "node" and each[1] not in open_)}
        is_full = len(open_) == LONGEST or len(pointers | more) > POINTERS
        # A shift reads what is there, and what is written into its place is not to be there yet.
        if is_full or (shifts and inside) or (node.target is not None and shifted):
            close()
        pointers |= more
        shifted = shifted or shifts
        open_.append(i)
        members.add(id(node))
    close()
    return order


def _read(of: _Of, i: int) -> Iterator[tuple[str, int, Elsewhere | None]]:
    """The operands of a node; where it reads elements other than its own, with its call."""
    func = far(of.nodes[i])
    for j, (what, k) in enumerate(of.reads[i]):
        yield what, k, func if func is not None and (j or isinstance(func, Shift)) else None


def _neutral(func: Update, node: Node) -> float | None:
    return neutral(func.func, node.dtype, _dtype(node.args[1]))


def _dtype(x: Any) -> np.dtype[Any]:
    return (x.array if type(x) is Buffer else x).dtype


def _made(numbers: list[int], ops: dict[int, str | None], of: _Of) -> list[Group | int] | None:
    """A group of these nodes, where it is worth a kernel; else the nodes. None where those that read elsewhere are better left out."""
    if len(numbers) < 2:
        return list(numbers)
    nodes, slots = of.nodes, of.arrays
    moved = [far(nodes[i]) for i in numbers]
    cells: Cells | None = None
    if any(moved):
        shape = nodes[numbers[0]].form.span
        always = [
            isinstance(func, Update) and of.reads[i][1][0] != "scalar" and _neutral(func, nodes[i]) is not None
            for func, i in zip(moved, numbers)
        ]
        if len(shape) > DEEPEST or (cells := Cells(shape, moved, always)).share < LEAST_SHARE:
            return None
    at = {i: n for n, i in enumerate(numbers)}
    arrays: dict[tuple[str, int, Elsewhere | None], int] = {}
    scalars: list[tuple[int, int, str]] = []
    of_scalars: list[str] = []
    calls: list[Call] = []
    operands: list[list[tuple[str, int]]] = []
    for n, i in enumerate(numbers):
        form, func = nodes[i].form, moved[n]
        op, ins = str(ops[i]), form.ins
        assert ins is not None
        args, own = [], []
        for (what, k, seen), to in zip(_read(of, i), ins):
            if what == "node" and k in at:
                args.append(("call", at[k], calls[at[k]].out))
                own.append(("call", at[k]))
            elif what == "scalar":
                args.append(("scalar", len(scalars), _name(to)))
                own.append(("scalar", k))
                scalars.append((i, k, _PACKED.get((to.kind, to.itemsize), "Q" if to.kind == "u" else "q")))
                of_scalars.append(_name(to))
            else:
                dtype = slots[k].dtype if what == "slot" else nodes[k].dtype
                args.append(("pointer", arrays.setdefault((what, k, seen), len(arrays)), _name(dtype)))
                own.append(args[-1][:2])
        operands.append(own)
        if isinstance(func, Update):
            assert cells is not None
            if not cells.active[n]:
                op, ins, args = "cast", ins[:1], args[:1]
            elif func.func is None:
                ins, args = ins[1:], args[1:]
        calls.append(Call(op, tuple(map(_name, ins)), _name(form.dtype), tuple(args)))
    chain = Chain(tuple(calls), tuple(of_scalars))
    if (done := _count(chain)) < HOT:
        if done >= 0:
            of.cold.append((chain, nodes[numbers[0]].size * len(numbers)))
        return list(numbers)
    return [Group(list(numbers), chain, list(arrays), operands, cells, scalars)]


_PACKED = {("f", 8): "d", ("f", 4): "f"}
"""How a number is packed into eight bytes; what is no floating one as an integer."""


def expected(cold: list[tuple[Chain, int]]) -> None:
    """Begin to load the compiler where what is going to be computed makes a chain worth it that an earlier process has had compiled."""
    work: Counter[Chain] = Counter()
    for chain, more in cold:
        work[chain] += more
    if any(_count(chain) + more >= HOT and _is_known(chain) for chain, more in work.items()):
        _load()


def computed(cold: list[tuple[Chain, int]]) -> bool:
    """Count what has been computed without kernels; whether some of it is worth one now."""
    is_hot = False
    for chain, work in cold:
        done = _count(chain, work)
        if done >= HOT:
            is_hot = True
            if done - work < HOT and not _is_known(chain):
                _disk().remember(_named(chain))
    return is_hot


def _count(chain: Chain, more: int = 0) -> float:
    """What a chain has computed, with so much more; of one that is known only :data:`KNOWN` is missing at first."""
    before = _work.get(chain)
    if before is None:
        if len(_work) >= _MOST_CHAINS:
            _work.clear()
        before = max(HOT - KNOWN, 0) if _is_known(chain) else 0
    _work[chain] = before + more
    return before + more


def _is_known(chain: Chain) -> bool:
    """Whether an earlier process has had it compiled."""
    global _on_disk
    if _on_disk is None:
        _on_disk = _disk().remembered()
    return bool(_on_disk) and _named(chain) in _on_disk


def _named(chain: Chain) -> str:
    return hashlib.sha256(repr(chain).encode()).hexdigest()


def _disk() -> Any:
    """The module that reads and writes kernels on disk, with what it imports."""
    with contextlib.suppress(ImportError):
        imported("platformdirs")
    return imported("arraydispatch.engine.host_blocks.kernel_compiler")


# -- compiling -----------------------------------------------------------------------------------------------------------


@cache
def _can_compile() -> bool:
    """Whether there is a compiler, and we know the processor's floating-point status."""
    if _MACHINE not in _FLAGS or os.environ.get("ARRAYDISPATCH_KERNELS") == "0":
        return False
    is_there: bool = _disk().is_there()
    return is_there


@cache
def _compiler() -> Compiler:
    made: Compiler = _disk().Compiler()
    return made


def _load() -> None:
    """Begin to load the compiler, beside what is computed meanwhile; whoever needs it first waits for it."""
    if _loading is None and not _compiler.cache_info().currsize:
        aside(_begin_to_load)  # a thread's start waits for it


def _begin_to_load() -> None:
    global _loading
    with _lock:
        if _loading is None:
            _loading = threading.Thread(target=_loaded, name="arraydispatch compiler")
            _loading.start()


def _loaded() -> None:
    with _lock, contextlib.suppress(Exception):  # which comes up again where it is needed
        _compiler()


def refuse(chain: Chain) -> None:
    """Leave a chain to NumPy's loops from now on."""
    _work[chain] = -math.inf


def mask_of(told: Sequence[dict[str, Any] | None]) -> int:
    """Which flags of the floating-point status somebody wants to be told of, by the modes of ``np.errstate``."""
    heard = [modes for modes in told if modes is not None]
    return sum(flag for mode, flag in _FLAGS[_MACHINE].items() if any(modes[mode] == "warn" for modes in heard))


def compiled(
    chain: Chain, depth: int, pointers: tuple[Pointer, ...], results: Any, mask: int, kept: Any
) -> Kernel | None:
    """The kernel; None where there is no room for more, or LLVM does not take it. The parameters are those of its source."""
    key = chain, depth, pointers, results, mask, kept
    if key not in _kernels:
        _by_one(lambda: _compile(key))  # what a signal's handler raises is not LLVM's
    return _kernels.get(key)


def _by_one(f: Callable[[], None]) -> None:
    """Run what uses the compiler, one at a time. A handler in the middle of an import does without it where that could wait for the import."""

    def work() -> None:
        with _lock:
            f()

    if may_import():
        aside(work)
    elif _lock.acquire(blocking=False):
        try:
            f()
        finally:
            _lock.release()


def _compile(key: tuple[Any, ...]) -> None:
    if key not in _kernels and len(_kernels) < MOST:
        try:
            _kernels[key] = Kernel(_compiler()(source(*key)), key[4])
        except Exception:  # noqa: BLE001 -- whatever keeps LLVM from it: NumPy's loops do it
            _kernels[key] = None


def function(source_for: Callable[[int], str]) -> Callable[[int, int], int] | None:
    """A function of two addresses by a source of its own, which is told the mask of all errors; None where there is no compiler."""
    if not _can_compile():
        return None
    made: list[Callable[[int, int], int]] = []

    def compile_it() -> None:
        with contextlib.suppress(Exception):  # as of a chain
            made.append(_compiler()(source_for(sum(_FLAGS[_MACHINE].values()) - _FLAGS[_MACHINE]["under"])))

    _by_one(compile_it)
    return made[0] if made else None
