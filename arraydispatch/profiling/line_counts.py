"""Counts by source line, in plain tables: profiles are read from them, and processes exchange them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from .records import Block, Call, Compilation, Note, Part, Transfer

NOTES = ("transfers", "left", "syncs", "uploads", "returns", "casts")
"""Tables that hold a count and an amount."""
_TABLES = ("calls", *NOTES, "compilations", "blocks", "parts", "starts")


class Tally:
    """Tables of (name, …, file, line, scope) -> figures, which add up.

    Attributes
    ----------
    processes : int
        Number of processes that counted.
    counted : int
        Number of calls that were counted without their lines.
    """

    def __init__(self, processes: int = 0) -> None:
        self.processes = processes
        self.counted = 0
        self._tables: dict[str, dict[tuple[Any, ...], list[Any]]] = {name: {} for name in _TABLES}

    def count(self, table: str, key: tuple[Any, ...], *figures: Any) -> None:
        """Add figures to those of a key."""
        rows = self._tables[table]
        row = rows.get(key)
        if row is None:
            rows[key] = list(figures)
        else:
            row[:] = [a + b for a, b in zip(row, figures, strict=True)]

    def add(self, other: Tally) -> None:
        """Add all counts of another tally."""
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

    def calls(self, runs: int = 1) -> list[Call]:
        """Return every (function, line, class), most time first; figures are the mean over ``runs``."""
        rows = [Call(*key, *row) for key, row in self._tables["calls"].items()]
        if runs > 1:
            rows = [
                replace(
                    row, count=round(row.count / runs), seconds=row.seconds / runs, elements=round(row.elements / runs)
                )
                for row in rows
            ]
        return sorted(rows, key=lambda call: -call.seconds)

    def transfers(self, runs: int = 1) -> list[Transfer]:
        """Return the bytes moved by each line, most first."""
        rows = [Transfer(*key, *(round(n / runs) for n in row)) for key, row in self._tables["transfers"].items()]
        return sorted(rows, key=lambda row: -row.nbytes)

    def notes(self, table: str, runs: int = 1) -> list[Note]:
        """Return the entries of one of :data:`NOTES`, most frequent first."""
        rows = [Note(*key, *(round(n / runs) for n in row)) for key, row in self._tables[table].items()]
        return sorted(rows, key=lambda row: -row.count)

    def starts(self) -> dict[str, tuple[int, float]]:
        """Return, for each backend, in how many processes its library was loaded, and their total seconds."""
        return {name: (count, seconds) for (name,), (count, seconds) in self._tables["starts"].items()}

    def compilations(self, runs: int = 1) -> list[Compilation]:
        """Return the compilations by libraries, by line, most time first."""
        rows = [
            Compilation(*key, *[round(count / runs), seconds / runs, round(again / runs), round(kept / runs)])
            for key, (count, seconds, again, kept) in self._tables["compilations"].items()
        ]
        return sorted(rows, key=lambda row: -row.seconds)

    def blocks(self, runs: int = 1) -> list[Block]:
        """Return blocks by the line at which they ended, most time first."""
        rows = [
            Block(*key, *[round(count / runs), round(calls / runs), seconds / runs, by_numpy / runs])
            for key, (count, calls, seconds, by_numpy) in self._tables["blocks"].items()
        ]
        return sorted(rows, key=lambda row: -row.seconds)

    def parts(self, runs: int = 1) -> list[Part]:
        """Return the lines that recorded calls in blocks, most time first."""
        rows = [
            Part(*key, *[round(calls / runs), seconds / runs, by_numpy / runs])
            for key, (calls, seconds, by_numpy) in self._tables["parts"].items()
        ]
        return sorted(rows, key=lambda row: -row.seconds)
