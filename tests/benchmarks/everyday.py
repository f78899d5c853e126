"""What everyday operations on small arrays cost under the launcher, as a ratio to plain NumPy in the same process.

    python tests/benchmarks/everyday.py [--backend torch]... [--rounds N] [--json FILE]

Each backend is measured in a run of the launcher of its own, with default options. A figure is the median, over many rounds,
of the ratio of two blocks that were timed one right after the other: the same statement on NumPy's own arrays and on the
launcher's. This is a benchmark: it prints what it finds, and fails on nothing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

OPERATIONS = (
    # elements and parts
    "a[3, 4]", "a[3, 4] = 2.0", "a[3, 4] += 2.0", "a[3, 1:-1]", "a[3, 1:-1] = r", "a[3, 1:-1] += r", "b[3]", "b[3] = 2.0", "b[1:-1]",
    "a[3]", "a[:, 3]", "a[:, 3] * 2.0", "a[1:-1, 1:-1]", "b[::-1]", "b[..., None]", "b[c]", "b[c] = 0.0", "b[i]", "np.take(b, i)",
    "for e in b: pass", "for row in a: pass",
    # operators
    "b + b", "b * b", "b * 2.0", "2.0 - b", "b ** 2", "-b", "abs(b)", "b > 3", "b == b", "c & c", "~c", "b @ b", "a @ b40",
    "s * 2.0 + s", "o += 1.0", "o *= 0.5", "k + 1", "k // 2",
    # ufuncs
    "np.sqrt(b)", "np.exp(r)", "np.sin(r)", "np.maximum(b, 3.0)", "np.add(b, b, out=o)", "np.multiply(b, 2.0, out=o)", "np.sqrt(b, out=o)",
    "np.isnan(b)", "np.add.reduce(b)", "np.outer(r, r)",
    # reductions
    "b.sum()", "np.sum(b)", "a.sum(axis=0)", "np.sum(a, axis=1)", "b.mean()", "np.mean(b)", "b.max()", "b.std()", "b.argmax()",
    "np.argmin(b)", "c.any()", "np.all(c)", "np.cumsum(b)", "np.dot(b, b)", "np.linalg.norm(b)", "np.median(b)",
    # shapes and views
    "len(a)", "a.shape", "a.ndim", "a.size", "b.dtype", "a.T", "z.real", "a.ravel()", "a.reshape(-1)", "a.reshape(20, 80)",
    "b.copy()", "b.astype(np.float32)", "k.astype(float)", "np.transpose(a)",
    # new arrays
    "np.zeros(10)", "np.ones((3, 4))", "np.empty_like(b)", "np.zeros_like(b)", "np.full(10, 2.0)", "np.arange(10)", "np.linspace(0.0, 1.0, 10)",
    "np.eye(3)", "np.array(numbers)", "np.asarray(b)", "np.asarray(numbers)",
    # joining, searching, comparing
    "np.concatenate((b, b))", "np.stack((b, b))", "np.where(c, b, b)", "np.where(c)", "np.nonzero(c)", "np.roll(b, 1)",
    "np.sort(b)", "np.argsort(b)", "np.unique(k)", "np.allclose(b, b)", "np.clip(b, 1.0, 3.0)", "np.diff(b)", "np.searchsorted(b, 3.5)",
    # random numbers, values
    "rng.random(10)", "rng.normal()", "np.random.rand(10)", "b.tolist()", "float(b[3])", "s.item()",
)  # fmt: skip
LOOPS = {
    "element loop": "for i in range(1, 60):\n        for j in range(1, 60):\n            A[i, j] = A[i - 1, j] + A[i, j - 1] * 0.5",
    "row loop": "for i in range(1, 1000):\n        A[i, 1:-1] += A[i - 1, 1:-1] * 0.5",
}
"""On an array of 1,000 x 1,000."""
MEAN_BAR, WORST_BAR, LOOP_BAR = 1.2, 1.8, 2.5

INNER = """
import gc, json, statistics, sys, time
import numpy as np
real = sys.modules["numpy"]
rounds, operations, loops, cpu = json.loads(sys.argv[1])

def space(np):
    a, b = np.ones((40, 40)), np.arange(50.0)
    big = np.ones((1000, 1000)) * 1.0  # a result
    assert big[0, 0] == 1  # that somebody has looked at
    return {"np": np, "a": a, "b": b, "r": np.ones(38), "c": b > 3, "s": b[3], "numbers": [float(i) for i in range(50)], "A": big,
            "b40": np.ones(40), "o": np.empty(50), "i": np.arange(0, 50, 5), "k": np.arange(50), "z": b * 1j, "rng": np.random.default_rng(0),
            "clock": time.thread_time if cpu else time.perf_counter}

def compiled(statement, loop):
    body = f"    {statement}" if loop else f"    for _ in range(n):\\n        {statement}"
    source = f"def timed(n):\\n    global o\\n    start = clock()\\n{body}\\n    return (clock() - start) / n"
    return compile(source, "<timed>", "exec")

def pair(statement, loop):
    made = []
    for module in (real, np):
        names = space(module)
        exec(compiled(statement, loop), names)
        made.append(names["timed"])
    n = 1 if loop else max(5, int(0.002 / min(made[0](200) for _ in range(3))))
    for timed in made:
        timed(n)
    ratios, best = [], [9.0, 9.0]
    for i in range(rounds if not loop else max(3, rounds // 10)):
        order = (0, 1) if i % 2 else (1, 0)
        seconds = {at: made[at](n) for at in order}
        ratios.append(seconds[1] / seconds[0])
        best = [min(best[at], seconds[at]) for at in (0, 1)]
    return statistics.median(ratios), best[0], best[1]

gc.disable()
rows = {s: pair(s, False) for s in operations}
rows.update({name: pair(s, True) for name, s in loops.items()})
print(json.dumps(rows))
"""


def measure(backend: str, rounds: int, cpu: bool) -> dict[str, list[float]]:
    """Operation -> ratio, NumPy's seconds, ours."""
    script = Path(__file__).with_name("_everyday_inner.py")
    script.write_text(INNER)
    try:
        done = subprocess.run(
            [sys.executable, "-m", "arraydispatch", "run", "--backend", backend, str(script),
             json.dumps([rounds, OPERATIONS, LOOPS, cpu])],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True,
        )  # fmt: skip
    finally:
        script.unlink()
    found: dict[str, list[float]] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--backend", action="append", choices=("numpy", "jax", "torch", "tensorflow"))
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--cpu", action="store_true", help="seconds of this thread, for a machine that does other work")
    options = parser.parse_args()
    backends = options.backend or ["numpy", "jax", "torch", "tensorflow"]
    found = {backend: measure(backend, options.rounds, options.cpu) for backend in backends}
    print("| operation | NumPy, µs | " + " | ".join(backends) + " |")
    print("|---|---:|" + "---:|" * len(backends))
    for name in (*OPERATIONS, *LOOPS):
        micro = min(rows[name][1] for rows in found.values()) * 1e6
        print(f"| `{name}` | {micro:.2f} | " + " | ".join(f"{found[b][name][0]:.2f}" for b in backends) + " |")
    for what, figure in (("geometric mean", statistics.geometric_mean), ("worst", max)):
        figures = [figure([found[b][name][0] for name in OPERATIONS]) for b in backends]
        print(f"| {what} | | " + " | ".join(f"{x:.2f}" for x in figures) + " |")
    print(f"Bars: geometric mean {MEAN_BAR}, worst {WORST_BAR}; loops {LOOP_BAR}.")
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
