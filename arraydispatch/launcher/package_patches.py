"""Exchanges for libraries that check types before values, and so reject arrays that they could use.

Most libraries that need an ndarray call ``np.asarray``, which converts an ``Array``. Some call ``isinstance`` first, and treat an
``Array`` as a column's name, a function or a scalar, or omit the copy that they would make of an ndarray. Their public functions
are listed here. After such a library is imported, each function is replaced by a wrapper, a *door*, which passes it an ndarray for
each ``Array``.
"""

from __future__ import annotations

import copyreg
import functools
import importlib.util
import itertools
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from inspect import CO_VARARGS, CO_VARKEYWORDS
from types import CodeType, FrameType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

import arraydispatch as ad

from .._core.callable_proxy import StandIn
from ..array import exports
from ..array.exports import shared
from ..backends import loader
from ..common import events
from ..common.members import MEMBERS
from ..common.patching import CLOUDPICKLE, Exchange, Exchanges
from ..common.process_state import process
from ..common.signal_safety import imported, is_aside, is_interrupted
from ..dispatch import host_results
from ..dispatch.handover import handed
from ..dispatch.wrapping import check_writeable
from ..functions.registry import SCIENTIFIC
from ..interop import import_notices
from . import array_loading, extension_modules, facade, numpy_classes, user_compilers
from .adoption import TypeTable, holds_array, receiving

_SURFACES: dict[str, tuple[str, ...]] = {
    "pandas": (
        "pandas", "pandas.arrays", "pandas.api.extensions", "pandas.api.indexers", "pandas.api.typing",
        "pandas.core.common", "pandas.core.indexing", "pandas.core.util.hashing",
    ),
    "h5py": ("h5py",),
    "PIL": ("PIL.Image",),
    "scipy": ("scipy.sparse", "scipy.sparse.linalg"),
}  # fmt: skip
"""Library -> modules whose public functions and classes users call."""

_RETURN_ARRAYS = (
    "scipy.constants scipy.differentiate scipy.fft scipy.fftpack scipy.integrate scipy.interpolate scipy.io scipy.io.wavfile scipy.linalg"
    " scipy.ndimage scipy.optimize scipy.signal scipy.signal.windows scipy.spatial scipy.spatial.distance scipy.special scipy.sparse"
    " scipy.sparse.csgraph scipy.sparse.linalg scipy.stats scipy.stats.contingency scipy.stats.mstats scipy.stats.qmc"
).split()
"""SciPy modules with functions that dispatch on no argument but return arrays to a program."""

_CALLED: dict[str, tuple[str, ...]] = {
    "xarray": ("DataArray.interp", "Dataset.interp", "DataArray.groupby", "Dataset.groupby"),
    "skimage.transform": (
        "hough_circle",
        "hough_ellipse",
        "hough_line",
        "probabilistic_hough_line",
    ),  # Cython code with arguments declared as ndarrays
    "sklearn.model_selection": ("ParameterGrid.__init__", "ParameterSampler.__init__"),
}
"""Module -> the only functions and methods in it that check types."""
_SEEDS = {"scipy": "scipy._lib._util", "sklearn": "sklearn.utils.validation"}
"""Library -> module of its function :data:`_SEED`, which its other modules import by name."""
_SEED = "check_random_state"

_BACKENDS = {row.library: name for name, row in loader.KNOWN.items()}
"""Library -> backend."""
_IN_C = "from_numpy"
"""Name of a C function of a backend's library that accepts only an ndarray."""

_PROCESSES = "multiprocessing.reduction"
"""Module of the pickler that processes of a run use to exchange arrays."""

_OTHERS = "cloudpickle dill joblib multiprocessing shelve skimage xarray".split()
LIBRARIES = frozenset(
    [
        *_SURFACES,
        *_SEEDS,
        *_OTHERS,
        *_BACKENDS,
        *user_compilers.OPEN,
        *numpy_classes.VIEWS,
        *extension_modules.LIBRARIES,
    ]
)
"""Names of the libraries: the import hook calls :meth:`Doors.open_all` when one of their modules has been imported."""
_SPECIAL = frozenset("__array_ufunc__ __call__ __contains__ __getitem__ __init__ __new__ __setitem__".split())
_OPERATORS = frozenset(name for name, row in MEMBERS.items() if row.word)

_INSIDE = frozenset(
    "apply_if_callable hash_array hash_pandas_object is_bool_indexer _clip_with_one_bound _get_setitem_indexer _set_item"
    " _set_values _set_with_engine _setitem_array _setitem_frame _setitem_with_indexer _where".split()
)
"""Private functions that are exchanged in place of public ones: for pandas functions that count the references to their object, because
another frame would add one, and for functions that a module provides by ``__getattr__``."""
_COUNTS = "getrefcount"

_RUNS = frozenset("agg aggregate apply eval map pipe query transform".split())
"""Functions that pass arguments to a user's function, or look up names in the user's frame."""

_MARK = "_arraydispatch_door"

_UFUNC = "__array_ufunc__"
_FILLS = frozenset({"read_direct"})
"""Functions that write into their first array argument."""


_looked_at = TypeTable(ad.Array, list, tuple, dict, type, ModuleType)
"""Type -> whether a value of this type can be or contain an ``Array``, its class, or a module of the facade."""


def _hosted(value: Any, deep: bool = True) -> Any:
    """Return a value with an ndarray in place of each ``Array`` in it; unless ``deep``, lists are not searched."""
    kind = type(value)
    if not _looked_at[kind] or (kind is list and not deep):
        return value
    if kind in (list, tuple, dict) and not holds_array(value.values() if kind is dict else value):
        return value
    return handed(value, exports.for_library, _numpys_name)


def _numpys_name(value: Any) -> Any:
    """Return NumPy's module for a module of the facade, ndarray for the class of arrays, and any other value unchanged."""
    if isinstance(value, ModuleType):
        return facade.original(value)
    return np.ndarray if isinstance(value, type) and issubclass(value, ad.Array) else value


def _given(args: tuple[Any, ...]) -> Sequence[Any]:
    for value in args:
        if _looked_at[type(value)] and process.users is not None:
            deep = _from_outside()
            return [_hosted(value, deep) for value in args]
    return args


def _named(kwargs: dict[str, Any]) -> dict[str, Any]:
    return kwargs if process.users is None else {name: _hosted(value) for name, value in kwargs.items()}


def _from_outside() -> bool:
    """Whether other code calls the library. When the library calls itself, long lists need not be searched again."""
    answer: FrameType = sys._getframe(2)
    asks, asked = answer.f_back, answer.f_globals["__name__"]
    return asks is None or _root(asks.f_globals.get("__name__", "")) != _root(asked)


def _root(module: str) -> str:
    return module.partition(".")[0]


def _saving(exchange: Exchange) -> Any:
    """Return the replacement of a pickler's ``save``, which is called with each part of an object: it converts arrays to ndarrays."""
    return _door(exchange.real, _given_alone)


def _given_alone(args: tuple[Any, ...]) -> Sequence[Any]:
    if process.users is None:
        return args
    return [value._host(events.AT_A_DOOR) if isinstance(value, ad.Array) else value for value in args]


def _mapping(exchange: Exchange) -> Any:
    """Return a ``get_memmapping_reducers`` that puts arrays for workers into files as it does ndarrays, and each array only once."""
    real = exchange.real

    @functools.wraps(real)
    def answer(*args: Any, **kwargs: Any) -> Any:
        forward, backward = real(*args, **kwargs)
        if exchange.on and np.ndarray in forward:
            forward[numpy_classes.ndarray] = forward[np.ndarray]
        return forward, backward

    return answer


def _reducing(exchange: Exchange) -> Any:
    """Return a pickler's ``reducer_override`` that pickles stand-ins for NumPy's classes, recognized by their metaclass, as NumPy's."""
    real = exchange.real

    @functools.wraps(real)
    def answer(self: Any, obj: Any) -> Any:
        kind = type(obj)
        if issubclass(kind, type) and kind in copyreg.dispatch_table:
            return NotImplemented
        if _of_a_stand(obj):
            return getattr, (obj.__self__, obj.__name__)
        return real(self, obj)

    return answer


def _of_a_stand(obj: Any) -> bool:
    """Whether a value is a method of a stand-in for a NumPy object. It is pickled by the name of NumPy's method."""
    return type(obj) is MethodType and type(type(obj.__self__)) in copyreg.dispatch_table


def _saving_methods(exchange: Exchange) -> Any:
    """Return a ``save`` that pickles the launcher's stand-ins and their methods by name.

    The pickler's own would pickle the functions of methods by value, and look up names of classes.
    """
    real = exchange.real

    @functools.wraps(real)
    def answer(self: Any, obj: Any, *args: Any, **kwargs: Any) -> Any:
        if _of_a_stand(obj) and id(obj) not in self.memo:
            return self.save_reduce(getattr, (obj.__self__, obj.__name__), obj=obj)
        if issubclass(type(obj), StandIn) and id(obj) not in self.memo:
            return self.save_reduce(*obj.__reduce__(), obj=obj)
        return real(self, obj, *args, **kwargs)

    return answer


def _looking(exchange: Exchange) -> Any:
    """Return the replacement of a look-up in a pickler's table: it raises KeyError for metaclasses that :mod:`copyreg` knows.

    The table of cloudpickle has a function for every class. After a KeyError the pickler asks ``copyreg``.
    """
    real = exchange.real

    @functools.wraps(real)
    def answer(self: Any, key: type) -> Any:
        if key in copyreg.dispatch_table:
            raise KeyError(key)
        return real(self, key)

    return answer


def finding(exchange: Exchange) -> Any:
    """Return a ``singledispatch`` that finds an implementation for ndarrays also for the arrays of a program."""
    real = exchange.real

    @functools.wraps(real)
    def answer(cls: type, registry: Any) -> Any:
        return registry[np.ndarray] if cls is numpy_classes.ndarray and np.ndarray in registry else real(cls, registry)

    return answer


def _filling(real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a door of a method that fills an ndarray: the door passes a new ndarray, and copies its values to the caller's array."""

    @functools.wraps(real)
    def answer(self: Any, dest: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(dest, ad.Array):
            return real(self, dest, *args, **kwargs)
        check_writeable(dest)
        filled = np.array(exports.for_library(dest))
        made = real(self, filled, *args, **kwargs)
        host_results.store(dest, filled)
        return made

    return answer


def _door(real: Any, given: Any = _given, named: Any = _named) -> Callable[..., Any]:
    """Return the door of the function ``real``: it calls ``real`` with ndarrays, and its frame counts as one of the library.

    ``given`` and ``named`` convert the positional and the keyword arguments.
    """
    return _inside(real, lambda *args, **kwargs: real(*given(args), **(kwargs and named(kwargs))))


def _ufunc_door(real: Any) -> Callable[..., Any]:
    """Return a door of another library's ``__array_ufunc__``. It passes ndarrays that share the memory of the arrays to be written
    (``out=`` and the first operand of ``at``), and returns the array of ``out=`` as the result.
    """
    given, named, back = _given_to_ufunc, _named_to_ufunc, _own
    return _inside(real, lambda *args, **kwargs: back(real(*given(args), **(kwargs and named(kwargs))), kwargs))


def _door_with_out(real: Any) -> Callable[..., Any]:
    """Return a door of a function that writes into its parameter ``out``.

    The door passes an ndarray that shares the memory of the caller's array, and returns that array.
    """
    code = real.__code__
    at = code.co_varnames.index("out") if "out" in code.co_varnames[: code.co_argcount] else sys.maxsize
    given, named, back = _given, _named_to_ufunc, _own

    def shared_out(args: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(args) <= at or process.users is None:
            return args
        return *args[:at], _written(args[at]), *args[at + 1 :]

    def outs(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        return {"out": args[at]} if len(args) > at else kwargs

    return _inside(
        real,
        lambda *args, **kwargs: back(real(*given(shared_out(args)), **(kwargs and named(kwargs))), outs(args, kwargs)),
    )


def _has_out(code: CodeType) -> bool:
    return "out" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _written(value: Any) -> Any:
    return handed(value, lambda a: shared(a, "a library's ufunc"))


def _given_to_ufunc(args: tuple[Any, ...]) -> Sequence[Any]:
    if args[2:3] == ("at",) and process.users is not None:
        return [*args[:3], _written(args[3]), *_given(args[4:])]
    return _given(args)


def _named_to_ufunc(kwargs: dict[str, Any]) -> dict[str, Any]:
    if process.users is None:
        return kwargs
    return {name: _written(value) if name == "out" else _hosted(value) for name, value in kwargs.items()}


def _own(result: Any, kwargs: dict[str, Any]) -> Any:
    """Return a ufunc's result, with the written array in place of the ndarray on its memory."""
    if type(result) is tuple:
        return tuple([_own(part, kwargs) for part in result])
    outs = kwargs.get("out", ())
    for out in outs if type(outs) is tuple else (outs,):
        if type(result) is not np.ndarray or not isinstance(out, ad.Array):
            continue
        if result.__array_interface__ == _written(out).__array_interface__:
            return out
    return result


def _inside(real: Any, answer: Any) -> Callable[..., Any]:
    names, code = real.__globals__, real.__code__
    file = code.co_filename if isinstance(real, FunctionType) else names["__file__"]
    code = answer.__code__.replace(co_filename=file, co_firstlineno=code.co_firstlineno)
    return functools.wraps(real)(FunctionType(code, names, closure=answer.__closure__))


def _door_in_c(real: Any) -> Callable[..., Any]:
    @functools.wraps(real)
    def answer(*args: Any) -> Any:
        return real(*_given(args))

    return answer


def _takes(code: CodeType, bound: bool) -> bool:
    """Whether a function takes arguments, or a method takes any besides ``self``."""
    return bool(code.co_flags & (CO_VARARGS | CO_VARKEYWORDS)) or code.co_argcount + code.co_kwonlyargcount > bound


def _door_for(name: str, member: Any, bound: bool) -> Callable[[Exchange], Any] | None:
    """Return the factory of the door that replaces a member of a module or class; None if it is not replaced."""
    real = member.__func__ if isinstance(member, staticmethod | classmethod) else member
    code = None if issubclass(type(real), StandIn) else getattr(real, "__code__", None)
    if code is None or _COUNTS in code.co_names or name in _RUNS or hasattr(real, _MARK) or not _takes(code, bound):
        return None

    writes = isinstance(real, FunctionType) and _has_out(code)

    def make(exchange: Exchange) -> Any:
        kind = _filling if name in _FILLS else _ufunc_door if name == _UFUNC else _door_with_out if writes else _door
        door = kind(exchange.real)
        setattr(door, _MARK, True)
        return door if bound else StandIn(exchange.real, exchange.holder.__name__, name, door)

    return make


def _classes(module: ModuleType, library: str) -> Iterator[type]:
    """Yield the classes in a library's module and their bases, as far as the library defines them."""
    for found in vars(module).values():
        if isinstance(found, type):
            yield from (cls for cls in found.__mro__ if _root(cls.__module__) == library)


def _surface(module: ModuleType, library: str) -> Iterator[Exchange]:
    holders: list[Any] = [module, *dict.fromkeys(_classes(module, library))]
    for holder in holders:
        public = ".core." not in holder.__name__
        for name, member in vars(holder).copy().items():
            if name in _INSIDE or name in _SPECIAL or name in _OPERATORS or (public and not name.startswith("_")):
                make = _door_for(name, member, isinstance(holder, type))
                if make is not None:
                    yield Exchange(holder, name, make, f"surface of {library}")


def _some(module: ModuleType, members: tuple[str, ...]) -> Iterator[Exchange]:
    for member in members:
        holder, name = module, member
        if "." in member:
            owner, name = member.split(".")
            holder = getattr(module, owner, None)  # type: ignore[assignment]
        real = getattr(holder, name, None)
        if isinstance(real, FunctionType):
            make = _door_for(name, real, holder is not module)
            if make is not None:
                yield Exchange(holder, name, make, f"functions of {_root(module.__name__)}")


def _keeping(exchange: Exchange) -> Any:
    """Return a ``__setattr__`` for a library's class that stores ndarrays in place of arrays."""
    real, library = exchange.real, _root(exchange.holder.__module__)

    def keep(self: Any, name: str, value: Any) -> None:
        if _looked_at[type(value)] and process.users is not None and _root(type(self).__module__) == library:
            value = _hosted(value)
        real(self, name, value)

    return keep


def _results(module: ModuleType, library: str) -> Iterator[Exchange]:
    """Yield exchanges for the functions without a stand-in and the ufuncs of a SciPy module, so that they return arrays to a program."""
    imported("arraydispatch.scipy_support")  # not loaded for programs that do not use SciPy
    from .. import scipy_support

    dispatched = scipy_support.public(module) if module.__name__ in scipy_support.MODULES else ()
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    for name in names:
        real = vars(module).get(name)
        if type(real) is np.ufunc:
            yield Exchange(module, name, _ufunc_of_scipy, "results of SciPy")
        elif type(real) is _ARRAY_FUNCTION and real not in SCIENTIFIC:  # one of NumPy's
            yield Exchange(module, name, lambda exchange: facade.counterpart(exchange.real), "results of SciPy")
        elif name not in dispatched and not issubclass(type(real), StandIn) and type(real).__name__ in _FUNCTION_TYPES:
            yield Exchange(module, name, _function_of_scipy, "results of SciPy")


_ARRAY_FUNCTION: Any = type(np.sum)
_FUNCTION_TYPES = frozenset({"function", "cython_function_or_method", "_Function"})
"""Names of the types of functions: Python's, Cython's, and the dispatching ones of ``scipy.fft``."""


def _ufunc_of_scipy(exchange: Exchange) -> Any:
    return facade.stand_for_ufunc(exchange.real, exchange.holder.__name__, exchange.name)


def _function_of_scipy(exchange: Exchange) -> Any:
    target = receiving(exchange.real, f"{exchange.holder.__name__}.{exchange.name}")
    return StandIn(exchange.real, exchange.holder.__name__, exchange.name, target)


def _seeds(module: ModuleType, library: str) -> Iterator[Exchange]:
    """Yield the exchanges of a library's function for seeds, in each module that has it: the door accepts the facade of ``np.random``."""
    real = getattr(module, _SEED, None)
    make = None if real is None else _door_for(_SEED, real, False)
    if make is not None:
        for name, other in sys.modules.copy().items():
            if _root(name) == library and vars(other).get(_SEED) is real:
                yield Exchange(other, _SEED, make, "seeds")


_PATCHES: dict[str, dict[str, tuple[Callable[[Exchange], Any], str]]] = {
    "sklearn.base": {"BaseEstimator.__setattr__": (_keeping, "functions of sklearn")},
    "joblib.numpy_pickle": {"NumpyPickler.save": (_saving, "picklers")},
    "joblib.hashing": {"NumpyHasher.save": (_saving, "picklers")},
    **{key: {"get_memmapping_reducers": (_mapping, "picklers")} for key in ("joblib.pool", "joblib.executor")},
    **{key: {"CloudPickler.reducer_override": (_reducing, "picklers")} for key in CLOUDPICKLE},
    "dill._dill": {
        "MetaCatchingDict.__missing__": (_looking, "picklers"),
        "Pickler.save": (_saving_methods, "picklers"),
    },
    **{
        module: {name: (array_loading.method if "." in name else array_loading.function, "loaders") for name in names}
        for module, names in array_loading.METHODS.items()
    },
}
"""Module -> function or method in it -> factory of the replacement, and name of the exchange. Estimators store their arguments and check
types later; picklers handle ndarrays in ways that ``__reduce__`` cannot provide: they map files, or hash memory."""
_LOOKED_FOR = LIBRARIES.union(
    *_SURFACES.values(),
    _RETURN_ARRAYS,
    _CALLED,
    _SEEDS.values(),
    _PATCHES,
    (_PROCESSES,),
)
"""Modules that are patched after they have been imported."""

_made: dict[tuple[ModuleType, Any], list[Exchange]] = {}
"""Module and function that yields its doors -> exchanges for these; made once, because a notebook opens the doors for each cell."""
_visited: set[str] = set()
"""Libraries of backends that user files have imported in this process."""


def _is_begun(module: ModuleType) -> bool:
    """Whether the import of a module has begun but not ended."""
    return bool(getattr(module.__spec__, "_initializing", False))


def _is_within_begun(name: str) -> bool:
    """Whether the import of a module's package has begun but not ended: the package may yet import functions from the module."""
    above = name.rpartition(".")[0]
    return bool(above) and ((above in sys.modules and _is_begun(sys.modules[above])) or _is_within_begun(above))


def _is_unfinished(name: str, module: ModuleType) -> bool:
    """Whether a module is to be patched later, because its own import, or that of a package that imports from it, has not ended."""
    return _is_begun(module) or (name in _RETURN_ARRAYS and _is_within_begun(name))


_PATIENCE = 0.05
"""Seconds after which a thread that waits for the lock of the doors checks whether a signal handler interrupts the thread holding it."""


class Doors:
    """Installs the doors of one run: of modules that are imported already, and of others as soon as they have been imported.

    Parameters
    ----------
    exchanges : Exchanges
        Exchanges of the run, to which the doors are added.
    """

    def __init__(self, exchanges: Exchanges) -> None:
        self._exchanges = exchanges
        self.loading = extension_modules.Loads(exchanges).loading
        """Context in which an extension module of the user's is loaded."""
        import_notices.begin()
        exchanges.until(import_notices.end)
        exchanges.put("functools:_find_impl", finding)
        for name in ("load", "loads"):
            exchanges.put(f"pickle:{name}", array_loading.function)
        exchanges.put("pickle:Unpickler", array_loading.unpickler)
        exchanges.put("pickle:_Unpickler.load", array_loading.method)
        self._opened: set[str] = set()
        self._received: set[str] = set()
        self._modules = 0, ""
        """Number of modules at the last check, and the name of the last one."""
        self._awaited: set[str] = set()
        """Modules that were being imported at that time."""
        # This lock is held while doors are installed: a thread that imports continues only when they are in place, even if
        # another thread installs them.
        self._opening = threading.RLock()

    def open_all(self, imported: str = "", by_user: bool = False) -> None:
        """Install the doors of all modules imported so far. ``imported``: module that has just been imported; ``by_user``: whether by a
        user file.
        """
        if by_user:
            import_notices.catch_up()
        if not self._may_open():
            return  # the thread with the lock may wait for this one; the next import patches this one's modules
        try:
            if self._may_have_imported(by_user):
                self._awaited.clear()
                self._open_news()
            if by_user and _root(imported) in _BACKENDS:
                _visited.add(_root(imported))
            for library in _visited - self._received:
                self._received.add(library)
                self._receive(_BACKENDS[library])
        finally:
            self._opening.release()

    def _may_open(self) -> bool:
        """Take the lock; return False if the thread that holds it may wait for this one, for example in a handler that compiles."""
        if is_aside():
            return self._opening.acquire(blocking=False)
        while not self._opening.acquire(timeout=_PATIENCE):
            if is_interrupted():
                return False
        return True

    def _may_have_imported(self, by_user: bool) -> bool:
        """Note the modules imported so far. Return whether one of :data:`_LOOKED_FOR` may have been imported since the last call.

        Called on every import, so it looks only at the newest entries of ``sys.modules``, unless a user file imports.
        """
        try:
            (before, last), self._modules = self._modules, (len(sys.modules), next(reversed(sys.modules), ""))
            if (before, last) == self._modules:
                new: list[str] = []
            elif by_user or before > len(sys.modules):
                return True
            else:
                new = list(itertools.islice(reversed(sys.modules), len(sys.modules) - before))
        except RuntimeError:  # another thread has imported meanwhile
            return True
        return not _LOOKED_FOR.isdisjoint(new) or any(
            (module := sys.modules.get(name)) is None or not _is_unfinished(name, module)
            for name in tuple(self._awaited)  # a copy, because a signal handler may install doors meanwhile
        )

    def _receive(self, name: str) -> None:
        """Make a backend's library treat arrays as ndarrays, because the program uses it directly."""
        if importlib.util.find_spec(f"{loader.__package__}.{name}.direct_use"):
            direct_use = importlib.import_module(f"{loader.__package__}.{name}.direct_use")
            if hasattr(direct_use, "receive"):
                direct_use.receive(numpy_classes.ndarray, self._exchanges)
            if hasattr(direct_use, "hand_out"):
                direct_use.hand_out(numpy_classes.ndarray, user_compilers.numpys_own, self._exchanges)
            if hasattr(direct_use, "is_tracing"):
                process.visited = direct_use.is_tracing

    def _news(self, library: str, names: tuple[str, ...]) -> Iterator[ModuleType]:
        """Yield the modules of an imported library that have been imported since the last call."""
        for name in (library, *names):
            module = sys.modules.get(name)
            if module is None or _is_unfinished(name, module):
                if module is not None:
                    self._awaited.add(name)
                if name == library:
                    return
            elif name in names and name not in self._opened:
                self._opened.add(name)
                yield module

    def _open(self, doors: Callable[..., Iterator[Exchange]], module: ModuleType, about: Any) -> None:
        made = _made.get((module, doors))
        if made is None:
            made = _made[module, doors] = list(doors(module, about))
        for each in made:
            self._exchanges.add(each)

    def _open_news(self) -> None:
        for library, names in _SURFACES.items():
            for module in self._news(library, names):
                self._open(_surface, module, library)
                if module.__name__ in _RETURN_ARRAYS:
                    self._open(_results, module, library)
        for module in self._news("scipy", tuple(_RETURN_ARRAYS)):
            self._open(_results, module, "scipy")
        for name, members in _CALLED.items():
            for module in self._news(_root(name), (name,)):
                self._open(_some, module, members)
        for name, patches in _PATCHES.items():
            for module in self._news(_root(name), (name,)):
                for member, (make, about) in patches.items():
                    owner, _, attribute = member.rpartition(".")
                    holder: Any = getattr(module, owner, None) if owner else module
                    if holder is not None:
                        self._exchanges.at(holder, attribute, make, about)
        for module in self._news("multiprocessing", (_PROCESSES,)):
            module.ForkingPickler.register(numpy_classes.ndarray, numpy_classes.ndarray.__mro__[1].__reduce__)
        for library, name in _SEEDS.items():
            for module in self._news(library, (name,)):
                self._open(_seeds, module, library)
        for library in _BACKENDS:
            for module in self._news(library, (library,)):
                if hasattr(module, _IN_C):
                    row = "functions in C of backends' libraries"
                    self._exchanges.at(module, _IN_C, lambda exchange: _door_in_c(exchange.real), row)
        for library in extension_modules.LIBRARIES:
            for module in self._news(library, (library,)):
                self._open(extension_modules.doors, module, None)
        for library, open_one in {**user_compilers.OPEN, **numpy_classes.VIEWS}.items():
            for _ in self._news(library, (library,)):
                open_one(self._exchanges)
