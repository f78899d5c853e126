"""Each library that has transforms."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import arraydispatch as ad


def pytest_itemcollected(item: pytest.Item) -> None:
    """Each has programs of its own, which JAX compiles and TensorFlow traces: an ordinary run draws a third of those."""
    item.add_marker(pytest.mark.compiles(3))
    item.add_marker(pytest.mark.traces(3))


@pytest.fixture(params=["jax", "torch", "tensorflow"])
def library(request: pytest.FixtureRequest) -> Iterator[str]:
    """A library with transforms, as the default backend of this test.

    torch runs what it recorded operation by operation: what its own compiler makes of that takes 10 seconds a program,
    and has a test of its own (``test_jit.py``).
    """
    if request.param not in ad.available_backends():
        pytest.skip(f"{request.param} is not installed")
    with ad.backend(request.param) as chosen:
        if "compiler" in chosen.OPTIONS:
            chosen.configure(compiler="eager")
        yield request.param


def whole(f: Callable[..., Any], library: str) -> Callable[..., Any]:
    """A function, on JAX as one program: operation by operation JAX compiles a program for each, dozens for one derivative."""
    return ad.jit(f) if library == "jax" else f


class Counted:
    """A function that counts how often it runs."""

    def __init__(self, fun):
        self.fun, self.runs = fun, 0

    def __call__(self, *args, **kwargs):
        self.runs += 1
        return self.fun(*args, **kwargs)
