"""Helpers that prepare the operands of bodies: placement on one device, axes, slices along an axis, host copies of small values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .._core import handles
from ..common import errors, tracing
from ..common.process_state import process
from ..common.pytrees import first
from ..common.user_warnings import real_of, warn, warn_of_cast
from ..memory import views
from ..runtime import dtypes
from ..ufuncs.ufunc_methods import checked_axis

Native = Any
DType = np.dtype[Any]
INTP = dtypes.INTP
BOOL = dtypes.BOOL


def first_native(xp: Any, xs: Iterable[Any]) -> Native | None:
    """Return the first native array among the values and the sequences of values. It determines the device."""
    return first(xp.is_array, xs)


def raise_for_shapes(func: Callable[..., Any], *shapes: tuple[int, ...], **options: Any) -> None:
    """Let NumPy raise its error for operands of these shapes, on stand-ins with the memory of one element."""
    func(*[np.broadcast_to(0.0, shape) for shape in shapes], **options)


def common_shape(
    func: Callable[..., Any], left: tuple[int, ...], right: tuple[int, ...], cores: tuple[int, int]
) -> tuple[int, ...]:
    """Return the shape to which the shapes ``left`` and ``right`` broadcast without their last axes; raise the error of ``func`` if they do
    not. ``cores``: number of these axes for each.
    """
    stacks = [shape[: len(shape) - core] for shape, core in zip((left, right), cores)]
    if stacks[0] == stacks[1]:
        return stacks[0]
    try:
        return np.broadcast_shapes(*stacks)
    except ValueError:
        pass
    raise_for_shapes(func, left, right)
    raise ValueError("operands could not be broadcast together")


def arrays(xp: Any, *xs: Any) -> list[Native]:
    """Return every operand as a native array on the device of the first native array."""
    if all(map(xp.is_array, xs)):
        return list(xs)
    like = first_native(xp, xs)
    return [x if xp.is_array(x) else xp.asarray(x, like=like) for x in xs]


look_at_cast: Callable[[Native, DType, Any], None] | None = None
"""Function that reports floats that an integer dtype cannot hold; set by the dispatch, which reads the user's settings."""


listened: Callable[[], bool] = lambda: False
"""Return whether the program turns warnings into errors or collects them; set by the dispatch."""

strict: Callable[[], bool] = lambda: False
"""Return whether ``np.errstate`` asks for more than warnings; set by the dispatch. NumPy then runs functions with NaN results again."""


def warn_of_nan(xp: Any, message: str) -> None:
    """Warn about a NaN result, unless NumPy will run the call again and warn itself."""
    if xp.backend.native_is_ndarray or not strict():
        warn(message)


def cast_into(xp: Any, value: Native, dtype: DType) -> Native:
    """Cast as ``a[...] = value``, which allows every cast; warn as NumPy does about lost imaginary parts and floats out of range."""
    have = xp.dtype_of(value)
    warn_of_cast(have, dtype)
    made = xp.prim.astype(value, dtype)
    if have.kind == "f" and dtype.kind in "iu" and look_at_cast is not None:
        look_at_cast(value, dtype, xp.backend)
    return made


def fits(have: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    """Whether an array of the shape ``have`` can be broadcast to ``shape``."""
    return len(have) <= len(shape) and all(n in (1, m) for n, m in zip(have[::-1], shape[::-1]))


def filling(xp: Any, value: Any, dtype: DType, shape: tuple[int, ...], like: Native, casting: Any = "unsafe") -> Native:
    """Return an array of this dtype and shape, on the device of ``like``, with the contents that ``np.copyto(array, value)``
    would give it.
    """
    if isinstance(value, list | tuple):
        value = xp.asarray(value, like=like)
    if xp.is_array(value):
        dtypes.check_cast(xp.dtype_of(value), dtype, casting)
        made = cast_into(xp, value, dtype)
    else:
        element = np.empty(np.shape(value), dtype)
        if isinstance(value, complex) and casting == "unsafe":
            value = real_of(np.asarray(value), dtype)
        np.copyto(element, value, casting=casting)
        made = xp.asarray(element, like=like)
    have = xp.shape_of(made)
    while len(have) > len(shape) and have[0] == 1:
        have = have[1:]
    if not fits(have, shape):
        raise ValueError(
            f"could not broadcast input array from shape {errors.listed(have)} into shape {errors.listed(shape)}"
        )
    return xp.prim.broadcast_to(xp.prim.reshape(made, have), shape)


def scalar(xp: Any, value: Any, dtype: DType, like: Native | None) -> Native:
    """Convert a scalar to a 0-d native array on the device of ``like`` (None: the default device), as NumPy does for elements (OverflowError
    for an int out of range).
    """
    device = None if like is None else xp.backend.device_of(like)
    if dtypes.category(dtype) == "other":
        return xp.backend.from_numpy(np.asarray(value, dtype), device)
    return xp.prim.full((), dtypes.cast_scalar(value, dtype), dtype, device)


def filled(xp: Any, shape: tuple[int, ...], value: Any, dtype: DType, like: Native) -> Native:
    """Return an array filled with one value, on the device of ``like``."""
    return xp.prim.full(shape, value, dtype, xp.backend.device_of(like))


def counting(xp: Any, n: int, like: Native) -> Native:
    """Return 0, 1, … n-1 as int64, on the device of ``like``."""
    return xp.prim.iota(n, INTP, xp.backend.device_of(like))


def upload(xp: Any, host: np.ndarray[Any, Any], like: Native) -> Native:
    """Move a host array, to which nothing else refers, to the device of ``like``; the library may keep its memory."""
    return xp.backend.from_numpy(host, xp.backend.device_of(like), False)


def to_host(xp: Any, x: Any) -> np.ndarray[Any, Any]:
    """Convert a native array, a scalar or a sequence to an ndarray; used for values that determine shapes."""
    if xp.is_array(x):
        found = tracing.known(x)
        return np.asarray(xp.backend.to_numpy(x)) if found is None else found
    if isinstance(x, list | tuple) and any(xp.is_array(y) for y in x):
        return np.asarray([to_host(xp, y) for y in x])
    return np.asarray(x)


def axis_of(axis: Any, ndim: int) -> int:
    """Normalize the axis of a NumPy C function that takes a single axis: an integer, not a boolean."""
    return checked_axis(axis, ndim, "an integer is required for the axis")


def lined(xp: Any, a: Native, axis: Any) -> tuple[Native, int]:
    """Return array and axis as NumPy's older C functions use them: flattened if the axis is None, a 0-d array as 1-d."""
    if axis is None:
        return flat(xp, a), 0
    shape = xp.shape_of(a)
    return a if shape else flat(xp, a), axis_of(axis, max(len(shape), 1))


def along(xp: Any, a: Native, axis: int, start: int, stop: int, step: int = 1) -> Native:
    """Return ``a[..., start:stop:step, ...]`` on one axis, for explicit bounds and a positive step."""
    shape = xp.shape_of(a)
    if start == 0 and stop == shape[axis] and step == 1:
        return a
    key = [slice(0, n, 1) for n in shape]
    key[axis] = slice(start, stop, step)
    return xp.prim.slice(a, tuple(key))


def element(xp: Any, a: Native, i: int) -> Native:
    """Return element ``i`` along the last axis."""
    shape = xp.shape_of(a)
    return xp.prim.reshape(xp.prim.slice(a, (*(slice(0, n, 1) for n in shape[:-1]), slice(i, i + 1, 1))), shape[:-1])


def size_of(xp: Any, a: Native) -> int:
    """Return the number of elements."""
    size = 1
    for n in xp.shape_of(a):
        size *= n
    return size


def flat(xp: Any, a: Native) -> Native:
    """Return the elements in C order; the result may alias."""
    shape = xp.shape_of(a)
    return a if len(shape) == 1 else xp.prim.reshape(a, (size_of(xp, a),))


def moved(xp: Any, a: Native, source: int, destination: int) -> Native:
    """Move one (normalized) axis; the result may alias."""
    if source == destination:
        return a
    perm = [i for i in range(len(xp.shape_of(a))) if i != source]
    perm.insert(destination, source)
    return xp.prim.transpose(a, tuple(perm))


def swapped(xp: Any, a: Native) -> Native:
    """Transpose the matrices in the last two axes; the result may alias."""
    n = xp.ndim_of(a)
    return xp.prim.transpose(a, (*range(n - 2), n - 1, n - 2))


def unshared(xp: Any, a: Native) -> Native:
    """Copy the value to its own buffer if the backend's arrays can be written in place."""
    return xp.prim.copy(a) if xp.backend.mutable else a


def wrapped(xp: Any, x: Any, like: Native | None = None) -> Any:
    """Convert an argument to an array of the backend; return it unchanged if it is one. ``like``: native array on whose device the new one
    is.
    """
    if isinstance(x, handles.Handle):
        kind, value = views.held(x)
        if kind.backend is xp.backend or (kind.backend.hosted and kind.backend.home is xp.backend):
            return x  # also if it is in the host state: another thread may just have moved it there
        x = kind.backend.to_numpy(value)
    x = xp.asarray(x, like=like)
    return process.wrapper(x, xp.backend.kind(xp.dtype_of(x)))


def native_of(xp: Any, a: handles.Handle) -> Native:
    """Return the native value of a result of :func:`wrapped`."""
    kind, value = views.held(a)
    return views.lifted(a) if kind.backend.hosted and not xp.backend.hosted else value


def sequence(xp: Any, xs: Any) -> list[Any]:
    """Return a list of the items; an array stands for its subarrays along the first axis."""
    if not xp.is_array(xs):
        return list(xs)
    n, *rest = xp.shape_of(xs)
    return [xp.prim.reshape(along(xp, xs, 0, i, i + 1), tuple(rest)) for i in range(n)]


def itself(found: bool, made: Any, a: Any) -> Any:
    """Return the argument ``a`` if it is an array and NumPy returns it (``found``); else the result ``made`` from it."""
    return a if found and isinstance(a, handles.Handle | np.ndarray) else made


def check_broadcast(xp: Any, *xs: Any) -> None:
    """Raise NumPy's ValueError if operands do not broadcast."""
    shapes = [xp.shape_of(x) if xp.is_array(x) else np.shape(x) for x in xs if x is not None]
    if shapes.count(shapes[0]) != len(shapes):
        errors.check_broadcast(shapes)


def is_concrete(xp: Any, *xs: Any) -> bool:
    """Whether all values are concrete (no tracer is among them)."""
    return all(not xp.is_array(x) or xp.backend.is_concrete(x) for x in xs)


def is_recorded(xp: Any, a: Native) -> bool:
    """Whether the values can be read, even if derivatives are recorded: for decisions on which derivatives do not depend."""
    return is_concrete(xp, a) or is_concrete(xp, xp.backend.transforms.stop_gradient(a))


def valued(xp: Any, value: Native, twin: Native) -> Native:
    """Return ``value`` with the derivatives of ``twin``, an equal expression; without derivatives where ``twin`` is not finite."""
    nothing = xp.subtract(xp.backend.transforms.stop_gradient(twin), twin)
    zero = scalar(xp, 0, xp.dtype_of(nothing), nothing)
    # Subtracting zero keeps the sign of zeros.
    return xp.subtract(value, xp.prim.where(xp.equal(nothing, nothing), nothing, zero))


def truth(xp: Any, a: Native) -> Native:
    """Convert ``a`` to bool."""
    return xp.prim.astype(a, BOOL)


def chosen(xp: Any, condition: Any, like: Native) -> Native:
    """Return the positions, in C order, at which a condition holds, on the device of ``like``. A library that is tracing needs a concrete
    condition, because the values decide the length.
    """
    if not xp.is_array(condition):
        if first_native(xp, (condition,)) is None:
            return upload(xp, np.flatnonzero(condition), like)
        condition = xp.asarray(condition, like=like)
    if tracing.entered() and (tracing.known(condition) is not None or is_concrete(xp, condition)):
        return upload(xp, np.flatnonzero(to_host(xp, condition)), like)
    return xp.prim.nonzero(truth(xp, flat(xp, condition)))[0]
