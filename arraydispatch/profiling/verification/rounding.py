"""Differences by rounding that later functions amplify: 1e-13 in place of 0 is a correct rounding, but may turn an angle by
180 degrees.

Every call is compared with NumPy's result for the program's own inputs, so consequences of an earlier difference would look like errors.
Therefore NumPy's value of an array that is not bit for bit equal is kept for a few calls, and functions that jump are
compared with their results for that value.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .comparison import Finding

_FEW = 4
"""Number of calls after which a difference is no longer followed, because the program itself may amplify it."""
_KEPT, _LARGEST = 64, 1 << 20
"""Number of arrays kept, and largest number of elements of each."""
_JUMP = 1e-3
"""Relative difference that is more than an amplified rounding error."""


class Other(NamedTuple):
    """Value of an array (``ours``), and NumPy's value, which differs."""

    ours: np.ndarray[Any, Any]
    numpys: np.ndarray[Any, Any]
    calls: int
    origin: str
    """The call that differs, and its line."""


class Nearby:
    """The last arrays of one thread that differ from NumPy's."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, Other] = OrderedDict()

    def of(self, x: Any, host: Any) -> Other | None:
        """Return the two values kept for an argument; None if there are none, or if the argument has changed since."""
        found = self._kept.get(id(x))
        if found is None or not isinstance(host, np.ndarray) or not _identical(host, found.ours):
            return None
        return found

    def keep(self, x: Any, ours: Any, numpys: Any, calls: int, origin: Callable[[], str]) -> None:
        """Keep NumPy's value of a floating result that differs in any bit, unless it is large or ``calls`` exceeds a limit."""
        if calls > _FEW or not isinstance(ours, np.ndarray) or not isinstance(numpys, np.ndarray):
            return
        if ours.dtype.kind not in "fc" or not 0 < ours.size <= _LARGEST or ours.dtype != numpys.dtype:
            return
        if ours.shape == numpys.shape and not _identical(ours, numpys):
            self._kept[id(x)] = Other(ours.copy(), numpys.copy(), calls, origin())
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)


def _identical(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def jump(jumps: str | None, ours: Any, numpys: Any, sizes: float, origin: str) -> Finding | None:
    """Return the largest difference that rounding of an argument has made, if it is a jump, else None; of several results, the first
    such difference. ``sizes``: the largest magnitude in the arguments.

    ``jumps`` is the known behaviour of the function (:class:`arraydispatch.functions.registry.Facts`); any function may
    separate numbers from NaN and infinity.
    """
    if isinstance(ours, tuple | list) and isinstance(numpys, tuple | list):
        found = [jump(jumps, a, b, sizes, origin) for a, b in zip(ours, numpys)]
        return next((finding for finding in found if finding is not None), None)
    a, b = np.asarray(ours), np.asarray(numpys)
    if a.shape != b.shape or not a.size or not {a.dtype.kind, b.dtype.kind} <= set("biufc"):
        return None
    with np.errstate(all="ignore"):
        parted = np.isfinite(a) != np.isfinite(b)
        if jumps is not None:
            scale = {"exact": 0.0, "unit": 1.0, "operand": sizes}[jumps]
            apart = np.abs(np.subtract(a, b, dtype=np.result_type(a, b, np.float64)))
            bound = np.maximum(np.abs(b), scale) if scale else np.full(b.shape, 0.1)
            error = np.where(apart > 0, apart / np.where(bound > 0, bound, 1.0), 0.0)
            error = np.where(parted, np.inf, np.where(np.isnan(error), 0.0, error))
        else:
            error = np.where(parted, np.inf, 0.0)
    at = np.unravel_index(int(np.argmax(error)), error.shape)
    if error[at] <= _JUMP:
        return None
    place = tuple(map(int, at))
    where = f" at {list(place)}" if place else ""
    says = f"{a[at]} where NumPy has {b[at]}{where}, because of what rounding left of {origin}"
    return Finding(float(error[at]), _JUMP, place, a[at], b[at], says)
