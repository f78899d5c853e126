"""Compiled execution against steps compiled by hand: programs, memory traffic, synchronisations and time of ten programs.

``python tests/benchmarks/compiled.py [--libraries jax torch tensorflow] [--only NAME] [--small]``. A step is a plain function of arrays, taken
from ``accelerator_steps.py``. Under compiled execution NumPy runs it, unchanged; by hand ``jax.jit``, ``torch.compile`` or
``tf.function(jit_compile=True)`` compiles it. A process runs a program eight times from its start: programs compiled in the last four
runs are those of the second half. Bytes are those of the compiler's own cost analysis on JAX, kernels those that inductor generates
for PyTorch; TensorFlow has neither. Processes of both ways alternate, and the fastest run counts. The C library keeps what is freed, in
both ways: by default it maps some arrays of 32 MB anew each time, and which ones is chance (twice the time of a stencil).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import accelerator_steps as steps  # type: ignore[import-not-found]
import numpy as np
from accelerator_steps import INNER, Case, State
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[2]
LIBRARIES = "jax", "torch", "tensorflow"
RUNS = 8
TIMEOUT = 300
MALLOC = {"MALLOC_MMAP_THRESHOLD_": str(1 << 30), "MALLOC_TRIM_THRESHOLD_": str(1 << 32)}
"""Environment variables of glibc's malloc: memory that is freed is kept."""


def _points(n: int) -> State:
    rng = np.random.default_rng(2)
    points = rng.normal(size=(n, 4)) + rng.integers(0, 5, (n, 1)) * 3
    return points[:8].copy(), points, np.arange(8)


def _k_means(xp: Any, update: Any, centres: Any, points: Any, numbers: Any) -> State:
    distance = xp.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=2)
    belongs = (xp.argmin(distance, axis=1)[:, None] == numbers) * 1.0
    return ((belongs.T @ points) / xp.sum(belongs, axis=0)[:, None],)


def _cavity(n: int) -> State:
    y, x = np.mgrid[0:n, 0:n] / n
    return np.exp(-100 * ((x - 0.5) ** 2 + (y - 0.5) ** 2)), np.zeros((n, n - 1)), np.zeros((n - 1, n))


def _fdtd(xp: Any, update: Any, e: Any, hx: Any, hy: Any) -> State:
    hx = hx - 0.5 * (e[:, 1:] - e[:, :-1])
    hy = hy + 0.5 * (e[1:] - e[:-1])
    curl = (hy[1:, 1:-1] - hy[:-1, 1:-1]) - (hx[1:-1, 1:] - hx[1:-1, :-1])
    return update(e, INNER, e[INNER] + 0.5 * curl), hx, hy


class Program(NamedTuple):
    """A case, with its large and small sizes."""

    case: Case
    large: int
    small: int


PROGRAMS: dict[str, Program] = {
    "heat": Program(steps.CASES["stencil"], 2000, 256),
    "wave": Program(steps.CASES["wave"], 2000, 256),
    "gray_scott": Program(steps.CASES["gray_scott"], 2000, 256),
    "black_scholes": Program(steps.CASES["black_scholes"], 4_000_000, 65_536),
    "n_body": Program(steps.CASES["n_body"], 1500, 256),
    "k_means": Program(Case(_points, _k_means, 10, lambda xp, centres, *_: xp.sum(centres)), 1_000_000, 20_000),
    "mandelbrot": Program(steps.CASES["mandelbrot_real"], 2000, 256),
    "logistic_regression": Program(steps.CASES["logistic_regression"], 400_000, 4000),
    "conjugate_gradient": Program(steps.CASES["conjugate_gradient"], 2000, 256),
    "fdtd": Program(Case(_cavity, _fdtd, 40, lambda xp, e, *_: xp.sum(e * e)), 2000, 256),
}
"""Name of a program -> how it is written, and its sizes."""


# -- one process -----------------------------------------------------------------------------------------------------------


class Tensorflow:
    """Steps compiled by ``tf.function(jit_compile=True)``, on TensorFlow's NumPy-like module."""

    def __init__(self) -> None:
        import tensorflow as tf
        import tensorflow.experimental.numpy as tnp

        tnp.experimental_enable_numpy_behavior()
        self.tf, self.xp = tf, tnp

    def array(self, x: Any) -> Any:
        return self.tf.constant(x)

    def update(self, x: Any, key: Any, value: Any) -> Any:
        key = key + (slice(None),) * (len(x.shape) - len(key))
        bounds = np.array([part.indices(n) for part, n in zip(key, x.shape, strict=True)]).T
        begin, end, strides = map(self.tf.constant, bounds.astype(np.int32))
        return self.tf.raw_ops.TensorStridedSliceUpdate(input=x, begin=begin, end=end, strides=strides, value=value)

    def compiled(self, step: Callable[..., State], state: State) -> tuple[Callable[..., State], dict[str, float]]:
        """Return the compiled step; TensorFlow has no cost analysis of programs."""
        return self.tf.function(lambda *arrays: step(self.xp, self.update, *arrays), jit_compile=True), {}


def _by_hand(library: str) -> Any:
    if library == "tensorflow":
        return Tensorflow()
    home = steps.LIBRARIES[library]("cpu", "float64")
    if library == "torch":
        home.torch.set_default_dtype(home.dtype)  # of a mask times a number
    return home


def _kernels() -> int:
    """Return how many kernels inductor has generated, if PyTorch is there."""
    metrics = sys.modules.get("torch._inductor.metrics")
    return 0 if metrics is None else int(metrics.generated_kernel_count)


def _run(
    case: Case, start: State, array: Callable[[Any], Any], step: Callable[..., State], xp: Any
) -> tuple[int, float, float]:
    """Return the steps, the seconds and the digest of a run."""
    state = [array(x) for x in start]
    begun, count = time.perf_counter(), 0
    while count < case.steps:
        made = step(*state)
        state[: len(made)] = made
        made = ()
        count += 1
    digest = float(case.read(xp, *state))
    return count, time.perf_counter() - begun, digest


def by_hand(library: str, program: Program, size: int) -> dict[str, Any]:
    """Run a program whose steps are compiled by hand."""
    case, home = program.case, _by_hand(library)
    start = case.start(size)
    compiled, costs = home.compiled(case.step, tuple(home.array(x) for x in start))
    runs = [_run(case, start, home.array, compiled, home.xp) for _ in range(RUNS)]
    return {
        "seconds": min(seconds for _, seconds, _ in runs) / runs[0][0], "digest": runs[-1][2],
        "bytes": costs.get("bytes", 0.0) if library == "jax" else 0.0, "kernels": float(_kernels()),
    }  # fmt: skip


def by_package(library: str, program: Program, size: int, execution: str = "compiled") -> dict[str, Any]:
    """Run a program whose steps are NumPy code."""
    import arraydispatch as ad
    from arraydispatch.engine.compiled_blocks import programs
    from arraydispatch.engine.compiled_blocks.counters import counters

    def update(x: Any, key: Any, value: Any) -> Any:
        x = x.copy()
        x[key] = value
        return x

    case, start = program.case, program.case.start(size)
    made, before, synchronisations = 0, {}, 0
    runs = []
    with ad.backend(library), ad.execution(execution):  # type: ignore[arg-type]
        for i in range(RUNS):
            if i == RUNS // 2:
                made = counters.programs
            before = {block: block.runs for block in programs.programs()}
            synchronisations = counters.synchronisations.total()
            runs.append(_run(case, start, ad.asarray, lambda *arrays: case.step(np, update, *arrays), np))
    count = runs[-1][0]
    costs = [(block.runs - before.get(block, 0), block.cost()) for block in programs.programs()]
    total = {name: sum(n * cost.get(name, 0.0) for n, cost in costs) / count for name in ("bytes", "kernels")}
    return {
        "seconds": min(seconds for _, seconds, _ in runs) / count, "digest": runs[-1][2],
        "programs": counters.programs, "late": counters.programs - made,
        "synchronisations": (counters.synchronisations.total() - synchronisations - 1) / count, **total,
    }  # fmt: skip


# -- all of them ---------------------------------------------------------------------------------------------------------


def measured(way: str, library: str, name: str, size: int) -> dict[str, Any]:
    """Run a program in a process of its own."""
    environment = {**os.environ, **MALLOC, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, __file__, "--process", way, library, name, str(size)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=TIMEOUT, check=False)
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def row(library: str, name: str, size: int, repeat: int, eager: bool) -> dict[str, Any]:
    """Return the figures of a program: compiled execution's, and their ratios to those of the hand-written step."""
    ways = ["by_package", "by_hand", *(["by_eager"] if eager else [])]
    tries = [{way: measured(way, library, name, size) for way in ways} for _ in range(repeat)]
    errors = [found["error"] for each in tries for found in each.values() if "error" in found]
    if errors:
        return {"error": errors[0]}
    least = {way: min(each[way]["seconds"] for each in tries) for way in ways}
    ours, theirs = tries[0]["by_package"], tries[0]["by_hand"]
    if not math.isclose(ours["digest"], theirs["digest"], rel_tol=1e-9):
        return {"error": f"{ours['digest']!r}, and {theirs['digest']!r} by hand"}
    found = {**ours, "seconds": least["by_package"], "ratio": least["by_package"] / least["by_hand"]}
    for unit in ("bytes", "kernels"):
        if theirs[unit]:
            found["traffic"] = ours[unit] / theirs[unit]
    if eager:
        found["eager"] = least["by_eager"] / least["by_package"]
    return found


COLUMNS = {
    "programs": ("programs", "{:.0f}"), "late": ("in 2nd half", "{:.0f}"), "traffic": ("× bytes or kernels", "{:.2f}"),
    "synchronisations": ("syncs a step", "{:.2f}"), "seconds": ("s a step", "{:.5f}"), "ratio": ("× time by hand", "{:.2f}"),
    "eager": ("× faster than eager", "{:.1f}"),
}  # fmt: skip


def table(library: str, size: str, rows: dict[str, dict[str, Any]]) -> Table:
    """Return the table of a library."""
    made = Table("program", title=f"{library}, {size} sizes")
    for title, _ in COLUMNS.values():
        made.add_column(title, justify="right")
    for name, found in rows.items():
        if "error" in found:
            made.add_row(name, found["error"][:80])
        else:
            cells = [form.format(found[key]) if key in found else "" for key, (_, form) in COLUMNS.items()]
            made.add_row(name, *cells)
    for key in ("ratio", "eager"):
        values = [found[key] for found in rows.values() if key in found]
        if values:
            made.caption = (
                f"{made.caption or ''} {COLUMNS[key][0]}, geometric mean: {math.prod(values) ** (1 / len(values)):.2f}."
            )
    return made


def main() -> None:
    """Run the programs and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--only", nargs="*", default=list(PROGRAMS), choices=list(PROGRAMS), metavar="NAME")
    parser.add_argument("--libraries", nargs="*", default=list(LIBRARIES), choices=LIBRARIES)
    parser.add_argument("--small", action="store_true", help="in small sizes, where calls cost more than elements")
    parser.add_argument("--size", type=int, help="this size for all programs asked for")
    parser.add_argument("--eager", action="store_true", help="compare with eager execution too")
    parser.add_argument("--repeat", type=int, default=2, help="processes of each way, which alternate")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    parser.add_argument("--process", nargs=4, metavar=("WAY", "LIBRARY", "PROGRAM", "SIZE"), help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.process:
        way, library, name, size = asked.process
        if way == "by_hand":
            found = by_hand(library, PROGRAMS[name], int(size))
        else:
            found = by_package(library, PROGRAMS[name], int(size), "eager" if way == "by_eager" else "compiled")
        print(json.dumps(found))
        return
    which = "small" if asked.small else "large"
    all_rows: dict[str, dict[str, dict[str, Any]]] = {}
    for library in asked.libraries:
        rows = all_rows[library] = {}
        for name in asked.only:
            rows[name] = row(library, name, asked.size or getattr(PROGRAMS[name], which), asked.repeat, asked.eager)
            print(library, name, rows[name], file=sys.stderr)
        Console(width=140).print(table(library, which, rows))
    if asked.json:
        asked.json.write_text(json.dumps(all_rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
