"""The one tap on everything that runs: dispatched calls, transfers, casts, fallbacks, arrays left behind.

Lower layers report here; whoever wants to know (a profile, the launcher's report) installs a :class:`Listener`. With
none installed, the cost is one comparison with None for each call.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import CodeType
from typing import Any

from . import process_state
from .process_state import process

ELEMENT = "__getitem__ (one element)"
"""The name under which reading one element is told."""
ELEMENT_SET = "__setitem__ (one element)"
"""The name under which writing one element is told."""

BLOCK = "a block of recorded calls"
"""The name under which the run of a block is told."""
RECORDED = "recorded calls"
"""The name under which calls in blocks are told, where they are only counted."""


class Listener:
    """What can be told. Subclass, override what is of interest, and let an instance :func:`begin`.

    Attributes
    ----------
    each : bool
        Whether each call is to be told, those of values on the host too, which are otherwise counted only.
    """

    each = True
    _outer: Listener | None = None
    """The one that began before, to whom this one hands on what it is told; kept by :func:`begin` and :func:`end`."""

    def call(
        self, func: Any, backend: str, kind: str, reason: str, seconds: float, result: Any = None, doors: int = 1
    ) -> None:
        """A dispatched call ended.

        Parameters
        ----------
        func : callable or str
            The NumPy function or ufunc, or a name for what has none (``"__getitem__"``, :data:`ELEMENT`).
        backend : str
            Name of the backend that holds the data.
        kind : str
            ``"override" "native" "composed" "view" "host"``: the class of the entry that ran; ``"fused"``: it was recorded,
            and ``"block"`` tells of the run of such calls. A listener files it as
            a ``"host kernel"`` if :meth:`host_kernel` was told meanwhile.
        reason : str
            Why the call went to the host; empty unless ``kind`` is ``"host"``.
        seconds : float
            Wall time of the call, up to the return of the library's function.
        result : native array, optional
            What came out, where the caller has it at hand: libraries that run asynchronously can be waited for.
        doors : int, optional
            How many frames, from that of the caller on, are known to be ours: looking at each takes 0.1 µs.
        """

    def host_kernel(self) -> None:
        """NumPy computes on the zero-copy view of an array in host memory, in the call that ends next."""

    def transfer(self, direction: str, nbytes: int, why: str, host: Any = None) -> None:
        """Bytes moved: ``direction`` is ``"to_device"``, ``"to_host"`` or ``"copy"`` (between libraries).

        ``host`` is the ndarray at the host's end.
        """

    def cast(self, have: Any, want: Any) -> None:
        """The precision policy changed a dtype."""

    def sync(self, why: str) -> None:
        """A value on an accelerator was looked at."""

    def compiled(self, backend: str, count: int, seconds: float) -> None:
        """A library compiled: what it told of took so long, and ended so many compilations (0 for a part of one)."""

    def started(self, backend: str, begin: float, end: float, mine: bool) -> None:
        """A backend's library has been loaded between these moments of ``perf_counter``; not ``mine``: another thread did, waited for."""

    def place(self) -> tuple[CodeType, int] | None:
        """The line that calls are filed under now: its code, and the instruction; None where nobody files any."""
        return None if self._outer is None else self._outer.place()

    def block_counted(self, backend: str, calls: int, seconds: float) -> None:
        """A block of so many recorded calls has been computed, of which nobody is to be told more."""

    def block(
        self, tier: str, why: str, seconds: float, by_numpy: float, parts: Sequence[tuple[tuple[CodeType, int], float]]
    ) -> None:
        """A block of recorded calls has been computed.

        Parameters
        ----------
        tier : str
            Who computed it.
        why : str
            Why it ended here.
        seconds, by_numpy : float
            Wall time, and what NumPy takes for the same calls one by one.
        parts : sequence of tuple
            Of each call: the :meth:`place` that recorded it, and its part of the work; these add up to 1.
        """

    def left(self, what: str, why: str) -> None:
        """An array stayed a NumPy array where user code might have expected otherwise."""


AT_A_DOOR = "a library asked for an ndarray"
"""Why values go to the host where ``np.asarray`` of SciPy's or Matplotlib's asks for them."""


HELD = "a value on the host, wanted by the library"
"""Why the value of an array goes to the library, which is on the host until the library is to compute on it."""


class _Inside(threading.local):
    depth = 0


inside = _Inside()
"""How many bodies are running in this thread that call NumPy themselves: those calls are part of one that is told of."""

entrance: Any = None
"""The code of ``Array.__array_ufunc__``, between a ufunc that user code calls and the door that tells of it."""

tap: Listener | None = None
"""The installed listener. Read as ``events.tap`` (never imported by value)."""
every: Listener | None = None
"""The same, where anybody is to be told of each call."""


@process.follows("tap")
def _follow() -> None:
    global every, tap
    tap = process.tap
    every = tap if told_each() else None


def begin(listener: Listener) -> None:
    """Tell a listener from now on, in place of the one before it, to which it hands on."""
    with process_state.lock:
        if listener in _chain():
            raise RuntimeError("this profile runs already; take another one for what runs inside it.")
        listener._outer = tap
        process.tap = listener


def end(listener: Listener) -> None:
    """Tell it no longer, whether or not it was the last to begin."""
    with process_state.lock:
        for inner in _chain():
            if inner._outer is listener:
                inner._outer = listener._outer
        process.tap = listener._outer if tap is listener else tap


def told_each() -> bool:
    """Whether anybody is to be told of each call."""
    return any(listener.each for listener in _chain())


def _chain() -> list[Listener]:
    found: list[Listener] = []
    each = tap
    while each is not None:
        found.append(each)
        each = each._outer
    return found
