"""Division of a block into stretches: nodes computed together, piece by piece, before the next stretch begins.

If the pieces of a step read other rows than their own (:class:`Shifted`, :class:`Written`), those rows must be computed before the step's
stretch begins.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..nodes import Bound, Form, Node, Shift, Update, elsewhere, far

__all__ = ["Reads", "Shifted", "Written", "divided"]

Reads = list[tuple[str, int]]
"""Operands of a node, each a pair: ``node`` and its number, ``slot`` of an array and its number, or ``scalar`` and its position."""


def divided(nodes: list[Node], reads: list[Reads], held: list[bool], piece: int) -> list[int]:
    """Return the number of each node's stretch.

    Parameters
    ----------
    nodes : list of Node
    reads : list of list
        Operands of each node.
    held : list of bool
        Whether the array of each node is still referenced.
    piece : int
        Bytes of one array's share of a piece.
    """
    found: list[int] = []
    kinds = _Kinds(piece)
    for node in nodes:
        if not kinds.takes(node):
            kinds.begin()
        kinds.add(node)
        found.append(kinds.stretches)
    if kinds.stretches > 1:
        _sink(nodes, reads, held, found)
    return found


def _sink(nodes: list[Node], reads: list[Reads], held: list[bool], found: list[int]) -> None:
    """Move the last nodes of a stretch to the next stretch, if only that one needs them and their operands are kept as whole arrays anyway.

    ``held``: for each node, whether its value is kept as a whole array. ``found``: for each node, the number of its stretch; changed in
    place.
    """
    readers: list[list[int]] = [[] for _ in nodes]
    read_far: set[int] = set()
    for i, of_one in enumerate(reads):
        for j, (what, k) in enumerate(of_one):
            if what == "node":
                readers[k].append(i)
                if j >= elsewhere(nodes[i].form.func):
                    read_far.add(k)

    def sinks(i: int, to: int) -> bool:
        form, into = nodes[i].form, nodes[to].form
        if form.span != into.span or form.fortran != into.fortran or form.reduces() or form.row or form.pinned:
            return False
        if held[i] or i in read_far or nodes[i].target is not None or far(nodes[i]) or not readers[i]:
            return False
        own = [k for what, k in reads[i] if what == "node" and found[k] == found[i]]
        return (
            all(found[k] == found[to] for k in readers[i])
            and all(held[k] or any(found[j] > found[i] for j in readers[k]) for k in own)
            and not any(nodes[k].form.reduces() for k in own)
        )

    for to in range(len(nodes) - 1, 0, -1):
        i = to - 1
        while i > 0 and found[i] == found[to] - 1 and sinks(i, to):
            found[i] = found[to]
            i -= 1


class _Kinds:
    """Stretch that is being collected: decides whether the next node can be in it (:meth:`takes`)."""

    def __init__(self, piece: int) -> None:
        self._piece = piece
        self.stretches = 0
        self.first: Form | None = None
        self.begin()

    def begin(self) -> None:
        self.first = None
        self.nodes: set[int] = set()
        self.rows = self.pinned = False
        self.unit = 0
        self.reduced: list[Node] = []

    def takes(self, node: Node) -> bool:
        """Whether a node can be computed in the pieces of the current stretch."""
        first, form = self.first, node.form
        if first is None or first.span != form.span or first.fortran != form.fortran:
            return first is None
        rows, unit = self.rows or form.row, form.halved.unit if form.halved is not None else 0
        if (rows and (self.pinned or form.pinned)) or (unit and self.unit and unit != self.unit):
            return False
        if (unit or self.unit) and (rows or self.pinned or form.pinned):
            return False
        if form.reduces() and form.halved is None and _is_wide(form, self._piece):
            return False
        if any(id(x) in self.nodes for x in node.args[elsewhere(form.func) :]):
            return False
        # The result of a reduction within a piece is available only in that piece.
        return all(
            len(x.shape) == len(form.span) and x.shape[0] == form.span[0] and x.form.halved is None and rows
            for x in self.reduced
            if any(x is y for y in node.args)
        )

    def add(self, node: Node) -> None:
        form = node.form
        if self.first is None:
            self.first = form
            self.stretches += 1
        self.nodes.add(id(node))
        self.rows, self.pinned = self.rows or form.row, self.pinned or form.pinned
        if form.reduces():
            self.reduced.append(node)
            if form.halved is not None:
                self.unit = self.unit or form.halved.unit


def _is_wide(form: Form, piece: int) -> bool:
    """Whether a row that a call of this form reduces has more bytes than ``piece``."""
    return math.prod(form.span[1:]) * form.dtype.itemsize > piece


class Shifted(Bound):
    """Step of a stretch: a node that shifts the rows of the array in ``slot`` by ``how``."""

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
    """Step of a stretch: a node that overwrites a part of its first operand, as ``how`` describes. ``slot``: slot of the written value, if
    it is an array.
    """

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
