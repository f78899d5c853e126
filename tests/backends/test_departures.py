"""Kernels that are not the library's own function: docs/reference/departures.md has the reason and the upstream issue of each."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from arraydispatch.backends import loader

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "departures.md"
HEADINGS = {"jax": "JAX", "torch": "PyTorch", "tensorflow": "TensorFlow"}
NONE_KNOWN = "no issue known"
ROW = re.compile(r"^\| (?P<kernels>`.*`) \| (?P<why>[^|]+) \| (?P<upstream>no issue known|\[\d+\]\([^)]+\)) \|$")
_LINK = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/(issues|pull)/[1-9]\d*")
NUMPYS = {ufunc for ufunc in vars(np).values() if isinstance(ufunc, np.ufunc)}
_TABLES = ("UFUNCS", "REDUCE", "ACCUMULATE")


@pytest.fixture(params=["jax", "torch", "tensorflow"])
def library(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(request.param)
    return str(request.param)


class Departure(NamedTuple):
    """A row of the page."""

    ufuncs: dict[str, set[str]]
    """Table of kernels -> names of ufuncs."""
    why: str
    upstream: str


def rows_of(library: str) -> list[Departure]:
    section = PAGE.read_text(encoding="utf-8").split(f"\n## {HEADINGS[library]}\n")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    found = []
    for line in lines:
        row = ROW.match(line)
        assert row is not None, line
        ufuncs: dict[str, set[str]] = {table: set() for table in _TABLES}
        for name in re.findall(r"`([\w.]+)`", row["kernels"]):
            ufunc, _, method = name.partition(".")
            ufuncs[method.upper() or "UFUNCS"].add(ufunc)
        link = row["upstream"]
        number, address = link.strip("[)").split("](") if link != NONE_KNOWN else ("", link)
        assert address.endswith(number), line
        found.append(Departure(ufuncs, row["why"], address))
    return found


def is_ours(kernel: Any) -> bool:
    return (getattr(kernel, "__module__", None) or "").startswith("arraydispatch")


def departing(library: str, kind: str) -> set[str]:
    """Names of the ufuncs whose kernel is a function of the backend's."""
    kernels: dict[Any, Any] = getattr(loader.load(library), kind)
    if library == "jax" and kind == "UFUNCS":  # whose rows are wrapped, all of them
        module = importlib.import_module("arraydispatch.backends.jax.ufuncs")
        kernels = {**module._UNARY, **module._BINARY}
    return {ufunc.__name__ for ufunc, kernel in kernels.items() if is_ours(kernel) and ufunc in NUMPYS}


@pytest.mark.parametrize("kind", _TABLES)
def test_each_kernel_of_ours_has_a_reason(library: str, kind: str) -> None:
    named = {name for row in rows_of(library) for name in row.ufuncs[kind]}
    assert departing(library, kind) - named == set()
    known = {ufunc.__name__ for ufunc in getattr(loader.load(library), kind)}
    assert named - known == set(), "these have no kernel"


def test_each_reason_says_what_would_let_it_go(library: str) -> None:
    for row in rows_of(library):
        assert any(row.ufuncs.values()), row
        assert not row.why.endswith("."), row
        assert row.upstream == NONE_KNOWN or _LINK.fullmatch(row.upstream), row


def test_addresses_are_of_the_library_itself(library: str) -> None:
    own = {"jax": "jax-ml/jax", "torch": "pytorch/pytorch", "tensorflow": "tensorflow/tensorflow"}[library]
    links = [row.upstream for row in rows_of(library) if row.upstream != NONE_KNOWN]
    elsewhere = [link for link in links if own not in link]
    assert len(links) >= 8
    assert len(elsewhere) <= 1, "XLA's are JAX's issues too"
