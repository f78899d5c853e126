"""The standard's dtypes, which are NumPy's, and functions on them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from ..array import Array
from ..backends import loader
from ..common.signal_safety import imported
from ..runtime import dtypes

DTYPES: dict[str, type[np.generic]] = {
    name: getattr(np, name)
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
        "complex64", "complex128",
    )
}  # fmt: skip
"""Name in the standard -> NumPy's scalar type. (An instance of ``np.dtype`` would compare equal to None.)"""

KINDS: dict[str, frozenset[str]] = {
    "bool": frozenset({"bool"}),
    "signed integer": frozenset({"int"}),
    "unsigned integer": frozenset({"uint"}),
    "integral": frozenset({"int", "uint"}),
    "real floating": frozenset({"float"}),
    "complex floating": frozenset({"complex"}),
    "numeric": frozenset({"int", "uint", "float", "complex"}),
}
"""Kind in the standard -> the categories of :func:`arraydispatch.runtime.dtypes.category` in it."""


def dtype_of(x: Any) -> Any:
    """Return the dtype of an array, the Python type of a scalar, which is weak, or else the dtype that the object is or names."""
    if isinstance(x, Array | np.ndarray | np.generic):
        return x.dtype
    backend = loader.backend_of(x)
    if backend is not None:
        return backend.dtype_of(x)
    if type(x) in (bool, int, float, complex):
        return type(x)
    return np.dtype(x)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is of a kind: the name of a kind, a dtype, or a tuple of these. Raise ValueError for an unknown name."""
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is not a kind of dtype; choose one of: {', '.join(KINDS)}.")
        return dtypes.category(np.dtype(dtype)) in KINDS[kind]
    return np.dtype(dtype) == np.dtype(kind)


_WEAK = {
    bool: frozenset({"bool"}),
    int: KINDS["numeric"],
    float: frozenset({"float", "complex"}),
    complex: frozenset({"float", "complex"}),
}
"""Python type -> categories of the arrays it promotes with."""


@lru_cache(maxsize=4096)
def promote(*operands: Any) -> np.dtype[Any]:
    """Return the dtype that dtypes and Python types promote to.

    Raises
    ------
    TypeError
        If they are of kinds that do not promote.
    """
    strong = [t for t in operands if isinstance(t, np.dtype)]
    result = dtypes.promote(*(dtypes.BOOL if t is bool else t for t in operands))
    kinds = {dtypes.category(t) for t in strong}
    groups = {"integer" if k in ("int", "uint") else "floating" if k in ("float", "complex") else k for k in kinds}
    mixed = len(groups) > 1 or (groups == {"integer"} and result.kind == "f" and float not in operands)
    weak = [t for t in operands if not isinstance(t, np.dtype)]
    if mixed or any(not kinds <= _WEAK[t] for t in weak if strong):
        names = " and ".join(getattr(t, "name", None) or f"Python's {t.__name__}" for t in operands)
        raise TypeError(f"{names} do not promote to one dtype; convert one first, with astype.")
    return result


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Return the dtype that arrays, dtypes and Python scalars promote to. Raise ValueError if there is no array and no dtype."""
    if not arrays_and_dtypes:
        raise ValueError("at least one array or dtype is required")
    operands = [dtype_of(x) for x in arrays_and_dtypes]
    if not any(isinstance(t, np.dtype) for t in operands):
        raise ValueError("at least one array or dtype is required in addition to Python scalars")
    return promote(*operands)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether a dtype, or the dtype of an array, promotes to another; NumPy's casts between kinds (integer to float) do not count."""
    target = np.dtype(to)
    try:
        return promote(dtype_of(from_), target) == target
    except TypeError:
        return False


@dataclass(frozen=True)
class FloatInfo:
    """Limits of a floating dtype, or of the real and imaginary parts of a complex dtype."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class IntegerInfo:
    """Limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: np.dtype[Any]


def finfo(type: Any, /) -> FloatInfo:
    """Return the limits of a floating dtype, or of the dtype of an array."""
    dtype = dtype_of(type)
    if dtypes.is_bfloat16(dtype):
        imported("ml_dtypes")
        import ml_dtypes

        found: Any = ml_dtypes.finfo(dtype)
    else:
        found = np.finfo(dtype)
    eps, top, bottom, smallest = (float(x) for x in (found.eps, found.max, found.min, found.smallest_normal))
    return FloatInfo(found.bits, eps, top, bottom, smallest, np.dtype(found.dtype))


def iinfo(type: Any, /) -> IntegerInfo:
    """Return the limits of an integer dtype, or of the dtype of an array."""
    dtype = dtype_of(type)
    found = np.iinfo(dtype)
    return IntegerInfo(found.bits, found.max, found.min, dtype)


FUNCTIONS = (can_cast, finfo, iinfo, isdtype, result_type)
