"""Every row of every backend's ufunc tables against NumPy: each loop of the ufunc, at the values where libraries differ.

Subnormal results count as zeros: XLA (JAX, and TensorFlow's compiled kernels) flushes them on the CPU.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from arraydispatch.backends.base import Unsupported

from .support import BOOL, COMPLEX, FLOATS, INTEGERS, NAMES, call, check, need, nonfinite_complex, special_values, to_host

DTYPES = BOOL + INTEGERS + FLOATS + COMPLEX

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's own, at the values tested


def rows(table: str) -> list[Any]:
    from .support import load

    return [
        pytest.param(name, ufunc, id=f"{name}-{ufunc.__name__}")
        for name in NAMES
        if (backend := load(name)) is not None
        for ufunc in sorted(getattr(backend, table), key=lambda u: u.__name__)
    ]


def loops(backend: Any, ufunc: np.ufunc) -> list[str]:
    """The loops of a ufunc over dtypes the backend has, one for each list of input dtypes."""
    found = {}
    for loop in ufunc.types:
        inputs = loop.split("->")[0]
        if set(inputs) <= set(DTYPES) and all(backend.holds(np.dtype(c)) for c in inputs):
            found.setdefault(inputs, inputs)
    return list(found)
