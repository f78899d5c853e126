"""The arrays that a transformed function returns are new ones: a write to one changes no argument, no array from outside, no other result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

X = np.arange(1.0, 7.0).reshape(2, 3) * 2
TRANSFORMS: dict[str, Callable[[Any], Any]] = {
    "jit": ad.jit,
    "vmap": ad.vmap,
    "auxiliary data": lambda f: lambda x: ad.value_and_grad(lambda y: ((y**2).sum(), f(y)), has_aux=True)(x)[0][1],
    "jit of vmap": lambda f: ad.jit(ad.vmap(f)),
}
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "copy": lambda x: x.copy(),
    "astype": lambda x: x.astype(float),
    "a copy of a slice": lambda x: x[1:].copy(),
    "concatenate": lambda x: np.concatenate([x]),
    "flatten": lambda x: x.flatten(),
    "roll by 0": lambda x: np.roll(x, 0),
    "pad by 0": lambda x: np.pad(x, 0),
    "tile once": lambda x: np.tile(x, 1),
    "full_like": lambda x: np.full_like(x, x),
    "broadcast": lambda x: np.broadcast_to(x, np.shape(x)).copy(),
    "two copies": lambda x: (x.copy(), x.copy()),
    "a result and its copy": lambda x: (y := x * 2, y.copy()),
    "written, and a copy": lambda x: (x.__iadd__(0), x.copy())[::-1],
}


def _transform(name: str, backend: str) -> Callable[[Any], Any]:
    if name == "auxiliary data" and backend == "numpy":
        pytest.skip("inapplicable: NumPy has no derivatives")
    return TRANSFORMS[name]


def _parts(made: Any) -> list[Any]:
    return list(made) if isinstance(made, tuple) else [made]


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_write_to_a_result_reaches_nothing_else(transform: str, name: str, backend: str) -> None:
    with ad.backend(backend):
        x = ad.asarray(X.copy())
        made = _parts(_transform(transform, backend)(FUNCTIONS[name])(x))
        before = [np.array(part) for part in made]
        made[0] += 100
        np.testing.assert_array_equal(np.asarray(x), X)
        for part, was in zip(made[1:], before[1:]):
            np.testing.assert_array_equal(np.asarray(part), was)


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_arrays_from_outside_and_constants_stay(transform: str, backend: str) -> None:
    with ad.backend(backend):
        x, outside = ad.asarray(X.copy()), ad.asarray(X.copy()) * 1

        def f(y: Any) -> Any:
            return outside.copy(), ad.asarray([1.0, 2.0]), y * 2

        transformed = _transform(transform, backend)(f)
        for _ in range(2):
            made = transformed(x)
            np.testing.assert_array_equal(np.asarray(made[0]).reshape(-1, 2, 3)[-1], X)
            assert np.asarray(made[1]).reshape(-1, 2)[-1].tolist() == [1.0, 2.0]
            for part in made:
                part += 100
        np.testing.assert_array_equal(np.asarray(outside), X)
        np.testing.assert_array_equal(np.asarray(x), X)
