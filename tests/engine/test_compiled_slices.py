"""Slices that are read and written under compiled execution, and calls that are interrupted while they are recorded."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.engine.compiled_blocks import tapes


@pytest.fixture(params=["jax", "torch", "tensorflow"])
def library(request: pytest.FixtureRequest, nobody_listens: None) -> Iterator[str]:
    """Compiled execution on a library."""
    with ad.backend(request.param), ad.execution("compiled"):
        yield request.param


def _start() -> np.ndarray[Any, Any]:
    return np.arange(60.0).reshape(3, 4, 5)


def _write(key: Any, value: Any) -> Callable[[Any], Any]:
    def write(x: Any) -> Any:
        x[key] = value(x) if callable(value) else value
        return x

    return write


KEYS: list[Any] = [
    slice(1, None), slice(None, None, -1), (slice(None), 1), (1, slice(1, 3)), (1, 2), (Ellipsis, 2), (None, slice(1, 2)),
    (slice(0, 0),), (slice(None), slice(None), slice(4, 0, -2)), (0, Ellipsis), (1, 2, Ellipsis), (slice(None),), Ellipsis, (),
    (np.int64(1), slice(None)), -1, (slice(None), [0, 2]), (True,),
]  # fmt: skip
VALUES: dict[str, Any] = {
    "a float": 2.5, "an int": 3, "a NumPy scalar": np.float32(1.5), "a complex": 2j, "a list": [7.0], "itself": lambda x: x,
    "a part of it": lambda x: x[:1], "the same place of another": None, "ints": None, "too many": np.ones((2, 7)),
}  # fmt: skip


def _outcome(body: Callable[[Any], Any], x: Any) -> Any:
    try:
        made = body(x)
    except Exception as error:
        return type(error)
    parts = made if isinstance(made, tuple) else (made,)
    return [(np.asarray(part).tolist(), str(part.dtype), np.shape(part)) for part in parts]


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_a_slice_is_read_and_written_as_numpys(library: str, key: Any) -> None:
    assert _outcome(lambda x: x[key], ad.asarray(_start())) == _outcome(lambda x: x[key], _start())
    for name, value in VALUES.items():
        ours, theirs = value, value
        if name == "the same place of another":
            ours, theirs = (ad.asarray(_start()) * 2)[key], (_start() * 2)[key]
        elif name == "ints":
            ours, theirs = ad.asarray(_start().astype(int))[key], _start().astype(int)[key]
        found = _outcome(_write(key, ours), ad.asarray(_start()) + 1)
        assert found == _outcome(_write(key, theirs), _start() + 1), name


def test_a_write_is_seen_by_the_views_there_are_and_refused_where_numpy_refuses(library: str) -> None:
    x = ad.asarray(_start())
    row, every = x[1], x[:, ::2]
    x[1:, 1:3] = x[:2, :2] * 2
    expected = _start()
    expected[1:, 1:3] = expected[:2, :2] * 2
    for ours, theirs in ((x, expected), (row, expected[1]), (every, expected[:, ::2])):
        np.testing.assert_array_equal(np.asarray(ours), theirs)
    row[2:] = 0.5
    expected[1][2:] = 0.5
    np.testing.assert_array_equal(np.asarray(x), expected)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        x[1:] = 1.0
    np.testing.assert_array_equal(np.asarray(x), expected)


def _updates() -> dict[str, Callable[[Any, Any], Any]]:
    """In-place calls: each is handed a new array, and another one."""

    def of_all(op: Callable[[Any, Any], Any], pick: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        return lambda x, y: op(x, pick(x, y))

    def of_part(op: Callable[[Any, Any], Any], key: Any, pick: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        def update(x: Any, y: Any) -> Any:
            x[key] = op(x[key], pick(x, y))
            return x

        return update

    def of_view(x: Any, y: Any) -> Any:
        view = x[1:, ::2]
        view += 1.5
        view[0] *= 2
        return x

    def of_an_array_that_is_read(x: Any, y: Any) -> Any:
        double = x * 2
        x += y
        x -= double
        return x, double

    picks: dict[str, Callable[[Any, Any], Any]] = {
        "a float": lambda x, y: 2.5, "an int": lambda x, y: 3, "a complex": lambda x, y: 1j, "an array": lambda x, y: y,
        "itself": lambda x, y: x, "a row": lambda x, y: y[0], "more": lambda x, y: y[None], "too many": lambda x, y: y[:, :3],
        "ints": lambda x, y: y.astype(int), "booleans": lambda x, y: y > 3, "floats of 32 bits": lambda x, y: y.astype(np.float32),
        "a list": lambda x, y: [1.0, 2.0, 3.0, 4.0, 5.0],
    }  # fmt: skip
    found: dict[str, Callable[[Any, Any], Any]] = {}
    for op in (operator.iadd, operator.imul, operator.itruediv, operator.ifloordiv, operator.iand):
        found |= {f"{op.__name__} {name}": of_all(op, pick) for name, pick in picks.items()}
    return {
        **found,
        "part by part": of_part(operator.iadd, (slice(1, None), slice(None, 2)), lambda x, y: y[:-1, :2] * x[1:, 3:]),
        "a part that overlaps": of_part(operator.iadd, slice(1, None), lambda x, y: x[:-1]),
        "backwards": of_part(operator.imul, (slice(None, None, -1), 2), lambda x, y: x[:, 1]),
        "of a view": of_view,
        "of an array that is read": of_an_array_that_is_read,
    }


UPDATES = _updates()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype", [float, int, np.float32])
def test_an_array_is_updated_in_place_as_numpys(library: str, dtype: Any) -> None:
    x, y = np.arange(2, 22).reshape(4, 5).astype(dtype), np.arange(1, 21).reshape(4, 5)[::-1].astype(dtype)
    for name, update in UPDATES.items():
        start = ad.asarray(x)
        ours = _outcome(partial(update, start + np.zeros_like(start)), ad.asarray(y))
        assert ours == _outcome(partial(update, x.copy()), y), name


def test_an_update_of_a_read_only_array_is_refused(library: str) -> None:
    x = ad.asarray(np.arange(4.0)) + 0
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        x += 1.0
    assert x.tolist() == [0, 1, 2, 3]


def test_columns_are_written_in_fortran_order_too(library: str) -> None:
    x, expected = ad.asarray(np.asfortranarray(_start()[0])), np.asfortranarray(_start()[0])
    for each in (x, expected):
        each[1:, 2] = 7.0
        each[:, :2] = each[:, 2:4] + 1
    np.testing.assert_array_equal(np.asarray(x), expected)
    assert x.flags.f_contiguous == expected.flags.f_contiguous


class _Interrupted(list[Any]):
    """Operands, of which the second is not reached when they are recorded."""

    times = 0

    def __iter__(self) -> Iterator[Any]:
        self.times += 1
        for i, x in enumerate(list.__iter__(self)):
            if self.times == 2 and i == 1:
                raise KeyboardInterrupt
            yield x


def test_a_call_is_recorded_whole_or_not_at_all(library: str) -> None:
    """An interruption in the middle, which Python code alone can have, leaves a tape that goes on."""
    a, b = ad.asarray(np.arange(4.0)), ad.asarray(np.ones(4))
    c = a * 2.0 + b
    tape = c._v.tape
    added = tape.calls[-1]
    count = len(tape.calls)
    with pytest.raises(KeyboardInterrupt):
        tape.add(added.form, _Interrupted([c._v, b._v]), tape.backend)
    assert len(tape.calls) == count
    assert not tapes.is_in_between()
    d = c * b
    np.testing.assert_array_equal(np.asarray(d), np.arange(4.0) * 2 + 1)
    np.testing.assert_array_equal(np.asarray(c), np.arange(4.0) * 2 + 1)
