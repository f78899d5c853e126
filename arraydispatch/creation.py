"""NumPy's creation functions, which NumPy does not dispatch: the same names and signatures, arrays on the default backend.

What is large is made on the device (``zeros``, ``full``, ``arange``, ``eye``, …); what needs NumPy's own arithmetic to be
exact to the last bit is made by NumPy and moved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import conversion, dtypes, events, settings
from .api import asarray as _to_backend, from_protocol
from .array import Array
from .backends.base import Backend
from .dispatch import functions, wrapping
from .views import Handle

__all__ = [
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray", "empty", "eye", "fromfunction", "full",
    "geomspace", "identity", "indices", "linspace", "logspace", "meshgrid", "ones", "tri", "zeros",
]  # fmt: skip


def _target() -> tuple[Backend, Any]:
    backend = settings.current_backend()
    return backend, conversion.default_device(backend)


def _fresh(dtype: Any) -> np.dtype[Any]:
    return dtypes.apply_precision(np.dtype(dtype), settings.current_precision())


def _filled(shape: Any, value: Any, dtype: Any, by_numpy: Callable[..., Any] | None = None) -> Any:
    backend, device = _target()
    wanted = _fresh(dtype)
    if dtypes.category(wanted) == "other" or not backend.holds(wanted):
        events_left(wanted)
        return np.full(shape, value, wanted) if by_numpy is None else by_numpy(shape, wanted)
    size = np.empty(shape, np.dtype([])).shape if not isinstance(shape, tuple) else shape
    if any(n < 0 for n in size):
        raise ValueError("negative dimensions are not allowed")
    with backend.within():
        made = backend.prim.full(tuple(int(n) for n in size), dtypes.cast_scalar(value, wanted), wanted, device)
    return Array(made, backend.kind(wanted), True)


def events_left(dtype: np.dtype[Any]) -> None:
    """Report that an array stays NumPy because its dtype exists only on the host."""
    if events.tap is not None:
        events.tap.left(f"an array of dtype {dtype}", f"dtype {dtype} exists only on the host")


def _moved(host: Any) -> Any:
    """NumPy's own result on the default backend, floats at the precision in force; host-only dtypes stay."""
    if isinstance(host, list | tuple):
        return type(host)(_moved(x) for x in host)
    wanted = _fresh(host.dtype)
    if dtypes.category(wanted) == "other":
        events_left(wanted)
        return host
    backend, device = _target()
    if not backend.holds(wanted):
        events_left(wanted)
        return host
    value = conversion.upload(
        backend, host.astype(wanted, copy=False), device, "made by NumPy", copy=host.base is not None
    )
    return Array(value, backend.kind(wanted), True)


def zeros(shape: Any, dtype: Any = float, order: Any = "C", *, device: Any = None, like: Any = None) -> Any:
    """As :func:`numpy.zeros`, on the default backend."""
    return _filled(shape, 0, float if dtype is None else dtype, np.zeros)


def ones(shape: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None) -> Any:
    """As :func:`numpy.ones`, on the default backend."""
    return _filled(shape, 1, float if dtype is None else dtype, np.ones)


def empty(shape: Any, dtype: Any = float, order: Any = "C", *, device: Any = None, like: Any = None) -> Any:
    """As :func:`numpy.empty`, on the default backend; the memory holds zeros."""
    return _filled(shape, 0, float if dtype is None else dtype, np.empty)


def full(
    shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", *, device: Any = None, like: Any = None
) -> Any:
    """As :func:`numpy.full`, on the default backend."""
    if isinstance(fill_value, Array | np.ndarray | list | tuple) and np.ndim(fill_value):
        made = _filled(shape, 0, np.asarray(fill_value).dtype if dtype is None else dtype)
        made[...] = fill_value
        return made
    if isinstance(fill_value, Array | np.ndarray):
        dtype = fill_value.dtype if dtype is None else dtype
        fill_value = fill_value.item()
    return _filled(shape, fill_value, np.asarray(fill_value).dtype if dtype is None else dtype)


def arange(*args: Any, dtype: Any = None, device: Any = None, like: Any = None, **kwargs: Any) -> Any:
    """As :func:`numpy.arange`, on the default backend."""
    args = tuple(x.item() if isinstance(x, Array) else x for x in args)
    kwargs = {k: x.item() if isinstance(x, Array) else x for k, x in kwargs.items()}
    return _moved(np.arange(*args, dtype=dtype, **kwargs))


def _spaced(func: Any, start: Any, stop: Any, *args: Any, **kwargs: Any) -> Any:
    if wrapping.find_backend((start, stop, *args, *kwargs.values())) is not None:
        return functions.call(func, (start, stop, *args), kwargs)
    made = func(start, stop, *args, **kwargs)
    return (_moved(made[0]), made[1]) if isinstance(made, tuple) else _moved(made)


def linspace(start: Any, stop: Any, *args: Any, **kwargs: Any) -> Any:
    """As :func:`numpy.linspace`, on the default backend."""
    return _spaced(np.linspace, start, stop, *args, **kwargs)


def logspace(start: Any, stop: Any, *args: Any, **kwargs: Any) -> Any:
    """As :func:`numpy.logspace`, on the default backend."""
    return _spaced(np.logspace, start, stop, *args, **kwargs)


def geomspace(start: Any, stop: Any, *args: Any, **kwargs: Any) -> Any:
    """As :func:`numpy.geomspace`, on the default backend."""
    return _spaced(np.geomspace, start, stop, *args, **kwargs)


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: Any = float,
    order: Any = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    """As :func:`numpy.eye`, on the default backend."""
    return _moved(np.eye(N, M, k, dtype))


def identity(n: int, dtype: Any = None, *, like: Any = None) -> Any:
    """As :func:`numpy.identity`, on the default backend."""
    return _moved(np.identity(n, dtype))


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float, *, like: Any = None) -> Any:
    """As :func:`numpy.tri`, on the default backend."""
    return _moved(np.tri(N, M, k, dtype))


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False) -> Any:
    """As :func:`numpy.indices`, on the default backend."""
    return _moved(np.indices(dimensions, dtype, sparse=sparse))  # type: ignore[call-overload]


def fromfunction(function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any) -> Any:
    """As :func:`numpy.fromfunction`: the function is called once, with index arrays on the default backend."""
    return function(*indices(shape, dtype=dtype), **kwargs)


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    """As :func:`numpy.meshgrid`, on the default backend."""
    if wrapping.find_backend(xi) is not None:
        return functions.call(np.meshgrid, xi, {"copy": copy, "sparse": sparse, "indexing": indexing})
    return _moved(np.meshgrid(*xi, copy=True, sparse=sparse, indexing=indexing))  # type: ignore[call-overload]


# -- from data ---------------------------------------------------------------------------------------------------------


def array(
    object: Any,
    dtype: Any = None,
    *,
    copy: bool | None = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    ndmax: int = 0,
    like: Any = None,
) -> Any:
    """As :func:`numpy.array`, on the default backend; arrays of ours stay on theirs."""
    if isinstance(object, Handle):
        held = object._kind.backend
        made: Any = _to_backend(object, backend=held, dtype=dtype, copy=copy)
    elif isinstance(object, list | tuple) and (held_by := wrapping.find_backend(object)) is not None:
        made = _to_backend(object, backend=held_by, dtype=dtype)
    else:
        if not isinstance(object, np.ndarray | list | tuple):
            object = from_protocol(object)
            if isinstance(object, Handle):
                return array(object, dtype, copy=copy, ndmin=ndmin)
        host = np.array(object, dtype=dtype, copy=None, ndmin=ndmin)
        if dtypes.category(host.dtype) == "other":
            made = np.array(object, dtype=dtype, copy=copy, order=order, subok=subok, ndmin=ndmin)
            events_left(made.dtype)
            return made
        if copy is False:
            raise ValueError("a copy is needed to move NumPy data to the backend; do not pass copy=False.")
        made = _moved(host if host is not object else host.copy())
    if isinstance(made, Handle) and ndmin > len(made.shape):  # type: ignore[attr-defined]
        return made.reshape((1,) * (ndmin - made.ndim) + made.shape)  # type: ignore[attr-defined]
    return made


def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: bool | None = None, like: Any = None
) -> Any:
    """As :func:`numpy.asarray`, on the default backend; an array of ours is returned as it is."""
    return array(a, dtype, copy=copy)


def asanyarray(
    a: Any, dtype: Any = None, order: Any = None, *, device: Any = None, copy: bool | None = None, like: Any = None
) -> Any:
    """As :func:`numpy.asanyarray`, on the default backend."""
    return array(a, dtype, copy=copy)


def ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """As :func:`numpy.ascontiguousarray`, on the default backend."""
    made = array(a, dtype, copy=None, ndmin=1)
    return made if not isinstance(made, Handle) or made.flags.c_contiguous else made.copy()  # type: ignore[attr-defined]


def asfortranarray(a: Any, dtype: Any = None, *, like: Any = None) -> Any:
    """As :func:`numpy.asfortranarray`, on the default backend: the values; libraries have C order only."""
    return array(a, dtype, copy=None)
