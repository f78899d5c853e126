"""NumPy backend: conversion is the identity, the only device is the CPU, and all arrays can be written."""

from __future__ import annotations

import os
import platform
from types import ModuleType
from typing import Any

import numpy as np

from ...common.arguments import HELD
from ...common.lazy_attributes import lazy
from ...common.process_state import process
from ...common.signal_safety import imported
from ..base import Backend
from ..devices import Device, host_memory
from . import overrides, primitives, ufuncs

Array = Any  # an ndarray


_SIGNIFICAND = {"float16": 11, "bfloat16": 8}
"""Significand bits of the types that NumPy's generator does not draw itself."""


class _Memory:
    """Window on an array's memory, for :meth:`NumpyBackend.strided`; ``base`` keeps the owner alive."""

    __slots__ = ("__array_interface__", "base")

    def __init__(self, base: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> None:
        interface: dict[str, Any] = dict(base.__array_interface__)
        pointer, read_only = interface["data"]
        interface.update(shape=shape, strides=strides, data=(pointer + offset, read_only))
        self.__array_interface__ = interface
        self.base = base


class NumpyBackend(Backend):
    """Backend of plain NumPy."""

    name = "numpy"
    library = "numpy"
    install = "pip install numpy"
    mutable = True
    native_is_ndarray = True

    prim = primitives
    UFUNCS = ufuncs.UFUNCS
    REDUCE = ufuncs.REDUCE
    ACCUMULATE = ufuncs.ACCUMULATE
    SCALARS = ufuncs.SCALARS

    def __init__(self) -> None:
        super().__init__()
        self.OVERRIDES = overrides.OVERRIDES
        self._device: Device | None = None

    @lazy
    def _generator(self) -> np.random.Generator:
        return np.random.default_rng()

    # -- identity ------------------------------------------------------------------------------------------------

    @property
    def module(self) -> ModuleType:
        return np

    @property
    def version(self) -> str:
        return np.__version__

    def is_native(self, value: object) -> bool:
        return isinstance(value, np.ndarray)

    # -- properties of a native value ------------------------------------------------------------------------------

    def dtype_of(self, a: Array) -> np.dtype[Any]:
        return a.dtype

    def holds(self, dtype: np.dtype[Any]) -> bool:
        return True

    def shape_of(self, a: Array) -> tuple[int, ...]:
        return a.shape

    def device_of(self, a: Array) -> Any:
        return "cpu"

    def strides_of(self, a: Array) -> tuple[int, ...] | None:
        size = a.itemsize or 1  # strings of width zero
        return tuple([stride // size for stride in a.strides])

    def on_cpu(self, a: Array) -> bool:
        return True

    # -- conversion ------------------------------------------------------------------------------------------------

    def from_numpy(self, x: Array, device: Any = None, copy: bool = True) -> Array:
        if copy:
            return np.array(x)
        size = x.itemsize
        if size and any(stride % size for stride in x.strides):
            return np.array(x)  # a field of a structured array: its strides are not whole elements
        return np.asarray(x)

    def to_numpy(self, a: Array) -> Array:
        return a

    def shares_with_host(self, a: Array) -> bool:
        return True

    def from_dlpack(self, x: Any) -> Array:
        return np.from_dlpack(x)

    # -- devices, options -------------------------------------------------------------------------------------------

    def devices(self) -> list[Device]:
        if self._device is None:
            self._device = Device(
                backend=self.name,
                name="cpu",
                kind="CPU",
                memory=host_memory(),
                processor_count=os.cpu_count() or -1,
                description=platform.machine(),  # platform.processor() starts a process
                native="cpu",
            )
        return [self._device]

    def to_device(self, a: Array, device: Device) -> Array:
        return a

    @property
    def threads(self) -> int:
        """Return the number of threads of BLAS, the only part of NumPy that uses threads."""
        imported("threadpoolctl")
        import threadpoolctl

        pools = threadpoolctl.threadpool_info()
        own = [pool for pool in pools if "numpy" in pool["filepath"]]  # SciPy's wheels bring another
        return max((pool["num_threads"] for pool in own or pools), default=1)

    def use_threads(self, n: int) -> None:
        """Set the number of threads of the pools of all loaded libraries, those of SciPy and scikit-learn too."""
        imported("threadpoolctl")
        import threadpoolctl

        threadpoolctl.threadpool_limits(limits=n)

    @property
    def lacks(self) -> frozenset[str]:
        return frozenset({"grad", "value_and_grad", "jacobian", "hessian", "bfloat16"})

    # -- hooks ------------------------------------------------------------------------------------------------------

    def fill(self, a: Array, value: Array) -> None:
        a[...] = value

    def strided(self, a: Array, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Array:
        size = a.itemsize
        in_bytes = tuple([stride * size for stride in strides])
        if a.flags.c_contiguous and a.dtype.kind in "biufc":
            return np.ndarray(shape, a.dtype, a, offset * size, in_bytes)
        view = np.asarray(_Memory(a, shape, in_bytes, offset * size))
        # The interface spells structured and extension dtypes as plain bytes.
        return view if view.dtype == a.dtype else view.view(a.dtype)

    def may_share(self, a: Array, b: Array) -> bool:
        return np.may_share_memory(a, b)

    def random(self, kind: str, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> Array:
        draw: Any = self._generator.standard_normal if kind == "normal" else self._generator.random
        if dtype.char in "fd":
            return np.asarray(draw(shape, dtype))
        bits = _SIGNIFICAND.get(dtype.name)
        if bits is None or kind == "normal":
            return np.asarray(draw(shape)).astype(dtype)
        # Rounding a float64 could give 1.0, which "uniform" excludes.
        return np.asarray(self._generator.integers(0, 1 << bits, shape) / (1 << bits)).astype(dtype)

    def seed(self, n: int) -> None:
        self._generator = np.random.default_rng(n)


class HostState(NumpyBackend):
    """Host state of a library: ndarrays that hold the values of its arrays, in memory that NumPy can read and write directly.

    The host state holds arrays until the library is needed; only then is the library imported. ``at_hand`` returns a backend by its name,
    or this host state while the library must not be imported. NumPy computes, but users see the library as the backend
    (:attr:`Backend.home`).
    """

    hosted = True
    native_views = True

    def __init__(self, name: str, at_hand: Any) -> None:
        super().__init__()
        self.name = name  # type: ignore[misc]
        self._at_hand = at_hand

    @property
    def home(self) -> Backend:
        """Backend that users see; this host state itself during an import."""
        found: Backend = self._at_hand(self.name)
        return found

    @property
    def writes_at_home(self) -> bool:  # type: ignore[override]
        """Whether the library may write into the memory of these arrays: not under compiled execution, where it reads them later."""
        return process.execution != "compiled" and bool(self.home.INPLACE)

    def holds(self, dtype: np.dtype[Any]) -> bool:
        """Whether the library may have a dtype: numbers and booleans of the sizes that all libraries have."""
        return dtype.char in HELD
