"""Summary of a report in one sentence: which engine computed which share of the elements, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...common.process_state import process
from ..records import LARGE, MOVED, ON_BACKEND, Call

_NUMPY = "numpy"


def number(count: int, noun: str) -> str:
    """Format a count with its noun, in the plural unless the count is 1."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def computed(calls: Iterable[Call], counted: int) -> list[dict[str, Any]]:
    """Return a dict for each engine (``by``) and way of execution (``how``), with its calls, blocks, elements and seconds, most elements
    first. ``counted``: number of calls on small arrays without lines; their elements are not known.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}

    def row(by: str, how: str) -> dict[str, Any]:
        empty = {"by": by, "how": how, "calls": 0, "blocks": 0, "elements": 0, "seconds": 0.0}
        return found.setdefault((by, how), empty)

    for call in calls:
        if call.kind == "view":
            continue
        if call.kind == "program":
            own = row(call.backend, "library")
        elif call.kind in ON_BACKEND:
            own = row(call.backend, "at once" if call.backend == _NUMPY else "library")
        elif call.kind == "hosted":
            own = row(_NUMPY, {LARGE: "at once", MOVED: "moved"}.get(call.reason, "small"))
        else:
            own = row(_NUMPY, "block" if call.kind == "fused" else call.kind)
        own["blocks" if call.kind in ("block", "program") else "calls"] += call.count
        own["elements"] += call.elements
        own["seconds"] += call.seconds
    if counted:
        row(_NUMPY, "small")["calls"] += counted
    return sorted(found.values(), key=lambda own: (-own["elements"], -own["calls"]))


def _joined(parts: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))


def _percent(share: float) -> str:
    percent = 100 * share
    if 0 < percent < 0.1:
        return "less than 0.1 %"
    if 99.9 < percent < 100:
        return "more than 99.9 %"
    return f"{percent:.0f} %" if 1 <= percent <= 99 or percent in (0, 100) else f"{percent:.1f} %"


def _part(row: dict[str, Any], data: dict[str, Any]) -> str:
    """Describe calls that NumPy computed, with the reason for it."""
    calls, how, least = number(row["calls"], "call"), row["how"], data["min_size"]
    small = f"{calls} on arrays of fewer than {least:,} elements"
    if how == "block":
        blocks = number(row["blocks"], "fused block")
        return f"{small}, in {blocks}" if _leaves_small(data) else f"{calls} in {blocks} on the CPU"
    if how == "small":
        return small if least else f"{calls} on values that no device holds"
    if how == "host kernel":
        return f"{calls} on the library's own memory, where it is faster"
    if how == "moved":
        return f"{calls} that only {'moves' if row['calls'] == 1 else 'move'} elements"
    return f"{calls} that {data['backend']} cannot run" if how == "host" else f"{calls} at once"


def _leaves_small(data: dict[str, Any]) -> bool:
    """Whether the program left only small calls to NumPy, so that fused blocks consist of calls that are too small for the library."""
    return data["backend"] != _NUMPY and data["execution"] != "fused" and data["min_size"] > 0


def _blocks(row: dict[str, Any]) -> str:
    return f" in {number(row['blocks'], 'compiled block')}" if row["blocks"] else ""


def _remedy(rows: list[dict[str, Any]], data: dict[str, Any]) -> str:
    """Return the clause on how to make the library compute, given that it computed nothing; empty if no option would."""
    ways = {row["how"] for row in rows}
    if data["execution"] == "fused" and not ways.isdisjoint(("block", "small", "at once")):
        way = "--execution compiled" if process.users is not None else 'ad.use(execution="compiled")'
    elif (
        ("small" in ways and data["min_size"]) or ("block" in ways and _leaves_small(data))
    ) and process.users is not None:
        way = "--min-size 0"
    else:
        return ""
    return f"; {way} has {data['backend']} compute"


def summary(data: dict[str, Any]) -> str:
    """Return the sentence that sums up a report's data (:func:`arraydispatch.profiling.report.as_dict`)."""
    rows = [row for row in data["computed"] if row["how"] != "block" or row["blocks"]]
    numpys = [row for row in rows if row["by"] == _NUMPY]
    libraries = [row for row in rows if row["by"] != _NUMPY]
    if not rows and data["computed"]:
        return f"nothing was computed: {number(data['computed'][0]['calls'], 'call')} recorded, and nothing used the results"
    if not rows:
        return "no NumPy call met an array, so there is nothing to list"
    parts = _joined([_part(row, data) for row in numpys]) if numpys else ""
    if not libraries:
        remedy = _remedy(numpys, data) if data["backend"] != _NUMPY else ""
        return f"NumPy computed everything: {parts}{remedy}"
    if not numpys and len(libraries) == 1:
        blocks = _blocks(libraries[0])
        return f"{libraries[0]['by']} computed everything: {number(libraries[0]['calls'], 'call')}{blocks}"
    computed_rows = [row for row in rows if row["how"] != "moved"]
    counts = "elements" if any(row["elements"] for row in computed_rows) else "calls"
    whole = sum(row[counts] for row in computed_rows)
    shares = _joined([f"{row['by']} computed {_percent(row[counts] / whole)}" for row in libraries])
    blocks = f",{_blocks(libraries[0])}" if len(libraries) == 1 and libraries[0]["blocks"] else ""
    known = not data["calls_without_lines"] or counts == "calls"
    fused = " and in fused blocks" if any(row["how"] == "block" for row in rows) else ""
    of = counts if known else f"elements in arrays of {data['min_size']:,} or more{fused}"
    return f"{shares} of the {of}{blocks}{f'; NumPy computed {parts}' if parts else ''}"


def verified(found: dict[str, Any]) -> str:
    """Return the findings of ``--verify`` in one sentence, for the data of a verification."""
    unchecked, by_numpy, backend = sum(found["unchecked"].values()), found["by_numpy"], found["backend"]
    if found["checked"]:
        also = f", {unchecked:,} not checked" if unchecked else ""
        rest = f" (NumPy itself computed {by_numpy:,} more)" if by_numpy else ""
        results = f"{number(found['checked'], 'result')} of {backend}, views and new arrays included,"
        differing = number(found["differing"], "difference")
        return f"{results} compared with NumPy {np.__version__}{also} · {differing} beyond the tolerance{rest}"
    if not (unchecked or by_numpy):
        return "nothing was verified: no NumPy call met an array"
    if not by_numpy:
        return f"nothing was verified: {number(unchecked, 'result')} could not be checked"
    way = "--min-size 0" if process.users is not None else "the library"
    name = "" if backend == _NUMPY else f"; with {way}, {backend} computes and is verified"
    return f"nothing was verified: NumPy itself computed {number(by_numpy, 'result')}{name}"
