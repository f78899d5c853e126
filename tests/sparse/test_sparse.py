"""ad.sparse against scipy.sparse: the same body on SciPy's arrays and on each library's."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from scipy import linalg

import arraydispatch as ad
from tests.launched import Zygotes
from tests.rows import each

RNG = np.random.default_rng(11)
FORMATS = ("coo", "csr", "csc")
S = sp.random_array((5, 7), density=0.4, rng=RNG, format="csr")
R = sp.random_array((5, 7), density=0.3, rng=RNG, format="csr")
Q = sp.random_array((7, 4), density=0.4, rng=RNG, format="csr")
X, Y, V = RNG.normal(size=(7, 3)), RNG.normal(size=(3, 5)), RNG.normal(size=7)
DENSE = RNG.normal(size=(5, 7))


def dense(x: Any) -> Any:
    """As an ndarray."""
    if isinstance(x, ad.sparse.SparseArray):
        assert isinstance(x.toarray(), ad.Array)
        return ad.to_numpy(x.toarray())
    return x.toarray() if sp.issparse(x) else ad.to_numpy(x)


# `m` makes a matrix and `d` a dense array: of SciPy's and NumPy's, and of the backend's
BODIES: dict[str, Callable[[Any, Any], Any]] = {
    "itself": lambda m, d: m(S),
    "vector": lambda m, d: m(S) @ d(V),
    "matrix": lambda m, d: m(S) @ d(X),
    "left": lambda m, d: d(Y) @ m(S),
    "left vector": lambda m, d: d(Y[0]) @ m(S),
    "dense of NumPy's": lambda m, d: m(S) @ X,
    "left of NumPy's": lambda m, d: Y @ m(S),
    "np.matmul": lambda m, d: m(S) @ d(X) if m is plain else np.matmul(m(S), d(X)),
    "sparse": lambda m, d: m(S) @ m(Q),
    "gram": lambda m, d: m(S).T @ m(S),
    "transpose": lambda m, d: m(S).T,
    "chain": lambda m, d: (m(S).T @ m(R)) @ d(V),
    "scalar": lambda m, d: 2 * m(S) / 4 - m(S) * 0.5,
    "zero": lambda m, d: m(S) + 0,
    "add": lambda m, d: m(S) + m(R),
    "subtract": lambda m, d: m(S) - m(R),
    "negative": lambda m, d: -m(S),
    "multiply": lambda m, d: m(S).multiply(m(R)),
    "multiply, dense": lambda m, d: m(S).multiply(d(DENSE)),
    "multiply, row": lambda m, d: m(S).multiply(d(V)),
    "multiply, column": lambda m, d: m(S).multiply(d(DENSE[:, :1])),
    "divide, column": lambda m, d: m(S) / d(DENSE[:, :1]),
    "add, dense": lambda m, d: m(S) + d(DENSE),
    "subtract from dense": lambda m, d: d(DENSE) - m(S),
    "sum": lambda m, d: m(S).sum(),
    "sum, 0": lambda m, d: m(S).sum(axis=0),
    "sum, 1": lambda m, d: m(S).sum(axis=-1),
    "sum of a dtype": lambda m, d: m(S).sum(axis=0, dtype=np.float32).astype(np.float64).round(4),
    "np.sum": lambda m, d: np.sum(m(S)),
    "np.mean": lambda m, d: np.mean(m(S), axis=0),
    "mean": lambda m, d: m(S).mean(axis=1),
    "diagonal": lambda m, d: m(S).diagonal(),
    "diagonal, above": lambda m, d: m(S).diagonal(2),
    "diagonal, below": lambda m, d: m(S).diagonal(-3),
    "trace": lambda m, d: m(S).trace(),
    "power": lambda m, d: m(S).power(2),
    "abs": lambda m, d: abs(m(S) - m(R)),
    "sqrt": lambda m, d: np.sqrt(m(S)),
    "dot": lambda m, d: m(S).dot(d(V)),
    "eliminated": lambda m, d: (m(S) - m(S)) @ d(V),
    "no elements": lambda m, d: m(sp.csr_array((5, 7))) @ d(X) + m(sp.csr_array((5, 7))).sum(axis=1)[:, None],
}  # fmt: skip
ROWS: dict[str, Callable[[Any, Any], Any]] = {
    "rows": lambda m, d: m(S)[1:4],
    "step": lambda m, d: m(S)[::-2],
    "columns": lambda m, d: m(S)[:, 2:5],
    "both": lambda m, d: m(S)[1:, :-2],
    "list": lambda m, d: m(S)[[3, 0, 0]],
    "mask": lambda m, d: m(S)[np.array([True, False, True, True, False])],
    "element": lambda m, d: m(S)[int(S.tocoo().row[3]), int(S.tocoo().col[3])],
    "nothing there": lambda m, d: m(sp.csr_array((5, 7)))[2, 2],
    "one row": lambda m, d: m(S)[2] if m is not plain else m(S).toarray()[2],
    "one column": lambda m, d: m(S)[:, -1] if m is not plain else m(S).toarray()[:, -1],
}


def plain(x: Any) -> Any:
    return x


@each("format", FORMATS)
@each("name", list(BODIES))
def test_as_scipy(name: str, backend: str, format: str) -> None:
    with ad.backend(backend):
        ours = BODIES[name](lambda x: ad.sparse.from_scipy(x.asformat(format)), ad.asarray)
        expected = BODIES[name](plain, plain)
        if sp.issparse(expected):
            assert isinstance(ours, ad.sparse.SparseArray)
        if not np.isscalar(expected):
            assert ours.backend.name == backend
        found = dense(ours)
        assert found.dtype == expected.dtype
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, dense(expected), rtol=1e-13, atol=1e-14)


@each("format", FORMATS)
@each("name", list(ROWS))
def test_indexing(name: str, backend: str, format: str) -> None:
    with ad.backend(backend):
        found = dense(ROWS[name](lambda x: ad.sparse.from_scipy(x.asformat(format)), ad.asarray))
    expected = dense(ROWS[name](plain, plain))
    assert found.shape == np.shape(expected)
    assert found.tolist() == np.asarray(expected).tolist()


@each("format", FORMATS)
@each("dtype", ["float32", "complex128", "int64", "int32"])
def test_dtypes(dtype: str, backend: str, format: str) -> None:
    matrix = sp.csr_array((S * 10).astype(dtype)) * (1 if dtype != "complex128" else 1 - 2j)
    x = (X * 10).astype("float32")
    with ad.backend(backend):
        ours = ad.sparse.from_scipy(matrix.asformat(format))
        for found, expected in (
            (ours @ ad.asarray(x), matrix @ x),
            (ours.sum(axis=0), matrix.sum(axis=0)),
            ((ours.conj().T @ ours).toarray(), (matrix.conj().T @ matrix).toarray()),
        ):
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(ad.to_numpy(found), expected, rtol=3e-6)


@each("format", FORMATS)
def test_formats_and_their_own_types(backend: str, format: str) -> None:
    with ad.backend(backend):
        ours = ad.sparse.from_scipy(S).asformat(format)
        assert ours.format == format and ours.shape == S.shape and ours.nnz == S.nnz
        back = ours.to_scipy()
        assert back.format == format and (back != S).nnz == 0
        for other in FORMATS:
            assert ours.asformat(other).to_scipy().toarray().tolist() == S.toarray().tolist()
        if backend == "tensorflow" and format != "coo":
            with pytest.raises(TypeError, match="TensorFlow has no sparse type in the format"):
                _ = ours.native
            return
        again = ad.sparse.from_native(ours.native)
        assert again.format == format and again.backend.name == backend
        assert dense(again).tolist() == S.toarray().tolist()


def test_how_they_are_made(backend: str) -> None:
    data, row, col = [1.0, 2.0, 3.0, 4.0], [2, 0, 2, 1], [1, 1, 1, 0]
    expected = sp.coo_array((data, (row, col)), shape=(3, 2)).toarray()
    with ad.backend(backend):
        values = ad.asarray(data)
        for make in (ad.sparse.coo_array, ad.sparse.csr_array, ad.sparse.csc_array):
            assert dense(make((values, (row, col)))).tolist() == expected.tolist()
            assert dense(make(ad.asarray(expected))).tolist() == expected.tolist()
            assert dense(make((4, 2))).tolist() == np.zeros((4, 2)).tolist()
            assert make((data, (row, col)), dtype="float32").dtype == np.float32
        csr, csc = S.tocsr(), S.tocsc()
        ours = ad.sparse.csr_array((csr.data, csr.indices, csr.indptr), shape=csr.shape)
        assert ours.indices.tolist() == csr.indices.tolist() and ours.indptr.tolist() == csr.indptr.tolist()
        assert dense(ad.sparse.csc_array((csc.data, csc.indices, csc.indptr))).tolist() == S.toarray().tolist()
        assert dense(ad.sparse.eye_array(3, 4, k=1)).tolist() == np.eye(3, 4, 1).tolist()
        lines = [np.full(4, -2.0), np.ones(3), [3.0]]
        assert (
            dense(ad.sparse.diags_array(lines, offsets=[0, 1, -2])).tolist()
            == sp.diags_array(lines, offsets=[0, 1, -2], shape=(4, 4)).toarray().tolist()
        )
        a, b = ad.sparse.from_scipy(S), ad.sparse.from_scipy(R)
        assert dense(ad.sparse.vstack([a, b])).tolist() == sp.vstack([S, R]).toarray().tolist()
        assert dense(ad.sparse.hstack([a, b])).tolist() == sp.hstack([S, R]).toarray().tolist()
        assert dense(ad.sparse.block_diag([a, b])).tolist() == sp.block_diag([S, R]).toarray().tolist()
        copy = pickle.loads(pickle.dumps(a))
        assert dense(copy).tolist() == S.toarray().tolist()


@each("format", FORMATS)
def test_batches(backend: str, format: str, drawn: Callable[..., list[Any]]) -> None:
    with ad.backend(backend):
        batch = ad.sparse.stack([ad.sparse.from_scipy(x.asformat(format)) for x in (S, R)])
        assert batch.shape == (2, 5, 7)
        expected = np.stack([S.toarray(), R.toarray()])
        np.testing.assert_array_equal(dense(batch), expected)
        one = ad.sparse.from_scipy(S)
        ways: list[tuple[Callable[[], Any], Any]] = [
            (lambda: batch @ ad.asarray(X), expected @ X),
            (lambda: batch @ ad.asarray(V), expected @ V),
            (lambda: batch.sum(axis=0), expected.sum(axis=1)),
            (lambda: batch.T @ batch, np.swapaxes(expected, 1, 2) @ expected),
            (lambda: batch * 2 + one, 2 * expected + S.toarray()),
            (lambda: one @ ad.asarray(np.stack([X, 2 * X])), np.stack([S @ X, S @ X * 2])),
        ]
        for ours, theirs in drawn(ways, backend, 2):
            np.testing.assert_allclose(dense(ours()), theirs, rtol=1e-13)
        if backend != "numpy" and not (backend == "tensorflow" and format != "coo"):
            if backend == "jax" and format == "csc":
                with pytest.raises(TypeError, match="no batches"):
                    _ = batch.native
            else:
                assert tuple(batch.native.shape) == (2, 5, 7)


LOWER = sp.csr_array(np.tril(RNG.normal(size=(6, 6)) * (RNG.random((6, 6)) < 0.5)) + 2 * np.eye(6))


@each("format", FORMATS)
@each("lower", [True, False])
@each("unit", [True, False])
def test_triangular(backend: str, format: str, lower: bool, unit: bool) -> None:
    from scipy.sparse.linalg import spsolve_triangular

    matrix = LOWER if lower else LOWER.T.tocsr()
    b = RNG.normal(size=(6, 2))
    with ad.backend(backend), ad.fallback("silent"):
        ours = ad.sparse.from_scipy(matrix.asformat(format))
        for right in (b, b[:, 0]):
            found = ad.sparse.solve_triangular(ours, ad.asarray(right), lower=lower, unit_diagonal=unit)
            expected = spsolve_triangular(matrix, right, lower=lower, unit_diagonal=unit)
            assert found.backend.name == backend
            np.testing.assert_allclose(ad.to_numpy(found), expected, rtol=1e-12)
    if backend != "numpy":
        with ad.fallback("error"), pytest.raises(ad.HostFallbackError, match="solve_triangular"):
            ad.sparse.solve_triangular(ours, ad.asarray(b, backend=backend))


def test_what_does_not_fit(backend: str) -> None:
    with ad.backend(backend), ad.fallback("silent"):
        a = ad.sparse.from_scipy(S)
        for wrong in (
            lambda: a @ a, lambda: a @ np.ones(5), lambda: np.ones(7) @ a, lambda: a + a.T, lambda: a * a.T,
            lambda: a * np.ones(5), lambda: ad.sparse.coo_array(([1.0], ([3], [0])), shape=(3, 3)),
            lambda: ad.sparse.coo_array(([1.0, 2.0], ([0], [0]))), lambda: ad.sparse.csr_array(([1.0], [0], [0, 2])),
            lambda: a.asformat("dia"), lambda: ad.sparse.vstack([a, a.T]), lambda: ad.sparse.stack([a, a.T]),
            lambda: ad.sparse.solve_triangular(a, np.ones(5)), lambda: a.power(0), lambda: bool(a), lambda: a @ 3,
        ):  # fmt: skip
            with pytest.raises(ValueError):
                wrong()
        with pytest.raises(IndexError):
            a[9]
        with pytest.raises(NotImplementedError, match="nonzero scalar"):
            a + 1
        for none in (lambda: np.asarray(a), lambda: ad.sparse.coo_array("a"), lambda: a @ "b", lambda: len(a), lambda: 1 / a,
                     lambda: np.cos(a), lambda: ad.sparse.from_native(3), lambda: a == a.copy(), lambda: a != 0, lambda: a < 1,
                     lambda: a >= a, lambda: hash(a)):  # fmt: skip
            with pytest.raises(TypeError):
                none()
        assert (a == None, a != "a") == (False, True)  # noqa: E711
        with pytest.raises(np.linalg.LinAlgError, match="singular"):
            ad.sparse.solve_triangular(ad.sparse.eye_array(3, k=-1), np.ones(3))


def test_scipy_takes_them(backend: str) -> None:
    from scipy.sparse.linalg import aslinearoperator

    with ad.backend(backend):
        a = ad.sparse.from_scipy(S)
        np.testing.assert_allclose(aslinearoperator(a).matvec(V), S @ V)
        np.testing.assert_allclose(aslinearoperator(a).rmatvec(DENSE[:, 0]), S.T @ DENSE[:, 0])
        np.testing.assert_allclose(dense(a @ Q), (S @ Q).toarray())
        np.testing.assert_allclose(dense(a + R), (S + R).toarray())


IN_SCIPY: dict[str, Any] = {
    "spsolve": lambda A, b: sla.spsolve(A, b=b),
    "splu": lambda A, b: sla.splu(A).solve(b),
    "factorized": lambda A, b: sla.factorized(A)(b),
    "cg": lambda A, b: sla.cg(A @ A.T, b, rtol=1e-12)[0],
    "norm": lambda A, b: sla.norm(A),
    "inv": lambda A, b: sla.inv(A),
    "expm": lambda A, b: sla.expm(A / 9),
    "expm_multiply": lambda A, b: sla.expm_multiply(A / 9, b),
    "eigsh": lambda A, b: sla.eigsh(A @ A.T, k=2, v0=b, return_eigenvectors=False),
    "csr_array": lambda A, b: sp.csr_array(A),
    "coo_matrix": lambda A, b: sp.coo_matrix(A),
    "lil_array": lambda A, b: sp.lil_array(A),
    "kron": lambda A, b: sp.kron(A, A),
    "tril": lambda A, b: sp.tril(A),
    "vstack": lambda A, b: sp.vstack([sp.csr_array(A), sp.csc_array(A)]),
    "by @": lambda A, b: SQUARE @ A - A @ SQUARE,
    "by *": lambda A, b: SQUARE * A,
    "by +": lambda A, b: SQUARE + A,
}
SQUARE = sp.csc_array(np.eye(6) * 5 + np.arange(36.0).reshape(6, 6) % 5)


def test_scipys_functions_of_them(backend: str) -> None:
    b = np.linspace(-1, 2, 6)
    found = []
    with ad.backend(backend), ad.fallback("silent"), warnings.catch_warnings():
        warnings.simplefilter("ignore", sp.SparseEfficiencyWarning)
        A, x = ad.sparse.from_scipy(SQUARE), ad.asarray(b)
        for name, body in IN_SCIPY.items():
            made, wanted = body(A, x), body(SQUARE, b)
            if not np.allclose(dense(made), dense(wanted), rtol=1e-9, atol=1e-12):
                found.append(f"{name}: {made} for {wanted}")
            if name in ("inv", "expm") and not (
                isinstance(made, ad.sparse.SparseArray) and made.data.backend.name == backend
            ):
                found.append(f"{name}: a {type(made).__name__}")
            if name in ("spsolve", "cg", "eigsh") and not (isinstance(made, ad.Array) and made.backend.name == backend):
                found.append(f"{name}: a {type(made).__name__}")
        with pytest.raises(TypeError, match=r"to_scipy\(\)"):
            sp.csgraph.laplacian(A)
        with pytest.raises(TypeError, match="no batches"):
            sp.csr_array(ad.sparse.stack([A, A]))
        with pytest.raises(ValueError, match=r"[Ss]parse"):
            linalg.solve(A, x)
    with ad.backend(backend), ad.fallback("error"):
        if backend != "numpy":
            with pytest.raises(ad.HostFallbackError, match="spsolve"):
                sla.spsolve(ad.sparse.from_scipy(SQUARE), ad.asarray(b))
    assert found == []


def test_scipys_classes_take_them_behind_a_launchers_doors(tmp_path: Path, zygotes: Zygotes) -> None:
    """Which are on SciPy's classes before there is a sparse array."""
    (tmp_path / "main.py").write_text(
        "import numpy as np, scipy.sparse as sp\nD = sp.csc_array(np.eye(4) * 3)\nimport arraydispatch as ad\n"
        "A = ad.sparse.from_scipy(D)\nprint(sp.csr_array(A).sum(), sp.kron(A, A).sum(), (D @ A).toarray().sum())\n"
    )
    done = zygotes.of("numpy").run("main.py", cwd=tmp_path)
    assert (done.code, done.stdout) == (0, "12.0 144.0 36.0\n"), done.stderr
