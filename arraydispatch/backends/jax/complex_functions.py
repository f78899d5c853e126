"""Elementary functions of complex numbers with C99's special values, as in NumPy.

XLA's functions lose the sign of zeros and return NaN for most infinities (https://github.com/jax-ml/jax/issues/24787), so
these are composed of real functions with the formulas of glibc. Derivatives are those of JAX's functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from .jitted_kernels import derived_from

Array = Any
Kernel = Callable[..., Any]


def _rotated(function: Kernel) -> Kernel:
    """Return i f(-i z): sin from sinh, tan from tanh, arctan from arctanh."""

    def body(z: Array) -> Array:
        out = function(lax.complex(lax.imag(z), -lax.real(z)))
        return lax.complex(-lax.imag(out), lax.real(out))

    return body


def _times(big: Array, root: Array, factor: Array) -> Array:
    """Compute ``big * factor``, where ``big`` is the square of ``root`` and may overflow although the product does not."""
    return jnp.where(jnp.isinf(big), root * factor * root, big * factor)


@derived_from(jnp.exp)
def exp(z: Array) -> Array:
    x, y = lax.real(z), lax.imag(z)
    size, root = jnp.exp(x), jnp.exp(x / 2)
    re, im = _times(size, root, jnp.cos(y)), _times(size, root, jnp.sin(y))
    lost = ~jnp.isfinite(y)
    re = jnp.where(lost & (x == -np.inf), 0, jnp.where(lost & (x == np.inf), np.inf, re))
    im = jnp.where(lost & (x == -np.inf), jnp.copysign(jnp.zeros_like(y), y), im)
    return lax.complex(jnp.where(y == 0, size, re), jnp.where(y == 0, y, im))


@derived_from(jnp.exp2)
def exp2(z: Array) -> Array:
    scale = lax.real(z).dtype.type(np.log(2.0))
    return exp(lax.complex(lax.real(z) * scale, lax.imag(z) * scale))


@derived_from(jnp.expm1)
def expm1(z: Array) -> Array:
    # This is NumPy's formula, which treats no value specially.
    x, y = lax.real(z), lax.imag(z)
    half = jnp.sin(y / 2)
    return lax.complex(jnp.expm1(x) * jnp.cos(y) - 2 * half * half, jnp.exp(x) * jnp.sin(y))


def _sinh_cosh(x: Array) -> tuple[Array, Array, Array]:
    """Return sinh and cosh of a positive number, and their square roots for numbers at which they overflow."""
    root, less, full = jnp.exp(x / 2), jnp.expm1(x), jnp.exp(x)
    huge, top = jnp.isinf(full), root / 2 * root
    s = jnp.where(huge, top, (less + less / (less + 1)) / 2)
    return s, jnp.where(huge, top, full / 2 + 0.5 / full), root * x.dtype.type(np.sqrt(0.5))


@derived_from(jnp.sinh)
def sinh(z: Array) -> Array:
    x, y = lax.real(z), lax.imag(z)
    s, c, root = _sinh_cosh(lax.abs(x))
    re, im = jnp.copysign(1, x) * _times(s, root, jnp.cos(y)), _times(c, root, jnp.sin(y))
    lost = ~jnp.isfinite(y)
    re = jnp.where(lost & (x == 0), x, jnp.where(lost & jnp.isinf(x), np.inf, re))
    return lax.complex(jnp.where(y == 0, jnp.copysign(s, x), re), jnp.where(y == 0, y, im))


@derived_from(jnp.cosh)
def cosh(z: Array) -> Array:
    x, y = lax.real(z), lax.imag(z)
    s, c, root = _sinh_cosh(lax.abs(x))
    sign = jnp.copysign(1, x)
    re, im = _times(c, root, jnp.cos(y)), sign * _times(s, root, jnp.sin(y))
    lost = ~jnp.isfinite(y)
    re = jnp.where(lost & jnp.isinf(x), np.inf, re)
    im = jnp.where(lost & (x == 0), 0, im)
    return lax.complex(jnp.where(y == 0, c, re), jnp.where(y == 0, jnp.where(jnp.isnan(x), y, y * sign), im))


@derived_from(jnp.tanh)
def tanh(z: Array) -> Array:
    x, y = lax.real(z), lax.imag(z)
    info = np.finfo(x.dtype)
    sin, cos, size = jnp.sin(y), jnp.cos(y), lax.abs(x)
    s, c, _ = _sinh_cosh(size)
    denominator = jnp.where(s > lax.abs(cos) * info.eps, s * s + cos * cos, cos * cos)
    far = size > (info.maxexp - 1) * np.log(2) / 2
    re = jnp.where(far, 1, s * c / denominator)
    im = jnp.where(far, 4 * sin * cos * jnp.exp(-size) * jnp.exp(-size), sin * cos / denominator)
    im = jnp.where(size == np.inf, jnp.copysign(jnp.zeros_like(y), jnp.where(lax.abs(y) > 1, sin * cos, y)), im)
    im = jnp.where((size == np.inf) & ~jnp.isfinite(y), jnp.copysign(jnp.zeros_like(y), y), im)
    re = jnp.copysign(jnp.where(size == np.inf, 1, re), x)
    lost = ~jnp.isfinite(y) & ~jnp.isinf(x)
    re = jnp.where(lost, jnp.where(x == 0, x, np.nan), re)
    im = jnp.where(lost, np.nan, jnp.where(jnp.isnan(x), jnp.where(y == 0, y, np.nan), im))
    return lax.complex(re, im)


@derived_from(jnp.arctanh)
def arctanh(z: Array) -> Array:
    x, y = lax.real(z), lax.imag(z)
    real = x.dtype.type
    eps, quarter = real(np.finfo(x.dtype).eps), jnp.copysign(jnp.full_like(y, np.pi / 2), y)
    a, b = lax.abs(x), lax.abs(y)
    # near: Re = 1/4 log(((1 + x)² + y²) / ((1 - x)² + y²)), Im = 1/2 atan2(2 y, 1 - x² - y²)
    y2 = jnp.where(b >= eps * eps, y * y, 0)
    ratio = ((1 + x) * (1 + x) + y2) / ((1 - x) * (1 - x) + y2)
    less = 4 * x / ((1 - x) * (1 - x) + y2)
    near = jnp.where(lax.abs(less) > 0.2, jnp.log(ratio), jnp.log1p(less)) / 4  # XLA's log1p is 128 ulp off at -0.4
    pole = (a == 1) & (b < eps * eps)
    near = jnp.where(pole, jnp.copysign(real(0.5), x) * (real(np.log(2)) - jnp.log(b)), near)
    large, small = jnp.maximum(a, b), jnp.minimum(a, b)
    rest = (1 - large) * (1 + large) - jnp.where(small < eps / 2, 0, small * small)
    rest = jnp.where(rest == 0, 0, rest)
    angle = lax.atan2(2 * y, rest) / 2
    # far: Re = x / |z|², Im = ± π/2 (XLA divides by a product where it is divided twice)
    inverse = 1 / jnp.hypot(x, y)
    far = x * inverse * inverse
    is_far = (a >= 16 / eps) | (b >= 16 / eps)
    nothing = jnp.copysign(jnp.zeros_like(x), x)
    re = jnp.where(is_far, jnp.where(jnp.isinf(x) | jnp.isinf(y), nothing, far), near)
    im = jnp.where(is_far, quarter, angle)
    re = jnp.where(x == 0, x, re)
    unknown = jnp.isnan(x) | jnp.isnan(y)
    known = (jnp.isnan(x) & jnp.isinf(y)) | (jnp.isnan(y) & (jnp.isinf(x) | (x == 0)))
    re = jnp.where(unknown, jnp.where(known, nothing, np.nan), re)
    im = jnp.where(unknown, jnp.where(jnp.isinf(y), quarter, np.nan), im)
    return lax.complex(re, jnp.where((x == 0) & (y == 0), y, im))


# -- corrections for infinities and NaNs: f(z, XLA's value)
# ---------------------------------------------------------------


def _one_nan(z: Array, out: Array, re: Any, im: Any) -> Array:
    """Choose ``re`` and ``im`` where one part of ``z`` is NaN and the other finite."""
    x, y = lax.real(z), lax.imag(z)
    mixed = (jnp.isnan(x) & jnp.isfinite(y)) | (jnp.isnan(y) & jnp.isfinite(x))
    parts = jnp.where(mixed, re, lax.real(out)), jnp.where(mixed, im, lax.imag(out))
    return lax.complex(*[part.astype(x.dtype) for part in parts])


def arccos(z: Array, out: Array) -> Array:
    return _one_nan(z, out, jnp.where(lax.real(z) == 0, np.pi / 2, np.nan), np.nan)


def arcsin(z: Array, out: Array) -> Array:
    return _one_nan(z, out, jnp.where(lax.real(z) == 0, lax.real(z), np.nan), np.nan)


def arccosh(z: Array, out: Array) -> Array:
    return _one_nan(z, out, np.nan, jnp.where(lax.real(z) == 0, np.pi / 2, np.nan))


def arcsinh(z: Array, out: Array) -> Array:
    return _one_nan(z, out, np.nan, jnp.where(lax.imag(z) == 0, lax.imag(z), np.nan))


def sqrt(z: Array, out: Array) -> Array:
    x, y = lax.real(z), lax.imag(z)
    at_x = jnp.isinf(x) & jnp.isnan(y)
    re = jnp.where(at_x, jnp.where(x > 0, np.inf, np.nan), lax.real(out))
    im = jnp.where(at_x, jnp.where(x > 0, np.nan, np.inf), lax.imag(out))
    parts = jnp.where(jnp.isinf(y), np.inf, re), jnp.where(jnp.isinf(y), y, im)
    return lax.complex(*[part.astype(x.dtype) for part in parts])


FUNCTIONS: dict[Any, Kernel] = {
    np.exp: exp,
    np.exp2: exp2,
    np.expm1: expm1,
    np.sinh: sinh,
    np.cosh: cosh,
    np.tanh: tanh,
    np.arctanh: arctanh,
    np.sin: derived_from(jnp.sin)(_rotated(sinh)),
    np.cos: derived_from(jnp.cos)(lambda z: cosh(lax.complex(-lax.imag(z), lax.real(z)))),
    np.tan: derived_from(jnp.tan)(_rotated(tanh)),
    np.arctan: derived_from(jnp.arctan)(_rotated(arctanh)),
}
"""Ufunc -> kernel for complex numbers."""
