"""Features of a backend by name, for ``Backend.supports`` and ``Backend.capabilities``.

Each follows from the contract: from the modules in the backend's package, from the dtypes that it holds, and from its class attributes. A
library states only what it lacks (``Backend.lacks``).
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from ..common.signal_safety import imported

if TYPE_CHECKING:
    from .base import Backend

Test = Callable[["Backend"], bool]


def has_module(backend: Backend, name: str) -> bool:
    """Whether the backend's package has this module; it is not imported."""
    package = type(backend).__module__.rpartition(".")[0]
    return bool(package) and find_spec(f"{package}.{name}") is not None


def _of_module(name: str, features: str) -> dict[str, Test]:
    return dict.fromkeys(features.split(), lambda backend: has_module(backend, name))


def _of_dtypes(names: str) -> dict[str, Test]:
    def test(name: str) -> Test:
        return lambda backend: backend.holds(np.dtype(name))

    return {name: test(name) for name in names.split()}


def _holds_bfloat16(backend: Backend) -> bool:
    if find_spec("ml_dtypes") is None:
        return False
    return backend.holds(np.dtype(imported("ml_dtypes").bfloat16))


FEATURES: dict[str, Test] = {
    **_of_module(
        "transforms",
        "jit grad value_and_grad jacobian hessian vmap custom_gradient stop_gradient while_loop host_call",
    ),
    **_of_module("sparse", "sparse"),
    **_of_dtypes("int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 longdouble complex64 complex128 object"),
    "bfloat16": _holds_bfloat16,
    **dict.fromkeys(("dlpack", "eager", "eig", "fused", "random"), lambda _: True),
    **dict.fromkeys(("mutable", "views"), lambda backend: backend.mutable),
}  # fmt: skip
"""Feature -> whether a backend has it, unless it is among ``Backend.lacks``."""
