"""How many Python functions one call enters: a figure that no other load of the machine changes.

    python tests/benchmarks/frames.py [--backend torch] [--list]

In eager mode, as in library use: the dispatch itself, up to the library's function. ``--list`` names the functions.
"""

from __future__ import annotations

import argparse
import sys
from types import FrameType
from typing import Any

import numpy as np

import arraydispatch as ad
from arraydispatch.api import creation

BARS = {"a[1:] = b": 12, "creation.zeros(3)": 12, "np.median(a)": 35, "np.add(a, a)": None, "a + a": None, "np.sum(a)": None,
        "np.cumsum(a)": None, "np.where(c, a, a)": None}  # fmt: skip


def frames(statement: str, names: dict[str, Any]) -> list[str]:
    """The functions that a statement enters when it runs again."""
    code = compile(statement, "<call>", "exec")
    for _ in range(5):
        exec(code, names)
    found: list[str] = []

    def note(frame: FrameType, event: str, _arg: object) -> None:
        if event == "call" and frame.f_code is not code:
            found.append(f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_code.co_qualname}")

    sys.setprofile(note)
    try:
        exec(code, names)
    finally:
        sys.setprofile(None)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--backend", default="torch")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    ad.use(options.backend, execution="eager")
    a = ad.asarray(np.arange(6.0))
    names = {"np": np, "creation": creation, "a": a, "b": ad.asarray(np.ones(5)), "c": a > 2}
    for statement, bar in BARS.items():
        found = frames(statement, names)
        print(f"{statement:20} {len(found):4}" + (f"   (bar {bar})" if bar else ""))
        if options.list:
            print(*found, sep="\n    ")


if __name__ == "__main__":
    main()
