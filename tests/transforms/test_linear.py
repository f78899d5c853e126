"""matrix_from_function: the matrix times the argument is what the function gives, and what is not linear is refused at its line."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import arraydispatch as ad

RNG = np.random.default_rng(3)
C, D, K = RNG.normal(size=(3, 4)), RNG.normal(size=(4, 5)), RNG.normal(size=3)


def laplace(u: Any) -> Any:
    v = np.zeros_like(u)
    v[1:-1, 1:-1] = u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
    return v


def aliases(x: Any) -> Any:
    y = x.copy()
    row, column = y[1], y.T[0]
    row += 2 * x[0]
    column[...] = x[:, 1] / 4
    y[[0, 2], [1, 1]] -= 1
    return y


VECTORS: dict[str, Callable[[Any], Any]] = {
    "itself": lambda x: x,
    "affine": lambda x: 3 - 2 * x / 5 + K,
    "weights": lambda x: x * K,
    "constant": lambda x: np.arange(4.0),
    "number": lambda x: x[1],
    "sum": np.sum,
    "mean": lambda x: x.mean(),
    "cumsum": np.cumsum,
    "diff": lambda x: np.diff(x, 2),
    "slices": lambda x: x[::-1][:2] + x[1:],
    "fancy": lambda x: x[[2, 0, 0, 1]],
    "mask": lambda x: x[np.array([True, False, True])],
    "roll": lambda x: np.roll(x, 1),
    "pad": lambda x: np.pad(x, (1, 2), constant_values=5.0),
    "wrap": lambda x: np.pad(x, 2, mode="wrap"),
    "concatenate": lambda x: np.concatenate([x[1:], [7.0], x]),
    "stack": lambda x: np.stack([x, np.ones(3), 2 * x], axis=1),
    "where": lambda x: np.where([True, False, True], x, 9.0),
    "outer": lambda x: np.outer(K, x),
    "dot": lambda x: np.dot(K, x),
    "vdot": lambda x: np.vdot(x, K),
    "matrix": lambda x: C.T @ x,
    "other side": lambda x: x @ C,
    "convolve": lambda x: np.convolve(x, [1.0, 2.0]),
    "same": lambda x: np.convolve([1.0, 2.0, 3.0, 4.0], x, "same"),
    "valid": lambda x: np.convolve(x, [1.0, -1.0], "valid"),
    "correlate": lambda x: np.correlate([1.0, 2.0, 3.0, 4.0], x),
    "correlate, full": lambda x: np.correlate(x, [1.0, 2.0], "full"),
    "tile": lambda x: np.tile(x, (2, 2)),
    "repeat": lambda x: np.repeat(x, [1, 0, 2]),
    "diag": np.diag,
    "loop": lambda x: sum(k * e for k, e in zip(K, x)),
    "lists": lambda x: np.stack([x[0], x[1] + 1]) * [1.0, 2.0],
    "complex": lambda x: x * (1 + 2j),
    "trapezoid": lambda x: np.sum((x[1:] + x[:-1]) * 0.5),
}  # fmt: skip
MATRICES: dict[str, Callable[[Any], Any]] = {
    "laplace": laplace,
    "aliases": aliases,
    "transpose": lambda m: m.T * 2,
    "reshape": lambda m: m.reshape(2, -1)[1],
    "flip": lambda m: np.flip(m, 1),
    "rot90": np.rot90,
    "sum, axis": lambda m: m.sum(axis=0) - np.sum(m, axis=1, keepdims=True),
    "mean, axis": lambda m: np.mean(m, axis=1),
    "cumsum, axis": lambda m: np.cumsum(m, axis=0),
    "matmul": lambda m: m @ D,
    "left": lambda m: C.T @ (m @ D)[:3],
    "einsum": lambda m: np.einsum("ij,jk,i->ki", m, D, np.arange(4.0)),
    "einsum, diagonal": lambda m: np.einsum("ii->i", m),
    "tensordot": lambda m: np.tensordot(C, m, axes=(1, 0)),
    "inner": lambda m: np.inner(m, C),
    "trace": np.trace,
    "tril": lambda m: np.tril(m, -1),
    "diagonal": lambda m: np.diagonal(m, 1),
    "take": lambda m: np.take(m, [3, 0], axis=1),
    "swap": lambda m: np.moveaxis(m[None], 0, -1).squeeze(),
    "broadcast": lambda m: m[:, None] + m[None, :, 0],
    "hstack": lambda m: np.hstack([m, np.eye(4)]),
    "iadd": lambda m: _in_place(m.copy()),
}  # fmt: skip


def _in_place(m: Any) -> Any:
    m += 1
    m[1:] *= 2
    m[0] -= m[1]
    return m


@pytest.mark.parametrize("name", [*VECTORS, *MATRICES])
def test_matrix_times_the_argument(name: str) -> None:
    f = VECTORS.get(name) or MATRICES[name]
    x = RNG.normal(size=(3,) if name in VECTORS else (4, 4))
    matrix, bias = ad.matrix_from_function(f, np.empty_like(x))
    expected = np.asarray(f(x.copy()))
    assert isinstance(matrix, sp.csr_array)
    assert matrix.shape == (expected.size, x.size)
    np.testing.assert_allclose(matrix @ x.ravel() + bias, expected.ravel(), rtol=1e-12, atol=1e-12)


def test_laplacian_of_a_grid() -> None:
    matrix, bias = ad.matrix_from_function(laplace, np.empty((100, 100)))
    assert matrix.nnz == 5 * 98 * 98
    assert not bias.any()


def test_several_arguments_and_constants() -> None:
    def f(p, y, *, k):
        return np.concatenate([p["a"] * k, y - p["b"][0]])

    matrix, bias = ad.matrix_from_function(f, {"a": np.empty(2), "b": np.empty((2, 1))}, 1.0, k=3.0)
    assert matrix.toarray().tolist() == [[3, 0, 0, 0, 0], [0, 3, 0, 0, 0], [0, 0, -1, 0, 1]]
    assert bias.tolist() == [0, 0, 0]


def test_coefficients_of_a_library(library: str) -> None:
    k = ad.asarray(K)
    matrix, bias = ad.matrix_from_function(lambda x: x[::-1] * k + 1, ad.asarray(np.zeros(3)))
    assert isinstance(matrix, ad.sparse.SparseArray)
    assert (matrix.format, matrix.backend.name) == ("csr", library)
    np.testing.assert_allclose(dense(matrix), np.diag(K)[:, ::-1])
    assert bias.tolist() == [1, 1, 1]
    matrix, _ = ad.matrix_from_function(lambda x: x * 2, ad.asarray(np.zeros(3)))
    assert isinstance(matrix, sp.csr_array)


def dense(matrix: Any) -> Any:
    """A sparse matrix of any library as an ndarray."""
    if isinstance(matrix, sp.sparray):
        return matrix.toarray()
    return ad.to_numpy(matrix.toarray())


def test_arrays_made_inside_are_numpys(library: str) -> None:
    matrix, _ = ad.matrix_from_function(lambda x: ad.asarray(K) * x, np.empty(3))
    assert isinstance(matrix, sp.csr_array)
    assert ad.default_backend().name == library


def test_examples_have_matrices_of_their_own(library: str) -> None:
    def f(x, y, *, k):
        return np.concatenate([np.cumsum(x, axis=-1)[..., ::-1] * k + 1, y], axis=-1)

    x, y, k = RNG.normal(size=(2, 3, 5)), RNG.normal(size=(2, 3, 2)), RNG.normal(size=(2, 3, 1))
    for factor in (k, ad.asarray(k)):
        matrices, bias = ad.matrix_from_function(f, np.empty_like(x), np.empty_like(y), batch_dims=2, k=factor)
        assert matrices.shape == (2, 3) and bias.shape == (2, 3, 7)
        assert isinstance(matrices[0, 0], sp.csr_array) is (factor is k)
        expected = f(x, y, k=k)
        for i in np.ndindex(2, 3):
            made = dense(matrices[i]) @ np.concatenate([x[i], y[i]]) + bias[i]
            np.testing.assert_allclose(made, expected[i], rtol=1e-12, atol=1e-12)


def test_examples_are_kept_apart() -> None:
    x = np.empty((2, 3))
    with pytest.raises(ad.TraceError, match="result 0 depends on example 1"):
        ad.matrix_from_function(lambda x: x[::-1], x, batch_dims=1)
    with pytest.raises(ValueError, match="axes of examples"):
        ad.matrix_from_function(lambda x: x.sum(axis=0), x, batch_dims=1)
    with pytest.raises(ValueError, match="the same 1 leading axes"):
        ad.matrix_from_function(lambda x, y: x + y, x, np.empty(3), batch_dims=1)
    with pytest.raises(ValueError, match="the same 2 leading axes"):
        ad.matrix_from_function(lambda x: x, np.empty(3), batch_dims=2)


def test_memory_is_that_of_the_coefficients() -> None:
    def bytes_for_each(n: int) -> float:
        tracemalloc.start()
        try:
            matrix, _ = ad.matrix_from_function(laplace, np.empty((n, n)))
            return tracemalloc.get_traced_memory()[1] / matrix.nnz
        finally:
            tracemalloc.stop()

    ad.matrix_from_function(laplace, np.empty((3, 3)))  # what is imported first is not counted
    assert bytes_for_each(200) < 1.1 * bytes_for_each(100) < 150


NOT_LINEAR = [
    lambda x: x * x, lambda x: np.sin(x) + 1, lambda x: x**2, lambda x: 1 / x, lambda x: np.where(x > 0, x, 0), np.max, np.prod, abs,
    lambda x: x if x.sum() > 0 else -x, lambda x: float(x[0]), np.sort, np.fft.fft, lambda x: np.arange(3.0)[x],
    lambda x: np.einsum("i,i->", x, x), lambda x: np.convolve(x, x), lambda x: np.take(K, x), lambda x: np.roll(x, x[0]),
]  # fmt: skip


@pytest.mark.parametrize("f", NOT_LINEAR)
def test_what_is_not_linear_is_named_with_its_line(f: Any) -> None:
    with pytest.raises(ad.TraceError, match=r"is not linear .*, at .*test_linear\.py:\d+"):
        ad.matrix_from_function(f, np.empty(3))


def test_bad_input() -> None:
    def writes(x):
        y = np.zeros(3)
        np.add(x, 1, out=y)
        return y

    with pytest.raises(ad.TraceError, match=r"np\.zeros_like"):
        ad.matrix_from_function(writes, np.empty(3))
    with pytest.raises(TypeError, match="is a str"):
        ad.matrix_from_function(lambda x: x, "a")
    with pytest.raises(TypeError, match="one array"):
        ad.matrix_from_function(lambda x: (x, x), np.empty(3))
