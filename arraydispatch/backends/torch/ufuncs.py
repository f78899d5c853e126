"""NumPy ufunc -> torch kernel.

A row that names a torch function gives NumPy's values at no cost. A ``def`` is needed if torch departs from NumPy, and its
docstring says how. Operands are tensors of the loop's dtype; for the ufuncs in :data:`SCALARS` one may be a Python scalar.
``Backend.compute_dtype`` names another type for types without a torch kernel, except uint64 and complex
types, which the kernels themselves handle.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from . import host_kernels
from .comparisons import comparison, comparison_of_bytes, into, order_of_uint64
from .dtype_tables import concrete, derived, innermost_transform, out_of_transforms, readable
from .host_kernels import comparing, finding, sqrt, vectorized
from .powers import float_power, power, real_power
from .reductions import ACCUMULATE, REDUCE

__all__ = ["ACCUMULATE", "INPLACE", "REDUCE", "RING", "SCALARS", "UFUNCS", "kernel_for"]

Kernel = Callable[..., Any]


# -- order ---------------------------------------------------------------------------------------------------------


def _extremum(plain: Kernel, at_least: Kernel) -> Kernel:
    """Make a kernel that extends torch's maximum, minimum, fmax or fmin to uint64."""

    def kernel(a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        if a.dtype is torch.uint64:
            return into(out, torch.where(order_of_uint64(at_least, a, b), a, b))
        return plain(a, b, out=out)

    return kernel


# -- hyperbolic functions, which overflow at 710.4758; torch's overflow at 709.78 on the CPU, as exp does ---------------


_FAR = {torch.float64: 700.0, torch.float32: 80.0}


def _near(a: Tensor, far: float) -> bool:
    """Whether all values are known to be closer to zero than ``far``; the check takes a fiftieth of the time of sinh."""
    if not concrete(a):
        return False
    if not a.numel():
        return True
    with out_of_transforms():
        low, high = torch.aminmax(a.detach() if a.requires_grad else a)
        return -far < low.item() and high.item() < far


def _large(a: Tensor, far: float) -> tuple[Tensor, Tensor, Tensor]:
    """Return the mask of numbers far from zero, the others, and half the exponential of the absolute value of the far
    ones.

    Each of the latter two has an arbitrary number in the places of the other, so that its derivative is finite there.
    """
    large = a.abs() > far
    size = torch.where(large, a, far).abs()
    return large, torch.where(large, 0.0, a), (size - far / 2).exp() * (math.exp(far / 2) / 2)


def sinh(a: Tensor) -> Tensor:
    far = _FAR.get(a.dtype) if a.is_cpu else None
    if far is None or _near(a, far):
        return torch.sinh(a)
    large, rest, half = _large(a, far)
    return torch.where(large, torch.where(a < 0.0, -half, half), torch.sinh(rest))


def cosh(a: Tensor) -> Tensor:
    far = _FAR.get(a.dtype) if a.is_cpu else None
    if far is None or _near(a, far):
        return torch.cosh(a)
    large, rest, half = _large(a, far)
    return torch.where(large, half, torch.cosh(rest))


# -- division ------------------------------------------------------------------------------------------------------


def _divisor(b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the masks of divisors that are 0 and that are -1, for which integer division traps on x86, and the divisors with both
    replaced by 1.

    For unsigned integers, the second mask is the first one.
    """
    zero = b == 0
    if not b.dtype.is_signed:
        return zero, zero, torch.where(zero, 1, b)
    minus = b == -1
    return zero, minus, torch.where(zero | minus, 1, b)


def _divide_uint64(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Compute quotient and remainder, both 0 for a zero divisor, from the signed bits (Warren, Hacker's Delight,
    section 9-3).
    """
    n, d = torch.broadcast_tensors(a.view(torch.int64), b.view(torch.int64))
    lowest = torch.iinfo(torch.int64).min  # flipping the sign bit gives an unsigned comparison
    safe = torch.where(d <= 0, 1, d)
    q = torch.div((n >> 1) & torch.iinfo(torch.int64).max, safe, rounding_mode="trunc") << 1
    q = torch.where(d < 0, 0, q)
    q = torch.where(d == 0, 0, q + ((n - q * d) ^ lowest >= d ^ lowest))
    return q.view(torch.uint64), torch.where(d == 0, 0, n - q * d).view(torch.uint64)


def _floor_quotient(a: Any, b: Any) -> Tensor:
    """Divide floats and round down; torch lacks the derivative, which is 0, and a recorded program may need one."""
    tensors = [x for x in (a, b) if isinstance(x, Tensor)]
    needed = any(x.requires_grad for x in tensors)
    if not needed and not torch._C._len_torch_dispatch_stack():
        return torch.floor_divide(a, b)
    made = torch.floor_divide(*(x.detach() if isinstance(x, Tensor) else x for x in (a, b)))
    return torch.where(torch.zeros_like(made, dtype=torch.bool), a + b, made) if needed else made


def floor_divide(a: Tensor, b: Tensor) -> Tensor:
    """Divide and round down. Integers: 0 for a zero divisor, where torch raises; the lowest integer divided by -1 wraps,
    where torch's code traps.
    """
    if a.dtype.is_floating_point:
        return _floor_quotient(a, b)
    if (made := host_kernels.by_one_number(np.floor_divide, a, b)) is not None:
        return made
    if a.dtype is torch.uint64:
        return _divide_uint64(a, b)[0]
    zero, minus, safe = _divisor(b)
    q = torch.where(zero, 0, torch.floor_divide(a, safe))
    return torch.where(minus, -a, q) if b.dtype.is_signed else q


def remainder(a: Tensor, b: Tensor) -> Tensor:
    """Compute the remainder. Floats: a zero takes the divisor's sign. Integers: 0 for a zero divisor, where torch raises."""
    if a.dtype.is_floating_point:
        if concrete(a) and concrete(b):
            rest = torch.remainder(a, b)
        else:  # torch's compiler would multiply a rounded quotient
            rest = torch.fmod(a, b)
            rest = torch.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
        if not rest.requires_grad and innermost_transform() is None:
            return rest.copysign_(b)
        held = rest.detach()  # copying the sign to a zero would lose the derivative
        return torch.where(held != 0, rest, torch.where(b < 0, -(held - rest), rest - held))
    if (made := host_kernels.by_one_number(np.remainder, a, b)) is not None:
        return made
    if a.dtype is torch.uint64:
        return _divide_uint64(a, b)[1]
    zero, minus, safe = _divisor(b)
    return torch.where(zero | minus, 0, torch.remainder(a, safe))


def fmod(a: Tensor, b: Tensor) -> Tensor:
    """Compute the truncated remainder. Integers: 0 for a zero divisor, where torch raises.

    A departure that stays: torch's vectorized float code, here and in ``remainder``, gives NaN if the quotient
    overflows (1e308 by 1e-308).
    """
    if a.dtype.is_floating_point:
        return torch.fmod(a, b)
    if a.dtype is torch.uint64:
        return _divide_uint64(a, b)[1]
    zero, minus, safe = _divisor(b)
    return torch.where(zero | minus, 0, torch.fmod(a, safe))


def gcd(a: Tensor, b: Tensor) -> Tensor:
    """Compute the greatest common divisor; torch's sign is wrong next to the lowest integer."""
    if a.dtype is torch.uint64:
        a, b = torch.broadcast_tensors(a, b)
        while bool((b.view(torch.int64) != 0).any()):
            rest = _divide_uint64(a, b)[1].view(torch.int64)
            left = b.view(torch.int64)
            a, b = torch.where(left == 0, a.view(torch.int64), left).view(torch.uint64), rest.view(torch.uint64)
        return a.clone()
    return torch.abs(torch.gcd(a, b))


def lcm(a: Tensor, b: Tensor) -> Tensor:
    """Compute the least common multiple modulo the width of the type, as NumPy does; torch's function traps on the lowest integer."""
    if a.dtype is torch.uint64:
        quotient = _divide_uint64(a, gcd(a, b))[0].view(torch.int64)
        return (quotient * b.view(torch.int64)).view(torch.uint64)
    divisor = torch.abs(torch.gcd(a, b))
    parts = torch.abs(torch.div(torch.abs(a), torch.where(divisor == 0, 1, divisor), rounding_mode="trunc"))
    return parts * torch.abs(b)


# -- bits and exponents ---------------------------------------------------------------------------------------------


def right_shift(a: Tensor, b: Tensor) -> Tensor:
    """Shift bits to the right; for uint64 shift in zeros, where torch would shift in the sign of the same bits as int64."""
    if a.dtype is not torch.uint64:
        return torch.bitwise_right_shift(a, b)
    bits, n = a.view(torch.int64), b.view(torch.int64)
    inside = (n >= 0) & (n < 64)
    n = torch.where(inside, n, 0)
    keep = torch.where(n == 0, -1, ~(torch.bitwise_left_shift(torch.full_like(n, -1), 64 - n)))
    return torch.where(inside, (bits >> n) & keep, 0).view(torch.uint64)


_EXPONENT = {torch.float32: (torch.int32, 23, 127), torch.float64: (torch.int64, 52, 1023)}


def ldexp(a: Tensor, n: Tensor) -> Tensor:
    """Compute ldexp; torch multiplies by 2**n, which overflows even if the result does not."""
    if a.dtype not in _EXPONENT:
        return ldexp(a.to(torch.float32), n).to(a.dtype)
    if (made := host_kernels.of_exponents(np.ldexp, a, n)) is not None:
        return made
    bias = _EXPONENT[a.dtype][2]
    fraction, exponent = frexp(a)
    total = exponent.to(torch.int64) + torch.clamp(n.to(torch.int64), -8 * bias, 8 * bias)
    return torch.where(torch.isfinite(a), _by_power_of_two(fraction, total), a)


def _by_power_of_two(a: Tensor, exponent: Tensor) -> Tensor:
    """Compute ``a * 2**exponent`` in two steps, the first exact."""
    integer, mantissa, bias = _EXPONENT[a.dtype]
    first = torch.clamp(exponent, 2 - bias, bias - 1)
    second = torch.clamp(exponent - first, 1 - bias, bias)
    one, two = (((e + bias).to(integer) << mantissa).view(a.dtype) for e in (first, second))
    return a * one * two


def frexp(a: Tensor) -> tuple[Tensor, Tensor]:
    """Compute frexp; from the bits where torch's compiler (2.13) would write invalid C++ if the exponent is used."""
    if (made := host_kernels.of_exponents(np.frexp, a)) is not None:
        return made
    if concrete(a):
        fraction, exponent = torch.frexp(a)
        return fraction, exponent
    if a.dtype not in _EXPONENT:
        fraction, exponent = frexp(a.to(torch.float32))
        return fraction.to(a.dtype), exponent
    integer, mantissa, bias = _EXPONENT[a.dtype]
    small = torch.abs(a) < torch.finfo(a.dtype).smallest_normal
    bits = torch.where(small, a * 2.0 ** (mantissa + 1), a).detach().view(integer)
    exponent = ((bits >> mantissa) & (2 * bias + 1)) - (bias - 1) - small.to(integer) * (mantissa + 1)
    exponent = torch.where((a == 0) | ~torch.isfinite(a), 0, exponent)
    return _by_power_of_two(a, -exponent), exponent.to(torch.int32)


_LARGE = 1 << 14
"""Number of elements from which a look at the values costs less than it can save."""


def square(a: Tensor, out: Tensor | None = None) -> Tensor:
    """Square; torch computes squares of integers by its power function, in 3 to 20 times the time of a product."""
    return torch.square(a, out=out) if a.dtype.is_floating_point or a.dtype.is_complex else torch.mul(a, a, out=out)


def arctan2(a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
    """Compute the angle. On a CPU torch has vector code only for operands without gaps; the parts of complex numbers have them."""
    if a.numel() >= _LARGE and a.is_cpu and concrete(a) and concrete(b):
        a, b = _without_gaps(a), _without_gaps(b)
    return torch.atan2(a, b, out=out)


def _without_gaps(a: Tensor) -> Tensor:
    steps = [step for step, n in zip(a.stride(), a.shape) if n > 1]
    return a.clone() if steps and min(steps) > 1 else a


def cbrt(a: Tensor, out: Tensor | None = None) -> Tensor:
    """Compute the cube root, which torch lacks, by a power of the magnitude and one Newton step: accurate to the last bit or two.

    For zeros, infinities and NaN a derivative is that of the square root of the magnitude: also infinite or zero there.
    """
    if a.dtype.itemsize < 4:
        return into(out, cbrt(a.to(torch.float32)).to(a.dtype))
    if (made := host_kernels.by_vectors(np.cbrt, a, out)) is not None:
        return made
    if not derived(a):
        return into(out, _cube_root(a))
    ends, mirrored = (a == 0) | ~torch.isfinite(a), torch.signbit(a)
    root = torch.sqrt(torch.where(ends, torch.where(mirrored, -a, a), 1.0))
    return into(out, torch.where(ends, torch.where(mirrored, -root, root), _cube_root(torch.where(ends, 1.0, a))))


def _cube_root(a: Tensor) -> Tensor:
    size = torch.abs(a)
    root = torch.pow(size, 1.0 / 3.0)
    step = (root - size / (root * root)) / torch.full(
        (), 3.0, dtype=a.dtype, device=a.device
    )  # no cube, which could overflow
    return torch.copysign(torch.where(torch.isfinite(size) & (size > 0), root - step, size), a)


# -- signs and parts -------------------------------------------------------------------------------------------------


def sign(a: Tensor) -> Tensor:
    """Return the sign; torch gives 0 for NaN."""
    if a.dtype.is_floating_point:
        signs = torch.sign(a)
        if a.numel() >= _LARGE and readable(a) and not math.isnan(torch.amax(a).item()):
            return signs  # the maximum is NaN if an element is, and takes a third of the time of a comparison
        return signs.masked_fill_(a != a, math.nan)  # `where` takes 20 times as long on 1 M elements
    if a.dtype is torch.uint64:
        return (a != 0).to(torch.uint64)
    return torch.sign(a)


def heaviside(a: Tensor, b: Tensor) -> Tensor:
    """Compute the step function, NaN for NaN, and with a derivative; ``torch.heaviside`` gives 1 for NaN, and has no derivative."""
    if derived(a, b):
        step = torch.where(a == 0, b, (a > 0).to(a.dtype))
        return torch.where(a != a, a, step)
    return torch.heaviside(a, b).masked_fill_(a != a, math.nan)


def hypot(a: Tensor, b: Tensor) -> Tensor:
    """Compute the hypotenuse with derivative 0 at two zeros, where torch's derivative is NaN."""
    if not (a.dtype.is_floating_point and derived(a, b)):
        return torch.hypot(a, b)
    nothing = (a == 0) & (b == 0)
    return torch.where(nothing, 0.0, torch.hypot(torch.where(nothing, 1.0, a), torch.where(nothing, 1.0, b)))


def _with_nan(plain: Kernel, order: Kernel, ignored: bool) -> Kernel:
    """Make an extremum that shares the derivative between equal numbers, and gives it to the chosen operand at NaN.

    torch's ``fmax`` and ``fmin`` give the whole derivative to the first of equal numbers; ``maximum`` and ``minimum`` share it at NaN.
    """

    def kernel(a: Tensor, b: Tensor, out: Tensor | None = None) -> Tensor:
        if out is not None or not a.dtype.is_floating_point or not derived(a, b):
            return plain(a, b, out=out)
        first, second = (b, a) if ignored else (a, b)
        return torch.where(torch.isnan(a), first, torch.where(torch.isnan(b), second, order(a, b)))

    return kernel


_maximum = _with_nan(torch.maximum, torch.maximum, False)
_minimum = _with_nan(torch.minimum, torch.minimum, False)
_fmax, _fmin = _with_nan(torch.fmax, torch.maximum, True), _with_nan(torch.fmin, torch.minimum, True)


def nextafter(a: Tensor, b: Tensor) -> Tensor:
    """Return the next number; for two equal zeros NumPy's 16-bit code returns the first, C the second."""
    out = torch.nextafter(a, b)
    return torch.where(a == b, a, out) if a.dtype is torch.float16 else out


def conjugate(a: Tensor) -> Tensor:
    """Conjugate to a new tensor, since torch returns a real tensor itself. Under ``vmap``, torch's function would process the examples
    one by one, with a warning.
    """
    if not a.dtype.is_complex:
        return a.clone()
    if torch._C._functorch.is_functorch_wrapped_tensor(a):
        return torch.complex(a.real, -a.imag)
    return torch.conj_physical(a)


# -- complex numbers, part by part -------------------------------------------------------------------------------------


def _parts(plain: Kernel) -> Kernel:
    """Make a kernel that adds or subtracts real and imaginary parts: torch multiplies by a complex ``alpha`` first, which turns infinities
    into NaN.
    """

    def kernel(a: Any, b: Any, out: Tensor | None = None) -> Tensor:
        if not isinstance(a, Tensor):
            a = torch.as_tensor(a, dtype=b.dtype, device=b.device)
        elif not isinstance(b, Tensor):
            b = torch.as_tensor(b, dtype=a.dtype, device=a.device)
        left, right = torch.view_as_real(a.resolve_conj()), torch.view_as_real(b.resolve_conj())
        if out is None:
            return torch.view_as_complex(plain(left, right))
        plain(left, right, out=torch.view_as_real(out))
        return out

    return kernel


def _complex_negative(a: Tensor, out: Tensor | None = None) -> Tensor:
    """Negate; torch's vectorized negation loses the sign of zero."""
    parts = torch.view_as_real(a.resolve_conj())
    if out is None:
        return torch.view_as_complex(torch.neg(parts))
    torch.neg(parts, out=torch.view_as_real(out))
    return out


def _complex_log1p(a: Tensor, out: Tensor | None = None) -> Tensor:
    """Compute log1p by modulus and angle, as NumPy does; torch gives NaN if real or imaginary part is infinite, and keeps -0.0."""
    re = a.real + 1
    return into(out, torch.complex(torch.log(torch.hypot(re, a.imag)), torch.atan2(a.imag, re)))


def _complex_log2(a: Tensor, out: Tensor | None = None) -> Tensor:
    """Compute log2; torch's scalar code multiplies by a complex number, by which an infinite real part makes the imaginary part NaN."""
    parts = torch.view_as_real(torch.log(a)) * (1 / math.log(2))
    return into(out, torch.view_as_complex(parts))


def _complex_arccos(a: Tensor, out: Tensor | None = None) -> Tensor:
    """Compute arccos; torch has +0 for the imaginary part on both sides of the real axis."""
    angle = torch.acos(a)
    return into(out, torch.complex(angle.real, torch.copysign(angle.imag, -a.imag)))


UFUNCS: dict[Any, Kernel] = {
    # arithmetic
    np.add: torch.add,
    np.subtract: torch.sub,
    np.multiply: torch.mul,
    np.divide: torch.div,
    np.floor_divide: floor_divide,
    np.remainder: remainder,
    np.fmod: fmod,
    np.power: power,
    np.float_power: float_power,
    np.negative: torch.neg,
    np.positive: torch.clone,
    np.absolute: host_kernels.absolute,
    np.fabs: torch.abs,
    np.square: square,
    np.reciprocal: torch.reciprocal,
    np.sqrt: sqrt,
    np.cbrt: cbrt,
    np.gcd: gcd,
    np.lcm: lcm,
    np.sign: sign,
    np.signbit: torch.signbit,
    np.copysign: torch.copysign,
    np.nextafter: nextafter,
    np.ldexp: ldexp,
    np.frexp: frexp,
    np.heaviside: heaviside,
    np.conjugate: conjugate,
    np.hypot: hypot,
    # rounding
    np.rint: torch.round,
    np.floor: torch.floor,
    np.ceil: torch.ceil,
    np.trunc: torch.trunc,
    # exponentials, logarithms
    np.exp: torch.exp,
    np.exp2: torch.exp2,
    np.expm1: vectorized(np.expm1, torch.expm1, torch.float32),
    np.log: torch.log,
    np.log2: torch.log2,
    np.log10: torch.log10,
    np.log1p: torch.log1p,
    np.logaddexp: torch.logaddexp,
    # trigonometry
    np.sin: torch.sin,
    np.cos: torch.cos,
    np.tan: torch.tan,
    np.arcsin: torch.asin,
    np.arccos: torch.acos,
    np.arctan: torch.atan,
    np.arctan2: arctan2,
    np.sinh: sinh,
    np.cosh: cosh,
    np.tanh: torch.tanh,
    np.arcsinh: vectorized(np.arcsinh, torch.asinh, torch.float32, torch.float64),
    np.arccosh: vectorized(np.arccosh, torch.acosh, torch.float32, torch.float64),
    np.arctanh: torch.atanh,
    # order
    np.equal: comparing(np.equal, torch.eq),
    np.not_equal: comparing(np.not_equal, torch.ne),
    np.less: comparing(np.less, comparison(torch.lt, torch.gt)),
    np.less_equal: comparing(np.less_equal, comparison(torch.le, torch.ge)),
    np.greater: comparing(np.greater, comparison(torch.gt, torch.lt)),
    np.greater_equal: comparing(np.greater_equal, comparison(torch.ge, torch.le)),
    np.maximum: _extremum(_maximum, torch.ge),
    np.minimum: _extremum(_minimum, torch.le),
    np.fmax: _extremum(_fmax, torch.ge),
    np.fmin: _extremum(_fmin, torch.le),
    # logic and bits
    np.logical_and: comparing(np.logical_and, torch.logical_and),
    np.logical_or: comparing(np.logical_or, torch.logical_or),
    np.logical_xor: comparing(np.logical_xor, torch.logical_xor),
    np.logical_not: torch.logical_not,
    np.bitwise_and: torch.bitwise_and,
    np.bitwise_or: torch.bitwise_or,
    np.bitwise_xor: torch.bitwise_xor,
    np.invert: torch.bitwise_not,
    np.left_shift: torch.bitwise_left_shift,
    np.right_shift: right_shift,
    np.isnan: finding(np.isnan, torch.isnan),
    np.isinf: finding(np.isinf, torch.isinf),
    np.isfinite: finding(np.isfinite, torch.isfinite),
}

RING = frozenset(
    {
        np.add, np.subtract, np.multiply, np.negative, np.square, np.left_shift, np.invert,
        np.logical_and, np.logical_or, np.logical_xor, np.logical_not,
    }
)  # fmt: skip
"""Ufuncs without an unsigned kernel in torch whose bits (or truth) are the same in the signed type of the same size."""

_ORDER: dict[Any, Kernel] = {
    np.less: comparing(np.less, torch.lt),
    np.less_equal: comparing(np.less_equal, torch.le),
    np.greater: comparing(np.greater, torch.gt),
    np.greater_equal: comparing(np.greater_equal, torch.ge),
    np.maximum: _maximum,
    np.minimum: _minimum,
    np.fmax: _fmax,
    np.fmin: _fmin,
}

_FLOAT: dict[Any, Kernel] = {
    np.absolute: torch.abs, np.floor_divide: _floor_quotient, np.fmod: torch.fmod, np.power: real_power,
}  # fmt: skip

_BYTES: dict[Any, Kernel] = {
    np.equal: comparison_of_bytes(torch.eq, torch.eq),
    np.not_equal: comparison_of_bytes(torch.ne, torch.ne),
    np.less: comparison_of_bytes(torch.lt, torch.gt),
    np.less_equal: comparison_of_bytes(torch.le, torch.ge),
    np.greater: comparison_of_bytes(torch.gt, torch.lt),
    np.greater_equal: comparison_of_bytes(torch.ge, torch.le),
}

_INTEGER: dict[Any, Kernel] = {
    np.absolute: torch.abs,
    np.sign: torch.sign,
    np.right_shift: torch.bitwise_right_shift,
}

_COMPLEX: dict[Any, Kernel] = {
    np.add: _parts(torch.add),
    np.subtract: _parts(torch.sub),
    np.negative: _complex_negative,
    np.log1p: _complex_log1p,
    np.log2: _complex_log2,
    np.arccos: _complex_arccos,
}


def kernel_for(ufunc: Any, dtype: np.dtype[Any], scalars: bool) -> Kernel | None:
    """Return the kernel for operands of this dtype; None if :data:`UFUNCS` has none.

    The kernel in :data:`UFUNCS` handles every dtype. Where this dtype needs less, a leaner one is returned, often torch's own function.
    ``scalars``: whether one operand is a Python scalar.
    """
    row = UFUNCS.get(ufunc)
    if dtype.kind == "c":
        return _COMPLEX.get(ufunc, row)
    if row is None or dtype == np.uint64:
        return row
    if dtype.itemsize == 1 and ufunc in _BYTES:
        return _BYTES[ufunc]
    if ufunc in _ORDER:
        return row if scalars else _ORDER[ufunc]
    if dtype.kind == "f" or dtype.name == "bfloat16":
        return _FLOAT.get(ufunc, row)
    if dtype in _COMPUTED_INTEGERS:
        return _INTEGER.get(ufunc, row)
    return row


_COMPUTED_INTEGERS = frozenset(np.dtype(t) for t in (np.int8, np.int16, np.int32, np.int64, np.uint8))

INPLACE: frozenset[Any] = (
    frozenset(ufunc for ufunc, kernel in UFUNCS.items() if isinstance(kernel, type(torch.add))) - {np.positive}
    | {np.equal, np.not_equal, np.logical_and, np.logical_or, np.logical_xor}
    | {np.square, np.cbrt, np.arctan2, np.expm1, np.arcsinh, np.arccosh}
    | frozenset(_ORDER)
)
"""Ufuncs whose kernel accepts ``out=``, a tensor of the loop's output dtype, which may be one of the operands."""

SCALARS: frozenset[Any] = frozenset(
    {
        np.add, np.subtract, np.multiply, np.power, np.float_power,
        np.less, np.less_equal, np.greater, np.greater_equal,
    }
)  # fmt: skip
"""Ufuncs whose kernel accepts a Python scalar on either side.

int, float or complex; not bool, which torch does not subtract. Not ``divide``: on a GPU torch multiplies by the
reciprocal of a scalar, which rounds differently.
"""
