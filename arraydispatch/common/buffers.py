"""What NumPy takes for an array though it is none: an object that shows its memory, and a range.

``array.array``, ``memoryview``, ``bytearray``, ``mmap`` and the like have Python's buffer protocol: to NumPy they are arrays
of what they hold. Looking for it takes a try, which is made once for each type.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["seen"]

_shows: dict[type, bool] = {range: False, np.ndarray: False}


def seen(x: Any) -> Any:
    """A value as NumPy sees it: an ndarray on the memory that it shows, the numbers of a range; else the value itself."""
    kind = type(x)
    if kind is range:
        return list(x)
    found = _shows.get(kind)
    if found is None:
        # What has a ufunc's protocol is an array, ours too.
        if isinstance(x, np.ndarray | np.generic | str | bytes) or hasattr(kind, "__array_ufunc__"):
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
