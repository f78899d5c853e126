"""The standard's Fourier transforms: NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backends.base import Backend
from . import creation


def _axes(s: Any, axes: Any) -> Any:
    """Default to the last axes if lengths but no axes are given."""
    return range(-len(s), 0) if s is not None and axes is None else axes


def fft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Any:
    """Compute the discrete Fourier transform."""
    return np.fft.fft(x, n, axis, norm)


def ifft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Any:
    """Compute the inverse of :func:`fft`."""
    return np.fft.ifft(x, n, axis, norm)


def fftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: Any = "backward") -> Any:
    """Compute the discrete Fourier transform over several axes."""
    return np.fft.fftn(x, s, _axes(s, axes), norm)


def ifftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: Any = "backward") -> Any:
    """Compute the inverse of :func:`fftn`."""
    return np.fft.ifftn(x, s, _axes(s, axes), norm)


def rfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Any:
    """Compute the transform of real values: its half that is not redundant."""
    return np.fft.rfft(x, n, axis, norm)


def irfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Any:
    """Compute the inverse of :func:`rfft`."""
    return np.fft.irfft(x, n, axis, norm)


def rfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: Any = "backward") -> Any:
    """Compute the transform of real values over several axes."""
    return np.fft.rfftn(x, s, _axes(s, axes), norm)


def irfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: Any = "backward") -> Any:
    """Compute the inverse of :func:`rfftn`."""
    return np.fft.irfftn(x, s, _axes(s, axes), norm)


def hfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Any:
    """Compute the transform of a signal with Hermitian symmetry, which is real."""
    return np.fft.hfft(x, n, axis, norm)


def ihfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: Any = "backward") -> Any:
    """Compute the inverse of :func:`hfft`."""
    return np.fft.ihfft(x, n, axis, norm)


def fftshift(x: Any, /, *, axes: Any = None) -> Any:
    """Move the zero frequency to the middle."""
    return np.fft.fftshift(x, axes)


def ifftshift(x: Any, /, *, axes: Any = None) -> Any:
    """Compute the inverse of :func:`fftshift`."""
    return np.fft.ifftshift(x, axes)


def fftfreq(backend: Backend, n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """Return the frequencies of :func:`fft`."""
    return creation.asarray(backend, np.fft.fftfreq(n, d), dtype=_real(dtype), device=device)


def rfftfreq(backend: Backend, n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """Return the frequencies of :func:`rfft`."""
    return creation.asarray(backend, np.fft.rfftfreq(n, d), dtype=_real(dtype), device=device)


def _real(dtype: Any) -> Any:
    if dtype is not None and np.dtype(dtype).kind != "f":
        raise ValueError(f"`dtype` must be a real floating-point type, not {np.dtype(dtype)}")
    return dtype


FUNCTIONS = (fft, ifft, fftn, ifftn, rfft, irfft, rfftn, irfftn, hfft, ihfft, fftshift, ifftshift)
CREATION = (fftfreq, rfftfreq)
