"""Warnings that NumPy gives, at the line that called NumPy: the user's, which is the first one outside this package."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np

from . import callers


def user_depth() -> int:
    """``stacklevel`` that points a warning at the first frame outside this package and NumPy."""
    return 1 + callers.outside(sys._getframe(1), callers.is_core)[1]


def user_frame() -> FrameType:
    """The first frame outside this package and NumPy; the outermost one if there is none."""
    return callers.outside(sys._getframe(1), callers.is_core)[0]


def warn(message: str, category: type[Warning] = RuntimeWarning) -> None:
    """Warn at the user's line."""
    warnings.warn(message, category, stacklevel=user_depth())


def warn_of_cast(have: np.dtype[Any], want: np.dtype[Any]) -> bool:
    """Whether a cast drops imaginary parts, of which NumPy warns; one to bool drops none."""
    drops = have.kind == "c" and want.kind in "fiu"
    if drops:
        warn("Casting complex values to real discards the imaginary part", np.exceptions.ComplexWarning)
    return drops


def real_of(x: Any, want: np.dtype[Any]) -> Any:
    """What an array or scalar of NumPy's leaves in an array of this dtype: its real part, said so, or itself."""
    return x.real if isinstance(x, np.ndarray | np.generic) and warn_of_cast(x.dtype, want) else x


class _Judge:
    """Stands in for the user's own ``np.seterrcall`` object while NumPy runs, and keeps the warnings that are due."""

    def __init__(self, name: str) -> None:
        self.found: list[str] = []
        self.name = name
        self._modes: dict[str, Any] = {**np.geterr()}
        self._theirs: Any = np.geterrcall()

    def __call__(self, kind: str, flag: int) -> None:
        if self._modes[FLOATING_ERRORS[kind]] == "warn":
            self.found.append(kind)
        elif self._theirs is None:
            raise NameError(f"python callback specified for {kind} (in  {self.name}) but no function found.")
        else:
            self._theirs(kind, flag)

    def write(self, message: str) -> None:
        """What NumPy calls for the mode "log"."""
        if self._theirs is None:
            kind = message.removeprefix("Warning: ").partition(" encountered")[0]
            raise NameError(f"log specified for {kind} (in {self.name}) but no object with write method found.")
        self._theirs.write(message)

    def listens(self) -> Any:
        """The user's rule, except that warnings come here."""
        modes: dict[str, Any] = {key: "call" if mode == "warn" else mode for key, mode in self._modes.items()}
        return np.errstate(call=self, **modes)


FLOATING_ERRORS = {"divide by zero": "divide", "overflow": "over", "underflow": "under", "invalid value": "invalid"}
"""What NumPy says of a floating-point error -> its key in ``np.errstate``."""


def reporting(run: Callable[[], Any], name: str) -> Any:
    """Run a ufunc of NumPy's, whose floating-point warnings then name the user's line instead of ours."""
    judge = _Judge(name)
    try:
        with judge.listens():
            return run()
    finally:
        for kind in judge.found:
            warn(f"{kind} encountered in {name}")
