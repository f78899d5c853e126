"""Where fused execution once departed from NumPy, found by random programs: strides, casts of NaN, errors that LLVM did without."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from arraydispatch.api import creation
from arraydispatch.engine.nodes import Node

pytestmark = pytest.mark.usefixtures("fused")

SHAPES = ((3, 1), (1, 4), (2, 1, 3), (1, 3, 1), (1, 1), (1, 257), (257, 1), (2, 3, 1), (1, 2, 3))


def arr(x: Any) -> Any:
    """An array of ours, in the same order."""
    return creation.array(x, copy=True, order="K")


def both(how: Callable[..., Any], *given: np.ndarray[Any, Any]) -> tuple[Any, Any]:
    """NumPy's result and ours, as ndarrays."""
    with np.errstate(all="ignore"):
        return how(*given), how(*map(arr, given)).__array__()  # a buffer's strides of axes of one element are open


def same(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> None:
    assert (one.dtype, one.shape, one.strides) == (other.dtype, other.shape, other.strides)
    assert one.tobytes() == other.tobytes()


# -- memory ------------------------------------------------------------------------------------------------------------

CALLS: dict[str, Callable[[Any], Any]] = {
    "a sum": lambda x: x + 1,
    "with itself": lambda x: x * x,
    "a chain": lambda x: np.sqrt(x) * 2 - x,
    "a cast": lambda x: x.astype(np.float32),
    "a choice": lambda x: np.where(x > 2, x, 0.0),
    "a comparison": lambda x: ~(x > 1),
    "a roll": lambda x: np.roll(x, 1, axis=0) + 1,
}


@pytest.mark.parametrize("order", ["C", "F", "new axis", "swapped"])
@pytest.mark.parametrize("name", CALLS)
def test_axes_of_one_element_have_numpys_strides(name: str, order: str) -> None:
    for shape in SHAPES:
        x = np.arange(np.prod(shape), dtype=np.float64).reshape(shape)
        if order == "F":
            x = np.asfortranarray(x)
        elif order == "new axis":
            x = x.reshape(-1)[:, None, None]
        elif order == "swapped":
            x = x.swapaxes(0, -1)
        a = arr(x)
        if a.__array__().strides == x.strides:  # those of a buffer are open
            same(CALLS[name](x), CALLS[name](a).__array__())


@pytest.mark.parametrize("order", "CFAK")
@pytest.mark.parametrize("to", ["u4", "i4", "u8", "i8", "i2", "u1", "f4", "c16", "?"])
def test_casts_of_nan_in_another_order(to: str, order: str) -> None:
    x = np.array([[np.nan, -1.0, 3, 1e20], [np.inf, -5, 2.5, -np.inf], [1, 2, 3, -7]])
    for how in (
        lambda x: x.astype(to, order=order),
        lambda x: (x * 1).astype(to, order=order),
        lambda x: x.T.astype(to, order),
    ):
        same(*both(how, x))


# -- what is no number -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("third", [([1.0, 2.0], [3.0, 4.0]), [5.0, 6.0], ((7.0,), (8.0,))])
def test_where_of_sequences(third: Any) -> None:
    same(*both(lambda x: np.where(x > 1, x * 2, third), np.array([1.0, 2.0])))


@pytest.mark.parametrize("name", ["f8", "x"])
def test_where_takes_no_string_for_a_dtype(name: str) -> None:
    x = np.array([1.0, 2.0])
    assert np.where(arr(x) > 1, arr(x), name).tolist() == np.where(x > 1, x, name).tolist()


def test_where_of_arrays_as_a_sequence() -> None:
    x = np.array([1.0, 2.5, 3.5])
    same(*both(lambda x: np.where(x > 1, x, np.modf(x)), x))


# -- powers ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("exponent", [1, 2, -1, 0, 3, 0.5, 1.0, 2.0, -1.0])
@pytest.mark.parametrize("dtype", "efdFD")
def test_powers_are_short_where_numpys_are(dtype: str, exponent: Any) -> None:
    x = np.array([np.nan, -np.nan, -0.0, 0.0, 5, -np.inf, 2]).astype(dtype)
    same(*both(lambda x: x**exponent, x))
    same(*both(lambda x: (x + 1) ** exponent, x))


# -- errors ------------------------------------------------------------------------------------------------------------

DISCARDED: dict[str, Callable[[Any, Any], Any]] = {
    "a root, whether it is zero": lambda x, y: np.logical_not(np.sqrt(x)),
    "a root, in a choice": lambda x, y: np.logical_xor(np.abs(np.sqrt(x)), y),
    "a root's sign": lambda x, y: np.sign(np.sqrt(x)) + y,
    "the sign bit of an absolute quotient": lambda x, y: np.signbit(np.abs(x / (y - y))) | (y > 0),
    "a square, whether it is zero": lambda x, y: np.logical_and(np.square(x * 1e200), y),
    "a root, as a boolean": lambda x, y: np.sqrt(x).astype(bool) ^ (y > 0),
    "whether a root is a number": lambda x, y: np.isnan(np.sqrt(x)) | (y > 0),
    "whether a quotient is finite": lambda x, y: np.isfinite(x / (y - y)) | (y > 0),
}


def _warned(how: Callable[..., Any], *given: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        np.asarray(how(*given))
    return sorted(str(each.message) for each in said)


@pytest.mark.parametrize("name", DISCARDED)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64"])
def test_an_error_is_told_though_little_of_the_value_is_used(name: str, dtype: str) -> None:
    x = np.full(3000, -3.0).astype(dtype)
    y = np.linspace(1, 2, 3000)
    for _ in range(2):  # the second time by a kernel, where there are any
        assert _warned(DISCARDED[name], arr(x), arr(y)) == _warned(DISCARDED[name], x, y)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint16"])
def test_an_integer_too_large_for_a_half_is_told(dtype: str) -> None:
    x = np.array([1, 2, 65530]).astype(dtype)
    for how in (lambda x: x.astype(np.float16), lambda x: (x + x.dtype.type(1)).astype(np.float16)):
        assert _warned(how, arr(x)) == _warned(how, x) == ["overflow encountered in cast"]


def test_the_error_of_a_mean_is_told_once_where_the_rest_is_not_recorded() -> None:
    x = np.array([[np.inf, 65504.0, -np.inf, np.nan]], np.float32)
    a = arr(x)[::-1]
    assert _warned(np.var, a) == _warned(np.var, x[::-1]) == ["invalid value encountered in reduce"]


def test_a_maximum_into_an_array_is_not_deprecated() -> None:
    x = np.arange(4.0)
    for func in (np.maximum, np.minimum):
        assert _warned(lambda a, func=func: func(a, 2.5, out=a), arr(x)) == []
        assert _warned(lambda a, func=func: func(a, a, out=a[::-1]), arr(x)) == []


# -- functions of the user's that NumPy calls ------------------------------------------------------------------------------


def test_a_function_that_numpy_calls_is_given_arrays() -> None:
    seen: list[Any] = []

    def first(line: Any) -> Any:
        seen.append(type(line))
        line[0] = 7.0
        return line * 2

    x = np.arange(6.0).reshape(2, 3)
    a = arr(x)
    expected = np.apply_along_axis(first, 1, x)
    seen.clear()
    assert np.asarray(np.apply_along_axis(first, 1, a)).tolist() == expected.tolist()
    assert set(seen) == {type(a)}
    assert np.asarray(a).tolist() == x.tolist()  # what it writes arrives
    assert np.asarray(np.piecewise(a, [a < 6], [first, 0])).tolist() == np.piecewise(x, [x < 6], [first, 0]).tolist()


def test_nothing_here_is_left_to_numpy_by_mistake() -> None:
    assert type((arr(np.ones((3, 4))) + 1)._v) is Node
