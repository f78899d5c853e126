"""Bits, not tolerances: ``+ - * /``, roots, remainders, running sums, short sums of products have NumPy's very bits.

And what divides a sum that is exact. On the CPU. XLA multiplies by the reciprocal of what is broadcast where it is not kept from it, Grappler by that of a
constant, Eigen's reciprocal of float32 and MKL's square root are approximations.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import arraydispatch as ad
from tests.backends.support import need

Drawn = Callable[..., list[Any]]
LIBRARIES = [name for name in ad.available_backends() if name != "numpy"]
FLOATS = ("float32", "float64")
half_on_jax = pytest.mark.compiles(2)
"""JAX compiles a program for each shape and dtype of each; half of them are others in the next run."""


def arrays(dtype: str) -> dict[str, Any]:
    rng = np.random.default_rng(8)
    numbers = {
        "a": rng.normal(size=(97, 131)) * 10.0 ** rng.integers(-6, 7, (97, 131)),
        "b": rng.normal(size=(97, 131)) * 3,
        "row": rng.normal(size=(1, 131)),
        "column": rng.normal(size=(97, 1)),
        "one": rng.normal(),
        "p": rng.random((97, 131)) + 0.01,
        "line": rng.random(1000) + 0.1,
        "even": np.arange(131) * 0.5,
    }
    return {name: np.asarray(x, dtype) for name, x in numbers.items()} | {"s": np.dtype(dtype).type(1.7)}


def bits(x: Any) -> Any:
    """The bits of a floating result, one NaN for all; of anything else the values."""
    x = np.asarray(x)
    if x.dtype.kind == "c":
        x = np.stack([x.real, x.imag])
    if x.dtype.kind != "f":
        return x
    return np.where(np.isnan(x), np.array(np.nan, x.dtype), x).view(f"u{x.dtype.itemsize}")


def differences(expression: str, ours: Any, theirs: Any) -> list[str]:
    """What is wrong with a result, in words."""
    found = []
    for one, other in zip(*((r if isinstance(r, tuple) else (r,)) for r in (ours, theirs)), strict=True):
        if np.asarray(one).dtype != np.asarray(other).dtype:
            found.append(f"{expression} is of {np.asarray(one).dtype}, NumPy's of {np.asarray(other).dtype}")
        elif (wrong := bits(one) != bits(other)).any():
            found.append(f"{expression}: {wrong.mean():.1%} of the elements have other bits")
    return found


def check_bits(expression: str, ours: Any, theirs: Any) -> None:
    assert not differences(expression, ours, theirs)


OPERATORS = [
    "a + b", "a - b", "a * b", "a / b", "a + row", "a - column", "a * row", "a / row", "a / column", "row / column",
    "column / row", "a / one", "one / a", "a / s", "s / a", "a + 0.1", "a - 3.7", "a * 3.7", "a / 3", "a / 3.7",
    "3.7 / a", "a / np.float64(3.7)", "1 / p", "np.sqrt(p)", "np.sqrt(p.T)", "np.sqrt(p[::2, ::3])", "1 / np.sqrt(p)",
    "np.reciprocal(p)", "a // b", "a // row", "a // 0.1", "a % b", "a % column", "a % 0.1", "7.1 % p", "np.fmod(a, b)",
    "np.fmod(a, 0.3)", "divmod(a, b)", "divmod(a, 0.3)", "np.divmod(7.3, p)", "np.degrees(b)", "np.radians(b)",
    "np.rad2deg(b)", "np.deg2rad(b)", "np.around(b, 2)", "np.gradient(b, 0.1)", "np.gradient(b, 0.1, edge_order=2)",
    "np.gradient(b, 3, axis=1)", "np.gradient(b, even, axis=1)", "np.gradient(b, even, axis=1, edge_order=2)",
    "np.linspace(one, row[0], 57)", "np.linspace(one, 7, 57, endpoint=False)", "np.linspace(row[0], b[0], 20, axis=1)",
    "np.linspace(one, s, 11, retstep=True)", "np.divide(a, b, out=np.ones_like(a), where=b > 0)",
    "np.true_divide.outer(row[0], column[:, 0])", "np.divide(a, 3, dtype=np.float64)",
]  # fmt: skip


@half_on_jax
@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_operators(name: str, dtype: str, drawn: Drawn) -> None:
    numbers = arrays(dtype)
    ours, found = _wrapped(name, numbers), []
    for expression in drawn(OPERATORS, name, 4):
        with np.errstate(all="ignore"):
            want = eval(expression, {"np": np, **numbers})
            found += differences(expression, eval(expression, {"np": np, **ours}), want)
    assert not found


@half_on_jax
@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 9, 63, 64, 65, 1000, 70_000])
def test_square_roots_and_quotients_of_any_length(name: str, size: int) -> None:
    for dtype in FLOATS:
        x = (np.random.default_rng(size).random(size) * 100).astype(dtype)
        a = ad.convert(ad.wrap(x), name)
        check_bits("sqrt", np.sqrt(a), np.sqrt(x))
        check_bits("/ 3", a / 3, x / 3)
        check_bits("1 /", 1 / a, 1 / x)


@pytest.mark.parametrize("name", LIBRARIES)
def test_integers_divided(name: str, drawn: Drawn) -> None:
    rng = np.random.default_rng(9)
    for dtype in drawn(("int8", "int16", "int32", "int64", "uint8", "uint64"), name, 3):
        x, y = (rng.integers(1, 100, (50, 60)).astype(dtype) for _ in range(2))
        a, b = (ad.convert(ad.wrap(v), name) for v in (x, y))
        for expression in ("x / y", "x / 7", "x / y[0]", "7 / x", "x / 0.3", "np.mean(x, axis=0)", "x / y[:, :1]"):
            want = eval(expression, {"np": np, "x": x, "y": y})
            check_bits(f"{dtype}: {expression}", eval(expression, {"np": np, "x": a, "y": b}), want)


@pytest.mark.parametrize("name", LIBRARIES)
def test_doubles_cast_to_float16_are_rounded_once(name: str) -> None:
    rng = np.random.default_rng(12)
    halfway = (rng.integers(0, 2048, 3000) + 0.5) / 1024 * (1 + 1e-12 * rng.integers(-1, 2, 3000))
    others = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, -65519.999999, 65520.0, 2.9802322387695313e-08, 5.96e-8]
    x = np.concatenate([halfway, -halfway * 2.0**-24, rng.normal(size=1000) * 1e4, others])
    a = ad.convert(ad.wrap(x), name)
    with np.errstate(all="ignore"):
        check_bits("astype", a.astype("f2"), x.astype("f2"))
        check_bits("astype of a complex", (a + 0j).real.astype("f2"), (x + 0j).real.astype("f2"))
        ours, theirs = ad.convert(ad.wrap(np.zeros(x.size, "f2")), name), np.zeros(x.size, "f2")
        ours[:], theirs[:] = a, x
        check_bits("assignment", ours, theirs)
        check_bits(
            "sqrt", np.sqrt(np.abs(a), dtype="f2", casting="unsafe"), np.sqrt(np.abs(x), dtype="f2", casting="unsafe")
        )


@pytest.mark.parametrize("name", ["jax", "torch", "tensorflow"])
def test_casts_to_float16_have_a_derivative(name: str) -> None:
    need(name)
    x = ad.asarray(np.array([0.3, 1.7, -2.1]), backend=name)
    slope = ad.grad(lambda v: (v.astype("f2").astype("f8") * 3).sum())(x)
    np.testing.assert_array_equal(np.asarray(slope), [3.0, 3.0, 3.0])


@pytest.mark.parametrize("name", LIBRARIES)
def test_complex_by_a_real_number(name: str) -> None:
    rng = np.random.default_rng(10)
    for dtype in ("complex64", "complex128"):
        z = (rng.normal(size=500) + 1j * rng.normal(size=500)).astype(dtype)
        a = ad.convert(ad.wrap(z), name)
        for expression in ("z / 3", "z / 0.7", "z * 3", "z + 0.7", "z - 1"):
            check_bits(f"{dtype}: {expression}", eval(expression, {"z": a}), eval(expression, {"z": z}))


def _spread(plate: Any, steps: int) -> None:
    """Heat in a plate with fixed edges, in alternating directions: each half step is implicit along one, by elimination.

    What each line of the equations is divided by is kept once for all columns, and the next time for each of them.
    """
    n = len(plate)
    k = n * n / steps / 9
    for turn, u in enumerate([plate, plate.T] * steps):
        over, known = np.zeros_like(u[:, 1 : 2 if turn // 2 % 2 else n - 1]), np.zeros_like(u[:, 1:-1])
        known[0] = u[0, 1:-1]
        for i in range(1, n - 1):
            pivot = 1 + 2 * k - k * over[i - 1]
            beside = k * u[i, :-2] + (1 - 2 * k) * u[i, 1:-1] + k * u[i, 2:]
            over[i] = k / pivot
            known[i] = (beside + k * known[i - 1]) / pivot
        for i in range(n - 2, 0, -1):
            u[i, 1:-1] = over[i] * u[i + 1, 1:-1] + known[i]


@pytest.mark.parametrize("name", LIBRARIES)
def test_sweeps_of_elimination(name: str, drawn: Drawn) -> None:
    """Each quotient goes into the next: one wrong bit would be in all that follows."""
    for dtype in drawn(FLOATS, name, 2):
        theirs = (np.add.outer(np.arange(6), -np.arange(6) / 5.0) ** 2 / 31).astype(dtype)
        ours = ad.convert(ad.wrap(theirs.copy()), name)
        for x in (theirs, ours):
            _spread(x, 2)
        check_bits(dtype, ours, theirs)
        assert np.isfinite(theirs).all() and len(np.unique(theirs)) > 25


# Means of whole numbers whose sums are exact in any order; rows and columns sum to a multiple of their length.
AVERAGES = [
    "np.mean(w)", "np.mean(w, axis=0)", "np.mean(w, axis=1)", "w.mean(1)", "np.nanmean(w, axis=0)",
    "np.mean(w, axis=1, where=m)", "np.average(w, axis=0)", "np.average(w, axis=1, weights=k)",
    "np.average(w, weights=np.ones_like(w))", "np.nanmean(np.where(m, w, np.nan), axis=0)", "np.var(v, axis=1)",
    "np.var(v, axis=1, ddof=1)", "np.std(v, axis=1)", "np.std(v)", "np.nanvar(v, axis=1, ddof=1)", "np.nanstd(v, axis=1)",
    "np.median(w, axis=0)", "np.linalg.norm(w, axis=1)", "np.linalg.norm(w)", "np.cov(v)[0, 0]",
    "np.mean(w, axis=0, keepdims=True)",
]  # fmt: skip


@half_on_jax
@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_averages_of_exact_sums(name: str, dtype: str, drawn: Drawn) -> None:
    rng = np.random.default_rng(11)
    whole = rng.integers(-50, 50, (23, 47))
    mirrored = np.concatenate([whole, -whole], axis=1)  # its mean is 0
    numbers = {
        "w": whole.astype(dtype),
        "v": mirrored.astype(dtype),
        "k": rng.integers(1, 9, 47).astype(dtype),
        "m": rng.random((23, 47)) < 0.6,
    }
    ours, found = _wrapped(name, numbers), []
    for expression in drawn(AVERAGES, name, 4):
        want = eval(expression, {"np": np, **numbers})
        found += differences(expression, eval(expression, {"np": np, **ours}), want)
    assert not found


def _wrapped(name: str, numbers: dict[str, Any]) -> dict[str, Any]:
    return {key: ad.convert(ad.wrap(x), name) if isinstance(x, np.ndarray) else x for key, x in numbers.items()}


# -- running sums, and sums of few products --------------------------------------------------------------------------------

RUNNING = [
    "np.cumsum(x)", "np.cumsum(x, axis=0)", "np.cumsum(x, axis=1)", "np.cumprod(y, axis=1)", "np.cumprod(y[0])",
    "np.add.accumulate(x, axis=1)", "np.multiply.accumulate(y, axis=0)", "np.nancumsum(x, axis=1)", "np.cumsum(ones)",
    "np.cumulative_sum(x, axis=1, include_initial=True)", "np.cumsum(-np.zeros_like(x), axis=1)", "ones.cumsum()",
    "np.cumsum(x.T, axis=0)", "np.cumsum(x[::-1, ::2], axis=1)", "np.cumprod(np.full_like(y, np.nan), axis=1)",
]  # fmt: skip


def _running_operands(dtype: Any) -> dict[str, Any]:
    rng = np.random.default_rng(12)
    x = rng.normal(size=(3, 700))
    if dtype.kind == "c":
        x = x + 1j * rng.normal(size=x.shape)
    return {"x": x.astype(dtype), "y": (1 + x / 100).astype(dtype), "ones": np.ones(5000, dtype)}


@half_on_jax
@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"])
def test_running_sums_are_rounded_at_each_step(name: str, dtype: str, drawn: Drawn) -> None:
    numbers = _running_operands(np.dtype(getattr(ml_dtypes, dtype, dtype)))
    ours, found = _wrapped(name, numbers), []
    for expression in drawn(RUNNING, name, 4):
        if dtype.startswith("complex") and ("prod" in expression or "multiply" in expression):
            continue  # products of complex numbers are sums, contracted in other ways
        with np.errstate(all="ignore"):
            want = eval(expression, {"np": np, **numbers})
            got = eval(expression, {"np": np, **ours})
        if dtype == "bfloat16":
            want, got = np.asarray(want).astype(np.float32), np.asarray(got).astype(np.float32)
        found += differences(f"{expression} of {dtype}", got, want)
    assert not found


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_running_sums_under_jit(dtype: str, drawn: Drawn) -> None:
    need("jax")
    import jax

    numbers = _running_operands(np.dtype(dtype))
    with jax.enable_x64(True):
        _check_compiled("jax", jax.jit, numbers, drawn(RUNNING, one_of=3))
        slope = jax.grad(lambda x: np.sum(np.cumsum(ad.wrap(x)) * 2).native)(jax.numpy.ones(4))
    np.testing.assert_array_equal(slope, [8, 6, 4, 2])


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("axis", [0, 1, None])
def test_16_bit_sums_are_of_32_bits(name: str, axis: int | None, drawn: Drawn) -> None:
    rng = np.random.default_rng(13)
    shapes = (5, 600), (600, 5), (40, 70)
    for dtype, shape in drawn(itertools.product((np.float16, ml_dtypes.bfloat16), shapes), name, 3):
        x = rng.normal(size=shape).astype(dtype)
        a = ad.convert(ad.wrap(x), name)
        limits = ml_dtypes.finfo(dtype)
        for got, want in (
            (np.sum(a, axis=axis), x.astype(float).sum(axis=axis)),
            (np.prod(1 + a[:9, :9] / 64, axis=axis), (1 + x[:9, :9] / dtype(64)).astype(float).prod(axis=axis)),
        ):
            off = np.abs(np.asarray(got).astype(float) - want) / np.abs(want)
            assert off.max() < float(limits.eps) * 0.6, (dtype, shape)


def _levi_civita() -> Any:
    e = np.zeros((3, 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        e[i, j, k], e[i, k, j] = 1, -1
    return e


@pytest.mark.parametrize("name", LIBRARIES)
@pytest.mark.parametrize("n", [1, 3, 50, 5000])
def test_sums_of_few_products_cancel_where_numpys_do(name: str, n: int) -> None:
    rng = np.random.default_rng(n)
    x, y = rng.normal(size=(2, n)) * 1e3
    p, q, t = np.stack([x, y], 1), np.stack([y, -x], 1), rng.normal(size=(n, 3)) * 1e3
    turn, e, m = np.array([[y[0], -x[0]], [1, 1]]), _levi_civita(), rng.normal(size=(n, 3, 3))
    same = np.repeat(p[:1], n, 0)
    calls: list[tuple[Any, ...]] = [
        ("ij,ij->i", p, q), ("nij,nj->ni", np.stack([p, q], 1), q), ("nij,njk->nik", np.stack([p, q], 1), np.stack([q, p], 2)),
        ("ij,nj->ni", turn, same), ("ij,jn->in", turn, same.T.copy()), ("ijk,j,nk->ni", e, t[0], t[:1] * x[:, None]),
        ("ijk,nj,nk->ni", e, t, t * 2), ("ni,ij,nj->n", t, e[0], t), ("ni,nij,nj->n", t, m, t), ("ij,jk,kl->il", t, m[0], e[1]),
        ("i,i->", p[0], q[0]), ("nii->n", m), ("ij,ij->", p[:40], q[:40]), ("ni,ni->n", t + 1j * t, t - 1j),
    ]  # fmt: skip
    found = []
    for subscripts, *operands in calls:
        want = np.einsum(subscripts, *operands)
        got = np.einsum(subscripts, *[ad.convert(ad.wrap(v), name) for v in operands])
        found += differences(f"{subscripts} of {n}", np.asarray(got) + 0.0, want + 0.0)
        turned = np.arctan2(np.asarray(got).real, -1.0) - np.arctan2(want.real, -1.0)
        assert np.abs(turned).max() < 1e-12
    assert not found


def test_a_sum_of_products_is_the_librarys_where_it_must_be() -> None:
    need("tensorflow")
    import tensorflow as tf

    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = np.einsum("ij,ij->i", ad.wrap(x[None]), ad.wrap(x[None])).native
    np.testing.assert_array_equal(tape.gradient(total, x), [2, 4])
    need("torch")
    import torch

    y = torch.tensor([1.0, 2.0], requires_grad=True)
    np.einsum("i,i->", ad.wrap(y), ad.wrap(y)).native.backward()
    np.testing.assert_array_equal(y.grad, [2, 4])
    need("jax")
    import jax

    z = jax.numpy.asarray([1.0, 2.0])
    np.testing.assert_array_equal(jax.grad(lambda v: np.einsum("i,i->", ad.wrap(v), ad.wrap(v)).native)(z), [2, 4])


# -- inside the libraries' own compilers ---------------------------------------------------------------------------------

# No product meets a sum in these: XLA contracts `a * b + c` to one rounding, which no barrier prevents.
TRACED = [
    "a / 3", "a / 3.7", "a / row", "a / column", "a / one", "3.7 / a", "a / b / p", "a / (b / p)", "a / np.sqrt(p)",
    "1 / np.sqrt(p)", "1 / (1 / p)", "a / 7.7 * 3.3", "a * 3.3 / 7.7", "a * 3.3 * 7.7", "a + 3.3 + 7.7", "a - 3.3 - 7.7",
    "3.3 / (7.7 / a)", "a / 3 / 7", "a // 0.1", "a % 0.1", "np.reciprocal(p)", "np.sqrt(p)", "np.sqrt(p * p)",
    "np.degrees(b)", "np.around(b, 2)", "a / np.full(a.shape, 3.3, a.dtype)",
    "a / np.exp2(np.zeros_like(a))", "np.float64(3.3) * a * 7.7",
]  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
def test_under_jit(dtype: str) -> None:
    need("jax")
    import jax

    numbers = arrays(dtype)
    with jax.enable_x64(True):
        _check_compiled("jax", jax.jit, numbers)


@pytest.mark.parametrize("backend", LIBRARIES)
def test_under_vmap(backend: str) -> None:
    """What divides every example is broadcast where they are many, and XLA would multiply by its reciprocal."""
    x = arrays("float64")["a"]
    ways: dict[str, Callable[[Any], Any]] = {
        "number": lambda r: r / 3.0,
        "line": lambda r: r / (np.arange(131) + 1.5),
        "of 1": lambda r: 1.5 / r,
        "mean": lambda r: np.mean(r[:3]),
        "round": lambda r: np.round(r, 1),
        "remainder": lambda r: r % 0.7,
    }
    for name, f in ways.items():
        theirs = np.stack([f(r) for r in x])
        for transform in (ad.vmap, lambda f: ad.jit(ad.vmap(f))):
            ours = np.asarray(transform(f)(ad.asarray(x, backend=backend)))
            assert ours.tobytes() == theirs.tobytes(), name


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("xla", [False, True])
def test_in_a_graph(dtype: str, xla: bool) -> None:
    need("tensorflow")
    import tensorflow as tf

    # Grappler takes `a + 3.3 + 7.7` for `a + (3.3 + 7.7)`, and rows likewise: docs/reference/accuracy.md says how to stop it.
    tf.config.optimizer.set_experimental_options({"arithmetic_optimization": False})
    try:
        _check_compiled("tensorflow", lambda f: tf.function(f, jit_compile=xla, autograph=False), arrays(dtype))
    finally:
        tf.config.optimizer.set_experimental_options({"arithmetic_optimization": True})


def test_quotients_in_a_graph_as_it_comes() -> None:
    need("tensorflow")
    import tensorflow as tf

    divisions = [expression for expression in TRACED if "*" not in expression and "+" not in expression]
    _check_compiled("tensorflow", lambda f: tf.function(f, autograph=False), arrays("float32"), divisions)


def _check_compiled(name: str, compiler: Any, numbers: dict[str, Any], expressions: list[str] = TRACED) -> None:
    ours = _wrapped(name, {key: x for key, x in numbers.items() if isinstance(x, np.ndarray)})
    found = []
    for expression in expressions:
        # One argument for each array: what is closed over is a constant.
        code = compile(expression, expression, "eval")
        used = [key for key in ours if key in code.co_names]
        scalars = {"np": np, "s": numbers.get("s")}

        def traced(*values: Any, code: Any = code, used: Any = used, scalars: Any = scalars) -> Any:
            return eval(code, {**scalars, **dict(zip(used, values, strict=True))}).native

        def run(*values: Any, traced: Any = traced) -> Any:
            return traced(*map(ad.wrap, values))

        with np.errstate(all="ignore"):
            want = eval(code, {**scalars, **numbers})
        found += differences(expression, np.asarray(compiler(run)(*(ours[key].native for key in used))), want)
    assert not found


def test_a_quotient_can_still_be_transformed() -> None:
    need("jax")
    import jax

    def quotient(x: Any, y: Any) -> Any:
        return (ad.wrap(x) / ad.wrap(y) / 3.0).native

    with jax.enable_x64(True):
        x, y = jax.numpy.arange(1.0, 4.0), jax.numpy.float64(2.0)
        np.testing.assert_allclose(jax.grad(lambda x, y: quotient(x, y).sum(), (0, 1))(x, y)[1], -6 / 4 / 3)
        np.testing.assert_allclose(jax.hessian(lambda y: quotient(x, y).sum())(y), 6 * 2 / 8 / 3)
        np.testing.assert_allclose(jax.vmap(quotient, (None, 0))(x, x), np.arange(1, 4) / np.arange(1, 4)[:, None] / 3)
        np.testing.assert_allclose(jax.jvp(quotient, (x, y), (x, y))[1], 0, atol=1e-16)


def test_a_quotient_in_a_graph_for_xla_has_a_gradient() -> None:
    need("tensorflow")
    import tensorflow as tf

    @tf.function(jit_compile=True, autograph=False)
    def slope(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(y)
            total = np.sum(ad.wrap(x) / ad.wrap(y) / 3.0).native
        return tape.gradient(total, y)

    x, y = tf.constant([1.0, 2.0, 3.0], tf.float64), tf.constant(2.0, tf.float64)
    np.testing.assert_allclose(slope(x, y), -6 / 4 / 3)


def test_a_root_whose_gradient_is_recorded_is_torchs_own() -> None:
    need("torch")
    import torch

    x = torch.rand(5, dtype=torch.float64, requires_grad=True)
    np.sum(np.sqrt(ad.wrap(x))).native.backward()
    np.testing.assert_allclose(x.grad, 0.5 / np.sqrt(x.detach().numpy()))
    y = torch.rand(5, dtype=torch.float64)
    np.testing.assert_allclose(torch.func.vmap(lambda v: np.sqrt(ad.wrap(v)).native)(y), np.sqrt(y.numpy()))


@pytest.mark.parametrize("dtype", ["d", "f", "e"])
def test_parts_of_numbers_are_exact_for_subnormal_ones_too(backend: str, dtype: str) -> None:
    """Which libraries take for zero."""
    least = np.finfo(dtype).smallest_subnormal
    x = np.array(
        [0.0, -0.0, 1.0, -3.7, np.inf, -np.inf, np.nan, least, -5 * least, np.finfo(dtype).tiny, np.finfo(dtype).max],
        dtype,
    )
    fraction, exponent = np.frexp(ad.asarray(x, backend=backend))
    expected = np.frexp(x)
    np.testing.assert_array_equal(ad.to_numpy(fraction), expected[0], strict=True)
    np.testing.assert_array_equal(ad.to_numpy(exponent), expected[1], strict=True)
    np.testing.assert_array_equal(np.signbit(ad.to_numpy(fraction)), np.signbit(expected[0]))


@pytest.mark.parametrize("name", [*LIBRARIES, "numpy"])
def test_reduceat_leaves_a_single_element_as_it_is(name: str) -> None:
    """``hypot`` of one number would be its absolute value, and the sum of one negative zero a positive one."""
    x = np.array([[-3.0, -0.0, 2.0], [1.5, -0.0, -4.0]])
    ufuncs = np.hypot, np.add, np.multiply, np.subtract, np.maximum, np.logaddexp, np.logical_and
    with ad.backend(name):
        for ufunc, axis in itertools.product(ufuncs, (0, 1)):
            theirs = ufunc.reduceat(x, [1, 0, 1], axis=axis)
            ours = np.asarray(ufunc.reduceat(ad.asarray(x), [1, 0, 1], axis=axis))
            assert ours.dtype == theirs.dtype
            single = np.take(ours, [0], axis), np.take(theirs, [0], axis)
            assert single[0].tobytes() == single[1].tobytes(), ufunc
            np.testing.assert_allclose(ours, theirs, 1e-12)
