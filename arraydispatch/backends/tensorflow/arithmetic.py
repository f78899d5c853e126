"""Division, powers and exponentials of real and complex numbers with NumPy's values, and helpers of these kernels."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import tensorflow as tf

from .. import xla_formulas
from .core import (
    BITS,
    COMPLEX,
    INTEGERS,
    PYTHON,
    REAL,
    UNSIGNED,
    EagerTensor,
    apart,
    derived,
    hidden,
    join,
    raw,
    scalar,
)

Tensor = Any
Kernel = Callable[..., Any]

_add, _sub, _mul, _div, _floor_div, _floor_mod, _truncate_mod, _pow, _neg = map(
    raw, "AddV2 Sub Mul RealDiv FloorDiv FloorMod TruncateMod Pow Neg".split()
)
_abs, _complex_abs, _sign, _square, _floor, _log, _log1p = map(
    raw, "Abs ComplexAbs Sign Square Floor Log Log1p".split()
)
_atan2, _sqrt, _equal = map(raw, "Atan2 Sqrt Equal".split())
_less, _less_equal, _greater, _greater_equal, _maximum, _minimum, _and, _or, _bit_and = map(
    raw, "Less LessEqual Greater GreaterEqual Maximum Minimum LogicalAnd LogicalOr BitwiseAnd".split()
)
_bit_or, _right_shift, _is_nan, _is_inf, _select, _cast, _bitcast, _real, _imag = map(
    raw, "BitwiseOr RightShift IsNan IsInf SelectV2 Cast Bitcast Real Imag".split()
)
_conj = raw("Conj")


def parts(a: Tensor) -> tuple[Tensor, Tensor]:
    """Return real and imaginary part."""
    kind = REAL[a.dtype]
    return _real(a, kind), _imag(a, kind)


# -- Python numbers as operands ----------------------------------------------------------------------------------------


def binary(op: Kernel) -> Kernel:
    """Wrap an operation to accept a Python number on either side, in the other's dtype."""

    def kernel(a: Any, b: Any) -> Tensor:
        if type(a) in PYTHON:
            a = _beside(a, b)
        elif type(b) in PYTHON:
            b = _beside(b, a)
        return op(a, b)

    return kernel


def _beside(value: Any, like: Tensor) -> Any:
    """Convert a Python number so that it can be the second operand beside the tensor ``like``.

    Eager operations accept a Python number in the other operand's dtype. But TensorFlow keeps one tensor for equal numbers, so
    zeros and complex numbers, whose signs matter, get their own tensor. In a graph the number must not be a constant, because
    eager tensors of the user may be operands too.
    """
    if type(like) is not EagerTensor or not tf.executing_eagerly():
        return hidden(value, like)
    return scalar(value, like) if not value or type(value) is complex else value


def tensors(a: Any, b: Any) -> tuple[Tensor, Tensor]:
    """Return both operands as tensors."""
    if type(a) in PYTHON:
        return _as_tensor(a, b), b
    return (a, _as_tensor(b, a)) if type(b) in PYTHON else (a, b)


def _as_tensor(value: Any, like: Tensor) -> Tensor:
    return (scalar if type(like) is EagerTensor and tf.executing_eagerly() else hidden)(value, like)


# -- division ----------------------------------------------------------------------------------------------------------


def _traps(b: Tensor) -> Tensor:
    """Return a mask of the signed divisors that are 0 (TensorFlow raises) or -1 (the lowest integer divided by it ends the process).

    Of two consecutive integers one is odd, so their product is 0 modulo 2**n only if one of them is 0.
    """
    return _equal(_mul(b, _add(b, 1)), 0)


def floor_divide(a: Any, b: Any) -> Tensor:
    """Divide and round down. Integers: 0 for a zero divisor. Floats: 1 // 0.1 is 9, as in NumPy; TensorFlow rounds the rounded quotient
    down, to 10.
    """
    if type(b) is int and b not in (0, -1) and a.dtype in INTEGERS:
        return _floor_div(a, b)
    a, b = tensors(a, b)
    dtype = b.dtype
    if dtype in UNSIGNED:
        return _mul(_floor_div(a, _maximum(b, 1)), _minimum(b, 1))
    if dtype in INTEGERS:
        traps = _traps(b)
        one = scalar(1, b)
        return _mul(_floor_div(a, _select(traps, one, b)), _select(traps, b, one))
    if not derived():
        return _floor_quotient(a, b)
    # Its derivative at a divisor of 0 would be infinite.
    made = _floor_quotient(tf.stop_gradient(a), tf.stop_gradient(b))
    return _select(tf.zeros_like(made, tf.bool), _add(a, b), made)


def _floor_quotient(a: Tensor, b: Tensor) -> Tensor:
    """Divide floats and round down, as NumPy does."""
    dtype = b.dtype
    # numpy/_core/src/npymath/npy_math_internal.h.src: npy_floor_divide
    rest = _truncate_mod(a, b)
    exact = _exact(_sub(a, rest), b)
    exact = _sub(exact, _cast(_less(_mul(_sign(b), rest), 0.0), dtype))
    quotient = _exact(a, b)
    floor = _floor(exact)
    floor = _add(floor, _cast(_greater(_sub(exact, floor), 0.5), dtype))
    result = _select(_equal(exact, 0.0), _mul(quotient, 0.0), floor)
    return _select(_equal(b, 0.0), quotient, result)


def remainder(a: Any, b: Any) -> Tensor:
    """Compute the remainder. Integers: 0 for a zero divisor. Floats: a zero has the divisor's sign."""
    if type(b) is int and b not in (0, -1) and a.dtype in INTEGERS:
        return _floor_mod(a, b)
    a, b = tensors(a, b)
    dtype = b.dtype
    if dtype in UNSIGNED:
        return _floor_mod(a, _maximum(b, 1))
    if dtype in INTEGERS:
        return _floor_mod(a, _select(_traps(b), scalar(1, b), b))
    rest = _floor_mod(a, b)
    if derived():  # replacing a zero by one of the other sign would lose the derivative
        held = tf.stop_gradient(rest)
        zero = _select(_less(b, 0.0), -_sub(held, rest), _sub(rest, held))
        return _select(_equal(rest, 0.0), zero, rest)
    return _select(_equal(rest, 0.0), _mul(_sign(b), 0.0), rest)


def fmod(a: Tensor, b: Tensor) -> Tensor:
    """Compute the truncated remainder. Integers: 0 for a zero divisor."""
    dtype = b.dtype
    if dtype in UNSIGNED:
        return _floor_mod(a, _maximum(b, 1))
    if dtype in INTEGERS:
        return _truncate_mod(a, _select(_traps(b), scalar(1, b), b))
    return _differentiable_fmod(a, b) if derived() else _truncate_mod(a, b)


def _differentiable_fmod(a: Tensor, b: Tensor) -> Tensor:
    """Compute fmod from floormod of the absolute values, which has a derivative; TensorFlow's fmod has none."""
    negative = signbit(a)
    rest = _floor_mod(_select(negative, _neg(a), a), _select(_less(b, 0.0), _neg(b), b))
    return _select(negative, _neg(rest), rest)


def _complex_divide(a: Tensor, b: Tensor) -> Tensor:
    """Divide by Smith's method, as NumPy does: TensorFlow's quotient has other zeros, infinities and NaNs."""
    (ar, ai), (br, bi) = parts(a), parts(b)
    by_real = _greater_equal(_abs(br), _abs(bi))
    big, small = _select(by_real, br, bi), _select(by_real, bi, br)
    first, second = _select(by_real, ar, ai), _select(by_real, ai, ar)
    ratio = _div(small, big)
    scale = _quotient(1.0, _add(big, _mul(small, ratio)))
    real = _mul(_add(first, _mul(second, ratio)), scale)
    cross = _mul(first, ratio)
    imag = _mul(_select(by_real, _sub(second, cross), _sub(cross, second)), scale)
    zero = _equal(b, scalar(0j, b))
    size = _select(zero, _abs(br), scalar(1.0, br))  # values not selected need a finite derivative too
    return _select(zero, join(_div(ar, size), _div(ai, size)), join(real, imag))


def _divide_by(a: Tensor, b: complex) -> Tensor:
    """Divide by a known divisor by Smith's method."""
    re, im = parts(a)
    kind = re.dtype.as_numpy_dtype
    real, imag = kind(b.real), kind(b.imag)
    by_real = abs(real) >= abs(imag)
    big, small = (real, imag) if by_real else (imag, real)
    ratio = small / big
    scale = float(1 / (big + small * ratio))
    first, second = (re, im) if by_real else (im, re)
    cross = _mul(first, ratio)
    imag_part = _sub(second, cross) if by_real else _sub(cross, second)
    return join(_mul(_add(first, _mul(second, ratio)), scale), _mul(imag_part, scale))


def _exact(a: Tensor, b: Tensor) -> Tensor:
    """Divide two real tensors, correctly rounded."""
    if type(a) is EagerTensor or type(b) is EagerTensor:
        return _div(a, b)
    return _div(apart(a), apart(b))


_quotient = binary(_exact)


def divide(a: Any, b: Any) -> Tensor:
    dtype = (b if type(a) in PYTHON else a).dtype
    if dtype is tf.complex128 or dtype is tf.complex64:
        if type(b) in PYTHON and b != 0 and cmath.isfinite(b):
            return _divide_by(a, b)
        return _complex_divide(*tensors(a, b))
    return _quotient(a, b)


def reciprocal(a: Tensor) -> Tensor:
    return _quotient(1.0, a)  # Eigen's own of float32 is approximate


# -- powers and exponentials ------------------------------------------------------------------------------------------


def _complex_power(a: Tensor, b: Tensor) -> Tensor:
    """Compute a complex power; TensorFlow has NaN for 0 ** 0, infinities where NumPy has NaN, and rounds small integer
    powers.
    """
    zero = scalar(0j, a)
    of_zero = _select(_greater(parts(b)[0], 0.0), zero, scalar(complex(math.nan, math.nan), a))
    # numpy/_core/src/npymath/npy_math_complex.c.src: npy_cpow
    re, im = parts(b)
    n = _abs(re)
    small = _and(_and(_equal(im, 0.0), _equal(n, _floor(n))), _less(n, scalar(100.0, n)))
    n = _cast(_select(small, n, scalar(0.0, n)), tf.int64)
    one = scalar(1 + 0j, a)
    lost = nothing = _equal(a, zero)
    if derived():  # values that are not selected need a finite derivative too, and a whole power of zero has its own
        lost = _and(nothing, _or(_equal(n, scalar(0, n)), _less_equal(re, 0.0)))
        a = _select(lost, one, a)
    whole, factor = one, a
    for bit in range(7):
        odd = _equal(_bit_and(_right_shift(n, scalar(bit, n)), scalar(1, n)), scalar(1, n))
        whole = _select(odd, _mul(whole, factor), whole)
        factor = _square(factor)
    negative = _less(re, 0.0)
    whole = _select(negative, _complex_divide(one, _select(negative, whole, one)), whole)
    square = _square(a)
    for k, value in ((1, a), (2, square), (3, _mul(a, square))):
        whole = _select(_equal(b, scalar(complex(k), a)), value, whole)
    out = _select(_greater(n, scalar(0, n)), whole, _pow(a if lost is nothing else _select(nothing, one, a), b))
    out = _select(lost, of_zero, out)
    return _select(_equal(b, zero), scalar(1 + 0j, a), out)


def _integer_power(a: Tensor, b: Tensor) -> Tensor:
    if a.dtype is tf.uint64:
        # x**(k * 2**62) is 1 for odd x and 0 for even x and k > 0, modulo 2**64
        a, b = _bitcast(a, tf.int64), _bitcast(b, tf.int64)
        high = _select(_equal(_right_shift(b, 62), 0), scalar(0, b), scalar(2**62, b))
        return _bitcast(_pow(a, _bit_or(_bit_and(b, 2**62 - 1), high)), tf.uint64)
    with suppress(tf.errors.InvalidArgumentError):  # outside it, NumPy's error has no context of ours
        return _pow(a, b)
    raise ValueError("Integers to negative integer powers are not allowed.")


def power(a: Any, b: Any) -> Tensor:
    """Compute a power; negative integer powers of integers raise, as NumPy's do."""
    if type(b) in PYTHON:
        if b == 2:
            return _square(a)
        if b == 0 and a.dtype in BITS:
            return tf.ones_like(a)
    a, b = tensors(a, b)
    dtype = a.dtype
    if dtype in BITS:
        return _differentiable_power(a, b) if derived() else _pow(a, b)
    return _integer_power(a, b) if dtype in INTEGERS else _complex_power(a, b)


def _differentiable_power(a: Tensor, b: Tensor) -> Tensor:
    """Compute a power with finite derivatives for 0 to small integer powers, instead of 0 times infinity."""
    one, two, three = (_equal(b, scalar(float(k), b)) for k in (1, 2, 3))
    product = _and(_equal(a, scalar(0.0, a)), _or(one, _or(two, three)))
    whole = _or(product, _and(_equal(a, scalar(0.0, a)), _equal(b, scalar(0.0, b))))
    out = _pow(_select(whole, scalar(1.0, a), a), b)
    return _select(product, _select(one, a, _select(two, _mul(a, a), _mul(a, _mul(a, a)))), out)


def signbit(a: Tensor) -> Tensor:
    return _less(_bitcast(a, BITS[a.dtype]), 0)


def sqrt(a: Tensor) -> Tensor:
    """Compute the square root. Complex: reflect at the real axis, because TensorFlow ignores the side of the branch cut at zero and
    infinity.
    """
    root = _differentiable_root if derived() else _sqrt
    if a.dtype not in COMPLEX:
        return root(a)
    re, im = parts(a)
    upper = join(re, _select(signbit(im), _neg(im), im))  # not abs(), whose derivative at zero is zero
    made = root(upper)
    return _select(signbit(im), _conj(made), made)


def _root(a: Tensor) -> Tensor:
    """Compute the square root; a complex operand has a positive imaginary part. XLA computes complex roots by the angle, with errors
    where real or imaginary part is zero, and loses NaNs.
    """
    if a.dtype not in COMPLEX or tf.executing_eagerly():
        return _sqrt(a)
    x, y = parts(a)
    size, one = _abs(x), scalar(1.0, x)
    large = _maximum(size, y) > (1e307 if x.dtype is tf.float64 else 1e37)
    scale = _select(large, scalar(0.0625, x), one)
    length = modulus(join(size * scale, y * scale))
    big = _sqrt((size * scale + length) * 0.5) * _select(large, scalar(4.0, x), one)
    nothing = _equal(big, 0.0)
    small = _select(nothing, y, y / (_select(nothing, one, big) * 2.0))
    small = _select(_and(_is_inf(size), _less(y, math.inf)), tf.zeros_like(y), small)
    made = join(_select(_less(x, 0.0), small, big), _select(_less(x, 0.0), big, small))
    return _select(_is_inf(y), join(y, y), made)


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _differentiable_root(a: Tensor) -> Any:
    """Compute the square root with its true derivative: TensorFlow's derivative at zero is 0 if the cotangent is 0, and XLA omits a
    conjugate for complex numbers.
    """

    def back(cotangent: Tensor) -> Tensor:
        return cotangent / tf.math.conj(2 * _differentiable_root(a))

    return _root(a), back


_OPERATIONS = xla_formulas.Operations(
    where=_select,
    bits=lambda a: _bitcast(a, tf.int64),
    floats=lambda bits: _bitcast(bits, tf.float64),
    exponents=lambda bits: _right_shift(bits, scalar(52, bits)),
    rounded=lambda k: _cast(k, tf.float64),
)


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _compiled_log(a: Tensor) -> Any:
    return xla_formulas.log(_OPERATIONS, a), lambda cotangent: cotangent / a


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _compiled_log1p(a: Tensor) -> Any:
    return xla_formulas.log1p(_OPERATIONS, a), lambda cotangent: cotangent / (1.0 + a)


def log(a: Tensor) -> Tensor:
    """Compute the logarithm. For complex numbers the real part is computed from :func:`modulus` where TensorFlow's, from the squares of the
    parts, overflows.
    """
    if a.dtype not in COMPLEX:
        return _compiled_log(a) if a.dtype is tf.float64 and not tf.executing_eagerly() else _log(a)
    re, im = parts(_log(a))
    x, y = parts(a)
    length = modulus(join(x * 0.25, y * 0.25))
    lost = _or(_is_nan(im), _or(_is_nan(re), _is_inf(re)))
    return join(_select(lost, _log(length) + math.log(4.0), re), im)


def log1p(a: Tensor) -> Tensor:
    """Compute log1p. Complex: by modulus and angle, as NumPy does; TensorFlow gives NaN at the pole."""
    if a.dtype not in COMPLEX:
        return _compiled_log1p(a) if a.dtype is tf.float64 and not tf.executing_eagerly() else _log1p(a)
    re, im = parts(a)
    re = _add(re, 1.0)
    return join(_log(modulus(join(re, im))), _atan2(im, re))


def hypot(a: Tensor, b: Tensor) -> Tensor:
    """Compute the modulus of the complex number a + ib: infinite if one operand is infinite, even if the other is NaN."""
    shape = tf.broadcast_static_shape(a.shape, b.shape)
    if a.shape != shape or b.shape != shape:
        a, b = _add(a, tf.zeros_like(b)), _add(b, tf.zeros_like(a))
    return modulus(join(a, b))


def modulus(a: Tensor) -> Tensor:
    """Compute moduli of complex numbers: infinite if real or imaginary part is, else NaN if one is NaN; XLA on the CPU loses the NaN."""
    made = _complex_abs(a, REAL[a.dtype])
    if tf.executing_eagerly():
        return made
    re, im = tf.math.real(a), tf.math.imag(a)
    made = _select(_or(_is_nan(re), _is_nan(im)), scalar(math.nan, made), made)
    return _select(_or(_is_inf(re), _is_inf(im)), scalar(math.inf, made), made)
