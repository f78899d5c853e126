"""SciPy ufuncs that JAX computes with SciPy's values: name -> kernel of real numbers.

Not included, and so composed (``ufuncs/special``): ``gammaln`` (thousands of units off between its zeros), ``erfcx``
(zero from 26.6), ``log_ndtr`` (no correct digits from 8), and functions that take XLA longer to compile than they save.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax.scipy import special

from .jitted_kernels import kernel

Array = Any
Kernel = Callable[..., Any]


def _digamma(x: Array) -> Array:
    """Compute digamma; SciPy's infinity at zero has the other sign."""
    return jnp.where(x == 0, -jnp.copysign(jnp.full_like(x, jnp.inf), x), special.digamma(x))


def _in_double(function: Kernel) -> Kernel:
    """Wrap a function to compute in double precision: in single precision JAX's function overflows too early."""
    return lambda x: function(x.astype(jnp.float64)).astype(x.dtype)


def _zeta(x: Array, q: Array) -> Array:
    """Compute zeta in double precision; JAX has other values at poles, for infinities and below 1."""
    pole = (x == 1) | ((q <= 0) & (q == jnp.floor(q)) & ~(x < 1))
    end = x == jnp.inf
    cases = {
        jnp.inf: pole | (end & (q < 1)),
        0.0: (q == jnp.inf) & (x > 1),
        1.0: end & (q == 1),
        jnp.nan: end | (x < 1),
    }
    value = special.zeta(x.astype(jnp.float64), q.astype(jnp.float64))
    return jnp.select([*cases.values()], [*cases], value).astype(x.dtype)


SPECIAL: dict[str, Kernel] = {
    name: kernel(function)
    for name, function in {
        "erf": special.erf,
        "erfc": special.erfc,
        "erfinv": special.erfinv,
        "i0": _in_double(special.i0),
        "i0e": special.i0e,
        "i1": _in_double(special.i1),
        "i1e": special.i1e,
        "ndtr": special.ndtr,
        "ndtri": special.ndtri,
        "psi": _digamma,
        "_zeta": _zeta,
    }.items()
}
