"""Checks of results of ill-conditioned problems, which rounding may change: they are compared with their definition.

Two polynomials fitted to badly scaled points may differ in the sixth digit of their coefficients and fit equally well. So the checks
ask whether a result solves the problem, up to the rounding of its terms.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .comparison import Finding, tolerance
from .magnitudes import adjoint, largest, residual, wide


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
    """Check condition numbers: the larger the quotient of the singular values, the more it changes by rounding of the smallest
    one.
    """
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


CHECKS: dict[str, Any] = {
    "fit": _polyfit, "roots": _roots, "pseudo-inverse": _pinv, "condition": _condition, "eigenvalues": _eigvals,
    "logarithm of a determinant": _slogdet, "power": _matrix_power, "tensor solve": _tensorsolve,
    "tensor inverse": _tensorinv,
}  # fmt: skip
"""Definition of a result -> check."""
