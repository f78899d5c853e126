"""xarray on arrays: its code is written for NumPy's functions, and those dispatch.

xarray asks what it holds for the namespace of the array-API standard, and calls that. The standard has fewer functions than xarray
wants (windows, ``any`` with ``out=``) and promotes integers and floats to nothing. So of an array of ours it is told NumPy, whose
functions come back to the array by NEP 13 and NEP 18; arrays of a namespace keep theirs.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from .exchanges import Exchange
from .views import Handle

__all__ = ["MODULES", "exchanges"]

_ASKING = ("xarray.compat.array_api_compat", "xarray.core.duck_array_ops", "xarray.core.nputils")
"""The modules that have the function by which xarray asks."""
_INDEXING = "xarray.core.indexing"
_SHOWING = "xarray.core.formatting"
MODULES = frozenset({"xarray"})
"""The packages that are guests."""

_NUMPYS = np.empty(0)


def exchanges(package: ModuleType) -> Iterator[Exchange]:
    """What is exchanged once a package has been imported; nothing that another version of it lacks."""
    for name in _ASKING:
        yield Exchange(sys.modules.get(name, package), "get_array_namespace", _asking)
    yield Exchange(sys.modules.get(_INDEXING, package), "ArrayApiIndexingAdapter", _indexing)
    yield Exchange(sys.modules.get(_SHOWING, package), "inline_variable_array_repr", _showing)


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
        """NumPy's indexing: by several arrays at once too, and with arrays of no dimensions, not scalars, as results."""
        return (numpys if isinstance(array, Handle) and not array._kind.standard else real)(array)

    return adapter


def _showing(exchange: Exchange) -> Any:
    real = exchange.real
    flat = exchange.holder.format_array_flat

    @functools.wraps(real)
    def inline_variable_array_repr(var: Any, max_width: int) -> Any:
        """In one line, of what is in memory, the first numbers and the last."""
        held = getattr(var, "_data", None)
        return flat(var, max_width) if isinstance(held, Handle) else real(var, max_width)

    return inline_variable_array_repr
