"""What bodies of SciPy's functions ask of their arguments: finite values, LAPACK's dtypes, options that mean SciPy's own code."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backends.base import Unsupported
from ..functions.factorisations import is_true
from ..functions.registry import XP
from ..runtime import dtypes

__all__ = ["array", "checked", "every", "floats", "lapack", "number", "only", "plain", "row_of"]


def only(condition: bool, why: str) -> None:
    """Leave a call to SciPy itself, for this reason, unless the condition holds."""
    if not condition:
        raise Unsupported(f"SciPy's own code is needed: {why}")


def array(xp: XP, a: Any, like: Any = None) -> Any:
    """A native array of numbers; what SciPy's own code takes and no library holds goes to it."""
    return xp.asarray(a, like=like if xp.is_array(like) else None)


def plain(xp: XP, value: Any) -> Any:
    """An option as Python has it: a number, or a list of several, where it was given as an array whose values are there."""
    if xp.is_array(value):
        only(xp.backend.is_concrete(value), "an option that is not known yet")
        value = xp.backend.to_numpy(value)
    return value.tolist() if isinstance(value, np.ndarray) else value


def every(xp: XP, condition: Any) -> bool:
    """Whether a condition holds for all elements, whose values are looked at."""
    return is_true(xp, xp.logical_and.reduce(condition, axis=None))


def checked(xp: XP, a: Any, check_finite: bool = True, like: Any = None) -> Any:
    """An array without NaN and infinities, as SciPy demands it; where the values are not known yet, it is not looked at."""
    a = array(xp, a, like)
    looks = check_finite and dtypes.is_floating(xp.dtype_of(a)) and xp.backend.is_concrete(a)
    if looks and not every(xp, xp.isfinite(a)):
        raise ValueError("array must not contain infs or NaNs")
    return a


def lapack(xp: XP, *arrays: Any) -> tuple[Any, ...]:
    """The arrays in the one dtype of LAPACK's routine that SciPy picks: single precision where that has room for all of them."""
    to = np.result_type(*[_computed(xp.dtype_of(a)) for a in arrays])
    return tuple(xp.prim.astype(a, to) for a in arrays)


def floats(xp: XP, *arrays: Any) -> tuple[Any, ...]:
    """The arrays in the one dtype of SciPy's own compiled code: whole numbers of any size are double precision there."""
    to = _floating(np.result_type(*[xp.dtype_of(a) for a in arrays]))
    return tuple(xp.prim.astype(a, to) for a in arrays)


def _computed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return dtypes.FLOAT32 if dtype.kind in "biu" and dtype.itemsize <= 2 else _floating(dtype)


def _floating(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype == dtypes.FLOAT16:
        return dtypes.FLOAT32
    only(not dtypes.is_bfloat16(dtype), "LAPACK has no bfloat16")
    return dtypes.inexact(dtype)


def number(xp: XP, value: Any) -> Any:
    """A 0-d result as Python's own number, where SciPy gives one of those and the host has the value."""
    return xp.backend.to_numpy(value).item() if xp.backend.on_cpu(value) else value


def row_of(xp: XP, a: Any, axis: int, start: int, stop: int) -> Any:
    """``a[..., start:stop, ...]`` along an axis."""
    shape = xp.shape_of(a)
    return xp.prim.slice(a, tuple(slice(start, stop, 1) if i == axis else slice(0, n, 1) for i, n in enumerate(shape)))
