"""Exchanges for compilers of user functions: they get NumPy's own module, and the functions they compile get ndarrays.

numba reads a function's globals and closure and would find the facade, which it cannot compile. Compiled code accesses memory
directly, so it gets an ndarray that shares the array's memory (:func:`arraydispatch.array.exports.shared`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import ModuleType
from typing import Any

import numpy as np

import arraydispatch as ad

from ..array.exports import shared
from ..common.patching import Exchange, Exchanges
from ..common.process_state import process
from ..dispatch.handover import handed
from . import facade, numpy_classes
from .adoption import Stand, TypeTable

_looked_at = TypeTable(ad.Array, Stand, list, tuple, dict, type, ModuleType)
"""Type -> whether a value of it is, or may contain, an `Array` or an object of the facade."""


def numpys_own(value: Any) -> Any:
    """Return a value with NumPy's own objects in place of the facade's, and ndarrays in place of arrays, also in lists, tuples, dicts."""
    return handed(value, shared, facade.original) if _looked_at[type(value)] else value


def _same(a: Any, b: Any) -> bool:
    return a is b


def _given(args: tuple[Any, ...]) -> tuple[Any, ...]:
    for value in args:
        if _looked_at[type(value)]:
            return tuple(map(numpys_own, args))
    return args


def _put_back(values: tuple[Any, ...], given: tuple[Any, ...]) -> None:
    """Copy the changes that a compiled function made to lists among its arguments (``given``) back into the user's lists (``values``)."""
    for value, new in zip(values, given):
        if type(value) is list and new is not value:
            before = list(map(numpys_own, value))
            if len(before) != len(new) or not all(map(_same, before, new)):
                value[:] = new


# -- numba -------------------------------------------------------------------------------------------------------------


def _compiled(exchange: Exchange) -> Any:
    """Return a replacement for ``Dispatcher.__call__`` and similar methods that passes ndarrays."""
    real = exchange.real

    @wraps(real)
    def __call__(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if not exchange.on or process.users is None:
            return real(self, *args, **kwargs)
        given = _given(args)
        named = kwargs and {name: numpys_own(value) for name, value in kwargs.items()}
        result = real(self, *given, **named)
        if given is not args:
            _put_back(args, given)
        return result

    return __call__


def _found(exchange: Exchange) -> Any:
    """Return a replacement for numba's ``get_global_value`` and similar functions that returns NumPy's own objects in place of stand-ins."""
    real = exchange.real

    @wraps(real)
    def found(self: Any, which: Any) -> Any:
        value = real(self, which)
        return numpys_own(value) if exchange.on else value

    return found


def _lowered(exchange: Exchange) -> Any:
    """Return a replacement for numba's ``lower_global``.

    A global for which the module has a stand-in (of the facade, or an array) is compiled in as a constant: code that looked it up while running
    would find the stand-in.
    """
    real = exchange.real

    @wraps(real)
    def lower_global(self: Any, name: str, value: Any) -> Any:
        held = self.func_ir.func_id.func.__globals__.get(name, value)
        if exchange.on and held is not value and numpys_own(held) is value:
            return self.lower_const(value)
        return real(self, name, value)

    return lower_global


def _overloading(exchange: Exchange) -> Any:
    real = exchange.real

    @wraps(real)
    def overload(func: Any, *args: Any, **kwargs: Any) -> Any:
        return real(facade.original(func), *args, **kwargs)

    return overload


def _open_numba(exchanges: Exchanges) -> None:
    """Exchange numba's functions for looking up names, and those that users call, once numba has been imported."""
    from numba.extending import typeof_impl

    put = exchanges.put
    put("numba.core.interpreter:Interpreter.get_global_value", _found)
    put("numba.core.interpreter:Interpreter.get_closure_value", _found)
    put("numba.core.pylowering:PyLower.lower_global", _lowered)
    put("numba.core.dispatcher:Dispatcher.__call__", _compiled)
    put("numba.stencils.stencil:StencilFunc.__call__", _compiled)
    put("numba.core.extending:overload", _overloading)
    put("numba.extending:overload", _overloading)
    typeof_impl.register(ad.Array, lambda value, context: typeof_impl(shared(value), context))


# -- numexpr and ctypes ------------------------------------------------------------------------------------------------


def _evaluating(exchange: Exchange) -> Any:
    """Return a replacement for numexpr's ``evaluate``, which looks up operands in its caller's frame and may write to ``out``."""
    real = exchange.real

    @wraps(real)
    def evaluate(*args: Any, out: Any = None, _frame_depth: int = 3, **kwargs: Any) -> Any:
        target = shared(out, "numexpr") if exchange.on and isinstance(out, ad.Array) else out
        made = real(*args, out=target, _frame_depth=_frame_depth + 1, **kwargs)
        return out if made is target else made

    return evaluate


def _open_numexpr(exchanges: Exchanges) -> None:
    for module in ("numexpr", "numexpr.necompiler"):
        exchanges.put(f"{module}:evaluate", _evaluating)


def _taking_memory(exchange: Exchange) -> Any:
    """Wrap a function that passes an array's memory to C code."""
    real = exchange.real

    @wraps(real)
    def taking(*args: Any) -> Any:
        *before, obj = args
        return real(*before, shared(obj, "ctypes") if exchange.on and isinstance(obj, ad.Array) else obj)

    return taking


def _open_numpy(exchanges: Exchanges) -> None:
    exchanges.put("numpy.ctypeslib._ctypeslib:_ndptr.from_param", _taking_memory)
    for module in ("numpy.ctypeslib", "numpy.ctypeslib._ctypeslib"):
        exchanges.put(f"{module}:as_ctypes", _taking_memory)


# -- autograd ----------------------------------------------------------------------------------------------------------


def _open_autograd(_: Exchanges) -> None:
    """Register the classes of arrays with autograd, which chooses by a value's class how to differentiate."""
    from autograd.extend import VSpace
    from autograd.numpy.numpy_boxes import ArrayBox

    classes = np.ndarray, ad.Array, numpy_classes.ndarray
    # A copy of autograd among the user's own files has registered the launcher's ndarray, an installed one NumPy's.
    space = next(VSpace.mappings[cls] for cls in classes if cls in VSpace.mappings)
    for cls in classes:
        ArrayBox.register(cls)
        VSpace.register(cls, space)


OPEN: dict[str, Callable[[Exchanges], None]] = {
    "autograd": _open_autograd,
    "numba": _open_numba,
    "numexpr": _open_numexpr,
    "numpy.ctypeslib": _open_numpy,
}
"""Module -> function to call once it has been imported."""
