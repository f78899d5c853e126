"""Derivatives of complex functions, where branches meet, and of writes at places; those of each function: test_gradient_table."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

from .conftest import whole


def host(x):
    return np.asarray(x)


def test_complex_gradients_point_uphill(library):
    z = ad.asarray([1 + 2j, 3 - 1j])
    np.testing.assert_allclose(host(ad.grad(lambda a: np.sum(np.abs(a) ** 2))(z)), 2 * host(z))
    np.testing.assert_allclose(host(ad.grad(lambda a: np.sum(a.real * 3 + a.imag * 5))(z)), [3 + 5j] * 2)
    np.testing.assert_allclose(host(ad.grad(lambda a: np.sum((a * (2 + 1j)).real))(z)), [2 - 1j] * 2)
    np.testing.assert_allclose(host(ad.grad(lambda a: np.sum((1 / a).real))(z)), -1 / np.conj(host(z)) ** 2)
    x = ad.asarray([1.0, 2.0])
    assert host(ad.grad(lambda a: np.sum(np.abs(np.exp(1j * a) + a)))(x)).dtype == "float64"


def test_complex_gradients_in_a_program(library):
    """XLA takes the derivative of a root of complex numbers without the conjugate."""
    z = np.array([1 + 2j, -0.5 + 1j, 3 - 1j])
    for f in (
        lambda z: np.sqrt(z).real.sum(),
        lambda z: np.abs(np.sqrt(z) ** 3 + 1 / z).sum(),
        lambda z: np.reciprocal(z).imag.sum(),
    ):
        eager = host(ad.grad(f)(ad.asarray(z)))
        steps = 1e-6 * np.eye(3)
        found = [(f(z + e) - f(z - e)) / 2e-6 + 1j * (f(z + 1j * e) - f(z - 1j * e)) / 2e-6 for e in steps]
        np.testing.assert_allclose(eager, found, rtol=1e-6)
        np.testing.assert_allclose(host(ad.jit(ad.grad(f))(ad.asarray(z))), eager, rtol=1e-12)


KNOTS = np.array([0.0, 1.0, 2.0])


BRANCHES = {
    "remainder": (lambda x: np.remainder(x, 2.0), [4.0, -4.0, 0.0, 1.5], [1, 1, 1, 1]),
    "remainder of a negative divisor": (lambda x: np.remainder(x, -2.0), [4.0, -4.0, 0.0, 1.5], [1, 1, 1, 1]),
    "remainder by its divisor": (lambda x: np.remainder(6.0, x), [2.0, 4.0, -3.0], [-3, -1, 2]),
    "fmod": (lambda x: np.fmod(x, 2.0), [4.0, -4.0, 0.0], [1, 1, 1]),
    "divmod": (lambda x: np.divmod(x, 2.0)[1], [4.0, -4.0, 0.0], [1, 1, 1]),
    "modf": (lambda x: np.modf(x)[0], [4.0, -4.0, 0.0, -0.0, 1.5, -1.5], [1] * 6),
    "ldexp": (lambda x: np.ldexp(x, 3), [0.0, -0.0, 1.0], [8, 8, 8]),
    "nextafter": (lambda x: np.nextafter(x, 2.0), [0.0, 1.0, 3.0], [1, 1, 1]),
    "spacing": (np.spacing, [1.0, 3.0], [0, 0]),
    "interp": (lambda x: np.interp(x, KNOTS, KNOTS**2 - 1), [0.0, 0.5, 1.0, 2.0, 3.0], [1, 1, 3, 3, 0]),
    "interp in its values": (lambda y: np.interp(KNOTS, KNOTS, y), [-0.0, 2.0, 3.0], [1, 1, 1]),
    "power of 0": (lambda x: x**0, [0.0, 2.0], [0, 0]),
    "powers": (lambda x: sum(c * x**i for i, c in enumerate([1.0, 2.0, 3.0])), [0.0, 1.0], [2, 8]),
    "powers of an array": (lambda x: (x[:, None] ** np.arange(3.0)).sum(1), [0.0, 1.0], [1, 3]),
    "power by its exponent": (lambda x: 2.0**x, [0.0, 1.0], [np.log(2), 2 * np.log(2)]),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_derivatives_where_branches_meet(library, name):
    """Zeros with a sign put to them, knots and powers of zero lost their derivative, or it was NaN, at whole numbers above all."""
    f, x, slopes = BRANCHES[name]
    x = np.array(x)
    for wrapped in (lambda g: g, ad.jit):
        found, value = wrapped(ad.grad(lambda x: (f(x).sum(), f(x)), has_aux=True))(ad.asarray(x))
        np.testing.assert_allclose(host(found), slopes, rtol=1e-12)
        np.testing.assert_allclose(host(value), f(x), rtol=1e-15)
        assert np.signbit(host(value)).tolist() == np.signbit(f(x)).tolist()


SQUARE = np.array([[1 + 2j, 0.5, -1j], [0.3, -1 + 0.2j, 2], [0.7j, 1, 3 - 1j]])


def _overwritten(z):
    z = z.copy()
    z[1:] = z[:-1] * 2
    z[0, ::2] = 3
    return np.abs(z).sum()


@pytest.mark.parametrize(
    "f",
    [
        _overwritten,
        lambda z: np.abs(np.linalg.det(z)) + np.linalg.det(z).imag,
        lambda z: np.abs(np.cumprod(z)).sum(),
        lambda z: np.expm1(z).imag.sum(),
        lambda z: np.abs(np.convolve(z[0], z[1])).sum(),
    ],
    ids=["writes", "det", "cumprod", "expm1", "convolve"],
)
def test_complex_gradients_of_functions(library, f):
    steps = 1e-6 * np.eye(9).reshape(9, 3, 3)
    z = SQUARE
    found = [(f(z + e) - f(z - e)) / 2e-6 + 1j * (f(z + 1j * e) - f(z - 1j * e)) / 2e-6 for e in steps]
    for wrapped in (lambda g: g, ad.jit):
        made = host(wrapped(ad.grad(f))(ad.asarray(z)))
        np.testing.assert_allclose(made.reshape(-1), found, rtol=1e-5, atol=1e-6)


def test_second_derivatives_of_a_complex_determinant(library):
    def of(x):
        return np.abs(np.linalg.det(SQUARE + 1j * x[0] * np.eye(3) + x[1] * SQUARE.T)) ** 2

    x, e = np.array([0.3, -0.2]), 1e-4 * np.eye(2)
    found = [[(of(x + a + b) - of(x + a - b) - of(x - a + b) + of(x - a - b)) / 4e-8 for a in e] for b in e]
    np.testing.assert_allclose(host(ad.hessian(of)(ad.asarray(x))), found, rtol=1e-5)


def test_products_of_zeros(library):
    x = np.array([2.0, 0.0, 3.0, 0.0, 5.0])
    for wrapped in (lambda g: g, ad.jit):
        value, grad = wrapped(ad.value_and_grad(lambda x: (np.cumprod(x) * np.arange(5.0)).sum()))(ad.asarray(x))
        assert float(value) == 0
        np.testing.assert_allclose(host(grad), [0, 2 + 12, 0, 0, 0])


def test_holomorphic_functions_have_complex_derivatives(library):
    z = ad.asarray([1 + 2j, 3 - 1j])
    np.testing.assert_allclose(host(ad.grad(lambda a: np.sum(a**3), holomorphic=True)(z)), 3 * host(z) ** 2)
    np.testing.assert_allclose(host(ad.jacobian(np.exp, holomorphic=True)(z)), np.diag(np.exp(host(z))), atol=1e-15)
    with pytest.raises(TypeError, match="holomorphic=True needs complex arguments"):
        ad.grad(np.sum, holomorphic=True)(ad.asarray([1.0]))
    with pytest.raises(TypeError, match="returns one real number"):
        ad.grad(np.sum)(z)
    with pytest.raises(TypeError, match="holomorphic=True if the function is"):
        ad.jacobian(lambda a: a * 2)(z)


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda y, x: np.multiply.at(y, [0, 0, 1], x[:3]), id="multiply"),
        pytest.param(lambda y, x: np.divide.at(y, np.array([1, 1, 0]), x[:3]), id="divide"),
        pytest.param(lambda y, x: np.negative.at(y, slice(1, 3)), id="negative"),
        pytest.param(lambda y, x: np.add.at(y, np.array([True, False, True, False]), x[3]), id="mask"),
        pytest.param(lambda y, x: np.subtract.at(y, (np.array([1, 1]),), x[0]), id="subtract"),
        pytest.param(lambda y, x: y.__setitem__([0, 2], x[1] * y[[1, 2]]), id="list"),
    ],
)
def test_writes_at_places(library: str, write: Any) -> None:
    """Which places are written is known while the function is followed, though the library would not know it."""

    def f(x: Any) -> Any:
        y = x**2
        write(y, x)
        return np.sum(y**2)

    def difference(g: Any, x: Any) -> Any:
        steps = 1e-5 * np.eye(4)
        return np.stack([(host(g(x + d)) - host(g(x - d))) / 2e-5 for d in steps])

    x = np.array([1.25, 0.5, 2.0, 0.75])
    gradient = ad.grad(f)
    np.testing.assert_allclose(host(gradient(ad.asarray(x))), difference(f, x), 1e-7)
    np.testing.assert_allclose(host(ad.vmap(gradient)(ad.asarray([x, x]))), [host(gradient(ad.asarray(x)))] * 2, 1e-12)
    second = host(whole(ad.hessian(f), library)(ad.asarray(x)))
    np.testing.assert_allclose(second, difference(lambda x: gradient(ad.asarray(x)), x), 1e-6, 1e-8)


@pytest.mark.parametrize("fun", ["logaddexp", "logaddexp2"])
def test_logarithms_of_sums_of_equal_numbers(fun, library):
    """Where a logistic regression begins: the value has a case of its own there, the derivatives have none."""
    base = {"logaddexp": 1.0, "logaddexp2": np.log(2.0)}[fun]
    x = np.array([0.0, 1.0, -3.0, 300.0, -300.0])
    likely = 1 / (1 + np.exp(-base * x))
    loss = lambda x: np.sum(getattr(np, fun)(0.0, x))
    both = lambda x: np.sum(getattr(np, fun)(x, x) ** 2)
    for transform in (lambda f: f, ad.jit):
        np.testing.assert_allclose(transform(ad.grad(loss))(ad.asarray(x)), likely, 1e-14)
        np.testing.assert_allclose(ad.grad(transform(loss))(ad.asarray(x)), likely, 1e-14)
        np.testing.assert_allclose(
            transform(ad.hessian(loss))(ad.asarray(x)),
            np.diag(base / (2 + np.exp(base * x) + np.exp(-base * x))),
            1e-12,
            1e-15,
        )
        np.testing.assert_allclose(transform(ad.grad(both))(ad.asarray(x)), 2 * getattr(np, fun)(x, x), 1e-14)
    apart = ad.grad(lambda p: np.sum(getattr(np, fun)(p[0], p[1])))(
        tuple(map(ad.asarray, ([1.0, -np.inf], [1.0, 2.0])))
    )
    np.testing.assert_allclose(np.stack(apart), [[0.5, 0.0], [0.5, 1.0]], 1e-14)
    third = ad.grad(ad.grad(ad.grad(lambda x: getattr(np, fun)(x, 0.0))))
    np.testing.assert_allclose(third(ad.asarray(0.0)), 0.0, 0, 1e-14)


@pytest.mark.parametrize("seed", [1, 3, 6, 10])
def test_extrema_of_what_a_compiler_computes_anew(seed, library):
    """With sums and products rounded together here and not there, no element need be equal to the largest."""
    rng = np.random.default_rng(seed)
    image, kernel = rng.normal(size=(8, 8)), rng.normal(size=9)

    def pooled(k, choose):
        out = np.zeros_like(k, shape=(6, 6))
        for i in range(3):
            for j in range(3):
                out += k[3 * i + j] * image[i : i + 6, j : j + 6]
        return np.sum(choose(out.reshape(3, 2, 3, 2), axis=(1, 3)) ** 2) + np.var(out)

    for choose in (np.max, np.min):
        loss = functools.partial(pooled, choose=choose)
        wanted = [(loss(kernel + e) - loss(kernel - e)) / 2e-6 for e in 1e-6 * np.eye(9)]
        np.testing.assert_allclose(ad.jit(ad.grad(loss))(ad.asarray(kernel)), wanted, 1e-6, 1e-6)
