"""jit: traced once, writes and identity kept, and values that are not known named with their line."""

from __future__ import annotations

import contextlib
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad
from arraydispatch.transforms import compiled
from tests.launched import Zygotes


def host(x):
    return np.asarray(x)


class Counted:
    """A function that counts how often it runs."""

    def __init__(self, fun):
        self.fun, self.runs = fun, 0

    def __call__(self, *args, **kwargs):
        self.runs += 1
        return self.fun(*args, **kwargs)


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
    with pytest.raises(ValueError, match=r"static argument .* has to be hashable; a list is not"):
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


# -- writes ------------------------------------------------------------------------------------------------------------------


def test_written_arguments_come_back_written(library):
    @ad.jit
    def advance(u, v, n):
        u[1:] += v[0]
        v.T[...] = 5
        return n * 2

    u, v, w = ad.asarray([1.0, 2.0, 3.0, 4.0]), ad.asarray([[10.0, 1.0]]), np.ones((1, 2))
    view = u[:3]
    for _ in range(2):
        advance(view, v[0], 1.0)
        advance(u[3:], w[0], 1.0)
    assert host(u).tolist() == [1, 17, 18, 4]
    assert host(v).tolist() == [[5, 5]] and w.tolist() == [[5, 5]]


def test_an_argument_returned_is_the_callers_own(library):
    x = ad.asarray([1.0, 2.0])

    @ad.jit
    def f(a, b):
        a[0] = b
        return a, [a], a * 1

    for value in (7.0, 8.0):
        made = f(x, value)
        assert made[0] is x and made[1][0] is x and made[2] is not x
        assert host(x)[0] == value
    made[2][0] = 0
    assert host(x)[0] == 8


def test_one_array_passed_twice_is_one_array(library):
    @ad.jit
    def f(a, b):
        a[0] = 5
        return np.sum(b)

    x = ad.asarray([1.0, 2.0])
    assert f(x, x) == 7
    assert host(x).tolist() == [5, 2]
    assert f(x.copy(), ad.asarray([1.0, 1.0])) == 2


def test_two_views_of_one_memory_are_refused_if_one_is_written(library):
    x = ad.asarray([1.0, 2.0, 3.0])
    with pytest.raises(ad.TraceError, match="shares memory"):
        ad.jit(lambda a, b: a.fill(0))(x, x[1:])
    assert host(x).tolist() == [1, 2, 3]
    ad.jit(lambda a, b: a.fill(0))(x[:1], x[1:])
    assert host(x).tolist() == [0, 2, 3]


def test_read_only_arguments_refuse(library):
    x = np.ones(2)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        ad.jit(lambda a: a.fill(0))(x)


def test_shapes_are_not_changed_in_place(library):
    def f(a):
        a.shape = (2, 1)

    with pytest.raises(ad.TraceError, match="changes the shape or the dtype"):
        ad.jit(f)(ad.asarray([1.0, 2.0]))


def test_donated_buffers_are_not_read_again(library):
    @ad.jit
    def f(a):
        z = np.zeros(3, like=a)
        y = a * z
        z[0] = a[0]
        return y + z

    np.testing.assert_allclose(host(f(ad.asarray([1.0, 2.0, 3.0]))), [1, 0, 0])


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


# -- constants -----------------------------------------------------------------------------------------------------------------


def test_numpy_constants_are_computed_once(library):
    table = np.arange(4.0)
    runs = Counted(np.cumsum)

    @ad.jit
    def f(a):
        kernel = runs(np.sin(table))  # NumPy's own, while tracing
        assert type(kernel) is np.ndarray
        return a * kernel

    for _ in range(4):
        made = f(ad.asarray(np.ones(4)))
    assert runs.runs == 1
    np.testing.assert_allclose(host(made), np.cumsum(np.sin(table)))


def test_constants_are_what_they_were(library):
    w = ad.asarray([0.0, 2.0])
    w[0] = 1  # its buffer is the array's own now, and may be reused by the next write
    f = ad.jit(lambda a: a * w)
    x = ad.asarray([1.0, 1.0])
    assert host(f(x)).tolist() == [1, 2]
    w[0] = 9
    assert host(f(x)).tolist() == [1, 2]


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
    from arraydispatch.trees import tree_leaves

    return tree_leaves(tree)


# -- refusals --------------------------------------------------------------------------------------------------------------------


def _halve(a):
    while a.sum() > 1:
        a = a / 2
    return a


LOOKS = {
    "if": (lambda a: a if a.sum() > 0 else -a, r"bool\(\).*np.where.*ad.while_loop"),
    "while": (_halve, r"bool\(\).*ad.while_loop"),
    "float": (lambda a: float(a[0]), r"float\(\).*ad.host_call"),
    "int": (lambda a: int(a[0]), r"int\(\).*static_argnums"),
    "index": (lambda a: a[a[0].astype(int)] if False else [1][a[0].astype(int)], r"an index.*static_argnums"),
    "range": (lambda a: list(range(a[0].astype(int))), r"an index.*static_argnums"),
    "zeros": (lambda a: np.zeros(a[0].astype(int)), r"an index.*static_argnums"),
    "full": (lambda a: np.full((2, np.argmax(a)), 1.0), r"an index.*static_argnums"),
    "format": (lambda a: "%d" % a[0].astype(int), r"int\(\).*static_argnums"),  # noqa: UP031 - what a user may write
    "item": (lambda a: a.max().item(), r"item\(\)"),
    "tolist": (lambda a: a.tolist(), r"tolist\(\)"),
    "asarray": (np.asarray, "ndarray"),
    "written": (lambda a: np.zeros(2).__setitem__(slice(None), a), "ndarray.*np.zeros_like"),
    "mask": (lambda a: a[a > 1], "the shape of a result is a value.*np.where.*size="),
    "lstsq": (
        lambda a: np.linalg.lstsq(np.stack([a, a**2]), a)[0],
        r"the rank that np.linalg.lstsq finds.*np.linalg.pinv\(a\) @ b",
    ),
    "nonzero": (np.nonzero, "the shape of a result is a value.*size="),
    "unique": (np.unique, "a value is needed"),
    "repeat": (lambda a: np.repeat(a, a.astype(int)), "a value is needed"),
    "host": (lambda a: np.sum(a, dtype="longdouble"), r"np.sum runs on the host.*ad.host_call"),
}


@pytest.mark.parametrize("look", LOOKS)
def test_values_that_are_not_known(library, look):
    fun, said = LOOKS[look]
    x = ad.asarray([1.0, 2.0])
    with pytest.raises(ad.TraceError, match=said) as caught:
        ad.jit(fun)(x)
    assert "which ad.jit traces" in str(caught.value)
    assert "test_jit.py:" in str(caught.value)
    assert look in ("while", "asarray", "nonzero", "unique") or "<lambda>()" in str(caught.value)
    assert isinstance(caught.value, TypeError)


def _raised_where_large(a):
    a[a > 1] += 5
    return np.sum(a**2)


INSIDE = {
    "mask": (_raised_where_large, r"np.where.*ad.masked"),
    "lstsq": (
        lambda a: np.sum(np.linalg.lstsq(np.stack([a, a**2]), a)[0]),
        r"np.linalg.pinv\(a\).*ad.host_call.*ad.custom_gradient",
    ),
    "if": (lambda a: a[0] if a[0] > 0 else a[1], r"np.where.*ad.while_loop"),
    "float": (lambda a: a[0] * float(a[1]), r"keep it an array.*ad.host_call.*ad.custom_gradient"),
}


@pytest.mark.parametrize("look", INSIDE)
def test_derivatives_inside_programs_are_of_unknown_values(look, library):
    """The way out of the program is told: what helps a derivative alone (``ad.stop_gradient``) knows no value here."""
    fun, said = INSIDE[look]
    for transform, x in ((ad.jit, [1.0, 2.0]), (ad.vmap, [[1.0, 2.0], [2.0, 3.0]])):
        if transform is ad.vmap and (look, library) == ("lstsq", "jax"):
            continue  # a batch of values has ranks
        with pytest.raises(ad.TraceError, match=said) as caught:
            transform(ad.grad(fun))(ad.asarray(x))
        said_ = str(caught.value)
        assert f"which ad.{transform.__name__} traces" in said_
        assert "test_jit.py:" in said_
        assert "would cut" not in said_


def test_fits_in_programs(library):
    """The rank, which decides about a warning only, is not known there."""
    x, y = np.linspace(-1, 2, 6), np.array([[1.0, 2.0], [0.5, 3.0], [2.0, 1.0], [4.0, 0.0], [3.0, 3.0], [5.0, 1.5]])
    w = np.array([1.0, 2.0, 1.0, 0.5, 1.0, 1.0])
    got = ad.jit(
        lambda x, y, w: (np.polyfit(x, y, 2, w=w), np.polyfit(x, y[:, 0], 3), np.polyfit([0, 1, 2], y[:3, 1], 1))
    )(x, y, w)
    for a, b in zip(got, (np.polyfit(x, y, 2, w=w), np.polyfit(x, y[:, 0], 3), np.polyfit([0, 1, 2], y[:3, 1], 1))):
        np.testing.assert_allclose(a, b, 1e-9, 1e-12)

    def loss(y):
        return np.sum(np.polyfit(x, y, 2) ** 2)

    wanted = [(loss(y[:, 0] + e) - loss(y[:, 0] - e)) / 2e-6 for e in 1e-6 * np.eye(6)]
    np.testing.assert_allclose(ad.jit(ad.grad(loss))(y[:, 0]), wanted, 1e-6)
    np.testing.assert_allclose(ad.vmap(ad.grad(loss))(y.T)[0], wanted, 1e-6)
    with pytest.raises(ad.TraceError, match="the rank"):
        ad.jit(lambda y: np.polyfit(y, y, 2, full=True))(y[:, 0])


def test_leaking_writes_are_refused(library):
    outside, log = ad.asarray([0.0, 0.0]), np.zeros(2)

    def f(a):
        outside[0] = a[0]

    def g(a):
        log[0] = a[0]

    def h(a):
        outside[0] += 1  # staged as well: it would happen once, or at each call?
        return a

    x = ad.asarray([1.0])
    for leak in (f, g, h):
        with pytest.raises(ad.TraceError, match=r"test_jit.py:\d+"):
            ad.jit(leak)(x)
    assert host(outside).tolist() == [0, 0] and log.tolist() == [0, 0]


def test_what_is_left_behind_is_an_error_where_it_is_used(library):
    kept = []

    def f(a):
        kept.extend([a, a * 2, a[1:], np.sum(a)])
        return a * 3

    x = ad.asarray([1.0, 2.0])
    uses = [
        lambda v: v + 1,
        np.asarray,
        np.sum,
        lambda v: v.native,
        lambda v: ad.jit(lambda a: a * v)(x),
        lambda v: x * v,
    ]
    for transformed in (ad.jit(f), ad.vmap(lambda a: f(np.stack([a, a])))):
        kept.clear()
        transformed(x)
        for value in kept:
            assert "left behind" in repr(value)
            for use in uses:
                with pytest.raises(
                    ad.TraceError, match=r"traced in .*test_jit.py:\d+\) is used at .*test_jit.py:\d+.* after"
                ):
                    use(value)
    with pytest.raises(ad.TraceError, match="is used at"):
        kept[1][0] = 5.0
    assert host(x * 2).tolist() == [2, 4]


def test_what_a_derivative_leaves_behind(library):
    kept = []

    def f(a):
        kept.append(a * 2)
        return np.sum(kept[-1] ** 2)

    x = ad.asarray([1.0, 2.0])
    assert host(ad.grad(f)(x)).tolist() == [8, 16]
    with pytest.raises(ad.TraceError, match=r"is used at .*test_jit.py:\d+.*has_aux"):
        kept[-1] + 1
    assert host(ad.grad(lambda a: np.sum(ad.grad(f)(a) * kept[-1].shape[0]))(x)).tolist() == [16, 16]


def test_what_nested_and_failing_transforms_leave_behind(library):
    kept = []

    def f(a):
        kept.append({"it": (a * 2, np.sum(a))})
        return np.sum(a**2)

    def fails(a):
        f(a)
        raise KeyError("mine")

    x = ad.asarray([[1.0, 2.0], [3.0, 4.0]])
    runs = [
        lambda: ad.grad(lambda x: np.sum(ad.vmap(f)(x)))(x),
        lambda: ad.grad(ad.jit(f))(x),
        lambda: ad.vmap(ad.grad(f))(x),
        lambda: ad.hessian(f)(x),
        lambda: ad.grad(fails)(x),
        lambda: ad.jit(fails)(x),
    ]
    for run in runs:
        kept.clear()
        with contextlib.suppress(KeyError):
            run()
        for value in kept[-1]["it"]:
            for use in (np.asarray, lambda v: v + 1, np.sin):
                with pytest.raises(ad.TraceError, match=r"is used at .*test_jit.py:\d+"):
                    use(value)


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
    with pytest.warns(UserWarning, match=r"traced 6 times .* float64\[1\], 5: numbers that change"):
        f(x, 5)


def test_numpy_runs_as_it_is():
    runs = Counted(lambda a: a * 2 if a.sum() > 0 else a)
    f = ad.jit(runs)
    with ad.backend("numpy"):
        assert [f(np.ones(2)).tolist() for _ in range(2)] == [[2, 2]] * 2
        assert type(f(ad.wrap(np.ones(2)))) is ad.Array
    assert runs.runs == 3


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


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.complex128, bool])
def test_writes_to_most_of_an_array(library, dtype):
    """In a program they are another operation than writes to a part, with the same values and derivatives."""
    rng = np.random.default_rng(7)
    x = (rng.normal(size=(5, 6)) * 9).astype(dtype)

    def writes(a, b):
        out = [a.copy() for _ in range(5)]
        out[0][1:-1, 1:-1] = b[2:, 2:]
        out[1][:, 2:] = b[:1, 2:]
        out[2][...] = b
        out[3][:4] = True
        out[4][::-1][1:, ::-1] = b[1:]
        return out

    expected = writes(x, x[::-1].copy())
    for made, want in zip(ad.jit(writes)(ad.asarray(x), ad.asarray(x[::-1].copy())), expected):
        assert made.dtype == want.dtype
        np.testing.assert_array_equal(host(made), want)
    if dtype is np.float64:
        odd = np.where(rng.random((5, 6)) < 0.3, np.nan, np.where(x > 5, np.inf, x))
        for made, want in zip(ad.jit(writes)(ad.asarray(odd), ad.asarray(-odd)), writes(odd, -odd)):
            np.testing.assert_array_equal(host(made), want)

        def total(a, b):
            return sum(np.sum(np.sin(part) * k) for k, part in enumerate(writes(a, b), 1))

        # Which element of a and of b each element of the results is, told by numbers that are their places.
        places, wanted = np.arange(60.0).reshape(2, 5, 6) + 10, np.zeros((2, 30))
        for k, (place, part) in enumerate(zip(writes(*places), expected), 1):
            moved = place != 1
            np.add.at(wanted.reshape(-1), place[moved].astype(int) - 10, k * np.cos(part[moved]))
        for made, want in zip(ad.jit(ad.grad(total, (0, 1)))(ad.asarray(x), ad.asarray(x[::-1].copy())), wanted):
            np.testing.assert_allclose(host(made), want.reshape(5, 6), rtol=1e-12, atol=1e-12)
        many = ad.vmap(lambda a: writes(a, a * 2)[0])(ad.asarray(np.stack([x, 2 * x])))
        np.testing.assert_allclose(host(many)[1], writes(2 * x, 4 * x)[0])


@pytest.mark.parametrize("number", [0.1, -0.0, np.nan])
def test_numbers_of_writes_to_most_of_an_array(library, number):
    """They decide what is written, and not where: whatever their value, what lies outside stays."""
    x = np.random.default_rng(8).normal(size=(5, 6))

    def steps(u, k, c):
        for i in range(3):
            u[1:-1, 1:-1] += k * (u[2:, 1:-1] + u[:-2, 1:-1] - (2 + i) * c * u[1:-1, 1:-1])
        return u

    expected = steps(x.copy(), number, 0.5)
    made = ad.jit(steps)(ad.asarray(x.copy()), number, ad.asarray(0.5))
    np.testing.assert_allclose(host(made), expected, rtol=1e-12)
    many = ad.vmap(lambda k: steps(ad.asarray(x.copy()), k, 0.5)[1:4:2])(ad.asarray(np.array([number, 0.25])))
    np.testing.assert_allclose(host(many)[0], expected[1:4:2], rtol=1e-12)
    if np.isfinite(number):
        slope = ad.jit(ad.grad(lambda k, u: np.sum(steps(u.copy(), k, 0.5))))(number, ad.asarray(x))
        by = 1e-6
        near = [np.sum(steps(x.copy(), number + way * by, 0.5)) for way in (1, -1)]
        np.testing.assert_allclose(host(slope), (near[0] - near[1]) / (2 * by), rtol=1e-5)


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


V = np.array([0.3, 0.7, 0.5, 0.9, 0.2])
MASK = V > 0.4


def _tripled(x):
    x = x.copy()
    x[MASK] = x[MASK] * 3
    return x


def _doubled_rows(x):
    both = np.stack([x, 2 * x])
    both[:, MASK] = both[..., MASK][::-1]
    both[1, [True, False, False, False, True]] = 7.0
    return both


BY_MASK = {
    "read": lambda x: x[MASK],
    "write": _tripled,
    "in place": lambda x: np.add(x[MASK], 1),
    "rows": _doubled_rows,
    "matrix": lambda x: np.outer(x, x)[np.eye(5) > 0],
    "list": lambda x: x[[True, False, True, True, False]],
    "new axis": lambda x: x[None, MASK],
    "none": lambda x: x[np.zeros(5, bool)],
}


def _slope(f):
    """The gradient of the sum of squares at V: by steps so small, and imaginary, that nothing is rounded."""
    return [np.sum(f(V + step) ** 2).imag / 1e-30 for step in 1e-30j * np.eye(len(V))]


@pytest.mark.parametrize("name", BY_MASK)
def test_masks_whose_values_are_known(library, name):
    """NumPy's masks and lists of bools are constants of the program: how many there are is known."""
    f = BY_MASK[name]
    expected = f(V)
    x = ad.asarray(V)
    np.testing.assert_allclose(host(ad.jit(f)(x)), expected)
    np.testing.assert_allclose(host(ad.vmap(f)(ad.asarray(np.stack([V, V])))[1]), expected)
    gradient, slope = ad.grad(lambda a: np.sum(f(a) ** 2)), _slope(f)
    np.testing.assert_allclose(host(ad.jit(gradient)(x)), slope)
    np.testing.assert_allclose(host(ad.vmap(gradient)(ad.asarray(np.stack([V, V])))[1]), slope)
    if library != "jax" or name == "write":  # JAX would compile as many programs again, one for each operation
        np.testing.assert_allclose(host(gradient(x)), slope)


COUNTS, PLACES = np.array([1, 0, 2, 3, 1]), np.array([0, 3])


def _shaped(x):
    square = np.outer(x, x)
    return {
        "compress": np.compress(MASK, x),
        "compress by a list": np.compress([True, False, True], x),
        "compress rows": square.compress(MASK, axis=0),
        "extract": np.extract(np.outer(MASK, MASK), square),
        "delete by a mask": np.delete(x, MASK),
        "delete": np.delete(square, PLACES, axis=1),
        "insert": np.insert(x, PLACES, [5.0, 6.0]),
        "repeat": np.repeat(x, COUNTS),
        "tile": np.tile(x, np.array([2, 1])),
        "roll": np.roll(square, np.array([1, 2]), (0, 1)),
        "pad": np.pad(square, np.array([[1, 0], [0, 2]])),
        "reduceat": np.add.reduceat(square, PLACES, axis=1),
        "histogram": np.histogram(COUNTS, bins=3, weights=x)[0],
    }


def test_constants_that_decide_a_shape(library):
    """What NumPy holds is known while a program is made, though the library took it in as one of its values."""
    x, expected = ad.asarray(V), _shaped(V)
    made, many = ad.jit(_shaped)(x), ad.vmap(_shaped)(ad.asarray(np.stack([V, 2 * V])))
    for name, values in _shaped(2 * V).items():
        np.testing.assert_array_equal(host(made[name]), expected[name], err_msg=name)
        np.testing.assert_array_equal(host(many[name][1]), values, err_msg=name)
    gradient = ad.grad(lambda a: sum(np.sum(part**2) for part in _shaped(a).values()))
    slope = _slope(lambda a: np.concatenate([part.reshape(-1) for part in _shaped(a).values()]))
    np.testing.assert_allclose(host(ad.jit(gradient)(x)), slope, rtol=1e-13)
    if library != "jax":  # which would compile a program for each operation
        np.testing.assert_allclose(host(gradient(x)), slope, rtol=1e-13)


def test_constants_are_known_as_they_were(library):
    """A program is made of the values at the call, whatever is written to them later."""
    counts = COUNTS.copy()

    def f(x):
        made = np.repeat(x, counts)
        counts[:] = 1
        return made

    assert host(ad.jit(f)(ad.asarray(V))).tolist() == np.repeat(V, COUNTS).tolist()
    with pytest.raises(ad.TraceError):
        ad.jit(lambda x: np.compress(x > 0.4, x))(ad.asarray(V))
    with pytest.raises(ad.TraceError):
        ad.jit(lambda x: np.repeat(x, np.asarray(COUNTS, like=x) + 1))(ad.asarray(V))
    with pytest.raises(ad.TraceError, match=r"test_jit.*ad\.host_call"):
        ad.jit(np.bincount)(ad.asarray(COUNTS))
    with pytest.raises(ad.TraceError, match=r"test_jit.*ad\.host_call"):
        ad.jit(lambda x, widths: np.pad(x * 2, widths))(ad.asarray(V), ad.asarray(PLACES))


def test_sums_by_constant_places(library):
    """How many there are is known, and the weights have a derivative."""
    x = ad.asarray(V)

    def counted(a):
        return np.bincount(COUNTS, weights=a, minlength=6)

    def binned(a):
        return np.histogram(COUNTS, bins=[0, 1, 2, 4], weights=a)[0]

    for f, places in ((counted, COUNTS), (binned, np.minimum(COUNTS, 2))):
        np.testing.assert_allclose(host(ad.jit(f)(x)), f(V), rtol=1e-15)
        np.testing.assert_allclose(host(ad.vmap(f)(ad.asarray(np.stack([V, 2 * V])))[1]), f(2 * V), rtol=1e-15)
        slope = ad.jit(ad.grad(lambda a, f=f: np.sum(f(a) ** 2)))
        np.testing.assert_allclose(host(slope(x)), 2 * f(V)[places], rtol=1e-14)


def test_constants_of_the_library_are_known(library):
    """An array that is no argument has its values while the function is traced."""
    mask, factors = ad.asarray(MASK), ad.asarray([2.0, 3.0])
    x = ad.asarray(V)
    assert ad.jit(lambda a: a[mask])(x).tolist() == V[MASK].tolist()
    assert ad.jit(lambda a: a * np.asarray(factors).sum())(x).tolist() == (V * 5).tolist()
    assert "2." in ad.jit(lambda a: (a, repr(factors)))(x)[1]


def test_masks_of_another_shape(library):
    with pytest.raises(IndexError):
        ad.jit(lambda a: a[np.ones(4, bool)])(ad.asarray(V))


def test_slices_are_static(library):
    part = ad.jit(lambda a, places: a[places])
    x = ad.asarray(V)
    assert part(x, slice(1, 3)).tolist() == V[1:3].tolist()
    assert part(x, slice(0, 2)).tolist() == V[:2].tolist()


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
            return ad.jit(lambda a: np.sin(a) * i)(ad.asarray(V)).tolist()

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(one, range(8)))
    np.testing.assert_allclose(made, [np.sin(V) * i for i in range(8)])


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
    done = zygotes.of(backend).run(str(script), cwd=tmp_path, options=())
    assert done.stdout == "1600000.0 799998.0 1599992.0\n" * 3, done.stderr
