"""Reductions along a short last axis: NumPy's bits, dtypes, shapes and warnings."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from arraydispatch._core import machine
from arraydispatch.ufuncs import lanes
from tests.launched import Zygotes, prints_as_plainly

NAMES = ("sum", "mean", "var", "std", "norm", "prod", "max", "min", "any", "all")


def _plain(name: str, x: Any, **how: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.linalg.norm(x, **how) if name == "norm" else getattr(x, name)(**how)


def _values(rng: np.random.Generator, kind: str, shape: tuple[int, ...], dtype: str) -> Any:
    x = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4)
    if kind == "zeros":
        x = rng.choice([1.0, -1.0, 0.0, -0.0], size=shape)
    elif kind == "negative zeros":
        x = rng.choice([-0.0, -0.0, -0.0, 0.0], size=shape)
    elif kind in ("nan", "inf"):
        x[rng.random(shape) < 0.1] = float(kind)
    if dtype in "fd":
        return x.astype(dtype)
    return x > 0 if dtype == "?" else np.nan_to_num(x, posinf=5, neginf=-5).clip(-100, 100).astype(dtype)


@pytest.mark.parametrize("kind", ["usual", "zeros", "negative zeros", "nan", "inf"])
@pytest.mark.parametrize("name", NAMES)
def test_bits_are_numpys(name: str, kind: str) -> None:
    """Reduce arrays of many shapes and dtypes, and compare bytes."""
    rng, computed = np.random.default_rng(NAMES.index(name)), 0
    for n in (*range(2, 14), 16, 17):
        for dtype in "fdlbhiBHIL?":
            x = _values(rng, kind, (int(rng.integers(512, 900)), n), dtype)
            if rng.random() < 0.3 and len(x) % 2 == 0:
                x = x.reshape(2, -1, n)
            keepdims = bool(rng.integers(2))
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                made = lanes.reduced(name, x, int(rng.choice([-1, x.ndim - 1])), keepdims)
            if made is not None:
                theirs = _plain(name, x, axis=-1, keepdims=keepdims)
                assert (made.dtype, made.shape) == (theirs.dtype, theirs.shape)
                assert made.tobytes() == theirs.tobytes(), (n, dtype)
                computed += 1
    assert computed > 10 or kind == "inf", computed


@pytest.mark.parametrize("kind", ["usual", "zeros", "negative zeros", "nan", "inf"])
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_bits_along_axes_between(name: str, kind: str) -> None:
    """Add rows along axes before the last, and compare bytes."""
    rng, computed = np.random.default_rng(len(name)), 0
    for _ in range(120):
        shape = tuple(rng.integers(1, 9, int(rng.integers(1, 5))).tolist()) + (int(rng.integers(1, 40)),)
        x = _values(rng, kind, (-(-2000 // int(np.prod(shape))), *shape), str(rng.choice(["f", "d"])))
        first, last = sorted(rng.integers(0, x.ndim, 2).tolist())
        axis: Any = tuple(int(i - x.ndim * rng.integers(2)) for i in range(first, last + 1))
        keepdims = bool(rng.integers(2))
        made = lanes.reduced(name, x, axis[0] if len(axis) == 1 else axis, keepdims)
        if made is not None:
            theirs = _plain(name, x, axis=axis, keepdims=keepdims)
            assert (made.dtype, made.shape, made.flags.owndata) == (theirs.dtype, theirs.shape, True)
            assert made.tobytes() == theirs.tobytes(), (x.shape, axis)
            computed += 1
    assert computed > 10 or kind in ("inf", "nan") or not machine.add_rows(np.ones((1, 1, 2)), np.ones((1, 2)))


@pytest.mark.parametrize("kind", ["usual", "zeros", "negative zeros", "nan", "inf"])
@pytest.mark.parametrize("name", ["sum", "mean", "var", "std", "max", "min"])
def test_bits_along_the_other_axes(name: str, kind: str) -> None:
    """Reduce the rows of arrays of few columns, and compare bytes."""
    rng, computed = np.random.default_rng(NAMES.index(name)), 0
    for n in range(2, 10):
        for dtype in "fdlbhiBHIL?":
            x = _values(rng, kind, (2 * int(rng.integers(256, 900)), n), dtype)
            axis: Any = 0
            if rng.random() < 0.5:
                x, axis = x.reshape(2, -1, n), (0, 1)
            keepdims = bool(rng.integers(2))
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                made = lanes.reduced(name, x, axis, keepdims)
            if made is not None:
                theirs = _plain(name, x, axis=axis, keepdims=keepdims)
                assert (made.dtype, made.shape) == (theirs.dtype, theirs.shape)
                assert made.tobytes() == theirs.tobytes(), (n, dtype)
                computed += 1
    assert computed > 10 or kind in ("inf", "nan") or name in ("var", "std"), computed


@pytest.mark.parametrize("name", ["var", "std"])
def test_degrees_of_freedom(name: str) -> None:
    """Take away degrees of freedom, and leave to NumPy what it warns of."""
    x = np.random.default_rng(1).normal(size=(700, 3))
    for ddof in (0, 1, 2):
        made = lanes.called(name, x, (), {"axis": 1, "ddof": ddof})
        assert made is not None and made.tobytes() == _plain(name, x, axis=1, ddof=ddof).tobytes()
    assert lanes.called(name, x, (), {"axis": 1, "ddof": 3}) is None
    assert lanes.called("sum", x, (), {"axis": 1, "ddof": 1}) is None


def test_other_arguments_are_numpys() -> None:
    """Leave to NumPy all but the last axis of a contiguous array of many short lanes."""
    x = np.random.default_rng(1).normal(size=(700, 3))
    for args, kwargs in (
        ((), {}),
        ((None,), {}),
        (((1,),), {}),
        ((2,), {}),
        ((1,), {"dtype": "f4"}),
        ((1.0,), {}),
        ((True,), {}),
        ((np.float64(0),), {}),
        (((0.0,),), {}),
        (((False,),), {}),
        ((np.array(0),), {}),
        (([0],), {}),
    ):
        assert lanes.called("sum", x, args, kwargs) is None
    assert lanes.called("norm", x, (1,), {}) is None  # its order
    assert lanes.called("sum", x.reshape(2, -1, 3), (np.int64(0),), {}) is None
    for other in (
        x[:, ::-1],
        x.T,
        x[:100],
        np.asfortranarray(x),
        x.astype("f2"),
        x.astype(">f8"),
        x.astype(complex),
        x[:, :1],
    ):
        assert lanes.reduced("sum", other, 1) is None


CALLS = """
import warnings
import numpy as np
rng = np.random.default_rng(5)

def tell(label, call):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            x = call()
            made = type(x).__name__, x.dtype.str, x.shape, x.flags.owndata, x.base is None, x.ravel()[:3].tolist(), float(x.sum())
        except Exception as error:
            made = type(error).__name__, str(error)
    print(label, made, [(str(each.message), each.lineno) for each in told])

for shape in ((600, 3), (1600, 3), (2000, 2), (40_000, 3), (300_000, 2), (150_000, 8), (50, 40, 4), (700, 1), (700, 40), (9, 30, 5, 6)):
    for x in (rng.integers(-9, 9, shape).astype(float), rng.integers(0, 3, shape), rng.random(shape) > 0.5):
        for name in ("sum", "mean", "var", "std", "prod", "max", "min", "any", "all", "argmax"):
            func = getattr(np, name)
            tell((name, shape, "method"), lambda: getattr(x, name)(axis=1))
            tell((name, shape, "by position"), lambda: getattr(x, name)(-1))
            tell((name, shape, "function"), lambda: func(x, axis=-1))
            tell((name, shape, "function by position"), lambda: func(x, 1))
            tell((name, shape, "kept"), lambda: func(x, axis=-1, keepdims=True))
            tell((name, shape, "computed"), lambda: func(x + x, axis=-1))
            tell((name, shape, "first"), lambda: func(x, axis=0))
            tell((name, shape, "first, method"), lambda: getattr(x, name)(0))
            tell((name, shape, "other axes"), lambda: func(x, axis=tuple(range(x.ndim - 1)) if name[:3] != "arg" else 0))
            tell((name, shape, "out of range"), lambda: func(x, axis=3))
        tell(("reduce", shape), lambda: np.add.reduce(x, axis=1))
        tell(("reduce", shape), lambda: np.maximum.reduce(x, 1))
        tell(("norm", shape), lambda: np.linalg.norm(x, axis=-1))
        c, w = x.ravel()[: x.shape[-1]].copy(), x.ravel()[: x[..., 0].size].reshape(*x.shape[:-1], 1).copy()
        for func in (np.subtract, np.multiply, np.maximum, np.greater, np.divide, np.add):
            if x.dtype.kind != "b" or func is not np.subtract:
                tell((func, shape, "row"), lambda: func(x, c))
                tell((func, shape, "row before"), lambda: func(c, x))
                tell((func, shape, "column"), lambda: func(x, w))
                tell((func, shape, "column before"), lambda: func(w, x))
                tell((func, shape, "own row"), lambda: func(x, x[:1]))
                tell((func, shape, "out"), lambda: func(x, c, out=np.zeros_like(func(x, c))))
                y = x.copy()
                tell((func, shape, "in place"), lambda: func(y, y[:1], out=y))
                tell((func, shape, "in place"), lambda: func(y, w, out=y))
        tell(("axis", shape), lambda: x.sum(axis=np.float64(0)))
        tell(("axis", shape), lambda: x.max(axis=np.int64(0)))
        fixed = x.copy()
        fixed.flags.writeable = False
        tell(("read-only", shape), lambda: np.add(x, c, out=fixed))
        tell(("read-only", shape), lambda: np.bitwise_xor(x, w, out=fixed))
        y = x.copy()
        tell(("out by position", shape), lambda: np.maximum(y, c, y))
        tell(("clip", shape), lambda: np.clip(x * 1, c, c) + x)
        if x.ndim == 2:
            tell(("order", shape), lambda: np.linalg.norm(x * 1.0, 1)[None])
        tell(("ddof", shape), lambda: np.std(x, axis=1, ddof=1))
        tell(("dtype", shape), lambda: np.sum(x, axis=1, dtype=np.float32))
        tell(("out", shape), lambda: np.sum(x, axis=1, out=np.zeros(x.sum(axis=1).shape, x.sum(axis=1).dtype)))
huge = np.full((700, 3), 1e308)
tell("overflow", lambda: huge.sum(axis=1))
tell("overflow", lambda: np.mean(huge, axis=1))
tell("overflow", lambda: np.prod(huge, axis=1))
huge[0, 0], huge[0, 1] = np.inf, -np.inf
tell("invalid", lambda: np.sum(huge, axis=1))
tell("degrees", lambda: np.var(huge, axis=1, ddof=3))
"""


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_calls_are_as_plainly(zygotes: Zygotes, backend: str, tmp_path: Path) -> None:
    """Call methods and functions on arrays of all sizes, and compare what they give and warn of."""
    prints_as_plainly(zygotes, backend, CALLS, tmp_path, () if backend == "numpy" else ("--min-size", str(1 << 30)))
