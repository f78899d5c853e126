"""The standard's Fourier transforms: NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..backends.base import Backend
from . import creation, elementwise


def _axes(s: Any, axes: Any) -> Any:
    """Return the axes, or the last axes if lengths but no axes are given."""
    return range(-len(s), 0) if s is not None and axes is None else axes


def fftfreq(backend: Backend, n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """Return the frequencies of :func:`numpy.fft.fft`."""
    return creation.asarray(backend, np.fft.fftfreq(n, d), dtype=_real(dtype), device=device)


def rfftfreq(backend: Backend, n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """Return the frequencies of :func:`numpy.fft.rfft`."""
    return creation.asarray(backend, np.fft.rfftfreq(n, d), dtype=_real(dtype), device=device)


def _real(dtype: Any) -> Any:
    if dtype is not None and np.dtype(dtype).kind != "f":
        raise ValueError(f"`dtype` must be a real floating-point type, not {np.dtype(dtype)}")
    return dtype


_ROWS: dict[str, Callable[..., Any]] = {
    "fft": lambda x, /, *, n=None, axis=-1, norm="backward": np.fft.fft(x, n, axis, norm),
    "ifft": lambda x, /, *, n=None, axis=-1, norm="backward": np.fft.ifft(x, n, axis, norm),
    "fftn": lambda x, /, *, s=None, axes=None, norm="backward": np.fft.fftn(x, s, _axes(s, axes), norm),
    "ifftn": lambda x, /, *, s=None, axes=None, norm="backward": np.fft.ifftn(x, s, _axes(s, axes), norm),
    "rfft": lambda x, /, *, n=None, axis=-1, norm="backward": np.fft.rfft(x, n, axis, norm),
    "irfft": lambda x, /, *, n=None, axis=-1, norm="backward": np.fft.irfft(x, n, axis, norm),
    "rfftn": lambda x, /, *, s=None, axes=None, norm="backward": np.fft.rfftn(x, s, _axes(s, axes), norm),
    "irfftn": lambda x, /, *, s=None, axes=None, norm="backward": np.fft.irfftn(x, s, _axes(s, axes), norm),
    "hfft": lambda x, /, *, n=None, axis=-1, norm="backward": np.fft.hfft(x, n, axis, norm),
    "ihfft": lambda x, /, *, n=None, axis=-1, norm="backward": np.fft.ihfft(x, n, axis, norm),
    "fftshift": lambda x, /, *, axes=None: np.fft.fftshift(x, axes),
    "ifftshift": lambda x, /, *, axes=None: np.fft.ifftshift(x, axes),
}
"""Name in the standard -> its signature, and NumPy's function."""

FUNCTIONS = [elementwise.named(function, name, f"As :func:`numpy.fft.{name}`.") for name, function in _ROWS.items()]
CREATION = (fftfreq, rfftfreq)
