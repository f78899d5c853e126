"""Polynomials, scimath, bits and windows beyond the grid's calls."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

import arraydispatch as ad
from arraydispatch.dispatch import functions

from .. import oracle
from ..rows import each

EXPRESSIONS = [
    "np.polyfit(f5, p5, 2)",
    "np.polyfit(f5, p5, 2, full=True)[1:]",
    "np.polyfit(i5, p5, 1, w=p5)",
    "np.polyfit(f5, np.stack([p5, f5], axis=1), 1, cov=True)",
    "np.polyfit(f5, p5, 1, cov='unscaled')",
    "np.polyfit(f5, p5, 4, cov=True)",
    "np.polyfit(f5, p5, -1)",
    "np.polyfit(f34, p5, 1)",
    "np.polyfit(e0, e0, 1)",
    "np.polyfit(f5, f6, 1)",
    "np.polyfit(f5, f0, 1)",
    "np.polyfit(f5, p5, 1, w=f34)",
    "np.polyfit(f5, p5, 1, w=f6)",
    "np.polyval(f5, f34)",
    "np.polyval([1, 2, 3], i5)",
    "np.polyval(f34, 2)",
    "np.polyval(f0, 2)",
    "np.polyadd(f5, [1, 2])",
    "np.polysub(i5, f6)",
    "np.polyadd(f34, f5)",
    "np.polymul(f5, [0, 0, 1])",
    "np.polymul(f34, f5)",
    "np.polymul(e0, f5)",
    "np.polydiv(f6, i5)",
    "np.polydiv(i5, f6)",
    "np.polydiv(np.polymul(p5, [1, 2]), p5)",
    "np.polydiv(f5, e0)",
    "np.polyder(f5, 3)",
    "np.polyder(f5, 9)",
    "np.polyder(f5, -1)",
    "np.polyint(f5, 2, k=[1, 2])",
    "np.polyint(f5, 2, k=[1])",
    "np.polyint(f5, 3, k=[1, 2])",
    "np.polyint(f5, -1)",
    "np.poly(sq33)",
    "np.poly(f34)",
    "np.polynomial.polynomial.polyval2d(f5, p5, f34)",
    "np.polynomial.polynomial.polyval2d(f5, f6, f34)",
    "np.polynomial.polynomial.polygrid2d(f5, f6, i34)",
    "np.lib.scimath.sqrt(f34)",
    "np.lib.scimath.sqrt(p5)",
    "np.lib.scimath.power(f5, i5)",
    "np.lib.scimath.power(i5, -i5)",
    "np.lib.scimath.logn(p5, f5)",
    "np.lib.scimath.arccos(f5)",
    "np.packbits(i34, axis=1)",
    "np.packbits(b34, bitorder='x')",
    "np.packbits(f5)",
    "np.packbits(b5, axis=1)",
    "np.unpackbits(u34, axis=0, bitorder='little')",
    "np.unpackbits(u34, count=-100)",
    "np.unpackbits(u34, count=2.0)",
    "np.unpackbits(u34, bitorder='x')",
    "np.unpackbits(i34)",
    "np.lib.stride_tricks.sliding_window_view(f34, (2, 2))",
    "np.lib.stride_tricks.sliding_window_view(f34, 2, axis=-1)",
    "np.lib.stride_tricks.sliding_window_view(f5, (2, 2), axis=(0, 0))",
    "np.lib.stride_tricks.sliding_window_view(f34, 5, axis=0)",
    "np.lib.stride_tricks.sliding_window_view(f34, -1, axis=0)",
    "np.lib.stride_tricks.sliding_window_view(f34, 2)",
    "np.lib.stride_tricks.sliding_window_view(st34, 3, axis=1).mean(axis=-1)",
    "f34.byteswap()",
    "c5.byteswap()",
    "b5.byteswap()",
    "np.linalg.qr(c34, mode='raw')",
    "np.linalg.qr(f234, mode='raw')",
    "np.linalg.qr(f34.T, mode='raw')",
    "np.searchsorted(np.sort(c5), c34)",
    "np.maximum.reduce(c34, axis=1)",
    "np.minimum.accumulate(c34, axis=0)",
    "(lambda x: (np.hypot.at(x, k5, 2), x)[1])(f5.copy())",
    "(lambda x: (np.negative.at(x, k5), x)[1])(f5.copy())",
    "(lambda x: (np.maximum.at(x, k5, 1j), x)[1])(c5.copy())",
    "(lambda x: (np.add.at(x, k5, 1.75), x)[1])(i5.copy())",
    "(lambda x: (np.add.at(x, k5, [1, 2]), x)[1])(i5.copy())",
    "np.subtract.reduce(f34, axis=1, initial=2, where=m34)",
    "np.subtract.reduce(f34, axis=1, where=m34)",
    "np.lcm.reduce(i34, axis=None)",
    "np.equal.reduce(f34)",
    "np.equal.reduce(b34)",
    "np.clip(f34, 0, 1, where=m34, out=g34)",
]


_SERIES = [("polynomial", "poly"), ("chebyshev", "cheb"), ("legendre", "leg"), ("hermite", "herm"),
           ("hermite_e", "herme"), ("laguerre", "lag")]  # fmt: skip


def _check_values(expression: str, backend: str) -> None:
    """As ``oracle.check``; where the result is, NumPy's own code decides."""
    theirs = oracle.evaluate(expression, oracle.ARRAYS)
    arrays = {name: oracle.wrapped(backend, x) for name, x in oracle.ARRAYS.items() if name in expression}
    with ad.fallback("silent"):
        ours = oracle.evaluate(expression, arrays)
    operands = {name: x for name, x in oracle.ARRAYS.items() if name in arrays}
    call = oracle.Call(expression, operands)
    oracle.compare(oracle.wrapped(backend, ours) if type(ours) is np.ndarray else ours, theirs, expression, call=call)


@each(
    "call",
    [
        "val(f5, f34)",
        "val(f34, f34)",
        "val(f5, f234)",
        "val(f34, i34, tensor=False)",
        "val(f5, f34[:, :0])",
        "val(f0, f34)",
        "val2d(f5, p5, f34)",
        "val3d(f5, p5, i5, f234)",
        "val3d(f5, p5, f6, f234)",
        "grid2d(f5, f6, f34)",
        "grid2d(i5, f34, f234)",
        "grid3d(f5, f6, i5, f234)",
        "grid3d(f5, f34, i5, i234)",
        "vander(f34, 3)",
    ],
)
@each("module, prefix", _SERIES)
def test_series_at_many_points(backend: str, module: str, prefix: str, call: str) -> None:
    """NumPy dispatches two of these functions; the others ask whether the points are an ndarray."""
    _check_values(f"np.polynomial.{module}.{prefix}{call}", backend)


@each("call", ["f5, p5", "f34, f6", "f34, f34", "f5, f34[0], tensor=False", "f34[0], f34, tensor=False", "2.0, f34"])
def test_series_from_roots(backend: str, call: str) -> None:
    _check_values(f"np.polynomial.polynomial.polyvalfromroots({call})", backend)


@each("expression", EXPRESSIONS)
def test_as_numpy(backend: str, expression: str) -> None:
    oracle.check(expression, backend)


@each("p", [[1, 0, -2.5, 1], [0, 0, 2, 3, 0, 0], [0, 0], [], [5], [1, 2, 3, 4, 5], [1j, 2, 1], [[1, 2], [3, 4]]])
def test_roots(backend: str, p: Any) -> None:
    """NumPy's ``roots`` asks the elements of its argument whether they dispatch, so it is called as the dispatch does."""
    a = oracle.wrapped(backend, np.array(p))
    found: list[Any] = []
    for roots in (np.roots, lambda x: functions.call(np.roots, (x,), {})):
        try:
            found.append(roots(np.array(p) if roots is np.roots else a))
        except ValueError as error:
            found.append(error)
    theirs, ours = found
    if isinstance(theirs, Exception):
        assert isinstance(ours, ValueError)
        return
    assert isinstance(ours, ad.Array)
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(np.sort_complex(ad.to_numpy(ours)), np.sort_complex(theirs), rtol=1e-12, atol=1e-12)


def test_windows_are_views(backend: str) -> None:
    a = oracle.wrapped(backend, np.arange(6.0))
    windows = np.lib.stride_tricks.sliding_window_view(a, 3)
    assert not windows.flags.writeable
    a[2] = 9
    np.testing.assert_array_equal(ad.to_numpy(windows)[:, 1], [1, 9, 3, 4])


def test_poly1d_stays_on_the_host(backend: str) -> None:
    a = oracle.wrapped(backend, np.array([1.0, 2.0]))
    with ad.fallback("silent"):
        made = np.polyadd(np.poly1d([1, 1]), a)
    assert isinstance(made, np.poly1d)
    assert re.sub(r"\s", "", repr(made)) == "poly1d([2.,3.])"
