"""Special functions of complex numbers, given as pairs of :class:`~arraydispatch.ufuncs.special.formula.Real`, the real
and imaginary parts.

The libraries' own complex kernels differ for infinities and signed zeros; pairs give the results written here.
"""

from __future__ import annotations

import math

from .exponentials import cosm1
from .formula import (  # fmt: skip
    Real,
    Truth,
    arctan2,
    choose,
    constant,
    cos,
    exp,
    expm1,
    hypot,
    isfinite,
    log,
    log1p,
    of_complex,
    rint,
    signbit,
    sin,
    sqrt,
    where,
)

__all__ = ["Complex", "either", "exponential"]

_INF, _NAN = math.inf, math.nan

Pair = tuple[Real, Real]


class Complex:
    """Array of complex numbers in two parts, with the operators that formulas need."""

    __slots__ = ("x", "y")

    def __init__(self, x: Real, y: Real) -> None:
        self.x = x
        self.y = y

    @property
    def parts(self) -> Pair:
        """Return both parts."""
        return self.x, self.y

    def __add__(self, other: Complex | float) -> Complex:
        if isinstance(other, Complex):
            return Complex(self.x + other.x, self.y + other.y)
        return Complex(self.x + other, self.y)

    def __sub__(self, other: Complex | float) -> Complex:
        if isinstance(other, Complex):
            return Complex(self.x - other.x, self.y - other.y)
        return Complex(self.x - other, self.y)

    def __mul__(self, other: Complex | Real | float) -> Complex:
        if isinstance(other, Complex):
            return Complex(self.x * other.x - self.y * other.y, self.x * other.y + self.y * other.x)
        return Complex(self.x * other, self.y * other)

    def __truediv__(self, other: Complex) -> Complex:
        size = abs(other.x) + abs(other.y)
        c, d = other.x / size, other.y / size
        made = self * Complex(c, -d)
        square = (c * c + d * d) * size
        return Complex(made.x / square, made.y / square)

    def __neg__(self) -> Complex:
        return Complex(-self.x, -self.y)

    def turned(self, direction: float = 1.0) -> Complex:
        """Multiply by i, or -i."""
        return Complex(-self.y * direction, self.x * direction)

    def log(self) -> Complex:
        """Compute the principal logarithm."""
        return Complex(log(hypot(self.x, self.y)), arctan2(self.y, self.x))

    def sqrt(self) -> Complex:
        """Compute the principal square root."""
        size = hypot(self.x, self.y)
        root = sqrt((size + abs(self.x)) * 0.5)
        other = abs(self.y) / where(root == 0.0, 1.0, root * 2.0)
        ahead = self.x >= 0.0
        im = where(ahead, other, root)
        return Complex(where(ahead, root, other), where(signbit(self.y), -im, im))


def either(condition: Truth, one: Complex, other: Complex) -> Complex:
    """Choose elementwise."""
    return Complex(where(condition, one.x, other.x), where(condition, one.y, other.y))


def exponential(x: Real, y: Real) -> Complex:
    """Compute exp(x + i y), with C's values for infinities."""
    half = exp(x * 0.5)
    far = x > 700.0  # the exponential may be infinite, but not its product with a cosine
    factor = where(far, half, exp(x))
    more = where(far, half, 1.0)
    re, im = factor * cos(y) * more, factor * sin(y) * more
    strange = ~isfinite(y)
    re = choose(re, (strange & (x == -_INF), 0.0), (strange & (x == _INF), _INF))
    im = choose(im, (y == 0.0, y), (strange & (x == -_INF), where(y == -_INF, -0.0, constant(y, 0.0))))
    return Complex(re, im)


def _polynomial(z: Complex, terms: tuple[tuple[float, float], ...]) -> Complex:
    """Evaluate a polynomial given by its terms (real, imaginary) from the constant up."""
    made = Complex(z.x * 0.0 + terms[-1][0], z.y * 0.0 + terms[-1][1])
    for re, im in reversed(terms[:-1]):
        made = made * z
        made = Complex(made.x + re, made.y + im)
    return made


# -- exponentials and logarithms -----------------------------------------------------------------------------------------

_EXACT = 2.0**24
"""Numbers below four are split at this place, so that sums of the heads' squares are exact."""


@of_complex("log1p")
def log1p_complex(x: Real, y: Real) -> Pair:
    up = x + 1.0
    near = (abs(x) < 2.0) & (abs(y) < 2.0)
    a, b = where(near, x, 0.0), where(near, y, 0.0)
    c, d = rint(a * _EXACT) * (1 / _EXACT), rint(b * _EXACT) * (1 / _EXACT)
    square = (c * 2.0 + c * c + d * d) + ((a - c) * (a + c + 2.0) + (b - d) * (b + d))  # |1 + z|**2 - 1
    near = near & (square > -0.3)  # below -0.3, |1 + z| itself keeps its digits, and XLA's log1p does not
    re = where(near, log1p(where(near, square, 0.0)) * 0.5, log(where(near, 1.0, hypot(up, y))))
    line = (y == 0.0) & (x >= -1.0)
    return where(line, log1p(where(line, x, 0.0)), re), where(line, 0.0, arctan2(y, up))


@of_complex("expm1")
def expm1_complex(x: Real, y: Real) -> Pair:
    finite = isfinite(x) & isfinite(y)
    a, b = where(finite, x, 0.0), where(finite, y, 0.0)
    e, sine = expm1(a), sin(b)
    re = where(a <= -40.0, -1.0, e * cos(b) + cosm1(b))
    im = where(a > -1.0, (e + 1.0) * sine, exp(a) * sine)
    other = exponential(x, y)
    return where(finite, re, other.x - 1.0), where(finite, im, other.y)


# -- Wright's omega --------------------------------------------------------------------------------------------------------

_NEAR = 0.01

_BRANCH = ((-1.0, 0.0), (0.0, 1.0), (1 / 3, 0.0), (0.0, -1 / 36), (1 / 270, 0.0), (0.0, 1 / 4320))
_FLAT = ((1.0, 0.0), (-1.0, 0.0), (3 / 2, 0.0), (-8 / 3, 0.0), (125 / 24, 0.0))
_MIDDLE = ((1.0, 0.0), (0.5, 0.0), (1 / 16, 0.0), (-1 / 192, 0.0), (-1 / 3072, 0.0), (13 / 61440, 0.0))


def _near_branch(z: Complex, side: float) -> Complex:
    """Compute the function near -1 + i pi, or its conjugate, by a series in the conjugate of the root of the conjugate."""
    twice = (z + 1.0) * 2.0
    root = Complex(twice.x, -(twice.y - side * 2 * math.pi)).sqrt()
    terms = tuple((re, im * side) for re, im in _BRANCH)
    return _polynomial(Complex(root.x, -root.y), terms)


def _far(t: Complex, logarithm: Complex) -> Complex:
    """Evaluate the series about infinity."""
    w = t - logarithm
    part = logarithm / t
    w = w + part
    part = part / t
    w = w + part * (logarithm * 0.5 - 1.0)
    part = part / t
    return w + part * (logarithm * logarithm * (1 / 3) - logarithm * 1.5 + 1.0)


def _refined(z: Complex, w: Complex, s: Real) -> Complex:
    """Take a step of the method of Fritsch, Shafer and Crowley."""
    turned = w * s
    r = z - turned - w.log()
    up = turned + 1.0
    by = up * 2.0 * (up + r * (2 / 3))
    return w + w * (r / up * ((by - r) / (by - r * 2.0)))


@of_complex("wrightomega")
def wrightomega_complex(x: Real, y: Real) -> Pair:
    pi = math.pi
    fine = isfinite(x) & isfinite(y)
    z = Complex(where(fine, x, 0.0), where(fine, y, 0.0))
    x_, y_ = z.parts
    band = (x_ > -2.0) & (x_ <= 1.0)
    above, below = band & (y_ > 1.0) & (y_ < 2 * pi), band & (y_ > -2 * pi) & (y_ < -1.0)
    flat = (x_ <= -2.0) & (y_ > -pi) & (y_ <= pi)
    centre = (x_ - 1.0) * (x_ - 1.0) + y_ * y_ <= pi * pi
    middle = band & (abs(y_) <= 1.0) | (x_ > -2.0) & centre
    top = (x_ <= -1.05) & (y_ > pi) & (y_ - pi <= (x_ + 1.0) * -0.75)
    bottom = (x_ <= -1.05) & ((x_ + 1.0) * 0.75 < y_ + pi) & (y_ + pi <= 0.0)
    wing = top | bottom
    side = where(top, 1.0, where(bottom, -1.0, constant(x_, 0.0)))
    t = Complex(x_, y_ - side * pi)
    usual = ~(above | below | flat | middle)
    t = either(usual, t, Complex(x_ * 0.0 + 2.0, y_ * 0.0))
    logarithm = either(wing, -t, t).log()
    w = _far(t, logarithm)
    w = either(middle, _polynomial(z - 1.0, _MIDDLE), w)
    e = exponential(where(flat, x_, -3.0), y_)
    w = either(flat, _polynomial(e, _FLAT) * e, w)
    w = either(below, _near_branch(either(below, z, Complex(x_ * 0.0, y_ * 0.0 - 2.0)), -1.0), w)
    w = either(above, _near_branch(either(above, z, Complex(x_ * 0.0, y_ * 0.0 + 2.0)), 1.0), w)
    done = (flat & (x_ < -40.0)) | (
        usual & (hypot(x_, y_) > 1e50)
    )  # the series have all digits; a step would lose some
    branch = (x_ == -1.0) & (abs(y_) == pi)
    start = either(done | branch, Complex(x_ * 0.0 + 1.0, y_ * 0.0), w)
    up, down = abs(y_ - pi) <= _NEAR, abs(y_ + pi) <= _NEAR
    cut = (x_ <= _NEAR - 1.0) & (up | down)  # in terms of -w, whose logarithm has no cut there
    s = where(cut, -1.0, constant(x_, 1.0))
    moved = Complex(x_, choose(y_, (cut & up, y_ - pi), (cut, y_ + pi)))
    moved = either(done | branch, Complex(x_ * 0.0 + 1.0, y_ * 0.0), moved)
    found = start * s
    for _ in range(2):
        found = _refined(moved, found, s)
    found = found * s
    found = either(branch, Complex(constant(x_, -1.0), constant(y_, 0.0)), either(done, w, found))
    # infinities
    zero = where(signbit(y), -0.0, constant(y, 0.0))
    nothing = (x == -_INF) & (y > -pi) & (y <= pi)
    behind = where(abs(y) > pi / 2, -0.0, constant(x, 0.0))
    re = choose(found.x, (nothing, behind), (~fine, x))
    im = choose(found.y, (nothing, zero), (~fine, y))
    undefined = (x != x) | (y != y)
    return where(undefined, _NAN, re), where(undefined, _NAN, im)
