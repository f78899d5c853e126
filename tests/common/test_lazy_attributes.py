"""Attributes computed on first use are the same object for all threads, on every version of Python."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from arraydispatch.common.lazy_attributes import lazy


def test_threads_that_compute_at_once_get_one_object() -> None:
    both = threading.Barrier(2)

    class Owner:
        @lazy
        def found(self) -> object:
            """Wait until the other thread is here too."""
            both.wait(timeout=30)
            return object()

    owner = Owner()
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: owner.found, range(2))
    assert first is second is owner.found


def test_it_is_computed_once_and_is_a_plain_attribute_then() -> None:
    calls = []

    class Owner:
        @lazy
        def found(self) -> int:
            """Count the calls."""
            calls.append(self)
            return len(calls)

    owner, other = Owner(), Owner()
    assert (owner.found, owner.found, other.found) == (1, 1, 2)
    assert vars(owner) == {"found": 1}
    assert Owner.found.__doc__ == "Count the calls."


def test_an_error_is_not_kept() -> None:
    errors = [ValueError("once")]

    class Owner:
        @lazy
        def found(self) -> str:
            """Fail the first time."""
            if errors:
                raise errors.pop()
            return "made"

    owner = Owner()
    with pytest.raises(ValueError, match="once"):
        _ = owner.found
    assert owner.found == "made"
