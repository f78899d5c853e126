"""Sums, products, running ones, extrema, and their NaN-ignoring forms, against NumPy."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

from .. import oracle
from ..rows import each

_REDUCED = [
    "{f}(f34)",
    "{f}(f34, axis=0)",
    "{f}(f34, -1)",
    "{f}(f234, axis=(0, 2))",
    "{f}(f234, axis=(-1, 1), keepdims=True)",
    "{f}(f34, axis=())",
    "{f}(f34, keepdims=True)",
    "{f}(f34, axis=1, keepdims=False)",
    "{f}(ft34, axis=0)",
    "{f}(st34, axis=1)",
    "{f}(neg5)",
    "{f}(g34, axis=0)",
    "{f}(h34[:2, :2])",
    "{f}(i34)",
    "{f}(i234[:1, :2, :2], axis=(0, 1))",
    "{f}(j34)",
    "{f}(s34)",
    "{f}(u34, axis=1)",
    "{f}(b34)",
    "{f}(b34, axis=0)",
    "{f}(f0)",
    "{f}(i0)",
    "{f}(f0, axis=())",
    "{f}(e0)",
    "{f}(e03, axis=0)",
    "{f}(e03, axis=1)",
    "{f}(f34, axis=2)",
    "{f}(f34, axis=-3)",
    "{f}(f34, axis=(0, 0))",
    "{f}(f34, axis=(0, 2))",
    "{f}(f34, axis=1.5)",
    "{f}(f34, axis='x')",
    "{f}(f34, where=m34, initial=1.0)",
    "{f}(f34, axis=0, where=m34, initial=-2.0)",
    "{f}(f34, axis=1, where=[True, False, True, False], initial=0.5)",
    "{f}(f34, axis=1, where=m34[0], initial=0.5, keepdims=True)",
    "{f}(f34, initial=100.0)",
    "{f}(i34, axis=0, initial=-100)",
    "{f}(e0, initial=3.0)",
    "{f}(e03, axis=0, initial=3.0)",
]
_SUMMED = [
    "{f}(c34)",
    "{f}(d34, axis=0)",
    "{f}(f34, where=m34)",
    "{f}(c34, axis=1, where=m34)",
    "{f}(i34, axis=0, where=m34)",
    "{f}(f34, dtype=np.float32)",
    "{f}(g34, axis=0, dtype=np.float64)",
    "{f}(i34, dtype=np.float64)",
    "{f}(u34, dtype=np.uint8)",
    "{f}(f34, dtype=np.int64, axis=1)",
    "{f}(b34, dtype=bool)",
    "{f}(f34, dtype=complex)",
    "{f}(f34, 0, None, None, True)",
]
_EXTREME = [
    "{f}(nan6)",
    "{f}(nan34, axis=0)",
    "{f}(nan34, axis=1, keepdims=True)",
    "{f}(f34, where=m34)",
    "{f}(nan34, axis=0, initial=0.0)",
    "{f}(nan34, axis=0, initial=0.0, where=m34)",
    "{f}(b34, axis=0, where=m34, initial=True)",
    "{f}(np.array([-np.inf, np.inf, 1.0]) + f0)",
]
_SUMMED_NANS = [
    "{f}(nan6)",
    "{f}(nan34, axis=0)",
    "{f}(nan34, axis=1, keepdims=True)",
    "{f}(nan34, where=m34)",
    "{f}(nan34, dtype=np.float32)",
    "{f}(nan34.astype(np.float16), axis=0)",
    "{f}(nan34 + 0j)",
    "{f}(1j * nan34, axis=0)",
]
_RUNNING = [
    "{f}(f34)",
    "{f}(f34, axis=0)",
    "{f}(f34, -1)",
    "{f}(f234, axis=1)",
    "{f}(ft34)",
    "{f}(st34, axis=1)",
    "{f}(neg5)",
    "{f}(g34, axis=0)",
    "{f}(h34[:2, :2], axis=1)",
    "{f}(c34, axis=1)",
    "{f}(i34)",
    "{f}(j34, axis=0)",
    "{f}(s34[:, :2], axis=0)",
    "{f}(u34, axis=1)",
    "{f}(b34)",
    "{f}(b34, axis=0, dtype=bool)",
    "{f}(f0)",
    "{f}(i0, axis=0)",
    "{f}(f0, axis=-1)",
    "{f}(f0, axis=1)",
    "{f}(e0)",
    "{f}(e03, axis=0)",
    "{f}(e03, axis=1)",
    "{f}(f34, dtype=np.float32)",
    "{f}(i34, axis=1, dtype=np.float64)",
    "{f}(u34, axis=0, dtype=np.uint8)",
    "{f}(f34, axis=2)",
    "{f}(f34, axis=(0,))",
    "{f}(f34, axis=0.0)",
]
_RUNNING_NANS = ["{f}(nan6)", "{f}(nan34, axis=0)", "{f}(nan34, axis=1, dtype=np.float32)", "{f}(nan34 + 1j, axis=1)"]


def _named(f: str, *tables: list[str]) -> list[str]:
    return [case.format(f=f) for table in tables for case in table]


CASES: dict[Any, list[str]] = {
    np.sum: _named("np.sum", _REDUCED, _SUMMED),
    np.prod: _named("np.prod", _REDUCED, _SUMMED),
    np.max: _named("np.max", _REDUCED, _EXTREME),
    np.amax: ["np.amax(f34)", "np.amax(f34, axis=1)"],
    np.min: _named("np.min", _REDUCED, _EXTREME),
    np.amin: ["np.amin(f34)", "np.amin(f34, axis=1)"],
    np.cumsum: _named("np.cumsum", _RUNNING),
    np.cumprod: _named("np.cumprod", _RUNNING),
    np.nansum: _named("np.nansum", _REDUCED, _SUMMED, _SUMMED_NANS),
    np.nanprod: _named("np.nanprod", _REDUCED, _SUMMED, _SUMMED_NANS),
    np.nanmax: [
        *_named("np.nanmax", _REDUCED, _EXTREME),
        "np.nanmax(nan6[[1, 4]])",
        "np.nanmax(nan6[[1, 4]], initial=np.nan)",
        "np.nanmax(nan34 * np.nan, axis=1)",
        "np.nanmax(nan34, axis=0, where=m34, initial=np.nan)",
        "np.nanmax(np.stack([nan6, nan6 * np.nan]), axis=1, keepdims=True)",
    ],
    np.nanmin: [
        *_named("np.nanmin", _REDUCED, _EXTREME),
        "np.nanmin(nan6[[1, 4]])",
        "np.nanmin(nan34 * np.nan, axis=1)",
        "np.nanmin(nan34, axis=0, where=m34, initial=np.nan)",
        "np.nanmin(nan34.astype(np.float16), axis=0)",
    ],
    np.nancumsum: _named("np.nancumsum", _RUNNING, _RUNNING_NANS),
    np.nancumprod: _named("np.nancumprod", _RUNNING, _RUNNING_NANS),
}


@each("expression", CASES)
def test_as_numpy(backend: str, expression: str) -> None:
    oracle.check(expression, backend)


@pytest.mark.parametrize(
    "expression",
    ["np.{f}(f34, axis=0, out=np.empty_like(f34[0]))", "np.{f}(i34, axis=1, out=np.empty_like(f34[:, 0]))"],
)
@pytest.mark.parametrize("f", ["sum", "prod", "max", "min", "nansum", "nanprod", "nanmax", "nanmin"])
def test_out(backend: str, f: str, expression: str) -> None:
    oracle.check(expression.format(f=f), backend)


@pytest.mark.parametrize("array", ["i34", "j34", "s34", "u34", "b34", "f34", "g34"])
@pytest.mark.parametrize("f", ["arctan2", "copysign", "hypot", "ldexp", "logical_and"])
def test_the_loop_of_an_accumulation_has_one_dtype(backend: str, f: str, array: str) -> None:
    oracle.check(f"np.{f}.accumulate({array})", backend)
    oracle.check(f"np.{f}.reduceat({array}, [0, 2], axis=1)", backend)


_POSITIONAL = [
    "", "None", "0", "0, None", "0, None, None", "0, None, True", "0, bool", "0, bool, None, True", "0, float", "None, None, None, True",
    "0, None, None, True", "0, None, None, 0, True", "0, None, True, 0", "None, None, None, True, 0, True", "0, None, None, 1, True, 1, 1",
    "dtype=bool", "axis=1, dtype=float", "axis=0, keepdims=True", "where=False", "where=None", "nope=1", "keepdims=None", "(0, 1)",
]  # fmt: skip


@pytest.mark.parametrize("method", "all any argmax argmin cumprod cumsum max mean min prod std sum var".split())
def test_positional_arguments_of_methods(backend: str, method: str) -> None:
    for arguments in _POSITIONAL:
        oracle.check(f"i34.{method}({arguments})", backend)


@pytest.mark.parametrize("f", [np.nanmax, np.nanmin])
def test_all_nan_slices_are_warned_of(backend: str, f: Any) -> None:
    a = oracle.wrapped(backend, np.array([[1.0, np.nan], [np.nan, np.nan]]))
    with pytest.warns(RuntimeWarning, match="All-NaN slice encountered") as caught:
        f(a, axis=1)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f(a, axis=0, initial=0.0)


def test_the_first_of_several_complex_nans_stays(backend: str) -> None:
    """To the bit, whichever way a library folds an axis; also of what holds nothing else."""
    some = [1 + 2j, complex(np.nan, 1), complex(2, np.nan), complex(np.nan, np.nan), complex(np.nan, 3), 5 + 0j]
    rows = [np.array(row, dtype) for n in (2, 3) for row in itertools.product(some, repeat=n) for dtype in "FD"]
    rng = np.random.default_rng(3)
    tables = [rng.choice(some, (n, 7)) for n in (1, 2, 4, 5, 8, 13)]
    calls = [
        (getattr(np, name), x, {})
        for name in ("max", "min", "nanmax", "nanmin")
        for x in (rows if backend != "jax" else rows[::40])
    ]
    calls += [(f, x, {"axis": axis}) for f in (np.max, np.min) for x in tables for axis in (0, 1, None, (0, 1))]
    calls += [
        (f.accumulate, x, {"axis": axis}) for f in (np.maximum, np.minimum) for x in tables[::2] for axis in (0, 1)
    ]
    calls += [(f, x, {"axis": 0, "initial": complex(np.nan, 9)}) for f in (np.max, np.minimum.reduce) for x in tables]
    wrong = []
    with warnings.catch_warnings(), ad.backend(backend), ad.execution("eager"):
        warnings.simplefilter("ignore")
        for f, x, options in calls:
            want, made = np.asarray(f(x, **options)), np.asarray(f(ad.asarray(x), **options))
            if want.dtype != made.dtype or want.tobytes() != made.tobytes():
                wrong.append(f"{f.__name__} {options} of {x.tolist()}: {made.tolist()} is not {want.tolist()}")
    assert not wrong, "\n".join(wrong[:10])
