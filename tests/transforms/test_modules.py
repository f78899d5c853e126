"""call and parameters: modules of each library on arrays, and the gradient by their parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

X = np.random.default_rng(2).normal(size=(5, 3))


def host(x: Any) -> Any:
    return np.asarray(x)


class Dense:
    """A module in the style of Flax: it holds no parameters."""

    def apply(self, params: Any, x: Any, scale: float = 1.0) -> Any:
        return (x @ params["kernel"] + params["bias"]) * scale


def dense(library: str) -> tuple[Any, Any, Any, Any]:
    """A layer of the library with 3 inputs and 2 outputs, its parameters, and the weights (3, 2) and bias (2,) among them."""
    if library == "torch":
        import torch

        module = torch.nn.Linear(3, 2, dtype=torch.float64)
        params = ad.parameters(module)
        return module, params, lambda p: p["weight"].T, lambda p: p["bias"]
    if library == "tensorflow":
        import tensorflow as tf

        module = tf.keras.layers.Dense(2, dtype="float64")
        module.build((None, 3))
        params = ad.parameters(module)
        kernel, bias = sorted(params, key=lambda name: "bias" in name)
        return module, params, lambda p: p[kernel], lambda p: p[bias]
    params = {"kernel": ad.asarray(X[:3, :2]), "bias": ad.asarray([1.0, 2.0])}
    return Dense(), params, lambda p: p["kernel"], lambda p: p["bias"]


def test_a_module_on_arrays(library: str) -> None:
    module, params, weights, bias = dense(library)
    x = ad.asarray(X)
    made = ad.call(module, x, params=params)
    assert type(made) is ad.Array
    assert made.backend.name == library
    expected = X @ host(weights(params)) + host(bias(params))
    np.testing.assert_allclose(host(made), expected, rtol=1e-12)
    if library != "jax":
        np.testing.assert_allclose(host(ad.call(module, x)), expected, rtol=1e-12)


def test_gradients_by_its_parameters(library: str) -> None:
    module, params, weights, bias = dense(library)
    x = ad.asarray(X)

    def loss(p, x):
        return np.sum(ad.call(module, np.sin(x), params=p) ** 2)

    by_p, by_x = ad.grad(loss, argnums=(0, 1))(params, x)
    out = np.sin(X) @ host(weights(params)) + host(bias(params))
    np.testing.assert_allclose(host(weights(by_p)), 2 * np.sin(X).T @ out, rtol=1e-10)
    np.testing.assert_allclose(host(bias(by_p)), 2 * out.sum(axis=0), rtol=1e-10)
    np.testing.assert_allclose(host(by_x), 2 * out @ host(weights(params)).T * np.cos(X), rtol=1e-10)


def test_other_functions_of_a_library(library: str) -> None:
    double = {"torch": lambda a, k: {"y": (a * k, "z")}}.get(library, lambda a, k: {"y": (a * k, "z")})
    made = ad.call(double, ad.asarray(X), k=2)
    assert host(made["y"][0]).tolist() == (X * 2).tolist()
    assert made["y"][1] == "z"


def test_bad_modules(library: str) -> None:
    module, params, _, _ = dense(library)
    with pytest.raises(TypeError, match=r"ad\.parameters knows of no parameters|no apply"):
        ad.parameters(Dense())
    with pytest.raises(TypeError, match=r"cannot be passed in|no apply"):
        ad.call(lambda x: x, ad.asarray(X), params={"a": ad.asarray(1.0)})
    if library != "jax":
        wrong = dict(list(params.items())[1:])
        with pytest.raises(KeyError, match="lacks"):
            ad.call(module, ad.asarray(X), params=wrong)
