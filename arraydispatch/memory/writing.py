"""Writes to arrays: the values written to a view go through to its root, on every backend.

If a library's arrays are immutable, the root gets a new value, in the old value's buffer if nothing else refers to it.
"""

from __future__ import annotations

from collections.abc import Callable
from sys import getrefcount
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends.base import Backend, Native
from ..common import tracing
from ..common.buffers import axes_by_stride
from . import views
from .reinterpretation import items, reread
from .roots import memory_of
from .view_programs import compile_view, positions
from .views import alias_of, derive, exchange, ghost, layout_of, native, owner, placement_of


def assign(a: Handle, value: Native, fresh: bool = False) -> None:
    """Overwrite the whole array, through to its root, with a native value of its shape and dtype.

    ``fresh``: the value's buffer was created by one of our kernels and nothing else refers to it.
    """
    backend = a._kind.backend
    root = a._root
    if views.waiting:
        views.run_readers(a)
    if views.watch is not None:
        views.watch(owner(a), value)
    if repeats(a) and not backend.native_is_ndarray:
        _write_repeated(a, value)
    elif backend.mutable:
        if root is None:
            backend.fill(a._v, value)
            if backend.hosted:
                owner(a)._writes += 1
        else:
            alias, flips = alias_of(backend, *items(root._v, root._kind, a._kind, placement_of(ghost(a), ghost(root))))
            backend.fill(alias, backend.prim.flip(value, flips))
    elif root is None:
        with exchange:
            if a._kind.backend is not backend:  # another thread has moved it to the host meanwhile
                assign(a, value, fresh)
                return
            _stays(a, value)
            a._v = value
            a._owned = fresh
            a._writes += 1
    elif ghost(a).size:
        with backend.within(), exchange:
            if a._kind.backend is not backend:
                assign(a, value, fresh)
                return
            try:
                _write_through(root, ghost(a), a._kind, value, fresh, backend)
            except BaseException:
                _rescue(root)
                raise


def put(root: Handle, place: Any, value: Native) -> None:
    """Write a native value to a part of a root of an immutable library. ``place``: a view of the root's ghost that describes the part."""
    if views.waiting:
        views.run_readers(root)
    _write_through(root, place, root._kind, value, False, root._kind.backend)


def _write_through(root: Handle, place: Any, kind: Any, value: Native, fresh: bool, backend: Backend) -> None:
    whole = ghost(root)
    placement, shape, layout = placement_of(place, whole), whole.shape, layout_of(whole)
    with exchange:
        donate = root._owned and getrefcount(root._v) <= _ALONE
        before = root._v
        if kind is not root._kind and kind.dtype != root._kind.dtype:
            have, want, prim = root._kind.dtype, kind.dtype, backend.prim
            order = axes_by_stride(whole.strides)
            memory = reread(backend, before if layout is None else prim.transpose(before, order), have, want)
            program = compile_view(backend.shape_of(memory), *placement)
            after = reread(backend, program.write(backend, memory, value), want, have)
            in_memory = shape if layout is None else tuple(shape[i] for i in order)
            if backend.shape_of(after) != in_memory:
                after = prim.reshape(after, in_memory)
            if layout is not None:
                after = prim.transpose(after, tuple(int(i) for i in np.argsort(order)))
            fresh = True
        else:
            program = compile_view(shape, *placement, layout)
            after = program.write(
                backend, before, value, donate and views.watch is None and backend.is_concrete(before)
            )
            fresh = fresh or not program.whole
        _stays(root, after)
        root._v = after
        root._owned = fresh
        root._writes += 1
        backend.kept()


def _stays(root: Handle, after: Native) -> None:
    """Raise TraceError if ``after``, the root's value after a write, is traced although the root lives outside of the traced program: the
    root would keep a tracer.
    """
    backend = root._kind.backend
    leaks = views.watch is None and backend.staged(after) and not backend.staged(root._v)
    if leaks and getattr(root, "_seen", 0) != views.INSIDE:
        raise tracing.leak()


def _rescue(root: Handle) -> None:
    """Give a root its new value after a signal has interrupted an update, if the old value's buffer was already donated to the new one."""
    made = root._kind.backend.successor(root._v)
    if made is not None:
        root._v = made
        root._writes += 1


_ALONE = 2
"""Result of ``getrefcount`` for a value that only its array holds. A traced program also holds its constants."""


def update(a: Handle, change: Callable[[Native, bool], Native]) -> None:
    """Write ``change(value, donate)`` to a root or view of an immutable backend; with ``donate``, ``change`` may reuse the buffer.

    ``change`` returns the value itself if there was nothing to write, and otherwise a buffer that nothing else refers
    to.
    """
    root = a._root
    if root is not None or a._kind.backend.mutable:
        before = native(a)
        after = change(before, False)
        if after is not before:
            assign(a, after)
        return
    with exchange:
        donate = a._owned and views.watch is None and getrefcount(a._v) <= _ALONE
        before = a._v
        try:
            after = change(before, donate and a._kind.backend.is_concrete(before))
            if views.watch is not None:
                views.watch(a, after)
            _stays(a, after)
            if after is not before or a._owned:
                a._v = after
                a._writes += 1
            a._owned = a._owned if after is before else True
            a._kind.backend.kept()
        except BaseException:
            _rescue(a)
            raise


# -- views that contain an element of their root more than once ------------------------------------------------------


def repeats(a: Handle) -> bool:
    """Whether elements of a view may share memory, as those of ``np.broadcast_arrays`` and sliding windows do."""
    if a._base is None:
        return False
    g = ghost(a)
    reach = 0
    if not g.size:  # an empty array has nothing to write, whatever its strides
        return False
    strides, shape = g.strides, g.shape
    for i in range(len(shape) - 1, -1, -1):  # in the order of most views, which need no sorting
        stride, n = abs(strides[i]), shape[i]
        if n > 1:
            if stride <= reach:
                break
            reach += stride * (n - 1)
    else:
        return False
    reach = 0
    for stride, n in sorted([(abs(s), n) for s, n in zip(strides, shape) if n > 1]):
        if stride <= reach:
            return True
        reach += stride * (n - 1)
    return False


def _write_repeated(a: Handle, value: Native) -> None:
    """Overwrite a view that repeats elements; the last value written to a place is kept."""
    g = ghost(a)
    last = tuple(slice(n - 1 if s == 0 else 0, n, 1) for n, s in zip(g.shape, g.strides))
    once = g[last]
    if once.shape == g.shape:
        write_at(a, places(a), value)
    elif once.size:
        backend = a._kind.backend
        with backend.within():
            kept = backend.prim.slice(value, last)
        assign(derive(a, once), kept)


def places(a: Handle) -> np.ndarray[Any, Any]:
    """Return the position of each element of a view in its root's memory, in elements of the view's dtype."""
    return positions(*placement_of(ghost(a), ghost(owner(a))))


def _line(root: Handle, dtype: np.dtype[Any]) -> Any:
    """Return a root's memory as a flat array of items of a dtype."""
    whole = ghost(root)
    in_order = whole.transpose(axes_by_stride(whole.strides))
    # The memory includes the gaps between elements.
    line = in_order.reshape(-1) if in_order.flags.c_contiguous else memory_of(whole)
    return derive(root, line.view(dtype))


def write_at(a: Handle, positions: np.ndarray[Any, Any], value: Native) -> None:
    """Write a native value of the positions' shape into the root's memory; the last value written to a place is kept."""
    if not positions.size:
        return
    line, backend = _line(owner(a), a._kind.dtype), a._kind.backend
    prim = backend.prim
    last = np.full(ghost(line).size, -1)
    last[positions.reshape(-1)] = np.arange(positions.size)
    with backend.within():
        device = backend.device_of(value)
        chosen, written = (backend.from_numpy(x, device) for x in (np.maximum(last, 0), last >= 0))
        new = prim.where(written, prim.take(prim.reshape(value, (-1,)), chosen, 0), native(line))
    assign(line, new, fresh=True)
