"""Output of profiles for people and programs: terminal, HTML, JSON, CSV, a trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import IO

from ..recorder import Profile
from .data import Run, as_dict
from .files import write, write_csv, write_json, write_trace
from .html import missing, write_html
from .terminal import print_report, print_verification, short

__all__ = [
    "WRITERS", "Run", "Writer", "as_dict", "missing", "print_report", "print_verification", "short", "write",
    "write_trace",
]  # fmt: skip

Writer = Callable[[IO[str], Profile, Run], None]

WRITERS: dict[str, Writer] = {".html": write_html, ".json": write_json, ".csv": write_csv}
"""File suffix -> writer."""
