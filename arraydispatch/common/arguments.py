"""Checks of the keywords ``order=``, ``casting=``, ``subok=`` and ``keepdims=``, with NumPy's own errors; requirements of ``np.require``.

NumPy checks none of these keywords when it hands a call over through a protocol, and Python's ``bool`` accepts any object. A
given keyword is therefore checked by a NumPy call on empty arrays; a call without keywords skips these checks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_NOTHING = np.empty(0)
_ORDERS = frozenset("CFAK")
_CASTINGS = frozenset({"no", "equiv", "safe", "same_kind", "unsafe"})
_OF_ELEMENTS = ("order", "casting", "subok")
_REQUIREMENTS = {
    **dict.fromkeys(("C", "C_CONTIGUOUS", "CONTIGUOUS"), "C"),
    **dict.fromkeys(("F", "F_CONTIGUOUS", "FORTRAN"), "F"),
    **dict.fromkeys(("A", "ALIGNED"), "A"),
    **dict.fromkeys(("W", "WRITEABLE"), "W"),
    **dict.fromkeys(("O", "OWNDATA"), "O"),
    **dict.fromkeys(("E", "ENSUREARRAY"), "E"),
}
"""Name of a requirement of ``np.require`` -> its letter."""

SCALARS = frozenset({
    int, float, complex, bool, np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
    np.float16, np.float32, np.float64, np.complex64, np.complex128,
})  # fmt: skip
"""Types of numbers that are used as operands without conversion."""

SEQUENCES = frozenset({list, tuple})
"""Types of the sequences that NumPy converts to an array."""

HELD = frozenset("?bhilqBHILQefdFD")
"""Codes of the dtypes that all libraries have and NumPy computes with."""

PLAIN = frozenset({
    int, float, complex, bool, str, bytes, type(None), type, np.dtype, slice, type(Ellipsis), np.bool_, np.float64, np.float32,
    np.int64, np.int32, type(np._NoValue), *(type(np.dtype(char)) for char in "?bhilqBHILQefdgFDG"),
})  # fmt: skip
"""Types of arguments that are no arrays and contain none."""

ASKED = frozenset({*_OF_ELEMENTS, "keepdims"})
"""The keywords of a ufunc and its methods that :func:`check_call` checks."""


def with_scalar(operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the operands; a first one that is a 0-d ndarray is replaced by its NumPy scalar if the scalar's type is in :data:`SCALARS`.
    (In ``np.float64(1) < x``, NumPy passes the scalar on as such an ndarray.)
    """
    first = operands[0]
    if type(first) is np.ndarray and not first.ndim and type(number := first[()]) in SCALARS:
        return (number, *operands[1:])
    return operands


def flag(x: Any) -> bool:
    """Convert ``keepdims=`` or ``subok=`` to a bool; raise NumPy's error if its C functions, which read an integer, would refuse the
    object.
    """
    if type(x) is not bool:
        np.add.reduce(_NOTHING, keepdims=x)
    return bool(x)


def order_of(order: Any) -> str:
    """Normalize an ``order=`` to one of ``"C" "F" "A" "K"`` (None becomes ``"K"``); raise NumPy's error for any other value."""
    if type(order) is str and order in _ORDERS:
        return order
    _NOTHING.copy(order)
    return "K" if order is None else str(order, "ascii").upper() if isinstance(order, bytes) else str(order).upper()


def new_order(order: Any) -> str:
    """Normalize the ``order=`` of a newly created array to ``"C"`` or ``"F"``."""
    return "F" if np.empty((2, 2), bool, order).flags.fnc else "C"


def casting_of(casting: Any) -> str:
    """Return a ``casting=`` unchanged; raise NumPy's error if it is invalid."""
    if type(casting) is not str or casting not in _CASTINGS:
        np.can_cast(_NOTHING.dtype, _NOTHING.dtype, casting)
    return casting


def check_call(method: str, keywords: dict[str, Any]) -> None:
    """Raise NumPy's error for an invalid keyword of a ufunc or of a ufunc's method."""
    if method in ("__call__", "outer"):
        asked = {name: keywords[name] for name in _OF_ELEMENTS if name in keywords}
        if asked:
            np.positive(_NOTHING, **asked)
        if "keepdims" in keywords:
            product: Any = np.vecdot
            product(_NOTHING, _NOTHING, keepdims=keywords["keepdims"])
    elif "keepdims" in keywords:
        flag(keywords["keepdims"])


def meeting(array: Callable[..., Any], a: Any, dtype: Any, requirements: Any) -> Any:
    """Return the array that ``array`` makes of ``a`` (which may be ``a`` itself), or a copy of that array if it does not meet the
    requirements.

    Raises
    ------
    KeyError, ValueError
        For names that NumPy does not know, and for both memory orders.
    """
    wanted = {_REQUIREMENTS[name.upper()] for name in requirements or ()}
    order = "F" if "F" in wanted else "C" if "C" in wanted else "A"
    if {"C", "F"} <= wanted:
        raise ValueError('Cannot specify both "C" and "F" order')
    made = array(a, dtype=dtype, copy=None, order=order if wanted else "K", subok="E" not in wanted)
    return made if all(made.flags[flag] for flag in wanted - {"C", "F", "E"}) else made.copy(order)
