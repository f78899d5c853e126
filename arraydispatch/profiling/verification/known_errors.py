"""Facts about single functions: the scale of their rounding errors, and whether their results are unique.

Eigenvectors are defined up to a sign, and equal values may come in any order. Such results are checked against their definition,
not compared with NumPy's. Results of ill-conditioned problems are unique, but rounding may change them: two polynomials fitted to badly
scaled points may differ in the sixth digit of their coefficients and fit equally well. Their errors are compared with the changes of
NumPy's result when its arguments change by rounding (:func:`amplified`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...common.pytrees import mapped
from ...functions.registry import facts_of
from .comparison import Finding, adjoint, largest, residual, same, tolerance, wide

Check = Callable[[tuple[Any, ...], dict[str, Any], Any, Any], list[Finding] | None]
"""``check(args, kwargs, ours, reference)`` returns the findings, or None if the results should be compared directly."""


def unverified(func: Any) -> str:
    """Return the reason why a function is not run twice; empty if it is run twice."""
    facts = facts_of(func)
    return "is about memory" if facts.memory else "writes files" if facts.files else facts.checks.unverified


def raw(func: Any) -> bool:
    """Whether a result depends on the dtype itself, so that NumPy must get the inputs in their own dtype."""
    return func in _RAW_METHODS or facts_of(func).checks.raw


_RAW_METHODS = ("view", "byteswap")


def scale_for(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[..., Any], wide: bool) -> Any:
    """Return the scale of the errors of this call: a number, an array, ``"largest"`` (the result's largest element), or None (each element
    of the result itself).

    ``run``: computes the call by NumPy on other arguments. ``wide``: whether the function acts on the whole array, not elementwise.
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
    """Return the findings about vectors that span a space, such as the range or the null space of a matrix: any other basis is as good.

    Return None if the numbers of vectors differ.
    """
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


def _roots(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    if np.shape(ours) != np.shape(reference):
        return None
    p, z = wide(args[0]), wide(ours)
    return [_zeros(p, z, np.asarray(ours).dtype)]


def _zeros(p: Any, z: Any, dtype: np.dtype[Any]) -> Finding:
    """Return a finding with the largest value of a polynomial at these points, relative to its terms: zero up to rounding at a root."""
    size = np.maximum(np.polyval(np.abs(p), np.abs(z)), np.finfo(np.float64).tiny)
    return residual("the polynomial at a root", np.polyval(p, z) / size, np.zeros_like(z), len(p), dtype)


def _eigvals(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    """Return the findings about eigenvalues that differ from NumPy's: each must make the matrix singular, and their sum must be its trace.

    Return None for stacks of matrices.
    """
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


_CHECKS: dict[str, Check] = {
    "eigh": _eigh, "eig": _eig, "svd": _svd, "qr": _qr, "argsort": _argsort, "argpartition": _argpartition, "partition": _partition,
    "basis": _basis, "SciPy's eigh": _eigh_of_scipy, "SciPy's eig": _eig_of_scipy, "SciPy's qr": _qr_of_scipy, "roots": _roots,
    "eigenvalues": _eigvals, "logarithm of a determinant": _slogdet,
}  # fmt: skip
"""Name of a definition that several results meet (``checks.defined`` in a function's facts) -> check."""


def check_for(func: Any) -> Check | None:
    """Return the check for a function with a result that is not unique; None for others."""
    return _CHECKS.get(facts_of(func).checks.defined)


# -- problems that amplify rounding ------------------------------------------------------------------------------------

_TIMES = 3
"""Number of changes of the arguments that are tried."""
_AMPLE = 10.0
"""Factor by which an error may exceed the largest effect of the changes of the arguments; for a matrix its number of rows or columns if
that is larger, because errors add up.
"""
_NO_DIGITS = 0.1
"""Relative effect of rounding from which a result is meaningless."""


def amplified(
    func: Any, real: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], pairs: list[tuple[Any, Any]],
    findings: list[Finding],
) -> list[Finding]:  # fmt: skip
    """Return the findings about a result of an ill-conditioned problem, each relative to the effect of rounding of the arguments.

    Findings about other functions, or within the tolerance, are returned unchanged. Return no findings if matrices differ in rank, or if
    NumPy raises for an argument changed by rounding.

    Parameters
    ----------
    func : callable
        The function.
    real : callable
        NumPy's function.
    args, kwargs
        Its arguments.
    pairs : list of (ndarray, ndarray)
        Parts of our result, and NumPy's.
    findings : list of Finding
        Findings of their comparison.
    """
    if facts_of(func).checks.defined != "conditioned" or not any(finding.beyond for finding in findings):
        return findings
    if any(a.dtype.kind in "iu" and not _equal(a, b) for a, b in pairs):
        return []  # the rank of a matrix that is close to one of another rank
    size = max(tolerance(a.dtype) for a, _ in pairs)
    ample = max([_AMPLE, *(min(x.shape[-2:]) for x in args if isinstance(x, np.ndarray) and x.ndim > 1)])
    effects = [0.0] * len(pairs)
    for seed in range(_TIMES):
        rng = np.random.default_rng(seed)
        try:
            made = real(*_shaken(args, size, rng), **{key: _shaken(x, size, rng) for key, x in kwargs.items()})
        except Exception:  # noqa: BLE001 -- it has no solution there, such as a factor of a matrix that is next to an indefinite one
            return []
        parts = made if isinstance(made, tuple) else (made,)
        for at, (part, (_, reference)) in enumerate(zip(parts, pairs)):
            apart = np.inf
            if np.shape(part) == reference.shape:
                apart = float(np.max(np.abs(wide(part) - wide(reference)), initial=0.0))
            effects[at] = max(effects[at], apart if apart == apart else np.inf)
    return [_relative(*each, ample / size) for each in zip(findings, pairs, effects)]


def _relative(finding: Finding, pair: tuple[Any, Any], effect: float, factor: float) -> Finding:
    known = largest((pair[1],))
    if not finding.beyond or effect > known * _NO_DIGITS:
        return finding._replace(error=min(finding.error, finding.tolerance))
    if not np.isfinite(finding.error):
        return finding
    return finding._replace(error=finding.error / max(1.0, factor * effect / (known or 1.0)))


def _shaken(x: Any, size: float, rng: np.random.Generator) -> Any:
    """Return an argument with the elements of arrays changed by random relative errors of this size."""
    if isinstance(x, list | tuple):
        return mapped(lambda each: _shaken(each, size, rng), x)
    return wide(x) * (1.0 + size * rng.uniform(-1.0, 1.0, x.shape)) if isinstance(x, np.ndarray) and x.ndim else x
