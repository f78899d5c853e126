"""Special functions composed of exponentials, logarithms and roots."""

from __future__ import annotations

import math

from .formula import (  # fmt: skip
    Real,
    Truth,
    choose,
    constant,
    copysign,
    cos,
    exp,
    expm1,
    floor,
    formula,
    isinf,
    isnan,
    log,
    log1p,
    maximum,
    minimum,
    power,
    repeat,
    rint,
    signbit,
    sin,
    sqrt,
    tan,
    where,
)

__all__ = ["agm_of"]

_EPS = 2.0**-52
_INF, _NAN = math.inf, math.nan


# -- exponentials and logarithms -----------------------------------------------------------------------------------------


@formula("expit")
def expit(x: Real) -> Real:
    return 1.0 / (exp(-x) + 1.0)


@formula("logit")
def logit(p: Real) -> Real:
    s = (p - 0.5) * 2.0
    middle = (p >= 0.3) & (p <= 0.65)
    near = where(middle, s, 0.0)
    return where(middle, log1p(near) - log1p(-near), log(p / (1.0 - p)))


@formula("log_expit")
def log_expit(x: Real) -> Real:
    return -log1p(exp(-abs(x))) + minimum(x, -0.0)


@formula("exprel")
def exprel(x: Real) -> Real:
    small = abs(x) < _EPS
    return choose(expm1(x) / where(small, 1.0, x), (small, 1.0), (x > 717.0, _INF))


@formula("exp2")
def exp2(x: Real) -> Real:
    return Real(x.xp, x.xp.exp2(x.v))


@formula("exp10")
def exp10(x: Real) -> Real:
    return power(constant(x, 10.0), x)


@formula("expm1")
def expm1_(x: Real) -> Real:
    return expm1(x)


@formula("log1p")
def log1p_(x: Real) -> Real:
    return log1p(x)


@formula("cbrt")
def cbrt(x: Real) -> Real:
    return Real(x.xp, x.xp.cbrt(x.v))


@formula("round")
def round_(x: Real) -> Real:
    return rint(x)


@formula("cosm1")
def cosm1(x: Real) -> Real:
    half = sin(x * 0.5)
    return where(half == 0.0, 0.0, half * half * -2.0)


@formula("powm1")
def powm1(x: Real, y: Real) -> Real:
    whole = floor(y) == y
    even = floor(y * 0.5) * 2.0 == y
    positive = x > 0.0
    base = where(positive | ~even, x, -x)
    l = y * log(where(base > 0.0, base, 1.0))
    near = (base > 0.0) & (abs(l) < 0.5)
    result = where(near, expm1(where(near, l, 0.0)), power(base, y) - 1.0)
    none = (x == 1.0) | (y == 0.0)
    return choose(result, (none, 0.0), (isnan(x) | isnan(y), _NAN), ((x < 0.0) & (~whole | isinf(y)), _NAN))


@formula("xlogy")
def xlogy(x: Real, y: Real) -> Real:
    return where((x == 0.0) & ~isnan(y), 0.0, x * log(y))


@formula("xlog1py")
def xlog1py(x: Real, y: Real) -> Real:
    return where((x == 0.0) & ~isnan(y), 0.0, x * log1p(y))


@formula("entr")
def entr(x: Real) -> Real:
    inside = x > 0.0
    return choose(-_INF, (isnan(x), x), (inside, -x * log(where(inside, x, 1.0))), (x == 0.0, 0.0))


def _both_positive(x: Real, y: Real) -> tuple[Truth, Real, Real]:
    inside = (x > 0.0) & (y > 0.0)
    return inside, where(inside, x, 1.0), where(inside, y, 1.0)


@formula("kl_div")
def kl_div(x: Real, y: Real) -> Real:
    inside, a, b = _both_positive(x, y)
    ratio = a / b
    tiny = ratio < 2.2250738585072014e-308  # some libraries treat it as zero
    apart = log(a) - log(b)
    of_ratio = where(tiny, where(apart < -745.2, -_INF, apart), log(where(tiny, 1.0, ratio)))
    return choose(_INF, (isnan(x) | isnan(y), _NAN), (inside, a * of_ratio - a + b), ((x == 0.0) & (y >= 0.0), y))


@formula("rel_entr")
def rel_entr(x: Real, y: Real) -> Real:
    inside, a, b = _both_positive(x, y)
    ratio = a / b
    near = (ratio > 0.5) & (ratio < 2.0)
    usual = (ratio > 2.2250738585072014e-308) & (ratio < _INF)
    value = choose(
        a * (log(a) - log(b)),
        (near, a * log1p((a - b) / b)),
        (usual, a * log(where(usual, ratio, 1.0))),
    )
    return choose(_INF, (isnan(x) | isnan(y), _NAN), (inside, value), ((x == 0.0) & (y >= 0.0), 0.0))


# -- losses and transformations ----------------------------------------------------------------------------------------


@formula("huber")
def huber(delta: Real, r: Real) -> Real:
    size = abs(r)
    return choose(delta * (size - delta * 0.5), (delta < 0.0, _INF), (size <= delta, r * 0.5 * r))


@formula("pseudo_huber")
def pseudo_huber(delta: Real, r: Real) -> Real:
    none = (delta == 0.0) | (r == 0.0)
    v = r / where(none, 1.0, delta)
    return choose(delta * delta * expm1(log1p(v * v) * 0.5), (delta < 0.0, _INF), (none, 0.0))


def _box(logarithm: Real, lmbda: Real, linear: Truth) -> Real:
    by = where(linear, 1.0, lmbda)
    scaled = by * logarithm
    far = copysign(constant(by, 1.0), by) * exp(scaled - log(abs(by))) - 1.0 / by
    return choose(far, (linear, logarithm), (scaled < 709.78, expm1(scaled) / by))


@formula("boxcox")
def boxcox(x: Real, lmbda: Real) -> Real:
    return _box(log(x), lmbda, abs(lmbda) < 1e-19)


@formula("boxcox1p")
def boxcox1p(x: Real, lmbda: Real) -> Real:
    logarithm = log1p(x)
    return _box(logarithm, lmbda, (abs(lmbda) < 1e-19) | ((abs(logarithm) < 1e-289) & (abs(lmbda) < 1e273)))


def _exponent(x: Real, lmbda: Real) -> Real:
    by = where(lmbda == 0.0, 1.0, lmbda)
    scaled = by * x
    far = (log(copysign(constant(by, 1.0), by) * (x + 1.0 / by)) + log(abs(by))) / by
    return where(scaled < 1.79e308, log1p(scaled) / by, far)


@formula("inv_boxcox")
def inv_boxcox(x: Real, lmbda: Real) -> Real:
    return where(lmbda == 0.0, exp(x), exp(_exponent(x, lmbda)))


@formula("inv_boxcox1p")
def inv_boxcox1p(x: Real, lmbda: Real) -> Real:
    return choose(expm1(_exponent(x, lmbda)), (lmbda == 0.0, expm1(x)), (abs(lmbda * x) < 1e-154, x))


# -- angles in degrees ---------------------------------------------------------------------------------------------------

_RADIANS = math.pi / 180.0
_LOST = 1e14
"""Angle in degrees beyond which SciPy has no value, and returns zero."""


def _quarters(x: Real) -> tuple[Real, Real]:
    """Return the number of quarter turns modulo four, and the remaining angle, in radians within an eighth of a turn."""
    turn = x % 360.0
    quarter = rint(turn / 90.0)
    return quarter % 4.0, (turn - quarter * 90.0) * _RADIANS


def _sine(quarter: Real, rest: Real) -> Real:
    odd = (quarter == 1.0) | (quarter == 3.0)
    value = where(odd, cos(rest), sin(rest))
    return where(quarter >= 2.0, -value, value)


@formula("sindg")
def sindg(x: Real) -> Real:
    size = abs(x)
    value = _sine(*_quarters(where(size > _LOST, 0.0, size)))
    value = where(x < 0.0, -value, value)
    return where(size > _LOST, 0.0, value)


@formula("cosdg")
def cosdg(x: Real) -> Real:
    size = abs(x)
    quarter, rest = _quarters(where(size > _LOST, 0.0, size))
    return where(size > _LOST, 0.0, _sine((quarter + 1.0) % 4.0, rest))


def _tangent(xx: Real, cotangent: bool) -> Real:
    size = abs(xx)
    lost = size > _LOST
    size = where(lost, 0.0, size)
    half = floor(size / 180.0)
    x = size - half * 180.0
    folded = x > 90.0
    if cotangent:
        x = where(folded, x - 90.0, 90.0 - x)
    else:
        x = where(folded, 180.0 - x, x)
    turned = Truth(xx.xp, xx.xp.logical_xor(signbit(xx).v, folded.v))
    sign = where(turned, -1.0, constant(x, 1.0))
    value = choose(sign * tan(x * _RADIANS), (x == 0.0, 0.0), (x == 45.0, sign), (x == 90.0, _INF), (isnan(xx), xx))
    return where(lost, 0.0, value)


@formula("tandg")
def tandg(x: Real) -> Real:
    return _tangent(x, False)


@formula("cotdg")
def cotdg(x: Real) -> Real:
    return _tangent(x, True)


@formula("radian")
def radian(degrees: Real, minutes: Real, seconds: Real) -> Real:
    return ((degrees * 60.0 + minutes) * 60.0 + seconds) * (math.pi / 648000.0)


# -- arithmetic-geometric mean
# -----------------------------------------------------------------------------------------------

_AGM_STEPS = 40


def agm_of(a: Real, b: Real) -> Real:
    """Compute the arithmetic-geometric mean of positive numbers."""

    def step(x: Real, y: Real) -> tuple[Real, Real]:
        return (x + y) * 0.5, sqrt(x) * sqrt(y)

    def going(x: Real, y: Real) -> Truth:
        return abs(x - y) > x * 1e-15

    return repeat(step, going, (a, b), _AGM_STEPS)[0]


@formula("agm")
def agm(a: Real, b: Real) -> Real:
    undefined = isnan(a) | isnan(b) | (a * 0.5 < 0.0) & (b > 0.0) | (a > 0.0) & (b < 0.0)
    undefined = undefined | (isinf(a) | isinf(b)) & ((a == 0.0) | (b == 0.0))
    nothing = (a == 0.0) | (b == 0.0)
    fine = ~(undefined | nothing | isinf(a) | isinf(b))
    x, y = where(fine, abs(a), 1.0), where(fine, abs(b), 1.0)
    value = copysign(agm_of(x, y), a)
    return choose(value, (undefined, _NAN), (nothing, 0.0), (isinf(a) | isinf(b), copysign(constant(a, _INF), a)))


@formula("wrightomega")
def wrightomega(x: Real) -> Real:
    """Compute Wright's omega by two steps of Fritsch, Shafer and Crowley, as SciPy does."""
    far = (x < -50.0) | (x > 1e20) | isnan(x)
    z = where(far, 0.0, x)
    ahead = maximum(z, 1.0)
    w = log(ahead)
    w = choose(ahead - w + w / ahead, (z < -2.0, exp(z)), (z < 1.0, exp((z - 1.0) * (2 / 3))))
    for _ in range(2):
        r = z - w - log(w)
        more = w + 1.0
        by = more * 2.0 * (more + r * (2 / 3))
        w = w * (1.0 + r / more * (by - r) / (by - r * 2.0))
    return choose(w, (x < -50.0, exp(x)), (far, x))


@formula("kolmogorov")
def kolmogorov(x: Real) -> Real:
    low = (x > 0.04) & (x <= 0.82)
    small = where(low, x, 0.5)
    u = -(math.pi**2) / (small * small)
    p = 1.0 + exp(u) * (1.0 + exp(u * 2.0) * (1.0 + exp(u * 3.0)))
    below = 1.0 - math.sqrt(2 * math.pi) / small * exp(u / 8.0) * p
    large = where(x > 0.82, x, 1.0)
    v = large * large * -2.0
    above = (exp(v) - exp(v * 4.0) + exp(v * 9.0) - exp(v * 16.0) + exp(v * 25.0)) * 2.0
    return choose(above, (isnan(x), x), (x <= 0.04, 1.0), (low, below))
