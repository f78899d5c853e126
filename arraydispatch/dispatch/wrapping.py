"""Native values in and out of arrays, the choice of backend, and scalars."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._core.handles import Handle, new_array
from ..backends import loader
from ..backends.base import Backend, Native, Unsupported
from ..backends.kinds import Kind
from ..common import buffers, events, tracing
from ..common.arguments import PLAIN
from ..common.errors import BackendMismatchError, DeviceMismatchError
from ..common.process_state import process
from ..common.pytrees import first, leaves, mapped
from ..common.user_warnings import warn_of_cast
from ..functions.registry import Returns
from ..memory import views, writing
from ..memory.views import native
from ..runtime import conversion, dtypes, settings
from ..runtime.execution_policy import shapes
from ..ufuncs.plans import shape_error
from ..ufuncs.ufunc_methods import casting_error

scalar_class: Any = None
"""Class of scalars on a device, set by the array layer."""

# -- choosing ----------------------------------------------------------------------------------------------------------


def find_backend(values: Iterable[Any]) -> Backend | None:
    """Return the backend of the arrays in ``values``, also in sequences and dicts: an ML library, else its host state, else NumPy.

    Ndarrays do not count. Return None if there are no other arrays.

    Raises
    ------
    BackendMismatchError
        If there are arrays of two ML libraries.
    """
    try:
        return backend_among(values)
    except RecursionError:
        pass
    endless = [x for x in values if circular(x)]
    np.asarray(endless[0] if endless else ())  # raises NumPy's error for a list that contains itself
    return backend_among(values)


def backend_among(values: Iterable[Any], found: Backend | None = None) -> Backend | None:
    """Return the backend of the arrays among the values (see :func:`find_backend`); raise RecursionError for a list that contains itself.

    ``found``: backend of earlier values.
    """
    for x in values:
        cls = type(x)
        if cls in PLAIN:
            continue
        if isinstance(x, Handle):
            backend: Backend | None = x._kind.backend
        elif cls is list or cls is tuple or isinstance(x, list | tuple):
            found = backend_among(x, found)
            continue
        elif cls is dict:
            found = backend_among(x.values(), found)
            continue
        elif isinstance(x, np.ndarray | np.generic):
            continue
        else:
            backend = loader.backend_of(x)
        if backend is None or backend is found:
            continue
        if found is None:
            found = backend
        elif found.name != backend.name and "numpy" not in (found.name, backend.name):
            raise mismatch(found, backend)
        elif found.native_is_ndarray:
            if not backend.native_is_ndarray or (
                found.name == "numpy" and (backend.name != "numpy" or not found.hosted)
            ):
                found = backend
        elif (
            not backend.native_is_ndarray
            and backend is not backend.home
            and not (backend.defers and found is not found.home)
        ):  # a variant runs the calls on its arrays and home arrays; the variant inside a trace also those with deferred arrays
            found = backend
    return found


def circular(values: Any, path: frozenset[int] = frozenset()) -> bool:
    """Whether a list or tuple contains itself, at any depth; NumPy raises its own error for it."""
    if not isinstance(values, list | tuple):
        return False
    if id(values) in path:
        return True
    path |= {id(values)}
    return any(circular(x, path) for x in values)


def mismatch(one: Backend, other: Backend) -> BackendMismatchError:
    """Return the error for two ML libraries in one call."""
    return BackendMismatchError(
        f"arrays of {one.name!r} and {other.name!r} met in one call; "
        f"convert one first, for instance with arraydispatch.convert(x, {one.name!r})."
    )


def is_guest(x: Any) -> bool:
    """Whether ``x`` is an instance of a subclass of ndarray with its own rules (matrix, masked, a user's): NumPy computes with it."""
    return issubclass(type(x), np.ndarray) and type(x) not in _OWN


def is_sparse_of_scipys(x: Any) -> bool:
    """Whether ``x`` is a SciPy sparse matrix or array."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(x))


GUEST = "a subclass of ndarray computes on the host"
_OWN = frozenset({np.ndarray, np.memmap})


# -- unwrapping --------------------------------------------------------------------------------------------------------


def to_native(x: Any, backend: Backend, device: Any) -> Any:
    """Convert an argument for the backend's bodies: arrays of other backends become native arrays on ``device``, other objects stay."""
    if type(x) in PLAIN:
        return x
    if isinstance(x, Handle):
        kind, value = views.held(x)
        held = kind.backend
        if held is backend:
            return value
        if held.hosted and not backend.native_is_ndarray:
            return views.lifted(x, device)
        if not held.hosted and held.home is backend.home:
            if held is not held.home and process.traces and held.recorded(value):
                raise tracing.leak()  # the variant computes, so this is a write
            return backend.taken(held.settled(value))
        if backend.native_is_ndarray:  # a key or an assigned value: the array written or read is NumPy's
            return conversion.download(held, value, "it met a NumPy-held array")
        return conversion.upload(backend, value, device, "a NumPy-held array met an array on the device")
    if isinstance(x, np.ndarray):
        if dtypes.category(x.dtype) == "other":
            if backend.native_is_ndarray:  # other backends check it where they need an array
                raise Unsupported(dtypes.only_on_host(x.dtype))
            return x
        return conversion.upload(backend, x, device, "a NumPy array met an array on the device")
    if isinstance(x, list | tuple | dict):
        return mapped(lambda y: to_native(y, backend, device), x)
    seen = buffers.seen(x)
    if seen is not x:
        return to_native(seen, backend, device)
    return backend.value_of(x) if backend.is_native(x) else x


_CONVERSIONS = ("__array__", "__array_interface__", "__array_struct__")
_PROTOCOLS = ("__array_ufunc__", "__array_function__", "__array_wrap__")


def asked(x: Any) -> Any:
    """Return an argument, or a tuple of arguments, with arrays in place of objects that NumPy converts (by ``__array__`` and the like).

    Use it before the arrays of the call are read, as NumPy does: the objects' code may write to the arrays.
    """
    return mapped(_array_of, x, dicts=False)


def _array_of(x: Any) -> Any:
    cls = type(x)
    if cls in PLAIN or issubclass(cls, Handle | np.ndarray | np.generic | type):
        return x
    if not any(hasattr(cls, name) for name in _CONVERSIONS) or any(hasattr(cls, name) for name in _PROTOCOLS):
        return x  # nothing to ask, or its protocol takes part in the call
    if cls.__module__.partition(".")[0] == "numpy":
        return x  # NumPy's functions test for a poly1d
    return x if loader.backend_of(x) is not None else np.asarray(x)


def first_array(values: Iterable[Any], backend: Backend) -> Native | None:
    """Return the first native array of the backend among the values, which determines the device."""

    def held(x: Any) -> bool:
        if isinstance(x, Handle):
            return x._kind.backend is backend
        return type(x) not in PLAIN and backend.is_native(x)

    found = first(held, values)
    return native(found) if isinstance(found, Handle) else found


def device_among(values: Iterable[Any], backend: Backend) -> Any:
    """Return the library's device object of the first native array of the backend among the values; None if there is none."""
    array = first_array(values, backend)
    return None if array is None else backend.device_of(array)


# -- wrapping ----------------------------------------------------------------------------------------------------------


def scalar(value: Native, kind: Kind) -> Any:
    """Make a scalar result: NumPy's own scalar on a CPU device, else a ``Scalar`` on the device."""
    if settings.current_rules().scalars == "numpy":
        made = kind.scalar(value)
        if made is not None:
            return made
    return device_scalar(value, kind)


def device_scalar(value: Native, kind: Kind) -> Any:
    """Make a 0-d result that stays on the device: immutable like NumPy's scalars, or a 0-d array of an array-API namespace."""
    if not kind.standard:
        made = new_array(scalar_class, value, kind)
        if process.born is not None:
            process.born(made)
        return made
    return process.wrapper(np.asarray(value) if kind.backend.native_is_ndarray else value, kind)


def is_standard(values: Iterable[Any]) -> bool:
    """Whether an array among the values, sequences searched, was made by an array-API namespace."""
    return first(lambda x: isinstance(x, Handle) and x._kind.standard, values) is not None


def wrap_result(
    value: Any, backend: Backend, returns: Returns, precision: settings.Precision, standard: bool = False
) -> Any:
    """Wrap a body's result for the caller, also in sequences: native arrays become arrays, 0-d ones scalars if ``returns`` is "scalar"."""
    if backend.is_native(value):
        if standard:
            wanted = dtypes.apply_precision(backend.dtype_of(value), precision)
            return device_scalar(backend.prim.astype(value, wanted), backend.standard_kind(wanted))
        if precision is None:
            if value.ndim or returns != "scalar":
                return made_of(value, backend)
            kind = backend.kind_of(value)
            if process.rules is settings.NO_POLICY and not process.overrides:
                made = kind.scalar(value)
                if made is not None:
                    return made
            return scalar(value, kind)
        dtype = backend.dtype_of(value)
        wanted = dtypes.apply_precision(dtype, precision)
        if wanted is not dtype and wanted != dtype:
            if events.tap is not None:
                events.tap.cast(dtype, wanted)
            value, dtype = backend.prim.astype(value, wanted), wanted
        kind = backend.kind(dtype)
        if returns == "scalar" and not backend.shape_of(value):
            return scalar(value, kind)
        return process.wrapper(value, kind)
    if isinstance(value, np.generic) and returns != "any" and backend.holds(value.dtype):
        return wrap_result(backend.from_numpy(np.asarray(value)), backend, returns, precision, standard)
    if isinstance(value, list | tuple):
        return mapped(lambda x: wrap_result(x, backend, returns, precision, standard), value)
    return value


def made_of(value: Native, backend: Backend) -> Any:
    """Wrap a new native result; in the host state if it is in host memory already, or small."""
    kind = backend.kind_of(value)
    least = process.min_size
    if least and not backend.native_is_ndarray and backend.on_cpu(value):
        held = loader.hosted(backend.name)
        if held.holds(kind.dtype):
            if backend.shares_with_host(value):
                return process.wrapper(conversion.shared(backend, value), held.kind(kind.dtype), True)
            if not backend.mutable and _is_the_hosts(backend.shape_of(value), least, backend):
                return process.wrapper(np.array(backend.to_numpy(value)), held.kind(kind.dtype), True)
    return process.wrapper(value, kind)


def _is_the_hosts(shape: tuple[int, ...], least: int, backend: Backend) -> bool:
    """Whether a library's result should move to the host: it is small, or of a backend that defers calls and its shape does not recur.

    Unless the result is small, this counts as a question about the shape.
    """
    return math.prod(shape) < least or (backend.defers and not shapes.recurs(shape))


def write_out(
    out: Any,
    value: Native,
    backend: Backend,
    casting: Any = "same_kind",
    fresh: bool = False,
    by: np.ufunc | None = None,
) -> Any:
    """Write a native result into ``out=`` (an `Array` or an ndarray) and return that object.

    ``by``: the ufunc that NumPy's error for a wrong dtype names.
    """
    have = backend.dtype_of(value)
    want = out.dtype
    if not np.can_cast(have, want, casting):
        if by is not None:
            raise casting_error(by, have, want, casting)
        raise TypeError(f"Cannot cast output from {have!r} to {want!r} with casting rule {casting!r}")
    if out.shape != backend.shape_of(value):
        raise ValueError(f"output array has shape {out.shape}, the result has shape {backend.shape_of(value)}")
    if warn_of_cast(have, want):
        value = backend.prim.real(value)
    if isinstance(out, Handle):
        if process.admit is not None:
            process.admit(out, (value,))
        check_writeable(out, "output array is read-only")
        theirs = out._kind.backend
        if theirs.home is backend.home and not (theirs.hosted and backend.defers):
            value = backend.prim.astype(value, want)
            writing.assign(out, as_held(out, value, backend), fresh and theirs is backend)
        else:
            writing.assign(out, conversion.download(backend, value, "out= is a NumPy-held array").astype(want))
    else:
        np.copyto(out, conversion.download(backend, value, tracing.WRITTEN), casting="unsafe")
    return out


def as_held(out: Handle, value: Native, backend: Backend) -> Native:
    """Return a value in a form that ``out`` can hold: an array from before compiled execution gets a computed value, not a pending one."""
    return backend.settled(value) if backend.defers and out._kind.backend is not backend else value


def zero_d(scalar: Handle) -> Any:
    """Make a 0-d array of a scalar's value, with its own memory."""
    backend = scalar._kind.backend
    with backend.within():
        value = backend.prim.copy(native(scalar)) if backend.mutable else views.expose(scalar)
    return process.wrapper(value, scalar._kind)


def numbers(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a value to write with NumPy's scalars in place of scalars on a device, if the dtype might not hold them.

    For a scalar NumPy checks the value (a NaN is not an integer), for an array the dtype.
    """
    if issubclass(type(value), (list, tuple)):
        return mapped(lambda x: numbers(x, dtype), value) if find_backend(value) is not None else value
    if not issubclass(type(value), scalar_class) or np.can_cast(value._kind.dtype, dtype, "same_kind"):
        return value
    kind, held = views.held(value)
    return kind.backend.item(held) if kind.backend.is_concrete(held) else value


def check_writeable(a: Handle, what: str = "assignment destination is read-only") -> None:
    """Raise NumPy's error, with the message ``what``, for a read-only array, or an error for a scalar."""
    if process.admit is not None:
        process.admit(a)
    if issubclass(type(a), scalar_class):
        raise TypeError(f"a scalar ({a._kind.dtype}) cannot be written; an array is expected")
    if a._kind.backend.mutable:
        root = views.owner(a)  # the root may be on the host while a view of the same memory belongs to the library
        root._kind.backend.check_writeable(root._v)
    if not views.writeable(a, True):
        raise ValueError(what)


def overtaken(error: Exception) -> bool:
    """Whether to repeat a failed call, because another thread wrote an array meanwhile, so that its buffer is gone, or moved it to
    the host.

    Raises the error for lack of memory (:func:`arraydispatch.backends.loader.check_memory`) if that is the cause.
    """
    loader.check_memory(error)
    if loader.mended(error):
        return True
    if views.exchange_is_mine():
        return False
    return views.moved_by_another_thread() or any(backend.gone(error) for backend in loader.loaded())


def obtained(result: Any, backend: Backend) -> None:
    """Place the arrays of a result, and wait for the large ones, because the library may report a lack of memory later."""
    for x in leaves((result,)):
        if isinstance(x, Handle) and x._root is None:
            placed = backend.placed(x._v)
            if placed is not x._v:
                x._v = placed
            backend.obtained(placed)


def beside_writers(run: Callable[..., Any], *args: Any) -> Any:
    """Return ``run(*args)``; repeat the call under the lock if another thread has written one of its arrays meanwhile and the buffer is
    gone.
    """
    try:
        return run(*args)
    except Exception as error:
        if not overtaken(error):
            raise
    with views.exchange:
        return run(*args)


# -- errors ------------------------------------------------------------------------------------------------------------


def device_error(operands: Iterable[Any], backend: Backend) -> DeviceMismatchError | None:
    """Return the error for native operands on two devices; None if they are on one."""
    devices = []
    for x in operands:
        if backend.is_native(x):
            device = backend.device_of(x)
            if device is not None and device not in devices:
                devices.append(device)
    if len(devices) < 2:
        return None
    names = " and ".join(str(d) for d in devices)
    return DeviceMismatchError(f"arrays on {names} met in one call; move one first, with its to_device method.")


def operand_error(operands: tuple[Any, ...], backend: Backend, *others: tuple[int, ...]) -> Exception | None:
    """Return NumPy's broadcast error, or the device error, if that is why the library refused.

    To be raised outside ``except`` clauses, so that it has no context of ours.
    """
    return shape_error(operands, backend, *others) or device_error(operands, backend)
