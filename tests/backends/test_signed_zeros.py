"""A Python scalar of either zero is that zero, whichever was used before."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

from ..rows import each

REALS = (0.0, -0.0, 0.0)
COMPLEX = (0j, complex(-0.0, 0.0), complex(0.0, -0.0), complex(-0.0, -0.0), complex(-0.0, 1.0), complex(0.0, 1.0))
UFUNCS = (np.add, np.subtract, np.multiply, np.divide, np.copysign, np.arctan2, np.power, np.nextafter)


def _signs(x: Any) -> list[Any]:
    x = np.asarray(x)
    parts = [x.real, x.imag] if x.dtype.kind == "c" else [x]
    return [np.where(np.isnan(part), False, np.signbit(part)).tolist() for part in parts]


@each("dtype", ["float64", "float32", "complex128"])
@each("ufunc", UFUNCS)
def test_zero_keeps_its_sign(backend: str, ufunc: np.ufunc, dtype: str) -> None:
    x = np.array([1.0, -1.0, 2.0], dtype)
    a = ad.asarray(x, backend=backend)
    complex_ = x.dtype.kind == "c"
    if complex_ and ufunc not in (np.add, np.subtract):
        pytest.skip("inapplicable: products and quotients of complex zeros are a matter of the formula")
    with np.errstate(all="ignore"):
        for zero, left in itertools.product(COMPLEX if complex_ else REALS, (False, True)):
            want, got = (ufunc(zero, v) if left else ufunc(v, zero) for v in (x, a))
            assert _signs(got) == _signs(want), (zero, left)
