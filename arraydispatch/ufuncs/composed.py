"""Ufuncs that a library lacks, composed from ufuncs that it has.

Each body takes ``xp`` and native arrays of the loop's own dtype, broadcasts them, and returns the loop's output.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy._core import umath as _umath

from ..runtime import dtypes


def _like(xp: Any, x: Any, value: Any) -> Any:
    """Return a 0-d native constant of ``x``'s dtype on its device."""
    return xp.prim.full((), value, xp.dtype_of(x), xp.backend.device_of(x))


def divmod_(xp: Any, a: Any, b: Any) -> Any:
    """Compute quotient and remainder."""
    return xp.floor_divide(a, b), xp.remainder(a, b)


def modf(xp: Any, x: Any) -> Any:
    """Compute fractional and integral part, both with the sign of ``x``; the fraction of an infinity is zero."""
    whole = xp.trunc(x)
    # Copying the sign of `x` to the difference would lose the derivative at integers, where the difference is zero.
    fraction = xp.prim.where(xp.signbit(x), xp.negative(xp.subtract(whole, x)), xp.subtract(x, whole))
    other = xp.copysign(xp.prim.where(xp.isinf(x), _like(xp, x, 0.0), x), x)
    return xp.prim.where(xp.isfinite(x), fraction, other), whole


def _in_single(body: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a body so that it computes 16-bit floats in float32 and rounds once, as NumPy's half loops do."""

    @functools.wraps(body)
    def widened(xp: Any, *operands: Any) -> Any:
        have = xp.dtype_of(operands[0])
        wide = dtypes.widen_half(have)
        if wide is have:
            return body(xp, *operands)
        return xp.prim.astype(body(xp, *(xp.prim.astype(x, wide) for x in operands)), have)

    return widened


@_in_single
def cbrt(xp: Any, x: Any) -> Any:
    """Compute the cube root. For zeros, infinities and NaN use the square root of the magnitude: its derivative is also
    infinite or zero there.
    """
    if not is_followed(xp, x):
        return _cube_root(xp, x)
    where, one = xp.prim.where, _like(xp, x, 1)
    ends, mirrored = xp.logical_or(xp.equal(x, 0), xp.logical_not(xp.isfinite(x))), xp.signbit(x)
    root = xp.sqrt(where(ends, where(mirrored, xp.negative(x), x), one))
    return where(ends, where(mirrored, xp.negative(root), root), _cube_root(xp, where(ends, one, x)))


def is_followed(xp: Any, *xs: Any) -> bool:
    """Whether a derivative depends on the values, or may later depend on them because they belong to a program or a batch."""
    return any(xp.backend.recorded(x) or xp.backend.followed(x) for x in xs)


def _cube_root(xp: Any, x: Any) -> Any:
    """Compute a power of the magnitude, then one Newton step; the result is accurate to the last bit or two."""
    size = xp.absolute(x)
    root = xp.power(size, 1.0 / 3.0)
    square = xp.multiply(root, root)
    step = xp.divide(xp.subtract(root, xp.divide(size, square)), 3.0)  # no cube, which could overflow or underflow
    better = xp.prim.where(xp.logical_and(xp.isfinite(size), xp.greater(size, 0)), xp.subtract(root, step), size)
    return xp.copysign(better, x)


def spacing(xp: Any, x: Any) -> Any:
    """Return the distance to the next number away from zero, with the sign of ``x``; for float16 to the next larger;
    NaN for inf.
    """
    half = xp.dtype_of(x) == np.float16
    size = x if half else xp.absolute(x)
    gap = xp.subtract(xp.nextafter(size, _like(xp, x, math.inf)), size)
    gap = xp.prim.where(xp.isfinite(x), gap, _like(xp, x, math.nan))
    return gap if half else xp.copysign(gap, x)


def bitwise_count(xp: Any, x: Any) -> Any:
    """Count the bits set in the magnitude (Warren, Hacker's Delight, section 5-1), in 64 bits."""
    wide = xp.prim.astype(x, dtypes.INTP) if xp.dtype_of(x) != np.uint64 else xp.prim.view_dtype(x, dtypes.INTP)
    if xp.dtype_of(x).kind == "i":
        wide = xp.absolute(wide)
    n = xp.subtract(wide, xp.bitwise_and(xp.right_shift(wide, 1), 0x5555555555555555))
    n = xp.add(xp.bitwise_and(n, 0x3333333333333333), xp.bitwise_and(xp.right_shift(n, 2), 0x3333333333333333))
    n = xp.bitwise_and(xp.add(n, xp.right_shift(n, 4)), 0x0F0F0F0F0F0F0F0F)
    for shift in (8, 16, 32):
        n = xp.add(n, xp.right_shift(n, shift))
    return xp.prim.astype(xp.bitwise_and(n, 0x7F), np.dtype(np.uint8))


_EUCLID_STEPS = 92  # two consecutive Fibonacci numbers below 2**63 are the worst case


def gcd(xp: Any, a: Any, b: Any) -> Any:
    """Compute the greatest common divisor by Euclid's algorithm, on all elements at once."""
    shape = np.broadcast_shapes(xp.shape_of(a), xp.shape_of(b))
    state = tuple(xp.prim.broadcast_to(xp.absolute(x), shape) for x in (a, b))

    def going(_: Any, b: Any) -> Any:
        return xp.not_equal(b, 0)

    def step(a: Any, b: Any) -> tuple[Any, Any]:
        return xp.prim.where(going(a, b), b, a), xp.fmod(a, b)  # 0 where b is 0

    if not all(map(xp.backend.is_concrete, state)):
        state = xp.backend.loop(going, step, state, _EUCLID_STEPS)
    else:
        while np.any(xp.backend.to_numpy(going(*state))):
            state = step(*state)
    return xp.absolute(state[0])


def lcm(xp: Any, a: Any, b: Any) -> Any:
    """Compute the least common multiple, modulo the width of the dtype."""
    return xp.multiply(xp.absolute(xp.floor_divide(a, xp.gcd(a, b))), xp.absolute(b))


def heaviside(xp: Any, x: Any, at_zero: Any) -> Any:
    """Return 0 below zero, 1 above, the second argument at zero, NaN for NaN."""
    step = xp.prim.where(xp.greater(x, 0), _like(xp, x, 1), _like(xp, x, 0))
    step = xp.prim.where(xp.equal(x, 0), at_zero, step)
    return xp.prim.where(xp.isnan(x), x, step)


@_in_single
def logaddexp(xp: Any, a: Any, b: Any) -> Any:
    """Compute ``log(exp(a) + exp(b))`` without overflow."""
    top = xp.maximum(a, b)
    rest = xp.log1p(xp.exp(xp.negative(xp.absolute(xp.subtract(a, b)))))
    equal = xp.equal(a, b)
    return xp.prim.where(equal, xp.add(_of_equal(xp, a, b, equal, 1.0), math.log(2.0)), xp.add(top, rest))


@_in_single
def logaddexp2(xp: Any, a: Any, b: Any) -> Any:
    """Compute ``log2(2**a + 2**b)`` without overflow."""
    top = xp.maximum(a, b)
    rest = xp.multiply(xp.log1p(xp.exp2(xp.negative(xp.absolute(xp.subtract(a, b))))), 1.0 / math.log(2.0))
    equal = xp.equal(a, b)
    return xp.prim.where(equal, xp.add(_of_equal(xp, a, b, equal, math.log(2.0)), 1.0), xp.add(top, rest))


def _of_equal(xp: Any, a: Any, b: Any, equal: Any, unit: float) -> Any:
    """Replace ``a``, where it equals ``b``, by an equal expression with the correct derivatives: the mean of both plus
    a term in their difference.

    The logarithm of ``2 * cosh(d / 2)`` is ``log(2) + d**2 / 8 - d**4 / 192``, and so on. ``unit``: the natural logarithm
    of the base, 1 for ``logaddexp``.
    """
    if not is_followed(xp, a, b):
        return a
    here = xp.logical_and(equal, xp.isfinite(a))
    gap = xp.prim.where(here, xp.subtract(a, b), _like(xp, a, 0))
    square = xp.multiply(gap, gap)
    curved = xp.subtract(xp.multiply(square, unit / 8), xp.multiply(xp.multiply(square, square), unit**3 / 192))
    return xp.add(xp.add(xp.multiply(a, 0.5), xp.multiply(b, 0.5)), curved)


@_in_single
def hypot(xp: Any, a: Any, b: Any) -> Any:
    """Compute the length of (a, b), scaled by the larger one; infinite if either is."""
    a, b = xp.absolute(a), xp.absolute(b)
    top, low = xp.maximum(a, b), xp.minimum(a, b)
    safe = xp.prim.where(xp.equal(top, 0), _like(xp, top, 1), top)
    ratio = xp.divide(low, safe)
    length = xp.multiply(top, xp.sqrt(xp.add(xp.multiply(ratio, ratio), 1.0)))
    return xp.prim.where(xp.logical_or(xp.isinf(a), xp.isinf(b)), _like(xp, top, math.inf), length)


def float_power(xp: Any, a: Any, b: Any) -> Any:
    """Compute a power; NumPy's loops are float64 and complex128 only."""
    return xp.power(a, b)


def copysign(xp: Any, x: Any, sign: Any) -> Any:
    """Return the magnitude of the first with the sign of the second."""
    size = xp.absolute(x)
    return xp.prim.where(xp.signbit(sign), xp.negative(size), size)


@_in_single
def degrees(xp: Any, x: Any) -> Any:
    """Convert radians to degrees, by a factor computed in the operand's own type, as NumPy's C code does."""
    of = xp.dtype_of(x).type
    return xp.multiply(x, float(of(180) / of(math.pi)))


@_in_single
def radians(xp: Any, x: Any) -> Any:
    """Convert degrees to radians."""
    of = xp.dtype_of(x).type
    return xp.multiply(x, float(of(math.pi) / of(180)))


@_in_single
def exp2(xp: Any, x: Any) -> Any:
    """Compute a power of two."""
    return xp.power(_like(xp, x, 2), x)


@_in_single
def log2(xp: Any, x: Any) -> Any:
    """Compute the logarithm to base two."""
    return _scaled(xp, xp.log(x), 1.0 / math.log(2.0))


@_in_single
def log10(xp: Any, x: Any) -> Any:
    """Compute the logarithm to base ten."""
    return _scaled(xp, xp.log(x), math.log10(math.e))


def _scaled(xp: Any, x: Any, factor: float) -> Any:
    """Multiply by a real number; for complex numbers, the real and the imaginary part separately, so that infinities stay."""
    if xp.dtype_of(x).kind != "c":
        return xp.multiply(x, factor)
    return xp.prim.complex(xp.multiply(xp.prim.real(x), factor), xp.multiply(xp.prim.imag(x), factor))


_LAYOUT: dict[int, tuple[int, int, Any]] = {8: (52, 1023, np.dtype(np.int64)), 4: (23, 127, np.dtype(np.int32))}
"""Item size of a float -> bits of its fraction, bias of its exponent, the integer dtype of its size (IEEE 754)."""


_MIRRORED: dict[np.ufunc, np.ufunc] = {
    np.less: np.greater, np.greater: np.less, np.less_equal: np.greater_equal, np.greater_equal: np.less_equal,
}  # fmt: skip


def compare_signs(xp: Any, ufunc: np.ufunc, a: Any, b: Any) -> Any:
    """Compare uint64 with int64, which have no common integer dtype: a negative number is below every unsigned one."""
    if xp.dtype_of(a).kind == "i":
        return compare_signs(xp, _MIRRORED.get(ufunc, ufunc), b, a)
    below = xp.less(b, 0)
    same = xp.call(ufunc, a, xp.prim.astype(xp.maximum(b, 0), xp.dtype_of(a)))
    verdict = ufunc in (np.greater, np.greater_equal, np.not_equal)
    return xp.logical_or(same, below) if verdict else xp.logical_and(same, xp.logical_not(below))


def _power_of_two(xp: Any, exponent: Any, dtype: np.dtype[Any]) -> Any:
    """Compute ``2.0**exponent`` exactly for integers in the range of normal numbers, by setting the exponent bits."""
    fraction, bias, integer = _LAYOUT[dtype.itemsize]
    bits = xp.left_shift(xp.prim.astype(xp.add(exponent, bias), integer), integer.type(fraction))
    return xp.prim.view_dtype(bits, dtype)


def ldexp(xp: Any, x: Any, exponent: Any) -> Any:
    """Compute ``x * 2**exponent``; the power is applied in three parts, each of which is a normal number."""
    dtype = xp.dtype_of(x)
    wide = xp.prim.astype(x, dtypes.widen_half(dtype))
    kind = xp.dtype_of(wide)
    limit = 3 * (_LAYOUT[kind.itemsize][1] - 1)
    left = xp.minimum(xp.maximum(xp.prim.astype(exponent, dtypes.INTP), -limit), limit)
    for parts in (3, 2, 1):
        part = xp.floor_divide(left, parts)
        wide = xp.multiply(wide, _power_of_two(xp, part, kind))
        left = xp.subtract(left, part)
    return xp.prim.astype(wide, dtype)


def frexp(xp: Any, x: Any) -> Any:
    """Return a fraction in [0.5, 1) and the exponent, read from the number's bits; zero, infinity and NaN stay, with
    exponent 0.

    The fraction is the number times two powers of two, which are normal numbers, so it has a derivative. Subnormal
    numbers, which libraries treat as zero, are handled through the integer with the same bits.
    """
    dtype = xp.dtype_of(x)
    wide = xp.prim.astype(x, dtypes.widen_half(dtype))
    kind = xp.dtype_of(wide)
    fraction, bias, integer = _LAYOUT[kind.itemsize]
    bits = xp.prim.view_dtype(wide, integer)
    digits = xp.bitwise_and(bits, integer.type((1 << fraction) - 1))
    exponents = integer.type((2 * bias + 1) << fraction)
    tiny = xp.logical_and(xp.equal(xp.bitwise_and(bits, exponents), 0), xp.not_equal(digits, 0))
    whole = xp.prim.astype(xp.prim.where(xp.less(bits, 0), xp.negative(digits), digits), kind)
    wide = xp.prim.where(tiny, whole, wide)
    bits = xp.prim.view_dtype(wide, integer)
    exponent = xp.right_shift(xp.bitwise_and(bits, exponents), integer.type(fraction))
    plain = xp.logical_and(xp.isfinite(wide), xp.not_equal(wide, 0))
    power = xp.prim.where(plain, xp.subtract(exponent, integer.type(bias - 1)), _like(xp, exponent, 0))
    half = xp.right_shift(power, integer.type(1))
    part = xp.multiply(wide, _power_of_two(xp, xp.negative(half), kind))
    part = xp.multiply(part, _power_of_two(xp, xp.subtract(half, power), kind))
    power = xp.subtract(power, xp.prim.where(tiny, _like(xp, power, bias + fraction - 1), _like(xp, power, 0)))
    return xp.prim.astype(part, dtype), xp.prim.astype(power, np.dtype(np.int32))


def clip(xp: Any, x: Any, low: Any, high: Any) -> Any:
    """Implement the ufunc behind ``np.clip``."""
    return xp.minimum(xp.maximum(x, low), high)


def ones_like(xp: Any, x: Any) -> Any:
    """Implement the ufunc ``_ones_like``, which NumPy no longer calls itself."""
    return xp.prim.full(xp.shape_of(x), 1, xp.dtype_of(x), xp.backend.device_of(x))


COMPOSED: dict[np.ufunc, Callable[..., Any]] = {
    _umath.clip: clip,  # type: ignore[attr-defined]
    _umath._ones_like: ones_like,  # type: ignore[attr-defined]
    np.divmod: divmod_,
    np.modf: modf,
    np.cbrt: cbrt,
    np.spacing: spacing,
    np.bitwise_count: bitwise_count,
    np.gcd: gcd,
    np.lcm: lcm,
    np.heaviside: heaviside,
    np.logaddexp: logaddexp,
    np.logaddexp2: logaddexp2,
    np.hypot: hypot,
    np.float_power: float_power,
    np.copysign: copysign,
    np.degrees: degrees,
    np.rad2deg: degrees,
    np.radians: radians,
    np.deg2rad: radians,
    np.ldexp: ldexp,
    np.frexp: frexp,
    np.exp2: exp2,
    np.log2: log2,
    np.log10: log10,
}

# -- loops of a ufunc that libraries compute otherwise -----------------------------------------------------------------


def _complex_sign(xp: Any, z: Any) -> Any:
    """Compute z/|z|; its limit where the real or the imaginary part is infinite, NaN where both are."""
    where, parts = xp.prim.where, (xp.prim.real(z), xp.prim.imag(z))
    zero, nan = _like(xp, parts[0], 0.0), _like(xp, parts[0], math.nan)
    far = [xp.isinf(x) for x in parts]
    size, is_far = xp.hypot(*parts), xp.logical_or(*far)
    nothing, unknown = xp.equal(size, 0), xp.logical_or(xp.isnan(size), xp.logical_and(*far))
    size = where(nothing, _like(xp, size, 1.0), size)

    def part(x: Any, infinite: Any) -> Any:
        unit = where(nothing, zero, xp.divide(x, size))
        return where(unknown, nan, where(is_far, where(infinite, xp.sign(x), zero), unit))

    return xp.prim.complex(*map(part, parts, far))


def _complex_reciprocal(xp: Any, z: Any) -> Any:
    """Compute the reciprocal by Smith's method."""
    where, re, im = xp.prim.where, xp.prim.real(z), xp.prim.imag(z)
    by_real = xp.less_equal(xp.absolute(im), xp.absolute(re))
    big, small = where(by_real, re, im), where(by_real, im, re)
    ratio = xp.divide(small, big)
    scale = xp.add(big, xp.multiply(small, ratio))
    long, short = xp.divide(1.0, scale), xp.divide(ratio, scale)
    return xp.prim.complex(where(by_real, long, short), xp.negative(where(by_real, short, long)))


def _integer_reciprocal(xp: Any, a: Any) -> Any:
    """Compute C's 1 / a: not 0 for 1 and -1 only; for 0, C's cast of infinity on x86."""
    dtype, where = xp.dtype_of(a), xp.prim.where
    one = xp.equal(a, 1) if dtype.kind == "u" else xp.equal(xp.absolute(a), 1)
    whole = where(one, a, _like(xp, a, 0))
    if dtype.kind == "u" or dtype.itemsize < 4:
        return whole
    return where(xp.equal(a, 0), _like(xp, a, np.iinfo(dtype).min), whole)


def _same(xp: Any, a: Any) -> Any:
    """Return a copy in the same memory order: of integers and booleans rounded, or of the absolute values of unsigned ones."""
    return xp.bitwise_or(a, a)


def _everywhere(value: bool) -> Callable[..., Any]:
    """Return a body that answers ``value`` for every integer or boolean, for ``isnan`` and the like, in the operand's memory order."""
    ufunc = np.equal if value else np.not_equal
    return lambda xp, a: xp.call(ufunc, a, a)


def _of_parts(ufunc: np.ufunc, join: np.ufunc) -> Callable[..., Any]:
    """Return a body that combines, with ``join``, the answers of ``ufunc`` for the real and the imaginary parts of complex numbers."""
    return lambda xp, z: xp.call(join, *(xp.call(ufunc, part) for part in (xp.prim.real(z), xp.prim.imag(z))))


def _rounded_parts(xp: Any, z: Any) -> Any:
    return xp.prim.complex(xp.rint(xp.prim.real(z)), xp.rint(xp.prim.imag(z)))


def _ordered(strict: np.ufunc, last: np.ufunc) -> Callable[..., Any]:
    """Return a body that compares complex numbers like NumPy's ``CLT``: real parts by ``strict``, if they are equal imaginary parts by
    ``last``; NaN is unordered.
    """

    def compare(xp: Any, a: Any, b: Any) -> Any:
        (ar, ai), (br, bi) = ((xp.prim.real(z), xp.prim.imag(z)) for z in (a, b))
        known = xp.logical_and(xp.equal(ai, ai), xp.equal(bi, bi))
        first = xp.logical_and(xp.call(strict, ar, br), known)
        return xp.logical_or(first, xp.logical_and(xp.equal(ar, br), xp.call(last, ai, bi)))

    return compare


def _chosen(at_least: np.ufunc, skips_nan: bool) -> Callable[..., Any]:
    """Return a body that chooses the first of two complex numbers if ``at_least`` holds or it is NaN, else the second; with ``skips_nan``,
    the first if the second is NaN.
    """

    def choose(xp: Any, a: Any, b: Any) -> Any:
        return xp.prim.where(xp.logical_or(xp.isnan(b if skips_nan else a), xp.call(at_least, a, b)), a, b)

    return choose


BY_KIND: dict[tuple[np.ufunc, str], Callable[..., Any]] = {
    **{(ufunc, kind): _same for ufunc in (np.floor, np.ceil, np.trunc) for kind in "biu"},
    **{(np.absolute, kind): _same for kind in "bu"},
    **{
        (ufunc, kind): _everywhere(ufunc is np.isfinite)
        for ufunc in (np.isnan, np.isinf, np.isfinite)
        for kind in "biu"
    },
    **{(ufunc, "c"): _of_parts(ufunc, np.logical_or) for ufunc in (np.isnan, np.isinf)},
    (np.isfinite, "c"): _of_parts(np.isfinite, np.logical_and),
    (np.rint, "c"): _rounded_parts,
    (np.less, "c"): _ordered(np.less, np.less),
    (np.less_equal, "c"): _ordered(np.less, np.less_equal),
    (np.greater, "c"): _ordered(np.greater, np.greater),
    (np.greater_equal, "c"): _ordered(np.greater, np.greater_equal),
    (np.maximum, "c"): _chosen(np.greater_equal, False),
    (np.minimum, "c"): _chosen(np.less_equal, False),
    (np.fmax, "c"): _chosen(np.greater_equal, True),
    (np.fmin, "c"): _chosen(np.less_equal, True),
    (np.sign, "c"): _complex_sign,
    (np.reciprocal, "c"): _complex_reciprocal,
    (np.reciprocal, "i"): _integer_reciprocal,
    (np.reciprocal, "u"): _integer_reciprocal,
}
"""(ufunc, kind of the loop's dtype) -> body. Used by every library but NumPy: the libraries' kernels do not cover these loops."""

# -- where the array-API standard differs from NumPy ----------------------------------------------------------------------


def _floor_divide_of_standard(xp: Any, a: Any, b: Any) -> Any:
    """Divide and round down; with an infinity, return the quotient of :func:`numpy.divide` where NumPy returns NaN or
    -1.

    https://github.com/numpy/numpy/issues/23860
    """
    infinite = xp.logical_or(xp.isinf(a), xp.isinf(b))
    one = xp.prim.full((), 1, xp.dtype_of(a), xp.backend.device_of(a))

    def only(where: Any, x: Any) -> Any:
        return xp.prim.where(where, x, one)

    finite = xp.logical_not(infinite)
    rounded = xp.floor_divide(only(finite, a), only(finite, b))
    return xp.prim.where(infinite, xp.divide(only(infinite, a), only(infinite, b)), rounded)


STANDARD: dict[np.ufunc, Callable[..., Any]] = {np.floor_divide: _floor_divide_of_standard}
"""Ufunc -> body for floating loops, if an operand's kind belongs to the standard: operators and the namespace's functions agree."""
