"""Kernels: chains of elementwise calls, compiled by LLVM, if llvmlite is installed, to loops with intermediate values in registers.

A thread compiles a chain when it has computed enough elements; no clock decides. Until the kernel is ready, and without llvmlite,
NumPy's own loops compute the chain. The bits are the same either way.
"""

from __future__ import annotations

import ctypes
import math
import os
import platform
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...common.sentinels import DECLINED
from ...common.signal_safety import briefly, imported
from ...ufuncs.facts import INSTRUCTIONS, neutral
from ..loops import SELECTED, cast, select
from ..nodes import Buffer, Elsewhere, Node, Shift, Update, far
from .cells import Cells
from .kernel_source import Call, Chain, Pointer, has, source

# Its imports take as long as a tenth of this package, and many programs compile nothing.
if TYPE_CHECKING:
    from .kernel_compiler import Compiler

__all__ = [
    "DEEPEST", "Group", "Kernel", "Work", "can_compile", "compiled", "counted", "function", "grouped", "mask_of", "numbers_of", "refuse",
]  # fmt: skip

HOT = 1 << 26
"""Work (elements times calls) of all chains from which the compiler is loaded: some 30 ms of NumPy's time, as long as loading takes."""
NEW = 4
"""Divisor of :data:`HOT` for a new chain: it is compiled after a fourth of that work. Another thread takes some 20 ms to compile it."""
KNOWN = 32
"""Divisor of :data:`HOT` for a chain whose code an earlier process has left on disk."""
BESIDE = True
"""Whether NumPy's loops compute while a kernel is compiled; tests set False, to wait for the kernel."""
MOST = 512
"""Maximum number of kernels of a process."""
LONGEST = 40
"""Maximum number of calls of a chain."""
DEEPEST = 3
"""Maximum number of loops of a kernel."""
POINTERS = 24
"""Maximum number of arrays of a kernel."""
LEAST_SHARE = 0.5
"""Minimum share of an array that one kernel computes: below it, writes to parts of an array are left to NumPy."""
OFTEN = 64
"""Number of pieces with an error after which a chain is left to NumPy."""

_FLAGS = {
    "x86_64": {"invalid": 1, "divide": 4, "over": 8, "under": 16},
    "aarch64": {"invalid": 1, "divide": 2, "over": 4, "under": 8},
}
"""Flags of the floating-point status, as in fenv.h."""
_MACHINE = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
_lock = threading.Lock()
"""Held by the thread that uses the compiler."""
_work: dict[Chain, Work] = {}
"""Counts of the work that chains have done."""
_MOST_CHAINS = 1 << 12
_kernels: dict[Any, Any] = {}
"""Key of a chain or function -> its kernel or compiled function; None if LLVM rejects it."""
_on_disk: set[str] | None = None
"""Names of chains that another process has compiled; None until they have been read."""
_worked = 0
"""Work (elements times calls) of all chains without a kernel."""
_jobs: dict[Any, Callable[[], None]] = {}
"""Jobs of the compiler's thread, in order, by the key of the kernel; the job with the key None loads the compiler."""
_thread: threading.Thread | None = None
"""The compiler's thread; it ends when there are no jobs."""
_is_forking = False
"""Whether a fork waits for the compiler's thread, which then ends."""
_is_lost = False
"""Whether the compiler cannot be used: it cannot be loaded, or this process was forked while it was in use."""


def _wait() -> None:
    """Before a fork, wait for the compiler's thread, which the child does not have; briefly, as the forking thread may hold an import lock."""
    global _is_forking
    _is_forking = True
    if _thread is not None:
        _thread.join(1.0)


def _go_on() -> None:
    """Let the compiler's thread run again after a fork; it starts at the next job."""
    global _is_forking
    _is_forking = False


def _forget() -> None:
    """Reset the state in a fork, which has no other thread."""
    global _lock, _thread, _is_lost, _is_forking
    _is_lost = _is_lost or _lock.locked()
    _lock, _thread, _is_forking = threading.Lock(), None, False
    _jobs.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_wait, after_in_parent=_go_on, after_in_child=_forget)


class Group(NamedTuple):
    """Nodes of a stretch that one kernel computes, and the operands that the kernel reads; :func:`grouped` makes it."""

    numbers: list[int]
    chain: Chain
    arrays: list[tuple[str, int, Elsewhere | None]]
    """For each array that the group reads: ``node`` (outside the group) or ``slot``, its number, and the call that reads the array at
    other places, or None."""
    operands: list[list[tuple[str, int]]]
    """Operands of each node: another ``call`` of the group, one of the arrays (``pointer``), or the position of a ``scalar`` operand."""
    cells: Cells | None
    """Cells, if a call reads elements at other places."""
    scalars: list[tuple[int, int, str]]
    """For each scalar: number of the node, position of the operand, and the format in which it is packed."""


def numbers_of(step: Group | int) -> Sequence[int]:
    """Return the numbers of the nodes that a step computes."""
    return step.numbers if isinstance(step, Group) else (step,)


class Kernel:
    """Compiled loop.

    Attributes
    ----------
    mask : int
        Mask of the floating-point status that the kernel checks.
    flagged : int
        Number of pieces with an error, which NumPy had to compute again to identify it.
    """

    def __init__(self, function: Callable[[int, int], int], mask: int) -> None:
        self.function, self.mask = function, mask
        self.address: int = ctypes.cast(function, ctypes.c_void_p).value or 0  # type: ignore[arg-type]
        self.flagged = 0

    def errs_often(self) -> bool:
        """Whether more than :data:`OFTEN` pieces had an error."""
        return self.flagged > OFTEN


def _name(dtype: Any) -> str:
    return dtype.str[1:]


# -- which nodes ---------------------------------------------------------------------------------------------------------


def _op(node: Node, reads: list[tuple[str, int]], arrays: list[Any]) -> str | None:
    """Return the operation of a node's call in a kernel; None if it has none."""
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
    if op == "clip" and not reads[1][0] == reads[2][0] == "scalar":
        return None  # with bounds in arrays, NumPy returns the other one of two zeros
    for what, k in reads:
        if what == "slot" and not (arrays[k].flags.aligned and arrays[k].dtype.isnative):
            return None
    return op


class Work:
    """Counter of the work on a chain so far, by which it is decided when to compile a kernel for the chain. ``done`` is in elements times
    calls; minus infinity for a chain that is left to NumPy's loops.

    Attributes
    ----------
    is_known : bool
        Whether an earlier process has compiled the chain.
    """

    __slots__ = ("chain", "done", "is_known")

    def __init__(self, chain: Chain) -> None:
        self.chain, self.done, self.is_known = chain, 0.0, _is_known(chain)

    @property
    def is_hot(self) -> bool:
        """Whether the chain is worth a kernel."""
        return self.done >= HOT // (KNOWN if self.is_known else NEW)


class _Of(NamedTuple):
    """Nodes of a block, their operands, the arrays, and the list for counts of work."""

    nodes: list[Node]
    reads: list[list[tuple[str, int]]]
    arrays: list[Any]
    cold: list[tuple[Work, int]]


def grouped(
    nodes: list[Node], numbers: list[int], reads: list[list[tuple[str, int]]], arrays: list[Any], cold: list[tuple[Work, int]]
) -> list[Group | int]:  # fmt: skip
    """Divide the nodes of a stretch into groups for a kernel and single nodes, in an order in which they can be computed.

    Parameters
    ----------
    nodes : list of Node
        Nodes of the block.
    numbers : list of int
        Numbers of the nodes in the stretch.
    reads, arrays
        Operands of each node, and the arrays in the slots.
    cold : list
        List to which the counts of chains without a kernel are appended, each with the work that a block adds to it.
    """
    ops = {i: _op(nodes[i], reads[i], arrays) for i in numbers} if can_compile() else {}
    if sum(op is not None for op in ops.values()) < 2 and "select" not in ops.values():
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
        if made is None:  # again, without the nodes that read at other places
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
            order.append(i)  # before the group, because it needs none of its results
            continue
        shifts = isinstance(node.form.func, Shift)
        more = {each for each in _read(of, i) if each[0] == "slot" or (each[0] == "node" and each[1] not in open_)}
        is_full = len(open_) == LONGEST or len(pointers | more) > POINTERS
        # A shift must read the old values before others are written in their place.
        if is_full or (shifts and inside) or (node.target is not None and shifted):
            close()
        pointers |= more
        shifted = shifted or shifts
        open_.append(i)
        members.add(id(node))
    close()
    return order


def _read(of: _Of, i: int) -> Iterator[tuple[str, int, Elsewhere | None]]:
    """Yield the operands of a node, each with the call that reads it at other places, or None."""
    func = far(of.nodes[i])
    for j, (what, k) in enumerate(of.reads[i]):
        yield what, k, func if func is not None and (j or isinstance(func, Shift)) else None


def _neutral(func: Update, node: Node) -> float | None:
    return neutral(func.func, node.dtype, _dtype(node.args[1]))


def _dtype(x: Any) -> np.dtype[Any]:
    return (x.array if type(x) is Buffer else x).dtype


def _made(numbers: list[int], ops: dict[int, str | None], of: _Of) -> list[Group | int] | None:
    """Return a list with a group of the nodes ``numbers`` if it is worth a kernel, else with the nodes, and count their work in ``of.cold``.
    Return None if nodes that read at other places should be left out. ``ops``: number of a node -> its operation in kernels.
    """
    if len(numbers) < 2 and not any(ops[i] == "select" for i in numbers):
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
    if not ((work := _work_of(chain)).is_hot and _is_ready()):
        if work.done >= 0:
            slow = sum(ops[i] == "select" for i in numbers)
            of.cold.append((work, nodes[numbers[0]].size * (len(numbers) + (SELECTED - 1) * slow)))
        return list(numbers)
    if not work.is_known:
        work.is_known = True
        _ask(work, lambda: _disk().remember(_named(chain)))
    return [Group(list(numbers), chain, list(arrays), operands, cells, scalars)]


_PACKED = {("f", 8): "d", ("f", 4): "f"}
"""Kind and item size of a dtype -> format in which a number is packed into eight bytes; others are packed as integers."""


def counted(cold: list[tuple[Work, int]]) -> bool:
    """Count the work of a block, and return whether a chain in it has become worth a kernel."""
    global _worked
    is_hot = False
    for work, more in cold:
        work.done += more
        _worked += more
        is_hot = is_hot or work.is_hot
    if _worked >= HOT and not (_is_ready() or _is_lost):
        _ask(None, _load)  # a short program has ended before
    return is_hot and _is_ready()


def _work_of(chain: Chain) -> Work:
    """Return the count of work for a chain."""
    found = _work.get(chain)
    if found is None:
        if len(_work) >= _MOST_CHAINS:
            _work.clear()
        found = _work[chain] = Work(chain)
    return found


def _is_known(chain: Chain) -> bool:
    """Whether an earlier process has compiled this chain."""
    global _on_disk
    if _on_disk is None:
        _on_disk = _disk().remembered()
    return bool(_on_disk) and _named(chain) in _on_disk


def _named(chain: Chain) -> str:
    hashlib: Any = imported("hashlib")
    return str(hashlib.sha256(repr(chain).encode()).hexdigest())


def _disk() -> Any:
    """Return the module that reads and writes kernels on disk, imported on first use."""
    return imported("arraydispatch.engine.host_blocks.kernel_compiler")


# -- compiling -----------------------------------------------------------------------------------------------------------


@cache
def can_compile() -> bool:
    """Whether there is a compiler, and the processor's floating-point status is known."""
    if _MACHINE not in _FLAGS or os.environ.get("ARRAYDISPATCH_KERNELS") == "0":
        return False
    is_there: bool = _disk().is_there()
    return is_there


@cache
def _compiler() -> Compiler:
    made: Compiler = _disk().Compiler()
    return made


def _is_ready() -> bool:
    return not BESIDE or _compiler.cache_info().currsize > 0


def _load() -> None:
    global _is_lost
    try:
        _compiler()
    except Exception:  # noqa: BLE001 -- whatever keeps it from being loaded: NumPy's loops compute
        _is_lost = True


def _ask(key: Any, job: Callable[[], None]) -> None:
    """Append a job for the compiler's thread. The job must not raise."""
    _jobs.setdefault(key, job)
    if _thread is None or not _thread.is_alive():
        briefly(_begin)  # a thread's start waits for the new thread
    if not BESIDE and _thread is not None and _thread.is_alive():
        _thread.join()


def _begin() -> None:
    global _thread
    if not _lock.locked():  # else another thread has begun it
        made = threading.Thread(target=_do, name="arraydispatch compiler")
        with suppress(RuntimeError):  # no thread can be started: NumPy's loops compute
            made.start()
            _thread = made


def _do() -> None:
    """Do the jobs, in the compiler's thread. Jobs that are left at the end of the program are dropped."""
    with _lock:
        while True:
            jobs = list(_jobs)
            if not jobs or _is_forking or not threading.main_thread().is_alive():
                return
            _jobs[jobs[0]]()
            del _jobs[jobs[0]]


def refuse(chain: Chain) -> None:
    """Leave a chain to NumPy's loops from now on."""
    _work_of(chain).done = -math.inf


def mask_of(told: Sequence[dict[str, Any] | None]) -> int:
    """Return the bits of the floating-point status to check: the errors that some ``np.errstate`` modes in ``told`` set to "warn"."""
    heard = [modes for modes in told if modes is not None]
    return sum(flag for mode, flag in _FLAGS[_MACHINE].items() if any(modes[mode] == "warn" for modes in heard))


def compiled(chain: Chain, depth: int, pointers: tuple[Pointer, ...], results: Any, mask: int, kept: Any) -> Any:
    """Return the kernel of a chain, or None or ``DECLINED`` (see :func:`made`).

    The parameters are those of :func:`~arraydispatch.engine.host_blocks.kernel_source.source`.
    """
    key = chain, depth, pointers, results, mask, kept
    return made(key, lambda: Kernel(_compiler()(source(*key)), mask))


def made(key: Any, make: Callable[[], Any]) -> Any:
    """Return the kernel of ``key``, which ``make`` compiles; None until it is compiled; ``DECLINED`` if there are too many kernels, nothing
    can be compiled, or LLVM rejects this one.
    """
    found = _kernels.get(key, DECLINED)
    if found is not DECLINED or len(_kernels) >= MOST or _is_lost or not can_compile():
        return DECLINED if found is None else found

    def compile_it() -> None:
        if key not in _kernels:
            try:
                _kernels[key] = make()
            except Exception:  # noqa: BLE001 -- whatever keeps LLVM from it: NumPy's loops do it
                _kernels[key] = None

    _ask(key, compile_it)
    found = _kernels.get(key, DECLINED)
    return None if found is DECLINED else DECLINED if found is None else found


def function(key: Any, source_for: Callable[[int], str]) -> Any:
    """Return the compiled function of ``key``, which takes two addresses; or None or ``DECLINED`` (see :func:`made`).

    ``source_for``: makes the source from the mask of all errors except underflow.
    """
    mask = sum(_FLAGS[_MACHINE].values()) - _FLAGS[_MACHINE]["under"] if can_compile() else 0
    return made(key, lambda: _compiler()(source_for(mask)))
