"""Departures from a library's own functions: which kernels of a backend are not the library's, why, and what would let them go.

Each backend has a ``departures.py`` with one row per reason. A kernel whose row is not the library's own function belongs to at
least one of them, which ``tests/backends/test_departures.py`` holds. Rows cite the issue or pull request upstream in which the
matter is open, was fixed for a later version, or was decided otherwise, or say :data:`NONE_KNOWN`.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["NONE_KNOWN", "Departure", "table"]

NONE_KNOWN = "no issue known"
"""Entry for a departure of which no issue upstream is known here (2026-11-26)."""


class Departure(NamedTuple):
    """One reason for kernels of a backend's own."""

    table: str
    """``UFUNCS``, ``REDUCE`` or ``ACCUMULATE``."""
    ufuncs: str
    """Names of the ufuncs concerned, separated by spaces."""
    why: str
    """Difference between the library's function and NumPy's."""
    upstream: str
    """Address of the issue or pull request, or :data:`NONE_KNOWN`."""


def table(rows: tuple[Departure, ...]) -> str:
    """Make the table of a backend for ``docs/reference/departures.md``."""
    where = {"UFUNCS": "", "REDUCE": ".reduce", "ACCUMULATE": ".accumulate"}
    lines = ["| kernels | difference | upstream |", "|---|---|---|"]
    for row in rows:
        names = ", ".join(f"`{name}{where[row.table]}`" for name in row.ufuncs.split())
        number = row.upstream.rpartition("/")[2]
        lines.append(
            f"| {names} | {row.why} | {row.upstream if row.upstream == NONE_KNOWN else f'[{number}]({row.upstream})'} |"
        )
    return "\n".join(lines)
