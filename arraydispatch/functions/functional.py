"""Functions that call the caller's functions (NumPy's reference topic "Functional programming").

The caller's function gets the same arguments as from NumPy. If NumPy passes a view, so do these functions, and writes to the
view reach the argument.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from .._core import handles
from ..backends.base import Unsupported
from ..memory import views
from . import layouts
from .advanced_index import getitem, setitem
from .operands import filled, first_native, native_of, sequence, to_host, truth, unshared, wrapped
from .registry import implements

Native = Any


def _unwrapped(xp: Any, x: Any, like: Native) -> Native:
    """Return ``x``, a result of the caller's function, as a native array, on the device of ``like`` if it was not one."""
    if isinstance(x, handles.Handle):
        x = views.native(x)
    elif isinstance(x, list | tuple):
        x = [views.native(y) if isinstance(y, handles.Handle) else y for y in x]
    elif not xp.is_array(x) and not isinstance(x, int | float | complex | np.generic | np.ndarray):
        native = getattr(x, "native", x)  # a device scalar has its native value in `native`
        x = native if xp.is_array(native) else x
    return x if xp.is_array(x) else xp.asarray(x, like=like)


def _kept(xp: Any, x: Any, like: Native) -> Native:
    """Return ``x``, a result of the caller's function, as a native array that later writes to ``x`` cannot change. ``like``: as in
    :func:`_unwrapped`.
    """
    with views.exchange:
        value = _unwrapped(xp, x, like)
        if isinstance(x, handles.Handle):
            views.expose(x)
    return unshared(xp, value)


def _cast_by_numpy(value: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Cast a result of a dtype that the library lacks, as NumPy does when it assigns the result to elements of ``dtype``."""
    cast = np.empty(shape, dtype)
    cast[...] = value
    return cast


@implements(np.piecewise, pure=False, layout=layouts.first)
def piecewise(xp: Any, x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Native:
    x = xp.asarray(x, like=first_native(xp, (condlist,)))
    if np.isscalar(condlist) or (xp.is_array(condlist) and len(xp.shape_of(condlist)) == 0):
        condlist = [condlist]
    elif xp.is_array(condlist):
        condlist = [condlist] if len(xp.shape_of(condlist)) == 1 and xp.shape_of(x) else sequence(xp, condlist)
    elif not (isinstance(condlist[0], list | np.ndarray) or xp.is_array(condlist[0])) and xp.shape_of(x):
        condlist = [condlist]
    conditions = [truth(xp, xp.asarray(c, like=x)) for c in condlist]
    n = len(conditions)
    if n == len(funclist) - 1:
        either = conditions[0]
        for c in conditions[1:]:
            either = xp.logical_or(either, c)
        conditions.append(xp.logical_not(either))
    elif n != len(funclist):
        raise ValueError(f"with {n} condition(s), either {n} or {n + 1} functions are expected")
    y = filled(xp, xp.shape_of(x), 0, xp.dtype_of(x), x)
    for condition, func in zip(conditions, funclist):
        value = func
        if callable(func):
            chosen = getitem(xp, x, condition)
            if 0 in xp.shape_of(chosen):
                continue
            value = func(wrapped(xp, chosen), *args, **kw)
            try:
                value = _unwrapped(xp, value, x)
            except Unsupported:  # NumPy on the host would call the functions a second time
                value = xp.asarray(_cast_by_numpy(value, xp.shape_of(chosen), xp.dtype_of(x)), like=x)
        y = setitem(xp, y, condition, value)
    return y


def _host_result(xp: Any, x: Any) -> Any:
    """Convert a result of the caller's function for NumPy's assignment to a host array."""
    return to_host(xp, views.native(x) if isinstance(x, handles.Handle) else x)


def _fitting(xp: Any, x: Native, first: Native) -> Native:
    """Drop surplus leading axes of ``x``, a result, so that it broadcasts to the shape of the ``first`` result; raise NumPy's error if it
    cannot.
    """
    shape, inner = xp.shape_of(x), xp.shape_of(first)
    if shape == inner:
        return x
    np.empty(inner, bool)[...] = np.broadcast_to(False, shape)
    return xp.prim.reshape(x, shape[max(len(shape) - len(inner), 0) :])


@implements(np.apply_along_axis, pure=False, mode="arrays")
def apply_along_axis(xp: Any, func1d: Callable[..., Any], axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Native:
    arr = wrapped(xp, arr)
    axis = normalize_axis_index(axis, arr.ndim)
    others = [i for i in range(arr.ndim) if i != axis]
    lines: Any = np.transpose(arr, [*others, axis])
    rest = lines.shape[:-1]
    if 0 in rest:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    like = native_of(xp, arr)
    found: list[Native] = []
    on_host: Any = None
    for index in itertools.product(*map(range, rest)):
        result = func1d(lines[(*index, Ellipsis)], *args, **kwargs)
        if on_host is not None:
            on_host[(*index, Ellipsis)] = _host_result(xp, result)
            continue
        try:
            value = _kept(xp, result, like)
        except Unsupported:  # NumPy on the host would call the function a second time
            if not found:
                first = np.asanyarray(result)
                on_host = np.zeros((*rest, *first.shape), first.dtype)
                on_host[(*index, Ellipsis)] = first
                continue
            value = xp.asarray(_cast_by_numpy(result, xp.shape_of(found[0]), xp.dtype_of(found[0])), like=like)
        found.append(_fitting(xp, value, found[0]) if found else value)
    if on_host is not None:
        made, inner = on_host, on_host.shape[len(rest) :]
    else:
        inner, dtype = xp.shape_of(found[0]), xp.dtype_of(found[0])
        rows = [xp.prim.reshape(xp.prim.broadcast_to(xp.prim.astype(x, dtype), inner), (1, *inner)) for x in found]
        made = wrapped(xp, xp.prim.reshape(xp.prim.concatenate(rows, 0), (*rest, *inner)))
    outer = list(range(len(rest)))
    within = list(range(len(rest), len(rest) + len(inner)))
    # Transpose the `Array`, not its native value, so that the result has NumPy's memory order.
    return np.transpose(made, outer[:axis] + within + outer[axis:])


@implements(np.apply_over_axes, pure=False, mode="arrays", returns="scalar")
def apply_over_axes(xp: Any, func: Callable[..., Any], a: Any, axes: Any) -> Any:
    value = wrapped(xp, a)
    ndim, like = value.ndim, native_of(xp, value)
    for given in to_host(xp, views.native(axes) if isinstance(axes, handles.Handle) else axes).reshape(-1).tolist():
        axis = given + ndim if given < 0 else given
        result = func(value, axis)
        if not isinstance(result, handles.Handle):
            try:
                result = wrapped(xp, _unwrapped(xp, result, like))
            except Unsupported:  # NumPy on the host would call the function a second time
                result = np.asarray(result)
        if result.ndim != value.ndim:
            result = np.expand_dims(result, axis)
            if result.ndim != value.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        value = result
    return value
