"""Host calls: permission by the fallback policy, and conversion of results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends.base import Backend, LeftToNumPy
from ..common import callers, events, names
from ..common.errors import HostFallbackError, HostFallbackWarning
from ..common.process_state import process
from ..common.pytrees import mapped
from ..common.user_warnings import warn
from ..memory import views, writing
from ..memory.views import native
from ..runtime import conversion, dtypes, settings
from ..runtime.execution_policy import shapes
from . import wrapping


def allow(func: Any, backend: Backend, reason: str, inside: Callable[[str], bool] = callers.is_core) -> None:
    """Warn about a call that has to run on the host, or raise HostFallbackError, by the fallback policy. Do nothing if no device can run
    it.

    The warning names the first line in a file that is not ``inside``.
    """
    policy = settings.current_fallback()
    if policy == "silent" or backend.native_is_ndarray or isinstance(reason, dtypes.OnlyOnHost):
        return
    said = f"{names.name_of(func)} runs on the host, not on {backend.name}: {reason}."
    if policy == "error":
        raise HostFallbackError(f"{said} {settings.default.allowing}")
    warn(said, HostFallbackWarning, inside)


def refusal(error: Exception) -> str:
    """Return the reason for a library's refusal of a call, from its error."""
    if isinstance(error, LeftToNumPy):
        return error.args[0]
    said = str(getattr(error, "message", error))
    return said.rpartition("}} ")[2].partition(" [Op:")[0].partition("\n")[0]


def store(array: Handle, host: np.ndarray[Any, Any]) -> None:
    """Write host values back into an array."""
    backend = array._kind.backend
    device = backend.device_of(native(array))
    writing.assign(array, conversion.upload(backend, host, device, "written back after a host call"))


def to_device(result: Any, backend: Backend, device: Any) -> Any:
    """Convert NumPy's result for the caller. Arrays of dtypes that exist only on the host, and subclasses of ndarray, stay unchanged."""
    if wrapping.is_guest(result):
        return result
    if isinstance(result, np.ndarray):
        if not result.dtype.isnative:  # asked for by name: the foreign byte order is what the caller wants
            events.left(f"a result of dtype {result.dtype}", dtypes.only_on_host(result.dtype))
            return result
        precise = conversion.precise(result.dtype)
        if precise != result.dtype:
            result = result.astype(precise)
        try:
            held = conversion.of_result(backend, result)
            if backend.hosted and not held.hosted:  # the host is no device of the library
                device = conversion.default_device(held)
            value = conversion.upload(held, result, device, "the result of a host call", copy=result.base is not None)
        except LeftToNumPy as unsupported:
            events.left(f"a result of dtype {result.dtype}", str(unsupported))
            return result
        return views.keep_order(process.wrapper(value, held.kind(held.dtype_of(value))), result)
    if isinstance(result, list | tuple):
        return mapped(lambda x: to_device(x, backend, device), result)
    if isinstance(result, np.floating | np.complexfloating):
        return result.astype(dtypes.apply_precision(result.dtype, settings.current_precision()))
    return result


def placed(host: np.ndarray[Any, Any], held: Backend | None = None) -> Any:
    """Wrap a new ndarray in an `Array`: in the host state if the policy keeps it on the host, else uploaded. Return the ndarray unchanged
    if the backend does not hold its dtype.

    ``held``: the backend of the call's operands.
    """
    if (
        held is not None
        and held.native_is_ndarray
        and settings.default.rules is settings.NO_POLICY
        and not settings.default.overrides
    ):
        kind = held._kinds.get(host.dtype)
        there = not settings.default.min_size or settings.stays_on_host(held.name, host.shape)
        if kind is not None and there and held.holds(host.dtype):
            return process.wrapper(host, kind, True)
    comes_again = held is not None and held.hosted
    wanted = dtypes.apply_precision(host.dtype, settings.current_precision())
    known = dtypes.category(wanted) != "other"  # no library has other dtypes, so none is imported to ask
    if known and (held is None or not held.hosted or not settings.begins_on_host(held.name)):
        held = conversion.beginning(host.shape, wanted)
    if not known or held is None or not held.holds(wanted):
        conversion.left_on_host(wanted)
        return host
    host = host.astype(wanted, copy=False)
    if held.native_is_ndarray:
        return process.wrapper(host, held.kind(wanted), True)
    if comes_again:  # the operands are on the host; if little comes of this upload, such results stay there
        shapes.taken(host.shape, host.nbytes)
    value = conversion.upload(held, host, None, "a result computed on the host", copy=host.base is not None)
    return views.keep_order(process.wrapper(value, held.kind(wanted), True), host)
