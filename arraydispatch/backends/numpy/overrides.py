"""NumPy functions that the NumPy backend runs itself, because a composition would differ in the last place.

The list was determined by measurement (``tests/functions/accuracy.json``). Results of these functions depend on the order in
which NumPy or its compiled parts add and multiply, or, for ``np.clip``, on the order of two zeros.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...common.pytrees import first, mapped
from ...common.signatures import parameters_of
from ..base import Unsupported

__warningregistry__ = None  # NumPy warns here, on behalf of a user's line: see arraydispatch.launcher.numpy_warnings


def _numpys_own(func: Any) -> Callable[..., Any]:
    at = _position_of_out(func)

    def run(xp: Any, *args: Any, **kwargs: Any) -> Any:
        if len(args) > at:  # bodies have no `out`
            args = (*args[:at], None, *args[at:])
        if first(_is_foreign, (*args, *kwargs.values())) is not None:
            raise Unsupported("NumPy computes bfloat16 inaccurately, or not at all")
        return _array(func(*args, **kwargs))

    return run


def _position_of_out(func: Any) -> int:
    try:
        at = parameters_of(func).position_of("out")
    except ValueError:  # C functions without a text signature; `np.dot` has `out` last
        return 99
    return 99 if at is None else at


def _is_foreign(x: Any) -> bool:
    """Whether an array has a dtype from another package: bfloat16."""
    return isinstance(x, np.ndarray) and x.dtype.isbuiltin == 2


def _array(result: Any) -> Any:
    """Convert a floating or complex NumPy scalar, or those in a tuple, to 0-d arrays, which bodies return; return any other result
    itself.
    """
    if isinstance(result, np.inexact):
        return np.asarray(result)
    return mapped(_array, result) if type(result) is tuple else result


class _Overrides(dict[Any, Callable[..., Any]]):
    """Table to which the functions of ``numpy.fft`` are added when one is looked up: NumPy loads that module lazily."""

    def get(self, func: Any, default: Any = None) -> Any:
        """Return the override of a function, else ``default``."""
        if func not in self and getattr(func, "__module__", None) == "numpy.fft":
            self.update({each: _numpys_own(each) for each in (getattr(np.fft, name) for name in _FOURIER)})
        return super().get(func, default)


_FOURIER = "fft fft2 fftn hfft ifft ifft2 ifftn ihfft irfft irfft2 irfftn rfft rfft2 rfftn".split()

OVERRIDES: dict[Any, Callable[..., Any]] = _Overrides({
    func: _numpys_own(func)
    for func in (
        np.average, np.clip, np.convolve, np.corrcoef, np.correlate, np.cov, np.dot, np.einsum, np.gradient, np.inner, np.mean,
        np.nanmean, np.nanpercentile, np.nanquantile, np.nanstd, np.nansum, np.nanvar, np.polydiv, np.polyfit, np.std,
        np.sum, np.tensordot, np.vdot, np.var,
        np.linalg.cond, np.linalg.lstsq, np.linalg.matrix_norm, np.linalg.matrix_power, np.linalg.multi_dot,
        np.linalg.norm, np.linalg.qr, np.linalg.tensordot, np.linalg.vector_norm,
    )
})  # fmt: skip
