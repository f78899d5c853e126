"""Placement of new arrays next to arrays that are spread over several devices: on the same devices."""

from __future__ import annotations

from typing import Any

from jax.sharding import NamedSharding, PartitionSpec

__all__ = ["fitting"]


def fitting(device: Any, shape: tuple[int, ...]) -> Any:
    """Return the placement of a new array: sharded as another array, or replicated if its shape does not divide so."""
    if not isinstance(device, NamedSharding):
        return device
    try:
        device.shard_shape(tuple(shape))
    except (IndexError, ValueError):  # fewer axes, or lengths that the mesh does not divide
        return NamedSharding(device.mesh, PartitionSpec(), memory_kind=device.memory_kind)
    return device
