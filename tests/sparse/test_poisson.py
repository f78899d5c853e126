"""Poisson's equation by conjugate gradients with a Jacobi preconditioner: a script for SciPy as it is, and ad.linear_solve in a program."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla

import arraydispatch as ad
from tests.launched import Zygotes
from tests.transforms.conftest import library

__all__ = ["library"]

SCRIPTS = Path(__file__).parent / "scripts"
FULL = pytest.param(512, marks=pytest.mark.long)


def _said(text: str) -> tuple[list[str], int, list[float]]:
    """The words of the script, its iterations, and its other numbers."""
    steps = re.search(r"after (\d+) iterations", text)
    assert steps is not None, text
    numbers = [float(x) for x in re.findall(r"-?\d+\.\d+", text)]
    return re.sub(r"\d+", "#", text).splitlines(), int(steps[1]), numbers


@pytest.mark.parametrize("n", [24, FULL])
@pytest.mark.parametrize("backend", ["jax", "torch", "tensorflow"])
def test_a_script_for_scipy_as_it_is(backend: str, n: int, zygotes: Zygotes) -> None:
    plain = zygotes.plain.run("poisson.py", str(n), cwd=SCRIPTS)
    ours = zygotes.of(backend).run("poisson.py", str(n), cwd=SCRIPTS)
    assert (plain.code, ours.code) == (0, 0), ours.stderr
    (words, steps, numbers), (words_, steps_, numbers_) = _said(plain.stdout), _said(ours.stdout)
    assert words == words_ and "residual below #e-#: True" in words
    assert abs(steps - steps_) <= 1
    np.testing.assert_allclose(numbers_, numbers, rtol=1e-6)


def _system(n: int) -> tuple[Any, Any]:
    line = sp.diags_array([np.full(n - 1, -1.0), np.full(n, 2.0), np.full(n - 1, -1.0)], offsets=[-1, 0, 1])
    matrix = sp.csr_array(sp.kron(line, sp.eye_array(n)) + sp.kron(sp.eye_array(n), line))
    return matrix, np.random.default_rng(n).normal(size=n * n)


@pytest.mark.parametrize("n", [24, FULL])
def test_linear_solve_in_a_program(n: int, library: str) -> None:
    matrix, b = _system(n)
    steps: list[int] = []
    expected, info = sla.cg(
        matrix, b, rtol=1e-8, M=sp.diags_array(1 / matrix.diagonal()), callback=lambda _: steps.append(1)
    )
    assert info == 0

    @ad.jit
    def solve(A: Any, b: Any) -> Any:
        return ad.linear_solve(A, b, "cg", rtol=1e-8, preconditioner="jacobi")

    found = solve(ad.sparse.from_scipy(matrix), ad.asarray(b))
    assert bool(found.converged) and found.solution.backend.name == library
    assert abs(int(found.iterations) - len(steps)) <= 1
    np.testing.assert_allclose(ad.to_numpy(found.solution), expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def test_scipys_own_methods_on_our_matrices(backend: str) -> None:
    matrix, b = _system(8)
    with ad.backend(backend), ad.fallback("silent"):
        A, right = ad.sparse.from_scipy(matrix), ad.asarray(b)
        for solver in (sla.cg, sla.gmres, sla.bicgstab, sla.minres, sla.lgmres):
            found, info = solver(A, right, rtol=1e-10)
            assert info == 0
            np.testing.assert_allclose(ad.to_numpy(found), np.linalg.solve(matrix.toarray(), b), rtol=1e-6)
        values = sla.eigsh(sla.aslinearoperator(A), k=2, return_eigenvectors=False)
        np.testing.assert_allclose(sorted(ad.to_numpy(values)), np.linalg.eigvalsh(matrix.toarray())[-2:], rtol=1e-9)
