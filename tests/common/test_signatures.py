"""Parameters found without ``inspect`` are those that ``inspect`` shows."""

from __future__ import annotations

import builtins
import inspect
import math
from types import ModuleType
from typing import Any

import numpy as np
import numpy.lib.recfunctions
import pytest

from arraydispatch.common.signatures import Parameters, parameters_of

_MODULES: tuple[Any, ...] = (
    np, np.linalg, np.fft, np.random, np.char, numpy.lib.recfunctions, np.lib.stride_tricks, np.ndarray, builtins, math, inspect
)  # fmt: skip


def _by_inspect(func: Any) -> Parameters:
    kinds = {name: each.kind for name, each in inspect.signature(func).parameters.items()}
    known = [name for name, kind in kinds.items() if kind.name not in ("VAR_POSITIONAL", "VAR_KEYWORD")]
    only = [name for name, kind in kinds.items() if kind.name == "POSITIONAL_ONLY"]
    both = [name for name, kind in kinds.items() if kind.name == "POSITIONAL_OR_KEYWORD"]
    return Parameters(tuple(known), len(only), len(only) + len(both))


def _or_error(f: Any, *args: Any) -> Any:
    try:
        return f(*args)
    except (TypeError, ValueError) as error:
        return type(error)


@pytest.mark.parametrize("module", _MODULES, ids=lambda module: module.__name__)
def test_parameters_are_those_of_inspect(module: ModuleType) -> None:
    functions = {name: f for name, f in vars(module).items() if callable(f) and not isinstance(f, type)}
    assert functions
    found = {name: _or_error(parameters_of, f) for name, f in functions.items()}
    assert found == {name: _or_error(_by_inspect, f) for name, f in functions.items()}


def test_a_position_is_that_of_a_parameter_that_may_also_be_named() -> None:
    def f(a: int, /, b: int, *rest: int, c: int = 0, **more: int) -> None: ...

    made = parameters_of(f)
    assert made == (("a", "b", "c"), 1, 2)
    assert [made.position_of(name) for name in ("a", "b", "rest", "c", "more")] == [None, 1, None, None, None]
