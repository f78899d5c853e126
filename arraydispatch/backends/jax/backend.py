"""JAX backend: immutable arrays, 64-bit types behind a switch, tracers."""

from __future__ import annotations

import os
import platform as host
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import partial
from math import prod
from types import ModuleType
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.interpreters.partial_eval import DynamicJaxprTracer

from ...backends.kinds import Kind
from ...common import events, tracing
from ...common.lazy_attributes import lazy
from ...common.signal_safety import imported
from ..base import Backend, Unsupported, bytes_in, collect
from ..devices import Device, host_memory, processors
from . import direct_use, host_kernels, linalg, primitives, reductions, shardings, ufuncs
from .host_kernels import HOST_KERNELS, LEFT_TO_NUMPY, aligned_copy, in_host_memory
from .importing import THREADS, threads_of_devices
from .jitted_kernels import kernel
from .shardings import Spread, distributed, fitting, gathered

Array = Any
Scope = Callable[[], AbstractContextManager[Any]]

_DTYPES = frozenset(
    np.dtype(t)
    for t in (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64)
    + (np.float16, np.float32, np.float64, np.complex64, np.complex128)
) | {np.dtype(jnp.bfloat16)}


def _wide_types() -> AbstractContextManager[Any]:
    return jax.enable_x64(True)


_LARGE = 1 << 28
"""Size in bytes from which waiting for a result costs nothing compared with the work."""
_MANY = _LARGE // 16
"""Number of elements below which no dtype reaches that size."""
_stage = kernel(lambda x: x)
_STAGE_AFTER = 400
"""Number of uploads of one small shape after which compiling an upload pays: it takes 6 ms and saves 12 µs each time."""
_SMALL = 1 << 16


class JaxBackend(Backend):
    """Backend of JAX: immutable arrays and tracers, on any of JAX's devices or split over a mesh of them."""

    name = "jax"
    library = "jax"
    install = "pip install 'jax>=0.10'"
    mutable = False
    copies_columns = True
    scoped = True
    block_comes = 1  # XLA compiles single calls too, and these compilations together take longer than that of the block
    donates = True

    prim = collect(primitives, host_kernels, linalg)
    UFUNCS = ufuncs.UFUNCS
    REDUCE = reductions.REDUCE
    ACCUMULATE = reductions.ACCUMULATE
    SCALARS = ufuncs.SCALARS
    HOST_KERNELS = HOST_KERNELS
    LEFT_TO_NUMPY = LEFT_TO_NUMPY
    MULTIPLIES_FROM = 1 << 19
    meshes = shardings

    @lazy
    def processes(self) -> ModuleType:  # type: ignore[override]
        return imported("arraydispatch.backends.jax.distributed_runtime")

    def __init__(self) -> None:
        super().__init__()
        self._key: Array = None
        self._key_lock = threading.RLock()
        self._uploads: dict[Any, int] = {}
        self._devices: list[Device] | None = None
        self._host_only: bool | None = None
        self._pytrees: set[type] = set()

    # -- identity ------------------------------------------------------------------------------------------------

    @property
    def module(self) -> ModuleType:
        return jnp

    @property
    def version(self) -> str:
        return str(jax.__version__)

    def is_native(self, value: object) -> bool:
        return isinstance(value, (jax.Array, jax.core.Tracer))

    @property
    def scope(self) -> Scope | None:  # type: ignore[override]
        """Function that returns a context in which 64-bit types are enabled; None if they are enabled anyway."""
        return None if jax.config.jax_enable_x64 else _wide_types

    def in_scope(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function as the base class does, in 0.1 µs for each call instead of 0.5: no context manager is created and no
        option is parsed. If a mesh is in force, large results are also split.
        """
        state = jax.enable_x64
        here, put = getattr(state, "get_local", None), getattr(state, "set_local", None)
        if here is None or put is None or getattr(state, "_update_thread_local_hook", None) is not None:
            return super().in_scope(run)

        def inside(*natives: Any) -> Any:
            before = here()
            try:  # a signal may arrive at any point here
                put(True)
                made = run(*natives)
            finally:
                put(before)
            if shardings.meshes_in_force:
                made = tuple(map(self.placed, made)) if type(made) is tuple else self.placed(made)
            if type(made) is tuple:
                self.obtained(*made)
            elif made is not None and prod(made.aval.shape) >= _MANY:  # 0.05 µs faster than `size`
                self.obtained(made)
            return made

        return inside

    # -- properties of a native value ------------------------------------------------------------------------------

    def dtype_of(self, a: Array) -> np.dtype[Any]:
        return a.dtype

    def holds(self, dtype: np.dtype[Any]) -> bool:
        return dtype in _DTYPES

    def shape_of(self, a: Array) -> tuple[int, ...]:
        return a.shape

    def device_of(self, a: Array) -> Any:
        if isinstance(a, jax.core.Tracer):
            return None
        device = a.device
        return device if isinstance(device, jax.Device) else shardings.spread_of(a) or device

    def is_concrete(self, a: Array) -> bool:
        if isinstance(a, jax.core.Tracer):
            tracing.looked()
            return False
        return True

    def followed(self, a: Array) -> bool:
        name = type(a).__name__  # by name, because JAX exports only one of these classes
        while name == "BatchTracer":
            a = a.val
            name = type(a).__name__
        return name in ("JVPTracer", "LinearizeTracer")

    def staged(self, a: Array) -> bool:
        return type(a) is DynamicJaxprTracer

    def is_staging(self) -> bool:
        return direct_use.is_tracing()

    def on_cpu(self, a: Array) -> bool:
        if isinstance(a, jax.core.Tracer):
            return False
        if self._host_only is None:
            # With `jax_platforms` unset JAX starts on an accelerator if it finds one.
            named = (jax.config.jax_platforms or "cpu").split(",")
            alone = jax.process_count() == 1
            cpu = jax.default_backend() == "cpu" and named == ["cpu"]
            self._host_only = alone and cpu and jax.device_count() == 1
        if self._host_only:
            return True
        return a.is_fully_replicated and all(device.platform == "cpu" for device in a.devices())

    def lent(self, a: Array) -> np.ndarray[Any, Any] | None:
        return np.asarray(a) if in_host_memory(a) else None

    # -- conversion ------------------------------------------------------------------------------------------------

    def from_numpy(self, x: np.ndarray[Any, Any], device: Any = None, copy: bool = True) -> Array:
        if x.dtype not in _DTYPES:
            if x.dtype.isnative or x.dtype.newbyteorder("=") not in _DTYPES:
                raise Unsupported(f"JAX has no dtype {x.dtype}")
            x, copy = x.astype(x.dtype.newbyteorder("=")), False
        with _wide_types():
            if isinstance(device, Spread) and not direct_use.is_tracing():
                return distributed(x, device)
            if device is not None and not (isinstance(device, jax.Device) and device.platform == "cpu"):
                # The transfer may read the memory after the call: wait, so that the caller can write to it. While JAX
                # traces there is no transfer yet.
                if direct_use.is_tracing():
                    return jax.device_put(x.copy() if copy else x, fitting(device, x.shape))
                return jax.device_put(x, fitting(device, x.shape)).block_until_ready()
            # On the CPU JAX keeps 64-byte aligned memory that it is given, `may_alias=False` or not (0.10), and may
            # still read other memory after the call: give it a private copy.
            if x.nbytes >= _SMALL:
                return jax.device_put(aligned_copy(x) if copy else x, device)
            if copy:
                x = np.array(x, order="C")
            if device is None:
                key = (x.shape, x.dtype)
                count = self._uploads.get(key, 0)
                if count >= _STAGE_AFTER and copy:
                    return _stage(x)
                if len(self._uploads) > 4096:
                    self._uploads.clear()
                self._uploads[key] = count + 1
            return jax.device_put(x, device)

    def from_parts(self, shape: tuple[int, ...], dtype: np.dtype[Any], fill: Callable[..., None], device: Any) -> Array:
        with _wide_types():
            return shardings.of_parts(shape, dtype, device, fill)

    def to_numpy(self, a: Array) -> np.ndarray[Any, Any]:
        return np.asarray(a) if self._host_only or a.is_fully_replicated else gathered(a)

    def value_of(self, a: Array) -> Array:
        return shardings.free(a)

    def from_dlpack(self, x: Any) -> Array:
        with _wide_types():
            return jnp.from_dlpack(x)

    def dlpack(self, a: Array, **kwargs: Any) -> Any:
        """Export without a request for version 0 (``max_version``): JAX refuses that, although its own capsules have no version."""
        if kwargs.get("max_version", (1, 0))[0] < 1:
            del kwargs["max_version"]
        return a.__dlpack__(**kwargs)

    @property
    def survives_fork(self) -> bool:
        return False

    def synchronize(self, *arrays: Array) -> None:
        jax.block_until_ready(arrays or [a for a in jax.live_arrays() if not a.is_deleted()])

    # -- devices, options -------------------------------------------------------------------------------------------

    def devices(self) -> list[Device]:
        if self._devices is None:
            default = jax.devices()
            found = [*default, *([] if default[0].platform == "cpu" else jax.devices("cpu"))]
            self._devices = [self._describe(device, found) for device in found]
        return list(self._devices)

    def _describe(self, device: Any, found: list[Any]) -> Device:
        if device.platform == "cpu":
            single = sum(other.platform == "cpu" for other in found) == 1
            return Device(
                backend=self.name,
                name="cpu" if single else f"cpu:{device.id}",
                kind="CPU",
                memory=host_memory(),
                processor_count=os.cpu_count() or -1,
                description=host.machine(),
                native=device,
            )
        stats = device.memory_stats() or {}
        gpu = device.platform == "gpu"
        family = ("rocm" if "rocm" in device.client.platform_version.lower() else "cuda") if gpu else device.platform
        return Device(
            backend=self.name,
            name=f"{family.lower()}:{device.id}",
            kind="TPU" if device.platform == "tpu" else "GPU",
            memory=stats.get("bytes_limit", -1),
            processor_count=getattr(device, "core_count", -1),
            description=device.device_kind,
            native=device,
        )

    def to_device(self, a: Array, device: Device) -> Array:
        return shardings.moved(a, fitting(device.native, a.shape))

    OPTIONS: ClassVar[dict[str, str]] = {
        "enable_x64": "True or False: JAX's own switch for 64-bit types, for the whole process",
        "platform": "'cpu', 'cuda', 'rocm' or 'tpu': where JAX starts; only before its first array",
        "default_matmul_precision": "'highest', 'float32', 'tensorfloat32', 'bfloat16', …: for the whole process",
    }

    def configure(self, **options: Any) -> None:
        if "platform" in options:
            _start_on(options["platform"])
            self._devices = self._host_only = None
        if "enable_x64" in options:
            jax.config.update("jax_enable_x64", bool(options["enable_x64"]))
        if "default_matmul_precision" in options:
            jax.config.update("jax_default_matmul_precision", options["default_matmul_precision"])

    @property
    def threads(self) -> int:
        chosen = [os.environ.get(name, "") for name in THREADS]
        found = next((int(n) for n in chosen if n.isdecimal() and int(n)), processors())
        return processors() if found == threads_of_devices() else found

    def use_threads(self, n: int) -> None:
        if n == self.threads:
            return
        if _started():
            raise RuntimeError(f"JAX has started with {self.threads} threads; choose a number before its first array.")
        os.environ[THREADS[0]] = str(max(n, threads_of_devices()))

    @property
    def lacks(self) -> frozenset[str]:
        # `jnp.linalg.eig` decomposes general matrices on CPUs only.
        return frozenset() if jax.default_backend() == "cpu" else frozenset({"eig", "eigvals"})

    # -- hooks ------------------------------------------------------------------------------------------------------

    def gone(self, error: Exception) -> bool:
        return isinstance(error, RuntimeError | ValueError) and "deleted" in str(error)

    def mended(self, error: Exception) -> bool:
        # If a signal handler's exception interrupts the first trace of a function, JAX (0.10) continues to consider the
        # function as being traced: every later call of it would be a RecursionError.
        if isinstance(error, RecursionError) and "Recursively calling" in str(error):
            jax.clear_caches()
            return True
        return direct_use.traces_no_more()

    deferred = True

    def obtained(self, *values: Array) -> None:
        for a in values:
            # A tracer is an instance of `jax.Array`, but its type is not a subclass; `size` takes 0.1 µs, and `nbytes`
            # 0.8.
            if a.size >= _MANY and issubclass(type(a), jax.Array) and a.nbytes >= _LARGE:
                a.block_until_ready()

    def placed(self, a: Array, operands: Sequence[Array] = ()) -> Array:
        return shardings.placed(a, operands) if shardings.meshes_in_force and isinstance(a, jax.Array) else a

    def refused_bytes(self, error: Exception) -> int | None:
        said = str(error)
        lacking = isinstance(error, RuntimeError) and ("RESOURCE_EXHAUSTED" in said or "Out of memory" in said)
        return bytes_in(said) if lacking else None

    def kept(self) -> None:
        primitives.rescue.made = None

    def successor(self, a: Array) -> Array | None:
        made = getattr(primitives.rescue, "made", None)
        return made[0] if made and isinstance(a, jax.Array) and a.is_deleted() else None

    def fused(self, body: Callable[..., Any]) -> Callable[..., Any]:
        return kernel(partial(body, self.xp))

    def loop(self, going: Any, step: Any, state: Any, most: int) -> Any:
        def more(held: Any) -> Any:
            count, values = held
            return (count < most) & jnp.any(going(*values)) | (count == 0)

        def on(held: Any) -> Any:
            count, values = held
            return count + 1, step(*values)

        return jax.lax.while_loop(more, on, (0, tuple(state)))[1]

    def slice_update(self, a: Array, key: tuple[slice, ...], value: Array, donate: bool) -> Array:
        if donate and not isinstance(a, jax.core.Tracer):
            return primitives.slice_update_donated(a, key, value)
        return primitives.slice_update(a, key, value)

    def slice_at(self, a: Array, starts: Sequence[Array], lengths: Sequence[int], steps: Sequence[int]) -> Array:
        return primitives.slice_at(a, starts, lengths, steps)

    def slice_update_at(self, a: Array, starts: Sequence[Array], steps: Sequence[int], value: Array) -> Array:
        return primitives.slice_update_at(a, starts, steps, value)

    def may_share(self, a: Array, b: Array) -> bool:
        """Whether two arrays may share memory. They do if they begin at the same address, because each is a whole buffer; for tracers and
        for arrays on several devices, which have no single address, return True.
        """
        if isinstance(a, jax.core.Tracer) or isinstance(b, jax.core.Tracer):
            return True
        if len(a.devices()) > 1 or len(b.devices()) > 1:
            return True
        self.obtained(a, b)  # asking a buffer without memory for its address ends the process
        return bool(a.unsafe_buffer_pointer() == b.unsafe_buffer_pointer())

    def adopt_wrapper(self, wrapper: type) -> None:
        """Make JAX's functions accept ``wrapper``, the class of arrays: jitted functions as a pytree of its native array, others by
        `__jax_array__`.

        JAX refuses `__jax_array__` on an argument of `jax.jit`, which `jnp.sin` is, and asks for a pytree
        (https://docs.jax.dev/en/latest/pytrees.html). Unflattening accepts any leaf that a transform puts there. An
        array that stands for an ndarray is a leaf, and is not rebuilt.
        """
        wrapper.__jax_array__ = lambda a: a.native  # type: ignore[attr-defined]
        for cls in {wrapper, *wrapper.__subclasses__()} - self._pytrees:
            self._pytrees.add(cls)
            if getattr(cls, "stands_for_ndarray", False):
                direct_use.receive(cls)
                continue
            jax.tree_util.register_pytree_node(
                cls, lambda a: ((a.native,), a._kind.home), partial(self._together, wrapper, cls)
            )

    def _together(self, wrapper: Any, cls: Any, kind: Kind, leaves: Any) -> Any:
        (leaf,) = leaves
        if isinstance(leaf, wrapper):  # in a Jacobian, the array of each result holds an array shaped as the argument
            return leaf
        if not self.is_native(leaf):  # a transform may put any object there
            return cls._holding(leaf, kind)
        return (wrapper if leaf.ndim else cls)._holding(leaf, kind.of(leaf.dtype))

    def random(self, kind: str, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> Array:
        with _wide_types():
            with self._key_lock, jax.ensure_compile_time_eval():  # a key created under a trace must not belong to it
                if self._key is None:
                    self.seed(int.from_bytes(os.urandom(7), "little"))
                while True:
                    before = self._key
                    after, key = jax.random.split(before)
                    if self._key is before:  # otherwise a signal handler has drawn meanwhile
                        self._key = after
                        break
            values = _draw(key, kind, tuple(shape), dtype)
            return values if device is None else jax.device_put(values, fitting(device, shape))

    def seed(self, n: int) -> None:
        with _wide_types(), self._key_lock, jax.ensure_compile_time_eval():
            self._key = jax.random.key(n % (1 << 63))


_COMPILING = {"/jax/core/compile/jaxpr_to_mlir_module_duration": 0, "/jax/core/compile/backend_compile_duration": 1}
"""Part of a compilation that JAX times -> number of compilations that have ended when the part ends."""


class _Kept(threading.local):
    is_found = False
    """Whether the program that this thread is about to get was compiled by an earlier process."""


_kept = _Kept()


def _note_kept(event: str, **_about: Any) -> None:
    if event == "/jax/compilation_cache/cache_hits":
        _kept.is_found = True


def _tell_of_compilation(event: str, seconds: float, **_about: Any) -> None:
    ended = _COMPILING.get(event)
    if ended is None:
        return
    kept = ended * _kept.is_found
    if ended:
        _kept.is_found = False
    if events.tap is not None:
        events.tap.compiled(JaxBackend.name, ended - kept, seconds, kept)


jax.monitoring.register_event_listener(_note_kept)
jax.monitoring.register_event_duration_secs_listener(_tell_of_compilation)


def _random(key: Array, kind: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    inexact = jnp.issubdtype(dtype, jnp.inexact if kind == "normal" else jnp.floating)
    draw = jax.random.normal if kind == "normal" else jax.random.uniform
    return draw(key, shape, dtype if inexact else np.dtype(np.float64)).astype(dtype)


_draw = jax.jit(_random, static_argnums=(1, 2, 3))


def _started() -> bool:
    # There is no public way to ask whether JAX has started its devices (0.10); `jax.config.update` of
    # `jax_num_cpu_devices` asks the same function.
    imported("jax._src.xla_bridge")
    from jax._src.xla_bridge import backends_are_initialized

    return bool(backends_are_initialized())


def _start_on(platform: str) -> None:
    if not _started():
        jax.config.update("jax_platforms", platform)
        return
    running = {"gpu": "cuda"}.get(jax.default_backend(), jax.default_backend())
    if {"gpu": "cuda"}.get(platform, platform) != running:
        raise RuntimeError(
            f"JAX is already running on {running!r}; choose platform={platform!r} before its first array."
        )
