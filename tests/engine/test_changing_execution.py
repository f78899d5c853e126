"""Execution changes while arrays and their plans live on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.engine.compiled_blocks.values import Deferred


@pytest.fixture(params=["jax", "torch", "tensorflow"])
def library(request: pytest.FixtureRequest, nobody_listens: None) -> Iterator[str]:
    """A library whose compiler is not asked."""
    with ad.backend(request.param):
        yield request.param


CALLS: dict[str, Callable[[Any], Any]] = {
    "a ufunc of two": lambda x: x + 1.0,
    "a ufunc of two arrays": lambda x: x * x,
    "a ufunc of one": np.exp,
    "an operator": lambda x: -x,
    "a reduction": lambda x: x.sum(),
    "a function that reduces": np.max,
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("before", ["eager", None, "traced"])
def test_calls_that_were_made_before_are_recorded(library: str, before: Any, call: Callable[[Any], Any]) -> None:
    x = ad.asarray([1.0, 2.0, 3.0])
    if before == "traced":
        with ad.execution("compiled"):
            ad.jit(lambda y: y + call(x))(ad.asarray(1.0))
    else:
        with ad.execution(before):
            call(x), call(x)
    with ad.execution("compiled"):
        made = call(x)
        assert isinstance(made._v, Deferred)
        np.testing.assert_allclose(np.asarray(made), call(np.array([1.0, 2.0, 3.0])), rtol=1e-14)


@pytest.mark.parametrize("function", [np.roots, np.poly])
def test_functions_that_ask_elements_are_numpys_in_each_execution(library: str, function: Any) -> None:
    for way in ("eager", "compiled", None):
        with ad.execution(way):
            x = ad.asarray([1.0, -3.0, 2.0])
            for argument in (x, x + 0, [x[0], x[1], x[2]], (x[0], -3, 2.0)):
                made = function(argument)
                assert type(made) is np.ndarray
                np.testing.assert_allclose(made, function(np.array([1.0, -3.0, 2.0])))
