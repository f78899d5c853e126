"""Stand-ins in user files for NumPy's classes, index objects, and functions with special rules, such as ``np.load``."""

from __future__ import annotations

import abc
import builtins
import copyreg
import os
import sys
import types
from collections.abc import Callable
from contextlib import suppress
from functools import partial, wraps
from operator import attrgetter
from types import FrameType
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

import arraydispatch as ad

from .. import fastpath
from .._core import handles
from .._core.callable_proxy import MethodStandIn
from .._core.handles import SLOTS
from ..api import creation
from ..api.public import from_protocol
from ..array import exports
from ..array.exports import shared
from ..backends import loader
from ..backends.kinds import Kind
from ..common import buffers, callers, events
from ..common.errors import BackendMismatchError
from ..common.patching import Exchange, Exchanges
from ..common.process_state import process
from ..common.pytrees import mapped
from ..common.sentinels import DECLINED
from ..dispatch import host_values, split_arrays
from ..fastpath import methods
from ..memory import reshaping, views
from ..memory.roots import memory_of
from ..runtime import dtypes
from .adoption import (
    Ufunc,
    UfuncType,
    adopt,
    asked_by_user,
    by_name,
    holds_array,
    is_window,
    movable,
    move,
    not_of_others,
    on_memory,
    received,
    traced,
)
from .array_methods import StandInType, is_copy
from .iterators import ITERATORS, METACLASSES, brought, nested_iters
from .user_files import expects_ndarrays

__all__ = ["CLASSES", "FUNCTIONS", "index_object"]

_real = np.ndarray


_OF_THE_CLASS: dict[str, tuple[int, Callable[..., Any]]] = {
    "__getitem__": (1, lambda item: types.GenericAlias(_real, item)),
    "__repr__": (0, lambda: repr(_real)),
    "__str__": (0, lambda: str(_real)),
}
"""Name of a method that Python looks up on the class itself -> number of arguments, function."""


class _Unbound(MethodStandIn):
    """Stand-in for an unbound method such as ``np.ndarray.sum``. It accepts NumPy's arrays and ours."""

    def __init__(self, name: str, ours: Any) -> None:
        super().__init__(_real, name)
        self._ours = ours
        self._numpys = _view if name == "view" else getattr(_real, name)
        self._of_the_class = _OF_THE_CLASS.get(name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._of_the_class is not None and len(args) == self._of_the_class[0]:
            return self._of_the_class[1](*args)
        if isinstance(args[0] if args else None, ad.Array):
            return self._ours(*args, **kwargs)
        return self._numpys(*args, **kwargs)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)


def _unbound(name: str) -> property:
    """Return the metaclass's property for ``np.ndarray.<name>``: an unbound method that accepts NumPy's arrays and ours."""
    return property(
        lambda cls: _Unbound(
            name, vars(cls).get(name) or vars(ad.Array).get(name) or getattr(ad.Array if name in SLOTS else _real, name)
        )
    )


class _New(MethodStandIn):
    """``np.ndarray.__new__``, which makes NumPy's arrays of a subclass, and ours.

    Python also looks up ``__new__`` of the metaclass, to make a class. There this object gives the metaclass's own function.
    """

    def __init__(self, of_metaclass: Callable[..., Any]) -> None:
        super().__init__(_real, "__new__")
        self._of_metaclass = of_metaclass

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return ndarray(*args[1:], **kwargs) if args and args[0] is ndarray else _real.__new__(*args, **kwargs)

    def __get__(self, cls: type | None, metaclass: type) -> Any:
        return self._of_metaclass if cls is None else self

    def __set__(self, cls: type, value: Any) -> None:
        raise TypeError(f"cannot set '__new__' attribute of immutable type '{cls.__module__}.{cls.__name__}'")


class _NdarrayType(StandInType, abc.ABCMeta):
    """Metaclass of the facade's ``np.ndarray``: NumPy's arrays and ours are instances, and subclasses are subclasses of NumPy's class.

    Class statements inherit from NumPy's class instead (:func:`.array_methods.for_c_code`). For other ways of making a class, such as
    ``type(name, (np.ndarray, SomeAbstractBase), names)``, this derives from ``ABCMeta``, so that metaclasses do not conflict.
    """

    inherits_always = True

    def numpys(cls) -> type | None:
        """Return NumPy's class."""
        return _real

    def inherited(cls, made: Any) -> None:
        """Report a user's subclass, and make its ``view`` accept the facade's class."""
        events.left(f"class {made.__name__}(np.ndarray)", "a subclass of ndarray computes on the host")
        if made.view is _real.view:
            with suppress(AttributeError, TypeError):  # its metaclass does not allow changes of its classes
                made.view = _view

    @_New  # type: ignore[misc]
    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any) -> Any:
        if not any(isinstance(base, _NdarrayType) for base in bases):  # raise the error with NumPy's name for the class
            return super().__new__(mcls, f"numpy.{name}", bases, namespace, **kwargs)
        # A user's subclass: a true ndarray subclass, which computes on the host as NumPy does.
        bases = tuple(_real if isinstance(base, _NdarrayType) else base for base in bases)
        events.left(f"class {name}(np.ndarray)", "a subclass of ndarray computes on the host")
        namespace.setdefault("view", _view)
        return types.new_class(name, bases, kwargs, lambda body: body.update(namespace))

    def __init__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any) -> None:
        super().__init__(name, bases, namespace)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) > 1 and isinstance(args[1], Kind):  # a library that rebuilds an array from its parts
            return make(*args, **kwargs)
        names = ("shape", "dtype", "buffer", "offset", "strides", "order")
        given = {**dict(zip(names, args)), **kwargs}
        if isinstance(given.get("buffer"), ad.Array):
            return _window(given)
        made = _real(*args, **kwargs)
        if given.get("buffer") is not None:
            if (kept := on_memory(made)) is not None:
                return kept
            events.left("numpy.ndarray", "it is a window on someone else's buffer")
            return made
        return move(made, "numpy.ndarray")

    __name__ = property(lambda cls: cls.__qualname__)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, (_real, ad.Array)) and not _is_scalar(instance)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, (_real, ad.Array))

    # In user code ``type(x) == np.ndarray`` holds for NumPy's own arrays too. In libraries it does not, because they would
    # pass an Array on to C code.
    def __eq__(cls, other: object) -> bool:
        return other is cls or (other is _real and asked_by_user(1))

    # Keep the C slot: every small call looks this class up in a set, and would run a Python function for it.
    __hash__ = type.__hash__

    def __dir__(cls) -> list[str]:
        return _shown_names()


def _shown_names() -> list[str]:
    """Return the names that ``dir`` lists: NumPy's, and the public ones of an `Array`."""
    return sorted({*dir(_real), *(name for name in dir(ad.Array) if not name.startswith("_"))})


_KEPT = frozenset(
    "__class__ __class_getitem__ __new__ __init__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __hash__ __or__ __ror__"
    " __bool__ __len__ __iter__ __contains__ __call__ __dir__ __getattribute__ __setattr__ __delattr__ __init_subclass__"
    " __subclasshook__ __sizeof__ __format__ __reduce_ex__ __array_ufunc__ __array_function__ __array_namespace__"
    " __dlpack__ __dlpack_device__ __copy__ __deepcopy__".split()
)
"""Attributes of ``np.ndarray`` that Python or NumPy look up on the class itself; they are not replaced."""

for _name in dir(_real):
    if _name not in _KEPT and callable(getattr(_real, _name)):
        setattr(_NdarrayType, _name, _unbound(_name))


def _is_scalar(instance: Any) -> bool:
    scalar = getattr(ad, "Scalar", None)
    return scalar is not None and isinstance(instance, scalar)


def _view(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Implement ``ndarray.view``, with the facade's ``np.ndarray`` as argument meaning NumPy's own class."""
    args = tuple(_real if value is ndarray else value for value in args)
    kwargs = {key: _real if value is ndarray else value for key, value in kwargs.items()}
    return _real.view(self, *args, **kwargs)


def _class_shown(a: Any, frame: FrameType) -> type:
    names = frame.f_globals
    if process.cells is names and process.users is None:
        return _real  # in notebook cells that see NumPy's own module, isinstance must hold for objects that print as ndarrays
    return _real if expects_ndarrays(frame) else exports.class_seen(type(a), names)


def _interface(a: Any) -> dict[str, Any]:
    """Return ``ndarray.__array_interface__``. A program may write through it, so an array outside host memory moves there for good."""
    asking = sys._getframe(1)
    found = exports.array_interface(a, asking)
    if not _for_user(a):
        return found
    shared(a, "__array_interface__")
    return exports.array_interface(a, asking)


def _view_of(self: Any, dtype: Any = None, type: Any = None) -> Any:
    """View as ``ndarray.view`` does. The array moves to the host for good if an ndarray can share its memory only there.

    The view is an ndarray if it has a user's subclass or a dtype that exists only on the host.
    """
    if (stays := _stays(dtype) or (isinstance(type, builtins.type) and _stays(type))) and _for_user(self):
        events.left("ndarray.view", f"{stays} shares its memory")
        reshaping.settle(self, "its memory is shared on the host")
    return ad.Array.view(self, dtype, type)


_view_of.__name__, _view_of.__qualname__ = "view", "ndarray.view"


class ndarray(ad.Array, metaclass=_NdarrayType):
    # Every array made while a launcher runs has exactly this type, so that ``type(x) is np.ndarray`` holds.
    __slots__ = ()
    __module__ = "numpy"
    __doc__ = _real.__doc__
    stands_for_ndarray = True

    __class_getitem__ = _real.__class_getitem__

    __class__ = methods.class_shown(_class_shown)

    def __dir__(self) -> list[str]:
        return _shown_names()

    @property
    def ctypes(self) -> Any:
        """Return ``ndarray.ctypes`` for memory that C code may write."""
        return shared(self, "ctypes").ctypes

    __array_interface__ = property(_interface)
    __array_struct__ = property(exports.array_struct)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        """Return ``ndarray.__array__()``. The program may write the result, so an array outside host memory moves there for good."""
        if not copy and _for_user(self) and (dtype is None or np.dtype(dtype) == self.dtype):
            return shared(self, "ndarray.__array__")
        return super().__array__(dtype, copy)

    def _lent(self, flags: int) -> Any:
        """Return the ndarray for the buffer protocol. For a writer, or if the program itself asks, it lies on memory that the host can
        write.
        """
        if flags & 1 or _for_user(self):  # PyBUF_WRITABLE
            return shared(self, "the buffer of an array")
        return super()._lent(flags)

    @property
    def data(self) -> memoryview:
        """Return ``ndarray.data``."""
        found: Any = shared(self, "ndarray.data") if _for_user(self) else super().__array__()
        return memoryview(found)

    view = handles.method_with(_view_of, methods.view(_view_of))

    def __reduce_ex__(self, protocol: Any, /) -> Any:
        """Pickle as NumPy's own class: a reader of the pickle may not have this package."""
        values, seen = self._host("pickled"), views.ghost(self)
        if protocol < 5 or not seen.transpose(np.argsort([-s for s in seen.strides], kind="stable")).flags.c_contiguous:
            return values.__reduce__()
        return (values if buffers.is_writeable(values) else values.copy("K")).__reduce_ex__(protocol)


def _for_user(a: Any) -> bool:
    """Whether user code, or NumPy on its behalf, requests the memory of an array whose value is not in host memory.

    NumPy may keep the memory, as ``np.asmatrix`` does. If the answer is yes, the callers move the array to the host.
    """
    if process.users is None or a._kind.backend.hosted or exports.shares_with_host(a):
        return False
    value = views.native(a)
    if a._kind.backend.recorded(value) or not a._kind.backend.is_concrete(value):
        return False
    asking = sys._getframe(2)
    if callers.is_ours(asking.f_code.co_filename) or asking.f_globals.get("__name__", "").startswith(_ONLY_READ):
        return False
    return process.users.owns_frame(callers.outside(asking, callers.is_core)[0])


_ONLY_READ = "numpy.testing"
"""NumPy package with functions that request the memory of their arguments but do not keep it."""


def _stays(wanted: Any) -> str:
    """Return the reason why a view must be an ndarray (its subclass or dtype); an empty string if it can be an `Array`."""
    if isinstance(wanted, builtins.type) and issubclass(wanted, _real | ad.Array):
        return wanted.__name__ if issubclass(wanted, _real) else ""
    if wanted is None or dtypes.category(dtype := np.dtype(wanted)) != "other" or dtype.hasobject:
        return ""
    return f"dtype {dtype}"


make = handles.maker(ndarray)
"""Constructor of every array while a launcher runs (``process.wrapper`` of :mod:`arraydispatch.common.process_state`)."""

loader.set_wrapper(ad.Array)  # backends register the subclass with their libraries


def _reduce_class(cls: type) -> Any:
    return by_name("numpy", cls.__name__) if cls in CLASSES.values() else cls.__qualname__


# -- iteration on the host ---------------------------------------------------------------------------------------------


CLASSES: dict[str, type] = {"ndarray": ndarray, "ufunc": Ufunc, **ITERATORS}
"""Classes that the facade exchanges; all others are NumPy's own."""

# pickle asks this table before it tries "by name", where it would find NumPy's own class and complain.
for _metaclass in (_NdarrayType, UfuncType, *METACLASSES):
    copyreg.pickle(_metaclass, _reduce_class)


# -- index objects: r_ c_ mgrid ogrid ------------------------------------------------------------------------------------


class _IndexObject:
    """Stand-in for ``np.r_`` and similar objects: it computes on the host and moves the result."""

    def __init__(self, real: Any, name: str) -> None:
        self._real = real
        self._name = f"numpy.{name}"

    def __getitem__(self, key: Any) -> Any:
        return move(self._real[key], self._name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def __dir__(self) -> list[str]:
        return dir(self._real)

    def __reduce__(self) -> tuple[Any, ...]:
        return by_name("numpy", self._name.removeprefix("numpy."))


class _Grid(_IndexObject):
    """Stand-in for ``np.mgrid`` and ``np.ogrid``."""

    def __getitem__(self, key: Any) -> Any:
        return creation.grid(key, self._real.sparse) if not traced() else self._real[key]


class _Joiner(_IndexObject):
    """Stand-in for ``np.r_`` and ``np.c_``: arrays are joined where they are."""

    def __init__(self, real: Any, name: str) -> None:
        super().__init__(real, name)
        self._columns = name == "c_"

    def __getitem__(self, key: Any) -> Any:
        items = key if type(key) is tuple else (key,)
        if items and type(items[0]) is not str:  # that may ask for a matrix
            made = fastpath.of_values(self._real.__getitem__, items)
            if made is not DECLINED:
                return made
        if not holds_array(items):
            return super().__getitem__(key)
        pieces = self._pieces(items)
        if pieces is None:
            return super().__getitem__(tuple(brought(self._name, item) for item in items))
        return np.concatenate(pieces, axis=-1 if self._columns else 0)

    def _pieces(self, items: tuple[Any, ...]) -> list[Any] | None:
        """Return the pieces to concatenate; None if only NumPy's own code can do that (for directives and for Python scalars, which are weak)."""
        pieces = []
        for item in items:
            if isinstance(item, ad.Array):
                piece = item
            elif type(item) is _real and movable(item):
                piece = adopt(item)
            else:
                host = self._scalar(item, items) if np.isscalar(item) and not isinstance(item, str) else None
                if host is None:
                    if not isinstance(item, (slice, list, tuple)) or holds_array((item,)):
                        return None
                    host = self._real[item] if isinstance(item, slice) else np.asarray(item)
                if not movable(host):
                    return None
                piece = ad.asarray(host)
            if not self._columns:
                if piece.ndim == 0:
                    piece = piece.reshape(1)
            elif piece.ndim < 2:
                piece = piece.reshape(-1, 1)
            pieces.append(piece)
        return pieces if len({piece.ndim for piece in pieces}) == 1 else None

    def _scalar(self, item: Any, items: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        dtypes = [other.dtype for other in items if isinstance(other, (ad.Array, _real))]
        return np.full(1, item, dtype=np.result_type(item, *dtypes))


def index_object(real: Any, name: str) -> Any:
    """Return the stand-in for an index object of NumPy's."""
    return _Joiner(real, name) if name in ("r_", "c_") else _Grid(real, name)


# -- functions with a rule of their own --------------------------------------------------------------------------------


_BEHIND_ARCHIVES = ("collections.abc", np.lib._npyio_impl.__name__)
"""Modules from which ``values``, ``items`` and ``f`` of an archive read its arrays."""


class _Archive(np.lib.npyio.NpzFile):
    """Open ``.npz`` file that returns arrays on the backend."""

    def __getitem__(self, key: str) -> Any:
        asks = sys._getframe(1)
        while asks.f_back is not None and asks.f_globals.get("__name__") in _BEHIND_ARCHIVES:
            asks = asks.f_back
        if process.users is None or not process.users.owns_frame(asks):
            return super().__getitem__(key)
        if split_arrays.is_possible() and (found := _member_by_parts(self.zip, key)) is not DECLINED:
            return found
        return move(super().__getitem__(key), "numpy.load")


_Archive.__name__ = _Archive.__qualname__ = "NpzFile"
_Archive.__module__ = np.lib.npyio.NpzFile.__module__


def _by_parts(file: Any) -> Any:
    """Load an array that is split over a mesh; DECLINED for any other file."""
    if not isinstance(file, str | os.PathLike):
        return DECLINED
    try:
        held = np.lib.format.open_memmap(file, mode="r")
    except (OSError, ValueError, EOFError):  # not a file of one array, or an array of objects
        return DECLINED
    return split_arrays.mapped(held, "numpy.load")


def _member_by_parts(archive: Any, key: Any) -> Any:
    """Load an array of an archive that is split over a mesh; DECLINED for any other member."""
    names = [name for name in (key, f"{key}.npy") if name in getattr(archive, "NameToInfo", ())]
    if not names:
        return DECLINED
    with archive.open(names[0]) as member:
        try:
            version = np.lib.format.read_magic(member)
            header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
            shape, by_columns, dtype = header(member)
        except (KeyError, ValueError, EOFError):  # not an array, or a header that NumPy refuses or warns about
            return DECLINED
        if by_columns:
            return DECLINED

        def draw(count: int) -> Any:
            data = member.read(count * dtype.itemsize)
            if len(data) < count * dtype.itemsize:
                raise ValueError(f"EOF: reading array data, expected {count * dtype.itemsize} bytes got {len(data)}")
            return np.frombuffer(data, dtype)

        return split_arrays.streamed(
            shape, dtype, draw, lambda count: member.seek(count * dtype.itemsize, 1), "numpy.load"
        )


def load(file: Any, mmap_mode: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Implement ``np.load``: arrays are moved to the backend, but a memory map stays one."""
    if mmap_mode is None and not args and not kwargs and split_arrays.is_possible():
        split = _by_parts(file)
        if split is not DECLINED:
            return split
    result = np.load(file, mmap_mode, *args, **kwargs)
    if type(result) is np.lib.npyio.NpzFile:
        result.__class__ = _Archive
        return result
    if mmap_mode is not None:
        events.left("numpy.load", "a memory map stays on its file")
        return result
    return move(result, "numpy.load")


def _from_memory(made: np.ndarray[Any, Any], name: str, copy: bool | None = None) -> Any:
    """Move ``made``, NumPy's conversion of an object, to the backend, with its read-only flag. If it is a view of memory that may change,
    return an array on that memory, or ``made`` itself if that is impossible.
    """
    if (buffers.is_writeable(made) or copy is False) and is_window(made):
        kept = on_memory(made) if buffers.is_writeable(made) and type(made) is _real else None
        if kept is not None:
            return kept
        events.left(
            name, "it is a window on a writable buffer" if buffers.is_writeable(made) else "copy=False: it is a window"
        )
        return made
    # NumPy takes any nonzero byte for True, but some libraries take only 1; Pillow writes 255.
    moved = move(np.asarray(made.view(np.uint8) != 0) if made.dtype == bool else made, name)
    if isinstance(moved, ad.Array) and not buffers.is_writeable(made):
        views.ghost(moved).flags.writeable = False
    return moved


def frombuffer(buffer: Any, *args: Any, **kwargs: Any) -> Any:
    """Implement ``np.frombuffer``: the result is moved if the buffer cannot change; otherwise it stays a view of the buffer."""
    made: Any = np.frombuffer(buffer, *args, **kwargs)
    return _from_memory(made, "numpy.frombuffer") if isinstance(made, _real) else made


_WITHOUT_MEMORY = frozenset({list, tuple, range, bool, int, float, complex, str, bytes, type(None)})
"""Types that NumPy converts to an array without reading their memory."""


def _shows_memory(x: Any) -> bool:
    """Whether NumPy would view the memory of an object that is not an array: by the buffer protocol or ``__array_interface__``."""
    if hasattr(type(x), "__array__"):
        return False
    try:
        memoryview(x).release()
    except (TypeError, BufferError):
        return hasattr(x, "__array_interface__") or hasattr(x, "__array_struct__")
    return True


def _not_copied(seen: np.ndarray[Any, Any], x: np.ndarray[Any, Any], name: str) -> Any:
    """Return ``seen``, NumPy's result for the ndarray ``x`` with ``copy=False``, if it is a view of foreign memory, otherwise an array that
    shares its memory.

    Return None if that is impossible: an accelerator shares no memory with the host, and another precision needs a copy.
    """
    if type(seen) is not _real or (buffers.is_writeable(seen) and is_window(x)):
        events.left(name, "it is a window on other memory")
        return seen
    return host_values.sharing(seen)


def _from_data(name: str) -> Callable[..., Any]:
    """Implement ``np.asarray`` and similar functions: NumPy views objects that expose their memory; other values go to the backend."""
    real, parameter = getattr(np, name), "object" if name == "array" else "a"

    def made(*args: Any, **kwargs: Any) -> Any:
        if kwargs and fastpath.meets_foreign(real, (), kwargs):
            return real(*args, **kwargs)
        x = args[0] if args else kwargs.get(parameter)
        cls = type(x)
        if cls is ndarray or cls in _WITHOUT_MEMORY:
            try:
                return getattr(creation, name)(*args, **kwargs)
            except BackendMismatchError:
                if cls is ndarray:
                    raise
                args, kwargs = mapped(not_of_others, args), mapped(not_of_others, kwargs)
            return getattr(creation, name)(*args, **kwargs)
        if _shows_memory(x):
            kwargs.pop("like", None)
            return _from_memory(real(*args, **kwargs), f"numpy.{name}", kwargs.get("copy"))
        copy = creation.copy_mode(kwargs.get("copy", name == "array" or None))
        if copy is False and not isinstance(x, ad.Array):
            events.left(f"numpy.{name}", "copy=False: it stays a NumPy array")
            seen = real(*args, **kwargs)
            if not is_copy(seen):
                return seen
        dtype = args[1] if len(args) > 1 else kwargs.get("dtype")
        given = from_protocol(x, dtype)
        if given is not x:  # called only once, as NumPy does
            args, kwargs = ((given, *args[1:]), kwargs) if args else (args, {**kwargs, parameter: given})
        if isinstance(given, _real) and copy is None:
            seen = real(*args, **{key: value for key, value in kwargs.items() if key != "like"})
            if memory_of(seen) is memory_of(given):
                of_library = given is not x and loader.backend_of(x) is not None
                kept = host_values.sharing(seen) if of_library else _not_copied(seen, given, f"numpy.{name}")
                if kept is not None:
                    return kept
        return getattr(creation, name)(*args, **kwargs)

    return fastpath.of_data_at_once(real, made)


def from_dlpack(x: Any, /, **kwargs: Any) -> Any:
    """Implement ``np.from_dlpack``: return a view of an ``Array``, an array on another object's memory, or a read-only ndarray."""
    if isinstance(x, ad.Array) and not kwargs:
        return x.view()
    made = np.from_dlpack(x, **kwargs)
    kept = on_memory(made) if made.flags.writeable else None
    if kept is None:
        events.left("numpy.from_dlpack", "it is a window on another library's array")
        return made
    return kept


def as_strided(x: Any, *args: Any, **kwargs: Any) -> Any:
    """Implement ``as_strided``: a view of an ``Array``; if it would reach beyond the array's memory, a read-only ndarray on a host copy."""
    if not isinstance(x, ad.Array):
        return received(
            [np.lib.stride_tricks.as_strided(x, *args, **kwargs)], "numpy.lib.stride_tricks.as_strided", (x,)
        )[0]
    seen = np.lib.stride_tricks.as_strided(views.ghost(x), *args, **kwargs)
    first, last = byte_bounds(views.ghost(views.owner(x)))
    begin, end = byte_bounds(seen)
    if seen.size and not first <= begin <= end <= last:
        events.left("numpy.lib.stride_tricks.as_strided", "it strides beyond the array, over host memory")
        return np.lib.stride_tricks.as_strided(ad.to_numpy(x), *args, **{**kwargs, "writeable": False})
    return views.derive(x, seen)


def _window(given: dict[str, Any]) -> Any:
    """Implement ``np.ndarray(shape, dtype, buffer=x)`` for an ``Array``: return a view of it. ``given``: all arguments by name."""
    array = given.pop("buffer")
    if not array._kind.backend.holds(np.dtype(given.get("dtype") or float)):
        events.left("numpy.ndarray", "a dtype that exists only on the host looks at the memory of the array")
        return _real(buffer=shared(array, "numpy.ndarray"), **given)
    return views.derive(array, _real(**{"dtype": float, **given}, buffer=views.ghost(array)))


def require(a: Any, dtype: Any = None, requirements: Any = None, *, like: Any = None) -> Any:
    """Implement ``np.require``; for ndarrays return NumPy's result."""
    if like is not None and fastpath.meets_foreign(np.require, (), {"like": like}):
        return np.require(a, dtype, requirements, like=like)
    foreign = not isinstance(a, _real)
    a = from_protocol(a, dtype)
    if isinstance(a, ad.Array):
        return creation.require(a, dtype, requirements)
    if foreign and isinstance(a, _real):
        made = np.require(a, dtype, requirements)
        kept = host_values.sharing(made) if type(made) is _real else None
        return made if kept is None else kept
    if isinstance(a, _real):
        events.left("numpy.require", "the result may be a view of a NumPy array")
        return np.require(a, dtype, requirements)
    return _from_memory(np.require(a, dtype, requirements), "numpy.require")


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    """Implement ``np.asarray_chkfinite``: check the values on the array's device."""
    array = FUNCTIONS["asarray"](a, dtype, order)
    if array.dtype.kind in "fc" and not np.isfinite(array).all():
        raise ValueError("array must not contain infs or NaNs")
    return array


def isscalar(element: Any) -> bool:
    """Implement ``np.isscalar``; true also for a device scalar."""
    if type(element) is ndarray:
        return False
    return np.isscalar(element) or _is_scalar(element)


def _told_by_array(name: str) -> Callable[..., Any]:
    """Make a function that returns an array's attribute; for other arguments it calls NumPy's."""
    real, of_array = getattr(np, name), attrgetter(name)

    @wraps(real)
    def told(*args: Any, **kwargs: Any) -> Any:
        return (
            of_array(args[0]) if len(args) == 1 and not kwargs and type(args[0]) is ndarray else real(*args, **kwargs)
        )

    return told


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: _from_data(name) for name in ("array", "asanyarray", "asarray", "ascontiguousarray", "asfortranarray")},
    "load": load,
    "nested_iters": nested_iters,
    "require": require,
    "asarray_chkfinite": asarray_chkfinite,
    "frombuffer": frombuffer,
    "from_dlpack": from_dlpack,
    "as_strided": as_strided,
    "isscalar": isscalar,
    **{name: _told_by_array(name) for name in ("ndim", "shape", "size")},
}
"""Name -> function, for functions with a special rule."""


# -- views of NumPy's own subclasses ------------------------------------------------------------------------------------


def _viewing(exchange: Exchange) -> Callable[..., Any]:
    real = exchange.real

    def numpys(value: Any) -> Any:
        return np.ndarray if value is ndarray else value

    @wraps(real)
    def view(self: Any, *args: Any, **kwargs: Any) -> Any:
        if exchange.on:
            args, kwargs = tuple(map(numpys, args)), {name: numpys(value) for name, value in kwargs.items()}
        return real(self, *args, **kwargs)

    return view


def _open_view(where: str, exchanges: Exchanges) -> None:
    exchanges.put(where, _viewing)


VIEWS: dict[str, Callable[[Exchanges], None]] = {
    where.partition(":")[0]: partial(_open_view, where)
    for where in (
        "numpy._core.defchararray:chararray.view",
        "numpy._core.memmap:memmap.view",
        "numpy._core.records:recarray.view",
        "numpy.ma.core:MaskedArray.view",
        "numpy.matrixlib.defmatrix:matrix.view",
    )
}
"""Module with a subclass of ndarray -> the exchange of its ``view``, made once the module is imported.

``np.memmap``, ``np.matrix``, ``np.recarray``, masked arrays and arrays of strings stay NumPy's own in a program, and so do their
views by ``view(np.ndarray)``. NumPy's C code would treat the program's class as a dtype.
"""
