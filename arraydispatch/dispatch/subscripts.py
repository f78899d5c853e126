"""``x[key]`` and ``x[key] = value``. Basic keys give views, which NumPy determines on ghosts; other keys gather and scatter."""

from __future__ import annotations

import math
import operator
import time
from contextlib import nullcontext
from typing import Any

import numpy as np

from .._core.handles import Handle
from .._core.machine import address_of
from ..backends import loader
from ..backends.base import Backend
from ..backends.kinds import Kind
from ..common import buffers, events, tracing
from ..common.arguments import PLAIN
from ..common.errors import TraceError, listed
from ..common.process_state import process
from ..common.user_warnings import real_of, reporting
from ..functions import indexing
from ..functions.operands import cast_into
from ..memory import views, writing
from ..memory.views import ghost, native
from ..runtime import conversion, dtypes, settings
from ..runtime.execution_policy import shapes
from . import host_fallback as host, host_results, host_values, memory_order, parts, shortcuts, wrapping
from .handover import handed


def _has_native_view(a: Handle, key: Any) -> bool:
    """Whether the library's own ``a[key]`` may serve as the view. False for a read-only array, whose views must be read-only ghosts."""
    if not a._kind.backend.native_views or a._root is not None:
        return False
    if a._ghost is not None and not buffers.is_writeable(a._ghost):
        return False
    if type(key) is not tuple:
        return type(key) is not slice or key.step is None or key.step > 0
    if key.count(Ellipsis) > 1:  # torch accepts it
        return False
    return not any(type(k) is slice and k.step is not None and k.step <= 0 for k in key)


def _simplify(key: Any) -> Any:
    """Return a key with integers in place of 0-d integer arrays, whose values are read, and of objects with ``__index__``."""
    if isinstance(key, tuple):  # a named one too
        return tuple(_simplify(k) for k in key)
    if isinstance(key, Handle) and key._kind.dtype.kind in "iu" and not ghost(key).shape:
        holder, value = views.held(key)
        if holder.backend.is_concrete(value):
            return int(holder.backend.item(value))
    if issubclass(type(key), np.ndarray) and key.dtype.kind in "iu" and not key.shape:
        return int(key)
    if isinstance(key, list) and wrapping.find_backend(key) is not None:
        return [_simplify(k) for k in key]
    kind = type(key)
    if kind not in (bool, list) and hasattr(kind, "__index__") and not hasattr(kind, "__array__"):
        return operator.index(key)
    return key if kind is range else buffers.seen(key)


def _holds_array(key: Any) -> bool:
    """Whether a key of integers contains a 0-d array: then NumPy's result is a copy."""
    return any(
        isinstance(k, Handle | np.ndarray) and not isinstance(k, wrapping.scalar_class)
        for k in (key if isinstance(key, tuple) else (key,))
    )


def _copied(view: Handle) -> Any:
    kind, value = views.held(view)
    with kind.backend.within():
        return process.wrapper(kind.backend.prim.copy(value), kind, True)


_FEWEST_AXES = 32
"""Maximum number of axes in every version of NumPy; libraries allow more."""


def getitem(a: Handle, key: Any) -> Any:
    """Return ``a[key]``."""
    if a._kind.backend.hosted:
        return host_values.take(a, key)
    if settings.default.min_size and parts.belongs_to_host(a, key):
        parts.settle(a, "its elements are read one by one")
        return host_values.take(a, key)
    copies = a._kind.backend.defers and (not parts.is_basic(key) or parts.whole_integers(key, ghost(a).ndim))
    if copies and shortcuts.bring((a, key)):
        return host_values.take(a, key)
    view = shortcuts.part(a, key)
    if view is not None:
        return view
    tap = events.tap
    start = time.perf_counter() if tap is not None else 0.0
    if not parts.is_basic(key):
        simple = _simplify(key)
        if parts.is_basic(simple) and _holds_array(key):
            made = getitem(a, simple)
            return _copied(made) if isinstance(made, Handle) and ghost(made).base is not None else made
        key = simple
    if parts.is_basic(key):
        if _has_native_view(a, key):
            with (
                views.exchange
            ):  # so that no thread moves the array and its views to the host before this view is registered
                kind = a._kind
                if kind.backend.hosted:
                    return host_values.take(a, key)
                refused: Exception | None = None
                try:
                    value = a._v[key]
                except (IndexError, ValueError) as error:
                    refused = error
                if refused is not None:  # outside `except`, so that NumPy's error has no context of ours
                    ghost(a)[key]
                    raise refused
                if value.ndim > _FEWEST_AXES:
                    ghost(a)[key]  # raises NumPy's error for too many axes
                if value.ndim or key is Ellipsis or (type(key) is tuple and Ellipsis in key):
                    return views.derive_native(a, value)
            result = _scalar_copy(kind, value)
        else:
            made = ghost(a)[key]
            if isinstance(made, np.ndarray):
                return views.derive(a, made)
            result = _element(a, key)
        name, how = events.ELEMENT, "native"
    elif parts.is_picked_on_host(a, key):
        return _picked(a, key)
    else:
        name, backend = "__getitem__", a._kind.backend
        try:
            result, how, reason = _gather(a, key, backend), "native", ""
        except backend.REFUSALS as refused:
            how, reason = "host", host_results.refusal(refused)
        if how == "host":  # outside `except`, so that NumPy's error has no context of ours
            return host.call(np.ndarray.__getitem__, (a, key), {}, backend, reason)
    if tap is not None:
        tap.call(name, a._kind.backend.name, how, "", time.perf_counter() - start, result)
    return result


def _picked(a: Handle, key: Any) -> Any:
    """Return ``a[key]``, computed by NumPy on the library's array in host memory, as an array in the host state."""
    start = time.perf_counter()
    kind, x = views.held(a)
    picked = np.asarray(kind.backend.to_numpy(x)[_host_key(key)])
    shapes.decided_by_values(picked.shape)
    made = memory_order.of_index(host_results.placed(picked, loader.hosted(kind.backend.name)), a, key)
    if events.tap is not None:
        events.tap.call("__getitem__", kind.backend.name, "hosted", "", time.perf_counter() - start, picked)
    return made


def _element(a: Handle, key: Any) -> Any:
    """Return one element: a copy, never a view."""
    kind = a._kind
    backend = kind.backend
    for_numpy = not kind.standard and settings.current_scalars() == "numpy"
    root = views.owner(a)
    value = native(root)
    if a._kind is not kind:  # another thread has brought it to the host meanwhile
        return getitem(a, key)
    try:
        if for_numpy and backend.shows_scalars(value):  # a view is not computed for a single element
            seen = views.located(a, backend.to_numpy(value))
            if seen is None and not views.outgrows(a):
                seen = backend.to_numpy(native(a))
            if seen is not None:
                return seen[key]
    except Exception:
        if a._kind is not kind:
            return getitem(a, key)
        if not views.replaced(root, value):
            raise
        return _element(a, key)
    items = key if type(key) is tuple else (key,)
    made = views.derive(a, ghost(a)[(*items, ...)])
    return _scalar_copy(*views.held(made))


def _scalar_copy(kind: Kind, value: Any) -> Any:
    """Copy a scalar, so that later writes to the array do not change it."""
    if settings.current_scalars() == "numpy":
        made = kind.scalar(value)
        if made is not None:
            return made
    return wrapping.device_scalar(kind.backend.prim.copy(value), kind)


def _places_of_masks(key: Any, shape: tuple[int, ...]) -> Any:
    """Replace each concrete mask in a key by its positions, because the library does not know the values inside a trace.

    Return the key unchanged if the shape of a mask does not match.
    """
    parts = key if isinstance(key, tuple) else (key,)
    masks = [_known_mask(k) for k in parts]
    if all(mask is None for mask in masks):
        return key
    used = sum(mask.ndim if mask is not None else k is not None and k is not Ellipsis for k, mask in zip(parts, masks))
    made: list[Any] = []
    axis = 0
    for k, mask in zip(parts, masks):
        if mask is not None:
            if mask.shape != shape[axis : axis + mask.ndim]:
                return key  # an error, or handled by the general rules
            made += np.nonzero(mask)
            axis += mask.ndim
        else:
            made.append(k)
            axis += len(shape) - used if k is Ellipsis else int(k is not None)
    return tuple(made)


def known_places(key: Any, a: Handle) -> np.ndarray[Any, Any] | None:
    """Return the positions in C order of the elements ``a[key]``; None if the key's values are neither concrete nor
    remembered by a trace.
    """

    def known(k: Any) -> Any:
        if not isinstance(k, Handle):
            return k if wrapping.find_backend((k,)) is None else _UNKNOWN
        kind, value = views.held(k)
        made = tracing.known(value)
        return (
            made if made is not None else kind.backend.to_numpy(value) if kind.backend.is_concrete(value) else _UNKNOWN
        )

    parts = [known(k) for k in (key if isinstance(key, tuple) else (key,))]
    if any(k is _UNKNOWN for k in parts):
        return None
    shape = ghost(a).shape
    seen = np.arange(math.prod(shape)).reshape(shape)
    return np.asarray(seen[tuple(parts) if isinstance(key, tuple) else parts[0]])


_UNKNOWN = object()


def _known_mask(k: Any) -> np.ndarray[Any, Any] | None:
    """Return a concrete boolean array as an ndarray, None for any other object."""
    if isinstance(k, list):
        k = np.asarray(k) if k and all(type(x) is bool for x in k) else None
    elif isinstance(k, Handle) and k._kind.dtype.kind == "b":
        kind, value = views.held(k)
        backend = kind.backend
        k = backend.to_numpy(value) if backend.is_concrete(value) else None
    if isinstance(k, np.ndarray) and k.dtype.kind == "b" and k.ndim:
        return k
    return None


def _native_key(key: Any, backend: Backend, device: Any) -> Any:
    if type(key) is tuple:
        return tuple(_native_key(k, backend, device) for k in key)
    if isinstance(key, Handle | np.ndarray):
        return wrapping.to_native(key, backend, device)
    if isinstance(key, list) and wrapping.find_backend(key) is not None:
        return backend.xp.asarray(wrapping.to_native(key, backend, device))
    return key


def _gather(a: Handle, key: Any, backend: Backend) -> Any:
    if tracing.entered():
        key = _places_of_masks(key, ghost(a).shape)
    found = wrapping.find_backend((a, key))
    # `a` is a constant and the key is traced: the backend of the trace computes.
    if found is not backend and found is not None and found.home is backend.home:
        return _gather(process.wrapper(native(a), found.kind(a._kind.dtype)), key, found)
    if views.outgrows(a) and not (isinstance(key, list) and wrapping.find_backend(key)):
        seen = None if backend.lent(native(views.owner(a))) is None else views.of_root_on_host(a)
        if seen is not None:  # the library would have to store all elements
            picked = np.asarray(seen[_host_key(key)])
            if events.tap is not None:
                events.tap.host_kernel()
            there = backend.from_numpy(picked, backend.device_of(native(views.owner(a))), True)
            return memory_order.of_index(process.wrapper(there, a._kind), a, key)
    kind, x = views.held(a)
    if kind.backend is not backend:  # another thread has brought it to the host meanwhile
        return getitem(a, key)
    xp = backend.xp
    scope = backend.scope
    try:
        if backend.native_is_ndarray:
            result = x[_native_key(key, backend, None)]
        elif scope is None:
            result = indexing.getitem(xp, x, _native_key(key, backend, backend.device_of(x)))
        else:
            with scope():
                result = indexing.getitem(xp, x, _native_key(key, backend, backend.device_of(x)))
    except Exception as error:
        if a._kind.backend is not backend or loader.mended(error):
            return getitem(a, key)
        if not views.replaced(a, x):
            raise
        return _gather(a, key, backend)
    made = process.wrapper(result, kind)
    if backend.native_is_ndarray:
        return made
    if not backend.mutable:
        views.keep_apart((a,), result)
    return memory_order.of_index(made, a, key)


def setitem(a: Handle, key: Any, value: Any) -> None:
    """Assign ``a[key] = value``: cast and broadcast as NumPy does. Every view of the same root sees the change."""
    if settings.default.min_size and not a._kind.backend.hosted:
        if parts.is_written_in_parts(a, key, value):
            parts.settle(a, "its elements are written one by one")
        elif not parts.is_basic(key) and _ndim(value) and parts.is_picked_on_host(a, key):
            parts.settle(a, "its elements are written at many places")
    if process.admit is not None and a._kind.backend.hosted:
        process.admit(a, (key, value))
    backend = a._kind.backend
    if backend.native_is_ndarray:  # NumPy writes only the elements it is asked to
        host_values.assign(a, key, value)
        return
    tap = events.tap
    start = time.perf_counter() if tap is not None else 0.0
    if backend.defers and process.admit is None:
        with views.exchange:
            if shortcuts.put(a, key, value):
                if tap is not None:
                    size = int(getattr(value, "size", 1))
                    tap.call("__setitem__", backend.name, "native", "", time.perf_counter() - start, a._v, 1, size)
                return
    wrapping.check_writeable(a)
    if tracing.entered() and not parts.is_basic(key):
        key = _places_of_masks(key, a.shape)  # type: ignore[attr-defined]
    if type(value) is type(a) and value._kind is a._kind and backend.mutable and _written_natively(a, key, value):
        if tap is not None:
            size = value.size  # type: ignore[attr-defined]
            tap.call("__setitem__", backend.name, "native", "", time.perf_counter() - start, a._v, 1, size)
        return
    if not parts.is_basic(key):
        key = _simplify(key)
    scope = backend.scope
    try:
        with views.exchange, nullcontext() if scope is None else scope():
            if a._kind.backend is not backend:  # another thread has brought it to the host meanwhile
                setitem(a, key, value)
                return
            _set(a, key, value, backend)
    except backend.REFUSALS as refused:
        _set_on_host(a, key, value, backend, host_results.refusal(refused))
        return
    except (RecursionError, TraceError) as error:
        if not loader.mended(error):
            raise
        setitem(a, key, value)
        return
    if tap is not None:
        name = events.ELEMENT_SET if parts.whole_integers(key, len(a.shape)) else "__setitem__"  # type: ignore[attr-defined]
        size = int(getattr(value, "size", 1))
        tap.call(name, backend.name, "native", "", time.perf_counter() - start, a._v, 1, size)


def _written_natively(a: Handle, key: Any, value: Handle) -> bool:
    """Write an array of the same kind and shape as the place, if the library's own ``a[key]`` is the place; return whether it did."""
    for k in key if type(key) is tuple else (key,):
        if type(k) is not slice and type(k) is not int:
            return False
    with views.exchange:  # so that this write does not come between another thread's reading and writing
        if value._kind is not a._kind or a._kind.backend.hosted:
            return False  # another thread has moved one to the host meanwhile
        if value._root is not None or not _has_native_view(a, key) or writing.repeats(a):
            return False
        try:
            place = a._v[key]
        except (IndexError, ValueError):
            return False  # the general path raises NumPy's error
        if place.shape != value._v.shape or not place.ndim:
            return False
        a._kind.backend.fill(place, value._v)
    return True


def _set(a: Handle, key: Any, value: Any, backend: Backend) -> None:
    wrapping.find_backend((a, key, value))
    if type(value) not in PLAIN:
        value = wrapping.numbers(value, a._kind.dtype)
    if parts.is_basic(key):
        items = key if type(key) is tuple else (key,)
        place = ghost(a)[items if Ellipsis in items else (*items, ...)]
        if not place.shape and parts.whole_integers(key, ghost(a).ndim) and _ndim(value):
            element = np.empty(1, a._kind.dtype)
            element[0] = stand_in(value)  # NumPy's own error, or its conversion of a sequence
            value = element[0]
        if 0 in place.shape:
            _value(value, a, place.shape, backend)
            return
        if isinstance(value, Handle) and _is_already_there(value, a, place):
            return
        target = a if place.shape == ghost(a).shape and place.strides == ghost(a).strides else views.derive(a, place)
        writing.assign(target, _value(value, a, place.shape, backend))
        if not backend.mutable:
            root = views.owner(a)
            views.keep_apart((value,), root._v, root)
        return
    xp = backend.xp
    # For index arrays and masks NumPy converts its own scalars to an array and casts; a Python number must fit.
    value = np.asarray(value) if isinstance(value, np.generic) else value
    if writing.repeats(a):
        positions = writing.places(a)[_host_key(key)]
        writing.write_at(a, positions, _value(value, a, positions.shape, backend))
        return
    source = _source(value, a, backend)
    if backend.mutable:
        x = native(a)
        native_key = _apart(_native_key(key, backend, backend.device_of(x)), x, backend)
        new = indexing.setitem(xp, x, native_key, source)
        if a._root is not None or not backend.may_share(new, a._v):
            writing.assign(a, new)
        return

    def change(x: Any, donate: bool) -> Any:
        native_key = _native_key(key, backend, backend.device_of(x))
        if donate:  # `x[x] = x`: the buffer is read, so it cannot be donated
            used = (source, *native_key) if type(native_key) is tuple else (source, native_key)
            donate = not any(backend.is_native(y) and backend.may_share(y, x) for y in used)
        return indexing.setitem(xp, x, native_key, source, donate)

    writing.update(a, change)


def _apart(key: Any, x: Any, backend: Backend) -> Any:
    """Return the key with copies of arrays that may share the memory about to be written: ``x[x] = 0``."""
    if type(key) is tuple:
        return tuple(_apart(k, x, backend) for k in key)
    return backend.prim.copy(key) if backend.is_native(key) and backend.may_share(key, x) else key


def stand_in(value: Any) -> Any:
    """Return the ndarray of an `Array` that is assigned to one element; if it does not have exactly one element, its ghost, for which
    NumPy raises.

    Other values are returned unchanged.
    """
    if not isinstance(value, Handle):
        return value
    found = ghost(value)
    if found.size != 1:
        return found
    kind, held = views.held(value)
    return kind.backend.to_numpy(held)


def _ndim(value: Any) -> int:
    """Return 0 if an assigned value is a scalar, else a positive number: the number of dimensions of an array, 1 for any sequence."""
    if isinstance(value, Handle):
        return len(ghost(value).shape)
    if type(value) in PLAIN:
        return 0
    if isinstance(value, np.ndarray | list | tuple):
        return 1 if isinstance(value, list | tuple) else value.ndim
    return int(getattr(value, "ndim", _is_sequence(value)))


def _is_sequence(value: Any) -> bool:
    """Whether NumPy converts an object that is not an array, list or tuple to an array with axes: a range, a Series."""
    kind = type(value)
    return (hasattr(kind, "__len__") or hasattr(kind, "__array__")) and not issubclass(kind, str | bytes | np.generic)


def _is_already_there(value: Handle, a: Handle, place: np.ndarray[Any, Any]) -> bool:
    """Whether ``value`` is the very part of ``a`` that it is assigned to, because ``x[key] += y`` ends with ``x[key] = x[key]``.

    ``place``: that part of the ghost of ``a``.
    """
    if value._base is None or views.owner(value) is not views.owner(a):
        return False
    held = ghost(value)
    return (
        held.shape == place.shape
        and held.dtype == place.dtype
        and held.strides == place.strides
        and address_of(held) == address_of(place)
    )


def _cast_on_host(value: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    host = real_of(value, dtype)
    if host.dtype.kind not in "fc" or host.dtype == dtype:
        return np.asarray(host.astype(dtype))
    return np.asarray(reporting(lambda: host.astype(dtype), "cast"))


def _source(value: Any, a: Handle, backend: Backend) -> Any:
    """Return the assigned value as a native array of the array's dtype, not yet broadcast."""
    dtype = a._kind.dtype
    device = backend.device_of(views.owner(a)._v)  # without reading a view
    if isinstance(value, Handle):
        kind, held = views.held(value)
        if kind.backend.hosted and backend.home.mutable and not backend.mutable:
            value = held  # a copy, because the library's array may share the host's memory
    if isinstance(value, Handle) or (type(value) not in PLAIN and backend.is_native(value)):
        return cast_into(backend.xp, wrapping.to_native(value, backend, device), dtype)
    if isinstance(value, list | tuple) and wrapping.find_backend(value) is not None:
        return cast_into(backend.xp, backend.xp.asarray(wrapping.to_native(value, backend, device)), dtype)
    if isinstance(value, np.ndarray):
        return conversion.upload(backend, _cast_on_host(value, dtype), device, "assigned into an array")
    if isinstance(value, list | tuple | range):  # NumPy itself converts each item
        return conversion.upload(backend, np.array(value, dtype), device, "assigned into an array")
    if _is_sequence(value):
        return conversion.upload(backend, _cast_on_host(np.array(value), dtype), device, "assigned into an array")
    element = np.empty((), dtype)
    element[()] = real_of(value, dtype)  # NumPy's own cast and errors for a scalar
    return backend.prim.full((), dtypes.cast_scalar(element[()], dtype), dtype, device)


def _value(value: Any, a: Handle, shape: tuple[int, ...], backend: Backend) -> Any:
    source = _source(value, a, backend)
    have = backend.shape_of(source)
    if have == shape:
        return source
    if len(have) > len(shape) and isinstance(value, list | tuple) and wrapping.find_backend(value) is None:
        np.empty(shape, a._kind.dtype)[...] = value  # NumPy's own error: lists, unlike arrays, lose no leading ones
    stripped = have
    while len(stripped) > len(shape) and stripped[0] == 1:
        stripped = stripped[1:]
    try:
        fits = not stripped or np.broadcast_shapes(stripped, shape) == shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"could not broadcast input array from shape {listed(have)} into shape {listed(shape)}")
    if stripped != have:
        source = backend.prim.reshape(source, stripped)
    return backend.prim.broadcast_to(source, shape)


def _set_on_host(a: Handle, key: Any, value: Any, backend: Backend, reason: str) -> None:
    host_results.allow("__setitem__", backend, reason)
    copy = conversion.download(backend, native(a), "an assignment runs on the host").copy()
    copy[_host_key(key)] = _host_key(value) if isinstance(value, Handle) else value
    host_results.store(a, copy)


def _host_key(key: Any) -> Any:
    return handed(key, _downloaded)


def _downloaded(a: Handle) -> np.ndarray[Any, Any]:
    kind, value = views.held(a)
    return conversion.download(kind.backend, value)
