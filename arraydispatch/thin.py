"""The thin path: what is called on values in the host state reaches NumPy after one test, and comes back by one constructor.

The methods here are made from the general ones, which they call wherever their test fails: for values of the library,
large ones, operands of other types, results that NumPy alone has. They are in force only while nothing but the values
decides (:func:`_follow`): no precision or other rule, nobody who wants to be told of each call by its line. Then each
call is counted, and no more.
"""

from __future__ import annotations

import inspect
import itertools
import operator
import sys
import threading
from collections.abc import Callable
from functools import partial, wraps
from time import perf_counter
from typing import Any

import numpy as np

from . import events, recording, settings, views
from .array import Array
from .backends import loader
from .dispatch import hosted, wrapping
from .engine import tape
from .methods import OPERATORS
from .registry import spec_of
from .state import process

__all__ = ["GENERAL", "callers", "calls", "of_function", "of_ufunc", "takes"]

__warningregistry__ = None  # NumPy warns here, for a line of the user's: see arraydispatch.launcher.warned

GENERAL: Any = object()
"""What a function of :data:`callers` answers where the general path is wanted."""
_ndarray = np.ndarray
_SCALARS = frozenset({int, float, complex, bool, np.float64, np.float32, np.int64, np.int32, np.bool_, np.complex128})
_BOOL = np.dtype(bool)
_waiting = views.waiting

_cls: Any = None
"""The class of every new array."""
_bare: Any = None
"""Makes one without a value."""
least = 0
"""Elements from which on a computation is the library's; 0 while the thin path is not in force."""
_ticks = itertools.count()  # which is counted without a lock


@process.follows("wrapper")
def _follow_wrapper() -> None:
    global _bare, _cls
    _cls, _bare = getattr(process.wrapper, "cls", _cls), getattr(process.wrapper, "bare", _bare)


_follow_wrapper()


def calls() -> int:
    """How many calls went this way so far."""
    return int(_ticks.__reduce__()[1][0])


# -- results -----------------------------------------------------------------------------------------------------------


def _fresh(value: Any, kind: Any) -> Any:
    """An array of a new ndarray; ``kind`` is that of an operand."""
    dtype = value.dtype
    if dtype is not kind.dtype:
        known = kind.backend._kinds.get(dtype)
        if known is None or kind.standard:
            return hosted.placed(value, kind.backend) if not kind.standard else views.wrapper(value, kind.of(dtype))
        kind = known
    made = _bare()
    made._v = value
    made._kind = kind
    made._owned = True
    made._root = made._ghost = made._base = None
    made._writes = 0
    return made


def _view(a: Any, value: Any) -> Any:
    """The view of an array that an ndarray view of its value is."""
    made = _bare()
    base = a._base
    made._v = value
    made._kind = a._kind
    made._owned = False
    made._root = made._ghost = None
    made._base = a if base is None else base
    made._writes = 0
    return made


def _of(a: Any, result: Any, kind: Any) -> Any:
    """What a method returned for the value of ``a``."""
    if type(result) is _ndarray:
        x, base = a._v, result.base
        if result is x:
            return a
        if base is None:
            return _fresh(result, kind)
        return _view(a, result) if base is x or base is x.base else hosted.dressed(result, [a])
    return hosted.dressed(result, [a]) if type(result) is tuple else result


def _is_read(memory: Any) -> bool:
    """Whether something pending may read what a value is a view of; ``memory`` is None for a value that is read itself."""
    return memory is None or type(memory) is not _ndarray or memory.base is not None or id(memory) in _waiting


def _is_large(x: Any, y: Any) -> bool:
    """Whether the second operand is large, or both are together: each repeated along axes of the other."""
    if y.size >= least or x.shape == y.shape:
        return bool(y.size >= least)
    try:
        return np.broadcast(x, y).size >= least
    except ValueError:
        return False


# -- operators ---------------------------------------------------------------------------------------------------------


def _binary(op: Callable[[Any, Any], Any], general: Any) -> Any:
    def method(self: Any, other: Any) -> Any:
        x = self._v
        if type(x) is _ndarray and (size := x.size) < least:
            kind = self._kind
            if type(other) is _cls:
                y = other._v
                if type(y) is not _ndarray or (size * y.size >= least and _is_large(x, y)):
                    return general(self, other)
                if other._kind is not kind and other._kind.backend is not kind.backend:
                    return general(self, other)
                result = op(x, y)
            elif type(other) in _SCALARS:
                result = op(x, other)
            else:
                return general(self, other)
            next(_ticks)
            if type(result) is _ndarray:
                if result.dtype is not kind.dtype:
                    return _fresh(result, kind)
                made = _bare()
                made._v = result
                made._kind = kind
                made._owned = True
                made._root = made._ghost = made._base = None
                made._writes = 0
                return made
            if not kind.standard:
                return result
        return general(self, other)

    return method


def _reflected(op: Callable[[Any, Any], Any], general: Any) -> Any:
    def method(self: Any, other: Any) -> Any:
        x = self._v
        if type(x) is _ndarray and x.size < least and type(other) in _SCALARS:
            next(_ticks)
            result = op(other, x)
            if type(result) is _ndarray:
                return _fresh(result, self._kind)
            if not self._kind.standard:
                return result
        return general(self, other)

    return method


def _inplace(op: Callable[[Any, Any, Any], Any], general: Any) -> Any:
    def method(self: Any, other: Any) -> Any:
        x = self._v
        if type(x) is _ndarray and (x.size < least or not tape.least):  # both are --min-size, where both are in force
            if _waiting and ((memory := x.base) is not None or id(x) in _waiting) and _is_read(memory):
                views.run_readers(self)
            if type(other) is _cls:
                y = other._v
                if type(y) is not _ndarray:
                    return general(self, other)
                op(x, y, x)
            elif type(other) in _SCALARS:
                op(x, other, x)
            else:
                return general(self, other)
            next(_ticks)
            base = self._base
            if base is None:
                self._writes += 1
            else:
                base._writes += 1
            return self
        del x  # of which there may be one reference alone, then
        return general(self, other)

    return method


def _unary(op: Callable[[Any], Any], general: Any) -> Any:
    def method(self: Any) -> Any:
        x = self._v
        if type(x) is _ndarray and x.size < least:
            next(_ticks)
            result = op(x)
            if type(result) is _ndarray:
                return _fresh(result, self._kind)
            if not self._kind.standard:
                return result
        return general(self)

    return method


# -- elements ----------------------------------------------------------------------------------------------------------


def _getitem(general: Any) -> Any:
    def method(self: Any, key: Any) -> Any:
        x = self._v
        if type(x) is _ndarray:
            if type(key) is _cls:
                if type(key._v) is not _ndarray:
                    return general(self, key)
                key = key._v
            result = x[key]
            next(_ticks)
            if type(result) is not _ndarray:
                return result if not self._kind.standard else general(self, key)
            owner = result.base
            if owner is x or (owner is not None and owner is x.base):
                made = _bare()
                base = self._base
                made._v = result
                made._kind = self._kind
                made._owned = False
                made._root = made._ghost = None
                made._base = self if base is None else base
                made._writes = 0
                return made
            return _fresh(result, self._kind) if owner is None else hosted.dressed(result, [self])
        return general(self, key)

    return method


def _setitem(general: Any) -> Any:
    def method(self: Any, key: Any, value: Any) -> None:
        x = self._v
        if type(x) is _ndarray:
            if type(key) is _cls:
                if type(key._v) is not _ndarray:
                    return general(self, key, value)
                key = key._v
            if type(value) is _cls:
                if type(value._v) is not _ndarray:
                    return general(self, key, value)
                value = value._v
            if _waiting and ((memory := x.base) is not None or id(x) in _waiting) and _is_read(memory):
                views.run_readers(self)
            x[key] = value
            next(_ticks)
            base = self._base
            if base is None:
                self._writes += 1
            else:
                base._writes += 1
            return None
        return general(self, key, value)

    return method


def _iter(general: Any) -> Any:
    def method(self: Any) -> Any:
        x = self._v
        if type(x) is _ndarray and x.ndim and not self._kind.standard:
            next(_ticks)
            return iter(x) if x.ndim == 1 else map(_view, itertools.repeat(self), x)
        return general(self)

    return method


def _of_value(op: Callable[[Any], Any], general: Any) -> Any:
    """What Python asks of a value: ``float(x)``, ``len(x)``, ``x.shape``."""

    def method(self: Any) -> Any:
        x = self._v
        return op(x) if type(x) is _ndarray else general(self)

    return method


def _property(get: Callable[[Any], Any], general: Any) -> Any:
    return property(_of_value(get, general.fget), general.fset, doc=general.__doc__)


# -- methods -----------------------------------------------------------------------------------------------------------


def _plain(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether no argument is an array, or may hold one."""
    plain = wrapping.PLAIN
    for x in args:
        cls = type(x)
        if cls is _cls or (cls not in plain and not (cls is tuple and _plain(x, {}))):
            return False
    return not kwargs or ("out" not in kwargs and _plain(tuple(kwargs.values()), {}))


def _method(numpys: Any, general: Any, computes: bool = True, operand: bool = False) -> Any:
    """``computes``: whether the library does it on large values; ``operand``: whether its first argument may be an array."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        x = self._v
        if type(x) is _ndarray and (x.size < least or not computes) and not self._kind.standard:
            if not args and not kwargs:
                result = numpys(x)
                kind = self._kind
                if type(result) is _ndarray and result.base is None and result.dtype is kind.dtype and result is not x:
                    next(_ticks)
                    made = _bare()
                    made._v = result
                    made._kind = kind
                    made._owned = True
                    made._root = made._ghost = made._base = None
                    made._writes = 0
                    return made
            elif operand and args and type(y := args[0]) is _cls:
                value = y._v
                if type(value) is not _ndarray or value.size >= least or y._kind.backend is not self._kind.backend:
                    return general(self, *args, **kwargs)
                if (len(args) > 1 or kwargs) and not _plain(args[1:], kwargs):
                    return general(self, *args, **kwargs)
                result = numpys(x, value, *args[1:], **kwargs)
            elif _plain(args, kwargs):
                result = numpys(x, *args, **kwargs)
            else:
                return general(self, *args, **kwargs)
            next(_ticks)
            return _of(self, result, self._kind)
        return general(self, *args, **kwargs)

    return _named(method, general)


def _named(method: Any, general: Any) -> Any:
    method.__name__, method.__doc__ = general.__name__, general.__doc__
    method.__qualname__ = general.__qualname__
    return method


def _writer(numpys: Any, general: Any, computes: bool = False) -> Any:
    """A method that writes its array and returns nothing."""

    def method(self: Any, *args: Any, **kwargs: Any) -> None:
        x = self._v
        if type(x) is _ndarray and (x.size < least or not computes) and _plain(args, kwargs):
            _before_write(self, x)
            numpys(x, *args, **kwargs)
            next(_ticks)
            views.owner(self)._writes += 1
            return None
        return general(self, *args, **kwargs)

    return _named(method, general)


def _view_property(get: Callable[[Any], Any], general: Any) -> Any:
    def of(self: Any) -> Any:
        x = self._v
        return _view(self, get(x)) if type(x) is _ndarray else general.fget(self)

    return property(of, general.fset, doc=general.__doc__)


# -- functions ---------------------------------------------------------------------------------------------------------


def _general(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return GENERAL


def _out_at(func: Any) -> int:
    """Where a function that is called by position takes ``out``."""
    if isinstance(getattr(func, "__self__", None), np.ufunc):
        return 4 if func.__name__ == "reduceat" else 3
    try:
        parameters = inspect.signature(func).parameters
    except (ValueError, TypeError):
        return sys.maxsize
    by_position = "out" in parameters and parameters["out"].kind is not inspect.Parameter.KEYWORD_ONLY
    return list(parameters).index("out") if by_position else sys.maxsize


def _caller(func: Any) -> Any:
    run = getattr(func, "_implementation", func)  # whom to ask is known: ndarrays are all there is
    plain = wrapping.PLAIN
    out_at = _out_at(func)

    def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not least or len(args) > out_at:
            return GENERAL
        found: list[Any] = []
        hosts = _values(args, found)
        if not found or hosts is None:
            return GENERAL
        if kwargs:
            if not _plain((), kwargs):
                return GENERAL
            result = run(*hosts, **kwargs)
        else:
            result = run(*hosts)
        next(_ticks)
        if type(result) is not _ndarray:
            return result if type(result) in plain else hosted.dressed(result, found)
        if len(found) == 1:
            return _of(found[0], result, found[0]._kind)
        if result.base is not None:
            return hosted.dressed(result, found)
        for a in found:
            if result is a._v:
                return a
        return _fresh(result, found[0]._kind)

    return call


_UFUNC_METHODS = frozenset({"reduce", "accumulate", "reduceat", "outer"})


class _Callers(dict[Any, Callable[[tuple[Any, ...], dict[str, Any]], Any]]):
    """What calls a NumPy function this way, if it may go it: its body is known, and it writes nothing."""

    def __missing__(self, func: Any) -> Any:
        spec = None if isinstance(func, np.ufunc) else spec_of(func)
        known = spec is not None and spec.mode in ("function", "like", "view", "meta")
        known = known or (isinstance(getattr(func, "__self__", None), np.ufunc) and func.__name__ in _UFUNC_METHODS)
        self[func] = found = _caller(func) if known else _general
        return found


callers = _Callers()
"""NumPy function -> what it is called by where only small values in the host state and plain ones are among the arguments.

It takes ``(args, kwargs)`` and returns what the call returned, or :data:`GENERAL` where it was not made.
"""


def _values(args: Any, found: list[Any]) -> list[Any] | None:
    """The arguments with ndarrays in place of arrays, or None where the general path has to look at them."""
    plain = wrapping.PLAIN
    hosts = []
    for x in args:
        cls = type(x)
        if cls is _cls:
            value = x._v
            if type(value) is not _ndarray or value.size >= least or x._kind.standard:
                return None
            if found and found[0]._kind is not x._kind and found[0]._kind.backend is not x._kind.backend:
                return None
            found.append(x)
            hosts.append(value)
        elif cls in plain:
            hosts.append(x)
        elif cls is tuple or cls is list:
            inner = _values(x, found)
            if inner is None:
                return None
            hosts.append(cls(inner))
        else:
            return None
    return hosts


def ufunc(func: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """A ufunc of operands alone, as a function of :data:`callers`."""
    hosts = []
    first: Any = None
    for x in inputs:
        cls = type(x)
        if cls in _SCALARS:
            hosts.append(x)
        elif cls is _cls:
            value = x._v
            if type(value) is not _ndarray or value.size >= least or x._kind.standard:
                return GENERAL
            if first is None:
                first = x
            elif first._kind is not x._kind and first._kind.backend is not x._kind.backend:
                return GENERAL
            hosts.append(value)
        else:
            return GENERAL
    result = func(*hosts)
    if first is None:
        return result
    next(_ticks)
    if type(result) is _ndarray:
        return _fresh(result, first._kind)
    return hosted.dressed(result, []) if type(result) is tuple else result


def _before_write(a: Any, x: Any) -> None:
    """Have run what reads the memory of an array, whose value is ``x``."""
    if _waiting and ((memory := x.base) is not None or id(x) in _waiting) and _is_read(memory):
        views.run_readers(a)


def _at(func: np.ufunc, a: Any, *inputs: Any) -> bool:
    """``func.at``, into an array: whether it was done."""
    if type(a) is not _cls or type(place := a._v) is not _ndarray or place.size >= least or a._kind.standard:
        return False
    hosts = _values(inputs, [a])
    if hosts is None:
        return False
    _before_write(a, place)
    func.at(place, *hosts)
    next(_ticks)
    views.owner(a)._writes += 1
    return True


def _onto(func: np.ufunc, inputs: tuple[Any, ...], out: Any) -> Any:
    """As :func:`ufunc`, into an array."""
    place = out._v
    if type(place) is not _ndarray or (place.size >= least and tape.least) or out._kind.standard:
        return GENERAL
    hosts = _values(inputs, [out]) if len(inputs) == func.nin else None
    if hosts is None:
        return GENERAL
    _before_write(out, place)
    func(*hosts, place)
    next(_ticks)
    views.owner(out)._writes += 1
    return out


def of_function(func: Any, general: Callable[[tuple[Any, ...], dict[str, Any]], Any]) -> Callable[..., Any]:
    """What a user calls as ``func``; it calls ``general`` where it does not go this way."""
    at_once = callers[func]

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            made = at_once(args, kwargs)
        except RecursionError:
            if not wrapping.circular(args):
                raise
            made = GENERAL
        return general(args, kwargs) if made is GENERAL else made

    return call


def of_ufunc(func: np.ufunc, general: Callable[[tuple[Any, ...], dict[str, Any]], Any]) -> Callable[..., Any]:
    """As :func:`of_function`, for a ufunc."""
    if func.nin == func.nout == 1:

        def unary(x: Any = GENERAL, /, *more: Any, **kwargs: Any) -> Any:
            if type(x) is _cls and not more and not kwargs:
                value = x._v
                if type(value) is _ndarray and value.size < least:
                    kind = x._kind
                    result = func(value)
                    if type(result) is _ndarray:
                        next(_ticks)
                        return _fresh(result, kind)
                    if not kind.standard:
                        next(_ticks)
                        return result
            elif type(x) in _SCALARS and not more and not kwargs:
                return func(x)
            return general(more if x is GENERAL else (x, *more), kwargs)

        return unary

    def call(*args: Any, **kwargs: Any) -> Any:
        if not kwargs:
            made = ufunc(func, args)
            if made is not GENERAL:
                return made
        elif len(kwargs) == 1 and type(out := kwargs.get("out")) is _cls:
            made = _onto(func, args, out)
            if made is not GENERAL:
                return made
        return general(args, kwargs)

    return call


def _array_ufunc(general: Any) -> Any:
    def __array_ufunc__(self: Any, func: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__":
            return (
                None
                if method == "at" and not kwargs and _at(func, *inputs)
                else general(self, func, method, *inputs, **kwargs)
            )
        made = GENERAL
        if not kwargs:
            made = ufunc(func, inputs)
        elif len(kwargs) == 1 and len(out := kwargs.get("out", ())) == 1 and type(out[0]) is _cls:
            made = _onto(func, inputs, out[0])
        return general(self, func, method, *inputs, **kwargs) if made is GENERAL else made

    return __array_ufunc__


def _array_function(general: Any) -> Any:
    def __array_function__(self: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if len(types) == 1:
            made = callers[func](args, kwargs)
            if made is not GENERAL:
                return made
        return general(self, func, types, args, kwargs)

    return __array_function__


# -- new arrays --------------------------------------------------------------------------------------------------------


_blocks = settings.blocks_here
_float_kind: Any = None
"""That of arrays of no other dtype; None while the thin path is not in force, or a block may name a backend."""
_any_size = False
"""Whether they are in the host state whatever their size."""
_kinds: dict[Any, Any] = {}
"""The kinds of new arrays outside of any block that names a backend: dtype -> kind."""


def new(value: Any) -> Any:
    """An array of an ndarray that NumPy has just made."""
    next(_ticks)
    kind = _kinds.get(value.dtype) if _float_kind is not None or not _blocks() else None
    if kind is None or value.base is not None:
        held = loader.hosted(settings.current_name())
        return hosted.placed(value if value.base is None else value.copy("K"), held)
    return _fresh(value, kind)


def takes(args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether this path is in force, and the arguments of what makes arrays are no arrays and hold none."""
    return bool(least) and (not args or _plain(args, {})) and (not kwargs or _plain((), kwargs))


def fresh(value: Any) -> Any:
    """The same for a small one of a dtype that there have been arrays of; None where it takes a look at the settings."""
    kind = _kinds.get(value.dtype) if _float_kind is not None and value.size < least else None
    return None if kind is None or value.base is not None else _fresh(value, kind)


_SEQUENCES = frozenset({list, tuple})


def plain_sequence(x: Any) -> bool:
    """Whether a list or tuple holds nothing but numbers, and sequences of them."""
    return _SCALARS.issuperset(map(type, x)) or (_SEQUENCES.issuperset(map(type, x)) and all(map(plain_sequence, x)))


def at_once(real: Any, itself: bool | None = None) -> Callable[[Any], Any]:
    """Decorates a creation function: of plain arguments NumPy makes the array, in the host state, while this path is in force.

    ``itself``: whether an array that is all it is given is what it answers; None for a function that takes none.
    """
    plain = wrapping.PLAIN

    def decorate(general: Any) -> Any:
        of_array = _method(real, general, computes=False) if itself is not None else None

        @wraps(general)
        def made(*args: Any, **kwargs: Any) -> Any:
            try:
                if least:
                    if of_array is not None and args and type(args[0]) is _cls:
                        if itself and len(args) == 1 and not kwargs and not args[0]._kind.standard:
                            return args[0]
                        if type(args[0]._v) is _ndarray:
                            return of_array(*args, **kwargs)
                    for x in args:
                        if type(x) not in plain and not (type(x) in _SEQUENCES and plain_sequence(x)):
                            break
                    else:
                        if not kwargs or _plain((), kwargs):
                            value = real(*args, **kwargs)
                            if type(value) is _ndarray:
                                if (made := fresh(value)) is not None:
                                    next(_ticks)
                                    return made
                                if value.size < least or settings.on_cpu(settings.current_name()):
                                    return new(value)
                if events.tap is None:
                    return general(*args, **kwargs)
                return _told(real, general, args, kwargs)
            except RecursionError:
                if not wrapping.circular(args):
                    raise
            return real(*args, **kwargs)  # outside `except`: NumPy's error has no context of ours

        return made

    return decorate


def filled_at_once(real: Any) -> Callable[[Any], Any]:
    """As :func:`at_once`, for ``zeros`` and its like: no loop over arguments."""

    def decorate(general: Any) -> Any:
        told = at_once(real)(general)

        @wraps(general)
        def made(shape: Any, dtype: Any = None, order: Any = None, **options: Any) -> Any:
            kind = _float_kind
            if kind is not None and not options:
                if dtype is order is None:
                    value = real(shape)
                else:
                    value = real(shape, dtype, order)
                    kind = _kinds.get(value.dtype)
                if kind is not None and (_any_size or value.size < least):
                    next(_ticks)
                    made = _bare()
                    made._v = value
                    made._kind = kind
                    made._owned = True
                    made._root = made._ghost = made._base = None
                    made._writes = 0
                    return made
            return told(shape, dtype, order or "C", **options)

        return made

    return decorate


def _told(real: Any, general: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The general call, told where it was not by what it called."""
    outer, _telling.inside = getattr(_telling, "inside", False), True
    start = perf_counter()
    try:
        result = general(*args, **kwargs)
    finally:
        _telling.inside = outer
    made = result[0] if type(result) is tuple and result else result
    if isinstance(made, Array) and not outer and events.tap is not None:
        backend = made._kind.backend
        kind = "native" if backend.name == "numpy" or not backend.hosted else "hosted"
        events.tap.call(real, backend.name, kind, "", perf_counter() - start, made._v, 2)
    return result


_telling = threading.local()


# -- in force ----------------------------------------------------------------------------------------------------------

_COMPUTE = "all any argmax argmin argsort astype clip cumprod cumsum dot max mean min nonzero prod round searchsorted std sum trace var"
_MOVE = "copy diagonal flatten ravel repeat reshape squeeze swapaxes take tolist transpose item"
_OPERANDS = frozenset({"clip", "dot", "repeat", "searchsorted", "take"})
_OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift"


def _made() -> dict[str, tuple[Any, Any, Any]]:
    """Name -> the general attribute of ``Array``, the one made from it that records, and the thin one made from that."""
    generals = {name: vars(Array)[name] for name in recording.NAMES}
    table = {name: (general, made := recording.over(name, general), made) for name, general in generals.items()}

    def add(name: str, make: Callable[..., Any], *what: Any) -> None:
        general = vars(Array)[name]
        table[name] = general, (recorded := recording.over(name, general)), make(*what, recorded)

    for word in _OPERATORS.split():
        # The ufunc is what NumPy's operator calls, but for powers that it has shorter ways for; it says the same, sooner.
        op = operator.pow if word == "pow" else OPERATORS[word]
        add(f"__{word}__", _binary, op)
        add(f"__r{word}__", _reflected, op)
        if word not in ("matmul", "pow"):
            add(f"__i{word}__", _inplace, op)
    for word in ("lt", "le", "gt", "ge"):
        add(f"__{word}__", _binary, OPERATORS[word])
    for word in ("eq", "ne"):  # which know what nothing is equal to
        add(f"__{word}__", _binary, getattr(operator, word))
    for word in ("neg", "pos", "abs", "invert"):
        add(f"__{word}__", _unary, OPERATORS[word])
    for value_of in (float, int, bool, complex, operator.index, len):
        add(f"__{value_of.__name__}__", _of_value, value_of)
    add("__getitem__", _getitem)
    add("__setitem__", _setitem)
    add("__iter__", _iter)
    add("__array_ufunc__", _array_ufunc)
    add("__array_function__", _array_function)
    for name in _COMPUTE.split():
        add(name, partial(_method, operand=name in _OPERANDS), getattr(_ndarray, name))
    for name in _MOVE.split():
        add(name, partial(_method, computes=False, operand=name in _OPERANDS), getattr(_ndarray, name))
    add("fill", _writer, _ndarray.fill)
    for name in ("sort", "partition"):
        add(name, partial(_writer, computes=True), getattr(_ndarray, name))
    for name in ("T", "mT"):
        add(name, _view_property, operator.attrgetter(name))
    for name in ("shape", "ndim", "size"):
        add(name, _property, operator.attrgetter(name))
    return table


_TABLE = _made()
_layer = 0
"""Which of the three is in force."""


@process.follows(
    "backend", "blocks_entered", "devices", "execution", "min_size", "overrides", "rules", "suspended", "tap"
)
def _follow() -> None:
    """Put the thin path in force, or out of it, as the process is now."""
    global _any_size, _float_kind, _kinds, _layer, least
    if not (process.min_size or least or _layer or tape.least):
        return  # it is not in force, and nothing else would change that
    wanted = process.min_size if settings.only_values_decide() and not events.told_each() else 0
    held = loader.hosted(process.backend)
    kind = held.kind(np.dtype(float))
    _kinds, _any_size = held._kinds, settings.on_cpu(process.backend)
    _float_kind = kind if wanted and not process.blocks_entered else None
    layer = 2 if wanted else int(tape.least > 0)
    if layer != _layer:
        for name, layers in _TABLE.items():
            setattr(Array, name, layers[layer])
    least, _layer = wanted, layer
    if tape.least:
        recording.calibrate(layer, lambda: views.wrapper(np.zeros(least + 1), kind, True))
