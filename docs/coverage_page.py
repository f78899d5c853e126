"""Text of ``reference/coverage.md``, which ``make docs`` writes from the coverage table."""

from __future__ import annotations

import numpy as np

from arraydispatch.launcher.commands.coverage import CLASSES, KINDS, Row, counts


def _reasons(table: list[Row], kind: str) -> list[tuple[str, str, list[str]]]:
    """Return rows (class and, unless all, backends; reason; names) of everything but native and composed, most frequent reason first."""
    found: dict[tuple[str, str], list[str]] = {}
    for row in table:
        for cls, reason in dict.fromkeys(a for a in row.answers.values() if row.kind == kind and a[1]):
            held = [backend for backend, answer in row.answers.items() if answer == (cls, reason)]
            where = "" if len(held) == len(row.answers) else f" on {', '.join(held)}"
            found.setdefault((cls + where, reason), []).append(row.name)
    return [(cls, reason, names) for (cls, reason), names in sorted(found.items(), key=lambda x: (-len(x[1]), x[0]))]


def markdown(table: list[Row]) -> str:
    """Return the text of the reference page on coverage."""
    backends = list(table[0].answers)
    held = counts(table)
    lines = [
        "# Coverage",
        "",
        "<!-- Made by `make docs` from `arraydispatch coverage`; edits here are lost. -->",
        "",
        f"Functions of NumPy {np.__version__} and SciPy, and where each runs. *Native*: one kernel of the library, behind NumPy's argument",
        "rules. *Composed*: several kernels of the library give NumPy's behaviour. *Host kernel*: native or composed, but NumPy computes",
        "on the library's own memory, without a copy, because that is faster; this needs host memory, and is not done with",
        "`--execution eager` or under a trace. *Host*: NumPy runs it on the host, for the reason given. If a device could do the work,",
        "the policy `--on-fallback` decides whether that is silent, a warning or an error. Arrays of dtypes that no device has (strings,",
        "objects, dates, records, `longdouble`) stay NumPy arrays in every class.",
        "",
        "`arraydispatch coverage` prints this table for the installed libraries; `--json` prints all of it.",
        "",
    ]
    for kind, title in KINDS.items():
        lines += [f"## {title}", "", "| backend | " + " | ".join(CLASSES) + " |", "|---|" + "---:|" * len(CLASSES)]
        lines += [
            f"| {name} | " + " | ".join(str(held[kind][name].get(cls, 0)) for cls in CLASSES) + " |"
            for name in backends
        ]
        lines.append("")
        found = _reasons(table, kind)
        if found:
            lines += ["| not by the library alone | why |", "|---|---|"]
            lines += [f"| {_listed(names)} | {cls}: {reason} |" for cls, reason, names in found]
            lines.append("")
        lines += _listing([row for row in table if row.kind == kind])
    return "\n".join(lines)


def _listed(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _listing(table: list[Row]) -> list[str]:
    """Return the remaining functions by class: one line for each class that is the same on all backends."""
    by_class: dict[str, list[str]] = {}
    for row in table:
        classes_ = list(dict.fromkeys(cls for cls, _ in row.answers.values()))
        if classes_ and not any(reason for _, reason in row.answers.values()):
            key = classes_[0] if len(classes_) == 1 else _spelt(row)
            by_class.setdefault(key, []).append(row.name)
    lines = []
    for cls, names in sorted(by_class.items(), key=lambda x: (x[0] not in CLASSES, x[0])):
        lines += [f"{cls.capitalize()}: {_listed(names)}.", ""]
    return lines


def _spelt(row: Row) -> str:
    by_class: dict[str, list[str]] = {}
    for backend, (cls, _) in row.answers.items():
        by_class.setdefault(cls, []).append(backend)
    return "; ".join(f"{cls} on {', '.join(names)}" for cls, names in sorted(by_class.items(), reverse=True))
