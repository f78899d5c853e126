"""Result dtypes by NumPy's rules, then the precision policy.

NumPy computes every result dtype (``ufunc.resolve_dtypes``, ``np.result_type`` with weak Python scalars); no library's
own promotion is relied on. bfloat16, which NumPy's promotion refuses against integers and float16, has its own rule:
with integers it stays bfloat16, with float16 it becomes float32 (as in JAX's lattice of dtypes).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..common.signal_safety import imported
from .settings import Precision

DType = np.dtype[Any]
Weak = type  # bool is strong; int, float and complex are weak

BOOL = np.dtype(bool)
INTP = np.dtype(np.int64)
FLOAT64 = np.dtype(np.float64)
FLOAT32 = np.dtype(np.float32)
FLOAT16 = np.dtype(np.float16)
COMPLEX64 = np.dtype(np.complex64)
COMPLEX128 = np.dtype(np.complex128)


class OnlyOnHost(str):
    """Reason why a call must run on the host: no device has strings, dates, Python objects or files. It is not a host fallback."""

    __slots__ = ()


class FasterOnHost(OnlyOnHost):
    """Reason why NumPy or SciPy runs a call in host memory: it is faster than the library."""

    __slots__ = ()


@lru_cache(maxsize=256)
def only_on_host(dtype: DType) -> OnlyOnHost:
    """Return the :class:`OnlyOnHost` reason for a dtype."""
    return OnlyOnHost(f"dtype {dtype} exists only on the host")


@lru_cache(maxsize=256)
def array_of(dtype: DType) -> str:
    """Return the words by which reports name an array of a dtype."""
    return f"an array of dtype {dtype}"


@lru_cache(maxsize=1)
def bfloat16() -> DType:
    """Return NumPy's dtype object for bfloat16 (from ml_dtypes, imported on first use)."""
    imported("ml_dtypes")
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)


@lru_cache(maxsize=256)
def is_bfloat16(dtype: DType) -> bool:
    """Whether a dtype is bfloat16; ml_dtypes is not imported to decide."""
    return dtype.name == "bfloat16"


@lru_cache(maxsize=256)
def category(dtype: DType) -> str:
    """Return ``"bool" "int" "uint" "float" "complex"``, or ``"other"``: strings, dates, objects, longdouble, clongdouble, foreign byte
    order.
    """
    if not dtype.isnative:
        return "other"
    if is_bfloat16(dtype):
        return "float"
    if dtype.kind == "f":
        return "float" if dtype.itemsize <= 8 else "other"
    if dtype.kind == "c":
        return "complex" if dtype.itemsize <= 16 else "other"
    return {"b": "bool", "i": "int", "u": "uint"}.get(dtype.kind, "other")


def is_floating(dtype: DType) -> bool:
    """Whether a dtype is real or complex floating."""
    return category(dtype) in ("float", "complex")


@lru_cache(maxsize=512)
def apply_precision(dtype: DType, precision: Precision) -> DType:
    """Return the dtype of a fresh result under a precision; integers and bools stay as they are.

    Complex never goes below complex64.
    """
    if precision is None:
        return dtype
    kind = category(dtype)
    if kind == "float":
        if precision == "bf16":
            return bfloat16()
        return np.dtype(f"f{precision // 8}")
    if kind == "complex":
        return COMPLEX128 if precision == 64 else COMPLEX64
    return dtype


def widen_half(dtype: DType) -> DType:
    """Return float32 for 16-bit floats, which have no kernels for linear algebra and FFT, and any other dtype unchanged."""
    return FLOAT32 if category(dtype) == "float" and dtype.itemsize == 2 else dtype


def _bfloat16_row(operands: tuple[DType | Weak, ...]) -> tuple[DType | Weak, ...]:
    low = bfloat16()
    strong = [t for t in operands if isinstance(t, np.dtype)]
    if any(t == FLOAT16 for t in strong):
        low = FLOAT32
    floats = [t for t in strong if is_floating(t) and not is_bfloat16(t) and t != FLOAT16]
    top = np.result_type(*floats) if floats else low
    if any(t is complex for t in operands) and top.kind != "c":
        top = COMPLEX128 if top == FLOAT64 else COMPLEX64
    if top.kind == "c" or floats:
        return tuple(
            top if t in (low, FLOAT16) or not isinstance(t, np.dtype) or is_bfloat16(t) else t for t in operands
        )
    return tuple(low for _ in operands)


@lru_cache(maxsize=4096)
def loop_dtypes(
    ufunc: np.ufunc,
    operands: tuple[DType | Weak, ...],
    signature: tuple[DType | None, ...] | None = None,
    casting: str = "same_kind",
) -> tuple[DType, ...]:
    """Return the dtypes of the loop that NumPy would run: one for each input, then one for each output.

    An operand is the dtype of an array or NumPy scalar, or the type ``int``, ``float`` or ``complex`` for a Python scalar. NumPy's own
    ``UFuncTypeError`` is raised if no loop fits.
    """
    keywords: dict[str, Any] = {} if signature is None else {"signature": signature}
    if any(isinstance(t, np.dtype) and is_bfloat16(t) for t in operands):
        row = _bfloat16_row(operands)
        try:
            return ufunc.resolve_dtypes(row + (None,) * ufunc.nout, casting=casting, **keywords)  # type: ignore[arg-type]
        except TypeError:  # ml_dtypes has no such loop (ldexp): compute in float32
            operands = tuple(FLOAT32 if isinstance(t, np.dtype) and is_bfloat16(t) else t for t in operands)
    return ufunc.resolve_dtypes(operands + (None,) * ufunc.nout, casting=casting, **keywords)  # type: ignore[arg-type]


@lru_cache(maxsize=1024)
def reduction_dtypes(ufunc: np.ufunc, operand: DType, dtype: DType | None) -> tuple[DType, DType]:
    """Return a reduction's accumulator dtype, and the dtype to which NumPy casts the operand; raise NumPy's TypeError if no loop fits.

    ``dtype``: the call's argument ``dtype=``, None if not given.
    """
    if is_bfloat16(operand) or (dtype is not None and is_bfloat16(dtype)):
        to = operand if dtype is None else dtype
        return (BOOL, to) if ufunc.resolve_dtypes((to, to, None))[-1] == BOOL else (to, to)
    keywords: dict[str, Any] = {} if dtype is None else {"signature": (dtype, None, None)}
    loop = ufunc.resolve_dtypes((None, operand, None), reduction=True, casting="unsafe", **keywords)
    return loop[0], loop[1]


def operand_type(x: Any) -> DType | Weak:
    """Return a scalar's dtype for promotion, or its Python type if that is weak."""
    cls = type(x)
    if cls is float or cls is int or cls is complex:
        return cls
    if isinstance(x, np.generic):
        return x.dtype
    if isinstance(x, bool):
        return BOOL
    if isinstance(x, int):
        return int
    if isinstance(x, float):
        return float
    if isinstance(x, complex):
        return complex
    return np.asarray(x).dtype


@lru_cache(maxsize=4096)
def promote(*operands: DType | Weak) -> DType:
    """Return the dtype that ``np.result_type`` returns, with weak Python scalars and the rule for bfloat16."""
    if any(isinstance(t, np.dtype) and is_bfloat16(t) for t in operands):
        operands = _bfloat16_row(operands)
    samples = {int: 0, float: 0.0, complex: 0j}
    return np.result_type(*(samples[t] if isinstance(t, type) else t for t in operands))


def check_cast(have: DType, to: DType, casting: Any = "safe") -> None:
    """Raise NumPy's TypeError if the rule ``casting`` does not allow the cast of an array from dtype ``have`` to ``to``."""
    if not np.can_cast(have, to, casting):
        raise TypeError(f"Cannot cast array data from {have!r} to {to!r} according to the rule {casting!r}")


def cast_scalar(value: Any, dtype: DType) -> Any:
    """Convert a scalar to an element of ``dtype``; a Python int out of range raises NumPy's OverflowError.

    Returns
    -------
    bool, int, float or complex
        The Python value that the library's kernels take.
    """
    if type(value) is float and dtype == FLOAT64:
        return value
    if dtype.kind in "iub" or dtype.kind in "fc":
        if isinstance(value, np.generic | np.ndarray):
            return value.astype(dtype).item()
        return dtype.type(value).item()
    return float(np.asarray(value).astype(dtype).astype(np.float64))


def default_accumulator(dtype: DType) -> DType:
    """Return the dtype in which ``add`` and ``multiply`` reduce: small integers and bools widen to 64 bits."""
    if dtype.kind == "b" or (dtype.kind == "i" and dtype.itemsize < 8):
        return INTP
    if dtype.kind == "u" and dtype.itemsize < 8:
        return np.dtype(np.uint64)
    return dtype


@lru_cache(maxsize=64)
def inexact(dtype: DType) -> DType:
    """Return the floating dtype in which means and roots of ``dtype`` are computed: float64 for integers and bools."""
    return dtype if is_floating(dtype) else FLOAT64
