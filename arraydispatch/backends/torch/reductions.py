"""NumPy's ``ufunc.reduce`` and ``ufunc.accumulate`` -> torch kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..base import Unsupported
from .dtype_tables import SIGNED_TWIN, UNSIGNED, WIDER, concrete, derived, ordered, readable, unordered
from .host_kernels import accumulated, running_extremum

Axes = tuple[int, ...]
Kernel = Callable[..., Tensor]

_HALVES = frozenset({torch.float16, torch.bfloat16})


def add(a: Tensor, axes: Axes, keepdims: bool) -> Tensor:
    """Sum; torch widens small integers unless given the dtype, and takes an empty list of axes for all axes."""
    dtype = a.dtype
    if dtype.is_floating_point and axes:
        if len(axes) == a.ndim and not keepdims:
            return torch.sum(a)
        return torch.sum(a, axes, keepdims)
    if not axes:
        return a.clone()
    if dtype in UNSIGNED:
        return add(a.view(SIGNED_TWIN[dtype]), axes, keepdims).view(dtype)
    if len(axes) == a.ndim and not keepdims:
        return torch.sum(a, dtype=dtype)
    return torch.sum(a, axes, keepdim=keepdims, dtype=dtype)


_COUNTED_FROM = 1 << 16
"""Number of booleans from which :func:`total` is faster than torch's sum (measured: 4 million in 0.05 ms, torch's sum takes 1.2)."""
_MOST = 255
"""Maximum number of words that may be added without overflow in a byte: each byte is 0 or 1."""
_ADDED_FROM = 1 << 20
_PART = 1 << 18
"""Number of small integers that are converted at once: their 64-bit numbers stay in the cache (4 million of 8 bits in 0.9 ms instead of 4.3)."""
_SMALL = frozenset({torch.bool, torch.int8, torch.uint8, torch.int16, torch.int32})


def total(a: Tensor) -> Tensor | None:
    """Sum booleans or small integers in 64 bits; return None if torch's sum, which converts all of them first, should do it.

    True elements are counted eight at a time, as the bytes of words.
    """
    is_mask = a.dtype is torch.bool
    if a.numel() < (_COUNTED_FROM if is_mask else _ADDED_FROM) or a.dtype not in _SMALL:
        return None
    if not (a.is_cpu and concrete(a) and a.is_contiguous()):
        return None
    line = a.view(-1)
    if not is_mask:
        made = torch.stack([torch.sum(part, dtype=torch.int64) for part in torch.split(line, _PART)]).sum()
        return made.view(torch.uint64) if a.dtype is torch.uint8 else made
    ones = line.view(torch.uint8)
    if a.storage_offset() % 8 or torch.amax(ones).item() > 1:  # another byte than 1 is true too
        return None
    size = ones.numel() // (8 * _MOST) * (8 * _MOST)
    words = ones[:size].view(torch.int64).view(_MOST, -1)
    counted = torch.sum(torch.sum(words, 0).view(torch.uint8), dtype=torch.int64)
    return torch.add(counted, torch.sum(ones[size:], dtype=torch.int64))


def mean(a: Tensor) -> Tensor:
    """Compute the mean of all elements, the sum divided by their number. torch's own mean does that on the CPU; elsewhere it multiplies by
    the reciprocal.
    """
    if a.is_cpu:
        return torch.mean(a)
    return torch.div(torch.sum(a), torch.full((), float(a.numel()), dtype=a.dtype, device=a.device))


def _each_axis(one: Callable[[Tensor, int, bool], Tensor], a: Tensor, axes: Axes, keepdims: bool) -> Tensor:
    """Reduce one axis after the other, the last one first, so that the others keep their numbers."""
    if not axes:
        return a.clone()
    for axis in sorted(axes, reverse=True):
        a = one(a, axis, keepdims)
    return a


def _prod(a: Tensor, axis: int, keepdims: bool) -> Tensor:
    return torch.prod(a, axis, keepdim=keepdims, dtype=a.dtype)


def multiply(a: Tensor, axes: Axes, keepdims: bool) -> Tensor:
    dtype = a.dtype
    if dtype in UNSIGNED:
        return multiply(a.view(SIGNED_TWIN[dtype]), axes, keepdims).view(dtype)
    if dtype in _HALVES and axes:  # torch multiplies these in 16 bits
        return multiply(a.to(torch.float32), axes, keepdims).to(dtype)
    if len(axes) == a.ndim and axes and not keepdims:
        return torch.prod(a, dtype=dtype)
    return _each_axis(_prod, a, axes, keepdims)


def _by_place(find: Kernel, a: Tensor, axes: Axes, keepdims: bool) -> Tensor:
    """Compute an extremum whose derivative goes to the first element that equals it. In torch all such elements share the derivative."""
    kept = [axis for axis in range(a.ndim) if axis not in axes]
    rows = a.permute(*kept, *axes).reshape(*(a.shape[axis] for axis in kept), -1)
    out = torch.gather(rows, -1, find(rows.detach(), -1, keepdim=True)).squeeze(-1)
    return out.reshape([1 if axis in axes else n for axis, n in enumerate(a.shape)]) if keepdims else out


_BYTES = frozenset({torch.int8, torch.uint8})
_DECIDED_FROM = 1 << 20
_FIRST = 1 << 12
"""Number of elements looked at first where the whole array has at least :data:`_DECIDED_FROM`: they often decide all or any (NumPy stops at the
first such boolean), and take 3 µs.
"""


def _truth(plain: Callable[..., Tensor], extreme: Callable[..., Tensor], deciding: bool) -> Kernel:
    """Make a kernel for all or any, with a result of bools; torch's result for uint8 is uint8. ``deciding``: the truth value that decides the
    result if one element has it.

    torch takes the minimum or maximum of bytes by vector code, and all or any of booleans element by element: 20 µs and 1,000 µs for two
    million (torch 2.13; no issue is filed).
    """

    def known(a: Tensor, axes: Axes, keepdims: bool) -> Tensor:
        if a.dtype in _BYTES:
            return extreme(a.view(torch.uint8), axes, keepdim=keepdims) != 0
        return extreme(_true(a).view(torch.uint8), axes, keepdim=keepdims).view(torch.bool)

    def kernel(a: Tensor, axes: Axes, keepdims: bool) -> Tensor:
        if not axes:
            return a != 0
        if a.numel() and concrete(a):
            if len(axes) == a.ndim and a.numel() >= _DECIDED_FROM and a.is_contiguous() and readable(a):
                first = known(a.view(-1)[:_FIRST], (0,), False)
                if first.item() is deciding:
                    return first.view((1,) * a.ndim if keepdims else ())
            return known(a, axes, keepdims)
        if a.dtype is not torch.bool:
            a = a != 0
        if len(axes) == a.ndim and not keepdims:
            return plain(a)
        return plain(a, axes, keepdim=keepdims)

    return kernel


def _true(a: Tensor) -> Tensor:
    """Convert a tensor with known values to booleans; on a CPU the cast takes a third of the time of a comparison with zero."""
    if a.dtype is torch.bool:
        return a
    if not a.is_cpu or a.dtype in UNSIGNED or a.requires_grad:
        return a != 0
    if not a.dtype.is_complex:
        return a.to(torch.bool)
    parts = torch.view_as_real(a.resolve_conj()).to(torch.bool, memory_format=torch.contiguous_format)
    return parts.view(torch.int16).to(torch.bool).squeeze(-1)


def _extremum(all_of: Kernel, some_of: Kernel, find: Kernel, truth: Kernel) -> Kernel:
    """Make a kernel for maximum or minimum; ``truth``: the kernel for known booleans, whose maximum is any and whose minimum is all."""

    def kernel(a: Tensor, axes: Axes, keepdims: bool) -> Tensor:
        dtype = a.dtype
        if dtype.is_floating_point and axes and derived(a):
            return _by_place(find, a, axes, keepdims)
        if dtype.is_floating_point and axes:
            # `max` of everything starts in a third less time than `amax`, which is vectorized: 3 times faster on 1 M
            # elements
            if len(axes) == a.ndim and not keepdims and a.numel() < 4096:
                return all_of(a)
            return some_of(a, axes, keepdims)
        if dtype in UNSIGNED:
            wide = WIDER.get(dtype)
            if wide is not None:
                return kernel(a.to(wide), axes, keepdims).to(dtype)
            return unordered(kernel(ordered(a), axes, keepdims))
        if dtype.is_complex:
            raise Unsupported("torch does not order complex numbers")
        if not axes:
            return a.clone()
        if a.element_size() == 1 and not concrete(a):
            return some_of(a.to(torch.int32), axes, keepdim=keepdims).to(dtype)  # `primitives._found` says why
        if dtype is torch.bool:
            return truth(a, axes, keepdims)
        return some_of(a, axes, keepdim=keepdims)

    return kernel


def _bits(plain: Kernel) -> Kernel:
    """Make a kernel for a bitwise reduction, which torch lacks: it folds an axis in halves, and raises Unsupported for one of length 0."""

    def one(a: Tensor, axis: int, keepdims: bool) -> Tensor:
        n = a.shape[axis]
        while n > 1:
            half = n // 2
            folded = plain(a.narrow(axis, 0, half), a.narrow(axis, half, half))
            a = folded if n % 2 == 0 else torch.cat([folded, a.narrow(axis, n - 1, 1)], axis)
            n = a.shape[axis]
        return a if keepdims else a.squeeze(axis)

    def kernel(a: Tensor, axes: Axes, keepdims: bool) -> Tensor:
        if any(a.shape[axis] == 0 for axis in axes):
            raise Unsupported("a bitwise reduction of nothing")
        return _each_axis(one, a, axes, keepdims).clone()

    return kernel


_all, _any = _truth(torch.all, torch.amin, False), _truth(torch.any, torch.amax, True)

REDUCE: dict[Any, Kernel] = {
    np.add: add,
    np.multiply: multiply,
    np.maximum: _extremum(torch.max, torch.amax, torch.argmax, _any),
    np.minimum: _extremum(torch.min, torch.amin, torch.argmin, _all),
    np.logical_and: _all,
    np.logical_or: _any,
    np.bitwise_and: _bits(torch.bitwise_and),
    np.bitwise_or: _bits(torch.bitwise_or),
    np.bitwise_xor: _bits(torch.bitwise_xor),
}


def _running(plain: Callable[..., Tensor], ufunc: np.ufunc) -> Kernel:
    def kernel(a: Tensor, axis: int) -> Tensor:
        dtype = a.dtype
        exact = accumulated(ufunc, a, axis)
        if exact is not None:
            return exact
        if dtype in UNSIGNED:
            return kernel(a.view(SIGNED_TWIN[dtype]), axis).view(dtype)
        if dtype is torch.bool:  # for booleans add is `or` and multiply is `and`: both are running extrema
            return plain(a.to(torch.int64), axis) != 0
        return plain(a, axis, dtype=dtype)

    return kernel


def _running_extremum(plain: Callable[..., Any], ufunc: np.ufunc) -> Kernel:
    def kernel(a: Tensor, axis: int) -> Tensor:
        dtype = a.dtype
        if (made := running_extremum(ufunc, a, axis)) is not None:
            return made
        if dtype in UNSIGNED:
            wide = WIDER.get(dtype)
            if wide is not None:
                return kernel(a.to(wide), axis).to(dtype)
            return unordered(kernel(ordered(a), axis))
        if dtype.is_complex:
            raise Unsupported("torch does not order complex numbers")
        return plain(a, axis).values

    return kernel


ACCUMULATE: dict[Any, Kernel] = {
    np.add: _running(torch.cumsum, np.add),
    np.multiply: _running(torch.cumprod, np.multiply),
    np.maximum: _running_extremum(torch.cummax, np.maximum),
    np.minimum: _running_extremum(torch.cummin, np.minimum),
}
