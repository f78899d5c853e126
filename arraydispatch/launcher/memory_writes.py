"""Access to an array's memory for code that writes it outside NumPy's calls: compiled functions, C code by ctypes.

Such code gets an ndarray that shares the array's memory. If the host cannot write the library's memory, the array moves to the
host and stays there, as when a user's subclass of ndarray views it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array.exports import shares_with_host
from ..common import buffers, events
from ..memory import reshaping, views


def shared(a: Any, who: str = "a compiled function") -> np.ndarray[Any, Any]:
    """Return an ndarray on the memory of an array, writable if the array is."""
    native = views.native(a)  # raises for a view of a traced root, and for an array from outside the trace
    if a._kind.backend.is_concrete(native) and not shares_with_host(a):
        events.left(who, "it shares the memory of its arguments")
        reshaping.settle(a, "its memory is shared on the host")
    found: np.ndarray[Any, Any] = a._host(events.AT_A_DOOR)
    if not a._writeable():
        if buffers.is_writeable(found):
            found = found.view()
            found.flags.writeable = False
        return found
    # NumPy sets the `writeable` flag only of views whose memory comes from an object with the buffer protocol.
    return found if found.flags.owndata else np.asarray(found.data)
