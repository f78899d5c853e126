"""TensorFlow backend: identity, dtypes, devices, conversion."""

from __future__ import annotations

import ctypes
import math
import os
import platform
import re
from collections.abc import Callable
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import tensorflow as tf
from tensorflow.core.function.trace_type.custom_nest_trace_type import CustomNestTraceType
from tensorflow.python.eager import record  # the public API does not show what a GradientTape records

from ...common import tracing
from ...common.errors import TraceError
from ...common.process_state import process
from ..base import Backend, LeftToNumPy, Unsupported, bytes_in, collect
from ..devices import Device, host_memory, processors
from . import linalg, primitives, ufuncs
from .core import BFLOAT16, ENUM, FROM_ENUM, EagerTensor, accelerated, dims, host, identity, on_host, raw, taped
from .host_kernels import HOST_KERNELS, LEFT_TO_NUMPY

Tensor = Any

_ALIGNMENT = 64
"""Alignment in bytes without which TensorFlow's kernels end the process (EIGEN_MAX_ALIGN_BYTES)."""

_SMALL = 4096
"""Size in bytes up to which a second copy is cheaper than finding aligned memory."""

_bitcast = raw("Bitcast")


class _DLTensor(ctypes.Structure):
    """Head of the struct behind a DLPack capsule (dlpack.h)."""

    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


def _aligned(capsule: Any) -> bool:
    """Whether the memory in an unused DLPack capsule is aligned as TensorFlow's computation requires."""
    pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    head = ctypes.cast(pointer_of(capsule, b"dltensor"), ctypes.POINTER(_DLTensor)).contents
    return ((head.data or 0) + head.byte_offset) % _ALIGNMENT == 0


def _aligned_copy(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    memory = np.empty(x.nbytes + _ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % _ALIGNMENT
    out = memory[start : start + x.nbytes].view(x.dtype).reshape(x.shape)
    out[...] = x
    return out


class TensorFlowBackend(Backend):
    """Backend of TensorFlow: immutable eager tensors, symbolic ones inside ``tf.function``, variables."""

    name = "tensorflow"
    # Most operations support at most 8 dimensions, some (PadV2) 6.
    most_axes = 6
    REFUSALS = (LeftToNumPy, tf.errors.UnimplementedError, tf.errors.InvalidArgumentError)
    library = "tensorflow"
    install = "pip install 'tensorflow>=2.21'"
    mutable = False
    copies_columns = True
    derives_determinants = False

    OPTIONS: ClassVar[dict[str, str]] = {
        "num_threads": "threads TensorFlow uses within one operation on the CPU; only before its first tensor",
        "memory_growth": "whether GPU memory is taken as needed instead of all at once; only before the first tensor",
        "deterministic": "True: operations give the same bits each time, and those that cannot raise",
        "tensor_float_32": "whether matrix products of float32 may use TensorFloat-32 on NVIDIA GPUs",
    }

    prim = collect(primitives, linalg)
    HOST_KERNELS = HOST_KERNELS
    LEFT_TO_NUMPY = LEFT_TO_NUMPY
    MULTIPLIES_FROM = 1 << 21
    UFUNCS = ufuncs.UFUNCS
    REDUCE = ufuncs.REDUCE
    ACCUMULATE = ufuncs.ACCUMULATE
    SCALARS = ufuncs.SCALARS

    def __init__(self) -> None:
        super().__init__()
        self._generator: Any = None

    # -- identity ------------------------------------------------------------------------------------------------

    @property
    def module(self) -> ModuleType:
        return tf

    @property
    def version(self) -> str:
        return str(tf.__version__)

    def is_native(self, value: object) -> bool:
        return type(value) is EagerTensor or isinstance(value, (tf.Tensor, tf.Variable))

    def value_of(self, a: Tensor) -> Tensor:
        """Return a tensor with the current value of a variable; return a tensor itself."""
        return a.read_value() if isinstance(a, tf.Variable) else a

    # -- properties of a native value ------------------------------------------------------------------------------

    def dtype_of(self, a: Tensor) -> np.dtype[Any]:
        if type(a) is EagerTensor:
            return FROM_ENUM[a._datatype_enum()]
        return FROM_ENUM[a.dtype.base_dtype.as_datatype_enum]

    def holds(self, dtype: np.dtype[Any]) -> bool:
        return dtype in ENUM

    def shape_of(self, a: Tensor) -> tuple[int, ...]:
        if type(a) is EagerTensor:
            return a._shape_tuple()
        if a.shape.rank is None:
            raise TraceError(
                "tf.function does not know the rank of this array; give it an input_signature with shapes."
            )
        return dims(a)

    def device_of(self, a: Tensor) -> Any:
        if type(a) is EagerTensor or (isinstance(a, tf.Variable) and tf.executing_eagerly()):
            return a.device
        return None

    def is_concrete(self, a: Tensor) -> bool:
        """Whether the value may be read: not if it is symbolic, or if a derivative that a transform of this package takes depends on it
        (TensorFlow itself would allow a read then).
        """
        if process.traces and taped() and record.should_record_backprop([a]):
            return False
        if type(a) is EagerTensor or (isinstance(a, tf.Variable) and tf.executing_eagerly()):
            return True
        tracing.looked()
        return False

    def followed(self, a: Tensor) -> bool:
        return bool(taped() and record.should_record_backprop([a]))

    def on_cpu(self, a: Tensor) -> bool:
        return on_host(a) and not (taped() and record.should_record_backprop([a]))

    def scalar_maker(self, dtype: np.dtype[Any]) -> Callable[[Tensor], Any]:
        """Return the function for :attr:`Kind.scalar`. It returns None also for a tensor whose gradient is recorded, by this package or a
        user's tape: a NumPy scalar would cut the gradient.
        """
        item = self.item
        return lambda a: item(a) if on_host(a) and not (taped() and record.should_record_backprop([a])) else None

    def lent(self, a: Tensor) -> np.ndarray[Any, Any] | None:
        return None if taped() else super().lent(a)

    # -- conversion ------------------------------------------------------------------------------------------------

    def from_numpy(self, x: np.ndarray[Any, Any], device: Any = None, copy: bool = True) -> Tensor:
        """Convert an ndarray to a tensor. TensorFlow keeps aligned memory that it is given, so with ``copy`` it is given a private copy."""
        if x.dtype not in ENUM:
            if x.dtype.isnative or x.dtype.newbyteorder("=") not in ENUM:
                raise Unsupported(f"TensorFlow has no dtype {x.dtype}")
            x, copy = x.astype(x.dtype.newbyteorder("=")), False
        if copy and x.dtype.kind == "b" and x.view(np.uint8).max(initial=0) > 1:
            # Arrays from Pillow, in which any nonzero byte means True.
            x = x.view(np.uint8) != 0
        if copy:
            x = np.array(x, order="C", subok=False) if x.nbytes <= _SMALL else _aligned_copy(x)
        if not accelerated():
            return EagerTensor(x, host(), None)
        native = EagerTensor(x, host(), None)
        if device is None:
            device = tf.config.list_logical_devices("GPU")[0].name if tf.config.list_logical_devices("GPU") else host()
        if device == native.device:
            return native
        with tf.device(device):
            return identity(native)

    def to_numpy(self, a: Tensor) -> np.ndarray[Any, Any]:
        """Return a read-only ndarray: a view of a tensor on the CPU, a copy of one on another device; raise TraceError for a symbolic
        tensor.
        """
        if type(a) is EagerTensor and a.dtype is not tf.bfloat16 and ":CPU:" in a.device:
            return np.asarray(memoryview(a))
        if type(a) is not EagerTensor:
            if not self.is_concrete(a):
                raise tracing.refusal("on the host")
            a = a.read_value()
        if a.dtype is tf.bfloat16:  # a memoryview has no format for it
            return self.to_numpy(_bitcast(a, tf.uint16)).view(BFLOAT16)
        return np.asarray(memoryview(a if on_host(a) else a.cpu()))

    def refused_bytes(self, error: Exception) -> int | None:
        if not isinstance(error, tf.errors.ResourceExhaustedError):
            return None
        found = re.search(r"shape\s*\[([\d,]*)\] and type (\w+)", str(error))
        if found is None:
            return bytes_in(str(error))
        named = {"float": "float32", "double": "float64", "half": "float16"}.get(found[2], found[2])
        return math.prod(int(n) for n in found[1].split(",") if n) * int(tf.dtypes.as_dtype(named).size)

    def from_dlpack(self, x: Any) -> Tensor:
        """Return a tensor on the memory of an array that exports it by DLPack.

        Raise BufferError for strides, and for unaligned memory, on which TensorFlow would end the process later.
        """
        capsule = x.__dlpack__()
        if x.__dlpack_device__()[0] == 1 and not _aligned(capsule):
            raise BufferError(f"TensorFlow takes memory aligned to {_ALIGNMENT} bytes only")
        try:
            return tf.experimental.dlpack.from_dlpack(capsule)
        except tf.errors.InvalidArgumentError as error:  # TensorFlow refuses strides
            raise BufferError(error.message) from error

    def dlpack(self, a: Tensor, **kwargs: Any) -> Any:
        """Export by DLPack, with the options that TensorFlow lacks: make a copy if asked for one; raise BufferError for another device."""
        device = kwargs.get("dl_device")
        if device is not None and tuple(device) != self.dlpack_device(a):
            raise BufferError(f"TensorFlow exports the memory where it is, on DLPack device {self.dlpack_device(a)}")
        return (self.prim.copy(a) if kwargs.get("copy") else a).__dlpack__()

    @property
    def survives_fork(self) -> bool:
        return False

    def synchronize(self, *arrays: Tensor) -> None:
        if accelerated():
            tf.test.experimental.sync_devices()

    # -- devices, options -------------------------------------------------------------------------------------------

    def devices(self) -> list[Device]:
        """Return the devices, accelerators first: TensorFlow places tensors on the first accelerator unless another device is chosen."""
        physical: dict[str, list[Any]] = {}
        for found in tf.config.list_physical_devices():
            physical.setdefault(found.device_type, []).append(found)
        devices = []
        for logical in tf.config.list_logical_devices():
            kind, index = logical.device_type, int(logical.name.rsplit(":", 1)[1])
            if kind == "CPU":
                description = platform.machine()
                name = "cpu" if index == 0 else f"cpu:{index}"
                devices.append(
                    Device(
                        self.name,
                        name,
                        kind,
                        host_memory(),
                        os.cpu_count() or -1,
                        description,
                        host() if index == 0 else logical.name,
                    )
                )
            elif kind in ("GPU", "TPU"):
                details = {}
                if kind == "GPU" and index < len(physical.get(kind, ())):
                    details = tf.config.experimental.get_device_details(physical[kind][index])
                family = "tpu" if kind == "TPU" else "cuda" if tf.test.is_built_with_cuda() else "rocm"
                description = str(details.get("device_name", kind))
                native = f"{host().rsplit('/', 1)[0]}/device:{kind}:{index}"
                devices.append(Device(self.name, f"{family}:{index}", kind, -1, -1, description, native))
        return sorted(devices, key=lambda device: device.kind == "CPU")

    def to_device(self, a: Tensor, device: Device) -> Tensor:
        with tf.device(device.native):
            return identity(a)

    def configure(self, **options: Any) -> None:
        if (threads := options.get("num_threads")) is not None:
            tf.config.threading.set_intra_op_parallelism_threads(int(threads))
        if (growth := options.get("memory_growth")) is not None:
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, bool(growth))
        if options.get("deterministic"):
            tf.config.experimental.enable_op_determinism()
        if (tensor_float_32 := options.get("tensor_float_32")) is not None:
            tf.config.experimental.enable_tensor_float_32_execution(bool(tensor_float_32))

    @property
    def threads(self) -> int:
        return tf.config.threading.get_intra_op_parallelism_threads() or processors()

    def use_threads(self, n: int) -> None:
        if n == self.threads:
            return
        tf.config.threading.set_intra_op_parallelism_threads(n)
        tf.config.threading.set_inter_op_parallelism_threads(n)

    # -- hooks ------------------------------------------------------------------------------------------------------

    def loop(self, going: Any, step: Any, state: Any, most: int) -> Any:
        return tuple(
            tf.while_loop(lambda *values: tf.reduce_any(going(*values)), step, tuple(state), maximum_iterations=most)
        )

    def slice_update(self, a: Tensor, key: tuple[slice, ...], value: Tensor, donate: bool) -> Tensor:
        return (primitives.slice_update_donated if donate else primitives.slice_update)(a, key, value)

    def may_share(self, a: Tensor, b: Tensor) -> bool:
        if not (self.on_cpu(a) and self.on_cpu(b)):
            return True
        return bool(np.may_share_memory(self.to_numpy(a), self.to_numpy(b)))

    def adopt_wrapper(self, wrapper: type) -> None:
        """Register a function by which TensorFlow converts an array to the tensor inside it.

        The function raises TypeError if TensorFlow wants another dtype, except for arrays that stand for ndarrays.
        """

        def convert(value: Any, dtype: Any = None, name: str | None = None, as_ref: bool = False) -> Any:
            native = value.native
            if as_ref or not self.is_native(native):
                return NotImplemented
            if dtype is not None and not tf.as_dtype(dtype).is_compatible_with(native.dtype):
                if getattr(type(value), "stands_for_ndarray", False):
                    # TensorFlow itself decides whether to accept these.
                    if self.is_concrete(native):
                        return tf.convert_to_tensor(value.to_numpy(), dtype, name=name)
                    if np.can_cast(value.dtype, tf.as_dtype(dtype).as_numpy_dtype, "same_kind"):
                        return tf.cast(native, dtype, name=name)
                raise TypeError(
                    f"an array of {native.dtype.name} was given where TensorFlow wants {tf.as_dtype(dtype).name}"
                )
            return native

        tf.register_tensor_conversion_function(wrapper, convert, priority=0)
        self.take_for_ndarrays(wrapper, process.users is not None)

    def take_for_ndarrays(self, wrapper: type, so: bool) -> None:
        if so:
            _leave(wrapper)
        else:
            _receive(wrapper, self)

    def compute_dtype(self, ufunc: np.ufunc, dtype: np.dtype[Any]) -> np.dtype[Any]:
        return ufuncs.compute_dtype(ufunc, dtype)

    def random(self, kind: str, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> Tensor:
        host()  # creates the first tensor in this thread: see `core.host`
        with tf.init_scope():
            if self._generator is None:
                self._generator = tf.random.Generator.from_non_deterministic_state()
        draw = {"normal": self._generator.normal, "uniform": self._generator.uniform}[kind]
        if device is None:
            return draw(shape, dtype=tf.as_dtype(dtype))
        with tf.device(device):
            return draw(shape, dtype=tf.as_dtype(dtype))

    def seed(self, n: int) -> None:
        with tf.init_scope():
            if self._generator is None:
                self._generator = tf.random.Generator.from_seed(n)
            else:
                self._generator.reset_from_seed(n)


def _receive(wrapper: Any, backend: Any) -> None:
    """Register the class of arrays and its subclasses with TensorFlow as nests of tensors, which TensorFlow's transforms flatten and
    rebuild.

    ``tf.nest`` uses ``__tf_flatten__`` and ``__tf_unflatten__`` (``tensorflow/python/util/custom_nest_protocol.py``, from
    2.13); ``GradientTape``, ``vectorized_map``, ``while_loop`` and ``tf.data`` use ``tf.nest``. ``tf.function`` first uses
    ``__tf_tracing_type__``; of an object without that it would convert anything with ``__array__`` to a tensor.
    """

    def apart(a: Any) -> tuple[Any, tuple[Any, ...]]:
        return a._kind.home, (a.native,)

    def together(cls: Any, kind: Any, leaves: tuple[Any, ...]) -> Any:
        (leaf,) = leaves
        if isinstance(leaf, wrapper):  # in a Jacobian, the array of each result holds an array shaped as the argument
            return leaf
        if not backend.is_native(leaf):  # a transform may put any object there
            return cls._holding(leaf, kind)
        # A scalar keeps its class too, even if TensorFlow has stacked it: TensorFlow compares the classes before and after.
        return wrapper._holding(leaf, kind.of(backend.dtype_of(leaf)))

    def traced(a: Any, context: Any) -> Any:
        value = a.native
        if not backend.is_native(value):
            return tf.TensorSpec(a.shape, tf.as_dtype(a.dtype))
        return CustomNestTraceType(type(a), a._kind.home, (value.__tf_tracing_type__(context),))

    wrapper.__tf_flatten__, wrapper.__tf_unflatten__ = apart, classmethod(together)
    wrapper.__tf_tracing_type__ = traced


def _leave(wrapper: Any) -> None:
    """Unregister arrays as nests; TensorFlow then treats them as ndarrays, through ``__array__``."""
    for name in ("__tf_flatten__", "__tf_unflatten__", "__tf_tracing_type__"):
        if name in vars(wrapper):
            delattr(wrapper, name)
