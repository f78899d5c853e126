"""Correspondence of NumPy's and torch's dtypes."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import _disable_current_modes

BFLOAT16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)

FROM_NUMPY: dict[np.dtype[Any], torch.dtype] = {
    np.dtype(np.bool_): torch.bool,
    np.dtype(np.int8): torch.int8,
    np.dtype(np.int16): torch.int16,
    np.dtype(np.int32): torch.int32,
    np.dtype(np.int64): torch.int64,
    np.dtype(np.uint8): torch.uint8,
    np.dtype(np.uint16): torch.uint16,
    np.dtype(np.uint32): torch.uint32,
    np.dtype(np.uint64): torch.uint64,
    np.dtype(np.float16): torch.float16,
    np.dtype(np.float32): torch.float32,
    np.dtype(np.float64): torch.float64,
    np.dtype(np.complex64): torch.complex64,
    np.dtype(np.complex128): torch.complex128,
    BFLOAT16: torch.bfloat16,
}
for _same_size in (np.longlong, np.ulonglong, np.intc, np.uintc):  # NumPy's aliases of one size have different hashes
    FROM_NUMPY.setdefault(np.dtype(_same_size), FROM_NUMPY[np.dtype(np.dtype(_same_size).str)])

TO_NUMPY: dict[torch.dtype, np.dtype[Any]] = {t: np.dtype(n.str) if n != BFLOAT16 else n for n, t in FROM_NUMPY.items()}

SIGNED_TWIN: dict[torch.dtype, torch.dtype] = {
    torch.uint16: torch.int16,
    torch.uint32: torch.int32,
    torch.uint64: torch.int64,
}
"""Unsigned type that torch stores but hardly computes with -> signed type of the same bits.

https://github.com/pytorch/pytorch/issues/58734
"""

WIDER: dict[torch.dtype, torch.dtype] = {torch.uint16: torch.int32, torch.uint32: torch.int64}
"""Unsigned type -> next signed type that holds every value."""

UNSIGNED = frozenset(SIGNED_TWIN)


def same_bits(a: Tensor) -> Tensor:
    """View a tensor of a type in :data:`SIGNED_TWIN` as the signed type of the same bits; return any other tensor itself."""
    twin = SIGNED_TWIN.get(a.dtype)
    return a if twin is None else a.view(twin)


compiling = torch.compiler.is_dynamo_compiling
"""Returns whether the compiler is tracing this code. (``torch.export`` does not count: it passes fake tensors.)"""
innermost_transform = torch._C._functorch.peek_interpreter_stack
"""Returns the interpreter of the innermost ``vmap`` or ``grad`` that runs this code; None if there is none."""


_going_back: set[object] = set()
"""Backward passes that run for many cotangents at once. Autograd batches them by its own ``vmap``, which
:data:`innermost_transform` does not show.
"""


@contextlib.contextmanager
def going_back_for_many() -> Iterator[None]:
    """Mark the ``with`` block as a backward pass with ``is_grads_batched``."""
    this = object()
    _going_back.add(this)
    try:
        yield
    finally:
        _going_back.discard(this)


def concrete(a: Tensor) -> bool:
    """Whether values can be read now: False in the compiler and for tensors wrapped by ``vmap`` and ``grad``."""
    if compiling() or (type(a) is not Tensor and isinstance(a, FakeTensor)):
        return False
    if _going_back and torch._C._functorch.is_legacy_batchedtensor(a):
        return False
    return innermost_transform() is None or not torch._C._functorch.is_functorch_wrapped_tensor(a)


def derived(*tensors: Tensor) -> bool:
    """Whether a derivative may be taken of results of these tensors, now or later."""
    wrapped = torch._C._functorch.is_functorch_wrapped_tensor
    return any(x.requires_grad or wrapped(x) or not concrete(x) for x in tensors)


_SIGN_BIT = -(2**63)


def ordered(a: Tensor) -> Tensor:
    """Convert uint64 to int64 of the same order; torch does not order uint64."""
    return a.view(torch.int64) ^ _SIGN_BIT


def unordered(a: Tensor) -> Tensor:
    """Convert what :func:`ordered` returned back to uint64."""
    return (a ^ _SIGN_BIT).view(torch.uint64)


AS_IT_IS = contextlib.nullcontext()


def out_of_transforms() -> Any:
    """Return a context manager that leaves all transforms, so that values of a tensor can be read if they are known.

    Inside ``torch.func.vjp`` an operation on the tensor would create a wrapper without memory, and while a program is recorded it would
    become part of the program.
    """
    if compiling():
        return AS_IT_IS
    if innermost_transform() is None:
        return _disable_current_modes() if torch._C._len_torch_dispatch_stack() else AS_IT_IS
    stack = contextlib.ExitStack()
    stack.enter_context(torch._C._DisableFuncTorch())
    stack.enter_context(_disable_current_modes())
    return stack


def readable(a: Tensor) -> bool:
    """Whether a kernel may choose its steps by the values: they are in host memory, and no derivative, transform or recorded program sees
    the operations.
    """
    return a.is_cpu and not a.requires_grad and concrete(a) and out_of_transforms() is AS_IT_IS


def may_alias(a: Tensor, b: Tensor) -> bool:
    """Whether two tensors may be views of one storage; always true in the compiler, which cannot tell.

    Storages are compared inside torch because the public way, their address, does not exist under ``vmap``.
    """
    return compiling() or torch._C._is_alias_of(a, b)
