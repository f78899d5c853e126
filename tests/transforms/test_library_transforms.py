"""The libraries' own transforms on functions of arrays: an array is a pytree of its native array to JAX and to torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

X = np.array([1.0, 2.0, 3.0])


def _total(a: Any) -> Any:
    """The sum of cubes, after a write in place."""
    b = a.copy()
    b[0] *= 2
    return np.sum(b**3).native


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")  # torch.func imports it
def test_torch() -> None:
    func = pytest.importorskip("torch").func
    pytree = pytest.importorskip("torch.utils._pytree")
    x = ad.asarray(X, backend="torch")
    (leaf,) = pytree.tree_leaves({"a": x})
    assert leaf is x.native
    assert pytree.tree_map(lambda t: t * 2, {"a": x})["a"].tolist() == [2, 4, 6]
    gradient = func.grad(_total)(x)
    assert type(gradient) is ad.Array
    assert gradient.tolist() == [24, 12, 27]
    both = func.grad(lambda p: (np.sum(p["w"] ** 2) * p["b"]).native)({"w": x, "b": ad.asarray(2.0, backend="torch")})
    assert both["w"].tolist() == [4, 8, 12]
    assert float(both["b"]) == 14
    for jacobian in (func.jacrev, func.jacfwd):
        assert jacobian(lambda a: a**2)(x).tolist() == np.diag(2 * X).tolist()
    assert func.hessian(_total)(x).tolist() == np.diag([48.0, 12.0, 18.0]).tolist()
    many = func.vmap(lambda a: np.sum(a**2))(ad.asarray(np.eye(3), backend="torch"))
    assert type(many) is ad.Array
    assert many.tolist() == [1, 1, 1]
    value, back = func.vjp(lambda a: a * 2, x)
    assert value.tolist() == [2, 4, 6]
    assert back(x)[0].tolist() == [2, 4, 6]


def test_jax() -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        x = ad.asarray(X, backend="jax")
        assert jax.tree.leaves({"a": x})[0] is x.native
        assert jax.tree.map(lambda t: t * 2, {"a": x})["a"].tolist() == [2, 4, 6]
        gradient = jax.grad(_total)(x)
        assert type(gradient) is ad.Array
        assert gradient.tolist() == [24, 12, 27]
        for jacobian in (jax.jacrev, jax.jacfwd):
            assert jacobian(lambda a: a**2)(x).tolist() == np.diag(2 * X).tolist()
        assert jax.hessian(_total)(x).tolist() == np.diag([48.0, 12.0, 18.0]).tolist()
        many = jax.vmap(lambda a: np.sum(a**2))(ad.asarray(np.eye(3), backend="jax"))
        assert type(many) is ad.Array
        assert many.tolist() == [1, 1, 1]
        assert jax.jit(lambda a: np.sin(a) * 2)(x).tolist() == pytest.approx((2 * np.sin(X)).tolist())
        assert jax.lax.scan(lambda c, _: (c * 2, None), x, None, 3)[0].tolist() == [8, 16, 24]
        assert type(jax.tree.unflatten(jax.tree.structure(x), [object()])) is ad.Array


def _sum_of_cubes(a: Any) -> Any:
    """As `_total`, an array of ours."""
    b = a.copy()
    b[0] *= 2
    return np.sum(b**3)


def test_tensorflow() -> None:
    tf = pytest.importorskip("tensorflow")
    x = ad.asarray(X, backend="tensorflow")
    assert tf.nest.flatten({"a": x})[0] is x.native
    assert tf.nest.map_structure(lambda t: t * 2, {"a": x})["a"].tolist() == [2, 4, 6]
    seen = []

    def doubled(a: Any) -> Any:
        seen.append(type(a))
        return {"twice": a * 2, "last": np.sum(a)}

    compiled = tf.function(doubled, autograph=False)
    for _ in range(2):
        made = compiled(x)
        assert [type(made["twice"]), type(made["last"])] == [ad.Array, ad.Array]
        assert made["twice"].tolist() == [2, 4, 6]
    assert compiled(ad.asarray([1.0], backend="tensorflow"))["last"].tolist() == 1
    assert seen == [ad.Array, ad.Array]  # traced once for each shape
    assert float(tf.function(_sum_of_cubes, autograph=False, jit_compile=True)(x)) == 8 + 8 + 27
    assert tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * 2), (tf.constant(0), x))[1].tolist() == [
        8,
        16,
        24,
    ]
    many = tf.vectorized_map(lambda a: np.cumsum(a) * a[0], ad.asarray(np.eye(3), backend="tensorflow"))
    assert type(many) is ad.Array
    assert many.tolist() == [[1, 1, 1], [0, 0, 0], [0, 0, 0]]
    totals = tf.vectorized_map(lambda a: np.sum(a**2).native, ad.asarray(np.eye(3), backend="tensorflow"))
    assert totals.numpy().tolist() == [1, 1, 1]
    rows = list(tf.data.Dataset.from_tensor_slices({"a": ad.asarray(np.eye(2), backend="tensorflow")}))
    assert [row["a"].tolist() for row in rows] == [[1, 0], [0, 1]]


def test_tapes_of_tensorflow() -> None:
    """A tape of the user's records what NumPy computes, elements and totals included."""
    tf = pytest.importorskip("tensorflow")
    x = ad.asarray(X, backend="tensorflow")
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = _sum_of_cubes(x)
    gradient = tape.gradient(total, x)
    assert type(gradient) is ad.Array
    assert gradient.tolist() == [24, 12, 27]
    params = {"w": x, "b": ad.asarray(2.0, backend="tensorflow")}
    with tf.GradientTape() as tape:
        tape.watch(params)
        total = np.sum(params["w"] ** 2) * params["b"]
    both = tape.gradient(total, params)
    assert both["w"].tolist() == [4, 8, 12]
    assert float(both["b"]) == 14
    compiled = tf.function(lambda a: _sum_of_cubes(ad.wrap(a)), autograph=False)
    with tf.GradientTape() as tape:
        value = tf.Variable(x)
        total = compiled(value)
    assert np.asarray(tape.gradient(total, value)).tolist() == [24, 12, 27]
    assert np.sum(x) == 6  # nothing records: NumPy's own scalar
    assert type(np.sum(x)) is np.float64


def test_what_the_libraries_refuse() -> None:
    """One number is to be the library's own for `grad`: the way out is ``.native``, or ``ad.grad``."""
    jax = pytest.importorskip("jax")
    x = ad.asarray(X, backend="jax")
    with pytest.raises((TypeError, ValueError), match=r"scalar-output|__jax_array__"):
        jax.grad(lambda a: np.sum(a**2))(x)
    assert jax.grad(lambda a: np.sum(a**2).native)(x).tolist() == [2, 4, 6]
    assert ad.grad(lambda a: np.sum(a**2))(x).tolist() == [2, 4, 6]


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")
def test_what_torch_refuses() -> None:
    func = pytest.importorskip("torch").func
    x = ad.asarray(X, backend="torch")
    with pytest.raises(RuntimeError, match="to return a Tensor"):
        func.grad(lambda a: np.sum(a**2))(x)
    assert func.grad(lambda a: np.sum(a**2).native)(x).tolist() == [2, 4, 6]
    assert ad.grad(lambda a: np.sum(a**2))(x).tolist() == [2, 4, 6]


def test_programs_of_tensorflow_under_tapes_and_with_variables() -> None:
    """A program is called without a second look at its arguments, where no tape wants to see it and no variable is to be read."""
    tf = pytest.importorskip("tensorflow")
    factor = tf.Variable(np.array([2.0, 3.0, 4.0]))
    square = ad.jit(lambda a: a * a * ad.wrap(factor.read_value()))
    several = ad.jit(lambda a, b: (np.sum(a * b), [a, b + 1.0], np.ones(2)))
    x = tf.constant([1.0, 2.0, 3.0], tf.float64)
    for _ in range(3):  # traced, then met, by the same way each time
        assert square(ad.wrap(x)).tolist() == [2, 12, 36]
        with tf.GradientTape() as tape:
            tape.watch(x)
            made = square(ad.wrap(x)).native
        assert tape.gradient(made, x).numpy().tolist() == [4, 12, 24]
        with tf.GradientTape() as tape:
            tape.watch(x)
            with tape.stop_recording():
                made = square(ad.wrap(x)).native
        assert tape.gradient(made, x) is None
        total, (same, other), ones = several(ad.wrap(x), ad.wrap(x * 2))
        assert (float(total), other.tolist(), ones.tolist()) == (28, [3, 5, 7], [1, 1])
        assert several(tf.Variable(x), tf.Variable(x))[0] == 14
        assert np.asarray(same).tolist() == [1, 2, 3]
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as forward:
        made = square(ad.wrap(x)).native
    assert forward.jvp(made).numpy().tolist() == [4, 12, 24]


def test_a_program_reads_the_variables_that_it_captures() -> None:
    tf = pytest.importorskip("tensorflow")
    factor = tf.Variable(2.0, dtype=tf.float64)
    scaled = ad.jit(lambda a: ad.wrap(a.native * factor))
    x = ad.asarray([1.0, 2.0], backend="tensorflow")
    assert scaled(x).tolist() == [2, 4]
    factor.assign(5.0)
    assert scaled(x).tolist() == [5, 10]


COSTS = np.array([1.0, 10.0, 100.0])


def _overwritten(a: Any) -> Any:
    """A cost of what is written twice, of which the last value stays."""
    q, r = a * 1, a * 1
    q[[0, 1, 1]] = a
    r[np.array([[0, 1], [1, 0]])] = a[0]
    return np.sum((q + r) * COSTS).native


LAST = [1 + 11, 0, 10 + 100 + 100]


def test_torch_overwritten() -> None:
    torch = pytest.importorskip("torch")
    x = ad.asarray(X, backend="torch")
    assert torch.func.grad(_overwritten)(x).tolist() == LAST
    assert torch.func.jacfwd(_overwritten)(x).tolist() == LAST
    rows = ad.asarray(np.stack([X, X]), backend="torch")
    assert torch.func.grad(lambda m: torch.func.vmap(_overwritten)(m).sum())(rows).tolist() == [LAST, LAST]
    leaf = torch.tensor(X, requires_grad=True)
    _overwritten(ad.wrap(leaf)).backward()
    assert leaf.grad.tolist() == LAST


def test_jax_overwritten() -> None:
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        x = ad.asarray(X, backend="jax")
        assert jax.grad(_overwritten)(x).tolist() == LAST
        assert jax.jacfwd(_overwritten)(x).tolist() == LAST


def test_tensorflow_overwritten() -> None:
    tf = pytest.importorskip("tensorflow")
    x = tf.Variable(X)
    with tf.GradientTape() as tape:
        made = _overwritten(ad.wrap(x))
    assert tape.gradient(made, x).numpy().tolist() == LAST


def _mapped(backend: str, f: Callable[[Any], Any], tree: Any) -> Any:
    """Map a function over the leaves of a pytree by the library's own function; NumPy has none."""
    if backend == "jax":
        return pytest.importorskip("jax").tree_util.tree_map(f, tree)
    if backend == "torch":
        return pytest.importorskip("torch.utils._pytree").tree_map(f, tree)
    if backend == "tensorflow":
        return pytest.importorskip("tensorflow").nest.map_structure(f, tree)
    return [f(x) for x in tree]


def test_arrays_of_a_namespace_keep_its_rule_for_elements(backend: str) -> None:
    xp = ad.namespace(backend)
    for x in (xp.asarray([1.0, 2.0]), xp.asarray(1.0), xp.asarray([1, 2])):
        for same in (lambda v: v, lambda v: v + v):
            (made,) = _mapped(backend, same, [x])
            for element in (made[0] if made.ndim else made + 1, xp.sum(made), xp.astype(made, xp.float32)[...]):
                assert type(element) is ad.Array
    y = ad.asarray(X, backend=backend)
    (made,) = _mapped(backend, lambda v: v, [y])
    assert type(made[0]) is type(y[0])


def test_functions_of_jax_keep_the_rule_of_a_namespace() -> None:
    jax = pytest.importorskip("jax")
    xp = ad.namespace("jax")
    with jax.enable_x64(True):
        x = xp.asarray(2.0)
        for made in (
            jax.jit(lambda v: v + 1)(x),
            jax.jit(xp.sum)(xp.asarray(X)),
            jax.grad(lambda v: (v * v).native)(x),
        ):
            assert type(made) is ad.Array
            assert type(made + 1) is ad.Array


def test_moved_arrays_of_a_namespace_keep_its_rule_for_elements(backend: str) -> None:
    xp = ad.namespace(backend)
    with ad.execution("compiled"):
        x = xp.asarray([1.0, 2.0]) * 2
        moved = [x, x.to_device(x.device), x.to_device(x.device) + 1]
        for made in moved:
            assert type(made[0]) is ad.Array
    assert all(type(made[0]) is ad.Array for made in moved)
