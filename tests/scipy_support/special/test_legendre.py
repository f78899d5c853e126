"""SciPy's objects for Legendre functions and spherical harmonics on arrays: values, dtypes, shapes and errors are SciPy's."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import special

import arraydispatch as ad
from arraydispatch.array import Array
from tests.scipy_support.special.test_special import library

__all__ = ["library"]

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
    pytest.mark.compiles(3),  # each shape of a step is a program of JAX's
]

RNG = np.random.default_rng(18)
EDGES = np.array([0.0, -0.0, 1.0, -1.0, 0.5, np.nan, np.inf, -np.inf, 1e-300, 2.0, -2.0, 1 - 1e-16, -1 - 1e-15, 1e10])
INSIDE = np.sort(np.append(RNG.uniform(-1, 1, 36), [0.3, -0.3, 0.0, -1.0]))
ANGLES = np.sort(np.append(RNG.uniform(-7, 7, 28), EDGES[[0, 1, 2, 5, 6]]))
DEGREES = np.arange(-2, 7)[:, None, None]
ORDERS = np.arange(-5, 6)[:, None]
MIXED = RNG.integers(0, 25, INSIDE.size), RNG.integers(-25, 25, INSIDE.size)

ROWS: dict[str, list[tuple[Any, ...]]] = {
    "legendre_p": [(5, INSIDE), (12, INSIDE), (DEGREES, EDGES), (MIXED[0], INSIDE), (3, np.float32(INSIDE)), (-1, INSIDE), (4, np.zeros((0, 3)))],
    "sph_legendre_p": [(5, 2, ANGLES), (DEGREES, ORDERS, ANGLES), (*MIXED, INSIDE), (40, [0, 1, 20, -29], ANGLES[:, None]), (3, 4, ANGLES)],
    "sph_harm_y": [(5, 2, ANGLES, 0.3), (DEGREES, ORDERS, ANGLES, ANGLES[::-1].copy()), (2, -1, np.array(0.4), 3), (3, 2, np.float32(INSIDE), np.float32(INSIDE)), (3, 2, ANGLES, ANGLES[:, None])],
}  # fmt: skip
"""SciPy's object -> what it is called with."""


MOST = {"f": 300.0, "F": 300.0, "d": 80.0, "D": 80.0}
"""Units in the last place; of single precision, whose steps SciPy rounds one by one, more. A sine that is one off is more for the order 29."""


def _given(library: str, x: Any) -> Any:
    return ad.asarray(x, backend=library) if isinstance(x, np.ndarray) and x.dtype.kind in "fc" else x


def _distance(got: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any], beside: np.ndarray[Any, Any]) -> float:
    """In units of the last place; of a function that swings, of a thousandth of its largest value.

    ``beside``: values of the next degree. The recurrence adds both, so near a zero of one the error is of the other's size, in SciPy too.
    """
    ends = ~np.isfinite(wanted)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
    if wanted.dtype.kind == "f":
        np.testing.assert_array_equal(got[ends], wanted[ends])
    sizes = np.where(ends, 0, np.maximum(np.abs(wanted), np.nan_to_num(np.abs(beside), posinf=0.0)))
    largest = np.max(sizes, axis=-1, keepdims=True, initial=0.0) if sizes.ndim else sizes
    eps = np.finfo(wanted.dtype).eps
    scale = np.maximum(sizes, np.maximum(largest * 1e-3, np.finfo(wanted.dtype).tiny / eps))
    return float(np.max(np.where(ends, 0, np.abs(got - wanted)) / (scale * eps), initial=0.0))


@pytest.mark.parametrize("name", list(ROWS))
def test_values_dtypes_and_shapes(library: str, name: str) -> None:
    run, failures = getattr(special, name), []
    for args in ROWS[name]:
        want = run(*args)
        with ad.fallback("error"):
            got = run(*(_given(library, x) for x in args))
        try:
            assert isinstance(got, Array) and got.dtype == want.dtype and got.shape == want.shape
            distance = _distance(ad.to_numpy(got), want, run(np.add(args[0], 1), *args[1:]))
            assert distance <= MOST[want.dtype.char], f"{distance} units"
        except AssertionError as error:
            failures.append(f"{name}{args}: {error}")
    assert not failures, "\n".join(failures)


WRONG: dict[str, Callable[[Any], Any]] = {
    "a degree in floating point": lambda z: special.legendre_p(1.5, z),
    "a derivative of order 3": lambda z: special.legendre_p(2, z, diff_n=3),
    "a derivative of a negative order": lambda z: special.sph_harm_y(2, 1, z, z, diff_n=-1),
    "a complex angle": lambda z: special.sph_legendre_p(2, 1, z * 1j),
    "an option of no meaning": lambda z: special.legendre_p(2, z, foo=3),
}


def test_errors_are_scipys(library: str) -> None:
    x = _given(library, INSIDE)
    for what, call in WRONG.items():
        with pytest.raises(Exception) as wanted:
            call(INSIDE)
        with ad.fallback("silent"), pytest.raises(type(wanted.value)) as found:
            call(x)
        assert str(found.value) == str(wanted.value), what


def test_shapes_that_do_not_go_together_are_refused(library: str) -> None:
    with pytest.raises(ValueError, match="broadcast"):
        special.sph_harm_y(3, 2, _given(library, INSIDE), np.zeros(4))


def test_reports_name_the_object(library: str) -> None:
    with ad.profile() as profile:
        special.legendre_p(3, _given(library, INSIDE))
    assert {call.function for call in profile.calls()} == {"scipy.special.legendre_p"}


LEFT: dict[str, Callable[[Any], Any]] = {
    "legendre_p.*derivatives": lambda z: special.legendre_p(4, z, diff_n=1),
    "legendre_p.*degrees beyond 1000": lambda z: special.legendre_p(1001, z),
    "assoc_legendre_p.*SciPy's alone": lambda z: special.assoc_legendre_p(4, 2, z),
    "sph_harm_y_all.*SciPy's alone": lambda z: special.sph_harm_y_all(3, 2, z, z),
}


@pytest.mark.parametrize("why", list(LEFT))
def test_what_is_left_to_scipy_says_why(library: str, why: str) -> None:
    with pytest.warns(ad.HostFallbackWarning, match=why):
        made = LEFT[why](_given(library, INSIDE))
    np.testing.assert_array_equal(ad.to_numpy(made), LEFT[why](INSIDE))


def test_degrees_and_orders_that_are_arrays(library: str) -> None:
    n, m = (ad.asarray(x, backend=library) for x in MIXED)
    with ad.fallback("error"):
        made = special.sph_legendre_p(n, m, INSIDE)
        kept = special.sph_legendre_p(n, m, 0.4)
    np.testing.assert_allclose(ad.to_numpy(made), special.sph_legendre_p(*MIXED, INSIDE), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ad.to_numpy(kept), special.sph_legendre_p(*MIXED, 0.4), rtol=1e-12, atol=1e-14)


def test_degrees_that_are_not_known_are_named(library: str) -> None:
    degrees = ad.asarray(MIXED[0], backend=library)
    with ad.fallback("error"), pytest.raises(ad.HostFallbackError, match=r"sph_legendre_p.*not known yet"):
        ad.jit(lambda n: special.sph_legendre_p(n, 1, 0.3))(degrees)


def test_large_degrees_where_scipys_factors_overflow(library: str) -> None:
    mp = pytest.importorskip("mpmath")
    at = np.array([0.3, 1.1, 2.0])
    with warnings.catch_warnings(), ad.fallback("error"):
        warnings.simplefilter("error")
        made = ad.to_numpy(special.sph_legendre_p(900, 2, _given(library, at)))[0]
    true = [complex(mp.spherharm(900, 2, t, 0)).real for t in at]
    np.testing.assert_allclose(made, true, rtol=1e-11)


def test_compiled_and_with_derivatives(library: str) -> None:
    inner, t = np.linspace(-1, 1, 7), np.linspace(0, 3, 7)
    x, angles = _given(library, inner), _given(library, t)
    with ad.fallback("error"):
        many = ad.jit(lambda t: special.sph_legendre_p(DEGREES, ORDERS, t))(angles)
        slope = ad.grad(lambda t: np.sum(special.sph_legendre_p(5, 3, t)))(angles)
        slopes = [ad.grad(lambda z: np.sum(special.legendre_p(n, z)))(x) for n in (0, 1, 4)]  # noqa: B023
    np.testing.assert_allclose(ad.to_numpy(many), special.sph_legendre_p(DEGREES, ORDERS, t), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ad.to_numpy(slope), special.sph_legendre_p(5, 3, t, diff_n=1)[1], rtol=1e-12, atol=1e-14)
    wanted = [special.legendre_p(n, inner, diff_n=1)[1] for n in (0, 1, 4)]
    np.testing.assert_allclose([ad.to_numpy(x) for x in slopes], wanted, rtol=1e-12, atol=1e-12)
