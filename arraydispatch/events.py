"""The one tap on everything that runs: dispatched calls, transfers, fallbacks, arrays left behind.

Lower layers report here; whoever wants to know (a profile, the launcher's report) installs a :class:`Listener`. With
none installed, the cost is one comparison with None for each call.
"""

from __future__ import annotations

from typing import Any


class Listener:
    """What can be told. Subclass, override what is of interest, and :func:`install` an instance."""

    def call(self, func: Any, backend: str, kind: str, reason: str, seconds: float) -> None:
        """A dispatched call ended.

        Parameters
        ----------
        func : callable
            The NumPy function or ufunc, or a string for what has none (``"__getitem__"``, ``"__setitem__"``).
        backend : str
            Name of the backend that holds the data.
        kind : str
            ``"override" "native" "composed" "view" "host"``: the class of the entry that ran.
        reason : str
            Why the call went to the host; empty unless ``kind`` is ``"host"``.
        seconds : float
            Wall time of the call.
        """

    def transfer(self, direction: str, nbytes: int, why: str) -> None:
        """Bytes moved: ``direction`` is ``"to_device"``, ``"to_host"`` or ``"copy"`` (between libraries)."""

    def sync(self, why: str) -> None:
        """A value on an accelerator was looked at."""

    def left(self, what: str, why: str) -> None:
        """An array stayed a NumPy array where user code might have expected otherwise."""


tap: Listener | None = None
"""The installed listener. Read as ``events.tap`` (never imported by value)."""


def install(listener: Listener | None) -> Listener | None:
    """Install a listener (None: remove) and return the one before it."""
    global tap
    before, tap = tap, listener
    return before
