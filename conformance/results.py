"""What a run found: judged against the expectations, as a table and as JSON."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import json
import platform
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import arraydispatch

from .expected import Expectations
from .runs import PLAIN, ModuleResult, Settings

__all__ = ["BASELINE", "Verdict", "as_json", "baseline", "causes", "failed_tests", "judge", "show"]

BASELINE = Path(__file__).parent / "results" / f"numpy-{PLAIN}.json"
"""Counts of NumPy without us; made again by ``--backend plain --json`` on this file."""

_DISTRIBUTIONS = {"tensorflow": ("tensorflow", "tensorflow-cpu")}
_BAD = frozenset({"failed", "crashed"})
_SHOWN = 20


@dataclass
class Verdict:
    """Where a run departs from what is expected.

    Attributes
    ----------
    failures : dict
        Unexpected failures and crashes, with their errors.
    passes, stale : list of str
        Expected failures that passed, and those that no longer exist.
    broken : dict
        Modules that did not run to the end, with why.
    """

    failures: dict[str, str] = field(default_factory=dict)
    passes: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    broken: dict[str, str] = field(default_factory=dict)

    @property
    def as_expected(self) -> bool:
        """Whether nothing departs."""
        return not (self.failures or self.passes or self.stale or self.broken)


def failed_tests(results: list[ModuleResult]) -> dict[str, str]:
    """All failures and crashes with their errors, by full name."""
    return {
        f"{result.module}::{name}": test.error
        for result in results
        for name, test in result.tests.items()
        if test.outcome in _BAD
    }


def judge(results: list[ModuleResult], expectations: Expectations, whole: bool) -> Verdict:
    """Compare with the expected failures; ``whole``: all tests of the modules were asked for."""
    verdict = Verdict()
    for result in results:
        if result.error:
            verdict.broken[result.module] = result.error
        for name, test in result.tests.items():
            full = f"{result.module}::{name}"
            expected = expectations.reason(full) is not None
            if test.outcome in _BAD and not expected:
                verdict.failures[full] = test.error
            elif test.outcome == "passed" and expected:
                verdict.passes.append(full)
        if whole and not result.error:
            verdict.stale += expectations.stale(result.module, {f"{result.module}::{name}" for name in result.tests})
    return verdict


# -- causes ----------------------------------------------------------------------------------------------------------

_VARIABLE = [
    (re.compile(r"0x[0-9a-f]+"), "0x…"),
    (re.compile(r"\b\d+(\.\d+)?(e[+-]?\d+)?\b"), "N"),
    (re.compile(r"\b(bool|u?int|float|complex)N?\b"), "dtype"),
    (re.compile(r"N(, ?N)*"), "N"),
]


def causes(tests: dict[str, str]) -> list[tuple[int, str, str]]:
    """Failures that read the same but for numbers: how many, the error and one of the tests, most first."""
    counts: Counter[str] = Counter()
    example: dict[str, tuple[str, str]] = {}
    for name, error in tests.items():
        key = error
        for pattern, instead in _VARIABLE:
            key = pattern.sub(instead, key)
        key = key[:90]
        counts[key] += 1
        example.setdefault(key, (error, name))
    return [(count, *example[key]) for key, count in counts.most_common()]


# -- baseline and JSON -------------------------------------------------------------------------------------------------


def baseline() -> dict[str, int] | None:
    """How many tests of each module plain NumPy passes; None where that is not known for this NumPy."""
    if not BASELINE.exists():
        return None
    data = json.loads(BASELINE.read_text(encoding="utf-8"))
    if data["versions"]["numpy"] != np.__version__:
        return None
    return {module: row["passed"] for module, row in data["modules"].items()}


def _versions(backend: str) -> dict[str, str]:
    found = {"python": platform.python_version(), "numpy": np.__version__}
    if backend == PLAIN:
        return found
    found["arraydispatch"] = arraydispatch.__version__
    for name in _DISTRIBUTIONS.get(backend, (backend,)):
        try:
            found.setdefault(name, importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def as_json(
    results: list[ModuleResult], settings: Settings, expectations: Expectations, plain: dict[str, int]
) -> dict[str, Any]:
    """The results with versions and date; of the tests that passed only the number."""
    modules = {}
    for result in results:
        failures = [
            {
                "test": name, "outcome": test.outcome, "error": test.error, "place": test.place,
                "expected": expectations.reason(f"{result.module}::{name}"),
            }
            for name, test in result.tests.items()
            if test.outcome in _BAD
        ]  # fmt: skip
        modules[result.module] = {
            "passed": result.count("passed"), "failed": result.count("failed"), "skipped": result.count("skipped"),
            "crashed": result.count("crashed"), "left_out": result.left_out, "plain_passes": plain.get(result.module),
            "error": result.error or None, "seconds": round(result.seconds, 1), "calls": result.calls,
            "host": dict(sorted(result.host.items(), key=lambda item: -item[1])), "failures": failures,
        }  # fmt: skip
    return {
        "suite": "numpy",
        "backend": settings.backend,
        "device": settings.device,
        "select": settings.select,
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "versions": _versions(settings.backend),
        "modules": modules,
    }


# -- the table ---------------------------------------------------------------------------------------------------------


def _percent(part: float, whole: float) -> str:
    # Rounded down, so that 100 % means all.
    return f"{int(1000 * part / whole) / 10:.1f} %" if whole else "–"


def show(
    console: Console, results: list[ModuleResult], settings: Settings, plain: dict[str, int], verdict: Verdict
) -> None:
    """Print the table by file, what departs from the expectations, and the most frequent errors."""
    table = Table(title=f"NumPy {np.__version__}'s own tests on {settings.backend}", title_justify="left")
    table.add_column("module", no_wrap=True)
    for column in ("passed", "failed", "crashed", "skipped", "left out", "of plain", "on backend", "seconds"):
        table.add_column(column, justify="right")
    for result in results:
        share = result.on_backend
        table.add_row(
            result.module, *(f"{result.count(kind):,}" for kind in ("passed", "failed", "crashed", "skipped")),
            str(result.left_out), _percent(result.count("passed"), plain.get(result.module, 0)),
            "–" if share is None else _percent(share, 1), f"{result.seconds:.0f}",
        )  # fmt: skip
    if len(results) > 1:
        table.add_section()
        calls = sum(sum(result.calls.values()) for result in results)
        host = sum(result.calls.get("host", 0) for result in results)
        counts = (sum(r.count(kind) for r in results) for kind in ("passed", "failed", "crashed", "skipped"))
        passed = sum(result.count("passed") for result in results if result.module in plain)
        table.add_row(
            "all", *(f"{count:,}" for count in counts), str(sum(result.left_out for result in results)),
            _percent(passed, sum(plain.get(result.module, 0) for result in results)),
            _percent(calls - host, calls), f"{sum(result.seconds for result in results):.0f}",
        )  # fmt: skip
    console.print(table)
    for module, why in verdict.broken.items():
        console.print(f"{module} did not run to the end: {why}", style="red", markup=False)
    _list(console, "passed though expected to fail (delete the lines)", verdict.passes)
    _list(console, "expected to fail but not there (delete the lines)", verdict.stale)
    if verdict.failures:
        console.print(f"{len(verdict.failures):,} unexpected failures; the most frequent errors:", style="red")
        rows = Table("count", "error", "such as", show_edge=False, box=None, padding=(0, 2, 0, 0))
        rows.columns[2].overflow = "fold"
        for count, error, test in causes(verdict.failures)[:_SHOWN]:
            rows.add_row(str(count), _plain(error[:100]), _plain(test))
        console.print(rows)


def _plain(text: str) -> str:
    return text.replace("[", r"\[")


def _list(console: Console, what: str, tests: list[str]) -> None:
    if tests:
        console.print(f"{len(tests):,} {what}:", style="red")
        for test in tests[:_SHOWN]:
            console.print(f"  {test}", markup=False, highlight=False)
        if len(tests) > _SHOWN:
            console.print(f"  … and {len(tests) - _SHOWN:,} more")
