"""Set operations, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import oracle
from ..rows import each

CASES: dict[Any, list[str]] = {
    np.unique: [
        "np.unique(ties7)",
        "np.unique(f34)",
        "np.unique(nan6)",
        "np.unique(nan6, equal_nan=False)",
        "np.unique(ties7, return_index=True)",
        "np.unique(ties7, return_inverse=True)",
        "np.unique(ties7, return_counts=True)",
        "np.unique(ties7, True, True, True)",
        "np.unique(nan6, True, True, True)",
        "np.unique(i34, return_inverse=True)",
        "np.unique(b34)",
        "np.unique(u34, return_counts=True)",
        "np.unique(k5[:, None] * [1, 2], axis=0)",
        "np.unique(i34 % 2, axis=0, return_inverse=True)",
        "np.unique(i34 % 2, axis=1, return_index=True, return_counts=True)",
        "np.unique(i34, axis=2)",
        "np.unique(e0)",
        "np.unique(e0, True, True, True)",
        "np.unique(f0)",
        "np.unique(f0, return_inverse=True)",
        "np.unique(ties7, axis=0)",
        "np.unique(c34)",
        "np.unique(i234 % 2, axis=1, return_inverse=True)",
        "np.unique(h34)",
        "np.unique(e03, axis=1)",
        "np.unique(np.concatenate([f34, f34]), axis=-2, return_counts=True)",
    ],
    np.unique_all: [
        "np.unique_all(ties7)",
        "np.unique_all(nan6)",
        "np.unique_all(i34)",
    ],
    np.unique_counts: [
        "np.unique_counts(ties7)",
        "np.unique_counts(nan6)",
    ],
    np.unique_inverse: [
        "np.unique_inverse(i34)",
        "np.unique_inverse(nan6)",
    ],
    np.unique_values: [
        "np.sort(np.unique_values(ties7))",
        "np.sort(np.unique_values(nan6))",
    ],
    np.isin: [
        "np.isin(i34, [1, 2])",
        "np.isin(i34, i5)",
        "np.isin(f34, f34[0])",
        "np.isin(f34, f34)",
        "np.isin(i34, k5, invert=True)",
        "np.isin(i34, i5, kind='table')",
        "np.isin(s34, np.array([-128, 127], dtype=np.int8), kind='table')",
        "np.isin(u34, np.array([-128, 0, 127], dtype=np.int8), kind='table')",
        "np.isin(b34, [True], kind='table')",
        "np.isin(i34, e0)",
        "np.isin(nan6, [np.nan, 0.0])",
        "np.isin(nan6, np.append(f34, np.nan))",
        "np.isin(i34, 3)",
        "np.isin(f0, [2.5])",
        "np.isin(b34, [True])",
        "np.isin(i34, [1], kind='table')",
        "np.isin(f34, [1], kind='table')",
        "np.isin(i34, [1], kind='bad')",
        "np.isin(c34, c34[0])",
        "np.isin(u34, i34)",
        "np.isin(e0, [1])",
        "np.isin([1, 2, 30], i34)",
        "np.isin(i34, f34)",
        "np.isin(i5, i234, assume_unique=True)",
    ],
    np.intersect1d: [
        "np.intersect1d(i34, i5)",
        "np.intersect1d(ties7, k5, return_indices=True)",
        "np.intersect1d(i5, e0)",
        "np.intersect1d(f34, f34[0])",
        "np.intersect1d(np.unique(i5), np.unique(k5), assume_unique=True, return_indices=True)",
        "np.intersect1d(i5, [1, 4])",
        "np.intersect1d(e0, e0, return_indices=True)",
    ],
    np.setxor1d: [
        "np.setxor1d(i5, k5)",
        "np.setxor1d(ties7, [1])",
        "np.setxor1d(e0, e0)",
        "np.setxor1d(i34, i5)",
        "np.setxor1d(np.unique(i5), np.unique(k5), assume_unique=True)",
    ],
    np.union1d: [
        "np.union1d(i5, k5)",
        "np.union1d(i34, [99])",
        "np.union1d(f5, i5)",
        "np.union1d(e0, e0)",
    ],
    np.setdiff1d: [
        "np.setdiff1d(i5, k5)",
        "np.setdiff1d(i34, [1, 2])",
        "np.setdiff1d(ties7, e0)",
        "np.setdiff1d(f34, f34[0])",
        "np.setdiff1d(i5, k5, assume_unique=True)",
    ],
    np.ediff1d: [
        "np.ediff1d(f34)",
        "np.ediff1d(i5)",
        "np.ediff1d(i5, to_end=[7, 8])",
        "np.ediff1d(i5, to_begin=-1, to_end=9)",
        "np.ediff1d(i5, to_begin=1.5)",
        "np.ediff1d(u34)",
        "np.ediff1d(e0)",
        "np.ediff1d(f0)",
        "np.ediff1d(b5)",
        "np.ediff1d(f5, to_end=i5)",
        "np.ediff1d(f0, to_begin=1, to_end=2)",
    ],
}


@each("expression", CASES)
def test_as_numpy(backend: str, expression: str) -> None:
    oracle.check(expression, backend)
