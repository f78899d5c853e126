"""Matrix products of JAX in programs for a CPU: several are computed one by one, and transposed matrices as they lie."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402 -- where JAX is there

from arraydispatch.backends import loader  # noqa: E402
from arraydispatch.backends.jax import compiler_options, primitives  # noqa: E402


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


@pytest.mark.parametrize(
    ("shape", "dtype", "kept"), [((100, 80), float, 1), ((100, 8), float, 0), ((100, 80), "f4", 0)]
)
def test_a_transposed_matrix_is_multiplied_as_a_copy_where_that_takes_less(shape: Any, dtype: Any, kept: int) -> None:
    x = np.linspace(0, 1, shape[0] * shape[1], dtype=dtype).reshape(shape)

    def product(a: Any) -> Any:
        return primitives.matmul(a.T, a)

    with loader.load("jax").within():  # in which JAX has 64 bits
        assert str(jax.make_jaxpr(product)(x)).count("optimization_barrier") == kept
        within = 1e-12 if dtype is float else 1e-4
        np.testing.assert_allclose(jax.jit(product)(x), x.T @ x, rtol=within)
        np.testing.assert_allclose(jax.vmap(product)(np.stack([x, x]))[1], x.T @ x, rtol=within)
        slope = jax.grad(lambda a: product(a).sum())(x)
        np.testing.assert_allclose(slope, np.broadcast_to(2 * x.sum(axis=1, keepdims=True), shape), rtol=within)
