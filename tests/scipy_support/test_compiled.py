"""Compiled functions of SciPy's, its optimisers of arrays, and its sparse matrices beside arrays: with SciPy's results, and nothing overwritten."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy")

from scipy import interpolate, linalg, optimize, sparse, spatial
from scipy.sparse import linalg as solvers

import arraydispatch as ad
from arraydispatch.array import Array
from tests.launched import Zygotes
from tests.rows import each

RNG = np.random.default_rng(7)
M = RNG.normal(size=(4, 4)) + 4 * np.eye(4)
B = RNG.normal(size=4)
BANDED = sparse.diags_array([-1.0, 2.5, -1.0], offsets=[-1, 0, 1], shape=(4, 4)).tocsc()
D = np.array([[1.0, 0, 2], [0, 0, 3]])
CSR = sparse.csr_array(np.array([[0, 1.0, 2], [3, 0, 0]]))


def same(found: Any, wanted: Any, backend: str) -> None:
    """Arrays of the backend where SciPy has ndarrays, with its dtypes and values."""
    if isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for x, y in zip(found, wanted):
            same(x, y, backend)
        return
    if isinstance(wanted, np.ndarray):
        assert isinstance(found, Array) and found.backend.name == backend and found.dtype == wanted.dtype
    np.testing.assert_allclose(ad.to_numpy(found), wanted, rtol=1e-10, atol=1e-12)


ROUTINES = {
    "dgesv": linalg.lapack.dgesv,
    "of a list": lambda m, b: linalg.get_lapack_funcs(("gesv", "potrf"), (m, b))[0](m, b),
    "by name": lambda m, b: linalg.get_lapack_funcs("gesv", (m, b))(m, b),
    "in lapack": lambda m, b: linalg.lapack.get_lapack_funcs("getrf", (m,))(m),
    "dgemm": lambda m, b: linalg.blas.dgemm(2.0, m, m),
    "daxpy": lambda m, b: linalg.get_blas_funcs("axpy", (b,))(b, b, a=3.0),
    "overwrites": lambda m, b: linalg.lapack.dgesv(m, b, overwrite_a=True, overwrite_b=True)[2],
}


@each("name", list(ROUTINES))
def test_routines_of_lapack_write_where_scipys_do(name: str, backend: str) -> None:
    plain = [x.copy() for x in (M, B)]
    m, b = (ad.asarray(x, backend=backend, copy=True) for x in (M, B))
    with ad.fallback("silent"):
        same(ROUTINES[name](m, b), ROUTINES[name](*plain), backend)
    np.testing.assert_allclose(ad.to_numpy(m), plain[0], rtol=1e-12)
    np.testing.assert_allclose(ad.to_numpy(b), plain[1], rtol=1e-12)
    assert (plain[1] != B).any() == (name in ("daxpy", "overwrites"))


def test_routines_are_scipys_own_beside() -> None:
    routine = linalg.get_lapack_funcs("gesv", (M,))
    assert routine.typecode == "d" and isinstance(linalg.lapack.dgesv(M, B)[2], np.ndarray)
    assert "gesv" in linalg.lapack.dgesv.__doc__ and isinstance(linalg.lapack.dgesv, type(linalg._flapack.dgesv))


@each("make", ["splu", "spilu", "factorized"])
def test_factors_take_arrays(make: str, backend: str) -> None:
    made = getattr(solvers, make)(BANDED)
    solve = made if make == "factorized" else made.solve
    with ad.fallback("silent"):
        same(solve(ad.asarray(B, backend=backend)), solve(B), backend)
    assert isinstance(solve(B), np.ndarray)
    if make == "splu":
        assert made.shape == (4, 4) and isinstance(made, solvers.SuperLU) and made.L.shape == (4, 4)
        with ad.fallback("silent"):
            same(made.solve(ad.asarray(M, backend=backend), "T"), made.solve(M, "T"), backend)


SOLVES = {
    "spsolve": lambda a, b: solvers.spsolve(BANDED, b),
    "cg": lambda a, b: solvers.cg(BANDED, b)[0],
    "gmres of a dense matrix": lambda a, b: solvers.gmres(a, b)[0],
    "operator": lambda a, b: solvers.aslinearoperator(BANDED).matvec(b),
    "expm_multiply": lambda a, b: solvers.expm_multiply(BANDED, b),
    "norm": lambda a, b: solvers.norm(BANDED),
    "nnls": lambda a, b: optimize.nnls(a, abs(b)),
    "lsq_linear": lambda a, b: optimize.lsq_linear(a, b, bounds=(0, 0.1)).x,
    "linear_sum_assignment": lambda a, b: optimize.linear_sum_assignment(a),
    "linprog": lambda a, b: optimize.linprog(abs(b), A_ub=-abs(a), b_ub=-abs(b)).x,
    "isotonic_regression": lambda a, b: optimize.isotonic_regression(b).x,
}


@each("name", list(SOLVES))
def test_functions_of_arrays(name: str, backend: str) -> None:
    a, b = (ad.asarray(x, backend=backend) for x in (M, B))
    with ad.fallback("silent"):
        same(SOLVES[name](a, b), SOLVES[name](M, B), backend)
    if backend != "numpy" and name != "norm":
        with ad.fallback("error"), pytest.raises(ad.HostFallbackError, match=r"scipy\."):
            SOLVES[name](a, b)


def test_derivatives_of_the_users_that_are_arrays(backend: str) -> None:
    t = np.linspace(0, 4, 30)
    x, w = ad.asarray(t, backend=backend), ad.asarray([1.0, 2.0], backend=backend)

    def f(x: Any, a: Any, b: Any) -> Any:
        return a * np.exp(-b * x)

    def df(x: Any, a: Any, b: Any) -> Any:
        return np.stack([np.exp(-b * x), -a * x * np.exp(-b * x)], axis=1)

    y = f(x, 2.5, 1.3)
    for method in ("lm", "trf", "dogbox"):
        np.testing.assert_allclose(optimize.curve_fit(f, x, y, (1, 1), jac=df, method=method)[0], [2.5, 1.3], rtol=1e-6)
    found = optimize.least_squares(lambda p: f(x, *p) - y, [1.0, 1.0], jac=lambda p: df(x, *p), bounds=(0, 5))
    np.testing.assert_allclose(found.x, [2.5, 1.3], rtol=1e-6)
    for method in ("hybr", "lm"):
        root = optimize.root(lambda p: w * p**2 - 2, [1.0, 1.0], jac=lambda p: np.diag(2 * w * p), method=method)
        np.testing.assert_allclose(root.x, np.sqrt([2.0, 1.0]), rtol=1e-8)
    bound = optimize.NonlinearConstraint(lambda p: w * p, -1, 1, jac=lambda p: np.diag(w))
    least = optimize.minimize(lambda p: np.sum((p - 3) ** 2), [0.0, 0.0], jac=lambda p: 2 * (p - 3), constraints=bound)
    np.testing.assert_allclose(least.x, [1.0, 0.5], atol=1e-6)


MATRICES = {
    "csr @ vector": lambda c, a, b, i: c @ b,
    "csc @ matrix": lambda c, a, b, i: c.tocsc() @ a,
    "vector @ coo": lambda c, a, b, i: b @ c.tocoo(),
    "matrix @ csr": lambda c, a, b, i: a @ c,
    "dot": lambda c, a, b, i: c.dot(b),
    "matrix of SciPy's * vector": lambda c, a, b, i: sparse.csr_matrix(c) * b,
    "multiply": lambda c, a, b, i: c.multiply(a).toarray(),
    "csr * matrix": lambda c, a, b, i: (c * a).toarray(),
    "csr / matrix": lambda c, a, b, i: (c / a).toarray(),
    "maximum": lambda c, a, b, i: c.maximum(a),
    "rows": lambda c, a, b, i: c[i].toarray(),
    "elements": lambda c, a, b, i: c[i, i],
    "rows by a mask": lambda c, a, b, i: c[b > 0].toarray(),
    "rows written": lambda c, a, b, i: written(c.tolil(), i, b).toarray(),
}


def written(c: Any, i: Any, b: Any) -> Any:
    c[0, :] = b
    c[i, 1] = b[i]
    return c


@each("name", list(MATRICES))
def test_sparse_matrices_of_scipys_meet_arrays(name: str, backend: str) -> None:
    """Never without a word: the matrix is the host's."""
    csr, i = sparse.csr_array(BANDED), np.array([0, 2])
    a, b, k = (ad.asarray(x, backend=backend) for x in (M, B, i))
    wanted = MATRICES[name](csr, M, B, i)
    with ad.fallback("silent"):
        found = MATRICES[name](csr, a, b, k)
    if isinstance(found, Array):
        same(found, wanted, backend)
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-12)
    if backend != "numpy":
        with ad.fallback("error"), pytest.raises(ad.HostFallbackError, match=r"scipy\.sparse\."):
            MATRICES[name](csr, a, b, k)


POINTS = RNG.normal(size=(30, 2))
PLACES = {
    "cKDTree": lambda p: spatial.cKDTree(p).query(p, k=3),
    "cKDTree of ndarrays": lambda p: spatial.cKDTree(POINTS).query(p),
    "KDTree": lambda p: spatial.KDTree(POINTS).query(p, k=2),
    "ball": lambda p: [sorted(x) for x in spatial.cKDTree(POINTS).query_ball_point(p, 0.4)],
    "ConvexHull": lambda p: spatial.ConvexHull(p).volume,
    "Delaunay": lambda p: np.sort(spatial.Delaunay(p).simplices).tolist(),
    "find_simplex": lambda p: spatial.Delaunay(POINTS).find_simplex(p / 2),
    "tsearch": lambda p: spatial.tsearch(spatial.Delaunay(POINTS), p / 2),
    "Voronoi": lambda p: spatial.Voronoi(p).vertices.tolist(),
    "LinearNDInterpolator": lambda p: interpolate.LinearNDInterpolator(POINTS, POINTS[:, 0])(p / 2),
}


@each("name", list(PLACES))
def test_points_in_space(name: str, backend: str) -> None:
    p = ad.asarray(POINTS, backend=backend)
    with ad.fallback("silent"):
        same(PLACES[name](p), PLACES[name](POINTS), backend)
    if backend != "numpy":
        with ad.fallback("error"), pytest.raises(ad.HostFallbackError, match=r"scipy\.(spatial|interpolate)\."):
            PLACES[name](p)


def test_a_tree_is_one_of_scipys() -> None:
    tree = spatial.cKDTree(POINTS)
    assert isinstance(tree, spatial.cKDTree) and isinstance(spatial.KDTree(POINTS), spatial.cKDTree)
    assert issubclass(spatial.KDTree, spatial.cKDTree) and not isinstance(3, spatial.cKDTree)
    for other in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert isinstance(other, spatial.cKDTree)
        np.testing.assert_array_equal(other.query(POINTS, k=2)[1], tree.query(POINTS, k=2)[1])

    class Own(spatial.cKDTree):  # type: ignore[misc]
        pass

    assert isinstance(Own(POINTS), spatial.cKDTree) and not isinstance(tree, Own)


OPERATORS = {
    "sparse + dense": lambda c, d: c + d,
    "dense + sparse": lambda c, d: d + c,
    "sparse - dense": lambda c, d: c - d,
    "dense - sparse": lambda c, d: d - c,
    "equal": lambda c, d: d == c,
    "sparse, not equal": lambda c, d: c != d,
    "greater": lambda c, d: d > c,
    "sparse, at most": lambda c, d: c <= d,
    "a matrix": lambda c, d: d + sparse.csr_matrix(c),
}


@each("name", list(OPERATORS))
def test_sparse_matrices_of_scipys_beside_arrays(name: str, backend: str) -> None:
    d = ad.asarray(D, backend=backend)
    wanted = OPERATORS[name](CSR, D)
    with ad.fallback("silent"):
        found = OPERATORS[name](CSR, d)
    if type(wanted) is np.ndarray:
        same(found, wanted, backend)
    else:
        assert type(found) is type(wanted)
        np.testing.assert_array_equal(found, wanted)
    with ad.fallback("silent"):
        np.testing.assert_array_equal(ad.to_numpy(d @ CSR.T), D @ CSR.T)
        np.testing.assert_array_equal((d * CSR).toarray(), (D * CSR).toarray())
    with pytest.raises(ValueError, match="shape"), ad.fallback("silent"):
        d[:, :2] + CSR


SCRIPT = """
import numpy as np
from scipy import linalg, sparse
from scipy.optimize import lsq_linear
from scipy.sparse.linalg import splu
A = np.array([[4.0, 1.0], [1.0, 3.0]])
b = np.array([1.0, 2.0])
print(linalg.lapack.dgesv(A, b)[2], b, splu(sparse.csc_array(A)).solve(b))
print(lsq_linear(A, b, bounds=(0, 0.05)).x, isinstance(splu(sparse.csc_array(A)).solve(b) * 2, np.ndarray))
"""


@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_in_a_script(backend: str, zygotes: Zygotes, tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(SCRIPT)
    plain, ours = (zygote.run("main.py", cwd=tmp_path) for zygote in (zygotes.plain, zygotes.of(backend)))
    assert plain.code == ours.code == 0, ours.stderr
    assert ours.stdout == plain.stdout
