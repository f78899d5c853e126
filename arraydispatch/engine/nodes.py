"""A node: one recorded call. It stands in an array's slots until the value is there."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from copy import copy
from itertools import accumulate, islice
from math import prod
from operator import mul
from sys import getrefcount
from types import CodeType
from typing import Any, NamedTuple
from weakref import ref

import numpy as np

from .._core import machine
from ..memory.views import NEVER

__all__ = [
    "Bound", "Box", "Buffer", "Collector", "Elsewhere", "Form", "Node", "PendingView", "Place", "Shift", "Update", "Whole", "collector", "elsewhere", "far", "like", "strides_of",
]  # fmt: skip


class Collector:
    """Python's garbage collector, held off while a tape is between two states, or threads compute: it calls finalizers, which may compute.

    A finalizer that met a tape half changed would change it, too; in a thread that computes, it would wait for a value that this thread is
    to compute. Handlers of signals come less often, between two steps of Python code: a tape is ready for them there.
    """

    __slots__ = ("_holds", "_was_on")

    def __init__(self) -> None:
        self._holds, self._was_on = 0, False

    def hold(self) -> None:
        """Have nothing collected until :meth:`let` is called as often as this."""
        was_on = machine.turn_collector_off()
        self._was_on = was_on or (self._was_on and self._holds > 0)  # others may have turned it on meanwhile
        self._holds += 1

    def let(self) -> None:
        """Let it collect what has become garbage meanwhile, from Python's next allocation on, unless others hold it."""
        if self._holds:  # else in a fork, which has begun anew
            self._holds -= 1
            if not self._holds and self._was_on:
                machine.turn_collector_on()

    def catch_up(self) -> None:
        """Collect what is due while other threads hold it, each for itself: there may be one that does at any time."""
        if self._holds and self._was_on:
            counts, most = gc.get_count(), gc.get_threshold()
            if 0 < most[0] < counts[0]:
                gc.collect(1 + (counts[2] > most[2]) if counts[1] > most[1] else 0)

    def begin(self) -> None:
        """Let it go on in a fork, whose other threads are gone."""
        self._holds = min(self._holds, 1)
        self.let()


collector = Collector()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=collector.begin)


class Place:
    """Place in the user's code that a warning names.

    Attributes
    ----------
    code : CodeType
    instruction : int
        Its place in the bytecode, of which Python finds the line when somebody asks.
    names : dict
        The globals of its module.
    filters : tuple
        Warning filters in force at the call.
    modes : dict or None
        Modes of ``np.errstate`` in force at the call; None if all errors are ignored.
    largest : int
        Elements up to which calls are not recorded, because it was not worth it.
    alone, larger : int
        Blocks in a row, with calls on more elements than that, that were not worth it either; the most of their elements.
    block : int
        Number of the last such block.
    skipped, again : int
        Calls that were not recorded since one was; number of them after which one is.
    is_trial : bool
        Whether the next call is that one.
    """

    __slots__ = (
        "again",
        "alone",
        "block",
        "code",
        "filters",
        "instruction",
        "is_trial",
        "larger",
        "largest",
        "modes",
        "names",
        "skipped",
    )

    def __init__(
        self, code: CodeType, instruction: int, names: dict[str, Any], filters: tuple[Any, ...], modes: dict[str, Any] | None,
        before: Place | None = None,
    ) -> None:  # fmt: skip
        self.code, self.instruction, self.names, self.filters, self.modes = code, instruction, names, filters, modes
        self.alone = self.block = self.larger = self.largest = self.skipped = 0
        self.again, self.is_trial = AGAIN, False
        if before is not None:
            self.largest, self.again = before.largest, before.again

    def declines(self, size: Any) -> bool:
        """Whether recording a call of this size only costs time, by what came of the last ones; now and then it is tried again."""
        if self.is_open(size):
            return False
        self.skipped += 1
        self.is_trial = self.skipped >= self.again
        return not self.is_trial

    def is_open(self, size: Any) -> bool:
        """Whether a call of this size is recorded, if it can be."""
        return self.is_trial or size > self.largest

    def put_off(self) -> None:
        """Have the next trial later, as after one that tells nothing, or that it does not pay."""
        self.is_trial, self.skipped = False, 0
        self.again = min(2 * self.again, _MOST_AGAIN)

    def learn(self, size: Any, pays: Any, block: Any = 0) -> None:
        """Note whether a block was worth recording a call of this size; ``block``: its number, 0 for a call by itself."""
        tried = self.is_trial
        if tried:
            self.is_trial, self.skipped = False, 0
        if pays:
            self.alone = 0
            if size <= self.largest:
                self.largest, self.again = 0, AGAIN
        elif size > self.largest:
            if block != self.block or not block:  # a loop in one block has many calls of a place
                self.alone += 1
                self.block = block
            self.larger = max(self.larger, size)
            if self.alone >= ALONE:
                self.largest, self.larger, self.alone = self.larger, 0, 0
        elif tried:
            self.put_off()

    @property
    def line(self) -> int:
        """The line, from 1 on."""
        lines = next(islice(self.code.co_positions(), self.instruction // 2, None), (None,))
        return lines[0] or self.code.co_firstlineno


class Whole(NamedTuple):
    """Rule for a reduction to one element in parts."""

    unit: int
    """Numbers in an element, where the parts are those in which NumPy sums, pair by pair; 0 where any parts will do."""
    join: Callable[[Any, Any], Any]
    """Two parts' results, put together."""


class Bound:
    """Step of a stretch that gets the bounds of each piece instead of its operands."""

    def worker(
        self, block: Any, stretch: Any, values: list[Any], scratch: dict[int, int]
    ) -> Callable[[int, int, list[int]], None]:
        """Return the function that a thread calls for each piece.

        ``values``: contents of the registers of the stretch; ``scratch``: the addresses of the thread's own memory.
        """
        raise NotImplementedError

    def looked(self) -> set[int]:
        """Return the registers that NumPy's loops use."""
        raise NotImplementedError


Box = tuple[tuple[int, int], ...]
"""Bounds of a part of an array along each axis."""


class Elsewhere:
    """Call of a node that computes an element from an element of the operand at another place."""

    def cuts(self) -> list[tuple[int, ...]]:
        """Along each axis, where it begins to take elements at another distance, or to take none."""
        raise NotImplementedError

    def distance(self, cell: Box) -> tuple[int, ...] | None:
        """Return the distance from an element of a box without cuts to the element that it takes; None if it takes none there."""
        raise NotImplementedError


class Shift(Elsewhere):
    """Call of a node that computes a piece from more than the same piece of the operand."""

    reads_other_rows = True

    def __call__(self, x: Any, out: Any) -> None:
        """Compute the whole result."""
        raise NotImplementedError

    def rows(self, x: Any, begin: int, end: int, out: Any) -> None:
        """Compute the rows from ``begin`` to ``end``."""
        raise NotImplementedError


class Update(Elsewhere):
    """Call of a node that writes its second operand, which may have another shape, to a part of its first, which is the value.

    ``func``: ufunc of the part and the second operand whose result is written; None if the second operand itself is.
    """

    func: np.ufunc | None

    def __call__(self, x: Any, y: Any, out: Any) -> None:
        """Compute the whole result, in place if ``out`` is ``x``."""
        raise NotImplementedError

    def is_dense(self) -> bool:
        """Whether no element is left out between two that are written, along any axis."""
        raise NotImplementedError

    def laid(self, y: Any) -> Any:
        """Return the second operand in the shape in which parts of it are read."""
        raise NotImplementedError

    def rows(self, y: Any, begin: int, end: int, out: Any) -> None:
        """Write the rows from ``begin`` to ``end`` in place."""
        raise NotImplementedError

    def line(self, y: Any, begin: int, end: int, out: Any) -> None:
        """Write the elements from ``begin`` to ``end``, in memory order, in place."""
        raise NotImplementedError


class Buffer:
    """ndarray that nodes of a tape read, with its layout for arrays of one kind.

    ``number``: -1 for the first buffer of a tape, -2 for the next; ``memory``: key of its memory in :data:`arraydispatch.memory.views.waiting`.
    """

    __slots__ = ("array", "kind", "laid", "memory", "number")

    array: np.ndarray[Any, Any]
    number: int
    memory: int
    kind: Any
    laid: object

    def laid_as(self, kind: Any) -> object:
        """Return the key of the ndarray's layout in an array of this kind, the same object as in :attr:`Form.laid`."""
        if self.kind is not kind:
            self.kind, self.laid = kind, laid(kind, self.array.shape, self.array.strides)
        return self.laid

    def is_dead(self) -> bool:
        """Whether only the block refers to the ndarray, so that results may overwrite it."""
        if getrefcount(self.array) != _ALONE or self.array.base is not None:
            return False
        flags = self.array.flags  # which is a reference too
        return flags.owndata and flags.writeable


def buffer_of(array: Any, number: Any, memory: Any) -> Buffer:
    """Make a buffer without a layout, which the first call that reads it determines."""
    made: Buffer = Buffer.__new__(Buffer)
    made.array, made.number, made.memory, made.kind, made.laid = array, number, memory, None, None
    return made


def _references() -> int:
    """Return the reference count of an ndarray that only a buffer refers to, as :meth:`Buffer.is_dead` sees it."""
    one = buffer_of(np.empty(0), 0, 0)
    return getrefcount(one.array)


_ALONE = _references()


class Form:
    """Facts about every call of a function on operands of these dtypes, shapes and layouts. It is made once.

    Attributes
    ----------
    func : callable
        A ufunc, or what is called as one, with ``out`` last.
    held : Kind
        The kind of the result, in the host state.
    shape, dtype, size, ndim, nbytes
        Of the result.
    ins : tuple of dtype or None
        In which dtypes it takes its operands; None of what no kernel computes.
    weak : tuple of int
        Which operands are Python scalars, whose values have to fit.
    reports : bool
        Whether an element may be a floating-point error.
    row : bool
        Whether pieces are parts along the first axis; else of the memory as it lies.
    fortran : bool
        Whether the result lies in Fortran's order.
    pinned : bool
        Whether pieces have to begin where they do not change an element's bits, which no row does.
    span : tuple of int
        The shape that it goes over: that of the result, or of what is reduced to it.
    halved : Whole or None
        How the parts of a reduction to one element are put together; None for others.
    least : int
        What ``call_nodes.least`` may be at most, so that it is worth recording.
    work : int
        Time that it takes: in that of a sum of two numbers of eight bytes.
    laid : object
        Key of the result's kind, shape and memory order, for the calls that read it.
    """

    __slots__ = (
        "_by_rows", "dtype", "fortran", "func", "halved", "held", "ins", "laid", "least", "nbytes", "ndim", "pinned", "reports", "row", "shape", "size",
        "span", "weak", "work",
    )  # fmt: skip

    def __init__(
        self, func: Callable[..., Any], held: Any, shape: tuple[int, ...], work: float, *, row: bool = False, fortran: bool = False,
        pinned: bool = False, ins: tuple[np.dtype[Any], ...] | None = None, weak: tuple[int, ...] = (), reports: bool = False,
        span: tuple[int, ...] | None = None, halved: Whole | None = None,
    ) -> None:  # fmt: skip
        self.func, self.held, self.shape, self.work = func, held, shape, int(work)
        self.row, self.fortran, self.pinned, self.ins, self.weak, self.reports = (
            row,
            fortran,
            pinned,
            ins,
            weak,
            reports,
        )
        self.span, self.halved = shape if span is None else span, halved
        self.dtype, self.size, self.ndim = held.dtype, prod(shape), len(shape)
        self.nbytes = self.size * self.dtype.itemsize
        self.least = min(self.size, self.work)
        self.laid = laid(held, shape, fortran)
        self._by_rows: Form | None = None

    def by_rows(self) -> Form:
        """Return a form of the same call whose pieces are parts along the first axis."""
        if self.row:
            return self
        if self._by_rows is None:
            made = copy(self)
            made.row = True
            self._by_rows = made
        return self._by_rows

    def reduces(self) -> bool:
        """Whether the result has another shape than the elements that the call traverses."""
        return self.span is not self.shape


_LAID: dict[Any, object] = {}
_MOST_LAID = 1 << 14


def laid(kind: Any, shape: Any, how: Any) -> Any:
    """Return one object for equal kinds, shapes and layouts, which is compared by identity. ``how``: the strides, or whether they are Fortran's."""
    known = kind, shape, how
    found = _LAID.get(known)
    if found is None:
        if len(_LAID) >= _MOST_LAID:
            _LAID.clear()  # what is known of calls by those that are gone is made anew
        found = _LAID.setdefault(known, object())
    return found


ALONE = 8
"""Number of consecutive blocks that did not pay, as those of a single call, after which calls at a place are no longer recorded."""
AGAIN = 64
"""Number of calls at a place that are not recorded any more, after which one is recorded as a trial; twice as many after each that fails."""
_MOST_AGAIN = 1 << 13
"""Largest such number."""


class Node:
    """Recorded call, in an array's ``_v``, ``_kind`` and ``_root`` while it is pending.

    The general path asks ``_kind`` for the backend, and ``_root`` for the number of writes, before it reads ``_v``; whoever asks
    a node for anything but dtype and shape has the block run, after which the array is one in the host state. So nothing but
    what records needs to know that there are pending arrays: the thin path sees that the value is no ndarray.

    Attributes
    ----------
    form : Form
        The call, and what is known of its result.
    dtype, shape, size, ndim
        Of the value.
    args : tuple
        Nodes, buffers and scalars.
    number : int
        Position on its tape.
    told : dict or None
        The modes of ``np.errstate``, where an error is to be told.
    place : Place or None
        Where.
    handle : weak reference or None
        To the array.
    target : ndarray or None
        Memory that the value is written to, which no other node reads.
    tape : Tape or None
        Where it waits; None once it has a value.
    value : ndarray or None
        The value, where somebody may want it.
    """

    __slots__ = (
        "args", "dtype", "form", "handle", "ndim", "number", "place", "shape", "size", "tape", "target", "told", "value",
    )  # fmt: skip

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    size: int
    ndim: int
    form: Form
    args: tuple[Any, ...]
    number: int
    told: dict[str, Any] | None
    place: Place | None
    handle: Any
    tape: Any
    target: np.ndarray[Any, Any] | None
    value: np.ndarray[Any, Any] | None

    @property
    def is_held(self) -> bool:
        """Whether its array is still there."""
        return self.handle is not None and self.handle() is not None

    def run(self, *why: str) -> None:
        """Have a value; at once, if there is one."""
        while (tape := self.tape) is not None:
            tape.run(*why)

    @property
    def _writes(self) -> int:
        self.run()
        return NEVER

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise AttributeError(name)
        self.run()
        return getattr(self.form.held, name)


_NOTHING = np.zeros(64, np.uint8)


def strides_of(shape: tuple[int, ...], itemsize: int, fortran: bool) -> tuple[int, ...]:
    """Return the strides of a new array."""
    lengths = shape if fortran else shape[::-1]
    steps = tuple(accumulate((itemsize, *lengths[:-1]), mul))[: len(shape)]
    return steps if fortran else steps[::-1]


def like(form: Form) -> np.ndarray[Any, Any]:
    """Return an array with the dtype, shape and strides of a result that has no memory yet; its values mean nothing."""
    steps = strides_of(form.shape, form.dtype.itemsize, form.fortran)
    one = _NOTHING[: form.dtype.itemsize].view(form.dtype)
    return np.lib.stride_tricks.as_strided(one, form.shape, steps, writeable=False)


def far(node: Node) -> Elsewhere | None:
    """Return the call of a node if it reads elements at other places, else None."""
    func: Any = node.form.func
    return func if isinstance(func, Elsewhere) else None


def elsewhere(func: Any) -> int:
    """Return the position of the first operand of which a piece of a call reads more than the same piece."""
    if isinstance(func, Update):
        return 1
    return 0 if isinstance(func, Shift) and func.reads_other_rows else _MANY


_MANY = 1 << 10


class PendingView:
    """A part of a pending root, in a view's ``_v``, ``_kind`` and ``_root`` until the root has its value.

    Whoever asks it for anything but dtype and shape has the block run, as of a node.
    """

    __slots__ = ("dtype", "key", "ndim", "root", "shape", "size", "view", "window")

    def __init__(self, view: Any, root: Any, window: Any, dtype: np.dtype[Any], key: Any) -> None:
        self.view, self.root, self.window, self.key = ref(view), root, window, key
        self.dtype, self.shape, self.size = dtype, window.shape, window.size
        self.ndim = len(self.shape)

    def run(self, *why: str) -> None:
        """Have a value."""
        while type(node := self.root._v) is Node:
            node.run(*why)
        self.settle()

    def settle(self) -> None:
        """Be a view of the root's value, if that is there. Begun twice, it comes to the same."""
        view, value, kind = self.view(), self.root._v, self.root._kind
        if view is not None and view._v is self and type(value) is not Node:
            view._kind = kind
            view._v = value[self.window.key]
            view._root = None

    @property
    def _writes(self) -> int:
        self.run()
        return NEVER

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise AttributeError(name)
        self.run()
        return getattr(self.root._kind, name)
