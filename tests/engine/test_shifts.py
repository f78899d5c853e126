"""``np.roll`` in blocks: NumPy's bits, whatever is computed before and after, and whose memory results take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from arraydispatch.api import creation
from arraydispatch.array import Array
from arraydispatch.engine.nodes import Node

pytestmark = pytest.mark.usefixtures("fused")

SHAPES = ((5000,), (70, 61), (61, 7, 11), (1, 3000), (2, 5, 4, 90), (3000, 1))
SHIFTS: tuple[tuple[Any, ...], ...] = (
    (1,), (-1, 0), (3, -1), (0, 0), (10_000, 0), (-7, 0), ((1, 2), (0, 1)), ((1, 1), (0, 0)), (2, (0, 1)), ((1, -2), 0),
    ((3, -3), (0, 0)), (1, 7), (1, 0.5), (1.0, 0), ((), ()), (np.int64(2), 0), ((1, 2, 3), (0, 1)),
)  # fmt: skip


def both(body: Callable[..., Any], *values: np.ndarray[Any, Any]) -> None:
    """Hold what a program makes of arrays against what it makes of ndarrays."""

    def outcome(*given: Any) -> Any:
        try:
            made = body(*given)
        except Exception as error:
            return type(error), str(error)
        parts = made if isinstance(made, tuple) else (made,)
        host = [np.array(part.__array__(), order="K") if isinstance(part, Array) else part for part in parts]
        return [(x.dtype, x.shape, x.strides, x.tobytes()) for x in map(np.asarray, host)]

    expected = outcome(*[x.copy("K") for x in values])
    assert outcome(*[creation.array(x) for x in values]) == expected


def values(shape: tuple[int, ...], dtype: str = "float64") -> np.ndarray[Any, Any]:
    return (np.random.default_rng(3).normal(size=shape) * 50).astype(dtype)


@pytest.mark.parametrize("fused", ["threads", "kernels"], indirect=True)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("shift", SHIFTS, ids=str)
def test_as_numpy(shape: tuple[int, ...], shift: tuple[Any, ...]) -> None:
    x = values(shape)
    both(lambda a: np.roll(a, *shift), x)
    both(lambda a: np.roll(a * 2, *shift) - a, x)
    both(lambda a: np.roll(a, *shift) + np.roll(a + 1, *shift) * np.roll(np.roll(a, *shift), *shift), x)
    both(lambda a: np.roll(np.asfortranarray(a), *shift) + 1, x)
    both(lambda a: np.roll(a[::2], *shift) * 3, x)
    both(lambda a: np.roll(a[..., ::-1], *shift) * 3, x)
    both(lambda a: np.roll(a.T, *shift) * 3, x)


@pytest.mark.parametrize("fused", ["threads", "kernels"], indirect=True)
@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex128", "int64"])
def test_programs(dtype: str) -> None:
    def diffuse(u: Any, v: Any) -> Any:
        for _ in range(5):
            around = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
            u = around * v + u
            v = np.roll(v, (1, 2), (0, 1)) + u.sum(axis=1, keepdims=True).astype(v.dtype)
        return u, v, u.sum()

    def in_place(u: Any, v: Any) -> Any:
        for _ in range(4):
            left = np.roll(u, 1, 0)
            u += left
            v[1:] = np.roll(u, -1, 0)[:-1]
            u = np.roll(v, 2, 1) | u if u.dtype.kind in "bi" else np.roll(v, 2, 1) - u
        return u, v, left

    def dead(u: Any, v: Any) -> Any:
        for _ in range(6):
            u = np.roll(u, 1, 0) + np.roll(u + v, 3, 0) + np.roll(u, -1, 0)
        return u

    x, y = values((90, 41), dtype), values((90, 41), dtype)
    for program in (diffuse, in_place, dead):
        both(program, x, y)


def test_it_is_recorded() -> None:
    made = np.roll(creation.array(values((70, 61))), 1, 0)
    assert type(made._v) is Node
    assert np.roll(creation.array(values((70, 61))) * 2, (1, 1), (0, 1)).shape == (70, 61)


@pytest.mark.parametrize("fused", ["threads", "kernels"], indirect=True)
def test_random_programs() -> None:
    """Chains of shifts and sums of several live and dead arrays, so that results take memory of what is read elsewhere."""
    for seed in range(60):
        draw = np.random.default_rng(seed)
        steps = [
            (draw.integers(0, 4), draw.integers(0, 4), int(draw.integers(-9, 9)), int(draw.integers(0, 3)))
            for _ in range(25)
        ]

        def program(*given: Any, steps: Any = steps) -> Any:
            held = list(given)
            for to, of, shift, axis in steps:
                made = held[of] * 1.5 + held[to] if axis == 2 else np.roll(held[of], shift, axis)
                held[to] = made - held[of] if shift % 3 else made
            return tuple(held)

        both(program, *[values((64, 33)) + i for i in range(4)])
