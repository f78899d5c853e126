"""Counts of one thread: raw tables by instruction, which need no lock and are resolved to lines later."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

import numpy as np

from ..common import callers

Rows = dict[tuple[Any, ...], list[Any]]


class Tables:
    """Tables of one thread: key -> [count, amount, code, …]; the key ends in (id of the code object, instruction)."""

    __slots__ = ("adopting", "blocks", "calls", "casts", "compilations", "dropped", "events", "kernel", "left", "loading", "messages", "moves", "parts", "returns", "starts", "syncs", "thread", "transfers", "uploads")  # fmt: skip

    def __init__(self) -> None:
        self.thread = threading.get_native_id()
        self.calls: Rows = {}
        self.transfers: Rows = {}
        self.left: Rows = {}
        self.syncs: Rows = {}
        self.uploads: Rows = {}
        self.returns: Rows = {}
        self.casts: Rows = {}
        self.compilations: Rows = {}
        self.blocks: Rows = {}
        self.parts: Rows = {}
        """Shares of blocks, at the lines that recorded them."""
        self.starts: Rows = {}
        """Imports of libraries, by their backends' names."""
        self.loading: tuple[float, float] | None = None
        """Begin and end of the last import of a library, kept until a call that began later has ended."""
        self.events: list[tuple[Any, ...]] = []
        self.moves: list[tuple[float, str, int]] = []
        self.dropped = 0
        self.messages: list[tuple[Any, ...]] = []
        self.adopting: np.ndarray[Any, Any] | None = None
        self.kernel = False
        """Whether a host kernel ran in the call that is reported next."""

    def without_start(self, seconds: float) -> float:
        """Return the time of a call that ends now, less the time of an import of a library during the call."""
        start, loading = perf_counter() - seconds, self.loading
        if loading is None or start >= loading[1]:
            self.loading = None
            return seconds
        return max(seconds - (loading[1] - max(loading[0], start)), 0.0)


class Internal(dict[str, bool]):
    """File name -> whether calls are not attributed to it, because it belongs to this package, NumPy, Python or an installed package."""

    def __init__(self, owns: Callable[[str], bool] | None) -> None:
        self._owns = owns

    def __missing__(self, file: str) -> bool:
        self[file] = found = callers.is_library(file) and not (self._owns is not None and self._owns(file))
        return found


def items(rows: Rows) -> Iterable[tuple[tuple[Any, ...], list[Any]]]:
    """Return the rows now, while their thread continues to count.

    Listing them creates tuples, which may start Python's garbage collector, run code and switch threads; a copy creates
    none.
    """
    return rows.copy().items()
