"""Comparisons with a Python scalar on either side, of uint64, and of bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .dtype_tables import concrete, ordered

Kernel = Callable[..., Any]


def order_of_uint64(plain: Kernel, a: Any, b: Any) -> Tensor:
    """Compare uint64 by shifted values; torch does not order uint64."""
    device = (a if isinstance(a, Tensor) else b).device
    return plain(*(ordered(torch.as_tensor(x, dtype=torch.uint64, device=device)) for x in (a, b)))


def into(out: Tensor | None, result: Tensor) -> Tensor:
    return result if out is None else out.copy_(result)


def comparison(plain: Kernel, mirrored: Kernel) -> Kernel:
    """Make an ordering kernel that also accepts a Python scalar on either side (torch accepts one on the right only)."""

    def kernel(a: Any, b: Any, out: Tensor | None = None) -> Tensor:
        if not isinstance(a, Tensor):
            if b.dtype is torch.uint64:
                return into(out, order_of_uint64(plain, a, b))
            return mirrored(b, a, out=out)
        if a.dtype is torch.uint64:
            return into(out, order_of_uint64(plain, a, b))
        return plain(a, b, out=out)

    return kernel


def comparison_of_bytes(plain: Kernel, mirrored: Kernel) -> Kernel:
    """Make a comparison of booleans and of integers of one byte.

    On a CPU torch compares bytes with a number one at a time, but with an array of bytes 32 at a time. So the number is made an array,
    which is four times as fast, including the time to make the array, and ten times if one row serves for all rows.
    """

    def kernel(a: Any, b: Any, out: Tensor | None = None) -> Tensor:
        if not isinstance(a, Tensor) or (not a.ndim and isinstance(b, Tensor) and b.ndim):
            return _against_bytes(mirrored, b, a, out)
        return _against_bytes(plain, a, b, out)

    return kernel


def _against_bytes(plain: Kernel, a: Tensor, b: Any, out: Tensor | None) -> Tensor:
    if a.numel() >= _WORTH_FILLING and a.is_cpu and concrete(a):
        by_rows = a.shape[-1] >= _ROW and a.stride(-1) == 1
        if not isinstance(b, Tensor):
            b = torch.full(a.shape[-1:], b, dtype=a.dtype) if by_rows else torch.full_like(a, b)
        elif not b.ndim and concrete(b):
            b = b.expand(a.shape[-1:] if by_rows else a.shape).clone(memory_format=torch.contiguous_format)
    return plain(a, b, out=out)


_WORTH_FILLING = 1 << 14
_ROW = 256
"""Length of a row from which comparing row by row is as fast."""
