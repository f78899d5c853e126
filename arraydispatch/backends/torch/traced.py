"""torch inside transforms: the same kernels, on tensors that are never written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...common import tracing
from ..base import collect
from . import functional_primitives, linalg, primitives
from .backend import TorchBackend


class TracedTorch(TorchBackend):
    """Variant of the torch backend for arrays while a transform runs."""

    mutable = False
    native_views = False
    prim = collect(functional_primitives, primitives, linalg)
    INPLACE = frozenset()

    def __init__(self, home: TorchBackend) -> None:
        super().__init__()
        self.home = home

    def is_concrete(self, a: Tensor) -> bool:
        """Whether the value is known; False for values that a derivative depends on, as in libraries whose tracers have no values."""
        return super().is_concrete(a) and not a.requires_grad

    def to_numpy(self, a: Tensor) -> np.ndarray[Any, Any]:
        if not self.is_concrete(a):
            raise tracing.refusal("on the host")
        return super().to_numpy(a)

    def strides_of(self, a: Tensor) -> None:  # type: ignore[override]
        """Return None: memory order is a description here, as on every immutable backend."""
        return

    def check_writeable(self, a: Tensor) -> None:
        """Allow every write: an update creates a new tensor, also for a leaf of autograd."""

    def scalar_maker(self, dtype: np.dtype[Any]) -> Callable[[Tensor], Any]:
        return lambda a: None

    def random(self, kind: str, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> Tensor:
        return self.home.random(kind, shape, dtype, device)

    def seed(self, n: int) -> None:
        self.home.seed(n)

    def devices(self) -> list[Any]:
        return self.home.devices()

    may_share = staticmethod(torch._C._is_alias_of)
