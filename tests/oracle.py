"""NumPy is the oracle: one expression runs on NumPy's arrays and on ours, and everything observable is compared.

A case is a Python expression over ``np`` and the named arrays of :data:`ARRAYS`, such as ``"np.median(f34, axis=0)"``.
:func:`check` evaluates it twice and compares value, dtype, shape, scalar or array, and the exception's type.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import arraydispatch as ad


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


def _evaluate(expression: str, arrays: dict[str, Any]) -> Any:
    used = {name: value for name, value in arrays.items() if name in expression}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return eval(expression, {"np": np, **used})
        except Exception as error:
            return error


def _tolerance(dtype: np.dtype[Any], rtol: float | None) -> float:
    if rtol is not None:
        return rtol
    if dtype.kind not in "fc":
        return 0.0
    return 64 * float(np.finfo(dtype).eps)


def compare(ours: Any, theirs: Any, where: str, rtol: float | None = None) -> None:
    """Assert that two results are the same: type of thing, dtype, shape, value."""
    if isinstance(theirs, Exception):
        assert isinstance(ours, Exception), f"{where}: NumPy raises {theirs!r}, we return {ours!r}"
        same = isinstance(ours, type(theirs)) or isinstance(theirs, type(ours))
        assert same, f"{where}: NumPy raises {theirs!r}, we raise {ours!r}"
        return
    if isinstance(ours, Exception):
        raise AssertionError(f"{where}: we raise, NumPy returns {theirs!r}") from ours
    if isinstance(theirs, tuple | list):
        assert type(ours).__name__ == type(theirs).__name__, f"{where}: {type(ours)} for {type(theirs)}"
        assert len(ours) == len(theirs), where
        for i, (x, y) in enumerate(zip(ours, theirs)):
            compare(x, y, f"{where}[{i}]", rtol)
        return
    if isinstance(theirs, np.ndarray):
        assert isinstance(ours, ad.Array), f"{where}: {type(ours)} where NumPy returns an array"
    elif isinstance(theirs, np.generic):
        assert isinstance(ours, np.generic), f"{where}: {type(ours)} where NumPy returns a scalar"
    else:
        assert type(ours) is type(theirs), f"{where}: {type(ours)} for {type(theirs)}"
        assert ours == theirs, f"{where}: {ours!r} != {theirs!r}"
        return
    assert ours.dtype == theirs.dtype, f"{where}: dtype {ours.dtype}, NumPy's is {theirs.dtype}"
    assert ours.shape == theirs.shape, f"{where}: shape {ours.shape}, NumPy's is {theirs.shape}"
    got = ad.to_numpy(ours)
    tolerance = _tolerance(theirs.dtype, rtol)
    if tolerance:
        scale = np.max(np.abs(theirs[np.isfinite(theirs)]), initial=0.0) if theirs.ndim else abs(theirs)
        np.testing.assert_allclose(got, theirs, rtol=tolerance, atol=tolerance * float(scale), err_msg=where)
    else:
        np.testing.assert_array_equal(got, theirs, err_msg=where)


def check(expression: str, backend: str, *, rtol: float | None = None, host: bool = False) -> None:
    """Evaluate an expression on NumPy and on a backend and compare everything.

    Parameters
    ----------
    expression : str
        Over ``np`` and the names in :data:`ARRAYS`.
    backend : str
        Name of the backend.
    rtol : float, optional
        Relative tolerance; the default is 64 eps of the result's dtype, of the largest element.
    host : bool
        Whether the call may run on the host; otherwise a fallback is an error.
    """
    theirs = _evaluate(expression, {name: x.copy(order="K") for name, x in ARRAYS.items() if name in expression})
    arrays = {name: wrapped(backend, x) for name, x in ARRAYS.items() if name in expression}
    with ad.fallback("silent" if host else "error"):
        ours = _evaluate(expression, arrays)
    compare(ours, theirs, f"{expression} on {backend}", rtol)
