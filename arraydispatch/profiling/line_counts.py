"""Counts by source line: :class:`Tally`, from which profiles are read and which processes exchange, and raw :class:`Tables` of one thread.

A thread's tables have keys with bytecode instructions, which are resolved to lines later, and need no lock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Any, Self

import numpy as np

from .records import Block, Call, Compilation, Note, Part, Transfer

NOTES = ("transfers", "left", "syncs", "uploads", "returns", "casts")
"""Names of the tables whose rows hold a count and an amount."""
_TABLES = ("calls", *NOTES, "compilations", "blocks", "parts", "starts")


class Tally:
    """Sums over ``processes`` processes: tables of (name, …, file, line, scope) -> figures. ``counted``: number of calls without lines."""

    def __init__(self, processes: int = 0) -> None:
        self.processes = processes
        self.counted = 0
        self._tables: dict[str, dict[tuple[Any, ...], list[Any]]] = {name: {} for name in _TABLES}

    def count(self, table: str, key: tuple[Any, ...], *figures: Any) -> None:
        """Add figures to the row ``key`` of the table of this name."""
        rows = self._tables[table]
        row = rows.get(key)
        if row is None:
            rows[key] = list(figures)
        else:
            row[:] = [a + b for a, b in zip(row, figures, strict=True)]

    def add(self, other: Tally) -> None:
        """Add all counts of the tally ``other``."""
        self.processes += other.processes
        self.counted += other.counted
        for table, rows in other._tables.items():
            for key, row in rows.items():
                self.count(table, key, *row)

    def ran_on_host(self, reason: str) -> None:
        """Mark all calls as host fallbacks, with this reason."""
        rows, self._tables["calls"] = self._tables["calls"], {}
        for (function, backend, _, _, *place), row in rows.items():
            self.count("calls", (function, backend, "host", reason, *place), *row)

    def to_json(self) -> dict[str, Any]:
        """Return data that :func:`json.dumps` accepts."""
        tables = {name: [[key, row] for key, row in rows.items()] for name, rows in self._tables.items()}
        return {"counted": self.counted, **tables}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Self:
        """Return the tally of one process, from :meth:`to_json`."""
        made = cls(processes=1)
        made.counted = data["counted"]
        for name in _TABLES:
            for key, row in data[name]:
                made.count(name, tuple(key), *row)
        return made

    # -- reading -----------------------------------------------------------------------------------------------------

    def _means(self, table: str, record: Callable[..., Any], how: str, runs: int) -> list[Any]:
        """Return a ``record`` for each row of the table of this name, with figures divided by ``runs``. ``how`` has a character for each
        figure: ``#`` rounds the quotient, ``.`` does not, ``=`` keeps the figure undivided.
        """
        return [
            record(
                *key, *[round(n / runs) if mark == "#" else n if mark == "=" else n / runs for n, mark in zip(row, how)]
            )
            for key, row in self._tables[table].items()
        ]

    def calls(self, runs: int = 1) -> list[Call]:
        """Return a record for each (function, line, class), most time first; figures are means over ``runs``."""
        return sorted(self._means("calls", Call, "#.=#", runs), key=lambda call: -call.seconds)

    def transfers(self, runs: int = 1) -> list[Transfer]:
        """Return a record for each (direction, reason, line), most bytes first; figures are means over ``runs``."""
        return sorted(self._means("transfers", Transfer, "##", runs), key=lambda row: -row.nbytes)

    def notes(self, table: str, runs: int = 1) -> list[Note]:
        """Return a record for each row of ``table``, one of :data:`NOTES`, most frequent first; figures are means over ``runs``."""
        return sorted(self._means(table, Note, "##", runs), key=lambda row: -row.count)

    def starts(self) -> dict[str, tuple[int, float]]:
        """Return, for each backend, the number of processes that loaded its library, and their total seconds."""
        return {name: (count, seconds) for (name,), (count, seconds) in self._tables["starts"].items()}

    def compilations(self, runs: int = 1) -> list[Compilation]:
        """Return the libraries' compilations, a record for each line, most time first; figures are means over ``runs``."""
        return sorted(self._means("compilations", Compilation, "#.##", runs), key=lambda row: -row.seconds)

    def blocks(self, runs: int = 1) -> list[Block]:
        """Return a record for each line at which blocks ended, most time first; figures are means over ``runs``."""
        return sorted(self._means("blocks", Block, "##..", runs), key=lambda row: -row.seconds)

    def parts(self, runs: int = 1) -> list[Part]:
        """Return a record for each line that recorded calls in blocks, most time first; figures are means over ``runs``."""
        return sorted(self._means("parts", Part, "#..", runs), key=lambda row: -row.seconds)


# -- counts of one thread -------------------------------------------------------------------------------------------------


Rows = dict[tuple[Any, ...], list[Any]]


class Tables:
    """Tables of one thread: key -> [count, amount, code, …]; the key ends in (id of the code object, bytecode instruction)."""

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
        """Shares of blocks, by the lines that recorded them."""
        self.starts: Rows = {}
        """Imports of libraries, by their backends' names."""
        self.loading: tuple[float, float] | None = None
        """Start and end of the last import of a library, kept until a call that began later has ended."""
        self.events: list[tuple[Any, ...]] = []
        self.moves: list[tuple[float, str, int]] = []
        self.dropped = 0
        self.messages: list[tuple[Any, ...]] = []
        self.adopting: np.ndarray[Any, Any] | None = None
        self.kernel = False
        """Whether a host kernel ran in the call that is reported next."""

    def without_start(self, seconds: float) -> float:
        """Return the time of a call that ends now, minus the time of a library's import during the call."""
        start, loading = perf_counter() - seconds, self.loading
        if loading is None or start >= loading[1]:
            self.loading = None
            return seconds
        return max(seconds - (loading[1] - max(loading[0], start)), 0.0)


def items(rows: Rows) -> Iterable[tuple[tuple[Any, ...], list[Any]]]:
    """Return a snapshot of the rows of a table to which another thread continues to add.

    Iterating over the table itself creates tuples, which may start Python's garbage collector, run code and switch threads; copying it
    creates none.
    """
    return rows.copy().items()
