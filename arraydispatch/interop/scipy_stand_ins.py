"""Installation of the stand-ins for SciPy's functions where users look them up, as soon as SciPy has been imported.

A stand-in (:mod:`arraydispatch.scipy_support`) replaces a public function in the module from which users import it, or a
method of a class there; a compiled function is replaced also in its compiled module. SciPy's own modules import functions from where
they are defined, so nothing changes within SciPy. If a program's module (not a library's) has imported a function before, its name
there is exchanged as well. If SciPy itself accepts arrays of any library (``SCIPY_ARRAY_API=1``), nothing is exchanged.

The exchanges of :mod:`arraydispatch.interop.packages` are installed here too. All are in one list, :data:`EXCHANGES`, which
:func:`close` undoes.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from importlib.machinery import ExtensionFileLoader
from inspect import CO_VARARGS
from types import FunctionType, ModuleType
from typing import Any

from .. import scipy_support
from ..common import callers
from ..common.patching import Exchange, Exchanges
from . import packages, scipy_compiled

EXCHANGES = Exchanges()
_opened: dict[ModuleType, list[Exchange]] = {}
_opening = threading.RLock()

_METHODS = frozenset({"__init__", "__call__"})
_OF_MATRICES = frozenset(
    "dot multiply maximum minimum __matmul__ __rmatmul__ __mul__ __rmul__ __truediv__ __rtruediv__ __add__ __radd__ __sub__ __rsub__"
    " __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __getitem__ __setitem__".split()
)
"""Methods of sparse matrices that accept arrays. (Constructors copy an array to the host, where the matrix is.)"""
_LEFT = frozenset({"rvs", "interval", "test"})
_OF_ANY = frozenset({"MultiUFunc", "NDInterpolatorBase"})
"""Classes whose objects can be called with any number of arrays (``*args``)."""


def open_module(module: ModuleType) -> None:
    """Install the exchanges for one module."""
    with _opening:
        name = module.__name__
        guest = name in packages.MODULES
        if scipy_support.by_scipy_itself() and not guest:
            return
        if module not in _opened:
            told = packages.exchanges(module) if guest else ()
            _opened[module] = [
                *told,
                *(_exchanges(module) if name in scipy_support.MODULES and not scipy_support.by_scipy_itself() else ()),
            ]
            if name == "scipy.fft":
                module.register_backend(_Transforms)
        for each in _opened[module]:
            EXCHANGES.add(each)
        _tell_programs({each.real: each for each in _opened[module] if isinstance(each.holder, ModuleType)})


class _Transforms:
    """Backend that ``scipy.fft`` asks, by its own dispatch (uarray), before SciPy's functions; it declines calls without an `Array`."""

    __ua_domain__ = "numpy.scipy.fft"

    @staticmethod
    def __ua_function__(method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        found: list[Any] = []
        scipy_support.arrays_among((*args, *kwargs.values()), found)
        if not found:
            return NotImplemented
        scipy_support.load("fft")
        func = scipy_support.stand_in(f"scipy.fft.{method.__name__}")
        return found[0].__array_function__(func, (), args, kwargs)


def close() -> None:
    """Undo all exchanges."""
    with _opening:
        EXCHANGES.undo()
        by_standard = sys.modules.get("arraydispatch.scipy_support.array_api_functions")
        if by_standard is not None:
            by_standard.restore_switch()


def _exchanges(module: ModuleType) -> Iterator[Exchange]:
    name = module.__name__
    yield from scipy_compiled.exchanges(module)
    for function in scipy_support.public(module):
        if function in scipy_compiled.HELD.get(name, ()):
            continue
        found = scipy_support.front(f"{name}.{function}")
        if found is not None:
            yield Exchange(module, function, _giving(found), "functions of SciPy")
            home = sys.modules.get(found.real.__module__)
            compiled = isinstance(getattr(home, "__loader__", None), ExtensionFileLoader)
            if home is not module and compiled and getattr(home, function, None) is found.real:
                yield Exchange(home, function, _giving(found), "functions of SciPy")
    for cls in _classes(module):
        for method, real in list(vars(cls).items()):
            takes = (
                method in _OF_MATRICES if name == "scipy.sparse" else not method.startswith("_") or method in _METHODS
            )
            if takes and scipy_support.is_function(real) and method not in _LEFT and _has_arguments(real, cls):
                made = scipy_support.method_stand_in(real, name, cls, method)
                yield Exchange(cls, method, _giving(made), "functions of SciPy")


def _has_arguments(real: Any, cls: type) -> bool:
    return real.__code__.co_argcount > 1 or (cls.__name__ in _OF_ANY and bool(real.__code__.co_flags & CO_VARARGS))


def _giving(made: Any) -> Callable[[Exchange], Any]:
    """Return a factory for exchanges that always returns ``made``."""
    return lambda _exchange: made


def _classes(module: ModuleType) -> list[type]:
    """Return a module's own classes among its public objects, the classes of these objects, and their bases; no exceptions or tuples."""
    found: dict[type, None] = {}
    own = vars(module)  # `getattr` would import modules that SciPy loads lazily
    for value in map(own.get, own.get("__all__", ())):
        if type(value) is scipy_support.Front:
            continue
        cls = value if isinstance(value, type) else type(value)
        for each in cls.__mro__:
            scipys = each.__module__.startswith("scipy.") and not issubclass(each, BaseException | tuple)
            if scipys and each.__module__.startswith(f"{module.__name__}."):
                found[each] = None
    return list(found)


def _tell_programs(exchanges: dict[Any, Exchange]) -> None:
    """Exchange the functions in program modules that had imported them by name."""
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if callers.is_library(file) if file is not None else getattr(module, "__name__", "") != "__main__":
            continue
        for name, value in list(vars(module).items()):
            if type(value) is FunctionType and value in exchanges:
                each = exchanges[value]
                EXCHANGES.at(module, name, each._make, "names of SciPy's functions in programs")
