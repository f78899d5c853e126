"""Gradients of NumPy's functions and of whole programs: against finite differences, and on JAX against JAX's own of the formula."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

from .conftest import whole

Formula = Callable[[Any, Any], Any]
Drawn = Callable[..., list[Any]]
RNG = np.random.default_rng(11)
V = RNG.uniform(0.2, 0.9, 5)
"""Within the domain of every function below, away from kinks and ties."""
W = RNG.normal(size=5)
A = RNG.normal(size=(3, 3))
S = A @ A.T + 3 * np.eye(3)
B = RNG.normal(size=(3, 4))

ELEMENTWISE = """
    abs absolute fabs negative positive square sqrt cbrt reciprocal exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos
    arctan sinh cosh tanh arcsinh arctanh deg2rad rad2deg degrees radians sinc i0 real conj nan_to_num
""".split()
TWO = """
    add subtract multiply divide true_divide power float_power arctan2 hypot maximum minimum fmax fmin logaddexp logaddexp2 fmod copysign
""".split()

VECTOR: dict[str, Formula] = {
    **{name: lambda np, x, name=name: np.sum(getattr(np, name)(x) * W) for name in ELEMENTWISE},  # type: ignore[misc]
    **{name: lambda np, x, name=name: np.sum(getattr(np, name)(x, V[::-1] + 0.05) * W) for name in TWO},  # type: ignore[misc]
    **{f"{name}, second": lambda np, x, name=name: np.sum(getattr(np, name)(V[::-1] + 0.05, x) * W)  # type: ignore[misc]
       for name in ("power", "divide", "arctan2", "hypot")},
    "arccosh": lambda np, x: np.sum(np.arccosh(x + 1)),
    "remainder": lambda np, x: np.sum(np.remainder(x * 7, 1.3)),
    "frexp": lambda np, x: np.sum(np.frexp(x)[0] * W),
    "modf": lambda np, x: np.sum(np.modf(x * 7)[0] * W),
    "ldexp": lambda np, x: np.sum(np.ldexp(x, 3) * W),
    "sum": lambda np, x: np.sum(x) ** 2,
    "prod": lambda np, x: np.prod(x),
    "mean": lambda np, x: np.mean(x) ** 2,
    "average": lambda np, x: np.average(x, weights=np.arange(1.0, 6.0)) ** 2,
    "var": lambda np, x: np.var(x),
    "std": lambda np, x: np.std(x, ddof=1),
    "max": lambda np, x: np.max(x) ** 2,
    "min": lambda np, x: np.min(x) ** 2,
    "ptp": lambda np, x: np.ptp(x),
    "median": lambda np, x: np.median(x) ** 2,
    "quantile": lambda np, x: np.quantile(x, 0.3) ** 2,
    "percentile": lambda np, x: np.percentile(x, 65) ** 2,
    "nansum": lambda np, x: np.nansum(x * x),
    "nanmean": lambda np, x: np.nanmean(x * x),
    "cumsum": lambda np, x: np.sum(np.cumsum(x) ** 2),
    "cumprod": lambda np, x: np.sum(np.cumprod(x) ** 2),
    "diff": lambda np, x: np.sum(np.diff(x) ** 2),
    "ediff1d": lambda np, x: np.sum(np.ediff1d(x) ** 2),
    "gradient": lambda np, x: np.sum(np.gradient(x) ** 2),
    "trapezoid": lambda np, x: np.trapezoid(x**2, dx=0.5),
    "interp": lambda np, x: np.sum(np.interp(x, np.array([0.0, 0.5, 1.0]), np.array([0.0, 2.0, 1.0]))),
    "convolve": lambda np, x: np.sum(np.convolve(x, x) ** 2),
    "correlate": lambda np, x: np.sum(np.correlate(x, x[:3]) ** 2),
    "clip": lambda np, x: np.sum(np.clip(x, 0.3, 0.7) ** 2),
    "where": lambda np, x: np.sum(np.where(x > 0.5, x**2, np.sin(x))),
    "sort": lambda np, x: np.sum(np.sort(x) * W),
    "flip": lambda np, x: np.sum(np.flip(x) * W),
    "roll": lambda np, x: np.sum(np.roll(x, 2) * W),
    "pad": lambda np, x: np.sum(np.pad(x, 2) ** 2),
    "concatenate": lambda np, x: np.sum(np.concatenate([x, x[:2] ** 2]) ** 2),
    "stack": lambda np, x: np.sum(np.stack([x, x**2]) ** 2),
    "tile": lambda np, x: np.sum(np.tile(x, 2) ** 2),
    "repeat": lambda np, x: np.sum(np.repeat(x, 2) ** 2),
    "take": lambda np, x: np.sum(np.take(x, np.array([0, 2, 2])) ** 2),
    "fancy": lambda np, x: np.sum(x[np.array([3, 1, 1])] ** 2),
    "slices": lambda np, x: np.sum(x[1:] * x[:-1]) + x[::-2].sum() ** 2,
    "reshape": lambda np, x: np.sum(np.reshape(x[:4], (2, 2)).T[0] ** 2),
    "broadcast_to": lambda np, x: np.sum(np.broadcast_to(x, (3, 5)) ** 2),
    "outer": lambda np, x: np.sum(np.outer(x, x**2)),
    "inner": lambda np, x: np.inner(x, x) ** 2,
    "dot": lambda np, x: np.dot(x, x**2),
    "vdot": lambda np, x: np.vdot(x, x),
    "kron": lambda np, x: np.sum(np.kron(x, x[:2])),
    "cross": lambda np, x: np.sum(np.cross(x[:3], x[2:]) ** 2),
    "einsum": lambda np, x: np.einsum("i,j,ij->", x[:3], x[2:], S),
    "tensordot": lambda np, x: np.sum(np.tensordot(x[:3], S, axes=1) ** 2),
    "polyval": lambda np, x: np.polyval(x, 0.7) ** 2,
    "vander": lambda np, x: np.sum(np.vander(x, 3)),
    "diag": lambda np, x: np.sum(np.diag(x) ** 2),
    "norm": lambda np, x: np.linalg.norm(x),
    "fft": lambda np, x: np.sum(np.abs(np.fft.fft(x)) ** 2 * np.arange(5.0)),
    "rfft": lambda np, x: np.sum(np.abs(np.fft.rfft(x))),
    "irfft": lambda np, x: np.sum(np.fft.irfft(x) ** 2),
    "heaviside": lambda np, x: np.sum(np.heaviside(x - 0.4, 0.5) * x),
    "bincount": lambda np, x: np.sum(np.bincount(np.array([0, 2, 0, 1, 2]), weights=x) ** 2),
    "mask": lambda np, x: np.sum(x[V > 0.5] ** 2),
    "meshgrid": lambda np, x: np.sum(np.meshgrid(x, x[:2])[0] ** 2),
    "cov": lambda np, x: np.cov(x),
    "round trip": lambda np, x: np.sum(np.moveaxis(x.reshape(1, 5, 1), 1, 0).squeeze() ** 3),
}  # fmt: skip

MATRIX: dict[str, Formula] = {
    "matmul": lambda np, m: np.sum((m @ B) ** 2),
    "trace": lambda np, m: np.trace(m) ** 2,
    "transpose": lambda np, m: np.sum(m.T * A),
    "tril": lambda np, m: np.sum(np.tril(m) ** 2),
    "triu": lambda np, m: np.sum(np.triu(m, 1) ** 2),
    "diagonal": lambda np, m: np.sum(np.diagonal(m) ** 2),
    "det": lambda np, m: np.linalg.det(m),
    "slogdet": lambda np, m: np.linalg.slogdet(m)[1],
    "inv": lambda np, m: np.sum(np.linalg.inv(m) * A),
    "solve": lambda np, m: np.sum(np.linalg.solve(m, B) ** 2),
    "lstsq": lambda np, m: np.sum(np.linalg.lstsq(m[:, :2], B, rcond=None)[0] ** 2),
    "matrix_power": lambda np, m: np.sum(np.linalg.matrix_power(m, 3)),
    "cholesky": lambda np, m: np.sum(np.linalg.cholesky((m + m.T) / 2) ** 3),
    "eigvalsh": lambda np, m: np.sum(np.linalg.eigvalsh((m + m.T) / 2) * np.arange(3.0)),
    "svdvals": lambda np, m: np.sum(np.linalg.svd(m, compute_uv=False) * np.arange(3.0)),
    "qr": lambda np, m: np.sum(np.abs(np.linalg.qr(m)[1])),
    "norm, axis": lambda np, m: np.sum(np.linalg.norm(m, axis=0) ** 3),
    "logsumexp": lambda np, m: np.sum(np.log(np.sum(np.exp(m - np.max(m, axis=1, keepdims=True)), axis=1))),
    "rot90": lambda np, m: np.sum(np.rot90(m) * A),
}


def heat(np: Any, u: Any) -> Any:
    """Ten steps of the heat equation."""
    for _ in range(10):
        u = u + 0.1 * np.concatenate([u[:1] * 0, u[2:] - 2 * u[1:-1] + u[:-2], u[:1] * 0])
    return np.sum(u**2)


def heat_in_place(np: Any, x: Any) -> Any:
    u = x.copy()
    for _ in range(10):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def network(np: Any, x: Any) -> Any:
    hidden = np.tanh(S @ x[:3])
    return np.sum(np.maximum(hidden * x[2:], 0.1) ** 2)


def pendulum(np: Any, x: Any) -> Any:
    angle, speed = x[0], x[1]
    for _ in range(20):
        speed = speed - 0.05 * np.sin(angle)
        angle = angle + 0.05 * speed
    return angle**2 + np.cos(speed)


PROGRAMS: dict[str, Formula] = {"heat": heat, "network": network, "pendulum": pendulum}
TWICE = """
    square exp log sin tanh sqrt prod var std norm dot cumsum where outer einsum diff polyval convolve logaddexp mean
""".split()


def differences(f: Callable[[Any], Any], x: Any, step: float = 1e-6) -> Any:
    """Central differences of a function of an array, along a last axis of its elements."""
    columns = []
    for i in range(x.size):
        e = np.zeros(x.size)
        e[i] = step
        e = e.reshape(x.shape)
        columns.append((np.asarray(f(x + e)) - np.asarray(f(x - e))) / (2 * step))
    return np.moveaxis(np.array(columns), 0, -1)


def all_rows() -> list[tuple[str, Formula, Any]]:
    rows = [(name, f, V) for name, f in {**VECTOR, **PROGRAMS}.items()]
    return rows + [(name, f, S) for name, f in MATRIX.items()]


def test_there_are_enough() -> None:
    assert len(all_rows()) >= 80
    assert len(TWICE) >= 20
    assert set(TWICE) <= set(VECTOR)


def test_gradients_are_those_of_finite_differences(library: str, drawn: Drawn) -> None:
    wrong = []
    own = importlib.import_module("jax") if library == "jax" else None
    rows = [*all_rows(), ("heat in place", heat_in_place, V)]
    for name, f, x in drawn(rows, library):
        expected = differences(lambda x, f=f: f(np, x), x).reshape(x.shape)
        try:
            found = np.asarray(ad.grad(lambda x, f=f: f(np, x))(ad.asarray(x)))
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)
            if own is not None and name not in NOT_JAX:
                with own.enable_x64(True):
                    theirs = np.asarray(own.grad(lambda x, f=f: f(own.numpy, x))(own.numpy.asarray(x)))
                np.testing.assert_allclose(found, theirs, rtol=1e-9, atol=1e-11)
        except Exception as error:
            wrong.append(f"{name}: {type(error).__name__}: {str(error).strip()[:300]}")
    assert not wrong, "\n".join(wrong)


NOT_JAX = frozenset({"heat in place", "bincount", "ptp", "ediff1d", "trapezoid", "cbrt", "i0"})
"""What has no counterpart of the name in ``jax.numpy``, or none that differentiates alike."""


def test_second_derivatives(library: str, drawn: Drawn) -> None:
    wrong = []
    for name in drawn(TWICE, library, 4):
        f = VECTOR[name]
        expected = differences(lambda x, f=f: differences(lambda x: f(np, x), x, 1e-4), V, 1e-4)
        try:
            found = np.asarray(whole(ad.hessian(lambda x, f=f: f(np, x)), library)(ad.asarray(V)))
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
            gradient = whole(ad.grad(lambda x, f=f: f(np, x)), library)
            slopes = differences(lambda x, gradient=gradient: np.asarray(gradient(ad.asarray(x))), V)
            np.testing.assert_allclose(found, slopes, rtol=1e-5, atol=1e-6)
        except Exception as error:
            wrong.append(f"{name}: {type(error).__name__}: {str(error).strip()[:300]}")
    assert not wrong, "\n".join(wrong)


CHECKED = """
    exp log sin tanh sqrt square reciprocal arctan sinc logaddexp hypot power prod var std cumsum cumprod diff where sort pad
    concatenate outer einsum convolve dot norm clip polyval interp
""".split()


def _on_natives(f: Formula) -> Callable[[Any], Any]:
    """The formula as a function of JAX's own arrays; where values are known its result is one of NumPy's scalars."""

    def run(x: Any) -> Any:
        made = f(np, ad.wrap(x))
        return made.native if isinstance(made, ad.Array) else made

    return run


@pytest.mark.parametrize("modes", [["rev"], ["fwd"]])
def test_as_jax_tests_its_own(modes: list[str], drawn: Drawn) -> None:
    """``jax.test_util.check_grads`` of functions on arrays of ours, which JAX differentiates itself, forward and in reverse."""
    jax = pytest.importorskip("jax")
    check_grads = importlib.import_module("jax.test_util").check_grads
    assert len(CHECKED) >= 30
    wrong = []
    with jax.enable_x64(True):
        for name in drawn(CHECKED, one_of=6):
            f = VECTOR[name]
            try:
                check_grads(_on_natives(f), (jax.numpy.asarray(V),), order=1, modes=modes, rtol=1e-4, atol=1e-5)
            except Exception as error:
                wrong.append(f"{name}: {type(error).__name__}: {str(error).strip()[:300]}")
    assert not wrong, "\n".join(wrong)
