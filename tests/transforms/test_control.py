"""while_loop, host_call and custom_gradient: the same numbers as Python's, where values are known and where they are not."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad


def host(x: Any) -> Any:
    return np.asarray(x)


def collatz(n: Any, most: Any = None) -> Any:
    def step(state):
        n, count = state
        return np.where(n % 2 == 0, n // 2, 3 * n + 1), count + 1

    return ad.while_loop(lambda s: s[0] != 1, step, (n, np.asarray(0)), most)


def newton(x: Any, most: Any = None) -> Any:
    """The square root, by steps that are counted."""

    def step(s):
        y = s["y"]
        y = 0.5 * (y + x / y)
        return {"y": y, "n": s["n"] + 1.0}

    return ad.while_loop(lambda s: np.abs(s["y"] ** 2 - x) > 1e-9, step, {"y": x * 1.0, "n": x * 0.0}, most)


# -- while_loop ----------------------------------------------------------------------------------------------------------


def test_known_values(backend: str) -> None:
    with ad.backend(backend):
        n, count = collatz(ad.asarray(27))
        assert (int(n), int(count)) == (1, 111)
        assert int(collatz(ad.asarray(27), 5)[1]) == 5
        assert float(newton(ad.asarray(2.0))["y"]) == pytest.approx(np.sqrt(2.0), abs=1e-9)


def test_compiled(library: str) -> None:
    most = 120 if library == "torch" else None
    compiled = ad.jit(lambda n: collatz(n, most))
    for n, steps in ((27, 111), (1, 0), (6, 8)):
        assert [int(x) for x in compiled(ad.asarray(n))] == [1, steps]
    roots = ad.jit(lambda x: newton(x, 20))(ad.asarray(2.0))
    assert float(roots["y"]) == pytest.approx(np.sqrt(2.0), abs=1e-9)
    assert float(roots["n"]) == 4


def test_xla_takes_loops_and_constants() -> None:
    """Without XLA the program is TensorFlow's own, a hundred times slower in a loop that adds up by index, and nobody is told."""
    tf = pytest.importorskip("tensorflow")
    with ad.backend("tensorflow"):
        start = ad.asarray(np.arange(4.0))

        def summed(s):
            x, out, n = s
            made = np.zeros_like(out)
            np.add.at(made, np.array([0, 1, 1]), x.reshape(4, 1)[1:, 0])
            return x + start.copy(), made, n + 1

        def body(x):
            state = ad.wrap(x), np.zeros(2) * ad.wrap(x)[:2], np.sum(ad.wrap(x) * 0)
            return [v.native for v in ad.while_loop(lambda s: s[2] < 3, summed, state)]

        plain = tf.function(body, autograph=False).get_concrete_function(tf.TensorSpec(4, tf.float64))
        x, made, n = tf.function(plain, autograph=False, jit_compile=True)(tf.ones(4, tf.float64))
    assert (x.numpy().tolist(), made.numpy().tolist(), float(n)) == ([1.0, 4.0, 7.0, 10.0], [3.0, 12.0], 3.0)


def test_for_many_at_once(library: str) -> None:
    n, steps = ad.vmap(collatz)(ad.asarray([27, 1, 6]))
    assert host(n).tolist() == [1, 1, 1]
    assert host(steps).tolist() == [111, 0, 8]


def test_checkpoints(backend: str) -> None:
    with ad.backend(backend):
        n, count = collatz(ad.asarray(6), [0, 2, 5, 100])
    assert host(n).tolist() == [6, 10, 8, 1]
    assert host(count).tolist() == [0, 2, 5, 8]


def test_checkpoints_compiled(library: str) -> None:
    n, count = ad.jit(lambda n: collatz(n, (0, 2, 5, 20)))(ad.asarray(6))
    assert host(n).tolist() == [6, 10, 8, 1]
    assert host(count).tolist() == [0, 2, 5, 8]


def test_derivatives(library: str) -> None:
    expected = 0.5 / np.sqrt(2.0)
    assert float(ad.grad(lambda x: newton(x)["y"])(ad.asarray(2.0))) == pytest.approx(expected, rel=1e-6)
    compiled = ad.jit(ad.grad(lambda x: newton(x, 12)["y"]))
    assert float(compiled(ad.asarray(2.0))) == pytest.approx(expected, rel=1e-6)


def test_derivatives_of_every_example(library: str) -> None:
    """TensorFlow had no rule for the way back through a loop that stands for many examples."""

    def squared(x):
        return ad.while_loop(lambda x: x < 10, lambda x: x * x, x, max_iter=6)

    x = ad.asarray([2.0, 3.0, 20.0])
    for wrapped in (lambda f: f, ad.jit):
        np.testing.assert_allclose(host(wrapped(ad.vmap(ad.grad(squared)))(x)), [32, 108, 1])
        np.testing.assert_allclose(host(wrapped(ad.grad(lambda x: ad.vmap(squared)(x).sum()))(x)), [32, 108, 1])
    np.testing.assert_allclose(host(ad.vmap(ad.vmap(ad.grad(squared)))(x[:, None])), [[32], [108], [1]])
    np.testing.assert_allclose(host(ad.vmap(ad.hessian(squared))(x)), [48, 108, 0])

    def kept(x):
        return ad.while_loop(lambda x: x < 10, lambda x: x * x, x, max_iter=[1, 2]).sum()

    np.testing.assert_allclose(host(ad.vmap(ad.grad(kept))(x)), [36, 114, 2])

    def writes(x):
        y, n = ad.while_loop(lambda s: s[0].sum() < 30, lambda s: (s[0] * 2, s[1] + 1), (x, 0.0 * x.sum()), 9)
        x[0] = 7
        return y.sum() * n

    rows = ad.asarray([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_allclose(host(ad.vmap(ad.grad(writes))(rows)), [[64, 64], [24, 24]])
    assert host(rows).tolist() == [[7, 2], [7, 4]]


def test_a_loop_that_is_not_counted_has_no_derivative_on_jax() -> None:
    def grown(x):
        return ad.while_loop(lambda x: x < 10, lambda x: x * x, x)

    with ad.backend("jax"), pytest.raises(ad.TraceError, match=r"test_control\.py:\d+; say max_iter"):
        ad.vmap(ad.grad(grown))(ad.asarray([2.0, 3.0]))


def test_writes_in_the_state(library: str) -> None:
    def fill(n):
        def step(s):
            i, a = s
            a[1:] = a[:-1] + 1
            return i + 1, a

        return ad.while_loop(lambda s: s[0] < n, step, (n * 0, np.zeros(5)), 10)

    _, a = ad.jit(fill)(ad.asarray(3))
    assert host(a).tolist() == [0, 1, 2, 3, 3]


def test_bad_loops(library: str) -> None:
    x = ad.asarray(np.ones(3))
    with pytest.raises(TypeError, match=r"changes state\[1\] from float64\[3\] to float64\[2\]"):
        ad.jit(lambda x: ad.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1][1:]), (0, x), 3))(x)
    with pytest.raises(TypeError, match="structure"):
        ad.jit(lambda x: ad.while_loop(lambda s: s[0] < 3, lambda s: s[0] + 1, (0, x), 3))(x)
    with pytest.raises(TypeError, match="one truth value"):
        ad.jit(lambda x: ad.while_loop(lambda s: s > 3, lambda s: s + 1, x, 3))(x)
    with pytest.raises(ValueError, match="negative"):
        ad.while_loop(bool, abs, 1.0, -1)
    with pytest.raises(ValueError, match="decrease"):
        ad.while_loop(bool, abs, 1.0, [3, 2])
    with pytest.raises(TypeError, match="is a str"):
        ad.jit(lambda x: ad.while_loop(lambda s: s[0] < 3, lambda s: s, (x[0], "a"), 3))(x)
    if library == "torch":
        with pytest.raises(ad.TraceError, match="max_iter"):
            ad.jit(collatz)(ad.asarray(6))


# -- host_call -----------------------------------------------------------------------------------------------------------


def smoothed(x: Any) -> Any:
    """Code that only the host has."""
    assert type(x) is np.ndarray
    assert not x.flags.writeable
    return np.array([sorted(row) for row in np.atleast_2d(x).tolist()]).reshape(x.shape), np.float64(len(x.shape))


LIKE = (np.empty(3), np.empty(()))


def test_host_call(backend: str) -> None:
    x = np.array([3.0, 1.0, 2.0])
    with ad.backend(backend):
        a, n = ad.host_call(smoothed, LIKE, ad.asarray(x))
    assert a.backend.name == backend
    assert host(a).tolist() == [1, 2, 3]
    assert float(n) == 1


def test_host_call_in_a_program(library: str) -> None:
    runs = []

    def on_host(x):
        runs.append(x.shape)
        return smoothed(x)

    compiled = ad.jit(lambda x: ad.host_call(on_host, LIKE, x * 2)[0] + 1)
    for x in ([3.0, 1.0, 2.0], [9.0, 8.0, 7.0]):
        np.testing.assert_array_equal(host(compiled(ad.asarray(x))), np.sort(np.array(x) * 2) + 1)
    assert set(runs) == {(3,)}
    assert len(runs) >= 2


@pytest.mark.parametrize("name", ["torch", "tensorflow"])
def test_a_derivative_on_the_host(name: str) -> None:
    """JAX's programs and what they call on the host share one thread, where its own arrays would wait for each other."""
    if name not in ad.available_backends():
        pytest.skip(f"{name} is not installed")

    def slopes(x):
        return np.asarray(ad.grad(lambda v: (v**3).sum())(ad.asarray(x, backend=name)))

    with ad.backend(name) as chosen:
        if "compiler" in chosen.OPTIONS:
            chosen.configure(compiler="eager")
        x = ad.asarray(np.arange(3.0))
        for run in (
            lambda x: ad.host_call(slopes, np.empty(3), x),
            ad.jit(lambda x: ad.host_call(slopes, np.empty(3), x)),
        ):
            assert host(run(x)).tolist() == [0, 3, 12]


def test_host_call_for_many(library: str) -> None:
    shapes = []

    def on_host(x):
        shapes.append(x.shape)
        return np.sort(x, axis=-1)

    x = np.random.default_rng(1).normal(size=(4, 3))
    made = ad.vmap(lambda x: ad.host_call(on_host, np.empty(3), x))(ad.asarray(x))
    np.testing.assert_array_equal(host(made), np.sort(x, axis=1))
    assert shapes == [(4, 3)]
    shapes.clear()
    twice = ad.vmap(
        ad.vmap(lambda x, k: ad.host_call(lambda x, k: on_host(x) * k, np.empty(3), x, k), in_axes=(0, None))
    )
    k = np.array([1.0, 2.0])
    made = ad.jit(twice)(ad.asarray(x.reshape(2, 2, 3)), ad.asarray(k[:, None]))
    np.testing.assert_array_equal(host(made), np.sort(x.reshape(2, 2, 3), axis=-1) * k[:, None, None])
    assert set(shapes) == {(2, 2, 3)}


def test_host_functions_of_the_users_own() -> None:
    """What somebody else hands to ``tf.numpy_function`` still takes one example at a time."""
    tf = pytest.importorskip("tensorflow")
    with ad.backend("tensorflow"):
        ad.vmap(lambda x: ad.host_call(np.sort, np.empty(3), x))(ad.asarray(np.eye(3)))
    shapes = []

    def seen(x):
        shapes.append(x.shape)
        return x * 2

    def one(x):
        return tf.ensure_shape(tf.numpy_function(seen, [x], x.dtype, stateful=False), (3,))

    made = tf.vectorized_map(one, tf.eye(3))
    assert made.numpy().tolist() == (2 * np.eye(3)).tolist()
    assert shapes == [(3,)] * 3


def test_host_calls_without_tensorflows_registry() -> None:
    """The registry is TensorFlow's own affair: without it each example is called for. ``test_host_call_for_many`` fails then."""
    host_calls = pytest.importorskip("arraydispatch.backends.tensorflow.host_calls")
    pfor = host_calls.pfor
    assert not host_calls.register(None)
    assert not host_calls.register(pfor)  # there is a rule already: ours
    rule = pfor._pfor_converter_registry.pop(host_calls.OPERATION)
    shapes = []

    def on_host(x):
        shapes.append(x.shape)
        return np.sort(x)

    try:
        with ad.backend("tensorflow"):
            made = ad.vmap(lambda x: ad.host_call(on_host, np.empty(3), x))(ad.asarray(-np.eye(3)))
    finally:
        assert host_calls.register(pfor)
    assert pfor._pfor_converter_registry[host_calls.OPERATION] is rule
    np.testing.assert_array_equal(host(made), np.sort(-np.eye(3)))
    assert set(shapes) == {(3,)}


def test_host_functions_live_as_long_as_their_programs(library: str) -> None:
    class OnHost:
        def __call__(self, x: Any) -> Any:
            return np.sort(x, axis=-1)

    def made(transform: Any) -> tuple[Any, Any]:
        on_host = OnHost()
        return transform(lambda x: ad.host_call(on_host, np.empty(3), x) + 1), weakref.ref(on_host)

    x = np.array([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]])
    for transform in (ad.vmap, lambda f: ad.jit(ad.vmap(f))):
        f, alive = made(transform)
        for _ in range(2):
            gc.collect()
            np.testing.assert_array_equal(host(f(ad.asarray(x))), np.sort(x) + 1)
        assert alive() is not None
        del f
        gc.collect()
        if library == "torch":  # the other libraries keep the graphs that they made
            assert alive() is None


def test_host_functions_in_a_program_of_the_users(library: str) -> None:
    if library != "torch":
        pytest.skip("inapplicable: JAX's and TensorFlow's programs hold their functions themselves")
    make_fx = pytest.importorskip("torch.fx.experimental.proxy_tensor").make_fx
    x = ad.asarray([3.0, 1.0, 2.0]).native
    program = make_fx(lambda x: ad.host_call(np.sort, np.empty(3), ad.wrap(x)).native, tracing_mode="fake")(x)
    gc.collect()
    assert program(x).tolist() == [1, 2, 3]


def test_host_calls_of_numbers_take_arrays(library: str) -> None:
    def scaled(x: np.ndarray, k: np.ndarray) -> np.ndarray:
        assert isinstance(x, np.ndarray)
        assert not x.flags.writeable
        return np.asarray(x * k)

    fun = lambda x, k: ad.host_call(scaled, np.empty(()), x, k)
    for x, k in ((ad.asarray(2.0), 3.0), (2.0, ad.asarray(3.0)), (np.float64(2), ad.asarray(3))):
        assert float(fun(x, k)) == 6
        assert float(ad.jit(fun)(x, k)) == 6
    np.testing.assert_array_equal(ad.vmap(fun)(ad.asarray([1.0, 2.0]), ad.asarray([3.0, 4.0])), [3, 8])


def test_what_host_code_raises_in_a_program(library: str) -> None:
    """Is what the caller gets, as where Python runs it, and not a library's error that tells of it; a later call runs."""

    def checked(x: np.ndarray) -> np.ndarray:
        if x[0] < 0:
            raise LookupError(f"no {x[0]}")
        return x * 2

    fun = ad.jit(lambda x: ad.host_call(checked, x, x) + 1)
    slope = ad.jit(ad.grad(lambda y, x: np.sum(y * ad.host_call(checked, x, x))))
    for _ in range(2):
        with pytest.raises(LookupError, match=r"^no -1\.0$"):
            fun(ad.asarray([-1.0, 2.0]))
        assert fun(ad.asarray([1.0, 2.0])).tolist() == [3, 5]
    with pytest.raises(LookupError, match=r"^no -3\.0$"):
        slope(ad.asarray([1.0, 2.0]), ad.asarray([-3.0, 2.0]))
    with pytest.raises(TypeError, match=r"returns float64\[1\]"):
        ad.jit(lambda x: ad.host_call(lambda x: x[:1], x, x))(ad.asarray([1.0, 2.0]))


def test_bad_host_calls(library: str) -> None:
    x = ad.asarray(np.ones(3))
    with pytest.raises(TypeError, match=r"returns float64\[3\] to ad.host_call, where like= has float64\[2\]"):
        ad.host_call(np.sort, np.empty(2), x)
    with pytest.raises(TypeError, match="structure"):
        ad.host_call(np.sort, (np.empty(3),), x)
    with pytest.raises(ad.TraceError, match=r"test_control\.py:\d+ in .* cut the derivative"):
        ad.grad(lambda x: ad.host_call(np.sum, np.empty(()), x))(x)
    for transform in (lambda f: ad.jit(ad.grad(f)), lambda f: ad.grad(ad.jit(f))):
        with pytest.raises(
            ad.TraceError, match=r"test_control.py:.*would cut the derivative.*ad.custom_gradient"
        ) as caught:
            transform(lambda x: ad.host_call(np.sum, np.empty(()), x))(x)
        assert "through ad.host_call" not in str(caught.value)


def test_the_derivative_of_a_program_that_calls_the_host_is_not_cut(library: str) -> None:
    def times(f):
        return lambda x: np.sum(x * ad.host_call(np.square, np.empty(3), f(x)))

    x = ad.asarray(np.arange(3.0))
    np.testing.assert_array_equal(np.asarray(ad.grad(ad.jit(times(ad.stop_gradient)))(x)), [0, 1, 4])
    for program in (ad.jit(times(lambda x: 2 * x)), ad.jit(ad.jit(times(lambda x: 2 * x)))):
        program(x)
        with pytest.raises(ad.TraceError, match=r"test_control\.py:\d+ in .* cut the derivative that ad\.grad takes"):
            ad.grad(program)(x)


def test_a_host_call_that_no_derivative_depends_on(library: str) -> None:
    """Inside a program, or of many at once, where no value is known."""

    def constant(x):
        return np.sum(x * ad.host_call(np.square, np.empty(3), ad.stop_gradient(2 * x)))

    def of_another(x, k):
        return np.sum(x**2 * ad.host_call(np.square, np.empty(3), k))

    x = np.arange(3.0)
    np.testing.assert_array_equal(np.asarray(ad.jit(ad.grad(constant))(ad.asarray(x))), 4 * x**2)
    np.testing.assert_array_equal(
        np.asarray(ad.jit(ad.grad(of_another))(ad.asarray(x), ad.asarray(x + 1))), 2 * x * (x + 1) ** 2
    )
    np.testing.assert_array_equal(np.asarray(ad.jit(ad.hessian(constant))(ad.asarray(x))), np.zeros((3, 3)))
    many = np.stack([x, x + 1])
    for f in (ad.vmap(ad.grad(constant)), ad.jit(ad.vmap(ad.grad(constant)))):
        np.testing.assert_array_equal(np.asarray(f(ad.asarray(many))), 4 * many**2)
    for transform in (ad.jit, ad.vmap):
        with pytest.raises(ad.TraceError, match="cut the derivative"):
            transform(ad.grad(lambda x: np.sum(ad.host_call(np.square, np.empty(3), x))))(ad.asarray(many))


# -- custom_gradient -----------------------------------------------------------------------------------------------------


def test_a_gradient_of_ones_own(library: str) -> None:
    seen = []

    def gradient(args, result, cotangent):
        (_, y) = args
        seen.append(result)
        return (cotangent * np.clip(y, -1, 1), None)

    f = ad.custom_gradient(lambda x, y: x * y, gradient)
    x, y = ad.asarray([1.0, 2.0]), ad.asarray([3.0, 0.5])
    assert host(f(x, y)).tolist() == [3, 1]
    assert not seen
    gx, gy = ad.grad(lambda x, y: np.sum(f(x, y) * 10), argnums=(0, 1))(x, y)
    assert host(gx).tolist() == [10, 5]
    assert host(gy).tolist() == [0, 0]
    assert len(seen) == 1
    compiled = ad.jit(ad.grad(lambda x, y: np.sum(f(x, y) * 10)))
    assert host(compiled(x, y)).tolist() == [10, 5]
    each = ad.vmap(ad.grad(f))(x, y)
    assert host(each).tolist() == [1, 0.5]
    twice = ad.grad(lambda y: ad.grad(lambda x: np.sum(f(x, y)))(x).sum())(y)
    assert host(twice).tolist() == [0, 1]  # of the clip, in the gradient


def test_a_gradient_of_ones_own_for_what_the_host_computes(library: str) -> None:
    """The rule is the derivative: nothing is cut by a host call, nor by NumPy's own arrays, in the function."""

    def called(x):
        return ad.host_call(np.sqrt, np.empty(x.shape), x)

    def held(x):
        return ad.asarray(np.sqrt(x.to_numpy()))

    x = ad.asarray([1.0, 4.0])
    for fun in (called, held):
        root = ad.custom_gradient(fun, lambda args, result, cotangent: (cotangent / (2 * result),))

        def loss(x, root=root):
            return np.sum(root(x) ** 3)

        np.testing.assert_allclose(host(ad.grad(loss)(x)), [1.5, 3])
        if fun is called:  # the other one wants its values
            np.testing.assert_allclose(host(ad.hessian(loss)(x)), [[0.75, 0], [0, 0.375]])
            np.testing.assert_allclose(host(ad.jit(ad.grad(loss))(x)), [1.5, 3])
            np.testing.assert_allclose(host(ad.vmap(ad.grad(root))(x)), [0.5, 0.25])


def test_a_gradient_of_ones_own_at_every_order(library: str) -> None:
    """The second derivative goes the user's way too: here it is not that of the function."""
    f = ad.custom_gradient(np.sin, lambda args, result, cotangent: (cotangent * result * args[0],))
    x = ad.asarray([0.5, -1.5])

    def loss(x):
        return np.sum(f(x) ** 2)

    # d f / d x is f x by that rule, so of 2 f f x: 2 (f x)(f x) + 2 f (f x) x + 2 f f
    s, h = np.sin(host(x)), host(x)
    wanted = np.diag(4 * s**2 * h**2 + 2 * s**2)
    np.testing.assert_allclose(host(ad.hessian(loss)(x)), wanted, rtol=1e-12)
    np.testing.assert_allclose(host(ad.jacobian(ad.grad(loss))(x)), wanted, rtol=1e-12)
    np.testing.assert_allclose(host(ad.grad(lambda x: np.sum(ad.grad(loss)(x)))(x)), wanted.sum(0), rtol=1e-12)


def test_derivatives_inside_a_gradient_of_ones_own(library: str) -> None:
    """torch's way back for many cotangents at once mixes up a derivative that is taken on it."""

    def gradient(args, result, cotangent):
        return (ad.grad(lambda z: np.sum(np.tanh(z) * cotangent))(args[0]),)

    f = ad.custom_gradient(np.tanh, gradient)
    g = ad.custom_gradient(f, lambda args, result, cotangent: (ad.grad(lambda z: np.sum(f(z) * cotangent))(args[0]),))
    x = ad.asarray([0.3, -0.2, 0.5])
    wanted = host(ad.hessian(lambda x: np.sum(np.sin(np.tanh(x))))(x))
    for own in (f, g):
        np.testing.assert_allclose(host(ad.hessian(lambda x, own=own: np.sum(np.sin(own(x))))(x)), wanted, rtol=1e-12)
        cubed = host(ad.jacobian(ad.grad(lambda x, own=own: np.sum(own(x * x))))(x))
        np.testing.assert_allclose(cubed, host(ad.hessian(lambda x: np.sum(np.tanh(x * x)))(x)), rtol=1e-12)


def test_trees_and_complex_numbers(library: str) -> None:
    f = ad.custom_gradient(
        lambda p, k: {"s": np.sum(p["z"] * k), "same": p["w"], "name": "x"},
        lambda args, result, ct: ({"z": np.conj(args[0]["z"] * 0 + args[1]) * ct["s"], "w": 2 * ct["same"]}, None),
    )
    p = {"z": ad.asarray([1 + 2j, 3 - 1j]), "w": ad.asarray([1.0, 2.0])}

    def loss(p, f):
        made = f(p, 3)
        return np.abs(made["s"]) ** 2 + np.sum(made["same"])

    ours = ad.grad(lambda p: loss(p, f))(p)
    theirs = ad.grad(lambda p: loss(p, lambda p, k: {"s": np.sum(p["z"] * k), "same": p["w"]}))(p)
    np.testing.assert_allclose(host(ours["z"]), host(theirs["z"]), rtol=1e-12)
    assert host(ours["w"]).tolist() == [2, 2]


def test_bad_gradients(library: str) -> None:
    x = ad.asarray([1.0, 2.0])
    for gradient, said in (
        (lambda args, result, ct: ct, "a tuple of 1"),
        (lambda args, result, ct: (ct[:1],), r"shape \(1,\) for args\[0\] of shape \(2,\)"),
        (lambda args, result, ct: ([ct, ct],), "with the structure of its argument"),
    ):
        with pytest.raises(TypeError, match=said):
            ad.grad(lambda x, g=gradient: np.sum(ad.custom_gradient(lambda x: x * 2, g)(x)))(x)

    def writes(x):
        x[0] = 3
        return x * 1

    with pytest.raises(TypeError, match="must not write"):
        ad.grad(lambda x: np.sum(ad.custom_gradient(writes, lambda args, result, ct: (ct,))(x * 1)))(x)
