"""NumPy's creation functions of ``numpy.fft``, a module that NumPy loads lazily; ``creation`` refers to them by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import fastpath
from .creation import arange


@fastpath.at_once(np.fft.fftfreq)
def fftfreq(n: Any, d: Any = 1.0, device: Any = None) -> Any:
    """Implement :func:`numpy.fft.fftfreq` on the default backend."""
    if not isinstance(n, int | np.integer):
        raise ValueError("n should be an integer")
    upper = arange(0, (int(n) - 1) // 2 + 1)
    return np.concatenate([upper, arange(-(int(n) // 2), 0)]) * (1.0 / (n * d))


@fastpath.at_once(np.fft.rfftfreq)
def rfftfreq(n: Any, d: Any = 1.0, device: Any = None) -> Any:
    """Implement :func:`numpy.fft.rfftfreq` on the default backend."""
    if not isinstance(n, int | np.integer):
        raise ValueError("n should be an integer")
    return arange(0, int(n) // 2 + 1) * (1.0 / (n * d))
