"""Logic functions, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import oracle
from ..rows import each

CASES: dict[Any, list[str]] = {
    np.all: [
        "np.all(m34)",
        "np.all(c34.imag * 1j + 0.5j, axis=0)",
        "np.all(m34, axis=0)",
        "np.all(f34, axis=(0, 1))",
        "np.all(m34, keepdims=True)",
        "np.all(m34, axis=1, where=b34)",
        "np.all(i34, axis=-1)",
        "np.all(e0)",
        "np.all(e03, axis=0)",
        "np.all(f0)",
        "np.all(nan6)",
        "np.all(m34, axis=2)",
        "np.all(c34)",
        "np.all(m34, axis=0, out=np.zeros_like(m34[0]))",
        "np.all(f34, where=[True, False, True, True])",
    ],
    np.any: [
        "np.any(c34.imag * 1j + 0.5j, axis=0)",
        "np.any(m34)",
        "np.any(m34, axis=0)",
        "np.any(i34, axis=(0, -1), keepdims=True)",
        "np.any(m34, axis=1, where=b34)",
        "np.any(e0)",
        "np.any(f0)",
        "np.any(m34, axis=-3)",
        "np.any(u34, axis=())",
        "np.any(h34, axis=1)",
    ],
    np.isclose: [
        "np.isclose(f34, f34 + 1e-9)",
        "np.isclose(f34, f34 + 1e-3)",
        "np.isclose(f34, g34)",
        "np.isclose(i34, i34)",
        "np.isclose(nan6, nan6)",
        "np.isclose(nan6, nan6, equal_nan=True)",
        "np.isclose(f34, 1.0)",
        "np.isclose(1.0, f34)",
        "np.isclose(f34, i34, rtol=1.0)",
        "np.isclose(f34, f34[0], atol=2)",
        "np.isclose(f0, 2.5)",
        "np.isclose(c34, c34)",
        "np.isclose(f34, np.inf)",
        "np.isclose(f34 / 0, f34 / 0)",
        "np.isclose(u34, 3)",
        "np.isclose(f34, f34, rtol=p5[:4])",
        "np.isclose(f34, f5)",
        "np.isclose(g34, g34, atol=f34 ** 2)",
        "np.isclose(b34, b34)",
        "np.isclose(f34, f34.tolist())",
        "np.isclose(i34, 2)",
    ],
    np.allclose: [
        "np.allclose(f34, f34)",
        "np.allclose(f34, f34 + 1)",
        "np.allclose(nan6, nan6)",
        "np.allclose(nan6, nan6, equal_nan=True)",
        "np.allclose(f34, g34)",
        "np.allclose(e0, e0)",
        "np.allclose(f34, f34[0], 1e9)",
    ],
    np.array_equal: [
        "np.array_equal(f34, f34)",
        "np.array_equal(f34, f5)",
        "np.array_equal(f34, f34.tolist())",
        "np.array_equal(nan6, nan6)",
        "np.array_equal(nan6, nan6, equal_nan=True)",
        "np.array_equal(i5, f5)",
        "np.array_equal(f0, 2.5)",
        "np.array_equal(e0, e0)",
        "np.array_equal(i5, i5, equal_nan=True)",
        "np.array_equal(f34, f34[0])",
    ],
    np.array_equiv: [
        "np.array_equiv(f34, f34)",
        "np.array_equiv(f34[:1], f34[0])",
        "np.array_equiv(f34, f5)",
        "np.array_equiv(i5, 3)",
    ],
    np.iscomplex: [
        "np.iscomplex(c34)",
        "np.iscomplex(f34)",
        "np.iscomplex(f0)",
        "np.iscomplex(c34.real + 0j)",
        "np.iscomplex(i5)",
    ],
    np.isreal: [
        "np.isreal(c34)",
        "np.isreal(f34)",
        "np.isreal(f0)",
        "np.isreal(c5 * 0)",
    ],
    np.isposinf: [
        "np.isposinf(f34 / 0)",
        "np.isposinf(i34)",
        "np.isposinf(c34)",
        "np.isposinf(f0)",
        "np.isposinf(nan6)",
        "np.isposinf(h34)",
    ],
    np.isneginf: [
        "np.isneginf(-nan6 / 0)",
        "np.isneginf(u34)",
        "np.isneginf(c34)",
        "np.isneginf(f0)",
    ],
}


@each("expression", CASES)
def test_as_numpy(backend: str, expression: str) -> None:
    oracle.check(expression, backend)
