"""The report as files for programs: JSON, CSV, and Chrome's trace-event format."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import IO, Any

from ..recorder import Profile
from .data import Run, as_dict


def write(
    writer: Callable[[IO[str], Profile, Run], None], path: str | os.PathLike[str], profile: Profile, run: Run
) -> None:
    """Write a file; atomically if it can be replaced, so that neither a reader nor an interruption of the process finds a partial file."""
    path = os.path.realpath(path)
    folder = os.path.dirname(path)
    # Devices and pipes cannot be replaced, nor can files in a folder that is not writable.
    if (os.path.exists(path) and not os.path.isfile(path)) or not os.access(folder, os.W_OK):
        with open(path, "w", encoding="utf-8", newline="") as stream:
            writer(stream, profile, run)
        return
    import tempfile

    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=f".{os.path.basename(path)}.")
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as stream:
            writer(stream, profile, run)
        os.chmod(temporary, _mode(path))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _mode(path: str) -> int:
    try:
        return os.stat(path).st_mode & 0o777
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask


def write_json(stream: IO[str], profile: Profile, run: Run) -> None:
    """Write the whole report as JSON."""
    json.dump(as_dict(profile, run), stream, indent=2, default=str)
    stream.write("\n")


def write_csv(stream: IO[str], profile: Profile, run: Run) -> None:
    """Write one row for each (function, line, class), each transfer, and each note."""
    import csv

    out = csv.writer(stream)
    out.writerow(["row", "what", "class", "reason", "file", "line", "count", "seconds", "bytes"])
    for call in profile.calls():
        place = call.file, call.line, call.count
        out.writerow(["call", call.function, call.kind, call.reason, *place, f"{call.seconds:.9f}", ""])
    data = as_dict(profile, run)
    for name, key in (
        ("left_numpy", "left_numpy"), ("repeated_upload", "repeated_uploads"), ("moved_back", "moved_back"),
        ("sync", "syncs"), ("cast", "casts"),
    ):  # fmt: skip
        for row in data[key]:
            out.writerow([name, row["what"], "", row["why"], row["file"], row["line"], row["count"], "", ""])
    for row in data["transfers"]:
        place = row["file"], row["line"], row["count"]
        out.writerow(["transfer", row["direction"], "", row["why"], *place, "", row["bytes"]])
    for row in data["compilations"]:
        place = row["file"], row["line"], row["count"]
        out.writerow(["compilation", row["backend"], "", "", *place, f"{row['seconds']:.9f}", ""])
    for row in data["blocks"]:
        place = row["file"], row["line"], row["count"]
        out.writerow(["block", row["tier"], "", row["why"], *place, f"{row['seconds']:.9f}", ""])
    for row in data["advice"]:
        out.writerow(["advice", row["kind"], "", row["text"], row["file"], row["line"], row["count"], "", ""])


def write_trace(stream: IO[str], profile: Profile, run: Run) -> None:
    """Write each call with its time, for ``chrome://tracing``, Perfetto or Speedscope."""
    about = {
        "program": run.program, "backend": run.backend, "version": run.version, "device": run.device,
        "precision": str(run.precision), "synchronized": profile.synchronized,
        "calls that came after the trace was full": profile.dropped_events,
    }  # fmt: skip
    stream.write('{"displayTimeUnit": "ms",\n"otherData": ')
    json.dump(about, stream)
    stream.write(',\n"traceEvents": [\n')
    for at, event in enumerate(_trace_events(profile, run)):
        stream.write(",\n" if at else "")
        json.dump(event, stream, default=str)
    stream.write("\n]}\n")


def _trace_events(profile: Profile, run: Run) -> Iterator[dict[str, Any]]:
    process = os.getpid()
    name = run.program or os.path.basename(sys.argv[0]) or "python"
    yield {"ph": "M", "name": "process_name", "pid": process, "tid": 0, "args": {"name": f"{name} on {run.backend}"}}
    for event in profile.events():
        yield {
            "ph": "X", "name": event.function, "cat": event.kind, "pid": process, "tid": event.thread,
            "ts": event.start * 1e6, "dur": event.seconds * 1e6,
            "args": {"line": f"{event.file}:{event.line}", "class": event.kind, "backend": event.backend},
        }  # fmt: skip
    moved = {"to_device": 0, "to_host": 0}
    for when, direction, nbytes in profile.moves():
        if direction in moved:
            moved[direction] += nbytes
            yield {"ph": "C", "name": "bytes moved", "pid": process, "tid": 0, "ts": when * 1e6, "args": dict(moved)}
    for message in profile.messages():
        yield {
            "ph": "i", "s": "t", "name": message.text, "cat": "message", "pid": process, "tid": message.thread,
            "ts": message.seconds * 1e6, "args": {**message.values, "line": f"{message.file}:{message.line}"},
        }  # fmt: skip
