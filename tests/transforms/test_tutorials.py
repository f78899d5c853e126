"""What the tutorials ``choosing-a-library.md`` and ``numpy-constants.md`` show on one library, step by step on each."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import arraydispatch as ad

OTHER = {"jax": "torch", "torch": "tensorflow", "tensorflow": "jax"}


# -- which library computes ------------------------------------------------------------------------------------------------


def test_the_default_says_where_new_arrays_go(library: str) -> None:
    assert ad.default_backend().name == library
    assert ad.asarray([0, 1]).backend.name == library
    assert ad.wrap(ad.active_backend.normal()).backend.name == library
    assert ad.wrap(ad.active_backend.uniform(0.0, 1.0, 2)).backend.name == library


def test_use_returns_the_backend(library: str) -> None:
    module = importlib.import_module("arraydispatch.runtime.settings")
    with module.kept():
        assert ad.use(library).name == library
        assert ad.asarray([1.0]).backend.name == library


def test_the_data_decide(library: str) -> None:
    theirs = ad.asarray([0.0, 1.0])
    numpys = ad.wrap([0.0, 1.0])
    assert numpys.backend.name == "numpy"
    assert np.sin(numpys).backend.name == "numpy"
    assert (numpys + ad.asarray([2.0, 3.0])).backend.name == library
    assert np.concatenate([np.ones(2), theirs]).backend.name == library
    with ad.backend(OTHER[library]):
        assert (theirs * 2).backend.name == library
        assert ad.context_backend().name == OTHER[library]
        assert ad.asarray([1.0]).backend.name == OTHER[library]
    assert ad.asarray([1.0]).backend.name == library
    assert ad.choose_backend(numpys, theirs).name == library
    assert ad.choose_backend(1.5, [2.0]).name == "numpy"
    assert ad.choose_backend(numpys, prefer_default=True).name == library


def test_two_libraries_do_not_mix_but_convert(library: str) -> None:
    other = OTHER[library]
    ours, theirs = ad.asarray([0.0, 1.0]), ad.asarray([2.0, 3.0], backend=other)
    with pytest.raises(ad.BackendMismatchError, match=rf"'{library}' and '{other}'.*convert"):
        ours + theirs
    for target in (other, importlib.import_module(other), theirs.backend):
        assert ad.convert(ours, target).backend.name == other
    back = ad.convert(theirs)
    assert back.backend.name == library
    assert (ours + back).tolist() == [2.0, 4.0]


# -- constants -----------------------------------------------------------------------------------------------------------------


def operations(f: Callable[[Any], Any], x: Any) -> list[str]:
    """The additions, multiplications and sines in the program that a library makes of a function of one array."""
    library = x.backend.name

    def native(a: Any) -> Any:
        return f(ad.wrap(a)).native

    found = list({"jax": _jax, "torch": _torch, "tensorflow": _tensorflow}[library](native, x.native))
    return sorted(name for name in (_SAME.get(name, name) for name in found) if name in ("add", "mul", "sin"))


_SAME = {"addv2": "add", "square": "mul", "pow": "mul", "integer_pow": "mul"}


def _jax(f: Any, x: Any) -> Any:
    jax = importlib.import_module("jax")

    def inside(jaxpr: Any) -> Any:
        for equation in jaxpr.eqns:
            inner = equation.params.get("jaxpr")
            if inner is None:
                yield equation.primitive.name
            else:
                yield from inside(getattr(inner, "jaxpr", inner))

    with jax.enable_x64(True):
        return list(inside(jax.make_jaxpr(f)(x).jaxpr))


def _torch(f: Any, x: Any) -> Any:
    graph = importlib.import_module("torch.fx.experimental.proxy_tensor").make_fx(f)(x).graph
    return [node.target.__name__.partition(".")[0] for node in graph.nodes if node.op == "call_function"]


def _tensorflow(f: Any, x: Any) -> Any:
    tf = importlib.import_module("tensorflow")
    graph = tf.function(f, autograph=False).get_concrete_function(x).graph.as_graph_def()
    own = {node.attr["f"].func.name for node in graph.node if "f" in node.attr}
    nodes = [
        node for function in graph.library.function if function.signature.name in own for node in function.node_def
    ]
    return [node.op.lower() for node in [*graph.node, *nodes]]


def test_constants_are_no_part_of_the_program(library: str) -> None:
    seen = []

    @ad.jit
    def fun(a: Any) -> Any:
        b = np.array([1, 2])
        seen.append((type(a), type(b)))
        return a + np.sin(b**2)

    x = ad.asarray([1, 2])
    for _ in range(3):
        np.testing.assert_allclose(np.asarray(fun(x)), np.array([1, 2]) + np.sin(np.array([1, 4])))
    assert seen == [(ad.Array, np.ndarray)]
    assert operations(fun, x) == ["add"]


def test_a_wrapped_array_is_a_constant_too(library: str) -> None:
    fun = ad.jit(lambda a: a * np.sin(ad.wrap([1, 2]) ** 2))
    x = ad.asarray([1.0, 2.0])
    np.testing.assert_allclose(np.asarray(fun(x)), [1, 2] * np.sin(np.array([1, 4])))
    assert operations(fun, x) == ["mul"]


def test_a_constant_becomes_a_variable_with_no_other_change(library: str) -> None:
    def made(b: Any) -> Any:
        return ad.jit(lambda a: a + np.sin((a if b is None else b) ** 2))

    x = ad.asarray([1, 2])
    np.testing.assert_allclose(np.asarray(made(None)(x)), np.asarray(made(np.array([1, 2]))(x)))
    assert operations(made(None), x) == ["add", "mul", "sin"]
    assert operations(made(np.array([1, 2])), x) == ["add"]


def test_a_simulation_of_constants_runs_once(library: str) -> None:
    runs = []

    def simulated(u: Any) -> Any:
        runs.append(type(u))
        u = u.copy()
        for _ in range(6):
            u[1:-1] += 0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        return u

    label, start = np.array([0.0, 0.0, 1.0, 0.0, 0.0]), np.full(5, 0.2)

    def loss(guess: Any) -> Any:
        return np.sum((simulated(guess) - simulated(label)) ** 2)

    expected = loss(start)
    runs.clear()
    jitted, differentiated = ad.jit(loss), ad.jit(ad.value_and_grad(loss))
    for _ in range(3):
        np.testing.assert_allclose(np.asarray(jitted(ad.asarray(start))), expected)
    assert runs == [ad.Array, np.ndarray]
    for _ in range(3):
        np.testing.assert_allclose(np.asarray(differentiated(ad.asarray(start))[0]), expected)
    assert runs == [ad.Array, np.ndarray] * 2


# -- linear functions ----------------------------------------------------------------------------------------------------------


def test_a_matrix_of_constants_is_scipys(library: str) -> None:
    def lin(x: Any) -> Any:
        two = ad.asarray(2)
        return two * x[:-1]

    matrix, bias = ad.matrix_from_function(lin, np.zeros(3))
    assert isinstance(matrix, sp.csr_array)
    assert matrix.nnz == 2
    assert matrix.toarray().tolist() == [[2, 0, 0], [0, 2, 0]]
    assert bias.tolist() == [0, 0]


def test_a_matrix_of_a_librarys_coefficients_is_the_librarys(library: str) -> None:
    matrix, _ = ad.matrix_from_function(lambda x, a: a * x[:-1], np.zeros(3), a=ad.asarray(2))
    assert isinstance(matrix, ad.sparse.SparseArray)
    own = matrix.tocoo().native
    assert type(own).__module__.partition(".")[0] == library
    assert tuple(own.shape) == tuple(matrix.shape) == (2, 3)
