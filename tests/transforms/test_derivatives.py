"""grad, value_and_grad, jacobian, hessian: what they take, what they give, what they refuse. Values: test_gradient_table,
test_derivative_values, test_special_points."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.common import tracing


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
    with pytest.raises(TypeError, match="positional argument 2; it was called with 1"):
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
