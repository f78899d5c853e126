"""A backend as another distribution would add it: on MLX, a library of lazy arrays, which has no complex128."""

from __future__ import annotations

from importlib.metadata import version
from types import ModuleType
from typing import Any

import mlx.core as mx
import numpy as np

from arraydispatch.backends.base import Backend
from arraydispatch.backends.devices import Device

from . import primitives, ufuncs
from .dtypes import BACK, DTYPES


class MlxBackend(Backend):
    """Backend of MLX on a CPU; its arrays are written as wholes, because a view of one is a copy."""

    name = "mlx"
    library = "mlx.core"
    install = "pip install 'mlx[cpu]'"
    mutable = False

    prim = primitives
    UFUNCS = ufuncs.UFUNCS
    REDUCE = ufuncs.REDUCE
    ACCUMULATE = ufuncs.ACCUMULATE

    @property
    def module(self) -> ModuleType:
        return mx

    @property
    def version(self) -> str:
        return version("mlx")

    def is_native(self, value: object) -> bool:
        return isinstance(value, mx.array)

    def dtype_of(self, a: Any) -> np.dtype[Any]:
        return BACK[a.dtype]

    def holds(self, dtype: np.dtype[Any]) -> bool:
        return dtype in DTYPES

    def shape_of(self, a: Any) -> tuple[int, ...]:
        return tuple(a.shape)

    def device_of(self, a: Any) -> Any:
        return mx.cpu

    def on_cpu(self, a: Any) -> bool:
        return True

    def from_numpy(self, x: Any, device: Any = None, copy: bool = True) -> Any:
        return primitives.native(x)

    def to_numpy(self, a: Any) -> np.ndarray[Any, Any]:
        return primitives.host(a)

    def from_dlpack(self, x: Any) -> Any:
        return mx.from_dlpack(x)

    def devices(self) -> list[Device]:
        return [Device(self.name, "cpu", "CPU", description="MLX", native=mx.cpu)]

    def to_device(self, a: Any, device: Device) -> Any:
        return a

    def synchronize(self, *arrays: Any) -> None:
        mx.eval(*arrays)

    @property
    def lacks(self) -> frozenset[str]:
        return frozenset({"random"})


BACKEND = MlxBackend()
