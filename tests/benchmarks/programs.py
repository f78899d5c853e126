"""Whole NumPy programs, plain and under the launcher: how long the process takes, and a second run of the work inside it.

``python tests/benchmarks/programs.py [--only NAME] [--backends numpy torch jax] [--repeat 3]``. The programs are in
``whole/``: plain NumPy, which knows nothing of this package. The work is a function ``run`` that is called twice, and gives a digest
of its result, which has to be plain NumPy's.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).parents[2]

PROGRAMS = {
    path.stem: path.read_text(encoding="utf-8") for path in sorted((Path(__file__).parent / "whole").glob("*.py"))
}

_AROUND = """\
import time
{body}
started = time.perf_counter()
first = run()
between = time.perf_counter()
second = run()
ended = time.perf_counter()
assert float(first) == float(second)
print(repr(float(first)), between - started, ended - between)
"""


def _measure(path: Path, options: list[str] | None) -> tuple[str, float, float, float]:
    """What the program printed; seconds of the process, of the first run and of the second."""
    command = [sys.executable, str(path)]
    if options is not None:
        command = [sys.executable, "-m", "arraydispatch", "run", *options, str(path)]
    start = time.perf_counter()
    done = subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    wall = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    digest, first, second = done.stdout.split()
    return digest, wall, float(first), float(second)


def _mean(ratios: Iterable[float]) -> float:
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logs) / len(logs))


def main() -> None:
    """Run the programs in every way asked for and print how many times as fast as plain NumPy they are."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--only", nargs="*", default=list(PROGRAMS))
    parser.add_argument("--backends", nargs="*", default=["numpy", "torch", "jax"])
    parser.add_argument(
        "--ways", nargs="*", default=["fused", "calls"], help="fused, calls (one by one), eager (the library alone)"
    )
    parser.add_argument("--repeat", type=int, default=3, help="the best of so many")
    asked = parser.parse_args()
    options = {
        "fused": ["--execution", "fused"],
        "calls": [],
        "eager": ["--execution", "eager", "--min-size", "0"],
    }
    ratios: dict[str, list[tuple[float, float]]] = {}
    expected = 0.0
    print(f"{'program':22}{'way':18}{'process s':>11}{'first s':>10}{'again s':>10}{'process ×':>11}{'again ×':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.only:
            path = Path(folder) / f"{name}.py"
            path.write_text(_AROUND.format(body=PROGRAMS[name]), encoding="utf-8")
            plain: tuple[float, ...] = ()
            for way in ["plain", *(f"{b} {w}" for b in asked.backends for w in asked.ways)]:
                backend, _, how = way.partition(" ")
                chosen = None if way == "plain" else ["--backend", backend, *options[how]]
                runs = [_measure(path, chosen) for _ in range(asked.repeat)]
                best = tuple(map(min, zip(*[run[1:] for run in runs], strict=True)))
                if not plain:
                    plain, expected = best, float(runs[0][0])
                for run in runs:
                    found = float(run[0])
                    exact = how == "fused"
                    assert found == expected if exact else math.isclose(found, expected, rel_tol=1e-9), (
                        name,
                        way,
                        found,
                        expected,
                    )
                whole, again = plain[0] / best[0], plain[2] / best[2]
                ratios.setdefault(way, []).append((whole, again))
                print(
                    f"{name:22}{way:18}{best[0]:11.3f}{best[1]:10.3f}{best[2]:10.3f}{whole:11.2f}{again:10.2f}",
                    flush=True,
                )
    for way, pairs in ratios.items():
        print(
            f"{'geometric mean':22}{way:18}{'':31}{_mean(r for r, _ in pairs):11.2f}{_mean(r for _, r in pairs):10.2f}"
        )


if __name__ == "__main__":
    main()
