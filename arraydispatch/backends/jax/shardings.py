"""Arrays that are spread over several devices: what is made beside one lies on the same devices."""

from __future__ import annotations

from typing import Any

from jax.sharding import NamedSharding, PartitionSpec

__all__ = ["fitting"]


def fitting(device: Any, shape: tuple[int, ...]) -> Any:
    """Where to put an array of a shape: spread as another array is, or whole on each device where the shape cannot be so spread."""
    if not isinstance(device, NamedSharding):
        return device
    try:
        device.shard_shape(tuple(shape))
    except (IndexError, ValueError):  # fewer axes, or lengths that the mesh does not divide
        return NamedSharding(device.mesh, PartitionSpec(), memory_kind=device.memory_kind)
    return device
