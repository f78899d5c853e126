"""Traces that run in this thread or task, and errors for values that are unknown while tracing.

A transform enters a :class:`Trace` while the user's function runs. This module knows neither arrays nor libraries.
"""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from types import CodeType, FrameType, TracebackType
from typing import Any

from . import callers
from .errors import TraceError
from .events import AT_A_DOOR

__all__ = ["Trace", "current", "looked", "name_of", "refusal", "user_line", "watched"]

running: ContextVar[tuple[Trace, ...]] = ContextVar("arraydispatch_traces", default=())
"""Traces of this thread or task, the outermost first; a transform sets this variable."""
entered = running.get
"""Returns all traces of this thread or task."""
_epochs = count(1)


class Trace:
    """One run of a user's function ``fun`` inside the transform named ``what``, on the library of a backend.

    ``staged``: whether values are not concrete (computed later, or many at once). If not, they are concrete, and recorded for a derivative.
    """

    __slots__ = ("backend", "born", "epoch", "fun", "inner", "known", "refused", "staged", "what")

    def __init__(self, what: str, fun: Any, backend: Any, staged: bool) -> None:
        self.what = what
        self.fun = fun
        self.backend = backend
        self.staged = staged
        self.epoch = next(_epochs)
        """Number that increases from trace to trace; objects created in this one are marked with it."""
        outer = entered()
        self.inner = bool(outer)
        """Whether the trace runs inside another one."""
        self.born: list[Any] = outer[0].born if outer else []
        """Weak references to objects created in this trace and in those inside it."""
        self.known: dict[int, tuple[Any, Any]] = outer[0].known if outer else {}
        """Id of a native array -> the array, and the host values that it was made of, which may decide shapes; shared with inner traces."""
        self.refused: tuple[str, str] | None = None
        """Line and message of the last refusal: NumPy and Python replace some messages with their own."""

    @property
    def name(self) -> str:
        """Name of the user's function in messages, with the place of its definition."""
        return name_of(self.fun)


def name_of(fun: Any) -> str:
    """Return a function's name in messages: its name and the place of its definition."""
    return _named(*_definition(fun))


def _definition(fun: Any) -> tuple[str, CodeType | None]:
    """Return a function's own name, and its code if it is Python's."""
    inner = fun
    while hasattr(inner, "__wrapped__") or hasattr(inner, "func"):
        inner = getattr(inner, "__wrapped__", None) or inner.func
    return getattr(inner, "__name__", None) or type(inner).__name__, getattr(inner, "__code__", None)


def _named(name: str, code: CodeType | None) -> str:
    if code is None:
        return f"{name}()"
    return f"{name}() (defined at {callers.shown(code.co_filename, code.co_firstlineno)})"


class Ended:
    """Replacement for the memory of an array that outlives its trace; every access to it raises an error."""

    __slots__ = ("_defined", "_what")
    _defined: tuple[str, CodeType | None]
    _what: str

    def __init__(self, trace: Trace) -> None:
        object.__setattr__(self, "_defined", _definition(trace.fun))  # not the function, which may hold the array
        object.__setattr__(self, "_what", trace.what)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__getattr__(name)

    def __getattr__(self, name: str) -> Any:
        raise TraceError(
            f"a value that {self._what} traced in {_named(*self._defined)} is used at {user_line()}, after the trace has ended; return it "
            "from the function (has_aux=True where there is a derivative)."
        )


def current() -> Trace | None:
    """Return the innermost trace of this thread or task, or None."""
    traces = entered()
    return traces[-1] if traces else None


def is_staged() -> bool:
    """Whether a program is being traced, with values that are not concrete."""
    return any(t.staged for t in entered())


def remember(native: Any, host: Any) -> None:
    """Remember, while a trace runs, the host values that a native array was made of: inside a program the library no longer knows them."""
    traces = entered()
    if traces:
        traces[0].known[id(native)] = native, host


def known(native: Any) -> Any:
    """Return the host values that a native array was made of in a running trace, or None."""
    traces = entered()
    found = traces[0].known.get(id(native)) if traces else None
    return None if found is None else found[1]


_failed: deque[Exception] = deque(maxlen=8)


def failed(error: Exception) -> None:
    """Remember an error raised by host code in a program: the library passes on its message only."""
    _failed.append(error)


def cause(error: Exception) -> Exception:
    """Return the error of host code that a library's error reports, or the library's error itself; forget all remembered errors."""
    said = str(error) if _failed else ""
    found = next((each for each in reversed(_failed) if f"{type(each).__name__}: {each}" in said), error)
    _failed.clear()
    return found


# -- abstract evaluation ---------------------------------------------------------------------------------------------


class Looks:
    """Number of times that a function under abstract evaluation asked for a value that decides how the function continues.

    ``near``: whether the values will be in host memory, where NumPy may be faster than a program of the library.
    """

    def __init__(self, near: bool) -> None:
        self.count, self.near = 0, near


class _Watch(threading.local):
    looks: Looks | None = None


_watch = _Watch()


@contextmanager
def watched(near: bool) -> Iterator[Looks]:
    """Yield a :class:`Looks` that counts the requests for values in this thread during the ``with`` block. A function that asks for values
    depends on more than shapes and dtypes.
    """
    before, _watch.looks = _watch.looks, Looks(near)
    try:
        yield _watch.looks
    finally:
        _watch.looks = before


def looked() -> bool:
    """Count a branch that depends on whether a value is concrete (unless the branch only saves time). Return whether
    branches are counted.
    """
    if _watch.looks is None:
        return False
    _watch.looks.count += 1
    return True


def is_quicker_on_host() -> None:
    """Count a call that NumPy runs faster than any program of the library, if the values will be in host memory."""
    if _watch.looks is not None and _watch.looks.near:
        _watch.looks.count += 1


# -- source lines ----------------------------------------------------------------------------------------------------


def user_line(trace: TracebackType | None = None) -> str:
    """Return ``file:line`` of the innermost frame of user code that is running or, if ``trace`` is given, that an error came through.

    If no running frame is the user's, it is the innermost one outside this package and NumPy; "?" if there is none either.
    """
    if trace is None:
        frame: FrameType | None = sys._getframe(1)
        first = None
        while frame is not None:
            file = frame.f_code.co_filename
            if callers.is_users(frame):
                return callers.shown(file, frame.f_lineno)
            if first is None and not callers.is_core(file):
                first = callers.shown(file, frame.f_lineno)
            frame = frame.f_back
        return first or "?"
    found = "?"
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if callers.is_users(trace.tb_frame):
            found = callers.shown(file, trace.tb_lineno)
        trace = trace.tb_next
    return found


# -- reasons and remedies --------------------------------------------------------------------------------------------

SHAPE = "the shape of a result is a value"
"""Reason why ``nonzero``, masks and similar functions need values."""

RANK = "the rank that np.linalg.lstsq finds"
"""Reason why least squares needs values: the shapes of its results depend on the rank."""

HOST_CALL = "ad.host_call runs on the host"
"""Reason why a derivative that depends on the result of host code is cut."""

WRITTEN = "the array written to is a NumPy array"
"""Reason why a write to an array that NumPy holds needs values."""

_KEEP = "keep it an array"
_HOST = "compute on the host through ad.host_call"
_JOIN = (
    "make one array of several by np.stack or ad.asarray, and one that they are written to by np.zeros_like(x, shape=...) "
    "(np.array, np.zeros, and np. functions of lists, are NumPy's own)"
)
_INTO = "return it from the function, or write it to an array that np.zeros_like(x, shape=...) makes there (np.zeros makes NumPy's own)"
_NUMBER = f"{_KEEP}; to write it to one of NumPy's own wants a number too: {_INTO}"
_WAYS = {
    "float()": f"{_NUMBER}, or {_HOST}",
    "complex()": f"{_NUMBER}, or {_HOST}",
    SHAPE: (
        "choose element by element with np.where(mask, a, b), or give the result a fixed length (ad.nonzero, ad.masked and ad.unique "
        "take size=)"
    ),
    RANK: f"np.linalg.pinv(a) @ b has no rank, np.where chooses element by element, or {_HOST}",
    "bool()": "decide with np.where, or loop with ad.while_loop",
    "an index": "make it a static argument (ad.jit(f, static_argnums=...)), or index with an array by np.take",
    "int()": "make it a static argument (ad.jit(f, static_argnums=...))",
    AT_A_DOOR: f"{_JOIN}, or {_HOST}",
    WRITTEN: f"{_INTO}, or {_HOST}",
    "axes or a shape given as an array": "make it a static argument (ad.jit(f, static_argnums=...))",
}
_STOP = "take it from ad.stop_gradient(x), as a constant"


def refusal(why: str, where: str | None = None) -> TraceError:
    """Build the error for a value that is traced, or that is not available without cutting a derivative: the message names the cause, the
    user's line and the remedy.

    ``why`` is the operation that needs the value, such as ``"bool()"``. ``where`` is the user's line to name; by default the line that
    runs.
    """
    traces = entered()
    where = user_line() if where is None else where
    if why == HOST_CALL:
        known = next((t for t in reversed(traces) if not t.staged), None)
        name, what = ("the function", "a library") if known is None else (known.name, known.what)
        return TraceError(
            f"{_needed(why)} at {where} in {name} would cut the derivative that {what} takes; give it one by ad.custom_gradient, "
            f"or {_STOP}."
        )
    if not traces:
        return TraceError(
            f"{_needed(why)} at {where}, while a library is tracing: a concrete value was needed; "
            f"{_WAYS.get(why, _KEEP)}, or move it out of the traced function."
        )
    trace = traces[-1]
    staged = next((t for t in reversed(traces) if t.staged), None)  # ad.jit around ad.grad: no value is known in either
    if staged is not None:
        way = _WAYS.get(why, _HOST if "host" in why or "ndarray" in why else f"{_KEEP}, or {_HOST}")
        if trace is not staged and _HOST in way:
            way += " (within ad.custom_gradient, which says the derivative)"
        said = f"{_needed(why)} at {where} in {trace.name}, which {staged.what} traces; {way}."
        trace.refused = where, said
        return TraceError(said)
    way = {AT_A_DOOR: _JOIN, WRITTEN: _INTO, "float()": _NUMBER, "complex()": _NUMBER}.get(why, _KEEP)
    return TraceError(
        f"{_needed(why)} at {where} in {trace.name} would cut the derivative that {trace.what} takes; {way}, or {_STOP}."
    )


def _needed(why: str) -> str:
    return f"a value is needed ({why or 'on the host'})"


def leak() -> TraceError:
    """Build the error for a traced value about to be written to an object that outlives the trace."""
    trace = current()
    name, how = ("the function", "a transform") if trace is None else (trace.name, trace.what)
    return TraceError(
        f"a value that {how} traces would be written at {user_line()} to an array that lives outside of {name}; "
        "return it from the function, or pass the array as an argument."
    )
