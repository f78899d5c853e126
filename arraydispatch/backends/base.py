"""What a library must offer to be a backend: the whole contract, in one file.

A backend is a package ``arraydispatch/backends/<name>/`` whose ``__init__.py`` defines ``BACKEND``, an instance of a
:class:`Backend` subclass, and which consists of

``backend.py``     the :class:`Backend` subclass: identity, dtypes, devices, conversion (this file's class);
``primitives.py``  a module with one function for each name in :data:`PRIMITIVES`, strict and small;
``ufuncs.py``      the tables ``UFUNCS``, ``REDUCE``, ``ACCUMULATE``: NumPy ufunc object -> kernel;
``transforms.py``  a module with one function for each name in :data:`TRANSFORMS`, loaded when first used;
``sparse.py``      its sparse matrices, see :attr:`Backend.sparse`, loaded when first used;
``overrides.py``   (optional) ``OVERRIDES``: NumPy function object -> code for this library alone, each citing why.

Primitives are strict: NumPy's argument handling (negative axes, ``dtype=``, ``where=``, ``initial=``, ``out=``,
promotion, error messages) is written once above them. They see native arrays only, already of the right dtype.
Where a library cannot do a thing, a primitive or a kernel raises :class:`Unsupported` with the reason, and the call
goes to the host by policy. Nothing else is caught.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, partial
from types import ModuleType
from typing import Any, ClassVar, Self

import numpy as np

from ..common.process_state import process
from .devices import Device

Native = Any
"""An array of the backend's library (or a tracer of it)."""


_UNROLLED = 200
"""Steps of a loop that is written out, because the library has none under a trace."""


def bytes_in(said: str) -> int:
    """The number of bytes in what a library says of memory that it did not get; 0 if there is none."""
    found = re.search(r"allocat\w* (?:[a-z ]*?)([\d.]+) ?(bytes|[KMGT]i?B)", said)
    if found is None:
        return 0
    return int(float(found[1]) * 1024 ** "bKMGT".index(found[2][0]))


class Unsupported(Exception):
    """Raised by a primitive or a kernel: the library cannot do this, because (the message)."""


class Kind:
    """A backend together with a dtype: the flyweight that every array carries and every plan is keyed by."""

    __slots__ = ("backend", "dtype", "join", "product", "scalar", "standard", "whole")

    def __init__(self, backend: Backend, dtype: np.dtype[Any], standard: bool = False) -> None:
        self.backend = backend
        self.dtype = dtype
        self.standard = standard
        """Whether 0-d results of arrays of this kind are arrays, as the array-API standard has it, and never scalars."""
        self.scalar: Callable[[Native], Any] = (lambda _: None) if standard else backend.scalar_maker(dtype)
        """A 0-d array of this kind as NumPy's own scalar if it is concrete and in host memory, else None."""
        self.whole: dict[Any, Callable[[Any], Any]] = {}
        """NumPy function -> what reduces all of an array of this kind; filled by the dispatch layer."""
        self.join: Callable[[list[Native]], Native] | None = None if backend.hosted else backend.join
        """Joins arrays of this kind and of shapes that fit; None where rules of placement come first."""
        plain = dtype.kind in "fc" and dtype.itemsize > 2 and not (backend.hosted or backend.scoped or backend.deferred)
        self.product: Callable[[Native, Native], Native] | None = backend.prim.matmul if plain else None
        """Matrix products of arrays of this kind; None where more is to decide."""

    @property
    def home(self) -> Kind:
        """The kind of this dtype in the library: itself, but for a value in the host state."""
        return self.backend.home.kind(self.dtype) if self.backend.hosted else self

    def of(self, dtype: np.dtype[Any]) -> Kind:
        """The kind of another dtype with the same rule for 0-d results."""
        return self.backend.standard_kind(dtype) if self.standard else self.backend.kind(dtype)

    def __repr__(self) -> str:
        return f"<{self.backend.name} {self.dtype}{' on the host' if self.backend.hosted else ''}>"


PRIMITIVES: dict[str, str] = {
    # -- making and moving -------------------------------------------------------------------------------------
    "full": "(shape, value, dtype, device) -> array filled with a Python or NumPy scalar",
    "iota": "(n, dtype, device) -> 0, 1, … n-1",
    "astype": "(a, dtype) -> C cast as NumPy's `astype` (float to int truncates, complex to real drops); a itself if equal",
    "copy": "(a) -> the same values in a buffer of their own",
    "view_dtype": "(a, dtype) -> same bits, dtype of the same item size",
    # -- shape -------------------------------------------------------------------------------------------------
    "reshape": "(a, shape) -> C order; may alias",
    "transpose": "(a, perm) -> may alias",
    "broadcast_to": "(a, shape) -> may alias",
    "flip": "(a, axes) -> reversed along the axes",
    "concatenate": "(list of arrays of one dtype, axis)",
    "pad": "(a, [(before, after), …], value) -> constant padding",
    # -- elements ----------------------------------------------------------------------------------------------
    "slice": "(a, key) -> key: one slice per axis with explicit ints; step > 0; may alias",
    "slice_update": "(a, key, value) -> a with a[key] = value (broadcast, same dtype); in place where the library can",
    "gather": "(a, indices) -> a[i0, i1, …]: int64 arrays of one common shape for the leading axes, in bounds, >= 0",
    "scatter": "(a, indices, value, how) -> a with a[i0, …] = value; how: set add multiply maximum minimum; a fresh array or in place",
    "take": "(a, indices, axis) -> indices: int64 of any rank, in bounds, >= 0",
    "take_along_axis": "(a, indices, axis) -> int64, in bounds, >= 0, other axes already equal",
    "nonzero": "(a) -> tuple of int64 arrays (value-dependent)",
    "mask": "(a, mask) -> 1-d array of a[mask], mask of a's shape (value-dependent)",
    "where": "(condition: bool, x, y) -> x and y of one dtype, all broadcast",
    # -- order -------------------------------------------------------------------------------------------------
    "sort": "(a, axis) -> ascending, NaN last; the order of equal values (0.0 and -0.0) is open, as in NumPy",
    "argsort": "(a, axis) -> int64, ascending, NaN last, stable",
    "argmax": "(a, axis) -> int64; first of equals, first NaN wins",
    "argmin": "(a, axis) -> int64; first of equals, first NaN wins",
    "searchsorted": "(sorted 1-d, values, side) -> int64, both of one dtype",
    "bincount": "(x: 1-d int64 >= 0, weights: 1-d float64 or None, length) -> int64, or float64 with weights",
    # -- complex -----------------------------------------------------------------------------------------------
    "real": "(a complex) -> real part",
    "imag": "(a complex) -> imaginary part",
    "complex": "(re, im of one float dtype) -> complex",
    # -- linear algebra (stacks of matrices in the last two axes; float32/64, complex64/128) ---------------------
    "matmul": "(a, b) -> np.matmul on ndim >= 1, one dtype, any numeric dtype",
    "cholesky": "(a) -> lower factor; LinAlgError if not positive definite",
    "qr": "(a, complete: bool) -> (q, r)",
    "svd": "(a, full_matrices) -> (u, s, vh)",
    "svdvals": "(a) -> s, descending",
    "eigh": "(a, lower: bool) -> (w ascending, v), reading one triangle",
    "eigvalsh": "(a, lower: bool) -> w ascending",
    "eig": "(a) -> (w, v), complex",
    "eigvals": "(a) -> w, complex",
    "solve": "(a, b) -> b is (…, n, k); LinAlgError if singular",
    "solve_triangular": "(a, b, lower: bool) -> b is (…, n, k); reads one triangle, whose diagonal has no zeros",
    "lu": "(a square) -> (both factors in one matrix, rows of a in their order: int64); a zero on the diagonal where singular",
    "inv": "(a) -> LinAlgError if singular",
    "slogdet": "(a) -> (sign, logabsdet)",
    "det": "(a)",
    # -- FFT: no padding, 'backward' scaling (1/n on the inverse), complex64/128 ----------------------------------
    "fftn": "(a complex, axes)",
    "ifftn": "(a complex, axes)",
    "rfft": "(a real, axis) -> n//2+1 complex",
    "irfft": "(a complex with n//2+1 entries along axis, n, axis) -> real",
}
"""Name -> signature and meaning. A test holds every backend's ``primitives.py`` against this table."""


TRANSFORMS: dict[str, str] = {
    "differentiate": "(f, primals, once) -> (outs, extra, pull). f(natives) -> (outs, extra), lists of native arrays, is run one time. "
    "once: pull will be called one time. "
    "pull(cotangents, many), or pull(None) of one number -> a list with a gradient for each primal, zeros where nothing depends on it; many: the "
    "cotangents, and the gradients, have a leading axis of many at once. Of a complex z the gradient is dL/dRe + i dL/dIm",
    "jit": "(f, examples) -> f compiled for natives of these shapes and dtypes, run once to be traced: f(natives) -> (outs, extra)",
    "vectorize": "(f, natives, size) -> (outs, extra) with a leading axis of size: f, of natives without theirs, for all at once",
    "loop": "(going, step, state, most) -> the state, a list of native arrays, after step was taken while going (a 0-d bool) holds; "
    "most: so often at most, or None",
    "call_host": "(f, natives, specs) -> native arrays of these (shape, dtype): f takes and returns lists of ndarrays, and is called when "
    "the program runs; f(arrays, n): with n leading axes of examples",
    "with_gradient": "(f, back, natives) -> outs: f(natives) -> (outs, extra); derivatives are back(natives, outs, cotangents)",
    "parameters": "(module) -> name -> native array of what a module of the library learns; None if it is none of the library's",
    "apply": "(module, params, args, kwargs) -> what it returns with these parameters in place of its own",
    "number": "(host, upload) -> what a compiled program takes for a number, a 0-d ndarray: that itself, or upload(host)",
    "signature": "(a) -> what, with the dtype, tells arrays apart that need programs of their own",
    "nests": "(traces) -> whether a compiled function may be called inside these traces; else it runs as part of them",
    "stop_gradient": "(a) -> the same values, constant to every derivative",
}
"""Name -> signature and meaning: what ``backends/<name>/transforms.py`` offers. A test holds every backend against it."""


class Backend:
    """One array library behind one protocol. Also a context manager: ``with ad.backend("torch"):``.

    Class attributes a subclass sets
    --------------------------------
    name : str
        The public name.
    library : str
        The module whose presence means "installed".
    install : str
        The command that installs it.
    mutable : bool
        True where native arrays can be written in place and views of them alias.
    """

    name: ClassVar[str]
    library: ClassVar[str]
    install: ClassVar[str]
    mutable: ClassVar[bool]

    derives_determinants = True
    """Whether derivatives of its determinants are right where a matrix is singular, and the second where singular values are equal."""
    unrolls: ClassVar[bool] = False
    """Whether programs of the library have the steps of a loop one after another, so that their number is to be known."""

    native_views: ClassVar[bool] = False
    """Whether ``a[key]`` of a native array, for a basic key without negative steps, is NumPy's view (and its errors)."""

    native_is_ndarray: ClassVar[bool] = False
    """Whether native arrays are ndarrays, so that they answer for their own views."""

    REFUSALS: ClassVar[tuple[type[Exception], ...]] = (Unsupported,)
    """What is raised of calls that the library does not run: NumPy then does, or says in its own words what is wrong."""
    hosted: ClassVar[bool] = False
    """Whether this is the host state of the arrays of another backend, :attr:`home`."""

    prim: ModuleType
    UFUNCS: dict[Any, Callable[..., Any]]
    REDUCE: dict[Any, Callable[..., Any]]
    ACCUMULATE: dict[Any, Callable[..., Any]]
    OVERRIDES: dict[Any, Callable[..., Any]]
    INPLACE: frozenset[Any] = frozenset()
    """Ufuncs whose kernel takes ``out=`` of the loop's output dtype with the same result."""
    SCALARS: frozenset[Any] = frozenset()
    """Ufuncs whose kernel takes a Python scalar as one operand (32 and 64 bit dtypes) with the same result."""
    MEAN: Callable[[Native], Native] | None = None
    """The mean of all elements (32 and 64 bit floats), where the library's own has the bits of its sum, divided."""

    @cached_property
    def special(self) -> Mapping[str, Callable[..., Any]]:
        """Name of a ufunc of SciPy's -> kernel of real numbers, where the library's own is accurate."""
        return {}

    @cached_property
    def science(self) -> Mapping[str, Callable[..., Any]]:
        """Full name of a function of SciPy's -> code for it in this library alone, as in :attr:`OVERRIDES`."""
        return {}

    HOST_KERNELS: Mapping[Any, str] = {}
    """NumPy function -> why NumPy runs it on the zero-copy view of an array in host memory; not where execution is ``"eager"``."""

    def __init__(self) -> None:
        self._kinds: dict[Any, Kind] = {}
        self._standard_kinds: dict[Any, Kind] = {}
        self.entries: dict[Any, Any] = {}
        """NumPy function -> resolved entry; filled by the registry."""

    resolver: ClassVar[Callable[[Backend], Any]]
    """What makes :attr:`xp`; the registry, which stands above this module, puts its own here."""

    @cached_property
    def xp(self) -> Any:
        """NumPy's functions on this backend's native arrays: :class:`arraydispatch.functions.registry.XP`."""
        return type(self).resolver(self)

    @cached_property
    def transforms(self) -> Any:
        """The module with the library's transforms, one function for each name in :data:`TRANSFORMS`."""
        return importlib.import_module(f"{type(self).__module__.rpartition('.')[0]}.transforms")

    @cached_property
    def sparse(self) -> Any:
        """The module with the library's sparse matrices.

        ``native(places, index, values)`` makes one of a :class:`arraydispatch.sparse.structure.Structure`, whose index arrays
        ``index(name)`` gives as the library has them; ``parts(matrix)`` takes one apart, None of what is none;
        ``matmul(places, index, values, dense)``, in programs and ``vmap`` too if ``TRACES``.
        """
        return importlib.import_module(f"{type(self).__module__.rpartition('.')[0]}.sparse")

    # -- identity ------------------------------------------------------------------------------------------------

    @property
    def home(self) -> Backend:
        """The backend that users see: this one, but for the host state or another variant of it."""
        return self

    @property
    def traced(self) -> Backend:
        """The variant that arrays have inside transforms, where native arrays cannot be written in place; else this one.

        It takes arrays of its :attr:`home` as its own.
        """
        return self

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<Backend {self.name}>"

    def kind(self, dtype: np.dtype[Any]) -> Kind:
        """The flyweight for (self, dtype)."""
        kind = self._kinds.get(dtype)
        if kind is None:
            kind = self._kinds.setdefault(dtype, Kind(self, dtype))  # of several threads' the first stays
        return kind

    def standard_kind(self, dtype: np.dtype[Any]) -> Kind:
        """The flyweight of arrays made by an array-API namespace."""
        kind = self._standard_kinds.get(dtype)
        if kind is None:
            kind = self._standard_kinds.setdefault(dtype, Kind(self, dtype, True))
        return kind

    @property
    def module(self) -> ModuleType:
        """The library itself, for native functions: ``torch``, ``jax.numpy``, ``tensorflow``, ``numpy``."""
        raise NotImplementedError

    @property
    def version(self) -> str:
        """Version of the installed library."""
        raise NotImplementedError

    def is_native(self, value: object) -> bool:
        """True for this library's arrays, variables and tracers."""
        raise NotImplementedError

    # -- properties of a native value ------------------------------------------------------------------------------

    def dtype_of(self, a: Native) -> np.dtype[Any]:
        """NumPy's dtype of a native array (ml_dtypes' for bfloat16)."""
        raise NotImplementedError

    def kind_of(self, a: Native) -> Kind:
        """The :class:`Kind` of a native array."""
        return self.kind(self.dtype_of(a))

    def holds(self, dtype: np.dtype[Any]) -> bool:
        """Whether the library has this dtype at all."""
        raise NotImplementedError

    def shape_of(self, a: Native) -> tuple[int, ...]:
        """Shape as a tuple of ints."""
        raise NotImplementedError

    def device_of(self, a: Native) -> Any:
        """The library's own device object of an array (None for a tracer): what primitives take as ``device``."""
        raise NotImplementedError

    def strides_of(self, a: Native) -> tuple[int, ...] | None:
        """Strides in elements where the library has them, None for C-contiguous libraries."""
        return None

    keeps_order: Callable[..., bool] | None = None
    """Where the library gives the result of an elementwise call a memory order: whether, of these operands, it is NumPy's."""

    def offset_of(self, a: Native) -> int:
        """Offset in elements of a native view into its buffer, where native arrays have views."""
        return 0

    def is_concrete(self, a: Native) -> bool:
        """False for a tracer: its value is not known now."""
        return True

    def recorded(self, a: Native) -> bool:
        """Whether a derivative in progress depends on the array: its value may be known, but looking at it cuts that."""
        return not self.is_concrete(a)

    def followed(self, a: Native) -> bool:
        """As :meth:`recorded`, also where a program is made, or many at once, of what no derivative depends on."""
        return self.recorded(a)

    def staged(self, a: Native) -> bool:
        """Whether it belongs to a program that the library makes of a function, in which all that is computed does."""
        return False

    def is_staging(self) -> bool:
        """Whether the library traces a function in this thread."""
        return False

    def on_cpu(self, a: Native) -> bool:
        """True when the value is concrete and in host memory: scalars of it are NumPy's own."""
        raise NotImplementedError

    # -- conversion ------------------------------------------------------------------------------------------------

    def from_numpy(self, x: np.ndarray[Any, Any], device: Any = None, copy: bool = True) -> Native:
        """A native array on ``device`` (library's own object; None: the default device).

        With ``copy=False`` memory may be shared, where the library can. Raises :class:`Unsupported` for dtypes the
        library has not (object, strings, datetimes, longdouble).
        """
        raise NotImplementedError

    def to_numpy(self, a: Native) -> np.ndarray[Any, Any]:
        """An ndarray of the values; shares memory where the library can (then read-only if the array is immutable)."""
        raise NotImplementedError

    def from_dlpack(self, x: Any) -> Native:
        """A native array sharing the memory of a DLPack exporter; raises what the library raises when it cannot."""
        raise NotImplementedError

    def peek(self, a: Native) -> np.ndarray[Any, Any] | None:
        """The values without a copy, if they are known and in host memory; else None."""
        return self.to_numpy(a) if self.on_cpu(a) else None

    def lent(self, a: Native) -> np.ndarray[Any, Any] | None:
        """The values where NumPy may compute on them in the library's place (not where execution is ``"eager"``); else None.

        They are known, in host memory, and no gradient is recorded of them.
        """
        return self.peek(a) if process.execution != "eager" else None

    def item(self, a: Native) -> Any:
        """A concrete 0-d array as NumPy's own scalar."""
        return self.to_numpy(a)[()]

    def scalar_maker(self, dtype: np.dtype[Any]) -> Callable[[Native], Any]:
        """See :attr:`Kind.scalar`."""
        item, on_cpu = self.item, self.on_cpu
        return lambda a: item(a) if on_cpu(a) else None

    @property
    def survives_fork(self) -> bool:
        """Whether the library still works in a forked process, where it has none of its threads. In the fork the answer is the same."""
        return True

    def synchronize(self, *arrays: Native) -> None:
        """Wait until the arrays (all of the library's work, if none are given) are computed."""

    # -- devices, options -------------------------------------------------------------------------------------------

    def devices(self) -> list[Device]:
        """Every device of the library here, the default one first."""
        raise NotImplementedError

    def to_device(self, a: Native, device: Device) -> Native:
        """The array on another device of this library."""
        raise NotImplementedError

    OPTIONS: ClassVar[dict[str, str]] = {}
    """Name -> meaning of each option of ``ad.use(name, **options)``."""

    def configure(self, **options: Any) -> None:
        """Apply options (already checked against :attr:`OPTIONS`); raise where one can no longer change."""

    @property
    def threads(self) -> int:
        """Threads that one operation uses on the CPU."""
        return 1

    def use_threads(self, n: int) -> None:
        """Use so many threads from now on; raises RuntimeError where the library has started with another number."""

    waits_busily: ClassVar[bool] = False
    """Whether threads of the library wait for each other without a pause: where others keep the processors busy, one that is not
    let run holds up the rest, and a tenth of the speed is left."""

    @property
    def capabilities(self) -> frozenset[str]:
        """Features by name: ``"jit" "grad" "vmap" "sparse" "float64" "bfloat16" "mutable" …``."""
        raise NotImplementedError

    def supports(self, feature: str) -> bool:
        """True if ``feature`` is a capability, a primitive, or a NumPy function this backend runs itself."""
        raise NotImplementedError

    # -- hooks ------------------------------------------------------------------------------------------------------

    scoped: ClassVar[bool] = False
    """Whether :attr:`scope` is ever not None."""

    @property
    def scope(self) -> Callable[[], AbstractContextManager[Any]] | None:
        """Entered around each dispatched call when not None (64-bit types on a library that hides them)."""
        return None

    def within(self) -> AbstractContextManager[Any]:
        """The scope, or a context that does nothing."""
        scope = self.scope
        return nullcontext() if scope is None else scope()

    @cached_property
    def join(self) -> Callable[[list[Native]], Native]:
        """The arrays of a list, of one dtype and of shapes that fit, one after the other along the first axis."""
        concatenate = self.prim.concatenate

        def run(arrays: list[Native]) -> Native:
            return concatenate(arrays, 0)

        return self.in_scope(run) if self.scoped else run

    def in_scope(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """A function on native arrays that runs in the scope, and waits until there is memory for its result, if it has any."""

        def inside(*natives: Any) -> Any:
            with self.within():
                made = run(*natives)
            if self.deferred and made is not None:
                self.obtained(*(made if type(made) is tuple else (made,)))
            return made

        return inside

    def dlpack(self, a: Native, **kwargs: Any) -> Any:
        """A DLPack capsule of a native array; keywords as ``__dlpack__`` has them."""
        return self.shareable(a).__dlpack__(**kwargs)

    def dlpack_device(self, a: Native) -> tuple[int, int]:
        """As ``__dlpack_device__``."""
        device: tuple[int, int] = a.__dlpack_device__()
        return device

    def after_fork(self) -> None:
        """Called in a forked process."""

    def adopt_wrapper(self, wrapper: type) -> None:
        """Teach the library to take ``wrapper`` (which has ``.native``), and its subclasses so far, in its own functions."""

    def take_for_ndarrays(self, wrapper: type, so: bool) -> None:
        """Whether the library takes arrays for ndarrays, as it is to while a launcher runs, or for what they hold."""

    def fill(self, a: Native, value: Native) -> None:
        """Overwrite ``a`` in place with ``value`` of its shape and dtype. Mutable backends only."""
        raise NotImplementedError

    def gone(self, error: Exception) -> bool:
        """Whether the library says that a buffer was given away: another thread wrote the array meanwhile."""
        return False

    def mended(self, error: Exception) -> bool:
        """Whether the library had not got over an interrupted call, and now has: what failed is to be done again."""
        return False

    deferred: ClassVar[bool] = False
    """Whether the library returns before it has memory for the result: what has none is then an error of who reads it."""

    def obtained(self, *values: Native) -> None:
        """Wait until there is memory for results that are large; raises what the library raises. Where `deferred`."""

    def refused_bytes(self, error: Exception) -> int | None:
        """The size in the library's error that there was no memory for, 0 if it does not say; None of another error."""
        return None

    def successor(self, a: Native) -> Native | None:
        """What was made in the buffer of an array that this thread gave away last, or None."""
        return None

    def kept(self) -> None:
        """The successor is kept: nobody will ask for it."""

    def slice_update(self, a: Native, key: tuple[slice, ...], value: Native, donate: bool) -> Native:
        """The primitive; ``donate``: nobody else can see the buffer of ``a``, which may be reused."""
        return self.prim.slice_update(a, key, value)

    def strided(self, a: Native, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Native:
        """An aliasing view of a mutable native array, in elements from its first one; no negative strides."""
        raise NotImplementedError

    def value_of(self, a: Native) -> Native:
        """A native array that is handed in: of what the library lets change behind an array, the value that it has now."""
        return a

    def is_lazy(self, a: Native) -> bool:
        """Whether the memory of a mutable native array holds other values than the array has, which are computed when read."""
        return False

    def check_writeable(self, a: Native) -> None:
        """Raise ValueError if the library does not let a native array be written. Mutable backends only."""

    def shareable(self, a: Native) -> Native:
        """The array itself, or a copy if another library would misread its memory."""
        return a

    def shares_with_host(self, a: Native) -> bool:
        """Whether what is written to :meth:`to_numpy` of an array is written to the array."""
        return False

    def is_view(self, a: Native) -> bool:
        """Whether a native array is the library's own view of another. Of use where :attr:`traced` is another backend."""
        return False

    def may_share(self, a: Native, b: Native) -> bool:
        """Whether two native arrays may share memory."""
        return True

    def compute_dtype(self, ufunc: np.ufunc, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """The dtype in which the library computes a loop whose own dtype has no kernel; ``dtype`` itself if it has."""
        return dtype

    def kernel(self, ufunc: np.ufunc, dtype: np.dtype[Any], scalars: bool = False) -> Callable[..., Any]:
        """The leanest exact kernel of a row for operands of ``dtype``; ``scalars``: one of them is a Python scalar."""
        return self.UFUNCS[ufunc]

    def fused(self, body: Callable[..., Any]) -> Callable[..., Any]:
        """A long body over ``xp`` as one kernel, where the library has a compiler that is at hand in eager calls."""
        return partial(body, self.xp)

    def loop(
        self,
        going: Callable[..., Native],
        step: Callable[..., tuple[Native, ...]],
        state: tuple[Native, ...],
        most: int,
    ) -> tuple[Native, ...]:
        """``step`` while ``going`` (an array of bools) holds anywhere, at most so often, on values not known yet."""
        for _ in range(min(most, _UNROLLED)):
            state = step(*state)
        return state

    def whole(self, ufunc: np.ufunc, dtype: np.dtype[Any]) -> Callable[[Native], Native]:
        """The leanest kernel that reduces all of an array (not empty, if the ufunc has no identity) of ``dtype`` to a 0-d array of that dtype."""
        kernel, every = self.REDUCE[ufunc], [tuple(range(n)) for n in range(65)]
        return lambda a: kernel(a, every[a.ndim], False)

    def random(self, kind: str, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> Native:
        """``"normal"`` (standard) or ``"uniform"`` ([0, 1)) numbers from the library's own generator."""
        raise NotImplementedError

    def seed(self, n: int) -> None:
        """Seed the library's own generator."""
        raise NotImplementedError

    # -- settings are pushed by the layer above ---------------------------------------------------------------------

    _enter: ClassVar[Callable[[Backend], Any]]
    _exit: ClassVar[Callable[[Backend], None]]

    def __enter__(self) -> Self:
        type(self)._enter(self)
        return self

    def __exit__(self, *exc: object) -> None:
        type(self)._exit(self)
