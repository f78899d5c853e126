"""Facts about single functions: the scale of their rounding errors, and whether their results are unique.

Eigenvectors are defined up to a sign, and equal values may come in any order. Such results are checked against their definition,
not compared with NumPy's. So are those of ill-conditioned problems, which rounding may change: two polynomials fitted to badly scaled
points may differ in the sixth digit of their coefficients and fit equally well. The checks ask whether a result solves the problem, up
to the rounding of its terms.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...common.pytrees import mapped
from ...functions.registry import facts_of
from .comparison import Finding, same, tolerance
from .magnitudes import adjoint, largest, residual, wide

Check = Callable[[tuple[Any, ...], dict[str, Any], Any, Any], list[Finding] | None]
"""``check(args, kwargs, ours, reference)``: the findings, or None if the results are to be compared directly."""


def unverified(func: Any) -> str:
    """Return the reason why a function is not run twice; empty if it is run twice."""
    facts = facts_of(func)
    return "is about memory" if facts.memory else "writes files" if facts.files else facts.checks.unverified


def raw(func: Any) -> bool:
    """Whether a result depends on the dtype itself, so that NumPy must get the inputs in their own dtype."""
    return func in _RAW_METHODS or facts_of(func).checks.raw


_RAW_METHODS = ("view", "byteswap")


def scale_for(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[..., Any], wide: bool) -> Any:
    """Return the scale of the errors of this call, besides the result itself.

    ``wide``: whether the function acts on the whole array, not elementwise.
    """
    checks = facts_of(func).checks
    if checks.error == "period":
        return 1.0
    if checks.error == "remainder":
        return largest(args)
    if not wide:
        return run(_term(args[0]), _term(args[1], checks.sign), **kwargs) if checks.sign else None
    if checks.error == "square":
        return largest(args) ** 2
    if checks.error == "spread":
        return largest(args)
    if checks.error == "sum":
        try:
            made = run(*[absolute(x) for x in args], **kwargs)
        except Exception:  # noqa: BLE001 -- an axis, or a bound, has become another one: do without
            return largest(args)
        if isinstance(made, list | tuple):
            return largest(made)
        return largest((made,)) if getattr(func, "__module__", "") == "numpy.fft" else made
    return "largest"


def _term(x: Any, sign: float = 1.0) -> np.ndarray[Any, Any]:
    return np.asarray(sign * np.abs(wide(x)))


def absolute(x: Any) -> Any:
    """Return the absolute values of floating data; other objects unchanged."""
    if isinstance(x, list | tuple):
        return mapped(absolute, x, frozenset())
    if isinstance(x, np.ndarray | np.inexact) and x.dtype.kind in "fc":
        return np.abs(x)
    return -x if isinstance(x, float) and x < 0 else x


# -- results that are not unique ---------------------------------------------------------------------------------------


def _unit(vectors: Any, name: str, dtype: np.dtype[Any]) -> Finding:
    product = np.conj(np.swapaxes(vectors, -1, -2)) @ vectors
    return residual(f"the product of {name} with itself", product, np.eye(vectors.shape[-1]), 1.0, dtype)


def _symmetric(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a = wide(args[0])
    uplo = (kwargs.get("UPLO") or (args[1] if len(args) > 1 else "L")).upper()
    half = np.tril(a, -1) if uplo == "L" else np.triu(a, 1)
    return half + np.conj(np.swapaxes(half, -1, -2)) + np.einsum("...ii->...i", a)[..., None].real * np.eye(a.shape[-1])


def _eigh(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding]:
    a, dtype = _symmetric(args, kwargs), ours[1].dtype
    w, v, size = wide(ours[0]), wide(ours[1]), largest((reference[0],))
    return [
        residual("an eigenvalue", w, reference[0], size, dtype),
        residual("a @ v - w v", a @ v, v * w[..., None, :], size, dtype),
        _unit(v, "the eigenvectors", dtype),
    ]


def _eig(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding]:
    a, w, v = wide(args[0]), wide(ours[0]), wide(ours[1])
    lengths = np.sqrt(np.sum(np.abs(v) ** 2, axis=-2))
    return [
        residual("a @ v - w v", a @ v, v * w[..., None, :], largest((a,)), ours[1].dtype),
        residual("the length of an eigenvector", lengths, np.ones_like(lengths), 1.0, ours[1].dtype),
    ]


def _svd(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    if not isinstance(ours, tuple):
        return None
    a, dtype = wide(_given(args, kwargs, "a")), ours[0].dtype
    u, s, vh = map(wide, ours)
    k, size = s.shape[-1], largest((reference[1],))
    return [
        residual("a singular value", s, reference[1], size, dtype),
        residual("u s vh - a", (u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, size, dtype),
        _unit(u, "u", dtype),
        _unit(np.swapaxes(vh, -1, -2), "vh", dtype),
    ]


def _given(args: tuple[Any, ...], kwargs: dict[str, Any], name: str, at: int = 0, default: Any = None) -> Any:
    return args[at] if len(args) > at else kwargs.get(name, default)


def _basis(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    """Check vectors that span a space, such as the range or the null space of a matrix: any other basis is as good."""
    if np.shape(ours) != np.shape(reference):
        return None
    a, b, dtype = wide(ours), wide(reference), np.asarray(ours).dtype
    return [
        _unit(a, "the vectors", dtype),
        residual("the projection onto the space", a @ adjoint(a), b @ adjoint(b), 1.0, dtype),
    ]


def _qr(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    mode = kwargs.get("mode", args[1] if len(args) > 1 else "reduced")
    if mode == "r":
        r = wide(ours)
        return [residual("abs(r)", np.abs(r), np.abs(wide(reference)), largest((r,)), ours.dtype)]
    if mode not in ("reduced", "complete"):
        return None
    q, r = map(wide, ours)
    a, dtype = wide(args[0]), ours[0].dtype
    return [residual("q @ r - a", q @ r, a, largest((a,)), dtype), _unit(q, "q", dtype)]


# SciPy's functions have other parameters; if these ask for a different problem, SciPy computes it and results are
# compared.


def _eigh_of_scipy(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    asked = ("b", "subset_by_index", "subset_by_value")
    if len(args) > 1 or any(kwargs.get(name) is not None for name in asked) or not isinstance(ours, tuple):
        return None
    return _eigh((_given(args, kwargs, "a"), "L" if kwargs.get("lower", True) else "U"), {}, ours, reference)


def _eig_of_scipy(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    asked = ("b", "left", "homogeneous_eigvals")
    if len(args) > 1 or any(kwargs.get(name) is not None for name in asked) or not isinstance(ours, tuple):
        return None
    return _eig((_given(args, kwargs, "a"),), {}, ours, reference)


def _qr_of_scipy(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    a, mode = _given(args, kwargs, "a"), _given(args, kwargs, "mode", 3, "full")
    if _given(args, kwargs, "pivoting", 4, False) or mode == "raw":
        return None
    if mode == "r":
        return _qr((a, "r"), {}, ours[0], reference[0])
    return _qr((a, "reduced" if mode == "economic" else "complete"), {}, ours, reference)


def _polar(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding]:
    a, left = wide(_given(args, kwargs, "a")), _given(args, kwargs, "side", 1, "right") == "left"
    (u, p), dtype, size = map(wide, ours), ours[0].dtype, largest((a,))
    wide_one = a.shape[-1] > a.shape[-2]
    return [
        residual("the definite factor", p, wide(reference[1]), size, dtype),
        residual("the product of the factors", p @ u if left else u @ p, a, size, dtype),
        _unit(adjoint(u) if wide_one else u, "u", dtype),
    ]


def _solve(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    a, b, x = wide(args[0]), wide(args[1]), wide(ours)
    back = a @ x[..., None] if b.ndim == 1 else a @ x
    scale = a.shape[-1] * largest((a,)) * largest((x,)) + largest((b,))
    return [residual("a @ x - b", back, b[..., None] if b.ndim == 1 else b, scale, ours.dtype)]


def _inv(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding]:
    a, x = wide(args[0]), wide(ours)
    scale = a.shape[-1] * largest((a,)) * largest((x,))
    return [residual("a @ inv(a) - 1", a @ x, np.broadcast_to(np.eye(a.shape[-1]), a.shape), scale, ours.dtype)]


def _cholesky(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding]:
    a, f = wide(args[0]), wide(ours)
    upper = kwargs.get("upper", False)
    back = np.conj(np.swapaxes(f, -1, -2)) @ f if upper else f @ np.conj(np.swapaxes(f, -1, -2))
    half = np.triu if upper else np.tril
    return [residual("the product of the factors", half(back), half(a), largest((a,)), ours.dtype)]


def _determinant(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding]:
    a = wide(args[0])
    bound = float(np.max(np.prod(np.sqrt(np.sum(np.abs(a) ** 2, axis=-1)), axis=-1), initial=0.0))
    return [residual("the determinant", wide(ours), wide(reference), bound, np.asarray(ours).dtype)]


def _least_squares(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding]:
    a, b, x = wide(args[0]), wide(args[1]), wide(ours[0])
    size = a.shape[0] * largest((a,)) * (largest((a,)) * a.shape[1] * largest((x,)) + largest((b,)))
    normal = np.conj(a.T) @ (a @ x - b)
    return [
        residual("the residual's part in the range of a", normal, np.zeros_like(normal), size, ours[0].dtype),
        residual("a singular value", wide(ours[3]), wide(reference[3]), largest((reference[3],)), ours[3].dtype),
    ]


def _general(kwargs: dict[str, Any]) -> bool:
    """Whether the given array is the whole matrix, not one triangle of it."""
    return kwargs.get("assume_a") in (None, "general", "gen")


def _solve_of_scipy(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    if len(args) > 2 or not _general(kwargs):
        return None
    a, b = wide(_given(args, kwargs, "a")), _given(args, kwargs, "b", 1)
    return _solve((np.swapaxes(a, -1, -2) if kwargs.get("transposed") else a, b), {}, ours, reference)


def _inv_of_scipy(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    return _inv((_given(args, kwargs, "a"),), {}, ours, reference) if _general(kwargs) else None


def _least_squares_of_scipy(
    args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any
) -> list[Finding] | None:
    if ours[3] is None or reference[3] is None:  # a LAPACK driver without singular values
        return None
    return _least_squares((_given(args, kwargs, "a"), _given(args, kwargs, "b", 1)), {}, ours, reference)


def _procrustes(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding]:
    a, b = wide(_given(args, kwargs, "A")), wide(_given(args, kwargs, "B", 1))
    r, fit, dtype = wide(ours[0]), reference[1], ours[0].dtype
    return [
        _unit(r, "the matrix", dtype),
        residual("the sum of the singular values", ours[1], fit, float(abs(fit)), dtype),
        residual("how well the matrix maps a to b", np.sum(np.conj(r) * (adjoint(a) @ b)), fit, float(abs(fit)), dtype),
    ]


def _along(args: tuple[Any, ...], kwargs: dict[str, Any], at: int) -> tuple[Any, int]:
    axis = kwargs.get("axis", args[at] if len(args) > at else -1)
    a = np.asarray(args[0])
    return (a.ravel(), 0) if axis is None else (a, axis)


def _argsort(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    if np.shape(ours) != np.shape(reference):
        return None
    a, axis = _along(args, kwargs, 1)
    by_ours, by_numpy = (np.take_along_axis(a, np.asarray(x), axis) for x in (ours, reference))
    complete = np.array_equal(np.sort(ours, axis), np.sort(reference, axis))
    wrong = not complete or not _equal(by_ours, by_numpy)
    return [Finding(np.inf if wrong else 0.0, 0.0, (), None, None, "the order it gives does not sort the array")]


def _argpartition(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    if np.shape(ours) != np.shape(reference):
        return None
    a, axis = _along(args, kwargs, 2)
    by_ours, by_numpy = (np.take_along_axis(a, np.asarray(x), axis) for x in (ours, reference))
    return _parted(args, kwargs, by_ours, by_numpy, axis)


def _partition(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    if np.shape(ours) != np.shape(reference):
        return None
    return _parted(args, kwargs, ours, reference, _along(args, kwargs, 2)[1])


def _parted(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any, axis: int) -> list[Finding]:
    kth = kwargs.get("kth", args[1] if len(args) > 1 else 0)
    placed = all(_equal(np.take(ours, k, axis), np.take(reference, k, axis)) for k in np.atleast_1d(kth))
    equal = placed and _equal(np.sort(ours, axis), np.sort(reference, axis))
    return [Finding(0.0 if equal else np.inf, 0.0, (), None, None, "the array is not parted at kth")]


def _equal(a: Any, b: Any) -> bool:
    return np.shape(a) == np.shape(b) and bool(same(a, b).all())


def _polyfit(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    given = dict(zip(("x", "y", "deg", "rcond", "full", "w", "cov"), args)) | kwargs
    several = isinstance(ours, tuple)
    c = ours[0] if several else ours
    if np.shape(c) != np.shape(reference[0] if several else reference):
        return None
    x, y, w = wide(given["x"]), wide(given["y"]), given.get("w")
    a = np.vander(x, int(given["deg"]) + 1)
    if w is not None:
        a, y = a * wide(w)[:, None], y * (wide(w) if y.ndim == 1 else wide(w)[:, None])
    lengths = np.sqrt((np.abs(a) ** 2).sum(axis=0))
    lengths[lengths == 0] = 1
    unit, dtype = a / lengths, np.asarray(c).dtype
    scaled = (wide(c).T * lengths).T
    left = adjoint(unit) @ (unit @ scaled - y)
    size = a.shape[1] * largest((scaled,)) + float(np.linalg.norm(y))
    found = [residual("the residual's part in the range of the powers", left, np.zeros_like(left), size, dtype)]
    if several and given.get("full"):
        s = reference[3]
        found.append(residual("a singular value", wide(ours[3]), wide(s), largest((s,)), np.asarray(ours[3]).dtype))
    elif several:
        found.append(_covariance(ours[1], reference[1], unit, lengths))
    return found


def _covariance(ours: Any, reference: Any, unit: Any, lengths: Any) -> Finding:
    """Compare covariances: inverses of the normal equations times the variance of the residual, each scaled by these
    equations.
    """
    normal, dtype = adjoint(unit) @ unit, np.asarray(ours).dtype
    scale = np.outer(lengths, lengths)
    v, w = (normal @ (wide(each).T * scale.T).T for each in (ours, reference))
    size = normal.shape[0] * largest((normal,)) * largest(((wide(reference).T * scale.T).T,))
    return residual("the covariance times the normal equations", v, w, size, dtype)


def _pinv(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    a, p, q = wide(args[0]), wide(ours), wide(reference)
    if p.shape != q.shape or kwargs.get("hermitian"):
        return None
    dtype, n = np.asarray(ours).dtype, max(a.shape[-2:])
    one = n * largest((a,)) * largest((p,))
    return [
        residual("p @ a @ p - p", p @ a @ p, p, one * largest((p,)), dtype),
        residual("a @ p, which is Hermitian", a @ p, adjoint(a @ p), one, dtype),
        residual("p @ a, which is Hermitian", p @ a, adjoint(p @ a), one, dtype),
        residual("a @ p @ a", a @ p @ a, a @ q @ a, one * largest((a,)), dtype),
    ]


def _condition(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    """Compare condition numbers with a tolerance that grows with them, because rounding of the smallest singular value dominates."""
    a, b = wide(ours), wide(reference)
    with np.errstate(all="ignore"):
        same = (a == b) | (np.isnan(a) & np.isnan(b))
        error = np.where(same, 0.0, np.abs(a - b) / (b * np.maximum(b, 1.0)))
        # A singular matrix has a quotient as large as the reciprocal of the rounding unit, or inf.
        last = np.finfo(np.asarray(ours).dtype).eps
        error = np.where(np.minimum(np.abs(a), np.abs(b)) * last > 0.01, 0.0, error)
    worst = float(np.max(error, initial=0.0))
    return [
        Finding(worst, tolerance(np.asarray(ours).dtype), (), np.max(ours, initial=0), np.max(reference, initial=0))
    ]


def _roots(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    if np.shape(ours) != np.shape(reference):
        return None
    p, z = wide(args[0]), wide(ours)
    return [_zeros(p, z, np.asarray(ours).dtype)]


def _zeros(p: Any, z: Any, dtype: np.dtype[Any]) -> Finding:
    """Whether a polynomial is zero at each of these points, up to the rounding of its terms."""
    size = np.maximum(np.polyval(np.abs(p), np.abs(z)), np.finfo(np.float64).tiny)
    return residual("the polynomial at a root", np.polyval(p, z) / size, np.zeros_like(z), len(p), dtype)


def _eigvals(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    """Check eigenvalues that differ from NumPy's: each must make the matrix singular, and their sum must be its trace."""
    a, w = wide(args[0]), wide(ours)
    if a.ndim != 2 or w.shape != np.shape(reference):
        return None
    n, dtype, size = len(a), np.asarray(ours).dtype, largest((a,)) or 1.0
    apart = np.abs(np.sort_complex(w) - np.sort_complex(wide(reference)))
    order = np.argsort(-apart)
    found = [residual("the sum of the eigenvalues", np.sum(w), np.trace(a), n * n * size, dtype)]
    for each in np.sort_complex(w)[order[: min(n, _LOOKED_AT)]]:
        if np.max(apart) <= tolerance(dtype) * size:
            break
        least = np.linalg.svd(a - each * np.eye(n), compute_uv=False)[-1]
        found.append(residual("the distance from a singular matrix", least, 0.0, n * size, dtype))
    return found


_LOOKED_AT = 8


def _slogdet(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    a = wide(args[0])
    with np.errstate(all="ignore"):
        bound = np.sum(np.log(np.sqrt(np.sum(np.abs(a) ** 2, axis=-1))), axis=-1)
        (s, x), (t, y) = ((wide(each[0]), wide(each[1])) for each in (ours, reference))
        one, other = (np.nan_to_num(sign * np.exp(log - bound)) for sign, log in ((s, x), (t, y)))
        near = np.abs(x - y) <= tolerance(np.asarray(ours[1]).dtype) * np.maximum(1.0, np.abs(y))
    same = bool(np.all(near & (s == t)))
    return [residual("the determinant", one, one if same else other, max(1, a.shape[-1]), np.asarray(ours[1]).dtype)]


def _matrix_power(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    n = kwargs.get("n", args[1] if len(args) > 1 else 1)
    if n >= 0:
        return None
    a, x = wide(args[0]), wide(ours)
    power = np.linalg.matrix_power(a, -n)
    rounded = a.shape[-1] * float(largest((a,))) ** -n * largest((x,)) * a.shape[-1] ** (-n - 1)
    return [residual("a ** n @ result - 1", power @ x, np.broadcast_to(np.eye(a.shape[-1]), a.shape), rounded, x.dtype)]


def _tensorsolve(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    a, b, x = (wide(each) for each in (args[0], args[1], ours))
    if kwargs.get("axes", args[2] if len(args) > 2 else None) is not None:
        return None
    flat = a.reshape(b.size, -1)
    scale = flat.shape[-1] * largest((a,)) * largest((x,)) + largest((b,))
    return [residual("a @ x - b", flat @ x.ravel(), b.ravel(), scale, np.asarray(ours).dtype)]


def _tensorinv(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    ind = kwargs.get("ind", args[1] if len(args) > 1 else 2)
    a, x = wide(args[0]), wide(ours)
    n = int(np.prod(a.shape[ind:]))
    scale = n * largest((a,)) * largest((x,))
    return [residual("a @ inv(a) - 1", a.reshape(-1, n) @ x.reshape(n, -1), np.eye(n), scale, np.asarray(ours).dtype)]


_CHECKS: dict[str, Check] = {
    "eigh": _eigh, "eig": _eig, "svd": _svd, "qr": _qr, "solve": _solve, "inverse": _inv, "cholesky": _cholesky,
    "determinant": _determinant, "least squares": _least_squares, "argsort": _argsort, "argpartition": _argpartition,
    "partition": _partition, "basis": _basis, "SciPy's eigh": _eigh_of_scipy, "SciPy's eig": _eig_of_scipy, "SciPy's qr": _qr_of_scipy,
    "polar": _polar, "procrustes": _procrustes, "SciPy's solve": _solve_of_scipy, "SciPy's inverse": _inv_of_scipy,
    "SciPy's least squares": _least_squares_of_scipy, "fit": _polyfit, "roots": _roots, "pseudo-inverse": _pinv,
    "condition": _condition, "eigenvalues": _eigvals, "logarithm of a determinant": _slogdet, "power": _matrix_power,
    "tensor solve": _tensorsolve, "tensor inverse": _tensorinv,
}  # fmt: skip
"""Definition of a result -> check."""


def check_for(func: Any) -> Check | None:
    """Return the check of a function whose result is not unique."""
    return _CHECKS.get(facts_of(func).checks.defined)
