"""Dispatch of SciPy's functions on arrays: stand-ins that dispatch as NumPy's functions do, with entries in the same
registry.

NumPy's functions dispatch on their arguments (NEP 18); most of SciPy's do not. So each public function gets a
*stand-in*, an object of the type that NumPy uses for its own functions. Called without an `Array` it runs SciPy's
function, without a Python frame in between. Called with an `Array` it calls ``__array_function__``, and the call continues like
that of a NumPy function. :mod:`arraydispatch.interop.scipy_stand_ins` installs the stand-ins in place of the functions,
as exchanges that can be undone.

Nothing here imports SciPy before the program does. The first call of a SciPy module's function with an array loads the module's
topic (``linalg``, ``signal``, …), which registers the functions that the libraries can compute, by :func:`implements`.
All others are SciPy's own, and run on the host by policy. :mod:`.array_api_functions` registers the functions that SciPy has written
for any array-API namespace.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
import threading
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any, TypeVar

import numpy as np

from .._core.callable_proxy import StandIn
from .._core.handles import Handle
from ..common import names, signal_safety
from ..common.arguments import PLAIN
from ..common.process_state import process
from ..functions import registry
from ..functions.registry import METHODS, SCIENTIFIC

B = TypeVar("B", bound=Callable[..., Any])

MODULES: dict[str, str] = {
    "scipy.cluster.hierarchy": "cluster", "scipy.cluster.vq": "cluster", "scipy.fft": "fft",
    "scipy.integrate": "integrate", "scipy.interpolate": "interpolate", "scipy.linalg": "linalg",
    "scipy.ndimage": "ndimage", "scipy.optimize": "optimize", "scipy.signal": "signal",
    "scipy.signal.windows": "signal", "scipy.sparse": "sparse", "scipy.sparse.linalg": "sparse",
    "scipy.spatial": "spatial", "scipy.spatial.distance": "spatial", "scipy.special": "special",
    "scipy.stats": "stats",
}  # fmt: skip
"""SciPy module -> topic that registers the module's functions that the libraries can compute."""

_ArrayFunctionDispatcher: Any = importlib.import_module("numpy._core._multiarray_umath")._ArrayFunctionDispatcher
"""Type of NumPy's own dispatching functions (NEP 18)."""

_HOLD_NONE = PLAIN | {np.ndarray, FunctionType}
"""Types that are not an `Array` and contain none."""

_PARTS: dict[str, tuple[str, ...]] = {
    "fft": ("fft",),
    "integrate": ("integrate",),
    "linalg": ("linalg", "structured_systems"),
    "ndimage": ("ndimage", "interpolation", "neighbourhoods"),
    "signal": ("signal", "filters", "spectra"),
    "spatial": ("spatial",),
    "stats": ("distributions",),
}
"""Topic -> modules here that register its functions; :mod:`.array_api_functions` registers more."""

_loaded: set[str] = set()
_loading = threading.RLock()
_stand_ins: dict[Any, Any] = {}
"""SciPy function -> its only stand-in."""


def arrays_among(values: Iterable[Any], found: list[Any], depth: int = 3) -> None:
    """Append the `Array` objects among arguments to ``found``, also those within sequences and dicts, up to ``depth`` levels deep."""
    for x in values:
        cls = type(x)
        if cls in _HOLD_NONE:
            continue
        if isinstance(x, Handle):
            found.append(x)
        elif issubclass(cls, list | tuple | dict) and depth:
            items = x.values() if issubclass(cls, dict) else x
            if not _HOLD_NONE.issuperset(map(type, items)):
                arrays_among(items, found, depth - 1)


MATRICES: dict[type, Callable[..., Any]] = {}
"""Type of sparse arrays -> function that runs SciPy's functions on them. Sparse arrays take precedence over other arrays."""


def _relevant(topic: str) -> Callable[..., list[Any]]:
    """Return a NEP 18 dispatcher: a function that lists the relevant arguments, none without an `Array`."""

    def relevant(*args: Any, **kwargs: Any) -> list[Any]:
        found: list[Any] = []
        if MATRICES:
            found += [x for x in (*args, *kwargs.values()) if type(x) in MATRICES]
        arrays_among(args, found)
        if kwargs:
            arrays_among(kwargs.values(), found)
        if found and topic not in _loaded:
            load(topic)
        return found

    return relevant


_askers = {topic: _relevant(topic) for topic in set(MODULES.values())}


def load(topic: str) -> None:
    """Load a topic, so that it registers its functions; other threads wait."""
    if topic not in _loaded:
        signal_safety.importing(lambda: _load(topic))


def _load(topic: str) -> None:
    with _loading:
        if topic not in _loaded:
            for part in _PARTS.get(topic, ()):
                importlib.import_module(f"{__name__}.{part}")
            importlib.import_module(f"{__name__}.array_api_functions").register(topic)
            _loaded.add(topic)


def _made(real: Any, module: str, name: str) -> Any:
    made = _stand_ins.get(real)
    if made is None:
        made = _ArrayFunctionDispatcher(_askers[MODULES[module]], real)
        functools.update_wrapper(made, real)
        made.__module__ = module  # where unpickling looks it up
        SCIENTIFIC.add(made)
        names.FULL[made] = f"{module}.{name}"
        made = _stand_ins.setdefault(real, made)
    return made


def stand_in(full: str) -> Any:
    """Return the stand-in for a function given by its public name, or None if this SciPy lacks it."""
    module, _, name = full.rpartition(".")
    real = real_of(getattr(signal_safety.imported(module), name, None))
    return None if real is None else _made(real, module, name)


class Front(StandIn):
    """Stand-in that user code gets for SciPy's function ``module.name``. It calls ``made``, the dispatching function. As a key it equals
    SciPy's function, so SciPy's own tables find it.
    """

    def __init__(self, made: Any, module: str, name: str) -> None:
        super().__init__(made.__wrapped__, module, name)
        self.made, self._what = made, f"{module}.{name}"
        self.follow()

    def follow(self) -> None:
        """Set the target of calls: the dispatching function, within the launcher's wrapper if there is one."""
        self.target = self.made if process.around is None else process.around(self.made, self._what)


_fronts: dict[Any, Front] = {}


@process.follows("around")
def _follow() -> None:
    for each in list(_fronts.values()):
        each.follow()


def front(full: str) -> Front | None:
    """Return the stand-in for users of a function; None if this SciPy lacks the function."""
    made = stand_in(full)
    if made is None:
        return None
    return _fronts.get(made) or _fronts.setdefault(made, Front(made, *full.rsplit(".", 1)))


def method_stand_in(real: Any, module: str, cls: type, name: str) -> Any:
    """Return the stand-in for a method of a class."""
    made = _made(real, module, f"{cls.__name__}.{name}")
    made.__module__ = real.__module__  # pickles look a method up there, by its qualified name
    METHODS.add(made)
    return made


def public(module: ModuleType) -> list[str]:
    """Return the names of a module's public functions that are written in Python or Cython."""
    held = vars(module)  # `getattr` would import modules that SciPy loads lazily
    own = held.get("__all__") or [name for name in held if not name.startswith("_")]
    only = _OF_ARRAYS.get(module.__name__)
    found = [name for name in own if name not in _NOT_OF_ARRAYS and (only is None or name in only)]
    return sorted(name for name in found if is_function(real_of(held.get(name))))


def is_function(value: Any) -> bool:
    """Whether a value is a function written in Python or Cython, so that it may accept anything that converts to an ndarray."""
    return isinstance(value, FunctionType) or type(value).__name__ == "cython_function_or_method"


def real_of(held: Any) -> Any:
    """Return SciPy's own function for a stand-in; other objects unchanged."""
    if type(held) in (Front, StandIn):
        return held.real
    return held.__wrapped__ if type(held) is _ArrayFunctionDispatcher and held in SCIENTIFIC else held


_NOT_OF_ARRAYS = frozenset({
    "test", "register_backend", "set_backend", "set_global_backend", "skip_backend", "set_workers", "get_workers",
})  # fmt: skip

_OF_ARRAYS: dict[str, frozenset[str]] = {
    "scipy.optimize": frozenset("isotonic_regression linprog lsq_linear milp nnls quadratic_assignment".split()),
    "scipy.sparse": frozenset(),
}
"""Module -> the only functions in it that work on arrays. The others call a callable with ndarrays, or
create matrices.
"""


def implements(*full: str, **about: Any) -> Callable[[B], B]:
    """Register a body for SciPy functions, as :func:`arraydispatch.functions.registry.implements` does for NumPy's."""
    found = [func for func in map(stand_in, full) if func is not None]
    return registry.implements(*found, **about)


def by_scipy_itself() -> bool:
    """Whether SciPy itself accepts arrays of any library, because the user has set ``SCIPY_ARRAY_API``."""
    return os.environ.get("SCIPY_ARRAY_API", "0").lower() not in ("", "0", "false")


def imported() -> list[str]:
    """Return those of :data:`MODULES` that have been imported."""
    return [name for name in MODULES if name in sys.modules]
