"""Every function that NumPy dispatches is in exactly one class on every backend, and those on the host say why."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

import numpy as np
import pytest
from numpy.testing.overrides import get_overridable_numpy_array_functions

from arraydispatch import registry
from arraydispatch.backends import loader

CLASSES = {"override", "native", "composed", "host", "refused"}

# The list of dispatched functions grows with what is imported.
for _name in ("numpy.char", "numpy.fft", "numpy.linalg", "numpy.polynomial", "numpy.rec", "numpy.strings"):
    importlib.import_module(_name)
for _module in pkgutil.iter_modules(np.lib.__path__):
    if not _module.name.startswith("_"):
        importlib.import_module(f"numpy.lib.{_module.name}")


def name_of(func: Any) -> str:
    return f"{func.__module__}.{func.__name__}"


def _like_only(func: Any) -> bool:
    """Whether this is the inner half of a function with ``like=`` (`_eye_with_like`), which NumPy never passes on."""
    public = getattr(np, func.__name__, None) if func.__module__ == "numpy" else func
    return public is not func and public in get_overridable_numpy_array_functions()


registry.load_topics()
FUNCTIONS = sorted((f for f in get_overridable_numpy_array_functions() if not _like_only(f)), key=name_of)

_LIKE = (
    "arange array asanyarray asarray ascontiguousarray asfortranarray empty eye fromfunction full identity ones require "
    "tri zeros"
)
_SCIMATH = "arccos arcsin arctanh log log10 log2 logn power sqrt"
MISSING = {
    *(f"numpy.{name}" for name in _LIKE.split()),  # reached by `like=` alone
    *(f"numpy.lib.scimath.{name}" for name in _SCIMATH.split()),
    *(f"numpy.poly{name}" for name in ("", "add", "der", "div", "fit", "int", "mul", "sub", "val")),
    "numpy.lib.stride_tricks.sliding_window_view",
    "numpy.packbits",
    "numpy.polynomial.polynomial.polygrid2d",
    "numpy.polynomial.polynomial.polyval2d",
    "numpy.unpackbits",
}
"""Functions without an implementation yet, which run on the host with the registry's default reason."""


def test_the_list_is_not_empty() -> None:
    assert len(FUNCTIONS) > 250
    assert {np.sum, np.linalg.svd, np.fft.fft, np.strings.upper} <= set(FUNCTIONS)


def test_each_function_is_declared_once() -> None:
    tables: tuple[dict[Any, Any], ...] = (registry.SPECS, registry.HOST, registry.REFUSED)
    twice = [name_of(f) for f in FUNCTIONS if sum(f in table for table in tables) > 1]
    assert twice == []


def test_each_function_is_declared_or_known_to_be_missing() -> None:
    """Fails when NumPy adds a function; then it is implemented, declared, or put on the list."""
    declared = registry.SPECS.keys() | registry.HOST.keys() | registry.REFUSED.keys()
    assert {name_of(f) for f in FUNCTIONS if f not in declared} == MISSING


def test_what_is_declared_is_dispatched_by_numpy() -> None:
    declared = registry.SPECS.keys() | registry.HOST.keys() | registry.REFUSED.keys()
    assert [name_of(f) for f in declared if f not in set(FUNCTIONS)] == []


@pytest.mark.parametrize("table", ["HOST", "REFUSED"])
def test_each_has_a_reason(table: str) -> None:
    """A clause that can follow "it runs on the host: "."""
    for func, reason in getattr(registry, table).items():
        assert len(reason.split()) >= 3, name_of(func)
        assert not reason.endswith("."), name_of(func)
        assert reason != "it has no implementation on devices yet", name_of(func)


def test_what_writes_on_the_host_runs_on_the_host() -> None:
    assert registry.HOST_WRITES.keys() <= registry.HOST.keys()
    assert all(positions and min(positions) >= 0 for positions in registry.HOST_WRITES.values())


def test_each_function_has_one_class(backend: str) -> None:
    resolver = loader.load(backend)
    for func in FUNCTIONS:
        entry = registry.resolve(func, resolver)
        assert entry.func is func
        assert entry.kind in CLASSES, name_of(func)
        assert (entry.run is None) == (entry.kind in {"host", "refused"}), name_of(func)
        assert bool(entry.reason) == (entry.run is None), name_of(func)
        assert registry.resolve(func, resolver) is entry


def test_overrides_are_of_declared_functions(backend: str) -> None:
    """So that an override is held to the same signature, and to the same class of result, as the body it replaces."""
    assert [name_of(f) for f in loader.load(backend).OVERRIDES if f not in registry.SPECS] == []


def test_registering_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"numpy\.median is registered twice"):
        registry.implements(np.median)(np.median)
