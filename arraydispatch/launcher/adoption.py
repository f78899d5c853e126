"""NumPy's functions as user files see them: ndarrays among the arguments are moved to the backend first.

Data that enters from a library (``load_digits()``, pandas, h5py) is an ndarray, and NumPy never dispatches on those. So
a pure function or ufunc called from a user file moves them to the backend (*adopts* them) and calls the real function
with ``Array`` arguments, which then dispatch by protocol. What must not be adopted stays as it is: arrays that are
written into, arrays whose result would be a view of them, and dtypes that no backend holds.

Each stand-in compares and hashes equal to the function it stands for, so tables keyed by NumPy functions (a user's
``__array_function__``, pandas' aggregation names) find it, and it pickles by name.
"""

from __future__ import annotations

import functools
import inspect
import operator
import sys
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any

import numpy as np

import arraydispatch as ad

from .. import conversion, dtypes, events, settings, views
from ..api import from_protocol
from .userfiles import UserFiles

__all__ = [
    "Adoption",
    "Function",
    "Made",
    "Output",
    "Sequences",
    "Special",
    "Stand",
    "Ufunc",
    "Views",
    "ViewsOfMany",
    "move",
    "state",
    "to_host",
]

_ndarray = np.ndarray
# Only these types can hold an ndarray to adopt; all others pass at the cost of one set lookup.
_LOOK = frozenset({np.ndarray, np.memmap, list, tuple})
_ARRAYS = frozenset({np.ndarray, np.memmap})
_NESTS = frozenset({list, tuple})
_DEPTH = 4


class Adoption:
    """What adoption needs to know of the run in progress; one for the process.

    Attributes
    ----------
    users : UserFiles or None
        Who counts as user code; None while no launcher runs, and then nothing is adopted.
    observer : callable or None
        Told each ndarray that is adopted.
    """

    def __init__(self) -> None:
        self.users: UserFiles | None = None
        self.observer: Callable[[np.ndarray[Any, Any]], None] | None = None

    def asked_by_user(self, depth: int) -> bool:
        """Whether the frame ``depth`` above the caller is user code."""
        return self.users is not None and self.users.owns_frame(sys._getframe(depth + 1))


state = Adoption()


def movable(x: np.ndarray[Any, Any]) -> bool:
    """Whether the default backend can hold an ndarray of this dtype."""
    return dtypes.category(x.dtype) != "other" and settings.current_backend().holds(x.dtype.newbyteorder("="))


def left(what: str, why: str) -> None:
    """Report an array that stayed a NumPy array."""
    tap = events.tap
    if tap is not None:
        tap.left(what, why)


def name_of(real: Any) -> str:
    """The name a user knows a NumPy function by."""
    module = getattr(real, "__module__", None) or "numpy"
    return f"{module}.{getattr(real, '__name__', real)}"


def adopt(x: np.ndarray[Any, Any]) -> Any:
    """An ``Array`` of an ndarray that came from a library; it is a copy, because its owner may go on to write to it."""
    if state.observer is not None:
        state.observer(x)
    native = x if x.dtype.isnative else x.astype(x.dtype.newbyteorder("="))
    return ad.asarray(native, backend=conversion.home(settings.current_backend(), x.size, native.dtype), copy=True)


def _upload(host: np.ndarray[Any, Any], what: str) -> Any:
    """A fresh host array on the default backend, floats at the precision in force; host-only dtypes stay."""
    backend = settings.current_backend()
    if not movable(host):
        left(what, f"dtype {host.dtype} exists only on the host")
        return host
    wanted = conversion.precise(host.dtype)
    if not backend.holds(wanted):
        left(what, f"dtype {wanted} exists only on the host")
        return host
    backend = conversion.home(backend, host.size, wanted)
    device = conversion.default_device(backend)
    # Nobody else has the memory, unless the array is a view of something.
    fresh = host.astype(wanted, copy=host.base is not None)
    made = views.wrapper(conversion.upload(backend, fresh, device, what, copy=False), backend.kind(wanted))
    return views.keep_order(made, fresh)


def move(result: Any, what: str) -> Any:
    """Fresh host results, also inside tuples, lists and named tuples, on the backend."""
    kind = type(result)
    if kind is _ndarray:
        return _upload(result, what)
    if kind is tuple:
        return tuple([move(part, what) for part in result])
    if kind is list:
        parts = [move(part, what) for part in result]
        return result if all(map(operator.is_, parts, result)) else parts
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return kind(*[move(part, what) for part in result])
    return result


def to_host(value: Any, why: str = "") -> Any:
    """The same value with every ``Array`` in it, also inside lists, tuples and dicts, as an ndarray; classes likewise.

    ``why``: who asks, for the report.
    """
    if isinstance(value, ad.Array):
        return value._host(why) if why else ad.to_numpy(value)
    kind = type(value)
    if isinstance(value, type) and issubclass(value, ad.Array):
        return _ndarray
    if kind is list or kind is tuple:
        return kind([to_host(part, why) for part in value]) if holds_array(value) else value
    if kind is dict:
        return {key: to_host(part, why) for key, part in value.items()}
    return value


def holds_array(values: Any, depth: int = _DEPTH) -> bool:
    """Whether a list or tuple has an ``Array`` or an ndarray somewhere inside."""
    kinds = set(map(type, values))
    if not kinds.isdisjoint(_ARRAYS) or ad.Array in kinds or any(issubclass(kind, ad.Array) for kind in kinds):
        return True
    if depth and not kinds.isdisjoint(_NESTS):
        return any(holds_array(value, depth - 1) for value in values if type(value) in _NESTS)
    return False


def _takes_in(value: Any) -> Any:
    """An argument with its ndarrays adopted, also inside lists and tuples."""
    kind = type(value)
    if kind in _ARRAYS:
        return adopt(value) if movable(value) else value
    if kind in _NESTS and holds_array(value):
        return kind([_takes_in(part) for part in value])
    return value


def _all_movable(value: Any) -> bool:
    if type(value) in _NESTS:
        return all(_all_movable(part) for part in value)
    return movable(value) if type(value) in _ARRAYS else not isinstance(value, str)


def _gathered(value: Any) -> Any:
    """A list of arrays where NumPy expects one array, which it would otherwise collect on the host."""
    if type(value) in _NESTS and holds_array(value) and _all_movable(value):
        return ad.asarray(value)
    return value


def restore(module: str, name: str) -> Any:
    """Unpickle a stand-in: the facade's own where a launcher runs, NumPy's elsewhere."""
    from . import facade

    return facade.lookup(module, name)


_REFUSED = "__array__ method not producing an array"
"""What NumPy says of a user's class whose ``__array__`` gives an ``Array``."""


class Stand:
    """Stands for a NumPy function in user files.

    Parameters
    ----------
    real : callable
        The NumPy function.
    module, name : str
        Where a user finds it.
    """

    def __init__(self, real: Any, module: str, name: str) -> None:
        functools.update_wrapper(self, real, assigned=("__module__", "__name__", "__qualname__", "__doc__"))
        self.real = real
        self._where = module, name
        self._what = f"{module}.{name}"

    def __getattr__(self, name: str) -> Any:
        if name == "real":  # not there yet: a half-made copy
            raise AttributeError(name)
        return getattr(self.real, name)

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        # As a class attribute, what is written in Python binds as a method; NumPy's C functions and ufuncs do not.
        return MethodType(self, instance) if instance is not None and hasattr(type(self.real), "__get__") else self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the NumPy function by this class's rule."""
        return self.real(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return self is other or self.real is other or (isinstance(other, Stand) and self.real is other.real)

    def __hash__(self) -> int:
        return hash(self.real)

    def __repr__(self) -> str:
        return repr(self.real)

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, self._where

    def __copy__(self) -> Stand:
        return self

    def __deepcopy__(self, memo: Any) -> Stand:
        return self


class Function(Stand):
    """A pure function: ndarrays are adopted, fresh ndarray results are moved."""

    _collects = 1  # how many leading arguments are arrays, so that a list there means one array

    def __init__(self, real: Any, module: str, name: str) -> None:
        super().__init__(real, module, name)
        self._out_at = sys.maxsize
        try:
            parameters = inspect.signature(real).parameters
        except (ValueError, TypeError):  # some builtins have none, and those that write are known by name
            return
        names = list(parameters)
        if "out" in names and parameters["out"].kind is not inspect.Parameter.KEYWORD_ONLY:
            self._out_at = names.index("out")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the NumPy function by this class's rule."""
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
        # From scalars alone NumPy makes a fresh array.
        if type(result) is _ndarray and state.asked_by_user(1):
            return move(result, self._what)
        return result

    def _asking(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """The call with what the ``__array__`` of each argument gives in its place."""
        given = {key: from_protocol(value) for key, value in kwargs.items()}
        return self.real(*map(from_protocol, args), **given)

    def _written(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(args) > self._out_at:
            return args[self._out_at]
        return kwargs.get("out")

    def _slow(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not state.asked_by_user(2):
            return self.real(*args, **kwargs)
        target = self._written(args, kwargs)
        if target is not None:
            targets = target if type(target) is tuple else (target,)
            if any(isinstance(part, _ndarray) for part in targets):
                left(self._what, "out= is a NumPy array")
                return self.real(*args, **kwargs)
        if kwargs.get("copy") is False:  # the result may be, or alias, an argument
            return self._viewing(args, kwargs)
        gathered = self._collects
        new = [_takes_in(_gathered(value) if at < gathered else value) for at, value in enumerate(args)]
        keywords = {key: _takes_in(value) for key, value in kwargs.items()}
        try:
            result = self.real(*new, **keywords)
        except ValueError as error:
            if _REFUSED not in str(error):
                raise
            result = self._asking(new, keywords)
        return result if target is not None else move(result, self._what)

    def _viewing(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if any(isinstance(value, _ndarray) for value in (*args, *kwargs.values())):
            left(self._what, "the result may be a view of a NumPy array")
            return self.real(*args, **kwargs)
        if args:
            args = (*map(_gathered, args[: self._collects]), *args[self._collects :])
        return move(self.real(*args, **kwargs), self._what)


class Sequences(Function):
    """A pure function whose first argument is a sequence of arrays, not one array."""

    _collects = 0


class Views(Function):
    """A function whose result may be a view: a view of an ndarray stays one, or writing to it would be lost."""

    def _slow(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not state.asked_by_user(2):
            return self.real(*args, **kwargs)
        return self._viewing(args, kwargs)


class ViewsOfMany(Views):
    """A view function that takes several arrays, or that takes its list apart."""

    _collects = 0


class Made(Stand):
    """A function that makes arrays on the host, where NumPy has the one true algorithm; the result is moved."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the NumPy function by this class's rule."""
        result = self.real(*args, **kwargs)
        return move(result, self._what) if state.asked_by_user(1) else result


class Special(Stand):
    """A function that other code than NumPy's answers: creation on the backend, and rules of its own."""

    def __init__(self, real: Any, answer: Callable[..., Any], module: str, name: str) -> None:
        super().__init__(real, module, name)
        self._answer = answer

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the NumPy function by this class's rule."""
        return self._answer(*args, **kwargs)


class Output(Stand):
    """A function that writes files, or only looks: it takes host arrays by nature."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the NumPy function by this class's rule."""
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


class Ufunc(Function):
    """A ufunc: as :class:`Function`, with the ufunc's methods and attributes, and an instance of ``np.ufunc``."""

    _collects = sys.maxsize

    def __init__(self, real: np.ufunc, module: str, name: str) -> None:
        super().__init__(real, module, name)
        self._out_at = real.nin
        for method, out_at in (("reduce", 3), ("accumulate", 3), ("reduceat", 4), ("outer", sys.maxsize)):
            setattr(self, method, _UfuncMethod(real, method, out_at, module, name))

    # isinstance() believes __class__, so both a user's and a library's check against the real np.ufunc hold.
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return np.ufunc

    def _written(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if len(args) > self._out_at:
            return args[self._out_at :]
        return kwargs.get("out")

    def __eq__(self, other: object) -> bool:
        return self is other or self.real is other

    __hash__ = Stand.__hash__


class _UfuncMethod(Function):
    """``np.add.reduce`` and its like."""

    def __init__(self, ufunc: np.ufunc, method: str, out_at: int, module: str, name: str) -> None:
        Stand.__init__(self, getattr(ufunc, method), module, f"{name}.{method}")
        self._out_at = out_at
        self._collects = 2 if method == "outer" else 1
