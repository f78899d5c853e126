"""Elementary functions of complex numbers with NumPy's values in programs.

In programs they are composed of real functions (``backends/complex_formulas.py``). TensorFlow's own kernels, which compute one call, are
right. Kernels of real numbers are TensorFlow's, or given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ..complex_formulas import Formulas
from . import arithmetic
from .arithmetic import parts, signbit
from .core import COMPLEX, join, raw, scalar

Tensor = Any
Kernel = Callable[[Tensor], Tensor]

_equal, _neg, _conj, _select, _abs, _is_nan, _is_inf, _is_finite, _maximum, _minimum = map(
    raw, "Equal Neg Conj SelectV2 Abs IsNan IsInf IsFinite Maximum Minimum".split()
)
_exp, _expm1, _log, _cos, _pow = map(raw, "Exp Expm1 Log Cos Pow".split())


def _pick(mask: Tensor, yes: Any, no: Any) -> Tensor:
    """Select from tensors, of which one may be a Python number."""
    if isinstance(yes, float):
        return _select(mask, scalar(yes, no), no)
    return _select(mask, yes, scalar(no, yes) if isinstance(no, float) else no)


_formulas = Formulas(
    exp=_exp, expm1=_expm1, log=_log, log1p=raw("Log1p"), sin=raw("Sin"), cos=_cos, atan2=raw("Atan2"), maximum=_maximum,
    minimum=_minimum, abs=_abs, equal=_equal, signbit=signbit, isinf=_is_inf, isnan=_is_nan, isfinite=_is_finite, zeros_like=tf.zeros_like,
    where=_pick, is_double=lambda x: x.dtype is tf.float64, parts=parts, join=join,
)  # fmt: skip


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


exp: Kernel = _in_programs(raw("Exp"), _formulas.exp, lambda z: exp(z))  # noqa: PLW0108 -- it is its own derivative
cosh: Kernel = _in_programs(arithmetic.cosh, _formulas.cosh, lambda z: sinh(z))  # noqa: PLW0108 -- the next line has it
sinh: Kernel = _in_programs(arithmetic.sinh, _formulas.sinh, cosh)
tanh: Kernel = _in_programs(raw("Tanh"), _formulas.tanh, lambda z: 1.0 - tanh(z) * tanh(z))
arctanh = _in_programs(arithmetic.arctanh, _formulas.arctanh, lambda z: 1.0 / (1.0 - z * z))
sin, tan, arctan = _rotated(raw("Sin"), sinh), _rotated(raw("Tan"), tanh), _rotated(raw("Atan"), arctanh)


def cos(a: Tensor) -> Tensor:
    return _cos(a) if a.dtype not in COMPLEX or tf.executing_eagerly() else cosh(_by_i(a))


def expm1(a: Tensor) -> Tensor:
    """Compute expm1; TensorFlow's of complex numbers loses all digits near 0 and is NaN at infinities."""
    return _expm1(a) if a.dtype not in COMPLEX else _formulas.expm1(a)


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
