"""Memory requirements of ``np.require``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_FLAGS = {
    **dict.fromkeys(("C", "C_CONTIGUOUS", "CONTIGUOUS"), "C"),
    **dict.fromkeys(("F", "F_CONTIGUOUS", "FORTRAN"), "F"),
    **dict.fromkeys(("A", "ALIGNED"), "A"),
    **dict.fromkeys(("W", "WRITEABLE"), "W"),
    **dict.fromkeys(("O", "OWNDATA"), "O"),
    **dict.fromkeys(("E", "ENSUREARRAY"), "E"),
}


def meeting(array: Callable[..., Any], a: Any, dtype: Any, requirements: Any) -> Any:
    """Return ``a`` itself if it meets the requirements, otherwise the array that ``array`` makes of it.

    Raises
    ------
    KeyError, ValueError
        For names that NumPy does not know, and for both memory orders.
    """
    wanted = {_FLAGS[name.upper()] for name in requirements or ()}
    order = "F" if "F" in wanted else "C" if "C" in wanted else "A"
    if {"C", "F"} <= wanted:
        raise ValueError('Cannot specify both "C" and "F" order')
    made = array(a, dtype=dtype, copy=None, order=order if wanted else "K", subok="E" not in wanted)
    return made if all(made.flags[flag] for flag in wanted - {"C", "F", "E"}) else made.copy(order)
