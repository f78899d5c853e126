"""NumPy ufunc -> TensorFlow kernel.

Operands are tensors of the loop's dtype, or of the one :func:`compute_dtype` names where TensorFlow has no kernel for
it; one of them may be a Python number for the ufuncs in :data:`SCALARS`. Rows that name an operation are exact as they
stand; a ``def`` says where TensorFlow departs from NumPy. Subnormal numbers are flushed to zero by TensorFlow on the
CPU.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from arraydispatch.backends.tensorflow.core import (
    BFLOAT16,
    BITS,
    BOOL,
    COMPLEX,
    INTEGERS,
    PYTHON,
    REAL,
    UNSIGNED,
    UNSIGNED_TWIN,
    EagerTensor,
    fresh,
    host,
    raw,
    scalar,
)
from arraydispatch.backends.tensorflow.reductions import ACCUMULATE, REDUCE

__all__ = ["ACCUMULATE", "REDUCE", "SCALARS", "UFUNCS", "compute_dtype"]

Tensor = Any
Kernel = Callable[..., Any]

_add, _sub, _mul, _div, _floor_div, _floor_mod, _truncate_mod, _pow = (
    raw("AddV2"), raw("Sub"), raw("Mul"), raw("RealDiv"), raw("FloorDiv"), raw("FloorMod"), raw("TruncateMod"),
    raw("Pow"),
)  # fmt: skip
_neg, _abs, _complex_abs, _sign, _square, _inverse = (
    raw("Neg"), raw("Abs"), raw("ComplexAbs"), raw("Sign"), raw("Square"), raw("Reciprocal"),
)  # fmt: skip
_floor, _ceil, _rint, _exp, _log, _log1p, _atan2, _next_after = (
    raw("Floor"), raw("Ceil"), raw("Rint"), raw("Exp"), raw("Log"), raw("Log1p"), raw("Atan2"), raw("NextAfter"),
)  # fmt: skip
_sqrt, _expm1, _sin, _cos = raw("Sqrt"), raw("Expm1"), raw("Sin"), raw("Cos")
_equal, _not_equal, _less, _less_equal, _greater, _greater_equal, _maximum, _minimum = (
    raw("Equal"), raw("NotEqual"), raw("Less"), raw("LessEqual"), raw("Greater"), raw("GreaterEqual"),
    raw("Maximum"), raw("Minimum"),
)  # fmt: skip
_and, _or, _not = raw("LogicalAnd"), raw("LogicalOr"), raw("LogicalNot")
_bit_and, _bit_or, _bit_xor, _invert, _left_shift, _right_shift, _population = (
    raw("BitwiseAnd"), raw("BitwiseOr"), raw("BitwiseXor"), raw("Invert"), raw("LeftShift"), raw("RightShift"),
    raw("PopulationCount"),
)  # fmt: skip
_is_nan, _is_inf, _is_finite = raw("IsNan"), raw("IsInf"), raw("IsFinite")
_select, _cast, _bitcast, _fill, _shape_of = raw("SelectV2"), raw("Cast"), raw("Bitcast"), raw("Fill"), raw("Shape")
_real, _imag, _complex, _conj = raw("Real"), raw("Imag"), raw("Complex"), raw("Conj")


def _parts(a: Tensor) -> tuple[Tensor, Tensor]:
    kind = REAL[a.dtype]
    return _real(a, kind), _imag(a, kind)


def _join(re: Tensor, im: Tensor) -> Tensor:
    return _complex(re, im, tf.complex128 if re.dtype is tf.float64 else tf.complex64)


# -- operands that are Python numbers ----------------------------------------------------------------------------------


def _binary(op: Kernel) -> Kernel:
    """Eager operations take a Python number on either side in the other's dtype, graphs on the right only.

    They too keep one memory for equal numbers, so zeros and complex numbers, whose signs count, get one of their own.
    """

    def kernel(a: Any, b: Any) -> Tensor:
        if type(a) in PYTHON:
            if not a or type(a) is complex or type(b) is not EagerTensor:
                a = scalar(a, b)
        elif type(b) in PYTHON and (not b or type(b) is complex):
            b = scalar(b, a)
        return op(a, b)

    return kernel


def _tensors(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    if type(a) in PYTHON:
        return scalar(a, b), b
    return (a, scalar(b, a)) if type(b) in PYTHON else (a, b)


# -- order -------------------------------------------------------------------------------------------------------------


def _lexicographic(plain: Kernel, strict: Kernel, a: Any, b: Any) -> Tensor:
    """Complex order as NumPy's ``CLT`` and its kin: by real part, then by imaginary part; NaN is unordered."""
    a, b = _tensors(a, b)
    (ar, ai), (br, bi) = _parts(a), _parts(b)
    known = _and(_equal(ai, ai), _equal(bi, bi))
    return _or(_and(strict(ar, br), known), _and(_equal(ar, br), plain(ai, bi)))


def _comparison(plain: Kernel, strict: Kernel) -> Kernel:
    def kernel(a: Any, b: Any) -> Tensor:
        if type(a) in PYTHON:
            if type(b) is not EagerTensor:
                a = scalar(a, b)
            dtype = b.dtype
        else:
            dtype = a.dtype
        if dtype is tf.complex128 or dtype is tf.complex64:
            return _lexicographic(plain, strict, a, b)
        return plain(a, b)

    return kernel


def _extremum(plain: Kernel, at_least: Kernel, strict: Kernel) -> Kernel:
    """maximum or minimum: TensorFlow's propagates NaN, as NumPy's; complex numbers in lexicographic order."""
    signed = _binary(plain)

    def kernel(a: Any, b: Any) -> Tensor:
        dtype = (b if type(a) in PYTHON else a).dtype
        if dtype is tf.complex128 or dtype is tf.complex64:
            a, b = _tensors(a, b)
            return _select(_or(_not_equal(a, a), _lexicographic(at_least, strict, a, b)), a, b)
        return signed(a, b)

    return kernel


def _extremum_without_nan(plain: Kernel, at_least: Kernel, strict: Kernel) -> Kernel:
    """fmax or fmin."""

    def kernel(a: Tensor, b: Tensor) -> Tensor:
        dtype = a.dtype
        if dtype in BITS:
            return _select(_not_equal(a, a), b, _select(_not_equal(b, b), a, plain(a, b)))
        if dtype in COMPLEX:
            return _select(_or(_not_equal(b, b), _lexicographic(at_least, strict, a, b)), a, b)
        return plain(a, b)

    return kernel


# -- division ----------------------------------------------------------------------------------------------------------


def _traps(b: Tensor) -> Tensor:
    """Where a signed divisor is 0 (TensorFlow raises) or -1 (the lowest integer over it ends the process).

    Of two consecutive integers one is odd, so their product is 0 modulo 2**n only if one of them is.
    """
    return _equal(_mul(b, _add(b, 1)), 0)


def floor_divide(a: Any, b: Any) -> Tensor:
    """Integers: 0 for a zero divisor. Floats: TensorFlow takes the floor of the rounded quotient, 1 // 0.1 is 9."""
    if type(b) is int and b not in (0, -1) and a.dtype in INTEGERS:
        return _floor_div(a, b)
    a, b = _tensors(a, b)
    dtype = b.dtype
    if dtype in UNSIGNED:
        return _mul(_floor_div(a, _maximum(b, 1)), _minimum(b, 1))
    if dtype in INTEGERS:
        traps = _traps(b)
        one = scalar(1, b)
        return _mul(_floor_div(a, _select(traps, one, b)), _select(traps, b, one))
    # numpy/_core/src/npymath/npy_math_internal.h.src: npy_floor_divide
    rest = _truncate_mod(a, b)
    exact = _div(_sub(a, rest), b)
    exact = _sub(exact, _cast(_less(_mul(_sign(b), rest), 0.0), dtype))
    quotient = _div(a, b)
    result = _select(_equal(exact, 0.0), _mul(quotient, 0.0), _rint(exact))
    return _select(_equal(b, 0.0), quotient, result)


def remainder(a: Any, b: Any) -> Tensor:
    """Integers: 0 for a zero divisor. Floats: a zero has the divisor's sign."""
    if type(b) is int and b not in (0, -1) and a.dtype in INTEGERS:
        return _floor_mod(a, b)
    a, b = _tensors(a, b)
    dtype = b.dtype
    if dtype in UNSIGNED:
        return _floor_mod(a, _maximum(b, 1))
    if dtype in INTEGERS:
        return _floor_mod(a, _select(_traps(b), scalar(1, b), b))
    rest = _floor_mod(a, b)
    return _select(_equal(rest, 0.0), _mul(_sign(b), 0.0), rest)


def fmod(a: Tensor, b: Tensor) -> Tensor:
    """Integers: 0 for a zero divisor."""
    dtype = b.dtype
    if dtype in UNSIGNED:
        return _floor_mod(a, _maximum(b, 1))
    if dtype in INTEGERS:
        return _truncate_mod(a, _select(_traps(b), scalar(1, b), b))
    return _truncate_mod(a, b)


def _complex_divide(a: Tensor, b: Tensor) -> Tensor:
    """Smith's method, as NumPy has it: TensorFlow's quotient has other zeros, infinities and NaNs."""
    (ar, ai), (br, bi) = _parts(a), _parts(b)
    by_real = _greater_equal(_abs(br), _abs(bi))
    big, small = _select(by_real, br, bi), _select(by_real, bi, br)
    first, second = _select(by_real, ar, ai), _select(by_real, ai, ar)
    ratio = _div(small, big)
    scale = _inverse(_add(big, _mul(small, ratio)))
    real = _mul(_add(first, _mul(second, ratio)), scale)
    cross = _mul(first, ratio)
    imag = _mul(_select(by_real, _sub(second, cross), _sub(cross, second)), scale)
    size = _abs(br)
    return _select(_equal(b, scalar(0j, b)), _join(_div(ar, size), _div(ai, size)), _join(real, imag))


_quotient = _binary(_div)


def divide(a: Any, b: Any) -> Tensor:
    dtype = (b if type(a) in PYTHON else a).dtype
    if dtype is tf.complex128 or dtype is tf.complex64:
        if type(b) in PYTHON and b != 0:
            return _quotient(a, b)
        return _complex_divide(*_tensors(a, b))
    return _quotient(a, b)


def reciprocal(a: Tensor) -> Tensor:
    """Integers stay integers: 1/1, 1/-1, else 0; of 0 what C makes of infinity on x86."""
    dtype = a.dtype
    if dtype in UNSIGNED:
        return _cast(_equal(a, 1), dtype)
    if dtype in INTEGERS:
        zero = scalar(0, a)
        out = _select(_or(_equal(a, 1), _equal(a, -1)), a, zero)
        return _select(_equal(a, 0), scalar(dtype.min, a), out) if dtype.size >= 4 else out
    return _inverse(a) if dtype in BITS else _complex_reciprocal(a)


def _complex_reciprocal(a: Tensor) -> Tensor:
    """Smith's method, as NumPy has it: TensorFlow gives NaN for 1/inf."""
    re, im = _parts(a)
    by_real = _less_equal(_abs(im), _abs(re))
    big, small = _select(by_real, re, im), _select(by_real, im, re)
    ratio = _div(small, big)
    scale = _add(big, _mul(small, ratio))
    long, short = _inverse(scale), _div(ratio, scale)
    return _join(_select(by_real, long, short), _neg(_select(by_real, short, long)))


# -- powers and exponents ------------------------------------------------------------------------------------------------


def _complex_power(a: Tensor, b: Tensor) -> Tensor:
    """TensorFlow gives NaN for 0 ** 0, infinities where NumPy gives NaN, and rounds small whole powers."""
    zero = scalar(0j, a)
    of_zero = _select(_greater(_parts(b)[0], 0.0), zero, scalar(complex(math.nan, math.nan), a))
    square = _square(a)
    out = _pow(a, b)
    for n, value in ((1, a), (2, square), (3, _mul(square, a))):
        out = _select(_equal(b, scalar(complex(n), a)), value, out)
    out = _select(_equal(a, zero), of_zero, out)
    return _select(_equal(b, zero), scalar(1 + 0j, a), out)


def _integer_power(a: Tensor, b: Tensor) -> Tensor:
    if a.dtype is tf.uint64:
        # x**(k * 2**62) is 1 for odd x and 0 for even x and k > 0, modulo 2**64
        a, b = _bitcast(a, tf.int64), _bitcast(b, tf.int64)
        high = _select(_equal(_right_shift(b, 62), 0), scalar(0, b), scalar(2**62, b))
        return _bitcast(_pow(a, _bit_or(_bit_and(b, 2**62 - 1), high)), tf.uint64)
    try:
        return _pow(a, b)
    except tf.errors.InvalidArgumentError:
        raise ValueError("Integers to negative integer powers are not allowed.") from None


def power(a: Any, b: Any) -> Tensor:
    """Negative powers of integers raise, as NumPy's do."""
    if type(b) in PYTHON:
        if b == 2:
            return _square(a)
        if a.dtype in BITS:
            return _pow(a, b)
    a, b = _tensors(a, b)
    dtype = a.dtype
    if dtype in BITS:
        return _pow(a, b)
    return _integer_power(a, b) if dtype in INTEGERS else _complex_power(a, b)


def exp2(a: Tensor) -> Tensor:
    if a.dtype in COMPLEX:
        re, im = _parts(a)
        return _exp(_join(_mul(re, math.log(2.0)), _mul(im, math.log(2.0))))
    return _pow(scalar(2.0, a), a)


def expm1(a: Tensor) -> Tensor:
    """Complex: NumPy's formula; TensorFlow's loses all digits near 0 and is NaN at infinities."""
    if a.dtype not in COMPLEX:
        return _expm1(a)
    re, im = _parts(a)
    half = _sin(_mul(im, 0.5))
    return _join(_sub(_mul(_expm1(re), _cos(im)), _mul(2.0, _square(half))), _mul(_exp(re), _sin(im)))


def sqrt(a: Tensor) -> Tensor:
    """Complex: reflected at the real axis, of which TensorFlow takes one side at zero and infinity."""
    if a.dtype not in COMPLEX:
        return _sqrt(a)
    re, im = _parts(a)
    root = _sqrt(_join(re, _abs(im)))
    return _select(signbit(im), _conj(root), root)


def log(a: Tensor) -> Tensor:
    """Complex: TensorFlow's squares of the parts overflow; the modulus does not."""
    if a.dtype not in COMPLEX:
        return _log(a)
    re, im = _parts(_log(a))
    return _join(_select(_is_nan(re), _log(_complex_abs(a, re.dtype)), re), im)


def log1p(a: Tensor) -> Tensor:
    """Complex: by modulus and angle, as NumPy has it; TensorFlow gives NaN at the pole."""
    if a.dtype not in COMPLEX:
        return _log1p(a)
    re, im = _parts(a)
    re = _add(re, 1.0)
    return _join(_log(_complex_abs(_join(re, im), re.dtype)), _atan2(im, re))


def hypot(a: Tensor, b: Tensor) -> Tensor:
    """The modulus of a complex number: infinite if a part is, even if the other is NaN."""
    shape = tf.broadcast_static_shape(a.shape, b.shape)
    if a.shape != shape or b.shape != shape:
        a, b = _add(a, tf.zeros_like(b)), _add(b, tf.zeros_like(a))
    return _complex_abs(_join(a, b), a.dtype)


# -- signs, parts, neighbours ----------------------------------------------------------------------------------------------


def negative(a: Tensor) -> Tensor:
    return _sub(scalar(0, a), a) if a.dtype in UNSIGNED else _neg(a)


def absolute(a: Tensor) -> Tensor:
    dtype = a.dtype
    if dtype is tf.float64 or dtype is tf.float32:
        return _abs(a)
    if dtype in COMPLEX:
        return _complex_abs(a, REAL[dtype])
    return fresh(a) if dtype is BOOL or dtype in UNSIGNED else _abs(a)


def _unit(part: Tensor, other: Tensor) -> Tensor:
    """sign of an infinite part, 0 of a finite one, NaN if both are infinite."""
    infinite = _is_inf(part)
    both = _and(infinite, _is_inf(other))
    out = _select(infinite, _sign(part), scalar(0.0, part))
    return _select(both, scalar(math.nan, part), out)


def sign(a: Tensor) -> Tensor:
    """Complex: z/|z|, and the limit of that for one infinite part."""
    dtype = a.dtype
    if dtype in UNSIGNED:
        return _minimum(a, 1)
    if dtype not in COMPLEX:
        return _sign(a)
    re, im = _parts(a)
    size = _complex_abs(a, re.dtype)
    size = _select(_equal(size, 0.0), scalar(1.0, size), size)
    unit = _join(_div(re, size), _div(im, size))  # TensorFlow's own multiplies by the reciprocal
    unit = _select(_equal(a, scalar(0j, a)), scalar(0j, a), unit)
    finite = _select(_not_equal(a, a), scalar(complex(math.nan, math.nan), a), unit)
    return _select(_or(_is_inf(re), _is_inf(im)), _join(_unit(re, im), _unit(im, re)), finite)


def signbit(a: Tensor) -> Tensor:
    return _less(_bitcast(a, BITS[a.dtype]), 0)


def copysign(a: Tensor, b: Tensor) -> Tensor:
    dtype = a.dtype
    integers = BITS[dtype]
    a, b = _bitcast(a, integers), _bitcast(b, integers)
    return _bitcast(_bit_or(_bit_and(a, integers.max), _bit_and(b, integers.min)), dtype)


def nextafter(a: Tensor, b: Tensor) -> Tensor:
    """16-bit types by counting their bits up or down, which goes from one number to the next."""
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


def _rounding(op: Kernel) -> Kernel:
    """floor, ceil and trunc: a copy of integers and booleans."""

    def kernel(a: Tensor) -> Tensor:
        dtype = a.dtype
        if dtype is tf.float64 or dtype is tf.float32 or dtype in BITS:
            return op(a)
        return fresh(a)

    return kernel


def _trunc(a: Tensor) -> Tensor:
    return _select(_less(a, 0.0), _ceil(a), _floor(a))


def rint(a: Tensor) -> Tensor:
    if a.dtype in COMPLEX:
        re, im = _parts(a)
        return _join(_rint(re), _rint(im))
    return _rint(a)


# -- tests -------------------------------------------------------------------------------------------------------------------


def _everywhere(value: bool, a: Tensor) -> Tensor:
    return _fill(_shape_of(a, tf.int64), EagerTensor(value, host(), BOOL.as_datatype_enum))


def isnan(a: Tensor) -> Tensor:
    dtype = a.dtype
    if dtype is tf.float64 or dtype in BITS:
        return _is_nan(a)
    return _not_equal(a, a) if dtype in COMPLEX else _everywhere(False, a)


def isinf(a: Tensor) -> Tensor:
    dtype = a.dtype
    if dtype is tf.float64 or dtype in BITS:
        return _is_inf(a)
    if dtype not in COMPLEX:
        return _everywhere(False, a)
    re, im = _parts(a)
    return _or(_is_inf(re), _is_inf(im))


def isfinite(a: Tensor) -> Tensor:
    dtype = a.dtype
    if dtype is tf.float64 or dtype in BITS:
        return _is_finite(a)
    if dtype not in COMPLEX:
        return _everywhere(True, a)
    re, im = _parts(a)
    return _and(_is_finite(re), _is_finite(im))


# -- logic and bits ------------------------------------------------------------------------------------------------------------


def _truth(a: Tensor) -> Tensor:
    return a if a.dtype is BOOL else _not_equal(a, 0)


def logical_and(a: Tensor, b: Tensor) -> Tensor:
    return _and(_truth(a), _truth(b))


def logical_or(a: Tensor, b: Tensor) -> Tensor:
    return _or(_truth(a), _truth(b))


def logical_xor(a: Tensor, b: Tensor) -> Tensor:
    return _not_equal(_truth(a), _truth(b))


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
    """0 where as many bits as there are, or a negative number, is shifted; TensorFlow clamps the number."""
    a, b = _tensors(a, b)
    dtype = a.dtype
    distance = b if dtype in UNSIGNED else _bitcast(b, UNSIGNED_TWIN[dtype])
    return _select(_less(distance, dtype.size * 8), op(a, b), scalar(0, a))


def left_shift(a: Any, b: Any) -> Tensor:
    if type(b) is int and 0 <= b < a.dtype.size * 8:
        return _left_shift(a, b)
    return _shift(a, b, _left_shift)


def right_shift(a: Any, b: Any) -> Tensor:
    """Signed integers keep the sign however far they are shifted, and TensorFlow takes a negative number for 0."""
    if type(b) is int and 0 <= b < a.dtype.size * 8:
        return _right_shift(a, b)
    a, b = _tensors(a, b)
    dtype = a.dtype
    if dtype in UNSIGNED:
        return _shift(a, b, _right_shift)
    return _right_shift(a, _select(_less(b, 0), scalar(dtype.size * 8 - 1, b), b))


def bitwise_count(a: Tensor) -> Tensor:
    """Of the absolute value."""
    return _population(a if a.dtype in UNSIGNED else _abs(a))


# -- tables --------------------------------------------------------------------------------------------------------------------


def _scaled(numerator: float, denominator: float) -> Kernel:
    """Multiplication by a ratio taken in the operand's own type, as NumPy's C code has it."""
    factors = {
        tf.float32: float(np.float32(numerator) / np.float32(denominator)),
        tf.float64: numerator / denominator,
    }

    def kernel(a: Tensor) -> Tensor:
        return _mul(a, factors[a.dtype])

    return kernel


_greater_kernel, _less_kernel = _comparison(_greater, _greater), _comparison(_less, _less)
_degrees, _radians = _scaled(180.0, math.pi), _scaled(math.pi, 180.0)

UFUNCS: dict[Any, Kernel] = {
    # arithmetic
    np.add: _binary(_add),
    np.subtract: _binary(_sub),
    np.multiply: _binary(_mul),
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
    np.rint: rint,
    np.floor: _rounding(_floor),
    np.ceil: _rounding(_ceil),
    np.trunc: _rounding(_trunc),
    # exponentials, logarithms
    np.exp: _exp,
    np.exp2: exp2,
    np.expm1: expm1,
    np.log: log,
    np.log1p: log1p,
    # trigonometry
    np.sin: _sin,
    np.cos: _cos,
    np.tan: raw("Tan"),
    np.arcsin: raw("Asin"),
    np.arccos: raw("Acos"),
    np.arctan: raw("Atan"),
    np.arctan2: _atan2,
    np.sinh: raw("Sinh"),
    np.cosh: raw("Cosh"),
    np.tanh: raw("Tanh"),
    np.arcsinh: raw("Asinh"),
    np.arccosh: raw("Acosh"),
    np.arctanh: raw("Atanh"),
    np.deg2rad: _radians,
    np.radians: _radians,
    np.rad2deg: _degrees,
    np.degrees: _degrees,
    # order
    np.equal: _binary(_equal),
    np.not_equal: _binary(_not_equal),
    np.less: _less_kernel,
    np.less_equal: _comparison(_less_equal, _less),
    np.greater: _greater_kernel,
    np.greater_equal: _comparison(_greater_equal, _greater),
    np.maximum: _extremum(_maximum, _greater_equal, _greater),
    np.minimum: _extremum(_minimum, _less_equal, _less),
    np.fmax: _extremum_without_nan(_maximum, _greater_equal, _greater),
    np.fmin: _extremum_without_nan(_minimum, _less_equal, _less),
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
    np.isnan: isnan,
    np.isinf: isinf,
    np.isfinite: isfinite,
}

SCALARS: frozenset[Any] = frozenset(
    {
        np.add, np.subtract, np.multiply, np.divide, np.floor_divide, np.remainder, np.power, np.float_power,
        np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal, np.maximum, np.minimum,
        np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift,
    }
)  # fmt: skip
"""A Python number becomes a tensor of the other operand's dtype inside the operation: 2 µs less than a constant."""

# -- what TensorFlow computes in another dtype -----------------------------------------------------------------------------------

_FLOAT16 = np.dtype(np.float16)
_BOOL, _UINT8, _INT32, _INT64, _FLOAT32 = (np.dtype(t) for t in (bool, np.uint8, np.int32, np.int64, np.float32))

_SMALL = {np.dtype(t): _INT32 for t in (np.int8, np.int16)}
_HALVES = {_FLOAT16: _FLOAT32, BFLOAT16: _FLOAT32}
_COMPLEX64 = {np.dtype(np.complex64): np.dtype(np.complex128)}
"""Where the vectorised kernel has other signs at infinities."""
_BYTE = {_BOOL: _UINT8}
_WITHOUT_BOOL: dict[Any, Any] = dict.fromkeys(
    (np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin)
    + (np.less, np.less_equal, np.greater, np.greater_equal),
    _BYTE,
)
"""1 + 1 is 2, and True as a bool."""

_WIDER: dict[Any, dict[Any, Any]] = _WITHOUT_BOOL | {
    np.fmod: _SMALL | _HALVES,
    np.floor_divide: _HALVES,
    np.remainder: _HALVES,
    np.power: {np.dtype(t): _INT64 for t in (np.uint8, np.uint16, np.uint32)},
    np.exp: _COMPLEX64,
    np.exp2: _COMPLEX64,
    **dict.fromkeys((np.rint, np.hypot, np.deg2rad, np.radians, np.rad2deg, np.degrees), _HALVES),
}
"""ufunc -> dtype without a kernel -> the one in which the result comes out the same after a cast back."""


def compute_dtype(ufunc: np.ufunc, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which a loop of ``dtype`` is computed."""
    row = _WIDER.get(ufunc)
    return dtype if row is None else row.get(dtype, dtype)
