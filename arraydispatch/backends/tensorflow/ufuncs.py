"""NumPy ufunc -> TensorFlow kernel.

Operands are tensors of the loop's dtype, or of the dtype that :func:`compute_dtype` names if TensorFlow has no kernel
for it; one of them may be a Python number for the ufuncs in :data:`SCALARS`. Rows that name an operation are exact as
they stand; a ``def`` states how TensorFlow departs from NumPy. Subnormal numbers are flushed to zero by TensorFlow on
the CPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from ..host_kernels import SCALAR_CODE
from .arithmetic import (
    binary,
    divide,
    floor_divide,
    fmod,
    hypot,
    log,
    log1p,
    modulus,
    power,
    reciprocal,
    remainder,
    signbit,
    sqrt,
    tensors,
)
from .complex_kernels import (
    arccos,
    arccosh,
    arcsin,
    arcsinh,
    arctan,
    arctanh,
    cos,
    cosh,
    exp,
    exp2,
    expm1,
    sin,
    sinh,
    tan,
    tanh,
)
from .core import (
    BFLOAT16,
    BITS,
    BOOL,
    COMPLEX,
    INTEGERS,
    PYTHON,
    UNSIGNED,
    UNSIGNED_TWIN,
    derived,
    fresh,
    raw,
    scalar,
    truth,
)
from .host_kernels import of_reals
from .reductions import ACCUMULATE, REDUCE, running_extremum

__all__ = ["ACCUMULATE", "REDUCE", "SCALARS", "UFUNCS", "compute_dtype"]

Tensor = Any
Kernel = Callable[..., Any]

_add, _sub, _mul, _div, _neg, _abs, _complex_abs, _sign, _square = map(
    raw, "AddV2 Sub Mul RealDiv Neg Abs ComplexAbs Sign Square".split()
)
_floor, _ceil, _rint, _atan2, _next_after, _equal = map(raw, "Floor Ceil Rint Atan2 NextAfter Equal".split())
_not_equal, _less, _less_equal, _greater, _greater_equal, _maximum, _minimum, _and, _or = map(
    raw, "NotEqual Less LessEqual Greater GreaterEqual Maximum Minimum LogicalAnd LogicalOr".split()
)
_not, _bit_and, _bit_or, _bit_xor, _invert, _left_shift, _right_shift, _population, _is_nan = map(
    raw, "LogicalNot BitwiseAnd BitwiseOr BitwiseXor Invert LeftShift RightShift PopulationCount IsNan".split()
)
_is_inf, _is_finite, _select, _bitcast, _fill, _shape_of, _conj = map(
    raw, "IsInf IsFinite SelectV2 Bitcast Fill Shape Conj".split()
)


# -- order -------------------------------------------------------------------------------------------------------------


def _halved(plain: Kernel) -> Kernel:
    """Return ``plain``, a maximum or minimum, with another derivative: two equal numbers share it, and the first of two NaN gets all of it.
    TensorFlow gives all of it to the first of two equal numbers.

    TensorFlow makes XLA ignore NaN on the CPU (``xla_cpu_enable_fast_min_max``).
    """

    def kernel(a: Any, b: Any) -> Tensor:
        if not derived() or (b if type(a) in PYTHON else a).dtype not in BITS:
            return plain(a, b)
        a, b = tensors(a, b)
        held, other = tf.stop_gradient(a), tf.stop_gradient(b)
        equal = _and(_equal(held, other), _less(_abs(held), scalar(np.inf, held)))
        nothing = _mul(_add(_sub(held, a), _sub(other, b)), scalar(0.5, held))
        halved = _select(equal, _sub(plain(held, other), _select(equal, nothing, scalar(0.0, held))), plain(a, b))
        return _select(_not_equal(held, held), a, _select(_not_equal(other, other), b, halved))

    return kernel


def _arctan2(a: Tensor, b: Tensor) -> Tensor:
    """Compute arctan2; at two zeros the derivative is 0, where TensorFlow has NaN."""
    if not derived():
        return _atan2(a, b)
    held, other = tf.stop_gradient(a), tf.stop_gradient(b)
    nothing, one = _and(_equal(held, 0.0), _equal(other, 0.0)), scalar(1.0, a)
    return _select(nothing, _atan2(held, other), _atan2(_select(nothing, one, a), _select(nothing, one, b)))


def _without_nan(plain: Kernel) -> Kernel:
    """Make fmax or fmin from ``plain``, a maximum or minimum."""
    plain = _halved(plain)

    def kernel(a: Tensor, b: Tensor) -> Tensor:
        if a.dtype not in BITS:
            return plain(a, b)
        return _select(_not_equal(a, a), b, _select(_not_equal(b, b), a, plain(a, b)))

    return kernel


# -- signs, parts, neighbours ----------------------------------------------------------------------------------------------


def negative(a: Tensor) -> Tensor:
    return _sub(scalar(0, a), a) if a.dtype in UNSIGNED else _neg(a)


def absolute(a: Tensor) -> Tensor:
    return modulus(a) if a.dtype in COMPLEX else _abs(a)


def sign(a: Tensor) -> Tensor:
    dtype = a.dtype
    if dtype in UNSIGNED:
        return _minimum(a, 1)
    made = _sign(a)
    if dtype in INTEGERS or tf.executing_eagerly():
        return made
    size = _abs(made)
    return _sub(size, _sub(size, made))  # XLA's sign of -0.0 is -0.0


def copysign(a: Tensor, b: Tensor) -> Tensor:
    """Copy signs by selection, which has a derivative, not by combining bits."""
    integers = BITS[a.dtype]
    if derived():  # the derivative at zero is that of the absolute value
        a = _select(_equal(a, scalar(0.0, a)), tf.stop_gradient(a), a)
    alike = _greater_equal(_bit_xor(_bitcast(a, integers), _bitcast(b, integers)), scalar(0, _bitcast(a, integers)))
    return _select(alike, a, _neg(a))


def nextafter(a: Tensor, b: Tensor) -> Tensor:
    """Return the number next to ``a`` in the direction of ``b``; for 16-bit types by incrementing or decrementing the bits of ``a``."""
    dtype = a.dtype
    if dtype is tf.float64 or dtype is tf.float32:
        return _next_after(a, b)
    bits = _bitcast(a, tf.int16)
    away = _equal(_greater(b, a), _greater_equal(bits, 0))
    one = scalar(1, bits)
    moved = _bitcast(_add(bits, _select(away, one, scalar(-1, bits))), dtype)
    smallest = _bitcast(_bit_or(_bit_and(_bitcast(b, tf.int16), tf.int16.min), one), dtype)
    out = _select(_equal(a, b), a, _select(_equal(a, 0.0), smallest, moved))
    return _select(_or(_is_nan(a), _is_nan(b)), scalar(math.nan, a), out)


def conjugate(a: Tensor) -> Tensor:
    return _conj(a) if a.dtype in COMPLEX else fresh(a)


# -- rounding --------------------------------------------------------------------------------------------------------------


def _trunc(a: Tensor) -> Tensor:
    return _select(_less(a, 0.0), _ceil(a), _floor(a))


# -- logic and bits ------------------------------------------------------------------------------------------------------------


def logical_and(a: Tensor, b: Tensor) -> Tensor:
    return _and(truth(a), truth(b))


def logical_or(a: Tensor, b: Tensor) -> Tensor:
    return _or(truth(a), truth(b))


def logical_xor(a: Tensor, b: Tensor) -> Tensor:
    return _not_equal(truth(a), truth(b))


def logical_not(a: Tensor) -> Tensor:
    return _not(a) if a.dtype is BOOL else _equal(a, 0)


def _bitwise(of_integers: Kernel, of_bool: Kernel) -> Kernel:
    def kernel(a: Any, b: Any) -> Tensor:
        if type(a) in PYTHON:
            a = scalar(a, b)
        return (of_bool if a.dtype is BOOL else of_integers)(a, b)

    return kernel


def invert(a: Tensor) -> Tensor:
    return _not(a) if a.dtype is BOOL else _invert(a)


def _shift(a: Any, b: Any, op: Kernel) -> Tensor:
    """Shift bits by ``b`` places; 0 if ``b`` is negative or at least the width of the integers. TensorFlow would clamp ``b``."""
    a, b = tensors(a, b)
    dtype = a.dtype
    distance = b if dtype in UNSIGNED else _bitcast(b, UNSIGNED_TWIN[dtype])
    return _select(_less(distance, dtype.size * 8), op(a, b), scalar(0, a))


def left_shift(a: Any, b: Any) -> Tensor:
    if type(b) is int and 0 <= b < a.dtype.size * 8:
        return _left_shift(a, b)
    return _shift(a, b, _left_shift)


def right_shift(a: Any, b: Any) -> Tensor:
    """Shift bits to the right by ``b`` places. A signed integer becomes 0 or -1, by its sign, if ``b`` is negative (for TensorFlow ``b``
    is 0 then) or at least the width.
    """
    if type(b) is int and 0 <= b < a.dtype.size * 8:
        return _right_shift(a, b)
    a, b = tensors(a, b)
    dtype = a.dtype
    if dtype in UNSIGNED:
        return _shift(a, b, _right_shift)
    return _right_shift(a, _select(_less(b, 0), scalar(dtype.size * 8 - 1, b), b))


def bitwise_count(a: Tensor) -> Tensor:
    """Count the bits of the absolute value."""
    return _population(a if a.dtype in UNSIGNED else _abs(a))


# -- tables --------------------------------------------------------------------------------------------------------------------


UFUNCS: dict[Any, Kernel] = {
    # arithmetic
    np.add: binary(_add),
    np.subtract: binary(_sub),
    np.multiply: binary(_mul),
    np.divide: divide,
    np.floor_divide: floor_divide,
    np.remainder: remainder,
    np.fmod: fmod,
    np.power: power,
    np.float_power: power,
    np.negative: negative,
    np.positive: fresh,
    np.absolute: absolute,
    np.fabs: _abs,
    np.square: _square,
    np.reciprocal: reciprocal,
    np.sqrt: sqrt,
    np.sign: sign,
    np.signbit: signbit,
    np.copysign: copysign,
    np.nextafter: nextafter,
    np.conjugate: conjugate,
    np.hypot: hypot,
    # rounding
    np.rint: _rint,
    np.floor: _floor,
    np.ceil: _ceil,
    np.trunc: _trunc,
    # exponentials, logarithms
    np.exp: exp,
    np.exp2: exp2,
    np.expm1: expm1,
    np.log: log,
    np.log1p: log1p,
    # trigonometry
    np.sin: sin,
    np.cos: cos,
    np.tan: tan,
    np.arcsin: arcsin,
    np.arccos: arccos,
    np.arctan: arctan,
    np.arctan2: _arctan2,
    np.sinh: sinh,
    np.cosh: cosh,
    np.tanh: tanh,
    np.arcsinh: arcsinh,
    np.arccosh: arccosh,
    np.arctanh: arctanh,
    # order
    np.equal: binary(_equal),
    np.not_equal: binary(_not_equal),
    np.less: binary(_less),
    np.less_equal: binary(_less_equal),
    np.greater: binary(_greater),
    np.greater_equal: binary(_greater_equal),
    np.maximum: binary(_halved(_maximum)),  # TensorFlow's propagates NaN as NumPy's does
    np.minimum: binary(_halved(_minimum)),
    np.fmax: _without_nan(_maximum),
    np.fmin: _without_nan(_minimum),
    # logic and bits
    np.logical_and: logical_and,
    np.logical_or: logical_or,
    np.logical_xor: logical_xor,
    np.logical_not: logical_not,
    np.bitwise_and: _bitwise(_bit_and, _and),
    np.bitwise_or: _bitwise(_bit_or, _or),
    np.bitwise_xor: _bitwise(_bit_xor, _not_equal),
    np.invert: invert,
    np.left_shift: left_shift,
    np.right_shift: right_shift,
    np.bitwise_count: bitwise_count,
    np.isnan: _is_nan,
    np.isinf: _is_inf,
    np.isfinite: _is_finite,
}
UFUNCS.update({ufunc: of_reals(ufunc, UFUNCS[ufunc]) for ufunc in (*SCALAR_CODE, np.exp2) if ufunc in UFUNCS})

ACCUMULATE.update({ufunc: running_extremum(ufunc, UFUNCS[ufunc]) for ufunc in (np.maximum, np.minimum)})

SCALARS: frozenset[Any] = frozenset(
    {
        np.add, np.subtract, np.multiply, np.divide, np.floor_divide, np.remainder, np.power, np.float_power,
        np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.maximum, np.minimum,
        np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift,
    }
)  # fmt: skip
"""Ufuncs whose operation converts a Python number to the other operand's dtype, which is 2 µs faster than a constant."""

# -- loops that TensorFlow computes in another dtype ------------------------------------------------------------------

_FLOAT16 = np.dtype(np.float16)
_BOOL, _UINT8, _INT32, _INT64, _FLOAT32 = (np.dtype(t) for t in (bool, np.uint8, np.int32, np.int64, np.float32))

_SMALL = {np.dtype(t): _INT32 for t in (np.int8, np.int16)}
_HALVES = {_FLOAT16: _FLOAT32, BFLOAT16: _FLOAT32}
_COMPLEX64 = {np.dtype(np.complex64): np.dtype(np.complex128)}
"""Dtype -> wider dtype in which it is computed, because the vectorized kernel of the narrower dtype has other signs than NumPy at
infinities.
"""
_BYTE = {_BOOL: _UINT8}
_WITHOUT_BOOL: dict[Any, Any] = dict.fromkeys(
    (np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin)
    + (np.less, np.less_equal, np.greater, np.greater_equal),
    _BYTE,
)
"""Ufunc -> dtype without a kernel (bool) -> dtype in which its loops run: 1 + 1 is 2, which is True as a bool."""

_WIDER: dict[Any, dict[Any, Any]] = _WITHOUT_BOOL | {
    np.fmod: _SMALL | _HALVES,
    np.floor_divide: _HALVES,
    np.remainder: _HALVES,
    np.power: {np.dtype(t): _INT64 for t in (np.uint8, np.uint16, np.uint32)},
    np.exp: _COMPLEX64,
    np.exp2: _COMPLEX64,
    **dict.fromkeys((np.rint, np.hypot), _HALVES),
}
"""ufunc -> dtype without a kernel -> dtype in which the result is the same after a cast back."""


def compute_dtype(ufunc: np.ufunc, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which a loop of ``dtype`` is computed."""
    row = _WIDER.get(ufunc)
    return dtype if row is None else row.get(dtype, dtype)
