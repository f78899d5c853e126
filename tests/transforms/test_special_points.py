"""Second derivatives at single points: zeros, equal arguments, matrices that are singular or have equal singular values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arraydispatch as ad

from .conftest import whole

EYE = np.eye(3)


def _signs(n: int) -> np.ndarray[Any, Any]:
    """The Levi-Civita symbol."""
    signs = np.zeros((n,) * n)
    for order in itertools.permutations(range(n)):
        signs[order] = round(np.linalg.det(np.eye(n)[list(order)]))
    return signs


def _determinant(a: Any) -> np.ndarray[Any, Any]:
    """The Hessian of a determinant of 3 by 3."""
    e = _signs(3)
    return np.einsum("ikm,jln,mn->ijkl", e, e, a)


def _inverse(a: Any) -> np.ndarray[Any, Any]:
    """The Hessian of the sum of the elements of an inverse, each times its place."""
    b = np.linalg.inv(a)
    w = np.arange(1.0, 10).reshape(3, 3)
    one = np.einsum("pq,pi,jk,lq->ijkl", w, b, b, b)
    return one + one.transpose(2, 3, 0, 1)


def _placed(a: Any) -> Any:
    return np.sum(a * np.arange(1.0, 10).reshape(3, 3))


def _normal(x: Any) -> Any:
    """The same as least squares of a matrix of full rank."""
    a = x.reshape(3, 2)
    return np.sum(np.linalg.solve(a.T @ a, a.T @ np.array([1.0, 2.0, 4.0])) * np.array([1.0, 3.0]))


def _fitted(x: Any) -> Any:
    made = np.linalg.pinv(x.reshape(3, 2)) @ np.array([1.0, 2.0, 4.0])
    return np.sum(made * np.array([1.0, 3.0]))


TWO = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]).reshape(-1)
I2 = float(np.i0(8.0))  # of which the derivatives at 8 are those of SciPy's i1
I1_OF_8 = 399.8731367825600982
SECOND = {
    "power of zero": (lambda x: np.sum(x ** np.array([1.0, 2.0, 3.0, 0.0])), np.zeros(4), np.diag([0.0, 2, 0, 0])),
    "power by both": (lambda x: x[0] ** x[1], [2.0, 0.0], [[0, 0.5], [0.5, math.log(2) ** 2]]),
    "root of complex numbers": (lambda x: np.sqrt(x[0] + 1j * x[1]).real, [4.0, 0.0], [[-1 / 32, 0], [0, 1 / 32]]),
    "sinc": (np.sinc, 0.0, -(np.pi**2) / 3),
    "sinc near zero": (np.sinc, 1e-9, -(np.pi**2) / 3),
    "sinc at 1": (np.sinc, 1.0, 2.0),
    "sinc of complex numbers": (lambda x: np.sinc(x * 1j).real, 0.0, np.pi**2 / 3),
    "i0": (np.i0, 0.0, 0.5),
    "i0 where two series meet": (np.i0, 8.0, I2 - I1_OF_8 / 8),
    "hypot": (lambda x: np.hypot(x[0], x[1]), [1.0, 1.0], np.array([[1, -1], [-1, 1]]) / math.sqrt(8)),
    "hypot of opposites": (lambda x: np.hypot(x[0], x[1]), [-2.0, 2.0], np.array([[1, 1], [1, 1]]) / math.sqrt(32)),
    "prod": (np.prod, [0.0, 2.0, 3.0], [[0, 3, 2], [3, 0, 0], [2, 0, 0]]),
    "prod of two zeros": (np.prod, [0.0, 0.0, 3.0, 2.0], [[0, 6, 0, 0], [6, 0, 0, 0], [0] * 4, [0] * 4]),
    "prod of ones": (np.prod, [1.0] * 5, np.ones((5, 5)) - np.eye(5)),
    "prod of complex numbers": (
        lambda x: np.prod(x + 0j).real, [0.0, 2.0, 3.0], [[0, 3, 2], [3, 0, 0], [2, 0, 0]],
    ),
    "prod along axes": (
        lambda x: np.sum(np.prod(x.reshape(2, 2, 1), axis=(0, 2)) * np.array([1, 2])),
        [0.0, 1.0, 0.0, 3.0],
        [[0, 0, 1, 0], [0, 0, 0, 2], [1, 0, 0, 0], [0, 2, 0, 0]],
    ),
    **{
        f"det of {name}": (np.linalg.det, a, _determinant(a))
        for name, a in {
            "an identity": EYE,
            "rank 2": np.diag([1.0, 0.0, 2.0]),
            "rank 1": np.outer([1.0, 2.0, 3.0], [1.0, 0.0, 2.0]),
            "zeros": np.zeros((3, 3)),
            "a permutation": -EYE[[1, 2, 0]],
        }.items()
    },
    "det of complex numbers": (lambda a: np.linalg.det(a * 1j).imag, EYE, -_determinant(EYE)),
    "pinv of an identity": (lambda a: _placed(np.linalg.pinv(a)), EYE, _inverse(EYE)),
    "pinv of a permutation": (lambda a: _placed(np.linalg.pinv(a)), EYE[[1, 2, 0]], _inverse(EYE[[1, 2, 0]])),
    "pinv of a symmetric matrix": (
        lambda x: _placed(np.linalg.pinv(EYE + x * np.ones((3, 3)), hermitian=True)), 0.0, 270.0,
    ),
}  # fmt: skip


def _curved(transform: Callable[[Any], Any]) -> list[Any]:
    """The Hessian of each, all in one program where they are of one."""
    points = [np.asarray(x, float) for _, x, _ in SECOND.values()]
    hessians = transform(lambda *xs: [ad.hessian(f)(x) for (f, _, _), x in zip(SECOND.values(), xs)])
    return hessians(*(ad.asarray(x) for x in points))  # type: ignore[no-any-return]


def _of_many(f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *xs: [made[1] for made in ad.vmap(f)(*(np.stack([x * 2, x]) for x in xs))]


Draw = Callable[..., list[Any]]


def test_second_derivatives(library: str, drawn: Draw) -> None:
    """JAX compiles operations by themselves as it does in a program, and TensorFlow takes one example after another."""
    ways: dict[str, Callable[[Any], Any]] = {"jit": ad.jit, "vmap": _of_many, "plain": lambda f: f}
    wrong = [
        f"{how}, {name}: {np.asarray(made).tolist()} is not {np.asarray(want).tolist()}"
        for how in drawn({"jax": ["jit"], "tensorflow": ["jit", "plain"]}.get(library, ways), one_of=3)
        for (name, (_, _, want)), made in zip(SECOND.items(), _curved(ways[how]))
        if not np.allclose(np.asarray(made), want, 1e-9, 1e-9)
    ]
    assert not wrong, "\n".join(wrong)


def test_first_derivatives_of_singular_matrices(library: str) -> None:
    rank2 = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    cofactors = [[-3, 6, -3], [6, -12, 6], [-3, 6, -3]]
    made = ad.jit(ad.grad(np.linalg.det))(ad.asarray(rank2))
    np.testing.assert_allclose(np.asarray(made), cofactors, 1e-12)
    np.testing.assert_allclose(np.asarray(ad.grad(np.linalg.det)(ad.asarray(rank2))), cofactors, 1e-12)


def _evidence(p: Any, x: Any, y: Any) -> Any:
    """What a Gaussian process says of points and values, at a scale and a noise."""
    distances = np.sum((x[:, None] - x) ** 2, axis=-1)
    factor = np.linalg.cholesky(np.exp(-distances * np.exp(p[0])) + np.exp(p[1]) * np.eye(len(y)))
    white = np.linalg.solve(factor, y)
    return white @ white / 2 + np.sum(np.log(np.diagonal(factor)))


def test_a_factor_of_what_a_program_is_given(library: str) -> None:
    """Of a matrix that is no constant of the program: TensorFlow's own derivative of a factor had no second one there."""
    x, y = np.arange(16.0).reshape(8, 2) ** 2 % 7 / 4, np.arange(8.0) % 3
    given = ad.asarray([0.1, -1.0]), ad.asarray(x), ad.asarray(y)
    made = np.asarray(ad.jit(ad.hessian(_evidence))(*given))
    slopes = [
        np.asarray(ad.grad(_evidence)(given[0] + step, *given[1:])) for step in (*1e-5 * np.eye(2), *-1e-5 * np.eye(2))
    ]
    np.testing.assert_allclose(made, [(slopes[i] - slopes[i + 2]) / 2e-5 for i in range(2)], 1e-6)


@pytest.mark.compiles(4)
def test_fits_by_orthogonal_columns(library: str) -> None:
    """Of which the singular values are equal; and the rank is a value, which is known outside programs only."""
    want = np.asarray(ad.jit(ad.grad(_normal))(ad.asarray(TWO)))
    for fit in (_fitted, _placed_fit):
        np.testing.assert_allclose(np.asarray(ad.grad(fit)(ad.asarray(TWO))), want, 1e-12)
    curved = ad.jit(lambda x: (ad.hessian(_fitted)(x), ad.hessian(_normal)(x)))(ad.asarray(TWO))
    np.testing.assert_allclose(np.asarray(curved[0]), np.asarray(curved[1]), 1e-10, 1e-12)


def _placed_fit(x: Any) -> Any:
    made = np.linalg.lstsq(x.reshape(3, 2), np.array([1.0, 2.0, 4.0]), rcond=None)[0]
    return np.sum(made * np.array([1.0, 3.0]))


@pytest.mark.compiles(4)
def test_higher_derivatives(library: str) -> None:
    """And values, which stay as they are to the last bit where a series has the derivatives."""
    third = ad.grad(ad.grad(ad.grad(lambda x: np.sinc(x) + 4 * np.i0(x))))
    both = lambda x: (third(x), ad.grad(third)(x))
    made = whole(both, library)(ad.asarray(0.0))
    np.testing.assert_allclose([float(x) for x in made], [0.0, np.pi**4 / 5 + 1.5], 1e-13, 1e-15)
    x = ad.asarray(np.linspace(-1.3, 1.3, 101))
    values = lambda x: np.stack([np.sinc(x), np.i0(x)])
    _, kept = ad.grad(lambda x: (np.sum(values(x)), values(x)), has_aux=True)(x)
    np.testing.assert_array_equal(np.asarray(kept), np.asarray(values(x)))


def _pair(f: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    return lambda x: f(x[0], x[1])


EQUAL = [2.0, 2.0]
WEIGHTS = np.arange(1.0, 6.0)
SLOPE = float((1 / np.sqrt((1.2 + 0.7j) ** 2 - 1)).real)
CORNERS: dict[str, tuple[Callable[[Any], Any], list[float], list[float]]] = {
    "abs": (np.abs, [0.0, -0.0, -2.0], [0, 0, -1]),
    "fabs": (np.fabs, [0.0, 2.0], [0, 1]),
    "hypot": (_pair(np.hypot), [0.0, 0.0], [0, 0]),
    "arctan2": (_pair(np.arctan2), [0.0, 0.0], [0, 0]),
    "copysign": (lambda x: np.copysign(x, -1.0), [0.0, -0.0, 2.0], [0, 0, -1]),
    "modulus": (_pair(lambda x, y: np.abs(x + 1j * y)), [0.0, 0.0], [0, 0]),
    "angle": (_pair(lambda x, y: np.angle(x + 1j * y)), [0.0, 0.0], [0, 0]),
    "sign of complex numbers": (_pair(lambda x, y: np.sign(x + 1j * y).real), [0.0, 0.0], [0, 0]),
    "maximum": (_pair(np.maximum), EQUAL, [0.5, 0.5]),
    "minimum": (_pair(np.minimum), EQUAL, [0.5, 0.5]),
    "fmax": (_pair(np.fmax), EQUAL, [0.5, 0.5]),
    "fmin": (_pair(np.fmin), EQUAL, [0.5, 0.5]),
    "fmax of NaN": (_pair(np.fmax), [np.nan, 1.0], [0, 1]),
    "maximum of NaN": (_pair(np.maximum), [1.0, np.nan], [0, 1]),
    "minimum of NaN": (_pair(np.minimum), [np.nan, 1.0], [1, 0]),
    "maximum of two NaN": (_pair(np.maximum), [np.nan, np.nan], [1, 0]),
    "running maximum": (lambda x: np.maximum.accumulate(x) * WEIGHTS, [1.0, 2.0, 2.0, 1.0, 3.0], [1, 9, 0, 0, 5]),
    "running minimum": (
        lambda x: np.minimum.accumulate(x.reshape(5, 1)) * WEIGHTS[:, None], [1.0, 2.0, 1.0, np.nan, np.nan], [6, 0, 0, 9, 0],
    ),
    "a number": (lambda x: np.maximum(x, 0.0), [0.0, 1.0, -1.0], [0.5, 1, 0]),
    "clip": (lambda x: np.clip(x, 0.0, 1.0), [0.0, 1.0, 0.5, 2.0], [0.5, 0.5, 1, 0]),
    "max": (np.max, [1.0, 2.0, 2.0], [0, 1, 0]),
    "min": (np.min, [1.0, 2.0, 1.0], [1, 0, 0]),
    "nanmax": (np.nanmax, [np.nan, 2.0, 2.0], [0, 1, 0]),
    "ptp": (np.ptp, [1.0, 2.0, 2.0, 1.0], [-1, 1, 0, 0]),
    "max along axes": (lambda x: np.max(x.reshape(2, 2, 1), axis=(0, 2)), [1.0, 1.0, 1.0, 2.0], [1, 0, 0, 1]),
    "max, kept": (lambda x: np.max(x.reshape(2, 2), axis=1, keepdims=True) * x[:2], [3.0, 3.0, 1.0, 1.0], [10, 4, 6, 0]),
    "median": (np.median, [1.0, 2.0, 2.0, 1.0], [0, 0.5, 0, 0.5]),
    "norm of order inf": (lambda x: np.linalg.norm(x, np.inf), [1.0, -1.0], [1, 0]),
    "norm of order 1": (lambda x: np.linalg.norm(x, 1), [0.0, -1.0], [0, -1]),
    "cbrt": (np.cbrt, [0.0, -0.0, 8.0, -np.inf], [np.inf, np.inf, 1 / 12, 0]),
    "cube of complex numbers": (_pair(lambda x, y: ((x + 1j * y) ** 3).imag), [0.0, 0.0], [0, 0]),
    "powers of complex numbers": (lambda x: ((x + 0j) ** np.array([1.0, 2.0, -1.0])).real, [0.0, 0.0, 2.0], [1, 0, -0.25]),
    "arccosh left of 0": (lambda x: np.arccosh(x + 0.7j).real, [-1.2, 1.2], [-SLOPE, SLOPE]),
    "root of complex numbers": (lambda x: np.sqrt(x * 2j).real, [2.0, 8.0], [0.125**0.5, 0.03125**0.5]),
    "imaginary root": (lambda x: np.sqrt(3 + 4j + 1j * x).imag, [0.0], [0.2]),
    "product of complex numbers": (lambda x: np.prod(x + 1j).real, [2.0, 3.0], [3, 2]),
    "fmod": (lambda x: np.fmod(x, 2.0), [-5.0, 5.0, 0.0], [1, 1, 1]),
    "fmod by divisors": (lambda x: np.fmod(np.array([-5.0, 5.0]), x), [2.0, -3.0], [2, 1]),
    "heaviside": (lambda x: np.heaviside(x, 0.5) * x, [1.0, -1.0], [1, 0]),
    "a quotient by imaginary numbers": (lambda x: (x / np.array([1j, 2j])).imag, [1.0, 3.0], [-1, -0.5]),
}  # fmt: skip


def test_corners(library: str) -> None:
    """Where there is no derivative, each library has the same."""
    total = lambda *xs: sum(np.sum(f(x)) for (f, _, _), x in zip(CORNERS.values(), xs))
    points = [ad.asarray(np.array(x)) for _, x, _ in CORNERS.values()]
    slopes = lambda f: ad.grad(f, tuple(range(len(points))))
    wrong = []
    for how, transformed in {
        "jit": ad.jit(slopes(total)),
        "of jit": slopes(ad.jit(total)),
        "plain": slopes(total),
    }.items():
        if (library, how) == ("jax", "plain"):  # which compiles each operation by itself
            continue
        for (name, (_, _, want)), made in zip(CORNERS.items(), transformed(*points)):
            if not np.allclose(np.asarray(made), want, 1e-12, 1e-14):
                wrong.append(f"{how}, {name}: {np.asarray(made).tolist()} is not {want}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.compiles(4)
def test_singular_values_and_eigenvalues_of_a_program(library: str) -> None:
    """The sum of their squares is that of the elements of a symmetric matrix."""
    a, b = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[0.3, 1.0], [1.0, -0.2]])
    spanned = lambda x: a * x[0] + b * x[1] + EYE[:2, :2] * 5
    values = (
        lambda x: np.sum(np.linalg.eigvalsh(spanned(x)) ** 2),
        lambda x: np.sum(np.linalg.eigvalsh(spanned(x), UPLO="U") ** 2),
        lambda x: np.sum(np.linalg.eigvalsh(spanned(x) * (1 + 0j)) ** 2),
        lambda x: np.sum(np.linalg.svd(spanned(x), compute_uv=False) ** 2),
    )
    x, want = ad.asarray([1.0, 0.5]), 2 * np.array([[np.sum(p * q) for p in (a, b)] for q in (a, b)])
    for f in values:
        for curved in (ad.hessian(ad.jit(f)), ad.jit(ad.hessian(f))):
            np.testing.assert_allclose(np.asarray(curved(x)), want, 1e-10)


POLES: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    "sqrt": (np.sqrt, 0.0, np.inf),
    "sqrt of what is negative": (np.sqrt, -1.0, np.nan),
    "cbrt": (np.cbrt, 0.0, np.inf),
    "power": (lambda x: x**0.5, 0.0, np.inf),
    "power of another": (lambda x: x**0.25, 0.0, np.inf),
    "negative power": (lambda x: x**-1.0, 0.0, -np.inf),
    "float_power": (lambda x: np.float_power(x, 0.5), 0.0, np.inf),
    "power of zero": (lambda x: x**0.0, 0.0, 0.0),
    "log": (np.log, 0.0, np.inf),
    "log2": (np.log2, 0.0, np.inf),
    "log10": (np.log10, 0.0, np.inf),
    "log1p": (np.log1p, -1.0, np.inf),
    "reciprocal": (np.reciprocal, 0.0, -np.inf),
    "divide": (lambda x: 1 / x, 0.0, -np.inf),
    "arcsin": (np.arcsin, 1.0, np.inf),
    "arccos": (np.arccos, 1.0, -np.inf),
    "arccosh": (np.arccosh, 1.0, np.inf),
    "arctanh": (np.arctanh, 1.0, np.inf),
    "exp": (np.exp, 1000.0, np.inf),
    "square": (np.square, np.inf, np.inf),
    "tan": (np.tan, np.inf, np.nan),
    "tanh": (np.tanh, np.inf, 0.0),
    "arctan": (np.arctan, np.inf, 0.0),
    "logaddexp": (lambda x: np.logaddexp(x, x), np.inf, np.nan),
    "logaddexp of another": (lambda x: np.logaddexp(x, 1.0), np.inf, 1.0),
    "logaddexp2 of another": (lambda x: np.logaddexp2(1.0, x), np.inf, 1.0),
    "logaddexp beside infinity": (lambda x: np.logaddexp(np.inf, x), 1.0, 0.0),
    "hypot": (lambda x: np.hypot(x, x), 0.0, 0.0),
    "arctan2": (lambda x: np.arctan2(x, x), 0.0, 0.0),
    "abs": (np.abs, 0.0, 0.0),
    "abs of complex numbers": (lambda x: np.abs(x + 0j), 0.0, 0.0),
    "maximum": (lambda x: np.maximum(x, 0.0), 0.0, 0.5),
    "clip": (lambda x: np.clip(x, 0.0, 1.0), 0.0, 0.5),
    "remainder": (lambda x: np.remainder(1.0, x), 0.0, -np.inf),
    "fmod": (lambda x: np.fmod(1.0, x), 0.0, -np.inf),
    "floor_divide": (lambda x: np.floor_divide(1.0, x), 0.0, 0.0),
    "norm": (lambda x: np.linalg.norm(np.stack([x, x]), axis=0), 0.0, np.nan),
    "std": (lambda x: np.std(np.stack([x, x]), axis=0), 0.0, np.nan),
    "root of complex numbers": (lambda x: np.sqrt(x + 0j).real, 0.0, np.nan),
}
"""A function, a point, and the derivative there, which for the last is infinite or NaN as the library divides."""

UNUSED: dict[str, Callable[[Any], Any]] = {
    "where": lambda y: np.where(np.array([False, True]), y, 0.0),
    "product": lambda y: y * np.array([0.0, 1.0]),
    "index": lambda y: y[1:],
    "mask": lambda y: y[np.array([False, True])],
}


def test_what_is_not_used_has_zero_times_its_derivative(library: str, drawn: Draw) -> None:
    """Also where the derivative is infinite: zero times infinity is NaN on each library, as in the next step of the chain rule."""
    points = np.array([[x, 1.25 if name == "arccosh" else 0.25] for name, (_, x, _) in POLES.items()])
    used = lambda use: lambda xs: sum(np.sum(use(f(x))) for (f, _, _), x in zip(POLES.values(), xs))
    total = {"itself": used(lambda y: y)} | {name: used(use) for name, use in UNUSED.items()}
    wrong = []
    ways = ["jit"] if library == "jax" else ["plain", "jit"]
    for how, use in drawn(itertools.product(ways, total), one_of=4):
        slopes = ad.grad(total[use]) if how == "plain" else ad.jit(ad.grad(total[use]))
        for (name, (_, _, slope)), made in zip(POLES.items(), np.asarray(slopes(ad.asarray(points)))[:, 0]):
            want = slope if use == "itself" else 0 * slope
            infinite = name == "root of complex numbers" and not np.isfinite(made)
            if not (infinite or np.array_equal(made, want, equal_nan=True)):
                wrong.append(f"{how}, {use}, {name}: {made} is not {want}")
    assert not wrong, "\n".join(wrong)


def test_what_is_not_chosen_has_zero_times_its_derivative(library: str) -> None:
    """One convention on each library, without a compiler and with one, by each way to choose."""
    choices = (
        lambda x: np.where(x > 0, np.sqrt(x), 0.0),
        lambda x: np.select([x > 0], [np.sqrt(x)], 0.0),
        lambda x: np.sqrt(x, where=x > 0, out=np.zeros_like(x)),
    )
    x = ad.asarray([0.0, 4.0])
    for f in choices:
        slope = ad.grad(lambda x, f=f: np.sum(f(x)))
        for made in (slope(x), ad.jit(slope)(x)):
            np.testing.assert_array_equal(np.asarray(made), [np.nan, 0.25])


def test_what_is_replaced_has_zero_times_its_derivative(library: str) -> None:
    slope = ad.grad(lambda x: np.sum(np.nan_to_num(1 / x)))
    with np.errstate(divide="ignore", invalid="ignore"):
        for made in (slope(ad.asarray([0.0, 2.0])), ad.jit(slope)(ad.asarray([0.0, 2.0]))):
            np.testing.assert_array_equal(np.asarray(made), [np.nan, -0.25])


def test_a_safe_argument_has_no_infinite_derivative(library: str) -> None:
    """The way out that the reference names."""
    rooted = lambda x: np.sum(np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0))
    assert np.asarray(ad.jit(ad.grad(rooted))(ad.asarray([0.0, 4.0]))).tolist() == [0, 0.25]


FULL = np.random.default_rng(4).normal(size=(4, 2))
MANY = np.random.default_rng(5).normal(size=(2, 3, 3)) + np.diag([1.0, 4.0, 8.0])
C2, C3, C4 = (np.arange(1.0, n * n + 1).reshape(n, n) % 3 for n in (2, 3, 4))


def _spans(basis: Any, cost: Any, first: int) -> Any:
    """A cost of the spans of the first columns of a basis and of the others, which no choice of a basis changes."""
    one, two = basis[..., :first], basis[..., first:]
    return np.sum(cost * (one @ np.conj(np.swapaxes(one, -1, -2)) - 2 * two @ np.conj(np.swapaxes(two, -1, -2)))).real


def _eigenvectors(a: Any) -> Any:
    w, v = np.linalg.eig(a)
    return np.sum(np.abs(v) ** 2 * C3.T * np.abs(w)[..., None, :]) + np.sum(w**2).real


FACTORS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "full svd, values": (lambda a: np.sum(np.linalg.svd(a)[1] * np.array([1.0, 3.0])), FULL),
    "full svd, all vectors": (lambda a: _spans(np.linalg.svd(a).U, C4, 2), FULL),
    "full svd, wide": (lambda a: _spans(np.swapaxes(np.linalg.svd(a).Vh, -1, -2), C4, 2), FULL.T),
    "full svd, first vectors": (lambda a: np.sum(C4[:, :1] * np.linalg.svd(a).U[:, :1] ** 2), FULL),
    "full svd, one column": (lambda a: _spans(np.linalg.svd(a).U, C4, 1), FULL[:, :1]),
    "full svd, many": (lambda a: _spans(np.linalg.svd(a).U, C3, 2), MANY[:, :, :2]),
    "full svd, square": (lambda a: np.sum(np.linalg.svd(a)[1] * np.arange(3.0)), MANY),
    "complete qr": (lambda a: _spans(np.linalg.qr(a, "complete").Q, C4, 2), FULL),
    "complete qr, triangle": (lambda a: np.sum(np.abs(np.linalg.qr(a, "complete").R) * C4[:, :2]), FULL),
    "complete qr, square": (lambda a: np.sum(np.abs(np.linalg.qr(a, "complete").R) * C3), MANY),
    "complete qr, wide": (lambda a: np.sum(np.abs(np.linalg.qr(a, "complete").R) * C4[:2]), FULL.T),
    "qr, wide": (lambda a: np.sum(np.linalg.qr(a).Q ** 2 * C2) + np.sum(np.linalg.qr(a).R ** 2 * C4[:2]), FULL.T),
    "eigenvectors": (_eigenvectors, MANY),
}  # fmt: skip


def _slopes(f: Callable[[Any], Any], x: Any) -> Any:
    """Central differences of a number."""
    steps = 1e-6 * np.eye(x.size).reshape((-1, *x.shape))
    return np.reshape([(f(x + e) - f(x - e)) / 2e-6 for e in steps], x.shape)


@pytest.mark.parametrize("name", FACTORS)
def test_factors_that_libraries_do_not_differentiate(library: str, name: str) -> None:
    f, x = FACTORS[name]
    np.testing.assert_allclose(np.asarray(ad.grad(f)(ad.asarray(x))), _slopes(f, x), 1e-5, 1e-6)


@pytest.mark.parametrize("how", ["jit", "vmap", "hessian"])
def test_factors_in_other_transforms(library: str, how: str) -> None:
    cost = lambda a: _spans(np.linalg.svd(a).U, C4, 2) + _spans(np.linalg.qr(a, "complete").Q, C4.T, 2)
    x, slope = ad.asarray(FULL), ad.grad(cost)
    if how == "hessian":
        want = np.reshape(
            [_slopes(lambda a, i=i: np.asarray(slope(ad.asarray(a)))[i], FULL) for i in np.ndindex(4, 2)], (4, 2, 4, 2)
        )
        np.testing.assert_allclose(np.asarray(ad.jit(ad.hessian(cost))(x)), want, 1e-4, 1e-5)
        return
    made = ad.vmap(slope)(np.stack([x * 2, x]))[1] if how == "vmap" else ad.jit(slope)(x)
    np.testing.assert_allclose(np.asarray(made), _slopes(cost, FULL), 1e-5, 1e-6)


def test_eigenvectors_that_a_library_has_on_the_host_name_their_line(library: str) -> None:
    """No library's compiler has the derivative of the eigenvectors of a matrix that may have complex ones."""
    with pytest.raises(ad.TraceError, match=rf"{Path(__file__).name}:\d+ in .*; (compute|give)"):
        ad.jit(ad.grad(_eigenvectors))(ad.asarray(MANY))
