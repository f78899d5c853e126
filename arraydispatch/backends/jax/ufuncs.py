"""NumPy's ufuncs as jitted JAX kernels; their reductions and accumulations are in ``reductions``.

A row names a JAX function only if it gives NumPy's values, special cases included; otherwise the body states the
difference. Subnormal numbers are flushed to zero by XLA on the CPU, and some functions differ in the last places:
tests/backends/test_ufunc_tables.py states by how much.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .. import xla_formulas
from ..host_kernels import SCALAR_CODE
from . import complex_functions, host_kernels
from .jitted_kernels import apart, derived_from, divided, followed, is_float16, kernel, wide

Array = Any
Kernel = Callable[..., Any]


def _is(a: Array, kind: type) -> bool:
    return bool(jnp.issubdtype(a.dtype, kind))


def _integral(a: Array) -> bool:
    return a.dtype == np.bool_ or _is(a, np.integer)


def _binary(function: Kernel) -> Kernel:
    """Wrap a function to convert both operands to one dtype and shape, as `lax` requires (a Python scalar is a weak operand)."""

    def body(a: Array, b: Array) -> Any:
        dtype = jnp.result_type(a, b)
        shape = jnp.broadcast_shapes(a.shape, b.shape)
        return function(*[_spread(x.astype(dtype), shape) for x in (a, b)])

    return body


def _spread(a: Array, shape: tuple[int, ...]) -> Array:
    if a.shape == shape:
        return a
    spread = jnp.broadcast_to(a, shape)
    # XLA combines numbers; the barrier keeps it from fusing products and sums.
    return apart(spread) if a.size == 1 else spread


# -- division --------------------------------------------------------------------------------------------------------


@derived_from(lax.div)
def _complex_divide(a: Array, b: Array) -> Array:
    # Smith's method, as in NumPy's loop: XLA's has other infinities and NaNs.
    ar, ai, br, bi = lax.real(a), lax.imag(a), lax.real(b), lax.imag(b)
    by_real = lax.abs(br) >= lax.abs(bi)
    zero = (br == 0) & (bi == 0)
    big, small = jnp.where(by_real, br, bi), jnp.where(by_real, bi, br)
    ratio = small / big
    scale = 1 / (big + small * ratio)
    real = jnp.where(by_real, ar + ai * ratio, ar * ratio + ai) * scale
    imag = jnp.where(by_real, ai - ar * ratio, ai * ratio - ar) * scale
    return lax.complex(jnp.where(zero, ar / lax.abs(br), real), jnp.where(zero, ai / lax.abs(br), imag))


def _divide(a: Array, b: Array) -> Array:
    return _complex_divide(a, b) if _is(a, np.complexfloating) else wide(divided)(a, b)


def _signs_differ(a: Array, b: Array) -> Array:
    return (a < 0) != (b < 0)


def _integer_divmod(a: Array, b: Array) -> tuple[Array, Array]:
    # XLA gives -1 and the dividend for a zero divisor, NumPy 0 and 0.
    zero = b == 0
    divisor = jnp.where(zero, jnp.ones_like(b), b)
    quotient, rest = lax.div(a, divisor), lax.rem(a, divisor)
    if _is(a, np.signedinteger):
        adjust = (rest != 0) & _signs_differ(rest, divisor)
        quotient = jnp.where(adjust, quotient - 1, quotient)
        rest = jnp.where(adjust, rest + divisor, rest)
    nothing = jnp.zeros_like(a)
    return jnp.where(zero, nothing, quotient), jnp.where(zero, nothing, rest)


@wide
@derived_from(jnp.divmod)
def _float_divmod(a: Array, b: Array) -> tuple[Array, Array]:
    # numpy/_core/src/npymath/npy_math_internal.h.src: npy_divmod
    rest = lax.rem(a, b)
    quotient = divided(a - rest, b)
    adjust = (rest != 0) & _signs_differ(rest, b)
    quotient = jnp.where(adjust, quotient - 1, quotient)
    nothing = jnp.zeros_like(a)
    floored = lax.floor(quotient)
    floored = jnp.where(quotient - floored > 0.5, floored + 1, floored)
    floored = jnp.where(quotient == 0, jnp.copysign(nothing, divided(a, b)), floored)
    mod = jnp.where(adjust, rest + b, jnp.where(rest == 0, jnp.copysign(nothing, b), rest))
    zero = b == 0
    return jnp.where(zero, divided(a, b), floored), jnp.where(zero, rest, mod)


def _divmod(a: Array, b: Array) -> tuple[Array, Array]:
    out: tuple[Array, Array] = (_integer_divmod if _integral(a) else _float_divmod)(a, b)
    return out


@wide
@derived_from(jnp.remainder)
def _float_remainder(a: Array, b: Array) -> Any:
    return _float_divmod(a, b)[1]


def _remainder(a: Array, b: Array) -> Any:
    return _integer_divmod(a, b)[1] if _integral(a) else _float_remainder(a, b)


def _fmod(a: Array, b: Array) -> Array:
    if _integral(a):
        zero = b == 0
        return jnp.where(zero, jnp.zeros_like(a), lax.rem(a, jnp.where(zero, jnp.ones_like(b), b)))
    return wide(lax.rem)(a, b)


def _reciprocal(a: Array) -> Any:
    return divided(jnp.ones_like(a), a)


# -- powers and roots ------------------------------------------------------------------------------------------------


def _power(a: Array, b: Array) -> Array:
    if _is(a, np.complexfloating):
        return _complex_power(a, b)
    if not _integral(a):
        on_cpu = jax.default_backend() == "cpu"
        made: Array = wide(_power_by_one if on_cpu and bool(a.ndim) != bool(b.ndim) else _float_power)(a, b)
        return made

    if a.ndim and not b.ndim:
        made = lax.cond((b >= 0) & (b < 1 << _FEW_BITS), _by_few_squares, _by_squares, a, b)
    else:
        made = _by_squares(a, b)
    return made


_FEW_BITS = 3
"""Maximum number of bits of an exponent with which a power is computed in one pass over memory."""


def _by_few_squares(a: Array, b: Array) -> Array:
    out = jnp.ones_like(a)
    for bit in range(_FEW_BITS):
        out = jnp.where((b >> bit) & 1 == 1, out * a, out)
        a = a * a
    return out


def _by_squares(a: Array, b: Array) -> Array:
    """Compute a power of integers. Negative exponents, which NumPy refuses, occur only if they are traced."""

    def step(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        result, base, left = state
        return jnp.where((left & 1) == 1, result * base, result), base * base, lax.shift_right_logical(left, one)

    one, first = jnp.ones_like(b), jnp.ones(jnp.broadcast_shapes(a.shape, b.shape), a.dtype)
    result, _, _ = lax.while_loop(lambda state: jnp.any(state[2] != 0), step, (first, a, b))
    return jnp.where(b < 0, lax.div(jnp.ones_like(a), jnp.where(a == 0, jnp.ones_like(a), a)), result)


def _power_of(a: Array, b: Array) -> Array:
    """Compute a power. A 0-d real or integer operand is not broadcast to the other operand's shape."""
    dtype = jnp.result_type(a, b)
    real = jnp.issubdtype(dtype, np.floating) or jnp.issubdtype(dtype, np.integer)
    if real and bool(a.ndim) != bool(b.ndim):
        return _power(a.astype(dtype), b.astype(dtype))
    out: Array = _binary(_power)(a, b)
    return out


_MOST = 4
"""Largest exponent that is computed by products: the result is off by at most two units in the last place."""
_BITS = 7
"""Number of bits of whole exponents for which powers of one number are products of its powers of two."""


def _float_power(a: Array, b: Array) -> Array:
    # 0 to small integer powers, whose derivatives are not 0 times infinity.
    whole = (a == 0) & ((b == 0) | (b == 1) | (b == 2) | (b == 3))
    product = jnp.where(b == 1, a, jnp.where(b == 2, a * a, a * a * a))
    out = jnp.power(jnp.where(whole, jnp.ones_like(a), a), b)
    return jnp.where(whole & (b > 0), product, out)


@derived_from(_float_power)
def _power_by_one(a: Array, b: Array) -> Any:
    """Compute powers of one base, or with one exponent, by products and roots: XLA on a CPU takes ten times as long, element by element."""
    if b.ndim:
        simple = (a != 0) & jnp.all((lax.floor(b) == b) & (lax.abs(b) < 1 << _BITS))
        return lax.cond(simple, _of_one_number, _float_power, a, b)
    simple = (lax.abs(b) <= _MOST) & (lax.floor(2 * b) == 2 * b)
    return lax.cond(simple, _by_products, _float_power, a, b)


def _by_products(a: Array, b: Array) -> Array:
    """Raise an array to a power that is half of a whole number."""
    size = lax.abs(b)
    whole = lax.floor(size)
    halves, count = whole != size, whole.astype(np.int32)
    inside = jnp.where((a < 0) & (a > -np.inf), jnp.full_like(a, np.nan), lax.abs(a))
    a = jnp.where(halves & (b != 0.5), inside, a)  # for 0.5 NumPy takes the square root, also of -0.0 and of -inf
    out, power = jnp.where(halves, lax.sqrt(a), jnp.ones_like(a)), a
    for bit in range(_MOST.bit_length()):
        out = jnp.where((count >> bit) & 1 == 1, out * power, out)
        power = power * power
    return jnp.where(b < 0, 1 / out, out)


def _of_one_number(a: Array, b: Array) -> Array:
    """Raise a number to whole powers."""
    count = lax.abs(b).astype(np.int32)
    out = jnp.ones_like(b)
    for bit in range(_BITS):
        factor = jnp.power(a, jnp.full_like(a, 1 << bit))
        out = jnp.where((count >> bit) & 1 == 1, out * factor, out)
    return jnp.where(b < 0, 1 / out, out)


@derived_from(lax.pow)
def _complex_power(a: Array, b: Array) -> Array:
    # numpy/_core/src/npymath/npy_math_complex.c.src: npy_cpow. Small integer exponents by multiplication, and zero to a
    # power with a positive real part is zero; XLA computes exp(b * log(a)) for all.
    br, bi = lax.real(b), lax.imag(b)
    one, zero = jnp.ones_like(a), jnp.zeros_like(a)
    whole = (bi == 0) & (br == jnp.floor(br)) & (lax.abs(br) < 100)
    left = jnp.where(whole, lax.abs(br), 0).astype(np.int32)
    small, base = one, a
    for bit in range(7):
        small = jnp.where((left >> bit) & 1 == 1, small * base, small)
        base = base * base
    small = jnp.where(br < 0, _complex_divide(one, small), small)
    out = jnp.where(whole, small, lax.pow(a, b))
    nan = jnp.full_like(a, complex(np.nan, np.nan))
    out = jnp.where(a == 0, jnp.where(br > 0, zero, nan), out)
    return jnp.where(b == 0, one, out)


@wide
@derived_from(jnp.exp2)
def _exp2(a: Array) -> Array:
    # exp(x * log 2), as in `jnp.exp2`, is 10 ulp off at 33 and not exact at integers. Scale exactly instead.
    bits, bias, integer = (23, 127, np.int32) if a.dtype == np.float32 else (52, 1023, np.int64)
    whole = lax.round(jnp.clip(a, -2.0 * bias, 2.0 * bias), lax.RoundingMethod.TO_NEAREST_EVEN)
    whole = jnp.where(jnp.isnan(a), jnp.zeros_like(a), whole)
    half = lax.floor(whole / 2)

    def two_to(n: Array) -> Array:
        return lax.bitcast_convert_type((n.astype(integer) + bias) << bits, a.dtype)

    rest = jnp.where(jnp.isinf(a), jnp.zeros_like(a), a - whole)
    return jnp.exp(rest * a.dtype.type(np.log(2.0))) * two_to(half) * two_to(whole - half)


_OPERATIONS = xla_formulas.Operations(
    where=jnp.where,
    bits=lambda a: lax.bitcast_convert_type(a, np.int64),
    floats=lambda bits: lax.bitcast_convert_type(bits, np.float64),
    exponents=lambda bits: lax.shift_right_arithmetic(bits, lax.full_like(bits, 52)),
    rounded=lambda k: k.astype(np.float64),
)


def _for_doubles(function: Kernel, formula: Callable[[xla_formulas.Operations, Array], Array]) -> Kernel:
    """Return a kernel that computes doubles on a CPU by ``formula``, and all else by ``function``, whose derivative it has."""

    @derived_from(function)
    def body(a: Array) -> Any:
        if a.dtype == np.float64 and jax.default_backend() == "cpu":
            return formula(_OPERATIONS, a)
        return function(a)

    return body


_log = _for_doubles(jnp.log, xla_formulas.log)
_log2 = _for_doubles(jnp.log2, lambda ops, a: xla_formulas.log(ops, a) * math.log2(math.e))
_log10 = _for_doubles(jnp.log10, lambda ops, a: xla_formulas.log(ops, a) * math.log10(math.e))
_log1p = _for_doubles(jnp.log1p, xla_formulas.log1p)


# -- comparison ------------------------------------------------------------------------------------------------------


def _with_nan(plain: Kernel) -> Kernel:
    """Wrap ``plain``, JAX's maximum or minimum: a NaN result gets the derivative of the operand that is NaN, unlike JAX's own."""

    def chosen(a: Array, b: Array) -> Array:
        return jnp.where(jnp.isnan(a), a, jnp.where(jnp.isnan(b), b, plain(a, b)))

    derived = derived_from(chosen)(plain)
    return lambda a, b: plain(a, b) if _integral(a) else derived(a, b)


def _without_nan(real: Kernel) -> Kernel:
    def choose(a: Array, b: Array) -> Array:
        found = real(a, b)
        return found if _integral(a) else jnp.where(jnp.isnan(a), b, jnp.where(jnp.isnan(b), a, found))

    return choose


_maximum, _minimum = _with_nan(lax.max), _with_nan(lax.min)


# -- signs, parts, rounding ------------------------------------------------------------------------------------------


@followed
def _sign(a: Array) -> Array:
    if _integral(a):
        return lax.sign(a)
    sign = lax.sign(a)
    size = lax.abs(sign)
    return size - (size - sign)  # sign(-0.0) is 0.0 in NumPy; a selection would keep XLA from fusing on a CPU


@followed
def _trunc(a: Array) -> Array:
    return jnp.copysign(lax.floor(lax.abs(a)), a)


@jax.custom_jvp  # type: ignore[untyped-decorator]
def _magnitude(a: Array) -> Array:
    """Compute the absolute value of real numbers with derivative 0 at zero, as in the other libraries; JAX's derivative there is 1."""
    return lax.abs(a)


_magnitude.defjvp(lambda values, tangents: (_magnitude(*values), lax.sign(values[0]) * tangents[0]))


_copysign = derived_from(lambda a, sign: _magnitude(a) * jnp.where(jnp.signbit(sign), -1, 1).astype(a.dtype))(
    jnp.copysign
)
"""Function whose derivative at zero is that of the absolute value."""


def _absolute(a: Array) -> Array:
    if not _is(a, np.complexfloating):
        return _magnitude(a) if _is(a, np.floating) else lax.abs(a)
    size = lax.abs(a)
    return jnp.where(jnp.isinf(lax.real(a)) | jnp.isinf(lax.imag(a)), jnp.full_like(size, np.inf), size)


def _conjugate(a: Array) -> Array:
    return lax.conj(a) if _is(a, np.complexfloating) else a


def _spacing(a: Array) -> Array:
    return jnp.where(jnp.isinf(a), jnp.full_like(a, jnp.nan), jnp.spacing(lax.stop_gradient(a)))


@jax.custom_jvp  # type: ignore[untyped-decorator]
def _hypot(a: Array, b: Array) -> Array:
    """Compute the hypotenuse; the second derivative of JAX's function is zero for two equal numbers, as if one were larger."""
    return jnp.hypot(a, b)


@_hypot.defjvp  # type: ignore[untyped-decorator]
def _(values: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    length = _hypot(*values)
    by = jnp.where(length == 0, jnp.ones_like(length), length)
    return length, values[0] / by * tangents[0] + values[1] / by * tangents[1]


def _angle(a: Array, b: Array) -> Array:
    nothing = (a == 0) & (b == 0)
    one = jnp.ones_like(a)
    return jnp.where(nothing, 0, lax.atan2(jnp.where(nothing, one, a), jnp.where(nothing, one, b)))


_arctan2 = derived_from(_angle)(lax.atan2)
"""Function with derivative 0 at two zeros, where JAX has NaN."""


@jax.custom_jvp  # type: ignore[untyped-decorator]
def _neighbour(a: Array, b: Array) -> Array:
    """Compute ``lax.nextafter``, which has no derivative in JAX, with the derivative of the first operand."""
    return lax.nextafter(a, b)


_neighbour.defjvp(lambda values, tangents: (_neighbour(*values), tangents[0]))


def _nextafter(a: Array, b: Array) -> Array:
    out = _neighbour(a, b)
    return jnp.where(a == b, a, out) if is_float16(a.dtype) else out  # NumPy's half code differs from C at zeros


# -- integers --------------------------------------------------------------------------------------------------------


def _left_shift(a: Array, b: Array) -> Array:
    inside = (b >= 0) & (b < a.dtype.itemsize * 8)
    return jnp.where(inside, lax.shift_left(a, jnp.where(inside, b, jnp.zeros_like(b))), jnp.zeros_like(a))


def _right_shift(a: Array, b: Array) -> Array:
    last = jnp.full_like(b, a.dtype.itemsize * 8 - 1)
    inside = (b >= 0) & (b <= last)
    if _is(a, np.signedinteger):
        return lax.shift_right_arithmetic(a, jnp.where(inside, b, last))
    return jnp.where(inside, lax.shift_right_logical(a, jnp.where(inside, b, last)), jnp.zeros_like(a))


# -- tables ----------------------------------------------------------------------------------------------------------


_UNARY: dict[np.ufunc, Kernel] = {
    np.positive: lambda a: a,
    np.negative: lax.neg,
    np.absolute: _absolute,
    np.fabs: _magnitude,
    np.sign: _sign,
    np.signbit: jnp.signbit,
    np.conjugate: _conjugate,
    np.invert: lax.bitwise_not,
    np.logical_not: jnp.logical_not,
    np.square: lambda a: a * a,
    np.reciprocal: wide(_reciprocal),
    np.rint: followed(lambda a: lax.round(a, lax.RoundingMethod.TO_NEAREST_EVEN)),
    np.floor: followed(lax.floor),
    np.ceil: followed(lax.ceil),
    np.trunc: _trunc,
    np.isnan: jnp.isnan,
    np.isinf: jnp.isinf,
    np.isfinite: jnp.isfinite,
    np.bitwise_count: jnp.bitwise_count,
    np.sqrt: wide(jnp.sqrt),
    np.cbrt: wide(jnp.cbrt),
    np.exp: wide(jnp.exp),
    np.exp2: _exp2,
    np.expm1: wide(jnp.expm1),
    np.log: complex_functions.infinite_part(_log),
    np.log2: complex_functions.infinite_part(_log2),
    np.log10: complex_functions.infinite_part(_log10),
    np.log1p: complex_functions.infinite_part(_log1p),
    np.sin: wide(jnp.sin),
    np.cos: wide(jnp.cos),
    np.tan: wide(jnp.tan),
    np.arcsin: wide(jnp.arcsin),
    np.arccos: wide(jnp.arccos),
    np.arctan: wide(jnp.arctan),
    np.sinh: complex_functions.real_sinh,
    np.cosh: complex_functions.real_cosh,
    np.tanh: wide(jnp.tanh),
    np.arcsinh: wide(jnp.arcsinh),
    np.arccosh: wide(complex_functions.arccosh),
    np.arctanh: complex_functions.real_arctanh,
    np.spacing: _spacing,
}

# Without rows, because the bodies in ``ufuncs/composed.py`` are compiled to one kernel, as quick or quicker: ``divmod``, ``modf``,
# ``logaddexp``, ``heaviside``, ``ldexp``, which JAX computes bit by bit on a CPU, and ``gcd``, which does not return there at the lowest
# integer (https://github.com/jax-ml/jax/issues/40840).
_BINARY: dict[np.ufunc, Kernel] = {
    np.add: lambda a, b: a | b if a.dtype == np.bool_ else a + b,
    np.subtract: lax.sub,
    np.multiply: lambda a, b: a & b if a.dtype == np.bool_ else a * b,
    np.divide: _divide,
    np.floor_divide: followed(lambda a, b: _divmod(a, b)[0]),
    np.remainder: _remainder,
    np.fmod: _fmod,
    np.arctan2: wide(_arctan2),
    np.hypot: wide(_hypot),
    np.copysign: _copysign,
    np.nextafter: _nextafter,
    np.maximum: _maximum,
    np.minimum: _minimum,
    np.fmax: _without_nan(_maximum),
    np.fmin: _without_nan(_minimum),
    np.equal: lax.eq,
    np.not_equal: lax.ne,
    np.less: lax.lt,
    np.less_equal: lax.le,
    np.greater: lax.gt,
    np.greater_equal: lax.ge,
    np.logical_and: jnp.logical_and,
    np.logical_or: jnp.logical_or,
    np.logical_xor: jnp.logical_xor,
    np.bitwise_and: lax.bitwise_and,
    np.bitwise_or: lax.bitwise_or,
    np.bitwise_xor: lax.bitwise_xor,
    np.left_shift: _left_shift,
    np.right_shift: _right_shift,
}


def _unary(ufunc: np.ufunc, body: Kernel) -> Kernel:
    """Return ``body``, or a kernel that uses it for real numbers and the ufunc's function in ``complex_functions`` for complex ones."""
    of_complex = complex_functions.FUNCTIONS.get(ufunc)
    return body if of_complex is None else lambda a: (of_complex if _is(a, np.complexfloating) else body)(a)


UFUNCS: dict[Any, Kernel] = (
    {ufunc: kernel(_unary(ufunc, body)) for ufunc, body in _UNARY.items()}
    | {ufunc: kernel(_binary(body)) for ufunc, body in _BINARY.items()}
    | {np.power: kernel(_power_of), np.float_power: kernel(_power_of)}
)
_FASTER_IN_NUMPY: dict[Any, Callable[..., bool]] = {
    **dict.fromkeys(SCALAR_CODE, host_kernels.are_many_reals),
    **dict.fromkeys((np.floor_divide, np.remainder), host_kernels.are_divided_by_one),
}
for _ufunc, _is_slow in _FASTER_IN_NUMPY.items():
    UFUNCS[_ufunc] = host_kernels.or_numpy(host_kernels.elementwise(_ufunc), UFUNCS[_ufunc], _is_slow)

SCALARS: frozenset[Any] = frozenset({*_BINARY, np.power, np.float_power})
"""Ufuncs that accept Python scalars: these are weakly typed in JAX and take the other operand's dtype, within the range
of int64.
"""
