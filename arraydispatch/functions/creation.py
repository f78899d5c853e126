"""Array creation: the ``*_like`` functions, ranges between arrays, grids; and functions that create arrays on a device.

Functions that create arrays on a device have NumPy's names and arguments, preceded by ``xp`` and followed by a ``device`` (the library's
own object). They are not in the registry, because NumPy does not dispatch them; higher layers call them.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from ..common import arguments
from ..common.user_warnings import warn_of_cast
from ..runtime import dtypes
from . import layouts
from .operands import INTP, along, arrays, filled, filling, first_native, moved, size_of, to_host, unshared
from .registry import family, implements

Native = Any
Shape = tuple[int, ...]

like = family(mode="like")


# -- like an array ---------------------------------------------------------------------------------------------------


def _shape(given: Any) -> Shape:
    if isinstance(given, int | np.integer):
        return (operator.index(given),)
    return tuple(operator.index(n) for n in given)


def _like(
    xp: Any, a: Any, dtype: Any, order: str, subok: bool, shape: Any, device: Any
) -> tuple[Native, np.dtype[Any], Shape]:
    arguments.order_of(order)
    arguments.flag(subok)
    if device not in (None, "cpu"):
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device}')
    a = xp.asarray(a)
    to = xp.dtype_of(a) if dtype is None else np.dtype(dtype)
    final = xp.shape_of(a) if shape is None else _shape(shape)
    if any(n < 0 for n in final):
        raise ValueError("negative dimensions are not allowed")
    return a, to, final


@like(np.zeros_like)
def zeros_like(
    xp: Any, a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Native:
    a, to, final = _like(xp, a, dtype, order, subok, shape, device)
    return filled(xp, final, 0, to, a)


@like(np.ones_like)
def ones_like(
    xp: Any, a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> Native:
    a, to, final = _like(xp, a, dtype, order, subok, shape, device)
    return filled(xp, final, 1, to, a)


@like(np.empty_like, unverified="uninitialized memory")
def empty_like(
    xp: Any, prototype: Any, /, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: Any = None,
) -> Native:  # fmt: skip
    a, to, final = _like(xp, prototype, dtype, order, subok, shape, device)
    return filled(xp, final, 0, to, a)


@like(np.full_like)
def full_like(
    xp: Any, a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None, *,
    device: Any = None,
) -> Native:  # fmt: skip
    a, to, final = _like(xp, a, dtype, order, subok, shape, device)
    return xp.prim.copy(filling(xp, fill_value, to, final, a))


# -- ranges between arrays -------------------------------------------------------------------------------------------


def _kind(xp: Any, x: Any) -> Any:
    return xp.dtype_of(x) if xp.is_array(x) else dtypes.operand_type(x)


def _on(xp: Any, x: Any, to: np.dtype[Any], like: Native | None, device: Any) -> Native:
    if xp.is_array(x):
        return xp.prim.astype(x, to)
    if like is None:
        return xp.backend.from_numpy(np.asarray(x, to), device)
    return xp.asarray(np.asarray(x, to), like=like)


@implements(np.linspace, layout=layouts.spaced, returns="scalar", moves=True)
def linspace(
    xp: Any, start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
    axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    div = num - 1 if endpoint else num
    like = first_native(xp, (start, stop))
    dt = dtypes.promote(_kind(xp, start), _kind(xp, stop))
    if not dtypes.is_floating(dt):
        dt = dtypes.FLOAT64
    to = dt if dtype is None else np.dtype(dtype)
    start, stop = _on(xp, start, dt, like, device), _on(xp, stop, dt, like, device)
    delta = xp.subtract(stop, start)
    rest = xp.shape_of(delta)
    wide = (num, *rest)
    y = xp.prim.iota(num, dt, xp.backend.device_of(delta))
    y = xp.prim.reshape(y, (num,) + (1,) * len(rest))
    step: Any = xp.prim.full((), math.nan, dt if like is not None else dtypes.FLOAT64, xp.backend.device_of(delta))
    if div > 0:
        step = xp.true_divide(delta, div)
        # If any step underflows to zero, NumPy divides before it multiplies, for all steps.
        if xp.backend.is_concrete(step) and not to_host(xp, step).all():
            y = xp.multiply(xp.true_divide(y, div), delta)
        else:
            y = xp.multiply(y, step)
    else:
        y = xp.multiply(y, delta)
    y = xp.add(y, start)
    if xp.shape_of(y) != wide:
        y = unshared(xp, xp.prim.broadcast_to(y, wide))
    if endpoint and num > 1:
        last = xp.prim.broadcast_to(xp.prim.reshape(stop, (1,) * (1 + len(rest) - len(xp.shape_of(stop))) + xp.shape_of(stop)),
                                    (1, *rest))  # fmt: skip
        y = xp.prim.concatenate([along(xp, y, 0, 0, num - 1), last], 0)
    if axis != 0:
        y = moved(xp, y, 0, normalize_axis_index(axis, len(wide)))
    if to.kind in "iu":
        y = xp.floor(y)
    warn_of_cast(xp.dtype_of(y), to)
    y = xp.prim.astype(y, to)
    return (y, step) if retstep else y


@implements(np.logspace, layout=layouts.spaced, moves=True)
def logspace(
    xp: Any, start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None,
    axis: int = 0,
) -> Native:  # fmt: skip
    if not isinstance(base, float | int) and (len(xp.shape_of(base)) if xp.is_array(base) else np.ndim(base)):
        start, stop, base = arrays(xp, start, stop, base)
        ndim = max(len(xp.shape_of(x)) for x in (start, stop, base))
        start, stop, base = (
            xp.prim.reshape(x, (1,) * (ndim - len(xp.shape_of(x))) + xp.shape_of(x)) for x in (start, stop, base)
        )
        at = normalize_axis_index(axis, ndim + 1)
        shape = xp.shape_of(base)
        base = xp.prim.reshape(base, (*shape[:at], 1, *shape[at:]))
    y = linspace(xp, start, stop, num, endpoint, axis=axis)
    made = xp.power(base, y)
    return made if dtype is None else xp.prim.astype(made, np.dtype(dtype))


@implements(np.geomspace, layout=layouts.spaced, moves=True)
def geomspace(
    xp: Any, start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Native:
    start, stop = arrays(xp, start, stop)
    known = xp.backend.is_concrete(start) and xp.backend.is_concrete(stop)
    if known and not (to_host(xp, start).all() and to_host(xp, stop).all()):
        raise ValueError("Geometric sequence cannot include zero")
    dt = np.result_type(
        xp.dtype_of(start), xp.dtype_of(stop), float(num), np.dtype(dtype) if dtype is not None else float
    )
    to = dt if dtype is None else np.dtype(dtype)
    start, stop = xp.prim.astype(start, dt), xp.prim.astype(stop, dt)
    sign = xp.sign(start)
    start, stop = xp.true_divide(start, sign), xp.true_divide(stop, sign)
    made = logspace(xp, xp.log10(start), xp.log10(stop), num, endpoint, 10.0, dt)
    rest = xp.shape_of(made)[1:]
    pieces = [made]
    if num > 0:
        first = xp.prim.broadcast_to(start, (1, *rest))
        pieces = [first, along(xp, made, 0, 1, num)]
        if num > 1 and endpoint:
            pieces = [first, along(xp, made, 0, 1, num - 1), xp.prim.broadcast_to(stop, (1, *rest))]
    made = xp.multiply(xp.prim.concatenate([p for p in pieces if xp.shape_of(p)[0]] or [made], 0), sign)
    made = moved(xp, made, 0, normalize_axis_index(axis, len(rest) + 1))
    return xp.prim.astype(made, to)


@implements(np.meshgrid, mode="view", many=True, view_if=lambda args, kwargs: not kwargs.get("copy", True))
def meshgrid(xp: Any, *xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[Native, ...]:
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    given = arrays(xp, *xi)
    ndim = len(given)
    lengths = [size_of(xp, x) for x in given]
    axes = list(range(ndim))
    if indexing == "xy" and ndim > 1:
        axes[0], axes[1] = 1, 0
    full_shape = [0] * ndim
    for axis, n in zip(axes, lengths):
        full_shape[axis] = n
    found = []
    for x, axis, n in zip(given, axes, lengths):
        line = xp.prim.reshape(x, (1,) * axis + (n,) + (1,) * (ndim - axis - 1))
        found.append(unshared(xp, line if sparse else xp.prim.broadcast_to(line, tuple(full_shape))))
    return tuple(found)


# -- on a device -----------------------------------------------------------------------------------------------------


def zeros(xp: Any, shape: Any, dtype: Any = None, device: Any = None) -> Native:
    """Implement ``np.zeros`` and ``np.empty``."""
    return xp.prim.full(_shape(shape), 0, np.dtype(float if dtype is None else dtype), device)


def arange(xp: Any, start: Any, stop: Any = None, step: Any = 1, dtype: Any = None, device: Any = None) -> Native:
    """``np.arange`` of scalars."""
    if stop is None:
        start, stop = 0, start
    step = 1 if step is None else step
    if dtype is None:
        to = np.result_type(*[np.asarray(x).dtype for x in (start, stop, step)])
    else:
        to = np.dtype(dtype)
    if to.kind not in "iufc" or step == 0:
        return xp.backend.from_numpy(np.arange(start, stop, step, to), device)  # type: ignore[call-overload]
    if to.kind == "c":
        length = len(np.arange(start, stop, step, to))  # type: ignore[call-overload]
    elif all(isinstance(x, int | np.integer) for x in (start, stop, step)):
        length = len(range(int(start), int(stop), int(step)))
    else:
        length = max(math.ceil((stop - start) / step), 0)
    first, second = np.asarray(start).astype(to), np.asarray(start + step).astype(to)
    wide = dtypes.widen_half(to)
    first, second = first.astype(wide), second.astype(wide)
    count = xp.prim.iota(length, wide, device)
    if length and second - first != 1:
        count = xp.multiply(count, (second - first)[()])
    if length and first != 0:
        count = xp.add(count, first[()])
    return xp.prim.astype(count, to)


def tri(xp: Any, N: int, M: int | None = None, k: int = 0, dtype: Any = float, device: Any = None) -> Native:
    """``np.tri``."""
    rows, columns = operator.index(N), operator.index(N if M is None else M)
    i = xp.prim.reshape(xp.prim.iota(rows, INTP, device), (rows, 1))
    return xp.prim.astype(xp.greater_equal(i, xp.subtract(xp.prim.iota(columns, INTP, device), k)), np.dtype(dtype))


def eye(xp: Any, N: int, M: int | None = None, k: int = 0, dtype: Any = float, device: Any = None) -> Native:
    """``np.eye``."""
    rows, columns = operator.index(N), operator.index(N if M is None else M)
    i = xp.prim.reshape(xp.prim.iota(rows, INTP, device), (rows, 1))
    return xp.prim.astype(
        xp.equal(i, xp.subtract(xp.prim.iota(columns, INTP, device), operator.index(k))), np.dtype(dtype)
    )


def indices(xp: Any, dimensions: Any, dtype: Any = int, sparse: bool = False, device: Any = None) -> Any:
    """``np.indices``."""
    shape = tuple(dimensions)
    found = []
    for i, n in enumerate(shape):
        line = xp.prim.reshape(xp.prim.iota(n, np.dtype(dtype), device), (1,) * i + (n,) + (1,) * (len(shape) - i - 1))
        found.append(line if sparse else xp.prim.reshape(xp.prim.broadcast_to(line, shape), (1, *shape)))
    if sparse:
        return tuple(found)
    return xp.prim.concatenate(found, 0) if found else zeros(xp, (0,), dtype, device)
