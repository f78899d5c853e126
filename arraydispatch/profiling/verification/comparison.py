"""Comparison of two results: whether they are equal up to rounding, and the largest difference.

An error is relative to the values that may have been rounded: the result itself for elementwise functions, the sum of the absolute
terms for sums and products, and the largest element for all other functions.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...common.pytrees import leaves
from ...runtime import dtypes

TOLERANCES: dict[str, float] = {"float64": 1e-10, "float32": 1e-5, "float16": 8e-3, "bfloat16": 6.25e-2}
"""Relative error attributed to rounding, by the precision of the result: some hundred thousand units in the last place
at 64 bits, where that does not matter, and eight at 16 bits, where it does. Integers and booleans must be equal.
"""


class Finding(NamedTuple):
    """Largest difference of an array from NumPy's, with the tolerance and the place of the difference."""

    error: float
    tolerance: float
    place: tuple[int, ...]
    ours: Any
    numpy: Any
    says: str = ""
    """Description of a difference that is not one of values."""

    @property
    def beyond(self) -> bool:
        """Whether the difference is more than rounding."""
        return not self.error <= self.tolerance


def precision_of(dtype: np.dtype[Any]) -> str:
    """Return the key in :data:`TOLERANCES` of a floating or complex dtype."""
    if dtypes.is_bfloat16(dtype):
        return "bfloat16"
    part = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
    return {2: "float16", 4: "float32"}.get(part, "float64")


def tolerance(dtype: np.dtype[Any]) -> float:
    """Return the relative error attributed to rounding in results of this dtype."""
    return TOLERANCES[precision_of(dtype)] if _floats(dtype) else 0.0


def _floats(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "fc" or dtypes.is_bfloat16(dtype)


def _wide(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def compare(ours: np.ndarray[Any, Any], reference: np.ndarray[Any, Any], scale: Any = None) -> Finding:
    """Return the largest difference of two results. Errors are relative to the reference, or to ``scale`` where that is larger."""
    if ours.shape != reference.shape:
        says = f"shape {ours.shape} where NumPy has {reference.shape}"
        return Finding(np.inf, 0.0, (), ours.shape, reference.shape, says)
    numeric = all(x.dtype.kind in "biufc" or dtypes.is_bfloat16(x.dtype) for x in (ours, reference))
    if not ours.size:
        return Finding(0.0, 0.0, (), None, None)
    if not numeric or not (_floats(ours.dtype) or _floats(reference.dtype)):
        return _exact(ours, reference)
    allowed = tolerance(ours.dtype if _floats(ours.dtype) else reference.dtype)
    a, b = _wide(ours), _wide(reference)
    with np.errstate(all="ignore"):
        known = np.isfinite(a) & np.isfinite(b)
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (~np.isfinite(a) & ~np.isfinite(b) & (a.dtype.kind == "c"))
        bound = np.abs(b)
        if scale is not None:
            bound = np.fmax(bound, np.abs(scale))
        difference = np.where(known, np.abs(a - b), np.inf)
        error = np.where(
            same | (difference <= _flushed(ours.dtype)), 0.0, difference / np.where(bound > 0, bound, 1e-300)
        )
        error = np.where(known | same, error, np.inf)
    at = np.unravel_index(int(np.argmax(error)), error.shape)
    return Finding(float(error[at]), allowed, tuple(map(int, at)), ours[at], reference[at])


def _flushed(dtype: np.dtype[Any]) -> float:
    """Return the largest difference that a flush of subnormal numbers to 0 may cause: the smallest normal number; 0 for
    float16, in which a flush is an error, and for dtypes that are not floating.
    """
    if not _floats(dtype) or precision_of(dtype) == "float16":
        return 0.0
    return float(np.finfo(np.float64 if precision_of(dtype) == "float64" else np.float32).tiny)


def same(a: Any, b: Any) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Return the mask of equal elements; NaN equals NaN, and NaT equals NaT, also in records."""
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.names is None or a.dtype.names != b.dtype.names:
        if {a.dtype.kind, b.dtype.kind} <= {"m", "M"} or _floats(a.dtype) or _floats(b.dtype):
            return np.asarray((a == b) | ((a != a) & (b != b)))
        return np.asarray(a == b)
    found = np.ones(np.broadcast_shapes(a.shape, b.shape), np.bool_)
    for name in a.dtype.names:
        field = same(a[name], b[name])
        found &= field.all(axis=tuple(range(found.ndim, field.ndim)))
    return found


def _exact(ours: np.ndarray[Any, Any], reference: np.ndarray[Any, Any]) -> Finding:
    differs = ~same(ours, reference)
    if not differs.any():
        return Finding(0.0, 0.0, (), None, None)
    at = tuple(int(i[0]) for i in np.nonzero(differs)) if differs.ndim else ()
    return Finding(np.inf, 0.0, at, ours[at], reference[at])


# -- magnitudes and residuals -------------------------------------------------------------------------------------------


def wide(x: Any) -> Any:
    """Return the values as float64 or complex128."""
    x = np.asarray(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def adjoint(x: Any) -> Any:
    """Return the conjugate transpose of matrices."""
    return np.conj(np.swapaxes(x, -1, -2))


def largest(values: Any) -> float:
    """Return the largest finite magnitude of an element in numeric ndarrays among the values, also within sequences; 0 if there is none."""
    found = 0.0
    for x in leaves(values):
        if isinstance(x, np.ndarray) and x.size and x.dtype.kind in "fciu":
            magnitude = np.abs(wide(x))
            found = max(found, float(np.max(magnitude, initial=0.0, where=np.isfinite(magnitude))))
    return found


def residual(what: str, left: Any, right: Any, scale: float, dtype: np.dtype[Any]) -> Finding:
    """Return a finding with the largest distance of two values that should be equal, relative to a scale. ``what``: quantity
    that they are.
    """
    with np.errstate(all="ignore"):
        error = np.abs(np.asarray(left) - np.asarray(right))
        finite = np.isfinite(error)
        worst = float(error.max(initial=0.0)) / (scale or 1.0) if finite.all() else np.inf
    return Finding(worst, tolerance(dtype), (), None, None, f"{what} is off by {worst:.2g}")
