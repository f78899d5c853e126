"""SciPy functions written in Python over NumPy: SciPy's own code runs, on `Array` objects.

A few names prevent that code from working on an `Array`: ``np.asarray`` converts it to an ndarray, ``np.zeros`` creates an ndarray to write
into, and the code calls SciPy's own functions. So the code runs with other globals, in which ``np`` leaves an `Array` unchanged and creates
new arrays on its backend, and functions with an entry are replaced by their stand-ins: it is *rebound*. Other NumPy functions in the code
dispatch as usual. Only functions that a test has shown to run this way, with SciPy's results, are registered.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from .._core.handles import Handle
from ..backends.base import Backend, Unsupported
from ..common import pytrees
from ..common.process_state import process
from ..functions import registry
from ..functions.registry import SPECS, XP
from ..memory.views import native
from . import MODULES, load, real_of, stand_in
from .array_api_functions import by_the_standard, ours, plain_result
from .operand_checks import only

__all__ = ["enter", "rerun"]

_place: ContextVar[tuple[Backend, Any]] = ContextVar("_place")


def _array(values: Any, dtype: Any = None) -> Any:
    backend, device = _place.get()
    host = np.asarray(values) if dtype is None else np.asarray(values, dtype=dtype)
    if not backend.holds(host.dtype):
        return host
    return process.wrapper(backend.from_numpy(host, device), backend.kind(host.dtype))


def _asarray(a: Any, dtype: Any = None, *_args: Any, **options: Any) -> Any:
    if isinstance(a, Handle):
        return a if dtype is None or a.dtype == np.dtype(dtype) else a.astype(dtype)  # type: ignore[attr-defined]
    if isinstance(a, list | tuple) and any(isinstance(x, Handle) for x in a):
        made = np.stack([_asarray(x) for x in a])
        return made if dtype is None else made.astype(dtype)
    return np.asarray(a, dtype)


def _copied(a: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
    if isinstance(a, Handle):
        return a.astype(a.dtype if dtype is None else dtype)  # type: ignore[attr-defined]
    return np.array(a, dtype, *args, **options)


def _atleast_1d(*arrays: Any) -> Any:
    taken: list[Any] = [a if isinstance(a, Handle) else np.asarray(a) for a in arrays]
    return np.atleast_1d(*taken)


_MAKING = ("zeros", "ones", "empty", "full")


class _NumPy(ModuleType):
    """NumPy for rebound code: an `Array` stays unchanged, and new arrays are created on its backend."""

    def __init__(self) -> None:
        super().__init__("numpy")
        self.asarray = self.ascontiguousarray = self.asanyarray = _asarray
        self.array, self.atleast_1d = _copied, _atleast_1d
        for name in _MAKING:
            setattr(self, name, _beside(getattr(np, name)))

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def _beside(make: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: _array(make(*args, **kwargs))


_numpy = _NumPy()
_globals: dict[str, dict[str, Any]] = {}
_DESIGN = ("scipy.signal._filter_design", "scipy.signal._fir_filter_design")
_OWN = ("scipy.signal.", "scipy.fft.", "scipy.special.", "scipy.ndimage.", "scipy.linalg.", "scipy.spatial.")


def _rebound(value: Any, home: str) -> Any:
    """Return a global of the module ``home`` for rebound code: a function's stand-in if it has an entry, the function rebound if it is
    SciPy's own for signals or distances, all else unchanged. Functions that design filters stay on the host.
    """
    if isinstance(value, ModuleType) and value.__name__.startswith("scipy.signal."):
        return _Module(value)
    if isinstance(value, type) or not callable(value):
        return value
    real = real_of(value)
    if not isinstance(real, FunctionType) or not real.__module__.startswith(_OWN):
        return value
    entered = _entered(real)
    if entered is not None:
        return entered
    if not real.__module__.startswith(("scipy.signal.", "scipy.spatial.")) or (
        real.__module__ in _DESIGN and real.__module__ != home
    ):
        return value
    return rerun(real)


class _Module(ModuleType):
    """SciPy module whose functions are rebound."""

    def __init__(self, real: ModuleType) -> None:
        super().__init__(real.__name__)
        self._real = real

    def __getattr__(self, name: str) -> Any:
        made = _rebound(getattr(self._real, name), self._real.__name__)
        setattr(self, name, made)
        return made


def _namespace(*arrays: Any) -> Any:
    """Return this package's namespace for any arguments, in place of SciPy's look-up of their array-API namespace."""
    first: Any = next((x for x in arrays if isinstance(x, Handle)), None)
    return (_array(0.0) if first is None else first).__array_namespace__()


def _entered(real: FunctionType) -> Any:
    """Return the stand-in for a public function that has an entry, or None."""
    module = real.__module__.partition("._")[0]
    if not hasattr(importlib.import_module(module), real.__name__):
        return None
    if module in MODULES:
        load(MODULES[module])
    made = stand_in(f"{module}.{real.__name__}")
    return made if made is not None and made in SPECS and made.__wrapped__ is real else None


class _Globals(dict[str, Any]):
    """Globals of a SciPy module as seen by rebound code."""

    def __init__(self, module: ModuleType) -> None:
        super().__init__(__builtins__=vars(module)["__builtins__"], __name__=module.__name__)
        self.module = module

    def __missing__(self, name: str) -> Any:
        value = vars(self.module)[name]
        made = (
            _numpy
            if value is np
            else _namespace
            if name == "array_namespace"
            else _rebound(value, self.module.__name__)
        )
        self[name] = made
        return made


def rerun(real: FunctionType) -> FunctionType:
    """Return a copy of the function whose globals are a :class:`_Globals`; its decorators, such as those that warn about arguments, wrap
    the copy.
    """
    inner, cells = getattr(real, "__wrapped__", None), real.__closure__ or ()
    if isinstance(inner, FunctionType):
        if not any(cell.cell_contents is inner for cell in cells):
            return rerun(inner)
        cells = tuple(CellType(rerun(inner)) if cell.cell_contents is inner else cell for cell in cells)
        return FunctionType(real.__code__, real.__globals__, real.__name__, real.__defaults__, cells)
    module = importlib.import_module(real.__module__)
    held = _globals.setdefault(real.__module__, _Globals(module))
    made = FunctionType(real.__code__, held, real.__name__, real.__defaults__, real.__closure__)
    made.__kwdefaults__ = real.__kwdefaults__
    return made


def enter(func: Any, numbers: bool = False, first: Callable[[Any], Any] | None = None) -> None:
    """Register a SciPy function to run rebound on an `Array`; with ``numbers``, NumPy scalars become Python numbers.

    ``numbers`` is for code that builds weights by the array-API standard, which neither mixes NumPy scalars with arrays nor
    drops imaginary parts. ``first`` prepares the first argument, if that involves SciPy's classes, which are not rebound.
    """
    name = next(iter(inspect.signature(func.__wrapped__).parameters)) if first else ""

    @registry.implements(
        func, mode="arrays", pure=False, returns="any", unverified="SciPy's own code runs it, on arrays"
    )
    def body(xp: XP, *args: Any, **kwargs: Any) -> Any:
        backend = xp.backend
        array: Any = next((x for x in (*args, *kwargs.values()) if isinstance(x, Handle)), None)
        only(array is not None, "no array among the arguments themselves")
        run = _RUNS.get(func) or _RUNS.setdefault(func, rerun(func.__wrapped__))
        only(not numbers or array.dtype.kind != "c", "complex numbers, of which it takes the real parts")
        only(not numbers or array.size > 0, "no data, of which it may make a fit")
        array = ours(array, backend, None)
        device = backend.device_of(native(array))
        if first and args:
            args = first(args[0]), *args[1:]
        elif first and name in kwargs:
            kwargs = {**kwargs, name: first(kwargs[name])}
        known: dict[int, Any] = {}  # an object that is passed twice stays one object

        def taken(x: Any) -> Any:
            if numbers and isinstance(x, np.generic):
                return x.item()
            if id(x) not in known:
                known[id(x)] = ours(x, backend, device)
            return known[id(x)]

        given, keywords = [taken(x) for x in args], {key: taken(x) for key, x in kwargs.items()}
        before = _place.set((backend, device))
        try:
            with by_the_standard(), backend:
                found = run(*given, **keywords)
        except NotImplementedError as error:
            why = str(error) or "SciPy's own code does not take arrays of a library here"
        else:
            return pytrees.converted(plain_result, found)
        finally:
            _place.reset(before)
        raise Unsupported(why)


_RUNS: dict[Any, FunctionType] = {}
