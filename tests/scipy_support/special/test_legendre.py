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
OUTSIDE = 1 / INSIDE[INSIDE != 0]
PLANE = RNG.uniform(-3, 3, 20) + 1j * RNG.uniform(-3, 3, 20)
LINE = np.array([0.5, -0.5, 2.0, -2.0, 1j, -1j, 0.0]) + np.array([[0j], [complex(0, -0.0)]])
ANGLES = np.sort(np.append(RNG.uniform(-7, 7, 28), EDGES[[0, 1, 2, 5, 6]]))
DEGREES = np.arange(-2, 7)[:, None, None]
ORDERS = np.arange(-5, 6)[:, None]
MIXED = RNG.integers(0, 25, INSIDE.size), RNG.integers(-25, 25, INSIDE.size)

Row = tuple[tuple[Any, ...], dict[str, Any]]


def _rows(*operands: tuple[Any, ...], **options: Any) -> list[Row]:
    return [(each, {"diff_n": d, **options}) for each in operands for d in (0, 1, 2)]


def _associated(*operands: tuple[Any, ...], plane: Any) -> list[Row]:
    ways = [{"norm": norm, "branch_cut": cut} for norm in (False, True) for cut in (2, 3)]
    found = [(each, {"diff_n": d, **way}) for each in operands for d, way in zip((0, 2, 1, 2), ways)]
    found += [(each, {"diff_n": d, **way}) for each in plane for d, way in zip((2, 1, 0, 1), ways)]
    return [*found, *(((*each[:-1], OUTSIDE), {"diff_n": 1, **way}) for each in operands[-1:] for way in ways)]


ROWS: dict[str, list[Row]] = {
    "legendre_p": _rows((5, INSIDE), (DEGREES, EDGES), (MIXED[0], INSIDE), (3, np.float32(INSIDE)), (-1, INSIDE), (4, [0, 1])),
    "legendre_p_all": _rows((6, EDGES), (30, INSIDE), (5, PLANE), (0, INSIDE), (2, np.zeros((0, 3))), (3, np.float32(INSIDE))),
    "assoc_legendre_p": [
        *_associated((7, -3, INSIDE), (DEGREES, ORDERS, EDGES), (*MIXED, INSIDE), (6, 2, INSIDE), plane=[(5, -3, PLANE), (5, ORDERS[:, None], LINE)]),
        ((4, 1, INSIDE), {"branch_cut": np.where(INSIDE > 0.2, 3, 2)}),
        ((4, -2, np.float32(INSIDE)), {}),
        ((4, 2, np.array([-1.0, 1, 0.5, -1j])), {"norm": True}),
        ((4, 2, np.array([-1j, 0.5])), {"diff_n": 2}),
        ((150, [0, 1, 40, 149, -150, 151], INSIDE[:, None]), {"norm": True}),
    ],
    "assoc_legendre_p_all": [*_associated((6, 8, EDGES), (20, 20, INSIDE), (5, 3, INSIDE), plane=[(4, 3, PLANE), (4, 3, LINE)])],
    "sph_legendre_p": _rows((5, 2, ANGLES), (DEGREES, ORDERS, ANGLES), (400, [0, 1, 150, -399], ANGLES[:, None])),
    "sph_legendre_p_all": _rows((3, 4, np.linspace(-3, 3, 2100)),(6, -8, ANGLES), (12, 10, ANGLES), (3, 2, np.float32(ANGLES))),
    "sph_harm_y": _rows((5, 2, ANGLES, 0.3), (DEGREES, ORDERS, ANGLES, ANGLES[::-1].copy()), (2, -1, np.array(0.4), 3), (3, 2, np.float32(INSIDE), np.float32(INSIDE))),
    "sph_harm_y_all": _rows((5, 4, ANGLES, ANGLES[::-1].copy()), (3, 4, ANGLES[:5], ANGLES[:, None]), (3, 2, np.float32(INSIDE), 0.3)),
}  # fmt: skip
"""SciPy's object -> what it is called with."""


MOST = {"f": 300.0, "F": 300.0, "d": 64.0, "D": 64.0}
"""Units in the last place; of single precision, whose steps SciPy rounds one by one, more. A sine that is one off is more at 400 degrees."""


def _given(library: str, x: Any) -> Any:
    return ad.asarray(x, backend=library) if isinstance(x, np.ndarray) and x.dtype.kind in "fc" else x


def _distance(got: np.ndarray[Any, Any], wanted: np.ndarray[Any, Any]) -> float:
    """In units of the last place; of a function that swings, of a thousandth of its largest value."""
    ends = ~np.isfinite(wanted)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
    if wanted.dtype.kind == "f":
        np.testing.assert_array_equal(got[ends], wanted[ends])
    sizes = np.where(ends, 0, np.abs(wanted))
    largest = np.max(sizes, axis=-1, keepdims=True, initial=0.0) if sizes.ndim else sizes
    eps = np.finfo(wanted.dtype).eps
    scale = np.maximum(sizes, np.maximum(largest * 1e-3, np.finfo(wanted.dtype).tiny / eps))
    return float(np.max(np.where(ends, 0, np.abs(got - wanted)) / (scale * eps), initial=0.0))


@pytest.mark.parametrize("name", list(ROWS))
def test_values_dtypes_and_shapes(library: str, name: str) -> None:
    run, failures = getattr(special, name), []
    for args, options in ROWS[name]:
        wanted = run(*args, **options)
        with ad.fallback("error"):
            found = run(*(_given(library, x) for x in args), **options)
        if not any(isinstance(_given(library, x), Array) for x in args):
            continue
        pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
        try:
            for got, want in pairs:
                assert isinstance(got, Array) and got.dtype == want.dtype and got.shape == want.shape
                distance = _distance(ad.to_numpy(got), want)
                assert distance <= MOST[want.dtype.char], f"{distance} units"
        except AssertionError as error:
            failures.append(f"{name}{args}, {options}: {error}")
    assert not failures, "\n".join(failures)


WRONG: dict[str, Callable[[Any], Any]] = {
    "a degree in floating point": lambda z: special.legendre_p(1.5, z),
    "a negative degree": lambda z: special.legendre_p_all(-1, z),
    "a negative order": lambda z: special.assoc_legendre_p_all(2, -1, z),
    "an order in floating point": lambda z: special.sph_legendre_p_all(2, 1.5, z),
    "an array for a degree": lambda z: special.assoc_legendre_p_all(np.array(2), 1, z),
    "a derivative of order 3": lambda z: special.legendre_p(2, z, diff_n=3),
    "a derivative of a negative order": lambda z: special.sph_harm_y(2, 1, z, z, diff_n=-1),
    "a complex angle": lambda z: special.sph_legendre_p(2, 1, z * 1j),
    "an option of no meaning": lambda z: special.legendre_p(2, z, foo=3),
    "a norm that is neither": lambda z: special.assoc_legendre_p(2, 1, z, norm=2),
    "shapes that do not go together": lambda z: special.sph_harm_y_all(3, 2, z, np.zeros(4)),
}


def test_errors_are_scipys(library: str) -> None:
    x = _given(library, INSIDE)
    for what, call in WRONG.items():
        with pytest.raises(Exception) as wanted:
            call(INSIDE)
        with ad.fallback("error"), pytest.raises(type(wanted.value)) as found:
            call(x)
        assert str(found.value) == str(wanted.value), what


def test_reports_name_the_object(library: str) -> None:
    with ad.profile() as profile:
        special.legendre_p(3, _given(library, INSIDE))
    assert {call.function for call in profile.calls()} == {"scipy.special.legendre_p"}


def test_what_is_left_to_scipy_says_why(library: str) -> None:
    z = _given(library, np.array([1.0 + 0j, 0.5]))
    with pytest.warns(ad.HostFallbackWarning, match=r"assoc_legendre_p_all.*derivatives at 1 and -1 as complex"):
        made = special.assoc_legendre_p_all(2, 2, z, diff_n=1)
    np.testing.assert_array_equal(
        ad.to_numpy(made), special.assoc_legendre_p_all(2, 2, np.array([1.0 + 0j, 0.5]), diff_n=1)
    )
    with pytest.warns(ad.HostFallbackWarning, match=r"legendre_p.*degrees beyond 1000"):
        special.legendre_p(1001, _given(library, INSIDE))


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


@pytest.mark.filterwarnings("ignore:Torchinductor does not support code generation for complex:UserWarning")
def test_compiled_and_with_derivatives(library: str) -> None:
    inner = np.linspace(-1, 1, 7)
    x, angles = _given(library, inner), _given(library, np.linspace(0, 3, 7))
    with ad.fallback("error"):
        made = ad.jit(lambda z: special.assoc_legendre_p_all(4, 3, z, diff_n=1))(x)
        waves = ad.jit(lambda t: special.sph_harm_y(3, 1, t, t, diff_n=1)[1])(angles)
        many = ad.jit(lambda t: special.sph_harm_y(DEGREES, ORDERS, t, 0.3))(angles)
        slopes = [ad.grad(lambda z: np.sum(special.assoc_legendre_p(4, m, z)))(x) for m in (0, 2, -2, 3)]  # noqa: B023
        slope = ad.grad(lambda t: np.sum(special.sph_legendre_p(5, 3, t)))(angles)
    np.testing.assert_allclose(
        ad.to_numpy(made), special.assoc_legendre_p_all(4, 3, inner, diff_n=1), rtol=1e-12, atol=1e-14
    )
    t = np.linspace(0, 3, 7)
    np.testing.assert_allclose(ad.to_numpy(waves), special.sph_harm_y(3, 1, t, t, diff_n=1)[1], rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ad.to_numpy(many), special.sph_harm_y(DEGREES, ORDERS, t, 0.3), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ad.to_numpy(slope), special.sph_legendre_p(5, 3, t, diff_n=1)[1], rtol=1e-12, atol=1e-14)
    wanted = [special.assoc_legendre_p(4, m, inner, diff_n=1)[1] for m in (0, 2, -2, 3)]
    np.testing.assert_allclose([ad.to_numpy(x) for x in slopes], wanted, rtol=1e-12, atol=1e-12)
