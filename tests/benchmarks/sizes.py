"""How the size of arrays decides what fused execution gains: eight programs on ten sizes, as ratios to plain NumPy in the same process.

    python tests/benchmarks/sizes.py [--backend numpy] [--rounds N] [--json FILE] [launcher's options, as --min-size 4096]

The programs are stencils, chains and reductions on arrays of n x n float64. A figure is the median, over many rounds, of the ratio of
two runs that were timed one right after the other, on NumPy's own arrays and on the launcher's; before, each has run until kernels are
compiled. Processor time is measured where one thread computes, or else, with ``--wall``, the time of a clock. Results are compared, bit
for bit. This is a benchmark: it prints what it finds, and fails on nothing but a wrong result.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

SIZES = 64, 96, 128, 192, 256, 350, 512, 768, 1024, 2048

INNER = """
import json, statistics, sys, time
import numpy as np
real = sys.modules["numpy"]
sizes, rounds, wall = json.loads(sys.argv[1])
clock = time.perf_counter if wall else time.process_time

def jacobi(np, a, b, c):
    b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
    a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return a

def heat(np, a, b, c):
    u = a
    for _ in range(2):
        u = u + 0.1 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u)
    return u

def chain(np, a, b, c):
    return (a * b + c * 0.5 - a) * (b - c) + a * a

def short_chain(np, a, b, c):
    return a * 2.0 + b

def slope(np, a, b, c):
    x, y = a[1:-1, 2:] - a[1:-1, :-2], a[2:, 1:-1] - a[:-2, 1:-1]
    return np.sqrt(x * x + y * y)

def distance(np, a, b, c):
    return ((a - b) * (a - b) + c * c).sum()

def softmax(np, a, b, c):
    e = np.exp(a - a.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)

def updates(np, a, b, c):
    d = a.copy()
    for _ in range(3):
        d += b * c
        d *= 0.5
        d -= a
    return d

programs = jacobi, heat, chain, short_chain, slope, distance, softmax, updates

def given(np, n):
    rng = real.random.default_rng(n)
    return [np.array(rng.random((n, n))) for _ in range(3)]

def timed(run, np, arrays, times):
    start = clock()
    for _ in range(times):
        made = run(np, *arrays)
    value = float(made if not made.ndim else made[1, 1])
    return (clock() - start) / times, value

rows = {}
for run in programs:
    for n in sizes:
        plain, ours = given(real, n), given(np, n)
        times = max(1, 400_000 // (n * n))
        done = 0
        while done < 1 << 25:
            one, other = timed(run, real, plain, times)[1], timed(run, np, ours, times)[1]
            assert one == other, (run.__name__, n, one, other)
            done += 3 * times * n * n
        ratios = []
        for _ in range(rounds):
            (before, one), (after, other) = timed(run, real, plain, times), timed(run, np, ours, times)
            assert one == other, (run.__name__, n, one, other)
            ratios.append(before / after)
        rows.setdefault(run.__name__, {})[n] = statistics.median(ratios)
print(json.dumps(rows))
"""


def measured(backend: str, rounds: int, wall: bool, options: list[str]) -> dict[str, dict[str, float]]:
    """Run the programs in a process of the launcher's."""
    with TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(INNER, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "arraydispatch", "run", "--backend", backend, *options, str(script), json.dumps([SIZES, rounds, wall])],
            stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
    rows: dict[str, dict[str, float]] = json.loads(done.stdout.splitlines()[-1])
    return rows


def main() -> None:
    """Print a table of speed against size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--backend", default="numpy")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--wall", action="store_true", help="measure by a clock, not in processor time")
    parser.add_argument("--json", type=Path)
    args, options = parser.parse_known_args()
    rows = measured(args.backend, args.rounds, args.wall, options)
    print("| program |", " | ".join(f"{n}²" for n in SIZES), "|")
    print("|---|" + "--:|" * len(SIZES))
    for name, found in rows.items():
        print(f"| {name} |", " | ".join(f"{found[str(n)]:.2f}" for n in SIZES), "|")
    least = min((ratio, name, n) for name, found in rows.items() for n, ratio in found.items())
    print(f"\nthe least: {least[0]:.2f} ({least[1]}, {least[2]}²)")
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
