"""Options by which XLA compiles programs of several matrix products on a CPU.

On a CPU XLA passes a product, with the calls around it, to another library (YNNPACK). If one of these calls is another
product, the first product is computed again for each part of the second: a network of three layers took twelve times as long as with
separate products (JAX 0.10.2; float32, 8 × 30000 × 2000 × 2000). A program with one product is faster with XLA's default.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import jax
from jax.extend.core import jaxprs_in_params

_APART = {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT"}


def compiled(function: Callable[..., Any], examples: Sequence[Any], **options: Any) -> Any:
    """Return ``jax.jit(function, **options)``. On a CPU, if the program for arguments like ``examples`` has several matrix products, add
    the compiler option that computes the products one by one.
    """
    made = jax.jit(function, **options)
    if jax.default_backend() == "cpu" and count(made.trace(*examples).jaxpr.jaxpr) > 1 and is_understood():
        return jax.jit(function, compiler_options=_APART, **options)
    return made


def count(jaxpr: Any) -> int:
    """Return the number of matrix products in a program and in the programs inside it."""
    found = 0
    for equation in jaxpr.eqns:
        found += equation.primitive.name == "dot_general"
        found += sum(map(count, jaxprs_in_params(equation.params)))
    return found


@cache
def is_understood() -> bool:
    """Whether the compiler of this version knows the option."""
    try:
        jax.jit(lambda: 0, compiler_options=_APART).lower().compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True
