"""The dtypes of MLX and NumPy's."""

from __future__ import annotations

from typing import Any

import mlx.core as mx
import numpy as np

DTYPES: dict[np.dtype[Any], Any] = {
    np.dtype(name): getattr(mx, name)
    for name in "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64".split()
}
DTYPES[np.dtype(bool)] = mx.bool_
BACK = {theirs: ours for ours, theirs in DTYPES.items()}
