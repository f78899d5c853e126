"""Listeners to everything that runs: dispatched calls, transfers, casts, host fallbacks, arrays kept on the host.

Lower layers report events here, and a profile or the launcher's report installs a :class:`Listener` to receive them.
With none installed, an event costs one comparison with None.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Any

from . import process_state
from .process_state import process

ELEMENT = "__getitem__ (one element)"
"""Name under which reading one element is reported."""
ELEMENT_SET = "__setitem__ (one element)"
"""Name under which writing one element is reported."""

BLOCK = "a block of recorded calls"
"""Name under which the execution of a block is reported."""
PROGRAM = "a compiled block"
"""Name under which the run of a compiled program is reported."""
ONE_BY_ONE = "recorded calls, one by one"
"""Name under which the run of a block that is not compiled yet is reported."""
RECORDED = "recorded calls"
"""Name under which calls recorded in blocks are reported together, by a listener that only counts them."""


class Listener:
    """Base class for receivers of events. Override the methods of interest and pass an instance to :func:`begin`.

    Attributes
    ----------
    each : bool
        Whether every call is reported, including calls on host values, which are otherwise only counted.
    """

    each = True
    _outer: Listener | None = None
    """Listener installed before this one, to which events are passed on; maintained by :func:`begin` and :func:`end`."""

    def call(
        self, func: Any, backend: str, kind: str, reason: str, seconds: float, result: Any = None, doors: int = 1,
        operands: Any = (),
    ) -> None:  # fmt: skip
        """Record that a dispatched call has ended.

        Parameters
        ----------
        func : callable or str
            The NumPy function or ufunc, or a name for an operation without one (``"__getitem__"``, :data:`ELEMENT`).
        backend : str
            Name of the backend that holds the data.
        kind : str
            ``"override" "native" "composed" "view" "host"``: the class of the entry that ran; ``"hosted"``: NumPy ran on values in the host
            state; ``"fused"``: the call was recorded; ``"block"``: a block of recorded calls ran. A listener files the call as a
            ``"host kernel"`` if :meth:`host_kernel` was called meanwhile.
        reason : str
            Reason for a host fallback; empty unless ``kind`` is ``"host"``.
        seconds : float
            Wall time of the call, up to the return of the library's function.
        result : native array, optional
            The result, if the caller has it at hand: a listener can wait for it if the library runs asynchronously.
        doors : int, optional
            Number of frames, counted from the caller's, that are known to belong to this package. The listener skips these frames, because
            inspecting a frame takes 0.1 µs.
        operands : sequence or int, optional
            Operands of a call whose result may be smaller than they; or the number of elements of the call. That number is the size
            of the largest operand or result.
        """

    def host_kernel(self) -> None:
        """Record that the call that ends next computes with NumPy on a zero-copy view of an array in host memory."""

    def transfer(self, direction: str, nbytes: int, why: str, host: Any = None) -> None:
        """Record a transfer of ``nbytes`` bytes, with the reason ``why``. ``direction``: ``"to_device"``, ``"to_host"`` or ``"copy"``
        (between libraries). ``host``: the ndarray on the host side.
        """

    def cast(self, have: Any, want: Any) -> None:
        """Record that the precision policy changed a dtype from ``have`` to ``want``."""

    def sync(self, why: str) -> None:
        """Record that a value on an accelerator was read, with the reason ``why``."""

    def compiled(self, backend: str, count: int, seconds: float, kept: int = 0) -> None:
        """Record the time of compilations by a library, and the number of compilations that ended in that time (0 if none has ended yet).

        ``kept``: number of programs that were read from the library's cache instead, because an earlier process had compiled them.
        """

    def started(self, backend: str, begin: float, end: float, mine: bool) -> None:
        """Record that a backend's library was imported between two values of ``perf_counter``.

        ``mine`` is false if another thread imported it and this one waited.
        """

    def place(self) -> tuple[CodeType, int] | None:
        """Return the source line under which calls are filed now, as its code object and the offset of its bytecode instruction; None if no
        listener files calls.
        """
        return None if self._outer is None else self._outer.place()

    def block_counted(self, backend: str, calls: int, seconds: float, elements: int = 0) -> None:
        """Record that a block of ``calls`` recorded calls has been computed, if no details are wanted.

        ``elements``: the sum of the elements of each call.
        """

    def tape_ran(self, backend: str, programs: int, seconds: float) -> None:
        """Record that the library ran recorded calls, each of which was reported when it was recorded.

        ``programs``: the number of compiled programs among what ran; 0 if all calls ran one by one.
        """

    def block(
        self, tier: str, why: str, seconds: float, by_numpy: float, parts: Sequence[tuple[tuple[CodeType, int], float]]
    ) -> None:
        """Record that a block of recorded calls has been computed.

        Parameters
        ----------
        tier : str
            The engine that computed it.
        why : str
            Reason for which the block ended.
        seconds, by_numpy : float
            Wall time, and the time that NumPy takes for the same calls one by one.
        parts : sequence of tuple
            For each call: the :meth:`place` that recorded it, and its share of the work; the shares add up to 1.
        """

    def left(self, what: str, why: str) -> None:
        """Record that an array was kept on the host although user code might expect it in the library.

        ``what``: the function or class that the array came from, such as ``"numpy.load"``; ``why``: the reason.
        """


AT_A_DOOR = "a library asked for an ndarray"
"""Reason for a transfer to the host: ``np.asarray`` called by a library such as SciPy or Matplotlib."""

GATHERED = "gathered from all devices: "
"""Beginning of the reason for a transfer to the host of an array that is split over a mesh."""


HELD = "a value on the host, wanted by the library"
"""Reason for a transfer to the library: the array's value was still on the host when the library was to compute on it."""


class _Inside(threading.local):
    body: FrameType | None = None
    """Frame of the outermost running body that calls NumPy; those calls are part of the call reported for the body."""
    seconds = 0.0
    """Time of the calls in the body that are reported separately, to be subtracted from the body's time."""


inside = _Inside()
"""State of this thread's running bodies."""


class Body:
    """Context manager around the body of a reported call, if the body itself calls NumPy, as SciPy's Python code does."""

    __slots__ = ("_outer",)

    def __enter__(self) -> None:
        self._outer = inside.body
        if self._outer is None:
            inside.body, inside.seconds = sys._getframe(1), 0.0

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        inside.body = self._outer
        if kind is not None and self._outer is None:
            inside.seconds = 0.0


entrance: Any = None
"""Code object of ``Array.__array_ufunc__``; its frame lies between the user's ufunc call and the function that reports the call."""

tap: Listener | None = None
"""Installed listener. Read it as ``events.tap`` (never import it by value)."""
every: Listener | None = None
"""The installed listener if :func:`told_each` is true: every call is to be reported to it; else None."""


@process.follows("tap")
def _follow() -> None:
    global every, tap
    tap = process.tap
    every = tap if told_each() else None


def left(what: str, why: str) -> None:
    """Report to the installed listener, if there is one, that an array is kept on the host: :meth:`Listener.left`."""
    if tap is not None:
        tap.left(what, why)


def begin(listener: Listener) -> None:
    """Install a listener, which passes events on to the listener installed before; raise RuntimeError if it is installed already."""
    with process_state.lock:
        if listener in _chain():
            raise RuntimeError("this profile is already running; use another one inside it.")
        listener._outer = tap
        process.tap = listener


def end(listener: Listener) -> None:
    """Remove a listener, whether or not it was installed last."""
    with process_state.lock:
        for inner in _chain():
            if inner._outer is listener:
                inner._outer = listener._outer
        process.tap = listener._outer if tap is listener else tap


def told_each() -> bool:
    """Whether any listener wants every call."""
    return any(listener.each for listener in _chain())


def _chain() -> list[Listener]:
    found: list[Listener] = []
    each = tap
    while each is not None:
        found.append(each)
        each = each._outer
    return found
