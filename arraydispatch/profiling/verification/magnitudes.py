"""Common parts of the checks of results: wide values, magnitudes, residuals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...common.pytrees import leaves
from .comparison import Finding, tolerance


def wide(x: Any) -> Any:
    """Return the values as float64 or complex128."""
    x = np.asarray(x)
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def adjoint(x: Any) -> Any:
    """Return the conjugate transpose of matrices."""
    return np.conj(np.swapaxes(x, -1, -2))


def largest(values: Any) -> float:
    """Return the largest finite magnitude among floating values, also within sequences; 0 if there is none."""
    found = 0.0
    for x in leaves(values):
        if isinstance(x, np.ndarray) and x.size and x.dtype.kind in "fciu":
            magnitude = np.abs(wide(x))
            found = max(found, float(np.max(magnitude, initial=0.0, where=np.isfinite(magnitude))))
    return found


def residual(what: str, left: Any, right: Any, scale: float, dtype: np.dtype[Any]) -> Finding:
    """Return the distance of two values that should be equal, relative to a scale."""
    with np.errstate(all="ignore"):
        error = np.abs(np.asarray(left) - np.asarray(right))
        finite = np.isfinite(error)
        worst = float(error.max(initial=0.0)) / (scale or 1.0) if finite.all() else np.inf
    return Finding(worst, tolerance(dtype), (), None, None, f"{what} is off by {worst:.2g}")
