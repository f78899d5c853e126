"""What writes to the memory of the user's arrays though no call of NumPy's says so: compiled functions, C code by ctypes.

It is handed an ndarray that shares an array's memory. Where the host cannot write what the library holds, NumPy holds the
array from then on, as it does for windows that a user's subclass of ndarray has on it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array.exports import shares_with_host
from ..common import events
from ..memory import reshaping, views
from .adoption import left

__all__ = ["shared"]


def shared(a: Any, who: str = "a compiled function") -> np.ndarray[Any, Any]:
    """An ndarray on the memory of an array; it can be written where the array can."""
    native = views.native(a)  # of a view whose root is traced, or of an array outside a trace, it says what is wrong
    if a._kind.backend.is_concrete(native) and not shares_with_host(a):
        left(who, "it shares the memory of its arguments")
        reshaping.settle(a, "its memory is shared on the host")
    found: np.ndarray[Any, Any] = a._host(events.AT_A_DOOR)
    if not a._writeable():
        if found.flags.writeable:
            found = found.view()
            found.flags.writeable = False
        return found
    # NumPy lets nobody set the `writeable` flag of views of memory that Python's buffer protocol does not know.
    return found if found.flags.owndata else np.asarray(found.data)
