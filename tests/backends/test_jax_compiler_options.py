"""Programs of several matrix products on JAX, which XLA is to compute one by one on a CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402 -- where JAX is there

from arraydispatch.backends.jax import compiler_options  # noqa: E402


def _layer(x: Any, w: Any) -> Any:
    return jnp.maximum(x @ w, 0)


def _network(x: Any, w: Any) -> Any:
    y = jax.jit(_layer)(_layer(x, w), w) @ w
    return y / jnp.sum(y, axis=-1, keepdims=True)


@pytest.mark.parametrize(("function", "count"), [(jnp.add, 0), (_layer, 1), (_network, 3)])
def test_products_are_counted_and_computed(function: Any, count: int) -> None:
    x, w = (np.linspace(0, 1, n * 6, dtype=np.float32).reshape(n, 6) for n in (4, 6))
    given = (x, x if function is jnp.add else w)
    assert compiler_options.count(jax.jit(function).trace(*given).jaxpr.jaxpr) == count
    made = compiler_options.compiled(function, [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in given])
    np.testing.assert_allclose(made(*given), function(*given), rtol=1e-5)


def test_the_compiler_knows_the_option() -> None:
    assert compiler_options.is_understood()
