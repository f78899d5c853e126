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
