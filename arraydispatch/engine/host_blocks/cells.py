"""Cells: parts of an array in which a kernel reads each operand at a constant distance from its result.

``np.roll``, and writes to a part of an array, read elements at other places. Cuts where a roll wraps around, and where a written
part begins and ends, divide an array into boxes. In the largest of them, nearly always all but the edges, such calls are
ordinary calls of a kernel with moved pointers::

    out = 4 * u                    out[i, j] = 4 * u[i, j] - u[i - 1, j] - u[i, j - 1]      in the cell that both writes are in
    out[1:] -= u[:-1]              out[i, j] = 4 * u[i, j] - u[i - 1, j]                    in the first column
    out[:, 1:] -= u[:, :-1]        …
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, product
from math import prod

from ..nodes import Box, Elsewhere

__all__ = ["Cells", "boxes", "offset"]


class Cells:
    """Cells of an array.

    Parameters
    ----------
    shape : tuple of int
    calls : sequence of Elsewhere or None
        Calls of a kernel; None for calls that read no elements at other places.
    always : sequence of bool
        Whether each call may also run where it reads none, with an operand that changes nothing.

    Attributes
    ----------
    active : tuple of bool
        Whether each call runs in most of the array; the kernel omits the others.
    share : float
        Share of the array in which exactly these calls run.
    uncut : list of bool
        Whether each axis has no cut.
    """

    def __init__(self, shape: tuple[int, ...], calls: Sequence[Elsewhere | None], always: Sequence[bool]) -> None:
        self._calls, self._always = calls, always
        cuts = [{0, n} for n in shape]
        for call in calls:
            for found, of_call in zip(cuts, call.cuts() if call is not None else ()):
                found.update(of_call)
        self._axes = [list(pairwise(sorted(found))) for found in cuts]
        self.uncut = [len(parts) == 1 for parts in self._axes]
        sizes: Counter[tuple[bool, ...]] = Counter()
        for cell in self.parts(tuple((0, n) for n in shape)):
            sizes[self._active(cell)] += prod(end - begin for begin, end in cell)
        self.active, most = sizes.most_common(1)[0]
        self.share = most / prod(shape)

    def _active(self, cell: Box) -> tuple[bool, ...]:
        return tuple([
            is_always or call is None or call.distance(cell) is not None
            for call, is_always in zip(self._calls, self._always)
        ])  # fmt: skip

    def parts(self, box: Box) -> Iterator[Box]:
        """Yield the parts of a box, one for each cell that it overlaps."""
        axes = []
        for (begin, end), parts in zip(box, self._axes):
            within = [(max(begin, first), min(end, last)) for first, last in parts]
            axes.append([(first, last) for first, last in within if first < last])
        yield from product(*axes)

    def is_usual(self, cell: Box) -> bool:
        """Whether the active calls of a cell are those of most of the array."""
        return self._active(cell) == self.active


def boxes(begin: int, end: int, shape: tuple[int, ...]) -> Iterator[tuple[int, Box]]:
    """Yield boxes that make up the elements from ``begin`` to ``end`` in memory order, each with the number of its first element."""
    inner = prod(shape[1:])
    if inner == 1:
        yield begin, ((begin, end), *[(0, 1) for _ in shape[1:]])
        return
    first, last = -(-begin // inner), end // inner  # rows that are whole
    if begin < first * inner:
        row = first - 1
        stop = min(end - row * inner, inner)
        for at, box in boxes(begin - row * inner, stop, shape[1:]):
            yield row * inner + at, ((row, row + 1), *box)
        if last < first:
            return
    if first < last:
        yield first * inner, ((first, last), *[(0, n) for n in shape[1:]])
    if last * inner < end:
        for at, box in boxes(0, end - last * inner, shape[1:]):
            yield last * inner + at, ((last, last + 1), *box)


def offset(at: Iterable[int], strides: Iterable[int]) -> int:
    """Return the bytes from the beginning of an array to the element at indices ``at``."""
    return sum(i * step for i, step in zip(at, strides))
