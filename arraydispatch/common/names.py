"""What a function is called in messages and reports: the name under which users import it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

FULL: dict[Any, str] = {}
"""Function -> its name, for those whose ``__module__`` is a private one; entered by whoever dispatches them."""

_UFUNCS_OF = ("numpy", "numpy.strings", "scipy.special")


def name_of(func: Any) -> str:
    """``np.mean``, ``np.linalg.inv``, ``np.add``, ``scipy.special.erf``, ``__getitem__``."""
    if isinstance(func, str):
        return func
    if func in FULL:
        return FULL[func]
    name = getattr(func, "__name__", None) or repr(func)
    if isinstance(func, np.ufunc):
        for place in _UFUNCS_OF:
            if getattr(sys.modules.get(place), name, None) is func:
                return f"{_short(place)}.{name}"
        return str(name)
    module = getattr(func, "__module__", None)
    return f"{_short(module)}.{name}" if module else str(name)


def _short(module: str) -> str:
    return f"np{module[5:]}" if module == "numpy" or module.startswith("numpy.") else module
