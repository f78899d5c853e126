"""Faddeeva function w(z) = exp(-z**2) erfc(-i z), and the error functions of complex numbers in terms of it.

As in SciPy (S. G. Johnson's package), it is computed by a continued fraction far from the origin, by Zaghloul and Ali's
sums (ACM algorithm 916) near it, and by Taylor series where error functions would cancel.
"""

from __future__ import annotations

import math

from .complexes import Complex, either, exponential
from .error_functions import erfcx
from .formula import (  # fmt: skip
    INF,
    NAN,
    Real,
    choose,
    constant,
    cos,
    cosh,
    exp,
    isinf,
    isnan,
    minimum,
    of_complex,
    pairs,
    signbit,
    sin,
    sinh,
    special,
    where,
)

_PER_ROOT = 1 / math.sqrt(math.pi)

Pair = tuple[Real, Real]

# -- w(z), by regions of x = |Re z| and y ------------------------------------------------------------------------------------

_FRACTION = 19
"""Depth of the continued fraction, sufficient at the border of its region."""
_STEP = 0.518321480430085929872  # pi / sqrt(-log(2**-53))
_TERMS = 32  # exp(-(n step - 10)**2) is negligible from there on


def _fraction(x: Real, y: Real) -> Pair:
    """Compute i / sqrt(pi) / (z - 1/2 / (z - 1 / (z - 3/2 / …))), for y >= 0."""
    re, im = x, y
    for k in range(_FRACTION - 1, 0, -1):
        share = 0.5 * k / (re * re + im * im)
        re, im = x - re * share, y + im * share
    share = _PER_ROOT / (re * re + im * im)
    return im * share, re * share


def _first(x: Real, y: Real) -> Pair:
    """Compute i / sqrt(pi) / z, for numbers whose squares may overflow."""
    wide = x > y
    ratio = where(wide, y / where(wide, x, 1.0), x / where(wide, 1.0, y))
    share = _PER_ROOT / where(wide, x + ratio * y, ratio * x + y)
    return where(wide, share * ratio, share), where(wide, share, share * ratio)


def _sinc(x: Real) -> Real:
    small = abs(x) < 1e-4
    by = where(small, 1.0, x)
    return where(small, 1.0 - x * x * (1 / 6), sin(by) / by)


def _sums(x: Real, y: Real) -> Pair:
    """Compute w for x < 10 and |y| < 7."""
    gauss = exp(-(x * x))
    c, s = cosh(x * (2 * _STEP)), sinh(x * (2 * _STEP))
    # hyperbolic functions of multiples: sums of positive numbers
    even, odd, plain = x * 0.0, x * 0.0, x * 0.0
    ck, sk = c, s
    for n in range(1, _TERMS + 1):
        if n > 1:
            ck, sk = ck * c + sk * s, sk * c + ck * s
        at = _STEP * n
        weight = gauss * math.exp(-(at**2)) / (y * y + at**2)
        plain = plain + weight
        even = even + weight * ck
        odd = odd + weight * sk * at
    c_ = 2 / math.pi * _STEP
    low = y <= -6.0
    safe = where(low, 0.0, y)
    head = where(low, exp((y - x) * (y + x)) * 2.0, gauss * erfcx(safe)) - y * plain * c_
    rest = x * gauss * c_
    angle = x * y
    twice = angle * 2.0
    # imaginary terms cancel for large y
    far = y > 5.0
    re = head * cos(twice) + rest * sin(angle) * where(far, 1.0, constant(x, 1.0)) * _sinc(angle)
    im = where(far, 0.0, rest * _sinc(twice) - head * sin(twice))
    return re + y * even * c_, im + odd * c_


def faddeeva(z: Complex) -> Complex:
    """Compute w(z)."""
    x, y = z.parts
    ax, ay = abs(x), abs(y)
    far = (ay > 7.0) | (ax > 6.0) & ((ay > 0.1) | (ax > 8.0) & (ay > 1e-10)) | (ax >= 10.0)
    re, im = pairs(
        (ax, where(far, ay, y)),
        [
            (far & (ax + ay > 1e7), _first, (1e8, 1e8)),
            (far, _fraction, (20.0, 20.0)),
            (ax < 10.0, _sums, (1.0, 1.0)),
        ],
    )
    # real numbers: the real part is small, and the fraction omits it
    re = where(far & (ay < 1e-9), re + exp(-minimum(ax, 1e100) * minimum(ax, 1e100)), re)
    nothing = isinf(ay) & ~isnan(x)
    re, im = where(nothing, 0.0, re), where(nothing, 0.0, im)
    # w(-conj(z)) = conj(w(z)); the lower half plane by w(z) = 2 exp(-z**2) - w(-z)
    mirrored = far & (y < 0.0)
    turned = signbit(x) & ~mirrored | mirrored & ~signbit(x)
    im = where(turned, -im, im)
    square = exponential((ay - ax) * (ax + ay), x * y * -2.0)
    re, im = where(mirrored, square.x * 2.0 - re, re), where(mirrored, square.y * 2.0 - im, im)
    undefined = isnan(x) | isnan(y) | (y == -INF)
    axis = x == 0.0
    re = choose(re, (axis, erfcx(where(axis, y, 0.0))), (undefined, NAN))
    return Complex(re, choose(im, (axis, x), (undefined, NAN)))


@of_complex("wofz")
def wofz(x: Real, y: Real) -> Pair:
    return faddeeva(Complex(x, y)).parts


@of_complex("erfcx")
def erfcx_complex(x: Real, y: Real) -> Pair:
    return faddeeva(Complex(-y, x)).parts


# -- error functions ---------------------------------------------------------------------------------------------------------

_TWO = 2 / math.sqrt(math.pi)
_NEAR = tuple(_TWO * (-1) ** k / (math.factorial(k) * (2 * k + 1)) for k in range(7))


def _times_square(x: Real, y: Real, w: Complex) -> Complex:
    """Multiply a number by exp(-z**2)."""
    power, angle = (y - x) * (y + x), x * y * -2.0
    far = power > 700.0  # it may be infinite, but not the product
    half = exp(power * 0.5)
    return Complex(cos(angle), sin(angle)) * w * where(far, half, exp(power)) * where(far, half, 1.0)


def _near_zero(x: Real, y: Real) -> Complex:
    z = Complex(x, y)
    square = z * z
    made = Complex(x * 0.0 + _NEAR[-1], y * 0.0)
    for term in reversed(_NEAR[:-1]):
        made = made * square + term
    return z * made


def _near_axis(x: Real, y: Real) -> Complex:
    """Compute the error function for small x, next to the imaginary axis."""
    x2, y2 = x * x, y * y
    grow = exp(y2)
    wave = where(y < 0.0, -1.0, constant(y, 1.0)) * faddeeva(Complex(abs(y), y * 0.0)).y
    a, b = 1.1283791670955126, 0.3761263890318375
    re = x * (
        a
        - x2 * (b + y2 * (2 * b))
        + x2 * x2 * (0.11283791670955126 + y2 * (0.4513516668382050 + y2 * 0.1504505556127350))
    )
    im = wave - x2 * y * (a - x2 * (0.5641895835477563 + y2 * b))
    return Complex(grow * re, grow * im)


def _error(x: Real, y: Real) -> Complex:
    """Compute erf for numbers with x >= 0."""
    ay = abs(y)
    lost = (y - x) * (y + x) < -750.0
    taylor = (x < 8e-2) & (ay < 1e-2)
    axis = (x < 5e-3) & (x * ay < 2.5e-3) & ~taylor
    usual = ~(lost | taylor | axis)
    u, v = where(usual, x, 1.0), where(usual, y, 0.0)
    made = _times_square(u, v, faddeeva(Complex(-v, u)))
    value = Complex(1.0 - made.x, -made.y)
    value = either(axis, _near_axis(where(axis, x, 0.0), where(axis, y, 0.0)), value)
    value = either(taylor, _near_zero(where(taylor, x, 0.0), where(taylor, y, 0.0)), value)
    return Complex(where(lost, 1.0, value.x), value.y)


@of_complex("erf")
def erf_complex(x: Real, y: Real) -> Pair:
    left = x < 0.0
    value = _error(abs(x), where(left, -y, y))
    re, im = where(left, -value.x, value.x), where(left, -value.y, value.y)
    lost = (y - x) * (y + x) < -750.0
    real, imaginary = y == 0.0, (x == 0.0) & (y != 0.0)
    re = choose(re, (real, special("erf", where(real, x, 0.0))), (imaginary, x))
    im = choose(im, (lost, 0.0), (real, y), (imaginary, special("erfi", where(imaginary, y, 0.0))))
    return re, im


@of_complex("erfi")
def erfi_complex(x: Real, y: Real) -> Pair:
    re, im = erf_complex(-y, x)
    return im, -re


@of_complex("erfc")
def erfc_complex(x: Real, y: Real) -> Pair:
    left = x < 0.0
    lost = (y - x) * (y + x) < -750.0
    made = _times_square(where(lost, 1.0, x), where(lost, 0.0, y), faddeeva(Complex(where(left, y, -y), abs(x))))
    re, im = where(left, 2.0 - made.x, made.x), where(left, -made.y, made.y)
    re = where(lost, where(left, 2.0, constant(x, 0.0)), re)
    real, imaginary = y == 0.0, (x == 0.0) & (y != 0.0)
    re = choose(re, (real, special("erfc", where(real, x, 0.0))), (imaginary, 1.0))
    im = choose(im, (lost, 0.0), (real, -y), (imaginary, -special("erfi", where(imaginary, y, 0.0))))
    return re, im
