"""Stand-ins for NumPy's functions in user files: ndarrays among the arguments are moved to the backend first.

Data from a library (``load_digits()``, pandas, h5py) is an ndarray, and NumPy never dispatches on those. So
a pure function or ufunc called from a user file moves them to the backend (*adopts* them) and calls the real function
with ``Array`` arguments, which then dispatch by protocol. An ndarray is not adopted if the function writes to it, if the result
would be a view of it, or if no backend has its dtype.

A stand-in compares and hashes equal to its function, so tables keyed by NumPy functions (pandas' aggregation names) find it. It
pickles by name, and ``inspect`` treats it as the function. A function has only one stand-in, even if it has several names. Protocol
methods of user classes get the stand-in (:mod:`arraydispatch.launcher.array_methods`), so that ``is`` holds there too.
"""

from __future__ import annotations

import operator
import sys
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import arraydispatch as ad

from .. import fastpath
from .._core.callable_proxy import MethodStandIn, StandIn, by_name
from ..api.public import from_protocol
from ..array.exports import shared
from ..backends import loader
from ..common import buffers, events, user_warnings
from ..common.errors import BackendMismatchError
from ..common.process_state import process
from ..common.pytrees import mapped
from ..common.sentinels import DECLINED
from ..dispatch import host_values, split_arrays
from ..dispatch.handover import handed
from ..dispatch.wrapping import circular
from ..functions.registry import position_of, spec_of
from ..memory import views
from ..memory.roots import memory_of
from ..runtime import conversion, dtypes, settings
from .array_methods import StandInType, is_copy

__all__ = [
    "Function", "Made", "Output", "Sequences", "Special", "Stand", "Ufunc", "UfuncType", "Views", "ViewsOfMany",
    "asked_by_user", "by_name", "is_window", "move", "on_memory", "not_of_others", "received", "receiving", "to_host", "traced",
]  # fmt: skip

_ndarray = np.ndarray
# Only these types can hold an ndarray to adopt; a value of another type costs one set lookup.
_LOOK = frozenset({np.ndarray, np.memmap, list, tuple})
_ARRAYS = frozenset({np.ndarray, np.memmap})
_NESTS = (list, tuple)
_WITHOUT_OUT = (
    "'where' used without 'out', expect unitialized memory in output. If this is intentional, use out=None."  # sic
)
_DEPTH = 4


def asked_by_user(depth: int) -> bool:
    """Whether the frame ``depth`` above the caller is user code, or runs a function for user code, as a pool does.

    Frames of the thin path, which exist only if the core is not compiled, are not counted.
    """
    users = process.users
    if users is None:
        return False
    frame: Any = sys._getframe(depth + 1)
    while frame.f_globals is _THIN:
        frame = frame.f_back
    return users.owns_frame(frame) or frame.f_globals.get("__name__") in _RUN_FUNCTIONS


_THIN = vars(fastpath.functions)
_RUN_FUNCTIONS = frozenset(
    "asyncio.events concurrent.futures.process concurrent.futures.thread multiprocessing.pool multiprocessing.process threading".split()
)
"""Modules of the standard library that call a program's functions."""


class TypeTable(dict[type, bool]):
    """Type -> whether it is a subclass of one of the given classes, found on first use."""

    def __init__(self, *classes: type) -> None:
        self._classes = classes

    def __missing__(self, kind: type) -> bool:
        found = self[kind] = issubclass(kind, self._classes)
        return found


def traced() -> bool:
    """Whether the program runs inside a library's own trace."""
    return process.visited is not None and not process.traces and process.visited()


def movable(x: np.ndarray[Any, Any]) -> bool:
    """Whether the default backend can hold an ndarray of this dtype."""
    return dtypes.category(x.dtype) != "other" and _held(x.dtype.newbyteorder("="))


def _held(dtype: np.dtype[Any]) -> bool:
    return conversion.beginning((0,), dtype).holds(dtype)


def adopt(x: np.ndarray[Any, Any]) -> Any:
    """Copy an ndarray that came from a library to an ``Array``. (A copy, because its owner may write to it later.)"""
    if process.observer is not None:
        process.observer(x)
    if type(x) is np.memmap and split_arrays.is_possible():
        split = split_arrays.mapped(x, "numpy.memmap")
        if split is not DECLINED:
            return split
    native = x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))
    return ad.asarray(native, backend=conversion.beginning(x.shape, native.dtype), copy=True)


def _upload(host: np.ndarray[Any, Any], what: str) -> Any:
    """Move a new ndarray to the default backend, with floats in the precision in force; return it unchanged if no backend has its dtype.

    ``what``: function that made it, for the report.
    """
    if not movable(host):
        events.left(what, dtypes.only_on_host(host.dtype))
        return host
    wanted = conversion.precise(host.dtype)
    if not _held(wanted):
        events.left(what, dtypes.only_on_host(wanted))
        return host
    if fastpath.least and host.base is None and wanted == host.dtype and host.size < fastpath.least:
        return fastpath.new(host)
    backend = conversion.beginning(host.shape, wanted)
    device = None if backend.hosted else conversion.default_device(backend)
    # Nothing else refers to the memory, unless the array is a view.
    fresh = host.astype(wanted, copy=host.base is not None)
    value = conversion.upload(backend, fresh, device, what, copy=False)
    made = process.wrapper(value, backend.kind(wanted), backend.hosted and fresh.base is None)
    made = views.keep_order(made, fresh)
    if not buffers.is_writeable(host):  # np.broadcast_to(1.0, 3)
        views.ghost(made).flags.writeable = False
    return made


def on_memory(x: np.ndarray[Any, Any]) -> Any:
    """Return an array on the memory of an ndarray that other code may write; reads see later changes.

    Return None if the backend cannot share the memory, or might read it differently from NumPy, to which a boolean byte of 2 is true.
    """
    if x.dtype == bool or not x.flags.aligned or any(step % (x.itemsize or 1) for step in x.strides):
        return None
    return host_values.sharing(x)


def is_window(x: np.ndarray[Any, Any]) -> bool:
    """Whether an ndarray is a view of memory that it does not own: of a buffer, a file, a record, or an instance of a subclass of ndarray
    that is not NumPy's.
    """
    seen: Any = x
    while isinstance(seen, _ndarray):
        if seen.dtype.kind == "V" or type(seen).__module__.partition(".")[0] != "numpy":
            return True
        seen = seen.base
    return seen is not None or any(step % (x.itemsize or 1) for step in x.strides)


def move(result: Any, what: str) -> Any:
    """Return a result with its new ndarrays, also in tuples, lists and named tuples, moved to the backend. ``what``: name in reports."""
    kind = type(result)
    if kind is _ndarray:
        if process.visited is not None and traced():
            return result
        made = fastpath.fresh(result)
        return _upload(result, what) if made is None else made
    nests = kind is tuple or kind is list or (issubclass(kind, tuple) and hasattr(kind, "_fields"))
    return mapped(lambda part: move(part, what), result) if nests else result


def received(made: Sequence[Any], what: str, given: tuple[Any, ...] = (), others: bool = False) -> list[Any]:
    """Return a function's results with arrays in place of ndarrays. ``what``: the function's name in reports; ``given``: its arguments.

    An ndarray that only ``made`` refers to is moved like any new result; one that other code holds too becomes an array on its memory.
    The caller must hold only the container ``made``, so that references can be counted. ``others``: whether other code holds the container.
    """
    return [_received(made, at, what, given, others) for at in range(len(made))]


def _received(made: Any, at: Any, what: str, given: tuple[Any, ...], others: bool) -> Any:
    x, kind = made[at], type(made[at])
    if kind is _ndarray:
        others = others or sys.getrefcount(x) > _ALONE or (x.base is not None and not _is_base_alone(x))
        return _of_others(x, what, given) if others else move(x, what)
    if kind is list or kind is tuple or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
        if not x or not any(type(part) is _ndarray or isinstance(part, _NESTS) for part in x):
            return x
        others = others or sys.getrefcount(x) > _ALONE
        if kind is list and others:
            return x
        parts = received(x, what, given, others)
        if kind is list:
            x[:] = parts
            return x
        try:
            return kind(*parts) if kind is not tuple else tuple(parts)
        except TypeError:  # the class has more attributes than fields
            return x
    if issubclass(kind, dict) and kind.__module__.partition(".")[0] == "scipy" and sys.getrefcount(x) <= _ALONE:
        for name in x:  # a result with names
            x[name] = _received(x, name, what, given, others)
    return x


def receiving(real: Callable[..., Any], what: str) -> Callable[..., Any]:
    """Wrap ``real`` so that user code gets its results with arrays, as from :func:`received`. ``what``: name of the function in reports."""

    def call(*args: Any, **kwargs: Any) -> Any:
        made = [real(*args, **kwargs)]
        return received(made, what, args)[0] if type(made[0]) not in _PLAIN and asked_by_user(1) else made[0]

    return call


_PLAIN = frozenset({int, float, complex, bool, str, bytes, type(None), np.float64, np.int64, np.bool, ad.Array})


def _references(made: Sequence[Any], at: int) -> int:
    x, _kind = made[at], type(made[at])
    return sys.getrefcount(x)


def _is_base_alone(x: np.ndarray[Any, Any]) -> bool:
    base = x.base
    return type(base) is _ndarray and base.base is None and sys.getrefcount(base) <= _ALONE


_ALONE = _references([np.empty(0)], 0)
"""Reference count of an ndarray that only a container and a function's local variable refer to."""


def _of_others(x: np.ndarray[Any, Any], what: str, given: tuple[Any, ...]) -> Any:
    """Return an array that shares the memory of ``x``, an ndarray that other code holds too.

    Return ``x`` itself if it is one of ``given`` (the call's arguments), during tracing, or if its memory cannot be shared. The last is
    reported as the result of ``what``.
    """
    if any(x is value for value in given) or traced():
        return x
    memory = memory_of(x)
    # NumPy's own masks have only the bytes 0 and 1; foreign memory may have others.
    own = memory.flags.owndata and memory.dtype == x.dtype
    kept = host_values.sharing(x) if own else on_memory(x)
    if kept is None:
        events.left(what, "others hold its memory")
        return x
    return kept


def to_host(value: Any, why: str = "") -> Any:
    """Return a value with an ndarray in place of every ``Array``, also inside lists, tuples and dicts, and ``np.ndarray`` in place of the
    class of arrays.

    ``why``: reason in the report.
    """
    if isinstance(value, list | tuple) and not holds_array(value):
        return value
    return handed(value, partial(ad.Array._host, why=why) if why else ad.to_numpy, _class_to_host)


def _class_to_host(value: Any) -> Any:
    return _ndarray if isinstance(value, type) and issubclass(value, ad.Array) else value


def holds_array(values: Any, depth: int = _DEPTH) -> bool:
    """Whether a list or tuple contains an ``Array`` or an ndarray, also within up to ``depth`` levels of lists and tuples."""
    kinds = set(map(type, values))
    if not kinds.isdisjoint(_ARRAYS) or ad.Array in kinds or any(issubclass(kind, ad.Array) for kind in kinds):
        return True
    if depth and any(issubclass(kind, _NESTS) for kind in kinds):
        return any(holds_array(value, depth - 1) for value in values if isinstance(value, _NESTS))
    return False


def _takes_in(value: Any) -> Any:
    """Adopt the ndarrays in an argument, also inside lists and tuples."""
    kind = type(value)
    if kind in _ARRAYS:
        return adopt(value) if movable(value) else value
    if issubclass(kind, _NESTS) and holds_array(value):
        return mapped(_takes_in, value)
    return value


def _all_movable(value: Any) -> bool:
    if isinstance(value, _NESTS):
        return all(_all_movable(part) for part in value)
    return movable(value) if type(value) in _ARRAYS else not (isinstance(value, str) or speaks((value,)))


def _gathered(value: Any) -> Any:
    """Return one array made of a list of arrays that NumPy would stack on the host; return any other value unchanged."""
    if isinstance(value, _NESTS) and holds_array(value) and _all_movable(value):
        return ad.asarray(value)
    return value


def _is_view(result: np.ndarray[Any, Any], values: Sequence[Any]) -> bool:
    """Whether NumPy's result is a view of memory that other code holds: of a writable buffer, or of an ndarray among the arguments."""
    memory = memory_of(result)
    guests = (value for value in values if isinstance(value, _ndarray))
    return (buffers.is_writeable(result) and is_window(result)) or any(memory_of(guest) is memory for guest in guests)


def not_of_others(x: Any) -> Any:
    """Convert an array to an ndarray if its library is not the backend of the launched program."""
    if isinstance(x, _ndarray | np.generic | ad.Array):
        return x
    found = loader.backend_of(x)
    return x if found is None or found.name == settings.current_name() else np.asarray(x)


def _shared(result: Any, what: str) -> Any:
    """Wrap ndarrays as arrays that share their memory, if the backend can; else move them. ``what``: function that made
    them, for reports.
    """

    def part(x: Any) -> Any:
        kept = host_values.sharing(x) if type(x) is _ndarray else None
        return move(x, what) if kept is None else kept

    return mapped(part, result) if isinstance(result, _NESTS) else part(result)


def speaks(values: Any, depth: int = _DEPTH) -> bool:
    """Whether one of the values implements NumPy's functions itself and is neither an `Array` nor an ndarray."""
    return any(
        (depth and speaks(x, depth - 1))
        if issubclass(type(x), _NESTS)
        else hasattr(type(x), "__array_function__") and not issubclass(type(x), (_ndarray, np.generic, ad.Array))
        for x in values
    )


def _has_protocol(x: Any) -> bool:
    """Whether NumPy would convert a foreign object with a protocol such as ``__array__``."""
    return hasattr(type(x), "__array__") and not isinstance(x, _ndarray | np.generic | ad.Array)


_REFUSED = "__array__ method not producing an array"
"""NumPy's error message for a user's class whose ``__array__`` returns an ``Array``."""


class Stand(StandIn):
    """Stand-in for a NumPy function in user files, under its public module and name."""

    def __init__(self, real: Any, module: str, name: str) -> None:
        super().__init__(real, module, name)
        self._what = f"{module}.{name}"


def _asked_for_out(ufunc: np.ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Warn about ``where=`` without ``out=`` as NumPy does, then set ``out=None`` in ``kwargs``. Return the other arguments.

    An explicit ``out=None`` suppresses NumPy's warning, but NumPy removes the keyword before it calls an array's protocol.
    """
    if kwargs.get("where", True) is True or "out" in kwargs or any(x is not None for x in args[ufunc.nin :]):
        return args
    user_warnings.warn(_WITHOUT_OUT, UserWarning)
    kwargs["out"] = (None,) * ufunc.nout
    return args[: ufunc.nin]


class Function(Stand):
    """Stand-in for a pure function: ndarrays are adopted, new ndarray results are moved."""

    _most = sys.maxsize  # maximum number of arguments
    _collects = 1  # number of leading array arguments, where a list means one array

    def __init__(self, real: Any, module: str, name: str) -> None:
        super().__init__(real, module, name)
        self.target = self._calling()
        self._out_at = self._place_of_out()

    def _place_of_out(self) -> int:
        """Return the position of ``out`` among the arguments; a large number if there is none."""
        at = position_of(self.real, "out")
        return sys.maxsize if at is None else at

    def _calling(self) -> Callable[..., Any]:
        """Return the function that a call of this stand-in runs."""
        return fastpath.of_function(self.real, self._unless_circular)

    def _unless_circular(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if kwargs and type(self.real) is np.ufunc:
            args = _asked_for_out(self.real, args, kwargs)
        try:
            return self._call(args, kwargs)
        except BackendMismatchError:  # the program's own tensors are operands: NumPy converts them
            return self._call(mapped(not_of_others, args), mapped(not_of_others, kwargs))
        except RecursionError:
            if not circular((*args, *kwargs.values())):
                raise
        return self.real(*args, **kwargs)  # NumPy raises the error for a list that contains itself

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for value in args:
            if type(value) in _LOOK:
                return self._slow(args, kwargs)
        if kwargs:
            for value in kwargs.values():
                if type(value) in _LOOK:
                    return self._slow(args, kwargs)
        try:
            result = self.real(*args, **kwargs)
        except ValueError as error:
            if _REFUSED not in str(error):
                raise
            result = self._asking(args, kwargs)
        # NumPy makes a fresh array if all arguments are scalars.
        made = type(result) is _ndarray or (
            issubclass(type(result), tuple) and any(type(x) is _ndarray for x in result)
        )
        return self._moved(result, args, kwargs) if made and asked_by_user(2) else result

    def _moved(self, result: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Return NumPy's result moved to the backend; unchanged if it is a view of a writable buffer or an ndarray among the arguments."""
        if type(result) is _ndarray and result.base is not None and _is_view(result, (*args, *kwargs.values())):
            events.left(self._what, "it is a window on other memory")
            return result
        if any(map(_has_protocol, (*args, *kwargs.values()))):
            return self._of_foreign(result, args, kwargs)
        return move(result, self._what)

    def _of_foreign(self, result: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Return NumPy's result for arguments converted by ``__array__``; it may be a view of their memory."""
        return _shared(result, self._what)

    def _asking(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Make the call with each argument replaced by the result of its ``__array__``."""
        given = {key: from_protocol(value) for key, value in kwargs.items()}
        return self.real(*map(from_protocol, args), **given)

    def _written(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(args) > self._out_at:
            return args[self._out_at]
        return kwargs.get("out")

    def _slow(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not asked_by_user(3) or traced():
            return self.real(*args, **kwargs)
        target = self._written(args, kwargs)
        if target is not None:
            targets = target if type(target) is tuple else (target,)
            if any(isinstance(part, _ndarray) for part in targets):
                events.left(self._what, "out= is a NumPy array")
                return self.real(*args, **kwargs)
        if self._may_view(args, kwargs):
            return self._viewing(args, kwargs)
        gathered = self._collects if len(args) <= self._most else 0  # NumPy raises the error for too many of them
        new = [_takes_in(_gathered(value) if at < gathered else value) for at, value in enumerate(args)]
        keywords = {key: _takes_in(value) for key, value in kwargs.items()}
        try:
            result = self.real(*new, **keywords)
        except ValueError as error:
            if _REFUSED not in str(error):
                raise
            result = self._asking(new, keywords)
        if target is not None or speaks((*args, *kwargs.values())):
            return result
        spec, result = spec_of(self.real), move(result, self._what)
        return result if spec is None or spec.keeps is None else spec.keeps(result, *args, **kwargs)

    def _may_view(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether a call's result, or a value it passes to a user's function, may be an argument or a view of one."""
        spec = spec_of(self.real)
        if kwargs.get("copy") is False or spec is None:
            return kwargs.get("copy") is False
        return (
            spec.mode == "arrays"
            or (spec.views.view_if is not None and spec.views.view_if(args, kwargs))
            or (spec.uncopied and len(args) > 1 and not args[1])
        )

    def _viewing(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if any(isinstance(value, _ndarray) for value in (*args, *kwargs.values())):
            result = self.real(*args, **kwargs)
            fresh = type(result) is _ndarray and result.base is None and buffers.is_writeable(result)
            if fresh and not any(map(partial(operator.is_, result), args)):
                return move(result, self._what)
            events.left(self._what, "the result may be a view of a NumPy array")
            return result
        if args:
            args = (*map(_gathered, args[: self._collects]), *args[self._collects :])
        return self._moved(self.real(*args, **kwargs), args, kwargs)


class Sequences(Function):
    """Stand-in for a pure function whose first argument is a sequence of arrays, not one array."""

    _collects = 0


class Views(Function):
    """Stand-in for a function whose result may be a view: a view of an ndarray remains an ndarray, or writes to it would be lost."""

    def _slow(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not asked_by_user(3) or traced():
            return self.real(*args, **kwargs)
        return self._viewing(args, kwargs)

    def _of_foreign(self, result: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        parts = result if isinstance(result, _NESTS) else (result,)
        if any(type(part) is _ndarray and is_copy(part) for part in parts):
            result = self._asking(args, kwargs)
        return _shared(result, self._what)


class ViewsOfMany(Views):
    """Stand-in for a view function that takes several arrays, or the items of a list."""

    _collects = 0


class Answer(Stand):
    """Stand-in for a function that reads no values and answers from shapes, dtypes and memory: ndarrays are not moved."""

    def __init__(self, real: Any, module: str, name: str) -> None:
        super().__init__(real, module, name)
        self.target = fastpath.of_answer(real)


class Made(Stand):
    """Stand-in for a function that makes arrays on the host with NumPy's own algorithm; results are moved to the backend."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the NumPy function; if user code calls, move its results to the backend."""
        result = self.real(*args, **kwargs)
        return move(result, self._what) if asked_by_user(1) else result


class Special(Stand):
    """Stand-in for a function that this package implements: creation functions, and functions with a special rule."""

    def __init__(self, real: Any, answer: Callable[..., Any], module: str, name: str) -> None:
        super().__init__(real, module, name)
        self._answer = answer
        _specials[id(self)] = self  # by identity, because different objects may compare equal
        self._follow()

    def _follow(self) -> None:
        """Set the function that a call runs: the implementation, or one that runs NumPy's own function inside a library's trace."""
        self.target = self._answer if process.visited is None else self._watched

    def _watched(self, *args: Any, **kwargs: Any) -> Any:
        return (self.real if traced() else self._answer)(*args, **kwargs)


_specials: weakref.WeakValueDictionary[int, Special] = weakref.WeakValueDictionary()


@process.follows("visited")
def _follow() -> None:
    for stand in list(_specials.values()):
        stand._follow()


class Output(Stand):
    """Stand-in for a function that writes files or only inspects its arguments, and so takes host arrays."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the NumPy function with ndarrays in place of arrays."""
        why = events.AT_A_DOOR.replace("a library", self._what)
        args = tuple(to_host(value, why) for value in args)
        kwargs = {key: to_host(value, why) for key, value in kwargs.items()}
        try:
            return self.real(*args, **kwargs)
        except ValueError as error:
            if _REFUSED not in str(error):
                raise
        given = {key: to_host(from_protocol(value)) for key, value in kwargs.items()}
        return self.real(*[to_host(from_protocol(value)) for value in args], **given)


class _OfAnyUfunc(MethodStandIn):
    """Method of ``np.ufunc`` that is called with a ufunc, such as ``np.ufunc.reduce``."""

    def __call__(self, ufunc: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call the method of a ufunc, which may have a stand-in."""
        if not isinstance(ufunc, np.ufunc):
            return getattr(np.ufunc, self.__name__)(ufunc, *args, **kwargs)
        method = getattr(ufunc, self.__name__)
        if not isinstance(method, Function):
            return method(*args, **kwargs)
        return method._call(args, kwargs)  # this frame takes the place of the method's own

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        name = self.__name__
        if instance is None:
            return self
        if name not in _UFUNC_METHODS and name != "at":
            return getattr(instance.real, name)
        # Made on first use: most ufuncs, such as SciPy's 350, are never asked for it.
        made: Any = _At(instance) if name == "at" else _UfuncMethod(instance, name, _UFUNC_METHODS[name])
        setattr(instance, name, made)
        return made


class UfuncType(StandInType, type):
    """Type of the facade's ``np.ufunc``; NumPy's own ufuncs are instances too."""

    inherits_always = True

    def numpys(cls) -> type | None:
        """Return NumPy's class, which lets no class inherit from it."""
        return np.ufunc

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        """Raise NumPy's error: no ufunc is made this way."""
        return np.ufunc(*args, **kwargs)

    def __getattr__(cls, name: str) -> Any:
        return getattr(np.ufunc, name)

    def __dir__(cls) -> list[str]:
        return dir(np.ufunc)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, np.ufunc)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, np.ufunc) or super().__subclasscheck__(subclass)

    # ``type(f) == np.ufunc`` must also hold for ufuncs without a stand-in, such as SciPy's (as with np.ndarray).
    def __eq__(cls, other: object) -> bool:
        return other is cls or (other is np.ufunc and asked_by_user(1))

    def __hash__(cls) -> int:
        return type.__hash__(cls)


class Ufunc(Function, metaclass=UfuncType):
    """Stand-in for a ufunc: a :class:`Function` with the ufunc's methods and attributes. The class is the ``np.ufunc`` of user files."""

    def _calling(self) -> Callable[..., Any]:
        return fastpath.of_ufunc(self.real, self._unless_circular)

    def __init__(self, real: np.ufunc, module: str, name: str) -> None:
        super().__init__(real, module, name)
        self._collects, self._most = real.nin, real.nargs

    def _place_of_out(self) -> int:
        return self.real.nin  # asking for the signature would take 0.1 ms for each of SciPy's 350

    @classmethod
    def of(cls, real: np.ufunc, module: str, name: str) -> Ufunc:
        """Make the stand-in for a ufunc."""
        return type.__call__(cls, real, module, name)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self) if asked_by_user(1) else np.ufunc

    def _written(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(args) > self._out_at:
            return args[self._out_at :]
        return kwargs.get("out")

    def __eq__(self, other: object) -> bool:
        return self is other or self.real is other

    __hash__ = Stand.__hash__


_UFUNC_METHODS = {"reduce": 3, "accumulate": 3, "reduceat": 4, "outer": sys.maxsize}
"""Name of a ufunc's method -> position of ``out``."""
for _name, _member in vars(np.ufunc).items():
    if callable(_member) and not _name.startswith("__"):
        setattr(Ufunc, _name, _OfAnyUfunc(np.ufunc, _name))
Ufunc.__name__ = Ufunc.__qualname__ = "ufunc"
Ufunc.__module__ = "numpy"
Ufunc.__doc__ = str(np.ufunc.__doc__)


class _UfuncMethod(Function):
    """Stand-in for a method of a ufunc, such as ``np.add.reduce``."""

    def __init__(self, ufunc: Ufunc, method: str, out_at: int) -> None:
        module, name = ufunc._where
        Stand.__init__(self, getattr(ufunc.real, method), module, f"{name}.{method}")
        self.target = self._calling()
        self.__self__ = ufunc
        self._out_at = out_at
        self._collects = 2 if method == "outer" else 1


class _At(Stand):
    """Stand-in for a ufunc's method ``at``."""

    def __init__(self, ufunc: Ufunc) -> None:
        module, name = ufunc._where
        super().__init__(ufunc.real.at, module, f"{name}.at")
        self.target = fastpath.of_at(ufunc.real)


class Received(Stand):
    """Stand-in for a function that works on the host, as those of ``np.ma``, ``np.polynomial``, ``np.char`` do.

    It returns NumPy's results as arrays on the backend, or on the results' own memory.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the NumPy function; if user code calls, replace ndarrays in its results by arrays."""
        if not asked_by_user(1):
            return self.real(*args, **kwargs)
        given = args
        if self._what.startswith(_RETURN_ARGUMENTS):
            args = tuple([self._inside(value) for value in args])
            kwargs = {key: self._inside(value) for key, value in kwargs.items()}
        made = [self.real(*args, **kwargs)]
        for array, value in zip(given, args):
            if made[0] is value:
                return array
        return received(made, self._what, args)[0]

    def _inside(self, value: Any) -> Any:
        return shared(value, self._what) if isinstance(value, ad.Array) else value


_RETURN_ARGUMENTS = "numpy.ma."
"""Prefix of the names of functions that may return an ndarray argument or a view of it, and copy other arguments."""
