"""Tensors whose elements do not lie at strides of one memory: sparse, nested, masked and distributed ones."""

from __future__ import annotations

import torch
from torch import Tensor

from ...common.errors import NoBackendFoundError
from .dtype_tables import concrete

__all__ = ["strided"]

_INSTEAD = {
    "DTensor": "x.full_tensor() is the whole array, x.to_local() this process's part; over several devices arrays are split with JAX",
    "MaskedTensor": "x.to_tensor(value) is an array with a value at each masked place",
    "NestedTensor": "x.unbind() are its arrays, x.to_padded_tensor(value) is one of them all",
}
"""Advice for such a tensor, by the name of its class: the classes are in modules that need not be imported."""
_ANSWERS = Tensor.__torch_dispatch__


def strided(a: Tensor) -> Tensor:
    """Return a tensor if its elements lie at strides of one memory, as NumPy's functions and views need it.

    Raises
    ------
    NoBackendFoundError
        For a sparse or nested tensor, and for one of a class that computes by itself (``__torch_dispatch__``): of such a tensor
        PyTorch's own functions read memory that holds no elements, or refuse.
    """
    if a.is_nested:
        name = "NestedTensor"
    elif a.layout is not torch.strided:
        raise NoBackendFoundError(
            f"a tensor of layout {a.layout} is not wrapped: pass it to ad.sparse.from_native, or pass x.to_dense()."
        )
    elif type(a) is Tensor or type(a).__torch_dispatch__ is _ANSWERS or not concrete(a):
        return a
    else:
        name = type(a).__name__
    instead = _INSTEAD.get(name, "pass the tensor of its values")
    raise NoBackendFoundError(
        f"a {name} is not wrapped, because its elements do not lie at strides of one memory: {instead}."
    )
