"""Elementary functions of complex numbers with C99's special values, as in NumPy. Derivatives are those of JAX's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..complex_formulas import Formulas
from .jitted_kernels import derived_from, wide

Array = Any
Kernel = Callable[..., Any]

_formulas = Formulas(
    **{name: getattr(jnp, name) for name in "exp expm1 log log1p sin cos maximum minimum abs equal".split()},
    **{name: getattr(jnp, name) for name in "signbit isinf isnan isfinite zeros_like where".split()},
    atan2=lax.atan2,
    is_double=lambda x: x.dtype == np.float64,
    parts=lambda z: (lax.real(z), lax.imag(z)),
    join=lax.complex,
)
exp, expm1 = derived_from(jnp.exp)(_formulas.exp), derived_from(jnp.expm1)(_formulas.expm1)
sinh, cosh = derived_from(jnp.sinh)(_formulas.sinh), derived_from(jnp.cosh)(_formulas.cosh)
tanh, arctanh = derived_from(jnp.tanh)(_formulas.tanh), derived_from(jnp.arctanh)(_formulas.arctanh)


@derived_from(jnp.exp2)
def exp2(z: Array) -> Array:
    scale = lax.real(z).dtype.type(np.log(2.0))
    return exp(lax.complex(lax.real(z) * scale, lax.imag(z) * scale))


def _rotated(function: Kernel) -> Kernel:
    """Return i f(-i z): sin from sinh, tan from tanh, arctan from arctanh."""

    def body(z: Array) -> Array:
        out = function(lax.complex(lax.imag(z), -lax.real(z)))
        return lax.complex(-lax.imag(out), lax.real(out))

    return body


# -- functions of numbers real or complex ---------------------------------------------------------------------------------


def infinite_part(function: Kernel) -> Kernel:
    """Return C99's (inf, nan) for one part infinite and the other NaN, where XLA has (nan, nan)."""

    @wide
    @derived_from(function)
    def body(a: Array) -> Array:
        out = function(a)
        if not jnp.issubdtype(a.dtype, np.complexfloating):
            return out
        mixed = jnp.isinf(lax.real(a)) & jnp.isnan(lax.imag(a)) | jnp.isnan(lax.real(a)) & jnp.isinf(lax.imag(a))
        return jnp.where(mixed, jnp.full_like(out, complex(np.inf, np.nan)), out)

    return body


def mirrored(function: Kernel, part: str, patch: Callable[[Array, Array], Array]) -> Kernel:
    """Evaluate on one side of a branch cut and reflect: XLA drops the sign of zero that selects the side.

    ``patch(z, f(z))`` corrects XLA's values for infinities and NaNs.
    """

    @wide
    @derived_from(function)
    def body(a: Array) -> Array:
        if not jnp.issubdtype(a.dtype, np.complexfloating):
            return function(a)
        re, im = lax.real(a), lax.imag(a)
        if part == "imag":
            side = lax.complex(re, lax.abs(im))
            out = patch(side, function(side))
            return jnp.where(jnp.signbit(im), lax.conj(out), out)
        side = lax.complex(lax.abs(re), im)
        out = patch(side, function(side))
        return jnp.where(jnp.signbit(re), -lax.conj(out), out)

    return body


# -- corrections for infinities and NaNs: f(z, XLA's value) --------------------------------------------------------------


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
