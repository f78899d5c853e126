"""Policy of execution: decides by library, device, execution mode, number of elements and shape which engine computes a call.

It holds the thresholds and the counts; ``engine/recording/call_nodes.py`` and ``engine/compiled_blocks/units.py`` apply them to each call.
The launcher, and ``arraydispatch.use`` under a launcher, take their defaults from :func:`defaults`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

Execution = Literal["eager", "fused", "compiled"] | None

CPU_FROM = 1 << 18
"""Default number of elements below which a call on a CPU is small: NumPy computes it in less time than a library takes to start a call.
docs/explanation/small-arrays.md has the measurements. ``--min-size`` overrides it, and :data:`ACCELERATOR_FROM`.
"""
RECORDED_FROM = 1 << 15
"""Default number of elements from which fused execution records calls, unless blocks of such calls have been too short to pay."""

ACCELERATOR_FROM = 1 << 16
"""Default number of elements below which a call is small on an accelerator or a mesh."""


SHORT = 8
"""Bytes for each element of ``min_size`` below which NumPy computes on short integers. NumPy adds 1.4 million one-byte integers in 55 µs
and compares them in 40; PyTorch takes 90 and 130 or more, including the call.
"""


def are_few(x: np.ndarray[Any, Any], least: int) -> bool:
    """Whether an array has booleans or integers of up to 32 bits in so few bytes that NumPy is faster than the library on a CPU.

    ``least``: number of elements from which the library computes other dtypes.
    """
    return x.dtype.kind in "biu" and x.dtype.itemsize < SHORT and x.nbytes < SHORT * least


class Policy(NamedTuple):
    """Execution mode, and ``min_size``: the number of elements from which calls run in that mode, not immediately by NumPy."""

    execution: Execution
    min_size: int


def defaults(
    library: bool, cpu: bool, execution: Execution | None = None, min_size: int | None = None, *, calls: bool = False,
    compiles: bool = True,
) -> Policy:  # fmt: skip
    """Return the policy of a run.

    The execution that the user asked for is kept. If the user asked for none, it is call by call (None) if ``calls`` or ``min_size`` is given.
    Otherwise it is "compiled" with a library, except on a CPU if the library's compiler takes seconds for each block (None). Without a library it
    is "fused" on a machine that has only its CPU, else None.

    Parameters
    ----------
    library : bool
        Whether a library is in force: it was named, or chosen for an accelerator. Without one, NumPy computes.
    cpu : bool
        Whether the library's arrays are on a CPU; without a library, whether the machine has no accelerator.
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
"""Reason why NumPy computes on a large array under compiled execution on a CPU."""


class Shapes:
    """Statistics of the shapes of large arrays, to tell shapes that recur from shapes that keep changing.

    A library's compiler makes a program for each shape. Some shapes depend on values (``x[mask]``), others change in each step of
    a loop (``x[:n]``). The latter may come again when the loop runs again, so a shape counts as recurring only when it has come often
    enough to be worth a program.

    Attributes
    ----------
    changing : int
        Number of shapes that depend on values, or that came after the first `FIRST` of as many dimensions.
    given_back : dict
        Shape whose arrays begin on the host, because they kept moving there -> number of further questions about the shape after which
        they begin in the library again.
    """

    FIRST = 8
    """Number of shapes, for each number of dimensions, that are assumed to recur."""
    MOST = 64
    """Maximum number of recurring shapes, for each number of dimensions."""
    OFTEN = 64
    """Number of questions about a later shape after which it recurs."""
    MOVES = 3
    """Number of moves to the host after which arrays of a shape may begin there."""
    PAYS = 8
    """Number of library calls for each move from which arrays of a shape stay in the library all the same."""
    TAKEN = 32
    """Number of copies from the host to the library after which :meth:`taken` decides whether they pay."""
    COPIED = 8
    """Additions, for each 64 bits copied, that programs on arrays of the shape must compute for a copy to pay: the copy takes as long as
    they.
    """

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
        """Later shape that does not recur yet -> number of questions."""
        self._later: set[tuple[int, ...]] = set()
        """Later shapes that recur because of the number of questions."""
        self._moves: dict[tuple[int, ...], int] = defaultdict(int)
        self._calls: dict[tuple[int, ...], int] = defaultdict(int)
        self._taken: dict[tuple[int, ...], int] = defaultdict(int)
        self._copied: dict[tuple[int, ...], int] = defaultdict(int)
        """Shape -> additions that would pay for its copies, minus the work of programs on arrays of the shape."""
        self._next: dict[tuple[int, ...], int] = {}
        """Shape that was given back -> number of questions to wait for if it is given back once more."""

    def computed(self, calls: Sequence[tuple[tuple[int, ...], int]], work: int) -> None:
        """Note a program that ran. ``calls``: pairs of a shape and the number of calls that read or made arrays of it; ``work``: sum of
        their elements, with weights.
        """
        for shape, count in calls:
            self._calls[shape] += count
            if shape in self._copied:
                self._copied[shape] -= work

    def moved(self, shape: tuple[int, ...]) -> None:
        """Note that an array moved to the host because it is read or written in parts. If the library computes too little with arrays of
        its shape, further ones begin on the host.
        """
        if shape not in self._recurring:
            return
        self._moves[shape] += 1
        moves, calls = self._moves[shape], self._calls[shape]
        if moves >= self.MOVES and calls < self.PAYS * moves:
            self._give_back(shape, 2 * self.OFTEN)
        elif moves >= 4 * self.MOVES:
            self._moves[shape], self._calls[shape] = moves // 2, calls // 2

    def taken(self, shape: tuple[int, ...], nbytes: int) -> None:
        """Note that an array is copied from the host to the library. If programs compute too little with such copies, arrays of the shape
        stay on the host.

        So NumPy computes the steps of a loop that works on an array that the host writes (``d[:] = np.minimum(d, …)`` beside
        reads of its rows).
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
        """Note that a shape depends on values, as that of ``x[mask]``. It counts as not recurring, unless it has recurred already."""
        if shape not in self._recurring and shape not in self._by_values:
            if len(self._by_values) >= 1024:
                self._by_values.clear()
            self._by_values.add(shape)
            self.changing += 1

    def stays(self, shape: tuple[int, ...]) -> bool:
        """Return whether arrays of a shape that was given back still begin on the host. Each call counts as a question about the shape."""
        left = self.given_back.get(shape, 0)
        if left < 2:
            return False
        self.given_back[shape] = left - 1
        return True

    def recurs(self, shape: tuple[int, ...]) -> bool:
        """Return whether an array of this shape is worth a program of the library. Each call counts as a question about the shape, and
        may make the shape one that recurs.
        """
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
        """Note the shapes ``found``, for which a block was not compiled, because the block has programs for enough other shapes. The later
        shapes among them, which recurred because of the number of questions, count as not recurring from now on.
        """
        for shape in self._later.intersection(found):
            self._later.discard(shape)
            self._recurring.discard(shape)
            self._by_values.add(shape)


shapes = Shapes()
"""The statistics of this process."""
