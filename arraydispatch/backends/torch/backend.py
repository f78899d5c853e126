"""PyTorch backend: identity, dtypes, devices, conversion."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.utils import _pytree as pytree

from ...backends.kinds import Kind
from ...common import buffers, tracing
from ...common.errors import NoBackendFoundError, SettingError
from ...common.pytrees import mapped
from ..base import Backend, Unsupported, bytes_in, collect
from ..devices import Device, host_memory
from . import functional_primitives, linalg, primitives, reductions, ufuncs
from .dtype_tables import (
    BFLOAT16,
    FROM_NUMPY,
    TO_NUMPY,
    compiling,
    concrete,
    innermost_transform,
    may_alias,
    out_of_transforms,
)
from .host_kernels import HOST_KERNELS, LEFT_TO_NUMPY

_INT32: np.dtype[Any] = np.dtype(np.int32)
_INT64: np.dtype[Any] = np.dtype(np.int64)
_WIDER: dict[np.dtype[Any], np.dtype[Any]] = {np.dtype(np.uint16): _INT32, np.dtype(np.uint32): _INT64}
_UINT64 = np.dtype(np.uint64)
_FLOAT16, _FLOAT32 = np.dtype(np.float16), np.dtype(np.float32)

_ANY_UNSIGNED = frozenset(
    {
        np.multiply, np.equal, np.not_equal, np.positive, np.conjugate, np.signbit,
        np.bitwise_and, np.bitwise_or, np.bitwise_xor,
    }
)  # fmt: skip
"""Ufuncs whose kernel accepts uint16, uint32 and uint64 unconverted."""

_INSTEAD = {
    "DTensor": "x.full_tensor() is the whole array, x.to_local() this process's part; over several devices arrays are split with JAX",
    "MaskedTensor": "x.to_tensor(value) is an array with a value at each masked place",
    "NestedTensor": "x.unbind() are its arrays, x.to_padded_tensor(value) is one of them all",
}
"""Advice for tensors that :func:`_strided` refuses, by the name of their class: the classes' modules may not be imported."""
_ANSWERS = Tensor.__torch_dispatch__


def _strided(a: Tensor) -> Tensor:
    """Return a tensor if its elements are strided in one memory, as NumPy's functions and views require.

    Raises
    ------
    NoBackendFoundError
        For a sparse or nested tensor, or one of a class with its own computation (``__torch_dispatch__``): PyTorch's own functions
        would read memory without elements, or refuse.
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


class TorchBackend(Backend):
    """Backend of PyTorch: mutable tensors with strides, on the CPU, CUDA, MPS or XPU."""

    name = "torch"
    library = "torch"
    install = "pip install 'torch>=2.13'"
    mutable = True
    unrolls = True
    derives_determinants = False
    native_views = True

    OPTIONS: ClassVar[dict[str, str]] = {
        "num_threads": "threads torch uses within one operation on the CPU",
        "compiler": "what compiles programs of ad.jit: a backend of torch.compile ('inductor'), or 'eager'",
        "deterministic": "whether torch uses deterministic algorithms only, and raises where it has none",
    }

    prim = collect(primitives, linalg)
    UFUNCS = ufuncs.UFUNCS
    REDUCE = ufuncs.REDUCE
    ACCUMULATE = ufuncs.ACCUMULATE
    SCALARS = ufuncs.SCALARS
    INPLACE = ufuncs.INPLACE
    CPU = torch.device("cpu")
    MEAN = staticmethod(reductions.mean)
    ADDS = staticmethod(torch.sum)
    HOST_KERNELS = HOST_KERNELS
    LEFT_TO_NUMPY = LEFT_TO_NUMPY
    MULTIPLIES_FROM = 1 << 19

    def __init__(self) -> None:
        super().__init__()
        self._pytrees: set[type] = set()
        self._by_dtype: dict[torch.dtype, Kind] = {}
        self._elsewhere = torch.accelerator.is_available()
        self._generators: dict[torch.device, torch.Generator] = {}
        self._seed: int | None = None

    @property
    def module(self) -> ModuleType:
        return torch

    @property
    def version(self) -> str:
        return str(torch.__version__)

    is_native = staticmethod(partial(type.__instancecheck__, Tensor))  # isinstance without a Python frame

    # -- properties of a native value ------------------------------------------------------------------------------

    def dtype_of(self, a: Tensor) -> np.dtype[Any]:
        return TO_NUMPY[a.dtype]

    def holds(self, dtype: np.dtype[Any]) -> bool:
        return dtype in FROM_NUMPY

    def shape_of(self, a: Tensor) -> tuple[int, ...]:
        return tuple(a.shape)

    def device_of(self, a: Tensor) -> torch.device:
        return a.device

    def strides_of(self, a: Tensor) -> tuple[int, ...]:
        return a.stride()

    def keeps_order(self, *operands: Any) -> bool:
        # torch follows the first operand that has a memory order; NumPy returns C order if any operand is in C order.
        # For repeated elements the rules differ too.
        for x in operands:
            if isinstance(x, Tensor) and not x.is_contiguous():
                break
        else:
            return True
        tensors = [x for x in operands if isinstance(x, Tensor) and x.ndim > 1]
        if all(x.is_contiguous() for x in tensors):
            return True
        strides = tensors[0].stride()
        return 0 not in strides and all(x.stride() == strides and x.shape == tensors[0].shape for x in tensors[1:])

    def offset_of(self, a: Tensor) -> int:
        return a.storage_offset()

    def is_concrete(self, a: Tensor) -> bool:
        """Whether the value is known; False inside ``vmap``, ``grad`` and ``jacobian`` transforms and under the compiler."""
        if concrete(a):
            return True
        tracing.looked()
        return False

    def recorded(self, a: Tensor) -> bool:
        # True also after the `torch.func` transform has ended.
        wrapped = torch._C._functorch.is_functorch_wrapped_tensor(a)
        return wrapped or a.requires_grad or not concrete(a)

    def followed(self, a: Tensor) -> bool:
        return a.requires_grad

    def is_staging(self) -> bool:
        return torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE) is not None

    def on_cpu(self, a: Tensor) -> bool:
        """Whether the value is known and on the CPU; False while a gradient is recorded for it, which a NumPy scalar would cut."""
        return a.is_cpu and not a.requires_grad and concrete(a)

    value_of = staticmethod(_strided)

    def kind_of(self, a: Tensor) -> Kind:
        try:
            return self._by_dtype[a.dtype]
        except KeyError:
            kind = self._by_dtype[a.dtype] = self.kind(self.dtype_of(a))
            return kind

    join = staticmethod(torch.concatenate)  # torch's default axis is the first

    def scalar_maker(self, dtype: np.dtype[Any]) -> Callable[[Tensor], Any]:
        """Return the function for :attr:`Kind.scalar`. It also returns None while a gradient is recorded: a scalar would cut it."""
        make, elsewhere = dtype.type, self._elsewhere

        def scalar(a: Tensor) -> Any:
            if a.requires_grad or (elsewhere and not a.is_cpu):
                return None
            # The first half is `concrete` for nearly all tensors, without the call.
            if (compiling() or type(a) is not Tensor or innermost_transform() is not None) and not concrete(a):
                return None
            return make(a.item())  # 0.1 µs; through an ndarray it takes 0.8 µs

        return scalar

    def item(self, a: Tensor) -> Any:
        value = a.item()  # 0.2 µs; through an ndarray it takes 0.8 µs
        return np.float64(value) if a.dtype is torch.float64 else self.dtype_of(a).type(value)

    # -- conversion ------------------------------------------------------------------------------------------------

    def from_numpy(self, x: np.ndarray[Any, Any], device: Any = None, copy: bool = True) -> Tensor:
        """Convert an ndarray. torch accepts neither negative strides, nor foreign byte order, nor (without a warning)
        read-only memory.
        """
        dtype = FROM_NUMPY.get(x.dtype)
        if dtype is None:
            if not x.dtype.isnative and x.dtype.newbyteorder("=") in FROM_NUMPY:
                return self.from_numpy(x.astype(x.dtype.newbyteorder("=")), device, copy=False)
            raise Unsupported(f"torch has no dtype {x.dtype}")
        if device is None and torch._C._len_torch_function_stack():  # a default device of torch would take effect here
            device = torch.get_default_device()
        moves = device is not None and torch.device(device).type != "cpu"
        itemsize = x.dtype.itemsize
        if (copy and not moves) or not buffers.is_writeable(x) or any(s < 0 or s % itemsize for s in x.strides):
            x = np.array(x, order="K", copy=True, subok=False)
        if x.dtype.char in "qQ":  # C's long long, which torch does not recognize as int64
            x = x.view(np.dtype(x.dtype.str))
        if dtype is torch.bfloat16:
            native = torch.from_numpy(x.view(np.int16)).view(torch.bfloat16)
        else:
            native = torch.from_numpy(x)
        return native.to(device) if moves else native

    def on_memory(self, x: np.ndarray[Any, Any]) -> Tensor | None:
        if not x.flags.behaved or x.dtype not in FROM_NUMPY or x.dtype.char in "qQ":
            return None
        if torch._C._len_torch_function_stack():
            return None
        itemsize = x.dtype.itemsize
        for step in x.strides:
            if step <= 0 or step % itemsize:
                return None
        return torch.from_numpy(x)

    def to_numpy(self, a: Tensor) -> np.ndarray[Any, Any]:
        """Return an ndarray: on the memory of a tensor on the CPU, unless a conjugate or negative bit is set; else a copy."""
        if not concrete(a):
            return self._seen(a)
        with out_of_transforms():
            return self._seen(a)

    @staticmethod
    def _seen(a: Tensor) -> np.ndarray[Any, Any]:
        if a.requires_grad:
            a = a.detach()
        if not a.is_cpu:
            a = a.cpu()
        if a.is_conj() or a.is_neg():
            a = a.resolve_conj().resolve_neg()
        if a.dtype is torch.bfloat16:
            return a.view(torch.int16).numpy().view(BFLOAT16)
        return a.numpy()

    def peek(self, a: Tensor) -> np.ndarray[Any, Any] | None:
        """Return the values without a copy; None where torch refuses: for other devices, recorded gradients, wrappers of
        transforms and conjugate bits.
        """
        try:
            return a.numpy()
        except (RuntimeError, TypeError):
            return None

    def check_writeable(self, a: Tensor) -> None:
        """Raise ValueError for a leaf that requires grad, or a view of one, for which torch would raise RuntimeError inside a kernel."""
        if a.requires_grad and torch.is_grad_enabled():
            origin = a if a._base is None else a._base
            if origin.is_leaf:
                raise ValueError(
                    "this tensor is a leaf that requires grad, which torch does not let be written: "
                    "write under `with torch.no_grad():`, or to a copy, `x.copy()`"
                )

    def shareable(self, a: Tensor) -> Tensor:
        """Return a tensor without the conjugate bit, which DLPack refuses, and the negative bit, which DLPack silently drops."""
        return a.resolve_conj().resolve_neg() if a.is_conj() or a.is_neg() else a

    def refused_bytes(self, error: Exception) -> int | None:
        if isinstance(error, torch.OutOfMemoryError) or (
            isinstance(error, RuntimeError) and "tried to allocate" in str(error)
        ):
            return bytes_in(str(error))
        return None

    def shares_with_host(self, a: Tensor) -> bool:
        return a.is_cpu and not a.requires_grad and not a.is_conj() and not a.is_neg()

    def from_dlpack(self, x: Any) -> Tensor:
        if isinstance(x, np.ndarray) and any(stride < 0 for stride in x.strides):
            raise BufferError("torch does not support negative strides")  # its own importer ends the process
        return torch.from_dlpack(x)

    @property
    def survives_fork(self) -> bool:
        # A fork does not survive once CUDA is used: CUDA cannot be restarted in the child.
        return not (torch.cuda.is_initialized() or torch.cuda._is_in_bad_fork())

    def synchronize(self, *arrays: Tensor) -> None:
        devices = {a.device for a in arrays}
        if not arrays:
            devices = {d.native for d in self.devices()}
        for device in devices:
            if device.type == "cuda":
                torch.cuda.synchronize(device)
            elif device.type == "mps":
                torch.mps.synchronize()
            elif device.type == "xpu":
                torch.xpu.synchronize(device)

    # -- devices, options -------------------------------------------------------------------------------------------

    def devices(self) -> list[Device]:
        """Return torch's default device, then the CPU and the other devices."""
        found = [Device("torch", "cpu", "CPU", host_memory(), os.cpu_count() or -1, "CPU", torch.device("cpu"))]
        for kind, library in (("cuda", torch.cuda), ("xpu", torch.xpu)):
            if library.is_available():
                for i in range(library.device_count()):
                    about = library.get_device_properties(i)
                    cores = getattr(about, "multi_processor_count", getattr(about, "max_compute_units", -1))
                    name = f"{kind}:{i}"
                    found.append(
                        Device("torch", name, "GPU", about.total_memory, cores, about.name, torch.device(name))
                    )
        if torch.backends.mps.is_available():
            memory = torch.mps.recommended_max_memory()
            found.append(Device("torch", "mps", "GPU", memory, -1, "Apple GPU", torch.device("mps")))
        default = torch.get_default_device()
        found.sort(key=lambda d: d.native.type != default.type or (default.index or 0) != (d.native.index or 0))
        return found

    def to_device(self, a: Tensor, device: Device) -> Tensor:
        return a.to(device.native)

    def configure(self, **options: Any) -> None:
        if (threads := options.get("num_threads")) is not None:
            torch.set_num_threads(int(threads))
        if (compiler := options.get("compiler")) is not None:
            known = [*torch.compiler.list_backends(), "eager"]
            if compiler not in known:
                raise SettingError(f"torch has no compiler {compiler!r}; choose one of: {', '.join(known)}.")
            self.transforms.compiler = compiler
        if (deterministic := options.get("deterministic")) is not None:
            torch.use_deterministic_algorithms(bool(deterministic))

    @property
    def threads(self) -> int:
        """Return the number of threads of operations that this thread calls; OpenMP has a number for each calling thread."""
        return torch.get_num_threads()

    def use_threads(self, n: int) -> None:
        torch.set_num_threads(n)

    # -- hooks ------------------------------------------------------------------------------------------------------

    def adopt_wrapper(self, wrapper: type) -> None:
        """Give the wrapper ``__torch_function__``, by which torch's functions treat an array as the tensor inside, and register it as a
        pytree.
        """

        def bare(value: Any) -> Any:
            if isinstance(value, wrapper):
                native = value.native  # type: ignore[attr-defined]
                return native if self.is_native(native) else self.from_numpy(native)
            return value

        def __torch_function__(cls: type, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return func(*mapped(bare, tuple(args)), **mapped(bare, kwargs or {}))

        wrapper.__torch_function__ = classmethod(__torch_function__)  # type: ignore[attr-defined]
        for cls in {wrapper, *wrapper.__subclasses__()} - self._pytrees:
            self._pytrees.add(cls)
            if not getattr(cls, "stands_for_ndarray", False):
                self._register(cls, wrapper)

    def _register(self, cls: Any, wrapper: Any) -> None:
        """Register a class as a pytree of its native array; torch's transforms flatten and rebuild it."""

        def together(leaves: Any, kind: Kind) -> Any:
            (leaf,) = leaves
            if isinstance(leaf, wrapper):
                # In a Jacobian, the array of each result holds an array shaped as the argument.
                return leaf
            if not isinstance(leaf, Tensor):  # a transform may put any object there
                return cls._holding(leaf, kind)
            return (wrapper if leaf.ndim else cls)._holding(leaf, kind.of(self.dtype_of(leaf)))

        pytree.register_pytree_node(
            cls,
            lambda a: ([a.native], a._kind.home),
            together,
            serialized_type_name=f"{cls.__module__}.{cls.__qualname__}",
        )

    def after_fork(self) -> None:
        torch.set_num_threads(1)  # OpenMP's threads do not survive a fork; torch's own data loaders do this too

    def fill(self, a: Tensor, value: Tensor) -> None:
        a.copy_(value.clone() if may_alias(a, value) else value)

    def strided(self, a: Tensor, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Tensor:
        return a.as_strided(shape, strides, a.storage_offset() + offset)

    def is_lazy(self, a: Tensor) -> bool:
        """Whether the conjugate or the negative bit is set."""
        return bool(a.is_conj() or a.is_neg())

    def is_view(self, a: Tensor) -> bool:
        return bool(a._is_view())

    def may_share(self, a: Tensor, b: Tensor) -> bool:
        return may_alias(a, b)

    def compute_dtype(self, ufunc: np.ufunc, dtype: np.dtype[Any]) -> np.dtype[Any]:
        wide = _WIDER.get(dtype)
        if wide is not None and ufunc not in _ANY_UNSIGNED:
            return _INT64 if ufunc is np.lcm else wide  # the multiple of two uint16 needs 32 unsigned bits
        if dtype == _UINT64 and ufunc in ufuncs.RING:
            return _INT64
        if dtype == _FLOAT16 and ufunc is np.floor_divide:
            return _FLOAT32  # torch rounds the quotient to 16 bits before floor
        return dtype

    def kernel(self, ufunc: np.ufunc, dtype: np.dtype[Any], scalars: bool = False) -> Any:
        """Return the leanest exact kernel of a ufunc for operands of ``dtype`` (as :meth:`compute_dtype` names it); None if there is none.

        :attr:`UFUNCS` holds one kernel for all dtypes. The kernel returned here may be torch's own function, and only the kernel returned
        here has correct complex sums for infinities. ``scalars``: whether one operand is a Python scalar.
        """
        return ufuncs.kernel_for(ufunc, dtype, scalars)

    def whole(self, ufunc: np.ufunc, dtype: np.dtype[Any]) -> Callable[[Tensor], Tensor]:
        if ufunc is np.add and dtype.kind == "f":
            return torch.sum
        return super().whole(ufunc, dtype)

    def total(self, a: Tensor) -> Tensor | None:
        return reductions.total(a)

    def random(self, kind: str, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> Tensor:
        make = {"normal": torch.randn, "uniform": torch.rand}[kind]
        where = torch.get_default_device() if device is None else torch.device(device)
        return make(shape, dtype=FROM_NUMPY[dtype], device=where, generator=self._generator(where))

    def _generator(self, device: torch.device) -> torch.Generator:
        generator = self._generators.get(device)
        if generator is None:
            generator = torch.Generator(device)
            if self._seed is None:
                generator.seed()
            else:
                generator.manual_seed(self._seed)
            generator = self._generators.setdefault(device, generator)
        return generator

    def seed(self, n: int) -> None:
        self._seed = n
        for generator in list(self._generators.values()):
            generator.manual_seed(n)


class TracedTorch(TorchBackend):
    """Variant of the torch backend for arrays while a transform runs: the same kernels, on tensors that are never written."""

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
        """Return None: the ghost has the memory order, as on every immutable backend."""
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
