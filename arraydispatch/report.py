"""A profile as a person or a program reads it: the terminal's short report, JSON and CSV."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

from .profiling import Call, Left, Profile

__all__ = ["WRITERS", "Run", "as_dict", "print_report"]

_SHORT = 5
_LONG = 40


@dataclass(frozen=True)
class Run:
    """What the report says about the run as a whole.

    Attributes
    ----------
    backend, version : str
        The default backend and its library's version.
    device : str
        Name of the default device.
    precision : int or str or None
        The precision policy.
    seconds : float
        Wall time of the program.
    rng : str
        Where random numbers come from: ``"numpy"`` or ``"device"``.
    """

    backend: str
    version: str
    device: str
    precision: Any
    seconds: float
    rng: str = "numpy"


def _place(row: Call | Left) -> dict[str, Any]:
    return {"file": row.file, "line": row.line, "count": row.count}


def _left(rows: list[Left]) -> list[dict[str, Any]]:
    return [{"what": row.what, "why": row.why, **_place(row)} for row in rows]


def _functions(calls: list[Call]) -> list[dict[str, Any]]:
    found: dict[tuple[str, str, str], dict[str, Any]] = {}
    for call in calls:
        key = call.function, call.backend, call.kind
        empty = {"function": call.function, "backend": call.backend, "class": call.kind, "count": 0, "seconds": 0.0}
        row = found.setdefault(key, empty)
        row["count"] += call.count
        row["seconds"] += call.seconds
    return sorted(found.values(), key=lambda row: -row["seconds"])


def _lines(profile: Profile, calls: list[Call]) -> list[dict[str, Any]]:
    found: dict[tuple[str, int], dict[str, Any]] = {}

    def at(file: str, line: int) -> dict[str, Any]:
        empty = {
            "file": file, "line": line, "calls": 0, "host_fallbacks": 0, "left_numpy": 0,
            "bytes_to_device": 0, "bytes_to_host": 0, "seconds": 0.0,
        }  # fmt: skip
        return found.setdefault((file, line), empty)

    for call in calls:
        row = at(call.file, call.line)
        row["calls"] += call.count
        row["seconds"] += call.seconds
        if call.kind == "host":
            row["host_fallbacks"] += call.count
    for left in profile.left_numpy():
        at(left.file, left.line)["left_numpy"] += left.count
    for moved in profile.transfers():
        if moved.direction in ("to_device", "to_host"):
            at(moved.file, moved.line)[f"bytes_{moved.direction}"] += moved.nbytes
    return sorted(found.values(), key=lambda row: -row["seconds"])


def as_dict(profile: Profile, run: Run) -> dict[str, Any]:
    """The report as plain data: what ``--report FILE.json`` writes."""
    calls = profile.calls()
    return {
        "backend": run.backend,
        "version": run.version,
        "device": run.device,
        "precision": run.precision,
        "rng": run.rng,
        "seconds": run.seconds,
        "seconds_in_calls": sum(call.seconds for call in calls),
        "calls_on_backend": sum(call.count for call in calls if call.on_backend),
        "calls_by_class": profile.calls_by_class(),
        "host_fallbacks": [
            {"function": call.function, "reason": call.reason, **_place(call)} for call in profile.host_fallbacks()
        ],
        "left_numpy": _left(profile.left_numpy()),
        "repeated_uploads": _left(profile.repeated_uploads()),
        "syncs": _left(profile.syncs()),
        "bytes_to_device": profile.moved("to_device"),
        "bytes_to_host": profile.moved("to_host"),
        "functions": _functions(calls),
        "lines": _lines(profile, calls),
    }


# -- files -------------------------------------------------------------------------------------------------------------


def _write_json(stream: IO[str], profile: Profile, run: Run) -> None:
    json.dump(as_dict(profile, run), stream, indent=2)
    stream.write("\n")


def _write_csv(stream: IO[str], profile: Profile, run: Run) -> None:
    """One row for each (function, line, class), and for each array that stayed NumPy."""
    writer = csv.writer(stream)
    writer.writerow(["row", "what", "class", "reason", "file", "line", "count", "seconds", "bytes"])
    for call in profile.calls():
        place = call.file, call.line, call.count
        writer.writerow(["call", call.function, call.kind, call.reason, *place, f"{call.seconds:.9f}", ""])
    for name, rows in (("left_numpy", profile.left_numpy()), ("repeated_upload", profile.repeated_uploads())):
        for left in rows:
            writer.writerow([name, left.what, "", left.why, left.file, left.line, left.count, "", ""])
    for moved in profile.transfers():
        row = ["transfer", moved.direction, "", moved.why, moved.file, moved.line, moved.count, "", moved.nbytes]
        writer.writerow(row)


WRITERS: dict[str, Callable[[IO[str], Profile, Run], None]] = {".json": _write_json, ".csv": _write_csv}
"""File suffix -> writer."""


# -- the terminal ----------------------------------------------------------------------------------------------------------


def _size(nbytes: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if nbytes < 1000:
            return f"{nbytes:.0f} {unit}" if unit == "B" else f"{nbytes:.1f} {unit}"
        nbytes /= 1000
    return f"{nbytes:.1f} TB"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _where(file: str, line: int) -> str:
    shown = os.path.relpath(file) if os.path.isabs(file) else file
    return f"{shown if not shown.startswith(os.pardir) else file}:{line}"


def print_report(profile: Profile, run: Run, stream: IO[str], *, full: bool) -> None:
    """Print the report: one line of totals, then what did not run on the backend, and (``full``) where time went."""
    from rich.console import Console
    from rich.table import Table

    # Without a terminal there is no width to keep to, and a wrapped table is hard to read in a log.
    console = Console(file=stream, highlight=False, soft_wrap=True, width=None if stream.isatty() else 160)
    data = as_dict(profile, run)
    fallbacks = sum(row["count"] for row in data["host_fallbacks"])
    left = sum(row["count"] for row in data["left_numpy"])
    policy = "" if run.precision is None else f", precision {run.precision}"
    console.print(
        f"[bold]arraydispatch[/]: {run.backend} {run.version} on {run.device}{policy} · "
        f"{_number(data['calls_on_backend'], 'call')} on the backend · {_number(fallbacks, 'host fallback')} · "
        f"{_number(left, 'array')} left NumPy · "
        f"{_size(data['bytes_to_device'])} to the device, {_size(data['bytes_to_host'])} back · {run.seconds:.2f} s"
    )
    if run.rng == "device":
        console.print("  random numbers are the library's own (--rng device): they differ from NumPy's.")
    limit = _LONG if full else _SHORT

    def section(title: str, rows: list[dict[str, Any]], texts: Callable[[dict[str, Any]], tuple[str, str]]) -> None:
        if not rows:
            return
        table = Table("count", title, "why", "where", box=None, pad_edge=False, padding=(0, 2), title_justify="left")
        for row in rows[:limit]:
            table.add_row(f"{row['count']:,}", *texts(row), _where(row["file"], row["line"]))
        console.print(table)
        if len(rows) > limit:
            console.print(f"  … and {len(rows) - limit} more lines (--report shows more, --report FILE.json all)")

    section("ran on the host", data["host_fallbacks"], lambda row: (row["function"], row["reason"]))
    section("left NumPy", data["left_numpy"], lambda row: (row["what"], row["why"]))
    section(
        "uploaded again", data["repeated_uploads"],
        lambda row: (row["why"], "adopted more than once; make it an array once with np.asarray"),
    )  # fmt: skip
    if not full:
        return
    table = Table("function", "class", "calls", "seconds", box=None, pad_edge=False, padding=(0, 2))
    for row in data["functions"][:_LONG]:
        table.add_row(row["function"], row["class"], f"{row['count']:,}", f"{row['seconds']:.4f}")
    console.print(table)
    table = Table("line", "calls", "seconds", "bytes moved", box=None, pad_edge=False, padding=(0, 2))
    for row in data["lines"][:_LONG]:
        moved = _size(row["bytes_to_device"] + row["bytes_to_host"])
        table.add_row(_where(row["file"], row["line"]), f"{row['calls']:,}", f"{row['seconds']:.4f}", moved)
    console.print(table)
