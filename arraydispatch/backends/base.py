"""The backend contract: everything that a library must provide, in one file.

A backend is a package ``arraydispatch/backends/<name>/`` whose ``__init__.py`` defines ``BACKEND``, an instance of a
:class:`Backend` subclass, and which consists of

``backend.py``     the :class:`Backend` subclass: identity, dtypes, devices, conversion (this file's class);
``primitives.py``  and ``linalg.py``: modules with one function for each name in :data:`PRIMITIVES`, strict and small;
``ufuncs.py``      the tables ``UFUNCS``, ``REDUCE``, ``ACCUMULATE``: NumPy ufunc object -> kernel;
``transforms.py``  a module with one function for each name in :data:`TRANSFORMS`, loaded when first used;
``sparse.py``      its sparse matrices, see :attr:`Backend.sparse`, loaded when first used;
``overrides.py``   (optional) ``OVERRIDES``: NumPy function object -> code for this library alone. ``backends/numpy`` alone has one.

Differences between a library and NumPy are corrected in its primitives and kernels; a comment there says why and links the issue.

Primitives are strict: NumPy's argument handling (negative axes, ``dtype=``, ``where=``, ``initial=``, ``out=``,
promotion, error messages) is written once above them. They get native arrays only, already of the right dtype. If a
library cannot compute something, a primitive or a kernel raises :class:`Unsupported` with the reason, and the call goes
to the host by policy. Apart from these, only the errors in :attr:`Backend.REFUSALS` are caught.
"""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np

from ..common.lazy_attributes import lazy
from ..common.process_state import process
from ..common.signal_safety import imported
from .devices import Device
from .features import FEATURES, has_module
from .kinds import Kind

Native = Any
"""Array of the backend's library (or a tracer of it)."""


Box = tuple[slice, ...]
"""Position of a subarray: one slice for each axis, with both ends and no step."""

_INT64 = np.dtype(np.int64)
_UNROLLED = 200
"""Largest number of loop steps that are unrolled, for libraries without a loop under a trace."""


def bytes_in(said: str) -> int:
    """Return the number of bytes named in a library's out-of-memory message; 0 if the message names none."""
    found = re.search(r"allocat\w* (?:[a-z ]*?)([\d.]+) ?(bytes|[KMGT]i?B)", said)
    if found is None:
        return 0
    return int(float(found[1]) * 1024 ** "bKMGT".index(found[2][0]))


class LeftToNumPy(Exception):
    """Raised if NumPy should run a call although the library may be able to; the message is the reason.

    Only the code that runs host calls catches it.
    """


class Unsupported(LeftToNumPy):
    """Raised by a primitive or a kernel for a call that the library cannot compute; the message is the reason.

    Code that knows another way to compute the call catches this.
    """


_NO_SCOPE = nullcontext()

PRIMITIVES: dict[str, str] = {
    # -- creation and conversion --------------------------------------------------------------------------------
    "full": "(shape, value, dtype, device) -> array filled with a Python or NumPy scalar",
    "iota": "(n, dtype, device) -> 0, 1, … n-1",
    "astype": "(a, dtype) -> C cast as NumPy's `astype` (float to int truncates, complex to real drops); a itself if it has the dtype",
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
    "argsort": "(a, axis, stable=True) -> int64, ascending, NaN last; equal elements keep their order if stable, else have any",
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
"""Name -> signature and meaning. A test checks every backend against this table."""


def collect(*modules: ModuleType) -> SimpleNamespace:
    """Collect the primitives of a backend: each name of :data:`PRIMITIVES` from the first module that has it.

    ``scatter_donated`` is optional: a ``scatter`` that overwrites its target, which is not read afterwards.
    """
    every = ChainMap(*map(vars, modules))
    donating = {name: every[name] for name in ("scatter_donated",) if name in every}
    return SimpleNamespace(**{name: every[name] for name in PRIMITIVES}, **donating)


def appending(
    compiled: Callable[[list[Native]], tuple[list[Native], Any] | None],
) -> Callable[[list[Native], list[list[Native]]], None]:
    """Return ``run(natives, made)``, as ``program`` (see :data:`TRANSFORMS`) must, from a function that the transform ``jit`` has compiled."""

    def run(natives: list[Native], made: list[list[Native]]) -> None:
        results = compiled(natives)
        assert results is not None
        made.append(results[0])

    return run


TRANSFORMS: dict[str, str] = {
    "differentiate": "(f, primals, once) -> (outs, extra, pull). f(natives) -> (outs, extra), lists of native arrays, is run one time. "
    "once: pull will be called one time. "
    "pull(cotangents, many), or pull(None) if outs is one number -> a list with a gradient for each primal, zeros if no out depends on it; "
    "many: whether the cotangents, and the gradients, have a leading axis, for many pulls at once. For a complex z the gradient is "
    "dL/dRe + i dL/dIm",
    "jit": "(f, examples) -> f compiled for natives of these shapes and dtypes, run once to be traced: f(natives) -> (outs, extra), "
    "or None if f itself has to run",
    "abstract": "(f, specs, device) -> (shape, dtype) of each native array in the list that f returns of natives of these (shape, dtype), without "
    "values",
    "program": "(f, specs, device, spare) -> run(natives, made): runs f compiled, and appends the list of its results, native arrays, to "
    "the list made; a 0-d operand may be a NumPy scalar; spare: the indices of operands whose buffers may be overwritten. run.cost(): "
    "bytes accessed and operations by the compiler's own analysis, or the number of kernels, where the library has such figures",
    "vectorize": "(f, natives, size) -> (outs, extra) with a leading axis of length size: f for each index of the natives' leading axes",
    "loop": "(going, step, state, most) -> the state, a list of native arrays, after step was applied while going(state), a 0-d bool, "
    "holds; most: the maximum number of steps, or None",
    "call_host": "(f, natives, specs) -> native arrays of these (shape, dtype): f takes and returns lists of ndarrays, and is called when "
    "the program runs; f(arrays, n): with n leading axes of examples",
    "with_gradient": "(f, back, natives) -> outs: f(natives) -> (outs, extra); derivatives are back(natives, outs, cotangents)",
    "parameters": "(module) -> dict of name -> native array: the parameters that a module of the library learns; None for any other object",
    "apply": "(module, params, args, kwargs) -> the module's result with these parameters in place of its own",
    "number": "(host, upload) -> a compiled program's operand for a number, given as the 0-d ndarray host: host itself, or upload(host)",
    "signature": "(a) -> a key that, with the dtype, differs between arrays that need different programs",
    "nests": "(traces) -> whether a compiled function may be called inside these traces; if not, it runs as part of them",
    "stop_gradient": "(a) -> the same values, constant to every derivative",
}
"""Name -> signature and meaning of the functions in ``backends/<name>/transforms.py``. A test checks every backend
against it.
"""


def _own_of_numpy(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return NumPy's own object for a dtype in place of an equal one, which may have metadata or lack a buffer format."""
    return np.dtype(dtype.str) if dtype.kind in "biufc" and dtype.isnative and dtype.isbuiltin < 2 else dtype


class Backend:
    """Protocol of an array library. An instance is also a context manager: ``with ad.backend("torch"):``.

    Class attributes a subclass sets
    --------------------------------
    name : str
        The public name.
    library : str
        The module whose presence means "installed".
    install : str
        The command that installs it.
    mutable : bool
        True if native arrays can be written in place and views of them alias.
    """

    name: ClassVar[str]
    library: ClassVar[str]
    install: ClassVar[str]
    mutable: ClassVar[bool]

    derives_determinants = True
    """Whether the library's derivatives of determinants are right for singular matrices, and second derivatives for equal singular
    values.
    """
    unrolls: ClassVar[bool] = False
    """Whether programs of the library unroll loops, so that the number of steps must be known."""
    block_comes: ClassVar[int] = 3
    """Occurrence of a block (1, 2, …) at which compiled execution compiles the block: 1 for a library that compiles each call on its own
    anyway.
    """
    most_axes: ClassVar[int] = 64
    """Maximum number of dimensions of arrays in recorded calls: with more, operations of the library fail when they run,
    too late for NumPy to run the call instead.
    """
    donates: ClassVar[bool] = False
    """Whether a program can overwrite donated operands with its results."""

    copies_columns: ClassVar[bool] = False
    """Whether the product of a transposed matrix and a vector copies the matrix first, which takes longer than the product."""

    writes_at_home: bool = False
    """Whether arrays are in the host state, and the ufuncs of the library's :attr:`INPLACE` may write into their memory."""

    native_views: ClassVar[bool] = False
    """Whether ``a[key]`` of a native array, for a basic key without negative steps, is the view and raises the errors of NumPy."""

    native_is_ndarray: ClassVar[bool] = False
    """Whether native arrays are ndarrays, for which NumPy itself decides what is a view."""

    REFUSALS: ClassVar[tuple[type[Exception], ...]] = (LeftToNumPy,)
    """Exceptions by which the library refuses a call. NumPy then runs the call, or raises its own error."""
    hosted: ClassVar[bool] = False
    """Whether this backend is the host state of the arrays of another backend, :attr:`home`."""
    defers: ClassVar[bool] = False
    """Whether this backend is the variant of another backend, :attr:`home`, whose values are computed when they are read."""

    prim: Any
    UFUNCS: dict[Any, Callable[..., Any]]
    REDUCE: dict[Any, Callable[..., Any]]
    ACCUMULATE: dict[Any, Callable[..., Any]]
    OVERRIDES: Mapping[Any, Callable[..., Any]] = {}
    """NumPy function -> code for this library only."""
    INPLACE: frozenset[Any] = frozenset()
    """Ufuncs whose kernel accepts ``out=`` of the loop's output dtype with the same result."""
    ADDS: Callable[[Native], Native] | None = None
    """Function that adds all elements of an array of floats in the library's own threads, with which NumPy's threads would compete; or
    None.
    """
    CPU: Any = None
    """Device with the host's memory, for the kernels of :attr:`INPLACE`."""
    SCALARS: frozenset[Any] = frozenset()
    """Ufuncs whose kernel accepts a Python scalar as one operand (32 and 64 bit dtypes) with the same result."""
    MEAN: Callable[[Native], Native] | None = None
    """Function for the mean of all elements (32 and 64 bit floats), if its result is bit for bit the sum divided by their number; else
    None.
    """

    @lazy
    def special(self) -> Mapping[str, Callable[..., Any]]:
        """Name of a SciPy ufunc -> kernel of real numbers, if the library's own is accurate: ``SPECIAL`` of the module ``special``."""
        if not has_module(self, "special"):
            return {}
        kernels: Mapping[str, Callable[..., Any]] = imported(
            f"{type(self).__module__.rpartition('.')[0]}.special"
        ).SPECIAL
        return kernels

    HOST_KERNELS: Mapping[Any, str] = {}
    """NumPy function -> reason why NumPy runs it on the zero-copy view of an array in host memory, unless execution is
    ``"eager"``.
    """
    LEFT_TO_NUMPY: Mapping[Any, str] = {}
    """NumPy function -> reason why NumPy runs the whole function on large arrays in host memory, unless execution is ``"eager"`` or a
    transform runs.
    """

    MULTIPLIES_FROM: int = 0
    """Number of elements from which the library multiplies a matrix by a vector. NumPy multiplies smaller matrices in host memory,
    because the library would take longer to start.
    """

    def __init__(self) -> None:
        self._kinds: dict[Any, Kind] = {}
        self._standard_kinds: dict[Any, Kind] = {}
        self.entries: dict[Any, Any] = {}
        """NumPy function -> resolved entry; filled by the registry."""

    resolver: ClassVar[Callable[[Backend], Any]]
    """Factory of :attr:`xp`, set by the registry, which is in a higher layer."""

    @lazy
    def xp(self) -> Any:
        """NumPy's functions on this backend's native arrays: :class:`arraydispatch.functions.registry.XP`."""
        return type(self).resolver(self)

    @lazy
    def transforms(self) -> Any:
        """Module with the library's transforms, one function for each name in :data:`TRANSFORMS`."""
        return imported(f"{type(self).__module__.rpartition('.')[0]}.transforms")

    @lazy
    def sparse(self) -> Any:
        """Module with the library's sparse matrices.

        ``native(places, index, values)`` creates a matrix from ``places``, a :class:`arraydispatch.sparse.structure.Structure`;
        ``index(name)`` returns its index arrays in the library's type. ``parts(matrix)`` returns format, shape, rows, columns and values
        of a sparse matrix of the library, None for other objects. ``matmul(places, index, values, dense)`` also works in programs and
        ``vmap`` if ``TRACES``.
        """
        return imported(f"{type(self).__module__.rpartition('.')[0]}.sparse")

    meshes: ModuleType | None = None
    """Module that splits arrays over several devices, None if there is none. ``device(lengths, least)`` makes a mesh and returns it
    as one :class:`Device`: new arrays of at least ``least`` elements are split over it, others replicated.
    ``device_at(place)`` returns such a :class:`Device` for a result of :meth:`device_of`, and ``sharding_of(a)`` the :class:`Sharding` of a
    native array; both return None for a single device. ``splits(place, shape)`` says whether a new array of this shape is split there.
    ``place(a, axes)`` splits each axis of an array over these axes of the mesh, or replicates the array if ``axes`` is None; it raises
    LookupError if neither the array nor the process has a mesh. ``simulated(count)`` returns the words by which an error message says how
    to make a CPU count as so many devices. ``programs()`` lists the programs that have run on a mesh under a listener: line, runs,
    operands, bytes on each device, collectives. ``follow(ran)`` makes ``ran(key)`` be called before each program, with a key that is the
    same in each of several processes.
    """
    processes: ModuleType | None = None
    """Module that makes this process one of several that share a mesh, None if there is none: ``join(rank, count, address, local=,
    device=, facts=, seconds=)`` does so before the library starts; see ``backends/jax/distributed_runtime.py``.
    """

    # -- identity ------------------------------------------------------------------------------------------------

    @lazy
    def home(self) -> Backend:
        """Backend that users see: this backend, unless this is the host state or another variant of one."""
        return self

    @lazy
    def traced(self) -> Backend:
        """Variant of arrays inside transforms, if native arrays cannot be written in place there; otherwise this
        backend.

        The variant accepts arrays of its :attr:`home` as its own.
        """
        return self

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<Backend {self.name}>"

    def kind(self, dtype: np.dtype[Any]) -> Kind:
        """Return the :class:`Kind` of this backend and a dtype: the same object at each call."""
        kind = self._kinds.get(dtype)
        if kind is None:
            # if several threads create one, the first is kept
            kind = self._kinds.setdefault(dtype, Kind(self, _own_of_numpy(dtype)))
        return kind

    def standard_kind(self, dtype: np.dtype[Any]) -> Kind:
        """Return the `Kind` of this dtype for arrays of an array-API namespace."""
        kind = self._standard_kinds.get(dtype)
        if kind is None:
            kind = self._standard_kinds.setdefault(dtype, Kind(self, _own_of_numpy(dtype), True))
        return kind

    def kinds(self) -> list[Kind]:
        """Return all kinds that :meth:`kind` and :meth:`standard_kind` have made so far."""
        return [*self._kinds.values(), *self._standard_kinds.values()]

    @property
    def module(self) -> ModuleType:
        """The library itself, for native functions: ``torch``, ``jax.numpy``, ``tensorflow``, ``numpy``."""
        raise NotImplementedError

    @property
    def version(self) -> str:
        """Version of the installed library."""
        raise NotImplementedError

    def is_native(self, value: object) -> bool:
        """Whether a value is an array, a variable or a tracer of this library."""
        raise NotImplementedError

    # -- properties of a native value ------------------------------------------------------------------------------

    def dtype_of(self, a: Native) -> np.dtype[Any]:
        """Return NumPy's dtype of a native array (ml_dtypes' for bfloat16)."""
        raise NotImplementedError

    def kind_of(self, a: Native) -> Kind:
        """Return the :class:`Kind` of a native array."""
        return self.kind(self.dtype_of(a))

    def holds(self, dtype: np.dtype[Any]) -> bool:
        """Whether the library has this dtype at all."""
        raise NotImplementedError

    def shape_of(self, a: Native) -> tuple[int, ...]:
        """Return the shape as a tuple of ints."""
        raise NotImplementedError

    def device_of(self, a: Native) -> Any:
        """Return the library's own device object of an array (None for a tracer), as primitives take it as ``device``."""
        raise NotImplementedError

    def strides_of(self, a: Native) -> tuple[int, ...] | None:
        """Return the strides in elements if the library has them, None for C-contiguous libraries."""
        return None

    keeps_order: Callable[..., bool] | None = None
    """Function that returns whether an elementwise result of these operands has NumPy's memory order; None if the library has one order."""

    def offset_of(self, a: Native) -> int:
        """Return the offset in elements of a native view into its buffer, if native arrays have views."""
        return 0

    def is_concrete(self, a: Native) -> bool:
        """Whether the value is concrete: Python may read it. False for a tracer."""
        return True

    def recorded(self, a: Native) -> bool:
        """Whether the value is not concrete, as in a program or a batch that is traced, or reading it would lose a
        derivative in progress.
        """
        return not self.is_concrete(a)

    def followed(self, a: Native) -> bool:
        """Whether the library records operations on the array for a derivative. False if the array only belongs to a program or batch; by
        default the same as :meth:`recorded`, for libraries that cannot tell.
        """
        return self.recorded(a)

    def staged(self, a: Native) -> bool:
        """Whether the array belongs to a program that the library traces. All that is computed from it becomes part of the program."""
        return False

    def is_staging(self) -> bool:
        """Whether the library is tracing a function in this thread."""
        return False

    def on_cpu(self, a: Native) -> bool:
        """Whether the value is concrete and in host memory, so that its scalars are NumPy's own."""
        raise NotImplementedError

    # -- conversion ------------------------------------------------------------------------------------------------

    def from_numpy(self, x: np.ndarray[Any, Any], device: Any = None, copy: bool = True) -> Native:
        """Convert to a native array on ``device`` (the library's own object; None: the default device).

        With ``copy=False`` memory may be shared, if the library can. Raises :class:`Unsupported` for dtypes that the
        library lacks (object, strings, datetimes, longdouble).
        """
        raise NotImplementedError

    def on_memory(self, x: np.ndarray[Any, Any]) -> Native | None:
        """Return a native array on an ndarray's memory; None if :meth:`from_numpy` would copy it or move it to another device."""
        return None

    def from_parts(
        self, shape: tuple[int, ...], dtype: np.dtype[Any],
        fill: Callable[[list[tuple[Box, np.ndarray[Any, Any]]]], None], device: Any,
    ) -> Native:  # fmt: skip
        """Return an array on a mesh that the host makes part by part: ``fill`` writes the parts that this process's devices hold.

        ``fill`` is called once, with each part's position in the array and its memory. Required for backends with :attr:`meshes`.
        """
        raise NotImplementedError

    def to_numpy(self, a: Native) -> np.ndarray[Any, Any]:
        """Return an ndarray of the values; shares memory if the library can (then read-only if the array is immutable)."""
        raise NotImplementedError

    def from_dlpack(self, x: Any) -> Native:
        """Return a native array sharing the memory of a DLPack exporter; raise the library's error if it cannot."""
        raise NotImplementedError

    def peek(self, a: Native) -> np.ndarray[Any, Any] | None:
        """Return the values without a copy if they are concrete and in host memory; else None."""
        return self.to_numpy(a) if self.on_cpu(a) else None

    def lent(self, a: Native) -> np.ndarray[Any, Any] | None:
        """Return the values if NumPy may compute on them in place of the library (not if execution is ``"eager"``);
        else None.

        The values are then concrete, in host memory, and no gradient is recorded for them.
        """
        return self.peek(a) if process.execution != "eager" else None

    def awaited(self, a: Native) -> np.ndarray[Any, Any] | None:
        """Return the values if NumPy may compute on them (see :meth:`lent`), also those of a pending array that will be in host memory, for
        which it waits; else None.
        """
        return self.lent(a)

    def rests(self, a: Native) -> bool:
        """Whether NumPy may compute with a small value that a block has made: see :func:`arraydispatch.dispatch.shortcuts.bring`."""
        return False

    def item(self, a: Native) -> Any:
        """Return a concrete 0-d array as NumPy's own scalar."""
        return self.to_numpy(a)[()]

    def scalar_maker(self, dtype: np.dtype[Any]) -> Callable[[Native], Any]:
        """Return the function for :attr:`Kind.scalar`: it returns a 0-d array as NumPy's scalar, or None unless :meth:`shows_scalars`."""
        item, shows = self.item, self.shows_scalars
        return lambda a: item(a) if shows(a) else None

    def shows_scalars(self, a: Native) -> bool:
        """Whether the elements of an array, and 0-d results, are NumPy's own scalars."""
        return self.on_cpu(a)

    @property
    def survives_fork(self) -> bool:
        """Whether the library works in a forked process, which has none of the library's threads. The value is the same in both
        processes.
        """
        return True

    def synchronize(self, *arrays: Native) -> None:
        """Wait until the arrays (all of the library's work, if none are given) are computed."""

    # -- devices, options -------------------------------------------------------------------------------------------

    def devices(self) -> list[Device]:
        """Return every device of the library, the default one first."""
        raise NotImplementedError

    def to_device(self, a: Native, device: Device) -> Native:
        """Copy the array to another device of this library."""
        raise NotImplementedError

    OPTIONS: ClassVar[dict[str, str]] = {}
    """Name -> meaning of each option of ``ad.use(name, **options)``."""

    def configure(self, **options: Any) -> None:
        """Apply options (already checked against :attr:`OPTIONS`); raise if an option can no longer change."""

    @property
    def threads(self) -> int:
        """Return the number of threads that one operation uses on the CPU."""
        return 1

    def use_threads(self, n: int) -> None:
        """Set the number of threads; raise RuntimeError if the library has started with another number."""

    @property
    def lacks(self) -> frozenset[str]:
        """Return the features, by the names of :attr:`capabilities`, and the primitives that this version of the library lacks on this
        machine.
        """
        return frozenset()

    @property
    def capabilities(self) -> frozenset[str]:
        """Return the features by name: ``"jit" "grad" "vmap" "sparse" "float64" "bfloat16" "mutable" …``."""
        home = self.home
        return frozenset(name for name, has in FEATURES.items() if has(home)) - home.lacks

    def supports(self, feature: str) -> bool:
        """Whether ``feature`` is a capability, a primitive, or a NumPy function (``"mean"``, ``"linalg.inv"``) that this backend runs
        itself.
        """
        home = self.home
        if feature in home.lacks:
            return False
        has = FEATURES.get(feature)
        found: bool = (has is not None and has(home)) or feature in PRIMITIVES or home.xp.runs(feature)
        return found

    # -- hooks ------------------------------------------------------------------------------------------------------

    scoped: ClassVar[bool] = False
    """Whether :attr:`scope` is ever not None."""

    scope: Callable[[], AbstractContextManager[Any]] | None = None
    """Function that returns a context for each dispatched call; None if calls need none (64-bit types in a library that hides them)."""

    def within(self) -> AbstractContextManager[Any]:
        """Return the scope, or a context that does nothing."""
        scope = self.scope
        return _NO_SCOPE if scope is None else scope()

    @lazy
    def join(self) -> Callable[[list[Native]], Native]:
        """Function that joins a list of arrays, of one dtype and compatible shapes, along the first axis."""
        concatenate = self.prim.concatenate

        def run(arrays: list[Native]) -> Native:
            return concatenate(arrays, 0)

        return self.in_scope(run) if self.scoped else run

    def in_scope(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap ``run``, a function of native arrays, to run in the library's scope, and to wait until there is memory for its result."""

        def inside(*natives: Any) -> Any:
            with self.within():
                made = run(*natives)
            if self.deferred and made is not None:
                self.obtained(*(made if type(made) is tuple else (made,)))
            return made

        return inside

    def dlpack(self, a: Native, **kwargs: Any) -> Any:
        """Return a DLPack capsule of a native array; the keywords are those of ``__dlpack__``."""
        return self.shareable(a).__dlpack__(**kwargs)

    def dlpack_device(self, a: Native) -> tuple[int, int]:
        """Return the value of ``__dlpack_device__``."""
        kind, index = a.__dlpack_device__()
        return int(kind), index  # JAX and PyTorch have a member of their own enumerations, which prints otherwise

    def after_fork(self) -> None:
        """Adapt to a fork; called in the forked process."""

    def adopt_wrapper(self, wrapper: type) -> None:
        """Make the library's own functions accept ``wrapper`` (which has ``.native``), and its existing subclasses."""

    def take_for_ndarrays(self, wrapper: type, so: bool) -> None:
        """Set whether the library treats a ``wrapper`` (the class of arrays) as an ndarray (while a launcher runs) or as its
        native array.
        """

    def fill(self, a: Native, value: Native) -> None:
        """Overwrite ``a`` in place with a value of the same shape and dtype. Mutable backends only."""
        raise NotImplementedError

    def gone(self, error: Exception) -> bool:
        """Whether a library's error means that the buffer was donated: another thread has written the array meanwhile."""
        return False

    def mended(self, error: Exception) -> bool:
        """Repair the library's state if an interrupted call has left it broken. Return whether it was repaired, so that the call can be
        repeated.
        """
        return False

    deferred: ClassVar[bool] = False
    """Whether the library returns before it has memory for the result; a failure is then raised by the code that reads it."""

    def obtained(self, *values: Native) -> None:
        """Wait until there is memory for large results; raise the library's error. Called if `deferred`."""

    def placed(self, a: Native, operands: Sequence[Native] = ()) -> Native:
        """Return a new result, split over the mesh in force if it is large and the library returned it whole.

        ``operands``: operands of the result in a traced program, where a large result of small operands is split when it is made.
        """
        return a

    def refused_bytes(self, error: Exception) -> int | None:
        """Return the bytes that an out-of-memory error of the library states, 0 if it states none; return None for other errors."""
        return None

    def successor(self, a: Native) -> Native | None:
        """Return the array created in the buffer of ``a``, if ``a`` is gone and this thread's last donating call made one; else None."""
        return None

    def kept(self) -> None:
        """Drop the reference from which :meth:`successor` reads. Called when the successor is stored elsewhere."""

    def slice_update(self, a: Native, key: tuple[slice, ...], value: Native, donate: bool) -> Native:
        """Run the primitive; ``donate``: nothing else refers to the buffer of ``a``, which may be reused."""
        return self.prim.slice_update(a, key, value)

    def strided(self, a: Native, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Native:
        """Return an aliasing view of a mutable native array. Strides, never negative, and the offset from its first element are in
        elements.
        """
        raise NotImplementedError

    def settled(self, a: Native) -> Native:
        """Return a native array as the library's own array: by default ``a`` itself; a variant computes a pending value first."""
        return a

    def taken(self, a: Native) -> Native:
        """Return the native array by which an array of this backend will hold or read a library's array: by default ``a`` itself; a variant
        may return a deferred copy.
        """
        return a

    def slice_at(self, a: Native, starts: Sequence[Native], lengths: Sequence[int], steps: Sequence[int]) -> Native:
        """Return a slice, given its start, length and step along each axis. The starts (0-d int64 arrays) are in bounds, but not concrete
        when a program is compiled.
        """
        for axis, (start, n, step) in enumerate(zip(starts, lengths, steps)):
            if n != self.shape_of(a)[axis]:
                a = self.prim.take(a, self._places(start, n, step, a), axis)
        return a

    def slice_update_at(self, a: Native, starts: Sequence[Native], steps: Sequence[int], value: Native) -> Native:
        """Return ``a`` with a slice, as of :meth:`slice_at`, replaced by a value of the slice's shape."""
        lengths = self.shape_of(value)
        places = []
        for axis, (start, n, step) in enumerate(zip(starts, lengths, steps)):
            line = self.prim.reshape(
                self._places(start, n, step, a), tuple(n if i == axis else 1 for i in range(len(lengths)))
            )
            places.append(self.prim.broadcast_to(line, lengths))
        return self.prim.scatter(a, tuple(places), value, "set")

    def _places(self, start: Native, n: int, step: int, like: Native) -> Native:
        """Return ``start + step * i`` for i below n, as int64 on the device of ``like``."""
        run = self.prim.iota(n, _INT64, self.device_of(like))
        steps = self.prim.full((n,), step, _INT64, self.device_of(like))
        offsets = self.UFUNCS[np.multiply](run, steps)
        return self.UFUNCS[np.add](offsets, self.prim.broadcast_to(self.prim.reshape(start, (1,)), (n,)))

    def value_of(self, a: Native) -> Native:
        """Return the current value of an object that users pass in and the library can change later (a variable); return any other array
        itself.
        """
        return a

    def is_lazy(self, a: Native) -> bool:
        """Whether a mutable native array's values differ from its memory and are computed when read."""
        return False

    def check_writeable(self, a: Native) -> None:
        """Raise ValueError if the library does not let a native array be written. Mutable backends only."""

    def shareable(self, a: Native) -> Native:
        """Return the array itself, or a copy if another library would misread its memory."""
        return a

    def shares_with_host(self, a: Native) -> bool:
        """Whether a write to the result of :meth:`to_numpy` writes the array."""
        return False

    def is_view(self, a: Native) -> bool:
        """Whether a native array is the library's own view of another. Used if :attr:`traced` is another backend."""
        return False

    def may_share(self, a: Native, b: Native) -> bool:
        """Whether two native arrays may share memory."""
        return True

    def compute_dtype(self, ufunc: np.ufunc, dtype: np.dtype[Any]) -> np.dtype[Any]:
        """Return the dtype in which the library computes a loop whose own dtype has no kernel; ``dtype`` itself if it
        has one.
        """
        return dtype

    def kernel(self, ufunc: np.ufunc, dtype: np.dtype[Any], scalars: bool = False) -> Callable[..., Any]:
        """Return the leanest exact kernel of a ufunc for operands of ``dtype``; ``scalars``: whether one operand is a Python scalar."""
        return self.UFUNCS[ufunc]

    def fused(self, body: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that runs a long body over ``xp``: compiled to one kernel, if the library has a compiler for eager calls."""
        return partial(body, self.xp)

    def loop(
        self, going: Callable[..., Native], step: Callable[..., tuple[Native, ...]], state: tuple[Native, ...],
        most: int,
    ) -> tuple[Native, ...]:  # fmt: skip
        """Return the state after ``step``, repeated while ``going`` (an array of bools) holds anywhere, at most ``most`` times; values
        are not concrete. This version, for libraries without a loop, never asks ``going``: it unrolls the first steps.
        """
        for _ in range(min(most, _UNROLLED)):
            state = step(*state)
        return state

    def whole(self, ufunc: np.ufunc, dtype: np.dtype[Any]) -> Callable[[Native], Native]:
        """Return the leanest kernel for a full reduction of an array of ``dtype`` to a 0-d array of that dtype.

        The array is not empty, unless the ufunc has an identity.
        """
        kernel, every = self.REDUCE[ufunc], [tuple(range(n)) for n in range(65)]
        return lambda a: kernel(a, every[a.ndim], False)

    def total(self, a: Native) -> Native | None:
        """Return the sum of booleans or small integers, 0-d and in NumPy's dtype; None if it is as fast to convert the elements first."""
        return None

    def random(self, kind: str, shape: tuple[int, ...], dtype: np.dtype[Any], device: Any) -> Native:
        """Draw ``"normal"`` (standard) or ``"uniform"`` ([0, 1)) numbers from the library's own generator."""
        raise NotImplementedError

    def seed(self, n: int) -> None:
        """Seed the library's own generator."""
        raise NotImplementedError

    # -- activation, set by the layer above ------------------------------------------------------------------------

    _enter: ClassVar[Callable[[Backend], Any]]
    _exit: ClassVar[Callable[[Backend], None]]

    def __enter__(self) -> Self:
        type(self)._enter(self)
        return self

    def __exit__(self, *exc: object) -> None:
        type(self)._exit(self)
