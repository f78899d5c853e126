"""jit: traced once for each kind of call, its dtypes NumPy's, inside and around other transforms."""

from __future__ import annotations

import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.transforms import compilation as compiled
from arraydispatch.ufuncs.ufunc_methods import Bound
from tests.launched import Zygotes

from .conftest import Counted


def host(x):
    return np.asarray(x)


def test_the_result_is_that_of_the_function(library):
    def step(u, dt=0.1):
        v = u.copy()
        v[1:-1, 1:-1] += dt * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        v[0, ::-1] = v[-1]
        return {"v": v, "mean": v.mean(axis=0), "total": v.sum(), "n": 3, "names": ("a", None)}

    x = np.random.default_rng(0).random((8, 7))
    made, expected = ad.jit(step)(ad.asarray(x), 0.2), step(x, 0.2)
    assert list(made) == list(expected) and made["n"] == 3 and made["names"] == ("a", None)
    for name in ("v", "mean"):
        assert type(made[name]) is ad.Array and made[name].backend.name == library
        np.testing.assert_allclose(host(made[name]), expected[name], rtol=1e-14)
    assert type(made["total"]) is np.float64


def test_traced_once_for_each_kind_of_call(library):
    fun = Counted(lambda a, s=1.0, n=2: a * s + n)
    jitted = ad.jit(fun)
    x = ad.asarray([1.0, 2.0])
    for _ in range(3):
        jitted(x)
        jitted(x * 2)
    assert fun.runs == 1
    assert [host(jitted(x, s)).tolist() for s in (2.0, 3.0)] == [[4, 6], [5, 8]]
    assert fun.runs == 2
    assert [host(jitted(x, 1.0, n)).tolist() for n in (5, 6, 5)] == [[6, 7], [7, 8], [6, 7]]
    assert fun.runs == 4  # ints are part of the program
    jitted(np.ones(3))
    jitted(np.ones(3, np.float32))
    jitted([x, x][0])
    assert fun.runs == 6


def test_static_arguments(library):
    fun = Counted(lambda a, how, n=1.0: np.sum(a) * n if how == "sum" else a.mean() * n)
    x = ad.asarray([1.0, 2.0])
    for jitted in (ad.jit(fun.fun, static_argnums=1), ad.jit(fun.fun, static_argnames="how"), ad.jit(fun.fun)):
        assert jitted(x, "sum") == 3
        assert jitted(x, how="mean") == 1.5
    jitted = ad.jit(fun, static_argnums=(1, 2))
    assert [float(jitted(x, "sum", n)) for n in (1.0, 2.0, 1.0)] == [3, 6, 3]
    assert fun.runs == 2
    assert ad.jit(fun.fun, static_argnums=-1)(x, "sum", 2.0) == 6
    with pytest.raises(ValueError, match=r"static argument .* must be hashable; a list is not"):
        ad.jit(lambda a, s: a, static_argnums=1)(x, [1])
    with pytest.raises(ValueError, match="no positional argument 3"):
        ad.jit(fun.fun, static_argnums=3)
    with pytest.raises(ValueError, match="no argument 'hwo'"):
        ad.jit(fun.fun, static_argnames="hwo")


def test_as_a_decorator(library):
    @ad.jit
    def f(a):
        """Doubles."""
        return a * 2

    @ad.jit(static_argnames=("n",))
    def g(a, n):
        return a * n

    x = ad.asarray([1.0])
    assert f.__doc__ == "Doubles." and f.__name__ == "f"
    assert host(f(x)).tolist() == [2] and host(g(x, n=3)).tolist() == [3]


def test_methods_and_closures(library):
    class Model:
        def __init__(self):
            self.weights = ad.asarray([1.0, 2.0])

        def __call__(self, a):
            return np.sum(self.weights * a)

    model = Model()
    x = ad.asarray([3.0, 4.0])
    assert ad.jit(model)(x) == 11
    assert ad.jit(model.__call__)(x) == 11


@dataclass
class State:
    u: Any
    t: float
    name: str = field(default="", metadata={"static": True})


def test_pytrees_in_and_out(library):
    @ad.jit
    def step(s, extra=None):
        assert s.name == "wave" and (extra is None or extra["k"][0] == "text")
        return State(s.u * 2, s.t + 0.5, s.name), [s.u.sum(), ()]

    s, rest = step(State(ad.asarray([1.0, 2.0]), 1.0, "wave"), extra={"k": ("text", 1)})
    assert type(s) is State and s.name == "wave" and s.t == 1.5 and host(s.u).tolist() == [2, 4]
    assert rest[0] == 3 and rest[1] == ()


# -- dtypes ------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "complex64", "bool", "uint8", "float16"])
def test_dtypes_are_numpys(library, dtype):
    x = np.array([0, 1, 2]).astype(dtype)
    made = ad.jit(lambda a: (a, a + a, a * 1.5, np.sum(a), a == a))(ad.asarray(x))
    expected = (x, x + x, x * 1.5, np.sum(x), x == x)
    assert [y.dtype for y in made] == [y.dtype for y in expected]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex64", "float16"])
@pytest.mark.parametrize("number", [0.5, 2j])
def test_numbers_give_way_to_arrays(library, dtype, number):
    def f(a, s):
        return (
            a * s, s + a, np.multiply(s, a), a / (s * 2), (1 + s) ** 2 * a, -s * a, np.where(a == 1, a, s),
            np.add.outer(a, s), np.full_like(a, s.real), np.sqrt(s), abs(s) * a,
        )  # fmt: skip

    x = np.array([1, 2]).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made, expected = ad.jit(f)(ad.asarray(x), number), f(x, number)
    for got, want in zip(made, expected):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(host(got), want, rtol=1e-2 if dtype == "float16" else 1e-6)


def test_numbers_compute_as_pythons_do(library):
    x = ad.asarray(np.ones(2, np.float32))
    made = ad.jit(lambda a, s: (s * 3 + 1) / 2 - s % 2 + s // 1 + 2**s - (+s))(x, 2.5)
    s = 2.5
    assert made == (s * 3 + 1) / 2 - s % 2 + s // 1 + 2**s - s
    assert ad.jit(lambda s: (s > 1, s == s, s > 2))(2.5) == (True, True, True)


def test_precision_in_force_makes_another_program(library):
    fun = Counted(np.sin)
    jitted = ad.jit(fun)
    x = np.ones(2)
    assert jitted(x).dtype == "float64"
    with ad.precision(32):
        assert jitted(x).dtype == "float32"
    assert jitted(x).dtype == "float64"
    assert fun.runs == 2


# -- nesting -------------------------------------------------------------------------------------------------------------------


def test_jit_of_derivatives(library):
    def loss(p, x):
        y = x.copy()
        y[0] *= p["a"][1]
        return np.sum(np.sin(y * p["a"]) ** 2) * p["b"]

    p = {"a": ad.asarray([0.5, 1.5]), "b": 2.0}
    x = ad.asarray([1.0, 2.0])
    sines, value = np.sin([1.5, 6.0]), np.sum(np.sin([0.75, 3.0]) ** 2)
    gradient = {"a": 2 * np.array([1.5 * sines[0], 0.5 * sines[0] + 2 * sines[1]]), "b": value}
    for transform, expected in (
        (ad.grad, gradient), (ad.value_and_grad, (2 * value, gradient)), (ad.jacobian, gradient),
    ):  # fmt: skip
        made = ad.jit(transform(loss))(p, x)
        for got, want in zip(*(_leaves(t) for t in (made, expected)), strict=True):
            np.testing.assert_allclose(host(got), want, rtol=1e-12)
    made = ad.jit(ad.hessian(lambda a: np.sum(a**3) * a[0]))(x)
    np.testing.assert_allclose(host(made), [[12, 12], [12, 12]])


def test_derivatives_of_jit(library):
    @ad.jit
    def f(a):
        b = a * 2
        b[0] = b[1] ** 2
        return np.sum(b * a)

    x = ad.asarray([1.0, 2.0])
    np.testing.assert_allclose(host(ad.grad(f)(x)), [16, 24])
    np.testing.assert_allclose(host(ad.hessian(f)(x)), [[0, 16], [16, 12]])
    np.testing.assert_allclose(host(ad.jit(ad.grad(f))(x)), [16, 24])


def test_jit_inside_jit(library):
    inner = ad.jit(lambda a: a * 2)

    @ad.jit
    def outer(a):
        b = inner(a)
        b[0] = 0
        return inner(b)

    assert host(outer(ad.asarray([1.0, 2.0]))).tolist() == [0, 8]


def _leaves(tree):
    from arraydispatch.common.pytrees import tree_leaves

    return tree_leaves(tree)


def test_functions_raise_as_they_do(library):
    def f(a):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        ad.jit(f)(ad.asarray([1.0]))
    with pytest.raises(ValueError, match="broadcast"):
        ad.jit(lambda a: a + np.ones(3))(ad.asarray([1.0, 2.0]))
    with pytest.raises(TypeError, match="positional argument"):
        ad.jit(lambda a: a)(ad.asarray([1.0]), 2)


def test_too_many_programs_are_told_of(library, monkeypatch):
    assert compiled._MANY == 64
    monkeypatch.setattr(compiled, "_MANY", 6)
    f = ad.jit(lambda a, n: a * n)
    x = ad.asarray([1.0])
    for n in range(5):
        f(x, n)
    with pytest.warns(UserWarning, match=r"traced 6 times .* float64\[1\], 5: pass changing numbers"):
        f(x, 5)


def test_numpy_runs_as_it_is():
    runs = Counted(lambda a: a * 2 if a.sum() > 0 else a)
    f = ad.jit(runs)
    with ad.backend("numpy"):
        assert [f(np.ones(2)).tolist() for _ in range(2)] == [[2, 2]] * 2
        assert type(f(ad.wrap(np.ones(2)))) is ad.Array
    assert runs.runs == 3


@pytest.mark.slow
def test_compiled_functions_keep_their_digits(library):
    """XLA's log1p of doubles is 128 units off at -0.4, and its sinh some; torch's compiler has no digit of expm1 and arctanh near zero.

    PyTorch's sinh and cosh overflow with exp, at 709.78.
    """
    near = np.geomspace(1e-12, 0.99, 200)
    x = np.concatenate([-near[::-1], [-0.0, 0.0], near, np.linspace(-0.5, 0.5, 400), [-1, 1, np.nan]])
    ends = np.array([88.5, 88.9, 89.41, 705, 709.79, 710.4758, 710.476])
    wide = np.concatenate([x, np.geomspace(1, 700, 30), -np.geomspace(1, 1e4, 30), ends, -ends, [np.inf, -np.inf]])

    def f(a, b):
        return np.log1p(a), np.arctanh(a), np.expm1(b), np.sinh(b), np.cosh(b)

    chosen = ad.backend(library)
    if library == "torch":
        chosen.configure(compiler="inductor")
    try:
        for dtype in ("f8", "f4"):
            given = [values.astype(dtype) for values in (x, wide)]
            with np.errstate(all="ignore"):
                wanted = f(*given)
                found = [run(*map(ad.asarray, given)) for run in (f, ad.jit(f))]
            for got, want in zip([host(y) for each in found for y in each], 2 * wanted):
                finite = np.isfinite(want)
                np.testing.assert_array_equal(got[~finite], want[~finite])
                np.testing.assert_array_equal(np.signbit(got[want == 0]), np.signbit(want[want == 0]))
                np.testing.assert_array_max_ulp(got[finite], want[finite], 5)
    finally:
        if library == "torch":
            chosen.configure(compiler="eager")


@pytest.mark.parametrize(("f", "slope"), [(np.sinh, np.cosh), (np.cosh, np.sinh)])
def test_sinh_and_cosh_as_far_as_they_reach(library, f, slope):
    x = np.concatenate([np.full(40, 1.0), [709.79, 710.4758, -710.4758], np.full(40, -2.0)])
    np.testing.assert_allclose(host(f(ad.asarray(x))), f(x), rtol=1e-13)
    np.testing.assert_allclose(host(ad.grad(lambda a: np.sum(f(a)))(ad.asarray(x))), slope(x), rtol=1e-13)
    single = x.astype("f4") / 8
    np.testing.assert_allclose(host(f(ad.asarray(single))), f(single), rtol=1e-6)


def _with_nan(x):
    flipped = x[::-1]
    z = x + np.array(1j) * flipped
    return (
        np.maximum(x, flipped), np.minimum(x, flipped), np.maximum(x, 1.0), np.clip(x, 0.0, 2.0), np.clip(1.0, x, flipped),
        np.max(x), np.min(x.reshape(1, -1), axis=0, keepdims=True), np.ptp(x), np.maximum.accumulate(x), np.minimum.accumulate(x),
        np.maximum.reduceat(x, [0, 2]), np.linalg.norm(x, np.inf), np.fmax(x, flipped), np.nanmin(x), np.sort(x), np.argmin(x),
        np.hypot(x, flipped), np.abs(z), x * (x > 0), (x < 0) * z, np.max(x.astype("f4")),
    )  # fmt: skip


@pytest.mark.parametrize("x", [[1.0, np.nan, -2.0, 3.0, 5.0, 0.5], [2.0, -np.inf, np.nan, np.inf, np.inf, -1.0]])
def test_programs_keep_nan(library, x):
    """TensorFlow has XLA ignore NaN in extrema, and XLA takes a product with a truth value for a choice."""
    x = np.array(x)
    with np.errstate(all="ignore"):
        wanted = _with_nan(x)
    for got, want in zip(ad.jit(_with_nan)(ad.asarray(x)), wanted, strict=True):
        np.testing.assert_allclose(host(got), want, 1e-14)


def test_running_results_of_many_elements_compile(library):
    """XLA compiled the steps of TensorFlow's running maximum, written one after another, for minutes."""
    x = np.random.default_rng(0).random(100_000) + 0.5
    for got, want in zip(ad.jit(_running)(ad.asarray(x)), _running(x), strict=True):
        np.testing.assert_array_equal(host(got), want)
    few = x[:3000] / x[:3000].mean()
    slope = host(ad.jit(ad.grad(lambda a: np.cumprod(a)[-1]))(ad.asarray(few)))
    np.testing.assert_allclose(slope, np.prod(few) / few, rtol=1e-10)


def test_running_results_without_a_kernel_take_few_steps(library, monkeypatch):
    """A step for each element was compiled: 300 complex numbers were 300 steps."""
    steps, plain = [], Bound.__call__
    monkeypatch.setattr(
        Bound, "__call__", lambda self, *a, **named: steps.append(self.ufunc) or plain(self, *a, **named)
    )
    rng = np.random.default_rng(1)
    z = rng.integers(-9, 9, (3, 301)) + 1j * rng.integers(-9, 9, (3, 301))
    z[1, 200] = np.nan
    for got, want in zip(ad.jit(_running_without_a_kernel)(ad.asarray(z)), _running_without_a_kernel(z), strict=True):
        np.testing.assert_array_equal(host(got), want)
    assert 9 <= steps.count(np.bitwise_xor) < 64
    assert 9 <= steps.count(np.maximum) < 64


def _running_without_a_kernel(z):
    few = z.imag.astype(np.int64)
    return (
        np.maximum.accumulate(z, axis=1), np.minimum.accumulate(z[1]), np.fmax.accumulate(z.real[1]),
        np.bitwise_xor.accumulate(few, axis=1), np.logical_or.accumulate(few > 8, axis=1), np.fmin.accumulate(z[0, :1]),
    )  # fmt: skip


def _running(x):
    return np.maximum.accumulate(x), np.minimum.accumulate(x.reshape(50, -1), axis=1), np.maximum.accumulate(x > 0.6)


@pytest.mark.slow
def test_torchs_own_compiler():
    torch = pytest.importorskip("torch")
    backend = ad.backend("torch")
    backend.configure(compiler="inductor")
    try:

        def f(a, s):
            b = a.copy()
            b[1:] *= s
            return np.sum(np.sin(b) * W), b

        W = np.arange(3.0)
        x = ad.asarray([1.0, 2.0, 3.0], backend="torch")
        total, b = ad.jit(f)(x, 2.0)
        want, expected = f(x, 2.0)
        np.testing.assert_allclose(total, want)
        np.testing.assert_allclose(host(b), host(expected))
        g = ad.grad(lambda a: ad.jit(f)(a, 2.0)[0])(x)
        np.testing.assert_allclose(host(g), host(ad.grad(lambda a: f(a, 2.0)[0])(x)))
    finally:
        backend.configure(compiler="eager")
    with pytest.raises(ValueError, match="no compiler 'gcc'"):
        backend.configure(compiler="gcc")
    assert torch is not None


def test_derivatives_of_joins_in_a_program(library):
    def loss(a):
        parts = np.stack([a, a * 2], axis=-1), np.concatenate([a[:1], a, a[1:]])
        return np.sum(parts[0] ** 3) + np.sum(np.hstack(parts[1:]) ** 2) + np.sum(np.pad(a, 1, mode="edge") * a[0])

    x = ad.asarray([1.0, 2.0, 3.0])
    # Of 9 * sum(a**3) + 2 * sum(a**2) + a[0] * (2 * a[0] + a[1] + 2 * a[2]).
    gradient, hessian = [43, 117, 257], [[62, 1, 2], [1, 112, 0], [2, 0, 166]]
    np.testing.assert_allclose(host(ad.jit(ad.grad(loss))(x)), gradient, rtol=1e-12)
    np.testing.assert_allclose(host(ad.jit(ad.hessian(loss))(x)), hessian, rtol=1e-12, atol=1e-12)
    if library != "jax":  # which compiles each step by itself; the table of gradients has joins outside programs
        np.testing.assert_allclose(host(ad.grad(loss)(x)), gradient, rtol=1e-12)
        np.testing.assert_allclose(host(ad.hessian(loss)(x)), hessian, rtol=1e-12, atol=1e-12)
    states = lambda v: np.sum(ad.while_loop(lambda s: s.sum() < 1e9, lambda s: s * 2, v, [1, 3]))
    assert host(ad.jit(ad.grad(states))(x)).tolist() == [10, 10, 10]


def test_dataclasses_in_programs(library):
    @dataclass(frozen=True)
    class Model:
        w: object
        b: object
        power: int = field(default=2, metadata={"static": True})

        def __call__(self, x):
            return (x * self.w) ** self.power + self.b

    model = Model(ad.asarray([1.0, 2.0]), ad.asarray(3.0), 3)
    moved = ad.jit(lambda m: Model(m.w * 2, m.b, m.power))(model)
    assert (host(moved.w).tolist(), float(moved.b), moved.power) == ([2, 4], 3, 3)
    gradient = ad.jit(ad.grad(lambda m: m(2.0).sum()))(model)
    assert (host(gradient.w).tolist(), float(gradient.b), gradient.power) == ([24, 96], 2, 3)
    many = Model(ad.asarray([[1.0, 2.0], [3.0, 4.0]]), ad.asarray([0.0, 1.0]))
    assert host(ad.vmap(lambda m: m(1.0))(many)).tolist() == [[1, 4], [10, 17]]
    matrix, bias = ad.matrix_from_function(lambda m: m.w[::-1] * 2 + m.b + 1, model)
    assert matrix.toarray().tolist() == [[0, 2, 1], [2, 0, 1]]
    assert bias.tolist() == [1, 1]


def test_batched_hessians_in_a_program(library):
    def f(x):
        return np.sum(np.sin(x) * x[0])

    x = np.random.default_rng(0).normal(size=(4, 3))
    made = ad.jit(ad.vmap(ad.hessian(f)))(ad.asarray(x))
    assert made.shape == (4, 3, 3)
    np.testing.assert_allclose(host(made), [host(ad.hessian(f)(ad.asarray(row))) for row in x], rtol=1e-12, atol=1e-14)


def test_second_calls_of_every_kind(library):
    """A call of a kind that was met goes straight to its program: the kind is to tell all that matters apart."""
    x, y = ad.asarray([1.0, 2.0, 3.0]), ad.asarray([4.0, 5.0, 6.0])
    narrow = ad.asarray(np.array([1.0, 2.0, 3.0], np.float32))
    whole = ad.asarray([1, 2, 3])

    def f(a, b, k=2.0):
        return a * k + b

    compiled = ad.jit(f)
    for _ in range(3):
        assert compiled(x, y).tolist() == [6, 9, 12]
        assert compiled(x, y, 3.0).tolist() == [7, 11, 15]
        assert compiled(x, x, 2.0).tolist() == [3, 6, 9]
        assert compiled(x, 1.0, 1.0).tolist() == [2, 3, 4]
        assert compiled(1.0, x, 1.0).tolist() == [2, 3, 4]
        assert [compiled(narrow, narrow, 2.0).dtype, compiled(narrow, 1.0).dtype] == [np.float32, np.float32]
        assert [compiled(whole, whole, 2).dtype, compiled(whole, whole, 2.0).dtype] == [np.int64, np.float64]
        assert compiled(x[:2], y[1:]).tolist() == [7, 10]
        with ad.precision(32):
            assert compiled(x, y).dtype == np.float32
        assert compiled(x, y).dtype == np.float64
        made = ad.vmap(compiled)(x, y)
        assert made.tolist() == [6, 9, 12]
        assert compiled(a=x, b=y, k=1.0).tolist() == [5, 7, 9]
    constant = ad.jit(lambda a: np.full(3, 7.0))
    written = ad.jit(lambda a, b: a.__iadd__(b))
    total = ad.asarray([0.0, 0.0, 0.0])
    for _ in range(2):
        assert constant(x).tolist() == [7, 7, 7]
        assert written(total, x) is total
        assert float(ad.jit(np.sum)(x)) == 6
    assert total.tolist() == [2, 4, 6]
    aliased = ad.asarray([1.0, 1.0, 1.0])
    assert written(aliased, aliased).tolist() == [2, 2, 2]


def test_factors_in_a_program_are_exact(library):
    """XLA's own kernels of these end at 1e-6 of the matrix."""
    a = np.random.default_rng(3).normal(size=(13, 12))

    def factors(a):
        u, s, vh = np.linalg.svd(a, full_matrices=False)
        w, v = np.linalg.eigh(a.T @ a)
        return u * s @ vh, v * w @ v.T, np.linalg.pinv(a)

    def in_a_loop(a):
        return ad.while_loop(lambda s: s[1] < 2, lambda s: (np.linalg.pinv(s[0].T), s[1] + 1), (a, np.sum(a) * 0))[0]

    found = list(ad.jit(factors)(ad.asarray(a)))
    if library != "torch":  # whose programs have no loops
        found.append(ad.jit(in_a_loop)(ad.asarray(a)))
    for x, y in zip(found, (a, a.T @ a, np.linalg.pinv(a), a)):
        np.testing.assert_allclose(ad.to_numpy(x), y, rtol=0, atol=1e-12)


def test_functions_traced_in_several_threads(library):
    def one(i):
        with ad.backend(library):
            return ad.jit(lambda a: np.sin(a) * i)(ad.asarray([0.3, 0.7])).tolist()

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(one, range(8)))
    np.testing.assert_allclose(made, [np.sin([0.3, 0.7]) * i for i in range(8)])


def test_one_array_twice_in_a_result_is_one_array(library: str) -> None:
    def twice(x):
        y = x * 2
        return y, {"again": y, "other": y + 1}

    x = ad.asarray([1.0, 2.0])
    for transformed in (ad.jit(twice), lambda x: ad.grad(lambda x: (x.sum(), twice(x)), has_aux=True)(x)[1]):
        for _ in range(2):
            y, more = transformed(x)
            assert more["again"] is y and more["other"] is not y
            y[0] = 9
            assert np.asarray(more["again"]).tolist() == [9, 4] and np.asarray(more["other"]).tolist() == [3, 5]
    one, two = ad.vmap(lambda x: (x * 2,) * 2)(x)
    assert one is two
    one, two = ad.vmap(lambda x: (np.stack([x, x]),) * 2, out_axes=(0, 1))(x)
    one[:] = 0
    assert np.asarray(two).tolist() == [[1, 2], [1, 2]]
    rows = ad.jacobian(lambda x: (x * 2,) * 2)(x)
    assert [np.asarray(r).tolist() for r in rows] == [[[2, 0], [0, 2]]] * 2


def test_arguments_that_are_pending(backend: str, tmp_path: Path, zygotes: Zygotes) -> None:
    """Under fused execution an argument may be a call that nobody has made yet, or a part of one."""
    script = tmp_path / "main.py"
    script.write_text(
        "import numpy as np, arraydispatch as ad\ndouble = ad.jit(lambda x: np.sum(x * 2))\na = np.ones(400_000)\n"
        "for _ in range(3): print(float(double(a * 2)), float(double(a[1:])), float(double((a + 1)[2:])))\n"
    )
    done = zygotes.with_compiler(backend).run(str(script), cwd=tmp_path, options=())
    assert done.stdout == "1600000.0 799998.0 1599992.0\n" * 3, done.stderr


def test_the_compiler_of_torch_warns_nobody_of_complex_programs(monkeypatch):
    """A program that makes errors of warnings would end by what is no concern of its own."""
    lowering = pytest.importorskip("torch._inductor.lowering")
    torch = ad.backend("torch")
    monkeypatch.setattr(torch.transforms, "compiler", "inductor")
    lowering._warn_complex_not_supported.cache_clear()
    factor = complex(*np.random.default_rng().random(2))  # no earlier process has compiled it
    with torch, warnings.catch_warnings():
        warnings.simplefilter("error")
        made = ad.jit(lambda x: x * factor + x.conj())(ad.asarray([1j, 2.0]))
    np.testing.assert_allclose(np.asarray(made), np.array([1j, 2.0]) * factor + [-1j, 2.0])
