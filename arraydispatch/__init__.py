"""arraydispatch: existing NumPy code, unchanged, running on JAX, PyTorch or TensorFlow.

``import arraydispatch as ad`` loads no array library and hardly anything else: every public name is loaded on first use.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .common.signal_safety import imported

__version__ = "0.2.0"

if "t" in getattr(sys, "abiflags", ""):
    raise ImportError("arraydispatch does not support free-threaded builds of Python; use the build with the GIL.")

if TYPE_CHECKING:
    from . import interop as interop, sparse as sparse
    from .api import random as random
    from .api.minimization import minimize as minimize
    from .api.native_namespace import active_backend as active_backend
    from .api.public import (
        asarray as asarray,
        available_backends as available_backends,
        backend as backend,
        choose_backend as choose_backend,
        context_backend as context_backend,
        convert as convert,
        default_backend as default_backend,
        devices as devices,
        execution as execution,
        get_precision as get_precision,
        mesh as mesh,
        precision as precision,
        replicate as replicate,
        seed as seed,
        set_precision as set_precision,
        shard as shard,
        synchronize as synchronize,
        to_numpy as to_numpy,
        use as use,
        wrap as wrap,
    )
    from .array import Array as Array
    from .array.scalar import Scalar as Scalar
    from .array_api import namespace as namespace
    from .backends.base import Backend as Backend
    from .backends.devices import Device as Device, Sharding as Sharding
    from .common.errors import (
        ArrayDispatchError as ArrayDispatchError,
        BackendMismatchError as BackendMismatchError,
        BackendNotInstalledError as BackendNotInstalledError,
        ConvergenceError as ConvergenceError,
        ConvergenceWarning as ConvergenceWarning,
        DeviceMismatchError as DeviceMismatchError,
        DeviceNotFoundError as DeviceNotFoundError,
        HostFallbackError as HostFallbackError,
        HostFallbackWarning as HostFallbackWarning,
        NoBackendFoundError as NoBackendFoundError,
        OptionError as OptionError,
        PrecisionError as PrecisionError,
        SettingError as SettingError,
        TraceError as TraceError,
    )
    from .launcher.installation import (
        accelerate as accelerate,
        accelerated as accelerated,
        install as install,
        uninstall as uninstall,
    )
    from .profiling.contexts import profile as profile, profile_function as profile_function
    from .runtime.settings import fallback as fallback
    from .sparse.linear_maps.matrix import matrix_from_function as matrix_from_function
    from .sparse.solvers.linear_systems import SolveResult as SolveResult, linear_solve as linear_solve
    from .transforms.compilation import jit as jit
    from .transforms.constants import is_traced as is_traced, stop_gradient as stop_gradient
    from .transforms.control_flow import host_call as host_call, while_loop as while_loop
    from .transforms.custom_derivatives import custom_gradient as custom_gradient
    from .transforms.derivatives import (
        grad as grad,
        hessian as hessian,
        jacobian as jacobian,
        value_and_grad as value_and_grad,
    )
    from .transforms.fixed_size import masked as masked, nonzero as nonzero, unique as unique
    from .transforms.neural_modules import call as call, parameters as parameters
    from .transforms.vectorization import vmap as vmap

_API = (
    "asarray", "available_backends", "backend", "choose_backend", "context_backend", "convert", "default_backend",
    "devices", "execution", "get_precision", "mesh", "precision", "replicate", "seed", "set_precision", "shard", "synchronize",
    "to_numpy", "use", "wrap",
)  # fmt: skip
_ERRORS = (
    "ArrayDispatchError", "BackendMismatchError", "BackendNotInstalledError", "ConvergenceError", "ConvergenceWarning",
    "DeviceMismatchError", "DeviceNotFoundError",
    "HostFallbackError", "HostFallbackWarning", "NoBackendFoundError", "OptionError", "PrecisionError",
    "SettingError", "TraceError",
)  # fmt: skip

_WHERE: dict[str, str] = {
    **dict.fromkeys(_API, "api.public"),
    **dict.fromkeys(_ERRORS, "common.errors"),
    "Array": "array",
    "Scalar": "array",
    "Backend": "backends.base",
    "Device": "backends.base",
    "Sharding": "backends.devices",
    **dict.fromkeys(("accelerate", "accelerated", "install", "uninstall"), "launcher.installation"),
    "active_backend": "api.native_namespace",
    "fallback": "runtime.settings",
    "namespace": "array_api",
    "profile": "profiling.contexts",
    "profile_function": "profiling.contexts",
    "jit": "transforms.compilation",
    **dict.fromkeys(("is_traced", "stop_gradient"), "transforms.constants"),
    **dict.fromkeys(("grad", "hessian", "jacobian", "value_and_grad"), "transforms.derivatives"),
    **dict.fromkeys(("host_call", "while_loop"), "transforms.control_flow"),
    "custom_gradient": "transforms.custom_derivatives",
    **dict.fromkeys(("masked", "nonzero", "unique"), "transforms.fixed_size"),
    "matrix_from_function": "sparse.linear_maps.matrix",
    **dict.fromkeys(("call", "parameters"), "transforms.neural_modules"),
    **dict.fromkeys(("SolveResult", "linear_solve"), "sparse.solvers.linear_systems"),
    "vmap": "transforms.vectorization",
    "minimize": "api.minimization",
    "interop": "interop",
    "random": "api.random",
    "sparse": "sparse",
}
"""Public name -> the module that defines it."""
_MODULES = ("interop", "random", "sparse")
"""Names that are modules themselves."""

__all__ = ["__version__", *sorted(_WHERE)]  # noqa: PLE0604 -- the names are the keys of the table above


def __getattr__(name: str) -> Any:
    where = _WHERE.get(name)
    if where is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = imported(f"{__name__}.{where}")
    value = module if name in _MODULES else getattr(module, name)
    globals()[name] = value
    return value


def load_ipython_extension(shell: Any) -> None:
    """Add ``%%arraydispatch`` to a shell, for ``%load_ext arraydispatch``."""
    from .launcher.commands.notebook import load

    load(shell)


def __dir__() -> list[str]:
    return __all__
