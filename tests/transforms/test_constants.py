"""stop_gradient and is_traced."""

from __future__ import annotations

import numpy as np

import arraydispatch as ad


def test_stopped_values_are_constant(library):
    x = ad.asarray([1.0, 2.0])
    g = ad.grad(lambda a: np.sum(ad.stop_gradient(a) * a + ad.stop_gradient(a**2)))(x)
    np.testing.assert_allclose(g, [1, 2])
    g = ad.grad(lambda p: np.sum(ad.stop_gradient(p)["a"] * p["a"]))({"a": x, "b": 3.0})
    np.testing.assert_allclose(g["a"], [1, 2])
    assert g["b"] == 0


def test_stopped_values_may_be_looked_at(library):
    x = ad.asarray([1.0, 2.0])
    g = ad.grad(lambda a: np.sum(a) * float(ad.stop_gradient(a[1])) * ad.stop_gradient(a).tolist()[0])(x)
    np.testing.assert_allclose(g, [2, 2])


def test_second_derivatives_stop_too(library):
    assert ad.grad(ad.grad(lambda x: ad.stop_gradient(x) ** 2 * x**2))(3.0) == 18


def test_what_is_no_array_stays(library):
    x = ad.asarray([1.0])
    tree = {"n": 3, "s": "text", "h": np.ones(2), "x": x, "none": None}
    made = ad.stop_gradient(tree)
    assert made["n"] == 3 and made["s"] == "text" and made["h"] is tree["h"] and made["none"] is None
    assert type(made["x"]) is ad.Array and made["x"].tolist() == [1]


def test_is_traced(library):
    seen = []

    def f(a, b):
        seen.append((ad.is_traced(a), ad.is_traced(a * 2), ad.is_traced([b, (a,)]), ad.is_traced(b)))
        seen.append((ad.is_traced(ad.stop_gradient(a)), ad.is_traced(np.ones(2)), ad.is_traced(3.0)))
        return np.sum(a * b)

    x = ad.asarray([1.0])
    assert not ad.is_traced(x)
    ad.grad(f)(x, x)
    assert seen == [(True, True, True, False), (False, False, False)]
    assert not ad.is_traced({"x": x, "n": x.native})


def test_numpy_has_nothing_to_stop():
    x = ad.wrap(np.ones(2))
    assert ad.stop_gradient(x).tolist() == [1, 1]
    assert not ad.is_traced(x)
