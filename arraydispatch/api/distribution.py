"""Placement of single arrays on a mesh of devices: split along chosen axes, or replicated."""

from __future__ import annotations

from typing import Any

from ..array import Array
from ..common.errors import OptionError
from ..common.process_state import process
from ..runtime import settings
from .arrays import wrap

Axes = int | tuple[int | tuple[int, ...] | None, ...]


def shard(x: Any, spec: Axes) -> Array:
    """Split an array over its mesh, or over the mesh in force, along chosen axes.

    Parameters
    ----------
    x : array_like
        Array of ``arraydispatch`` or of the library.
    spec : int or tuple
        An int: the axis that is split over all devices. A tuple has one entry for each axis of the array (axes that are missing are not
        split): None, the number of an axis of the mesh, or a tuple of these, so ``(None, 0)`` splits the second axis over the first
        axis of the mesh.

    Returns
    -------
    Array
        A new array. If the mesh does not divide the lengths as chosen, it is split along another axis, or replicated.

    Raises
    ------
    OptionError
        If there is no mesh, or the specification is invalid.
    """
    a = wrap(x)
    lengths = _mesh_of(a)
    if isinstance(spec, int) and not isinstance(spec, bool):
        if not -a.ndim <= spec < a.ndim:
            raise OptionError(f"an array of {a.ndim} axes has no axis {spec} to split.")
        parts: list[Any] = [None] * a.ndim
        parts[spec] = tuple(range(len(lengths)))
    elif isinstance(spec, tuple | list) and len(spec) <= a.ndim:
        parts = list(spec)
    else:
        raise OptionError(f"a specification is an axis or a tuple of at most {a.ndim} entries, got {spec!r}.")
    axes = [part if isinstance(part, tuple) else () if part is None else (part,) for part in parts]
    used = [i for part in axes for i in part]
    if any(type(i) is not int or not 0 <= i < len(lengths) for i in used) or len(set(used)) < len(used):
        raise OptionError(
            f"{spec!r} names each axis of the mesh at most once, of 0 to {len(lengths) - 1}; the mesh is {'x'.join(map(str, lengths))}."
        )
    return _placed(a, axes)


def replicate(x: Any) -> Array:
    """Replicate an array: every device of its mesh, or of the mesh in force, gets a full copy.

    Parameters
    ----------
    x : array_like
        Array of ``arraydispatch`` or of the library.

    Returns
    -------
    Array

    Raises
    ------
    OptionError
        If there is no mesh.
    """
    a = wrap(x)
    _mesh_of(a)
    return _placed(a, None)


def _mesh_of(a: Array) -> tuple[int, ...]:
    backend = a.backend
    if backend.meshes is None:
        raise OptionError(
            f"backend {backend.name!r} does not split arrays over devices; convert the array to one that does."
        )
    held = a.sharding
    if held is not None:
        return held.mesh
    device = settings.default.devices.get(backend.name)
    if device is None or not device.mesh:
        raise OptionError("no mesh is in force; make the array inside of `with arraydispatch.mesh(...)`.")
    return device.mesh


def _placed(a: Array, axes: Any) -> Array:
    backend: Any = a.backend
    with backend.within():
        value = backend.meshes.place(a.native, axes)
    made: Array = process.wrapper(value, a._kind.home)
    return made
