"""Context in which a user's function is traced. It marks the arrays created in it, and no other array may be written with a traced value.

While a trace runs, every new array is marked with the epoch of the trace (in ``_seen``, which otherwise only views use), and
writes are checked here. Without a trace neither costs anything.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import call
from typing import Any
from weakref import ref

from .._core import handles
from .._core.handles import Handle
from ..backends.base import Backend, Native
from ..backends.kinds import Kind
from ..common import process_state, tracing
from ..common.errors import TraceError
from ..common.process_state import process
from ..common.pytrees import leaves
from ..common.tracing import Trace
from ..memory import views
from ..memory.reshaping import views_of
from ..runtime import conversion, settings

_SWEPT = 4096
"""Number of arrays made in a trace after which the marks of dead ones are dropped."""
_entered = tracing.entered
_plain: Callable[..., Any] = process.wrapper


def _make(value: Native, kind: Kind, owned: bool = False) -> Any:
    """Make an array while a trace runs (``process.wrapper`` is this function then): mark it with the trace, and give it the kind for traces
    of its library.
    """
    made = _plain(value, kind, owned)
    traces = _entered()
    if traces:
        trace = traces[-1]
        made._seen = trace.epoch
        born = trace.born
        born.append(ref(made))
        if not len(born) % _SWEPT:
            _sweep(born)
        backend = kind.backend
        # A view of memory from outside the trace keeps its kind: writes through it reach that memory.
        if (
            backend is trace.backend
            and value is not None
            and backend.traced is not backend
            and not backend.is_view(value)
        ):
            made._kind = _traced(kind)
    return made


def _told(made: Handle) -> None:
    """Register ``made``, a new scalar, with the innermost trace."""
    traces = _entered()
    if traces:
        born = traces[-1].born
        born.append(ref(made))
        if not len(born) % _SWEPT:
            _sweep(born)


def _sweep(born: list[Any]) -> None:
    born[:] = [each for each in born if each() is not None]


def _left_behind(trace: Trace) -> None:
    """Make arrays that are left from a finished outermost trace raise when used, even if the library still knows their values."""
    backend = trace.backend
    inner, left = backend.traced, []
    for a in map(call, trace.born):
        if a is None:
            continue
        held = a._kind.backend
        if held is not inner and held is not backend:
            continue
        value = a._v if a._base is None else a._base._v  # a view may not have been read yet, so take its owner
        if backend.is_native(value) and backend.recorded(value):
            left.append(a)
    if left:
        ended = tracing.Ended(trace)
        for a in left:
            a._root = a._base = ended
            handles.track(a)  # its traced value may refer to objects that hold the array


def _traced(kind: Kind) -> Kind:
    inner = kind.backend.traced
    return inner.standard_kind(kind.dtype) if kind.standard else inner.kind(kind.dtype)


def _watch(root: Handle, value: Native) -> None:
    """Raise if a traced value is written to an array that the innermost trace has not made."""
    trace = tracing.current()
    if trace is None or born_in(root, trace):
        return
    backend = root._kind.backend
    if backend.is_native(value) and backend.recorded(value):
        raise tracing.leak()


def born_in(root: Handle, trace: Trace) -> bool:
    """Whether the array was made in a trace, or in a trace inside it."""
    return getattr(root, "_seen", 0) >= trace.epoch


def admit(a: Handle, given: tuple[Any, ...] = ()) -> None:
    """Prepare a write to an array inside a trace of its library: an array created in the trace changes to the kind for traces.

    An array on the host moves to the library, with its views, if ``given``, the value to write, contains a traced value.
    """
    backend = a._kind.backend
    trace = tracing.current()
    if trace is None:
        return
    if backend.hosted:
        if given and backend.home is trace.backend and _is_traced(given, trace.backend):
            if not views.writeable(a, True):
                raise ValueError("assignment destination is read-only")
            _taken_along(views.owner(a), trace)
        return
    if backend.traced is backend or backend is not trace.backend:
        return
    root = views.owner(a)
    if not born_in(root, trace):
        if given and _is_traced(given, trace.backend):
            raise tracing.leak()
        return
    derived = views_of(root)
    views.ghost(root)
    for each in derived:
        views.ghost(each)
        each._root, each._seen = root, views.NEVER
        each._kind = _traced(each._kind)
    root._kind = _traced(root._kind)


def _is_traced(values: Any, backend: Backend) -> bool:
    """Whether a library traces any of these values."""

    def traced(x: Any) -> bool:
        value = x
        if isinstance(x, Handle):
            if x._kind.backend.home is not backend.home or x._kind.backend.hosted:
                return False
            value = views.native(x)
        return backend.is_native(value) and backend.recorded(value)

    return any(traced(x) for x in leaves(values))


def _taken_along(root: Handle, trace: Trace) -> None:
    """Move a host array and its views to the library that traces, because a traced value is written to it; raise for older arrays."""
    if not born_in(root, trace):
        raise tracing.leak()
    derived, memory, backend = views_of(root), root._v, trace.backend
    inner = backend.traced
    with backend.within(), views.exchange:
        value = conversion.upload(backend, memory, None, "written with a traced value")
        for each in (root, *derived):
            kind = each._kind
            each._ghost = each._v  # NumPy's view of the former memory defines the position
            each._kind = inner.standard_kind(kind.dtype) if kind.standard else inner.kind(kind.dtype)
            if each is not root:
                each._root, each._seen = root, views.NEVER
        root._v, root._owned = value, False
        root._writes += 1
        root._views = [ref(each) for each in derived]


class Inside:
    """Context in which the user's function runs: it begins a trace, keeps scalars on the device, and translates the library's errors.

    While any trace runs, new arrays are marked and writes are checked. ``what``: the transform, for errors. ``staged``: whether the library
    records a program, whose values are not concrete. ``ends``: whether traced values cannot be read afterwards.
    """

    __slots__ = ("backend", "ends", "inner", "rules", "trace")

    def __init__(self, what: str, fun: Callable[..., Any], backend: Backend, staged: bool, ends: bool) -> None:
        self.backend, self.ends = backend, ends
        self.trace = Trace(what, fun, backend, staged)
        self.rules = settings.traced()
        self.inner: Any = None
        """The backend's variant for traces, if new arrays are created on it."""

    def __enter__(self) -> None:
        global _plain
        with process_state.lock:
            counts = {"traces": process.traces + 1, "overrides": process.overrides + 1}
            if process.traces:
                process.change(**counts)
            else:
                _plain = process.wrapper
                process.change(wrapper=_make, watch=_watch, admit=admit, born=_told, **counts)
        tracing.running.set((*_entered(), self.trace))
        if self.backend.traced is not self.backend and settings.current_name() == self.backend.name:
            self.inner = self.backend.traced
        self.rules.__enter__()
        if self.inner is not None:
            self.inner.__enter__()

    def __exit__(self, cls: object, error: BaseException | None, trace: object) -> None:
        try:
            if error is not None:
                self._translated(error)
        finally:
            if self.ends and not self.trace.inner:
                _left_behind(self.trace)
            if self.inner is not None:
                self.inner.__exit__(None, None, None)
            self.rules.__exit__()
            tracing.running.set(_entered()[:-1])
            with process_state.lock:
                counts = {"traces": process.traces - 1, "overrides": process.overrides - 1}
                if counts["traces"]:
                    process.change(**counts)
                else:
                    before = _plain if process.wrapper is _make else process.wrapper
                    process.change(wrapper=before, watch=None, admit=None, born=None, **counts)

    def _translated(self, error: BaseException) -> None:
        """Raise this package's equivalent of ``error`` if that is a library's or NumPy's refusal of a traced value; return if it is another
        error.
        """
        if isinstance(error, ValueError) and isinstance(error.__cause__, TraceError):
            raise error.__cause__ from None  # NumPy's message for a failed assignment of an element
        refused = self.trace.refused
        if (
            refused is not None
            and isinstance(error, TypeError)
            and not isinstance(error, TraceError)
            and tracing.user_line(error.__traceback__) == refused[0]
        ):
            raise TraceError(refused[1]) from error  # their messages for an invalid length: np.zeros(n), "%d" % n
        if isinstance(error, TraceError) or not isinstance(error, self.backend.transforms.REFUSALS):
            return
        if self.backend.transforms.is_refusal(error):
            raise _in_our_words(error) from error


def _in_our_words(error: BaseException) -> TraceError:
    trace = tracing.current()
    assert trace is not None
    said = str(error).strip().partition("\n")[0]
    return TraceError(
        f"a value is needed at {tracing.user_line(error.__traceback__)} in {trace.name}, which {trace.what} traces "
        f"({said}); give a static shape (size=), decide with np.where or ad.while_loop, or compute on the host through "
        "ad.host_call."
    )
