"""Nodes of fused execution: a node is one recorded call, held by an array in place of its value until that is computed."""

from __future__ import annotations

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

from ..memory.views import NEVER

__all__ = [
    "Bound", "Box", "Buffer", "Elsewhere", "Form", "Node", "PendingView", "Place", "Shift", "Update", "Whole", "elsewhere", "far", "like", "strides_of",
]  # fmt: skip


class Place:
    """Place in the user's code that a warning names.

    Attributes
    ----------
    code : CodeType
    instruction : int
        Position in the bytecode; the line is computed from it on demand.
    names : dict
        Globals of the module.
    filters : tuple
        Warning filters in force at the call.
    modes : dict or None
        Modes of ``np.errstate`` in force at the call; None if all errors are ignored.
    largest : int
        Number of elements up to which calls are not recorded, because recording did not pay.
    alone, larger : int
        Number of consecutive blocks with larger calls that did not pay either, and the largest number of elements in them.
    block : int
        Number of the last such block.
    skipped, again : int
        Number of calls not recorded since the last recorded one, and the number after which one is recorded as a trial.
    is_trial : bool
        Whether the next call is recorded as a trial.
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
        """Count a call of this size. Return True if it should not be recorded, because recording the last ones did not pay; at times one is
        recorded as a trial.
        """
        if self.is_open(size):
            return False
        self.skipped += 1
        self.is_trial = self.skipped >= self.again
        return not self.is_trial

    def is_open(self, size: Any) -> bool:
        """Whether a call of this size should be recorded, if it can be."""
        return self.is_trial or size > self.largest

    def put_off(self) -> None:
        """Double the number of calls before the next trial, after one that did not pay or gave no answer."""
        self.is_trial, self.skipped = False, 0
        self.again = min(2 * self.again, _MOST_AGAIN)

    def learn(self, size: Any, pays: Any, block: Any = 0) -> None:
        """Note whether recording a call of this size paid. ``block``: number of its block, 0 for each call to count by itself."""
        tried = self.is_trial
        if tried:
            self.is_trial, self.skipped = False, 0
        if pays:
            self.alone = 0
            if size <= self.largest:
                self.largest, self.again = 0, AGAIN
        elif size > self.largest:
            if block != self.block or not block:  # a loop in one block has many calls at one place
                self.alone += 1
                self.block = block
            self.larger = max(self.larger, size)
            if self.alone >= ALONE:
                self.largest, self.larger, self.alone = self.larger, 0, 0
        elif tried:
            self.put_off()

    @property
    def line(self) -> int:
        """Line number, from 1 on."""
        lines = next(islice(self.code.co_positions(), self.instruction // 2, None), (None,))
        return lines[0] or self.code.co_firstlineno


class Whole(NamedTuple):
    """Rule by which a reduction to one element is computed in parts, so that the result has NumPy's bits."""

    unit: int
    """Numbers in an element, if the parts must be those of NumPy's pairwise sum; 0 if any parts will do."""
    join: Callable[[Any, Any], Any]
    """Combines the results of two parts."""


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
        """Return the registers that NumPy's loops read or write."""
        raise NotImplementedError


Box = tuple[tuple[int, int], ...]
"""Bounds of a part of an array along each axis."""


class Elsewhere:
    """Base class of the ``func`` of nodes that compute an element from an element of the operand at another position."""

    def cuts(self) -> list[tuple[int, ...]]:
        """Return, for each axis, the positions at which the distance to the elements read changes or reading ends."""
        raise NotImplementedError

    def distance(self, cell: Box) -> tuple[int, ...] | None:
        """Return the distance from an element in a box without cuts to the element read for it; None if none is read there."""
        raise NotImplementedError


class Shift(Elsewhere):
    """Base class of the ``func`` of nodes that, for a piece, read other rows of the operand than those of the piece."""

    reads_other_rows = True

    def __call__(self, x: Any, out: Any) -> None:
        """Compute the whole result."""
        raise NotImplementedError

    def rows(self, x: Any, begin: int, end: int, out: Any) -> None:
        """Write the rows from ``begin`` to ``end`` of the result to ``out``. ``x``: the whole operand."""
        raise NotImplementedError


class Update(Elsewhere):
    """Call of a node whose result is its first operand with a part overwritten by the second operand.

    ``func``: ufunc of the part and the second operand, whose result is written; None to write the second operand itself.
    """

    func: np.ufunc | None

    def __call__(self, x: Any, y: Any, out: Any) -> None:
        """Compute the whole result, in place if ``out`` is ``x``."""
        raise NotImplementedError

    def is_dense(self) -> bool:
        """Whether the written part has no gaps along any axis."""
        raise NotImplementedError

    def laid(self, y: Any) -> Any:
        """Return the second operand in the shape in which parts of it are read."""
        raise NotImplementedError

    def rows(self, y: Any, begin: int, end: int, out: Any) -> None:
        """Write the rows from ``begin`` to ``end`` of the part in place, in ``out``. ``y``: the second operand."""
        raise NotImplementedError

    def line(self, y: Any, begin: int, end: int, out: Any) -> None:
        """Write the elements from ``begin`` to ``end`` of the part, in memory order, in place, in ``out``. ``y``: the second operand."""
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
        flags = self.array.flags  # a further reference
        return flags.owndata and flags.writeable


def buffer_of(array: Any, number: Any, memory: Any) -> Buffer:
    """Make a :class:`Buffer` of the ndarray ``array``. Its layout is determined by the first call that reads it."""
    made: Buffer = Buffer.__new__(Buffer)
    made.array, made.number, made.memory, made.kind, made.laid = array, number, memory, None, None
    return made


def _references() -> int:
    """Return the reference count of an ndarray that only a buffer refers to, with the reference that :meth:`Buffer.is_dead` adds."""
    one = buffer_of(np.empty(0), 0, 0)
    return getrefcount(one.array)


_ALONE = _references()


class Form:
    """Facts about every call of a function on operands of these dtypes, shapes and layouts. It is made once.

    Attributes
    ----------
    func : callable
        A ufunc, or a function called like one, with ``out`` last.
    held : Kind
        Kind of the result, in the host state.
    shape, dtype, size, ndim, nbytes
        Properties of the result.
    ins : tuple of dtype or None
        Dtypes to which the operands are converted; None for calls that no kernel computes.
    weak : tuple of int
        Positions of operands that are Python scalars, whose values must fit.
    reports : bool
        Whether an element may cause a floating-point error.
    row : bool
        Whether pieces are parts along the first axis; else they are parts of the memory.
    fortran : bool
        Whether the result is in Fortran order.
    pinned : bool
        Whether an element's bits may depend on where a piece begins, so that pieces are multiples of ``block_plans.STEP``, never rows.
    span : tuple of int
        Shape that the call iterates over: that of the result, or of the operand of a reduction.
    halved : Whole or None
        Rule for combining the parts of a reduction to one element; None for other calls.
    least : int
        Largest ``call_nodes.least`` for which the call is recorded.
    work : int
        Time of the call, in additions of eight-byte numbers.
    laid : object
        Key of the result's kind, shape and memory order, for calls that read it.
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
    """Return an object that is the same for equal kinds, shapes and layouts. ``how``: the strides, or whether the order is Fortran's."""
    known = kind, shape, how
    found = _LAID.get(known)
    if found is None:
        if len(_LAID) >= _MOST_LAID:
            _LAID.clear()  # forms that were found by the old objects are made again
        found = _LAID.setdefault(known, object())
    return found


ALONE = 8
"""Number of consecutive blocks that did not pay, such as blocks of a single call, after which calls at a place are no longer recorded."""
AGAIN = 64
"""Number of unrecorded calls at a place after which one is recorded as a trial; doubled after each trial that fails."""
_MOST_AGAIN = 1 << 13
"""Maximum of :data:`AGAIN` after failed trials."""


class Node:
    """Recorded call, in an array's ``_v``, ``_kind`` and ``_root`` while the array is pending.

    Before the general path reads ``_v``, it asks ``_kind`` for the backend and ``_root`` for the number of writes. Any access to a node
    except dtype and shape runs the block, and then the array is in the host state. So only the recording code knows about pending
    arrays. (The thin path sees that the value is not an ndarray.)

    Attributes
    ----------
    form : Form
        The call, and facts about its result.
    dtype, shape, size, ndim
        Properties of the value.
    args : tuple
        Operands: nodes, buffers and scalars.
    number : int
        Position on the tape.
    told : dict or None
        The modes of ``np.errstate``, if errors must be reported.
    place : Place or None
        Place in the user's code for these reports.
    handle : weak reference or None
        Reference to the array.
    target : ndarray or None
        Memory for the value; no other node reads it.
    tape : Tape or None
        Tape on which the node is pending; None once it is computed.
    value : ndarray or None
        The value, if an array or a later node needs it.
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
        """Whether the node's array still exists."""
        return self.handle is not None and self.handle() is not None

    def run(self, *why: str) -> None:
        """Run the tape, unless the value is computed. ``why``: reason to report, at most one."""
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
    """Return the strides of a new contiguous array, in Fortran order if ``fortran``, else in C order."""
    lengths = shape if fortran else shape[::-1]
    steps = tuple(accumulate((itemsize, *lengths[:-1]), mul))[: len(shape)]
    return steps if fortran else steps[::-1]


def like(form: Form) -> np.ndarray[Any, Any]:
    """Return a stand-in for a result of this form that has no memory yet: a read-only array of its dtype, shape and strides."""
    steps = strides_of(form.shape, form.dtype.itemsize, form.fortran)
    one = _NOTHING[: form.dtype.itemsize].view(form.dtype)
    return np.lib.stride_tricks.as_strided(one, form.shape, steps, writeable=False)


def far(node: Node) -> Elsewhere | None:
    """Return the call of a node if it reads elements at other places, else None."""
    func: Any = node.form.func
    return func if isinstance(func, Elsewhere) else None


def elsewhere(func: Any) -> int:
    """Return the position from which on a call reads its operands at other elements than those that it computes; a number larger than any
    position if there is no such operand.
    """
    if isinstance(func, Update):
        return 1
    return 0 if isinstance(func, Shift) and func.reads_other_rows else _MANY


_MANY = 1 << 10


class PendingView:
    """View of a pending root, in the view's ``_v``, ``_kind`` and ``_root`` until the root has its value.

    As for a node, any access except dtype and shape runs the block.
    """

    __slots__ = ("dtype", "key", "ndim", "root", "shape", "size", "view", "window")

    def __init__(self, view: Any, root: Any, window: Any, dtype: np.dtype[Any], key: Any) -> None:
        self.view, self.root, self.window, self.key = ref(view), root, window, key
        self.dtype, self.shape, self.size = dtype, window.shape, window.size
        self.ndim = len(self.shape)

    def run(self, *why: str) -> None:
        """Run the root's tape, then :meth:`settle`."""
        while type(node := self.root._v) is Node:
            node.run(*why)
        self.settle()

    def settle(self) -> None:
        """Make the array a view of the root's value, if that is computed. May be called twice."""
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
