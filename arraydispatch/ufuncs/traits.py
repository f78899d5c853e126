"""Facts about single ufuncs that hold on every backend: which compare, divide, may be regrouped, report errors."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = [
    "ASSOCIATIVE", "COMPARISONS", "INTEGER_DIVISIONS", "LOGICAL", "OF_NDARRAYS", "OPERATORS", "REFLECTED", "REORDERABLE", "REPORTED",
    "REPORTED_BY_METHODS",
]  # fmt: skip

COMPARISONS = frozenset({np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal})

INTEGER_DIVISIONS = frozenset({np.floor_divide, np.remainder, np.divmod, np.fmod, np.reciprocal})
"""Ufuncs whose integer loops report a zero divisor in NumPy."""

REPORTED = INTEGER_DIVISIONS | {
    np.divide, np.power, np.float_power, np.sqrt, np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p,
    np.logaddexp, np.logaddexp2, np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.sinh, np.cosh, np.arccosh, np.arctanh,
    np.ldexp, np.hypot,
}  # fmt: skip
"""Ufuncs that an ordinary argument can make report a floating-point error, and that take longer than a check of the result."""

REPORTED_BY_METHODS = REPORTED | frozenset({np.add, np.multiply, np.subtract})
"""Ufuncs whose methods, except ``outer``, report floating-point errors."""

ASSOCIATIVE = frozenset({
    np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin, np.logical_and, np.logical_or, np.logical_xor,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.gcd, np.lcm, np.logaddexp, np.logaddexp2, np.hypot,
})  # fmt: skip
REORDERABLE = ASSOCIATIVE - {np.lcm}  # NumPy's own list, for reductions over several axes
LOGICAL = frozenset({np.logical_and, np.logical_or, np.logical_xor})

OPERATORS: dict[np.ufunc, Callable[[Any, Any], Any]] = {
    np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.matmul: operator.matmul,
    np.divide: operator.truediv, np.floor_divide: operator.floordiv, np.remainder: operator.mod, np.divmod: divmod,
    np.power: operator.pow, np.left_shift: operator.lshift, np.right_shift: operator.rshift,
    np.bitwise_and: operator.and_, np.bitwise_or: operator.or_, np.bitwise_xor: operator.xor,
    np.equal: operator.eq, np.not_equal: operator.ne, np.less: operator.lt, np.less_equal: operator.le,
    np.greater: operator.gt, np.greater_equal: operator.ge,
}  # fmt: skip
"""Ufunc -> the Python operator that calls it."""

REFLECTED = {
    **{ufunc: f"__r{op.__name__.strip('_')}__" for ufunc, op in OPERATORS.items()},
    np.equal: "__eq__", np.not_equal: "__ne__",
    np.less: "__gt__", np.less_equal: "__ge__", np.greater: "__lt__", np.greater_equal: "__le__",
}  # fmt: skip
"""Ufunc -> the method by which that operator calls the second operand."""

OF_NDARRAYS = COMPARISONS | {np.add, np.subtract}
"""Operators that SciPy's sparse matrices support with ndarrays only; for others they call ``np.asarray``."""
