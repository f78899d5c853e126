"""Devices by name: look-up, the device of an array, moves between devices."""

from __future__ import annotations

from functools import cache
from typing import Any

from ..backends import loader
from ..backends.base import Backend, Native
from ..backends.devices import Device, NamedDevice
from ..common.errors import DeviceNotFoundError
from . import hardware, settings

_KINDS = {"cpu": "CPU", "gpu": "GPU", "cuda": "GPU", "rocm": "GPU", "tpu": "TPU", "mps": "GPU", "xpu": "GPU"}


def find(backend: Backend, spec: Any) -> Device:
    """Return the device that ``spec`` names: ``"cpu" "gpu" "cuda:1" "tpu" "mps"``, a :class:`Device`, or the library's
    own.

    Raises
    ------
    DeviceNotFoundError
        If the backend has no such device; the message lists those it has.
    """
    if isinstance(spec, Device) and spec.mesh and spec.backend == backend.name:
        return spec
    there = backend.devices()
    for device in there:
        if spec == device.name or spec is device.native or spec == device:
            return device
    if isinstance(spec, str):
        word, _, index = spec.lower().partition(":")
        kind = _KINDS.get(word)
        same = [d for d in there if d.kind == kind and (word in ("cpu", "gpu", "tpu") or d.name.startswith(word))]
        place = int(index) if index.isdigit() else 0 if not index else -1
        if 0 <= place < len(same):
            return same[place]
    names = ", ".join(d.name for d in there)
    raise DeviceNotFoundError(f"backend {backend.name!r} has no device {str(spec)!r} here; it has: {names}.")


def of(a: Native, backend: Backend) -> Device:
    """Return the device of a native array (the default device for a tracer)."""
    there = backend.devices()
    own = backend.device_of(a)
    for device in there:
        if device.native == own:
            return device
    meshes = backend.home.meshes
    mesh = None if meshes is None else meshes.device_at(own)
    return there[0] if mesh is None else mesh


def of_new(name: str) -> Device:
    """Return the device of new arrays of a backend; its library is imported only if that device may not be the CPU."""
    chosen: Device | None = settings.default.devices.get(name)
    if chosen is not None:
        return chosen
    backend = loader.loaded_one(name)
    if backend is None and _is_the_cpu(name):
        return NamedDevice(name, "cpu", "CPU", loader.load)
    return (backend or loader.at_hand(name)).devices()[0]


@cache
def _is_the_cpu(name: str) -> bool:
    """Whether one CPU is the library's only possible device, as far as the system and the environment show."""
    kinds = hardware.accelerators()
    return not loader.several_cpus(name) and not any(hardware.reaches(name, kind) for kind in kinds)


def move(a: Native, backend: Backend, spec: Any) -> Native:
    """Return a native array on the device that ``spec`` names; the array itself if it is there already."""
    target = find(backend, spec)
    if of(a, backend) == target:
        return a
    return backend.to_device(a, target)
