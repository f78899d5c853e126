"""The report on a terminal, or in a log."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import IO, Any

from ...common import callers
from ...common.events import AT_A_DOOR, GATHERED
from ..recorder import Profile
from ..records import ON_BACKEND
from .advice import size
from .data import Run, as_dict
from .summary import number, verified

_SHORT = 5
_LONG = 40


MEANINGS = {
    "native": "one function of the library",
    "override": "one function of the library",
    "composed": "NumPy's behaviour, computed by several functions of the library",
    "view": "no work: a view only says where values lie",
    "hosted": "NumPy, on values in the host's memory, or on data that no device supports (text, files, dates, objects)",
    "fused": "recorded; NumPy runs them later in a block, in pieces and threads",
    "block": "recorded calls that NumPy ran together, at the line where the block ended; their time is at the lines that recorded them",
    "program": "a compiled block: recorded calls that the library's compiler ran as one program, at the line where it ended",
    "host kernel": "NumPy on the library's own memory, where that is faster",
    "host": "NumPy on a copy, because the library cannot",
}
"""Class of a call -> description."""


def _seconds(spent: float | None) -> str:
    return f" ({spent:.2f} s)" if spent else ""


def where(file: str, line: int) -> str:
    """Format a place, with the file as in :func:`short`."""
    return callers.shown(file, line, short)


def short(file: str) -> str:
    """Return an absolute path relative to the working directory if the file is below that, else the path unchanged."""
    shown = os.path.relpath(file) if os.path.isabs(file) else file
    return file if shown.startswith(os.pardir) else shown


class _Output:
    """Output stream. Only output other than plain lines imports rich, which takes a tenth of the launcher's start."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._console: Any = None

    def say(self, title: str, text: str) -> None:
        """Print a line of plain text, with a bold title on a terminal."""
        if self._stream.isatty():
            self.print(f"[bold]{title}[/]{_escape(text)}")
        else:
            self._stream.write(f"{title}{text}\n")

    def print(self, what: Any) -> None:
        """Print an object with rich."""
        if self._console is None:
            self._console = _console(self._stream)
        self._console.print(what)


def _escape(text: str) -> str:
    from rich.markup import escape

    return escape(text)


def _console(stream: IO[str]) -> Any:
    from rich.console import Console

    # Without a terminal there is no width to fit, and a wrapped table is hard to read in a log.
    return Console(file=stream, highlight=False, emoji=False, soft_wrap=True, width=None if stream.isatty() else 160)


def print_verification(found: dict[str, Any], stream: IO[str]) -> None:
    """Print the result of a verification, and nothing else."""
    _print_verification(found, _Output(stream))


def _details(profile: Profile, run: Run, data: dict[str, Any]) -> str:
    """Return the line of figures below the summary, without those that are zero."""
    by_class, seconds = data["calls_by_class"], data["seconds_by_class"]
    policy = "" if run.precision is None else f", precision {run.precision}"
    why = f" ({run.why})" if run.why else ""
    # Calls on NumPy as the backend are not timed while counting.
    untimed = " (not timed: --report does)" if profile.counted else ""
    library = (untimed if "hosted" not in by_class else "") or _seconds(
        sum(seconds.get(kind, 0.0) for kind in ON_BACKEND)
    )
    blocks = by_class.get("block", 0)
    timed = {kind: _seconds(seconds.get(kind)) for kind in ("block", "host kernel", "host")}
    rows = [
        (data["calls_on_backend"], "call", f" on the backend{library}"),
        (by_class.get("program", 0), "compiled block", _seconds(seconds.get("program"))),
        (by_class.get("hosted", 0), "call", f" by NumPy on the host{untimed or _seconds(seconds.get('hosted'))}"),
        (
            by_class.get("fused", 0),
            "fused call",
            f" in {number(blocks, 'block')}{timed['block']}" if blocks else " not run (nothing used the results)",
        ),
        (by_class.get("host kernel", 0), "host kernel", timed["host kernel"]),
        (by_class.get("host", 0), "host fallback", timed["host"]),
        (sum(row["count"] for row in data["left_numpy"]), "array", " kept on the host"),
        (sum(row["count"] for row in data["compilations"]), "compilation", f" took {data['seconds_compiling']:.2f} s"),
        (sum(row["kept"] for row in data["compilations"]), "program", " kept by earlier processes"),
    ]
    parts = [f"{run.backend} {run.version} on {run.device}{policy}{why}"]
    parts += [f"{number(count, noun)}{rest}" for count, noun, rest in rows if count]
    moved = [(data["bytes_to_device"], "to the device"), (data["bytes_to_host"], "back")]
    parts += [", ".join(f"{size(nbytes)} {way}" for nbytes, way in moved if nbytes)] * any(row[0] for row in moved)
    if data["processes"] > 1:
        parts.append(f"in {data['processes']} processes")
    return " · ".join(parts)


def print_report(profile: Profile, run: Run, stream: IO[str], *, full: bool) -> None:
    """Print the report: the summary, one line of totals, then the calls that did not run on the backend, and (``full``) where time went."""
    console = _Output(stream)
    data = as_dict(profile, run)
    compared = ""
    if run.plain and run.process:
        ratio = f"{run.plain / run.process:.2f} times as fast as plain Python"
        compared = f", {ratio} (whole processes: {run.process:.2f} and {run.plain:.2f} s)"
    console.say("arraydispatch", f": {data['summary']} · {run.seconds:.2f} s{compared}")
    console.say("", f"  {_details(profile, run, data)}")
    for row in [row for row in data["starts"] if row["backend"] != "numpy"]:
        also = f" (in {row['count']} processes)" if row["count"] > 1 else ""
        console.say(
            "",
            f"  Importing {row['backend']} took {row['seconds']:.2f} s{also}, not included in the times of calls.",
        )
    if not run.complete:
        console.say("", "  The program was cut short: the figures are of what ran until then.")
    if data["blocks"]:
        took, plain = (sum(row[key] for row in data["blocks"]) for key in ("seconds", "by_numpy"))
        console.say(
            "",
            f"  plain NumPy would have taken about {plain:.2f} s for what ran in blocks in {took:.2f} s (measured: each kind "
            "of block was run call by call, too, the first times it came).",
        )
    if run.rng == "device":
        console.say("", "  random arrays, where the program draws any, are the library's own (--rng device).")
    limit = _LONG if full else _SHORT

    def section(title: str, rows: list[dict[str, Any]], texts: Callable[[dict[str, Any]], tuple[str, str]]) -> None:
        if not rows:
            return
        from rich.table import Table

        table = Table("count", title, "why", "where", box=None, pad_edge=False, padding=(0, 2), title_justify="left")
        for row in rows[:limit]:
            table.add_row(f"{row['count']:,}", *map(_escape, texts(row)), _escape(where(row["file"], row["line"])))
        console.print(table)
        if len(rows) > limit:
            console.print(f"  … and {len(rows) - limit} more lines (--report shows more, --report FILE.html all)")

    section("ran on the host", data["host_fallbacks"], lambda row: (row["function"], row["reason"]))
    section("kept on the host", data["left_numpy"], lambda row: (row["what"], row["why"]))
    asked = [row for row in data["transfers"] if row["why"].endswith(AT_A_DOOR.removeprefix("a library"))]
    section("went to a library", asked, lambda row: (size(row["bytes"]), row["why"]))
    gathered = [row for row in data["transfers"] if row["why"].startswith(GATHERED)]
    section("gathered from all devices", gathered, lambda row: (size(row["bytes"]), row["why"].removeprefix(GATHERED)))
    for row in data["advice"][:limit]:
        console.print(f"  [bold]{row['kind']}[/] at {_escape(where(row['file'], row['line']))}: {_escape(row['text'])}")
    if run.verification is not None:
        _print_verification(run.verification, console)
    if not full:
        return
    section("precision", data["casts"], lambda row: (f"{row['what']} → {row['why']}", "the precision policy"))
    section("waited for the device", data["syncs"], lambda row: (row["what"], row["why"]))
    moves = sorted(data["transfers"], key=lambda row: -row["bytes"])
    section(
        "moved", moves, lambda row: (f"{size(row['bytes'])} {row['direction'].replace('_', ' the ', 1)}", row["why"])
    )
    section(
        "ran in blocks",
        data["blocks"],
        lambda row: (
            f"{number(row['calls'], 'call')}, {row['seconds']:.3f} s, {row['by_numpy']:.3f} s by plain NumPy; {row['tier']}",
            f"it ended: {row['why']}",
        ),
    )
    _print_programs(data["programs_on_mesh"], console)
    section("compiled", data["compilations"], lambda row: (_compiled(row), row["backend"]))
    if data["lines"]:
        _print_tables(data, console)
    for row in data["messages"]:
        values = ", ".join(f"{key} {value}" for key, value in row["values"].items())
        console.print(f"  {row['seconds']:.3f} s  {_escape(row['text'])}{'  ' if values else ''}{_escape(values)}")


def _compiled(row: dict[str, Any]) -> str:
    kept = f", and {number(row['kept'], 'program')} kept by earlier processes" if row["kept"] else ""
    return f"{row['seconds']:.2f} s{kept}"


def _print_programs(rows: list[dict[str, Any]], console: _Output) -> None:
    """Print the programs that ran on a mesh: how operands are split, and the data that devices send each other."""
    if not rows:
        return
    from rich.table import Table

    table = Table(
        "runs",
        "program on the mesh",
        "on each device",
        "each device gets",
        "where",
        box=None,
        pad_edge=False,
        padding=(0, 2),
    )
    for row in sorted(rows, key=lambda row: -row["runs"])[:_LONG]:
        operands = [
            f"{each['count']} × {each['dtype']}{each['shape']} {_split(each['split'])}" for each in row["operands"]
        ]
        sent = [f"{each['count']} × {each['kind']} of {size(each['bytes'])}" for each in row["collectives"]]
        table.add_row(
            f"{row['runs']:,}", _escape(", ".join(operands) or "no array"), size(row["bytes_per_device"]), ", ".join(sent) or "nothing",
            _escape(row["line"]),
        )  # fmt: skip
    console.print(table)


def _split(axes: list[int]) -> str:
    if not axes:
        return "replicated"
    return f"split along axis {' and '.join(map(str, axes))}"


_REMARKS = {"left_numpy": ("array", " kept on the host"), "syncs": ("sync", ""), "casts": ("dtype change", ""), "compilations": ("compilation", "")}  # fmt: skip


def _print_tables(data: dict[str, Any], console: _Output) -> None:
    from rich.table import Table

    table = Table("function", "class", "calls", "seconds", "µs each", box=None, pad_edge=False, padding=(0, 2))
    for row in data["functions"][:_LONG]:
        each = f"{1e6 * row['seconds'] / row['count']:,.1f}" if row["count"] else ""
        table.add_row(_escape(row["function"]), row["class"], f"{row['count']:,}", f"{row['seconds']:.4f}", each)
    console.print(table)
    for name, meaning in MEANINGS.items():
        if name in data["calls_by_class"]:
            console.print(f"  [dim]{name}: {meaning}[/]")
    table = Table("line", "calls", "classes", "seconds", "moved", "", box=None, pad_edge=False, padding=(0, 2))
    for row in data["lines"][:_LONG]:
        classes = ", ".join(f"{n:,} {name}" for name, n in row["classes"].items())
        remarks = [number(row[key], noun) + rest for key, (noun, rest) in _REMARKS.items() if row[key]]
        moved = row["bytes_to_device"] + row["bytes_to_host"]
        table.add_row(
            _escape(where(row["file"], row["line"])), f"{row['calls']:,}", classes, f"{row['seconds']:.4f}",
            size(moved) if moved else "", ", ".join(remarks),
        )  # fmt: skip
    console.print(table)


def _print_verification(found: dict[str, Any], console: _Output) -> None:
    console.print(f"[bold]verify[/]: {_escape(verified(found))}")
    for row in found["differences"][:_LONG]:
        place = _escape(where(row["file"], row["line"]))
        console.print(
            f"  [bold red]differs[/] {place}: {_escape(row['function'])}, {row['count']:,} of its calls: {_escape(row['text'])}"
        )
    for row in [row for row in found["largest"] if row["error"] > 0][:_SHORT]:
        place = _escape(where(row["file"], row["line"]))
        console.print(
            f"  largest within the tolerance: {row['error']:.2g} relative, {_escape(row['function'])} at {place}"
        )
    for reason, count in found["unchecked"].items():
        console.print(f"  not checked: {count:,} × {_escape(reason)}")
