"""What a run found: judged against the expectations, as a table, as JSON and as a page."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import json
import platform
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import jinja2
import numpy as np
from rich.console import Console
from rich.table import Table

import arraydispatch
from arraydispatch.backends import loader

from .expected import Expectations
from .runs import ModuleResult
from .suites import HERE, PLAIN, Settings, Suite

__all__ = [
    "OUTCOMES", "RESULTS", "Verdict", "as_html", "as_json", "baseline", "causes", "dump", "failed_tests", "judge", "keep",
    "large", "percent", "share", "show", "total",
]  # fmt: skip

RESULTS = HERE / "results"
"""Where results are kept."""
OUTCOMES = ("passed", "failed", "crashed", "skipped")
"""How a test can end."""

_BAD = frozenset({"failed", "crashed"})
_SHOWN = 20
_HOST_REASONS = 10  # of a module, in kept results


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


def judge(results: list[ModuleResult], expectations: Expectations, whole: bool, computes: bool = True) -> Verdict:
    """Compare with the expected failures.

    ``whole``: all tests of the modules were asked for; ``computes``: the library did, so that what it is expected to fail must fail.
    """
    verdict = Verdict()
    for result in results:
        if result.error:
            verdict.broken[result.module] = result.error
        for name, test in result.tests.items():
            full = f"{result.module}::{name}"
            expected = expectations.reason(full) is not None
            if test.outcome in _BAD and not expected:
                verdict.failures[full] = test.error
            elif test.outcome == "passed" and expected and computes:
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


def baseline(suite: str) -> dict[str, int] | None:
    """How many tests of each module pass without us; None where that is not known for this NumPy and SciPy."""
    path = RESULTS / f"{suite}-{PLAIN}.json"
    if not path.exists():
        return None
    data = json.loads(path.read_text(encoding="utf-8"))
    if any(importlib.metadata.version(name) != data["versions"][name] for name in dict.fromkeys(("numpy", suite))):
        return None
    return {module: row["passed"] for module, row in data["modules"].items()}


def _versions(backend: str, suite: str) -> dict[str, str]:
    found = {"python": platform.python_version(), "numpy": np.__version__}
    if suite == "scipy":
        found["scipy"] = importlib.metadata.version("scipy")
    if backend in loader.KNOWN:
        found["arraydispatch"] = arraydispatch.__version__
    distributions = importlib.metadata.packages_distributions()
    for package in backend.split("."):  # a backend's library, or another namespace and the library in its name
        for name in distributions.get(package, ()):
            found[name.replace("_", "-")] = importlib.metadata.version(name)
    return found


def as_json(
    results: list[ModuleResult], suite: Suite, settings: Settings, expectations: Expectations, plain: dict[str, int]
) -> dict[str, Any]:
    """The results with versions and date; of the tests that passed only the number."""
    modules = {}
    reasons: Counter[str] = Counter()
    for result in results:
        failures = [
            {
                **asdict(test), "test": name, "expected": expectations.reason(f"{result.module}::{name}"),
            }
            for name, test in result.tests.items()
            if test.outcome in _BAD
        ]  # fmt: skip
        reasons.update(failure["expected"] for failure in failures if failure["expected"])
        modules[result.module] = {
            **{outcome: result.count(outcome) for outcome in OUTCOMES},
            "left_out": result.left_out, "plain_passes": plain.get(result.module),
            "error": result.error or None, "seconds": round(result.seconds, 1), "calls": result.calls,
            "host": dict(sorted(result.host.items(), key=lambda item: -item[1])),
            **({"large": result.large, "large_host": result.large_host} if suite.counts_large else {}),
            "failures": failures,
        }  # fmt: skip
    return {
        "suite": suite.name,
        "backend": settings.backend,
        "execution": settings.execution,
        "device": settings.device,
        "select": settings.select,
        "date": dt.datetime.now(dt.UTC).date().isoformat(),
        "versions": _versions(settings.backend, suite.name),
        **suite.facts(),
        "expected_failures": dict(reasons.most_common()),
        "modules": modules,
    }


def dump(data: dict[str, Any]) -> str:
    """The text of a file of results."""
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def keep(data: dict[str, Any]) -> None:
    """Keep the results with the project: counts, and the failures that the data files do not hold."""
    kept = {}
    for module, row in data["modules"].items():
        host = dict(list(row["host"].items())[:_HOST_REASONS])
        failures = [failure for failure in row["failures"] if failure["expected"] is None]
        kept[module] = {**row, "host": host, "failures": failures}
    execution = data.get("execution", "eager")
    how = "" if execution == "eager" else f"-{execution}"
    path = RESULTS / f"{data['suite']}-{data['backend']}{how}.json"
    path.write_text(dump({**data, "modules": kept}), encoding="utf-8")


def as_html(data: dict[str, Any]) -> str:
    """The results as a page that needs no other file."""
    template = (HERE / "results.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    helpers = {"outcomes": OUTCOMES, "percent": percent, "share": share, "total": total}
    return environment.from_string(template).render(**data, **helpers)


# -- the table ---------------------------------------------------------------------------------------------------------

Row = dict[str, Any]
"""The results of one module, as JSON has them."""


def percent(part: float, whole: float) -> str:
    """A share in per cent, rounded down, so that 100 % means all."""
    return f"{int(1000 * part / whole) / 10:.1f} %" if whole else "–"


def share(row: Row) -> str:
    """The part of the calls that the backend's library ran, views among them."""
    calls = sum(row["calls"].values())
    return percent(calls - sum(row["calls"].get(kind, 0) for kind in ("host", "host kernel")), calls)


def large(row: Row) -> str:
    """Of SciPy's calls on large arrays, how many the backend's library computed."""
    calls = row.get("large", {})
    count = sum(calls.values())
    return f"{count - calls.get('host', 0):,} of {count:,}" if count else "–"


def total(rows: Iterable[Row]) -> Row:
    """The sums of several rows."""
    rows = list(rows)
    numbers = ("left_out", "seconds", *OUTCOMES)
    known = [row["plain_passes"] for row in rows if row["plain_passes"] is not None]
    return {
        **{key: sum(row[key] for row in rows) for key in numbers},
        "plain_passes": sum(known) if known else None,
        **{key: dict(sum((Counter(row.get(key, {})) for row in rows), Counter())) for key in ("calls", "large")},
    }


_COLUMNS: dict[str, Callable[[Row], str]] = {
    **{outcome: lambda row, outcome=outcome: f"{row[outcome]:,}" for outcome in OUTCOMES},  # type: ignore[misc]
    "left out": lambda row: f"{row['left_out']:,}",
    "of plain": lambda row: percent(row["passed"], row["plain_passes"] or 0),
    "on backend": share,
    "large ones": large,
    "seconds": lambda row: f"{row['seconds']:.0f}",
}
_OPTIONAL = {
    "left out": "0",
    **dict.fromkeys(("of plain", "on backend", "large ones"), "–"),
}  # what says nothing of all


def show(console: Console, title: str, data: dict[str, Any], verdict: Verdict) -> None:
    """Print the table by file, what departs from the expectations, and the most frequent errors."""
    rows: dict[str, Row] = data["modules"]
    everything = total(rows.values())
    columns = {name: cell for name, cell in _COLUMNS.items() if cell(everything) != _OPTIONAL.get(name)}
    table = Table(title=title, title_justify="left")
    table.add_column("module", no_wrap=True)
    for name in columns:
        table.add_column(name, justify="right")
    for module, row in rows.items():
        table.add_row(module, *(cell(row) for cell in columns.values()))
    if len(rows) > 1:
        table.add_section()
        table.add_row("all", *(cell(everything) for cell in columns.values()))
    console.print(table)
    for module, why in verdict.broken.items():
        console.print(f"{module} did not run to the end: {why}", style="red", markup=False)
    _list(console, "passed though expected to fail (delete the lines)", verdict.passes)
    _list(console, "expected to fail but not there (delete the lines)", verdict.stale)
    if verdict.failures:
        console.print(f"{len(verdict.failures):,} unexpected failures; the most frequent errors:", style="red")
        errors = Table("count", "error", "such as", show_edge=False, box=None, padding=(0, 2, 0, 0))
        errors.columns[2].overflow = "fold"
        for count, error, test in causes(verdict.failures)[:_SHOWN]:
            errors.add_row(str(count), _plain(error[:100]), _plain(test))
        console.print(errors)


def _plain(text: str) -> str:
    return text.replace("[", r"\[")


def _list(console: Console, what: str, tests: list[str]) -> None:
    if tests:
        console.print(f"{len(tests):,} {what}:", style="red")
        for test in tests[:_SHOWN]:
            console.print(f"  {test}", markup=False, highlight=False)
        if len(tests) > _SHOWN:
            console.print(f"  … and {len(tests) - _SHOWN:,} more")
