"""What the systems that this one is modelled on can do: one test for each row of part B of tests/features.md."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import arraydispatch as ad

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "tests" / "features.md"


def values(x: Any) -> Any:
    return ad.to_numpy(x)


def needs_derivatives(backend: str) -> None:
    if backend == "numpy":
        pytest.skip("inapplicable: the numpy backend computes forward only")
    chosen = ad.backend(backend)
    if "compiler" in chosen.OPTIONS:
        chosen.configure(compiler="eager")


def test_b1_default_backend(backend: str) -> None:
    with ad.backend(backend) as chosen:
        assert ad.default_backend() is chosen is ad.context_backend()
        assert ad.asarray([1.0]).backend is chosen


def test_b2_the_data_decide(backend: str) -> None:
    x = ad.asarray([1.0, 2.0], backend=backend)
    with ad.backend("numpy"):
        assert (x + 1).backend.name == backend
    assert ad.wrap(np.ones(2)).backend.name == "numpy"


def test_b3_one_library_in_a_call(backend: str) -> None:
    x = ad.asarray([1.0, 2.0], backend=backend)
    assert (np.ones(2) + x).backend.name == backend
    other = "torch" if backend != "torch" else "jax"
    if backend != "numpy":
        with pytest.raises(ad.BackendMismatchError, match=f"{backend}|{other}"):
            x + ad.asarray([1.0, 2.0], backend=other)


def test_b4_convert(backend: str) -> None:
    x = ad.convert(np.arange(3.0), backend)
    assert x.backend.name == backend
    assert ad.convert(x, ad.backend(backend)) is x
    with ad.backend("numpy"):
        assert values(ad.convert(x)).tolist() == [0, 1, 2] and ad.convert(x).backend.name == "numpy"


def test_b5_numpy_constants(backend: str) -> None:
    needs_derivatives(backend)
    runs = []

    def table() -> Any:
        runs.append(1)
        return np.exp(np.linspace(0, 1, 4))

    f = ad.jit(lambda x: x * table())
    x = ad.asarray(np.ones(4), backend=backend)
    for _ in range(3):
        np.testing.assert_allclose(values(f(x)), np.exp(np.linspace(0, 1, 4)))
    assert len(runs) == 1


def test_b6_matrix_of_a_linear_function(backend: str) -> None:
    with ad.backend(backend):
        matrix, bias = ad.matrix_from_function(lambda x: 2 * x[::-1] + 1, np.empty(3))
        assert isinstance(matrix, sp.csr_array) and bias.tolist() == [1, 1, 1]
        k = ad.asarray([1.0, 2.0, 3.0])
        held, _ = ad.matrix_from_function(lambda x: k * x, np.empty(3))
        assert values(held.toarray()).tolist() == np.diag([1.0, 2.0, 3.0]).tolist()
        assert backend == "numpy" or (isinstance(held, ad.sparse.SparseArray) and held.backend.name == backend)


def test_b7_active_backend(backend: str) -> None:
    assert backend in ad.available_backends()
    ab = ad.active_backend
    with ad.backend(backend):
        for made in (ab.eye(2), ab.tensor([1.0, 2.0]), ab.normal(0.0, 1.0, 2), ab.uniform(0.0, 1.0, 2)):
            assert not isinstance(made, ad.Array) and ad.wrap(made).backend.name == backend
            assert isinstance(ab.to_numpy(made), np.ndarray)


def test_b8_options_are_never_ignored(backend: str) -> None:
    with pytest.raises(TypeError, match="has no option"):
        ad.use(backend, no_such_option=1)
    assert all(isinstance(meaning, str) for meaning in ad.backend(backend).OPTIONS.values())


def test_b9_devices(backend: str) -> None:
    (first, *_) = ad.devices(backend, kind="CPU")
    assert first.kind == "CPU" and first.processor_count > 0 and first.description
    x = ad.asarray([1.0], backend=backend, device="cpu")
    assert x.device == "cpu"
    with pytest.raises(ad.DeviceNotFoundError):
        ad.asarray([1.0], backend=backend, device="tpu:7")


def test_b10_precision(backend: str) -> None:
    assert ad.get_precision() is None
    with ad.backend(backend), ad.precision(32):
        assert ad.get_precision() == 32 and (ad.asarray([1.0]) / 3).dtype == np.float32


def test_b11_choosing(backend: str) -> None:
    x = ad.asarray([1.0], backend=backend)
    assert ad.choose_backend(x, np.ones(1)).name == backend
    with ad.backend(backend):
        assert ad.choose_backend(1.0, prefer_default=True).name == backend
    with pytest.raises(ad.NoBackendFoundError):
        ad.choose_backend("text")
    assert ad.backend(backend).supports("float64") and not ad.backend(backend).supports("telepathy")
    assert values(ad.convert(x, "numpy", dlpack=False)).tolist() == [1]


def test_b12_profile(backend: str, tmp_path: Path, capsys: Any) -> None:
    x = ad.asarray(np.ones(8), backend=backend)
    with ad.profile() as told:
        np.sin(x).sum()
    told.print()
    assert "sin" in capsys.readouterr().out
    told.save(tmp_path / "trace.json")
    assert json.loads((tmp_path / "trace.json").read_text())
    timed = ad.profile_function(np.cos, (x,), call_count=2)
    timed.print()
    assert "cos" in capsys.readouterr().out


def test_b13_transforms(backend: str) -> None:
    needs_derivatives(backend)
    x = ad.asarray([1.0, 2.0], backend=backend)
    f = lambda x: (x**3).sum()
    np.testing.assert_allclose(values(ad.grad(f)(x)), [3, 12])
    np.testing.assert_allclose(values(ad.hessian(f)(x)), [[6, 0], [0, 12]])
    np.testing.assert_allclose(values(ad.jacobian(lambda x: x * x)(x)), [[2, 0], [0, 4]])
    np.testing.assert_allclose(float(ad.jit(f)(x)), 9)
    np.testing.assert_allclose(values(ad.grad(lambda x: (ad.stop_gradient(x) * x).sum())(x)), [1, 2])
    mine = ad.custom_gradient(lambda x: x * x, lambda args, _, ct: (ct * 7,))
    np.testing.assert_allclose(values(ad.grad(lambda x: mine(x).sum())(x)), [7, 7])


def test_b14_control(backend: str) -> None:
    x = ad.asarray([[1.0, 2.0], [3.0, 4.0]], backend=backend)
    np.testing.assert_allclose(values(ad.vmap(lambda row: row.sum())(x)), [3, 7])
    np.testing.assert_allclose(values(ad.host_call(lambda x: x + 1, np.empty((2, 2)), x)), values(x) + 1)
    np.testing.assert_allclose(values(ad.while_loop(lambda y: y.sum() < 100, lambda y: y * 2, x)), values(x) * 16)
    assert [row.tolist() for row in values(ad.while_loop(lambda _: True, lambda y: y * 2, x[0], [0, 2]))] == [
        [1, 2],
        [4, 8],
    ]
    assert not ad.is_traced(x)
    ad.synchronize(x)


@pytest.mark.compiles(2)  # each call is in the tests of its topic too
def test_b15_dense_catalogue(backend: str) -> None:
    host = np.array([3.0, 1.0, 2.0, 1.0])
    x = ad.asarray(host, backend=backend)
    for f in (
        lambda x: np.pad(x, 2, mode="reflect"), lambda x: np.pad(x, 1, mode="edge"), lambda x: np.take(x, [2, 0]),
        lambda x: np.histogram(x, 3)[0], lambda x: np.bincount(x.astype(int)), np.unique, lambda x: np.quantile(x, 0.3), np.sort,
        lambda x: np.searchsorted(np.sort(x), 1.5), np.cumsum, lambda x: np.nonzero(x > 1)[0], lambda x: x[x > 1],
        lambda x: np.repeat(x, 2), lambda x: np.tile(x, (2, 1)), lambda x: np.meshgrid(x, x)[1], lambda x: np.linspace(x, 5, 3, endpoint=False),
        lambda x: np.ravel_multi_index((x.astype(int), x.astype(int)), (3, 3), mode="clip"),
        lambda x: np.unravel_index(x.astype(int), (2, 3))[1],
        lambda x: np.tensordot(x, x, 1), lambda x: np.einsum("i,j->ij", x, x), np.fft.fft, lambda x: np.convolve(x, [1.0, 2.0]),
    ):  # fmt: skip
        np.testing.assert_allclose(values(f(x)), f(host), rtol=1e-12, atol=1e-12)
    sums = ad.asarray(np.zeros(3), backend=backend)
    np.add.at(sums, np.array([0, 2, 2, 1]), x)
    assert values(sums).tolist() == [3, 1, 3]
    assert values(ad.nonzero(x > 1, size=3)[0]).tolist()[:2] == [0, 2]


def test_b16_dense_linear_algebra(backend: str) -> None:
    host = np.array([[4.0, 1.0], [2.0, 3.0]])
    A = ad.asarray(host, backend=backend)
    for f in (np.linalg.matrix_rank, np.linalg.svdvals, np.diagonal, lambda A: np.linalg.lstsq(A, A[0])[0], lambda A: np.sort(np.linalg.eigvals(A).real)):  # fmt: skip
        np.testing.assert_allclose(values(f(A)), f(host), rtol=1e-10)
    with ad.fallback("silent"):
        found = ad.sparse.solve_triangular(ad.sparse.csr_array(A), ad.asarray([1.0, 2.0], backend=backend))
    np.testing.assert_allclose(values(found), np.linalg.solve(np.tril(host), [1.0, 2.0]))


def test_b17_special_functions(backend: str) -> None:
    from scipy import special

    host = np.array([0.5, 1.5, 4.0])
    x = ad.asarray(host, backend=backend)
    for f in (
        special.erf,
        special.gammaln,
        lambda x: special.gammainc(2.0, x),
        special.expit,
        lambda x: special.xlogy(x, x),
    ):
        found = f(x)
        assert isinstance(found, ad.Array) and found.backend.name == backend
        np.testing.assert_allclose(values(found), f(host), rtol=1e-12)


def test_b18_sparse(backend: str) -> None:
    matrix = sp.random_array((4, 5), density=0.5, rng=np.random.default_rng(0), format="csr")
    with ad.backend(backend):
        for format in ("coo", "csr", "csc"):
            A = ad.sparse.from_scipy(matrix).asformat(format)
            np.testing.assert_allclose(values(A @ ad.asarray(np.arange(5.0))), matrix @ np.arange(5.0))
            assert (A.to_scipy() != matrix).nnz == 0
        assert ad.sparse.stack([A, A * 2]).shape == (2, 4, 5)


@pytest.mark.compiles(2)  # each call is in the tests of its topic too
def test_b19_linear_solve(backend: str, drawn: Callable[..., list[str]]) -> None:
    matrix = sp.diags_array([np.full(4, -1.0), np.full(5, 3.0), np.full(4, -1.0)], offsets=[-1, 0, 1]).tocsr()
    with ad.backend(backend), ad.fallback("silent"):
        for method in drawn(("cg", "cg-adaptive", "bicgstab(2)", "gmres", "direct", "scipy-cg"), backend, 2):
            found = ad.linear_solve(ad.sparse.from_scipy(matrix), ad.asarray(np.ones(5)), method, preconditioner=None)
            np.testing.assert_allclose(values(found.solution), np.linalg.solve(matrix.toarray(), np.ones(5)), rtol=1e-4)
            assert bool(found.converged) and not bool(found.diverged) and float(found.residual) < 1e-4


def test_b20_minimize(backend: str) -> None:
    with ad.backend(backend):
        found = ad.minimize(lambda x: ((x - 3) ** 2).sum(), ad.asarray([0.0, 1.0]), trajectory=True)
    assert found.success and len(found.trajectory) == found.nit + 1
    np.testing.assert_allclose(values(found.x), [3, 3], atol=1e-4)


def test_b21_random(backend: str) -> None:
    with ad.backend(backend):
        draws = []
        for _ in range(2):
            ad.random.seed(4)
            draws.append([values(x).tolist() for x in (
                ad.random.normal(size=3), ad.random.uniform(size=3), ad.random.integers(9, size=3), ad.random.permutation(5))])  # fmt: skip
        assert draws[0] == draws[1]


def test_b22_hints_and_modules(backend: str) -> None:
    assert "float64" in ad.backend(backend).capabilities
    x = ad.asarray([1.0, 2.0], backend=backend)
    assert values(ad.call(lambda native: native + native, x)).tolist() == [2, 4]


def test_b23_objects_stay_numpys(backend: str) -> None:
    with pytest.raises(TypeError):
        ad.asarray(np.array(["a", None], dtype=object), backend=backend)
    x = ad.asarray([1.0, 2.0], backend=backend)
    with ad.fallback("silent"):
        assert isinstance(x.astype(object), np.ndarray)


# -- the page ----------------------------------------------------------------------------------------------------------------


def test_the_page_names_a_test_for_each_row_and_each_test_is_there() -> None:
    rows = re.findall(r"^\| ([AB]\d+) \|.*\| ([^|]*) \| ([^|]*) \|$", PAGE.read_text(), re.MULTILINE)
    assert [name for name, *_ in rows] == [*(f"A{i}" for i in range(1, 17)), *(f"B{i}" for i in range(1, 24))]
    for name, state, tests in rows:
        named = re.findall(r"`([^`]+)`", tests)
        assert bool(named) != (state == "**not there**"), f"{name} names no test"
        for test in named:
            file, _, function = test.partition("::")
            assert (ROOT / "tests" / file).exists(), f"{name}: there is no {file}"
            assert not function or f"def {function}(" in (ROOT / "tests" / file).read_text(), (
                f"{name}: there is no {test}"
            )
    assert {re.match(r"test_(b\d+)_", f)[1].upper() for f in globals() if re.match(r"test_b\d", f)} == {  # type: ignore[index]
        name for name, *_ in rows if name[0] == "B"
    }
