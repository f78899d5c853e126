"""A function declared pure runs on tracers: shapes and dtypes of its results follow without looking at values.

Tracing and fused execution stand on that flag, so every case of a pure function's table is traced here.
"""

from __future__ import annotations

import importlib
import pkgutil
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.functions import registry
from tests import functions, oracle

registry.load_topics()

VALUE_DEPENDENT = {
    np.allclose, np.apply_along_axis, np.apply_over_axes, np.argwhere, np.array_equal, np.array_equiv, np.bincount,
    np.compress, np.delete, np.extract, np.flatnonzero, np.histogram, np.histogram_bin_edges, np.insert,
    np.intersect1d, np.ix_, np.linalg.eig, np.linalg.eigvals, np.linalg.lstsq, np.linalg.matrix_rank,
    np.min_scalar_type, np.nonzero, np.piecewise, np.real_if_close, np.repeat, np.setdiff1d, np.setxor1d,
    np.poly, np.polydiv, np.polyfit, np.polymul, np.roots, np.trim_zeros, np.union1d, np.unique, np.unique_all, np.unique_counts, np.unique_inverse, np.unique_values,
    *(getattr(np.lib.scimath, name) for name in np.lib.scimath.__all__),
}  # fmt: skip
"""Functions declared `pure=False`: what their result is follows from values, for some of their arguments."""

LOOKS_AT_VALUES = {
    "np.isclose(f34, f34.tolist())": "`tolist` does",
    "np.shape([f5, f5])": "NumPy makes an ndarray of the list itself",
    "np.pad(i34, 1, constant_values=f34[0, :2])": "NumPy does not dispatch on `constant_values`, which is read",
}
"""Cases whose arguments cannot be made without values, and why."""


def _tables() -> dict[Any, list[str]]:
    found: dict[Any, list[str]] = {}
    for module in pkgutil.iter_modules(functions.__path__):
        if module.name.startswith("test_"):
            table = getattr(importlib.import_module(f"{functions.__name__}.{module.name}"), "CASES", {})
            for func, cases in table.items():
                found.setdefault(func, []).extend(cases)
    return found


CASES = _tables()
PURE = [f for f in CASES if f in registry.SPECS and registry.SPECS[f].pure]


def _leaves(x: Any) -> list[Any]:
    """The arrays and numbers of a result, in order; flags and the like count as nothing."""
    if isinstance(x, list | tuple):
        return [leaf for y in x for leaf in _leaves(y)]
    return [x] if hasattr(x, "dtype") and not isinstance(x, type) else []


def _traced(expression: str) -> list[tuple[tuple[int, ...], np.dtype[Any]]]:
    """Shape and dtype of each leaf of the result, on tracers alone."""
    import jax

    names = [name for name in oracle.ARRAYS if name in expression]
    known: list[Any] = []

    def run(values: list[Any]) -> list[Any]:
        arrays = {name: ad.wrap(value) for name, value in zip(names, values)}
        result = eval(expression, {"np": np, **arrays})
        leaves = _leaves(result)
        known.extend(None if hasattr(x, "native") else np.asarray(x) for x in leaves)
        return [x.native for x in leaves if hasattr(x, "native")]

    with jax.enable_x64(True), ad.fallback("error"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        specs = [jax.ShapeDtypeStruct(oracle.ARRAYS[name].shape, oracle.ARRAYS[name].dtype) for name in names]
        traced = iter(jax.eval_shape(run, specs))
    return [(x.shape, np.dtype(x.dtype)) for x in (next(traced) if k is None else k for k in known)]


@pytest.mark.parametrize("func", PURE, ids=lambda f: f"{f.__module__}.{f.__name__}")
def test_pure_functions_run_on_tracers(func: Any, drawn: Callable[..., list[str]]) -> None:
    if "jax" not in ad.available_backends():
        pytest.skip("jax is not installed")
    wrong = []
    for expression in drawn(CASES[func], one_of=3):
        if expression in LOOKS_AT_VALUES:
            continue
        theirs = oracle.evaluate(expression, {name: x.copy(order="K") for name, x in oracle.ARRAYS.items()})
        if isinstance(theirs, Exception):
            continue
        expected = [(x.shape, x.dtype) for x in _leaves(theirs)]
        try:
            ours = _traced(expression)
        except Exception as error:
            wrong.append(f"{expression}: {type(error).__name__}: {str(error)[:200]}")
            continue
        if ours != expected:
            wrong.append(f"{expression}: {ours}, NumPy's is {expected}")
    assert not wrong, "\n".join(wrong)


def test_there_is_something_to_run() -> None:
    assert len(PURE) > 40


def test_value_dependent_functions_are_known() -> None:
    assert {f for f, spec in registry.SPECS.items() if not spec.pure} - registry.SCIENTIFIC == VALUE_DEPENDENT


def test_a_look_at_a_value_is_found() -> None:
    with pytest.raises(Exception, match=r"[Tt]race"):
        _traced("f5[:1] if float(f5[0]) > 0 else f5")
