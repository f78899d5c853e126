"""Order statistics, averages, variances and correlations against NumPy."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

from .. import oracle
from ..rows import each

pytestmark = pytest.mark.compiles(3)

METHODS = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
    "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest",
)  # fmt: skip

_SHAPES = [
    "{f}(f34)",
    "{f}(f34, axis=0)",
    "{f}(f34, axis=-1)",
    "{f}(f234, axis=(0, 2))",
    "{f}(f234, axis=(-1, 0), keepdims=True)",
    "{f}(f2345, axis=(1, 3))",
    "{f}(f34, axis=())",
    "{f}(f34, keepdims=True)",
    "{f}(f34, axis=1, keepdims=True)",
    "{f}(ft34, axis=0)",
    "{f}(st34, axis=1)",
    "{f}(neg5)",
    "{f}(f0)",
    "{f}(i0)",
    "{f}(i34)",
    "{f}(i34, axis=0)",
    "{f}(j34, axis=1)",
    "{f}(s34)",
    "{f}(u34, axis=0)",
    "{f}(b34)",
    "{f}(b34, axis=1)",
    "{f}(g34)",
    "{f}(g34, axis=0)",
    "{f}(h34)",
    "{f}(h34, axis=1)",
    "{f}(nan6)",
    "{f}(nan34, axis=0)",
    "{f}(nan34, axis=1)",
    "{f}(e0)",
    "{f}(e03, axis=0)",
    "{f}(e03, axis=1)",
    "{f}(e03)",
    "{f}([[1, 2], [3, 4]] + i0)",
    "{f}(f34, axis=2)",
    "{f}(f34, axis=(0, 0))",
    "{f}(f34, axis=(0, 5))",
    "{f}(f34, axis=0.5)",
]
_MEANS = [
    "{f}(c34)",
    "{f}(d34, axis=0)",
    "{f}(c5, keepdims=True)",
    "{f}(f34, dtype=np.float32)",
    "{f}(g34, axis=0, dtype=np.float64)",
    "{f}(i34, axis=0, dtype=np.float32)",
    "{f}(h34, dtype=np.float32)",
    "{f}(h34, axis=0, dtype=np.float16)",
    "{f}(f34, dtype=complex)",
    "{f}(f34, where=m34)",
    "{f}(f34, axis=0, where=m34)",
    "{f}(f34, axis=1, keepdims=True, where=m34)",
    "{f}(f34, axis=1, where=m34[:, :1] | True)",
    "{f}(f34, axis=0, where=[[True], [False], [True]])",
    "{f}(g34, axis=1, where=m34)",
    "{f}(h34, axis=1, where=m34)",
    "{f}(i34, axis=1, where=m34)",
    "{f}(c34, axis=1, where=m34)",
    "{f}(f34, axis=0, where=f34 > 100)",
    "{f}(nan34, axis=1, where=m34)",
]
_VARIANCES = [
    "{f}(f34, ddof=1)",
    "{f}(f34, axis=0, ddof=1)",
    "{f}(f34, axis=1, ddof=1.5, keepdims=True)",
    "{f}(f34, axis=0, ddof=3)",
    "{f}(f34, axis=0, ddof=7)",
    "{f}(f34, axis=1, correction=1)",
    "{f}(f34, axis=1, ddof=1, correction=1)",
    "{f}(f34, mean=f34.mean())",
    "{f}(f34, axis=0, mean=f34.mean(axis=0, keepdims=True))",
    "{f}(i34, axis=0, mean=i34[:1])",
    "{f}(c34, axis=1, ddof=1)",
    "{f}(f34, axis=0, ddof=1, where=m34)",
    "{f}(c34, axis=1, where=m34, ddof=1)",
]
_QUANTILES = [
    "{f}(f34, {h})",
    "{f}(f34, [{h}, 0, {a}])",
    "{f}(f34, ({a}, {h}), axis=0)",
    "{f}(f34, {q}, axis=1)",
    "{f}(f34, {q}, axis=1, keepdims=True)",
    "{f}(f234, {q}, axis=(0, 2))",
    "{f}(f234, {q}, axis=(2, 0), keepdims=True)",
    "{f}(f234, {h}, axis=(0, 1), keepdims=True)",
    "{f}(f234, {q}, keepdims=True)",
    "{f}(f234, [{q}, {q}], axis=1)",
    "{f}(f34, [[[{h}]]])",
    "{f}(f34, p5 * {u})",
    "{f}(f34, np.array({q}), axis=0)",
    "{f}(f34, np.float64({h}))",
    "{f}(g34, np.float64({h}))",
    "{f}(g34, {h})",
    "{f}(g34, {q}, axis=0)",
    "{f}(g34, np.float32({h}), axis=0)",
    "{f}(g34, np.array({q}, np.float32), axis=0)",
    "{f}(h34, {h}, axis=0)",
    "{f}(h34, {q}, axis=1)",
    "{f}(i34, {h})",
    "{f}(i34, {q}, axis=0)",
    "{f}(s34, {h}, axis=0)",
    "{f}(u34, {q}, axis=0)",
    "{f}(b34, {h})",
    "{f}(c34, {h})",
    "{f}(f34, 0)",
    "{f}(f34, {a})",
    "{f}(i34, {a}, axis=0)",
    "{f}(i34, [0, {a}], axis=1)",
    "{f}(f34, [], axis=0)",
    "{f}(ft34, {q}, axis=0)",
    "{f}(st34, {q}, axis=1)",
    "{f}(neg5, {q})",
    "{f}(f0, {h})",
    "{f}(f0, {q})",
    "{f}(f34, {h}, axis=())",
    "{f}(f34, {q}, axis=())",
    "{f}(nan6, {h})",
    "{f}(nan34, {h}, axis=0)",
    "{f}(nan34, {q}, axis=1)",
    "{f}(nan34, {q}, axis=1, keepdims=True)",
    "{f}(f34, {h}, overwrite_input=True)",
    "{f}(f34, {h}, None, None, True, 'lower')",
    "{f}(f34 * np.array([1, np.inf, -np.inf, 0]), {q}, axis=1)",
    "{f}(e0, {h})",
    "{f}(e03, {h}, axis=0)",
    "{f}(e03, {q}, axis=1)",
    "{f}(f34, -0.1)",
    "{f}(f34, [{h}, 1000.0])",
    "{f}(f34, np.nan)",
    "{f}(f34, 'x')",
    "{f}(f34, {h}, axis=2)",
    "{f}(f34, {h}, axis=(1, 1))",
    "{f}(f34, {h}, method='none')",
    "{f}(f34, {h}, method=None)",
    "{f}(f5, {q}, weights=p5, method='inverted_cdf')",
    "{f}(f5, {q}, weights=[0, 2, 0, 1, 1], method='inverted_cdf')",
    "{f}(f5, [0, {a}], weights=[0, 2, 0, 1, 0], method='inverted_cdf')",
    "{f}(f34, {h}, axis=0, weights=u34 + 1, method='inverted_cdf')",
    "{f}(f5, {h}, weights=p5)",
    "{f}(f34, {h}, weights=p5, method='inverted_cdf')",
    "{f}(f34, {h}, axis=0, weights=p5, method='inverted_cdf')",
    "{f}(f5, {h}, weights=-p5, method='inverted_cdf')",
    "{f}(f5, {h}, weights=0 * p5, method='inverted_cdf')",
    "{f}(f5, {h}, weights=p5 * np.nan, method='inverted_cdf')",
]
_BROADCAST_WEIGHTS = [
    "{f}(f34, {q}, axis=1, weights=p5[:4], method='inverted_cdf')",
    "{f}(f34, {q}, axis=0, weights=[1, 2, 3], method='inverted_cdf', keepdims=True)",
    "{f}(f234, {q}, axis=(0, 2), weights=f34[:2] ** 2, method='inverted_cdf')",
    "{f}(f234, {q}, axis=(2, 0), weights=f34.T[:, :2] ** 2, method='inverted_cdf')",
    "{f}(i34, {q}, axis=1, weights=[1, 2, 3, 1], method='inverted_cdf')",
    "{f}(nan34, {q}, axis=1, weights=[1, 2, 3, 1], method='inverted_cdf')",
]
_BY_METHOD = [
    "{f}(f34, {q}, axis=1, method={m!r})",
    "{f}(f5, np.linspace(0, {a}, 21) * (1 + 0 * f34[0, :1]), method={m!r})",
    "{f}(g34, {h}, axis=0, method={m!r})",
    "{f}(i34, {h}, axis=0, method={m!r})",
    "{f}(u34, {q}, method={m!r})",
    "{f}(nan34, {q}, axis=0, method={m!r})",
    "{f}(f5, [0, {a}], method={m!r})",
    "{f}(h34, {h}, axis=1, method={m!r})",
]
_NAN_QUANTILES = [
    "{f}(nan34 * np.nan, {h}, axis=0)",
    "{f}(np.stack([nan6, nan6 * np.nan]), {q}, axis=1)",
    "{f}(nan6[[1, 4]], {q})",
    "{f}(nan34.astype(np.float32), {h}, axis=0)",
    "{f}(np.stack([nan6, nan6 * np.nan]), {q}, axis=1, weights=np.stack([f6, f6]) ** 2, method='inverted_cdf')",
    "{f}(nan34, {q}, axis=0, weights=u34 + 1, method='inverted_cdf')",
    "{f}(nan34, {q}, axis=1, weights=u34 + 1.5, method='inverted_cdf', keepdims=True)",
]


def _named(f: str, *tables: list[str]) -> list[str]:
    return [case.format(f=f) for table in tables for case in table]


def _quantiles(f: str, *tables: list[str]) -> list[str]:
    percent = "percentile" in f
    values = (
        {"h": 30.0, "q": [25.0, 50.0, 90.0], "a": 100, "u": 80.0}
        if percent
        else {"h": 0.3, "q": [0.25, 0.5, 0.9], "a": 1, "u": 0.8}
    )
    return [
        case.format(f=f, m=m, **values)
        for table in tables
        for case in table
        for m in (METHODS if "{m" in case else ("",))
    ]


CASES: dict[Any, list[str]] = {
    np.ptp: [*_named("np.ptp", _SHAPES), "np.ptp(f34, axis=0, keepdims=True)"],
    np.mean: _named("np.mean", _SHAPES, _MEANS) + ["np.mean(f34, dtype=int)", "np.mean(f34, axis=0, dtype=np.int32)"],
    np.var: _named("np.var", _SHAPES, _MEANS, _VARIANCES) + ["np.var(f34, dtype=int)", "f34.var(correction=1)", "f34.std(0, correction=0)", "f34.std(0, ddof=1)"],
    np.std: _named("np.std", _SHAPES, _MEANS, _VARIANCES) + ["np.std(f34, dtype=int)", "np.std(f34, axis=0, dtype=int)"],
    np.nanmean: _named("np.nanmean", _SHAPES, _MEANS) + ["np.nanmean(nan34, dtype=int)", "np.nanmean(nan34 + 1j, axis=0)"],
    np.nanvar: _named("np.nanvar", _SHAPES, _MEANS, _VARIANCES) + [
        "np.nanvar(nan34, axis=0, ddof=1)",
        "np.nanvar(nan34 * (1 + 2j), axis=1)",
        "np.nanvar(nan34, dtype=int)",
        "np.nanvar(nan34, axis=0, mean=np.nanmean(nan34, axis=0, keepdims=True))",
    ],
    np.nanstd: _named("np.nanstd", _SHAPES, _MEANS, _VARIANCES) + ["np.nanstd(nan34, axis=0, ddof=1)"],
    np.median: [
        *_named("np.median", _SHAPES),
        "np.median(f34, axis=0, overwrite_input=True)",
        "np.median(f34, 0, None, False, True)",
        "np.median([np.inf, -np.inf] * f0)",
        "np.median(f34 * np.inf, axis=1)",
        "np.median(c5)",
        "np.median(f34, axis=[0, 1])",
    ],
    np.nanmedian: [
        *_named("np.nanmedian", _SHAPES),
        "np.nanmedian(nan34 * np.nan, axis=0)",
        "np.nanmedian(nan6[[1, 4]])",
        "np.nanmedian(np.stack([nan6, nan6 * np.nan]), axis=1, keepdims=True)",
        "np.nanmedian(nan34.astype(np.float16), axis=1)",
        "np.nanmedian(np.tile(nan34, (300, 1)), axis=0)",
    ],
    np.average: [
        "np.average(f34)",
        "np.average(f34, axis=0)",
        "np.average(f234, axis=(0, 2), keepdims=True)",
        "np.average(i34, returned=True)",
        "np.average(f34, axis=1, returned=True)",
        "np.average(h34, axis=1, returned=True)",
        "np.average(c34, axis=1)",
        "np.average(b34)",
        "np.average(f5, weights=p5)",
        "np.average(f5, weights=p5, returned=True)",
        "np.average(f5, weights=[1, 2, 3, 4, 5])",
        "np.average(i5, weights=k5)",
        "np.average(g34, weights=u34)",
        "np.average(g34, axis=0, weights=[1, 2, 3], returned=True)",
        "np.average(i34, axis=1, weights=p5[:4], keepdims=True)",
        "np.average(f34, axis=1, weights=p5[:4], keepdims=True, returned=True)",
        "np.average(f234, axis=(0, 2), weights=f34[:2] ** 2)",
        "np.average(f234, axis=(2, 0), weights=f34.T[:, :2] ** 2)",
        "np.average(f234, axis=(2, 0), weights=f34[:2] ** 2)",
        "np.average(f34, weights=f34 ** 2)",
        "np.average(c5, weights=p5)",
        "np.average(f5, weights=c5)",
        "np.average(s34, axis=0, weights=u34 + 1, returned=True)",
        "np.average(h34, axis=0, weights=h34 ** 2)",
        "np.average(b5, weights=b5)",
        "np.average(f34, weights=p5)",
        "np.average(f34, axis=0, weights=p5)",
        "np.average(f5, weights=0 * p5)",
        "np.average(f34, axis=3)",
        "np.average(e0)",
        "np.average(e03, axis=0, returned=True)",
        "np.average(e03, axis=1, returned=True)",
        "np.average(f0)",
    ],
    np.quantile: _quantiles("np.quantile", _QUANTILES, _BROADCAST_WEIGHTS, _BY_METHOD) + ["np.quantile(f34, True)", "np.quantile(b34, 1)"],
    np.percentile: _quantiles("np.percentile", _QUANTILES[::2], _BROADCAST_WEIGHTS[:1], _BY_METHOD[:1]),
    np.nanquantile: _quantiles("np.nanquantile", _QUANTILES, _BY_METHOD[4:7], _NAN_QUANTILES),
    np.nanpercentile: _quantiles("np.nanpercentile", _QUANTILES[1::2], _NAN_QUANTILES[:2]),
    np.cov: [
        "np.cov(f34)",
        "np.cov(f5)",
        "np.cov(f5, p5)",
        "np.cov(f34, f34 ** 2)",
        "np.cov(f34, rowvar=False)",
        "np.cov(f34, f34[:, :2], rowvar=False)",
        "np.cov(f5, p5, rowvar=False)",
        "np.cov(f34, bias=True)",
        "np.cov(f34, ddof=0)",
        "np.cov(f34, ddof=2)",
        "np.cov(f34, ddof=4)",
        "np.cov(f34, ddof=1.5)",
        "np.cov(f34, ddof=2.0)",
        "np.cov(i34)",
        "np.cov(g34)",
        "np.cov(h34, dtype=np.float32)",
        "np.cov(f34, dtype=np.float32)",
        "np.cov(f34, dtype=int)",
        "np.cov(c34)",
        "np.cov(c5, c5 ** 2)",
        "np.cov(f34, c34)",
        "np.cov(b34)",
        "np.cov(f34, fweights=[1, 2, 0, 3])",
        "np.cov(f34, fweights=i5[:4])",
        "np.cov(f34, aweights=p5[:4])",
        "np.cov(f34, fweights=[1, 2, 0, 3], aweights=p5[:4])",
        "np.cov(f34, aweights=p5[:4], ddof=0)",
        "np.cov(f34, aweights=p5[:4], bias=True)",
        "np.cov(c34, aweights=p5[:4])",
        "np.cov(f34, dtype=np.float32, aweights=p5[:4])",
        "np.cov(f34, fweights=[1, 2, 0.5, 3])",
        "np.cov(f34, fweights=[1, 2, 3])",
        "np.cov(f34, fweights=[[1, 2, 3, 4]])",
        "np.cov(f34, fweights=[1, -2, 3, 4])",
        "np.cov(f34, aweights=[1, 2, 3])",
        "np.cov(f34, aweights=f34)",
        "np.cov(f34, aweights=-p5[:4])",
        "np.cov(f234)",
        "np.cov(f34, f234)",
        "np.cov(f34, f5)",
        "np.cov(f0)",
        "np.cov(e0)",
        "np.cov(e03)",
        "np.cov(e03, rowvar=False)",
        "np.cov(nan34)",
    ],
    np.corrcoef: [
        "np.corrcoef(f34)",
        "np.corrcoef(f5)",
        "np.corrcoef(f5, p5)",
        "np.corrcoef(f34, f34 ** 2)",
        "np.corrcoef(f34, rowvar=False)",
        "np.corrcoef(c34)",
        "np.corrcoef(i34)",
        "np.corrcoef(g34)",
        "np.corrcoef(f34, dtype=np.float32)",
        "np.corrcoef(f34, f5)",
        "np.corrcoef(f0)",
        "np.corrcoef(0 * f34)",
    ],
}  # fmt: skip


@each("expression", CASES)
def test_as_numpy(backend: str, expression: str) -> None:
    oracle.check(expression, backend)


@pytest.mark.parametrize(
    "expression",
    [
        "np.mean(f34, axis=0, out=np.empty_like(f34[0]))",
        "np.std(f34, axis=1, out=np.empty_like(f34[:, 0]))",
        "np.median(f34, axis=1, out=np.empty_like(f34[:, 0]))",
        "np.quantile(f34, [0.5, 0.1], axis=0, out=np.empty_like(f34[:2]))",
        "np.nanpercentile(nan34, 40, axis=0, out=np.empty_like(f34[0]))",
        "np.nanpercentile(nan34, 40, axis=0, out=np.empty_like(f34))",
        "np.percentile(f34, 40, out=np.empty_like(f34[0]))",
        "np.quantile(f34, 0.4, out=np.empty_like(f34, shape=(1,)))",
        "np.quantile(f34, [0.5, 0.1], axis=0, out=np.empty_like(f34[0]))",
        "np.nanmedian(nan34, out=np.empty_like(f34[0]))",
        "np.nanmedian(nan34, axis=0, out=np.empty_like(f34))",
        "np.median(f34, out=np.empty_like(f34[0]))",
        "np.max(f34, out=np.empty_like(f34[0]))",
        "np.ptp(f34, axis=0, out=np.empty_like(f34[0]))",
    ],
)
def test_out(backend: str, expression: str) -> None:
    oracle.check(expression, backend)


@pytest.mark.parametrize(
    "expression",
    [
        "np.median(f34, 0, np.empty_like(f34[0], dtype=int))",
        "np.median(f34, 0, out=np.empty_like(f34[0], dtype=int))",
        "np.mean(f34, 0, None, np.empty_like(f34[0], dtype=int))",
    ],
)
def test_out_of_integers_is_written_on_the_host(backend: str, expression: str) -> None:
    """NumPy keeps the sum in ``out``, in its dtype; it is written whether it is given by name or by position."""
    oracle.check(expression, backend, host=True)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("np.mean(a[:0])", "Mean of empty slice"),
        ("np.mean(a, where=a > 9)", "Mean of empty slice"),
        ("np.nanmean(a * np.nan)", "Mean of empty slice"),
        ("np.var(a, ddof=3)", "Degrees of freedom <= 0 for slice"),
        ("np.var(a, ddof=1, where=a > 2)", "Degrees of freedom <= 0 for slice"),
        ("np.nanstd(a, ddof=3)", "Degrees of freedom <= 0 for slice."),
        ("np.nanmedian(a * np.nan)", "All-NaN slice encountered"),
        ("np.nanquantile(a * np.nan, 0.5)", "All-NaN slice encountered"),
        ("np.cov(a, ddof=3)", "Degrees of freedom <= 0 for slice"),
        ("np.cov(a, fweights=[1, 0, 0])", "Degrees of freedom <= 0 for slice"),
    ],
)
def test_numpys_warnings(backend: str, expression: str, said: str) -> None:
    x = np.array([1.0, 2.0, 3.0])
    for a in (x, oracle.wrapped(backend, x)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            eval(expression, {"np": np, "a": a})
        assert said in [str(w.message) for w in caught if w.category is RuntimeWarning]


@pytest.mark.parametrize(
    "expression",
    [
        "np.nanmedian(a, axis=0)",
        "np.nanmedian(a, axis=(0, 1))",
        "np.nanmedian(a[:, :2])",
        "np.nanpercentile(a, [10, 20], axis=0)",
        "np.nanquantile(a, 0.5, axis=1, weights=np.ones((2, 3)), method='inverted_cdf')",
        "np.nanmean(a, axis=0)",
    ],
)
def test_as_many_warnings_as_numpy(backend: str, expression: str) -> None:
    x = np.array([[np.nan, np.nan, 1.0], [np.nan, np.nan, np.nan]])
    counts = []
    for a in (x, oracle.wrapped(backend, x)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            eval(expression, {"np": np, "a": a})
        counts.append(len(caught))
    assert counts[0] == counts[1]


@pytest.mark.parametrize("expression", ["np.mean(a)", "np.std(a, ddof=1)", "np.nanmedian(a)", "np.nanquantile(a, 0.2)"])
def test_no_warning_without_cause(backend: str, expression: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        eval(expression, {"np": np, "a": oracle.wrapped(backend, np.array([1.0, 2.0, 4.0]))})


@pytest.mark.xfail(
    strict=True, reason="NumPy fills an empty_like there, so a 0-d array; ours is the scalar of every other method"
)
@pytest.mark.parametrize("f", ["quantile", "nanquantile"])
def test_a_weighted_quantile_is_a_0d_array(f: str) -> None:
    oracle.check(f"np.{f}(f5, 0.3, weights=p5, method='inverted_cdf')", "numpy")


def test_nanquantile_broadcasts_weights(backend: str) -> None:
    """NumPy raises an IndexError there (it indexes the weights before it broadcasts them); lane by lane it does not."""
    nan34, weights = oracle.ARRAYS["nan34"], np.array([1.0, 2.0, 3.0, 1.0])
    a, q = oracle.wrapped(backend, nan34), [0.25, 0.5, 0.9]
    if backend == "numpy":  # where NumPy itself computes
        with pytest.raises(IndexError):
            np.nanquantile(a, q, axis=1, weights=weights, method="inverted_cdf")
        return
    ours = np.nanquantile(a, q, axis=1, weights=oracle.wrapped(backend, weights), method="inverted_cdf")
    theirs = [np.nanquantile(lane, q, weights=weights, method="inverted_cdf") for lane in nan34]
    np.testing.assert_array_equal(np.asarray(ours), np.transpose(theirs))


def test_a_weighted_quantile_has_numpys_value(backend: str) -> None:
    f5, p5 = oracle.ARRAYS["f5"], oracle.ARRAYS["p5"]
    ours = np.quantile(oracle.wrapped(backend, f5), 0.3, weights=oracle.wrapped(backend, p5), method="inverted_cdf")
    assert float(ours) == float(np.quantile(f5, 0.3, weights=p5, method="inverted_cdf"))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_mean_has_the_bits_of_the_sum_divided(backend: str, dtype: Any) -> None:
    rng = np.random.default_rng(3)
    for shape in ((1,), (7,), (4097,), (33, 17), (3, 1000)):
        x = ad.asarray(rng.normal(1.0, 3.0, shape).astype(dtype))
        for a in (x, x[::2], x[..., 1:]):
            if a.size:
                assert np.mean(a).dtype == dtype
                assert float(np.mean(a)) == float(np.asarray(np.sum(a)) / dtype(a.size)), (shape, a.shape)
