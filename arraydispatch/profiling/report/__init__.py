"""Output of profiles for people and programs: terminal, HTML, JSON, CSV, a trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO

from ...common.signal_safety import imported
from ..recorder import Profile
from .data import Run, as_dict
from .files import write, write_csv, write_json, write_trace
from .terminal import print_report, print_verification, short

__all__ = [
    "WRITERS", "Run", "Writer", "as_dict", "print_report", "print_verification", "short", "write",
    "write_trace",
]  # fmt: skip


def write_html(stream: IO[str], profile: Profile, run: Run) -> None:
    """Write the report as an HTML page. The module that writes the page is imported when this function is called."""
    imported("arraydispatch.profiling.report.html").write_html(stream, profile, run)


Writer = Callable[[IO[str], Profile, Run], None]

WRITERS: dict[str, Writer] = {".html": write_html, ".json": write_json, ".csv": write_csv}
"""File suffix -> writer."""
