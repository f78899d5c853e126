"""SciPy ufuncs that TensorFlow computes with SciPy's values: name -> kernel of real numbers.

Not included, and so composed (``ufuncs/special``): ``erfinv`` (zero near zero), ``igamma``, ``igammac`` and ``betainc``
(five to nine digits), and Bessel functions in single precision, which are computed in
double.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from .arithmetic import log1p

Tensor = Any
Kernel = Callable[..., Any]


def _constant(x: Tensor, value: float) -> Tensor:
    return tf.constant(value, x.dtype)


def _erf(x: Tensor) -> Tensor:
    """Compute erf; TensorFlow has NaN for large numbers."""
    return tf.math.erf(tf.clip_by_value(x, _constant(x, -8.0), _constant(x, 8.0)))


def _gammaln(x: Tensor) -> Tensor:
    """Compute gammaln; SciPy returns minus infinity unchanged."""
    return tf.where(tf.equal(x, -math.inf), x, tf.math.lgamma(x))


def _digamma(x: Tensor) -> Tensor:
    """Compute digamma; at zero SciPy has an infinity with the opposite sign of the zero."""
    zero = tf.equal(x, 0)
    return tf.where(zero, tf.math.divide(_constant(x, -1.0), x), tf.math.digamma(x))


def _positive(function: Kernel) -> Kernel:
    """Wrap a kernel to return NaN for negative numbers."""

    def kernel(x: Tensor) -> Tensor:
        return tf.where(tf.less(x, 0), _constant(x, math.nan), function(x))

    return kernel


def _in_double(function: Kernel) -> Kernel:
    def kernel(x: Tensor) -> Tensor:
        return tf.cast(function(tf.cast(x, tf.float64)), x.dtype)

    return kernel


def _zeta(x: Tensor, q: Tensor) -> Tensor:
    """Compute zeta in double precision; replace TensorFlow's values at poles, for infinities and below 1, which differ from SciPy's."""
    to, x, q = x.dtype, tf.cast(x, tf.float64), tf.cast(q, tf.float64)
    end, value = tf.equal(x, math.inf), tf.math.zeta(x, q)
    pole = tf.equal(x, 1) | ((q <= 0) & tf.equal(q, tf.floor(q)) & ~(x < 1))
    cases = {
        math.nan: end | (x < 1),
        1.0: end & tf.equal(q, 1),
        0.0: tf.equal(q, math.inf) & (x > 1),
        math.inf: pole | (end & (q < 1)),
    }
    for known, there in cases.items():
        value = tf.where(there, _constant(x, known), value)
    return tf.cast(value, to)


_BESSEL = tf.math.special

SPECIAL: dict[str, Kernel] = {
    "erf": _erf,
    "erfc": tf.math.erfc,
    "erfcinv": tf.math.erfcinv,
    "expit": tf.math.sigmoid,
    "expm1": tf.math.expm1,
    "gammaln": _gammaln,
    "i0": _in_double(tf.math.bessel_i0),
    "i0e": tf.math.bessel_i0e,
    "i1": _in_double(tf.math.bessel_i1),
    "i1e": tf.math.bessel_i1e,
    "j0": _in_double(_BESSEL.bessel_j0),
    "j1": _in_double(_BESSEL.bessel_j1),
    "k0": _positive(_BESSEL.bessel_k0),
    "k0e": _positive(_BESSEL.bessel_k0e),
    "k1": _positive(_BESSEL.bessel_k1),
    "k1e": _positive(_BESSEL.bessel_k1e),
    "log1p": log1p,
    "log_expit": tf.math.log_sigmoid,
    "ndtri": tf.math.ndtri,
    "psi": _digamma,
    "y0": _positive(_in_double(_BESSEL.bessel_y0)),
    "y1": _positive(_in_double(_BESSEL.bessel_y1)),
    "_zeta": _zeta,
}
