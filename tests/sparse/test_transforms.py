"""Sparse matrices inside transforms: derivatives by their values, programs, many at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

import arraydispatch as ad
from tests.rows import each
from tests.transforms.conftest import library, whole

__all__ = ["library"]

RNG = np.random.default_rng(5)
S = sp.random_array((4, 6), density=0.5, rng=RNG, format="csr")
R = sp.random_array((4, 6), density=0.4, rng=RNG, format="csr")
T = sp.csr_array(np.tril(RNG.normal(size=(4, 4)) * (RNG.random((4, 4)) < 0.6), -1) + 2 * np.eye(4))
X, V, W = RNG.normal(size=(6, 2)), RNG.normal(size=6), RNG.normal(size=4)

LOSSES = {
    "vector": lambda a, x: (np.sin(a @ x) ** 2).sum(),
    "left": lambda a, x: ((x[:4] @ a) ** 3).sum(),
    "gram": lambda a, x: ((a.T @ a) @ x).sum(),
    "arithmetic": lambda a, x: ((a * 2 - a / 3) @ x).sum(),
    "sum": lambda a, x: (a.sum(axis=0) * x).sum(),
    "dense": lambda a, x: (
        (a.multiply(x).sum(axis=1) ** 2).sum() if hasattr(a, "nnz") else ((a * x).sum(axis=1) ** 2).sum()
    ),
    "rows": lambda a, x: ((a[1:3] @ x) ** 2).sum(),
    "transpose": lambda a, x: ((a.T @ (a @ x)) ** 2).sum(),
}


@each("format", ["coo", "csr", "csc"])
@each("name", list(LOSSES))
def test_gradient_is_that_of_the_dense_matrix(name: str, format: str, library: str) -> None:
    f = LOSSES[name]
    a = ad.sparse.from_scipy(S.asformat(format))
    gradients = whole(ad.grad(f, (0, 1)), library)
    by_matrix, by_vector = gradients(a, ad.asarray(V))
    expected, of_vector = gradients(ad.asarray(S.toarray()), ad.asarray(V))
    assert isinstance(by_matrix, ad.sparse.SparseArray) and by_matrix.format == format
    np.testing.assert_allclose(ad.to_numpy(by_matrix.data), ad.to_numpy(expected)[a.row, a.col], rtol=1e-11)
    np.testing.assert_allclose(ad.to_numpy(by_vector), ad.to_numpy(of_vector), rtol=1e-11)


def test_complex_and_second_derivatives(library: str) -> None:
    a = ad.sparse.from_scipy(S * (1 - 2j))
    f = lambda a, x: (np.abs(a @ x) ** 2).sum()
    gradients = whole(ad.grad(f, (0, 1)), library)
    found = gradients(a, ad.asarray(V * (2 + 1j)))
    expected = gradients(a.toarray(), ad.asarray(V * (2 + 1j)))
    np.testing.assert_allclose(ad.to_numpy(found[0].data), ad.to_numpy(expected[0])[a.row, a.col], rtol=1e-11)
    np.testing.assert_allclose(ad.to_numpy(found[1]), ad.to_numpy(expected[1]), rtol=1e-11)
    b = ad.sparse.from_scipy(S)
    hessian = whole(ad.hessian(lambda x: ((b @ x) ** 3).sum()), library)(ad.asarray(V))
    expected = S.T.toarray() @ (6 * (S @ V)[:, None] * S.toarray())
    np.testing.assert_allclose(ad.to_numpy(hessian), expected, rtol=1e-10, atol=1e-12)


@each("name", list(LOSSES))
def test_in_a_program(name: str, library: str) -> None:
    f = LOSSES[name]
    a = ad.sparse.from_scipy(S)
    compiled = ad.jit(f)
    for k in (1.0, 2.0):
        np.testing.assert_allclose(float(compiled(a * k, ad.asarray(V))), f(S.toarray() * k, V), rtol=1e-11)
    made = ad.jit(lambda a, x: a * x)(a, ad.asarray(2.0))
    np.testing.assert_allclose(ad.to_numpy(made.toarray()), 2 * S.toarray())


def test_many_at_once(library: str) -> None:
    a = ad.sparse.from_scipy(S)
    x = ad.asarray(np.stack([V, 2 * V, -V]))
    np.testing.assert_allclose(ad.to_numpy(ad.vmap(lambda x: a @ x)(x)), ad.to_numpy(x) @ S.T.toarray(), rtol=1e-12)
    batch = ad.sparse.stack([S, R])
    np.testing.assert_allclose(
        ad.to_numpy(ad.vmap(lambda m: m @ ad.asarray(V))(batch)), np.stack([S @ V, R @ V]), rtol=1e-12
    )


@each("lower", [True, False])
@each("unit", [True, False])
def test_triangular(library: str, lower: bool, unit: bool) -> None:
    matrix = T if lower else T.T.tocsr()
    a = ad.sparse.from_scipy(matrix)

    def of_dense(m: Any, b: Any) -> Any:
        m = np.tril(m) if lower else np.triu(m)
        m = m - np.diag(np.diagonal(m)) + np.eye(4) if unit else m
        return (np.linalg.solve(m, b) ** 2).sum()

    def of_sparse(m: Any, b: Any) -> Any:
        return (ad.sparse.solve_triangular(m, b, lower=lower, unit_diagonal=unit) ** 2).sum()

    with ad.fallback("silent"):
        found = whole(ad.grad(of_sparse, (0, 1)), library)(a, ad.asarray(W))
        expected = whole(ad.grad(of_dense, (0, 1)), library)(a.toarray(), ad.asarray(W))
        np.testing.assert_allclose(
            ad.to_numpy(found[0].data), ad.to_numpy(expected[0])[a.row, a.col], rtol=1e-10, atol=1e-13
        )
        np.testing.assert_allclose(ad.to_numpy(found[1]), ad.to_numpy(expected[1]), rtol=1e-10)
        if lower and not unit:
            np.testing.assert_allclose(
                float(ad.jit(of_sparse)(a, ad.asarray(W))), float(of_dense(T.toarray(), W)), rtol=1e-11
            )


def test_places_are_part_of_the_program(library: str) -> None:
    runs = []

    @ad.jit
    def f(a):
        runs.append(1)
        return a.sum(axis=1)

    for m in (S, S * 2, sp.csr_array(S.toarray()), R):
        np.testing.assert_allclose(ad.to_numpy(f(ad.sparse.from_scipy(m))), m.sum(axis=1), rtol=1e-12)
    assert len(runs) == 2  # the places of S, and those of R
