"""Elementary functions of complex numbers with NumPy's values in programs.

XLA loses the sign of zeros, which selects the side of a branch cut, and returns NaN for most infinities. So in programs these
are composed of real functions, as in ``backends/jax/complex_functions.py``, which has the formulas' reasons. TensorFlow's own
kernels, which compute one call, are right. Kernels of real numbers are TensorFlow's, or given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from . import arithmetic
from .arithmetic import parts, signbit
from .core import COMPLEX, join, raw, scalar

Tensor = Any
Kernel = Callable[[Tensor], Tensor]

_equal, _neg, _conj, _select, _abs, _is_nan, _is_inf, _is_finite, _maximum, _minimum = map(
    raw, "Equal Neg Conj SelectV2 Abs IsNan IsInf IsFinite Maximum Minimum".split()
)
_exp, _expm1, _log, _log1p, _sin, _cos, _atan2, _pow = map(raw, "Exp Expm1 Log Log1p Sin Cos Atan2 Pow".split())


def _pick(mask: Tensor, yes: Any, no: Any) -> Tensor:
    """Select from tensors, of which one may be a Python number."""
    if isinstance(yes, float):
        return _select(mask, scalar(yes, no), no)
    return _select(mask, yes, scalar(no, yes) if isinstance(no, float) else no)


def _signed(size: Tensor, sign: Tensor) -> Tensor:
    return _select(signbit(sign), _neg(size), size)


def _nothing(like: Tensor) -> Tensor:
    return _signed(tf.zeros_like(like), like)


def _in_programs(op: Kernel, formula: Kernel, slope: Kernel) -> Kernel:
    """Compute complex numbers by a formula in a program. ``slope(z)`` is the derivative, of which the formula's own would be
    NaN where a part that is not selected overflows.
    """

    @tf.custom_gradient  # type: ignore[untyped-decorator]
    def composed(z: Tensor) -> Any:
        return formula(z), lambda cotangent: cotangent * _conj(slope(z))

    def kernel(a: Tensor) -> Tensor:
        return op(a) if a.dtype not in COMPLEX or tf.executing_eagerly() else composed(a)

    return kernel


# -- exponentials ------------------------------------------------------------------------------------------------------


def _times(big: Tensor, root: Tensor, factor: Tensor) -> Tensor:
    """Compute ``big * factor``, where ``big`` is the square of ``root`` and may overflow although the product does not."""
    return _select(_is_inf(big), root * factor * root, big * factor)


def _exponential(z: Tensor) -> Tensor:
    x, y = parts(z)
    size, root = _exp(x), _exp(x * 0.5)
    lost, real = ~_is_finite(y), _equal(y, 0.0)
    down = lost & _equal(x, -math.inf)
    re = _pick(down, 0.0, _pick(lost & _equal(x, math.inf), math.inf, _times(size, root, _cos(y))))
    im = _select(down, _nothing(y), _times(size, root, _sin(y)))
    return join(_select(real, size, re), _select(real, y, im))


def _sinh_cosh(x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return sinh and cosh of a positive number, and their square roots for numbers at which they overflow."""
    root, less, full = _exp(x * 0.5), _expm1(x), _exp(x)
    huge, top = _is_inf(full), root * 0.5 * root
    s = _select(huge, top, (less + less / (less + 1.0)) * 0.5)
    return s, _select(huge, top, full * 0.5 + 0.5 / full), root * math.sqrt(0.5)


def _hyperbolic_sine(z: Tensor) -> Tensor:
    x, y = parts(z)
    s, c, root = _sinh_cosh(_abs(x))
    lost, real = ~_is_finite(y), _equal(y, 0.0)
    re = _signed(_times(s, root, _cos(y)), x)
    re = _select(lost & _equal(x, 0.0), x, _pick(lost & _is_inf(x), math.inf, re))
    return join(_select(real, _signed(s, x), re), _select(real, y, _times(c, root, _sin(y))))


def _hyperbolic_cosine(z: Tensor) -> Tensor:
    x, y = parts(z)
    s, c, root = _sinh_cosh(_abs(x))
    lost, real = ~_is_finite(y), _equal(y, 0.0)
    re = _pick(lost & _is_inf(x), math.inf, _times(c, root, _cos(y)))
    im = _pick(lost & _equal(x, 0.0), 0.0, _signed(_times(s, root, _sin(y)), x))
    return join(_select(real, c, re), _select(real, _select(_is_nan(x), y, _signed(y, x)), im))


def _hyperbolic_tangent(z: Tensor) -> Tensor:
    x, y = parts(z)
    sin, cos, size = _sin(y), _cos(y), _abs(x)
    s, c, _ = _sinh_cosh(size)
    eps, most = (2.0**-52, 1023) if x.dtype is tf.float64 else (2.0**-23, 127)
    denominator = _select(s > _abs(cos) * eps, s * s + cos * cos, cos * cos)
    far, infinite, lost = size > most * math.log(2) / 2, _is_inf(x), ~_is_finite(y)
    re = _pick(far, 1.0, s * c / denominator)
    im = _select(far, 4.0 * sin * cos * _exp(-size) * _exp(-size), sin * cos / denominator)
    im = _select(infinite, _nothing(_select(~lost & (_abs(y) > 1.0), sin * cos, y)), im)
    unknown = lost & ~infinite
    re = _select(unknown, _pick(_equal(x, 0.0), x, math.nan), _signed(_pick(infinite, 1.0, re), x))
    im = _pick(unknown, math.nan, _select(_is_nan(x), _pick(_equal(y, 0.0), y, math.nan), im))
    return join(re, im)


def _hyperbolic_angle(z: Tensor) -> Tensor:
    """Compute arctanh."""
    x, y = parts(z)
    a, b = _abs(x), _abs(y)
    eps = 2.0**-52 if x.dtype is tf.float64 else 2.0**-23
    # near: Re = 1/4 log(((1 + x)² + y²) / ((1 - x)² + y²)), Im = 1/2 atan2(2 y, 1 - x² - y²)
    y2 = _pick(b >= eps * eps, y * y, 0.0)
    below = (1.0 - x) * (1.0 - x) + y2
    less = 4.0 * x / below
    near = _select(_abs(less) > 0.2, _log(((1.0 + x) * (1.0 + x) + y2) / below), _log1p(less)) * 0.25
    pole = _equal(a, 1.0) & (b < eps * eps)
    near = _select(pole, _signed((math.log(2) - _log(b)) * 0.5, x), near)
    large, small = _maximum(a, b), _minimum(a, b)
    rest = (1.0 - large) * (1.0 + large) - _pick(small < eps / 2, 0.0, small * small)
    angle = _atan2(2.0 * y, _pick(_equal(rest, 0.0), 0.0, rest)) * 0.5
    # far: Re = x / |z|², Im = ± π/2
    inverse = 1.0 / _pick(_equal(large, 0.0), 1.0, large)  # XLA divides by a product where it is divided twice
    ratio = small * inverse
    far = x * inverse * inverse / (1.0 + ratio * ratio)
    is_far, quarter = large >= 16 / eps, _signed(scalar(math.pi / 2, y) + tf.zeros_like(y), y)
    re = _select(is_far, _select(_is_inf(x) | _is_inf(y), _nothing(x), far), near)
    re = _select(_equal(x, 0.0), x, re)
    unknown = _is_nan(x) | _is_nan(y)
    known = (_is_nan(x) & _is_inf(y)) | (_is_nan(y) & (_is_inf(x) | _equal(x, 0.0)))
    re = _select(unknown, _pick(known, _nothing(x), math.nan), re)
    im = _select(unknown, _pick(_is_inf(y), quarter, math.nan), _select(is_far, quarter, angle))
    return join(re, _select(_equal(x, 0.0) & _equal(y, 0.0), y, im))


def _by_i(z: Tensor) -> Tensor:
    re, im = parts(z)
    return join(_neg(im), re)


def _by_minus_i(z: Tensor) -> Tensor:
    re, im = parts(z)
    return join(im, _neg(re))


def _rotated(op: Kernel, function: Kernel) -> Kernel:
    """Compute i f(-i z) in a program: sin from sinh, tan from tanh, arctan from arctanh."""

    def kernel(a: Tensor) -> Tensor:
        return op(a) if a.dtype not in COMPLEX or tf.executing_eagerly() else _by_i(function(_by_minus_i(a)))

    return kernel


exp: Kernel = _in_programs(raw("Exp"), _exponential, lambda z: exp(z))  # noqa: PLW0108 -- it is its own derivative
cosh: Kernel = _in_programs(arithmetic.cosh, _hyperbolic_cosine, lambda z: sinh(z))  # noqa: PLW0108 -- the next line has it
sinh: Kernel = _in_programs(arithmetic.sinh, _hyperbolic_sine, cosh)
tanh: Kernel = _in_programs(raw("Tanh"), _hyperbolic_tangent, lambda z: 1.0 - tanh(z) * tanh(z))
arctanh = _in_programs(arithmetic.arctanh, _hyperbolic_angle, lambda z: 1.0 / (1.0 - z * z))
sin, tan, arctan = _rotated(raw("Sin"), sinh), _rotated(raw("Tan"), tanh), _rotated(raw("Atan"), arctanh)


def cos(a: Tensor) -> Tensor:
    return _cos(a) if a.dtype not in COMPLEX or tf.executing_eagerly() else cosh(_by_i(a))


def exp2(a: Tensor) -> Tensor:
    if a.dtype not in COMPLEX:
        return _pow(scalar(2.0, a), a)
    re, im = parts(a)
    return exp(join(re * math.log(2.0), im * math.log(2.0)))


# -- inverses with a branch cut ----------------------------------------------------------------------------------------


def _mirrored(name: str, across_real_axis: bool, known: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]) -> Kernel:
    """Evaluate on one side of a branch cut and reflect. ``known`` returns the parts where just one part of the argument is
    finite and the other NaN.
    """
    op = raw(name)

    def kernel(a: Tensor) -> Tensor:
        if a.dtype not in COMPLEX or tf.executing_eagerly():
            return op(a)
        re, im = parts(a)
        other_side = signbit(im if across_real_axis else re)
        mirror: Kernel = _conj if across_real_axis else (lambda z: _neg(_conj(z)))
        side = _select(other_side, mirror(a), a)
        one_nan = (_is_nan(re) & _is_finite(im)) | (_is_nan(im) & _is_finite(re))
        made = _select(one_nan, join(*known(*parts(side))), op(side))
        return _select(other_side, mirror(made), made)

    return kernel


def _if_zero(part: Tensor, value: Tensor) -> Tensor:
    return _pick(_equal(part, 0.0), value, math.nan)


def _nan(part: Tensor) -> Tensor:
    return scalar(math.nan, part) + tf.zeros_like(part)


arccos = _mirrored("Acos", True, lambda x, y: (_if_zero(x, scalar(math.pi / 2, x)), _nan(x)))
arcsin = _mirrored("Asin", True, lambda x, y: (_if_zero(x, x), _nan(x)))
arccosh = _mirrored("Acosh", True, lambda x, y: (_nan(x), _if_zero(x, scalar(math.pi / 2, x))))
arcsinh = _mirrored("Asinh", False, lambda x, y: (_nan(x), _if_zero(y, y)))
