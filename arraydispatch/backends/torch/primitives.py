"""The primitives of torch: see ``PRIMITIVES`` in ``backends/base.py`` for their contracts.

Elements of types without a kernel (the unsigned ones) are moved as the signed type of the same bits, and compared as a wider
type. Tensors are written in place if the contract allows it.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..base import Unsupported
from . import host_kernels
from .dtype_tables import (
    FROM_NUMPY,
    SIGNED_TWIN,
    UNSIGNED,
    WIDER,
    concrete,
    may_alias,
    ordered,
    out_of_transforms,
    readable,
    same_bits,
    unordered,
)

Shape = Sequence[int]
DType = np.dtype[Any]


# -- creation and conversion -----------------------------------------------------------------------------------------


def _python(value: Any) -> Any:
    """Return a NumPy scalar as a Python one."""
    return value.item() if isinstance(value, (np.generic, np.ndarray)) else value


def full(shape: Shape, value: Any, dtype: DType, device: Any) -> Tensor:
    """Create an array filled with a scalar; zeros come from memory that the system has already cleared."""
    native = FROM_NUMPY[dtype]
    value = _python(value)
    if (
        value == 0
        and (type(value) is not float or math.copysign(1.0, value) > 0)
        and type(value) is not builtins.complex
    ):
        return torch.zeros(shape, dtype=native, device=device)
    if native is torch.uint64 and value >= 2**63:  # torch accepts no Python int above int64
        return torch.full(shape, value - 2**64, dtype=torch.int64, device=device).view(native)
    return torch.full(shape, bool(value) if native is torch.bool else value, dtype=native, device=device)


def iota(n: int, dtype: DType, device: Any) -> Tensor:
    """Return 0, 1, … n-1; types without an ``arange``, or with one that rounds on the way, are cast from int64."""
    native = FROM_NUMPY[dtype]
    if (
        native.is_complex
        or native in UNSIGNED
        or native is torch.bool
        or (native.is_floating_point and native.itemsize < 4)
    ):
        return torch.arange(n, device=device).to(native)
    return torch.arange(n, dtype=native, device=device)


def astype(a: Tensor, dtype: DType) -> Tensor:
    """Cast as C does; return a tensor of the dtype itself. torch's own cast warns if imaginary parts are lost, and tests only the real
    part for truth.
    """
    native = FROM_NUMPY[dtype]
    if a.dtype is native:
        return a
    if a.dtype.is_complex and not native.is_complex:
        if native is torch.bool:
            return a != 0
        a = a.real
        # The real part is a view, so it is copied.
        return rounded_once(a).to(native) if native is torch.float16 else a.to(native, copy=True)
    return (rounded_once(a) if native is torch.float16 else a).to(native)


_BELOW_FLOAT32 = 2**29 - 1
"""Bits of a double's significand that float32 lacks."""


def rounded_once(a: Tensor) -> Tensor:
    """Return doubles changed so that torch's cast to float16, which rounds to float32 first, gives the result of a single rounding.

    Bits that float32 cannot hold are cut off, and set the last bit that is kept, so that no number lies halfway between two by chance.
    """
    if a.dtype is not torch.float64 or a.requires_grad or torch._C._functorch.is_functorch_wrapped_tensor(a):
        return a
    bits = a.resolve_neg().view(torch.int64)
    lost = (bits & _BELOW_FLOAT32) != 0
    return ((bits & ~_BELOW_FLOAT32) | lost.to(torch.int64) << 29).view(torch.float64)


def copy(a: Tensor) -> Tensor:
    return a.clone(memory_format=torch.contiguous_format)


def view_dtype(a: Tensor, dtype: DType) -> Tensor:
    to = FROM_NUMPY[dtype]
    if a.ndim and not a.numel():  # torch requires strides that an empty array need not have
        return a.new_empty((*a.shape[:-1], a.shape[-1] * a.element_size() // to.itemsize), dtype=to)
    a = a.resolve_conj().resolve_neg()
    if a.ndim and a.element_size() != to.itemsize:
        count = to.itemsize // a.element_size() or 1
        # A value that `expand` repeats has no bytes of each element, and a part of another tensor may begin within an element.
        if a.stride(-1) != 1 or any(n % count for n in (a.storage_offset(), *a.stride()[:-1])):
            a = a.clone(memory_format=torch.contiguous_format)
    return a.view(to)


# -- shape -------------------------------------------------------------------------------------------------------------


def reshape(a: Tensor, shape: Shape) -> Tensor:
    return a.reshape(shape)


def transpose(a: Tensor, perm: Sequence[int]) -> Tensor:
    return a.permute(perm)


def broadcast_to(a: Tensor, shape: Shape) -> Tensor:
    return a.expand(shape)


def flip(a: Tensor, axes: Sequence[int]) -> Tensor:
    """Reverse axes, always as a copy: torch has no negative strides (https://github.com/pytorch/pytorch/issues/604)."""
    if a.dtype in UNSIGNED:
        return torch.flip(same_bits(a), tuple(axes)).view(a.dtype)
    return torch.flip(a, tuple(axes))


def concatenate(arrays: Sequence[Tensor], axis: int) -> Tensor:
    """Join arrays; torch does not check the shape of empty 1-d tensors, which is harmless: the caller has checked all shapes.

    torch treats arrays of four or five axes, one of length one, as images with channels last, and lays the result out that way.
    """
    made = torch.cat(arrays, axis)
    if made.ndim in (4, 5) and not made.is_contiguous() and all(a.is_contiguous() for a in arrays):
        return made.contiguous()
    return made


def pad(a: Tensor, widths: Sequence[tuple[int, int]], value: Any) -> Tensor:
    shape = [before + n + after for n, (before, after) in zip(a.shape, widths)]
    out = torch.full(shape, _python(value), dtype=a.dtype, device=a.device)
    out[tuple(builtins.slice(before, before + n) for n, (before, _) in zip(a.shape, widths))] = a
    return out


# -- elements ------------------------------------------------------------------------------------------------------------


def slice(a: Tensor, key: tuple[Any, ...]) -> Tensor:
    return a[key]


def _apart(value: Tensor, a: Tensor) -> Tensor:
    """Return the value, copied if it may share the memory of ``a``, which is about to be written."""
    return value.clone() if may_alias(value, a) else value


def slice_update(a: Tensor, key: tuple[Any, ...], value: Tensor) -> Tensor:
    a[key] = _apart(value, a)
    return a


def gather(a: Tensor, indices: tuple[Tensor, ...]) -> Tensor:
    if len(indices) == 1:
        return take(a, indices[0], 0)
    return a[indices]


def take(a: Tensor, indices: Tensor, axis: int) -> Tensor:
    """Select by one ``index_select`` on flat indices, which is faster than advanced indexing."""
    if a.dtype in UNSIGNED:
        return take(same_bits(a), indices, axis).view(a.dtype)
    if indices.ndim == 1:
        return torch.index_select(a, axis, indices)
    flat = torch.index_select(a, axis, indices.reshape(-1))
    return flat.reshape(a.shape[:axis] + indices.shape + a.shape[axis + 1 :])


def take_along_axis(a: Tensor, indices: Tensor, axis: int) -> Tensor:
    if a.dtype in UNSIGNED:
        return torch.gather(same_bits(a), axis, indices).view(a.dtype)
    return torch.gather(a, axis, indices)


def nonzero(a: Tensor) -> tuple[Tensor, ...]:
    if a.ndim == 0:
        a = a.reshape(1)
    if (made := host_kernels.positions(a)) is not None:
        return tuple(made)
    return torch.nonzero(same_bits(a), as_tuple=True)


def mask(a: Tensor, mask: Tensor) -> Tensor:
    if a.dtype in UNSIGNED:
        return torch.masked_select(same_bits(a), mask).view(a.dtype)
    if a.shape == mask.shape and a.is_contiguous() and (places := host_kernels.flat_positions(mask)) is not None:
        return torch.index_select(a.view(-1), 0, places)  # half of the time of `masked_select` or less
    return torch.masked_select(a, mask)


def where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return torch.where(condition, x, y)


# -- scatter -------------------------------------------------------------------------------------------------------------

_SERIAL = 3000
"""Number of elements up to which torch's CPU ``index_put_`` runs along one axis in one thread and in order."""

_REDUCTION = {"multiply": "prod", "maximum": "amax", "minimum": "amin"}


def _linear(indices: Sequence[Tensor], lead: Shape) -> Tensor:
    """Combine index arrays of the leading axes to one flat index."""
    flat = indices[0]
    for n, index in zip(lead[1:], indices[1:]):
        flat = flat * n + index
    return flat.reshape(-1)


def _last_writer(flat: Tensor) -> Tensor:
    """Return the positions, in ``flat``, of the last occurrence of each value."""
    values, order = torch.sort(flat, stable=True)
    last = torch.ones_like(values, dtype=torch.bool)
    torch.ne(values[1:], values[:-1], out=last[:-1])
    return order[last]


def _ascends(flat: Tensor) -> bool:
    """Whether indices are known to ascend, as those of a mask do, so that no two are equal; the check takes a thirtieth of the time of a sort."""
    if not readable(flat):
        return False
    return torch.amin((flat[1:] > flat[:-1]).view(torch.uint8)).item() == 1


def newest(flat: Tensor, size: int) -> Tensor:
    """Return the position of the last value written to each place, -1 for places without one; works under ``vmap`` too."""
    order = torch.arange(flat.shape[0], device=flat.device)
    return torch.full((size,), -1, device=flat.device).scatter_reduce(0, flat, order, "amax")


def _derived(a: Tensor) -> bool:
    """Whether a derivative may be taken through a tensor; true under ``vmap``, where the tensor itself does not show it."""
    return torch.is_grad_enabled() and (a.requires_grad or torch._C._functorch.is_functorch_wrapped_tensor(a))


def scatter(a: Tensor, indices: tuple[Tensor, ...], value: Tensor, how: str) -> Tensor:
    """Scatter in place, and return ``a``. With "set", the last value for an index is kept, as in NumPy: torch leaves the order open. Raise
    Unsupported for extrema of complex numbers.

    https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html
    """
    if a.dtype in UNSIGNED:
        return _scatter_unsigned(a, indices, value, how)
    shape = indices[0].shape
    k = len(indices)
    tail = a.shape[k:]
    value = _apart(value, a)
    if how in ("set", "add"):
        n = shape.numel()
        derived = how == "set" and n > 1 and _derived(value)
        if len(shape) > 1 and (derived or value.numel() > 1):
            # torch would walk several axes in the order of the strides.
            value = value.broadcast_to(shape + tail).reshape((n,) + tail)
            indices = tuple(index.reshape(-1) for index in indices)
        if how == "add":
            return a.index_put_(indices, value, accumulate=True)
        if derived:  # torch passes the derivative to all values written to one place, not only to the last one
            flat = _linear(indices, a.shape[:k])
            value, at = value.broadcast_to((n,) + tail), newest(flat, a.shape[:k].numel())[flat]
            ours = (at == torch.arange(n, device=a.device)).reshape((n,) + (1,) * len(tail))
            value = torch.where(ours, value, value.detach().index_select(0, at))
        elif value.numel() > 1 and n > 1 and (a.device.type != "cpu" or n * tail.numel() > _SERIAL):
            flat = _linear(indices, a.shape[:k])
            if not _ascends(flat) and (last := _last_writer(flat)).numel() < n:
                value = value.broadcast_to((n,) + tail).index_select(0, last)
                indices = tuple(index.index_select(0, last) for index in indices)
        return a.index_put_(indices, value)
    if a.dtype.is_complex and how != "multiply":
        raise Unsupported("torch does not order complex numbers")
    if 0 in tail:
        return a  # an empty array does not determine the number of rows
    flat = _linear(indices, a.shape[:k])
    rows = a.reshape((-1, tail.numel()))
    index = flat.unsqueeze(1).expand(-1, tail.numel())
    values = value.broadcast_to(shape + tail).reshape(index.shape)
    rows = rows.scatter_reduce(0, index, values, _REDUCTION[how])
    return a.copy_(rows.reshape(a.shape))


def _scatter_unsigned(a: Tensor, indices: tuple[Tensor, ...], value: Tensor, how: str) -> Tensor:
    twin = SIGNED_TWIN[a.dtype]
    if how in ("set", "add", "multiply"):
        scatter(a.view(twin), indices, value.view(twin), how)
        return a
    wide = WIDER.get(a.dtype)
    if wide is not None:
        return a.copy_(scatter(a.to(wide), indices, value.to(wide), how).to(a.dtype))
    return a.copy_(unordered(scatter(ordered(a), indices, ordered(value), how)))


# -- order ---------------------------------------------------------------------------------------------------------------


def _orderable(a: Tensor) -> Tensor:
    """Convert a tensor to a type that torch can compare, with the same order of the elements."""
    wide = WIDER.get(a.dtype)
    if wide is not None:
        return a.to(wide)
    if a.dtype is torch.uint64:
        return ordered(a)
    return a.view(torch.uint8) if a.dtype is torch.bool else a


def sort(a: Tensor, axis: int) -> Tensor:
    if (made := host_kernels.sort(a, axis)) is not None:
        return made
    if a.dtype.is_complex:
        return torch.gather(a, axis, argsort(a, axis))
    if a.dtype in UNSIGNED:
        values = torch.sort(_orderable(a), dim=axis).values
        return unordered(values) if a.dtype is torch.uint64 else values.to(a.dtype)
    return torch.sort(a, dim=axis, stable=True).values


def argsort(a: Tensor, axis: int, stable: bool = True) -> Tensor:
    """Return sorting indices; complex numbers are in NumPy's order: by whether real and imaginary part are NaN, then by real part, then by
    imaginary part.
    """
    if not stable and (made := host_kernels.argsort(a, axis)) is not None:
        return made
    if a.dtype.is_complex:
        real, imaginary = a.real, a.imag
        order = torch.sort(imaginary, dim=axis, stable=True).indices
        for key in (real, torch.isnan(real) * 2 + torch.isnan(imaginary)):
            order = torch.gather(order, axis, torch.sort(torch.gather(key, axis, order), dim=axis, stable=True).indices)
        return order
    return torch.sort(_orderable(a), dim=axis, stable=True).indices


def argmax(a: Tensor, axis: int) -> Tensor:
    if a.dtype.is_complex:
        raise Unsupported("torch does not order complex numbers")
    return torch.argmax(_found(a), axis)


def argmin(a: Tensor, axis: int) -> Tensor:
    if a.dtype.is_complex:
        raise Unsupported("torch does not order complex numbers")
    return torch.argmin(_found(a), axis)


def _found(a: Tensor) -> Tensor:
    """Convert a tensor to a type whose extrema torch finds, with the same order of the elements.

    With vectors of 32 bytes (AVX2), the compiler of torch 2.13 finds neither the minimum of one-byte integers nor the minimum's index.
    """
    a = _orderable(a)
    return a.to(torch.int32) if a.element_size() == 1 and not concrete(a) else a


def _is_nan(a: Tensor, at: int) -> bool:
    with out_of_transforms():
        return bool(torch.isnan(a[at]))


def searchsorted(a: Tensor, values: Tensor, side: str) -> Tensor:
    if a.dtype.is_complex:
        raise Unsupported("torch does not order complex numbers")
    if a.is_floating_point() and a.numel() and (not concrete(a) or _is_nan(a, -1)):
        a, values = _sortable_bits(a), _sortable_bits(values)
    return torch.searchsorted(_orderable(a).contiguous(), _orderable(values).contiguous(), right=side == "right")


_BITS = {
    torch.float16: torch.int16, torch.bfloat16: torch.int16, torch.float32: torch.int32, torch.float64: torch.int64,
}  # fmt: skip


def _sortable_bits(a: Tensor) -> Tensor:
    """Return integers in the order of the floats, every NaN last and equal: torch's binary search fails on NaNs."""
    integer = _BITS[a.dtype]
    bits = (a + 0.0).view(integer)  # -0.0 becomes 0.0
    ordered = torch.where(bits < 0, bits ^ torch.iinfo(integer).max, bits)
    return torch.where(torch.isnan(a), torch.iinfo(integer).max, ordered)


def bincount(x: Tensor, weights: Tensor | None, length: int) -> Tensor:
    """Count indices, or add up their weights; torch ignores the dtype of the weights if there are no indices."""
    if not concrete(x) or (weights is not None and not concrete(weights)):
        # `torch.bincount` would read the largest of the traced values for the length of its result.
        added = torch.ones_like(x) if weights is None else weights.to(torch.float64)
        return torch.zeros(length, dtype=added.dtype, device=x.device).index_add(0, x, added)
    counts = torch.bincount(x, weights, length)
    return counts if weights is None else counts.to(torch.float64)


# -- complex ---------------------------------------------------------------------------------------------------------------


def real(a: Tensor) -> Tensor:
    return a.real


def imag(a: Tensor) -> Tensor:
    return a.imag


def complex(re: Tensor, im: Tensor) -> Tensor:
    return torch.complex(re, im)
