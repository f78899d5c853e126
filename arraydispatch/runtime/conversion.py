"""Transfers between NumPy and the libraries, and between libraries. Every transfer is reported to ``events``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..backends import loader
from ..backends.base import Backend, Native, Unsupported
from ..common import events, tracing
from ..common.buffers import axes_by_stride
from ..common.errors import TraceError
from . import dtypes, settings
from .execution_policy import shapes


def upload(backend: Backend, x: np.ndarray[Any, Any], device: Any = None, why: str = "", copy: bool = True) -> Native:
    """Return a native array with an ndarray's values; raise :class:`Unsupported` for dtypes that exist only on the host.

    ``why``: reason in the report. ``copy=False``: nothing else refers to the ndarray, so the library may take over its memory.
    """
    if not x.dtype.isnative:
        x = x.astype(x.dtype.newbyteorder("="))
    if dtypes.category(x.dtype) == "other":
        raise Unsupported(dtypes.only_on_host(x.dtype))
    if device is None and not backend.native_is_ndarray:
        device = default_device(backend)
    if x.dtype.char in "qQ":  # C's long long, whose dtypes equal int64 and uint64 but are distinct types
        x = x.view(np.dtype(x.dtype.str))
    made = backend.from_numpy(x, device, copy)
    _remembered(made, x)
    if events.tap is not None and not backend.native_is_ndarray:
        events.tap.transfer("to_device", x.nbytes, why, x if copy else None)
    return made


def left_on_host(dtype: np.dtype[Any]) -> None:
    """Report that an array is kept on the host because no device has its dtype."""
    events.left(dtypes.array_of(dtype), dtypes.only_on_host(dtype))


def _remembered(made: Native, x: np.ndarray[Any, Any]) -> None:
    """Remember ``x``, the values of the native array ``made``, in the running traces, if they are integers or booleans, which may decide a
    shape.
    """
    if x.dtype.kind in "biu" and tracing.entered():
        tracing.remember(made, x.copy())


REMEMBERED = 1 << 16
"""Size in bytes of values up to which :func:`lift` remembers the native array that it has made of them."""


def lift(backend: Backend, x: np.ndarray[Any, Any], device: Any) -> Native:
    """Return the values of an array in the host state as a read-only native array, uploading the constants of a loop
    once.

    The cache is keyed by the values, not by the array, which may be written in between. The result aliases host memory
    where the library can. Of a broadcast array only the elements that it repeats are uploaded, and broadcast in the library: NumPy's
    iterator ignores broadcast axes when it chooses the memory order of results, but a copy of the whole array would have an order.
    """
    if 0 in x.strides and any(n > 1 and not step for n, step in zip(x.shape, x.strides)):
        once = x[tuple(slice(None if step else 1) for step in x.strides)]
        with backend.within():
            return backend.prim.broadcast_to(lift(backend, once, device), x.shape)
    if backend.mutable:
        made = backend.from_numpy(x, device, False)
        _remembered(made, x)
        if events.tap is not None and not backend.on_cpu(made):
            events.tap.transfer("to_device", x.nbytes, events.HELD, x)
        return made
    if x.nbytes > REMEMBERED:
        shapes.taken(x.shape, x.nbytes)
        return upload(backend, x, device, events.HELD)
    try:
        return _lifted(backend, x.tobytes(), x.dtype, x.shape, device)
    except _OfAProgram as made:
        return made.args[0]


class _OfAProgram(Exception):
    """Raised with the native array of a constant while a program is traced: the array is not valid outside of the program, and must not be
    cached.
    """


@lru_cache(maxsize=256)
def _lifted(backend: Backend, data: bytes, dtype: np.dtype[Any], shape: tuple[int, ...], device: Any) -> Native:
    host = np.frombuffer(data, dtype).reshape(shape)
    made = upload(backend, host, device, events.HELD)
    if not backend.is_concrete(made):
        raise _OfAProgram(made)
    return made


def download(backend: Backend, a: Native, why: str = "") -> np.ndarray[Any, Any]:
    """Return the values as an ndarray; memory is shared where the library can. ``why``: reason in the report or error.

    Raises
    ------
    TraceError
        If the value is not concrete, because a library is tracing.
    """
    if not backend.is_concrete(a):
        raise tracing.refusal(why)
    host = backend.to_numpy(a)
    if events.tap is not None and not backend.native_is_ndarray:
        events.tap.transfer("to_host", host.nbytes, why, host)
    return host


def beginning(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Backend:
    """Return the backend that holds the value of a new array: the host state on a CPU or for a small array, if the backend
    has one.

    The library need not have been imported. Arrays of dtypes without NumPy arithmetic start in the library.
    """
    if settings.default.min_size and settings.current_precision() not in (16, "bf16"):
        host = loader.hosted(settings.current_name())
        if host.holds(dtype) and settings.stays_on_host(host.name, shape):
            return host
    return settings.current_backend()


def shared(backend: Backend, a: Native) -> np.ndarray[Any, Any]:
    """Return an ndarray over the memory of a native array in host memory. Its WRITEABLE flag can be set, unlike that of ``to_numpy``'s
    result.
    """
    seen = backend.to_numpy(a)
    if not seen.flags.c_contiguous:
        # NumPy asks the owner of the memory whether an array may be made writeable only if the array is contiguous.
        order = axes_by_stride(seen.strides)
        lines = seen.transpose(order)
        if lines.flags.c_contiguous:
            return np.asarray(lines.data).transpose(np.argsort(order))
    return np.asarray(seen.data)


def of_result(backend: Backend, x: np.ndarray[Any, Any]) -> Backend:
    """Return the backend for a result that NumPy computed on behalf of ``backend``: its host state, or the backend that computes on
    arrays in the library.
    """
    if settings.default.min_size and settings.on_cpu(backend.name) and settings.current_precision() not in (16, "bf16"):
        held = loader.hosted(backend.name)
        if held.holds(x.dtype) and settings.stays_on_host(backend.name, x.shape):
            return held
    return settings.computing(backend.home)


def precise(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype that a fresh value of ``dtype`` has under the precision in force; report a cast if that is another dtype."""
    wanted = dtypes.apply_precision(dtype, settings.current_precision())
    if events.tap is not None and wanted != dtype:
        events.tap.cast(dtype, wanted)
    return wanted


def default_device(backend: Backend) -> Any:
    """Return the library's object for the device of new arrays of this backend; None stands for the library's default."""
    device = settings.default.devices.get(backend.name)
    return None if device is None else device.native


def between(source: Backend, target: Backend, a: Native, dlpack: bool) -> Native:
    """Convert a native array of ``source`` to one of ``target``: by DLPack if ``dlpack`` and possible, else by a copy, which is reported.
    Return ``a`` itself if both are the same; raise TraceError while ``source`` is tracing.
    """
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
        except Exception:  # noqa: BLE001, S110 -- libraries raise many types here; the copy below is always right
            pass
    host = source.to_numpy(a)
    if events.tap is not None:
        events.tap.transfer("copy", host.nbytes, f"{source.name} to {target.name} without DLPack")
    return target.from_numpy(host, default_device(target), True)
