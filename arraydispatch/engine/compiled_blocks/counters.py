"""Counters of compiled execution: programs, seconds of compiling, look-ups, synchronisations with their lines."""

from __future__ import annotations

from collections import Counter

from ...common import events, tracing

__all__ = ["Counters", "counters", "synchronised"]


class Counters:
    """Totals of the process since it began, or since :meth:`clear`.

    Attributes
    ----------
    calls : int
        Recorded calls.
    blocks, interpreted : int
        Blocks that have run, and those of them that ran call by call.
    programs : int
        Programs compiled.
    refused : int
        Blocks that were not compiled because their place had its share of programs.
    seconds : float
        Time of tracing and compiling.
    elements : dict of str to int
        Elements computed by ``"program"`` and by ``"call"``.
    synchronisations : Counter
        Line of the user's code -> looks at a value that was not there. The key is ``""`` where nobody asks for lines.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begin again."""
        self.calls = self.blocks = self.interpreted = self.programs = self.refused = 0
        self.seconds = 0.0
        self.elements = {"program": 0, "call": 0}
        self.synchronisations: Counter[str] = Counter()


counters = Counters()
"""Those of this process."""


def synchronised(why: str) -> None:
    """Count a look at a value, by its line where a listener files calls."""
    counters.synchronisations[tracing.user_line() if events.every is not None else ""] += 1
    if events.tap is not None:
        events.tap.sync(why)
