"""Sums and means of booleans and small integers: NumPy's values, dtypes, shapes and types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch._core import machine
from arraydispatch.ufuncs import integer_sums
from tests.launched import Zygotes, prints_as_plainly

DTYPES = "?bBhHiI"
SHAPES = [
    (1500,),
    (8192,),
    (40, 50),
    (2, 700),
    (700, 2),
    (3, 40, 50),
    (40, 50, 3),
    (5, 6, 7, 30),
    (1, 2000),
    (2000, 1),
    (2, 3, 0),
]


def _values(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    """Return booleans, or integers of which many are the largest or smallest."""
    if dtype == "?":
        return rng.random(shape) > rng.random()
    ends = np.iinfo(dtype)
    x = rng.integers(ends.min, ends.max, shape, dtype=dtype, endpoint=True)
    return np.where(rng.random(shape) < rng.choice([0.0, 0.5, 1.0]), rng.choice([ends.min, ends.max]), x).astype(dtype)


def _axes(rng: np.random.Generator, ndim: int) -> Any:
    if rng.random() < 0.3:
        return None
    first, last = sorted(rng.choice(ndim + 1, 2, replace=False).tolist())
    axes = tuple(int(i - ndim * rng.integers(2)) for i in range(first, last))
    return axes[0] if len(axes) == 1 and rng.random() < 0.7 else axes


@pytest.mark.parametrize("name", ["sum", "mean"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_results_are_numpys(name: str, dtype: str) -> None:
    rng, computed = np.random.default_rng(ord(dtype)), 0
    for _ in range(20):
        for shape in SHAPES:
            x = _values(rng, shape, dtype)
            x = x if rng.random() < 0.7 else x.T if rng.random() < 0.5 else x[..., ::-1]
            axis, keepdims = _axes(rng, x.ndim), bool(rng.integers(2))
            made = integer_sums.of_axes(name, x, axis, keepdims)
            if made is not None:
                theirs = getattr(x, name)(axis=axis, keepdims=keepdims)
                assert (type(made), made.dtype, made.shape) == (type(theirs), theirs.dtype, theirs.shape), (shape, axis)
                assert made.tobytes() == theirs.tobytes(), (shape, axis)
                computed += 1
    assert computed > 100 or not _is_compiled()


def _is_compiled() -> bool:
    return bool(machine.add_integers(np.ones((1, 1), bool), np.zeros(1, np.int64), True))


def test_any_byte_of_a_boolean_but_zero_is_true() -> None:
    x = np.arange(6000).astype(np.uint8).view(bool).reshape(20, -1)
    for axis in (None, 0, 1):
        made = integer_sums.of_axes("sum", x, axis, False)
        assert made is None or np.array_equal(made, np.count_nonzero(x, axis=axis))


@pytest.mark.parametrize("backend", ad.available_backends())
def test_libraries_count_what_is_true(backend: str) -> None:
    rng = np.random.default_rng(5)
    for n in (8, 65_536, 65_544, 300_008):
        mask = rng.random(n) < 0.6
        for theirs in (mask, ~np.zeros(n, bool), np.arange(n).astype(np.uint8).view(bool)):
            ours = ad.asarray(theirs.view(np.uint8), backend=backend).view(bool)
            for of in (lambda x: x, lambda x: x[1:], lambda x: x[::2], lambda x: x[8:].reshape(-1, 8).T):
                for count in (
                    np.sum,
                    np.count_nonzero,
                    lambda x: x.sum(axis=tuple(range(x.ndim))),
                    lambda x: np.add.reduce(x, None),
                ):
                    made, wanted = count(of(ours)), count(of(theirs))
                    assert (made, np.asarray(made).dtype) == (wanted, np.asarray(wanted).dtype)


@pytest.mark.parametrize("backend", ad.available_backends())
@pytest.mark.parametrize("dtype", DTYPES)
def test_libraries_add_up_many_small_integers(backend: str, dtype: str) -> None:
    theirs = _values(np.random.default_rng(6), (1100, 1000), dtype)
    ours = ad.asarray(theirs, backend=backend)
    for of in (lambda x: x, lambda x: x[7:], lambda x: x.T, lambda x: x[:, 1:]):
        for add in (np.sum, lambda x: x.sum(), lambda x: np.add.reduce(x, (0, 1)), lambda x: np.sum(x, initial=3)):
            made, wanted = add(of(ours)), add(of(theirs))
            assert (made, np.asarray(made).dtype) == (wanted, np.asarray(wanted).dtype)


def test_what_does_not_fit_is_not_added() -> None:
    x, out = np.ones((2, 3), np.int32), np.zeros(2, np.int64)
    for bad in (x.T, x[0], x.astype(np.int64), x.astype(np.float32), x[:1]):
        assert not machine.add_integers(bad, out, True)
    for worse in (out.astype(np.int32), np.zeros(3, np.int64), np.zeros(4, np.int64)[::2]):
        assert not machine.add_integers(x, worse, True)
    assert out.tolist() == [0, 0]
    if _is_compiled():
        with pytest.raises(TypeError):
            machine.add_integers(x, "out", True)
    assert integer_sums.of_axes("mean", np.broadcast_to(np.int32(1), (1 << 22,)), None, False) is None  # may be rounded


SCRIPT = """
import numpy as np
rng = np.random.default_rng(0)
def show(x):
    print(type(x).__name__, getattr(x, "dtype", ""), np.shape(x), np.asarray(x).ravel()[:3].tolist(), np.asarray(x).sum())
for n in (40, 700):
    f = rng.random((n, n)); mask = f > 0.3; image = rng.integers(0, 256, (n, 30, 3)).astype(np.uint8)
    short, whole = (f * 60000).astype(np.int16), (f * 2e9).astype(np.uint32)
    for x in (mask, image, short, whole, mask.T, mask[::2], mask.ravel()):
        for axis in (None, 0, -1, (0, 1) if x.ndim > 1 else 0):
            show(x.sum(axis)); show(np.mean(x, axis=axis)); show(x.mean(axis=axis, keepdims=True)); show(np.sum(x, axis))
        show(x.sum()); show(np.sum(x)); show(x.mean()); show(np.mean(x)); show(np.add.reduce(x, axis=None))
        show(np.add.reduce(x)); show(np.add.reduce(x, keepdims=True)); show(np.add.reduce(x, -1)); show(np.maximum.reduce(x))
        show(x.sum(dtype=np.float32)); show(x.sum(dtype=np.int8)); show(x.sum(initial=5)); show(x.sum(where=x > 0))
        show(np.count_nonzero(x, axis=0)); show(np.count_nonzero(x, -1)); show(np.count_nonzero(x, axis=0, keepdims=True))
        show(np.count_nonzero(x)); show(np.sum(x, axis=0, out=np.zeros(x.shape[1:], int)))
    show((f > 0.5).sum()); show((f > 0.5).mean()); show(np.mean(f * f + f < 1)); show(((f > 0.1) & (f < 0.9)).sum())
    show((f > 0.5).sum(axis=0)); show((f < 2).sum()); show((f > 2).sum())
    for wrong in (5, (0, 0), 1.5, "x", (0, 7)):
        try:
            show(mask.sum(axis=wrong))
        except Exception as error:
            print(type(error).__name__, error)
    try:
        mask.sum(axis=0, ddof=0)
    except TypeError as error:
        print(error)
    try:
        mask.__class__ = np.ndarray
    except TypeError as error:
        print(error)
    mask.flags.writeable = False
    try:
        mask.byteswap(True)
    except ValueError as error:
        print(error)
"""


@pytest.mark.parametrize("backend", ["numpy", "torch"])
def test_programs_print_as_plainly(zygotes: Zygotes, backend: str, tmp_path: Path) -> None:
    prints_as_plainly(zygotes, backend, SCRIPT, tmp_path, () if backend == "numpy" else ("--min-size", str(1 << 30)))
