"""What writing into arrays costs, on every backend: time, memory, and whether the numbers stay NumPy's.

    python tests/benchmarks/mutation.py [--backend jax]... [--json FILE] [--quick]

Three measurements, each backend in a process of its own:

- ``x[5:10] = v`` on ten million float64, against the same on a thousand: the cost of an update is that of the slice, not
  that of the array. The peak of the process's memory during the updates is given in sizes of the array.
- A stencil over slices of a 300 x 300 grid, a thousand times, in NumPy's own order of operations: time against NumPy's,
  whether the result is NumPy's bit for bit, and how much the process's memory grew after the first hundred.
- A view made in 5,000 steps, read after each write to its root, against the same view made in one step.

It prints what it finds, and fails on nothing.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

BACKENDS = ("numpy", "jax", "torch", "tensorflow")
LARGE, SMALL = 10_000_000, 1_000
GRID, ITERATIONS = 300, 1_000
STEPS = 5_000


@dataclass
class Row:
    """One figure and, where there is one, its bar."""

    backend: str
    what: str
    figure: str
    value: float
    bar: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether the bar is met, None without one."""
        return None if self.bar is None else self.value <= self.bar


def resident() -> int:
    """Bytes of the process that are in memory now."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


def peak_since_reset(reset: bool = False) -> int:
    """The most bytes of the process that were in memory since the last reset."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM")) * 1024


def best(run: Callable[[], Any], number: int, rounds: int) -> float:
    """Microseconds of one call: the median over rounds."""
    run()
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(number):
            run()
        found.append((time.perf_counter() - start) / number * 1e6)
    return statistics.median(found)


def updates(backend: str, rounds: int) -> list[Row]:
    """``x[5:10] = v`` on a large and on a small array."""
    import numpy as np

    import arraydispatch as ad

    spent = {}
    peak = 0.0
    for size in (SMALL, LARGE):
        x = ad.asarray(np.zeros(size), backend=backend) + 0.0  # made by a kernel: nobody else holds it
        v = ad.asarray(np.arange(5.0), backend=backend)

        def write(x: Any = x, v: Any = v) -> None:
            x[5:10] = v

        write()
        float(x[5])
        gc.collect()
        before = peak_since_reset(reset=True)
        spent[size] = best(write, 200, rounds)
        float(x[5])
        peak = (peak_since_reset() - before) / (size * 8)
    return [
        Row(backend, "x[5:10] = v, 1,000 elements", f"{spent[SMALL]:.1f} µs", spent[SMALL]),
        Row(backend, "x[5:10] = v, 10 M elements", f"{spent[LARGE]:.1f} µs", spent[LARGE]),
        Row(backend, "  against 1,000", f"{spent[LARGE] / spent[SMALL]:.2f} x", spent[LARGE] / spent[SMALL], 20),
        Row(backend, "  peak memory, in copies of the array", f"{peak:.2f}", peak, 0.5),
    ]


def step(x: Any) -> None:
    """One step of a stencil over slices: additions and multiplications, in place."""
    x[1:-1, 1:-1] = (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) * 0.25
    x[0] = x[1]
    x[:, -1] += 0.5 * x[:, 0]


def stencil(backend: str, iterations: int) -> list[Row]:
    """The stencil, against NumPy itself."""
    import numpy as np

    import arraydispatch as ad

    expected = np.random.default_rng(5).random((GRID, GRID))
    x = ad.asarray(expected, backend=backend)
    for _ in range(iterations // 10):
        step(x)
    gc.collect()
    before = resident()
    start = time.perf_counter()
    for _ in range(iterations - iterations // 10):
        step(x)
    ad.synchronize(x)
    ours = time.perf_counter() - start
    gc.collect()
    grown = (resident() - before) / 1e6
    for i in range(iterations):
        if i == iterations // 10:
            start = time.perf_counter()
        step(expected)
    theirs = time.perf_counter() - start
    found = ad.to_numpy(x)
    different = int(np.sum(found.view("i8") != expected.view("i8")))
    scale = 1e6 / (iterations - iterations // 10)
    return [
        Row(backend, f"stencil, {iterations:,} x {GRID}²", f"{ours * scale:.0f} µs/step", ours * scale),
        Row(backend, "  against NumPy", f"{ours / theirs:.2f} x", ours / theirs),
        Row(backend, "  elements not NumPy's bits", f"{different}", different, 0),
        Row(backend, "  memory grown", f"{grown:.1f} MB", grown, 5),
    ]


def chains(backend: str, rounds: int) -> list[Row]:
    """A long chain of views against a short one."""
    import numpy as np

    import arraydispatch as ad
    from arraydispatch.memory import views

    x = ad.asarray(np.arange(24.0).reshape(4, 6), backend=backend)
    long = x
    for _ in range(STEPS // 4):
        long = long[::-1].T[None][0].T
    short = x[::-1] if (STEPS // 4) % 2 else x[:]

    def read(view: Any) -> Callable[[], Any]:
        def run() -> Any:
            x[0, 0] = 1.0
            return views.native(view)

        return run

    ratios = []
    for _ in range(rounds):
        a, b = best(read(short), 50, 3), best(read(long), 50, 3)
        ratios.append(b / a)
    ratio = statistics.median(ratios)
    return [Row(backend, f"read after {STEPS:,} view steps, against one", f"{ratio:.2f} x", ratio, 1.5)]


def show(rows: list[Row], versions: dict[str, str]) -> None:
    """Print the table."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=", ".join(f"{name} {version}" for name, version in versions.items()))
    for name in ("backend", "what", "figure", "bar"):
        table.add_column(name, justify="right" if name in ("figure", "bar") else "left")
    for i, row in enumerate(rows):
        color = {True: "green", False: "red", None: "default"}[row.met]
        last = i + 1 < len(rows) and rows[i + 1].backend != row.backend
        bar = "" if row.bar is None else f"<= {row.bar:g}"
        table.add_row(row.backend, row.what, f"[{color}]{row.figure}[/]", bar, end_section=last)
    console = Console()
    (console if console.is_terminal else Console(width=120)).print(table)


def measure(backend: str, quick: bool) -> tuple[list[Row], str]:
    """Every figure of one backend, and its version."""
    import arraydispatch as ad

    rounds = 3 if quick else 9
    rows = [
        *updates(backend, rounds),
        *stencil(backend, ITERATIONS // 10 if quick else ITERATIONS),
        *chains(backend, rounds),
    ]
    return rows, ad.backend(backend).version


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Cost of writing into arrays.")
    parser.add_argument("--backend", action="append", choices=BACKENDS, help="only this one (may be repeated)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--quick", action="store_true", help="fewer rounds and iterations")
    parser.add_argument("--worker", choices=BACKENDS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.worker:
        rows, version = measure(args.worker, args.quick)
        print(json.dumps({"rows": [asdict(row) for row in rows], "version": version}))
        return

    import arraydispatch as ad

    found: list[Row] = []
    versions = {}
    for backend in args.backend or ad.available_backends():
        command = [sys.executable, __file__, "--worker", backend, *(["--quick"] if args.quick else [])]
        env = {"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ}
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=env)
        if done.returncode != 0:
            sys.exit(f"{backend}: the measurement ended with exit code {done.returncode}\n{done.stderr}")
        answer = json.loads(done.stdout.splitlines()[-1])
        found += [Row(**row) for row in answer["rows"]]
        versions[backend] = answer["version"]
    show(found, versions)
    if args.json:
        figures = {"versions": versions, "rows": [{**asdict(row), "met": row.met} for row in found]}
        args.json.write_text(json.dumps(figures, indent=1, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
