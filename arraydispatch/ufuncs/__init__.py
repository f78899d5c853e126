"""NumPy's ufuncs on native arrays.

``plans``     one plan for each (ufunc, operand kinds, precision): casts, kernel, result kinds, computed by NumPy's rules;
``ufunc_methods``  reduce, accumulate, reduceat and outer, written once;
``composed``  bodies of the ufuncs that a library lacks, over the ones it has.
"""

from __future__ import annotations

from .plans import Plan, describe, describe_method, plan_for
from .ufunc_methods import Bound

__all__ = ["Bound", "Plan", "describe", "describe_method", "plan_for"]
