"""Signs of zeros, infinities, NaN and 16-bit digits in compiled programs are NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.engine.compiled_blocks.counters import counters

PARTS = [0.0, -0.0, 0.3, -0.3, 1, -1, 2.5, -2.5, np.inf, -np.inf, np.nan]
PLANE = np.array([complex(x, y) for x in PARTS for y in PARTS])
FAR = np.array(
    [complex(x, y) for x in (1e-20, 30, 709.5, -709.5, 1e200, -1.5e308) for y in (1e-20, -0.7, 11, 1e160, 1.5e308)]
)
UNARY = """
    arccos arcsin arctan arccosh arcsinh arctanh sqrt log log2 log10 log1p exp exp2 expm1 sinh cosh tanh sin cos tan sign
    absolute reciprocal
""".split()
HALVES = np.array([0.0, -0.0, 6e-8, -6e-8, 1e-4, 0.3, -0.3, 1, -1, 2.5, 65504, -65504, np.inf, -np.inf, np.nan], "f2")
DRAWN = np.random.default_rng(0).normal(size=(2, 500)).astype("f2")


def _in_block(f: Callable[..., Any], *given: Any) -> list[Any]:
    counters.clear()
    with ad.execution("compiled"):
        for _ in range(6):  # a block is compiled when it has come often enough
            found = [np.asarray(x) for x in f(*given)]
    assert counters.elements["program"] or given[0].backend.name == "numpy"
    return found


def _in_jit(f: Callable[..., Any], *given: Any) -> list[Any]:
    return [np.asarray(x) for x in ad.jit(f)(*given)]


@pytest.fixture(params=[_in_jit, _in_block], ids=["jit", "block"])
def compiled(request: pytest.FixtureRequest, nobody_listens: None) -> Callable[..., Any]:
    return request.param


def _bits(x: Any) -> Any:
    """Return the bits, with one NaN."""
    x = np.asarray(x)
    return np.where(np.isnan(x), np.asarray(np.nan, x.dtype), x).view(f"i{x.itemsize}")


def _same_parts(got: Any, want: Any, limit: float) -> None:
    assert got.dtype == want.dtype
    for ours, theirs in ((got.real, want.real), (got.imag, want.imag)):
        np.testing.assert_allclose(ours, theirs, rtol=limit, atol=1e-300)
        known = ~np.isnan(theirs)
        np.testing.assert_array_equal(np.signbit(ours[known]), np.signbit(theirs[known]))


def _all(names: list[str]) -> Callable[[Any], tuple[Any, ...]]:
    return lambda z: tuple(getattr(np, name)(z) for name in names)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["c16", "c8"])
def test_complex_functions(backend: str, compiled: Callable[..., Any], dtype: str) -> None:
    z, f, wrong = PLANE.astype(dtype), _all(UNARY), []
    with ad.backend(backend), np.errstate(all="ignore"):
        for name, got, want in zip(UNARY, compiled(f, ad.asarray(z)), f(z)):
            try:
                _same_parts(got, want, 1e-13 if dtype == "c16" else 1e-5)
            except AssertionError as error:
                wrong.append(f"{name}: {error}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.slow
def test_large_complex_numbers(backend: str) -> None:
    f = _all(["exp", "sinh", "cosh", "tanh", "sqrt", "arctanh", "arctan", "log"])
    with ad.backend(backend), np.errstate(all="ignore"):
        for got, want in zip(_in_jit(f, ad.asarray(FAR)), f(FAR)):
            np.testing.assert_allclose(got.real, want.real, rtol=1e-12, atol=1e-305)
            np.testing.assert_allclose(got.imag, want.imag, rtol=1e-12, atol=1e-305)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_signs(backend: str, compiled: Callable[..., Any], dtype: str) -> None:
    x = np.array(PARTS, dtype)
    with ad.backend(backend), np.errstate(all="ignore"):
        (got,) = compiled(_all(["sign"]), ad.asarray(x))
    np.testing.assert_array_equal(_bits(got), _bits(np.sign(x)))


def _of_halves(x: Any, y: Any, u: Any, v: Any) -> tuple[Any, ...]:
    return np.nextafter(x, y), np.spacing(x), np.spacing(u * v), u * v * v, u * v + u


@pytest.mark.slow
def test_each_operation_on_16_bits_is_rounded(
    backend: str, compiled: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = (*map(np.ravel, np.meshgrid(HALVES, HALVES)), *DRAWN)
    chosen = ad.backend(backend)
    if backend == "torch":
        monkeypatch.setattr(chosen.transforms, "compiler", "inductor")
    with chosen, np.errstate(all="ignore"):
        found, wanted = compiled(_of_halves, *map(ad.asarray, given)), _of_halves(*given)
    for got, want in zip(found[:-1], wanted[:-1]):
        np.testing.assert_array_equal(_bits(got), _bits(want))
    # Compilers may round a product and a sum once, as for other dtypes. Those of processors with 16-bit arithmetic do.
    u, v = (x.astype(float) for x in given[2:])
    once, got = (u * v + u).astype("f2"), np.asarray(found[-1])
    np.testing.assert_array_equal(np.where(got == once, once, wanted[-1]), got)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"], indirect=True)
def test_derivatives_of_complex_functions(backend: str) -> None:
    """They are those of one call at a time, in a program and through one."""
    names, draw = [name for name in UNARY if name != "sign"], np.random.default_rng(5)
    z = ad.asarray(draw.normal(size=16) + 1j * draw.normal(size=16), backend=backend)

    def weighted(name: str) -> Callable[[Any], Any]:
        return lambda z: np.sum(np.real(getattr(np, name)(z) * (1 + 2j)))

    def slopes(z: Any) -> tuple[Any, ...]:
        return tuple(ad.grad(weighted(name))(z) for name in names)

    want = slopes(z)
    for name, ours, theirs in zip(names, ad.jit(slopes)(z), want):
        np.testing.assert_allclose(np.asarray(ours), np.asarray(theirs), rtol=1e-10, err_msg=name)

    def total(z: Any) -> Any:
        return np.sum(np.stack([weighted(name)(z) for name in names]))

    through = ad.grad(ad.jit(total))(z)
    np.testing.assert_allclose(np.asarray(through), sum(map(np.asarray, want)), rtol=1e-10)
