"""What a transform of an unchanged NumPy function costs, as a ratio to the library's own of the function written by hand.

    python tests/benchmarks/transforms.py [--backend jax]... [--size N]... [--rounds N] [--wall] [--json FILE]

``ad.jit`` of a stencil step against ``jax.jit``, ``torch.compile``, ``tf.function`` (with XLA, as ours); ``ad.grad`` of a loss against
``jax.grad``, ``torch.func.grad``, ``tf.GradientTape``, and against ``torch.autograd.grad`` called by hand, which is half as slow as torch's own
transform; all warm, in double precision. A figure is the median, over many rounds, of
the ratio of two blocks that were timed one right after the other, in CPU time, which other programs on the machine change least. Each
backend has a process of its own. This is a benchmark: it prints what it finds, and fails on nothing.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SIZES = (64, 512)
BARS = {"jit": 1.1, "grad": 1.15, "autograd": 1.15, "jit(grad)": 1.15}
BLOCK_SECONDS = 0.02

Call = Callable[[], Any]


def step(u: Any, dt: Any) -> Any:
    """One step of the heat equation."""
    v = u.copy()
    v[1:-1, 1:-1] += dt * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return v


def loss(w: Any, x: Any, y: Any) -> Any:
    """Of a perceptron, with a penalty."""
    return np.mean((np.tanh(x @ w) - y) ** 2) + 1e-3 * np.sum(w**2)


def jax_pairs(n: int) -> dict[str, tuple[Call, Call]]:
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = importlib.import_module("jax.numpy")

    def by_hand(u: Any, dt: Any) -> Any:
        inner = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        return u.at[1:-1, 1:-1].add(dt * inner)

    def loss_by_hand(w: Any, x: Any, y: Any) -> Any:
        return jnp.mean((jnp.tanh(x @ w) - y) ** 2) + 1e-3 * jnp.sum(w**2)

    return pairs(
        n, jnp.asarray, jax.block_until_ready, jax.jit(by_hand), jax.grad(loss_by_hand), jax.jit(jax.grad(loss_by_hand))
    )


def torch_pairs(n: int) -> dict[str, tuple[Call, Call]]:
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)

    def by_hand(u: Any, dt: Any) -> Any:
        v = u.clone()
        v[1:-1, 1:-1] += dt * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        return v

    def loss_by_hand(w: Any, x: Any, y: Any) -> Any:
        return torch.mean((torch.tanh(x @ w) - y) ** 2) + 1e-3 * torch.sum(w**2)

    def back(of: Any) -> Any:
        def gradient(w: Any, x: Any, y: Any) -> Any:
            w = w.detach().requires_grad_()
            return torch.autograd.grad(of(w, x, y), w)[0]

        return gradient

    compiled = back(torch.compile(loss_by_hand))
    return pairs(
        n,
        torch.tensor,
        lambda made: made,
        torch.compile(by_hand),
        torch.func.grad(loss_by_hand),
        compiled,
        back(loss_by_hand),
    )


def tensorflow_pairs(n: int) -> dict[str, tuple[Call, Call]]:
    tf = importlib.import_module("tensorflow")

    def by_hand(u: Any, dt: Any) -> Any:
        inner = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        return u + tf.pad(dt * inner, [[1, 1], [1, 1]])

    def gradient(w: Any, x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(w)
            value = tf.reduce_mean((tf.tanh(tf.linalg.matvec(x, w)) - y) ** 2) + 1e-3 * tf.reduce_sum(w**2)
        return tape.gradient(value, w)

    compiled = tf.function(by_hand, jit_compile=True, autograph=False)
    return pairs(
        n, tf.constant, lambda made: made, compiled, gradient, tf.function(gradient, jit_compile=True, autograph=False)
    )


def pairs(
    n: int, make: Any, wait: Any, stepped: Any, gradient: Any, compiled: Any, by_tape: Any = None
) -> dict[str, tuple[Call, Call]]:
    """Name -> (the library's call, ours)."""
    import arraydispatch as ad

    rng = np.random.default_rng(0)
    u, x, w = (make(rng.normal(size=shape)) for shape in ((n, n), (n * n // 4, 20), (20,)))
    y = make((rng.normal(size=n * n // 4) > 0).astype(float))
    au, ax, aw, ay = (ad.wrap(a) for a in (u, x, w, y))
    jitted, differentiated, both = ad.jit(step), ad.grad(loss), ad.jit(ad.grad(loss))
    np.testing.assert_allclose(np.asarray(jitted(au, 0.1)), np.asarray(stepped(u, 0.1)), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(np.asarray(differentiated(aw, ax, ay)), np.asarray(gradient(w, x, y)), rtol=1e-9)
    found = {
        "jit": (lambda: wait(stepped(u, 0.1)), lambda: wait(jitted(au, 0.1).native)),
        "grad": (lambda: wait(gradient(w, x, y)), lambda: wait(differentiated(aw, ax, ay).native)),
    }
    if by_tape is not None:
        found["autograd"] = (lambda: wait(by_tape(w, x, y)), found["grad"][1])
    found["jit(grad)"] = (lambda: wait(compiled(w, x, y)), lambda: wait(both(aw, ax, ay).native))
    return found


PAIRS = {"jax": jax_pairs, "torch": torch_pairs, "tensorflow": tensorflow_pairs}


def measure(theirs: Call, ours: Call, rounds: int, clock: Callable[[], float]) -> tuple[float, float, float]:
    """The median ratio, and the median microseconds of both."""

    def seconds(call: Call, n: int) -> float:
        start = clock()
        for _ in range(n):
            call()
        return (clock() - start) / n

    for call in (theirs, ours):
        seconds(call, 5)
    n = max(1, int(BLOCK_SECONDS / max(min(seconds(theirs, 5) for _ in range(3)), 1e-9)))
    found: list[tuple[float, float]] = []
    gc.collect()
    gc.disable()
    try:
        for i in range(rounds):
            first, second = (theirs, ours) if i % 2 else (ours, theirs)
            one, two = seconds(first, n), seconds(second, n)
            found.append((one, two) if i % 2 else (two, one))
    finally:
        gc.enable()
    a, b = (statistics.median(column) * 1e6 for column in zip(*found, strict=True))
    return statistics.median(two / one for one, two in found), a, b


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--backend", action="append", choices=PAIRS, help="only this one (may be repeated)")
    parser.add_argument("--size", action="append", type=int, help=f"rows of the grid; else {SIZES}")
    parser.add_argument("--rounds", type=int, default=41, help="pairs of blocks for each figure")
    parser.add_argument("--wall", action="store_true", help="wall-clock time, on a machine that does nothing else")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--worker", choices=PAIRS, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    sizes = asked.size or SIZES
    if asked.worker:
        clock = time.perf_counter if asked.wall else time.process_time
        rows = []
        for n in sizes:
            for name, (theirs, ours) in PAIRS[asked.worker](n).items():
                ratio, a, b = measure(theirs, ours, asked.rounds, clock)
                rows.append(
                    {"backend": asked.worker, "size": n, "what": name, "theirs_us": a, "ours_us": b, "ratio": ratio}
                )
        print(json.dumps(rows))
        return
    found: list[dict[str, Any]] = []
    print(f"{'backend':12}{'size':>6}  {'':12}{'theirs µs':>12}{'ours µs':>12}{'ratio':>8}{'bar':>8}")
    for backend in asked.backend or PAIRS:
        command = [
            sys.executable,
            __file__,
            "--worker",
            backend,
            "--rounds",
            str(asked.rounds),
            *["--wall"] * asked.wall,
        ]
        for n in sizes:
            command += ["--size", str(n)]
        done = subprocess.run(
            command, capture_output=True, text=True, env={"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ}, check=False
        )
        if done.returncode:
            sys.exit(f"{backend}: the measurement ended with exit code {done.returncode}\n{done.stderr}")
        for row in json.loads(done.stdout.splitlines()[-1]):
            row["bar"] = BARS[row["what"]]
            row["met"] = row["ratio"] <= row["bar"]
            found.append(row)
            print(f"{row['backend']:12}{row['size']:6}  {row['what']:12}{row['theirs_us']:12.1f}{row['ours_us']:12.1f}{row['ratio']:8.2f}{row['bar']:8.2f}", flush=True)  # fmt: skip
    print(f"{sum(row['met'] for row in found)} of {len(found)} bars met")
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
