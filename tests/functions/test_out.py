"""``out=`` of functions, over dtypes of operand and result: what NumPy casts freely, and what it refuses."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

OPERANDS = {
    "float64": np.array([[0.6, 0.6, 2.7], [1.5, -3.2, 2.0]]),
    "float32": np.array([[0.6, 0.6, 2.7], [1.5, 4.2, 2.0]], np.float32),
    "int64": np.array([[200, 3, 1], [4, 5, 600]]),
    "int8": np.array([[100, 3, 1], [100, 5, -6]], np.int8),
    "complex128": np.array([[1.6 + 2j, 3], [4, 5.5j]]),
    "bool": np.array([[True, False], [True, True]]),
}
RESULTS = ("float64", "float32", "int64", "int32", "uint8", "complex128", "bool")
FUNCTIONS = (
    "sum prod cumsum cumprod trace mean max min any all ptp std var median nansum nanprod nancumsum nanmax nanmin nanmean "
    "nanvar argmax argmin nanargmax"
).split()


def run(function: str, x: Any, out: Any, options: dict[str, Any]) -> Any:
    try:
        result = getattr(np, function)(x, out=out, **options)
    except (TypeError, ValueError) as error:
        return TypeError if isinstance(error, TypeError) else ValueError
    assert result is out
    return np.asarray(out)


@pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::numpy.exceptions.ComplexWarning")
@pytest.mark.compiles(3)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_are_cast_into_out_as_numpy_casts_them(
    backend: str, function: str, drawn: Callable[..., list[Any]]
) -> None:
    compared = 0
    taken = drawn(OPERANDS.values(), backend, len(OPERANDS))
    for x, to in itertools.product(taken, drawn(RESULTS, backend, 3)):
        for options in ({}, {"axis": 0}, {"dtype": "f8"}) if function != "trace" else ({}, {"dtype": "f8"}):
            try:
                shape = np.shape(getattr(np, function)(x, **options))
            except TypeError:
                continue
            expected = run(function, x, np.ones(shape, to), options)
            with ad.backend(backend), ad.fallback("silent"):
                found = run(function, ad.asarray(x), ad.asarray(np.ones(shape, to)), options)
            where = f"{function} of {x.dtype} with {options} into {to}"
            if isinstance(expected, type):
                assert found is expected, where
            else:
                np.testing.assert_allclose(found, expected, 1e-6, err_msg=where)
            compared += 1
    assert compared or len(taken) < len(OPERANDS)  # some functions refuse one of them, whatever is asked for


REFUSED: dict[str, Callable[[Any, Any], Any]] = {
    "dot of another dtype": lambda x, new: np.dot(x, x.T, out=new(np.zeros((2, 2), "f4"))),
    "dot of another order": lambda x, new: np.dot(x, x.T, out=new(np.zeros((2, 2), order="F"))),
    "dot of another shape": lambda x, new: np.dot(x, x.T, out=new(np.zeros((2, 5)))),
    "matmul": lambda x, new: np.matmul(x, x.T, out=new(np.zeros((2, 2), int))),
    "round": lambda x, new: np.round(x, out=new(np.zeros((2, 3), int))),
    "clip": lambda x, new: np.clip(x, 0, 1, out=new(np.zeros((2, 3), int))),
    "ptp": lambda x, new: np.ptp(x, 0, out=new(np.zeros(3, int))),
    "outer": lambda x, new: np.outer(x[0], x[0], out=new(np.zeros((3, 3), int))),
    "fix": lambda x, new: np.fix(x, out=new(np.zeros((2, 3), int))),
    "quantile": lambda x, new: np.quantile(x, 0.3, 0, out=new(np.zeros(3, int))),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_numpy_refuses_to_write_raises_its_type_of_error(backend: str, name: str) -> None:
    x = OPERANDS["float64"]
    with pytest.raises((TypeError, ValueError)) as expected:
        REFUSED[name](x, np.asarray)
    with ad.backend(backend), ad.fallback("silent"), pytest.raises((TypeError, ValueError)) as found:
        REFUSED[name](ad.asarray(x), ad.asarray)
    assert type(found.value) is type(expected.value)
