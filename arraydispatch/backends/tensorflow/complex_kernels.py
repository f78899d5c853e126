"""Elementary functions of complex numbers with NumPy's values in programs.

In programs they are composed of real functions (``backends/complex_formulas.py``); for eager calls TensorFlow's own kernels are
correct. Kernels of real numbers are TensorFlow's, unless others are given.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from ..complex_formulas import Formulas
from .arithmetic import parts, signbit
from .core import COMPLEX, join, raw, scalar

Tensor = Any
Kernel = Callable[[Tensor], Tensor]

_equal, _select, _abs, _is_nan, _is_inf, _is_finite, _maximum, _minimum = map(
    raw, "Equal SelectV2 Abs IsNan IsInf IsFinite Maximum Minimum".split()
)
_exp, _expm1, _log, _cos, _pow = map(raw, "Exp Expm1 Log Cos Pow".split())


def _pick(mask: Tensor, yes: Any, no: Any) -> Tensor:
    """Select from ``yes`` where the mask is true, from ``no`` elsewhere; one of the two may be a Python number."""
    if isinstance(yes, float):
        return _select(mask, scalar(yes, no), no)
    return _select(mask, yes, scalar(no, yes) if isinstance(no, float) else no)


_formulas = Formulas(
    exp=_exp, expm1=_expm1, log=_log, log1p=raw("Log1p"), sin=raw("Sin"), cos=_cos, atan2=raw("Atan2"), maximum=_maximum,
    minimum=_minimum, abs=_abs, equal=_equal, signbit=signbit, isinf=_is_inf, isnan=_is_nan, isfinite=_is_finite, zeros_like=tf.zeros_like,
    where=_pick, is_double=lambda x: x.dtype is tf.float64, parts=parts, join=join,
)  # fmt: skip


def _in_programs(
    op: Kernel, formula: Kernel, slope: Kernel, of_real: Kernel | None = None, single: bool = True
) -> Kernel:
    """Make a kernel that uses ``formula`` for complex numbers in programs, ``of_real`` for real numbers there (of double precision only,
    unless ``single``), and ``op`` otherwise. ``slope(z)``: the derivative; the formula's own derivative would be NaN if a branch
    that is not selected overflows.
    """

    def sloped(formula: Kernel) -> Kernel:
        @tf.custom_gradient  # type: ignore[untyped-decorator]
        def composed(z: Tensor) -> Any:
            return formula(z), lambda cotangent: cotangent * tf.math.conj(slope(z))

        return composed

    kernels = dict.fromkeys(COMPLEX, sloped(formula))
    if of_real is not None:
        kernels |= dict.fromkeys((tf.float32, tf.float64) if single else (tf.float64,), sloped(of_real))

    def kernel(a: Tensor) -> Tensor:
        return op(a) if tf.executing_eagerly() else kernels.get(a.dtype, op)(a)

    return kernel


exp: Kernel = _in_programs(raw("Exp"), _formulas.exp, lambda z: exp(z))  # noqa: PLW0108 -- it is its own derivative
cosh: Kernel = _in_programs(raw("Cosh"), _formulas.cosh, lambda z: sinh(z), _formulas.real_cosh)  # noqa: PLW0108 -- the next line has it
sinh: Kernel = _in_programs(raw("Sinh"), _formulas.sinh, cosh, _formulas.real_sinh)
tanh: Kernel = _in_programs(raw("Tanh"), _formulas.tanh, lambda z: 1.0 - tanh(z) * tanh(z))
# also for doubles, for which XLA uses its log1p on both sides of zero
arctanh = _in_programs(raw("Atanh"), _formulas.arctanh, lambda z: 1.0 / (1.0 - z * z), _formulas.real_arctanh, False)
sin: Kernel = _in_programs(raw("Sin"), _formulas.rotated(_formulas.sinh), lambda z: cos(z))  # noqa: PLW0108 -- the next line has it
cos: Kernel = _in_programs(_cos, _formulas.cos, lambda z: -sin(z))
tan: Kernel = _in_programs(raw("Tan"), _formulas.rotated(_formulas.tanh), lambda z: 1.0 + tan(z) * tan(z))
arctan = _in_programs(raw("Atan"), _formulas.rotated(_formulas.arctanh), lambda z: 1.0 / (1.0 + z * z))


def expm1(a: Tensor) -> Tensor:
    """Compute expm1; TensorFlow's function loses all digits of complex numbers near 0, and is NaN at infinities."""
    return _expm1(a) if a.dtype not in COMPLEX else _formulas.expm1(a)


def exp2(a: Tensor) -> Tensor:
    if a.dtype not in COMPLEX:
        return _pow(scalar(2.0, a), a)
    re, im = parts(a)
    return exp(join(re * math.log(2.0), im * math.log(2.0)))


def _inverse(name: str, op: Kernel) -> Kernel:
    formula = _formulas.inverse(name, op)
    return lambda a: op(a) if a.dtype not in COMPLEX or tf.executing_eagerly() else formula(a)


arccos, arcsin = _inverse("arccos", raw("Acos")), _inverse("arcsin", raw("Asin"))
arccosh, arcsinh = _inverse("arccosh", raw("Acosh")), _inverse("arcsinh", raw("Asinh"))
