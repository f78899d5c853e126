"""Special functions composed of exponentials, logarithms and roots; error functions and the normal distribution."""

from __future__ import annotations

import math

from numpy import cbrt, exp, exp2, expm1, isinf, isnan, log, log1p, rint, sin

from . import expansions
from .formula import INF, NAN, Real, choose, constant, copysign, formula, minimum, power, series, special, where

_EPS = 2.0**-52
_ROOT_HALF = math.sqrt(0.5)


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
    return choose(expm1(x) / where(small, 1.0, x), (small, 1.0), (x > 717.0, INF))


@formula("exp10")
def exp10(x: Real) -> Real:
    return power(constant(x, 10.0), x)


for _name, _ufunc in {"cbrt": cbrt, "exp2": exp2, "expm1": expm1, "log1p": log1p, "round": rint}.items():
    formula(_name)(_ufunc)


@formula("cosm1")
def cosm1(x: Real) -> Real:
    half = sin(x * 0.5)
    return where(half == 0.0, 0.0, half * half * -2.0)


@formula("xlogy")
def xlogy(x: Real, y: Real) -> Real:
    return where((x == 0.0) & ~isnan(y), 0.0, x * log(y))


@formula("xlog1py")
def xlog1py(x: Real, y: Real) -> Real:
    return where((x == 0.0) & ~isnan(y), 0.0, x * log1p(y))


@formula("entr")
def entr(x: Real) -> Real:
    inside = x > 0.0
    return choose(-INF, (isnan(x), x), (inside, -x * log(where(inside, x, 1.0))), (x == 0.0, 0.0))


def _both_positive(x: Real, y: Real) -> tuple[Real, Real, Real]:
    inside = (x > 0.0) & (y > 0.0)
    return inside, where(inside, x, 1.0), where(inside, y, 1.0)


@formula("kl_div")
def kl_div(x: Real, y: Real) -> Real:
    inside, a, b = _both_positive(x, y)
    ratio = a / b
    tiny = ratio < 2.2250738585072014e-308  # some libraries treat it as zero
    apart = log(a) - log(b)
    of_ratio = where(tiny, where(apart < -745.2, -INF, apart), log(where(tiny, 1.0, ratio)))
    return choose(INF, (isnan(x) | isnan(y), NAN), (inside, a * of_ratio - a + b), ((x == 0.0) & (y >= 0.0), y))


@formula("rel_entr")
def rel_entr(x: Real, y: Real) -> Real:
    inside, a, b = _both_positive(x, y)
    ratio = a / b
    near = (ratio > 0.5) & (ratio < 2.0)
    usual = (ratio > 2.2250738585072014e-308) & (ratio < INF)
    value = choose(
        a * (log(a) - log(b)),
        (near, a * log1p((a - b) / b)),
        (usual, a * log(where(usual, ratio, 1.0))),
    )
    return choose(INF, (isnan(x) | isnan(y), NAN), (inside, value), ((x == 0.0) & (y >= 0.0), 0.0))


# -- losses and transformations ----------------------------------------------------------------------------------------


@formula("huber")
def huber(delta: Real, r: Real) -> Real:
    size = abs(r)
    return choose(delta * (size - delta * 0.5), (delta < 0.0, INF), (size <= delta, r * 0.5 * r))


@formula("pseudo_huber")
def pseudo_huber(delta: Real, r: Real) -> Real:
    none = (delta == 0.0) | (r == 0.0)
    v = r / where(none, 1.0, delta)
    return choose(delta * delta * expm1(log1p(v * v) * 0.5), (delta < 0.0, INF), (none, 0.0))


def _box(logarithm: Real, lmbda: Real, linear: Real) -> Real:
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
    linear = (lmbda == 0.0) | (abs(lmbda * x) < 1e-154)
    return exp(where(linear, x, _exponent(x, lmbda)))


@formula("inv_boxcox1p")
def inv_boxcox1p(x: Real, lmbda: Real) -> Real:
    return choose(expm1(_exponent(x, lmbda)), (lmbda == 0.0, expm1(x)), (abs(lmbda * x) < 1e-154, x))


# -- error functions -----------------------------------------------------------------------------------------------------


def exp_square(x: Real) -> Real:
    """Compute exp(x**2), with the square split into two parts, one of them exact."""
    head = rint(x * 128.0) * (1 / 128.0)
    return exp(head * head) * exp((x - head) * (x + head))


def _scaled_above(x: Real) -> Real:
    return series(expansions.ERFCX, (x - 3.75) / (x + 3.75)) / (x * 2.0 + 1.0)


@formula("erfcx")
def erfcx(x: Real) -> Real:
    size = abs(x)
    above = _scaled_above(where(isinf(x), 1e300, size))
    square = exp_square(where((x < 0.0) & (x >= -27.0), x, 0.0))
    return choose(above, (isnan(x), x), (x < -27.0, INF), (x < 0.0, square * 2.0 - above), (isinf(x), 0.0))


@formula("erfinv")
def erfinv(y: Real) -> Real:
    size = abs(y)
    inner = where(size < 0.5, y, 0.0)
    small = inner * series(expansions.ERFINV, inner * inner)
    outer = where(size < 0.5, 0.75, size)
    tail = special("ndtri", (1.0 - outer) * 0.5) * -_ROOT_HALF
    return choose(small, (isnan(y), y), (size >= 0.5, where(y < 0.0, -tail, tail)))


@formula("erfcinv")
def erfcinv(y: Real) -> Real:
    return special("ndtri", y * 0.5) * -_ROOT_HALF


@formula("ndtr")
def ndtr(x: Real) -> Real:
    return special("erfc", x * -_ROOT_HALF) * 0.5


@formula("log_ndtr")
def log_ndtr(x: Real) -> Real:
    t = x * _ROOT_HALF
    low = x < -1.0
    below = where(low & ~isinf(x), t, -1.0)
    tail = log(special("erfcx", -below) * 0.5) - below * below
    above = log1p(special("erfc", where(low, 1.0, t)) * -0.5)
    return choose(above, (isnan(x), x), (x == -INF, -INF), (low, tail))
