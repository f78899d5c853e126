"""What NumPy takes for ``order=``, ``casting=``, ``subok=`` and ``keepdims=``; anything else is NumPy's own error.

NumPy looks at none of them where it hands a call over to us, and Python's ``bool`` takes whatever it is given. So where one
is given NumPy is asked about it, of no elements; a call without keywords comes by none of this.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["ASKED", "casting_of", "check_call", "flag", "new_order", "order_of"]

_NOTHING = np.empty(0)
_ORDERS = frozenset("CFAK")
_CASTINGS = frozenset({"no", "equiv", "safe", "same_kind", "unsafe"})
_OF_ELEMENTS = ("order", "casting", "subok")

ASKED = frozenset({*_OF_ELEMENTS, "keepdims"})
"""The keywords of a ufunc and its methods that :func:`check_call` looks at."""


def flag(x: Any) -> bool:
    """A ``keepdims=`` or ``subok=`` as C functions take it: a whole number."""
    if type(x) is not bool:
        np.add.reduce(_NOTHING, keepdims=x)
    return bool(x)


def order_of(order: Any) -> str:
    """An ``order=`` as one of ``"C" "F" "A" "K"``."""
    if type(order) is str and order in _ORDERS:
        return order
    _NOTHING.copy(order)
    return "K" if order is None else str(order, "ascii").upper() if isinstance(order, bytes) else str(order).upper()


def new_order(order: Any) -> str:
    """The ``order=`` of an array that is made of nothing: ``"C"`` or ``"F"``."""
    return "F" if np.empty((2, 2), bool, order).flags.fnc else "C"


def casting_of(casting: Any) -> str:
    """A ``casting=``."""
    if type(casting) is not str or casting not in _CASTINGS:
        np.can_cast(_NOTHING.dtype, _NOTHING.dtype, casting)
    return casting


def check_call(method: str, keywords: dict[str, Any]) -> None:
    """Refuse what NumPy refuses of the keywords of a ufunc, or of a method of one."""
    if method in ("__call__", "outer"):
        asked = {name: keywords[name] for name in _OF_ELEMENTS if name in keywords}
        if asked:
            np.positive(_NOTHING, **asked)
        if "keepdims" in keywords:
            product: Any = np.vecdot
            product(_NOTHING, _NOTHING, keepdims=keywords["keepdims"])
    elif "keepdims" in keywords:
        flag(keywords["keepdims"])
