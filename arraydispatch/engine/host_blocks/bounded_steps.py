"""Steps of a stretch whose pieces read other rows than their own, which must be computed before the stretch begins."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..nodes import Bound, Shift, Update

__all__ = ["Shifted", "Written"]


class Shifted(Bound):
    """Node of shifted rows, in its stretch."""

    def __init__(self, how: Shift, slot: int, out: int) -> None:
        self._how, self._slot, self._out = how, slot, out

    def worker(
        self, block: Any, stretch: Any, values: list[Any], scratch: dict[int, int]
    ) -> Callable[[int, int, list[int]], None]:
        """See :class:`arraydispatch.engine.nodes.Bound`."""
        source = block.arrays[self._slot]

        def work(begin: int, end: int, now: list[int]) -> None:
            self._how.rows(source, begin, end, values[self._out])

        return work

    def looked(self) -> set[int]:
        """See :class:`arraydispatch.engine.nodes.Bound`."""
        return {self._out}


class Written(Bound):
    """Node that is its first operand with a part overwritten, in its stretch; ``slot``: that of the written value, if it is an array."""

    def __init__(self, how: Update, number: int, slot: int | None, x: int, out: int) -> None:
        self._how, self._number, self._slot, self._x, self._out = how, number, slot, x, out

    def worker(
        self, block: Any, stretch: Any, values: list[Any], scratch: dict[int, int]
    ) -> Callable[[int, int, list[int]], None]:
        """See :class:`arraydispatch.engine.nodes.Bound`."""
        y = self._how.laid(block.nodes[self._number].args[1] if self._slot is None else block.arrays[self._slot])
        write = self._how.rows if stretch.row else self._how.line
        x, out = self._x, self._out

        def work(begin: int, end: int, now: list[int]) -> None:
            if x != out:
                np.copyto(values[out], values[x])
            write(y, begin, end, values[out])

        return work

    def looked(self) -> set[int]:
        """See :class:`arraydispatch.engine.nodes.Bound`."""
        return {self._x, self._out}
