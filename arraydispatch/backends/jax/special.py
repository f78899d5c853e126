"""SciPy's ufuncs that JAX has, with SciPy's values: name -> kernel of real numbers.

Not here, and so composed (``ufuncs/special``): ``gammaln`` (thousands of units off between its zeros), ``erfcx`` (zero from 26.6 on),
``log_ndtr`` (without digits from 8 on), and what takes XLA longer to compile than it saves.
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
    """At zero SciPy has the infinity of the other sign."""
    return jnp.where(x == 0, -jnp.copysign(jnp.full_like(x, jnp.inf), x), special.digamma(x))


def _in_double(function: Kernel) -> Kernel:
    """In single precision JAX has infinity before the value has."""
    return lambda x: function(x.astype(jnp.float64)).astype(x.dtype)


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
    }.items()
}
