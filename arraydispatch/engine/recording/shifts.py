"""``np.roll`` under fused execution, recorded into blocks.

A shift along other axes than the first stays within a piece. A shift along the first axis reads other rows, so the whole operand is
computed before the stretch begins. The result is written piece by piece, and kept as a whole only if an array holds it.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from ..._core.handles import Handle
from ..nodes import Box, Shift
from . import call_nodes

__all__ = ["rolled"]


def rolled(a: Any, shift: Any, axis: Any = None) -> Any:
    """Record ``np.roll(a, shift, axis)``; return None if that is not possible."""
    if not isinstance(a, Handle):
        return None
    if a.size * a.dtype.itemsize >> 3 < call_nodes.least:  # type: ignore[attr-defined]
        return None
    shape = a.shape  # type: ignore[attr-defined]
    ndim = len(shape)
    if axis is None:
        if ndim != 1:
            return None
        axis = 0
    shifts = shift if type(shift) is tuple else (shift,)
    axes = axis if type(axis) is tuple else (axis,)
    if len(shifts) == 1:
        shifts *= len(axes)
    if len(axes) == 1:
        axes *= len(shifts)
    if any(type(n) is not int for n in (*shifts, *axes)) or len(axes) != len(shifts) or not shape or 0 in shape:
        return None
    steps = [0] * ndim
    for i, n in zip(axes, shifts):
        if not -ndim <= i < ndim:
            return None
        steps[i] = (steps[i] + n) % shape[i]
    return call_nodes.record(_Roll(steps, shape), (a,), a.dtype, func_seen=np.roll)  # type: ignore[attr-defined]


class _Roll(Shift):
    """``np.roll`` as a function that a stretch calls like a ufunc.

    Parameters
    ----------
    steps : list of int
        Shift along each axis, less than its length.
    shape : tuple of int
        Shape of the array.
    """

    __name__ = "roll"

    def __init__(self, steps: list[int], shape: tuple[int, ...]) -> None:
        self._steps = tuple(steps), shape
        self.first, *inner = steps
        self.reads_other_rows = self.first != 0
        pairs = [_halves(step, n) for step, n in zip(inner, shape[1:])]
        self._parts = [tuple(zip(*parts)) for parts in product(*pairs)] if pairs else [((), ())]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Roll) and other._steps == self._steps

    def __hash__(self) -> int:
        return hash(self._steps)

    def __call__(self, x: Any, out: Any) -> None:
        self.rows(x, 0, len(out), out)

    def rows(self, x: np.ndarray[Any, Any], begin: int, end: int, out: np.ndarray[Any, Any]) -> None:
        """Write the rows from ``begin`` to ``end`` of the result to ``out``. ``x``: the whole operand."""
        start = (begin - self.first) % len(x)
        before = min(end - begin, len(x) - start)
        self._copy(x[start : start + before], out[:before])
        if before < end - begin:
            self._copy(x[: end - begin - before], out[before:])

    def cuts(self) -> list[tuple[int, ...]]:
        """Implement ``Elsewhere.cuts``."""
        return [(step,) if step else () for step in self._steps[0]]

    def distance(self, cell: Box) -> tuple[int, ...]:
        """Implement ``Elsewhere.distance``."""
        steps, shape = self._steps
        return tuple([-step if begin >= step else n - step for (begin, _), step, n in zip(cell, steps, shape)])

    def _copy(self, x: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> None:
        for to, of in self._parts:
            np.copyto(out[:, *to], x[:, *of])


def _halves(step: int, n: int) -> list[tuple[slice, slice]]:
    """Return pairs of slices along an axis of length ``n``: for each part of a shift by ``step`` its destination and its source."""
    if not step:
        return [(slice(None), slice(None))]
    return [(slice(step, None), slice(n - step)), (slice(step), slice(n - step, None))]
