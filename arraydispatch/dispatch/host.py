"""Running NumPy on the host, by policy and with a reason: the fourth class of the registry.

Arguments become NumPy arrays (read-only, so that a function that writes and was not declared to write fails loudly),
NumPy runs, floating results get the precision in force, array results go back to the device. Functions declared to
write (``registry.HOST_WRITES``) get copies, which are written back.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .. import conversion, dtypes, events, settings, views
from ..backends.base import Backend, Unsupported
from ..errors import HostFallbackError, HostFallbackWarning
from ..registry import HOST_WRITES, SPECS
from ..views import Handle, native
from ..warned import reporting, warn
from . import small, wrapping


def name_of(func: Any) -> str:
    """``np.linalg.svd`` and the like; a ufunc's own name."""
    if isinstance(func, str):
        return func
    name = getattr(func, "__name__", str(func))
    module = getattr(func, "__module__", None) or "numpy"
    if isinstance(func, np.ufunc):
        module = "numpy"
    return f"{module.replace('numpy', 'np', 1)}.{name}" if module.startswith("numpy") else f"{module}.{name}"


def allow(func: Any, backend: Backend, reason: str) -> None:
    """Warn about, or refuse, a call that has to run on the host."""
    policy = settings.current_fallback()
    if policy == "silent" or backend.native_is_ndarray:
        return
    said = f"{name_of(func)} runs on the host, not on {backend.name}: {reason}."
    if policy == "error":
        raise HostFallbackError(f"{said} {settings.default.allowing}")
    warn(said, HostFallbackWarning)


def refusal(error: Exception) -> str:
    """The reason in what a library said of a call that it does not run."""
    said = str(error) if isinstance(error, Unsupported) else str(getattr(error, "message", error))
    return said.rpartition("}} ")[2].partition(" [Op:")[0].partition("\n")[0]


def call(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], backend: Backend, reason: str) -> Any:
    """Run a NumPy function (or a ufunc's bound method) on the host."""
    if backend.small:
        return small.call(func, args, kwargs)
    allow(func, backend, reason)
    start = time.perf_counter()
    device = wrapping.device_among([*args, *kwargs.values()], backend)
    target = getattr(func, "__self__", func) if isinstance(getattr(func, "__self__", None), np.ufunc) else func
    spec = SPECS.get(target)
    writes: tuple[int, ...] = HOST_WRITES.get(target, (0,) if spec is not None and spec.mode == "update" else ())
    if isinstance(target, np.ufunc) and func is not target and func.__name__ == "at":
        writes = (0,)
    outs = kwargs.get("out")
    copies: list[tuple[Handle, np.ndarray[Any, Any]]] = []

    def to_host(x: Any, written: bool = False) -> Any:
        if isinstance(x, Handle):
            host = conversion.download(x._kind.backend, views.expose(x), f"{name_of(target)} runs on the host")
            if settings.current_precision() in (16, "bf16") and x._kind.dtype.itemsize == 2:
                host = host.astype(dtypes.widen_half(host.dtype))  # NumPy has no linear algebra at 16 bits
            if written:
                wrapping.check_writeable(x)
                host = host.copy()
                copies.append((x, host))
            elif host.flags.writeable:
                host = host.view()
                host.flags.writeable = False
            return host
        if isinstance(x, list | tuple) and any(isinstance(y, Handle | list | tuple) for y in x):
            items = [to_host(y, written) for y in x]
            return type(x)(items) if type(x) in (list, tuple) else type(x)(*items)
        if type(x) is dict:
            return {key: to_host(y, written) for key, y in x.items()}
        if not isinstance(x, np.ndarray) and type(x) not in wrapping.PLAIN and backend.is_native(x):
            return conversion.download(backend, x)
        return x

    hosted = [to_host(x, i in writes) for i, x in enumerate(args)]
    keywords = {key: to_host(x, key == "out") for key, x in kwargs.items()}
    if isinstance(target, np.ufunc):
        name = func.__name__ if func.__name__.startswith(("reduce", "accumulate")) else target.__name__
        result = reporting(lambda: func(*hosted, **keywords), name)
    else:
        result = func(*hosted, **keywords)
    for array, host in copies:
        store(array, host)
    if events.tap is not None:
        events.tap.call(target, backend.name, "host", reason, time.perf_counter() - start)
    if outs is not None:
        return outs[0] if isinstance(outs, tuple) and len(outs) == 1 else outs
    return to_device(result, backend, device)


def store(array: Handle, host: np.ndarray[Any, Any]) -> None:
    """Write host values back into an array."""
    backend = array._kind.backend
    device = backend.device_of(native(array))
    views.assign(array, conversion.upload(backend, host, device, "written back after a host call"))


def to_device(result: Any, backend: Backend, device: Any) -> Any:
    """NumPy's result as the caller sees it; dtypes that exist only on the host, and subclasses, stay NumPy."""
    if wrapping.is_guest(result):
        return result
    if isinstance(result, np.ndarray):
        if not result.dtype.isnative:  # asked for by name: the foreign byte order is what the caller wants
            if events.tap is not None:
                events.tap.left(f"a result of dtype {result.dtype}", f"dtype {result.dtype} exists only on the host")
            return result
        precise = conversion.precise(result.dtype)
        if precise != result.dtype:
            result = result.astype(precise)
        try:
            value = conversion.upload(
                backend, result, device, "the result of a host call", copy=result.base is not None
            )
        except Unsupported as unsupported:
            if events.tap is not None:
                events.tap.left(f"a result of dtype {result.dtype}", str(unsupported))
            return result
        return views.keep_order(views.wrapper(value, backend.kind(backend.dtype_of(value))), result)
    if isinstance(result, list | tuple):
        items = [to_device(x, backend, device) for x in result]
        return type(result)(items) if type(result) in (list, tuple) else type(result)(*items)
    if isinstance(result, np.floating | np.complexfloating):
        return result.astype(dtypes.apply_precision(result.dtype, settings.current_precision()))
    return result
