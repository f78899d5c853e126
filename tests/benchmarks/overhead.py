"""What a call costs through arraydispatch, as a ratio to the library's own call in the same run.

    python tests/benchmarks/overhead.py [--backend torch]... [--json FILE] [--rounds N] [--cpu]

Each figure is the median, over many rounds, of the ratio of two blocks of calls that were timed one right after the
other, so that whatever else the machine does weighs on both. Each backend is measured in a process of its own. Peers
that are installed are measured in the same rounds. What a profile adds to a call is the difference of the best blocks
with and without one, in microseconds. This is a benchmark: it prints what it finds, and fails on nothing.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

SMALL, LARGE = 10, 1_000_000
BLOCK_SECONDS = 0.006
LARGE_BAR = 1.05
IMPORT_BAR = 1.3
PROFILE_BAR = 1.5  # microseconds

Block = Callable[[int], float]
clock = time.perf_counter


@dataclass
class Row:
    """One figure."""

    backend: str
    size: int
    call: str
    native: str
    bar: float | None
    native_us: float = 0.0
    ours_us: float = 0.0
    ratio: float = 0.0
    peers: dict[str, float] = field(default_factory=dict)
    extra_us: float | None = None
    """Of a row about profiling: microseconds that it adds to a call; the bar is then about these."""

    @property
    def met(self) -> bool | None:
        """Whether the bar is met, None without one."""
        if self.bar is None:
            return None
        return (self.ratio if self.extra_us is None else self.extra_us) <= self.bar


def block(statement: str, env: dict[str, Any], finish: Callable[[Any], Any] | None) -> Block:
    """A function that runs ``statement`` n times and returns the seconds for one.

    ``finish`` is called once on the last result, within the time: it waits for libraries that run asynchronously.
    """
    source = (
        "def timed(n):\n"
        "    start = clock()\n"
        "    for _ in range(n):\n"
        f"        result = {statement}\n"
        "    finish(result)\n"
        "    return (clock() - start) / n\n"
    )
    space = {**env, "clock": clock, "finish": finish or (lambda _: None)}
    exec(compile(source, statement, "exec"), space)
    timed: Block = space["timed"]
    return timed


def measure(blocks: dict[str, Block], rounds: int) -> tuple[dict[str, float], dict[str, float]]:
    """Ratio to ``"native"`` and best microseconds of each block."""
    numbers = {}
    for name, timed in blocks.items():
        timed(3)
        numbers[name] = max(1, int(BLOCK_SECONDS / max(min(timed(5), timed(5)), 1e-9)))
    ratios: dict[str, list[float]] = {name: [] for name in blocks}
    best = dict.fromkeys(blocks, float("inf"))
    others = [name for name in blocks if name != "native"]
    gc.collect()
    gc.disable()
    try:
        for i in range(rounds):
            for name in others:
                pair = ("native", name) if i % 2 else (name, "native")
                seconds = {key: blocks[key](numbers[key]) for key in pair}
                ratios[name].append(seconds[name] / seconds["native"])
                for key, value in seconds.items():
                    best[key] = min(best[key], value * 1e6)
    finally:
        gc.enable()
    return {name: statistics.median(ratios[name]) for name in others}, best


# -- the libraries: how to make an array, and how each spells the calls ----------------------------------------------


@dataclass
class Library:
    """How one library spells what is measured; ``x`` and ``y`` are native arrays, ``a`` and ``b`` ours."""

    env: dict[str, Any]
    make: Callable[[Any], Any]
    native: dict[str, str]
    looked_at: dict[str, str] = field(default_factory=dict)
    """Calls of which both sides look at each value, for libraries that else go on before it is there."""
    wait_native: Callable[[Any], Any] | None = None
    wait_ours: Callable[[Any], Any] | None = None


CALLS = ("a + b", "np.add(a, b)", "np.sum(a)", "np.concatenate((a, b))")

BARS: dict[tuple[str, str], float] = {
    ("torch", "a + b"): 1.6,
    ("torch", "np.add(a, b)"): 2.2,
    ("torch", "np.sum(a)"): 2.0,
    ("torch", "np.concatenate((a, b))"): 2.0,
    ("jax", "a + b"): 1.0,
    ("jax", "float(np.sum(a))"): 1.0,
    ("tensorflow", "a + b"): 1.0,
}
"""At 10 elements. At a million the bar is the same for all."""


def spelled(add: str, total: str, concatenate: str) -> dict[str, str]:
    """The native call for each of CALLS."""
    return dict(zip(CALLS, (add, add, total, concatenate), strict=True))


def numpy_library() -> Library:
    """NumPy under the wrapper."""
    import numpy as np

    return Library({}, np.asarray, spelled("np.add(x, y)", "np.sum(x)", "np.concatenate((x, y))"))


def torch_library() -> Library:
    """Torch on one thread, both sides."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    native = spelled("torch.add(x, y)", "torch.sum(x)", "torch.concatenate((x, y))")
    return Library({"torch": torch}, torch.tensor, native)


def jax_library() -> Library:
    """JAX with 64-bit types; it runs asynchronously, so the last result of a block is waited for."""
    jax = importlib.import_module("jax")
    jax.config.update("jax_enable_x64", True)
    jnp = importlib.import_module("jax.numpy")
    native = spelled("jnp.add(x, y)", "jnp.sum(x)", "jnp.concatenate((x, y))")

    def wait_ours(result: Any) -> None:
        jax.block_until_ready(getattr(result, "native", result))

    looked_at = {"float(np.sum(a))": "float(jnp.sum(x))"}
    return Library({"jax": jax, "jnp": jnp}, jnp.asarray, native, looked_at, jax.block_until_ready, wait_ours)


def tensorflow_library() -> Library:
    """TensorFlow, eager."""
    tf = importlib.import_module("tensorflow")
    return Library({"tf": tf}, tf.constant, spelled("tf.add(x, y)", "tf.reduce_sum(x)", "tf.concat((x, y), 0)"))


LIBRARIES: dict[str, Callable[[], Library]] = {
    "numpy": numpy_library,
    "jax": jax_library,
    "torch": torch_library,
    "tensorflow": tensorflow_library,
}


def peers(backend: str, x: Any, y: Any) -> dict[str, tuple[dict[str, Any], dict[str, str]]]:
    """Other ways to write the same calls, those that are installed: name -> (names in scope, spelling of each call)."""
    found: dict[str, tuple[dict[str, Any], dict[str, str]]] = {}
    if importlib.util.find_spec("array_api_compat"):
        compat = importlib.import_module("array_api_compat")
        if backend != "tensorflow":  # it has no namespace for TensorFlow
            env = {"xp": compat.array_namespace(x), "x": x, "y": y}
            found["array-api-compat"] = (env, spelled("xp.add(x, y)", "xp.sum(x)", "xp.concat((x, y))"))
    if importlib.util.find_spec("autoray"):
        env = {"do": importlib.import_module("autoray").do, "x": x, "y": y}
        found["autoray"] = (env, spelled("do('add', x, y)", "do('sum', x)", "do('concatenate', (x, y))"))
    if backend == "torch":
        tnp = importlib.import_module("torch._numpy")
        env = {"tnp": tnp, "x": tnp.asarray(x), "y": tnp.asarray(y)}
        calls = spelled("tnp.add(x, y)", "tnp.sum(x)", "tnp.concatenate((x, y))")
        found["torch._numpy"] = (env, {**calls, "a + b": "x + y"})
    if backend in {"torch", "jax"} and importlib.util.find_spec("phiml"):
        math = importlib.import_module("phiml.math")
        dim = math.instance("i")
        env = {"math": math, "dim": dim, "x": math.wrap(x, dim), "y": math.wrap(y, dim)}
        calls = spelled("x + y", "math.sum(x, dim)", "math.concat([x, y], dim)")
        found["ΦML"] = (env, calls)
    return found


def bench_backend(backend: str, rounds: int) -> list[Row]:
    """Every figure of one backend."""
    import numpy as np

    import arraydispatch as ad

    library = LIBRARIES[backend]()
    rows = []
    for size in (SMALL, LARGE):
        rng = np.random.default_rng(0)
        x, y = (library.make(rng.random(size)) for _ in range(2))
        # The caller's own imports and arrays, as a script has them: globals.
        env = {"np": np, **library.env, "x": x, "y": y, "a": ad.wrap(x), "b": ad.wrap(y)}
        others = peers(backend, x, y) if size == SMALL else {}
        for call, native in [*library.native.items(), *library.looked_at.items()]:
            # NumPy's sum is a scalar, whose value has been waited for: the bar is for the call that reads the library's.
            large = None if f"float({call})" in library.looked_at else LARGE_BAR
            row = Row(backend, size, call, native, BARS.get((backend, call)) if size == SMALL else large)
            blocks = {
                "native": block(row.native, env, library.wait_native),
                "ours": block(call, env, library.wait_ours),
            }
            for name, (scope, spelling) in others.items() if call in CALLS else ():
                blocks[name] = block(spelling[call], scope, None)
                try:
                    blocks[name](1)
                except Exception as error:  # a peer that cannot do it is named and left out
                    print(f"{name}: {spelling[call]} on {backend}: {type(error).__name__}", file=sys.stderr)
                    del blocks[name]
            ratios, best = measure(blocks, rounds)
            row.native_us, row.ours_us, row.ratio = best["native"], best["ours"], ratios.pop("ours")
            row.peers = ratios
            rows.append(row)
    return rows


def bench_profile(backend: str, rounds: int) -> list[Row]:
    """What a profile adds to a call, in microseconds, and what the look whether there is one costs."""
    import numpy as np

    import arraydispatch as ad
    from arraydispatch.common import events

    library = LIBRARIES[backend]()
    x, y = (library.make(np.random.default_rng(i).random(SMALL)) for i in range(2))
    env = {"np": np, "a": ad.wrap(x), "b": ad.wrap(y), "events": events}
    profile = ad.profile(trace=False)

    def profiled(timed: Block) -> Block:
        def run(n: int) -> float:
            with profile:
                return timed(n)

        return run

    def more(off: Block, on: Block) -> tuple[float, float, float]:
        """Best of both, and their difference, in microseconds."""
        off(3), on(3)
        number = max(1, int(BLOCK_SECONDS / max(min(off(5), off(5)), 1e-9)))
        pairs = [(off(number) * 1e6, on(number) * 1e6) for _ in range(rounds)]
        best_off, best_on = (min(times) for times in zip(*pairs, strict=True))
        return best_off, best_on, best_on - best_off

    rows = []
    for call in CALLS:
        off = block(call, env, library.wait_ours)
        row = Row(backend, SMALL, f"profiled: {call}", call, PROFILE_BAR)
        row.native_us, row.ours_us, row.extra_us = more(off, profiled(off))
        rows.append(row)
    row = Row(backend, SMALL, "not profiled: events.tap is None", "None is None", None)
    row.native_us, row.ours_us, row.extra_us = more(
        block("None is None", env, None), block("events.tap is None", env, None)
    )
    return [*rows, row]


def bench_import(rounds: int) -> list[Row]:
    """The import against ``import numpy``, each in a fresh interpreter, in turn.

    The package finds its names on first use, so the second row touches one that needs the whole core.
    """
    code = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"
    # As it is once installed: without a cache of bytecode only NumPy would have one.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def seconds(statement: str) -> float:
        done = subprocess.run(
            [sys.executable, "-c", code.format(statement)], check=True, capture_output=True, text=True, env=env
        )
        return float(done.stdout)

    rows = []
    for statement in ("import arraydispatch", "import arraydispatch as ad; ad.asarray([1.0])"):
        row = Row("", 0, statement, "import numpy", IMPORT_BAR)
        pairs = [(seconds(row.native), seconds(statement)) for _ in range(max(rounds, 3) + 1)][1:]
        row.ratio = statistics.median(ours / native for native, ours in pairs)
        row.native_us, row.ours_us = (min(times) * 1e6 for times in zip(*pairs, strict=True))
        rows.append(row)
    return rows


# -- output ----------------------------------------------------------------------------------------------------------


def show(rows: list[Row]) -> None:
    """The table."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    names = list(dict.fromkeys(name for row in rows for name in row.peers))
    table = Table(title="Cost of a call: ratio to the native call in the same run (float64)", box=box.SIMPLE_HEAD)
    for name in ("backend", "call", "against"):
        table.add_column(name)
    for name in ("elements", "native (µs)", "ours (µs)", "ratio", "bar", *names):
        table.add_column(name, justify="right")
    for i, row in enumerate(rows):
        color = {True: "green", False: "red", None: "default"}[row.met]
        table.add_row(
            row.backend,
            row.call,
            row.native,
            f"{row.size:,}" if row.size else "",
            f"{row.native_us:.2f}",
            f"{row.ours_us:.2f}",
            f"[{color}]{f'{row.ratio:.2f}' if row.extra_us is None else f'+{row.extra_us:.2f} µs'}[/]",
            "" if row.bar is None else f"≤ {row.bar:.2f}{'' if row.extra_us is None else ' µs'}",
            *(f"{row.peers[name]:.2f}" if name in row.peers else "" for name in names),
            end_section=i + 1 < len(rows) and (rows[i + 1].backend, rows[i + 1].size) != (row.backend, row.size),
        )
    console = Console()
    if not console.is_terminal:
        console = Console(width=160)
    console.print(table)
    with_bar = [row for row in rows if row.bar is not None]
    console.print(f"{sum(bool(row.met) for row in with_bar)} of {len(with_bar)} bars met")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Cost of a call through arraydispatch.")
    parser.add_argument("--backend", action="append", choices=LIBRARIES, help="only this one (may be repeated)")
    parser.add_argument("--rounds", type=int, default=41, help="pairs of blocks for each figure")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--cpu", action="store_true", help="seconds of the process, for a machine that does other work")
    parser.add_argument("--worker", choices=LIBRARIES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.cpu:
        global clock
        clock = time.process_time
    if args.worker:
        found = [*bench_backend(args.worker, args.rounds), *bench_profile(args.worker, args.rounds)]
        print(json.dumps([asdict(row) for row in found]))
        return

    import arraydispatch as ad

    rows = []
    if not args.backend:
        rows += bench_import(args.rounds // 2)
    for backend in args.backend or ad.available_backends():
        command = [sys.executable, __file__, "--worker", backend, "--rounds", str(args.rounds)]
        command += ["--cpu"] * args.cpu
        env = {"TF_CPP_MIN_LOG_LEVEL": "3", **os.environ}
        done = subprocess.run(command, check=False, capture_output=True, text=True, env=env)
        if done.returncode != 0:
            sys.exit(f"{backend}: the measurement ended with exit code {done.returncode}\n{done.stderr}")
        rows += [Row(**row) for row in json.loads(done.stdout.splitlines()[-1])]
    show(rows)
    if args.json:
        figures = [{**asdict(row), "met": row.met} for row in rows]
        args.json.write_text(json.dumps(figures, indent=1, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
