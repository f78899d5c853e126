"""``np.strings`` and ``np.char``: NumPy runs them on the host, because no library has arrays of strings."""

from __future__ import annotations

import numpy as np
import numpy.char

from .registry import dispatched, on_host

on_host("arrays of strings exist only on the host", *dispatched(np.strings, np.char))
