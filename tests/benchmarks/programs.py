"""Whole NumPy programs, plain and under the launcher: how long the process takes, and a second run of the work inside it.

``python tests/benchmarks/programs.py [--only NAME] [--backends numpy torch] [--repeat 3] [--plot FILE]``. The programs are in
``whole/``: plain NumPy, which knows nothing of this package. The work is a function ``run`` that is called twice, and gives a digest
of its result, which has to be plain NumPy's. In ``hand/`` are some of them as one writes them for JAX.
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
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
WAYS: dict[str, list[str]] = {
    "default": [],
    "eager": ["--execution", "eager", "--min-size", "0"],
    "compiled": ["--execution", "compiled"],
}
BY_HAND = "jax by hand"

_AROUND = """\
import math
import resource
import time
{body}
started = time.perf_counter()
first = float(run())
between = time.perf_counter()
second = float(run())
ended = time.perf_counter()
assert math.isclose(first, second, rel_tol={within})
print(repr(first), between - started, ended - between, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


class Run(NamedTuple):
    """Seconds of a process, of the first run in it and of the second; its largest memory, in MB; the digest."""

    process: float
    first: float
    again: float
    memory: float
    digest: float


def _measure(path: Path, way: str) -> Run:
    command = [sys.executable, str(path)]
    if way not in ("plain", BY_HAND):
        backend, how = way.split()
        command = [sys.executable, "-m", "arraydispatch", "run", "--backend", backend, *WAYS[how], str(path)]
    start = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    wall = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr}")
    digest, first, again, memory = map(float, done.stdout.split())
    return Run(wall, first, again, memory / 1024, digest)


def _within(way: str) -> float:
    """Return the relative difference at most of two results: a library sums in another order, and its runs are cut into other blocks."""
    return 0.0 if way in ("plain", "numpy default") else 1e-6


def _best(path: Path, way: str, repeat: int, expected: float | None) -> Run:
    """The best of several, with a digest that is the expected one, bit for bit where NumPy's own loops compute."""
    runs = [_measure(path, way) for _ in range(repeat)]
    for run in runs:
        if expected is not None and not math.isclose(run.digest, expected, rel_tol=_within(way)):
            raise SystemExit(f"{path.stem}, {way}: {run.digest!r}, and {expected!r} in plain NumPy")
    return Run(*map(min, zip(*runs, strict=True)))


def _mean(ratios: Iterable[float]) -> float:
    logs = [math.log(ratio) for ratio in ratios]
    return math.exp(sum(logs) / len(logs))


def _plotted(found: dict[str, dict[str, Run]], file: Path) -> None:
    """How many times as fast as plain NumPy each program is, second runs."""
    import matplotlib.pyplot as plt

    ways = [way for way in dict.fromkeys(way for runs in found.values() for way in runs) if way != "plain"]
    figure, axes = plt.subplots(figsize=(7, 0.32 * len(found) + 1.2), layout="constrained")
    for way, marker in zip(ways, "os^Dvx*+"):
        rows = [(i, runs["plain"].again / runs[way].again) for i, runs in enumerate(found.values()) if way in runs]
        axes.plot([ratio for _, ratio in rows], [i for i, _ in rows], marker, label=way, alpha=0.8)
    axes.axvline(1.0, color="grey", linewidth=1)
    axes.set(xscale="log", xlabel="times as fast as plain NumPy", yticks=range(len(found)), yticklabels=list(found))
    axes.invert_yaxis()
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(file)


def main() -> None:
    """Run the programs in every way asked for and print how many times as fast as plain NumPy they are."""
    programs = {path.stem: path for path in sorted((HERE / "whole").glob("*.py"))}
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--only", nargs="*", default=list(programs), choices=list(programs), metavar="NAME")
    parser.add_argument("--backends", nargs="*", default=["numpy", "torch", "jax", "tensorflow"])
    parser.add_argument("--ways", nargs="*", default=["default"], choices=list(WAYS), help="eager: the library alone")
    parser.add_argument("--repeat", type=int, default=3, help="the best of so many")
    parser.add_argument("--plot", type=Path, help="draw the second runs to this file")
    asked = parser.parse_args()
    table = Table("program", "way", title="Whole programs, and how many times as fast as plain NumPy they are")
    for column in ("process s", "first s", "again s", "MB", "process ×", "again ×"):
        table.add_column(column, justify="right")
    found: dict[str, dict[str, Run]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.only:
            runs = found[name] = {}
            by_hand = HERE / "hand" / f"{name}.py"
            ways = ["plain", *(f"{b} {w}" for b in asked.backends for w in asked.ways)]
            if by_hand.exists() and "jax" in asked.backends:
                ways.append(BY_HAND)
            for way in ways:
                path = Path(folder) / f"{name}.py"
                source = by_hand if way == BY_HAND else programs[name]
                body = source.read_text(encoding="utf-8")
                path.write_text(_AROUND.format(body=body, within=_within(way)), encoding="utf-8")
                plain = runs.get("plain")
                run = runs[way] = _best(path, way, asked.repeat, None if plain is None else plain.digest)
                plain = plain or run
                seconds = [f"{x:.3f}" for x in (run.process, run.first, run.again)]
                times = [f"{plain.process / run.process:.2f}", f"{plain.again / run.again:.2f}"]
                table.add_row(name if way == "plain" else "", way, *seconds, f"{run.memory:.0f}", *times)
                print(f"{name:20} {way:20} {times[0]:>6} {times[1]:>6}", file=sys.stderr, flush=True)
            table.add_section()
    for way in dict.fromkeys(way for runs in found.values() for way in runs if way != "plain"):
        pairs = [(runs["plain"], runs[way]) for runs in found.values() if way in runs]
        means = [f"{_mean(a[i] / b[i] for a, b in pairs):.2f}" for i in (0, 2)]
        table.add_row("geometric mean", way, "", "", "", "", *means)
    Console(width=110).print(table)
    if asked.plot:
        _plotted(found, asked.plot)


if __name__ == "__main__":
    main()
