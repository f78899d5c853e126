"""Histograms and counting against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import oracle
from ..rows import each

ESTIMATORS = ("auto", "fd", "doane", "scott", "stone", "rice", "sturges", "sqrt")

_BINS = [
    "{f}(f34)",
    "{f}(f34, 4)",
    "{f}(f34, bins=np.int32(3))",
    "{f}(f34, bins=i0)",
    "{f}(f2345, bins=50)",
    "{f}(g34, 7)",
    "{f}(h34, 3)",
    "{f}(i34, 5)",
    "{f}(s34)",
    "{f}(u34, 6)",
    "{f}(b34)",
    "{f}(np.array([-128, 127], np.int8) + 0 * s34[:1, :1])",
    "{f}(f34, 5, (-1, 2))",
    "{f}(f34, 5, range=(-1.5, 2.25))",
    "{f}(i34, 5, range=(-3, 4))",
    "{f}(g34, 5, range=(-1, 2))",
    "{f}(f34, 5, (1, 1))",
    "{f}(0 * f34 + 3, 5)",
    "{f}(0 * i34 + 3, 5)",
    "{f}(nan34, 5, range=(-1, 2))",
    "{f}(f34, [-4, -1, 0, 0.5, 2])",
    "{f}(i34, [-4, -1, 0, 3])",
    "{f}(i34, bins=[-4.5, -1, 0, 3])",
    "{f}(u34, [0, 3, 3, 5])",
    "{f}(i34, bins=np.sort(i5))",
    "{f}(f34, bins=np.sort(f5))",
    "{f}(g34, bins=np.sort(f5))",
    "{f}(nan34, [-4, -1, 0, 0.5, 2])",
    "{f}(f0)",
    "{f}(e0)",
    "{f}(e0, [0, 1])",
    "{f}(f34, [1.0])",
    "{f}([1, 2, 1] * i0, 2)",
    "{f}(st34, 4)",
    "{f}(neg5, 4)",
    "{f}(f34, 0)",
    "{f}(f34, 2.5)",
    "{f}(f34, 'nobody')",
    "{f}(f34, [[1, 2], [3, 4]])",
    "{f}(f34, [2, 1])",
    "{f}(f34, bins=f5)",
    "{f}(f34, 3, (2, 1))",
    "{f}(f34, 3, (0, np.inf))",
    "{f}(nan34)",
    "{f}(f34, 10**4, range=(1, 1 + 1e-14))",
    "{f}(f5, weights=f34)",
    "{f}(f5, 'auto', weights=p5)",
    *(f"{{f}}({a}, {name!r})" for name in ESTIMATORS for a in ("f2345", "i234", "g34")),
    "{f}(f234, 'auto', range=(-1, 1))",
    "{f}(f234, 'fd', range=(100, 101))",
    "{f}(0 * f34, 'auto')",
    "{f}(f0, 'stone')",
    "{f}(e0, 'fd')",
]
_COUNTED = [
    "{f}(f34, 4, weights=f34 ** 2)",
    "{f}(f34, 4, weights=g34)",
    "{f}(f34, 4, weights=i34)",
    "{f}(f34, 4, weights=u34)",
    "{f}(f34, 4, weights=b34)",
    "{f}(f34, 4, weights=c34)",
    "{f}(f34, 4, weights=d34)",
    "{f}(f34, [-1, 0, 2], weights=f34 ** 2)",
    "{f}(f34, [-1, 0, 2], weights=i34)",
    "{f}(f34, [-1, 0, 2], weights=c34)",
    "{f}(f34, [-1, 0, 2], weights=b34)",
    "{f}(f34, 4, density=True)",
    "{f}(i34, [-9, 0, 2, 9], density=True)",
    "{f}(f34, 4, (-1, 1), True, f34 ** 2)",
    "{f}(f34, 4, weights=g34 ** 2, density=True)",
    "{f}(np.linspace(0, 1, 101) + 0 * f34[:1, :1], 10)",
    "{f}(np.arange(60) / 10 + 0 * f34[:1, :1], 60)",
    "{f}(np.linspace(0.1, 0.9, 33).astype(np.float32) + 0 * g34[:1, :1], 16)",
]

_ESTIMATED = [case for case in _BINS if any(repr(name) in case for name in ESTIMATORS)]

CASES: dict[Any, list[str]] = {
    np.histogram_bin_edges: [case.format(f="np.histogram_bin_edges") for case in _BINS],
    np.histogram: [case.format(f="np.histogram") for case in _BINS + _COUNTED if case not in _ESTIMATED[2:]],
    np.histogramdd: [
        "np.histogramdd(f34)",
        "np.histogramdd(f34, 3)",
        "np.histogramdd(f34[:, :2], 4)",
        "np.histogramdd(f34.T, (2, 3, 4))",
        "np.histogramdd(f34.T, [2, [-2, 0, 2], 4])",
        "np.histogramdd([f5, p5], 3)",
        "np.histogramdd([f5, p5, neg5], [2, 3, np.sort(f5)])",
        "np.histogramdd((f5, p5), bins=3, range=[(-1, 1), (0, 1)])",
        "np.histogramdd((f5, p5), bins=3, range=[(-1, 1), None])",
        "np.histogramdd(f5, 4)",
        "np.histogramdd(i34[:, :2], 3)",
        "np.histogramdd(g34[:, :2], 3)",
        "np.histogramdd([f5, p5], 3, density=True)",
        "np.histogramdd([f5, p5], [[-2, 0, 1, 4], 2], density=True)",
        "np.histogramdd([f5, p5], 3, weights=f5 ** 2)",
        "np.histogramdd([f5, p5], 3, weights=i5)",
        "np.histogramdd([f5, p5], 3, weights=b5, density=True)",
        "np.histogramdd([f5, p5], 3, weights=c5)",
        "np.histogramdd([f5, p5], 3, weights=f6)",
        "np.histogramdd([f5, p5], [2, 3, 4])",
        "np.histogramdd([f5, p5], 0)",
        "np.histogramdd([f5, p5], 2.5)",
        "np.histogramdd([f5, p5], [[2, 1], 3])",
        "np.histogramdd([f5, p5], 3, range=[(0, 1)])",
        "np.histogramdd([f5, p5], 3, range=[(1, 0), (0, 1)])",
        "np.histogramdd([f5, f5 * np.nan], 3)",
        "np.histogramdd(f234, 3)",
        "np.histogramdd(e03, 2)",
    ],
    np.histogram2d: [
        "np.histogram2d(f5, p5)",
        "np.histogram2d(f5, p5, 3)",
        "np.histogram2d(f5, p5, (2, 3))",
        "np.histogram2d(f5, p5, [2, [0, 0.5, 1]])",
        "np.histogram2d(f5, p5, [np.sort(f5), np.sort(p5)])",
        "np.histogram2d(f5, p5, [-1, 0, 1, 2])",
        "np.histogram2d(f5, p5, np.sort(f5))",
        "np.histogram2d(f5, p5, 3, [[-1, 1], [0, 1]])",
        "np.histogram2d(f5, i5, 3, density=True)",
        "np.histogram2d(f5, p5, 3, weights=f5 ** 2)",
        "np.histogram2d([1, 2, 3, 4, 5], p5, 3)",
        "np.histogram2d(f5, f6)",
        "np.histogram2d(f5, p5, [5])",
        "np.histogram2d(f34, f34)",
    ],
    np.bincount: [
        "np.bincount(i5)",
        "np.bincount(ties7)",
        "np.bincount(ties7, minlength=6)",
        "np.bincount(ties7, None, 2)",
        "np.bincount(u34[0])",
        "np.bincount(b5)",
        "np.bincount(i5, weights=f5)",
        "np.bincount(i5, i5)",
        "np.bincount(i5, [1, 2, 3, 4, 5])",
        "np.bincount([0, 1, 1, 5, 2], weights=f5)",
        "np.bincount(i5, b5, minlength=8)",
        "np.bincount(i5[:0])",
        "np.bincount(i5[:0], minlength=3)",
        "np.bincount(i5[:0], f5[:0], 3)",
        "np.bincount(-i5)",
        "np.bincount(f5)",
        "np.bincount(e0)",
        "np.bincount(u34[0].astype(np.uint64))",
        "np.bincount(u34)",
        "np.bincount(i0)",
        "np.bincount(i5, f6)",
        "np.bincount(i5, c5)",
        "np.bincount(i5, minlength=-1)",
        "np.bincount(i5, minlength=None)",
        "np.bincount(i5, minlength=2.0)",
    ],
}


@each("expression", CASES)
def test_as_numpy(backend: str, expression: str) -> None:
    oracle.check(expression, backend)


def test_elements_on_edges_fall_as_in_numpy(backend: str) -> None:
    """Values a rounding error from an edge, where the arithmetic for the bin must be put right by comparing."""
    edges = np.linspace(-0.7, 1.3, 38)
    x = np.concatenate([edges, np.nextafter(edges[:-1], 9), np.nextafter(edges[1:], -9)])
    ours, _ = np.histogram(oracle.wrapped(backend, x), 37, range=(-0.7, 1.3))
    np.testing.assert_array_equal(np.asarray(ours), np.histogram(x, 37, range=(-0.7, 1.3))[0])
