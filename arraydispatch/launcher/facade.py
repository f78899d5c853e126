"""Facade: the ``numpy`` that user files import, with creation on the backend, adoption of ndarrays, and NumPy's own otherwise.

A facade is a module object. Its attributes are made on first use and are plain attributes from then on, which takes 8 ns for each
access; a module ``__getattr__`` that inspects its caller would take 2.8 µs.
"""

from __future__ import annotations

import importlib
import sys
import threading
from collections.abc import Callable
from functools import cache, partial, wraps
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import numpy.lib.scimath
import numpy.lib.stride_tricks
import numpy.linalg

from ..api import creation
from ..common.signal_safety import imported
from ..functions.registry import facts_of, spec_of
from . import adoption, array_methods, numpy_classes

ON_THE_HOST: frozenset[str] = frozenset(
    "numpy.char numpy.ctypeslib numpy.lib.array_utils numpy.lib.format numpy.lib.npyio numpy.lib.recfunctions numpy.ma numpy.ma.core"
    " numpy.ma.extras numpy.polynomial numpy.polynomial.chebyshev numpy.polynomial.hermite numpy.polynomial.hermite_e"
    " numpy.polynomial.laguerre numpy.polynomial.legendre numpy.polynomial.polynomial numpy.polynomial.polyutils numpy.rec numpy.strings".split()
)
"""Modules of functions that must work on the host: they convert an ``Array`` with ``__array__``, and the ndarrays that they
return become arrays in user files."""

SUBMODULES: frozenset[str] = ON_THE_HOST | frozenset(
    "numpy numpy.fft numpy.lib numpy.lib.scimath numpy.lib.stride_tricks numpy.linalg numpy.random numpy.testing".split()
)
"""Modules that have a facade. ``testing`` tests types, so its comparisons get ndarrays."""

CALL_THEIR_ARGUMENT: frozenset[str] = frozenset(
    "assert_no_gc_cycles assert_no_warnings assert_raises assert_raises_regex assert_warns".split()
)
"""Assertions that pass their other arguments on to a function of the program. The function gets the arrays themselves, which it may
write."""

INDEX_OBJECTS: frozenset[str] = frozenset({"c_", "mgrid", "ogrid", "r_"})
"""Objects that make arrays when indexed."""

OF_DATES: frozenset[str] = frozenset({"busday_count", "is_busday"})
"""Functions of dates, which exist only on the host, with results that are not dates."""


def _rule(real: Any) -> type[adoption.Stand] | None:
    """Return the class of the stand-in for a function; None if user files get the function itself."""
    facts, spec = facts_of(real), spec_of(real)
    mode = None if spec is None else spec.mode
    if facts.makes:
        return adoption.Made
    if facts.files:
        return adoption.Output
    if mode == "meta" and not facts.looks and real in _dispatched():
        return adoption.Answer
    if facts.looks or mode in ("meta", "update"):
        # These functions read no values, or write in place: do not move the ndarray.
        return None
    if spec is not None and mode in ("view", "attribute") and spec.views.view_if is None:
        return adoption.ViewsOfMany if facts.sequence else adoption.Views
    if facts.sequence:
        return adoption.Sequences
    return adoption.Function if real in _dispatched() else None


@cache
def _dispatched() -> set[Any]:
    """Return the functions that dispatch by ``__array_function__``, without importing ``numpy.testing.overrides``: that takes a fifth of
    the time of NumPy's import.
    """
    known: set[Any] | None = getattr(np._core.overrides, "ARRAY_FUNCTIONS", None)  # type: ignore[attr-defined]
    if known is not None:
        return known
    from numpy.testing.overrides import get_overridable_numpy_array_functions

    return get_overridable_numpy_array_functions()


def _stands_for(real: Any, module: str, name: str) -> Any:
    """Return the object that user files see in place of an attribute of a NumPy module."""
    if isinstance(real, ModuleType):
        return substitute(real)
    if isinstance(real, np.ufunc):
        return adoption.Ufunc.of(real, module, name)
    if module == "numpy.testing":
        asserts = name.startswith("assert_") and name not in CALL_THEIR_ARGUMENT
        return adoption.Output(real, module, name) if asserts else real
    if isinstance(real, type):
        return numpy_classes.CLASSES.get(name, real)
    if name in OF_DATES:
        return adoption.Received(real, module, name)
    if module in ON_THE_HOST:
        return adoption.Received(real, module, name) if callable(real) and _is_numpys(real) else real
    if name in numpy_classes.FUNCTIONS:
        return adoption.Special(real, numpy_classes.FUNCTIONS[name], module, name)
    if name in creation.__all__:
        return adoption.Special(real, getattr(creation, name), module, name)
    if name in INDEX_OBJECTS:
        return numpy_classes.index_object(real, name)
    rule = _rule(real) if callable(real) else None
    return real if rule is None else rule(real, module, name)


def _is_numpys(value: Any) -> bool:
    """Whether a callable in a NumPy module is NumPy's own, and its name does not begin with an underscore."""
    where = getattr(value, "__module__", None) or type(value).__module__
    name = getattr(value, "__name__", "")
    return where.partition(".")[0] == "numpy" and not name.startswith("_")


_held: Any = vars(ModuleType)["__dict__"]
_OWN = frozenset({"_real_module", "_unpatched"})
"""Attributes that a facade has and NumPy's module lacks."""
_stands: dict[int, tuple[Any, Any]] = {}
"""id of an object in NumPy's modules -> the object and its stand-in, which is the same under all names and in all modules."""


def _names(facade: ModuleType) -> dict[str, Any]:
    """Return the attributes that a facade holds so far."""
    own: dict[str, Any] = _held.__get__(facade)
    return own


def _stand(facade: ModuleType, name: str) -> tuple[Any, bool]:
    """Return the value of an attribute that a facade does not hold yet, and whether the facade may keep the value."""
    own = _names(facade)
    real: ModuleType = own["_real_module"]
    value = getattr(real, name)  # raises NumPy's own error for a missing attribute
    if name.startswith("__") and name.endswith("__"):
        return value, False
    if own["_unpatched"].get(name, value) is not value:
        return value, False  # other code has put it into NumPy and may remove it again
    if id(value) not in _stands:
        _stands.setdefault(id(value), (value, _stands_for(value, *_home(value, real, name))))
    return _stands[id(value)][1], True


def stand_for_ufunc(ufunc: np.ufunc, module: str, name: str) -> adoption.Ufunc:
    """Return the stand-in for a ufunc of another package."""
    made: adoption.Ufunc = _stands.setdefault(id(ufunc), (ufunc, adoption.Ufunc.of(ufunc, module, name)))[1]
    return made


def _home(value: Any, module: ModuleType, name: str) -> tuple[str, str]:
    """Return the module and the name under which plain Python shows an object that exists under several names."""
    shown = getattr(value, "__name__", name)
    for each in (np, module):
        if vars(each).get(shown) is value:
            return each.__name__, shown
    return module.__name__, name


def _made(facade: ModuleType, name: str) -> Any:
    """Return the value of an attribute that a facade does not hold yet; store the value in the facade if it may keep it."""
    value, stays = _stand(facade, name)
    if stays:
        _names(facade)[name] = value
    return value


def _only_lazy(facade: ModuleType, lazy: Callable[[str], Any]) -> Callable[[str], Any]:
    """Return ``lazy``, a NumPy module's own ``__getattr__``, with the attributes of the facade in place of what it returns."""

    @wraps(lazy)
    def __getattr__(name: str) -> Any:
        lazy(name)  # raises NumPy's own error for names that the module holds
        return getattr(facade, name)

    return __getattr__


class _Vars(dict[str, Any]):
    """Result of ``vars(np)``, a copy of ``names``. Writes also go to the facade, so that later changes of NumPy by libraries are still
    seen.
    """

    def __init__(self, facade: ModuleType, names: dict[str, Any]) -> None:
        super().__init__(names)
        self._facade = facade

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        setattr(self._facade, name, value)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        delattr(self._facade, name)


class Facade(ModuleType):
    """Stand-in for one NumPy module in user files.

    Parameters
    ----------
    real : module
        NumPy's own module.
    """

    def __init__(self, real: ModuleType) -> None:
        super().__init__(real.__name__, real.__doc__)
        own = _names(self)
        for name in ("__all__", "__file__", "__loader__", "__package__", "__path__", "__spec__", "__version__"):
            if name in vars(real):
                own[name] = vars(real)[name]
        own["_real_module"] = real
        own["_unpatched"] = dict(vars(real))
        # As a method of the class, it would make every attribute access 4 times slower.
        own["__getattr__"] = partial(_made, self)

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        """All names, for ``eval(text, vars(np))``."""
        own = _names(self)
        new = [name for name in list(vars(own["_real_module"])) if name not in own]
        held = {name: value for name, value in own.items() if name not in _OWN}
        made = {**held, **{name: _stand(self, name)[0] for name in new}}
        # Code that copies the names into a module of its own takes this over: it must refuse what NumPy's own refuses.
        lazy = vars(own["_real_module"]).get("__getattr__")
        if lazy is None:
            del made["__getattr__"]
        else:
            made["__getattr__"] = _only_lazy(self, lazy)
        return _Vars(self, made)

    def __setattr__(self, name: str, value: Any) -> None:
        # A user who patches NumPy (np.int = int, for an old library) wants to change the module that libraries see.
        own = _names(self)
        setattr(own["_real_module"], name, original(value))
        own[name] = value

    def __delattr__(self, name: str) -> None:
        own = _names(self)
        delattr(own["_real_module"], name)
        own.pop(name, None)

    def __dir__(self) -> list[str]:
        return dir(original(self))

    def __repr__(self) -> str:
        return repr(original(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (original(self).__name__,)


_facades: dict[str, ModuleType] = {}


def substitute(module: ModuleType) -> ModuleType:
    """Return the facade of a NumPy module, or the module itself if it has none."""
    name = module.__name__
    if name not in SUBMODULES or isinstance(module, Facade):
        return module
    facade = _facades.get(name)
    if facade is None:
        facade = Facade(module)
        if name == "numpy.random":
            _names(facade).update(imported(f"{__package__}.numpy_random").attributes(module))
        facade = _facades.setdefault(name, facade)
    return facade


def renew() -> None:
    """Drop the stand-ins for creation functions; they are made again on the next use."""
    for facade in list(_facades.values()):
        own = _names(facade)
        for name, value in own.copy().items():
            if isinstance(value, adoption.Special):
                own.pop(name, None)
    for key, (_, stand) in _stands.copy().items():
        if isinstance(stand, adoption.Special):
            _stands.pop(key, None)
    twins.clear()


def _numpys_own() -> dict[int, tuple[ModuleType, str]]:
    """Return a table: id of an object in a module with a facade -> the module and the name of the object."""
    loaded = [sys.modules[name] for name in SUBMODULES if name in sys.modules]
    return {id(value): (module, name) for module in loaded for name, value in vars(module).items()}


def counterpart(value: Any, numpys: dict[int, tuple[ModuleType, str]] | None = None) -> Any:
    """Return the facade's object for a module, function, class or index object of NumPy; return any other value unchanged.

    ``numpys``: the table of :func:`_numpys_own`, if the caller has made it for several calls.
    """
    if isinstance(value, ModuleType):
        return substitute(value)
    if id(value) in _stands:
        return _stands[id(value)][1]
    module, name = (_numpys_own() if numpys is None else numpys).get(id(value), (None, ""))
    return value if module is None else getattr(substitute(module), name)


def original(value: Any) -> Any:
    """Return NumPy's own object for an object of the facade; the inverse of :func:`counterpart`."""
    if isinstance(value, Facade):
        return _names(value)["_real_module"]
    if isinstance(value, adoption.Stand):
        return value.real
    if isinstance(value, type) or type(value).__module__.startswith(__package__):
        for facade in list(_facades.values()):
            own = _names(facade)
            for name, held in own.copy().items():
                if held is value:
                    return vars(own["_real_module"]).get(name, value)
    return value


_taken: dict[int, tuple[int, dict[str, Any], dict[str, Any]]] = {}
"""id of a module's globals -> number of requests to exchange them, the globals, and name -> (the facade's object, NumPy's own)."""
_taking = threading.Lock()


def take(*modules: dict[str, Any]) -> None:
    """Exchange NumPy's modules, functions and classes among the globals of modules for their counterparts.

    Each call is undone by one of :func:`give_back`, in any order and by any thread.
    """
    numpys = _numpys_own()
    with _taking:
        for names in modules:
            count, _, exchanged = _taken.get(id(names), (0, names, {}))
            _taken[id(names)] = count + 1, names, exchanged
            for name, value in names.copy().items():
                ours = counterpart(value, numpys)
                if ours is not value:
                    exchanged[name] = ours, value
                    names[name] = ours
                elif isinstance(value, type):  # a class that was defined before this activation
                    array_methods.hand_twins(value, twins, partial(_is_written_in, names))


def _is_written_in(names: dict[str, Any], method: FunctionType) -> bool:
    return method.__globals__ is names


def give_back(names: dict[str, Any], imported: bool = True) -> None:
    """Undo one call of :func:`take` for the module with these globals; the last one restores NumPy's own objects. ``imported``: whether to
    replace also objects of the facade that the module has imported since.
    """
    with _taking:
        count, _, exchanged = _taken.pop(id(names), (1, names, {}))
        if count > 1:
            _taken[id(names)] = count - 1, names, exchanged
            return
        _put_back(names, exchanged, imported)


def take_out(names: dict[str, Any]) -> None:
    """Replace the facade's objects that a module has imported by NumPy's own, unless the module's names are exchanged."""
    with _taking:
        if id(names) not in _taken:
            _put_back(names, {}, True)


def _put_back(names: dict[str, Any], exchanged: dict[str, tuple[Any, Any]], imported: bool) -> None:
    for name, value in names.copy().items():
        ours, theirs = exchanged.get(name, (None, None))
        back = theirs if name in exchanged and value is ours else original(value) if imported else value
        if back is not value:
            names[name] = back


class _Twins(dict[Any, Any]):
    """NumPy function -> its counterpart, looked up on first use."""

    def __missing__(self, real: Any) -> Any:
        return self.setdefault(real, counterpart(real))


twins = _Twins()
"""NumPy function -> function that methods of user classes get in its place."""
