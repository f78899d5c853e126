"""Native values in and out of arrays, the choice of backend, and scalars."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import conversion, dtypes, events, settings, views
from ..backends import loader
from ..backends.base import Backend, Kind, Native, Unsupported
from ..errors import BackendMismatchError, DeviceMismatchError
from ..registry import Returns
from ..ufuncs.plans import check_shapes
from ..views import Handle, native
from ..warned import warn_of_cast

scalar_class: Any = None
"""The class of scalars on a device: handed in by the array layer."""

PLAIN = frozenset({
    int, float, complex, bool, str, bytes, type(None), type, np.dtype, slice, type(Ellipsis), np.bool_, np.float64, np.float32,
    np.int64, np.int32, type(np._NoValue),
})  # fmt: skip
"""Types that are never arrays and hold none."""


# -- choosing ----------------------------------------------------------------------------------------------------------


def find_backend(values: Iterable[Any], found: Backend | None = None) -> Backend | None:
    """The backend of the arrays in ``values``, sequences and dicts searched; an ML library wins over NumPy.

    Raises
    ------
    BackendMismatchError
        If arrays of two ML libraries are there.
    """
    for x in values:
        cls = type(x)
        if cls in PLAIN:
            continue
        if isinstance(x, Handle):
            backend: Backend | None = x._kind.backend
        elif cls is list or cls is tuple or isinstance(x, list | tuple):
            found = find_backend(x, found)
            continue
        elif cls is dict:
            found = find_backend(x.values(), found)
            continue
        elif isinstance(x, np.ndarray | np.generic):
            continue
        else:
            backend = loader.backend_of(x)
        if backend is None or backend is found:
            continue
        if found is None or found.native_is_ndarray:
            found = backend
        elif not backend.native_is_ndarray:
            raise mismatch(found, backend)
    return found


def mismatch(one: Backend, other: Backend) -> BackendMismatchError:
    """The error for two ML libraries in one call."""
    return BackendMismatchError(
        f"arrays of {one.name!r} and {other.name!r} met in one call; "
        f"convert one first, for instance with arraydispatch.convert(x, {one.name!r})."
    )


def is_guest(x: Any) -> bool:
    """Whether ``x`` is of a subclass of ndarray with rules of its own (matrix, masked, a user's): NumPy computes with it."""
    return isinstance(x, np.ndarray) and type(x) not in _OWN


GUEST = "a subclass of ndarray computes on the host"
_OWN = frozenset({np.ndarray, np.memmap})


# -- unwrapping --------------------------------------------------------------------------------------------------------


def to_native(x: Any, backend: Backend, device: Any) -> Any:
    """An argument as the backend's bodies take it: arrays become native arrays on ``device``, the rest stays."""
    if type(x) in PLAIN:
        return x
    if isinstance(x, Handle):
        if x._kind.backend is backend:
            return native(x)
        if backend.native_is_ndarray:  # a key or an assigned value: the array written or read is NumPy's
            return conversion.download(x._kind.backend, native(x), "it met a NumPy-held array")
        if x._kind.backend.small:
            return conversion.lift(backend, native(x), device)
        return conversion.upload(backend, native(x), device, "a NumPy-held array met an array on the device")
    if isinstance(x, np.ndarray):
        if dtypes.category(x.dtype) == "other":
            if backend.native_is_ndarray:  # other backends find out where they need an array
                raise Unsupported(f"dtype {x.dtype} exists only on the host")
            return x
        return conversion.upload(backend, x, device, "a NumPy array met an array on the device")
    if isinstance(x, list | tuple):
        items = [to_native(y, backend, device) for y in x]
        if type(x) in (list, tuple):
            return type(x)(items)
        return type(x)(*items) if hasattr(x, "_fields") else items
    if type(x) is dict:
        return {key: to_native(y, backend, device) for key, y in x.items()}
    return x


def first_array(values: Iterable[Any], backend: Backend) -> Native | None:
    """A native array of the backend among the values: it tells the device."""
    for x in values:
        if isinstance(x, Handle):
            if x._kind.backend is backend:
                return native(x)
        elif isinstance(x, list | tuple):
            found = first_array(x, backend)
            if found is not None:
                return found
        elif type(x) not in PLAIN and backend.is_native(x):
            return x
    return None


def device_among(values: Iterable[Any], backend: Backend) -> Any:
    """The library's own device object of the arrays among the values."""
    array = first_array(values, backend)
    return None if array is None else backend.device_of(array)


# -- wrapping ----------------------------------------------------------------------------------------------------------


def wrap(value: Native, kind: Kind) -> Any:
    """An array around a native value."""
    return views.wrapper(value, kind)


def scalar(value: Native, kind: Kind) -> Any:
    """What NumPy's scalar results become: NumPy's own scalar on a CPU device, else a ``Scalar`` on the device."""
    if settings.current_rules().scalars == "numpy":
        made = kind.scalar(value)
        if made is not None:
            return made
    return device_scalar(value, kind)


def device_scalar(value: Native, kind: Kind) -> Any:
    """A 0-d result that stays on the device: immutable as NumPy's scalars are, or what the array-API standard has."""
    if not kind.standard:
        return scalar_class(value, kind)
    return views.wrapper(np.asarray(value) if kind.backend.native_is_ndarray else value, kind)


def is_standard(values: Iterable[Any]) -> bool:
    """Whether an array among the values, sequences searched, was made by an array-API namespace."""
    return any(
        x._kind.standard if isinstance(x, Handle) else isinstance(x, list | tuple) and is_standard(x) for x in values
    )


def wrap_result(
    value: Any, backend: Backend, returns: Returns, precision: settings.Precision, standard: bool = False
) -> Any:
    """A body's result as the caller sees it: native arrays wrapped, 0-d ones made scalars where NumPy's are."""
    if backend.is_native(value):
        if standard:
            wanted = dtypes.apply_precision(backend.dtype_of(value), precision)
            return device_scalar(backend.prim.astype(value, wanted), backend.standard_kind(wanted))
        if precision is None:
            if value.ndim or returns != "scalar":
                return views.wrapper(value, backend.kind_of(value))
            return scalar(value, backend.kind_of(value))
        dtype = backend.dtype_of(value)
        wanted = dtypes.apply_precision(dtype, precision)
        if wanted is not dtype and wanted != dtype:
            if events.tap is not None:
                events.tap.cast(dtype, wanted)
            value, dtype = backend.prim.astype(value, wanted), wanted
        kind = backend.kind(dtype)
        if returns == "scalar" and not backend.shape_of(value):
            return scalar(value, kind)
        return views.wrapper(value, kind)
    if isinstance(value, np.generic) and returns != "any" and backend.holds(value.dtype):
        return wrap_result(backend.from_numpy(np.asarray(value)), backend, returns, precision, standard)
    if isinstance(value, list | tuple):
        items = [wrap_result(x, backend, returns, precision, standard) for x in value]
        return type(value)(items) if type(value) in (list, tuple) else type(value)(*items)
    return value


def write_out(out: Any, value: Native, backend: Backend, casting: Any = "same_kind", fresh: bool = False) -> Any:
    """Write a native result into ``out=`` (an array of ours, or an ndarray) and return that same object."""
    have = backend.dtype_of(value)
    want = out.dtype
    if not np.can_cast(have, want, casting):
        raise TypeError(f"Cannot cast output from {have!r} to {want!r} with casting rule {casting!r}")
    if out.shape != backend.shape_of(value):
        raise ValueError(f"output array has shape {out.shape}, the result has shape {backend.shape_of(value)}")
    if warn_of_cast(have, want):
        value = backend.prim.real(value)
    if isinstance(out, Handle):
        check_writeable(out)
        if out._kind.backend is backend:
            views.assign(out, backend.prim.astype(value, want), fresh)
        else:
            views.assign(out, conversion.download(backend, value, "out= is a NumPy-held array").astype(want))
    else:
        np.copyto(out, conversion.download(backend, value, "out= is a NumPy array"), casting="unsafe")
    return out


def zero_d(scalar: Handle) -> Any:
    """A 0-d array of a scalar's value, with memory of its own."""
    backend = scalar._kind.backend
    with backend.within():
        value = backend.prim.copy(native(scalar)) if backend.mutable else views.expose(scalar)
    return views.wrapper(value, scalar._kind)


def check_writeable(a: Handle, what: str = "assignment destination is read-only") -> None:
    """Raise NumPy's error for a read-only array, or for a scalar, which is none."""
    if issubclass(type(a), scalar_class):
        raise TypeError(f"a scalar ({a._kind.dtype}) cannot be written; an array is expected")
    if a._kind.backend.mutable:
        a._kind.backend.check_writeable(views.owner(a)._v)
    if a._ghost is not None and not a._ghost.flags.writeable:
        raise ValueError(what)


# -- errors ------------------------------------------------------------------------------------------------------------


def check_devices(operands: Iterable[Any], backend: Backend) -> None:
    """Raise :class:`DeviceMismatchError` if native operands are on two devices."""
    devices = []
    for x in operands:
        if backend.is_native(x):
            device = backend.device_of(x)
            if device is not None and device not in devices:
                devices.append(device)
    if len(devices) > 1:
        names = " and ".join(str(d) for d in devices)
        raise DeviceMismatchError(f"arrays on {names} met in one call; move one first, with its to_device method.")


def check_operands(operands: tuple[Any, ...], backend: Backend) -> None:
    """Raise NumPy's broadcast error, or the device error, if that is why the library refused."""
    check_shapes(operands, backend)
    check_devices(operands, backend)


def tapped() -> events.Listener | None:
    """The installed listener."""
    return events.tap
