"""The primitives of torch without in-place writes, for arrays inside transforms.

``vmap`` cannot write a batched tensor into an unbatched one, and autograd refuses to differentiate through a tensor
that was written after it was read. So here an update creates a new tensor, as in libraries with immutable arrays. All other
primitives are those of :mod:`arraydispatch.backends.torch.primitives`.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor

from ...common import tracing
from . import primitives
from .dtype_tables import SIGNED_TWIN, UNSIGNED, concrete, same_bits


def copy(a: Tensor) -> Tensor:
    """Return a contiguous tensor of these values, ``a`` itself if it is contiguous: tensors are never written here."""
    return a.contiguous()


_FEW = 4
"""Maximum number of parts that a program writes one by one into a new array."""


def concatenate(arrays: Sequence[Tensor], axis: int) -> Tensor:
    """Join arrays; in a program for a CPU by writing the parts into a new array.

    On a CPU torch's compiler makes a kernel for each part of a concatenation, and fuses none of them with the code that reads the result: a
    step with eight calls of `np.roll` takes 17 kernels and 4 times as long (float64, 2000 x 2000, PyTorch 2.13).
    """
    first = arrays[0]
    if not 1 < len(arrays) <= _FEW or not isinstance(first, FakeTensor) or first.device.type != "cpu":
        return primitives.concatenate(arrays, axis)
    shape = list(first.shape)
    shape[axis] = sum(part.shape[axis] for part in arrays)
    made, start = first.new_zeros(shape), 0
    for part in arrays:
        key = [builtins.slice(0, n, 1) for n in part.shape]
        key[axis] = builtins.slice(start, start + part.shape[axis], 1)
        made = slice_update(made, tuple(key), part)
        start += part.shape[axis]
    return made


def pad(a: Tensor, widths: Sequence[tuple[int, int]], value: Any) -> Tensor:
    """Pad with a constant; torch's own function takes the pairs of the last axis first."""
    pairs = [n for pair in reversed(widths) for n in pair]
    value = primitives._python(value)
    if a.dtype in UNSIGNED or a.dtype is torch.bool or type(value) is builtins.complex:
        shape = [before + n + after for n, (before, after) in zip(a.shape, widths)]
        whole = torch.full(shape, value, dtype=a.dtype, device=a.device)
        return slice_update(whole, tuple(builtins.slice(b, b + n, 1) for n, (b, _) in zip(a.shape, widths)), a)
    return torch.constant_pad_nd(
        a, pairs, value
    )  # `functional.pad` makes a float of the value: integers above 2**53 lost digits


def nonzero(a: Tensor) -> tuple[Tensor, ...]:
    _check_known(a)
    return primitives.nonzero(a)


def mask(a: Tensor, mask: Tensor) -> Tensor:
    _check_known(mask)
    return primitives.mask(a, mask)


def _check_known(a: Tensor) -> None:
    """Raise TraceError if unknown values would decide the shape of a result: torch supports unknown shapes, NumPy's functions do not."""
    if not concrete(a):
        raise tracing.refusal(tracing.SHAPE)


def slice_update(a: Tensor, key: tuple[Any, ...], value: Tensor) -> Tensor:
    """Return a tensor with a slice replaced: by one ``slice_scatter`` for each axis that is not whole, from the outermost."""
    if a.dtype in UNSIGNED:
        return slice_update(same_bits(a), key, same_bits(value)).view(a.dtype)
    if a.dtype.is_complex:  # torch has no derivative for it
        parts = (torch.view_as_real(x.resolve_conj()) for x in (a, value.to(a.dtype)))
        return torch.view_as_complex(slice_update(next(parts), (*key, builtins.slice(0, 2, 1)), next(parts)))
    return _slice_update(a, [(axis, s) for axis, s in enumerate(key) if not _whole(s, a.shape[axis])], value)


def _whole(part: builtins.slice, n: int) -> bool:
    return bool(part.start == 0 and part.step == 1 and part.stop >= n)


def _slice_update(a: Tensor, parts: list[tuple[int, builtins.slice]], value: Tensor) -> Tensor:
    if not parts:
        return value.expand(a.shape)
    (axis, part), *rest = parts
    n = len(range(part.start, part.stop, part.step))
    if not n:
        return a
    stop = part.start + (n - 1) * part.step + 1
    whole = builtins.slice(None)
    inner = a[(whole,) * axis + (builtins.slice(part.start, stop, part.step),)] if rest else None
    shape = a.shape[:axis] + (n,) + a.shape[axis + 1 :]
    new = value.expand(shape) if inner is None else _slice_update(inner, rest, value)
    return torch.slice_scatter(a, new, axis, part.start, stop, part.step)


def scatter(a: Tensor, indices: tuple[Tensor, ...], value: Tensor, how: str) -> Tensor:
    """Return a tensor with values scattered to it. With "set", the last value for an index is kept, as in NumPy; torch leaves the order
    open.
    """
    if a.dtype in UNSIGNED:
        if how not in ("set", "add", "multiply"):
            return primitives.scatter(a.clone(), indices, value, how)
        twin = SIGNED_TWIN[a.dtype]
        return scatter(a.view(twin), indices, value.view(twin), how).view(a.dtype)
    shape = indices[0].shape
    k = len(indices)
    tail = a.shape[k:]
    flat = primitives._linear(indices, a.shape[:k]) if k else torch.zeros(1, dtype=torch.int64, device=a.device)
    n = shape.numel()
    if how == "add":
        return torch.index_put(a, indices, value, accumulate=True)
    if how == "set":
        if n > 1:
            last = primitives.newest(flat, a.shape[:k].numel())
            rows = value.expand(shape + tail).reshape((n,) + tail)
            chosen = torch.index_select(rows, 0, torch.clamp(last, min=0)).reshape(a.shape)
            written = (last >= 0).reshape(a.shape[:k] + (1,) * len(tail))
            return torch.where(written, chosen, a)
        return torch.index_put(a, indices, value.to(a.dtype))
    if 0 in tail:
        return a
    rows = a.reshape((-1, tail.numel()))
    index = flat.unsqueeze(1).expand(-1, tail.numel())
    values = value.expand(shape + tail).reshape(index.shape)
    return rows.scatter_reduce(0, index, values, primitives._REDUCTION[how]).reshape(a.shape)
