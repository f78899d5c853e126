"""The report as plain data, from which every output format starts."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, NamedTuple

import numpy as np

from ...api import public
from ...runtime import settings
from ..recorder import Profile
from ..records import Call, Note, Transfer
from .advice import advise
from .summary import computed, summary


class Run(NamedTuple):
    """Facts about the run as a whole.

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
        Source of random numbers: ``"numpy"`` or ``"device"``.
    program : str
        Name of the program, as reports show it.
    complete : bool
        False in a report of a program that was still running, or that was interrupted: by Ctrl-C, by ``SIGTERM``.
    verification : dict, optional
        Result of ``--verify`` (:meth:`arraydispatch.profiling.verification.Verification.as_dict`).
    why : str
        Reason for the choice of this backend, if the user did not name it.
    plain, process : float, optional
        Seconds that the whole process took under plain Python, and that this process took.
    programs : list of dict, optional
        Programs that ran on a mesh of devices, with their collectives.
    """

    backend: str
    version: str
    device: str
    precision: Any
    seconds: float
    rng: str = "numpy"
    program: str = ""
    complete: bool = True
    verification: dict[str, Any] | None = None
    why: str = ""
    plain: float | None = None
    process: float | None = None
    programs: list[dict[str, Any]] | None = None

    @staticmethod
    def of(profile: Profile) -> Run:
        """Describe the run of a profile, under the settings in force now."""
        backend = public.default_backend()
        return Run(backend.name, backend.version, backend.devices()[0].name, public.get_precision(), profile.wall)


def _place(row: Call | Note) -> dict[str, Any]:
    return {"file": row.file, "line": row.line, "count": row.count}


def _notes(rows: Iterable[Note]) -> list[dict[str, Any]]:
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


def _lines(profile: Profile, calls: list[Call], transfers: list[Transfer], kept: list[Note]) -> list[dict[str, Any]]:
    found: dict[tuple[str, int], dict[str, Any]] = {}

    def at(file: str, line: int) -> dict[str, Any]:
        empty = {
            "file": file, "line": line, "calls": 0, "host_fallbacks": 0, "left_numpy": 0, "bytes_to_device": 0,
            "bytes_to_host": 0, "syncs": 0, "casts": 0, "compilations": 0, "seconds": 0.0, "seconds_by_numpy": 0.0, "classes": {}, "functions": {},
        }  # fmt: skip
        return found.setdefault((file, line), empty)

    for call in calls:
        row = at(call.file, call.line)
        if call.kind != "block":  # a block is not a call, and its time belongs to the lines that recorded it
            row["calls"] += call.count
            row["seconds"] += call.seconds
        row["classes"][call.kind] = row["classes"].get(call.kind, 0) + call.count
        row["functions"][call.function] = row["functions"].get(call.function, 0) + call.count
        if call.kind == "host":
            row["host_fallbacks"] += call.count
    for key, notes in (("left_numpy", kept), ("syncs", profile.syncs()), ("casts", profile.casts())):
        for note in notes:
            at(note.file, note.line)[key] += note.count
    for compiled in profile.compilations():
        at(compiled.file, compiled.line)["compilations"] += compiled.count
    for part in profile.parts():
        row = at(part.file, part.line)
        row["seconds"] += part.seconds
        row["seconds_by_numpy"] += part.by_numpy
    for moved in transfers:
        if moved.direction in ("to_device", "to_host"):
            at(moved.file, moved.line)[f"bytes_{moved.direction}"] += moved.nbytes
    return sorted(found.values(), key=lambda row: -row["seconds"])


def as_dict(profile: Profile, run: Run) -> dict[str, Any]:
    """Return the report as plain data, as written by ``--report FILE.json``."""
    calls, transfers, compilations = profile.calls(), profile.transfers(), profile.compilations()
    kept = [] if run.backend == "numpy" else profile.left_numpy()  # with NumPy, every array is on the host
    data = {
        "summary": "",
        "computed": computed(calls, profile.counted),
        "program": run.program,
        "complete": run.complete,
        "processes": profile.tally().processes,
        "backend": run.backend,
        "version": run.version,
        "device": run.device,
        "why": run.why,
        "precision": run.precision,
        "execution": settings.default.execution,
        "min_size": settings.default.min_size,
        "rng": run.rng,
        "numpy": np.__version__,
        "python": sys.version.split()[0],
        "seconds": run.seconds,
        "seconds_of_process": run.process,
        "seconds_by_plain_python": run.plain,
        "seconds_in_calls": sum(call.seconds for call in calls),
        "synchronized": profile.synchronized,
        "calls_on_backend": profile.calls_on_backend,
        "calls_without_lines": profile.counted,
        "calls_by_class": profile.calls_by_class(),
        "seconds_by_class": profile.seconds_by_class(),
        "starts": [
            {"backend": name, "count": count, "seconds": seconds} for name, (count, seconds) in profile.starts().items()
        ],
        "host_fallbacks": [
            {"function": call.function, "reason": call.reason, **_place(call)} for call in profile.host_fallbacks()
        ],
        "left_numpy": _notes(kept),
        "repeated_uploads": _notes(profile.repeated_uploads()),
        "moved_back": _notes(profile.returns()),
        "syncs": _notes(profile.syncs()),
        "casts": _notes(profile.casts()),
        "bytes_to_device": sum(row.nbytes for row in transfers if row.direction == "to_device"),
        "bytes_to_host": sum(row.nbytes for row in transfers if row.direction == "to_host"),
        "transfers": [
            {"direction": row.direction, "why": row.why, "file": row.file, "line": row.line, "count": row.count,
             "bytes": row.nbytes} for row in transfers
        ],
        "seconds_compiling": sum(row.seconds for row in compilations),
        "compilations": [asdict(row) for row in compilations],
        "blocks": [asdict(row) for row in profile.blocks()],
        "functions": _functions(calls),
        "lines": _lines(profile, calls, transfers, kept),
        "advice": [asdict(advice) for advice in advise(profile, calls, transfers)],
        "messages": [message._asdict() for message in profile.messages()],
        "programs_on_mesh": run.programs or [],
        "verification": run.verification,
    }  # fmt: skip
    data["summary"] = summary(data)
    return data
