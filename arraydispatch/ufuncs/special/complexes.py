"""Special functions of complex numbers, given as pairs of :class:`~arraydispatch.ufuncs.special.formula.Real`, the real
and imaginary parts.

The libraries' own complex kernels differ for infinities and signed zeros; pairs give the results written here.
"""

from __future__ import annotations

from .exponentials import cosm1
from .formula import (  # fmt: skip
    INF,
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
    re = choose(re, (strange & (x == -INF), 0.0), (strange & (x == INF), INF))
    im = choose(im, (y == 0.0, y), (strange & (x == -INF), where(y == -INF, -0.0, constant(y, 0.0))))
    return Complex(re, im)


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
