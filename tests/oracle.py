"""NumPy is the oracle: one expression runs on NumPy's arrays and on ours, and everything observable is compared.

A case is a Python expression over ``np`` and the named arrays of :data:`ARRAYS`, such as ``"np.median(f34, axis=0)"``.
:func:`check` evaluates it twice and compares value, dtype, shape, scalar or array, and the exception's type.
"""

from __future__ import annotations

import functools
import json
import os
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import arraydispatch as ad

from .functions import accuracy


def _make() -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(20240607)
    f = rng.normal(size=(3, 4)) * 3
    square = rng.normal(size=(3, 3))
    nan = np.array([3.0, np.nan, -1.0, 2.5, np.nan, 0.0])
    ties = np.array([2, 0, 2, 1, 0, 2, 1])
    return {
        "f34": f,
        "g34": f.astype(np.float32),
        "h34": f.astype(np.float16),
        "c34": f + 1j * rng.normal(size=(3, 4)),
        "d34": (f + 1j * rng.normal(size=(3, 4))).astype(np.complex64),
        "i34": rng.integers(-9, 9, (3, 4)),
        "j34": rng.integers(-9, 9, (3, 4)).astype(np.int32),
        "s34": rng.integers(-9, 9, (3, 4)).astype(np.int8),
        "u34": rng.integers(0, 9, (3, 4)).astype(np.uint8),
        "b34": rng.random((3, 4)) < 0.5,
        "m34": f > 0.3,  # a mask with both values
        "f5": rng.normal(size=5),
        "p5": rng.random(5) + 0.1,  # positive
        "f6": rng.normal(size=6),
        "i5": np.array([3, 1, 4, 1, 5]),
        "k5": np.array([0, 2, 1, 2, 0]),  # indices into an axis of 3
        "b5": np.array([True, False, True, True, False]),
        "c5": rng.normal(size=5) + 1j * rng.normal(size=5),
        "nan6": nan,
        "nan34": np.where(rng.random((3, 4)) < 0.3, np.nan, f),
        "ties7": ties,
        "f234": rng.normal(size=(2, 3, 4)),
        "i234": rng.integers(-20, 20, (2, 3, 4)),
        "f2345": rng.normal(size=(2, 3, 4, 5)),
        "sq33": square,
        "spd33": square @ square.T + 3 * np.eye(3),
        "cs33": square + 1j * rng.normal(size=(3, 3)),
        "sq233": rng.normal(size=(2, 3, 3)),
        "f33": rng.normal(size=(3, 3)),
        "f0": np.array(2.5),
        "i0": np.array(3),
        "e0": np.zeros(0),
        "e03": np.zeros((0, 3)),
        "ft34": np.asfortranarray(f),  # not C-contiguous
        "st34": np.repeat(f, 2, axis=1)[:, ::2],  # strided
        "neg5": rng.normal(size=5)[::-1],  # negative stride
    }


ARRAYS = _make()


def wrapped(backend: str, x: np.ndarray[Any, Any]) -> ad.Array:
    """A NumPy array on a backend, as a user's ``asarray`` makes it."""
    with ad.backend(backend):
        return ad.asarray(x.copy(order="K"))


def evaluate(expression: str, arrays: dict[str, Any]) -> Any:
    """The expression's value with these arrays, or the exception it raises. Warnings are another test's subject."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        warnings.simplefilter("ignore", np.exceptions.RankWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return eval(expression, {"np": np, **arrays})
        except Exception as error:
            return error


# -- comparison ----------------------------------------------------------------------------------------------------------


def distances(ours: Any, theirs: Any, elementwise: bool = False, where: str = "") -> dict[str, float]:
    """Assert that two results are the same thing, and return how far their floating values are apart.

    Parameters
    ----------
    ours, theirs : object
        What we and NumPy returned or raised.
    elementwise : bool
        Whether an element's error is measured against that element; otherwise against the largest one of the result.
    where : str
        What to say before a difference.

    Returns
    -------
    dict
        Name of each floating dtype in the result -> largest distance in units in the last place.

    Raises
    ------
    AssertionError
        Where type, dtype, shape, exception, or a value that cannot be rounded, is another.
    """
    if isinstance(theirs, Exception):
        assert isinstance(ours, Exception), f"{where}: NumPy raises {theirs!r}, we return {ours!r}"
        same = isinstance(ours, type(theirs)) or isinstance(theirs, type(ours))
        assert same, f"{where}: NumPy raises {theirs!r}, we raise {ours!r}"
        return {}
    if isinstance(ours, Exception):
        raise AssertionError(f"{where}: we raise {ours!r}, NumPy returns {theirs!r}") from ours
    if isinstance(theirs, tuple | list):
        assert type(ours).__name__ == type(theirs).__name__, f"{where}: {type(ours)} for {type(theirs)}"
        assert len(ours) == len(theirs), f"{where}: {len(ours)} results, NumPy has {len(theirs)}"
        found: dict[str, float] = {}
        for i, (x, y) in enumerate(zip(ours, theirs)):
            for dtype, distance in distances(x, y, elementwise, f"{where}[{i}]").items():
                found[dtype] = max(distance, found.get(dtype, 0.0))
        return found
    if isinstance(theirs, np.ndarray):
        assert isinstance(ours, ad.Array), f"{where}: {type(ours)} where NumPy returns an array"
    elif isinstance(theirs, np.generic):
        assert isinstance(ours, np.generic), f"{where}: {type(ours)} where NumPy returns a scalar"
    else:
        assert type(ours) is type(theirs), f"{where}: {type(ours)} for {type(theirs)}"
        assert ours == theirs or ours != ours, f"{where}: {ours!r} != {theirs!r}"
        return {}
    assert ours.dtype == theirs.dtype, f"{where}: dtype {ours.dtype}, NumPy's is {theirs.dtype}"
    assert ours.shape == theirs.shape, f"{where}: shape {ours.shape}, NumPy's is {theirs.shape}"
    got, want = np.asarray(ad.to_numpy(ours)), np.asarray(theirs)
    if want.dtype.kind not in "fc":
        np.testing.assert_array_equal(got, want, err_msg=where)
        return {}
    distance = ulps(got, want, elementwise)
    assert np.isfinite(distance), f"{where}: {got!r} where NumPy has {want!r}"
    return {want.dtype.name: distance}


def ulps(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any], elementwise: bool) -> float:
    """The largest distance in units in the last place of NumPy's value; infinite where only one is NaN or infinite.

    The unit of a complex number is that of its larger part. Subnormal numbers are as good as zeros: XLA and TensorFlow
    flush them on the CPU (the page on accuracy says where).
    """
    if want.dtype.kind == "c":
        neither = ~(np.isnan(got) & np.isnan(want))  # a complex number is NaN if either part is
        got, want = (np.where(neither, x, 0).astype(x.dtype) for x in (got, want))
        got, want = (x.view(x.real.dtype).reshape(*x.shape, 2) for x in map(np.ascontiguousarray, (got, want)))
        if elementwise:
            return _ulps(got, want, np.max(np.abs(want), axis=-1, keepdims=True, initial=0.0))
    return _ulps(got, want, np.abs(want) if elementwise else None)


def _ulps(got: np.ndarray[Any, Any], want: np.ndarray[Any, Any], sizes: np.ndarray[Any, Any] | None) -> float:
    limits = np.finfo(want.dtype)
    with np.errstate(all="ignore"):
        finite = np.isfinite(want)
        if sizes is None:
            sizes = np.max(np.abs(want), initial=0.0, where=finite)
        unit = np.spacing(np.where(np.isfinite(sizes), sizes, np.abs(want))).astype(np.float64)
        low, high = (np.where(np.abs(x) < limits.tiny, 0, x).astype(np.float64) for x in (got, want))
        apart = np.abs(low - high) / np.maximum(unit, float(limits.smallest_subnormal))
    same = (low == high) | (np.isnan(low) & np.isnan(high))
    apart = np.where(same, 0.0, np.where(np.isfinite(got) & finite, apart, np.inf))
    return float(np.max(apart, initial=0.0))


OTHER_PROCESSORS = 2
"""Units that may come on top: NumPy and the libraries round otherwise where they find other vector instructions."""

_NAMES = re.compile(r"np\.(?:(?:linalg|fft|lib|random|polynomial|scimath|stride_tricks|emath)\.)*\w+")
_METHODS = re.compile(r"\.(\w+)\(")


def function_of(expression: str) -> str:
    """Whose accuracy an expression shows: that of the first function of NumPy's in it, else of the first method."""
    for name in _NAMES.findall(expression):
        found = functools.reduce(lambda x, part: getattr(x, part, None), name.split(".")[1:], np)
        if callable(found) and not isinstance(found, type) and name not in ("np.asanyarray", "np.asarray", "np.array"):
            return str(name)
    methods = [name for name in _METHODS.findall(expression) if hasattr(np.ndarray, name)]
    return f"ndarray.{methods[0]}" if methods else "operators"


def _note(backend: str, function: str, found: dict[str, float]) -> None:
    """Keep what was measured, where the command of :mod:`tests.functions.accuracy` asks for it."""
    path = os.environ.get("ARRAYDISPATCH_MEASURE")
    if path and found:
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"backend": backend, "function": function, "ulp": found}) + "\n")


def compare(
    ours: Any, theirs: Any, where: str, rtol: float | None = None, *, backend: str = "", function: str = ""
) -> None:
    """Assert that two results are the same: type of thing, dtype, shape, value within the function's figures."""
    found = distances(ours, theirs, where=where)
    if rtol is None:
        _note(backend, function, found)
    figures = accuracy.figures(backend).get(function, {})
    for dtype, distance in found.items():
        allowed = figures.get(dtype, 0) + OTHER_PROCESSORS if rtol is None else rtol / float(np.finfo(dtype).eps)
        assert distance <= allowed, f"{where}: {distance:.3g} units in the last place of {dtype}, {allowed:.3g} allowed"


def check(expression: str, backend: str, *, rtol: float | None = None, host: bool = False) -> None:
    """Evaluate an expression on NumPy and on a backend and compare everything.

    Parameters
    ----------
    expression : str
        Over ``np`` and the names in :data:`ARRAYS`.
    backend : str
        Name of the backend.
    rtol : float, optional
        Relative tolerance, of the largest element; the default is what the table of accuracy has for the function.
    host : bool
        Whether the call may run on the host; otherwise a fallback is an error.
    """
    theirs = evaluate(expression, {name: x.copy(order="K") for name, x in ARRAYS.items() if name in expression})
    arrays = {name: wrapped(backend, x) for name, x in ARRAYS.items() if name in expression}
    with ad.fallback("silent" if host else "error"):
        ours = evaluate(expression, arrays)
    compare(ours, theirs, f"{expression} on {backend}", rtol, backend=backend, function=function_of(expression))
