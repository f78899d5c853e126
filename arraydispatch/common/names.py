"""Names of functions in messages and reports: the public names that users import."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

FULL: dict[Any, str] = {}
"""Function -> public name, for functions whose ``__module__`` is private; filled by the code that dispatches them."""

_UFUNCS_OF = {"numpy": "numpy", "numpy.strings": "numpy.strings", "scipy.special._ufuncs": "scipy.special"}
"""Module that holds ufuncs, which the launcher does not replace -> the public module where users find them."""


def name_of(func: Any) -> str:
    """Return the name of a function in messages and reports: ``np.mean``, ``np.linalg.inv``, ``scipy.special.erf``, ``__getitem__``."""
    if isinstance(func, str):
        return func
    if func in FULL:
        return FULL[func]
    name = getattr(func, "__name__", None) or repr(func)
    if isinstance(func, np.ufunc):
        for place, public in _UFUNCS_OF.items():
            if getattr(sys.modules.get(place), name, None) is func:
                return f"{_short(public)}.{name}"
        return str(name)
    module = getattr(func, "__module__", None)
    return f"{_short(module)}.{name}" if module else str(name)


def _short(module: str) -> str:
    return f"np{module[5:]}" if module == "numpy" or module.startswith("numpy.") else module
