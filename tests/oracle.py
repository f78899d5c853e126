"""NumPy is the oracle: one expression runs on NumPy's arrays and on ours, and everything observable is compared.

A case is a Python expression over ``np`` and the named arrays of :data:`ARRAYS`, such as ``"np.median(f34, axis=0)"``.
:func:`check` evaluates it twice and compares value, dtype, shape, scalar or array, and the exception's type.
"""

from __future__ import annotations

import functools
import json
import math
import os
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import arraydispatch as ad

from . import limits


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


Floats = np.ndarray[Any, Any]


def parts(ours: Any, theirs: Any, where: str = "") -> list[tuple[Floats, Floats]]:
    """Assert that two results are the same thing, and return the floating arrays and scalars of both, which may be rounded.

    Parameters
    ----------
    ours, theirs : object
        What we and NumPy returned or raised.
    where : str
        What to say before a difference.

    Returns
    -------
    list of (ndarray, ndarray)
        In the order of :func:`.limits.leaves`.

    Raises
    ------
    AssertionError
        Where type, dtype, shape, exception, or a value that cannot be rounded, is another.
    """
    if isinstance(theirs, Exception):
        assert isinstance(ours, Exception), f"{where}: NumPy raises {theirs!r}, we return {ours!r}"
        same = isinstance(ours, type(theirs)) or isinstance(theirs, type(ours))
        assert same, f"{where}: NumPy raises {theirs!r}, we raise {ours!r}"
        return []
    if isinstance(ours, Exception):
        raise AssertionError(f"{where}: we raise {ours!r}, NumPy returns {theirs!r}") from ours
    if isinstance(theirs, tuple | list):
        assert type(ours).__name__ == type(theirs).__name__, f"{where}: {type(ours)} for {type(theirs)}"
        assert len(ours) == len(theirs), f"{where}: {len(ours)} results, NumPy has {len(theirs)}"
        return [pair for i, (x, y) in enumerate(zip(ours, theirs)) for pair in parts(x, y, f"{where}[{i}]")]
    if isinstance(theirs, np.ndarray):
        assert isinstance(ours, ad.Array), f"{where}: {type(ours)} where NumPy returns an array"
    elif isinstance(theirs, np.generic):
        assert isinstance(ours, np.generic), f"{where}: {type(ours)} where NumPy returns a scalar"
    else:
        assert type(ours) is type(theirs), f"{where}: {type(ours)} for {type(theirs)}"
        assert ours == theirs or ours != ours, f"{where}: {ours!r} != {theirs!r}"
        return []
    assert ours.dtype == theirs.dtype, f"{where}: dtype {ours.dtype}, NumPy's is {theirs.dtype}"
    assert ours.shape == theirs.shape, f"{where}: shape {ours.shape}, NumPy's is {theirs.shape}"
    got, want = np.asarray(ad.to_numpy(ours)), np.asarray(theirs)
    if want.dtype.kind not in "fc":
        np.testing.assert_array_equal(got, want, err_msg=where)
        return []
    return [(got, want)]


def distances(pairs: list[tuple[Floats, Floats]], elementwise: bool = False) -> dict[str, float]:
    """Name of each floating dtype -> largest distance of ours from NumPy's in units in the last place.

    ``elementwise``: whether an element's error is measured against that element; otherwise against the largest of the result.
    """
    found: dict[str, float] = {}
    for got, want in pairs:
        distance = float(np.max(limits.apart(got, want, elementwise), initial=0.0))
        found[want.dtype.name] = max(distance, found.get(want.dtype.name, 0.0))
    return found


def within(
    pairs: list[tuple[Floats, Floats]], theirs: Any, call: Call, backend: str, *, elementwise: bool = False
) -> str:
    """What is beyond the limits of :mod:`.limits`, in words; nothing if all is within them."""
    operands = [x for name, x in call.operands.items() if name != "out"]
    allowed = limits.units(call.expression, operands, backend)
    moved: list[Floats] | None = None
    for i, (got, want) in enumerate(pairs):
        distance = limits.apart(got, want, elementwise)
        left, why = float(np.max(distance, initial=0.0)), ""
        if left > allowed > 0 and limits.moves(call.expression, operands):
            normwise = limits.of_matrices(call.expression)
            moved = moved or limits.movements(
                call.run, call.operands, theirs, elementwise=elementwise, normwise=normwise
            )
            why = f" (of {left:.3g}, beside what the operands' last bits do)"
            left = limits.excess(distance, moved[i], want.dtype, elementwise)
        if not left <= allowed:
            return f"{left:.3g} units in the last place of {want.dtype}{why}, {allowed:.3g} allowed\n{got!r}\nNumPy: {want!r}"
    return ""


@dataclass(frozen=True)
class Call:
    """An expression that can be evaluated again, with NumPy's arrays under their names."""

    expression: str
    operands: dict[str, Floats] = field(default_factory=dict)
    evaluate: Callable[[str, dict[str, Any]], Any] = evaluate

    def run(self, operands: dict[str, Floats]) -> Any:
        """The value with other operands, or the exception."""
        return self.evaluate(self.expression, operands)


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
    found = {dtype: distance for dtype, distance in found.items() if math.isfinite(distance)}
    if path and found:
        with Path(path).open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"backend": backend, "function": function, "ulp": found}) + "\n")


def compare(
    ours: Any, theirs: Any, where: str, rtol: float | None = None, *, backend: str = "", call: Call | None = None
) -> None:
    """Assert that two results are the same: type of thing, dtype, shape, value within the limits of the call, or ``rtol``."""
    pairs = parts(ours, theirs, where)
    if rtol is not None:
        for dtype, distance in distances(pairs).items():
            allowed = rtol / float(np.finfo(dtype).eps)
            assert distance <= allowed, (
                f"{where}: {distance:.3g} units in the last place of {dtype}, {allowed:.3g} allowed"
            )
        return
    call = call or Call(where)
    _note(backend, function_of(call.expression), distances(pairs))
    beyond = within(pairs, theirs, call, backend)
    assert not beyond, f"{where}: {beyond}"


def check(expression: str, backend: str, *, rtol: float | None = None, host: bool = False) -> None:
    """Evaluate an expression on NumPy and on a backend and compare everything.

    Parameters
    ----------
    expression : str
        Over ``np`` and the names in :data:`ARRAYS`.
    backend : str
        Name of the backend.
    rtol : float, optional
        Relative tolerance, of the largest element; the default is what :mod:`.limits` has for the expression.
    host : bool
        Whether the call may run on the host; otherwise a fallback is an error.
    """
    operands = {name: x for name, x in ARRAYS.items() if re.search(rf"\b{name}\b", expression)}
    theirs = evaluate(expression, {name: x.copy(order="K") for name, x in operands.items()})
    arrays = {name: wrapped(backend, x) for name, x in operands.items()}
    with ad.fallback("silent" if host else "error"):
        ours = evaluate(expression, arrays)
    compare(ours, theirs, f"{expression} on {backend}", rtol, backend=backend, call=Call(expression, operands))
