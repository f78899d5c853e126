"""Sums along the axis before a short last one are NumPy's, bit for bit, by the kernel for them too."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from arraydispatch.api import creation
from arraydispatch.engine.host_blocks import column_sums, kernels
from arraydispatch.engine.nodes import Node
from arraydispatch.engine.recording import block_reports, reductions

pytestmark = pytest.mark.usefixtures("fused")


@pytest.fixture(autouse=True)
def compiled(fused: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel is there from the first call on, where there is a compiler."""
    monkeypatch.setattr(kernels, "HOT", 0)
    monkeypatch.setattr(kernels, "BESIDE", False)
    column_sums.of.cache_clear()
    reductions._form_along.cache_clear()


def bits(x: Any) -> tuple[Any, ...]:
    x = np.array(x.__array__())
    return x.shape, x.dtype, x.tobytes()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 9])
@pytest.mark.parametrize("keepdims", [False, True])
def test_bits(dtype: str, length: int, keepdims: bool) -> None:
    rng = np.random.default_rng(length)
    for rows, count in ((2, 3), (31, 129), (5, 1000), (300, 2)):
        x = (rng.normal(size=(rows, count, length)) * 10.0 ** rng.integers(-9, 9, (rows, count, length))).astype(dtype)
        for given in (x, x[:, ::2], x[::2], x[:, :, ::-1], np.full_like(x, -0.0), np.asfortranarray(x)):
            y = creation.asarray(given)
            assert bits(y.sum(axis=1, keepdims=keepdims)) == bits(given.sum(axis=1, keepdims=keepdims))
            made = (y * 2 - 1).sum(axis=1, keepdims=keepdims)
            assert bits(made) == bits((given * 2 - 1).sum(axis=1, keepdims=keepdims))


def test_it_is_recorded_and_compiled() -> None:
    made = (creation.array(np.ones((40, 50, 3))) * 2).sum(axis=1)
    assert type(made._v) is Node
    assert made[3, 1] == 100
    (found,) = [column_sums.of(np.dtype(float), 3, False)]
    assert callable(found._kernel) is kernels.can_compile()


@pytest.mark.parametrize("place", [0, 39])
def test_errors_are_numpys(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setattr(block_reports, "heeded", False)
    monkeypatch.setattr(kernels, "HOT", 0)
    monkeypatch.setattr(kernels, "BESIDE", False)
    x = np.ones((40, 50, 3))
    x[place, 7:9, 1] = 1e308, 1e308
    x[place, 7:9, 2] = np.inf, -np.inf
    said = []
    for given in (x, creation.array(x)):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            value = (given * 1).sum(axis=1)
            kept = bits(value)
        said.append(([str(warning.message) for warning in found], kept))
    assert said[0] == said[1]
    assert len(said[0][0]) == 2
