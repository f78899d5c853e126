"""Functions that a library's compiler writes by itself, at arguments where its own formulas end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

TOPS = [1, 1, 1, np.inf, -np.inf, 0, -0.0, 2.5, -2.5, 1, 6, 0.3, -0.3, 7, 1e30, 5, -0.0, -5, np.nan]
BOTTOMS = [-np.inf, np.inf, 0, 1, 2, 0, 2, -np.inf, np.inf, 0.1, 0.1, 0.1, 0.1, 0.7, 1e-10, -0.0, 3, np.inf, 1]
"""Their quotients are infinite, zeros of both signs, or just below an integer to which they are rounded."""
BASES = [np.inf, np.inf, -np.inf, 0, -0.0, 2, np.nan, 1, 0.5, 3]
EXPONENTS = [0, -0.0, 0, 0, 0, 0, 0, np.inf, -np.inf, 2.5]
FAR = [1, 1 + 1e-6, 1.5, 40, 2.0**28, 2.0**29, 1e19, 1e25, 3e38, np.inf, 0.5, -1, -3, -1e25, -np.inf, np.nan, 0]

CALLS: dict[str, tuple[Callable[..., Any], tuple[list[float], ...]]] = {
    "//": (lambda x, y: (x // y, np.divmod(x, y)[0], x // 0.1, 7.5 // y), (TOPS, BOTTOMS)),
    "**": (lambda x, y: (x**y, np.float_power(x, y)), (BASES, EXPONENTS)),
    "arccosh": (lambda x: (np.arccosh(x),), (FAR,)),
}


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", CALLS)
def test_values_of_programs(name: str, backend: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    call, arguments = CALLS[name]
    chosen, given = ad.backend(backend), [np.array(values, dtype) for values in arguments]
    if backend == "torch":
        monkeypatch.setattr(chosen.transforms, "compiler", "inductor")
    limit = 0.0 if name == "//" else 1e-14 if dtype == "f8" else 1e-6
    with chosen, np.errstate(all="ignore"):
        for got, want in zip(ad.jit(call)(*map(ad.asarray, given)), call(*given)):
            assert got.dtype == want.dtype
            np.testing.assert_allclose(np.asarray(got), want, rtol=limit)
            zero = want == 0
            np.testing.assert_array_equal(np.signbit(np.asarray(got)[zero]), np.signbit(want[zero]))
