"""Records of a profile, one for each source line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

ON_BACKEND = frozenset({"override", "native", "composed"})
"""Classes of calls that the backend's library computes."""

LARGE = "it makes or writes values, or no block holds it"
"""Reason why NumPy runs a call on a large array immediately on the host."""

MOVED = "it only moves elements"
"""Reason why NumPy runs a call that computes nothing: the values are in host memory."""


@dataclass(eq=False)
class Call:
    """Calls of one function, from one line, of one class."""

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
    """Approximate number of calls whose result was larger than that of the call before (functions that join arrays)."""
    elements: int = 0
    """Sum over the calls of the number of elements of the largest operand or result."""

    @property
    def on_backend(self) -> bool:
        """Whether the backend's library did the work; False for views."""
        return self.kind in ON_BACKEND


@dataclass(eq=False)
class Transfer:
    """Bytes that one line moved in one direction, for one reason."""

    direction: str
    why: str
    file: str
    line: int
    scope: str
    count: int
    nbytes: int


@dataclass(eq=False)
class Note:
    """Event that happened ``count`` times at one line: an array kept on the host, a sync, a cast."""

    what: str
    why: str
    file: str
    line: int
    scope: str
    count: int
    nbytes: int = 0


@dataclass(eq=False)
class Compilation:
    """Compilations by a library for calls from one line."""

    backend: str
    file: str
    line: int
    scope: str
    count: int
    seconds: float
    again: int
    """Number of calls that compiled again, for another shape or dtype than an earlier call from the same place."""
    kept: int
    """Number of programs that were not compiled, because an earlier process had stored them."""


@dataclass(eq=False)
class Block:
    """Blocks of recorded calls that ended at one line, for one reason, and were computed by one engine."""

    tier: str
    """Engine that computed the blocks."""
    why: str
    """Reason why the blocks ended there."""
    file: str
    line: int
    scope: str
    count: int
    calls: int
    """Number of calls in the blocks."""
    seconds: float
    by_numpy: float
    """Seconds that NumPy takes for the same calls one by one, as measured in the first few runs of each form of block.
    """


class Part(NamedTuple):
    """Calls recorded by one line, with its share of the time of the blocks that computed them."""

    file: str
    line: int
    scope: str
    calls: int
    seconds: float
    by_numpy: float
    """As in :class:`Block`."""


class Message(NamedTuple):
    """Message that the program added to the profile."""

    seconds: float
    """Time since the profile began."""
    text: str
    values: dict[str, Any]
    file: str
    line: int
    thread: int


class Event(NamedTuple):
    """Single call, in a trace."""

    start: float
    """Time since the profile began, in seconds."""
    seconds: float
    function: str
    backend: str
    kind: str
    file: str
    line: int
    thread: int
