"""What a suite of tests is to the runner: which modules, where they are, and how pytest runs one."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["EXECUTIONS", "HERE", "PLAIN", "Settings", "Suite", "Usage"]

HERE = Path(__file__).parent
PLAIN = "plain"
"""The backend that is none: NumPy without us."""

EXECUTIONS = {
    "eager": ("--min-size", "0"),
    "fused": ("--execution", "fused", "--min-size", "1"),
    "compiled": ("--execution", "compiled", "--min-size", "0"),
    "home": ("--min-size", "1"),
    "default": (),
}
"""Execution -> the launcher's options: every call is the library's; every call that can be is recorded, and computed by NumPy, or by
the library's compiler; every call of an array in NumPy's memory is the library's; or as a run without options."""


class Usage(Exception):
    """The command line or a data file is wrong: one sentence with the way out."""


@dataclass(frozen=True)
class Settings:
    """How to run.

    Attributes
    ----------
    backend : str
        Name of a backend, ``plain``, or another namespace.
    device, select : str or None
        The launcher's ``--device`` and pytest's ``-k``.
    execution : str
        One of :data:`EXECUTIONS`.
    timeout, test_timeout : float
        Seconds for a module and for one test.
    """

    backend: str
    device: str | None = None
    select: str | None = None
    timeout: float = 3600.0
    test_timeout: float = 120.0
    execution: str = "eager"


class Suite(ABC):
    """Tests of another project, in modules that each run in a process of their own."""

    name: str
    modules: tuple[str, ...]
    """Those of a full run."""
    pinned: bool = True
    """Whether the data files are written for this very version."""
    linked: bool = False
    """Whether each expected failure must link to where it is explained."""
    counts_large: bool = False
    """Whether the calls on large arrays are counted by themselves."""
    left_out: Path | None = None
    """The data file of tests that are not run."""
    packages: tuple[str, ...] = ("pytest", "hypothesis")
    """What its tests import besides what they test."""

    @abstractmethod
    def title(self) -> str:
        """What stands above the table, without the backend."""

    @abstractmethod
    def file_of(self, module: str) -> Path:
        """The file of a module."""

    @abstractmethod
    def xfails_file(self, backend: str) -> Path:
        """The expected failures of a backend."""

    def pytest_options(self, settings: Settings) -> list[str]:
        """What pytest is given besides what every suite gives it."""
        return []

    def python(self, path: Path, settings: Settings) -> list[str]:
        """The Python that runs ``-m pytest`` on the file."""
        return [sys.executable]

    def environment(self, settings: Settings) -> dict[str, str]:
        """Environment variables of the process."""
        return {}

    def facts(self) -> dict[str, Any]:
        """What a reader of the results must know of this run."""
        return {}

    def chosen(self, names: list[str]) -> list[str]:
        """The modules that the names (``lib.test_nanfunctions``, or ``lib`` for all of a group) stand for."""
        found: list[str] = []
        for name in names:
            here = [module for module in self.modules if module == name or module.startswith(f"{name}.")]
            if not here:
                groups = dict.fromkeys(module.partition(".")[0] for module in self.modules if "." in module)
                tail = f", or a group: {', '.join(groups)}" if groups else ""
                raise Usage(f"--module: there is no {name!r}; choose from {', '.join(self.modules)}{tail}.")
            found += here
        return list(dict.fromkeys(found or self.modules))
