"""Large reductions of JAX on a CPU: in two steps where a chain of calls would be stored before it is added up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402 -- where JAX is there

import arraydispatch as ad  # noqa: E402
from arraydispatch.backends import loader  # noqa: E402
from arraydispatch.backends.jax import staged_reductions  # noqa: E402

REDUCTIONS = {
    "sum": lambda xp, x, axis: xp.sum(xp.sin(x), axis=axis),
    "integers": lambda xp, x, axis: xp.sum(x > 0.5, axis=axis),
    "product": lambda xp, x, axis: xp.prod(xp.cos(x * 0.01), axis=axis),
    "greatest": lambda xp, x, axis: xp.max(xp.sin(x), axis=axis),
    "least": lambda xp, x, axis: xp.min(xp.where(x > 0.5, x, 1), axis=axis),
    "greatest integer": lambda xp, x, axis: xp.max((xp.sin(x) * 100).astype(int), axis=axis),
    "all": lambda xp, x, axis: xp.all(xp.isfinite(xp.log1p(x)), axis=axis),
    "any": lambda xp, x, axis: xp.any(xp.sin(x) > 2, axis=axis),
    "complex": lambda xp, x, axis: xp.sum(xp.exp(1j * x), axis=axis),
    "mean": lambda xp, x, axis: xp.mean(xp.sin(x) * 2 + x, axis=axis),
    "float32": lambda xp, x, axis: xp.sum(xp.sin(x).astype(np.float32), axis=axis),
}


def _both(function: Any, x: Any) -> tuple[Any, Any]:
    compiled = jax.jit(function)
    choice = staged_reductions.choice(compiled, [jax.ShapeDtypeStruct(x.shape, x.dtype)], jax.jit)
    assert choice is not None
    return compiled, choice([x])


@pytest.mark.parametrize(
    ("shape", "axis"), [((4096,), None), ((4099,), None), ((101, 37), None), ((64, 96), 0), ((64, 96), 1), ((5, 37, 64), (0, 2))]
)  # fmt: skip
@pytest.mark.parametrize("name", REDUCTIONS)
def test_values(name: str, shape: Any, axis: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staged_reductions, "LARGE", 1 << 10)
    x = np.random.default_rng(0).random(shape)
    x.flat[1] = -0.0
    with loader.load("jax").within():
        _, other = _both(lambda a: REDUCTIONS[name](jnp, a, axis), x)
        wanted = REDUCTIONS[name](np, x, axis)
        made = other(x)
        assert made.dtype == wanted.dtype
        np.testing.assert_allclose(made, wanted, rtol=1e-5 if name == "float32" else 1e-12)


@pytest.mark.parametrize("name", ["sum", "integers", "product", "greatest", "complex"])
@pytest.mark.parametrize("length", [1 << 20, 1039 * 1033])
def test_the_chain_is_not_stored(name: str, length: int) -> None:
    x = np.random.default_rng(0).random(length)
    with loader.load("jax").within():
        before, other = _both(lambda a: REDUCTIONS[name](jnp, a, None), x)
        assert staged_reductions.temporary(before, [x]) >= x.nbytes
        assert staged_reductions.temporary(other, [x]) < x.nbytes / 3


@pytest.mark.parametrize("last", [np.nan, np.inf])
def test_sums_that_are_not_finite(last: float) -> None:
    x = np.random.default_rng(0).random(1 << 20)
    x[-7] = last
    with loader.load("jax").within(), np.errstate(invalid="ignore"):
        _, other = _both(lambda a: jnp.where(a > 0.5, a, -a).sum(), x)
        np.testing.assert_array_equal(other(x), last)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("shape", [(7,), (1000,), (4099,), (1 << 18,), (100, 1009), (20000, 8), (3, 61, 67)])
def test_extrema_are_nan_where_an_element_is(shape: Any, dtype: Any) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    x.flat[[0, x.size // 5, 2 * x.size // 5]] = np.inf, -np.inf, np.nan
    a = ad.asarray(x, backend="jax")
    for axis in (None, *range(x.ndim), *([(0, 2)] if x.ndim > 2 else [])):
        for function in (np.max, np.min):
            for host, ours in ((x, a), (np.abs(x), abs(a)), (np.nan_to_num(x), np.nan_to_num(a))):
                made = function(ours, axis=axis, keepdims=shape[0] == 3)
                np.testing.assert_array_equal(np.asarray(made), function(host, axis=axis, keepdims=shape[0] == 3))
                assert made.dtype == dtype


def test_an_inner_product() -> None:
    x = np.random.default_rng(0).random(1 << 20)
    with loader.load("jax").within():
        before, other = _both(lambda a: jnp.dot(jnp.sin(a), a), x)
        assert other is not before
        np.testing.assert_allclose(other(x), np.dot(np.sin(x), x), rtol=1e-12)


def test_what_the_library_fuses_stays() -> None:
    x = np.random.default_rng(0).random(1 << 20)
    with loader.load("jax").within():
        before, other = _both(lambda a: (a * a).sum(), x)
        assert other is before
        assert staged_reductions.choice(before, [jax.ShapeDtypeStruct((100,), x.dtype)], jax.jit) is None


def test_a_function_that_ran_is_differentiated() -> None:
    host = np.random.default_rng(0).random(1 << 20)

    def function(a: Any) -> Any:
        return np.sin(a).sum(), [np.cos(a).max()]

    with ad.backend("jax"):
        jitted, x = ad.jit(function), ad.asarray(host)
        total, (greatest,) = jitted(x)
        np.testing.assert_allclose(
            [float(total), float(greatest)], [np.sin(host).sum(), np.cos(host).max()], rtol=1e-12
        )
        slope = ad.grad(lambda a: jitted(a)[0])(x)
        np.testing.assert_allclose(np.asarray(slope), np.cos(host), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i4", "u8", "?"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all"])
def test_integers_are_reduced_in_steps(name: str, dtype: str) -> None:
    rng = np.random.default_rng(1)
    for shape, axis in (((16_411,), None), ((150, 256), 1), ((40, 37, 16), (0, 2)), ((8192, 3), 0)):
        x = rng.integers(0, 250, shape).astype(dtype)
        x.flat[[5, -7]] = (0, 1) if dtype == "?" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        for numbers in (x, x | x.dtype.type(1), x * 0):
            made, wanted = (getattr(y, name)(axis=axis) for y in (ad.asarray(numbers, backend="jax"), numbers))
            assert np.asarray(made).dtype == np.asarray(wanted).dtype
            np.testing.assert_array_equal(np.asarray(made), wanted, err_msg=f"{shape} {axis}")


def test_a_sum_of_short_integers_does_not_store_the_long_ones() -> None:
    x = jnp.ones(1 << 16, np.int8)
    kernel = loader.load("jax").REDUCE[np.add]
    with loader.load("jax").within():
        made = jax.jit(lambda x: kernel(x.astype(np.int64), (0,), False))
        assert staged_reductions.temporary(made, [x]) < 8 * x.size / 2
        assert int(made(x)) == x.size


def test_integers_in_transforms() -> None:
    x = ad.asarray(np.linspace(-1.0, 2.0, 20_000), backend="jax")
    slope = ad.grad(lambda x: np.sum(x * np.sum(x > 0)) + np.max((x * 5).astype(int)) * x[0])(x)
    wanted = np.full(20_000, float((np.asarray(x) > 0).sum()))
    wanted[0] += 10
    np.testing.assert_allclose(np.asarray(slope), wanted)
    rows = ad.asarray(np.arange(60_000).reshape(3, -1), backend="jax")
    np.testing.assert_array_equal(np.asarray(ad.vmap(np.sum)(rows)), np.asarray(rows).sum(1))
