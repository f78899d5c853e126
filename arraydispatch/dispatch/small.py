"""Small arrays on the host (:attr:`arraydispatch.backends.base.Backend.small`): NumPy itself runs what meets only its like.

Nothing is composed and no rule of NumPy's is repeated: arguments are the ndarrays inside, results are wrapped where
they are small, and are on the device from then on where they are large. Views stay views of the same array.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from .. import conversion, dtypes, events, settings, views
from ..backends import loader
from ..backends.base import Backend, Kind, Unsupported
from ..ufuncs.plans import PLANS, Plan
from ..views import Handle, native
from . import wrapping

_SCALARS = frozenset({bool, int, float, complex})
__warningregistry__ = None  # NumPy warns here, for a line of the user's: see arraydispatch.launcher.warned


def call(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run a NumPy function, a ufunc or its bound method on arrays of which the small ones decide."""
    start = perf_counter()
    found: list[Handle] = []
    hosts = [_host(x, found) for x in args]
    keywords = {key: _host(x, found) for key, x in kwargs.items()}
    result = func(*hosts, **keywords)
    if events.tap is not None:
        owner = getattr(func, "__self__", None)
        named = owner if isinstance(owner, np.ufunc) else func
        held = found[0]._kind.backend.name if found else "numpy"
        events.tap.call(named, held, "small", "", perf_counter() - start, result)
    return _wrapped(result, found)


def ufunc(func: np.ufunc, inputs: tuple[Any, ...]) -> Any:
    """Call a ufunc with nothing but operands; the next call of the same kinds takes the short path."""
    made = call(func, inputs, {})
    if func.nout == 1 and func.signature is None and all(isinstance(x, Handle) or type(x) in _SCALARS for x in inputs):
        keys = tuple(x._kind if isinstance(x, Handle) else type(x) for x in inputs)
        backends = {k.backend for k in keys if isinstance(k, Kind)}
        backend: Backend = backends.pop()
        dtype = made.dtype
        precision = settings.current_precision()
        if backends or not backend.small:
            return made
        if dtypes.category(dtype) != "other" and dtypes.apply_precision(_loop_result(func, inputs), precision) == dtype:
            run = func if len(inputs) == 1 else _checked(func)
            PLANS.setdefault(func, {})[(*keys, precision)] = Plan(run, (backend.kind(dtype),), "small", "")
    return made


def _loop_result(func: np.ufunc, inputs: tuple[Any, ...]) -> np.dtype[Any]:
    operands = tuple(x._kind.dtype if isinstance(x, Handle) else type(x) for x in inputs)
    return dtypes.loop_dtypes(func, operands, None, "same_kind")[-1]


def _checked(func: np.ufunc) -> Any:
    def run(x: Any, y: Any) -> Any:
        result = func(x, y)
        if result.size >= settings.default.min_size:
            raise Unsupported("the result is large")
        return result

    return run


def lifted(inputs: tuple[Any, ...], backend: Backend) -> tuple[Any, ...]:
    """The operands with the small ones on the device of the others; the very same tuple if none is small."""
    held = [isinstance(x, Handle) and x._kind.backend.small and backend.holds(x._kind.dtype) for x in inputs]
    if not any(held):
        return inputs
    device = wrapping.device_among(inputs, backend)
    return tuple(
        views.wrapper(conversion.lift(backend, native(x), device), backend.kind(x._kind.dtype)) if small else x
        for x, small in zip(inputs, held)
    )


def take(a: Handle, key: Any) -> Any:
    """``a[key]`` for a key of arrays."""
    start = perf_counter()
    result = native(a)[_host(key, [], _INDEX)]
    if events.tap is not None:
        events.tap.call("__getitem__", a._kind.backend.name, "small", "", perf_counter() - start)
    return _wrapped(result, [a])


def assign(a: Handle, key: Any, value: Any) -> None:
    """``a[key] = value``."""
    start = perf_counter()
    native(a)[_host(key, [], _INDEX)] = _host(value, [])
    if events.tap is not None:
        events.tap.call("__setitem__", a._kind.backend.name, "small", "", perf_counter() - start)


_WRITTEN = "written into a small array on the host"
_INDEX = "the index of a small array on the host"


def _host(x: Any, found: list[Handle], why: str = _WRITTEN) -> Any:
    """An argument with the ndarrays inside its arrays; small ones are collected in ``found``."""
    if isinstance(x, Handle):
        backend = x._kind.backend
        if backend.small:
            found.append(x)
            return x._v
        return conversion.download(backend, views.expose(x), why)
    if isinstance(x, list | tuple):
        items = [_host(y, found, why) for y in x]
        return type(x)(items) if type(x) in (list, tuple) else type(x)(*items)
    if type(x) is dict:
        return {key: _host(y, found, why) for key, y in x.items()}
    return x


def _wrapped(result: Any, found: list[Handle]) -> Any:
    if type(result) is np.ndarray:
        for a in found:
            if result is a._v:
                return a
        if result.base is not None:
            memory = views.memory_of(result)
            for a in found:
                if views.memory_of(a._v) is memory:
                    return views.derive(a, result)
        return placed(result)
    if isinstance(result, list | tuple):
        items = [_wrapped(x, found) for x in result]
        return type(result)(items) if type(result) in (list, tuple) else type(result)(*items)
    if isinstance(result, np.inexact) and settings.current_precision() is not None:
        return result.astype(dtypes.apply_precision(result.dtype, settings.current_precision()))
    return result


def placed(host: np.ndarray[Any, Any]) -> Any:
    """A fresh ndarray as an array where its size wants it; dtypes that exist only on the host stay NumPy."""
    wanted = dtypes.apply_precision(host.dtype, settings.current_precision())
    backend = settings.current_backend()
    if dtypes.category(wanted) == "other" or not backend.holds(wanted):
        if events.tap is not None:
            events.tap.left(f"an array of dtype {wanted}", f"dtype {wanted} exists only on the host")
        return host
    host = host.astype(wanted, copy=False)
    if backend.native_is_ndarray:
        return wrapping.wrap(host, loader.small().kind(wanted))
    home = conversion.home(backend, host.size, wanted)
    value = conversion.upload(home, host, None, "a large result of small arrays", copy=host.base is not None)
    return views.keep_order(views.wrapper(value, home.kind(wanted), True), host)
