"""Kernels: the standard's functions. What it lacks is composed from these, or runs on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import array_api_strict as xp
import numpy as np

_SAME = (
    "abs add atan2 ceil copysign divide equal exp expm1 floor greater greater_equal hypot less less_equal log log10 log1p log2"
    " logical_and logical_not logical_or logical_xor maximum minimum multiply negative nextafter not_equal positive sign signbit"
    " sqrt square subtract trunc reciprocal isfinite isinf isnan sin cos tan sinh cosh tanh conj"
).split()
_NAMED = {
    "absolute": "abs", "arctan2": "atan2", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh", "arccosh": "acosh",
    "arctanh": "atanh", "bitwise_and": "bitwise_and", "bitwise_or": "bitwise_or", "bitwise_xor": "bitwise_xor", "invert": "bitwise_invert",
    "rint": "round",
}  # fmt: skip

_ONLY: dict[str, str] = {
    **dict.fromkeys("add subtract multiply".split(), "iufc"),
    **dict.fromkeys("logical_and logical_or logical_xor logical_not".split(), "b"),
    **dict.fromkeys("absolute negative positive square".split(), "ifc"),
    **dict.fromkeys("less less_equal greater greater_equal maximum minimum".split(), "iuf"),
    **dict.fromkeys("bitwise_and bitwise_or bitwise_xor invert".split(), "biu"),
    **dict.fromkeys("ceil floor trunc rint".split(), "f"),
}
"""The kinds of dtypes for which the standard has a function, of those that it has not for all that NumPy has."""


def _checked(name: str, run: Callable[..., Any]) -> Callable[..., Any]:
    from arraydispatch.backends.base import Unsupported

    from .dtypes import BACK

    def kernel(*operands: Any) -> Any:
        kinds = {BACK[x.dtype].kind for x in operands if hasattr(x, "dtype")}
        if not kinds <= set(_ONLY.get(name, "biufc")):
            raise Unsupported(f"the standard's {run.__name__} takes no such dtype")
        try:
            return run(*operands)
        except TypeError as error:
            raise Unsupported(str(error)) from None

    return kernel


UFUNCS: dict[Any, Callable[..., Any]] = {
    getattr(np, name): _checked(name, getattr(xp, _NAMED.get(name, name)))
    for name in (*_SAME, *_NAMED)
    if isinstance(getattr(np, name, None), np.ufunc)
    and hasattr(xp, _NAMED.get(name, name))
    and name not in ("sign", "abs")
}


def _reduction(run: Callable[..., Any], typed: bool) -> Callable[..., Any]:
    def reduce(a: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
        return run(a, axis=axes, keepdims=keepdims, **({"dtype": a.dtype} if typed else {}))

    return reduce


REDUCE: dict[Any, Callable[..., Any]] = {
    np.add: _reduction(xp.sum, True), np.multiply: _reduction(xp.prod, True), np.maximum: _reduction(xp.max, False),
    np.minimum: _reduction(xp.min, False), np.logical_and: _reduction(xp.all, False), np.logical_or: _reduction(xp.any, False),
}  # fmt: skip
ACCUMULATE: dict[Any, Callable[..., Any]] = {np.add: lambda a, axis: xp.cumulative_sum(a, axis=axis, dtype=a.dtype)}
