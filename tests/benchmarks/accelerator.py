"""Twelve whole programs on the accelerator that is there: plain NumPy, eager, compiled, written by hand, and the limit of the memory.

``python tests/benchmarks/accelerator.py [--only NAME] [--libraries jax torch] [--plot FILE]``. The programs are those of ``whole/``, in
larger sizes; ``accelerator_steps.py`` has them by hand for ``jax.jit`` and ``torch.compile``. Each way runs in a process of its own, twice;
the second run counts. The limit is the time in which the device moves the bytes that the compiler's cost analysis counts, or does its
operations, whichever is longer; both rates are measured first.

``--cpu --small`` runs everything on the CPU in small sizes, as a test of the benchmark itself. Its times mean nothing.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from arraydispatch.backends import loader
from arraydispatch.common.errors import SettingError
from arraydispatch.runtime import hardware, settings

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
STEPS = HERE / "accelerator_steps.py"
TIMEOUT = 1800
"""Seconds after which a run is given up."""
TOLERANCE = {"float64": 1e-6, "float32": 2e-2}
"""Relative difference of a digest from plain NumPy's, which has 64 bits."""
MEASURED = {"large": 4096, "small": 128}
"""Size of the matrix by which the device is measured."""


class Size(NamedTuple):
    """Sizes of a program, and the places of its source that have them, as (text, text with the size in it)."""

    large: int
    small: int
    places: tuple[tuple[str, str], ...]


PROGRAMS: dict[str, Size] = {
    "stencil": Size(4000, 60, (("(1500, 1500)", "({n}, {n})"), ("500:1000, 500:1000", "{n} // 3 : {n} // 3 * 2, {n} // 3 : {n} // 3 * 2"))),
    "wave": Size(4000, 60, (("n = 1200", "n = {n}"),)),
    "gray_scott": Size(
        4000, 70, (("n = 700", "n = {n}"), ("330:370", "n * 330 // 700 : n * 370 // 700")),
    ),
    "black_scholes": Size(20_000_000, 1000, (("n = 4_000_000", "n = {n}"),)),
    "n_body": Size(4000, 30, (("n = 900", "n = {n}"),)),
    "mandelbrot_real": Size(4000, 50, (("0.6, 1200", "0.6, {n} * 6 // 5"), ("1.2, 1000", "1.2, {n}"))),
    "image_filter": Size(
        6000, 60,
        (("0:2500, 0:3000", "0 : {n} * 5 // 6, 0:{n}"), ("(x - 1500) / 1500", "(x - {n} / 2) / ({n} / 2)"),
         ("(y - 1250) / 1250", "(y - {n} * 5 // 6 / 2) / ({n} * 5 // 6 / 2)")),
    ),
    "jacobi_until": Size(4000, 60, (("(1000, 1000)", "({n}, {n})"),)),
    "conjugate_gradient": Size(3000, 40, (("n = 800", "n = {n}"),)),
    "logistic_regression": Size(4_000_000, 400, (("400_000", "{n}"),)),
    "softmax_attention": Size(4096, 32, (("1024", "{n}"),)),
    "spectral_heat": Size(
        3072, 48,
        (("n = 768", "n = {n}"), ("300:450, 240:570", "n * 300 // 768 : n * 450 // 768, n * 240 // 768 : n * 570 // 768")),
    ),
}  # fmt: skip
"""Name of a program -> its sizes."""

_AROUND = """\
import json
import time
{body}
started = time.perf_counter()
first = float(run())
between = time.perf_counter()
second = float(run())
ended = time.perf_counter()
print(json.dumps({{"digest": second, "first": between - started, "again": ended - between}}))
"""


def source(name: str, size: int) -> str:
    """Return a program with another size."""
    text = (HERE / "whole" / f"{name}.py").read_text(encoding="utf-8")
    for old, new in PROGRAMS[name].places:
        if old not in text:
            raise SystemExit(f"{name}: {old!r} is not in the program; mend PROGRAMS.")
        text = text.replace(old, new.format(n=size))
    return _AROUND.format(body=text)


def compiled_is_there() -> bool:
    """Whether this version has compiled execution."""
    try:
        settings.check_execution("compiled")
    except SettingError:
        return False
    return True


def ways(libraries: list[str], dtype: str, device: str) -> dict[str, list[str]]:
    """Return name of a way -> the command before the program; hand-written ones have the library's name alone."""
    precision = [] if dtype == "float64" else ["--precision", "32"]
    executions = ["eager", "compiled"] if compiled_is_there() else ["eager"]
    found = {"plain NumPy": [sys.executable]}
    launch = [sys.executable, "-m", "arraydispatch", "run"]
    place = ["--device", "cpu"] if device == "cpu" else []
    for library in libraries:
        for execution in executions:
            options = ["--backend", library, "--execution", execution, *place, *precision]
            found[f"{library} {execution}"] = [*launch, *options]
        if library in ("jax", "torch"):
            found[f"{library} by hand"] = [library]
    return found


def run(command: list[str]) -> dict[str, Any]:
    """Run a process and return what its last line of output says; ``error`` where it failed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return {"error": f"took more than {TIMEOUT} s"}
    if done.returncode:
        return {"error": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def measured(libraries: list[str], dtype: str, size: int, device: str) -> dict[str, Any]:
    """Return the rates of the device, by the first library that measures them."""
    for library in libraries:
        if library in ("jax", "torch"):
            found = run([sys.executable, str(STEPS), library, "bandwidth", dtype, str(size), device])
            if "error" not in found:
                return found
    return {"error": "needs JAX or PyTorch"}


def limit(runs: dict[str, dict[str, Any]], rates: dict[str, Any]) -> float | None:
    """Return the seconds that a run takes at least, by the costs of a hand-written version; JAX's are its compiler's."""
    for way in ("jax by hand", "torch by hand"):
        costs = runs.get(way, {})
        if "bytes" in costs and "bytes_per_second" in rates:
            return float(max(costs["bytes"] / rates["bytes_per_second"], costs["flops"] / rates["flops_per_second"]))
    return None


def benchmark(asked: argparse.Namespace) -> list[dict[str, Any]]:
    """Run everything; return a row for each program, dtype and way."""
    rows = []
    which, device = ("small" if asked.small else "large"), ("cpu" if asked.cpu else "accelerator")
    rates = {dtype: measured(asked.libraries, dtype, MEASURED[which], device) for dtype in asked.dtypes}
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.only:
            size = getattr(PROGRAMS[name], which)
            path = Path(folder) / f"{name}.py"
            path.write_text(source(name, size), encoding="utf-8")
            for dtype in asked.dtypes:
                runs: dict[str, dict[str, Any]] = {}
                for way, command in ways(asked.libraries, dtype, device).items():
                    by_hand = [sys.executable, str(STEPS), command[0], name, dtype, str(size), device]
                    tries = [
                        run(by_hand if way.endswith("by hand") else [*command, str(path)]) for _ in range(asked.repeat)
                    ]
                    runs[way] = min(tries, key=lambda found: found.get("again", math.inf))
                    runs[way] = _checked(runs[way], runs["plain NumPy"], TOLERANCE[dtype])
                    print(
                        f"{name:20} {dtype} {way:16} {runs[way].get('again', runs[way].get('error'))}", file=sys.stderr
                    )
                least = limit(runs, rates[dtype])
                for way, found in runs.items():
                    rows.append({"program": name, "size": size, "dtype": dtype, "way": way, "limit": least, **found})
    return [{"rates": rates[dtype], "dtype": dtype} for dtype in asked.dtypes] + rows


def _checked(found: dict[str, Any], plain: dict[str, Any], tolerance: float) -> dict[str, Any]:
    if "error" not in found and not math.isclose(found["digest"], plain["digest"], rel_tol=tolerance):
        return {"error": f"{found['digest']!r}, and {plain['digest']!r} in plain NumPy"}
    return found


def tables(rows: list[dict[str, Any]]) -> list[Table]:
    """Return a table for each dtype: seconds, times as fast as plain NumPy, times the limit."""
    found = []
    for about in [row for row in rows if "rates" in row]:
        dtype, rates = about["dtype"], about["rates"]
        device = rates.get("device", "?")
        speed = f"{rates['bytes_per_second'] / 1e9:,.0f} GB/s" if "bytes_per_second" in rates else rates["error"]
        table = Table("program", "size", "way", title=f"{dtype} on {device}, {speed}; second runs")
        for column in ("seconds", "× plain NumPy", "limit s", "× limit"):
            table.add_column(column, justify="right")
        last, plain = None, None
        for row in [row for row in rows if row["dtype"] == dtype and "way" in row]:
            if row["program"] != last:
                table.add_section()
                plain = row.get("again")
            first, last = row["program"] != last, row["program"]
            cells = [row["program"] if first else "", f"{row['size']:,}" if first else "", row["way"]]
            if "error" in row:
                table.add_row(*cells, "failed", "", "", row["error"][:60])
                continue
            least = row["limit"]
            limits = ["", ""] if least is None else [f"{least:.2g}", f"{row['again'] / least:.1f}"]
            ratio = "" if plain is None else f"{plain / row['again']:.2f}"
            table.add_row(*cells, f"{row['again']:.4f}", ratio, *limits)
        found.append(table)
    return found


def plot(rows: list[dict[str, Any]], file: Path) -> None:
    """Draw how many times as fast as plain NumPy each way is, and the limit."""
    import matplotlib.pyplot as plt

    rows = [row for row in rows if "way" in row]
    dtypes, names = (
        list(dict.fromkeys(row["dtype"] for row in rows)),
        list(dict.fromkeys(row["program"] for row in rows)),
    )
    figure, all_axes = plt.subplots(
        1,
        len(dtypes),
        figsize=(6 * len(dtypes), 0.34 * len(names) + 1.4),
        layout="constrained",
        squeeze=False,
        sharey=True,
    )
    for axes, dtype in zip(all_axes[0], dtypes, strict=True):
        those = [row for row in rows if row["dtype"] == dtype and "again" in row]
        plain = {row["program"]: row["again"] for row in those if row["way"] == "plain NumPy"}
        for way, marker in zip(dict.fromkeys(row["way"] for row in those if row["way"] != "plain NumPy"), "os^Dvx*+"):
            points = [
                (plain[row["program"]] / row["again"], names.index(row["program"]))
                for row in those
                if row["way"] == way
            ]
            axes.plot(*zip(*points, strict=True), marker, label=way, alpha=0.8)
        limits = {row["program"]: row["limit"] for row in those if row["limit"]}
        if limits:
            axes.plot(
                [plain[name] / s for name, s in limits.items()],
                [names.index(n) for n in limits],
                "k|",
                ms=12,
                label="limit",
            )
        axes.axvline(1.0, color="grey", linewidth=1)
        axes.set(
            xscale="log",
            xlabel="times as fast as plain NumPy",
            yticks=range(len(names)),
            yticklabels=names,
            title=dtype,
        )
        axes.grid(alpha=0.3)
    all_axes[0][0].invert_yaxis()
    all_axes[0][0].legend()
    figure.savefig(file)


def main() -> None:
    """Run the programs and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--only", nargs="*", default=list(PROGRAMS), choices=list(PROGRAMS), metavar="NAME")
    parser.add_argument(
        "--libraries", nargs="*", choices=["jax", "torch", "tensorflow"], help="default: those for the device"
    )
    parser.add_argument("--dtypes", nargs="*", default=["float64", "float32"], choices=["float64", "float32"])
    parser.add_argument("--repeat", type=int, default=1, help="the best of so many processes")
    parser.add_argument("--cpu", action="store_true", help="on the CPU")
    parser.add_argument("--small", action="store_true", help="in small sizes, as a test")
    parser.add_argument("--plot", type=Path, help="draw the second runs to this file")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    asked = parser.parse_args()
    kinds = hardware.accelerators()
    if not kinds and not asked.cpu:
        parser.error("there is no accelerator; --cpu measures the CPU")
    if not asked.libraries:
        there = [name for name in loader.CHEAPEST if name != "numpy" and loader.installed(name)]
        asked.libraries = [n for n in there if asked.cpu or any(hardware.reaches(n, kind) for kind in kinds)]
    asked.libraries.sort()  # JAX first: its compiler counts bytes
    rows = benchmark(asked)
    for table in tables(rows):
        Console(width=120).print(table)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if asked.plot:
        plot(rows, asked.plot)


if __name__ == "__main__":
    main()
