"""Exchanges for packages that test the class or the memory of an array, which no protocol can change.

*xarray* asks an array for its array-API namespace, and calls that. The standard has fewer functions than xarray uses (windows,
``any`` with ``out=``) and does not promote integers with floats. So xarray gets NumPy as the namespace of an `Array`; NumPy's
functions dispatch by NEP 13 and NEP 18. Arrays of an array-API namespace keep theirs.

*scipy.optimize* passes the result of ``jac`` to compiled code and checks whether a matrix of derivatives is an ndarray: users' functions
return ndarrays to it.

*dask* looks up the functions for a chunk by the chunk's class: for an `Array` it finds those for ndarrays.

*cloudpickle* pickles a function by value unless it finds the function by name; stand-ins for SciPy's functions are pickled by name.

*torch.asarray* reads an object with the buffer protocol as ``float32``, so an `Array` is first converted by ``as_tensor``.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from .._core.callable_proxy import StandIn
from .._core.handles import Handle
from ..backends import loader
from ..common.patching import CLOUDPICKLE, Exchange

_NUMPYS = np.empty(0)


def exchanges(package: ModuleType) -> Iterator[Exchange]:
    """Yield the exchanges for an imported package. Those of attributes that its version lacks have no effect when installed."""
    for name, attribute, make in _TOLD[package.__name__]:
        module, _, owner = name.partition(":")
        holder: Any = sys.modules.get(module, package)
        holder = getattr(holder, owner, package) if owner else holder
        yield Exchange(holder, attribute, make, "guests")


def _asking(exchange: Exchange) -> Any:
    real = exchange.real

    @functools.wraps(real)
    def get_array_namespace(*values: Any) -> Any:
        return real(*[_NUMPYS if isinstance(x, Handle) and not x._kind.standard else x for x in values])

    return get_array_namespace


def _indexing(exchange: Exchange) -> Any:
    real, numpys = exchange.real, exchange.holder.NdArrayLikeIndexingAdapter

    @functools.wraps(real)
    def adapter(array: Any) -> Any:
        """Return xarray's adapter for ndarrays if given an `Array`: it takes several index arrays at once and returns 0-d arrays."""
        return (numpys if isinstance(array, Handle) and not array._kind.standard else real)(array)

    return adapter


def _showing(exchange: Exchange) -> Any:
    real = exchange.real
    flat = exchange.holder.format_array_flat

    @functools.wraps(real)
    def inline_variable_array_repr(var: Any, max_width: int) -> Any:
        """Return a line with the first and the last numbers of an array that is in memory."""
        held = getattr(var, "_data", None)
        return flat(var, max_width) if isinstance(held, Handle) else real(var, max_width)

    return inline_variable_array_repr


def _gradient(exchange: Exchange) -> Any:
    real = exchange.real

    @functools.wraps(real)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        found = real(self, *args, **kwargs)
        return np.asarray(found) if isinstance(found, Handle) else found

    return __call__


class _Answering:
    """Wrapper of a user's function that returns ndarrays in place of arrays; it can be pickled if the user's function can."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        found = self._function(*args, **kwargs)
        return np.asarray(found) if isinstance(found, Handle) else found


def _functions(exchange: Exchange) -> Any:
    real = exchange.real

    @functools.wraps(real)
    def __init__(self: Any, fun: Any, x0: Any, jac: Any, *args: Any, **kwargs: Any) -> None:
        fun, jac = (_Answering(each) if callable(each) else each for each in (fun, jac))
        real(self, fun, x0, jac, *args, **kwargs)

    return __init__


def _looking_up(exchange: Exchange) -> Any:
    real = exchange.real

    @functools.wraps(real)
    def dispatch(self: Any, cls: type) -> Any:
        """Look up the functions for ndarrays in place of those for `Array`, unless some are registered for `Array`."""
        ours = issubclass(cls, Handle) and self._lookup.keys().isdisjoint(
            kind for kind in cls.__mro__ if kind is not object
        )
        return real(self, np.ndarray if ours else cls)

    return dispatch


def _told_of(kind: Any) -> Any:
    if isinstance(kind, tuple):
        return tuple(map(_told_of, kind))
    return np.ndarray if getattr(kind, "stands_for_ndarray", False) else kind


def _registering(exchange: Exchange) -> Any:
    real = exchange.real

    @functools.wraps(real)
    def register(self: Any, type: Any, *args: Any, **kwargs: Any) -> Any:
        """Register functions for NumPy's ndarray where a launched program names its own ``np.ndarray``, a stand-in."""
        return real(self, _told_of(type), *args, **kwargs)

    return register


def _read_by(other: str, exchange: Exchange) -> Any:
    real, reads = exchange.real, getattr(exchange.holder, other)

    @functools.wraps(real)
    def made(obj: Any, *args: Any, **kwargs: Any) -> Any:
        return real(reads(obj) if isinstance(obj, Handle) else obj, *args, **kwargs)

    return made


def _by_name(exchange: Exchange) -> Any:
    real = exchange.real

    @functools.wraps(real)
    def reducer_override(self: Any, obj: Any) -> Any:
        """Reduce a stand-in to its name; other functions that are not found by name are pickled by value."""
        return obj.__reduce__() if issubclass(type(obj), StandIn) else real(self, obj)

    return reducer_override


_ASK = "get_array_namespace"
_TOLD: dict[str, tuple[tuple[str, str, Callable[[Exchange], Any]], ...]] = {
    "xarray": (
        ("xarray.compat.array_api_compat", _ASK, _asking),
        ("xarray.core.duck_array_ops", _ASK, _asking),
        ("xarray.core.nputils", _ASK, _asking),
        ("xarray.core.indexing", "ArrayApiIndexingAdapter", _indexing),
        ("xarray.core.formatting", "inline_variable_array_repr", _showing),
    ),
    "dask.utils": (
        ("dask.utils:Dispatch", "dispatch", _looking_up),
        ("dask.utils:Dispatch", "register", _registering),
    ),
    "scipy.optimize": (
        ("scipy.optimize._differentiable_functions:_ScalarGradWrapper", "__call__", _gradient),
        ("scipy.optimize._differentiable_functions:VectorFunction", "__init__", _functions),
    ),
    **{name: ((f"{name}:CloudPickler", "reducer_override", _by_name),) for name in CLOUDPICKLE},
}
"""Package -> (module, or ``module:class``; attribute; factory of the replacement)."""
for _row in loader.KNOWN.values():
    if _row.misreads:
        _TOLD[_row.library] = tuple(
            (_row.library, name, functools.partial(_read_by, other)) for name, other in _row.misreads.items()
        )
MODULES = frozenset(_TOLD)
"""Packages with exchanges."""
