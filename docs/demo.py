"""Run every script of docs/examples on plain NumPy and on each installed backend, and print one table.

The scripts do not import arraydispatch. On each backend a script runs in two ways, each in its own process: with default options,
which is timed (starting Python and importing the library included), and with every call left to the library, whose calls are
counted. With ``--repeat N`` the timed runs are made N times, one backend after the other in each round, and the shortest time
counts. The exit code is 1 if a run failed, if nothing ran on the backend, or if a printed number differs from plain NumPy's in its
first ten significant digits.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import arraydispatch as ad

EXAMPLES = Path(__file__).resolve().parent / "examples"
PLAIN = "plain NumPy"
TOLERANCE = 1e-10
"""Largest relative difference of two numbers that agree to ten significant digits."""

README = EXAMPLES.parents[1] / "README.md"
MARKS = "<!-- demo table -->", "<!-- end of demo table -->"
"""Between these the README's table stands."""
COLUMNS = (
    ("example", "left"), ("on", "left"), ("agrees", "left"), ("largest difference", "right"), ("time (s)", "right"),
    ("× plain", "right"), ("calls, all on the library", "right"), ("host fallbacks", "right"),
    ("arrays kept on the host", "right"),
)  # fmt: skip

_ALL_ON_THE_LIBRARY = ("--execution", "eager", "--min-size", "0")
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|nan|inf)\b")


@dataclass
class Run:
    """One script run in one process."""

    example: str
    backend: str
    seconds: float
    output: str
    proof: str = ""
    """What it printed with every call on the library."""
    error: str = ""
    report: dict[str, Any] = field(default_factory=dict)


def run(script: Path, backends: list[str], timeout: float, repeat: int, told: Callable[[str], None]) -> list[Run]:
    """Run ``script`` with plain Python and on each backend, with default options and with every call on the library."""
    best: dict[str, Run] = {}
    for _ in range(repeat):
        for backend in [PLAIN, *backends]:
            result, before = _run(script, backend, timeout), best.get(backend)
            if before is None or result.error or result.seconds < before.seconds:
                best[backend] = result
            told(backend)
    for backend in backends:
        result = best[backend]
        if not result.error:
            counted = _run(script, backend, timeout, *_ALL_ON_THE_LIBRARY)
            result.proof, result.report, result.error = counted.output, counted.report, counted.error
        told(backend)
    return list(best.values())


def _run(script: Path, backend: str, timeout: float, *options: str) -> Run:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [sys.executable]
        if backend != PLAIN:
            command += ["-m", "arraydispatch", "run", "--backend", backend, *options]
            command += ["--report", str(report)] if options else []
        command.append(str(script))
        start = time.perf_counter()
        try:
            done = subprocess.run(
                command,
                check=False,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=timeout,
                # Threads that wait must not spin: on a busy machine a script of small calls would crawl.
                env={"TF_CPP_MIN_LOG_LEVEL": "3", "OMP_WAIT_POLICY": "passive", **os.environ},
            )
        except subprocess.TimeoutExpired:
            return Run(script.name, backend, timeout, "", f"stopped after {timeout:g} s")
        result = Run(script.name, backend, time.perf_counter() - start, done.stdout)
        if done.returncode != 0:
            result.error = f"exit code {done.returncode}\n{done.stderr[-3000:]}"
        elif options:
            if report.exists():
                result.report = json.loads(report.read_text(encoding="utf-8"))
            else:
                result.error = f"no report was written\n{done.stderr[-3000:]}"
        return result


def difference(expected: str, got: str) -> float:
    """Largest relative difference of the numbers in two outputs; infinite if the text around them differs."""
    if _NUMBER.sub("#", expected).split() != _NUMBER.sub("#", got).split():
        return float("inf")
    worst = 0.0
    for a, b in zip(_NUMBER.findall(expected), _NUMBER.findall(got), strict=True):
        if a != b:
            x, y = float(a), float(b)
            relative = abs(x - y) / max(abs(x), abs(y), sys.float_info.min)
            worst = max(worst, relative if relative == relative else float("inf"))  # NaN
    return worst


def problems(result: Run, plain: Run) -> list[str]:
    """Why a run does not count as right; empty if it does."""
    if result.error:
        return [result.error]
    found = []
    worst = _worst(result, plain)
    if worst > TOLERANCE:
        found.append(f"printed numbers differ from plain NumPy's by up to {worst:.1e}, relatively")
    if not result.report.get("calls_on_backend"):
        found.append("nothing ran on the backend")
    return found


def _worst(result: Run, plain: Run) -> float:
    return max(difference(plain.output, result.output), difference(plain.output, result.proof))


def describe(entry: dict[str, Any]) -> str:
    """One line for an entry of the report's lists."""
    what, why = entry.get("function") or entry.get("what"), entry.get("reason") or entry.get("why")
    return f"line {entry.get('line')}, {entry.get('count', 1)} ×: {what}: {why}"


def count(entries: list[dict[str, Any]]) -> int:
    """How often the things listed happened."""
    return sum(int(entry.get("count", 1)) for entry in entries)


def table(runs: list[Run], plains: dict[str, Run]) -> Table:
    """Example by backend: agreement, time, and what ran where."""
    out = Table(title="NumPy scripts, unchanged, on every installed backend", box=box.SIMPLE_HEAD, pad_edge=False)
    for name, justify in COLUMNS:
        out.add_column(name, justify=justify)  # type: ignore[arg-type]
    for i, result in enumerate(runs):
        last = i + 1 == len(runs) or runs[i + 1].example != result.example
        first, on, agrees, *rest = _cells(result, plains)
        color = {"yes": "[green]", "no": "[red]", "failed": "[red]"}.get(agrees, "")
        out.add_row(first if on == PLAIN else "", on, color + agrees, *rest, end_section=last)
    return out


def _cells(result: Run, plains: dict[str, Run]) -> list[str]:
    """Return a row of the table as text."""
    head, seconds = [result.example, result.backend], f"{result.seconds:.2f}"
    if result.backend == PLAIN:
        return [*head, "", "", seconds, "1.00", "", "", ""]
    plain = plains[result.example]
    ratio = f"{result.seconds / plain.seconds:.2f}"
    if result.error:
        return [*head, "failed", "", seconds, ratio, "", "", ""]
    worst = _worst(result, plain)
    return [
        *head,
        "no" if problems(result, plain) else "yes",
        "0" if worst == 0 else f"{worst:.0e}",
        seconds,
        ratio,
        str(result.report.get("calls_on_backend", "?")),
        str(count(result.report.get("host_fallbacks", []))),
        str(count(result.report.get("left_numpy", []))),
    ]


def write_readme(runs: list[Run], plains: dict[str, Run], today: str, repeat: int) -> None:
    """Write the table, the date and the machine between the two marks of README.md."""
    rows = [[name for name, _ in COLUMNS], ["---"] * len(COLUMNS), *(_cells(result, plains) for result in runs)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    about = (
        f"Measured on {today} with {os.cpu_count()} CPU cores and the versions in `constraints.txt`; each time is the shortest of "
        f"{repeat} runs."
    )
    text = README.read_text("utf-8")
    before, after = text.split(MARKS[0])[0], text.split(MARKS[1])[1]
    README.write_text("\n".join([before + MARKS[0], "", *lines, "", about, "", MARKS[1] + after]), "utf-8")


def main(argv: list[str] | None = None) -> int:
    """Run the examples and print the table; the exit code."""
    scripts = sorted(EXAMPLES.glob("*.py"))
    parser = argparse.ArgumentParser(description="Run the example scripts on every installed backend.")
    parser.add_argument("--backend", action="append", help="only this backend (may be repeated)")
    parser.add_argument("--example", action="append", help="only this script (may be repeated)")
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds after which a run is stopped")
    parser.add_argument("--repeat", type=int, default=1, help="time each run so often and keep the shortest time")
    parser.add_argument("--readme", action="store_true", help="write the table into README.md")
    args = parser.parse_args(argv)
    if args.example:
        wanted = {Path(name).stem for name in args.example}
        scripts = [script for script in scripts if script.stem in wanted]
    if not scripts:
        parser.error(f"no such example; there are: {', '.join(p.name for p in sorted(EXAMPLES.glob('*.py')))}")
    backends = args.backend or ad.available_backends()

    console = Console(emoji=False)
    if not console.is_terminal:
        console = Console(width=140, emoji=False)
    runs: list[Run] = []
    plains: dict[str, Run] = {}
    with Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), console=console
    ) as progress:
        task = progress.add_task("", total=len(scripts) * (args.repeat * (1 + len(backends)) + len(backends)))
        for script in scripts:

            def told(backend: str, script: Path = script) -> None:
                progress.update(task, advance=1, description=f"{script.name} on {backend}")

            plains[script.name], *others = run(script, backends, args.timeout, args.repeat, told)
            runs += [plains[script.name], *others]
        progress.update(task, description="done")

    console.print(table(runs, plains))
    if args.readme:
        write_readme(runs, plains, time.strftime("%Y-%m-%d"), args.repeat)
    failed = 0
    for result in runs:
        found = [result.error] if result.backend == PLAIN and result.error else []
        if result.backend != PLAIN:
            found = problems(result, plains[result.example])
        for problem in found:
            console.print(f"[red]{result.example} on {result.backend}:[/] ", end="")
            console.print(problem, markup=False, highlight=False)
        failed += bool(found)
        for key, what in [("host_fallbacks", "ran on the host"), ("left_numpy", "kept on the host")]:
            for entry in result.report.get(key, []):
                line = f"{result.example} on {result.backend}, {what}: {describe(entry)}"
                console.print(line, markup=False, highlight=False, soft_wrap=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
