"""Sorting, searching and counting, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from .. import oracle

CASES: dict[Any, list[str]] = {
    np.sort: [
        "np.sort(f34)",
        "np.sort(f34, axis=0)",
        "np.sort(f34, axis=None)",
        "np.sort(nan6)",
        "np.sort(i34, axis=-2)",
        "np.sort(u34)",
        "np.sort(b34)",
        "np.sort(h34)",
        "np.sort(c34)",
        "np.sort(s34, kind='stable')",
        "np.sort(f34, stable=True)",
        "np.sort(f34, kind='heapsort')",
        "np.sort(f34, kind='bad')",
        "np.sort(f34, kind='stable', stable=True)",
        "np.sort(f34, axis=2)",
        "np.sort(f0)",
        "np.sort(f0, axis=None)",
        "np.sort(e0)",
        "np.sort(e03, axis=1)",
        "np.sort(ft34)",
        "np.sort(f34, order='x')",
        "np.sort(neg5)",
    ],
    np.argsort: [
        "np.argsort(f34)",
        "np.argsort(f34, axis=0)",
        "np.argsort(f34, axis=None)",
        "np.argsort(ties7, stable=True)",
        "np.argsort(ties7, kind='stable')",
        "np.argsort(nan6)",
        "np.argsort(f0)",
        "np.argsort(e0)",
        "np.argsort(f34, axis=3)",
        "np.argsort(u34, axis=0, kind='stable')",
        "np.argsort(b5, kind='stable')",
        "np.argsort(c5)",
    ],
    np.partition: [
        "np.partition(f5, 2)[2]",
        "np.partition(f34, 1)[:, 1]",
        "np.partition(f34, [0, 2], axis=1)[:, [0, 2]]",
        "np.partition(f34, 5)",
        "np.partition(f34, -5)",
        "np.partition(f34, 1.0)",
        "np.partition(f34, -1, axis=None)[-1]",
        "np.partition(f34, 0, axis=3)",
        "np.partition(f0, 0)",
        "np.partition(f5, 1, kind='bad')",
        "np.partition(e0, 3)",
        "np.partition(e03, 7, axis=1)",
        "np.partition(e03, 0, axis=0)",
        "np.partition(e03, 1.0)",
    ],
    np.argpartition: [
        "f5[np.argpartition(f5, 2)[2]]",
        "np.argpartition(f34, 9)",
        "np.argpartition(f5, 0)[0]",
        "np.argpartition(e0, 3)",
        "np.argpartition(e03, 7, axis=1)",
        "np.argpartition(f34, 0, axis=None)[0]",
    ],
    np.lexsort: [
        "np.lexsort((ties7, ties7[::-1]))",
        "np.lexsort((f5, i5))",
        "np.lexsort(f34)",
        "np.lexsort(f34, axis=0)",
        "np.lexsort((f34, i34), axis=0)",
        "np.lexsort((f5, f6))",
        "np.lexsort((i5, k5), axis=1)",
        "np.lexsort((f0, i0))",
    ],
    np.sort_complex: [
        "np.sort_complex(f34)",
        "np.sort_complex(c34)",
        "np.sort_complex(u34)",
        "np.sort_complex(d34)",
        "np.sort_complex(i5)",
        "np.sort_complex(f0)",
    ],
    np.searchsorted: [
        "np.searchsorted(np.sort(f5), f34)",
        "np.searchsorted(np.sort(f5), 0.1)",
        "np.searchsorted(np.sort(i5), [1, 4], side='right')",
        "np.searchsorted(f5, f5, sorter=np.argsort(f5))",
        "np.searchsorted(np.sort(i5), 2.5)",
        "np.searchsorted(np.sort(nan6), np.nan)",
        "np.searchsorted(np.sort(nan6), np.nan, 'right')",
        "np.searchsorted(f34, 1)",
        "np.searchsorted(np.sort(f5), 1, side='x')",
        "np.searchsorted(np.sort(u34[0]), i5)",
        "np.searchsorted(e0, 1.0)",
        "np.searchsorted(np.sort(f5), e0)",
        "np.searchsorted(f5, 0, sorter=[0.5, 1, 2, 3, 4])",
        "np.searchsorted(f5, 0, sorter=[0, 1])",
        "np.searchsorted(np.sort(f5), f0)",
        "np.searchsorted(f0, 1)",
        "np.searchsorted(np.sort(g34[0]), 0.1)",
    ],
    np.argmax: [
        "np.argmax(f34)",
        "np.argmax(f34, axis=0)",
        "np.argmax(f34, axis=-1, keepdims=True)",
        "np.argmax(f34, keepdims=True)",
        "np.argmax(nan6)",
        "np.argmax(ties7)",
        "np.argmax(e0)",
        "np.argmax(e03, axis=1)",
        "np.argmax(e03, axis=0)",
        "np.argmax(f0)",
        "np.argmax(f34, axis=2)",
        "np.argmax(b34, axis=1)",
        "np.argmax(u34)",
        "np.argmax(f34, axis=0, out=np.zeros_like(i34[0]))",
        "np.argmax(c34)",
        "np.argmax(c34, axis=0)",
        "np.argmin(c34, axis=1)",
        "np.argmax(c34 * nan34, axis=1)",
    ],
    np.argmin: [
        "np.argmin(f34)",
        "np.argmin(f34, axis=1)",
        "np.argmin(nan6)",
        "np.argmin(ties7)",
        "np.argmin(i34, axis=0, keepdims=True)",
        "np.argmin(e0)",
        "np.argmin(h34)",
    ],
    np.nanargmax: [
        "np.nanargmax(nan6)",
        "np.nanargmax(nan34, axis=0)",
        "np.nanargmax(i34)",
        "np.nanargmax(nan6 * np.nan)",
        "np.nanargmax(nan34, axis=1, keepdims=True)",
    ],
    np.nanargmin: [
        "np.nanargmin(nan6)",
        "np.nanargmin(nan34, axis=1)",
        "np.nanargmin(nan6 * np.nan)",
    ],
    np.nonzero: [
        "np.nonzero(m34)",
        "np.nonzero(i34)",
        "np.nonzero(f0)",
        "np.nonzero(e0)",
        "np.nonzero(c34)",
        "np.nonzero(ties7)",
        "np.nonzero(u34)",
    ],
    np.flatnonzero: [
        "np.flatnonzero(m34)",
        "np.flatnonzero(ties7)",
        "np.flatnonzero(f0)",
    ],
    np.argwhere: [
        "np.argwhere(m34)",
        "np.argwhere(f0)",
        "np.argwhere(np.zeros_like(f0))",
        "np.argwhere(i234 > 0)",
        "np.argwhere(e03)",
    ],
    np.count_nonzero: [
        "np.count_nonzero(m34)",
        "np.count_nonzero(i34, axis=0)",
        "np.count_nonzero(i34, axis=(0, 1))",
        "np.count_nonzero(m34, keepdims=True)",
        "np.count_nonzero(f34, axis=2)",
        "np.count_nonzero(f0)",
        "np.count_nonzero(e0)",
        "np.count_nonzero(c34, axis=-1, keepdims=True)",
    ],
    np.where: [
        "np.where(m34, f34, 0)",
        "np.where(m34, f34, i34)",
        "np.where(m34, g34, 2.5)",
        "np.where(m34, u34, 300)",
        "np.where(m34, u34, -1)",
        "np.where(m34, 1, 2)",
        "np.where(m34, 1, 2.5)",
        "np.where(m34, True, i34)",
        "np.where(i34, f34, np.nan)",
        "np.where(m34[0], f34, f34[:, :1])",
        "np.where(m34, f34, f5)",
        "np.where(f0 > 1, f0, 0)",
        "np.where(True, f34, 0)",
        "np.where([True, False, True, False], f34, 0)",
        "np.where(m34, f34)",
        "np.where(m34, np.float32(2), g34)",
        "np.where(m34, g34, np.float64(2))",
        "np.where(m34, f34, 1j)",
        "np.where(m34, b34, False)",
    ],
}


@pytest.mark.parametrize("expression", [case for cases in CASES.values() for case in cases])
def test_as_numpy(backend: str, expression: str) -> None:
    oracle.check(expression, backend)


WITH_ONE_ARGUMENT = ["np.where(m34)", "np.where(i34)", "np.where(e0)", "np.where(f0)"]
"""The other half of ``np.where``, whose result's shape depends on values: not part of what is pure."""


@pytest.mark.parametrize("expression", WITH_ONE_ARGUMENT)
def test_where_of_a_condition_alone(backend: str, expression: str) -> None:
    oracle.check(expression, backend)
