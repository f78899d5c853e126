"""The ``numpy`` that user files import: creation on the backend, adoption elsewhere, NumPy's own for all the rest.

A facade is a module object whose attributes are made on first use and are plain attributes from then on (8 ns, where a
module ``__getattr__`` that looks at its caller costs 2.8 µs).
"""

from __future__ import annotations

import importlib
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
import numpy.fft
import numpy.lib.scimath
import numpy.lib.stride_tricks
import numpy.linalg
import numpy.random
import numpy.testing
from numpy.testing.overrides import get_overridable_numpy_array_functions

from .. import creation
from . import adoption, classes, rng, tables

__all__ = ["Facade", "lookup", "substitute"]

_FUNCTIONS: list[tuple[frozenset[str], type[adoption.Stand]]] = [
    (tables.HOST_MADE, adoption.Made),
    (tables.VIEWS, adoption.Views),
    (tables.VIEWS_OF_MANY, adoption.ViewsOfMany),
    (tables.SEQUENCES, adoption.Sequences),
    (tables.OUTPUT, adoption.Output),
]


def _stands_for(real: Any, module: str, name: str) -> Any:
    """What a user file sees in place of one attribute of a NumPy module."""
    if isinstance(real, ModuleType):
        return substitute(real)
    if isinstance(real, np.ufunc):
        return adoption.Ufunc(real, module, name)
    if module == "numpy.testing":
        return adoption.Output(real, module, name) if name.startswith("assert_") else real
    if isinstance(real, type):
        return classes.CLASSES.get(name, real)
    if name in tables.CREATION and hasattr(creation, name):
        return adoption.Special(real, getattr(creation, name), module, name)
    if name in classes.FUNCTIONS:
        return adoption.Special(real, classes.FUNCTIONS[name], module, name)
    if name in tables.INDEX_OBJECTS:
        return classes.index_object(real, name)
    for names, stand in _FUNCTIONS:
        if name in names:
            return stand(real, module, name)
    if name in tables.LOOKS or name in tables.WRITES or name in tables.REAL:
        return real
    if callable(real) and real in get_overridable_numpy_array_functions():
        return adoption.Function(real, module, name)
    return real


_held: Any = vars(ModuleType)["__dict__"]
_OWN = frozenset({"_real_module", "_stands", "_unpatched"})
"""What a facade holds and NumPy's module does not."""


def _names(facade: ModuleType) -> dict[str, Any]:
    """What a facade holds by now."""
    own: dict[str, Any] = _held.__get__(facade)
    return own


def _stand(facade: ModuleType, name: str) -> tuple[Any, bool]:
    """What a facade has for an attribute that it does not hold yet, and whether it may hold it from now on."""
    own = _names(facade)
    real: ModuleType = own["_real_module"]
    value = getattr(real, name)  # NumPy's own message for what is not there
    if name.startswith("__") and name.endswith("__"):
        return value, False
    if own["_unpatched"].get(name, value) is not value:
        return value, False  # somebody has put it there, and may take it away again
    of, stand = own["_stands"].get(name, (None, None))
    if of is not value:
        stand = _stands_for(value, real.__name__, name)
        own["_stands"][name] = value, stand
    return stand, True


def _made(facade: ModuleType, name: str) -> Any:
    """An attribute of a facade that is not there yet."""
    value, stays = _stand(facade, name)
    if stays:
        _names(facade)[name] = value
    return value


class _Vars(dict[str, Any]):
    """``vars(np)``: a copy, so that what libraries change in NumPy later is still seen, which writes to the module."""

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
    """Stands for one NumPy module in user files.

    Parameters
    ----------
    real : module
        NumPy's own.
    """

    def __init__(self, real: ModuleType) -> None:
        super().__init__(real.__name__, real.__doc__)
        own = _names(self)
        for name in ("__all__", "__file__", "__loader__", "__package__", "__path__", "__spec__", "__version__"):
            if name in vars(real):
                own[name] = vars(real)[name]
        own["_real_module"] = real
        own["_unpatched"] = dict(vars(real))
        own["_stands"] = {}
        # As a method of the class, it would make every look at what is there 4 times slower.
        own["__getattr__"] = partial(_made, self)

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        """All names, for ``eval(text, vars(np))``."""
        own = _names(self)
        new = [name for name in list(vars(own["_real_module"])) if name not in own]
        held = {name: value for name, value in own.items() if name not in _OWN}
        return _Vars(self, {**held, **{name: _stand(self, name)[0] for name in new}})

    def __setattr__(self, name: str, value: Any) -> None:
        # A user who patches NumPy (np.int = int, for an old library) means the one that libraries see.
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
        return substitute_by_name, (original(self).__name__,)


_facades: dict[str, ModuleType] = {}


def substitute(module: ModuleType) -> ModuleType:
    """The facade of a NumPy module, or the module itself where it has none."""
    name = module.__name__
    if name not in tables.SUBMODULES or isinstance(module, Facade):
        return module
    facade = _facades.get(name)
    if facade is None:
        facade = Facade(module)
        if name == "numpy.random":
            _names(facade).update(rng.attributes(module))
        _facades[name] = facade
    return facade


def counterpart(value: Any) -> Any:
    """What the facade has in place of a module, function or class of NumPy's; anything else is its own counterpart."""
    if isinstance(value, ModuleType):
        return substitute(value) if value.__name__ in tables.SUBMODULES else value
    if not callable(value) or isinstance(value, adoption.Stand):
        return value
    module = getattr(value, "__module__", None) or "numpy"  # ufuncs have none
    name = getattr(value, "__name__", None)
    if module not in tables.SUBMODULES or not isinstance(name, str):
        return value
    real = importlib.import_module(module)
    return getattr(substitute(real), name) if getattr(real, name, None) is value else value


def original(value: Any) -> Any:
    """NumPy's own of what the facade has; the opposite of :func:`counterpart`."""
    if isinstance(value, Facade):
        return _names(value)["_real_module"]
    if isinstance(value, adoption.Stand):
        return value.real
    return np.ndarray if value is classes.ndarray else value


def substitute_by_name(name: str) -> ModuleType:
    """Unpickle a facade: itself where a launcher runs, NumPy's module elsewhere."""
    module = importlib.import_module(name)
    return substitute(module) if adoption.state.users is not None else module


def lookup(module: str, name: str) -> Any:
    """An attribute of a facade (``"add.reduce"`` too), or of the real module where no launcher runs."""
    value: Any = substitute_by_name(module)
    for part in name.split("."):
        value = getattr(value, part)
    return value
