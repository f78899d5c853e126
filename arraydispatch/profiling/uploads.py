"""Detection of ndarrays that are uploaded repeatedly; a profile remembers each as long as it lives."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np

_MOST = 512
"""Number of parts of one ndarray that are remembered; of more than that, the oldest are forgotten."""
_SAMPLE = 64
"""Approximate number of single elements read in a look at the values, besides their sum."""


class _Seen(weakref.ref[np.ndarray[Any, Any]]):
    """Noted ndarray, with those of its parts that have been moved, and their contents."""

    __slots__ = ("changed", "counted", "covered", "parts")

    parts: dict[tuple[Any, ...], bytes]
    covered: int
    changed: bool
    counted: dict[int, tuple[list[Any], list[int]]]

    def count(self, row: list[Any], nbytes: int) -> None:
        """Remember the row (number, bytes) in which a move was counted."""
        mine = self.counted.setdefault(id(row), (row, [0, 0]))[1]
        mine[0] += 1
        mine[1] += nbytes

    def take_back(self) -> None:
        """Withdraw the counts of the ndarray's moves, because its values changed and moving it once would not have been enough."""
        self.changed = True
        for row, (count, nbytes) in self.counted.values():
            row[0] -= count
            row[1] -= nbytes
        self.counted.clear()


class Known:
    """Noted ndarrays."""

    def __init__(self) -> None:
        self._found: dict[int, _Seen] = {}
        self._lock = threading.RLock()

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
        """Note that a part of an ndarray moves; return its record if a single move of the whole would have been enough.

        A single move is not enough if values change in between, and each part that moves only once needs no advice.
        """
        key = part.__array_interface__["data"][0], part.shape, part.strides, part.dtype.str
        holds = _looked_at(part)
        with self._lock:
            seen = self.add(whole)
            before = seen.parts.pop(key, None)
            seen.parts[key] = holds  # move it to the end, so that it is forgotten last
            if len(seen.parts) > _MOST:
                seen.parts.pop(next(iter(seen.parts)), None)
            if before is None:
                seen.covered += part.nbytes
            elif before != holds:
                seen.take_back()
            return seen if (before is not None or seen.covered > whole.nbytes) and not seen.changed else None


def _looked_at(x: np.ndarray[Any, Any]) -> bytes:
    """Return a fingerprint of the values: their sum, and some of them."""
    every = max(1, round(_SAMPLE ** (1 / max(x.ndim, 1))))
    some = x[tuple(slice(None, None, max(1, n // every)) for n in x.shape)]
    with np.errstate(all="ignore"):
        return bytes(np.asarray(np.add.reduce(x, axis=None)).tobytes() + some.tobytes())
