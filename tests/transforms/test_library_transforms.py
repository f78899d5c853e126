"""The libraries' own transforms on functions of arrays: an array is a pytree of its native array to JAX and to torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

X = np.array([1.0, 2.0, 3.0])


def _total(a: Any) -> Any:
    """The sum of cubes, after a write in place."""
    b = a.copy()
    b[0] *= 2
    return np.sum(b**3).native


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")  # torch.func imports it
def test_torch() -> None:
    func = pytest.importorskip("torch").func
    pytree = pytest.importorskip("torch.utils._pytree")
    x = ad.asarray(X, backend="torch")
    (leaf,) = pytree.tree_leaves({"a": x})
    assert leaf is x.native
    assert pytree.tree_map(lambda t: t * 2, {"a": x})["a"].tolist() == [2, 4, 6]
    gradient = func.grad(_total)(x)
    assert type(gradient) is ad.Array
    assert gradient.tolist() == [24, 12, 27]
    both = func.grad(lambda p: (np.sum(p["w"] ** 2) * p["b"]).native)({"w": x, "b": ad.asarray(2.0, backend="torch")})
    assert both["w"].tolist() == [4, 8, 12]
    assert float(both["b"]) == 14
    for jacobian in (func.jacrev, func.jacfwd):
        assert jacobian(lambda a: a**2)(x).tolist() == np.diag(2 * X).tolist()
    assert func.hessian(_total)(x).tolist() == np.diag([48.0, 12.0, 18.0]).tolist()
    many = func.vmap(lambda a: np.sum(a**2))(ad.asarray(np.eye(3), backend="torch"))
    assert type(many) is ad.Array
    assert many.tolist() == [1, 1, 1]
    value, back = func.vjp(lambda a: a * 2, x)
    assert value.tolist() == [2, 4, 6]
    assert back(x)[0].tolist() == [2, 4, 6]


def test_jax() -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        x = ad.asarray(X, backend="jax")
        assert jax.tree.leaves({"a": x})[0] is x.native
        assert jax.tree.map(lambda t: t * 2, {"a": x})["a"].tolist() == [2, 4, 6]
        gradient = jax.grad(_total)(x)
        assert type(gradient) is ad.Array
        assert gradient.tolist() == [24, 12, 27]
        for jacobian in (jax.jacrev, jax.jacfwd):
            assert jacobian(lambda a: a**2)(x).tolist() == np.diag(2 * X).tolist()
        assert jax.hessian(_total)(x).tolist() == np.diag([48.0, 12.0, 18.0]).tolist()
        many = jax.vmap(lambda a: np.sum(a**2))(ad.asarray(np.eye(3), backend="jax"))
        assert type(many) is ad.Array
        assert many.tolist() == [1, 1, 1]
        assert jax.jit(lambda a: np.sin(a) * 2)(x).tolist() == pytest.approx((2 * np.sin(X)).tolist())
        assert jax.lax.scan(lambda c, _: (c * 2, None), x, None, 3)[0].tolist() == [8, 16, 24]
        assert type(jax.tree.unflatten(jax.tree.structure(x), [object()])) is ad.Array


def test_tensorflow() -> None:
    tf = pytest.importorskip("tensorflow")
    x = ad.asarray(X, backend="tensorflow")
    compiled = tf.function(lambda a: _total(ad.wrap(a)), autograph=False)
    assert float(compiled(x)) == 8 + 8 + 27
    with tf.GradientTape() as tape:
        value = tf.Variable(x)
        total = compiled(value)
    assert tape.gradient(total, value).numpy().tolist() == [24, 12, 27]
    many = tf.vectorized_map(lambda a: np.sum(ad.wrap(a) ** 2).native, ad.asarray(np.eye(3), backend="tensorflow"))
    assert many.numpy().tolist() == [1, 1, 1]
