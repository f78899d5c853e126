"""The tables of the kept results, in the documentation and in the README."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from .array_api_suite import PARTS
from .results import RESULTS, Row, large, percent, share, total
from .suites import HERE, PLAIN, Usage

__all__ = ["MARKS", "PAGE", "README", "page", "summary", "updated", "write"]

ROOT = HERE.parent
PAGE = ROOT / "docs" / "reference" / "conformance.md"
README = ROOT / "README.md"
MARKS = ("<!-- conformance table -->", "<!-- end of conformance table -->")
"""Between these the README's table stands."""

_BACKENDS = ("numpy", "jax", "torch", "tensorflow")
_NONE = "–"

_HEAD = """\
# Conformance

Suites of other projects run on every backend: NumPy's and SciPy's own tests, and those of the array-API standard. This page
is made from the results in `conformance/results/`; `make conformance BACKEND=torch` makes those for a backend, and this
page, again. Failures that are expected stand with their reasons in data files beside them; a failure that is not listed
fails the run, and so does a listed one that passes.
"""

_NUMPY = """\
## NumPy's own tests

24 test modules from NumPy's wheel run unchanged under the launcher, with every array on the backend, however small. A cell is
the number of tests that pass, and what share that is of those that plain NumPy passes.
"""

_CALLS = """\
The share of the NumPy calls in these runs that the backend's library ran. The rest ran on the host: arrays of objects, strings
and dates, and what a library has no kernel for; on JAX also the *host kernels*, by which NumPy sorts and picks on JAX's own memory.
"""

_FUSED = """\
### In fused execution

The same modules with every call that can be recorded recorded, of arrays of one element too (`--execution fused`), and computed by
NumPy on the host. No test fails that does not fail above; two that did ran again when their causes were mended.
"""

_SCIPY = """\
## SciPy's own tests

{count} test modules from SciPy's wheel run unchanged under the launcher, with every array on the backend, however small; what makes
their arrays (the fixture `xp`) is the launcher's `numpy`. A cell is the number of tests that pass, and what share that is of those
that plain SciPy passes. The modules ran one after the other; failures whose causes were mended meanwhile ran again, and what passed
then is counted as passed.
"""

_LARGE = """\
The calls of SciPy's functions in these runs on a thousand elements or more, and how many the library computed. The others are
SciPy's own: functions that call the user's for each window or point, splines, what no library has.
"""

_ARRAY_API = """\
## The array-API standard

[array-api-tests]({url}) at {commit} with the standard at {spec}. A cell is the number of tests that pass.
"""


def _load(suite: str, execution: str = "eager") -> dict[str, dict[str, Any]]:
    """The kept results of a suite by backend, ours first."""
    found = {}
    for path in sorted(RESULTS.glob(f"{suite}-*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        if data.get("execution", "eager") == execution:
            found[data["backend"]] = data
    return {name: found[name] for name in dict.fromkeys([*_BACKENDS, *found]) if name in found}


def _markdown(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |\n" for cells in lines)


def _by_module(
    runs: dict[str, dict[str, Any]], cell: Callable[[Row], str], common: tuple[str, Callable[[Row], str]] | None = None
) -> str:
    """Module × backend, with a line for all; ``common`` heads a column of what is the same for every backend."""
    modules = list(dict.fromkeys(module for run in runs.values() for module in run["modules"]))
    tables = {name: {**run["modules"], "**all**": total(run["modules"].values())} for name, run in runs.items()}
    rows = []
    for module in [*modules, "**all**"]:
        here = [table.get(module) for table in tables.values()]
        first = [next(common[1](row) for row in here if row is not None)] if common else []
        rows.append([module, *first, *(_NONE if row is None else cell(row) for row in here)])
    return _markdown(["module", *([common[0]] if common else []), *runs], rows)


def _tests(row: Row) -> str:
    return f"{row['passed'] + row['failed'] + row['crashed'] + row['skipped']:,}"


def _of_plain(row: Row) -> str:
    return f"{row['passed']:,} ({percent(row['passed'], row['plain_passes'] or 0)})"


def _versions(runs: dict[str, dict[str, Any]]) -> str:
    lines = []
    for name, run in runs.items():
        versions = ", ".join(f"{package} {version}" for package, version in run["versions"].items())
        how = f"; {run['max_examples']} examples, seed {run['seed']}" if "seed" in run else ""
        lines.append(f"- {name}: {run['date']}, {versions}{how}\n")
    return "".join(lines)


def _expected(runs: dict[str, dict[str, Any]]) -> str:
    reasons = list(dict.fromkeys(reason for run in runs.values() for reason in run["expected_failures"]))
    if not reasons:
        return ""
    rows = [[reason, *(f"{run['expected_failures'].get(reason, 0):,}" for run in runs.values())] for reason in reasons]
    return "Expected failures, by reason.\n\n" + _markdown(["reason", *runs], rows)


def _by_group(runs: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """The runs with a row for each group of modules."""
    found = {}
    for name, run in runs.items():
        groups: dict[str, list[Row]] = {}
        for module, row in run["modules"].items():
            groups.setdefault(module.partition(".")[0], []).append(row)
        found[name] = {**run, "modules": {group: total(rows) for group, rows in sorted(groups.items())}}
    return found


def _partial(runs: dict[str, dict[str, Any]], every: int) -> str:
    """Which runs are of some modules only."""
    parts = [f"{name}: {len(run['modules'])}" for name, run in runs.items() if len(run["modules"]) < every]
    return (
        f"Not all of the {every} modules ran everywhere ({', '.join(parts)}); shares are of those that did.\n"
        if parts
        else ""
    )


def _scipy() -> list[str]:
    """The section on SciPy's tests."""
    every = _load("scipy")
    runs = {name: run for name, run in every.items() if name != PLAIN}
    if not runs:
        return []
    count = len(every[PLAIN]["modules"])
    groups = _by_group(runs)
    return [
        _SCIPY.format(count=count), _by_module(groups, _of_plain), _partial(runs, count),
        _LARGE, _by_module({name: run for name, run in groups.items() if name != "numpy"}, large),
        _expected(runs), _versions(runs),
    ]  # fmt: skip


def page() -> str:
    """The page of the documentation."""
    numpy = {name: run for name, run in _load("numpy").items() if name != PLAIN}
    array_api = _load("array-api")
    parts = [_HEAD]
    if numpy:
        plain = ("plain NumPy", lambda row: f"{row['plain_passes'] or 0:,}")
        parts += [_NUMPY, _by_module(numpy, _of_plain, plain), _CALLS, _by_module(numpy, share), _versions(numpy)]
    if fused := _load("numpy", "fused"):
        parts += [_FUSED, _by_module(fused, _of_plain), _versions(fused)]
    parts += _scipy()
    if array_api:
        url, commit, spec = PARTS[0].url, PARTS[0].commit[:7], PARTS[1].commit[:7]
        parts += [_ARRAY_API.format(url=url, commit=commit, spec=spec)]
        parts += [_by_module(array_api, lambda row: f"{row['passed']:,}", ("tests", _tests))]
        parts += [_expected({name: run for name, run in array_api.items() if name in _BACKENDS}), _versions(array_api)]
    return "\n".join(part for part in parts if part)


def summary() -> str:
    """The README's table: one line for each backend."""
    numpy, array_api = _load("numpy"), _load("array-api")
    rows = []
    for name in [name for name in {**numpy, **array_api} if name != PLAIN]:
        cells = [name, _NONE, _NONE, _NONE]
        if name in numpy:
            row = total(numpy[name]["modules"].values())
            cells[1:3] = [
                f"{row['passed']:,} of {row['plain_passes']:,} ({percent(row['passed'], row['plain_passes'])})",
                share(row),
            ]
        if name in array_api:
            row = total(array_api[name]["modules"].values())
            cells[3] = f"{row['passed']:,} of {_tests(row)}"
        rows.append(cells)
    return _markdown(["on", "NumPy's own tests", "calls on the backend", "array-API tests"], rows) if rows else ""


def updated(readme: str) -> str:
    """The README with its table brought up to date."""
    before, begin, rest = readme.partition(MARKS[0])
    _, end, after = rest.partition(MARKS[1])
    if not (begin and end):
        raise Usage(f"{README.name}: the lines {MARKS[0]} and {MARKS[1]} are missing; put them where the table goes.")
    return f"{before}{begin}\n\n{summary()}\n{end}{after}"


def write() -> None:
    """Bring the page and the README up to date."""
    readme = updated(README.read_text(encoding="utf-8"))
    PAGE.write_text(page(), encoding="utf-8")
    README.write_text(readme, encoding="utf-8")
