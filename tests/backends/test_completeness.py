"""Everything of NumPy's has exactly one class on every backend, what is not on a device says why, and what is new fails here."""

from __future__ import annotations

import runpy
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from arraydispatch.api import creation
from arraydispatch.array import Array
from arraydispatch.backends import loader
from arraydispatch.backends.base import TRANSFORMS
from arraydispatch.common.members import MEMBERS
from arraydispatch.functions import registry
from arraydispatch.functions.products import GUFUNCS
from arraydispatch.launcher import facade
from arraydispatch.launcher.commands import coverage
from arraydispatch.ufuncs.facts import FACTS
from tests.functions.grid_rows import ROWS

registry.load_topics()
FUNCTIONS = coverage.dispatched()
DECLARED = registry.SPECS.keys() | registry.HOST.keys() | registry.REFUSED.keys() | registry.CREATORS.keys()
DECLARED -= registry.SCIENTIFIC  # SciPy's
IN_GRID = {name for row in ROWS for name in row.names.split()}

# The grid has other ways to look at these, or none.
NOT_IN_GRID = {
    np.roots: "NumPy asks the elements of its argument, not the argument; see test_polynomials",
}


def names(functions: Any) -> list[str]:
    return sorted(map(coverage.full_name, functions))


@pytest.fixture(scope="module")
def table() -> list[coverage.Row]:
    return coverage.rows()


# -- functions -----------------------------------------------------------------------------------------------------------


def test_the_lists_are_numpys() -> None:
    assert len(FUNCTIONS) >= 339
    assert len(coverage.ufuncs()) >= 127
    assert {np.sum, np.linalg.svd, np.fft.fft, np.strings.upper, np.asarray, np.lib.scimath.sqrt} <= set(FUNCTIONS)
    assert {np.add, np.matmul, np.vecdot, np.isnat, np.strings.isalpha} <= set(coverage.ufuncs())


def test_each_function_is_declared() -> None:
    """Fails when NumPy adds a function; then it is implemented, or declared to run on the host, with a reason."""
    assert names(f for f in FUNCTIONS if f not in DECLARED) == []


def test_each_function_is_declared_once() -> None:
    tables_ = (registry.SPECS, registry.HOST, registry.REFUSED)
    assert names(f for f in FUNCTIONS if sum(f in t for t in tables_) > 1) == []


def test_what_is_declared_is_dispatched_by_numpy() -> None:
    assert names(DECLARED - set(FUNCTIONS)) == []


def test_each_function_on_devices_is_in_the_grid() -> None:
    known = {object_of(name) for name in IN_GRID if name.startswith("np.")}
    assert names(registry.SPECS.keys() - known - registry.SCIENTIFIC) == names(NOT_IN_GRID)


def object_of(name: str) -> Any:
    found: Any = np
    for part in name.split(".")[1:]:
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("held", ["HOST", "REFUSED"])
def test_each_has_a_reason(held: str) -> None:
    """A clause that can follow "it runs on the host: "."""
    for func, declared in getattr(registry, held).items():
        reason = declared if isinstance(declared, str) else declared.reason
        assert len(reason.split()) >= 3, coverage.full_name(func)
        assert not reason.endswith("."), coverage.full_name(func)
        assert "yet" not in reason.split(), coverage.full_name(func)


def test_what_writes_on_the_host_runs_on_the_host() -> None:
    writing = {func.__name__: declared.writes for func, declared in registry.HOST.items() if declared.writes}
    assert writing == {"recursive_fill_fields": (1,), "assign_fields_by_name": (0,)}


def test_entries_are_resolved_once(backend: str) -> None:
    resolver = loader.load(backend)
    for func in FUNCTIONS:
        entry = registry.resolve(func, resolver)
        assert entry.func is func
        assert (entry.run is None) == bool(entry.reason), coverage.full_name(func)
        assert registry.resolve(func, resolver) is entry


def test_overrides_are_of_declared_functions(backend: str) -> None:
    """So that an override is held to the same signature, and to the same class of result, as the body it replaces."""
    assert names(loader.load(backend).OVERRIDES.keys() - registry.SPECS.keys()) == []


def test_facts_do_not_depend_on_where_a_body_stands() -> None:
    joining, median = registry.SPECS[np.concatenate], registry.SPECS[np.median]
    assert median.computes and not joining.computes
    assert not replace(joining, body=median.body).computes and replace(median, body=joining.body).computes


def test_a_fact_that_is_none_is_an_error() -> None:
    with pytest.raises(TypeError, match="error_"):
        registry.implements(np.hypot, error_="sum")(np.hypot)


def test_a_member_of_a_family_may_say_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "SPECS", {})
    viewing = registry.family(mode="view", many=True)
    viewing(np.hypot)(np.hypot)
    viewing(np.fmod, mode="like", min_bits=32)(np.fmod)
    assert (registry.SPECS[np.hypot].mode, registry.SPECS[np.hypot].min_bits) == ("view", 16)
    assert (registry.SPECS[np.fmod].mode, registry.SPECS[np.fmod].min_bits) == ("like", 32)
    assert all(spec.views.many for spec in registry.SPECS.values())


def test_registering_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"numpy\.median is registered twice"):
        registry.implements(np.median)(np.median)


# -- the matrix ----------------------------------------------------------------------------------------------------------


def test_nothing_is_unclassified(table: list[coverage.Row]) -> None:
    assert coverage.as_dict(table)["unclassified"] == []


def test_what_is_not_on_a_device_says_why(table: list[coverage.Row]) -> None:
    for row in table:
        for cls, reason in row.answers.values():
            assert bool(reason) == (cls in ("host kernel", "host", "refused")), row
            assert "yet" not in reason.split(), row


def test_every_numeric_ufunc_runs_on_devices(table: list[coverage.Row]) -> None:
    """A ufunc with a loop over numbers is native or composed everywhere."""
    for ufunc in coverage.ufuncs():
        if {"d", "l"} & set("".join(ufunc.types)):
            row = next(r for r in table if r.kind == "ufunc" and r.name.endswith(f".{ufunc.__name__}"))
            assert {cls for cls, _ in row.answers.values()} <= {"native", "composed"}, row


def test_each_ufunc_has_a_row_of_facts() -> None:
    """Fails when NumPy adds a ufunc; then its facts are stated, or it is listed as one of which none holds."""
    assert names(u for u in coverage.ufuncs() if u not in FACTS) == []
    assert all(isinstance(ufunc, np.ufunc) for ufunc in FACTS)


def test_every_gufunc_has_a_body() -> None:
    assert {u for u in coverage.ufuncs() if u.signature is not None} == set(GUFUNCS)


def test_every_member_of_ndarray_is_there_or_refused() -> None:
    missing = {name for name in coverage.members() if not hasattr(Array, name)}
    assert missing <= {name for name, row in MEMBERS.items() if row.form == "absent"}


def test_every_creation_function_of_the_launcher_is_classified(table: list[coverage.Row]) -> None:
    listed = {row.name.removeprefix("np.") for row in table if row.kind == "creation"}
    assert facade.INDEX_OBJECTS | set(creation.__all__) | {"fromiter", "fromregex", "loadtxt"} <= listed


def test_a_fresh_process_lists_the_same(table: list[coverage.Row]) -> None:
    """The methods of SciPy's objects too, which have entries once they are exchanged."""
    code = "from arraydispatch.launcher.commands import coverage; print(len(coverage.rows(['numpy'])))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == len(table)


def test_the_page_is_what_the_code_says(table: list[coverage.Row]) -> None:
    """Out of step? `make docs` writes it."""
    if list(loader.KNOWN) != list(table[0].answers):
        pytest.skip("not all libraries are installed")
    from tests.test_docs import ROOT

    page = (ROOT / "docs" / "reference" / "coverage.md").read_text(encoding="utf-8")
    assert page == runpy.run_path(str(ROOT / "docs" / "coverage_page.py"))["markdown"](table)


def test_every_library_has_all_transforms(backend: str) -> None:
    module = loader.load(backend).transforms
    assert [name for name in TRANSFORMS if not callable(getattr(module, name, None))] == []
