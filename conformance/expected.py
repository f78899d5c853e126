"""The data files: failures that are expected, and tests that are left out, each with its reason.

One test a line, ``module::test  # reason``; a suite may ask for a link in the reason. A test that ends in ``[*]`` stands
for all its parametrisations. Lines that begin with ``#`` are headings. An expected failure that passes is an error, so
the files cannot go stale.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from .suites import Suite, Usage

__all__ = ["UNTRIAGED", "Expectations", "read", "write"]

UNTRIAGED = "not looked into yet: "

_SEPARATOR = "  # "


@dataclass
class Expectations:
    """Tests with a reason each.

    Attributes
    ----------
    exact, families : dict
        Reason by test, and by the part before ``[*]``.
    """

    exact: dict[str, str] = field(default_factory=dict)
    families: dict[str, str] = field(default_factory=dict)

    def reason(self, test: str) -> str | None:
        """Why the test is listed; None where it is not."""
        reason = self.exact.get(test)
        if reason is None and self.families:
            reason = self.families.get(test.partition("[")[0])
        return reason

    def stale(self, module: str, tests: set[str]) -> list[str]:
        """Entries for this module that no test matches."""
        families = {test.partition("[")[0] for test in tests}
        prefix = f"{module}::"
        gone = [test for test in self.exact if test.startswith(prefix) and test not in tests]
        return gone + [f"{test}[*]" for test in self.families if test.startswith(prefix) and test not in families]


def read(path: Path | None, suite: Suite) -> Expectations:
    """Read a data file of a suite; one that is not there is empty."""
    found = Expectations()
    if path is None or not path.exists():
        return found
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        test, _, reason = line.rpartition(_SEPARATOR)
        test, reason = test.strip(), reason.strip()
        where = f"{path.name}, line {number}"
        if not test or not reason:
            raise Usage(f"{where}: a line must read 'module::test  # reason', two spaces before the '#'.")
        module = test.partition("::")[0]
        if suite.pinned and module not in suite.modules:
            raise Usage(f"{where}: {module!r} is none of the modules that are run; check the spelling.")
        if suite.linked and "https://" not in reason:
            raise Usage(f"{where}: the reason must end with a link, https://…, to where it is explained.")
        table, key = (found.families, test[:-3]) if test.endswith("[*]") else (found.exact, test)
        if key in table:
            raise Usage(f"{where}: {test!r} is there twice; keep one of the lines.")
        table[key] = reason
    return found


def write(path: Path, heading: str, reasons: dict[str, str]) -> None:
    """Write tests with their reasons, grouped by reason, the largest group first."""
    groups: dict[str, list[str]] = {}
    for test, reason in reasons.items():
        groups.setdefault(reason, []).append(test)
    lines = [f"# {line}" for line in heading.splitlines()]
    for reason, tests in sorted(groups.items(), key=lambda group: (-len(group[1]), group[0])):
        lines += ["", f"# {reason} ({len(tests)})"]
        lines += [f"{test}{_SEPARATOR}{reason}" for test in sorted(tests)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
