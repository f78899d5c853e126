"""NumPy's warnings, issued at the user's line that called NumPy: the innermost one outside this package."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import callers, tracing


def user_depth(inside: Callable[[str], bool] = callers.is_core) -> int:
    """Return the ``stacklevel`` that points a warning at the first frame whose file is not ``inside``: by default this package and NumPy."""
    return 1 + callers.outside(sys._getframe(1), inside)[1]


def warn(
    message: str, category: type[Warning] = RuntimeWarning, inside: Callable[[str], bool] = callers.is_core
) -> None:
    """Warn at the user's line: the first one in a file that is not ``inside``.

    Under abstract evaluation nothing is issued, and the function is not recorded: a recorded function would warn once for all its calls.
    """
    if not tracing.looked():
        warnings.warn(message, category, stacklevel=user_depth(inside))


def warn_of_cast(have: np.dtype[Any], want: np.dtype[Any]) -> bool:
    """Issue NumPy's warning if a cast from dtype ``have`` to ``want`` discards imaginary parts; return whether it does. A cast to bool does
    not.
    """
    drops = have.kind == "c" and want.kind in "fiu"
    if drops:
        warn("Casting complex values to real discards the imaginary part", np.exceptions.ComplexWarning)
    return drops


def real_of(x: Any, want: np.dtype[Any]) -> Any:
    """Return the real part of a complex NumPy value that is to be cast to a real dtype, and issue NumPy's warning. Return any other value
    itself.
    """
    return x.real if isinstance(x, np.ndarray | np.generic) and warn_of_cast(x.dtype, want) else x


class _Judge:
    """Stand-in for the user's ``np.seterrcall`` object while NumPy runs; collects the warnings to issue."""

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
        """Pass an error in the mode "log" to the user's log object; raise NumPy's NameError if there is none."""
        if self._theirs is None:
            kind = message.removeprefix("Warning: ").partition(" encountered")[0]
            raise NameError(f"log specified for {kind} (in {self.name}) but no object with write method found.")
        self._theirs.write(message)

    def listens(self) -> Any:
        """Return a context manager under which NumPy follows the user's settings, except that warnings are collected here."""
        modes: dict[str, Any] = {key: "call" if mode == "warn" else mode for key, mode in self._modes.items()}
        return np.errstate(call=self, **modes)


FLOATING_ERRORS = {"divide by zero": "divide", "overflow": "over", "underflow": "under", "invalid value": "invalid"}
"""Name of a floating-point error in NumPy's message -> its key in ``np.errstate``."""


def reporting(run: Callable[[], Any], name: str) -> Any:
    """Return ``run()``, a call of the NumPy ufunc ``name``. Its floating-point warnings name the user's line instead of one in this
    package.
    """
    judge = _Judge(name)
    try:
        with judge.listens():
            return run()
    finally:
        for kind in judge.found:
            warn(f"{kind} encountered in {name}")
