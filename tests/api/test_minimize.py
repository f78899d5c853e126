"""ad.minimize against scipy.optimize.minimize, and that with functions on arrays."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize

import arraydispatch as ad
from tests.rows import each

FIRST = ["CG", "BFGS", "L-BFGS-B", "SLSQP"]
SECOND = ["Newton-CG", "trust-ncg", "trust-exact", "trust-krylov", "dogleg", "trust-constr", "TNC"]
WITHOUT = ["Nelder-Mead", "Powell", "COBYLA"]
X0 = np.array([-0.6, 1.4, 0.8])


def rosenbrock(x: Any) -> Any:
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def bowl(x: Any, a: Any = 1.0) -> Any:
    return np.sum((x - np.array([1.0, 2.0, 3.0])) ** 2 * a) + np.exp(x[0] / 4)


@each("method", FIRST)
def test_as_scipy_with_the_gradient(method: str, backend: str) -> None:
    with ad.backend(backend):
        found = ad.minimize(rosenbrock, ad.asarray(X0), method=method)
    jac = optimize.rosen_der if backend != "numpy" else None
    expected = optimize.minimize(rosenbrock, X0, method=method, jac=jac)
    assert (
        isinstance(found, optimize.OptimizeResult) and isinstance(found.x, ad.Array) and found.x.backend.name == backend
    )
    np.testing.assert_allclose(ad.to_numpy(found.x), expected.x, atol=2e-3)
    assert bool(found.success) == bool(expected.success)
    if backend != "numpy":
        assert abs(found.nit - expected.nit) <= 2


@each("method", SECOND)
def test_second_derivatives(method: str, backend: str) -> None:
    if backend == "numpy":
        return
    with ad.backend(backend):
        found = ad.minimize(bowl, ad.asarray(X0), method=method)
    expected = optimize.minimize(bowl, X0, method="BFGS")
    np.testing.assert_allclose(ad.to_numpy(found.x), expected.x, atol=1e-4)
    assert found.success


@each("method", WITHOUT)
def test_without_derivatives(method: str, backend: str) -> None:
    with ad.backend(backend):
        found = ad.minimize(bowl, ad.asarray(X0), (2.0,), method=method, tol=1e-6)
    expected = optimize.minimize(bowl, X0, (2.0,), method=method, tol=1e-6)
    np.testing.assert_allclose(ad.to_numpy(found.x), expected.x, atol=1e-4)


def test_pytrees_bounds_and_trajectory(backend: str) -> None:
    def f(p, y):
        return np.sum((p["w"] @ np.array([1.0, -1.0]) + p["b"] - y) ** 2) + np.sum(p["w"] ** 2)

    with ad.backend(backend):
        y = ad.asarray([1.0, 2.0, 3.0])
        start = {"w": ad.asarray(np.zeros((3, 2), "float32")), "b": 0.5}
        seen = []
        found = ad.minimize(f, start, (y,), trajectory=True, callback=seen.append)
        assert found.success and found.x["w"].shape == (3, 2) and found.x["w"].dtype == np.float32
        assert len(found.trajectory) == found.nit + 1 == len(seen) + 1
        values = [value for _, value in found.trajectory]
        assert values[0] == f({"w": np.zeros((3, 2)), "b": 0.5}, np.array([1.0, 2.0, 3.0])) and values[-1] == min(
            values
        )
        np.testing.assert_allclose(float(found.x["b"]), 2.0, atol=1e-3)
        held = ad.minimize(bowl, ad.asarray(X0), bounds=(0.0, ad.asarray([0.5, 9.0, 2.0])))
        expected = optimize.minimize(bowl, X0, bounds=[(0, 0.5), (0, 9), (0, 2)])
        np.testing.assert_allclose(ad.to_numpy(held.x), expected.x, atol=1e-5)
        told = ad.minimize(
            bowl,
            ad.asarray(X0),
            method="SLSQP",
            constraints={"type": "eq", "fun": lambda x: x.sum() - 3},
            trajectory=True,
        )
        expected = optimize.minimize(bowl, X0, method="SLSQP", constraints={"type": "eq", "fun": lambda x: x.sum() - 3})
        np.testing.assert_allclose(ad.to_numpy(told.x), expected.x, atol=1e-4)
        assert len(told.trajectory) >= told.nit


def test_gradient_descent(backend: str) -> None:
    with ad.backend(backend):
        run = lambda **options: ad.minimize(
            bowl, ad.asarray(X0), method="gradient-descent", options=options, trajectory=True
        )
        if backend == "numpy":
            with pytest.raises(TypeError, match="needs derivatives"):
                run()
            return
        found = run(learning_rate=0.2, gtol=1e-6)
        np.testing.assert_allclose(ad.to_numpy(found.x), optimize.minimize(bowl, X0).x, atol=1e-4)
        assert found.success and len(found.trajectory) == found.nit + 1
        short = run(maxiter=3)
        assert not short.success and short.nit == 3 and "used up" in short.message
        with pytest.raises(TypeError, match="takes the options learning_rate, maxiter, gtol, not step"):
            run(step=3)
        with np.errstate(all="ignore"):
            lost = run(learning_rate=50.0)
        assert not lost.success and "no longer finite" in lost.message


def test_bad_input(backend: str) -> None:
    with ad.backend(backend):
        x = ad.asarray(X0)
        for wrong in (
            lambda: ad.minimize(bowl, x, method="best"),
            lambda: ad.minimize(bowl, x, method="gradient-descent", bounds=(0, 1)),
        ):
            with pytest.raises(ValueError):
                wrong()
        for none in (
            lambda: ad.minimize(lambda x: x, x),
            lambda: ad.minimize(bowl, "a"),
            lambda: ad.minimize(bowl, x * 1j),
        ):
            with pytest.raises(TypeError):
                none()


DESCENDS = ["L-BFGS-B", "BFGS", "CG", "SLSQP", "Nelder-Mead", "gradient-descent"]


@each("method", DESCENDS)
def test_what_is_not_finite_is_no_minimum(method: str, backend: str) -> None:
    if backend == "numpy" and method == "gradient-descent":
        return
    with ad.backend(backend), np.errstate(all="ignore"):
        found = ad.minimize(lambda x: (x * np.nan).sum(), ad.asarray(X0), method=method, options={"maxiter": 20})
    assert not found.success and not np.isfinite(found.fun)


@each("method", DESCENDS)
def test_a_callback_stops_the_search(method: str, backend: str) -> None:
    if backend == "numpy" and method == "gradient-descent":
        return
    seen: list[Any] = []

    def stop(x: Any) -> None:
        seen.append(x)
        raise StopIteration

    with ad.backend(backend):
        found = ad.minimize(bowl, ad.asarray(X0), method=method, callback=stop)
    assert len(seen) == 1 and isinstance(seen[0], ad.Array) and not found.success and "StopIteration" in found.message
    assert found.status == 99

    def fail(x: Any) -> None:
        raise RuntimeError("mine")

    with ad.backend(backend), pytest.raises(RuntimeError, match="mine"):
        ad.minimize(bowl, ad.asarray(X0), method=method, callback=fail)


REFUSED: dict[str, tuple[Any, type[Exception]]] = {
    "a vector": (lambda x: x * 2, TypeError),
    "nothing": (lambda x: None, TypeError),
    "complex": (lambda x: (x * 1j).sum(), TypeError),
    "an error": (lambda x: {}["x"], KeyError),
}


@each("what", list(REFUSED))
def test_functions_of_no_minimum(what: str, backend: str) -> None:
    f, error = REFUSED[what]
    with ad.backend(backend), pytest.raises((error, ValueError) if backend == "numpy" else error):
        ad.minimize(f, ad.asarray(X0))


def test_bounds_and_nothing_to_move(backend: str) -> None:
    with ad.backend(backend):
        x = ad.asarray(np.full(2, 9.0))
        f = lambda p: ((p - 3) ** 2).sum()
        for bounds in (optimize.Bounds([0, 0], [1, 2]), [(0, 1), (None, 2)], (0.0, ad.asarray([1.0, 2.0]))):
            found = ad.minimize(f, x, bounds=bounds)  # which begins outside
            assert found.success
            np.testing.assert_allclose(ad.to_numpy(found.x), [1, 2])
        with pytest.raises(ValueError, match="bound"):
            ad.minimize(f, x, bounds=[(1, 0), (0, 1)])
        assert not ad.minimize(f, ad.asarray(np.zeros(0))).success
        with pytest.raises(TypeError, match="bool"):
            ad.minimize(f, ad.asarray([True]))


def test_scipys_own_takes_functions_on_arrays(backend: str) -> None:
    target = np.array([1.0, 2.0, 3.0])
    with ad.backend(backend):
        a = ad.asarray(target)

        def f(x):
            return ((ad.asarray(x) - a) ** 2).sum()

        derived = {} if backend == "numpy" else {"jac": ad.grad(f)}
        found = optimize.minimize(f, ad.asarray(X0), method="BFGS", **derived)
        np.testing.assert_allclose(found.x, target, atol=1e-5)
        if derived:
            both = optimize.minimize(ad.value_and_grad(f), ad.asarray(X0), jac=True, method="CG")
            np.testing.assert_allclose(both.x, target, atol=1e-5)


@each("method", ["L-BFGS-B", "TNC", "SLSQP", "BFGS"])
def test_scipys_own_with_a_gradient_that_is_an_array(method: str, backend: str) -> None:
    goal = ad.asarray(np.array([1.0, 2.0, 3.0]), backend=backend)
    found = optimize.minimize(
        lambda x: np.sum((x - goal) ** 2), ad.asarray(X0, backend=backend), jac=lambda x: 2 * (x - goal), method=method
    )
    np.testing.assert_allclose(found.x, [1, 2, 3], atol=1e-5)


def test_scipys_solvers_with_arrays_in_their_callbacks(backend: str) -> None:
    t, w = (ad.asarray(x, backend=backend) for x in (np.linspace(0, 4, 30), np.array([1.0, 2.0, 3.0])))

    def decay(t, a, b, c):
        return a * np.exp(-b * t) + c

    y = decay(t, 2.5, 1.3, 0.5)
    np.testing.assert_allclose(optimize.curve_fit(decay, t, y)[0], [2.5, 1.3, 0.5], rtol=1e-6)
    start = ad.asarray([1.0, 1.0, 0.0], backend=backend)
    np.testing.assert_allclose(optimize.least_squares(lambda p: decay(t, *p) - y, start).x, [2.5, 1.3, 0.5], rtol=1e-6)
    np.testing.assert_allclose(optimize.root(lambda x: x**2 - w, w + 1).x, np.sqrt([1.0, 2.0, 3.0]), rtol=1e-8)
    with ad.fallback("silent"):
        solved = integrate.solve_ivp(lambda t, y: -y * w, (0, 1), w, t_eval=t / 4)
        area = integrate.quad(lambda s: np.sum(np.exp(-w * s)), 0, 1)[0]
    wanted = integrate.solve_ivp(
        lambda t, y: -y * [1.0, 2.0, 3.0], (0, 1), [1.0, 2.0, 3.0], t_eval=np.linspace(0, 1, 30)
    )
    np.testing.assert_allclose(solved.y, wanted.y, rtol=1e-10)
    np.testing.assert_allclose(area, sum((1 - np.exp(-k)) / k for k in (1, 2, 3)), rtol=1e-10)


def _residuals(p: Any) -> Any:
    return (p - np.arange(3.0)) * (3 + p)


def _sent(function: Any, arguments: Any) -> list[Any]:
    """What workers do, without the workers."""
    return [pickle.loads(pickle.dumps(function))(each) for each in arguments]


def test_scipys_solvers_look_at_arrays_as_at_ndarrays(backend: str) -> None:
    x, y = (ad.asarray(values, backend=backend) for values in ([1.0, np.nan, 3.0], [1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match="infs or NaNs"):
        optimize.curve_fit(lambda x, a, b: a * x + b, x, y)
    single, kinds = ad.asarray(np.arange(5, dtype=np.float32), backend=backend), set()
    optimize.curve_fit(lambda x, a, b: kinds.add(x.dtype) or a * x + b, single, 2 * single)
    assert kinds == {np.dtype(float)}  # which a fit needs
    assert optimize.root_scalar(lambda t: t * t - 2, bracket=ad.asarray([0.0, 2.0], backend=backend)).converged
    start = ad.asarray([0.5, 0.5, 0.5], backend=backend)
    np.testing.assert_allclose(optimize.least_squares(_residuals, start, workers=_sent).x, [0, 1, 2], atol=1e-6)
