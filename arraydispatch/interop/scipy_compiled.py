"""Stand-ins for SciPy's compiled functions that accept only ndarrays, or write into the memory of other objects. They pass ndarrays.

LAPACK and BLAS routines copy an ndarray before they write into it, but assume that the result of ``__array__`` is already a copy.
The objects that ``splu`` returns check the type of their arguments. Results go back to the backend of the arrays, as for all host
calls, and arguments that a routine may overwrite are overwritten.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache, partial
from types import ModuleType
from typing import Any

from .._core.callable_proxy import StandIn, by_name
from ..common.patching import Exchange
from ..dispatch import scipy_calls, wrapping
from ..scipy_support import arrays_among, method_stand_in

__all__ = ["HELD", "Compiled", "exchanges"]

_WHY = "it is compiled for the host"
_ROUTINES = ("scipy.linalg.blas", "scipy.linalg.lapack")
_FORTRAN = "fortran"


class Compiled:
    """Stand-in for a compiled SciPy function, or for an object with compiled methods (``methods``); it accepts arrays."""

    __slots__ = ("_methods", "_name", "_real")

    def __init__(self, real: Any, name: str, methods: tuple[str, ...] = ()) -> None:
        self._real, self._name, self._methods = real, name, methods

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._real)

    @property
    def __doc__(self) -> Any:  # type: ignore[override]
        return self._real.__doc__

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        return Compiled(found, f"{self._name}.{name}") if name in self._methods else found

    def __repr__(self) -> str:
        return repr(self._real)

    def __eq__(self, other: object) -> bool:
        return self._real == (other._real if type(other) is Compiled else other)

    def __hash__(self) -> int:
        return hash(self._real)

    def __reduce_ex__(self, protocol: Any) -> Any:
        made = self._real.__reduce_ex__(protocol)
        module, _, name = self._name.rpartition(".")
        return by_name(module, name) if isinstance(made, str) else made

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the compiled function with ndarrays, and write back the arguments that it changed."""
        found: list[Any] = []
        arrays_among((*args, *kwargs.values()), found)
        if not found:
            return self._real(*args, **kwargs)
        backend = wrapping.find_backend(found)
        assert backend is not None
        return scipy_calls.call(self._real, self._name, args, kwargs, backend, _WHY, overwrites=True)


def _called(exchange: Exchange) -> Any:
    return Compiled(exchange.real, f"{exchange.holder.__name__}.{exchange.name}")


_standing_in: dict[str, StandIn] = {}


def _standing(name: str, real: Any, module: str, by: Callable[..., Any]) -> StandIn:
    """Return the stand-in for the function ``real``, which calls ``by``; the same one for all modules that have the function."""
    made = _standing_in.setdefault(name, StandIn(real, module, name))
    made.target = by
    return made


@cache
def _routine(real: Any, module: str) -> Compiled:
    """Return the stand-in for a routine of BLAS or LAPACK, always the same one."""
    return Compiled(real, f"{module}.{real.__name__.split()[-1]}")


def _routines(exchange: Exchange) -> Any:
    real, module = exchange.real, f"scipy.linalg.{exchange.name.split('_')[1]}"

    def get(*args: Any, **kwargs: Any) -> Any:
        found = real(*args, **kwargs)
        if isinstance(found, list | tuple):
            return type(found)(_routine(each, module) for each in found)
        return _routine(found, module)

    return _standing(exchange.name, real, "scipy.linalg", get)


def _making(methods: tuple[str, ...]) -> Callable[[Exchange], Any]:
    """Return the factory of the stand-in for a function that makes a compiled object."""

    def make(exchange: Exchange) -> Any:
        real = exchange.real

        def made(*args: Any, **kwargs: Any) -> Any:
            given: Any = Compiled(real, f"scipy.sparse.linalg.{exchange.name}")(*args, **kwargs)
            return Compiled(given, f"scipy.sparse.linalg.{exchange.name}'s", methods)

        return _standing(exchange.name, real, "scipy.sparse.linalg", made)

    return make


_OF_TREES = ("query", "query_ball_point", "query_ball_tree", "query_pairs", "count_neighbors", "sparse_distance_matrix")


class _AsReal(type):
    """Metaclass of a stand-in for a class whose methods cannot be replaced: instances of the real class count as its instances."""

    def _asked(cls) -> type:
        return cls.__mro__[1] if "_stands_in" in vars(cls) else cls

    def __instancecheck__(cls, x: Any) -> bool:
        return type.__instancecheck__(cls._asked(), x)

    def __subclasscheck__(cls, other: type) -> bool:
        return type.__subclasscheck__(cls._asked(), other)


def _tree(exchange: Exchange) -> Any:
    real, module, name = exchange.real, exchange.holder.__name__, exchange.name

    def begin(self: Any, *args: Any, **kwargs: Any) -> None:
        found: list[Any] = []
        arrays_among((*args, *kwargs.values()), found)
        backend = wrapping.find_backend(found)
        if backend is None:
            real.__init__(self, *args, **kwargs)
            return
        scipy_calls.call(partial(real.__init__, self), f"{module}.{name}", args, kwargs, backend, _WHY)

    def pickled(self: Any) -> Any:
        return real.__new__, (real,), self.__getstate__()

    methods = {method: method_stand_in(getattr(real, method), module, real, method) for method in _OF_TREES}
    about = {
        "__module__": module,
        "__qualname__": name,
        "__doc__": real.__doc__,
        "__reduce__": pickled,
        "_stands_in": True,
    }
    return _AsReal(name, (real,), {**about, "__init__": begin, **methods})


HELD: dict[str, dict[str, Callable[[Exchange], Any]]] = {
    "scipy.linalg": {"get_blas_funcs": _routines, "get_lapack_funcs": _routines},
    "scipy.optimize": {"linear_sum_assignment": _called},
    "scipy.spatial": {"cKDTree": _tree},
    "scipy.sparse.linalg": {"factorized": _making(()), "spilu": _making(("solve",)), "splu": _making(("solve",))},
}
"""Module -> name of a compiled function or class, or of a function that returns compiled objects -> factory of its replacement."""


def exchanges(module: ModuleType) -> Iterator[Exchange]:
    """Yield the exchanges for an imported module."""
    held = HELD.get(module.__name__, {})
    for name, make in held.items():
        yield Exchange(module, name, make, "compiled functions of SciPy")
    if module.__name__ != "scipy.linalg":
        return
    for routines in _ROUTINES:
        holder = sys.modules.get(routines)
        if holder is None:
            continue
        for name, value in list(vars(holder).items()):
            if type(value).__name__ == _FORTRAN:
                yield Exchange(holder, name, _called, "compiled functions of SciPy")
            elif name in held:
                yield Exchange(holder, name, held[name], "compiled functions of SciPy")
