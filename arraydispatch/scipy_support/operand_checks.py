"""Checks and conversions of SciPy arguments: finite values, LAPACK's dtypes, options that require SciPy's own code."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backends.base import Unsupported
from ..functions.factorizations import is_true
from ..functions.registry import XP
from ..runtime import dtypes


def only(condition: bool, why: str) -> None:
    """Raise :class:`Unsupported`, which leaves the call to SciPy itself for the reason ``why``, unless the condition holds."""
    if not condition:
        raise Unsupported(f"SciPy's own code is needed: {why}")


def array(xp: XP, a: Any, like: Any = None) -> Any:
    """Return an argument as a native array, on the device of ``like`` if that is one and the argument is not; raise :class:`Unsupported` for
    values that only SciPy's own code accepts.
    """
    return xp.asarray(a, like=like if xp.is_array(like) else None)


def plain(xp: XP, value: Any) -> Any:
    """Convert an option given as an array to a Python number or a list; raise Unsupported if the array is not concrete."""
    if xp.is_array(value):
        only(xp.backend.is_concrete(value), "an option that is not known yet")
        value = xp.backend.to_numpy(value)
    return value.tolist() if isinstance(value, np.ndarray) else value


def every(xp: XP, condition: Any) -> bool:
    """Whether a condition holds for all elements; their values are read."""
    return is_true(xp, xp.logical_and.reduce(condition, axis=None))


def checked(xp: XP, a: Any, check_finite: bool = True, like: Any = None) -> Any:
    """Return an argument as :func:`array` does; with ``check_finite``, raise SciPy's ValueError if it is concrete and contains NaN or
    infinity.
    """
    a = array(xp, a, like)
    looks = check_finite and dtypes.is_floating(xp.dtype_of(a)) and xp.backend.is_concrete(a)
    if looks and not every(xp, xp.isfinite(a)):
        raise ValueError("array must not contain infs or NaNs")
    return a


def lapack(xp: XP, *arrays: Any) -> tuple[Any, ...]:
    """Cast the arrays to the dtype of the LAPACK routine that SciPy selects: single precision if it can hold all of them."""
    to = np.result_type(*[_computed(xp.dtype_of(a)) for a in arrays])
    return tuple(xp.prim.astype(a, to) for a in arrays)


def floats(xp: XP, *arrays: Any) -> tuple[Any, ...]:
    """Cast the arrays to the dtype of SciPy's compiled code, in which integers of any size become double precision."""
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
    """Convert a 0-d result on a CPU to a Python number, as SciPy returns it; return other results unchanged."""
    return xp.backend.to_numpy(value).item() if xp.backend.on_cpu(value) else value
