"""``Array``: a native array of one library that behaves as NumPy's ndarray. Identity and behaviour; no numerics.

Every operator and method is one line: it names the ufunc or the NumPy function that does the job, and the dispatch does
it. What needs NumPy's own view of memory (strides, flags, what aliases what) is answered by the array's ghost.
"""

from __future__ import annotations

import builtins
import gc
import math
import operator
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from . import conversion, dtypes, events, placement, settings, views
from .backends import loader
from .backends.base import Backend, Device, Unsupported
from .dispatch import functions, host, indexing, ufuncs, wrapping
from .flat import Flat
from .methods import equality, method, short_power, tuple_method
from .views import Handle, ghost, native

__all__ = ["Array", "Scalar"]

_binary, _inplace, _unary = ufuncs.binary_operator, ufuncs.inplace_operator, ufuncs.unary_operator
_FAST = ufuncs.FAST
_call = functions.call
_reduce_all = functions.reduce_all
_reflected = ufuncs.reflected_operator


_power = ufuncs.binary_operator(np.power)
_inplace_power = ufuncs.inplace_operator(np.power)


class Array(Handle):
    """A native array of one library, with NumPy's behaviour.

    Not called directly: use :func:`arraydispatch.asarray` (to the default backend) or :func:`arraydispatch.wrap` (around
    a native array, without conversion).
    """

    __slots__ = ()
    __array_priority__ = 100.0
    __hash__ = None  # type: ignore[assignment]

    # -- identity ----------------------------------------------------------------------------------------------------

    @property
    def native(self) -> Any:
        """The library's own array."""
        return views.expose(self)

    @property
    def backend(self) -> Backend:
        """The backend that holds the data."""
        return self._kind.backend

    @property
    def device(self) -> Device:
        """The device that holds the data."""
        return placement.of(native(self), self._kind.backend)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype, a real ``np.dtype``."""
        return self._kind.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape; assigning one reshapes in place."""
        found = self._ghost
        return self._kind.backend.shape_of(self._v) if found is None else found.shape

    @shape.setter
    def shape(self, shape: Any) -> None:
        ours = ghost(self)
        try:
            made = views.derive(self, np.reshape(ours, shape, copy=False))
        except ValueError:
            np.empty(ours.shape).reshape(shape)  # NumPy's own error if the sizes differ
            raise AttributeError(
                "Incompatible shape for in-place modification. Use `.reshape()` to make a copy with the desired shape."
            ) from None
        if self._base is not None:
            for slot in ("_v", "_root", "_ghost", "_base"):
                setattr(self, slot, getattr(made, slot))
            self._seen = views.NEVER
            return
        backend = self._kind.backend
        with backend.within(), views.exchange:
            self._v = backend.prim.reshape(self._v, made.shape)
            self._writes += 1
        if backend.native_is_ndarray:
            self._ghost = None
        else:  # views of this array know their place by the address of its ghost
            ours.shape = made.shape

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
        """Bytes to step in each dimension, as NumPy would lay the array out."""
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
        """As ``ndarray.setflags``."""
        g = ghost(self)
        if write is not None:
            g.flags.writeable = write

    def _writeable(self) -> bool:
        return self._ghost is None or bool(self._ghost.flags.writeable)

    # -- protocols ---------------------------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if not kwargs and len(inputs) == 2 and ufunc.nout == 1 and method == "__call__":
            return _FAST[ufunc](*inputs)
        return ufuncs.array_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if len(types) == 1:  # nobody else to ask
            if not kwargs and len(args) == 1 and func in self._kind.whole:
                return _reduce_all(func, self)
            return _call(func, args, kwargs)
        return functions.array_function(func, types, args, kwargs)

    def _host(self, why: str) -> np.ndarray[Any, Any]:
        return conversion.download(self._kind.backend, views.expose(self), why)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        found = self._host("a library asked for an ndarray")
        if dtype is not None and np.dtype(dtype) != found.dtype:
            if copy is False:
                raise ValueError("a different dtype needs a copy, which copy=False forbids")
            return found.astype(dtype)
        if copy is False or (found.base is None and not copy and not self._kind.backend.native_is_ndarray):
            return found
        shared = self._kind.backend.mutable and self._root is None
        # Memory of an immutable array must not be written by the receiver, who may expect to: give a copy of it.
        return found.copy() if copy or not shared else found

    def __dlpack__(self, **kwargs: Any) -> Any:
        return self._kind.backend.dlpack(views.expose(self), **kwargs)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._kind.backend.dlpack_device(native(self))

    def __reduce__(self) -> Any:
        return _rebuild, (self._kind.backend.name, np.array(self._host("pickling")), self._writeable())

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        made = self.copy()
        memo[id(self)] = made
        return made

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    def __iter__(self) -> Iterator[Any]:
        shape = self.shape
        if not shape:
            raise TypeError("iteration over a 0-d array")
        value = native(self)
        backend = self._kind.backend
        live = self._root is None or not backend.mutable  # whether every write is seen on the host, or counted
        if live and len(shape) == 1 and backend.on_cpu(value) and settings.current_scalars() == "numpy":
            return self._scalars(shape[0])
        return (indexing.getitem(self, i) for i in range(shape[0]))

    def _scalars(self, n: int) -> Iterator[Any]:
        """The elements one by one from one host copy, as long as nobody writes the array in the meantime."""
        root = views.owner(self)
        writes = root._writes
        host = self._host("iteration")
        for i in range(n):
            if root._writes != writes:
                yield from (indexing.getitem(self, j) for j in range(i, n))
                return
            yield host[i]

    def __contains__(self, item: Any) -> bool:
        return bool((self == item).any())

    def __getitem__(self, key: Any) -> Any:
        return indexing.getitem(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        indexing.setitem(self, key, value)

    def __delitem__(self, key: Any) -> NoReturn:
        raise ValueError("cannot delete array elements")

    # -- looking at values -------------------------------------------------------------------------------------------

    def _one(self, why: str) -> np.ndarray[Any, Any]:
        found = conversion.download(self._kind.backend, native(self), why)
        if events.tap is not None and not self._kind.backend.on_cpu(native(self)):
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
        return operator.index(self._one("an index"))

    def __str__(self) -> str:
        return str(self._shown())

    def __repr__(self) -> str:
        return repr(self._shown())

    def __format__(self, spec: str) -> str:
        return format(self._shown(), spec)

    def _shown(self) -> Any:
        backend = self._kind.backend
        if not backend.is_concrete(native(self)):
            return f"Array({self.dtype}{list(self.shape)}, traced by {backend.name})"
        return self._host("printing")

    def item(self, *args: Any) -> Any:
        """As ``ndarray.item``."""
        return self._one("item()").item(*args)

    def tolist(self) -> Any:
        """As ``ndarray.tolist``."""
        return self._host("tolist()").tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        """As ``ndarray.tobytes``."""
        return self._host("tobytes()").tobytes(order)

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
        """The values as an ndarray; memory is shared where the library can."""
        return self._host("to_numpy()")

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        """The array on another device of its library: a new array, or this one if it is there already."""
        backend = self._kind.backend
        return wrapping.wrap(placement.move(views.expose(self), backend, device), self._kind)

    # -- operators ---------------------------------------------------------------------------------------------------

    __add__, __radd__, __iadd__ = _binary(np.add), _reflected(np.add), _inplace(np.add)
    __sub__, __rsub__, __isub__ = _binary(np.subtract), _reflected(np.subtract), _inplace(np.subtract)
    __mul__, __rmul__, __imul__ = _binary(np.multiply), _reflected(np.multiply), _inplace(np.multiply)
    __truediv__, __rtruediv__, __itruediv__ = _binary(np.divide), _reflected(np.divide), _inplace(np.divide)
    __floordiv__, __rfloordiv__ = _binary(np.floor_divide), _reflected(np.floor_divide)
    __ifloordiv__ = _inplace(np.floor_divide)
    __mod__, __rmod__, __imod__ = _binary(np.remainder), _reflected(np.remainder), _inplace(np.remainder)
    __and__, __rand__, __iand__ = _binary(np.bitwise_and), _reflected(np.bitwise_and), _inplace(np.bitwise_and)
    __or__, __ror__, __ior__ = _binary(np.bitwise_or), _reflected(np.bitwise_or), _inplace(np.bitwise_or)
    __xor__, __rxor__, __ixor__ = _binary(np.bitwise_xor), _reflected(np.bitwise_xor), _inplace(np.bitwise_xor)
    __lshift__, __rlshift__ = _binary(np.left_shift), _reflected(np.left_shift)
    __ilshift__ = _inplace(np.left_shift)
    __rshift__, __rrshift__ = _binary(np.right_shift), _reflected(np.right_shift)
    __irshift__ = _inplace(np.right_shift)
    __rpow__ = _reflected(np.power)
    __lt__, __le__ = _binary(np.less), _binary(np.less_equal)
    __gt__, __ge__ = _binary(np.greater), _binary(np.greater_equal)
    __eq__, __ne__ = equality(np.equal, False), equality(np.not_equal, True)
    __neg__, __pos__, __invert__ = _unary(np.negative), _unary(np.positive), _unary(np.invert)
    __abs__ = _unary(np.absolute)

    def __pow__(self, exponent: Any, modulo: None = None) -> Any:
        short = short_power(self, exponent)
        return _power(self, exponent) if short is None else ufuncs.array_ufunc(short, "__call__", (self,), {})

    def __ipow__(self, exponent: Any) -> Any:  # type: ignore[misc]
        short = short_power(self, exponent)
        if short is None:
            return _inplace_power(self, exponent)
        return ufuncs.array_ufunc(short, "__call__", (self,), {"out": (self,)})

    def __divmod__(self, other: Any) -> Any:
        return ufuncs.array_ufunc(np.divmod, "__call__", (self, other), {})

    def __rdivmod__(self, other: Any) -> Any:
        return ufuncs.array_ufunc(np.divmod, "__call__", (other, self), {})

    def __matmul__(self, other: Any) -> Any:
        if ufuncs._speaks(other) or (not isinstance(other, Handle) and ufuncs._defers(other)):
            return NotImplemented
        return ufuncs.array_ufunc(np.matmul, "__call__", (self, other), {})

    def __rmatmul__(self, other: Any) -> Any:
        return ufuncs.array_ufunc(np.matmul, "__call__", (other, self), {})

    def __imatmul__(self, other: Any) -> Any:
        return ufuncs.array_ufunc(np.matmul, "__call__", (self, other), {"out": (self,)})

    # -- methods that are a NumPy function ------------------------------------------------------------------------------

    all, any = method(np.all), method(np.any)
    argmax, argmin = method(np.argmax), method(np.argmin)
    argpartition, argsort = method(np.argpartition), method(np.argsort)
    choose = method(np.choose)
    cumprod, cumsum = method(np.cumprod), method(np.cumsum)
    diagonal, dot = method(np.diagonal), method(np.dot)
    max, min = method(np.max), method(np.min)
    mean, prod, std, sum, var = method(np.mean), method(np.prod), method(np.std), method(np.sum), method(np.var)
    nonzero = method(np.nonzero)
    ravel, repeat, reshape = method(np.ravel), method(np.repeat), tuple_method(np.reshape)
    round, searchsorted = method(np.round), method(np.searchsorted)
    squeeze, swapaxes, take, trace = method(np.squeeze), method(np.swapaxes), method(np.take), method(np.trace)
    transpose = tuple_method(np.transpose)
    put = method(np.put)

    def compress(self, condition: Any, axis: Any = None, out: Any = None) -> Any:
        """As ``ndarray.compress``."""
        return functions.call(np.compress, (condition, self), {"axis": axis, "out": out})

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
        """As ``ndarray.clip``."""
        return functions.call(np.clip, (self, min, max), {"out": out, **kwargs})

    def conj(self) -> Any:
        """As ``ndarray.conj``."""
        return np.conjugate(self) if self.dtype.kind == "c" else self

    conjugate = conj

    @property
    def T(self) -> Any:
        """The transposed view."""
        return views.derive(self, ghost(self).T)

    @property
    def mT(self) -> Any:
        """The view with the last two axes swapped."""
        return views.derive(self, ghost(self).mT)

    def copy(self, order: Any = "C") -> Any:
        """A copy with memory of its own. Floating values get the precision in force."""
        return functions.call(np.copy, (self,), {})

    def flatten(self, order: Any = "C") -> Any:
        """A one-dimensional copy."""
        return functions.call(np.copy, (functions.call(np.ravel, (self, order), {}),), {})

    def astype(
        self, dtype: Any, order: Any = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
    ) -> Any:
        """As ``ndarray.astype``; dtypes that exist only on the host give a NumPy array."""
        wanted = np.dtype(dtype)
        backend, have = self._kind.backend, self._kind.dtype
        if not np.can_cast(have, wanted, casting):
            raise TypeError(f"Cannot cast array data from {have!r} to {wanted!r} according to the rule {casting!r}")
        wanted = dtypes.apply_precision(wanted, settings.current_precision())
        if not copy and wanted == have:
            return self
        if dtypes.category(wanted) == "other" or not backend.holds(wanted):
            host.allow("ndarray.astype", backend, f"dtype {wanted} exists only on the host")
            return self._host("astype").astype(wanted)
        with backend.within():
            value = native(self)
            made = backend.prim.copy(value) if wanted == have else backend.prim.astype(value, wanted)
        return views.wrapper(made, backend.kind(wanted), True)

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        """A view; with a dtype, of the same memory read as that dtype.

        A view as a subclass of ndarray is a NumPy array. Where the library cannot reread its memory (dtypes that exist
        only on the host, parts of an element that begin within one), the host does, and the result is read-only: writes
        would not reach this array.
        """
        if isinstance(dtype, builtins.type) and issubclass(dtype, np.ndarray):
            dtype, type = None, dtype
        if type is not None:
            return self._host("viewed as a subclass of ndarray").view(*() if dtype is None else (dtype,), type=type)
        if dtype is None or np.dtype(dtype) == self.dtype:
            return views.derive(self, ghost(self)[...])
        wanted = np.dtype(dtype)
        backend = self._kind.backend
        reason = f"{self.dtype} is reread as {wanted}"
        if dtypes.category(wanted) != "other":
            seen = ghost(self).view(wanted)
            if backend.native_is_ndarray:
                return views.derive(self, seen)
            if backend.holds(wanted) and views.can_reread(self, seen):
                if wanted.kind == "b" and not backend.mutable:
                    seen.flags.writeable = False  # any bits but 0 read as 1: writing them back would change others
                try:
                    return views.derive(self, seen)
                except Unsupported as unsupported:
                    reason = str(unsupported)
        made = host.call(np.ndarray.view, (self, wanted), {}, backend, reason)
        return _read_only(made) if isinstance(made, Array) else made

    def fill(self, value: Any) -> None:
        """As ``ndarray.fill``."""
        wrapping.check_writeable(self)
        if not isinstance(value, Handle) or ghost(value).shape:
            element = np.empty((), self.dtype)
            element.fill(indexing.stand_in(value))  # NumPy's own cast and errors
            value = element[()]
        indexing.setitem(self, ..., value)

    def sort(self, axis: int = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> None:
        """Sort in place."""
        _no_fields(order)
        indexing.setitem(self, ..., functions.call(np.sort, (self,), {"axis": axis, "kind": kind, "stable": stable}))

    def partition(self, kth: Any, axis: int = -1, kind: str = "introselect", order: Any = None) -> None:
        """Partition in place."""
        _no_fields(order)
        indexing.setitem(self, ..., functions.call(np.partition, (self, kth), {"axis": axis}))

    def byteswap(self, inplace: bool = False) -> Any:
        """As ``ndarray.byteswap``; on the host."""
        made = host.call(np.ndarray.byteswap, (self,), {}, self._kind.backend, "no library swaps bytes")
        if not inplace:
            return made
        indexing.setitem(self, ..., made)
        return self

    @property
    def real(self) -> Any:
        """The real part, a view; of a real array, all of it."""
        return views.derive(self, ghost(self).real)

    @real.setter
    def real(self, value: Any) -> None:
        indexing.setitem(self.real, ..., _as_array(value))

    @property
    def imag(self) -> Any:
        """The imaginary part, a view; read-only zeros if the array is real."""
        if self.dtype.kind == "c":
            return views.derive(self, ghost(self).imag)
        backend = self._kind.backend
        with backend.within():
            value = backend.prim.full(self.shape, 0, self.dtype, backend.device_of(native(self)))
        return _read_only(wrapping.wrap(value, self._kind))

    @imag.setter
    def imag(self, value: Any) -> None:
        if self.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        indexing.setitem(self.imag, ..., _as_array(value))

    def resize(self, *new_shape: Any, refcheck: bool = True) -> None:
        """As ``ndarray.resize``: in place, cut off or filled with zeros; ValueError for views and arrays with views.

        ``refcheck=False`` allows what the name says in NumPy; here an array with views is never resized.
        """
        shape = new_shape[0] if len(new_shape) == 1 else new_shape
        if shape is None or shape == ():
            return
        shape = (operator.index(shape),) if not isinstance(shape, tuple | list) else tuple(map(operator.index, shape))
        if any(n < 0 for n in shape):
            raise ValueError("negative dimensions not allowed")
        if self._base is not None:
            raise ValueError("cannot resize this array: it does not own its data")
        if any(isinstance(other, Handle) and other._base is self for other in gc.get_referrers(self)):
            raise ValueError(
                "cannot resize an array that references or is referenced\nby another array in this way.\n"
                "Use the np.resize function."
            )
        backend = self._kind.backend
        prim, size, count = backend.prim, self.size, math.prod(shape)
        with backend.within():
            line = prim.reshape(native(self), (size,))
            line = prim.slice(line, (slice(0, builtins.min(size, count), 1),))
            more = prim.full((builtins.max(count - size, 0),), 0, self.dtype, backend.device_of(line))
            made = prim.reshape(prim.concatenate([line, more], 0), shape)
        locked = not self._writeable()
        with views.exchange:
            self._v, self._ghost, self._owned = made, None, True
            self._writes += 1
        if locked:
            _read_only(self)

    @property
    def flat(self) -> Any:
        """The elements in C order: indexable, assignable, iterable."""
        return Flat(self)

    @flat.setter
    def flat(self, value: Any) -> None:
        Flat(self)[:] = value


class Scalar(Array):
    """A scalar on the device: immutable as ``np.float64`` is, hashable, formattable; its value is read when looked at.

    Results that are scalars in NumPy are ``Scalar`` on an accelerator and under a trace. On a CPU device they are NumPy's
    own scalars.
    """

    __slots__ = ()

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self.item())

    def __setitem__(self, key: Any, value: Any) -> NoReturn:
        raise TypeError(f"'{self.dtype.type.__name__}' object does not support item assignment")

    def __getitem__(self, key: Any) -> Any:
        if key == () or key is Ellipsis:
            return self if key == () else wrapping.wrap(views.expose(self), self._kind)
        raise IndexError("invalid index to scalar variable.")

    def __iter__(self) -> NoReturn:
        raise TypeError(f"'{self.dtype.type.__name__}' object is not iterable")

    def __len__(self) -> NoReturn:
        raise TypeError(f"object of type '{self.dtype.type.__name__}' has no len()")

    def __round__(self, ndigits: int | None = None) -> Any:
        return round(self._shown()[()], ndigits)

    def __trunc__(self) -> int:
        return int(self.item())

    def __floor__(self) -> int:
        return int(np.floor(self.item()))

    def __ceil__(self) -> int:
        return int(np.ceil(self.item()))

    def _shown(self) -> Any:
        found = super()._shown()
        return found[()] if isinstance(found, np.ndarray) else found

    # In-place operators make a new scalar: ``t = s; s += 1`` leaves t. Python does that where __iadd__ gives up.
    def _new(self, other: Any) -> Any:
        return NotImplemented

    __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = _new
    __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = __imatmul__ = _new


def _as_array(value: Any) -> Any:
    """As the setters of parts take values: arrays first, whose imaginary part is dropped where a scalar's is an error."""
    if isinstance(value, list | tuple) and wrapping.find_backend(value) is not None:
        return value
    return np.asarray(value) if isinstance(value, int | float | complex | list | tuple) else value


def _no_fields(order: Any) -> None:
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")


def _read_only(a: Array) -> Array:
    ghost(a).flags.writeable = False
    return a


def _rebuild(name: str, values: np.ndarray[Any, Any], writeable: bool) -> Array:
    """Unpickle: on the backend's default device here, or as a NumPy-held array if the library is not installed."""
    backend = loader.load(name if name in loader.available() else "numpy")
    value = conversion.upload(backend, values, why="unpickled")
    made: Array = wrapping.wrap(value, backend.kind(backend.dtype_of(value)))
    return made if writeable else _read_only(made)


views.wrapper = Array
wrapping.scalar_class = Scalar
loader.set_wrapper(Array)
