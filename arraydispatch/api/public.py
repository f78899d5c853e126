"""Namespace of all public functions, and of the functions that NumPy's creation functions call if ``like=`` is an array."""

from __future__ import annotations

from . import creation  # noqa: F401 -- it registers what `like=` calls
from .arrays import asarray, at_host, convert, from_protocol, from_sequence, synchronize, to_numpy, wrap
from .backends import (
    available_backends,
    backend,
    choose_backend,
    context_backend,
    default_backend,
    devices,
    execution,
    get_precision,
    precision,
    seed,
    set_precision,
    use,
)
from .distribution import replicate, shard
from .meshes import mesh

__all__ = [
    "asarray", "at_host", "available_backends", "backend", "choose_backend", "context_backend", "convert",
    "default_backend", "devices", "execution", "from_protocol", "from_sequence", "get_precision", "mesh", "precision",
    "replicate", "seed", "set_precision", "shard", "synchronize", "to_numpy", "use", "wrap",
]  # fmt: skip
