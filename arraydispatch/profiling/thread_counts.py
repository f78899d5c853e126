"""What one thread counts: raw tables by instruction, which nothing locks and which are read as lines later."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any

import numpy as np

from ..common import callers

__all__ = ["Internal", "Rows", "Tables", "items"]

Rows = dict[tuple[Any, ...], list[Any]]


class Tables:
    """One thread's tables: key -> [count, amount, code, …]; the key ends in (id of the code object, instruction)."""

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
        """Of blocks, at the lines that recorded them."""
        self.starts: Rows = {}
        """Of libraries, by their backends' names."""
        self.loading: tuple[float, float] | None = None
        """When the last of them began and was there, until a call ends that began later."""
        self.events: list[tuple[Any, ...]] = []
        self.moves: list[tuple[float, str, int]] = []
        self.dropped = 0
        self.messages: list[tuple[Any, ...]] = []
        self.adopting: np.ndarray[Any, Any] | None = None
        self.kernel = False
        """Whether a host kernel ran in the call that is told next."""

    def without_start(self, seconds: float) -> float:
        """The time of a call that ends now without what the start of a library took of it."""
        start, loading = perf_counter() - seconds, self.loading
        if loading is None or start >= loading[1]:
            self.loading = None
            return seconds
        return max(seconds - (loading[1] - max(loading[0], start)), 0.0)


class Internal(dict[str, bool]):
    """File name -> whether calls are not to be filed there: it is ours, NumPy's, Python's or an installed package's."""

    def __init__(self, owns: Callable[[str], bool] | None) -> None:
        self._owns = owns

    def __missing__(self, file: str) -> bool:
        self[file] = found = callers.is_library(file) and not (self._owns is not None and self._owns(file))
        return found


def items(rows: Rows) -> Iterable[tuple[tuple[Any, ...], list[Any]]]:
    """The rows now, while their thread counts on.

    Listing them makes tuples, so Python may look for garbage meanwhile, run code for it and change threads; a copy makes none.
    """
    return rows.copy().items()
