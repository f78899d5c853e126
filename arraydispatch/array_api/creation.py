"""The standard's creation functions. Each takes the backend as first argument; devices are the backend's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core import handles
from ..api import public
from ..array import Array
from ..array.scalar import Scalar
from ..backends.base import Backend
from ..memory import reshaping, views
from ..runtime import conversion, dtypes, placement, settings

_made: Callable[..., Array] = handles.maker(Array)


def standard(x: Array) -> Array:
    """Return a view of an array as an array of a namespace: each sees writes to the other. For a scalar, return a 0-d array."""
    kind = x._kind.backend.standard_kind(x._kind.dtype)
    if isinstance(x, Scalar):
        return _made(views.expose(x), kind)
    made: Array = views.derive(x, views.ghost(x)[...])
    made._kind = kind
    return made


def _native_device(backend: Backend, device: Any) -> Any:
    return conversion.default_device(backend) if device is None else placement.find(backend, device).native


def _fresh(dtype: Any) -> np.dtype[Any]:
    return dtypes.apply_precision(np.dtype(dtype), settings.current_precision())


def _filled(backend: Backend, shape: Any, value: Any, dtype: Any, device: Any) -> Array:
    wanted = _fresh(dtype)
    size = np.empty(shape, np.dtype([])).shape  # raises NumPy's own errors
    with backend.within():
        made = backend.prim.full(size, dtypes.cast_scalar(value, wanted), wanted, _native_device(backend, device))
    return _made(made, backend.standard_kind(wanted), True)


def _moved(backend: Backend, host: np.ndarray[Any, Any], device: Any) -> Array:
    """Move an array that NumPy created to the device."""
    wanted = _fresh(host.dtype)
    value = conversion.upload(
        backend,
        host.astype(wanted, copy=False),
        _native_device(backend, device),
        "made by NumPy",
        copy=host.base is not None,
    )
    return _made(value, backend.standard_kind(wanted), True)


def _number(x: Any) -> Any:
    """Return the value of a 0-d array given in place of a number; return any other object itself."""
    return x.item() if isinstance(x, Array) else x


def asarray(backend: Backend, obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Array:
    """Create an array with the values of ``obj``: numbers, sequences of them, or any kind of array."""
    if isinstance(obj, Scalar):
        obj = standard(obj)
    made = public.asarray(obj, backend=backend, device=device, dtype=dtype, copy=copy)
    if made._kind.standard:
        return made
    if made is obj:
        return standard(made)
    made._kind = made._kind.backend.standard_kind(made._kind.dtype)
    return made


def zeros(backend: Backend, shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Create an array of zeros."""
    return _filled(backend, shape, 0, float if dtype is None else dtype, device)


def ones(backend: Backend, shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Create an array of ones."""
    return _filled(backend, shape, 1, float if dtype is None else dtype, device)


def empty(backend: Backend, shape: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Create an array whose values the standard leaves unspecified; they are zeros."""
    return _filled(backend, shape, 0, float if dtype is None else dtype, device)


def full(backend: Backend, shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Create an array filled with one value; without ``dtype``, the dtype follows from the value."""
    value = _number(fill_value)
    if dtype is None:
        dtype = fill_value.dtype if isinstance(fill_value, Array) else np.asarray(value).dtype
    return _filled(backend, shape, value, dtype, device)


def _like(backend: Backend, x: Any, value: Any, dtype: Any, device: Any) -> Array:
    given = x if isinstance(x, Array) else asarray(backend, x)
    held = given._kind.backend
    place = given.device if device is None else device
    return _filled(held, given.shape, value, given.dtype if dtype is None else dtype, place)


def zeros_like(backend: Backend, x: Any, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Create an array of zeros with the shape, dtype and device of ``x``."""
    return _like(backend, x, 0, dtype, device)


def ones_like(backend: Backend, x: Any, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Create an array of ones with the shape, dtype and device of ``x``."""
    return _like(backend, x, 1, dtype, device)


def empty_like(backend: Backend, x: Any, /, *, dtype: Any = None, device: Any = None) -> Array:
    """Create an array whose values the standard leaves unspecified, with the shape, dtype and device of ``x``."""
    return _like(backend, x, 0, dtype, device)


def full_like(backend: Backend, x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Array:
    """Create an array filled with one value, with the shape, dtype and device of ``x``."""
    return _like(backend, x, _number(fill_value), dtype, device)


def arange(
    backend: Backend, start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Array:
    """Return evenly spaced values from ``start`` up to, not including, ``stop``."""
    first, last, by = _number(start), _number(stop), _number(step)
    if last is None:
        first, last = 0, first
    return _moved(backend, np.arange(first, last, by, dtype=dtype), device)


def linspace(
    backend: Backend, start: Any, stop: Any, /, num: int, *, dtype: Any = None, device: Any = None,
    endpoint: bool = True,
) -> Array:  # fmt: skip
    """Return ``num`` evenly spaced values from ``start`` to ``stop``."""
    made = np.linspace(_number(start), _number(stop), num, endpoint, dtype=dtype)
    return _moved(backend, made, device)


def eye(
    backend: Backend, n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: Any = None,
) -> Array:  # fmt: skip
    """Return a matrix with ones on the ``k``-th diagonal and zeros elsewhere."""
    return _moved(backend, np.eye(n_rows, n_cols, k, dtype=float if dtype is None else dtype), device)


def meshgrid(backend: Backend, *arrays: Any, indexing: str = "xy") -> tuple[Any, ...]:
    """Return coordinate arrays from one-dimensional coordinates."""
    given = [standard(x) if isinstance(x, Array) else asarray(backend, x) for x in arrays]
    return tuple(np.meshgrid(*given, indexing=indexing))  # type: ignore[call-overload]


def from_dlpack(backend: Backend, x: Any, /, *, device: Any = None, copy: bool | None = None) -> Array:
    """Return the array of a DLPack exporter, sharing its memory where the backend can.

    Raises
    ------
    BufferError
        With ``copy=False`` if a copy is needed.
    """
    source = x if isinstance(x, Array) else None
    if source is not None and source._kind.backend is backend:
        same = device is None or placement.find(backend, device) == source.device
        if copy is False and not same:
            raise BufferError("another device needs a copy; do not pass copy=False.")
        return asarray(backend, source, device=device, copy=True if copy else None)
    held = None if source is None else source._kind.backend
    if isinstance(x, np.ndarray) and not x.flags.writeable and not backend.native_is_ndarray:
        if copy is False:
            raise BufferError(
                "read-only memory needs a copy, because arrays here can be written; do not pass copy=False."
            )
        x = x.copy()
    with backend.within():
        try:
            value = backend.from_dlpack(x if source is None or held is None else reshaping.handed_over(source))
        except Exception as error:  # libraries raise many types here
            if copy is False:
                raise BufferError(f"{backend.name} cannot share this memory: {error}") from error
            value = conversion.upload(backend, np.from_dlpack(x, copy=None), _native_device(backend, device), "DLPack")
        if device is not None:
            moved = placement.move(value, backend, device)
            if copy is False and moved is not value:
                raise BufferError("another device needs a copy; do not pass copy=False.")
            value = moved
        if copy:
            value = backend.prim.copy(value)
    return _made(value, backend.standard_kind(backend.dtype_of(value)))


FUNCTIONS = (
    arange, asarray, empty, empty_like, eye, from_dlpack, full, full_like, linspace, meshgrid, ones, ones_like, zeros,
    zeros_like,
)  # fmt: skip
