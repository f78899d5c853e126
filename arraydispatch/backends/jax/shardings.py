"""Arrays over the devices of a mesh: which axis is split, and transfers between host memory and the shards.

Primitives take a :class:`Spread` in place of a device. A spread decides by the shape alone, so a traced program and a single call
place an array alike. XLA's partitioner chooses the sharding of results.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from ...common import events
from ...common.process_state import process
from ..base import Box
from ..devices import Device, Sharding
from .collectives import follow, met, programs

__all__ = [
    "Spread", "aligned_empty", "device", "device_at", "distributed", "fitting", "follow", "gathered", "moved",
    "is_split", "of_parts", "place", "placed", "programs", "sharding_of", "splits", "spread_of",
]  # fmt: skip

Array = Any


@dataclass(frozen=True)
class Spread:
    """Placement of new arrays on the devices of a mesh; those of fewer than ``least`` elements are replicated.

    ``like``: partition that is tried before the rule of :func:`_by_rule`; spreads that differ only in ``like`` are equal.
    """

    mesh: Mesh
    least: int
    like: PartitionSpec | None = field(default=None, compare=False)
    memory_kind: str | None = None

    def sharding(self, shape: Sequence[int]) -> NamedSharding:
        """Return the sharding of an array of this shape."""
        shape = tuple(shape)
        if math.prod(shape) < self.least:
            spec = PartitionSpec()
        elif self.like is not None and _fits(self.mesh, self.like, shape):
            spec = self.like
        else:
            spec = _by_rule(self.mesh, shape)
        return NamedSharding(self.mesh, spec, memory_kind=self.memory_kind)


def _fits(mesh: Mesh, spec: PartitionSpec, shape: tuple[int, ...]) -> bool:
    try:
        NamedSharding(mesh, spec).shard_shape(shape)
    except (IndexError, ValueError):  # fewer axes, or lengths that the mesh does not divide
        return False
    return True


@lru_cache(maxsize=4096)
def _by_rule(mesh: Mesh, shape: tuple[int, ...]) -> PartitionSpec:
    """Assign to each axis of the mesh the first array axis whose length it divides, a different array axis for each if possible.

    Slices along the first axis are contiguous, so a halo is too. An axis of the mesh that divides no array axis is not used.
    """
    parts: list[list[str]] = [[] for _ in shape]
    for name in mesh.axis_names:
        size = mesh.shape[name]
        rest = [n // math.prod(mesh.shape[other] for other in taken) for n, taken in zip(shape, parts)]
        able = [axis for axis, n in enumerate(rest) if n and n % size == 0]
        if able and size > 1:
            parts[min(able, key=lambda axis: bool(parts[axis]))].append(name)
    named = [tuple(taken) if len(taken) > 1 else taken[0] if taken else None for taken in parts]
    while named and named[-1] is None:
        named.pop()
    return PartitionSpec(*named)


def spread_of(a: Array) -> Spread | None:
    """Return the mesh of a concrete array, as a placement for new arrays; None for an array on a single device."""
    sharding = a.sharding
    if not isinstance(sharding, NamedSharding) or sharding.mesh.size == 1:
        return None
    mine = in_force()
    if mine is not None and mine.mesh == sharding.mesh:
        return mine if sharding.is_fully_replicated else Spread(mine.mesh, mine.least, sharding.spec)
    return Spread(sharding.mesh, 0, sharding.spec, sharding.memory_kind)


meshes_in_force = False
"""Whether new arrays are made on a mesh. Read by each call."""
meshes_met = False
"""Whether there has been a mesh, or an array on one, in this process."""


@process.follows("devices")
def _follow() -> None:
    global meshes_in_force, meshes_met
    meshes_in_force = in_force() is not None
    meshes_met |= meshes_in_force


def in_force() -> Spread | None:
    """Return the placement of new arrays on the mesh in force; None if there is no mesh."""
    chosen = process.devices.get("jax")
    return chosen.native if chosen is not None and chosen.mesh else None


def fitting(device: Any, shape: Sequence[int]) -> Any:
    """Return JAX's placement for a new array on a device or a spread."""
    return device.sharding(shape) if isinstance(device, Spread) else device


def is_split(a: Array) -> bool:
    """Whether a concrete array is split over devices."""
    return not a.is_fully_replicated


def splits(place: Any, shape: Sequence[int]) -> bool:
    """Whether a new array of this shape is split if it is made at ``place``."""
    return isinstance(place, Spread) and not place.sharding(shape).is_fully_replicated


def of_parts(
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    device: Spread,
    fill: Callable[[list[tuple[Box, np.ndarray[Any, Any]]]], None],
) -> Array:
    """Return an array on a mesh; ``fill`` writes the shards of this process in host memory, which JAX adopts on a CPU."""
    sharding = device.sharding(shape)
    parts: dict[Any, tuple[Box, np.ndarray[Any, Any]]] = {}
    for place in sharding.addressable_devices_indices_map(shape).values():
        assert place is not None
        ends = [part.indices(n)[:2] for part, n in zip(place, shape)]
        if (key := tuple(ends)) not in parts:
            lengths = tuple([stop - start for start, stop in ends])
            parts[key] = tuple([slice(*each) for each in ends]), aligned_empty(lengths, dtype)
    fill(list(parts.values()))

    def part(place: Any) -> np.ndarray[Any, Any]:
        return parts[tuple([part.indices(n)[:2] for part, n in zip(place, shape)])][1]

    return jax.make_array_from_callback(shape, sharding, part, dtype=dtype)


def distributed(x: np.ndarray[Any, Any], device: Spread) -> Array:
    """Copy an ndarray to shards on a mesh: each process reads only the parts that its devices hold, and no device holds the whole."""

    def fill(parts: list[tuple[Box, np.ndarray[Any, Any]]]) -> None:
        for place, out in parts:
            out[...] = x[place]

    return of_parts(x.shape, x.dtype, device, fill)


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Return memory that JAX adopts on a CPU without a copy."""
    nbytes = math.prod(shape) * dtype.itemsize
    memory = np.empty(nbytes + 64, np.uint8)
    offset = -memory.ctypes.data % 64
    made: np.ndarray[Any, Any] = memory[offset : offset + nbytes].view(dtype).reshape(shape)
    return made


_copies: dict[NamedSharding, Any] = {}


def gathered(a: Array) -> np.ndarray[Any, Any]:
    """Return all values on the host, including those of other processes, which must all make this call."""
    if not (a.is_fully_addressable or a.is_fully_replicated):
        whole = NamedSharding(a.sharding.mesh, PartitionSpec())
        if whole not in _copies:
            _copies[whole] = jax.jit(lambda x: x, out_shardings=whole)
        met(f"gather {a.shape}")
        with jax.enable_x64(True):
            a = _copies[whole](a)
    return np.asarray(a)


def gathered_for(a: Array, why: str) -> np.ndarray[Any, Any]:
    """Return the values that :func:`gathered` returns, and report a transfer to the host for the reason ``why``."""
    host = gathered(a)
    if events.tap is not None:
        events.tap.transfer("to_host", host.nbytes, why, host)
    return host


def placed(a: Array, operands: Sequence[Array] = ()) -> Array:
    """Return a large result split, if a mesh is in force and the result is not split yet, for example a broadcast of small arrays; return
    any other result itself.

    In a program, this makes the partitioner split a large result of small operands, which it would otherwise compute whole on each device.
    """
    mine = in_force()
    if mine is None or a.size < (least := max(mine.least, 2)):
        return a
    if isinstance(a, jax.core.Tracer):
        whole = operands and all(getattr(x, "size", 1) < least for x in operands)
        return jax.lax.with_sharding_constraint(a, mine.sharding(a.shape)) if whole else a
    if not a.is_fully_replicated:
        return a
    return moved(a, mine.sharding(a.shape))


def moved(a: Array, sharding: Any) -> Array:
    """Move an array to other devices; outside of the scope of 64-bit types JAX would move 32 bits of each number."""
    if a.sharding == sharding:
        return a
    with jax.enable_x64(True):
        return jax.device_put(a, sharding)


def free(a: Array) -> Array:
    """Return an array itself; if its mesh has JAX's explicit axes, on which most slices are type errors, return the array on the same mesh
    with automatic axes, where XLA's partitioner chooses the shardings of results.
    """
    sharding = getattr(a, "sharding", None)
    if isinstance(a, jax.core.Tracer) or not isinstance(sharding, NamedSharding):
        return a
    global meshes_met
    meshes_met |= sharding.mesh.size > 1
    mesh = sharding.mesh
    if all(kind == AxisType.Auto for kind in mesh.axis_types):
        return a
    same = NamedSharding(_automatic(mesh), sharding.spec, memory_kind=sharding.memory_kind)
    return moved(a, same)


@lru_cache(maxsize=64)
def _automatic(mesh: Mesh) -> Mesh:
    return Mesh(mesh.devices, mesh.axis_names)


# -- what the layers above ask -------------------------------------------------------------------------------------------


def device(lengths: tuple[int, ...], least: int) -> Device:
    """Return a mesh of these lengths as one device."""
    there = jax.devices()
    grid = np.array(there[: math.prod(lengths)]).reshape(lengths)
    mesh = Mesh(grid, tuple(f"m{axis}" for axis in range(len(lengths))))
    return _described(Spread(mesh, least))


def simulated(count: int) -> str:
    """Return how to start a program with so many devices on one CPU."""
    return (
        f"start it by arraydispatch run --simulated, or with XLA_FLAGS=--xla_force_host_platform_device_count={count}"
    )


def _described(spread: Spread) -> Device:
    lengths = tuple(spread.mesh.shape.values())
    platform = spread.mesh.devices.flat[0].platform
    kind = {"cpu": "CPU", "tpu": "TPU"}.get(platform, "GPU")
    return Device("jax", f"mesh:{'x'.join(map(str, lengths))}", kind, native=spread, mesh=lengths)


def device_at(place: Any) -> Device | None:
    """Return the mesh of a :class:`Spread` as one device; None for other placements."""
    return _described(place) if isinstance(place, Spread) else None


def sharding_of(a: Array) -> Sharding | None:
    """Return the sharding of an array on its mesh; None for an array on one device, and for a tracer."""
    if isinstance(a, jax.core.Tracer) or not isinstance(a.sharding, NamedSharding) or a.sharding.mesh.size == 1:
        return None
    mesh, spec = a.sharding.mesh, a.sharding.spec
    numbers = {name: axis for axis, name in enumerate(mesh.axis_names)}
    axes = [
        tuple(numbers[name] for name in (part if isinstance(part, tuple) else () if part is None else (part,)))
        for part in (*spec, *[None] * (a.ndim - len(spec)))
    ]
    return Sharding(tuple(mesh.shape.values()), tuple(axes), tuple(a.sharding.shard_shape(a.shape)))


def place(a: Array, axes: Sequence[tuple[int, ...]] | None) -> Array:
    """Split the axes of an array over axes of its mesh, or of the mesh in force; replicate it if ``axes`` is None.

    Raises
    ------
    LookupError
        If there is no mesh.
    """
    spread = in_force()
    if not isinstance(a, jax.core.Tracer):
        spread = spread_of(a) or spread
    if spread is None:
        raise LookupError
    if axes is None:
        sharding = NamedSharding(spread.mesh, PartitionSpec())
    else:
        names = spread.mesh.axis_names
        wanted = PartitionSpec(*[tuple(names[i] for i in part) or None for part in axes])
        sharding = Spread(spread.mesh, 0, wanted).sharding(a.shape)
    if isinstance(a, jax.core.Tracer):
        return jax.lax.with_sharding_constraint(a, sharding)
    return moved(a, sharding)


_follow()
