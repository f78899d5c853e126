"""Conversion of other objects to arrays, between backends, and back to NumPy."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..array import Array, casts
from ..backends import loader
from ..backends.base import Backend, LeftToNumPy
from ..backends.devices import Device
from ..common.errors import NoBackendFoundError
from ..common.process_state import process
from ..common.pytrees import each_leaf
from ..dispatch import wrapping
from ..dispatch.handover import handed
from ..memory import reshaping, views
from ..memory.views import native
from ..runtime import conversion, dtypes, placement, settings
from .backends import backend_named, default_backend


def wrap(native_array: Any) -> Array:
    """Wrap a native array or an ndarray without conversion. Lists and numbers become arrays held by NumPy; an `Array` is returned itself.

    For a ``tf.Variable`` the current value is wrapped; the array and the variable do not see each other's later assignments. To
    differentiate with respect to the variable, wrap it under the tape.

    Raises
    ------
    NoBackendFoundError
        If the object is not an array and NumPy cannot convert it to one of a numeric dtype.
    """
    if isinstance(native_array, Array):
        return native_array
    found = loader.backend_of(native_array)
    if found is None or isinstance(native_array, np.generic):
        native_array, found = np.asarray(native_array), loader.load("numpy")
    if found.native_is_ndarray and dtypes.category(native_array.dtype) == "other":
        raise NoBackendFoundError(
            f"dtype {native_array.dtype} is not one that arrays are wrapped for; keep it as NumPy has it."
        )
    try:
        kind = found.kind_of(native_array)
    except KeyError as dtype:
        raise NoBackendFoundError(
            f"{found.name!r} arrays of dtype {dtype} are not wrapped; convert to a dtype that NumPy knows first."
        ) from None
    made: Array = process.wrapper(found.value_of(native_array), kind)
    if found.is_staging():
        made._seen = views.INSIDE
    return made


def asarray(obj: Any, *, backend: Any = None, device: Any = None, dtype: Any = None, copy: bool | None = None) -> Array:
    """Convert ``obj`` to an array on the default backend or the one named.

    Parameters
    ----------
    obj : array_like
        Anything ``np.asarray`` takes, arrays of any library, and sequences of these.
    backend : str, Backend or module, optional
        Default: the default backend.
    device : str or Device, optional
        Default: the backend's default device.
    dtype : dtype_like, optional
        Default: NumPy's choice. The precision in force applies to the result.
    copy : bool, optional
        True: always a copy. False: raise if a copy would be needed. None: only if needed.

    Returns
    -------
    Array

    Raises
    ------
    TypeError
        For dtypes that exist only on the host (object, strings, datetimes, structured).
    ValueError
        With ``copy=False`` if a copy is needed.
    """
    if backend is None and device is None:
        target = conversion.beginning((0,), np.dtype(float))
    else:
        target = default_backend() if backend is None else backend_named(backend)
    place = None if device is None else placement.find(target, device)
    wanted = None if dtype is None else np.dtype(dtype)
    source = obj if isinstance(obj, Handle) else None
    if source is None and not isinstance(obj, np.ndarray | np.generic) and loader.backend_of(obj) is not None:
        source = wrap(obj)
    if source is not None:
        return wrapping.beside_writers(_from_array, source, target, place, wanted, copy)
    if isinstance(obj, list | tuple) and _holds_arrays(obj):
        try:
            return wrapping.beside_writers(from_sequence, obj, target, place, wanted)
        except (LeftToNumPy, ValueError):  # strings or objects beside the arrays, or ragged shapes: left to NumPy
            obj = at_host(obj)
    given = obj if isinstance(obj, np.ndarray | list | tuple) else from_protocol(obj, wanted)
    if isinstance(given, Handle):
        return wrapping.beside_writers(_from_array, given, target, place, wanted, copy)
    host = np.asarray(given, None if isinstance(given, np.ndarray | np.generic) else wanted)
    if not host.dtype.isnative:
        host = host.astype(host.dtype.newbyteorder("="))
    wanted = conversion.precise(host.dtype if wanted is None else wanted)
    if copy is False and not (target.native_is_ndarray and host is obj and host.dtype == wanted):
        raise ValueError(
            f"a copy is needed to make an array of backend {target.name!r} of this; do not pass copy=False."
        )
    if dtypes.category(wanted) == "other":
        raise TypeError(f"dtype {wanted} exists only on the host; keep such data in a NumPy array.")
    if host.dtype != wanted:
        host = host.astype(wanted)
    fresh = host is not given and host.base is None  # a buffer: its memory must not be shared
    alias = target.native_is_ndarray and not copy
    target = settings.computing(target)
    value = conversion.upload(
        target, host, None if place is None else place.native, "asarray", copy=not (fresh or alias)
    )
    return views.keep_order(process.wrapper(value, target.kind(target.dtype_of(value)), not alias), host)


def _holds_arrays(obj: Any) -> bool:
    try:
        return wrapping.backend_among(obj) is not None
    except RecursionError:
        if not wrapping.circular(obj):
            raise
    return False  # NumPy raises the error for a list that contains itself


def at_host(x: Any) -> Any:
    """Return an array as an ndarray, and a nested sequence with the arrays in it replaced by ndarrays; any other object unchanged."""
    return handed(x, to_numpy, _native_at_host, dicts=False)


def _native_at_host(x: Any) -> Any:
    return x if loader.backend_of(x) is None else to_numpy(x)


def from_protocol(obj: Any, dtype: Any = None) -> Any:
    """Return the result of an object's ``__array__``, which may be an `Array`, which NumPy would refuse. Return an object without
    ``__array__``, a type and an array itself.
    """
    if isinstance(obj, np.generic | np.ndarray | Handle | type) or not hasattr(type(obj), "__array__"):
        return obj
    # Called by name, because a user's class under the launcher accepts an `Array` only then.
    return obj.__array__() if dtype is None else obj.__array__(np.dtype(dtype))


def _from_array(source: Handle, target: Backend, place: Device | None, wanted: Any, copy: bool | None) -> Array:
    held = source._kind.backend
    if held.home is target and not (held.hosted and place is not None):
        target = held
    casts_it = wanted is not None and wanted != source._kind.dtype
    if casts_it and held is target and place is None and copy is not False and views.outgrows(source):
        cast: Array = casts.astype(source, wanted, "K", "unsafe", True)  # so that the whole is not converted first
        return cast
    with target.within():
        value = views.expose(source)
        if held is not target:
            if copy is False:
                raise ValueError(
                    f"a copy is needed to go from {held.name!r} to {target.name!r}; do not pass copy=False."
                )
            value = conversion.between(held, target, value, dlpack=False)
        moved = value if place is None else placement.move(value, target, place)
        have = target.dtype_of(moved)
        to = have if wanted is None else conversion.precise(wanted)
        if to != have or moved is not value:
            if copy is False:
                raise ValueError("another dtype or device needs a copy; do not pass copy=False.")
            return process.wrapper(target.prim.astype(moved, to), target.kind(to))
        if held is target and not copy:
            return source  # type: ignore[return-value]
        if held is target:
            moved = target.prim.copy(moved)
    return process.wrapper(moved, target.kind(have))


def from_sequence(obj: Any, target: Backend, place: Device | None, wanted: Any) -> Array:
    """Convert a sequence that contains arrays; raise :class:`Unsupported` if it also contains host-only values.

    ``target``, ``place``: backend and device of the result (None: the device of the arrays). ``wanted``: dtype, or None.
    """
    held = wrapping.backend_among(obj) or target
    with held.within():
        rows = wrapping.to_native(wrapping.asked(obj), held, wrapping.device_among(obj, held))
        stacked = held.xp.asarray(rows)
        have = held.dtype_of(stacked)
        to = conversion.precise(have if wanted is None else wanted)
        made = process.wrapper(held.prim.astype(stacked, to), held.kind(to))
    return made if held is target and place is None else _from_array(made, target, place, None, None)


def convert(x: Any, target: Any = None, *, dlpack: bool = True) -> Array:
    """Convert an array to another backend.

    Parameters
    ----------
    x : Array or native array
        Array to convert.
    target : str, Backend, module or None
        Target backend: ``"torch"``, the module ``torch``, a backend; None: the current default.
    dlpack : bool
        Share memory through DLPack where the two libraries and the device allow it. After sharing, do not write to the
        source if the target's library treats its arrays as immutable; arrays from such a library are read-only after
        conversion. False: a copy through the host, which is reported.

    Returns
    -------
    Array
        ``x`` itself (wrapped) if it is on the target already.
    """
    source = wrap(x)
    to = default_backend() if target is None else backend_named(target)
    if source._kind.backend.home is to.home:
        return source
    given = reshaping.handed_over(source) if dlpack and to.home.mutable else views.expose(source)
    held = source._kind.backend
    with held.within(), to.within():
        value = conversion.between(held, to, given, dlpack)
        return process.wrapper(value, to.kind(to.dtype_of(value)))


def to_numpy(x: Any) -> np.ndarray[Any, Any]:
    """Return the values as an ndarray; memory is shared if the library can (then read-only if its arrays are immutable)."""
    if isinstance(x, Array):
        return x.to_numpy()
    found = loader.backend_of(x)
    if found is None or isinstance(x, np.generic):
        return np.asarray(x)
    return conversion.download(found, x, "to_numpy")


def synchronize(*trees: Any) -> None:
    """Wait until arrays are computed; without arguments, until all loaded libraries are idle.

    Parameters
    ----------
    *trees
        Arrays, wrapped or native, or containers with arrays in them: lists, tuples, named tuples, dicts and
        dataclasses, also nested. (NumPy's arrays and scalars are computed already.)

    Raises
    ------
    TypeError
        For an argument without arrays: there is nothing to wait for.
    """
    if not trees:
        for each in loader.loaded():
            each.synchronize()
        return
    waiting: dict[Backend, list[Any]] = {}
    for tree in trees:
        arrays = [x for x in each_leaf(tree) if isinstance(x, Handle | np.generic) or loader.backend_of(x) is not None]
        if not arrays:
            raise TypeError(f"there is no array to wait for in {type(tree).__name__} {reprlib.repr(tree)}.")
        for x in arrays:
            found = x._kind.backend if isinstance(x, Handle) else loader.backend_of(x)
            if found is not None:
                waiting.setdefault(found, []).append(native(x) if isinstance(x, Handle) else x)
    for found, natives in waiting.items():
        found.synchronize(*natives)
