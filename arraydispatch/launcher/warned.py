"""NumPy's own warnings at the user's line.

Where NumPy itself computes (small arrays, the NumPy backend), it warns of a division by zero at the line that called it, which
is one of ours; Python then shows the warning once for all. The modules that call NumPy keep no record of what was shown
(``__warningregistry__ = None``), and what they would show is issued again for the line of the user's file.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

__all__ = ["at_user_lines"]

_OURS = (os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep, os.path.dirname(np.__file__) + os.sep)


@contextmanager
def at_user_lines() -> Iterator[None]:
    """Python's way to show warnings, exchanged for as long as the block runs."""
    before = warnings.showwarning

    def show(
        message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: str | None = None
    ) -> None:
        frame = sys._getframe(1) if category is RuntimeWarning and filename.startswith(_OURS[0]) else None
        while frame is not None and (frame.f_code.co_filename.startswith(_OURS) or frame.f_globals is vars(warnings)):
            frame = frame.f_back
        if frame is None:
            before(message, category, filename, lineno, file, line)
            return
        names = frame.f_globals
        registry = names.setdefault("__warningregistry__", {})
        place = frame.f_code.co_filename, frame.f_lineno, names.get("__name__")
        warnings.warn_explicit(message, category, *place, registry)

    warnings.showwarning = show
    try:
        yield
    finally:
        if warnings.showwarning is show:
            warnings.showwarning = before
