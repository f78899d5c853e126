"""The memory order of what libraries compute by routines of their own: as NumPy's, so that a write through a reshaped result reaches it or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import arraydispatch as ad
from arraydispatch.dispatch import host_fallback
from tests.rows import each

SPD = np.array([[4.0, 1, 0, 2], [1, 5, 3, 0], [0, 3, 6, 1], [2, 0, 1, 7]])
STACK = np.stack([SPD, SPD + np.eye(4), SPD + 2 * np.eye(4)])

OPERANDS = {
    "C": SPD,
    "Fortran": np.asfortranarray(SPD),
    "stack": STACK,
    "stack of Fortran's": np.ascontiguousarray(STACK.mT).mT,
    "Fortran's stack": np.asfortranarray(STACK),
    "examples last": np.ascontiguousarray(STACK.transpose(1, 2, 0)).transpose(2, 0, 1),
    "complex": np.asfortranarray(SPD + 1j * np.triu(SPD, 1) - 1j * np.tril(SPD, -1)),
}

CALLS: dict[str, Callable[[Any], Any]] = {
    "inv": np.linalg.inv,
    "pinv": np.linalg.pinv,
    "solve": lambda a: np.linalg.solve(a, a[..., :2]),
    "tensorsolve": lambda a: np.linalg.tensorsolve(a[None, 0] if a.ndim == 3 else a[None], np.ones((1, 4))),
    "tensorinv": lambda a: np.linalg.tensorinv((a[0] if a.ndim == 3 else a).reshape(2, 2, 2, 2)),
    "lstsq": lambda a: np.linalg.lstsq(a[0] if a.ndim == 3 else a, np.eye(4)[:, :3])[0],
    "cholesky": np.linalg.cholesky,
    "qr": np.linalg.qr,
    "qr complete": lambda a: np.linalg.qr(a[..., :2], "complete"),
    "qr r": lambda a: np.linalg.qr(a, "r"),
    "qr raw": lambda a: np.linalg.qr(a, "raw"),
    "svd": np.linalg.svd,
    "svd thin": lambda a: np.linalg.svd(a[..., :3], full_matrices=False),
    "svd of Hermitian": lambda a: np.linalg.svd(a, hermitian=True),
    "eigh": np.linalg.eigh,
    "matrix_power 0": lambda a: np.linalg.matrix_power(a, 0),
    "matrix_power": lambda a: np.linalg.matrix_power(a, -2),
    "norm": lambda a: np.linalg.norm(a, axis=0, keepdims=True),
    "vector_norm": lambda a: np.linalg.vector_norm(a, axis=-1),
    "cross": lambda a: np.cross(a[..., :3, :], a[..., 1:, :], axis=-2),
    "einsum": lambda a: np.einsum("...ij,...jk->...ki", a, a),
    "einsum of three": lambda a: np.einsum("...ij,...jk,...kl->...li", a, a, a, optimize=True),
    "dot of a number": lambda a: np.dot(a, 2),
    "dot of an array of one": lambda a: np.dot(np.array(2.0), a),
    "dot of integers": lambda a: np.dot(a.real.astype("i4"), 2),
    "inner of a number": lambda a: np.inner(1, a),
    "where of a number": lambda a: np.where(True, a, a),
    "where of numbers": lambda a: np.where(np.False_, 1.0, a),
    "polyfit": lambda a: np.polyfit(np.arange(4.0), a.reshape(-1, 4)[:4].real, 1, cov=True),
    "polyfit of a line": lambda a: np.polyfit(np.arange(4.0), a.reshape(-1)[:4].real, 1, cov=True),
    "fft": lambda a: np.fft.fft(a, axis=0),
    "ifft": lambda a: np.fft.ifft(a, 7, axis=1),
    "fft2": np.fft.fft2,
    "ifftn": lambda a: np.fft.ifftn(a, (3, 5), axes=(0, 1)),
    "rfft": lambda a: np.fft.rfft(a.real, axis=0),
    "rfft2": lambda a: np.fft.rfft2(a.real, axes=(1, 0)),
    "irfft": lambda a: np.fft.irfft(a, axis=0),
    "irfftn": np.fft.irfftn,
    "hfft": lambda a: np.fft.hfft(a, axis=0),
    "ihfft": lambda a: np.fft.ihfft(a.real, axis=1),
    "fftshift": np.fft.fftshift,
    "ifftshift": lambda a: np.fft.ifftshift(a, axes=1),
}


def order(made: Any) -> list[Any]:
    """Of each result its strides, where they mean something, and what a write through ``reshape(-1)`` does to it."""
    found: list[Any] = []
    for x in made if isinstance(made, tuple) else (made,):
        if np.ndim(x) > 1:
            strides = tuple(s for s, n in zip(x.strides, x.shape) if n > 1)
            x.reshape(-1)[0] = 99
            found.append((strides, complex(x[(0,) * x.ndim]) == 99))
    return found


@each("operand", list(OPERANDS))
@each("call", list(CALLS))
def test_results_lie_as_numpys(backend: str, call: str, operand: str) -> None:
    a = OPERANDS[operand].copy("K")
    assert order(CALLS[call](ad.asarray(a, backend=backend))) == order(CALLS[call](a))


@each("optimize", [False, True])
@each(
    "subscripts", ["lkj,jkl,lij->kij", "ik,j,lk->ilk", "kj,kjl,i->ljk", "ikl,kj,kj->jlk", "j,jil,lkj->ijl", "ij,kj->ki"]
)
def test_large_contractions_lie_as_numpys(backend: str, subscripts: str, optimize: bool) -> None:
    sizes = dict(zip("ijkl", (20, 30, 24, 25)))
    shapes = [[sizes[letter] for letter in term] for term in subscripts.partition("->")[0].split(",")]
    for kept in "CF":
        operands = [np.ones(shape, order=kept if i == 1 else "C") for i, shape in enumerate(shapes)]  # type: ignore[call-overload]
        given = [ad.asarray(x, backend=backend) for x in operands]
        made = np.einsum(subscripts, *given, optimize=optimize)
        assert order(made) == order(np.einsum(subscripts, *operands, optimize=optimize))


@each("name", ["add", "where", "sqrt", "copy"])
def test_results_of_calls_on_the_host_lie_as_numpys(backend: str, name: str) -> None:
    a, func = np.asfortranarray(np.arange(12.0).reshape(3, 4)), getattr(np, name)
    args = {"add": [a, a[0]], "where": [a > 3, a, a[0]]}.get(name, [a])
    given = [ad.asarray(x, backend=backend) for x in args]
    with ad.fallback("silent"):
        made = host_fallback.call(func, (*given,), {}, ad.backend(backend), "it is a test")
    assert order(made) == order(func(*args))


@each("ufunc", [np.isnan, np.isinf, np.isfinite])
@each("dtype", ["i8", "u1", "?", "f8", "c16"])
def test_questions_about_floats_keep_the_order_of_other_numbers(backend: str, dtype: str, ufunc: np.ufunc) -> None:
    a = np.asfortranarray(np.arange(12).reshape(3, 4).astype(dtype))
    for x in (a, a[:, 1:], np.moveaxis(np.stack([a, a]), 0, -1)):
        given = x.copy(order="K")
        made = ufunc(ad.asarray(given, backend=backend))
        np.testing.assert_array_equal(np.asarray(made), ufunc(given))
        assert order(made) == order(ufunc(given))
