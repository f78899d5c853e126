"""NumPy functions that the NumPy backend runs itself, because a composition would differ in the last place.

The list was determined by measurement (``tests/functions/accuracy.json``). Results of these functions depend on the order in
which NumPy or its compiled parts add and multiply, or, for ``np.clip``, on the order of two zeros.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...common.pytrees import first, mapped
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
        parameters = inspect.signature(func).parameters.values()
    except ValueError:  # C functions without a text signature; `np.dot` has `out` last
        return 99
    return next((i for i, p in enumerate(parameters) if p.name == "out" and p.kind is p.POSITIONAL_OR_KEYWORD), 99)


def _is_foreign(x: Any) -> bool:
    """Whether an array has a dtype from another package: bfloat16."""
    return isinstance(x, np.ndarray) and x.dtype.isbuiltin == 2


def _array(result: Any) -> Any:
    """Convert a NumPy scalar to the 0-d array that bodies return."""
    if isinstance(result, np.inexact):
        return np.asarray(result)
    return mapped(_array, result) if type(result) is tuple else result


OVERRIDES: dict[Any, Callable[..., Any]] = {
    func: _numpys_own(func)
    for func in (
        np.average, np.clip, np.convolve, np.corrcoef, np.correlate, np.cov, np.dot, np.einsum, np.gradient, np.inner, np.mean,
        np.nanmean, np.nanpercentile, np.nanquantile, np.nanstd, np.nansum, np.nanvar, np.polydiv, np.polyfit, np.std,
        np.sum, np.tensordot, np.vdot, np.var,
        np.fft.fft, np.fft.fft2, np.fft.fftn, np.fft.hfft, np.fft.ifft, np.fft.ifft2, np.fft.ifftn, np.fft.ihfft,
        np.fft.irfft, np.fft.irfft2, np.fft.irfftn, np.fft.rfft, np.fft.rfft2, np.fft.rfftn,
        np.linalg.cond, np.linalg.lstsq, np.linalg.matrix_norm, np.linalg.matrix_power, np.linalg.multi_dot,
        np.linalg.norm, np.linalg.qr, np.linalg.tensordot, np.linalg.vector_norm,
    )
}  # fmt: skip
