"""What a profile tells: each record is counted for one source line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["ON_BACKEND", "Block", "Call", "Compilation", "Event", "Message", "Note", "Part", "Transfer"]

ON_BACKEND = frozenset({"override", "native", "composed"})
"""Kinds of call that the backend's library computes."""


@dataclass(frozen=True)
class Call:
    """Calls of one function from one line that ended in one way."""

    function: str
    backend: str
    kind: str
    reason: str
    file: str
    line: int
    scope: str
    count: int
    seconds: float
    grew: int = 0
    """About how often its result was larger than the one before (functions that join arrays)."""

    @property
    def on_backend(self) -> bool:
        """Whether the backend's library did the work; a view is work for nobody."""
        return self.kind in ON_BACKEND


@dataclass(frozen=True)
class Transfer:
    """Bytes that one line moved in one direction, for one reason."""

    direction: str
    why: str
    file: str
    line: int
    scope: str
    count: int
    nbytes: int


@dataclass(frozen=True)
class Note:
    """Something that happened ``count`` times at one line: an array that stayed NumPy, a sync, a cast."""

    what: str
    why: str
    file: str
    line: int
    scope: str
    count: int
    nbytes: int = 0


@dataclass(frozen=True)
class Compilation:
    """What a library compiled for calls from one line."""

    backend: str
    file: str
    line: int
    scope: str
    count: int
    seconds: float
    again: int
    """How many calls compiled although one before them, from the same place, had done so: for another shape or dtype."""


@dataclass(frozen=True)
class Block:
    """Blocks of recorded calls that ended at one line, for one reason, and were computed in one way."""

    tier: str
    """Who computed them."""
    why: str
    """Why they ended there."""
    file: str
    line: int
    scope: str
    count: int
    calls: int
    """How many calls were in them."""
    seconds: float
    by_numpy: float
    """Seconds that NumPy takes for the same calls, one after the other: each kind of block was run that way the first times it came."""


@dataclass(frozen=True)
class Part:
    """What one line recorded, and its share of the time of the blocks that computed it."""

    file: str
    line: int
    scope: str
    calls: int
    seconds: float
    by_numpy: float
    """As of :class:`Block`."""


@dataclass(frozen=True)
class Message:
    """What the program told the profile."""

    seconds: float
    """Since the profile began."""
    text: str
    values: dict[str, Any]
    file: str
    line: int
    thread: int


@dataclass(frozen=True)
class Event:
    """One call, in a trace."""

    start: float
    """Seconds since the profile began."""
    seconds: float
    function: str
    backend: str
    kind: str
    file: str
    line: int
    thread: int
