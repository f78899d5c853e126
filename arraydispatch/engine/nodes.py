"""A node: one recorded call. It stands in an array's slots until the value is there."""

from __future__ import annotations

from collections.abc import Callable
from sys import getrefcount
from typing import Any, NamedTuple

import numpy as np

__all__ = ["Bound", "Buffer", "Node", "Place", "Shift", "Whole", "shifts"]

NEVER = -1
"""What :data:`arraydispatch.views.NEVER` is."""


class Place(NamedTuple):
    """A line of the user's, of which a warning tells."""

    file: str
    line: int
    names: dict[str, Any]
    """The globals of its module."""
    filters: tuple[Any, ...]
    """The warning filters there were."""


class Whole(NamedTuple):
    """How a reduction to one element is done in parts."""

    unit: int
    """Numbers in an element, where the parts are those in which NumPy sums, pair by pair; 0 where any parts will do."""
    join: Callable[[Any, Any], Any]
    """Two parts' results, put together."""


class Bound:
    """What a stretch does of which a piece is told where it begins and ends, instead of being handed its operands."""

    def worker(self, values: list[Any], scratch: dict[int, int]) -> Callable[[int, int, list[int]], None]:
        """What a thread calls for each piece. ``values``: of the registers; ``scratch``: the addresses of its own memory."""
        raise NotImplementedError


class Shift:
    """The call of a node of which a piece may be made of others than its own part of the operand."""

    reads_other_rows = True

    def __call__(self, x: Any, out: Any) -> None:
        """All of it."""
        raise NotImplementedError

    def rows(self, x: Any, begin: int, end: int, out: Any) -> None:
        """Its rows from ``begin`` to ``end``."""
        raise NotImplementedError


class Buffer:
    """An ndarray that nodes read, and the number of the last one."""

    __slots__ = ("array", "last")

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self.array = array
        self.last = -1

    def is_dead(self) -> bool:
        """Whether nobody but the block has it: then results may take its place."""
        if getrefcount(self.array) != 2 or self.array.base is not None:  # the buffer's own, and that of the question
            return False
        flags = self.array.flags  # which is a reference too
        return flags.owndata and flags.writeable


class Node:
    """One recorded call, in an array's ``_v``, ``_kind`` and ``_root`` while it is pending.

    The general path asks ``_kind`` for the backend, and ``_root`` for the number of writes, before it reads ``_v``; whoever asks
    a node for anything but dtype and shape has the block run, after which the array is one in the host state. So nothing but
    what records needs to know that there are pending arrays: the thin path sees that the value is no ndarray.

    Attributes
    ----------
    dtype, shape, size, ndim
        Of the value.
    held : Kind
        The kind of the array, in the host state.
    func : callable
        A ufunc, or what is called as one, with ``out`` last.
    args : tuple
        Nodes, buffers and scalars.
    ins : tuple of dtype or None
        In which dtypes it takes them; None of what no kernel computes.
    row : bool
        Whether pieces are parts along the first axis; else of the memory as it lies.
    fortran : bool
        Whether the result lies in Fortran's order.
    pinned : bool
        Whether pieces have to begin where they do not change an element's bits, which no row does.
    span : tuple of int
        The shape that it goes over: that of the value, or of what is reduced to it.
    halved : Whole or None
        How the parts of a reduction to one element are put together; None for others.
    work : int
        Time that it takes: in that of a sum of two numbers of eight bytes.
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
        "args", "dtype", "fortran", "func", "halved", "handle", "held", "ins", "ndim", "pinned", "place", "row", "shape", "size", "span", "tape",
        "target", "told", "value", "work",
    )  # fmt: skip

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    size: int
    ndim: int
    held: Any
    func: Callable[..., Any]
    args: tuple[Any, ...]
    ins: tuple[np.dtype[Any], ...] | None
    row: bool
    fortran: bool
    pinned: bool
    span: tuple[int, ...]
    halved: Whole | None
    work: int
    told: dict[str, Any] | None
    place: Place | None
    handle: Any
    tape: Any
    target: np.ndarray[Any, Any] | None
    value: np.ndarray[Any, Any] | None

    def run(self) -> None:
        """Have a value; at once, if there is one."""
        while (tape := self.tape) is not None:
            tape.run()

    @property
    def _writes(self) -> int:
        self.run()
        return NEVER

    def __getattr__(self, name: str) -> Any:
        if name[:2] == "__":
            raise AttributeError(name)
        self.run()
        return getattr(self.held, name)


def shifts(node: Node) -> bool:
    """Whether a piece of it is made of others than its own part of the operand."""
    return isinstance(node.func, Shift) and node.func.reads_other_rows
