"""Moving values between NumPy and the libraries, and between libraries. Every move is counted in ``events``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from . import dtypes, events, settings
from .backends import loader
from .backends.base import Backend, Native, Unsupported
from .errors import TraceError


def upload(backend: Backend, x: np.ndarray[Any, Any], device: Any = None, why: str = "", copy: bool = True) -> Native:
    """A native array of an ndarray's values; raises :class:`Unsupported` for dtypes that exist only on the host."""
    if not x.dtype.isnative:
        x = x.astype(x.dtype.newbyteorder("="))
    if dtypes.category(x.dtype) == "other":
        raise Unsupported(f"dtype {x.dtype} exists only on the host")
    if device is None and not backend.native_is_ndarray:
        device = default_device(backend)
    if x.dtype.char in "qQ":  # C's long long: equal to int64 and uint64, but types of their own
        x = x.view(np.dtype(x.dtype.str))
    made = backend.from_numpy(x, device, copy)
    if events.tap is not None and not backend.native_is_ndarray:
        events.tap.transfer("to_device", x.nbytes, why, x)
    return made


_REMEMBERED = 1 << 16
"""Bytes up to which :func:`lift` remembers what it uploaded."""


def lift(backend: Backend, x: np.ndarray[Any, Any], device: Any) -> Native:
    """What a small array on the host is among arrays on the device: constants of a loop go there once.

    The values are the key, not the array, which may be written in between; where native arrays can be written, each
    call makes its own.
    """
    if backend.mutable or x.nbytes > _REMEMBERED:
        return upload(backend, x, device, "a small array met an array on the device")
    return _lifted(backend, x.tobytes(), x.dtype, x.shape, device)


@lru_cache(maxsize=256)
def _lifted(backend: Backend, data: bytes, dtype: np.dtype[Any], shape: tuple[int, ...], device: Any) -> Native:
    host = np.frombuffer(data, dtype).reshape(shape)
    return upload(backend, host, device, "a small array met an array on the device")


def download(backend: Backend, a: Native, why: str = "") -> np.ndarray[Any, Any]:
    """The values as an ndarray; memory is shared where the library can.

    Raises
    ------
    TraceError
        If the value is not known now because a library is tracing.
    """
    if not backend.is_concrete(a):
        raise TraceError(
            "a concrete value was needed while tracing; keep the computation on arrays, or move it out of the traced function."
        )
    host = backend.to_numpy(a)
    if events.tap is not None and not backend.native_is_ndarray:
        events.tap.transfer("to_host", host.nbytes, why, host)
    return host


def home(backend: Backend, size: int, dtype: np.dtype[Any]) -> Backend:
    """Where a new array of this size goes: to the backend, or to the host as a small one (``--min-size``)."""
    if size >= settings.default.min_size or backend.native_is_ndarray or dtypes.is_bfloat16(dtype):
        return backend
    return backend if settings.current_precision() in (16, "bf16") else loader.small()


def precise(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype that a fresh value of ``dtype`` has under the precision in force; a change is counted."""
    wanted = dtypes.apply_precision(dtype, settings.current_precision())
    if events.tap is not None and wanted != dtype:
        events.tap.cast(dtype, wanted)
    return wanted


def default_device(backend: Backend) -> Any:
    """The library's own object of the device that new arrays of this backend go to; None: the library's default."""
    device = settings.default.devices.get(backend.name)
    return None if device is None else device.native


def between(source: Backend, target: Backend, a: Native, dlpack: bool) -> Native:
    """A native array of ``target`` with the values of one of ``source``: by DLPack where possible, else a counted copy."""
    if source is target:
        return a
    if not source.is_concrete(a):
        raise TraceError(
            "an array cannot change library while tracing; convert it before the traced function is called."
        )
    if dlpack:
        try:
            moved = target.from_dlpack(source.shareable(a))
            if target.dtype_of(moved) == source.dtype_of(a):
                return moved
        except Exception:  # noqa: BLE001, S110 -- libraries raise many types here (TRAPS 24); the copy below is always right
            pass
    host = source.to_numpy(a)
    if events.tap is not None:
        events.tap.transfer("copy", host.nbytes, f"{source.name} to {target.name} without DLPack")
    return target.from_numpy(host, default_device(target), True)
