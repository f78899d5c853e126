"""Devices by name: look-up, the device of an array, moves between devices."""

from __future__ import annotations

from typing import Any

from ..backends.base import Backend, Native
from ..backends.devices import Device
from ..common.errors import DeviceNotFoundError
from . import settings

_KINDS = {"cpu": "CPU", "gpu": "GPU", "cuda": "GPU", "rocm": "GPU", "tpu": "TPU", "mps": "GPU", "xpu": "GPU"}


def find(backend: Backend, spec: Any) -> Device:
    """Return the device that ``spec`` names: ``"cpu" "gpu" "cuda:1" "tpu" "mps"``, a :class:`Device`, or the library's
    own.

    Raises
    ------
    DeviceNotFoundError
        If the backend has no such device; the message lists those it has.
    """
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
    return there[0]


def of_new(backend: Backend) -> Device:
    """Return the device on which new arrays of a backend are placed."""
    return settings.default.devices.get(backend.name) or backend.devices()[0]


def move(a: Native, backend: Backend, spec: Any) -> Native:
    """Return a native array on the device that ``spec`` names; the array itself if it is there already."""
    target = find(backend, spec)
    if of(a, backend) == target:
        return a
    return backend.to_device(a, target)
