"""Places in the user's code whose calls on arrays of medium size are recorded: those whose blocks were worth it.

From :data:`arraydispatch.engine.recording.tape.least` elements on every call is recorded. Between :data:`LEAST` elements and that, it
depends on what becomes of it. A place at which a block began has a *balance*: the sum of the gains of these blocks
(:attr:`arraydispatch.engine.host_blocks.blocks.Block.gain`). A place whose balance is used up leaves its calls to NumPy, for twice as many of them each time.

Only calls, elements and plans are counted, no clock is read: two runs of a program record the same calls, and compute the same blocks.
"""

from __future__ import annotations

from sys import _getframe
from types import CodeType, FrameType
from typing import Any

from . import fp_reports

__all__ = ["LEAST", "Site", "here"]

LEAST = 1 << 14
"""Elements from which on a call may be recorded, if its place is worth it."""
BUDGET = 5 << 20
"""Balance of a new place."""
AGAIN = 5 << 20
"""Balance of a place that is tried again."""
RICHEST = 1 << 25
"""The greatest balance: what a place may lose that has been worth it for long."""
BEFORE = 16
"""Calls of a place that are left to NumPy before the first is recorded: what comes once is not worth a plan."""
LONGEST = 1 << 16
"""The most calls that are left to NumPy before a place is tried again."""
MOST = 4096
"""Places that are remembered."""


class Site:
    """A place in the user's code, for arrays of some size.

    Attributes
    ----------
    code, instruction
        The place.
    scale : int
        Bits of the number of elements.
    balance : int
        What the blocks that began here have saved, less what they cost.
    left : int
        Calls that are left to NumPy until one is recorded.
    pause : int
        How many they were the last time.
    """

    __slots__ = ("balance", "code", "instruction", "left", "pause", "scale")

    def __init__(self, code: Any, instruction: int, scale: int) -> None:
        self.code, self.instruction, self.scale = code, instruction, scale
        self.balance, self.left, self.pause = BUDGET, BEFORE, BEFORE

    def is_worth_it(self) -> bool:
        """Whether a call here, while nothing is recorded, is recorded."""
        if self.left:
            self.left -= 1
            return False
        return True

    def settle(self, gain: int) -> None:
        """Count what a block that began here has saved, less what it cost."""
        self.balance = min(self.balance + gain, RICHEST)
        if self.balance < 0:
            self.balance = AGAIN
            self.left = self.pause = min(4 * self.pause, LONGEST)


_sites: dict[int, Site] = {}
"""By where the instruction lies in the memory of its code, which a site keeps alive, and the scale."""


def here(size: Any) -> Site:
    """Return the place of the user's call that is running, for so many elements."""
    frame: FrameType = _getframe(0)
    code: CodeType = frame.f_code
    while fp_reports.is_inside(code.co_filename) and frame.f_back is not None:
        frame = frame.f_back
        code = frame.f_code
    at, scale = frame.f_lasti, size.bit_length()
    key = id(code) + at << 6 | scale
    site = _sites.get(key)
    if site is None or site.code is not code or site.instruction != at or site.scale != scale:
        if len(_sites) >= MOST:
            _sites.clear()
        site = _sites[key] = Site(code, at, scale)
    return site
