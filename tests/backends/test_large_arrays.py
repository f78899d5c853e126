"""Kernels that a library chooses for large arrays, or by the values: NumPy's results for every dtype, layout and special value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

LARGE = (1031, 1021)
"""A shape of more than 2**20 elements, of which no part is a whole number of vectors."""
NUMBERS = "?bBhHiIlLefdFD"


def _held(x: Any, backend: str) -> Any:
    return ad.convert(ad.wrap(x), backend)


def _check(function: Any, backend: str, *arrays: Any) -> None:
    """Compare a function of arrays with NumPy's: bits, dtype, shape, and the warnings or error."""
    with np.errstate(all="ignore"):
        theirs, ours = function(*arrays), function(*(_held(x, backend) for x in arrays))
    assert np.asarray(ours).dtype == theirs.dtype
    np.testing.assert_array_equal(np.asarray(ours), theirs)
    if theirs.dtype.kind in "fc":
        np.testing.assert_array_equal(np.signbit(np.asarray(ours).real), np.signbit(theirs.real))


@pytest.mark.parametrize("dtype", "bBhHiIlL")
def test_whole_powers_of_integers(backend: str, dtype: str) -> None:
    ends = np.iinfo(dtype)
    x = np.concatenate([np.arange(-3, 120).astype(dtype), np.array([ends.min, ends.max, ends.max // 2, 3], dtype)])
    for n in (*range(18), 31):
        if n < ends.max:
            _check(lambda x, n=n: x**n, backend, x)
            _check(lambda x, n=n: np.power(x, np.array(n, dtype)), backend, x[::-2])
            _check(lambda x, n=n: x ** np.full(x.shape, n, dtype), backend, x[:0])
    for layout in (x, x[::3], x[:126].reshape(2, 63).T):
        _check(np.square, backend, layout)
    _check(lambda x: x**3 + x**2, backend, np.array(5, dtype))


def _truths(dtype: str) -> list[Any]:
    """Return arrays that decide all and any in every way."""
    made = []
    for value in (
        0,
        1,
        *((-0.0, np.nan, 1e-7) if dtype in "efdFD" else ()),
        *((1j, complex(-0.0, np.nan)) if dtype in "FD" else ()),
    ):
        for rest in (0, 1):
            for place in ((0, 0), (-1, -1)):
                x = np.full(LARGE, rest, dtype)
                x[place] = value
                made.append(x)
    return made


@pytest.mark.parametrize("dtype", NUMBERS)
def test_truth_of_large_arrays(backend: str, dtype: str) -> None:
    names = ("all", "any", "max", "min") if dtype == "?" else ("all", "any")
    for x in _truths(dtype):
        held = _held(x, backend)
        for name in names:
            ours, theirs = getattr(held, name)(), getattr(x, name)()
            assert bool(ours) is bool(theirs), name
            assert np.asarray(ours).dtype == bool


@pytest.mark.parametrize("dtype", NUMBERS)
def test_truth_along_axes(backend: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    x = (rng.random((6, 10, 14)) < 0.2).astype(dtype) * np.array(3, dtype)
    if dtype in "efdFD":
        x[0, 0, :4] = np.nan, -0.0, np.inf, 0.0
    if dtype in "FD":
        x[1, 1, :3] = 1j, complex(np.nan, 0), complex(-0.0, -0.0)
    layouts = (x, x.T, x[::2, ::-1, 1::3], np.broadcast_to(x[0], x.shape))
    for y in layouts if backend in ("numpy", "torch") else layouts[:1]:  # the others compile each of them
        for name in ("all", "any", *(("max", "min") if dtype == "?" else ())):
            for axis, keepdims in (
                (None, False),
                (0, True),
                (-1, False),
                ((0, 2), False),
                ((0, 1, 2), True),
                ((), False),
            ):
                _check(lambda y, a=axis, k=keepdims, n=name: getattr(np, n)(y, axis=a, keepdims=k), backend, y)
    for name in ("all", "any"):
        _check(lambda y, n=name: getattr(np, n)(y, axis=1), backend, x[:, :0])
        _check(lambda y, n=name: getattr(np, n)(y.conj(), axis=0), backend, x)


@pytest.mark.parametrize(
    ("dtype", "shape"), [*((t, (400, 350)) for t in "bBhHiIlLefd"), *((t, LARGE) for t in "hifd")], ids=str
)
def test_comparisons(backend: str, dtype: str, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    x = rng.integers(0, 9, shape).astype(dtype)
    y = rng.integers(0, 9, shape).astype(dtype)
    if dtype in "efd":
        x[0, :3], y[1, :3], x[-1, -3:] = (np.nan, -0.0, np.inf), (np.nan, 0.0, -np.inf), (np.nan, -0.0, -np.inf)
    orders = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)
    for ufunc in orders if shape != LARGE else (np.less, np.equal):
        for other in (5, x.dtype.type(3), 0.0 if dtype in "efd" else 0):
            _check(lambda x, o=other, f=ufunc: f(x, o), backend, x)
            _check(lambda x, o=other, f=ufunc: f(o, x), backend, x)
        for a, b in ((x, y), (x, y[0]), (y[:, :1], x), (x.T, y.T), (x, y[::-1]), (x[::2], y[::2])):
            _check(ufunc, backend, a, b)


@pytest.mark.parametrize("dtype", "efd")
@pytest.mark.parametrize("special", [[], [np.nan], [np.inf, -np.inf, -0.0, 0.0, 5e-8], [np.inf, np.nan]], ids=str)
def test_signs(backend: str, dtype: str, special: list[float]) -> None:
    x = np.random.default_rng(3).normal(size=20_001).astype(dtype)
    x[: len(special)] = special
    _check(np.sign, backend, x)
    _check(np.sign, backend, x[::-1])
    _check(np.sign, backend, x[:20_000].reshape(100, 200).T)


def _close(ours: Any, theirs: Any) -> None:
    """Compare floats to four units in the last place, and zeros with their sign."""
    ours = np.asarray(ours)
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
    np.testing.assert_array_equal(np.isnan(ours), np.isnan(theirs))
    usual = np.isfinite(theirs)
    np.testing.assert_array_equal(ours[~usual], theirs[~usual])
    assert np.all(np.abs(ours[usual] - theirs[usual]) <= 4 * np.spacing(np.abs(theirs[usual])))
    np.testing.assert_array_equal(np.signbit(ours[ours == 0]), np.signbit(theirs[ours == 0]))


@pytest.mark.parametrize("dtype", "efd")
@pytest.mark.parametrize("ufunc", [np.cbrt, np.arcsinh, np.arccosh, np.expm1, np.log1p], ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", [20, 3000])
def test_functions_of_many_reals(backend: str, ufunc: Any, dtype: str, size: int) -> None:
    x = np.random.default_rng(4).normal(size=size).astype(dtype) * np.array(3, dtype)
    x[:8] = 0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, np.finfo(dtype).max
    with np.errstate(all="ignore"):
        for y in (x, x[::2], x.reshape(2, -1).T, x[::-1]):
            _close(ufunc(_held(y, backend)), ufunc(y))
        out, ours = np.empty_like(x), _held(np.empty_like(x), backend)
        ufunc(_held(x, backend), out=ours)
        _close(ours, ufunc(x, out=out))
        held = _held(x.copy(), backend)
        ufunc(held, out=held)
        _close(held, out)


def test_a_function_of_many_reals_warns(backend: str) -> None:
    x = _held(np.full(3000, 0.5), backend)
    with pytest.warns(RuntimeWarning, match="invalid value encountered in arccosh"):
        np.arccosh(x)
    with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
        np.arccosh(x)


@pytest.mark.parametrize("dtype", "FD")
def test_angles_of_complex_numbers(backend: str, dtype: str) -> None:
    rng = np.random.default_rng(5)
    z = (rng.normal(size=(150, 200)) + 1j * rng.normal(size=(150, 200))).astype(dtype)
    z[0, :5] = 0, complex(-0.0, 0.0), complex(-0.0, -0.0), complex(np.inf, -np.inf), complex(np.nan, 1)
    for y in (z, z.T, z[:, ::2], z[::-1], z.conj()):
        _close(np.angle(_held(y, backend)), np.angle(y))
        _close(np.arctan2(_held(y, backend).imag, _held(y, backend).real), np.arctan2(y.imag, y.real))


def test_angles_keep_the_order_of_the_axes() -> None:
    pytest.importorskip("torch", reason="inapplicable: torch is not installed")
    columns = ad.asarray(np.asfortranarray(np.ones((150, 200), complex)), backend="torch")
    assert np.angle(columns).flags.f_contiguous


@pytest.mark.parametrize("dtype", "?bHilLfdD")
def test_masks_and_places(backend: str, dtype: str) -> None:
    rng = np.random.default_rng(6)
    x, mask = rng.integers(0, 100, (160, 130)).astype(dtype), rng.random((160, 130)) < 0.4
    for a, m in ((x, mask), (x.T, mask.T), (x[::-1], mask), (x, mask[::-1, ::-1]), (x, mask & False), (x, mask[:, 0])):
        _check(lambda a, m: a[m], backend, a, m)
    ascending, repeated = np.flatnonzero(mask), rng.integers(0, 500, 9000)
    for places in (ascending, ascending[::-1], repeated, np.sort(repeated)):
        values = rng.integers(0, 100, places.size).astype(dtype)

        def written(a: Any, at: Any, values: Any) -> Any:
            a = a.copy()
            a[at] = values
            return a

        _check(written, backend, x.ravel(), places, values)
    _check(lambda a, m: np.piecewise(a, [m, ~m], [lambda v: v, lambda v: v + v]), backend, x, mask)


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_transforms_of_what_is_chosen_by_the_values(backend: str) -> None:
    pytest.importorskip(backend, reason=f"inapplicable: {backend} is not installed")
    numbers = np.linspace(0.5, 9, 20_000)
    x = ad.asarray(numbers, backend=backend)
    mask = numbers > 3
    for body, slope in (
        (lambda x: np.cbrt(x).sum(), 1 / (3 * np.cbrt(numbers) ** 2)),
        (lambda x: np.arcsinh(x).sum(), 1 / np.sqrt(numbers**2 + 1)),
        (lambda x: np.expm1(x).sum(), np.exp(numbers)),
        (lambda x: np.arctan2(x, 2.0).sum(), 2 / (numbers**2 + 4)),
        (lambda x: (x[np.asarray(mask)] * 2).sum(), 2.0 * mask),
        (lambda x: (np.sign(x) * x).sum(), np.ones_like(numbers)),
        (lambda x: (np.square(x) * np.any(x > 100)).sum() + x.sum(), np.ones_like(numbers)),
    ):
        np.testing.assert_allclose(np.asarray(ad.grad(body)(x)), slope, rtol=1e-12)
    rows = ad.asarray(numbers.reshape(4, -1), backend=backend)
    for ufunc in (np.cbrt, np.arcsinh, np.sign, lambda x: np.any(x > 5), lambda x: np.all(x > 1), lambda x: x < 3):
        got, wanted = ad.vmap(ufunc)(rows), np.stack([ufunc(row) for row in numbers.reshape(4, -1)])
        np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-14)
    whole = ad.asarray(np.arange(20_000, dtype=np.int32), backend=backend)
    np.testing.assert_array_equal(np.asarray(ad.vmap(lambda x: x**3)(whole)), np.arange(20_000, dtype=np.int32) ** 3)


@pytest.mark.compiles(3)
def test_programs_of_what_is_chosen_by_the_values(backend: str) -> None:
    numbers = np.linspace(-9, 9, 20_000)

    def body(x: Any) -> Any:
        return np.cbrt(x) + np.sign(x) * np.any(x > 8) + np.arctan2(x, x + 1) + (x < 3) + np.square(x)

    got = ad.jit(body)(_held(numbers, backend))
    np.testing.assert_allclose(np.asarray(got), body(numbers), rtol=1e-13, atol=1e-14)
