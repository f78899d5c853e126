"""Factors of matrices are judged by what they are, not by NumPy's: backward error and orthogonality, in units of n · eps · norm.

These hold for every backward stable algorithm, so for whichever kernels OpenBLAS, MKL, XLA or Eigen choose for a processor.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

from .. import oracle
from ..rows import each

UNITS = 4
"""Textbook bounds are small polynomials in n; what libraries reach is below one."""
Matrix = np.ndarray[Any, Any]


def matrices(dtype: str) -> dict[str, Matrix]:
    """Well and badly conditioned ones, wide and tall, small and large numbers, a deficient rank, a stack."""
    rng = np.random.default_rng(20240607)

    def drawn(*shape: int) -> Matrix:
        x = rng.normal(size=shape)
        return x + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else x

    square = drawn(24, 24)
    tall = drawn(40, 12)
    found = {
        "square": square,
        "tall": tall,
        "wide": drawn(7, 30),
        "stack": drawn(2, 3, 5, 5),
        "graded": square * np.logspace(0, -12, 24),
        "of low rank": tall[:, :3] @ drawn(3, 12),
        "tiny": square * 1e-12,
        "huge": tall * 1e12,
        "ones": np.ones((9, 9)),
        "of one row": drawn(1, 6),
    }
    return {name: x.astype(dtype) for name, x in found.items()}


def of_order(error: Matrix, like: Matrix, n: int, scale: Matrix | float) -> float:
    """The size of an error in units of n · eps · scale, the largest of a stack."""
    size = np.linalg.norm(error, axis=(-2, -1))
    return float(np.max(size / (n * float(np.finfo(like.dtype).eps) * np.maximum(scale, 1e-300))))


def _wide(x: Any) -> Matrix:
    host = ad.to_numpy(x)
    return host.astype(np.clongdouble if host.dtype.kind == "c" else np.longdouble)


def _h(x: Matrix) -> Matrix:
    return np.swapaxes(x.conj(), -1, -2)


def _eye(x: Matrix) -> Matrix:
    return _h(x) @ x - np.eye(x.shape[-1])


def qr(a: Matrix, x: ad.Array) -> Iterator[tuple[str, Matrix, bool]]:
    for mode in ("reduced", "complete"):
        q, r = map(_wide, np.linalg.qr(x, mode=mode))
        assert not np.tril(r, -1).any()
        yield f"{mode}: QR - A", q @ r - a, True
        yield f"{mode}: Q^H Q - 1", _eye(q), False


def svd(a: Matrix, x: ad.Array) -> Iterator[tuple[str, Matrix, bool]]:
    u, s, v = map(_wide, np.linalg.svd(x, full_matrices=False))
    assert (s >= 0).all()
    assert (np.diff(s, axis=-1) <= 0).all()
    yield "U S V - A", (u * s[..., None, :]) @ v - a, True
    yield "U^H U - 1", _eye(u), False
    yield "V V^H - 1", _eye(_h(v)), False
    alone = _wide(np.linalg.svd(x, compute_uv=False))
    yield "S alone - S", (alone - s)[..., None, :], True


def eigh(a: Matrix, x: ad.Array) -> Iterator[tuple[str, Matrix, bool]]:
    if a.shape[-1] != a.shape[-2]:
        pytest.skip("inapplicable: not square")
    a = (a + _h(a)).astype(ad.to_numpy(x).dtype)
    w, v = map(_wide, np.linalg.eigh(ad.asarray(a, backend=x.backend.name)))
    assert (np.diff(w, axis=-1) >= 0).all()
    yield "V W V^H - A", (v * w[..., None, :]) @ _h(v) - a, True
    yield "V^H V - 1", _eye(v), False


def eig(a: Matrix, x: ad.Array) -> Iterator[tuple[str, Matrix, bool]]:
    if a.shape[-1] != a.shape[-2]:
        pytest.skip("inapplicable: not square")
    w, v = map(_wide, np.linalg.eig(x))
    yield "A V - V W", a @ v - v * w[..., None, :], True
    yield "lengths of V", (np.linalg.norm(v.astype(complex), axis=-2) - 1)[..., None, :], False


def cholesky(a: Matrix, x: ad.Array) -> Iterator[tuple[str, Matrix, bool]]:
    made = (
        a @ _h(a) + np.linalg.norm(a.astype(complex), axis=(-2, -1), keepdims=True) ** 2 * np.eye(a.shape[-2])
    ).astype(ad.to_numpy(x).dtype)
    lower = _wide(np.linalg.cholesky(ad.asarray(made, backend=x.backend.name)))
    assert not np.triu(lower, 1).any()
    yield "L L^H - A", (lower @ _h(lower) - made) / np.linalg.norm(made, axis=(-2, -1), keepdims=True), False


def solve(a: Matrix, x: ad.Array) -> Iterator[tuple[str, Matrix, bool]]:
    if a.shape[-1] != a.shape[-2] or np.linalg.matrix_rank(ad.to_numpy(x)).min() < a.shape[-1]:
        pytest.skip("inapplicable: not square, or singular")
    b = np.ones((*a.shape[:-1], 2), ad.to_numpy(x).dtype)
    y = _wide(np.linalg.solve(x, ad.asarray(b, backend=x.backend.name)))
    sizes = np.linalg.norm(y.astype(complex), axis=(-2, -1), keepdims=True)
    yield "(A X - B) / |X|", (a @ y - b) / sizes, True


@each("dtype", ["f8", "f4", "c16", "c8"])
@each("name", list(matrices("f8")))
@pytest.mark.parametrize("function", [qr, svd, eigh, eig, cholesky, solve], ids=lambda f: str(f.__name__))
def test_factors_multiply_to_the_matrix_and_are_orthogonal(function: Any, backend: str, name: str, dtype: str) -> None:
    a = matrices(dtype)[name]
    norm = np.linalg.norm(a.astype(complex), axis=(-2, -1))
    with ad.fallback("error"), np.errstate(all="ignore"):
        for what, error, of_norm in function(a.astype(np.result_type(a, np.longdouble)), oracle.wrapped(backend, a)):
            found = of_order(error.astype(complex), a, max(a.shape[-2:]), norm if of_norm else 1.0)
            assert found <= UNITS, f"{what} is {found:.3g} n eps norm"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="inapplicable: kernels of other processors")
@pytest.mark.one_backend("other kernels")
@pytest.mark.parametrize("kernels", ["Haswell MKL_CBWR=COMPATIBLE", "SkylakeX MKL_CBWR=AVX2", "Zen", "Nehalem"])
@pytest.mark.parametrize("chosen", ["numpy", "torch"])
def test_so_are_those_by_other_processors_kernels(chosen: str, kernels: str) -> None:
    """OpenBLAS and MKL choose when they are loaded, so in another process."""
    if chosen not in ad.available_backends():
        pytest.skip(f"{chosen} is not installed")
    env = {**os.environ, **dict(word.split("=") for word in f"OPENBLAS_CORETYPE={kernels}".split())}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(
        [*command, "-k", f"multiply and {chosen}"],
        env=env,
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "6 passed" in done.stdout, done.stdout
