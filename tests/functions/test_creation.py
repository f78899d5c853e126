"""Creation like arrays, ranges and grids, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import oracle
from ..rows import each

CASES: dict[Any, list[str]] = {
    np.zeros_like: [
        "np.zeros_like(f34)",
        "np.zeros_like(i34, dtype=float)",
        "np.zeros_like(f34, shape=(2, 2))",
        "np.zeros_like(f0)",
        "np.zeros_like(b34)",
        "np.zeros_like(c34)",
        "np.zeros_like(f34, shape=3)",
        "np.zeros_like(f34, shape=-1)",
        "np.zeros_like(f34, order='X')",
    ],
    np.ones_like: [
        "np.ones_like(f34)",
        "np.ones_like(i34, float)",
        "np.ones_like(f34, shape=())",
        "np.ones_like(h34)",
    ],
    np.empty_like: [
        "np.zeros_like(np.empty_like(f34))",
        "np.zeros_like(np.empty_like(f34, dtype=int))",
    ],
    np.full_like: [
        "np.full_like(f34, 3)",
        "np.full_like(i34, 2.7)",
        "np.full_like(u34, 300)",
        "np.full_like(f34, f34[0])",
        "np.full_like(f34, [1, 2])",
        "np.full_like(f34, np.nan)",
        "np.full_like(i34, np.nan)",
        "np.full_like(f34, 1, dtype=bool)",
        "np.full_like(f34, 1j)",
    ],
    np.linspace: [
        "np.linspace(f0, 3, 5)",
        "np.linspace(f5, i5, 4)",
        "np.linspace(f5, 1, 4, axis=-1)",
        "np.linspace(f34[0], f34[1], 3, retstep=True)",
        "np.linspace(f0, 4, 5, endpoint=False)",
        "np.linspace(f0, 4, 1)",
        "np.linspace(f0, 4, 0)",
        "np.linspace(f0, 9, 5, dtype=int)",
        "np.linspace(f0, 3, -1)",
        "np.linspace(g34[0], 2, 3)",
        "np.linspace(i0, i0, 3)",
        "np.linspace(c5, 1, 3)",
        "np.linspace(f0, 3, 2.0)",
        "np.linspace(f0, 3, 3, retstep=True)",
        "np.linspace(f5, 1, 4, axis=2)",
    ],
    np.logspace: [
        "np.logspace(f0, 3, 4)",
        "np.logspace(f0, 3, 4, base=2)",
        "np.logspace(f5, 1, 3, axis=1)",
        "np.logspace(f0, 3, 4, dtype=np.float32)",
        "np.logspace(f0, 3, 4, base=p5)",
    ],
    np.geomspace: [
        "np.geomspace(f0, 30, 4)",
        "np.geomspace(p5, 3, 4)",
        "np.geomspace(p5, 3, 4, axis=-1)",
        "np.geomspace(f0, 0, 4)",
        "np.geomspace(-p5, -3, 4)",
        "np.geomspace(f0, 3, 4, endpoint=False)",
        "np.geomspace(i0, 100, 3, dtype=int)",
        "np.geomspace(f0, 3, 1)",
        "np.geomspace(f0, 3, 0)",
    ],
    np.meshgrid: [
        "np.meshgrid(f5, i5)",
        "np.meshgrid(f5, i5, indexing='ij')",
        "np.meshgrid(f5, i5, sparse=True)",
        "np.meshgrid(f5)",
        "np.meshgrid(f5, f0, i5)",
        "np.meshgrid(f5, [1, 2], indexing='zz')",
        "np.meshgrid(f5, [1, 2], copy=False)",
    ],
}


@each("expression", CASES)
def test_as_numpy(backend: str, expression: str) -> None:
    oracle.check(expression, backend)
