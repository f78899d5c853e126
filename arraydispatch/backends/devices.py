"""Devices under library-neutral names, and the processors of this process."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Device", "processors"]


@dataclass(frozen=True)
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
    """

    backend: str
    name: str
    kind: str
    memory: int = -1
    processor_count: int = -1
    description: str = ""
    native: Any = field(default=None, compare=False, repr=False)

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


def processors() -> int:
    """Return the number of processors that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
