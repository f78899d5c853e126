"""The dtypes of the standard and NumPy's."""

from __future__ import annotations

from typing import Any

import array_api_strict as xp
import numpy as np

DTYPES: dict[np.dtype[Any], Any] = {
    np.dtype(name): getattr(xp, name)
    for name in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128".split()
}
BACK = {ours: theirs for theirs, ours in DTYPES.items()}
Array: type = type(xp.asarray(0))
