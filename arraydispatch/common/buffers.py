"""Conversion of objects that NumPy accepts as arrays: those with the buffer protocol, and ranges.

``array.array``, ``memoryview``, ``bytearray``, ``mmap`` and the like have Python's buffer protocol, and NumPy treats
them as arrays of their contents. Whether a type has the protocol is tried once and remembered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_shows: dict[type, bool] = {range: False, np.ndarray: False}


WRITEABLE = 0x400
"""``NPY_ARRAY_WRITEABLE``, a bit of ``ndarray.flags.num``."""


def is_writeable(x: np.ndarray[Any, Any]) -> bool:
    """Whether an ndarray may be written. This does not read ``flags.writeable``, at which NumPy warns for a result of
    ``np.broadcast_arrays``.
    """
    return bool(x.flags.num & WRITEABLE)


def axes_by_stride(strides: Sequence[int]) -> tuple[int, ...]:
    """Return the axes from the slowest to the fastest: by falling stride."""
    return tuple(sorted(range(len(strides)), key=strides.__getitem__, reverse=True))


def seen(x: Any) -> Any:
    """Return an ndarray on the memory that an object exposes; the list of a range's numbers; any other object itself."""
    kind = type(x)
    if kind is range:
        return list(x)
    found = _shows.get(kind)
    if found is None:
        # Objects with a ufunc protocol are arrays already, `Array` among them.
        if issubclass(kind, (np.ndarray, np.generic, str, bytes)) or hasattr(kind, "__array_ufunc__"):
            return x
        try:
            memoryview(x).release()
        except BufferError:
            return x
        except TypeError:
            found = False
        else:
            found = True
        _shows[kind] = found
    return np.asarray(x) if found else x
