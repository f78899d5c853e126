"""Meshes of devices: arrays split over several devices of one library."""

from __future__ import annotations

import math
import operator
import re
from types import TracebackType
from typing import Any, Self

from ..backends import loader
from ..backends.base import Backend
from ..backends.devices import Device
from ..common import process_state
from ..common.errors import DeviceNotFoundError, OptionError
from ..runtime import settings

LEAST = 1 << 16
"""Default number of elements from which arrays are split."""

_open: list[Mesh] = []
_outside: dict[str, Device | None] = {}
"""Name of a backend -> its device outside of the open blocks."""


class Mesh:
    """Mesh of devices: a context manager, and a value of ``ad.use(mesh=)``. Made by :func:`arraydispatch.mesh`.

    Parameters
    ----------
    lengths : tuple of int or None
        Lengths of the axes; None: one axis with all devices.
    min_size : int
        Number of elements from which arrays are split.
    """

    def __init__(self, lengths: tuple[int, ...] | None, min_size: int) -> None:
        self.lengths, self.min_size = lengths, min_size
        self._held: list[tuple[str, Device]] = []

    @property
    def count(self) -> int:
        """Number of devices; 0 for all that there are."""
        return 0 if self.lengths is None else math.prod(self.lengths)

    def __repr__(self) -> str:
        shape = "auto" if self.lengths is None else "x".join(map(str, self.lengths))
        return f"<mesh {shape} of devices>"

    def on(self, backend: Backend) -> Device:
        """Return the mesh of a backend's devices, as one device.

        Parameters
        ----------
        backend : Backend
            Backend with the devices.

        Returns
        -------
        Device

        Raises
        ------
        OptionError
            If the backend does not split arrays.
        DeviceNotFoundError
            If the backend has too few devices.
        """
        if backend.meshes is None:
            raise OptionError(
                f"backend {backend.name!r} does not split arrays over devices; use a backend that does "
                f"({', '.join(name for name in loader.available() if loader.KNOWN[name].several) or 'none is installed'})."
            )
        kind = (there := backend.devices())[0].kind
        count = sum(device.kind == kind for device in there)
        lengths = (count,) if self.lengths is None else self.lengths
        if math.prod(lengths) > count:
            more = backend.meshes.simulated(math.prod(lengths)) if kind == "CPU" else ""
            remedy = f"; for a trial on a CPU, {more}" if more else ""
            raise DeviceNotFoundError(
                f"a mesh of {'x'.join(map(str, lengths))} needs {math.prod(lengths)} devices, and backend {backend.name!r} has {count} "
                f"({', '.join(device.name for device in there if device.kind == kind)}){remedy}."
            )
        made: Device = backend.meshes.device(lengths, self.min_size)
        return made

    def __enter__(self) -> Self:
        backend = settings.current_backend().home
        device = self.on(backend)
        with process_state.lock:
            if not any(name == backend.name for each in _open for name, _ in each._held):
                _outside[backend.name] = settings.default.devices.get(backend.name)
            self._held.append((backend.name, device))
            _open.append(self)
            _place(backend.name, device)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        with process_state.lock:
            name, _ = self._held.pop()
            _open.reverse()
            _open.remove(self)
            _open.reverse()
            left = [held for each in _open for held in each._held if held[0] == name]
            _place(name, left[-1][1] if left else _outside.pop(name))


def _place(name: str, device: Device | None) -> None:
    others = {key: value for key, value in settings.default.devices.items() if key != name}
    settings.default.change(devices=others if device is None else {**others, name: device})


def mesh(devices: Any = "auto", *, min_size: int = LEAST) -> Mesh:
    """Return a context manager under which large new arrays of the default backend are split over several devices, small ones replicated.

    Arrays are split when they are made: by creation functions, ``asarray``, ``np.load``, draws, and by calls with a large result
    that would not be split otherwise. The first axis that the number of devices divides is split; an array without such an axis is
    replicated. The library's partitioner decides how results of calls on split arrays are split. The block holds for the whole process,
    and arrays stay where they are when it ends.

    Parameters
    ----------
    devices : int, str or tuple of int
        ``"auto"``: all devices of the backend; an int: that many devices; ``"2x4"`` or ``(2, 4)``: a mesh with two axes, which split
        two axes of an array.
    min_size : int
        Number of elements from which arrays are split.

    Returns
    -------
    Mesh
        Context manager; also a value of ``arraydispatch.use(mesh=)``.

    Raises
    ------
    OptionError
        If ``devices`` is none of these, or ``min_size`` is negative; when the block begins, if the backend does not split arrays.
    DeviceNotFoundError
        When the block begins, if there are fewer devices.

    Examples
    --------
    >>> import arraydispatch as ad
    >>> with ad.backend("jax"), ad.mesh("auto"):
    ...     x = ad.asarray([1.0, 2.0])
    """
    if isinstance(devices, Mesh):
        return devices
    least = operator.index(min_size)
    if least < 0:
        raise OptionError(f"min_size must be 0 or more, got {min_size}.")
    return Mesh(_lengths(devices), least)


def _lengths(devices: Any) -> tuple[int, ...] | None:
    if isinstance(devices, str):
        if devices == "auto":
            return None
        found = tuple(map(int, devices.split("x"))) if re.fullmatch(r"\d+(x\d+)*", devices) else ()
    elif isinstance(devices, int) and not isinstance(devices, bool):
        found = (devices,)
    elif isinstance(devices, tuple | list) and all(type(n) is int for n in devices):
        found = tuple(devices)
    else:
        found = ()
    if not found or min(found) < 1:
        raise OptionError(f"a mesh is 'auto', a number of devices, or lengths such as '2x4'; got {devices!r}.")
    return found
