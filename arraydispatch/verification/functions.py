"""What is known of single functions: what their rounding errors are relative to, and which results are not unique.

Eigenvectors have no sign, equal values no order. Such results are held against what defines them, not against the ones
that NumPy happens to give.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from .comparing import Finding, tolerance

__all__ = ["NEVER", "SAME_DTYPE", "check_for", "scale_for"]

Arrays = tuple[np.ndarray[Any, Any], ...]
Check = Callable[[tuple[Any, ...], dict[str, Any], Any, Any], list[Finding] | None]
"""``check(args, kwargs, ours, reference)``: what it found, or None where the results are to be compared as they are."""

NEVER: dict[Any, str] = {
    **dict.fromkeys((np.empty_like, np.empty), "uninitialised memory"),
    **dict.fromkeys((np.save, np.savetxt, np.savez, np.savez_compressed), "writes files"),
    **dict.fromkeys((np.shares_memory, np.may_share_memory, np.lib.stride_tricks.as_strided), "is about memory"),
}  # fmt: skip
"""Functions that are not run twice -> why."""

SAME_DTYPE = frozenset({np.nextafter, np.spacing, np.array_repr, np.array_str, np.array2string, "view", "byteswap"})
"""Functions whose result says something about the dtype itself: NumPy gets their inputs as they are."""

_SUMS = frozenset({
    np.sum, np.mean, np.cumsum, np.dot, np.matmul, np.inner, np.vdot, np.vecdot, np.tensordot, np.einsum, np.trace,
    np.convolve, np.correlate, np.average, np.nansum, np.nanmean, np.nancumsum, np.diff, np.ediff1d, np.gradient,
    np.trapezoid, np.cross, np.interp, np.linalg.matmul, np.linalg.multi_dot, np.linalg.matrix_power, np.linalg.vecdot,
    np.linalg.tensordot, np.linalg.trace, np.linalg.cross, np.subtract, np.add, np.fft.fft, np.fft.ifft, np.fft.rfft,
    np.fft.irfft, np.fft.fft2, np.fft.ifft2, np.fft.fftn, np.fft.ifftn, np.fft.rfft2, np.fft.irfft2, np.fft.rfftn,
    np.fft.irfftn, np.fft.hfft, np.fft.ihfft, "sum", "mean", "cumsum", "dot", "trace",
})  # fmt: skip
"""Functions that add terms: the error is relative to the same call on absolute values."""

_SQUARES = frozenset({np.var, np.nanvar, np.cov, "var"})
_SPREADS = frozenset({np.std, np.nanstd, np.corrcoef, np.ptp, np.linalg.eigvals, np.linalg.eigvalsh, "std"})
_REMAINDERS = frozenset({np.remainder, np.fmod})
_PERIODIC = frozenset({np.sin, np.cos, np.tan})
_TWO_TERMS = {np.add: 1.0, np.subtract: -1.0}
"""Sums of two terms -> the sign with which the second one's absolute value adds to that of the first."""


def scale_for(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[..., Any], wide: bool) -> Any:
    """What errors of this call are relative to, besides the result itself.

    ``wide``: whether the result is that of a function of the whole array, not element by element.
    """
    if func in _PERIODIC:
        return 1.0
    if func in _REMAINDERS:
        return largest(args)
    if not wide:
        return run(_term(args[0]), _term(args[1], _TWO_TERMS[func]), **kwargs) if func in _TWO_TERMS else None
    if func in _SQUARES:
        return largest(args) ** 2
    if func in _SPREADS:
        return largest(args)
    if func in _SUMS:
        try:
            made = run(*[absolute(x) for x in args], **kwargs)
        except Exception:  # noqa: BLE001 -- an axis, or a bound, has become another one: do without
            return largest(args)
        if isinstance(made, list | tuple):
            return largest(made)
        return largest((made,)) if getattr(func, "__module__", "") == "numpy.fft" else made
    return "largest"


def _term(x: Any, sign: float = 1.0) -> np.ndarray[Any, Any]:
    return np.asarray(sign * np.abs(_wide(x)))


def absolute(x: Any) -> Any:
    """Floating values without their signs; the rest as it is."""
    if isinstance(x, list | tuple):
        return type(x)(map(absolute, x)) if type(x) in (list, tuple) else x
    if isinstance(x, np.ndarray | np.inexact) and x.dtype.kind in "fc":
        return np.abs(x)
    return -x if isinstance(x, float) and x < 0 else x


def largest(values: Any) -> float:
    """The largest finite magnitude among floating values, sequences searched; 0 if there is none."""
    found = 0.0
    for x in values:
        if isinstance(x, list | tuple):
            found = max(found, largest(x))
        elif isinstance(x, np.ndarray) and x.size and x.dtype.kind in "fciu":
            magnitude = np.abs(x.astype(np.complex128 if x.dtype.kind == "c" else np.float64))
            found = max(found, float(np.max(magnitude, initial=0.0, where=np.isfinite(magnitude))))
    return found


# -- results that are not unique ---------------------------------------------------------------------------------------


def _residual(what: str, left: Any, right: Any, scale: float, dtype: np.dtype[Any]) -> Finding:
    with np.errstate(all="ignore"):
        error = np.abs(np.asarray(left) - np.asarray(right))
        finite = np.isfinite(error)
        worst = float(error.max(initial=0.0)) / (scale or 1.0) if finite.all() else np.inf
    return Finding(worst, tolerance(dtype), (), None, None, f"{what} is off by {worst:.2g}")


def _unit(vectors: Any, name: str, dtype: np.dtype[Any]) -> Finding:
    product = np.conj(np.swapaxes(vectors, -1, -2)) @ vectors
    return _residual(f"the product of {name} with itself", product, np.eye(vectors.shape[-1]), 1.0, dtype)


def _wide(x: Any) -> Any:
    x = np.asarray(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def _symmetric(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    a = _wide(args[0])
    uplo = (kwargs.get("UPLO") or (args[1] if len(args) > 1 else "L")).upper()
    half = np.tril(a, -1) if uplo == "L" else np.triu(a, 1)
    return half + np.conj(np.swapaxes(half, -1, -2)) + np.einsum("...ii->...i", a)[..., None].real * np.eye(a.shape[-1])


def _eigh(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding]:
    a, dtype = _symmetric(args, kwargs), ours[1].dtype
    w, v, size = _wide(ours[0]), _wide(ours[1]), largest((reference[0],))
    return [
        _residual("an eigenvalue", w, reference[0], size, dtype),
        _residual("a @ v - w v", a @ v, v * w[..., None, :], size, dtype),
        _unit(v, "the eigenvectors", dtype),
    ]


def _eig(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding]:
    a, w, v = _wide(args[0]), _wide(ours[0]), _wide(ours[1])
    return [_residual("a @ v - w v", a @ v, v * w[..., None, :], largest((a,)), ours[1].dtype)]


def _svd(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    if not isinstance(ours, tuple):
        return None
    a, dtype = _wide(args[0]), ours[0].dtype
    u, s, vh = map(_wide, ours)
    k, size = s.shape[-1], largest((reference[1],))
    return [
        _residual("a singular value", s, reference[1], size, dtype),
        _residual("u s vh - a", (u[..., :k] * s[..., None, :]) @ vh[..., :k, :], a, size, dtype),
        _unit(u, "u", dtype),
        _unit(np.swapaxes(vh, -1, -2), "vh", dtype),
    ]


def _qr(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    mode = kwargs.get("mode", args[1] if len(args) > 1 else "reduced")
    if mode == "r":
        r = _wide(ours)
        return [_residual("abs(r)", np.abs(r), np.abs(_wide(reference)), largest((r,)), ours.dtype)]
    if mode not in ("reduced", "complete"):
        return None
    q, r = map(_wide, ours)
    a, dtype = _wide(args[0]), ours[0].dtype
    return [_residual("q @ r - a", q @ r, a, largest((a,)), dtype), _unit(q, "q", dtype)]


def _solve(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding] | None:
    a, b, x = _wide(args[0]), _wide(args[1]), _wide(ours)
    back = a @ x[..., None] if b.ndim == 1 else a @ x
    scale = a.shape[-1] * largest((a,)) * largest((x,)) + largest((b,))
    return [_residual("a @ x - b", back, b[..., None] if b.ndim == 1 else b, scale, ours.dtype)]


def _inv(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding]:
    a, x = _wide(args[0]), _wide(ours)
    scale = a.shape[-1] * largest((a,)) * largest((x,))
    return [_residual("a @ inv(a) - 1", a @ x, np.broadcast_to(np.eye(a.shape[-1]), a.shape), scale, ours.dtype)]


def _cholesky(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding]:
    a, f = _wide(args[0]), _wide(ours)
    upper = kwargs.get("upper", False)
    back = np.conj(np.swapaxes(f, -1, -2)) @ f if upper else f @ np.conj(np.swapaxes(f, -1, -2))
    half = np.triu if upper else np.tril
    return [_residual("the product of the factors", half(back), half(a), largest((a,)), ours.dtype)]


def _determinant(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding]:
    a = _wide(args[0])
    bound = float(np.max(np.prod(np.sqrt(np.sum(np.abs(a) ** 2, axis=-1)), axis=-1), initial=0.0))
    return [_residual("the determinant", _wide(ours), _wide(reference), bound, np.asarray(ours).dtype)]


def _least_squares(args: tuple[Any, ...], kwargs: dict[str, Any], ours: Any, reference: Any) -> list[Finding]:
    a, b, x = _wide(args[0]), _wide(args[1]), _wide(ours[0])
    size = a.shape[0] * largest((a,)) * (largest((a,)) * a.shape[1] * largest((x,)) + largest((b,)))
    normal = np.conj(a.T) @ (a @ x - b)
    return [
        _residual("the residual's part in the range of a", normal, np.zeros_like(normal), size, ours[0].dtype),
        _residual("a singular value", _wide(ours[3]), _wide(reference[3]), largest((reference[3],)), ours[3].dtype),
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
    same = placed and _equal(np.sort(ours, axis), np.sort(reference, axis))
    return [Finding(0.0 if same else np.inf, 0.0, (), None, None, "the array is not parted at kth")]


def _equal(a: Any, b: Any) -> bool:
    return np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc" or dtypes.is_bfloat16(np.asarray(a).dtype))


_CHECKS: dict[Any, Check] = {
    np.linalg.eigh: _eigh,
    np.linalg.eig: _eig,
    np.linalg.svd: _svd,
    np.linalg.qr: _qr,
    np.linalg.solve: _solve,
    np.linalg.inv: _inv,
    np.linalg.cholesky: _cholesky,
    np.linalg.det: _determinant,
    np.linalg.lstsq: _least_squares,
    **dict.fromkeys((np.argsort, "argsort"), _argsort),
    **dict.fromkeys((np.argpartition, "argpartition"), _argpartition),
    **dict.fromkeys((np.partition, "partition"), _partition),
}


def check_for(func: Any) -> Check | None:
    """The check of a function whose result is not unique."""
    return _CHECKS.get(func)
