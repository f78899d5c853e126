"""A user's module, which type checkers read with the installed package; see tests/test_installed.py."""

from typing import assert_type

import numpy as np

import arraydispatch as ad


def energy(x: ad.Array) -> ad.Array:
    """Compute an energy."""
    return ad.asarray(np.sum(x**2))


x = ad.asarray([1.0, 2.0], backend="numpy")
assert_type(x, ad.Array)
assert_type(x.shape, tuple[int, ...])
assert_type(x.ndim, int)
assert_type(ad.convert(x, "jax"), ad.Array)
assert_type(ad.available_backends(), list[str])
assert_type(ad.jit(energy)(x), ad.Array)
ad.grad(energy)(x)
with ad.backend("numpy"), ad.precision(32), ad.profile() as p:
    np.sin(x)
assert_type(p.calls_on_backend, int)
ad.asarray(1.0, bakend="jax")  # wrong on purpose
