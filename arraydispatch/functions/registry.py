"""Registry of function bodies: it finds the code that runs a NumPy function on a backend.

The registry resolves (function object, backend) once to an :class:`Entry`, which the backend keeps:

1. the backend's *override*: code for this function on this library, in ``Backend.OVERRIDES`` (only the numpy backend has some); if
   it raises :class:`Unsupported`, the next of these runs the call;
2. *native*: NumPy's argument rules, written once, over one primitive of the backend;
3. *composed*: NumPy's behaviour written once over ``xp``, this same resolver bound to the backend;
4. *host*: NumPy runs it on the host by policy, with a reason; or *refused*, with a reason.

Bodies are registered where they are defined, by function object, because aliases and SciPy's ufuncs share names::

    @implements(np.ptp, returns="scalar")
    def ptp(xp, a, axis=None, keepdims=False): ...

Functions that share facts are registered by a :func:`family`::

    fourier = family(min_bits=32, layout=layouts.spectrum, error="sum")

A body has NumPy's signature (checked by a test) with ``xp`` in front and without ``out``, which the dispatch handles for all
functions. It gets native arrays and Python values, never an ``Array``, and names no library.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

import numpy as np

from ..backends.base import Backend, Unsupported
from ..common import names
from ..common.signal_safety import importing
from ..common.signatures import parameters_of
from ..runtime import dtypes
from ..ufuncs.facts import FACTS
from ..ufuncs.plans import describe as describe_ufunc
from ..ufuncs.ufunc_methods import Bound
from .layouts import Layout
from .specs import Body, Checks, Facts, Into, Mode, OnHost, Parallel, Returns, Spec, Views, Written, sorted_out
from .topics import LATER, TOPICS, topics_of

__all__ = [
    "CREATORS", "GUFUNCS", "HOST", "METHODS", "OTHERS", "REFUSED", "SCIENTIFIC", "SPECS", "XP", "Body", "Checks", "Entry", "Facts", "Into", "Layout", "Mode",
    "OnHost", "Parallel", "Returns", "Spec", "Views", "Written", "bind", "describe", "dispatched", "facts_of", "family", "implements", "left_to_numpy", "load", "load_topics",
    "on_host", "position_of", "resolve", "spec_of",
]  # fmt: skip

B = TypeVar("B", bound=Body)

SPECS: dict[Any, Spec] = {}
"""NumPy function object -> its registration."""

HOST: dict[Any, OnHost] = {}
"""NumPy function object -> reason why it runs on the host on every backend: no device could do its work."""

OTHERS: dict[Any, Facts] = {
    ufunc: Facts(checks=Checks(error=row.error, sign=row.sign, jumps=row.jumps, raw=row.raw))
    for ufunc, row in FACTS.items()
}
"""Ufuncs, and functions that NumPy does not dispatch -> the facts about them."""

SCIENTIFIC: set[Any] = set()
"""SciPy's functions that :mod:`arraydispatch.scipy_support` has registered."""

METHODS: set[Any] = set()
"""Methods of SciPy's objects among :data:`SCIENTIFIC`; the first argument is the object."""

SCIPYS = "it is SciPy's own code, for the host"
"""Reason why most of SciPy's functions run on the host."""

GUFUNCS: dict[np.ufunc, Body] = {}
"""Generalized ufunc -> body with NumPy's ``axes= axis= keepdims= dtype=``; filled by the topic ``products``."""

CREATORS: dict[Any, Callable[..., Any]] = {}
"""NumPy function with ``like=`` (NEP 35) -> function that creates an `Array`; filled by :mod:`arraydispatch.api.creation`."""

REFUSED: dict[Any, str] = {}
"""NumPy function object -> reason to refuse it on every backend."""


def implements(*funcs: Any, **facts: Any) -> Callable[[B], B]:
    """Register a body for one NumPy function (or several that share it).

    The parameters are those of :class:`Spec` and of the records in it: :class:`Facts`, :class:`Checks`, :class:`Views` and
    :class:`Parallel`.
    """
    if "into" in facts:
        facts["into"] = frozenset(facts["into"])
    facts = sorted_out(Spec, facts)

    def register(body: B) -> B:
        for func in funcs:
            if func in SPECS and not _left(SPECS[func].body):
                raise ValueError(f"{func.__module__}.{func.__name__} is registered twice")
            out, order, axis = (position_of(func, name) for name in ("out", "order", "axis"))
            written = _written(func, facts.get("uncopied", False))
            overwrites = next((each for each in written if each.name in ("overwrite_input", "copy")), None)
            SPECS[func] = Spec(
                func=func, body=body, out=out, written=written, overwrites=overwrites, order=order, axis=axis, **facts
            )
        return body

    return register


class Registers(Protocol):
    """Type of :func:`implements`, and of its variants with default facts that :func:`family` makes."""

    def __call__(self, *funcs: Any, **facts: Any) -> Callable[[B], B]:
        """Register a body."""


def family(register: Registers = implements, /, **shared: Any) -> Registers:
    """Return a variant of :func:`implements` with these facts as defaults, for functions that share them."""

    def implements_member(*funcs: Any, **facts: Any) -> Callable[[B], B]:
        return register(*funcs, **{**shared, **facts})

    return implements_member


def _left(body: Any) -> bool:
    """Whether a body comes from an import that an exception such as Ctrl-C interrupted; its module will be imported again."""
    module = sys.modules.get(body.__module__)
    return module is None or vars(module) is not body.__globals__


INTEGERS: frozenset[str] = frozenset(
    "N axes axis axis1 axis2 axisa axisb axisc ddof decimals destination k n num offset source".split()
)
"""NumPy's names of parameters that are integers, or sequences of them, and determine a result's shape or the way to compute the result."""


def position_of(func: Any, name: str) -> int | None:
    """Return the position of a parameter among the positional ones of a NumPy function, or None."""
    try:
        return parameters_of(func).position_of(name)
    except (ValueError, TypeError):  # C functions without a text signature
        return _OF_C_FUNCTIONS.get((func, name))


def _written(func: Any, uncopied: bool) -> tuple[Written, ...]:
    """Return the parameters by which a function may write into its arguments. ``uncopied``: include ``copy=False``."""
    try:
        names = parameters_of(func).names
    except (ValueError, TypeError):
        names = ("out",)
    harmless: dict[str, Any] = {name: False for name in names if name.startswith("overwrite")}
    if "out" in names:
        harmless["out"] = None
    if uncopied:
        harmless["copy"] = True
    places = {name: position_of(func, name) for name in harmless}
    return tuple(Written(name, sys.maxsize if at is None else at, harmless[name]) for name, at in places.items())


_OF_C_FUNCTIONS: dict[Any, int] = {(np.concatenate, "out"): 2, (np.dot, "out"): 2, (np.empty_like, "order"): 2}


def on_host(reason: str, *funcs: Any, writes: tuple[int, ...] = (), **facts: Any) -> None:
    """Declare functions that NumPy runs on the host, with the reason. ``writes``: positions of the arguments they write into;
    ``facts``: see :class:`Facts`.
    """
    for func in funcs:
        HOST[func] = OnHost(reason=dtypes.OnlyOnHost(reason), writes=writes, **sorted_out(OnHost, facts))


def dispatched(*modules: ModuleType) -> tuple[Any, ...]:
    """Return the functions of these modules that NumPy dispatches, each once."""
    functions = [f for module in modules for f in vars(module).values() if type(f) is type(np.sum)]
    return tuple(dict.fromkeys(functions))


def describe(*funcs: Any, **facts: Any) -> None:
    """State facts about functions that NumPy does not dispatch. See :class:`Facts` for the parameters."""
    for func in funcs:
        OTHERS[func] = replace(OTHERS.get(func, _NOTHING), **sorted_out(Facts, facts))


_NOTHING = Facts()


def facts_of(func: Any) -> Facts:
    """Return the facts about a function, a ufunc or, given a name, a method of arrays."""
    if isinstance(func, str):
        func = getattr(np, func, None)
    _load_for(func)
    return SPECS.get(func) or HOST.get(func) or OTHERS.get(func, _NOTHING)


class Entry(NamedTuple):
    """Code that the dispatch runs for a function on a backend, and facts about the code; :func:`resolve` makes it once for each pair."""

    func: Any
    kind: Literal["override", "native", "composed", "host", "refused"]
    spec: Spec | None
    run: Body | None
    reason: str = ""
    bound: Body | None = None
    """``run`` with the backend's ``xp`` already passed."""
    plain: bool = False
    """Whether a call may need nothing but unwrapping its arguments and wrapping its result."""
    most: int = 99
    """Number of positional arguments before ``out``."""
    typed: int = 99
    """Position of ``dtype`` among the positional arguments."""
    left: str = ""
    """Reason why NumPy runs the function on large arrays in host memory, from ``Backend.LEFT_TO_NUMPY``."""
    integers: tuple[int, ...] = ()
    """Positions of the parameters named in :data:`INTEGERS`."""

    @property
    def pure(self) -> bool:
        """See :class:`Spec`."""
        return self.spec is not None and self.spec.pure


class XP:
    """Resolver bound to a backend: NumPy's functions on its native arrays.

    ``xp.median(a)`` and ``xp.linalg.svd(a)`` follow NumPy's rules on native arrays; ``xp.add(a, 2)`` promotes as NumPy
    does. ``xp.prim`` holds the backend's strict primitives. An attribute is looked up on first use and then stored.
    """

    def __init__(self, backend: Backend, module: Any = np) -> None:
        self.backend = backend
        self.prim = backend.prim
        self._module = module
        self.dtype_of = backend.dtype_of
        self.shape_of = backend.shape_of
        if module is np:
            self.linalg = XP(backend, np.linalg)

    linalg: XP
    fft: XP

    def __getattr__(self, name: str) -> Any:
        func = getattr(self._module, name)
        bound: Any = XP(self.backend, func) if isinstance(func, ModuleType) else bind(func, self.backend)
        setattr(self, name, bound)
        return bound

    def runs(self, name: str) -> bool:
        """Whether the backend runs the NumPy function or ufunc of this name itself, in ``np``, ``np.linalg`` or ``np.fft``."""
        func = _numpys(name)
        if func is None or self.backend.native_is_ndarray:
            return func is not None
        if isinstance(func, np.ufunc):
            return describe_ufunc(func, self.backend)[0] != "host"
        entry = resolve(func, self.backend)
        return entry.run is not None or (func in CREATORS and func not in HOST)

    def ndim_of(self, a: Any) -> int:
        """Return the number of dimensions of a native array."""
        return len(self.shape_of(a))

    def is_array(self, x: Any) -> bool:
        """Whether ``x`` is a native array (and not a Python or NumPy scalar, or a sequence)."""
        return self.backend.is_native(x)

    def asarray(self, x: Any, dtype: np.dtype[Any] | None = None, like: Any = None) -> Any:
        """Make a native array from a native array, a scalar, or a nested sequence of these; ``like`` gives the device."""
        backend = self.backend
        if not backend.is_native(x):
            if isinstance(x, list | tuple) and (held := self._held(x)) is not None:
                try:
                    return self._stacked(x, dtype, held)
                except ValueError:
                    np.asarray(self.ghosts(x))  # raises NumPy's error for the whole sequence, not for a part of it
                    raise
            host = np.asarray(x, dtype=dtype)
            if dtypes.category(host.dtype) == "other":
                raise Unsupported(dtypes.only_on_host(host.dtype))
            if host.dtype.char in "qQ":
                # C's long long, which NumPy chooses for integers beyond int64: equal to uint64, but a distinct type.
                host = host.view(host.dtype.str)
            return backend.from_numpy(host, None if like is None else backend.device_of(like), host is x)
        return x if dtype is None else self.prim.astype(x, dtype)

    def _held(self, x: Any) -> Any:
        """Return the first native array in a nested sequence; None if there is none."""
        if isinstance(x, list | tuple):
            return next((held for y in x if (held := self._held(y)) is not None), None)
        return x if self.backend.is_native(x) else None

    def ghosts(self, x: Any) -> Any:
        """Return a nested sequence with an ndarray of the same shape, without memory, in place of each native array."""
        if isinstance(x, list | tuple):
            return (tuple if isinstance(x, tuple) else list)(map(self.ghosts, x))
        return np.broadcast_to(False, self.shape_of(x)) if self.backend.is_native(x) else x

    def _stacked(self, xs: Any, dtype: np.dtype[Any] | None, like: Any) -> Any:
        rows = [self.asarray(y, like=like) for y in xs]
        if len({self.shape_of(r) for r in rows}) > 1:
            raise ValueError(
                "setting an array element with a sequence. The requested array has an inhomogeneous shape."
            )
        # An empty list does not take part in the result's dtype.
        told = [
            r for y, r in zip(xs, rows) if not isinstance(y, list | tuple) or self._held(y) is not None or np.size(y)
        ]
        to = dtype or np.result_type(*[self.dtype_of(r) for r in told or rows])
        rows = [self.prim.reshape(self.prim.astype(r, to), (1, *self.shape_of(r))) for r in rows]
        return self.prim.concatenate(rows, 0)

    def call(self, ufunc: np.ufunc, *operands: Any) -> Any:
        """Call a ufunc, given as an object."""
        return bind(ufunc, self.backend)(*operands)


def _numpys(name: str) -> Any:
    """Return the NumPy function of a name such as ``mean``, ``inv`` or ``linalg.inv``, or None."""
    for module in (np, np.linalg, np.fft):
        found: Any = module
        for part in name.split("."):
            found = getattr(found, part, None)
        if callable(found) and not isinstance(found, type):
            return found
    return None


Backend.resolver = XP


def bind(func: Any, backend: Backend) -> Body:
    """Return a function on native arrays of this backend; if it has none, a function that raises :class:`Unsupported` when called."""
    if isinstance(func, np.ufunc):
        return Bound(func, backend) if func.signature is None else _of_cores(func, backend)
    entry = resolve(func, backend)
    run = entry.run
    if run is None:
        name, reason = getattr(func, "__name__", func), entry.reason

        def missing(*_args: Any, **_kwargs: Any) -> Any:
            raise Unsupported(f"it needs np.{name}: {reason}")

        return missing
    assert entry.bound is not None
    return entry.bound


def _of_cores(ufunc: np.ufunc, backend: Backend) -> Body:
    """Return a function on native arrays for a generalized ufunc such as ``np.matmul``; if no argument is a native array, it calls NumPy."""
    load("products")

    def run(*operands: Any, **options: Any) -> Any:
        like = next((x for x in operands if backend.is_native(x)), None)
        if like is None:
            return ufunc(*operands, **options)
        if ufunc not in GUFUNCS:
            raise Unsupported(f"it needs np.{ufunc.__name__}, which has no kernel on devices yet")
        return GUFUNCS[ufunc](backend.xp, *(backend.xp.asarray(x, like=like) for x in operands), **options)

    return run


_loaded: set[str] = set()
_loading = threading.RLock()
_importing: set[str] = set()
"""Topics that the thread holding the lock is importing. One of them may ask for facts about its own functions."""
_ready: set[Any] = set()
"""Functions with completely imported topics. Registrations of a topic that is being imported cannot be used yet."""


def load_topics() -> None:
    """Import every topic of ``arraydispatch.functions``, so that all bodies are registered; other threads wait."""
    load(*TOPICS, *LATER.values())


def load(*topics: str) -> None:
    """Import modules of this package (topics), which registers their functions. Return when they are imported, also by another thread."""

    def each() -> None:
        with _loading:
            for topic in topics:
                if topic not in _loaded and topic not in _importing:
                    _importing.add(topic)
                    try:
                        importlib.import_module(f"arraydispatch.functions.{topic}")
                    finally:
                        _importing.discard(topic)
                    _loaded.add(topic)

    if not _loaded.issuperset(topics):
        importing(each)


def _load_for(func: Any) -> None:
    """Import the topics that may register a function."""
    if func not in _ready:
        load(*(topics := topics_of(func)))
        if _loaded.issuperset(topics) and (func in SPECS or func in HOST or func in OTHERS):
            _ready.add(func)


def spec_of(func: Any) -> Spec | None:
    """Return the registration of a function, or None."""
    _load_for(func)
    return SPECS.get(func)


def resolve(func: Any, backend: Backend) -> Entry:
    """Return the entry of a function on a backend, resolved once."""
    entry: Entry | None = backend.entries.get(func)
    if entry is None:
        _load_for(func)
        entry = backend.entries.setdefault(func, _resolve(func, backend))
    return entry


def _runs(
    func: Any, kind: Literal["override", "native", "composed"], spec: Spec | None, run: Body, backend: Backend
) -> Entry:
    plain = spec is None or not (spec.uncopied or spec.in_place)
    most = 99 if spec is None or spec.out is None else spec.out
    typed = position_of(func, "dtype")
    bound, left = partial(run, backend.xp), left_to_numpy(func, backend)
    places = [position_of(func, name) for name in INTEGERS] if names.name_of(func).startswith("np.") else []
    integers = tuple([at for at in places if at is not None])
    return Entry(func, kind, spec, run, "", bound, plain, most, 99 if typed is None else typed, left, integers)


def left_to_numpy(func: Any, backend: Backend) -> str:
    """Return the reason why NumPy runs a whole function on large arrays in host memory; "" if it does not."""
    left = backend.LEFT_TO_NUMPY
    return left.get(func) or left.get(names.FULL.get(func), "")


def _or_else(override: Body, body: Body) -> Body:
    """Return a function that runs the override, or the body if the override declines."""

    def run(*args: Any, **kwargs: Any) -> Any:
        try:
            return override(*args, **kwargs)
        except Unsupported:
            pass  # the body runs outside of `except`, so that its exceptions have no context
        return body(*args, **kwargs)

    return run


def _resolve(func: Any, backend: Backend) -> Entry:
    spec = SPECS.get(func)
    override = backend.OVERRIDES.get(func)
    if func in SCIENTIFIC and backend.native_is_ndarray:
        return Entry(func, "host", None, None, dtypes.OnlyOnHost(SCIPYS))
    if override is not None:
        run = override if spec is None else _or_else(override, spec.body)
        return _runs(func, "override", spec, run, backend)
    if func in REFUSED:
        return Entry(func, "refused", None, None, REFUSED[func])
    if func in HOST:
        return Entry(func, "host", None, None, HOST[func].reason)
    if spec is not None:
        return _runs(func, spec.kind, spec, spec.body, backend)
    if func in SCIENTIFIC:
        return Entry(func, "host", None, None, SCIPYS)
    return Entry(func, "host", None, None, "it has no implementation on devices yet")
