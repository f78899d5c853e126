"""Policy of execution: decides by library, device, execution mode, number of elements and shape which engine computes a call.

No other module decides it. The launcher, and ``arraydispatch.use`` under a launcher, take their defaults from :func:`defaults`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

Execution = Literal["eager", "fused", "compiled"] | None

CPU_FROM = 1 << 18
"""Default number of elements below which a call is a small one on a CPU: NumPy computes it at once, before a library has begun.
docs/explanation/small-arrays.md has the measurements. ``--min-size`` overrides it, and :data:`ACCELERATOR_FROM`.
"""
RECORDED_FROM = 1 << 15
"""Default number of elements from which fused execution records a call, unless blocks of such calls have been too short to pay."""

ACCELERATOR_FROM = 1 << 16
"""Default number of elements below which a call is a small one on an accelerator or a mesh."""


SHORT = 8
"""Bytes of short integers, for each of those :data:`CPU_FROM` numbers, up to which NumPy computes with them. It adds 1.4 million of one byte in 55 µs
and compares them in 40; PyTorch takes 90 and 130 or more, with the call.
"""


def are_few(x: np.ndarray[Any, Any], least: int) -> bool:
    """Whether the library, which computes call by call on a CPU from ``least`` elements on, takes longer to begin than NumPy with these.

    They are booleans or integers of up to 32 bits, of which many lie in a few bytes.
    """
    return x.dtype.kind in "biu" and x.dtype.itemsize < SHORT and x.nbytes < SHORT * least


class Policy(NamedTuple):
    """Execution, and the number of elements from which it replaces NumPy's immediate calls (``min_size``)."""

    execution: Execution
    min_size: int


def defaults(
    library: bool, cpu: bool, execution: Execution | None = None, min_size: int | None = None, *, calls: bool = False,
    compiles: bool = True,
) -> Policy:  # fmt: skip
    """Return the policy of a run.

    Where nothing is asked for, a library runs compiled blocks, or call by call (None) on a CPU if its compiler takes seconds for
    each; without a library NumPy runs fused blocks.

    Parameters
    ----------
    library : bool
        Whether a library is in force: it was named, or chosen for an accelerator. Without one, NumPy computes.
    cpu : bool
        Whether its arrays are on a CPU.
    execution : {"eager", "fused", "compiled", None}, optional
        Execution that the user asked for.
    min_size : int, optional
        ``--min-size``, if given.
    calls : bool
        Whether an option concerns the library's own calls (``--precision``, ``--device``, ``--verify``).
    compiles : bool
        Whether the library's compiler is quick enough to be the default on a CPU.
    """
    if execution is None and not calls and min_size is None:
        if not library:
            execution = "fused" if cpu else None
        elif compiles or not cpu:
            execution = "compiled"
    if execution == "eager":
        return Policy(execution, 0)
    if min_size is None:
        min_size = CPU_FROM if cpu else ACCELERATOR_FROM
    return Policy(execution, min_size)


CHANGING = "its shape is one of many, each of which the library would compile for"
"""Reason for which NumPy computes on a large array under compiled execution on a CPU."""


class Shapes:
    """Shapes of large arrays that have been met, by which one that comes again is told from those that change at each coming.

    A library's compiler makes a program for each shape. Values decide some shapes (those of ``x[mask]``), and a loop others
    (``x[:n]``): these come one after the other. They may come again when the loop does, so a shape recurs only when it has come often
    enough to be worth its program.

    Attributes
    ----------
    changing : int
        Number of shapes that values decided, or that came when there were `FIRST` of as many dimensions already.
    given_back : dict
        Shape of which arrays begin on the host, since they moved there again and again -> number of questions about it from which they are
        the library's again.
    """

    FIRST = 8
    """Number of shapes, of one number of dimensions, that recur by assumption."""
    MOST = 64
    """Number of shapes at most, of one number of dimensions, for which the library computes."""
    OFTEN = 64
    """Number of questions about a later shape from which it recurs."""
    MOVES = 3
    """Number of arrays of a shape that moved to the host from which others may begin there."""
    PAYS = 8
    """Number of calls of the library for each such move from which they do not."""
    TAKEN = 32
    """Number of arrays of a shape that were copied from the host to the library after which it is asked whether that pays."""
    COPIED = 8
    """Additions for each 64 bits of them, in programs on arrays of that shape, from which it does: to copy takes as long, or longer."""

    def __init__(self) -> None:
        self.given_back: dict[tuple[int, ...], int] = {}
        self.clear()

    def clear(self) -> None:
        """Forget all shapes."""
        self.given_back.clear()
        self.changing = 0
        self._recurring: set[tuple[int, ...]] = set()
        self._recurring_of: dict[int, int] = defaultdict(int)
        self._met_of: dict[int, int] = defaultdict(int)
        self._by_values: set[tuple[int, ...]] = set()
        self._waiting: dict[tuple[int, ...], int] = {}
        """Later shape -> number of questions."""
        self._later: set[tuple[int, ...]] = set()
        """Those that recur by the number of questions."""
        self._moves: dict[tuple[int, ...], int] = defaultdict(int)
        self._calls: dict[tuple[int, ...], int] = defaultdict(int)
        self._taken: dict[tuple[int, ...], int] = defaultdict(int)
        self._copied: dict[tuple[int, ...], int] = defaultdict(int)
        """Shape -> additions that would pay for the copies, less the work of programs on arrays of that shape."""
        self._next: dict[tuple[int, ...], int] = {}
        """Shape that was given back -> number of questions at which it is the library's again when it is given back once more."""

    def computed(self, calls: Sequence[tuple[tuple[int, ...], int]], work: int) -> None:
        """Note a program that ran: how many calls read or made arrays of each shape, and their work."""
        for shape, count in calls:
            self._calls[shape] += count
            if shape in self._copied:
                self._copied[shape] -= work

    def moved(self, shape: tuple[int, ...]) -> None:
        """Note that an array moved to the host, since it is read or written in parts; if that is all, others of its shape begin there."""
        if shape not in self._recurring:
            return
        self._moves[shape] += 1
        moves, calls = self._moves[shape], self._calls[shape]
        if moves >= self.MOVES and calls < self.PAYS * moves:
            self._give_back(shape, 2 * self.OFTEN)
        elif moves >= 4 * self.MOVES:
            self._moves[shape], self._calls[shape] = moves // 2, calls // 2

    def taken(self, shape: tuple[int, ...], nbytes: int) -> None:
        """Note that an array of the host's is copied to the library; if a few additions are all that comes of it, such arrays stay there.

        So where each step of a loop computes with an array that the host writes (``d[:] = np.minimum(d, …)`` beside reads of its
        rows), NumPy computes the step.
        """
        if shape not in self._recurring:
            return
        self._taken[shape] += 1
        self._copied[shape] += self.COPIED * nbytes // 8
        if self._taken[shape] >= self.TAKEN:
            pays = self._copied[shape] <= 0
            self._taken[shape] = self._copied[shape] = 0
            if not pays:
                self._give_back(shape, 2 * self.OFTEN)

    def _give_back(self, shape: tuple[int, ...], questions: int) -> None:
        self._recurring.discard(shape)
        left = self.given_back[shape] = max(self._next.get(shape, 0), questions)
        self._next[shape] = 4 * left
        self._moves[shape] = self._calls[shape] = 0

    def decided_by_values(self, shape: tuple[int, ...]) -> None:
        """Note the shape of elements that were picked by their values: it recurs only if other arrays have it."""
        if shape not in self._recurring and shape not in self._by_values:
            if len(self._by_values) >= 1024:
                self._by_values.clear()
            self._by_values.add(shape)
            self.changing += 1

    def stays(self, shape: tuple[int, ...]) -> bool:
        """Whether a shape that was given back still is; this is a question about it."""
        left = self.given_back.get(shape, 0)
        if left < 2:
            return False
        self.given_back[shape] = left - 1
        return True

    def recurs(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of this shape is worth a program of the library."""
        if shape in self._recurring:
            return True
        if shape in self._by_values:
            return False
        if shape in self.given_back:
            if self.stays(shape):
                return False
            del self.given_back[shape]
            self._recurring.add(shape)
            return True
        rank = len(shape)
        questions = self._waiting.get(shape, 0) + 1
        if questions == 1:
            self._met_of[rank] += 1
        if self._met_of[rank] > self.FIRST or questions > 1:
            if questions == 1:
                if len(self._waiting) >= 1024:
                    self._waiting.clear()
                self.changing += 1
            if questions < self.OFTEN or self._recurring_of[rank] >= self.MOST:
                self._waiting[shape] = questions
                return False
            del self._waiting[shape]
            self._later.add(shape)
        self._recurring.add(shape)
        self._recurring_of[rank] += 1
        return True

    def refused(self, found: Iterable[tuple[int, ...]]) -> None:
        """Note that a block is compiled for no further shapes: these count as shapes that do not recur."""
        for shape in self._later.intersection(found):
            self._later.discard(shape)
            self._recurring.discard(shape)
            self._by_values.add(shape)


shapes = Shapes()
"""Those of this process."""
