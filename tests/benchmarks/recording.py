"""What recording costs: microseconds of a call on ten elements that is not computed yet.

``python tests/benchmarks/recording.py``. The bars are 1.2 µs for a ufunc of a pending array, 2 for one of others, 3 for reading a
slice, 4 for writing one.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from time import perf_counter_ns
from typing import Any

import numpy as np

from arraydispatch.api import creation
from arraydispatch.engine.recording import tape
from arraydispatch.runtime.settings import default, set_execution

TOGETHER = 40
"""Calls of a block: fewer than end one."""
TIMES = 500


def _given() -> Any:
    return creation.array(np.ones(10))


def _pending() -> Any:
    return _given() * 2


def _assign(x: Any) -> None:
    x[1:] = 2.0


def _update(x: Any) -> None:
    x[1:] -= 2.0


CASES: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "x + x": (_given, lambda x: x + x),
    "np.sin(x)": (_given, np.sin),
    "x * 2.0 of a pending x": (_pending, lambda x: x * 2.0),
    "x[1:] of a pending x": (_pending, lambda x: x[1:]),
    "x[1:] = 2.0 of a pending x": (_pending, _assign),
    "x[1:] -= 2.0 of a pending x": (_pending, _update),
}


def main() -> None:
    """Print the least of many measurements, each of some calls on arrays of their own."""
    default.min_size = 1
    set_execution("fused")
    gc.disable()
    for name, (given, call) in CASES.items():
        least = float("inf")
        for _ in range(TIMES):
            tape.run_all()
            arrays = [given() for _ in range(TOGETHER)]
            began = perf_counter_ns()
            for x in arrays:
                call(x)
            least = min(least, (perf_counter_ns() - began) / TOGETHER / 1000)
        print(f"{name:30} {least:6.2f} µs")


if __name__ == "__main__":
    main()
