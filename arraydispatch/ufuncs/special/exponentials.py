"""Special functions composed of exponentials, logarithms and roots."""

from __future__ import annotations

from numpy import cbrt, exp, exp2, expm1, isnan, log, log1p, rint, sin

from .formula import INF, NAN, Real, choose, constant, copysign, formula, minimum, power, where

_EPS = 2.0**-52


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
