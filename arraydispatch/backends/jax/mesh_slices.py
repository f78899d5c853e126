"""Slices of arrays that may be split over a mesh, read and written without gathering the whole array.

XLA's partitioner gathers the array for `dynamic_slice` and `dynamic_update_slice` along a split axis, whatever the starts. If the starts
are constants of the program, a static slice only exchanges elements between neighbours, and a write selects each element on its own
device. A program also selects to write most of an array on one device, because XLA fuses that with the code that computes the value.
Starts that are operands become indices of a gather or scatter, which each device performs for its part.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from . import shardings

__all__ = ["may_be_split", "read", "read_at", "write", "write_at"]

Array = Any
IN_BOUNDS = "promise_in_bounds"  # the caller has checked; JAX's own modes clamp or drop
Window = tuple[tuple[int, int, int], ...]
"""Start, length and step along each axis."""


def may_be_split(a: Array) -> bool:
    """Whether an array may be split over a mesh. For a tracer, its size and the mesh in force decide."""
    if not shardings.meshes_met:
        return False
    if isinstance(a, jax.core.Tracer):
        mesh = shardings.in_force()
        return mesh is None or a.size >= mesh.least
    return not a.is_fully_replicated


def read(a: Array, window: Window) -> Array:
    """Return the slice that ``window`` describes."""
    starts = [start for start, _, _ in window]
    ends = [start + (size - 1) * step + 1 if size else start for start, size, step in window]
    return lax.slice(a, starts, ends, [step for _, _, step in window])


def write(a: Array, value: Array, window: Window) -> Array:
    """Return the array with the slice that ``window`` describes replaced by a value, which is broadcast."""
    sizes = tuple([size for _, size, _ in window])
    if not prod(sizes):
        return a
    value = jnp.expand_dims(value, tuple(range(a.ndim - value.ndim)))
    inside = None
    for axis, (start, size, step) in enumerate(window):
        n = a.shape[axis]
        if size == n:
            continue
        place = lax.broadcasted_iota(np.int32 if n < 1 << 31 else np.int64, a.shape, axis) - start
        here = (place >= 0) & (place <= (size - 1) * step)
        if step != 1:
            here &= place % step == 0
        inside = here if inside is None else inside & here
        if value.shape[axis] > 1:
            if step != 1:  # not `pad` with an interior, which the partitioner gets wrong along a split axis (JAX 0.10)
                shape = value.shape
                value = lax.broadcast_in_dim(
                    value, (*shape[: axis + 1], step, *shape[axis + 1 :]), [i + (i > axis) for i in range(a.ndim)]
                ).reshape(*shape[:axis], size * step, *shape[axis + 1 :])
            edges = [(0, 0, 0)] * a.ndim
            edges[axis] = (start, n - start - size * step, 0)
            value = lax.pad(value, np.zeros((), a.dtype), edges)
    value = jnp.broadcast_to(value, a.shape)
    return value if inside is None else lax.select(inside, value, a)


def _places(starts: Sequence[Array], sizes: Sequence[int], steps: Sequence[int], shape: Sequence[int]) -> list[Any]:
    return [
        None if size == n else start + step * lax.iota(np.int64, size)
        for start, size, step, n in zip(starts, sizes, steps, shape)
    ]


def read_at(a: Array, starts: Sequence[Array], sizes: Sequence[int], steps: Sequence[int]) -> Array:
    """Return a slice of a split array, given its start, length and step along each axis; the starts are operands of a program."""
    for axis, place in enumerate(_places(starts, sizes, steps, a.shape)):
        if place is not None:
            a = a.at[(slice(None),) * axis + (place,)].get(mode=IN_BOUNDS, wrap_negative_indices=False)
    return a


def write_at(a: Array, starts: Sequence[Array], steps: Sequence[int], value: Array) -> Array:
    """Return the array with a slice replaced by a value. The starts of the slice are operands of a program."""
    if not value.size:
        return a
    places = _places(starts, value.shape, steps, a.shape)
    partial = [axis for axis, place in enumerate(places) if place is not None]
    if not partial:
        return value
    # The axes that are indexed come first, so that the updates are whole slices along the others.
    order = [*partial, *[axis for axis in range(a.ndim) if axis not in partial]]
    index = jnp.ix_(*[places[axis] for axis in partial])
    made = a.transpose(order).at[index].set(
        value.transpose(order), mode=IN_BOUNDS, wrap_negative_indices=False, unique_indices=True
    )  # fmt: skip
    return made.transpose([order.index(axis) for axis in range(a.ndim)])
