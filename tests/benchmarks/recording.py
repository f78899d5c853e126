"""What recording costs: microseconds of a call that is not computed yet.

``python tests/benchmarks/recording.py``: in fused execution, on ten elements. The bars are 1.2 µs for a ufunc of a pending array, 2 for
one of others, 3 for reading a slice, 4 for writing one.

``python tests/benchmarks/recording.py --compiled jax``: in compiled execution. The bars are 4 µs for a ufunc, 6 µs for another function, and
for a slice that is read or written. A slice is read when it is first computed with.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import numpy as np

import arraydispatch as ad
from arraydispatch.api import creation
from arraydispatch.engine.compiled_blocks import tapes
from arraydispatch.engine.recording import tape
from arraydispatch.memory import views
from arraydispatch.runtime.settings import default, set_execution

TOGETHER = 40
"""Calls of a block: fewer than end one."""
TIMES = 500
Given = Callable[[], Any]
Call = Callable[[Any], Any]


def _given() -> Any:
    return creation.array(np.ones(10))


def _pending() -> Any:
    return _given() * 2


def _assign(x: Any) -> None:
    x[1:] = 2.0


def _update(x: Any) -> None:
    x[1:] -= 2.0


FUSED: dict[str, tuple[Given, Call]] = {
    "x + x": (_given, lambda x: x + x),
    "np.sin(x)": (_given, np.sin),
    "x * 2.0 of a pending x": (_pending, lambda x: x * 2.0),
    "x[1:] of a pending x": (_pending, lambda x: x[1:]),
    "x[1:] = 2.0 of a pending x": (_pending, _assign),
    "x[1:] -= 2.0 of a pending x": (_pending, _update),
}

INNER = slice(1, -1), slice(1, -1)


def compiled() -> dict[str, tuple[Given, Call]]:
    """Return the calls of compiled execution, on matrices; to be called where that is in force."""
    one, part = ad.asarray(np.ones((64, 64))), ad.asarray(np.ones((62, 62)))

    def pending() -> Any:
        return one * 2.0

    def assign(x: Any) -> None:
        x[INNER] = part

    def add(x: Any) -> None:
        x[INNER] += part

    calls: dict[str, Call] = {
        "x + x": lambda x: x + x,
        "x * 2.0": lambda x: x * 2.0,
        "np.sin(x)": np.sin,
        "np.roll(x, 1, 0)": lambda x: np.roll(x, 1, 0),
        "np.where(x, x, x)": lambda x: np.where(x, x, x),
        "x.sum(axis=1)": lambda x: x.sum(axis=1),
        "np.zeros_like(x)": np.zeros_like,
        "x.copy()": lambda x: x.copy(),
        "x[1:-1, 1:-1], read": lambda x: views.native(x[INNER]),
        "x[1:-1, 1:-1] = y": assign,
        "x[1:-1, 1:-1] += y": add,
    }
    return {name: (pending, call) for name, call in calls.items()}


def least(given: Given, call: Call, forget: Callable[[], Any], together: int) -> float:
    """Return the least of many measurements in microseconds a call, each of some calls on arrays of their own."""
    found = float("inf")
    for _ in range(TIMES):
        forget()
        arrays = [given() for _ in range(together)]
        began = perf_counter_ns()
        for x in arrays:
            call(x)
        found = min(found, (perf_counter_ns() - began) / together / 1000)
    return found


def main() -> None:
    """Print the costs of all calls."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--compiled", metavar="LIBRARY", help="in compiled execution, on this library")
    asked = parser.parse_args()
    gc.disable()
    if asked.compiled:
        with ad.backend(asked.compiled), ad.execution("compiled"):
            for name, (given, call) in compiled().items():
                cost = least(given, call, tapes.run_all, tapes.ROUNDS // 4)
                print(f"{name:30} {cost:6.2f} µs")
        return
    default.min_size = 1
    set_execution("fused")
    for name, (given, call) in FUSED.items():
        print(f"{name:30} {least(given, call, tape.run_all, TOGETHER):6.2f} µs")


if __name__ == "__main__":
    main()
