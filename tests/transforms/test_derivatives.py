"""grad, value_and_grad, jacobian, hessian: what they take, what they give, what they refuse. Values: test_gradient_table."""

from __future__ import annotations

import functools
import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch import tracing

from .conftest import whole


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclass
class Model:
    weights: Any
    bias: Any
    name: str = "m"


def host(x):
    """Values of a pytree of arrays."""
    if isinstance(x, list | tuple):
        return [host(y) for y in x]
    if isinstance(x, dict):
        return {key: host(y) for key, y in x.items()}
    return np.asarray(x)


def test_gradient_is_an_array_as_the_argument_is(library):
    x = ad.asarray([1.0, 2.0, 3.0])
    g = ad.grad(lambda a: np.sum(a**3))(x)
    assert type(g) is ad.Array
    assert g.backend.name == library
    assert g.dtype == np.float64
    np.testing.assert_allclose(host(g), [3, 12, 27])


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_dtypes_are_kept(library, dtype):
    x = ad.asarray(np.arange(1, 4).astype(dtype))
    value, g = ad.value_and_grad(lambda a: np.sum(np.abs(a) ** 2))(x)
    assert g.dtype == dtype
    assert value.dtype == np.abs(np.zeros(1, dtype)).dtype
    np.testing.assert_allclose(host(g), [2, 4, 6])


def test_value_is_what_the_function_returns(library):
    value, _ = ad.value_and_grad(np.sum)(ad.asarray([1.0, 2.0]))
    assert type(value) is np.float64
    assert value == 3
    value, _ = ad.value_and_grad(lambda a: np.sum(a)[...])(ad.asarray([1.0, 2.0]))
    assert isinstance(value, ad.Array) and value.shape == ()


def test_numpy_arrays_and_numbers_go_to_the_default_backend(library):
    g = ad.grad(lambda a, s: np.sum(a * s), argnums=(0, 1))(np.ones(2), 3.0)
    assert g[0].backend.name == library
    np.testing.assert_allclose(host(g[0]), [3, 3])
    assert type(g[1]) is np.float64 and g[1] == 2


def test_native_arrays_are_taken(library):
    x = ad.asarray([1.0, 2.0]).native
    np.testing.assert_allclose(host(ad.grad(lambda a: np.sum(a**2))(x)), [2, 4])


def test_the_data_decide_not_the_default(library):
    x = ad.asarray([1.0, 2.0])
    with ad.backend("numpy"):
        assert ad.grad(lambda a: np.sum(a**2))(x).backend.name == library


# -- pytrees ---------------------------------------------------------------------------------------------------------------


def test_pytrees_of_every_kind(library):
    def loss(p):
        return (
            np.sum(p["w"][0] ** 2)
            + p["w"][1].a * p["w"][1].b.sum()
            + np.sum(p["m"].weights * 3)
            + p["m"].bias ** 2 * (p["m"].name == "m")
        )

    p = {
        "w": [ad.asarray([1.0, 2.0]), Pair(2.0, ad.asarray([1.0, 3.0]))],
        "m": Model(ad.asarray([[1.0]]), 5.0),
        "none": None,
    }
    with pytest.raises(TypeError, match=r"argument 0\['m'\].name is a str"):
        ad.grad(loss)(p)
    p["m"].name = None

    def named(q):
        q["m"].name = "m"
        return loss(q)

    g = ad.grad(named)(p)
    assert type(g["m"]) is Model and type(g["w"][1]) is Pair and g["none"] is None
    np.testing.assert_allclose(host(g["w"][0]), [2, 4])
    assert g["w"][1].a == 4
    np.testing.assert_allclose(host(g["w"][1].b), [2, 2])
    np.testing.assert_allclose(host(g["m"].weights), [[3]])
    assert g["m"].bias == 10


def test_argnums_and_keywords(library):
    x, y = ad.asarray([1.0, 2.0]), ad.asarray([3.0, 4.0])

    def f(a, b, *, power=1):
        return np.sum(a * b**power)

    np.testing.assert_allclose(host(ad.grad(f, 1)(x, y, power=2)), [6, 16])
    np.testing.assert_allclose(host(ad.grad(f, (1, 0))(x, y)), [[1, 2], [3, 4]])
    np.testing.assert_allclose(host(ad.grad(f, -1)(x, y)), [1, 2])
    np.testing.assert_allclose(host(ad.grad(f, [0])(x, y)), [[3, 4]])


def test_aux_is_handed_on(library):
    x = ad.asarray([1.0, 2.0])
    g, aux = ad.grad(lambda a: (np.sum(a**2), {"twice": a * 2, "n": 5, "host": np.arange(2)}), has_aux=True)(x)
    np.testing.assert_allclose(host(g), [2, 4])
    assert aux["n"] == 5 and type(aux["host"]) is np.ndarray
    assert type(aux["twice"]) is ad.Array
    np.testing.assert_allclose(host(aux["twice"]), [2, 4])
    aux["twice"][0] = 7  # an array as any other
    assert float(aux["twice"][0]) == 7
    (value, extra), g = ad.value_and_grad(lambda a: (np.sum(a), a), has_aux=True)(x)
    assert value == 3 and extra is x
    with pytest.raises(TypeError, match=r"return a pair .* it returned a "):
        ad.grad(np.sum, has_aux=True)(x)


def test_what_does_not_depend_has_a_zero_gradient(library):
    x = ad.asarray([1.0, 2.0])
    np.testing.assert_allclose(host(ad.grad(lambda a, b: np.sum(b), (0, 1))(x, x)), [[0, 0], [1, 1]])
    np.testing.assert_allclose(host(ad.grad(lambda a: 3.0)(x)), [0, 0])
    np.testing.assert_allclose(host(ad.grad(lambda a: np.sum(np.floor(a)))(x)), [0, 0])


# -- writes ------------------------------------------------------------------------------------------------------------------


def test_writes_and_views_inside(library):
    def f(a):
        b = a.copy()
        b[0] *= 2
        c = np.zeros_like(b)
        c[:, ::-1] = b
        c.T[0][1] += b.sum()
        d = c.reshape(-1)
        d[1:3] = d[:2] * d[2:4]
        c += a
        np.add.at(c, ([0, 0], [1, 1]), a[1, :2])
        return np.sum(c**2)

    def by_hand(a):
        with ad.backend("numpy"):
            return f(a)

    x = np.arange(1.0, 7).reshape(2, 3)
    step = 1e-6
    expected = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        e = np.zeros_like(x)
        e[i] = step
        expected[i] = (by_hand(x + e) - by_hand(x - e)) / (2 * step)
    np.testing.assert_allclose(host(ad.grad(f)(ad.asarray(x))), expected, rtol=1e-5)


def test_values_read_before_a_write_keep_their_derivative(library):
    def f(a):
        b = a * 1.0
        s = np.sin(b)  # whose derivative needs the old b
        b[:] = 0
        return np.sum(s + b)

    x = ad.asarray([1.0, 2.0])
    np.testing.assert_allclose(host(ad.grad(f)(x)), np.cos([1, 2]))


def test_a_written_argument_comes_back_written(library):
    x, y = ad.asarray([1.0, 2.0]), ad.asarray([5.0, 6.0, 7.0])

    def f(a, b):
        a[0] = a[1] * 3
        b += 1
        return np.sum(a**2)

    value, g = ad.value_and_grad(f)(x, y[1:])
    assert value == 40
    np.testing.assert_allclose(host(g), [0, 40])
    np.testing.assert_allclose(host(x), [6, 2])
    np.testing.assert_allclose(host(y), [5, 7, 8])
    z = np.array([1.0, 2.0])
    ad.grad(f)(z, ad.asarray([1.0]))
    np.testing.assert_allclose(z, [6, 2])


def test_two_arguments_in_one_memory_are_not_torn_apart(library):
    x = ad.asarray([1.0, 2.0, 3.0])

    def f(a, b):
        a[0] = 9
        return np.sum(a * b)

    np.testing.assert_allclose(host(ad.grad(lambda a, b: np.sum(a * b))(x, x[:])), [1, 2, 3])
    with pytest.raises(ad.TraceError, match="shares memory"):
        ad.grad(f)(x, x[:2][:1])


def test_a_traced_value_does_not_leak(library):
    outside = ad.asarray([0.0, 0.0])

    def basic(a):
        outside[0] = a[0]
        return np.sum(a)

    def advanced(a):
        outside[[0, 1]] = a
        return np.sum(a)

    def masked(a):
        outside[np.array([True, False])] = a[:1]
        return np.sum(a)

    def in_place(a):
        np.add(outside, a, out=outside)
        return np.sum(a)

    def operator(a):
        nonlocal outside
        outside += a
        return np.sum(a)

    def copied(a):
        np.copyto(outside, a)
        return np.sum(a)

    def at(a):
        np.add.at(outside, [0, 0], a)
        return np.sum(a)

    def through_view(a):
        outside[::-1][:1] = a[0]
        return np.sum(a)

    for leak in (basic, advanced, masked, in_place, operator, copied, at, through_view):
        with pytest.raises(ad.TraceError, match=r"test_derivatives.py:\d+"):
            ad.grad(leak)(ad.asarray([1.0, 2.0]))
        assert host(outside).tolist() == [0, 0]
        outside += 1
        outside -= 1


def test_what_is_born_inside_may_be_written(library):
    constant = ad.asarray([5.0, 6.0])

    def f(a):
        buffer = np.zeros_like(constant)  # of no traced value
        view = buffer[1:]
        view[0] = a[0] * 2
        more = constant * 2
        more[0] = a[1]
        more[1:] += view
        return np.sum(buffer**2) + np.sum(more)

    np.testing.assert_allclose(host(ad.grad(f)(ad.asarray([1.0, 2.0]))), [8 + 2, 1])
    assert host(constant).tolist() == [5, 6]


def test_constants_may_be_written_from_inside(library):
    counter = ad.asarray([0.0])
    log = np.zeros(1)

    def f(a):
        counter[0] = 3.0
        log[0] += 1
        return np.sum(a)

    ad.grad(f)(ad.asarray([1.0]))
    assert float(counter[0]) == 3
    assert log[0] == 1


def test_arrays_are_themselves_again_after_an_error(library):
    x = ad.asarray([1.0, 2.0])

    def f(a):
        a[0] = 5
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ad.grad(f)(x)
    assert host(x).tolist() == [1, 2]
    from arraydispatch import tracing, views

    assert tracing.current() is None and tracing.running == 0 and views.watch is None


# -- control flow, values --------------------------------------------------------------------------------------------------


def test_the_function_may_decide_by_values(library):
    def f(a):
        total = a.sum()
        while total > 1:
            total = total / 2
        if np.any(a > 1.5):
            total = total * 3
        return total + np.sum(a[a > 1.5])

    np.testing.assert_allclose(host(ad.grad(f)(ad.asarray([1.0, 2.0]))), [0.75, 1.75])


@pytest.mark.parametrize(
    "look",
    [float, lambda x: x.item(), np.asarray, lambda x: x.tolist(), lambda x: np.array([x])],
    ids=["float", "item", "asarray", "tolist", "array"],
)
def test_a_number_taken_out_would_cut_the_derivative(library, look):
    x = ad.asarray([1.0, 2.0])
    with pytest.raises(ad.TraceError, match=r"test_derivatives.py:\d+ in <lambda>\(\).*ad.grad.*stop_gradient"):
        ad.grad(lambda a: np.sum(a) * look(a[0])[()] if look is np.asarray else np.sum(a) * look(a[0]))(x)


# -- complex numbers ---------------------------------------------------------------------------------------------------------


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


# -- jacobians, hessians -------------------------------------------------------------------------------------------------------


def test_jacobian_of_pytrees(library):
    x = ad.asarray([1.0, 2.0, 3.0])

    def f(a, s):
        return {"sum": np.sum(a) * s, "outer": np.outer(a[:2], a), "constant": np.ones(2)}

    j = ad.jacobian(f, argnums=(0, 1))(x, 2.0)
    np.testing.assert_allclose(host(j["sum"][0]), [2, 2, 2])
    assert j["sum"][1] == 6
    expected = np.einsum("ik,j->ijk", np.eye(2, 3), [1, 2, 3]) + np.einsum("i,jk->ijk", [1, 2], np.eye(3))
    np.testing.assert_allclose(host(j["outer"][0]), expected)
    assert host(j["constant"][0]).shape == (2, 3) and not host(j["constant"][0]).any()


def test_results_go_back_together(library):
    """However many there are, a library traces the way back once; each has its own shape and dtype."""
    ways: list[int] = []

    def back(args, result, cotangent):
        ways.append(1)
        return (cotangent * 2 * args[0],)

    square = ad.custom_gradient(lambda a: a * a, back)

    def f(a):
        b = square(a)
        return b, {"sum": np.sum(b), "wide": np.stack([b, 3 * b]), "turned": b * 1j, "less": b.astype(np.float32)[1:]}

    x = np.array([0.5, -1.0, 2.0])
    found, more = ad.jacobian(f)(ad.asarray(x))
    assert len(ways) == 1
    expected = np.diag(2 * x)
    np.testing.assert_allclose(host(found), expected)
    np.testing.assert_allclose(host(more["sum"]), 2 * x)
    np.testing.assert_allclose(host(more["wide"]), [expected, 3 * expected])
    np.testing.assert_allclose(host(more["turned"]), 1j * expected)
    np.testing.assert_allclose(host(more["less"]), expected[1:])


def test_jacobian_of_a_complex_result(library):
    x = ad.asarray([1.0, 2.0])
    np.testing.assert_allclose(
        host(ad.jacobian(lambda a: np.exp(1j * a) * a[0])(x)),
        [[(1 + 1j) * np.exp(1j), 0], [np.exp(2j), 1j * np.exp(2j)]],
        atol=1e-15,
    )


def test_hessian_of_pytrees(library):
    p = {"a": ad.asarray([1.0, 2.0]), "b": ad.asarray(3.0)}
    h = ad.hessian(lambda q: np.sum(q["a"] ** 3) * q["b"] + q["b"] ** 2)(p)
    np.testing.assert_allclose(host(h["a"]["a"]), [[18, 0], [0, 36]])
    np.testing.assert_allclose(host(h["a"]["b"]), [3, 12])
    np.testing.assert_allclose(host(h["b"]["a"]), [3, 12])
    np.testing.assert_allclose(host(h["b"]["b"]), 2)
    h, aux = ad.hessian(lambda a: (np.sum(a**2), a * 1), has_aux=True)(ad.asarray([1.0, 2.0]))
    np.testing.assert_allclose(host(h), 2 * np.eye(2))
    assert host(aux).tolist() == [1, 2]
    with pytest.raises(TypeError, match="real arguments"):
        ad.hessian(lambda a: np.sum(np.abs(a)))(ad.asarray([1j]))


def test_derivatives_nest(library):
    def f(x):
        return np.sin(x) * x**2

    x = 1.5
    s, c = np.sin(x), np.cos(x)
    first, second, third = ad.grad(f), ad.grad(ad.grad(f)), ad.grad(ad.grad(ad.grad(f)))
    np.testing.assert_allclose(first(x), c * x**2 + 2 * x * s)
    np.testing.assert_allclose(second(x), -s * x**2 + 4 * x * c + 2 * s)
    np.testing.assert_allclose(third(x), -c * x**2 - 6 * x * s + 6 * c, rtol=1e-12)
    # the outer variable inside of the inner function
    np.testing.assert_allclose(ad.grad(lambda y: y * ad.grad(lambda z: y * z**2)(y))(2.0), 3 * 2 * 2.0**2 / 1)


# -- refusals ------------------------------------------------------------------------------------------------------------------


def test_numpy_is_forward_only():
    with ad.backend("numpy"):
        for transform in (ad.grad, ad.value_and_grad, ad.jacobian, ad.hessian):
            with pytest.raises(TypeError, match=r"forward only.*arraydispatch\.asarray"):
                transform(lambda a: np.sum(a**2))(np.ones(2))
            with pytest.raises(TypeError, match="forward only"):
                transform(lambda a: np.sum(a**2))(ad.wrap(np.ones(2)))


def test_integers_are_refused(library):
    for x in (ad.asarray([1, 2]), np.arange(2), 3, True, ad.asarray([True])):
        with pytest.raises(TypeError, match=r"argument 0 is of dtype (int64|bool): convert it with astype\(float\)"):
            ad.grad(np.sum)(x)
    with pytest.raises(TypeError, match=r"argument 1\['n'\]\[0\] is of dtype int64"):
        ad.grad(lambda a, b: np.sum(a), 1)(1.0, {"n": [3]})


def test_what_is_no_number_is_refused(library):
    x = ad.asarray([1.0, 2.0])
    with pytest.raises(TypeError, match=r"array of shape \(2,\): sum it, or use ad.jacobian"):
        ad.grad(lambda a: a)(x)
    with pytest.raises(TypeError, match="returned 2 values"):
        ad.grad(lambda a: (np.sum(a), 1))(x)
    with pytest.raises(TypeError, match="one of dtype int64"):
        ad.grad(np.argmax)(x)
    with pytest.raises(TypeError, match="one of dtype complex128: take its real part"):
        ad.grad(lambda a: np.sum(a) * 1j)(x)
    with pytest.raises(TypeError, match="one is of dtype int64"):
        ad.jacobian(np.argsort)(x)


def test_arguments_that_are_not_there(library):
    with pytest.raises(TypeError, match="positional argument 2; it was given 1"):
        ad.grad(np.sum, 2)(1.0)
    with pytest.raises(TypeError, match="argnums is an int"):
        ad.grad(np.sum, "x")
    with pytest.raises(TypeError, match="argnums is an int"):
        ad.grad(np.sum, ())


def test_two_libraries_do_not_mix(library):
    other = "torch" if library == "jax" else "jax"
    with pytest.raises(ad.BackendMismatchError):
        ad.grad(lambda a, b: np.sum(a * b))(ad.asarray([1.0]), ad.asarray([1.0], backend=other))


def test_host_fallback_is_refused(library):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ad.TraceError, match=r"np.sum runs on the host.*test_derivatives.py:\d+"):
            ad.grad(lambda a: np.sum(a, dtype="longdouble"))(ad.asarray([0.5, 1.0]))


def test_names_and_documentation_are_those_of_the_function(library):
    def loss(a):
        """The loss."""

    for transform in (ad.grad, ad.value_and_grad, ad.jacobian, ad.hessian):
        assert transform(loss).__name__ == "loss"
        assert transform(loss).__doc__ == "The loss."


def test_precision_is_that_of_the_caller(library):
    x = np.array([1.0, 2.0])
    with ad.precision(32):
        g = ad.grad(lambda a: np.sum(a**2))(x)
    assert g.dtype == np.float32


def test_an_argument_that_is_returned_is_a_result(library):
    x = ad.asarray([1.0, 2.0, 3.0])
    for f in (lambda x: x, lambda x: x[...], lambda x: {"a": x}["a"]):
        assert np.asarray(ad.jacobian(f)(x)).tolist() == np.eye(3).tolist()

    def doubled(x):
        x *= 2
        return x

    assert np.asarray(ad.jacobian(doubled)(x.copy())).tolist() == (2 * np.eye(3)).tolist()
    both = ad.jacobian(lambda x, y: (x, x * y, y), argnums=1)(x, ad.asarray([5.0, 6.0, 7.0]))
    assert [np.asarray(j).tolist() for j in both] == [
        m.tolist() for m in (0 * np.eye(3), np.diag([1.0, 2, 3]), np.eye(3))
    ]
    assert float(ad.grad(lambda z: z)(ad.asarray(2.0))) == 1
    value, gradient = ad.value_and_grad(lambda z: (z, z + 1), has_aux=True)(ad.asarray(2.0))
    assert (float(value[0]), float(value[1]), float(gradient)) == (2, 3, 1)
    assert np.asarray(ad.vmap(ad.grad(lambda z: z))(x)).tolist() == [1, 1, 1]
    assert np.asarray(ad.jit(ad.jacobian(lambda x: x))(x)).tolist() == np.eye(3).tolist()


def test_empty_arrays(library):
    for shape in ((0,), (0, 3)):
        x = ad.asarray(np.zeros(shape))
        assert ad.grad(lambda a: np.sum(a**2))(x).shape == shape
        assert ad.jacobian(lambda a: a * 2)(x).shape == shape * 2
        assert ad.hessian(lambda a: np.sum(a**2))(x).shape == shape * 2


def test_argnums_of_every_kind(library):
    x, y = ad.asarray([1.0, 2.0]), ad.asarray([3.0, 4.0])
    f = lambda a, b: np.sum(a * b * b)
    assert np.asarray(ad.grad(f, np.int64(-1))(x, y)).tolist() == [6, 16]
    assert [np.asarray(g).tolist() for g in ad.grad(f, [1, 0])(x, y)] == [[6, 16], [9, 16]]
    for wrong in ("a", None, (), True, 1.0, [0.5]):
        with pytest.raises(TypeError, match="argnums is an int or a sequence"):
            ad.grad(f, wrong)
    for wrong in (2, -3, (0, 2)):
        with pytest.raises(TypeError, match="positional argument"):
            ad.grad(f, wrong)(x, y)


def test_gradients_are_arrays_of_their_own(library: str) -> None:
    """A library may give one tensor for several arguments, one number for all of a sum, or the user's own array."""
    x, y, constant = ad.asarray([1.0, 2.0, 3.0]), ad.asarray([4.0, 5.0, 6.0]), ad.asarray([5.0, 6.0, 7.0])
    first, second = ad.grad(lambda a, b: np.sum(a + b), argnums=(0, 1))(x, y)
    first[0] = 7
    assert [first.tolist(), second.tolist()] == [[7, 1, 1], [1, 1, 1]]
    rows = ad.jacobian(lambda a: a * 1)(x)
    rows[0, 1] = 5
    assert rows.tolist() == [[1, 5, 0], [0, 1, 0], [0, 0, 1]]
    gradient = ad.grad(ad.custom_gradient(np.sum, lambda args, result, cotangent: (constant,)))(x)
    gradient[0] = 0
    assert [gradient.tolist(), constant.tolist()] == [[0, 6, 7], [5, 6, 7]]


def test_what_was_found_out_of_a_kind_of_call_holds_for_that_kind(library: str) -> None:
    """A second call of a kind looks at less: whether one is of that kind is to be told by all that decides."""
    calls = ad.grad(
        lambda a, b=2.0, *more, **named: np.sum(a * b) + sum(map(np.sum, more)) + sum(map(np.sum, named.values()))
    )
    x, y = ad.asarray([1.0, 2.0]), ad.asarray([3.0, 4.0])
    narrow = ad.asarray(np.array([1.0, 2.0], np.float32))
    for _ in range(2):
        assert calls(x).tolist() == [2, 2]
        assert calls(x, 5.0).tolist() == [5, 5]
        assert calls(x, x).tolist() == [1, 2]
        assert calls(x, y, x, k=x).tolist() == [3, 4]
        assert calls(x, np.array([7.0, 8.0])).tolist() == [7, 8]
        assert [calls(narrow).dtype, calls(narrow).tolist()] == [np.float32, [2, 2]]
        assert float(calls(2.0)) == 2
        assert calls(np.array([1.0, 2.0])).backend.name == library
        with pytest.raises(TypeError, match="int64"):
            calls(ad.asarray([1, 2]))
    by_tree = ad.grad(lambda p: np.sum(p["w"] ** 2) * p.get("k", 1.0))
    for _ in range(2):
        assert by_tree({"w": x})["w"].tolist() == [2, 4]
        made = by_tree({"w": x, "k": 3.0})
        assert [made["w"].tolist(), float(made["k"])] == [[6, 12], 5]


def test_long_traces_forget_what_is_gone(library: str) -> None:
    counted: list[int] = []

    def f(x: Any) -> Any:
        trace = tracing.current()
        assert trace is not None
        for _ in range(5000):
            np.sum(x)
        counted.append(len(trace.born))
        return np.sum(x)

    assert ad.grad(f)(ad.asarray([1.0, 2.0])).tolist() == [1, 1]
    assert counted[0] < 4096


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
