"""Models written with NumPy, fitted: by SciPy's optimiser and by each library's own; and a simulation, gone back through."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad


def loss(p: Any, x: Any, y: Any) -> Any:
    """Of a logistic regression, with a penalty; plain NumPy."""
    scores = x @ p["w"] + p["b"]
    return np.mean(np.logaddexp(0.0, scores) - y * scores) + 1e-3 * np.sum(p["w"] ** 2)


@pytest.fixture(scope="module")
def tumours() -> tuple[Any, Any]:
    """The breast cancer data of Wisconsin: 569 cells, 30 measures of each, standardised; benign or not."""
    x, y = pytest.importorskip("sklearn.datasets").load_breast_cancer(return_X_y=True)
    return (x - x.mean(axis=0)) / x.std(axis=0), y.astype(float)


def right(p: Any, x: Any, y: Any) -> float:
    """The share of the cells that the model tells right."""
    return float(np.mean((x @ np.asarray(p["w"]) + float(p["b"]) > 0) == y))


def test_with_scipys_optimiser(library: str, tumours: tuple[Any, Any]) -> None:
    optimize = importlib.import_module("scipy.optimize")
    x, y = (ad.asarray(a) for a in tumours)
    both = ad.value_and_grad(lambda v: loss({"w": v[:-1], "b": v[-1]}, x, y))

    def by_library(v: Any) -> Any:
        value, gradient = both(ad.asarray(v))
        return float(value), np.asarray(gradient)

    found = optimize.minimize(by_library, np.zeros(31), jac=True, method="L-BFGS-B", options={"maxiter": 200})
    plain = optimize.minimize(
        lambda v: loss({"w": v[:-1], "b": v[-1]}, *tumours), np.zeros(31), method="L-BFGS-B", options={"maxiter": 200}
    )
    assert found.success
    assert found.fun <= plain.fun + 1e-6
    assert right({"w": found.x[:-1], "b": found.x[-1]}, *tumours) > 0.98


def _by_torch(p: Any, both: Any, steps: int) -> Any:
    torch = importlib.import_module("torch")
    natives = {name: x.native.clone() for name, x in p.items()}
    optimiser = torch.optim.Adam(list(natives.values()), lr=0.1)
    for _ in range(steps):
        _, gradient = both({name: ad.wrap(x) for name, x in natives.items()})
        for name, x in natives.items():
            x.grad = gradient[name].native if isinstance(gradient[name], ad.Array) else torch.as_tensor(gradient[name])
        optimiser.step()
    return {name: ad.wrap(x) for name, x in natives.items()}


def _by_jax(p: Any, both: Any, steps: int) -> Any:
    optimizers = importlib.import_module("jax.example_libraries.optimizers")
    jax = importlib.import_module("jax")
    with jax.enable_x64(True):
        start, update, parameters = optimizers.adam(0.1)
        state = start({name: x.native for name, x in p.items()})
        for i in range(steps):
            _, gradient = both({name: ad.wrap(x) for name, x in parameters(state).items()})
            state = update(i, {name: jax.numpy.asarray(np.asarray(g)) for name, g in gradient.items()}, state)
        return {name: ad.wrap(x) for name, x in parameters(state).items()}


def _by_tensorflow(p: Any, both: Any, steps: int) -> Any:
    tf = importlib.import_module("tensorflow")
    variables = {name: tf.Variable(x.native) for name, x in p.items()}
    optimiser = tf.keras.optimizers.Adam(0.1)
    for _ in range(steps):
        _, gradient = both({name: ad.wrap(tf.convert_to_tensor(v)) for name, v in variables.items()})
        optimiser.apply_gradients(
            (tf.convert_to_tensor(np.asarray(gradient[name])), v) for name, v in variables.items()
        )
    return {name: ad.wrap(tf.convert_to_tensor(v)) for name, v in variables.items()}


OPTIMISERS = {"torch": _by_torch, "jax": _by_jax, "tensorflow": _by_tensorflow}


def test_with_an_optimiser_of_the_library(library: str, tumours: tuple[Any, Any]) -> None:
    x, y = (ad.asarray(a) for a in tumours)
    p = {"w": ad.asarray(np.zeros(30)), "b": ad.asarray(0.0)}
    both = ad.value_and_grad(lambda p: loss(p, x, y))
    fitted = OPTIMISERS[library](p, both, 60)
    assert float(loss(fitted, x, y)) < 0.1 < float(loss(p, x, y))
    assert right(fitted, *tumours) > 0.97


def diffused(u: Any) -> Any:
    """A hundred steps of the heat equation, in place."""
    u = u.copy()
    for _ in range(100):
        u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def test_the_way_back_through_a_simulation(library: str) -> None:
    n = 20
    start = np.exp(-((np.arange(n) - 7.0) ** 2))
    target = diffused(start)
    guess = np.full(n, start.mean())
    gradient = ad.grad(lambda u: np.sum((diffused(u) - target) ** 2))(ad.asarray(guess))
    # The steps are linear, one matrix for all: the gradient is known.
    whole = np.array([diffused(e) for e in np.eye(n)]).T
    np.testing.assert_allclose(np.asarray(gradient), 2 * whole.T @ (whole @ guess - target), rtol=1e-10, atol=1e-13)
    u, misfit = ad.asarray(guess), ad.value_and_grad(lambda u: np.sum((diffused(u) - target) ** 2))
    before, rate = float(misfit(u)[0]), 0.5 / np.linalg.norm(whole, 2) ** 2
    for _ in range(5):
        u = u - rate * misfit(u)[1]
    expected = guess
    for _ in range(5):
        expected = expected - rate * 2 * whole.T @ (whole @ expected - target)
    np.testing.assert_allclose(np.asarray(u), expected, rtol=1e-9, atol=1e-12)
    assert float(misfit(u)[0]) < 0.9 * before
