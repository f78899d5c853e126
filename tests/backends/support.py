"""What the contract tests share: the backends by import path, values by dtype, comparison in units in the last place."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

NAMES = ("numpy", "jax", "torch", "tensorflow")

BOOL = "?"
INTEGERS = "bhilBHIL"
FLOATS = "efd"
COMPLEX = "FD"


@functools.cache
def load(name: str) -> Any:
    """The backend of that name, or None where its library is not installed."""
    if importlib.util.find_spec(name) is None:
        return None
    return importlib.import_module(f"arraydispatch.backends.{name}").BACKEND


def need(name: str) -> Any:
    backend = load(name)
    if backend is None:
        pytest.skip(f"{name} is not installed")
    return backend


def call(backend: Any, function: Any, *args: Any) -> Any:
    """Call a kernel as the dispatch layer does: inside the backend's scope where it has one."""
    scope = backend.scope
    with nullcontext() if scope is None else scope():
        return function(*args)


def to_native(backend: Any, value: Any) -> Any:
    """Replace every ndarray (in lists and tuples too) by a native array of its own memory."""
    if isinstance(value, np.ndarray):
        return backend.from_numpy(value, copy=True)
    if isinstance(value, (list, tuple)):
        return type(value)(to_native(backend, item) for item in value)
    return value


def to_host(backend: Any, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(to_host(backend, item) for item in value)
    # NumPy's own ufuncs return scalars where the operands are 0-d.
    return np.asarray(value) if isinstance(value, np.generic) else np.asarray(backend.to_numpy(value))


def special_values(dtype: Any) -> np.ndarray[Any, Any]:
    """Values at which libraries differ: zeros of both signs, ends of the range, infinities, NaN, ties of rounding."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        numbers = {0, 1, 2, 3, 5, 7, 8, 10, 12, 31, 63, 64, 100, info.max, info.max - 1}
        if dtype.kind == "i":
            numbers |= {-number for number in numbers} | {info.min}
        return np.array([n for n in sorted(numbers) if info.min <= n <= info.max], dtype)
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        magnitudes = [0.0, 1e-3, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, np.pi, 7.25, 10.0, 33.0, 100.0]
        ends = [limits.max, limits.tiny * 4, limits.eps, np.inf]
        with np.errstate(over="ignore"):
            values = np.array([*magnitudes, *ends], dtype)
        return np.concatenate([values, -values, np.array([np.nan], dtype)])
    part = [0.0, -0.0, 0.5, -0.75, 1.0, -1.0, 2.5, -3.25, 10.0]
    return np.array([complex(re, im) for re in part for im in part], dtype)


def nonfinite_complex(dtype: Any) -> np.ndarray[Any, Any]:
    """Complex numbers with an infinite or NaN part."""
    part = [0.0, 1.0, -2.5, np.inf, -np.inf, np.nan]
    pairs = [(re, im) for re in part for im in part if not (np.isfinite(re) and np.isfinite(im))]
    return np.array([complex(re, im) for re, im in pairs], dtype)


def _flushed(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Subnormal numbers as zeros of their sign: XLA and TensorFlow flush them on the CPU."""
    return np.where(np.abs(x) < np.finfo(x.dtype).tiny, np.copysign(np.zeros_like(x), x), x)


def ulps(got: Any, want: Any, terms: Any = ()) -> Any:
    """Distance in units in the last place of ``want``; infinite where one is NaN or infinite and the other is not.

    For complex numbers the unit is that of the larger part: a small part next to a large one carries the rounding
    errors of the large one in every library. So it is for a sum, the largest of whose ``terms`` sets the unit.
    """
    if want.dtype.kind == "c":
        with np.errstate(all="ignore"):
            unit = np.spacing(np.maximum(np.abs(want.real), np.abs(want.imag)))
            parts = [_distance(g, w, unit) for g, w in ((got.real, want.real), (got.imag, want.imag))]
        return np.maximum(*parts)
    with np.errstate(all="ignore"):
        largest = functools.reduce(np.maximum, [np.abs(t) for t in terms], np.abs(want))
        return _distance(got, want, np.spacing(np.where(np.isfinite(largest), largest, np.abs(want))))


def _distance(got: Any, want: Any, unit: Any) -> Any:
    got, want = _flushed(got), _flushed(want)
    unit = np.maximum(unit, np.finfo(want.dtype).tiny * np.finfo(want.dtype).eps)
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    distance = np.abs(got.astype(np.float64) - want.astype(np.float64)) / unit.astype(np.float64)
    return np.where(same, 0.0, np.where(np.isfinite(got) & np.isfinite(want), distance, np.inf))


def check(
    got: Any,
    want: Any,
    *,
    ulp: float = 0,
    terms: Any = (),
    signed_zero: bool = True,
    inputs: Any = (),
    where: Any = None,
) -> None:
    """Same dtype, same shape, same values to ``ulp`` units in the last place (all of them: NaN, infinities, zeros)."""
    if isinstance(want, tuple):
        assert isinstance(got, tuple)
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            check(g, w, ulp=ulp, terms=terms, signed_zero=signed_zero, inputs=inputs, where=where)
        return
    want = np.asarray(want)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if want.dtype.kind not in "fc":
        wrong = got != want
    else:
        wrong = ulps(got, want, terms) > ulp
        if signed_zero and want.dtype.kind == "f":
            wrong |= (want == 0) & (got == 0) & (np.signbit(want) != np.signbit(got))
    if where is not None:
        wrong &= where
    if wrong.any():
        rows = [
            f"{tuple(x[i] for x in inputs)}: got {got[i]}, NumPy {want[i]}" for i in list(zip(*np.nonzero(wrong)))[:8]
        ]
        raise AssertionError(f"{int(wrong.sum())} of {wrong.size} values differ:\n  " + "\n  ".join(rows))
