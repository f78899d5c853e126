"""Choice of the backend, and its settings: devices, precision, execution, seeds."""

from __future__ import annotations

import operator
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends import loader
from ..backends.base import Backend
from ..backends.devices import Device
from ..common.errors import NoBackendFoundError, OptionError
from ..common.pytrees import leaves
from ..common.sentinels import UNSET
from ..dispatch import wrapping
from ..runtime import execution_policy, placement, resources, settings
from . import meshes


def use(
    name: str | Backend | None = None, *, device: Any = None, precision: Any = UNSET, execution: Any = UNSET,
    fallback: Any = UNSET, threads: Any = UNSET, mesh: Any = None, **options: Any,
) -> Backend:  # fmt: skip
    """Set the process's default backend and settings. Existing arrays stay where they are.

    Parameters
    ----------
    name : str, Backend or None
        Backend of new arrays; None keeps the default backend and applies the other settings.
    device : str or Device, optional
        Device of new arrays: ``"cpu"``, ``"gpu"``, ``"cuda:1"``, …
    precision : {64, 32, 16, "bf16", None}, optional
        Precision of new floating results; None means NumPy's own rules.
    execution : {"eager", "fused", "compiled", None}, optional
        ``"eager"``: the library itself runs each call immediately. None, the initial setting: the same, but if
        the values are in host memory NumPy may compute on that memory where it is faster (a *host kernel* in
        reports and ``arraydispatch coverage``). ``"fused"``: on a CPU values are on the host, and elementwise calls on
        large ones are recorded and run together, in several threads, when a value is read. ``"compiled"``: calls on the
        library's arrays are recorded, and run as programs of its compiler once they have come often enough.
    fallback : {"warn", "error", "silent"}, optional
        Policy for calls that have to run on the host: ``"warn"``, the initial setting, warns once for each source line;
        ``"error"`` raises :class:`HostFallbackError`; ``"silent"`` does neither. :func:`arraydispatch.fallback` sets it for a
        block.
    threads : int or None, optional
        Number of threads of one operation on the CPU, in NumPy and in every library; None: as many as this process may use, by its
        CPU affinity and the quota of its container. Until it is set, libraries decide. JAX and TensorFlow accept it only before
        their first array.
    mesh : "auto", int, str or tuple of int, optional
        Devices over which large new arrays are split, as by :func:`arraydispatch.mesh`; not together with ``device``. The default of
        ``execution`` is then ``"compiled"``, because XLA keeps slices of any length split inside of a program.
    **options
        Options of the library; see ``Backend.OPTIONS``.

    Returns
    -------
    Backend
        The default backend.

    Raises
    ------
    NoBackendFoundError, BackendNotInstalledError, DeviceNotFoundError, PrecisionError, SettingError
        Each message names the valid choices; nothing is changed.
    RuntimeError
        If the library has started with another number of threads.
    OptionError
        For an option that the backend does not have, or an invalid number of threads.
    """
    chosen = default_backend() if name is None else backend_named(name)
    bits = settings.default.rules.precision if precision is UNSET else settings.check_precision(precision)
    settings.check_held(bits, chosen)
    way = settings.default.usual_execution if execution is UNSET else settings.check_execution(execution)
    policy = settings.default.fallback if fallback is UNSET else settings.check_fallback(fallback)
    place = None if device is None else placement.find(chosen, device)
    if mesh is not None:
        if place is not None:
            raise OptionError("device= and mesh= exclude each other; a mesh is several devices.")
        place = meshes.mesh(mesh).on(chosen)
    unknown = [option for option in options if option not in chosen.OPTIONS]
    if unknown:
        known = ", ".join(chosen.OPTIONS) or "none"
        raise OptionError(f"backend {chosen.name!r} has no option {unknown[0]!r}; its options are: {known}.")
    if threads is not UNSET:
        resources.use(resources.check(threads), chosen)
    if options:
        chosen.configure(**options)
    devices = settings.default.devices if place is None else {**settings.default.devices, chosen.name: place}
    settings.default.change(backend=chosen.name, devices=devices, fallback=policy)
    settings.set_default_precision(bits)
    if mesh is not None and execution is UNSET:
        way = "compiled"
        settings.default.by_policy = False
    elif settings.default.by_policy and execution is UNSET:
        way, least = execution_policy.defaults(
            chosen.name != "numpy", settings.on_cpu(chosen.name), compiles=loader.compiles_on_cpu(chosen.name)
        )
        settings.default.min_size = least
    elif execution is not UNSET:
        settings.default.by_policy = False
    settings.set_execution(way)
    return chosen


def execution(way: execution_policy.Execution) -> AbstractContextManager[None]:
    """Return a context manager that sets the execution of calls, in all threads; :func:`use` sets it for the process.

    Parameters
    ----------
    way : {"eager", "fused", "compiled", None}
        See :func:`use`. Under ``"fused"`` new arrays on the default backend begin on the host if its device is a CPU.

    Raises
    ------
    SettingError
        For any other value.
    """
    return settings.execution(way)


def backend_named(target: Any) -> Backend:
    """Return the backend for a name, a library's module or a backend; raise NoBackendFoundError or BackendNotInstalledError."""
    if isinstance(target, Backend):
        return target
    if isinstance(target, ModuleType):
        root = target.__name__.partition(".")[0]
        for name, row in loader.KNOWN.items():
            if root in row.roots:
                return loader.load(name)
        raise NoBackendFoundError(
            f"module {target.__name__!r} is not a backend; choose one of: {', '.join(loader.KNOWN)}."
        )
    if not isinstance(target, str):
        raise NoBackendFoundError(f"{target!r} is not a backend; choose one of: {', '.join(loader.KNOWN)}.")
    return loader.load(target)


def backend(name: str | Backend) -> Backend:
    """Load and return the backend of this name. A backend is also a context manager: ``with ad.backend("torch"): …``.

    Raises
    ------
    NoBackendFoundError, BackendNotInstalledError
        The message lists the known backends, or tells how to install the library.
    """
    return backend_named(name)


def default_backend() -> Backend:
    """Return the backend of new arrays: that of the innermost ``with`` block of this thread or task, else the process default."""
    return settings.current_backend().home


def context_backend() -> Backend | None:
    """Return the backend of the innermost ``with ad.backend(…)`` block of this thread or task, or None."""
    return settings.context_backend()


def available_backends() -> list[str]:
    """Return the names of the backends whose library is installed."""
    return loader.available()


def choose_backend(*values: Any, prefer_default: bool = False) -> Backend:
    """Return the backend that holds these values.

    Parameters
    ----------
    *values
        Arrays (ours or native), NumPy arrays, Python numbers, sequences of these.
    prefer_default : bool
        Choose the default backend if it can take all the values, that is, unless one is an array of another ML library.

    Raises
    ------
    NoBackendFoundError
        If no backend handles a value.
    BackendMismatchError
        If there are arrays of two ML libraries.
    """
    _check_values(values)
    found = wrapping.backend_among(values)
    found = None if found is None else found.home
    if found is None or found.native_is_ndarray:
        return default_backend() if prefer_default else loader.load("numpy")
    return found


def _check_values(values: Any) -> None:
    for x in leaves(values):
        if not isinstance(x, Handle | np.ndarray | np.number | np.bool_ | int | float | complex) and (
            loader.backend_of(x) is None
        ):
            raise NoBackendFoundError(
                f"no backend handles a {type(x).__name__}; pass arrays, numbers, or sequences of them."
            )


def devices(backend: Any = None, kind: str | None = None) -> list[Device]:
    """Return the devices of a backend, each with name, memory, processor count and description.

    Parameters
    ----------
    backend : str, Backend or module, optional
        Default: the default backend.
    kind : {"CPU", "GPU", "TPU"}, optional
        Only devices of this kind.
    """
    there = (default_backend() if backend is None else backend_named(backend)).devices()
    return [d for d in there if kind is None or d.kind == kind.upper()]


def precision(bits: Any) -> Any:
    """Return a context in which new floating results have ``bits``: 64, 32, 16, ``"bf16"``, None (NumPy's rules)."""
    return settings.precision_context(bits)


def set_precision(bits: Any) -> None:
    """Set the process default of the precision."""
    checked = settings.check_precision(bits)
    settings.check_held(checked, default_backend())
    settings.set_default_precision(checked)


def get_precision() -> settings.Precision:
    """Return the precision in force in the calling thread or task."""
    return settings.current_precision()


def seed(n: int) -> None:
    """Seed the random generators of all loaded libraries and of the default backend; raise ValueError for a negative number."""
    n = operator.index(n)
    if n < 0:
        raise ValueError("expected non-negative integer")  # NumPy's words
    default_backend()
    for each in loader.loaded():
        each.seed(n)
