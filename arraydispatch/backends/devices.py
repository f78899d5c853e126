"""Devices under library-neutral names, and the processors of this process."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple


@dataclass(frozen=True, eq=False)
class Device:
    """Device of a backend.

    Parameters
    ----------
    backend : str
        Name of the backend.
    name : str
        The library-neutral spelling: ``"cpu"``, ``"cuda:0"``, ``"tpu:1"``, ``"mps"``.
    kind : str
        ``"CPU"``, ``"GPU"`` or ``"TPU"``.
    memory : int
        Bytes of memory, -1 if the library does not report it.
    processor_count : int
        Cores or multiprocessors, -1 if the library does not report it.
    description : str
        A human name, such as the chip's.
    native : object
        The library's own device object.
    mesh : tuple of int
        Lengths of the axes, if it is a mesh of devices over which arrays are split; empty for one device.
    """

    backend: str
    name: str
    kind: str
    memory: int = -1
    processor_count: int = -1
    description: str = ""
    native: Any = field(default=None, repr=False)
    mesh: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.name == other
        if isinstance(other, Device):
            return (self.backend, self.name) == (other.backend, other.name)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)


class Sharding(NamedTuple):
    """Placement of an array on a mesh of devices.

    Parameters
    ----------
    mesh : tuple of int
        Lengths of the axes of the mesh.
    axes : tuple of tuple of int
        For each axis of the array, the axes of the mesh over which that axis is split; empty if it is not split.
    shard : tuple of int
        Shape of the part that one device holds.
    """

    mesh: tuple[int, ...]
    axes: tuple[tuple[int, ...], ...]
    shard: tuple[int, ...]

    @property
    def replicated(self) -> bool:
        """Whether each device holds the whole array."""
        return not any(self.axes)


class NamedDevice(Device):
    """Device known by its name. Reading another attribute calls ``load``, which imports the library and returns the backend."""

    def __init__(self, backend: str, name: str, kind: str, load: Callable[[str], Any]) -> None:
        vars(self).update(backend=backend, name=name, kind=kind, load=load)

    def _described(self) -> Device:
        found: Device = next(device for device in vars(self)["load"](self.backend).devices() if device == self)
        return found

    memory = property(lambda self: self._described().memory)
    processor_count = property(lambda self: self._described().processor_count)
    description = property(lambda self: self._described().description)
    native = property(lambda self: self._described().native)

    def __repr__(self) -> str:  # shows only what is known without loading the library
        return f"Device(backend={self.backend!r}, name={self.name!r}, kind={self.kind!r})"


def processors() -> int:
    """Return the number of processors that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def host_memory() -> int:
    """Return the bytes of memory of this machine; -1 if unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # Windows lacks it
        return -1
