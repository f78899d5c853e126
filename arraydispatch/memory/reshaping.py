"""In-place changes of an array (``x.shape = …``, ``x.dtype = …``, ``x.resize(…)``) and moves of its memory to the host."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

import numpy as np

from .._core import handles
from .._core.handles import Handle
from ..backends import loader
from ..backends.base import LeftToNumPy, Native
from ..backends.kinds import Kind
from ..common import buffers
from ..common.buffers import axes_by_stride
from ..runtime import conversion
from . import views
from .ghosts import stand_in
from .reinterpretation import items
from .views import ghost, native


def set_shape(a: Handle, shape: Any) -> None:
    """Implement ``a.shape = shape``; raise NumPy's errors."""
    ours = ghost(a)
    made = None
    with suppress(ValueError):
        made = views.derive(a, np.reshape(ours, shape, copy=False))
    if made is None:  # outside `except`, so that NumPy's error has no context of ours
        np.broadcast_to(0, ours.shape).reshape(shape)  # raises NumPy's own error if the sizes differ
        raise AttributeError(
            "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape."
        )
    if a._base is not None:
        _become(a, made)
        return
    backend = a._kind.backend
    with backend.within(), views.exchange:
        a._v = backend.prim.reshape(a._v, made.shape)
        a._writes += 1
    if backend.native_is_ndarray:
        a._ghost = None
    else:  # change the ghost in place: views of this array are located by its address
        ours.shape = made.shape


def set_dtype(a: Handle, dtype: Any) -> None:
    """Implement ``a.dtype = dtype``: the memory is reinterpreted. Raise TypeError if the library cannot do that in place."""
    backend, seen = a._kind.backend, ghost(a).view(np.dtype(dtype))  # raises NumPy's own errors
    if seen.dtype == a._kind.dtype:
        return
    if not (backend.holds(seen.dtype) and views.can_reread(a, seen)):
        raise TypeError(f"an array of {backend.name} cannot be reinterpreted as {dtype} in place")
    why = ""
    try:
        made = views.derive(a, seen)
    except LeftToNumPy as reason:
        why = f"an array of {backend.name} cannot be reinterpreted as {dtype} in place: {reason}"
    if why:
        raise TypeError(why)
    if a._base is not None:
        _become(a, made)
        return
    with views.exchange:
        a._v, a._kind, a._owned = native(made), made._kind, False
        a._writes += 1
    if backend.native_is_ndarray:
        a._ghost = None
    else:  # change the ghost in place, as for the shape
        ghost(a).dtype = seen.dtype  # type: ignore[misc]


def _become(a: Handle, made: Handle) -> None:
    """Turn the view ``a`` into ``made``, another view of the same memory."""
    a._v, a._kind, a._root, a._ghost, a._base = made._v, made._kind, made._root, made._ghost, made._base
    a._seen = views.NEVER


def resize(a: Handle, shape: Any, refcheck: Any = True) -> None:
    """Implement ``a.resize(shape)``; if that changes the size, raise ValueError for a view, and for an array with views."""
    # With elements of zero bytes NumPy only checks the arguments and raises its errors.
    asked = np.empty(0, np.dtype([]))
    asked.resize(shape, refcheck=refcheck)
    if shape is None:
        return
    shape = asked.shape
    if math.prod(shape) == ghost(a).size:  # nothing is moved, so other references do not matter
        if ghost(a).flags.c_contiguous:
            set_shape(a, shape)
            return
        if a._base is not None and ghost(a).flags.f_contiguous:
            _become(a, views.derive(a, ghost(a).reshape(shape, order="F")))
            return
    if a._base is not None:
        raise ValueError("cannot resize this array: it does not own its data")
    if views_of(a):
        raise ValueError(
            "cannot resize an array that references or is referenced\nby another object in this way.\n"
            "Use the np.resize function to get a new resized copy or\n set refcheck=False to disable this check"
        )
    backend, before = a._kind.backend, ghost(a)
    prim, size, count = backend.prim, before.size, math.prod(shape)
    fortran = before.flags.f_contiguous and not before.flags.c_contiguous
    with backend.within():
        memory = prim.transpose(native(a), tuple(reversed(range(before.ndim)))) if fortran else native(a)
        line = prim.reshape(memory, (size,))
        line = prim.slice(line, (slice(0, min(size, count), 1),))
        more = prim.full((max(count - size, 0),), 0, a._kind.dtype, backend.device_of(line))
        line = prim.concatenate([line, more], 0)
        if fortran:
            made = prim.transpose(prim.reshape(line, shape[::-1]), tuple(reversed(range(len(shape)))))
        else:
            made = prim.reshape(line, shape)
    with views.exchange:
        a._v, a._ghost, a._owned = made, None, True
        a._writes += 1
    if fortran and not backend.mutable:
        a._ghost = stand_in(shape, a._kind.dtype, "F")
    if not buffers.is_writeable(before):
        ghost(a).flags.writeable = False


def settle(a: Handle, why: str) -> None:
    """Move the values of an array, of its root and of the root's other views to the host state.

    If the host may write the library's memory, the arrays become ndarrays on that memory. Otherwise the host gets a copy, and
    the library's value is kept for the library until the array is written. ``why``: reason that is reported.
    """
    root = views.owner(a)
    with views.exchange:
        backend = root._kind.backend  # another thread may have moved it to the host while this one waited
        if not backend.hosted and backend.shares_with_host(root._v):
            _share_all(root)
        elif not backend.hosted:
            value = native(root)
            hold_on_host(root, views.readers(root), conversion.download(backend, value, why))
            if not backend.mutable:
                root._twin, root._owned = (backend.settled(value), root._writes, None, backend.device_of(value)), True
        if a is not root and not a._kind.backend.hosted:
            _share(a)


def _share_all(root: Handle) -> None:
    """Turn a root and its views into ndarrays on the root's memory.

    For a view that holds a native array, the native array gives the memory; any other view is located by the address of its ghost.
    """
    whole = ghost(root)
    start = whole.__array_interface__["data"][0]
    derived = [each for each in views.readers(root) if not each._kind.backend.hosted]
    _share(root)
    memory: np.ndarray[Any, Any] = root._v
    line = memory.transpose(axes_by_stride(memory.strides))
    for each in derived:
        if each._root is None:
            _share(each)
            continue
        g = ghost(each)
        offset = g.__array_interface__["data"][0] - start
        seen = np.ndarray(g.shape, g.dtype, line, offset if g.size else 0, g.strides)
        seen.flags.writeable = buffers.is_writeable(g)
        _put_on_host(each, seen, loader.hosted(root._kind.backend.home.name).kind(g.dtype))


def _share(a: Handle) -> None:
    """Turn an array into an ndarray on its own memory, which the library may go on using."""
    backend = a._kind.backend
    seen = conversion.shared(backend, native(a))
    if not views.writeable(a):
        seen.flags.writeable = False
    _put_on_host(a, seen, loader.hosted(backend.name).kind(a._kind.dtype))


def _put_on_host(a: Handle, seen: np.ndarray[Any, Any], kind: Kind) -> None:
    """Replace an array's value by the ndarray ``seen`` in one step, because other threads may run during any call, such as the freeing of
    the old value.
    """
    before = a._v, a._kind, a._root, a._ghost
    a._v, a._kind, a._root, a._ghost = seen, kind, None, seen
    views.has_settled()
    del before


def hold_on_host(root: Handle, derived: list[Handle], values: np.ndarray[Any, Any]) -> None:
    """Replace the value of a root by a copy on the host, and those of its views by views of the copy."""
    whole, held = ghost(root), loader.hosted(root._kind.backend.home.name)
    memory = np.empty_like(whole)
    memory[...] = values
    line = memory.transpose(axes_by_stride(memory.strides))
    start = whole.__array_interface__["data"][0]
    places = [memory]  # create all views before locking one: a view created before its root was locked stays writeable
    for each in derived:
        g = ghost(each)
        offset = g.__array_interface__["data"][0] - start if g.size else 0
        places.append(np.ndarray(g.shape, g.dtype, line, offset, g.strides))
    for each, seen in zip((root, *derived), places):
        if not views.writeable(each):
            seen.flags.writeable = False
        _put_on_host(each, seen, held.kind(seen.dtype))
    root._owned = False
    root._writes += 1


def handed_over(a: Handle) -> Native:
    """Return the native value for other code, which may write it if the library's arrays are mutable.

    Copies may share a deferred value, so a deferred value must not change. If the library is mutable, it is therefore replaced by a new
    native array, which belongs to this array, its root and the root's other views; later recorded calls copy the elements that they read.
    """
    backend = a._kind.backend
    if backend.defers and backend.home.mutable:
        _take_apart(views.owner(a))
    return views.expose(a)


def _take_apart(root: Handle) -> None:
    with views.exchange:
        held = root._kind.backend
        if not held.defers or held.staged(native(root)):
            return
        home, whole = held.home, ghost(root)
        order = axes_by_stride(whole.strides)
        back = tuple(int(i) for i in np.argsort(order))
        with home.within():
            memory = home.prim.copy(home.prim.transpose(held.settled(native(root)), order))
            value = home.prim.transpose(memory, back)
        of = _of_the_library(root)
        made = [(root, value, of)]
        for each in views.readers(root):
            kind = _of_the_library(each)
            alias, flips = views.alias_of(home, *items(value, of, kind, views.placement_of(ghost(each), whole)))
            made.append((each, None if flips else alias, kind))
        before = [(each._v, each._kind) for each, _, _ in made]
        for each, v, kind in made:
            each._v, each._kind, each._root, each._seen = v, kind, root if v is None else None, views.NEVER
        root._seen, root._owned = 0, False
        root._writes += 1
        views.has_settled()
        del before


def _of_the_library(a: Handle) -> Kind:
    home, kind = a._kind.backend.home, a._kind
    return home.standard_kind(kind.dtype) if kind.standard else home.kind(kind.dtype)


def views_of(root: Handle) -> list[Handle]:
    """Return the live arrays that are views of an array."""
    return [other for other in handles.live() if other._base is root]
