"""Writes to a part of an array that is pending, recorded: ``out[1:] -= u[:-1]``, ``out[0] = 0``.

A slice of a pending array is a pending view that refers to its root and the part. A write to such a view is a node of the root: the
whole array after the write, computed from the whole array before it, in the same memory if nothing else needs that memory, and piece by
piece with the nodes before and after. So a stencil written as several updates is one pass over memory.
"""

from __future__ import annotations

from math import prod
from sys import getrefcount
from typing import Any

import numpy as np

from ..._core.handles import Handle
from ...common import events
from ...common.arguments import HELD, SCALARS
from ...common.sentinels import DECLINED
from ...memory import views
from ...memory.views import NEVER
from ...ufuncs import rows
from ...ufuncs.facts import ufunc_facts
from ..host_blocks.cells import boxes
from ..loops import PYTHON, loop_of
from ..nodes import Box, Form, Node, PendingView, Update
from . import call_nodes, tape

__all__ = ["Window", "assigned", "is_part", "part_of", "updated"]

_ndarray = np.ndarray
_FORMS: dict[Any, Form | None] = {}
_MOST_FORMS = 1 << 12
_GATHERED = 1 << 13
"""Number of elements of a part from which NumPy's buffers are full."""


class Window:
    """Part of an array that slices with positive steps and integers select.

    Attributes
    ----------
    whole : tuple of int
        Shape of the array.
    axes : tuple of tuple
        For each axis of the array: first index, step and length of the part.
    dropped : tuple of bool
        Whether an integer index removed each axis.
    shape, size
        Shape and number of elements of the part.
    key : tuple
        Index of the array that gives the part.
    """

    __slots__ = ("_hash", "axes", "dropped", "key", "shape", "size", "whole")

    def __init__(
        self, whole: tuple[int, ...], axes: tuple[tuple[int, int, int], ...], dropped: tuple[bool, ...]
    ) -> None:
        self.whole, self.axes, self.dropped = whole, axes, dropped
        self.shape = tuple([n for (_, _, n), is_dropped in zip(axes, dropped) if not is_dropped])
        self.size = prod(self.shape)
        self.key = tuple(
            [
                start if is_dropped else slice(start, start + (n - 1) * step + 1, step)
                for (start, step, n), is_dropped in zip(axes, dropped)
            ]
        )
        self._hash = hash((whole, axes, dropped))

    def __eq__(self, other: object) -> bool:
        if self is other or not isinstance(other, Window):
            return self is other
        return (self.whole, self.axes, self.dropped) == (other.whole, other.axes, other.dropped)

    def __hash__(self) -> int:
        return self._hash


_windows: dict[Any, Window | None] = {}
"""Shape of an array and index -> result of :func:`_new_window`."""
_MOST_WINDOWS = 1 << 12


def _window(shape: tuple[int, ...], key: Any) -> Window | None:
    """Return the window that a key selects in an array of this shape, as :func:`_new_window` computes it once for a shape and a key. Return
    None for keys with other objects than ints, slices of ints or None, and Ellipsis.
    """
    known: list[Any] = [shape]
    for part in key if type(key) is tuple else (key,):
        if type(part) is slice:
            start, stop, step = part.start, part.stop, part.step
            if not (_is_end(start) and _is_end(stop) and _is_end(step)):
                return None  # as a key of the table 1.0 equals 1
            known.append((start, stop, step))
        elif type(part) is int or part is Ellipsis:
            known.append(part)
        else:
            return None
    of = tuple(known)
    if of in _windows:
        return _windows[of]
    if len(_windows) >= _MOST_WINDOWS:
        _windows.clear()
    made = _windows[of] = _new_window(shape, key)
    return made


def _new_window(shape: tuple[int, ...], key: Any) -> Window | None:
    """Return the part that a key of integers and slices selects; None if the part is empty or a single element given by integers, if a step
    is not positive, or if NumPy would raise an error.
    """
    parts = list(key) if type(key) is tuple else [key]
    for i, part in enumerate(parts):
        if part is Ellipsis:
            parts[i : i + 1] = [slice(None)] * (len(shape) + 1 - len(parts))
            break
    if len(parts) > len(shape):
        return None
    axes, dropped = [], []
    for n, part in zip(shape, parts):
        if type(part) is slice:
            if part.step == 0:
                return None
            start, stop, step = part.indices(n)
            if step < 0 or stop <= start:
                return None
            axes.append((start, step, (stop - start - 1) // step + 1))
        elif type(part) is int and -n <= part < n:
            axes.append((part % n, 1, 1))
        else:
            return None
        dropped.append(type(part) is int)
    rest = shape[len(parts) :]
    if (not rest and all(dropped)) or 0 in rest:
        return None
    return Window(shape, (*axes, *[(0, 1, n) for n in rest]), (*dropped, *[False] * len(rest)))


def _is_end(x: Any) -> bool:
    return x is None or type(x) is int


def part_of(a: Handle, key: Any) -> Any:
    """Return ``a[key]`` of a pending array as a pending view; None if the general path has to make it."""
    node: Any = a._v
    own = tape.mine()
    # Another thread may have had its value computed.
    if type(node) is not Node or node.tape is not own or node.form.fortran:
        return None
    window = _window(node.shape, key)
    if window is None:
        return None
    if events.tap is not None:
        events.tap.call("__getitem__", node.form.held.backend.name, "hosted", "", 0.0)
    made = call_nodes.blank()
    made._owned = False
    made._base = a
    _look(made, a, window, node.dtype, own, key)
    return made


def _look(view: Handle, root: Handle, window: Window, dtype: Any, own: Any, key: Any = None) -> None:
    """Make ``view`` a pending view of a pending root: the part ``window``. ``own``: this thread's tape."""
    seen: Any = PendingView(view, root, window, dtype, key)
    with own.lock:
        own.views.append(seen.view)
        view._v = view._kind = view._root = seen
        view._seen = NEVER


def is_part(a: Handle, key: Any, given: Handle) -> bool:
    """Whether ``a[key] = given`` writes a pending view over itself, as ``a[key] += b`` does at the end."""
    seen = _pending(given)
    return seen is not None and seen.root is a and (key is seen.key or seen.window == _window(seen.window.whole, key))


class Updated(Update):
    """Ufunc of a part of an array and another operand, written to that part; without a ufunc, the operand replaces the part.

    Parameters
    ----------
    func : ufunc or None
    window : Window
        Part that is written.
    of : Window or None
        Part of the other operand that is read; None for all of it.
    """

    def __init__(self, func: np.ufunc | None, window: Window, of: Window | None) -> None:
        self.func, self.window, self._of = func, window, of
        self._known = func, window, of
        self.__name__ = "copyto" if func is None else func.__name__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Updated) and other._known == self._known

    def __hash__(self) -> int:
        return hash(self._known)

    def _write(self, part: np.ndarray[Any, Any], y: Any) -> None:
        if self.func is None:
            np.copyto(part, y)
        elif part.ndim > 1 and part.size >= _GATHERED:
            rows.call(self.func, part, y, out=part)
        else:
            self.func(part, y, out=part)

    def __call__(self, x: Any, y: Any, out: Any) -> None:
        written = y if self._of is None else y[self._of.key]
        if out is not x:
            np.copyto(out, x)
        self._write(out[self.window.key], written)

    def laid(self, y: Any) -> Any:
        """Return the written operand with one axis for each axis of the array; a scalar is returned unchanged."""
        if type(y) is not _ndarray or not y.ndim:
            return y
        if self._of is not None:
            y = y[self._of.key]
        shape, dropped = self.window.shape, self.window.dropped
        if y.shape != shape:
            y = np.broadcast_to(y, shape)
        return y[tuple([None if is_dropped else slice(None) for is_dropped in dropped])] if True in dropped else y

    def cuts(self) -> list[tuple[int, ...]]:
        """Implement ``Elsewhere.cuts``."""
        return [(start, start + n) for start, _, n in self.window.axes]

    def distance(self, cell: Box) -> tuple[int, ...] | None:
        """Implement ``Elsewhere.distance``."""
        if any(begin < start or end > start + n for (begin, end), (start, _, n) in zip(cell, self.window.axes)):
            return None
        return tuple([-start for start, _, _ in self.window.axes])

    def is_dense(self) -> bool:
        """Whether the part has no gaps along any axis."""
        return all(step == 1 for _, step, _ in self.window.axes)

    def rows(self, y: Any, begin: int, end: int, out: np.ndarray[Any, Any]) -> None:
        """Write to ``out``, the rows from ``begin`` to ``end`` of the array."""
        self._box(out, y, ((begin, end), *[(0, n) for n in self.window.whole[1:]]))

    def line(self, y: Any, begin: int, end: int, out: np.ndarray[Any, Any]) -> None:
        """Write to elements of the array in the order of its memory."""
        shape = self.window.whole
        for start, box in boxes(begin, end, shape):
            lengths = [e - b for b, e in box]
            at = start - begin
            self._box(out[at : at + prod(lengths)].reshape(lengths), y, box)

    def _box(self, out: np.ndarray[Any, Any], y: Any, box: Box) -> None:
        to, of = [], []
        for (begin, end), (start, step, n) in zip(box, self.window.axes):
            low, high = max(0, -((start - begin) // step)), min(n, -((start - end) // step))
            if low >= high:
                return
            to.append(slice(start + low * step - begin, start + (high - 1) * step + 1 - begin, step))
            of.append(slice(low, high))
        self._write(out[tuple(to)], y[tuple(of)] if type(y) is _ndarray and y.ndim else y)


# -- recording ---------------------------------------------------------------------------------------------------------


def updated(func: np.ufunc, view: Handle, other: Any) -> bool:
    """Record ``view += other``, where the view's root is pending or no other code can see its memory; return whether that was possible."""
    root: Any = view._base
    own = tape.mine()
    y, of = _operand(other, own)  # this may end a block
    if y is None:
        return False
    seen = _pending(view)
    window = _of_view(view, root, own) if seen is None else seen.window
    if window is None or (seen is not None and type(root._v) is not Node):
        return False
    if seen is None:  # before the write; for a root that has its value, nothing has changed
        view._ghost = None
        _look(view, root, window, root._v.dtype, own)
    if not _record(func, root, window, y, of, own):
        if seen is None:
            view._v.settle()
        return False
    _end(own)
    return True


def _pending(view: Handle) -> PendingView | None:
    v: Any = view._v
    return v if type(v) is PendingView else None


def assigned(a: Handle, key: Any, value: Any) -> bool:
    """Record ``a[key] = value`` for a pending array; return whether that was possible."""
    own = tape.mine()
    y, of = _operand(value, own)
    node: Any = a._v
    if y is None or type(node) is not Node or node.tape is not own:
        return False
    window = _window(node.shape, key)
    if window is None or not _record(None, a, window, y, of, own):
        return False
    _end(own)
    return True


def _end(own: Any) -> None:
    if why := own.full():
        own.run(why)


def _operand(x: Any, own: Any) -> tuple[Any, Window | None]:
    """Return an operand as a node of the tape ``own``, a scalar, or an ndarray that no other code may write, and the part of it that is read
    (None for all of it). Return (None, None) for other operands.
    """
    if type(x) in SCALARS:
        return x, None
    if not isinstance(x, Handle):
        return None, None
    seen = _pending(x)
    if seen is not None and type(node := seen.root._v) is Node and node.tape is own:
        return node, seen.window
    v, kind, shared = call_nodes.operand(x, own)
    return None if kind is None or shared else v, None


_ALONE = 0
"""Number of references that :func:`_references` counts to an ndarray that only one array holds."""


def _references(a: Handle) -> int:
    v: Any = a._v
    return getrefcount(v)


def _of_view(view: Handle, root: Any, own: Any) -> Window | None:
    """Return the part of its root that a view is, if the root is a new array and no other code can see its memory; else None. Return None
    also if a write to the root is not worth recording on the tape ``own``.
    """
    if root is None or type(root._v) is not _ndarray or type(view._v) is not _ndarray:
        return None
    v, part = root._v, view._v
    if part.base is not v or not (v.base is None and root._base is None and root._owned) or root._root is not None:
        return None
    if (
        not call_nodes.least <= v.size < call_nodes.most
        or tape.WRITING * v.size + own.work < tape.IN_THREADS
        or not (v.flags.c_contiguous and v.flags.writeable)
    ):
        return None
    if not v.ndim or part.ndim != v.ndim or part.dtype != v.dtype or not part.size or not part.flags.writeable:
        return None
    offset = part.__array_interface__["data"][0] - v.__array_interface__["data"][0]
    axes = []
    for n, stride, count, moves in zip(v.shape, v.strides, part.shape, part.strides):
        start, offset = divmod(offset, stride)
        step, rest = divmod(moves, stride) if count > 1 else (1, 0)
        if rest or step < 1 or start + (count - 1) * step >= n:
            return None
        axes.append((start, step, count))
    ghosts = (root._ghost is v) + (1 if id(v) in own.buffers else 0)
    if offset or not (root._ghost is None or root._ghost is v):
        return None
    whole, shape = v.shape, part.shape
    del v, part
    if _references(root) != _ALONE + 1 + ghosts or _references(view) != _ALONE + (view._ghost is not None):
        return None
    window = Window(whole, tuple(axes), (False,) * len(axes))
    return window if window.shape == shape else None


def _record(func: np.ufunc | None, root: Any, window: Window, y: Any, of: Window | None, own: Any) -> bool:
    """Record a write of ``y`` to the part ``window`` of a root on the tape ``own``: the node of the write becomes the root's value. Return
    whether that was possible. ``of``: part of ``y`` that is read (None for all of it).
    """
    v: Any = root._v
    if type(v) is Node:
        kind, alone = v.form.held, v.tape is own
        alone = alone and not v.form.fortran
    else:
        kind = root._kind
        alone = (
            type(v) is _ndarray
            and kind.backend.hosted
            and not kind.standard
            and tape.WRITING * v.size + own.work >= tape.IN_THREADS
            and call_nodes.least <= v.size < call_nodes.most
            and v.flags.c_contiguous
            and v.flags.writeable
        )
    if not alone or views.watch is not None:
        return False
    is_array = type(y) is Node or type(y) is _ndarray
    key = func, window, of, kind, (y.dtype, y.shape) if is_array else type(y)
    form = _FORMS.get(key)
    if form is None:
        if key in _FORMS:
            return False
        if len(_FORMS) >= _MOST_FORMS:
            _FORMS.clear()
        form = _FORMS[key] = _form(func, kind, window, y, of, is_array)
        if form is None:
            return False
    if not is_array and type(y) in PYTHON and not call_nodes.fits(y, kind.dtype):
        return False
    place = call_nodes.now() if form.reports else None
    if place is DECLINED:
        return False
    if root._v is not v:  # a signal handler has written to the root
        return False
    root._ghost = None
    root._writes += 1
    own.become(root, call_nodes.node_of(form, place), [v, y])
    if events.every is not None:
        events.every.call(func or "__setitem__", kind.backend.name, "fused", "", 0.0, None, 2 * views.frames)
    return True


def _form(func: np.ufunc | None, kind: Any, window: Window, y: Any, of: Window | None, is_array: bool) -> Form | None:
    """Return the form of a write of ``y`` to a window; None if the write cannot be recorded. ``of``: part of ``y`` that is read."""
    dtype, reports = kind.dtype, False
    ins: tuple[Any, ...] = dtype, dtype
    if dtype.char not in HELD:
        return None
    if is_array:
        shape, given = window.shape, y.shape if of is None else of.shape
        if len(given) > len(shape) or any(n not in (1, m) for n, m in zip(given[::-1], shape[::-1])):
            return None
    if func is None:
        if is_array or type(y) not in PYTHON:
            if y.dtype != dtype:
                return None
        elif not (dtype.kind in "fc" and type(y) in (int, float)) and np.dtype(type(y)).kind != dtype.kind:
            return None
    else:
        if ufunc_facts(func).heavy:
            return None
        loop = loop_of(func, (dtype, y.dtype if is_array else type(y)))
        if loop is None or loop.out != dtype or loop.pinned:
            return None
        reports, ins = loop.reports, loop.ins
    work = tape.WRITING * prod([n for _, _, n in window.axes]) * max(dtype.itemsize, 1) / 8
    return Form(Updated(func, window, of), kind, window.whole, work, ins=ins, reports=reports)


def _alone() -> int:
    one = Handle()
    one._v = np.empty(0)
    return _references(one)


_ALONE = _alone()
