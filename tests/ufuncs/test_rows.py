"""Calls on arrays of which only the rows lie together: the same bits, errors and settings as NumPy's, whatever the size."""

from __future__ import annotations

import operator
import warnings
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.engine.recording import tape
from arraydispatch.runtime.settings import default, kept, set_execution
from arraydispatch.ufuncs import rows
from arraydispatch.ufuncs.facts import INSTRUCTIONS

N = 300


def _operands(make: Any, dtype: str) -> list[tuple[Any, Any]]:
    rng = np.random.default_rng(7)
    base = (
        rng.integers(-9, 9, (N, N))
        if dtype[0] in "iu"
        else rng.normal(size=(N, N)) * 10.0 ** rng.integers(-3, 3, (N, N))
    )
    a, b = make(base.astype(dtype)), make(base[::-1].astype(dtype))
    return [
        (a[1:-1, 1:-1], b[:-2, 1:-1]), (a[:, :1], b[:1]), (a, b[3]), (a, b[:, 2:3]), (a.T, b), (a[:, ::2], b[:, 1::2]), (a[1:-1, 1:-1], 3),
        (2.5, a[2:, 2:]), (a[::-1], b), (a, b),
    ]  # fmt: skip


@pytest.mark.parametrize("way", ["host", "fused"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "c16"])
def test_the_bits_are_numpys(backend: str, dtype: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Operators, ufuncs, in place and with ``out=``, of all arrangements; an array has NumPy's result to the bit."""
    ops: list[Any] = [operator.add, operator.mul, operator.sub, np.subtract, np.multiply]
    ops += [operator.truediv] if dtype == "f8" else []

    def results(make: Any) -> list[Any]:
        found = []
        for x, y in _operands(make, dtype):
            made = [op(x, y) for op in ops]
            shape = made[0].shape
            out = make(np.zeros((N, N + 1), made[0].dtype))[: shape[0], : shape[1]]
            found += [*made, np.add(x, y, out=out) * 1, -made[0]]
            out -= made[1]
            found.append(out)
        return found

    with np.errstate(all="ignore"), kept():
        plain = results(lambda x: x)
        default.min_size = 1000 if way == "fused" else 1 << 20
        set_execution("fused" if way == "fused" else "eager")
        monkeypatch.setattr(tape, "IN_THREADS", 1 << 16)
        ours = results(lambda x: ad.asarray(x, backend=backend))
    for i, (theirs, mine) in enumerate(zip(plain, ours, strict=True)):
        host = np.asarray(mine)
        assert host.dtype == theirs.dtype, i
        np.testing.assert_array_equal(host, theirs, str(i))


def test_errors_and_settings_are_the_users() -> None:
    a = np.ones((N, N))
    part, zeros = a[1:-1, 1:-1], np.zeros((N - 2, N - 2))
    assert rows.lie_in_rows(part, zeros)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
        rows.call(np.divide, part, zeros)
    seen: list[str] = []
    with np.errstate(divide="call", call=lambda kind, flag: seen.append(kind)):
        rows.call(np.divide, part, zeros)
    assert seen == ["divide by zero"]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        rows.call(np.divide, part, zeros)
    assert [str(w.message) for w in caught] == ["divide by zero encountered in divide"]
    assert np.getbufsize() == 8192
    lengths = []

    def told(kind: str, flag: int) -> None:
        lengths.append(np.getbufsize())

    with np.errstate(divide="call", call=told):
        rows.call(np.divide, part, zeros)
        before = np.setbufsize(16384)
        rows.call(np.divide, part, zeros)
        assert np.getbufsize() == 16384
        np.setbufsize(before)
    assert lengths == [8192, 16384]  # a function of the user sees what the user has set


def test_only_what_gains_is_called_so() -> None:
    a = np.ones((N, N))
    assert not rows.lie_in_rows(a, a)
    assert not rows.lie_in_rows(a.T, a.T)
    assert not rows.lie_in_rows(a, 2.0)
    assert not rows.lie_in_rows(a[:9, 1:], a[:9, :-1])
    assert not rows.lie_in_rows(a.astype("i1")[1:], a.astype("i1")[:-1])
    assert not rows.lie_in_rows(a[1:], a[:, 1:])  # NumPy says what is wrong with that
    assert rows.lie_in_rows(2.0, a[:, 1:])
    assert rows.lie_in_rows(a[:, :1], a[:1])
    assert rows.called(np.exp) is np.exp
    assert np.exp not in INSTRUCTIONS
    assert np.add.reduce not in INSTRUCTIONS


def test_numpy_has_what_is_asked_of_it() -> None:
    """Else each call is NumPy's as it is: right, and slower."""
    assert rows._context is not None


_ACROSS = [operator.add, operator.eq, operator.lt, np.multiply, np.maximum, np.not_equal]


@pytest.mark.parametrize("dtype", ["f8", "i8", "u1", "?"])
def test_a_matrix_and_its_transpose(backend: str, dtype: str) -> None:
    """Strips have NumPy's bits, dtype and memory order, whichever operand lies across."""

    def results(make: Any) -> list[Any]:
        x = make(np.random.default_rng(3).integers(0, 3, (512, 512)).astype(dtype))
        y = make(np.random.default_rng(4).integers(0, 3, (512, 640)).astype(dtype))[:, :512]
        return [
            op(a, b) for a, b in ((x, x.T), (x.T, x), (y.T, x), (x[::2], x.T[::2]), (y[2:], y.T[2:])) for op in _ACROSS
        ]

    with kept():
        plain = results(lambda x: x)
        default.min_size = 1 << 20
        set_execution("fused")
        ours = results(lambda x: ad.asarray(x, backend=backend))
    for i, (theirs, mine) in enumerate(zip(plain, ours, strict=True)):
        assert (mine.dtype, mine.strides) == (theirs.dtype, theirs.strides), i
        np.testing.assert_array_equal(np.asarray(mine), theirs, str(i))


def test_a_matrix_and_its_transpose_report_an_error_once() -> None:
    x = np.full((512, 512), 1e308)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = rows.call(np.add, x, x.T)
    assert [str(w.message) for w in caught] == ["overflow encountered in add"]
    assert np.isinf(made).all()


def test_strips_are_for_operands_without_rows_in_common() -> None:
    x = np.random.default_rng(5).random((512, 512))
    assert rows._in_strips(np.add, x, x.T) is not None
    assert rows._in_strips(np.add, x[:, :300], x.T[:, :300]) is None  # too short
    assert rows._have_rows((x, x[0])) and rows._have_rows((x[:, 1:], x[:, :1])) and rows._have_rows((x.T, x.T[1]))
    assert not rows._have_rows((x, x.T))
