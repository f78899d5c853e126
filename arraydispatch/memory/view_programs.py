"""Programs that read and write a view, given by offset, shape and strides, of a root that cannot alias.

The value of a root has its logical shape. Offsets and strides refer to its memory, which is in C order unless a *layout* is
given: the root's own strides, for example of an array created with ``order="F"``.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..backends.base import Backend, Native
from ..common.buffers import axes_by_stride


class Slices(tuple[slice, ...]):  # noqa: SLOT001 -- a subclass of tuple may not name any
    """Slices of all axes of an array; a library may keep its own form of them in ``known``."""

    known: Any = None


class ViewProgram(NamedTuple):
    """Steps that read a view from a root, or write it back, in the order of the numbers."""

    root_shape: tuple[int, ...]
    factors: tuple[int, ...]  # 1: reshape the root to this
    key: tuple[slice, ...]  # 2: slice
    sliced: tuple[int, ...]  # the shape after step 2
    kept: tuple[int, ...]  # 3: reshape to this, without axes of length 1
    perm: tuple[int, ...]  # 4: transpose
    flips: tuple[int, ...]  # 5: flip
    ones: tuple[int, ...]  # 6: reshape to this, with new axes of length 1
    shape: tuple[int, ...]  # 7: broadcast
    gather: np.ndarray[Any, Any] | None = (
        None  # used instead of steps 1 to 7 if no slice describes the view: flat positions in the root
    )
    sparse: bool = False  # whether writing through a slice would copy far more than the view
    order: tuple[int, ...] | None = None  # 0: transpose the root to the order of its memory
    steps: tuple[tuple[str, Any], ...] = ()  # the steps that do something: primitives with their arguments
    sliced_alone: bool = False  # whether slicing is all there is to do

    def read(self, backend: Backend, root: Native) -> Native:
        """Return the view's value, read from that of the root."""
        prim, x = backend.prim, root
        for name, argument in self.steps:
            x = getattr(prim, name)(x, argument)
        if self.gather is None:
            return x
        return prim.take(x, backend.from_numpy(self.gather, backend.device_of(x)), 0)

    @property
    def whole(self) -> bool:
        """Whether the view contains every element of the root, in some order."""
        return self.gather is None and self.sliced == self.factors

    def write(self, backend: Backend, root: Native, value: Native, donate: bool = False) -> Native:
        """Return the root's value with the view's elements replaced; ``donate``: the root's buffer may be reused."""
        if self.sliced_alone and not (donate and self.sparse):
            return backend.slice_update(root, self.key, value, donate)
        prim = backend.prim
        if self.order is not None:
            made = self._replace(order=None).write(backend, prim.transpose(root, self.order), value)
            return prim.transpose(made, tuple(int(i) for i in np.argsort(self.order)))
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

    def with_steps(self) -> ViewProgram:
        """Return the program with ``steps`` and ``sliced_alone`` filled in."""
        found: list[tuple[str, Any]] = [] if self.order is None else [("transpose", self.order)]
        if self.gather is not None:
            return self._replace(steps=(*found, ("reshape", (-1,))))
        if self.factors != self.root_shape:
            found.append(("reshape", self.factors))
        if self.sliced != self.factors:
            found.append(("slice", self.key))
        if self.kept != self.sliced:
            found.append(("reshape", self.kept))
        if self.perm != tuple(range(len(self.perm))):
            found.append(("transpose", self.perm))
        if self.flips:
            found.append(("flip", self.flips))
        if self.ones != tuple(self.kept[p] for p in self.perm):
            found.append(("reshape", self.ones))
        if self.shape != self.ones:
            found.append(("broadcast_to", self.shape))
        return self._replace(steps=tuple(found), sliced_alone=[name for name, _ in found] == ["slice"])

    def spreads(self) -> bool:
        """Whether a reshape of the root, or the window that a slice with steps spans, is large compared with the view."""
        if self.factors == self.root_shape:
            if all(part.step == 1 for part in self.key):
                return False
            span = math.prod(part.stop - part.start for part in self.key)
        else:
            span = math.prod(self.root_shape)
        return _FEW * math.prod(self.sliced) <= span

    def _positions(self) -> np.ndarray[Any, Any]:
        """Return the flat positions, in the root, of the elements that the program's slices select."""
        where = np.zeros((), np.int64)
        radix = math.prod(self.factors)
        for n, part in zip(self.factors, self.key):
            radix //= n
            where = np.add.outer(where, np.arange(part.start, part.stop, part.step) * radix)
        return where

    def _scatter(
        self, backend: Backend, root: Native, positions: np.ndarray[Any, Any], value: Native, donate: bool
    ) -> Native:
        """Scatter with one index array for each axis of the root, which is not reshaped: a reshape would copy it."""
        prim, device = backend.prim, backend.device_of(root)
        places = np.unravel_index(positions.reshape(-1), self.root_shape)
        indices = tuple(backend.from_numpy(np.ascontiguousarray(i), device) for i in places)
        scatter = getattr(prim, "scatter_donated", prim.scatter) if donate else prim.scatter
        return scatter(root, indices, prim.reshape(value, (-1,)), "set")


_FEW = 16
"""Ratio: a view smaller than 1/16 of what a slice would have to copy is written element by element."""


@lru_cache(maxsize=4096)
def compile_view(
    root_shape: tuple[int, ...],
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    layout: tuple[int, ...] | None = None,
) -> ViewProgram:
    """Return the program of slices, a transpose, flips and reshapes that reads the view (offset, shape, strides) from a root; if no such
    program reads the view, return a gather.

    ``layout``: the root's own strides in elements, if its memory is not in C order.
    """
    return _described(root_shape, offset, shape, strides, layout).with_steps()


def _described(
    root_shape: tuple[int, ...],
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    layout: tuple[int, ...] | None,
) -> ViewProgram:
    if layout is not None and 0 not in shape:
        found = _compile((root_shape, layout), offset, shape, strides)
        if found is not None:
            return found
        order = axes_by_stride(layout)
        return _described(tuple(root_shape[i] for i in order), offset, shape, strides, None)._replace(order=order)
    if 0 in shape:  # nothing to read: an empty slice of the flat root, in the view's shape
        size = int(np.prod(root_shape))
        empty = slice(0, 0, 1)
        return ViewProgram(root_shape, (size,), (empty,), (0,), (0,), (0,), (), shape, shape)
    steps = [abs(s) for n, s in zip(shape, strides) if n > 1]
    for factors in _factorings(root_shape, steps):
        found = _compile((root_shape, None), offset, shape, strides, factors)
        if found is not None:
            return found
    return ViewProgram(root_shape, (), (), (), (), (), (), (), shape, positions(offset, shape, strides))


def positions(offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Return the position of each element of a view in the memory of its root, in elements."""
    where = np.full(shape, offset, np.int64)
    for axis, (n, s) in enumerate(zip(shape, strides)):
        where += (np.arange(n) * s).reshape((n,) + (1,) * (len(shape) - axis - 1))
    return where


def _compile(
    root: tuple[tuple[int, ...], tuple[int, ...] | None],
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    factors: tuple[int, ...] | None = None,
) -> ViewProgram | None:
    """Compile a program for a root (shape and layout) seen in the shape ``factors``; None if slices cannot describe the
    view.
    """
    root_shape, layout = root
    factors = root_shape if factors is None else factors
    live = [i for i, (n, s) in enumerate(zip(shape, strides)) if n > 1 and s != 0]
    start = offset + sum(strides[i] * (shape[i] - 1) for i in live if strides[i] < 0)
    dims = [(shape[i], abs(strides[i])) for i in live]
    found = _match(factors, layout or _radices(factors), start, dims)
    if found is None:
        return None
    key, axes = found  # axes[k]: the factor axis that dims[k] walks along
    order = sorted(range(len(dims)), key=lambda k: axes[k])
    kept = tuple(dims[k][0] for k in order)
    perm = tuple(order.index(k) for k in range(len(dims)))
    flips = tuple(k for k, i in enumerate(live) if strides[i] < 0)
    ones = tuple(n if i in live else 1 for i, n in enumerate(shape))
    sliced = tuple(len(range(s.start, s.stop, s.step)) for s in key)
    program = ViewProgram(root_shape, factors, Slices(key), sliced, kept, perm, flips, ones, shape)
    return program._replace(sparse=program.spreads())


def _radices(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the strides, in elements, of an array in C order."""
    return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


def _factorings(root_shape: tuple[int, ...], steps: list[int]) -> list[tuple[int, ...]]:
    """Return shapes to try for the root's memory: its own shape, the shape that the view's strides suggest, and a flat one."""
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
    factors: tuple[int, ...], radices: tuple[int, ...], start: int, dims: list[tuple[int, int]]
) -> tuple[tuple[slice, ...], list[int]] | None:
    """Return a slice for each factor axis, and the factor axis along which each view dimension runs; None if no slices give the view.

    ``factors``, ``radices``: length and stride of each factor axis; ``start``: offset of the view; ``dims``: length and stride of each of
    its dimensions.
    """
    if start >= math.prod(factors):
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
