"""A thread records while another one looks at what it has recorded: a tape takes no lock for a call."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from queue import SimpleQueue
from typing import Any

import numpy as np
import pytest

from arraydispatch.api import creation
from arraydispatch.engine.recording import tape
from arraydispatch.memory import views

pytestmark = pytest.mark.usefixtures("fused")
ROUNDS = 400


@pytest.fixture(autouse=True)
def often() -> Iterator[None]:
    """Have threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def _looks(given: SimpleQueue[Any], failed: list[Any]) -> None:
    while (pair := given.get()) is not None:
        made, expected = pair
        if made[3] != expected:
            failed.append((made[3], expected))


def test_values_are_right_whoever_looks_first() -> None:
    given: SimpleQueue[Any] = SimpleQueue()
    failed: list[Any] = []
    others = [threading.Thread(target=_looks, args=(given, failed)) for _ in range(2)]
    for other in others:
        other.start()
    x = creation.array(np.arange(50.0))
    total = creation.array(np.zeros(50))
    expected = 0.0
    for i in range(ROUNDS):
        fresh = creation.array(np.full(50, float(i)))
        y = x * 2.0 + fresh
        given.put((y, 6.0 + i))
        z = y - x
        given.put((z, 3.0 + i))
        total += z
        expected += 3.0 + i
        fresh[3] = -1.0  # what pending calls read is computed before it is written
        if i % 50 == 0:
            assert total[3] == expected
    for _ in others:
        given.put(None)
    for other in others:
        other.join()
    assert not failed
    assert total[3] == expected
    tape.run_all()
    assert not tape._live
    assert not views.waiting
