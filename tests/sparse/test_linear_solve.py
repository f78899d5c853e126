"""ad.linear_solve against SciPy and np.linalg.solve."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import arraydispatch as ad
from tests.rows import each
from tests.transforms.conftest import library, whole

__all__ = ["library"]

Drawn = Callable[..., list[Any]]

pytestmark = [pytest.mark.compiles(3), pytest.mark.traces(3)]  # each solver is a program of many steps

RNG = np.random.default_rng(2)
N = 12
SPD = sp.diags_array([np.full(N - 1, -1.0), np.linspace(2.5, 4, N), np.full(N - 1, -1.0)], offsets=[-1, 0, 1]).tocsr()
GENERAL = sp.csr_array(SPD + sp.random_array((N, N), density=0.2, rng=RNG))
B = RNG.normal(size=(3, N))
ITERATIVE = ["cg", "cg-adaptive", "bicgstab", "bicgstab(2)", "biCG-stab(4)", "gmres"]
METHODS = [*ITERATIVE, "direct", "scipy-cg", "scipy-gmres", "scipy-bicgstab", "scipy-minres", "scipy-direct", "auto"]
FORMS = {
    "dense": lambda m: ad.asarray(m.toarray()),
    "sparse": ad.sparse.from_scipy,
    "scipy": lambda m: m,
    "function": lambda m: lambda x: x @ m.toarray().T,
}


def function(x: Any) -> Any:
    """The matrix SPD, written with NumPy."""
    y = np.linspace(2.5, 4, N) * x
    y[..., 1:] -= x[..., :-1]
    y[..., :-1] -= x[..., 1:]
    return y


@pytest.mark.traces(2)
@each("form", list(FORMS))
@each("method", METHODS)
def test_solution(method: str, form: str, backend: str, drawn: Drawn) -> None:
    if form == "function" and "direct" in method:
        with ad.backend(backend), pytest.raises(ValueError, match="no matrix to factorize"):
            ad.linear_solve(FORMS[form](SPD), ad.asarray(B[0]), method)
        return
    with ad.backend(backend), ad.fallback("silent"):
        A = FORMS[form](SPD)
        solved = [
            (ad.linear_solve(A, ad.asarray(b), method, rtol=1e-9, batch_dims=b.ndim - 1), b)
            for b in drawn((B[0], B), backend, 2)
        ]
    for found, b in solved:
        assert found.solution.backend.name == backend
        assert found.solution.shape == b.shape and found.residual.shape == found.iterations.shape == b.shape[:-1]
        np.testing.assert_allclose(ad.to_numpy(found.solution), np.linalg.solve(SPD.toarray(), b.T).T, rtol=1e-7)
        assert np.all(ad.to_numpy(found.converged)) and not np.any(ad.to_numpy(found.diverged))
        assert np.all(ad.to_numpy(found.residual) <= 1e-8 * np.linalg.norm(b, axis=-1))
        assert "converged after" in found.message


@each("method", ["bicgstab", "bicgstab(2)", "gmres", "direct", "scipy-gmres", "scipy-lgmres"])
@each("kind", ["float32", "complex128"])
def test_not_symmetric(method: str, kind: str, backend: str) -> None:
    matrix = (GENERAL * (1 + 0.5j if kind == "complex128" else 1)).astype(kind)
    b = (B + 1j * B[::-1] if kind == "complex128" else B).astype(kind)
    rtol = 1e-9 if kind == "complex128" else 1e-5
    with ad.backend(backend), ad.fallback("silent"):
        found = ad.linear_solve(ad.sparse.from_scipy(matrix), ad.asarray(b), method, rtol=rtol)
    assert found.solution.dtype == kind and np.all(ad.to_numpy(found.converged))
    np.testing.assert_allclose(
        ad.to_numpy(found.solution), np.linalg.solve(matrix.toarray(), b.T).T, rtol=1e4 * rtol, atol=1e2 * rtol
    )


@each("preconditioner", [None, "jacobi"])
def test_steps_are_those_of_scipy(preconditioner: Any, backend: str) -> None:
    scaled = sp.csr_array(SPD * np.linspace(1, 30, N) * np.linspace(1, 30, N)[:, None])
    steps: list[int] = []
    M = sp.diags_array(1 / scaled.diagonal()) if preconditioner else None
    expected, _ = sla.cg(scaled, B[0], rtol=1e-8, M=M, callback=lambda _: steps.append(1))
    with ad.backend(backend):
        found = ad.linear_solve(
            ad.sparse.from_scipy(scaled), ad.asarray(B[0]), "cg", rtol=1e-8, preconditioner=preconditioner
        )
    assert abs(int(found.iterations) - len(steps)) <= 1
    np.testing.assert_allclose(ad.to_numpy(found.solution), expected, rtol=1e-6, atol=1e-9)


@each("method", ["cg", "cg-adaptive", "bicgstab(2)", "gmres", "scipy-cg"])
@each("kind", ["jacobi", "ilu", "matrix", "function"])
def test_preconditioners(kind: str, method: str, backend: str) -> None:
    with ad.backend(backend), ad.fallback("silent"):
        inverse = np.diag(1 / SPD.diagonal())
        given = {"matrix": inverse, "function": lambda r: r / SPD.diagonal()}.get(kind, kind)
        found = ad.linear_solve(ad.sparse.from_scipy(SPD), ad.asarray(B), method, rtol=1e-9, preconditioner=given)
        np.testing.assert_allclose(ad.to_numpy(found.solution), np.linalg.solve(SPD.toarray(), B.T).T, rtol=1e-7)
        if kind == "ilu":
            assert int(np.max(ad.to_numpy(found.iterations))) <= (2 if method != "gmres" else N)


def test_rows_that_are_done_stay_as_they_are(backend: str) -> None:
    with ad.backend(backend):
        A, tolerances = ad.sparse.from_scipy(SPD), np.array([1e-1, 1e-4, 1e-10])
        solve = whole(lambda A, b, rtol: ad.linear_solve(A, b, "cg", rtol=rtol), backend)
        found = solve(A, ad.asarray(B), ad.asarray(tolerances))
        alone = [solve(A, ad.asarray(b), ad.asarray(rtol)) for b, rtol in zip(B, tolerances)]
    steps = ad.to_numpy(found.iterations).tolist()
    assert steps == [int(x.iterations) for x in alone] and steps[0] < steps[1] < steps[2]
    np.testing.assert_allclose(ad.to_numpy(found.solution), [ad.to_numpy(x.solution) for x in alone], rtol=1e-9)


def test_matrices_of_a_batch_and_a_beginning(backend: str, drawn: Drawn) -> None:
    stack = np.stack([SPD.toarray(), 2 * SPD.toarray(), GENERAL.toarray()])
    with ad.backend(backend), ad.fallback("silent"):
        batch = ad.sparse.stack([SPD, SPD * 2, GENERAL])
        ways = [(batch, "bicgstab(2)"), (ad.asarray(stack), "gmres"), (ad.asarray(stack), "direct"), (batch, "direct")]
        for A, method in drawn(ways, backend, 2):
            solve = whole(lambda A, b, method=method: ad.linear_solve(A, b, method, rtol=1e-9), backend)
            found = solve(A, ad.asarray(B[0]))
            np.testing.assert_allclose(
                ad.to_numpy(found.solution), np.linalg.solve(stack, B[0][:, None])[..., 0], rtol=1e-6
            )
        known = np.linalg.solve(SPD.toarray(), B[0])
        solve = whole(lambda A, b, x0: ad.linear_solve(A, b, "cg", x0=x0), backend)
        assert int(solve(ad.sparse.from_scipy(SPD), ad.asarray(B[0]), ad.asarray(known)).iterations) == 0
        periodic = whole(
            lambda b: ad.linear_solve(lambda u: 4 * u - np.roll(u, 1, 0) - np.roll(u, 1, 1), b, rtol=1e-9), backend
        )
        grid = periodic(ad.asarray(B))
        u = ad.to_numpy(grid.solution)
        np.testing.assert_allclose(4 * u - np.roll(u, 1, 0) - np.roll(u, 1, 1), B, atol=1e-7)


@each("method", [*ITERATIVE, "scipy-cg"])
def test_what_is_not_solved_is_told(method: str, backend: str) -> None:
    indefinite = sp.csr_array(np.diag([1.0, -1.0, 1.0, -1.0]) if method == "cg" else np.zeros((4, 4)))
    b = np.array([1.0, 1.0, 1.0, 1.0])
    with ad.backend(backend), ad.fallback("silent"):
        A = ad.sparse.from_scipy(indefinite)
        with pytest.raises(ValueError, match=r"x0 of shape \(3,\) does not fit a solution of shape"):
            ad.linear_solve(np.eye(2), np.ones(2), method="cg", x0=np.ones(3))
        with pytest.raises(ad.ConvergenceError, match="has not solved the system"):
            ad.linear_solve(A, ad.asarray(b), method, on_failure="raise")
        with pytest.warns(ad.ConvergenceWarning, match="residual of"):
            found = ad.linear_solve(A, ad.asarray(b), method, max_iter=3)
        assert not bool(found.converged)
        if method in ITERATIVE:
            assert bool(found.diverged)
        with pytest.warns(ad.ConvergenceWarning, match="did not reach the tolerance"):
            ad.linear_solve(ad.sparse.from_scipy(SPD), ad.asarray(B[0]), method, max_iter=2, rtol=1e-14)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ad.linear_solve(A, ad.asarray(b), method, max_iter=3, on_failure="ignore")
            zero = ad.linear_solve(A, ad.asarray(b * 0), method)
        assert bool(zero.converged) and not np.any(ad.to_numpy(zero.solution))


def test_singular(backend: str) -> None:
    with ad.backend(backend), ad.fallback("silent"):
        for A in (
            ad.asarray(np.zeros((3, 3))),
            ad.sparse.coo_array((3, 3)),
            ad.sparse.from_scipy(sp.csr_array(np.ones((3, 3)))),
        ):
            with pytest.raises(np.linalg.LinAlgError, match=r"[Ss]ingular"):
                ad.linear_solve(A, ad.asarray(np.ones(3)), "direct")
        with pytest.raises(np.linalg.LinAlgError, match="incomplete LU factorization failed"):
            ad.linear_solve(ad.sparse.coo_array((3, 3)), ad.asarray(np.ones(3)), "gmres", preconditioner="ilu")


def test_bad_input(backend: str) -> None:
    with ad.backend(backend), ad.fallback("silent"):
        A, b = ad.sparse.from_scipy(SPD), ad.asarray(B[0])
        for wrong in (
            lambda: ad.linear_solve(A, b, "newton"), lambda: ad.linear_solve(A, b, "bicgstab(0)"), lambda: ad.linear_solve(A, b, "scipy-x"),
            lambda: ad.linear_solve(A, b[1:]), lambda: ad.linear_solve(A[1:], b), lambda: ad.linear_solve(A, b, preconditioner="best"),
            lambda: ad.linear_solve(function, b, preconditioner="jacobi"), lambda: ad.linear_solve(A, b, max_iter=-1),
            lambda: ad.linear_solve(lambda x: x[1:], b), lambda: ad.linear_solve(A, b, preconditioner=np.eye(3)),
            lambda: ad.linear_solve(A, b, on_failure="cry"), lambda: ad.linear_solve(function, b, "direct"),
        ):  # fmt: skip
            with pytest.raises(ValueError):
                wrong()
        for none in (lambda: ad.linear_solve("A", b), lambda: ad.linear_solve(A, b, args=(1,))):
            with pytest.raises(TypeError):
                none()


def test_the_words_about_a_method_name_none_that_there_is_not() -> None:
    with pytest.raises(ValueError) as told:
        ad.linear_solve(np.eye(2), np.ones(2), "bicgstab(l)")
    for method in re.findall(r"'([^']+)'", str(told.value))[1:]:
        with ad.fallback("silent"):
            assert ad.linear_solve(np.eye(2), np.ones(2), method).converged


HOSTILE: dict[str, tuple[Any, Any]] = {
    "rtol below 0": (lambda A, b: ad.linear_solve(A, b, rtol=-1.0), ValueError),
    "rtol not a number": (lambda A, b: ad.linear_solve(A, b, rtol=np.nan), ValueError),
    "rtol of other rows": (lambda A, b: ad.linear_solve(A, ad.asarray(B), rtol=np.ones(2)), ValueError),
    "no b": (lambda A, b: ad.linear_solve(A, ad.asarray(1.0)), ValueError),
    "no matrix": (lambda A, b: ad.linear_solve(b, b), ValueError),
    "objects": (lambda A, b: ad.linear_solve(SPD.toarray().astype(object), b), TypeError),
    "beginning": (lambda A, b: ad.linear_solve(A, b, "cg", x0=np.ones(N - 1)), ValueError),
    "too many axes": (lambda A, b: ad.linear_solve(function, b, batch_dims=2), ValueError),
    "axes below 0": (lambda A, b: ad.linear_solve(function, b, batch_dims=-1), ValueError),
    "no method": (lambda A, b: ad.linear_solve(A, b, None), TypeError),
    "half a step": (lambda A, b: ad.linear_solve(A, b, "cg", max_iter=2.5), TypeError),
    "function of one number": (lambda A, b: ad.linear_solve(lambda x: 3.0, b), ValueError),
    "function of nothing": (lambda A, b: ad.linear_solve(lambda x: None, b), ValueError),
    "function into complex numbers": (lambda A, b: ad.linear_solve(lambda x: x * 1j, b), ValueError),
    "function that raises": (lambda A, b: ad.linear_solve(lambda x: {}["x"], b), KeyError),
    "preconditioner of fewer": (lambda A, b: ad.linear_solve(A, b, "cg", preconditioner=lambda r: r[:2]), ValueError),
    "preconditioner of nothing": (lambda A, b: ad.linear_solve(A, b, "cg", preconditioner=lambda r: None), ValueError),
}


@each("what", list(HOSTILE))
def test_hostile_input_is_refused(what: str, backend: str) -> None:
    call, error = HOSTILE[what]
    with ad.backend(backend), ad.fallback("silent"), pytest.raises(error):
        call(ad.sparse.from_scipy(SPD), ad.asarray(B[0]))


ALL = ["cg", "cg-adaptive", "bicgstab", "bicgstab(2)", "gmres", "direct", "scipy-cg", "scipy-gmres"]


@each("method", ALL)
def test_what_is_not_finite_is_never_solved(method: str, backend: str) -> None:
    """Nor is it a singular matrix."""
    with ad.backend(backend), ad.fallback("silent"), np.errstate(invalid="ignore"):
        for wrong in (np.nan, np.inf):
            b = B.copy()
            b[1, 3] = wrong
            found = ad.linear_solve(ad.asarray(SPD.toarray()), ad.asarray(b), method, on_failure="ignore")
            assert ad.to_numpy(found.converged).tolist() == [True, False, True]
            assert not np.isfinite(ad.to_numpy(found.residual)[1])
        broken = SPD.toarray()
        broken[2, 2] = np.nan
        with pytest.warns(ad.ConvergenceWarning):
            found = ad.linear_solve(ad.asarray(broken), ad.asarray(B[0]), method)
        assert not bool(found.converged)


@each("method", ALL)
def test_numbers_whose_squares_are_out_of_range(method: str, backend: str) -> None:
    if method.startswith("scipy-"):
        return  # SciPy's own stop at once: they take the length for infinite, or for 0
    with ad.backend(backend), ad.fallback("silent"):
        for size in (1e250, 1e-250):
            b = np.stack([B[0] * size, B[1]])
            found = ad.linear_solve(ad.asarray(SPD.toarray()), ad.asarray(b), method, rtol=1e-9)
            assert ad.to_numpy(found.converged).all()
            by = np.array([[size], [1.0]])
            np.testing.assert_allclose(
                ad.to_numpy(found.solution) / by, np.linalg.solve(SPD.toarray(), (b / by).T).T, rtol=1e-6
            )


@each("method", ALL)
def test_nothing_to_do(method: str, backend: str) -> None:
    """No right-hand side, no unknowns, no systems, no steps; a beginning that is the solution."""
    A = SPD.toarray()
    with ad.backend(backend), ad.fallback("silent"):
        for x0 in (None, np.ones(N)):
            zero = ad.linear_solve(ad.asarray(A), ad.asarray(np.zeros(N)), method, x0=x0)
            assert bool(zero.converged) and not ad.to_numpy(zero.solution).any()
        none = ad.linear_solve(ad.asarray(np.zeros((0, 0))), ad.asarray(np.zeros(0)), method)
        assert none.solution.shape == (0,) and bool(none.converged)
        rows = ad.linear_solve(ad.asarray(A), ad.asarray(np.zeros((0, N))), method)
        assert rows.solution.shape == (0, N) and rows.converged.shape == (0,)
        done = ad.linear_solve(ad.asarray(A), ad.asarray(A @ np.ones(N)), method, x0=np.ones(N))
        assert bool(done.converged) and (method == "direct" or int(done.iterations) == 0)
        if method != "direct":
            still = ad.linear_solve(ad.asarray(A), ad.asarray(B[0]), method, max_iter=0, on_failure="ignore")
            assert not bool(still.converged) and not ad.to_numpy(still.solution).any()


@each("method", ["cg", "bicgstab(2)", "gmres", "direct"])
@each("kinds", [("int64", "int64"), ("bool", "int32"), ("float32", "float64"), ("float64", "complex128")])
def test_dtypes_of_the_two(kinds: tuple[str, str], method: str, backend: str) -> None:
    A, b = (SPD.toarray() * 4).round().astype(kinds[0]), np.arange(1, N + 1).astype(kinds[1])
    A = np.eye(N, dtype=bool) if kinds[0] == "bool" else A
    with ad.backend(backend), ad.fallback("silent"):
        found = ad.linear_solve(ad.asarray(A), ad.asarray(b), method, rtol=1e-10)
    assert found.solution.dtype == np.result_type(A, b, np.float64) and bool(found.converged)
    np.testing.assert_allclose(ad.to_numpy(found.solution), np.linalg.solve(A, b), rtol=1e-7)


def test_of_several_systems_one_may_diverge(backend: str) -> None:
    stack = np.stack([SPD.toarray(), np.zeros((N, N)), SPD.toarray()])
    A, b = (ad.asarray(x, backend=backend) for x in (stack, B[0]))
    with pytest.warns(ad.ConvergenceWarning, match="1 of 3 systems"):
        found = ad.linear_solve(A, b, "cg", rtol=1e-9)
    assert ad.to_numpy(found.converged).tolist() == [True, False, True]
    assert ad.to_numpy(found.diverged).tolist() == [False, True, False]
    np.testing.assert_allclose(ad.to_numpy(found.solution)[2], np.linalg.solve(SPD.toarray(), B[0]), rtol=1e-7)


# -- transforms ------------------------------------------------------------------------------------------------------------


def loss(solve: Any) -> Any:
    return lambda A, b: (solve(A, b) ** 3).sum()


def gradients(A: Any, b: Any) -> tuple[Any, Any]:
    """Of that loss by matrix and right-hand sides, one or rows of them, by formula."""
    x = np.linalg.solve(A, b.T).T
    adjoint = np.linalg.solve(A.T, 3 * x.T**2).T
    return -np.atleast_2d(adjoint).T @ np.atleast_2d(x), adjoint


@each("method", ["cg", "bicgstab(2)", "gmres", "direct", "scipy-gmres"])
@each("form", ["dense", "sparse"])
def test_derivatives(form: str, method: str, library: str) -> None:
    matrix = SPD if method == "cg" else GENERAL
    A = FORMS[form](matrix)
    gradient = ad.grad(loss(lambda A, b: ad.linear_solve(A, b, method, rtol=1e-10).solution), (0, 1))
    with ad.fallback("silent"):
        by_A, by_b = (gradient if "scipy" in method else whole(gradient, library))(A, ad.asarray(B))
    A_, b_ = gradients(matrix.toarray(), B)
    np.testing.assert_allclose(ad.to_numpy(by_b), b_, rtol=1e-7, atol=1e-9)
    found, expected = (by_A.data, A_[A.row, A.col]) if form == "sparse" else (by_A, A_)
    np.testing.assert_allclose(ad.to_numpy(found), expected, rtol=1e-7, atol=1e-9)


@pytest.mark.traces(2)
@each("method", ["cg", "bicgstab(2)"])
def test_derivatives_of_a_function(method: str, library: str) -> None:
    def solved(k, b):
        def f(x, k):
            y = k * x
            y[..., 1:] -= x[..., :-1]
            y[..., :-1] -= (1 if method == "cg" else 0.5) * x[..., 1:]
            return y

        return ad.linear_solve(f, b, method, args=(k,), rtol=1e-10, batch_dims=1).solution

    k = np.linspace(2.5, 4, N)
    A = np.diag(k) - np.eye(N, k=-1) - (1 if method == "cg" else 0.5) * np.eye(N, k=1)
    derived = ad.value_and_grad(loss(solved), (0, 1))
    by_A, by_b = gradients(A, B)
    for way in (ad.jit(derived),) if library == "jax" else (derived, ad.jit(derived)):
        value, found = way(ad.asarray(k), ad.asarray(B))
        for x, y in zip(found, (np.diagonal(by_A), by_b)):
            np.testing.assert_allclose(ad.to_numpy(x), y, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(float(value), (np.linalg.solve(A, B.T) ** 3).sum(), rtol=1e-8)


@pytest.mark.traces(4)
@each("method", ["cg", "bicgstab(2)", "gmres", "direct"])
@each("form", ["dense", "sparse"])
def test_in_a_program(form: str, method: str, library: str) -> None:
    A, b = FORMS[form](SPD), ad.asarray(B)

    def run(A, b):
        return ad.linear_solve(A, b, method, rtol=1e-10, preconditioner=None if method == "direct" else "jacobi")

    with ad.fallback("silent"):
        outside, inside = run(A, b), ad.jit(run)(A, b)
        np.testing.assert_allclose(ad.to_numpy(inside.solution), ad.to_numpy(outside.solution), rtol=1e-8)
        assert ad.to_numpy(inside.converged).all() and inside.message == outside.message
        assert np.abs(ad.to_numpy(inside.iterations) - ad.to_numpy(outside.iterations)).max() <= 1
        gradient = ad.jit(ad.grad(loss(lambda A, b: run(A, b).solution), 1))(A, b)
        np.testing.assert_allclose(ad.to_numpy(gradient), gradients(SPD.toarray(), B)[1], rtol=1e-6, atol=1e-9)
        if method == "cg":
            short = ad.jit(lambda A, b: ad.linear_solve(A, b, method, max_iter=1))(A, b)
            assert not ad.to_numpy(short.converged).any() and "did not reach" in short.message


def second_derivatives(A: Any, b: Any) -> list[list[Any]]:
    """Of that loss, by steps of its gradient so small, and imaginary, that nothing is rounded."""
    found = [[np.empty(x.shape + y.shape) for y in (A, b)] for x in (A, b)]
    for j, y in enumerate((A, b)):
        for at in np.ndindex(y.shape):
            step = np.zeros(y.shape, complex)
            step[at] = 1e-30j
            for i, part in enumerate(gradients(A + step, b) if y is A else gradients(A, b + step)):
                found[i][j][(..., *at)] = part.imag / 1e-30
    return found


@pytest.mark.traces(2)
@each("method", ["bicgstab", "direct"])
def test_second_derivatives(method: str, library: str) -> None:
    A, b = GENERAL.toarray()[:3, :3], B[0, :3]
    hessian = ad.hessian(loss(lambda A, b: ad.linear_solve(A, b, method, rtol=1e-11).solution), (0, 1))
    with ad.fallback("silent"):
        found = whole(hessian, library)(ad.asarray(A), ad.asarray(b))
    expected = second_derivatives(A, b)
    for i, j in np.ndindex(2, 2):
        np.testing.assert_allclose(ad.to_numpy(found[i][j]), expected[i][j], rtol=1e-6, atol=1e-8)
