"""Which ndarrays have been on their way to a device before: what a profile remembers of them, for as long as they live."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np

__all__ = ["Known"]

_MOST = 512
"""Parts of one ndarray that are told apart; beyond that there are many, and the oldest are forgotten."""
_SAMPLE = 64
"""About how many single elements a look at the values takes, besides their sum."""


class _Seen(weakref.ref[np.ndarray[Any, Any]]):
    """An ndarray that was noted, and which of its parts have been moved, with what they held."""

    __slots__ = ("changed", "counted", "covered", "parts")

    parts: dict[tuple[Any, ...], bytes]
    covered: int
    changed: bool
    counted: dict[int, tuple[list[Any], list[int]]]

    def count(self, row: list[Any], nbytes: int) -> None:
        """Remember that a move counts in a row, (how often, how many bytes)."""
        mine = self.counted.setdefault(id(row), (row, [0, 0]))[1]
        mine[0] += 1
        mine[1] += nbytes

    def take_back(self) -> None:
        """Its values change: whoever had moved it once would have to do so again."""
        self.changed = True
        for row, (count, nbytes) in self.counted.values():
            row[0] -= count
            row[1] -= nbytes
        self.counted.clear()


class Known:
    """Ndarrays that were noted."""

    def __init__(self) -> None:
        self._found: dict[int, _Seen] = {}
        self._lock = threading.Lock()

    def __contains__(self, x: Any) -> bool:
        found = self._found.get(id(x))
        return found is not None and found() is x

    def add(self, x: Any) -> _Seen:
        """Note an ndarray."""
        key = id(x)
        found = self._found.get(key)
        if found is None or found() is not x:
            found = self._found[key] = _Seen(x, lambda _: self._found.pop(key, None))
            found.parts, found.covered, found.changed, found.counted = {}, 0, False, {}
        return found

    def again(self, whole: np.ndarray[Any, Any], part: np.ndarray[Any, Any]) -> _Seen | None:
        """Note that a part of an ndarray moves; what is known of it, if having moved the whole of it once would have done.

        It would not where values change between, nor where each part moves once.
        """
        key = part.__array_interface__["data"][0], part.shape, part.strides, part.dtype.str
        holds = _looked_at(part)
        with self._lock:
            seen = self.add(whole)
            before = seen.parts.pop(key, None)
            seen.parts[key] = holds  # the last to be forgotten
            if len(seen.parts) > _MOST:
                del seen.parts[next(iter(seen.parts))]
            if before is None:
                seen.covered += part.nbytes
            elif before != holds:
                seen.take_back()
            return seen if (before is not None or seen.covered > whole.nbytes) and not seen.changed else None


def _looked_at(x: np.ndarray[Any, Any]) -> bytes:
    """What tells values that have changed: their sum, and some of them."""
    every = max(1, round(_SAMPLE ** (1 / max(x.ndim, 1))))
    some = x[tuple(slice(None, None, max(1, n // every)) for n in x.shape)]
    with np.errstate(all="ignore"):
        return bytes(np.asarray(np.add.reduce(x, axis=None)).tobytes() + some.tobytes())
