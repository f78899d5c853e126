"""Writes under fused execution are computed into their places, and nobody sees them half done or too late."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from arraydispatch.api import creation
from arraydispatch.array import Array
from arraydispatch.engine.host_blocks import blocks
from arraydispatch.engine.recording import tape, writes

pytestmark = pytest.mark.usefixtures("fused")

_RNG = np.random.default_rng(7)


def _given() -> dict[str, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(7)
    return {
        "u": rng.normal(size=(70, 60)), "v": rng.normal(size=(70, 60)), "f": np.asfortranarray(rng.normal(size=(70, 60))),
        "i": rng.integers(0, 9, (70, 60)), "b": rng.normal(size=(70, 60)) > 0,
    }  # fmt: skip


def rows(u: Any, v: Any, f: Any, i: Any, b: Any) -> Any:
    u[1:-1] += 0.1 * (u[2:] - u[:-2])
    return u


def inner(u: Any, v: Any, f: Any, i: Any, b: Any) -> Any:
    u[1:-1, 1:-1] += v[1:-1, 1:-1] * 2
    u[1:-1, 1:-1] *= u[1:-1, 1:-1]
    return u


def neighbours(u: Any, v: Any, f: Any, i: Any, b: Any) -> Any:
    u[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] - 4 * u[1:-1, 1:-1])
    return u


def backwards(u: Any, v: Any, f: Any, i: Any, b: Any) -> Any:
    w = u[::-1]
    w *= v
    return u, w


def across(u: Any, v: Any, f: Any, i: Any, b: Any) -> Any:
    t = u.T
    t -= v.T * 3
    return u, t


def a_reader_of_before(u: Any, v: Any, f: Any, i: Any, b: Any) -> Any:
    before, part = u + 1, u[3:] * 2
    np.add(u, v, out=u)
    return before, part, u


def a_shifted_reader(u: Any, v: Any, f: Any, i: Any, b: Any) -> Any:
    np.add(u[1:], 1, out=u[:-1])
    return u


def repeated(u: Any, v: Any, f: Any, i: Any, b: Any) -> Any:
    row = u[:1]
    later = v * row
    row += 5
    u *= u[0]
    return later, u


def out_elsewhere(u: Any, v: Any, f: Any, i: Any, b: Any) -> Any:
    np.multiply(u, v, out=v)
    np.sqrt(abs(u), out=f)
    np.greater(u, v, out=b)
    f += u
    b &= v > 0
    return v, f, b


def other_dtypes(u: Any, v: Any, f: Any, i: Any, b: Any) -> Any:
    i[2:] += 1
    np.add(i, i, out=u)
    return i, u


def refused_cast(u: Any, v: Any, f: Any, i: Any, b: Any) -> Any:
    try:
        i[2:] += u[2:] * 1.5
    except TypeError as error:
        return str(error), i
    raise AssertionError


def refused_shape(u: Any, v: Any, f: Any, i: Any, b: Any) -> Any:
    try:
        u[2:] += np.concatenate((u, u), axis=1)[2:]
    except ValueError as error:
        return str(error), u
    raise AssertionError


def a_locked_array(u: Any, v: Any, f: Any, i: Any, b: Any) -> Any:
    u.flags.writeable = False
    try:
        np.add(v, 1, out=u)
    except ValueError as error:
        return str(error), u
    raise AssertionError


def reductions_into_places(u: Any, v: Any, f: Any, i: Any, b: Any) -> Any:
    sums = (u * v).sum(axis=1)
    u[:, 0] = sums
    v[:] = (u * 2).mean(axis=1, keepdims=True)
    return u, v, sums


def broadcast_into(u: Any, v: Any, f: Any, i: Any, b: Any) -> Any:
    np.add(u[0], v[:, :1], out=u)
    w = u[None]
    w += v
    return u


PROGRAMS = [
    rows, inner, neighbours, backwards, across, a_reader_of_before, a_shifted_reader, repeated, out_elsewhere, other_dtypes,
    refused_cast, refused_shape, a_locked_array, reductions_into_places, broadcast_into,
]  # fmt: skip


def _plain(x: Any) -> Any:
    if isinstance(x, tuple):
        return [_plain(each) for each in x]
    if isinstance(x, Array):
        return np.array(x.__array__()).tobytes(), x.strides
    return (x.tobytes(), x.strides) if isinstance(x, np.ndarray) else x


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_numpy(program: Callable[..., Any]) -> None:
    expected = _plain(program(**_given()))
    given = {name: creation.array(x, order="K") for name, x in _given().items()}
    assert _plain(program(**given)) == expected


@pytest.mark.parametrize("fused", ["threads"], indirect=True)
def test_where_nobody_reads_it_nothing_is_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    may = writes._may_take
    monkeypatch.setattr(writes, "_may_take", lambda *what: taken.append(may(*what)) or taken[-1])
    for program in (inner, out_elsewhere, neighbours, a_shifted_reader):
        taken.clear()
        program(**{name: creation.array(x, order="K") for name, x in _given().items()})
        assert any(taken) == (program in (inner, out_elsewhere))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("assigned", [False, True])
def test_an_interrupted_write_is_of_the_whole_or_of_nothing(
    monkeypatch: pytest.MonkeyPatch, threads: int, assigned: bool
) -> None:
    """NumPy calls no signal's handler in the middle of one."""
    monkeypatch.setattr(blocks, "thread_count", lambda: threads)
    n = 20_000  # many pieces
    seen = 0

    class Raised(Exception):
        pass

    def interrupts(frame: Any, event: str, _arg: Any) -> None:
        nonlocal seen
        # Before a function in C is called no handler is: what was raised there would leave a lock, which a `with` gives back by such a call.
        seen += event in ("call", "c_return") and frame.f_code.co_filename != __file__
        if seen > at:
            sys.setprofile(None)
            raise Raised

    ended = 0
    for at in range(2000):
        b, c, seen = creation.array(np.ones(n)), creation.array(np.zeros(n)), 0
        sys.setprofile(interrupts)
        try:
            if assigned:
                c[1:] = b[:-1] * 3
            else:
                np.multiply(b[:-1], 3, out=c[1:])
        except Raised:
            pass
        else:
            ended += 1
        finally:
            sys.setprofile(None)
        found = np.unique(np.asarray(c)[1::400])
        tape.run_all()  # what was recorded, and is nobody's
        assert found.tolist() in ([0.0], [3.0]), at
        time.sleep(0.002)
        assert np.unique(np.asarray(c)[1:]).tolist() == found.tolist(), at  # nor later
        if ended:
            assert found.tolist() == [3.0]
            break
    assert ended
    assert at > 2  # compiled, few of its steps can be interrupted
