"""A backend as another distribution would add it: on the arrays of array-api-strict, which has what the standard says and no more."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import array_api_strict as xp
import numpy as np

from arraydispatch.backends.base import Backend
from arraydispatch.backends.devices import Device

from . import primitives, ufuncs
from .dtypes import BACK, DTYPES, Array


class StrictBackend(Backend):
    """Backend of array-api-strict; its arrays are written as wholes, because the standard says nothing of views."""

    name = "strict"
    library = "array_api_strict"
    install = "pip install array-api-strict"
    mutable = False

    prim = primitives
    UFUNCS = ufuncs.UFUNCS
    REDUCE = ufuncs.REDUCE
    ACCUMULATE = ufuncs.ACCUMULATE

    @property
    def module(self) -> ModuleType:
        return xp

    @property
    def version(self) -> str:
        return str(xp.__version__)

    def is_native(self, value: object) -> bool:
        return isinstance(value, Array)

    def dtype_of(self, a: Any) -> np.dtype[Any]:
        return BACK[a.dtype]

    def holds(self, dtype: np.dtype[Any]) -> bool:
        return dtype in DTYPES

    def shape_of(self, a: Any) -> tuple[int, ...]:
        return tuple(a.shape)

    def device_of(self, a: Any) -> Any:
        return a.device

    def on_cpu(self, a: Any) -> bool:
        return True

    def from_numpy(self, x: Any, device: Any = None, copy: bool = True) -> Any:
        return primitives.native(np.array(x) if copy else x)

    def to_numpy(self, a: Any) -> np.ndarray[Any, Any]:
        return primitives.host(a)

    def from_dlpack(self, x: Any) -> Any:
        return xp.from_dlpack(x)

    def devices(self) -> list[Device]:
        return [Device(self.name, "cpu", "CPU", description="array-api-strict", native=xp.Device("CPU_DEVICE"))]

    def to_device(self, a: Any, device: Device) -> Any:
        return a

    @property
    def lacks(self) -> frozenset[str]:
        return frozenset({"random"})


BACKEND = StrictBackend()
