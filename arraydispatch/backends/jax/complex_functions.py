"""Elementary functions of complex numbers with C99's special values, as in NumPy. Derivatives are those of JAX's functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
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
real_sinh = wide(derived_from(jnp.sinh)(_formulas.real_sinh))
real_cosh = wide(derived_from(jnp.cosh)(_formulas.real_cosh))
_arctanh_of_doubles = derived_from(jnp.arctanh)(_formulas.real_arctanh)


@wide
def real_arctanh(x: Array) -> Any:
    """Compute arctanh; for doubles by a formula for positive numbers, because XLA uses its log1p, which is inaccurate below zero."""
    return _arctanh_of_doubles(x) if x.dtype == np.float64 else jnp.arctanh(x)


@derived_from(jnp.exp2)
def exp2(z: Array) -> Array:
    scale = lax.real(z).dtype.type(np.log(2.0))
    return exp(lax.complex(lax.real(z) * scale, lax.imag(z) * scale))


# -- functions of numbers real or complex ---------------------------------------------------------------------------------


def infinite_part(function: Kernel) -> Kernel:
    """Wrap a function to return C99's (inf, nan) for complex numbers with one of real and imaginary part infinite and the other NaN,
    where XLA has (nan, nan).
    """

    @wide
    @derived_from(function)
    def body(a: Array) -> Array:
        out = function(a)
        if not jnp.issubdtype(a.dtype, np.complexfloating):
            return out
        mixed = jnp.isinf(lax.real(a)) & jnp.isnan(lax.imag(a)) | jnp.isnan(lax.real(a)) & jnp.isinf(lax.imag(a))
        return jnp.where(mixed, jnp.full_like(out, complex(np.inf, np.nan)), out)

    return body


def _sqrt_at_infinities(x: Array, y: Array, re: Array, im: Array) -> tuple[Array, Array]:
    at_x = jnp.isinf(x) & jnp.isnan(y)
    re = jnp.where(at_x, jnp.where(x > 0, np.inf, np.nan), re)
    im = jnp.where(at_x, jnp.where(x > 0, np.nan, np.inf), im)
    re, im = jnp.where(jnp.isinf(y), np.inf, re), jnp.where(jnp.isinf(y), y, im)
    return re.astype(x.dtype), im.astype(x.dtype)


@jax.custom_jvp  # type: ignore[untyped-decorator]
def arccosh(a: Array) -> Array:
    """Compute ``jnp.arccosh`` with a correct derivative: JAX's derivative contains the root of a square, with the wrong sign for
    negative real parts.
    """
    return jnp.arccosh(a)


arccosh.defjvp(lambda xs, slopes: (arccosh(*xs), slopes[0] / (jnp.sqrt(xs[0] - 1) * jnp.sqrt(xs[0] + 1))))


FUNCTIONS: dict[Any, Kernel] = {
    np.exp: exp,
    np.exp2: exp2,
    np.expm1: expm1,
    np.sinh: sinh,
    np.cosh: cosh,
    np.tanh: tanh,
    np.arctanh: arctanh,
    np.sin: derived_from(jnp.sin)(_formulas.rotated(sinh)),
    np.cos: derived_from(jnp.cos)(_formulas.cos),
    np.tan: derived_from(jnp.tan)(_formulas.rotated(tanh)),
    np.arctan: derived_from(jnp.arctan)(_formulas.rotated(arctanh)),
    np.sqrt: derived_from(jnp.sqrt)(_formulas.mirrored(jnp.sqrt, True, _sqrt_at_infinities)),
    **{
        ufunc: derived_from(function)(_formulas.inverse(ufunc.__name__, function))
        for ufunc, function in {
            np.arccos: jnp.arccos,
            np.arccosh: arccosh,
            np.arcsin: jnp.arcsin,
            np.arcsinh: jnp.arcsinh,
        }.items()
    },
}
"""Ufunc -> kernel for complex numbers."""
