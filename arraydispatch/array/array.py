"""``Array``: a native array of one library that behaves as NumPy's ndarray. Identity and behaviour; no numerics.

Every operator and method is one line that names a ufunc or a NumPy function, and the dispatch runs it. Members that depend
on NumPy's view of memory (strides, flags, aliasing) ask the array's ghost.
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NoReturn

import numpy as np

from .._core import handles
from .._core.handles import Handle
from ..backends import loader
from ..backends.base import Backend
from ..backends.devices import Device, Sharding
from ..backends.kinds import Kind
from ..common import arguments, events, tracing
from ..common.members import FORMED, MEMBERS
from ..common.process_state import process
from ..common.signal_safety import imported
from ..common.user_warnings import real_of
from ..dispatch import (
    functions,
    host_results,
    matrix_products,
    protocols,
    subscripts,
    ufuncs,
    wrapping,
)
from ..functions import bits
from ..memory import ghosts, reshaping, views
from ..memory.views import ghost, native
from ..runtime import conversion, placement, settings
from . import casts, exports, printing
from .flat import Flat
from .general_forms import (
    as_numpys_method,
    comparison,
    equality,
    logical_method,
    meets_strangers,
    method,
    named,
    of_stranger,
    operators,
    powers,
    tuple_method,
    unary,
)

__all__ = ["Array"]

_HEAD = sys.getsizeof(np.empty((), bool)) - 1 - (sys.getsizeof(Handle()) - Handle.__basicsize__)
"""Bytes of an ndarray apart from its shape, strides and elements, minus those that Python keeps in front of an ``Array``."""


class Array(Handle):
    """A native array of one library, with NumPy's behaviour.

    Not called directly: use :func:`arraydispatch.asarray` (to the default backend) or :func:`arraydispatch.wrap` (around
    a native array, without conversion).
    """

    __slots__ = ()
    __array_priority__ = 100.0
    __hash__ = None
    __class__ = property(exports.class_shown)
    stands_for_ndarray = False
    """Whether a launcher made the array, so that it shows itself as an ndarray."""

    @classmethod
    def _holding(cls, value: Any, kind: Kind) -> Any:
        """Make an array of exactly this class; ``process.wrapper`` may make another."""
        return handles.new_array(cls, value, kind, False, None)

    # -- identity ----------------------------------------------------------------------------------------------------

    @property
    def native(self) -> Any:
        """The library's own array; if the value is on the host, an array that shares its memory, or a copy."""
        if self._kind.backend.hosted:
            views.expose(self)
            return views.lifted(self)
        return reshaping.handed_over(self)

    @property
    def backend(self) -> Backend:
        """The backend that the array belongs to."""
        return self._kind.backend.home

    @property
    def device(self) -> Device:
        """The device that holds the data."""
        kind, value = views.held(self)
        return placement.of_new(kind.backend.name) if kind.backend.hosted else placement.of(value, kind.backend)

    @property
    def sharding(self) -> Sharding | None:
        """The placement on a mesh of devices; None for an array on one device."""
        backend = self.backend
        return None if backend.meshes is None else backend.meshes.sharding_of(views.expose(self))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype, a real ``np.dtype``; assigning one rereads the memory in place."""
        return self._kind.dtype

    @dtype.setter
    def dtype(self, dtype: Any) -> None:
        reshaping.set_dtype(self, dtype)

    @property
    def __numpy_dtype__(self) -> np.dtype[Any]:
        # NumPy reads this attribute before `dtype` on objects other than ndarrays.
        raise TypeError("Cannot construct a dtype from an array")

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape; assigning one reshapes in place."""
        found = self._ghost
        return self._kind.backend.shape_of(self._v) if found is None else found.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        reshaping.set_shape(self, shape)

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._kind.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes to step in each dimension, as NumPy would lay the array out; cannot be set."""
        return ghost(self).strides

    @property
    def flags(self) -> Any:
        """NumPy's flags object (``c_contiguous``, ``owndata``, ``writeable``, …)."""
        return ghost(self).flags

    @property
    def base(self) -> Any:
        """The array that owns the memory if this is a view, else None."""
        return self._base

    def setflags(self, write: bool | None = None, align: bool | None = None, uic: bool | None = None) -> None:
        """As ``ndarray.setflags``; ValueError also for a view that may not be written."""
        if write and self._base is not None and not views.writeable(self._base) and ghost(self._base).flags.owndata:
            # NumPy does not know whether the library's memory is writable.
            raise ValueError("cannot set WRITEABLE flag to True of this array")
        ghost(self).setflags(write=write, align=align, uic=uic)

    def __sizeof__(self) -> int:
        # ``sys.getsizeof`` adds the collector's share and then gives the size of an ndarray.
        nbytes = self.nbytes if ghost(self).flags.owndata else 0
        return _HEAD + 2 * np.intp().itemsize * self.ndim + nbytes

    def _writeable(self) -> bool:
        return views.writeable(self, True)

    # -- protocols ---------------------------------------------------------------------------------------------------

    __array_ufunc__ = protocols.__array_ufunc__
    __array_function__ = protocols.__array_function__

    def _host(self, why: str) -> np.ndarray[Any, Any]:
        return wrapping.beside_writers(_downloaded, self, why)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return exports.as_ndarray(self, self._host(events.AT_A_DOOR), dtype, copy)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Convert an ndarray to an array of this backend and device; for an `Array`, or with ``return_scalar``, return ``array[()]``."""
        if not isinstance(array, np.ndarray | Array):
            raise TypeError("can only be called with ndarray object")
        if return_scalar or isinstance(array, Array):
            return array[()]
        kind, value = views.held(self)
        return host_results.to_device(array, kind.backend, kind.backend.device_of(value))

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        # The namespaces stand on arrays; like the public names, they are found when they are asked for.
        module: Any = imported(f"arraydispatch.array_api.{self._kind.backend.name}")
        return module.of_version(api_version)

    def __dlpack__(
        self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None, copy: bool | None = None,
    ) -> Any:  # fmt: skip
        asked = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        return exports.dlpack(self, **{key: value for key, value in asked.items() if value is not None})

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, value = views.held(self)
        return kind.backend.home.dlpack_device(self.native if kind.backend.hosted else kind.backend.settled(value))

    def __reduce__(self) -> Any:
        return _rebuild_array, (
            self._kind.backend.name,
            np.array(self._host("pickling"), order="F" if self.flags.fnc else "C"),
            self._kind.standard,
        )

    def __copy__(self) -> Any:
        return self.copy("K")

    def __deepcopy__(self, memo: Any) -> Any:
        return self.copy("K")

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    def __iter__(self) -> Iterator[Any]:
        shape = self.shape
        if not shape:
            raise TypeError("iteration over a 0-d array")
        kind = self._kind
        live = self._root is None or not kind.backend.mutable  # whether every write is seen on the host, or counted
        hosted = settings.current_scalars() == "numpy" and not kind.standard
        if live and hosted and len(shape) == 1:  # the values of a large view may not fit into memory
            kind, value = views.held(self)
            if kind.backend.shows_scalars(value):
                return self._scalars(shape[0])
        return (subscripts.getitem(self, i) for i in range(shape[0]))

    def _scalars(self, n: int) -> Iterator[Any]:
        """Yield the elements from one host copy, as long as the array is not written."""
        root = views.owner(self)
        writes = root._writes
        host = self._host("iteration")
        for i in range(n):
            if root._writes != writes:
                yield from (subscripts.getitem(self, j) for j in range(i, n))
                return
            yield host[i]

    def __contains__(self, item: Any) -> bool:
        found: Any = self == item
        return bool(found.any() if isinstance(found, Array | np.generic) else np.asarray(found).any())

    def __getitem__(self, key: Any) -> Any:
        try:
            return subscripts.getitem(self, key)
        except Exception as error:
            loader.check_memory(error)
            raise

    def __setitem__(self, key: Any, value: Any) -> None:
        try:
            subscripts.setitem(self, key, value)
        except Exception as error:
            loader.check_memory(error)
            raise

    def __delitem__(self, key: Any) -> NoReturn:
        raise ValueError("cannot delete array elements")

    # -- looking at values -------------------------------------------------------------------------------------------

    def _one(self, why: str) -> np.ndarray[Any, Any]:
        found = wrapping.beside_writers(lambda: _values(self, why))
        if events.tap is not None:
            kind, value = views.held(self)
            if not kind.backend.on_cpu(value):
                events.tap.sync(why)
        return found

    def __bool__(self) -> bool:
        return bool(self._one("bool()"))

    def __int__(self) -> int:
        return int(self._one("int()"))

    def __float__(self) -> float:
        return float(self._one("float()"))

    def __complex__(self) -> complex:
        return complex(self._one("complex()"))

    def __index__(self) -> int:
        # Other arrays only need NumPy's error, so no data is moved.
        whole = not self.shape and self.dtype.kind in "iu"
        return operator.index(self._one("an index") if whole else ghost(self))

    def __str__(self) -> str:
        return str(self._shown())

    def __repr__(self) -> str:
        shown = self._shown()
        return repr(shown) if isinstance(shown, str) or self.stands_for_ndarray else printing.marked(self, repr(shown))

    def __format__(self, spec: str) -> str:
        shown = self._shown()
        if spec and isinstance(shown, str):
            shown = self._host("formatting")  # its error says why there is no number to format
        return format(shown, spec)

    def _shown(self) -> Any:
        backend = self._kind.backend
        root: Any = self._root
        if isinstance(root, tracing.Ended):
            return f"Array({self.dtype}{list(self.shape)}, left behind by a trace of {backend.name}'s)"
        if not backend.is_concrete(native(views.owner(self))):  # all values of a large view may not fit into memory
            return f"Array({self.dtype}{list(self.shape)}, traced by {backend.name})"
        shown = printing.corners(self)
        return self._host("printing") if shown is None else shown

    def item(self, *args: Any) -> Any:
        """As ``ndarray.item``."""
        if args and views.outgrows(self) and (seen := views.of_root_on_host(self)) is not None:
            return seen.item(*args)
        return self._one("item()").item(*args)

    def tolist(self) -> Any:
        """As ``ndarray.tolist``."""
        return self._host("tolist()").tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """As ``ndarray.tobytes``."""
        return self._host("tobytes()").tobytes("F" if order == "A" and self.flags.fnc else order)

    def __bytes__(self) -> bytes:
        if not self.shape and self.dtype.kind in "iu":
            return bytes(int(self))  # Python asks an ndarray for its index before its buffer
        return self.tobytes()

    def _lent(self, flags: int) -> np.ndarray[Any, Any]:
        """Return the ndarray for the buffer protocol: the one that ``__array__`` returns.

        ``np.asarray`` tries the buffer protocol, as ``memoryview`` does, before it looks for ``__array__``.
        """
        exports.check_flags(self, flags)
        if self._kind.dtype.isbuiltin != 1:  # the buffer protocol has no format for it
            raise TypeError(
                "a bytes-like object is required: x.data is a memoryview of an array, x.tobytes() its bytes"
            )
        return exports.as_ndarray(self, self._host(events.AT_A_DOOR))

    @property
    def data(self) -> memoryview:
        """A memoryview of the values; read-only if only the library can write them."""
        return memoryview(self.__array__())  # type: ignore[arg-type]

    @property
    def ctypes(self) -> Any:
        """As ``ndarray.ctypes``; AttributeError unless the memory may be written on the host."""
        if not exports.shares_with_host(self):
            raise AttributeError(
                f"an array of {self.backend.name} has no address that C code may write to; use np.array(x).ctypes, a copy"
            )
        return self.__array__().ctypes

    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None:
        """As ``ndarray.tofile``."""
        self._host("tofile()").tofile(fid, sep, format)

    def dumps(self) -> bytes:
        """As ``ndarray.dumps``."""
        return self._host("dumps()").dumps()

    def dump(self, file: Any) -> None:
        """As ``ndarray.dump``."""
        self._host("dump()").dump(file)

    def to_numpy(self) -> np.ndarray[Any, Any]:
        """Return the values as an ndarray, which shares the array's memory if the library can."""
        return self._host("to_numpy()")

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """Move the array to another device of its library; return this array itself if it is on that device already."""
        if self.device == device or placement.find(backend := self.backend, device) == self.device:
            return self
        return process.wrapper(placement.move(self.native, backend, device), self._kind.home)

    # -- operators ---------------------------------------------------------------------------------------------------

    __add__, __radd__, __iadd__ = operators("add")
    __sub__, __rsub__, __isub__ = operators("sub")
    __mul__, __rmul__, __imul__ = operators("mul")
    __truediv__, __rtruediv__, __itruediv__ = operators("truediv")
    __floordiv__, __rfloordiv__, __ifloordiv__ = operators("floordiv")
    __mod__, __rmod__, __imod__ = operators("mod")
    __and__, __rand__, __iand__ = operators("and")
    __or__, __ror__, __ior__ = operators("or")
    __xor__, __rxor__, __ixor__ = operators("xor")
    __lshift__, __rlshift__, __ilshift__ = operators("lshift")
    __rshift__, __rrshift__, __irshift__ = operators("rshift")
    __lt__, __le__, __gt__, __ge__ = comparison("lt"), comparison("le"), comparison("gt"), comparison("ge")
    __eq__, __ne__ = equality("eq", False), equality("ne", True)
    __neg__, __pos__, __abs__, __invert__ = unary("neg"), unary("pos"), unary("abs"), unary("invert")
    __pow__, __rpow__, __ipow__ = powers()

    def __divmod__(self, other: Any) -> Any:
        if not isinstance(other, Handle) and ufuncs._defers(other):
            return NotImplemented
        return ufuncs.asking(np.divmod, (self, other), other)

    def __rdivmod__(self, other: Any) -> Any:
        return ufuncs.asking(np.divmod, (other, self), other)

    def __matmul__(self, other: Any) -> Any:
        if type(other) is type(self):
            return matrix_products.product(self, other)
        if not isinstance(other, Handle) and ufuncs._defers(other):
            return NotImplemented
        return ufuncs.with_guest(np.matmul, self, other) if wrapping.is_guest(other) else np.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return ufuncs.asking(np.matmul, (other, self), other)

    def __imatmul__(self, other: Any) -> Any:
        if not isinstance(other, Handle) and ufuncs._defers(other):
            return ufuncs.refused_in_place(np.matmul, self, other)
        if ufuncs._speaks(other):
            out: Any = (self,)
            axes: Any = [(-1,), (-2, -1), (-1,)] if len(self.shape) == 1 else [(-2, -1)] * 3
            with suppress(np.exceptions.AxisError):  # outside it, NumPy's error has no context of ours
                return np.matmul(self, other, out=out, axes=axes)
            raise ValueError(
                "inplace matrix multiplication requires the first operand to have at least one and the second at "
                "least two dimensions."
            )
        mine, others = self.shape, np.shape(other)
        if len(mine) < 1 or len(others) < 2 or mine[-1] != others[-1]:  # NumPy raises its own error
            refusing: Any = operator.imatmul
            held = self.to_numpy().copy() if self._writeable() else self.to_numpy()
            return refusing(held, other.to_numpy() if isinstance(other, Array) else other)
        return ufuncs.array_ufunc(np.matmul, "__call__", (self, other), {"out": (self,)})

    # -- methods that are a NumPy function ------------------------------------------------------------------------------

    all, any = logical_method(np.all), logical_method(np.any)
    argmax, argmin = method(np.argmax), method(np.argmin)
    argpartition, argsort = method(np.argpartition), method(np.argsort)
    choose = tuple_method(np.choose)
    cumprod, cumsum = method(np.cumprod), method(np.cumsum)
    diagonal, dot = method(np.diagonal), method(np.dot)
    max, min = method(np.max), method(np.min)
    mean, prod, sum = method(np.mean), method(np.prod), method(np.sum)
    std, var = method(np.std, "correction"), method(np.var, "correction")
    nonzero = method(np.nonzero)
    ravel, repeat, reshape = method(np.ravel), method(np.repeat), tuple_method(np.reshape)
    round, searchsorted = method(np.round), method(np.searchsorted)
    squeeze, swapaxes, take, trace = method(np.squeeze), method(np.swapaxes), method(np.take), method(np.trace)
    transpose = tuple_method(np.transpose)

    def put(self, indices: Any, values: Any, mode: str = "raise") -> None:
        """As ``ndarray.put``."""
        functions.call(np.put, (self, of_stranger(indices), of_stranger(values, self.dtype)), {"mode": mode})

    def compress(self, condition: Any, axis: Any = None, out: Any = None) -> Any:
        """As ``ndarray.compress``."""
        if meets_strangers(np.compress, (condition, out), {}):
            return as_numpys_method("compress", self, (condition, axis), {} if out is None else {"out": out})
        return functions.call(np.compress, (condition, self), {"axis": axis, "out": out})

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
        """As ``ndarray.clip``."""
        if meets_strangers(np.clip, (min, max, out), kwargs):
            return as_numpys_method("clip", self, (min, max, out), kwargs)
        return functions.call(np.clip, (self, min, max), {"out": out, **kwargs})

    def conj(self, out: Any = None) -> Any:
        """As ``ndarray.conj``."""
        if out is not None and not isinstance(out, Handle | np.ndarray):  # the ufunc takes other arguments
            raise TypeError("output must be an array")
        if out is not None:
            into: Any = out
            return np.conjugate(self, out=into)
        return np.conjugate(self) if self.dtype.kind == "c" else self

    def conjugate(self, out: Any = None) -> Any:
        """As ``ndarray.conjugate``."""
        return self.conj(out)

    @property
    def T(self) -> Any:
        """The transposed view."""
        return views.derive(self, ghost(self).T)

    @property
    def mT(self) -> Any:
        """The view with the last two axes swapped."""
        return views.derive(self, ghost(self).mT)

    def copy(self, order: Any = "C") -> Any:
        """Copy into new memory. Floating values get the precision in force."""
        return functions.call(np.copy, (self, order), {})

    def flatten(self, order: Any = "C") -> Any:
        """Copy into one dimension."""
        return functions.call(np.copy, (functions.call(np.ravel, (self, order), {}),), {})

    def astype(
        self, dtype: Any, order: Any = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
    ) -> Any:
        """As ``ndarray.astype``; dtypes that exist only on the host give a NumPy array."""
        if subok is not True:
            arguments.flag(subok)
        return casts.astype(self, np.dtype(dtype), order, casting, copy)

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        """Return a view of the same memory, read as ``dtype`` if that is given.

        A view as an ndarray subclass, or of a dtype that exists only on the host, is a NumPy array. It is read-only if it does
        not share this array's memory. If the library cannot reinterpret its memory, for instance where an item would begin within an
        element, the host makes a copy, which is read-only.
        """
        if isinstance(dtype, builtins.type) and issubclass(dtype, np.ndarray | Array):
            dtype, type = None, dtype
        if type is not None and not (isinstance(type, builtins.type) and issubclass(type, np.ndarray | Array)):
            raise ValueError("Type must be a sub-type of ndarray type")
        if type is not None and not issubclass(type, Array):
            return casts.as_subclass(self, dtype, type)
        if dtype is None or np.dtype(dtype) == self.dtype:
            return views.derive(self, ghost(self)[...])
        return casts.reread(self, np.ndarray.view, np.dtype(dtype))

    def getfield(self, dtype: Any, offset: int = 0) -> Any:
        """A view of the bytes from ``offset`` of each element as another dtype; read-only if the library cannot alias, as for ``view``."""
        return casts.reread(self, np.ndarray.getfield, np.dtype(dtype), offset)

    def setfield(self, val: Any, dtype: Any, offset: int = 0) -> None:
        """Write a field of each element, as ``ndarray.setfield``."""
        wrapping.check_writeable(self)
        self.getfield(dtype, offset)[...] = val

    def fill(self, value: Any) -> None:
        """As ``ndarray.fill``."""
        wrapping.check_writeable(self)
        if not isinstance(value, Handle) or ghost(value).shape:
            element = np.empty((), self.dtype)
            element.fill(real_of(subscripts.stand_in(value), self.dtype))  # NumPy's own cast and errors
            value = element[()]
        subscripts.setitem(self, ..., value)

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
        """Sort in place."""
        _no_fields(order)
        wrapping.check_writeable(self, "sort array is read-only")
        keywords = {"axis": operator.index(axis), "kind": kind, "stable": stable}
        subscripts.setitem(self, ..., functions.call(np.sort, (self,), keywords))

    def partition(self, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None) -> None:
        """Partition in place."""
        _no_fields(order)
        wrapping.check_writeable(self, "partition array is read-only")
        made = functions.call(np.partition, (self, kth), {"axis": operator.index(axis), "kind": kind})
        subscripts.setitem(self, ..., made)

    def byteswap(self, inplace: bool = False) -> Any:
        """As ``ndarray.byteswap``."""
        if inplace:
            wrapping.check_writeable(self, "array to be byte-swapped is read-only")
        kind, value = views.held(self)
        with kind.backend.within():
            made = process.wrapper(wrapping.beside_writers(bits.byteswapped, kind.backend.xp, value), kind, True)
        if not inplace:
            return made
        subscripts.setitem(self, ..., made)
        return self

    @property
    def real(self) -> Any:
        """The real part, a view; the array itself if it is real."""
        return views.derive(self, ghost(self).real) if self.dtype.kind == "c" else self

    @real.setter
    def real(self, value: Any) -> None:
        subscripts.setitem(self.real, ..., _as_array(value))

    @property
    def imag(self) -> Any:
        """The imaginary part, a view; read-only zeros if the array is real."""
        if self.dtype.kind == "c":
            return views.derive(self, ghost(self).imag)
        kind, value = views.held(self)
        backend = kind.backend
        with backend.within():
            zeros = backend.prim.full(self.shape, 0, self.dtype, backend.device_of(value))
        like = ghosts.stand_in_like(ghost(self), order="A")
        return casts.read_only(views.lay_out(process.wrapper(zeros, kind), like))

    @imag.setter
    def imag(self, value: Any) -> None:
        if self.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        subscripts.setitem(self.imag, ..., _as_array(value))

    def resize(self, *new_shape: Any, refcheck: bool = True) -> None:
        """As ``ndarray.resize``: in place, cut off or filled with zeros; ValueError for views and arrays with views.

        ``refcheck=False`` does not change that: an array with views is never resized. Other references to
        the array do not prevent a resize, because a call from C code holds one too.
        """
        shape = new_shape[0] if len(new_shape) == 1 else new_shape or None
        wrapping.beside_writers(reshaping.resize, self, shape, refcheck)

    def _set_flat(self, value: Any) -> None:
        Flat(self)[:] = value

    flat = property(Flat, _set_flat, doc="The elements in C order: indexable, assignable, iterable.")


def _values(a: Array, why: str) -> np.ndarray[Any, Any]:
    kind, value = views.held(a)
    return conversion.download(kind.backend, value, why)


def _downloaded(a: Array, why: str) -> np.ndarray[Any, Any]:
    if views.outgrows(a) and (seen := views.of_root_on_host(a)) is not None:
        return seen
    return views.on_host(a, conversion.download(a._kind.backend, views.expose(a), why))


def _as_array(value: Any) -> Any:
    """Convert a value for the setters of ``real`` and ``imag``: they drop the imaginary part of an array, and refuse a complex scalar."""
    if isinstance(value, list | tuple) and wrapping.find_backend(value) is not None:
        return value
    return np.asarray(value) if isinstance(value, int | float | complex | list | tuple) else value


def _no_fields(order: Any) -> None:
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")


def _rebuild_array(*state: Any) -> Any:
    """Unpickle an array; pickles name this function, which imports the class."""
    return exports.rebuilt(*state)


for _name, _made in vars(Array).items():
    if _name in MEMBERS and (callable(_made) or isinstance(_made, property)):
        named(_made, _name)
handles.of_class(Array, FORMED)
ndarray = Array
"""Attribute by which pickle finds the class's functions, which are named as NumPy's."""

process.wrapper = handles.maker(Array)
events.entrance = protocols.__array_ufunc__.__code__
loader.set_wrapper(Array)
