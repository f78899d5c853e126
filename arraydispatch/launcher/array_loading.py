"""Functions that load a program's arrays, from pickles and with other libraries: they return instances of its ``np.ndarray``.

No other code holds the memory of such an array. If a library calls these functions for its own use, they return ndarrays.
"""

from __future__ import annotations

import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np

from .._core.callable_proxy import StandIn
from ..common import callers
from ..common.patching import Exchange
from ..common.process_state import process
from ..common.pytrees import mapped
from ..common.sentinels import DECLINED
from ..dispatch import split_arrays
from .adoption import move, on_memory

METHODS: dict[str, tuple[str, ...]] = {
    "h5py._hl.dataset": ("Dataset.__getitem__", "AstypeWrapper.__getitem__"),
    "joblib": ("load",),
    "shelve": ("Shelf.__getitem__",),
    "zarr.core.array": ("Array.__getitem__",),
}
"""Module -> its functions and methods that load arrays."""


def function(exchange: Exchange) -> StandIn:
    """Return the stand-in for a function that loads arrays."""
    return StandIn(exchange.real, exchange.holder.__name__, exchange.name, method(exchange))


def method(exchange: Exchange) -> Callable[..., Any]:
    """Return the replacement of a method that loads."""
    real = exchange.real

    def load(*args: Any, **kwargs: Any) -> Any:
        if split_arrays.is_possible() and len(args) == 2 and not kwargs and exchange.on and _asked_by_program():
            found = _by_parts(real, *args, f"{exchange.holder.__name__}.{exchange.name}")
            if found is not DECLINED:
                return found
        return _for_program(exchange, real(*args, **kwargs), f"{exchange.holder.__name__}.{exchange.name}")

    return load


def unpickler(exchange: Exchange) -> type:
    """Return a subclass of ``pickle.Unpickler``; its ``load`` returns arrays to a program."""
    real = exchange.real

    class Unpickler(real):  # type: ignore[misc, valid-type]
        __doc__ = real.__doc__
        __module__ = real.__module__

        def load(self) -> Any:
            return _for_program(exchange, super().load(), "pickle.Unpickler.load")

    Unpickler.__qualname__ = Unpickler.__name__ = real.__name__
    return Unpickler


_ON_BEHALF = frozenset({"collections.abc", "_collections_abc", "pickle", "shelve"})
"""Modules that call the loading functions of other modules for a program."""


def _for_program(exchange: Exchange, found: Any, what: str) -> Any:
    """Return ``found``, a value that the function ``what`` has loaded, with arrays in place of ndarrays if the program
    itself called that.
    """
    users = process.users
    if (
        not exchange.on
        or users is None
        or type(found) in _ATOMS
        or not users.owns_frame(callers.beyond(sys._getframe(2), _ON_BEHALF))
    ):
        return found
    return _brought(found, {}, what)


def _asked_by_program() -> bool:
    users = process.users
    return users is not None and users.owns_frame(sys._getframe(2))


def _by_parts(real: Callable[..., Any], dataset: Any, key: Any, what: str) -> Any:
    """Read ``dataset[key]`` from a file by ``real``, split over a mesh, so that each process reads its part; DECLINED if the array is read
    whole. ``what``: function that reports name.
    """
    shape, dtype = getattr(dataset, "shape", None), getattr(dataset, "dtype", None)
    if type(shape) is not tuple or not isinstance(dtype, np.dtype) or prod(shape) < split_arrays.PIECE:
        return DECLINED
    keys = list(key) if type(key) is tuple else [key]
    if not any(each is Ellipsis for each in keys):
        keys.append(Ellipsis)
    at = next(i for i, each in enumerate(keys) if each is Ellipsis)
    keys[at : at + 1] = [slice(None)] * (len(shape) - len(keys) + 1)
    if len(keys) != len(shape) or not all(
        type(each) is int or (type(each) is slice and each.step in (None, 1)) for each in keys
    ):
        return DECLINED
    try:
        spans = [each.indices(n)[:2] if type(each) is slice else each for each, n in zip(keys, shape)]
    except TypeError:
        return DECLINED
    kept = [span for span in spans if type(span) is tuple]
    lengths = tuple([max(0, stop - start) for start, stop in kept])

    def values(box: Any) -> Any:
        places = iter([slice(start + part.start, start + part.stop) for (start, _), part in zip(kept, box)])
        return real(dataset, tuple([next(places) if type(span) is tuple else span for span in spans]))

    together = _together(dataset) if type(spans[0]) is tuple and not spans[0][0] else 1
    return split_arrays.read(lengths, dtype, values, what, together)


def _together(dataset: Any) -> int:
    """Return the number of slices along the first axis that lie in the same chunks, or in the same file of chunks."""
    try:
        chunks = getattr(dataset, "shards", None) or getattr(dataset, "chunks", None)
    except NotImplementedError:  # zarr raises it for chunks of several sizes
        return 1
    return int(chunks[0]) if chunks else 1


_DICTS = frozenset({dict, OrderedDict, defaultdict})
_ATOMS = frozenset({int, float, complex, bool, str, bytes, type(None)})


def _brought(value: Any, known: dict[int, Any], what: str) -> Any:
    """Return a value with arrays in place of ndarrays, one for each ndarray: also in a copy of a tuple, and in place in lists, deques,
    dicts and objects of the program's classes.

    ``known``: id of an object -> its replacement, and the object. ``what``: function that reports name.
    """
    kind = type(value)
    if kind in _ATOMS:
        return value
    if id(value) in known:
        return known[id(value)][0]
    if kind is np.ndarray:
        shared = on_memory(value) if value.base is not None and value.flags.writeable else None
        made = move(value, what) if shared is None else shared
        known[id(value)] = made, value
        return made
    known[id(value)] = value, value
    if kind is tuple:
        made = mapped(lambda part: _brought(part, known, what), value)
        known[id(value)] = made, value
        return made
    if kind is list:
        value[:] = [_brought(part, known, what) for part in value]
    elif kind is deque:
        for at, part in enumerate(value):
            value[at] = _brought(part, known, what)
    elif kind in _DICTS:
        _fill(value, known, what)
    elif kind is SimpleNamespace:
        _fill(vars(value), known, what)
    elif _is_programs(kind) and isinstance(held := getattr(value, "__dict__", None), dict):
        _fill(held, known, what)
    return value


def _fill(held: dict[Any, Any], known: dict[int, Any], what: str) -> None:
    for name, part in held.items():
        held[name] = _brought(part, known, what)


def _is_programs(kind: type) -> bool:
    """Whether a class is one of the program's own."""
    module = sys.modules.get(kind.__module__)
    return (
        process.users is not None and module is not None and process.users.owns_globals(vars(module), sys._getframe())
    )
