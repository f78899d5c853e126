"""Counters of compiled execution: programs, seconds of compiling, look-ups, synchronisations with their lines."""

from __future__ import annotations

from collections import Counter

from ...common import events, tracing

__all__ = ["Counters", "counters", "synchronised"]


class Counters:
    """Totals of the process since it started, or since :meth:`clear`.

    Attributes
    ----------
    calls : int
        Recorded calls.
    blocks, interpreted : int
        Number of blocks that have run, and of those that ran call by call.
    programs : int
        Programs compiled.
    refused : int
        Blocks that were not compiled because their place had the maximum number of programs.
    seconds : float
        Time of tracing and compiling.
    elements : dict of str to int
        Elements computed by ``"program"`` and by ``"call"``.
    synchronisations : Counter
        Line of the user's code -> number of reads of a value that was not computed yet. The key is ``""`` if no listener wants lines.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Set all totals to zero."""
        self.calls = self.blocks = self.interpreted = self.programs = self.refused = 0
        self.seconds = 0.0
        self.elements = {"program": 0, "call": 0}
        self.synchronisations: Counter[str] = Counter()


counters = Counters()
"""The totals of this process."""


def synchronised(why: str) -> None:
    """Count a read of a deferred value, under the user's line if a listener files calls by line, and report it, with the reason ``why``."""
    counters.synchronisations[tracing.user_line() if events.every is not None else ""] += 1
    if events.tap is not None:
        events.tap.sync(why)
