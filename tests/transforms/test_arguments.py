"""What a transformed function is given, and what it finds outside: told apart, kept together, and computed with as NumPy does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

Function = Callable[..., Any]


@pytest.mark.parametrize(
    "given",
    [(1, 1.0, True), (0.0, -0.0), ((1,), (1.0,), (True,)), (((2, 0.0),), ((2, -0.0),)), (0j, complex(0, -0.0))],
    ids=str,
)
def test_static_values_that_python_calls_equal(library: str, given: tuple[Any, ...]) -> None:
    def told(value: Any) -> Any:
        return told(value[-1]) if isinstance(value, tuple) else value

    def step(x: Any, value: Any) -> Any:
        value = told(value)
        return np.copysign(x, np.imag(value) if isinstance(value, complex) else value), np.arange(2) * value

    f = ad.jit(step, static_argnums=1)
    x = np.array([1.0, 2.0])
    for value in given:
        for found, wanted in zip(f(ad.asarray(x), value), step(x, value)):
            assert (found.dtype, found.tolist()) == (wanted.dtype, wanted.tolist())
            assert np.signbit(np.asarray(found).real).tolist() == np.signbit(wanted.real).tolist()


@dataclass
class Model:
    weight: Any
    power: Any = field(default=1, metadata={"static": True})


def test_static_fields_that_python_calls_equal(library: str) -> None:
    f = ad.jit(lambda model: model.weight * model.power)
    for power in (1, 1.0, True, 2):
        found, wanted = f(Model(ad.asarray([1, 2]), power)), np.array([1, 2]) * power
        assert (found.dtype, found.tolist()) == (wanted.dtype, wanted.tolist())


def test_a_static_nan_is_traced_once(library: str) -> None:
    runs = []
    f = ad.jit(lambda x, fill: (runs.append(fill), x * fill)[1], static_argnums=1)
    for _ in range(3):
        assert np.isnan(np.asarray(f(ad.asarray([1.0]), float("nan")))).all()
    assert len(runs) == 1


def written(a: Any, b: Any) -> Any:
    a[0] = 5.0
    return np.sum(b * b)


def test_an_ndarray_passed_twice_is_one_array(library: str) -> None:
    x = np.array([1.0, 2.0])
    assert ad.jit(written)(x, x) == 29.0
    assert x.tolist() == [5.0, 2.0]


@pytest.mark.parametrize("make", [ad.asarray, np.array], ids=["array", "ndarray"])
@pytest.mark.parametrize(
    "transform",
    [
        ad.grad,
        lambda f: ad.grad(f, argnums=1),
        lambda f: ad.grad(f, argnums=(0, 1)),
        ad.jacobian,
        lambda f: ad.vmap(f, in_axes=(0, 1)),
        lambda f: ad.vmap(f, in_axes=(0, None)),
    ],
    ids=["grad 0", "grad 1", "grad both", "jacobian", "vmap by axes", "vmap of one"],
)
def test_one_array_in_two_parts_is_not_written(library: str, transform: Function, make: Function) -> None:
    """What a transform takes for two arrays would not see what the function writes to one of them."""
    values = np.eye(2) + 1 if "in_axes" in str(transform.__code__.co_consts) else np.array([1.0, 2.0])
    x = make(values)
    with pytest.raises(ad.TraceError, match="shares memory"):
        transform(written)(x, x)
    assert np.array_equal(np.asarray(x), values)
    transform(written)(x, make(values))  # apart from the other it is written
    assert not np.array_equal(np.asarray(x), values)


NUMBERS: list[Function] = [
    lambda x, c: x * (1 - c) + x,
    lambda x, c: x * (0.5 * c),
    lambda x, c: x + 2 / c + c / 2,
    lambda x, c: x * 2**c + c**2,
    lambda x, c: np.where(c < 2, x, 0) + (c == 1),
    lambda x, c: x + np.maximum(1, c) + np.minimum(c, 1.5),
    lambda x, c: x + 7 % c + 7 // c + np.arctan2(1, c) + np.hypot(3, c) + np.copysign(1, c) + np.fmod(7, c),
    lambda x, c: x * (-0.0 + 0.0 * c) + np.logaddexp(0, c) + np.heaviside(0.5, c),
]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
@pytest.mark.parametrize("transform", [ad.jit, ad.vmap, lambda f: ad.jit(ad.vmap(f))], ids=["jit", "vmap", "jit vmap"])
def test_python_numbers_beside_arrays_from_outside(library: str, transform: Function, dtype: str) -> None:
    c = np.array([1, 2, 3], dtype)
    x = np.linspace(0.5, 2.5, 6, dtype="float32" if dtype == "float32" else "float64").reshape(2, 3)
    outside = ad.asarray(c)
    for f in NUMBERS:
        found, wanted = transform(lambda x, f=f: f(x, outside))(ad.asarray(x)), f(x, c)
        assert found.dtype == wanted.dtype
        assert np.allclose(np.asarray(found), wanted, rtol=1e-6 if found.dtype == np.float32 else 1e-13)


LOOKS: list[Function] = [
    lambda x, c, a: x * np.linalg.det(a) + np.linalg.solve(a, x) + np.linalg.eigvalsh(a + a.T),
    lambda x, c, a: x + np.searchsorted(c, [1.5, 2.5, 0.0]) + np.searchsorted(c, c),
    lambda x, c, a: x + np.cumsum(c - 1) + np.cumsum(a, axis=0)[0],
    lambda x, c, a: x + 2 ** np.searchsorted(c, c) + np.sort(c)[::-1] + np.median(c) + np.sqrt(c),
    lambda x, c, a: x * np.interp([1.2, 2.2, 9.0], c, a[0]) + np.polyval(c, x) + np.bincount([0, 1, 2, 2], minlength=3),
]


@pytest.mark.parametrize("f", LOOKS, ids=range(len(LOOKS)))
@pytest.mark.parametrize(
    "transform",
    [ad.jit, ad.vmap, lambda f: ad.jit(ad.vmap(f)), lambda f: ad.vmap(ad.jacobian(f))],
    ids=["jit", "vmap", "jit vmap", "vmap jacobian"],
)
def test_functions_that_look_at_what_is_outside(library: str, transform: Function, f: Function) -> None:
    c, a = np.array([1.0, 2.0, 3.0]), np.array([[2.0, 0.0, 1.0], [0.5, 3.0, 0.0], [0.0, 1.0, 4.0]])
    x = np.array([[0.5, 1.5, 2.0], [1.0, 0.0, -1.0]])
    outside, matrix = ad.asarray(c), ad.asarray(a)
    x = x[0] if transform is ad.jit else x
    found = np.asarray(transform(lambda x: f(x, outside, matrix))(ad.asarray(x)))
    if transform is ad.jit:
        assert np.allclose(found, f(x, c, a))
        return
    wanted = np.stack([f(row, c, a) for row in x])
    if found.shape != x.shape:
        wanted = np.stack([[(f(row + d, c, a) - f(row - d, c, a)) / 2e-6 for d in 1e-6 * np.eye(3)] for row in x])
        assert np.allclose(found, wanted.swapaxes(1, 2), atol=1e-7)
    else:
        assert np.allclose(found, wanted)


PLACES: list[Function] = [
    lambda x, i: np.sum(x[i] ** 2),
    lambda x, i: np.sum(np.take(x, i) ** 3),
    lambda x, i: np.sum(x[i, i]) if x.ndim == 2 else np.sum(x[i]),
    lambda x, i: np.sum(np.where(i > 0, x[i], 2 * x[i])),
    lambda x, i: np.sum(np.sqrt(np.asarray(i.tolist()) + 1.0) * x[i]),
]


@pytest.mark.parametrize("f", PLACES, ids=range(len(PLACES)))
def test_places_from_outside_in_gradients_by_example(library: str, f: Function) -> None:
    i = np.array([0, 2, 1])
    places = ad.asarray(i)
    x = np.array([[1.0, 2.0, 3.0], [0.5, -1.0, 4.0]])
    found = ad.vmap(ad.grad(f), in_axes=(0, None))(ad.asarray(x), places)
    step = 1e-6 * np.eye(3)
    wanted = [[(f(row + d, i) - f(row - d, i)) / 2e-6 for d in step] for row in x]
    assert np.allclose(np.asarray(found), wanted, atol=1e-8)
    each = [np.asarray(ad.grad(f)(ad.asarray(row), places)) for row in x]
    assert np.allclose(np.asarray(found), each)


JOINS: list[Function] = [
    lambda x: np.array([x[0], x[1]]),
    lambda x: np.asarray([x[0], 1.0]),
    lambda x: np.sum([x[0], x[1]]),
]


@pytest.mark.parametrize("transform", [ad.jit, ad.grad], ids=["jit", "grad"])
@pytest.mark.parametrize("f", JOINS, ids=["array", "asarray", "list"])
def test_joins_that_are_numpys_own_say_what_to_write(library: str, f: Function, transform: Function) -> None:
    with pytest.raises(ad.TraceError, match=r"test_arguments.py:\d+ .*np\.stack or ad\.asarray"):
        transform(f)(ad.asarray([1.0, 2.0]))
    other = transform(lambda x: ad.asarray([x[0], 2 * x[1]]).sum() + np.stack([x[0], x[1]]).sum())
    assert np.sum(other(ad.asarray([1.0, 2.0]))) == (8.0 if transform is ad.jit else 5.0)


@pytest.mark.parametrize("transform", [ad.jit, ad.grad, ad.vmap], ids=["jit", "grad", "vmap"])
def test_a_traced_number_is_not_formatted(library: str, transform: Function) -> None:
    with pytest.raises(ad.TraceError, match=r"test_arguments.py:\d+ in .*<lambda>"):
        transform(lambda x: f"{x.sum():.3f}")(ad.asarray([[1.0, 2.0]]))
    assert "traced" in ad.jit(lambda x: f"{x}")(ad.asarray([1.0]))


STEPS: list[Function] = [
    lambda x: x // 0.7 * x + 3.7 // x,
    lambda x: np.divmod(x, 0.4)[0] * x + np.divmod(x, 0.4)[1] ** 2,
    lambda x: np.floor_divide(x, x[::-1]) * x**2,
]


@pytest.mark.parametrize("f", STEPS, ids=range(len(STEPS)))
@pytest.mark.parametrize(
    "transform",
    [
        ad.grad,
        lambda f: ad.jit(ad.grad(f)),
        lambda f: ad.grad(ad.jit(f)),
        lambda f: lambda x: ad.vmap(ad.grad(f))(np.stack([x, x]))[1],
    ],
    ids=["grad", "jit grad", "grad jit", "vmap grad"],
)
def test_rounded_quotients_are_constants_of_derivatives(library: str, transform: Function, f: Function) -> None:
    x = np.array([0.5, 1.3, 2.9])
    found = np.asarray(transform(lambda x: np.sum(f(x)))(ad.asarray(x)))
    wanted = [(np.sum(f(x + d)) - np.sum(f(x - d))) / 2e-6 for d in 1e-6 * np.eye(3)]
    assert np.allclose(found, wanted, atol=1e-7)


def _filled_by_places(x: Any) -> Any:
    y = np.zeros_like(x)
    y.flat[-1] = x.flat[0] * 2
    y.T.flat[0] = x[0, 1]
    y.flat[1:3] = x.flat[2]
    return y


def _through_lines(x: Any) -> Any:
    y = np.apply_along_axis(lambda v: v * v.sum(), 0, x) * 1.0
    line = y.reshape(-1)  # of an array in Fortran order, which NumPy's is, a copy
    line[::2] = 0.0
    return y


@pytest.mark.parametrize("f", [_filled_by_places, _through_lines], ids=["flat", "apply_along_axis"])
def test_writes_to_lines_of_elements(backend: str, f: Function) -> None:
    x = np.arange(1.0, 7.0).reshape(2, 3)
    with ad.backend(backend) as chosen:
        if "compiler" in chosen.OPTIONS:
            chosen.configure(compiler="eager")
        for transform in (lambda f: f, ad.jit):
            assert np.asarray(transform(f)(ad.asarray(x))).tolist() == f(x.copy()).tolist()
        if backend != "numpy":
            found = np.asarray(ad.grad(lambda x: np.sum(f(x) ** 2))(ad.asarray(x)))
            steps = 1e-6 * np.eye(6).reshape(6, 2, 3)
            wanted = [(np.sum(f(x + d) ** 2) - np.sum(f(x - d) ** 2)) / 2e-6 for d in steps]
            assert np.allclose(found.ravel(), wanted, atol=1e-5)
