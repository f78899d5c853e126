"""What a signal's handler does in the middle of a write that is recorded: it raises, looks or writes itself."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from arraydispatch._core import handles
from arraydispatch.api import creation

pytestmark = pytest.mark.usefixtures("fused")


def part(x: Any, y: Any) -> None:
    x[1:40] = y[1:40]


def strided(x: Any, y: Any) -> None:
    x[::2] = y[::2]


def added(x: Any, y: Any) -> None:
    x[1:] += y[1:]


def windowed(x: Any, y: Any) -> None:
    x[1:-1] *= y[:-2]


def number(x: Any, y: Any) -> None:
    x[3:9] = 4.0


def whole(x: Any, y: Any) -> None:
    x += y[::-1]


def pending(x: Any, y: Any) -> None:
    x[2:] = y[2:] * 3


def out(x: Any, y: Any) -> None:
    np.multiply(x, y[::-1], out=x)


STATEMENTS = (part, strided, added, windowed, number, whole, pending, out)


class Raised(Exception):
    pass


def moments(statement: Callable[[], None], at: int, handler: Callable[[], None]) -> bool:
    """Call a handler at a moment of a statement, where Python calls handlers: as a function begins, or when one has ended.

    Whether the statement has so many moments.
    """
    count = 0

    def look(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        name = frame.f_code.co_name  # what is raised while a generator is closed goes nowhere
        if event in ("call", "c_return") and name not in ("moments", "<genexpr>"):
            count += 1
            if count == at + 1:
                sys.setprofile(None)
                handler()

    sys.setprofile(look)
    try:
        statement()
    finally:
        sys.setprofile(None)
    return count > at


def given(root: str, make: Callable[[Any], Any]) -> tuple[Any, Any, Any]:
    """Two arrays, the first pending or not, and a view of it or none."""
    x, y = make(np.arange(80.0)), make(np.arange(80.0) + 0.5)
    x = x * 2 if "pending" in root else x
    return x, y, x[::3] if "seen" in root else None


def holds(x: Any, view: Any, expected: Any) -> None:
    """Whether an array has these values now and in whatever comes next, and so has the view of it."""
    assert (x + 0).tolist() == expected.tolist()
    x[1:] += x[:-1]
    expected[1:] += expected[:-1]
    if view is not None:
        assert (view + 0).tolist() == expected[::3].tolist()
        view *= 2
        expected[::3] *= 2
    assert x.tolist() == expected.tolist()


each_root = pytest.mark.parametrize("root", ["pending", "pending, seen", "there", "there, seen"])
each_statement = pytest.mark.parametrize("statement", STATEMENTS, ids=lambda s: s.__name__)


@each_root
@each_statement
def test_an_array_is_what_it_was_or_what_it_becomes(statement: Callable[[Any, Any], None], root: str) -> None:
    def raises() -> None:
        raise Raised

    at, goes_on = 0, True
    while goes_on:
        x, y, view = given(root, creation.array)
        with suppress(Raised):
            goes_on = moments(lambda: statement(x, y), at, raises)  # noqa: B023
        before, other, _ = given(root, np.array)
        after = before.copy()
        statement(after, other)
        holds(x, view, after if x[5] == after[5] and x[2] == after[2] else before)
        at += 1
    assert at > 1  # else the handler was never called


@pytest.mark.skipif(
    not handles.compiled, reason="inapplicable: without the compiled core handlers are called between any two steps"
)
@each_root
@each_statement
def test_a_handler_sees_one_of_the_two_and_what_it_writes_stays(
    statement: Callable[[Any, Any], None], root: str
) -> None:
    def handler(x: Any) -> Callable[[], None]:
        def handle() -> None:
            x[5] = -1.0
            assert (x + 1)[5] == 0.0

        return handle

    at, goes_on = 0, True
    while goes_on:
        x, y, view = given(root, creation.array)
        goes_on = moments(lambda: statement(x, y), at, handler(x))  # noqa: B023
        possible = []
        for first in (True, False):
            before, other, _ = given(root, np.array)
            for step in (handler(before), lambda: statement(before, other))[:: 1 if first else -1]:  # noqa: B023
                step()
            possible.append(before)
        found = (x + 0).tolist()
        if not goes_on:  # no handler was called
            before, other, _ = given(root, np.array)
            statement(before, other)
            possible = [before]
        assert found in [one.tolist() for one in possible], at
        holds(x, view, np.array(found))
        at += 1
    assert at > 1  # else the handler was never called
