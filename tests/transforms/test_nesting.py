"""Transforms inside each other, in every order: against the derivatives of a function that are known."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import arraydispatch as ad

Function = Callable[[Any], Any]
Drawn = Callable[..., list[Any]]
X = np.array([0.7, -1.1, 1.9])


def quartic(x: Any) -> Any:
    """Elementwise, as all that the transforms below make of it."""
    return x**4 + np.sin(x)


DERIVATIVES: list[Function] = [
    quartic,
    lambda x: 4 * x**3 + np.cos(x),
    lambda x: 12 * x**2 - np.sin(x),
    lambda x: 24 * x - np.cos(x),
    lambda x: 24 + np.sin(x),
]


class Known(NamedTuple):
    """What a function and its derivatives are: ``factors[k] * DERIVATIVES[order + k]``."""

    order: int = 0
    factors: tuple[float, ...] = (1.0,) * len(DERIVATIVES)

    def derivative(self) -> Known:
        return Known(self.order + 1, self.factors[1:])

    def of_twice_the_derivative(self) -> Known:
        return Known(self.order, (self.factors[0], *(2 * k for k in self.factors[1:])))


def same(known: Known) -> Known:
    return known


def grad(f: Function) -> Function:
    return ad.grad(lambda x: np.sum(f(x)))


def value_and_grad(f: Function) -> Function:
    both = ad.value_and_grad(lambda x: np.sum(f(x)))
    return lambda x: both(x)[1]


def jacobian(f: Function) -> Function:
    rows = ad.jacobian(f)
    return lambda x: np.sum(rows(x), axis=-1) if np.ndim(x) else rows(x)


def around(f: Function) -> Function:
    """The variable of the outer function inside of the inner one."""
    return lambda x: ad.grad(lambda y: np.sum(x * f(y)))(x) / x


def vmap(f: Function) -> Function:
    return lambda x: ad.vmap(f)(x) if np.ndim(x) else ad.vmap(f)(np.reshape(x, (1,)))[0]


def in_place(f: Function) -> Function:
    def run(x: Any) -> Any:
        y = np.zeros_like(x)
        y[...] = x
        made = f(y)
        total = made * 0
        total += made
        return total

    return run


def own(f: Function) -> Function:
    """A derivative of the user's own, twice what it should be, that takes a derivative."""
    return ad.custom_gradient(f, lambda args, result, cotangent: (2 * cotangent * grad(f)(args[0]),))


def own_by_cotangent(f: Function) -> Function:
    """The same, with the cotangent inside of the function that is differentiated."""

    def back(args: Any, result: Any, cotangent: Any) -> Any:
        return (ad.grad(lambda x: np.sum(2 * f(x) * cotangent))(args[0]),)

    return ad.custom_gradient(f, back)


TRANSFORMS: dict[str, tuple[Callable[[Function], Function], Callable[[Known], Known]]] = {
    "grad": (grad, Known.derivative),
    "value_and_grad": (value_and_grad, Known.derivative),
    "jacobian": (jacobian, Known.derivative),
    "around": (around, Known.derivative),
    "vmap": (vmap, same),
    "jit": (ad.jit, same),
    "in_place": (in_place, same),
    "own": (own, Known.of_twice_the_derivative),
    "own_by_cotangent": (own_by_cotangent, Known.of_twice_the_derivative),
}


def check(names: tuple[str, ...]) -> str:
    """What is wrong with transforms inside each other, the outermost first, if anything."""
    f, known = quartic, Known()
    for name in reversed(names):
        transform, meaning = TRANSFORMS[name]
        f, known = transform(f), meaning(known)
    try:
        found = np.asarray(f(ad.asarray(X)))
        np.testing.assert_allclose(found, known.factors[0] * DERIVATIVES[known.order](X), rtol=1e-9, atol=1e-9)
    except Exception as error:
        return f"{' of '.join(names)}: {type(error).__name__}: {str(error).strip()[:300]}"
    return ""


@pytest.mark.parametrize("deep", [1, 2, 3])
@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_every_order(library: str, deep: int, drawn: Drawn) -> None:
    orders = list(itertools.product(TRANSFORMS, repeat=deep))
    shares = {"torch": (1, 1, 20), "jax": (1, 12, 180), "tensorflow": (1, 8, 90)}
    wrong = [said for names in drawn(orders, "jax", shares[library][deep - 1]) if (said := check(names))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    "names",
    [
        ("grad", "jit", "grad"),
        ("around", "jit", "jacobian"),
        ("grad", "jit", "own"),
        ("vmap", "grad", "own"),
        ("vmap", "around", "own_by_cotangent"),
        ("in_place", "grad", "own_by_cotangent"),
        ("grad", "vmap", "own"),
        ("jacobian", "vmap", "own_by_cotangent"),
        ("grad", "vmap", "jit", "own"),
        ("grad", "jit", "vmap", "own"),
        ("jit", "grad", "vmap", "vmap", "own"),
        ("vmap", "grad", "vmap", "own"),
    ],
    ids=" of ".join,
)
def test_what_was_wrong_once(library: str, names: tuple[str, ...]) -> None:
    assert check(names) == ""


@pytest.mark.parametrize("inner", ["vmap", "jacobian"])
def test_programs_of_many_examples_inside_many_examples(library: str, inner: str) -> None:
    """TensorFlow had wrong shapes for them."""
    assert not check(("vmap", "jit", inner))


KINKED = {
    "abs": lambda x: np.sum(np.abs(x - 1.05)), "norm": lambda x: np.linalg.norm(x, 1), "norm3": lambda x: np.linalg.norm(x, 3),
    "linear": np.sum, "constant": lambda x: 3.0 * np.sum(x > 0),
}  # fmt: skip
TWICE = {
    "grad": ad.grad, "hessian": ad.hessian, "gradient of a gradient": lambda f: ad.grad(lambda x: np.sum(ad.grad(f)(x) ** 2)),
    "value": lambda f: lambda x: ad.value_and_grad(lambda x: np.sum(ad.grad(f)(x) ** 2))(x)[0],
}  # fmt: skip


@pytest.mark.parametrize("fun", KINKED)
@pytest.mark.parametrize("twice", TWICE)
def test_derivatives_that_are_constant_can_be_read_and_written(fun, twice, library):
    """Zeros and ones that a library keeps without memory: what leaves a transform has some."""
    taken = TWICE[twice](KINKED[fun])
    x = np.array([0.7, 1.3, 2.1])
    wanted = np.asarray(taken(ad.asarray(x)))
    many = np.stack([x, x])
    for got, want in (
        (taken(ad.asarray(x)), wanted), (ad.jit(taken)(ad.asarray(x)), wanted), (ad.vmap(taken)(ad.asarray(many)), np.stack([wanted, wanted])),
        (ad.jit(ad.vmap(taken))(ad.asarray(many)), np.stack([wanted, wanted])),
    ):  # fmt: skip
        np.testing.assert_allclose(got, want, 1e-12, 1e-12)
        if want.ndim:
            want = np.array(want)
            got[..., :1] += 7
            want[..., :1] += 7
            np.testing.assert_allclose(got, want, 1e-12, 1e-12)


def test_the_elements_of_a_broadcast_result_are_apart(library):
    for transform in (
        ad.jit,
        lambda f: lambda x: ad.vmap(f)(x[None])[0],
        lambda f: lambda x: ad.grad(lambda x: (x[0], f(x)), has_aux=True)(x)[1],
    ):
        made = transform(lambda x: np.broadcast_to(x, (2, 2)))(ad.asarray([1.0, 2.0]))
        made[0, 0] = 7
        np.testing.assert_array_equal(made, [[7, 2], [1, 2]])
        made = transform(lambda x: np.lib.stride_tricks.sliding_window_view(x, 2))(ad.asarray([1.0, 2.0, 3.0]))
        made[0, 1] = 7
        np.testing.assert_array_equal(made, [[1, 7], [2, 3]])
