"""Views on every backend: a root owns a native value, a view is (root, offset, shape, strides), NumPy's own description.

So NumPy answers for it. Every array can have a *ghost*: an ndarray of its shape, dtype and strides whose memory is
never touched (``np.empty`` of 8 GB costs nothing). Slicing, transposing or reshaping the ghost tells whether NumPy
would alias or copy, with which strides, and raises NumPy's own errors.

Where native arrays alias (numpy, torch), a view holds a native view. Elsewhere, and for negative strides on torch, a
view is read by *compiling* its description into slices, flips, transposes and reshapes of the root (a gather only when
nothing simpler says it), cached until the root is written, and a write goes through to the root. Depth never grows
with the number of view steps: a view of a view has the same root.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .backends.base import Backend, Kind, Native, Unsupported

Ghost = np.ndarray[Any, Any]


class Handle:
    """The state of an array; :class:`arraydispatch.array.Array` adds the behaviour.

    Slots
    -----
    _v : native array
        The value; stale for a view whose ``_root`` was written since ``_seen``.
    _kind : Kind
        Backend and dtype.
    _root : Handle or None
        Where the value must be read again from; None for roots and for views that alias natively.
    _seen : int
        The root's number of writes when ``_v`` was read.
    _ghost : ndarray or None
        Made on demand.
    _base : Handle or None
        The root, as ``ndarray.base`` has it; None for a root.
    _owned : bool
        On an immutable backend, of a root: the value's buffer was made by a kernel of ours and nobody else can see it, so
        an update may reuse it. Python's reference count could not tell: ``device_put`` and ``addressable_data`` alias
        without changing it. :func:`expose` takes the bit away.
    _writes : int
        Number of writes to a root.
    """

    __slots__ = ("__weakref__", "_base", "_ghost", "_kind", "_owned", "_root", "_seen", "_v", "_writes")

    _v: Native
    _kind: Kind
    _root: Handle | None
    _seen: int
    _owned: bool
    _writes: int
    _ghost: Ghost | None
    _base: Handle | None

    def __init__(self, value: Native, kind: Kind, owned: bool = False) -> None:
        self._v = value
        self._kind = kind
        self._owned = owned
        self._root = None
        self._ghost = None
        self._base = None
        self._writes = 0


wrapper: Callable[..., Any] = Handle
"""The class that views are made of: handed in by the array layer."""


# -- reading ---------------------------------------------------------------------------------------------------------


def native(a: Handle) -> Native:
    """The current native value."""
    root = a._root
    if root is None:
        return a._v
    writes = root._writes  # looked at first: a write during the read makes the next look read again
    if a._seen != writes:
        value = root._v
        try:
            a._v = _read(a, value)
        except Exception:
            if not replaced(root, value):
                raise
            return native(a)
        # On a mutable backend the root changes without our knowing: read again next time.
        a._seen = NEVER if a._kind.backend.mutable else writes
    return a._v


NEVER = -1

exchange = threading.RLock()
"""Held while a root's buffer is donated and its successor put in place, and while a buffer is let out."""


def expose(a: Handle) -> Native:
    """The native value, for somebody else to keep: its buffer is no longer ours alone."""
    with exchange:
        owner(a)._owned = False
        return native(a)


def replaced(a: Handle, value: Native) -> bool:
    """Whether another thread has written the array since ``value`` was read, whose buffer may be gone: read again."""
    if a._kind.backend.mutable:
        return False
    with exchange:
        return native(a) is not value


def keep_apart(arrays: Iterable[Any], results: Any, but: Handle | None = None) -> None:
    """Take the ownership bit from arrays whose buffer a function's native results share; ``but``: not from this root."""
    for a in arrays:
        if isinstance(a, Handle):
            root = owner(a)
            if root._owned and root is not but and not root._kind.backend.mutable:
                with exchange:
                    if _shares(root._kind.backend, root._v, results):
                        root._owned = False
        elif isinstance(a, list | tuple):
            keep_apart(a, results, but)


def _shares(backend: Backend, value: Native, results: Any) -> bool:
    if isinstance(results, list | tuple):
        return any(_shares(backend, value, r) for r in results)
    return backend.is_native(results) and backend.may_share(results, value)


def ghost(a: Handle) -> Ghost:
    """NumPy's stand-in for the array: same shape, dtype, strides, flags and base relation; no data."""
    found = a._ghost
    if found is None:
        backend, dtype = a._kind.backend, a._kind.dtype
        if backend.native_is_ndarray:
            found = a._v
        else:
            strides = backend.strides_of(a._v)
            if a._base is not None and strides is not None:
                found = a._ghost = _ghost_in(a._base, a, strides)
                return found
            shape = backend.shape_of(a._v)
            if strides is None or 0 in shape:
                found = np.empty(shape, dtype)
            else:
                found = _ghost_of_strides(shape, strides, dtype)
        a._ghost = found
    return found


def _ghost_in(root: Handle, a: Handle, strides: tuple[int, ...]) -> Ghost:
    """The ghost of a native view: a view of the root's ghost, at the same place."""
    backend, whole = a._kind.backend, ghost(root)
    dtype = a._kind.dtype
    size = dtype.itemsize
    offset = backend.offset_of(a._v) * size - backend.offset_of(root._v) * whole.itemsize
    if 0 in backend.shape_of(a._v):
        offset = 0
    flat = whole.base if isinstance(whole.base, np.ndarray) else whole
    locked = not flat.flags.writeable
    if locked:  # after the view was made, which was of a writeable array: only ghosts make views of read-only ones
        flat.flags.writeable = True
    made: Ghost = np.ndarray(
        backend.shape_of(a._v),
        dtype,
        flat,
        offset,
        tuple(s * size for s in strides),
    )
    if locked:
        flat.flags.writeable = False
    return made


def _ghost_of_strides(shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any]) -> Ghost:
    plain = np.empty(shape, dtype)
    in_bytes = tuple(s * dtype.itemsize for s in strides)
    if all(n == 1 or s == t for n, s, t in zip(shape, in_bytes, plain.strides)):
        return plain
    span = 1 + sum((n - 1) * s for n, s in zip(shape, strides))
    return np.lib.stride_tricks.as_strided(np.empty(span, dtype), shape, in_bytes)


def owner(a: Handle) -> Handle:
    """The root an array belongs to: itself if it is one."""
    return a if a._base is None else a._base


def _placement(a_ghost: Ghost, root_ghost: Ghost) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Offset, shape and strides of a view in its own elements, from the root's first byte."""
    size = a_ghost.itemsize
    offset = a_ghost.__array_interface__["data"][0] - root_ghost.__array_interface__["data"][0]
    return offset // size, a_ghost.shape, tuple(s // size for s in a_ghost.strides)


def _read(a: Handle, value: Native) -> Native:
    """A view's value, from that of its root."""
    root, backend = owner(a), a._kind.backend
    if backend.scope is None:
        return _read_in_scope(a, root, value, backend)
    with backend.within():
        return _read_in_scope(a, root, value, backend)


def _read_in_scope(a: Handle, root: Handle, value: Native, backend: Backend) -> Native:
    placement = _placement(ghost(a), ghost(root))
    shape = ghost(root).shape
    if a._kind is not root._kind:
        value = reread(backend, value, root._kind.dtype, a._kind.dtype)
        shape = backend.shape_of(value)
    if backend.mutable:
        alias, flips = _alias(backend, value, *placement)
        return backend.prim.flip(alias, flips)
    return compile_view(shape, *placement).read(backend, value)


def _alias(
    backend: Backend, value: Native, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> tuple[Native, tuple[int, ...]]:
    """A native alias with the signs of the strides taken off, and the axes to flip."""
    flips = tuple(i for i, s in enumerate(strides) if s < 0 and shape[i] > 1)
    for i in flips:
        offset += strides[i] * (shape[i] - 1)
    return backend.strided(value, shape, tuple(abs(s) for s in strides), offset), flips


# -- the same memory as another dtype ----------------------------------------------------------------------------------


def reread(backend: Backend, value: Native, have: np.dtype[Any], want: np.dtype[Any]) -> Native:
    """The memory of an array as items of another dtype.

    Smaller items stand along a new last axis; larger ones make a flat array, unless the last axis is as long as one of
    them. On a mutable backend the result aliases, and its shape does not matter.
    """
    prim = backend.prim
    if have == want:
        return value
    if backend.mutable:
        if have.kind == "c" and want.kind == "f":
            alias = prim.real(value)
        else:
            alias = prim.view_dtype(value if have.itemsize == want.itemsize else prim.reshape(value, (-1,)), want)
        if not backend.may_share(alias, value):
            raise Unsupported("its memory cannot be read as another dtype in place")
        return alias
    if have.kind == "c":
        shape = (*backend.shape_of(value), 1)
        parts = [prim.reshape(part(value), shape) for part in (prim.real, prim.imag)]
        return reread(backend, prim.concatenate(parts, len(shape) - 1), _component(have), want)
    if want.kind == "c":
        part = _component(want)
        pairs = reread(backend, value, have, part)
        shape = backend.shape_of(pairs)
        if shape[-1:] != (2,):
            pairs = prim.reshape(pairs, (-1, 2))
        shape = backend.shape_of(pairs)[:-1]
        whole = tuple(slice(0, n, 1) for n in shape)
        re, im = (prim.reshape(prim.slice(pairs, (*whole, slice(i, i + 1, 1))), shape) for i in (0, 1))
        return prim.complex(re, im)
    if have.itemsize == want.itemsize:
        return prim.view_dtype(value, want)
    if "b" in (have.kind, want.kind):
        return (
            reread(backend, reread(backend, value, have, _BYTE), _BYTE, want)
            if have.kind == "b"
            else (prim.view_dtype(reread(backend, value, have, _BYTE), want))
        )
    ratio = want.itemsize // have.itemsize
    if ratio > 1 and backend.shape_of(value)[-1:] != (ratio,):
        value = prim.reshape(value, (-1, ratio))
    return prim.view_dtype(value, want)


_BYTE = np.dtype(np.uint8)


def _component(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of the two parts of a complex number."""
    return np.dtype(f"f{dtype.itemsize // 2}")


def can_reread(a: Handle, view_ghost: Ghost) -> bool:
    """Whether the root, read as the view's dtype, has the view's elements among its own."""
    size, whole = view_ghost.itemsize, ghost(owner(a))
    if not view_ghost.size:
        return whole.nbytes % size == 0
    offset = view_ghost.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    places = (offset, whole.nbytes, *(s for n, s in zip(view_ghost.shape, view_ghost.strides) if n > 1))
    return all(place % size == 0 for place in places)


# -- making views ----------------------------------------------------------------------------------------------------


def derive(a: Handle, view_ghost: Ghost) -> Any:
    """The view of ``a``'s root that ``view_ghost`` (made from ``a``'s ghost by NumPy) describes."""
    root = owner(a)
    backend = a._kind.backend
    kind = a._kind if view_ghost.dtype == a._kind.dtype else backend.kind(view_ghost.dtype)
    if backend.native_is_ndarray:
        made = wrapper(view_ghost, kind)
        made._base = root
        made._ghost = view_ghost
        return made
    if backend.mutable:
        value = root._v if kind is root._kind else reread(backend, root._v, root._kind.dtype, kind.dtype)
        alias, flips = _alias(backend, value, *_placement(view_ghost, ghost(root)))
        if not flips:
            made = wrapper(alias, kind)
            made._base = root
            made._ghost = view_ghost
            return made
    made = wrapper(None, kind)
    made._root = made._base = root
    made._seen = NEVER
    made._ghost = view_ghost
    return made


def through_ghost(arrays: list[Handle], result: Any, copied: Callable[[], Any]) -> Any:
    """Turn what a NumPy view function returned for ghosts into views; ``copied()`` computes it where NumPy copied."""
    roots = {id(_ultimate(ghost(a))): a for a in arrays}

    def turn(g: Any) -> Any:
        if isinstance(g, np.ndarray):
            a = roots.get(id(_ultimate(g)))
            if a is None:
                raise _Copied
            return derive(a, g)
        if isinstance(g, list | tuple):
            return type(g)([turn(x) for x in g]) if type(g) in (list, tuple) else type(g)(*[turn(x) for x in g])
        return g

    try:
        return turn(result)
    except _Copied:
        made = copied()
    for copy in made if isinstance(made, list | tuple) else (made,):
        if isinstance(copy, Handle) and copy._kind.backend.mutable:  # a library may alias where NumPy copies
            backend = copy._kind.backend
            if any(a._kind.backend is backend and backend.may_share(copy._v, owner(a)._v) for a in arrays):
                copy._v, copy._ghost = backend.prim.copy(copy._v), None
    return made


class _Copied(Exception):
    pass


def _ultimate(g: Ghost) -> Any:
    while isinstance(g.base, np.ndarray):
        g = g.base
    return g


def derive_native(a: Handle, value: Native) -> Any:
    """The view of ``a`` that ``value`` is, on a backend whose native arrays have views; its ghost is made on demand."""
    made = wrapper(value, a._kind)
    made._base = owner(a)
    return made


# -- writing ---------------------------------------------------------------------------------------------------------


def assign(a: Handle, value: Native, fresh: bool = False) -> None:
    """Overwrite the whole array with a native value of its shape and dtype, through to its root.

    ``fresh``: the value's buffer was made by a kernel of ours and is seen by nobody else.
    """
    backend = a._kind.backend
    root = a._root
    if backend.mutable:
        if root is None:
            backend.fill(a._v, value)
        else:
            memory = root._v
            if a._kind is not root._kind:
                memory = reread(backend, memory, root._kind.dtype, a._kind.dtype)
            alias, flips = _alias(backend, memory, *_placement(ghost(a), ghost(root)))
            backend.fill(alias, backend.prim.flip(value, flips))
    elif root is None:
        with exchange:
            a._v = value
            a._owned = fresh
            a._writes += 1
    elif ghost(a).size:
        with backend.within():
            _write_through(a, root, value, fresh, backend)


def _write_through(a: Handle, root: Handle, value: Native, fresh: bool, backend: Backend) -> None:
    placement, shape = _placement(ghost(a), ghost(root)), ghost(root).shape
    with exchange:
        before, donate = root._v, root._owned
        if a._kind is not root._kind:
            have, want = root._kind.dtype, a._kind.dtype
            memory = reread(backend, before, have, want)
            program = compile_view(backend.shape_of(memory), *placement)
            after = reread(backend, program.write(backend, memory, value), want, have)
            if backend.shape_of(after) != shape:
                after = backend.prim.reshape(after, shape)
            fresh = True
        else:
            program = compile_view(shape, *placement)
            after = program.write(backend, before, value, donate and backend.is_concrete(before))
            fresh = fresh or not program.whole
        root._v = after
        root._owned = fresh
        root._writes += 1


def update(a: Handle, change: Callable[[Native, bool], Native]) -> None:
    """Write ``change(value, donate)`` of an immutable backend's root or view; ``donate``: it may reuse the buffer.

    ``change`` returns the value itself if there was nothing to write, and else a buffer that nobody else sees.
    """
    root = a._root
    if root is not None or a._kind.backend.mutable:
        before = native(a)
        after = change(before, False)
        if after is not before:
            assign(a, after)
        return
    with exchange:
        before = a._v
        after = change(before, a._owned and a._kind.backend.is_concrete(before))
        if after is not before or a._owned:
            a._v = after
            a._writes += 1
        a._owned = a._owned if after is before else True


# -- compiling a description -------------------------------------------------------------------------------------------


class ViewProgram(NamedTuple):
    """How to read a view from a C-contiguous root, and how to write one back."""

    root_shape: tuple[int, ...]
    factors: tuple[int, ...]  # the root is first reshaped to this
    key: tuple[slice, ...]  # then sliced
    sliced: tuple[int, ...]  # the shape after the slice
    kept: tuple[int, ...]  # without the axes of length 1
    perm: tuple[int, ...]  # then transposed
    flips: tuple[int, ...]  # then flipped
    ones: tuple[int, ...]  # then reshaped: axes of length 1 put in
    shape: tuple[int, ...]  # then broadcast
    gather: np.ndarray[Any, Any] | None = None  # or: flat positions in the root, when no slice says it
    sparse: bool = False  # whether a slice would copy far more than the view, to write it

    def read(self, backend: Backend, root: Native) -> Native:
        """The view's value."""
        prim = backend.prim
        x = root
        if self.gather is not None:
            flat = prim.reshape(x, (-1,))
            return prim.take(flat, backend.from_numpy(self.gather, backend.device_of(x)), 0)
        if self.factors != self.root_shape:
            x = prim.reshape(x, self.factors)
        if self.sliced != self.factors:
            x = prim.slice(x, self.key)
        if self.kept != self.sliced:
            x = prim.reshape(x, self.kept)
        if self.perm != tuple(range(len(self.perm))):
            x = prim.transpose(x, self.perm)
        if self.flips:
            x = prim.flip(x, self.flips)
        if self.ones != tuple(self.kept[p] for p in self.perm):
            x = prim.reshape(x, self.ones)
        if self.shape != self.ones:
            x = prim.broadcast_to(x, self.shape)
        return x

    @property
    def whole(self) -> bool:
        """Whether the view is all of the root, in some order."""
        return self.gather is None and self.sliced == self.factors

    def write(self, backend: Backend, root: Native, value: Native, donate: bool = False) -> Native:
        """The root's value with the view's elements replaced; ``donate``: the root's buffer may be reused."""
        prim = backend.prim
        if self.gather is not None:
            return self._scatter(backend, root, self.gather, value, donate)
        x = value
        transposed = tuple(self.kept[p] for p in self.perm)
        if transposed != self.ones:
            x = prim.reshape(x, transposed)
        if self.flips:
            x = prim.flip(x, self.flips)
        if self.perm != tuple(range(len(self.perm))):
            x = prim.transpose(x, tuple(int(i) for i in np.argsort(self.perm)))
        if self.kept != self.sliced:
            x = prim.reshape(x, self.sliced)
        if self.sliced == self.factors:  # the whole root
            return x if self.factors == self.root_shape else prim.reshape(x, self.root_shape)
        if donate and self.sparse:
            return self._scatter(backend, root, self._positions(), x, donate)
        if self.factors == self.root_shape:
            return backend.slice_update(root, self.key, x, donate)
        return prim.reshape(
            backend.slice_update(prim.reshape(root, self.factors), self.key, x, donate), self.root_shape
        )

    def spreads(self) -> bool:
        """Whether a reshape of the root, or the window that the steps of a slice span, is large beside the view."""
        if self.factors == self.root_shape:
            if all(part.step == 1 for part in self.key):
                return False
            span = math.prod(part.stop - part.start for part in self.key)
        else:
            span = math.prod(self.root_shape)
        return _FEW * math.prod(self.sliced) <= span

    def _positions(self) -> np.ndarray[Any, Any]:
        """Flat positions in the root of what is sliced."""
        where = np.zeros((), np.int64)
        radix = math.prod(self.factors)
        for n, part in zip(self.factors, self.key):
            radix //= n
            where = np.add.outer(where, np.arange(part.start, part.stop, part.step) * radix)
        return where

    def _scatter(
        self, backend: Backend, root: Native, positions: np.ndarray[Any, Any], value: Native, donate: bool
    ) -> Native:
        """One index array for each axis of the root, which is not reshaped: that would be a copy."""
        prim, device = backend.prim, backend.device_of(root)
        places = np.unravel_index(positions.reshape(-1), self.root_shape)
        indices = tuple(backend.from_numpy(np.ascontiguousarray(i), device) for i in places)
        scatter = getattr(prim, "scatter_donated", prim.scatter) if donate else prim.scatter
        return scatter(root, indices, prim.reshape(value, (-1,)), "set")


_FEW = 16
"""A view of fewer elements than this part of what a slice would have to copy is written element by element."""


@lru_cache(maxsize=4096)
def compile_view(
    root_shape: tuple[int, ...], offset: int, shape: tuple[int, ...], strides: tuple[int, ...]
) -> ViewProgram:
    """Find slices, a transpose, flips and reshapes that say (offset, shape, strides) of a C-contiguous root."""
    if 0 in shape:  # nothing to read: an empty slice of the flat root, in the view's shape
        size = int(np.prod(root_shape))
        empty = slice(0, 0, 1)
        return ViewProgram(root_shape, (size,), (empty,), (0,), (0,), (0,), (), shape, shape)
    live = [i for i, (n, s) in enumerate(zip(shape, strides)) if n > 1 and s != 0]
    start = offset + sum(strides[i] * (shape[i] - 1) for i in live if strides[i] < 0)
    dims = [(shape[i], abs(strides[i])) for i in live]
    for factors in _factorings(root_shape, [step for _, step in dims]):
        found = _match(factors, start, dims)
        if found is not None:
            key, axes = found  # axes[k]: the factor axis that dims[k] walks along
            order = sorted(range(len(dims)), key=lambda k: axes[k])
            kept = tuple(dims[k][0] for k in order)
            perm = tuple(order.index(k) for k in range(len(dims)))
            flips = tuple(k for k, i in enumerate(live) if strides[i] < 0)
            ones = tuple(n if i in live else 1 for i, n in enumerate(shape))
            sliced = tuple(len(range(s.start, s.stop, s.step)) for s in key)
            program = ViewProgram(root_shape, factors, key, sliced, kept, perm, flips, ones, shape)
            return program._replace(sparse=program.spreads())
    where = np.full(shape, offset, np.int64)
    for axis, (n, s) in enumerate(zip(shape, strides)):
        where += (np.arange(n) * s).reshape((n,) + (1,) * (len(shape) - axis - 1))
    return ViewProgram(root_shape, (), (), (), (), (), (), (), shape, where)


def _factorings(root_shape: tuple[int, ...], steps: list[int]) -> list[tuple[int, ...]]:
    """Shapes to look at the root's memory with: its own, the one the view's strides suggest, flat."""
    size = int(np.prod(root_shape))
    found = [root_shape]
    radix, factors = size, []
    for step in sorted(set(steps), reverse=True):
        if step and radix % step == 0:
            factors.append(radix // step)
            radix = step
    found.append((*factors, radix))
    found.append((size,))
    return found


def _match(
    factors: tuple[int, ...], start: int, dims: list[tuple[int, int]]
) -> tuple[tuple[slice, ...], list[int]] | None:
    """One slice for each factor axis, and the axis each view dimension walks along; None if slices cannot say it."""
    radices, radix = [], 1
    for n in reversed(factors):
        radices.append(radix)
        radix *= n
    radices.reverse()
    if start >= radix:
        return None
    begins = [(start // r) % n for r, n in zip(radices, factors)]
    key = [slice(b, b + 1, 1) for b in begins]
    axes: list[int] = []
    for n, step in dims:
        for axis, (r, length) in enumerate(zip(radices, factors)):
            stride, rest = divmod(step, r)
            fits = rest == 0 and axis not in axes and length > 1 and begins[axis] + stride * (n - 1) < length
            if fits:
                key[axis] = slice(begins[axis], begins[axis] + stride * (n - 1) + 1, stride)
                axes.append(axis)
                break
        else:
            return None
    return tuple(key), axes
