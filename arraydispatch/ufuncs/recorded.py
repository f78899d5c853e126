"""Facts about ufuncs, beyond their dtypes, that fused execution needs."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["CLIP", "HEAVY", "LAST_DIFFER", "QUIET", "SUMS", "UNSIGNED", "VALUES_DECIDE"]

VALUES_DECIDE = frozenset({np.power, np.ldexp})
"""Ufuncs that may refuse an integer operand for its value, or take it in a dtype of its own."""
HEAVY = frozenset({
    np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.logaddexp, np.logaddexp2, np.sin, np.cos, np.tan,
    np.arcsin, np.arccos, np.arctan, np.arctan2, np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh, np.power,
    np.float_power, np.cbrt, np.hypot, np.floor_divide, np.remainder, np.fmod,
})  # fmt: skip
"""Ufuncs that take several times as long as an addition."""
QUIET = frozenset({
    np.negative, np.positive, np.fabs, np.conjugate, np.sign, np.isfinite, np.isnan, np.isinf, np.signbit,
    np.copysign, np.logical_and, np.logical_or, np.logical_xor, np.logical_not, np.floor, np.ceil, np.trunc, np.rint,
})  # fmt: skip
"""Ufuncs none of whose ordinary loops reports a floating-point error."""
SUMS = frozenset({np.add, np.subtract, np.equal, np.not_equal})
"""Ufuncs whose complex loops only add or compare parts."""
CLIP: Any = np._core.umath.clip  # type: ignore[attr-defined]
"""The ufunc that ``np.clip`` calls."""
LAST_DIFFER = frozenset({np.maximum, np.minimum, np.fmax, np.fmin, CLIP})
"""Ufuncs whose vector code may choose a different one of two zeros than the scalar code for the last elements."""
UNSIGNED = frozenset({np.absolute, np.fabs, np.square, np.exp, np.exp2, np.hypot, np.cosh})
"""Ufuncs that never return a negative zero."""
