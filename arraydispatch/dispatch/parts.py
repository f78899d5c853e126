"""Decision where parts (subarrays and elements) of an array are read and written: by the library that holds it, or by NumPy on the host.

Reading or writing a value in many small parts is work for the host. So are parts of many shapes, if the library compiles for each
shape. :mod:`arraydispatch.dispatch.subscripts` calls this module.
"""

from __future__ import annotations

import sys
from math import prod
from types import CodeType
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends import loader
from ..common import callers
from ..common.arguments import PLAIN
from ..common.pytrees import first
from ..memory import reshaping, views
from ..memory.views import ghost
from ..runtime import settings
from ..runtime.execution_policy import Shapes, shapes

__all__ = [
    "belongs_to_host", "is_basic", "is_for_host", "is_given_back", "is_looked_into_on_host", "is_picked_on_host",
    "is_written_in_parts", "settle", "whole_integers",
]  # fmt: skip

_BASIC = (int, slice, type(None), type(Ellipsis), np.integer)


_LOOKS = 4
"""Number of small parts that the library reads before the value moves to the host, if no blocks are recorded."""
_ELEMENT = 3
"""Weight of an element, counted as parts, where blocks read and write parts."""
_COMPUTED = 8
"""Weight of a written part that NumPy has computed and that is not small in :data:`_LARGE`'s sense: each such write costs a copy."""
_LARGE = 16
"""A part with fewer than one 16th of the array's elements, such as an edge of a stencil, counts as small."""
_PARTS = 24
"""Limit like :data:`_LOOKS` where blocks read and write parts: above the number of a stencil's edges in a step, below that of rows in a loop."""


_MOST_PLACES = 4096
_places: set[tuple[CodeType, int]] = set()
"""Bytecode instructions (code, offset) of programs at which an array moved to the host after too many parts. Other arrays of which the
same instruction reads or writes a part move at once.
"""


def _is_one_too_many(root: Handle, weight: int) -> bool:
    """Count a small part of an array that blocks read and write, by its weight. Return whether the array should move to the host."""
    frame, _ = callers.outside(sys._getframe(2), callers.is_core)
    place = frame.f_code, frame.f_lasti
    if place in _places:
        return True
    count = getattr(root, "_looks", 0) + weight
    root._looks = count
    if count <= _PARTS:
        return False
    if len(_places) >= _MOST_PLACES:
        _places.clear()
    _places.add(place)
    return True


def _on_a_cpu(a: Handle) -> bool:
    """Whether an array of the library could be in the host state."""
    backend = a._kind.backend
    value = views.owner(a)._v
    return (
        not (backend.native_is_ndarray or a._kind.standard)
        and backend.is_concrete(value)
        and (settings.on_cpu(backend.name) if backend.defers else backend.on_cpu(value))
        and (not backend.mutable or backend.shares_with_host(value))
        and loader.hosted(backend.name).holds(a._kind.dtype)
    )


def _is_small(a: Handle, key: Any) -> bool:
    """Whether a basic key selects a part smaller than ``min_size``."""
    try:
        return bool(np.size(ghost(a)[key]) < settings.default.min_size)
    except IndexError:
        return False


def _is_small_pick(a: Handle, key: Any) -> bool:
    """Whether a key of index arrays, masks, slices and integers selects fewer than ``min_size`` elements."""
    one: list[Any] = []
    picked: list[tuple[int, ...]] = []
    try:
        for k in key if type(key) is tuple else (key,):
            if not isinstance(k, Handle | np.ndarray | list):
                one.append(k)
                continue
            index = np.asarray(k._v if isinstance(k, Handle) else k)
            if index.dtype.kind not in "biu":
                return False
            masks = index.dtype.kind == "b"
            one += [0] * (index.ndim if masks else 1)
            picked.append((np.count_nonzero(index),) if masks else index.shape)
        size = prod(np.broadcast_shapes(*picked)) * np.size(ghost(a)[tuple(one)])
        return bool(size < settings.default.min_size)
    except (IndexError, ValueError):
        return False


def _changes(a: Handle, key: Any) -> bool:
    """Whether a basic key selects a part whose shape does not recur, so that the library would compile for it in vain."""
    try:
        return not shapes.recurs(np.shape(ghost(a)[key]))
    except IndexError:
        return False


_index_shapes = Shapes()
"""Shapes of the index arrays used on large arrays."""


def is_picked_on_host(a: Handle, key: Any) -> bool:
    """Count the shapes of index arrays on a library that compiles for each shape. Return whether NumPy should pick the elements: the key
    has a mask, or index arrays whose shapes keep changing.
    """
    if not settings.default.min_size or not a._kind.backend.defers or not _on_a_cpu(a):
        return False
    return _picks_many_shapes(key)


def _picks_many_shapes(key: Any) -> bool:
    for k in key if type(key) is tuple else (key,):
        if isinstance(k, Handle):
            k = ghost(k)
        elif isinstance(k, list):
            try:
                k = np.array(k)
            except ValueError:
                return False  # the caller raises the error
        if isinstance(k, np.ndarray) and (k.dtype.kind == "b" or not _index_shapes.recurs(k.shape)):
            return True
    return False


def is_for_host(x: Any) -> bool:
    """Whether an argument, or a key, consists of plain values and small arrays on the host."""
    most = settings.default.min_size

    def is_not(y: Any) -> bool:
        if issubclass(type(y), (list, tuple)):  # the items follow
            return len(y) >= most
        if isinstance(y, Handle):
            return not y._kind.backend.hosted or ghost(y).size >= most
        return y.size >= most if isinstance(y, np.ndarray) else type(y) not in PLAIN

    return first(is_not, (x,)) is None


def is_looked_into_on_host(a: Handle) -> bool:
    """Count a lookup of elements by a small index, or in a function. Return whether the array should move to the host for it."""
    if not _on_a_cpu(a):
        return False
    root = views.owner(a)
    return a._kind.backend.mutable or is_given_back(root) or _is_looked_at_again(root, _ELEMENT)


def _is_looked_at_again(root: Handle, weight: int) -> bool:
    """Count a small part of the array ``root``, or an element, that is read or written; return whether the array should move to the host.

    ``weight``: by how much the part counts in arrays that blocks read and write.
    """
    if root._kind.backend.defers:
        return _is_one_too_many(root, weight)
    looks = root._looks = getattr(root, "_looks", 0) + 1
    return looks > _LOOKS


def belongs_to_host(a: Handle, key: Any, written: bool = False, value: Any = None) -> bool:
    """Count a part that is read or written. Return whether its array should move to the host: it has many small parts, or parts of many
    shapes, or sharing costs nothing.

    ``written``: whether the part is written, with ``value``.
    """
    if not is_basic(key):
        return is_for_host(key) and _is_small_pick(a, key) and is_looked_into_on_host(a)
    if not _on_a_cpu(a):
        return False
    backend = a._kind.backend
    if backend.mutable:
        return True
    root = views.owner(a)
    if is_given_back(root):
        return True
    if not _is_small(a, key):
        if backend.defers:
            root._looks = 0
            return _changes(a, key)
        return False
    if written and ghost(root).size < settings.default.min_size:
        return True
    weight = _ELEMENT if whole_integers(key, ghost(a).ndim) else 1
    if isinstance(value, Handle) and value._kind.backend.hosted and _LARGE * np.size(ghost(a)[key]) >= ghost(root).size:
        weight = _COMPUTED
    return _is_looked_at_again(root, weight)


def is_written_in_parts(a: Handle, key: Any, value: Any) -> bool:
    """Whether an array should move to the host because a part is written: at the first small part, except where blocks write parts."""
    if a._kind.backend.defers:
        return belongs_to_host(a, key, True, value)
    return _on_a_cpu(a) and (
        a._kind.backend.mutable or (_is_small(a, key) if is_basic(key) else is_for_host(key) and _is_small_pick(a, key))
    )


def is_given_back(a: Handle) -> bool:
    """Whether new arrays of this one's shape begin on the host, so that this one should move there."""
    if not shapes.given_back or not a._kind.backend.defers:
        return False
    return ghost(views.owner(a)).shape in shapes.given_back and _on_a_cpu(a)


def settle(a: Handle, why: str) -> None:
    """Move an array to the host, where its parts are read or written; from now on arrays of its shape may begin there.

    ``why``: reason in the report.
    """
    root = views.owner(a)
    if root._kind.backend.defers:
        shapes.moved(ghost(root).shape)
    reshaping.settle(a, why)


def is_basic(key: Any) -> bool:
    """Whether a key is basic: only integers, slices, None and Ellipsis, for which NumPy returns a view."""
    for k in key if type(key) is tuple else (key,):  # a loop takes half the time of a generator
        if not issubclass(type(k), _BASIC) or type(k) is bool:
            return False
    return True


def whole_integers(key: Any, ndim: int) -> bool:
    """Whether a basic key selects one element as a scalar, not as a 0-d array."""
    items = key if type(key) is tuple else (key,)
    return len(items) == ndim and all(isinstance(k, int | np.integer) for k in items)
