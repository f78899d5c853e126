"""Casts of floats say what NumPy's say: nothing of values that the other dtype holds, however narrow the float is."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

FLOATS = "efdFD"
WANTED = "bBhHiIqQefdFD"


@pytest.mark.parametrize("rule", ["warn", "raise"])
@pytest.mark.parametrize("have", FLOATS)
@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning")
def test_values_that_fit_are_cast_in_silence(have: str, rule: str, backend: str) -> None:
    with ad.backend(backend), np.errstate(all=rule):  # type: ignore[call-overload]
        x = ad.asarray(np.arange(3).astype(have)) * 1
        for wanted in WANTED:
            np.testing.assert_array_equal(np.asarray(x.astype(wanted)), np.arange(3).astype(wanted))


@pytest.mark.parametrize("have", FLOATS)
def test_values_that_do_not_fit_are_said(have: str, backend: str) -> None:
    values = np.array([1, np.inf]).astype(have).real
    said = []
    for x in (values, ad.asarray(values, backend=backend)):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            x.astype("i4")
        said.append([str(each.message) for each in heard])
    assert said[0] == said[1] == ["invalid value encountered in cast"]


@pytest.mark.parametrize("rule", ["warn", "raise", "call"])
@pytest.mark.parametrize("number", [2**40, 1e6, -1e39, 2**200])
@pytest.mark.parametrize(
    "ufunc", [np.remainder, np.divmod, np.floor_divide, np.true_divide, np.add, np.maximum, np.less]
)
def test_a_number_that_does_not_fit_is_said_once(ufunc: np.ufunc, number: Any, rule: str, backend: str) -> None:
    values = np.ones(3, np.float16)
    said = []
    for x in (values, ad.asarray(values, backend=backend)):
        heard: list[Any] = []
        with (
            warnings.catch_warnings(record=True) as warned,
            np.errstate(all=rule, call=lambda *told: heard.append(told)),  # type: ignore[call-overload]  # noqa: B023
        ):
            warnings.simplefilter("always")
            for operands in ((x, number), (number, x)):
                try:
                    ufunc(*operands)
                except FloatingPointError as error:
                    heard.append(str(error))
        said.append([*heard, *(str(each.message) for each in warned)])
    assert said[0] == said[1]
