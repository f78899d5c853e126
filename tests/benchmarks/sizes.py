"""How the size of arrays decides what fused execution gains: eight programs on ten sizes, as ratios to plain NumPy in its own process.

    python tests/benchmarks/sizes.py [--backend numpy] [--rounds N] [--json FILE] [--plot FILE] [launcher's options]

The programs are stencils, chains and reductions on arrays of n x n float64. A figure is the median, over many rounds, of the ratio of
two runs that were timed one right after the other, in a process of plain Python and in one of the launcher's; before, each has run
until kernels are compiled. Processor time is measured where one thread computes, or else, with ``--wall``, the time of a clock.
Results are compared, bit for bit. This is a benchmark: it prints what it finds, and fails on nothing but a wrong result.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

SIZES = 64, 96, 128, 192, 256, 350, 512, 768, 1024, 2048

INNER = """
import functools, sys, time
import numpy as np
clock = time.perf_counter if sys.argv[1] == "wall" else time.process_time

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

programs = {each.__name__: each for each in (jacobi, heat, chain, short_chain, slope, distance, softmax, updates)}

@functools.lru_cache(1)
def given(name, n):
    rng = np.random.default_rng(n)
    return [np.array(rng.random((n, n))) for _ in range(3)]

for line in sys.stdin:
    name, n, times = line.split()
    run, arrays = programs[name], given(name, int(n))
    start = clock()
    for _ in range(int(times)):
        made = run(np, *arrays)
    value = float(made if not made.ndim else made[1, 1])
    print((clock() - start) / int(times), value.hex(), flush=True)
"""
PROGRAMS = "jacobi", "heat", "chain", "short_chain", "slope", "distance", "softmax", "updates"


class Served:
    """Process that runs a program as often as it is told to."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._asked: IO[str] = self._process.stdin  # type: ignore[assignment]
        self._told: IO[str] = self._process.stdout  # type: ignore[assignment]

    def run(self, name: str, n: int, times: int) -> tuple[float, str]:
        """Return the seconds that a run took, and an element of its result."""
        print(name, n, times, file=self._asked, flush=True)
        if not (line := self._told.readline()):
            raise SystemExit(f"a process ended with {self._process.wait()}")
        seconds, value = line.split()
        return float(seconds), value

    def end(self) -> None:
        """Let the process end."""
        self._asked.close()
        self._process.wait()


def measured(backend: str, rounds: int, wall: bool, options: list[str]) -> dict[str, dict[str, float]]:
    """Run the programs by turns in a process of plain Python and in one of the launcher's."""
    rows: dict[str, dict[str, float]] = {}
    with TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(INNER, encoding="utf-8")
        argument = "wall" if wall else "processor"
        launched = [sys.executable, "-m", "arraydispatch", "run", "--backend", backend, *options, str(script), argument]
        plain, ours = Served([sys.executable, str(script), argument]), Served(launched)
        for name in PROGRAMS:
            for n in SIZES:
                times = max(5, 4_000_000 // (n * n))
                ratios: list[float] = []
                warm = max(6, -(-(1 << 27) // (3 * times * n * n)))
                for i in range(warm + rounds):
                    (before, one), (after, other) = plain.run(name, n, times), ours.run(name, n, times)
                    assert one == other, (name, n, one, other)
                    if i >= warm:
                        ratios.append(before / after)
                rows.setdefault(name, {})[str(n)] = statistics.median(ratios)
        plain.end()
        ours.end()
    return rows


def plot(rows: dict[str, dict[str, float]], file: Path) -> None:
    """Draw speed against size."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "sizes"
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for (name, found), marker in zip(rows.items(), "osD^v<>p", strict=True):
        axes.plot([*map(int, found)], [*found.values()], marker=marker, markersize=4, label=name, alpha=0.8)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set(xscale="log", yscale="log", xlabel="n (arrays of n × n)", ylabel="times as fast as plain NumPy")
    axes.set_xticks(SIZES, [*map(str, SIZES)])
    axes.set_yticks([0.5, 1, 2, 4, 8, 16, 32], ["0.5", "1", "2", "4", "8", "16", "32"])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right upper", frameon=False)
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)


def main() -> None:
    """Print a table of speed against size."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--backend", default="numpy")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--wall", action="store_true", help="measure by a clock, not in processor time")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--plot", type=Path, help="draw the table to this file")
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
    if args.plot:
        plot(rows, args.plot)


if __name__ == "__main__":
    main()
