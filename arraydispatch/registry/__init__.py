"""One rule for N functions x M backends.

For (function object, backend) the registry answers once, and the backend keeps the answer, an :class:`Entry`:

1. the backend's *override*: code for this function on this library, in ``backends/<library>/overrides.py`` (which
   may leave a call to the next, by :class:`Unsupported`);
2. *native*: NumPy's front (its argument rules, written once) over one primitive row of the backend;
3. *composed*: NumPy's behaviour written once over ``xp``, this same resolver bound to the backend;
4. *host*: NumPy runs it on the host by policy, with a reason; or *refused*, with a reason.

Bodies are registered where they are defined, by function object (names lie: aliases and SciPy's ufuncs share them)::

    @implements(np.ptp, returns="scalar")
    def ptp(xp, a, axis=None, keepdims=False): ...

A body has NumPy's signature (checked by a test) with ``xp`` in front and without ``out``, which is handled once, by the
dispatch. It sees native arrays and Python values, never an ``Array``, and no library by name.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np

from .. import dtypes
from ..backends.base import Backend, Unsupported
from ..ufuncs import Bound

Body = Callable[..., Any]
B = TypeVar("B", bound=Body)

Returns = Literal["array", "scalar", "any"]
Mode = Literal["function", "like", "view", "attribute", "update", "meta"]


@dataclass(frozen=True, slots=True)
class Spec:
    """What is registered for one NumPy function, whatever the backend.

    Attributes
    ----------
    func : callable
        The NumPy function object.
    body : callable
        ``body(xp, *args, **kwargs)`` on native arrays.
    kind : {"native", "composed"}
        ``native``: a front over one primitive.
    pure : bool
        Whether the shapes and dtypes of the result follow from those of the arguments and from static arguments.
    returns : {"scalar", "array", "any"}
        Whether a 0-d result is a scalar, as NumPy has it for this function; "any": it is not an array.
    mode : {"function", "like", "view", "attribute", "update", "meta"}
        ``like``: the result has the memory order of the first argument, or as ``order=`` says.
        ``view``: NumPy may return a view, so the ghosts decide. ``attribute``: the argument's own, of the same name. ``update``: the body returns the new value of its first
        argument, which is written in place. ``meta``: answered from shapes and dtypes alone.
    min_bits : int
        Compute at no fewer bits than this when a precision policy narrows floats (32 for linear algebra and FFT).
    out : int or None
        Position of ``out`` in NumPy's signature.
    whole : ufunc or None
        If the function with nothing but an array reduces all of it: the ufunc that does.
    """

    func: Any
    body: Body
    kind: Literal["native", "composed"]
    pure: bool
    returns: Returns
    mode: Mode
    min_bits: int
    out: int | None
    whole: np.ufunc | None = None


SPECS: dict[Any, Spec] = {}
"""NumPy function object -> what is registered for it."""

HOST: dict[Any, str] = {}
"""NumPy function object -> why it runs on the host on every backend."""

HOST_WRITES: dict[Any, tuple[int, ...]] = {}
"""Host functions that write into arguments -> the positions of these."""

IN_PLACE_IF_NOT_COPIED = frozenset({np.nan_to_num})
"""Functions that write into their first argument if called with ``copy=False``, which is their second parameter."""

REFUSED: dict[Any, str] = {}
"""NumPy function object -> why it is refused on every backend."""


def implements(
    *funcs: Any,
    kind: Literal["native", "composed"] = "composed",
    pure: bool = True,
    returns: Returns = "scalar",
    mode: Mode = "function",
    min_bits: int = 16,
    whole: np.ufunc | None = None,
) -> Callable[[B], B]:
    """Register a body for one NumPy function (or several that share it). See :class:`Spec` for the parameters."""

    def register(body: B) -> B:
        for func in funcs:
            if func in SPECS:
                raise ValueError(f"{func.__module__}.{func.__name__} is registered twice")
            SPECS[func] = Spec(func, body, kind, pure, returns, mode, min_bits, _out_position(func), whole)
        return body

    return register


def _out_position(func: Any) -> int | None:
    try:
        parameters = inspect.signature(func).parameters
    except (ValueError, TypeError):  # C functions without a text signature
        return _OUT_OF_C_FUNCTIONS.get(func)
    if "out" not in parameters or parameters["out"].kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
        return None
    return list(parameters).index("out")


_OUT_OF_C_FUNCTIONS: dict[Any, int] = {np.concatenate: 2, np.dot: 2}


def on_host(reason: str, *funcs: Any, writes: tuple[int, ...] = ()) -> None:
    """Declare functions that NumPy runs on the host, and why."""
    for func in funcs:
        HOST[func] = reason
        if writes:
            HOST_WRITES[func] = writes


@dataclass(frozen=True, slots=True)
class Entry:
    """The answer for one function on one backend: what the dispatch runs."""

    func: Any
    kind: Literal["override", "native", "composed", "host", "refused"]
    spec: Spec | None
    run: Body | None
    reason: str = ""
    bound: Body | None = None
    """``run`` with the backend's ``xp`` in its place."""
    plain: bool = False
    """Whether a call needs nothing but its arguments unwrapped and its result wrapped."""
    most: int = 99
    """Positional arguments that come before ``out``."""

    @property
    def pure(self) -> bool:
        """See :class:`Spec`."""
        return self.spec is not None and self.spec.pure


class XP:
    """The resolver bound to a backend: NumPy's functions on its native arrays.

    ``xp.median(a)`` and ``xp.linalg.svd(a)`` follow NumPy's rules on native arrays; ``xp.add(a, 2)`` promotes as NumPy
    does. ``xp.prim`` holds the backend's strict primitives. Attributes are plain after first use.
    """

    def __init__(self, backend: Backend, module: Any = np) -> None:
        self.backend = backend
        self.prim = backend.prim
        self._module = module
        self.dtype_of = backend.dtype_of
        self.shape_of = backend.shape_of
        if module is np:
            self.linalg = XP(backend, np.linalg)
            self.fft = XP(backend, np.fft)

    linalg: XP
    fft: XP

    def __getattr__(self, name: str) -> Any:
        func = getattr(self._module, name)
        bound = bind(func, self.backend)
        setattr(self, name, bound)
        return bound

    def ndim_of(self, a: Any) -> int:
        """Number of dimensions of a native array."""
        return len(self.shape_of(a))

    def is_array(self, x: Any) -> bool:
        """Whether ``x`` is a native array (and not a Python or NumPy scalar, or a sequence)."""
        return self.backend.is_native(x)

    def asarray(self, x: Any, dtype: np.dtype[Any] | None = None, like: Any = None) -> Any:
        """A native array from a native array, a scalar, or a nested sequence of these; ``like`` gives the device."""
        backend = self.backend
        if not backend.is_native(x):
            if isinstance(x, list | tuple) and any(backend.is_native(y) for y in x):
                return self._stacked(x, dtype)
            host = np.asarray(x, dtype=dtype)
            if dtypes.category(host.dtype) == "other":
                raise Unsupported(f"dtype {host.dtype} exists only on the host")
            if host.dtype.char in "qQ":  # of integers beyond int64: equal to uint64, but a type of its own
                host = host.view(host.dtype.str)
            return backend.from_numpy(host, None if like is None else backend.device_of(like), host is x)
        return x if dtype is None else self.prim.astype(x, dtype)

    def _stacked(self, xs: Any, dtype: np.dtype[Any] | None) -> Any:
        like = next(y for y in xs if self.backend.is_native(y))
        rows = [self.asarray(y, like=like) for y in xs]
        if len({self.shape_of(r) for r in rows}) > 1:
            raise ValueError(
                "setting an array element with a sequence. The requested array has an inhomogeneous shape."
            )
        to = dtype or np.result_type(*[self.dtype_of(r) for r in rows])
        rows = [self.prim.reshape(self.prim.astype(r, to), (1, *self.shape_of(r))) for r in rows]
        return self.prim.concatenate(rows, 0)

    def call(self, ufunc: np.ufunc, *operands: Any) -> Any:
        """A ufunc by object."""
        return bind(ufunc, self.backend)(*operands)


Backend.resolver = XP


def bind(func: Any, backend: Backend) -> Body:
    """A function on native arrays of this backend; raises :class:`Unsupported` where it has none."""
    if isinstance(func, np.ufunc):
        return Bound(func, backend)
    entry = resolve(func, backend)
    run = entry.run
    if run is None:
        name, reason = getattr(func, "__name__", func), entry.reason

        def missing(*_args: Any, **_kwargs: Any) -> Any:
            raise Unsupported(f"it needs np.{name}: {reason}")

        return missing
    assert entry.bound is not None
    return entry.bound


_TOPICS = (
    "creation", "manipulation", "indexing", "reductions", "statistics", "histograms", "sorting", "sets", "logic",
    "elementwise", "products", "linalg", "fft", "padding", "polynomials", "scimath", "bits", "stride_tricks", "host",
)  # fmt: skip


_topics_loaded = False


def load_topics() -> None:
    """Import every topic of ``arraydispatch.functions``, each of which registers its bodies."""
    global _topics_loaded
    _topics_loaded = True
    for topic in _TOPICS:
        importlib.import_module(f"arraydispatch.functions.{topic}")


def resolve(func: Any, backend: Backend) -> Entry:
    """The entry of a function on a backend, resolved once."""
    entry: Entry | None = backend.entries.get(func)
    if entry is None:
        if not _topics_loaded:
            load_topics()
        entry = backend.entries[func] = _resolve(func, backend)
    return entry


def _runs(
    func: Any, kind: Literal["override", "native", "composed"], spec: Spec | None, run: Body, backend: Backend
) -> Entry:
    quick = spec is not None and spec.mode in ("function", "like")
    plain = quick and func not in IN_PLACE_IF_NOT_COPIED and not backend.small
    most = 99 if spec is None or spec.out is None else spec.out
    return Entry(func, kind, spec, run, bound=partial(run, backend.xp), plain=plain, most=most)


def _or_else(override: Body, body: Body) -> Body:
    """The override, or the body where the override has no answer."""

    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return override(*args, **kwargs)
        except Unsupported:
            pass  # and outside `except`: what the body raises has no context of ours
        return body(*args, **kwargs)

    return run


def _resolve(func: Any, backend: Backend) -> Entry:
    spec = SPECS.get(func)
    override = backend.OVERRIDES.get(func)
    if override is not None:
        run = override if spec is None else _or_else(override, spec.body)
        return _runs(func, "override", spec, run, backend)
    if func in REFUSED:
        return Entry(func, "refused", None, None, REFUSED[func])
    if func in HOST:
        return Entry(func, "host", None, None, HOST[func])
    if spec is not None:
        return _runs(func, spec.kind, spec, spec.body, backend)
    return Entry(func, "host", None, None, "it has no implementation on devices yet")
