"""Kernels: MLX's functions for the dtypes in which they give NumPy's values. What it lacks is composed from these, or runs on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mlx.core as mx
import numpy as np

from arraydispatch.backends.base import Unsupported

from .dtypes import BACK

_KINDS = {
    "add multiply subtract": "iufc",
    "equal not_equal": "biufc",
    "greater greater_equal less less_equal maximum minimum absolute square negative": "iuf",
    "floor ceil trunc rint isfinite isinf isnan sqrt divide reciprocal log log1p log2 log10 expm1 arctan2 power": "f",
    "tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh degrees radians": "f",
    "logical_and logical_or logical_xor logical_not": "b",
    "bitwise_and bitwise_or bitwise_xor": "biu",
    "exp logaddexp sin cos": "single",
}
"""Names of ufuncs, and the kinds of dtypes for which MLX computes them as NumPy does."""
_NAMED = {"absolute": "abs", "rint": "round", "trunc": "trunc"}


def _kernel(name: str, kinds: str) -> Callable[..., Any]:
    run = getattr(mx, _NAMED.get(name, name))

    def kernel(*operands: Any) -> Any:
        for dtype in (BACK[x.dtype] for x in operands):
            if kinds == "single" and dtype == np.float64:  # off by 1e-7
                raise Unsupported(f"MLX computes {name} of float64 in single precision")
            if dtype.kind not in ("f" if kinds == "single" else kinds):
                raise Unsupported(f"MLX has no {name} of {dtype}")
        return run(*operands)

    return kernel


UFUNCS: dict[Any, Callable[..., Any]] = {
    getattr(np, name): _kernel(name, kinds) for names, kinds in _KINDS.items() for name in names.split()
}


def _reduction(run: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(a: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
        return run(a, axes, keepdims).astype(a.dtype) if axes else a

    return reduce


REDUCE: dict[Any, Callable[..., Any]] = {
    np.add: _reduction(mx.sum), np.multiply: _reduction(mx.prod), np.maximum: _reduction(mx.max), np.minimum: _reduction(mx.min),
    np.logical_and: _reduction(mx.all), np.logical_or: _reduction(mx.any),
}  # fmt: skip
ACCUMULATE: dict[Any, Callable[..., Any]] = {np.add: lambda a, axis: mx.cumsum(a, axis).astype(a.dtype)}
